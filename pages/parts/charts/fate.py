"""Consumer groups x time, each cell in the colour of its worst level. Tables in, a figure and its legend out."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import plotly.graph_objects as go

from idcore.answers.fate.levels import NAMES, SIGNS
from idcore.presentation.reports.markup import esc
from idcore.presentation.reports.roles import Palette
from idcore.presentation.triage import heat_cells
from idcore.presentation.triage.activity import step_text, wall_clock
from idcore.presentation.triage.failures import LED_TO
from idcore.presentation.triage.fates import Heat
from idcore.presentation.triage.heat_cells import shortened
from idcore.presentation.triage.time_range import TimeRange
from pages.parts.charts import timeline
from pages.parts.charts.producers import FEW
from pages.parts.figures import axis, cells, clock_columns, heat_strip, paper, put, rows_axis, x_axis, y_axis
from pages.parts.view import View

ROW = 24  # pixels
LEAST = 72  # of all rows: Plotly leaves out a label that is higher than the figure
WIDEST = 600  # half of a wide plot: so near to its mark a pointer still is in a cell, where there are few
FAILURES = 300
PARTS, OF_SIGN = 120, 4  # of all cells together, where they are few; and how many a sign needs


def heat(heat: Heat, view: View, chosen: tuple[str, TimeRange]) -> go.Figure:
    """The figure; a click on a cell asks for its group and time. `chosen`: group and time that are marked."""
    palette, zone = view.palette, view.zone
    clock, rows = wall_clock(pd.Series(heat.begins), zone), list(range(len(heat.groups)))
    few = is_few(heat)
    parts = PARTS // len(clock) if few else 1  # of a cell: one that is wide has room for more than its worst level
    levels = heat.shares(parts) if few else heat.worst()
    edges = _edges([*clock, clock.iloc[-1] + heat.step], parts)
    scale = [(at / len(NAMES), (at + 1) / len(NAMES), palette.levels[name]) for at, name in enumerate(NAMES)]
    figure = go.Figure(layout=paper(palette, max(LEAST, ROW * len(rows)) + 62, bottom=54))
    heat_strip(
        figure,
        edges,
        rows,
        z=[[None if at < 0 else int(at) for at in row] for row in levels],
        zmin=-0.5,
        zmax=len(NAMES) - 0.5,
        colorscale=[[end, colour] for left, right, colour in scale for end in (left, right)],
        text=[_signs(row, parts) for row in levels.tolist()] if few else None,
        texttemplate="%{text}" if few else None,
    )
    cells(figure, heat_cells.of_groups(heat, clock, view.words))
    _mark(figure, heat, clock, palette, chosen)
    clock_columns(figure, pd.Series(heat.begins), heat.step, few, view)
    x_axis(figure, range=[edges[0], edges[-1]])
    figure.update_traces(xgap=0 if few else None, selector={"type": "heatmap"})
    y_axis(figure, rows_axis(palette, tickvals=rows, ticktext=[esc(shortened(name)) for name in heat.groups]))
    y_axis(figure, range=[len(rows) - 0.5, -0.5], autorange=None)
    figure.update_layout(dragmode=False, hoverdistance=max(20, WIDEST // len(clock)))
    return figure


def _edges(clock: list[pd.Timestamp], parts: int) -> list[pd.Timestamp]:
    """Where the parts of cells begin, and the end of the last: a wall clock that is changed makes one cell wider."""
    inside = [begin + (end - begin) * part / parts for begin, end in pairwise(clock) for part in range(parts)]
    return [*inside, clock[-1]]


def is_few(heat: Heat) -> bool:
    """Whether the cells are so wide that they show the shares of their results, and not the worst one alone."""
    return len(heat.begins) <= FEW


def _signs(levels: list[int], parts: int) -> list[str]:
    """The sign of each level of each cell, in the middle of its parts, where these have room for it."""
    texts = [""] * len(levels)
    for cell in range(0, len(levels), parts):
        inside = levels[cell : cell + parts]
        for level in {at for at in inside if at >= 0 and inside.count(at) >= OF_SIGN}:
            texts[cell + inside.index(level) + inside.count(level) // 2] = SIGNS[NAMES[level]]
    return texts


def _mark(figure: go.Figure, heat: Heat, clock: pd.Series, palette: Palette, chosen: tuple[str, TimeRange]) -> None:
    """A frame around the row, and the cells of it, that are chosen."""
    group, times = chosen
    if group not in heat.groups:
        return
    row, inside = heat.groups.index(group), heat.columns_in(times)
    ends = clock.iloc[inside[0]], clock.iloc[inside[-1]] + heat.step
    line = {"color": palette.roles["uniq"], "width": 3}
    figure.add_shape(type="rect", x0=ends[0], x1=ends[1], y0=row - 0.5, y1=row + 0.5, line=line)


def failures(found: pd.DataFrame, step: pd.Timedelta, view: View, shown: TimeRange) -> go.Figure:
    """Failed attempts by time, and what they led to."""
    words, palette = view.words, view.palette
    clock = wall_clock(found.index.to_series(), view.zone)
    figure = go.Figure(layout=paper(palette, FAILURES, bottom=54))
    for name, level in zip(LED_TO, ("dead", "retry"), strict=True):
        said = [f"{words(f'fate.led_to.{name}')}: {count:,}" for count in found[name]]
        timeline.bars(figure, clock, step, found[name], said, palette.levels[level])
        figure.data[-1].update(name=words(f"fate.led_to.{name}"))
    timeline.outside(figure, clock, step, shown, view)
    clock_columns(figure, found.index.to_series(), step, False, view)
    tries = words("fate.failed_axis", step=step_text(step, words))
    y_axis(figure, axis(palette, title=tries, rangemode="tozero", fixedrange=True, nticks=6, tickformat=",d"))
    place = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False}
    figure.update_layout(barmode="stack", showlegend=True)
    put(figure, "legend", {**place, "traceorder": "normal"})
    return figure
