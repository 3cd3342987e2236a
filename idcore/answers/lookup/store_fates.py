"""What became of a message in each group, out of a copied store folder: its evidence for the rule. Judges nothing.

A folder shows one moment. It has offsets, copies and settings, but not who was connected, nor with which tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cache, cached_property
from pathlib import Path

from idcore.answers.fate import Group, GroupCopy, JudgedRecord, Observation, Verdict, judge
from idcore.answers.fate.delayed import is_off_the_wheel
from idcore.answers.fate.model import Filter
from idcore.answers.lookup.copies import TIMER_TOPIC, group_of, is_special
from idcore.answers.lookup.group_evidence import calls_of, fits_several, group_copy, is_copy_of, records_by_topic
from idcore.answers.lookup.index_walk import IndexWalk
from idcore.answers.lookup.model import Copy, Evidence
from idcore.answers.lookup.notes import VerdictRoom
from idcore.ids.clock import from_ms, is_time, to_ms
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.attempts import Attempt
from idcore.rocketmq.message.model import RETRY_PREFIX
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.store.commitlog import Skipped, Stored
from idcore.rocketmq.store.config import Expression
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.pop_records import PopRecord

# Groups that every broker registers (SubscriptionGroupManager.init) or has for itself (MixAll).
_OF_BROKERS = re.compile(
    "TOOLS_CONSUMER|FILTERSRV_CONSUMER|SELF_TEST_.*|CID_ONS(API_|-HTTP-).*|CID_RMQ_SYS_.*|__MONITOR_.*"
)
_MOST_NAMES = 10
TAG = "TAG"  # the kind of a subscription by tags (ExpressionType)
# The end of a log that no index file has yet is read whole, up to so many bytes.
_TAIL_MOST = 64 << 20
_MOST_USUAL = 64  # records of one msgId that copies are compared with: of more a copy may be of several


class StoreEvidence:
    """One folder as evidence: the record that is judged, and what is known of a group and a record.

    `subscriptions` are the tags of a topic and a group as somebody says them: no file of a broker has them.
    """

    def __init__(self, store: StoreFolder, subscriptions: Mapping[tuple[str, str], str] | None = None) -> None:
        self.store = store
        given = {key: Expression(TAG, text, 0) for key, text in (subscriptions or {}).items()}
        self.config = replace(store.config, expressions={**store.config.expressions, **given})
        self.end_of = cache(self._end_of)
        self.queues_of = cache(store.queues.of)

    @cached_property
    def topics_by_group(self) -> dict[str, list[str]]:
        topics: dict[str, list[str]] = {}
        for topic, groups in self.config.groups_by_topic().items():
            for group in groups:
                topics.setdefault(group, []).append(topic)
        return topics

    @cached_property
    def snapshot_ms(self) -> int:
        """The instant that the folder shows: the latest that anything in it says."""
        checkpoint, last = self.store.checkpoint, self.store.last
        times = [
            self.config.latest_ms or 0,
            checkpoint.physical_timestamp if checkpoint else 0,
            last.record.store_timestamp if last else 0,
        ]
        return max((at for at in times if is_time(at)), default=0)

    def state(self, reference: datetime, zone: tzinfo) -> Iterator[Evidence]:
        """Of which time the folder is, and what of its files could not be read."""
        written, at = self.config.offsets_written_ms, self.snapshot_ms
        if at:
            yield Evidence.of(
                "store_snapshot",
                shown=instant(at, zone),
                age_seconds=max(0, to_ms(reference) // 1_000 - at // 1_000),
                written="–" if written is None else instant(written, zone),
            )
        else:
            yield Evidence.of("store_snapshot_undated")
        yield from (Evidence(each.code, each.values) for each in self.config.notes)

    def files(self) -> Iterator[Evidence]:
        """Which of the broker's own files were read, which are missing, and which the system does not let us read."""
        for code, files in (("config_read", self.config.read), ("config_missing", self.config.missing)):
            if files:
                yield Evidence.of(code, names=", ".join(files))
        for name, problem in self.store.unreadable.items():
            if Path(name).parts[0] == "config":
                yield Evidence.of("config_lost", name=Path(name).name, problem=problem)

    def silent_groups(self) -> Iterator[Evidence]:
        """The groups that are registered, but have an offset in no topic: no file has the topics that they read."""
        topics = self.config.groups_by_topic().items()
        known = {group for topic, groups in topics if not is_special(topic) for group in groups}
        registered = (self.config.groups or {}).keys() - known
        silent = sorted(group for group in registered if not _OF_BROKERS.fullmatch(group))
        if silent and self.config.offsets is not None:
            names = ", ".join(silent[:_MOST_NAMES]) + (", …" if len(silent) > _MOST_NAMES else "")
            yield Evidence.of("groups_without_offset", n=len(silent), names=names)

    def _end_of(self, topic: str, queue: int) -> int | None:
        """The next offset of a queue; None where the folder does not have the whole queue."""
        if not self.store.queues.is_whole:
            return None
        stored_queue = next((each for each in self.queues_of(topic) if each.queue_id == queue), None)
        return stored_queue.span[1] if stored_queue is not None and stored_queue.span is not None else None

    def judged(self, record: Record) -> JudgedRecord:
        """The record that is judged."""
        return replace(
            self.judged_at(record.topic, record.queue_id, record.queue_offset),
            record=str(record.offset_id),
            broker=str(record.store_host),
            stored_ms=record.store_timestamp,
            tag=record.properties.get(names.TAGS),
        )

    def readable(self, topic: str, queue: int) -> bool | None:
        """Whether the queue may be read; None where the folder does not have the topic's settings."""
        settings = (self.config.topics or {}).get(topic)
        return settings.can_be_read(queue) if settings is not None else None

    def judged_at(self, topic: str, queue: int, offset: int) -> JudgedRecord:
        """A place of a queue, whatever record is there."""
        end = self.end_of(topic, queue)
        return JudgedRecord(
            "",
            "",
            topic,
            queue,
            offset,
            self.snapshot_ms,
            readable=self.readable(topic, queue),
            static=topic in self.config.static_topics,
            snapshot_ms=self.snapshot_ms,
            end=Observation() if end is None else Observation(end, self.snapshot_ms),
        )

    def group(
        self,
        name: str,
        judged: JudgedRecord,
        copies: Iterable[Record],
        is_whole: bool,
        attempts: Iterable[Attempt] = (),
    ) -> Group:
        """What is known of a group and a record; `copies` are those of this group and record."""
        config, key, at = self.config, (judged.topic, name), self.snapshot_ms
        settings = (config.groups or {}).get(name)
        kept = config.expressions.get(key)
        handed_out = config.handed_out.get(key, {}).get(judged.queue)
        pushed = bool((config.offsets or {}).get((RETRY_PREFIX + name, name)))
        return Group(
            name,
            Observation() if config.offsets is None else Observation(config.offsets.get(key, {}).get(judged.queue), at),
            pull_offset=Observation() if handed_out is None else Observation(handed_out, at),
            broadcast_offset=Observation(config.broadcast[key].get(judged.queue), at)
            if key in config.broadcast
            else Observation(),
            visible_ms=config.visible_again.get(key, {}).get(judged.queue),
            held=self._held(judged.topic, name, judged.queue, judged.offset),
            kept_filter=_filter(kept) if kept is not None else None,
            can_consume=Observation(settings.can_consume, at) if settings is not None else Observation(),
            can_broadcast=Observation(settings.can_broadcast, at) if settings is not None else Observation(),
            can_retry=Observation(settings.can_retry, at) if settings is not None else Observation(),
            pushed=Observation(pushed, at),
            copies=tuple(self.copy(record, name) for record in copies),
            copies_complete=is_whole,
            attempts=tuple(attempts),
        )

    def _held(self, topic: str, group: str, queue: int, offset: int) -> PopRecord | None:
        """What the broker has of a message that a POP group was handed and did not acknowledge."""
        return self.config.popped.get((topic, group), {}).get(queue, {}).get(offset)

    def is_off_the_wheel(self, record: Record) -> bool | None:
        """Whether a message for later was delivered or recalled; None where nothing says so."""
        due, unique = names.number(record.properties.get(names.TIMER_OUT)), record.uniq_id
        if self.store.kept is not None and due is not None and unique is not None:
            kept = self.store.kept.timer(due, unique, record.queue_offset)
            if kept is not None:
                return not kept.waits
        return is_off_the_wheel(due, self.config.timer_read_ms)

    def tags_of(self, topic: str) -> list[str]:
        """The tags that filters of groups name for a topic."""
        kept = [each for (of_topic, _), each in self.config.expressions.items() if of_topic == topic]
        return sorted({tag for each in kept for tag in _filter(each).tags})

    def copy(self, record: Record, group: str) -> GroupCopy:
        """How far a group's copy of a message is."""
        config, at, due = self.config, self.snapshot_ms, None
        if record.topic.startswith(RETRY_PREFIX):
            reached = (config.offsets or {}).get((record.topic, group), {}).get(record.queue_id)
            copy = group_copy(record, Observation() if config.offsets is None else Observation(reached, at))
            return replace(copy, held=self._held(record.topic, group, record.queue_id, record.queue_offset))
        if record.topic == TIMER_TOPIC:
            return group_copy(record, Observation(config.timer_read_ms, at))
        if record.topic == SCHEDULE_TOPIC:
            unit = self.store.queues.unit(record.topic, record.queue_id, record.queue_offset)
            due = unit.tags_code if unit else None
        # a level that is not listed has delivered nothing yet
        following = None if config.delays is None else config.delays.get(record.queue_id + 1, 0)
        return group_copy(record, Observation(following, at), due)

    # ---- the copies of a message

    def records_of(self, key: str) -> tuple[list[Record], bool]:
        """All records with this UNIQ_KEY, messages and copies, and whether these are all there are."""
        store, whole, walk = self.store, self.store.index.is_whole, IndexWalk(self.store)
        records: dict[int, Record] = {}
        for topic in store.topics:
            for _, outcome, _ in walk.outcomes(topic, key):
                if not isinstance(outcome, Stored):
                    whole = False  # it may have been one of them
                elif outcome.record.topic == topic and outcome.record.uniq_id == key:
                    records[outcome.offset] = outcome.record
        tail, is_whole = self._tail
        records |= {record.physical_offset: record for record in tail if record.uniq_id == key}
        return [records[offset] for offset in sorted(records)], whole and is_whole and not walk.is_cut

    @cached_property
    def _tail(self) -> tuple[list[Record], bool]:
        """The records behind the last one that the index has, and whether everything there could be read."""
        log = self.store.log
        begin = self.store.index.end
        begin = (log.minimum or 0) if begin is None else begin
        if log.file_of(begin) is None or (log.end or 0) - begin > _TAIL_MOST:
            return [], False
        records, whole = [], True
        for step in log.walk(begin):
            if isinstance(step, Stored):
                records.append(step.record)
            whole = whole and not isinstance(step, Skipped)
        return records, whole

    def covers(self, record: Record) -> bool:
        """Whether the index, or what is read behind it, begins before a record."""
        first = self.store.index.begin
        return ((self.store.log.minimum or 0) if first is None else first) <= record.physical_offset


