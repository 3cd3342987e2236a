"""Counters: the 16-bit counter of one process as the sawtooth it is, and which process to look at. Computes nothing."""

from __future__ import annotations

import streamlit as st

from idcore.findings.limits import CUT_COUNTER
from idcore.triage import strokes
from idcore.triage.processes import process_key, sorted_processes
from idcore.triage.strokes import least_gap
from pages.parts import cache, scans
from pages.parts.charts import counters as charts
from pages.parts.triage import filters, ranking, sentences, shared, tables, time_range
from pages.parts.view import view
from pages.parts.widgets import chart, heading, said, small_print, zone_note

shown = view()
words = shown.words
heading("page.counters")

# load
run = shared.run_of("counters")
chosen = time_range.bar(run, shown)
processes = ranking.of_run(run, st.query_params.get("process"))
if processes.empty:
    st.info(words("producers.none"), icon=":material/info:")
    small_print(shared.notes(run, shown))
    st.stop()
processes = sorted_processes(processes, "wraps").reset_index(drop=True)
place = ranking.choose(processes, shown)
row = processes.iloc[place].to_dict()
key = process_key(row)
points = cache.points(run, row)
dated = not points.empty and bool(points["sent_at"].notna().all())
inside = points[chosen.contains(points["sent_at"])] if dated else points
part = strokes.in_range(row, inside) if chosen and dated and len(inside) else row

# show
empty = bool(chosen) and dated and inside.empty
sentence = words("counters.none_in_range") if empty else sentences.process(part, shown, inside)
said(sentence)

# chart
left, right = st.container(key="counter-and-rank").columns([5, 2], gap="large")
drawn = None
with left:
    if points.empty:
        st.info(words("counters.no_points"), icon=":material/info:")
    else:
        figure, drawn = charts.sawtooth(
            points, words, shown.palette, shown.zone, shown.zone_name, missing=int(row["missing"]), shown=chosen
        )
        brush = time_range.brush(chosen, shown.zone) if dated else None
        alt = sentence.replace("**", "")
        state = chart(figure, alt, lambda: inside, f"counter-{place}", select=dated, brush=brush)
        filters.lines(run, words("counters.to_lines"), filters.picked(state))
with right:
    ranking.ranking_list(processes, place, cache.rows(run, "processes"), shown)

if drawn is not None and drawn.gaps:
    st.subheader(words("counters.gaps"), anchor=False)
    largest = sorted(drawn.gaps, key=lambda gap: -gap[2])
    tables.gaps(largest[:100], shown, run.name, key)

# tables
st.subheader(words("producers.processes"), anchor=False)
rows, first = tables.paged(processes, "processes_page")
tables.processes(rows, shown, run.name, first=first)
tables.pager(processes, "processes_page")
filters.takeaway(processes, shared.name_of(run, "processes"))
total, cut = int(row["distinct"]), row["layout"] == CUT_COUNTER
small_print(
    [
        words("counters.no_range") if chosen and not dated and len(points) else "",
        words("counters.in_range") if chosen and dated and len(points) < total else "",
        words("counters.thinned", shown=f"{len(points):,}", all=words.count("id", total))
        if len(points) < total
        else "",
        words("counters.bands") if drawn is not None and len(drawn.gaps) > 1 else "",
        "" if row["wraps_certain"] else words("counters.uncertain"),
        words("counters.sample_note") if not points.empty and least_gap(points, int(row["missing"])) > 1 else "",
        words("counters.cut_note") if (processes["layout"] == CUT_COUNTER).any() else "",
        words("counters.missing_note") if row["missing"] and not cut and scans.store_of(run) is None else "",
        shared.cut(run, len(processes), words),
        *shared.notes(run, shown),
        zone_note(shown),
    ]
)
