"""Producers: which hosts and processes generated the ids, and when. Computes nothing itself."""

import streamlit as st

from idcore.findings.limits import CUT_COUNTER
from idcore.triage.activity import TOP, top_hosts
from idcore.triage.processes import sorted_processes
from pages.parts import cache
from pages.parts.charts import producers as charts
from pages.parts.triage import filters, sentences, shared, tables, time_range
from pages.parts.view import view
from pages.parts.widgets import chart, heading, said, small_print, zone_note

MEASURES = ("ids", "distinct")
SORTS = ("ids", "missing", "wraps", "rate", "first", "host")

shown = view()
words = shown.words
heading("page.producers")

# load
run = shared.run_of("producers")
hosts, processes = (cache.frame(run, name) for name in ("hosts", "processes"))
if processes.empty:
    clients = cache.frame(run, "clients")
    st.info(words("producers.none" if clients.empty else "producers.only_clients"), icon=":material/info:")
    small_print([*shared.notes(run, shown), zone_note(shown)])
    st.stop()

chosen_range = time_range.bar(run, shown)

# show
said(sentences.producers(cache.totals(run), cache.rows(run, "hosts"), shown))

with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
    st.subheader(words("producers.by_host"), anchor=False)
    measure = st.segmented_control(
        words("producers.measure"),
        MEASURES,
        required=True,
        **filters.switch("measure", MEASURES),
        format_func=lambda name: words(f"col.{name}"),
        label_visibility="collapsed",
    )

# chart
bars = charts.bars(
    hosts,
    measure or "ids",
    words,
    shown.palette,
    chosen=filters.linked("host"),
    marks=shared.host_marks(run, top_hosts(hosts, measure or "ids")[0], words),
    beyond=shared.beyond(run, hosts, measure or "ids"),
)
alt = words("producers.alt", hosts=words.count("host", cache.rows(run, "hosts")))
picked = chart(bars, alt, lambda: hosts, f"hosts-{filters.generation('host')}", select=True)
chosen = filters.chosen("host", picked)

order = top_hosts(hosts, "ids")[0]["host"].tolist()
cut = cache.is_cut(run, "activity")
activity = cache.where(run, "activity", host=order) if cut else cache.frame(run, "activity")
if not activity.empty:
    st.subheader(words("producers.over_time"), anchor=False)
    order = [host for host in order if host in set(activity["host"]) and (not chosen or host in chosen)]
    if order:
        heat, step = charts.heat(activity, order, words, shown.palette, shown.zone, shown.zone_name)
        chart(heat, words("producers.alt_time", step=words.count("minute", step)), lambda: activity, "activity")

# tables
st.subheader(words("producers.processes"), anchor=False)
with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
    sort = st.selectbox(
        words("sort"), SORTS, format_func=lambda name: words(f"sort.{name}"), width=220, **filters.switch("sort", SORTS)
    )
    rows = cache.where(run, "processes", host=chosen) if chosen else cache.first(run, sort)
    if chosen:
        names = words("comma").join(chosen)
        filters.clear("host", words("filter.shown", name=names, n=words.count("process", len(rows))))
rows = sorted_processes(rows, sort)
page, first = tables.paged(rows, "processes_page")
tables.processes(page, shown, run.name, first=first)
tables.pager(rows, "processes_page")
filters.takeaway(rows, "processes" if chosen else shared.name_of(run, "processes"))
small_print(
    [
        charts.heat_note(heat, step, words) if not activity.empty and order else "",
        words("producers.top_note", n=TOP, all=words.count("host", cache.rows(run, "hosts")))
        if len(hosts) > TOP + 1
        else "",
        words("counters.cut_note") if (rows["layout"] == CUT_COUNTER).any() else "",
        "" if chosen else shared.cut(run, len(rows), words),
        *shared.notes(run, shown),
        zone_note(shown),
    ]
)
