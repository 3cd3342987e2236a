"""Findings from the chains of each process: shared fingerprints, restarts, clocks set back, wraps. Reads no address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import hosts, limits, steps
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.finding_builder import largest_findings, of_process
from idcore.answers.findings.model import Finding, unseen
from idcore.answers.findings.processes import Processes, text_mask
from idcore.answers.findings.registry import ERROR, INFO, Rule, Scan, register
from idcore.answers.findings.steps import Step
from idcore.ids import rules
from idcore.ids.origins import PROCESS_KEY, Fingerprint
from idcore.scan.schemas import CLOCK_MARKS


@dataclass(frozen=True, slots=True)
class ChainFindings:
    """shared_fingerprint, restart and clock_back; and masks of processes, as `CLOCK_MARKS` has them."""

    findings: list[Finding]
    clock_back: np.ndarray
    one_counter: np.ndarray


def explain_chains(processes: Processes) -> ChainFindings:
    """What the chains of some processes come to."""
    findings: list[Finding] = []
    clock_back, together = (np.zeros(len(processes), bool) for _ in CLOCK_MARKS)
    whole, month = hosts.whole_seconds(processes), hosts.dated(processes)
    countable = hosts.countable(processes)
    least = np.where(whole, limits.CLOCK_STEP_WHOLE_SECONDS_MS, limits.CLOCK_STEP_MS)
    chains, tracks = processes["chains"], processes["tracks"]
    alone = np.flatnonzero((processes["out_of_order"] > 0) & (chains == 1) & month & countable)
    chain_steps = steps.of_one_chain(processes, alone, least)
    several = np.flatnonzero((chains > 1) & countable)
    several = several[np.argsort(-processes["ids"][several], kind="stable")]
    away = processes.away
    looked = several[~away[several]][: limits.MOST_EXAMINED]
    findings += _unseen(processes, np.setdiff1d(several, looked), _in_doubt(processes) & away & countable & month)
    for at in looked.tolist():
        of_clock = steps.of_chains(processes, at, int(least[at])) if month[at] else None
        if of_clock:
            together[at] = True
            # A new month alone, back_ms 0, is one process too, and not a finding.
            if any(step.back_ms for step in of_clock):
                chain_steps[at] = [step for step in of_clock if step.back_ms]
        elif tracks[at] > 1:
            findings.append(_shared(processes, at))
        else:
            findings.append(_restart(processes, at, int(chains[at]) - 1))
    before = steps.before_month(processes, hosts.java(processes) & countable)
    zero = steps.held_at_zero(processes, month & ~whole & ~hosts.of_several_months(processes))
    for at in sorted({*chain_steps, *before, *zero}):
        clock_back[at] = True
        one_counter = at in chain_steps or chains[at] == 1
        repeats = _came_round(processes, at) if one_counter else {"also": ["twice_open"]}
        findings.append(_clock_back(processes, at, chain_steps.get(at, []), before.get(at), zero.get(at), repeats))
    return ChainFindings(findings, clock_back, together)


def of_chains(processes: Processes, scan: Scan) -> list[Finding]:
    """shared_fingerprint, restart and clock_back. What it says of clocks is kept for the table of processes."""
    judged = processes.once(explain_chains)
    masks = {name: pa.array(getattr(judged, name)) for name in CLOCK_MARKS}
    own = pc.or_(*masks.values())
    if own.true_count:
        table = processes.table.select(PROCESS_KEY)
        for name, mask in masks.items():
            table = table.append_column(name, mask)
        scan.clocks.append(table.filter(own))
    return judged.findings


def _came_round(processes: Processes, at: int) -> dict[str, Any]:
    """Whether one counter may have generated an id twice: only where it came round to the values of that time."""
    span = steps.span(processes, at)
    certain = processes.table["wraps_certain"][at].as_py() is not False
    return (
        {"also": ["twice_none"], "span": span} if certain and span <= rules.COUNTER_WRAP else {"also": ["twice_open"]}
    )


def made_twice(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The same findings; of clocks and shared fingerprints how many of their ids belong to several messages."""
    known = list(findings)
    twice: Counter[Fingerprint | None] = Counter(
        one.evidence.fingerprint for one in known if one.code == "collision" and one.evidence.fingerprint
    )
    for one in known:
        if one.code in ("clock_back", "shared_fingerprint") and (count := twice[one.evidence.fingerprint]):
            yield one.with_evidence(also=["twice_seen"], twice=count)
        else:
            yield one


def _in_doubt(processes: Processes) -> np.ndarray:
    """Processes of one counter whose clock may have been set back: only their points would show it."""
    last, first = processes["last_elapsed_ms"], processes["first_elapsed_ms"]
    doubt = (processes["out_of_order"] > 0) | (last >= rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS)
    doubt |= (first == 0) & (processes["distinct"] >= limits.ZERO_RUN)
    return doubt & (processes["chains"] == 1)


