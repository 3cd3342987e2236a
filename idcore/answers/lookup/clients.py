"""Which connected client generated an id: a clientId taken apart, and matched with address and pid. Asks nobody."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from idcore.base.errors import CoreError
from idcore.ids import UniqId
from idcore.rocketmq.remoting.consumers import ConnectedClient, Connection, Subscription

# MQVersion.java: from 4.0.0 on each release has two numbers, a snapshot's and its own, ten releases a minor version.
_FIRST, _LAST = 212, 611
# ClientId of the gRPC clients: host@pid@index@time, in whatever language.
_GRPC = re.compile(r".+@\d{1,10}@\d{1,10}@[0-9a-z]{1,20}", re.ASCII | re.DOTALL)
_PROCESS = re.compile(r"(\d{1,10})(?:#\d{1,20})?", re.ASCII)
INNER_GROUP = "CLIENT_INNER_PRODUCER"  # every Java client is in it, producer or consumer
_JAVA = frozenset({"JAVA"})
# What clients of a maker call their own language; the wrappers of the C++ client call themselves otherwise.
_NATIVE = frozenset({"CPP", "PYTHON", "NODE_JS", "DOTNET", "PHP", "RUBY", "OTHER"})
_LANGUAGES: Mapping[str, frozenset[str]] = {
    "go": frozenset({"GO"}),
    "go_family": frozenset({"GO", "RUST", "OTHER", "ERLANG"}),
    "cpp_old": _NATIVE,
    "cpp_seed": _NATIVE,
    "cpp": _NATIVE | _JAVA,
    "rust_mxsm": frozenset({"RUST"}) | _JAVA,
    "php": frozenset({"PHP"}),
    "python_tt67wq": frozenset({"PYTHON"}),
    "dotnet": frozenset({"DOTNET"}),
    "dotnet_uuid": _NATIVE,
}


def is_grpc(client_id: str) -> bool:
    """Whether a clientId is one of a gRPC client, which a proxy registers under a kind of consumer that it is not."""
    return _GRPC.fullmatch(client_id) is not None


@dataclass(frozen=True, slots=True)
class ClientName:
    """What the text of a clientId says: `address@pid`, from 4.9.0 `address@pid#nanos`, and what may follow.

    `pid` is None where the application named its instance, and for broadcasting clients.
    """

    host: str
    pid: int | None

    @classmethod
    def read(cls, text: str) -> ClientName:
        """From a clientId as a broker lists it."""
        host, _, rest = text.partition("@")
        instance = rest.partition("@")[0]
        process = _PROCESS.fullmatch(instance)
        return cls(plain_host(host), int(process[1]) if process else None)


@dataclass(frozen=True, slots=True)
class LiveClient:
    """A connected client, over all brokers that list it; `addresses` are those that its connections come from."""

    client_id: str
    addresses: tuple[str, ...]
    language: str
    version: int
    groups: tuple[str, ...] = ()
    brokers: tuple[str, ...] = ()
    heartbeat_ms: int | None = None

    @property
    def name(self) -> ClientName:
        """The clientId taken apart."""
        return ClientName.read(self.client_id)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Where its connections come from, without ports."""
        return tuple(dict.fromkeys(host_of(address) for address in self.addresses))


@dataclass(frozen=True, slots=True)
class Match:
    """What became of the process behind an id.

    `code` is `connected`, `shared` (several machines are connected as this process), `replaced` (its host is connected,
    this pid is not), `unnamed` (its host is connected by clientIds without a pid), `gone`, or `unknown`.
    `clients` are the process's own, or those of its host. `same_connection` is the client whose connection the record
    came from. `language` says whether the clients agree with who generated the id: `agrees`, `contradicts` or "".
    """

    code: str
    host: str
    pid: int
    clients: tuple[LiveClient, ...] = ()
    same_connection: str | None = None
    language: str = ""
    maker: str = ""


