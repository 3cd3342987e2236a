"""`decode`: ids from arguments or from lines on standard input, as table, JSON Lines or CSV. Decides nothing itself."""

from __future__ import annotations

import argparse
import codecs
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import IO, Any

from idcore.base import catalogue
from idcore.base.catalogue.en import LENGTHS
from idcore.base.safe_text import printable
from idcore.cli.held import Held
from idcore.cli.parser import Usage, read_clock
from idcore.cli.table import Table, card
from idcore.ids import Clock, Neighbours, Token, Verdict, Voting, describe, find, identify, judge
from idcore.ids.clock import from_ms
from idcore.ids.delivery import DeliveryText
from idcore.ids.delivery_sentences import told
from idcore.ids.describe import Seeds
from idcore.ids.identify import LOOK_ALIKES
from idcore.presentation.export import csv_of_ids, json_lines

_CHUNK = 1 << 16
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def run(options: argparse.Namespace) -> int:
    """Decodes; 0 when all was understood, 1 when something was rejected."""
    if not options.ids and sys.stdin is not None and sys.stdin.isatty():
        raise Usage("no ID given; write IDs, or - to read standard input")
    if sys.stdin is None and (not options.ids or "-" in options.ids):
        raise Usage("standard input is closed")
    reference, zone, source = read_clock(options)
    clock = Clock(reference, zone, "given" if source == "given" else "assumed")
    refused = Refused()
    said = DeliveryText()
    rows = _rows(options.ids or ["-"], options.case, clock, refused, Seeds(options.all), said)
    form = options.format or ("table" if sys.stdout.isatty() else "json")
    if form == "json":
        sys.stdout.writelines(json_lines(rows))
    elif form == "csv":
        sys.stdout.writelines(csv_of_ids(_flat(rows) if options.all else rows))
    else:
        print_table(rows, sys.stdout, every=options.all)
        sys.stdout.writelines(delivery_lines(said, clock))
    sys.stdout.flush()
    if refused.note:
        print(f"idcore: {refused.note}", file=sys.stderr)
    return 1 if refused.count else 0


class Refused:
    """Counts what was rejected; standard error shows this in one line."""

    def __init__(self) -> None:
        self.count = 0
        self.seen = 0
        self.look_alikes = 0
        self.first = ""
        self.read_input = False

    def see(self, verdict: Verdict, token: Token | None) -> None:
        """Counts one verdict."""
        self.seen += 1
        if verdict.error is not None:
            self.count += 1
            self.look_alikes += verdict.error.code in LOOK_ALIKES
            if not self.first:
                where = f"line {token.line}, column {token.column}: " if token else ""
                text = verdict.text if len(verdict.text) <= 64 else f"{verdict.text[:61]}..."
                self.first = f"{where}{text!r}: {verdict.error}"

    @property
    def note(self) -> str:
        """The line, or nothing when all was understood."""
        if self.count:
            more = f"{self.count} of {self.seen} rejected; first: " if self.count > 1 else ""
            return more + self.first + self._way_out
        if self.read_input and not self.seen:
            return f"no ID in this text; IDs have {LENGTHS} hex digits"
        return ""

    @property
    def _way_out(self) -> str:
        """How to decode what has the digits of an ID, but not its letters or its name."""
        if not self.look_alikes:
            return ""
        if self.count == 1:
            return "; to decode it anyway: --case any"
        return f"; to decode the {self.look_alikes:,} that look like IDs anyway: --case any"


def delivery_lines(said: DeliveryText, clock: Clock) -> Iterator[str]:
    """What the lines say of the delivery of each message."""
    every, more = told(said.found, time=lambda ms: from_ms(ms, clock.zone).isoformat(" ", "milliseconds"))
    words = catalogue.words()
    if every:
        yield f"\n{words('delivery.heading')}\n"
    for name, texts in every:
        yield from (f"{printable(name)}\n", *(f"  {printable(text)}\n" for text in texts))
    if more:
        yield words("delivery.more", n=f"{more:,}") + "\n"


