"""Stored records, versions 1 and 2: bytes both ways, equal to the byte. Opens no file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from idcore.base.errors import refuse
from idcore.base.layout import BLANK, BLANK_MAGIC, PROPERTIES_LENGTH, RECORD_HEADS, TOPIC_LENGTHS, Layout
from idcore.ids.model import OffsetId, host_text
from idcore.rocketmq.message import bodies, flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.javatext import to_bytes, to_text
from idcore.rocketmq.message.model import Host, MessageExt, tags_code
from idcore.rocketmq.message.properties import Dialect
from idcore.rocketmq.message.reader import Bytes, Reader

MAGIC_V1, MAGIC_V2 = TOPIC_LENGTHS
SMALLEST = RECORD_HEADS[False, False].size + TOPIC_LENGTHS[MAGIC_V1].size + PROPERTIES_LENGTH.size
_SHORT_HEAD = RECORD_HEADS[False, False]
_SYS_FLAG = _SHORT_HEAD.span("sys_flag")
_CRC_TAIL = len(names.RECORD_CRC) + 1 + names.RECORD_CRC_DIGITS + 1  # CRC32_RESERVED_LEN
_TOPIC_MOST = {MAGIC_V1: 127, MAGIC_V2: 32_767}


def head_of(sys_flag: int) -> Layout:
    """The head of a record with these flags."""
    return RECORD_HEADS[bool(sys_flag & flags.BORN_HOST_V6), bool(sys_flag & flags.STORE_HOST_V6)]


def record_size(magic: int, sys_flag: int, body: int, topic: int, properties: int) -> int:
    """MessageExtEncoder.calMsgLength: bytes of a record whose parts have these lengths."""
    fixed = head_of(sys_flag).size + TOPIC_LENGTHS[magic].size + PROPERTIES_LENGTH.size
    return fixed + max(body, 0) + topic + max(properties, 0)


def version_of(topic: str) -> int:
    """The magic a broker writes: version 2 where the topic is longer than a signed byte counts."""
    return MAGIC_V1 if len(to_bytes(topic)) <= _TOPIC_MOST[MAGIC_V1] else MAGIC_V2


@dataclass(frozen=True, slots=True)
class Record:
    """One record, its body, topic and properties as they are stored.

    What a broker holds before the record has its place (MessageExtBrokerInner) is the same with both offsets 0.
    """

    magic: int
    body_crc: int
    queue_id: int
    flag: int
    queue_offset: int
    physical_offset: int
    sys_flag: int
    born_timestamp: int
    born_host: Host
    store_timestamp: int
    store_host: Host
    reconsume_times: int
    prepared_transaction_offset: int
    body: bytes
    topic_bytes: bytes
    properties_bytes: bytes

    @classmethod
    def of(
        cls,
        topic: str,
        body: bytes,
        properties: str,
        *,
        queue_id: int,
        born_timestamp: int,
        born_host: Host,
        store_host: Host,
        store_timestamp: int = 0,
        flag: int = 0,
        sys_flag: int = 0,
        reconsume_times: int = 0,
        prepared_transaction_offset: int = 0,
    ) -> Record:
        """As a broker prepares it: CRC, version by the topic's length, IPv6 bits by the hosts."""
        sys_flag |= flags.BORN_HOST_V6 if born_host.is_v6 else 0
        sys_flag |= flags.STORE_HOST_V6 if store_host.is_v6 else 0
        return cls(
            version_of(topic),
            bodies.crc32(body),
            queue_id,
            flag,
            0,
            0,
            sys_flag,
            born_timestamp,
            born_host,
            store_timestamp,
            store_host,
            reconsume_times,
            prepared_transaction_offset,
            body,
            to_bytes(topic),
            to_bytes(properties),
        )

    def placed(self, queue_offset: int, physical_offset: int, store_timestamp: int) -> Record:
        """The same at its place; a prepared and a rolled-back one have queue offset 0."""
        if not flags.in_queue(self.sys_flag):
            queue_offset = 0
        return replace(
            self, queue_offset=queue_offset, physical_offset=physical_offset, store_timestamp=store_timestamp
        )

    def as_light(self, topic: str, queue_offset: int) -> Record:
        """The same in the queue of a light topic, which has one queue and no records of its own."""
        return replace(self, topic_bytes=to_bytes(topic), queue_id=0, queue_offset=queue_offset)

    @property
    def size(self) -> int:
        """The field total_size."""
        return record_size(self.magic, self.sys_flag, len(self.body), len(self.topic_bytes), len(self.properties_bytes))

    @property
    def topic(self) -> str:
        return to_text(self.topic_bytes)

    @property
    def properties_text(self) -> str:
        """The properties as one text, separators and all."""
        return to_text(self.properties_bytes)

    @property
    def properties(self) -> dict[str, str]:
        """The properties as current clients read them: of two with one name the last wins."""
        return names.decode(self.properties_text)

    @property
    def properties_raw(self) -> list[tuple[str, str | None]]:
        """Every piece of the properties, in order, also what Java drops."""
        return names.pieces(self.properties_text)

    @property
    def tags_code(self) -> int:
        """The Java hash of the tag, 0 for none."""
        return tags_code(self.properties.get(names.TAGS))

    @property
    def body_crc_ok(self) -> bool:
        """Whether the stored body is the one whose CRC was written."""
        return bodies.crc32(self.body) == self.body_crc

    @property
    def record_crc_ok(self) -> bool | None:
        """Whether the record is the one whose CRC its last property holds; None without such a property."""
        tail = self.properties_bytes[-_CRC_TAIL:]
        if len(tail) < _CRC_TAIL or not tail.startswith(f"{names.RECORD_CRC}{names.NAME_VALUE}".encode()):
            return None
        digits = tail[-1 - names.RECORD_CRC_DIGITS : -1]
        return digits.isdigit() and int(digits[::-1]) == bodies.crc32(bytes(self)[:-_CRC_TAIL])

    @property
    def offset_id(self) -> OffsetId:
        """The id that the broker gave this copy."""
        return OffsetId.of(self.store_host.ip, self.store_host.port, self.physical_offset)

    @property
    def uniq_id(self) -> str | None:
        """The id that its producer gave the message, shared by all copies."""
        return self.properties.get(names.UNIQ_KEY)

    @property
    def in_batch(self) -> bool:
        """Whether UNIQ_KEY is there twice: a 5.x broker appends the batch's own id to each item's properties."""
        return sum(name == names.UNIQ_KEY for name, _ in self.properties_raw) > 1

    @property
    def half_written(self) -> bool:
        """Whether its end reads as zeros: a broker that died before it wrote the last bytes leaves that."""
        return self.properties_bytes.endswith(b"\0")

    def plain_body(self, most: int = bodies.LARGEST_BODY) -> bytes:
        """The body as the application sent it."""
        return bodies.unpack(self.body, self.sys_flag, most)

    def message(self, dialect: Dialect = "current", most: int = bodies.LARGEST_BODY) -> MessageExt:
        """What a client makes of it (MessageDecoder.clientDecode): unpacked, and the bit that said so cleared."""
        body = self.plain_body(most) if self.body else None
        sys_flag = self.sys_flag & ~flags.COMPRESSED if self.body else self.sys_flag
        return MessageExt(
            self.topic,
            body,
            self.flag,
            names.decode(self.properties_text, dialect),
            None,
            None,
            self.queue_id,
            self.size,
            self.queue_offset,
            sys_flag,
            self.born_timestamp,
            self.born_host,
            self.store_timestamp,
            self.store_host,
            self.physical_offset,
            self.body_crc,
            self.reconsume_times,
            self.prepared_transaction_offset,
        )

    def __bytes__(self) -> bytes:
        head, topic_length = head_of(self.sys_flag), TOPIC_LENGTHS[self.magic]
        for host, name in ((self.born_host, "born_ip"), (self.store_host, "store_ip")):
            if len(host.ip) != head.field(name).size:
                wanted = head.field(name).size
                raise refuse("host_mix", name, head.span(name).start, size=len(host.ip), wanted=wanted)
        if len(self.topic_bytes) > _TOPIC_MOST[self.magic]:
            most = _TOPIC_MOST[self.magic]
            raise refuse("topic_long", "topic_length", None, size=len(self.topic_bytes), most=most)
        if len(self.properties_bytes) > 32_767:
            raise refuse("properties_long", "properties_length", None, size=len(self.properties_bytes), most=32_767)
        values = (
            self.size,
            self.magic,
            self.body_crc,
            self.queue_id,
            self.flag,
            self.queue_offset,
            self.physical_offset,
            self.sys_flag,
            self.born_timestamp,
            self.born_host.ip,
            self.born_host.port,
            self.store_timestamp,
            self.store_host.ip,
            self.store_host.port,
            self.reconsume_times,
            self.prepared_transaction_offset,
            len(self.body),
        )
        _check_ranges(head, values)
        return b"".join(
            (
                head.struct.pack(*values),
                self.body,
                topic_length.struct.pack(len(self.topic_bytes)),
                self.topic_bytes,
                PROPERTIES_LENGTH.struct.pack(len(self.properties_bytes)),
                self.properties_bytes,
            )
        )