@dataclass(frozen=True, slots=True)
class ClientSnapshot:
    """Every client that the brokers listed, when, who did not answer, and who is too old to list all of them."""

    clients: tuple[LiveClient, ...]
    at_ms: int
    asked: tuple[str, ...] = ()
    silent: tuple[tuple[str, CoreError], ...] = ()
    older: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether a client that is not listed is connected to none of the brokers."""
        return not self.silent and not self.older


@dataclass(frozen=True, slots=True)
class ProducerMatch:
    """The process behind one id, and the list that it was looked for in."""

    msg_id: str
    match: Match
    live: ClientSnapshot


def plain_host(text: str) -> str:
    """An address in its usual form, without an interface; any other text as it is."""
    try:
        return str(ipaddress.ip_address(text.strip("[]").partition("%")[0]))
    except ValueError:
        return text


def host_of(address: str) -> str:
    return plain_host(address.rpartition(":")[0] or address)


def version_text(number: int) -> str:
    """A number of MQVersion as a release; other numbers as they are."""
    if not _FIRST <= number <= _LAST:
        return str(number)
    place, is_release = divmod(number - _FIRST, 2)
    text = f"{4 + place // 100}.{place // 10 % 10}.{place % 10}"
    return text if is_release else f"{text}-SNAPSHOT"


def united(seen: Iterable[tuple[str, str, ConnectedClient]]) -> tuple[LiveClient, ...]:
    """Rows of brokers (broker, group, row) as clients: rows of one id and one host are one, whatever the ports."""
    clients: dict[tuple[str, str], list[tuple[str, str, ConnectedClient]]] = {}
    for broker, group, row in seen:
        clients.setdefault((row.client_id, host_of(row.address)), []).append((broker, group, row))
    return tuple(sorted(map(_one, clients.values()), key=lambda client: (client.client_id, client.addresses)))


def _one(seen: Sequence[tuple[str, str, ConnectedClient]]) -> LiveClient:
    """The rows of one client. There may be 100,000, each with another port or group."""
    brokers, groups, rows = zip(*seen, strict=True)
    return LiveClient(
        rows[0].client_id,
        _once(row.address for row in rows),
        rows[0].language,
        rows[0].version,
        _once(group for group in groups if group != INNER_GROUP),
        _once(brokers),
        max((row.heartbeat_ms for row in rows if row.heartbeat_ms is not None), default=None),
    )


def newest_subscription(connections: Iterable[Connection], topic: str) -> Subscription | None:
    """The last that clients of a group told any of these brokers of a topic; None where no broker has one."""
    held = [each.subscriptions[topic] for each in connections if topic in each.subscriptions]
    return max(held, key=lambda each: each.version, default=None)


def shared_client_ids(connection: Connection) -> dict[str, list[str]]:
    """Each clientId that several connections to one broker have, with their addresses.

    A rebalance counts them as one client.
    """
    addresses: dict[str, set[str]] = {}
    for client in connection.clients:
        addresses.setdefault(client.client_id, set()).add(client.address)
    return {client_id: sorted(own) for client_id, own in sorted(addresses.items()) if len(own) > 1}


def match(
    uniq_id: UniqId, maker: str, clients: Sequence[LiveClient], complete: bool, born_host: str | None = None
) -> Match:
    """The process of an id among connected clients; `complete` says that every broker listed its own."""
    own_host = plain_host(uniq_id.host)
    same = [client for client in clients if born_host in client.addresses]
    of_host = [client for client in clients if client.name.host == own_host]
    alike = [client for client in of_host if client.name.pid is not None and client.name.pid & 0xFFFF == uniq_id.pid]
    alike += [client for client in same if client not in alike]
    unnamed = [client for client in of_host if client.name.pid is None]
    if alike:
        code, shown = "shared" if _several(alike) else "connected", alike
    elif unnamed:
        code, shown = "unnamed", unnamed
    elif of_host:
        code, shown = "replaced", of_host
    else:
        code, shown = ("gone" if complete else "unknown"), []
    if code == "replaced" and not complete:
        code = "unknown"  # the process itself may be connected to the broker that did not answer
    language = _language(maker, [client for client in (alike or unnamed) if client.language])
    return Match(code, uniq_id.host, uniq_id.pid, tuple(shown), same[0].client_id if same else None, language, maker)


def _several(clients: Sequence[LiveClient]) -> bool:
    """Whether more than one machine or process is connected. One process may reach two brokers by two addresses."""
    hosts: dict[str, set[str]] = {}
    for client in clients:
        for broker in client.brokers:
            hosts.setdefault(broker, set()).update(client.hosts)
    pids = {client.name.pid for client in clients if client.name.pid is not None}
    return len(pids) > 1 or any(len(each) > 1 for each in hosts.values())


def _language(maker: str, clients: Sequence[LiveClient]) -> str:
    expected = _JAVA if maker.startswith("java_") else _LANGUAGES.get(maker)
    if expected is None or not clients:
        return ""
    agreed = {client.language in expected for client in clients}
    return "" if len(agreed) > 1 else "agrees" if agreed == {True} else "contradicts"


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))
