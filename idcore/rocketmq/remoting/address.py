"""Where a server listens: an IP address with a port, or a configured name that becomes one. Dials nobody."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass

from idcore.base.errors import coded, refuse
from idcore.ids.model import host_bytes, host_text
from idcore.ids.origins import BrokerAddress
from idcore.rocketmq.remoting.errors import ProfileError, Unreachable

_ENDPOINT = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^\[\]:\s]+)):(?P<port>\d{1,5})")
_NAME = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_-]{1,63})*\.?")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """An IP address and a port: the only thing that is ever dialled."""

    ip: bytes
    port: int

    @classmethod
    def of(cls, host: str | bytes, port: int) -> Address:
        """From an address as text or as raw bytes, as an id contains it."""
        return cls(_plain(host_bytes(host)), port)

    @property
    def host(self) -> str:
        """The address without its port."""
        return host_text(self.ip)

    def __str__(self) -> str:
        return str(BrokerAddress(self.host, self.port))


def _plain(ip: bytes) -> bytes:
    # ::ffff:10.0.0.1 and 10.0.0.1 are one host; a guard that compares must not see two.
    return ip[12:] if len(ip) == 16 and ip[:12] == bytes(10) + b"\xff\xff" else ip


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`host:port` as somebody configured or registered it; the host may be a name."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """From `10.0.0.1:9876`, `[::1]:9876`, `::1:9876` (as RocketMQ prints it) or `name:9876`."""
        given = text.strip()
        match = _ENDPOINT.fullmatch(given)
        host, port = (match["v6"] or match["host"], match["port"]) if match else given.rpartition(":")[::2]
        try:
            host = str(ipaddress.ip_address(host))
        except ValueError:
            if match is None or match["v6"] or not _NAME.fullmatch(host) or re.fullmatch(r"[\d.]+", host):
                raise ProfileError("endpoint", {"text": text[:80]}, "address", None, text[:80]) from None
        if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65_535:
            raise ProfileError("endpoint_port", {"text": text[:80]}, "port", None, text[:80])
        return cls(host, int(port))

    def __str__(self) -> str:
        return str(BrokerAddress(self.host, self.port))

    @property
    def is_name(self) -> bool:
        """Whether a name service has to be asked for the address."""
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return True
        return False

    def resolve(self) -> tuple[Address, ...]:
        """Every address of the host, in the system's order; a name is asked for now, an address never."""
        if not self.is_name:
            return (Address.of(self.host, self.port),)
        try:
            addresses = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as problem:
            raise Unreachable.at(str(self), refuse("name_unresolved", why=coded(problem))) from None
        return tuple(dict.fromkeys(Address.of(str(where[0]).partition("%")[0], self.port) for *_, where in addresses))
