"""Findings from ids that were stored more than once, and from names in front of ids. Reads no line itself.

The table `copies` proves that one msgId has several offset ids. What it was (a send repeated, a copy of the broker, two
messages of one id) is told by the records that lines print: topic, born time, born host, body, key. Where no line tells
them, only what the offsets alone prove is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from idcore.errors import IdError
from idcore.findings import limits
from idcore.findings.evidence import name_of
from idcore.findings.model import INFO, Finding, unseen
from idcore.ids.clock import from_ms
from idcore.ids.identify import identify
from idcore.ids.model import OffsetId, UniqId
from idcore.scan.lines import Named, Record, Told

# Topics into which a broker or a consumer puts copies of a message.
_RETRY = "%RETRY%"
_COPY_TOPICS = (_RETRY, "%DLQ%", "SCHEDULE_TOPIC", "rmq_sys_", "RMQ_SYS_", "TRANS_CHECK")

# Digits of an offset; of elapsed and counter; of a 5.x client's id.
_OFFSET_DIGITS, _VALUE_DIGITS, _CLIENT_DIGITS = 16, 12, 34

# Why a copy was made, what tells more first; and by the topic into which it went, where the record bears no mark.
_AGAIN_BY = ("transaction", "retry", "delay", "")
_AGAIN_TOPICS = {"RMQ_SYS_TRANS": "transaction", _RETRY: "retry", "%DLQ%": "retry", "SCHEDULE_TOPIC": "delay"}


def _again(record: Record) -> str:
    """Why a broker or a consumer made a record from another one; "" for one that it did not, as far as told."""
    by_topic = (why for start, why in _AGAIN_TOPICS.items() if str(record.topic).startswith(start))
    return record.again or next(by_topic, "")


def _is_original(record: Record) -> bool:
    """Whether a record is what a producer sent: in a normal topic, without the marks of a copy."""
    return bool(record.topic) and not record.again and not str(record.topic).startswith(_COPY_TOPICS)


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


def _why(records: Sequence[Record]) -> dict[str, Any]:
    """What gave one id to these messages, as a variant of the words with its figures; nothing where that is open."""
    born = [record.born for record in records if record.born is not None]
    apart = max(born) - min(born) if born else 0
    hosts = sorted({record.born_host for record in records if record.born_host})
    topics = sorted({record.topic for record in records if record.topic})
    bodies = {(record.crc, record.key) for record in records}
    if apart >= limits.MONTH_APART_MS:
        return {"variant": "another_month", "apart_days": apart / 86_400_000}
    if len(hosts) > 1:
        return {"variant": "hosts", "hosts": ", ".join(hosts)}
    if len(topics) > 1:
        return {"variant": "topics", "topics": ", ".join(topics)}
    if apart > limits.BORN_SLACK_MS and len(bodies) == 1 and None not in next(iter(bodies)):
        return {"variant": "sent_again", "apart_seconds": apart / 1000}
    return {}


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


def _is_of_one_broker(offsets: Sequence[str]) -> bool:
    """Whether all are offset ids of one address."""
    return len({text[:-_OFFSET_DIGITS] for text in offsets}) == 1


class _Subjects:
    """The process that made an id, by name and key. Of ids of one process, one is read."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, dict[str, Any]]] = {}

    def of(self, msg_id: str) -> tuple[str, dict[str, Any]]:
        """Where the pid is 0, an id may also be an offset id or a little-endian one: every byte decides."""
        process = msg_id[:-_VALUE_DIGITS]
        if len(msg_id) == _CLIENT_DIGITS or process[-12:-8] == "0000":
            return _subject(msg_id)
        if process not in self._known:
            self._known[process] = _subject(msg_id)
        return self._known[process]


def _subject(msg_id: str) -> tuple[str, dict[str, Any]]:
    best = identify(msg_id, "msgId").best
    if best is None or not isinstance(best.id, UniqId):
        return "5.x clients", {}
    key = {"layout": best.id.layout.name, "host": best.id.host, "pid": best.id.pid, "loader": best.id.loader_text}
    return name_of(key), key