def _check_ranges(layout: Layout, values: tuple[Any, ...]) -> None:
    for item, span, value in zip(layout.fields, layout.spans, values, strict=True):
        if item.raw == "bytes":
            continue
        bits = 8 * item.size
        low, high = (-(1 << bits - 1), 1 << bits - 1) if item.raw == "signed" else (0, 1 << bits)
        if not low <= value < high:
            raise refuse("field_range", item.name, span.start, name=item.name, value=value, bits=bits)


def decode_record(raw: Bytes, start: int = 0) -> Record:
    """The record that begins at `start`, strictly; an error's `byte` counts from the first byte of `raw`."""
    reader = Reader(raw, start)
    size, magic = reader.fixed(BLANK)
    if magic == BLANK_MAGIC:
        raise refuse("blank", "magic", start + 4, size=size)
    if magic not in TOPIC_LENGTHS:
        raise refuse("magic", "magic", start + 4, magic=f"{magic:08X}")
    if size < SMALLEST:
        raise refuse("total_size", "total_size", start, size=size, least=SMALLEST)
    reader.at, reader.stop = start, start + size
    if start + _SYS_FLAG.stop > len(raw):
        reader.fixed(_SHORT_HEAD)  # names the field the bytes end in
    sys_flag = int.from_bytes(raw[start + _SYS_FLAG.start : start + _SYS_FLAG.stop], "big", signed=True)
    head = head_of(sys_flag)
    (
        _,
        _,
        body_crc,
        queue_id,
        flag,
        queue_offset,
        physical_offset,
        _,
        born_timestamp,
        born_ip,
        born_port,
        store_timestamp,
        store_ip,
        store_port,
        reconsume_times,
        prepared,
        body_length,
    ) = reader.fixed(head)
    for name, port in (("born_port", born_port), ("store_port", store_port)):
        if not 0 <= port <= 65_535:
            raise refuse("record_port", name, start + head.span(name).start, name=name, value=port)
    body = reader.counted("body", "body_length", body_length, start + head.span("body_length").start)
    topic = _after_its_length(reader, "topic", TOPIC_LENGTHS[magic])
    properties = _after_its_length(reader, "properties", PROPERTIES_LENGTH)
    if reader.at != start + size:
        raise refuse("sum", "total_size", start, size=size, parts=reader.at - start)
    return Record(
        magic,
        body_crc,
        queue_id,
        flag,
        queue_offset,
        physical_offset,
        sys_flag,
        born_timestamp,
        Host(born_ip, born_port),
        store_timestamp,
        Host(store_ip, store_port),
        reconsume_times,
        prepared,
        body,
        topic,
        properties,
    )


