"""What is around the pictures of the brokers' logs: names, files, growth, and the age of an offset asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore import growth
from idcore.catalogue import Words
from idcore.html import tables
from idcore.ids.identify import identify
from idcore.ids.model import OffsetId
from idcore.reports.markup import Html, link, tag
from idcore.runs import Run
from idcore.times import full
from idcore.triage import address_flags, broker_logs
from idcore.triage.broker_logs import Piece, Retention, Speed, cells
from idcore.triage.time_range import TimeRange
from pages.parts import cache, scans
from pages.parts.charts import brokers as charts
from pages.parts.triage import filters, time_range
from pages.parts.triage import lines as run_lines
from pages.parts.view import View, view
from pages.parts.widgets import chart, said, show_html, small_print

LONGEST = 8_760  # hours that files may be kept: a year
MOST_FILES = 12  # that a clicked cell names


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
        figure, _ = charts.growth(drawn, colours, shown, within)
        alt = words("brokers.alt_growth", brokers=words.count("broker", len(drawn)))
        brush = time_range.brush(within, shown.zone)
        state = chart(figure, alt, lambda: rows, "growth", select=True, brush=brush)
        if marked := filters.picked(state):
            run_lines.clicked(run, shown, marked, "growth")
        cut = words("brokers.rows_cut", n=len(drawn), all=words.count("broker", len(fast)))
        rows_note = words("brokers.rows_note") if len(drawn) > charts.MOST_TOGETHER else ""
        small_print([rows_note, cut if len(fast) > len(drawn) else ""])
    if not logs:
        said(words("brokers.range_none"))
    for sentence in broker_logs.without_speed(logs, words):
        said(sentence)


def retention() -> Retention:
    """What the boxes further down hold, or the address; the broker's defaults otherwise."""

    def chosen(name: str, usual: int, least: int, most: int) -> int:
        value = st.session_state.get(name, st.query_params.get(name, usual))
        return int(value) if str(value).isdecimal() and least <= int(value) <= most else usual

    return Retention(chosen("keep", growth.KEPT_HOURS, 1, LONGEST), chosen("delete_at", growth.DELETES_AT, 0, 23))


def head(row: dict[str, Any], total: int, speed: Speed | None, colour: str, run: Run, within: TimeRange) -> None:
    """One line above the picture."""
    words = view().words
    name = tables.marked(
        tag("b", tables.swatch(row["address"], colour), class_="mq-mono"),
        address_flags.of_broker(row["host"], int(row["port"])),
        words,
    )
    apart = row["max_offset"] - row["min_offset"]
    facts = [
        words.count("occurrence", int(row["ids"])),
        words("brokers.share", share=words.share(row["ids"], total)),
        words("brokers.span", span=words.bytes(apart))
        if apart
        else words("brokers.one", offset=f"{row['min_offset']:,}"),
        broker_logs.speed_text(speed, words),
        link(words("brokers.lines"), view().href("lines", run=run.name, broker=row["address"], **within.params())),
    ]
    show_html(
        tag("div", tag("span", name), *(tag("span", fact) for fact in facts if fact), class_="mq-run mq-log-head")
    )


def picked(address: str, state: Any, drawn: tuple[Any, ...]) -> Piece | None:
    """What was clicked last in the picture of a broker, or what the address shows of it; kept in the address.

    `drawn` is what the picture depends on: drawn in another way it is a new one, in which nothing was clicked yet.
    """
    points = (state or {}).get("selection", {}).get("points", [])
    now = next((str(point["customdata"][0]) for point in points if point.get("customdata")), "")
    pieces = {piece.address: piece for piece in map(Piece.of, st.query_params.get_all("segment")) if piece}
    before = st.session_state.get(f"picked-{address}", ((), ""))
    st.session_state[f"picked-{address}"] = (drawn, now)
    if now != before[1] and (now or drawn == before[0]):
        pieces.pop(address, None)
        if (piece := Piece.of(f"{address}~{now}")) is not None:
            pieces[address] = piece
        st.query_params["segment"] = [piece.key for piece in pieces.values()]
    return pieces.get(address)


def piece_lines(piece: Piece, segments: pd.DataFrame, run: Run, words: Words) -> DeltaGenerator:
    """Where the lines of a clicked piece are: one link a file. Returns the place of its first lines."""
    files = piece.files(segments)
    links = [
        link(name, view().href("lines", run=run.name, broker=piece.address, segment=name), class_="mq-mono")
        for name in files["segment"].head(MOST_FILES)
    ]
    said = words(
        "brokers.piece",
        address=piece.address,
        files=words.count("segment", len(files)),
        ids=words.count("occurrence", int(files["ids"].sum())),
    )
    more = len(files) - len(links)
    rest = [words("brokers.more_files", n=f"{more:,}")] if more > 0 else []
    show_html(tag("div", tag("b", said), *(tag("span", one) for one in (*links, *rest)), class_="mq-run mq-piece"))
    return st.container()


