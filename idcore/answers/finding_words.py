"""How a finding is said: which messages of the catalogue belong to its code and variant, and what fills them.

A finding's messages are `meaning.`, `advice.` and `disproof.` with its code, or with its code and variant. What its
evidence lists under `also` adds further sentences (`also.`) behind the meaning. The messages are in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from idcore.base import catalogue
from idcore.base.catalogue import Words

SENTENCES = ("meaning", "advice", "disproof")

# Figures that are instants, and those that are several, as ISO 8601.
INSTANTS = frozenset({"cutoff", "started_at", "first_at", "last_at"})
MOMENTS = frozenset({"began_at"})
OF_IDS = MOMENTS | {"first_at", "last_at"}  # of these, the times of the finding's IDs


def key_of(words: Words, part: str, code: str, *variants: str | None) -> str:
    """The key of the first variant that has a message, or of the code; `loop_among` falls back on `loop`."""
    if "more" in variants:
        return f"{part}.more"
    for variant in filter(None, variants):
        for name in (variant, variant.partition("_")[0]):
            for key in (f"{part}.{code}.{name}", f"{part}.{name}" if name == "unseen" else ""):
                if words.has(key):
                    return key
    return f"{part}.{code}"


def keys(part: str, code: str, values: Mapping[str, Any], words: Words) -> Iterator[str]:
    """The messages of a part: its own and, of a meaning, the further ones."""
    also = values.get("also") or ()
    yield key_of(words, part, code, values.get("variant"), *also)
    if part == "meaning":
        yield from (key for key in (f"also.{name}" for name in also) if words.has(key))


def names(part: str, code: str, values: Mapping[str, Any]) -> frozenset[str]:
    """The figures that the messages of a part take."""
    words = catalogue.words()
    return frozenset().union(*(words.placeholders(key) for key in keys(part, code, values, words)))


def say(part: str, code: str, values: Mapping[str, Any], lang: str = catalogue.ENGLISH) -> str:
    """A part of a finding in one language. `values`: subject, count and the evidence."""
    words = catalogue.words(lang)
    if "maker_code" in values:
        values = {**values, "maker": words.client(values["maker_code"], {"position": "?"})}
    if mark := words.assumed(values.get("assumed") or ()):
        values = {**values, **{name: f"{values[name]}{mark}" for name in OF_IDS if values.get(name)}}
    text = "".join(words.fill(key, values) for key in keys(part, code, values, words))
    return text.replace(f"{mark} ", mark) if mark.endswith("）") else text  # a full-width bracket has its own space