def _unseen(processes: Processes, several: np.ndarray, clock: np.ndarray) -> Iterator[Finding]:
    """What is counted and not looked at: processes of several counters, and of one whose clock is in doubt."""
    chains, tracks = processes["chains"][several], processes["tracks"][several]
    for code, mask, count in (("shared_fingerprint", tracks > 1, tracks), ("restart", tracks == 1, chains - 1)):
        if mask.any():
            yield unseen(code, int(mask.sum()), int(count[mask].sum()))
    if clock.any():
        yield unseen("clock_back", int(clock.sum()), int(clock.sum()))


def _clock_back(
    processes: Processes,
    at: int,
    fell: list[Step],
    before: np.ndarray | None,
    zero: np.ndarray | None,
    said: dict[str, Any],
) -> Finding:
    subject, key, when = processes.describe(at)
    evidence: dict[str, Any] = {**key, **said}
    if fell:
        widest = max(fell, key=lambda step: step.back_ms)
        points = [point for step in fell[: limits.MOST_IDS // 2] for point in (step.before, step.after)]
        when |= processes.between(step.before for step in fell)
        if processes.elapsed[widest.after] == 0:  # clients from 4.9.3 on write 0 for all that is before the month
            evidence["variant"] = "held"
        evidence |= {"back_seconds": widest.back_ms / 1000, "back_ms": [step.back_ms for step in fell]}
        count = len(fell)
    elif before is not None:
        points, count = before.tolist(), len(before)
        when |= processes.between(points)
        earliest = int(processes.elapsed[before].min())
        evidence |= {"variant": "before_month", "back_seconds": -earliest / 1000}
    else:
        assert zero is not None
        points, count = zero.tolist(), len(zero)
        evidence |= {"variant": "zero"}
    evidence |= {"ids": processes.ids(at, points), "sent_at": processes.moments(points[: limits.MOST_IDS])}
    return Finding.of("clock_back", subject, count, evidence, **when)


def _shared(processes: Processes, at: int) -> Finding:
    subject, key, when = processes.describe(at)
    tracks = int(processes["tracks"][at])
    mine = processes.points(at)
    start = mine.start
    track, chain = processes.columns["track"][mine], processes.columns["chain"][mine]
    turns = np.flatnonzero(track[1:] != track[:-1])
    middle = turns[max(0, len(turns) // 2 - 2) :][:4] if len(turns) else np.zeros(0, np.int64)
    points = sorted({int(start + place + side) for place in middle for side in (0, 1)})
    ids = processes.ids(at, points) or processes.ends(at)
    when |= _together(processes, mine)
    evidence = {
        **key,
        "tracks": tracks,
        "chains": int(processes["chains"][at]),
        "ids": ids,
        "sent_at": processes.moments(points[: limits.MOST_IDS]),
        "track_of_id": [int(track[point - start]) for point in points[: limits.MOST_IDS]],
        "chain_of_id": [int(chain[point - start]) for point in points[: limits.MOST_IDS]],
    }
    # Without its points, two processes and one clock that was set back look the same.
    certainty = "certain" if len(track) else "likely"
    return Finding.of("shared_fingerprint", subject, tracks, evidence, certainty, **when)


def _together(processes: Processes, mine: slice) -> dict[str, datetime]:
    """From when to when two chains were alive at once."""
    chain = processes.columns["chain"][mine]
    if not len(chain):
        return {}
    ends = [np.flatnonzero(chain == number)[[0, -1]] + mine.start for number in np.unique(chain)]
    rows = [(int(row), begins) for pair in ends for row, begins in zip(pair, (True, False), strict=True)]
    alive, both = 0, []
    for row, begins in sorted(rows, key=lambda one: (int(processes.time[one[0]]), not one[1])):
        alive += 1 if begins else -1
        if alive == (2 if begins else 1):
            both.append(row)
    return processes.between([both[0], both[-1]]) if both else {}


def _restart(processes: Processes, at: int, count: int) -> Finding:
    subject, key, when = processes.describe(at)
    mine = processes.points(at)
    start, stop, chain = mine.start, mine.stop, processes.columns["chain"][mine]
    numbers = np.unique(chain)
    first = start + np.array([int(np.argmax(chain == number)) for number in numbers], dtype=np.int64)
    last = stop - 1 - np.array([int(np.argmax(chain[::-1] == number)) for number in numbers], dtype=np.int64)
    order = np.argsort(first)
    first, last = first[order], last[order]
    points = [
        int(point) for k in range(1, min(len(order), limits.MOST_IDS // 2 + 1)) for point in (last[k - 1], first[k])
    ]
    ids = processes.ids(at, points) or processes.ends(at)
    when |= processes.between(first[1:].tolist())
    silent = [int(processes.time[first[k]] - processes.time[last[k - 1]]) for k in range(1, len(order))]
    evidence = {**key, "ids": ids, "sent_at": processes.moments(points)}
    if silent:
        evidence["silent_seconds"] = max(silent) / 1000
    evidence |= _loop(processes.time[first[1:]], count)
    began = processes.moments(first[1:].tolist())
    if len(began) > 1 and all(began):
        listed = began[: limits.MOST_MOMENTS]
        evidence |= {"also": ["began" if len(began) == len(listed) else "began_first"], "began_at": listed}
    return Finding.of("restart", subject, count, evidence, **when)


def _loop(began: np.ndarray, count: int) -> dict[str, Any]:
    """Starts that follow one another as those of a process that dies again and again: how many, in how long."""
    times = np.sort(began)
    behind = np.searchsorted(times, times + limits.LOOP_MS, side="right")
    starts = behind - np.arange(len(times))
    if not len(times) or starts.max() < limits.LOOP_STARTS:
        return {}
    at = int(np.argmax(starts))
    seconds = round(float(times[behind[at] - 1] - times[at]) / 1000)
    among = {"variant": "loop"} if starts[at] == count else {"variant": "loop_among", "loop": int(starts[at])}
    return {**among, "loop_seconds": seconds}


def wraps(processes: Processes, _: Scan) -> Iterator[Finding]:
    """counter_wrap: where an unrolled counter passed 65,535."""
    count = processes["wraps"]
    certain = text_mask(processes.table["wraps_certain"])

    def make(at: int) -> Finding:
        mine = processes.points(at)
        order = mine.start + np.lexsort((processes.columns["position"][mine], processes.columns["chain"][mine]))
        counter, chain = processes.columns["counter"][order], processes.columns["chain"][order]
        at_wrap = np.flatnonzero((chain[1:] == chain[:-1]) & (counter[1:] < counter[:-1]))
        points = [int(order[place + side]) for place in at_wrap[: limits.MOST_IDS // 2] for side in (0, 1)]
        more = {} if certain[at] else {"variant": "uncertain"}
        return of_process(
            processes,
            at,
            "counter_wrap",
            int(count[at]),
            ids=processes.ids(at, points),
            sent_at=processes.moments(points),
            when=processes.between(points[1::2]),
            **more,
        )

    yield from largest_findings(processes, (count > 0) & hosts.countable(processes), "counter_wrap", make, count)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClockEvidence(FindingEvidence):
    """Of a clock that was set back."""

    process: Mapping[str, Any] | None = None
    also: Sequence[str] = ()
    span: int | None = None  # values of the counter between two ids of one time
    variant: str | None = None
    back_seconds: float | None = None
    back_ms: Sequence[int] = ()
    ids: Sequence[str] = ()
    sent_at: Sequence[str | None] = ()
    twice: int | None = None  # ids that belong to several messages
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedEvidence(FindingEvidence):
    """Of several processes with one fingerprint."""

    process: Mapping[str, Any] | None = None
    tracks: int | None = None  # counters that run at once
    chains: int | None = None  # counters, also one after the other
    ids: Sequence[str] = ()
    sent_at: Sequence[str | None] = ()
    track_of_id: Sequence[int] = ()
    chain_of_id: Sequence[int] = ()
    also: Sequence[str] = ()
    twice: int | None = None  # ids that belong to several messages
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RestartEvidence(FindingEvidence):
    """Of a counter that began anew."""

    process: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    sent_at: Sequence[str | None] = ()
    silent_seconds: float | None = None
    variant: str | None = None
    loop: int | None = None  # starts that follow one another
    loop_seconds: int | None = None
    also: Sequence[str] = ()
    began_at: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WrapEvidence(FindingEvidence):
    """Of a counter that passed 65,535."""

    ids: Sequence[str] = ()
    sent_at: Sequence[str | None] = ()
    variant: str | None = None
    process: Mapping[str, Any] | None = None
    places: Sequence[Mapping[str, Any]] = ()


register(
    Rule(
        "shared_fingerprint",
        ERROR,
        20,
        "shared_fingerprint/two_containers",
        evidence=SharedEvidence,
        of_processes=of_chains,
        variants=("unseen",),
        also=("twice_seen",),
        picture="counter",
    ),
    Rule(
        "clock_back",
        ERROR,
        30,
        "clock_back/two_seconds",
        evidence=ClockEvidence,
        of_processes=of_chains,
        variants=("held", "before_month", "zero", "unseen"),
        also=("twice_none", "twice_open", "twice_seen"),
        info_variants=("unseen",),
        picture="clock",
    ),
    Rule(
        "restart",
        INFO,
        10,
        "restart/once",
        evidence=RestartEvidence,
        of_processes=of_chains,
        variants=("loop", "loop_among", "unseen"),
        also=("began", "began_first"),
        picture="counter",
    ),
    Rule(
        "counter_wrap",
        INFO,
        20,
        "counter_wrap/once",
        evidence=WrapEvidence,
        of_processes=wraps,
        variants=("uncertain",),
        is_usual=True,
        picture="counter",
    ),
)
