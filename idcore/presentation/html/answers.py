"""An answer from any source: why, what it rests on, what became of a record, its trace. Looks nothing up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from idcore.answers.fate import Verdict
from idcore.answers.fate.sentences import fact_text, verdict_text
from idcore.answers.fate.sentences import reason_text as fate_reason
from idcore.answers.journey import outcome_text
from idcore.answers.lookup import (
    NO_VERDICT,
    Answer,
    advice_text,
    copy_row,
    doubt_text,
    evidence_text,
    reason_text,
    relation_text,
)
from idcore.answers.lookup.model import Traced
from idcore.answers.lookup.sentences import evidence_sentences, reason_of
from idcore.base.catalogue import Words, upper
from idcore.presentation.html import clients, records, strips
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import Column, Html, fold, join, link, table, tag, wrapped
from idcore.presentation.triage import evidence_texts
from idcore.rocketmq.store.consistency import Doubt


def reason(answer: Answer, reader: Reader) -> str:
    """Why the record was not found, or why the index does not lead to it; empty where nothing is to be said."""
    text = reason_text(answer, reader.words, shown_figures(answer, reader))
    return upper(text) + reader.words("stop") if text else ""


def advice(answer: Answer, words: Words) -> Html:
    """What to try next, of an answer with a reason."""
    return tag("p", tag("b", words("lookup.next")), advice_text(answer, words), words("stop"), class_="mq-advice")


def shown_figures(answer: Answer, reader: Reader) -> dict[str, Any]:
    """The figures as a sentence is filled with them: times in the reader's zone, lists joined, reasons in words."""
    words = reader.words
    made: dict[str, Any] = {}
    for name, value in answer.figures.items():
        if name in ("sent_at", "sent_at_earliest", "sent_at_latest", "first_store_time", "last_store_time"):
            made["made_at" if name == "sent_at" else name] = text = reader.full(datetime.fromisoformat(value))
            made[name] = text
        elif name == "copies_gone":
            gone = (reason_of(item["reason"], item, answer.source, words) for item in value)
            made[name] = [upper(text) + words("stop") for text in gone]
        elif name == "found_under":
            made[name] = words("comma").join(value)
        elif name == "unreadable":
            made[name] = [words("store.unreadable", name=file, why=words.said(why)) for file, why in value.items()]
        elif isinstance(value, int) and not isinstance(value, bool):
            made[name] = f"{value:,}"
        else:
            made[name] = value
    return made


def figures(known: Mapping[str, Any], reader: Reader) -> Html | None:
    """Figures by their names, as a small table; None without figures."""
    words = reader.words
    rows = [list(pair) for pair in evidence_texts.facts(known, reader)]
    columns = [Column("name", words("lookup.fact")), Column("value", words("record.value"), mono=True)]
    return table(columns, rows, words("lookup.fact")) if rows else None


def rests_on(answer: Answer, reader: Reader) -> Html:
    """The evidence as small tables, and who was asked; open where no message was found."""
    words = reader.words
    codes = [item.code for item in answer.evidence]
    items = sorted((item for item in answer.evidence if not item.is_figure), key=lambda item: codes.index(item.code))
    facts = [[evidence_text(item, words, reader.full)] for item in items]
    named = figures(shown_figures(answer, reader), reader)
    asked = words("lookup.asked_of", brokers=words("comma").join(answer.asked) or words("lookup.nobody"))
    if not facts and named is None:
        return tag("p", asked, class_="mq-faint mq-note")
    tables = [table([Column("text", words("lookup.fact"))], facts, words("lookup.fact"))] if facts else []
    return tag(
        "div",
        fold(
            words("lookup.evidence", n=len(answer.evidence)),
            *tables,
            named,
            tag("p", asked, class_="mq-faint"),
            opened=not answer.found,
        ),
        class_="mq-plain",
    )


def fates(answer: Answer, record: str, reader: Reader, cluster: str | None = None) -> Html | None:
    """What became of one record in each consumer group, and why; None where nothing is known of it.

    A group of a cluster leads to its progress.
    """
    words = reader.words
    known = [verdict for verdict in answer.fate or () if verdict.record == record]
    rows: list[list[Any]] = []
    facts: list[list[Any]] = []
    for verdict in known:
        reasons = (upper(fate_reason(reason, words, reader.instant)) + words("stop") for reason in verdict.why)
        sure = tag("span", words(f"fate.certainty.{verdict.certainty}"), class_="mq-faint")
        said = upper(verdict_text(verdict, words, reader.instant))
        group_page = _progress(answer, verdict, reader, cluster) if answer.source == "" else ""
        name = link(verdict.group, group_page) if group_page else verdict.group
        rows.append([wrapped(name), wrapped(said), sure, join(map(wrapped, reasons))])
        for fact in verdict.facts:
            asked_at = "" if fact.at_ms is None else reader.instant(fact.at_ms)
            facts.append([verdict.group, words(f"fate.fact.{fact.name}"), fact_text(fact, words), asked_at])
    if not known:
        return None
    named = [("group", True), ("outcome", False), ("sure", False), ("reasons", False)]
    columns = [Column(name, words(f"fate.{name}"), mono) for name, mono in named]
    group, at = Column("group", words("fate.group"), True), Column("at", words("fate.asked_at"), True)
    evidence = [group, Column("fact", words("lookup.fact")), Column("value", words("record.value"), True), at]
    against = [[verdict.group, wrapped(words(f"fate.disproof.{verdict.code}"))] for verdict in known]
    disproof = table([group, Column("against", words("fate.against"))], against, words("fate.against"))
    inside = table(evidence, facts, words("lookup.fact"))
    folded = fold(words("fate.evidence", n=f"{len(facts):,}"), inside, disproof)
    drawn = strips.strips(known, words)
    return tag("div", table(columns, rows, words("fate.table")), drawn, folded, class_="mq-plain")


