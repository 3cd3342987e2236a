"""The sentences of answers in one language: the only module that asks the tables of words. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from idcore.ids import words as templates
from idcore.ids.clock import from_ms, is_time
from idcore.lookup import words
from idcore.lookup.model import Answer, Copy, Evidence
from idcore.store import words as store_words
from idcore.store.consistency import Doubt

INSTANTS = words.INSTANTS  # values of the evidence that are instants


class Catalogue(Protocol):
    """The tables of one language: codes to templates."""

    REASONS: dict[str, str]
    ADVICE: dict[str, str]
    EVIDENCE: dict[str, str]
    RELATIONS: dict[str, str]
    STORE: dict[str, str]
    DOUBTS: dict[str, str]


class _English:
    REASONS, ADVICE, EVIDENCE, RELATIONS = words.REASONS, words.ADVICE, words.EVIDENCE, words.RELATIONS
    STORE, DOUBTS = store_words.REASONS, store_words.DOUBTS


ENGLISH: Catalogue = _English()

# Kinds of sources that have a table of reasons of their own; its sentences contain the figures.
_OWN = {"store": "STORE"}


def has_own(source: str) -> bool:
    """Whether the sentences of this kind of source contain its figures: then they are neither listed nor advised on."""
    return source in _OWN


def reason_of(code: str, values: Mapping[str, Any], source: str, catalogue: Catalogue = ENGLISH) -> str:
    """The sentence of a reason: of the kind of source where it has one of its own, else of all."""
    own: Mapping[str, str] = getattr(catalogue, _OWN[source]) if source in _OWN else {}
    return store_words.say(code, values, own if code in own else catalogue.REASONS)


def reason_text(answer: Answer, catalogue: Catalogue = ENGLISH, figures: Mapping[str, Any] | None = None) -> str:
    """Why there is no record, or what is odd about the way to it; empty where there is nothing to say.

    `figures` are those of the answer as a reader has them.
    """
    if answer.reason is None:
        return ""
    shown = answer.figures if figures is None else figures
    return reason_of(answer.reason, {"id": answer.id, **shown}, answer.source, catalogue)


def advice_text(answer: Answer, catalogue: Catalogue = ENGLISH) -> str:
    """What to try next; empty where there is no advice."""
    return "" if answer.reason is None or has_own(answer.source) else catalogue.ADVICE[answer.reason]


def evidence_text(item: Evidence, catalogue: Catalogue = ENGLISH, values: Mapping[str, Any] | None = None) -> str:
    """A fact as a sentence; `values` are its values as a reader has them."""
    return templates.say(catalogue.EVIDENCE[item.code], item.values if values is None else values)


def relation_text(copy: Copy, catalogue: Catalogue = ENGLISH) -> str:
    """What a copy is among the others; empty for a record that was not related to any."""
    return "" if copy.relation is None else templates.say(catalogue.RELATIONS[copy.relation], {"group": copy.group})


def _utc(milliseconds: int) -> str:
    return from_ms(milliseconds).isoformat(timespec="milliseconds") if is_time(milliseconds) else f"{milliseconds} ms"


def doubt_text(doubt: Doubt, catalogue: Catalogue = ENGLISH, time: Callable[[int], str] = _utc) -> str:
    """What does not agree with a record; `time` is how a reader has times."""
    timed = doubt.code.endswith("_time")
    return store_words.say(
        doubt.code, {name: time(value) if timed else value for name, value in doubt.values.items()}, catalogue.DOUBTS
    )
