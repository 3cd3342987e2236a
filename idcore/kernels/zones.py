"""Whether a zone may be named beside a moment: `CST`, `Asia/Tokyo`, `+8:00`, `北京时间`. Python reads its name.

Each that `idcore.ids.zone_names` reads is one that may be here; the names themselves are there. Takes addresses.
"""

from __future__ import annotations

import numpy as np

from idcore.kernels import inlined, inner, kernel

from . import signs
from .signs import is_digit, is_letter, is_word
from .vector import load_8

U = np.uint64
TIME_LETTER, AREA_LETTER = (int.from_bytes(letter.encode(), "big") for letter in "间区")
AREAS = tuple(b"AEPIU")  # how the areas of IANA begin
ENDS = tuple(int.from_bytes(end, "big") for end in (b"SK", b"IB", b"TA", b"TC"))  # of those whose last letter is no T
TC, MT, ME = (int.from_bytes(end, "big") for end in (b"TC", b"MT", b"me"))
WIDE_SIGN = 0xEF  # the first byte of a bracket of full width
UPPER_U = b"U"[0]
OPEN, CLOSE_ROUND, CLOSE_SQUARE, NBSP_0 = b"()]\xc2"
LONGEST = U(48)
UPPER = 32  # the bit that capital letters lack


@inlined
def is_capital(byte):
    return is_letter(byte) and byte & UPPER == 0


@inner
def has_sign(p, last, letter):
    """Whether a letter of three bytes is between two places."""
    while p + U(3) <= last:
        if np.int64(load_8(p)) << 16 | np.int64(load_8(p + U(1))) << 8 | np.int64(load_8(p + U(2))) == letter:
            return True
        p += U(1)
    return False


@inner
def may_be_place(p, last):
    """Whether `Asia/` is at p, or words of which one is `time`."""
    for area in AREAS:
        if load_8(p) == area:
            at = p + U(1)
            while at < last and is_letter(load_8(at)):
                at += U(1)
            if at < last and load_8(at) == signs.SLASH:
                return True
    at = p
    while at + U(5) <= last and (is_letter(load_8(at)) or load_8(at) == signs.SPACE):
        is_time = load_8(at) == signs.SPACE and load_8(at + U(1)) | 32 == signs.LOWER_T
        if is_time and load_8(at + U(2)) == signs.LOWER_I and load_8(at + U(3)) == signs.LOWER_M:
            return True
        at += U(1)
    return False


@inner
def may_be_zone(p, end):
    """Whether the name of a zone may be at p, behind a moment; bounded."""
    last = min(end, p + LONGEST)
    is_open = p < end and (load_8(p) == OPEN or load_8(p) == signs.BRACKET)
    if is_open:
        p += U(1)
    if p + U(2) >= last:
        return False
    byte, second = load_8(p), load_8(p + U(1))
    if byte >= signs.NOT_ASCII:
        return has_sign(p, last, TIME_LETTER) or has_sign(p, last, AREA_LETTER) or (not is_open and byte == WIDE_SIGN)
    if byte == signs.PLUS or byte == signs.HYPHEN:
        return is_digit(second) and (is_open or load_8(p + U(2)) == signs.COLON)
    if not is_capital(byte):
        return False
    if not is_capital(second):
        return is_letter(second) and may_be_place(p, last)
    size = U(2)
    while size < U(6) and p + size < last and is_capital(load_8(p + size)):
        size += U(1)
    if size == U(2):
        return byte == UPPER_U and load_8(p + size) == signs.SLASH
    if size > U(4) or (p + size < last and is_word(load_8(p + size)) and load_8(p + size) != signs.UNDERSCORE):
        return False
    if p + size < end and load_8(p + size) >= signs.NOT_ASCII:
        return True
    at = p + size - U(1)
    if load_8(at) == signs.UPPER_T:
        return True
    two = np.int64(load_8(at - U(1))) << 8 | np.int64(load_8(at))
    for name in ENDS:
        if two == name:
            return True
    return False


@inner
def may_name_zone(p, end):
    """Whether the name of a zone may be behind a moment that ends at p."""
    if p < end and load_8(p) == signs.SPACE:
        p += U(1)
    elif p + U(1) < end and load_8(p) == NBSP_0:
        p += U(2)
    return may_be_zone(p, end)


@kernel
def may_have_zone_in_front(p, begin):
    """Whether the name of a zone may be in front of a moment at p: `北京时间：`, `UTC `, `Tokyo time: `."""
    at = p - U(1)
    while at > begin and not is_word(load_8(at)) and at + U(8) > p:
        if load_8(at) >= signs.NOT_ASCII and at > begin + U(1):
            three = np.int64(load_8(at - U(2))) << 16 | np.int64(load_8(at - U(1))) << 8 | np.int64(load_8(at))
            if three == TIME_LETTER or three == AREA_LETTER:
                return True
        at -= U(1)
    if at < begin + U(2) or not is_letter(load_8(at)):
        return False
    two = np.int64(load_8(at - U(1))) << 8 | np.int64(load_8(at))
    if two == TC or two == MT:
        return True
    if at < begin + U(5) or two != ME or load_8(at - U(3)) | 32 != signs.LOWER_T:
        return False
    at -= U(4)
    if load_8(at) != signs.SPACE:
        return False
    at -= U(1)
    while at > begin and is_letter(load_8(at)) and load_8(at) & UPPER:
        at -= U(1)
    return is_capital(load_8(at))
