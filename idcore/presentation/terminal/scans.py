"""A finished scan and a list of IDs with their verdicts as lines for a terminal. Counts nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from idcore.answers import finding_words as messages
from idcore.answers.fate_list import sentences as fate_list
from idcore.answers.lookup import Evidence
from idcore.answers.lookup.sentences import evidence_sentences
from idcore.base import catalogue, colours
from idcore.base.catalogue import upper
from idcore.base.safe_text import printable
from idcore.ids.clock import parse_zone
from idcore.ids.identify import ALIKE
from idcore.ids.origins import PROCESS_KEY
from idcore.presentation.html import fates, tables
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Table
from idcore.presentation.terminal import INDENT, sentence, table
from idcore.presentation.triage import (
    broker_logs,
    finding_report,
    finding_rows,
    finding_texts,
    host_rows,
    largest,
    run_notes,
    run_texts,
    sentences,
)
from idcore.presentation.triage.file_names import FileNames
from idcore.presentation.triage.finding_rows import Kind
from idcore.presentation.triage.run_tables import MOST_ROWS

_MOST, _MOST_OF_LIST = 10, 40  # processes, and brokers; rows about a list of IDs
_OF_PROCESS = ("host", "pid", "loader", "ids", "distinct", "produced", "missing", "wraps", "tracks")
_OF_BROKER = ("address", "ids", "distinct", "segments", "min_offset", "max_offset", "growth")


FINDING = ("code", "severity", "subject", "count", "certainty", "assumed", "number", *messages.SENTENCES)  # of JSON


def findings(out: Path, lang: str) -> list[dict[str, Any]]:
    """The findings of a finished scan, worst first, with what each means, what to do and what would disprove it."""
    rows = pq.read_table(out / "findings").to_pylist()
    return [finding_texts.item_of(number, row, lang) for number, row in enumerate(rows)]


def summary(
    summed: Mapping[str, Any], out: Path, lang: str = catalogue.ENGLISH, waited: Callable[[], float] | None = None
) -> Iterator[str]:
    """A scan for a person: totals, the largest processes and brokers, what was rejected, what was found.

    `waited`: the seconds that this person has waited, asked when all the rest is known.
    """
    words, rest = catalogue.words(lang), list(_rest(summed, out, lang))
    took = {"seconds": waited()} if waited else {}
    yield " · ".join(run_texts.figures({"kind": "", "summary": {**summed, **took}}, words))
    yield from rest


def _rest(summed: Mapping[str, Any], out: Path, lang: str) -> Iterator[str]:
    words = catalogue.words(lang)
    assumed = summed["assumed"]
    reader = Reader(words, parse_zone(assumed["zone"]) if assumed["zone"] else UTC)
    yield words("terminal.kinds", **{name: f"{summed[name]:,}" for name in ("distinct", "uniq", "offset", "client")})
    yield from (printable(words("terminal.left_out", folder=folder)) for folder in summed.get("left_out", ()))
    if "undelivered" in summed:
        yield words("terminal.undelivered", messages=words.count("message", summed["undelivered"]))
    for name in ("traces", "groups"):
        if left := summed.get(f"{name}_left_out"):
            yield words(f"fate.{name}_left", n=f"{left:,}")
    evidence = (Evidence(**each) for each in summed.get("evidence", ()))
    yield from (INDENT + printable(text) for text in evidence_sentences(evidence, words, reader.full))
    yield run_notes.zone(summed, {}, (), words)
    yield from filter(None, [run_notes.line_range(summed, reader)])
    yield from filter(None, [run_notes.deliveries_sampled(summed, words)])
    yield from _largest(out, reader, summed)
    yield from _rejected(out, reader)
    names = FileNames.of(pq.read_table(out / "files", columns=["file"])["file"].to_pylist())
    findings = names.named(pq.read_table(out / "findings").to_pandas())
    yield ""
    yield sentence(finding_texts.findings_sentence(findings, summed, words))
    yield from finding_lines(findings, reader)
    yield printable(words("terminal.tables", folder=out))


def finding_lines(findings: pd.DataFrame, reader: Reader) -> Iterator[str]:
    """A line for each finding, or for many of one kind: how bad, what, whom, what to do first."""
    words = reader.words
    for part in finding_report.parts_of(finding_rows.kinds(findings)):
        if isinstance(part, Kind):
            severity, text = part.severity, finding_texts.kind_sentence(part, reader)
            title = finding_rows.title(part.code, words, part.variant)
            advice = next(iter(finding_texts.texts_of("advice", part, reader)), "")
        else:
            row = part[1]
            severity, text = row["severity"], upper(finding_texts.say("meaning", row, reader)) + words("stop")
            title = finding_rows.title_of(row, words)
            advice = finding_texts.say("advice", row, reader)
        name = colours.painted(words("colon", name=words(f"severity.{severity}")), severity)
        said = f"{title}{words('stop')} {text} {advice}"
        yield INDENT + name + printable(said)


def _largest(out: Path, reader: Reader, summed: Mapping[str, Any]) -> Iterator[str]:
    """The producers and the brokers: a sentence, and the ten with most IDs."""
    words = reader.words
    for name, columns in (("processes", _OF_PROCESS), ("brokers", _OF_BROKER)):
        number = largest.count(out / name)
        if not number:
            continue
        rows = largest.first(out / name, "count", _MOST).to_pandas()
        if name == "processes":
            points = partial(_points, out)
            every = largest.first(out / name, "missing", MOST_ROWS).to_pandas()
            judged = host_rows.judged(every, points) if number <= MOST_ROWS else None
            said = sentences.producers(largest.totals(out / name), summed["hosts"], reader, judged, summed)
            made = tables.processes(host_rows.judged(rows, points), reader, "")
        else:
            read = pq.read_table(out / name, columns=["min_offset", "max_offset", "distinct", "segments"])
            said = sentences.brokers(read.to_pandas(), reader)
            rates = (broker_logs.rate_text(rate, words) if rate == rate else "" for rate in rows["bytes_per_second"])
            made = tables.brokers(rows.assign(growth=list(rates)), pd.DataFrame(), defaultdict(str), reader, "", {})
        yield from ("", sentence(said), *table(made.only(*columns)))
        if number > len(rows):
            yield INDENT + words("groups.cut_rows", n=f"{len(rows):,}", of=f"{number:,}")


def _points(out: Path, process: Mapping[Any, Any]) -> pd.DataFrame:
    """The points of one process's counter."""
    if not any((out / "counters").glob("*.parquet")):
        return pd.DataFrame()
    wanted = {name: [process[name]] for name in PROCESS_KEY}
    return largest.where(out / "counters", wanted, MOST_ROWS).to_pandas()


