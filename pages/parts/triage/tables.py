"""Tables of a scan as static HTML: processes, brokers, gaps. Rows in, escaped HTML out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from idcore.catalogue import Words
from idcore.findings.limits import CUT_COUNTER
from idcore.reports.markup import Column, Html, join, link, table, tag
from idcore.triage import address_flags
from idcore.triage.processes import process_key, rate_text
from idcore.triage.time_range import between
from pages.parts.view import View
from pages.parts.widgets import href, show_html

ROWS = 50
UNKNOWN = "–"  # a figure that an id does not contain


def marked(text: Any, codes: list[str] | tuple[str, ...], words: Words) -> Html:
    """A name with its marks behind it."""
    return join(
        [
            text,
            *(tag("span", words(f"mark.{code}"), class_="mq-mark", title=words(f"mark.{code}.help")) for code in codes),
        ]
    )


def swatch(name: str, colour: str) -> Html:
    """A name behind a square of its colour in the pictures."""
    return join([tag("i", class_="mq-dot", style=f"background:{colour}"), name])


def paged(frame: pd.DataFrame, key: str, rows: int = ROWS) -> tuple[pd.DataFrame, int]:
    """The rows in sight, and the number of the first."""
    pages = max(1, -(-len(frame) // rows))
    page = min(int(st.session_state.get(key) or 1), pages)
    return frame.iloc[(page - 1) * rows : page * rows], (page - 1) * rows + 1


def pager(frame: pd.DataFrame, key: str, rows: int = ROWS) -> None:
    """Other pages of a table, where there are any."""
    pages = -(-len(frame) // rows)
    if pages > 1:
        st.pagination(pages, key=key)


def number(value: Any) -> str:
    """A count, or nothing."""
    return "" if value is None or value != value else f"{int(value):,}"


def rate(value: Any) -> str:
    """A rate, or nothing."""
    return "" if value is None or value != value else rate_text(float(value))


def processes(rows: pd.DataFrame, view: View, run: str, *, first: int = 1) -> None:
    """The processes table: who and how many first, then when, long text last; each process a link to its counter."""
    words = view.words
    dated = [name for name in ("zone", "zone_source", "month") if name in rows]
    columns = [
        Column("host", words("col.host"), mono=True, role="host"),
        Column("pid", words("col.pid"), mono=True, right=True, role="pid"),
        Column("loader", words("col.loader"), mono=True, role="loader"),
        Column("ids", words("col.ids"), right=True, help=words("col.ids.help")),
        Column("distinct", words("col.distinct"), right=True, help=words("col.distinct.help")),
        Column("missing", words("col.missing"), right=True, help=words("col.missing.help")),
        Column("wraps", words("col.wraps"), right=True),
        Column("rate", words("col.rate"), right=True, help=words("col.rate.help")),
        Column("first", words("col.first"), mono=True, role="time"),
        Column("last", words("col.last"), mono=True, role="time"),
        *(Column(name, words(f"col.{name}"), mono=name == "month") for name in dated),
        Column("produced", words("col.produced"), right=True, help=words("col.produced.help")),
        Column("tracks", words("col.tracks"), right=True, help=words("col.tracks.help")),
        Column("order", words("col.out_of_order"), right=True),
        Column("counters", words("col.first_last_counter"), mono=True, right=True, role="counter"),
        Column("maker", words("col.maker")),
        Column("lines", words("col.lines")),
    ]
    body = []
    for row in rows.to_dict("records"):
        where = href("counters", run=run, process=process_key(row))
        cut = row["layout"] == CUT_COUNTER
        wraps = number(row["wraps"]) if row["wraps_certain"] else words("counters.at_least", n=number(row["wraps"]))
        body.append(
            [
                marked(link(row["host"], where), address_flags.of_process(row), words),
                row["pid"],
                row["loader"],
                number(row["ids"]),
                number(row["distinct"]),
                UNKNOWN if cut else number(row["missing"]),
                UNKNOWN if cut else wraps,
                rate(row["rate_per_second"]),
                view.full(row["first_sent_at"]),
                view.full(row["last_sent_at"]),
                *(_dating(name, row[name], words) for name in dated),
                UNKNOWN if cut else number(row["produced"]),
                number(row["tracks"]),
                number(row["out_of_order"]),
                f"{row['first_counter']:,} → {row['last_counter']:,}",
                _maker(row, words),
                lines_link(words, run, process=process_key(row)),
            ]
        )
    show_html(table(columns, body, words("table.processes"), first=first, numbered=True))


def processes_in(rows: pd.DataFrame, view: View, run: str, *, first: int = 1) -> None:
    """The processes of a time range: what of them is in it. Each is a link to its counter, and to its lines."""
    words = view.words
    measures = [name for name in ("ids", "distinct", "missing", "wraps") if name in rows]
    rates = ["rate_per_second"] if "rate_per_second" in rows else []
    columns = [
        Column("host", words("col.host"), mono=True, role="host"),
        Column("pid", words("col.pid"), mono=True, right=True, role="pid"),
        Column("loader", words("col.loader"), mono=True, role="loader"),
        *(Column(name, words(f"col.{name}"), right=True) for name in measures),
        *(Column(name, words("col.rate"), right=True, help=words("col.rate.help")) for name in rates),
        Column("first", words("col.first"), mono=True, role="time"),
        Column("last", words("col.last"), mono=True, role="time"),
        Column("lines", words("col.lines")),
    ]
    body = [
        [
            link(row["host"], href("counters", run=run, process=process_key(row))),
            row["pid"],
            row["loader"],
            *(
                UNKNOWN if row["layout"] == CUT_COUNTER and name in ("missing", "wraps") else number(row[name])
                for name in measures
            ),
            *(rate(row[name]) for name in rates),
            view.full(row["first_sent_at"]),
            view.full(row["last_sent_at"]),
            lines_link(words, run, process=process_key(row)),
        ]
        for row in rows.to_dict("records")
    ]
    show_html(table(columns, body, words("table.processes"), first=first, numbered=True))


def _maker(row: Mapping[str, Any], words: Words) -> str:
    """Who generated the ids of a process, by its code; scans of older versions have English words."""
    position = row.get("loader_position")
    known = position is not None and position == position
    return words.client(row["maker"] or "", {"position": int(position or 0) if known else "?"})


def _dating(name: str, value: Any, words: Words) -> str:
    """A process's own zone, where that is known from, and its month; nothing where nothing shows it."""
    text = "" if value is None or value != value else str(value)
    key = f"col.zone_source.{text}"
    return words(key) if name == "zone_source" and words.has(key) else text


