"""Findings as static HTML: the head and the table of a card, the section of a report. Draws no figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pandas as pd

from idcore.base.catalogue import Words, upper
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, emphasised, fold, join, link, table, tag
from idcore.presentation.triage import (
    evidence_tables,
    evidence_texts,
    finding_report,
    finding_rows,
    finding_texts,
    host_rows,
)
from idcore.presentation.triage.finding_lines import MOST_LINES, LogLines
from idcore.presentation.triage.finding_rows import Kind, Part, Row
from idcore.presentation.triage.scope import UNLIMITED
from idcore.runs.runs import Run

_PARTS = (("advice", "findings.do"), ("disproof", "findings.disproof"))  # of a card, and what they are called
MOST_OF_NOTE = 2  # log lines of a note in a report


def head(row: Row, reader: Reader) -> Html:
    """Severity, name, subject, when, how sure."""
    words = reader.words
    sure, when = finding_texts.sure_of(row, words), finding_texts.when_of(row, reader)
    return tag(
        "div",
        tag("span", words(f"severity.{row['severity']}"), class_=f"mq-severity mq-{row['severity']}"),
        tag("strong", finding_rows.title_of(row, words)),
        tag("span", finding_texts.subject(row, words), class_="mq-mono mq-subject"),
        tag("span", sure, class_="mq-warning") if sure else None,
        tag("span", when, class_="mq-faint mq-mono mq-when") if when else None,
        _beyond((row,), words),
        class_="mq-finding",
    )


def _beyond(rows: Iterable[Row], words: Words) -> Html | None:
    """That figures are not those of the time range of the page."""
    return tag("span", words("findings.beyond"), class_="mq-faint") if any(row.get("beyond") for row in rows) else None


def kind_head(kind: Kind, reader: Reader) -> Html:
    """Severity, name and number of a kind, and from when to when."""
    words = reader.words
    first, last = kind.when()
    when = "" if pd.isna(first) else " ".join(finding_texts.between(first, last, reader)) + words.assumed(kind.assumed)
    return tag(
        "div",
        tag("span", words(f"severity.{kind.severity}"), class_=f"mq-severity mq-{kind.severity}"),
        tag("strong", finding_rows.title(kind.code, words, kind.variant)),
        tag("span", finding_texts.who(kind, words), class_="mq-subject"),
        tag("span", when, class_="mq-faint mq-mono mq-when") if when else None,
        _beyond((row for _, row in kind.rows), words),
        class_="mq-finding",
    )


def kind_card(kind: Kind, reader: Reader) -> Iterator[Html]:
    """Many findings of one kind, without their table: the sentence once, what to do."""
    words = reader.words
    yield kind_head(kind, reader)
    yield tag("p", finding_texts.kind_sentence(kind, reader), class_="mq-meaning")
    for part, label in _PARTS:
        for place, text in enumerate(finding_texts.texts_of(part, kind, reader)):  # the label is read once
            yield tag("p", None if place else tag("b", words(label)), text, class_="mq-advice")


def not_listed(kind: Kind, reader: Reader) -> Iterator[Html]:
    """How many of a kind its table does not have."""
    words = reader.words
    for _, row in kind.rest:
        yield tag("p", upper(finding_texts.say("meaning", row, reader)), words("stop"), class_="mq-advice")


def sides(part: Part, lines: LogLines, reader: Reader) -> Html | None:
    """The log lines on both sides of the widest gap of a card; None where they are not at hand."""
    if (found := finding_report.sides_of(part, lines, reader)) is None:
        return None
    row, said = found
    above, below = (tag("code", line) for line in lines.sides(row))
    between = tag("span", finding_texts.between_sides(row, reader), class_="mq-error")
    shown = tag("div", above, between, below, class_="mq-sides")
    return tag("div", tag("p", emphasised(said), class_="mq-advice"), shown) if said else shown


def card(row: Row, reader: Reader) -> Iterator[Html]:
    """A finding: what it means, what to do, what would disprove it."""
    words = reader.words
    yield tag("p", upper(finding_texts.say("meaning", row, reader)), words("stop"), class_="mq-meaning")
    for part, label in _PARTS:
        yield tag("p", tag("b", words(label)), finding_texts.say(part, row, reader), class_="mq-advice")


def kind_table(kind: Kind, run: str, reader: Reader) -> Html:
    """Some of a kind as a table, each a link to its evidence, and another to its lines."""
    words = reader.words
    (first, *columns), cells = finding_report.kind_cells(kind, reader)
    rows = [
        [
            link(row[0], reader.href("findings", run=run, finding=str(number))),
            link(
                words("findings.lines_link"),
                reader.href("lines", **UNLIMITED | finding_rows.lines_of(number, of, run)),
            ),
            *row[1:],
        ]
        for row, (number, of) in zip(cells, kind.rows, strict=True)
    ]
    lines = Column("findings.lines_link", words("findings.lines_link"))
    return table([first, lines, *columns], rows, finding_rows.title(kind.code, words, kind.variant))


def silent(findings: pd.DataFrame, words: Words) -> Html:
    """The checks that found nothing, folded."""
    return tag("div", fold(*finding_texts.silent(findings, words)), class_="mq-small")


def in_store(ids: Sequence[str], folder: str, reader: Reader) -> Html:
    """Ids of a store that was scanned, each a link to its records there."""
    links = [tag("span", link(text, reader.href("store", store=folder, id=text)), class_="mq-mono") for text in ids]
    return tag("p", reader.words("findings.in_store"), " ", join(links, " "), class_="mq-advice mq-alike")


# ---- in a report


def _h3(severity: str, name: str, subject: str, reader: Reader, address: str) -> Html:
    mark = tag("span", reader.words(f"severity.{severity}"), class_=severity)
    to = link(reader.words("findings.open"), address) if address else None
    return tag("h3", mark, " ", name, " ", tag("code", subject), " ", tag("small", to) if to else None)


def kind_section(kind: Kind, lines: LogLines, reader: Reader, address: str) -> Iterable[Html]:
    """Many findings of one kind: the sentence once, whom they are about in a table."""
    words = reader.words
    where = f"{address}&kind={kind.code}&severity={kind.severity}" if address else ""
    name = finding_rows.title(kind.code, words, kind.variant)
    yield _h3(kind.severity, name, finding_texts.who(kind, words), reader, where)
    yield tag("p", finding_texts.kind_sentence(kind, reader))
    for part, label in _PARTS:
        for text in finding_texts.texts_of(part, kind, reader):
            yield tag("p", tag("b", words(label)), text)
    yield table(*finding_report.kind_cells(kind, reader), name)
    if (gap := finding_report.sides_of(kind, lines, reader)) is not None:
        yield tag("p", emphasised(gap[1]))
        yield tag("pre", finding_texts.sides(gap[0], lines.sides(gap[0]), reader))
    label, log = lines.of_kind(kind, words)
    if log:
        yield from (tag("p", label, class_="faint"), tag("pre", log))
    for _, row in kind.rest:
        yield tag("p", upper(finding_texts.say("meaning", row, reader)), words("stop"))


def finding_section(
    part: tuple[int, Row], lines: LogLines, reader: Reader, address: str, picture: Html | None
) -> Iterable[Html]:
    """One finding, with its picture where it has one."""
    words, (number, row) = reader.words, part
    evidence = finding_rows.evidence_of(row)
    where = f"{address}&finding={number}" if address else ""
    yield _h3(str(row["severity"]), finding_rows.title_of(row, words), finding_texts.subject(row, words), reader, where)
    if seen := finding_texts.seen(row, reader):
        yield tag("p", " · ".join(seen), class_="faint")
    yield tag("p", upper(finding_texts.say("meaning", row, reader)), words("stop"))
    most = MOST_OF_NOTE if row["severity"] == "info" else MOST_LINES
    missing = finding_texts.missing_between(row, reader)
    label, shown = lines.of_finding(row, words, most, missing=missing)
    log = [tag("p", label, class_="faint"), tag("pre", shown)] if shown else []
    if missing:
        yield from log
    yield tag("p", tag("b", words("findings.do")), finding_texts.say("advice", row, reader))
    if picture is not None:
        yield picture
    if ids := evidence_tables.details(evidence, reader, finding_rows.assumed_of(row))[: finding_report.MOST_IDS]:
        yield tag("ul", *(tag("li", tag("code", one), *_whole(more)) for one, more in ids))
    if line := evidence_texts.fact_line(evidence, reader, finding_texts.said_figures(row)):
        yield tag("p", line)
    if not missing:
        yield from log
    yield tag("p", words("findings.disproof"), finding_texts.say("disproof", row, reader), class_="faint")


def _whole(texts: Sequence[str]) -> Iterator[Html | str]:
    """Texts in a row; a line ends between two, not in one."""
    for text in texts:
        yield from (" · ", tag("span", text))


def report_head(title: str, run: Run, findings: pd.DataFrame, reader: Reader, address: str) -> Iterator[Html]:
    """How a report of a scan begins: its name, what was found, the way to it."""
    words = reader.words
    yield tag("h1", title)
    said = finding_texts.findings_sentence(findings, run.summary or {}, words)
    yield tag("p", emphasised(said + host_rows.changes_in(run, reader)))
    if address:
        yield tag("p", link(words("report.open"), address), class_="faint")


def report_sections(
    findings: pd.DataFrame,
    lines: LogLines,
    reader: Reader,
    address: str,
    picture: Callable[[Row], Html | None],
    most: int,
) -> Iterator[Html]:
    """A section for each finding, and for each kind of many; those that are among the first have a picture."""
    for number, part in enumerate(finding_report.parts_of(finding_rows.kinds(findings))):
        if isinstance(part, Kind):
            yield from kind_section(part, lines, reader, address)
        else:
            drawn = picture(part[1]) if number < most else None
            yield from finding_section(part, lines, reader, address, drawn)


def report_foot(facts: Sequence[str], words: Words) -> Iterator[Html]:
    """How a report ends: what was scanned, what was assumed and left out."""
    yield tag("h2", words("report.about"))
    yield tag("ul", *(tag("li", line) for line in facts))
