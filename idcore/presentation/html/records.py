"""A stored record as people read it: both ids, times, place, properties, body; copies on one line of time."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from idcore.base.catalogue import Words
from idcore.ids.clock import from_ms, is_time
from idcore.ids.model import OffsetId
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import (
    Column,
    Html,
    Table,
    fact_list,
    fold,
    join,
    link,
    listed,
    table,
    tag,
    wrapped,
)
from idcore.rocketmq.message import bodies, flags
from idcore.rocketmq.message import properties as names

Row = Mapping[str, Any]
TEXT_SHOWN, HEX_SHOWN, PROPERTY_SHOWN = 8_000, 512, 2_000
INNER_SHOWN, INNER_BYTES = 200, 64


def span(milliseconds: int, words: Words) -> str:
    """A difference of two times, signed and short."""
    sign = "−" if milliseconds < 0 else "+"
    size = abs(milliseconds)
    text = words("span.ms", n=f"{size:,}") if size < 10_000 else words.duration(size / 1000)
    return f"{sign}{text}"


def card(row: Row, reader: Reader, relation: str = "") -> Html:
    """One record, whole."""
    words = reader.words
    head = [tag("strong", row["topic"], class_="mq-mono")]
    if relation:
        head.append(tag("span", relation, class_="mq-sure mq-faint"))
    return tag(
        "div",
        tag("div", *head, class_="mq-title"),
        fact_list(facts(row, reader)),
        fold(properties(row, words).caption, properties(row, words).html()),
        *body(row, words),
        *inner(row, words),
        class_="mq-card",
    )


def facts(row: Row, reader: Reader) -> Iterable[tuple[str, Any]]:
    """Where it is, both ids, when it was born and stored."""
    words = reader.words
    none = tag("span", words("record.no_msg_id"), class_="mq-faint")
    born = row["born_timestamp"]
    yield "msgId", _anatomy(row["msg_id"], from_ms(born) if is_time(born) else None, reader) if row["msg_id"] else none
    yield "offsetMsgId", _anatomy(row["offset_msg_id"], None, reader)
    queue = words("record.queue_place", queue=row["queue_id"], offset=f"{row['queue_offset']:,}")
    if row.get("broker"):
        queue += f" · {row['broker']}"
    yield words("record.queue"), queue
    offset = int(row["commit_log_offset"])
    file = row.get("file") or OffsetId.from_hex(row["offset_msg_id"]).segment()
    place = tag("span", f"{file} + {offset - int(file):,}", class_="mq-faint mq-mono")
    yield words("record.log"), join([f"{offset:,}", place], " ")
    yield words("record.size"), words.bytes(int(row["store_size"]))
    born, stored = (reader.stamp(int(row[name])) for name in ("born_timestamp", "store_timestamp"))
    yield words("record.born"), _at(born, row["born_host"])
    late = span(int(row["store_timestamp"]) - int(row["born_timestamp"]), words) if born and stored else ""
    yield words("record.stored"), _at(stored, row["store_host"], late)
    bits = flags.describe(int(row["sys_flag"]))
    if bits or row["flag"]:
        yield words("record.flags"), ", ".join([*bits, *([f"flag {row['flag']}"] if row["flag"] else [])])
    if row["reconsume_times"]:
        yield words("record.reconsumed"), f"{row['reconsume_times']:,}"
    if row["prepared_transaction_offset"]:
        yield words("record.prepared"), f"{row['prepared_transaction_offset']:,}"
    marks: Mapping[str, str] = row["properties"]
    if lite := marks.get(names.LITE_TOPIC):
        yield words("record.lite"), lite
    if (priority := names.number(marks.get(names.PRIORITY))) is not None:
        yield words("record.priority"), words("record.priority_queue", priority=priority)
    for tracer in row.get("tracers", ()):
        shown = tag("span", tracer["trace_id"], class_="mq-mono")
        yield (
            words("record.tracer", name=tracer["name"]),
            (link(shown, tracer["link"], new=True) if tracer["link"] else shown),
        )
    if row.get("batch"):
        yield words("record.batch"), words("record.in_batch")
    if not row["body_crc_ok"]:
        yield words("record.crc"), tag("span", words("record.crc_wrong"), class_="mq-error")
    if row.get("record_crc_ok") is not None:
        right = row["record_crc_ok"]
        text = words("record.whole_crc_right" if right else "record.whole_crc_wrong")
        yield words("record.whole_crc"), text if right else tag("span", text, class_="mq-error")
    yield from pointers(row, words)


def pointers(row: Row, words: Words) -> Iterable[tuple[str, Any]]:
    """What of a store folder points at the record: its place in the queue, and an index entry for each key."""
    if "index_entries" not in row:
        return
    unit = row["queue_unit"]
    if unit is not None:
        key = "record.unit_agrees" if unit["agrees"] else "record.unit_differs"
        yield words("record.unit"), words(key, offset=f"{unit['physical_offset']:,}", size=f"{unit['size']:,}")
    else:
        yield words("record.unit"), words(f"record.unit_{row['queue_unit_missing']}")
    entries = []
    for entry in row["index_entries"]:
        key = "far" if entry["place"] is None and entry["file"] else "at" if entry["file"] else "none"
        place = words(f"record.index_{key}", file=entry["file"], place=f"{entry['place'] or 0:,}")
        entries.append(tag("div", join([tag("span", entry["indexed_as"], class_="mq-mono mq-wrap"), place], " ")))
    if entries:
        yield words("record.index"), join(entries, " ")


def _anatomy(text: str, born: datetime | None, reader: Reader) -> Html:
    sent = born.isoformat(timespec="milliseconds") if born is not None else None
    return link(tag("span", text, class_="mq-mono"), reader.href("anatomy", id=text, sent_at=sent))


def _at(at: str, host: str, more: str = "") -> Html:
    parts: list[Any] = [tag("span", at or "–", class_="mq-mono")]
    parts += [tag("span", text, class_="mq-faint") for text in (more, host) if text]
    return join(parts, " ")


def properties(row: Row, words: Words) -> Table:
    """All properties as they are stored; of a name that occurs twice the last wins, as in Java."""
    rows = [[name, "" if value is None else short(value, PROPERTY_SHOWN)] for name, value in row["properties_raw"]]
    columns = [Column("name", words("record.name"), mono=True), Column("value", words("record.value"), mono=True)]
    return Table(words("record.properties", n=f"{len(rows):,}"), columns, rows)


def short(text: str, most: int) -> str:
    """A text, or the beginning of a long one."""
    return text if len(text) <= most else text[:most] + "…"


def body_notes(row: Row, words: Words) -> Iterable[Html]:
    """Why the body is not shown as it was sent."""
    if row.get("body_problem"):
        yield tag("p", words("record.body_problem", problem=words.said(row["body_problem"])), class_="mq-warning")
    if why := row.get("body_withheld") or ("no_text" if row["body"] is None else ""):
        yield tag("p", words(f"record.withheld_{why}", size=words.bytes(row.get("body_size") or 0)), class_="mq-faint")


def body(row: Row, words: Words) -> Iterable[Html]:
    """The body as text, JSON where it is JSON, and hex; cut where the page ends, and said so."""
    yield from body_notes(row, words)
    if row["body"] is None:
        return
    raw = base64.b64decode(row["body"])
    size = words.bytes(int(row.get("body_size") or len(raw)))
    text = row["body_text"]
    pretty = bodies.as_json(text) if text else None
    if pretty is not None:
        yield fold(words("record.body_json", size=size), _code(pretty, words))
    if text is not None:
        yield fold(words("record.body_text", size=size), _code(text, words))
    yield fold(words("record.body_hex", size=size), _code(bodies.hex_dump(raw, HEX_SHOWN), words))


def inner(row: Row, words: Words) -> Iterable[Html]:
    """The messages of an inner batch, which a consumer gets one by one."""
    if "inner" not in row:
        return
    if row.get("inner_problem"):
        yield tag("p", words("record.inner_problem", problem=words.said(row["inner_problem"])), class_="mq-warning")
        return
    inside = inner_messages(row, words)
    yield fold(inside.caption, table(inside.columns, inside.rows, words("record.inner_place")))
    if len(row["inner"]) > INNER_SHOWN:
        more, count = "> " if row["inner_cut"] else "", len(row["inner"])
        yield tag("p", words("record.inner_cut", n=f"{INNER_SHOWN:,}", of=f"{more}{count:,}"), class_="mq-faint")


def inner_messages(row: Row, words: Words) -> Table:
    """The first of the messages of an inner batch; the caption has how many there are."""
    columns = [
        Column("place", words("record.inner_place"), right=True),
        Column("id", "msgId", mono=True),
        Column("body", words("record.inner_body"), mono=True, wide=True),
    ]
    rows = []
    for message in row["inner"][:INNER_SHOWN]:
        text = message["body_text"]
        if text is None:
            text = "" if message["body"] is None else base64.b64decode(message["body"])[:INNER_BYTES].hex(" ")
        rows.append([f"{message['queue_offset']:,}", message["msg_id"] or "", short(text, PROPERTY_SHOWN)])
    more = "> " if row["inner_cut"] else ""
    return Table(words("record.inner", messages=more + words.count("message", len(row["inner"]))), columns, rows)


def _code(text: str, words: Words) -> Html:
    shown = tag("pre", text[:TEXT_SHOWN], class_="mq-body")
    if len(text) <= TEXT_SHOWN:
        return shown
    return join([shown, tag("p", words("record.cut", n=f"{TEXT_SHOWN:,}", of=f"{len(text):,}"), class_="mq-faint")])


def copies(rows: Sequence[Row], relations: Sequence[str], reader: Reader) -> Html:
    """All copies on one line of time, the earliest first, with the distance from it, and what each is."""
    words = reader.words
    order = sorted(
        zip(rows, relations, strict=True), key=lambda pair: (pair[0]["store_timestamp"], pair[0]["commit_log_offset"])
    )
    first = int(order[0][0]["store_timestamp"])

    def later(row: Row) -> str:
        distance = int(row["store_timestamp"]) - first
        return span(distance, words) if distance else ""

    columns = [
        Column(
            "at", words("record.stored"), mono=True, cell=lambda row: reader.stamp(int(row["store_timestamp"]), "–")
        ),
        Column("later", words("record.later"), mono=True, right=True, cell=later),
        Column("relation", words("record.relation"), cell=lambda row: wrapped(row["relation"])),
        Column("topic", words("record.topic"), mono=True, cell=lambda row: wrapped(row["topic"])),
        Column("commit_log_offset", words("record.log"), mono=True, right=True, role="offset"),
        Column("store_host", words("record.broker"), mono=True, role="broker"),
    ]
    items = ({**row, "relation": relation} for row, relation in order)
    return listed(columns, items, words("record.copies"))
