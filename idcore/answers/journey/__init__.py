"""The journey of one message: what every source at hand says of it, on one line of time. Asks nobody, draws nothing."""

from idcore.answers.journey.model import Event, Journey, Line, Sources
from idcore.answers.journey.sentences import (
    event_text,
    found_text,
    oddities,
    outcome_text,
    row_of,
    short_text,
    source_of,
    steps,
    when_text,
    whole_text,
)
from idcore.answers.journey.timeline import build, ids_of, lines_of, messages_of_trace

__all__ = [
    "Event",
    "Journey",
    "Line",
    "Sources",
    "build",
    "event_text",
    "found_text",
    "ids_of",
    "lines_of",
    "messages_of_trace",
    "oddities",
    "outcome_text",
    "row_of",
    "short_text",
    "source_of",
    "steps",
    "when_text",
    "whole_text",
]
