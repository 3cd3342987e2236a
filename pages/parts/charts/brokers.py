"""Pictures of brokers: the strip of commit log files, the histogram of offsets, growth. Tables in, figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

import pandas as pd
import plotly.graph_objects as go

from idcore.answers.growth import Log, points
from idcore.answers.growth import speeds as speeds_of
from idcore.ids.clock import MINUTE_MS
from idcore.presentation.reports.roles import Palette, colours_of, tint
from idcore.presentation.times import local
from idcore.presentation.triage import broker_logs, broker_rows
from idcore.presentation.triage.activity import step_minutes, wall_clock
from idcore.presentation.triage.broker_logs import (
    GIB,
    Marks,
    Piece,
    cell_text,
    cells,
    file_of,
    rate_text,
    rate_unit,
    unit_of,
)
from idcore.presentation.triage.line_filter import pick
from idcore.presentation.triage.time_range import TimeRange
from pages.parts.figures import (
    DATES,
    MONO,
    axis,
    band,
    clock_title,
    lying_bars,
    note,
    paper,
    put,
    rows_axis,
    titled,
    two_rows,
    x_axis,
    y_axis,
)
from pages.parts.view import View

SLIVER = 0.1  # offsets that fill less of the axis than this have one of their own
STEPS = 120  # steps in which the speed of a log is drawn
MOST_TOGETHER = 4  # logs that share their axes; more have a row each
MOST_ROWS = 60
ROW = 40  # pixels
FEW = 20  # points of a log that are marked
Step = tuple[datetime, datetime, float]
DASHES = ("solid", "dash", "dot", "dashdot")  # of logs that share their axes: not by colour alone


def log(
    segments: pd.DataFrame,
    bins: pd.DataFrame,
    view: View,
    colour: str,
    marks: Marks = Marks(),  # noqa: B008
) -> go.Figure:
    """One broker: its files as a strip, the histogram of its offsets under it. A cell or a bar can be clicked.

    Both share an axis in GiB, unless the offsets fill only a sliver of it. Then the histogram has an axis of its own,
    and a mark in the strip shows where it is. A single offset needs no histogram.
    """
    words, palette = view.words, view.palette
    strip, together = cells(segments)
    left, right = float(strip["from_gib"].iloc[0]), float(strip["from_gib"].iloc[-1] + together)
    low, high = int(segments["min_offset"].min()), int(segments["max_offset"].max())
    close = (high - low) / GIB < SLIVER * (right - left)
    rows = 1 if high == low else 2
    sheet = paper(palette, {1: 66, 2: 216 if close else 190}[rows], top=4, right=36)  # half of `9,999 GiB`
    heights, spacing = (0.24, 0.76) if rows == 2 else (1.0,), 0.22 if close else 0.05
    figure = two_rows(sheet, heights, spacing, shared=not close)
    _strip(figure, strip, left, right, view, colour)
    pad = (right - left) * 0.004
    x_axis(figure, axis(palette, showgrid=False, range=[left - pad, right + pad], tickformat=",", nticks=8))
    y_axis(figure, axis(palette, visible=False, fixedrange=True, range=[0, 1]), row=1)
    if rows == 2:
        _histogram(figure, bins, view, colour, 1 if close else GIB)
    if close:
        figure.add_vrect(
            x0=low / GIB, x1=high / GIB, row=1, col=1, line={"color": palette.text, "width": 2}, fillcolor=palette.text
        )
        ends = [f"{end:,.0f} GiB" for end in (left, right)]
        x_axis(figure, tickvals=[left, right], ticktext=ends, fixedrange=True, row=1)
        if rows == 2:
            edge = (high - low) * 0.02
            near = axis(palette, showgrid=False, range=[low - edge, high + edge], tickformat=",d", nticks=5)
            x_axis(figure, near, row=2)
            x_axis(figure, title=titled(words("brokers.axis_bytes"), palette, 6), row=2)
    else:
        x_axis(figure, title=titled(words("brokers.axis"), palette, 6), row=2)
    if marks.kept_from is not None:
        _cut(figure, left, min(marks.kept_from / GIB, right), right, words("brokers.cut", hours=marks.hours), palette)
    if marks.within is not None:
        low, high = marks.within
        line = {"width": 2, "color": palette.text}
        band(figure, low / GIB, max(high / GIB, low / GIB + (right - left) / 400), layer="above", line=line)
    figure.update_layout(dragmode="zoom", bargap=0)
    return figure


def _strip(figure: go.Figure, strip: pd.DataFrame, left: float, right: float, view: View, colour: str) -> None:
    """The files as cells, the darker the more ids; a frame around them all."""
    palette = view.palette
    line = {"width": 1, "color": palette.line}
    band(figure, left, right, layer="below", line=line, fillcolor="rgba(0,0,0,0)")
    seen = strip[strip["ids"].notna()]
    together = (right - left) / len(strip)
    most = float(seen["ids"].max())
    figure.add_bar(
        x=seen["from_gib"] + together / 2,
        y=[1] * len(seen),
        width=together,
        marker={
            "color": [tint(colour, 0.18 + 0.82 * ids / most) for ids in seen["ids"]],
            "line": {"width": 1.5 if len(strip) <= 200 else 0, "color": palette.background},
        },
        customdata=[[Piece("", row.oldest, row.newest).names] for row in seen.itertuples()],
        hovertext=[cell_text(row, view.words) for row in seen.itertuples()],
        hoverinfo="text",
        row=1,
        col=1,
    )


def _histogram(figure: go.Figure, bins: pd.DataFrame, view: View, colour: str, unit: int) -> None:
    """Ids by offset; the bins are the scan's own. Its y axis has whole numbers."""
    words, palette = view.words, view.palette
    width = (bins["to_offset"] - bins["from_offset"]) / unit
    ends = zip(bins["from_offset"].tolist(), bins["to_offset"].tolist(), strict=True)
    figure.add_bar(
        x=bins["from_offset"] / unit + width / 2,
        y=bins["ids"],
        width=width,
        row=2,
        col=1,
        marker={"color": colour, "line": {"width": 0}},
        customdata=[[Piece("", file_of(first), file_of(end - 1)).names, first, end] for first, end in ends],
        hovertemplate=f"%{{customdata[1]:,d}} – %{{customdata[2]:,d}}<br>%{{y:,d}} {words('ids')}<extra></extra>",
    )
    steps = {"dtick": 1} if bins["ids"].max() <= 3 else {"nticks": 3}
    look = axis(palette, title=words("col.ids"), rangemode="tozero", tickformat=",d", fixedrange=True, **steps)
    y_axis(figure, look, row=2)


