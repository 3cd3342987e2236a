"""Operations on a text: decode its IDs, explain a line, compare two inputs. They need no scan and no cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from idcore.base.catalogue import Words
from idcore.base.errors import refuse
from idcore.base.open_folders import file_status, is_file
from idcore.ids import fields
from idcore.ids.clock import Clock, from_ms
from idcore.ids.delivery_sentences import told
from idcore.ids.describe import Seeds, item_of
from idcore.ids.identify import case_of
from idcore.intake import intake
from idcore.intake.intake import Intake, Source
from idcore.operations.model import (
    AT,
    CASE,
    CERTAINTY,
    DISPROOF,
    LANG,
    LOOKALIKES,
    MOST_TEXT,
    ZONE,
    Argument,
    CallArguments,
    Caller,
    Field,
    Operation,
    Result,
)
from idcore.presentation.triage import compared, compared_texts
from idcore.scan.compare import Difference
from idcore.sources.storage import opened

MOST_COMPARED = 256 << 20  # bytes of one side, as the page of comparisons takes
LARGE_COMPARED = 8 << 20  # bytes of both sides, packed ones as they are
MOMENT = 0.25  # seconds after which who waits is asked whether they are still there
_TURN = threading.Lock()
MOST_LINE = 20_000
_TEXT, _NUMBER, _LIST = ("string", "null"), ("integer", "null"), ("array", "null")
_SIDES = {"first": "before", "second": "after"}


def _read(text: str, asked: CallArguments, caller: Caller) -> tuple[Intake, Clock]:
    """A text with its IDs, and a clock with what all its lines prove; CoreError once the caller has hung up."""
    case, clock = case_of(asked["case"], asked["lookalikes"]), asked.clock(caller.ground)
    text_intake = intake.read([("", text)], MOST_TEXT, case, caller.go_on)
    return text_intake, replace(clock, dates=intake.dates_of_found(text_intake.found, clock))


def _decode(asked: CallArguments, caller: Caller) -> Result:
    text_intake, clock = _read(asked["text"], asked, caller)
    rows = intake.rows_of(text_intake, clock, Seeds(before=caller.before_long))
    items = (item_of(row, asked.words) for row in rows)
    head = {"ids": len(text_intake.found), "rejected": len(text_intake.refused), "traces": list(text_intake.traces)}
    return Result(items, head, len(text_intake.items))


def _explain(asked: CallArguments, caller: Caller) -> Result:
    words = asked.words
    text_intake, clock = _read(asked["text"], asked, caller)
    rows = intake.rows_of(text_intake, clock, Seeds(before=caller.before_long))
    items = (
        item_of(row, words) | {"fields": _fields(one, words)} for one, row in zip(text_intake.items, rows, strict=True)
    )
    said, _ = told(
        [claim for each in text_intake.said.values() for claim in each.found],
        words,
        time=lambda ms: from_ms(ms, clock.zone).isoformat(" ", "milliseconds"),
    )
    deliveries = [{"id": name, "texts": texts} for name, texts in said]
    return Result(items, {"deliveries": deliveries, "traces": list(text_intake.traces)}, len(text_intake.items))


def _fields(one: intake.FoundId, words: Words) -> list[dict[str, Any]]:
    """Each field of the best reading: its digits, its value, what it means."""
    best = one.verdict.best
    if best is None:
        return []
    return [
        {
            "name": span.name,
            "digits": fields.digits_of(best, span),
            "value": fields.value_of(best, span.name),
            "meaning": fields.meaning_of(best, span.name, words),
        }
        for span in best.id.layout.spans
    ]


def _compare(asked: CallArguments, caller: Caller) -> Result:
    sides = [_side(asked, name, caller) for name in _SIDES]
    here = compared.ComparisonQuery((sides[0],), (sides[1],), asked["case"] == "any")
    with turn(sum(side.size for side in sides), caller.go_on):
        comparison = compared.compare(here, go_on=caller.go_on)
    words = asked.words
    problems = [{"input": name, "problem": words.error(problem)} for name, problem in comparison.problems]
    head = {"said": compared_texts.compared_sentence(comparison, words).replace("**", ""), "unread": problems}
    return Result(comparison_items(comparison.rows, not comparison.problems, words), head, len(comparison.rows))


@contextmanager
def turn(size: int, go_on: Callable[[], object] = bool) -> Iterator[None]:
    """One long comparison at a time, of programs and of pages: of 512 MiB it takes 1.3 GB.

    While it waits `go_on` is called again and again: what that raises ends the wait.
    """
    if size < LARGE_COMPARED:
        yield
        return
    while not _TURN.acquire(timeout=MOMENT):
        go_on()
    try:
        yield
    finally:
        _TURN.release()


def comparison_items(rows: Iterable[Difference], complete: bool, words: Words) -> Iterator[dict[str, Any]]:
    """The items of `compare`, also for the command line: what could not be read may have what is missing."""
    sure = {"certainty": "certain" if complete else "possible", "disproof": words("wrong_if.compared")}
    for row in rows:
        yield row.values | {"missing": row.missing, "new": row.new} | sure


def _side(asked: CallArguments, name: str, caller: Caller) -> Source:
    """One of two inputs: a text, a file of an open folder, or what a scan keeps."""
    given = [kind for kind in ("text", "path", "run") if asked[f"{name}_{kind}"]]
    if len(given) != 1:
        raise refuse("argument_one_of", names=", ".join(f"{name}_{kind}" for kind in ("text", "path", "run")))
    value = asked[f"{name}_{given[0]}"]
    if given[0] == "text":
        return Source(name, value.encode())
    if given[0] == "path":
        return source_of(caller, value)
    kept = intake.kept(caller.runs.open(value))
    if len(kept) != 1:
        raise refuse("input_not_kept", name=value)
    _refuse_large(kept[0].size, kept[0].name)
    return kept[0]


def source_of(caller: Caller, path: str) -> Source:
    """A file of an open folder; CoreError of what is none, or is too large to be read at once."""
    real = caller.inside(path)
    try:
        fits = isinstance(real, Path) and is_file(status := file_status(str(real), caller.guard))
        if not fits:
            raise refuse("not_a_file", path=path)
        _refuse_large(status.st_size, path)
        return Source(os.path.basename(path), opened(str(real), caller.guard))
    except OSError:
        raise refuse("not_open", path=path) from None


def _refuse_large(size: int, path: str) -> None:
    if size > MOST_COMPARED:
        raise refuse("file_large", path=path, most=f"{MOST_COMPARED >> 20} MiB")


def _of_side(name: str, which: str) -> tuple[Argument, ...]:
    return (
        Argument(f"{name}_text", "text", f"the {which} input as a text", most=MOST_TEXT),
        Argument(f"{name}_path", "text", f"or a file of an open folder that is the {which} input", most=4_096),
        Argument(f"{name}_run", "text", f"or a scan whose input is the {which} one", most=60),
    )


TEXT = Argument("text", "text", "IDs, or lines of a log", required=True, most=MOST_TEXT)
# fmt: off
READING = (
    Field("text", "string", "the string as it was, letter case included"),
    Field("line", _NUMBER, "its line in the input, from 1; null for an argument of a command"),
    Field("column", _NUMBER, "its column there, from 1"),
    Field("label", _TEXT, "the label in front, such as `msgId`; of a look-alike the word that names something else"),
    Field("kind", _TEXT, "`uniq`, `offset` or `client`: a msgId, an offsetMsgId, a msgId of 5.x; null if rejected"),
    Field("layout", _TEXT, "the form of its bytes"),
    CERTAINTY,
    Field("host", _TEXT, "the address of the producer of a msgId, or of the broker of an offsetMsgId"),
    Field("pid", _NUMBER, "the producer's process ID, as many bits of it as the ID has"),
    Field("loader", _TEXT, "the hash of its class loader, which tells apart processes of one pid"),
    Field("loader_position", _NUMBER, "which of Java's identity hashes of a new process that is, from 1"),
    Field("loader_bits", _NUMBER, "how many low bits of that hash differ"),
    Field("elapsed_ms", _NUMBER, "milliseconds since the month began in the producer's zone"),
    Field("counter", _NUMBER, "the counter of a msgId, from 0 to 65,535"),
    Field("sent_at", _TEXT, "when it was generated"),
    Field("sent_at_earliest", _TEXT, "the start of the range of that time, if it is not exact"),
    Field("sent_at_latest", _TEXT, "the end of that range"),
    Field("month", _TEXT, "the month that its milliseconds are counted from"),
    Field("zone", _TEXT, "the zone of its producer"),
    Field("zone_source", _TEXT, "where that zone is from"),
    Field("port", _NUMBER, "the port of the broker"),
    Field("offset", _NUMBER, "the physical offset of the record in the commit log"),
    Field("segment", _TEXT, "the file of the commit log with this offset, if files have 1 GiB"),
    Field("position", _NUMBER, "the place in that file"),
    Field("mac", _TEXT, "the MAC address in a msgId of 5.x"),
    Field("seconds", _NUMBER, "its seconds since 2021"),
    Field("sequence", _NUMBER, "its sequence number"),
    Field("maker", _TEXT, "the client that probably generated it, in words"),
    Field("maker_code", _TEXT, "the same as a code"),
    Field("why", _LIST, "the reasons for this interpretation, as sentences"),
    Field("why_codes", _LIST, "the same as codes"),
    Field("others", _LIST, "the other interpretations, best first, with the same keys"),
    Field("error", ("object", "null"), "why it was rejected: `problem`, `field`, `byte`"),
    Field("month_source", _TEXT,
          "where the month is from: `line`, `record`, `process`, `input`, `assumed`; null if the ID has it"),
    Field("delivery", ("object", "null"), "what its line says of the delivery, in CSV its `text`; null if nothing"),
    Field("assumed", _LIST, "what of the time nothing proves: `month`, `zone`"),
    Field("joined", ("boolean", "null"), "whether signs or line breaks between digits were taken out"),
    Field("cut", _NUMBER, "how many digits lack or are masked"),
    Field("lookalike", _TEXT, "null, or why it is probably no ID: `label`, `spread`, `uuid`, `single`"),
    DISPROOF,
)
# fmt: on

COMPARED = (  # in the order of the CSV
    Field("kind", "string", "uniq, client or offset"),
    Field("subject", "string", "the process, or the broker"),
    Field("before", "integer", "different IDs of the first input"),
    Field("after", "integer", "different IDs of the second input"),
    Field("both", "integer", "IDs of both"),
    Field("missing", "integer", "how many only the first has"),
    Field("new", "integer", "how many only the second has"),
    Field("only_before", "array", "some that only the first has"),
    Field("only_after", "array", "some that only the second has"),
    CERTAINTY,
    DISPROOF,
)
_TRACES = Field("traces", "array", "trace ids of the W3C traceparents in the text")
OPERATIONS = (
    Operation(
        "decode",
        "Decodes every ID in a text: host, process and time, or broker and offset.",
        (TEXT, ZONE, AT, CASE, LOOKALIKES, LANG),
        "decode",
        _decode,
        READING,
        (
            Field("ids", "integer", "how many IDs the text has"),
            Field("rejected", "integer", "how many strings only look like IDs"),
            _TRACES,
        ),
        alone=True,
        command="decode",
    ),
    Operation(
        "explain_line",
        "Explains a log line: each field of its IDs, and what it says of sends and deliveries.",
        (
            replace(TEXT, most=MOST_LINE, meaning="one line, or the lines of one record"),
            ZONE,
            AT,
            CASE,
            LOOKALIKES,
            LANG,
        ),
        "decode",
        _explain,
        (*READING, Field("fields", "array", "the fields of the ID: name, digits, value, meaning")),
        (Field("deliveries", "array", "what the line says of each message"), _TRACES),
        alone=True,
    ),
    Operation(
        "compare",
        "Lists, by process and broker, the IDs that only one of two inputs contains.",
        (*_of_side("first", "first"), *_of_side("second", "second"), CASE, LANG),
        "compare",
        _compare,
        COMPARED,
        (
            Field("said", "string", "the answer in a sentence"),
            Field("unread", "array", "inputs that could not be read, each with its problem"),
        ),
        command="compare",
    ),
)
