"""Gaps of a counter judged by their widths: holes, an even share, single losses. Uses no id, no time and no table.

`missing.py` makes findings of it, with their severity.

The rule, for the gaps of one process:

1. A gap is rare where at most one id in 20 has one below it (or fewer than 5 have one). Then the chance of a gap at
   each counter bounds the width that chance explains. Else gaps are usual: the bound is what their mean width and
   their wider half explain, in which a hole counts for nothing. Less than once in a million processes chance passes it.
2. A gap that is wider, with at least 10 ids of its chain on either side, is a hole. Holes are a loss at any share.
3. Of what is missing outside holes, more than a tenth is an even share: the input is a sample. Up to a tenth is a loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np

from idcore.answers.findings import limits


@dataclass(frozen=True, slots=True)
class Gaps:
    """The widest gaps of a process, in any order: how wide each is, and the ids of its chain on either side of it."""

    widths: np.ndarray
    below: np.ndarray
    above: np.ndarray


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which of the gaps are holes, how many ids these miss, and whether the rest is an even share."""

    holes: np.ndarray
    in_holes: int
    even: bool


def find_holes(gaps: Gaps, seen: int, missing: int) -> Judgement:
    """Takes apart what is missing of a process of which so many different ids were seen."""
    wide = gaps.widths >= least_hole(gaps.widths, seen, missing)
    holes = wide & (gaps.below >= limits.HOLE_SIDE_IDS) & (gaps.above >= limits.HOLE_SIDE_IDS)
    in_holes = int(gaps.widths[holes].sum())
    return Judgement(holes, in_holes, is_sample(missing - in_holes, seen + missing - in_holes))


def sides(
    chain: np.ndarray, position: np.ndarray, rows: np.ndarray, widths: np.ndarray, figures: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """How many ids of its chain are below each gap and above it; of thinned points about as many.

    `chain` and `position`: those of all points of a process; `rows`: the points right above its gaps. `figures`: how
    many ids it generated, and how many of these are missing.
    """
    produced, missing = figures
    listed = int(widths.sum())
    density = 1 - max(0, missing - listed) / max(1, produced - listed)
    below, above = np.zeros(len(rows)), np.zeros(len(rows))
    for number in np.unique(chain[rows]):
        positions = position[chain == number]
        some = np.flatnonzero(chain[rows] == number)
        order = some[np.argsort(position[rows[some]], kind="stable")]
        high, missed = position[rows[order]], np.cumsum(widths[order])
        below[order] = (high - positions.min() - missed) * density
        above[order] = (positions.max() - high + 1 - (missed[-1] - missed)) * density
    return below, above


def is_sample(missing: Any, produced: Any) -> Any:
    """Whether so much is missing that the input is a sample, if it is missing evenly; of arrays, where."""
    return missing > limits.SAMPLE_SHARE * produced


def least_hole(widths: np.ndarray, seen: int, missing: int) -> float:
    """How many ids have to be missing in a row before the gap exceeds what this process usually misses.

    `widths`: all gaps or the widest. `missing` counts what all gaps miss.
    """
    if not len(widths) or seen < 1:
        return float("inf")
    narrow = int(widths.min())
    unlisted = max(0, missing - int(widths.sum()))
    # Of gaps that are not listed the sum is known: they are as many as an even share makes, none wider than `narrow`.
    evenly = unlisted / (1 + unlisted / seen)
    number = len(widths) + max(min(evenly, unlisted), unlisted / narrow)
    if number < limits.FEW_GAPS or number <= limits.RARE_GAPS * seen:
        often = min(number / seen, 1 - 1 / (1 + seen))
        return _chance(seen, often)
    excess = np.sort(widths - narrow)
    place = len(excess) - 1
    # Of gaps that chance makes, the excess over any width is the same: its median and upper quartile give the scale.
    scale = max(float(excess[place // 2]) / log(2), float(excess[3 * place // 4]) / log(4))
    tail = narrow + scale * log(len(excess) / limits.HOLE_CHANCE)
    left, least = missing, float("inf")
    for _ in range(len(widths)):
        mean = max(left, 1) / seen
        least = max(tail, _chance(seen, mean / (1 + mean)))
        beside = missing - int(widths[widths >= least].sum())
        if beside == left:
            break
        left = beside
    return least


def _chance(seen: int, often: float) -> float:
    """The least width that none of so many gaps has by chance, where each counter is missing so often."""
    return float(ceil(log(seen / limits.HOLE_CHANCE) / -log(often)))
