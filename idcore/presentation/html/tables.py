"""Tables of a scan: processes, hosts, brokers, topics, gaps. Rows in, escaped HTML out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from idcore.base.catalogue import Words
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, Table, join, link, number, table, tag, wrapped
from idcore.presentation.triage import address_flags
from idcore.presentation.triage.processes import assumed, is_countable, is_followed, process_key, rate_text
from idcore.presentation.triage.scope import UNLIMITED
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange, between

UNKNOWN = "–"  # a figure that an id does not contain
Row = Mapping[str, Any]


def marked(text: Any, codes: list[str] | tuple[str, ...], words: Words) -> Html:
    """A name with its marks behind it."""
    marks = [tag("span", words(f"mark.{code}"), class_="mq-mark", title=words(f"mark.{code}.help")) for code in codes]
    return join([text, *marks], " ")


def swatch(name: str, colour: str) -> Html:
    """A name behind a square of its colour in the pictures."""
    return join([tag("i", class_="mq-dot", style=f"background:{colour}"), name])


def rate(value: Any) -> str:
    """A rate, or nothing."""
    return "" if value is None or value != value else rate_text(float(value))


def measured(row: Any, by: str, words: Words) -> str:
    """What a process is ranked by; empty where its IDs are not known."""
    if by == "ids":
        ids = row.get("ids")
        return words.count("occurrence", int(ids)) if ids is not None and ids == ids else ""
    if by == "missing":
        if not is_countable(row):
            return UNKNOWN
        if row.get("sample"):  # what of it is missing is in other logs
            return words("producers.sample")
        lost = row.get("lost", row["missing"])
        return words.share_cell(lost, row["produced"])
    if by == "rate":
        number = rate(row["rate_per_second"])
        return words("counters.slope", n=number) if number else "–"
    return words.count("wrap_short", int(row["wraps"]))


def _known(row: Row, name: str) -> str:
    """A figure of a counter, where it is known."""
    return number(row[name]) if (is_followed if name == "wraps" else is_countable)(row) else UNKNOWN


def _missing(row: Row, words: Words) -> Html | str:
    """How many IDs are missing; of a sample only those in holes."""
    if not row.get("sample"):
        return _known(row, "missing")
    sample = tag("span", words("producers.sample"), class_="mq-faint", title=words("producers.sample.help"))
    return join([number(row["lost"]), sample], " ") if row["lost"] else sample


def _wraps(row: Row, words: Words) -> str:
    known = _known(row, "wraps")
    return known if known == UNKNOWN or row["wraps_certain"] else words("counters.at_least", n=known)


def _who(words: Words, host: Any) -> list[Column]:
    """The columns that name a process."""
    return [
        Column("host", words("col.host"), mono=True, role="host", cell=host),
        Column("pid", words("col.pid"), mono=True, right=True, role="pid", cell=lambda row: row["pid"]),
        Column("loader", words("col.loader"), mono=True, role="loader"),
    ]


def _when(reader: Reader) -> list[Column]:
    """The columns of its first and last ID."""

    def at(name: str) -> Callable[[Row], str]:
        return lambda row: reader.full(row[f"{name}_sent_at"]) + assumed(row, reader.words)

    names = ("first", "last")
    return [Column(name, reader.words(f"col.{name}"), mono=True, role="time", cell=at(name)) for name in names]


def processes(rows: pd.DataFrame, reader: Reader, run: str) -> Table:
    """The processes table: who and how many first, then when, long text last; each process a link to its counter."""
    words = reader.words

    def host(row: Row) -> Html:
        where = reader.href("counters", run=run, process=process_key(row))
        return marked(link(row["host"], where), address_flags.of_process(row), words)

    def counted(name: str, cell: Any = None) -> Column:
        return Column(name, words(f"col.{name}"), right=True, help=words(f"col.{name}.help"), cell=cell)

    def dating(name: str) -> Column:
        return Column(
            name, words(f"col.{name}"), mono=name == "month", cell=lambda row: _dating(name, row[name], words)
        )

    ends = words("col.first_last_counter")
    columns = [
        *_who(words, host),
        counted("ids"),
        counted("distinct"),
        counted("missing", lambda row: _missing(row, words)),
        Column("wraps", words("col.wraps"), right=True, cell=lambda row: _wraps(row, words)),
        counted("rate", lambda row: rate(row["rate_per_second"])),
        *_when(reader),
        *(dating(name) for name in ("zone", "zone_source", "month") if name in rows),
        counted("produced", lambda row: _known(row, "produced")),
        counted("tracks"),
        Column("out_of_order", words("col.out_of_order"), right=True),
        Column("counters", ends, mono=True, right=True, role="counter", cell=_counters),
        Column("maker", words("col.maker"), cell=lambda row: _maker(row, words)),
        _lines(reader, run),
    ]
    return Table.of(words("table.processes"), columns, rows.to_dict("records"))


def _counters(row: Row) -> str:
    return f"{row['first_counter']:,} → {row['last_counter']:,}"


def processes_in(rows: pd.DataFrame, reader: Reader, run: str) -> Table:
    """The processes of a time range: what of them is in it. Each is a link to its counter, and to its lines."""
    words = reader.words
    figures = {
        "ids": lambda row: number(row["ids"]),
        "distinct": lambda row: number(row["distinct"]),
        "missing": lambda row: _known(row, "missing"),
        "wraps": lambda row: _known(row, "wraps"),
    }
    columns = [
        *_who(words, lambda row: link(row["host"], reader.href("counters", run=run, process=process_key(row)))),
        *(Column(name, words(f"col.{name}"), right=True, cell=figures[name]) for name in figures if name in rows),
    ]
    if "rate_per_second" in rows:
        fast = words("col.rate.help")
        columns.append(Column("rate_per_second", words("col.rate"), right=True, help=fast, cell=_rate))
    columns += [*_when(reader), _lines(reader, run)]
    return Table.of(words("table.processes"), columns, rows.to_dict("records"))


def _rate(row: Row) -> str:
    return rate(row["rate_per_second"])


def _maker(row: Row, words: Words) -> str:
    """Who generated the ids of a process, by its code; scans of older versions have English words."""
    position = row.get("loader_position")
    known = position is not None and position == position
    return words.client(row["maker"] or "", {"position": int(position or 0) if known else "?"})


def _dating(name: str, value: Any, words: Words) -> str:
    """A process's own zone, where that is known from, and its month; nothing where nothing shows it."""
    text = "" if value is None or value != value else str(value)
    key = f"col.zone_source.{text}"
    return words(key) if name == "zone_source" and words.has(key) else text


