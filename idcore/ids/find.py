"""Tokens in text: streams over lines of any length and finds what may be an id. Judges nothing, dates nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from string import hexdigits
from sys import intern

from idcore.base.layout import CLIENT_START, CLIENT_V1, ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids import makers, masks, rules
from idcore.ids.grouped_digits import joined_groups
from idcore.ids.identify import identify
from idcore.ids.line_moments import (
    Moment,
    born_marks,
    elapsed_of,
    line_time,
    named_day,
    prefix_time,
    stored_marks,
)
from idcore.ids.records import Hint, Records
from idcore.ids.records_in_line import hint_at, hints_in
from idcore.ids.tokens import Token

# A line up to this long is read as a whole, and dates its ids. A longer one is read in windows.
LONGEST_WHOLE_LINE = 1 << 20
_WINDOW = 1 << 18
# Digits of a run that can still be a candidate: the most of an id, and the four of an escape in front.
_LONGEST_RUN = ID_DIGITS[-1] + 4
# What is kept in front of a window, for escapes and labels.
_CONTEXT = 256

_RUN = lazy_pattern(rf"[0-9A-Fa-f]{{{ID_DIGITS[0]},}}")
_ESCAPED = ("3D", "3A", "22", "5B", "2C", "20")  # = : " [ , and a blank
_OCTAL = lazy_pattern(r"[0-3][0-7]{2}")
_NO_HEX = lazy_pattern(r"[^0-9A-Fa-f]")
_HEX_WORD = lazy_pattern(r"[0-9A-Fa-f]+")

# What may be between a label and its value: `msgId=`, `"msgId":"`, `\"msgId\": \"`, `OffsetID:      `,
# `Message ID: `, `%22msgId%22%3A%22`, `消息ID： `, `id -> [`, "msgId: `", `UNIQ_KEY为：`.
_SIGNS = " \t\"'\\=:：[({<`为是"
_NAMING = ("=", ":", "：", "->")
_ESCAPED_FRONT = lazy_pattern(r"(?:%(?:25)?|\\x|\\u00)[0-9A-Fa-f]{2}(?=[A-Za-z_])")
_LONGEST_FRONT = 6
_SIGNS_MOST = 40
_NAME = lazy_pattern(r"(?<![A-Za-z_])(?:\bmessage )?[A-Za-z_][A-Za-z0-9_]*+\Z", re.IGNORECASE)
# A path of Windows in front of a name, `C:\temp\`: the letter behind it escapes nothing.
_PATH = lazy_pattern(r"(?:(?<![0-9A-Za-z])[A-Za-z]:|\\\\[\w.$-]+)\\{1,2}(?:[^\\\s\"'<>|?*:=,;]+\\{1,2})*\Z")
_PATH_MOST = 260  # characters of one
_NAMES = frozenset(
    {
        "msgid",
        "msgids",
        "messageid",
        "message id",
        "offsetmsgid",
        "offsetid",
        "uniq_key",
        "transactionid",
        "__transactionid__",
        "origin_message_id",
        "uniqid",
        "uniqkey",
        "message_id",
        "msg_id",
        "offset_msg_id",
    }
)

LEAST_DIGITS = 20  # of an id that is cut: host, pid and loader of IPv4
# What is left of an ID in front of a mask or an ellipsis, or behind a name that vouches.
_CUT = lazy_pattern(
    rf"(?<![0-9A-Fa-f])([0-9A-Fa-f]{{{LEAST_DIGITS},{ID_DIGITS[0] - 1}}}"
    rf"|{CLIENT_START}[0-9A-Fa-f]{{{CLIENT_V1.digits - len(CLIENT_START) - 1}}}"
    rf"|[23Ff][0-9A-Fa-f]{{{ID_DIGITS[0]},{ID_DIGITS[-1] - 2}}})"  # of IPv6
    r"(?=[*…\"',;)\]}]|\.\.\.|x{3,}|X{3,}|\s+\S|\r?\Z)"
)
# How a line ends that goes on in the next: a soft break of mail, a shell's or a hyphen, the sign of an editor, or the
# edge of a cell in a table that a terminal drew, with empty cells behind it. What is in front of the rest: marks of a
# quoted mail, an indent, or the edge with empty cells in front.
_EDGE = "(?:[|]|│|┃|║)"
_CELLS = rf"(?:[ \t]{{0,200}}{_EDGE}){{1,20}}"
CONTINUED = "(?:=|\\\\|\u00ad|-|↵|⏎|" rf" ?{_EDGE}(?:{_CELLS})?[ \t]{{0,8}})?"
MARGIN = rf"(?:{_CELLS}[ \t]{{0,200}}|(?:[ \t]{{0,8}}>){{1,4}}[ \t]?|[ \t]{{1,40}}(?:↪ ?)?)?"
_MARGIN = 200  # characters of such a margin
LONGEST_END = 400  # characters of such an end that are looked at
_EDGES = lazy_pattern(_EDGE)
_LAST_RUN = lazy_pattern(rf"(?<![0-9A-Fa-f])[0-9A-Fa-f]{{1,{ID_DIGITS[-1]}}}(?={CONTINUED}\r?\Z)")
_FIRST_RUN = lazy_pattern(rf"{MARGIN}([0-9A-Fa-f]{{1,{ID_DIGITS[-1]}}})(?![0-9A-Za-z_])")  # "b" of "born" is no rest
# How an address of IPv6 begins: a global or a local one, or the loopback address.
_BEGINS_V6 = lazy_pattern("[23][0-9A-F]{3}|F[C-E][0-9A-F]{2}|0{20}")
_LINK_LOCAL = "FE80" + 12 * "0"
# What nobody sees between two digits: where a chat or a page may break them, the colours of grep and of a page.
_INVISIBLE = (
    "(?:\u200b|\u200c|\u200d|\u2060|\ufeff|\u00ad|<wbr ?/?>|&#8203;|&shy;|&#173;|\x1b\\[[0-9;]{0,20}[mK]"
    "|</?(?:span|em|mark|strong|font|b|i|u)(?: [^<>]{1,80})?>)+"
)
_SEEN = (
    "\x1b[",
    "\u200b",
    "<wbr",
    "</",
    "\u00ad",
    "&#8203;",
    "&shy;",
    "&#173;",
    "\u200c",
    "\u200d",
    "\u2060",
    "\ufeff",
)
_PART = rf"[0-9A-Fa-f]{{1,{ID_DIGITS[-1]}}}"
_PARTED = lazy_pattern(rf"(?<![0-9A-Fa-f])(?:{_PART}{_INVISIBLE}){{1,9}}{_PART}(?![0-9A-Fa-f])")
_UNSEEN = lazy_pattern(_INVISIBLE)
_SEND_REPORT = lazy_pattern(rules.SEND_REPORT)
# Queues of MQTT topics; those of lite topics (5.5) have a $ in their names.
_LIGHT_QUEUE = lazy_pattern(r"INNER_MULTI_DISPATCH[\"']?\s?[=:]\s?[\"']?%LMQ%[^$\s,}\"']{1,255}[\s,}\"']")


def find(text: str | Iterable[str]) -> Iterator[Token]:
    """Every candidate (so many digits as an id has) of a text, in order.

    `text` is a whole text or any pieces of one: lines with their ends, or chunks cut anywhere. An empty piece says that
    the next one may take long: no token waits for it. Memory stays bounded for
    lines of any length.
    """
    number = 1
    parts: list[str] = []
    held = 0
    window: _Windows | None = None
    lines = _Lines()
    for piece in (text,) if isinstance(text, str) else text:
        if not piece:
            yield from lines.flush()
        start = 0
        while True:
            end = piece.find("\n", start)
            part = piece[start:] if end < 0 else piece[start:end]
            for cut in range(0, len(part), _WINDOW) if len(part) > LONGEST_WHOLE_LINE else (0,):
                bit = part[cut : cut + _WINDOW] if len(part) > LONGEST_WHOLE_LINE else part
                if window is not None:
                    yield from window.feed(bit)
                    continue
                parts.append(bit)
                held += len(bit)
                if held > LONGEST_WHOLE_LINE:
                    yield from lines.close()
                    window = _Windows(number)
                    yield from window.feed("".join(parts))
                    parts, held = [], 0
            if end < 0:
                break
            yield from window.close() if window is not None else lines.take("".join(parts), number)
            parts, held, window = [], 0, None
            number += 1
            start = end + 1
    yield from window.close() if window is not None else lines.take("".join(parts), number)
    yield from lines.close()


class _Lines:
    """The lines of a text, each with its tokens, and with those that the break in front of it cuts in two."""

    def __init__(self) -> None:
        self._records = Records()
        self._before = ""
        self._open: list[Token] | None = None  # those of the line before, whose last may go on in the next

    def take(self, line: str, number: int) -> Iterator[Token]:
        if not line:  # a text may be a million of them
            yield from self._settle()
            self._before = line
            yield from self._records.take(line, [])
            return
        line, grouped = joined_groups(whole_digits(line))
        joined = list(self._joined(line, number))
        own = [replace(one, whole="grouped") if one.text in grouped else one for one in _of_line(line, number)]
        for one in joined:  # a piece of it may have the digits of another ID
            if self._open and self._open[-1].column == one.column:
                self._open.pop()
            own = [other for other in own if not (one.text.endswith(other.text) and line.find(other.text) < _MARGIN)]
        yield from self._settle()
        self._before, tokens = line, [*joined, *own]
        if tokens and _may_go_on(line, tokens[-1]):
            self._open = tokens
        else:
            yield from self._records.take(line, tokens)

    def _settle(self) -> Iterator[Token]:
        if self._open is not None:
            tokens, self._open = self._open, None
            yield from self._records.take(self._before, tokens)

    def flush(self) -> Iterator[Token]:
        """The tokens that wait for the rest of their record."""
        yield from self._settle()
        yield from self._records.flush()

    def close(self) -> Iterator[Token]:
        """The tokens that are left, where the text ends or goes on with a very long line."""
        yield from self._settle()
        self._before = ""
        yield from self._records.close()

    def _joined(self, line: str, number: int) -> Iterator[Token]:
        """The ID that begins in the line before and goes on here: of a terminal's width, or a soft break of mail."""
        if not self._before or (match := _FIRST_RUN.match(line)) is None:
            return
        rest = match[1]
        before = self._before
        begin = _LAST_RUN.search(before, max(0, len(before) - ID_DIGITS[-1] - LONGEST_END))
        if begin is None or not before[: begin.start()].strip(" \t>|│┃║"):
            return  # a column of digits is no broken text
        if len(_EDGES.findall(before, 0, begin.start())) != len(_EDGES.findall(line, 0, match.start(1))):
            return  # digits of another cell
        start = begin.start() + _escape(
            before[max(0, begin.start() - 2) : begin.start()],
            begin[0][:4],
            len(begin[0]) + len(rest),
        )
        text = before[start : begin.end()] + rest
        if start > begin.start() and len(begin[0]) in rules.CANDIDATE_DIGITS:
            return  # `traceId=3a…` is whole, whatever `=3a` may be elsewhere
        if is_cut_in_two(before[start : begin.end()], rest, vouched(before, start)):
            yield Token(
                text,
                number - 1,
                start + 1,
                _label(before, start),
                prefix_time=prefix_time(before),
                vouched=vouched(before, start),
                disowned=rules.other_thing(before[max(0, start - 48) : start]),
                whole="joined",
            )


