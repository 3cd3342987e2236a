"""Whether a time of day may have its date next to it, as `idcore.ids.line_moments` reads them. Takes addresses.

Logs that name no date (`10:31:12.123 [main] …`) are as many as others. Their lines date nothing, and are not asked of
Python.
"""

from __future__ import annotations

import numpy as np

from idcore.ids import line_moments
from idcore.kernels import inlined, inner

from . import signs
from .signs import is_digit, is_letter
from .vector import load_8

U = np.uint64
REACH = 64  # bytes between a date and its time, at the most: four tags and a few signs


def _names() -> tuple[tuple[int, int], ...]:
    """The first three letters of each name of a month in ASCII; and of which letters one is next, as bits, or 0."""
    names = dict[int, int]()
    for name in line_moments.MONTHS:
        if name.isascii():
            ends = line_moments.GO_ON.get(name)
            letters = 0 if ends is None else sum(1 << ord(end[0]) - 97 for end in ends.split("|") if end != "$")
            names[int.from_bytes(name[:3].encode(), "big")] = 0 if ends is None else letters | 1 << 26
    return tuple(names.items())


MONTHS = _names()


@inner
def digits_at(p, end):
    """How many digits are at p, up to 20."""
    size = 0
    while p < end and size < 20 and is_digit(load_8(p)):
        size += 1
        p += U(1)
    return size


@inner
def number_at(p, size):
    number = np.int64(0)
    for at in range(size):
        number = 10 * number + np.int64(load_8(p + U(at))) - signs.ZERO
    return number


@inner
def may_be_month(p, end):
    """Whether the word at p may be the name of a month."""
    if p + U(3) > end:
        return False
    three = np.int64(load_8(p)) << 16 | np.int64(load_8(p + U(1))) << 8 | np.int64(load_8(p + U(2))) | 0x202020
    if three & 0x8080 != 0:
        return True  # `fév`
    for name, letters in MONTHS:
        if three == name:
            if letters == 0 or p + U(3) >= end or not is_letter(load_8(p + U(3))):
                return True
            return letters >> np.int64((load_8(p + U(3)) | 32) - 97) & 1 != 0
    return False


@inner
def may_end_date(p, size, begin):
    """Whether so many digits at p may be the end of a date, in a text from `begin`."""
    if size == 8:
        century = 10 * (np.int64(load_8(p)) - signs.ZERO) + np.int64(load_8(p + U(1))) - signs.ZERO
        return century == 19 or century == 20 or century == 25
    if size == 6:
        return load_8(p + U(6)) == signs.SPACE
    if size == 3 or size > 4 or p == begin:
        return False
    at = p - U(1)
    is_parted = size == 4  # `Mar 11 2026`
    for _ in range(4):  # signs between the parts of a date: `Mar 11, 2026`, `11\/03`
        byte = load_8(at)
        is_sign = byte == signs.HYPHEN or byte == signs.SLASH or byte == signs.DOT
        if at == begin or not (is_sign or byte == signs.SPACE or byte == signs.COMMA or byte == signs.BACKSLASH):
            break
        is_parted |= is_sign
        at -= U(1)
    if is_digit(load_8(at)):
        return is_parted and at + U(1) != p
    if not is_letter(load_8(at)):
        return load_8(at) >= signs.NOT_ASCII
    if at + U(1) == p:
        return size == 4  # klog's `I0311`
    word = at
    while word > begin and is_letter(load_8(word - U(1))):
        word -= U(1)
    if word > begin and (is_digit(load_8(word - U(1))) or load_8(word - U(1)) >= signs.NOT_ASCII):
        return True  # `11th`, `déc`
    size = np.int64(at - word) + 1
    return may_be_month(word, p) or (size == 2 and load_8(word) | 32 == signs.LOWER_D)  # `11 de 2026`


