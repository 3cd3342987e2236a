"""`decode`: ids from arguments, a file or standard input, as table, JSON Lines or CSV. Decides nothing itself."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from typing import IO, Any

from idcore.base import catalogue
from idcore.base.catalogue.en import LENGTHS
from idcore.base.encodings import BYTE_ORDER_MARKS, texts_of
from idcore.base.lazy_pattern import lazy_pattern
from idcore.base.safe_text import printable
from idcore.cli.buffered_input import IN_MEMORY, BufferedInput
from idcore.cli.complaint import complain
from idcore.cli.parser import Usage, read_clock
from idcore.cli.table import Table, card
from idcore.ids import Clock, Neighbours, Token, Verdict, Voting, describe, find, identify, judge
from idcore.ids.clock import from_ms
from idcore.ids.delivery import DeliveryText
from idcore.ids.delivery_sentences import told
from idcore.ids.describe import Seeds, item_of
from idcore.ids.identify import LOOK_ALIKES, case_of
from idcore.ids.other_forms import LOOKED_AT, other_forms
from idcore.ids.pasted_logs import PastedLogs
from idcore.presentation.export import csv_of_ids, json_lines, to_stream

_CHUNK = 1 << 16
_ARCHIVES = (b"PK", b"PAR1")
_ONLY_ID = lazy_pattern("[0-9A-Fa-f,]*")
_LIKE_A_PATH = lazy_pattern(r"[/\\]|\.\w{1,5}$")
_SEPARATED = lazy_pattern(r"[\s=:\[\]]")  # in a text, not in the name of a file


def run(options: argparse.Namespace) -> int:
    """Decodes; 1 when an argument is no ID or a text has nothing like one, 0 also when all of it is look-alikes."""
    if not options.ids and sys.stdin is not None and sys.stdin.isatty():
        raise Usage("no ID given; write IDs, a file, or - to read standard input")
    case = case_of(options.case, options.lookalikes)
    files = [item for item in options.ids if _is_file(item)]
    lines = [item for item in options.ids if item not in files and _is_line(item, case)]
    if len(files) + ("-" in options.ids) + bool(lines) > 1:
        raise Usage("decode reads one text; for several files: python -m idcore scan")
    if sys.stdin is None and (not options.ids or "-" in options.ids):
        raise Usage("standard input is closed")
    reference, zone, source = read_clock(options)
    clock = Clock(reference, zone, "given" if source == "given" else "assumed")
    refused = Refused()
    said = DeliveryText()
    pasted = _as_input("\n".join(lines)) if lines else None
    with open(files[0], "rb") if files else nullcontext(pasted or (sys.stdin and sys.stdin.buffer)) as text:
        items = ["-" if item in files or item in lines else item for item in options.ids or ["-"]]
        rows = _rows(items, text, case, clock, refused, Seeds(options.all), said)
        _write(rows, options, said, clock)
    if refused.note:
        complain(refused.note)
    if refused.arguments == refused.seen:  # nothing is an ID as it stands
        for one in other_forms(" ".join(options.ids) if refused.arguments else refused.head):
            complain(catalogue.words()(f"mended.{one.form}", id=one.text, places=", ".join(map(str, one.places))))
    has_nothing = bool(refused.head) and not refused.seen and not said.found
    return 1 if refused.arguments or has_nothing else 0


def _is_file(item: str) -> bool:
    """Whether an argument is a file: no ID is, whatever the folder has."""
    if _ONLY_ID.fullmatch(item):
        return False
    if os.path.isfile(item):
        return True
    if _LIKE_A_PATH.search(item) and not _SEPARATED.search(item):
        raise Usage(f"{item}: no such file, and no ID")
    return False


def _is_line(item: str, case: Any) -> bool:
    """Whether an argument is no ID, nor several, but a text with one: a line of a log, or several lines."""
    refused = [part for part in _parts(item) if identify(part, None, case).error is not None]
    return any(_verdict(token, case).error is None for part in refused for token in find(read_text(_as_input(part))))


def _as_input(line: str) -> IO[bytes]:
    """An argument as a stream, with bytes that are no text as they were."""
    return io.BytesIO(line.encode(errors="surrogateescape"))


def _parts(item: str) -> list[str]:
    """The IDs of an argument. `A, B` of a shell is `A,` and `B`."""
    return [part.strip() for part in item.strip().removesuffix(",").split(",")]


def _write(rows: Iterator[dict[str, Any]], options: argparse.Namespace, said: DeliveryText, clock: Clock) -> None:
    """The rows in the form that was asked for, and what the lines say of deliveries."""
    form = options.format or ("table" if sys.stdout.isatty() else "json")
    if form in ("json", "jsonl"):
        words = catalogue.words()
        sys.stdout.writelines(json_lines(item_of(row, words) for row in rows))
    elif form == "csv":
        to_stream(csv_of_ids(_flat(rows) if options.all else rows), sys.stdout)
    else:
        print_table(rows, sys.stdout, every=options.all)
        sys.stdout.writelines(delivery_lines(said, clock))
    sys.stdout.flush()


class Refused:
    """Counts what was rejected; standard error shows this in one line."""

    def __init__(self) -> None:
        self.count = 0
        self.arguments = 0  # of them
        self.seen = 0
        self.look_alikes = 0
        self.lower = 0  # of them
        self.traces = 0  # trace IDs, which nobody takes for IDs of messages
        self.first = ""
        self.read_input = False
        self.head = ""  # of the text that was read

    def see(self, verdict: Verdict, token: Token | None) -> None:
        """Counts one verdict."""
        self.seen += 1
        if verdict.reason == "trace_id":
            self.traces += 1
        elif verdict.error is not None:
            self.count += 1
            self.arguments += token is None
            self.look_alikes += verdict.error.code in LOOK_ALIKES
            self.lower += verdict.error.code == "lower_case"
            if not self.first:
                where = f"line {token.line}, column {token.column}: " if token else ""
                text = verdict.text if len(verdict.text) <= 64 else f"{verdict.text[:61]}..."
                self.first = f"{where}{text!r}: {verdict.error}"

    def kept(self, pieces: Iterable[str]) -> Iterator[str]:
        """Pieces of a text, of which the first are kept."""
        for piece in pieces:
            self.head += piece[: LOOKED_AT - len(self.head)]
            yield piece

    @property
    def note(self) -> str:
        """The line, or nothing when all was understood."""
        if self.count:
            more = f"{self.count} of {self.seen} rejected; first: " if self.count > 1 else ""
            return more + self.first + self._way_out
        if self.traces and self.traces == self.seen:
            return f"no ID in this text; of its {self.traces:,} trace IDs (W3C, B3) none is the ID of a message"
        if self.read_input and not self.seen:
            return f"no ID in this text; IDs have {LENGTHS} hex digits"
        return ""

    @property
    def _way_out(self) -> str:
        """How to decode what has the digits of an ID, but not its letters or its name."""
        if not self.look_alikes:
            return ""
        way = "--case any" if self.lower else "--lookalikes ids"
        if self.count == 1:
            return f"; to decode it anyway: {way}"
        return f"; to decode the {self.look_alikes:,} that look like IDs anyway: {way}"


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
    items: list[str], text: Any, case: Any, clock: Clock, refused: Refused, seeds: Seeds, said: DeliveryText
) -> Iterator[dict[str, Any]]:
    given = [[identify(part, None, case) for part in _parts(item)] for item in items if item != "-"]
    known, voting = Neighbours(case), Voting(clock)
    for number, verdict in enumerate(chain.from_iterable(given), 1):
        known.see(verdict)
        voting.see(verdict, Token(verdict.text, number, 1))
    held = _unpacked(BufferedInput(text)) if "-" in items else None
    if held is not None:
        _see(held, case, known, voting, said)
    clock = replace(clock, dates=voting.dates())
    arguments = iter(given)
    for item in items:
        if item == "-":
            if held is not None:  # a second - finds nothing more
                refused.read_input = True
                held.again()
                for token in find(refused.kept(_as_it_comes(held))):
                    verdict = known.settle(_verdict(token, case))
                    refused.see(verdict, token)
                    yield describe(verdict, token, clock, seeds, said.of(token.line, token.text, token.column))
                held.close()
                held = None
            continue
        for verdict in map(known.settle, next(arguments)):
            refused.see(verdict, None)
            yield describe(verdict, None, clock, seeds)


def _unpacked(held: BufferedInput) -> BufferedInput:
    """A packed text as what is in it; an archive is for `scan`, which names its files."""
    from idcore.sources.kinds import HEAD, PACKINGS, PLAIN, kind_of  # what unpacks; arguments do without

    held.again()
    head = held.read1(HEAD)
    held.again()
    kind = kind_of(head)
    if kind == PLAIN and (b"\0" in head or head.startswith(_ARCHIVES)):
        from idcore.sources import archives  # Arrow, which text does without

        if (kind := archives.kind_of(head)) in archives.ARCHIVES:
            raise Usage(f"this is {kind}; python -m idcore scan reads what is in it")
    if kind not in PACKINGS:
        return held
    from idcore.sources.archives import texts
    from idcore.sources.unpack import Unpacked

    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  closed when it is dropped
    for part in texts(io.BufferedReader(_Stream(held)), Unpacked()):
        if part.error is not None or part.stream is None:
            raise part.error or Usage("the packed text cannot be read")
        shutil.copyfileobj(part.stream, file)
    file.seek(0)
    return BufferedInput(file)


class _Stream(io.RawIOBase):
    """What is held, as a stream that is read forward."""

    def __init__(self, held: BufferedInput) -> None:
        self._held = held

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        data = self._held.read1(len(view))
        view[: len(data)] = data
        return len(data)


def _verdict(token: Token, case: Any) -> Verdict:
    return judge(token, case)


def _see(held: BufferedInput, case: Any, known: Neighbours, voting: Voting, said: DeliveryText) -> None:
    """Sees all ids of standard input; of a pipe that pauses, those that it gave until then."""
    part = held.held()
    part.again()
    logs = PastedLogs()
    for token in find(_heard(read_text(part), said, logs)):
        verdict = _verdict(token, case)
        known.see(verdict)
        voting.see(verdict, token, logs.of(token.line))
    said.close()


def _heard(pieces: Iterable[str], *heard: DeliveryText | PastedLogs) -> Iterator[str]:
    for piece in pieces:
        for one in heard:
            one.feed(piece)
        yield piece


def _as_it_comes(stream: BufferedInput) -> Iterator[str]:
    """Pieces of text; what each gave is shown before the next is waited for, which an empty piece says."""
    for piece in read_text(stream):
        yield piece
        if stream.waits:
            yield ""
        sys.stdout.flush()


def read_text(stream: IO[bytes] | BufferedInput) -> Iterator[str]:
    """Standard input as pieces of text; a byte order mark chooses between UTF-8 and UTF-16, and lines may be in GBK.

    Bytes that are not text in that encoding become replacement characters: an id next to them is still an id.
    """
    read = getattr(stream, "read1", stream.read)
    start = b""
    while len(start) < 3:
        more = read(_CHUNK)
        if not more:
            break
        start += more
    name = next((name for mark, name in BYTE_ORDER_MARKS if start.startswith(mark)), None) or _unmarked(start)
    pieces = chain([start], iter(lambda: read(_CHUNK), b"")) if start else iter(())
    if name == "utf-8":
        yield from texts_of(pieces, _CHUNK)
        return
    decoder = codecs.getincrementaldecoder(name)("replace")
    yield from map(decoder.decode, pieces)
    yield decoder.decode(b"", True)


def _unmarked(start: bytes) -> str:
    """UTF-16 without a mark, as PowerShell may pipe it, or UTF-8."""
    from idcore.sources.kinds import HEAD, PLAIN, unmarked

    name = unmarked(start[:HEAD])
    return "utf-8" if name == PLAIN else name


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
