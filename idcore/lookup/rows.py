"""An answer as a plain row, as the contract names its keys: for JSON, tables and pages. Looks nothing up."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from idcore.catalogue import words
from idcore.lookup.model import Answer, Copy
from idcore.lookup.sentences import doubt_text, evidence_text, relation_text
from idcore.message.row import record_row
from idcore.remoting.bodies import BodyPolicy


def row_of(answer: Answer) -> dict[str, Any]:
    """The keys of the contract. A figure has its value; of other evidence each code has its sentences and values."""
    evidence: dict[str, Any] = {}
    for item in answer.evidence:
        if item.is_figure:
            evidence[item.code] = spoken(item.values[item.code])
        else:
            values = {name: spoken(value) for name, value in item.values.items()}
            evidence.setdefault(item.code, []).append({**values, "text": evidence_text(item)})
    return {
        "id": answer.id, "found": answer.found, "copies": [_printed(copy_row(copy)) for copy in answer.copies],
        "reason": answer.reason, "evidence": evidence, "asked": list(answer.asked),
    }  # fmt: skip


def spoken(value: Any) -> Any:
    """A value of the evidence as JSON and the command line print it: an error is its English sentence."""
    if isinstance(value, Mapping):
        if value.keys() == {"code", "values"}:
            return words().said(value)
        return {name: spoken(inside) for name, inside in value.items()}
    return [spoken(inside) for inside in value] if isinstance(value, list) else value


def _printed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: spoken(row[name]) for name in ("body_problem", "inner_problem") if row.get(name)}


def copy_row(copy: Copy) -> dict[str, Any]:
    """A record, the body as the administrator lets it be seen, what its source adds, and what this copy is."""
    row = record_row(copy.record) | dict(copy.more)
    if copy.doubts is not None:
        row["doubts"] = [
            {"code": doubt.code, "fields": list(doubt.fields), "values": doubt.values, "text": doubt_text(doubt)}
            for doubt in copy.doubts
        ]
    if copy.bodies is not None:
        row |= _seen(row, copy.bodies)
    if copy.relation is not None:
        row |= {"relation": copy.relation, "relation_text": relation_text(copy)}
    if copy.broker:
        row["broker"] = copy.broker
    return row


def _seen(row: dict[str, Any], bodies: BodyPolicy) -> dict[str, Any]:
    shown = bodies.apply(base64.b64decode(row["body"]), row["body_text"])
    made: dict[str, Any] = {
        "body": _base64(shown.raw), "body_text": shown.text, "body_size": shown.size, "body_withheld": shown.withheld,
    }  # fmt: skip
    if "inner" in row:
        made["inner"] = [_seen_inner(inner, bodies) for inner in row["inner"]]
    return made


def _seen_inner(inner: dict[str, Any], bodies: BodyPolicy) -> dict[str, Any]:
    shown = bodies.apply(base64.b64decode(inner["body"]), inner["body_text"])
    return inner | {"body": _base64(shown.raw), "body_text": shown.text}


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode("ascii")
