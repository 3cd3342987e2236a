"""The counter of one process against time: the 16-bit sawtooth as it is, and the unrolled count below it."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from idcore.catalogue import Words
from idcore.triage.processes import rate_text
from idcore.triage.strokes import TURN, Strokes, gathered, strokes
from pages.parts.figures import DATES, axis, band, clock_title, paper, series_colour, tint, wall_clock
from pages.parts.roles import Palette

TOP = TURN - 1
MOST_LABELS = 12
MOST_BANDS = 200
MOST_CORNER = 4  # rates that fit into the corner above a count
NARROW, LABEL = 0.012, 0.07  # of the width: gaps this close share a band, and a label


def sawtooth(
    points: pd.DataFrame,
    words: Words,
    palette: Palette,
    zone: tzinfo,
    zone_name: str,
    *,
    small: bool = False,
    missing: int | None = None,
) -> tuple[go.Figure, Strokes]:
    """The figure, and the strokes it was drawn from (for its sentence and its small print).

    `missing` is what the table of processes has: points do not hold all gaps.
    """
    points = points.sort_values(["elapsed_ms", "position"], kind="stable")
    dated = bool(points["sent_at"].notna().all())
    if dated:
        places: list[Any] = [moment.to_pydatetime() for moment in wall_clock(points["sent_at"], zone)]
        title = clock_title(points["sent_at"], zone, zone_name)
    else:
        places = [value / 1000 for value in points["elapsed_ms"].tolist()]
        title = words("counters.elapsed_axis")
    drawn = strokes(points, places, [value / 1000 for value in points["elapsed_ms"].tolist()], missing)
    if small:
        figure = go.Figure(layout=paper(palette, 168, top=14, bottom=4))
        _lines(figure, drawn, palette, words, rows=1)
        figure.update_yaxes(
            axis(palette, range=[0, TURN * 1.04], tickvals=[0, TOP], ticktext=["0", f"{TOP:,}"], fixedrange=True)
        )
        figure.update_xaxes(
            axis(palette, showgrid=False, fixedrange=True, nticks=4, tickformatstops=DATES if dated else None)
        )
        figure.update_layout(dragmode=False)
        return figure, drawn
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        row_heights=[0.64, 0.36],
        vertical_spacing=0.07,
        figure=go.Figure(layout=paper(palette, 560, top=34)),
    )
    _lines(figure, drawn, palette, words, rows=2)
    _marks(figure, drawn, palette, words)
    ticks = [0, TURN // 4, TURN // 2, 3 * TURN // 4, TOP]
    figure.update_yaxes(
        axis(
            palette,
            range=[0, TURN * 1.02],
            tickvals=ticks,
            ticktext=[f"{tick:,}" for tick in ticks],
            title=words("counters.axis"),
            fixedrange=True,
        ),
        row=1,
        col=1,
    )
    figure.update_yaxes(
        axis(palette, title=words("counters.unrolled_axis"), rangemode="tozero", fixedrange=True, tickformat=","),
        row=2,
        col=1,
    )
    figure.update_xaxes(axis(palette, showgrid=False, tickformatstops=DATES if dated else None))
    figure.update_xaxes(
        title={"text": title, "font": {"color": palette.muted, "size": 12}, "standoff": 8}, row=2, col=1
    )
    figure.update_layout(dragmode="zoom", hovermode="closest")
    return figure, drawn


def _lines(figure: go.Figure, drawn: Strokes, palette: Palette, words: Words, rows: int) -> None:
    tracks = {track for track, _, _, _ in drawn.lines}
    for track, x, saw, count in drawn.lines:
        colour = palette.roles["counter"] if len(tracks) == 1 else series_colour(palette, track)
        name = words("counters.track", n=track + 1) if len(tracks) > 1 else words("counters.counter")
        look: dict[str, Any] = {
            "mode": "lines",
            "line": {"color": colour, "width": 2},
            "connectgaps": False,
            "name": name,
        }
        if sum(value is not None for value in saw) == 1:
            look |= {"mode": "markers", "marker": {"color": colour, "size": 7}}
        where: dict[str, int] = {"row": 1, "col": 1} if rows == 2 else {}
        figure.add_scatter(
            x=x,
            y=saw,
            hovertemplate=f"%{{x|%Y-%m-%d %H:%M:%S.%L}}<br>{words('counters.counter')} %{{y:,.0f}}<extra></extra>",
            **look,
            **where,
        )
        if rows == 2:
            figure.add_scatter(
                x=x,
                y=count,
                hovertemplate=f"%{{x|%Y-%m-%d %H:%M:%S.%L}}<br>%{{y:,.0f}} {words('ids')}<extra></extra>",
                row=2,
                col=1,
                **look,
            )


def _marks(figure: go.Figure, drawn: Strokes, palette: Palette, words: Words) -> None:
    labelled = drawn.wraps if len(drawn.wraps) <= 40 else drawn.wraps[:: len(drawn.wraps) // 40 + 1]
    number = {place: str(rank) for rank, place in enumerate(drawn.wraps, 1)}
    if drawn.wraps:
        figure.add_scatter(
            x=labelled,
            y=[TOP] * len(labelled),
            mode="markers+text",
            text=[number[place] for place in labelled],
            textposition="top center",
            cliponaxis=False,
            textfont={"size": 12, "color": palette.text},
            marker={"symbol": "triangle-down", "size": 8, "color": palette.text},
            hovertemplate="%{x|%Y-%m-%d %H:%M:%S.%L}<br>" + words("counters.wrap_hover") + " %{text}<extra></extra>",
            row=1,
            col=1,
        )
    gaps(figure, drawn, palette, words)
    for place in drawn.restarts:
        figure.add_shape(
            type="line",
            x0=place,
            x1=place,
            y0=0,
            y1=1,
            yref="paper",
            xref="x",
            line={"color": palette.text, "width": 1.5, "dash": "dot"},
        )
        figure.add_annotation(
            x=place,
            y=1.0,
            yref="y domain",
            xref="x",
            yanchor="top",
            xanchor="left",
            xshift=4,
            text=words("counters.restart"),
            showarrow=False,
            font={"size": 12, "color": palette.text},
        )
    tracks = {track for track, _, _, _ in drawn.lines}
    for line, (track, place, count, rate) in enumerate(drawn.slopes):
        colour = palette.roles["counter"] if len(tracks) == 1 else series_colour(palette, track)
        if len(drawn.slopes) == len(tracks) <= MOST_CORNER:  # at the top left, where no count is
            where = {"x": 0, "y": 1, "xref": "x2 domain", "yref": "y2 domain", "xanchor": "left", "yanchor": "top"}
            shift = (6, -16 * line)
        else:  # after restarts each rate is at the end of its own line
            where = {"x": place, "y": count, "xref": "x2", "yref": "y2", "xanchor": "right", "yanchor": "bottom"}
            shift = (-4, 2)
        figure.add_annotation(
            **where,
            xshift=shift[0],
            yshift=shift[1],
            text=words("counters.slope_mean", n=rate_text(rate)),
            showarrow=False,
            font={"size": 12, "color": colour},
        )


def gaps(figure: go.Figure, drawn: Strokes, palette: Palette, words: Words) -> None:
    """Bands where ids are missing, and their numbers as far as these can be read next to each other."""
    places = [x for _, line, _, _ in drawn.lines for x in line if x is not None]
    if not drawn.gaps or not places:
        return
    whole = max(places) - min(places)
    warning = palette.roles["warning"]
    bands = sorted(gathered(drawn.gaps, whole * NARROW), key=lambda gap: -gap[2])[:MOST_BANDS]
    for begin, end, _, _ in bands:
        line = {"width": 1, "color": tint(warning, 0.45)}
        band(figure, begin, end, "paper", layer="below", line=line, fillcolor=tint(warning, 0.2))
    labelled: list[Any] = []
    for begin, end, ids, count in sorted(gathered(drawn.gaps, whole * LABEL), key=lambda gap: -gap[2]):
        middle = begin + (end - begin) / 2
        if len(labelled) == MOST_LABELS or any(abs(middle - place) < whole * LABEL for place in labelled):
            continue
        labelled.append(middle)
        key = "counters.gap_label" if count == 1 else "counters.gaps_label"
        figure.add_annotation(
            x=begin,
            y=1.0,
            yref="y domain",
            xref="x",
            yanchor="top",
            xanchor="right",
            yshift=-6,
            text=words(key, n=f"{ids:,}", gaps=f"{count:,}"),
            showarrow=False,
            textangle=-90,
            font={"size": 12, "color": warning},
        )
