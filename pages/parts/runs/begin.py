"""The two ways to start a scan without the decode page: uploads, and files of the server; and how far that scan is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.intake import intake
from idcore.intake.allowed import BYTES_A_SECOND, Place, contents
from idcore.policy.access import PERMISSIONS
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.presentation.triage import run_rows, run_texts
from idcore.runs.runs import TOPICS_BYTES, Run, RunError
from idcore.server import jobs
from pages.parts import cache, problems, scans, session, visitor
from pages.parts.runs import runlist, watch
from pages.parts.view import view
from pages.parts.widgets import page_link, show_html

SINCE = ("beginning", "minutes", "end")  # of files that are there, where they are followed from
SOME_TIME = timedelta(minutes=30)


def uploads() -> None:
    """Files from the visitor, scanned without being decoded at once."""
    words = view().words
    turn = st.session_state.get("runs_turn", 0)  # of an uploader: the next one is empty
    with st.form("run-upload", border=False):
        files = st.file_uploader(words("decode.upload"), accept_multiple_files=True, key=f"run-files-{turn}")
        sent = st.form_submit_button(words("runs.scan"), key="scan-uploads")
    if sent and not files:
        st.warning(words("runs.no_upload"), icon=":material/info:")
    elif sent:
        begin_uploads(files, words)


def begin_uploads(files: Sequence[Any], words: Words) -> None:
    """Starts the scan of uploaded files."""
    if not jobs.ready():
        watch.no_engine(words)
        return
    dated = intake.Dating.of(view().clock())
    with problems.caught():
        run = scans.begin(intake.sources_of_input("", files), dated)
    session.give_back(files)  # the run has its copy
    st.session_state["runs_uploaded"] = run.name
    st.session_state["runs_turn"] = st.session_state.get("runs_turn", 0) + 1
    st.rerun()


def folder() -> None:
    """A folder or file of the server, inside what the administrator allows."""
    words, state = view().words, st.session_state
    roots = scans.shown_roots()
    if not roots:
        off = words("runs.folder_off")
        if scans.configured_roots():
            off = words("access.no_folders", roles=words("comma").join(PERMISSIONS["folders"].roles))
        show_html(tag("p", off, class_="mq-faint"))
        return
    with st.form("run-folder", border=False):
        path = st.text_input(
            words("runs.folder"),
            key="run-path",
            placeholder=words("runs.folder_hint", path=f"{roots[0].rstrip('/')}/app.log"),
            help=words("runs.folder_help", roots=words("comma").join(roots)),
        )
        with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
            sent = st.form_submit_button(words("runs.scan"), key="scan-folder")
            followed = st.form_submit_button(words("follow.button"), key="follow-folder", help=words("follow.help"))
            text = lambda name: words(f"follow.since_{name}")  # noqa: E731
            st.selectbox(words("follow.since"), SINCE, key="follow-since", format_func=text, width=200)
    if followed and path and follow(path, state.get("follow-since", SINCE[0])):
        st.rerun()
    if sent:
        state.pop("runs_offered", None)
        if path and begin_folder(path, ask=True):
            st.rerun()
    if (sent or followed) and not path:
        st.warning(words("runs.no_path"), icon=":material/info:")
    if offered := state.get("runs_offered"):
        offer(offered, words)


def going() -> None:
    """The scans that were begun right here: how far they are, and at their end the way to their findings."""
    for key in ("runs_uploaded", "runs_begun"):
        _going(key, view().words)


def _going(key: str, words: Words) -> None:
    name = st.session_state.get(key)
    if not name:
        return
    try:
        run = scans.visible_runs().open(name)
        if watch.scan_state(run, again=partial(runlist.again, name), place=key):
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                title = run_texts.title_of(run.title, run.options, words, run.summary)
                st.markdown(words("runs.done", title=escaped(title)), width="content")
                page_link("findings", words("runs.open"), icon=":material/arrow_forward:", run=name)
    except RunError:  # deleted in the list
        st.session_state.pop(key, None)


def begin_folder(path: str, *, ask: bool = False, subscriptions: scans.Subscriptions | None = None) -> Run | None:
    """Starts the scan of a path of the server, or says why not. A store folder is scanned record by record.

    With `ask`, what was scanned before or takes long is offered first.
    """
    place = _ready(path)
    if place is None:
        return None
    if place.only_grows:
        st.error(problems.message(CoreError("kafka_scan"), view().words), icon=":material/block:")
        return None
    if ask and (place.contents.large or run_rows.of_contents(cache.scans(), place.contents.digest)):
        st.session_state["runs_offered"] = place
        return None
    with problems.caught():
        return _begin(place, subscriptions)


def follow(path: str, since: str) -> Run | None:
    """Follows a path of the server from then on, or says why not."""
    place = _ready(path)
    if place is None:
        return None
    if not place.may_grow:
        st.error(view().words("follow.no_text"), icon=":material/block:")
        return None
    with problems.caught():
        visitor.current().require("folders")
        copied = TOPICS_BYTES if place.only_grows else 0
        run = scans.create(place.path, {"zone": view().zone_name}, place.contents.bytes, copied)
        start = view().now() - SOME_TIME if since == SINCE[1] else since
        scans.follow(run, [place.real], intake.Dating.of(view().clock()), start)
        st.session_state["runs_begun"] = run.name
        return run
    return None


def _ready(path: str) -> Place | None:
    """A path of the server where it can be read and Spark is there; else it is said why not."""
    words = view().words
    place = _place_of(path, words)
    if place is not None and not jobs.ready():
        watch.no_engine(words)
        return None
    return place


def _place_of(path: str, words: Words) -> Place | None:
    try:
        real = scans.allowed(path)
        store = scans.store_in(real) if isinstance(real, Path) else None
    except PermissionError:
        roots = words("comma").join(scans.shown_roots())
        st.error(escaped(words("runs.folder_refused", roots=roots)), icon=":material/block:")
        return None
    if isinstance(real, Path) and not os.path.exists(real):
        st.error(words("problem.missing", name=escaped(path)), icon=":material/block:")
        return None
    with problems.caught(), st.spinner(words("runs.counting")):
        inside = contents(str(real), store, scans.guard())
    if not inside.files:
        st.warning(words("runs.no_file", path=escaped(path)), icon=":material/info:")
        return None
    return Place(path, str(real), store, inside)


def _begin(place: Place, subscriptions: scans.Subscriptions | None = None) -> Run:
    visitor.current().require("folders")  # before a run is made: it may have been offered to another role,
    scans.allowed(place.real)  # and may lead elsewhere by now
    options = {"zone": view().zone_name, "contents": place.contents.digest}
    run = scans.create(place.path, options, place.contents.bytes)
    dated = intake.Dating.of(view().clock())
    scans.launch(run, [] if place.store else [place.real], dated, store=place.store, subscriptions=subscriptions)
    st.session_state["runs_begun"] = run.name
    st.session_state.pop("runs_offered", None)
    return run


def start(place: Place) -> None:
    """The scan that was offered."""
    problems.tried(lambda: _begin(place))


def offer(place: Place, words: Words) -> None:
    """What is known before the scan begins: the same files were scanned, or it will take long."""
    contents = place.contents
    files, size = words.count("file", contents.files), words.bytes(contents.bytes)
    with st.container(border=True, key="runs-offer"):
        st.markdown(words("runs.there", path=escaped(place.path), files=files, size=size))
        if contents.large:
            rate, span = words.bytes(BYTES_A_SECOND), words.duration(round(contents.seconds))
            st.markdown(words("runs.long", span=span, rate=rate))
        earlier = run_rows.of_contents(cache.scans(), contents.digest)
        if earlier is not None:
            st.markdown(words("runs.scanned_before", at=view().minute(earlier["created"])))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if earlier is not None:
                page_link("findings", words("runs.open_it"), icon=":material/arrow_forward:", run=earlier["name"])
            label = words("runs.scan_again" if earlier is not None else "runs.scan_now")
            st.button(label, type="secondary" if earlier is not None else "primary", on_click=start, args=(place,))
            st.button(
                words("runs.not_now"), type="tertiary", on_click=st.session_state.pop, args=("runs_offered", None)
            )
