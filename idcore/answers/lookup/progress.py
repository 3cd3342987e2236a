"""How far a consumer group is in a topic: its queues, clients, rate, and what contradicts itself. Asks nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idcore.answers.fate import Reason
from idcore.answers.fate.model import POP, PULL
from idcore.answers.lookup.clients import LiveClient, host_of, is_grpc, newest_subscription, shared_client_ids
from idcore.rocketmq.remoting.consumers import ClientState, Connection, Subscription

BROADCAST = "BROADCASTING"
# What is wrong now; the other contradictions are remarks.
WRONG = frozenset(
    {
        "disabled",
        "not_subscribed",
        "same_id",
        "tags_disagree",
        "brokers_disagree",
        "no_owner",
        "two_owners",
        "unreadable",
        "stuck",
        "offline",
    }
)


QUEUE_COLUMNS = ("broker", "queue", "begin", "offset", "end", "lag", "in_flight", "passed_ms", "readable", "owners")


@dataclass(frozen=True, slots=True)
class QueueState:
    """One queue of the topic at one broker, and how far the group is in it.

    `offset` is the next one to consume: None where the group has none there. `known` is false where the broker did not
    say. `pulled` is what clients were handed up to. `passed_ms` is when the last message was stored that was passed.
    """

    broker: str
    queue: int
    begin: int | None = None
    end: int | None = None
    offset: int | None = None
    known: bool = True
    pulled: int | None = None
    passed_ms: int | None = None
    stored_ms: int | None = None
    readable: bool = True
    owners: tuple[str, ...] | None = None

    @property
    def lag(self) -> int | None:
        """Messages before the end, at most: a filter may drop some. None where either place is not known."""
        return None if self.offset is None or self.end is None else max(0, self.end - self.offset)

    @property
    def first_waiting(self) -> int:
        """The offset of the first message that is there and was not consumed."""
        return max(self.offset or 0, self.begin or 0)

    @property
    def row(self) -> list[Any]:
        """It as a row of a file, by the names of `QUEUE_COLUMNS`."""
        return [getattr(self, name) for name in QUEUE_COLUMNS]

    @property
    def in_flight(self) -> int | None:
        """Messages that clients have and did not confirm."""
        return None if self.pulled is None or self.offset is None else max(0, self.pulled - self.offset)


@dataclass(frozen=True, slots=True)
class SideTopic:
    """A topic of the group's own: retries, or dead letters. `waiting` is what the group did not pass, of `held`.

    `written` is how many it ever had.
    """

    topic: str
    kind: str
    held: int
    waiting: int | None
    last_ms: int | None
    written: int = 0


@dataclass(frozen=True, slots=True)
class GroupClient:
    """A connected client of the group, and its own answer where it was asked; `failed` where it gave none."""

    client: LiveClient
    state: ClientState | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """Everything that is known of a group in a topic, asked at one time."""

    group: str
    topic: str
    at_ms: int
    queues: tuple[QueueState, ...] = ()
    members: tuple[GroupClient, ...] = ()
    connections: Mapping[str, Connection | None] = field(default_factory=dict)
    side_topics: tuple[SideTopic, ...] = ()
    disabled: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    clients_asked: bool = False
    static: bool = False
    ahead_ms: Mapping[str, int] = field(default_factory=dict)  # of brokers' clocks, ahead of ours
    proxied: bool = False  # no broker lists a client, but some take messages through a proxy
    snapshot: bool = False  # of files, which do not say who is connected

    @property
    def lag(self) -> int:
        """Messages behind, over all queues where it is known."""
        return sum(queue.lag or 0 for queue in self.queues)

    @property
    def unread(self) -> tuple[QueueState, ...]:
        """Queues with messages that the group has no offset in."""
        return tuple(each for each in self.queues if each.known and each.offset is None and (each.end or 0) > 0)

    @property
    def online(self) -> Connection | None:
        """What one of the brokers says of how the group consumes; None where no client is connected."""
        return next((each for each in self.connections.values() if each is not None), None)

    @property
    def broadcasts(self) -> bool:
        """Whether each client gets every message; then the broker has no offset of the group."""
        return self.online is not None and self.online.message_model == BROADCAST

    @property
    def subscription(self) -> Subscription | None:
        """The newest subscription of the topic that a broker has."""
        return newest_subscription(filter(None, self.connections.values()), self.topic)

    def _has(self, connection: Connection) -> bool:
        return self.topic in connection.subscriptions

    def contradictions(self, before: Progress | None = None) -> list[Reason]:
        """What does not fit together, the worst first; `before` is the same, asked earlier."""
        every = [*self._settings(), *self._ids(), *self._subscriptions(before), *self._owners(), *self._queues(before)]
        return sorted(every, key=lambda reason: reason.code not in WRONG)

    def _settings(self) -> Iterator[Reason]:
        if self.disabled:
            yield Reason("disabled", {"broker": ", ".join(self.disabled)})
        if self.online is None and not (self.proxied or self.snapshot or self.silent) and self.lag:
            yield Reason("offline", {"lag": self.lag})

    def _ids(self) -> Iterator[Reason]:
        for broker, connection in self.connections.items():
            for client_id, addresses in (shared_client_ids(connection) if connection else {}).items():
                code = "same_id" if len(set(map(host_of, addresses))) > 1 else "same_id_host"
                yield Reason(code, {"client": client_id, "addresses": ", ".join(addresses), "broker": broker})

    def _subscriptions(self, before: Progress | None) -> Iterator[Reason]:
        online = {broker: each for broker, each in self.connections.items() if each is not None}
        lacking = [broker for broker, each in online.items() if not self._has(each) and each.consume_type != PULL]
        if lacking:
            yield Reason("not_subscribed", {"topic": self.topic, "broker": ", ".join(lacking)})
        texts = {broker: _filter(each.subscriptions[self.topic]) for broker, each in online.items() if self._has(each)}
        by_text: dict[str, list[str]] = {}
        for member in self.members:
            if member.state is not None and self.topic in member.state.subscriptions:
                text = _filter(member.state.subscriptions[self.topic])
                by_text.setdefault(text, []).append(member.client.client_id)
        if len(by_text) > 1:
            listed = "; ".join(f"{text}: {', '.join(ids)}" for text, ids in by_text.items())
            yield Reason("tags_disagree", {"subscriptions": listed})
        elif len(set(texts.values())) > 1:
            listed = "; ".join(f"{broker}: {text}" for broker, text in texts.items())
            yield Reason("brokers_disagree", {"subscriptions": listed})
        elif before is not None and len(self.members) > 1 and self._subscribed_again(before):
            yield Reason("subscribes_again", {"count": len(self.members)})

    def _subscribed_again(self, before: Progress) -> bool:
        """Whether a broker's subscription changed, though the clients are the same: they overwrite each other's."""
        same = {each.client.client_id for each in self.members} == {each.client.client_id for each in before.members}
        now, then = self.subscription, before.subscription
        return same and now is not None and then is not None and _filter(now) != _filter(then)

    def _owners(self) -> Iterator[Reason]:
        asked = self.clients_asked and self.members and not any(member.failed for member in self.members)
        if self.online is None or self.online.consume_type in (PULL, POP):
            return
        if any(is_grpc(member.client.client_id) for member in self.members):
            return
        if asked and not self.broadcasts:
            for queue in self.queues:
                if queue.readable and queue.owners is not None and len(queue.owners) != 1:
                    named = {"broker": queue.broker, "queue": queue.queue, "clients": ", ".join(queue.owners)}
                    yield Reason("two_owners" if queue.owners else "no_owner", named)
        readable = sum(queue.readable for queue in self.queues)
        if not self.broadcasts and not self.silent and len(self.members) > readable > 0:
            yield Reason("idle_clients", {"clients": len(self.members), "queues": readable})

    def _queues(self, before: Progress | None) -> Iterator[Reason]:
        for queue in self.queues:
            if not queue.readable and queue.lag:
                yield Reason("unreadable", {"broker": queue.broker, "queue": queue.queue, "lag": queue.lag})
        if before is None or self.online is None:
            return
        then = {(queue.broker, queue.queue): queue for queue in before.queues}
        seconds = round((self.at_ms - before.at_ms) / 1_000)
        for queue in self.queues:
            held = then.get((queue.broker, queue.queue))
            waited = held is not None and held.lag and queue.lag and held.offset == queue.offset
            if waited and queue.readable and seconds >= LEAST_SECONDS:
                named = {"broker": queue.broker, "queue": queue.queue, "offset": queue.offset, "lag": queue.lag}
                yield Reason("stuck", {**named, "seconds": seconds})


# Clients report their offsets every 5 s: what did not move within less says nothing.
LEAST_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Rate:
    """Messages a second between two questions: consumed, and stored in the meantime; the seconds left at this pace.

    `left` is None where the group does not catch up, or nothing moved.
    """

    seconds: float
    consumed: float
    stored: float
    lag: int

    @property
    def left(self) -> float | None:
        """Seconds until nothing is left; None where it does not come to that."""
        gained = self.consumed - self.stored
        return 0.0 if self.lag == 0 else self.lag / gained if gained > 0 else None


def pace(before: Progress, now: Progress, only: QueueState | None = None) -> Rate | None:
    """The pace between two questions, of one queue or of all; None where nothing can be compared.

    They may have come too close together. Queues that only one of both has an offset of are left out. A negative rate
    means that the offset was reset.
    """
    seconds = (now.at_ms - before.at_ms) / 1_000
    if seconds < LEAST_SECONDS:
        return None
    then = {(queue.broker, queue.queue): queue for queue in before.queues}
    consumed = stored = lag = compared = 0
    for queue in now.queues if only is None else (only,):
        held = then.get((queue.broker, queue.queue))
        if held is None or held.offset is None or queue.offset is None or held.end is None or queue.end is None:
            continue
        consumed += queue.offset - held.offset
        stored += queue.end - held.end
        lag += queue.lag or 0
        compared += 1
    return None if not compared else Rate(seconds, consumed / seconds, stored / seconds, lag)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group in the list of the groups of a topic. `lag` and `clients` are None where the brokers did not say.

    They do not say how many clients are behind a proxy. `disabled`: its settings, where known, forbid it to consume.
    """

    group: str
    lag: int | None
    unread: int
    clients: int | None
    consume_type: str = ""
    message_model: str = ""
    disabled: bool = False


