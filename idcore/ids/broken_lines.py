"""Text whose line breaks cut IDs in two, with each break put behind its ID. What the scan reads of small texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from idcore.base.layout import ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids import rules
from idcore.ids.find import CONTINUED, LONGEST_END, MARGIN, find, is_cut_in_two, vouched, whole_digits
from idcore.ids.grouped_digits import joined_groups
from idcore.ids.identify import identify, judge

MOST = 4 << 20  # bytes of a text that a person may have copied from a terminal, a chat or a mail
SAMPLE = 64 << 10  # of a larger text so many bytes behind MOST show whether its IDs are cut
NEAR = 64  # bytes on each side of a break that a cut ID needs
_LINE = 4_096  # bytes of the broken line that are looked at
_DIGITS = rf"[0-9A-Fa-f]{{1,{ID_DIGITS[-1] - 1}}}"
_HEX = b"0123456789ABCDEFabcdef"
_CONTINUED = lazy_pattern(rf"{CONTINUED}\r?".encode())
_MAY_FOLLOW = " \t\r=\\-|│┃║\u00ad↵⏎".encode()  # the bytes of its signs
_REST = lazy_pattern(rf"({MARGIN})({_DIGITS})(?![0-9A-Za-z_])".encode())
_MARGINS = b" \t\r>|"  # around a column
_HALF = ID_DIGITS[0] // 2
# How many digits may be around a break in an ID: with those of an escape in front, which are at most the four of %253D.
_AROUND = frozenset(digits + more for digits in ID_DIGITS for more in range(5))
_LAST = lazy_pattern(rf"(?<![0-9A-Fa-f]){_DIGITS}\Z".encode())
_FIRST = lazy_pattern(rf"(?:[ \t]{{0,8}}>){{0,4}}[ \t]{{0,8}}({_DIGITS})(?![0-9A-Za-z_])".encode())


def cut_ids(text: bytes, first: int, last: int) -> Iterator[tuple[int, str]]:
    """IDs that a line feed between two places of a text cuts, certain by their digits alone: where, and the digits.

    >>> list(cut_ids(b"msgId=0A6408A4001E18B4AAC20E41\\n363B0037 done", 0, 40))
    [(6, '0A6408A4001E18B4AAC20E41363B0037')]
    """
    at = text.find(b"\n", first, last)
    while at >= 0:
        end = at - text.startswith(b"\r", at - 1)
        # half of the digits are on one side: most lines are told apart by that
        half = text[end - _HALF : end].isalnum() or text[at + 1 : at + 32].lstrip(b" \t>")[:_HALF].isalnum()
        before = _LAST.search(text, max(0, end - NEAR), end) if half else None
        behind = _FIRST.match(text, at + 1, at + 2 * NEAR) if before is not None else None
        if before is not None and behind is not None:
            digits = (before[0] + behind[1]).decode()
            is_column = text[before.start() - 1 : before.start()] in (b"\n", b"")
            name = text[max(0, before.start() - NEAR) : before.start()].decode("utf-8", "replace")
            named = vouched(name, len(name))
            if not is_column and is_cut_in_two(before[0].decode(), behind[1].decode(), named):
                best = identify(digits).best
                if best is not None and best.certainty != "possible":
                    yield before.start(), digits
        at = text.find(b"\n", at + 1, last)


def unbroken(text: bytes) -> bytes:
    """The text of the same length in which IDs that `find` joins are whole, and what was in them is behind them.

    >>> unbroken(b"msgId=0A6408A4001E18B4AAC20E41\\n363B0037 done")
    b'msgId=0A6408A4001E18B4AAC20E41363B0037\\n done'
    """
    whole, _ = joined_groups(whole_digits(text.decode("utf-8", "surrogateescape")))
    text = whole.encode("utf-8", "surrogateescape")
    pieces = []
    done = 0
    for begin, end, rest in _breaks(text):
        line = max(text.rfind(b"\n", 0, begin) + 1, begin - _LINE)
        part = text[line : rest.end()].decode("utf-8", "replace")
        if any(token.whole == "joined" and judge(token).best is not None for token in find(part)):
            pieces += [text[done:end], rest[2], text[end : rest.start(2)]]
            done = rest.end()
    return b"".join([*pieces, text[done:]]) if pieces else text


def _breaks(text: bytes) -> Iterator[tuple[int, int, re.Match[bytes]]]:
    """Line feeds with as many digits around them as an ID has: from where to where those in front are, and the rest.

    A text may be a column of a hundred thousand IDs: what no ID is goes by without a look at its two lines.
    """
    line, at = 0, text.find(b"\n")
    while at >= 0:
        is_column = not text[line:at].strip(_MARGINS).strip(_HEX)
        rest = None if is_column else _REST.match(text, at + 1)
        if rest is not None and (len(rest[2]) >= _HALF or _may_end_with_half(text, at)):
            begin, end = _last_digits(text, at)
            first, second = end - begin, len(rest[2])
            is_whole = first + second < ID_DIGITS[-1] and not rules.CANDIDATE_DIGITS.isdisjoint((first, second))
            if first and first + second in _AROUND and not is_whole and text[line:begin].strip(_MARGINS):
                yield begin, end, rest
        line, at = at + 1, text.find(b"\n", at + 1)


def _may_end_with_half(text: bytes, at: int) -> bool:
    """Whether half the digits of an ID may be in front of a line feed: most lines are told apart by that."""
    return not text[at - 1 : at].isalnum() or text[max(0, at - _HALF) : at].isalnum()


def _last_digits(text: bytes, at: int) -> tuple[int, int]:
    """From where to where the digits are that end the line in front of a line feed, or go on behind it: maybe none."""
    line = text[max(0, at - ID_DIGITS[-1] - LONGEST_END) : at]
    end = at - len(line) + len(line.rstrip(_MAY_FOLLOW))
    last = text[max(0, end - ID_DIGITS[-1]) : end]
    size = len(last) - len(last.rstrip(_HEX))
    if not 0 < size < ID_DIGITS[-1] or _CONTINUED.fullmatch(text, end, at) is None:
        return end, end
    return end - size, end
