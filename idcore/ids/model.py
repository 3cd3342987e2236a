"""The three kinds of id as frozen values: text and bytes both ways, raw fields, no time and no judgement of makers."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Literal

from idcore.errors import CoreError, refuse
from idcore.ids import rules
from idcore.layout import (
    CLIENT_V1,
    LAYOUTS,
    OFFSET_V4,
    OFFSET_V6,
    UNIQ_V4,
    UNIQ_V6,
    Layout,
)

Kind = Literal["uniq", "offset", "client"]
COMMIT_LOG_FILE_SIZE = 1 << 30
_NO_HEX = re.compile(r"[^0-9A-Fa-f]")


def unhex(text: str) -> bytes:
    """The bytes of a text of hex digits, or the one error that says what is wrong with it."""
    if not text:
        raise refuse("empty", text=text)
    wrong = _NO_HEX.search(text)
    if wrong:
        raise refuse("digit", None, wrong.start() // 2, text, char=wrong.group(), place=wrong.start() + 1)
    if len(text) % 2:
        raise refuse("odd", None, len(text) // 2, text, digits=len(text))
    return bytes.fromhex(text)


def _of_size(text: str, layouts: tuple[Layout, ...]) -> tuple[bytes, Layout]:
    raw = unhex(text)
    for layout in layouts:
        if layout.size == len(raw):
            return raw, layout
    raise refuse("length", None, min(len(raw), min(x.size for x in layouts)), text, digits=len(text))


def _sized(raw: bytes, layout: Layout) -> tuple[Any, ...]:
    if len(raw) != layout.size:
        raise refuse(
            "size",
            None,
            min(len(raw), layout.size),
            raw.hex().upper(),
            size=len(raw),
            layout=layout.name,
            wanted=layout.size,
        )
    return layout.struct.unpack(raw)


@lru_cache(maxsize=65_536)
def host_text(address: bytes) -> str:
    """An address as people read it: dotted, or RFC 5952 for sixteen bytes (also for mapped ones, hex throughout)."""
    if len(address) == 4:
        return f"{address[0]}.{address[1]}.{address[2]}.{address[3]}"
    return _compressed(ipaddress.IPv6Address(address))


def _compressed(address: ipaddress.IPv6Address) -> str:
    mapped = address.ipv4_mapped
    return f"::ffff:{mapped}" if mapped is not None else address.compressed


@lru_cache(maxsize=4_096)
def host_bytes(host: str | bytes) -> bytes:
    """The four or sixteen bytes of an address written either way."""
    if isinstance(host, bytes):
        if len(host) not in (4, 16):
            raise refuse("address", "ip", 0, None, address=host.hex(), wanted="4 or 16")
        return host
    try:
        return ipaddress.ip_address(host).packed
    except ValueError:
        raise refuse("address", "ip", 0, host, address=host, wanted="4 or 16") from None


def _fits(layout: Layout, name: str, value: int) -> int:
    item = layout.field(name)
    bits = 8 * item.size
    low, high = (-(1 << bits - 1), 1 << bits - 1) if item.raw == "signed" else (0, 1 << bits)
    if not low <= value < high:
        raise refuse("value", name, layout.span(name).start, None, name=name, value=value, bits=bits)
    return value


@dataclass(frozen=True, slots=True)
class UniqId:
    """An id made by the producing client (MessageClientIDSetter): msgId, UNIQ_KEY, transactionId."""

    layout: Layout
    ip: bytes
    pid: int
    loader: int
    elapsed: int
    counter: int
    text: str = field(compare=False)
    kind: ClassVar[Kind] = "uniq"

    @classmethod
    def from_hex(cls, text: str, layout: Layout | None = None) -> UniqId:
        """A uniq id from its digits, strictly: an elapsed that no month and no clock set back explains is refused.

        Without a layout the length decides between v4 and v6; the little-endian one has to be asked for.
        """
        raw, found = _of_size(text, (layout,) if layout else (UNIQ_V4, UNIQ_V6))
        made = cls.from_bytes(raw, found, text)
        if not rules.elapsed_possible(made.elapsed) and not rules.clock_set_back(made.elapsed):
            raise elapsed_error(made)
        return made

    @classmethod
    def from_bytes(cls, raw: bytes, layout: Layout, text: str | None = None) -> UniqId:
        """The raw fields, whatever their values."""
        ip, pid, loader, elapsed, counter = _sized(raw, layout)
        if layout.byteorder == "little":
            ip = ip[::-1]
        return cls(layout, ip, pid, loader, elapsed, counter, raw.hex().upper() if text is None else text)

    @classmethod
    def of(
        cls, host: str | bytes, pid: int, loader: int, elapsed: int, counter: int, layout: Layout | None = None
    ) -> UniqId:
        """An id from its values; each must fit its field."""
        ip = host_bytes(host)
        chosen = layout or (UNIQ_V4 if len(ip) == 4 else UNIQ_V6)
        if len(ip) != chosen.field("ip").size:
            raise refuse("address", "ip", 0, None, address=host_text(ip), wanted=chosen.field("ip").size)
        for name, value in (("pid", pid), ("loader", loader), ("elapsed", elapsed), ("counter", counter)):
            _fits(chosen, name, value)
        made = cls(chosen, ip, pid, loader, elapsed, counter, "")
        return cls(chosen, ip, pid, loader, elapsed, counter, bytes(made).hex().upper())

    def __bytes__(self) -> bytes:
        ip = self.ip[::-1] if self.layout.byteorder == "little" else self.ip
        return self.layout.struct.pack(ip, self.pid, self.loader, self.elapsed, self.counter)

    def __str__(self) -> str:
        return self.text

    @property
    def host(self) -> str:
        """The producing client's address as text."""
        return host_text(self.ip)

    @property
    def loader_text(self) -> str:
        """The loader as eight upper-case digits: Java's own toString drops leading zeros."""
        return f"{self.loader:08X}"

    @property
    def signed_elapsed(self) -> int:
        """Elapsed as the client meant it: below zero where only a clock that was set back explains it."""
        little = self.layout.byteorder == "little" and self.elapsed < rules.LITTLE_ENDIAN_ELAPSED_MS
        if self.elapsed >= rules.SIGN_BIT and not little and not rules.elapsed_possible(self.elapsed):
            return self.elapsed - rules.ELAPSED_WRAP
        return self.elapsed


