"""Lists of messages at the command line: the way out of the options, and a list in each form. Asks nobody."""

from __future__ import annotations

import argparse
from datetime import tzinfo
from typing import IO

from idcore.answers.lookup import Listing, Way, ways
from idcore.base.safe_text import json_text
from idcore.cli.parser import Usage
from idcore.operations.found_messages import listing_item
from idcore.presentation import export
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import messages


def way_of(options: argparse.Namespace, zone: tzinfo) -> Way | None:
    """The way that the options name; None where IDs are looked up."""
    named = {name: getattr(options, name) for name in ("queue", "key", "tag", "dead_letters", "limit")}
    if options.ids:
        if wrong := [f"--{name.replace('_', '-')}" for name, value in named.items() if value is not None]:
            raise Usage(f"{', '.join(wrong)}: give either IDs or a list")
        way = None
    else:
        way = Way.of(named | {"topic": options.topic, "from": options.begin, "to": options.end}, zone)
    if way is None and options.format in ("csv", "jsonl"):
        raise Usage(f"--format {options.format} goes with a list: --from, --queue, --key, --tag, --dead-letters")
    of_ids = options.fate or options.out or options.journey or options.trace or options.trace_topic or options.who
    if way is not None and of_ids:
        raise Usage("--fate, --out, --journey, --trace and --who go with IDs")
    return way


def show(listing: Listing, form: str, reader: Reader, out: IO[str]) -> None:
    """The list; CSV and JSON Lines have its rows alone."""
    if form == "json":
        out.write(json_text(listing_item(listing, reader.words)) + "\n")
    elif form == "csv":
        rows = (list(row.values()) for row in ways.rows(listing.copies))
        export.to_stream(export.csv_lines(ways.COLUMNS, rows), out)
    elif form == "jsonl":
        out.writelines(export.json_lines(ways.rows(listing.copies)))
    else:
        out.writelines(f"{line}\n" for line in messages.listing(listing, reader))
    out.flush()
