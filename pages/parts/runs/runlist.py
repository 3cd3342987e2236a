"""The list of scans row by row, and the two ways to start one without the decode page: uploads, a server's folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from idcore import intake
from idcore.catalogue import Words
from idcore.errors import CoreError
from idcore.ids.clock import Clock
from idcore.runs import Run, runs_root
from pages.parts import cache, cards, problems, scans
from pages.parts.markdown import escaped
from pages.parts.markup import tag
from pages.parts.runs import watch
from pages.parts.view import view
from pages.parts.widgets import page_link, show_html


def scans_sentence(runs: Sequence[Mapping[str, Any]], words: Words) -> str:
    """How many scans, how much text, how many at work."""
    size = sum((row["summary"] or {}).get("text_bytes", 0) for row in runs)
    live = sum(row["state"] in ("new", "running") for row in runs)
    text = words("runs.said", runs=words.count("run", len(runs)), size=words.bytes(size))
    return text + (words("runs.said_live", n=words.count("running", live)) if live else "")


def rows(start: int, count: int, live: bool) -> None:
    """The scans of one page of the list, newest first."""
    runs = cache.runs(str(runs_root()))
    if problem := st.session_state.get("runs_problem"):
        st.error(problem, icon=":material/error:")
    if live and not any(row["state"] in ("new", "running") for row in runs):
        st.rerun()
    for row in runs[start : start + count]:
        one(row)


def one(row: Mapping[str, Any]) -> None:
    """One scan: title, figures, state; open, delete."""
    words = view().words
    with st.container(border=True, key=f"run-{row['name']}"):
        left, right = st.columns([5, 3], vertical_alignment="center")
        with left:
            facts = [view().minute(row["created"]), *figures(row, words)]
            broken = (row["summary"] or {}).get("failed_files", 0)
            show_html(
                tag(
                    "div",
                    tag(
                        "b", scans.title_of(row["title"], row["options"], words, row["summary"]), class_="mq-run-title"
                    ),
                    tag("div", *(tag("span", fact) for fact in facts), class_="mq-run"),
                    tag("div", words.count("broken_file", broken), class_="mq-warning mq-note") if broken else None,
                    class_="mq-run-row",
                )
            )
            if row["state"] in ("new", "running"):
                progress(row["name"], words)
            elif row["state"] == "failed":
                show_html(
                    tag(
                        "div",
                        words("scan.failed", reason=words.said(row["error"] or words("scan.gone"))),
                        class_="mq-error mq-note",
                    )
                )
            elif row["state"] == "cancelled":
                show_html(tag("div", words("scan.cancelled"), class_="mq-faint mq-note"))
        with (
            right,
            st.container(horizontal=True, gap="small", horizontal_alignment="right", vertical_alignment="center"),
        ):
            if row["state"] == "done":
                page_link("findings", words("runs.open"), icon=":material/arrow_forward:", run=row["name"])
            elif row["state"] in ("failed", "cancelled"):
                st.button(words("scan.again"), key=f"again-{row['name']}", on_click=again, args=(row["name"],))
            with st.popover(words("runs.delete"), type="tertiary", icon=":material/delete:"):
                st.markdown(words("runs.delete_sure" if row["options"].get("sources") else "runs.delete_sure_folder"))
                st.button(
                    words("runs.delete_yes"),
                    key=f"delete-{row['name']}",
                    type="primary",
                    on_click=delete,
                    args=(row["name"],),
                )


def figures(row: Mapping[str, Any], words: Words) -> list[str]:
    """Files, bytes, ids, how long it took."""
    summary = row["summary"]
    if not summary:
        return []
    return [
        words.count("file", summary["files"]),
        words.bytes(summary["text_bytes"]),
        words.count("id", summary["ids"]),
        words.count("refused_token", summary["refused"]),
        words("runs.took", span=words.duration(summary["seconds"])),
    ]


def progress(name: str, words: Words) -> None:
    """How far a running scan is."""
    job = scans.job_of(scans.store().open(name))
    if job is None:
        st.caption(words("scan.elsewhere"))
        return
    now = job.progress()
    if now.bytes_total:
        st.progress(
            min(1.0, now.bytes_done / now.bytes_total),
            watch.progress_text(now.bytes_done, now.bytes_total, now.ids, now.seconds, now.seconds_left, words),
        )
    else:
        st.progress(0.0, words("scan.waiting"))
    st.button(words("scan.cancel"), key=f"cancel-{name}", on_click=job.cancel)


def again(name: str) -> None:
    """Starts a scan that ended early once more."""
    st.session_state.pop("runs_problem", None)
    try:
        scans.again(name)
    except (CoreError, OSError) as error:
        st.session_state["runs_problem"] = problems.message(error, view().words)
    cache.forget_runs()


def delete(name: str) -> None:
    """Deletes a scan for good; a running one is stopped first."""
    st.session_state.pop("runs_problem", None)
    try:
        job = scans.job_of(scans.store().open(name))
        if job is not None:
            job.cancel()
            job.wait(10)
        scans.store().delete(name)
    except (CoreError, OSError) as error:
        st.session_state["runs_problem"] = problems.message(error, view().words)
    if st.session_state.get("run") == name:
        st.session_state.pop("run", None)
    if getattr(st.session_state.get("decode"), "run", None) == name:
        st.session_state.pop("decode")
    cache.forget_runs()


def uploads() -> None:
    """Files from the visitor, scanned without being decoded at once."""
    words = view().words
    with st.form("run-upload", border=False):
        files = st.file_uploader(words("decode.upload"), accept_multiple_files=True, key="run-files")
        if st.form_submit_button(words("runs.scan")) and files:
            begin_uploads(files, words)


def begin_uploads(files: Sequence[Any], words: Words) -> None:
    """Starts the scan of uploaded files."""
    if not scans.ready():
        watch.no_engine(words)
        return
    dated = intake.Dating.of(cards.clock_of(view()))
    with problems.caught():
        scans.begin([intake.Source(file.name, file) for file in files], dated)
    st.rerun()


def folder() -> None:
    """A folder or file of the server, inside what the administrator allows."""
    words = view().words
    roots = scans.allowed_roots()
    if not roots:
        show_html(tag("p", words("runs.folder_off"), class_="mq-faint"))
        return
    with st.form("run-folder", border=False):
        path = st.text_input(
            words("runs.folder"),
            key="run-path",
            placeholder=str(roots[0]),
            help=words("runs.folder_help", roots=words("comma").join(map(str, roots))),
        )
        if not (st.form_submit_button(words("runs.scan")) and path):
            return
    if begin_folder(path):
        st.rerun()


def begin_folder(path: str) -> Run | None:
    """Starts the scan of a path of the server, or says why not. A store folder is scanned record by record."""
    words = view().words
    try:
        real = scans.allowed(path)
        store = scans.store_in(real) if isinstance(real, Path) else None
    except PermissionError:
        roots = words("comma").join(map(str, scans.allowed_roots()))
        st.error(words("runs.folder_refused", roots=roots), icon=":material/block:")
        return None
    if isinstance(real, Path) and not os.path.exists(real):
        st.error(words("problem.missing", name=escaped(path)), icon=":material/block:")
        return None
    if not scans.ready():
        watch.no_engine(words)
        return None
    with problems.caught():
        run = scans.store().create(path, "console", {"zone": view().zone_name})
        clock: Clock = cards.clock_of(view())
        dated = intake.Dating.of(clock)
        scans.launch(run, [] if store else [str(real)], dated, store=store)
    return run
