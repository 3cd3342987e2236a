"""Every cache of the console: tables of runs, the list of runs. Bounded, and keyed by the run's own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from idcore.runs import Run, Runs

if TYPE_CHECKING:  # the decode page is up before pandas and Arrow are
    import pandas as pd
    import pyarrow as pa

    from pages.parts.compare import Compared

Key = Mapping[str, Any]


def stamp(run: Run) -> float:
    """Changes when a run is written again: its summary is written last."""
    path = run.path / "summary.json"
    return path.stat().st_mtime if path.exists() else 0.0


@st.cache_resource(max_entries=24, show_spinner=False)
def _arrow(path: str, written: float, name: str, columns: tuple[str, ...] | None) -> pa.Table:
    run = Run(Path(path))
    return run.table(name, list(columns) if columns else None) if run.has(name) else None


@st.cache_data(max_entries=24, show_spinner=False)
def _frame(path: str, written: float, name: str) -> pd.DataFrame:
    import pandas as pd

    found = _arrow(path, written, name, None)
    return pd.DataFrame() if found is None else found.to_pandas()


def frame(run: Run, name: str) -> pd.DataFrame:
    """A small table as pandas; empty where the run has none."""
    return _frame(str(run.path), stamp(run), name)


@st.cache_data(max_entries=32, show_spinner=False)
def _points(path: str, written: float, key: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

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
def runs(root: str) -> list[dict[str, Any]]:
    """The list of runs, at most two seconds old."""
    listed = []
    for run in Runs(Path(root)).list():
        listed.append(
            {
                "name": run.name,
                "title": run.title,
                "options": run.options,
                "created": run.created,
                "state": run.state,
                "error": run.error,
                "summary": run.summary,
            }
        )
    return listed


def forget_runs() -> None:
    """After a run was made or deleted the list is read anew."""
    runs.clear()


@st.cache_resource(max_entries=8, show_spinner=False)
def compared(digest: str, _make: Callable[[], Compared]) -> Compared:
    """What two inputs have in common, by a digest of both."""
    return _make()
