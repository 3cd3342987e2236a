"""Findings of a time range: each says what of it is in the range, the worst first. Reads the points of counters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from idcore.answers.findings import gaps, limits
from idcore.answers.findings.missing import MissingEvidence, gap_figures
from idcore.answers.findings.processes import id_text
from idcore.answers.findings.registry import SEVERITIES
from idcore.ids.rules import COUNTER_WRAP
from idcore.presentation.triage import finding_rows, strokes
from idcore.presentation.triage.processes import process_key
from idcore.presentation.triage.time_range import TimeRange, instant_text

_OF_HOLES = {"hole", "holes"}  # in a sample, whose other gaps are usual
_OF_GAPS = {None, "one", "one_gap", "gaps", "uncertain"} | _OF_HOLES  # variants that gaps make
WRAP = "counter_wrap"


class Known(NamedTuple):
    """A process of a scan, its points, and how many of its IDs are in the range, where that is counted."""

    process: Mapping[Any, Any] | None
    points: pd.DataFrame
    ids: int | None = None


Find = Callable[[str], Known]  # by its key


def narrowed(findings: pd.DataFrame, shown: TimeRange, find: Find) -> pd.DataFrame:
    """The findings that overlap a range. Of gaps and wraps those in it are counted; without one there the finding is
    left out. The figures of others are those of their whole time: `beyond` marks each that goes beyond the range.

    A gap belongs to a range if any instant from the ID below it to the ID above it is in the range.
    """
    inside = (
        findings if findings.empty else findings[shown.overlaps(findings["first_sent_at"], findings["last_sent_at"])]
    )
    if not shown or inside.empty:
        return inside
    whole = inside.assign(beyond=~(shown.contains(inside["first_sent_at"]) & shown.contains(inside["last_sent_at"])))
    rows = {number: _row(row, shown, find) for number, row in whole.to_dict("index").items()}
    kept = {number: row for number, row in rows.items() if row is not None}
    figures = pd.DataFrame.from_dict(kept, orient="index", columns=whole.columns)
    for name in ("first_sent_at", "last_sent_at"):
        figures[name] = figures[name].astype(inside[name].dtype)
    order = {code: place for place, code in enumerate(dict.fromkeys(inside["code"]))}
    ranks = figures.assign(
        _a=figures["severity"].map(list(SEVERITIES).index), _b=figures["code"].map(order), _c=-figures["count"]
    )
    return figures.loc[ranks.sort_values(["_a", "_b", "_c"], kind="stable").index]


def _row(row: Mapping[Any, Any], shown: TimeRange, find: Find) -> Mapping[Any, Any] | None:
    evidence = finding_rows.evidence_of(row)
    if row["code"] == WRAP and evidence.process is not None:
        return _of_wraps(row, shown, find(process_key(evidence.process)))
    if not isinstance(evidence, MissingEvidence) or evidence.process is None or evidence.variant not in _OF_GAPS:
        return row
    if evidence.explained:  # which counters the items of batches used is in the lines, not in the points
        return row
    process, points, ids = find(process_key(evidence.process))
    if process is None or points.empty or not points["sent_at"].notna().all():
        return row
    ordered, below, gap = strokes.gaps_of(points, shown)
    of_holes = evidence.variant in _OF_HOLES
    told = gap & _holes(process, ordered, below["position"].notna()) if of_holes else gap
    places = [
        _gap(process, lower, upper)
        for lower, upper in zip(below[told].to_dict("records"), ordered[told].to_dict("records"), strict=True)
    ]
    if not places:
        return None
    places.sort(key=lambda one: -one["missing"])
    first, last = below.loc[told, "sent_at"].min(), ordered.loc[told, "sent_at"].max()
    touched = shown.contains(ordered["sent_at"]) | gap | gap.shift(-1, fill_value=False)
    spans = ordered[touched].groupby(["track", "chain"])["position"].agg(["min", "max"])
    missing, produced = ordered.loc[gap, "missing_before"].sum(), (spans["max"] - spans["min"] + 1).sum()
    if ids:  # else of the points: between two of them a range cuts off some IDs
        produced = ids + missing
    changed = dict(evidence) | _figures(places, int(missing), int(produced), of_holes)
    return dict(row) | {
        "count": sum(one["missing"] for one in places),
        "evidence": json.dumps(changed, default=str),
        "first_sent_at": first,
        "last_sent_at": last,
        "beyond": False,
    }


def _of_wraps(row: Mapping[Any, Any], shown: TimeRange, known: Known) -> Mapping[Any, Any] | None:
    """The wraps of a counter in a range. One belongs to it that ends there."""
    process, points, _ = known
    if process is None or points.empty or not points["sent_at"].notna().all():
        return row
    ordered, below, same = strokes.pairs(points)
    told = same & (ordered["counter"] < below["counter"]) & shown.contains(ordered["sent_at"])
    if not told.any():
        return None
    passed = ordered.loc[told, "position"] - below.loc[told, "position"] + below.loc[told, "counter"]
    sides = zip(below[told].to_dict("records"), ordered[told].to_dict("records"), strict=True)
    ends = [point for side in sides for point in side][: limits.MOST_IDS]
    changed = {
        "ids": [id_text(process, int(one["elapsed_ms"]), int(one["counter"])) for one in ends],
        "sent_at": [instant_text(one["sent_at"].to_pydatetime()) for one in ends],
        "places": [],
    }
    return dict(row) | {
        "count": int((passed // COUNTER_WRAP).sum()),
        "evidence": json.dumps(dict(finding_rows.evidence_of(row)) | changed, default=str),
        "first_sent_at": ordered.loc[told, "sent_at"].min(),
        "last_sent_at": ordered.loc[told, "sent_at"].max(),
        "beyond": False,
    }


def _holes(process: Mapping[Any, Any], points: pd.DataFrame, has_below: pd.Series) -> pd.Series:
    """Which points are right above a hole: judged over all of the process, as the finding was."""
    rows = np.flatnonzero(has_below & (points["missing_before"] > 0))
    widths = points["missing_before"].to_numpy()[rows]
    chain, position = points.groupby(["track", "chain"]).ngroup().to_numpy(), points["position"].to_numpy()
    seen, missing = int(process["distinct"]), int(process["missing"])
    below, above = gaps.sides(chain, position, rows, widths, (seen + missing, missing))
    holes = np.zeros(len(points), bool)
    holes[rows] = gaps.find_holes(gaps.Gaps(widths, below, above), seen, missing).holes
    return pd.Series(holes, points.index)


def _gap(process: Mapping[Any, Any], below: Mapping[Any, Any], above: Mapping[Any, Any]) -> dict[str, Any]:
    """One gap, as the evidence of a finding has it; the IDs around it are made from the counter."""
    missing, first = int(above["missing_before"]), (int(below["counter"]) + 1) % COUNTER_WRAP
    return {
        "after": id_text(process, int(below["elapsed_ms"]), int(below["counter"])),
        "before": id_text(process, int(above["elapsed_ms"]), int(above["counter"])),
        "missing": missing,
        "from": first,
        "to": (first + missing - 1) % COUNTER_WRAP,
        "at": instant_text(above["sent_at"].to_pydatetime()),
    }


def _figures(places: list[dict[str, Any]], missing: int, produced: int, of_holes: bool) -> dict[str, Any]:
    """What the evidence says of the gaps in a range, and no more: its lines were looked up for all of them.

    `missing`: how many IDs of the range are, apart from holes too. `produced`: how many were generated in it.
    """
    shown, count = places[: limits.MOST_GAPS], sum(one["missing"] for one in places)
    variant = "gaps" if len(places) > 1 else "one" if count == 1 else "one_gap"
    figures = {
        "gaps": [{key: value for key, value in one.items() if key != "at"} for one in shown],
        "ids": [one["before"] for one in shown],
        "after_ids": [one["after"] for one in shown],
        "sent_at": [one["at"] for one in shown],
        "variant": variant,
        "produced": produced,
        "distinct": produced - missing,
        "share": missing / produced,
        **gap_figures(shown, len(places)),
        **dict.fromkeys(("unlisted", "narrowest", "explained", "gap_after_at", "gap_before_at", "failed", "looked")),
    }
    if of_holes:
        figures |= {"variant": "holes" if len(places) > 1 else "hole", "others": produced - count}
        figures["seen_share"] = (produced - missing) / (produced - count)
    return figures