def _after_its_length(reader: Reader, name: str, length: Layout) -> bytes:
    at = reader.at
    (size,) = reader.fixed(length)
    return reader.counted(name, f"{name}_length", size, at)


def decode_records(raw: Bytes) -> Iterator[Record]:
    """Every record of a buffer, as pull and query answers carry them (MessageDecoder.decodes)."""
    at = 0
    while at < len(raw):
        record = decode_record(raw, at)
        yield record
        at += record.size


def blank_record(size: int) -> bytes:
    """The first bytes of the padding at the end of a file; the rest may be anything."""
    if size < BLANK.size:
        raise refuse("total_size", "total_size", 0, size=size, least=BLANK.size)
    return BLANK.struct.pack(size, BLANK_MAGIC)


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of a record, for a ruler: its name, its bytes, and what it holds."""

    name: str
    start: int
    stop: int


def parts(record: Record) -> list[Part]:
    """Where every field of a record is, in order, without a gap."""
    parts = [Part(span.name, span.start, span.stop) for span in head_of(record.sys_flag).spans]
    at = parts[-1].stop
    for name, size in (
        ("body", len(record.body)),
        ("topic_length", TOPIC_LENGTHS[record.magic].size),
        ("topic", len(record.topic_bytes)),
        ("properties_length", PROPERTIES_LENGTH.size),
        ("properties", len(record.properties_bytes)),
    ):
        parts.append(Part(name, at, at + size))
        at += size
    return parts


def value_of(part: Part, record: Record) -> str | None:
    """What a stretch says: a number, or an address. None for the body, the topic and the properties."""
    lengths = {
        "total_size": record.size,
        "magic": f"{record.magic:08X}",
        "body_length": len(record.body),
        "topic_length": len(record.topic_bytes),
        "properties_length": len(record.properties_bytes),
        "born_ip": host_text(record.born_host.ip),
        "born_port": record.born_host.port,
        "store_ip": host_text(record.store_host.ip),
        "store_port": record.store_host.port,
    }
    if part.name in ("body", "topic", "properties"):
        return None
    return str(lengths[part.name] if part.name in lengths else getattr(record, part.name))
