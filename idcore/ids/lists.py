"""Whether a text is a list of ids and no log: no order, no times, no words; or a table of them. Reads no id."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from idcore.base.layout import ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern

# What else than digits of ids may be in such a list: ends of lines, and what is between values of CSV, JSON and SQL.
_OTHER = lazy_pattern(r"[^0-9A-Fa-f\s,;\"'`|()\[\]\ufeff]")
_ID = lazy_pattern(rf"(?<![0-9A-Fa-f])[0-9A-Fa-f]{{{ID_DIGITS[0]},}}")

_BETWEEN = ("\t", ",", ";", "|")  # what parts the cells of a row
_CELL = lazy_pattern(rf"[\s=\"'`]{{0,4}}(?:{'|'.join(rf'[0-9A-Fa-f]{{{size}}}' for size in ID_DIGITS)})[\s\"'`]{{0,4}}")


def is_list_of_ids(text: str) -> bool:
    """Whether the lines of a text have nothing but ids, with commas between them.

    A first line without an id is the name of a column. A line that has a time, a level or any word is of a log.
    """
    head, feed, rest = text.partition("\n")
    body = rest if feed and _ID.search(head) is None else text
    other = _OTHER.search(body)
    return other is None and _ID.search(body) is not None


def is_table_of_ids(text: str) -> bool:
    """Whether a text is rows of a spreadsheet or a database, with ids alone in the same columns of each.

    A first row without an id is the names of the columns. A cell may be empty.

    >>> is_table_of_ids("order,msgId\\n7,0A2A5D11CB9318B4AAC29746CE82FB14\\n8,0A2A5D11CB9318B4AAC29746DA3AFB15")
    True
    """
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    return any(_is_table(lines, sign) for sign in _BETWEEN if sign in "".join(lines[:2]))


def _is_table(lines: Sequence[str], sign: str) -> bool:
    """Whether these are the rows of such a table; most texts are none by their first."""
    rows = csv.reader(lines, delimiter=sign)
    try:
        first = next(rows, [])
        body = first if any(map(_is_id, first)) else next(rows, [])
        columns = [place for place, cell in enumerate(body) if _is_id(cell)]
        return bool(columns) and all(len(row) == len(body) and _has_ids(row, columns) for row in rows)
    except csv.Error:  # a field that is longer than any of a table
        return False


def _has_ids(row: Sequence[str], columns: Sequence[int]) -> bool:
    """Whether cells of a row are IDs, or empty."""
    return all(_is_id(row[column]) or not row[column].strip() for column in columns)


def _is_id(cell: str) -> bool:
    """Whether a cell of a table is one ID, as programs that write tables quote it."""
    return _CELL.fullmatch(cell) is not None
