"""Pictures of brokers: the strip of commit log files, the histogram of offsets, growth. Tables in, figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from idcore.catalogue import Words
from idcore.growth import MINUTE, Log, points
from idcore.growth import speeds as speeds_of
from idcore.triage.activity import step_minutes
from idcore.triage.broker_logs import GIB, cells
from pages.parts.figures import (
    DATES,
    MONO,
    axis,
    band,
    clock_title,
    local,
    paper,
    ramp,
    rows_axis,
    series_colour,
    tint,
    wall_clock,
)
from pages.parts.roles import Palette

SLIVER = 0.1  # offsets that fill less of the axis than this have one of their own
STEPS = 120  # steps in which the speed of a log is drawn
MOST_GROWN = 10  # logs of one picture
FEW = 20  # points of a log that are marked


def colours_of(addresses: Sequence[str], palette: Palette) -> dict[str, str]:
    """A colour for each broker, the same wherever it is drawn; in the order of addresses, not of today's sizes."""
    return {address: series_colour(palette, place) for place, address in enumerate(sorted(addresses))}


def log(
    segments: pd.DataFrame,
    bins: pd.DataFrame,
    words: Words,
    palette: Palette,
    colour: str,
    *,
    kept_from: int | None = None,
    hours: int = 72,
) -> go.Figure:
    """One broker: its files as a strip, the histogram of its offsets under it.

    Both share an axis in GiB, unless the offsets fill only a sliver of it. Then the histogram has an axis of its own,
    and a mark in the strip shows where it is. A single offset needs no histogram.
    """
    strip, together = cells(segments)
    left, right = float(strip["from_gib"].iloc[0]), float(strip["from_gib"].iloc[-1] + together)
    low, high = int(segments["min_offset"].min()), int(segments["max_offset"].max())
    close = (high - low) / GIB < SLIVER * (right - left)
    rows = 1 if high == low else 2
    figure = make_subplots(
        rows=rows,
        cols=1,
        shared_xaxes=not close,
        row_heights=[0.24, 0.76] if rows == 2 else [1.0],
        vertical_spacing=0.05 if not close else 0.22,
        figure=go.Figure(layout=paper(palette, {1: 66, 2: 216 if close else 190}[rows], top=4)),
    )
    _strip(figure, strip, left, right, words, palette, colour)
    pad = (right - left) * 0.004
    quiet = axis(palette, showgrid=False, fixedrange=True, range=[left - pad, right + pad], tickformat=",", nticks=8)
    figure.update_xaxes(quiet)
    figure.update_yaxes(axis(palette, visible=False, fixedrange=True), row=1, col=1)
    named = {"font": {"size": 12, "color": palette.muted}, "standoff": 6}
    if rows == 2:
        _histogram(figure, bins, words, colour, 1 if close else GIB)
        figure.update_yaxes(axis(palette, rangemode="tozero", nticks=3, tickformat=",", fixedrange=True), row=2, col=1)
    if close:
        figure.add_vrect(
            x0=low / GIB, x1=high / GIB, row=1, col=1, line={"color": palette.text, "width": 2}, fillcolor=palette.text
        )
        figure.update_xaxes(tickvals=[left, right], ticktext=[f"{left:,.0f} GiB", f"{right:,.0f} GiB"], row=1, col=1)
        if rows == 2:
            edge = (high - low) * 0.02
            near = axis(
                palette, showgrid=False, fixedrange=True, range=[low - edge, high + edge], tickformat=",d", nticks=5
            )
            figure.update_xaxes(near, row=2, col=1)
            figure.update_xaxes(title={"text": words("brokers.axis_bytes"), **named}, row=2, col=1)
    else:
        figure.update_xaxes(title={"text": words("brokers.axis"), **named}, row=2, col=1)
    if kept_from is not None:
        _cut(figure, left, min(kept_from / GIB, right), right, words("brokers.cut", hours=hours), palette)
    figure.update_layout(dragmode=False, bargap=0)
    return figure


def log_alt(row: dict[str, Any], segments: pd.DataFrame, words: Words) -> str:
    """The picture of one broker's log in words."""
    return words(
        "brokers.alt_log",
        address=row["address"],
        files=words.count("segment", len(segments)),
        ids=words.count("id", int(row["ids"])),
        low=f"{row['min_offset']:,}",
        high=f"{row['max_offset']:,}",
    )


