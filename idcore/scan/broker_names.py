"""The names of brokers, from lines that name one beside its offsetMsgId: looked for in the texts that `lines` reads."""

from __future__ import annotations

import re

from idcore.base.layout import OFFSET_DIGITS
from idcore.ids import rules
from idcore.ids.identify import identify
from idcore.ids.model import OffsetId

MOST_BROKERS = 1_000
MOST_NAMES = 5  # of one address
MOST_LOOKED_AT = 500  # lines of a piece of text
_LONGEST_LINE = 1 << 14  # bytes on each side of a name
_WORD = b"brokerName"
_IS = rb"\\?[\"']?\s?[=:]\s?\\?[\"']?"
_NAME = re.compile(_WORD + _IS + rb"([\w.+@%-]{1,127})(?=[\s,;\]})\"'\\])")  # what is shown: ASCII alone
_HEX = rules.CANDIDATE.encode()
# Of a SendResult, and of a MessageExt, whose msgId is the broker's.
_OFFSETS = re.compile(
    rb"(?:offsetMsgIds?" + _IS + rb"|[, \[]msgId=(?=[0-9A-F]+, ?(?:commitLogOffset|bodyCRC)=))(" + _HEX + rb")(?!\w)"
)
_NO_NAMES = (b"null", b"None")


def take(text: bytes, names: dict[str, set[str]]) -> None:
    """Adds what the lines of a text name to the `names` of each address.

    A line counts that has one name and the IDs of one broker: which of several belong together it does not say.

    >>> names = {}
    >>> take(b"offsetMsgId=0A00000500002A9F0000000000000000, messageQueue=[brokerName=broker-a]", names)
    >>> names
    {'10.0.0.5:10911': {'broker-a'}}
    """
    at, behind = text.find(_WORD), 0
    for _ in range(MOST_LOOKED_AT):
        if at < 0:
            return
        begin = max(behind, text.rfind(b"\n", max(0, at - _LONGEST_LINE), at) + 1, at - _LONGEST_LINE)
        end = text.find(b"\n", at, at + _LONGEST_LINE)
        behind = end + 1 if end >= 0 else min(len(text), at + _LONGEST_LINE)  # what is cut there has no end
        _of_line(text[begin:behind], names)
        at = text.find(_WORD, behind)


def _of_line(line: bytes, names: dict[str, set[str]]) -> None:
    named = {match[1] for match in _NAME.finditer(line)}.difference(_NO_NAMES)
    offsets = {match[1][:-OFFSET_DIGITS]: match[1] for match in _OFFSETS.finditer(line)}
    if len(named) != 1 or len(offsets) != 1:
        return
    best = identify(next(iter(offsets.values())).decode(), "offsetMsgId").best
    if best is None or not isinstance(best.id, OffsetId):
        return
    address = str(best.id.address)
    if address in names or len(names) < MOST_BROKERS:
        own = names.setdefault(address, set())
        if len(own) < MOST_NAMES:
            own.add(named.pop().decode("utf-8", "replace"))
