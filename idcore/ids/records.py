"""Times of a record that is written over several lines: which line around an ID dates it. Knows no clock and no zone.

mqadmin prints a message field by field, programs print a MessageExt or JSON one field a line, and an entry of a log
goes on over lines without a time. There the time of an ID is in another line of its record. The scan asks the same
(`idcore.scan.facts`), where a kernel has seen that such a line may be there (`idcore.kernels.around`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain, takewhile
from typing import Literal, NamedTuple

from idcore.base.lazy_pattern import lazy_pattern
from idcore.base.line_cache import kept_by_length
from idcore.ids import rules
from idcore.ids.line_moments import (
    LONGEST,
    STORE_HEAD,
    BornTime,
    Moment,
    NamedDay,
    StoredTime,
    born_marks,
    elapsed_of,
    is_headline,
    is_time_field,
    line_time,
    may_be_dated,
    moment_at,
    moments_of,
    named_day,
    prefix_time,
    stored_time,
)
from idcore.ids.tokens import Token

REACH = 8_192  # bytes, in front of the line of an ID and behind it, in which its record may be
MOST_LINES = 16  # on each side that may have a time
_BLANK = "".join(map(chr, range(33)))
_FIELD = lazy_pattern(r"[g-zG-Z]")  # a letter that no hex digit is: such a line is more than IDs of a list
_ID = lazy_pattern(rf"(?<![0-9A-Fa-f]){rules.CANDIDATE}(?![0-9A-Fa-f])")
# Of one without an end the rest of the line is taken, for nothing in it has one either: it is looked at once.
_STRINGS = lazy_pattern(r'"(?:[^"\\\n]|\\.)*+(?P<end>")?')
_ROW = lazy_pattern(r"\*{5,} ?\d+\. row ?\*{5,}\s*|-\[ RECORD \d+ \][-+]*\s*")
_TAGS = lazy_pattern(r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*)(?:\s[^<>]*)?(?<!/)>")
_FAR = 40  # characters between a bracket and what is in front of it
_BRACKETS = lazy_pattern(r"[\[\]{}]")
_FEW_LINES = 24  # on each side, as most objects have
_STORED = lazy_pattern(r"[^A-Za-z0-9]*store", re.IGNORECASE)  # a broker's clock dates nothing
# A field that says when its message was made: days after the ID it dates another message, or the ID was sent again.
_BORN = lazy_pattern(
    r"\W{0,60}(?:(?:born|produced?|sen[dt])[_ -]?(?:date)?(?:time(?:[_ -]?stamp)?|at|date)"
    r"|(?:生产|发送|产生)(?:时间|日期))\b",
    re.IGNORECASE,
)


class Hint(NamedTuple):
    """What another line of a record says: a bornTimestamp in ms, or a time, naive where it names no zone."""

    born_ms: int | None
    time: datetime | None

    def is_proved_by(self, elapsed: Sequence[int]) -> bool:
        """Whether an ID proves it, as `Moment.is_proved_by` does; never of a day without a year."""
        return not isinstance(self.time, NamedDay) and any(map(self._moment.is_proved_by, elapsed))

    def is_near(self, elapsed: Sequence[int]) -> bool:
        """Whether one of the IDs may have been made at most a day before it, as `Moment.is_near` says."""
        return any(map(self._moment.is_near, elapsed))

    @property
    def _moment(self) -> Moment:
        if self.born_ms is not None:
            return Moment(self.born_ms, 0, 0, True)
        assert self.time is not None
        return moment_at(self.time)

    def is_better_than(self, unproved: Hint, elapsed: Sequence[int]) -> bool:
        """Whether an ID proves it, or it alone is of the day of one."""
        return self.is_proved_by(elapsed) or (self.is_near(elapsed) and not unproved.is_near(elapsed))


def is_field(line: str) -> bool:
    """Whether a line is more than IDs: one of a bare list has no record around it."""
    return _FIELD.search(line) is not None


def is_cell(size: int, before: int | None, behind: int | None) -> bool:
    """Whether a line of bare IDs is a cell of a page, copied one a line: another cell is behind it.

    In a list the line next to it is as long. Sizes in bytes; None where there is no such line.
    """
    return behind is not None and behind > 1 and size not in (before, behind)


class NearLines(NamedTuple):
    """Lines on one side of an ID, nearest first: those of its record, and those behind a blank line."""

    own: list[str]
    beyond: list[str]


class _Around(NamedTuple):
    """Lines on one side of an ID, nearest first: of its own object, and of what holds that."""

    own: list[str]
    outer: list[str]


# A bracket outside of strings: its place, whether it opens, whether what it opens is part of what is around it and no
# object of its own, and whether it is kept: it is no other object either, whose fields say nothing of those around it.
_Bracket = tuple[int, bool, bool, bool]


def _brackets(lines: Sequence[str], end: str = "") -> list[_Bracket]:
    """The brackets of a text of these lines, each at its place in the text; `end` is what ends in front of them."""
    found, place = list[_Bracket](), 0
    for number, line in enumerate(lines):
        if "{" in line or "}" in line or "[" in line or "]" in line:
            opens_line = line.lstrip()[:1] in "[{"
            marks = _marks(line, _end_of(lines[:number], end) if opens_line else "")
            found += [(place + at, opens, is_part, is_kept) for at, opens, is_part, is_kept in marks]
        place += len(line) + 1
    return found


def _end_of(lines: Sequence[str], end: str = "") -> str:
    """What is looked at in front of a bracket that opens the line behind these, and `end` in front of them."""
    found, number = "", len(lines)
    while number and len(found) < _FAR:
        number -= 1
        found = f"{lines[number]}\n{found}"
    return f"{end}{found}"[-_FAR:]


def without_strings(line: str, kept: Callable[[str], object] = lambda _: False) -> str:
    """A line with `_` in the place of its strings of JSON, but for those that are `kept`; as long as before."""
    return _STRINGS.sub(lambda one: one[0] if one["end"] is None or kept(one[0]) else "_" * len(one[0]), line)


@kept_by_length(1_024)  # a line is near to many IDs of a list; a bracket takes 110 times its byte
def _marks(line: str, before: str) -> list[_Bracket]:
    bare = before + without_strings(line)
    found = list[_Bracket]()
    for mark in _BRACKETS.finditer(bare, len(before)):
        sign = bare[max(0, mark.start() - _FAR) : mark.start()].rstrip()[-1:]
        is_named = sign in (":", "=")
        is_list = mark[0] == "[" and not sign.isalpha()
        place = mark.start() - len(before)
        found.append((place, mark[0] in "[{", is_named or is_list, is_named or mark[0] == "["))
    return found


@lru_cache(maxsize=1_024)
def _is_closed(line: str) -> bool:
    """Whether a line ends each bracket that it begins, and no other."""
    if "{" not in line and "}" not in line and "[" not in line and "]" not in line:
        return True
    ended = 0
    for _, opens, _, _ in reversed(_marks(line, "")):
        if opens and not ended:
            return False
        ended += -1 if opens else 1
    return not ended


def _is_in_one(lines: Sequence[str], most: int) -> bool:
    """Whether an object begins in the nearest so many lines in front of an ID, the nearest first, that does not end."""
    ended, near = 0, lines[:most]
    for place in [place for place, is_closed in enumerate(map(_is_closed, near)) if not is_closed]:
        line = near[place]
        before = _end_of(lines[place + 1 : place + 1 + _FAR][::-1]) if line.lstrip()[:1] in "[{" else ""
        for _, opens, is_part, _ in reversed(_marks(line, before)):
            if not opens:
                ended += 1
            elif ended:
                ended -= 1
            elif not is_part:
                return True
    return False


def _in_front(lines: Sequence[str], end: str) -> tuple[str | None, str, int]:
    """Of a text in front of an ID that of its own object, where it begins one, and that of what holds it.

    `end` is what ends in front of it. Also how many named parts and lists of its object are around it.
    """
    text = "\n".join(lines)
    own, pieces, stop, inside, behind, named = None, list[str](), len(text), 0, 0, 0
    for place, opens, is_part, is_kept in reversed(_brackets(lines, end)):
        if not opens:
            if inside == 0:
                behind = place + 1
                pieces.append(text[behind:stop])
            inside += 1
        elif inside:
            inside -= 1
            if inside == 0:
                stop = place
                if is_kept:
                    pieces.append(text[place:behind])
        elif own is None and is_part:
            named += 1
        elif own is None:
            own, pieces, stop = "".join(reversed([*pieces, text[place:stop]])), [], place
    pieces.append(text[:stop] if inside == 0 else "")
    return own, "".join(reversed(pieces)), named


def _behind(lines: Sequence[str], depth: int) -> tuple[str, str | None]:
    """Of a text behind an ID that of its own object, which so many brackets more end, and what holds it, if it ends."""
    text = "\n".join(lines)
    own, pieces, start, inside, keeps = None, list[str](), 0, 0, False
    for place, opens, _, is_kept in _brackets(lines):
        if opens:
            if inside == 0:
                keeps = is_kept
                pieces.append(text[start:place])
                start = place
            inside += 1
        elif inside:
            inside -= 1
            if inside == 0:
                if keeps:
                    pieces.append(text[start : place + 1])
                start = place + 1
        elif own is None:
            depth -= 1
            if depth < 0:
                own, pieces, start = "".join([*pieces, text[start : place + 1]]), [], place + 1
    pieces.append(text[start:] if inside == 0 else "")
    rest = "".join(pieces)
    return (rest, None) if own is None else (own, rest)


def _is_whole(head: str, first: str, before: Sequence[str]) -> bool:
    """Whether the object of an ID begins and ends in its line: `head` is in front of the ID, and `first` behind it.

    In JSON Lines each does, and the hundreds of lines around each need no look.
    """
    own, _, depth = _in_front([head], _end_of(before[:_FAR][::-1]))
    return own is not None and _behind([first], depth)[1] is not None


def of_object(
    line: str, before: Sequence[str], behind: Sequence[str], most: int | None = None
) -> tuple[_Around, _Around] | None:
    """The lines around the IDs of a line that is part of an object of several lines, as of a list of JSON.

    Without those of other objects of that list. None where no bracket in front begins one, and where the object goes on
    behind the nearest `most` lines on a side. Lines are nearest first.
    """
    ids = list(_ID.finditer(line))
    near = before[:most]
    head = line[: ids[0].start()] if ids else ""
    if not ids or not _is_in_one([head, *before], len(near) + 1):
        return None
    first = '"' * (head.count('"') % 2) + line[ids[-1].end() :]
    if _is_whole(head, first, before):
        return None
    end = "" if most is None else _end_of(before[most : most + _FAR][::-1])
    own, outer, depth = _in_front([*reversed(near), head], end)
    if own is None:
        return None
    back, rest = _behind([first, *behind[:most]], depth)
    if "\n" not in own and rest is not None and "\n" not in back:
        return None  # all of it is in the line of the ID
    if rest is None and most is not None and most < len(behind):
        return None
    far = [] if rest is None else rest.split("\n")
    return _Around(own.split("\n")[-2::-1], outer.split("\n")[::-1]), _Around(back.split("\n")[1:], far)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_item(line: str) -> bool:
    return line.lstrip().startswith("- ")


def _opens_item(line: str, inner: str) -> bool:
    return _is_item(line) and _indent(line) < _indent(inner)


def of_item(
    line: str, before: Sequence[str], behind: Sequence[str], most: int | None = None
) -> tuple[_Around, _Around] | None:
    """The lines around the IDs of a line in an item of a list that is indented, as of YAML, without those of others.

    None where no item of several lines has the line: a list of values has none. Lines are nearest first; of `most` of
    them None, too, where the item does not begin and end in them.
    """
    before, is_cut, behind = before[:most], most is not None and len(behind) > most, behind[:most]
    begin, edge = 0, _indent(line)
    if not _is_item(line):
        filled = (at for at, one in enumerate(before) if one.strip())
        dash = next((at for at in filled if _indent(before[at]) == 0 or _opens_item(before[at], line)), None)
        if dash is None or not _opens_item(before[dash], line):
            return None
        begin, edge = dash + 1, _indent(before[dash])
    end = next((at for at, one in enumerate(behind) if one.strip() and _indent(one) <= edge), len(behind))
    if begin + end == 0 or (is_cut and end == len(behind)):
        return None

    def is_outside(one: str) -> bool:
        return bool(one.strip()) and (_indent(one) < edge or (_indent(one) == edge and not _is_item(one)))

    first = next((at for at, one in enumerate(before) if at >= begin and is_outside(one)), len(before))
    last = next((at for at, one in enumerate(behind) if at >= end and is_outside(one)), len(behind))
    return _Around([*before[:begin]], [*before[first:]]), _Around([*behind[:end]], [*behind[last:]])


def of_element(
    line: str, before: Sequence[str], behind: Sequence[str], most: int | None = None
) -> tuple[_Around, _Around] | None:
    """The lines around the IDs of a line in an element of XML of several lines, without those of others.

    None where the element is not closed, in `most` lines on each side, or is in one line. Lines are nearest first.
    """
    if "</" not in "\n".join(behind[:most]) or _unclosed([line]):
        return None
    begins, closes = _unclosed(before[:most]), list(_unopened(behind[:most]))
    both = list(takewhile(lambda one: one[0][1] == one[1][1], zip(begins, closes, strict=False)))
    if not both:
        return None
    (begin, end), (first, last) = ((one[0] + 1, other[0] + 1) for one, other in (both[0], both[-1]))
    return _Around([*before[:begin]], [*before[first:]]), _Around([*behind[:end]], [*behind[last:]])


def _unclosed(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The tags of lines, nearest first, that nothing in them closes: at which line, and their names."""
    found, closed = list[tuple[int, str]](), list[str]()
    for at, line in enumerate(lines):
        for tag in reversed(list(_TAGS.finditer(line)) if "<" in line else []):
            if tag["end"]:
                closed.append(tag["name"])
            elif closed and closed[-1] == tag["name"]:
                closed.pop()
            else:
                found.append((at, tag["name"]))
    return found


