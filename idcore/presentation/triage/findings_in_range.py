"""Findings of a time range: each says what of it is in the range, the worst first. Reads the points of counters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from idcore.answers.findings import limits
from idcore.answers.findings.processes import id_text
from idcore.answers.findings.registry import SEVERITIES
from idcore.presentation.triage import finding_rows
from idcore.presentation.triage.processes import process_key
from idcore.presentation.triage.strokes import TURN
from idcore.presentation.triage.time_range import TimeRange, instant_text

GAPS = "missing_ids"
_OF_GAPS = {None, "one", "one_gap", "gaps", "uncertain", "hole", "holes"}  # variants that gaps make
# A process of a scan by its key, and its points, both empty where there are none.
Find = Callable[[str], tuple[Mapping[Any, Any] | None, pd.DataFrame]]


def narrowed(findings: pd.DataFrame, shown: TimeRange, find: Find) -> pd.DataFrame:
    """The findings that overlap a range. Of gaps those in it are counted; without one there the finding is left out.

    A gap belongs to a range if any instant from the ID below it to the ID above it is in the range.
    """
    inside = (
        findings if findings.empty else findings[shown.overlaps(findings["first_sent_at"], findings["last_sent_at"])]
    )
    if not shown or inside.empty:
        return inside
    rows = {number: _row(row, shown, find) for number, row in inside.to_dict("index").items()}
    kept = {number: row for number, row in rows.items() if row is not None}
    figures = pd.DataFrame.from_dict(kept, orient="index", columns=inside.columns)
    for name in ("first_sent_at", "last_sent_at"):
        figures[name] = figures[name].astype(inside[name].dtype)
    order = {code: place for place, code in enumerate(dict.fromkeys(inside["code"]))}
    ranks = figures.assign(
        _a=figures["severity"].map(list(SEVERITIES).index), _b=figures["code"].map(order), _c=-figures["count"]
    )
    return figures.loc[ranks.sort_values(["_a", "_b", "_c"], kind="stable").index]


def _row(row: Mapping[Any, Any], shown: TimeRange, find: Find) -> Mapping[Any, Any] | None:
    evidence = finding_rows.evidence_of(row)
    if row["code"] != GAPS or evidence.process is None or evidence.variant not in _OF_GAPS:
        return row
    process, points = find(process_key(evidence.process))
    if process is None or points.empty or not points["sent_at"].notna().all():
        return row
    ordered = points.sort_values(["track", "chain", "position"], kind="stable")
    same = ordered.duplicated(["track", "chain"])
    below = ordered.shift().where(same)
    gap = same & (ordered["missing_before"] > 0) & shown.overlaps(below["sent_at"], ordered["sent_at"])
    gaps = [
        _gap(process, lower, upper)
        for lower, upper in zip(below[gap].to_dict("records"), ordered[gap].to_dict("records"), strict=True)
    ]
    if not gaps:
        return None
    gaps.sort(key=lambda one: -one["missing"])
    first, last = below.loc[gap, "sent_at"].min(), ordered.loc[gap, "sent_at"].max()
    within = ordered[shown.contains(ordered["sent_at"])]
    spans = within.groupby(["track", "chain"])["position"].agg(["min", "max"])
    count = sum(one["missing"] for one in gaps)
    produced = max(int((spans["max"] - spans["min"] + 1).sum()), count + 1)
    changed = dict(evidence) | _figures(gaps, count, produced)
    return dict(row) | {
        "count": count,
        "evidence": json.dumps(changed, default=str),
        "first_sent_at": first,
        "last_sent_at": last,
    }


def _gap(process: Mapping[Any, Any], below: Mapping[Any, Any], above: Mapping[Any, Any]) -> dict[str, Any]:
    """One gap, as the evidence of a finding has it; the IDs around it are made from the counter."""
    missing, first = int(above["missing_before"]), (int(below["counter"]) + 1) % TURN
    return {
        "after": id_text(process, int(below["elapsed_ms"]), int(below["counter"])),
        "before": id_text(process, int(above["elapsed_ms"]), int(above["counter"])),
        "missing": missing,
        "from": first,
        "to": (first + missing - 1) % TURN,
        "at": instant_text(above["sent_at"].to_pydatetime()),
    }


def _figures(gaps: list[dict[str, Any]], count: int, produced: int) -> dict[str, Any]:
    """What the evidence says of the gaps in a range, and no more: its lines were looked up for all of them."""
    widest, shown = gaps[0], gaps[: limits.MOST_GAPS]
    name = "gap_widest" if len(gaps) > 1 else "gap" if widest["missing"] > 1 else "gap_one"
    return {
        "gaps": [{key: value for key, value in one.items() if key != "at"} for one in shown],
        "ids": [one["before"] for one in shown],
        "after_ids": [one["after"] for one in shown],
        "sent_at": [one["at"] for one in shown],
        "variant": "gaps" if len(gaps) > 1 else "one" if count == 1 else "one_gap",
        "produced": produced,
        "distinct": produced - count,
        "share": count / produced,
        "in_gaps": len(gaps),
        "widest": widest["missing"],
        **{f"gap_{part}": widest[part] for part in ("after", "before", "from", "to")},
        "also": [name] if name != "gap_widest" or widest["missing"] > 1 else [],
        **dict.fromkeys(("unlisted", "narrowest", "explained", "gap_after_at", "gap_before_at", "failed", "looked")),
    }
