"""What all figures share: paper, axes, colours, type. A figure is a pure function from a table; no Streamlit here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from idcore.presentation.reports.roles import Palette
from idcore.presentation.reports.svg import width_of
from idcore.presentation.times import offset_text
from idcore.presentation.triage.activity import MINUTE, wall_clock
from idcore.presentation.triage.heat_cells import Cell
from pages.parts.view import View

SANS = '"Source Sans", sans-serif'
MOST_APART = 100  # columns that have a line between them: more would be lines only on a phone
MONO = '"Source Code Pro", ui-monospace, Menlo, Consolas, monospace'


def paper(palette: Palette, height: int, *, right: int = 12, top: int = 8, bottom: int = 8) -> go.Layout:
    """A sheet without frame or legend, see-through so that the page's ground shows."""
    return go.Layout(
        template=go.layout.Template(),  # not the default one: Streamlit puts placeholders for colours into it
        height=height,
        margin={"l": 8, "r": right, "t": top, "b": bottom, "pad": 4},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": SANS, "size": 13, "color": palette.text},
        hoverlabel={
            "bgcolor": palette.panel,
            "bordercolor": palette.line,
            "align": "left",
            "font": {"family": SANS, "size": 13, "color": palette.text},
        },
        showlegend=False,
        hovermode="closest",
        separators=".,",
    )


def two_rows(layout: go.Layout, heights: Sequence[float], spacing: float, *, shared: bool = True) -> go.Figure:
    """A sheet of two plots, one below the other; `shared`: along one x axis."""
    figure = go.Figure(layout=layout)
    share = {"row_heights": list(heights), "vertical_spacing": spacing}
    return make_subplots(len(heights), 1, shared_xaxes=shared, figure=figure, **share)


def axis(palette: Palette, **more: Any) -> dict[str, Any]:
    """An axis with quiet lines and labels."""
    quiet: dict[str, Any] = {
        "gridcolor": palette.line,
        "zeroline": False,
        "linecolor": palette.line,
        "automargin": True,
        "ticks": "",
        "tickfont": {"color": palette.muted, "size": 12},
        "title": {"font": {"color": palette.muted, "size": 12}},
    }
    if isinstance(more.get("title"), str):
        more["title"] = titled(more["title"], palette)
    return {**quiet, **more}


def rows_axis(palette: Palette, **more: Any) -> dict[str, Any]:
    """A y axis of names, the first on top: of hosts, brokers, producers."""
    names = {"family": MONO, "size": 12, "color": palette.text}
    return axis(palette, autorange="reversed", showgrid=False, fixedrange=True, tickfont=names, **more)


def x_axis(figure: go.Figure, look: Mapping[str, Any] | None = None, row: int | None = None, **more: Any) -> None:
    """Sets properties of the x axis of a row, or of each: `look` and those that are named."""
    _axes(figure, "xaxis", row, {**(look or {}), **more})


def y_axis(figure: go.Figure, look: Mapping[str, Any] | None = None, row: int | None = None, **more: Any) -> None:
    """The same of the y axis."""
    _axes(figure, "yaxis", row, {**(look or {}), **more})


def _axes(figure: go.Figure, name: str, row: int | None, properties: Mapping[str, Any]) -> None:
    if row is None:
        for known in dict.fromkeys((name, *(each for each in figure.layout if each.startswith(name)))):
            put(figure, known, properties)
    else:
        put(figure, name if row == 1 else f"{name}{row}", properties)


def put(figure: go.Figure, part: str, properties: Mapping[str, Any]) -> None:
    """Sets properties of a part of the layout, and keeps its others. Plotly's `update_…` take eight times as long."""
    known = figure.layout[part].to_plotly_json() if part in figure.layout else {}
    figure.layout[part] = _merged(known, properties)


