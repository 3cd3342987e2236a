"""The table of operations. The API, the MCP server and their documents are made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from idcore.base.errors import refuse
from idcore.operations import messages, scans, texts
from idcore.operations.model import Operation

TABLE: Mapping[str, Operation] = {one.name: one for one in (*texts.OPERATIONS, *scans.OPERATIONS, *messages.OPERATIONS)}
MOST_ITEMS = 1_000


def part_of(
    every: Iterable[Mapping[str, Any]], cursor: str | None, most: int
) -> tuple[list[Mapping[str, Any]], Iterator[Mapping[str, Any]]]:
    """So many items of an answer behind a cursor, and what follows them. CoreError of what is no cursor."""
    if cursor is not None and (not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 9):
        raise refuse("argument_wrong", name="cursor", wanted="what `next` gave")
    items = iter(islice(every, int(cursor or 0), None))
    return list(islice(items, most)), items
