"""Every cache of the console: tables of scans, the list of scans. Bounded, and keyed by the scan's own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from idcore.runs import SCANS, Run, Runs
from idcore.triage import run_rows

if TYPE_CHECKING:  # the decode page is up before pandas and Arrow are
    import pandas as pd
    import pyarrow as pa

    from idcore.occurrences.index import Filter, Index, Selection
    from idcore.triage.in_range import Brokers, InRange
    from idcore.triage.largest import Totals
    from idcore.triage.time_range import TimeRange

Key = Mapping[str, Any]
# Of tables with more rows a page holds the first ones only, in the order in which it shows them.
MOST_ROWS, FIRST_ROWS = 200_000, 2_000
_ORDER = {"processes": "ids", "hosts": "count", "clients": "count", "brokers": "count"}
_CUT = {*_ORDER, "counters", "activity", "copies"}


def stamp(run: Run) -> float:
    """Changes when a scan is written again: its summary is written last."""
    path = run.path / "summary.json"
    return path.stat().st_mtime if path.exists() else 0.0


@st.cache_resource(max_entries=24, show_spinner=False)
def _arrow(path: str, written: float, name: str, columns: tuple[str, ...] | None) -> pa.Table:
    run = Run(Path(path))
    return run.table(name, list(columns) if columns else None) if run.has(name) else None


@st.cache_data(max_entries=24, show_spinner=False)
def _frame(path: str, written: float, name: str) -> pd.DataFrame:
    import pandas as pd

    from idcore.triage import largest

    if name in _CUT and _rows(path, written, name) > MOST_ROWS:
        if name in _ORDER:
            return largest.first(Path(path) / name, _ORDER[name], FIRST_ROWS).to_pandas()
        return largest.where(Path(path) / name, {}, FIRST_ROWS).to_pandas()
    found = _arrow(path, written, name, None)
    return pd.DataFrame() if found is None else found.to_pandas()


def frame(run: Run, name: str) -> pd.DataFrame:
    """A table as pandas, of a large one the largest rows; empty where the scan has no such table."""
    return _frame(str(run.path), stamp(run), name)


@st.cache_data(max_entries=256, show_spinner=False)
def _rows(path: str, written: float, name: str) -> int:
    from idcore.triage import largest

    return largest.count(Path(path) / name)


def rows(run: Run, name: str) -> int:
    """How many rows a table has; 0 where the scan has no such table."""
    return _rows(str(run.path), stamp(run), name)


def is_cut(run: Run, name: str) -> bool:
    """Whether `frame` holds some rows of a table only."""
    return name in _CUT and rows(run, name) > MOST_ROWS


@st.cache_data(max_entries=24, show_spinner=False)
def _first(path: str, written: float, by: str) -> pd.DataFrame:
    from idcore.triage import largest

    return largest.first(Path(path) / "processes", by, FIRST_ROWS).to_pandas()


def first(run: Run, by: str) -> pd.DataFrame:
    """The processes, of a large scan those that come first when they are sorted by one of what pages sort by."""
    return _first(str(run.path), stamp(run), by) if is_cut(run, "processes") else frame(run, "processes")


@st.cache_data(max_entries=64, show_spinner=False)
def _where(path: str, written: float, name: str, wanted: tuple[tuple[str, tuple[Any, ...]], ...]) -> pd.DataFrame:
    from idcore.triage import largest

    return largest.where(Path(path) / name, dict(wanted), MOST_ROWS).to_pandas()


def where(run: Run, name: str, **wanted: Sequence[Any]) -> pd.DataFrame:
    """The rows of a table whose columns hold one of these values."""
    if not is_cut(run, name):
        found = frame(run, name)
        for column, values in wanted.items():
            found = found[found[column].isin(values)]
        return found
    return _where(str(run.path), stamp(run), name, tuple((column, tuple(some)) for column, some in wanted.items()))


@st.cache_data(max_entries=32, show_spinner=False)
def _totals(path: str, written: float) -> Totals:
    from idcore.triage import largest

    return largest.totals(Path(path) / "processes")


def totals(run: Run) -> Totals:
    """What the processes of a scan come to."""
    return _totals(str(run.path), stamp(run))


@st.cache_data(max_entries=32, show_spinner=False)
def _points(path: str, written: float, key: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    from idcore.triage import largest

    if _rows(path, written, "counters") > MOST_ROWS:
        wanted = {name: [value] for name, value in key}
        return largest.where(Path(path) / "counters", wanted, MOST_ROWS).to_pandas()
    found = _arrow(path, written, "counters", None)
    if found is None:
        return pd.DataFrame()
    mask = None
    for name, value in key:
        hit = pc.equal(found[name], pa.scalar(value, found.schema.field(name).type))
        mask = hit if mask is None else pc.and_(mask, hit)
    return found.filter(mask).to_pandas()


def points(run: Run, process: Key) -> pd.DataFrame:
    """The thinned counter of one process."""
    key = tuple(
        (name, process[name] if name != "pid" else int(process[name])) for name in ("layout", "host", "pid", "loader")
    )
    return _points(str(run.path), stamp(run), key)


@st.cache_resource(max_entries=16, show_spinner=False)
def _lines(path: str, written: float) -> Index | None:
    from idcore.occurrences.index import Index

    return Index.open(Path(path))


def lines(run: Run) -> Index | None:
    """The index of a run's lines; None where there is none yet."""
    folder = run.path / "occurrences"
    try:
        written = (folder / "index.json").stat().st_mtime
    except OSError:
        return None
    return _lines(str(folder), written)


