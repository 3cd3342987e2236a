"""Findings as people read them: what, who, how sure, what to do, what proves it and what would disprove it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.answers.findings.registry import rules
from idcore.base.catalogue import Words
from idcore.base.safe_text import printable
from idcore.presentation import documents
from idcore.presentation.html import findings as html
from idcore.presentation.reports.markup import Html, fact_list, link
from idcore.presentation.triage import (
    evidence_tables,
    evidence_texts,
    finding_lines,
    finding_report,
    finding_rows,
    finding_texts,
    line_filter,
    lines,
    strokes,
)
from idcore.presentation.triage.finding_lines import LogLines, lines_before
from idcore.presentation.triage.finding_rows import Kind, Part, Row, evidence_of, onward, tokens
from idcore.presentation.triage.findings_in_range import Known
from idcore.presentation.triage.processes import assumed, find_process, process_key
from idcore.presentation.triage.scope import UNLIMITED
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.runs.runs import Run
from idcore.server import jobs
from pages.parts import cache
from pages.parts.browser import copy_button
from pages.parts.charts import findings as charts
from pages.parts.triage import lines as run_lines
from pages.parts.triage import shared
from pages.parts.view import View, view
from pages.parts.widgets import chart, page_link, page_of, pager, show_html

ROWS = 20  # of the table of a kind
ICONS = {"counters": ":material/show_chart:", "producers": ":material/dns:", "brokers": ":material/storage:"}


@dataclass(frozen=True, slots=True)
class Slots:
    """Where on a card stands what needs log lines: it comes when every card is there."""

    part: Part
    key: str
    ticket: DeltaGenerator
    sides: DeltaGenerator | None = None


def with_lines(cards: Sequence[Slots], run: Run, view: View, address: str) -> None:
    """The lines around the widest gap of each card, and the text for a ticket.

    `address`: of the page of findings with this scan.
    """
    rows = [row for card in cards for row in finding_lines.rows_of(card.part)]
    log, clock = log_lines(run, rows), shared.log_clock(run, view)
    for card in cards:
        if card.sides is not None and (sides := html.sides(card.part, log, view)) is not None:
            with card.sides:
                show_html(sides)
        with card.ticket:
            copy_button(finding_report.ticket(card.part, run, log, view, address, clock), view.words, card.key)


def kind_card(kind: Kind, run: Run, view: View) -> Slots:
    """Many findings of one kind: the sentence once, whom they are about in a table."""
    key = f"kind-{kind.severity}-{kind.code}-{kind.variant}"
    with st.container(border=True, gap="small"):
        for part in html.kind_card(kind, view):
            show_html(part)
        in_sight, _ = page_of(kind.rows, f"{key}-page", ROWS)
        show_html(html.kind_table(replace(kind, rows=in_sight), run.name, view))
        pager(kind.rows, f"{key}-page", ROWS)
        for text in html.not_listed(kind, view):
            show_html(text)
        has_gap = any(finding_rows.gap_of(row) is not None for row in finding_lines.rows_of(kind))
        sides = st.container() if has_gap else None
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            slots = Slots(kind, key, st.container(width="content"), sides)
            meaning(kind.code, view.words)
    return slots


def ways_to_gap(findings: pd.DataFrame, run: Run, view: View) -> None:
    """Below the headline: to the lines on both sides of the gap that it names, and to the counter of that process."""
    if (gap := finding_texts.gap_in_headline(findings)) is None:
        return
    with st.container(horizontal=True, gap="medium"):
        asked = UNLIMITED | finding_rows.lines_of(*gap, run.name)
        page_link("lines", view.words("findings.to_gap"), icon=":material/segment:", **asked)
        for page, shown_by in onward(gap[1])[:1]:
            page_link(page, view.words(f"findings.to_{page}"), icon=ICONS[page], run=run.name, **shown_by)


def meaning(code: str, words: Words) -> None:
    """A link to what the documents say of a kind of finding."""
    if documents.names():
        page_link("help", words("help.finding"), icon=":material/help:", doc="findings", part=code)


def finding_card(
    number: int, row: Row, run: Run, view: View, *, opened: bool = False, in_range: TimeRange = ALL_TIMES
) -> Slots:
    """A finding, what to do, what would disprove it; its evidence is folded, and not read before it is opened."""
    words = view.words
    with st.container(border=True, gap="small"):
        show_html(html.head(row, view))
        sides = st.container() if finding_rows.gap_of(row) is not None else None
        for part in html.card(row, view):
            show_html(part)
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            slots = Slots((number, row), str(number), st.container(width="content"), sides)
            if (fates := finding_rows.fates_of(row, run.name)) is not None:
                page_link("fate", words("findings.to_fates"), icon=":material/mark_email_unread:", **UNLIMITED | fates)
            if fates is None or tokens(evidence_of(row)):
                asked = UNLIMITED | finding_rows.lines_of(number, row, run.name)
                page_link("lines", words("findings.lines_link"), icon=":material/segment:", **asked)
            meaning(row["code"], words)
        shown = st.expander(words("findings.evidence"), expanded=opened, key=f"evidence-{number}", on_change="rerun")
        if shown.open:
            with shown:
                proof(row, run, view, str(number), in_range)
    return slots


def proof(row: Row, run: Run, view: View, key: str, in_range: TimeRange = ALL_TIMES) -> None:
    """The picture, the ids, the lines around them, where to look on."""
    words, evidence = view.words, evidence_of(row)
    if (drawn := figure_of(row, run, view, in_range)) is not None:
        drawn[0].update_layout(clickmode="event+select")
        if marked := line_filter.last_clicked(chart(*drawn, None, f"proof-{key}", select=True)):
            run_lines.clicked(run, view, marked, key)
    ids = evidence_tables.id_table(evidence, view, anatomy, finding_rows.assumed_of(row))
    for table in (ids, evidence_tables.copies(evidence, view, anatomy)):
        if table is not None:
            show_html(table)
    label, shown = log_lines(run).of_finding(row, words)
    if not shown:  # the places are not known: they are looked for
        named = [f"{evidence.label}={text}" for text in tokens(evidence)] if evidence.label else []
        around = lines.around(run, named) or lines.around(run, tokens(evidence), lines_before(row))
        label, shown = words("findings.lines"), "\n".join(dict.fromkeys(around))
    if shown:
        st.caption(label)
        st.code(printable(shown), language=None, wrap_lines=True)
    elif jobs.ready() and tokens(evidence) and run.store is None:
        run_lines.preview(run, view, {"finding": key})
    elif (folder := run.store) is not None and evidence.ids:
        show_html(html.in_store(evidence.ids[: lines.MOST_LINES], folder, view))
    elif evidence.ids:
        st.caption(words("findings.no_lines"))
    if (facts := fact_list(evidence_texts.facts(evidence, view, finding_texts.said_figures(row)))) is not None:
        show_html(facts)
    with st.container(horizontal=True, gap="medium"):
        for page, shown_by in onward(row):
            page_link(page, words(f"findings.to_{page}"), icon=ICONS[page], run=run.name, **shown_by)


def process_of(run: Run, in_range: TimeRange, key: str) -> Known:
    """A process by its key, its points, and how many of its IDs a range has."""
    rows = shared.find_row(run, key)
    if rows.empty:
        return Known(None, pd.DataFrame())
    row, counted = rows.iloc[0].to_dict(), cache.in_range(run, in_range)
    place = find_process(counted.processes, key) if counted.exact else None
    ids = None if place is None else int(counted.processes.loc[place, "distinct"])
    return Known(row, cache.points(run, row), ids)


def log_lines(run: Run, rows: Iterable[Row] = ()) -> LogLines:
    """The log lines of a scan's findings that this server may read; those of some rows are looked for at once."""
    index, ids = cache.lines(run), finding_lines.ids_of(rows)
    places = cache.rows_of(run, index, ids) if index is not None and ids else {}
    return LogLines(run, index, run_lines.allowed_for(run), places)


