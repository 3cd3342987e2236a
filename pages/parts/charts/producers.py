"""Pictures of producers: bars by host, and host x time as a heat strip. Tables in, figures out."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from idcore.base.catalogue import Words
from idcore.presentation.reports.roles import tint
from idcore.presentation.triage import activity, heat_cells
from idcore.presentation.triage.activity import TOP, step_text, wall_clock
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from pages.parts.figures import cells, clock_columns, heat_strip, lying_bars, paper, rows_axis, x_axis, y_axis
from pages.parts.view import View

FEW = 6  # columns that are labelled one by one


def bars(
    hosts: pd.DataFrame,
    measure: str,
    view: View,
    *,
    marks: dict[str, list[str]] | None = None,
    limit: int = TOP,
    small: bool = False,
    beyond: tuple[int, int] = (0, 0),
) -> go.Figure:
    """Horizontal bars, the largest on top; what is beyond the limit is one bar `N others`, hatched where it is cut.

    `beyond`: hosts that are not in the table, and what they measure.
    """
    palette, rows = view.palette, activity.bars(hosts, measure, limit, beyond, marks or {}, view.words)
    colour, others = palette.roles["host"], tint(palette.muted, 0.5)
    figure = lying_bars(
        view,
        [bar.label for bar in rows],
        [bar.value for bar in rows],
        [bar.length for bar in rows],
        [colour if bar.host else others for bar in rows],
        row=26 if small else 30,
        room=12 if small else 18,
        right=48 if small else 72,
        pattern={"shape": ["/" if bar.length < bar.value else "" for bar in rows], "size": 6},
        customdata=[bar.host for bar in rows],
        hovertext=[f"<b>{bar.label}</b><br>{bar.text}" for bar in rows],
        hoverinfo="text",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.35}, "textfont": {"color": palette.muted}},
    )
    figure.update_layout(clickmode="event+select", bargap=0.2)
    return figure


def heat_note(figure: go.Figure, step: pd.Timedelta, words: Words) -> str:
    """What a cell of a heat strip is, and how many ids its strongest colour means."""
    most = max((int(value) for row in figure.data[0].z for value in row if value == value), default=0)
    return words("producers.heat_note", step=step_text(step, words), most=words.count("occurrence", most))


def heat(
    grid: pd.DataFrame,
    step: pd.Timedelta,
    view: View,
    shown: TimeRange = ALL_TIMES,
    assumed: Mapping[str, str] | None = None,
) -> go.Figure:
    """Host x time: the darker, the more ids; steps without ids stay blank. Of a range the axis shows what is in it.

    `assumed`: what is behind the times of a host of which no line shows the month or the zone.
    """
    palette, zone = view.palette, view.zone
    columns = pd.Series(grid.columns)
    clock = wall_clock(columns, zone)
    figure = go.Figure(layout=paper(palette, 22 * len(grid) + 62, bottom=54))
    scale = [[place / (len(palette.scale) - 3), colour] for place, colour in enumerate(palette.scale[2:])]
    edges = [*clock, clock.iloc[-1] + step]  # a cell begins with its step
    heat_strip(figure, edges, list(grid.index), z=grid.to_numpy(), colorscale=scale, zmin=0)
    cells(figure, heat_cells.of_hosts(grid, step, clock, view.words, assumed or {}))
    clock_columns(figure, columns, step, not shown and len(clock) <= FEW, view)
    left, right = shown.clock(zone)
    x_axis(figure, range=[left or edges[0], right or edges[-1]])
    y_axis(figure, rows_axis(palette, type="category"))
    figure.update_layout(dragmode=False)
    return figure
