"""What a verdict rests on, and the verdict: values and codes only, no sentence. Judges nothing and asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from idcore.answers.fate.sql92 import matches
from idcore.rocketmq.store.pop_records import PopRecord

T = TypeVar("T")

# How a group takes messages: ConsumeType of the Java client, as brokers print it.
PUSH, PULL, POP = "CONSUME_PASSIVELY", "CONSUME_ACTIVELY", "CONSUME_POP"

# proved: somebody saw it; inferred: it follows from offsets and copies; uncertain: something else is possible too.
Certainty = Literal["proved", "inferred", "uncertain", "none"]


@dataclass(frozen=True, slots=True)
class Observation(Generic[T]):
    """What came of a question: the answer and when it came. Without a time nobody answered, which proves nothing."""

    value: T | None = None
    at_ms: int | None = None

    @property
    def answered(self) -> bool:
        """Whether there is an answer; its value may still be None: there is no such thing."""
        return self.at_ms is not None


@dataclass(frozen=True, slots=True)
class JudgedRecord:
    """The record that is judged, and what is known of its queue.

    `readable` is None where the route does not say; `end` is the next offset of the queue, `begin` the first that is
    still there. `properties` are for filters by expression; a store leaves them out. `snapshot_ms` is the instant that
    a copied store folder shows; None where brokers were asked.
    """

    record: str  # its offsetMsgId
    broker: str
    topic: str
    queue: int
    offset: int
    stored_ms: int
    tag: str | None = None
    readable: bool | None = None
    static: bool = False
    from_slave: bool = False
    snapshot_ms: int | None = None
    end: Observation[int] = field(default_factory=Observation)
    begin: Observation[int] = field(default_factory=Observation)
    properties: Mapping[str, str] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class GroupCopy:
    """A copy that belongs to one group.

    `kind`: `dead`; `waiting` for its time; `queued` in the retry topic. `passed` says whether the group's offset is
    past a queued one; `popped`, that POP brought it back. `delivered` says whether a waiting one was taken out of its
    queue. `tries` is the number of the retry, and of a dead letter that of the attempts, the first one included.
    `shared`: it may be of another record of the message. `held`: a POP consumer was handed a queued one.
    """

    kind: Literal["dead", "waiting", "queued"]
    tries: int
    stored_ms: int
    due_ms: int | None = None
    popped: bool = False
    shared: bool = False
    held: PopRecord | None = None
    passed: Observation[bool] = field(default_factory=Observation)
    delivered: Observation[bool] = field(default_factory=Observation)


@dataclass(frozen=True, slots=True)
class Blocker:
    """The record at the group's offset, which it does not get past."""

    record: str
    msg_id: str | None
    offset: int
    stored_ms: int


