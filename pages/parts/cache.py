"""Every cache of the console: tables of scans, the list of scans. Bounded, and keyed by the scan's own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from idcore.base.open_folders import Roots
from idcore.presentation.reader import Reader
from idcore.presentation.triage import run_rows, run_tables
from idcore.presentation.triage.file_names import names_of
from idcore.presentation.triage.run_tables import Key
from idcore.runs.runs import SCANS, Run, Runs, may_see, runs_root
from pages.parts import visitor

if TYPE_CHECKING:  # the decode page is up before pandas and Arrow are
    import numpy as np
    import pandas as pd

    from idcore.answers.lookup.store_groups import OfTopic
    from idcore.presentation.triage.explained import Explained
    from idcore.presentation.triage.fates import FateFilter
    from idcore.presentation.triage.in_range import Brokers, InRange
    from idcore.presentation.triage.largest import Totals
    from idcore.presentation.triage.scope import Scope
    from idcore.presentation.triage.time_range import TimeRange
    from idcore.presentation.triage.undelivered import UndeliveredList
    from idcore.scan.occurrences.index import Allowed, Filter, Index, Selection

HashFuncs = dict[str | type[Any], Callable[[Any], Any]]


# What is kept of a run is kept as long as its files are the same.
_RUN: HashFuncs = {Run: lambda run: (str(run.path), run_tables.stamp(run))}
BEHIND = 120.0  # seconds that the lines of a scan that goes on may be behind its tables, and do for its charts
MOST_INDEXES = 16
_indexes: dict[str, tuple[float, Index | None]] = {}  # by the folder of their scan, the latest last
_LINES: HashFuncs = {Run: lambda run: (str(run.path), run_tables.line_stamp(run))}
_RUN_AND_LINES: HashFuncs = {Run: lambda run: (str(run.path), run_tables.stamp(run), run_tables.line_stamp(run))}


# ---- tables of a scan


@st.cache_data(max_entries=24, show_spinner=False, hash_funcs=_RUN)
def frame(run: Run, name: str) -> pd.DataFrame:
    """A table as pandas, of a large one the largest rows; empty where the scan has no such table. Files by name."""
    return names_of(run).named(run_tables.frame(run, name, is_cut(run, name)))


def rejected(run: Run) -> pd.DataFrame:
    """What was rejected and what only looks like an ID, by reason."""
    import pandas as pd

    return pd.concat([some for name in ("refused", "lookalikes") if len(some := frame(run, name))] or [pd.DataFrame()])


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=_RUN)
def rows(run: Run, name: str) -> int:
    """How many rows a table has; 0 where the scan has no such table."""
    return run_tables.rows(run, name)


def is_cut(run: Run, name: str) -> bool:
    """Whether `frame` holds some rows of a table only."""
    return run_tables.is_large(name, rows(run, name))


@st.cache_data(max_entries=24, show_spinner=False, hash_funcs=_RUN)
def _first(run: Run, by: str) -> pd.DataFrame:
    return run_tables.first(run, "processes", by)


def first(run: Run, by: str) -> pd.DataFrame:
    """The processes, of a large scan those that come first when they are sorted by one of what pages sort by."""
    return _first(run, by) if is_cut(run, "processes") else frame(run, "processes")


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=_RUN)
def _where(run: Run, name: str, wanted: Mapping[str, Sequence[Any]], only: Sequence[str] | None = None) -> pd.DataFrame:
    return run_tables.where(run, name, wanted, columns=only)


def where(run: Run, name: str, only: Sequence[str] | None = None, **wanted: Sequence[Any]) -> pd.DataFrame:
    """The rows of a table whose columns hold one of these values; `only`: columns of which at least these are there."""
    if is_cut(run, name):
        return _where(run, name, {column: tuple(some) for column, some in wanted.items()}, only)
    rows = frame(run, name)
    for column, values in wanted.items():
        rows = rows[rows[column].isin(values)]
    return rows


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs=_RUN)
def totals(run: Run) -> Totals:
    """What the processes of a scan come to."""
    return run_tables.totals(run)


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs=_RUN)
def _host_changes(run: Run, lang: str, zone: str, _reader: Reader) -> str:
    from idcore.presentation.triage import host_rows

    return host_rows.changes_in(run, _reader)


def host_changes(run: Run, reader: Reader) -> str:
    """What changed at its hosts, as a reader reads it."""
    return _host_changes(run, reader.words.lang, str(reader.zone), reader)


def points(run: Run, process: Key) -> pd.DataFrame:
    """The thinned counter of one process."""
    return _where(run, "counters", {name: (value,) for name, value in run_tables.key(process).items()})


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs=_RUN)
def judged(run: Run) -> pd.DataFrame:
    """The processes, of a large scan those that miss most, with what they `lost` and whether they are a `sample`."""
    return judge(run, first(run, "missing"))


def all_judged(run: Run) -> pd.DataFrame | None:
    """The same of all processes; None of a large scan."""
    return None if is_cut(run, "processes") else judged(run)


def judge(run: Run, processes: pd.DataFrame) -> pd.DataFrame:
    """The same of some processes."""
    from idcore.presentation.triage import host_rows

    return host_rows.judged(processes, partial(points, run))


def broker(run: Run, address: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Commit log files and bins of offsets of one broker."""
    wanted = {"address": (address,)}
    return _where(run, "segments", wanted), _where(run, "distribution", wanted)


