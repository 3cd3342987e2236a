"""An answer from any source: why, what it rests on, what became of a record, its trace. Looks nothing up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from idcore.answers.fate import Verdict
from idcore.answers.fate.sentences import fact_text, verdict_text
from idcore.answers.fate.sentences import reason_text as fate_reason
from idcore.answers.journey import outcome_text
from idcore.answers.lookup import (
    NO_VERDICT,
    Answer,
    BodyRoom,
    advice_text,
    batches,
    copy_row,
    doubt_text,
    evidence_text,
    reason_text,
    relation_text,
)
from idcore.answers.lookup.model import TraceResult
from idcore.answers.lookup.sentences import evidence_sentences, reason_of
from idcore.base.catalogue import Words, upper
from idcore.presentation import headline
from idcore.presentation.html import clients, records, strips
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import Column, Html, Table, emphasised, fold, join, link, table, tag, wrapped
from idcore.presentation.triage import evidence_texts
from idcore.rocketmq.store.consistency import Doubt

_SHARED_BY = 3  # so many verdicts with one reason, and it is said once for all of them


def outcome(answer: Answer, words: Words) -> str:
    """Found, not found, or not known: who could have it was not asked, or did not answer."""
    missed = "lookup.no_verdict" if answer.reason in NO_VERDICT else "lookup.missed"
    return words("lookup.found" if answer.found else missed)


def reason(answer: Answer, reader: Reader) -> str:
    """Why the record was not found, or why the index does not lead to it; empty where nothing is to be said."""
    text = reason_text(answer, reader.words, shown_figures(answer, reader))
    return upper(text) + reader.words("stop") if text else ""


def shown_as(answer: Answer, words: Words) -> str:
    """Why a record has another msgId than the one that was asked for; empty where it has that one."""
    found = next(filter(None, (batches.shown_as(answer.id, copy.record) for copy in answer.copies)), None)
    return words(f"lookup.{found[0]}", own=answer.id, shown=found[1] or "–") if found else ""


def advice(answer: Answer, words: Words) -> Html:
    """What to try next, of an answer with a reason."""
    return tag("p", tag("b", words("lookup.next")), advice_text(answer, words), words("stop"), class_="mq-advice")


def shown_figures(answer: Answer, reader: Reader) -> dict[str, Any]:
    """The figures as a sentence is filled with them: times in the reader's zone, lists joined, reasons in words."""
    words = reader.words
    figures: dict[str, Any] = {}
    for name, value in answer.figures.items():
        if name in ("sent_at", "sent_at_earliest", "sent_at_latest", "first_store_time", "last_store_time"):
            figures["made_at" if name == "sent_at" else name] = text = reader.full(datetime.fromisoformat(value))
            figures[name] = text
        elif name == "copies_gone":
            gone = (reason_of(item["reason"], item, answer.source, words) for item in value)
            figures[name] = [upper(text) + words("stop") for text in gone]
        elif name == "found_under":
            figures[name] = words("comma").join(value)
        elif name == "unreadable":
            figures[name] = [words("store.unreadable", name=file, why=words.said(why)) for file, why in value.items()]
        elif isinstance(value, int) and not isinstance(value, bool):
            figures[name] = f"{value:,}"
        else:
            figures[name] = value
    return figures


def figures(known: Mapping[str, Any], reader: Reader) -> Html | None:
    """Figures by their names, as a small table; None without figures."""
    words = reader.words
    rows = [list(pair) for pair in evidence_texts.facts(known, reader)]
    columns = [Column("name", words("lookup.fact")), Column("value", words("record.value"), mono=True)]
    return table(columns, rows, words("lookup.fact")) if rows else None


def facts_of(answer: Answer, reader: Reader) -> list[str]:
    """The sentences of its evidence; those of one kind are next to each other."""
    codes = [item.code for item in answer.evidence]
    items = sorted((item for item in answer.evidence if not item.is_figure), key=lambda item: codes.index(item.code))
    return [evidence_text(item, reader.words, reader.full) for item in items]


def asked_text(answer: Answer, words: Words) -> str:
    """Who was asked."""
    return words("lookup.asked_of", brokers=words("comma").join(answer.asked) or words("lookup.nobody"))


