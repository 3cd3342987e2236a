"""Text of which only the lines of a time range are left; the others are blank, so that every place stays what it was.

A line has the time that it names: the one that it opens with, a bornTimestamp, or one in another style. What goes on
behind such a line belongs to it. Elsewhere a line has the time of its first msgId, as `decode` says it of that ID
alone, and one without a msgId belongs to the line before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, BinaryIO

from idcore.ids import Clock, find, judge, when
from idcore.ids.clock import to_ms
from idcore.ids.identify import Case
from idcore.ids.line_moments import LONGEST, born_marks, moment_of, prefix_time
from idcore.ids.records import REACH, is_field
from idcore.sources.unpack import Read

_PIECE = 1 << 18
_HEAD = 640  # bytes that hold the time which a line opens with, in letters of up to four
_LOOK = 1 << 20  # bytes in which a place to cut a file is looked for


@dataclass(frozen=True, slots=True)
class LineRange:
    """From `begin` up to `end`, which is not in it, in ms of UTC; None where a side is open.

    `clock` reads the times that name no zone, and dates IDs of the `case` that the scan takes.
    """

    begin: int | None
    end: int | None
    clock: Clock
    case: Case = "strict"

    def has(self, at: int) -> bool:
        """Whether a time is in the range."""
        return (self.begin is None or self.begin <= at) and (self.end is None or at < self.end)

    def own_time(self, line: bytes) -> int | None:
        """The milliseconds that a line names; None where it names none. A long one is asked for its beginning."""
        time = prefix_time(str(line[:_HEAD], "utf-8", "replace"))
        if time is not None:
            return self._ms(time)
        if len(line) > LONGEST:
            return None
        text = str(line, "utf-8", "replace")
        if marks := born_marks(text):
            return marks[0][1]
        moment = moment_of(text)
        return None if moment is None else self._ms(moment.time)

    def time_of_id(self, line: bytes) -> int | None:
        """The milliseconds of the first msgId of a line."""
        for token in find([str(line[:LONGEST], "utf-8", "replace")]):
            best = judge(token, self.case).best
            sent = None if best is None else when(best, None, self.clock)[0]
            if sent is not None:
                return to_ms(sent.at)
        return None

    def _ms(self, time: datetime) -> int:
        return to_ms(time if time.tzinfo is not None else time.replace(tzinfo=self.clock.zone))


class LinesOf:
    """A stream of text as `Read` wants it: of the same length, with the lines of other times blank.

    `before` bytes in front of the first line pass as they are.
    """

    def __init__(self, read: Read, wanted: LineRange, before: int) -> None:
        self._read, self._wanted, self._before = read, wanted, before
        self._piece = bytearray(_PIECE)
        self._ready = memoryview(b"")
        self._rest = b""  # of a line that has not ended
        self._is_in = False  # the line, of which a part may have been given already
        self._goes_on = self._ended = False
        self._since_dated = REACH  # bytes since the last line that names a time

    def readinto(self, view: Any) -> int:
        """As of a file: how many bytes were put into the view, 0 at the end."""
        while not self._ready and not self._ended:
            got = self._read(memoryview(self._piece)) or 0
            self._ended = not got
            self._take(self._rest + bytes(self._piece[:got]))
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _take(self, data: bytes) -> None:
        passed, data = data[: self._before], data[self._before :]
        self._before -= len(passed)
        parts = [passed]
        *lines, rest = data.split(b"\n")
        for line in lines:
            parts += [self._judged(line), b"\n"]
            self._goes_on = False
        if rest and (self._ended or self._goes_on or len(rest) > LONGEST):
            parts.append(self._judged(rest))
            rest, self._goes_on = b"", True
        self._rest, self._ready = rest, memoryview(b"".join(parts))

    def _judged(self, line: bytes) -> bytes:
        """A line or a part of one, which is as its first part."""
        if not self._goes_on:
            at = self._wanted.own_time(line)
            if at is not None:
                self._since_dated = 0
            elif self._since_dated >= REACH or not is_field(str(line[:LONGEST], "utf-8", "replace")):
                at = self._wanted.time_of_id(line)
            if at is not None:
                self._is_in = self._wanted.has(at)
        self._since_dated += len(line) + 1
        return line if self._is_in else b" " * len(line)


def pieces(file: BinaryIO, size: int, step: int, wanted: LineRange) -> list[tuple[int, int]]:
    """Where a file of `size` bytes may be cut, about every `step`: in front of lines that name a time, no others."""
    edges = [0]
    for at in range(step, size, step):
        edge = _dated_line(file, at, wanted) if at > edges[-1] else None
        if edge is not None:
            edges.append(edge)
    return list(pairwise([*edges, size]))


def _dated_line(file: BinaryIO, at: int, wanted: LineRange) -> int | None:
    """Where the first line behind `at` begins that names a time; None where none is near."""
    file.seek(at)
    _, feed, text = file.read(_LOOK).partition(b"\n")
    at = file.tell() - len(text)
    lines: Sequence[bytes] = text.split(b"\n")[:-1] if feed else ()
    for line in lines:
        if wanted.own_time(line) is not None:
            return at
        at += len(line) + 1
    return None