def _lines(reader: Reader, run: str) -> Column:
    """The way to the lines of a process."""
    return Column(
        "lines", reader.words("col.lines"), cell=lambda row: lines_link(reader, run, process=process_key(row))
    )


def lines_link(reader: Reader, run: str, **filters: str | None) -> Html:
    """The way to the lines of one row."""
    return link(reader.words("col.lines"), reader.href("lines", run=run, **filters))


def brokers(
    rows: pd.DataFrame,
    files: pd.DataFrame,
    colours: Mapping[str, str],
    reader: Reader,
    run: str,
    within: dict[str, str],
    total: int | None = None,
) -> Table:
    """The brokers table: where their offsets are, how fast they grow, and in which files.

    `total`: the IDs of all brokers, where the rows are some of them.
    """
    words, total = reader.words, int(rows["ids"].sum()) if total is None else total

    def address(row: Row) -> Html:
        name = swatch(row["address"], colours[row["address"]])
        return marked(name, address_flags.of_broker(row["host"], int(row["port"])), words)

    def lines(row: Row) -> Html:
        return link(words("brokers.lines"), reader.href("lines", run=run, broker=row["address"], **within))

    def span(row: Row) -> str:
        return words.bytes(row["max_offset"] - row["min_offset"])

    def file(name: str) -> Column:
        def cell(row: Row) -> str:
            return str(files.loc[row["address"]][name]) if row["address"] in files.index else ""

        return Column(name, words(f"col.{name}"), mono=True, role="offset", cell=cell)

    def offset(name: str) -> Column:
        return Column(name, words(f"col.{name}"), mono=True, right=True, role="offset")

    every, growth = words("col.distinct.help_broker"), words("col.growth.help")
    columns = [
        Column("address", words("col.broker"), mono=True, cell=address),
        Column("lines", words("brokers.lines"), cell=lines),
        Column("ids", words("col.ids"), right=True, help=words("col.ids.help")),
        Column("share", words("col.share"), right=True, cell=lambda row: words.share_cell(row["ids"], total)),
        Column("distinct", words("col.distinct"), right=True, help=every),
        Column("segments", words("col.segments"), right=True),
        Column("growth", words("col.growth"), right=True, help=growth, cell=lambda row: row.get("growth", "")),
        Column(
            "span", words("col.span"), right=True, cell=lambda row: words.bytes(row["max_offset"] - row["min_offset"])
        ),
        offset("min_offset"),
        offset("max_offset"),
        file("oldest"),
        file("newest"),
    ]
    return Table.of(words("table.brokers"), columns, rows.to_dict("records"))


