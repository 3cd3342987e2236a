"""IDs in which a letter stands for a digit that looks alike: O for 0, I or l for 1. Offers them, and never decides."""

from __future__ import annotations

import re
from dataclasses import dataclass

from idcore.base.layout import ID_DIGITS
from idcore.ids.identify import identify

_DIGITS_OF = str.maketrans("OoIl", "0011")
_RUN = re.compile(r"[0-9A-Za-z]+")
MOST = 5


@dataclass(frozen=True, slots=True)
class Mended:
    """The ID that a text would be, the text, and the places of its letters that would be digits, from 1."""

    text: str
    written: str
    places: tuple[int, ...]


def mended(text: str) -> list[Mended]:
    """The IDs that a text would have, each once, at most MOST; what is an ID as it stands is none of them.

    >>> mended("AC11OOO1473C7D4991AD336AEA5703E0")[0].places
    (5, 6, 7)
    """
    by_text: dict[str, Mended] = {}
    for written in _RUN.findall(text):
        digits = written.translate(_DIGITS_OF)
        if (
            len(digits) in ID_DIGITS
            and digits != written
            and digits not in by_text
            and identify(digits).best is not None
        ):
            places = (place for place, (one, other) in enumerate(zip(written, digits, strict=True), 1) if one != other)
            by_text[digits] = Mended(digits, written, tuple(places))
    return list(by_text.values())[:MOST]
