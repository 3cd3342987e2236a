"""Findings: what is wrong, worst first, in words, each with what proves it. Computes nothing itself."""

from __future__ import annotations

from functools import partial

import streamlit as st

from idcore.base.numbers import whole_number
from idcore.presentation.html import findings as html
from idcore.presentation.triage import finding_report, finding_rows, finding_texts, findings_in_range, scope
from idcore.presentation.triage.finding_rows import Kind
from pages.parts import cache, session
from pages.parts.triage import chips, diagnosis, explaining, finding_filters, opened, report, shared, time_range
from pages.parts.view import view
from pages.parts.widgets import heading, page_link, page_of, pager, said, show_html, small_print

ROWS = 12

shown = view()
words = shown.words
heading("page.findings")

# load
run = opened.run_of("findings")
in_range, wanted = time_range.bar(run, shown, page="findings"), chips.asked("findings")
every = cache.frame(run, "findings")
ranged = findings_in_range.narrowed(every, in_range, partial(diagnosis.process_of, run, in_range))
found = scope.findings(ranged, wanted)
if not run.has("findings"):
    st.info(words("findings.older"), icon=":material/info:")
    session.stop()

# show
if wanted and len(ranged):
    counted = finding_texts.filtered(found, len(ranged), chips.names(wanted, words), words, in_range=bool(in_range))
else:
    counted = finding_texts.findings_sentence(found, run.summary or {}, words, in_range=bool(in_range))
none = time_range.says_none(run, in_range, shown, "findings")
if not none or len(ranged):  # a gap may be longer than the range
    changes = "" if wanted or in_range else cache.host_changes(run, shown)
    said(finding_texts.headline(found, shown), counted + changes)
    diagnosis.ways_to_gap(found, run, shown)
if len(found) < len(ranged):
    icon, without = ":material/filter_alt_off:", dict.fromkeys(scope.NAMES)
    page_link("findings", words("findings.unfiltered"), icon=icon, run=run.name, **without)
if not none:
    explaining.of_range(run, in_range, wanted, shown)
if cache.rows(run, "fates") and not finding_rows.of_groups(every):
    page_link("fate", words("findings.no_groups"), icon=":material/mark_email_unread:", run=run.name)
others = words("scope.outside", n=f"{len(ranged) - len(found):,}") if len(ranged) > len(found) else ""
notes = [finding_texts.outside(in_range, every, words), others, *shared.notes(run, shown)]
here = shared.findings_address(run)
if (asked := st.query_params.get("finding")) is not None:  # one of them, from a link
    if (number := whole_number(asked)) is not None and number in every.index:
        one = (number, every.loc[number].to_dict())
        page_link("findings", words("findings.every"), icon=":material/arrow_back:", run=run.name)
        card = diagnosis.finding_card(*one, run, shown, opened=True)
        with st.container(horizontal=True, gap="small"):
            report.buttons(run, shown, here)
        small_print(shared.notes(run, shown))
        diagnosis.with_lines([card], run, shown, here)
        session.stop()
    st.info(words("findings.gone", n=asked[:12]), icon=":material/info:")
if found.empty:
    if (run.summary or {}).get("ids"):
        show_html(html.silent(every, words))
    small_print(notes)
    session.stop()

# chart
time_range.registered("findings", {"findings": found}.__getitem__, in_range, shown)

# filters
with st.container(horizontal=True, vertical_alignment="center", gap="small", key="finding-filters"):
    rows = finding_filters.choose(found, shown)
    report.buttons(run, shown, here)

# cards
parts = list(finding_report.parts_of(finding_rows.kinds(rows)))
cards = [
    diagnosis.kind_card(part, run, shown)
    if isinstance(part, Kind)
    else diagnosis.finding_card(*part, run, shown, in_range=in_range)
    for part in page_of(parts, "findings_page", ROWS)[0]
]
pager(parts, "findings_page", ROWS)
show_html(html.silent(every, words))
small_print(notes)
diagnosis.with_lines(cards, run, shown, here)
