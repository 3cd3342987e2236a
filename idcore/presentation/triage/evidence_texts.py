"""Evidence as people read it: instants in their zone, and figures by their names. Judges and draws nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from idcore.answers.finding_words import INSTANTS, MOMENTS
from idcore.base.catalogue import Words
from idcore.presentation import times
from idcore.presentation.reader import Reader

if TYPE_CHECKING:  # the rules are not for those who only read evidence
    from idcore.answers.findings.evidence import FindingEvidence

MOST_LISTED = 10
# What the heading, the sentence, the picture or a table shows, or what is for programs only.
ELSEWHERE = frozenset(
    {
        "ids",
        "sent_at",
        "process",
        "variant",
        "broker",
        "client",
        "maker",
        "maker_code",
        "more",
        "gaps",
        "label",
        "addresses",
    }
    | {"track_of_id", "chain_of_id", "offset_msg_ids", "records", "elapsed_ms", "places", "in_gaps", "widest", "also"}
    | {"application", "after_ids", "gap_after", "gap_before", "gap_after_at", "gap_before_at", "gap_from", "gap_to"}
)


def dated(evidence: FindingEvidence, reader: Reader) -> dict[str, Any]:
    """The evidence with its instants in the reader's zone, and its client in the reader's language."""
    texts = {
        name: _instant(name, value, reader) if name in INSTANTS and value else value for name, value in evidence.items()
    }
    return texts | {name: times.several(evidence[name], reader.zone) for name in MOMENTS if name in evidence}


def _instant(name: str, value: str, reader: Reader) -> str:
    """An instant as exact as it is: brokers sweep by the hour."""
    moment = datetime.fromisoformat(value)
    return reader.minute(moment) if name == "cutoff" else reader.full(moment)


def facts(evidence: Mapping[str, Any], reader: Reader, told: Collection[str] = ()) -> Iterable[tuple[str, str]]:
    """What no table shows and no sentence has (`told`), as names and values in the reader's language."""
    words = reader.words
    for name, value in evidence.items():
        if (
            name in ELSEWHERE
            or name in told
            or value in (None, [], {}, "")
            or (name == "back_seconds" and evidence.get("back_ms"))
            or (name == "back_ms" and len(value) == 1)  # the sentence contains it
        ):
            continue
        key = f"fact.{name}"
        yield (words(key) if words.has(key) else name.replace("_", " ")), _value(name, value, reader)


def _value(name: str, value: Any, reader: Reader) -> str:
    """One value as people read it."""
    words = reader.words
    if name in INSTANTS:
        return _instant(name, value, reader)
    if name == "share":
        return words.share(value, 1)
    if name == "zone_source" and words.has(f"col.zone_source.{value}"):
        return words(f"col.zone_source.{value}")
    if name == "at_least":
        return words("fact.at_least_why")
    if isinstance(value, Mapping) and "code" in value:
        return words.said(value)
    if isinstance(value, Mapping):
        return words("comma").join(
            f"{words(f'fact.{part}') if words.has(f'fact.{part}') else part.replace('_', ' ')} {figure_text(inside)}"
            for part, inside in value.items()
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        more = len(value) - MOST_LISTED
        return words("comma").join(map(figure_text, value[:MOST_LISTED])) + (f" + {more:,}" if more > 0 else "")
    return figure_text(value)


def figure_text(value: Any) -> str:
    """A number with its thousands set off, everything else as it is."""
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def fact_line(evidence: FindingEvidence, reader: Reader, told: Collection[str] = ()) -> str:
    """The same in one line, for a report."""
    words: Words = reader.words
    named = ((words("colon", name=name), value) for name, value in facts(evidence, reader, told))
    return words("semicolon").join(f"{name}{value}".rstrip() for name, value in named)
