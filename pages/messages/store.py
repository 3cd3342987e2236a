"""Store: what a copied store folder holds, and the record behind an id or offset in it. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from idcore.presentation.html import stores as html
from idcore.rocketmq.store import StoreFolder
from pages.parts import problems, session
from pages.parts.messages import browse, stores
from pages.parts.view import view
from pages.parts.widgets import heading, page_link, said, show_html, small_print, zone_note

shown = view()
words = shown.words
heading("page.store")
folder = stores.choose(words)
if folder is None:
    said(words("store.lead"))
    stores.offer_example(words)
    small_print([words("store.read_only")])
    session.stop()
with problems.caught(), StoreFolder(folder, roots=stores.roots_of(folder)) as store:
    overview = store.overview()
    said(html.sentence(overview, shown))
    stores.scan(words)
    page_link("groups", words("store.groups"), icon=":material/groups:", **stores.opened())
    asked = stores.box(words)
    if asked:
        stores.answer_all(store, asked, shown)
    browse.place(store, overview, shown)
    st.header(words("store.files"), anchor=False)
    for table in (html.files(overview, browse.to, shown), *html.holes(overview, words)):
        show_html(table)
    st.header(words("store.topics"), anchor=False)
    if overview["topics"]:
        show_html(html.topics(overview, browse.to, words))
    else:
        st.caption(words("store.no_topics"))
    small_print([*stores.notes(overview, shown), words("store.read_only"), zone_note(shown)])
