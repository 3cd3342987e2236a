"""The rows of the table of findings: the evidence of one, whom it is about, which belong together. Says no word."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from idcore.findings.registry import RULES

Row = Mapping[str, Any]
Evidence = Mapping[str, Any]
_PROCESS = re.compile(r"(?P<host>\S+) pid (?P<pid>\d+) loader (?P<loader>[0-9A-F]{8})")
_ADDRESS = re.compile(r"(\[[0-9a-f:]+\]|\d+(\.\d+){3}):\d+")


def evidence_of(row: Row) -> dict[str, Any]:
    """What proves it, as the table holds it."""
    return dict(json.loads(row["evidence"]))


def where_of(evidence: Evidence) -> dict[str, str]:
    """The first place of each id, as `file:line`."""
    return {str(one["id"]): f"{one['file']}:{one['line']}" for one in evidence.get("places") or ()}


def tokens(evidence: Evidence) -> list[str]:
    """The ids whose lines show it: those of each copy, which also hold the msgId, else the ids themselves."""
    offsets = [text for text in evidence.get("offset_msg_ids") or () if isinstance(text, str)]
    return offsets or [str(text) for text in evidence.get("ids") or ()]


def subject_process(row: Row) -> dict[str, Any] | None:
    """The process a finding is about, if it is about one."""
    process = evidence_of(row).get("process")
    if isinstance(process, dict) and process:
        return process
    hit = _PROCESS.fullmatch(str(row["subject"]))
    return {"host": hit["host"], "pid": int(hit["pid"]), "loader": hit["loader"]} if hit else None


def brokers_of(row: Row) -> list[str]:
    """The broker addresses that a finding names."""
    evidence, subject = evidence_of(row), str(row["subject"])
    named = [*str(evidence.get("addresses", "")).split(", "), subject, str(evidence.get("from_address", ""))]
    return list(dict.fromkeys(text for text in named if _ADDRESS.fullmatch(text)))


def alike(found: pd.DataFrame) -> tuple[pd.DataFrame, dict[Any, list[Row]]]:
    """One row for ids of one process with which the same went wrong, and the other rows of each by its index."""
    first: dict[tuple[str, ...], Any] = {}
    others: dict[Any, list[Row]] = {}
    for place, row in found.to_dict("index").items():
        evidence, subject = evidence_of(row), str(row["subject"])
        told = [str(evidence.get(name, "")) for name in ("variant", "topic", "topics", "differs")]
        of_ids = RULES[str(row["code"])].subject == "id"
        process = subject[:-12] if of_ids else subject
        name = (str(row["code"]), str(row["severity"]), *told, process)
        if of_ids and name in first:
            others.setdefault(first[name], []).append(row)
        else:
            first[name] = place
    firsts = found.loc[list(first.values())].copy()
    for place, rows in others.items():
        firsts.loc[place, "first_sent_at"] = min(found.loc[place, "first_sent_at"], *(r["first_sent_at"] for r in rows))
        firsts.loc[place, "last_sent_at"] = max(found.loc[place, "last_sent_at"], *(r["last_sent_at"] for r in rows))
    return firsts, others
