"""Findings from born and store times of records: a broker's clock, or a producer's, that is off. Reads no line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from idcore.answers.findings import limits
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.model import Finding
from idcore.answers.findings.registry import WARNING, Rule, Scan, register
from idcore.ids import clock as clocks
from idcore.scan.record_clocks import Stamp


class _Step(NamedTuple):
    """Where the difference changed: the place of the first record behind it, and the difference before and behind."""

    at: int
    before: float
    after: float


def broker_clock(scan: Scan) -> Iterator[Finding]:
    """broker_clock, of every broker whose records were seen in lines or in a store."""
    for address, stamps in sorted(scan.line_evidence.stamps.items()) if scan.line_evidence is not None else ():
        # A delayed message that is stored before it is born shows less than one that is not delayed.
        some = [one for one in stamps if not one.is_copy] or stamps
        once = {(one.offset, one.born, one.stored): one for one in some}  # a record on seven lines is one
        seen = sorted(once.values(), key=lambda one: one.offset or 0)  # the order in which the broker stored them
        apart = np.array([one.stored - one.born for one in seen], np.int64)
        step = _step(apart)
        if step is not None:
            at = clocks.from_ms(seen[step.at].born).isoformat(timespec="milliseconds")
            evidence = {
                **_common(address, seen),
                "variant": "step",
                "first_at": at,
                "step_seconds": abs(step.after - step.before) / 1000,
                "before_ms": round(step.before),
                "after_ms": round(step.after),
            }
            yield Finding.of("broker_clock", address, len(seen) - step.at, evidence, "likely", **_when(seen))
            continue
        by_host: dict[str, list[Stamp]] = {}
        for one in seen:
            by_host.setdefault(one.born_host, []).append(one)
        off = {host: own for host, own in by_host.items() if _is_off(own)}
        if not off:
            continue
        if _alike(apart):
            yield _of_shift(address, seen, sorted(by_host))
        elif len(off) < len(by_host):  # others are right by this broker: it is not the broker's clock
            for host, own in off.items():
                yield _of_shift(address, own, [host], "producer")


def _apart(seen: Sequence[Stamp]) -> np.ndarray:
    return np.array([one.stored - one.born for one in seen], np.int64)


def _alike(apart: np.ndarray, level: float | None = None) -> bool:
    """Whether nearly all are at one level, which a clock is and waiting is not."""
    level = float(np.median(apart)) if level is None else level
    near = np.abs(apart - level) <= max(limits.CLOCK_JITTER_MS, abs(level) * limits.CLOCK_JITTER_SHARE)
    return float(near.mean()) >= limits.CLOCK_ALIKE_SHARE


def _is_off(seen: Sequence[Stamp]) -> bool:
    """Stored before born is two clocks that differ, and so is consumed before stored.

    Stored later may have waited, unless several did and all as long.
    """
    apart = _apart(seen)
    level = float(np.median(apart))
    if not _alike(apart, level):
        return False
    if level < limits.CLOCK_BEHIND_MS:
        return level <= -limits.CLOCK_BEFORE_MS
    early = [one for one in seen if one.consumed is not None and one.consumed - one.stored <= -limits.CLOCK_BEFORE_MS]
    return len(seen) >= limits.CLOCK_RECORDS or len(early) == len(seen)


def _step(apart: np.ndarray) -> _Step | None:
    """The widest change of the level between two runs of records, each at one level."""
    edge = limits.CLOCK_RECORDS
    if len(apart) < 2 * edge:
        return None
    jumps = np.abs(np.diff(apart))
    best: _Step | None = None
    for at in (np.argsort(-jumps, kind="stable")[:64] + 1).tolist():
        if edge <= at <= len(apart) - edge:
            before, after = float(np.median(apart[:at])), float(np.median(apart[at:]))
            least = limits.CLOCK_BEHIND_MS if best is None else abs(best.after - best.before) + 1
            if abs(after - before) >= least and _apart_by(apart[:at], apart[at:], before, after):
                best = _Step(at, before, after)
    return best


def _apart_by(left: np.ndarray, right: np.ndarray, before: float, after: float) -> bool:
    """Whether nearly all of each side are nearer to their own level than to the other."""
    middle, up = (before + after) / 2, after > before
    own = float(((left < middle) == up).mean()), float(((right > middle) == up).mean())
    return min(own) >= limits.CLOCK_ALIKE_SHARE and _alike(left, before) and _alike(right, after)


def _common(address: str, seen: Sequence[Stamp]) -> dict[str, Any]:
    ids = list(dict.fromkeys(one.id for one in (seen[0], seen[-1]) if one.id))
    return {"broker": {"address": address}, "of_records": len(seen), "ids": ids}


def _when(seen: Sequence[Stamp]) -> dict[str, Any]:
    born = [one.born for one in seen]
    return {"since": clocks.from_ms(min(born)), "until": clocks.from_ms(max(born))}


def _of_shift(address: str, seen: Sequence[Stamp], hosts: Sequence[str], variant: str | None = None) -> Finding:
    apart = _apart(seen)
    level = float(np.median(apart))
    also: list[str] = []
    if variant is None and len(hosts) == 1:
        witness = _witness(seen)
        variant, also = ("open", []) if witness is None else (witness, ["third_clock"])
        variant = None if variant == "broker" else variant
    if variant is None:
        variant = "ahead" if level > 0 else "behind"
    evidence = {
        **_common(address, seen),
        "variant": variant,
        "shift_seconds": abs(level) / 1000,
        "shift_ms": round(level),
        "producers": ", ".join(filter(None, hosts)),
        "also": [*also, *(["half_hours"] if _of_zone(level) else [])],
        "half_hours": round(abs(level) / clocks.HOUR_MS * 2) / 2 if _of_zone(level) else None,
    }
    count = int((np.abs(apart - level) <= max(limits.CLOCK_JITTER_MS, abs(level) * limits.CLOCK_JITTER_SHARE)).sum())
    sure = "certain" if variant in ("ahead", "behind") and len(hosts) > 1 else "likely"
    return Finding.of("broker_clock", address, count, evidence, sure, **_when(seen))


def _witness(seen: Sequence[Stamp]) -> str | None:
    """Whose clock a consumer's contradicts: it begins soon after the message was stored."""
    begun = [(one.consumed - one.born, one.consumed - one.stored) for one in seen if one.consumed is not None]
    if not begun:
        return None
    by_producer, by_broker = (median(waits) for waits in zip(*begun, strict=True))
    soon = range(-limits.CLOCK_BEFORE_MS, limits.CLOCK_SOON_MS)
    agrees = round(by_producer) in soon, round(by_broker) in soon
    if agrees[0] == agrees[1]:
        return None
    return "broker" if agrees[0] else "producer"


def _of_zone(level: float) -> bool:
    """Whether a difference is that of two zones, as of a clock that was set to local time as if it were UTC."""
    half = clocks.HOUR_MS // 2
    return abs(level) >= half - limits.CLOCK_ZONE_MS and abs(level - round(level / half) * half) <= limits.CLOCK_ZONE_MS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClockEvidence(FindingEvidence):
    """Of born and store times that disagree in the records of one broker."""

    variant: str | None = None
    broker: Mapping[str, Any] | None = None
    of_records: int | None = None  # how many were seen
    shift_seconds: float | None = None
    shift_ms: int | None = None  # stored less born
    producers: str | None = None  # hosts, with commas between
    half_hours: float | None = None
    first_at: str | None = None  # of a step: the born time of the first record behind it
    step_seconds: float | None = None
    before_ms: int | None = None
    after_ms: int | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()
    also: Sequence[str] = ()


register(
    Rule(
        "broker_clock",
        WARNING,
        55,
        "broker_clock/ahead",
        evidence=ClockEvidence,
        of_scan=broker_clock,
        variants=("ahead", "behind", "producer", "open", "step"),
        also=("third_clock", "half_hours"),
        subject="broker",
    ),
)