class Attempt(Protocol):
    """One attempt of a consumer, as the message trace has it. Without `success` its end was not traced."""

    @property
    def began_ms(self) -> int | None: ...

    @property
    def ended_ms(self) -> int | None: ...

    @property
    def success(self) -> bool | None: ...

    @property
    def retry_times(self) -> int | None: ...

    @property
    def client(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Filter:
    """The group's subscription of the home topic; `since_ms` is the client's clock when it subscribed.

    `of_last_request`: a broker has it from the group's last request alone, at `since_ms`. What it asked for before is
    not known: clients behind a proxy, and pull consumers that assigned themselves queues.
    """

    kind: str
    expression: str
    tags: frozenset[str]
    since_ms: int
    by_class: bool = False
    of_last_request: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether it may drop any message."""
        return self.by_class or self.kind == "SQL92" or self.excludes(None) is not False

    def excludes(self, tag: str | None, properties: Mapping[str, str] | None = None) -> bool | None:
        """Whether it drops a message with this tag and these properties; None where only the broker could judge it."""
        if self.kind == "SQL92" and not self.by_class and properties is not None:
            matching = matches(self.expression, properties)
            return None if matching is None else not matching
        if self.by_class or self.kind not in ("TAG", ""):
            return None
        if self.expression in ("", "*"):  # nothing else is everything to a broker: `TagA || *` drops what has TagB
            return False
        if not self.tags and self.expression.strip(" |"):
            return None
        return tag is None or tag not in self.tags


@dataclass(frozen=True, slots=True)
class Consumers:
    """Who of a group is connected, over all brokers that answered; without clients nobody is.

    `filter` is None where the connected clients do not subscribe the topic. `shared` is a clientId that several of
    them have. `proxied`: no broker lists a client, but the group takes messages; a proxy does that by POP for gRPC.
    `proxied_before`: it did within the last ten minutes.
    `grpc`: they are clients of a proxy inside the broker, which names them push or pull, and takes messages by POP too.
    `other_filter`: what one of them says that it subscribes, if it is not what the broker has.
    """

    clients: int = 0
    consume_type: str = ""
    broadcast: bool = False
    from_last: bool = False
    filter: Filter | None = None
    shared: str | None = None
    proxied: bool = False
    proxied_before: bool = False
    grpc: bool = False
    other_filter: str | None = None

    @property
    def pops(self) -> bool:
        """Whether messages may come back that nobody acknowledged, although the group's offset is past them."""
        return self.surely_pops or self.proxied or self.proxied_before

    @property
    def surely_pops(self) -> bool:
        """The same, where clients show it. Those that are not connected may be behind a proxy, or have pulled."""
        return self.consume_type == POP or self.grpc


@dataclass(frozen=True, slots=True)
class Holder:
    """A client that says it has the record in memory, and has not finished it.

    `oldest`: it has no older one of the queue, so this one is next. `finished_ms`: when it last finished one. `waits`:
    it may have no thread left for it. `orderly`: it keeps what its listener suspended or did not commit.
    """

    client: str
    oldest: bool
    finished_ms: int
    waits: bool = False
    orderly: bool = False


@dataclass(frozen=True, slots=True)
class FewerHanded:
    """A broker handed a group so many messages, and its offset moved over more that were stored since `since_ms`."""

    handed: int
    passed: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class Group:
    """Everything that is known of one group and one record.

    `again` is the offset asked a second time, some seconds after `offset`. `kept_filter` is from a broker's files.
    `broadcast_offset` is what every connected client of a broadcasting group was handed (5.1.0 on). `holders` is what
    its clients said of themselves; answered only if all of them did, or one has the record. `visible_ms` is when what
    an ordered POP group holds comes back. `held` says that another POP group was handed it and did not acknowledge it.
    `can_retry`: its broker keeps what its push clients send back. `pushed`: it has an offset in its own retry topic, as
    groups of push clients have that do not broadcast. `own_offset` is the next offset as the push client says it that
    has the queue. `fewer_handed`: its offset cannot come from what it was handed alone. `no_checkpoint`: its broker
    writes down what it hands to POP groups, and has nothing of this message.
    """

    name: str
    offset: Observation[int] = field(default_factory=Observation)
    again: Observation[int] = field(default_factory=Observation)
    pull_offset: Observation[int] = field(default_factory=Observation)
    broadcast_offset: Observation[int] = field(default_factory=Observation)
    consumers: Observation[Consumers] = field(default_factory=Observation)
    kept_filter: Filter | None = None
    can_consume: Observation[bool] = field(default_factory=Observation)
    can_broadcast: Observation[bool] = field(default_factory=Observation)
    can_retry: Observation[bool] = field(default_factory=Observation)
    pushed: Observation[bool] = field(default_factory=Observation)
    copies: tuple[GroupCopy, ...] = ()
    copies_complete: bool = False
    blocker: Blocker | None = None
    visible_ms: int | None = None
    held: PopRecord | None = None
    attempts: tuple[Attempt, ...] = ()
    holders: Observation[tuple[Holder, ...]] = field(default_factory=Observation)
    own_offset: Observation[int] = field(default_factory=Observation)
    fewer_handed: FewerHanded | None = None
    no_checkpoint: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """One `why`: a code, and the values of its sentence."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """One value that the verdict rests on, and when it was read."""

    name: str
    value: Any
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one record in one group. `code` is also the code of what would disprove it."""

    group: str
    record: str
    code: str
    certainty: Certainty
    values: Mapping[str, Any] = field(default_factory=dict)
    why: tuple[Reason, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def asked_at_ms(self) -> int | None:
        """When the oldest answer came that it rests on."""
        return min((fact.at_ms for fact in self.facts if fact.at_ms is not None), default=None)
