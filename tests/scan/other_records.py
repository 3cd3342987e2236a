"""Times from other lines of a record, for the twin: for each line of IDs all lines around it. Knows no idcore."""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import accumulate, compress

from tests.scan import dates
from tests.scan.other_dates import ID, day_of, found_in, is_headline, is_time_field, other_of, proves

EPOCH = datetime(1970, 1, 1)
REACH = 8_192
MOST = 16
BLANK = bytes(range(33))
HOURS = "|".join("时時点시：").encode()
ANY_ID = re.compile(rb"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{32}|[0-9A-Fa-f]{34}|[0-9A-Fa-f]{56})(?![0-9A-Fa-f])")
STORE = re.compile(rb"[^A-Za-z0-9]*store", re.IGNORECASE)
MAY_BE = re.compile(
    rb"\d(?::|%%3A|%%3a|%%253A|%%253a)\d\d(?!\d)|\d(?:%s)|\d{10}|\d{8}[T_-]\d{6}"
    rb"|\d(?:[ T_-]|%%20|%%2520)\d\d\.\d\d\.\d\d"
    rb"|\d(?:[ T_-]|%%20|%%2520)\d\d-\d\d-\d\d|(?:\xef\xbc[\x90-\x99]){2}" % HOURS
)


def dated_text(data: bytes, begin: int, end: int) -> bytes:
    """A text that dates the IDs of a line: the line itself, or one made of what its record says."""
    line = data[begin:end]
    if dates.moment_of(line) or dates.BORN_MARK.search(line):
        return line
    return record_text(data, begin, end)


def record_text(data: bytes, begin: int, end: int) -> bytes:
    """A text of what the lines around a line say, or the day without a year that it has."""
    line = data[begin:end]
    elapsed = [int(one[0][-12:-4], 16) for one in ID.finditer(line.decode(errors="replace"))]
    day = day_of(line.decode(errors="replace"), elapsed)
    is_bare = not re.search(rb"[g-zG-Z]", line)
    if end - begin > dates.LINE or (is_bare and is_of_list(data, begin, end)):
        return line if day is None else named(day)
    front, back = near(data, begin, end)
    of_its_record, mine = None, (front, back)
    objects = None if is_bare else of_object(line, front, back)
    if objects is not None:
        (own_front, outer_front), (own_back, outer_back) = objects
        of_its_record = record_of(of_record(own_front), of_record(own_back), elapsed, is_one=True)
        front, back, mine = [*own_front, *outer_front], [*own_back, *outer_back], (own_front, own_back)
    items = None if is_bare or objects is not None else of_element(line, front, back) or of_item(line, front, back)
    if items is not None:
        (own_front, outer_front), (own_back, outer_back) = items
        of_its_record = record_of(of_record(own_front), of_record(own_back), elapsed, is_one=True)
        front, back, mine = [*own_front, *outer_front], [*own_back, *outer_back], (own_front, own_back)
    if of_its_record is None:
        of_its_record = (of_cell if is_bare else record_of)(of_record(front), of_record(back), elapsed)
    if of_its_record is None:
        of_its_record = stored_of_cell(*mine) if is_bare else stored_near(line, *mine)
    if day is not None and (of_its_record is None or not is_proved(of_its_record, elapsed)):
        return named(day)
    return line if of_its_record is None else of_its_record


STORE_NAME = rb"(?:store[_ -]?(?:date)?time(?:stamp)?|%s|%s)" % ("存储时间".encode(), "存儲時間".encode())
BORN_NAME = re.compile(
    r"[^\w]{0,60}(?:(?:born|sen[dt]|produced?)[ _-]?(?:date)?(?:at|date|time(?:[ _-]?stamp)?)"
    r"|生产时间|生产日期|发送时间|发送日期|产生时间|产生日期)\b",
    re.IGNORECASE,
)
STORE_COLUMN = re.compile(rb"\s*" + STORE_NAME + rb"\s*", re.IGNORECASE)
STORED_AT = re.compile(
    STORE_NAME + rb"[\"']?\s{0,9}(?:[:=]|\xef\xbc\x9a)?\s{0,9}[\"'\[]?(?:(\d{13})(?!\d)|(?=\d))", re.IGNORECASE
)


