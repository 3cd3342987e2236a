"""Static HTML: every text is escaped here, and nothing else makes HTML. Depends on no id and no page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from idcore.safe_text import encodable


class Html(str):
    """Text that already is HTML; everything else is escaped."""

    __slots__ = ()


def esc(value: Any) -> Html:
    """A value as HTML text."""
    return value if isinstance(value, Html) else Html(escape(encodable(str(value)), quote=True))


def tag(name: str, *children: Any, **attributes: Any) -> Html:
    """One element. `class_` is class, `data_field` is data-field; None leaves an attribute out."""
    parts = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(f" {key}" if value is True else f' {key}="{escape(encodable(str(value)), quote=True)}"')
    inside = "".join(esc(child) for child in children if child is not None)
    return Html(f"<{name}{''.join(parts)}>{inside}</{name}>")


def join(parts: Iterable[Any], between: str = "") -> Html:
    """Several pieces in a row."""
    return Html(esc(between).join(esc(part) for part in parts))


def emphasised(text: str) -> Html:
    """A text in which **this** is set off."""
    return join(tag("b", part) if place % 2 else part for place, part in enumerate(text.split("**")))
