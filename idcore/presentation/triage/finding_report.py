"""Findings as Markdown for a ticket, and what of them a report lists. Draws no figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pandas as pd

from idcore.answers.findings.registry import rules
from idcore.base.catalogue import upper
from idcore.intake.allowed import is_copy
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markdown import code, escaped, fenced
from idcore.presentation.reports.markup import Column
from idcore.presentation.triage import (
    evidence_tables,
    evidence_texts,
    finding_rows,
    finding_texts,
    host_rows,
    run_texts,
)
from idcore.presentation.triage.file_names import folders_of
from idcore.presentation.triage.finding_lines import LogLines, rows_of
from idcore.presentation.triage.finding_rows import Kind, Part, Row, evidence_of
from idcore.runs.runs import Run

MOST_IDS = 5
MOST_FOLDERS = 5
MOST_SUBJECTS = 20  # of one kind in Markdown


def kind_cells(kind: Kind, reader: Reader) -> tuple[list[Column], list[list[str]]]:
    """The subjects of a kind with what is known of each: count, times and, of a message, its producer and brokers."""
    words = reader.words
    columns = [
        (
            Column("subject", words("findings.subject"), mono=True),
            [finding_texts.subject(row, words) for _, row in kind.rows],
        ),
        (Column("count", words("findings.count"), right=True), [f"{row['count']:,}" for _, row in kind.rows]),
    ]
    times = [finding_texts.sent_between(row, reader) for _, row in kind.rows]
    columns.append((Column("sent_at", words("col.sent_at"), mono=True, role="time"), times))
    if rules()[kind.code].subject == "id":
        producers = [evidence_of(row).producer or "" for _, row in kind.rows]
        columns.append((Column("producer", words("col.producer"), mono=True), producers))
        addresses = [words("comma").join(evidence_of(row).addresses_of_brokers) for _, row in kind.rows]
        columns.append((Column("broker", words("col.broker"), mono=True), addresses))
    known = [(column, cells) for column, cells in columns if any(cells)]
    return [column for column, _ in known], [list(row) for row in zip(*(cells for _, cells in known), strict=True)]


def parts_of(kinds: Iterable[Kind]) -> Iterator[Part]:
    """What has a card or a section of its own: a kind of many findings, or one finding."""
    for kind in kinds:
        if kind.grouped:
            yield kind
        else:
            yield from kind.rows + kind.rest


def facts(run: Run, notes: Sequence[str], reader: Reader) -> list[str]:
    """What was scanned, what its small print says, and with which versions."""
    versions = ((run.summary or {}).get("versions") or {}).items()
    made_with = reader.words("report.versions", versions=", ".join(f"{name} {number}" for name, number in versions))
    files = run.table("files").column("file").to_pylist() if run.has("files") else []
    folders = folders_of(file for file in files if not is_copy(run.path, file))
    where = reader.words("report.folders", names=reader.words.first(folders, MOST_FOLDERS)) if folders else ""
    return [line for line in (" · ".join(run_texts.scan_facts(run, reader)), where, *notes, made_with) if line]


def markdown(
    run: Run, findings: pd.DataFrame, lines: LogLines, notes: Sequence[str], reader: Reader, address: str
) -> str:
    """All findings of a scan as Markdown. `notes`: the small print of its pages."""
    words = reader.words
    text = [
        f"# {escaped(run_texts.plain_title(run, words))}",
        finding_texts.findings_sentence(findings, run.summary or {}, words) + host_rows.changes_in(run, reader),
        *([words("report.link", address=address)] if address else []),
    ]
    for part in parts_of(finding_rows.kinds(findings)):
        text += section(part, reader, lines, address)
    text.append("---\n\n" + "\n".join(f"- {escaped(line)}" for line in facts(run, notes, reader)))
    return "\n\n".join(text) + "\n"


def sides_of(part: Part, lines: LogLines, reader: Reader) -> tuple[Row, str] | None:
    """The first finding of a card whose lines on both sides of its gap are at hand, and of a kind whose gap it is."""
    row = next((row for row in rows_of(part) if all(lines.sides(row))), None)
    if row is None:
        return None
    return row, finding_texts.widest_gap([(0, row)], reader).strip() if isinstance(part, Kind) else ""


def ticket(part: Part, run: Run, lines: LogLines, reader: Reader, address: str, clock: str = "") -> str:
    """One finding, or one kind of many, for a ticket. `address`: of the page of findings with this scan.

    `clock`: that of the lines, where it is not the reader's.
    """
    title, *text, last = section(part, reader, lines, address)
    text = [title, *([escaped(clock)] if clock else []), *text]
    store = (run.plan or {}).get("store")
    named = [escaped(reader.words("report.scan", title=store))] if store else []
    return "\n\n".join([*text, *named, last]) + "\n"


def section(part: Part, reader: Reader, lines: LogLines, address: str) -> list[str]:
    """One finding, or one kind of many, as paragraphs. `address`: of the page of findings with this scan."""
    if isinstance(part, Kind):
        return _kind_section(part, reader, lines, address)
    words, (number, row) = reader.words, part
    evidence = finding_rows.evidence_of(row)
    name = words("colon", name=words(f"severity.{row['severity']}")) + finding_rows.title_of(row, words)
    ids = evidence_tables.details(evidence, reader, finding_rows.assumed_of(row))[:MOST_IDS]
    figures = evidence_texts.fact_line(evidence, reader, finding_texts.said_figures(row))
    missing = finding_texts.missing_between(row, reader)
    label, shown = lines.of_finding(row, words, missing=missing)
    log = f"{label}\n\n{fenced(shown)}" if shown else ""
    text = [
        f"## {name}",
        " · ".join([code(finding_texts.subject(row, words)), *map(escaped, finding_texts.seen(row, reader))]),
        escaped(upper(finding_texts.say("meaning", row, reader)) + words("stop")),
        log if missing else "",
        escaped(f"{words('findings.do')}{finding_texts.say('advice', row, reader)}"),
        "\n".join("- " + " · ".join([code(one), *map(escaped, more)]) for one, more in ids),
        escaped(figures),
        "" if missing else log,
        escaped(f"{words('findings.disproof')}{finding_texts.say('disproof', row, reader)}"),
        words("report.link", address=f"{address}&finding={number}") if address else "",
    ]
    return [one for one in text if one]


def _kind_section(kind: Kind, reader: Reader, lines: LogLines, address: str) -> list[str]:
    words = reader.words
    name = words("colon", name=words(f"severity.{kind.severity}")) + finding_rows.title(kind.code, words, kind.variant)
    _, cells = kind_cells(replace(kind, rows=kind.rows[:MOST_SUBJECTS]), reader)
    count = words("colon", name=words("findings.count"))  # a bare number in a ticket has no header over it
    subjects = [
        "- " + " · ".join([code(who), count + number, *map(escaped, filter(None, more))])
        for who, number, *more in cells
    ]
    left = kind.number - len(subjects)
    text = [
        f"## {name}",
        escaped(finding_texts.kind_sentence(kind, reader)),
        *(
            escaped(f"{words(label)}{one}")
            for part, label in (("advice", "findings.do"), ("disproof", "findings.disproof"))
            for one in finding_texts.texts_of(part, kind, reader)
        ),
        "\n".join([*subjects, *([f"- {words('findings.rest_more', n=f'{left:,}')}"] if left else [])]),
    ]
    if (gap := sides_of(kind, lines, reader)) is not None:
        text += [escaped(gap[1].replace("**", "")), fenced(finding_texts.sides(gap[0], lines.sides(gap[0]), reader))]
    label, log = lines.of_kind(kind, words)
    if log:
        text.append(f"{label}\n\n{fenced(log)}")
    if address:
        text.append(words("report.link", address=f"{address}&kind={kind.code}&severity={kind.severity}"))
    return text
