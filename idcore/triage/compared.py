"""Two inputs side by side: their ids counted by the scan's own comparison, as rows and sums. Has no word for them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idcore.errors import CoreError
from idcore.ids.clock import to_ms
from idcore.intake import Source, safe_name

if TYPE_CHECKING:  # pandas and the kernels only where something is compared
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from idcore.runs import Run
    from idcore.scan.compare import Difference, Keep
    from idcore.triage.time_range import TimeRange

SIDES = ("before", "after")
KEPT = 100_000  # ids of one side that are kept
MESSAGE, STORED = "message", "stored"
GROUPS = {"uniq": MESSAGE, "client": MESSAGE, "offset": STORED}  # what each kind of id names


@dataclass(frozen=True, slots=True)
class Asked:
    """Two inputs to compare, and the two scans they are from where a link can say so."""

    before: tuple[Source, ...]
    after: tuple[Source, ...]
    any_case: bool = False
    link: tuple[str, str] | None = None

    @property
    def size(self) -> int:
        return sum(size_of(side) for side in (self.before, self.after))


@dataclass(frozen=True, slots=True)
class Compared:
    """What the core found: its rows, the ids of one side only (up to KEPT), what it could not read."""

    rows: tuple[Difference, ...]
    ids: dict[str, list[str]]
    problems: tuple[tuple[str, CoreError], ...]

    def sums(self, group: str) -> tuple[int, int, int]:
        """Different ids of the first, of the second, of both."""
        mine = [row for row in self.rows if GROUPS[row.kind] == group]
        return sum(row.before for row in mine), sum(row.after for row in mine), sum(row.both for row in mine)


def size_of(sources: Sequence[Source]) -> int:
    """Bytes as they are."""
    total = 0
    for source in sources:
        data: Any = source.data
        total += len(data) if isinstance(data, bytes) else data.stat().st_size if isinstance(data, Path) else data.size
    return total


def digest_of(here: Asked) -> str:
    """What distinguishes two inputs, and how they are read, from any other two."""
    made = hashlib.sha256(f"{here.any_case}".encode())
    for side in (here.before, here.after):
        made.update(b"side")
        for source in side:
            made.update(hashlib.sha256(source.name.encode()).digest() + source.digest())
    return made.hexdigest()


def compare(here: Asked, keep: Keep | None = None) -> Compared:
    """The answer of the core; of each side only so many ids are kept. `keep` chooses ids, as the core says."""
    from idcore.scan import compare as core  # the kernels only where something is compared

    ids: dict[str, list[str]] = {side: [] for side in SIDES}
    unread: list[tuple[str, CoreError]] = []

    def told(side: str, some: Sequence[str]) -> None:
        ids[side].extend(some[: KEPT - len(ids[side])])

    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        names: dict[str, str] = {}
        paths = [[_path(source, Path(folder), names) for source in side] for side in (here.before, here.after)]
        rows = core.compare(paths[0], paths[1], here.any_case, told, unread, keep)
    shown = tuple((names.get(path, path), problem) for path, problem in dict.fromkeys(unread))
    return Compared(tuple(rows), ids, shown)


@dataclass(frozen=True, slots=True)
class Dates:
    """When ids of two scans were generated: as the first scan with their process or client dates them.

    `starts`: by process, where its milliseconds count from in its first and its last month, and the most of the last.
    """

    starts: dict[str, tuple[int, int, int]]
    clients: tuple[pa.Table, ...]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Dates:
        """From the tables of the scans."""
        import pyarrow as pa

        from idcore.occurrences import dating
        from idcore.scan.schemas import SCHEMAS

        starts: dict[str, tuple[int, int, int]] = {}
        for run in runs:
            for row in _table(run, "processes", dating.COLUMNS["processes"]):
                if row["last_sent_at"] is not None:
                    name = f"{row['host']} pid {row['pid']} loader {row['loader']}"
                    first, last = (to_ms(row[f"{end}_sent_at"]) - row[f"{end}_elapsed_ms"] for end in ("first", "last"))
                    starts.setdefault(name, (first, last, row["last_possible_elapsed_ms"] or 0))
        found = (_table(run, "clients", dating.COLUMNS["clients"]) for run in runs)
        clients = tuple(pa.Table.from_pylist(rows, SCHEMAS["clients"]) for rows in found if rows)
        return cls(starts, clients)

    def times(self, kind: str, subject: str, words: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Milliseconds of each id; NO_TIME where they are not known, and of an offsetMsgId."""
        import numpy as np

        from idcore.occurrences import dating

        none = np.full(len(values), dating.NO_TIME)
        if kind == "uniq" and subject in self.starts:
            first, last, possible = self.starts[subject]
            elapsed = (values >> np.uint64(16)).astype(np.int64)
            before = none if first == last else first + elapsed
            return np.where(elapsed <= possible, last + elapsed, before)
        if kind == "client":
            for table in self.clients:
                tables = dict.fromkeys(("processes", "counters", "clients"), table)
                sent = dating.times(words[None, :], np.zeros(len(values), np.int64), values, tables)
                if (sent != dating.NO_TIME).any():
                    return sent
        return none


def _table(run: Run, name: str, columns: list[str]) -> list[dict[str, Any]]:
    """The rows of a table with these columns; none of a scan of an older version, which does not have all of them."""
    found = run.table(name) if run.has(name) else None
    return found.select(columns).to_pylist() if found is not None and {*columns} <= {*found.column_names} else []


def within(runs: Sequence[Run], shown: TimeRange) -> Keep:
    """Which ids of two scans are in a time range."""
    from idcore.triage.in_range import inside

    dates = Dates.of(runs)
    return lambda *ids: inside(dates.times(*ids), shown)


def _path(source: Source, folder: Path, names: dict[str, str]) -> str:
    """Where the core can read a source; names are what people call it."""
    path = source.data if isinstance(source.data, Path) else folder / f"{len(names):03d}-{safe_name(source.name)}"
    if path is not source.data:
        with path.open("wb") as file:
            for piece in source.pieces():
                file.write(piece)
    names[str(path)] = source.name
    return str(path)


def frame(rows: Sequence[Difference]) -> pd.DataFrame:
    """The core's rows as a table."""
    import pandas as pd

    return pd.DataFrame(
        {
            "kind": row.kind,
            "subject": row.subject,
            "first": row.before,
            "second": row.after,
            "both": row.both,
            "only_first": row.missing,
            "only_second": row.new,
            "sample_only_first": " ".join(row.only_before),
            "sample_only_second": " ".join(row.only_after),
        }
        for row in rows
    )


def by_place(rows: Sequence[Difference]) -> dict[str, list[tuple[str, int, int, int]]]:
    """Both, only first, only second of each host of producers; of brokers where neither has msgIds."""
    kinds = {GROUPS[row.kind] for row in rows}
    group = MESSAGE if MESSAGE in kinds else STORED
    sums: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        if GROUPS[row.kind] == group:
            a, b, c = sums.get(row.place, (0, 0, 0))
            sums[row.place] = (a + row.both, b + row.missing, c + row.new)
    ordered = sorted(sums.items(), key=lambda item: (-item[1][1] - item[1][2], -item[1][0], item[0]))
    return {group: [(name, *counts) for name, counts in ordered]}


def one_a_line(ids: Sequence[str]) -> bytes:
    """Ids as a file, one a line."""
    return ("\n".join(ids) + "\n").encode()
