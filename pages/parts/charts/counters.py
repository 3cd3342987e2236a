"""The counter of one process against time: the 16-bit sawtooth as it is, its gaps and its rate below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from idcore.ids.rules import COUNTER_WRAP
from idcore.presentation.reports.roles import series_colour, tint
from idcore.presentation.triage.activity import wall_clock
from idcore.presentation.triage.line_filter import pick
from idcore.presentation.triage.processes import process_key, rate_text
from idcore.presentation.triage.strokes import (
    Strokes,
    apart,
    bands,
    by_clock,
    clipped,
    extremes,
    gap_text,
    in_sight,
    is_dated,
    labelled,
    rates,
    room,
    strokes,
    whole_width,
    wide,
)
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange, at, between
from pages.parts.charts.timeline import has_wide_labels
from pages.parts.figures import (
    DATES,
    axis,
    band,
    clock_title,
    note,
    paper,
    put,
    ticks_up_to,
    titled,
    two_rows,
    x_axis,
    y_axis,
)
from pages.parts.view import View

TOP = COUNTER_WRAP - 1
NEAR = 0.9  # of the counter's circle: what is in sight of less has an axis of its own
FEW_DOTS = 1_500  # points in sight that are marked one by one
LANE = 0.055  # of the height, below the counter: where its gaps have their marks
BELOW_LANE = 22  # pixels: the labels of the axis do not lie in that lane
ROOM = 0.06  # of the width: what the words in a gap need on a phone
MOST_CORNER = 4  # rates that fit into the corner above a count
CLOCK = "%Y-%m-%d %H:%M:%S.%L"


def sawtooth(
    points: pd.DataFrame,
    view: View,
    *,
    missing: int | None = None,
    shown: TimeRange = ALL_TIMES,
    assumed: str = "",
    judged: bool = True,
) -> tuple[go.Figure, Strokes]:
    """The figure, and the strokes it was drawn from (for its sentence and its small print).

    `missing` is what the table of processes has: points do not hold all gaps. Of a range the axes show what is in it.
    `assumed` is what of the times no line shows. Of a counter that cannot be `judged` no gap and no rate is marked.
    """
    words, palette = view.words, view.palette
    assumed = assumed if is_dated(points) else ""
    points = by_clock(points)
    places, seconds, title = _places(points, view)
    drawn = strokes(points, places, seconds, missing)
    if not judged:
        drawn.gaps, drawn.breaks, drawn.restarts, drawn.slopes = [], {}, [], []
    dated = is_dated(points)
    begin, end = shown.clock(view.zone) if dated else (None, None)
    left, right = begin or min(places), end or max(places)
    if dated and shown:
        drawn = clipped(drawn, left if shown.begin else None, right if shown.end else None)
    figure = two_rows(paper(palette, 540, top=44), (0.7, 0.3), 0.2)
    _lines(figure, drawn, view, assumed, row=1, col=1)
    speeds = _rates(points, places, seconds, drawn)
    _speeds(figure, speeds, view, assumed)
    _marks(figure, drawn, view, assumed)
    saw = None
    if (dated and shown) or not drawn.wraps:
        saw = extremes(((x, y) for _, x, y, _ in drawn.lines), left, right)
    y_axis(figure, axis(palette, title=words("counters.axis"), fixedrange=True, **_of_counter(saw)), row=1)
    fastest = extremes(((x, y) for _, x, y in speeds), left, right)
    quiet = axis(
        palette, title=words("counters.rate_axis"), fixedrange=True, **ticks_up_to(fastest[1] if fastest else 0)
    )
    y_axis(figure, quiet, row=2)
    x_axis(figure, axis(palette, showgrid=False, tickformatstops=DATES if dated else None))
    if dated and shown:
        x_axis(figure, range=[left, right])
    below = BELOW_LANE if dated and bands(drawn) else 0
    # The other axis is below the first screen.
    x_axis(figure, showticklabels=True, ticklabelstandoff=below, row=1)
    x_axis(figure, title=titled(title + assumed, palette), row=2)
    if dated:
        clickable(figure, points[shown.contains(points["sent_at"])], drawn, view, assumed, row=1, col=1)
    figure.update_layout(dragmode="zoom", hovermode="closest")
    return figure, drawn


def clickable(
    figure: go.Figure, points: pd.DataFrame, drawn: Strokes, view: View, assumed: str = "", **where: int
) -> None:
    """Marks that lead to the lines of a point and of a gap, where these have a date."""
    if not points.empty and is_dated(points):
        _dots(figure, points, view, assumed, where)
        _gap_dots(figure, drawn, process_key(points.iloc[0]), view)


def small(points: pd.DataFrame, view: View, missing: int | None = None, assumed: str = "") -> tuple[go.Figure, Strokes]:
    """The sawtooth alone, low and without marks. `assumed` is what of the times no line shows."""
    palette = view.palette
    points = by_clock(points)
    drawn = strokes(points, *_places(points, view)[:2], missing)
    figure = go.Figure(layout=paper(palette, 168, top=14, bottom=4))
    _lines(figure, drawn, view, assumed if is_dated(points) else "")
    circle = {"range": [0, COUNTER_WRAP * 1.04], "tickvals": [0, TOP], "ticktext": ["0", f"{TOP:,}"]}
    if not drawn.wraps and drawn.lines:  # what there is of it, and not a line along the bottom
        every = [value for _, _, saw, _ in drawn.lines for value in saw if value is not None]
        circle = {**_of_counter((min(every), max(every))), "nticks": 3}
    y_axis(figure, axis(palette, fixedrange=True, **circle))
    dates: dict[str, Any] = {}
    if is_dated(points):
        is_wide = not points.empty and has_wide_labels(points["sent_at"], pd.Timedelta(0))
        dates = {"tickformatstops": DATES, "tickangle": 0, "nticks": 2 if is_wide else 4}
    x_axis(figure, axis(palette, showgrid=False, fixedrange=True, **({"nticks": 4} | dates)))
    figure.update_layout(dragmode=False)
    return figure, drawn


def _places(points: pd.DataFrame, view: View) -> tuple[list[Any], list[float], str]:
    """Where points of `by_clock` are on the x axis, in the reader's wall clock; their clock; the title of the axis."""
    seconds = points["clock"].tolist()
    if not is_dated(points):
        return seconds, seconds, view.words("counters.elapsed_axis")
    places = [moment.to_pydatetime() for moment in wall_clock(points["sent_at"], view.zone)]
    return places, seconds, clock_title(points["sent_at"], view)


