"""Compare: which ids of one input are not in another, by producer, broker and time. Computes nothing itself."""

from __future__ import annotations

from functools import partial

import streamlit as st

from idcore.presentation import export
from idcore.presentation.html import compared as html
from idcore.presentation.triage import compared, compared_texts
from pages.parts import problems, session
from pages.parts.charts import compare as charts
from pages.parts.triage import compare, time_range
from pages.parts.view import RANGE, view
from pages.parts.widgets import chart, download, heading, said, show_html, small_print, zone_note

shown = view()
words = shown.words
heading("page.compare")

# load
compare.from_link()
above = st.container()
run = compare.current(words)
with above:
    compare.box(words, run)
if run is None:
    small_print([words("compare.what"), words("compare.no_proof")])
    session.stop()
with problems.caught():
    in_range = compare.in_range(run, shown)
    found = compare.compared(run, in_range)

# show
counted = compared_texts.compared_sentence(found, words, in_range)
said(compared_texts.headline(run, found, shown), counted)
if unread := compared_texts.unread(found, words):  # next to the figures: its ids would look as if they were missing
    st.warning(unread, icon=":material/warning:")
if not found.rows:
    small_print([words("compare.range_note" if in_range else "compare.no_ids")])
    session.stop()
names = compared_texts.names_of(run, words)
if (bar := html.bar(found, names, shown)) is not None:
    show_html(bar)
if found.rates and any(missing for _, _, missing, _ in found.rates):
    st.header(words("compare.rates"), anchor=False)
    rates = compared_texts.rates(found)
    chart(
        charts.rates(rates, names, found.rate_seconds, shown),
        compared_texts.alt_rates(rates, run, shown),
        lambda: compared_texts.data_over_time(rates),
        "compare-rates",
        brush=time_range.brush(in_range, shown.zone),
    )
if (missing := html.missing(run.options["of"], found, shown)) is not None:
    show_html(missing)
compare.first_lines(run, found, shown)
compare.offer_scans(run, words)
compare.offer_fates(found)

# chart
if found.bins:
    st.header(words("compare.over_time"), anchor=False)
    times = compared_texts.times(found)
    figure = charts.over_time(times, found, shown)
    chart(
        figure,
        compared_texts.alt_over_time(times, shown),
        partial(compared_texts.data_over_time, times),
        "compare-times",
        brush=time_range.brush(in_range, shown.zone),
    )
for kind, groups in compared.by_place(found).items():
    figure = charts.bars(groups, shown)
    chart(figure, compared_texts.alt(kind, groups, words), partial(compared_texts.data, groups), f"compare-{kind}")
for kind in compare.TABLES:
    compare.table_of(kind, run, found, shown)
for side in compared.SIDES:
    if samples := html.samples(found, side, shown):
        st.header(words(f"compare.samples_{side}"), anchor=False)
        show_html(samples)
with st.container(horizontal=True, gap="medium"):
    rows = partial(compared.frame, found.rows, found)
    download(words("compare.counts"), lambda: export.csv_frame(rows()), "compare.csv", key="compare-csv")
    for side in compared.SIDES:
        for group in (compared.MESSAGE, compared.STORED):
            if ids := [text for text, _ in found.alone(side, group)]:
                label = words(f"compare.ids_{side}", n=words.count(f"{group}_id", len(ids)))
                name, key = f"only_{side}_{group}.txt", f"compare-{side}-{group}"
                download(label, partial(compared.one_a_line, ids), name, key=key, mime="text/plain")
asked = any(name in st.query_params for name in RANGE)
small_print([*compared_texts.notes(run, found, bool(in_range), asked, shown), zone_note(shown)])
