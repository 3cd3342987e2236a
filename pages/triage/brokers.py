"""Brokers: where in which commit logs the messages lie. Computes nothing itself."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from pages.parts import cache, figures_brokers, filters, logs, sentences, tables, triage
from pages.parts.view import view
from pages.parts.widgets import chart, heading, said, small_print, zone_note

SHOWN = 6


def frame_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The data behind a picture, for its download."""
    return frame


shown = view()
words = shown.words
heading("page.brokers")
run = triage.run_of("brokers")
brokers = cache.frame(run, "brokers")
if brokers.empty:
    st.info(words("brokers.none"), icon=":material/info:")
    small_print(triage.notes(run, shown))
    st.stop()
brokers = brokers.sort_values(["ids", "address"], ascending=[False, True]).reset_index(drop=True)
said(sentences.brokers(brokers, shown))
growth, segments = cache.frame(run, "growth"), cache.frame(run, "segments")
rates = sentences.growth_rates(growth) if not growth.empty else {}
ends = segments.groupby("address")["segment"].agg(oldest="min", newest="max")

pages = -(-len(brokers) // SHOWN)
page = min(int(st.session_state.get("brokers_page") or 1), pages)
for row in brokers.iloc[(page - 1) * SHOWN : page * SHOWN].to_dict("records"):
    mine, bins = cache.broker(run, row["address"])
    logs.head(row, int(brokers["ids"].sum()), rates.get(row["address"]), shown)
    figure = figures_brokers.log(
        mine, bins, words, shown.palette, kept_from=logs.kept_from(growth, row["address"], shown)
    )
    chart(
        figure,
        logs.alt(row, mine, words),
        partial(frame_of, bins),
        f"log-{row['address']}",
        below=logs.foot(mine, words),
    )
if pages > 1:
    st.pagination(pages, key="brokers_page")

if rates:
    st.subheader(words("brokers.growth"), anchor=False)
    order = [address for address in brokers["address"] if address in rates][:10]
    figure = figures_brokers.growth(growth, order, words, shown.palette, shown.zone, shown.zone_name)
    chart(figure, words("brokers.alt_growth", brokers=words.count("broker", len(order))), lambda: growth, "growth")

st.subheader(words("brokers.table"), anchor=False)
brokers["growth"] = [sentences.growth_text(rates.get(address), words) for address in brokers["address"]]
tables.brokers(brokers, ends, shown)
filters.takeaway(brokers.drop(columns="growth"), "brokers")
small_print(
    [
        words("brokers.files_note"),
        words("brokers.growth_note") if rates else "",
        words("brokers.all_old") if logs.all_old(growth, shown) else "",
        *triage.notes(run, shown),
        zone_note(shown),
    ]
)
