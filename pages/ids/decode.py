"""Decode: ids or log lines in, what they are and where they come from out. Computes nothing itself."""

import streamlit as st

from idcore.policy.page_turns import TURNS
from idcore.presentation import intake_texts
from pages.parts import refusals, session
from pages.parts.ids import decode_session, decoded
from pages.parts.runs import watch
from pages.parts.triage import shared
from pages.parts.view import view
from pages.parts.widgets import heading, small_print, working, zone_note

words = view().words
heading("page.decode")
lacking = watch.lacks_spark(words)  # before the first click, and not only below a long table

# load
here = decode_session.load()
decode_session.box(here)
result = decode_session.result(here)
if here.state == "empty":
    decoded.samples()
    session.stop()
if here.unread:
    working(intake_texts.reading(here.sources, words))

with result:
    # show
    with TURNS.table(here.is_long, session.who()):
        here.read()
        here.into_link()
        if not here.sources:
            decoded.of_server(here)
            session.stop()
        refusals.of_files(here.intake, here.sources, words)
        if not here.holds_ids:
            refusals.no_id(here.intake, view(), here.files, "" if here.files else here.text)
            decoded.elsewhere(here)
            decoded.deliveries(here)
            decode_session.case_offer(here)
            session.stop()
        same = st.container()
        if apart := intake_texts.zones_sentence(here.intake, here.clock(), words):
            same.warning(apart, icon=":material/schedule:")
        above, below = decoded.one(here) if here.single else decoded.many(here)
    refusals.line(here.intake, view(), here.files, here.open_run())
    decode_session.case_offer(here)

    # scan
    if here.begin():
        st.rerun()  # scanned before: the sentence has its figures at once, and links have the scan
    run = here.open_run()
    if run is not None:
        shared.twins(run, words, same)
    done = run is not None and run.state == "done"
    with (
        above if run is not None else st.container(),
        st.empty() if done else st.container(),
    ):  # no progress stays in grey
        wanted = not here.typed and (not here.single or here.files) and (run is not None or not lacking)
        drawn = wanted and watch.scan_state(run, again=here.scan, table=True)

    # chart
    with TURNS.below(here.is_long, session.who()):
        if drawn and run is not None:
            from pages.parts.ids import pictures  # Plotly only where there is something to draw

            with above:
                pictures.verdict(run, view())
                pictures.three(run, view())
        found = here.intake.found
        cut = words("decode.cut", n=words.count("id", len(found))) if here.intake.cut and found else ""
        dated = intake_texts.dated_note(here.dated_by(here.clock()), words)
        small_print([cut, *dated, zone_note(view())])
        if found:
            decoded.takeaway(here, below)  # last: the table does not wait until its files are made
