"""Whole numbers in texts that anybody may have written."""

from __future__ import annotations

_DIGITS_OF_64_BITS, _MOST = 19, (1 << 63) - 1  # of a Java long, as the tables have it


def whole_number(text: str | None, most_digits: int = _DIGITS_OF_64_BITS) -> int | None:
    """The number of a text of ASCII digits alone; None for any other text, for more digits, and for more than a long.

    `isdigit` alone lets digits pass that `int` refuses.

    >>> whole_number("17"), whole_number("²"), whole_number("-1"), whole_number("")
    (17, None, None, None)
    """
    if not text or len(text) > most_digits or not text.isascii() or not text.isdigit():
        return None
    return number if (number := int(text)) <= _MOST else None


def whole_between(text: object, least: int, most: int, usual: int) -> int:
    """The whole number of a text, where it is one within these bounds; the usual one otherwise."""
    number = whole_number(str(text))
    return number if number is not None and least <= number <= most else usual