def _strip(
    figure: go.Figure, strip: pd.DataFrame, left: float, right: float, words: Words, palette: Palette, colour: str
) -> None:
    """The files as cells, the darker the more ids; a frame around them all."""
    line = {"width": 1, "color": palette.line}
    band(figure, left, right, layer="below", line=line, fillcolor="rgba(0,0,0,0)")
    figure.add_heatmap(
        z=[strip["ids"].tolist()],
        x=[*strip["from_gib"].tolist(), right],
        y=[0, 1],
        colorscale=ramp(colour),
        showscale=False,
        zmin=0,
        zmax=float(strip["ids"].max()),
        xgap=1.5 if len(strip) <= 200 else 0,
        hovertext=[[_cell_hover(row, words) for row in strip.itertuples()]],
        hoverinfo="text",
        hoverongaps=False,
        row=1,
        col=1,
    )


def _histogram(figure: go.Figure, bins: pd.DataFrame, words: Words, colour: str, unit: int) -> None:
    """Ids by offset; the bins are the scan's own."""
    width = (bins["to_offset"] - bins["from_offset"]) / unit
    figure.add_bar(
        x=bins["from_offset"] / unit + width / 2,
        y=bins["ids"],
        width=width,
        row=2,
        col=1,
        marker={"color": colour, "line": {"width": 0}},
        customdata=list(zip(bins["from_offset"], bins["to_offset"], strict=True)),
        hovertemplate=f"%{{customdata[0]:,d}} – %{{customdata[1]:,d}}<br>%{{y:,d}} {words('ids')}<extra></extra>",
    )


def _cut(figure: go.Figure, left: float, place: float, right: float, label: str, palette: Palette) -> None:
    """What is older than the retention: a band over the files, its name on the side that has room for it."""
    if place <= left:
        return
    inside = place - left > 0.3 * (right - left)
    warning = palette.roles["warning"]
    line = {"width": 1, "color": warning}
    band(figure, left, place, layer="above", line=line, fillcolor=tint(palette.background, 0.55))
    figure.add_annotation(
        x=place,
        y=0.5,
        xref="x",
        yref="y domain",
        text=label if inside else f"← {label}",
        showarrow=False,
        xanchor="right" if inside else "left",
        xshift=-6 if inside else 6,
        bgcolor=palette.background,
        borderpad=2,
        font={"size": 12, "color": warning},
    )


def _cell_hover(row: object, words: Words) -> str:
    ids = getattr(row, "ids", None)
    if ids is None or ids != ids:
        return ""
    oldest, newest, files = getattr(row, "oldest", ""), getattr(row, "newest", ""), int(getattr(row, "files", 1))
    name = oldest if files == 1 else f"{oldest}<br>… {newest}<br>{words.count('file', files)}"
    return f"<b>{name}</b><br>{words.count('id', int(ids))}"


def totals(brokers: pd.DataFrame, words: Words, palette: Palette, *, limit: int = 6) -> go.Figure:
    """Ids by broker as small bars, each in its broker's colour."""
    own = colours_of(brokers["address"].tolist(), palette)
    ordered = brokers.sort_values(["ids", "address"], ascending=[False, True])
    shown, rest = ordered.iloc[:limit], ordered.iloc[limit:]
    labels, values = shown["address"].tolist(), shown["ids"].astype(int).tolist()
    colours = [own[address] for address in labels]
    if len(rest):
        labels.append(words("producers.others", n=f"{len(rest):,}"))
        values.append(int(rest["ids"].sum()))
        colours.append(tint(palette.muted, 0.5))
    figure = go.Figure(layout=paper(palette, 26 * max(1, len(labels)) + 12, right=48))
    figure.add_bar(
        x=values,
        y=list(range(len(labels))),
        orientation="h",
        marker={"color": colours, "cornerradius": 3},
        width=0.62,
        text=[f"{value:,}" for value in values],
        textposition="outside",
        cliponaxis=False,
        hovertext=labels,
        hovertemplate=f"<b>%{{hovertext}}</b><br>%{{x:,d}} {words('ids')}<extra></extra>",
        textfont={"color": palette.muted, "size": 12},
    )
    figure.update_xaxes(axis(palette, visible=False, rangemode="tozero", fixedrange=True))
    figure.update_yaxes(rows_axis(palette, tickvals=list(range(len(labels))), ticktext=labels))
    figure.update_layout(dragmode=False)
    return figure


