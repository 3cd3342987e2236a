"""Findings for a ticket: one of them as Markdown, all of a scan as Markdown or as one HTML file. Draws no page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from idcore.presentation.html import findings
from idcore.presentation.reports import roles
from idcore.presentation.reports.markup import Html, tag
from idcore.presentation.reports.page import page
from idcore.presentation.reports.svg import Pen, svg
from idcore.presentation.triage import finding_lines, finding_report, finding_rows, run_texts, sentences
from idcore.presentation.triage.finding_lines import LogLines
from idcore.presentation.triage.finding_rows import Row
from idcore.presentation.triage.processes import assumed, is_countable, sorted_processes
from idcore.presentation.triage.time_range import ALL_TIMES
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.charts import brokers as broker_charts
from pages.parts.charts import counters as counter_charts
from pages.parts.charts import producers as producer_charts
from pages.parts.charts.registry import drawn
from pages.parts.triage import diagnosis, shared
from pages.parts.view import View
from pages.parts.widgets import download

MOST_DRAWN = 20  # findings with a picture
MOST_COUNTERS = 3  # processes with a picture of their counter
MOST_BARS = 10
COUNTER_HEIGHT = 420
PEN = Pen(roles.dark_colours())


def buttons(run: Run, view: View, address: str) -> None:
    """The report of a scan in both forms."""
    for kind, make, mime in (("md", markdown, "text/markdown"), ("html", html, "text/html")):
        label = view.words("findings.markdown" if kind == "md" else "findings.html")
        data = lambda make=make: make(run, view, address).encode()  # type: ignore[misc]  # noqa: E731
        download(label, data, run_texts.report_name(run, view, kind), key=f"report-{kind}", mime=mime)


def markdown(run: Run, view: View, address: str = "") -> str:
    """The report as Markdown."""
    findings, notes = cache.frame(run, "findings"), shared.notes(run, replace(view, away=True))
    return finding_report.markdown(run, findings, _lines(run, findings), notes, view, address)


def _lines(run: Run, findings: pd.DataFrame) -> LogLines:
    """The log lines of all findings that a report shows."""
    parts = finding_report.parts_of(finding_rows.kinds(findings))
    return diagnosis.log_lines(run, (row for part in parts for row in finding_lines.rows_of(part)))


# ---- HTML


def html(run: Run, view: View, address: str = "") -> str:
    """The report as one HTML file that needs nothing else, with the console's pictures."""
    view = replace(view, theme="light")  # its colours have their dark ones in the style
    found, notes = cache.frame(run, "findings"), shared.notes(run, replace(view, away=True))
    lines = _lines(run, found)

    def picture(row: Row) -> Html | None:
        figure = diagnosis.figure_of(row, run, view)
        return None if figure is None else _drawn(*figure, figure[1])

    title = run_texts.plain_title(run, view.words)
    body = [
        *findings.report_head(title, run, found, view, address),
        *_registered("findings", run, view),
        *findings.report_sections(found, lines, view, address, picture, MOST_DRAWN),
        *_overview(run, view),
        *findings.report_foot(finding_report.facts(run, notes, view), view.words),
    ]
    return page(title, body, PEN, view.words)


def _drawn(figure: go.Figure, alt: str, caption: str) -> Html:
    return tag("figure", svg(figure, alt, PEN), tag("figcaption", caption.replace("**", "")))


def _registered(page: str, run: Run, view: View) -> Iterator[Html]:
    """The charts that registered themselves for a page."""
    for chart, figure in drawn(page, partial(cache.frame, run), view, ALL_TIMES):
        yield _drawn(figure, view.words(f"{chart.words}_alt"), view.words(chart.words))


def _overview(run: Run, view: View) -> Iterable[Html]:
    """Who generated the ids, how the busiest counters ran, which brokers stored them."""
    for key, address, draw in _OVERVIEW:
        figures = [*draw(run, view), *_registered(address, run, view)]
        if figures:
            yield tag("h2", view.words(key))
            yield from figures


def _producers(run: Run, view: View) -> Iterator[Html]:
    hosts, words = cache.frame(run, "hosts"), view.words
    if not hosts.empty:
        beyond, marks = shared.beyond(run, hosts, "ids"), shared.host_marks(run, hosts.head(MOST_BARS), words)
        figure = producer_charts.bars(hosts, "ids", view, limit=MOST_BARS, small=True, beyond=beyond, marks=marks)
        alt = words("producers.alt", hosts=words.count("host", cache.rows(run, "hosts")))
        said = sentences.producers(
            cache.totals(run), cache.rows(run, "hosts"), view, cache.all_judged(run), run.summary
        )
        yield _drawn(figure, alt, said)


def _counters(run: Run, view: View) -> Iterator[Html]:
    processes = cache.frame(run, "processes")
    busiest: Sequence[Mapping[Any, Any]] = []
    if not processes.empty:
        busiest = sorted_processes(processes, "ids").head(MOST_COUNTERS).to_dict("records")
    for row in busiest:
        points = cache.points(run, dict(row))
        points = points if is_countable(row) else points.assign(missing_before=0)
        if len(points) > 1:
            figure, _ = counter_charts.sawtooth(
                points, view, missing=int(row["missing"]), assumed=assumed(row, view.words)
            )
            figure.update_layout(height=COUNTER_HEIGHT)
            said = sentences.process(dict(row), view, points)
            yield _drawn(figure, said.replace("**", ""), said)


def _brokers(run: Run, view: View) -> Iterator[Html]:
    brokers, words = cache.frame(run, "brokers"), view.words
    if not brokers.empty:
        figure = broker_charts.totals(brokers, view, limit=MOST_BARS)
        alt = words("brokers.alt", brokers=words.count("broker", len(brokers)))
        yield _drawn(figure, alt, sentences.brokers(brokers, view))


_OVERVIEW: tuple[tuple[str, str, Callable[[Run, View], Iterator[Html]]], ...] = (
    ("pictures.producers", "producers", _producers),
    ("report.counters", "counters", _counters),
    ("pictures.brokers", "brokers", _brokers),
)
