"""Findings from ids that were stored more than once, and from the labels of ids. Reads no line itself.

The table `copies` proves that one msgId has several offsetMsgIds. The records that lines print show what it was: a send
repeated, a copy of the broker, or two messages of one id. Such records contain topic, born time, born host, body and
key. Without them a finding contains only what the offsets prove.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import brokers, limits
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.large import Rows
from idcore.answers.findings.model import Finding, unseen
from idcore.answers.findings.processes import assumed_of, is_loopback
from idcore.answers.findings.registry import ERROR, INFO, WARNING, Rule, Scan, register
from idcore.base.errors import CoreError
from idcore.base.layout import LAYOUTS, OFFSET_DIGITS, UNIQ_V4, VALUE_DIGITS
from idcore.ids.clock import from_ms, to_ms
from idcore.ids.delivery import DEAD_PREFIX, RETRY_PREFIX, SEND_OK
from idcore.ids.identify import identify
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.ids.origins import PROCESS_KEY, Fingerprint
from idcore.scan.lines import LineEvidence, Named, Record
from idcore.scan.message_keys import COPY_TOPICS

_CLIENT_DIGITS = {layout.digits for layout in LAYOUTS.values() if layout.kind == "client"}
_PID = slice(-UNIQ_V4.digits_from("pid"), -UNIQ_V4.digits_from("loader"))

_UNKNOWN: dict[str, Record] = {}  # of an id about which no line shows more

# Why a copy was made, the clearest mark first; where the record has no mark, by the topic into which it went.
_AGAIN_BY = ("transaction", "retry", "delay", "")
_AGAIN_TOPICS = {
    "RMQ_SYS_TRANS": "transaction",
    "RMQ_SYS_ROCKSDB_TRANS": "transaction",
    RETRY_PREFIX: "retry",
    DEAD_PREFIX: "retry",
    "SCHEDULE_TOPIC": "delay",
}


def _again(record: Record) -> str:
    """Why a broker or a consumer made a record from another one; "" where neither marks nor topic show it."""
    by_topic = (why for start, why in _AGAIN_TOPICS.items() if str(record.topic).startswith(start))
    return record.again or next(by_topic, "")


def _is_original(record: Record) -> bool:
    """Whether a record is what a producer sent: in a normal topic, without the marks of a copy."""
    return bool(record.topic) and not record.again and not str(record.topic).startswith(COPY_TOPICS)


def _differs(records: Sequence[Record]) -> list[str]:
    """What makes records different messages: a send that is repeated keeps all of these."""
    differences = []
    if len({record.topic for record in records}) > 1:
        differences.append("topic")
    born = [record.born for record in records if record.born is not None]
    if born and max(born) - min(born) > limits.BORN_SLACK_MS:
        differences.append("bornTimestamp")
    for name, word in (("born_host", "bornHost"), ("crc", "bodyCRC"), ("key", "KEYS")):
        if len({getattr(record, name) for record in records} - {None}) > 1:
            differences.append(word)
    return differences


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
    places = sorted(
        (text[:-OFFSET_DIGITS], int(text[-OFFSET_DIGITS:], 16), record)
        for text, record in records.items()
        if record.stored is not None
    )
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
    addresses = set()
    for text in offsets:
        try:
            addresses.add(OffsetId.from_hex(text).address)
        except CoreError:
            continue
    return sorted(addresses)


def _is_of_one_broker(joined: str) -> bool:
    """Whether all are offsetMsgIds of one address: called for every row, so it does not cut the text."""
    size, more = joined.find(","), joined.count(",")
    if more == 0:
        return True
    of_one_size = len(joined) == (more + 1) * (size + 1) - 1
    return of_one_size and joined.count("," + joined[: size - OFFSET_DIGITS]) == more


class _Subjects:
    """Who generated an id, by name and as evidence: a process, or a 5.x client. Of ids of one process, one is read."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, dict[str, Any]]] = {}

    def of(self, msg_id: str) -> tuple[str, dict[str, Any]]:
        """The process that generated the id."""
        process = _process_of(msg_id)
        if process is None:
            return _subject(msg_id)
        if process not in self._known:
            self._known[process] = _subject(msg_id)
        return self._known[process]


def _process_of(msg_id: str) -> str | None:
    """The digits that ids of one process share; None where every byte decides who generated one.

    So it is with ids of 5.x clients, and where the pid is 0: that may also be an offsetMsgId or a little-endian one.
    """
    return None if len(msg_id) in _CLIENT_DIGITS or msg_id[_PID] == "0000" else msg_id[:-VALUE_DIGITS]


