"""A Plotly figure as static SVG for a report: bars, lines, marks, bands, axes with their labels. No script, no Plotly.

Colours are variables with a light and a dark value, so that one file follows its reader's theme. What is drawn in no
report (heat maps) is not drawn here: such a figure is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pandas as pd

from idcore.presentation.reports.markup import Html, tag

SIZE = 12
WIDTH = 680.0
WIDE = re.compile("[\u1100-\uffdc]")  # letters as wide as they are high
_MARKUP = re.compile(r"<[^>]*>")
_RGBA = re.compile(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)")
DATE_STEPS = [
    *(1, 2, 5, 10, 20, 50, 100, 200, 500),
    *(1000 * s for s in (1, 2, 5, 10, 15, 30)),
    *(60_000 * m for m in (1, 2, 5, 10, 15, 30)),
    *(3_600_000 * h for h in (1, 2, 3, 6, 12)),
    *(86_400_000 * d for d in (1, 2, 7, 14, 30, 90, 365)),
]


class Pen:
    """Writes and draws in the colours of a light theme, each a CSS variable that has another value in the dark."""

    def __init__(self, dark: Mapping[str, str]) -> None:
        """`dark`: of each light colour the dark one."""
        self.names = {colour.lower(): (f"--k{place}", other) for place, (colour, other) in enumerate(dark.items())}

    def variables(self, dark: bool) -> str:
        """The variables of one theme, as CSS."""
        return "".join(f"{name}:{other if dark else colour};" for colour, (name, other) in self.names.items())

    def css(self, colour: str) -> tuple[str, float]:
        """A colour of the light theme as CSS, and its opacity."""
        alpha = 1.0
        if hit := _RGBA.fullmatch(colour.replace(" ", "")):
            colour, alpha = "#" + "".join(f"{int(part):02x}" for part in hit.groups()[:3]), float(hit[4])
        known = self.names.get(colour.lower())
        return (f"var({known[0]})" if known else colour), alpha

    def paint(self, fill: str | None = None, stroke: str | None = None, width: float = 0, dash: str = "") -> str:
        """How a shape looks, as the value of its style."""
        parts = []
        for name, colour in (("fill", fill), ("stroke", stroke)):
            value, alpha = self.css(colour) if colour else ("none", 1.0)
            parts.append(f"{name}:{value}" + (f";{name}-opacity:{alpha:g}" if alpha < 1 else ""))
        return ";".join(
            [*parts, *([f"stroke-width:{width:g}"] if stroke else []), *([f"stroke-dasharray:{dash}"] if dash else [])]
        )

    def text(
        self, x: float, y: float, text: str, colour: str, anchor: str = "middle", mono: bool = False, turn: float = 0
    ) -> Html:
        """Words at a place."""
        style = self.paint(colour) + (";font-family:ui-monospace,Menlo,Consolas,monospace" if mono else "")
        turned = f"rotate({turn:g} {x:.1f} {y:.1f})" if turn else None
        return tag(
            "text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, font_size=SIZE, style=style, transform=turned
        )

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: str, width: float, dash: str = "") -> Html:
        """A straight line."""
        style = self.paint(None, colour or "#e2e5ea", width, dash)
        return tag("line", x1=f"{x0:.1f}", y1=f"{y0:.1f}", x2=f"{x1:.1f}", y2=f"{y1:.1f}", style=style)

    def mark(self, point: tuple[float, float], size: float, fill: str, symbol: str) -> Html:
        """A dot, a triangle, or a line that stands."""
        x, y = point
        if symbol == "line-ns-open":
            return self.line(x, y - size, x, y + size, fill, 2)
        if symbol == "triangle-down":
            corners = f"{x - size:.1f},{y - size:.1f} {x + size:.1f},{y - size:.1f} {x:.1f},{y + size:.1f}"
            return tag("polygon", points=corners, style=self.paint(fill))
        return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size:g}", style=self.paint(fill))


def width_of(text: str, size: float = SIZE, mono: bool = False) -> float:
    """About how wide a text is."""
    wide = len(WIDE.findall(text))
    return size * (wide + (len(text) - wide) * (0.61 if mono else 0.54))


def number(value: Any) -> float | None:
    """A value of an axis as a number; an instant as milliseconds of its wall clock; None where there is none."""
    if value is None or value != value:
        return None
    if isinstance(value, (datetime, pd.Timestamp)) or hasattr(value, "astype"):
        if not isinstance(value, datetime) and not str(value.dtype).startswith("datetime"):
            return float(value)
        moment = pd.Timestamp(value)
        return (moment.tz_localize(None) - pd.Timestamp(0)) / pd.Timedelta(milliseconds=1)
    return float(value)


def is_date(value: Any) -> bool:
    """Whether a value is an instant."""
    return isinstance(value, datetime) or str(getattr(value, "dtype", "")).startswith("datetime")


# ---- axes


@dataclass(slots=True)
class Axis:
    """One axis of a figure: its range, its ticks, and where in the picture it is."""

    letter: str
    options: Any
    values: list[float] = field(default_factory=list)
    dated: bool = False
    zero: bool = False  # bars begin there
    low: float = 0.0
    high: float = 1.0
    start: float = 0.0  # pixels
    end: float = 1.0

    def settle(self) -> None:
        """The range: what the figure asks for, or what its values need."""
        asked = self.options.range
        if asked is not None:
            self.low, self.high = (number(value) or 0.0 for value in asked)
            return
        low, high = (min(self.values), max(self.values)) if self.values else (0.0, 1.0)
        if self.zero or self.options.rangemode == "tozero":
            low, high = min(0.0, low), max(0.0, high)
        room = (high - low or 1.0) * (0.04 if self.letter == "y" and not self.zero else 0.0)
        self.low, self.high = low - (room if low else 0.0), high + (room or (0.0 if high > low else 1.0))
        if self.options.autorange == "reversed":
            self.low, self.high = self.high + 0.5, self.low - 0.5

    def at(self, value: float) -> float:
        """Where a value is, in pixels."""
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and labels."""
        options = self.options
        if options.visible is False:
            return []
        if options.tickvals is not None:
            texts = options.ticktext if options.ticktext is not None else [f"{value:,}" for value in options.tickvals]
            return [(number(value) or 0.0, str(text)) for value, text in zip(options.tickvals, texts, strict=True)]
        low, high = sorted((self.low, self.high))
        room = abs(self.end - self.start) / (84 if self.letter == "x" else 42)
        most = max(2, min(int(options.nticks or 8), int(room)))
        return list(dates(low, high, most) if self.dated else numbers(low, high, most))


