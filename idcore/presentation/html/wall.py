"""A screen that is read from three metres: a headline, and the answers of four pages side by side. Computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from idcore.base.catalogue import upper
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, emphasised, tag
from idcore.presentation.triage import finding_texts
from idcore.presentation.triage.finding_rows import Kind


@dataclass(frozen=True, slots=True)
class WallPanel:
    """One of the four, with its name; `wide` ones have the wider column."""

    name: str
    inside: Html | None
    wide: bool = False


def screen(title: str, standing: str, new: str, headline: str, parts: Sequence[WallPanel]) -> Html:
    """The whole screen, with what is `new` if there is something; it covers what is behind it."""
    top = tag("div", tag("b", title), tag("span", standing), class_="mq-wall-top")
    columns = (
        tag("div", *(tag("section", tag("h2", part.name), part.inside) for part in parts if part.wide == wide))
        for wide in (True, False)
    )
    told = [tag("p", new, class_="mq-wall-new mq-error", role="alert")] if new else []
    said = tag("p", emphasised(headline), class_="mq-wall-said")
    return tag("div", top, *told, said, tag("div", *columns, class_="mq-wall-parts"), class_="mq-wall")


def findings(kinds: Sequence[Kind], reader: Reader) -> Html | None:
    """The worst findings, a line each."""
    words = reader.words
    rows = [
        tag(
            "li",
            tag("b", words(f"severity.{kind.severity}"), class_=f"mq-{kind.severity}"),
            tag("span", upper(finding_texts.brief(kind, words))),
        )
        for kind in kinds
    ]
    return tag("ol", *rows, class_="mq-wall-findings") if rows else None
