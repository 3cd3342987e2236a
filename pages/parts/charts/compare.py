"""The picture of two inputs: ids in both, only in the first, only in the second, by host. Counts in, a figure out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from idcore.catalogue import Words
from pages.parts.figures import axis, paper, rows_axis
from pages.parts.roles import Palette

TOP = 20
HATCH = ("", "/", ".")  # nothing is shown by colour alone


def bars(groups: Sequence[tuple[str, int, int, int]], words: Words, palette: Palette) -> go.Figure:
    """One bar a host, in three parts; beyond TOP the rest is one bar. The differences are behind it in figures."""
    cut = TOP if len(groups) > TOP + 1 else len(groups)
    shown, rest = list(groups[:cut]), groups[cut:]
    if rest:
        both, missing, new = (sum(counts) for counts in list(zip(*rest, strict=True))[1:])
        shown.append((words("producers.others", n=f"{len(rest):,}"), both, missing, new))
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
            figure.add_annotation(
                x=sum(shown[place][1:]),
                y=place,
                text=f"−{missing:,}  +{new:,}",
                showarrow=False,
                xanchor="left",
                xshift=4,
                font={"size": 12, "color": palette.muted},
            )
    figure.update_xaxes(axis(palette, visible=False, fixedrange=True, range=[0, longest * 1.4]))
    figure.update_yaxes(rows_axis(palette, tickmode="array", tickvals=places, ticktext=[row[0] for row in shown]))
    figure.update_layout(
        barmode="stack",
        dragmode=False,
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "xref": "container",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "traceorder": "normal",
            "itemclick": False,
            "itemdoubleclick": False,
            "font": {"size": 12, "color": palette.muted},
        },
    )
    return figure


def alt(kind: str, groups: Sequence[tuple[str, int, int, int]], words: Words) -> str:
    """The picture for those who do not see it: the hosts that differ most, in figures."""
    rows = [words("compare.alt_row", name=name, both=f"{both:,}", missing=f"{missing:,}", new=f"{new:,}")
            for name, both, missing, new in groups[:6]]  # fmt: skip
    return words(f"compare.alt_{kind}", rows=words("clause").join(rows))


def data(groups: Sequence[tuple[str, int, int, int]]) -> pd.DataFrame:
    """The data behind the picture."""
    return pd.DataFrame(groups, columns=["host", "both", "only_first", "only_second"])