def _rejected(out: Path, reader: Reader) -> Iterator[str]:
    """What was rejected and why, the first of each kind with its place."""
    words = reader.words
    named = [pq.read_table(out / name).to_pandas() for name in ("refused", "lookalikes") if (out / name).is_dir()]
    refused = pd.concat(named, ignore_index=True)
    if not refused.empty:
        yield ""
    yield from run_notes.rejected(refused, words)
    if traced := run_notes.trace_ids_of(pq.read_table(out / "files").to_pandas()):
        yield run_notes.trace_ids(traced, words)
    for row in refused.drop_duplicates("reason").to_dict("records"):
        reason = words(f"refusal.{ALIKE.get(row['reason'], row['reason'])}")
        yield INDENT + printable(f"{reason}: {row['sample']}, {row['file']} +{row['byte']:,}")
    lower, alike = "lower_case" in set(refused["reason"]), not set(refused["reason"]).isdisjoint(ALIKE)
    if lower or alike:
        yield INDENT + words("terminal.look_alikes" if alike else "terminal.lower_case", option="--lookalikes ids")


def verdicts(summed: Mapping[str, Any], tables: Mapping[str, pa.Table], out: Path) -> Iterator[str]:
    """A list of IDs: what they came to, the verdicts of each group, which IDs have none and why."""
    words = catalogue.words()
    reader = Reader(words, UTC)
    yield fate_list.answer(summed, words)
    yield words("terminal.undelivered", messages=words.count("message", summed["undelivered"]))
    yield from (printable(text) for text in [fate_list.asked(summed), *fate_list.notes(summed, words)])
    counts = tables["fates"].group_by(["group", "verdict"]).aggregate([("messages", "sum")])
    ordered = counts.sort_by([("group", "ascending"), ("messages_sum", "descending")]).to_pylist()
    columns = [
        Column("group", words("fate.group")),
        Column("verdict", words("fate.verdict"), cell=lambda row: fates.name(row["verdict"], reader)),
        Column("messages_sum", words("fate.count"), right=True),
    ]
    missed = [row for row in tables["asked_ids"].to_pylist() if row["outcome"] in ("not_found", "no_verdict")]
    for each, of in (
        (Table.of(words("fate.counts"), columns, ordered[:_MOST_OF_LIST]), len(ordered)),
        (fates.unanswered(missed[:_MOST_OF_LIST], None, reader), len(missed)),
    ):
        if of:
            yield from ("", each.caption, *table(each))
        if of > _MOST_OF_LIST:
            yield INDENT + words("groups.cut_rows", n=f"{_MOST_OF_LIST:,}", of=f"{of:,}")
    yield printable(words("terminal.tables", folder=out))
