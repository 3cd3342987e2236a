"""Items of `view`, `journey` and `dead_letters`, also for the command line. Asks nobody; needs no Spark."""

from __future__ import annotations

from typing import Any

from idcore.answers import journey as journeys
from idcore.answers.lookup import (
    NO_VERDICT,
    Answer,
    BodyRoom,
    Listing,
    list_reason,
    listing_row,
    reason_text,
    row_of,
)
from idcore.answers.lookup.sentences import list_text
from idcore.base.catalogue import Words


def answer_item(answer: Answer, words: Words, room: BodyRoom | None = None) -> dict[str, Any]:
    """An answer with how sure it is: a record that was read is there, a miss is as sure as who was asked."""
    unsure = answer.reason in NO_VERDICT or answer.nothing_asked
    return row_of(answer, room) | {
        "said": None if answer.found or answer.reason is None else reason_text(answer, words),
        "certainty": "certain" if answer.found else "possible" if unsure else "likely",
        "disproof": words("wrong_if.found" if answer.found else "wrong_if.not_found"),
    }


def journey_item(text: str, journey: journeys.Journey, words: Words) -> dict[str, Any]:
    """The journey of a message with its answer in a sentence. Events that contradict each other make it less sure."""
    return journeys.row_of(journey) | {
        "id": text,
        "said": journeys.found_text(journey, words),
        "certainty": "certain"
        if journey.events and not journey.conflicts
        else "likely"
        if journey.events
        else "possible",
        "disproof": words("wrong_if.journey"),
    }


def listing_item(listing: Listing, words: Words, room: BodyRoom | None = None) -> dict[str, Any]:
    """A list of messages with its answer in a sentence; each of its records was read, so it is there."""
    said = list_text(listing, words).replace("**", "")
    if listing.reason not in (None, listing.cut):
        said += " " + list_reason(listing, words)
    row = listing_row(listing, room)
    sure = {"certainty": "certain", "disproof": words("wrong_if.found")}
    return row | {"said": said, "copies": [copy | sure for copy in row["copies"]]}
