"""Where groups of a store are in their queues: who no longer advances, what blocks, what is unread. Reads only tables.

A folder shows one moment, or two where the .bak of the offsets has other ones. The broker keeps no older offsets: a
reset of a group to a place within a queue leaves no mark, and no rule here guesses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import limits
from idcore.answers.findings.evidence import FindingEvidence, always
from idcore.answers.findings.model import Finding
from idcore.answers.findings.registry import WARNING, Rule, Scan, register
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.validators import is_system_topic

# Verdicts of messages that are not behind a group's offset.
_OPEN = frozenset({"behind", "never_read", "disabled", "unreadable_queue", "not_dispatched", "handed_out"})
_STILL = timedelta(milliseconds=limits.STILL_MS)


@dataclass(slots=True)
class Queue:
    """One group in one queue: its offsets, the ends of the queue, and its messages before and behind the offset."""

    topic: str
    number: int
    group: str
    offset: int | None
    earlier: int | None
    begin: int | None
    end: int | None
    messages: int = 0
    open: int = 0
    verdicts: set[str] = field(default_factory=set)  # of those that are open
    first: datetime | None = None
    last: datetime | None = None
    passed_at: datetime | None = None
    open_at: datetime | None = None

    def add(self, verdict: str, messages: int, first: datetime, last: datetime) -> None:
        """Messages with one verdict."""
        self.messages += messages
        self.first, self.last = min(self.first or first, first), max(self.last or last, last)
        if verdict in _OPEN:
            self.open += messages
            self.verdicts.add(verdict)
            self.open_at = min(self.open_at or first, first)
        else:
            self.passed_at = max(self.passed_at or last, last)

    @property
    def moves(self) -> bool:
        """Whether the broker's last two writes of the offset differ."""
        return None not in (self.offset, self.earlier) and self.offset != self.earlier

    @property
    def waits(self) -> bool:
        """Whether many messages have been open for long, while others came."""
        return self.open >= limits.STILL_MESSAGES and _apart(self.open_at, self.last) >= _STILL


def of_system(topic: str) -> bool:
    """Whether no group of an application reads a topic."""
    return is_system_topic(topic) or topic.startswith((RETRY_PREFIX, DLQ_PREFIX))


def groups(scan: Scan) -> dict[tuple[str, str], list[Queue]]:
    """The queues of each topic and group that has an offset in it."""
    queues: dict[tuple[str, str, int], Queue] = {}
    for piece in scan.rows.pieces("progress"):
        for row in piece.to_pylist():
            if not of_system(row["topic"]):
                key = (row["topic"], row["group"], row["queue_id"])
                places = (row[name] for name in ("consumer_offset", "earlier_offset", "queue_begin", "queue_end"))
                queues[key] = Queue(row["topic"], row["queue_id"], row["group"], *places)
    for row in _sums(scan):
        queue = queues.get((row["topic"], row["group"], row["queue_id"]))
        if queue is not None and row["first"] is not None:
            queue.add(row["verdict"], row["messages"], row["first"], row["last"])
    by_group: dict[tuple[str, str], list[Queue]] = {}
    for queue in queues.values():
        by_group.setdefault((queue.topic, queue.group), []).append(queue)
    return by_group


_KEYS = ["topic", "group", "queue_id", "verdict"]
_FOLDS = (
    ("messages", "sum", "messages"),
    ("first_store_timestamp", "min", "first"),
    ("last_store_timestamp", "max", "last"),
)


def _sums(scan: Scan) -> list[dict[str, Any]]:
    """The table `fates` without its minutes."""
    sums: list[pa.Table] = []
    for piece in scan.rows.pieces("fates", [*_KEYS, *(name for name, _, _ in _FOLDS)]):
        sums.append(_fold(piece))
    if not sums:
        return []
    return _fold(pa.concat_tables(sums)).rename_columns([*_KEYS, *(name for _, _, name in _FOLDS)]).to_pylist()


def _fold(table: pa.Table) -> pa.Table:
    folded = table.group_by(_KEYS).aggregate([(name, how) for name, how, _ in _FOLDS])
    return folded.rename_columns([*_KEYS, *(name for name, _, _ in _FOLDS)])


# ---- rules