@dataclass(frozen=True, slots=True)
class OffsetId:
    """An id made by the broker (MessageDecoder.createMessageId): the address of the broker and a physical offset."""

    layout: Layout
    ip: bytes
    port: int
    physical_offset: int
    text: str = field(compare=False)
    kind: ClassVar[Kind] = "offset"

    @classmethod
    def from_hex(cls, text: str, layout: Layout | None = None) -> OffsetId:
        """An offset id from its digits, strictly: a port above 65,535 is refused, as Java's decoder does."""
        raw, found = _of_size(text, (layout,) if layout else (OFFSET_V4, OFFSET_V6))
        made = cls.from_bytes(raw, found, text)
        if made.port > rules.PORT_LIMIT:
            raise port_error(made)
        return made

    @classmethod
    def from_bytes(cls, raw: bytes, layout: Layout, text: str | None = None) -> OffsetId:
        """The raw fields, whatever their values; the offset is signed, as Java's long is."""
        ip, port, offset = _sized(raw, layout)
        return cls(layout, ip, port, offset, raw.hex().upper() if text is None else text)

    @classmethod
    def of(cls, host: str | bytes, port: int, physical_offset: int) -> OffsetId:
        """An id from its values. Port 0 is allowed, for Java makes such ids; identify() refuses them."""
        ip = host_bytes(host)
        layout = OFFSET_V4 if len(ip) == 4 else OFFSET_V6
        if not 0 <= port <= rules.PORT_LIMIT:
            raise refuse("port", "port", layout.span("port").start, None, port=port)
        _fits(layout, "offset", physical_offset)
        raw = layout.struct.pack(ip, port, physical_offset)
        return cls(layout, ip, port, physical_offset, raw.hex().upper())

    def __bytes__(self) -> bytes:
        return self.layout.struct.pack(self.ip, self.port, self.physical_offset)

    def __str__(self) -> str:
        return self.text

    @property
    def host(self) -> str:
        """The broker's address as text, without its port."""
        return host_text(self.ip)

    @property
    def address(self) -> str:
        """`host:port`, or `[v6]:port`."""
        return f"[{self.host}]:{self.port}" if len(self.ip) == 16 else f"{self.host}:{self.port}"

    def segment(self, file_size: int = COMMIT_LOG_FILE_SIZE) -> str:
        """The commit log file that holds the offset: the 20-digit offset of its first byte."""
        return f"{self.physical_offset - self.physical_offset % file_size:020d}"

    def position(self, file_size: int = COMMIT_LOG_FILE_SIZE) -> int:
        """The place of the record inside that file."""
        return self.physical_offset % file_size


