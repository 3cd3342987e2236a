"""A look-up as lines for a terminal: an ID with its records, its trace and its journey; a list of messages."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import chain

from idcore.answers import journey
from idcore.answers.journey import Journey
from idcore.answers.lookup import (
    Answer,
    Listing,
    advice_text,
    copy_row,
    cut_text,
    doubt_text,
    has_own,
    list_reason,
    list_text,
    relation_text,
    who_texts,
)
from idcore.answers.lookup.model import Copy
from idcore.answers.lookup.sentences import evidence_sentences
from idcore.base.catalogue import upper
from idcore.base.safe_text import printable
from idcore.presentation import headline
from idcore.presentation.html import answers, clients, journeys, lists, records
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import text_of
from idcore.presentation.terminal import INDENT, facts, sentence, table
from idcore.presentation.triage import evidence_texts

_BODY_SHOWN = 300


def answer(answer: Answer, journey: Journey | None, reader: Reader) -> Iterator[str]:
    """An ID: whether it was found or why not, what that rests on, its trace, its journey, each of its records."""
    words = reader.words
    reason = f" ({answer.reason})" if answer.reason else ""
    yield printable(f"{answer.id or '–'}: {answers.outcome(answer, words)}{reason}")
    texts = [headline.headline(answer, words, reader.instant)] if answer.fate is not None and answer.copies else []
    texts += [answers.reason(answer, reader)] if answer.reason else []
    if answer.reason and not answer.found:
        texts.append(words("lookup.next") + advice_text(answer, words) + words("stop"))
    yield from (INDENT + sentence(text) for text in [*texts, *answers.facts_of(answer, reader)])
    yield from facts(evidence_texts.facts(answers.shown_figures(answer, reader), reader))
    if not has_own(answer.source):
        yield INDENT + printable(answers.asked_text(answer, words))
    if answer.who is not None:
        first, *rest = who_texts(answer.who, words, reader.stamp)
        yield from (INDENT + printable(text) for text in [words("who.title") + first, *rest])
        if answer.who.match.clients:
            yield from table(clients.clients(answer.who.match.clients, reader))
    if answer.trace is not None:
        for each in answers.trace_tables(answer.trace, reader):
            yield from (INDENT + each.caption, *table(each))
        notes = answers.trace_notes(answer.trace, reader)
        notes += evidence_sentences(answer.trace.evidence, words, reader.full)
        yield from (INDENT + printable(text) for text in notes)
    if journey is not None:
        yield from _journey(journey, reader)
    yield from chain.from_iterable(_copy(copy, answer, reader) for copy in answer.copies)


def _journey(made: Journey, reader: Reader) -> Iterator[str]:
    events = journeys.events(made, reader)
    yield printable(f"{INDENT}{events.caption}. {journey.found_text(made, reader.words)}")
    if events.rows:
        yield from table(events, numbered=True)
    for heading, texts in journey.oddities(made, reader.words):
        yield from (printable(f"{INDENT}{heading}: {text}") for text in texts)


def _copy(copy: Copy, answer: Answer, reader: Reader) -> Iterator[str]:
    row = copy_row(copy)
    relation = relation_text(copy, reader.words)
    yield printable(f"{INDENT}{row['topic']}" + (f" ({relation})" if relation else ""))
    yield from record(row, reader)
    yield from (INDENT + printable(doubt_text(doubt, reader.words, reader.instant)) for doubt in copy.doubts or ())
    of_record = [verdict for verdict in answer.fate or () if verdict.record == row["offset_msg_id"]]
    shown, healthy = headline.to_read_and_folded(of_record)
    if shown:
        yield from table(answers.verdicts(answer, shown, reader))
    if healthy:
        names = reader.words("comma").join(verdict.group for verdict in healthy)
        label = upper(headline.others_text(healthy, reader.words))
        yield INDENT + printable(reader.words("headline.named", label=label, groups=names))


def record(row: records.Row, reader: Reader) -> Iterator[str]:
    """A record: its facts, its properties, the beginning of its body, what is packed in it."""
    words = reader.words
    properties = records.properties(row, words)
    yield from facts(chain(records.facts(row, reader), [(properties.caption, "")] if properties.rows else []))
    yield from facts((f"{INDENT}{name}", value) for name, value in properties.rows)
    yield from (INDENT + printable(text_of(note)) for note in records.body_notes(row, words))
    text = row["body_text"]
    if row["body"] is not None:
        raw = base64.b64decode(row["body"])
        size = words.bytes(row.get("body_size") or len(raw))
        label = words("record.body_hex" if text is None else "record.body_text", size=size)
        shown = records.short(raw[:_BODY_SHOWN].hex() if text is None else text, _BODY_SHOWN)
        yield from facts([(label, shown)])
    if row.get("inner_problem"):
        yield INDENT + printable(words("record.inner_problem", problem=words.said(row["inner_problem"])))
    elif "inner" in row:
        inside = records.inner_messages(row, words)
        yield from (INDENT + inside.caption, *table(inside))


def listing(listing: Listing, reader: Reader) -> Iterator[str]:
    """A list of messages: how many, the messages, what is missing, what each queue has, what it rests on."""
    head, *rest = listing_notes(listing, reader)
    yield head
    if listing.copies:
        yield from table(lists.messages(listing.copies, len(listing.copies), None, reader))
    yield from rest
    if listing.queues:
        yield from table(lists.queues(listing, reader.words))
    whole = Answer("", listing.copies, listing.reason, listing.evidence, listing.asked)
    yield from facts(evidence_texts.facts(answers.shown_figures(whole, reader), reader))
    yield INDENT + printable(answers.asked_text(whole, reader.words))


def listing_notes(listing: Listing, reader: Reader) -> Iterator[str]:
    """How many messages were listed, why none were, what is missing, what is wrong."""
    words = reader.words
    yield sentence(list_text(listing, words, reader.instant))
    texts = [list_reason(listing, words)] if listing.reason not in (None, listing.cut) else []
    texts += [cut_text(listing, words)] if listing.cut is not None else []
    whole = Answer("", listing.copies, listing.reason, listing.evidence, listing.asked)
    yield from (INDENT + sentence(text) for text in [*texts, *answers.facts_of(whole, reader)])
