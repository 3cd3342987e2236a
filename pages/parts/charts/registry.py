"""Charts that register themselves: on which page they are, from which tables, under which words. Draws nothing itself.

A module of this folder registers its charts at its end. The page and the report of a scan read `CHARTS`, so a new chart
is its registration and its two messages; nothing else names it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

import pandas as pd
import plotly.graph_objects as go

from idcore.presentation.triage.time_range import TimeRange
from pages.parts.view import View

Tables = Callable[[str], pd.DataFrame]  # a table of a scan by its name; the page may have narrowed it


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of a page of one scan.

    `words` is the key of its name, with `_alt` behind it that of its text for screen readers. `draw` gives None where
    there is nothing to show. A box along the x axis of the figure is a time range.
    """

    name: str
    page: str
    words: str
    draw: Callable[[Tables, View, TimeRange], go.Figure | None]
    data: Callable[[Tables], pd.DataFrame]  # for a file
    headed: bool = True  # the page has its name above it


CHARTS: dict[str, Chart] = {}


def register(chart: Chart) -> None:
    """Makes a chart known."""
    if chart.name in CHARTS:
        raise ValueError(f"{chart.name} is registered already")
    CHARTS[chart.name] = chart


def drawn(page: str, tables: Tables, view: View, shown: TimeRange) -> Iterator[tuple[Chart, go.Figure]]:
    """The registered charts of a page that have something to show."""
    folder = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(import_module(folder).__path__, f"{folder}."):
        import_module(module.name)
    for chart in CHARTS.values():
        if chart.page == page and (figure := chart.draw(tables, view, shown)) is not None:
            yield chart, figure
