"""The guard: which addresses may be contacted at all. Built from the administrator's topology, never from an id."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from idcore.base.errors import CoreError, refuse
from idcore.rocketmq.remoting.address import Address, Endpoint
from idcore.rocketmq.remoting.errors import NotInTopology, ProfileError, Unreachable
from idcore.rocketmq.remoting.requests import BrokerEntry

_MOST_REPLICAS = 32  # of one broker: anybody may register more, and a question goes from one to the next


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a broker: its place in the topology, the addresses that ids may carry, those to dial."""

    broker: str
    number: int
    cluster: str
    registered: str
    known_as: tuple[Address, ...]
    dial: tuple[Address, ...]

    @property
    def role(self) -> str:
        """`master` or `slave`, as far as the name server reports it."""
        return "master" if self.number == 0 else "slave"

    def __str__(self) -> str:
        return f"{self.broker} ({self.registered}, {self.role})"


class _Resolving:
    """Asks for the addresses of names until its time is over; an address needs none."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._until = seconds, time.monotonic() + seconds

    def addresses(self, endpoint: Endpoint) -> tuple[Address, ...]:
        """Those of one endpoint; Unreachable of a name that leads nowhere, or whose turn came too late."""
        if endpoint.is_name and time.monotonic() > self._until:
            late = refuse("no_answer", limit=f"{self._seconds:g}")
            raise Unreachable.at(str(endpoint), refuse("name_unresolved", why=late))
        return endpoint.resolve()


@dataclass(frozen=True, slots=True)
class Topology:
    """Every process that may be asked, and the names some are registered under; `unresolved` says which led nowhere."""

    name: str
    members: tuple[Member, ...]
    mapped: Mapping[Address, tuple[Address, ...]]
    names: Mapping[Address, str]
    unresolved: tuple[CoreError, ...] = ()

    @classmethod
    def of(
        cls, name: str, brokers: Iterable[BrokerEntry], address_map: Mapping[Address, Endpoint], seconds: float
    ) -> Topology:
        """From the name server's list and the profile's map; registered host names are resolved here, and only here.

        All names together get so many seconds: whoever reaches a name server may register thousands that lead nowhere.
        """
        resolving = _Resolving(seconds)
        mapped: dict[Address, tuple[Address, ...]] = {}
        names: dict[Address, str] = {}
        unresolved: list[CoreError] = []
        for source, target in address_map.items():
            try:
                mapped[source] = resolving.addresses(target)
                names |= dict.fromkeys(mapped[source], target.host) if target.is_name else {}
            except Unreachable as problem:
                unresolved.append(problem.without_stack())
        members = []
        for broker in brokers:
            for number, registered in sorted(broker.addresses.items())[:_MOST_REPLICAS]:
                try:
                    endpoint = Endpoint.parse(registered)
                    known_as = resolving.addresses(endpoint)
                    names |= dict.fromkeys(known_as, endpoint.host) if endpoint.is_name else {}
                except (ProfileError, Unreachable) as problem:
                    unresolved.append(refuse("broker_address", broker=broker.name, problem=problem.without_stack()))
                    continue
                dial = tuple(dict.fromkeys(way for each in known_as for way in mapped.get(each, (each,))))
                members.append(Member(broker.name, number, broker.cluster, registered, known_as, dial))
        return cls(name, tuple(members), mapped, names, tuple(unresolved))

    @property
    def is_empty(self) -> bool:
        """Whether the name server lists no broker, not even one whose address cannot be used."""
        return not self.members and not any(problem.code == "broker_address" for problem in self.unresolved)

    def permit(self, address: Address) -> Member:
        """Which broker has an address that came in an id; NotInTopology when nobody of this cluster has it.

        The port has to be the registered one: another port of a known host is another service.
        """
        for member in self.members:
            if address in member.known_as:
                return member
        ways = self.mapped.get(address)
        if ways is not None:
            return Member("", 0, "", str(address), (address,), ways)
        raise NotInTopology.refuse(str(address), self.name)

    def dialled(self) -> frozenset[Address]:
        """Every address that a connection may go to."""
        ways = [way for member in self.members for way in member.dial]
        return frozenset(ways + [way for target in self.mapped.values() for way in target])

    def replicas(self, member: Member) -> tuple[Member, ...]:
        """The member, and behind it those that hold the same log: master and slaves share one broker name."""
        others = [other for other in self.members if other.broker == member.broker and other != member]
        return (member, *others) if member.broker else (member,)

    def brokers(self) -> dict[str, tuple[Member, ...]]:
        """The members of each broker name, the master first."""
        brokers: dict[str, tuple[Member, ...]] = {}
        for member in self.members:
            brokers[member.broker] = (*brokers.get(member.broker, ()), member)
        return brokers