def brokers(
    rows: pd.DataFrame, files: pd.DataFrame, colours: Mapping[str, str], view: View, run: str, within: dict[str, str]
) -> None:
    """The brokers table: where their offsets are, how fast they grow, and in which files."""
    words = view.words
    columns = [
        Column("address", words("col.broker"), mono=True),
        Column("lines", words("brokers.lines")),
        Column("ids", words("col.ids"), right=True, help=words("col.ids.help")),
        Column("share", words("col.share"), right=True),
        Column("distinct", words("col.distinct"), right=True, help=words("col.distinct.help_broker")),
        Column("segments", words("col.segments"), right=True),
        Column("growth", words("col.growth"), right=True, help=words("col.growth.help")),
        Column("span", words("col.span"), right=True),
        Column("min", words("col.min_offset"), mono=True, right=True, role="offset"),
        Column("max", words("col.max_offset"), mono=True, right=True, role="offset"),
        Column("oldest", words("col.oldest"), mono=True, role="offset"),
        Column("newest", words("col.newest"), mono=True, role="offset"),
    ]
    total = int(rows["ids"].sum())
    body = []
    for row in rows.to_dict("records"):
        ends = files.loc[row["address"]] if row["address"] in files.index else None
        body.append(
            [
                marked(
                    swatch(row["address"], colours[row["address"]]),
                    address_flags.of_broker(row["host"], int(row["port"])),
                    words,
                ),
                link(words("brokers.lines"), href("lines", run=run, broker=row["address"], **within)),
                number(row["ids"]),
                words.share(row["ids"], total),
                number(row["distinct"]),
                number(row["segments"]),
                row.get("growth", ""),
                words.bytes(row["max_offset"] - row["min_offset"]),
                number(row["min_offset"]),
                number(row["max_offset"]),
                ends["oldest"] if ends is not None else "",
                ends["newest"] if ends is not None else "",
            ]
        )
    show_html(table(columns, body, words("table.brokers")))


