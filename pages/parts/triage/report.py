"""Findings for a ticket: one of them as Markdown, all of a scan as Markdown or as one HTML file. Draws no page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import plotly.graph_objects as go

from idcore.html import findings
from idcore.reports.markdown import escaped
from idcore.reports.markup import Html, emphasised, link, tag
from idcore.reports.page import page
from idcore.reports.svg import Pen, svg
from idcore.runs import Run
from idcore.triage import (
    finding_report,
    finding_rows,
    finding_texts,
    run_texts,
    sentences,
)
from idcore.triage.finding_rows import Kind, Row
from idcore.triage.processes import sorted_processes
from idcore.triage.time_range import ALL_TIMES
from pages.parts import cache, roles, scans
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
        download(label, data, file_name(run, view, kind), key=f"report-{kind}", mime=mime)


def file_name(run: Run, view: View, kind: str) -> str:
    """A name for the file that a person would choose: what was scanned, and the day."""
    title = run_texts.title_of(run.title, run.options, view.words, run.summary)
    slug = re.sub(r"[\W_]+", "-", title.lower()).strip("-")[:60].strip("-") or run.name
    return f"rocketmq-ids-{slug}-{run.created.astimezone(view.zone):%Y-%m-%d}.{kind}"


def facts(run: Run, view: View) -> list[str]:
    """What was scanned, and with which versions."""
    summary, words = run.summary or {}, view.words
    versions = summary.get("versions") or {}
    lines = [
        " · ".join(
            [
                words.count("file", summary.get("files", 0)),
                words.bytes(summary.get("text_bytes", 0)),
                words.count("occurrence", summary.get("ids", 0)),
                view.minute(run.created),
            ]
        ),
        *shared.notes(run, view),
        words("report.versions", versions=", ".join(f"{name} {number}" for name, number in versions.items())),
    ]
    return [line for line in lines if line]


# ---- Markdown


def ticket(part: Kind | tuple[int, Row], run: Run, view: View, address: str) -> str:
    """One finding, or one kind of many, for a ticket. `address`: of the page of findings with this scan."""
    *text, last = finding_report.section(part, view, diagnosis.log_lines(run), address)
    store = scans.store_of(run)
    named = [escaped(view.words("report.scan", title=store))] if store else []
    return "\n\n".join([*text, *named, last]) + "\n"


def markdown(run: Run, view: View, address: str = "") -> str:
    """The report as Markdown."""
    words, found, lines = view.words, cache.frame(run, "findings"), diagnosis.log_lines(run)
    text = [
        f"# {escaped(run_texts.title_of(run.title, run.options, words))}",
        finding_texts.findings_sentence(found, run.summary or {}, words),
        *([words("report.link", address=address)] if address else []),
    ]
    for part in finding_report.parts_of(finding_rows.kinds(found)):
        text += finding_report.section(part, view, lines, address)
    text.append("---\n\n" + "\n".join(f"- {escaped(line)}" for line in facts(run, view)))
    return "\n\n".join(text) + "\n"


# ---- HTML


def html(run: Run, view: View, address: str = "") -> str:
    """The report as one HTML file that needs nothing else, with the console's pictures."""
    view = replace(view, theme="light")  # its colours have their dark ones in the style
    words, found = view.words, cache.frame(run, "findings")
    title = run_texts.title_of(run.title, run.options, words)
    said = finding_texts.findings_sentence(found, run.summary or {}, words)
    kinds, lines = finding_rows.kinds(found), diagnosis.log_lines(run)
    body: list[Html | None] = [
        tag("h1", title),
        tag("p", emphasised(said)),
        tag("p", link(words("report.open"), address), class_="faint") if address else None,
    ]
    body += _registered("findings", run, view)
    for number, part in enumerate(finding_report.parts_of(kinds)):
        if isinstance(part, Kind):
            body += findings.kind_section(part, lines, view, address)
        else:
            made = diagnosis.figure_of(part[1], run, view) if number < MOST_DRAWN else None
            picture = None if made is None else _drawn(*made, made[1])
            body += findings.finding_section(part, lines, view, address, picture)
    body += _overview(run, view)
    body += [tag("h2", words("report.about")), tag("ul", *(tag("li", line) for line in facts(run, view)))]
    return page(title, body, PEN, words)


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
        yield _drawn(figure, alt, sentences.producers(cache.totals(run), cache.rows(run, "hosts"), view))


def _counters(run: Run, view: View) -> Iterator[Html]:
    processes = cache.frame(run, "processes")
    busiest: Sequence[Mapping[Any, Any]] = []
    if not processes.empty:
        busiest = sorted_processes(processes, "ids").head(MOST_COUNTERS).to_dict("records")
    for row in busiest:
        points = cache.points(run, dict(row))
        if len(points) > 1:
            figure, _ = counter_charts.sawtooth(points, view, missing=int(row["missing"]))
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