def stored_near(line: bytes, front: list[bytes], back: list[bytes]) -> bytes | None:
    """The store time of a line, else of one near it that has no ID."""
    near_ones = [text for text in (*of_record(front)[0], *of_record(back)[0]) if not holds_id(text)]
    for text in (line, *near_ones):
        found = STORED_AT.search(text)
        if found is None:
            continue
        if found[1]:
            return dates.STORED_MARK + found[1]
        opening = opened(text[found.end() : found.end() + 40])
        if opening is not None:
            return stored_at(*opening)
    return None


def stored_of_cell(front: list[bytes], back: list[bytes]) -> bytes | None:
    """The first time behind a cell, where a column is of store times."""
    if not any(STORE_COLUMN.fullmatch(text) for text in front):
        return None
    opening = next((one for text in of_record(back)[0] if (one := dates_of(text)) is not None), None)
    return None if opening is None else stored_at(*opening)


def dates_of(line: bytes) -> tuple[datetime, int | None] | None:
    found = dates.opening_in(line)
    return None if found is None else dates.opening_of(found)


def stored_at(wall: datetime, ahead: int | None) -> bytes:
    ms = round((wall - EPOCH) / timedelta(milliseconds=1)) - (ahead or 0) * 60_000
    return dates.STORED_MARK + f"{ms}{' wall' if ahead is None else ''}".encode()


Side = tuple[list[bytes], list[bytes]]  # the lines of the record, and those behind a blank one


def named(day: datetime) -> bytes:
    return dates.DAY_MARK + day.isoformat().encode()


def is_proved(text: bytes, elapsed: list[int]) -> bool:
    """Whether an ID proves what a record says: its bornTimestamp or its time."""
    if (born := dates.born_of(text)) is not None:
        return any(proves((born, 0, 0, True), ms) for ms in elapsed)
    if text.startswith(dates.DAY_MARK) or (found := dates.MOMENT.search(text)) is None:
        return False
    wall, ahead = dates.opening_of(found) or (datetime(1970, 1, 1), None)
    return any(proves((round((wall - EPOCH) / timedelta(milliseconds=1)), ahead, 1_000, True), ms) for ms in elapsed)


BRACKET = re.compile(rb"[\[\]{}]")


@lru_cache(maxsize=1 << 16)
def has_bracket(line: bytes) -> bool:
    return b"{" in line or b"[" in line


def of_object(
    line: bytes, front: list[bytes], back: list[bytes]
) -> tuple[tuple[list[bytes], list[bytes]], tuple[list[bytes], list[bytes]]] | None:
    """The lines of the object that has a line, and of what holds it, on both sides: all brackets from the first on.

    Lines of other objects of a list are left out.
    """
    ids = list(ANY_ID.finditer(line))
    if not ids or not any(map(has_bracket, (*front, line))):
        return None
    before = b"\n".join([*front[::-1], b""])
    whole = b"\n".join([before + line, *back])
    begin, end = len(before) + ids[0].start(), len(before) + ids[-1].end()
    bare = re.sub(rb'"(?:[^"\\\n]|\\.)*"', lambda one: b"_" * len(one[0]), whole)
    kept = bytearray(b"1" * len(whole))
    stack: list[tuple[int, bool, bool]] = []
    around_id: list[tuple[int, bool, bool]] | None = None
    close = None
    for mark in BRACKET.finditer(bare):
        at = mark.start()
        if begin <= at < end:
            continue
        if at >= end and around_id is None:
            around_id = [*stack]
        if mark[0] in b"[{":
            head = bare[max(0, at - 40) : at].rstrip()[-1:]
            is_named = head in (b":", b"=")
            is_part = is_named or (mark[0] == b"[" and not head.isalpha())
            stack.append((at, is_part, is_named or mark[0] == b"["))
            continue
        if not stack:
            if at < begin:
                kept[: at + 1] = bytes(at + 1)
            continue
        first, is_part, is_kept = stack.pop()
        if around_id is not None and first < begin:
            close = at if close is None and own_of(around_id) == first else close
        elif (
            not is_kept
            and all(one[0] < begin for one in stack)
            and (at >= end or all(is_open(bare, one[0], begin) for one in stack))
        ):
            kept[first : at + 1] = bytes(at + 1 - first)
    around_id = [*stack] if around_id is None else around_id
    own = own_of(around_id)
    if own is None:
        return None
    behind = [one for one in stack if one[0] >= end]
    if behind:
        kept[behind[0][0] :] = bytes(len(whole) - behind[0][0])
    stop = len(whole) if close is None else close + 1
    cut = len(before)
    if own >= cut and close is not None and b"\n" not in whole[end:stop]:
        return None
    texts = [lines_of(whole, kept, *span) for span in ((own, cut), (0, own), (end, stop), (stop, len(whole)))]
    own_front = texts[0][:-1] if own < cut else []
    return (own_front[::-1], texts[1][::-1]), (texts[2][1:], texts[3] if close is not None else [])


