"""Words, digits and ids in machine words against plain Python."""

from __future__ import annotations

import random
from itertools import pairwise

import numba
import numpy as np
import pytest

from idcore.base.layout import LAYOUTS
from idcore.ids.model import ClientId, OffsetId, UniqId, from_bytes
from idcore.kernels import codes
from idcore.kernels import keys as kernel
from idcore.scan import column_texts
from idcore.scan.occurrences.key_words import words_of

pytestmark = pytest.mark.quick

U = np.uint64


@numba.njit
def _read(one, other, size):  # type: ignore[no-untyped-def]
    p, q = U(one.ctypes.data), U(other.ctypes.data)
    return (
        kernel.be_32(p),
        kernel.be_64(p),
        kernel.signed_32(p),
        kernel.byte_mask_64(p, U(2)),
        kernel.alike(p, q, size),
        kernel.is_plain(p, size),
        kernel.mixed(p, size, 3),
        kernel.mixed(q, size, 3),
    )


@numba.njit
def _write(source, target, size):  # type: ignore[no-untyped-def]
    p, q = U(source.ctypes.data), U(target.ctypes.data)
    kernel.copy(p, q, size)
    return kernel.put_hex(p, q + U(64), 4 * size) - q


@numba.njit
def _decimal(number):  # type: ignore[no-untyped-def]
    return kernel.digits_of_8(U(number))


@pytest.mark.parametrize("seed", range(3))
def test_words_and_bytes_equal_their_twins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(2_000):
        one = rng.integers(0, 4 if seed else 256, 160, np.uint8)
        other = one.copy()
        other[rng.integers(0, 40)] ^= rng.integers(0, 2, dtype=np.uint8)
        size = int(rng.integers(0, 40))
        raw = one.tobytes()
        big, long, signed, mask, alike, _, hashed, again = _read(one, other, size)
        assert (big, long) == (int.from_bytes(raw[:4], "big"), int.from_bytes(raw[:8], "big", signed=True))
        assert signed == int.from_bytes(raw[:4], "big", signed=True)
        assert int(mask) == sum(1 << place for place in range(64) if raw[place] == 2)
        assert alike == (raw[:size] == other.tobytes()[:size])
        assert not alike or hashed == again
        target = np.zeros(400, np.uint8)
        assert _write(one, target, size) == 64 + 8 * size
        text = target.tobytes()
        assert text[: min(size, 32)] == raw[: min(size, 32)]
        assert text[64 : 64 + 8 * size] == raw[: 4 * size].hex().upper().encode()


def test_plain_words_are_letters_and_digits() -> None:
    for byte in range(256):
        for size in range(1, 18):
            text = np.full(100, 65, np.uint8)
            text[size:] = 0
            text[size - 1] = byte
            assert _read(text, text, size)[5] == (chr(byte).isalnum() and byte < 128)
            assert _read(text, text, size - 1)[5]


def test_decimal_digits() -> None:
    rng = random.Random(1)
    powers = [10**power + step for power in range(9) for step in (-1, 0, 1)]
    for number in [n for n in powers if 0 <= n < 10**8] + [rng.randrange(10**8) for _ in range(5_000)]:
        assert int(_decimal(number)).to_bytes(8, "little") == b"%08d" % number


def _any_id(rng: random.Random) -> tuple[str, tuple[int, ...]]:
    """The digits of an id of any layout, and its words as the scalar codec has them."""
    name, layout = rng.choice(list(LAYOUTS.items()))
    raw = bytearray(rng.randbytes(layout.size))
    for field, span in zip(layout.fields, layout.spans, strict=True):
        if field.always is not None:
            raw[span.start : span.stop] = field.always.to_bytes(field.size, layout.byteorder)
    text = raw.hex().upper()
    one = from_bytes(bytes(raw), layout)
    if isinstance(one, UniqId):
        key, value = one.pid << 32 | one.loader, one.elapsed << 16 | one.counter
    elif isinstance(one, OffsetId):
        key, value = one.port, one.physical_offset % (1 << 64)
    else:
        key, value = one.pid, one.seconds << 32 | one.sequence
    address = int.from_bytes(one.mac if isinstance(one, ClientId) else one.ip, "big")
    return text, (address >> 64, address % (1 << 64), codes.CODES[name] << 56 | key, value)


def test_digits_of_ids_of_every_kind() -> None:
    rng = random.Random(5)
    made = [_any_id(rng) for _ in range(3_000)]
    wanted = [text for text, _ in made]
    assert [words for text, words in made if words not in [*words_of(text)]] == []
    keys, values = [words[:3] for _, words in made], [words[3] for _, words in made]
    found = column_texts.digits(np.array(keys, U), np.array(values, U))
    found.validate(full=True)
    assert found.to_pylist() == wanted
    assert column_texts.digits(np.zeros((0, 3), U), np.zeros(0, U)).to_pylist() == []
    cuts = np.array([0, *sorted(rng.sample(range(1, 3_000), 700)), 3_000])
    joined = column_texts.digits(np.array(keys, U), np.array(values, U), cuts)
    joined.validate(full=True)
    assert joined.to_pylist() == [",".join(wanted[start:stop]) for start, stop in pairwise(cuts)]
