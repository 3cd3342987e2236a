"""Findings: what is wrong, worst first, in words, each with what proves it. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from idcore.triage.finding_rows import alike
from pages.parts import cache
from pages.parts.triage import diagnosis, filters, report, shared, tables
from pages.parts.view import view
from pages.parts.widgets import download, heading, said, small_print, zone_note

ALL = "all"
ROWS = 12

shown = view()
words = shown.words
heading("page.findings")

# load
run = shared.run_of("findings")
found = cache.frame(run, "findings")
if not run.has("findings"):
    st.info(words("findings.older"), icon=":material/info:")
    st.stop()

# show
said(diagnosis.findings_sentence(found, run.summary or {}, words))
if found.empty:
    checked = diagnosis.checked(words) if (run.summary or {}).get("ids") else ""
    small_print([checked, *shared.notes(run, shown), zone_note(shown)])
    st.stop()

options = [ALL, *(name for name in diagnosis.SEVERITIES if (found["severity"] == name).any())]
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    chosen = st.segmented_control(
        words("findings.severity"),
        options,
        required=True,
        **filters.switch("severity", options),
        format_func=lambda name: diagnosis.option(name, found, words),
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, gap="small", width="content"):
        download(
            words("findings.markdown"),
            lambda: report.markdown(run, shown).encode(),
            f"{run.name}.md",
            key="report-md",
            mime="text/markdown",
        )
        download(
            words("findings.html"),
            lambda: report.html(run, shown).encode(),
            f"{run.name}.html",
            key="report-html",
            mime="text/html",
        )
rows = found if chosen in (None, ALL) else found[found["severity"] == chosen]
firsts, others = alike(rows)
page, _ = tables.paged(firsts, "findings_page", ROWS)
for place, finding in page.to_dict("index").items():
    diagnosis.finding_card(finding, run, shown, str(place), others.get(place, ()))
tables.pager(firsts, "findings_page", ROWS)
small_print([diagnosis.checked(words), *shared.notes(run, shown), zone_note(shown)])
