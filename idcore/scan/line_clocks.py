"""How far lines are behind the ids that they print: each line's own time, less the time in its id. Judges nothing.

A line is written after its id was generated, so one that is earlier shows two clocks that differ
(`idcore.answers.findings.line_clocks`). Both times are read as wall times: lines and ids of one zone need no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from idcore.base.encodings import text_of
from idcore.base.layout import LAYOUTS
from idcore.ids import makers, rules
from idcore.ids.clock import HOUR_MS
from idcore.ids.line_moments import prefix_time
from idcore.ids.model import UniqId

MOST_HOSTS, MOST_LINES = 2_000, 600  # the lines of all: some 30 microseconds each
MOST_APART_MS = 14 * HOUR_MS  # what is further apart is of another day, or of a clock that a month does not show
_LONGEST = 4 << 10
_EPOCH = datetime(1970, 1, 1)
_LAYOUTS = {layout.digits: layout for layout in LAYOUTS.values() if layout.kind == "uniq" and not layout.early}
_ID = re.compile(rb"(?<![0-9A-Fa-f])(?:%s)(?![0-9A-Fa-f])" % b"|".join(b"[0-9A-F]{%d}" % size for size in _LAYOUTS))
_IS_SENT = re.compile(rules.SEND_REPORT.encode())


class LineTime(NamedTuple):
    """One line: the host of its id, ms from the id to the line by their wall times, an id, whether it says it is sent.

    `at_ms`: the wall time of the line, as if it were UTC.
    """

    host: str
    apart: int
    at_ms: int
    id: str
    is_sent: bool


def line_times(text: bytes, most: int = MOST_LINES) -> Iterator[LineTime]:
    """The lines of a text that open with a time, and have one msgId; of more than `most` lines some, spread evenly."""
    for line in _some(text, most):
        one = _time_of(line) if len(line) <= _LONGEST else None
        if one is not None:
            yield one


def _some(text: bytes, most: int) -> Iterator[bytes]:
    """The lines of a text; of more than `most` those at places that are spread evenly."""
    if text.count(b"\n") < most:
        yield from text.split(b"\n")
        return
    end = -1
    for place in range(0, len(text), -(-len(text) // most)):
        if place > end:
            begin, end = text.rfind(b"\n", 0, place) + 1, text.find(b"\n", place)
            end = len(text) if end < 0 else end
            yield text[begin:end]


def _time_of(line: bytes) -> LineTime | None:
    ids = {text for text in _ID.findall(line) if _is_usual(text)}
    written = prefix_time(text_of(line)) if len(ids) == 1 else None
    if written is None:
        return None
    (text,) = ids
    one = UniqId.from_bytes(bytes.fromhex(text.decode()), _LAYOUTS[len(text)])
    wall = (written.replace(tzinfo=None) - _EPOCH) // timedelta(milliseconds=1)
    begun = wall - one.signed_elapsed
    apart = min((begun - start for start in _months_near(written)), key=abs)
    if abs(apart) > MOST_APART_MS:
        return None
    return LineTime(one.host, apart, wall, one.text, _IS_SENT.search(line) is not None)


def _is_usual(text: bytes) -> bool:
    """Whether it is a msgId of a usual client, which chance does not make and no other name in front disproves."""
    return makers.is_usual(int(text[_LAYOUTS[len(text)].digits_of("loader")], 16))


def _months_near(written: datetime) -> Iterator[int]:
    """Where the month of a wall time begins, the one before it and the one behind it."""
    first = written.replace(tzinfo=None, day=1, hour=0, minute=0, second=0, microsecond=0)
    for other in (first - timedelta(days=1), first, first + timedelta(days=32)):
        yield (other.replace(day=1) - _EPOCH) // timedelta(milliseconds=1)
