"""Sends that lines report: failed ones in front of a gap, succeeded ones to a doubtful broker. Reads no counter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from idcore.answers.findings import limits
from idcore.base.encodings import text_of
from idcore.ids.failed_sends import last_failed_send
from idcore.scan.lines import Piece

# SEND_OK as Java and the Go client print it, before the offsetMsgId of the same answer. That the answer has not
# ended is seen first: once, and not again behind each sendStatus.
_OK = re.compile(rb"SendResult ?[\[{](?=[^\]}\n]*$).*?sendStatus[=:] ?(?:SEND_OK|0)\b")
# The same as JSON, whose fields are in any order; of a line with several answers it is not known whose it is.
_STATUS = re.compile(rb'sendStatus\\{0,8}"\s?:\s?\\{0,8}"?([A-Z_]{1,40}|[0-3]\b)')
_LONGEST = 1 << 12


@dataclass(frozen=True, slots=True)
class Failure:
    """A line that reports a failed send, and where it is."""

    text: str
    file: str
    line: int

    @property
    def at(self) -> str:
        """The place as `file:line`."""
        return f"{self.file}:{self.line}"


def in_front(piece: Piece, at: int, process: bytes) -> Failure | None:
    """The last failed send between the id at a place and the id of the same process in front of it."""
    text = piece.text
    stop = text.rfind(b"\n", 0, at) + 1
    before = text.rfind(process, max(0, stop - limits.MOST_IN_FRONT), stop)
    if before < 0:  # it is not known who generated what is there
        return None
    start = text.find(b"\n", before, stop) + 1
    told = text_of(text[start:stop])
    hit = last_failed_send(told)
    if hit is None:
        return None
    begin = told.rfind("\n", 0, hit.start()) + 1
    line = piece.line + text.count(b"\n", 0, start) + told.count("\n", 0, begin) + 1
    return Failure(quoted(told[begin : told.find("\n", hit.end())]), piece.file, line)


def quoted(text: str) -> str:
    """A line as a sentence can hold it: so long, and nothing that a terminal obeys."""
    shown = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * limits.MOST_QUOTED]).split())
    return shown if len(shown) <= limits.MOST_QUOTED else shown[: limits.MOST_QUOTED - 1] + "…"


def failed(gaps: int, looked: int, failed_sends: Iterable[Failure]) -> dict[str, Any]:
    """What a finding of so many gaps says of failed sends in front of those that were looked at."""
    failures = sorted(set(failed_sends), key=lambda failure: (failure.file, failure.line))
    if not failures:
        return {}
    figures = {"failed_line": failures[0].text, "failed_at": failures[0].at}
    if gaps == 1:
        return {"also": ["failed"], **figures}
    return {"also": ["failed_gaps"], "failed": len(failures), "looked": looked, **figures}


def succeeded(text: bytes, broker: bytes) -> bool:
    """Whether an answer SEND_OK contains an offsetMsgId of a broker, whose digits begin so."""
    at = text.find(broker)
    for _ in range(limits.MOST_SENDS):
        if at < 0:
            return False
        start = max(text.rfind(b"\n", max(0, at - _LONGEST), at) + 1, at - _LONGEST, 0)
        answer = text.rfind(b"SendResult", start, at)
        if answer >= 0 and _OK.match(text, answer, at):
            return True
        if answer < 0 and _is_answered(text, start, at):
            return True
        at = text.find(broker, at + len(broker))
    return False


def _is_answered(text: bytes, start: int, at: int) -> bool:
    """Whether a line around an offsetMsgId is one answer SEND_OK as JSON."""
    end = text.find(b"\n", at, at + _LONGEST)
    statuses = _STATUS.findall(text, start, end if end >= 0 else at + _LONGEST)
    return statuses in ([b"SEND_OK"], [b"0"]) and b"ffsetMsgId" in text[max(start, at - 24) : at]
