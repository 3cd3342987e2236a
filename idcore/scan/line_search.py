"""Lines of a text that have one of some words, and the name of a place. Reads no meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


def place_of(file: str, line: int | None) -> str:
    """A place as findings and tables write it; `line` is None where it is not known."""
    return file if line is None else f"{file}:{line}"


class FoundLine(NamedTuple):
    """Where a line begins and ends in its text, without its line break, and how many line breaks are before it."""

    start: int
    end: int
    number: int


def lines_with(text: bytes, words: Sequence[bytes]) -> Iterator[FoundLine]:
    """Each line with one of the words, once and in order; a text without them costs a look for each word.

    >>> [line.number for line in lines_with(b"a\\nb x\\nc\\ny x", (b"x", b"y"))]
    [1, 3]
    """
    following = {word: text.find(word) for word in words}
    number = counted = 0
    while places := [at for at in following.values() if at >= 0]:
        at = min(places)
        start = text.rfind(b"\n", 0, at) + 1
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        number += text.count(b"\n", counted, start)
        counted = start
        yield FoundLine(start, end, number)
        for word, place in following.items():
            if 0 <= place < end:
                following[word] = text.find(word, end)