def _subject(msg_id: str) -> tuple[str, dict[str, Any]]:
    best = identify(msg_id, "msgId").best
    message_id = None if best is None else best.id
    if isinstance(message_id, ClientId):
        return str(message_id.process), {"client": {"mac": message_id.mac_text, "pid": message_id.pid}}
    if not isinstance(message_id, UniqId):
        return "ids of no known kind", {"process": {}}
    key = {
        "layout": message_id.layout.name,
        "host": message_id.host,
        "pid": message_id.pid,
        "loader": message_id.loader_text,
    }
    return str(message_id.process), {"process": key}


def _producer(who: Mapping[str, Any], records: Mapping[str, Record]) -> dict[str, Any]:
    """Host and pid of an id, next to it in plain text; and the born hosts of records, where they differ."""
    named = who.get("process") or who.get("client")
    if not named:
        return {}
    process = Fingerprint.of_row(named)
    figures = {**who, "producer": process.brief, "also": ["producer"]}
    born = {record.born_host for record in records.values() if record.born_host}
    others = sorted(other for other in born - {process.host} if not is_loopback(other))
    return figures | {"also": ["producer_born"], "born_hosts": ", ".join(others)} if others else figures


class _Stored:
    """Messages of one process that brokers or consumers stored again: how many, why, the first of them."""

    def __init__(self, who: Mapping[str, Any]) -> None:
        self.evidence: dict[str, Any] = {**who, "ids": [], "offset_msg_ids": []}
        self.count = 0
        self.why: Counter[str] = Counter()
        self.groups: set[str] = set()
        self.hosts: set[str] = set()
        self.born: list[int] = []

    def add(self, msg_id: str, joined: str) -> None:
        self.count += 1
        if self.count <= limits.MOST_IDS:
            self.evidence["ids"].append(msg_id)
            self.evidence["offset_msg_ids"].append(joined.split(",")[: limits.MOST_IDS])

    def tell(self, records: Mapping[str, Record]) -> None:
        """What the lines show of one of them."""
        why = {_again(record) for record in records.values()} - {""}
        originals = {text: record for text, record in records.items() if _is_original(record)}
        self.why["batch" if _is_batch(originals) else min(why, default="", key=_AGAIN_BY.index)] += 1
        topics = [record.topic for record in records.values() if record.topic]
        for start in (RETRY_PREFIX, DEAD_PREFIX):
            self.groups |= {topic.removeprefix(start) for topic in topics if topic.startswith(start)}
        self.groups |= {record.group for record in records.values() if record.group}
        self.hosts |= {record.host for record in records.values() if record.host}
        self.born += [record.born for record in records.values() if record.born is not None]

    def finding(self, name: str) -> Finding:
        """The finding about this process."""
        evidence = self.evidence
        if untold := self.count - self.why.total():
            self.why[""] += untold
        if len(self.why) == 1 and (why := next(iter(self.why))):
            evidence["variant"] = why
        elif any(self.why):
            evidence["kinds"] = {kind or "untold": count for kind, count in sorted(self.why.items())}
        for figure, names in (("group", self.groups), ("consumer_hosts", self.hosts)):
            if names:
                evidence[figure] = ", ".join(sorted(names)[: limits.MOST_IDS])
                evidence["also"] = [*evidence.get("also", ()), figure]
        born = [from_ms(at) for at in (min(self.born), max(self.born))] if self.born else [None, None]
        return Finding.of("stored_copies", name, self.count, evidence, since=born[0], until=born[1])


def explain_copies(
    copies: Iterable[pa.Table], total: int, moved: Sequence[Finding], line_evidence: LineEvidence | None = None
) -> Iterator[Finding]:
    """collision, duplicate_send and stored_copies. `moved`: brokers that are one under several addresses.

    `copies`: the table in pieces; of its rows, `total`, so many are looked at.
    """
    same = {
        frozenset((finding.subject, finding.evidence.from_address)) for finding in moved if not finding.evidence.more
    }
    stored: dict[str, _Stored] = {}
    last: str | None = None
    subjects = _Subjects()
    records_of = {} if line_evidence is None else line_evidence.records
    if total > limits.MOST_COPIES:
        yield unseen("stored_copies", total - limits.MOST_COPIES, total - limits.MOST_COPIES)
    for batch in _first(copies, limits.MOST_COPIES):
        columns = (batch.column(name).to_pylist() for name in ("msg_id", "offset_msg_ids"))
        for msg_id, joined in zip(*columns, strict=True):
            records = records_of.get(msg_id, _UNKNOWN)
            if records or not _is_of_one_broker(joined):
                offsets = joined.split(",")
                records = {text: records[text] for text in offsets if text in records}
                of_message = _one(msg_id, offsets, records, same, subjects)
                if of_message is not None:
                    yield of_message
                    continue
            process = _process_of(msg_id)
            if process is None or process != last:  # rows are in the order of their ids
                name, who = subjects.of(msg_id)
                last, mine = process, stored.setdefault(name, _Stored(who))
            mine.add(msg_id, joined)
            if records:
                mine.tell(records)
    for name, mine in stored.items():
        yield mine.finding(name)


