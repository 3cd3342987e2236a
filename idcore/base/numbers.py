"""Whole numbers in texts that anybody may have written."""

from __future__ import annotations

_DIGITS_OF_64_BITS = 19


def whole_number(text: str | None, most_digits: int = _DIGITS_OF_64_BITS) -> int | None:
    """The number of a text of ASCII digits alone; None for any other text, and for more digits than `most_digits`.

    `isdigit` alone lets digits pass that `int` refuses.

    >>> whole_number("17"), whole_number("²"), whole_number("-1"), whole_number("")
    (17, None, None, None)
    """
    return int(text) if text and len(text) <= most_digits and text.isascii() and text.isdigit() else None
