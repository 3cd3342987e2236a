"""A report as one HTML file that needs nothing else: its style and its colours are in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from idcore.base.catalogue import Words
from idcore.presentation.reports.markup import Html, tag
from idcore.presentation.reports.svg import Pen

STYLE = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
_METAS = Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">')


def page(title: str, body: Iterable[Html | None], pen: Pen, words: Words) -> str:
    """The file; the colours of its figures follow the theme of who reads it."""
    colours = (
        f":root{{{pen.variables(dark=False)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{pen.variables(dark=True)}}}}}\n"
    )
    head = tag("head", _METAS, tag("title", f"{words('name')} · {title}"), tag("style", Html(colours + STYLE)))
    return "<!doctype html>" + tag("html", head, tag("body", *body), lang=words("lang.html"))
