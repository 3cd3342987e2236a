"""The decode page of a run that scanned a folder of the server: its figures and pictures. Lists no ids."""

from __future__ import annotations

import streamlit as st

from idcore.runs import Run
from pages.parts import scans
from pages.parts.ids import desk
from pages.parts.runs import runlist, watch
from pages.parts.triage import shared
from pages.parts.view import view
from pages.parts.widgets import said, small_print, zone_note


def laid() -> desk.Desk:
    """What lies on the desk; the page ends where nothing does, or with a run whose input is elsewhere."""
    if (run := desk.elsewhere()) is not None:
        show(run)
        st.stop()
    return desk.laid()


def show(run: Run) -> None:
    """What the scan counted, and the way to each page of it."""
    shown = view()
    scans.remember(run.name)
    shared.line(run, "decode", shown.words)
    if not watch.scan_state(run, again=lambda: runlist.again(run.name)):
        return
    from pages.parts.ids import pictures  # Plotly only where there is something to draw

    said(shown.words("decode.elsewhere", ids=shown.words.count("id", (run.summary or {}).get("ids", 0))))
    pictures.findings(run, shown)
    pictures.three(run, shown)
    small_print([*shared.notes(run, shown), zone_note(shown)])
