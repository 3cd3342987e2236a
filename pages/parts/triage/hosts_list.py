"""The list of producer hosts: what is asked of it, and what of it is in sight. Computes nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from idcore.presentation import times
from idcore.presentation.html import hosts as html
from idcore.presentation.triage import finding_texts, host_rows
from idcore.presentation.triage.activity import MINUTE, Ends, step_text
from idcore.presentation.triage.in_range import InRange
from idcore.presentation.triage.processes import process_key, several
from idcore.presentation.triage.time_range import MILLISECOND, TimeRange
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.triage import filters, shared, time_range
from pages.parts.view import View
from pages.parts.widgets import page_link, page_of, pager, said, show_html, small_print

MEASURES = ("distinct", "ids")


def headline(run: Run, in_range: InRange | None, counted: str, view: View) -> None:
    """Who misses messages, with a link to its counter, who is silent, whose fingerprint is shared; then `counted`.

    That alone where the scan is a list.
    """
    if in_range is not None or cache.totals(run).is_list or run.store is not None:
        said("", counted)
        return
    most = cache.judged(run)
    own = most[several(most)]["host"]
    shared_by = own.drop_duplicates().tolist() if cache.totals(run).shared else []
    worst = host_rows.worst(most, partial(cache.points, run))
    at_once = finding_texts.at_once(cache.frame(run, "findings"), view)
    lead = at_once + host_rows.said(None if at_once else worst, shared_by, view)
    if not cache.is_cut(run, "hosts") and not cache.is_cut(run, "processes"):
        lead += host_rows.changes(cache.frame(run, "hosts"), most, view, view.words.assumed(cache.totals(run).assumed))
    said(lead.strip(), counted)
    if worst is not None:
        label, process = view.words("findings.to_counters"), process_key(worst.process)
        page_link("counters", label, icon=":material/show_chart:", run=run.name, process=process)


def show(
    run: Run, hosts: pd.DataFrame, chosen: Sequence[str], found: InRange | None, within: TimeRange, view: View
) -> None:
    """The boxes above the list, the rows in sight, the rest in words, the other pages."""
    group, by, text, measure = _asked(run, hosts, found, view)
    cut = cache.is_cut(run, "processes") if found is None else False
    every = pd.DataFrame(columns=["host"]) if cut else cache.judged(run)
    if found is not None:
        every = found.processes
    if cut and group == "client":
        group = "host"
    name = host_rows.namer(group, cache.frame(run, "processes"), view.words)
    rows = host_rows.ordered(host_rows.summed(hosts, every, measure, name), by)
    wanted = host_rows.matching(rows, text)
    if chosen and group == "host":
        wanted = rows[rows["name"].isin(chosen)]
    page, _ = page_of(wanted, "hosts_page")
    if cut:
        mine = cache.judge(run, cache.where(run, "processes", host=page["name"].tolist()))
        of_page = hosts[hosts["host"].isin(page["name"])]
        page = host_rows.ordered(host_rows.summed(of_page, mine, measure, name), by)
    beyond = shared.beyond(run, hosts, measure) if found is None else (0, 0)
    members = hosts["host"] if group != "host" else page["name"]
    activity, least = _activity(run, within, members, len(page))
    # of few hosts out of many the strips show the time of all: else one that stopped would fill its strip
    whole = _ends(run, within) if chosen or text else None
    strips, step, ends = host_rows.strips(activity, page["name"].tolist(), name, least, whole)
    marks = {} if group != "host" else shared.host_codes(run, page["name"].tolist())
    look = html.Look(
        marks=marks,
        strips=strips,
        span=_span(ends, step, view) + (view.words.assumed(cache.totals(run).assumed) if ends else ""),
        colours=view.palette.scale[2:8],
        run=run.name,
        within=within.params(),
        grouped=group != "host",
        measure=measure,
        total=int(hosts[measure].sum()) + beyond[1],
    )
    if wanted.empty:
        st.info(view.words("producers.no_host"), icon=":material/info:")
        return
    in_sight = set(page["name"])
    rest = rows[~rows["name"].isin(in_sight)] if not text and not chosen else rows.head(0)
    show_html(html.rows(page, rest, beyond if not text and not chosen else (0, 0), look, view))
    pager(wanted, "hosts_page")
    small_print([view.words("producers.strip_note", step=step_text(step, view.words)) if strips else ""])


def _asked(run: Run, hosts: pd.DataFrame, in_range: InRange | None, view: View) -> tuple[str, str, str, str]:
    """The group, the order, the text sought, and what is counted: each in the address."""
    words, text, group = view.words, "", "host"
    measures = [name for name in MEASURES if name in hosts]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="hosts-asked"):
        if len(hosts) > 1:
            label = words("producers.search")
            text = st.text_input(label, key="q", placeholder="10.42.3.0/24", bind="query-params", width=220).strip()
        if len(hosts) > host_rows.GROUPED:
            name = lambda one: words(f"producers.group.{one}")  # noqa: E731
            group = filters.one_of(st.selectbox, "group", host_rows.GROUPS, words("producers.group"), name, width=150)
        sorts = [one for one in host_rows.SORTS if one in ("messages", "host") or not cache.is_cut(run, "processes")]
        sorts = [one for one in sorts if one not in ("missing", "ended") or in_range is None]
        by = "messages"
        if len(hosts) > 1:
            name = lambda one: words(f"producers.by.{one}")  # noqa: E731
            by = filters.one_of(st.selectbox, "by", sorts, words("sort"), name, width=160)
        measure = measures[0]
        if len(measures) > 1:  # of whole minutes messages are not counted
            name = lambda one: words("col.messages" if one == "distinct" else "col.ids")  # noqa: E731
            look = {"required": True, "label_visibility": "collapsed"}
            label = words("producers.measure")
            measure = filters.one_of(st.segmented_control, "measure", measures, label, name, **look)
    return group, by, text, measure


def _activity(run: Run, within: TimeRange, members: pd.Series, rows: int) -> tuple[pd.DataFrame, pd.Timedelta]:
    """What so many strips are made of, and what its times are exact to; of a scan too large for its groups nothing."""
    if len(members) > rows and cache.is_cut(run, "activity"):
        return pd.DataFrame(), pd.Timedelta(0)
    return time_range.activity(run, within, members.tolist())


def _ends(run: Run, within: TimeRange) -> Ends | None:
    """From when to when the scan has IDs, or its part in the range."""
    totals = cache.totals(run)
    if totals.first is None or totals.last is None:
        return None
    first = totals.first if within.begin is None else max(totals.first, within.begin)
    last = totals.last if within.end is None else min(totals.last, within.end - MILLISECOND)
    return (pd.Timestamp(first), pd.Timestamp(last)) if first <= last else None


def _span(ends: Ends | None, step: pd.Timedelta, view: View) -> str:
    if ends is None:
        return view.words("producers.over_time")
    by_minute = step >= MINUTE
    return " – ".join(times.between(ends[0].to_pydatetime(), ends[1].to_pydatetime(), view.zone, by_minute=by_minute))
