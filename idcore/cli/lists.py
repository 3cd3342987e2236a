"""Lists of messages at the command line: the way out of the options, and a list in each form. Asks nobody."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import tzinfo
from typing import IO, Any

from idcore.answers.lookup import (
    Listing,
    Way,
    cut_text,
    evidence_text,
    list_reason,
    list_text,
    listing_row,
    spoken,
    ways,
)
from idcore.base.safe_text import json_text, printable
from idcore.cli.parser import Usage
from idcore.cli.traces import aligned
from idcore.presentation import export

_TABLE = ("stored_at", "queue", "msg_id", "offset_msg_id", "tag", "keys", "home_topic", "reconsume_times")


def way_of(options: argparse.Namespace, zone: tzinfo) -> Way | None:
    """The way that the options name; None where IDs are looked up."""
    named = {name: getattr(options, name) for name in ("queue", "key", "dead_letters", "limit")}
    if options.ids:
        if wrong := [f"--{name.replace('_', '-')}" for name, value in named.items() if value is not None]:
            raise Usage(f"{', '.join(wrong)}: give either IDs or a list")
        way = None
    else:
        way = Way.of(named | {"topic": options.topic, "from": options.begin, "to": options.end}, zone)
    if way is None and options.format in ("csv", "jsonl"):
        raise Usage(f"--format {options.format} goes with a list: --from, --queue, --key, --dead-letters")
    of_ids = options.fate or options.out or options.journey or options.trace or options.trace_topic or options.who
    if way is not None and of_ids:
        raise Usage("--fate, --out, --journey, --trace and --who go with IDs")
    return way


def show(listing: Listing, form: str, out: IO[str]) -> None:
    """The list; CSV and JSON Lines have its rows alone."""
    if form == "json":
        out.write(json_text(listing_row(listing)) + "\n")
    elif form == "csv":
        out.writelines(export.csv_lines(ways.COLUMNS, (list(row.values()) for row in ways.rows(listing.copies))))
    elif form == "jsonl":
        out.writelines(export.json_lines(ways.rows(listing.copies)))
    else:
        out.write("\n".join(_table(listing)) + "\n")
    out.flush()


def _table(listing: Listing) -> Iterator[str]:
    head, *rest = notes(listing)
    yield head
    if listing.copies:
        away = any(row["home_topic"] for row in ways.rows(listing.copies))
        columns = _TABLE if away else _TABLE[:-2]
        rows = [tuple(_cell(row, name) for name in columns) for row in ways.rows(listing.copies)]
        yield from aligned([tuple(name.replace("_", " ") for name in columns), *rows])
    yield from rest
    if listing.queues:
        head_ = ("  queue", "from", "to", "listed", "unreadable", "not read")
        rows = [
            (
                f"  {_place(queue.broker, queue.queue_id)}",
                f"{queue.first:,}",
                f"{queue.end:,}",
                f"{queue.listed:,}",
                f"{queue.unreadable:,}",
                f"{queue.left:,}",
            )
            for queue in listing.queues
        ]
        yield from aligned([head_, *rows])
    yield printable(f"  asked       {', '.join(listing.asked) or 'nobody'}")


def notes(listing: Listing) -> Iterator[str]:
    """How many messages were listed, why none were, what is missing, what is wrong."""
    yield printable(list_text(listing).replace("**", ""))
    if listing.reason is not None:
        yield printable(f"  reason      {listing.reason}: {list_reason(listing)}")
    if listing.cut is not None:
        yield printable(f"  cut         {cut_text(listing)}")
    for item in listing.evidence:
        said = f"{item.code} {json_text(spoken(item.values[item.code]))}" if item.is_figure else evidence_text(item)
        yield printable(f"  evidence    {said}")


def _cell(row: dict[str, Any], name: str) -> str:
    if name == "queue":
        return f"{_place(row['broker_name'], row['queue_id'])}:{row['queue_offset']}"
    return "" if row[name] is None else str(row[name])


def _place(broker: str | None, queue: int) -> str:
    return f"{broker}:{queue}" if broker else str(queue)