def _messages(words: Words) -> list[Column]:
    """How many messages, and how large."""
    size = Column("bytes", words("store.bytes_head"), right=True, cell=lambda row: words.bytes(row["bytes"]))
    return [Column("messages", words("store.messages"), right=True), size]


def topics(rows: pd.DataFrame, reader: Reader) -> Table:
    """Messages of a store by topic and queue: how many, how large, when they were stored, where in their queue."""
    words = reader.words

    def stored(end: str) -> Column:
        def cell(row: Row) -> str:
            at = row[f"{end}_store_timestamp"]
            return UNKNOWN if pd.isna(at) else reader.full(at.to_pydatetime())  # the field of a record held no time

        return Column(end, words(f"col.{end}_stored"), mono=True, role="time", cell=cell)

    def places(row: Row) -> str:
        return f"{row['min_queue_offset']:,} – {row['max_queue_offset']:,}"

    columns = [
        Column("topic", words("record.topic"), cell=lambda row: wrapped(row["topic"])),
        Column("queue_id", words("record.queue"), right=True),
        *_messages(words),
        stored("first"),
        stored("last"),
        Column("places", words("col.queue_offsets"), mono=True, right=True, cell=places),
        Column("crc_failed", words("col.crc_failed"), right=True),
    ]
    return Table.of(words("brokers.topics"), columns, rows.to_dict("records"))


def tags(rows: pd.DataFrame, reader: Reader) -> Table:
    """Messages of a store by topic and tag."""
    words = reader.words

    def own(row: Row) -> Html:
        if row["tag"]:
            return wrapped(row["tag"])
        return tag("span", words("brokers.every_tag" if row["tag"] is None else "brokers.no_tag"), class_="mq-faint")

    columns = [
        Column("topic", words("record.topic"), cell=lambda row: wrapped(row["topic"])),
        Column("tag", words("col.tag"), cell=own),
        *_messages(words),
    ]
    return Table.of(words("brokers.tags"), columns, rows.to_dict("records"))


def gaps(
    rows: list[tuple[Any, Any, int]], reader: Reader, run: str, process: str, shown: TimeRange = ALL_TIMES
) -> Html:
    """Where ids are missing: from, to, how many, and the lines of both ends. One that the range cuts is marked.

    The times are the figure's: wall clock of the reader's zone, or seconds where ids have no date.
    """
    words, (first, last) = reader.words, shown.clock(reader.zone)

    def moment(value: Any) -> str:
        return reader.full(value.replace(tzinfo=reader.zone)) if isinstance(value, datetime) else f"{value:,.3f} s"

    def lines(begin: Any, end: Any) -> Html | str:
        if not isinstance(begin, datetime):
            return ""
        return lines_link(reader, run, **UNLIMITED | {"process": process} | between(begin, end, reader.zone))

    def missing(begin: Any, end: Any, n: int) -> Html | str:
        whole = not isinstance(begin, datetime) or ((first is None or begin >= first) and (last is None or end < last))
        if whole:
            return number(n)
        return join([tag("span", words("counters.cut_gap"), class_="mq-faint"), number(n)], " ")

    columns = [
        Column("missing", words("col.missing"), right=True),
        Column("from", words("col.gap_from"), mono=True, role="time"),
        Column("to", words("col.gap_to"), mono=True, role="time"),
        Column("lines", words("col.lines")),
    ]
    return table(
        columns, ((missing(a, b, n), moment(a), moment(b), lines(a, b)) for a, b, n in rows), words("table.gaps")
    )
