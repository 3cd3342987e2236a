"""Producers: which hosts and processes generated the ids, and when. Computes nothing itself."""

from functools import partial

import streamlit as st

from idcore.presentation.html import tables
from idcore.presentation.triage import in_range as in_range_core
from idcore.presentation.triage import line_filter, sentences
from idcore.presentation.triage.activity import binned, step_text
from idcore.presentation.triage.processes import countable, find_process, sorted_processes
from pages.parts import cache, session
from pages.parts.charts import producers as charts
from pages.parts.triage import chips, filters, hosts_list, lines, opened, shared, time_range
from pages.parts.view import view
from pages.parts.widgets import chart, columns, few, heading, page_of, pager, show_html, small_print

SORTS = ("ids", "missing", "wraps", "rate", "first", "host")

shown = view()
words = shown.words
heading("page.producers")

# load
run = opened.run_of("producers")
hosts, processes = (cache.frame(run, name) for name in ("hosts", "processes"))
in_range, wanted = time_range.bar(run, shown, page="producers"), chips.asked("producers")
if processes.empty:
    clients = cache.frame(run, "clients")
    st.info(words("producers.none" if clients.empty else "producers.only_clients"), icon=":material/info:")
    small_print(shared.notes(run, shown))
    session.stop()
if time_range.says_none(run, in_range, shown, "producers"):
    small_print(shared.notes(run, shown))
    session.stop()
found = cache.in_range(run, in_range) if in_range else None
asked = st.query_params.get_all("host") or [wanted.process.split("~")[0]] * bool(wanted.process)
chosen = filters.known("host", asked, cache.where(run, "hosts", host=asked)["host"].tolist())
of_chosen = in_range_core.of_hosts(found, chosen) if found is not None and chosen else found
hosts = found.hosts if found is not None else hosts
count = len(hosts) if found is not None else cache.rows(run, "hosts")

# show
counted = (
    sentences.producers(cache.totals(run), count, shown, cache.all_judged(run), run.summary)
    if of_chosen is None
    else sentences.producers_in(of_chosen, shown)
)
if chosen and found is None:
    counted = words("producers.of_all", said=counted)
hosts_list.headline(run, found, counted, shown)
notes = shared.notes(run, shown)
if found is not None and (undated := int(processes["first_sent_at"].isna().sum())):
    notes.insert(0, words("range.undated", n=words.count("process", undated)))
if hosts.empty:
    small_print(notes)
    session.stop()

# chart
hosts_list.show(run, hosts, chosen, found, in_range, shown)
of_host, marked = st.container(), {}
activity, least = time_range.activity(run, in_range, chosen)
if not activity.empty and not few(int(activity["ids"].sum()), chosen):
    st.header(words("producers.over_time"), anchor=False)
    grid, step = binned(activity, [host for host in chosen if host in set(activity["host"])], least)
    heat = charts.heat(grid, step, shown, in_range, shared.assumed_by_host(run, list(grid.index), words))
    alt, brush = (
        words("producers.alt_time", step=step_text(step, words)),
        time_range.brush(in_range, shown.zone),
    )
    cell = chart(heat, alt, lambda: activity, "activity", select=True, brush=brush)
    if marked := line_filter.last_clicked(cell):
        lines.clicked(run, shown, marked)
    notes.insert(0, charts.heat_note(heat, step, words))

if len(chosen) == 1 and not marked:
    with of_host:
        lines.preview(run, shown, {"host": chosen[0], **in_range.params()})

time_range.registered("producers", partial(cache.frame, run), in_range, shown)

# tables
st.header(words("producers.processes"), anchor=False)
with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
    sort = "ids"
    if found is None:
        text = lambda name: words(f"sort.{name}")  # noqa: E731
        if cache.rows(run, "processes") > 1:
            sort = filters.one_of(st.selectbox, "sort", SORTS, words("sort"), text, width=220)
        rows = cache.where(run, "processes", host=chosen) if chosen else cache.first(run, sort)
    else:
        rows = found.processes[found.processes["host"].isin(chosen)] if chosen else found.processes
    if wanted.process and (place := find_process(rows, wanted.process)) is not None:
        rows = rows.loc[[place]]
rows = sorted_processes(rows, sort) if found is None else rows
page, first = page_of(rows, "processes_page")
if found is not None and found.exact:
    page = cache.figures_in(run, page, in_range)
made = tables.processes(cache.judge(run, page), shown, run.name) if found is None else None
made = made or tables.processes_in(page, shown, run.name)
show_html(columns(made, filters.OF_PROCESSES).html(first=first, numbered=True))
pager(rows, "processes_page")
filters.takeaway(rows, "processes" if chosen or found is not None else shared.name_of(run, "processes"))
if found is None:
    notes.insert(0, words("counters.cut_note") if not countable(rows).all() else "")
    notes.insert(0, "" if chosen else shared.cut(run, len(rows), words))
elif not found.exact:
    notes.insert(0, sentences.minutes_note(in_range, shown))
notes.insert(0, sentences.cut_note(page.get("in_cut_gaps", ()), shown))
small_print(notes)