def _may_go_on(line: str, token: Token) -> bool:
    """Whether the last string of a line may be the beginning of an ID: a piece of one, or an address of IPv6."""
    start, text = token.column - 1, token.text
    is_part = token.whole == "cut" or (ID_DIGITS[0] <= len(text) < ID_DIGITS[-1] and _BEGINS_V6.match(text) is not None)
    return is_part and (end := _LAST_RUN.search(line, start)) is not None and end.start() == start


def is_cut_in_two(first: str, rest: str, named: bool) -> bool:
    """Whether digits at the end of a line and those at the beginning of the next may be one ID.

    Of an ID of IPv6 a piece may have as many digits as another ID. Then its address, its loader or its port must show
    it. So must a name in front, or a link-local address, where the rest is an ID of IPv4 by its own digits.
    """
    digits, sizes = first + rest, {len(first), len(rest)}
    if len(digits) not in rules.CANDIDATE_DIGITS or not sizes & rules.CANDIDATE_DIGITS:
        return len(digits) in rules.CANDIDATE_DIGITS
    if len(digits) != ID_DIGITS[-1] or _BEGINS_V6.match(first) is None:
        return False
    if len(rest) == ID_DIGITS[0] and not (named or first.startswith(_LINK_LOCAL)):
        return False
    if len(first) == ID_DIGITS[0] and _of_known_client(first, 0):
        return False
    best = identify(digits).best
    return best is not None and best.certainty != "possible"