def _of_counter(sight: tuple[float, float] | None) -> dict[str, Any]:
    """The y axis of a counter: all of its circle, or what of it is in sight."""
    if sight is not None and sight[1] - sight[0] < NEAR * COUNTER_WRAP:
        return {"range": room(*sight), "tickformat": ",d", "nticks": 6}
    ticks = [0, COUNTER_WRAP // 4, COUNTER_WRAP // 2, 3 * COUNTER_WRAP // 4, TOP]
    return {"range": [0, COUNTER_WRAP * 1.02], "tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}


def _lines(figure: go.Figure, drawn: Strokes, view: View, assumed: str, **where: int) -> None:
    words, palette = view.words, view.palette
    tracks = {track for track, _, _, _ in drawn.lines}
    for track, x, saw, _ in drawn.lines:
        colour = palette.roles["counter"] if len(tracks) == 1 else series_colour(palette, track)
        name = words("counters.track", n=track + 1) if len(tracks) > 1 else words("counters.counter")
        line: dict[str, Any] = {"mode": "lines", "line": {"color": colour, "width": 2}}
        look = {**line, "connectgaps": False, "name": name}
        if sum(value is not None for value in saw) == 1:
            look |= {"mode": "markers", "marker": {"color": colour, "size": 7}}
        hover = f"%{{x|{CLOCK}}}{assumed}<br>{words('counters.counter')} %{{y:,.0f}}<extra></extra>"
        figure.add_scatter(x=x, y=saw, hovertemplate=hover, **look, **where)


def _rates(
    points: pd.DataFrame, places: list[Any], seconds: list[float], drawn: Strokes
) -> list[tuple[int, list[Any], list[float | None]]]:
    """IDs a second of each track; none in a gap, of which only the mean would be known."""
    found = rates(points, places, seconds)
    return [(track, *apart(x, speed, drawn.breaks.get(track, []))) for track, x, speed in found]


def _speeds(
    figure: go.Figure, speeds: list[tuple[int, list[Any], list[float | None]]], view: View, assumed: str
) -> None:
    """IDs a second below: stalls and bursts, which a rising counter hides."""
    words, palette = view.words, view.palette
    for track, x, speed in speeds:
        colour = palette.roles["counter"] if len(speeds) == 1 else series_colour(palette, track)
        figure.add_scatter(
            x=x,
            y=speed,
            name=words("counters.rate_axis"),
            mode="lines",
            line={"color": colour, "width": 1.5, "shape": "hv"},
            connectgaps=False,
            hovertemplate=f"%{{x|{CLOCK}}}{assumed}<br>%{{y:,.1f}} {words('counters.rate_axis')}<extra></extra>",
            row=2,
            col=1,
        )


def _dots(figure: go.Figure, points: pd.DataFrame, view: View, assumed: str, where: Mapping[str, int]) -> None:
    """A mark for each point, to be pointed at and clicked; in sight where these are all IDs. Those have their text."""
    words, palette, zone = view.words, view.palette, view.zone
    ids = points["id"].tolist() if "id" in points else None
    seen = 1 if ids is not None and len(points) <= FEW_DOTS else 0
    if ids is not None:
        picks, more = [pick(ids=text) for text in ids], "<br>%{hovertext}"
    else:
        process, more = process_key(points.iloc[0]), ""
        picks = [pick(process=process, **at(moment)) for moment in points["sent_at"]]
    figure.add_scatter(
        x=wall_clock(points["sent_at"], zone),
        y=points["counter"],
        mode="markers",
        name="ids",
        marker={"color": palette.roles["counter"], "size": 7 if len(points) <= FEW_DOTS // 5 else 4, "opacity": seen},
        unselected={"marker": {"opacity": seen}},
        selected={"marker": {"opacity": 1, "size": 10, "color": palette.text}},
        customdata=picks,
        hovertext=ids,
        hovertemplate=f"%{{x|{CLOCK}}}{assumed}<br>{words('counters.counter')} %{{y:,.0f}}{more}<extra></extra>",
        **where,
    )


def _gap_dots(figure: go.Figure, drawn: Strokes, process: str, view: View) -> None:
    """A lane of marks below the counter, to be clicked: one for each gap, the higher the more are missing."""
    words, palette, zone = view.words, view.palette, view.zone
    gaps = bands(drawn)
    if not gaps:
        return
    most = gaps[0][2]
    figure.add_scatter(
        x=[begin + (end - begin) / 2 for begin, end in (in_sight(drawn, *gap[:2]) for gap in gaps)],
        y=[0.5] * len(gaps),
        yaxis="y3",
        mode="markers",
        name="gaps",
        cliponaxis=False,
        marker={
            "symbol": "line-ns-open",
            "size": [4 + 14 * (ids / most) ** 0.5 for _, _, ids, _ in gaps],
            "color": palette.roles["error"],
            "line": {"width": 2, "color": palette.roles["error"]},
        },
        unselected={"marker": {"opacity": 1}},
        customdata=[pick(process=process, **between(begin, end, zone)) for begin, end, _, _ in gaps],
        hovertext=[gap_text(ids, count, words) for _, _, ids, count in gaps],
        hoverinfo="text",
    )
    bottom = (figure.layout.yaxis.domain or (0, 1))[0]
    domain = [max(0.0, bottom - LANE), max(0.01, bottom - 0.015)]
    put(figure, "yaxis3", {"domain": domain, "anchor": "x", "range": [0, 1], "visible": False, "fixedrange": True})
    if bottom:  # a low picture has its marks on the axis, where the 0 stands
        lane: dict[str, Any] = {"x": 0, "xref": "x domain", "y": 0.5, "yref": "y3", "yanchor": "middle", "xshift": -6}
        note(figure, words("counters.gap_lane"), palette.muted, "right", **lane)


def _marks(figure: go.Figure, drawn: Strokes, view: View, assumed: str) -> None:
    words, palette = view.words, view.palette
    some = drawn.wraps if len(drawn.wraps) <= 40 else drawn.wraps[:: len(drawn.wraps) // 40 + 1]
    number = {place: str(rank) for rank, place in enumerate(drawn.wraps, 1)}
    if drawn.wraps:
        figure.add_scatter(
            x=some,
            y=[TOP] * len(some),
            mode="markers+text",
            text=[number[place] for place in some],
            textposition="top center",
            cliponaxis=False,
            textfont={"size": 12, "color": palette.text},
            marker={"symbol": "triangle-down", "size": 8, "color": palette.text},
            hovertemplate=f"%{{x|{CLOCK}}}{assumed}<br>{words('counters.wrap_hover')} %{{text}}<extra></extra>",
            row=1,
            col=1,
        )
        # In the margin: on the picture it would lie on a line, and a narrow picture would be wider than its points.
        where: dict[str, Any] = {"x": 0, "xref": "x domain", "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 18}
        note(figure, words("counters.starts_again"), palette.muted, **where)
    gaps(figure, drawn, view)
    for place in drawn.restarts:
        line = {"color": palette.text, "width": 1.5, "dash": "dot"}
        figure.add_shape(type="line", x0=place, x1=place, y0=0, y1=1, yref="paper", xref="x", line=line)
        top: dict[str, Any] = {"x": place, "xref": "x", "y": 1.0, "yref": "y domain", "yanchor": "top", "xshift": 4}
        note(figure, words("counters.restart"), palette.text, **top)
    tracks = {track for track, _, _, _ in drawn.lines}
    for rank, (track, place, _, rate) in enumerate(drawn.slopes):
        colour = palette.roles["counter"] if len(tracks) == 1 else series_colour(palette, track)
        if len(drawn.slopes) == len(tracks) <= MOST_CORNER:  # at the top left, where no count is
            where = {"x": 0, "y": 1, "xref": "x2 domain", "yref": "y2 domain", "yanchor": "bottom"}
            where |= {"xanchor": "left", "xshift": 6, "yshift": 16 * rank}
        else:  # after restarts each rate is above the end of its own part
            where = {"x": place, "y": 1, "xref": "x2", "yref": "y2 domain", "yanchor": "bottom"}
            where |= {"xanchor": "right", "xshift": -4, "yshift": 2}
        note(figure, words("counters.slope_mean", n=rate_text(rate)), colour, **where)


def gaps(figure: go.Figure, drawn: Strokes, view: View, *, named: bool = True) -> None:
    """The widest gaps as bands; `named`: with their numbers, as far as these can be read next to each other."""
    words, palette = view.words, view.palette
    warning = palette.roles["error"]
    for begin, end, _, _ in wide(drawn):
        line = {"width": 1, "color": tint(warning, 0.45)}
        band(figure, begin, end, "paper", layer="below", line=line, fillcolor=tint(warning, 0.2))
    whole = whole_width(drawn)
    for left, right, ids, count in labelled(drawn) if named else ():
        begin, end = in_sight(drawn, left, right)
        where = {"x": begin, "xref": "x", "y": 1.0, "yref": "y domain", "yanchor": "top", "yshift": -6}
        inside = whole and (end - begin) / whole >= ROOM  # where no line is
        note(figure, gap_text(ids, count, words), warning, "left" if inside else "right", textangle=-90, **where)