def numbers(low: float, high: float, most: int) -> Iterator[tuple[float, str]]:
    """Round numbers between two."""
    least = (high - low) / most or 1.0
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= least * 0.999)
    value = math.ceil(low / step - 1e-9) * step
    while value <= high + step * 1e-6:
        yield value, f"{value:,.0f}" if step >= 1 else f"{value:,.{-math.floor(math.log10(step))}f}"
        value += step


def dates(low: float, high: float, most: int) -> Iterator[tuple[float, str]]:
    """Round times between two; the date is below the first of each day."""
    step = next((step for step in DATE_STEPS if (high - low) / step <= most), DATE_STEPS[-1])
    form = "%Y-%m-%d" if step >= 86_400_000 else "%H:%M" if step >= 60_000 else "%H:%M:%S"
    value, day = math.ceil(low / step) * step, ""
    while value <= high:
        moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=value)
        label = moment.strftime(form) + (f".{moment.microsecond // 1000:03d}" if step < 1000 else "")
        if step < 86_400_000 and day != (day := moment.strftime("%Y-%m-%d")):
            label += f"\n{day}"
        yield float(value), label
        value += step


# ---- the picture


@dataclass(slots=True)
class Sheet:
    """A figure with its axes in place."""

    figure: Any
    pen: Pen
    width: float
    height: float
    axes: dict[str, Axis] = field(default_factory=dict)
    edges: tuple[float, float, float, float] = (0, 0, 0, 0)  # left, top, right, bottom of what all axes share

    def place(self, reference: str, value: Any) -> float:
        """A place of a shape or an annotation: on an axis, on its stretch, or on the whole paper."""
        letter = reference[0] if reference != "paper" else ""
        if reference.endswith("domain"):
            axis = self.axes[reference.split()[0]]
            return axis.start + float(value) * (axis.end - axis.start)
        assert letter
        return self.axes[reference].at(number(value) or 0.0)

    def paper(self, letter: str, value: Any) -> float:
        """A place on the whole paper."""
        left, top, right, bottom = self.edges
        return left + float(value) * (right - left) if letter == "x" else bottom - float(value) * (bottom - top)

    def spot(self, letter: str, reference: str | None, value: Any) -> float:
        """The same of any reference."""
        reference = reference or letter
        return self.paper(letter, value) if reference == "paper" else self.place(reference, value)


