"""Brokers: where in which commit logs the messages are, and how fast these grew. Computes nothing itself."""

from functools import partial

import streamlit as st

from idcore.presentation.html import broker_logs as html
from idcore.presentation.html import tables
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.roles import colours_of
from idcore.presentation.triage import broker_logs, broker_rows, sentences
from idcore.sources.record_lines import MOST_TAGS
from pages.parts import cache, session
from pages.parts.charts import brokers as charts
from pages.parts.triage import filters, logs, opened, shared, time_range
from pages.parts.view import view
from pages.parts.widgets import chart, columns, heading, page_link, page_of, pager, said, show_html, small_print

SHOWN = 6  # histograms
UNASKED = 3  # of those, where nothing is known of growth and nobody chose a broker
ROWS = 40
OF_BROKERS = ("address", "lines", "distinct", "share", "segments", "growth", "span", "max_offset")
OF_TOPICS = ("topic", "queue_id", "messages", "bytes", "last", "places", "tag")

shown = view()
words = shown.words
heading("page.brokers")

# load
run = opened.run_of("brokers")
brokers, growth, segments, topics, tags = (
    cache.frame(run, name) for name in ("brokers", "growth", "segments", "topics", "tags")
)
within = time_range.bar(run, shown, page="brokers")
if brokers.empty:
    st.info(words("brokers.none"), icon=":material/info:")
    small_print(shared.notes(run, shown))
    session.stop()
colours = colours_of(brokers["address"].tolist(), shown.palette)
known = brokers["address"].tolist()
if time_range.says_none(run, within, shown, "brokers"):
    small_print(shared.notes(run, shown))
    session.stop()
dated = own = broker_logs.logs_of(growth)
found = cache.brokers_in(run, within) if within else None
if found is not None:
    brokers, segments, growth = found.brokers, found.segments, found.growth
    own = broker_logs.logs_of(growth)
    if brokers.empty:
        said(words("brokers.range_none"))
        small_print(shared.notes(run, shown))
        session.stop()
brokers = (
    broker_rows.with_names(brokers, run.summary)
    .sort_values(["ids", "address"], ascending=[False, True])
    .reset_index(drop=True)
)
parts = {address: part for address, log in own.items() if (part := broker_logs.in_range(log, within))}
rates = broker_logs.speeds_of(brokers, growth, own)
ends = segments.groupby("address")["segment"].agg(oldest="min", newest="max")
kept = logs.retention()
cut = kept.cut(shown.now(), shown.zone)
rows = broker_rows.rows_of(brokers, segments, own, rates, cut, logs.file_size(run), within)

# show
chosen = filters.known("broker", st.query_params.get_all("broker"), known)
some = brokers[brokers["address"].isin(chosen)]
listed = [row for row in rows if row.address in set(some["address"])] or rows
counted = sentences.brokers(some if len(some) else brokers, shown)
counted = words("brokers.in_range" if found is not None else "brokers.in_all", said=counted)
assumed = words.assumed(cache.totals(run).assumed) if dated else ""
headline, aside = broker_rows.said(listed, shown, shown.now(), assumed)
said(headline, f"{aside} {counted}" if aside else counted)
if len(listed) > 1 and (first := broker_rows.spoken_of(listed)) is not None:
    label, near = words("brokers.offsets_of", address=escaped(first.title)), within.params()
    page_link("brokers", label, icon=":material/storage:", run=run.name, broker=first.address, **near)

# chart
sought = logs.sought(listed, shown)
page, _ = page_of(sought, "brokers_page", ROWS)
span = broker_rows.span_text(parts, within, shown, assumed)
if page:
    show_html(html.rows(page, colours, shown, run.name, within, span))
pager(sought, "brokers_page", ROWS)
clicked = {}
pictured = brokers.head(UNASKED) if not (len(some) or dated) or len(brokers) == 1 else some
for row in pictured.head(SHOWN).to_dict("records"):
    address = row["address"]
    mine, bins = cache.broker(run, address) if found is None else found.of(address)
    title = broker_rows.titled(address, row["name"])
    st.header(words("brokers.offsets_of", address=escaped(title)), anchor=False)
    log = dated.get(address)
    framed = broker_logs.offsets_in(log, within) if found is None else None
    marks = broker_logs.Marks(broker_logs.kept_from(log, cut), kept.hours, framed)
    figure = charts.log(mine, bins, shown, colours[address], marks)
    alt, below = broker_logs.log_alt(row, mine, words), html.ends(mine, words)
    state = chart(figure, alt, lambda bins=bins: bins, f"log-{address}", select=True, below=below)  # type: ignore[misc]
    if piece := logs.picked(address, state, (run.name, marks, within, words.lang, shown.theme)):
        show_html(html.piece_files(piece, mine, shown, run.name))
        clicked[piece.key] = st.container()
logs.last_clicked(clicked, run, shown)
scale = words("brokers.one_scale") if sum(bool(row.strip) for row in page) > 1 else ""
choose = words("brokers.choose") if len(brokers) > 1 and not len(some) else ""
small_print([scale, words("brokers.click") if len(pictured) else "", choose])

if dated:
    st.header(words("brokers.growth"), anchor=False)
    mine = {row.address: parts[row.address] for row in listed if row.address in parts}
    logs.growth_chart(mine, growth, colours, within, shown, run)
    logs.ask(dated, kept, shown)

time_range.registered("brokers", partial(cache.frame, run), within, shown)

# tables
with st.expander(words("brokers.table")):
    brokers["growth"] = [broker_logs.speed_text(rates.get(address), words) for address in brokers["address"]]
    made = tables.brokers(brokers, ends, colours, shown, run.name, within.params())
    show_html(columns(made, OF_BROKERS).html())
    filters.takeaway(brokers.drop(columns=["growth", "name"]), "brokers")

for name, rows, draw in (("topics", topics, tables.topics), ("tags", tags, tables.tags)):
    if not rows.empty:  # of the scan of a store
        st.header(words(f"brokers.{name}"), anchor=False)
        show_html(columns(draw(page_of(rows, f"{name}_page")[0], shown), OF_TOPICS, f"-{name}").html())
        pager(rows, f"{name}_page")
        filters.takeaway(rows, name)
about_cells, *about_growth = logs.notes(run, dated, kept, shown)
small_print(
    [
        words("brokers.range_note") if within and dated and found is None else "",
        words("brokers.range_undated", n=words.count("occurrence", found.undated)) if found and found.undated else "",
        about_cells,
        words("brokers.tags_cut", n=f"{MOST_TAGS:,}") if not tags.empty and tags["tag"].isna().any() else "",
        *about_growth,
        *shared.notes(run, shown),
    ]
)
