"""Bytes of a log as text: UTF-8, else a line in GBK where all of it can be that, else with replacement characters."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from idcore.base.lazy_pattern import lazy_pattern

# How a text begins, and in what it is then.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PAIR = lazy_pattern(rb"[\x81-\xfe]([\x40-\x7e\x80-\xfe])")
_DIGITS = lazy_pattern(rb"[0-9A-Fa-f]{8,}")
_COMMON = 0xA1  # the least second byte of the letters of GB 2312, which nearly all of a text are
_LEAST = 2  # letters of a line in GBK: one alone may be of a word in Latin-1
_SHARE = 4  # of four letters of a line at most one is another: in Latin-1 the second byte is most often ASCII


def text_of_line(line: bytes) -> str:
    """A line as text. The same digits are in it as in the bytes: no letter of GBK takes one.

    >>> text_of_line("消费失败 5".encode("gbk"))
    '消费失败 5'
    """
    try:
        return line.decode()
    except UnicodeDecodeError:
        pass
    pairs = _PAIR.findall(line)
    if len(pairs) >= _LEAST and _SHARE * sum(pair[0] < _COMMON for pair in pairs) <= len(pairs):
        try:
            text = line.decode("gbk")
        except UnicodeDecodeError:
            return line.decode("utf-8", "replace")
        if _DIGITS.findall(line) == _DIGITS.findall(text.encode("ascii", "replace")):
            return text
    return line.decode("utf-8", "replace")


def text_of(raw: bytes) -> str:
    """A text of several lines, each by itself where not all of it is UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "\n".join(map(text_of_line, raw.split(b"\n")))


def texts_of(pieces: Iterable[bytes], longest: int) -> Iterator[str]:
    """A text that comes in pieces, cut anywhere; of a line longer than so many bytes nothing is held back."""
    rest = b""
    for piece in pieces:
        whole, feed, rest = (rest + piece).rpartition(b"\n")
        if feed:
            yield text_of(whole + feed)
        if len(rest) > longest:
            cut = _cut(rest)
            yield text_of_line(rest[:cut])
            rest = rest[cut:]
    yield text_of_line(rest)


def _cut(rest: bytes) -> int:
    """Where bytes can be cut so that no letter is: behind the last one of ASCII near the end, else in front of the last
    letter of UTF-8."""
    for place in range(len(rest), max(0, len(rest) - 256), -1):
        if rest[place - 1] < 0x40:  # nor the second byte of a letter of GBK
            return place
    place = len(rest) - 1
    while place > len(rest) - 4 and 0x80 <= rest[place] < 0xC0:
        place -= 1
    return max(1, place)
