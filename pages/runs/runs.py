"""Runs: what was scanned before, what is being scanned, and scans of the server's own folders. Computes nothing."""

from __future__ import annotations

import streamlit as st

from idcore.runs import runs_root
from pages.parts import cache
from pages.parts.runs import runlist
from pages.parts.view import view
from pages.parts.widgets import empty, heading, said, small_print, zone_note

SHOWN = 20

shown = view()
words = shown.words
heading("page.runs")

# load
runs = cache.runs(str(runs_root()))

# show
if not runs:
    empty(words("empty.no_runs"), ("decode", words("empty.decode")))
else:
    said(runlist.scans_sentence(runs, words))
    pages = -(-len(runs) // SHOWN)
    page = min(int(st.session_state.get("runs_page") or 1), pages)
    live = any(row["state"] in ("new", "running") for row in runs)
    st.fragment(runlist.rows, run_every=1.0 if live else None)((page - 1) * SHOWN, SHOWN, live)
    if pages > 1:
        st.pagination(pages, key="runs_page")

# scan
st.header(words("runs.new"), anchor=False)
left, right = st.columns(2, gap="large")
with left:
    runlist.uploads()
with right:
    runlist.folder()
small_print(
    [
        words("runs.kept", folder=str(runs_root())),
        zone_note(shown),
    ]
)
