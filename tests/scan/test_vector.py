"""The vector steps against their plain twins, over random bytes and every byte value."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from idcore.kernels import vector

HEX = b"0123456789abcdefABCDEF"


def plain_hex_mask(text: bytes) -> int:
    """Twin of hex_mask_64."""
    return sum(1 << place for place, byte in enumerate(text) if byte in HEX)


def plain_newline_mask(text: bytes) -> int:
    """Twin of newline_mask_64."""
    return sum(1 << place for place, byte in enumerate(text) if byte == 10)


def plain_letter_case(text: bytes) -> int:
    """Twin of letter_case_32, for hex digits."""
    return any(65 <= byte <= 70 for byte in text) | any(97 <= byte <= 102 for byte in text) << 1


def plain_unhex(text: bytes) -> tuple[int, int]:
    """Twin of unhex_32."""
    return int(text[:16], 16), int(text[16:], 16)


@numba.njit
def _run(text, at):  # type: ignore[no-untyped-def]
    p = np.uint64(text.ctypes.data + at)
    return (
        vector.hex_mask_64(p),
        vector.newline_mask_64(p),
        vector.letter_case_32(p),
        vector.unhex_32(p),
    )


@pytest.mark.parametrize("seed", range(4))
def test_masks_equal_their_twins_on_random_bytes(seed: int) -> None:
    text = np.random.default_rng(seed).integers(0, 256, 600, np.uint8)
    text[100:300] = np.frombuffer(bytes(range(200)), np.uint8)
    for at in range(512):
        digits, feeds, _, _ = _run(text, at)
        part = text[at : at + 64].tobytes()
        assert digits == plain_hex_mask(part)
        assert feeds == plain_newline_mask(part)


@pytest.mark.parametrize(
    "alphabet", [b"0123456789", b"0123456789abcdef", b"0123456789ABCDEF", b"0123456789abcdefABCDEF"]
)
def test_digits_equal_their_twins(alphabet: bytes) -> None:
    digits = np.random.default_rng(7).choice(np.frombuffer(alphabet, np.uint8), 600)
    for at in range(512):
        _, _, letters, words = _run(digits, at)
        part = digits[at : at + 32].tobytes()
        assert letters == plain_letter_case(part)
        assert tuple(int(word) for word in words) == plain_unhex(part)


def test_zeros_are_counted_from_both_ends() -> None:
    @numba.njit
    def zeros(word):  # type: ignore[no-untyped-def]
        return vector.trailing_zeros(word), vector.leading_zeros(word)

    for place in range(64):
        assert zeros(np.uint64(1 << place)) == (place, 63 - place)
