"""Consumer groups: how far a group is on a topic, its clients, and what contradicts itself. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from pages.parts import live, problems, session
from pages.parts.messages import groups, store_groups, stores
from pages.parts.view import view
from pages.parts.widgets import heading, small_print, zone_note

shown = view()
words = shown.words
heading("page.groups")
folder = None if st.query_params.get("cluster") else stores.linked(words)  # a link to a cluster's group is about that
if folder is not None:
    store_groups.page(folder, shown)
    session.stop()
with problems.caught():
    clusters = live.offers()
if not clusters:
    live.say_off(words)
    stores.offers(words)
    stores.offer_example(words)
    session.stop()
asked = groups.form(list(clusters), words)
if asked is not None:
    groups.ask(asked, shown)
kept = groups.latest()
if kept is None:
    small_print([words("groups.how"), words("lookup.guard"), zone_note(shown)])
    session.stop()
if kept.now.progress is None:
    groups.listing(kept, shown)
else:
    groups.board(kept, shown)
small_print([words("lookup.guard"), zone_note(shown)])
