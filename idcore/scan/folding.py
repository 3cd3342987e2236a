"""Merges facts of many tasks into few, from which a merge makes the same tables: for a scan that follows its input.

    Merge(months).tables(fold(facts)) == Merge(months).tables(facts)

So the facts of a log that grows stay about as large as those of one scan over it, however often it was looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from idcore.kernels import encode, find, folding, paired_offsets
from idcore.kernels.pairs import RANGE_COLUMNS, VOTE_COLUMNS
from idcore.scan import look_alikes
from idcore.scan.crossing import Block, Fact, Refused, Report, What, fact_of, joined_rows, reports_of
from idcore.scan.facts import fold_ranges
from idcore.scan.look_alikes import COUNT, MARKS, PLACE, TEXT, VALUE
from idcore.scan.month_inference import SUMMARY_COLUMNS, folded_summaries
from idcore.scan.sorted_runs import PairedOffsets
from idcore.scan.tables import LETTER_COLUMNS

_U = np.uint64
_KEY = find.KEY_COLUMNS
_SUSPECT = (0, 1, 2, TEXT, look_alikes.ROW, look_alikes.ROW + 1)  # process, text, whether ids are counted, which
_FEWEST = 2  # blocks


def fold(facts: Iterable[Fact]) -> list[Fact]:
    """Merges the facts of each part and kind into one fact, or into as few as possible."""
    held: dict[tuple[int, What], list[bytes]] = {}
    for fact in facts:
        held.setdefault((fact.part, fact.what), []).append(fact.data)
    return [
        Fact(part, what, data)
        for (part, what), several in sorted(held.items())
        for data in (_FOLDS[what](several) if len(several) > 1 else several)
    ]


def fold_blocks(blocks: Sequence[Block]) -> list[Block]:
    """One block with the ids of all, each key once; the blocks as they are where their brokers have no numbers."""
    paired = PairedOffsets(blocks, np.empty((0, paired_offsets.LOOSE_COLUMNS), np.uint64))
    brokers = len(paired.brokers)
    if len(blocks) < _FEWEST or brokers >= paired_offsets.MOST_SLOTS:
        return list(blocks)
    runs, keys = _runs_of(blocks)
    sizes = np.zeros(len(keys), np.int64)
    most, largest = folding.sizes_of(runs, sizes)
    starts = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    grouped = paired_offsets.Grouped(
        values=np.empty(starts[-1], _U),
        paired=np.zeros(starts[-1], _U),
        starts=starts,
        shifts=np.zeros(len(keys), np.int64),
        has_paired=np.zeros(len(keys), np.bool_),
    )
    scratch = len(paired.numbers) + 1
    room = paired_offsets.Pairs(
        np.empty(most, _U), np.empty((most, 3), np.int64), np.zeros(scratch, np.int64), np.empty(scratch, np.int64)
    )
    unsorted = np.zeros(len(keys), np.bool_)
    folding.spread(runs, paired.packed, room, np.empty(largest, _U), np.empty(largest, np.int64), grouped, unsorted)
    paired_offsets.sort_groups(grouped, unsorted)
    order = np.arange(len(keys))
    distinct, lengths = np.empty(len(keys), np.uint32), np.empty(len(keys), np.uint32)
    out = np.empty(20 * len(grouped.values) + 32, np.uint8)
    groups = encode.Groups(grouped.values, starts, keys, unsorted & ~grouped.has_paired)
    size = encode.encode(groups, order, distinct, lengths, out)
    own, paired_lengths = np.zeros((0, 3), _U), np.zeros(len(keys), np.uint32)
    tokens, bits = np.zeros(0, np.uint8), brokers.bit_length()
    if grouped.has_paired.any():
        tokens = np.empty(paired_offsets.LONGEST_TOKEN * len(grouped.values) + 8, np.uint8)
        numbers = np.full(brokers, -1, np.int64), np.empty(brokers, np.int64)
        length, used = paired_offsets.encode_paired(grouped, order, bits, numbers, paired_lengths, tokens)
        own, tokens = paired.brokers[numbers[1][:used]], tokens[:length]
    return [Block(keys, distinct, lengths, out[:size], own, paired_lengths, tokens, bits if len(own) else 0)]


def _runs_of(blocks: Sequence[Block]) -> tuple[encode.PackedRuns, np.ndarray]:
    """All runs by their keys, each key in the order of the first ids of its runs; and the words of the keys."""
    words = np.concatenate([block.keys for block in blocks])
    distinct = np.concatenate([block.distinct for block in blocks]).astype(np.int64)
    lengths = np.concatenate([block.lengths for block in blocks]).astype(np.int64)
    data = np.concatenate([block.runs for block in blocks])
    places = np.cumsum(lengths) - lengths
    order = np.lexsort((folding.firsts_of(data, places), words[:, 1], words[:, 0], words[:, 2]))
    ordered = words[order]
    changed = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    edges = np.concatenate([[0], changed, [len(order)]])
    key2 = np.ascontiguousarray(words[:, 2])
    runs = encode.PackedRuns(order, edges, key2, distinct, places, data, int(distinct.max(initial=0)))
    return runs, np.ascontiguousarray(ordered[edges[:-1]])


def _groups(rows: np.ndarray, columns: Sequence[int], *then: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows sorted by some columns, and where each group of equal ones begins; in a group sorted by others."""
    ordered = rows[np.lexsort([rows[:, column] for column in reversed((*columns, *then))])]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = (np.diff(ordered[:, list(columns)].view(np.int64), axis=0) != 0).any(axis=1)
    return ordered, np.flatnonzero(new)