@inner
def may_have_date_in_front(hour, begin):
    """Whether a date may be in front of the hour of a clock."""
    low = hour - U(REACH) if hour > begin + U(REACH) else begin
    at = hour
    while at > low:
        at -= U(1)
        byte = load_8(at)
        if byte >= signs.NOT_ASCII or byte == signs.PERCENT:
            return True
        if is_digit(byte):
            size = np.int64(1)
            while at > begin and is_digit(load_8(at - U(1))):
                at -= U(1)
                size += 1
            before = load_8(at - U(1)) if at > begin else signs.SPACE
            return before >= signs.NOT_ASCII or before == signs.PERCENT or may_end_date(at, size, begin)
        if is_letter(byte) and (at == low or not is_letter(load_8(at - U(1)))) and may_be_month(at, hour):
            return True
    return False


@inlined
def goes_on(byte):
    """Whether a date may go on with it behind its first digits."""
    return (
        byte == signs.HYPHEN
        or byte == signs.SLASH
        or byte == signs.DOT
        or byte == signs.BACKSLASH
        or byte == signs.PERCENT
        or byte >= signs.NOT_ASCII
    )


@inner
def may_begin_date(p, end):
    """Whether digits at p may be the begin of a date: its year or its day, or all of it."""
    size = digits_at(p, end)
    p += U(size)
    if size == 8:
        return True
    if size == 3 or size > 4 or p + U(1) >= end:
        return False
    if load_8(p) != signs.SPACE:
        return goes_on(load_8(p))
    p += U(1)
    return may_be_month(p, end) or load_8(p) | 32 == signs.LOWER_D or load_8(p) >= signs.NOT_ASCII


@inner
def may_have_date_behind(p, end):
    """Whether a date may be behind the minute of a clock that ends at p: `8:57 PM · Feb 11, 2025`."""
    if p + U(3) <= end and load_8(p) == signs.COLON and is_digit(load_8(p + U(1))) and is_digit(load_8(p + U(2))):
        p += U(3)
        if p + U(1) < end and (load_8(p) == signs.DOT or load_8(p) == signs.COMMA) and is_digit(load_8(p + U(1))):
            comma = p
            p += U(1)
            while p < end and is_digit(load_8(p)):
                p += U(1)
            if load_8(comma) == signs.COMMA and (
                p < comma + U(4) or p > comma + U(8) or (p < end and goes_on(load_8(p)))
            ):
                return True  # `8:57:47,2025-02-11`
    half = p
    if half < end and load_8(half) == signs.SPACE:
        half += U(1)
    if half < end and (load_8(half) | 32 == signs.LOWER_A or load_8(half) | 32 == signs.LOWER_P):
        half += U(1)
        while half < end and (load_8(half) == signs.DOT or load_8(half) == signs.SPACE):
            half += U(1)
        if half < end and load_8(half) | 32 == signs.LOWER_M:
            half += U(1)
            p = half + U(1) if half < end and load_8(half) == signs.DOT else half
    at = p
    for _ in range(3):
        if at < end and (load_8(at) == signs.SPACE or load_8(at) == signs.COMMA or load_8(at) == signs.BAR):
            at += U(1)
    if at >= end:
        return False
    byte = load_8(at)
    if byte >= signs.NOT_ASCII or byte == signs.PERCENT:
        return True
    if at == p:
        return False
    if is_digit(byte):
        return may_begin_date(at, end)
    if may_be_month(at, end):
        return True
    if at + U(1) >= end or not is_letter(byte):
        return False
    return is_digit(load_8(at + U(1))) or (byte | 32 == ord("o") and load_8(at + U(1)) | 32 == signs.LOWER_N)


@inner
def may_be_of_date(colon, begin, end):
    """Whether a clock whose first or second colon is there may have a date; two digits are behind it."""
    hour = colon
    while hour > begin and is_digit(load_8(hour - U(1))):
        hour -= U(1)
    if hour > begin and load_8(hour - U(1)) == signs.PERCENT:
        return True  # `%2010:31`
    if hour + U(2) < colon:
        return False  # no hour
    if may_have_date_in_front(hour, begin):
        return True
    before = load_8(hour - U(1)) if hour > begin else signs.SPACE
    if before == signs.COLON or before == signs.DOT or before == signs.COMMA:
        return False
    return may_have_date_behind(colon + U(3), end)
