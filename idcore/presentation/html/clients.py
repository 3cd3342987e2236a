"""Who is connected as the process behind an id, as a card for any page. Asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from idcore.answers.lookup import Answer, who_texts
from idcore.answers.lookup.clients import LiveClient, version_text
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, Table, tag, wrapped

MOST_SHOWN = 50


def card(answer: Answer, reader: Reader) -> Html | None:
    """Whether the process behind the id is connected, and its clients; None where that was not asked."""
    who, words = answer.who, reader.words
    if who is None:
        return None
    first, *rest = who_texts(who, words, reader.stamp)
    parts: list[Any] = [tag("p", tag("b", words("who.title")), first, class_="mq-meaning")]
    parts.append(tag("ul", *(tag("li", text) for text in rest), class_="mq-small"))
    if who.match.clients:
        parts.append(shown(who.match.clients, reader))
    return tag("div", *parts, class_="mq-plain")


def clients(connected: Sequence[LiveClient], reader: Reader) -> Table:
    """The first of the connected clients, as brokers list them."""
    words = reader.words

    def column(name: str, mono: bool, cell: Callable[[LiveClient], Any]) -> Column:
        return Column(name, words(f"groups.col.{name}"), mono, cell=cell)

    comma = words("comma").join
    columns = [
        column("client", True, lambda client: client.client_id),
        column("address", True, lambda client: comma(client.addresses)),
        column("language", False, lambda client: client.language),
        column("version", False, lambda client: version_text(client.version)),
        column("groups", True, lambda client: wrapped(comma(client.groups))),
        column("brokers", True, lambda client: comma(client.brokers)),
        column("heartbeat", True, lambda client: reader.stamp(client.heartbeat_ms)),
    ]
    return Table.of(words("who.clients"), columns, connected[:MOST_SHOWN])


def shown(connected: Sequence[LiveClient], reader: Reader) -> Html:
    """The same as HTML, with how many there are."""
    shown = clients(connected, reader).html()
    if len(connected) <= MOST_SHOWN:
        return shown
    cut = reader.words("groups.cut_rows", n=f"{MOST_SHOWN:,}", of=f"{len(connected):,}")
    return tag("div", shown, tag("p", cut, class_="mq-faint mq-note"))