def _cut(figure: go.Figure, left: float, place: float, right: float, label: str, palette: Palette) -> None:
    """What is older than the retention: a band over the files, its name on the side that has room for it."""
    if place <= left:
        return
    inside = place - left > 0.3 * (right - left)
    warning = palette.roles["warning"]
    line = {"width": 1, "color": warning}
    band(figure, left, place, layer="above", line=line, fillcolor=tint(palette.background, 0.55))
    name, shift = (label, -6) if inside else (f"← {label}", 6)
    where = {"x": place, "y": 0.5, "xref": "x", "yref": "y domain", "bgcolor": palette.background, "borderpad": 2}
    note(figure, name, warning, "right" if inside else "left", xshift=shift, **where)


def totals(brokers: pd.DataFrame, view: View, *, limit: int = 6) -> go.Figure:
    """Ids by broker as small bars, each in its broker's colour."""
    words, palette = view.words, view.palette
    own = colours_of(brokers["address"].tolist(), palette)
    labels, values = broker_logs.largest(brokers, limit, words)
    colours = [own.get(label, tint(palette.muted, 0.5)) for label in labels]
    hover = f"<b>%{{hovertext}}</b><br>%{{x:,d}} {words('ids')}<extra></extra>"
    return lying_bars(view, labels, values, values, colours, row=26, hovertext=labels, hovertemplate=hover)


def growth(
    logs: Mapping[str, Log],
    colours: Mapping[str, str],
    view: View,
    shown: TimeRange = TimeRange(),  # noqa: B008
    assumed: str = "",
    names: Mapping[str, str] = MappingProxyType({}),
) -> tuple[go.Figure, int]:
    """How fast each log grew; also the step in minutes. A few logs share their axes, and show how far they had come.

    Every point is drawn at its own instant. A log of few points has marks on them. `assumed` is what of the times no
    line shows; `names` is what lines call the brokers, by their addresses.
    """
    palette = view.palette
    span = max(int(log.low_at[-1] - log.low_at[0]) for log in logs.values()) // MINUTE_MS + 1
    step = step_minutes(span, STEPS)
    steps = {address: speeds_of(log, step) for address, log in logs.items()}
    if len(logs) > MOST_TOGETHER:
        figure = _rows(steps, colours, view, assumed)
    else:
        figure = _together(logs, steps, colours, view, assumed)
    last = pd.Series(pd.to_datetime([int(log.high_at[-1]) for log in logs.values()], unit="ms", utc=True))
    zoomed = {"range": list(shown.clock(view.zone))} if shown else {}
    x_axis(figure, axis(palette, showgrid=False, tickformatstops=DATES, **zoomed))
    bottom = {} if len(logs) > MOST_TOGETHER else {"row": 2}
    x_axis(figure, axis(palette, showgrid=False, title=clock_title(last, view)), **bottom)
    _name(figure, names)
    return figure, step


def _name(figure: go.Figure, names: Mapping[str, str]) -> None:
    """Calls the brokers as the list above does: a broker with a name by it, and where pointed at by both."""

    def both(text: str) -> str:
        address, end, rest = text.removeprefix("<b>").partition("</b>")
        return f"<b>{broker_rows.titled(address, names.get(address, ''))}{end}{rest}"

    for trace in figure.data:
        if trace.type == "bar":
            trace.hovertext = [both(text) for text in trace.hovertext]
        else:
            trace.update(name=names.get(trace.name) or trace.name, hovertemplate=both(trace.hovertemplate))
    if ticks := figure.layout.yaxis.ticktext:
        parts = [text.partition("<br>") for text in ticks]
        figure.layout.yaxis.ticktext = ["".join((names.get(address) or address, *rest)) for address, *rest in parts]