def stalled(scan: Scan) -> Iterator[Finding]:
    """group_stalled: messages of a topic went on for long behind all that a group has passed."""
    for (topic, group), queues in scan.once(groups).items():
        left = [queue for queue in queues if queue.open and queue.offset is not None]
        count = sum(queue.open for queue in left)
        begin, end = _first(queue.open_at for queue in left), _last(queue.last for queue in left)
        reached = _last(queue.passed_at for queue in queues) or begin
        if count < limits.STILL_MESSAGES or _apart(reached, end) < _STILL or _apart(begin, end) < _STILL:
            continue
        worst = max(left, key=lambda queue: queue.open)
        evidence = {
            **_about(topic, group),
            **_span(begin, end),
            "queues": len(left),
            "consumer_offset": worst.offset,
            "queue": worst.number,
            "queue_end": worst.end,
            "ids": _ids(scan, left),
        }
        sure = "likely"
        if all(queue.verdicts == {"disabled"} for queue in left):
            evidence["variant"], sure = "disabled", "certain"
        elif any(queue.moves for queue in queues):
            evidence["variant"], sure = "moving", "certain"
        yield Finding.of("group_stalled", f"{topic}@{group}", count, evidence, sure, begin, end)


def blocked(scan: Scan) -> Iterator[Finding]:
    """poison_message: one queue of a group stays at a message while its other queues go on."""
    for (topic, group), queues in scan.once(groups).items():
        reached = _last(queue.passed_at for queue in queues)
        for queue in queues:
            if queue.offset is None or not queue.waits or queue.moves or queue.verdicts != {"behind"}:
                continue
            if _apart(queue.open_at, reached) < _STILL:
                continue
            evidence = {
                **_about(topic, group),
                **_span(queue.open_at, queue.last),
                "queue": queue.number,
                "consumer_offset": queue.offset,
                "ids": _ids(scan, [queue]),
            }
            subject = f"{topic}@{group} queue {queue.number}"
            yield Finding.of("poison_message", subject, queue.open, evidence, "likely", queue.open_at, queue.last)


def skipped(scan: Scan) -> Iterator[Finding]:
    """group_skipped: messages that a group cannot have read, or never will as things are."""
    for (topic, group), queues in scan.once(groups).items():
        for variant, skips in (
            ("", _beyond(queues)),
            ("deleted", _deleted(queues)),
            ("never_read", _never_read(queues)),
            ("unreadable", [(queue, queue.open) for queue in queues if queue.verdicts == {"unreadable_queue"}]),
        ):
            if not skips:
                continue
            worst, _ = max(skips, key=lambda pair: pair[1])
            of = [queue for queue, _ in skips]
            since, until = _first(queue.first for queue in of), _last(queue.last for queue in of)
            evidence = {
                **({"variant": variant} if variant else {}),
                **_about(topic, group),
                "queues": len(skips),
                "queue": worst.number,
                "consumer_offset": worst.offset,
                "queue_begin": worst.begin,
                "queue_end": worst.end,
                "ids": _ids(scan, of),
            }
            sure = "likely" if variant == "deleted" else "certain"
            count = sum(number for _, number in skips)
            yield Finding.of("group_skipped", f"{topic}@{group}", count, evidence, sure, since, until)


Found = list[tuple[Queue, int]]


def _beyond(queues: Sequence[Queue]) -> Found:
    """Offsets behind the end of their queue, by more than the time of a copy explains."""
    beyond = []
    for queue in queues:
        if queue.offset is None or queue.end is None:
            continue
        seconds = _apart(queue.first, queue.last).total_seconds()
        rate = queue.messages / seconds if seconds else 0
        if queue.offset - queue.end > max(limits.COPY_SKEW_MESSAGES, rate * limits.COPY_SKEW_MS / 1000):
            beyond.append((queue, queue.offset - queue.end))
    return beyond


def _deleted(queues: Sequence[Queue]) -> Found:
    """Offsets in front of the first message that the log has."""
    return [
        (queue, queue.begin - queue.offset)
        for queue in queues
        if queue.offset is not None and queue.begin is not None and queue.offset < queue.begin
    ]


def _never_read(queues: Sequence[Queue]) -> Found:
    """Queues without an offset, of a group that has one in others."""
    if all(queue.offset is None for queue in queues):
        return []
    return [
        (queue, queue.open)
        for queue in queues
        if queue.offset is None and queue.verdicts == {"never_read"} and queue.waits
    ]