class _Stored:
    """Messages of one process that brokers or consumers stored again: how many, why, the first of them."""

    def __init__(self, process: dict[str, Any]) -> None:
        self.evidence: dict[str, Any] = {"process": process, "ids": [], "offset_msg_ids": []}
        self.count = 0
        self.why: Counter[str] = Counter()
        self.groups: set[str] = set()
        self.born: list[int] = []

    def add(self, msg_id: str, offsets: list[str], records: Mapping[str, Record]) -> None:
        """One more of them, with what its lines tell."""
        self.count += 1
        if len(self.evidence["ids"]) < limits.MOST_IDS:
            self.evidence["ids"].append(msg_id)
            self.evidence["offset_msg_ids"].append(offsets[: limits.MOST_IDS])
        if not records:
            self.why[""] += 1
            return
        why = {_again(record) for record in records.values()} - {""}
        originals = {text: record for text, record in records.items() if _is_original(record)}
        self.why["batch" if _is_batch(originals) else min(why, default="", key=_AGAIN_BY.index)] += 1
        topics = [record.topic for record in records.values() if record.topic]
        self.groups |= {topic.removeprefix(_RETRY) for topic in topics if topic.startswith(_RETRY)}
        self.born += [record.born for record in records.values() if record.born is not None]

    def finding(self, name: str) -> Finding:
        """The finding about this process."""
        evidence = self.evidence
        if len(self.why) == 1 and (why := next(iter(self.why))):
            evidence["variant"] = why
        elif any(self.why):
            evidence["kinds"] = {kind or "untold": count for kind, count in sorted(self.why.items())}
        if self.groups:
            evidence["group"] = ", ".join(sorted(self.groups)[: limits.MOST_IDS])
        born = [from_ms(at) for at in (min(self.born), max(self.born))] if self.born else [None, None]
        return Finding("stored_copies", name, self.count, evidence, since=born[0], until=born[1])


def judge(
    copies: Iterable[pa.Table], total: int, moved: Sequence[Finding], told: Told | None = None
) -> Iterator[Finding]:
    """collision, duplicate_send and stored_copies. `moved`: brokers that are one under several addresses.

    `copies`: the table in pieces; of its rows, `total`, so many are looked at.
    """
    same = {
        frozenset((finding.subject, finding.evidence["from_address"]))
        for finding in moved
        if not finding.evidence.get("more")
    }
    stored: dict[str, _Stored] = {}
    subjects = _Subjects()
    if total > limits.MOST_COPIES:
        yield unseen("stored_copies", total - limits.MOST_COPIES, total - limits.MOST_COPIES)
    for batch in _first(copies, limits.MOST_COPIES):
        columns = (batch.column(name).to_pylist() for name in ("msg_id", "offset_msg_ids"))
        for msg_id, joined in zip(*columns, strict=True):
            offsets = joined.split(",")
            records = {} if told is None else told.records.get(msg_id, {})
            if records:
                records = {text: records[text] for text in offsets if text in records}
            if records or not _is_of_one_broker(offsets):
                found = _one(msg_id, offsets, records, same)
                if found is not None:
                    yield found
                    continue
            name, key = subjects.of(msg_id)
            if name not in stored:
                stored[name] = _Stored(key)
            stored[name].add(msg_id, offsets, records)
    for name, mine in stored.items():
        yield mine.finding(name)


def _first(copies: Iterable[pa.Table], rows: int) -> Iterator[pa.RecordBatch]:
    """So many rows, few at a time."""
    for table in copies:
        yield from table.slice(0, rows).to_batches(max_chunksize=1 << 14)
        rows -= len(table)
        if rows <= 0:
            return


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
        evidence |= {"messages": len(originals), "differs": ", ".join(differing), **_why(list(originals.values()))}
        return Finding("collision", msg_id, len(offsets), evidence, **when)
    addresses = _addresses(offsets)
    kept = [record.stored for record in originals.values() if record.stored is not None]
    if len(kept) > 1:
        evidence["apart_seconds"] = (max(kept) - min(kept)) / 1000
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