def _together(
    logs: Mapping[str, Log],
    steps: Mapping[str, Sequence[Step]],
    colours: Mapping[str, str],
    view: View,
    assumed: str,
) -> go.Figure:
    """Speed on top, growth below, each in a unit of its own; a name of the legend hides both lines of its broker."""
    words, palette, zone = view.words, view.palette, view.zone
    figure = two_rows(paper(palette, 380, right=24), (0.55, 0.45), 0.08)
    known = {address: points(log) for address, log in logs.items()}
    unit, scale = rate_unit(max((speed for own in steps.values() for _, _, speed in own), default=0.0), words)
    grown_unit, grown_scale = unit_of(max(float(offsets[-1] - offsets[0]) for _, offsets in known.values()))
    for place, (address, log) in enumerate(logs.items()):
        line = {"color": colours[address], "width": 2, "dash": DASHES[place % len(DASHES)]}
        clock = "%Y-%m-%d %H:%M:%S.%L" if log.short else "%Y-%m-%d %H:%M"
        look = {"name": address, "legendgroup": address, "customdata": None, "cliponaxis": False}
        look["hovertemplate"] = f"<b>{address}</b><br>%{{x|{clock}}}{assumed}<br>%{{text}}<extra></extra>"
        if own := steps[address]:
            speeds = [speed for _, _, speed in own]
            figure.add_scatter(
                x=[local(begin, zone) for begin, _, _ in own] + [local(own[-1][1], zone)],
                y=[speed / scale for speed in (*speeds, speeds[-1])],
                text=[rate_text(speed, words) for speed in (*speeds, speeds[-1])],
                mode="lines+markers",
                marker={"size": 10, "opacity": 0},
                line={**line, "shape": "hv"},
                row=1,
                col=1,
                **{**look, "customdata": [*(picks := _picks(address, own)), picks[-1]]},
            )
        at, offsets = known[address]
        figure.add_scatter(
            x=wall_clock(pd.Series(pd.to_datetime(at, unit="ms", utc=True)), zone),
            y=(offsets - offsets[0]) / grown_scale,
            text=[words.bytes(grown) for grown in (offsets - offsets[0]).tolist()],
            showlegend=not own,
            mode="lines+markers" if len(at) <= FEW else "lines",
            line=line,
            row=2,
            col=1,
            **look,
        )
    for row, title in ((1, words("brokers.speed_axis", unit=unit)), (2, words("brokers.growth_axis", unit=grown_unit))):
        quiet = axis(palette, rangemode="tozero", title=title, fixedrange=True, tickformat=",", nticks=4)
        y_axis(figure, quiet, row=row)
    names = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    font = {"family": MONO, "size": 12, "color": palette.text}
    figure.update_layout(showlegend=len(logs) > 1)
    put(figure, "legend", {**names, "font": font, "itemdoubleclick": False})
    return figure


def _picks(address: str, steps: Sequence[Step]) -> list[str]:
    """What a click on each step asks for: the lines of the broker in it."""
    return [pick(broker=address, **TimeRange(begin, end).params()) for begin, end, _ in steps]


def _rows(steps: Mapping[str, Sequence[Step]], colours: Mapping[str, str], view: View, assumed: str) -> go.Figure:
    """The speed of each log in a row of its own, as high as its highest; that one is next to the name."""
    words, palette, zone = view.words, view.palette, view.zone
    figure = go.Figure(layout=paper(palette, ROW * len(steps) + 56))
    names = []
    for place, (address, own) in enumerate(reversed(list(steps.items()))):
        top = max((speed for _, _, speed in own), default=0.0)
        most = words("brokers.most", rate=rate_text(top, words))
        names.append(f'{address}<br><span style="color:{palette.muted}">{most}</span>')
        clocks = [(local(begin, zone), local(end, zone)) for begin, end, _ in own]
        figure.add_bar(
            x=[begin for begin, _ in clocks],
            y=[0.8 * speed / (top or 1) for _, _, speed in own],
            base=place - 0.4,
            customdata=_picks(address, own),
            offset=0,
            width=[(end - begin).total_seconds() * 1000 for begin, end in clocks],
            marker={"color": colours[address], "line": {"width": 0.5, "color": colours[address]}},
            hovertext=[
                f"<b>{address}</b><br>{begin:%Y-%m-%d %H:%M:%S} – {end:%H:%M:%S}{assumed}<br>{rate_text(speed, words)}"
                for (begin, end), (_, _, speed) in zip(clocks, own, strict=True)
            ],
            hoverinfo="text",
            unselected={"marker": {"opacity": 1}},
        )
    rows = rows_axis(palette, tickvals=list(range(len(names))), ticktext=names, range=[-0.6, len(names) - 0.4])
    y_axis(figure, {**rows, "autorange": None})
    return figure
