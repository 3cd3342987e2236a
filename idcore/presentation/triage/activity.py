"""The hosts of a scan by their ids and times: the largest, and their times in natural steps. Draws nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

import pandas as pd

from idcore.base.catalogue import Words

TOP = 30
CELLS = 240
MINUTE = pd.Timedelta(minutes=1)
# The steps in which times are drawn.
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
_MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440, 2880, 10080)
_LONGEST = 43200
# A host or a broker is silent that has nothing for so long after its last one, when others still have some.
LEAST_SILENCE = timedelta(minutes=1)
USUAL_WAITS = 20  # times the mean time between two of its own


def wall_clock(moments: pd.Series, zone: tzinfo) -> pd.Series:
    """Instants as the reader's wall clock: Plotly's axes have no zones."""
    return moments.dt.tz_convert(zone).dt.tz_localize(None) if len(moments) else moments


def step_text(step: pd.Timedelta, words: Words) -> str:
    """`5 minutes`, `2 s`, `4 h`."""
    is_minutes = MINUTE <= step < 60 * MINUTE
    return words.count("minute", step // MINUTE) if is_minutes else words.duration(step.total_seconds())


class Bar(NamedTuple):
    """The bar of a host, or of all others, which have no `host`: it is cut where it would dwarf every host."""

    host: str
    label: str
    value: int
    length: int
    text: str


def bars(
    hosts: pd.DataFrame,
    measure: str,
    limit: int,
    beyond: tuple[int, int],
    marks: Mapping[str, Sequence[str]],
    words: Words,
) -> list[Bar]:
    """The largest hosts, then the others as one. `beyond`: hosts that are not in the table, and what they measure."""
    # The largest hosts and the rest; one more than the limit is shown rather than summed up alone.
    ordered = hosts.sort_values([measure, "host"], ascending=[False, True], kind="stable")
    cut = limit if len(ordered) > limit + 1 else len(ordered)
    shown, rest = ordered.iloc[:cut], ordered.iloc[cut:]
    names, values = shown["host"].tolist(), shown[measure].astype(int).tolist()
    flags = {name: f"  <i>{words('comma').join(marks[name])}</i>" for name in names if marks.get(name)}
    labels, longest = [name + flags.get(name, "") for name in names], max(values, default=1)
    if others := len(rest) + beyond[0]:
        names.append("")
        labels.append(words("producers.others", n=f"{others:,}"))
        values.append(int(rest[measure].sum()) + beyond[1])
    total, unit = int(hosts[measure].sum()) + beyond[1] or 1, "distinct_uniq" if measure == "distinct" else "seen"
    return [
        Bar(name, label, value, min(value, longest), f"{words.count(unit, value)} · {words.share(value, total)}")
        for name, label, value in zip(names, labels, values, strict=True)
    ]


Ends = tuple[pd.Timestamp, pd.Timestamp]


def binned(
    activity: pd.DataFrame, order: list[str], least: pd.Timedelta = MINUTE, within: Ends | None = None
) -> tuple[pd.DataFrame, pd.Timedelta]:
    """Host x time, empty cells left empty, in at most so many steps; the step.

    `least`: what `minute` is exact to. `within`: what is shown at least, by default from the first ID to the last.
    """
    rows = activity[activity["host"].isin(order)]
    first, last = rows["minute"].min(), rows["minute"].max()
    if within is not None:
        first, last = min(first, within[0].floor(least)), max(last, within[1].floor(least))
    step = natural_step(last - first + least, CELLS, least)
    grid = rows.assign(cell=rows["minute"].dt.floor(step)).groupby(["host", "cell"])["ids"].sum().unstack()
    whole = pd.date_range(first.floor(step), last.floor(step), freq=step)
    return grid.reindex(index=order, columns=whole), step


def by_time(timeline: pd.DataFrame, least: pd.Timedelta = MINUTE) -> tuple[pd.Series, pd.Timedelta]:
    """All IDs of a scan by time, empty steps included; and the step."""
    first, last = timeline["minute"].min(), timeline["minute"].max()
    step = natural_step(last - first + least, CELLS, least)
    ids = timeline.groupby(timeline["minute"].dt.floor(step))["ids"].sum()
    return ids.reindex(pd.date_range(ids.index[0], ids.index[-1], freq=step), fill_value=0), step


def natural_step(span: pd.Timedelta, cells: int, least: pd.Timedelta = MINUTE) -> pd.Timedelta:
    """The shortest natural step, `least` or longer, that draws a span in at most so many cells."""
    steps = [pd.Timedelta(seconds=seconds) for seconds in _SECONDS] + [minutes * MINUTE for minutes in _MINUTES]
    return next((step for step in steps if step >= least and span / step <= cells), _LONGEST * MINUTE)


def step_minutes(minutes: float, cells: int) -> int:
    """The shortest natural step in minutes that draws a span in at most so many cells."""
    return next((step for step in _MINUTES if minutes / step <= cells), _LONGEST)


def is_silent(first: datetime, last: datetime, count: int, end: datetime) -> bool:
    """Whether others have some until `end`, much later than the last of something that has so many."""
    return count > 1 and end - last > max(LEAST_SILENCE, (last - first) / (count - 1) * USUAL_WAITS)
