"""The look-up by key through the hash index: topic by topic, broker by broker, the records compared with the key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from idcore.answers.lookup.notes import Notes
from idcore.answers.lookup.source import Progress
from idcore.answers.lookup.ways import MOST_BYTES
from idcore.base.errors import CoreError, refuse
from idcore.base.safe_text import size
from idcore.rocketmq.message import Record, decode_records
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.remoting.errors import RemotingError, Unreachable
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import LONG_MAX, Query, Route

Found = list[tuple[Record, str]]

_TOPICS_AT_ONCE = 64
# What a broker gives at most to a question for a unique key, for any wanted number (defaultQueryMaxNum).
MOST_OF_A_UNIQUE_KEY = 32


@dataclass
class Search:
    """One key on its way through the topics; what was asked and how far is kept for the answer."""

    key: str
    notes: Notes
    progress: Progress = lambda done, total, topic: None
    topics: dict[str, None] = field(default_factory=dict)
    brokers: dict[str, None] = field(default_factory=dict)
    unrouted: dict[str, None] = field(default_factory=dict)

    def run(
        self,
        topics: Sequence[str],
        begin_ms: int,
        unique: bool = True,
        until_found: bool = False,
        end_ms: int = LONG_MAX,
    ) -> Found:
        """The records with this key in these topics, stored after an instant and not after another.

        `until_found` stops after the portion of topics in which something was found.
        """
        records: Found = []
        for at in range(0, len(topics), _TOPICS_AT_ONCE):
            part = topics[at : at + _TOPICS_AT_ONCE]
            self.progress(at, len(topics), part[0])
            for members, wanted in self.by_broker(part):
                records += self._ask(members, [Query(topic, self.key, unique, begin_ms, end_ms) for topic in wanted])
            if records and until_found:
                break
        self.progress(len(topics), len(topics), "")
        return records

    def run_keys(self, topics: Sequence[str], keys: Sequence[str], begin_ms: int) -> Found:
        """The records with any of several unique keys in these topics."""
        records: Found = []
        for members, wanted in self.by_broker(topics):
            records += self._ask(members, [Query(topic, key, True, begin_ms) for topic in wanted for key in keys])
        return records

    def everywhere(self, topic: str, begin_ms: int) -> Found:
        """The same on every broker, also outside the routes: an old topic may have been moved away from one."""
        records: Found = []
        for name, members in self.notes.cluster.topology().brokers().items():
            if name not in self.brokers or topic in self.unrouted:
                records += self._ask(members, [Query(topic, self.key, True, begin_ms)])
        return records

    def by_broker(self, topics: Sequence[str]) -> Iterator[tuple[tuple[Member, ...], list[str]]]:
        """Which topics to ask of which broker, as the routes say."""
        cluster = self.notes.cluster
        routes: dict[str, Route | None] = cluster.routes(topics)
        brokers = cluster.topology().brokers()
        wanted: dict[str, list[str]] = {}
        for topic, route in routes.items():
            self.topics[topic] = None
            if route is None:
                self.unrouted[topic] = None
                continue
            for entry in route.brokers:
                wanted.setdefault(entry.name, []).append(topic)
        for name, asked in wanted.items():
            if name in brokers:
                yield brokers[name], asked
            else:
                self.notes.fail(Unreachable.at(name, refuse("not_in_cluster", broker=name)))

    def _ask(self, members: Sequence[Member], questions: Sequence[Query]) -> Found:
        cluster, notes = self.notes.cluster, self.notes
        self.brokers[members[0].broker] = None
        try:
            member, answers = cluster.ask_any(members, questions)
        except RemotingError as problem:
            for each in members:
                notes.ask(each)
            notes.fail(problem)
            return []
        notes.ask(member)
        if member is not members[0]:
            notes.add("replica", broker=str(member), instead=str(members[0]))
        records: Found = []
        for question, answer in zip(questions, answers, strict=True):
            if isinstance(answer, RemotingError):
                notes.fail(answer)
            elif answer:
                records += [(record, member.registered) for record in self._records(answer, question, member)]
        if not records and member is not members[0]:
            why = refuse("slave_only")
            notes.fail(Unreachable.at(members[0].registered, why))
        return records

    def _records(self, raw: bytes, question: Query, member: Member) -> list[Record]:
        records: list[Record] = []
        seen = 0
        try:
            for record in decode_records(raw):
                seen += 1
                if record.topic != question.topic or not has_key(record, question.key):
                    continue
                if not self.notes.room.takes(record.size):
                    large = refuse("answers_large", most=size(MOST_BYTES))
                    self.notes.fail(Unreachable.at(member.registered, large))
                    break
                records.append(record)
        except CoreError as problem:
            self.notes.add("bad_record", broker=str(member), problem=problem.coded())
        if seen >= (MOST_OF_A_UNIQUE_KEY if question.unique else question.most):
            self.notes.add("more_copies", broker=str(member), count=seen)
        return records
