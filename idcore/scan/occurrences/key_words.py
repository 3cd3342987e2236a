"""An id's digits as the words of its key and its value, under each layout of its length. Judges nothing."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from idcore.base.layout import LAYOUTS
from idcore.ids.model import unhex
from idcore.kernels import codes

_CODE_SHIFT = int(codes.CODE_SHIFT)
_LETTERS = 3 << 16  # of the third word of a 5.x msgId: the case of its letters
Words = tuple[int, int, int, int]  # the three words of a key, and the value


def words_of(text: str) -> Iterator[Words]:
    """Every interpretation; CoreError for what has other characters than hex digits."""
    raw = unhex(text)
    for name, layout in LAYOUTS.items():
        if layout.size == len(raw) and layout.holds(raw):
            words = bytearray(codes.WORDS_SIZE)
            for byte, place in zip(raw, codes.places_of(layout), strict=True):
                if place < codes.WORDS_SIZE:
                    words[place] = byte
            words[codes.CODE_PLACE] = codes.CODES[name]
            yield struct.unpack(">4Q", words)


def without_letters(third: int) -> int:
    """The third word of a 5.x msgId without what its letters are; of others as it is."""
    return third & ~_LETTERS if int(codes.CLIENTS) >> (third >> _CODE_SHIFT) & 1 else third
