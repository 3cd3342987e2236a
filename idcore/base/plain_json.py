"""JSON that anybody may have written or changed: read with bounds, or not at all. Looks at no field."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from idcore.base.lazy_pattern import lazy_pattern

MOST_BYTES = 64 << 20  # of one file: a plan names each file of its input
MOST_TEXT = 1 << 16  # characters of one value; a path has at most 4,096 bytes
DEEPEST = 12  # levels: to keep or to copy what is deeper needs a stack
MOST_NUMBER = 1 << 63
MOST_VALUES = 2_500_000  # of one file or answer: Python needs up to 150 bytes for each, so up to 360 MiB

_STRING = lazy_pattern(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)  # whole, or cut off by the end


def most_values(text: str | bytes) -> int:
    """How many values may begin in some JSON, or part others: an empty list has 2 bytes there, and 56 in memory."""
    if isinstance(text, str):
        return sum(map(text.count, "[{,:"))
    return sum(map(text.count, (b"[", b"{", b",", b":")))


def has_more(raw: bytes, most: int) -> bool:
    """Whether some JSON may have more values than that. Commas inside of texts are none; no value is made to know."""
    if raw.count(b'"') - raw.count(b'\\"') > 4 * most:  # a key and a value have two each
        return True
    return most_values(raw) > most and most_values(_STRING.sub(b"", raw)) > most


def read(path: Path) -> dict[str, Any] | None:
    """The object of a file; None of one that is missing, not regular, too large, or not plain."""
    try:
        # To open a pipe would wait for ever (O_NONBLOCK does not).
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return loads(file.read(MOST_BYTES + 1)) if regular else None
    except OSError:
        return None


def loads(raw: bytes) -> dict[str, Any] | None:
    """The object of some bytes; None where they are none, or hold a value that is not plain."""
    try:
        held = json.loads(raw) if len(raw) <= MOST_BYTES and most_values(raw) <= MOST_VALUES else None
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) and is_plain(held) else None


def is_plain(value: Any, levels: int = DEEPEST) -> bool:
    """Whether a value can be kept, counted with and shown: not too deep, too long, infinite, or half a letter."""
    if isinstance(value, str):
        return len(value) <= MOST_TEXT and (value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value))
    if isinstance(value, dict):
        return levels > 0 and all(is_plain(name) and is_plain(each, levels - 1) for name, each in value.items())
    if isinstance(value, list):
        return levels > 0 and all(is_plain(each, levels - 1) for each in value)
    return not isinstance(value, int | float) or -MOST_NUMBER < value < MOST_NUMBER  # what is no number is in no range
