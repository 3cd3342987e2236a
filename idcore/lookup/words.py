"""How a look-up is said: the keys of its reasons, advice, facts and relations in the catalogue. Asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idcore import catalogue

REASON, ADVICE, FACT, RELATION = "lookup.reason", "lookup.advice", "lookup.fact", "lookup.relation"

# Figures of the evidence that are instants, as ISO 8601.
INSTANTS = frozenset({"first", "stored", "sent", "begin", "earliest", "clock", "here"})


def say(kind: str, code: str, values: Mapping[str, Any], lang: str = catalogue.ENGLISH) -> str:
    """A sentence of a look-up in one language."""
    return catalogue.words(lang).fill(f"{kind}.{code}", values)
