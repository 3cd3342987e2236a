"""Counters: the 16-bit counter of one process as the sawtooth it is, and which process to look at. Computes nothing."""

from __future__ import annotations

import streamlit as st

from idcore.findings.limits import CUT_COUNTER
from idcore.triage.processes import sorted_processes
from idcore.triage.strokes import least_gap
from pages.parts import cache, scans
from pages.parts.charts import counters as charts
from pages.parts.triage import filters, ranking, sentences, shared, tables
from pages.parts.view import view
from pages.parts.widgets import chart, heading, said, small_print, zone_note

shown = view()
words = shown.words
heading("page.counters")

# load
run = shared.run_of("counters")
processes = ranking.of_run(run, st.query_params.get("process"))
if processes.empty:
    st.info(words("producers.none"), icon=":material/info:")
    small_print(shared.notes(run, shown))
    st.stop()
processes = sorted_processes(processes, "wraps").reset_index(drop=True)
place = ranking.choose(processes, shown)
row = processes.iloc[place].to_dict()
points = cache.points(run, row)

# show
sentence = sentences.process(row, shown, points)
said(sentence)

# chart
left, right = st.container(key="counter-and-rank").columns([5, 2], gap="large")
drawn = None
with left:
    if points.empty:
        st.info(words("counters.no_points"), icon=":material/info:")
    else:
        figure, drawn = charts.sawtooth(
            points, words, shown.palette, shown.zone, shown.zone_name, missing=int(row["missing"])
        )
        chart(figure, sentence.replace("**", ""), lambda: points, f"counter-{place}")
with right:
    ranking.ranking_list(processes, place, cache.rows(run, "processes"), shown)

if drawn is not None and drawn.gaps:
    st.subheader(words("counters.gaps"), anchor=False)
    largest = sorted(drawn.gaps, key=lambda gap: -gap[2])
    tables.gaps(largest[:100], shown)

# tables
st.subheader(words("producers.processes"), anchor=False)
rows, first = tables.paged(processes, "processes_page")
tables.processes(rows, shown, run.name, first=first)
tables.pager(processes, "processes_page")
filters.takeaway(processes, shared.name_of(run, "processes"))
total, cut = int(row["distinct"]), row["layout"] == CUT_COUNTER
small_print(
    [
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
