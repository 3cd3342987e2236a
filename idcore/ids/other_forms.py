"""IDs that a text has in another form: letters for digits that look alike, groups, full width, Base64, dumped bytes.

Offers them, and never decides.
"""

from __future__ import annotations

import binascii
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from idcore.base.layout import ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids.find import find
from idcore.ids.identify import identify, judge

Form = Literal["letters", "groups", "wide", "base64", "dump"]

_DIGITS_OF = str.maketrans("OoIl", "0011")
_RUN = lazy_pattern(r"[0-9A-Za-z]+")
_PART = rf"[0-9A-Fa-f]{{1,{ID_DIGITS[-1] - 1}}}"
_GROUPS = lazy_pattern(
    rf"(?<![0-9A-Za-z]){_PART}(?P<between>[ \t\u00a0:_.,-]|\r?\n){_PART}(?:(?P=between){_PART})*(?![0-9A-Za-z])"
)
_BASE64 = lazy_pattern(r"(?<![0-9A-Za-z+/_-])[0-9A-Za-z+/_-]{22,76}={0,2}(?![0-9A-Za-z+/=_-])")
# As xxd, hexdump, od, tcpdump and Netty print bytes: an offset, groups of digits, mostly the characters behind them.
_ROW = lazy_pattern(
    r"(?m)^[ \t|]*(?:0x)?(?P<offset>[0-9A-Fa-f]{4,16})[:|]?[ \t]{1,3}"
    r"(?P<digits>(?:[0-9A-Fa-f]{2}){1,8}(?: {1,2}(?:[0-9A-Fa-f]{2}){1,8}){0,31})(?![0-9A-Za-z])"
)
_PAIRS = lazy_pattern(r"[0-9A-Fa-f]{2}")
_DUMPED = lazy_pattern(
    r"(?<![0-9A-Za-z])(?:0[xX])?((?:[0-9A-Fa-f]{2}){16,5000}(?:\r?\n(?:[0-9A-Fa-f]{2}){1,5000}){0,999})(?![0-9A-Za-z])"
)
_ROW_BYTES = 16  # of most dumps
MOST = 5
LOOKED_AT = 10_000  # characters of a text in which an ID of another form is looked for


@dataclass(frozen=True, slots=True)
class OtherForm:
    """The ID that a text would be, the text, in what form it is there, and the places of letters for digits, from 1."""

    text: str
    written: str
    form: Form
    places: tuple[int, ...] = ()


def other_forms(text: str) -> list[OtherForm]:
    """The IDs that a text would have, each once, at most MOST; what is an ID as it stands is none of them.

    >>> other_forms("AC11OOO1473C7D4991AD336AEA5703E0")[0].places
    (5, 6, 7)
    >>> other_forms("AC 11 00 01 47 3C 7D 49 91 AD 33 6A EA 57 03 E0")[0].text
    'AC110001473C7D4991AD336AEA5703E0'
    """
    by_text: dict[str, OtherForm] = {}
    for one in (*_letters(text), *_wide(text), *_groups(text), *_base64(text), *_dump(text)):
        by_text.setdefault(one.text, one)
    return list(by_text.values())[:MOST]


def _letters(text: str) -> Iterator[OtherForm]:
    for written in _RUN.findall(text):
        digits = written.translate(_DIGITS_OF)
        if len(digits) in ID_DIGITS and digits != written and identify(digits).best is not None:
            places = (place for place, (one, other) in enumerate(zip(written, digits, strict=True), 1) if one != other)
            yield OtherForm(digits, written, "letters", tuple(places))


def _wide(text: str) -> Iterator[OtherForm]:
    """As an input method of Chinese or Japanese writes them."""
    narrow = unicodedata.normalize("NFKC", text)
    for token in find(narrow) if narrow != text else ():
        if token.text not in text and judge(token).best is not None:
            yield OtherForm(token.text, token.text, "wide")


def _groups(text: str) -> Iterator[OtherForm]:
    """As a dump of bytes, a narrow window or a person writes them, with one sign or a line break between."""
    for match in _GROUPS.finditer(text):
        digits = match[0].replace(match["between"], "")
        if _is_one(digits):
            yield OtherForm(digits.upper(), match[0], "groups")


def _base64(text: str) -> Iterator[OtherForm]:
    """The digits of an ID, or its bytes."""
    for match in _BASE64.finditer(text):
        plain = match[0].rstrip("=").translate(str.maketrans("-_", "+/"))
        try:
            raw = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        except binascii.Error:
            continue
        digits = raw.decode("ascii", "replace") if len(raw) in ID_DIGITS else raw.hex()
        if digits.isascii() and _is_one(digits):
            yield OtherForm(digits.upper(), match[0], "base64")


def _dump(text: str) -> Iterator[OtherForm]:
    """As characters among dumped bytes: in rows with their offsets, or as digits alone."""
    rows = _rows(text)
    words = bytes(byte for pair in zip(rows[1::2], rows[::2], strict=False) for byte in pair)  # numbers of 16 bits
    for raw in (rows, words, *(bytes.fromhex(digits) for digits in _DUMPED.findall(text))):
        for token in find(raw.decode("latin-1")):
            if _is_one(token.text):
                yield OtherForm(token.text, token.text, "dump")


def _rows(text: str) -> bytes:
    """The bytes of the rows of a dump, of each as many as there are before the next one's offset."""
    rows = [(int(match["offset"], 16), _PAIRS.findall(match["digits"])) for match in _ROW.finditer(text)]
    steps = [after - at for (at, _), (after, _) in pairwise(rows)]
    usual = next((step for step in steps if step > 0), _ROW_BYTES)
    sizes = [step if step > 0 else usual for step in [*steps, usual]]  # a dump may end, and another begin
    return bytes.fromhex("".join("".join(pairs[:size]) for (_, pairs), size in zip(rows, sizes, strict=False)))


def _is_one(digits: str) -> bool:
    """Whether these digits, in capitals, are an ID by more than their number: a UUID may have the digits of one."""
    best = identify(digits.upper()).best if len(digits) in ID_DIGITS else None
    return best is not None and best.certainty != "possible"