def whole_digits(text: str) -> str:
    """A text with what nobody sees between digits put behind them, where they are an id's only then."""
    return _PARTED.sub(_whole, text) if any(sign in text for sign in _SEEN) else text


def _whole(parted: re.Match[str]) -> str:
    parts = _UNSEEN.split(parted[0])
    if sum(map(len, parts)) not in rules.CANDIDATE_DIGITS or rules.CANDIDATE_DIGITS.intersection(map(len, parts)):
        return parted[0]
    return "".join([*parts, *_UNSEEN.findall(parted[0])])


def _of_line(line: str, number: int) -> Iterator[Token]:
    if len(line) < LEAST_DIGITS:
        return
    if number == 1 and line[0] == "\ufeff":
        line = line[1:]
    places = _places(line)
    if not places:
        return
    born = born_marks(line)
    tokens = _dated_tokens(line, places, number, born)
    gateway, reports_send = _is_of_mqtt(line), _SEND_REPORT.search(line) is not None
    if gateway or reports_send:
        tokens = (replace(token, gateway=gateway, reports_send=reports_send) for token in tokens)
    yield from tokens


def _dated_tokens(
    line: str, places: list[tuple[int, int, int]], number: int, born: list[tuple[int, int]]
) -> Iterator[Token]:
    """The tokens of a line, each with the time of its message."""
    hints = hints_in(line) if len(places) > 1 or len(born) > 1 else None
    if hints is not None:
        return (_with_hint(token, hint_at(hints, token.column - 1)) for token in _tokens(line, places, number, 0))
    prefix = prefix_time(line) if born else line_time(line)
    tokens = _tokens(line, places, number, 0, prefix, born)
    day = None if born or prefix is not None else named_day(line)
    return tokens if day is None else (replace(token, named_day=day) for token in tokens)