# ---- lines of a scan, and what is in a time range


def lines(run: Run) -> Index | None:
    """The index of a run's lines; None where there is none yet, or one that lacks what the tables have for long."""
    is_behind = run.lines_behind > (BEHIND if run.state == "running" else 0)
    return None if is_behind else known_lines(run)


def known_lines(run: Run) -> Index | None:
    """The same, also where a scan that goes on has had other lines since. Of a scan one index is kept, the newest."""
    from idcore.scan.occurrences.index import Index

    name, stamp = str(run.path), run_tables.line_stamp(run)
    known = _indexes.get(name)
    if known is None or known[0] != stamp:
        known = stamp, Index.open(run.path / "occurrences")
        _indexes.pop(name, None)
        _indexes[name] = known
        for oldest in [*_indexes][:-MOST_INDEXES]:
            _indexes.pop(oldest, None)
    return known[1]


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=_LINES)  # one of ten million rows has 40 MB
def selection(run: Run, _index: Index, wanted: Filter, order: str, roots: Roots, _allowed: Allowed) -> Selection:
    """The rows of the index that fit a filter, as who may read files in these places may count them."""
    return _index.select(wanted, order, _allowed)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_LINES)
def rows_of(run: Run, _index: Index, ids: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The rows of the index of each of these IDs."""
    return _index.rows_of(ids)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_RUN_AND_LINES)
def in_range(run: Run, shown: TimeRange) -> InRange:
    """Processes and hosts of a time range: of the index of the run's lines where it has one, else of its tables."""
    return run_tables.in_range(run, lines(run), shown)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_RUN_AND_LINES)
def brokers_in(run: Run, shown: TimeRange) -> Brokers | None:
    """The brokers of a time range; None where the run has no index of its lines."""
    return run_tables.brokers_in(lines(run), shown)


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs=_RUN_AND_LINES)
def figures_in(run: Run, rows: pd.DataFrame, shown: TimeRange) -> pd.DataFrame:
    """Some processes of a time range with what is missing, wraps and rate, and what is not known of them."""
    whole = where(run, "processes", host=rows["host"].unique().tolist())
    return run_tables.figures_in(lines(run), rows, whole, partial(points, run), shown)


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs=_RUN_AND_LINES)
def fine_activity(run: Run, shown: TimeRange) -> tuple[pd.DataFrame, pd.Timedelta] | None:
    """IDs by host in steps shorter than a minute, and the step; None where minutes are fine enough, or all there is."""
    return run_tables.fine_activity(lines(run), totals(run), shown)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_RUN_AND_LINES)
