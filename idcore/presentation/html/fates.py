"""What became of messages in groups, as tables: counts, and messages that a group lacks. Rows in, escaped HTML out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from idcore.answers.fate.levels import NAMES, SIGNS, level_of
from idcore.answers.fate_list import sentences
from idcore.answers.lookup.model import Evidence
from idcore.answers.lookup.sentences import evidence_sentences
from idcore.presentation.html import tables
from idcore.presentation.html.cards import message_link
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, Table, join, link, tag, wrapped

Row = Mapping[str, Any]


def name(code: str, reader: Reader) -> str:
    """A verdict in words; one of a later version as its code."""
    words = reader.words
    return words(f"fate.name.{code}") if words.has(f"fate.name.{code}") else code


def _verdict(code: str, reader: Reader, colours: Mapping[str, str]) -> Html:
    return tag("span", tables.swatch(name(code, reader), colours[NAMES[level_of(code)]]))


def _queue(row: Row) -> str:
    """A queue, of a cluster with its broker."""
    return " · ".join(str(row[name]) for name in ("broker", "queue_id") if name in row)


def _at(moment: Any, reader: Reader) -> str:
    return reader.full(None if pd.isna(moment) else moment)


def counts(rows: Sequence[Row], reader: Reader, colours: Mapping[str, str], here: Callable[..., str]) -> Table:
    """Messages by topic, queue, group and verdict. `here` is the address of the same page with some filters."""
    words = reader.words
    columns = [
        Column("verdict", words("fate.verdict")),
        Column("group", words("fate.group"), mono=True),
        Column("topic", words("fate.topic"), mono=True),
        Column("queue_id", words("record.queue"), right=True),
        Column("messages", words("fate.count"), right=True),
        Column("first", words("fate.first"), mono=True, role="time"),
    ]
    body = [
        [
            link(
                _verdict(row["verdict"], reader, colours),
                here(topic=row["topic"], group=row["group"], verdict=row["verdict"]),
            ),
            link(wrapped(row["group"]), here(group=row["group"])),
            wrapped(row["topic"]),
            _queue(row),
            f"{row['messages']:,}",
            _at(row["first_store_timestamp"], reader),
        ]
        for row in rows
    ]
    return Table(words("fate.counts"), columns, body)


def lacking(rows: Sequence[Row], reader: Reader, colours: Mapping[str, str], place: Mapping[str, str | None]) -> Table:
    """Messages that a group lacks, each with the ways to its journey, at some `place`, and to its record."""
    words, store = reader.words, place.get("store")
    columns = [
        Column("msg_id", "msgId", mono=True, role="uniq"),
        Column("group", words("fate.group"), mono=True),
        Column("verdict", words("fate.verdict")),
        Column("stored", words("fate.stored"), mono=True, role="time"),
        Column("record", words("fate.record"), mono=True, role="offset"),
    ]
    body = []
    for row in rows:
        text = f"{row['commit_log_offset']:,}"
        record = link(text, reader.href("store", store=store, id=str(row["commit_log_offset"]))) if store else text
        where = f"{row['topic']} · {_queue(row)} · {row['queue_offset']:,}"
        way = message_link(row["msg_id"], reader, **place) or tables.UNKNOWN
        body.append(
            [
                join([way, tag("span", where, class_="mq-under", title=words("fate.place"))]),
                wrapped(row["group"]),
                _verdict(row["verdict"], reader, colours),
                _at(row["store_timestamp"], reader),
                record,
            ]
        )
    return Table(words("fate.list"), columns, body)


def unanswered(rows: Sequence[Row], cluster: str | None, reader: Reader) -> Table:
    """IDs of a list that have no verdict, each with the reason and the way to its journey."""
    words = reader.words
    columns = [Column("id", "ID", mono=True, role="uniq"), Column("outcome", words("fates.outcome"))]
    columns.append(Column("why", words("fates.why")))
    body = []
    for row in rows:
        way = message_link(row["id"], reader, cluster=cluster)
        body.append([way, words(f"fates.name.{row['outcome']}"), sentences.why(row, words)])
    return Table(words("fates.rest"), columns, body)


def state(summary: Mapping[str, Any], reader: Reader) -> tuple[Html | None, list[str]]:
    """Of which time the verdicts are and what could not be read; and what could be, for the small print."""
    words, above, below = reader.words, list[Html](), list[str]()
    known = [Evidence(each["code"], each["values"]) for each in summary.get("evidence") or ()]
    if "snapshot_end" in summary:  # a cluster was asked
        first, last = (reader.full(datetime.fromisoformat(summary[name])) for name in ("snapshot", "snapshot_end"))
        above.append(tag("p", words("fate.asked", first=first, last=last), class_="mq-faint mq-note"))
    for each, text in zip(known, evidence_sentences(known, words, reader.full), strict=True):
        if each.code == "config_read":
            below.append(text)
        else:
            style = "faint" if each.code == "store_snapshot" else "warning"
            above.append(tag("p", text, class_=f"mq-{style} mq-note"))
    for name in ("traces", "groups"):
        if left := summary.get(f"{name}_left_out"):
            below.append(words(f"fate.{name}_left", n=f"{left:,}"))
    return tag("div", *above, class_="mq-plain") if above else None, below


def legend(counts: Mapping[str, int], reader: Reader, colours: Mapping[str, str], signs: bool) -> Html:
    """Each colour in words, the worst first, with its messages."""
    words, rows = reader.words, []
    for name, count in counts.items():
        dot = tag("i", class_="mq-dot", style=f"background:{colours[name]}")
        level = tag("b", words(f"fate.level.{name}"), f" {SIGNS[name]}" if signs and SIGNS[name] else "")
        rows.append(tag("li", dot, level, f" {count:,} · ", words(f"fate.level.{name}.help")))
    return tag("ul", *rows, class_="mq-small mq-levels")
