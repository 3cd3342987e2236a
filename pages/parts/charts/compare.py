"""Pictures of two inputs: ids in both or in one only, by host; and when those in one only were generated."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from idcore.presentation.reports.markup import esc
from idcore.presentation.reports.roles import series_colour, tint
from idcore.presentation.triage import compared_texts
from idcore.presentation.triage.activity import wall_clock
from idcore.presentation.triage.compared import SIDES, Compared
from pages.parts.figures import DATES, axis, clock_title, legend, note, paper, put, rows_axis, x_axis, y_axis
from pages.parts.view import View

TOP = 20
HATCH = ("", "/", ".")  # nothing is shown by colour alone


def bars(groups: Sequence[tuple[str, int, int, int]], view: View) -> go.Figure:
    """One bar a host, in three parts; beyond TOP the rest is one bar. The differences are behind it in figures."""
    words, palette = view.words, view.palette
    shown = compared_texts.largest_groups(groups, TOP, words)
    places = list(range(len(shown)))
    figure = go.Figure(layout=paper(palette, 32 * len(shown) + 64, top=40, right=16))
    colours = (palette.roles["host"], palette.roles["error"], palette.roles["warning"])
    for part, (name, colour, hatch) in enumerate(
        zip(("both", "only_first", "only_second"), colours, HATCH, strict=True), 1
    ):
        counts = [int(row[part]) for row in shown]
        label = words(f"compare.part_{name}")
        figure.add_bar(
            x=counts,
            y=places,
            orientation="h",
            name=label,
            marker={"color": colour, "pattern": {"shape": hatch, "size": 6}, "line": {"width": 0}},
            hovertext=[f"<b>{row[0]}</b><br>{label}: {row[part]:,}" for row in shown],
            hoverinfo="text",
            width=0.5,
        )
    longest = max((sum(row[1:]) for row in shown), default=1)
    for place, (_, _, missing, new) in zip(places, shown, strict=True):
        if missing or new:
            end = sum(shown[place][1:])
            note(figure, f"−{missing:,}  +{new:,}", palette.muted, x=end, y=place, xshift=4)
    x_axis(figure, axis(palette, visible=False, fixedrange=True, range=[0, longest * 1.4]))
    y_axis(figure, rows_axis(palette, tickmode="array", tickvals=places, ticktext=[row[0] for row in shown]))
    figure.update_layout(barmode="stack", dragmode=False, showlegend=True)
    put(figure, "legend", legend(palette, itemclick=False, itemdoubleclick=False))
    return figure


def rates(rows: pd.DataFrame, names: tuple[str, str], step: int, view: View) -> go.Figure:
    """What share of each input the other one lacks, by the time it was generated: a hole is a cliff."""
    palette = view.palette
    here_and_there = [esc(name) for name in names]  # of files: a chart would make links of their markup
    figure = go.Figure(layout=paper(palette, 240, top=40, bottom=40))
    for place, side in enumerate(SIDES):
        mine = rows[rows["side"] == side]
        if not mine["missing"].any():
            continue
        bins = mine.set_index("at")[["missing", "ids"]]
        every = pd.date_range(rows["at"].min(), rows["at"].max() + pd.Timedelta(seconds=step), freq=f"{step}s")
        bins = bins.reindex(every)  # where nothing was generated, nothing is missing: the line has a gap
        share = 100 * bins["missing"] / bins["ids"]
        label = view.words("compare.rate_of", here=here_and_there[place], there=here_and_there[1 - place])
        colour = palette.roles["error" if side == "before" else "warning"]
        clock = wall_clock(bins.index.to_series(), view.zone)
        figure.add_scatter(
            x=clock,
            y=share,
            name=label,
            mode="lines",
            line={"color": colour, "width": 2, "shape": "hv", "dash": "solid" if side == "before" else "dot"},
            fill="tozeroy",
            fillcolor=tint(colour, 0.15),
            hovertext=[
                f"<b>{label}</b><br>{at:%Y-%m-%d %H:%M:%S}<br>{missing:,.0f} / {ids:,.0f}"
                for at, missing, ids in zip(clock, bins["missing"].fillna(0), bins["ids"].fillna(0), strict=True)
            ],
            hoverinfo="text",
        )
    x_axis(figure, axis(palette, showgrid=False, title=clock_title(rows["at"], view), tickformatstops=DATES))
    highest = float((rows["missing"] / rows["ids"]).max())
    most = 104 * min(1, 1.25 * max(highest, 0.04))  # a small share is seen, too
    y_axis(figure, axis(palette, fixedrange=True, range=[0, most], ticksuffix=" %", nticks=5))
    figure.update_layout(dragmode="zoom", showlegend=True)
    put(figure, "legend", legend(palette))
    return figure


def over_time(rows: pd.DataFrame, comparison: Compared, view: View) -> go.Figure:
    """Bars over time: upwards the ids that only the first has, downwards those that only the second has."""
    words, palette, briefs = view.words, view.palette, comparison.briefs
    figure = go.Figure(layout=paper(palette, 300, top=48, bottom=40))
    named: set[str] = set()
    for place, name, side, mine in compared_texts.series(rows):
        label = briefs[name] if name else words("compare.other_producers")
        mark = words.assumed(comparison.assumed(side, name)) if name else ""
        clock, counts = wall_clock(mine["at"], view.zone), mine["ids"].tolist()
        said = [words(f"compare.only_{side}", ids=words.count("id", n)) for n in counts]
        figure.add_bar(
            x=clock,
            y=counts if side == "before" else [-n for n in counts],
            width=comparison.bin_seconds * 1000,
            offset=0,
            name=label,
            legendgroup=name or " ",
            showlegend=name not in named,
            marker={
                "color": series_colour(palette, place) if name else tint(palette.muted, 0.6),
                "pattern": {"shape": HATCH[1 + SIDES.index(side)], "size": 6},
                "line": {"width": 0},
            },
            hovertext=[
                f"<b>{label}</b><br>{at:%Y-%m-%d %H:%M:%S}{mark}<br>{text}"
                for at, text in zip(clock, said, strict=True)
            ],
            hoverinfo="text",
        )
        named.add(name)
    x_axis(figure, axis(palette, showgrid=False, title=clock_title(rows["at"], view), tickformatstops=DATES))
    ticks = compared_texts.ticks(rows)  # without a sign: downwards is the other input, not less than nothing
    labels, ends = [f"{abs(tick):,}" for tick in ticks], [ticks[0], ticks[-1] + (ticks[1] - ticks[0]) * 0.1]
    y_axis(figure, axis(palette, fixedrange=True, tickmode="array", tickvals=ticks, ticktext=labels, range=ends))
    figure.update_layout(barmode="relative", dragmode="zoom", showlegend=True)
    put(figure, "legend", legend(palette))
    _sides(figure, rows, view)
    return figure


def _sides(figure: go.Figure, rows: pd.DataFrame, view: View) -> None:
    """Which direction is which input, where both have bars."""
    words, palette = view.words, view.palette
    there = [side for side in SIDES if (rows["side"] == side).any()]
    for side in there:
        up = side == "before"
        text, ground = words(f"compare.part_only_{'first' if up else 'second'}"), tint(palette.background, 0.7)
        where = {"x": 1, "xref": "paper", "y": int(up), "yref": "paper", "yanchor": "top" if up else "bottom"}
        note(figure, text, palette.muted, "right", bgcolor=ground, **where)
