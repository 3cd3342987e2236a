"""The look-up in a live cluster: every interpretation of an id, all copies, the reason of a miss. Prints nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, timedelta, timezone
from functools import cached_property, partial
from itertools import islice

from idcore.answers.fate import Verdict
from idcore.answers.fate.sentences import utc
from idcore.answers.lookup import batches, by_offset, by_time, cluster_lists, delayed, traces, transactions
from idcore.answers.lookup.answer_cache import AnswerCache
from idcore.answers.lookup.by_key import Found, Search
from idcore.answers.lookup.clients import ProducerMatch
from idcore.answers.lookup.connected_clients import LiveClients
from idcore.answers.lookup.copies import TIMER_TOPIC, explain, home_topic, is_special, related_topics
from idcore.answers.lookup.fates import judge_groups
from idcore.answers.lookup.groups import GroupAnswer
from idcore.answers.lookup.listing import never
from idcore.answers.lookup.model import NO_VERDICT, Answer, Copy
from idcore.answers.lookup.notes import Notes, RecordRoom, VerdictRoom
from idcore.answers.lookup.queue_probe import count_messages, index_knows, probe
from idcore.answers.lookup.source import Moment, Offer, Progress, Terms, WrongTerms
from idcore.answers.lookup.topic_brokers import Pace
from idcore.answers.lookup.ways import MESSAGES_OF_A_LOOKUP, Listing, Stop, Way
from idcore.base.errors import coded
from idcore.ids import ClientId, Clock, OffsetId, UniqId, identify, sent_at
from idcore.ids import Verdict as IdVerdict
from idcore.ids.client_time import client_sent
from idcore.ids.clock import is_time, to_ms
from idcore.ids.span import CLOCK_SLACK_MS, Span, span
from idcore.policy import limits, metrics
from idcore.policy.settings import Settings
from idcore.rocketmq.message import Record
from idcore.rocketmq.message.attempts import Attempt
from idcore.rocketmq.message.model import parent_of
from idcore.rocketmq.message.recall import recall_handle
from idcore.rocketmq.remoting.audit import AuditLog, RateLimit
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.errors import NotPermitted, NotRecorded, ProfileError, RemotingError
from idcore.rocketmq.remoting.profile import (
    Profile,
    TlsSettings,
    configured,
    credentials_of,
    name_servers,
)

# A born time may be of a clock that was set in another zone.
ZONE_SLACK_MS = 15 * 3_600_000
# From the zone furthest west, in which an id is read as the latest, to the one furthest east.
_WIDEST_MS = 26 * 3_600_000
_LONGEST_KEY = 1_000
_AT_ONCE = 8
IDS_AT_ONCE = 64
_NAMED = 5
_LIKELY = 32
_PROBED_TOPICS = 8
# Where most producers are when no zone is given: UTC in containers, China elsewhere.
_USUAL_ZONES = (UTC, timezone(timedelta(hours=8)))


class LookupService:
    """Looks ids up in one cluster. Remembers which topics messages were found in, to ask those first.

    With `trace_topics`, of which there may be none, each answer has the trace too: from these and the usual topics.
    Without, an answer that is asked for with its trace has it from the topics of the profile.
    With `who` each answer has the connected client behind the id.
    """

    def __init__(
        self,
        cluster: Cluster,
        moment: Callable[[], Moment],
        audit: AuditLog | None = None,
        limit: RateLimit | None = None,
        trace_topics: Sequence[str] | None = None,
        pace: Pace | None = None,
        who: bool = False,
    ) -> None:
        self.cluster = cluster
        self._trace_topics = trace_topics
        self._pace = pace or Pace(lambda: time.time_ns() // 1_000_000, time.sleep)
        self._answer_cache = AnswerCache()
        self._live = LiveClients(cluster, self._pace.now_ms) if who else None
        self._moment = moment
        self._audit = audit
        self._limit = limit
        self._likely: dict[str, None] = {}
        self._lock = threading.Lock()

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
        """One answer for each id, in their order, as they come: so many ids are taken at once.

        Nobody is asked again about an id that these repeat, or that the ones just before had; the limit counts it.

        For one id alone clients of its groups are asked too, if the profile permits that.

        TooManyLookups where the user's limit is used up; then nobody was asked for these. NotRecorded where the audit
        log cannot be written: then nothing is shown. CoreError where all have more verdicts than one look-up may have.
        Once `stop` is true no further id is asked about.
        """
        waiting, alone, before, verdicts = iter(ids), True, dict[str, Answer](), VerdictRoom()
        while not stop() and (part := list(islice(waiting, IDS_AT_ONCE))):
            alone = alone and len(part) == 1
            one = partial(self.one, topic=topic, progress=progress, fate=fate, trace=trace, alone=alone)
            answers = dict[str, Answer]()  # of this part, for the next: lines of a log repeat an id soon
            for answer in self._look_up(part, user, one, stop, before, verdicts):
                if answer.id not in before and answer.reason not in NO_VERDICT:
                    answers[answer.id] = answer
                yield answer
            alone, before = False, answers

    def judge(self, part: Sequence[str], topic: str | None, user: str, stop: Stop) -> Iterator[Answer]:
        """One answer with verdicts for each id of a part of a list. It never asks clients."""
        yield from self._look_up(part, user, partial(self.one, topic=topic, fate=True), stop)

    def list_messages(self, way: Way, user: str = "", progress: Progress | None = None, stop: Stop = never) -> Listing:
        """The messages of a way; TooManyLookups and NotRecorded as above."""
        if self._limit is not None:
            self._limit.take(user, -(-way.limit // MESSAGES_OF_A_LOOKUP), self._moment().now.timestamp())
        notes = Notes(self.cluster)
        try:
            listing = cluster_lists.find(way, notes, progress or (lambda done, total, name: None), stop)
        except RemotingError as problem:
            notes.fail(problem)
            listing = Listing(way, (), reason=notes.failure)
        listing = replace(
            listing, copies=self._named(listing.copies), evidence=tuple(notes.evidence), asked=tuple(notes.asked)
        )
        result = f"listed {len(listing.copies)}" if listing.copies else str(listing.reason)
        self._record(str(way), user, result, listing.asked)
        return listing

    def close(self) -> None:
        self.cluster.close()

    def now_ms(self) -> int:
        return self._pace.now_ms()

    def _look_up(
        self,
        ids: Sequence[str],
        user: str,
        one: partial[Answer],
        stop: Stop,
        known: Mapping[str, Answer] | None = None,
        verdicts: VerdictRoom | None = None,
    ) -> Iterator[Answer]:
        if self._limit is not None:
            self._limit.take(user, len(ids), self._moment().now.timestamp())
        known = known or {}
        once = [each for each in dict.fromkeys(ids) if each not in known]
        one = partial(one, room=RecordRoom(verdicts=verdicts))
        with ThreadPoolExecutor(min(_AT_ONCE, len(once)) or 1, "look-up") as pool:
            waiting = {each: pool.submit(self._recorded, each, user, one, stop) for each in once}
            try:
                for each in ids:
                    if (answer := known[each] if each in known else waiting[each].result()) is not None:
                        yield answer
            finally:
                for future in waiting.values():
                    future.cancel()

    def _recorded(self, text: str, user: str, one: Callable[[str], Answer], stop: Stop) -> Answer | None:
        if stop():
            return None
        answer = one(text)
        result = f"found {len(answer.copies)}" if answer.found else str(answer.reason)
        self._record(text, user, result, answer.asked)
        return answer

    def _record(self, subject: str, user: str, result: str, asked: Sequence[str]) -> None:
        metrics.count("lookups", cluster=self.cluster.name, outcome=result.partition(" ")[0])
        if self._audit is None:
            return
        try:
            self._audit.write(self._moment().now, user, self.cluster.name, subject, result, asked)
        except OSError as problem:
            raise NotRecorded("audit", {"why": coded(problem)}) from None

    def one(
        self,
        text: str,
        topic: str | None = None,
        progress: Progress | None = None,
        fate: bool = False,
        trace: bool = False,
        alone: bool = False,
        room: RecordRoom | None = None,
    ) -> Answer:
        """The answer for one id; an error on the way becomes part of it. `room` is that of several ids together."""
        notes = Notes(self.cluster, room)
        look_up = _LookUp(self, text, topic, notes, self._moment(), progress)
        unknown = () if fate else None
        try:
            records, reason = look_up.run()
        except NotPermitted as problem:
            notes.fail(problem)
            return Answer(
                text, (), "not_permitted", tuple(notes.evidence), tuple(notes.asked), not notes.asked, fate=unknown
            )
        except RemotingError as problem:
            notes.fail(problem)
            return Answer(
                text, (), "unreachable", tuple(notes.evidence), tuple(notes.asked), not notes.asked, fate=unknown
            )
        copies = self._named(explain(records, self.cluster.profile.bodies))
        with self._lock:
            for copy in copies:
                if not is_special(copy.record.topic):
                    self._likely.pop(copy.record.topic, None)
                    self._likely[copy.record.topic] = None
            while len(self._likely) > _LIKELY:
                self._likely.pop(next(iter(self._likely)))
        relations = {copy.relation for copy in copies}
        if relations == {"trace"}:
            notes.add("only_trace")
        if {"half"} <= relations - {"trace"} <= {"half", "undecided"}:
            transactions.look(copies, notes, self._pace.pause)
        if relations & {"timer", "delayed"} and relations - {"trace"} <= {"timer", "recall", "delayed"}:
            delayed.look(copies, notes, self._pace.now_ms())
        traced = None
        if trace or self._trace_topics is not None:
            named = self.cluster.profile.trace_topics if self._trace_topics is None else self._trace_topics
            msg_ids = traces.ids_of(text, copies)
            traced = traces.look(self.cluster, msg_ids, named, copies, look_up.trace_begin(copies))
            notes.asked |= dict.fromkeys(traced.asked)
        attempts = traced.message_trace.attempts if traced is not None else ()
        verdicts = self._fate(copies, notes, attempts, alone) if fate else None
        who = self._who(text, copies, notes, verdicts or ())
        seen = tuple(notes.evidence), tuple(notes.asked)
        return Answer(text, copies, reason or None, *seen, trace=traced, fate=verdicts, who=who)

    def _named(self, copies: Sequence[Copy]) -> tuple[Copy, ...]:
        """The copies with what the administrator configured: the topics of traces, and the link to another tracer."""
        profile = self.cluster.profile
        known = {*profile.trace_topics, *(self._trace_topics or ())}
        return tuple(
            replace(
                copy,
                relation="trace" if copy.record.topic in known else copy.relation,
                trace_link=profile.trace_link,
            )
            for copy in copies
        )

    def ask(self, subject: str, user: str, work: Callable[[Notes, Pace], GroupAnswer]) -> GroupAnswer:
        """A question about groups, under the same limit and audit log as a look-up; `subject` is what the log has."""
        if self._limit is not None:
            self._limit.take(user, 1, self._moment().now.timestamp())
        notes = Notes(self.cluster)
        try:
            seen = work(notes, self._pace)
        except RemotingError as problem:
            notes.fail(problem)
            self._record(subject, user, notes.failure, tuple(notes.asked))
            raise
        self._record(subject, user, f"groups {len(seen.rows)}" if seen.progress is None else "progress", seen.asked)
        return seen

    def _fate(
        self, copies: Sequence[Copy], notes: Notes, attempts: Sequence[Attempt], alone: bool
    ) -> tuple[Verdict, ...]:
        try:
            return judge_groups(copies, notes, self._pace, self._answer_cache, attempts, alone)
        except RemotingError as problem:
            notes.fail(problem)  # the message is there, even if nothing is known of its groups
            return ()

    def _who(
        self, text: str, copies: Sequence[Copy], notes: Notes, verdicts: Sequence[Verdict]
    ) -> ProducerMatch | None:
        if self._live is None:
            return None
        try:
            who = self._live.who(text, copies, [verdict.group for verdict in verdicts])
        except RemotingError as problem:
            notes.fail(problem)
            return None
        notes.asked |= dict.fromkeys(who.live.asked if who is not None else ())
        return who

    def likely(self) -> list[str]:
        """Topics in which something was found, the latest first."""
        with self._lock:
            return list(reversed(self._likely))


class _LookUp:
    """The look-up of one id."""

    def __init__(
        self,
        service: LookupService,
        text: str,
        topic: str | None,
        notes: Notes,
        moment: Moment,
        progress: Progress | None,
    ) -> None:
        self.service = service
        if handle := recall_handle(text):
            due = utc(handle.due_ms) if is_time(handle.due_ms) else str(handle.due_ms)
            notes.add("recall_handle", msg_id=handle.msg_id, topic=handle.topic, broker=handle.broker, due=due)
            text, topic = handle.msg_id, handle.topic
        self.text = text
        # no name server has a route of a lite topic
        self.topic = topic and (parent_of(topic) or topic)
        self.notes = notes
        self.cluster = service.cluster
        self.moment = moment
        self.search = Search(text, notes, progress or (lambda done, total, name: None))
        self.clock = moment.clock
        self.verdict: IdVerdict = identify(text, case="any")
        if topic and self.topic != topic:
            notes.add("lite_topic", topic=topic, parent=self.topic)

    def run(self) -> tuple[Found, str]:
        """What was found, or the reason why not."""
        if not self.text:
            self.notes.add("empty")
            return [], "not_an_id"
        if len(self.text) > _LONGEST_KEY:
            self.notes.add("too_long", length=len(self.text))
            return [], "not_an_id"
        if not self.text.isprintable() or " " in self.text:
            # KEYS are cut at spaces, properties at control characters
            self.notes.add("unreadable")
            return [], "not_an_id"
        at_offset = self._by_offset()
        if at_offset.record is not None:
            return self._follow(at_offset.record, at_offset.broker), ""
        self.cluster.need_brokers()
        records = self._by_key()
        if records:
            # Copies in special topics alone do not prove that a named topic was the right one.
            if self.topic and not is_special(self.topic):
                homes = {home_topic(record): record for record, _ in records}
                if self.topic not in homes:
                    return [], self._elsewhere(list(homes.values())[:1])
            return records, ""
        return self._why(at_offset.reason)

    # ---- by offset

    def _by_offset(self) -> by_offset.AtOffset:
        reading = next((each for each in self.verdict.readings if isinstance(each.id, OffsetId)), None)
        if reading is None:
            return by_offset.AtOffset()
        assert isinstance(reading.id, OffsetId)
        if reading is not self.verdict.best:
            self.notes.add("offset_reading", address=reading.id.address, offset=reading.id.physical_offset)
        return by_offset.look(reading.id, self.topic or "", self.notes)

    def _follow(self, record: Record, broker: str) -> Found:
        """The other copies of a message that was found by its offsetMsgId."""
        records: Found = [(record, broker)]
        if self.topic and record.topic != self.topic:
            self.notes.add("topic_differs", topic=record.topic, asked=self.topic)
        try:
            return records + self._others(record)
        except RemotingError as problem:
            self.notes.fail(problem)  # the message is there, even if its copies are not
            return records

    def _others(self, record: Record) -> Found:
        if record.uniq_id is None:
            return []
        home = home_topic(record)
        topics = list(dict.fromkeys([home, record.topic, *related_topics(self.cluster.topics())]))
        search = Search(record.uniq_id, self.notes, self.search.progress)
        begin = max(0, record.born_timestamp - ZONE_SLACK_MS - CLOCK_SLACK_MS)
        others = search.run(self._bounded(topics), begin)
        asked = record.topic in search.topics and record.topic not in search.unrouted
        cut = any(item.code in ("more_copies", "bad_record") for item in self.notes.evidence)
        seen = any(other.physical_offset == record.physical_offset for other, _ in others)
        if asked and not seen and not cut and not self.notes.failed:
            self.notes.add("index_missed")
        return others

    # ---- by key

    @cached_property
    def span(self) -> Span | None:
        """The id's own time: of the months it may be from the newest one, in every zone its producer may be in."""
        if self.verdict.best is not None and isinstance(self.verdict.best.id, OffsetId):
            # read as a msgId it would have some time too, but that is not what it is
            return None
        return span(self.verdict.readings, self.clock)

    def _times(self, *clocks: Clock) -> list[int]:
        """When the id was generated, read with each of these clocks."""
        times: dict[int, None] = {}
        for reading in self.verdict.readings:
            for clock in clocks:
                if isinstance(reading.id, UniqId):
                    at = sent_at(reading.id.elapsed, clock, reading.id.layout)
                elif isinstance(reading.id, ClientId):
                    when, _ = client_sent(reading.id, clock)
                    at = None if when is None else when.at
                else:
                    continue
                if at is not None:
                    times[to_ms(at)] = None
            if times:
                break
        return list(times)

    def _bounded(self, topics: Sequence[str]) -> list[str]:
        limit = self.cluster.profile.most_topics
        if len(topics) > limit:
            self.notes.add("topics_left_out", count=len(topics) - limit, limit=limit)
        return list(topics[:limit])

    def _topics(self) -> tuple[list[str], list[str]]:
        """The topics that may hold the message, likely ones first; and those of the broker's own copies."""
        every = self.cluster.topics()
        related = related_topics(every)
        if self.topic:
            return [self.topic], [topic for topic in related if topic != self.topic]
        likely = [topic for topic in self.service.likely() if topic in every]
        normal = list(dict.fromkeys(likely + [topic for topic in every if not is_special(topic)]))
        system = [topic for topic in every if is_special(topic) and topic not in related]
        return normal, related + system

    def _by_key(self) -> Found:
        first, behind = self._topics()
        topics = self._bounded([*first, *behind])
        first = topics[: len(first)]
        behind = topics[len(first) :]
        windows = self._windows()
        for begin in windows:
            records = self.search.run(first, begin, until_found=True)
            records += self.search.run(behind, begin)
            if records:
                if begin == 0 and self.span is not None:
                    stored = min(record.store_timestamp for record, _ in records)
                    self.notes.add("found_outside_window", stored=utc(stored), sent=utc(self.span.latest))
                break
        else:
            records = self._by_their_clocks(first, behind, windows[-1]) or self._other_ways(first, windows[-1])
            records = records or self._by_days(topics) or self._on_the_wheel(windows[-1])
            if not records and windows[-1]:
                self.notes.add("window", begin=utc(windows[-1]))
        return records

    def _windows(self) -> list[int]:
        """From when on to ask, one after the other: near the id's own time, then in every zone, then the whole log."""
        if self.span is None:
            return [0]
        near = max(0, self.span.latest - _WIDEST_MS - CLOCK_SLACK_MS)
        windows = [near, min(near, max(0, self.span.earliest - CLOCK_SLACK_MS)), 0]
        return list(dict.fromkeys(windows if self.cluster.profile.search_whole_log else windows[:2]))

    def _by_their_clocks(self, first: Sequence[str], behind: Sequence[str], begin: int) -> Found:
        """Once more, from as much earlier as a broker's clock is behind ours: its index has the times of that clock."""
        slow = by_time.slow_clocks(self.clock, self.notes) if begin else {}
        if not slow:
            return []
        records = self.search.run([*first, *behind], max(0, begin - max(slow.values())), until_found=True)
        if records:
            by_time.tell_slow(slow, self.clock, self.notes)
        return records

    def _on_the_wheel(self, begin: int) -> Found:
        """In the timer's topic, which brokers before 5.3 do not register with the name server."""
        if TIMER_TOPIC in self.cluster.topics():
            return []
        return Search(self.text, self.notes).everywhere(TIMER_TOPIC, begin)

    def _by_days(self, topics: Sequence[str]) -> Found:
        """Once more in windows of seven days, as a RocksDB index wants them: at the id's own time, else backwards."""
        oldest, width = by_time.oldest_of_days(self.clock, self.notes), by_time.INDEX_DAYS_MS
        if oldest is None:
            return []
        begins = list(range(to_ms(self.clock.reference) - 2 * width, oldest - width, -width))[: by_time.MOST_WINDOWS]
        if self.span is not None:
            begins = [max(1, self.span.earliest - CLOCK_SLACK_MS)]
        for begin in begins:
            if records := self.search.run(topics, max(1, begin), end_ms=max(1, begin) + width):
                return records
        if self.span is None and begins[-1] > oldest:
            self.notes.add("index_days", begin=utc(begins[-1]), oldest=utc(oldest))
        return []

    def trace_begin(self, copies: Sequence[Copy]) -> int:
        """From when on a trace may have been stored: after the message was born, by a clock of any zone."""
        if not copies:
            return self._windows()[-1]
        return max(0, min(copy.record.born_timestamp for copy in copies) - ZONE_SLACK_MS - CLOCK_SLACK_MS)

    def _other_ways(self, first: Sequence[str], begin: int) -> Found:
        """As one of KEYS; and for a topic that was named, on brokers that have it no longer."""
        records = self.search.run(first, begin, unique=False)
        if records:
            self.notes.add("found_by_keys")
        elif self.topic:
            records = self.search.everywhere(self.topic, begin)
            if records:
                self.notes.add("topic_gone", topic=self.topic, broker=records[0][1])
        return records

    # ---- why not

    def _elsewhere(self, records: Sequence[Record]) -> str:
        for record in records:
            self.notes.add("found_in_topic", topic=home_topic(record), offset_msg_id=str(record.offset_id))
        return "wrong_topic"

    def _why(self, offset_reason: str | None) -> tuple[Found, str]:
        """The reason of a miss; or, where only the index has lost it, the message."""
        notes = self.notes
        self._say_what_was_asked()
        best = self.verdict.best
        if offset_reason is not None and best is not None and isinstance(best.id, OffsetId):
            if not notes.failed:
                notes.add("uniq_reading")
            return [], offset_reason
        if notes.failed or notes.is_garbled:
            return [], notes.failure
        if self.topic:
            elsewhere = self._in_other_topics()
            if self.topic in self.search.unrouted:
                notes.add("topic_route", topic=self.topic)
            if elsewhere:
                return [], self._elsewhere(elsewhere)
            if self.topic in self.search.unrouted:
                return [], "topic_unknown"
        self._in_capitals()
        if best is None:
            notes.add("key_tried")
            noted_codes = {item.code for item in notes.evidence}
            return (
                [],
                "unknown"
                if "topics_left_out" in noted_codes
                else "window"
                if "index_days" in noted_codes
                else "not_an_id",
            )
        if self.topic:
            count_messages(self.topic, notes)
        reason = by_time.why(self.span, self.clock, notes)
        if reason in ("unknown", "window") and isinstance(best.id, UniqId) and self.text == self.text.upper():
            item = self._in_a_batch(best.id)
            if item:
                return item, "index_lost"
            if notes.failed:
                return [], notes.failure
        if reason != "unknown":
            return [], reason
        return self._without_index()

    def _in_a_batch(self, item: UniqId) -> Found:
        """The message as an item of a 5.x batch, of which the index has only the batch's own id."""
        topics = [topic for topic in self.search.topics if not is_special(topic)][:_PROBED_TOPICS]
        in_batch = batches.look(item, topics, self._windows()[-1], self.notes)
        return [] if in_batch is None else self._item(in_batch)

    def _item(self, in_batch: batches.Item) -> Found:
        values: dict[str, str | int] = {"batch_id": in_batch.batch_id, "topic": in_batch.record.topic}
        if in_batch.count < batches.MOST_AFTER:  # a broker shows no more of them
            values |= {"place": in_batch.place, "count": in_batch.count}
        self.notes.add("batch_item" if "place" in values else "batch_item_open", **values)
        return [(in_batch.record, in_batch.broker)]

    def _in_capitals(self) -> None:
        """The index distinguishes upper and lower case; an id whose case was changed on its way is still there."""
        if self.text == self.text.upper() or identify(self.text.upper()).best is None:
            return
        search = Search(self.text.upper(), self.notes)
        records = search.run(list(self.search.topics), 0, until_found=True)
        for record, _ in records[:1]:
            self.notes.add("found_in_capitals", topic=record.topic, msg_id=self.text.upper())

    def _in_other_topics(self) -> list[Record]:
        every = [topic for topic in self.cluster.topics() if not is_special(topic) and topic != self.topic]
        likely = [topic for topic in self.service.likely() if topic in every]
        topics = self._bounded(list(dict.fromkeys(likely + every)))
        records = self.search.run(topics, 0, until_found=True)
        return [record for record, _ in records[:1]]

    def _without_index(self) -> tuple[Found, str]:
        """The message by its topic's queues, or one next to it that the index does not have either."""
        zones = (self.moment.zone,) if self.moment.zone_known else (self.moment.zone, *_USUAL_ZONES)
        times = self._times(*(replace(self.clock, zone=zone) for zone in zones))
        topics = [topic for topic in self.search.topics if not is_special(topic)][:_PROBED_TOPICS]
        witnesses: list[Record] = []
        for topic in topics:
            probed = probe(self.text, topic, times, self.notes)
            if probed.record is not None:
                if batches.is_own_id(probed.record, self.text):
                    return self._item(batches.item_of(probed.record, probed.broker, self.notes)), "index_lost"
                self.notes.add("found_without_index", topic=topic, queue=probed.queue)
                return [(probed.record, probed.broker)], "index_lost"
            witnesses += probed.neighbours
        for witness in witnesses:
            if not index_knows(witness, self.notes):
                self.notes.add("index_silent", neighbour=str(witness.offset_id))
                return [], "index_lost"
        return [], "unknown"

    def _say_what_was_asked(self) -> None:
        asked = list(self.search.topics)
        if asked:
            more = ["…"] if len(asked) > _NAMED else []  # no word: the sentence is in the reader's language
            names = ", ".join([*asked[:_NAMED], *more])
            self.notes.add("topics_asked", count=len(asked), brokers=len(self.search.brokers), names=names)


