"""The pictures of findings: when they were, their counter with what is missing, their clock. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from idcore.ids.rules import COUNTER_WRAP
from idcore.presentation.reports.roles import tint
from idcore.presentation.triage.activity import wall_clock
from idcore.presentation.triage.finding_rows import Kind, kinds, title
from idcore.presentation.triage.strokes import falls, in_order
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from pages.parts.charts import counters as charts
from pages.parts.charts.registry import Chart, Tables, register
from pages.parts.figures import DATES, axis, clock_title, note, paper, rows_axis, x_axis, y_axis
from pages.parts.view import View

LEAST_DATED = 2  # kinds with times that are worth a picture
ZOOMED = 0.25  # of the counter's range: what spans less is drawn as large as it is


def counter(
    points: pd.DataFrame, view: View, missing: int | None = None, assumed: str = "", *, named: bool = True
) -> go.Figure:
    """The sawtooth, as near as the points allow, with gaps and restarts. `missing`: of the whole process.

    `assumed` is what of the times no line shows. Where gaps are not `named` they are bands alone.
    """
    figure, drawn = charts.small(points, view, missing, assumed)
    charts.gaps(figure, drawn, view, named=named)
    charts.clickable(figure, points, drawn, view, assumed)
    low, high = int(points["counter"].min()), int(points["counter"].max())
    if high - low < ZOOMED * COUNTER_WRAP:
        room = max(1.0, 0.08 * (high - low))
        ticks: dict[str, Any] = {"tickvals": [low, high], "ticktext": [f"{low:,}", f"{high:,}"]}
        y_axis(figure, range=[low - room, high + room], **ticks)
    return figure


def clock(points: pd.DataFrame, view: View, assumed: str = "") -> go.Figure | None:
    """When ids were generated, in the order of their counter: a fall is the clock. None where that order is unknown."""
    words, palette, zone = view.words, view.palette, view.zone
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
        hovertemplate=f"%{{y|%Y-%m-%d %H:%M:%S.%L}}{assumed}<br>%{{x:,.0f}}<extra></extra>",
    )
    _steps(figure, ordered.assign(at=moments.to_list()), view)
    y_axis(figure, axis(palette, fixedrange=True, nticks=4, tickformatstops=DATES))
    x_axis(
        figure,
        axis(palette, showgrid=False, fixedrange=True, nticks=5, tickformat=",", title=words("findings.clock_axis")),
    )
    figure.update_layout(dragmode=False)
    return figure


def _steps(figure: go.Figure, ordered: pd.DataFrame, view: View) -> None:
    """How far the clock fell: a line as high as the fall, and its size in words."""
    words, palette = view.words, view.palette
    colour = palette.roles["error"]
    for before, after, seconds in falls(ordered):
        line = {"color": colour, "width": 2, "dash": "dot"}
        ends = {"x0": after["place"], "x1": after["place"], "y0": after["at"], "y1": before["at"]}
        figure.add_shape(type="line", xref="x", yref="y", line=line, **ends)
        right = after["place"] > ordered["place"].iloc[-1] / 2
        text, side = words("findings.step", span=words.lasting(seconds)), "right" if right else "left"
        place = {"x": after["place"], "y": after["at"], "yanchor": "top", "xshift": -6 if right else 6}
        note(figure, text, colour, side, **place)


def over_time(kinds: Sequence[Kind], names: Sequence[str], view: View, shown: TimeRange = ALL_TIMES) -> go.Figure:
    """When what happened: a row for each kind that has times, from the first to the last of each finding."""
    palette, zone = view.palette, view.zone
    figure = go.Figure(layout=paper(palette, 26 * len(kinds) + 60, top=4, right=24))
    ends = pd.Series([moment for kind in kinds for moment in kind.when()], dtype="datetime64[us, UTC]")
    for place, kind in enumerate(kinds):
        clock = wall_clock(kind.spans(), zone).to_list()
        places = [value for first, last in zip(clock[::2], clock[1::2], strict=True) for value in (first, last, None)]
        colour = palette.roles[kind.severity]
        figure.add_scatter(
            x=places,
            y=[None if value is None else place for value in places],
            mode="lines+markers",
            line={"color": tint(colour, 0.5), "width": 4},
            marker={"color": colour, "size": 8},
            hovertemplate=f"%{{x|%Y-%m-%d %H:%M:%S.%L}}{view.words.assumed(kind.assumed)}<extra></extra>",
        )
    rows_of = rows_axis(palette, tickvals=list(range(len(kinds))), ticktext=list(names))
    rows_of |= {"range": [len(kinds) - 0.5, -0.5], "autorange": None, "tickfont": {"color": palette.text, "size": 12}}
    y_axis(figure, rows_of)
    named = clock_title(ends, view)
    x_axis(figure, axis(palette, fixedrange=True, tickformatstops=DATES, tickangle=0, title=named))
    if shown:
        x_axis(figure, range=list(shown.clock(zone)))
    figure.update_layout(dragmode=False)
    return figure


def when(tables: Tables, view: View, shown: TimeRange) -> go.Figure | None:
    """When the findings were, by kind; None where fewer than two kinds have times."""
    dated = [kind for kind in kinds(tables("findings")) if not pd.isna(kind.when()[0])]
    names = [title(kind.code, view.words, kind.variant) for kind in dated]
    return over_time(dated, names, view, shown) if len(dated) >= LEAST_DATED else None


def rows(tables: Tables) -> pd.DataFrame:
    """The findings without what proves them."""
    return tables("findings").drop(columns=["evidence", "values"], errors="ignore")


register(Chart("findings", "findings", "findings.when", when, rows, headed=False))
