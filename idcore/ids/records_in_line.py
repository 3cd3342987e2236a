"""Times of a line that has several messages: which of its times is that of which ID. Knows no clock and no zone.

A list of JSON, of `MessageExt [...]` or of Python's dictionaries may be one line. Each ID has the time of its own
object: of the brackets around it, but those of other IDs in them, and of what is around these. The scan asks the same
(`idcore.scan.facts`), where a kernel has seen that a line may have several messages (`idcore.kernels.pairs`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import attrgetter, itemgetter

from idcore.base.layout import COUNTER_DIGITS, ID_DIGITS, VALUE_DIGITS
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids import rules
from idcore.ids.line_moments import (
    SQL,
    Moment,
    ProvedMoments,
    born_marks,
    line_time,
    moment_at,
    moments_of,
    prefix_time,
)
from idcore.ids.records import Hint, without_strings

ID = lazy_pattern(rf"(?<![0-9A-Fa-f]){rules.CANDIDATE}(?![0-9A-Fa-f])")
_BRACKETS = lazy_pattern(r"[\[\]{}()]")
_CLOSERS = {"]": "[", "}": "{", ")": "("}
_ENDS = lazy_pattern(r"[\]})]|</|\\n")
_TAGS = lazy_pattern(r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*)[^<>]*>")
_BREAK = lazy_pattern(r"\\{1,3}n")  # a line that is escaped in another
_LONGEST = 1 << 20  # characters: the scan asks of shorter ones
_FRONT = 120  # characters in front of a bracket in which its name is
_DEEPEST = 12  # objects in each other; what is deeper is part of the last of them
# A part of what is around it has a name, and is no object of its own: `"data":[`, `toString()=Message{`; but `"ID":{`.
_NAMED = lazy_pattern(r"(?<![\w.@$()-])(?P<name>[\w.@$()-]*)\\{0,7}[\"']?\s?[:=]\s?\\{0,7}[\"']?(?:[\w.$@]+\s?)?\Z")


@dataclass(eq=False)
class _Object:
    """The text of an object, without the objects of other IDs in it."""

    begin: int
    parent: _Object | None
    end: int = 0
    inner: list[_Object] = field(default_factory=list)
    line: str = ""

    @cached_property
    def text(self) -> str:
        """As long as in the line: blanks are in the place of other objects."""
        pieces, at = list[str](), self.begin
        for one in self.inner:
            pieces += [self.line[at : one.begin], " " * (one.end - one.begin)]
            at = one.end
        return "".join([*pieces, self.line[at : self.end]])

    @cached_property
    def borns(self) -> list[tuple[int, int]]:
        """Its bornTimestamps, each with its place in the line."""
        return [(self.begin + place, ms) for place, ms in born_marks(self.text)]

    @cached_property
    def opening(self) -> Moment | None:
        """The time that it opens with."""
        opening = prefix_time(self.text)
        return None if opening is None else moment_at(opening)

    @cached_property
    def moments(self) -> ProvedMoments:
        """Its times."""
        return ProvedMoments(list(moments_of(self.text)))

    def proved_by(self, elapsed: int) -> Moment | None:
        """The first of its times that an ID proves, first that which it opens with: most need no other."""
        if self.opening is not None and self.opening.is_proved_by(elapsed):
            return self.opening
        return self.moments.first(elapsed)

    @cached_property
    def hint(self) -> Hint | None:
        """What it says of all of its IDs."""
        time = line_time(self.text)
        return None if time is None else Hint(None, time)


def has_several(line: str, borns: list[tuple[int, int]]) -> bool:
    """Whether a line may have several messages: several IDs that are no offsetMsgIds, or several bornTimestamps."""
    if len(line) > _LONGEST:
        return False
    if borns:
        return any(ms != borns[0][1] for _, ms in borns)
    return len(line) > 2 * ID_DIGITS[0] and len(set(filter(_is_message, ID.findall(line)))) > 1


def hints_in(line: str) -> list[tuple[int, Hint | None]] | None:
    """From which place on which time holds, of a line that has several messages; None where one time holds for all.

    >>> one, other = "0A650701015518B4AAC211A2A7590001", "0A650702015518B4AAC21C273C900002"
    >>> said = hints_in(f"[(id={one}, time=2026-03-04 10:31:12), (id={other}, time=2026-05-06 11:31:13)]")
    >>> [str(hint.time) for _, hint in said]
    ['2026-03-04 10:31:12', '2026-05-06 11:31:13']
    """
    if not has_several(line, born_marks(line)):
        return None
    found = list(ID.finditer(line))
    root = _objects(line, found)
    hints = [(one.start(), _hint_of(_chain(root, one.start()), one.start(), one[0])) for one in found]
    if not any(hint for _, hint in hints):
        return None
    changes = [one for before, one in pairwise([(0, None), *hints]) if one[1] != before[1]]
    return changes if hints[0][1] is not None else [(0, None), *changes]


def hint_at(hints: list[tuple[int, Hint | None]], place: int) -> Hint | None:
    """What holds of the ID at a place of the line."""
    return hints[max(0, bisect_right(hints, place, key=itemgetter(0)) - 1)][1]


def _is_message(digits: str) -> bool:
    """Whether it is no offsetMsgId by its digits: the port of one has four of its eight digits at most."""
    if digits != digits.upper() or len(digits) not in (ID_DIGITS[0], ID_DIGITS[-1]):
        return digits == digits.upper()
    address = len(digits) - 24
    return digits[address : address + 4] != "0000"


def _objects(line: str, found: list[re.Match[str]]) -> _Object:
    """The objects of a line that hold IDs, in the line as a whole."""
    # A row of SQL is judged with its statement.
    root = _Object(0, None, len(line), line=line)
    messages = [one for one in found if _is_message(one[0])]
    if SQL.search(line) is None and any(
        _ENDS.search(line, one.end(), other.start()) for one, other in pairwise(messages)
    ):
        spans = (
            _escaped_lines(line) if _BREAK.search(line) else sorted({*_spans(line), *_elements(line)}, key=_outer_first)
        )
        for begin, end in spans:
            _put(root, begin, end, line, found)
    return root


def _put(root: _Object, begin: int, end: int, line: str, found: list[re.Match[str]]) -> None:
    """Puts brackets that hold an ID, and are no part of what is around them, to their place in the tree."""
    first = bisect_left(found, begin, key=re.Match.start)
    if first == len(found) or found[first].start() >= end:
        return
    parent, depth = root, 0
    while parent.inner and parent.inner[-1].end > begin:
        depth += 1
        if parent.inner[-1].end < end or depth == _DEEPEST:
            return  # a bracket that a tag cuts, or that is too deep
        parent = parent.inner[-1]
    parent.inner.append(_Object(begin, parent, end, line=line))


def _outer_first(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], -span[1]


def _escaped_lines(line: str) -> list[tuple[int, int]]:
    """From where to where lines are that are escaped in another: `2026-01-01 … \\n2026-01-01 …`."""
    breaks = [one.span() for one in _BREAK.finditer(line)]
    return [(start, stop) for (_, start), (stop, _) in pairwise([(0, 0), *breaks, (len(line), len(line))])]


class _Open:
    """Brackets or tags that are open, by their kind. Each is looked at once more when one of them closes."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = []
        self._kinds: Counter[str] = Counter()

    def begin(self, kind: str, place: int) -> None:
        """One that opens."""
        self._open.append((kind, place))
        self._kinds[kind] += 1

    def close(self, kind: str) -> int | None:
        """Where the last one of a kind began; it ends with all that began behind it. None where none is open."""
        while self._kinds[kind]:
            name, place = self._open.pop()
            self._kinds[name] -= 1
            if name == kind:
                return place
        return None


