"""What a scan found: the worst findings in words, then three small pictures, each the way to its page."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import streamlit as st

from idcore.base.catalogue import Words, upper
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.triage import finding_rows, finding_texts
from idcore.presentation.triage.finding_rows import Kind
from idcore.presentation.triage.processes import assumed, process_key, sorted_processes
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.charts.brokers import totals
from pages.parts.charts.findings import counter
from pages.parts.charts.producers import bars
from pages.parts.triage import shared
from pages.parts.view import View
from pages.parts.widgets import chart, few, page_link

MOST_SAID = 3  # kinds of findings on the decode page
FEWEST = 10  # IDs that are worth pictures


def verdict(run: Run, view: View) -> None:
    """The worst findings in words, each the way to itself; or that nothing wrong was found, and what was checked."""
    if not run.has("findings") or not (run.summary or {}).get("ids"):
        return
    words, findings = view.words, cache.frame(run, "findings")
    numbers = finding_rows.numbers(findings, "severity")
    wrong = [kind for kind in finding_rows.kinds(findings) if kind.severity != "info"]
    with st.container(key="verdict", gap="xxsmall"):
        for place, kind in enumerate(wrong[:MOST_SAID]):
            _said(kind, place, run, words)
        left = Counter(numbers)
        for kind in wrong[:MOST_SAID]:
            left[kind.severity] -= kind.number
        if wrong and left.total():
            label = words("verdict.more", findings=words.listed(finding_texts.by_severity(left, words)))
            page_link("findings", label, icon=":material/more_horiz:", run=run.name)
        elif not wrong and not (run.summary or {}).get("is_list"):  # of a list no rule for logs says anything
            event = finding_rows.first_event(findings)
            if event is not None:
                label = escaped(upper(finding_texts.say("meaning", event[1], view)) + words("stop"))
                page_link("findings", label, icon=":material/info:", run=run.name, finding=str(event[0]))
            notes = words.listed(finding_texts.by_severity(numbers, words))
            label = words("verdict.only_info", findings=notes) if numbers else words("verdict.none")
            icon = ":material/check_circle:" if event is None else ":material/more_horiz:"
            if changes := cache.host_changes(run, view):  # no rule finds it, and all would seem well
                label, icon = f"{changes.strip()} {label}", ":material/info:"
            page_link("findings", label, icon=icon, run=run.name)


def _said(kind: Kind, place: int, run: Run, words: Words) -> None:
    """One kind of findings in a line, a link to it."""
    severity = words.count(f"finding_{kind.severity}", kind.number)
    label = escaped(words("verdict.line", severity=severity, brief=finding_texts.brief(kind, words)))
    where = {"kind": kind.code, "severity": kind.severity}
    if kind.number == 1 and kind.rows:
        where = {"finding": str(kind.rows[0][0])}
    with st.container(key=f"verdict-{kind.severity}-{place}"):
        page_link("findings", label, icon=f":material/{kind.severity}:", run=run.name, **where)


def three(run: Run, view: View) -> None:
    """The three pictures of a finished scan; of a few IDs the ways to their pages."""
    words = view.words
    if int((run.summary or {}).get("ids", 0)) < FEWEST:
        with st.container(horizontal=True, gap="medium"):
            for page, icon in (("producers", "dns"), ("counters", "show_chart"), ("brokers", "storage")):
                page_link(page, words(f"pictures.{page}"), icon=f":material/{icon}:", run=run.name)
        return
    hosts, brokers = (cache.frame(run, name) for name in ("hosts", "brokers"))
    left, middle, right = st.container(key="three-pictures").columns(3, gap="large")
    with left:
        page_link("producers", words("pictures.producers"), icon=":material/dns:", run=run.name)
        if hosts.empty:
            st.caption(words("pictures.no_uniq"))
        elif not few(int(hosts["ids"].sum()), hosts["host"].tolist()):
            beyond = shared.beyond(run, hosts, "ids")
            figure = bars(hosts, "ids", view, limit=5, small=True, beyond=beyond)
            label = words("producers.alt", hosts=words.count("host", len(hosts) + beyond[0]))
            chart(figure, label, None, "small-hosts")
    with middle:
        _counter(run, view)
    with right:
        page_link("brokers", words("pictures.brokers"), icon=":material/storage:", run=run.name)
        if brokers.empty:
            st.caption(words("pictures.no_offset"))
        elif not few(int(brokers["ids"].sum()), brokers["address"].tolist()):
            figure = totals(brokers, view, limit=5)
            chart(figure, words("brokers.alt", brokers=words.count("broker", len(brokers))), None, "small-brokers")


def _counter(run: Run, view: View) -> None:
    """The counter of the process that Counters begins with where it misses IDs, else of the busiest one."""
    words, judged = view.words, cache.judged(run)
    misses = not judged.empty and bool((judged["lost"].fillna(0) > 0).any())
    table = judged if misses else cache.frame(run, "processes")
    row = sorted_processes(table, "missing" if misses else "ids").iloc[0].to_dict() if len(table) else None
    key, title = None if row is None else process_key(row), words("pictures.counters")
    if misses and row is not None and row["host"]:
        title = words("pictures.counter_of", host=escaped(str(row["host"])))
    page_link("counters", title, icon=":material/show_chart:", run=run.name, process=key)
    points = cache.points(run, row) if row is not None else pd.DataFrame()
    if row is None or points.empty:
        st.caption(words("pictures.no_uniq"))
    elif not few(int(row["distinct"]), [str(row["host"])]):
        figure = counter(points, view, int(row["missing"]) if misses else None, assumed(row, words), named=False)
        chart(figure, words("counters.alt_small"), None, "small-counter")
