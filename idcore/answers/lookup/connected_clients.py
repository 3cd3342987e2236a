"""Who is behind an id now: the connected clients of a cluster, asked of every broker. Matches nothing (clients.py)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from idcore.answers.lookup.clients import (
    INNER_GROUP,
    ClientSnapshot,
    LiveClient,
    ProducerMatch,
    match,
    united,
    version_text,
)
from idcore.answers.lookup.model import Copy
from idcore.ids import UniqId, identify
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.consumers import AllProducers, ConnectedClient, ConsumerConnections, ProducerConnections
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.requests import Request

_AT_ONCE = 8
# Clients say so often that they are there; a list that is younger need not be asked for again.
_FRESH_MS = 5_000

Row = tuple[str, str, ConnectedClient]
# The groups that were asked for, and their answer, which may still be on its way.
_Asked = tuple[tuple[str, ...], Future[ClientSnapshot]]


class LiveClients:
    """The connected clients of a cluster, asked again when the list is some seconds old."""

    def __init__(self, cluster: Cluster, now_ms: Callable[[], int]) -> None:
        self._cluster = cluster
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._held: _Asked | None = None

    def who(self, text: str, copies: Sequence[Copy], groups: Sequence[str] = ()) -> ProducerMatch | None:
        """Who generated this id, or the msgId of the message found; None where neither is of a client's process.

        `groups` are consumer groups whose clients may be asked for too: those of brokers that cannot list all clients.
        """
        home = next((copy.record for copy in copies if copy.relation in ("message", None)), None)
        for msg_id in dict.fromkeys([text, *([home.uniq_id] if home is not None and home.uniq_id else [])]):
            best = identify(msg_id, case="any").best
            if best is not None and isinstance(best.id, UniqId):
                producers = {copy.record.properties.get("PGROUP", "") for copy in copies} - {""}
                live = self.listed(sorted(producers), groups)
                # a record that was stored again may come from another host, the first one does not
                born = str(home.born_host) if home is not None and not home.reconsume_times else None
                return ProducerMatch(msg_id, match(best.id, best.made_by.code, live.clients, live.complete, born), live)
        return None

    def listed(self, producers: Sequence[str] = (), consumers: Sequence[str] = ()) -> ClientSnapshot:
        """All clients; an error of the name server is the caller's."""
        groups = tuple(sorted({*producers, *consumers}))
        mine: _Asked = groups, Future()
        while True:
            with self._lock:
                held = self._held = self._held or mine
            if held is mine:
                return self._fill(mine, producers, consumers)
            live = held[1].result()  # of somebody who asks now, or has asked
            # brokers that list all clients are not asked for those of groups
            is_fresh = 0 <= self._now_ms() - live.at_ms <= _FRESH_MS  # not where the clock was set back since
            if is_fresh and (held[0] == groups or not live.older):
                return live
            self._forget(held)

    def _fill(self, mine: _Asked, producers: Sequence[str], consumers: Sequence[str]) -> ClientSnapshot:
        """Asks, for everybody who waits for this answer; nobody waits for a failure twice."""
        try:
            live = self._ask(producers, consumers)
        except BaseException as problem:
            self._forget(mine)
            mine[1].set_exception(problem)
            raise
        mine[1].set_result(live)
        return live

    def _forget(self, held: _Asked) -> None:
        with self._lock:
            if self._held is held:
                self._held = None

    def _ask(self, producers: Sequence[str], consumers: Sequence[str]) -> ClientSnapshot:
        brokers = self._cluster.topology().brokers()
        rows: list[Row] = []
        asked: list[str] = []
        silent: list[tuple[str, RemotingError]] = []
        older: list[str] = []

        def of(name: str) -> tuple[str, list[Any]] | RemotingError:
            """328 of a broker; where it has no such question, the Java clients it has and those of the groups."""
            try:
                member, answers = self._cluster.ask_any(brokers[name], [AllProducers()])
                if answers != [None]:
                    return member.registered, answers
                old: list[Request[Any]] = [ProducerConnections(group) for group in (INNER_GROUP, *producers)]
                old += [ConsumerConnections(group) for group in consumers]
                return member.registered, [None, *self._cluster.ask_all(member, old)]
            except RemotingError as problem:
                return problem.without_stack()

        with ThreadPoolExecutor(min(_AT_ONCE, len(brokers)) or 1, "who") as pool:
            of_broker = dict(zip(brokers, pool.map(of, brokers), strict=True))
        for name, heard in of_broker.items():
            if isinstance(heard, RemotingError):
                silent.append((name, heard))
                continue
            asked.append(heard[0])
            silent += [(name, each) for each in heard[1] if isinstance(each, RemotingError)][:1]
            older += [name] if heard[1][0] is None else []
            rows += _rows(name, heard[1], (INNER_GROUP, *producers, *consumers))
        return ClientSnapshot(united(rows), self._now_ms(), tuple(asked), tuple(silent), tuple(older))


def _rows(broker: str, answers: Sequence[Any], groups: Sequence[str]) -> Iterator[Row]:
    first, *rest = answers
    if isinstance(first, dict):
        yield from ((broker, group, row) for group, rows in first.items() for row in rows)
    for group, answer in zip(groups, rest, strict=False):
        if answer is not None and not isinstance(answer, RemotingError):
            clients = answer if isinstance(answer, tuple) else answer.clients
            yield from ((broker, group, row) for row in clients)


def who_row(who: ProducerMatch) -> dict[str, Any]:
    """It as JSON has it: codes, whole clientIds, times in milliseconds since 1970."""
    match, live = who.match, who.live
    return {
        "msg_id": who.msg_id,
        "code": match.code,
        "host": match.host,
        "pid": match.pid,
        "same_connection": match.same_connection,
        "maker": match.maker,
        "language": match.language or None,
        "clients": [client_row(client) for client in match.clients],
        "asked_at_ms": live.at_ms,
        "listed": len(live.clients),
        "asked": list(live.asked),
        "silent": [broker for broker, _ in live.silent],
        "older": list(live.older),
    }


def client_row(client: LiveClient) -> dict[str, Any]:
    """A connected client as JSON."""
    name = client.name
    return {
        "client_id": client.client_id,
        "addresses": list(client.addresses),
        "host": name.host,
        "pid": name.pid,
        "language": client.language,
        "version": version_text(client.version),
        "groups": list(client.groups),
        "brokers": list(client.brokers),
        "heartbeat_ms": client.heartbeat_ms,
    }
