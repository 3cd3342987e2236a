"""Stored records: literal bytes, every cut named, every bit flip answered, and equal bytes back."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcore.base.errors import CoreError
from idcore.base.layout import RECORD_HEADS, TOPIC_LENGTHS
from idcore.rocketmq.message import Host, Record, blank_record, decode_record, decode_records, parts
from idcore.rocketmq.message.record import MAGIC_V1, MAGIC_V2, record_size
from tests.message.refusing import outcome

pytestmark = pytest.mark.quick

HEAD = {
    "total_size": (0, 4),
    "magic": (4, 8),
    "body_crc": (8, 12),
    "queue_id": (12, 16),
    "flag": (16, 20),
    "queue_offset": (20, 28),
    "physical_offset": (28, 36),
    "sys_flag": (36, 40),
    "born_timestamp": (40, 48),
}
V4, V6 = Host(bytes([127, 0, 0, 1]), 47444), Host(bytes(range(0x20, 0x30)), 10911)


def a_record(born: Host = V4, store: Host = V4, topic: str = "VectorTopic", body: bytes = b"plain message") -> Record:
    return Record.of(
        topic,
        body,
        "TAGS\x01t\x02UNIQ_KEY\x01AC110001473C7D4991AD336AEA5703E0\x02",
        queue_id=3,
        born_timestamp=1795225813263,
        born_host=born,
        store_host=store,
        flag=-5,
    ).placed(7, 1 << 33, 1795225813316)


ALL = [
    a_record(born, store, topic)
    for born in (V4, V6)
    for store in (V4, V6)
    for topic in ("VectorTopic", "%RETRY%" + "n" * 140)
]


@pytest.mark.parametrize("key", list(RECORD_HEADS))
def test_heads_by_hand_from_calMsgLength(key: tuple[bool, bool]) -> None:
    head = RECORD_HEADS[key]
    for name, (start, stop) in HEAD.items():
        assert head.span(name) == (name, start, stop)
    born, store = (20 if v6 else 8 for v6 in key)
    assert head.span("born_port").stop == 48 + born
    assert head.span("store_timestamp").start == 48 + born
    assert head.span("store_port").stop == 56 + born + store
    assert head.size == 72 + born + store == head.dtype.itemsize
    assert record_size(MAGIC_V1, 16 * key[0] + 32 * key[1], 10, 5, 7) == head.size + 10 + 1 + 5 + 2 + 7
    assert record_size(MAGIC_V2, 16 * key[0] + 32 * key[1], -1, 5, -1) == head.size + 2 + 5 + 2


def test_bytes_by_hand() -> None:
    record = Record.of(
        "T",
        b"hi",
        "A\x01b\x02",
        queue_id=1,
        born_timestamp=2,
        born_host=Host(b"\x0a\0\0\x01", 3),
        store_host=Host(b"\x0a\0\0\x02", 4),
        flag=5,
    ).placed(6, 7, 8)
    assert bytes(record).hex(" ") == (
        "00 00 00 62 da a3 20 a7 58 93 2a ac 00 00 00 01 00 00 00 05 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00 07"
        " 00 00 00 00 00 00 00 00 00 00 00 02 0a 00 00 01 00 00 00 03 00 00 00 00 00 00 00 08 0a 00 00 02 00 00 00 04"
        " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 68 69 01 54 00 04 41 01 62 02"
    )
    assert decode_record(bytes(record)) == record
    assert str(record.offset_id) == "0A000002000000040000000000000007"
    assert record.body_crc == 0x58932AAC  # zlib.crc32(b"hi") is d8932aac
    assert record.body_crc_ok


@pytest.mark.parametrize("record", ALL, ids=lambda record: f"{record.sys_flag}-{len(record.topic)}")
def test_encode_and_decode_are_one_the_other_turned_round(record: Record) -> None:
    raw = bytes(record)
    assert len(raw) == record.size
    assert decode_record(raw) == record
    assert decode_record(b"junk" + raw + b"more", 4) == record
    assert pickle.loads(pickle.dumps(record)) == record
    assert record.magic == (MAGIC_V1 if len(record.topic) < 128 else MAGIC_V2)
    found = parts(record)
    assert found[0].start == 0
    assert found[-1].stop == len(raw)
    assert all(left.stop == right.start for left, right in pairwise(found))
    by_name = {part.name: raw[part.start : part.stop] for part in found}
    assert by_name["topic"].decode() == record.topic
    assert by_name["body"] == record.body
    assert len(by_name["topic_length"]) == TOPIC_LENGTHS[record.magic].size


@pytest.mark.parametrize("record", ALL, ids=lambda record: f"{record.sys_flag}-{len(record.topic)}")
def test_one_byte_short_names_the_missing_field(record: Record) -> None:
    raw = bytes(record)
    for size in range(len(raw)):
        with pytest.raises(CoreError) as caught:
            decode_record(raw[:size])
        problem = caught.value
        assert problem.code == "cut"
        assert problem.byte == size
        # below 40 bytes nothing has said yet whether the hosts are IPv6, but no host begins there
        name = next(part.name for part in parts(record) if part.start <= size < part.stop)
        assert problem.field == name
        assert name in problem.problem
        assert pickle.loads(pickle.dumps(problem)) == problem


def set_at(raw: bytes, start: int, size: int, value: int) -> bytes:
    return raw[:start] + value.to_bytes(size, "big", signed=value < 0) + raw[start + size :]


def test_every_wrong_length_has_its_answer() -> None:
    record = a_record()
    raw = bytes(record)
    where = {part.name: part for part in parts(record)}
    cases = [
        ("total_size", 90, "total_size", "total_size", 0),
        ("total_size", -1, "total_size", "total_size", 0),
        ("total_size", len(raw) + 1, "cut", None, None),
        ("total_size", len(raw) - 1, "beyond", "properties_length", where["properties_length"].start),
        ("magic", 0xCBD43194, "blank", "magic", 4),
        ("magic", 0xDAA320A8, "magic", "magic", 4),
        ("body_length", -1, "negative", "body_length", where["body_length"].start),
        ("body_length", 10_000, "beyond", "body_length", where["body_length"].start),
        ("topic_length", -1, "negative", "topic_length", where["topic_length"].start),
        ("topic_length", 127, "beyond", "topic_length", where["topic_length"].start),
        ("properties_length", -2, "negative", "properties_length", where["properties_length"].start),
        ("properties_length", 32_767, "beyond", "properties_length", where["properties_length"].start),
        ("properties_length", 1, "sum", "total_size", 0),
        ("born_port", 65_536, "record_port", "born_port", 52),
        ("store_port", -1, "record_port", "store_port", 68),
    ]
    for name, value, code, field, byte in cases:
        part = where[name]
        damaged = set_at(raw, part.start, part.stop - part.start, value)
        if name == "total_size" and value > len(raw):
            # more bytes follow than the fields fill
            with pytest.raises(CoreError) as caught:
                decode_record(damaged + b"\0" * 9)
            assert (caught.value.code, caught.value.field, caught.value.byte) == ("sum", "total_size", 0)
            continue
        with pytest.raises(CoreError) as caught:
            decode_record(damaged)
        assert (caught.value.code, caught.value.field, caught.value.byte) == (code, field, byte), name


def test_an_error_counts_from_the_first_byte_of_the_buffer() -> None:
    raw = bytes(a_record())
    with pytest.raises(CoreError) as caught:
        list(decode_records(raw + raw[:50]))
    assert (caught.value.code, caught.value.field, caught.value.byte) == ("cut", "born_ip", len(raw) + 50)


def test_several_records_in_one_buffer() -> None:
    assert list(decode_records(b"".join(map(bytes, ALL)))) == ALL
    assert list(decode_records(b"")) == []


def test_a_bit_flip_is_seen_or_changes_exactly_what_it_hit() -> None:
    record = a_record()
    raw = bytes(record)
    seen_by_crc = refused = 0
    for bit in range(8 * len(raw)):
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 0x80 >> bit % 8
        found = outcome(decode_record, bytes(damaged))
        if isinstance(found, CoreError):
            assert found.field
            refused += 1
            continue
        assert bytes(found) == bytes(damaged)
        changed = [item.name for item in fields(Record) if getattr(found, item.name) != getattr(record, item.name)]
        assert changed
        seen_by_crc += not found.body_crc_ok
    assert seen_by_crc >= 8 * len(record.body) + 32
    assert refused >= 8 * 8


@given(raw=st.binary(max_size=300), good=st.booleans())
def test_random_bytes_are_one_clear_error(raw: bytes, good: bool) -> None:
    if good:  # so that the later fields are reached, too
        raw = bytes(a_record())[:40] + raw
    found = outcome(decode_record, raw)
    if isinstance(found, CoreError):
        assert found.code
        assert found.byte is not None
        assert 0 <= found.byte <= len(raw)
        assert str(found)
    else:
        assert bytes(found) == raw[: found.size]


def test_what_does_not_fit_is_refused_when_it_is_written() -> None:
    record = a_record()
    cases = [
        (replace(record, queue_id=1 << 31), "field_range", "queue_id"),
        (replace(record, queue_offset=1 << 63), "field_range", "queue_offset"),
        (replace(record, properties_bytes=b"x" * 32_768), "properties_long", "properties_length"),
        (replace(record, topic_bytes=b"x" * 128), "topic_long", "topic_length"),
        (replace(record, magic=MAGIC_V2, topic_bytes=b"x" * 32_768), "topic_long", "topic_length"),
        (replace(record, born_host=V6), "host_mix", "born_ip"),
        (replace(record, sys_flag=32), "host_mix", "store_ip"),
    ]
    for wrong, code, field in cases:
        with pytest.raises(CoreError) as caught:
            bytes(wrong)
        assert (caught.value.code, caught.value.field) == (code, field)
    assert len(bytes(replace(record, magic=MAGIC_V2, topic_bytes=b"x" * 128))) == record.size + 1 + 128 - 11


@pytest.mark.parametrize(("sys_flag", "queue_offset"), [(0, 9), (4, 0), (8, 9), (12, 0)])
def test_prepared_and_rolled_back_records_get_no_place_in_the_queue(sys_flag: int, queue_offset: int) -> None:
    made = Record.of("T", b"x", "", queue_id=0, born_timestamp=0, born_host=V4, store_host=V4, sys_flag=sys_flag)
    assert made.placed(9, 100, 5).queue_offset == queue_offset


# Stored by a real 5.5.0 broker with enabledAppendPropCRC.
WITH_CRC = bytes.fromhex(
    "00000109daa320a7565c355200000001000000000000000000000000000000000000038400000000000001a1ee565e007f0000010000c80000"
    "0001a1fec97f6f7f00000100005acc000000000000000000000000000000086e756d6265722031094f7264657250616964009d4d53475f5245"
    "47494f4e0144656661756c74526567696f6e02554e49515f4b455901304130303030303130303031313842344141433230303030303030303030"
    "303102434c55535445520144656661756c74436c757374657202544147530170616964024b455953016f726465722d3102574149540174727565"
    "0254524143455f4f4e0174727565025f5f435243333223013739373532333930383002"
)


def test_a_record_with_a_crc_of_its_own_shows_every_bit_that_changed() -> None:
    whole = decode_record(WITH_CRC)
    assert whole.record_crc_ok is True and bytes(whole) == WITH_CRC
    assert replace(whole, queue_offset=901).record_crc_ok is False
    assert replace(whole, topic_bytes=b"OrderPaie").record_crc_ok is False
    assert replace(whole, properties_bytes=whole.properties_bytes[:-2] + b"x\x02").record_crc_ok is False
    assert replace(whole, properties_bytes=whole.properties_bytes[:-20]).record_crc_ok is None


def test_a_blank_record_is_eight_bytes_and_filler() -> None:
    assert blank_record(307).hex() == "00000133cbd43194"
    with pytest.raises(CoreError) as caught:
        blank_record(7)
    assert caught.value.field == "total_size"


def test_a_batch_of_a_5x_broker_has_two_keys_and_the_last_wins() -> None:
    text = "UNIQ_KEY\x01ONE\x02WAIT\x01true\x02UNIQ_KEY\x01TWO\x02WAIT\x01true\x02"
    record = Record.of("T", b"x", text, queue_id=0, born_timestamp=0, born_host=V4, store_host=V4)
    assert record.uniq_id == "TWO"
    assert record.in_batch
    assert record.properties_raw == [("UNIQ_KEY", "ONE"), ("WAIT", "true"), ("UNIQ_KEY", "TWO"), ("WAIT", "true")]
    assert not a_record().in_batch
