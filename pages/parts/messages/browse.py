"""From a topic to its queues and their records, from a file to its records: each step is a link. Reads one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from idcore.catalogue import Words, upper
from idcore.lookup.sentences import reason_of
from idcore.lookup.store_folder import KIND
from idcore.reports.markdown import escaped
from idcore.reports.markup import Column, Html, link, table, tag
from idcore.store import Blank, Miss, Skipped, Stored, StoreFolder
from idcore.store.pages import Entry, find_file, find_queue, of_file, of_queue, page_before
from pages.parts.view import View, into_address, view
from pages.parts.widgets import show_html

PAGE = 25
STEPS = ("topic", "queue", "offset", "file", "at")  # of an address: where in the store the reader is
Overview = Mapping[str, Any]


def to(**steps: Any) -> str:
    """The address of a place in this store."""
    return view().href("store", store=st.query_params.get("store"), which=st.query_params.get("which"),
                **{name: str(value) for name, value in steps.items()})  # fmt: skip


def place(store: StoreFolder, made: Overview, view: View) -> None:
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


def of_topic(store: StoreFolder, made: Overview, topic: str, view: View) -> None:
    """The queues of a topic; of the one that is chosen its records."""
    words = view.words
    known = next((one for one in made["topics"] if one["topic"] == topic), None)
    if known is None:
        _unknown("store.no_topic", words, topic=topic)
        return
    st.header(words("store.of_topic", topic=escaped(topic)), anchor=False)
    columns = [
        Column("queue", words("record.queue"), right=True),
        Column("first", words("store.first"), right=True),
        Column("end", words("store.end"), right=True),
        Column("messages", words("store.messages"), right=True),
    ]
    rows = [
        [link(f"{queue['queue_id']}", to(topic=topic, queue=queue["queue_id"])), f"{queue['first']:,}",
         f"{queue['end']:,}", f"{queue['end'] - queue['first']:,}"]
        for queue in known["queues"]
    ]  # fmt: skip
    if not rows:
        st.caption(words("store.no_queues"))
        return
    if "queue" not in st.query_params:
        show_html(table(columns, rows, words("store.queues")))
        return
    number = _number("queue")
    queue = None if number is None else find_queue(store, topic, number)
    if queue is None:
        _unknown("store.no_queue", words, topic=topic, queue=st.query_params["queue"])
        show_html(table(columns, rows, words("store.queues")))
        return
    others = [
        tag("b", f"{one['queue_id']}")
        if one["queue_id"] == number
        else link(f"{one['queue_id']}", to(topic=topic, queue=one["queue_id"]))
        for one in known["queues"]
    ]
    show_html(tag("p", tag("span", words("store.queues")), *others, class_="mq-samples"))
    begin, end = queue.span or (0, 0)
    first = _number("offset")
    first = begin if first is None else max(begin, min(first, max(begin, end - 1)))
    entries = of_queue(store, queue, first, PAGE)
    last = first + len(entries) - 1
    shown = {"queue": f"{queue.queue_id}", "first": f"{first:,}", "last": f"{last:,}", "end": f"{end:,}"}
    st.caption(words("store.queue_page", **shown) if entries else words("store.no_records"))
    show_html(listed(entries, view))
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
        show_html(listed(entries, view))
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


def listed(entries: Sequence[Entry], view: View) -> Html:
    """One row a place: where it is, when it was stored, whose message it is."""
    words = view.words
    in_queue = any(entry.queue_offset is not None for entry in entries)
    columns = [Column("queue_offset", words("store.queue_offset"), right=True, mono=True)] if in_queue else []
    columns += [
        Column("offset", words("record.log"), right=True, mono=True, role="offset"),
        Column("stored", words("record.stored"), mono=True),
        *([] if in_queue else [Column("topic", words("record.topic"), mono=True)]),
        Column("id", "msgId", mono=True),
        Column("tags", words("store.tag_and_keys"), mono=True),
        Column("size", words("store.bytes_head"), right=True),
    ]
    rows = []
    for entry in entries:
        head = [f"{entry.queue_offset:,}"] if in_queue else []
        offset = "–" if entry.offset is None else f"{entry.offset:,}"
        if isinstance(entry.found, Stored):
            rows.append([*head, link(offset, to(id=entry.offset)), *_cells(entry.found, in_queue, view)])
        else:
            why = tag("span", _why(entry.found, words), class_="mq-faint")
            rows.append([*head, offset, why, *[""] * (len(columns) - len(head) - 2)])
    return table(columns, rows, words("store.records"))


def _cells(stored: Stored, in_queue: bool, view: View) -> list[Any]:
    record = stored.record
    msg_id = record.uniq_id
    names = " ".join(part for part in (record.properties.get("TAGS"), record.properties.get("KEYS")) if part)
    topic = [] if in_queue else [tag("span", record.topic, class_="mq-topic")]
    return [
        view.stamp(record.store_timestamp, "–"),
        *topic,
        link(msg_id, to(id=msg_id)) if msg_id and "," not in msg_id and " " not in msg_id else msg_id or "",
        tag("span", names, class_="mq-topic"),
        f"{record.size:,}",
    ]


def _why(found: Miss | Blank | Skipped | Stored | None, words: Words) -> str:
    """Why a place has no record."""
    if isinstance(found, Blank):
        return words("store.padding", n=f"{found.size:,}")
    if isinstance(found, Skipped):
        return words("store.skipped", n=f"{found.end - found.offset:,}", why=words.said(found.problem))
    if isinstance(found, Miss):
        return upper(reason_of(found.reason, found.evidence, KIND, words))
    return words("store.place_empty")
