"""Help: a document of the console, or the section that a link asked for. Computes nothing itself."""

from functools import partial

import streamlit as st

from idcore.presentation import documents
from pages.parts import session
from pages.parts.view import view
from pages.parts.widgets import empty, page_link

shown = view()
words = shown.words
name, part = st.query_params.get("doc", documents.INDEX), st.query_params.get("part", "")
found = documents.document(name, words.lang)
if found is None:
    st.title(words("page.help"), anchor=False)
    empty(words("help.none"), ("help", words("help.index")), ("decode", words("empty.decode")))
    session.stop()

section = documents.section(found, part) if part else None
text = documents.linked(found, section or found.text, partial(shown.href, "help"), shown.href)
title, _, body = text.partition("\n")
st.title(title.lstrip("# "), anchor=False)
with st.container(horizontal=True, gap="medium"):
    if section is not None:
        page_link("help", words("help.whole"), icon=":material/article:", doc=name)
    if name != documents.INDEX:
        page_link("help", words("help.index"), icon=":material/list:")
if found.lang != words.lang:
    st.caption(words("help.english"))
st.markdown(body)
