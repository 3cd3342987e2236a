"""A store folder on a page: which one, what it holds, a record with its bytes. Opens nothing for writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import streamlit as st

from idcore.catalogue import Words
from idcore.ids import Clock
from idcore.lookup import Answer, Copy, StoreLookup, copy_row
from idcore.message.record import Part, Record, parts, value_of
from idcore.runs import runs_root
from idcore.store import StoreFolder
from idcore.store.commitlog import Stored
from pages.parts import cache, roles, scans
from pages.parts.markdown import escaped
from pages.parts.markup import Column, Html, table, tag
from pages.parts.messages import answers, records, uploads
from pages.parts.runs import begin
from pages.parts.view import View, link_params, view
from pages.parts.widgets import page_link, show_html

MOST_ROWS = 200
MOST_RECORDS = 20  # shown whole; a batch of a 5.x client may have thousands under one id
RULER_BYTES = 64  # of a stretch: of a longer one the beginning is shown
# Facts about a record that was found, which neither its card nor the sentence contains.
_ODD = ("address", "as_key_of", "copies_gone", "outside_window", "unreadable")
Overview = Mapping[str, Any]


def choose(words: Words) -> Path | None:
    """The folder to look into: one below what the administrator allows, or an upload."""
    roots = [root for root in scans.allowed_roots() if isinstance(root, Path)]
    query, state = st.query_params, st.session_state
    left, right = st.columns(2, gap="large")
    with left:
        if roots:
            state.setdefault("store_folder", query.get("store", ""))
            path = st.text_input(words("store.folder"), key="store_folder", placeholder=str(roots[0]))
        else:
            path = ""
            st.markdown(words("store.off"))
    with right:
        uploaded = st.file_uploader(words("store.upload"), key="store_files", accept_multiple_files=True)
    if path:
        try:
            real = scans.allowed(path)
        except PermissionError:
            names = words("comma").join(map(str, roots))
            st.error(escaped(words("store.not_allowed", roots=names)), icon=":material/error:")
            return None
        if isinstance(real, Path) and not real.exists():
            st.error(words("problem.missing", name=escaped(path)), icon=":material/error:")
            return None
        if isinstance(real, Path):
            query["store"] = path
            return real
        st.error(words("store.no_uri"), icon=":material/error:")
    query.pop("store", None)
    return uploads.folder(uploaded, words) if uploaded else None


@contextmanager
def opened(folder: Path) -> Iterator[StoreFolder]:
    """The folder, and its files closed again."""
    with StoreFolder(folder) as store:
        yield store


def overview(store: StoreFolder) -> Overview:
    """What the folder contains, without reading every record."""
    return store.overview()


def store_sentence(made: Overview, view: View) -> str:
    """Files, bytes, topics, times."""
    words = view.words
    first, last = (records.moment(made[f"{end}_store_timestamp"] or 0) for end in ("first", "last"))
    text = words("store.said", files=words.count("file", len(made["files"])), bytes=words.bytes(made["bytes"]))
    if made["topics"]:
        messages = words.count("message", sum(topic["messages"] for topic in made["topics"]))
        text += words("store.said_topics", topics=words.count("topic", len(made["topics"])), messages=messages)
    if first and last:
        text += words("store.span", first=view.full(first), last=view.full(last))
    return text + words("stop")


def scan(words: Words) -> None:
    """The way from a folder of the server to the findings and charts of all its records."""
    path = st.query_params.get("store")
    if not path:
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        pressed = st.button(words("store.scan"), icon=":material/query_stats:", help=words("store.scan_help"))
        if before := scanned(path):
            at = view().minute(before["created"])
            page_link("findings", words("store.scanned", at=at), icon=":material/troubleshoot:", run=before["name"])
    if pressed:
        run = begin.begin_folder(path)
        if run is not None:
            st.switch_page(st.session_state["pages"]["findings"], query_params=link_params(run=run.name))


def scanned(path: str) -> Mapping[str, Any] | None:
    """The latest finished scan of the records of this folder."""
    real = str(scans.allowed(path))
    rows = cache.runs(str(runs_root()))
    return next((row for row in rows if row["state"] == "done" and row["store"] == real), None)


def box(words: Words) -> str:
    """The id, key or offset that is asked for; it is part of the address."""
    state, query = st.session_state, st.query_params
    state.setdefault("store_id", query.get("id", ""))
    asked = st.text_input(words("store.box"), key="store_id", placeholder=words("store.placeholder"))
    if asked:
        query["id"] = asked.strip()
    else:
        query.pop("id", None)
    return (asked or "").strip()


def ask(text: str) -> None:
    """Puts something else into the box, as if it had been written there."""
    st.session_state["store_id"] = text


def answer(store: StoreFolder, asked: str, view: View) -> None:
    """The records of an id, or of a bare offset; or why none was found."""
    words, lookup = view.words, StoreLookup(store, Clock(view.now(), view.zone, "assumed"))
    is_offset = asked.isascii() and asked.isdigit() and len(asked) <= 19
    found = lookup.at(int(asked)) if is_offset else lookup.one(asked)
    if not found.found:
        missed(found, view)
        return
    if found.reason:
        st.info(escaped(answers.reason(found, view)), icon=":material/info:")
    told = answers.shown_figures(found, view)
    _figures({name: told[name] for name in found.figures if name in _ODD}, view)
    copies = found.copies[:MOST_ROWS]
    rows = [copy_row(copy) for copy in copies]
    if len(rows) > 1:
        show_html(records.copies(rows, [answers.relation(copy, words) for copy in copies], view))
        _cut(MOST_ROWS, len(found.copies), words)
    for copy, row in list(zip(copies, rows, strict=True))[:MOST_RECORDS]:
        record(store, copy, row, view)
    _cut(MOST_RECORDS, len(found.copies), words)


def _cut(shown: int, there: int, words: Words) -> None:
    if there > shown:
        st.caption(words("store.cut", n=f"{shown:,}", of=f"{there:,}"))


def missed(found: Answer, view: View) -> None:
    """Why it is not there, in a sentence with its figures."""
    st.warning(escaped(answers.reason(found, view)), icon=":material/search_off:")
    _figures(answers.shown_figures(found, view), view)
    if isinstance(at := found.figures.get("record_offset"), int):
        label = view.words("store.record_at", offset=f"{at:,}")
        st.button(label, type="tertiary", icon=":material/arrow_forward:", on_click=ask, args=(str(at),))


def _figures(known: Mapping[str, Any], view: View) -> None:
    shown = answers.figures(known, view)
    if shown is not None:
        show_html(shown)


def record(store: StoreFolder, copy: Copy, row: Mapping[str, Any], view: View) -> None:
    """A record whole: its card, its bytes under a ruler, the ones before and after it."""
    words, stored = view.words, Stored(row["commit_log_offset"], copy.record, row["file"])
    show_html(records.card(row, view))
    answers.doubts(copy.doubts or (), view)
    show_html(records.fold(words("store.bytes", n=f"{stored.record.size:,}"), ruler(stored)))
    before, after = store.log.next_to(stored)
    with st.container(horizontal=True, gap="small"):
        for key, other in (("store.before", before), ("store.after", after)):
            if other is not None:
                label = words(key, offset=f"{other.offset:,}")
                st.button(label, key=f"{key}-{stored.offset}", type="tertiary", on_click=ask, args=(str(other.offset),))


_ROLES = {
    "body": "uniq", "topic": "client", "properties": "time", "born_ip": "host", "born_port": "host",
    "store_ip": "broker", "store_port": "broker", "physical_offset": "offset", "queue_offset": "counter",
    "born_timestamp": "time", "store_timestamp": "time", "queue_id": "counter",
}  # fmt: skip


def _label(part: Part, record: Record) -> str:
    """The name of a stretch, where it is, and the number it contains."""
    text = f"{part.name.replace('_', ' ')} · {part.start:,}–{part.stop - 1:,}"
    value = value_of(part, record)
    return text if value is None else f"{text} · {value}"


def ruler(stored: Stored) -> Html:
    """Every stretch of the record: its name, where it is, its bytes, what they say."""
    raw = bytes(stored.record)
    spans = []
    for part in parts(stored.record):
        if part.start == part.stop:
            continue
        piece = raw[part.start : part.stop]
        shown = piece[:RULER_BYTES].hex(" ") + (" …" if len(piece) > RULER_BYTES else "")
        role = _ROLES.get(part.name, "loader")
        spans.append(
            tag(
                "div",
                tag("span", shown, class_="mq-hex mq-mono mq-wrap"),
                tag("span", _label(part, stored.record), class_="mq-label"),
                class_="mq-span",
                style=f"--c: var(--role-{role if role in roles.ROLES else 'loader'})",
            )
        )
    return tag("div", *spans, class_="mq-ruler")


def files(made: Overview, view: View) -> None:
    """The commit log files, oldest first, holes between them said."""
    words = view.words
    columns = [
        Column("file", words("col.segment"), mono=True),
        Column("bytes", words("store.bytes_head"), right=True),
        Column("disk", words("store.on_disk"), right=True),
        Column("used", words("store.used"), right=True),
    ]
    rows = [
        [file["file"], f"{file['bytes']:,}", f"{file['on_disk']:,}", f"{file['used']:,}"]
        for file in made["files"][:MOST_ROWS]
    ]
    show_html(table(columns, rows, words("store.files")))
    for hole in made["holes"]:
        text = words("store.hole", first=f"{hole['first']:,}", last=f"{hole['last']:,}")
        show_html(tag("p", text, class_="mq-warning mq-note"))


def topics(made: Overview, words: Words) -> None:
    """Topics with their queues: those of the system behind the others, and those without a message last."""
    if not made["topics"]:
        st.caption(words("store.no_topics"))
        return
    columns = [
        Column("topic", words("record.topic"), mono=True, wide=True),
        Column("queues", words("store.queues"), right=True),
        Column("messages", words("store.messages"), right=True),
        Column("ranges", words("store.ranges"), mono=True, wide=True),
    ]
    rows = []
    for topic in sorted(made["topics"], key=lambda topic: not topic["messages"])[:MOST_ROWS]:
        ranges = ", ".join(f"{queue['queue_id']}: {queue['first']:,}–{queue['end']:,}" for queue in topic["queues"])
        rows.append(
            [
                tag("span", topic["topic"], class_="mq-topic"),
                f"{len(topic['queues']):,}",
                f"{topic['messages']:,}",
                ranges,
            ]
        )
    show_html(table(columns, rows, words("store.topics")))


def notes(made: Overview, view: View) -> list[str]:
    """What is odd about the folder, and what was cut on this page."""
    words = view.words
    lines = [] if st.query_params.get("store") else [words("store.scan_uploaded")]
    lines += [words("store.aborted")] if made["aborted"] else []
    if made["checkpoint"]:
        flushed = records.moment(made["checkpoint"]["physical_timestamp"])
        lines.append(words("store.checkpoint", at=view.full(flushed) if flushed else "–"))
    lines += [words("store.overlap", file=item["file"]) for item in made["overlaps"]]
    if made["index"]:
        entries = sum(file["entries"] for file in made["index"])
        lines.append(words("store.index", files=words.count("file", len(made["index"])), entries=f"{entries:,}"))
    else:
        lines.append(words("store.no_index"))
    lines += [words("store.stranger", name=name) for name in made["strangers"][:10]]
    lines += [words("store.unreadable", name=name, why=why) for name, why in list(made["unreadable"].items())[:10]]
    for key in ("files", "topics"):
        if len(made[key]) > MOST_ROWS:
            lines.append(words("store.cut", n=f"{MOST_ROWS:,}", of=f"{len(made[key]):,}"))
    return lines