def in_memory(progress: Progress, broker: str, queue: int, offset: int) -> list[str]:
    """The clients that have a message of this place in their memory now, as far as they were asked."""
    return [
        member.client.client_id
        for member in progress.members
        for held in (member.state.queues if member.state else ())
        if (held.broker, held.topic, held.queue) == (broker, progress.topic, queue) and held.has(offset)
    ]


def owned(members: Iterable[GroupClient], topic: str) -> dict[tuple[str, int], tuple[str, ...]]:
    """The clients that say they were given a queue, by broker and queue."""
    owners: dict[tuple[str, int], tuple[str, ...]] = {}
    for member in members:
        queues = member.state.queues if member.state else ()
        # A client may name a queue again and again, and has it once.
        for key in {(queue.broker, queue.queue) for queue in queues if queue.topic == topic and not queue.dropped}:
            owners[key] = (*owners.get(key, ()), member.client.client_id)
    return owners


def kinds(rows: Sequence[GroupRow]) -> Counter[str]:
    """How many groups are in which state of `state_of`."""
    return Counter(state_of(row) for row in rows)


def state_of(row: GroupRow) -> str:
    """Whether a group is behind, may not consume, has no clients, or has read everything."""
    if row.message_model == BROADCAST:
        return "broadcast"
    if row.lag is None:
        return "unknown"
    if row.disabled:
        return "disabled"
    if row.clients == 0:
        return "offline"
    return "behind" if row.lag or row.unread else "done"


def _filter(subscription: Subscription) -> str:
    text = subscription.expression.strip() or "*"
    if subscription.kind not in ("", "TAG"):
        return f"{subscription.kind} {text}"
    return " || ".join(sorted(part.strip() for part in text.split("||")))
