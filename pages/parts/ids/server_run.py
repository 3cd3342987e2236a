"""What the decode page can only point to: a run over a folder of the server, the records of a commit log."""

from __future__ import annotations

import streamlit as st

from idcore import intake
from idcore.runs import Run
from pages.parts import scans
from pages.parts.ids import decode_session
from pages.parts.markdown import plain
from pages.parts.runs import runlist, watch
from pages.parts.triage import shared
from pages.parts.view import view
from pages.parts.widgets import page_link, said, small_print, zone_note


def laid() -> decode_session.DecodeSession:
    """What lies on the desk; the page ends where nothing does, or with a run whose input is elsewhere."""
    if (run := decode_session.elsewhere()) is not None:
        show(run)
        st.stop()
    here = decode_session.laid()
    if logs := intake.commit_logs(here.sources):
        words = view().words
        names = words("comma").join(map(plain, logs))
        st.warning(words("decode.commit_log", names=names), icon=":material/warning:")
        page_link("store", words("page.store"), icon=":material/folder_open:")
    return here


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
