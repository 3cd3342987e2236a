"""Runs: what was scanned or compared before, what is being scanned, scans of the server's folders. Computes nothing."""

from __future__ import annotations

import streamlit as st

from idcore.policy import limits
from idcore.presentation.triage.run_rows import LIVE
from idcore.runs.runs import runs_root
from pages.parts import visitor
from pages.parts.runs import begin, runlist
from pages.parts.view import view
from pages.parts.widgets import empty, heading, small_print, zone_note

shown = view()
words, here = shown.words, visitor.current()
heading("page.runs")

# load
runs, days = runlist.every(), limits.value("days")

# show
if not runs:
    empty(words("empty.no_runs"), ("decode", words("empty.decode")))
else:
    live = any(row["state"] in LIVE for row in runs)
    st.fragment(runlist.listing, run_every=1.0 if live else None)(live)

# scan
st.header(words("runs.new"), anchor=False)
left, right = st.columns(2, gap="large")
with left:
    begin.uploads()
with right:
    begin.folder()
small_print(
    [
        words("runs.kept_days", days=days) if days else words("runs.kept"),
        words("runs.kept_in", folder=str(runs_root())) if here.may("settings") else "",
        zone_note(shown),
    ]
)