TAG = re.compile(rb"<(/?)([A-Za-z][\w:.-]*)(?:\s[^<>]*)?(?<!/)>")


def tags_of(lines: list[bytes]) -> list[tuple[int, bool, bytes]]:
    return [(at, *tag) for at, one in enumerate(lines) for tag in tags_in(one)]


@lru_cache(maxsize=1 << 16)
def tags_in(line: bytes) -> list[tuple[bool, bytes]]:
    return [(bool(tag[1]), tag[2]) for tag in TAG.finditer(line)]


def left_open(tags: list[tuple[int, bool, bytes]]) -> list[tuple[int, bytes]]:
    """The tags, in front of an ID, that no tag behind them closes."""
    left: list[tuple[int, bool, bytes]] = []
    for tag in tags:
        if left and tag[1] and not left[-1][1] and left[-1][2] == tag[2]:
            left.pop()
        else:
            left.append(tag)
    found, closed = [], list[bytes]()
    for at, is_end, name in reversed(left):
        if is_end:
            closed.append(name)
        elif closed and closed[-1] == name:
            closed.pop()
        else:
            found.append((at, name))
    return found


def of_element(
    line: bytes, front: list[bytes], back: list[bytes]
) -> tuple[tuple[list[bytes], list[bytes]], tuple[list[bytes], list[bytes]]] | None:
    """The lines of the element of XML that has a line, and of what is around all of it, on both sides."""
    if left_open(tags_of([line])) or not any(map(tags_in, front)):
        return None
    own = left_open([(len(front) - 1 - at, *rest) for at, *rest in tags_of(front[::-1])])  # type: ignore[misc]
    ends, depth = [], list[bytes]()
    for at, is_end, name in tags_of(back):
        if not is_end:
            depth.append(name)
        elif depth and depth[-1] == name:
            depth.pop()
        else:
            ends.append((at, name))
    pairs = 0
    while pairs < min(len(own), len(ends)) and own[pairs][1] == ends[pairs][1]:
        pairs += 1
    if not pairs:
        return None
    (begin, _), (first, _), (end, _), (last, _) = own[0], own[pairs - 1], ends[0], ends[pairs - 1]
    return (front[: begin + 1], front[first + 1 :]), (back[: end + 1], back[last + 1 :])


