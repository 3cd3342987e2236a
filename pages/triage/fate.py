"""Delivery: which messages which consumer groups have not consumed, of the scan of a store. Computes nothing itself."""

import streamlit as st

from idcore.presentation.triage import fates as core
from idcore.presentation.triage import run_notes
from idcore.presentation.triage.undelivered import ORDERS
from pages.parts import cache
from pages.parts.triage import fates, opened, time_range
from pages.parts.view import view
from pages.parts.widgets import heading, said, small_print, zone_note

shown = view()
words = shown.words
heading("page.fate")

# load
run = opened.run_of("fate")
fates.ready_or_stop(run, shown)
every = cache.fates(run)
in_range = time_range.strip([core.by_minute(every)], shown, unit="lacking", under=(run, "fate"))
asked = fates.choose(every, in_range, shown)
rows, around = core.choose(every, asked), core.choose(every, asked.around)
answer, oldest = core.lacking(rows), cache.undelivered(run, asked.whole, ORDERS[0]).page(0, 1)

# show
said(core.sentence(answer, oldest, asked.minutes, shown))
if asked != asked.whole:
    st.caption(words("fate.minutes", span=core.span_text(asked.minutes, shown)))
notes = fates.state(run, shown)
if len(around) or cache.rows(run, "retries"):
    st.header(words("fate.by_group"), anchor=False)
    if (failed := fates.failures(run, asked, shown)) is not None:
        notes += failed
    elif len(around):
        notes += fates.picture(core.heat(around), core.levels(rows), asked, shown)
if len(rows):
    st.header(words("fate.counts"), anchor=False)
    fates.counts(rows, run, shown)
with st.container(key="fate-list"):
    fates.messages(asked, answer.total, run, shown)
small_print([words("fate.read_only"), *notes, *run_notes.unread(cache.frame(run, "files"), words), zone_note(shown)])
