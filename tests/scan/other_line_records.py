"""Which time of a line of several messages dates which of its IDs, for the twin: by all of its brackets."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise

from tests.scan import dates
from tests.scan.other_dates import found_in, is_sql, proves

EPOCH = datetime(1970, 1, 1)
ANY_ID = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{32}|[0-9A-Fa-f]{34}|[0-9A-Fa-f]{56})(?![0-9A-Fa-f])")
PAIRS = {"}": "{", "]": "[", ")": "("}
Span = tuple[int, int]


def texts_in(data: bytes) -> list[tuple[int, bytes | None]] | None:
    """Of each ID of a line its byte, and a text that dates it; None where the line has one message, or one time."""
    if len(data) > 1 << 20:
        return None
    line = data.decode(errors="replace")
    ids = [*ANY_ID.finditer(line)]
    messages = [one for one in ids if is_message(one[0])]
    borns = {int(value) for value in dates.BORN_MARK.findall(data)}
    if len(borns) < 2 and (borns or len({one[0] for one in messages}) < 2):
        return None
    spans = objects(line) if is_closed_between(line, messages) and not is_sql(line) else []
    spans = [span for span in spans if any(span[0] <= one.start() < span[1] for one in ids)]
    found = []
    for one, place in zip(ids, (at.start() for at in re.finditer(ANY_ID.pattern.encode(), data)), strict=True):
        around = sorted(
            (span for span in spans if span[0] <= one.start() < span[1]), key=lambda span: span[1] - span[0]
        )
        levels = [(span[0], less(line, span, spans)) for span in [*around, (0, len(line))]]
        found.append((place, said_by(levels, one.start(), int(one[0][-12:-4], 16))))
    return found if any(text for _, text in found) else None


def is_message(digits: str) -> bool:
    port = {32: digits[8:12], 56: digits[32:36]}.get(len(digits), "")
    return digits == digits.upper() and port != "0000"


def is_closed_between(line: str, messages: list[re.Match[str]]) -> bool:
    return any(
        sign in line[one.end() : other.start()] for one, other in pairwise(messages) for sign in (*PAIRS, "</", "\\n")
    )


def objects(line: str) -> list[Span]:
    """From where to where objects are: brackets without a name, or with an ID as their name; or elements."""
    breaks = [one.span() for one in re.finditer(r"\\{1,3}n", line)]
    if breaks:
        return list(zip([0, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(line)], strict=True))
    strings = re.compile(r'"(?:[^"\\\n]|\\.)*"')
    bare = strings.sub(lambda one: one[0] if ANY_ID.search(one[0]) else "_" * len(one[0]), line)
    stack: list[tuple[str, int]] = []
    found = []
    for at, sign in enumerate(bare):
        if sign in PAIRS.values():
            stack.append((sign, at))
        elif sign in PAIRS and any(one == PAIRS[sign] for one, _ in stack):
            while stack[-1][0] != PAIRS[sign]:
                stack.pop()
            begin = stack.pop()[1]
            head = line[max(0, begin - 120) : begin]
            part = re.search(r"([\w.@$()-]*)\\{0,7}[\"']?\s?[:=]\s?\\{0,7}[\"']?(?:[\w.$@]+\s?)?$", head)
            if part is None or ANY_ID.fullmatch(part[1]):
                found.append((begin if part is None else begin - len(head) + part.start(), at + 1))
    return without_cut([span for span in (*found, *elements(line)) if ANY_ID.search(line, *span)])


def elements(line: str) -> list[Span]:
    stack: list[tuple[str, int]] = []
    found = []
    for tag in re.finditer(r"<(/?)([A-Za-z][\w:.-]*)[^<>]*>", line):
        if not tag[1]:
            stack.append((tag[2], tag.start()))
        elif any(name == tag[2] for name, _ in stack):
            while stack[-1][0] != tag[2]:
                stack.pop()
            found.append((stack.pop()[1], tag.end()))
    return found


def without_cut(spans: list[Span]) -> list[Span]:
    """Those that no other cuts: of two that do, the first."""
    kept: list[Span] = []
    for begin, end in sorted({*spans}, key=lambda span: (span[0], -span[1])):
        if not any(first < begin < last < end for first, last in kept):
            kept.append((begin, end))
    return kept


def less(line: str, span: Span, spans: list[Span]) -> str:
    """The text of an object with blanks for those in it."""
    signs = [*line]
    for begin, end in spans:
        if span[0] <= begin and end <= span[1] and (begin, end) != span:
            signs[begin:end] = " " * (end - begin)
    return "".join(signs[span[0] : span[1]])


def said_by(levels: list[tuple[int, str]], place: int, elapsed: int) -> bytes | None:
    for begin, text in levels:
        marks = [(begin + one.start(), int(one[1])) for one in BORN.finditer(text)]
        if marks:
            in_front = [ms for at, ms in marks if at <= place]
            nearest = in_front[-1] if in_front else marks[0][1]
            own = [ms for _, ms in marks if proves((ms, 0, 0, True), elapsed)]
            return f"bornTimestamp={own[0] if own and nearest not in own else nearest}".encode()
    for _, text in levels:
        opening = opened(text)
        moments = [] if opening is None else [(ms_of(opening[0]), opening[1], 1_000, True)]
        for one in [*moments, *found_in(text)]:
            if proves(one, elapsed):
                return as_written(EPOCH + timedelta(milliseconds=one[0]), one[1])
    for _, text in levels:
        moment = dates.moment_of(text.encode())
        if moment is not None:
            return as_written(*moment)
    return None


BORN = re.compile(dates.BORN_MARK.pattern.decode(), re.IGNORECASE)


def opened(text: str) -> tuple[datetime, int | None] | None:
    found = dates.opening_in(text.encode())
    return None if found is None else dates.opening_of(found)


def ms_of(wall: datetime) -> int:
    return round((wall - EPOCH) / timedelta(milliseconds=1))


def as_written(wall: datetime, ahead: int | None) -> bytes:
    zone = "" if ahead is None else f"{'-' if ahead < 0 else '+'}{abs(ahead) // 60:02d}:{abs(ahead) % 60:02d}"
    return f"{wall:%Y-%m-%d %H:%M:%S}.{wall.microsecond // 1000:03d}{zone}".encode()
