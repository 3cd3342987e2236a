"""The byte maps: literal bytes in which every byte is its own address, read three ways with one answer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from idcore.base.layout import CLIENT_V1, LAYOUTS, OFFSET_V4, UNIQ_V4, UNIQ_V4_LE, UNIQ_V6, Layout

pytestmark = pytest.mark.quick

SIZES = {"uniq_v4": 16, "uniq_v6": 28, "client_v1": 17, "offset_v4": 16, "offset_v6": 28, "uniq_v4_le": 16}
ALL = list(LAYOUTS.values())
# Where each field begins and ends, by hand from MessageClientIDSetter, MessageDecoder and MessageIdCodec.
PLACES = {
    "uniq_v4": {"ip": (0, 4), "pid": (4, 6), "loader": (6, 10), "elapsed": (10, 14), "counter": (14, 16)},
    "uniq_v6": {"ip": (0, 16), "pid": (16, 18), "loader": (18, 22), "elapsed": (22, 26), "counter": (26, 28)},
    "client_v1": {"version": (0, 1), "mac": (1, 7), "pid": (7, 9), "seconds": (9, 13), "sequence": (13, 17)},
    "offset_v4": {"ip": (0, 4), "port": (4, 8), "offset": (8, 16)},
    "offset_v6": {"ip": (0, 16), "port": (16, 20), "offset": (20, 28)},
    "uniq_v4_le": {"ip": (0, 4), "pid": (4, 6), "loader": (6, 10), "elapsed": (10, 14), "counter": (14, 16)},
}


def test_the_order_is_the_contract() -> None:
    assert list(LAYOUTS) == list(SIZES)


@pytest.mark.parametrize("layout", ALL, ids=str)
def test_size_digits_and_places(layout: Layout) -> None:
    assert layout.size == SIZES[layout.name] == layout.struct.size == layout.dtype.itemsize
    assert layout.digits == 2 * layout.size
    assert {span.name: (span.start, span.stop) for span in layout.spans} == PLACES[layout.name]
    for name, (start, stop) in PLACES[layout.name].items():
        assert layout.span(name) == (name, start, stop)
        assert layout.field(name).size == stop - start
        assert layout.field(name).meaning


@pytest.mark.parametrize("layout", ALL, ids=str)
def test_struct_dtype_and_spans_read_the_same(layout: Layout) -> None:
    raw = bytes(range(0x10, 0x10 + layout.size))
    row = np.frombuffer(raw, layout.dtype)[0]
    order = "big" if layout.byteorder == "big" else "little"
    for value, span in zip(layout.struct.unpack(raw), layout.spans, strict=True):
        part = raw[span.start : span.stop]
        if isinstance(value, bytes):
            assert value == part == bytes(row[span.name])
        else:
            assert value == int.from_bytes(part, order) == int(row[span.name])  # type: ignore[arg-type]


def test_a_big_endian_and_a_little_endian_uniq_id_by_hand() -> None:
    raw = bytes.fromhex("0A0B0C0D0E0F101112131415161718191A"[:32])
    assert UNIQ_V4.struct.unpack(raw) == (b"\x0a\x0b\x0c\x0d", 0x0E0F, 0x10111213, 0x14151617, 0x1819)
    assert UNIQ_V4_LE.struct.unpack(raw) == (b"\x0a\x0b\x0c\x0d", 0x0F0E, 0x13121110, 0x17161514, 0x1918)


def test_an_offset_is_signed_as_a_java_long_is() -> None:
    raw = bytes.fromhex("7F00000100002A9FFFFFFFFFFFFFFFFF")
    assert OFFSET_V4.struct.unpack(raw) == (b"\x7f\0\0\1", 10911, -1)
    assert int(np.frombuffer(raw, OFFSET_V4.dtype)[0]["offset"]) == -1


def test_addresses_that_end_in_zero_bytes_survive_numpy() -> None:
    raw = bytes.fromhex("0A000000" + "00" * 12)
    assert bytes(np.frombuffer(raw, UNIQ_V4.dtype)[0]["ip"]) == b"\x0a\0\0\0"


@pytest.mark.parametrize("layout", ALL, ids=str)
def test_a_layout_travels_between_processes(layout: Layout) -> None:
    assert pickle.loads(pickle.dumps(layout)) == layout


def test_a_field_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError, match="client_v1 has no field elapsed"):
        CLIENT_V1.span("elapsed")
    with pytest.raises(KeyError, match="uniq_v6 has no field port"):
        UNIQ_V6.field("port")
