"""One configured cluster: name servers with fail-over, topology, routes, topics, brokers. Reads no record."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeVar

from idcore.base.errors import refuse
from idcore.rocketmq.remoting.address import Address
from idcore.rocketmq.remoting.client import Client
from idcore.rocketmq.remoting.errors import NotPermitted, RemotingError, TopicMismatch, Unreachable
from idcore.rocketmq.remoting.guard import Member, Topology
from idcore.rocketmq.remoting.profile import Profile
from idcore.rocketmq.remoting.requests import ClusterInfo, Request, Route, RouteInfo, TopicList, View

T = TypeVar("T")

# A topology is believed so long; a broker that is missing from an older one is looked for again.
_FRESH_SECONDS = 30.0
_AGAIN_SECONDS = 2.0
# Who did not answer is not asked again so long: a look-up of many ids waits for a dead broker once, not for each id.
_DOWN_SECONDS = 5.0
# To register at a name server needs no log-in. Once so much of the last minutes was waiting in vain, who has not
# answered is not asked: hundreds of brokers that nobody has would hold each look-up for hours.
_MOST_WAITED, _WAITED_WITHIN = 300.0, 600.0
_WAITS = 1_000  # that are remembered


class Cluster:
    """A profile come to life. Nothing is contacted before the first question; close() ends every connection."""

    def __init__(self, profile: Profile, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.profile = profile
        self.name = profile.name
        self._monotonic = monotonic
        self._mapped = profile.mapped()
        self._may: frozenset[Address] = frozenset()
        self._servers: frozenset[Address] = frozenset()
        self._names: dict[Address, str] = {}
        self._lock = threading.RLock()
        self._topology: tuple[float, Topology] | None = None
        self._topics: tuple[float, tuple[str, ...]] | None = None
        self._routes: dict[str, tuple[float, Route | None]] = {}
        self._down: dict[Address, tuple[float, Unreachable]] = {}
        self._waits = deque[tuple[float, float]](maxlen=_WAITS)  # in vain: when each ended, and its seconds
        self._heard: set[Address] = set()  # who answered the last time
        self._lost: tuple[float, Unreachable | None] = (0.0, None)
        self._good = 0
        tls = profile.tls.load() if profile.tls else None
        self._client = Client(self._may_dial, profile.credentials, tls, profile.limits, profile.name, self._names.get)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def _may_dial(self, address: Address) -> bool:
        return address in self._may or address in self._servers

    # ---- name servers

    def name_server(self, requests: Sequence[Request[T]]) -> list[T | RemotingError]:
        """Questions to the first name server that answers, the last one that did being asked first."""
        since, lost = self._lost
        if lost is not None and self._monotonic() - since < _DOWN_SECONDS:
            raise lost.without_stack()
        servers = self.profile.name_servers
        failures = []
        for step in range(len(servers)):
            place = (self._good + step) % len(servers)
            try:
                addresses = servers[place].resolve()
            except Unreachable as problem:
                failures.append(problem.without_stack())
                continue
            self._servers |= frozenset(addresses)
            if servers[place].is_name:
                self._names |= dict.fromkeys(addresses, servers[place].host)
            for address in addresses:
                try:
                    answers = self._client.ask_all(address, requests)
                except Unreachable as problem:
                    failures.append(problem.without_stack())
                    continue
                self._good = place
                return answers
        lost = Unreachable("no_name_server", {"cluster": self.name, "why": failures, "address": ""})
        self._lost = self._monotonic(), lost
        raise lost.without_stack()

    def topology(self, older_than: float = _FRESH_SECONDS) -> Topology:
        """Who belongs to the cluster. An error where that cannot be read: without a topology nobody is dialled."""
        with self._lock:
            now = self._monotonic()
            if self._topology is None or now - self._topology[0] > older_than:
                brokers = _only(self.name_server([ClusterInfo()]))
                topology = Topology.of(self.name, brokers, self._mapped, self.profile.limits.answer_seconds)
                self._may = topology.dialled()
                self._heard &= self._may
                self._names |= topology.names
                self._topology = now, topology
            return self._topology[1]

    def need_brokers(self) -> None:
        """Unreachable where the name server lists no broker at all: then nobody can know of any message."""
        if self.topology().is_empty and self.topology(_AGAIN_SECONDS).is_empty:
            raise Unreachable("no_broker", {"cluster": self.name, "address": ""})

    def topics(self) -> tuple[str, ...]:
        """Every topic of the name server, system topics included, by name."""
        with self._lock:
            now = self._monotonic()
            if self._topics is None or now - self._topics[0] > _FRESH_SECONDS:
                self._topics = now, _only(self.name_server([TopicList()]))
            return self._topics[1]

    def routes(self, topics: Sequence[str]) -> dict[str, Route | None]:
        """The route of each topic, None for one that the name server does not have."""
        with self._lock:
            now = self._monotonic()
            held = self._routes
            asked = [topic for topic in topics if topic not in held or now - held[topic][0] > _FRESH_SECONDS]
            answers = self.name_server([RouteInfo(topic) for topic in asked]) if asked else []
            for topic, answer in zip(asked, answers, strict=True):
                if isinstance(answer, RemotingError):
                    raise answer
                held[topic] = now, answer
            routes = {topic: held[topic][1] for topic in topics}
            if len(held) > 4 * self.profile.most_topics:
                held.clear()
            return routes

    # ---- brokers

    def permit(self, ip: bytes, port: int) -> Member:
        """Which broker has the address of an id; NotInTopology when it is nobody of this cluster."""
        address = Address.of(ip, port)
        try:
            return self.topology().permit(address)
        except RemotingError:
            return self.topology(_AGAIN_SECONDS).permit(address)

    def ask_all(self, member: Member, requests: Sequence[Request[T]]) -> list[T | RemotingError]:
        """Questions to one process of a broker, by the one of its addresses that answers."""
        failed: Unreachable | None = None
        for address in member.dial:
            since, problem = self._down.get(address, (-_DOWN_SECONDS, None))
            if problem is not None and self._monotonic() - since < _DOWN_SECONDS:
                failed = problem.without_stack()
                continue
            begun = self._monotonic()
            if address not in self._heard and self._waited(begun) > _MOST_WAITED:
                failed = Unreachable.at(str(address), refuse("not_waited", limit=f"{_MOST_WAITED:g}"))
                continue
            try:
                answers = self._client.ask_all(address, requests)
            except Unreachable as problem:
                failed, now = problem, self._monotonic()
                self._down[address] = now, problem.without_stack()
                self._waits.append((now, now - begun))
                self._heard.discard(address)
            else:
                self._down.pop(address, None)
                self._heard.add(address)
                return answers
        raise failed or Unreachable.at(member.registered, refuse("no_address"))

    def _waited(self, now: float) -> float:
        """How many of the last seconds were waiting in vain, in all threads together."""
        return sum(seconds for ended, seconds in list(self._waits) if now - ended < _WAITED_WITHIN)

    def ask(self, member: Member, request: Request[T]) -> T:
        """One question to one process of a broker."""
        return _only(self.ask_all(member, [request]))

    def view(self, member: Member, offsets: Sequence[int], topic: str) -> list[bytes | RemotingError | None]:
        """The bytes at some offsets. Those that 5.5.1 shows under another topic only are asked for without a topic.

        Where that is not permitted (ACL 2.0 wants a topic), the answer stays TopicMismatch.
        """
        answers = self.ask_all(member, [View(offset, topic) for offset in offsets])
        again = [place for place, each in enumerate(answers) if isinstance(each, TopicMismatch)]
        if again:
            for place, each in zip(again, self.ask_all(member, [View(offsets[place]) for place in again]), strict=True):
                if not isinstance(each, NotPermitted):
                    answers[place] = each
        return answers

    def ask_client(self, member: Member, request: Request[T]) -> T:
        """A question that a broker passes on. The broker is asked again, even if the client does not answer."""
        failed: Unreachable | None = None
        for address in member.dial:
            try:
                return self._client.ask(address, request)
            except Unreachable as problem:
                failed = problem
        raise failed or Unreachable.at(member.registered, refuse("no_address"))

    def ask_any(
        self, members: Sequence[Member], requests: Sequence[Request[T]]
    ) -> tuple[Member, list[T | RemotingError]]:
        """Questions to the first of some replicas that answers at all: the master, and while it is down a slave."""
        failures = []
        for member in members:
            try:
                return member, self.ask_all(member, requests)
            except Unreachable as problem:
                failures.append(problem.without_stack())
        if len(failures) == 1:
            raise failures[0]
        raise Unreachable.at(members[0].broker, failures)


def _only(answers: Sequence[T | RemotingError]) -> T:
    answer = answers[0]
    if isinstance(answer, RemotingError):
        raise answer
    return answer
