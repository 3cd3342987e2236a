"""The IDs of a scan by time as a low strip of bars: what a time range is chosen from. Tables in, a figure out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from idcore.presentation.reports.roles import tint
from idcore.presentation.triage.activity import step_text, wall_clock
from idcore.presentation.triage.time_range import TimeRange
from pages.parts.figures import DATES, axis, band, paper, put, x_axis, y_axis
from pages.parts.view import View

HEIGHT, TITLE = 116, 22  # pixels
COLOURS = {"occurrence": "time"}  # the role of what is counted; what is missing is no time of an ID


@dataclass(frozen=True, slots=True)
class StripSubject:
    """Whose IDs a strip has: `of` these alone, and `more` than a reader asked for."""

    of: str = ""
    more: str = ""


EVERYBODY = StripSubject()
SHORT = pd.Timedelta(seconds=10)  # a range whose labels have milliseconds


def strip(
    bins: pd.Series,
    step: pd.Timedelta,
    shown: TimeRange,
    view: View,
    unit: str = "occurrence",
    assumed: str = "",
    whose: StripSubject = EVERYBODY,
) -> go.Figure:
    """IDs, or what `unit` names, by time step, `bins` by their instants; what is outside the range shown is faint.

    `assumed` is what of the times no line shows. `whose` IDs they are.
    """
    words, palette = view.words, view.palette
    figure = go.Figure(layout=paper(palette, HEIGHT, top=TITLE, bottom=34))
    clock = wall_clock(bins.index.to_series(), view.zone)
    said, colour = [words.count(unit, int(ids)) for ids in bins], palette.roles[COLOURS.get(unit, "info")]
    bars(figure, clock, step, bins, said, colour, assumed)
    outside(figure, clock, step, shown, view)
    wide = {"nticks": 4} if has_wide_labels(clock, step) else {}  # others come by the width of the chart
    x_axis(figure, axis(palette, showgrid=False, tickformatstops=DATES, tickangle=0, **wide))
    whole = {"dtick": 1} if bins.max() <= 2 else {"nticks": 3}  # no number twice
    y_axis(figure, axis(palette, rangemode="tozero", fixedrange=True, tickformat=",d", **whole))
    key = "range.strip_of" if whose.of else f"range.strip_{unit}"
    text = " · ".join(filter(None, (words(key, step=step_text(step, words), of=whose.of), whose.more)))
    title = {"text": text, "font": {"size": 12, "color": palette.muted}, "x": 0, "xref": "paper", "pad": {"t": 4}}
    put(figure, "title", {**title, "y": 1, "yref": "container", "yanchor": "top"})
    return figure


def has_wide_labels(clock: pd.Series, step: pd.Timedelta) -> bool:
    """Whether five labels of a range run together on a phone: they have milliseconds, or two of them a date."""
    first, last = (clock.iloc[0], clock.iloc[-1] + step) if len(clock) else (pd.Timestamp(0), pd.Timestamp(0))
    return bool(last - first < SHORT or first.date() != last.date())


def bars(
    figure: go.Figure,
    clock: pd.Series,
    step: pd.Timedelta,
    values: pd.Series,
    said: list[str],
    colour: str,
    assumed: str = "",
) -> None:
    """A bar for each step, with what it says when it is pointed at."""
    figure.add_bar(
        x=clock + step / 2,
        y=values.to_numpy(),
        width=step.total_seconds() * 1000,
        marker={"color": colour, "line": {"width": 0}},
        hovertext=[f"{moment:%Y-%m-%d %H:%M:%S}{assumed}<br>{text}" for moment, text in zip(clock, said, strict=True)],
        hoverinfo="text",
        unselected={"marker": {"opacity": 1}},
    )
    figure.update_layout(bargap=0.08)


def outside(figure: go.Figure, clock: pd.Series, step: pd.Timedelta, shown: TimeRange, view: View) -> None:
    """The axis of these steps; what is outside the range shown is faint."""
    left, right = clock.iloc[0], clock.iloc[-1] + step
    faint: dict[str, Any] = {"layer": "above", "line": {"width": 0}, "fillcolor": tint(view.palette.background, 0.7)}
    begin, end = shown.clock(view.zone)
    if begin is not None:
        band(figure, left, min(begin, right), **faint)
    if end is not None:
        band(figure, max(end, left), right, **faint)
    x_axis(figure, range=[left, right])