def _first(copies: Iterable[pa.Table], rows: int) -> Iterator[pa.RecordBatch]:
    """So many rows, few at a time."""
    for table in copies:
        yield from table.slice(0, rows).to_batches(max_chunksize=1 << 14)
        rows -= len(table)
        if rows <= 0:
            return


def _one(
    msg_id: str, offsets: list[str], records: dict[str, Record], same: set[frozenset[str]], subjects: _Subjects
) -> Finding | None:
    """What one id with several offsetMsgIds is, when it is more than a copy that a broker made."""
    originals = {text: record for text, record in records.items() if _is_original(record)}
    if _is_batch(originals):
        return None
    differing = _differs(list(originals.values()))
    addresses = [] if differing else _addresses(offsets)
    elsewhere = len(addresses) > 1 and not (len(addresses) == 2 and frozenset(addresses) in same)
    if not differing and not elsewhere and len(originals) < 2:
        return None
    born = [record.born for record in records.values() if record.born is not None]
    when: dict[str, Any] = {"since": from_ms(min(born)), "until": from_ms(max(born))} if born else {}
    evidence: dict[str, Any] = {"ids": [msg_id], "offset_msg_ids": offsets[: limits.MOST_IDS]}
    if records:
        evidence["records"] = [
            {
                "offset_msg_id": text,
                "topic": record.topic,
                "born": record.born,
                "born_host": record.born_host,
                "key": record.key,
                "body_crc": record.crc,
            }
            for text, record in list(records.items())[: limits.MOST_IDS]
        ]
    if differing:
        evidence |= {"messages": len(originals), "differs": ", ".join(differing), **_why(list(originals.values()))}
        evidence |= _producer(subjects.of(msg_id)[1], {} if "hosts" in evidence else originals)
        return Finding.of("collision", msg_id, len(offsets), evidence, **when)
    evidence |= _producer(subjects.of(msg_id)[1], originals)
    if statuses := sorted({record.status for record in originals.values() if record.status} - {SEND_OK}):
        evidence |= {"statuses": ", ".join(statuses), "also": ["statuses", *evidence.get("also", ())]}
    kept = [record.stored for record in originals.values() if record.stored is not None]
    if len(kept) > 1:
        evidence |= {"apart_seconds": (max(kept) - min(kept)) / 1000, "also": ["apart", *evidence.get("also", ())]}
    if elsewhere:
        evidence["addresses"] = ", ".join(addresses)
        return Finding.of("duplicate_send", msg_id, len(offsets), evidence, "likely", **when)
    answered = all(record.status for record in originals.values())
    variant = "send_results" if answered else "same_broker"
    evidence |= {"variant": variant, "topic": next(iter(originals.values())).topic}
    return Finding.of("duplicate_send", msg_id, len(originals), evidence, "likely", **when)


def confusion(names: Sequence[Named]) -> Iterator[Finding]:
    """id_confusion: offsetMsgIds behind labels of msgIds, per application that prints them."""
    for named in names:
        subject = f"{named.label} ({named.application})"
        place = {"ids": [named.sample], "file": named.file, "label": named.label, "application": named.application}
        if named.context in ("message_ext", "only_id"):
            yield Finding.of("id_confusion", subject, named.ids, {"variant": named.context, **place})
        else:
            yield Finding.of("id_confusion", subject, named.ids, place, "likely")


def of_copies(scan: Scan) -> Iterator[Finding]:
    """collision, duplicate_send and stored_copies."""
    rows = scan.rows
    findings = list(
        explain_copies(rows.pieces("copies"), rows.count("copies"), brokers.moved(scan), scan.line_evidence)
    )
    return dated(findings, rows)


def dated(findings: Sequence[Finding], rows: Rows) -> Iterator[Finding]:
    """Findings without a born time: when their IDs were generated, where the scan dated these by one instant."""
    undated = {number: _generated(finding) for number, finding in enumerate(findings) if finding.since is None}
    starts = _starts({key for key, _ in filter(None, undated.values())}, rows)
    for number, finding in enumerate(findings):
        key, spent = undated.get(number) or (None, [])
        if key in starts:
            start, assumed = starts[key]
            first, last = (from_ms(start + elapsed) for elapsed in (min(spent), max(spent)))
            finding = replace(finding, since=first, until=last, assumed=assumed)
        yield finding


