"""`view`: the records behind ids, from any source of messages. Prints what the look-up answers."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import IO

from idcore.answers import journey
from idcore.answers.fate.sentences import reason_text, verdict_text
from idcore.answers.lookup import (
    SOURCES,
    Answer,
    LookupService,
    Moment,
    Progress,
    Source,
    Terms,
    Way,
    WrongTerms,
    advice_text,
    evidence_text,
    has_own,
    open_source,
    row_of,
    spoken,
    who_texts,
)
from idcore.answers.lookup import reason_text as miss_text
from idcore.answers.lookup.who import client_row
from idcore.base.errors import CoreError
from idcore.base.safe_text import json_text, printable
from idcore.cli import lists
from idcore.cli.decode import read_text
from idcore.cli.parser import Usage, read_clock, subscriptions_of
from idcore.cli.records import card
from idcore.cli.traces import journey_lines, trace_lines
from idcore.ids import Clock, find, identify
from idcore.ids.clock import parse_instant, to_ms
from idcore.policy.private import environment

FOUND, SOME_MISSED, NOTHING_ASKED = 0, 1, 3
_MANY_TOPICS = 64


def run(options: argparse.Namespace) -> int:
    """Looks up; 0 when every id was found, 1 when one was not, 3 when there was nothing to ask."""
    reference, zone, known = read_clock(options)
    way = lists.way_of(options, zone)
    if sys.stdin is None and way is None and (not options.ids or "-" in options.ids):
        raise Usage("standard input is closed")
    if not options.ids and way is None and sys.stdin.isatty():
        raise Usage("no ID given; write IDs, or - to read standard input")
    option = next(name for name in SOURCES if getattr(options, name, None) is not None)
    if options.store is not None and options.who:
        raise Usage("--who goes with --namesrv and --cluster")
    options.subscription = subscriptions_of(options)
    if options.out is not None:
        from idcore.cli import fate_list  # with it Arrow

        fate_list.check(options)
    bounds = (None, None) if way is not None else (options.begin, options.end)
    begin, end = (None if text is None else to_ms(parse_instant(text, zone)) for text in bounds)
    terms = Terms(Moment(reference, zone, known == "given"), begin, end, environment(), vars(options))
    try:
        source = open_source(option, getattr(options, option), terms)
    except WrongTerms as problem:
        raise Usage(problem.problem) from None
    except CoreError as problem:
        return _failed(problem, NOTHING_ASKED)
    form = options.format or ("table" if sys.stdout.isatty() else "json")
    with closing(source):
        if way is not None:
            return _listed(source, way, form)
        if options.out is not None and isinstance(source, LookupService):
            return fate_list.run(source, _texts(options.ids or ["-"]), options, _user(), form)
        return _answer(source, _texts(options.ids or ["-"]), options, form, terms.moment.clock)


def _listed(source: Source, way: Way, form: str) -> int:
    try:
        listing = source.list_messages(way, _user(), _progress())
    except WrongTerms as problem:
        raise Usage(problem.problem) from None
    except CoreError as problem:
        return _failed(problem, NOTHING_ASKED)
    lists.show(listing, form, sys.stdout)
    if form in ("csv", "jsonl"):  # rows alone, so what is not among them is said next to them
        head, *more = lists.notes(listing)
        for line in [head, *more] if more else ():
            print(f"idcore: {line}", file=sys.stderr)
    if listing.nothing_asked:
        return NOTHING_ASKED
    return FOUND if listing.copies and listing.cut != "failed" else SOME_MISSED


def _answer(source: Source, texts: Iterable[str], options: argparse.Namespace, form: str, clock: Clock) -> int:
    missed = asked = refused = 0
    try:
        fate, trace = options.fate or options.journey, options.trace or options.journey
        for answer in source.look_up(texts, options.topic, _user(), _progress(), fate, trace):
            asked += 1
            missed += not answer.found
            refused += answer.nothing_asked or (answer.reason == "not_permitted" and not answer.found)
            made = journey.build(answer.id, journey.Sources.of(answer), clock, clock.zone) if options.journey else None
            _print(answer, made, form, sys.stdout)
    except CoreError as problem:
        return _failed(problem, SOME_MISSED if asked else NOTHING_ASKED)
    if not asked:
        print("idcore: no ID in this text", file=sys.stderr)
        return SOME_MISSED
    if refused == asked:
        return NOTHING_ASKED
    return SOME_MISSED if missed else FOUND


def _failed(problem: CoreError, status: int) -> int:
    print(f"idcore: {printable(str(problem))}", file=sys.stderr)
    return status


def _user() -> str:
    """Who asks, for the audit log; a container may run as a number that has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _progress() -> Progress | None:
    """On a terminal: how much was searched, where that is much."""
    if not sys.stderr.isatty():
        return None

    def tell(done: int, total: int, topic: str) -> None:
        if total > _MANY_TOPICS:
            text = f"idcore: {done:,} of {total:,} searched" if done < total else ""
            print(f"\r{text:<60}\r" if not text else f"\r{text:<60}", end="", file=sys.stderr, flush=True)

    return tell


