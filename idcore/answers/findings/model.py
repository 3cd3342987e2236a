"""A finding as a value, its severity by its rule, and many of them as a table, worst first. Judges nothing."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

import pyarrow as pa

from idcore.answers import finding_words as words
from idcore.answers.findings.evidence import FindingEvidence, RestEvidence
from idcore.answers.findings.limits import MOST_SUBJECTS
from idcore.answers.findings.registry import INFO, SEVERITIES, rules
from idcore.base.safe_text import json_text
from idcore.scan.schemas import SCHEMAS


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, with whom, how often, and what proves it. `evidence` also holds the figures of its sentences."""

    code: str
    subject: str
    count: int
    evidence: FindingEvidence
    certainty: str = "certain"
    since: datetime | None = None
    until: datetime | None = None
    rest_of: str | None = None  # a severity: the row counts findings that are not listed
    assumed: tuple[str, ...] = ()  # what of its times no line shows, as codes of `Words.assumed`

    @classmethod
    def of(cls, code: str, subject: str, count: int, evidence: Mapping[str, Any], *more: Any, **named: Any) -> Finding:
        """From evidence by its names; TypeError where the rule has no such figure."""
        return cls(code, subject, count, _kind(code, evidence)(**evidence), *more, **named)

    @property
    def severity(self) -> str:
        """error, warning or info."""
        rule = rules()[self.code]
        return self.rest_of or (INFO if self.evidence.variant in rule.info_variants else rule.severity)

    @property
    def number(self) -> int:
        """How many findings its row is."""
        return number_of(self.evidence)

    @property
    def values(self) -> dict[str, Any]:
        """What the templates of words are filled with."""
        moments = {name: ", ".join(self.evidence[name]) for name in words.MOMENTS if name in self.evidence}
        assumed = {"assumed": list(self.assumed)} if self.assumed else {}
        return {"subject": self.subject, "count": self.count, **self.evidence, **moments, **assumed}

    @property
    def told(self) -> dict[str, Any]:
        """Of these what its sentences need, in any language."""
        values = self.values
        named = frozenset().union(*(words.names(part, self.code, values) for part in words.SENTENCES))
        wanted = named | {"subject", "count", "variant", "also", "maker_code", "more", "assumed"}
        return {name: value for name, value in values.items() if name in wanted}

    def in_zone(self, zone: tzinfo) -> Finding:
        """The same with the instants of its sentences in a zone."""

        def local(text: str, unit: str = "milliseconds") -> str:
            return datetime.fromisoformat(text).astimezone(zone).isoformat(timespec=unit)

        local_figures: dict[str, Any] = {}
        for name in words.INSTANTS & self.evidence.keys():
            local_figures[name] = local(self.evidence[name], "minutes" if name == "cutoff" else "milliseconds")
        for name in words.MOMENTS & self.evidence.keys():
            local_figures[name] = [local(text) for text in self.evidence[name]]
        return self.with_evidence(**local_figures)

    def with_evidence(self, **told: Any) -> Finding:
        """The same with further or other figures."""
        return replace(self, evidence=replace(self.evidence, **told))  # type: ignore[type-var]

    def say(self, part: str, lang: str = "en") -> str:
        """Its `meaning`, `advice` or `disproof` in one language."""
        return words.say(part, self.code, self.values, lang)


def _rank(finding: Finding) -> tuple[int, int, int, str]:
    background = finding.evidence.variant in rules()[finding.code].background
    order = len(rules()) if background else list(rules()).index(finding.code)
    return SEVERITIES.index(finding.severity), order, -finding.count, finding.subject


def number_of(evidence: FindingEvidence) -> int:
    """How many findings a row is: one, or as many as it counts because they are not listed."""
    return (evidence.more or 0) if evidence.variant == "more" else 1


def read_evidence(code: str, row: Mapping[str, Any]) -> FindingEvidence:
    """From the JSON of the table `findings`."""
    return _kind(code, row).read(row)


def _kind(code: str, names: Container[str]) -> type[FindingEvidence]:
    return RestEvidence if "more" in names else rules()[code].evidence


def rest(code: str, subjects: int, count: int, severity: str | None = None, variant: str = "more") -> Finding:
    """One row for so many subjects that are not listed; `variant` "unseen": that were counted and not looked at."""
    evidence = RestEvidence(variant=variant, more=subjects, ids=[])
    subject = f"{subjects:,} more" if variant == "more" else f"{subjects:,} not looked at"
    return Finding(code, subject, count, evidence, rest_of=severity)


def unseen(code: str, subjects: int, count: int) -> Finding:
    """One row for so many subjects that were counted and not looked at one by one."""
    return rest(code, subjects, count, variant="unseen")


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Ordered by severity, code, count; of each code and severity so many subjects, and one row for the rest."""
    kept: list[Finding] = []
    listed: dict[tuple[str, str], int] = {}
    others: dict[tuple[str, str, str], list[int]] = {}
    for finding in sorted(findings, key=_rank):
        kind = (finding.severity, finding.code)
        more = finding.evidence.more or 0
        if not more and listed.get(kind, 0) < MOST_SUBJECTS:
            listed[kind] = listed.get(kind, 0) + 1
            kept.append(finding)
            continue
        row = (*kind, str(finding.evidence.variant) if more else "more")
        sums = others.setdefault(row, [0, 0])
        sums[0] += more or 1
        sums[1] += finding.count
    kept += [rest(code, more, count, severity, variant) for (severity, code, variant), (more, count) in others.items()]
    return sorted(kept, key=lambda finding: (*_rank(finding)[:2], finding.evidence.more is not None))


def to_table(findings: Iterable[Finding]) -> pa.Table:
    """The table `findings`."""
    rows = [
        {
            "code": finding.code,
            "severity": finding.severity,
            "subject": finding.subject,
            "count": finding.count,
            "evidence": json_text(dict(finding.evidence), default=_plain),
            "values": json_text(finding.told, default=_plain),
            "certainty": finding.certainty,
            "first_sent_at": finding.since,
            "last_sent_at": finding.until,
            "assumed": " ".join(finding.assumed if finding.since else ()) or None,
        }
        for finding in findings
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMAS["findings"])


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    return value.item()  # numpy's numbers
