"""Store: what a copied store folder holds, and the record behind an id or offset in it. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from pages.parts import problems
from pages.parts.messages import browse, stores
from pages.parts.view import view
from pages.parts.widgets import heading, said, small_print, zone_note

shown = view()
words = shown.words
heading("page.store")
folder = stores.choose(words)
if folder is None:
    said(words("store.lead"))
    small_print([words("store.read_only")])
    st.stop()
with problems.caught(), stores.opened(folder) as store:
    overview = stores.overview(store)
    said(stores.store_sentence(overview, shown))
    stores.scan(words)
    asked = stores.box(words)
    if asked:
        stores.answer_all(store, asked, shown)
    browse.place(store, overview, shown)
    st.header(words("store.files"), anchor=False)
    stores.files(overview, shown)
    st.header(words("store.topics"), anchor=False)
    stores.topics(overview, words)
    small_print([*stores.notes(overview, shown), words("store.read_only"), zone_note(shown)])