def rests_on(answer: Answer, reader: Reader) -> Html:
    """The evidence as small tables, and who was asked; open where no message was found."""
    words = reader.words
    facts = [[text] for text in facts_of(answer, reader)]
    named = figures(shown_figures(answer, reader), reader)
    asked = asked_text(answer, words)
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
    if not known:
        return None
    shown, healthy = headline.to_read_and_folded(known)
    tables = _with_shared_reasons(answer, shown, reader, cluster)
    if healthy:
        label = upper(headline.others_text(healthy, words))
        tables.append(fold(label, *_with_shared_reasons(answer, healthy, reader, cluster)))
    facts = [
        [
            verdict.group,
            words(f"fate.fact.{fact.name}"),
            fact_text(fact, words),
            "" if fact.at_ms is None else reader.instant(fact.at_ms),
        ]
        for verdict in known
        for fact in verdict.facts
    ]
    group, at = Column("group", words("fate.group"), True), Column("at", words("fate.asked_at"), True)
    evidence = [group, Column("fact", words("lookup.fact")), Column("value", words("record.value"), True), at]
    against = [[verdict.group, wrapped(words(f"fate.disproof.{verdict.code}"))] for verdict in known]
    disproof = table([group, Column("against", words("fate.against"))], against, words("fate.against"))
    inside = table(evidence, facts, words("lookup.fact"))
    folded = fold(words("fate.evidence", n=f"{len(facts):,}"), inside, disproof)
    drawn = strips.strips(known, words)
    return tag("div", *tables, drawn, folded, class_="mq-plain")


def _with_shared_reasons(answer: Answer, some: Sequence[Verdict], reader: Reader, cluster: str | None) -> list[Html]:
    """Verdicts as a table, and below it the reasons that all of one certainty share."""
    words, shared = reader.words, _shared_reasons(some, reader)
    parts = [verdicts(answer, some, reader, cluster, shared).blocks()]
    for certainty, reasons in shared.items():
        text = words("fate.shared", certainty=words(f"fate.certainty.{certainty}"))
        parts.append(tag("p", text, join([tag("span", reason) for reason in reasons], " "), class_="mq-note"))
    return parts


def _shared_reasons(some: Iterable[Verdict], reader: Reader) -> dict[str, list[str]]:
    """Of each certainty that several verdicts have, the reasons that all of them share."""
    by_certainty: dict[str, list[list[str]]] = {}
    for verdict in some:
        by_certainty.setdefault(verdict.certainty, []).append(_reasons(verdict, reader))
    shared = {
        certainty: [text for text in several[0] if all(text in reasons for reasons in several)]
        for certainty, several in by_certainty.items()
        if len(several) >= _SHARED_BY
    }
    return {certainty: reasons for certainty, reasons in shared.items() if reasons}


def _reasons(verdict: Verdict, reader: Reader) -> list[str]:
    words = reader.words
    return [upper(fate_reason(reason, words, reader.instant)) + words("stop") for reason in verdict.why]


