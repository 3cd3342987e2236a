"""The hosts of a scan by their ids and times: the largest, and their minutes in natural steps. Draws nothing."""

from __future__ import annotations

import pandas as pd

TOP = 30
CELLS = 180


def top_hosts(hosts: pd.DataFrame, measure: str, limit: int = TOP) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The largest hosts and the rest; one more than the limit is shown rather than summed up alone."""
    ordered = hosts.sort_values([measure, "host"], ascending=[False, True], kind="stable")
    cut = limit if len(ordered) > limit + 1 else len(ordered)
    return ordered.iloc[:cut], ordered.iloc[cut:]


def binned(activity: pd.DataFrame, order: list[str]) -> tuple[pd.DataFrame, int]:
    """Host x time with empty cells left empty, in at most CELLS steps; the step in minutes."""
    rows = activity[activity["host"].isin(order)]
    first, last = rows["minute"].min(), rows["minute"].max()
    step = step_minutes((last - first).total_seconds() / 60 + 1, CELLS)
    grid = rows.assign(cell=rows["minute"].dt.floor(f"{step}min")).groupby(["host", "cell"])["ids"].sum().unstack()
    whole = pd.date_range(first.floor(f"{step}min"), last.floor(f"{step}min"), freq=f"{step}min")
    return grid.reindex(index=order, columns=whole), step


def by_time(timeline: pd.DataFrame) -> tuple[pd.Series, pd.Timedelta]:
    """All IDs of a scan by time, empty steps included; and the step."""
    first, last = timeline["minute"].min(), timeline["minute"].max()
    step = pd.Timedelta(minutes=step_minutes((last - first).total_seconds() / 60 + 1, CELLS))
    ids = timeline.groupby(timeline["minute"].dt.floor(step))["ids"].sum()
    return ids.reindex(pd.date_range(ids.index[0], ids.index[-1], freq=step), fill_value=0), step


def step_minutes(minutes: float, cells: int) -> int:
    """The shortest natural step that draws a span in at most so many cells."""
    for step in (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440, 2880, 10080):
        if minutes / step <= cells:
            return step
    return 43200