def _with_hint(token: Token, hint: Hint | None) -> Token:
    return token if hint is None else replace(token, born_ms=hint.born_ms, prefix_time=hint.time)


def _is_of_mqtt(line: str) -> bool:
    """Whether a printed record has the properties of rocketmq-mqtt's LmqQueueStoreManager."""
    return "originMqttTopic" in line or ("INNER_MULTI_DISPATCH" in line and _LIGHT_QUEUE.search(line) is not None)


class _Windows:
    """One very long line, taken in windows. It dates nothing: what belongs together may be in two of them."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._kept = ""
        self._kept_from = 0  # column, from 0, of the first character kept
        self._seen = 0  # columns below this one are done
        self._in_long_run = False

    def feed(self, piece: str) -> Iterator[Token]:
        if self._in_long_run:
            # A run that is longer than any id: only its end matters.
            end = _NO_HEX.search(piece)
            if end is None:
                self._kept_from += len(piece)
                return
            self._kept_from += end.start()
            self._seen = self._kept_from
            piece = piece[end.start() :]
            self._in_long_run = False
        text = self._kept + piece
        open_from = len(text.rstrip(hexdigits))  # a pattern would try it again from each digit of a long run
        yield from self._take(text, open_from)
        if len(text) - open_from > _LONGEST_RUN:
            self._in_long_run = True
            self._kept, self._kept_from = "", self._kept_from + len(text)
            return
        keep = max(0, open_from - _CONTEXT)
        self._seen = self._kept_from + open_from
        self._kept, self._kept_from = text[keep:], self._kept_from + keep

    def close(self) -> Iterator[Token]:
        if not self._in_long_run:
            yield from self._take(self._kept, len(self._kept))

    def _take(self, text: str, stop: int) -> Iterator[Token]:
        """The tokens of runs that begin at or behind `seen` and end at or before `stop`."""
        begin = self._seen - self._kept_from
        places = [place for place in _places(text[:stop]) if place[2] >= begin]
        if places:
            yield from _tokens(text, places, self._number, self._kept_from)


def _places(text: str) -> list[tuple[int, int, int]]:
    """(start, stop, start of the run) of every candidate: a maximal run, less the digits of an escape before it."""
    places = []
    for run in _RUN.finditer(text):
        first, stop = run.span()
        start = first
        if first:
            start += _escape(text[max(0, first - 2) : first], text[first : first + 4], stop - first)
            if text.startswith("=2001", first - 1) and (vouched(text, first) or _is_cut_v6(text, first, stop)):
                start = first  # an address of IPv6, and no blank
        if _is_cut_v6(text, start, stop):
            continue
        if _is_longer(text, start, stop):
            places.append((start, start + ID_DIGITS[0], first))
        elif stop - start in rules.CANDIDATE_DIGITS:
            places.append((start, stop, first))
    parted = list(_masked(text))
    starts = {first for *_, first in [*places, *parted]}
    for cut in _CUT.finditer(text):
        if cut.start() in starts:
            continue
        is_masked = cut.end() < len(text) and text[cut.end()] in "*….xX"
        if len(cut[0]) < ID_DIGITS[0] and _of_known_client(text, cut.start()):
            is_one = is_masked or vouched(text, cut.start())
        else:
            vouches = len(cut[0]) > ID_DIGITS[0] or _is_of_no_uniq(text, cut)
            is_named = vouches and _is_named_rest(text, cut.start(), cut[0])
            is_one = is_named or (is_masked and masks.is_broker_seen(f"{cut[0]}…"))
        if is_one:
            places.append((*cut.span(), cut.start()))
    return sorted([*places, *parted])


def _is_of_no_uniq(text: str, cut: re.Match[str]) -> bool:
    """Whether digits that are cut off show another kind of ID: nothing vouches for those of a msgId but its loader."""
    rest = masks.rest_of(cut[0], _label(text, cut.start()))
    return rest is not None and rest[0] != "uniq"


def _masked(text: str) -> Iterator[tuple[int, int, int]]:
    """Strings that a mask parts, behind a name that vouches, with a known loader or the port of a broker; not those
    that it only ends."""
    if not any(sign in text for sign in masks.SIGNS) or masks.NEAR.search(text) is None:
        return
    for match in masks.MASKED.finditer(text):
        start = match.start()
        if masks.is_only_ended(match[0]) or _HEX_WORD.fullmatch(match[0]) is not None:
            continue  # what `_CUT` finds
        shows_one = masks.is_loader_known(match[0]) or masks.is_broker_seen(match[0])
        if shows_one or _is_named_rest(text, start, match[0]):
            yield (start, match.end(), start)


def _is_named_rest(text: str, start: int, digits: str) -> bool:
    """Whether what is left of an ID has a name in front that says so."""
    label = _label(text, start)
    named = vouched(text, start) or (label is not None and label.lower() in _NAMES)
    return named and masks.rest_of(digits, label) is not None


def _other_thing(text: str, start: int, stop: int) -> str:
    """What names a string that is no message: a name in front, or the rest of a W3C traceparent around it."""
    digits = text[start:stop]
    around = text[max(0, start - 3) : start], text[stop : stop + 18]
    if len(digits) == ID_DIGITS[0] and digits == digits.lower() and rules.is_of_traceparent(*around):
        return rules.TRACEPARENT
    return rules.other_thing(text[max(0, start - 48) : start])


def _is_cut_v6(text: str, start: int, stop: int) -> bool:
    """Whether digits are what a mask leaves in front of an ID with an address of IPv6; no whole ID of a client is."""
    if stop - start == ID_DIGITS[0] and _of_known_client(text, start):
        return False
    return masks.is_cut_v6(text[start : min(stop, start + ID_DIGITS[-1])], text[stop : stop + 2 * ID_DIGITS[-1]])


def _is_longer(text: str, start: int, stop: int) -> bool:
    """Whether one digit or two are behind a msgId that a name vouches for: a platform's number of its parts.

    Those of 5.x clients have two digits more, and begin with 01.
    """
    size = stop - start
    if size != ID_DIGITS[0] + 1 and (size != CLIENT_V1.digits or text.startswith(CLIENT_START, start)):
        return False
    digits = text[start : start + ID_DIGITS[0]]
    return digits != digits.lower() and vouched(text, start) and _of_known_client(text, start)


def _of_known_client(text: str, start: int) -> bool:
    """Whether the digits of a msgId of IPv4 have the loader of a known client."""
    return makers.is_known(int(text[start + 12 : start + 20], 16))


def _escape(before: str, digits: str, size: int) -> int:
    """How many of `size` digits belong to an escape that begins in front of them. `digits` are the first four.

    %3D, \\x22 and \\u0022 of addresses and JSON; %253D of an address in an address; =3D of mail (quoted-printable);
    #011 of syslog and \\011; ^A of a terminal. Those of mail and syslog count only where an ID is behind them, because
    `msgId=3D…` may be a name and its value.
    """
    last = before[-1]
    if last == "%":
        return 4 if digits[:2] == "25" and _is_sign(digits[2:]) and size - 4 in rules.CANDIDATE_DIGITS else 2
    if before[:-1] == "\\" and last in "xu":
        return 2 if last == "x" else 4
    if last == "=" and _is_sign(digits[:2]):
        count = 2
    elif last in "#\\" and _OCTAL.match(digits):
        count = 3
    elif last == "^" and digits[0] in "ABCDEF":
        count = 1
    else:
        return 0
    return count if size - count in rules.CANDIDATE_DIGITS else 0


def _is_sign(digits: str) -> bool:
    return digits.upper() in _ESCAPED


def _tokens(
    text: str,
    places: list[tuple[int, int, int]],
    number: int,
    column_from: int,
    prefix: datetime | None = None,
    born: Sequence[tuple[int, int]] = (),
) -> Iterator[Token]:
    stop_before, label_before, stored = -1, None, stored_marks(text)
    for start, stop, _ in places:
        label = _label(text, start)
        if label is None and stop_before >= 0 and text[stop_before:start].strip(" \"'") == ",":
            label = label_before  # the next of a comma-joined list bears the name of the first
        longer = text[stop : stop + 1] in hexdigits and stop < len(text)
        whole = _is_candidate(text[start:stop]) and not _is_cut_v6(text, start, stop)
        yield Token(
            text[start:stop],
            number,
            column_from + start + 1,
            label,
            _born_of(born, start, text[start:stop]),
            prefix,
            vouched(text, start),
            _other_thing(text, start, stop),
            whole="longer" if longer else "whole" if whole else "cut",
            shown=rules.shows_id(_bytes(text[max(0, start - 40) : start]), _bytes(text[stop : stop + 8])),
            stored_ms=_nearest(stored, start),
        )
        stop_before, label_before = stop, label


def _born_of(marks: Sequence[tuple[int, int]], start: int, digits: str) -> int | None:
    """Of the bornTimestamps of a line that of an ID: which it proves, in front or behind, else `_nearest`.

    JSON has its fields in any order.
    """
    nearest = _nearest(marks, start)
    if nearest is None or len(marks) < 2 or nearest == marks[-1][1]:
        return nearest
    behind = marks[bisect_right(marks, start, key=itemgetter(0))][1]
    elapsed = elapsed_of(digits)
    front_is_own, behind_is_own = (any(map(Moment(ms, 0, 0, True).is_proved_by, elapsed)) for ms in (nearest, behind))
    return behind if behind_is_own and not front_is_own else nearest


def _nearest(marks: Sequence[tuple[int, int]], start: int) -> int | None:
    """Of several times of records the last in front of a token, else the first behind it."""
    return None if not marks else marks[max(0, bisect_right(marks, start, key=itemgetter(0)) - 1)][1]


def _is_candidate(text: str) -> bool:
    return len(text) in rules.CANDIDATE_DIGITS and _HEX_WORD.fullmatch(text) is not None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _label(text: str, start: int) -> str | None:
    """The label in front of a value, past quotes, brackets and one of the signs that give a name its value."""
    before = text[max(0, start - _SIGNS_MOST) : start]
    rest = before.rstrip(_SIGNS)
    signs = before[len(rest) :]
    while rest:
        arrow = rest.endswith("->")
        sign, begin = ("->", len(rest) - 2) if arrow else rules.sign_before(rest, len(rest))
        if not arrow and (begin == len(rest) - 1 or sign not in _SIGNS):
            break
        bare = rest[:begin].rstrip(_SIGNS)
        signs += sign + rest[len(bare) : begin]
        rest = bare
    if not rest or not (rest[-1].isalnum() or rest[-1] == "_"):
        return None
    end = start - (len(before) - len(rest))
    match = _NAME.search(text[max(0, end - _SIGNS_MOST) : end])
    if match is None:
        return None
    begin = end - len(match.group())
    front = max(0, begin - _LONGEST_FRONT)
    if (escaped := _ESCAPED_FRONT.search(text[front:end])) is not None:
        begin = max(begin, front + escaped.end())
    name, before = text[begin:end], text[max(0, begin - 1) : begin]
    if before != "\\" or _PATH.search(text[max(0, begin - _PATH_MOST) : begin]) is None:
        name = rules.behind_escape(name, before)
    if name.lower() in _NAMES:
        return intern(name)  # a thousand lines have one name
    name = name.rpartition(" ")[2]
    if name.lower() not in _NAMES and not any(sign in signs for sign in _NAMING):
        return None  # only blanks between: a word of the sentence, not a name
    if len(name) >= 8 and _HEX_WORD.fullmatch(name):
        return None
    return name


# The same as bytes: a quote, and what gives a name its value. In front of a name may be the end of an escape.
_ESCAPE = r"(?:[%=](?:25)?|\\x|\\u00)"
_QUOTE_BYTES = (
    rf"(?:\\{{0,{rules.BACKSLASHES_MOST}}}[\"']|{'|'.join(map(re.escape, rules.ENTITIES))}|{_ESCAPE}2[27])?".encode()
)
_VALUE_BYTES = rf"\s?(?:[=:]|{_ESCAPE}3[ADad])\s?".encode()
_FRONT_BYTES = rf"(?:\b|{_ESCAPE}[0-9A-Fa-f]{{2}})".encode()


def behind_label(label: str, digits: bytes) -> re.Pattern[bytes]:
    """An id behind a label, as the scan reads them: `msgId=`, `"msgId": "`, `%22msgId%22%3A%22`."""
    name = re.escape(label.encode())
    return lazy_pattern(_FRONT_BYTES + name + _QUOTE_BYTES + _VALUE_BYTES + _QUOTE_BYTES + rb"(" + digits + rb")")


def vouched(text: str, start: int) -> bool:
    """Whether the name in front of a string vouches that it is an ID."""
    end = start
    for _ in range(rules.LABEL_SIGNS_MOST):
        sign, begin = rules.sign_before(text, end)
        if not sign or sign not in rules.LABEL_SIGNS:
            break
        end = begin
    return rules.vouches(text[max(0, end - 16) : end])
