"""`view`: the records behind ids, from a store folder or a live cluster. Prints what the look-up answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from idcore.cli.decode import read_text
from idcore.cli.parser import Usage, read_clock
from idcore.cli.records import card
from idcore.errors import CoreError
from idcore.ids import Clock, find, identify
from idcore.ids.clock import parse_instant, to_ms
from idcore.safe_text import json_text, plain

if TYPE_CHECKING:
    from idcore.store import StoreFolder

FOUND, SOME_MISSED, NOTHING_ASKED = 0, 1, 3


def run(options: argparse.Namespace) -> int:
    """Looks up; 0 when every id was found, 1 when one was not, 3 when there was nothing to ask."""
    if sys.stdin is None and (not options.ids or "-" in options.ids):
        raise Usage("standard input is closed")
    if not options.ids and sys.stdin.isatty():
        raise Usage("no id given; write ids, or - to read standard input")
    if options.store is None:
        from idcore.cli.live import run_live

        return run_live(options, _texts(options.ids or ["-"]))
    from idcore.store import Lookup, StoreFolder

    reference, zone, source = read_clock(options)
    clock = Clock(reference, zone, "given" if source == "given" else "assumed")
    begin, end = (None if text is None else to_ms(parse_instant(text, zone)) for text in (options.begin, options.end))
    try:
        store = StoreFolder(options.store)
    except CoreError as problem:
        print(f"idcore: {problem}", file=sys.stderr)
        return NOTHING_ASKED
    form = options.format or ("table" if sys.stdout.isatty() else "json")
    missed = asked = 0
    with store:
        lookup = Lookup(store, clock, options.topic, begin, end)
        for text in _texts(options.ids or ["-"]):
            answer = lookup.view(text)
            _relate(answer.copies, store)
            asked += 1
            missed += not answer.found
            _print(answer, form, sys.stdout)
    if not asked:
        print("idcore: no id in this text", file=sys.stderr)
        return SOME_MISSED
    return SOME_MISSED if missed else FOUND


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


def _relate(rows: list[dict[str, Any]], store: StoreFolder) -> None:
    """Each copy of an id with what it is among the others."""
    from idcore.lookup.copies import among
    from idcore.store import Stored

    looked = [store.log.look(row["commit_log_offset"]) for row in rows] if len(rows) > 1 else []
    known = among([found.record for found in looked if isinstance(found, Stored)])
    for row in rows:
        if (copy := known.get(row["commit_log_offset"])) is not None:
            row |= {"relation": copy.relation, "relation_text": copy.relation_text}


def _print(answer: Any, form: str, out: IO[str]) -> None:
    from idcore.store import sentence

    if form == "json":
        out.write(json_text(answer.as_dict()) + "\n")
        out.flush()
        return
    head = f"{plain(answer.id) or '(empty)'}: "
    if not answer.found:
        out.write(f"{head}not found ({answer.reason}): {plain(sentence(answer))}\n")
    else:
        out.write(f"{head}{len(answer.copies)} record{'' if len(answer.copies) == 1 else 's'}\n")
        if answer.reason:
            out.write(f"  note        {plain(sentence(answer))}\n")
    for name, value in answer.evidence.items():
        shown = value if isinstance(value, str) else json_text(value)
        out.write(plain(f"  evidence    {name} {shown}") + "\n")
    for row in answer.copies:
        if "relation_text" in row:
            out.write(f"  {'relation':<27} {plain(row['relation_text'])}\n")
        out.write(card(row) + "\n")
    out.flush()
