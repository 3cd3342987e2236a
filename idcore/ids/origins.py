"""Where an ID is from: the process of a client or the address of a broker, with their texts. Parses none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

PROCESS_KEY = ["layout", "host", "pid", "loader"]  # the columns of a scan's tables that name a process


class Origin(Protocol):
    """What both have besides their text, which is `str`."""

    @property
    def brief(self) -> str:
        """The text without what distinguishes nothing where there is little room."""

    @property
    def place(self) -> str:
        """What is grouped by: the host of a process, the address of a broker."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The process that generated an ID: its host, its pid, and the hash of its class loader as eight digits.

    A 5.x client has no loader, and a MAC address in the place of its host. Two processes may share a fingerprint.
    """

    host: str
    pid: int
    loader: str | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Fingerprint:
        """From a row with the columns of the table `processes`, or of `clients`: such a row has a `mac`."""
        if row.get("mac") is not None:
            return cls(row["mac"], int(row["pid"]))
        return cls(row["host"], int(row["pid"]), row["loader"])

    def __str__(self) -> str:
        """`10.0.0.7 pid 3416 loader 18B4AAC2`, as findings and comparisons call it."""
        return self.brief if self.loader is None else f"{self.brief} loader {self.loader}"

    @property
    def brief(self) -> str:
        """`10.0.0.7 pid 3416`, where the loader distinguishes nothing."""
        return f"{self.host} pid {self.pid}"

    @property
    def place(self) -> str:
        """The host: many processes are in one place."""
        return self.host

    @property
    def host_and_pid(self) -> str:
        """`10.0.0.7 · 3416`, for a narrow column."""
        return f"{self.host} · {self.pid}"

    @property
    def parts(self) -> tuple[str, ...]:
        """What names it, one by one."""
        return (self.host, str(self.pid), *(() if self.loader is None else (self.loader,)))

    @property
    def key(self) -> str:
        """`10.0.0.7~3416~18B4AAC2`, as links contain it."""
        return "~".join(self.parts)


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """The address of a broker that an offsetMsgId contains: an IP address as text, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        """`10.0.0.5:10911`, or `[2001:db8::1]:10911`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def brief(self) -> str:
        """The same: nothing of it can be left out."""
        return str(self)

    @property
    def place(self) -> str:
        """The same: two brokers of one host are two places."""
        return str(self)