def _rows(
    items: Iterable[str], case: Any, clock: Clock, refused: Refused, seeds: Seeds, said: DeliveryText
) -> Iterator[dict[str, Any]]:
    items = list(items)
    given = [identify(text.strip(), None, case) for item in items if item != "-" for text in item.split(",")]
    known, voting = Neighbours(case), Voting(clock)
    for verdict in given:
        known.see(verdict)
    held = Held(sys.stdin.buffer) if "-" in items else None
    if held is not None:
        _see(held, case, known, voting, said)
    clock = replace(clock, dates=voting.dates())
    arguments = iter(given)
    for item in items:
        if item == "-":
            if held is not None:  # a second - finds nothing more
                refused.read_input = True
                held.again()
                for token in find(_as_it_comes(held)):
                    verdict = known.settle(_verdict(token, case))
                    refused.see(verdict, token)
                    yield describe(verdict, token, clock, seeds, said.of(token.line, token.text))
                held.close()
                held = None
            continue
        for verdict in islice(arguments, item.count(",") + 1):
            verdict = known.settle(verdict)
            refused.see(verdict, None)
            yield describe(verdict, None, clock, seeds)


def _verdict(token: Token, case: Any) -> Verdict:
    return judge(token, case)


def _see(held: Held, case: Any, known: Neighbours, voting: Voting, said: DeliveryText) -> None:
    """Sees all ids of standard input; of a pipe that pauses, those that it gave until then."""
    part = held.held()
    part.again()
    for token in find(_heard(read_text(part), said)):
        verdict = _verdict(token, case)
        known.see(verdict)
        voting.see(verdict, token)
    said.close()


def _heard(pieces: Iterable[str], said: DeliveryText) -> Iterator[str]:
    for piece in pieces:
        said.feed(piece)
        yield piece


def _as_it_comes(stream: Held) -> Iterator[str]:
    """Pieces of text; what each gave is shown before the next is waited for, which an empty piece says."""
    for piece in read_text(stream):
        yield piece
        if stream.waits:
            yield ""
        sys.stdout.flush()


def read_text(stream: IO[bytes] | Held) -> Iterator[str]:
    """Standard input as pieces of text; a byte order mark chooses between UTF-8 and UTF-16.

    Bytes that are not text in that encoding become replacement characters: an id next to them is still an id.
    """
    read = getattr(stream, "read1", stream.read)
    start = b""
    while len(start) < 3:
        more = read(_CHUNK)
        if not more:
            break
        start += more
    name = next((name for mark, name in _MARKS if start.startswith(mark)), None) or _unmarked(start[:512])
    decoder = codecs.getincrementaldecoder(name)("replace")
    piece = start
    while piece:
        yield decoder.decode(piece)
        piece = read(_CHUNK)
    yield decoder.decode(b"", True)


def _unmarked(start: bytes) -> str:
    """UTF-16 without a mark, as PowerShell may pipe it: every other byte of mostly Latin text is 0."""
    units = len(start) // 2
    first, second = (start[place : 2 * units : 2].count(0) for place in (0, 1))
    if units >= 8 and max(first, second) > 0.4 * units and min(first, second) < 0.02 * units:
        return "utf-16-le" if second > first else "utf-16-be"
    return "utf-8"


def _flat(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each row, and behind it its other interpretations as rows of their own."""
    for row in rows:
        if row["kind"] is not None or not row["others"]:
            yield row
            yield from row["others"]
        else:
            yield {**row, "others": []}
            yield from row["others"]


def print_table(rows: Iterable[dict[str, Any]], out: IO[str], *, every: bool) -> None:
    """A card for a single id, a line for each of many; with `every`, a card for each interpretation.

    A single one that is rejected for its lower case also has a card for what it would be.
    """
    ahead = iter(rows)
    first = next(ahead, None)
    if first is None:
        return
    second = next(ahead, None)
    in_lower_case = second is None and any("lower_case" in other["why_codes"] for other in first["others"])
    every = every or in_lower_case  # the page of the console decodes it: both show the same values
    if every or second is None:
        shown = _flat(_again(first, second, ahead)) if every else iter([first])
        for number, row in enumerate(shown):
            out.write(("\n" if number else "") + card(row))
        return
    table = Table(out)
    for row in _again(first, second, ahead):
        table.add(row)
    table.close()


def _again(
    first: dict[str, Any], second: dict[str, Any] | None, rest: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    yield first
    if second is not None:
        yield second
    yield from rest
