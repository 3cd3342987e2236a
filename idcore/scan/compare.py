"""Ids of two inputs side by side: which are in one and not in the other, by producer and by broker. Exact; no Spark.

Scans keep tables, not ids, so the texts themselves are read again. Facts of both inputs meet part by part, as in a
scan. In memory at once are the ids of one key and the packed facts of a few parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from idcore.base.errors import CoreError
from idcore.ids.origins import BrokerAddress, Fingerprint, Origin
from idcore.ids.rules import LONGEST_MONTH_MS
from idcore.kernels import merge
from idcore.scan import column_texts, look_alikes
from idcore.scan.occurrences import dating
from idcore.scan.sorted_runs import SortedRuns, collect
from idcore.sources.inputs import list_files, split_files

from .batches import batches
from .crossing import Block, Fact, What, reports_of
from .facts import scan_task

SAMPLES = 5
_SPLIT = 256 << 20
_IDS, _SUSPECTS = (What.IDS, What.IDS_OF_SECOND), (What.SUSPECTS, What.SUSPECTS_OF_SECOND)
_OF_SECOND = dict((_IDS, _SUSPECTS))
_NO_IDS = np.empty(0, np.uint64)
Keep = Callable[[str, str, Origin, np.ndarray, np.ndarray], np.ndarray]  # side, kind, origin, key, values
OneSided = Callable[[str, Sequence[str]], None]
Exact = Callable[[str, str, str, np.ndarray, np.ndarray], None]  # side, kind, subject, the words of the key, values
Unread = tuple[str, CoreError]  # the name of an input, and why it cannot be read


@dataclass(frozen=True, slots=True)
class Difference:
    """One producer, client or broker: different ids in the first input, in the second, in both, and in one only."""

    kind: str
    origin: Origin
    before: int
    after: int
    both: int
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The text that tables show for it."""
        return str(self.origin)

    @property
    def values(self) -> dict[str, Any]:
        whose = {"kind": self.kind, "subject": self.subject}
        return whose | {item.name: getattr(self, item.name) for item in fields(self)[2:]}

    @property
    def missing(self) -> int:
        """How many ids of the first input are not in the second."""
        return self.before - self.both

    @property
    def new(self) -> int:
        """How many ids of the second input are not in the first."""
        return self.after - self.both


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is compared, and for how long.

    `keep` says of the side, the kind, the origin, the words of its key and values of ids, which of these are compared.
    `go_on` is called for each piece of the inputs and for each part: what it raises ends the work.
    """

    keep: Keep | None = None
    go_on: Callable[[], object] = bool


EVERYTHING = Bounds()


def compare(
    before: Sequence[str],
    after: Sequence[str],
    any_case: bool = False,
    told: OneSided | None = None,
    problems: list[Unread] | None = None,
    exact: Exact | None = None,
    bounds: Bounds = EVERYTHING,
) -> list[Difference]:
    """All producers, clients and brokers of two inputs, those with the most differences first.

    `told` gets every id that is in one input only, a few thousand at a time, with `before` or `after`. `exact` gets the
    same ids as numbers, all of one key at once, and whose they are. What cannot be read is named in `problems`.
    """
    unread = [] if problems is None else problems
    samples: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    differences = list[Difference]()
    for _, facts in batches(_facts(before, after, any_case, unread, samples, bounds.go_on)):
        bounds.go_on()
        differences += _of_parts(facts, samples, told, exact, bounds.keep)
    return sorted(differences, key=lambda row: (-(row.missing + row.new), row.kind, row.subject))


def _facts(
    before: Sequence[str],
    after: Sequence[str],
    any_case: bool,
    problems: list[Unread],
    samples: tuple[list[np.ndarray], list[np.ndarray]],
    go_on: Callable[[], object],
) -> Iterator[Fact]:
    """The ids of both inputs, and what only looks like some; `samples` of each input are whole when all were read."""
    # Months date ids and do not distinguish them: any will do.
    months = np.array([[0, LONGEST_MONTH_MS - 1]], np.int64)

    def moved(*_: int) -> None:
        go_on()

    for second, paths in enumerate((before, after)):
        files = list_files(paths)
        problems += [(file.shown, file.error) for file in files if file.error]
        for split in split_files(files, _SPLIT):
            for fact in scan_task([split], months, "any" if any_case else "strict", moved):
                go_on()  # what it raises in the middle of a file ends that file alone
                if fact.what in (What.IDS, What.SUSPECTS):
                    yield fact._replace(what=_OF_SECOND[fact.what]) if second else fact
                elif fact.what == What.SUSPECTED:
                    samples[second].append(look_alikes.rows_of(fact.data))
                elif fact.what == What.REPORT:
                    name = files[split.number].shown
                    problems += [(name, report.error) for report in reports_of(fact.data) if report.error]


def _of_parts(
    facts: Iterable[Fact],
    samples: Sequence[Sequence[np.ndarray]],
    one_sided: OneSided | None,
    exact: Exact | None,
    keep: Keep | None,
) -> Iterator[Difference]:
    known: dict[What, list[bytes]] = {}
    for fact in facts:
        known.setdefault(fact.what, []).append(fact.data)
    sides = []
    for sample, ids, suspects in zip(samples, _IDS, _SUSPECTS, strict=True):
        blocks = [Block.unpack(data) for data in known.get(ids, ())]
        own = look_alikes.rows_of(b"".join(known.get(suspects, ())))
        sides.append(look_alikes.taken_out(blocks, own, look_alikes.rules_of(sample))[0])
    first_after = sum(len(block.keys) for block in sides[0])
    for kind, runs in collect([*sides[0], *sides[1]]).items():
        ends = _one_sided(kind, runs, one_sided, exact)
        yield from _of_runs(kind, runs, first_after, ends, keep)


Ends = Callable[[int, str, str, np.ndarray], tuple[str, ...]]


def _one_sided(kind: str, runs: SortedRuns, one_sided: OneSided | None, exact: Exact | None) -> Ends:
    """What is done with the values of one key that only one side has; gives some of them as text."""

    def end(key: int, subject: str, side: str, values: np.ndarray) -> tuple[str, ...]:
        if exact is not None and len(values):
            exact(side, kind, subject, runs.keys[key], values)
        for at in range(0, len(values) if one_sided is not None else 0, 4096):
            one_sided(side, texts_of(runs.keys[key], values[at : at + 4096]))  # type: ignore[misc]
        return texts_of(runs.keys[key], values[:SAMPLES])

    return end


def _of_runs(kind: str, runs: SortedRuns, first_after: int, end: Ends, keep: Keep | None) -> Iterator[Difference]:
    origins = _origins(kind, runs.keys)
    room = merge.room_for(runs.largest, len(runs.order))
    for key in range(len(runs.keys)):
        start, stop = int(runs.edges[key]), int(runs.edges[key + 1])
        # Groups of one key are in the order of their blocks: the first input's come first.
        cut = start + int(np.searchsorted(runs.order[start:stop], first_after))
        before, after = (_values(runs, a, b, room) for a, b in ((start, cut), (cut, stop)))
        if keep is not None:
            whose = kind, origins[key], runs.keys[key]
            before, after = before[keep("before", *whose, before)], after[keep("after", *whose, after)]
            if not len(before) and not len(after):
                continue
        gone = before[~np.isin(before, after, assume_unique=True)]
        new = after[~np.isin(after, before, assume_unique=True)]
        both = len(before) - len(gone)
        subject = str(origins[key])
        samples = [end(key, subject, side, values) for side, values in (("before", gone), ("after", new))]
        yield Difference(kind, origins[key], len(before), len(after), both, *samples)


def _values(runs: SortedRuns, start: int, stop: int, room: tuple[np.ndarray, ...]) -> np.ndarray:
    """The different values of some groups of one key, sorted."""
    if start == stop:
        return _NO_IDS
    count = merge.load(runs.packed, start, stop, room)
    return room[0][:count].copy()


def texts_of(words: np.ndarray, values: np.ndarray) -> tuple[str, ...]:
    """Ids of one key as their digits."""
    if not len(values):
        return ()
    return tuple(column_texts.digits(np.repeat(words[None], len(values), axis=0), values).to_pylist())


def _origins(kind: str, words: np.ndarray) -> list[Origin]:
    """Whose the rows are: processes, clients or brokers."""
    if kind == "offset":
        return [BrokerAddress(**row) for row in dating.broker_columns(words).to_pylist()]
    columns = dating.client_columns if kind == "client" else dating.process_columns
    return [Fingerprint.of_row(row) for row in columns(words).to_pylist()]