@st.cache_resource(max_entries=4, show_spinner=False)  # one of ten million rows has 40 MB
def _selection(path: str, wanted: Filter, order: str, _index: Index, _allowed: Callable[[str], object]) -> Selection:
    return _index.select(wanted, order, _allowed)


def selection(run: Run, index: Index, wanted: Filter, order: str, allowed: Callable[[str], object]) -> Selection:
    """The rows of the index that fit a filter."""
    return _selection(str(run.path), wanted, order, index, allowed)


@st.cache_resource(max_entries=16, show_spinner=False)
def _in_range(path: str, written: float, shown: TimeRange, _index: Index | None, indexed: bool) -> InRange:
    from idcore.triage import in_range

    return in_range.of_tables(Path(path), shown, FIRST_ROWS) if _index is None else in_range.of_index(_index, shown)


def in_range(run: Run, shown: TimeRange) -> InRange:
    """Processes and hosts of a time range: of the index of the run's lines where it has one, else of its tables."""
    index = lines(run)
    return _in_range(str(run.path), stamp(run), shown, index, index is not None)


@st.cache_resource(max_entries=8, show_spinner=False)
def _brokers_in(path: str, written: float, shown: TimeRange, _index: Index) -> Brokers:
    from idcore.triage import in_range

    return in_range.brokers_of_index(_index, shown)


def brokers_in(run: Run, shown: TimeRange) -> Brokers | None:
    """The brokers of a time range; None where the run has no index of its lines."""
    index = lines(run)
    return None if index is None else _brokers_in(str(run.path), stamp(run), shown, index)


@st.cache_data(max_entries=32, show_spinner=False)
def _figures_in(path: str, written: float, rows: pd.DataFrame, shown: TimeRange) -> pd.DataFrame:
    from idcore.triage import in_range

    run = Run(Path(path))
    index = lines(run)
    return rows if index is None else in_range.with_figures(index, rows, lambda row: points(run, row), shown)


def figures_in(run: Run, rows: pd.DataFrame, shown: TimeRange) -> pd.DataFrame:
    """Some processes of a time range with what is missing, wraps and rate."""
    return _figures_in(str(run.path), stamp(run), rows, shown)


@st.cache_data(max_entries=32, show_spinner=False)
def _activity(
    path: str, written: float, shown: TimeRange, _index: Index | None, indexed: bool
) -> tuple[pd.DataFrame, pd.Timedelta] | None:
    import pandas as pd

    from idcore.triage import in_range

    every = _totals(path, written)
    first, last = shown.begin or every.first, shown.end or every.last
    if _index is None or first is None or last is None:
        return None
    ends = pd.Timestamp(first), pd.Timestamp(last) + (pd.Timedelta(0) if shown.end else in_range.LEAST)
    return in_range.fine_activity(_index, *ends) if ends[0] < ends[1] and in_range.is_fine(*ends) else None


def fine_activity(run: Run, shown: TimeRange) -> tuple[pd.DataFrame, pd.Timedelta] | None:
    """IDs by host in steps shorter than a minute, and the step; None where minutes are fine enough, or all there is."""
    index = lines(run)
    return _activity(str(run.path), stamp(run), shown, index, index is not None)


@st.cache_resource(max_entries=8, show_spinner=False)
def _every_point(
    path: str, written: float, key: tuple[tuple[str, Any], ...], shown: TimeRange, _index: Index, _thinned: pd.DataFrame
) -> pd.DataFrame:
    from idcore.triage import in_range

    return in_range.points(_index, dict(key), _thinned, shown)


def every_point(run: Run, process: Key, shown: TimeRange) -> pd.DataFrame | None:
    """Every ID of a process in a time range; None where the run has no index of its lines."""
    index = lines(run)
    if index is None:
        return None
    key = tuple((name, process[name]) for name in ("layout", "host", "pid", "loader"))
    return _every_point(str(run.path), stamp(run), key, shown, index, points(run, process))


def _of_address(path: str, written: float, name: str, address: str) -> pd.DataFrame:
    import pandas as pd
    import pyarrow.compute as pc

    found = _arrow(path, written, name, None)
    return pd.DataFrame() if found is None else found.filter(pc.equal(found["address"], address)).to_pandas()


@st.cache_data(max_entries=128, show_spinner=False)
def _broker(path: str, written: float, address: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    return _of_address(path, written, "segments", address), _of_address(path, written, "distribution", address)


def broker(run: Run, address: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Commit log files and bins of offsets of one broker."""
    return _broker(str(run.path), stamp(run), address)


@st.cache_data(max_entries=1, ttl=2, show_spinner=False)
def all_runs(root: str) -> list[dict[str, Any]]:
    """Every run, comparisons and those that are not kept included, at most two seconds old."""
    return run_rows.rows_of(Runs(Path(root)).list())


def runs(root: str) -> list[dict[str, Any]]:
    """The list of scans: what the chart pages can show."""
    return [row for row in all_runs(root) if row["kept"] and row["kind"] in SCANS]


def runs_of(root: str, kind: str) -> list[dict[str, Any]]:
    """The runs of one kind that are kept."""
    return [row for row in all_runs(root) if row["kept"] and row["kind"] == kind]


def forget_runs() -> None:
    """After a scan was made or deleted the list is read again."""
    all_runs.clear()


@st.cache_data(max_entries=512, show_spinner=False)
def file_names(path: str, written: float) -> list[str]:
    """The names of the files that a run read."""
    return run_rows.file_names(Run(Path(path)))


@st.cache_resource(max_entries=8, show_spinner=False)
def compared(digest: str, _make: Callable[[], Any]) -> Any:
    """What two inputs have in common, by a digest of both."""
    return _make()
