"""What the page without a server shows of a text: the cards, tables and sentences of the console. Needs no package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC
from urllib.parse import quote

from idcore.base import catalogue
from idcore.ids.clock import Clock, from_ms
from idcore.ids.identify import Case
from idcore.intake.intake import sources_of_input
from idcore.presentation import intake_texts
from idcore.presentation.decoding import Decoding
from idcore.presentation.html import cards, deliveries, ruler
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, emphasised, fold, join, tag
from idcore.presentation.times import zone_of

ROWS = 500  # of the table; the CSV has all


class OfflineReader(Reader):
    """A reader whose only page is this one: a link to the bytes of an ID shows that ID here."""

    def href(self, page: str, **asked: str | Sequence[str] | None) -> str:
        """`#id=…` for the page Anatomy, with the name that makes it an ID; no other page is here."""
        if page != "anatomy" or not asked.get("id"):
            return ""
        named = f"{asked['label']}={asked['id']}" if asked.get("label") else str(asked["id"])
        return f"#id={quote(named)}"


def answer(text: str, lang: str, zone: str, now_ms: int, case: Case = "strict") -> dict[str, str]:
    """`html`, and `csv` of all IDs. `zone`: an IANA name, which dates what no line dates; `now_ms`: of 1970."""
    reader = OfflineReader(catalogue.words(lang), zone_of(zone) or UTC)
    whole = text.encode(errors="replace").decode()  # a page may send half a letter
    here = Decoding(sources_of_input(whole, []), case=case, unread=True)
    here.read_now()
    clock = here.dating(Clock(from_ms(now_ms), reader.zone, "assumed"))
    csv = here.exports(clock)[0].decode() if here.intake.found else ""
    return {"html": join(_parts(here, clock, reader)), "csv": csv}


def _parts(here: Decoding, clock: Clock, reader: OfflineReader) -> Iterator[Html]:
    words, intake = reader.words, here.intake
    if not intake.found:
        yield from _nothing(here, reader)
    elif here.single:
        item = intake.found[0]
        yield cards.card(item, reader, clock, alone=intake.alone)
        if (best := item.verdict.best) is not None:
            yield tag("div", ruler.ruler(best, words, large=True, bits=True), class_="mq-anatomy")
            yield ruler.lessons(best, words)
    else:
        sentences = [intake_texts.intake_sentence(intake, here.where(words), words)]
        for text in [*sentences, *intake_texts.common_sentences(intake, clock, reader)]:
            yield tag("p", emphasised(text), class_="mq-said")
        yield cards.of_ids(intake.found[:ROWS], reader, clock).html(numbered=True)
        if len(intake.found) > ROWS:
            yield tag("p", words("offline.cut", n=f"{ROWS:,}", all=f"{len(intake.found):,}"), class_="mq-faint")
    if (delivery := deliveries.told(intake.said, reader)) is not None:
        yield delivery
    if intake.found and intake.refused:
        label = words("offline.rejected", n=words.count("token", len(intake.refused)))
        yield tag("div", fold(label, cards.refused(intake.refused[:ROWS], reader)), class_="mq-plain")
    notes = [intake_texts.zones_sentence(intake, clock, words), *intake_texts.dated_note(here.dated_by(clock), words)]
    yield tag("ul", *(tag("li", note) for note in notes if note), class_="mq-small")


def _nothing(here: Decoding, reader: OfflineReader) -> Iterator[Html]:
    """Why the text has no ID."""
    words, intake = reader.words, here.intake
    if len(intake.refused) == 1:
        verdict = intake.refused[0].verdict
        yield tag("p", intake_texts.why_not(verdict, words), class_="mq-said")
        if verdict.others and verdict.reason not in intake_texts.WRONG_SHAPE:
            yield cards.other(verdict.others[0], verdict.others[0].certainty, words, told=verdict.reason)
    elif intake.refused and not all(item.verdict.reason in intake_texts.WRONG_SHAPE for item in intake.refused):
        yield tag("p", words("decode.all_refused", n=words.count("token", len(intake.refused))), class_="mq-said")
        yield cards.refused(intake.refused[:ROWS], reader)
    else:
        yield tag("p", intake_texts.no_run(intake.longest, words), class_="mq-said")
    for message_id, label in intake_texts.offers(here.text, words):
        yield tag("p", tag("a", label, href=reader.href("anatomy", id=message_id)))