def _progress(answer: Answer, verdict: Verdict, reader: Reader, cluster: str | None) -> str:
    """The address of the group's progress, with the record's place in its queue."""
    record = next((copy.record for copy in answer.copies if str(copy.record.offset_id) == verdict.record), None)
    if record is None:
        return reader.href("groups", group=verdict.group)
    broker = next((str(fact.value).split(" ")[0] for fact in verdict.facts if fact.name == "queue"), "")
    at = f"{broker}:{record.queue_id}:{record.queue_offset}"
    return reader.href("groups", cluster=cluster, topic=record.topic, group=verdict.group, at=at)


def traces(traced: Traced, reader: Reader) -> Html:
    """Sends and attempts of the message trace, and why some may be missing: never a proof."""
    words, found = reader.words, traced.found

    def lasted(milliseconds: int | None) -> str:
        return "" if milliseconds is None else f"{milliseconds:,} ms"

    named = [Column("began", words("trace.began"), True), Column("duration", words("trace.duration"), True, True)]
    named.append(Column("outcome", words("trace.outcome")))
    group, client = Column("group", words("fate.group"), True), Column("client", words("trace.client"), True)
    sends = [
        [
            reader.stamp(one.began_ms),
            lasted(one.cost_ms),
            words(f"journey.sent.{one.success}".lower()),
            one.kind or "",
            one.broker or "",
            one.client or "",
        ]
        for one in found.sends
    ]
    attempts = [
        [
            reader.stamp(one.began_ms),
            lasted(one.duration_ms),
            outcome_text(one.outcome, words),
            tries(one.retry_times, words),
            one.group or "",
            one.host or "",
            "" if one.pid is None else one.pid,
            one.client or "",
        ]
        for one in found.attempts
    ]
    parts: list[Html] = []
    if sends:
        kind, broker = Column("kind", words("trace.kind")), Column("broker", words("record.broker"), True)
        columns = [*named, kind, broker, client]
        parts += [tag("b", words("trace.sends")), table(columns, sends, words("trace.sends"))]
    if attempts:
        who = [Column("host", words("trace.host"), True), Column("pid", words("trace.pid"), True, True), client]
        columns = [*named, Column("tries", words("trace.tries")), group, *who]
        parts += [tag("b", words("trace.attempts")), table(columns, attempts, words("trace.attempts"))]
    if not parts:
        parts.append(tag("p", words("trace.none"), class_="mq-note"))
    if traced.evidence:
        why = evidence_sentences(traced.evidence, words, reader.full)
        listed = tag("ul", *(tag("li", text) for text in why))
        parts.append(fold(words("trace.why", n=len(why)), listed, opened=not attempts))
    return tag("div", *parts, class_="mq-plain")


def tries(number: int | None, words: Words) -> str:
    return "" if number is None else f"{number:,}" if number else words("trace.first_try")


_TIMES = {  # of a try: its column, and the message that names it
    "store_timestamp": "fate.stored",
    "due_at": "message.due",
    "began_at": "trace.began",
    "ended_at": "message.ended",
}


def attempts(rows: Sequence[Mapping[str, Any]], reader: Reader) -> Html:
    """What each attempt of each group came to, as the scan of a store has it."""
    words = reader.words
    columns = [Column("group", words("fate.group"), True), Column("tries", words("trace.tries"))]
    columns.append(Column("outcome", words("trace.outcome")))
    columns += [Column(name, words(key), True) for name, key in _TIMES.items()]
    columns.append(Column("client", words("trace.client"), True))
    body = [
        [
            row["group"],
            tries(row["retry_times"], words),
            outcome_text(row["outcome"], words),
            *(reader.full(row[name]) for name in _TIMES),
            row["client"] or "",
        ]
        for row in rows
    ]
    return table(columns, body, words("message.tries"), numbered=True)


def doubts(found: Sequence[Doubt], reader: Reader) -> str:
    """What does not agree with a record, as Markdown; nothing where all agrees."""
    words = reader.words
    texts = [upper(doubt_text(doubt, words, reader.instant)) + words("stop") for doubt in found]
    return "\n".join([words("store.doubts"), "", *(f"- {escaped(text)}" for text in texts)]) if texts else ""


def card(found: Answer, reader: Reader, cluster: str | None, with_fates: bool) -> Iterator[Html]:
    """One ID: whether it was found or why not, its copies, each as a card and what became of it, who generated it."""
    words = reader.words
    mark, role = ("lookup.found", "info") if found.found else ("lookup.missed", "warning")
    if not found.found and found.reason in NO_VERDICT:
        mark = "lookup.no_verdict"  # who could have it was not asked, or did not answer
    severity = tag("span", words(mark), class_=f"mq-severity mq-{role}")
    yield tag("div", severity, tag("strong", found.id or "–", class_="mq-mono mq-subject"), class_="mq-finding")
    if found.reason:
        yield tag("p", reason(found, reader), class_="mq-meaning")
        if not found.found:
            yield advice(found, words)
    if found.trace is not None:
        yield traces(found.trace, reader)
    rows = [copy_row(copy) for copy in found.copies]
    relations = [relation_text(copy, words) for copy in found.copies]
    if len(rows) > 1:
        yield records.copies(rows, relations, reader)
    for row, text in zip(rows, relations, strict=True):
        yield records.card(row, reader, text if len(rows) > 1 else "")
        known = fates(found, str(row["offset_msg_id"]), reader, cluster) if with_fates else None
        if known is not None:
            yield known
    behind = clients.card(found, reader)
    if behind is not None:
        yield behind