def svg(figure: Any, alt: str, pen: Pen) -> Html:
    """The figure as one SVG element; `alt` is its text for who does not see it."""
    sheet = _laid_out(figure, pen)
    body = [*_shapes(sheet, below=True), *_grid(sheet), *_traces(sheet), *_shapes(sheet, below=False), *_notes(sheet)]
    return tag(
        "svg",
        *body,
        viewBox=f"0 0 {sheet.width:.0f} {sheet.height:.0f}",
        width=f"{sheet.width:.0f}",
        role="img",
        aria_label=alt,
    )


def _laid_out(figure: Any, pen: Pen) -> Sheet:
    """The axes with their ranges and places: margins are as wide as the labels need."""
    layout = figure.layout
    sheet = Sheet(figure, pen, WIDTH, float(layout.height))
    for name in layout:
        if re.fullmatch(r"[xy]axis\d*", name):
            key = name.replace("axis", "")
            sheet.axes[key] = Axis(key[0], layout[name])
    for trace in figure.data:
        _measure(trace, sheet.axes[trace.xaxis or "x"], sheet.axes[trace.yaxis or "y"])
    for axis in sheet.axes.values():
        shared = axis.options.matches
        if shared:
            sheet.axes[shared].values += axis.values
            sheet.axes[shared].dated |= axis.dated
    for axis in sheet.axes.values():
        if axis.options.matches:
            source = sheet.axes[axis.options.matches]
            axis.values, axis.dated = source.values, source.dated
        axis.start, axis.end = (0.0, WIDTH) if axis.letter == "x" else (sheet.height, 0.0)
        axis.settle()
    _margins(sheet)
    return sheet


def _measure(trace: Any, x: Axis, y: Axis) -> None:
    """The values that the axes of a trace have to hold."""
    if trace.type not in ("bar", "scatter"):
        raise TypeError(f"a report draws no {trace.type}")
    for axis, values in ((x, trace.x), (y, trace.y)):
        values = list(values if values is not None else ())
        axis.dated |= any(is_date(value) for value in values)
        axis.values += [figure for value in values if (figure := number(value)) is not None]
    if trace.type == "bar":
        (x if trace.orientation == "h" else y).zero = True


def _margins(sheet: Sheet) -> None:
    """Room for labels and titles, then the place of each axis within what is left."""
    margin, left, bottom = sheet.figure.layout.margin, 0.0, 0.0
    for axis in sheet.axes.values():
        labels = [line for _, text in axis.ticks() if _shows(axis) for line in _plain(text).split("\n")]
        title = _title(axis)
        if axis.letter == "y":
            need = max((width_of(text, SIZE, _mono(axis)) for text in labels), default=0.0) + 8
            left = max(left, need + (20 if title else 0))
        elif labels or title:
            lines = max((text.count("\n") + 1 for _, text in axis.ticks()), default=0) if _shows(axis) else 0
            bottom = max(bottom, lines * 16 + 6 + (22 if title else 0))
    top = max(float(margin.t or 0), 6.0)
    sheet.height += bottom if sheet.height < 200 else 0.0
    edges = (left + float(margin.l or 0), top, sheet.width - max(float(margin.r or 0), 24.0), sheet.height - bottom - 4)
    sheet.edges = edges
    for axis in sheet.axes.values():
        low, high = axis.options.domain or (0.0, 1.0)
        axis.start, axis.end = sheet.paper(axis.letter, low), sheet.paper(axis.letter, high)


