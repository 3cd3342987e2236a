"""Which rows of a table of findings can be said: a newer version, or a hand, may have written others. Draws nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pandas as pd

from idcore.answers import finding_words
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.model import read_evidence
from idcore.answers.findings.registry import SEVERITIES, rules
from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.base.plain_json import loads
from idcore.presentation.reader import Reader
from idcore.presentation.triage import finding_rows, finding_texts
from idcore.presentation.triage.finding_rows import Row

_READER = Reader(catalogue.words(), UTC)
_FAILS = (CoreError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
_NEEDED = {"code", "severity", "subject", "certainty", "evidence", "values"}


def unknown(findings: pd.DataFrame) -> frozenset[int]:
    """The numbers of the rows that cannot be said; none of another table, of which its page says that it is damaged."""
    if not set(findings.columns) >= _NEEDED:
        return frozenset()
    return frozenset(number for number, row in enumerate(findings.to_dict("records")) if not is_known(row))


def is_known(row: Row) -> bool:
    """Whether a row is of a rule that there is, with figures of their kinds, so that each page can say it."""
    texts = [row[name] for name in ("code", "severity", "subject", "certainty", "evidence", "values")]
    if not all(isinstance(text, str) for text in texts) or row["severity"] not in SEVERITIES:
        return False
    if row["code"] not in rules() or not _READER.words.has(f"certainty.{row['certainty']}"):
        return False
    figures, values = (loads(row[name].encode()) for name in ("evidence", "values"))
    if figures is None or values is None:
        return False
    try:
        return _is_of_its_kind(read_evidence(row["code"], figures)) and _is_said(row)
    except _FAILS:
        return False


def _is_of_its_kind(evidence: FindingEvidence) -> bool:
    kinds = _kinds(type(evidence))
    return all(_is(getattr(evidence, name), kind) for name, kind in kinds.items())


@cache
def _kinds(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _is(value: Any, kind: Any) -> bool:
    """Whether a value of JSON is of a kind: an instant is a text there, and a number may have been whole."""
    origin, of = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in of)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_is(each, of[1]) for each in value.values())
    if origin is not None:
        return isinstance(value, list | tuple) and all(_is(each, of[0]) for each in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int and isinstance(value, bool):
        return False
    return kind is Any or isinstance(value, kind)


def _is_said(row: Row) -> bool:
    """Asks for all that a page asks for."""
    evidence = finding_rows.evidence_of(row)
    places = (evidence.fingerprint, evidence.addresses_of_brokers, finding_rows.where_of(evidence))
    gap = finding_rows.gap_of(row), finding_rows.widest_of(row), finding_rows.number_of(row)
    said = [finding_texts.say(part, row, _READER) for part in finding_words.SENTENCES]
    return bool(said) and (places, gap, finding_texts.item_of(0, row, "en")) is not None
