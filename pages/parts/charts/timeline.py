"""The IDs of a scan by time as a low strip of bars: what a time range is chosen from. Tables in, a figure out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from idcore.triage.time_range import TimeRange
from pages.parts.figures import DATES, axis, band, local, paper, tint, wall_clock
from pages.parts.view import View

HEIGHT = 84


def strip(
    bins: pd.Series,
    step: pd.Timedelta,
    shown: TimeRange,
    view: View,
    unit: str = "occurrence",
) -> go.Figure:
    """IDs, or what `unit` names, by time step, `bins` by their instants; what is outside the range shown is faint."""
    words, palette, zone = view.words, view.palette, view.zone
    clock = wall_clock(bins.index.to_series(), zone)
    figure = go.Figure(layout=paper(palette, HEIGHT, bottom=20))
    figure.add_bar(
        x=clock + step / 2,
        y=bins.to_numpy(),
        width=step.total_seconds() * 1000,
        marker={"color": palette.roles["time"], "line": {"width": 0}},
        hovertext=[
            f"{moment:%Y-%m-%d %H:%M:%S}<br>{words.count(unit, int(ids))}"
            for moment, ids in zip(clock, bins, strict=True)
        ],
        hoverinfo="text",
        unselected={"marker": {"opacity": 1}},
    )
    left, right = clock.iloc[0], clock.iloc[-1] + step
    faint: dict[str, Any] = {"layer": "above", "line": {"width": 0}, "fillcolor": tint(palette.background, 0.7)}
    if shown.begin is not None:
        band(figure, left, min(local(shown.begin, zone), right), **faint)
    if shown.end is not None:
        band(figure, max(local(shown.end, zone), left), right, **faint)
    figure.update_xaxes(axis(palette, showgrid=False, range=[left, right], tickformatstops=DATES, nticks=8))
    figure.update_yaxes(axis(palette, visible=False, rangemode="tozero", fixedrange=True))
    figure.update_layout(bargap=0.08)
    return figure