def anatomy(text: str) -> Html:
    """An id as a link to its bytes."""
    return link(text, view().href("anatomy", id=text, run=st.query_params.get("run")))


def figure_of(row: Row, run: Run, view: View, in_range: TimeRange = ALL_TIMES) -> tuple[go.Figure, str] | None:
    """The counter of the finding's process, or its clock, where that shows it, of a time range; and its text."""
    process, shows = evidence_of(row).process, rules()[str(row["code"])].picture
    rows = shared.find_row(run, process_key(process)) if shows and process else pd.DataFrame()
    points = pd.DataFrame() if rows.empty else cache.points(run, rows.iloc[0].to_dict())
    if points.empty:
        return None
    missing, mark = int(rows.iloc[0]["missing"]), assumed(rows.iloc[0], view.words)
    inside = points[in_range.contains(points["sent_at"])]
    around = strokes.around(inside, points, in_range) if in_range and shows != "clock" else inside
    if in_range and len(around) > 1:
        points, missing = around, int(around["missing_before"].sum())
    figure = charts.clock(points, view, mark) if shows == "clock" else None
    if figure is not None:
        return figure, view.words("findings.alt_clock")
    figure = charts.counter(points, view, missing, mark)
    return figure, view.words("findings.alt_counter", subject=finding_texts.subject(row, view.words))