def verdicts(
    answer: Answer,
    some: Iterable[Verdict],
    reader: Reader,
    cluster: str | None = None,
    shared: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Table:
    """What became of one record in some consumer groups, how sure that is, and why.

    A reason that all of a certainty share (`shared`) is left to the caller.
    """
    words = reader.words
    rows: list[list[Any]] = []
    for verdict in some:
        reasons = (text for text in _reasons(verdict, reader) if text not in shared.get(verdict.certainty, ()))
        sure = tag("span", words(f"fate.certainty.{verdict.certainty}"), class_="mq-faint")
        outcome = upper(verdict_text(verdict, words, reader.instant))
        group_page = _progress(answer, verdict, reader, cluster) if answer.source == "" else ""
        name = link(verdict.group, group_page) if group_page else verdict.group
        rows.append([wrapped(name), wrapped(outcome), sure, join(map(wrapped, reasons), " ")])
    named = [("group", True), ("outcome", False), ("sure", False), ("reasons", False)]
    return Table(words("fate.table"), [Column(name, words(f"fate.{name}"), mono) for name, mono in named], rows)


def _progress(answer: Answer, verdict: Verdict, reader: Reader, cluster: str | None) -> str:
    """The address of the group's progress, with the record's place in its queue."""
    record = next((copy.record for copy in answer.copies if str(copy.record.offset_id) == verdict.record), None)
    if record is None:
        return reader.href("groups", group=verdict.group)
    broker = next((str(fact.value).split(" ")[0] for fact in verdict.facts if fact.name == "queue"), "")
    at = f"{broker}:{record.queue_id}:{record.queue_offset}"
    return reader.href("groups", cluster=cluster, topic=record.topic, group=verdict.group, at=at)


def traces(traced: TraceResult, reader: Reader) -> Html:
    """Sends and attempts of the message trace, and why some may be missing: never a proof."""
    words = reader.words
    parts = [part for each in trace_tables(traced, reader) for part in (tag("b", each.caption), each.html())]
    parts = parts or [tag("p", words("trace.none"), class_="mq-note")]
    if notes := trace_notes(traced, reader):
        parts.append(tag("ul", *(tag("li", text) for text in notes)))
    if traced.evidence:
        why = evidence_sentences(traced.evidence, words, reader.full)
        reasons = tag("ul", *(tag("li", text) for text in why))
        parts.append(fold(words("trace.why", n=len(why)), reasons, opened=not traced.message_trace.attempts))
    return tag("div", *parts, class_="mq-plain")


def trace_tables(traced: TraceResult, reader: Reader) -> Iterator[Table]:
    """Sends, and attempts of consumers; a table without rows is left out."""
    words, trace = reader.words, traced.message_trace

    def lasted(milliseconds: int | None) -> str:
        return "" if milliseconds is None else f"{milliseconds:,} ms"

    def column(name: str, label: str, cell: Callable[[Any], Any], mono: bool = True, right: bool = False) -> Column:
        return Column(name, words(label), mono, right, cell=cell)

    began = column("began", "trace.began", lambda one: reader.stamp(one.began_ms))
    client = column("client", "trace.client", lambda one: one.client or "")
    sends = [
        began,
        column("duration", "trace.duration", lambda send: lasted(send.cost_ms), right=True),
        column("outcome", "trace.outcome", lambda send: words(f"journey.sent.{send.success}".lower()), mono=False),
        column("group", "trace.producers", lambda send: send.group or ""),
        column("kind", "trace.kind", lambda send: send.kind or "", mono=False),
        column("broker", "record.broker", lambda send: send.broker or ""),
        client,
    ]
    attempts = [
        began,
        column("duration", "trace.duration", lambda attempt: lasted(attempt.duration_ms), right=True),
        column("outcome", "trace.outcome", lambda attempt: outcome_text(attempt.outcome, words), mono=False),
        column("tries", "trace.tries", lambda attempt: tries(attempt.retry_times, words), mono=False),
        column("group", "fate.group", lambda attempt: attempt.group or ""),
        column("host", "trace.host", lambda attempt: attempt.host or ""),
        column("pid", "trace.pid", lambda attempt: "" if attempt.pid is None else attempt.pid, right=True),
        client,
    ]
    if trace.sends:
        yield Table.of(words("trace.sends"), sends, trace.sends)
    if trace.attempts:
        yield Table.of(words("trace.attempts"), attempts, trace.attempts)


def trace_notes(traced: TraceResult, reader: Reader) -> list[str]:
    """Which topics were read, and what they have of the transaction and of a recall."""
    words, trace = reader.words, traced.message_trace
    texts = [words("trace.topics", topics=words("comma").join(traced.topics))] if traced.topics else []
    for decision in trace.decisions:
        key = "trace.decided_checked" if decision.from_check else "trace.decided"
        texts.append(words(key, at=reader.stamp(decision.time_ms, "–"), state=decision.state))
    for recall in trace.recalls:
        key = "trace.recalled" if recall.success else "trace.recall_refused"
        texts.append(words(key, at=reader.stamp(recall.time_ms, "–")))
    return texts


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


def doubts(doubts: Sequence[Doubt], reader: Reader) -> str:
    """What does not agree with a record, as Markdown; nothing where all agrees."""
    words = reader.words
    texts = [upper(doubt_text(doubt, words, reader.instant)) + words("stop") for doubt in doubts]
    return "\n".join([words("store.doubts"), "", *(f"- {escaped(text)}" for text in texts)]) if texts else ""


def card(answer: Answer, reader: Reader, cluster: str | None, with_fates: bool) -> Iterator[Html]:
    """One ID: whether it was found or why not, its copies, each as a card and what became of it, who generated it."""
    words = reader.words
    severity = tag("span", outcome(answer, words), class_=f"mq-severity mq-{'info' if answer.found else 'warning'}")
    yield tag("div", severity, tag("strong", answer.id or "–", class_="mq-mono mq-subject"), class_="mq-finding")
    if answer.reason:
        yield tag("p", reason(answer, reader), class_="mq-meaning")
        if not answer.found:
            yield advice(answer, words)
    if another := shown_as(answer, words):
        yield tag("p", another, class_="mq-meaning")
    if with_fates and answer.fate is not None and answer.copies:
        yield tag("p", emphasised(headline.headline(answer, words, reader.instant)), class_="mq-said")
    if answer.trace is not None:
        yield traces(answer.trace, reader)
    room = BodyRoom()
    rows = [copy_row(copy, room) for copy in answer.copies]
    relations = [relation_text(copy, words) for copy in answer.copies]
    if len(rows) > 1:
        yield records.copies(rows, relations, reader)
    for row, text in zip(rows, relations, strict=True):
        yield records.card(row, reader, text if len(rows) > 1 else "")
        known = fates(answer, str(row["offset_msg_id"]), reader, cluster) if with_fates else None
        if known is not None:
            yield known
    behind = clients.card(answer, reader)
    if behind is not None:
        yield behind
