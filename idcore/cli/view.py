"""`view`: the records behind ids, from a store folder or a live cluster. Prints what the look-up answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from idcore.cli.decode import read_text
from idcore.cli.parser import Usage, read_clock
from idcore.errors import IdError
from idcore.ids import Clock, find, identify
from idcore.ids.clock import from_ms, parse_instant, to_ms
from idcore.written import json_text, plain

if TYPE_CHECKING:
    from idcore.store import StoreFolder

FOUND, SOME_MISSED, NOTHING_ASKED = 0, 1, 3
_BODY_SHOWN = 300


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
    except IdError as problem:
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


_LINES = (
    "topic", "queue_id", "queue_offset", "commit_log_offset", "file", "store_size", "msg_id", "offset_msg_id", "batch",
    "born_timestamp", "born_host", "store_timestamp", "store_host", "sys_flag", "flag", "body_crc", "reconsume_times",
    "prepared_transaction_offset", "tags_code", "record_crc_ok",
)  # fmt: skip


def card(row: dict[str, Any]) -> str:
    """One record, a line for each value."""
    lines = []
    for name in _LINES:
        if name not in row:
            continue
        value = row[name]
        if name.endswith("_timestamp"):
            value = f"{value} ({from_ms(value).isoformat(timespec='milliseconds')})" if 0 <= value < 1 << 45 else value
        if name == "record_crc_ok":
            if value is None:
                continue
            value = "the record's own CRC agrees" if value else "the record's own CRC does not agree: it was damaged"
        if name == "body_crc":
            value = f"{value} ({'agrees' if row['body_crc_ok'] else 'does not agree: the body was damaged'})"
        lines.append(f"  {name:<27} {'' if value is None else value}")
    lines += [f"  {name:<27} {text}" for name, text in _pointers(row)]
    lines += [f"  {'property ' + name:<27} {'' if value is None else value}" for name, value in row["properties_raw"]]
    text = row["body_text"]
    if text is None:
        text = row["body_problem"] or (
            f"({row['body_size']} bytes, not shown: {row['body_withheld']})"
            if row["body"] is None
            else f"{row['body'][:_BODY_SHOWN]} (base64)"
        )
    lines.append(f"  {'body':<27} {_cut(text)}")
    if "inner" in row:
        lines += [f"  {'holds':<27} {_inner(inner)}" for inner in row["inner"]]
        lines += [f"  {'holds':<27} {row['inner_problem']}"] if "inner_problem" in row else []
    return "\n".join(map(plain, lines))


def _cut(text: str) -> str:
    return f"{text[:_BODY_SHOWN]}{'...' if len(text) > _BODY_SHOWN else ''}"


def _inner(inner: dict[str, Any]) -> str:
    text = "(not shown)" if inner["body"] is None else inner["body_text"] or f"{inner['body'][:_BODY_SHOWN]} (base64)"
    return f"{inner['queue_offset']} {inner['msg_id'] or '(no id)'} {_cut(text)}"


_NO_UNIT = {
    "transaction": "none: a prepared and a rolled-back message get no place in a queue",
    "not_written": "none: nothing was written at its place",
    "no_queue": "none: this copy of the store has no such queue",
}


def _pointers(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What of a store folder points at the record."""
    if "index_entries" not in row:
        return
    unit = row["queue_unit"]
    if unit is not None:
        where = "points here" if unit["agrees"] else f"points at {unit['physical_offset']}, {unit['size']} bytes"
        yield "queue_unit", f"{where}, tags code {unit['tags_code']}"
    else:
        yield "queue_unit", _NO_UNIT[row["queue_unit_missing"]]
    for entry in row["index_entries"]:
        place = "too far down its chain to be looked for" if entry["place"] is None else f"entry {entry['place']}"
        where = "none" if entry["file"] is None else f"{entry['file']}, {place}"
        yield "index_entry", f"{entry['indexed_as']}: {where}"