def explained(run: Run, shown: TimeRange, wanted: Scope, roots: Roots, _allowed: Allowed) -> Explained | None:
    """What is different in a time range, of what is wanted; None where the run has no index of its lines. `roots`: as
    above."""
    return run_tables.explained(run, lines(run), shown, judged(run), totals(run), wanted, _allowed)


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs=_RUN_AND_LINES)
def narrowed_activity(run: Run, wanted: Scope) -> tuple[pd.DataFrame, pd.Timedelta] | None:
    """IDs of a host, process or broker by time, and the step; None where the run has no index of its lines."""
    return run_tables.narrowed_activity(lines(run), wanted)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_RUN_AND_LINES)
def _every_point(run: Run, key: Key, shown: TimeRange) -> pd.DataFrame | None:
    return run_tables.every_point(lines(run), key, points(run, key), shown)


def every_point(run: Run, process: Key, shown: TimeRange) -> pd.DataFrame | None:
    """Every ID of a process in a time range; None where the run has no index of its lines."""
    return _every_point(run, run_tables.key(process), shown)


# ---- of stores


@st.cache_resource(max_entries=4, ttl=60, show_spinner=False)
def store_groups(state: tuple[object, ...], _rows: Callable[[], list[OfTopic]]) -> list[OfTopic]:
    """The groups of an open store with their topics, by the state of its folder."""
    return _rows()


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs=_RUN)
def fates(run: Run) -> pd.DataFrame:
    """What became of the messages of a store in each group, counted."""
    from idcore.presentation.triage import fates

    return fates.counted(run.path)


@st.cache_resource(max_entries=6, show_spinner=False, hash_funcs=_RUN)
def undelivered(run: Run, asked: FateFilter, order: str) -> UndeliveredList:
    """The messages that a group has not consumed: those that are asked for and come first."""
    from idcore.presentation.triage.undelivered import Undelivered

    return Undelivered.of_run(run.path).select(asked, order)


# ---- the list of scans


_changes = count()  # a list that was being read while runs changed is of the time before, and is not kept for later
_change = next(_changes)


@st.cache_data(max_entries=1, ttl=2, show_spinner=False)  # of everybody: each reader sees theirs of it
def _all_runs(root: str, change: int) -> list[dict[str, Any]]:
    return run_rows.rows_of(Runs(Path(root)).list())


def all_runs() -> list[dict[str, Any]]:
    """Every run of this visitor's list, comparisons and those that are not kept included, at most two seconds old."""
    here = visitor.current()
    return [row for row in _all_runs(str(runs_root()), _change) if may_see(here, row, listed=True)]


def scans() -> list[dict[str, Any]]:
    """The scans that are kept."""
    return [row for row in all_runs() if row["kept"] and row["kind"] in SCANS]


def finished() -> list[dict[str, Any]]:
    """Those of them that are done: what the chart pages can show."""
    return [row for row in scans() if row["state"] == "done"]


def forget_runs() -> None:
    """After a scan was made or deleted the list is read again."""
    global _change
    _change = next(_changes)


@st.cache_data(max_entries=512, show_spinner=False, hash_funcs=_RUN)
def file_names(run: Run) -> list[str]:
    """The names of the files that a run read."""
    return run_rows.file_names(run)


@st.cache_resource(max_entries=8, show_spinner=False)
def compared(digest: str, _make: Callable[[], Any]) -> Any:
    """What two inputs have in common, by a digest of both."""
    return _make()


def forget_all() -> None:
    """Nothing is kept of any scan; what a page needs is read again."""
    st.cache_data.clear()
    _indexes.clear()
    of_lines = (selection, rows_of, in_range, explained, brokers_in, _every_point)
    for kept in (*of_lines, fates, undelivered, compared, store_groups):
        kept.clear()