def last_clicked(places: Mapping[str, DeltaGenerator], run: Run, view: View) -> None:
    """The first lines of the file that was clicked last. Only after all pictures it is known which one that is."""
    piece = Piece.of(st.query_params.get("segment", ""))
    if piece is not None and piece.first == piece.last and piece.key in places:
        with places[piece.key]:
            run_lines.clicked(run, view, {"broker": piece.address, "segment": piece.first})


def foot(segments: pd.DataFrame, words: Words) -> Html:
    """The oldest and the newest file, written out."""
    oldest, newest = segments["segment"].min(), segments["segment"].max()
    _, together = cells(segments)
    last = tag("span", newest, class_="mq-mono") if newest != oldest else None
    middle = tag("span", words("brokers.together", n=together)) if together > 1 else None
    return tag("div", tag("span", oldest, class_="mq-mono"), middle, last, class_="mq-ends")


def ask(logs: dict[str, growth.Log], kept: Retention, view: View) -> None:
    """The boxes: when was this offset written, and until when can its record be expected?"""
    words = view.words
    left, middle, right, last = st.columns([5, 4, 2, 2], gap="small", vertical_alignment="bottom")
    asked = left.text_input(
        words("growth.box"), key="offset", placeholder=words("growth.placeholder"), bind="query-params"
    ).strip()
    right.number_input(words("growth.keep"), 1, LONGEST, growth.KEPT_HOURS, key="keep", bind="query-params")
    last.number_input(words("growth.delete_at"), 0, 23, growth.DELETES_AT, key="delete_at", bind="query-params")
    best = identify(asked).best if asked else None
    made = best.id if best is not None and isinstance(best.id, OffsetId) else None
    names = list(logs)
    if made is not None or len(names) == 1:
        address = made.address if made is not None else names[0]
        middle.text_input(words("col.broker"), address, disabled=True, key=f"own-{address}")
    else:
        first = names.index(shown) if (shown := st.query_params.get("broker")) in names else 0
        address = middle.selectbox(words("col.broker"), names, first, key="offset_broker", bind="query-params")
    plain = asked.replace(",", "").replace("_", "")
    if not asked:
        return
    if made is None and not (plain.isdecimal() and len(plain) <= 18):
        st.error(words("growth.no_offset"), icon=":material/block:")
    elif address not in logs:
        st.info(words("growth.no_log", address=address), icon=":material/info:")
    else:
        answer(logs[address], address, made.physical_offset if made is not None else int(plain), kept, view)


def answer(log: growth.Log, address: str, offset: int, kept: Retention, view: View) -> None:
    """When the offset was written and how long its record is kept, in a sentence; what it rests on below."""
    words = view.words
    written = growth.written(log, offset)
    until = growth.kept(log, offset, kept.hours, kept.hour, view.zone)
    file = f"{offset // growth.SEGMENT * growth.SEGMENT:020d}"
    text = words(
        f"growth.{written.how}",
        offset=f"{offset:,}",
        address=address,
        at=view.minute(written.at or written.earliest or written.latest),
    )
    text += words(f"growth.kept_{until.bound}", until=view.minute(until.until))
    text += words(
        "growth.gone" if until.until <= view.now() and until.bound != "at_least" else "growth.file", file=file
    )
    said(text)
    small_print(
        [
            words("growth.known", first=full(written.earliest, view.zone), last=full(written.latest, view.zone))
            if written.how in ("minute", "between")
            else "",
            words("growth.rule", hours=kept.hours, hour=f"{kept.hour:02d}:00"),
        ]
    )


def files_note(run: Run, words: Words) -> str:
    """What a cell is: by an id alone a file is taken to be of the default size, and a store can have others."""
    if scans.store_of(run) is not None:
        size = int(cache.frame(run, "files")["bytes"].max())
        if size != growth.SEGMENT:
            return words("brokers.files_note_store", size=words.bytes(size))
    return words("brokers.files_note")


def notes(run: Run, logs: dict[str, growth.Log], kept: Retention, view: View) -> list[str]:
    """What the growth rests on, what was left out of it, and whether all of it is old."""
    words = view.words
    if not logs:
        return [words("growth.none")]
    left_out = sum(log.left_out for log in logs.values())
    old = all(log.last < kept.cut(view.now(), view.zone) for log in logs.values())
    return [
        words("brokers.growth_note" if scans.store_of(run) is None else "brokers.growth_note_store"),
        words("growth.left_out", n=words.count("minute", left_out)) if left_out else "",
        words("brokers.all_old", hours=kept.hours, hour=f"{kept.hour:02d}:00") if old else "",
    ]