def _shows(axis: Axis) -> bool:
    return axis.options.visible is not False and axis.options.showticklabels is not False


def _mono(axis: Axis) -> bool:
    return "monospace" in str(axis.options.tickfont.family)


def _title(axis: Axis) -> str:
    return str(axis.options.title.text or "") if axis.options.visible is not False else ""


def _plain(text: Any) -> str:
    """A label without the marks that Plotly reads as HTML."""
    return unescape(_MARKUP.sub("", str(text).replace("<br>", " ")))


def _grid(sheet: Sheet) -> Iterator[Html]:
    """Lines, labels and titles of the axes."""
    left, _, right, bottom = sheet.edges
    for axis in sheet.axes.values():
        options = axis.options
        quiet = options.tickfont.color or "#5b677a"
        for value, label in axis.ticks():
            if not min(axis.low, axis.high) <= value <= max(axis.low, axis.high):
                continue
            at = axis.at(value)
            if axis.letter == "y":
                if options.showgrid is not False:
                    yield sheet.pen.line(left, at, right, at, options.gridcolor, 1)
                for place, line in enumerate(label.split("\n") if _shows(axis) else ()):
                    yield sheet.pen.text(left - 8, at + 4 + 14 * place, _plain(line), quiet, "end", _mono(axis))
            elif _shows(axis):
                base = sheet.axes["y" + (options.anchor or "y")[1:]].start
                yield sheet.pen.line(at, base, at, base + 4, options.gridcolor, 1)
                for place, line in enumerate(label.split("\n")):
                    half = width_of(_plain(line)) / 2 + 2  # at an edge it moves inwards: nothing is cut
                    middle = min(max(at, half), sheet.width - half)
                    yield sheet.pen.text(middle, base + 16 + 15 * place, _plain(line), quiet)
        if title := _title(axis):
            if axis.letter == "y":
                yield sheet.pen.text(14, (axis.start + axis.end) / 2, title, quiet, turn=-90)
            else:
                yield sheet.pen.text((left + right) / 2, sheet.height - 6, title, quiet)
    yield sheet.pen.line(left, bottom, right, bottom, "#e2e5ea", 1)


def _shapes(sheet: Sheet, below: bool) -> Iterator[Html]:
    """Bands and lines that are not data."""
    for shape in sheet.figure.layout.shapes:
        if (shape.layer == "below") is not below:
            continue
        x0, x1 = (sheet.spot("x", shape.xref, value) for value in (shape.x0, shape.x1))
        y0, y1 = (sheet.spot("y", shape.yref, value) for value in (shape.y0, shape.y1))
        line = shape.line
        if shape.type == "line":
            yield sheet.pen.line(x0, y0, x1, y1, line.color, line.width or 1, "2 3" if line.dash else "")
            continue
        box = {"x": min(x0, x1), "y": min(y0, y1), "width": max(abs(x1 - x0), 1.0), "height": abs(y1 - y0)}
        style = sheet.pen.paint(shape.fillcolor, line.color, line.width or 0)
        yield tag("rect", **{name: f"{value:.1f}" for name, value in box.items()}, style=style)


