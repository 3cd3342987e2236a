"""The byte maps: one table of fields per id format, read as struct, numpy dtype and spans. Judges no value."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as derived
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy

Raw = Literal["unsigned", "signed", "bytes"]
ByteOrder = Literal["big", "little"]

_STRUCT_CODES = {
    ("unsigned", 1): "B",
    ("unsigned", 2): "H",
    ("unsigned", 4): "I",
    ("unsigned", 8): "Q",
    ("signed", 4): "i",
    ("signed", 8): "q",
}


class Span(NamedTuple):
    """Where a field stands: bytes `start` up to, not including, `stop`."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a format: its name everywhere, its size in bytes, what it means, and how its bytes are read."""

    name: str
    size: int
    meaning: str
    raw: Raw = "unsigned"


@dataclass(frozen=True, slots=True)
class Layout:
    """One format: fields in the order of their bytes. `little` turns each field's bytes round, not their order."""

    name: str
    fields: tuple[Field, ...]
    byteorder: ByteOrder = "big"
    size: int = derived(init=False, compare=False, repr=False)
    digits: int = derived(init=False, compare=False, repr=False)
    spans: tuple[Span, ...] = derived(init=False, compare=False, repr=False)
    struct: Struct = derived(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        spans = []
        start = 0
        for item in self.fields:
            spans.append(Span(item.name, start, start + item.size))
            start += item.size
        codes = "".join(f"{f.size}s" if f.raw == "bytes" else _STRUCT_CODES[f.raw, f.size] for f in self.fields)
        object.__setattr__(self, "size", start)
        object.__setattr__(self, "digits", 2 * start)
        object.__setattr__(self, "spans", tuple(spans))
        object.__setattr__(self, "struct", Struct((">" if self.byteorder == "big" else "<") + codes))

    def __reduce__(self) -> tuple[Any, ...]:
        return Layout, (self.name, self.fields, self.byteorder)

    def __str__(self) -> str:
        return self.name

    def span(self, name: str) -> Span:
        """The place of one field; KeyError names the layout and the field it has not."""
        for item in self.spans:
            if item.name == name:
                return item
        raise KeyError(f"{self.name} has no field {name}")

    def field(self, name: str) -> Field:
        """One field by its name."""
        for item in self.fields:
            if item.name == name:
                return item
        raise KeyError(f"{self.name} has no field {name}")

    @property
    def dtype(self) -> numpy.dtype:
        """The same fields as a numpy dtype. Addresses are rows of bytes: numpy's "S4" would drop trailing zeros."""
        return _dtype(self)


@lru_cache(maxsize=32)
def _dtype(layout: Layout) -> numpy.dtype:
    import numpy

    order = ">" if layout.byteorder == "big" else "<"
    parts: list[tuple[Any, ...]] = []
    for item in layout.fields:
        if item.raw == "bytes":
            parts.append((item.name, "u1", (item.size,)))
        else:
            parts.append((item.name, f"{order}{'i' if item.raw == 'signed' else 'u'}{item.size}"))
    return numpy.dtype(parts)


def _uniq(name: str, ip: int, byteorder: ByteOrder = "big") -> Layout:
    since = "the first of the month" if byteorder == "big" else "the last day of the month before"
    return Layout(
        name,
        (
            Field("ip", ip, "address of the producing client", "bytes"),
            Field("pid", 2, "lower 16 bits of its process id"),
            Field("loader", 4, "hash of the class loader that loaded the generator"),
            Field("elapsed", 4, f"milliseconds since {since}, 00:00, in the producer's own zone"),
            Field("counter", 2, "sequence of the whole process, wraps at 65,536"),
        ),
        byteorder,
    )


def _offset(name: str, ip: int) -> Layout:
    return Layout(
        name,
        (
            Field("ip", ip, "address of the broker that stored the message", "bytes"),
            Field("port", 4, "port of that broker, 1 to 65,535"),
            Field("offset", 8, "physical offset of the record in the broker's commit log", "signed"),
        ),
    )


UNIQ_V4 = _uniq("uniq_v4", 4)
UNIQ_V6 = _uniq("uniq_v6", 16)
CLIENT_V1 = Layout(
    "client_v1",
    (
        Field("version", 1, "version of the format, always 01"),
        Field("mac", 6, "hardware address of the producing client", "bytes"),
        Field("pid", 2, "lower 16 bits of its process id"),
        Field("seconds", 4, "seconds since 2021-01-01T00:00:00Z"),
        Field("sequence", 4, "sequence of the whole process"),
    ),
)
OFFSET_V4 = _offset("offset_v4", 4)
OFFSET_V6 = _offset("offset_v6", 16)
UNIQ_V4_LE = _uniq("uniq_v4_le", 4, "little")

# The order is a contract: a layout's code in kernels and fact tables is its place here plus one.
LAYOUTS: dict[str, Layout] = {
    layout.name: layout for layout in (UNIQ_V4, UNIQ_V6, CLIENT_V1, OFFSET_V4, OFFSET_V6, UNIQ_V4_LE)
}


def layout_code(name: str) -> int:
    """The small number a layout has in kernels and fact tables."""
    return list(LAYOUTS).index(name) + 1
