"""Decode: ids or log lines in, what they are and where they come from out. Computes nothing itself."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.runs import Run
from pages.parts import cards, refusals
from pages.parts.ids import decode_session as session
from pages.parts.ids import message_links, server_run
from pages.parts.runs import watch
from pages.parts.triage import shared
from pages.parts.view import view
from pages.parts.widgets import download, heading, page_link, said, show, small_print, zone_note

ROWS = 50


def one(here: session.DecodeSession) -> DeltaGenerator:
    """A single id as a card; gives the row below it."""
    words, item = view().words, here.intake.found[0]
    show(cards.card(item, view(), clock := here.clock()))
    below = st.container(horizontal=True, gap="medium", vertical_alignment="center")
    with below:
        page_link("anatomy", words("card.anatomy"), icon=":material/view_week:", **cards.anatomy_params(item, clock))
        message_links.messages([item.token.text], words)
    return below


def many(here: session.DecodeSession, run: Run | None) -> DeltaGenerator:
    """The table, at once; gives the row below it. What was cut is counted by the scan."""
    words, found = view().words, here.intake.found
    pages = max(1, -(-len(found) // ROWS))
    page = min(int(st.session_state.get("ids_page") or 1), pages)
    shown = found[(page - 1) * ROWS : page * ROWS]
    summary = run.summary if run is not None and run.state == "done" else None
    said(refusals.sentence(here.intake, here.where(words), words, summary))
    if found:
        show(cards.many(shown, view(), here.clock(), first=(page - 1) * ROWS + 1, files=here.files))
    below = st.container(horizontal=True, gap="medium", vertical_alignment="center")
    if pages > 1:
        below.pagination(pages, key="ids_page")
    with below:
        message_links.messages(list(dict.fromkeys(item.token.text for item in found)), words)
    return below


def takeaway(here: session.DecodeSession, below: DeltaGenerator) -> None:
    """Copy, CSV, JSON: every id that was read at once, not only those in sight; a cut is named on the button."""
    words, found = view().words, here.intake.found

    def named(kind: str) -> str:
        return words("decode.part", kind=kind, n=f"{len(found):,}") if here.intake.cut else kind

    with below:
        with st.popover(named(words("copy")), type="tertiary", icon=":material/content_copy:"):
            st.code("\n".join(item.token.text for item in found), language=None, height=200)
        table, lines = here.exports()
        download(named("CSV"), table, "ids.csv", key="ids-csv")
        download(named("JSON"), lines, "ids.jsonl", key="ids-json", mime="application/x-ndjson")


words = view().words
heading("page.decode")
session.from_link()
session.missing()
session.box()
here = server_run.laid()
session.into_link()
refusals.failed(here.intake, len(here.sources), words)
if not here.intake.found and not here.intake.cut:
    refusals.no_id(here.intake, view(), here.files)
    session.case_offer(here)
    st.stop()
same = st.container()
run = session.run_of(here)
below = one(here) if (single := len(here.intake.found) == 1 and not here.intake.cut) else many(here, run)
refusals.line(here.intake, view(), here.files)
session.case_offer(here)
if session.begin(here) and here.intake.cut:
    st.rerun()  # scanned before: the sentence has its figures at once
if (run := session.run_of(here)) is not None:
    shared.twins(run, words, same)
drawn = (not single or here.files) and watch.scan_state(run, again=lambda: session.scan(here), table=True)
if drawn and run is not None:
    from pages.parts.ids import pictures  # Plotly only where there is something to draw

    pictures.findings(run, view())
    pictures.three(run, view())
cut = words("decode.cut", n=words.count("id", len(here.intake.found))) if here.intake.cut and here.intake.found else ""
small_print([cut, *refusals.dated_note(here.intake.found, here.clock(), words), zone_note(view())])
if here.intake.found:
    takeaway(here, below)  # last: the table does not wait until its files are made
