"""A list of messages without an ID as tables: the messages, and what each queue has. Lists nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from idcore.answers.lookup import Copy, Listing, ways
from idcore.base.catalogue import Words
from idcore.presentation.html.cards import message_link
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, Table, wrapped

Row = Mapping[str, Any]


def messages(copies: Sequence[Copy], of: int, cluster: str | None, reader: Reader) -> Table:
    """One row a message; both IDs lead to it."""
    words = reader.words
    rows = [{**ways.row(copy), "stored_ms": copy.record.store_timestamp} for copy in copies]

    def to(name: str, label: str, role: str | None = None) -> Column:
        cell = lambda row: message_link(row[name], reader, cluster=cluster) or ""  # noqa: E731
        return Column(name, label, mono=True, role=role, cell=cell)

    def queue(row: Row) -> str:
        return ":".join(str(row[name]) for name in ("broker_name", "queue_id", "queue_offset") if row[name] is not None)

    def names(row: Row) -> Html:
        return wrapped(" ".join(part for part in (row["tag"], row["keys"]) if part))

    columns = [
        Column("at", words("record.stored"), mono=True, cell=lambda row: reader.stamp(row["stored_ms"], "–")),
        Column("queue", words("list.queue"), mono=True, cell=queue),
        to("msg_id", "msgId"),
        Column("tags", words("store.tag_and_keys"), mono=True, cell=names),
    ]
    if any(row["home_topic"] is not None for row in rows):  # sent back by a consumer
        columns.append(Column("home", words("list.home"), True, cell=lambda row: wrapped(row["home_topic"] or "")))
        columns.append(Column("reconsume_times", words("list.tries"), right=True))
    columns.append(to("offset_msg_id", "offsetMsgId", "offset"))
    return Table.of(words("list.messages", n=f"{len(rows):,}", of=f"{of:,}"), columns, rows)


def queues(listing: Listing, words: Words) -> Table:
    """What each queue has, and what of it is in the list."""
    labels = {"first": "store.first", "end": "store.end", "listed": "list.listed"}
    labels |= {"unreadable": "list.unreadable", "left": "list.left"}
    columns = [
        Column(
            "queue",
            words("list.queue"),
            mono=True,
            cell=lambda one: f"{one.broker}:{one.queue_id}" if one.broker else one.queue_id,
        ),
        *(Column(name, words(label), right=True) for name, label in labels.items()),
    ]
    return Table.of(words("list.queues", n=len(listing.queues)), columns, listing.queues)
