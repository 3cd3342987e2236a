"""What every chart page begins with: which scan is shown, a way to another, its link, its tables to take away."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.catalogue import Words
from idcore.intake_texts import reasons_text
from idcore.reports.markup import tag
from idcore.runs import Run
from idcore.triage import address_flags
from idcore.triage.processes import find_process
from pages.parts import cache, scans
from pages.parts.refusals import reasons_of, without_ids
from pages.parts.view import View, absolute
from pages.parts.widgets import show_html


def twins(run: Run, words: Words, place: DeltaGenerator | None = None) -> None:
    """A line next to the figures where the same content was scanned more than once."""
    for names in run.options.get("same") or []:
        more = len(names) - 3
        shown = (
            words.listed(names) if more <= 0 else words("comma").join(names[:3]) + words("decode.more_files", n=more)
        )
        with place or st.container():
            show_html(tag("p", words("run.same", names=shown), class_="mq-warning mq-note"))


def findings_address(run: Run) -> str:
    """The absolute address of the findings of a scan; empty where nobody asked for a page."""
    return absolute("findings", run=run.name)


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
    lines += unread(run, words)
    lines.append(without_ids(run, words))
    if reasons := reasons_of(run):
        n = words.count("token", sum(reasons.values()))
        lines.append(words("refused.line", n=n, reasons=reasons_text(reasons, words)) + words("stop"))
    return lines


def unread(run: Run, words: Words) -> list[str]:
    """The files that could not be read, in all or in part."""
    files, lines = cache.frame(run, "files"), []
    if not files.empty:
        failed = files[files["error"].notna() & (files["error"] != "")]
        partly = failed["text_bytes"] > 0
        for key, rows in (("run.failed_files", failed[~partly]), ("run.part_files", failed[partly])):
            if len(rows):
                unread = [words("aside", text=row.file, note=_problem(row, words)) for row in rows.head(5).itertuples()]
                names = words("comma").join(unread)
                lines.append(words(key, n=words.count("file", len(rows)), of=f"{len(files):,}", names=names))
    return lines


def _problem(row: Any, words: Words) -> str:
    """Why a file was not read; scans of older versions have a sentence in the place of a code."""
    values = getattr(row, "error_values", None)
    return words.problem(str(row.error), json.loads(values)) if isinstance(values, str) else str(row.error)
