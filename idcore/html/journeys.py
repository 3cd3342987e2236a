"""The journey of a message: its events as a table, what is odd as lists, all of it as Markdown. Draws no figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from idcore import journey as journeys
from idcore.fate.sentences import verdict_text
from idcore.journey import Journey
from idcore.lookup import Answer
from idcore.reader import Reader
from idcore.reports.markdown import code, escaped
from idcore.reports.markup import Column, Html, link, table, tag


def texts(made: Journey, reader: Reader) -> list[str]:
    """What each event is, in the reader's words."""
    return [journeys.event_text(event, reader.words, reader.instant) for event in made.events]


def rows(made: Journey, reader: Reader) -> list[dict[str, Any]]:
    """The events as rows for a file."""
    found = journeys.row_of(made)["events"]
    return [{**row, "text": text} for row, text in zip(found, texts(made, reader), strict=True)]


def events(made: Journey, reader: Reader, run: str | None = None) -> Html:
    """The events with their times, the time since the one before, who, and what proves it."""
    words = reader.words
    columns = [
        Column("when", words("message.when"), mono=True),
        Column("what", words("message.what")),
        Column("who", words("message.who"), mono=True),
        Column("before", words("message.before"), mono=True, right=True),
        Column("source", words("message.source")),
        Column("evidence", words("message.evidence"), mono=True),
    ]
    body: list[list[Any]] = []
    steps = journeys.steps(made, words)
    for place, (event, text, step) in enumerate(zip(made.events, texts(made, reader), steps, strict=True)):
        evidence: Any = event.evidence
        if run is not None and event.source == "line":
            evidence = link(evidence, reader.href("lines", run=run, ids=made.id))
        mark = [tag("b", "⚠ ", class_="mq-warning")] if place in made.doubtful else []
        at = journeys.when_text(event, words, reader.instant)
        source = words(f"message.source_{journeys.source_of(event)}")
        body.append([at, tag("span", *mark, text, class_="mq-topic"), event.who, step, source, evidence])
    return table(columns, body, words("message.journey"), numbered=True)


def oddities(made: Journey, reader: Reader, heading: str = "b") -> list[Html]:
    """What is odd, under its headings."""
    pairs = (
        (name, tag("ul", *(tag("li", text) for text in some))) for name, some in journeys.oddities(made, reader.words)
    )
    return [tag("div", tag(heading, name), items, class_="mq-plain") for name, items in pairs]


def markdown(made: Journey, known: Sequence[Answer], sentence: str, reader: Reader, address: str) -> str:
    """Everything as Markdown."""
    words, time = reader.words, reader.instant
    parts = [f"## {words('page.message')} {code(made.id)}", sentence]
    verdicts = [
        f"- {code(verdict.group)}: {escaped(verdict_text(verdict, words, time))}"
        f" ({words(f'fate.certainty.{verdict.certainty}')}) · {code(verdict.record)}"
        for answer in known
        for verdict in answer.fate or ()
    ]
    parts += ["\n".join(verdicts)] if verdicts else []
    lines = []
    for number, (event, text) in enumerate(zip(made.events, texts(made, reader), strict=True), 1):
        who = " · ".join(code(part) for part in dict.fromkeys((event.who, event.evidence)) if part)
        lines.append(f"{number}. {escaped(journeys.when_text(event, words, time))} · {escaped(text)} · {who}")
    parts.append("\n".join(lines))
    for heading, found in journeys.oddities(made, words):
        parts.append(f"{heading}\n\n" + "\n".join(f"- {escaped(text)}" for text in found))
    parts.append(escaped(journeys.found_text(made, words)))
    parts += [words("report.link", address=address)] if address else []
    return "\n\n".join(parts) + "\n"
