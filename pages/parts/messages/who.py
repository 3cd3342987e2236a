"""Who is connected as the process behind an id, as a card for any page. Asks nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from idcore.lookup import Answer, who_texts
from idcore.lookup.clients import LiveClient, version_text
from idcore.reports.markup import Column, Html, table, tag
from pages.parts.view import View

MOST_SHOWN = 50


def card(answer: Answer, view: View) -> Html | None:
    """Whether the process behind the id is connected, and its clients; None where that was not asked."""
    who, words = answer.who, view.words
    if who is None:
        return None
    first, *rest = who_texts(who, words, view.stamp)
    parts: list[Any] = [tag("p", tag("b", words("who.title")), first, class_="mq-meaning")]
    parts.append(tag("ul", *(tag("li", text) for text in rest), class_="mq-small"))
    if who.match.clients:
        parts.append(clients(who.match.clients, view))
    return tag("div", *parts, class_="mq-plain")


def clients(found: Sequence[LiveClient], view: View) -> Html:
    """Connected clients, as brokers list them."""
    words = view.words
    rows = [
        [
            client.client_id,
            words("comma").join(client.addresses),
            client.language,
            version_text(client.version),
            tag("span", words("comma").join(client.groups), class_="mq-topic"),
            words("comma").join(client.brokers),
            view.stamp(client.heartbeat_ms),
        ]
        for client in found[:MOST_SHOWN]
    ]
    named = (("client", True), ("address", True), ("language", False), ("version", False), ("groups", True))
    columns = [Column(name, words(f"groups.col.{name}"), mono) for name, mono in named]
    columns += [Column("brokers", words("groups.col.brokers"), True)]
    columns += [Column("heartbeat", words("groups.col.heartbeat"), True)]
    shown = table(columns, rows, words("who.clients"))
    if len(found) <= MOST_SHOWN:
        return shown
    cut = words("groups.cut_rows", n=f"{MOST_SHOWN:,}", of=f"{len(found):,}")
    return tag("div", shown, tag("p", cut, class_="mq-faint mq-note"))
