"""An id's digits as the words of its key and its value, under each layout of its length. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterator

from idcore.ids.model import UniqId, unhex
from idcore.layout import LAYOUTS, UNIQ_V4_LE

_CODES = {name: number for number, name in enumerate(LAYOUTS, 1)}
_CODE_SHIFT, _LETTERS = 56, 3 << 16  # of the third word: layout; of a 5.x msgId, in which case its letters are
Words = tuple[int, int, int, int]  # the three words of a key, and the value


def words_of(text: str) -> Iterator[Words]:
    """Every reading; CoreError for what has other characters than hex digits."""
    raw = unhex(text)
    if len(raw) == 17:
        yield 0, _number(raw[1:7]), _CODES["client_v1"] << _CODE_SHIFT | _number(raw[7:9]), _number(raw[9:])
    elif len(raw) in (16, 28):
        size, version = (4, "v4") if len(raw) == 16 else (16, "v6")
        first, second = (0, _number(raw[:4])) if size == 4 else (_number(raw[:8]), _number(raw[8:16]))
        rest = raw[size:]
        yield first, second, _CODES[f"offset_{version}"] << _CODE_SHIFT | _number(rest[:4]), _number(rest[4:])
        yield first, second, _CODES[f"uniq_{version}"] << _CODE_SHIFT | _number(rest[:6]), _number(rest[6:])
        if size == 4:
            made = UniqId.from_bytes(raw, UNIQ_V4_LE)
            third = _CODES[UNIQ_V4_LE.name] << _CODE_SHIFT | made.pid << 32 | made.loader
            yield 0, _number(made.ip), third, made.elapsed << 16 | made.counter


def without_letters(third: int) -> int:
    """The third word of a 5.x msgId without what its letters are; of others as it is."""
    return third & ~_LETTERS if third >> _CODE_SHIFT == _CODES["client_v1"] else third


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, "big")
