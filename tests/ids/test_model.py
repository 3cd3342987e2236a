"""The values: digits and bytes both ways, strict refusals that name field and byte, text for people."""

from __future__ import annotations

import ipaddress
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcore.base.errors import CoreError
from idcore.base.layout import CLIENT_V1, LAYOUTS, OFFSET_V4, OFFSET_V6, UNIQ_V4, UNIQ_V4_LE, UNIQ_V6
from idcore.ids import ClientId, OffsetId, UniqId, from_bytes

pytestmark = pytest.mark.quick

LAYOUT = st.sampled_from(list(LAYOUTS.values()))


@st.composite
def raw_and_layout(draw: st.DrawFn) -> tuple[bytes, str]:
    layout = draw(LAYOUT)
    raw = draw(st.binary(min_size=layout.size, max_size=layout.size))
    if draw(st.booleans()):  # addresses ending in .0 are where numpy's own strings fail
        stop = layout.spans[0].stop
        raw = raw[: stop - 1] + b"\0" + raw[stop:]
    return raw, layout.name


@given(raw_and_layout())
def test_bytes_give_the_same_bytes_back(case: tuple[bytes, str]) -> None:
    raw, name = case
    made = from_bytes(raw, LAYOUTS[name])
    assert bytes(made) == raw
    assert str(made) == raw.hex().upper()
    assert pickle.loads(pickle.dumps(made)) == made


@given(raw_and_layout())
def test_the_scalar_reading_is_the_dtype_reading(case: tuple[bytes, str]) -> None:
    raw, name = case
    made = from_bytes(raw, LAYOUTS[name])
    row = np.frombuffer(raw, LAYOUTS[name].dtype)[0]
    for field in LAYOUTS[name].fields:
        own = getattr(made, "physical_offset" if field.name == "offset" else field.name)
        if isinstance(own, bytes):
            stored = bytes(row[field.name])
            assert own == (stored[::-1] if name == "uniq_v4_le" else stored)
        else:
            assert own == int(row[field.name])


@given(
    st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)),
    st.integers(0, 65535),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2_678_400_000),
    st.integers(0, 65535),
)
def test_values_to_digits_to_values(
    host: ipaddress.IPv4Address | ipaddress.IPv6Address, pid: int, loader: int, elapsed: int, counter: int
) -> None:
    made = UniqId.of(str(host), pid, loader, elapsed, counter)
    again = UniqId.from_hex(str(made))
    assert again == made
    assert (again.pid, again.loader, again.elapsed, again.counter) == (pid, loader, elapsed, counter)
    assert again.ip == host.packed


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)), st.integers(0, 65535), st.integers(-(2**63), 2**63 - 1))
def test_an_offset_id_from_its_values(
    host: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int, offset: int
) -> None:
    made = OffsetId.of(str(host), port, offset)
    assert OffsetId.from_hex(str(made)) == made
    assert (made.ip, made.port, made.physical_offset) == (host.packed, port, offset)


def test_letter_case_is_kept_and_does_not_matter_for_equality() -> None:
    text = "0A0266DB4E24000000003da94f100001"
    made = UniqId.from_hex(text)
    assert str(made) == text
    assert made == UniqId.from_hex(text.upper())
    assert hash(made) == hash(UniqId.from_hex(text.upper()))


def test_a_little_endian_id_is_turned_round() -> None:
    # README of apache/rocketmq-client-python, librocketmq 1.2.x
    made = UniqId.from_hex("0101007F0000A61200003CF1C4030100", UNIQ_V4_LE)
    assert (made.host, made.pid, made.loader, made.elapsed, made.counter) == ("127.0.1.1", 0, 0x12A6, 63_238_460, 1)
    assert bytes(made).hex().upper() == str(made)
    assert UniqId.of("127.0.1.1", 0, 0x12A6, 63_238_460, 1, UNIQ_V4_LE) == made


def test_a_client_id() -> None:
    made = ClientId.from_hex("01EA2C235B8585B70D08C1575B00000015")
    assert (made.version, made.mac_text, made.pid) == (1, "ea:2c:23:5b:85:85", 46_861)
    assert (made.seconds, made.sequence) == (146_888_539, 21)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("20010DB800000000000000000000001700002A9F0000000000000001", "2001:db8::17"),
        ("0000000000000000000000000000000100002A9F0000000000000001", "::1"),
        ("20010DB800000001000100010001000100002A9F0000000000000001", "2001:db8:0:1:1:1:1:1"),
        ("00000000000000000000FFFFC0A8000100002A9F0000000000000001", "::ffff:192.168.0.1"),
    ],
)
def test_sixteen_bytes_are_written_as_rfc_5952_says(text: str, host: str) -> None:
    made = OffsetId.from_hex(text)
    assert made.host == host
    assert made.address == f"[{host}]:10911"


