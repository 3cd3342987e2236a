"""Look-up: from either id to the message in a live cluster, or why it is not there. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from pages.parts import live, problems, session
from pages.parts.messages import lists, lookups, stores
from pages.parts.view import view
from pages.parts.widgets import heading, page_link, said, small_print, zone_note

shown = view()
words = shown.words
heading("page.lookup")
with problems.caught():
    offers = live.offers()
if stores.linked(words) is not None:
    page_link("store", words("store.look_up"), icon=":material/folder_open:", id=st.query_params.get("id"))
if not offers:
    live.say_off(words)
    stores.offers(words)
    stores.offer_example(words, message=True)
    session.stop()
way = lists.chosen(words)
if way != lists.BY_ID:
    lists.page(way, offers, shown)
    session.stop()
asked = lookups.form(list(offers), words)
if asked is not None:
    lookups.ask(asked, shown)
answers = lookups.latest()
if answers is None:
    small_print([words("lookup.guard"), zone_note(shown)])
    session.stop()
said(answers.sentence(words))
for answer in answers.found:
    lookups.answer_card(answer, shown)
lookups.takeaway(answers, words)
asked_at = words("lookup.asked", cluster=answers.cluster, at=shown.full(answers.at))
small_print([asked_at, words("lookup.guard"), zone_note(shown)])
