"""Pictures of brokers: the strip of commit log files, the histogram of offsets, growth. Tables in, figures out."""

from __future__ import annotations

from datetime import tzinfo

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.figures import DATES, MONO, axis, clock_title, paper, ramp, series_colour, tint, wall_clock
from pages.parts.roles import Palette
from pages.parts.text import Words

GIB = 1 << 30
MOST_CELLS = 300


def cells(segments: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The files of one broker from the oldest to the newest seen; beyond MOST_CELLS several files share a cell.

    A file's name is the offset of its first byte; unseen files between are rows without ids.
    """
    starts = segments["segment"].astype("int64")
    first, last = int(starts.min()) // GIB, int(starts.max()) // GIB
    together = (last - first) // MOST_CELLS + 1
    seen = segments.assign(cell=(starts // GIB - first) // together)
    grouped = seen.groupby("cell").agg(
        ids=("ids", "sum"),
        distinct=("distinct", "sum"),
        oldest=("segment", "min"),
        newest=("segment", "max"),
        files=("segment", "size"),
    )
    whole = grouped.reindex(range((last - first) // together + 1))
    whole["from_gib"] = first + whole.index * together
    return whole.reset_index(), together


def log(
    segments: pd.DataFrame,
    bins: pd.DataFrame,
    words: Words,
    palette: Palette,
    *,
    kept_from: int | None = None,
) -> go.Figure:
    """One broker: its files as a strip, the histogram of its offsets under it, on one axis in GiB."""
    strip, together = cells(segments)
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        row_heights=[0.26, 0.74],
        vertical_spacing=0.05,
        figure=go.Figure(layout=paper(palette, 190, top=4)),
    )
    left, right = float(strip["from_gib"].iloc[0]), float(strip["from_gib"].iloc[-1] + together)
    edges = [*strip["from_gib"].tolist(), right]
    figure.add_shape(
        type="rect",
        x0=left,
        x1=right,
        y0=0,
        y1=1,
        xref="x",
        yref="y domain",
        layer="below",
        line={"width": 1, "color": palette.line},
        fillcolor="rgba(0,0,0,0)",
    )
    hover = [_cell_hover(row, words) for row in strip.itertuples()]
    figure.add_heatmap(
        z=[strip["ids"].tolist()],
        x=edges,
        y=[0, 1],
        colorscale=ramp(palette, "offset"),
        showscale=False,
        zmin=0,
        xgap=1.5 if len(strip) <= 200 else 0,
        hovertext=[hover],
        hoverinfo="text",
        hoverongaps=False,
        row=1,
        col=1,
    )
    width = (bins["to_offset"] - bins["from_offset"]) / GIB
    figure.add_bar(
        x=bins["from_offset"] / GIB + width / 2,
        y=bins["ids"],
        width=width,
        row=2,
        col=1,
        marker={"color": palette.roles["offset"], "line": {"width": 0}},
        customdata=list(zip(bins["from_offset"], bins["to_offset"], strict=True)),
        hovertemplate=f"%{{customdata[0]:,d}} – %{{customdata[1]:,d}}<br>%{{y:,d}} {words('ids')}<extra></extra>",
    )
    if kept_from is not None and left * GIB < kept_from:
        place = min(kept_from / GIB, right)
        figure.add_shape(
            type="rect",
            x0=left,
            x1=place,
            y0=0,
            y1=1,
            xref="x",
            yref="paper",
            layer="above",
            fillcolor=tint(palette.roles["warning"], 0.14),
            line={"width": 0},
        )
        figure.add_annotation(
            x=place,
            y=1,
            xref="x2",
            yref="y2 domain",
            text=words("brokers.cut"),
            showarrow=False,
            xanchor="right",
            yanchor="top",
            font={"size": 12, "color": palette.roles["warning"]},
        )
    figure.update_yaxes(axis(palette, visible=False, fixedrange=True), row=1, col=1)
    figure.update_yaxes(axis(palette, rangemode="tozero", nticks=3, tickformat=",", fixedrange=True), row=2, col=1)
    pad = (right - left) * 0.004
    figure.update_xaxes(axis(palette, showgrid=False, fixedrange=True, range=[left - pad, right + pad]))
    figure.update_xaxes(
        title={"text": words("brokers.axis"), "font": {"size": 12, "color": palette.muted}, "standoff": 6},
        tickformat=",",
        row=2,
        col=1,
    )
    figure.update_layout(dragmode=False, bargap=0)
    return figure


def _cell_hover(row: object, words: Words) -> str:
    ids = getattr(row, "ids", None)
    if ids is None or ids != ids:
        return ""
    oldest, newest, files = getattr(row, "oldest", ""), getattr(row, "newest", ""), int(getattr(row, "files", 1))
    name = oldest if files == 1 else f"{oldest}<br>… {newest}<br>{words.count('file', files)}"
    return f"<b>{name}</b><br>{words.count('id', int(ids))}"


def totals(brokers: pd.DataFrame, words: Words, palette: Palette, *, limit: int = 6) -> go.Figure:
    """Ids by broker as small bars."""
    ordered = brokers.sort_values(["ids", "address"], ascending=[False, True])
    shown, rest = ordered.iloc[:limit], ordered.iloc[limit:]
    labels, values = shown["address"].tolist(), shown["ids"].astype(int).tolist()
    colours = [palette.roles["broker"]] * len(labels)
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
    figure.update_yaxes(
        axis(
            palette,
            autorange="reversed",
            tickvals=list(range(len(labels))),
            ticktext=labels,
            showgrid=False,
            fixedrange=True,
            tickfont={"family": MONO, "size": 12, "color": palette.text},
        )
    )
    figure.update_layout(dragmode=False)
    return figure


def growth(
    rows: pd.DataFrame, order: list[str], words: Words, palette: Palette, zone: tzinfo, zone_name: str
) -> go.Figure:
    """How far each broker's log had come, minute by minute, from its first dated minute on, in MB."""
    figure = go.Figure(layout=paper(palette, 240, right=24))
    for place, address in enumerate(order):
        mine = rows[rows["address"] == address].sort_values("minute")
        if mine.empty:
            continue
        figure.add_scatter(
            x=wall_clock(mine["minute"], zone),
            y=(mine["max_offset"] - mine["min_offset"].iloc[0]) / 1e6,
            name=address,
            mode="lines" if len(mine) > 1 else "markers",
            line={"color": series_colour(palette, place), "width": 2},
            hovertemplate=f"<b>{address}</b><br>%{{x|%Y-%m-%d %H:%M}}<br>%{{y:,.1f}} MB<extra></extra>",
        )
    figure.update_xaxes(
        axis(
            palette,
            showgrid=False,
            fixedrange=True,
            tickformatstops=DATES,
            title=clock_title(rows["minute"], zone, zone_name),
        )
    )
    figure.update_yaxes(
        axis(palette, rangemode="tozero", title=words("brokers.growth_axis"), fixedrange=True, tickformat=",")
    )
    figure.update_layout(
        dragmode=False,
        showlegend=len(order) > 1,
        legend={
            "orientation": "h",
            "y": 1.02,
            "yanchor": "bottom",
            "x": 0,
            "font": {"family": MONO, "size": 12, "color": palette.text},
        },
    )
    return figure
