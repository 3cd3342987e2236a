"""An answer as a plain row, as the contract names its keys: for JSON, tables and pages. Looks nothing up."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from idcore.answers import fate
from idcore.answers.lookup import ways
from idcore.answers.lookup.connected_clients import who_row
from idcore.answers.lookup.model import Answer, Copy, Evidence, TraceResult
from idcore.answers.lookup.sentences import doubt_text, evidence_text, relation_text
from idcore.answers.lookup.ways import Listing
from idcore.base.catalogue import words
from idcore.base.errors import refuse
from idcore.base.safe_text import size
from idcore.rocketmq.message import flags
from idcore.rocketmq.message.bodies import LARGEST_BODY
from idcore.rocketmq.message.record import Record
from idcore.rocketmq.message.row import record_row
from idcore.rocketmq.message.tracers import tracer_ids
from idcore.rocketmq.remoting.bodies import BodyPolicy

MOST_TOGETHER = 64 << 20  # bytes that the packed bodies of one answer may unpack to


@dataclass(slots=True)
class BodyRoom:
    """How much the bodies of one answer may unpack to together: a kilobyte can be 64 MiB, and a list has thousands."""

    left: int = MOST_TOGETHER

    def row(self, record: Record) -> dict[str, Any]:
        """A record with its body, where there is room for it; else with the packed one, and the problem."""
        most = min(self.left, LARGEST_BODY)
        row = record_row(record, most)
        if (row["body_problem"] or {}).get("code") == "body_huge" and most < LARGEST_BODY:
            row["body_problem"] = refuse("bodies_many", most=size(MOST_TOGETHER)).coded()
        elif record.sys_flag & flags.COMPRESSED:
            self.left -= len(row["body"]) * 3 // 4 * (2 if "inner" in row else 1)  # the inner messages have it again
            self.left = max(0, self.left)
        return row


def row_of(answer: Answer, room: BodyRoom | None = None) -> dict[str, Any]:
    """The keys of the contract. A figure has its value; of other evidence each code has its sentences and values.

    Without `room` every body is unpacked.
    """
    row: dict[str, Any] = {
        "id": answer.id,
        "found": answer.found,
        "copies": [_printed(copy_row(copy, room)) for copy in answer.copies],
        "reason": answer.reason,
        "evidence": _evidence(answer.evidence),
        "asked": list(answer.asked),
    }
    if answer.trace is not None:
        row["trace"] = trace_row(answer.trace)
    if answer.who is not None:
        row["who"] = who_row(answer.who)
    if answer.fate is not None:
        row["fate"] = [fate.row_of(verdict) for verdict in answer.fate]
    return row


def listing_row(listing: Listing, room: BodyRoom | None = None) -> dict[str, Any]:
    """A list of messages with everything that is not among them. Its copies are those of a look-up, and say more."""
    way = listing.way
    return {
        "way": {"kind": way.kind} | {name: text for name, text in way.params().items() if name != "limit"},
        "limit": way.limit,
        "found": bool(listing.copies),
        "copies": [_printed(copy_row(copy, room) | ways.extra(copy)) for copy in listing.copies],
        "queues": [
            {
                "broker_name": one.broker or None,
                "queue_id": one.queue_id,
                "min_offset": one.min_offset,
                "max_offset": one.max_offset,
                "first": one.first,
                "end": one.end,
                "count": one.count,
                "listed": one.listed,
                "unreadable": one.unreadable,
                "left": one.left,
            }
            for one in listing.queues
        ],
        "cut": listing.cut,
        "left": listing.left,
        "reason": listing.reason,
        "evidence": _evidence(listing.evidence),
        "asked": list(listing.asked),
    }


def _evidence(items: Iterable[Evidence]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for item in items:
        if item.is_figure:
            row[item.code] = spoken(item.values[item.code])
        else:
            values = {name: spoken(value) for name, value in item.values.items()}
            row.setdefault(item.code, []).append({**values, "text": evidence_text(item)})
    return row


def trace_row(traced: TraceResult) -> dict[str, Any]:
    """The trace of a message, times in milliseconds since 1970."""
    trace = traced.message_trace
    return {
        "topics": list(traced.topics),
        "msg_ids": list(traced.msg_ids),
        "sends": [
            {
                "msg_id": send.msg_id,
                "topic": send.topic,
                "group": send.group,
                "began_ms": send.began_ms,
                "cost_ms": send.cost_ms,
                "success": send.success,
                "broker": send.broker,
                "kind": send.kind,
                "offset_msg_id": send.offset_msg_id,
                "client": send.client,
            }
            for send in trace.sends
        ],
        "attempts": [
            {
                "msg_id": one.msg_id,
                "group": one.group,
                "request_id": one.request_id,
                "began_ms": one.began_ms,
                "ended_ms": one.ended_ms,
                "duration_ms": one.duration_ms,
                "success": one.success,
                "code": one.code,
                "outcome": one.outcome,
                "retry_times": one.retry_times,
                "host": one.host,
                "pid": one.pid,
                "loader": one.loader,
                "counter": one.counter,
                "client": one.client,
            }
            for one in trace.attempts
        ],
        "decisions": [
            {"msg_id": one.msg_id, "at_ms": one.time_ms, "state": one.state, "from_check": one.from_check}
            for one in trace.decisions
        ],
        "recalls": [{"msg_id": one.msg_id, "at_ms": one.time_ms, "success": one.success} for one in trace.recalls],
        "unknown": trace.unknown,
        "evidence": _evidence(traced.evidence),
    }


def spoken(value: Any) -> Any:
    """A value of the evidence as JSON and the command line print it: an error is its English sentence."""
    if isinstance(value, Mapping):
        if value.keys() == {"code", "values"}:
            return words().said(value)
        return {name: spoken(inside) for name, inside in value.items()}
    return [spoken(inside) for inside in value] if isinstance(value, list) else value


def _printed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: spoken(row[name]) for name in ("body_problem", "inner_problem") if row.get(name)}


def copy_row(copy: Copy, room: BodyRoom | None = None) -> dict[str, Any]:
    """A record, the body as the administrator lets it be seen, what its source adds, and what this copy is."""
    row = (record_row(copy.record) if room is None else room.row(copy.record)) | dict(copy.more)
    if copy.doubts is not None:
        row["doubts"] = [
            {"code": doubt.code, "fields": list(doubt.fields), "values": doubt.values, "text": doubt_text(doubt)}
            for doubt in copy.doubts
        ]
    if copy.bodies is not None:
        row |= _seen(row, copy.bodies)
    if tracers := tracer_ids(copy.record.properties):
        link = copy.trace_link
        row["tracers"] = [
            {"name": one.name, "trace_id": one.trace_id, "link": one.link(link) if link else None} for one in tracers
        ]
    if copy.relation is not None:
        row |= {"relation": copy.relation, "relation_text": relation_text(copy)}
    if copy.broker:
        row["broker"] = copy.broker
    return row


def _seen(row: dict[str, Any], bodies: BodyPolicy) -> dict[str, Any]:
    shown = bodies.apply(base64.b64decode(row["body"]), row["body_text"])
    visible: dict[str, Any] = {
        "body": _base64(shown.raw),
        "body_text": shown.text,
        "body_size": shown.size,
        "body_withheld": shown.withheld,
    }
    if "inner" in row:
        visible["inner"] = [_seen_inner(inner, bodies) for inner in row["inner"]]
    return visible


def _seen_inner(inner: dict[str, Any], bodies: BodyPolicy) -> dict[str, Any]:
    shown = bodies.apply(base64.b64decode(inner["body"]), inner["body_text"])
    return inner | {"body": _base64(shown.raw), "body_text": shown.text}


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode("ascii")
