"""Three small pictures side by side, each the door to its page: hosts, the busiest counter, brokers."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from idcore.runs import Run
from idcore.triage.processes import busiest_process, process_key
from pages.parts import cache
from pages.parts.charts.brokers import totals
from pages.parts.charts.counters import sawtooth
from pages.parts.charts.producers import bars
from pages.parts.triage import diagnosis, shared
from pages.parts.view import View
from pages.parts.widgets import chart, page_link


def small_picture(run: Run, view: View) -> None:
    """The findings in a line, the pictures below it."""
    findings(run, view)
    three(run, view)


def findings(run: Run, view: View) -> None:
    """One line: what is wrong, and the way to it."""
    if run.has("findings"):
        label = diagnosis.short(cache.frame(run, "findings"), view.words)
        page_link("findings", label, icon=":material/troubleshoot:", run=run.name)


def three(run: Run, view: View) -> None:
    """The three pictures of a finished scan."""
    words = view.words
    hosts, table, brokers = (cache.frame(run, name) for name in ("hosts", "processes", "brokers"))
    left, middle, right = st.container(key="three-pictures").columns(3, gap="large")
    with left:
        page_link("producers", words("pictures.producers"), icon=":material/dns:", run=run.name)
        if hosts.empty:
            st.caption(words("pictures.no_uniq"))
        else:
            beyond = shared.beyond(run, hosts, "ids")
            figure = bars(hosts, "ids", words, view.palette, limit=5, small=True, beyond=beyond)
            label = words("producers.alt", hosts=words.count("host", len(hosts) + beyond[0]))
            chart(figure, label, None, "small-hosts")
    with middle:
        busiest = busiest_process(table)
        key = process_key(busiest) if busiest is not None else None
        page_link("counters", words("pictures.counters"), icon=":material/show_chart:", run=run.name, process=key)
        points = cache.points(run, busiest) if busiest is not None else pd.DataFrame()
        if points.empty:
            st.caption(words("pictures.no_uniq"))
        else:
            figure, _ = sawtooth(points, words, view.palette, view.zone, view.zone_name, small=True)
            chart(figure, words("counters.alt_small"), None, "small-counter")
    with right:
        page_link("brokers", words("pictures.brokers"), icon=":material/storage:", run=run.name)
        if brokers.empty:
            st.caption(words("pictures.no_offset"))
        else:
            figure = totals(brokers, words, view.palette, limit=5)
            chart(figure, words("brokers.alt", brokers=words.count("broker", len(brokers))), None, "small-brokers")
