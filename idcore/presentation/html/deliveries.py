"""What lines say of deliveries, as static HTML: for each message its sentences, for one line a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from idcore.ids.delivery import DeliveryText, deliveries
from idcore.ids.delivery_sentences import short_text
from idcore.ids.delivery_sentences import told as told_of
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, tag


def told(said: Mapping[str, DeliveryText], reader: Reader, cut: bool = False) -> Html | None:
    """Each message of each text with its sentences, under one heading; None where the lines say nothing.

    `cut`: there is more of the input than was read at once.
    """
    words = reader.words
    part = tag("p", words("delivery.part"), class_="mq-faint") if cut else None
    parts: list[Html] = []
    for source, text in said.items():
        every, more = told_of(text.found, words, reader.instant)
        parts += [tag("p", source, class_="mq-faint")] if every and source else []
        for name, sentences in every:
            parts.append(tag("p", tag("span", name, class_="mq-mono")))
            parts.append(tag("ul", *(tag("li", sentence) for sentence in sentences)))
        parts += [tag("p", words("delivery.more", n=f"{more:,}"), class_="mq-faint")] if more else []
    return tag("div", tag("b", words("delivery.heading")), part, *parts, class_="mq-plain") if parts else None


def of_line(text: str, ids: Sequence[str], reader: Reader) -> str:
    """What one line says of some of its ids, in a few words; empty where it says nothing."""
    claims = (one for one in deliveries([text]) if {one.msg_id, one.offset_id} & set(ids))
    return reader.words("comma").join(dict.fromkeys(filter(None, (short_text(one, reader.words) for one in claims))))
