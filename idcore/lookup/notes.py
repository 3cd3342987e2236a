"""What one look-up has learnt so far: evidence, who was asked, what failed, broker states. Draws no conclusion."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from typing import Any

from idcore.ids.clock import from_ms
from idcore.lookup.model import Evidence
from idcore.remoting.cluster import Cluster
from idcore.remoting.errors import NotPermitted, RemotingError, Unreachable
from idcore.remoting.guard import Member
from idcore.remoting.requests import BrokerState, RuntimeInfo


def instant(milliseconds: int) -> str:
    """An instant as evidence shows it: UTC, to the millisecond."""
    try:
        return from_ms(milliseconds, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError):
        return f"{milliseconds} ms after 1970"  # what a broker says need not be a time that there is


class Notes:
    """The facts of one look-up, in the order they were learnt, each once."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.evidence: list[Evidence] = []
        self.asked: dict[str, None] = {}
        self.failed: list[RemotingError] = []
        self.states: dict[str, tuple[Member, BrokerState]] = {}

    def add(self, code: str, **values: Any) -> None:
        """One piece of evidence."""
        item = Evidence.of(code, **values)
        if item not in self.evidence:
            self.evidence.append(item)

    def ask(self, member: Member) -> None:
        """Somebody was asked."""
        self.asked[member.registered] = None

    def fail(self, problem: RemotingError) -> None:
        """A question that got no answer, or an error for one."""
        if isinstance(problem, NotPermitted):
            code = "denied"
        else:
            code = "no_answer" if isinstance(problem, Unreachable) else "error_answer"
        if problem not in self.failed:
            self.failed.append(problem)
            self.add(code, problem=problem.coded())

    @property
    def denied(self) -> bool:
        """Whether a failure was a missing permission."""
        return any(isinstance(problem, NotPermitted) for problem in self.failed)

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
