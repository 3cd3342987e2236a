"""What a visitor pasted or uploaded, read at once: tokens and verdicts, up to a limit. Knows no widget and no clock."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import BinaryIO

from idcore.ids.find import Token, find
from idcore.ids.identify import Case, Verdict, identify

LIMIT = 5_000  # ids read at once; the scan reads all of them
HEAD = 4 << 20  # bytes of one file read at once
_WORD = re.compile(r"[0-9A-Za-z]{16,80}")
_RUN = re.compile(r"[0-9A-Fa-f]+")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """One token, what it is, and the file it came from (empty for pasted text)."""

    token: Token
    verdict: Verdict
    source: str = ""


@dataclass(slots=True)
class Intake:
    """Everything that was read at once."""

    found: list[Found] = field(default_factory=list)
    refused: list[Found] = field(default_factory=list)
    longest: int = 0  # digits of the longest run, where nothing was found
    cut: bool = False  # there is more than was read at once
    lower: int = 0  # all in lower case: refused ids that would be read, or, read as upper case, those that were
    seconds: float = 0.0

    @property
    def kinds(self) -> dict[str, int]:
        """How many ids of each kind."""
        counts: dict[str, int] = {}
        for item in self.found:
            best = item.verdict.best
            if best is not None:
                counts[best.kind] = counts.get(best.kind, 0) + 1
        return counts


def read(sources: Sequence[tuple[str, str]], limit: int = LIMIT, case: Case = "strict") -> Intake:
    """Finds and judges the ids of several texts, each with the name it came under."""
    begun = perf_counter()
    made = Intake()
    for name, text in sources:
        for token in _tokens(text):
            if len(made.found) + len(made.refused) >= limit:
                made.cut = True
                break
            verdict = identify(token.text, token.label, case, vouched=token.vouched)
            made.lower += _lower(token, verdict, case)
            (made.found if verdict.best is not None else made.refused).append(Found(token, verdict, name))
    if not made.found:
        made.longest = max((len(run) for _, text in sources for run in _RUN.findall(text[:HEAD])), default=0)
    made.seconds = perf_counter() - begun
    return made


def _lower(token: Token, verdict: Verdict, case: Case) -> bool:
    """Whether a token is an id but for its letters, all of them in lower case."""
    if token.text.isdigit() or token.text != token.text.lower():
        return False
    if case == "strict" and verdict.reason == "lower_case":
        verdict = identify(token.text, token.label, "any", vouched=token.vouched)
    return verdict.best is not None


def _tokens(text: str) -> Iterator[Token]:
    """The candidates of a text; a text that is nothing but words is a list of arguments, and each is judged."""
    words = text.replace(",", " ").split() if len(text) < 65_536 else []
    if words and all(_WORD.fullmatch(word) for word in words):
        for number, line in enumerate(text.split("\n"), 1):
            for match in _WORD.finditer(line):
                yield Token(match.group(), number, match.start() + 1)
        return
    yield from find(text)


def head_of(data: bytes | BinaryIO | Path) -> tuple[str, bool]:
    """The beginning of a source as text, and whether there is more; pasted text is taken whole."""
    if isinstance(data, bytes):
        return text_of(data), False
    if isinstance(data, Path):
        with data.open("rb") as file:
            return head_text(file)
    return head_text(data)


def head_text(file: BinaryIO, limit: int = HEAD) -> tuple[str, bool]:
    """The beginning of an uploaded file as text, unpacked where it is gzip; and whether there is more."""
    file.seek(0)
    raw = file.read(limit + 1)
    file.seek(0)
    more = len(raw) > limit
    raw = raw[:limit]
    if raw[:2] == b"\x1f\x8b":
        unpack = zlib.decompressobj(wbits=31)
        try:
            raw = unpack.decompress(raw, limit)
            more = more or bool(unpack.unconsumed_tail)
        except zlib.error:
            return "", False
    return text_of(raw), more


def text_of(raw: bytes) -> str:
    """Bytes as text: a byte order mark is obeyed, everything else is UTF-8, and what is not does not stop us."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return raw.decode(name, errors="replace")
    return raw.decode("utf-8", errors="replace")


def ids_of(intake: Intake, limit: int) -> list[str] | None:
    """The ids as a link may carry them: different ones in order, or None where they are too many."""
    different = list(dict.fromkeys(item.token.text for item in intake.found + intake.refused))
    return different if 0 < len(different) <= limit else None
