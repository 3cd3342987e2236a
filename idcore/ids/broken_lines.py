"""Text whose line breaks cut IDs in two, with each break put behind its ID. What the scan reads of small texts."""

from __future__ import annotations

import re

from idcore.base.layout import ID_DIGITS
from idcore.ids import rules
from idcore.ids.find import CONTINUED, MARGIN, find, whole_digits
from idcore.ids.identify import judge

MOST = 4 << 20  # bytes of a text that a person may have copied from a terminal, a chat or a mail
_LINE = 4_096  # bytes of the broken line that are looked at
_DIGITS = rf"[0-9A-Fa-f]{{1,{ID_DIGITS[-1] - 1}}}"
_BREAK = re.compile(rf"(?<![0-9A-Fa-f])({_DIGITS})({CONTINUED}\r?\n{MARGIN})({_DIGITS})(?![0-9A-Fa-f])".encode())


def unbroken(text: bytes) -> bytes:
    """The text of the same length in which IDs that `find` joins are whole, and what was in them is behind them.

    >>> unbroken(b"msgId=0A6408A4001E18B4AAC20E41\\n363B0037 done")
    b'msgId=0A6408A4001E18B4AAC20E41363B0037\\n done'
    """
    text = whole_digits(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    pieces = []
    done = 0
    for broken in _BREAK.finditer(text):
        sizes = len(broken[1]), len(broken[3])
        if sum(sizes) < ID_DIGITS[0] or rules.CANDIDATE_DIGITS.intersection(sizes):
            continue
        begin = text.rfind(b"\n", max(0, broken.start() - _LINE), broken.start()) + 1
        part = text[max(begin, broken.start() - _LINE) : broken.end()].decode("utf-8", "replace")
        if any(token.whole == "joined" and judge(token).best is not None for token in find(part)):
            pieces += [text[done : broken.end(1)], broken[3], broken[2]]
            done = broken.end()
    return b"".join([*pieces, text[done:]]) if pieces else text
