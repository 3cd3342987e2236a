"""Findings from ids that were stored more than once, and from names in front of ids. Reads no line itself.

The table `copies` proves that one msgId has several offset ids. What it was (a send repeated, a copy of the broker, two
messages of one id) is told by the records that lines print: topic, born time, born host, body, key. Where no line tells
them, only what the offsets alone prove is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from idcore.errors import IdError
from idcore.findings import limits
from idcore.findings.evidence import name_of
from idcore.findings.model import INFO, Finding, rest
from idcore.ids.clock import from_ms
from idcore.ids.identify import identify
from idcore.ids.model import OffsetId, UniqId
from idcore.scan.lines import Named, Record, Told

# Topics into which a broker or a consumer puts copies of a message.
_COPY_TOPICS = ("%RETRY%", "%DLQ%", "SCHEDULE_TOPIC", "rmq_sys_", "RMQ_SYS_", "TRANS_CHECK")


def _is_original(record: Record) -> bool:
    """Whether a record is what a producer sent: in a normal topic, without the marks of a copy."""
    return bool(record.topic) and not record.made_again and not str(record.topic).startswith(_COPY_TOPICS)


def _differs(records: Sequence[Record]) -> list[str]:
    """What makes records different messages: a send that is repeated keeps all of these."""
    found = []
    if len({record.topic for record in records}) > 1:
        found.append("topic")
    born = [record.born for record in records if record.born is not None]
    if born and max(born) - min(born) > limits.BORN_SLACK_MS:
        found.append("bornTimestamp")
    for name, word in (("born_host", "bornHost"), ("crc", "bodyCRC"), ("key", "KEYS")):
        if len({getattr(record, name) for record in records} - {None}) > 1:
            found.append(word)
    return found


def _is_batch(records: Mapping[str, Record]) -> bool:
    """Records of one batch, which 5.x stores under one id: one right behind the other, in the same moment."""
    places = sorted((OffsetId.from_hex(text).address, OffsetId.from_hex(text).physical_offset, record)
                    for text, record in records.items() if record.stored is not None)  # fmt: skip
    if len(places) < 2:
        return False
    for (host, offset, record), (next_host, next_offset, following) in pairwise(places):
        assert record.stored is not None and following.stored is not None
        together = abs(record.stored - following.stored) <= limits.BATCH_MS and record.born == following.born
        if host != next_host or offset + (record.size or 0) != next_offset or not together:
            return False
        if (record.topic, record.born_host) != (following.topic, following.born_host):
            return False
    return True


def _addresses(offsets: Sequence[str]) -> list[str]:
    found = set()
    for text in offsets:
        try:
            found.add(OffsetId.from_hex(text).address)
        except IdError:
            continue
    return sorted(found)


def _subject(msg_id: str) -> tuple[str, dict[str, Any]]:
    """The process that made an id, by name and key."""
    best = identify(msg_id, "msgId").best
    if best is None or not isinstance(best.id, UniqId):
        return "5.x clients", {}
    key = {"layout": best.id.layout.name, "host": best.id.host, "pid": best.id.pid, "loader": best.id.loader_text}
    return name_of(key), key


def judge(copies: pa.Table | None, moved: Sequence[Finding], told: Told | None = None) -> Iterator[Finding]:
    """collision, duplicate_send and stored_copies. `moved`: brokers that are one under several addresses."""
    if copies is None:
        return
    same = {frozenset((finding.subject, finding.evidence["from_address"])) for finding in moved}
    stored: dict[str, dict[str, Any]] = {}
    left = copies.num_rows - limits.MOST_COPIES
    if left > 0:
        yield rest("stored_copies", left, left)
    for batch in copies.slice(0, limits.MOST_COPIES).to_batches(max_chunksize=1 << 14):
        for row in batch.to_pylist():
            offsets = row["offset_msg_ids"].split(",")
            records = {} if told is None else told.records.get(row["msg_id"], {})
            found = _one(row["msg_id"], offsets, {text: records[text] for text in offsets if text in records}, same)
            if found is not None:
                yield found
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


def _one(msg_id: str, offsets: list[str], records: dict[str, Record], same: set[frozenset[str]]) -> Finding | None:
    """What one id with several offset ids is, when it is more than a copy that a broker made."""
    originals = {text: record for text, record in records.items() if _is_original(record)}
    born = [record.born for record in records.values() if record.born is not None]
    when: dict[str, Any] = {"since": from_ms(min(born)), "until": from_ms(max(born))} if born else {}
    evidence: dict[str, Any] = {"ids": [msg_id], "offset_msg_ids": offsets[: limits.MOST_IDS]}
    if records:
        evidence["records"] = [
            {"offset_msg_id": text, "topic": record.topic, "born": record.born, "born_host": record.born_host,
             "key": record.key, "body_crc": record.crc}
            for text, record in list(records.items())[: limits.MOST_IDS]
        ]  # fmt: skip
    if _is_batch(originals):
        return None
    differing = _differs(list(originals.values()))
    if differing:
        evidence |= {"messages": len(originals), "differs": ", ".join(differing)}
        return Finding("collision", msg_id, len(offsets), evidence, **when)
    addresses = _addresses(offsets)
    if len(addresses) > 1 and not (len(addresses) == 2 and frozenset(addresses) in same):
        evidence["addresses"] = ", ".join(addresses)
        return Finding("duplicate_send", msg_id, len(offsets), evidence, "likely", **when)
    if len(originals) > 1:
        evidence |= {"variant": "same_broker", "topic": next(iter(originals.values())).topic}
        return Finding("duplicate_send", msg_id, len(originals), evidence, "likely", **when)
    return None


def confusion(names: Sequence[Named]) -> Iterator[Finding]:
    """id_confusion: offset ids behind names of msgIds."""
    for named in names:
        place = {"ids": [named.sample], "file": named.file, "label": named.label}
        if named.context == "message_ext":
            yield Finding("id_confusion", named.label, named.ids, {"variant": "message_ext", **place}, lighter=INFO)
        else:
            yield Finding("id_confusion", named.label, named.ids, place, "likely")
