"""missing_ids: what the gaps of each process come to, by the rule of `gaps`, and where they are. Reads no line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idcore.answers.findings import chains, gaps, hosts, limits
from idcore.answers.findings.batches import Batches
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.finding_builder import largest_findings, of_process
from idcore.answers.findings.model import Finding, unseen
from idcore.answers.findings.processes import Processes, id_text, text_mask
from idcore.answers.findings.registry import INFO, WARNING, Rule, Scan, register
from idcore.ids.rules import COUNTER_WRAP

_LOSS, _SAMPLE, _HOLES_IN_SAMPLE, _BATCH = "loss", "sample", "holes_in_sample", "batch"


@dataclass(frozen=True, slots=True)
class MissingIds:
    """The missing ids of one process, by their causes.

    `rows` of `counters` are the ids right above its gaps, holes first, then the widest; `widths` is what these miss.
    """

    missing: int  # apart from what batches explain
    explained: int
    rows: np.ndarray
    widths: np.ndarray
    holes: int
    in_holes: int
    even: bool
    unlisted: int  # ids in gaps that are not among the rows

    @property
    def kind(self) -> str:
        """What it is: a loss, a sample, holes in a sample, or nothing but batches."""
        if not self.missing:
            return _BATCH
        if not self.even:
            return _LOSS
        return _HOLES_IN_SAMPLE if self.holes else _SAMPLE

    @property
    def counted(self) -> np.ndarray:
        """The rows above the gaps that the finding counts: of a sample with holes the holes alone, else all listed."""
        return self.rows[: self.holes] if self.kind == _HOLES_IN_SAMPLE else self.rows

    @property
    def count(self) -> int:
        """How many ids the finding is about."""
        return {_BATCH: self.explained, _HOLES_IN_SAMPLE: self.in_holes}.get(self.kind, self.missing)


def batches_of(scan: Scan) -> Batches:
    return Batches(scan.rows.pieces("copies"), scan.line_evidence)


def missing_ids(processes: Processes, scan: Scan) -> Iterator[Finding]:
    """The rule missing_ids: a loss is a warning; a sample, and what batches explain, are info.

    Gaps are not known where a clock was set back, because the order of the ids is not; a list of ids has none.
    """
    if scan.line_evidence is not None and scan.line_evidence.is_list:
        return
    batches = scan.once(batches_of)
    lost, produced = processes["missing"], processes["produced"]
    wanted = hosts.countable(processes) & ~processes.once(chains.explain_chains).clock_back & (lost > 0)
    known: dict[int, MissingIds] = {}
    kind = np.where(gaps.is_sample(lost, produced), _SAMPLE, _LOSS).astype(object)
    count = lost.copy()
    for at in np.flatnonzero(wanted & ~processes.away & _undecided_by_row(processes, kind, batches)).tolist():
        known[at] = _split_by_cause(processes, at, batches)
        kind[at], count[at] = known[at].kind, known[at].count

    def make(at: int) -> Finding:
        if at not in known:
            known[at] = _split_by_cause(processes, at, batches)
        return _finding(processes, at, known[at])

    is_undecided = wanted & (kind == _SAMPLE) & processes.away & (processes["distinct"] >= 2 * limits.HOLE_SIDE_IDS)
    is_warning = (kind == _LOSS) | (kind == _HOLES_IN_SAMPLE)
    yield from largest_findings(processes, wanted & is_warning, "missing_ids", make, count)
    yield from largest_findings(processes, wanted & ~is_warning & ~is_undecided, "missing_ids", make, count, INFO)
    if is_undecided.any():
        yield unseen("missing_ids", int(is_undecided.sum()), int(count[is_undecided].sum()))


def _undecided_by_row(processes: Processes, kind: np.ndarray, batches: Batches) -> np.ndarray:
    """The processes whose row alone does not decide what their gaps are: holes, or batches."""
    undecided = (kind == _SAMPLE) & (processes["distinct"] >= 2 * limits.HOLE_SIDE_IDS)
    if batches.items or batches.last_items:
        lost = np.flatnonzero((processes["missing"] > 0) & ~processes.away & ~undecided)
        undecided[[at for at in lost.tolist() if batches.made_by(processes.ends(at)[0])]] = True
    return undecided


def _split_by_cause(processes: Processes, at: int, batches: Batches) -> MissingIds:
    """Subtracts from the gaps what batches explain, then judges the rest with `gaps.find_holes`."""
    mine = processes.points(at)
    before = processes.columns["missing_before"][mine]
    rows = mine.start + np.flatnonzero(before > 0)
    widths = before[before > 0]
    missing, produced = int(processes["missing"][at]), int(processes["produced"][at])
    explained, left = _explained(processes, at, rows, widths, batches)
    missing -= explained
    below, above = _sides(processes, at, rows, widths)
    keep = left > 0
    rows, left = rows[keep], left[keep]
    verdict = gaps.find_holes(gaps.Gaps(left, below[keep], above[keep]), produced - explained - missing, missing)
    order = np.lexsort((rows, -left, ~verdict.holes))
    unlisted = max(0, missing - int(left.sum()))
    holes = int(verdict.holes.sum())
    return MissingIds(missing, explained, rows[order], left[order], holes, verdict.in_holes, verdict.even, unlisted)


def _explained(
    processes: Processes, at: int, rows: np.ndarray, widths: np.ndarray, batches: Batches
) -> tuple[int, np.ndarray]:
    """How many missing counters belong to items of batches, and what is left of each gap."""
    total = batches.total(processes.ends(at)[0]) if batches.items else 0
    if not (total or batches.last_items) or not len(rows):
        return 0, widths
    items = np.array(batches.of(_ids(processes, at, rows)))
    items[items > widths] = 0  # the items are in the input: the gap is something else
    left = widths - items
    if batches.last_items:
        below = np.array([_below(processes, at, row) for row in rows.tolist()])
        batch_ends = np.array(batches.ends(_ids(processes, at, below))) & (left > 0)
        items, left = items + batch_ends, left - batch_ends
    explained = int(items.sum())
    missing = int(processes["missing"][at])
    unlisted = missing - int(widths.sum())
    # The other gaps are narrower, and which id each is below is not in the table: as many are explained as all batches
    # of the process have items, where nearly all gaps that are in it are those of batches.
    if unlisted > 0 and batches.whole and (items > 0).mean() >= limits.BATCH_SHARE:
        explained += min(unlisted, total - explained)
    return explained, left


def _ids(processes: Processes, at: int, rows: np.ndarray) -> list[str]:
    row, elapsed, counter = processes.row(at), processes.elapsed, processes.columns["counter"]
    return [id_text(row, int(elapsed[point]), int(counter[point])) for point in rows.tolist()]


def _sides(processes: Processes, at: int, rows: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many ids of its chain are below each gap and above it; of a thinned process about as many."""
    mine = processes.points(at)
    chain, position = processes.columns["chain"][mine], processes.columns["position"][mine]
    produced, missing = int(processes["produced"][at]), int(processes["missing"][at])
    return gaps.sides(chain, position, rows - mine.start, widths, (produced, missing))


