"""What every chart page begins with: which scan is shown, a way to another, its link, its tables to take away."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore import export
from idcore.catalogue import Words
from idcore.errors import CoreError
from idcore.runs import Run, runs_root
from idcore.triage import address_flags
from idcore.triage.processes import find_process
from pages.parts import browser, cache, problems, scans
from pages.parts.markdown import escaped
from pages.parts.markup import tag
from pages.parts.refusals import reasons_of, reasons_text, without_ids
from pages.parts.runs import runlist, watch
from pages.parts.view import View, link_params, view
from pages.parts.widgets import download, empty, page_link, show_html

TABLES = (
    "findings", "copies", "processes", "hosts", "brokers", "segments", "clients", "counters", "timeline", "activity",
    "distribution", "growth", "refused", "files", "topics", "tags",
)  # fmt: skip
MOST_LISTED = 12


def run_of(page: str) -> Run:
    """The scan this page shows, with its line on top. Without one, or before it is done, the page ends here."""
    words = view().words
    try:
        run = scans.current()
    except (CoreError, OSError) as error:  # a link to a scan that was deleted: say so, and lead on
        problems.show_error(error)
        run = None
    if run is None:
        listed = [row for row in cache.runs(str(runs_root())) if row["state"] == "done"]
        links = [("decode", words("empty.decode"))] + ([("runs", words("empty.runs"))] if listed else [])
        empty(words(f"empty.{page}"), *links)
        st.stop()
    if st.query_params.get("run") != run.name:
        st.query_params["run"] = run.name
    if run.state != "done":
        show_html(tag("p", tag("b", scans.title_of(run.title, run.options, words)), class_="mq-run"))
        watch.scan_state(run, again=lambda: runlist.again(run.name))
        if problem := st.session_state.get("runs_problem"):
            st.error(problem, icon=":material/error:")
        st.stop()
    line(run, page, words)
    twins(run, words)
    return run


def line(run: Run, page: str, words: Words) -> None:
    """Which scan: its name, files, bytes, ids, when; switch, link, download."""
    summary = run.summary or {}
    facts = [
        words.count("file", summary.get("files", 0)),
        words.bytes(summary.get("text_bytes", 0)),
        words.count("id", summary.get("ids", 0)),
        view().minute(run.created),
    ]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="run-line"):
        title = scans.title_of(run.title, run.options, words, summary)
        show_html(tag("div", tag("b", title), *(tag("span", fact) for fact in facts), class_="mq-run"))
        if (folder := scans.store_of(run)) is not None:
            page_link("store", words("run.store_page"), icon=":material/folder_open:", store=folder)
        with st.popover(words("run.switch"), type="tertiary", icon=":material/swap_horiz:"):
            done = [row for row in cache.runs(str(runs_root())) if row["state"] == "done"]
            others = {name: label for name, label in scans.labels(done, view()).items() if name != run.name}
            for name, label in islice(others.items(), MOST_LISTED):
                page_link(page, escaped(label), run=name)
            if not others:
                st.caption(words("run.no_other"))
            page_link("runs", words("run.all"), icon=":material/history:")
        browser.copy_button(address(run), words, "link", words("run.link"))
        download(
            words("run.download"), lambda: everything(run), f"{run.name}.zip", key="run-zip", mime="application/zip"
        )


def twins(run: Run, words: Words, place: DeltaGenerator | None = None) -> None:
    """A line next to the figures where the same content was scanned more than once."""
    for names in run.options.get("same") or []:
        more = len(names) - 3
        shown = (
            words.listed(names) if more <= 0 else words("comma").join(names[:3]) + words("decode.more_files", n=more)
        )
        with place or st.container():
            show_html(tag("p", words("run.same", names=shown), class_="mq-warning mq-note"))


def address(run: Run) -> str:
    """The address of this very view."""
    parts = urlsplit(st.context.url or "")
    asked = {name: st.query_params.get_all(name) for name in st.query_params}
    query = urlencode({**asked, **link_params(run=run.name)}, doseq=True)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))


def everything(run: Run) -> bytes:
    """All tables of a scan in one archive; of a table too large for that the first rows, and its name says so."""
    frames = ((name_of(run, name), cache.frame(run, name)) for name in TABLES if run.has(name))
    return export.zip_frames(frames, run.summary or {})


def name_of(run: Run, table: str) -> str:
    """What a table to take away is called."""
    return f"{table}-first-{cache.FIRST_ROWS}" if cache.is_cut(run, table) else table


def cut(run: Run, shown: int, words: Words) -> str:
    """That not all processes are in the list; nothing where they are."""
    if not cache.is_cut(run, "processes"):
        return ""
    return words("run.cut", n=f"{shown:,}", all=words.count("process", cache.rows(run, "processes")))


def beyond(run: Run, hosts: pd.DataFrame, measure: str) -> tuple[int, int]:
    """How many hosts are not in the frame, and how many ids or distinct ids they generated."""
    if not cache.is_cut(run, "hosts"):
        return 0, 0
    totals = cache.totals(run)
    whole = totals.ids if measure == "ids" else totals.distinct
    return cache.rows(run, "hosts") - len(hosts), whole - int(hosts[measure].sum())


def host_marks(run: Run, hosts: pd.DataFrame, words: Words) -> dict[str, list[str]]:
    """What is odd about these hosts, in words."""
    odd = address_flags.of_hosts(cache.where(run, "processes", host=hosts["host"].tolist()))
    return {host: [words(f"mark.{code}") for code in codes] for host, codes in odd.items()}


def find_row(run: Run, key: str | None) -> pd.DataFrame:
    """The process that a key names, of a scan of any size; empty where it does not exist."""
    parts = (key or "").split("~")
    if len(parts) < 3 or not parts[1].isdecimal():
        return pd.DataFrame()
    found = cache.where(run, "processes", host=(parts[0],), pid=(int(parts[1]),), loader=(parts[2],))
    place = find_process(found, key)
    return found.loc[[place]] if place is not None else pd.DataFrame()


def notes(run: Run, shown: View) -> list[str]:
    """The small print of every chart page: what was assumed, what failed, what was rejected."""
    words = shown.words
    summary = run.summary or {}
    lines = []
    if scans.store_of(run) is not None:
        lines.append(words("run.store"))
    assumed = summary.get("assumed") or run.options
    zones = sorted(cache.totals(run).zones)
    if len(zones) > 1:  # one zone for all would be wrong for some
        lines.append(words("run.zones", n=len(zones), names=words("comma").join(zones[:6])))
    elif assumed.get("zone"):
        sources = summary.get("zone_sources") or {}
        from_lines = bool(sources) and not sources.keys() & {"given", "assumed", "unknown"}
        key = "run.zone_born" if zones and from_lines else f"run.zone_{assumed.get('zone_source') or 'assumed'}"
        zone = zones[0] if zones and from_lines else assumed["zone"]
        at = str(assumed.get("at") or run.created)[:10]
        lines.append(words(key if words.has(key) else "run.zone_assumed", zone=zone, at=at))
    if assumed.get("case") == "any":
        lines.append(words("run.case_any"))
    files = cache.frame(run, "files")
    if not files.empty:
        failed = files[files["error"].notna() & (files["error"] != "")]
        partly = failed["text_bytes"] > 0
        for key, rows in (("run.failed_files", failed[~partly]), ("run.part_files", failed[partly])):
            if len(rows):
                unread = [words("aside", text=row.file, note=_problem(row, words)) for row in rows.head(5).itertuples()]
                names = words("comma").join(unread)
                lines.append(words(key, n=words.count("file", len(rows)), of=f"{len(files):,}", names=names))
    lines.append(without_ids(run, words))
    if reasons := reasons_of(run):
        n = words.count("token", sum(reasons.values()))
        lines.append(words("refused.line", n=n, reasons=reasons_text(reasons, words)) + words("stop"))
    return lines


def _problem(row: Any, words: Words) -> str:
    """Why a file was not read; scans of older versions have a sentence in the place of a code."""
    values = getattr(row, "error_values", None)
    return words.problem(str(row.error), json.loads(values)) if isinstance(values, str) else str(row.error)