def unit_of(most: float) -> tuple[str, int]:
    """The unit of an axis up to so many bytes: one that makes numbers which can be read."""
    units = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
    return next(((unit, size) for unit, size in units if most >= size), ("B", 1))


def _speed_line(
    figure: go.Figure,
    speeds: Sequence[tuple[datetime, datetime, float]],
    scale: int,
    zone: tzinfo,
    *,
    name: str,
    line: dict[str, Any],
    hover: str,
) -> None:
    """The speed from step to step as a line with corners."""
    values = [speed / scale for _, _, speed in speeds]
    figure.add_scatter(
        x=[local(begin, zone) for begin, _, _ in speeds] + [local(speeds[-1][1], zone)],
        y=[*values, values[-1]],
        name=name,
        mode="lines",
        line={**line, "shape": "hv"},
        row=1,
        col=1,
        hovertemplate=f"{hover}<extra></extra>",
    )


def growth(
    logs: Mapping[str, Log],
    colours: Mapping[str, str],
    words: Words,
    palette: Palette,
    zone: tzinfo,
    zone_name: str,
) -> tuple[go.Figure, int]:
    """How fast each log grew, and how far it had come, each in a unit of its own; also the step in minutes.

    Every point is drawn at its own instant. A log of few points has marks on them.
    """
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        row_heights=[0.55, 0.45],
        vertical_spacing=0.08,
        figure=go.Figure(layout=paper(palette, 380, right=24)),
    )
    span = max(int(log.low_at[-1] - log.low_at[0]) for log in logs.values()) // MINUTE + 1
    step = step_minutes(span, STEPS)
    known = {address: points(log) for address, log in logs.items()}
    steps = {address: speeds_of(log, step) for address, log in logs.items()}
    unit, scale = unit_of(max((speed for own in steps.values() for _, _, speed in own), default=0.0))
    grown_unit, grown_scale = unit_of(max(float(offsets[-1] - offsets[0]) for _, offsets in known.values()))
    for address, log in logs.items():
        line = {"color": colours[address], "width": 2}
        clock = "%Y-%m-%d %H:%M:%S.%L" if log.short else "%Y-%m-%d %H:%M"
        hover = f"<b>{address}</b><br>%{{x|{clock}}}<br>%{{y:,.4~r}} "
        if steps[address]:
            _speed_line(figure, steps[address], scale, zone, name=address, line=line, hover=f"{hover}{unit}/s")
        at, offsets = known[address]
        figure.add_scatter(
            x=wall_clock(pd.Series(pd.to_datetime(at, unit="ms", utc=True)), zone),
            y=(offsets - offsets[0]) / grown_scale,
            name=address,
            showlegend=not steps[address],
            mode="lines+markers" if len(at) <= FEW else "lines",
            line=line,
            row=2,
            col=1,
            hovertemplate=f"{hover}{grown_unit}<extra></extra>",
            cliponaxis=False,
        )
    ends = pd.Series(pd.to_datetime([int(at[-1]) for at, _ in known.values()], unit="ms", utc=True))
    figure.update_xaxes(axis(palette, showgrid=False, fixedrange=True, tickformatstops=DATES))
    figure.update_xaxes(axis(palette, showgrid=False, title=clock_title(ends, zone, zone_name)), row=2, col=1)
    for row, title in (
        (1, words("brokers.speed_axis", unit=unit)),
        (2, words("brokers.growth_axis", unit=grown_unit)),
    ):
        quiet = axis(palette, rangemode="tozero", title=title, fixedrange=True, tickformat=",", nticks=4)
        figure.update_yaxes(quiet, row=row, col=1)
    names = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    font = {"family": MONO, "size": 12, "color": palette.text}
    figure.update_layout(dragmode=False, showlegend=len(logs) > 1, legend={**names, "font": font})
    return figure, step