def _finding(processes: Processes, at: int, missing: MissingIds) -> Finding:
    kind = missing.kind
    produced, distinct = int(processes["produced"][at]), int(processes["distinct"][at])
    telling = missing.rows[: missing.holes] if missing.holes else missing.rows
    shown = missing.counted[: limits.MOST_GAPS]
    places = [_place(processes, at, int(row), int(width)) for row, width in zip(shown, missing.widths, strict=False)]
    more: dict[str, Any] = {"gaps": places, "produced": produced, "distinct": distinct}
    if missing.missing:  # in all: what the sentence of a hole counts is less
        more["share"] = missing.missing / produced
    variant = _variant(missing, bool(text_mask(processes.table["wraps_certain"].slice(at, 1))[0]))
    if variant:
        more["variant"] = variant
    if kind == _HOLES_IN_SAMPLE:
        more |= {"others": produced - missing.in_holes, "seen_share": distinct / (produced - missing.in_holes)}
    if kind in (_LOSS, _HOLES_IN_SAMPLE) and len(missing.counted):
        more |= gap_figures(places, len(missing.counted))
        if missing.unlisted:
            more |= {"unlisted": missing.unlisted, "narrowest": int(missing.widths.min())}
            more["also"] += ["narrower"]
    if missing.explained and kind != _BATCH:
        more |= {"explained": missing.explained, "also": ["batches", *more.get("also", ())]}
    edges = [*telling.tolist(), *(_below(processes, at, row) for row in telling[: missing.holes].tolist())]
    return of_process(
        processes,
        at,
        "missing_ids",
        missing.count,
        ids=[place["before"] for place in places],
        after_ids=[place["after"] for place in places],
        sent_at=processes.moments(shown),
        when={} if kind == _SAMPLE else processes.between(edges),
        **more,
    )


