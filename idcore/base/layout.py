"""The byte maps: one table of fields per format, read as struct, numpy dtype and spans. Judges no value."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as derived
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from idcore.base.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    import numpy

Raw = Literal["unsigned", "signed", "bytes"]
ByteOrder = Literal["big", "little"]

_STRUCT_CODES = {
    ("unsigned", 1): "B",
    ("unsigned", 2): "H",
    ("unsigned", 4): "I",
    ("unsigned", 8): "Q",
    ("signed", 1): "b",
    ("signed", 2): "h",
    ("signed", 4): "i",
    ("signed", 8): "q",
}


class Span(NamedTuple):
    """Where a field is: bytes `start` up to, not including, `stop`."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a format: its name everywhere, its size in bytes, what it means, and how its bytes are read.

    `always` is the one value that it has, where it has only one: the version of a format.
    """

    name: str
    size: int
    meaning: str
    raw: Raw = "unsigned"
    always: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """One format: fields in the order of their bytes. `little` turns each field's bytes round, not their order.

    Of an id: what it is, a real one, and whether its month begins `early`, on the last day of the month before.
    """

    name: str
    fields: tuple[Field, ...]
    byteorder: ByteOrder = "big"
    title: str = ""
    example: str = ""
    early: bool = False
    size: int = derived(init=False, compare=False, repr=False)
    digits: int = derived(init=False, compare=False, repr=False)
    spans: tuple[Span, ...] = derived(init=False, compare=False, repr=False)
    struct: Struct = derived(init=False, compare=False, repr=False)
    names: tuple[str, ...] = derived(init=False, compare=False, repr=False)

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
        object.__setattr__(self, "names", tuple(item.name for item in self.fields))
        object.__setattr__(self, "struct", Struct((">" if self.byteorder == "big" else "<") + codes))

    def __reduce__(self) -> tuple[Any, ...]:
        return Layout, (self.name, self.fields, self.byteorder, self.title, self.example, self.early)

    def __hash__(self) -> int:
        return hash(self.name)  # of all its fields it would be reckoned anew for each ID

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        """What an id is: uniq, offset or client."""
        return self.name.partition("_")[0]

    @property
    def has_ipv6(self) -> bool:
        """Whether its address has 16 bytes."""
        return any(item.name == "ip" and item.size == 16 for item in self.fields)

    def holds(self, raw: bytes) -> bool:
        """Whether each field that has only one value has it in these bytes."""
        order = self.byteorder
        return all(
            item.always is None or int.from_bytes(raw[span.start : span.stop], order) == item.always
            for item, span in zip(self.fields, self.spans, strict=True)
        )

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

    def digits_of(self, name: str) -> slice:
        """Where the digits of one field are in the text of an ID."""
        span = self.span(name)
        return slice(2 * span.start, 2 * span.stop)

    def digits_from(self, name: str) -> int:
        """How many digits of an ID a field has together with all fields behind it."""
        return self.digits - 2 * self.span(name).start

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


def _uniq(name: str, ip: int, title: str, example: str, byteorder: ByteOrder = "big", *, early: bool = False) -> Layout:
    since = "the last day of the month before" if early else "the first of the month"
    fields = (
        Field("ip", ip, "address of the producing client", "bytes"),
        Field("pid", 2, "lower 16 bits of its process ID"),
        Field("loader", 4, "hash of the class loader that loaded the generator"),
        Field("elapsed", 4, f"milliseconds since {since}, 00:00, in the producer's own zone"),
        Field("counter", 2, "sequence of the whole process, wraps at 65,536"),
    )
    return Layout(name, fields, byteorder, title, example, early)


def _offset(name: str, ip: int, title: str, example: str) -> Layout:
    fields = (
        Field("ip", ip, "address of the broker that stored the message", "bytes"),
        Field("port", 4, "port of that broker, 1 to 65,535"),
        Field("offset", 8, "physical offset of the record in the broker's commit log", "signed"),
    )
    return Layout(name, fields, "big", title, example)


UNIQ_V4 = _uniq(
    "uniq_v4",
    4,
    "msgId, generated by the producing client: `msgId`, `UNIQ_KEY`, `transactionId` (MessageClientIDSetter)",
    "AC110001473C7D4991AD336AEA5703E0",
)
UNIQ_V6 = _uniq(
    "uniq_v6", 16, "the same on a host with IPv6", "FE8000000000000038ABE5FFFED4CBD2001518B4AAC219B9B5640000"
)
CLIENT_V1 = Layout(
    "client_v1",
    (
        Field("version", 1, "version of the format, always 01", always=1),
        Field("mac", 6, "MAC address of the producing client", "bytes"),
        Field("pid", 2, "lower 16 bits of its process ID"),
        Field("seconds", 4, "seconds since 2021-01-01T00:00:00Z"),
        Field("sequence", 4, "sequence of the whole process"),
    ),
    title="5.x msgId, generated by the 5.x gRPC clients (MessageIdCodec)",
    example="01EA2C235B8585B70D08C1575B00000015",
)
OFFSET_V4 = _offset(
    "offset_v4",
    4,
    "offsetMsgId, generated by the broker as it stores the message: `offsetMsgId`, and `msgId` in a printed "
    "MessageExt (MessageDecoder)",
    "AC11000100002A9F00000000000E8580",
)
OFFSET_V6 = _offset(
    "offset_v6",
    16,
    "the same of a broker with an IPv6 address",
    "20010DB800000000000000000000001700002A9F0000010000000007",
)
UNIQ_V4_LE = _uniq(
    "uniq_v4_le",
    4,
    "msgId of the C++ client 1.2.0 to 1.2.3 and the Node.js and Python wrappers on it: the bytes of each field are "
    "reversed",
    "0101007F0000A61200003CF1C4030100",
    "little",
    early=True,
)

# The order is a contract: a layout's code in kernels and fact tables is its place here plus one. Of two with the same
# kind and digits, the first is meant where nothing says which.
LAYOUTS: dict[str, Layout] = {
    layout.name: layout for layout in (UNIQ_V4, UNIQ_V6, CLIENT_V1, OFFSET_V4, OFFSET_V6, UNIQ_V4_LE)
}
# A process has one of these where nothing names another.
USUAL_OF_PROCESSES = (UNIQ_V4.name, UNIQ_V6.name)
ID_DIGITS: tuple[int, ...] = tuple(sorted({layout.digits for layout in LAYOUTS.values()}))
# The last digits of every msgId (elapsed and counter; counter), and of every offsetMsgId.
VALUE_DIGITS, COUNTER_DIGITS = (UNIQ_V4.digits_from(name) for name in ("elapsed", "counter"))
OFFSET_DIGITS = OFFSET_V4.digits_from("offset")
# The first digits of every 5.x msgId: its version.
CLIENT_START = f"{CLIENT_V1.field('version').always:02X}"


def _record(born: int, store: int) -> Layout:
    return Layout(
        f"record_born_v{'4' if born == 4 else '6'}_store_v{'4' if store == 4 else '6'}",
        (
            Field("total_size", 4, "bytes of the whole record, these four included", "signed"),
            Field("magic", 4, "DAA320A7 (version 1), DAA320AB (version 2) or CBD43194 (blank)"),
            Field("body_crc", 4, "CRC-32 of the stored body, without its highest bit", "signed"),
            Field("queue_id", 4, "queue of the topic", "signed"),
            Field("flag", 4, "the application's own flag", "signed"),
            Field("queue_offset", 8, "place in the queue", "signed"),
            Field("physical_offset", 8, "place in the commit log, of this record's first byte", "signed"),
            Field("sys_flag", 4, "compressed, transaction, IPv6 hosts, inner batch, way of compression", "signed"),
            Field("born_timestamp", 8, "the producer's clock, in ms since 1970", "signed"),
            Field("born_ip", born, "address of the producer, as the broker saw it", "bytes"),
            Field("born_port", 4, "port of that connection", "signed"),
            Field("store_timestamp", 8, "the broker's clock, in ms since 1970", "signed"),
            Field("store_ip", store, "address of the broker", "bytes"),
            Field("store_port", 4, "port of the broker", "signed"),
            Field("reconsume_times", 4, "how often a consumer sent the message back", "signed"),
            Field("prepared_transaction_offset", 8, "place of the half record, of a committed one", "signed"),
            Field("body_length", 4, "bytes of the body that follows", "signed"),
        ),
    )


# A record of the commit log: a head whose size depends on its hosts, then body, topic and properties, each behind its
# own length. Asked for by (born host is IPv6, store host is IPv6).
RECORD_HEADS: dict[tuple[bool, bool], Layout] = {
    (born, store): _record(16 if born else 4, 16 if store else 4) for born in (False, True) for store in (False, True)
}
BLANK = Layout(
    "blank",
    (
        Field("total_size", 4, "bytes up to the end of the file, these four included", "signed"),
        Field("magic", 4, "CBD43194"),
    ),
)
# By the record's magic: the second version has room for %RETRY% topics of long group names.
TOPIC_LENGTHS: dict[int, Layout] = {
    0xDAA320A7: Layout("topic_v1", (Field("topic_length", 1, "bytes of the topic", "signed"),)),
    0xDAA320AB: Layout("topic_v2", (Field("topic_length", 2, "bytes of the topic", "signed"),)),
}
BLANK_MAGIC = 0xCBD43194
# What is in front of each record of a DLedger log (DLedgerEntryCoder): the record's own offset is that of its body.
DLEDGER_ENTRY = Layout(
    "dledger_entry",
    (
        Field("magic", 4, "1; -1 at the padding of a file's end", "signed"),
        Field("size", 4, "bytes of the entry, its head included; of the padding", "signed"),
        Field("index", 8, "number of the entry", "signed"),
        Field("term", 8, "term of the leader that wrote it", "signed"),
        Field("pos", 8, "place of the entry in the log", "signed"),
        Field("channel", 4, "not used", "signed"),
        Field("chain_crc", 4, "not used", "signed"),
        Field("body_crc", 4, "CRC of the body", "signed"),
        Field("body_size", 4, "bytes of the body", "signed"),
    ),
)
DLEDGER_MAGIC, DLEDGER_BLANK = 1, -1
OFFSET_NAME = lazy_pattern("[0-9]{20}")  # of a file of a commit log or a queue: the offset of its first byte
MOST_OFFSET = (1 << 63) - 1  # a physical offset is a signed number of 64 bits
PROPERTIES_LENGTH = Layout("properties", (Field("properties_length", 2, "bytes of the properties", "signed"),))
WIRE_HEAD = Layout(
    "wire",
    (
        Field("total_size", 4, "bytes of the whole message, these four included", "signed"),
        Field("magic", 4, "0 on the wire"),
        Field("body_crc", 4, "0 on the wire", "signed"),
        Field("flag", 4, "the application's own flag", "signed"),
        Field("body_length", 4, "bytes of the body that follows", "signed"),
    ),
)

QUEUE_UNIT = Layout(
    "queue_unit",
    (
        Field("physical_offset", 8, "place of the record in the commit log", "signed"),
        Field("size", 4, "bytes of the record", "signed"),
        Field("tags_code", 8, "Java hash of the tag; in SCHEDULE_TOPIC_XXXX the instant it is due", "signed"),
    ),
)
INDEX_HEADER = Layout(
    "index_header",
    (
        Field("begin_timestamp", 8, "store time of the first entry", "signed"),
        Field("end_timestamp", 8, "store time of the last entry", "signed"),
        Field("begin_physical_offset", 8, "record of the first entry", "signed"),
        Field("end_physical_offset", 8, "record of the last entry", "signed"),
        Field("hash_slot_count", 4, "slots in use", "signed"),
        Field("index_count", 4, "place of the next entry; places count from 1", "signed"),
    ),
)
INDEX_SLOT = Layout("index_slot", (Field("newest", 4, "place of the slot's newest entry, 0 for none", "signed"),))
INDEX_ENTRY = Layout(
    "index_entry",
    (
        Field("key_hash", 4, "absolute value of the Java hash of topic#key", "signed"),
        Field("physical_offset", 8, "place of the record in the commit log", "signed"),
        Field("seconds", 4, "store time, in seconds since the file's begin_timestamp", "signed"),
        Field("previous", 4, "place of the slot's entry before this one, 0 for none", "signed"),
    ),
)
CHECKPOINT = Layout(
    "checkpoint",
    (
        Field("physical_timestamp", 8, "store time up to which the commit log is flushed", "signed"),
        Field("queue_timestamp", 8, "store time up to which the consume queues are flushed", "signed"),
        Field("index_timestamp", 8, "store time up to which full index files are flushed", "signed"),
        Field("master_flushed_offset", 8, "what the master had flushed (5.x)", "signed"),
        Field("confirm_physical_offset", 8, "what is confirmed by the replicas (5.x)", "signed"),
        Field("queue_physical_offset", 8, "up to where the consume queues are flushed (5.5)", "signed"),
    ),
)
