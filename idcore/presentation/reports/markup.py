"""Static HTML: every text is escaped here, and nothing else makes HTML. Depends on no id and no page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import Any, NamedTuple

from idcore.base.safe_text import encodable, printable


class Html(str):
    """Text that already is HTML; everything else is escaped."""

    __slots__ = ()


def esc(value: Any) -> Html:
    """A value as HTML text; characters that nobody sees are written out."""
    return value if isinstance(value, Html) else Html(escape(printable(encodable(str(value))), quote=True))


def text_of(value: Any) -> str:
    """The text inside the markup, with the addresses of links: `text_of(tag("b", "a < b"))` is `a < b`."""
    if not isinstance(value, Html):
        return "" if value is None else str(value)
    return unescape(re.sub("<[^>]*>", "", re.sub('<a href="([^"]+)"[^>]*>(.*?)</a>', r"\2 \1", value)))


_DAY = re.compile(r"(?<![\w-])(\d{4}-\d\d-\d\d)(?![\w-])", re.ASCII)
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})  # a browser reads </br> as one more <br>


def tag(name: str, *children: Any, **attributes: Any) -> Html:
    """One element. `class_` is class, `data_field` is data-field; None leaves an attribute out."""
    parts = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        text = encodable(str(value))
        said = printable(text) if key in ("title", "aria-label") else text
        parts.append(f" {key}" if value is True else f' {key}="{escape(said, quote=True)}"')
    if name in _VOID:
        return Html(f"<{name}{''.join(parts)}>")
    inside = "".join(esc(child) for child in children if child is not None)
    return Html(f"<{name}{''.join(parts)}>{inside}</{name}>")


def join(parts: Iterable[Any], between: str = "") -> Html:
    """Several pieces in a row."""
    return Html(esc(between).join(esc(part) for part in parts))


def emphasised(text: str) -> Html:
    """A text in which **this** is set off."""
    parts = (unbroken(part) for part in text.split("**"))
    return join(tag("b", part) if place % 2 else part for place, part in enumerate(parts))


def unbroken(text: str) -> Html:
    """A text whose dates no line ends in: a browser breaks a line behind a hyphen, even between digits."""
    return join(tag("span", part, class_="mq-day") if n % 2 else part for n, part in enumerate(_DAY.split(text)))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: what it is called, how its cells look, and what they have of an item.

    Without `cell` that is the value of the column's name, on the right as a number.
    """

    name: str
    label: str
    mono: bool = False
    right: bool = False
    role: str | None = None
    help: str | None = None
    wide: bool = False
    cell: Callable[[Any], Any] | None = None

    def of(self, item: Any) -> Any:
        """The cell of an item."""
        if self.cell is not None:
            return self.cell(item)
        value = item[self.name] if isinstance(item, Mapping) else getattr(item, self.name)
        return number(value) if self.right else value


def number(value: Any) -> str:
    """A count, or nothing."""
    return "" if value is None or value != value else f"{int(value):,}"


class Table(NamedTuple):
    """What a table has, before it is HTML or text: its caption, its columns, a row of cells for each item."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]

    @classmethod
    def of(cls, caption: str, columns: Sequence[Column], items: Iterable[Any]) -> Table:
        """A row for each item, of what each column has of it."""
        return cls(caption, columns, [[column.of(item) for column in columns] for item in items])

    def only(self, *names: str) -> Table:
        """The same with some of its columns."""
        places = [place for place, column in enumerate(self.columns) if column.name in names]
        rows = [[row[place] for place in places] for row in self.rows]
        return Table(self.caption, [self.columns[place] for place in places], rows)

    def html(self, *, first: int = 1, numbered: bool = False, labelled: bool = False) -> Html:
        """As a table of a page."""
        return table(self.columns, self.rows, self.caption, first=first, numbered=numbered, labelled=labelled)

    def blocks(self, *, numbered: bool = False) -> Html:
        """As a table of sentences, each row of which is a block on a narrow screen."""
        return tag("div", self.html(numbered=numbered, labelled=True), class_="mq-list mq-list-said")


def _hint(cell: Any) -> str | None:
    """What a cut cell has in whole; a link has its own text."""
    return None if isinstance(cell, Html) else cell or None


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Any]],
    caption: str,
    *,
    first: int = 1,
    numbered: bool = False,
    labelled: bool = False,
) -> Html:
    """A table that scrolls sideways in its own box; the caption is for screen readers.

    `labelled`: each cell has the name of its column, for where a row is a block.
    """
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
            tag(
                "td",
                "" if cell is None else cell,
                class_=style,
                title=_hint(cell) if column.wide else None,
                data_label=column.label if labelled and column.right else None,
            )
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


def listed(
    columns: Sequence[Column],
    items: Iterable[Any],
    caption: str,
    *,
    labelled: bool = False,
) -> Html:
    """A table with a row for each item."""
    return Table.of(caption, columns, items).html(labelled=labelled)


def fact_list(pairs: Iterable[tuple[Any, Any]]) -> Html | None:
    """Names and values under each other; None without any."""
    parts = [part for name, value in pairs for part in (tag("dt", name), tag("dd", value))]
    return tag("dl", *parts, class_="mq-facts") if parts else None


def wrapped(text: Any) -> Html:
    """A long name or sentence in a cell: it takes several lines, and leaves room for the others."""
    return tag("span", text, class_="mq-topic")


def fold(label: Any, *inside: Any, opened: bool = False) -> Html:
    """Something that opens."""
    return tag("details", tag("summary", label), *inside, open=opened)


def link(label: Any, href: str, *, new: bool = False, class_: str | None = None) -> Html:
    """A link to an address of the console."""
    return tag(
        "a", label, href=href, target="_blank" if new else "_self", rel="noopener" if new else None, class_=class_
    )
