"""What a list of IDs came to, in words: which messages of the catalogue they are. Counts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from idcore.base import catalogue
from idcore.base.catalogue import Words
from idcore.runs.run_facts import OUTCOMES

if TYPE_CHECKING:
    from idcore.answers.fate_list.batched_lookups import FateListProgress

_ENGLISH = catalogue.words()


def answer(summary: Mapping[str, Any], words: Words = _ENGLISH) -> str:
    """How many IDs came to what."""
    parts = [words(f"fates.outcome.{name}", n=f"{summary[name]:,}") for name in OUTCOMES if summary[name]]
    return words("fates.said", ids=words.count("id", summary["ids"]), outcomes=words("comma").join(parts))


def asked(summary: Mapping[str, Any]) -> str:
    """Who was asked and when, as the command line says it."""
    return _ENGLISH("fates.asked", cluster=summary["cluster"], begun=summary["snapshot"], ended=summary["snapshot_end"])


def notes(summary: Mapping[str, Any], words: Words = _ENGLISH) -> list[str]:
    """What counts once, what is missing, and what ended it."""
    notes = []
    if summary["doubles"]:
        notes.append(words("fates.doubles", ids=words.count("id", summary["doubles"])))
    if summary["repeated"]:
        notes.append(words("fates.repeated", ids=words.count("id", summary["repeated"])))
    notes += [words(f"fates.cut.{code}", ids=words.count("id", count)) for code, count in summary["cut"].items()]
    if summary["problem"]:
        notes.append(words("fates.problem", why=words.said(summary["problem"])))
    return notes


def progress_text(now: FateListProgress, words: Words) -> str:
    """The figures of a list on its way, in one line."""
    if now.is_waiting:
        return words("fates.waiting")
    figures = {name: f"{getattr(now, name):,}" for name in ("done", "total", "found", "undelivered")}
    parts = [words("fates.asking", **figures)]
    parts += [words("scan.left", span=words.duration(now.seconds_left))] if now.seconds_left is not None else []
    return " · ".join([*parts, *([words("fates.limited")] if now.is_limited else [])])


def why(row: Mapping[str, Any], words: Words) -> str:
    """Why an ID has no verdict, as far as its row says."""
    reason, key = row["reason"], "lookup.reason" if row["outcome"] != "no_record" else "lookup.relation"
    if reason is None or not words.has(f"{key}.{reason}"):
        return reason or ""
    names = words.placeholders(f"{key}.{reason}")
    return words.fill(f"{key}.{reason}", {**dict.fromkeys(names, "?"), "id": row["id"]})
