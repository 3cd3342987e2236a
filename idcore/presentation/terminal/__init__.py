"""What pages show as HTML, as lines for a terminal: the same facts, tables and sentences. Has no words of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from unicodedata import east_asian_width

from idcore.base import colours
from idcore.base.safe_text import printable
from idcore.presentation.reports.markup import Table, text_of

INDENT, _NAMES = "  ", 28


def one_line(text: str) -> str:
    """A text whose line breaks are written out: behind one, a stranger's text would pass for a line of ours."""
    return printable(text).replace("\n", "\\n")


def sentence(text: str) -> str:
    """A sentence of a page without its **marks**."""
    return printable(text.replace("**", ""))


def facts(pairs: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    """Names and values under each other."""
    for name, value in pairs:
        label, said = one_line(text_of(name)), one_line(text_of(value))
        yield f"{INDENT}{colours.painted(label, 'name')}{' ' * (_NAMES - len(label))}{said}".rstrip()


def table(table: Table, *, numbered: bool = False) -> Iterator[str]:
    """A table in columns as wide as their widest cells."""
    lines = [[column.label for column in table.columns], *([text_of(cell) for cell in row] for row in table.rows)]
    right = [column.right for column in table.columns]
    if numbered:
        lines = [["#", *lines[0]], *([f"{place:,}", *line] for place, line in enumerate(lines[1:], 1))]
        right = [True, *right]
    lines = [[one_line(cell) for cell in line] for line in lines]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    for place, line in enumerate(lines):
        cells = []
        for cell, width, to_right in zip(line, widths, right, strict=True):
            space = " " * (width - _width(cell))
            cells.append(space + cell if to_right else cell + space)
        text = "  ".join(cells).rstrip()
        yield INDENT + (text if place else colours.painted(text, "heading"))


def _width(text: str) -> int:
    """Columns of a terminal: Chinese characters take two."""
    return sum(1 + (east_asian_width(character) in "WF") for character in text)
