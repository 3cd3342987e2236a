"""From a topic to its queues and their records, from a file to its records: each step is a link. Reads one page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from idcore.catalogue import Words
from idcore.html import stores as html
from idcore.reports.markdown import escaped
from idcore.store import StoreFolder
from idcore.store.pages import find_file, find_queue, of_file, of_queue, page_before
from pages.parts.view import View, into_address, view
from pages.parts.widgets import show_html

PAGE = 25
STEPS = ("topic", "queue", "offset", "file", "at")  # of an address: where in the store the reader is


def to(**steps: Any) -> str:
    """The address of a place in this store."""
    here = {name: st.query_params.get(name) for name in ("store", "which")}
    return view().href("store", **here, **{name: str(value) for name, value in steps.items()})


def place(store: StoreFolder, made: html.Overview, view: View) -> None:
    """What the address leads to: the queues of a topic, the records of a queue or of a file."""
    query = st.query_params
    if topic := query.get("topic"):
        of_topic(store, made, topic, view)
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
    text = st.query_params.get(name, "").replace(",", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else None


# ---- a topic


def of_topic(store: StoreFolder, made: html.Overview, topic: str, view: View) -> None:
    """The queues of a topic; of the one that is chosen its records."""
    words = view.words
    known = next((one for one in made["topics"] if one["topic"] == topic), None)
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
    begin, end = queue.span or (0, 0)
    first = _number("offset")
    first = begin if first is None else max(begin, min(first, max(begin, end - 1)))
    entries = of_queue(store, queue, first, PAGE)
    last = first + len(entries) - 1
    shown = {"queue": f"{queue.queue_id}", "first": f"{first:,}", "last": f"{last:,}", "end": f"{end:,}"}
    st.caption(words("store.queue_page", **shown) if entries else words("store.no_records"))
    show_html(html.entries(entries, to, view))
    turn("offset", first - PAGE if first > begin else None, last + 1 if last + 1 < end else None, words)


# ---- a file


def records_of_file(store: StoreFolder, name: str, view: View) -> None:
    """The records of one commit log file, from a physical offset on."""
    words = view.words
    file = find_file(store, name)
    if file is None:
        _unknown("store.no_such_file", words, file=name)
        return
    st.header(words("store.of_file", file=name), anchor=False)
    asked = _number("at")
    at = file.start if asked is None else max(file.start, min(asked, file.end - 1))
    entries, after = of_file(store, file, at, PAGE)
    if entries:
        first, last = entries[0].offset, entries[-1].offset
        st.caption(words("store.file_page", first=f"{first:,}", last=f"{last:,}", end=f"{file.end:,}"))
        show_html(html.entries(entries, to, view))
    else:
        st.caption(words("store.no_records"))
    before = page_before(store, file, at, PAGE) if at > file.start else None
    turn("at", before, after, words)


# ---- one page


def turn(name: str, before: int | None, after: int | None, words: Words) -> None:
    """The pages before and after; the address has where the page begins."""
    with st.container(horizontal=True, gap="small"):
        for key, target in (("store.page_before", before), ("store.page_after", after)):
            if target is not None:
                st.button(words(key), key=f"{key}-{name}", on_click=_go, args=(name, max(0, target)))


def _go(name: str, target: int) -> None:
    st.query_params[name] = str(target)
