"""How a look-up in a store is said: the keys of its reasons and doubts in the catalogue. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idcore import catalogue

REASON, DOUBT = "store.reason", "store.doubt"


def say(code: str, evidence: Mapping[str, Any], lang: str = catalogue.ENGLISH, kind: str = REASON) -> str:
    """The sentence of a reason or a doubt; what the evidence does not hold is a question mark."""
    words = catalogue.words(lang)
    key = f"{kind}.{code}"
    return words.fill(key, {**dict.fromkeys(words.placeholders(key), "?"), **evidence})
