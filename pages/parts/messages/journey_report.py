"""The journey of a message for a ticket: as Markdown, and as one HTML file with its picture. Looks nothing up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import streamlit as st

from idcore import journey as journeys
from idcore.catalogue import upper
from idcore.html import answers
from idcore.html import journeys as tables
from idcore.journey import Journey
from idcore.lookup import Answer
from idcore.reports.markup import Html, emphasised, link, tag
from idcore.reports.page import page
from idcore.reports.svg import svg
from idcore.safe_text import json_text
from pages.parts import browser
from pages.parts.charts import journey as chart_of
from pages.parts.triage import report
from pages.parts.view import View, absolute
from pages.parts.widgets import download


def takeaway(made: Journey, known: Sequence[Answer], sentence: str, view: View) -> None:
    """The ways out of the page: into a ticket, as a report, as JSON."""
    words = view.words
    kept = {name: st.query_params.get(name) for name in ("run", "cluster", "store", "which", "topic")}
    address = absolute("message", id=made.id, **kept)
    name = f"rocketmq-ids-message-{made.id[-12:].lower()}-{view.now().astimezone(view.zone):%Y-%m-%d}"
    text = tables.markdown(made, known, sentence, view, address)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        browser.copy_button(text, words, "journey")
        for label, kind, mime, body in (
            ("findings.markdown", "md", "text/markdown", text),
            ("findings.html", "html", "text/html", html(made, known, sentence, view, address)),
            ("message.json", "json", "application/json", json_text(journeys.row_of(made), indent=2) + "\n"),
        ):
            download(words(label), body.encode(), f"{name}.{kind}", key=f"journey-{kind}", mime=mime)


def html(made: Journey, known: Sequence[Answer], sentence: str, view: View, address: str) -> str:
    """One file that needs nothing else."""
    view = replace(view, theme="light", away=True)  # its colours have their dark ones in the style
    words = view.words
    title = f"{words('page.message')} {made.id}"
    return page(title, [tag("h1", title), *_body(made, known, sentence, view, address)], report.PEN, words)


def _body(made: Journey, known: Sequence[Answer], sentence: str, view: View, address: str) -> Iterator[Html]:
    words = view.words
    yield tag("p", emphasised(sentence))
    if address:
        yield tag("p", link(words("report.open"), address), class_="faint")
    for answer in known:
        for record in dict.fromkeys(verdict.record for verdict in answer.fate or ()):
            yield answers.fates(answer, record, view, st.query_params.get("cluster")) or Html("")
    yield tag("h2", words("message.journey"))
    figure = chart_of.sequence(made, view, view.instant)
    yield tag("figure", svg(figure, words("message.alt"), report.PEN))
    yield from tables.oddities(made, view, "h3")
    yield tables.events(made, view)
    for answer in known:
        if answer.reason:
            yield tag("p", upper(answers.reason(answer, view)), class_="faint")
        if answer.trace is not None:
            yield answers.traces(answer.trace, view)
    yield tag("p", journeys.found_text(made, words), class_="faint")
