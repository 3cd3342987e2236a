"""A row of the list of personal tokens: its name, what it may do, its end, its last use. Draws no button."""

from __future__ import annotations

from datetime import UTC, datetime

from idcore.policy.access import PERMISSIONS
from idcore.policy.tokens import Token
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, tag


def about(token: Token, whose: bool, now: float, reader: Reader) -> Html:
    """One token; `whose`: also whose it is, for administrators."""
    words = reader.words

    def day(at: float) -> str:
        return reader.minute(datetime.fromtimestamp(at, UTC))

    used = words("tokens.never_used") if token.used is None else words("tokens.used", at=day(token.used))
    times = [words("tokens.begun", at=day(token.begun)), words("tokens.ends", at=day(token.ends)), used]
    facts = [tag("span", text) for text in ([token.owner, *times] if whose else times)]
    may = words("semicolon").join(words(f"tokens.may.{name}") for name in PERMISSIONS if name in token.scopes)
    return tag(
        "div",
        tag("b", token.label, class_="mq-run-title"),
        tag("div", *facts, class_="mq-run"),
        tag("div", words("tokens.may", may=may), class_="mq-faint mq-note"),
        tag("div", words("tokens.ended"), class_="mq-warning mq-note") if token.ends <= now else None,
        class_="mq-run-row",
    )
