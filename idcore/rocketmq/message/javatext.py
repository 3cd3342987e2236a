"""What Java does with text: hash codes, UTF-8, splitting, the order of a HashMap. Depends on no message."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

_INT = 1 << 32
_BROKEN = "java_replace"


def _one_for_a_surrogate(problem: UnicodeError) -> tuple[str, int]:
    """Java takes the bytes of a surrogate (ED A0 80 to ED BF BF) for one broken character, Python each for its own."""
    assert isinstance(problem, UnicodeDecodeError)
    raw, at = problem.object, problem.start
    if raw[at] == 0xED and at + 1 < len(raw) and 0xA0 <= raw[at + 1] < 0xC0:
        return "\ufffd", at + (3 if at + 2 < len(raw) and 0x80 <= raw[at + 2] < 0xC0 else 2)
    return "\ufffd", problem.end


codecs.register_error(_BROKEN, _one_for_a_surrogate)


def hash_code(text: str) -> int:
    """String.hashCode: over UTF-16 units, in 32 bits, signed."""
    total = 0
    if text.isascii():
        for unit in text.encode("ascii"):
            total = (31 * total + unit) & 0xFFFFFFFF
    else:
        raw = text.encode("utf-16-be", "surrogatepass")
        for at in range(0, len(raw), 2):
            total = (31 * total + (raw[at] << 8 | raw[at + 1])) & 0xFFFFFFFF
    return total - _INT if total & 0x80000000 else total


def units(text: str) -> int:
    """String.length: how many UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-be", "surrogatepass")) // 2


def to_bytes(text: str) -> bytes:
    """String.getBytes(UTF_8): a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace")


def to_text(raw: bytes) -> str:
    """new String(bytes, UTF_8): what is not UTF-8 becomes replacement characters."""
    return raw.decode("utf-8", _BROKEN)


def split(text: str, separator: str) -> list[str]:
    """String.split with one character: empty parts at the end are dropped."""
    parts = text.split(separator)
    if len(parts) == 1:
        return parts
    while parts and not parts[-1]:
        parts.pop()
    return parts


def is_blank(text: str | None) -> bool:
    """UtilAll.isBlank: nothing but Character.isWhitespace, which leaves out the no-break spaces."""
    return text is None or all(char.isspace() and char not in "\u00a0\u2007\u202f\u0085" for char in text)


def hash_map_order(names: Iterable[str], capacity: int = 16) -> list[str]:
    """The order in which a HashMap of this first capacity hands out keys that were put in this order."""
    seen = list(dict.fromkeys(names))
    buckets = 1
    while buckets < capacity:
        buckets *= 2
    while len(seen) > buckets * 3 // 4:
        buckets *= 2

    def bucket(name: str) -> int:
        code = hash_code(name) & 0xFFFFFFFF
        return (code ^ code >> 16) & (buckets - 1)

    return sorted(seen, key=bucket)  # a bucket keeps the order of arrival, and so does sorted()
