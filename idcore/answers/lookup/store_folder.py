"""The look-up in a store folder: an id or a key in, its records or the reason of a miss out. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from idcore.answers.lookup import store_ends, store_lists, traces
from idcore.answers.lookup.copies import related
from idcore.answers.lookup.index_walk import IndexWalk
from idcore.answers.lookup.listing import never
from idcore.answers.lookup.model import Answer, Copy, Evidence, TraceResult
from idcore.answers.lookup.notes import VerdictRoom
from idcore.answers.lookup.source import Offer, Progress, Terms
from idcore.answers.lookup.store_fates import StoreEvidence, fates, instant
from idcore.answers.lookup.ways import Listing, Stop, Way
from idcore.base.errors import CoreError
from idcore.ids import Clock, OffsetId, UniqId, Verdict, identify
from idcore.ids.clock import is_time
from idcore.ids.describe import describe
from idcore.ids.span import span
from idcore.rocketmq.message import Record, flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.attempts import Written, paired
from idcore.rocketmq.message.row import has_key, inner_messages
from idcore.rocketmq.message.validators import is_trace_topic
from idcore.rocketmq.store.commitlog import Miss, Stored
from idcore.rocketmq.store.consistency import doubts
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.index import Entry, Pointer, is_within, key_of, tag_key_of

KIND = "store"
# An id that no index leads to is searched for in the log itself, up to so many bytes.
SEARCHED_MOST = 8 << 30
# How far a broker's clock can be from that of a producer: more than an hour was seen in logs.
_SLACK_MS = 15 * 3_600_000
_SHOWN = 10


@dataclass(slots=True)
class _Draft:
    """The answer for one text on its way. A record that only a search found has a reason, too."""

    id: str
    topic: str | None = None
    copies: list[Copy] = field(default_factory=list)
    reason: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    facts: list[Evidence] = field(default_factory=list)
    stop: Stop = never
    room: VerdictRoom = field(default_factory=VerdictRoom)

    def note(self, code: str, **values: Any) -> None:
        """One fact with a sentence."""
        self.facts.append(Evidence.of(code, **values))


@dataclass(slots=True)
class _ByKey:
    """What the index files gave for one key."""

    copies: dict[int, Stored] = field(default_factory=dict)
    broken: list[Miss] = field(default_factory=list)
    collisions: int = 0
    outside: list[Entry] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)


def copy_of(stored: Stored, store: StoreFolder) -> Copy:
    """A record with its file, what in the store points at it, and what does not agree with it."""
    more = {"file": stored.file, **_pointers(stored, store)}
    return Copy(stored.record, relation=None, more=more, doubts=tuple(doubts(stored, store)))


def _pointers(stored: Stored, store: StoreFolder) -> dict[str, Any]:
    """The entries of its queue and of the index that point at a record, and why one is missing."""
    record = stored.record
    unit = store.queues.unit(record.topic, record.queue_id, record.queue_offset)
    agrees = unit is not None and (unit.physical_offset, unit.size) == (stored.offset, record.size)
    missing = None
    if not flags.in_queue(record.sys_flag):
        unit, missing = None if not agrees else unit, "transaction"
    elif unit is None:
        missing = "not_written" if store.queues.has(record.topic, record.queue_id) else "no_queue"
    properties = record.properties
    keys = [(key, key_of(record.topic, key)) for key in names.indexed(properties)]
    tags = [(tag, tag_key_of(record.topic, tag)) for tag in [properties.get(names.TAGS)] if tag]
    pointers = store.index.pointing_at(stored.offset, (hashed for _, hashed in keys + tags))
    entries = [_entry(*key, pointer) for key, pointer in zip(keys + tags, pointers, strict=True)]
    entries = [entry for at, entry in enumerate(entries) if at < len(keys) or entry["file"]]  # 5.5 alone indexes tags
    return {
        "queue_unit": None
        if unit is None
        else {
            "physical_offset": unit.physical_offset,
            "size": unit.size,
            "tags_code": unit.tags_code,
            "agrees": agrees,
        },
        "queue_unit_missing": missing,
        "index_entries": entries,
    }


def _entry(key: str, hashed: str, pointer: Pointer | None) -> dict[str, Any]:
    """How the index leads from a key to a record: no file where it does not, no place where that was too far."""
    entry = pointer.entry if pointer else None
    return {
        "key": key,
        "indexed_as": hashed,
        "file": pointer.file if pointer else None,
        "place": entry.place if entry else None,
        "timestamp": entry.timestamp if entry else None,
    }


class StoreLookup:
    """Look-ups in one folder. `begin` and `end` bound the store time, in ms; `clock` reads the ids' own time.

    With `trace_topics`, of which there may be none, each answer has the trace too: from these and the usual topics.
    Without, an answer that is asked for with its trace has it from the usual ones.
    """

    def __init__(
        self,
        store: StoreFolder,
        clock: Clock,
        begin: int | None = None,
        end: int | None = None,
        searched_most: int = SEARCHED_MOST,
        trace_topics: Sequence[str] | None = None,
        subscriptions: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self._store = store
        self._subscriptions = subscriptions
        self._clock = clock
        self._window = (begin, end)
        self._searched_most = searched_most
        self._trace_topics = trace_topics

    def look_up(
        self,
        ids: Iterable[str],
        topic: str | None = None,
        user: str = "",
        progress: Progress | None = None,
        fate: bool = False,
        trace: bool = False,
        stop: Stop = never,
    ) -> Iterator[Answer]:
        """One answer for each id, each looked up when it is asked for. A folder keeps no record of its users."""
        room = VerdictRoom()
        for text in ids:
            if stop():
                return
            yield self.one(text, topic, fate, trace, stop, room)

    def list_messages(self, way: Way, user: str = "", progress: Progress | None = None, stop: Stop = never) -> Listing:
        """The messages of a way, by the queues and the index of the folder."""
        return store_lists.find(way, self._store, progress or (lambda done, total, name: None), stop)

    def close(self) -> None:
        """Closes the files that are open."""
        self._store.close()

    def one(
        self,
        text: str,
        topic: str | None = None,
        fate: bool = False,
        trace: bool = False,
        stop: Stop = never,
        room: VerdictRoom | None = None,
    ) -> Answer:
        """As an offsetMsgId first, then as what it is under every topic that could hold it, then by search."""
        draft = _Draft(text, topic, stop=stop, room=room or VerdictRoom())
        self._view(draft)
        if self._store.unreadable:
            draft.figures["unreadable"] = self._store.unreadable
        return self._answer(draft, fate, trace)

    def at(self, offset: int, fate: bool = False) -> Answer:
        """What begins at an offset of the log."""
        draft = _Draft(str(offset))
        outcome = self._store.log.look(offset)
        if isinstance(outcome, Stored):
            draft.copies = [copy_of(outcome, self._store)]
        else:
            draft.reason, draft.figures = outcome.reason, outcome.evidence
        return self._answer(draft, fate)

    def _answer(self, draft: _Draft, fate: bool, trace: bool = False) -> Answer:
        copies = related(draft.copies) if len(draft.copies) > 1 else tuple(draft.copies)
        copies = tuple(replace(each, relation="trace") if self._is_trace(each.record) else each for each in copies)
        traced = verdicts = None
        if trace or self._trace_topics is not None:
            traced = self._trace(draft, copies)
        ended = store_ends.look(StoreEvidence(self._store, self._subscriptions), copies, draft.note)
        if fate:
            attempts = traced.message_trace.attempts if traced is not None else ()
            evidence_of = StoreEvidence(self._store, self._subscriptions)
            verdicts = fates(evidence_of, copies, draft.note, draft.room, attempts)
        if fate or ended:
            draft.facts += StoreEvidence(self._store).state(self._clock.reference, self._clock.zone)
        evidence = (*(Evidence.figure(name, value) for name, value in draft.figures.items()), *draft.facts)
        asked = (str(self._store.root),)
        return Answer(draft.id, copies, draft.reason, evidence, asked, source=KIND, trace=traced, fate=verdicts)

    def _is_trace(self, record: Record) -> bool:
        return record.topic in (self._trace_topics or ()) or is_trace_topic(record.topic)

    def _trace(self, draft: _Draft, copies: Sequence[Copy]) -> TraceResult:
        """The trace records in the log that name the message."""
        msg_ids, notes = traces.ids_of(draft.id, copies), _Draft(draft.id)
        named = self._trace_topics or ()
        topics = [topic for topic in self._store.topics if topic in named or is_trace_topic(topic)]
        if not topics:
            notes.note("store_no_trace")
        written: list[Written] = []
        wanted = list(dict.fromkeys(each for msg_id in msg_ids for each in (msg_id, msg_id.upper())))
        for key in wanted:
            answer = self._look_up(notes, key, topics, everything=True)
            for stored in answer.copies.values():
                written += traces.contexts(stored.record, notes.note)
        trace = paired(written, set(wanted))
        for code, values in traces.silence(trace, msg_ids, copies):
            notes.note(code, **values)
        return TraceResult(trace, msg_ids, tuple(topics), tuple(notes.facts))

    def _view(self, draft: _Draft) -> None:
        verdict = identify(draft.id, None, "any")
        missed = None
        offset_id = next((reading.id for reading in verdict.readings if isinstance(reading.id, OffsetId)), None)
        if offset_id is not None:
            outcome = self._store.log.look(offset_id.physical_offset)
            if isinstance(outcome, Stored):
                draft.copies = [copy_of(outcome, self._store)]
                self._warn(draft, [outcome])
                host = outcome.record.store_host
                if str(host) != offset_id.address:
                    draft.figures["address"] = {"in_id": offset_id.address, "in_record": str(host)}
                if str(outcome.record.store_host) == offset_id.address or not (
                    verdict.best and isinstance(verdict.best.id, UniqId)
                ):
                    self._also_key(draft)
                    return
                draft.copies = []  # somebody else's record: the id reads as a msgId as well
                draft.figures = {}
            else:
                missed = outcome
        self._by_key(draft)
        if draft.copies:
            return
        if missed is not None and (draft.reason in (None, "unknown", "not_an_id")):
            draft.reason = missed.reason
            draft.figures = {**missed.evidence, **_address(offset_id, self._store)}
        self._explain(draft, verdict)

    def _also_key(self, draft: _Draft) -> None:
        """Records that have an offsetMsgId as their key: a proxy writes it into UNIQ_KEY, and an application may."""
        topics = self._store.topics if draft.topic is None else [draft.topic]
        at = {copy.record.physical_offset for copy in draft.copies}
        keyed = self._look_up(draft, draft.id, topics).copies
        more = [stored for offset, stored in sorted(keyed.items()) if offset not in at]
        if more:
            draft.figures["as_key_of"] = [stored.offset for stored in more]
            copies = [copy_of(stored, self._store) for stored in more]
            # with another broker's address in it, the id more likely is a key than a place in this log
            draft.copies = copies + draft.copies if "address" in draft.figures else draft.copies + copies
            self._warn(draft, more)

    def _warn(self, draft: _Draft, copies: Iterable[Stored]) -> None:
        """What is wrong with records that are there."""
        for name, code, wrong in (
            ("body_crc", "stored_body_crc", lambda record: not record.body_crc_ok),
            ("record_crc", "stored_record_crc", lambda record: record.record_crc_ok is False),
            ("half_written", "half_written", lambda record: record.half_written),
        ):
            places = [str(stored.offset) for stored in copies if wrong(stored.record)]
            if places:
                draft.figures[name] = CoreError(code, {"places": ", ".join(places)}).coded()
        doubted = [
            f"{copy.record.physical_offset} ({', '.join(name for doubt in copy.doubts for name in doubt.fields)})"
            for copy in draft.copies
            if copy.doubts
        ]
        if doubted:
            draft.figures["doubts"] = CoreError("store_contradicts", {"records": ", ".join(doubted)}).coded()

    # by key

    def _by_key(self, draft: _Draft) -> None:
        key, topic = draft.id, draft.topic
        topics = [topic] if topic is not None else self._store.topics
        result = self._look_up(draft, key, topics)
        evidence: dict[str, Any] = {"topics_asked": len(topics), "index_files": len(self._store.index.files)}
        if topic is not None:
            evidence["topic"] = topic
        if result.collisions:
            evidence["hash_collisions"] = result.collisions
        if result.copies:
            draft.copies = [copy_of(stored, self._store) for _, stored in sorted(result.copies.items())]
            if result.broken:
                evidence["copies_gone"] = [{"reason": miss.reason, **miss.evidence} for miss in result.broken]
            if result.outside:
                evidence["outside_window"] = len(result.outside)
            draft.figures = evidence
            self._warn(draft, result.copies.values())
            return
        draft.figures = evidence
        if topic is not None and self._elsewhere(draft):
            return
        if result.broken:
            miss = result.broken[0]
            draft.reason = miss.reason
            evidence.update(miss.evidence)
        elif result.outside:
            draft.reason = "window"
            begin, end = (None if at is None else self._instant(at) for at in self._window)
            stored = [self._instant(at) for at in sorted({entry.timestamp for entry in result.outside})[:_SHOWN]]
            evidence.update(begin=begin or "…", end=end or "…", stored=stored)
        elif not self._search(draft):
            draft.reason = "unknown"

    def _look_up(self, draft: _Draft, key: str, topics: Iterable[str], everything: bool = False) -> _ByKey:
        """What the index leads to; `everything`: whenever it was stored."""
        result, walk = _ByKey(), IndexWalk(self._store, draft.stop)
        for topic in topics:
            hits = 0
            for entry, outcome, is_one in walk.outcomes(topic, key):
                if isinstance(outcome, Miss):
                    result.broken.append(outcome)
                elif not is_one:
                    result.collisions += 1
                elif everything or is_within(entry, *self._window):
                    result.copies[outcome.offset] = outcome
                    hits += 1
                else:
                    result.outside.append(entry)
            if hits:
                result.topics.append(topic)
        if walk.is_cut:
            draft.note("index_cut", key=key)
        return result

    def _elsewhere(self, draft: _Draft) -> bool:
        """Whether the topic that was given is the reason."""
        others = [topic for topic in self._store.topics if topic != draft.topic]
        known = len(others) < len(self._store.topics)
        result = self._look_up(draft, draft.id, others)
        if result.topics:
            draft.figures.update(found_under=result.topics, offsets=sorted(result.copies)[:_SHOWN])
        if not known:
            draft.reason = "topic_unknown"
            draft.figures["topics_known"] = len(others)
        elif result.topics:
            draft.reason = "wrong_topic"
        return draft.reason is not None

    def _search(self, draft: _Draft) -> bool:
        """Whether the log itself holds the key, past the index."""
        log, key, topic = self._store.log, draft.id, draft.topic
        records, searched = (
            log.search(key.encode("utf-8", "replace"), self._searched_most, draft.stop) if key else ([], 0)
        )
        evidence = draft.figures
        evidence.update(searched=searched, log_bytes=sum(file.size for file in log.files))
        keyed = [stored for stored in records if has_key(stored.record, key)]
        overridden = [stored for stored in records if (names.UNIQ_KEY, key) in stored.record.properties_raw]
        around = [stored for stored in records if _holds(stored.record, key)]
        hits = keyed or overridden or around
        if not hits:
            return False
        if topic is not None and not any(stored.record.topic == topic for stored in hits):
            draft.reason = "wrong_topic"
            evidence["found_under"] = sorted({stored.record.topic for stored in hits})
            return True
        hits = [stored for stored in hits if topic in (None, stored.record.topic)]
        draft.reason = "index_lost"
        draft.copies = [copy_of(stored, self._store) for stored in hits]
        evidence["index_entries"] = self._store.index.entries
        self._warn(draft, hits)
        if around and not keyed and not overridden:
            whole = ", ".join(sorted({stored.record.uniq_id or "" for stored in hits}))
            evidence["inner_batch"] = CoreError("in_inner_batch", {"ids": whole}).coded()
        elif not keyed:
            shared = ", ".join(sorted({stored.record.uniq_id or "" for stored in hits}))
            evidence["batch"] = CoreError("in_batch", {"ids": shared}).coded()
        return True

    # the id itself

    def _explain(self, draft: _Draft, verdict: Verdict) -> None:
        """What the id says about its being missed, where nothing in the store does."""
        if draft.reason not in (None, "unknown"):
            return
        if verdict.best is None:
            draft.reason = "not_an_id"
            return
        draft.reason = "unknown"
        anywhere = span(verdict.readings, replace(self._clock, zone_source="assumed"))
        first, last = self._store.first, self._store.last
        if anywhere is None or first is None or last is None:
            return
        row = describe(verdict, None, self._clock)  # the time that `decode` gives: with an assumed zone it has a range
        draft.figures.update(
            {name: row[name] for name in ("sent_at", "sent_at_earliest", "sent_at_latest") if row[name] is not None},
            zone_source=row["zone_source"],
        )
        for name, at in (("first_store_time", first), ("last_store_time", last)):
            if is_time(at.record.store_timestamp):
                draft.figures[name] = self._instant(at.record.store_timestamp)
        if is_time(first.record.store_timestamp) and anywhere.limit + _SLACK_MS < first.record.store_timestamp:
            draft.reason = "expired"
            draft.figures["minimum"] = self._store.log.minimum

    def _instant(self, milliseconds: int) -> str:
        """A store time in the zone of the ids' own times."""
        return instant(milliseconds, self._clock.zone)


def _address(offset_id: OffsetId | None, store: StoreFolder) -> dict[str, Any]:
    """The address of an id next to that of the store, where they differ."""
    if offset_id is None or store.last is None or str(store.last.record.store_host) == offset_id.address:
        return {}
    return {"address": {"in_id": offset_id.address, "in_store": str(store.last.record.store_host)}}


def _holds(record: Record, key: str) -> bool:
    try:
        return any(key in names.indexed(inner.properties) for inner in inner_messages(record))
    except CoreError:  # a body that is not a batch, or cannot be unpacked
        return False


def open_source(option: str, at: Path, terms: Terms) -> StoreLookup:
    """The store in a folder; a CoreError where the folder has no store."""
    named = terms.options.get("trace_topic") or ()
    asked = named if named or terms.options.get("trace") else None
    given = terms.options.get("subscription")
    return StoreLookup(
        StoreFolder(at), terms.moment.clock, terms.begin, terms.end, trace_topics=asked, subscriptions=given
    )


def offered(environment: Mapping[str, str]) -> dict[str, Offer]:
    """None: the reader of a page chooses a folder, or uploads one."""
    return {}