def name(text: str) -> Html:
    """A topic or a tag: a long one takes several lines, and leaves room for the figures."""
    return tag("span", text, class_="mq-topic")


def topics(rows: pd.DataFrame, view: View) -> None:
    """Messages of a store by topic and queue: how many, how large, when they were stored, where in their queue."""
    words = view.words
    columns = [
        Column("topic", words("record.topic")),
        Column("queue", words("record.queue"), right=True),
        Column("messages", words("store.messages"), right=True),
        Column("bytes", words("store.bytes_head"), right=True),
        Column("first", words("col.first_stored"), mono=True, role="time"),
        Column("last", words("col.last_stored"), mono=True, role="time"),
        Column("places", words("col.queue_offsets"), mono=True, right=True),
        Column("crc", words("col.crc_failed"), right=True),
    ]
    body = [
        [
            name(row["topic"]),
            number(row["queue_id"]),
            number(row["messages"]),
            words.bytes(row["bytes"]),
            _stored(row["first_store_timestamp"], view),
            _stored(row["last_store_timestamp"], view),
            f"{row['min_queue_offset']:,} – {row['max_queue_offset']:,}",
            number(row["crc_failed"]),
        ]
        for row in rows.to_dict("records")
    ]
    show_html(table(columns, body, words("brokers.topics")))


def _stored(at: pd.Timestamp, view: View) -> str:
    return "–" if pd.isna(at) else view.full(at.to_pydatetime())  # the field of a record held no time


def tags(rows: pd.DataFrame, view: View) -> None:
    """Messages of a store by topic and tag."""
    words = view.words
    columns = [
        Column("topic", words("record.topic")),
        Column("tag", words("col.tag")),
        Column("messages", words("store.messages"), right=True),
        Column("bytes", words("store.bytes_head"), right=True),
    ]
    none = tag("span", words("brokers.no_tag"), class_="mq-faint")
    every = tag("span", words("brokers.every_tag"), class_="mq-faint")
    body = [
        [
            name(row["topic"]),
            every if row["tag"] is None else name(row["tag"]) if row["tag"] else none,
            number(row["messages"]),
            words.bytes(row["bytes"]),
        ]
        for row in rows.to_dict("records")
    ]
    show_html(table(columns, body, words("brokers.tags")))


def gaps(rows: list[tuple[Any, Any, int]], view: View, run: str, process: str) -> None:
    """Where ids are missing: from, to, how many, and the lines of both ends.

    The times are the figure's: wall clock of the reader's zone, or seconds where ids have no date.
    """
    words = view.words
    columns = [
        Column("missing", words("col.missing"), right=True),
        Column("from", words("col.gap_from"), mono=True, role="time"),
        Column("to", words("col.gap_to"), mono=True, role="time"),
        Column("lines", words("col.lines")),
    ]

    def moment(value: Any) -> str:
        return view.full(value.replace(tzinfo=view.zone)) if isinstance(value, datetime) else f"{value:,.3f} s"

    def lines(begin: Any, end: Any) -> Html | str:
        if not isinstance(begin, datetime):
            return ""
        return lines_link(words, run, process=process, **between(begin, end, view.zone))

    body = ((number(n), moment(a), moment(b), lines(a, b)) for a, b, n in rows)
    show_html(table(columns, body, words("table.gaps")))


def lines_link(words: Words, run: str, **filters: str) -> Html:
    """The way to the lines of one row."""
    return link(words("col.lines"), href("lines", run=run, **filters))


def hosts(rows: pd.DataFrame, view: View, run: str) -> None:
    """The hosts table: how many ids, and the lines of each."""
    words = view.words
    measures = [name for name in ("ids", "distinct") if name in rows]
    columns = [
        Column("host", words("col.host"), mono=True, role="host"),
        *(Column(name, words(f"col.{name}"), right=True) for name in measures),
        Column("lines", words("col.lines")),
    ]
    body = [
        [row["host"], *(number(row[name]) for name in measures), lines_link(words, run, host=row["host"])]
        for row in rows.to_dict("records")
    ]
    show_html(table(columns, body, words("table.hosts"), numbered=True))
