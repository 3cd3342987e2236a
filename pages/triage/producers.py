"""Producers: which hosts and processes generated the ids, and when. Computes nothing itself."""

from functools import partial

import streamlit as st

from idcore.answers.findings.limits import CUT_COUNTER
from idcore.presentation.html import tables
from idcore.presentation.triage import line_filter, sentences
from idcore.presentation.triage.activity import TOP, binned, step_text, top_hosts
from idcore.presentation.triage.processes import sorted_processes
from pages.parts import cache, session
from pages.parts.charts import producers as charts
from pages.parts.triage import filters, lines, opened, shared, time_range
from pages.parts.view import view
from pages.parts.widgets import chart, few, heading, page_of, pager, said, show_html, small_print, zone_note

MEASURES = ("ids", "distinct")
SORTS = ("ids", "missing", "wraps", "rate", "first", "host")

shown = view()
words = shown.words
heading("page.producers")

# load
run = opened.run_of("producers")
hosts, processes = (cache.frame(run, name) for name in ("hosts", "processes"))
if processes.empty:
    clients = cache.frame(run, "clients")
    st.info(words("producers.none" if clients.empty else "producers.only_clients"), icon=":material/info:")
    small_print([*shared.notes(run, shown), zone_note(shown)])
    session.stop()
in_range = time_range.bar(run, shown)
found = cache.in_range(run, in_range) if in_range else None
hosts = found.hosts if found is not None else hosts
count = len(hosts) if found is not None else cache.rows(run, "hosts")

# show
said(sentences.producers(cache.totals(run), count, shown) if found is None else sentences.producers_in(found, shown))
notes = [*shared.notes(run, shown), zone_note(shown)]
if found is not None and (undated := int(processes["first_sent_at"].isna().sum())):
    notes.insert(0, words("range.undated", n=words.count("process", undated)))
if hosts.empty:
    small_print(notes)
    session.stop()

options = [name for name in MEASURES if name in hosts]
with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
    st.header(words("producers.by_host"), anchor=False)
    label, text = words("producers.measure"), lambda name: words(f"col.{name}")
    look = {"required": True, "label_visibility": "collapsed"}
    measure = filters.one_of(st.segmented_control, "measure", options, label, text, **look)

# chart
bars = charts.bars(
    hosts,
    measure,
    shown,
    chosen=cache.where(run, "hosts", host=filters.linked("host"))["host"].tolist(),
    marks=shared.host_marks(run, top_hosts(hosts, measure)[0], words),
    beyond=shared.beyond(run, hosts, measure) if found is None else (0, 0),
)
alt = words("producers.alt", hosts=words.count("host", count))
small = few(int(hosts["ids"].sum()), hosts["host"].tolist())
picked = None if small else chart(bars, alt, lambda: hosts, f"hosts-{filters.generation('host')}", select=True)
chosen = filters.chosen("host", picked)
chosen = filters.known("host", chosen, cache.where(run, "hosts", host=chosen)["host"].tolist())
of_host, marked = st.container(), {}
with st.expander(words("producers.hosts_table")):
    show_html(tables.hosts(top_hosts(hosts, measure)[0], shown, run.name))

order = [host for host in top_hosts(hosts, "ids")[0]["host"] if not chosen or host in chosen]
activity, least = time_range.activity(run, in_range, order)
if not activity.empty and not small:
    st.header(words("producers.over_time"), anchor=False)
    grid, step = binned(activity, [host for host in order if host in set(activity["host"])], least)
    heat = charts.heat(grid, step, shown, in_range, shared.assumed_by_host(run, list(grid.index), words))
    alt, brush = (
        words("producers.alt_time", step=step_text(step, words)),
        time_range.brush(in_range, shown.zone),
    )
    cell = chart(heat, alt, lambda: activity, "activity", select=True, brush=brush)
    if marked := line_filter.last_clicked(cell):
        lines.clicked(run, shown, marked)
    notes.insert(0, charts.heat_note(heat, step, words))
if len(hosts) > TOP + 1:
    notes.insert(0, words("producers.top_note", n=TOP, all=words.count("host", count)))

if len(chosen) == 1 and not marked:
    with of_host:
        lines.clicked(run, shown, {"host": chosen[0], **in_range.params()})

time_range.registered("producers", partial(cache.frame, run), in_range, shown)

# tables
st.header(words("producers.processes"), anchor=False)
with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
    sort = "ids"
    if found is None:
        text = lambda name: words(f"sort.{name}")  # noqa: E731
        sort = filters.one_of(st.selectbox, "sort", SORTS, words("sort"), text, width=220)
        rows = cache.where(run, "processes", host=chosen) if chosen else cache.first(run, sort)
    else:
        rows = found.processes[found.processes["host"].isin(chosen)] if chosen else found.processes
    if chosen:
        names = words("comma").join(chosen)
        filters.clear("host", words("filter.shown", name=names, n=words.count("process", len(rows))))
rows = sorted_processes(rows, sort) if found is None else rows
page, first = page_of(rows, "processes_page")
if found is not None and found.exact:
    page = cache.figures_in(run, page, in_range)
made = (tables.processes if found is None else tables.processes_in)(page, shown, run.name)
show_html(made.html(first=first, numbered=True))
pager(rows, "processes_page")
filters.takeaway(rows, "processes" if chosen or found is not None else shared.name_of(run, "processes"))
if found is None:
    notes.insert(0, words("counters.cut_note") if (rows["layout"] == CUT_COUNTER).any() else "")
    notes.insert(0, "" if chosen else shared.cut(run, len(rows), words))
elif not found.exact:
    notes.insert(0, sentences.minutes_note(in_range, shown))
small_print(notes)
