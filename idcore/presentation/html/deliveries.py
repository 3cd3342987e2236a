"""What lines say of deliveries, as static HTML: for each message its sentences, for one line a few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from idcore.ids.delivery import DeliveryText, deliveries
from idcore.ids.delivery_sentences import short_text
from idcore.ids.delivery_sentences import told as told_of
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, fold, join, tag

MOST_OPEN = 5  # messages of a text whose sentences are not folded: what leads on is below them


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
        each = [_of_message(name, sentences) for name, sentences in every]
        rest = each[MOST_OPEN:] + ([tag("p", words("delivery.more", n=f"{more:,}"), class_="mq-faint")] if more else [])
        parts += each[:MOST_OPEN]
        parts += [fold(words("delivery.others", n=f"{len(every) - MOST_OPEN + more:,}"), *rest)] if rest else []
    return tag("div", tag("b", words("delivery.heading")), part, *parts, class_="mq-plain") if parts else None


def _of_message(name: str, sentences: Iterable[str]) -> Html:
    listed = tag("ul", *(tag("li", sentence) for sentence in sentences))
    return join([tag("p", tag("span", name, class_="mq-mono")), listed])


def of_line(text: str, ids: Sequence[str], reader: Reader) -> str:
    """What one line says of some of its ids, in a few words; empty where it says nothing."""
    claims = (one for one in deliveries([text]) if {one.msg_id, one.offset_id} & set(ids))
    return reader.words("comma").join(dict.fromkeys(filter(None, (short_text(one, reader.words) for one in claims))))
