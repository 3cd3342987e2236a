"""Verdicts in one language, and as a row: which messages of the catalogue they are. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from idcore.answers.fate.model import Fact, Reason, Verdict
from idcore.base import catalogue
from idcore.base.catalogue import Words
from idcore.ids.clock import from_ms, is_time

Time = Callable[[int], str]
# Values that are instants, in ms; a door shows them in its reader's zone.
INSTANTS = frozenset({"at", "due", "since", "stored", "until"})
_PLURAL = 2  # how many are before a message whose verdict does not say it

_ENGLISH = catalogue.words()


def utc(milliseconds: int) -> str:
    """An instant as rows have it."""
    return from_ms(milliseconds).isoformat(timespec="milliseconds") if is_time(milliseconds) else f"{milliseconds} ms"


def utc_if_known(milliseconds: int | None) -> str | None:
    """The same of what may not be known."""
    return None if milliseconds is None else utc(milliseconds)


def verdict_text(verdict: Verdict, words: Words = _ENGLISH, time: Time = utc) -> str:
    """What became of the message."""
    key = f"fate.verdict.{verdict.code}"
    if words.has(key):
        return said_with(key, verdict.values, words, time)
    return words("fate.not_consumed", reason=trouble_text(verdict, words, time))


def trouble_text(verdict: Verdict, words: Words, time: Time = utc) -> str:
    """Why the group has not consumed the message, as a part of a sentence that says so."""
    key = f"headline.verdict.{verdict.code}"
    return said_with(key if words.has(key) else f"fate.why.{verdict.code}", verdict.values, words, time)


def reason_text(reason: Reason, words: Words = _ENGLISH, time: Time = utc) -> str:
    """Why the verdict is what it is, or what makes it less certain."""
    return said_with(f"fate.why.{reason.code}", reason.values, words, time)


def fact_text(fact: Fact, words: Words) -> str:
    """A value as a reader has it."""
    if fact.value is None or isinstance(fact.value, bool):
        return words(f"fate.value.{fact.value}".lower())
    return f"{fact.value:,}" if isinstance(fact.value, int) else str(fact.value)


def row_of(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON has it: codes with their English sentences, instants in UTC."""
    asked_at = verdict.asked_at_ms
    return {
        "group": verdict.group,
        "record": verdict.record,
        "verdict": verdict.code,
        "verdict_text": verdict_text(verdict),
        "certainty": verdict.certainty,
        "values": _shown(verdict.values, utc),
        "why": [
            {"code": reason.code, "text": reason_text(reason), **_shown(reason.values, utc)} for reason in verdict.why
        ],
        "evidence": [
            {"name": fact.name, "value": fact.value, "asked_at": None if fact.at_ms is None else utc(fact.at_ms)}
            for fact in verdict.facts
        ],
        "asked_at": None if asked_at is None else utc(asked_at),
        "disproof": _ENGLISH(f"fate.disproof.{verdict.code}"),
    }


def _shown(values: Mapping[str, Any], time: Time) -> dict[str, Any]:
    return {name: time(value) if name in INSTANTS else value for name, value in values.items()}


def said_with(key: str, values: Mapping[str, Any], words: Words, time: Time = utc) -> str:
    """A message of the catalogue, with instants in a reader's zone and separators in numbers.

    What the values do not hold is a question mark. How many messages are before this one chooses the form.
    """
    shown = {
        name: f"{value:,}" if isinstance(value, int | float) else value for name, value in _shown(values, time).items()
    }
    return words.fill_known(key, {"count": values.get("ahead", _PLURAL)} | shown)
