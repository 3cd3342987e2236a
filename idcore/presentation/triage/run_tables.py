"""The tables of a run as pages show them: of one too large to be held its first rows, and what is asked for of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idcore.base.numbers import whole_number
from idcore.ids.clock import to_ms
from idcore.ids.origins import PROCESS_KEY
from idcore.runs.runs import Run, RunError

if TYPE_CHECKING:  # the decode page is up before pandas and Arrow are
    import pandas as pd

    from idcore.presentation.triage.explained import Explained
    from idcore.presentation.triage.in_range import Brokers, InRange
    from idcore.presentation.triage.largest import Totals
    from idcore.presentation.triage.scope import Scope
    from idcore.presentation.triage.time_range import TimeRange
    from idcore.scan.occurrences.index import Allowed, Index

Key = Mapping[str, Any]
# Of tables with more rows a page holds the first ones only, in the order in which it shows them.
MOST_ROWS, FIRST_ROWS = 200_000, 2_000
_MOST_FINE = 8 << 20  # IDs that are counted anew for the steps of a picture
_ORDER = {"processes": "ids", "hosts": "count", "clients": "count", "brokers": "count"}
_CUT = {*_ORDER, "counters", "activity", "copies", "fates", "undelivered", "attempts"}


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it is not there yet
        return 0.0


def stamp(run: Run) -> float:
    """Changes when a scan is written again: its summary is written last."""
    return _written(run.path / "summary.json")


def line_stamp(run: Run) -> float:
    """Changes when the index of its lines is there."""
    return _written(run.path / "occurrences" / "index.json")


def is_large(name: str, rows: int) -> bool:
    """Whether pages hold some rows of a table only."""
    return name in _CUT and rows > MOST_ROWS


def rows(run: Run, name: str) -> int:
    """How many rows a table has; 0 where the scan has no such table."""
    from idcore.presentation.triage import largest

    count = largest.count(run.path / name)
    if not count and run.has(name) and not any((run.path / name).glob("*.parquet")):  # an empty table is a file too
        raise RunError("table_damaged", {"name": run.name, "table": name}, "table", None, name)
    return count


def frame(run: Run, name: str, cut: bool) -> pd.DataFrame:
    """A table, of one that is cut the first rows; empty where the scan has no such table.

    Of `findings` those that can be said, each with its number as its index.
    """
    import pandas as pd

    if not run.has(name):
        return pd.DataFrame()
    if not cut:
        rows = run.table(name).to_pandas()
        return rows.drop(index=list(unknown_findings(run)), errors="ignore") if name == "findings" else rows
    return first(run, name, _ORDER[name]) if name in _ORDER else where(run, name, {}, FIRST_ROWS)


def unknown_findings(run: Run) -> frozenset[int]:
    """The numbers of the findings that another version, or a hand, wrote, and that cannot be said here."""
    return _unknown(run, stamp(run), _written(run.path / "findings")) if run.has("findings") else frozenset()


@lru_cache(maxsize=64)
def _unknown(run: Run, *stamps: float) -> frozenset[int]:
    from idcore.presentation.triage import known_findings

    return known_findings.unknown(run.table("findings").to_pandas())


def finding(run: Run, number: str) -> dict[str, Any] | None:
    """A row of the table `findings`; None of one that is not there, or cannot be said."""
    table, row = run.table("findings"), whole_number(number)
    if row is None or row >= table.num_rows or row in unknown_findings(run):
        return None
    found: dict[str, Any] = table.slice(row, 1).to_pylist()[0]
    return found


def first(run: Run, name: str, by: str) -> pd.DataFrame:
    """The rows that come first when a table is sorted by what people sort by."""
    from idcore.presentation.triage import largest

    return largest.first(run.path / name, by, FIRST_ROWS).to_pandas()


def where(
    run: Run,
    name: str,
    wanted: Mapping[str, Sequence[Any]],
    most: int = MOST_ROWS,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """The rows whose columns hold one of these values, or some of their columns; empty where there is no such table."""
    import pandas as pd

    from idcore.presentation.triage import largest

    return largest.where(run.path / name, wanted, most, columns).to_pandas() if run.has(name) else pd.DataFrame()


def totals(run: Run) -> Totals:
    """What the processes of a scan come to."""
    from idcore.presentation.triage import largest

    sums = largest.totals(run.path / "processes")
    sums.is_list = bool((run.summary or {}).get("is_list"))
    return sums


def key(process: Key) -> dict[str, Any]:
    """What names a process, of a row that has more."""
    return {name: process[name] for name in PROCESS_KEY} | {"pid": int(process["pid"])}


def in_range(run: Run, index: Index | None, shown: TimeRange) -> InRange:
    """Processes and hosts of a time range: of the index of the run's lines where it has one, else of its tables."""
    from idcore.presentation.triage import in_range

    return in_range.of_tables(run.path, shown, FIRST_ROWS) if index is None else in_range.of_index(index, shown)


