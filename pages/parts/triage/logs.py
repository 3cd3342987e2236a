"""What is around the pictures of the brokers' logs: names, files, growth, and the age of an offset asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.answers import growth
from idcore.ids.identify import identify
from idcore.ids.model import OffsetId
from idcore.presentation.triage import broker_logs, broker_rows, line_filter
from idcore.presentation.triage.broker_logs import Piece, Retention
from idcore.presentation.triage.broker_rows import BrokerRow
from idcore.presentation.triage.time_range import MINUTE, TimeRange
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.charts import brokers as charts
from pages.parts.triage import filters, time_range
from pages.parts.triage import lines as run_lines
from pages.parts.view import View
from pages.parts.widgets import chart, said, small_print

FEW = 5  # brokers, which one sees at once
ALL = "*"  # brokers, in the box of an offset


def sought(rows: Sequence[BrokerRow], view: View) -> list[BrokerRow]:
    """The rows that fit the text asked for, in the order asked for: of many brokers, each in the address."""
    if len(rows) <= FEW:
        return list(rows)
    words = view.words
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="brokers-asked"):
        label = words("brokers.search")
        text = st.text_input(label, key="q", placeholder="broker-a", bind="query-params", width=220).strip()
        name = lambda one: words(f"brokers.by.{one}")  # noqa: E731
        by = filters.one_of(st.selectbox, "by", broker_rows.sorts(rows), words("sort"), name, width=160)
    fitting = broker_rows.ordered(broker_rows.matching(rows, text), by)
    if not fitting:
        st.info(words("brokers.no_broker"), icon=":material/info:")
    return fitting


def growth_chart(
    logs: dict[str, growth.Log],
    rows: pd.DataFrame,
    colours: Mapping[str, str],
    within: TimeRange,
    shown: View,
    run: Run,
) -> None:
    """The growth of the logs that have a speed, and why others have none; a box along it is the time range."""
    words = shown.words
    fast = {address: log for address, log in logs.items() if growth.without_speed(log) is None}
    if drawn := dict(list(fast.items())[: charts.MOST_ROWS]):
        assumed, names = words.assumed(cache.totals(run).assumed), broker_rows.names_of(run.summary)
        figure, _ = charts.growth(drawn, colours, shown, within, assumed, names)
        alt = words("brokers.alt_growth", brokers=words.count("broker", len(drawn)))
        data = partial(broker_logs.rows_in_range, rows, drawn, within)
        state = chart(figure, alt, data, "growth", select=True, brush=time_range.brush(within, shown.zone))
        if marked := line_filter.last_clicked(state):
            run_lines.clicked(run, shown, marked, "growth")
        cut = words("brokers.rows_cut", n=len(drawn), all=words.count("broker", len(fast)))
        rows_note = words("brokers.rows_note") if len(drawn) > charts.MOST_TOGETHER else ""
        small_print([rows_note, cut if len(fast) > len(drawn) else ""])
    if not logs:
        said(words("brokers.range_short" if within.is_shorter(2 * MINUTE) else "brokers.range_none"))
    for sentence in broker_logs.without_speed(logs, words):
        said(sentence)


def retention() -> Retention:
    """What the boxes further down hold, which is in the address; the broker's defaults otherwise."""
    return Retention.of(*map(st.query_params.get, ("keep", "delete_at")))


def picked(address: str, state: Any, drawn: tuple[Any, ...]) -> Piece | None:
    """What was clicked last in the picture of a broker, or what the address shows of it; kept in the address.

    `drawn` is what the picture depends on: drawn in another way it is a new one, in which nothing was clicked yet.
    """
    now = next(filter(None, line_filter.clicked(state)), "")
    pieces = {piece.address: piece for piece in map(Piece.of, st.query_params.get_all("segment")) if piece}
    before = st.session_state.get(f"picked-{address}", ((), ""))
    st.session_state[f"picked-{address}"] = (drawn, now)
    if now != before[1] and (now or drawn == before[0]):
        pieces.pop(address, None)
        if (piece := Piece.of(f"{address}~{now}")) is not None:
            pieces[address] = piece
        st.query_params["segment"] = [piece.key for piece in pieces.values()]
    return pieces.get(address)


def last_clicked(places: Mapping[str, DeltaGenerator], run: Run, view: View) -> None:
    """The first lines of the file that was clicked last. Only after all pictures it is known which one that is."""
    piece = Piece.of(st.query_params.get("segment", ""))
    if piece is not None and piece.first == piece.last and piece.key in places:
        with places[piece.key]:
            run_lines.clicked(run, view, {"broker": piece.address, "segment": piece.first})


def ask(logs: dict[str, growth.Log], kept: Retention, view: View) -> None:
    """The boxes: when was this offset written, and until when can its record be expected?"""
    words = view.words
    left, middle, right, last = st.columns([5, 4, 2, 2], gap="small", vertical_alignment="bottom")
    asked = left.text_input(
        words("growth.box"), key="offset", placeholder=words("growth.placeholder"), bind="query-params"
    ).strip()
    filters.number(right, "keep", words("growth.keep"), 1, broker_logs.LONGEST, growth.KEPT_HOURS)
    filters.number(last, "delete_at", words("growth.delete_at"), 0, 23, growth.DELETES_AT)
    best = identify(asked).best if asked else None
    offset_id = best.id if best is not None and isinstance(best.id, OffsetId) else None
    names = list(logs)
    if offset_id is not None or len(names) == 1:
        address = offset_id.address if offset_id is not None else names[0]
        middle.text_input(words("col.broker"), address, disabled=True, key=f"own-{address}")
    else:
        every = [ALL, *names]
        first = every.index(shown) if (shown := st.query_params.get("broker")) in names else 0
        text = lambda name: name if name != ALL else words("growth.every_broker")  # noqa: E731
        address = middle.selectbox(
            words("col.broker"), every, first, key="offset_broker", bind="query-params", format_func=text
        )
    if not asked:
        return
    offset = offset_id.physical_offset if offset_id is not None else broker_logs.offset_in(asked)
    if offset is None:
        st.error(words("growth.no_offset"), icon=":material/block:")
    elif address == ALL:
        for sentence in broker_logs.ages(logs, offset, kept, view, view.now()):
            said(sentence)
    elif address not in logs:
        st.info(words("growth.no_log", address=address), icon=":material/info:")
    else:
        sentence, *notes = broker_logs.age(logs[address], address, offset, kept, view, view.now())
        said(sentence)
        small_print(notes)


def notes(run: Run, logs: dict[str, growth.Log], kept: Retention, view: View) -> list[str]:
    """What a cell of a log is, and what the growth rests on."""
    return broker_logs.notes(logs, kept, run.store is not None, file_size(run), view, view.now())


def file_size(run: Run) -> int:
    """Bytes of a full commit log file: of a store that of its largest one, else the default."""
    return int(cache.frame(run, "files")["bytes"].max()) if run.store is not None else growth.SEGMENT
