"""Findings from ids that were stored more than once, and from names in front of ids. Knows only what the scan kept.

The table `copies` proves that one msgId has several offset ids. What it was (a send repeated, a copy of the broker, two
messages of one id) is told by what stands in the lines of the copies: topic, born time, born host, body. Where the scan
delivers these (lists in the order of offset_msg_ids, null where no line tells it), they decide; where it does
not, only what the offsets alone prove is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from idcore.errors import IdError
from idcore.findings import limits
from idcore.findings.evidence import name_of
from idcore.findings.model import INFO, Finding
from idcore.ids.clock import from_ms
from idcore.ids.identify import identify
from idcore.ids.model import OffsetId, UniqId

# What a line may tell about each copy; a difference in one of these makes two messages of one id.
DETAILS = ("topics", "born_timestamps", "born_hosts", "keys")
# Topics into which a broker or a consumer puts copies of a message.
_COPY_TOPICS = ("%RETRY%", "%DLQ%", "SCHEDULE_TOPIC", "rmq_sys_", "RMQ_SYS_", "TRANS_CHECK")
_NAMES = {"topics": "topic", "born_timestamps": "bornTimestamp", "born_hosts": "bornHost", "keys": "KEYS"}


def _is_copy_topic(topic: str | None) -> bool:
    return topic is None or topic == "" or topic.startswith(_COPY_TOPICS)


def _known(row: Mapping[str, Any], name: str) -> list[Any]:
    return [value for value in row.get(name) or [] if value is not None]


def _differs(row: Mapping[str, Any]) -> list[str]:
    """What makes the copies of one id different messages. A retry keeps born time, born host and keys."""
    own = [k for k, topic in enumerate(row.get("topics") or []) if not _is_copy_topic(topic)]
    differing = []
    if len({(row["topics"])[k] for k in own}) > 1:
        differing.append("topics")
    for name in ("born_timestamps", "born_hosts", "keys"):
        values = row.get(name) or []
        mine = [values[k] for k in own if k < len(values) and values[k] is not None]
        if name == "born_timestamps":
            if mine and max(mine) - min(mine) > limits.BORN_SLACK_MS:
                differing.append(name)
        elif name == "born_hosts":
            if len({str(value).rpartition(":")[0] or value for value in mine}) > 1:
                differing.append(name)
        elif len(set(mine)) > 1:
            differing.append(name)
    return [_NAMES[name] for name in differing]


def _addresses(offsets: Sequence[str]) -> list[str]:
    found = []
    for text in offsets:
        try:
            found.append(OffsetId.from_hex(text).address)
        except IdError:
            continue
    return sorted(set(found))


def _subject(msg_id: str) -> tuple[str, dict[str, Any]]:
    """The process that made an id, by name and key."""
    best = identify(msg_id, "msgId").best
    if best is None or not isinstance(best.id, UniqId):
        return "client", {}
    key = {"layout": best.id.layout.name, "host": best.id.host, "pid": best.id.pid, "loader": best.id.loader_text}
    return name_of(key), key


def judge(copies: pa.Table | None, moved: Sequence[Finding]) -> Iterator[Finding]:
    """collision, duplicate_send and stored_copies. `moved`: brokers that are one under several addresses."""
    if copies is None:
        return
    same = {frozenset((finding.subject, finding.evidence["from_address"])) for finding in moved}
    stored: dict[str, dict[str, Any]] = {}
    for batch in copies.to_batches(max_chunksize=1 << 14):
        for row in batch.to_pylist():
            offsets = row["offset_msg_ids"].split(",")
            evidence: dict[str, Any] = {"ids": [row["msg_id"]], "offset_msg_ids": offsets[: limits.MOST_IDS]}
            told = {name: row[name] for name in DETAILS if row.get(name)}
            differing = _differs(row)
            addresses = _addresses(offsets)
            born = _known(row, "born_timestamps")
            when: dict[str, Any] = {"since": from_ms(min(born)), "until": from_ms(max(born))} if born else {}
            if differing:
                evidence |= {"messages": len(offsets), "differs": ", ".join(differing), **told}
                yield Finding("collision", row["msg_id"], len(offsets), evidence, **when)
                continue
            if len(addresses) > 1 and not (len(addresses) == 2 and frozenset(addresses) in same):
                evidence |= {"addresses": ", ".join(addresses), **told}
                yield Finding("duplicate_send", row["msg_id"], len(offsets), evidence, "likely", **when)
                continue
            own = [topic for topic in row.get("topics") or [] if not _is_copy_topic(topic)]
            if len(own) > 1 and not row.get("batch") and _one_topic_sent_twice(row, own):
                evidence |= {"variant": "same_broker", "topic": own[0], **told}
                yield Finding("duplicate_send", row["msg_id"], len(offsets), evidence, "likely", **when)
                continue
            name, key = _subject(row["msg_id"])
            mine = stored.setdefault(name, {"process": key, "count": 0, "ids": [], "offset_msg_ids": []})
            mine["count"] += 1
            if len(mine["ids"]) < limits.MOST_IDS:
                mine["ids"].append(row["msg_id"])
                mine["offset_msg_ids"].append(offsets[: limits.MOST_IDS])
    for name, mine in stored.items():
        count = mine.pop("count")
        yield Finding("stored_copies", name, count, mine)


def _one_topic_sent_twice(row: Mapping[str, Any], own: Sequence[str]) -> bool:
    """Copies in one normal topic, none of them marked as made again by a broker.

    A delayed, transactional or retried message has one record in its own topic; its other copies lie in system topics.
    """
    marks = row.get("made_again") or []
    return len(set(own)) == 1 and not any(marks)


def confusion(labels: pa.Table | None) -> Iterator[Finding]:
    """id_confusion, from the table `labels`: (label, context, kind, ids, sample, file, byte)."""
    if labels is None:
        return
    for row in labels.to_pylist():
        if row["kind"] != "offset":
            continue
        label, context = row["label"], row["context"]
        place = {"ids": [row["sample"]], "file": row["file"], "byte": row["byte"], "label": label}
        if label.lower() in ("uniq_key", "transactionid", "__transactionid__"):
            yield Finding("id_confusion", label, row["ids"], place, "likely")
        elif label.lower() in ("msgid", "messageid", "msgids"):
            if context == "message_ext":
                yield Finding("id_confusion", label, row["ids"], {"variant": "message_ext", **place}, lighter=INFO)
            else:
                yield Finding("id_confusion", label, row["ids"], place, "likely")