def _votes(several: Sequence[bytes]) -> list[bytes]:
    """Of a process, a start, a kind and a text: how many ids, the least and the greatest elapsed."""
    rows, begin = _groups(joined_rows(several, VOTE_COLUMNS), (*range(_KEY + 1), VOTE_COLUMNS - 1))
    folded = rows[begin]
    signed = rows.view(np.int64)
    reductions: list[tuple[int, Callable[..., np.ndarray]]] = [
        (4, np.add.reduceat),
        (5, np.minimum.reduceat),
        (6, np.maximum.reduceat),
    ]
    for column, reduce in reductions:
        folded[:, column] = reduce(signed[:, column], begin).view(_U)
    return [folded.tobytes()]


def _suspects(several: Sequence[bytes]) -> list[bytes]:
    """Of a process, by text, one row of each id that is counted, which has its first place, and one of the rest.

    The least id of all stays, because the rule of look-alikes asks that one.
    """
    rows = joined_rows(several, look_alikes.ROW)
    rows = np.column_stack([rows, rows[:, COUNT] > 0, np.where(rows[:, COUNT] > 0, rows[:, VALUE], 0)]).astype(_U)
    by_place, begin = _groups(rows, _SUSPECT, PLACE)
    by_value, _ = _groups(rows, _SUSPECT, VALUE)
    firsts, least = by_place[begin], by_value[begin]
    counted = firsts[:, look_alikes.ROW] == 1
    greatest = by_value[np.append(begin[1:], len(rows)) - 1, VALUE]
    marks = np.bitwise_or.reduceat(by_place[:, MARKS], begin)
    marks |= np.where(least[:, VALUE] != greatest, find.SEVERAL, _U(0))
    firsts[:, COUNT] = np.add.reduceat(by_place[:, COUNT], begin)
    firsts[:, MARKS] = least[:, MARKS] = marks
    least[:, COUNT] = 0
    others = least[~counted | (least[:, VALUE] != firsts[:, VALUE])]
    return [np.concatenate([firsts[counted], others])[:, : look_alikes.ROW].tobytes()]


def _letters(several: Sequence[bytes]) -> list[bytes]:
    rows, begin = _groups(joined_rows(several, LETTER_COLUMNS), range(_KEY))
    folded = rows[begin]
    folded[:, _KEY] = np.bitwise_or.reduceat(rows[:, _KEY], begin)
    return [folded.tobytes()]


def _reports(several: Sequence[bytes]) -> list[bytes]:
    """One for each text: its bytes and ids are added up, of what it refused the first is kept."""
    reports: dict[tuple[int, tuple[int, ...]], Report] = {}
    for data in several:
        for report in reports_of(data):
            key = report.number, report.place
            reports[key] = _merged_reports(reports[key], report) if key in reports else report
    return [fact_of(reports[key] for key in sorted(reports)).data]


def _merged_reports(one: Report, other: Report) -> Report:
    refused = {each.reason: each for each in one.refused}
    for each in other.refused:
        known = refused.get(each.reason)
        first = min(filter(None, (known, each)), key=lambda refusal: (refusal.byte, refusal.sample))
        refused[each.reason] = Refused(each.reason, each.ids + (known.ids if known else 0), first.sample, first.byte)
    errors = [error for error in (one.error, other.error) if error is not None]
    return replace(
        one,
        text_bytes=one.text_bytes + other.text_bytes,
        ids=one.ids + other.ids,
        refused=tuple(refused.values()),
        error=min(errors, key=lambda error: json.dumps(error.coded()), default=None),
    )


_FOLDS: dict[What, Callable[[Sequence[bytes]], list[bytes]]] = {
    What.IDS: lambda several: [block.pack() for block in fold_blocks(list(map(Block.unpack, several)))],
    What.RANGES: lambda several: [fold_ranges(joined_rows(several, RANGE_COLUMNS)).tobytes()],
    What.REPORT: _reports,
    What.LOOSE_PAIRS: lambda several: [b"".join(several)],
    What.VOTES: _votes,
    What.SUMMARY: lambda several: [folded_summaries(joined_rows(several, SUMMARY_COLUMNS, np.int64)).tobytes()],
    What.SUSPECTS: _suspects,
    What.SUSPECTED: lambda several: [look_alikes.sample_of(joined_rows(several, look_alikes.ROW)).tobytes()],
    What.LETTERS: _letters,
    What.NAMED: lambda several: [look_alikes.together(joined_rows(several, look_alikes.ROW)).tobytes()],
}
