"""A store folder on a page: which one, what it holds, a record with its bytes. Opens nothing for writing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from idcore.answers.lookup import Answer, BodyRoom, Copy, StoreLookup, copy_row, relation_text
from idcore.answers.lookup.queries import texts_of
from idcore.answers.lookup.sentences import evidence_sentences
from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.base.numbers import whole_number
from idcore.base.open_folders import Roots
from idcore.ids import Clock
from idcore.policy.access import PERMISSIONS, AccessError
from idcore.presentation.headline import headline
from idcore.presentation.html import answers, records
from idcore.presentation.html import stores as html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import fold
from idcore.rocketmq.store import StoreFolder
from idcore.rocketmq.store.commitlog import Stored
from idcore.rocketmq.store.config import subscriptions_in
from idcore.runs.runs import Run, runs_root
from idcore.simulate import played_store
from pages.parts import cache, live, problems, scans, visitor
from pages.parts.messages import browse, lookups, uploads
from pages.parts.runs import begin
from pages.parts.view import View, in_sight, into_address, link_params, view
from pages.parts.widgets import page_link, said, show_html

UPLOAD = "upload:"  # an address of uploads: this and a token
MOST_RECORDS = 20  # shown whole; a batch of a 5.x client may have thousands under one id
# Facts about a record that was found, which neither its card nor the sentence contains.
_ODD = ("address", "as_key_of", "copies_gone", "outside_window", "unreadable")


def choose(words: Words) -> Path | None:
    """The folder to look into: one below what the administrator allows, or an upload. It stays open in the session."""
    roots = [str(root) for root in scans.allowed_folders()]
    query, state = st.query_params, st.session_state
    asked = query.get("store") or state.get("store_open") or ""
    left, right = st.columns(2, gap="large")
    with left:
        if roots:
            state["store_folder"] = "" if asked.startswith(UPLOAD) else asked
            label = words("store.folder")
            path = lambda: str(state.get("store_folder") or "").strip()  # noqa: E731
            hint = words("store.folder_hint", path=f"{roots[0].rstrip('/')}/store")
            st.text_input(label, key="store_folder", placeholder=hint, on_change=in_sight(lambda: _open(path())))
            _offer(asked, roots, words)
        elif not asked or asked.startswith(UPLOAD):  # of a path below, it is said as an error
            st.markdown(words("store.off"))
    with right:
        uploaded = st.file_uploader(
            words("store.upload"), key="store_files", accept_multiple_files=True, on_change=in_sight(_by_upload)
        )
    if uploaded and state.get("store_new"):
        uploads.close()
        folder = _of_uploads(partial(uploads.folder, uploaded, words))
        state["store_new"] = False
        return folder
    if asked.startswith(UPLOAD):
        return _of_token(asked.removeprefix(UPLOAD), words)
    if not asked:
        return None
    folder = _of_path(asked, words)
    if folder is None:
        state.pop("store_open", None)
        query.pop("store", None)
    else:
        state["store_open"] = query["store"] = asked
        state["store_place"] = {"store": asked}
    return folder


def _offer(asked: str, roots: Sequence[str], words: Words) -> None:
    """Where folders may be, and the stores that are there; nothing once one is open."""
    if asked:
        return
    st.caption(words("store.allowed", roots=escaped(words("comma").join(roots))))
    offers(words)


def to_open() -> list[str]:
    """Store folders of the server that this visitor may open, where none is open yet."""
    return scans.stores_to_open() if visitor.current().may("folders") and not opened() else []


def offers(words: Words) -> None:
    """Those, each with a click that opens it: the page then answers from it."""
    if found := to_open():
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="store-offers"):
            for number, path in enumerate(found):
                label = words("store.ask", path=escaped(path))
                look: dict[str, Any] = {"type": "tertiary", "icon": ":material/folder_open:"}
                st.button(label, key=f"store-offer-{number}", on_click=_open, args=(path,), **look)


def offer_example(words: Words, *, message: bool = False) -> None:
    """A store folder for those who have none at hand, or a message of it on its page."""
    if not visitor.current().may("folders") or not st.button(words("decode.example"), key="store-example"):
        return
    _open(UPLOAD + uploads.example().token)
    if message:
        into_address({"id": played_store.DEAD_LETTER})
        st.switch_page(st.session_state["pages"]["message"], query_params=link_params(**st.query_params.to_dict()))
    st.rerun()


def _by_upload() -> None:
    """Files were chosen: they count."""
    if st.session_state.get("store_files"):
        st.session_state["store_new"] = True
        _open("")


def _open(name: str) -> None:
    for held in ("store_which", "store_place"):
        st.session_state.pop(held, None)
    st.session_state["store_open"] = name
    into_address({**dict.fromkeys(("which", *browse.STEPS)), "store": name})


def _of_path(path: str, words: Words) -> Path | None:
    try:
        real = scans.allowed(path)
    except PermissionError:
        roots = [str(root) for root in scans.allowed_folders()]
        key = "store.off" if visitor.current().may("folders") else "access.no_folders"
        names, needed = (words("comma").join(some) for some in (roots, PERMISSIONS["folders"].roles))
        key = "store.not_allowed" if roots else key
        st.error(escaped(words(key, roots=names, roles=needed)), icon=":material/error:")
        return None
    if isinstance(real, Path) and real.exists():
        return real
    key = "problem.missing" if isinstance(real, Path) else "store.no_uri"
    st.error(words(key, name=escaped(path)), icon=":material/error:")
    return None


def _of_token(token: str, words: Words) -> Path | None:
    """The uploads that the address names; or why they are not here any more."""
    kept = uploads.held(token)
    if kept is None:
        st.warning(words("store.upload_gone"), icon=":material/info:")
        _open("")
        return None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        names = words.listed([escaped(name) for name in kept.names[:3]])
        st.markdown(words("store.uploaded", names=names), width="content")
        st.button(words("store.close"), type="tertiary", icon=":material/close:", on_click=_close, key="store-close")
    return _of_uploads(partial(uploads.chosen, kept, words))


def opened() -> dict[str, str]:
    """The folder that is open, as addresses have it: of this one, else of the session; empty without one."""
    query, state = st.query_params, st.session_state
    if asked := query.get("store"):
        return {"store": asked} | ({"which": query["which"]} if query.get("which") else {})
    return dict(state.get("store_place") or {}) if state.get("store_open") else {}


def linked(words: Words) -> Path | None:
    """The folder that is open, with a chip that closes it; None without one, or where it is gone, which is said."""
    here, state = opened(), st.session_state
    if not here:
        return None
    is_upload = here["store"].startswith(UPLOAD)
    folder = _linked_upload(here, words) if is_upload else _of_path(here["store"], words)
    if folder is None:
        if here == state.get("store_place"):  # another that the address named leaves the one of the session open
            state.pop("store_open", None)
        return None
    state["store_open"], state["store_place"] = here["store"], here
    into_address(here)
    kept = uploads.latest() if is_upload else None
    name = (here.get("which") or ", ".join(kept.names[:3])) if kept is not None else folder.name
    label, hint = words("store.chip", name=escaped(name)), words("store.chip_help")
    look: dict[str, Any] = {"icon": ":material/close:", "icon_position": "right", "help": hint}
    st.button(label, key="filter-chip-store", on_click=_close, **look)
    return folder


def _linked_upload(here: Mapping[str, str], words: Words) -> Path | None:
    try:
        kept = uploads.held(here["store"].removeprefix(UPLOAD))
    except AccessError as error:
        problems.show_error(error)
        return None
    folder = None if kept is None else kept.stores.get(here.get("which") or next(iter(kept.stores), ""))
    if folder is None:
        st.warning(words("store.upload_gone"), icon=":material/info:")
    return folder


def roots_of(folder: Path) -> Roots:
    """Where all of a chosen folder has to be: in the places of this visitor; of an upload, in its own copy."""
    kept = uploads.latest()
    if kept is not None and folder in kept.stores.values():
        return (os.path.realpath(kept.place.name),)
    return scans.guard()


def _close() -> None:
    uploads.close()
    _open("")


def _of_uploads(choose: Callable[[], Path | None]) -> Path | None:
    """The store that is chosen of the uploads; the address says which, and a link opens the same."""
    query, state = st.query_params, st.session_state
    if query.get("which") and "store_which" not in state:
        known = uploads.latest()
        if known is not None and query["which"] in known.stores:
            state["store_which"] = query["which"]
    folder = choose()
    kept = uploads.latest()
    if kept is not None and folder is not None:
        state["store_open"] = query["store"] = UPLOAD + kept.token
        if len(kept.stores) > 1:
            query["which"] = next(name for name, path in kept.stores.items() if path == folder)
        state["store_place"] = opened()
    return folder


def scan(words: Words) -> None:
    """The way from a folder of the server to the findings and charts of all its records."""
    path = st.query_params.get("store")
    if not path or path.startswith(UPLOAD):
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        pressed = st.button(words("store.scan"), icon=":material/query_stats:", help=words("store.scan_help"))
        if before := scanned(path):
            at = view().minute(before["created"])
            page_link("findings", words("store.scanned", at=at), icon=":material/troubleshoot:", run=before["name"])
            if Run(runs_root() / before["name"]).has("fates"):
                page_link("fate", words("store.scanned_fate"), icon=":material/mark_email_unread:", run=before["name"])
        with st.popover(words("store.subscriptions"), type="tertiary", help=words("store.subscriptions_help")):
            label, hint = words("store.subscriptions_label"), "billing:OrderPaid=TagA||TagB"
            given = st.text_area(label, key="tags", bind="query-params", placeholder=hint, height=120)
    if pressed:
        try:
            run = begin.begin_folder(path, subscriptions=subscriptions_in(given or ""))
        except CoreError as error:
            problems.show_error(error)
            return
        if run is not None:
            st.switch_page(st.session_state["pages"]["findings"], query_params=link_params("findings", run=run.name))


def scanned(path: str) -> Mapping[str, Any] | None:
    """The latest finished scan of the records of this folder."""
    real = str(scans.allowed(path))
    return next((row for row in cache.finished() if row["store"] == real), None)


def box(words: Words) -> list[str]:
    """The ids, keys or offsets that are asked for; they are part of the address."""
    state, query = st.session_state, st.query_params
    if "id" in query or "store_id" not in state:
        state["store_id"] = "\n".join(query.get("id", "").split(","))
    with st.form("store-box", border=False):
        left, right = st.columns([7, 1], gap="small", vertical_alignment="bottom")
        label, hint = words("store.box"), words("store.placeholder")
        left.text_area(label, key="store_id", placeholder=hint, height=68)
        right.form_submit_button(words("lookup.button"), type="primary", on_click=_into_link, width="stretch")
    texts = texts_of(state["store_id"] or "")
    if len(texts) > lookups.MOST_IDS:
        st.warning(words("store.many", n=f"{lookups.MOST_IDS:,}", of=f"{len(texts):,}"), icon=":material/info:")
    return texts[: lookups.MOST_IDS]


def _into_link() -> None:
    asked = texts_of(st.session_state.get("store_id") or "")
    into_address({"id": ",".join(asked)})


def ask(text: str) -> None:
    """Puts something else into the box, as if it had been written there."""
    st.session_state["store_id"] = st.query_params["id"] = text


def answer_all(store: StoreFolder, asked: Sequence[str], view: View) -> None:
    """Every id, key or offset with its answer; of several each in a box of its own, and how many were found."""
    if len(asked) == 1:
        answer(store, asked[0], view)
        return
    words, count = view.words, 0
    sentence = st.empty()
    for text in asked:
        with st.container(border=True):
            st.markdown(f"`{text}`" if text.isalnum() else escaped(text))
            count += answer(store, text, view)
    with sentence:
        said(words("store.found", found=f"{count:,}", ids=words.count("id", len(asked))))


def answer(store: StoreFolder, asked: str, view: View) -> bool:
    """The records of an id, or of a bare offset; or why none was found. Whether one was."""
    words, lookup = view.words, StoreLookup(store, Clock(view.now(), view.zone, "assumed"), trace_topics=())
    offset = whole_number(asked)
    answered = lookup.one(asked, fate=True) if offset is None else lookup.at(offset, fate=True)
    if not answered.found:
        missed(answered, view)
        return False
    if answered.reason:
        st.info(escaped(answers.reason(answered, view)), icon=":material/info:")
    if another := answers.shown_as(answered, words):
        st.info(escaped(another), icon=":material/info:")
    if answered.fate is not None:
        said(headline(answered, words, view.instant))
    figures = answers.shown_figures(answered, view)
    _figures({name: figures[name] for name in answered.figures if name in _ODD}, view)
    copies = live.answer_seen(answered).copies[: html.MOST_ROWS]
    room = BodyRoom()
    rows = [copy_row(copy, room) for copy in copies]
    if len(rows) > 1:
        show_html(records.copies(rows, [relation_text(copy, words) for copy in copies], view))
        _cut(html.MOST_ROWS, len(answered.copies), words)
    for copy, row in list(zip(copies, rows, strict=True))[:MOST_RECORDS]:
        record(store, copy, row, view, asked)
        known = answers.fates(answered, str(row["offset_msg_id"]), view)
        if known is not None:
            show_html(known)
    _cut(MOST_RECORDS, len(answered.copies), words)
    for text in evidence_sentences(answered.evidence, words, view.full):
        st.caption(escaped(text))
    return True


def _cut(shown: int, there: int, words: Words) -> None:
    if there > shown:
        st.caption(words("store.cut", n=f"{shown:,}", of=f"{there:,}"))


def missed(answer: Answer, view: View) -> None:
    """Why it is not there, in a sentence with its figures, and what to try next."""
    st.warning(escaped(answers.reason(answer, view)), icon=":material/search_off:")
    _figures(answers.shown_figures(answer, view), view)
    show_html(answers.advice(answer, view.words))
    if isinstance(at := answer.figures.get("record_offset"), int):
        label = view.words("store.record_at", offset=f"{at:,}")
        key = f"store-at-{answer.id}"
        st.button(label, key=key, type="tertiary", icon=":material/arrow_forward:", on_click=ask, args=(str(at),))


def _figures(known: Mapping[str, Any], view: View) -> None:
    shown = answers.figures(known, view)
    if shown is not None:
        show_html(shown)


def record(store: StoreFolder, copy: Copy, row: Mapping[str, Any], view: View, asked: str) -> None:
    """A record whole: its card, its bytes under a ruler, the ones before and after it."""
    words, stored = view.words, Stored(row["commit_log_offset"], copy.record, row["file"])
    show_html(records.card(row, view))
    if doubts := answers.doubts(copy.doubts or (), view):
        st.warning(doubts, icon=":material/warning:")
    if visitor.current().may("bodies"):
        show_html(fold(words("store.bytes", n=f"{stored.record.size:,}"), html.ruler(stored)))
    before, after = store.log.next_to(stored)
    with st.container(horizontal=True, gap="small"):
        for key, other in (("store.before", before), ("store.after", after)):
            if other is not None:
                label = words(key, offset=f"{other.offset:,}")
                target, name = str(other.offset), f"{key}-{asked}-{stored.offset}"
                st.button(label, key=name, type="tertiary", on_click=ask, args=(target,))


def notes(overview: html.Overview, view: View) -> list[str]:
    """What is odd about the folder, and that uploads cannot be scanned here."""
    path = st.query_params.get("store", "")
    uploaded = [view.words("store.scan_uploaded")] if not path or path.startswith(UPLOAD) else []
    return [*uploaded, *html.notes(overview, view)]