def of_item(
    line: bytes, front: list[bytes], back: list[bytes]
) -> tuple[tuple[list[bytes], list[bytes]], tuple[list[bytes], list[bytes]]] | None:
    """The lines of the item of an indented list that has a line, and of what is around the list, on both sides."""
    if not any(map(has_dash, (line, *front))):
        return None
    texts = [indented(one) for one in (*front[::-1], line, *back)]
    own = len(front)

    def depth(at: int) -> int | None:
        return texts[at][0]

    def is_dash(at: int) -> bool:
        return texts[at][1]

    begin = own
    while not is_dash(begin) or (begin < own and (depth(begin) or 0) >= (depth(own) or 0)):
        if begin < own and depth(begin) == 0:
            return None
        begin -= 1
        if begin < 0:
            return None
    edge = depth(begin) or 0
    ends = [at for at in range(own + 1, len(texts)) if (deep := depth(at)) is not None and deep <= edge]
    end = min(ends, default=len(texts))
    if end - begin < 2:
        return None
    outside = [
        at
        for at in (*range(begin), *range(end, len(texts)))
        if (deep := depth(at)) is not None and (deep < edge or (deep == edge and not is_dash(at)))
    ]
    lines = [*front[::-1], line, *back]
    last_before = max((at for at in outside if at < begin), default=-1)
    first_behind = min((at for at in outside if at >= end), default=len(texts))
    return (lines[begin:own][::-1], lines[: last_before + 1][::-1]), (lines[own + 1 : end], lines[first_behind:])


@lru_cache(maxsize=1 << 16)
def indented(line: bytes) -> tuple[int | None, bool]:
    """By how many signs, None if it is blank, and whether a dash opens it."""
    text = line.decode(errors="replace")
    bare = text.lstrip()
    return len(text) - len(bare) if bare else None, bare[:2] == "- "


@lru_cache(maxsize=1 << 16)
def has_dash(line: bytes) -> bool:
    return indented(line)[1]


def own_of(around_id: list[tuple[int, bool, bool]]) -> int | None:
    return next((at for at, is_part, _ in reversed(around_id) if not is_part), None)


def is_open(bare: bytes, at: int, begin: int) -> bool:
    """Whether a bracket is not closed in front of the IDs."""
    depth = 0
    for mark in BRACKET.finditer(bare, at, begin):
        depth += 1 if mark[0] in b"[{" else -1
        if depth == 0:
            return False
    return True


def lines_of(whole: bytes, kept: bytearray, first: int, last: int) -> list[bytes]:
    return bytes(compress(whole[first:last], kept[first:last])).split(b"\n")


def record_of(front: Side, back: Side, elapsed: list[int], is_one: bool = False) -> bytes | None:
    """A text that says what the lines around do."""
    before, behind, beyond = front[0], back[0], [*front[1], *back[1]]
    for text in (*before, *behind):
        born = dates.born_of(text)
        if born is not None and any(proves((born, 0, 0, True), ms) for ms in elapsed):
            return f"bornTimestamp={born}".encode()
    ahead, after = said_in_front(before, elapsed), said_behind(behind, elapsed, is_one)
    if ahead is not None and after is not None and not is_proved(ahead, elapsed):
        is_of_before = is_proved(after, elapsed) or (is_of_day(after, elapsed) and not is_of_day(ahead, elapsed))
        ahead = None if is_of_before else ahead
    if ahead is not None or after is not None:
        return ahead or after
    for text in (*before, *behind):
        if STORE.match(text) and (stored := stored_of(text.decode(errors="replace"), elapsed)) is not None:
            return stored
    for text in beyond:
        born = dates.born_of(text)
        if born is not None and any(proves((born, 0, 0, True), ms) for ms in elapsed):
            return f"bornTimestamp={born}".encode()
    for text in beyond:
        if (proved := proved_in(text, elapsed)) is not None:
            return proved
    days = (day_of(text.decode(errors="replace"), elapsed) for text in (*before, *behind))
    return next((named(day) for day in days if day is not None), None)


def said_in_front(before: list[bytes], elapsed: list[int]) -> bytes | None:
    for text in before:
        if moment := said_by(text, elapsed):
            return moment
    borns = [born for text in before if (born := dates.born_of(text)) is not None and not holds_id(text)]
    return f"bornTimestamp={borns[0]}".encode() if borns else None


def said_behind(behind: list[bytes], elapsed: list[int], is_one: bool) -> bytes | None:
    for text in behind:
        opening = None if STORE.match(text) else opened(text)
        is_open = opening is not None and not is_opening_proved(opening, elapsed)
        if not is_one and is_open and not is_time_field(*spanned(text)):
            return None  # another record begins
        if (born := dates.born_of(text)) is not None:
            if holds_id(text):
                continue
            return f"bornTimestamp={born}".encode()
        if moment := said_by(text, elapsed):
            return moment
    return None


