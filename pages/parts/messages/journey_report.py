"""The journey of a message for a ticket: as Markdown, and as one HTML file with its picture. Looks nothing up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from idcore.answers import journey as journeys
from idcore.answers.journey import Journey
from idcore.answers.lookup import Answer
from idcore.base.safe_text import json_text
from idcore.presentation.html import journeys as tables
from idcore.presentation.reports.page import page
from idcore.presentation.reports.svg import svg
from pages.parts import browser
from pages.parts.charts import journey as chart_of
from pages.parts.triage import report
from pages.parts.view import View, absolute
from pages.parts.widgets import download


def takeaway(journey: Journey, known: Sequence[Answer], sentence: str, view: View) -> None:
    """The ways out of the page: into a ticket, as a report, as JSON."""
    words = view.words
    kept = {name: st.query_params.get(name) for name in ("run", "cluster", "store", "which", "topic")}
    address = absolute("message", id=journey.id, **kept)
    name = f"rocketmq-ids-message-{journey.id[-12:].lower()}-{view.now().astimezone(view.zone):%Y-%m-%d}"
    text = tables.markdown(journey, known, sentence, view, address)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        browser.copy_button(text, words, "journey")
        for label, kind, mime, body in (
            ("findings.markdown", "md", "text/markdown", text),
            ("findings.html", "html", "text/html", html(journey, known, sentence, view, address)),
            ("message.json", "json", "application/json", json_text(journeys.row_of(journey), indent=2) + "\n"),
        ):
            download(words(label), body.encode(), f"{name}.{kind}", key=f"journey-{kind}", mime=mime)


def html(journey: Journey, known: Sequence[Answer], sentence: str, view: View, address: str) -> str:
    """One file that needs nothing else."""
    view = replace(view, theme="light", away=True)  # its colours have their dark ones in the style
    picture = svg(chart_of.sequence(journey, view, view.instant), view.words("message.alt"), report.PEN)
    ways = tables.Ways(address, st.query_params.get("cluster"))
    body = tables.report(journey, known, sentence, view, ways, picture)
    return page(f"{view.words('page.message')} {journey.id}", body, report.PEN, view.words)
