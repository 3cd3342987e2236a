"""An id's digits as the words of its key and its value, under each layout of its length. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterator

from idcore.base.layout import LAYOUTS
from idcore.ids.model import ClientId, OffsetId, UniqId, from_bytes, unhex
from idcore.kernels import codes

_CODE_SHIFT, _LETTERS = (
    int(codes.CODE_SHIFT),
    3 << 16,
)  # of the third word: layout; of a 5.x msgId, the case of its letters
_WORD = (1 << 64) - 1
Words = tuple[int, int, int, int]  # the three words of a key, and the value


def words_of(text: str) -> Iterator[Words]:
    """Every interpretation; CoreError for what has other characters than hex digits."""
    raw = unhex(text)
    for layout in LAYOUTS.values():
        if layout.size == len(raw) and layout.holds(raw):
            message_id = from_bytes(raw, layout)
            if isinstance(message_id, UniqId):
                key, value = message_id.pid << 32 | message_id.loader, message_id.elapsed << 16 | message_id.counter
            elif isinstance(message_id, OffsetId):
                key, value = message_id.port, message_id.physical_offset
            else:
                key, value = message_id.pid, message_id.seconds << 32 | message_id.sequence
            address = int.from_bytes(message_id.mac if isinstance(message_id, ClientId) else message_id.ip, "big")
            yield address >> 64, address & _WORD, codes.CODES[layout.name] << _CODE_SHIFT | key, value & _WORD


def without_letters(third: int) -> int:
    """The third word of a 5.x msgId without what its letters are; of others as it is."""
    return third & ~_LETTERS if int(codes.CLIENTS) >> (third >> _CODE_SHIFT) & 1 else third