def _notes(sheet: Sheet) -> Iterator[Html]:
    """Words in the picture."""
    for note in sheet.figure.layout.annotations:
        x = sheet.spot("x", note.xref, note.x) + float(note.xshift or 0)
        y = sheet.spot("y", note.yref, note.y) - float(note.yshift or 0)
        text, size = _plain(note.text), float(note.font.size or SIZE)
        if note.textangle:  # turned to read upwards: its end is at the top
            yield sheet.pen.text(x - 4, y, text, note.font.color, "end", turn=float(note.textangle))
            continue
        y += {"top": size, "bottom": -3}.get(note.yanchor, size / 3)
        anchor = {"left": "start", "right": "end"}.get(note.xanchor, "middle")
        yield sheet.pen.text(x, y, text, note.font.color, anchor)


def _traces(sheet: Sheet) -> Iterator[Html]:
    for trace in sheet.figure.data:
        x, y = sheet.axes[trace.xaxis or "x"], sheet.axes[trace.yaxis or "y"]
        yield from _bars(sheet, trace, x, y) if trace.type == "bar" else _scatter(sheet, trace, x, y)


def _each(values: Any, count: int) -> list[Any]:
    """One value for each mark, where all share one as well."""
    return [values] * count if values is None or isinstance(values, (str, int, float)) else list(values)


def _bars(sheet: Sheet, trace: Any, x: Axis, y: Axis) -> Iterator[Html]:
    """Bars with their numbers; one that is cut short has a broken edge."""
    level = trace.orientation == "h"
    along, across = (x, y) if level else (y, x)
    lengths, places = (trace.x, trace.y) if level else (trace.y, trace.x)
    count = len(places)
    hatched = _each(trace.marker.pattern.shape, count)
    fills, texts = _each(trace.marker.color, count), _each(trace.text, count)
    wide = float(_each(trace.width, count)[0] or 0.8)
    for length, place, fill, cut, text in zip(lengths, places, fills, hatched, texts, strict=True):
        middle = number(place) or 0.0
        base, end = along.at(0.0), along.at(number(length) or 0.0)
        one, other = across.at(middle - wide / 2), across.at(middle + wide / 2)
        low, thick = min(one, other), abs(other - one)
        style = sheet.pen.paint(fill, fill, 1, "4 3") + ";fill-opacity:.4" if cut else sheet.pen.paint(fill)
        box = (min(base, end), low, abs(end - base), thick) if level else (low, min(base, end), thick, abs(end - base))
        left, top, width, height = (f"{value:.1f}" for value in box)
        yield tag("rect", x=left, y=top, width=width, height=height, rx="2", style=style)
        if text and level:
            yield sheet.pen.text(end + 6, low + thick / 2 + 4, _plain(text), trace.textfont.color, "start")


def _scatter(sheet: Sheet, trace: Any, x: Axis, y: Axis) -> Iterator[Html]:
    """Lines, cut where a value is missing; marks and their words."""
    points = [
        None if (a := number(one)) is None or (b := number(other)) is None else (x.at(a), y.at(b))
        for one, other in zip(trace.x, trace.y, strict=True)
    ]
    mode = str(trace.mode)
    if "lines" in mode:
        pen, parts = False, []
        for point in points:
            if point is not None:
                parts.append(f"{'L' if pen else 'M'}{point[0]:.1f} {point[1]:.1f}")
            pen = point is not None
        style = sheet.pen.paint(None, trace.line.color, trace.line.width or 2, "2 3" if trace.line.dash else "")
        yield tag("path", d="".join(parts), style=f"{style};stroke-linejoin:round;stroke-linecap:round")
    if "markers" in mode:
        sizes = _each(trace.marker.size or 6, len(points))
        for point, fill, size in zip(points, _each(trace.marker.color, len(points)), sizes, strict=True):
            if point is not None:
                yield sheet.pen.mark(point, float(size) / 2, fill, str(trace.marker.symbol))
    if "text" in mode:
        for point, text in zip(points, _each(trace.text, len(points)), strict=True):
            if point is not None and text:
                yield sheet.pen.text(point[0], point[1] - 7, _plain(text), trace.textfont.color)
