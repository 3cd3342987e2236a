"""What pages of one scan share: small print, a process by its key, marks of hosts, what was cut. Opens no scan."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.base.catalogue import Words
from idcore.base.numbers import whole_number
from idcore.presentation.reports.markup import tag
from idcore.presentation.triage import address_flags, host_rows, run_notes, run_tables
from idcore.presentation.triage.processes import PID_DIGITS, find_process
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.view import View, absolute
from pages.parts.widgets import show_html, zone_note


def twins(run: Run, words: Words, place: DeltaGenerator | None = None) -> None:
    """A line next to the figures where the same content was scanned more than once."""
    for text in run_notes.twins(run, words):
        with place or st.container():
            show_html(tag("p", text, class_="mq-warning mq-note"))


def findings_address(run: Run) -> str:
    """The absolute address of the findings of a scan; empty where nobody asked for a page."""
    return absolute("findings", run=run.name)


def name_of(run: Run, table: str) -> str:
    """What a table to take away is called."""
    return f"{table}-first-{run_tables.FIRST_ROWS}" if cache.is_cut(run, table) else table


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


def host_codes(run: Run, hosts: Sequence[str]) -> dict[str, list[str]]:
    """What is odd about these hosts, as codes; first whether they have no more IDs while others go on."""
    codes = address_flags.of_hosts(cache.where(run, "processes", address_flags.NEEDED, host=hosts))
    if cache.is_cut(run, "hosts") or cache.totals(run).is_list or run.store is not None:
        return codes
    stopped = set(host_rows.silent(cache.frame(run, "hosts"))["host"])
    return codes | {host: ["stopped", *codes.get(host, [])] for host in hosts if host in stopped}


def host_marks(run: Run, hosts: pd.DataFrame, words: Words) -> dict[str, list[str]]:
    """The same in words."""
    odd = host_codes(run, hosts["host"].tolist())
    return {host: [words(f"mark.{code}") for code in codes] for host, codes in odd.items()}


def assumed_by_host(run: Run, hosts: Sequence[str], words: Words) -> dict[str, str]:
    """What is behind the times of these hosts, by host; empty for scans of older versions."""
    rows = cache.where(run, "hosts", host=hosts)
    codes = rows["assumed"] if "assumed" in rows else [None] * len(rows)
    return {host: words.assumed((code or "").split()) for host, code in zip(rows["host"], codes, strict=True)}


def find_row(run: Run, key: str | None) -> pd.DataFrame:
    """The process that a key names, of a scan of any size; empty where it does not exist."""
    parts = (key or "").split("~")
    if len(parts) < 3 or (pid := whole_number(parts[1], PID_DIGITS)) is None:
        return pd.DataFrame()
    rows = cache.where(run, "processes", host=(parts[0],), pid=(pid,), loader=(parts[2],))
    place = find_process(rows, key)
    return rows.loc[[place]] if place is not None else pd.DataFrame()


def log_clock(run: Run, shown: View) -> str:
    """The clock of the run's log lines, where it is not that of the page; records have no lines."""
    zones = [] if run.store is not None else sorted(cache.totals(run).zones)
    return run_notes.log_clock(zones, shown.now(), shown)


def notes(run: Run, shown: View) -> list[str]:
    """The small print of every chart page: the zones of page and log, what was assumed, what failed or was rejected."""
    files, refused = cache.frame(run, "files"), cache.rejected(run)
    return run_notes.notes(run, cache.totals(run).zones, files, refused, shown, zone_note(shown))
