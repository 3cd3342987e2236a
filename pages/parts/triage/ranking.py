"""Which process to look at: a box to choose from, and a ranking by missing share, wraps or rate."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from idcore.ids.origins import PROCESS_KEY
from idcore.presentation.html import counters as html
from idcore.presentation.triage.counter_rows import LEAST_IDS
from idcore.presentation.triage.host_rows import place_of_replaced
from idcore.presentation.triage.in_range import InRange
from idcore.presentation.triage.processes import find_process, process_key, process_name, sorted_processes
from idcore.presentation.triage.scope import Scope
from idcore.presentation.triage.time_range import TimeRange
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.triage import filters, shared
from pages.parts.view import View, in_sight
from pages.parts.widgets import show_html

TOP = 10
FIRST = 500  # by each rank, of a large scan
BY = ("missing", "wraps", "rate")


def of_run(run: Run, wanted: Scope) -> pd.DataFrame:
    """The processes to choose from: those of a host that is asked for, else all; of a large scan those that rank first.

    The process that is asked for is always one of them. A host that the scan does not have is not respected.
    """
    asked = wanted.process
    if wanted.host and not (own := cache.where(run, "processes", host=[wanted.host])).empty:
        return cache.judge(run, own)
    if (every := cache.all_judged(run)) is not None:
        return every
    rows = pd.concat([*(cache.first(run, by).head(FIRST) for by in BY), shared.find_row(run, asked)])
    return cache.judge(run, rows.drop_duplicates(PROCESS_KEY))


def of_range(run: Run, in_range: InRange, wanted: Scope) -> pd.DataFrame:
    """The processes of a time range, or those of a host, and the one that is asked for where it is not among them."""
    own = in_range.processes
    if wanted.host:
        own = own[own["host"] == wanted.host].reset_index(drop=True)
    if find_process(own, wanted.process) is not None:
        return own
    row = shared.find_row(run, wanted.process)
    return pd.concat([own, row[[*PROCESS_KEY]]], ignore_index=True) if len(row) else own


def choose(processes: pd.DataFrame, view: View) -> int:
    """The place of the process shown: the box, which follows the address and the ranking.

    Without an address the first, or one that another replaced, where none misses IDs and none wraps.
    """
    place = find_process(processes, st.query_params.get("process"))
    if place is None and criteria(processes)[0] == "rate":
        place = place_of_replaced(processes)
    place = place or 0
    st.session_state["pick_process"] = place
    names = [process_name(row) for row in processes.to_dict("records")]
    st.selectbox(
        view.words("counters.process"),
        list(range(len(names))),
        format_func=lambda at: names[at],
        key="pick_process",
        on_change=in_sight(lambda: into_link(processes, int(st.session_state["pick_process"]))),
    )
    return place


def ranked(processes: pd.DataFrame, by: str) -> pd.DataFrame:
    """Processes by one of BY. By rate those with few IDs come last: that of three IDs is chance."""
    ordered = sorted_processes(processes, by)
    few = ordered["distinct"] < min(LEAST_IDS, ordered["distinct"].max() / 2)
    return pd.concat([ordered[~few], ordered[few]]) if by == "rate" else ordered


def unknown(run: Run, wanted: Scope) -> None:
    """A sentence where the address names a process or a host that the scan does not have."""
    if wanted.process and shared.find_row(run, wanted.process).empty:
        filters.known("process", [wanted.process], ())
    if wanted.host:
        filters.known("host", [wanted.host], cache.where(run, "hosts", host=[wanted.host])["host"].tolist())


def into_link(processes: pd.DataFrame, place: int) -> None:
    """The address names the process."""
    st.query_params["process"] = process_key(processes.iloc[place])


def criteria(processes: pd.DataFrame) -> list[str]:
    """What processes can be ranked by, first what is not the same for all of them."""
    if "wraps" not in processes:  # of a time range
        return ["ids"]
    telling = {"missing": "lost", "wraps": "wraps", "rate": "rate_per_second"}
    return sorted(BY, key=lambda by: not (processes[telling[by]].fillna(0) > 0).any())


def ranking_list(run: Run, processes: pd.DataFrame, place: int, count: int, within: TimeRange, view: View) -> None:
    """The first ten by missing share, wraps or rate, each with its counter; a click shows the process.

    `count`: how many there are in all.
    """
    words, by = view.words, criteria(processes)[0]
    ordered = processes
    if by != "ids":
        label, text = words("counters.rank"), lambda name: words(f"rank.{name}")
        by = filters.one_of(st.segmented_control, "rank", criteria(processes), label, text, required=True)
        ordered = ranked(processes, by)
    rows = ordered.head(TOP).to_dict("records")
    current = process_key(processes.iloc[place])
    show_html(html.ranking(rows, current, by, partial(cache.points, run), view, run.name, within))
    if count > TOP:
        st.caption(words("counters.rank_more", n=TOP, all=words.count("process", count)))
