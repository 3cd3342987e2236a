"""Counters: the 16-bit counter of one process as the sawtooth it is, and which process to look at. Computes nothing."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from idcore.presentation.html import counters as html
from idcore.presentation.html import tables
from idcore.presentation.triage import counter_rows, finding_texts, host_rows, line_filter, sentences, strokes
from idcore.presentation.triage.activity import wall_clock
from idcore.presentation.triage.processes import assumed, countable, is_countable, process_key
from idcore.presentation.triage.time_range import ALL_TIMES
from pages.parts import cache, session
from pages.parts.charts import counters as charts
from pages.parts.figures import x_axis
from pages.parts.triage import chips, filters, lines, opened, ranking, shared, time_range
from pages.parts.view import view
from pages.parts.widgets import chart, columns, few, heading, page_of, pager, said, show_html, small_print

shown = view()
words = shown.words
heading("page.counters")

# load
run = opened.run_of("counters")
in_range, wanted = time_range.bar(run, shown, page="counters"), chips.asked("counters")
if time_range.says_none(run, in_range, shown, "counters"):
    small_print(shared.notes(run, shown))
    session.stop()
found = cache.in_range(run, in_range) if in_range else None
processes = ranking.of_run(run, wanted) if found is None else ranking.of_range(run, found, wanted)
if processes.empty:
    st.info(words("producers.none" if found is None else "producers.none_range"), icon=":material/info:")
    small_print(shared.notes(run, shown))
    session.stop()
if found is None:
    processes = ranking.ranked(processes, ranking.criteria(processes)[0]).reset_index(drop=True)
ranking.unknown(run, wanted)
place = ranking.choose(processes, shown)
key = process_key(processes.iloc[place])
row = cache.judge(run, shared.find_row(run, key)).iloc[0].to_dict()
points = time_range.points(run, row, in_range)
limited = bool(in_range) and points.dated
empty = limited and points.inside.empty
part = strokes.in_range(row, points.inside, points.around, points.whole) if limited and not empty else row

# show
lived, has_ended = "", False
if not in_range and row["host"] and not cache.is_cut(run, "processes"):
    lived, has_ended = host_rows.life(row, cache.frame(run, "processes"), shown, assumed(row, words))
sentence = (
    sentences.none_of(part, points.around, shown)
    if empty
    else lived + sentences.process(part, shown, points.inside, points.around, has_ended)
)
at_once = "" if in_range or wanted else finding_texts.at_once(cache.frame(run, "findings"), shown).strip()
said(at_once or sentence, sentence if at_once else "")

# chart
both = st.container(key="counter-and-rank")
left, right = both.columns([5, 2], gap="large") if len(processes) > 1 else (both, None)
drawn = None
with left:
    if points.drawn.empty:
        st.info(words("counters.no_points"), icon=":material/info:")
    elif not few(int(row["distinct"]), [str(row["host"])]):
        judged = is_countable(row)  # of IDs of several months nothing says what is missing
        missing = int(part["missing"])
        figure, drawn = charts.sawtooth(
            points.drawn, shown, missing=missing, shown=in_range, assumed=assumed(row, words), judged=judged
        )
        if lived and points.dated and (ends := counter_rows.whole_span(row, cache.frame(run, "processes"))):
            x_axis(figure, range=wall_clock(pd.Series(ends), shown.zone).tolist())
        brush = time_range.brush(in_range, shown.zone) if points.dated else None
        alt = sentence.replace("**", "")
        state = chart(figure, alt, lambda: points.inside, f"counter-{place}", select=points.dated, brush=brush)
        if marked := line_filter.last_clicked(state):
            lines.clicked(run, shown, marked)
if right is not None:
    count = cache.rows(run, "processes") if found is None else found.count
    if wanted.host in set(processes["host"]):  # those of other hosts are not in the list
        count = 0
    with right:
        ranking.ranking_list(run, processes, place, max(count, len(processes)), in_range, shown)

if drawn is not None and drawn.gaps:
    st.header(words("counters.gaps"), anchor=False)
    if (widest := counter_rows.widest_gap(points.around)) is not None:
        show_html(html.gap(widest, run.name, key, shown))
    largest = sorted(drawn.gaps, key=lambda gap: -gap[2])
    show_html(tables.gaps(largest[:100], shown, run.name, key, in_range if limited else ALL_TIMES))

time_range.registered("counters", partial(cache.frame, run), in_range, shown)

# tables
st.header(words("producers.processes"), anchor=False)
rows, first = page_of(processes, "processes_page")
if found is not None and found.exact:
    rows = cache.figures_in(run, rows, in_range)
made = (tables.processes if found is None else tables.processes_in)(rows, shown, run.name)
show_html(columns(made, filters.OF_PROCESSES).html(first=first, numbered=True))
pager(processes, "processes_page")
filters.takeaway(processes, shared.name_of(run, "processes") if found is None else "processes")
small_print(
    [
        *sentences.point_notes(points, row, in_range, shown),
        sentences.minutes_note(in_range, shown) if found is not None and not found.exact else "",
        sentences.cut_note([*rows.get("in_cut_gaps", ()), part.get("in_cut_gaps", 0)], shown),
        words("counters.bands") if drawn is not None and len(drawn.gaps) > 1 else "",
        "" if row["wraps_certain"] else words("counters.uncertain"),
        words("counters.cut_note") if found is None and not countable(processes).all() else "",
        words("counters.missing_note") if part["missing"] and is_countable(row) and run.store is None else "",
        shared.cut(run, len(processes), words) if found is None else "",
        *shared.notes(run, shown),
    ]
)