def _texts(items: Iterable[str]) -> Iterator[str]:
    for item in items:
        if item == "-":
            yield from _from_input(sys.stdin.buffer)
        else:
            yield from _parts(item)


def _from_input(stream: IO[bytes]) -> Iterator[str]:
    """One id or key a line; a line of several words is text with ids in it."""
    rest = ""
    for piece in read_text(stream):
        *lines, rest = (rest + piece).split("\n")
        for line in lines:
            yield from _of_line(line)
    yield from _of_line(rest)


def _of_line(line: str) -> Iterator[str]:
    words = line.split()
    if len(words) == 1:
        yield from _parts(words[0])
    elif words:
        yield from (token.text for token in find(line) if identify(token.text, token.label).best is not None)


def _parts(text: str) -> list[str]:
    """A comma-joined text is several ids when each part is one; else it is a key that has a comma."""
    parts = text.split(",")
    if len(parts) > 1 and all(identify(part.strip(), None, "any").best is not None for part in parts):
        return [part.strip() for part in parts]
    return [text]


def _print(answer: Answer, made: journey.Journey | None, form: str, out: IO[str]) -> None:
    row = row_of(answer) | ({} if made is None else {"journey": journey.row_of(made)})
    if form == "json":
        out.write(json_text(row) + "\n")
    else:
        told = [*_head(answer), *_evidence(answer), *_who(answer), *trace_lines(answer.trace), *journey_lines(made)]
        out.write("\n".join(told) + "\n")
        for copy in row["copies"]:
            if "relation" in copy:
                out.write(f"  {'relation':<27} {printable(copy['relation_text'])}\n")
            out.write(card(copy) + "\n")
            for line in _fates(answer, copy["offset_msg_id"]):
                out.write(line + "\n")
    out.flush()


def _fates(answer: Answer, record: str) -> Iterator[str]:
    """What became of one record in each group, and why; a line of each."""
    for verdict in answer.fate or ():
        if verdict.record == record:
            said = f"{printable(verdict.group)}: {printable(verdict_text(verdict))} ({verdict.certainty})"
            yield f"  {'group':<27} {said}"
            for reason in verdict.why:
                yield f"  {'':<27} {printable(reason_text(reason))}"


def _who(answer: Answer) -> Iterator[str]:
    """Who is connected as the process behind the id, a line of each client."""
    if answer.who is None:
        return
    for place, text in enumerate(who_texts(answer.who)):
        yield printable(f"  {'who' if place == 0 else '':<11} {text}")
    for client in answer.who.match.clients:
        row = client_row(client)
        groups = ", ".join(row["groups"]) or "-"
        told = f"{client.client_id} {', '.join(client.addresses)} {client.language} {row['version']} {groups}"
        yield printable(f"  {'client':<11} {told}")


def _head(answer: Answer) -> Iterator[str]:
    """What an id came to; a sentence with its figures is part of the first line."""
    name, text, count = printable(answer.id) or "(empty)", printable(miss_text(answer)), len(answer.copies)
    if answer.found:
        yield f"{name}: {count} record{'' if count == 1 else 's'}"
    else:
        yield f"{name}: not found ({answer.reason})" + (f": {text}" if has_own(answer.source) else "")
    if text and (answer.found or not has_own(answer.source)):
        yield f"  {'note' if answer.found else 'reason':<11} {text}"


def _evidence(answer: Answer) -> Iterator[str]:
    for item in answer.evidence:
        if item.is_figure:
            value = spoken(item.values[item.code])
            yield printable(f"  evidence    {item.code} {value if isinstance(value, str) else json_text(value)}")
        else:
            yield printable(f"  evidence    {evidence_text(item)}")
    if not answer.found and (advice := advice_text(answer)):
        yield f"  next        {printable(advice)}"
    if not has_own(answer.source):
        yield f"  asked       {', '.join(answer.asked) or 'nobody'}"
