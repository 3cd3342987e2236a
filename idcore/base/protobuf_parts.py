"""How many values a protobuf message has, before it is parsed: an empty one has two bytes, and takes 48 of memory."""

from __future__ import annotations

from typing import Any

_NUMBER, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # wire types
_FIXED = {_EIGHT: 8, _FOUR: 4}
_LONGEST = 10  # bytes of a number
_TEXTS = (9, 12)  # types of fields: `string` and `bytes`


def has_more(message: bytes, kind: Any, most: int) -> bool:
    """Whether a message has more values than that, with those of messages in it.

    `kind`: its descriptor. What is malformed counts up to there: its parser refuses it.
    """
    if len(message) <= most:  # each value has a byte at least
        return False
    left, waiting = most, [(kind, 0, len(message))]
    while waiting:
        kind, at, end = waiting.pop()
        while at < end:
            left -= 1
            if left < 0:
                return True
            tag, at = _number(message, at, end)
            wire = tag & 7
            if wire == _NUMBER:
                _, at = _number(message, at, end)
            elif wire == _BYTES:
                size, at = _number(message, at, end)
                field = kind.fields_by_number.get(tag >> 3)
                if field is not None and field.message_type is not None:
                    waiting.append((field.message_type, at, min(at + size, end)))
                elif field is not None and field.type not in _TEXTS:  # packed numbers
                    left -= min(size, end - at)
                at += size
            else:
                at += _FIXED.get(wire, 0)  # of a group what is in it is counted as if it were beside it
    return left < 0


def _number(message: bytes, at: int, end: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends; of one that is malformed, the end of all."""
    value = 0
    for place, byte in enumerate(message[at : min(at + _LONGEST, end)]):
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    return value, end
