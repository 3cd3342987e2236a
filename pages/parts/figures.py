"""What all figures share: paper, axes, colours, type. A figure is a pure function from a table; no Streamlit here."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import plotly.graph_objects as go

from idcore.times import offset_text
from pages.parts.roles import Palette

SANS = '"Source Sans", sans-serif'
MONO = '"Source Code Pro", ui-monospace, Menlo, Consolas, monospace'


def paper(palette: Palette, height: int, *, left: int = 8, right: int = 12, top: int = 8, bottom: int = 8) -> go.Layout:
    """A sheet without frame or legend, see-through so that the page's ground shows."""
    return go.Layout(
        template=go.layout.Template(),  # not the default one: Streamlit puts placeholders for colours into it
        height=height,
        margin={"l": left, "r": right, "t": top, "b": bottom, "pad": 4},
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
        more["title"] = {"text": more["title"], "font": {"color": palette.muted, "size": 12}, "standoff": 8}
    return {**quiet, **more}


def rows_axis(palette: Palette, **more: Any) -> dict[str, Any]:
    """A y axis of names, the first on top: of hosts, brokers, producers."""
    names = {"family": MONO, "size": 12, "color": palette.text}
    return axis(palette, autorange="reversed", showgrid=False, fixedrange=True, tickfont=names, **more)


def band(figure: go.Figure, left: Any, right: Any, yref: str = "y domain", **look: Any) -> None:
    """A stretch of the x axis, from the bottom to the top."""
    figure.add_shape(type="rect", x0=left, x1=right, y0=0, y1=1, xref="x", yref=yref, **look)


# ISO on every scale, in every language: Plotly's own labels are English.
DATES = [
    {"dtickrange": [None, 1000], "value": "%H:%M:%S.%L\n%Y-%m-%d"},
    {"dtickrange": [1000, 60_000], "value": "%H:%M:%S\n%Y-%m-%d"},
    {"dtickrange": [60_000, 86_400_000], "value": "%H:%M\n%Y-%m-%d"},
    {"dtickrange": [86_400_000, "M1"], "value": "%m-%d\n%Y"},
    {"dtickrange": ["M1", None], "value": "%Y-%m"},
]


def series_colour(palette: Palette, place: int) -> str:
    """The colour of the place-th host, broker or track, by first appearance."""
    return palette.series[place % len(palette.series)]


def tint(colour: str, alpha: float) -> str:
    """A colour of the theme, made see-through."""
    value = colour.lstrip("#")
    red, green, blue = (int(value[place : place + 2], 16) for place in (0, 2, 4))
    return f"rgba({red},{green},{blue},{alpha:g})"


def pick(**filters: str) -> str:
    """What a click on a mark asks for: the filters of its lines, as customdata of the mark."""
    return urlencode(filters)


def local(moment: datetime, zone: tzinfo) -> datetime:
    """An instant as the reader's wall clock."""
    return moment.astimezone(zone).replace(tzinfo=None)


def wall_clock(moments: pd.Series, zone: tzinfo) -> pd.Series:
    """Instants as the reader's wall clock: Plotly's axes have no zones."""
    return moments.dt.tz_convert(zone).dt.tz_localize(None) if len(moments) else moments


def clock_title(moments: pd.Series, zone: tzinfo, name: str) -> str:
    """The title of a time axis: its zone, by offset and name."""
    last: datetime | None = moments.max() if len(moments) else None
    offset = offset_text(pd.Timestamp(last).astimezone(zone)) if last is not None and last == last else ""
    return f"{offset} {name}".strip() if name not in ("UTC", offset) else f"{name} {offset}".strip()
