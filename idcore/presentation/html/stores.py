"""A store folder: what it holds in words, its files, topics and queues as tables, the bytes of a record as a ruler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from idcore.answers.lookup.sentences import reason_of
from idcore.answers.lookup.store_folder import KIND
from idcore.base.catalogue import Words, upper
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, join, link, listed, tag, wrapped
from idcore.rocketmq.message.record import Record, parts, value_of
from idcore.rocketmq.store import Blank, Miss, Skipped, Stored
from idcore.rocketmq.store.pages import Entry

MOST_ROWS = 200
RULER_BYTES = 64  # of a stretch: of a longer one the beginning is shown
Overview = Mapping[str, Any]
To = Callable[..., str]  # the address of a place in this store
_ROLES = {
    "body": "uniq",
    "topic": "client",
    "properties": "time",
    "born_ip": "host",
    "born_port": "host",
    "store_ip": "broker",
    "store_port": "broker",
    "physical_offset": "offset",
    "queue_offset": "counter",
    "born_timestamp": "time",
    "store_timestamp": "time",
    "queue_id": "counter",
}


def sentence(overview: Overview, reader: Reader) -> str:
    """Files, bytes, topics, times."""
    words = reader.words
    first, last = (reader.stamp(overview[f"{end}_store_timestamp"]) for end in ("first", "last"))
    text = words("store.said", files=words.count("file", len(overview["files"])), bytes=words.bytes(overview["bytes"]))
    if overview["topics"]:
        messages = words.count("message", sum(topic["messages"] for topic in overview["topics"]))
        text += words("store.said_topics", topics=words.count("topic", len(overview["topics"])), messages=messages)
    if first and last:
        text += words("store.span", first=first, last=last)
    return text + words("stop")


def notes(overview: Overview, reader: Reader) -> list[str]:
    """What is odd about the folder, and what was cut of its tables."""
    words = reader.words
    lines = [words("store.aborted")] if overview["aborted"] else []
    if overview["checkpoint"]:
        lines.append(words("store.checkpoint", at=reader.stamp(overview["checkpoint"]["physical_timestamp"], "–")))
    lines += [words("store.overlap", file=item["file"]) for item in overview["overlaps"]]
    if overview["index"]:
        entries = sum(file["entries"] for file in overview["index"])
        lines.append(words("store.index", files=words.count("file", len(overview["index"])), entries=f"{entries:,}"))
    else:
        lines.append(words("store.no_index"))
    lines += [words("store.stranger", name=name) for name in overview["strangers"][:10]]
    lines += [words("store.unreadable", name=name, why=why) for name, why in list(overview["unreadable"].items())[:10]]
    long = [key for key in ("files", "topics") if len(overview[key]) > MOST_ROWS]
    return lines + [words("store.cut", n=f"{MOST_ROWS:,}", of=f"{len(overview[key]):,}") for key in long]


def files(overview: Overview, to: To, reader: Reader) -> Html:
    """The commit log files, oldest first."""
    words = reader.words
    columns = [
        Column("file", words("col.segment"), mono=True, cell=lambda file: link(file["file"], to(file=file["file"]))),
        Column("bytes", words("store.bytes_head"), right=True),
        Column("on_disk", words("store.on_disk"), right=True),
        Column("used", words("store.used"), right=True),
    ]
    return listed(columns, overview["files"][:MOST_ROWS], words("store.files"))


def holes(overview: Overview, words: Words) -> list[Html]:
    """Where files are missing between the others."""
    ends = ({end: f"{hole[end]:,}" for end in ("first", "last")} for hole in overview["holes"])
    return [tag("p", words("store.hole", **values), class_="mq-warning mq-note") for values in ends]


def topics(overview: Overview, to: To, words: Words) -> Html:
    """Topics with their queues: those of the system behind the others, and those without a message last."""

    def queue(topic: Overview, one: Overview) -> Html:
        label = f"{one['queue_id']}: {one['first']:,}–{one['end']:,}"
        return link(label, to(topic=topic["topic"], queue=one["queue_id"]))

    def name(topic: Overview) -> Html:
        return link(wrapped(topic["topic"]), to(topic=topic["topic"]))

    def ranges(topic: Overview) -> Html:
        return join([queue(topic, one) for one in topic["queues"]], ", ")

    columns = [
        Column("topic", words("record.topic"), mono=True, wide=True, cell=name),
        Column("queues", words("store.queues"), right=True, cell=lambda topic: f"{len(topic['queues']):,}"),
        Column("messages", words("store.messages"), right=True),
        Column("ranges", words("store.ranges"), mono=True, cell=ranges),
    ]
    return listed(
        columns, sorted(overview["topics"], key=lambda topic: not topic["messages"])[:MOST_ROWS], words("store.topics")
    )


def queues(topic: Overview, to: To, words: Words) -> Html:
    """The queues of a topic; each leads to its records."""

    def name(queue: Overview) -> Html:
        return link(f"{queue['queue_id']}", to(topic=topic["topic"], queue=queue["queue_id"]))

    columns = [
        Column("queue", words("record.queue"), right=True, cell=name),
        Column("first", words("store.first"), right=True),
        Column("end", words("store.end"), right=True),
        Column("messages", words("store.messages"), right=True, cell=lambda one: f"{one['end'] - one['first']:,}"),
    ]
    return listed(columns, topic["queues"], words("store.queues"))


def other_queues(topic: Overview, shown: int | None, to: To, words: Words) -> Html:
    """The same in a line above the records of one of them."""
    names = (
        tag("b", f"{one['queue_id']}")
        if one["queue_id"] == shown
        else link(f"{one['queue_id']}", to(topic=topic["topic"], queue=one["queue_id"]))
        for one in topic["queues"]
    )
    return tag("p", tag("span", words("store.queues")), *names, class_="mq-samples")


def entries(entries: Sequence[Entry], to: To, reader: Reader) -> Html:
    """One row a place: where it is, when it was stored, whose message it is; or why it has no record."""
    words = reader.words
    in_queue = any(entry.queue_offset is not None for entry in entries)

    def of(cell: Callable[[Record], Any]) -> Callable[[Entry], Any]:
        return lambda entry: cell(entry.found.record) if isinstance(entry.found, Stored) else ""

    def offset(entry: Entry) -> Html | str:
        text = "–" if entry.offset is None else f"{entry.offset:,}"
        return link(text, to(id=entry.offset)) if isinstance(entry.found, Stored) else text

    def stored(entry: Entry) -> Html | str:
        if isinstance(entry.found, Stored):
            return reader.stamp(entry.found.record.store_timestamp, "–")
        return tag("span", _why(entry.found, words), class_="mq-faint")

    def message(record: Record) -> Html | str:
        text = record.uniq_id
        return link(text, to(id=text)) if text and "," not in text and " " not in text else text or ""

    def names(record: Record) -> Html:
        return wrapped(" ".join(filter(None, (record.properties.get("TAGS"), record.properties.get("KEYS")))))

    place = Column("queue_offset", words("store.queue_offset"), right=True, mono=True)
    topic = Column("topic", words("record.topic"), mono=True, cell=of(lambda record: wrapped(record.topic)))
    columns = [
        *([place] if in_queue else []),
        Column("offset", words("record.log"), right=True, mono=True, role="offset", cell=offset),
        Column("stored", words("record.stored"), mono=True, cell=stored),
        *([] if in_queue else [topic]),
        Column("id", "msgId", mono=True, cell=of(message)),
        Column("tags", words("store.tag_and_keys"), mono=True, cell=of(names)),
        Column("size", words("store.bytes_head"), right=True, cell=of(lambda record: f"{record.size:,}")),
    ]
    return listed(columns, entries, words("store.records"))


def _why(reason: Miss | Blank | Skipped | Stored | None, words: Words) -> str:
    """Why a place has no record."""
    if isinstance(reason, Blank):
        return words("store.padding", n=f"{reason.size:,}")
    if isinstance(reason, Skipped):
        return words("store.skipped", n=f"{reason.end - reason.offset:,}", why=words.said(reason.problem))
    if isinstance(reason, Miss):
        return upper(reason_of(reason.reason, reason.evidence, KIND, words))
    return words("store.place_empty")


def ruler(stored: Stored) -> Html:
    """Every stretch of the record: its name, where it is, its bytes, what they say."""
    raw, spans = bytes(stored.record), []
    for part in parts(stored.record):
        if part.start == part.stop:
            continue
        piece = raw[part.start : part.stop]
        shown = piece[:RULER_BYTES].hex(" ") + (" …" if len(piece) > RULER_BYTES else "")
        digits = tag("span", shown, class_="mq-hex mq-mono mq-wrap")
        text = f"{part.name.replace('_', ' ')} · {part.start:,}–{part.stop - 1:,}"
        value = value_of(part, stored.record)
        label = tag("span", text if value is None else f"{text} · {value}", class_="mq-label")
        spans.append(
            tag("div", digits, label, class_="mq-span", style=f"--c: var(--role-{_ROLES.get(part.name, 'loader')})")
        )
    return tag("div", *spans, class_="mq-ruler")