def _unopened(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The same of lines behind: tags that nothing in them opens."""
    opened = list[str]()
    for at, line in enumerate(lines):
        for tag in _TAGS.finditer(line) if "<" in line else ():
            if not tag["end"]:
                opened.append(tag["name"])
            elif opened and opened[-1] == tag["name"]:
                opened.pop()
            else:
                yield at, tag["name"]


def hint_of_line(line: str, before: Sequence[str], behind: Sequence[str], elapsed: Sequence[int]) -> Hint | None:
    """What the lines around one that has no time say of its IDs, all of them on each side, nearest first.

    What the object of a list says that has the line comes first, and another object of that list says nothing of it.
    """
    sides: tuple[_Around, _Around] | None = None
    for sides_of in (of_object, of_element, of_item):
        for most in (_FEW_LINES, None):  # most objects have few lines
            sides = sides_of(line, before, behind, most)
            if (own := _own_hint(sides, elapsed)) is not None:
                return own
        if sides is not None:
            break
    if sides is None:
        return hint_of(nearest(before), nearest(behind), elapsed) or _stored_hint(line, before, behind)
    front, back = sides
    said = hint_of(nearest([*front.own, *front.outer]), nearest([*back.own, *back.outer]), elapsed)
    return said or _stored_hint(line, front.own, back.own)


def _own_hint(sides: tuple[_Around, _Around] | None, elapsed: Sequence[int]) -> Hint | None:
    if sides is None:
        return None
    front, back = sides
    return hint_of(nearest(front.own), nearest(back.own), elapsed, is_one=True)


def hint_of(before: NearLines, behind: NearLines, elapsed: Sequence[int], is_one: bool = False) -> Hint | None:
    """What the lines around one that has no time say of its IDs; `is_one`: no other record begins in them.

    A bornTimestamp that one of the IDs proves; else the nearest time in front; else the nearest bornTimestamp in front;
    else what is nearest behind, up to a line that opens with a time that none of the IDs proves; else a broker's time,
    or a day without a year, that one of the IDs proves. What is in front is of the record before where an ID proves
    what is behind, or where that alone is of the day of an ID. A bornTimestamp that none of them proves does not count
    in a line with an ID: it is of that one's message. A blank line ends a record, but where each second line is blank:
    what one of the IDs proves counts behind it too. `elapsed`: ms of each ID since its month began.

    >>> hint_of(NearLines(["    bornTimestamp=1736056297157,"], []), NearLines([], []), [395497157]).born_ms
    1736056297157
    """
    in_front, after = list(map(_said_by, before.own)), list(map(_said_by, behind.own))
    for line in (*in_front, *after):
        if line.born_ms is not None and any(map(Moment(line.born_ms, 0, 0, True).is_proved_by, elapsed)):
            return Hint(line.born_ms, None)
    front = _time_in_front(in_front, elapsed)
    back = None if front is not None and front.is_proved_by(elapsed) else _time_behind(after, elapsed, is_one)
    if front is not None and (back is None or not back.is_better_than(front, elapsed)):
        return front
    if back is not None:
        return back
    for line in (*in_front, *after):
        for one in line.stored:
            if any(map(one.is_proved_by, elapsed)):
                return Hint(None, one.time)
    beyond = list(map(_said_by, (*before.beyond, *behind.beyond)))
    for line in beyond:
        if line.born_ms is not None and any(map(Moment(line.born_ms, 0, 0, True).is_proved_by, elapsed)):
            return Hint(line.born_ms, None)
    far = (one for line in beyond for one in line.all if any(map(one.is_proved_by, elapsed)))
    days = (day for line in (*before.own, *behind.own) if (day := named_day(line, elapsed)) is not None)
    return next((Hint(None, time) for time in chain((one.time for one in far), days)), None)


def _time_in_front(lines: Sequence[_Said], elapsed: Sequence[int]) -> Hint | None:
    """The nearest time in front of an ID, else the nearest bornTimestamp."""
    times = (time for line in lines if (time := line.said_of(elapsed)) is not None)
    if (time := next(times, None)) is not None:
        return Hint(None, time)
    return next((Hint(line.born_ms, None) for line in lines if line.born_ms is not None and not line.holds_id), None)


def _time_behind(lines: Sequence[_Said], elapsed: Sequence[int], is_one: bool) -> Hint | None:
    """What is nearest behind an ID, up to where another record begins."""
    for line in lines:
        if (
            not (is_one or line.is_field)
            and line.opening is not None
            and not any(map(moment_at(line.opening).is_proved_by, elapsed))
        ):
            return None
        if line.born_ms is not None and line.holds_id:
            continue
        if line.born_ms is not None:
            return Hint(line.born_ms, None)
        if (time := line.said_of(elapsed)) is not None:
            return Hint(None, time)
    return None


def proved_hint(before: NearLines, behind: NearLines, elapsed: Sequence[int]) -> Hint | None:
    """What the lines around a cell say that one of its IDs proves; no place says which of them are of its row."""
    said = [_said_by(line) for side in ("own", "beyond") for near in (before, behind) for line in getattr(near, side)]
    for line in said:
        if line.born_ms is not None and any(map(Moment(line.born_ms, 0, 0, True).is_proved_by, elapsed)):
            return Hint(line.born_ms, None)
    proved = (one.time for line in said for one in line.all if any(map(one.is_proved_by, elapsed)))
    return next((Hint(None, time) for time in proved), None)


def cell_hint(before: Sequence[str], behind: Sequence[str], elapsed: Sequence[int]) -> Hint | None:
    """What dates an ID that is a cell of a page: a time near it that it proves, else that of its row's store time."""
    proved = proved_hint(nearest(before), nearest(behind), elapsed)
    if proved is not None or not any(map(STORE_HEAD.fullmatch, before)):
        return proved
    times = (prefix_time(line) for line in nearest(behind).own)
    time = next((one for one in times if one is not None), None)
    return None if time is None else Hint(None, StoredTime.fromisoformat(time.isoformat()))


def _stored_hint(line: str, before: Sequence[str], behind: Sequence[str]) -> Hint | None:
    """The store time of a message that has no other: its line's, else that of a line around it."""
    near = (one for side in (before, behind) for one in nearest(side).own if _ID.search(one) is None)
    time = next((time for one in (line, *near) if (time := stored_time(one)) is not None), None)
    return None if time is None else Hint(None, time)


def with_own_day(day: NamedDay | None, hint: Hint | None, elapsed: Sequence[int]) -> Hint | None:
    """What dates a line that may name a day without a year: its record where an ID proves that, else the day."""
    return hint if day is None or (hint is not None and hint.is_proved_by(elapsed)) else Hint(None, day)


class _Said(NamedTuple):
    """What one line of a record says: its bornTimestamp, the time it opens with, else all of its times.

    `stored`: those without a zone of a line that has a broker's clock.
    """

    born_ms: int | None
    opening: datetime | None
    moments: tuple[Moment, ...]
    stored: tuple[Moment, ...] = ()
    holds_id: bool = False
    is_field: bool = False  # of a record, which does not begin with it
    is_born: bool = False  # its field is named as the time at which its message was made

    @property
    def all(self) -> tuple[Moment, ...]:
        """Every time of the line that names a date."""
        opening = () if self.opening is None else (moment_at(self.opening),)
        return (*opening, *(one for one in self.moments if one.sure or one.ahead is None), *self.stored)

    def time_of(self, elapsed: Sequence[int]) -> datetime | None:
        """The first time that an ID proves, else the first whose order is known; an epoch counts by its name alone."""
        if self.opening is not None:
            return self.opening
        known = [one for one in self.moments if one.sure or one.ahead is None]
        proved = (one for one in known if any(map(one.is_proved_by, elapsed)))
        moment = next(proved, None) or next((one for one in known if one.sure), None)
        return None if moment is None else moment.time

    def said_of(self, elapsed: Sequence[int]) -> datetime | None:
        """`time_of`; that of a message's birth, days after all of the IDs, only as one that is not before them."""
        time = self.time_of(elapsed)
        if time is None or not self.is_born or any(map(moment_at(time).is_near, elapsed)):
            return time
        return BornTime.fromisoformat(time.isoformat())


@lru_cache(maxsize=512)  # the lines of two records, of 8 KiB each at most
def _said_by(line: str) -> _Said:
    marks = {ms for _, ms in born_marks(line)}
    born_ms = marks.pop() if len(marks) == 1 else None
    if _STORED.match(line):
        return _Said(born_ms, None, (), tuple(one for one in moments_of(line) if one.ahead is None))
    opening, holds_id = prefix_time(line), _ID.search(line) is not None
    of_another = not holds_id and opening is not None and is_headline(line)
    if holds_id and born_ms is None and not of_another:
        of_another = line_time(line) is None and named_day(line) is not None
    if of_another:
        return _Said(born_ms, None, tuple(one._replace(sure=False) for one in moments_of(line)), (), holds_id)
    moments = () if opening is not None or (holds_id and born_ms is not None) else tuple(moments_of(line))
    is_field, is_born = opening is not None and is_time_field(line), not holds_id and _BORN.match(line) is not None
    return _Said(born_ms, opening, moments, (), holds_id, is_field, is_born)


_Kind = Literal["blank", "dated", "row", ""]


@lru_cache(maxsize=1_024)  # a line is near to many IDs
def _kind(line: str) -> _Kind:
    """Whether a line is blank, or a row of a query as mysql's `\\G` and psql's `\\x` begin it, or may have a time."""
    if not line.strip(_BLANK):
        return "blank"
    if line.startswith(("*", "-[")) and _ROW.fullmatch(line) is not None:
        return "row"
    return "dated" if may_be_dated(line) else ""


def nearest(lines: Sequence[str]) -> NearLines:
    """Of the lines on one side, nearest first, those that may have a time: to a blank one, then to two, or a row."""
    own: list[str] = []
    beyond: list[str] = []
    found, was_blank = own, False
    for kind, line in zip(map(_kind, lines), lines, strict=True):
        if kind == "row" or (kind == "blank" and was_blank):
            break
        if kind == "blank":
            found = beyond
        elif kind == "dated":
            found.append(line)
            if len(own) + len(beyond) == MOST_LINES:
                break
        was_blank = kind == "blank"
    return NearLines(own, beyond)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line; in bytes, where it is."""

    begin: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Held:
    """Tokens of a line, until the lines behind it are known; `elapsed` is None where no other line dates it."""

    begin: int
    end: int
    elapsed: list[int] | None
    tokens: list[Token]
    is_cell: bool = False
    text: str = ""


def _is_dated(token: Token) -> bool:
    return token.born_ms is not None or token.prefix_time is not None


class Records:
    """The lines of a text as they pass. Tokens come back in order, those without a time with that of their record."""

    def __init__(self) -> None:
        self._at = 0
        self._lines: deque[_Line] = deque()
        self._held: deque[_Held] = deque()
        self._was_blank = False
        self._size: int | None = None  # of the line before

    def take(self, line: str, tokens: list[Token]) -> Iterator[Token]:
        """Takes the next line with its tokens."""
        begin, end = self._at, self._at + (len(line) if line.isascii() else len(line.encode()))
        self._at, size, before = end + 1, end - begin, self._size
        self._size = size
        self._confirm(begin, size)
        is_blank = not line.strip(_BLANK)
        is_end, self._was_blank = is_blank and self._was_blank, is_blank
        self._lines.append(_Line(begin, end, line))
        oldest = (self._held[0].begin if self._held else begin) - REACH
        while self._lines[0].begin < oldest:
            self._lines.popleft()
        while self._held and (is_end or self._held[0].elapsed is None or self._held[0].end + REACH < end):
            yield from self._settled(self._held.popleft())
        if not tokens:
            return
        dated = all(map(_is_dated, tokens))
        is_bare = not is_field(line)
        if dated or size > LONGEST or (is_bare and size == before):
            if not self._held:
                yield from tokens
                return
            self._held.append(_Held(begin, end, None, tokens))
        else:
            self._held.append(_Held(begin, end, elapsed_of(line), tokens, is_bare, line))

    def _confirm(self, begin: int, size: int | None) -> None:
        """Whether the line in front of one that begins there, and is so long, is a cell."""
        last = self._held[-1] if self._held else None
        if last is None or not last.is_cell or last.end + 1 != begin:
            return
        if not is_cell(last.end - last.begin, None, size):
            self._held[-1] = replace(last, elapsed=None)

    def flush(self) -> Iterator[Token]:
        """The tokens that are held, as the lines so far date them."""
        self._confirm(self._at, None)
        while self._held:
            yield from self._settled(self._held.popleft())

    def close(self) -> Iterator[Token]:
        """The tokens that are left, where the text ends or goes on with a line that has no record."""
        yield from self.flush()
        self._lines.clear()

    def _settled(self, held: _Held) -> Iterator[Token]:
        if held.elapsed is None:
            yield from held.tokens
            return
        low, high = held.begin - REACH, held.end + REACH
        before = [one.text for one in reversed(self._lines) if low <= one.begin < held.begin]
        behind = [one.text for one in self._lines if held.end < one.begin and one.end <= high]
        own = held.tokens[0].named_day
        if held.is_cell:
            said = cell_hint(before, behind, held.elapsed)
        else:
            said = hint_of_line(held.text, before, behind, held.elapsed)
        hint = with_own_day(own, said, held.elapsed)
        if hint is None or hint.time is own is not None:
            yield from held.tokens
            return
        day = hint.time if isinstance(hint.time, NamedDay) else None
        time = None if day is not None else hint.time
        for token in held.tokens:
            if not _is_dated(token):
                token = replace(token, born_ms=hint.born_ms, prefix_time=time, named_day=day, of_record=True)
            yield token
