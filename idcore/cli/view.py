"""`view`: the records behind ids, from any source of messages. Prints what the look-up answers."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import IO

from idcore.answers import journey
from idcore.answers.lookup import (
    SOURCES,
    LookupService,
    Moment,
    Progress,
    Source,
    Terms,
    Way,
    WrongTerms,
    open_source,
)
from idcore.base.catalogue import words
from idcore.base.errors import CoreError
from idcore.base.safe_text import json_text
from idcore.cli import lists
from idcore.cli.complaint import complain, program
from idcore.cli.decode import read_text
from idcore.cli.parser import Usage, read_clock, subscriptions_of
from idcore.ids import Clock, find, identify
from idcore.ids.clock import parse_instant, to_ms
from idcore.operations.found_messages import answer_item, journey_item
from idcore.policy.private import environment
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import messages

FOUND, SOME_MISSED, NOTHING_ASKED = 0, 1, 3
_MANY_TOPICS = 64
_LONGEST_LINE, _LONGEST_WORD = 1 << 20, 1 << 12


def run(options: argparse.Namespace) -> int:
    """Looks up; 0 when every id was found, 1 when one was not, 3 when there was nothing to ask."""
    option = next((name for name in SOURCES if getattr(options, name, None) is not None), None)
    if option is None:
        raise Usage(f"--store, --namesrv or --cluster is needed; `{program()} decode` reads an ID without one")
    reference, zone, known = read_clock(options)
    way = lists.way_of(options, zone)
    if sys.stdin is None and way is None and (not options.ids or "-" in options.ids):
        raise Usage("standard input is closed")
    if not options.ids and way is None and sys.stdin.isatty():
        raise Usage("no ID given; write IDs, or - to read standard input")
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
            return _listed(source, way, form, Reader(words(), zone))
        if options.out is not None and isinstance(source, LookupService):
            return _fate_list(source, options, form)
        return _answer(source, _texts(options.ids or ["-"]), options, form, terms.moment.clock)


def _fate_list(source: LookupService, options: argparse.Namespace, form: str) -> int:
    from idcore.cli import fate_list

    texts = iter(_texts(options.ids or ["-"]))
    first = next(texts, None)
    return _no_id() if first is None else fate_list.run(source, chain([first], texts), options, _user(), form)


def _listed(source: Source, way: Way, form: str, reader: Reader) -> int:
    try:
        listing = source.list_messages(way, _user(), _progress())
    except WrongTerms as problem:
        raise Usage(problem.problem) from None
    except CoreError as problem:
        return _failed(problem, NOTHING_ASKED)
    lists.show(listing, form, reader, sys.stdout)
    if form in ("csv", "jsonl"):  # rows alone, so what is not among them is said next to them
        head, *more = messages.listing_notes(listing, reader)
        for line in [head, *more] if more else ():
            complain(line)
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
            message_journey = (
                journey.build(answer.id, journey.Sources.of(answer), clock, clock.zone) if options.journey else None
            )
            if form == "json":
                row = answer_item(answer, words())
                if message_journey is not None:
                    row["journey"] = journey_item(answer.id, message_journey, words())
                sys.stdout.write(json_text(row) + "\n")
            else:
                sys.stdout.writelines(
                    f"{line}\n" for line in messages.answer(answer, message_journey, Reader(words(), clock.zone))
                )
            sys.stdout.flush()
    except CoreError as problem:
        return _failed(problem, SOME_MISSED if asked else NOTHING_ASKED)
    if not asked:
        return _no_id()
    if refused == asked:
        return NOTHING_ASKED
    return SOME_MISSED if missed else FOUND


def _no_id() -> int:
    complain("no ID in this text")
    return SOME_MISSED


def _failed(problem: CoreError, status: int) -> int:
    complain(str(problem))
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
    """One id or key a line; a line of several words, or one too long to be held, is text with ids in it."""
    rest = ""
    read: Callable[[str], Iterator[str]] = _of_line
    for piece in read_text(stream):
        *lines, rest = (rest + piece).split("\n")
        for line in lines:
            yield from read(line)
            read = _of_line
        if len(rest) > _LONGEST_LINE:
            read = _of_text
            cut = max(rest.rfind(sign, len(rest) - _LONGEST_WORD) for sign in " \t,;") + 1 or len(rest)
            yield from read(rest[:cut])
            rest = rest[cut:]
    yield from read(rest)


def _of_line(line: str) -> Iterator[str]:
    parts = line.split()
    if len(parts) == 1:
        yield from _parts(parts[0])
    elif parts:
        yield from _of_text(line)


def _of_text(text: str) -> Iterator[str]:
    return (token.text for token in find(text) if identify(token.text, token.label).best is not None)


def _parts(text: str) -> list[str]:
    """A comma-joined text is several ids when each part is one; else it is a key that has a comma."""
    parts = text.split(",")
    if len(parts) > 1 and all(identify(part.strip(), None, "any").best is not None for part in parts):
        return [part.strip() for part in parts]
    return [text]
