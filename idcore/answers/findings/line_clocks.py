"""Findings from the times of lines and of the ids in them: a producer's clock that is off, or that of the lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idcore.answers.findings import limits
from idcore.answers.findings.broker_clocks import broker_clock
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.model import Finding
from idcore.answers.findings.registry import WARNING, Rule, Scan, register
from idcore.answers.findings.times import line_zone, usual_zone
from idcore.ids import clock as clocks
from idcore.ids.line_time import is_of_other_clock
from idcore.scan.line_clocks import LineTime


def line_clock(scan: Scan) -> Iterator[Finding]:
    """line_clock: of a file where all hosts in it are off by as much, else of each host that is off."""
    if scan.line_evidence is None or scan.line_evidence.is_list:
        return
    by_file: dict[str, dict[str, list[LineTime]]] = {}
    for (file, host), times in scan.line_evidence.line_times.items():
        by_file.setdefault(file, {})[host] = times
    known = {one.evidence.get("producers") for one in broker_clock(scan) if one.evidence.variant == "producer"}
    findings: dict[str, Finding] = {}
    for file, hosts in by_file.items():
        shifts = {host: _shift(times) for host, times in hosts.items() if len(times) >= limits.CLOCK_RECORDS}
        together = _shift([one for times in hosts.values() for one in times]) if all(shifts.values()) else None
        if together is not None and len(hosts) > 1:
            found = [_finding(scan, file, "lines_", together, len(hosts))]
        else:
            agree = () if all(shifts.values()) else ("others_agree",)
            off = {host: shift for host, shift in shifts.items() if shift is not None and host not in known}
            found = [_finding(scan, host, "", shift, 1, agree) for host, shift in off.items()]
        for one in found:
            if one.subject not in findings or one.count > findings[one.subject].count:
                findings[one.subject] = one
    yield from findings.values()


class _Shift(NamedTuple):
    """By how many ms lines are behind their ids, below 0 where they are earlier, and which lines were looked at."""

    level: float
    lines: Sequence[LineTime]


def _near(lines: Sequence[LineTime], level: float) -> np.ndarray:
    """Which of the lines are about so far behind their ids."""
    apart = np.array([one.apart for one in lines], np.int64)
    return np.abs(apart - level) <= max(limits.LINE_JITTER_MS, abs(level) * limits.LINE_JITTER_SHARE)


def _shift(times: Sequence[LineTime]) -> _Shift | None:
    """By how much a clock is off; None where nearly all lines agree with their ids, or do not agree with each other.

    Lines that say that a message was sent are written soon by the clock of its producer. Others may be late, but not
    early. Quarters of an hour are those of time zones.
    """
    for is_sent in (False, True):
        lines = [one for one in times if one.is_sent == is_sent]
        if len(lines) < limits.CLOCK_RECORDS:
            continue
        level = float(np.median([one.apart for one in lines]))
        if is_of_other_clock(level, is_sent) and float(_near(lines, level).mean()) >= limits.CLOCK_ALIKE_SHARE:
            return _Shift(level, lines)
    return None


def _finding(scan: Scan, subject: str, of: str, shift: _Shift, hosts: int, also: Sequence[str] = ()) -> Finding:
    level, lines = shift
    seen = sorted(
        (one for one, near in zip(lines, _near(lines, level), strict=True) if near), key=lambda one: one.at_ms
    )
    evidence = {
        "variant": of + ("early" if level < 0 else "late"),
        "of_lines": len(lines),
        "shift_seconds": abs(level) / 1000,
        "shift_ms": round(level),
        "hosts": hosts,
        "ids": list(dict.fromkeys((seen[0].id, seen[-1].id))),
        "also": list(also),
    }
    zone = scan.once(line_zone)
    is_assumed = scan.zone_source != "given" and scan.once(usual_zone) is None
    walls = (clocks.from_ms(one.at_ms - one.apart) for one in (seen[0], seen[-1]))
    since, until = sorted(wall.replace(tzinfo=zone) for wall in walls)
    assumed = ("zone",) if is_assumed else ()
    return Finding.of("line_clock", subject, len(seen), evidence, "likely", since, until, assumed=assumed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineClockEvidence(FindingEvidence):
    """Of lines whose times and ids disagree."""

    variant: str | None = None
    of_lines: int | None = None  # how many were looked at
    shift_seconds: float | None = None
    shift_ms: int | None = None  # the line less its id
    hosts: int | None = None  # of how many hosts the ids are
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()
    also: Sequence[str] = ()


register(
    Rule(
        "line_clock",
        WARNING,
        56,
        "line_clock/early",
        evidence=LineClockEvidence,
        of_scan=line_clock,
        variants=("early", "late", "lines_early", "lines_late"),
        also=("others_agree",),
        subject="name",
    ),
)