@dataclass(frozen=True, slots=True)
class ClientId:
    """An id made by a 5.x gRPC client (MessageIdCodec): hardware address, pid, seconds since 2021, sequence."""

    layout: Layout
    version: int
    mac: bytes
    pid: int
    seconds: int
    sequence: int
    text: str = field(compare=False)
    kind: ClassVar[Kind] = "client"

    @classmethod
    def from_hex(cls, text: str, layout: Layout | None = None) -> ClientId:
        """A client id from its digits, strictly: it has to begin with 01."""
        raw, found = _of_size(text, (layout or CLIENT_V1,))
        made = cls.from_bytes(raw, found, text)
        if made.version != 1:
            raise version_error(made)
        return made

    @classmethod
    def from_bytes(cls, raw: bytes, layout: Layout = CLIENT_V1, text: str | None = None) -> ClientId:
        """The raw fields, whatever their values."""
        version, mac, pid, seconds, sequence = _sized(raw, layout)
        return cls(layout, version, mac, pid, seconds, sequence, raw.hex().upper() if text is None else text)

    def __bytes__(self) -> bytes:
        return self.layout.struct.pack(self.version, self.mac, self.pid, self.seconds, self.sequence)

    def __str__(self) -> str:
        return self.text

    @property
    def mac_text(self) -> str:
        """The hardware address as `08:71:90:66:ff:9a`."""
        return self.mac.hex(":")

    @property
    def host(self) -> str:
        """What stands for the host in this format: the hardware address."""
        return self.mac_text


MessageId = UniqId | OffsetId | ClientId


def port_error(offset_id: OffsetId) -> CoreError:
    """The refusal of a port outside 1 to 65,535."""
    return refuse("port", "port", offset_id.layout.span("port").start, offset_id.text, port=offset_id.port)


def offset_error(offset_id: OffsetId) -> CoreError:
    """The refusal of a physical offset that no commit log reaches."""
    return refuse(
        "offset",
        "offset",
        offset_id.layout.span("offset").start,
        offset_id.text,
        offset=offset_id.physical_offset,
    )


def version_error(client_id: ClientId) -> CoreError:
    """The refusal of a 34-digit token that does not begin with 01."""
    return refuse(
        "version", "version", client_id.layout.span("version").start, client_id.text, version=client_id.version
    )


def elapsed_error(uniq_id: UniqId) -> CoreError:
    """The refusal of an elapsed that no month holds."""
    return refuse(
        "elapsed",
        "elapsed",
        uniq_id.layout.span("elapsed").start,
        uniq_id.text,
        elapsed_ms=uniq_id.elapsed,
        longest_ms=rules.LONGEST_MONTH_MS,
    )


# The name of a layout begins with its kind.
MODELS: dict[str, type[UniqId] | type[OffsetId] | type[ClientId]] = {
    name: model for model in (UniqId, OffsetId, ClientId) for name in LAYOUTS if name.startswith(f"{model.kind}_")
}


def from_bytes(raw: bytes, layout: Layout, text: str | None = None) -> MessageId:
    """The value of any layout from its bytes."""
    return MODELS[layout.name].from_bytes(raw, layout, text)
