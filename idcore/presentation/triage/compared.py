"""Two inputs side by side: their ids counted by the scan's own comparison, dated, kept as a run. Has no words."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idcore.base import temporary
from idcore.base.errors import CoreError, coded, from_coded
from idcore.base.open_folders import own_file
from idcore.ids.clock import NO_TIME, from_ms, to_ms
from idcore.ids.origins import BrokerAddress, Fingerprint, Origin
from idcore.intake.intake import Dating, Source, keep, kept, safe_name
from idcore.policy import audit
from idcore.policy.audit import Actor
from idcore.runs.runs import COMPARE, Run, RunError, Runs, write_tables, write_text

if TYPE_CHECKING:  # pandas, Arrow and the kernels only where something is compared
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from idcore.presentation.triage.time_range import TimeRange
    from idcore.scan.compare import Difference, Keep
    from idcore.scan.months import Months

SIDES = ("before", "after")
KEPT = 100_000  # ids of one side that are kept
BINS = 96  # of the whole span, at most
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800, 2592000)
MOST_SERIES = 50  # producers of one side that have bins of their own; the others are one series without a name
LINKED = 150  # ids that an address of lines names; of more it names their producer and their times
LINE_FILTERS = {"uniq": "process", "client": "client", "offset": "broker"}  # parameters of the page of lines
MESSAGE, STORED = "message", "stored"
GROUPS = {"uniq": MESSAGE, "client": MESSAGE, "offset": STORED}  # what each kind of id names
_TABLES = ("processes", "clients", "counters", "timeline")
Whose = tuple[str, str, str]  # side, kind, subject
_OF_DATING = ("first_sent_at", "month", "zone_source")
_WHO = {"processes": ("host", "pid", "loader"), "clients": ("mac", "pid")}
_OF_ORIGIN = ("host", "pid", "loader", "port")  # columns of a kept row that name a process, a client or a broker


@dataclass(frozen=True, slots=True)
class _Subject:
    """The origin of a row as a comparison of an older version keeps it: its text alone."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def brief(self) -> str:
        return self.text

    @property
    def place(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """Two inputs to compare, and for each the scan it is from, if it is from one."""

    before: tuple[Source, ...]
    after: tuple[Source, ...]
    any_case: bool = False
    of: tuple[str | None, str | None] = (None, None)

    @property
    def size(self) -> int:
        return sum(source.size for side in self.sides for source in side)

    @property
    def sides(self) -> tuple[tuple[Source, ...], tuple[Source, ...]]:
        return self.before, self.after

    def of_side(self, side: str) -> tuple[Source, ...]:
        return self.before if side == "before" else self.after

    @property
    def link(self) -> bool:
        """Whether an address can name both inputs."""
        return None not in self.of


@dataclass(frozen=True, slots=True)
class Generated:
    """When the ids that one side alone has of a producer were generated: first and last ms, and how many are dated.

    `assumed`: what of these times no line shows, as codes of `Words.assumed`.
    """

    first: int
    last: int
    dated: int
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """What the core found: its rows, the ids of one side only (up to KEPT), when they were generated, what it could
    not read. `bins` are side, kind, subject, first ms and ids; `rates` are side, first ms, how many of the other side's
    IDs are missing there, and of how many; `lines` is what an address calls each subject."""

    rows: tuple[Difference, ...]
    ids: dict[str, list[str]]
    problems: tuple[tuple[str, CoreError], ...]
    whose: dict[Whose, list[str]] = field(default_factory=dict)
    generated: dict[Whose, Generated] = field(default_factory=dict)
    bins: tuple[tuple[str, str, str, int, int], ...] = ()
    bin_seconds: int = 1
    rates: tuple[tuple[str, int, int, int], ...] = ()
    rate_seconds: int = 1
    lines: dict[tuple[str, str], str] = field(default_factory=dict)

    def sums(self, group: str) -> tuple[int, int, int]:
        """Different ids of the first, of the second, of both."""
        mine = [row for row in self.rows if GROUPS[row.kind] == group]
        return sum(row.before for row in mine), sum(row.after for row in mine), sum(row.both for row in mine)

    @property
    def briefs(self) -> dict[str, str]:
        """The brief text of each subject."""
        return {row.subject: row.origin.brief for row in self.rows}

    def assumed(self, side: str, subject: str) -> tuple[str, ...]:
        """What of the times of a producer's ids that one side has alone is assumed."""
        found = (made for (of, _, name), made in self.generated.items() if (of, name) == (side, subject))
        return next((made.assumed for made in found), ())

    def alone(self, side: str, group: str) -> Iterator[tuple[str, str]]:
        """The kept ids of a group that this side has alone, and their kind; none if one side never names the group."""
        for row in self.rows if all(self.sums(group)[:2]) else ():
            if GROUPS[row.kind] == group:
                samples = row.only_before if side == "before" else row.only_after
                yield from ((text, row.kind) for text in self.whose.get((side, row.kind, row.subject), samples))

    @property
    def group(self) -> str:
        """What stands for messages: msgIds, or offsetMsgIds where not both sides have msgIds. A message has both."""
        return MESSAGE if all(self.sums(MESSAGE)[:2]) else STORED

    def can_differ(self, kind: str) -> bool:
        """Whether both sides have ids of this group; else none of them is missing from the other."""
        before, after, _ = self.sums(GROUPS[kind])
        return bool(before and after)

    @property
    def of_both(self) -> list[Difference]:
        """The rows of the kinds that both sides have: of others there is nothing to compare.

        Of records neither where a side names messages by their msgId alone: what it lacks only seems to be missing.
        """
        is_left_out = bool(self.named_alone)
        rows = (row for row in self.rows if self.can_differ(row.kind))
        return [row for row in rows if not (is_left_out and GROUPS[row.kind] == STORED)]

    @property
    def named_alone(self) -> tuple[str, ...]:
        """The sides that lack more records than messages, and name messages without their record."""
        messages, records = self.sums(MESSAGE), self.sums(STORED)
        if not (all(messages[:2]) and all(records[:2])):
            return ()
        lacked = [[of[1 - side] - of[2] for of in (messages, records)] for side in (0, 1)]
        is_alone = [lacked[side][1] > lacked[side][0] and messages[side] > records[side] for side in (0, 1)]
        return tuple(name for name, found in zip(SIDES, is_alone, strict=True) if found)


def only(row: Difference, side: str) -> int:
    """How many ids of a row one side has alone."""
    return row.missing if side == "before" else row.new


def digest_of(here: ComparisonQuery, dating: Dating) -> str:
    """What distinguishes two inputs, and how they are read, from any other two."""
    digest = hashlib.sha256(f"{here.any_case} {dating.zone} {dating.at:%Y-%m-%d}".encode())
    for side in here.sides:
        digest.update(b"side")
        for source in side:
            digest.update(hashlib.sha256(source.name.encode()).digest() + source.digest())
    return digest.hexdigest()


# ---- compared


class _Rates:
    """How many IDs of each side are of each second: all of them, and those that it has alone. Others have no time."""

    def __init__(self, dates: Dates, keep: Keep | None) -> None:
        self._dates, self._keep = dates, keep
        self._ids: dict[str, Counter[int]] = {side: Counter() for side in SIDES}
        self._alone: dict[str, Counter[int]] = {side: Counter() for side in SIDES}

    def __call__(self, side: str, kind: str, origin: Origin, words: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Which IDs are compared; each of them is counted."""
        import numpy as np

        kept = np.ones(len(values), np.bool_) if self._keep is None else self._keep(side, kind, origin, words, values)
        self._count(self._ids[side], kind, origin, words, values[kept])
        return kept

    def alone(self, side: str, kind: str, origin: Origin, words: np.ndarray, values: np.ndarray) -> None:
        """The same of IDs that one side has alone."""
        self._count(self._alone[side], kind, origin, words, values)

    def _count(self, counts: Counter[int], *ids: Any) -> None:
        import numpy as np

        if len(ids[-1]) and ids[0] != "offset":
            at = self._dates.times(*ids)
            seconds, number = np.unique(at[at != NO_TIME] // 1000, return_counts=True)
            counts.update(dict(zip(seconds.tolist(), number.tolist(), strict=True)))

    def of(self, counted: Compared) -> Compared:
        """The comparison with the rates, in few enough bins."""
        known = [second for side in SIDES for second in self._ids[side]]
        if not known or not any(map(counted.can_differ, ("uniq", "client"))):
            return counted
        step = bin_seconds([Generated(min(known) * 1000, max(known) * 1000, len(known))])
        rates: dict[tuple[str, int], list[int]] = {}
        for side in SIDES:
            for place, counts in enumerate((self._alone[side], self._ids[side])):
                for second, number in counts.items():
                    rates.setdefault((side, second // step * step * 1000), [0, 0])[place] += number
        rows = ((side, at, alone, ids) for (side, at), (alone, ids) in sorted(rates.items()))
        return replace(counted, rates=tuple(rows), rate_seconds=step)


class OneSided:
    """The ids that one side has alone, as numbers, by whose they are."""

    def __init__(self) -> None:
        self.found: list[tuple[Whose, np.ndarray, np.ndarray]] = []

    def __call__(self, side: str, kind: str, subject: str, key: np.ndarray, values: np.ndarray) -> None:
        self.found.append(((side, kind, subject), key.copy(), values.copy()))


def compare(
    here: ComparisonQuery,
    dating: Dating | None = None,
    runs: Runs | None = None,
    keep: Keep | None = None,
    go_on: Callable[[], object] = bool,
) -> Compared:
    """The answer of the core; of each side only so many ids are kept. With `dating` the ids get their times: of a
    scan as that has them, of other inputs as both inputs together show them. `keep` and `go_on`: as the core says."""
    from idcore.scan import compare as core  # the kernels only where something is compared

    unread: list[tuple[str, CoreError]] = []
    exact = OneSided()
    with tempfile.TemporaryDirectory(prefix="compare-", dir=temporary.own()) as folder:
        names: dict[str, str] = {}
        paths = _paths(here, Path(folder), names)
        tables = [] if dating is None else _tables_of(here, dating, paths, runs or Runs())
        rates = _Rates(Dates.of(tables), keep) if tables else None
        rows = core.compare(paths[0], paths[1], here.any_case, None, unread, exact, core.Bounds(rates or keep, go_on))
        shown = tuple((names.get(path, path), problem) for path, problem in dict.fromkeys(unread))
        exact.found.sort(key=lambda found: (found[0][0], found[0][1] == "offset", -len(found[2]), found[0][2]))
        made = _with_ids(Compared(tuple(rows), {side: [] for side in SIDES}, shown), exact)
        if rates is None:
            return made
        origins = {(row.kind, row.subject): row.origin for row in rows}
        for (side, kind, subject), key, values in exact.found:
            rates.alone(side, kind, origins[kind, subject], key, values)
        return rates.of(dated(made, exact, tables))


def _with_ids(counted: Compared, exact: OneSided) -> Compared:
    from idcore.scan.compare import texts_of

    whose: dict[Whose, list[str]] = {}
    for name, key, values in exact.found:
        ids = counted.ids[name[0]]
        some = list(texts_of(key, values[: KEPT - len(ids)]))
        ids += some
        whose[name] = some
    return replace(counted, whose=whose, lines=_names_of(exact))


def _names_of(exact: OneSided) -> dict[tuple[str, str], str]:
    """What an address calls each process, client or broker."""
    import numpy as np

    from idcore.presentation.triage.processes import process_key
    from idcore.scan.occurrences.dating import names_of

    if not exact.found:
        return {}
    rows = names_of(np.array([key for _, key, _ in exact.found])).to_pylist()
    names = {}
    for ((_, kind, subject), _, _), row in zip(exact.found, rows, strict=True):
        if kind == "offset":
            names[kind, subject] = str(row["address"])
        else:
            names[kind, subject] = process_key(row) if kind == "uniq" else Fingerprint.of_row(row).key
    return names


def _paths(here: ComparisonQuery, folder: Path, names: dict[str, str]) -> list[list[str]]:
    """For each side where the core can read its sources; `names` gets what people call them."""
    return [[_path(source, folder, names) for source in side] for side in here.sides]


def _path(source: Source, folder: Path, names: dict[str, str]) -> str:
    path = source.data if isinstance(source.data, Path) else folder / f"{len(names):03d}-{safe_name(source.name)}"
    if path is not source.data:
        with open(path, "wb", opener=own_file) as file:
            for piece in source.pieces():
                file.write(piece)
    names[str(path)] = source.name
    return str(path)


# ---- dated


def _tables_of(
    here: ComparisonQuery, dating: Dating, paths: Sequence[Sequence[str]], runs: Runs
) -> list[dict[str, pa.Table]]:
    """For each side the tables that date its ids: those of its scan, else those of both inputs, made here."""
    from idcore.scan.months import month_rows

    tables: list[dict[str, pa.Table]] = []
    own: dict[str, pa.Table] = {}
    for name in here.of:
        run = None if name is None else runs.open(name)
        if run is not None and all(run.has(table) for table in _TABLES):
            tables.append({table: run.table(table) for table in _TABLES})
            continue
        months = month_rows(dating.at, dating.zone, dating.source)
        own = own or tables_of_paths([*paths[0], *paths[1]], months, here.any_case)
        tables.append(own)
    return tables


def tables_of_paths(paths: Sequence[str], months: Months, any_case: bool) -> dict[str, pa.Table]:
    """The tables that date the ids of inputs, as all of these together show it."""
    from idcore.scan.local import scan_local

    tables = scan_local(paths, months, case="any" if any_case else "strict")
    return {table: tables[table] for table in _TABLES}


def tables_of(here: ComparisonQuery, dating: Dating, runs: Runs) -> list[dict[str, pa.Table]]:
    """For each side the tables that date its ids, those of an input that no scan has included."""
    with tempfile.TemporaryDirectory(prefix="compare-", dir=temporary.own()) as folder:
        names: dict[str, str] = {}
        paths = _paths(here, Path(folder), names)
        tables = _tables_of(here, dating, paths, runs)
    return [{name: table for name, table in side.items() if name != "counters"} for side in tables]


def dated(counted: Compared, exact: OneSided, tables: Sequence[dict[str, pa.Table]]) -> Compared:
    """With the times of the ids that one side has alone, by the tables of each side (`tables_of_paths`)."""
    import numpy as np

    from idcore.scan.occurrences.dating import times

    known: dict[Whose, np.ndarray] = {}
    for side, own in zip(SIDES, tables, strict=True):
        mine = [one for one in exact.found if one[0][0] == side and one[0][1] != "offset"]
        if not mine:
            continue
        slots = np.repeat(np.arange(len(mine)), [len(values) for *_, values in mine])
        at = times(np.array([key for _, key, _ in mine]), slots, np.concatenate([v for *_, v in mine]), own)
        edges = np.cumsum([0, *(len(values) for *_, values in mine)])
        for place, (name, _, _) in enumerate(mine):
            some = at[edges[place] : edges[place + 1]]
            if len(some := some[some != NO_TIME]):
                known[name] = np.sort(some)
    marks = _assumed(counted, tables)
    spans = {name: Generated(int(at[0]), int(at[-1]), len(at), marks.get(name, ())) for name, at in known.items()}
    step = bin_seconds(spans.values())
    return replace(counted, generated=spans, bin_seconds=step, bins=tuple(_bins(known, step * 1000, counted)))


def _assumed(counted: Compared, tables: Sequence[dict[str, pa.Table]]) -> dict[Whose, tuple[str, ...]]:
    """What of the times of each producer no line of its side shows."""
    from idcore.presentation.triage.processes import assumed_codes

    origins: dict[Origin, list[tuple[str, str]]] = {}
    for row in counted.rows:
        origins.setdefault(row.origin, []).append((row.kind, row.subject))
    assumed: dict[Whose, tuple[str, ...]] = {}
    for side, own in zip(SIDES, tables, strict=True):
        for name in ("processes", "clients"):
            columns = [each for each in (*_OF_DATING, *_WHO[name]) if each in own[name].column_names]
            for row in own[name].select(columns).to_pylist():
                for kind, subject in origins.get(Fingerprint.of_row(row), ()):
                    assumed[side, kind, subject] = assumed_codes(row)
    return assumed


def bin_seconds(spans: Iterable[Generated]) -> int:
    """The finest step that cuts the whole span into few enough bins."""
    ends = [(span.first // 1_000, span.last // 1_000) for span in spans] or [(0, 0)]
    first, last = min(first for first, _ in ends), max(last for _, last in ends)
    return next((step for step in STEPS if last // step - first // step < BINS), STEPS[-1])


def _bins(known: Mapping[Whose, np.ndarray], step: int, counted: Compared) -> list[tuple[str, str, str, int, int]]:
    import numpy as np

    counts: dict[tuple[str, str, str, int], int] = {}
    series = dict.fromkeys(SIDES, 0)
    for (side, kind, subject), at in known.items():
        if not counted.can_differ(kind):
            continue
        series[side] += 1
        name = (side, kind, subject) if series[side] <= MOST_SERIES else (side, "", "")
        for start, n in zip(*np.unique(at // step * step, return_counts=True), strict=True):
            counts[*name, int(start)] = counts.get((*name, int(start)), 0) + int(n)
    return [(*name, n) for name, n in sorted(counts.items())]


# ---- within a time range


@dataclass(frozen=True, slots=True)
class Dates:
    """When ids of two scans were generated: as the first scan with their process or client dates them.

    `starts`: by process, where its milliseconds count from in its first and its last month, and the most of the last.
    """

    starts: dict[Origin, tuple[int, int, int]]
    clients: tuple[pa.Table, ...]

    @classmethod
    def of(cls, sides: Sequence[Mapping[str, pa.Table]]) -> Dates:
        """From the tables of both sides."""
        import pyarrow as pa

        from idcore.scan.occurrences import dating
        from idcore.scan.schemas import SCHEMAS

        starts: dict[Origin, tuple[int, int, int]] = {}
        for side in sides:
            for row in _table(side, "processes", dating.COLUMNS["processes"]):
                if row["last_sent_at"] is not None:
                    first, last = (to_ms(row[f"{end}_sent_at"]) - row[f"{end}_elapsed_ms"] for end in ("first", "last"))
                    starts.setdefault(Fingerprint.of_row(row), (first, last, row["last_possible_elapsed_ms"] or 0))
        found = (_table(side, "clients", dating.COLUMNS["clients"]) for side in sides)
        clients = tuple(pa.Table.from_pylist(rows, SCHEMAS["clients"]) for rows in found if rows)
        return cls(starts, clients)

    def times(self, kind: str, origin: Origin, words: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Milliseconds of each id; NO_TIME where they are not known, and of an offsetMsgId."""
        import numpy as np

        from idcore.scan.occurrences import dating

        none = np.full(len(values), NO_TIME)
        if kind == "uniq" and origin in self.starts:
            first, last, possible = self.starts[origin]
            elapsed = (values >> np.uint64(16)).astype(np.int64)
            before = none if first == last else first + elapsed
            return np.where(elapsed <= possible, last + elapsed, before)
        if kind == "client":
            for table in self.clients:
                tables = dict.fromkeys(("processes", "counters", "clients"), table)
                sent = dating.times(words[None, :], np.zeros(len(values), np.int64), values, tables)
                if (sent != NO_TIME).any():
                    return sent
        return none


def _table(side: Mapping[str, pa.Table], name: str, columns: list[str]) -> list[dict[str, Any]]:
    """The rows of a table with these columns; none of a scan of an older version, which does not have all of them."""
    table = side.get(name)
    return table.select(columns).to_pylist() if table is not None and {*columns} <= {*table.column_names} else []


def within(sides: Sequence[Mapping[str, pa.Table]], shown: TimeRange) -> Keep:
    """Which ids of two inputs are in a time range, by the tables that date them."""
    from idcore.presentation.triage.in_range import inside

    dates = Dates.of(sides)
    return lambda side, *ids: inside(dates.times(*ids), shown)


# ---- kept


def find(runs: Iterable[Mapping[str, Any]], digest: str, owner: str | None) -> str | None:
    """An owner's comparison of these very inputs that is kept, of rows of the list of runs."""
    own = (row for row in runs if row["kind"] == COMPARE and row["kept"] and row["owner"] == owner)
    same = (row for row in own if row["options"].get("digest") == digest)
    return next((str(row["name"]) for row in same if row["state"] == "done"), None)


def make(
    here: ComparisonQuery, dating: Dating, runs: Runs, digest: str, who: Actor = audit.CONSOLE, **facts: Any
) -> Run:
    """Compares, and keeps the answer as a run of its own; of an input that is not a scan's, a copy as well."""
    sides = [[source.name for source in side] for side in here.sides]
    copied = [[] if name else list(side) for name, side in zip(here.of, here.sides, strict=True)]
    options = {
        "sides": sides,
        "of": list(here.of),
        "case": "any" if here.any_case else "strict",
        "digest": digest,
        "sources": [source.name for side in copied for source in side],
        "copied": [len(side) for side in copied],
        **dating.options,
    }
    title = " / ".join(", ".join(names[:2]) for names in sides)
    run, began = runs.create(title, "console", options, kind=COMPARE, **facts), time.monotonic()
    audit.note("scan_begun", who, run=run.name, kind=COMPARE, bytes=here.size)
    try:
        keep(run, [source for side in copied for source in side])
        comparison = compare(here, dating, runs)
        _write(run, comparison, here, time.monotonic() - began)
    except Exception as error:
        audit.scan_ended(who, run.name, COMPARE, "failed", error=coded(error).code)
        run.end("failed", coded(error))
        raise
    except BaseException:  # the page that waited for it was left
        audit.scan_ended(who, run.name, COMPARE, "cancelled")
        run.end("cancelled")
        raise
    audit.scan_ended(who, run.name, COMPARE, "done", seconds=round(time.monotonic() - began, 3), bytes=here.size)
    run.end("done")
    return run


def is_there(name: str | None, runs: Runs) -> bool:
    """Whether a comparison of this name can be opened."""
    try:
        return name is not None and runs.open(name).kind == COMPARE
    except RunError:
        return False


def scans_of(run: Run, runs: Runs) -> tuple[Run, Run] | None:
    """The two scans of a comparison, where both inputs are of scans that are still there."""
    try:
        first, second = (runs.open(name or "") for name in run.options["of"])
    except RunError:
        return None
    return first, second


def empty_side(here: ComparisonQuery, runs: Runs) -> tuple[str, str] | None:
    """The side that has nothing to compare, and why; None where both have something."""
    for side, name in zip(SIDES, here.of, strict=True):
        if not here.of_side(side):
            if name is None:
                return side, "nothing"
            return side, "not_kept" if runs.open(name).store is None else "not_text"
    return None


def inputs_of(run: Run, runs: Runs) -> ComparisonQuery | None:
    """Both inputs of a comparison: of their scans, or as it keeps them; None where one of them is gone."""
    sides = []
    for side, name in zip(SIDES, run.options["of"], strict=True):
        try:
            sources = sources_of(run, side) or (kept(runs.open(name)) if name else [])
        except RunError:
            return None
        sides.append(tuple(sources))
    known = [name if name and runs.open(name).state == "done" else None for name in run.options["of"]]
    here = ComparisonQuery(sides[0], sides[1], run.options["case"] == "any", (known[0], known[1]))
    return here if all(sides) else None


def sources_of(run: Run, side: str) -> list[Source]:
    """The input of one side that a comparison keeps; empty where it is a scan's."""
    first = int(run.options["copied"][0])
    sources = kept(run)
    return sources[:first] if side == "before" else sources[first:]


def _write(run: Run, comparison: Compared, here: ComparisonQuery, seconds: float) -> None:
    import pyarrow as pa

    rows = frame(comparison.rows, comparison).assign(
        lines=[comparison.lines.get((row.kind, row.subject), "") for row in comparison.rows]
    )
    table = pa.Table.from_pandas(rows, preserve_index=False)
    for name in _OF_ORIGIN:
        table = table.append_column(name, pa.array([getattr(row.origin, name, None) for row in comparison.rows]))
    ids = [(*name, text) for name, texts in comparison.whose.items() for text in texts]
    tables = {
        "differences": table,
        "only": _columns(ids, ("side", "kind", "subject", "id")),
        "bins": _columns(comparison.bins, ("side", "kind", "subject", "start_ms", "ids")),
        "rates": _columns(comparison.rates, ("side", "start_ms", "missing", "ids")),
    }
    write_tables(run.path, tables)
    sums = [comparison.sums(group) for group in (MESSAGE, STORED)]
    summary = {
        "files": len(here.before) + len(here.after),
        "text_bytes": here.size,
        "seconds": round(seconds, 3),
        "only_first": sum(first - both for first, second, both in sums if second),
        "only_second": sum(second - both for first, second, both in sums if first),
        "bin_seconds": comparison.bin_seconds,
        "rate_seconds": comparison.rate_seconds,
        "problems": [[name, problem.coded()] for name, problem in comparison.problems],
    }
    write_text(run.path / "summary.json", json.dumps(summary))


def _columns(rows: Iterable[Sequence[Any]], names: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    types = dict.fromkeys(("start_ms", "missing", "ids"), pa.int64())
    return pa.table(
        {name: pa.array(values, types.get(name, pa.string())) for name, values in zip(names, columns, strict=True)}
    )


def read(run: Run) -> Compared:
    """The answer that a comparison keeps."""
    from idcore.scan.compare import Difference

    summary = run.summary or {}
    rows, made, lines = [], {}, {}
    for row in run.table("differences").to_pylist():
        samples = [tuple(row[f"sample_only_{side}"].split()) for side in ("first", "second")]
        rows.append(Difference(row["kind"], _origin(row), row["first"], row["second"], row["both"], *samples))
        lines[row["kind"], row["subject"]] = row["lines"]
        for side, name in zip(SIDES, ("first", "second"), strict=True):
            if row[f"dated_{name}"]:
                ends = (row[f"only_{name}_{end}"].timestamp() for end in ("from", "to"))
                first, last = (round(end * 1000) for end in ends)
                made[side, row["kind"], row["subject"]] = Generated(
                    first, last, row[f"dated_{name}"], tuple((row.get(f"assumed_{name}") or "").split())
                )
    whose: dict[Whose, list[str]] = {}
    ids: dict[str, list[str]] = {side: [] for side in SIDES}
    for row in run.table("only").to_pylist():
        whose.setdefault((row["side"], row["kind"], row["subject"]), []).append(row["id"])
        ids[row["side"]].append(row["id"])
    problems = tuple(
        (name, from_coded(held) or CoreError("said", {"why": name})) for name, held in summary.get("problems") or ()
    )
    bins = tuple(tuple(row.values()) for row in run.table("bins").to_pylist())
    rates = tuple(tuple(row.values()) for row in run.table("rates").to_pylist()) if run.has("rates") else ()
    bin_seconds, rate_seconds = summary.get("bin_seconds", 1), summary.get("rate_seconds", 1)
    return Compared(tuple(rows), ids, problems, whose, made, bins, bin_seconds, rates, rate_seconds, lines)


def _origin(row: Mapping[str, Any]) -> Origin:
    if row.get("host") is None:
        return _Subject(row["subject"])
    if row["port"] is not None:
        return BrokerAddress(row["host"], row["port"])
    return Fingerprint(row["host"], row["pid"], row["loader"])


# ---- shown


def frame(rows: Sequence[Difference], comparison: Compared | None = None) -> pd.DataFrame:
    """The core's rows as a table, with the times of the ids that one side has alone."""
    import pandas as pd

    table = pd.DataFrame([row_of(row) | (_times_of(row, comparison) if comparison is not None else {}) for row in rows])
    for name in table.columns:
        if name.endswith(("_from", "_to")):
            table[name] = pd.to_datetime(table[name], unit="ms", utc=True)
    return table


def row_of(difference: Difference) -> dict[str, Any]:
    """A row of the core as tables have it."""
    return {
        "kind": difference.kind,
        "subject": difference.subject,
        "first": difference.before,
        "second": difference.after,
        "both": difference.both,
        "only_first": difference.missing,
        "only_second": difference.new,
        "sample_only_first": " ".join(difference.only_before),
        "sample_only_second": " ".join(difference.only_after),
    }


def _times_of(row: Difference, comparison: Compared) -> dict[str, Any]:
    times: dict[str, Any] = {}
    for side, name in zip(SIDES, ("first", "second"), strict=True):
        span = comparison.generated.get((side, row.kind, row.subject))
        times[f"only_{name}_from"], times[f"only_{name}_to"] = (span.first, span.last) if span else (None, None)
        times[f"dated_{name}"] = span.dated if span else 0
        times[f"assumed_{name}"] = " ".join(span.assumed) if span else ""
    return times


def by_place(comparison: Compared) -> dict[str, list[tuple[str, int, int, int]]]:
    """Both, only first, only second of each host of producers; of brokers where not both sides have msgIds."""
    group = comparison.group
    sums: dict[str, tuple[int, int, int]] = {}
    for row in comparison.of_both:
        if GROUPS[row.kind] == group:
            a, b, c = sums.get(row.origin.place, (0, 0, 0))
            sums[row.origin.place] = (a + row.both, b + row.missing, c + row.new)
    ordered = sorted(sums.items(), key=lambda item: (-item[1][1] - item[1][2], -item[1][0], item[0]))
    return {group: [(name, *counts) for name, counts in ordered]} if ordered else {}


def largest(comparison: Compared, side: str) -> list[Difference]:
    """The rows with ids that only this side has, most first, so that a message is counted once (`Compared.group`)."""
    rows = [
        row
        for row in comparison.rows
        if only(row, side) and GROUPS[row.kind] == comparison.group and comparison.can_differ(row.kind)
    ]
    return sorted(rows, key=lambda row: (-only(row, side), row.subject))


def first_difference(run: Run, comparison: Compared) -> tuple[str, str, Difference] | None:
    """The side whose scan has lines of ids that it has alone: it, the scan, and the row with most of them."""
    for side, name in zip(SIDES, run.options["of"], strict=True):
        if name and (rows := largest(comparison, side)):
            return side, name, rows[0]
    return None


def line_filters(comparison: Compared, side: str, row: Difference) -> dict[str, str]:
    """Which lines the ids are in that one side has alone; of many those of their producer in that time."""
    ids = comparison.whose.get((side, row.kind, row.subject), [])
    if len(ids) == only(row, side) <= LINKED:
        return {"ids": ",".join(ids)}
    asked = {LINE_FILTERS[row.kind]: comparison.lines[row.kind, row.subject]}
    if span := comparison.generated.get((side, row.kind, row.subject)):
        asked |= {"from": _instant(span.first), "to": _instant(span.last + 1)}
    return asked


def _instant(milliseconds: int) -> str:
    return from_ms(milliseconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def one_a_line(ids: Sequence[str]) -> bytes:
    """Ids as a file, one a line."""
    return ("\n".join(ids) + "\n").encode()
