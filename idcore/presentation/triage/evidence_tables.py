"""What proves a finding as tables: ids with what belongs to each, the stored copies of one id. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from idcore.answers.findings.evidence import FindingEvidence
from idcore.base.errors import CoreError
from idcore.ids.clock import from_ms
from idcore.ids.model import OffsetId
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, esc, join, table, tag
from idcore.presentation.triage.finding_rows import tokens, where_of

Anatomy = Callable[[str], Html]  # an id as a link to its bytes; without one it is text


def id_table(
    evidence: FindingEvidence, reader: Reader, anatomy: Anatomy = esc, assumed: Sequence[str] = ()
) -> Html | None:
    """The ids that prove it, each as a link where `anatomy` makes one, with its time, gap, process and offsetMsgIds.

    `assumed`: what of their times no line shows, as codes of `Words.assumed`.
    """
    words = reader.words
    ids = list(evidence.ids)
    if not ids:
        return None
    first, links = Column("id", words("col.id"), mono=True), [anatomy(text) for text in ids]
    return _known(first, links, _further(evidence, reader, anatomy, assumed), words("findings.ids"))


def _known(first: Column, ids: Sequence[Html], further: Iterable[tuple[Column, list[Any]]], caption: str) -> Html:
    """A row for each id, with the further columns that have any cell; what is missing at their end stays empty."""
    columns, rows = [first], [[text] for text in ids]
    for column, cells in further:
        if any(cells):
            columns.append(column)
            for row, cell in zip(rows, [*cells, *[""] * len(rows)], strict=False):
                row.append(cell)
    return table(columns, rows, caption)


def _further(
    evidence: FindingEvidence, reader: Reader, anatomy: Anatomy = esc, assumed: Sequence[str] = ()
) -> Iterable[tuple[Column, list[Any]]]:
    """The further columns of the ids, those that are known."""
    words = reader.words
    mark = words.assumed(assumed)
    moments = [reader.full(datetime.fromisoformat(at)) + mark if at else "" for at in evidence.sent_at]
    yield Column("sent_at", words("col.sent_at"), mono=True), moments
    gaps = [f"{gap['missing']:,}" for gap in evidence.gaps]
    yield Column("missing", words("fact.missing_before"), right=True), gaps
    below = [anatomy(text) for text in evidence.after_ids]
    yield Column("after", words("fact.gap_after"), mono=True), below
    tracks = [f"{track + 1:,}" for track in evidence.track_of_id]
    yield Column("track", words("fact.track_of_id"), right=True), tracks
    elapsed = [f"{value:,}" for value in evidence.elapsed_ms]
    yield Column("elapsed", words("fact.elapsed_ms"), right=True), elapsed
    where = where_of(evidence)
    yield (
        Column("where", words("fact.where"), mono=True),
        [where.get(str(text), "") for text in evidence.ids],
    )
    offsets = evidence.offset_msg_ids
    if offsets and not isinstance(offsets[0], str):
        links = [join([anatomy(text) for text in some], tag("br")) for some in offsets]
        yield Column("offset_ids", words("fact.offset_msg_ids"), mono=True), links


def details(evidence: FindingEvidence, reader: Reader, assumed: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """The ids whose lines show it, each with what is known of it, for a report."""
    words, where = reader.words, where_of(evidence)
    beside: dict[str, list[str]] = {}
    for column, cells in _further(evidence, reader, assumed=assumed):
        if column.name in ("sent_at", "missing", "track"):
            for text, cell in zip(evidence.ids, cells, strict=False):
                label = "" if column.name == "sent_at" else words("colon", name=column.label)
                beside.setdefault(str(text), []).extend([label + cell] if cell else [])
    named = tokens(evidence)
    for column, cells in _of_copies(evidence, reader):
        if column.name in ("broker", "topic", "host"):
            for text, cell in zip(named, cells, strict=False):
                beside.setdefault(text, []).extend([words("colon", name=column.label) + cell] if cell else [])
    return [(text, [*beside.get(text, []), *([where[text]] if text in where else [])]) for text in named]


def copies(evidence: FindingEvidence, reader: Reader, anatomy: Anatomy = esc) -> Html | None:
    """The stored copies of one id: the broker of each, and what the lines show of it."""
    texts, words = _of_copies(evidence, reader), reader.words
    if not texts:
        return None
    offsets, where = evidence.offset_msg_ids, where_of(evidence)
    texts.insert(0, (Column("where", words("fact.where"), mono=True), [where.get(text, "") for text in offsets]))
    first, links = Column("id", "offsetMsgId", mono=True), [anatomy(text) for text in offsets]
    return _known(first, links, texts, words("fact.offset_msg_ids"))


def _of_copies(evidence: FindingEvidence, reader: Reader) -> list[tuple[Column, list[Any]]]:
    """What is known of each stored copy of one id, in the order of the copies."""
    words = reader.words
    offsets = evidence.offset_msg_ids
    if not offsets or not isinstance(offsets[0], str):
        return []
    known = {record["offset_msg_id"]: record for record in evidence.records}
    records = [known.get(text, {}) for text in offsets]
    born = [record.get("born") for record in records]
    return [
        (Column("broker", words("col.broker"), mono=True, role="broker"), [_broker(text) for text in offsets]),
        (Column("topic", words("record.topic"), mono=True), [record.get("topic") for record in records]),
        (
            Column("born", words("record.born"), mono=True, role="time"),
            ["" if at is None else reader.full(from_ms(at)) for at in born],
        ),
        (Column("host", words("fact.born_host"), mono=True), [record.get("born_host") for record in records]),
        (Column("key", "KEYS", mono=True), [record.get("key") for record in records]),
        (Column("crc", words("record.crc"), mono=True, right=True), [record.get("body_crc") for record in records]),
    ]


def _broker(text: str) -> str:
    try:
        return OffsetId.from_hex(text).address
    except CoreError:
        return ""
