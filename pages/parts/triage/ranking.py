"""Which process to look at: a box to choose from, and a ranking by wraps, missing share or rate."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from idcore.base.catalogue import Words
from idcore.presentation.html import tables
from idcore.presentation.triage.in_range import KEY, InRange
from idcore.presentation.triage.processes import find_process, process_key, process_name, sorted_processes
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.triage import filters, shared
from pages.parts.view import View

TOP = 10
FIRST = 500  # by each rank, of a large scan
BY = ("wraps", "missing", "rate")


def of_run(run: Run, asked: str | None) -> pd.DataFrame:
    """The processes to choose from: all, or of a large scan the first by each rank, and the one that is asked for."""
    if not cache.is_cut(run, "processes"):
        return cache.frame(run, "processes")
    found = pd.concat([*(cache.first(run, by).head(FIRST) for by in BY), shared.find_row(run, asked)])
    return found.drop_duplicates(["layout", "host", "pid", "loader"])


def of_range(run: Run, found: InRange, asked: str | None) -> pd.DataFrame:
    """The processes of a time range, and the one that is asked for where it is not among them."""
    if find_process(found.processes, asked) is not None:
        return found.processes
    row = shared.find_row(run, asked)
    return pd.concat([found.processes, row[[*KEY]]], ignore_index=True) if len(row) else found.processes


def choose(processes: pd.DataFrame, view: View) -> int:
    """The place of the process shown: the box, which follows the address and the ranking."""
    asked = find_process(processes, st.query_params.get("process"))
    place = asked if asked is not None else 0
    st.session_state["pick_process"] = place
    names = [process_name(row) for row in processes.to_dict("records")]
    st.selectbox(
        view.words("counters.process"),
        list(range(len(names))),
        format_func=lambda at: names[at],
        key="pick_process",
        on_change=lambda: into_link(processes, int(st.session_state["pick_process"])),
    )
    return place


def unknown(run: Run, asked: str | None) -> None:
    """A sentence where the address names a process that the scan does not have."""
    if asked and shared.find_row(run, asked).empty:
        filters.known("process", [asked], ())


def into_link(processes: pd.DataFrame, place: int) -> None:
    """The address names the process."""
    st.query_params["process"] = process_key(processes.iloc[place])


def ranking_list(processes: pd.DataFrame, place: int, count: int, view: View) -> None:
    """The first ten by wraps, missing share or rate; a click shows the process."""
    words = view.words
    if "wraps" not in processes:  # of a time range
        _buttons(processes.head(TOP), processes, place, "ids", words)
    else:
        label, text = words("counters.rank"), lambda name: words(f"rank.{name}")
        by = filters.one_of(st.segmented_control, "rank", BY, label, text, required=True)
        _buttons(sorted_processes(processes, by).head(TOP), processes, place, by, words)
    if count > TOP:
        st.caption(words("counters.rank_more", n=TOP, all=words.count("process", count)))


def _buttons(ordered: pd.DataFrame, processes: pd.DataFrame, place: int, by: str, words: Words) -> None:
    """A button for each process, with what it is ranked by; a click shows it."""
    with st.container(key="ranking", gap=None):
        for at, row in ordered.iterrows():
            st.button(
                f"**{tables.measured(row, by, words)}**  `{row['host']}` {row['pid']}".removeprefix("****").strip(),
                key=f"rank-{at}",
                width="stretch",
                type="secondary" if at == place else "tertiary",
                on_click=into_link,
                args=(processes, int(str(at))),
            )
