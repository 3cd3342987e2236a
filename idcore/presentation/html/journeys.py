"""The journey of a message: its events as a table, what is odd as lists, all of it as Markdown. Draws no figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from idcore.answers import journey as journeys
from idcore.answers.fate.sentences import verdict_text
from idcore.answers.journey import Event, Journey
from idcore.answers.lookup import Answer
from idcore.base.catalogue import Words, upper
from idcore.presentation.html import answers
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markdown import code, escaped, with_bold
from idcore.presentation.reports.markup import Column, Html, Table, emphasised, esc, link, tag


class Ways(NamedTuple):
    """Where a report leads: its page of the console, and the cluster that was asked."""

    address: str = ""
    cluster: str | None = None


def texts(journey: Journey, reader: Reader) -> list[str]:
    """What each event is, in the reader's words."""
    return [journeys.whole_text(event, reader.words, reader.instant) for event in journey.events]


def is_tried(journey: Journey) -> bool:
    """Whether tries of a consumer are numbered, which is by the default of retries."""
    return any(event.values.get("tries") is not None for event in journey.events)


def hover(event: Event, words: Words, time: Callable[[int], str]) -> str:
    """What an event of the picture says when it is pointed at."""
    known = (journeys.when_text(event, words, time), journeys.whole_text(event, words, time), event.who, event.evidence)
    return "<br>".join(esc(text) for text in known if text)


def rows(journey: Journey, reader: Reader) -> list[dict[str, Any]]:
    """The events as rows for a file."""
    events = journeys.row_of(journey)["events"]
    return [{**row, "text": text} for row, text in zip(events, texts(journey, reader), strict=True)]


def events(journey: Journey, reader: Reader, run: str | None = None) -> Table:
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
    steps = journeys.steps(journey, words)
    for place, (event, text, step) in enumerate(zip(journey.events, texts(journey, reader), steps, strict=True)):
        evidence: Any = event.evidence
        if run is not None and event.source == "line":
            evidence = link(evidence, reader.href("lines", run=run, ids=journey.id))
        mark = [tag("b", "⚠ ", class_="mq-warning")] if place in journey.doubtful else []
        at: Any = journeys.when_text(event, words, reader.instant)
        if event.is_open:  # from one instant to another: on one line it would push the text out of sight
            at = tag("span", at, class_="mq-between")
        source = words(f"message.source_{journeys.source_of(event)}")
        body.append([at, tag("span", *mark, text, class_="mq-topic"), event.who, step, source, evidence])
    return Table(words("message.journey"), columns, body)


def oddities(journey: Journey, reader: Reader, heading: str = "b") -> list[Html]:
    """What is odd, under its headings."""
    pairs = (
        (name, tag("ul", *(tag("li", text) for text in some)))
        for name, some in journeys.oddities(journey, reader.words, reader.instant)
    )
    return [tag("div", tag(heading, name), items, class_="mq-plain") for name, items in pairs]


def fates(known: Sequence[Answer], reader: Reader, cluster: str | None) -> Iterator[Html]:
    """What became of each record that a source has of the message."""
    for answer in known:
        for record in dict.fromkeys(verdict.record for verdict in answer.fate or ()):
            fates = answers.fates(answer, record, reader, cluster)
            if fates is not None:
                yield fates


def report(
    journey: Journey, known: Sequence[Answer], sentence: str, reader: Reader, ways: Ways, picture: Html
) -> Iterator[Html]:
    """All of it as the body of a page of its own."""
    words = reader.words
    yield tag("h1", f"{words('page.message')} {journey.id}")
    yield tag("p", emphasised(sentence))
    if ways.address:
        yield tag("p", link(words("report.open"), ways.address), class_="faint")
    yield from fates(known, reader, ways.cluster)
    yield tag("h2", words("message.journey"))
    yield tag("figure", picture)
    yield from oddities(journey, reader, "h3")
    yield events(journey, reader).html(numbered=True)
    if is_tried(journey):
        yield tag("p", words("message.scale_tries"), class_="faint")
    for answer in known:
        if answer.reason:
            yield tag("p", upper(answers.reason(answer, reader)), class_="faint")
        if answer.trace is not None:
            yield answers.traces(answer.trace, reader)
    yield tag("p", journeys.found_text(journey, words), class_="faint")


def markdown(journey: Journey, known: Sequence[Answer], sentence: str, reader: Reader, address: str) -> str:
    """Everything as Markdown."""
    words, time = reader.words, reader.instant
    parts = [f"## {words('page.message')} {code(journey.id)}", with_bold(sentence)]
    verdicts = [
        f"- {code(verdict.group)}: {escaped(verdict_text(verdict, words, time))}"
        f" ({words(f'fate.certainty.{verdict.certainty}')}) · {code(verdict.record)}"
        for answer in known
        for verdict in answer.fate or ()
    ]
    parts += ["\n".join(verdicts)] if verdicts else []
    lines, steps = [], journeys.steps(journey, words)
    for number, (event, text, step) in enumerate(zip(journey.events, texts(journey, reader), steps, strict=True), 1):
        who = " · ".join(code(part) for part in dict.fromkeys((event.who, event.evidence)) if part)
        when = " · ".join(filter(None, (journeys.when_text(event, words, time), step)))
        lines.append(f"{number}. {escaped(when)} · {escaped(text)} · {who}")
    parts.append("\n".join(lines))
    parts += [words("message.scale_tries")] if is_tried(journey) else []
    for heading, found in journeys.oddities(journey, words, time):
        parts.append(f"{heading}\n\n" + "\n".join(f"- {escaped(text)}" for text in found))
    parts.append(escaped(journeys.found_text(journey, words)))
    parts += [words("report.link", address=address)] if address else []
    return "\n\n".join(parts) + "\n"
