"""Where one text has several logs: people paste one below the other, with a blank line between. Reads no dates."""

from __future__ import annotations

from bisect import bisect_right

from idcore.base.lazy_pattern import lazy_pattern

HEAD = 1 << 16  # bytes in which blank lines part logs: what is longer was not pasted
MOST = 64
_BLANK = lazy_pattern(rb"\n(?:[ \t\r]*\n)+")


def begins_in(head: bytes) -> list[int]:
    """The bytes of a text at which a further log begins; of its first HEAD bytes."""
    found = []
    for blank in _BLANK.finditer(head[:HEAD]):
        found.append(blank.end())
        if len(found) == MOST:
            break
    return found


class PastedLogs:
    """The logs of one text, which comes in pieces."""

    def __init__(self, text: str = "") -> None:
        self._head = b""
        self._lines: list[int] | None = None
        self.feed(text)

    def feed(self, piece: str) -> None:
        """Takes what follows."""
        if len(self._head) < HEAD:
            self._head += piece[:HEAD].encode(errors="replace")
            self._lines = None

    def of(self, line: int) -> int:
        """The number of the log that has a line, whose text was fed."""
        if self._lines is None:
            self._lines = [self._head[:at].count(b"\n") + 1 for at in begins_in(self._head)]
        return bisect_right(self._lines, line)
