"""The rows of the table of findings: the evidence of one, whom it is about, which belong together. Has no sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd

from idcore.answers import finding_words as messages
from idcore.answers.findings import model
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.registry import rules
from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.ids.model import UniqId
from idcore.presentation.triage.processes import process_key
from idcore.presentation.triage.time_range import MILLISECOND, TimeRange

Row = Mapping[str, Any]
GAPS = "missing_ids"
MORE = "more"  # the variant of a row that counts what is not listed
LEAST_AT_ONCE = 3  # processes that miss IDs at once
MOST_APART = 3  # findings of one kind that are shown one by one
_AROUND = timedelta(seconds=1)
_OF_FAILURES = {"retry_storm", "dead_letters"}  # what they say is in the failed attempts, not in what came of them
_TIME = "datetime64[us, UTC]"


def evidence_of(row: Row) -> FindingEvidence:
    """What proves it."""
    return _evidence(str(row["code"]), row["evidence"])


_INTERNAL, _REACHED = "broker_address_internal", "reached"  # its briefs, where lines show that clients reach it


@lru_cache(maxsize=2048)  # a page asks many times for that of each finding
def _evidence(code: str, text: str) -> FindingEvidence:
    return model.read_evidence(code, json.loads(text))


def title(code: str, words: catalogue.Words, variant: str = "") -> str:
    """A code as a name, or a variant of it that has one of its own."""
    names = [name for name in (f"finding.{code}.{variant}", f"finding.{code}") if words.has(name)]
    return words(names[0]) if names else code


def title_of(row: Row, words: catalogue.Words) -> str:
    """The name of a finding."""
    return title(str(row["code"]), words, evidence_of(row).variant or "")


def where_of(evidence: FindingEvidence) -> dict[str, str]:
    """The first place of each id, as `file:line`."""
    return {str(one["id"]): f"{one['file']}:{one['line']}" for one in reversed(evidence.places)}


def tokens(evidence: FindingEvidence) -> list[str]:
    """The ids whose lines show it: those of each copy, which also hold the msgId, else the ids themselves."""
    return [text for text in evidence.offset_msg_ids if isinstance(text, str)] or list(evidence.ids)


def onward(row: Row) -> list[tuple[str, dict[str, Any]]]:
    """The pages that show whom a finding is about, each with what its address asks for."""
    evidence = evidence_of(row)
    process, addresses = evidence.process, evidence.addresses_of_brokers
    ways: list[tuple[str, dict[str, Any]]] = []
    if process:
        ways.append(("counters", {"process": process_key(process)}))
        ways.append(("producers", {"host": str(process["host"])}))
    return [*ways, ("brokers", {"broker": addresses})] if addresses else ways


def assumed_of(row: Row) -> list[str]:
    """What of its times no line shows, as codes of `Words.assumed`; tables of older versions do not say it."""
    codes = row.get("assumed")
    return codes.split() if isinstance(codes, str) else []


def select(findings: pd.DataFrame, severity: str | None = None, code: str | None = None) -> pd.DataFrame:
    """The rows of one severity and of one code; None takes all. A row keeps its number as its index."""
    kept = pd.Series(True, index=findings.index)
    for name, value in (("severity", severity), ("code", code)):
        if value is not None:
            kept &= findings[name] == value
    return findings[kept]


def number_of(row: Row) -> int:
    """How many findings a row is: one, or as many as it counts because they are not listed."""
    return model.number_of(evidence_of(row))


def first_event(findings: pd.DataFrame) -> tuple[int, Row] | None:
    """The worst finding that is an event of the input, with its number; None where all say only how it is written."""
    for number, row in findings.to_dict("index").items():
        if rules()[str(row["code"])].is_event(evidence_of(row).variant):  # type: ignore[arg-type]
            return int(number), row  # type: ignore[call-overload, return-value]
    return None


def numbers(findings: pd.DataFrame, by: str) -> dict[str, int]:
    """How many findings there are of each severity or code, in the order of the table."""
    counts: dict[str, int] = {}
    for row in findings.to_dict("records"):
        counts[str(row[by])] = counts.get(str(row[by]), 0) + number_of(row)  # type: ignore[arg-type]
    return counts


@dataclass(slots=True)
class Kind:
    """Findings of one severity and code that one sentence describes. `rows` are listed, each with its number."""

    severity: str
    code: str
    variant: str  # of the sentence, empty for most
    rows: list[tuple[int, Row]] = field(default_factory=list)
    rest: list[tuple[int, Row]] = field(default_factory=list)  # rows that count what is not listed

    @property
    def number(self) -> int:
        """How many findings they are."""
        return len(self.rows) + sum(number_of(row) for _, row in self.rest)

    @property
    def assumed(self) -> list[str]:
        """What of their times is assumed: of some findings, `month_part`."""
        marks = [assumed_of(row) for _, row in self.rows if pd.notna(row["first_sent_at"])]
        counts = {code: sum(code in codes for codes in marks) for codes in marks for code in codes}
        return [code if n == len(marks) or code.endswith("_part") else f"{code}_part" for code, n in counts.items()]

    @property
    def total(self) -> int:
        """What the findings count, together: ids, copies, restarts."""
        return sum(int(row["count"]) for _, row in (*self.rows, *self.rest))

    @property
    def grouped(self) -> bool:
        """Whether they are shown together: many of them would hide all others, and gaps at once are one event."""
        if self.number > MOST_APART:
            return True
        return self.code == GAPS and common_gap(row for _, row in self.rows) is not None

    def spans(self) -> pd.Series:
        """The first and the last time of each row that has one, one after the other."""
        dated = [row for _, row in self.rows if not pd.isna(row["first_sent_at"])]  # type: ignore[call-overload]
        ends = pd.Series([row[name] for row in dated for name in ("first_sent_at", "last_sent_at")], dtype=_TIME)
        return ends.fillna(ends.shift())

    def when(self) -> tuple[Any, Any]:
        """The first and the last time of its rows; NaT where none has a time."""
        ends = [row[name] for _, row in self.rows for name in ("first_sent_at", "last_sent_at")]
        times = pd.Series(ends, dtype=_TIME)
        return times.min(), times.max()


Part = Kind | tuple[int, Row]  # what has a card or a section of its own


def kinds(findings: pd.DataFrame) -> list[Kind]:
    """The findings by kind, in the order of the table. What is not listed belongs to the kind that has most rows."""
    kinds: dict[tuple[str, str, str], Kind] = {}
    uncounted = []
    for number, row in findings.to_dict("index").items():
        code, severity = str(row["code"]), str(row["severity"])
        variant = evidence_of(row).variant or ""  # type: ignore[arg-type]
        if variant == MORE:
            uncounted.append((number, row))
            continue
        key = (severity, code, _REACHED if _is_reached(row) else brief_variant(code, variant))
        kinds.setdefault(key, Kind(*key)).rows.append((int(number), row))  # type: ignore[call-overload, arg-type]
    for number, row in uncounted:
        code, severity = str(row["code"]), str(row["severity"])
        same = [kind for kind in kinds.values() if (kind.code, kind.severity) == (code, severity)]
        kind = max(same, key=lambda one: len(one.rows), default=None)
        if kind is None:
            kind = kinds.setdefault((severity, code, ""), Kind(severity, code, ""))
        kind.rest.append((int(number), row))  # type: ignore[call-overload, arg-type]
    return list(kinds.values())


def _is_reached(row: Mapping[Any, Any]) -> bool:
    """Whether it is of a broker that others may not reach, and lines show that clients do."""
    also = evidence_of(row).also if row["code"] == _INTERNAL else ()
    return "send_ok" in also or "received_there" in also


def brief_variant(code: str, variant: str) -> str:
    """The variant whose findings have a short sentence of their own; empty where that of the code is true of them."""
    key = messages.key_of(catalogue.words(), "brief", code, variant)
    return variant if key == "brief.unseen" else key.removeprefix(f"brief.{code}").removeprefix(".")


def gap_of(row: Row) -> tuple[datetime, datetime] | None:
    """From the id below the widest gap of a finding to the id above it; None where it has no gap or no times."""
    evidence = evidence_of(row)
    after, before = evidence.gap_after, evidence.gap_before
    moments = dict(zip(evidence.ids, evidence.sent_at, strict=False))
    if not after or not before or not moments.get(before):
        return None
    try:
        gone = UniqId.from_hex(before).elapsed - UniqId.from_hex(after).elapsed
    except CoreError:
        return None
    end = datetime.fromisoformat(str(moments[before]))
    return (end - timedelta(milliseconds=gone), end) if gone >= 0 else None  # less than 0: a month ended in it


class CommonGap(NamedTuple):
    """The time in which so many processes miss IDs at once: from the latest ID below to the first ID above."""

    begin: datetime
    end: datetime
    rows: list[Row]

    @property
    def hosts(self) -> list[str]:
        """Each host of these processes, that with the widest gap first."""
        widest = sorted(self.rows, key=lambda row: -widest_of(row))
        return list(dict.fromkeys(UniqId.from_hex(evidence_of(row).gap_before or "").host for row in widest))


def common_gap(rows: Iterable[Row]) -> CommonGap | None:
    """When most processes of these findings miss IDs at once; None of fewer than LEAST_AT_ONCE, or than half of them.

    By the widest gap of each.
    """
    known = [(gap, row) for row in rows if (gap := gap_of(row)) is not None]
    if len(known) < LEAST_AT_ONCE:
        return None
    # As many gaps are open at the begin of one of them as at any moment.
    at = max((gap[0] for gap, _ in known), key=lambda moment: sum(gap[0] <= moment < gap[1] for gap, _ in known))
    there = [(gap, row) for gap, row in known if gap[0] <= at < gap[1]]
    if len(there) < max(LEAST_AT_ONCE, len(known) / 2):
        return None
    return CommonGap(at, min(gap[1] for gap, _ in there), [row for _, row in there])


def fates_of(row: Row, run: str) -> dict[str, str] | None:
    """What the page of fates is asked for: the group of a finding, its topic and its minutes; None without a group."""
    evidence = evidence_of(row)
    if not rules()[str(row["code"])].of_store or evidence.group is None:
        return None
    asked = {"run": run} | {"group": evidence.group} | ({"topic": evidence.topic} if evidence.topic else {})
    if pd.notna(row["first_sent_at"]) and pd.notna(row["last_sent_at"]):
        asked |= TimeRange(row["first_sent_at"], row["last_sent_at"] + MILLISECOND).params()
    return asked | ({"picture": "failures"} if row["code"] in _OF_FAILURES else {})


def of_groups(findings: pd.DataFrame) -> bool:
    """Whether any finding is about consumer groups."""
    return any(rules()[str(code)].of_store and rules()[str(code)].subject == "group" for code in findings["code"])


def widest_of(row: Row) -> int:
    """How many IDs the widest gap of a finding misses."""
    return int(dict(evidence_of(row)).get("widest") or row["count"])


def widest_first(rows: Iterable[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """Those of some findings that have a gap of known time and of several IDs, the widest first."""
    gaps = [(number, row) for number, row in rows if gap_of(row) is not None and widest_of(row) > 1]
    return sorted(gaps, key=lambda one: -widest_of(one[1]))


def lines_of(number: int, row: Row, run: str) -> dict[str, str]:
    """What the page of lines is asked for: the finding and, of a gap, the time from the ID below it to that above.

    One that names no ID, as failed sends may, has the lines of its time and of a second on either side.
    """
    if not tokens(evidence_of(row)) and pd.notna(row["first_sent_at"]):
        around = TimeRange(row["first_sent_at"] - _AROUND, row["last_sent_at"] + _AROUND)
        return {"run": run} | around.params()
    asked = {"run": run, "finding": str(number)}
    if (gap := gap_of(row)) is not None:
        asked |= TimeRange(gap[0], gap[1] + MILLISECOND).params()
    return asked