def _merged(known: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(known)
    for name, value in properties.items():
        inner = merged.get(name)
        merged[name] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return merged


def ticks_up_to(value: float) -> dict[str, Any]:
    """A y axis from 0 to a round number that is not below `value`, with that, its half and 0 written."""
    unit = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    top = next(float(f"{unit * times:.12g}") for times in (1, 2, 4, 5, 6, 8, 10, 20) if unit * times >= value)
    ticks = [0.0, top / 2, top]
    return {"range": [0, 1.05 * top], "tickvals": ticks, "ticktext": [f"{tick:,.12g}" for tick in ticks]}


def band(figure: go.Figure, left: Any, right: Any, yref: str = "y domain", **look: Any) -> None:
    """A stretch of the x axis, from the bottom to the top."""
    figure.add_shape(type="rect", x0=left, x1=right, y0=0, y1=1, xref="x", yref=yref, **look)


def note(figure: go.Figure, text: str, colour: str, xanchor: str = "left", **where: Any) -> None:
    """A few words in a figure, without an arrow."""
    look = {"showarrow": False, "font": {"size": 12, "color": colour}}
    figure.add_annotation(text=text, xanchor=xanchor, **look, **where)


def legend(palette: Palette, **more: Any) -> dict[str, Any]:
    """Names of series in a line above the figure."""
    place = {"orientation": "h", "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"}
    return {**place, "traceorder": "normal", "font": {"size": 12, "color": palette.muted}, **more}


def titled(text: str, palette: Palette, standoff: int = 8) -> dict[str, Any]:
    """The title of an axis."""
    return {"text": text, "font": {"color": palette.muted, "size": 12}, "standoff": standoff}


def lying_bars(
    view: View, names: Sequence[str], values: Sequence[int], lengths: Sequence[int], colours: Sequence[str], **look: Any
) -> go.Figure:
    """A bar for each name, the first on top, with its value at its end; `pattern` and `row` may be given."""
    palette, places = view.palette, list(range(len(names)))
    pattern, row, texts = look.pop("pattern", None), look.pop("row"), [f"{value:,}" for value in values]
    right = max(look.pop("right", 48), round(max(map(width_of, texts), default=0)) + 14)  # no number is cut
    figure = go.Figure(layout=paper(palette, row * max(1, len(names)) + look.pop("room", 12), right=right))
    figure.add_bar(
        x=list(lengths),
        y=places,
        orientation="h",
        marker={"color": list(colours), "cornerradius": 3} | ({} if pattern is None else {"pattern": pattern}),
        width=0.62,
        text=texts,
        textposition="outside",
        cliponaxis=False,
        textfont={"color": palette.muted, "size": 12},
        **look,
    )
    x_axis(figure, axis(palette, visible=False, rangemode="tozero", fixedrange=True))
    y_axis(figure, rows_axis(palette, tickmode="array", tickvals=places, ticktext=list(names)))
    figure.update_layout(dragmode=False)
    return figure


def heat_strip(figure: go.Figure, edges: Sequence[Any], rows: Sequence[Any], **look: Any) -> None:
    """Cells of rows by time; `cells` has what is pointed at and clicked: a heat map gives no clicks."""
    gap = 1 if len(edges) - 1 <= MOST_APART else 0
    plain = {"showscale": False, "xgap": gap, "ygap": 3, "hoverinfo": "skip", "hoverongaps": False}
    figure.add_heatmap(x=list(edges), y=list(rows), **plain, **look)


def clock_columns(figure: go.Figure, moments: pd.Series, step: pd.Timedelta, few: bool, view: View) -> None:
    """The time axis below cells. Where they are few they are named one by one: Plotly would cut minutes."""
    clock, title = wall_clock(moments, view.zone), clock_title(moments, view)
    x_axis(figure, axis(view.palette, showgrid=False, title=title, fixedrange=True, tickformatstops=DATES))
    if few:
        form = "%H:%M" if step >= MINUTE else "%H:%M:%S"
        ticks: dict[str, Any] = {
            "tickvals": list(clock + step / 2),
            "ticktext": [f"{moment:{form}}" for moment in clock],
        }
        x_axis(figure, **ticks, title={"text": f"{clock.iloc[0]:%Y-%m-%d} {title}"})


def cells(figure: go.Figure, cells: Sequence[Cell]) -> None:
    """An unseen mark in each cell that has something, to be pointed at and clicked."""
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=[cell.x for cell in cells],
        y=[cell.y for cell in cells],
        mode="markers",
        name="cells",
        marker={"size": 14, "symbol": "square", "opacity": 0},
        selected=unseen,
        unselected=unseen,
        customdata=[cell.pick for cell in cells],
        hovertext=[cell.hover for cell in cells],
        hoverinfo="text",
    )


# ISO on every scale, in every language: Plotly's own labels are English.
DATES = [
    {"dtickrange": [None, 1000], "value": "%H:%M:%S.%L\n%Y-%m-%d"},
    {"dtickrange": [1000, 60_000], "value": "%H:%M:%S\n%Y-%m-%d"},
    {"dtickrange": [60_000, 86_400_000], "value": "%H:%M\n%Y-%m-%d"},
    {"dtickrange": [86_400_000, "M1"], "value": "%m-%d\n%Y"},
    {"dtickrange": ["M1", None], "value": "%Y-%m"},
]


def clock_title(moments: pd.Series, view: View) -> str:
    """The title of a time axis: its zone, by offset and name."""
    name, last = view.zone_name, moments.max() if len(moments) else None
    offset = offset_text(pd.Timestamp(last).astimezone(view.zone)) if last is not None and last == last else ""
    return f"{offset} {name}".strip() if name not in ("UTC", offset) else f"{name} {offset}".strip()