def any_in(index: Index | None, minutes: pd.Series, shown: TimeRange) -> bool:
    """Whether any ID of a scan is in a time range. `minutes`: those that have IDs, all there is without an index."""
    from idcore.presentation.triage import in_range

    if minutes.empty or not shown.whole_minutes().contains(minutes).any():
        return False
    ends = in_range.milliseconds(shown)
    return index is None or any(in_range.inside(part.timed(*ends)[0], shown).any() for part in index.parts)


def brokers_in(index: Index | None, shown: TimeRange) -> Brokers | None:
    """The brokers of a time range; None where the run has no index of its lines."""
    from idcore.presentation.triage import in_range

    return None if index is None else in_range.brokers_of_index(index, shown)


def figures_in(
    index: Index | None,
    rows: pd.DataFrame,
    whole: pd.DataFrame,
    points: Callable[[Any], pd.DataFrame],
    shown: TimeRange,
) -> pd.DataFrame:
    """Some processes of a time range with what is missing, wraps and rate; without an index as they are.

    `whole`: their rows of all times, which say of what that is not known.
    """
    from idcore.presentation.triage import in_range
    from idcore.scan.schemas import UNCOUNTED

    if index is None:
        return rows
    marks = whole[[*PROCESS_KEY, *(name for name in UNCOUNTED if name in whole)]]
    return in_range.with_figures(index, rows.merge(marks, "left", PROCESS_KEY), points, shown)


def every_point(index: Index | None, process: Key, thinned: pd.DataFrame, shown: TimeRange) -> pd.DataFrame | None:
    """Every ID of a process in a time range; None where the run has no index of its lines."""
    from idcore.presentation.triage import in_range

    return None if index is None else in_range.points(index, process, thinned, shown)


def explained(
    run: Run,
    index: Index | None,
    shown: TimeRange,
    processes: pd.DataFrame,
    every: Totals,
    wanted: Scope,
    allowed: Allowed,
) -> Explained | None:
    """What is different in a time range, of what is wanted; None without an index of lines. `processes`: judged."""
    import pandas as pd

    from idcore.presentation.triage import explained as core

    if index is None:
        return None
    gaps = core.gaps(run.path / "counters", processes, shown)
    tables = {
        name: run.table(name).to_pandas() if run.has(name) else pd.DataFrame() for name in ("deliveries", "retries")
    }
    tables |= {"processes": processes, "counters": gaps}
    return core.of_range(index, shown, tables, (every.first, every.last), wanted, allowed)


def narrowed_activity(index: Index | None, wanted: Scope) -> tuple[pd.DataFrame, pd.Timedelta] | None:
    """The dated IDs of a scope in natural steps, and the step; None without an index that can be asked for it."""
    import pandas as pd

    from idcore.presentation.triage import activity, in_range

    if index is None or not wanted:
        return None
    moments = pd.Series(
        pd.to_datetime(index.points(wanted.filter())[0], unit="ms", utc=True), dtype="datetime64[ms, UTC]"
    )
    if moments.empty:
        return pd.DataFrame({"minute": moments, "ids": []}), activity.MINUTE
    step = activity.natural_step(moments.max() - moments.min() + in_range.LEAST, activity.CELLS, in_range.LEAST)
    ids = moments.dt.floor(step).value_counts(sort=False)
    return pd.DataFrame({"minute": ids.index, "ids": ids.to_numpy()}), step


def fine_activity(index: Index | None, every: Totals, shown: TimeRange) -> tuple[pd.DataFrame, pd.Timedelta] | None:
    """IDs by host in steps shorter than a minute, and the step; None where minutes are fine enough, or all there is.

    Of very many IDs minutes are enough, too: to count them all would hold the page up.
    """
    import pandas as pd

    from idcore.presentation.triage import in_range

    begin, end = shown.begin or every.first, shown.end or every.last
    if index is None or begin is None or end is None:
        return None
    ends = pd.Timestamp(begin), pd.Timestamp(end) + (pd.Timedelta(0) if shown.end else in_range.LEAST)
    if ends[0] >= ends[1] or not in_range.is_fine(*ends) or index.may_be_in(*map(to_ms, ends)) > _MOST_FINE:
        return None
    return in_range.fine_activity(index, *ends)
