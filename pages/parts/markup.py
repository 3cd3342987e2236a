"""Static HTML of the console: its tables and links, of elements that escape every text. Depends on no id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from idcore.reports.markup import Html, emphasised, esc, join, tag

__all__ = ["Column", "Html", "emphasised", "esc", "join", "link", "table", "tag"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: what it is called, and how its cells look."""

    name: str
    label: str
    mono: bool = False
    right: bool = False
    role: str | None = None
    help: str | None = None
    wide: bool = False


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Any]], caption: str, *, first: int = 1, numbered: bool = False
) -> Html:
    """A table that scrolls sideways in its own box; the caption is for screen readers."""
    head = [tag("th", "#", scope="col", class_="mq-num mq-nth")] if numbered else []
    head += [
        tag("th", column.label, scope="col", class_="mq-num" if column.right else None, title=column.help)
        for column in columns
    ]
    styles = [
        " ".join(
            style
            for style in (
                "mq-mono" if c.mono else "",
                "mq-num" if c.right else "",
                "mq-wide" if c.wide else "",
                f"mq-{c.role}" if c.role else "",
            )
            if style
        )
        or None
        for c in columns
    ]
    body = []
    for place, row in enumerate(rows, first):
        cells = [tag("td", f"{place:,}", class_="mq-num mq-faint mq-nth")] if numbered else []
        cells += [
            tag("td", "" if cell is None else cell, class_=style, title=cell if column.wide and cell else None)
            for column, cell, style in zip(columns, row, styles, strict=True)
        ]
        body.append(tag("tr", *cells))
    return tag(
        "div",
        tag("table", tag("caption", caption, class_="mq-hidden"), tag("thead", tag("tr", *head)), tag("tbody", *body)),
        class_="mq-table",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def link(label: Any, href: str, *, new: bool = False, class_: str | None = None) -> Html:
    """A link to an address of the console."""
    return tag(
        "a", label, href=href, target="_blank" if new else "_self", rel="noopener" if new else None, class_=class_
    )