def open_source(option: str, at: str, terms: Terms) -> LookupService:
    """The cluster of some name servers, or one of the profiles; its name server is asked for its brokers at once."""
    if terms.begin is not None or terms.end is not None:
        raise WrongTerms("terms_store")
    try:
        profile = _profile(at, terms) if option == "cluster" else _named(at, terms)
        cluster = Cluster(profile)
    except ProfileError as problem:
        if option == "cluster":  # the file of the profiles is at fault, not who asks
            raise
        raise WrongTerms(problem.code, problem.values) from None
    limit = _limit(profile) if option == "cluster" else None
    named = terms.options.get("trace_topic") or ()
    asked = (*profile.trace_topics, *named) if named or terms.options.get("trace") else None
    who = bool(terms.options.get("who"))
    if who and option == "cluster" and not profile.show_clients:
        cluster.close()
        raise WrongTerms("terms_clients", {"name": at})
    service = LookupService(cluster, lambda: terms.moment, _audit(terms.environment), limit, asked, who=who)
    try:
        cluster.topology()
    except RemotingError:
        service.close()
        raise
    return service


def offered(environment: Mapping[str, str]) -> dict[str, Offer]:
    """The clusters that the administrator configured."""
    return {
        # the repr of a profile hides its secrets; one that was changed makes another key all the same
        name: Offer(f"{name} {profile!r} {hash(profile.credentials)}", partial(_offered, profile, environment))
        for name, profile in configured(environment).items()
    }


