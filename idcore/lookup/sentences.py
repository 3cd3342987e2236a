"""The sentences of answers in one language: which messages of the catalogue they are. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from idcore import catalogue
from idcore.catalogue import Words
from idcore.ids.clock import from_ms, is_time
from idcore.lookup.model import Answer, Copy, Evidence
from idcore.store.consistency import Doubt

# Values of the evidence that are instants, as ISO 8601.
INSTANTS = frozenset({"first", "stored", "sent", "begin", "earliest", "clock", "here", "shown", "written"})

# Kinds of sources that have reasons of their own; their sentences contain the figures.
_OWN = {"store": "store.reason"}
_ENGLISH = catalogue.words()


def has_own(source: str) -> bool:
    """Whether the sentences of this kind of source contain its figures: then they are neither listed nor advised on."""
    return source in _OWN


def reason_of(code: str, values: Mapping[str, Any], source: str, words: Words = _ENGLISH) -> str:
    """The sentence of a reason: of the kind of source where it has one of its own, else of all."""
    key = f"{_OWN.get(source, 'lookup.reason')}.{code}"
    return _said(key if words.has(key) else f"lookup.reason.{code}", values, words)


def reason_text(answer: Answer, words: Words = _ENGLISH, figures: Mapping[str, Any] | None = None) -> str:
    """Why a record was not found, or what is odd about the way to it; empty where there is nothing to say.

    `figures` are those of the answer as a reader has them.
    """
    if answer.reason is None:
        return ""
    shown = answer.figures if figures is None else figures
    return reason_of(answer.reason, {"id": answer.id, **shown}, answer.source, words)


def advice_text(answer: Answer, words: Words = _ENGLISH) -> str:
    """What to try next; empty without advice."""
    return "" if answer.reason is None or has_own(answer.source) else words(f"lookup.advice.{answer.reason}")


def evidence_text(item: Evidence, words: Words = _ENGLISH, values: Mapping[str, Any] | None = None) -> str:
    """A fact as a sentence; `values` are its values as a reader has them."""
    return words.fill(f"lookup.fact.{item.code}", item.values if values is None else values)


def relation_text(copy: Copy, words: Words = _ENGLISH) -> str:
    """What a copy is among the others; empty for a record that was not related to any."""
    return (
        ""
        if copy.relation is None
        else words(f"lookup.relation.{copy.relation}", group=copy.group, tries=f"{copy.record.reconsume_times:,}")
    )


def _utc(milliseconds: int) -> str:
    return from_ms(milliseconds).isoformat(timespec="milliseconds") if is_time(milliseconds) else f"{milliseconds} ms"


def doubt_text(doubt: Doubt, words: Words = _ENGLISH, time: Callable[[int], str] = _utc) -> str:
    """What does not agree with a record; `time` is how a reader has times."""
    timed = doubt.code.endswith("_time")
    values = {name: time(value) if timed else value for name, value in doubt.values.items()}
    return _said(f"store.doubt.{doubt.code}", values, words)


def _said(key: str, values: Mapping[str, Any], words: Words) -> str:
    """A message; what the values do not hold is a question mark."""
    return words.fill(key, {**dict.fromkeys(words.placeholders(key), "?"), **values})