def _filter(kept: Expression) -> Filter:
    """The filter of an expression; the parts of one of tags are as the client cuts it (FilterAPI)."""
    tags = {tag.strip() for tag in kept.text.split("||")} - {""} if kept.kind == TAG else set()
    return Filter(kept.kind, kept.text, frozenset(tags), kept.since_ms)


def instant(milliseconds: int, zone: tzinfo) -> str:
    """A store time in a zone; a value that is not a time stays a number."""
    if not is_time(milliseconds):
        return f"{milliseconds} ms"
    return from_ms(milliseconds, zone).isoformat(timespec="milliseconds")


def fates(
    evidence: StoreEvidence,
    copies: Sequence[Copy],
    note: Callable[..., None],
    room: VerdictRoom,
    attempts: Sequence[Attempt] = (),
) -> tuple[Verdict, ...]:
    """The verdict of every group on every record that consumers could get; `attempts` are those of the trace."""
    verdicts: list[Verdict] = []
    for message in records_by_topic(copies, note):
        of_records = _of_topic(evidence, [copy.record for copy in message.copies], room, attempts)
        if not of_records:
            note("store_no_groups", topic=message.topic)
        for group in sorted(of_records):
            verdicts += message.marked(of_records[group])
    return tuple(verdicts)


def _of_topic(
    evidence: StoreEvidence, records: Sequence[Record], room: VerdictRoom, attempts: Sequence[Attempt]
) -> dict[str, list[Verdict]]:
    """The verdicts of every group on the records of one topic and message."""
    topic, key, verdicts = records[0].topic, records[0].uniq_id, dict[str, list[Verdict]]()
    every, is_whole = evidence.records_of(key) if key is not None else ([], False)
    usual, origins = [each for each in every if not is_special(each.topic)], _origins(every)
    for record in records:
        judged = evidence.judged(record)
        whole = is_whole and evidence.covers(record)
        by_group = copies_by_group(record, every, origins)
        groups = (evidence.config.groups_of(topic) | by_group.keys()) - {""}
        room.take(len(groups))
        # a trace does not say which record of a msgId it is about, nor of which topic
        # Whether there is one record, of all with its msgId, that consumers could get.
        calls = calls_of(attempts if len(usual) == 1 else (), key, groups)
        for group in groups:
            copies = by_group.get(group, [])
            known = evidence.group(group, judged, copies, whole, calls.get(group, ()))
            marked = zip(known.copies, copies, strict=True)
            shared = (
                replace(one, shared=len(usual) > _MOST_USUAL or fits_several(copy, usual, origins))
                for one, copy in marked
            )
            known = replace(known, copies=tuple(shared))
            verdicts.setdefault(group, []).append(judge(judged, known, evidence.snapshot_ms))
    return verdicts


def copies_by_group(record: Record, every: Iterable[Record], origins: Set[str]) -> dict[str, list[Record]]:
    """Of all records with the msgId of a record those that are its copies, by their group: each is looked at once."""
    copies: dict[str, list[Record]] = {}
    for each in every:
        if (group := group_of(each, [record.topic])) and is_copy_of(each, record, origins):
            copies.setdefault(group, []).append(each)
    return copies


def _origins(every: Sequence[Record]) -> set[str]:
    """The names that a copy may have of its message."""
    return {str(each.offset_id) for each in every if not is_special(each.topic)}
