"""What the decode page can only point to: a run over a folder of the server, the records of a commit log."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from idcore.runs import Run
from pages.parts import scans
from pages.parts.ids import decode_session
from pages.parts.markdown import plain
from pages.parts.runs import runlist, watch
from pages.parts.triage import shared
from pages.parts.view import view
from pages.parts.widgets import page_link, said, small_print, zone_note

MOST_LOOKED_AT, MOST_NAMED = 50, 3


def laid() -> decode_session.DecodeSession:
    """What lies on the desk; the page ends where nothing does, or with a run whose input is elsewhere."""
    if (run := decode_session.elsewhere()) is not None:
        show(run)
        st.stop()
    here = decode_session.laid()
    if logs := commit_logs(here.sources):
        words = view().words
        names = words("comma").join(map(plain, logs))
        st.warning(words("decode.commit_log", names=names), icon=":material/warning:")
        page_link("store", words("page.store"), icon=":material/folder_open:")
    return here


def commit_logs(sources: Sequence[scans.Source]) -> list[str]:
    """The first of the files that begin with a record: as text these give the ids that messages hold, not their own."""
    from idcore.message import MAGIC_V1, MAGIC_V2  # only where files lie

    magics = [magic.to_bytes(4, "big", signed=magic < 0) for magic in (MAGIC_V1, MAGIC_V2)]
    files = [source for source in sources if source.name != scans.PASTED][:MOST_LOOKED_AT]
    return [file.name for file in files if next(file.pieces(), b"")[4:8] in magics][:MOST_NAMED]


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