def _generated(finding: Finding) -> tuple[tuple[Any, ...], list[int]] | None:
    """The process of a finding and the elapsed of its IDs; of many copies not all IDs are known."""
    process, ids = finding.evidence.process, finding.evidence.ids
    if not process or not ids or (finding.code == "stored_copies" and len(ids) < finding.count):
        return None
    layout = LAYOUTS[process["layout"]]
    return tuple(process.values()), [UniqId.from_bytes(bytes.fromhex(text), layout).elapsed for text in ids]


def _starts(keys: set[tuple[Any, ...]], rows: Rows) -> dict[tuple[Any, ...], tuple[int, tuple[str, ...]]]:
    """The instant from which processes count their elapsed, in milliseconds, and what of it no line shows.

    Without the processes that have several.
    """
    starts, hosts = {}, pa.array({host for _, host, _, _ in keys}, pa.string())
    ends = [f"{end}_{what}" for end in ("first", "last") for what in ("sent_at", "elapsed_ms")]
    for piece in rows.pieces("processes", [*PROCESS_KEY, *ends, "month", "zone_source"]) if keys else ():
        for row in piece.filter(pc.is_in(piece["host"], value_set=hosts)).to_pylist():
            key = tuple(row[name] for name in PROCESS_KEY)
            if key in keys and row["first_sent_at"] is not None:
                first, last = (to_ms(row[f"{end}_sent_at"]) - row[f"{end}_elapsed_ms"] for end in ("first", "last"))
                if first == last:
                    starts[key] = first, assumed_of(row)
    return starts


def of_names(scan: Scan) -> Iterator[Finding]:
    """id_confusion, where lines were looked at."""
    return confusion([] if scan.line_evidence is None else list(scan.line_evidence.names.values()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollisionEvidence(FindingEvidence):
    """Of one id that several messages have."""

    ids: Sequence[str] = ()
    offset_msg_ids: Sequence[Any] = ()
    records: Sequence[Mapping[str, Any]] = ()
    messages: int | None = None
    differs: str | None = None  # fields, with commas between
    variant: str | None = None
    apart_days: float | None = None
    hosts: str | None = None  # with commas between
    topics: str | None = None  # with commas between
    apart_seconds: float | None = None
    process: Mapping[str, Any] | None = None
    client: Mapping[str, Any] | None = None
    producer: str | None = None
    also: Sequence[str] = ()
    born_hosts: str | None = None  # with commas between
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DuplicateEvidence(FindingEvidence):
    """Of one message that was stored several times."""

    ids: Sequence[str] = ()
    offset_msg_ids: Sequence[Any] = ()
    records: Sequence[Mapping[str, Any]] = ()
    process: Mapping[str, Any] | None = None
    client: Mapping[str, Any] | None = None
    producer: str | None = None
    also: Sequence[str] = ()
    born_hosts: str | None = None  # with commas between
    statuses: str | None = None  # of the answers, with commas between
    apart_seconds: float | None = None
    addresses: str | None = None  # of the brokers, with commas between
    variant: str | None = None
    topic: str | None = None
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfusionEvidence(FindingEvidence):
    """Of a label that should have another id."""

    variant: str | None = None
    ids: Sequence[str] = ()
    file: str | None = None
    label: str | None = None
    application: str | None = None
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CopiesEvidence(FindingEvidence):
    """Of messages that brokers and consumers stored again."""

    process: Mapping[str, Any] | None = None
    client: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    offset_msg_ids: Sequence[Any] = ()
    variant: str | None = None
    kinds: Mapping[str, int] | None = None  # messages by what copied them
    group: str | None = None  # several have commas between
    also: Sequence[str] = ()
    consumer_hosts: str | None = None  # with commas between
    places: Sequence[Mapping[str, Any]] = ()


register(
    Rule(
        "collision",
        ERROR,
        10,
        "collision/born_elsewhere",
        evidence=CollisionEvidence,
        of_scan=of_copies,
        variants=("another_month", "hosts", "topics", "sent_again"),
        also=("producer", "producer_born"),
        subject="id",
    ),
    Rule(
        "duplicate_send",
        WARNING,
        10,
        "duplicate_send/another_broker",
        evidence=DuplicateEvidence,
        of_scan=of_copies,
        variants=("send_results", "same_broker"),
        also=("apart", "statuses", "producer", "producer_born"),
        subject="id",
    ),
    Rule(
        "id_confusion",
        WARNING,
        30,
        "id_confusion/application",
        evidence=ConfusionEvidence,
        of_scan=of_names,
        variants=("message_ext", "only_id"),
        info_variants=("message_ext", "only_id"),
        background=("message_ext", "only_id"),
        subject="name",
    ),
    Rule(
        "stored_copies",
        INFO,
        30,
        "stored_copies/consumer_retry",
        evidence=CopiesEvidence,
        of_scan=of_copies,
        variants=("retry", "delay", "transaction", "batch", "unseen"),
        also=("group", "consumer_hosts"),
    ),
)
