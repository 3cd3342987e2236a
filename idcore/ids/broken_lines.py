"""Text whose line breaks cut IDs in two, with each break put behind its ID. What the scan reads of small texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from idcore.base.layout import ID_DIGITS
from idcore.ids import rules
from idcore.ids.find import CONTINUED, MARGIN, find, is_cut_in_two, vouched, whole_digits
from idcore.ids.grouped_digits import joined_groups
from idcore.ids.identify import identify, judge

MOST = 4 << 20  # bytes of a text that a person may have copied from a terminal, a chat or a mail
SAMPLE = 64 << 10  # of a larger text so many bytes behind MOST show whether its IDs are cut
NEAR = 64  # bytes on each side of a break that a cut ID needs
_LINE = 4_096  # bytes of the broken line that are looked at
_DIGITS = rf"[0-9A-Fa-f]{{1,{ID_DIGITS[-1] - 1}}}"
_BREAK = re.compile(rf"(?<![0-9A-Fa-f])({_DIGITS})({CONTINUED}\r?\n{MARGIN})({_DIGITS})(?![0-9A-Za-z_])".encode())
_LAST = re.compile(rf"(?<![0-9A-Fa-f]){_DIGITS}\Z".encode())
_FIRST = re.compile(rf"(?:[ \t]{{0,8}}>){{0,4}}[ \t]{{0,8}}({_DIGITS})(?![0-9A-Za-z_])".encode())


def cut_ids(text: bytes, first: int, last: int) -> Iterator[tuple[int, str]]:
    """IDs that a line feed between two places of a text cuts, certain by their digits alone: where, and the digits.

    >>> list(cut_ids(b"msgId=0A6408A4001E18B4AAC20E41\\n363B0037 done", 0, 40))
    [(6, '0A6408A4001E18B4AAC20E41363B0037')]
    """
    at = text.find(b"\n", first, last)
    while at >= 0:
        end = at - text.startswith(b"\r", at - 1)
        # half of the digits are on one side: most lines are told apart by that
        half = text[end - 16 : end].isalnum() or text[at + 1 : at + 32].lstrip(b" \t>")[:16].isalnum()
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
    for broken in _BREAK.finditer(text):
        sizes = len(broken[1]), len(broken[3])
        if sum(sizes) < ID_DIGITS[0] or (sum(sizes) < ID_DIGITS[-1] and rules.CANDIDATE_DIGITS.intersection(sizes)):
            continue
        begin = text.rfind(b"\n", max(0, broken.start() - _LINE), broken.start()) + 1
        part = text[max(begin, broken.start() - _LINE) : broken.end()].decode("utf-8", "replace")
        if any(token.whole == "joined" and judge(token).best is not None for token in find(part)):
            pieces += [text[done : broken.end(1)], broken[3], broken[2]]
            done = broken.end()
    return b"".join([*pieces, text[done:]]) if pieces else text