def _offered(profile: Profile, environment: Mapping[str, str], moment: Callable[[], Moment]) -> LookupService:
    limit = _limit(profile)
    return LookupService(Cluster(profile), moment, _audit(environment), limit, who=profile.show_clients)


def _limit(profile: Profile) -> RateLimit:
    """Of one visitor as the profile says, and of all together."""
    of_all = RateLimit(limits.figure("lookups"), code=limits.LIMITS["lookups"].error)
    return RateLimit(profile.lookups_per_minute, of_all)


def _audit(environment: Mapping[str, str]) -> AuditLog | None:
    path = Settings.of(environment).audit_log
    return AuditLog(path) if path else None


def _profile(name: str, terms: Terms) -> Profile:
    if any(terms.options.get(option) for option in ("tls", "tls_ca", "access_key", "secret_key")):
        raise WrongTerms("terms_profile")
    profiles = configured(terms.environment)
    if name not in profiles:
        known = ", ".join(sorted(profiles))
        raise WrongTerms("terms_cluster" if known else "terms_no_cluster", {"name": name, "known": known})
    return profiles[name]


def _named(addresses: str, terms: Terms) -> Profile:
    given = {name: key for name in ("access_key", "secret_key") if (key := terms.options.get(name))}
    named = replace(Settings.of(terms.environment), **given)
    ca_file = terms.options.get("tls_ca")
    tls = TlsSettings(ca_file) if terms.options.get("tls") or ca_file else None
    return Profile(addresses, name_servers(addresses), credentials_of(named), tls)