def is_of_day(text: bytes, elapsed: list[int]) -> bool:
    """Whether an ID is of the 28 hours before a time, or of 14 hours behind it: by the first of any month."""
    wall, ahead = None, 0
    if (born := dates.born_of(text)) is not None:
        wall = EPOCH + timedelta(milliseconds=born)
    elif (found := dates.MOMENT.search(text)) is not None and (opening := dates.opening_of(found)) is not None:
        wall, ahead = opening[0], opening[1] or 0
    if wall is None:
        return False
    utc = wall - timedelta(minutes=ahead)
    months = [datetime(utc.year + at // 12, at % 12 + 1, 1) for at in range(utc.month - 4, utc.month + 2)]
    apart = [utc - month - timedelta(milliseconds=ms) for month in months for ms in elapsed]
    return any(timedelta(hours=-14) <= one <= timedelta(hours=28) for one in apart)


def is_of_list(data: bytes, begin: int, end: int) -> bool:
    """Whether a line next to one of bare IDs is as long, or none is behind it."""
    behind = data[end + 1 :].split(b"\n", 1)[0] if end < len(data) else None
    before = data[: begin - 1].rsplit(b"\n", 1)[-1] if begin else None
    if behind is None or len(behind) < 2:
        return True
    return any(one is not None and len(one) == end - begin for one in (before, behind))


def of_cell(front: Side, back: Side, elapsed: list[int]) -> bytes | None:
    """What an ID proves of the lines around its own, which has nothing else."""
    lines = [*front[0], *back[0], *front[1], *back[1]]
    for text in lines:
        born = dates.born_of(text)
        if born is not None and any(proves((born, 0, 0, True), ms) for ms in elapsed):
            return f"bornTimestamp={born}".encode()
    return next((proved for text in lines if (proved := proved_in(text, elapsed)) is not None), None)


def proved_in(text: bytes, elapsed: list[int]) -> bytes | None:
    """The first time of a line that an ID proves: the one that opens it, else any; a broker's only without a zone."""
    opening = None if STORE.match(text) else opened(text)
    if opening is None:
        if STORE.match(text):
            return stored_of(text.decode(errors="replace"), elapsed)
        if holds_id(text) and dates.born_of(text) is not None:
            return None
        every = [one for one in found_in(text.decode(errors="replace")) if one[1] is None or one[3]]
        one = next((one for one in every if any(proves(one, ms) for ms in elapsed)), None)
        return None if one is None else written(EPOCH + timedelta(milliseconds=one[0]), one[1])
    return written(*opening) if is_opening_proved(opening, elapsed) else None


def is_opening_proved(opening: tuple[datetime, int | None], elapsed: list[int]) -> bool:
    wall = round((opening[0] - EPOCH) / timedelta(milliseconds=1))
    return any(proves((wall, opening[1], 1_000, True), ms) for ms in elapsed)


@lru_cache(maxsize=1 << 16)
def holds_id(line: bytes) -> bool:
    """Its bornTimestamp and other times are of that ID's message."""
    return ANY_ID.search(line) is not None


def near(data: bytes, begin: int, end: int) -> tuple[list[bytes], list[bytes]]:
    """The lines in front and behind, the nearest first."""
    low, high = max(0, begin - REACH), end + REACH + 1
    starts, lines = lines_from(data)
    own = bisect_left(starts, begin)
    front = lines[bisect_left(starts, low) : own]
    if high >= len(data):
        return front[::-1], lines[own + 1 :]
    is_cut = data[high - 1 : high] != b"\n"  # it ends later
    return front[::-1], lines[own + 1 : bisect_left(starts, high)][: -1 if is_cut else None] + ([] if is_cut else [b""])


@lru_cache(maxsize=2)
def lines_from(data: bytes) -> tuple[list[int], list[bytes]]:
    """Where each line begins, and each line."""
    lines = data.split(b"\n")
    return [*accumulate((len(one) + 1 for one in lines[:-1]), initial=0)], lines


ROW = re.compile(rb"\*{5,} ?\d+\. row ?\*{5,}\s*|-\[ RECORD \d+ \][-+]*\s*")


def of_record(lines: list[bytes]) -> Side:
    own: list[bytes] = []
    beyond: list[bytes] = []
    here, blank = own, False
    for text in lines:
        kind = kind_of(text)
        if kind == "row" or (kind == "blank" and blank):
            break
        blank = kind == "blank"
        if blank:
            here = beyond
        elif kind == "time":
            here.append(text)
            if len(own) + len(beyond) == MOST:
                break
    return own, beyond


@lru_cache(maxsize=1 << 16)  # each line is around some thirty others
def kind_of(text: bytes) -> str:
    """A row of a query that begins, a blank line, one that may have a time, or any other."""
    if ROW.fullmatch(text):
        return "row"
    if not text.strip(BLANK):
        return "blank"
    return "time" if len(text) <= dates.LINE and MAY_BE.search(text) else ""


@lru_cache(maxsize=1 << 16)
def opened(line: bytes) -> tuple[datetime, int | None] | None:
    """The time that a line opens with; a headline has none."""
    found = dates.opening_in(line)
    return None if found is None or is_head(line) or has_own_day(line) else dates.opening_of(found)


@lru_cache(maxsize=1 << 16)
def has_own_day(line: bytes) -> bool:
    """Whether a line with an ID is dated by its day without a year, and by no other of its times."""
    if not holds_id(line) or dates.born_of(line) is not None or dates.moment_of(line) is not None:
        return False
    text = line.decode(errors="replace")
    return day_of(text, [int(one[0][-12:-4], 16) for one in ID.finditer(text)]) is not None


@lru_cache(maxsize=1 << 16)
def is_head(line: bytes) -> bool:
    found = dates.opening_in(line)
    return found is not None and not holds_id(line) and is_headline(*front_of(line, found.start()))


def spanned(line: bytes) -> tuple[str, str]:
    found = dates.opening_in(line)
    assert found is not None
    return line[: found.start()].decode(errors="replace"), line[found.end() :].decode(errors="replace")


def front_of(line: bytes, place: int) -> tuple[str, int]:
    return line.decode(errors="replace"), len(line[:place].decode(errors="replace"))


def stored_of(line: str, elapsed: list[int]) -> bytes | None:
    """A broker's time without a zone that an ID proves."""
    for one in found_in(line):
        if one[1] is None and any(proves(one, ms) for ms in elapsed):
            wall = datetime(1970, 1, 1) + timedelta(milliseconds=one[0])
            return f"{wall:%Y-%m-%d %H:%M:%S}.{wall.microsecond // 1000:03d}".encode()
    return None


def said_by(line: bytes, elapsed: list[int]) -> bytes | None:
    """The time of a line as it would open one."""
    if STORE.match(line):
        return None
    opening = opened(line)
    if opening is None and holds_id(line) and dates.born_of(line) is not None:
        return None
    if opening is None:
        other = other_of(line.decode(errors="replace"), elapsed, by_name=True)
        is_of_another = is_head(line) or has_own_day(line)
        if other is None or (is_of_another and not any(proves(other, ms) for ms in elapsed)):
            return None
        opening = datetime(1970, 1, 1) + timedelta(milliseconds=other[0]), other[1]
    is_of_birth = BORN_NAME.match(line.decode(errors="replace")) is not None and not holds_id(line)
    text = written(*opening)
    return stored_at(*opening) if is_of_birth and not is_of_day(text, elapsed) else text


def written(wall: datetime, ahead: int | None) -> bytes:
    zone = "" if ahead is None else f"{'-' if ahead < 0 else '+'}{abs(ahead) // 60:02d}:{abs(ahead) % 60:02d}"
    return f"{wall:%Y-%m-%d %H:%M:%S}.{wall.microsecond // 1000:03d}{zone}".encode()