def gap_figures(places: Sequence[Mapping[str, Any]], number: int) -> dict[str, Any]:
    """What the evidence says of so many gaps, of which it lists these."""
    widest = max(places, key=lambda place: place["missing"])
    name = "gap_widest" if number > 1 else "gap" if widest["missing"] > 1 else "gap_one"
    return {
        "in_gaps": number,
        "widest": widest["missing"],
        **{f"gap_{part}": widest[part] for part in ("after", "before", "from", "to")},
        "also": [name] if name != "gap_widest" or widest["missing"] > 1 else [],
    }


def _variant(missing: MissingIds, wraps_certain: bool) -> str | None:
    """The variant of the finding's sentence."""
    if missing.kind == _HOLES_IN_SAMPLE:
        return "hole" if missing.holes == 1 else "holes"
    if missing.kind != _LOSS:
        return missing.kind
    if not wraps_certain:
        return "uncertain"
    if missing.unlisted:  # the number of gaps is not known
        return None
    return "gaps" if len(missing.rows) > 1 else "one" if missing.missing == 1 else "one_gap"


def _below(processes: Processes, at: int, row: int) -> int:
    """The row of the id right below a gap, which is kept wherever the gap is."""
    mine, columns = processes.points(at), processes.columns
    wanted = columns["position"][row] - columns["missing_before"][row] - 1
    same = (columns["chain"][mine] == columns["chain"][row]) & (columns["position"][mine] == wanted)
    return mine.start + int(np.argmax(same))


def _place(processes: Processes, at: int, row: int, width: int) -> dict[str, Any]:
    """One gap: the ids around it, the counters that are missing there, and how many."""
    below = _below(processes, at, row)
    after, before = processes.ids(at, (below, row))
    first = (int(processes.columns["counter"][below]) + 1) % COUNTER_WRAP
    last = (first + width - 1) % COUNTER_WRAP
    return {"before": before, "missing": width, "after": after, "from": first, "to": last}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MissingEvidence(FindingEvidence):
    """Of the gaps in the counter of a process."""

    ids: Sequence[str] = ()
    after_ids: Sequence[str] = ()
    sent_at: Sequence[str | None] = ()
    gaps: Sequence[Mapping[str, Any]] = ()
    produced: int | None = None
    distinct: int | None = None
    share: float | None = None  # of the ids that are missing
    variant: str | None = None
    others: int | None = None  # ids apart from those in holes
    seen_share: float | None = None  # of these
    in_gaps: int | None = None  # gaps that the count is about
    widest: int | None = None  # ids that the widest of these misses
    gap_after: str | None = None  # the id below it
    gap_before: str | None = None  # the id above it
    gap_from: int | None = None  # the first counter that it misses
    gap_to: int | None = None
    also: Sequence[str] = ()
    unlisted: int | None = None  # ids in gaps that are not listed
    narrowest: int | None = None  # ids that the narrowest listed gap misses
    explained: int | None = None  # counters that items of batches used
    process: Mapping[str, Any] | None = None
    places: Sequence[Mapping[str, Any]] = ()
    gap_after_at: str | None = None  # file and line
    gap_before_at: str | None = None
    failed: int | None = None  # failed sends in front of gaps
    looked: int | None = None  # gaps that were looked at for them
    failed_line: str | None = None
    failed_at: str | None = None  # file and line


register(
    Rule(
        "missing_ids",
        WARNING,
        20,
        "missing_ids/an_outage",
        evidence=MissingEvidence,
        of_processes=missing_ids,
        variants=("one", "one_gap", "gaps", "uncertain", "hole", "holes", "sample", "batch", "unseen"),
        also=("gap", "gap_one", "gap_widest", "gap_lines", "narrower", "batches", "failed", "failed_gaps"),
        info_variants=("sample", "batch", "unseen"),
        picture="counter",
        lines=("failed_sends",),
    ),
)