def unread(scan: Scan) -> Iterator[Finding]:
    """topic_unread: a topic without any group, in a store whose other topics have some."""
    read = {topic for topic, _ in scan.once(groups)}
    if not read:  # the offsets may be those of another broker, or in RocksDB
        return
    for piece in scan.rows.pieces("fates", ["topic", "verdict"]):  # a group may have a filter, but no offset
        read |= set(pc.unique(piece.filter(pc.not_equal(piece["verdict"], "never_read"))["topic"]).to_pylist())
    topics: dict[str, list[Any]] = {}
    names = ("topic", "messages", "bytes", "first_store_timestamp", "last_store_timestamp")
    for piece in scan.rows.pieces("topics", names):
        for topic, messages, size, first, last in zip(*(piece[name].to_pylist() for name in names), strict=True):
            if topic not in read and not of_system(topic) and first is not None:
                row = topics.setdefault(topic, [0, 0, 0, first, last])
                row[:3] = row[0] + 1, row[1] + messages, row[2] + size
                row[3:] = min(row[3], first), max(row[4], last)
    end = _last(last for *_, last in topics.values())
    for topic, (queues, messages, size, first, last) in topics.items():
        if messages >= limits.STILL_MESSAGES and _apart(first, end) >= _STILL:
            evidence = {"topic": topic, "queues": queues, "bytes": size, **_span(first, last), "ids": []}
            yield Finding.of("topic_unread", topic, messages, evidence, "likely", first, last)


# ---- evidence


def _about(topic: str, group: str) -> dict[str, Any]:
    return {"topic": topic, "group": group}


def _span(first: datetime | None, last: datetime | None) -> dict[str, Any]:
    if first is None or last is None:
        return {}
    at = {"first_at": first, "last_at": last}
    moments: dict[str, Any] = {name: moment.isoformat(timespec="milliseconds") for name, moment in at.items()}
    return moments | {"minutes": int((last - first).total_seconds() // 60)}


def _ids(scan: Scan, queues: Sequence[Queue]) -> list[str]:
    """The message that is next in each queue, as far as the table `undelivered` lists it."""
    wanted = {(queue.topic, queue.number, queue.offset) for queue in queues[: limits.MOST_IDS]}
    known = scan.once(_listed)
    return [known[place] for place in sorted(wanted & known.keys(), key=str)]


def _listed(scan: Scan) -> dict[tuple[str, int, int | None], str]:
    """The IDs of messages at which a group is, by their place."""
    places = {(queue.topic, queue.number, queue.offset) for every in scan.once(groups).values() for queue in every}
    names, ids = ("topic", "queue_id", "queue_offset", "msg_id"), {}
    for piece in scan.rows.pieces("undelivered", names):
        near = piece.filter(pc.is_in(piece["queue_offset"], pa.array([offset for *_, offset in places], pa.int64())))
        for topic, queue, offset, msg_id in zip(*(near[name].to_pylist() for name in names), strict=True):
            if msg_id is not None and (topic, queue, offset) in places:
                ids[topic, queue, offset] = msg_id
    return ids


def _apart(first: datetime | None, last: datetime | None) -> timedelta:
    return timedelta() if first is None or last is None else last - first


def _first(times: Iterator[datetime | None]) -> datetime | None:
    return min((at for at in times if at is not None), default=None)


def _last(times: Iterator[datetime | None]) -> datetime | None:
    return max((at for at in times if at is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StalledEvidence(FindingEvidence):
    """Of a group that stays behind its topic."""

    topic: str | None = None
    group: str | None = None
    first_at: str | None = None
    last_at: str | None = None
    minutes: int | None = None
    queues: int | None = None
    consumer_offset: int | None = always()
    queue: int | None = always()
    queue_end: int | None = always()
    ids: Sequence[str] = ()
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SkippedEvidence(FindingEvidence):
    """Of messages that a group cannot have read."""

    variant: str | None = None
    topic: str | None = None
    group: str | None = None
    queues: int | None = None
    queue: int | None = always()
    consumer_offset: int | None = always()
    queue_begin: int | None = always()
    queue_end: int | None = always()
    ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnreadEvidence(FindingEvidence):
    """Of a topic without a group."""

    topic: str | None = None
    queues: int | None = None
    bytes: int | None = None
    first_at: str | None = None
    last_at: str | None = None
    minutes: int | None = None
    ids: Sequence[str] = ()


register(
    Rule(
        "group_stalled",
        WARNING,
        12,
        "group_stalled/stopped",
        evidence=StalledEvidence,
        of_scan=stalled,
        variants=("disabled", "moving"),
        info_variants=("moving",),
        subject="group",
        of_store=True,
    ),
    Rule(
        "group_skipped",
        WARNING,
        14,
        "group_skipped/beyond_end",
        evidence=SkippedEvidence,
        of_scan=skipped,
        variants=("deleted", "never_read", "unreadable"),
        subject="group",
        of_store=True,
    ),
    Rule(
        "topic_unread",
        WARNING,
        19,
        "topic_unread/plain",
        evidence=UnreadEvidence,
        of_scan=unread,
        subject="topic",
        of_store=True,
    ),
)
