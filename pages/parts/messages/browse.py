"""From a topic to its queues and their records, from a file to its records: each step is a link. Reads one page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.numbers import whole_number
from idcore.presentation.html import stores as html
from idcore.presentation.reports.markdown import escaped
from idcore.rocketmq.store import StoreFolder
from idcore.rocketmq.store.pages import Page, file_page, find_file, find_queue, queue_page
from pages.parts.view import View, carried, into_address, view
from pages.parts.widgets import show_html

PAGE = 25
STEPS = ("topic", "queue", "offset", "file", "at")  # of an address: where in the store the reader is


def to(**steps: Any) -> str:
    """The address of a place in this store."""
    return view().href("store", **carried(("store", "which")), **{name: str(value) for name, value in steps.items()})


def place(store: StoreFolder, overview: html.Overview, view: View) -> None:
    """What the address leads to: the queues of a topic, the records of a queue or of a file."""
    query = st.query_params
    if topic := query.get("topic"):
        of_topic(store, overview, topic, view)
    elif name := query.get("file"):
        records_of_file(store, name, view)
    else:
        return
    st.button(view.words("store.back"), icon=":material/close:", type="tertiary", on_click=leave, key="store-leave")


def leave() -> None:
    """Back to all topics and files."""
    into_address(dict.fromkeys(STEPS))


def _unknown(key: str, words: Words, **values: str) -> None:
    text = words(key, **{name: escaped(value) for name, value in values.items()})
    st.warning(text, icon=":material/search_off:")


def _number(name: str) -> int | None:
    """A number of the address; what is not one is as if it were not there."""
    return whole_number(st.query_params.get(name, "").replace(",", ""))


# ---- a topic


def of_topic(store: StoreFolder, overview: html.Overview, topic: str, view: View) -> None:
    """The queues of a topic; of the one that is chosen its records."""
    words = view.words
    known = next((one for one in overview["topics"] if one["topic"] == topic), None)
    if known is None:
        _unknown("store.no_topic", words, topic=topic)
        return
    st.header(words("store.of_topic", topic=escaped(topic)), anchor=False)
    if not known["queues"]:
        st.caption(words("store.no_queues"))
        return
    if "queue" not in st.query_params:
        show_html(html.queues(known, to, words))
        return
    number = _number("queue")
    queue = None if number is None else find_queue(store, topic, number)
    if queue is None:
        _unknown("store.no_queue", words, topic=topic, queue=st.query_params["queue"])
        show_html(html.queues(known, to, words))
        return
    show_html(html.other_queues(known, number, to, words))
    page = queue_page(store, queue, _number("offset"), PAGE)
    show(page, "offset", "store.queue_page", view, queue=number)


# ---- a file


def records_of_file(store: StoreFolder, name: str, view: View) -> None:
    """The records of one commit log file, from a physical offset on."""
    words = view.words
    file = find_file(store, name)
    if file is None:
        _unknown("store.no_such_file", words, file=name)
        return
    st.header(words("store.of_file", file=name), anchor=False)
    page = file_page(store, file, _number("at"), PAGE)
    show(page, "at", "store.file_page", view)


# ---- one page


def show(page: Page, name: str, key: str, view: View, **of: int | None) -> None:
    """The records of a page, and the pages next to it; the address has where a page begins, under `name`."""
    st.caption(view.words(key, **page.ends, **of) if page.entries else view.words("store.no_records"))
    if page.entries:
        show_html(html.entries(page.entries, to, view))
    with st.container(horizontal=True, gap="small"):
        for key, target in (("store.page_before", page.before), ("store.page_after", page.after)):
            if target is not None:
                st.button(
                    view.words(key), key=f"{key}-{name}", on_click=into_address, args=({name: str(max(0, target))},)
                )