@pytest.mark.parametrize(
    ("offset", "size", "segment", "position"),
    [
        (0, 1 << 30, "00000000000000000000", 0),
        ((1 << 30) - 1, 1 << 30, "00000000000000000000", (1 << 30) - 1),
        (1 << 30, 1 << 30, "00000000001073741824", 0),
        (7_747_396_318_469, 1 << 30, "00000007747047260160", 349_058_309),
        (1_048_577, 1_048_576, "00000000000001048576", 1),
        (2**63 - 1, 1 << 30, "09223372035781033984", (1 << 30) - 1),
    ],
)
def test_the_file_of_an_offset(offset: int, size: int, segment: str, position: int) -> None:
    made = OffsetId.of("10.0.0.1", 10911, offset)
    assert (made.segment(size), made.position(size)) == (segment, position)


def problem(text: str, kind: type[UniqId] | type[OffsetId] | type[ClientId]) -> CoreError:
    with pytest.raises(CoreError) as caught:
        kind.from_hex(text)
    return caught.value


@pytest.mark.parametrize(
    ("kind", "text", "code", "field", "byte"),
    [
        (OffsetId, "", "empty", None, None),
        (OffsetId, "7F0000010000555D0000000000000", "odd", None, 14),
        (OffsetId, "7F0000010000555D000000000000ZZ00", "digit", None, 14),
        (OffsetId, "7F0000010000555D00000000000000", "length", None, 15),
        (OffsetId, "7F0000010000555D000000000000000000", "length", None, 16),
        (OffsetId, "7F0000010001555D0000000000000000", "port", "port", 4),
        (OffsetId, "20010DB800000000000000000000001700010000" + "0" * 16, "port", "port", 16),
        (UniqId, "AC110001473C7D4991ADC33AEA5703E0", "elapsed", "elapsed", 10),
        (UniqId, "20010DB800000000000000000000001700012437C6DCC30000000001", "elapsed", "elapsed", 22),
        (ClientId, "02EA2C235B8585B70D08C1575B00000015", "version", "version", 0),
        (ClientId, "7F0000010000555D0000000000000000", "length", None, 16),
    ],
)
def test_a_refusal_names_problem_field_and_byte(
    kind: type[UniqId] | type[OffsetId] | type[ClientId], text: str, code: str, field: str | None, byte: int | None
) -> None:
    error = problem(text, kind)
    assert (error.code, error.field, error.byte) == (code, field, byte)
    assert error.problem
    assert error.text == text
    assert str(error).startswith(error.problem)
    assert "\n" not in str(error)


def test_an_error_survives_pickling() -> None:
    error = problem("7F0000010001555D0000000000000000", OffsetId)
    again = pickle.loads(pickle.dumps(error))
    assert again == error
    assert (again.problem, again.field, again.byte, again.text) == (error.problem, "port", 4, error.text)
    assert again.as_dict() == {"problem": "port 87389 is outside 1 to 65,535", "field": "port", "byte": 4}
    assert str(again) == str(error)


@pytest.mark.parametrize("elapsed", [2_678_400_000, 2_678_401_000, 2**32 - 1, 2**32 - 86_400_000])
def test_an_elapsed_that_a_month_or_a_clock_set_back_explains_is_kept(elapsed: int) -> None:
    assert UniqId.from_hex(str(UniqId.of("10.0.0.1", 1, 1, elapsed, 0))).elapsed == elapsed


@pytest.mark.parametrize("elapsed", [2_678_401_001, 2**32 - 86_400_001])
def test_an_elapsed_that_nothing_explains_is_refused(elapsed: int) -> None:
    assert problem(str(UniqId.of("10.0.0.1", 1, 1, elapsed, 0)), UniqId).code == "elapsed"


def test_values_that_do_not_fit_are_refused() -> None:
    for pid, loader, elapsed, counter, field in [
        (65536, 0, 0, 0, "pid"),
        (0, 2**32, 0, 0, "loader"),
        (0, 0, -1, 0, "elapsed"),
        (0, 0, 0, 65536, "counter"),
    ]:
        with pytest.raises(CoreError) as caught:
            UniqId.of("10.0.0.1", pid, loader, elapsed, counter)
        assert (caught.value.code, caught.value.field) == ("value", field)
    with pytest.raises(CoreError) as caught:
        OffsetId.of("nowhere", 1, 0)
    assert (caught.value.code, caught.value.field) == ("address", "ip")
    with pytest.raises(CoreError) as caught:
        UniqId.of("::1", 1, 1, 1, 1, UNIQ_V4)
    assert caught.value.code == "address"


def test_bytes_of_the_wrong_size_are_refused() -> None:
    for layout in (UNIQ_V4, UNIQ_V6, OFFSET_V4, OFFSET_V6, CLIENT_V1):
        with pytest.raises(CoreError) as caught:
            from_bytes(b"\0" * (layout.size - 1), layout)
        assert (caught.value.code, caught.value.byte) == ("size", layout.size - 1)


def test_signed_elapsed_is_negative_only_where_no_month_holds_it() -> None:
    assert UniqId.of("10.0.0.1", 1, 1, 2_200_000_000, 0).signed_elapsed == 2_200_000_000
    assert UniqId.of("10.0.0.1", 1, 1, 2**32 - 500, 0).signed_elapsed == -500
