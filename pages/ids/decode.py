"""Decode: ids or log lines in, what they are and where they come from out. Computes nothing itself."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import cards, desk, refusals, scans, watch
from pages.parts.view import view
from pages.parts.widgets import download, heading, page_link, said, show, small_print, zone_note

ROWS = 50


def one(here: desk.Desk) -> DeltaGenerator:
    """A single id as a card; gives the row below it."""
    words = view().words
    item = here.intake.found[0]
    show(cards.card(item, view(), here.clock()))
    below = st.container(horizontal=True, gap="medium", vertical_alignment="center")
    with below:
        page_link("anatomy", words("card.anatomy"), icon=":material/view_week:", id=item.token.text)
    return below


def many(here: desk.Desk) -> DeltaGenerator:
    """The table, at once; gives the row below it."""
    words, found = view().words, here.intake.found
    pages = -(-len(found) // ROWS)
    page = min(int(st.session_state.get("ids_page") or 1), pages)
    start = (page - 1) * ROWS
    said(refusals.sentence(here.intake, here.where(words), words))
    show(cards.many(found[start : start + ROWS], view(), here.clock(), first=start + 1, files=here.files))
    below = st.container(horizontal=True, gap="medium", vertical_alignment="center")
    if pages > 1:
        below.pagination(pages, key="ids_page")
    return below


def takeaway(here: desk.Desk) -> None:
    """Copy, CSV, JSON: every id, not only those in sight."""
    words, found = view().words, here.intake.found
    with st.popover(words("copy"), type="tertiary", icon=":material/content_copy:"):
        st.code("\n".join(item.token.text for item in found), language=None, height=200)
    table, lines = here.exports()
    download("CSV", table, "ids.csv", key="ids-csv")
    download("JSON", lines, "ids.jsonl", key="ids-json", mime="application/x-ndjson")


def notes(here: desk.Desk) -> list[str]:
    """The small print."""
    words = view().words
    lines = [words("decode.cut", n=words.count("id", len(here.intake.found)))] if here.intake.cut else []
    return [*lines, *refusals.dated_note(here.intake.found, here.clock(), words), zone_note(view())]


words = view().words
heading("page.decode")
desk.from_link()
desk.box()
found_here = desk.current()
if found_here is None:
    if st.session_state.get("nothing"):
        st.warning(words("decode.nothing"), icon=":material/info:")
    st.stop()
here: desk.Desk = found_here
desk.into_link()
if not here.intake.found:
    refusals.no_id(here.intake, view())
    st.stop()
below = one(here) if len(here.intake.found) == 1 else many(here)
refusals.line(here.intake, view(), here.files)
run = None
if here.run is not None:
    scans.remember(here.run)
    run = scans.store().open(here.run)
several = len(here.intake.found) > 1 or here.files or here.intake.cut
if several and watch.scan_state(run, again=lambda: desk.scan(here)) and run is not None:
    from pages.parts import pictures  # Plotly only where there is something to draw

    pictures.three(run, view())
small_print(notes(here))
with below:
    takeaway(here)  # last: the table does not wait until its files are made
