"""Strings of a scan that only look like msgIds: told by a sample of all tasks, taken out before the merge.

The rule is `idcore.ids.look_alikes`. A row is an ID of an unknown client in one text of one task: the words of its key,
the ID, how often it is there, the number of the text, the byte of the first, and the marks of its process as the kernel
has them. A process with several IDs that no mark covers has one row in which no ID is counted.

What a name in front calls something else has such rows too, with the number of the name in the place of marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from idcore.ids import look_alikes, makers, rules
from idcore.ids.look_alikes import REASONS, Rule, Suspect
from idcore.kernels import codes, find

from . import column_texts
from .crossing import Block
from .settle import without

ROW = 8  # columns of a suspect
VALUE, COUNT, TEXT, PLACE, MARKS = range(find.KEY_COLUMNS, ROW)
_U = np.uint64
_IDENTITY = _U((1 << 48) - 1)  # pid and loader, of the third word of a key


class LookAlike(NamedTuple):
    """Strings of one text that only look like msgIds, and why: how many, how many no text before has, the first."""

    reason: str
    label: str | None
    text: int
    ids: int
    distinct: int
    sample: str
    byte: int


def suspects_of(tokens: find.FoundIds, ids: int, texts: Sequence[tuple[int, int]]) -> np.ndarray:
    """The rows of one task. `texts`: of each the first of its IDs, and its number."""
    table = tokens.table[tokens.table[:, find.TABLE_MARKS] & find.UNKNOWN != 0]
    table = table[table[:, find.TABLE_IDS] > 0]
    if not len(table):
        return np.empty((0, ROW), np.uint64)
    rows = np.zeros((len(table), ROW), np.uint64)
    rows[:, : find.KEY_COLUMNS] = table[:, : find.KEY_COLUMNS]
    rows[:, VALUE], rows[:, MARKS] = table[:, find.TABLE_LAST], table[:, find.TABLE_MARKS]
    # Whether the IDs of a process are counted: only one, or with marks in the first bytes.
    suspects = _suspects(rows)
    single = rows[:, MARKS] & find.SEVERAL == 0
    may_be = single | suspects.decimal | look_alikes.is_clock(suspects) | look_alikes.is_written(suspects)
    row_of_slot = np.full(int(tokens.slots[:ids].max()) + 1, -1, np.int64)
    row_of_slot[table[may_be, find.TABLE_SLOT].astype(np.int64)] = np.flatnonzero(may_be)
    owner = row_of_slot[tokens.slots[:ids]]
    mine = np.flatnonzero(owner >= 0)
    firsts, numbers = (np.array(column, np.uint64) for column in zip(*texts, strict=True))
    text = np.searchsorted(firsts, mine.astype(np.uint64), side="right") - 1
    values = tokens.values[mine]
    order = np.lexsort((mine, text, values, owner[mine]))
    owners, texts_of, places, values = owner[mine][order], text[order], tokens.places[mine][order], values[order]
    new = (np.diff(owners, prepend=-1) != 0) | (np.diff(texts_of, prepend=-1) != 0)
    new[1:] |= values[1:] != values[:-1]
    begin = np.flatnonzero(new)
    counted = rows[owners[begin]]
    counted[:, VALUE] = values[begin]
    counted[:, COUNT] = np.diff(begin, append=len(order))
    counted[:, TEXT], counted[:, PLACE] = numbers[texts_of[begin]], places[begin].astype(np.uint64)
    return np.concatenate([rows[~may_be], counted])


def rows_of(data: bytes) -> np.ndarray:
    """Rows from the bytes of a fact."""
    return np.frombuffer(data, np.uint64).reshape(-1, ROW)


def sample_of(rows: np.ndarray) -> np.ndarray:
    """The processes of one task that go to every part."""
    return _of_sample(_whole(rows)[0])


class Rules(NamedTuple):
    """The rule of the processes that no label vouches for, and of those that one does."""

    unnamed: Rule
    named: Rule | None

    def holds(self, processes: np.ndarray) -> np.ndarray:
        """Why each process only looks like one of msgIds, as `Rule.holds` says it."""
        suspects, is_named = _suspects(processes), processes[:, MARKS] & find.LABELLED != 0
        of_named = 0 if self.named is None else self.named.holds(suspects)
        return np.where(is_named, of_named, self.unnamed.holds(suspects))


def rules_of(samples: Sequence[np.ndarray]) -> Rules:
    """The rules by the samples of all tasks."""
    rows = _of_sample(_whole(np.concatenate(samples))[0]) if samples else np.empty((0, ROW), np.uint64)
    is_named = rows[:, MARKS] & find.LABELLED != 0
    return Rules(look_alikes.rule_of(_each(rows[~is_named])), look_alikes.rule_of_named(_each(rows[is_named])))


def _each(rows: np.ndarray) -> list[Suspect]:
    columns = [np.broadcast_to(column, len(rows)).tolist() for column in _suspects(rows)]
    return [Suspect(*one) for one in zip(*columns, strict=True)]


def taken_out(blocks: Sequence[Block], suspects: np.ndarray, judge: Rules) -> tuple[list[Block], list[LookAlike]]:
    """The blocks without the look-alikes of the part, and what was taken out, by text."""
    processes, of_rows = _whole(suspects)
    reasons = judge.holds(processes)
    gone = reasons > 0
    if not gone.any():
        return list(blocks), []
    keys = np.ascontiguousarray(processes[gone, : find.KEY_COLUMNS])
    keys = np.sort(keys.view([("", np.uint64)] * find.KEY_COLUMNS).reshape(-1))
    left, taken = [], np.zeros(len(keys), np.bool_)
    for block in blocks:
        own = np.flatnonzero(codes.are(block.keys, codes.UNIQS))
        at = _places_in(block.keys[own], keys)
        own, at = own[at >= 0], at[at >= 0]
        taken[at] = True
        left.append(without(block, own) if len(own) else block)
    here = gone[of_rows]
    rows, why = suspects[here], reasons[of_rows][here]
    here = _places_in(rows, keys[taken]) >= 0  # what is settled as ids of a broker is none of a process any more
    rows, why = rows[here], why[here]
    return left, [one for code in np.unique(why) for one in _by_text(rows[why == code], REASONS[code], None)]


def of_names(rows: np.ndarray) -> list[LookAlike]:
    """What names in front call something else, by name and text."""
    names = np.unique(rows[:, MARKS])
    return [
        one for name in names for one in _by_text(rows[rows[:, MARKS] == name], "label", rules.OTHER_THINGS[int(name)])
    ]


def together(rows: np.ndarray) -> np.ndarray:
    """Rows with equal IDs, texts and marks as one, with the first place.

    Sorted by a hash, one word instead of six: where rows share it, some may stay apart, which the merge makes good.
    """
    third = rows[:, 2] ^ look_alikes.order_of(rows[:, VALUE], rows[:, TEXT], rows[:, MARKS])
    rows = rows[np.argsort(look_alikes.order_of(rows[:, 0], rows[:, 1], third))]
    changed = np.ones(len(rows), np.bool_)
    changed[1:] = False
    for column in (0, 1, 2, VALUE, TEXT, MARKS):
        changed[1:] |= rows[1:, column] != rows[:-1, column]
    begin = np.flatnonzero(changed)
    counted = rows[begin]
    counted[:, COUNT] = np.add.reduceat(rows[:, COUNT], begin)
    counted[:, PLACE] = np.minimum.reduceat(rows[:, PLACE], begin)
    return counted


def named_rows(named: np.ndarray, text: int) -> np.ndarray:
    """What the kernel kept of the names in front, as rows."""
    rows = np.empty((len(named), ROW), np.uint64)
    rows[:, : VALUE + 1], rows[:, MARKS], rows[:, PLACE] = named[:, : VALUE + 1], named[:, -2], named[:, -1]
    rows[:, COUNT], rows[:, TEXT] = 1, text
    return rows


def _by_text(rows: np.ndarray, reason: str, label: str | None) -> list[LookAlike]:
    """Of one reason and name. A string in several texts is distinct in one of them."""
    rows = rows[np.lexsort((rows[:, PLACE], rows[:, TEXT]))]
    begin = np.flatnonzero(np.append(True, rows[1:, TEXT] != rows[:-1, TEXT]))
    _, firsts = np.unique(rows[:, : VALUE + 1], axis=0, return_index=True)
    new = np.zeros(len(rows), np.int64)
    new[firsts] = 1
    counts, distinct = np.add.reduceat(rows[:, COUNT], begin), np.add.reduceat(new, begin)
    first = rows[begin]
    samples = column_texts.digits(first[:, : find.KEY_COLUMNS], first[:, VALUE]).to_pylist()
    return [
        LookAlike(reason, label, int(row[TEXT]), int(count), int(n), sample, int(row[PLACE]))
        for row, count, n, sample in zip(first, counts, distinct, samples, strict=True)
    ]


def _whole(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row for each process, with the marks of all of its rows, and which it is of each row."""
    order = np.lexsort((rows[:, VALUE], rows[:, 2], rows[:, 1], rows[:, 0]))
    ordered = rows[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (np.diff(ordered[:, : find.KEY_COLUMNS], axis=0) != 0).any(axis=1)
    begin = np.flatnonzero(new)
    processes = ordered[begin]
    if len(begin):
        last = ordered[np.append(begin[1:], len(rows)) - 1, VALUE]
        processes[:, MARKS] = np.bitwise_or.reduceat(ordered[:, MARKS], begin)
        processes[:, MARKS] |= np.where(processes[:, VALUE] != last, find.SEVERAL, _U(0))
    of_rows = np.empty(len(rows), np.int64)
    of_rows[order] = np.cumsum(new) - 1
    return processes, of_rows


def _of_sample(processes: np.ndarray) -> np.ndarray:
    order = look_alikes.order_of(processes[:, 0], processes[:, 1], processes[:, 2] & _IDENTITY)
    return processes[np.argsort(order, kind="stable")[: look_alikes.MOST]]


def _suspects(rows: np.ndarray) -> Suspect:
    """Rows as the columns that the rule reads."""
    first, second, third, marks = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, MARKS]
    wide = codes.are(rows, codes.IPV6)
    loader = third & find.WORD
    decimal = marks & find.LETTERED == 0
    for word in (first, second, third & _IDENTITY):
        decimal &= look_alikes.is_decimal(word)
    return Suspect(
        wide=wide,
        early=codes.are(rows, codes.EARLY),
        high=np.where(wide, first >> _U(32), second),
        pid=third >> find.PID_SHIFT & _U(0xFFFF),
        loader=loader,
        value=rows[:, VALUE],
        several=marks & find.SEVERAL != 0,
        decimal=decimal,
        known=makers.loader_positions(loader)[0] >= 0,
        shown=marks & find.SHOWN != 0,
    )


def _places_in(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Where the key of each row is among sorted ones; -1 where it is not."""
    if not len(known):
        return np.full(len(rows), -1, np.int64)
    words = np.ascontiguousarray(rows[:, : find.KEY_COLUMNS]).view(known.dtype).reshape(-1)
    at = np.minimum(np.searchsorted(known, words), len(known) - 1)
    return np.where(known[at] == words, at, -1)