def _elements(line: str) -> Iterator[tuple[int, int]]:
    """Where elements of XML or HTML begin and end."""
    open_ones = _Open()
    for tag in _TAGS.finditer(line):
        if not tag["end"]:
            open_ones.begin(tag["name"], tag.start())
        elif (begin := open_ones.close(tag["name"])) is not None:
            yield begin, tag.end()


def _spans(line: str) -> Iterator[tuple[int, int]]:
    """Where the objects of a line begin and end; strings of JSON count only where an ID is in them."""
    bare = without_strings(line, kept=ID.search)
    open_ones = _Open()
    for mark in _BRACKETS.finditer(bare):
        if mark[0] not in _CLOSERS:
            open_ones.begin(mark[0], mark.start())
        elif (begin := open_ones.close(_CLOSERS[mark[0]])) is not None:
            named = _NAMED.search(line[max(0, begin - _FRONT) : begin])
            if named is None or ID.fullmatch(named["name"]) is not None:
                yield begin - (0 if named is None else len(named[0])), mark.end()


def _chain(root: _Object, place: int) -> list[_Object]:
    """The objects around a place, the innermost first."""
    chain = [root]
    while chain[0].inner:
        at = bisect_right(chain[0].inner, place, key=attrgetter("begin")) - 1
        if at < 0 or place >= chain[0].inner[at].end:
            break
        chain.insert(0, chain[0].inner[at])
    return chain


def _hint_of(chain: list[_Object], place: int, digits: str) -> Hint | None:
    """What dates an ID: the bornTimestamp of its object, else a time that it proves, else that of its object."""
    elapsed = int(digits[-VALUE_DIGITS:-COUNTER_DIGITS], 16)
    for one in chain:
        if one.borns:
            return Hint(_born_of(one.borns, place, elapsed), None)
    for one in chain:
        if (proved := one.proved_by(elapsed)) is not None:
            return Hint(None, proved.time)
    return next((one.hint for one in chain if one.hint is not None), None)


def _born_of(borns: list[tuple[int, int]], place: int, elapsed: int) -> int:
    """Of the bornTimestamps of an object that of an ID: which it proves, else the last in front, else the first."""
    nearest = borns[max(0, bisect_right(borns, place, key=itemgetter(0)) - 1)][1]
    proved = [ms for _, ms in borns if Moment(ms, 0, 0, True).is_proved_by(elapsed)]
    return nearest if nearest in proved or not proved else proved[0]
