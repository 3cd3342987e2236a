"""The journey of a message from top to bottom, each event in the column of who did it. A journey in, a figure out."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap

import plotly.graph_objects as go

from idcore.answers.journey import Journey, short_text, steps
from idcore.answers.journey.model import ROLES
from idcore.answers.journey.sentences import distances
from idcore.presentation.html.journeys import hover
from idcore.presentation.reports.markup import esc
from idcore.presentation.reports.roles import tint
from pages.parts.figures import axis, note, paper, x_axis, y_axis
from pages.parts.view import View

MOST_DRAWN = 30
LETTERS = 28  # of a label on one line; of Chinese half as many
ROW, HEAD = 30, 44  # pixels
_COLOURS = {"producer": "host", "broker": "broker", "consumer": "client", "log": "loader"}


def sequence(journey: Journey, view: View, time: Callable[[int], str]) -> go.Figure:
    """Each event at its place on one axis, which is to scale: of long waits to the logarithm of seconds.

    Contradictions and gaps are marked. Each event has the time since the one before.
    """
    words, palette = view.words, view.palette
    events = journey.events[:MOST_DRAWN]
    lanes = [role for role in ROLES if any(event.role == role for event in events)]
    rows, right = len(events), len(lanes) * 2.1 + 0.6
    wrong, y = journey.doubtful, distances(journey, MOST_DRAWN)
    last = y[-1] if y else 0.0
    figure = go.Figure(layout=paper(palette, HEAD + round(ROW * (last + 1)), right=24, top=4))
    for gap in journey.gaps:
        if gap.before is not None and gap.before < rows:
            look = {"fillcolor": tint(palette.muted, 0.12), "line": {"width": 0}, "layer": "below"}
            ends = {"y0": y[gap.before - 1] + 0.28, "y1": y[gap.before] - 0.28} if gap.before else {"y0": -0.5, "y1": 0}
            figure.add_shape(type="rect", x0=-0.5, x1=right, **ends, **look)
    for lane in range(len(lanes)):
        line = {"color": palette.line, "width": 1}
        figure.add_shape(type="line", x0=lane, x1=lane, y0=-0.5, y1=last + 0.5, line=line, layer="below")
    x = [lanes.index(event.role) for event in events]
    way = {"color": tint(palette.muted, 0.5), "width": 1.5}
    figure.add_scatter(x=x, y=y, mode="lines", line=way, hoverinfo="skip")
    for symbol, places in (
        ("circle", [at for at in range(rows) if at not in wrong]),
        ("triangle-down", sorted(wrong & set(range(rows)))),
    ):
        if places:
            shown = [events[at] for at in places]
            colours = [palette.roles[_COLOURS[event.role]] for event in shown]
            figure.add_scatter(
                x=[x[at] for at in places],
                y=[y[at] for at in places],
                mode="markers",
                marker={"size": 12, "symbol": symbol, "color": colours, "line": {"width": 0}},
                hovertext=[hover(event, words, time) for event in shown],
                hoverinfo="text",
            )
    for at, event in enumerate(events):
        text = f"{at + 1}. {short_text(event, words)}" + (" ⚠" if at in wrong else "")
        note(figure, _in_lines(text), palette.text, x=len(lanes) - 0.5, y=y[at], align="left")
    names = [words(f"message.lane_{role}") for role in lanes]
    plain = {"showgrid": False, "fixedrange": True, "showline": False}
    across = {"tickvals": list(range(len(lanes))), "ticktext": names, "range": [-0.5, right], "side": "top"}
    down = {"tickvals": y, "ticktext": list(steps(journey, words))[:rows], "range": [last + 0.5, -0.5]}
    x_axis(figure, axis(palette, **across, **plain))
    y_axis(figure, axis(palette, **down, **plain))
    return figure


def _in_lines(text: str) -> str:
    """A label in lines that a phone has room for: English between words, Chinese between any two signs."""
    if text.isascii():
        return "<br>".join(map(esc, wrap(text, LETTERS)))
    lines, room = [""], LETTERS
    for sign in text:
        room -= 1 if sign.isascii() else 2
        if room < 0:
            lines, room = [*lines, ""], LETTERS - 2
        lines[-1] += sign
    return "<br>".join(esc(line.strip()) for line in lines)
