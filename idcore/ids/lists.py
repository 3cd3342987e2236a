"""Whether a text is a list of ids and no log: no order, no times, no words. Reads no id."""

from __future__ import annotations

from idcore.base.layout import ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern

# What else than digits of ids may be in such a list: ends of lines, and what is between values of CSV, JSON and SQL.
_OTHER = lazy_pattern(r"[^0-9A-Fa-f\s,;\"'`|()\[\]\ufeff]")
_ID = lazy_pattern(rf"(?<![0-9A-Fa-f])[0-9A-Fa-f]{{{ID_DIGITS[0]},}}")


def is_list_of_ids(text: str) -> bool:
    """Whether the lines of a text have nothing but ids, with commas between them.

    A first line without an id is the name of a column. A line that has a time, a level or any word is of a log.
    """
    head, feed, rest = text.partition("\n")
    body = rest if feed and _ID.search(head) is None else text
    other = _OTHER.search(body)
    return other is None and _ID.search(body) is not None
