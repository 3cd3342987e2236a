"""What one look-up has learnt so far: evidence, who was asked, what failed, broker states. Draws no conclusion."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from idcore.answers.fate import Observation
from idcore.answers.lookup.model import Evidence
from idcore.answers.lookup.ways import MOST_BYTES
from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, decode_records
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.errors import NotPermitted, RemotingError, Unreachable
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import BrokerState, Request, RuntimeInfo

_OF_RECORD = 1_000  # bytes in memory besides its own: an answer of 16 MiB can have 180,000 records
_MOST_OF_A_KIND = 1_000  # facts: a route has as many brokers that are not there as strangers registered


@dataclass(slots=True)
class RecordRoom:
    """How many bytes records may take in memory together: of one message a stranger's broker has any number."""

    left: int = MOST_BYTES

    def takes(self, size: int) -> bool:
        """Whether a record of so many bytes still has room. Threads share it: each may go over it by one record."""
        self.left -= size + _OF_RECORD
        return self.left >= 0


class Notes:
    """The facts of one look-up, in the order they were learnt, each once."""

    def __init__(self, cluster: Cluster, room: RecordRoom | None = None) -> None:
        self.cluster = cluster
        self.room = room or RecordRoom()
        self.evidence: list[Evidence] = []
        self._noted = Counter[str]()
        self.asked: dict[str, None] = {}
        self.failed: list[RemotingError] = []
        self.states: dict[str, tuple[Member, BrokerState]] = {}

    def add(self, code: str, **values: Any) -> None:
        if self._noted[code] >= _MOST_OF_A_KIND:
            return
        item = Evidence.of(code, **values)
        if item not in self.evidence:
            self.evidence.append(item)
            self._noted[code] += 1

    def ask(self, member: Member) -> None:
        """Notes a broker that was asked."""
        self.asked[member.registered] = None

    def heard(self, address: str, requests: Sequence[Request[Any]]) -> list[Observation[Any]]:
        """Questions to the broker that has an address. What a slave does not have proves nothing, so it is silence."""
        nothing: list[Observation[Any]] = [Observation() for _ in requests]
        try:
            brokers = self.cluster.topology().brokers().values()
            brokers_of = [members for members in brokers if any(member.registered == address for member in members)]
            if not brokers_of or not requests:
                return nothing
            member, answers = self.cluster.ask_any(brokers_of[0], requests)
        except RemotingError as problem:
            self.fail(problem)
            return nothing
        self.ask(member)
        for answer in answers:
            if isinstance(answer, RemotingError):
                self.fail(answer)
        now = time.time_ns() // 1_000_000
        silent = member.number != 0
        return [
            Observation() if silent or isinstance(each, RemotingError) else Observation(each, now) for each in answers
        ]

    def records(self, answer: bytes | RemotingError, member: Member) -> Iterator[Record]:
        """The records of an answer, as far as they can be read."""
        if isinstance(answer, RemotingError):
            self.fail(answer)
            return
        try:
            yield from decode_records(answer)
        except CoreError as problem:
            self.add("bad_record", broker=str(member), problem=problem.coded())

    def fail(self, problem: RemotingError) -> None:
        """A question that got no answer, or an error for one."""
        if isinstance(problem, NotPermitted):
            code = "denied"
        else:
            code = "no_answer" if isinstance(problem, Unreachable) else "error_answer"
        if len(self.failed) < _MOST_OF_A_KIND and problem not in self.failed:
            self.failed.append(problem.without_stack())
            self.add(code, problem=problem.coded())

    @property
    def denied(self) -> bool:
        """Whether a failure was a missing permission."""
        return any(isinstance(problem, NotPermitted) for problem in self.failed)

    @property
    def is_garbled(self) -> bool:
        """Whether an answer had bytes that are not a record, so that a record may be missing."""
        return any(item.code == "bad_record" for item in self.evidence)

    @property
    def failure(self) -> str:
        """The reason of a miss, where somebody who was asked did not answer."""
        return "not_permitted" if self.denied else "unreachable"

    def learn_states(self, members: Iterable[Member]) -> None:
        """The state of each of these brokers, asked once; one that does not answer is noted, not raised."""
        for member in members:
            if member.registered in self.states:
                continue
            try:
                self.states[member.registered] = member, self.cluster.ask(member, RuntimeInfo())
                self.ask(member)
            except RemotingError as problem:
                self.fail(problem)
