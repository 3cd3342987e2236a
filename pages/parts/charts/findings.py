"""The picture that shows a finding: its counter, with what is missing, or its clock. Judges nothing."""

from __future__ import annotations

from datetime import tzinfo

import pandas as pd
import plotly.graph_objects as go

from idcore.catalogue import Words
from idcore.triage.strokes import TURN, in_order
from pages.parts.charts import counters as charts
from pages.parts.figures import DATES, axis, paper, wall_clock
from pages.parts.roles import Palette

ZOOMED = 0.25  # of the counter's range: what spans less is drawn as large as it is


def counter(
    points: pd.DataFrame, words: Words, palette: Palette, zone: tzinfo, zone_name: str, missing: int | None = None
) -> go.Figure:
    """The sawtooth, as near as the points allow, with gaps and restarts. `missing`: of the whole process."""
    figure, drawn = charts.sawtooth(points, words, palette, zone, zone_name, small=True, missing=missing)
    charts.gaps(figure, drawn, palette, words)
    low, high = int(points["counter"].min()), int(points["counter"].max())
    if high - low < ZOOMED * TURN:
        room = max(1.0, 0.08 * (high - low))
        ticks = {"tickvals": [low, high], "ticktext": [f"{low:,}", f"{high:,}"]}
        figure.update_yaxes(range=[low - room, high + room], **ticks)
    return figure


def clock(points: pd.DataFrame, words: Words, palette: Palette, zone: tzinfo) -> go.Figure | None:
    """When ids were generated, in the order of their counter: a fall is the clock. None where that order is unknown."""
    if points["sent_at"].isna().any() or len(points) < 2:
        return None
    ordered = in_order(points)
    if ordered is None:
        return None
    moments = wall_clock(ordered["sent_at"], zone)
    figure = go.Figure(layout=paper(palette, 200, top=14, bottom=4))
    figure.add_scatter(
        x=ordered["place"],
        y=moments,
        mode="lines",
        line={"color": palette.roles["time"], "width": 2},
        hovertemplate="%{y|%Y-%m-%d %H:%M:%S.%L}<br>%{x:,.0f}<extra></extra>",
    )
    figure.update_yaxes(axis(palette, fixedrange=True, nticks=4, tickformatstops=DATES))
    figure.update_xaxes(
        axis(palette, showgrid=False, fixedrange=True, nticks=5, tickformat=",", title=words("findings.clock_axis"))
    )
    figure.update_layout(dragmode=False)
    return figure
