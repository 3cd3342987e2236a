"""The points of one process as strokes: cut at wraps, gaps and restarts, with what each rises by. Draws nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from idcore.answers.findings import gaps as judged
from idcore.base.catalogue import Words
from idcore.ids.rules import COUNTER_WRAP
from idcore.presentation.triage.time_range import TimeRange

MOST_STEPS = 3  # of one clock that are named
LEAST_STEP = 500  # milliseconds; less is not a finding
LABEL = 0.07  # of the width: of bands this close the widest has its number
MOST_BANDS = 200  # stretches without ids that have a mark
WIDE_BANDS = 5  # of them, the widest, that are bands
RATES = 160  # steps of a rate
NARROW = 0.012  # of the width: gaps this close share a band
CLOSE, NEARLY_ALL = 0.05, 0.9  # of the width between gaps of a while, and the part of all missing IDs that it has
MOST_CROSSINGS = 64  # between two points: beyond that the strokes are one black wall


@dataclass(slots=True)
class Strokes:
    """What is drawn of one process: lines cut at wraps and gaps, and the places of everything that has a mark."""

    lines: list[tuple[int, list[Any], list[Any], list[Any]]] = field(
        default_factory=list
    )  # track, x, counter, position
    wraps: list[Any] = field(default_factory=list)
    gaps: list[tuple[Any, Any, int]] = field(default_factory=list)
    breaks: dict[int, list[tuple[Any, Any]]] = field(default_factory=dict)  # of each track: its gaps
    restarts: list[Any] = field(default_factory=list)
    sight: tuple[Any, Any] = (None, None)  # the ends of the picture, where it has not all of the points
    slopes: list[tuple[int, Any, float, float]] = field(default_factory=list)  # track, x, count, ids per second


def is_dated(points: pd.DataFrame) -> bool:
    """Whether every point has an instant; where one has none, points are drawn by their elapsed."""
    return bool(points["sent_at"].notna().all())


def by_clock(points: pd.DataFrame) -> pd.DataFrame:
    """Points in the order of a running clock, which is their column `clock`, in seconds.

    It is that of their instants, because elapsed begins again at 0 with each month.
    """
    clock = points["elapsed_ms"] / 1000
    if is_dated(points):
        clock = (points["sent_at"] - points["sent_at"].min()) / pd.Timedelta(seconds=1)
    return points.assign(clock=clock).sort_values(["clock", "position"], kind="stable")


def strokes(
    points: pd.DataFrame, places: list[Any], seconds: list[float], missing_in_all: int | None = None
) -> Strokes:
    """Cuts the points of one process into lines. `places` are x values, `seconds` the same on a running clock."""
    drawn = Strokes()
    least = least_gap(points, missing_in_all)
    counters, positions = points["counter"].tolist(), points["position"].tolist()
    tracks, chains, missing = points["track"].tolist(), points["chain"].tolist(), points["missing_before"].tolist()
    by_chain: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(tracks, chains, strict=True)):
        by_chain.setdefault(key, []).append(row)
    produced: dict[int, int] = {}
    for (track, _), rows in sorted(by_chain.items(), key=lambda item: item[1][0]):
        if track in produced:
            drawn.restarts.append(places[rows[0]])
        base = produced.get(track, 0)
        first = rows[0]
        start = (counters[first] - positions[first]) % COUNTER_WRAP
        low = min(positions[row] for row in rows)
        x, saw, count = [places[first]], [counters[first]], [base + positions[first] - low]
        for before, row in itertools.pairwise(rows):
            if missing[row] >= least:
                drawn.gaps.append((places[before], places[row], missing[row]))
                drawn.breaks.setdefault(track, []).append((places[before], places[row]))
                x, saw, count = [*x, None], [*saw, None], [*count, None]
            turns = (start + positions[row]) // COUNTER_WRAP - (start + positions[before]) // COUNTER_WRAP
            if turns > 0:
                crossings = _crossings(start, positions, seconds, before, row, places, turns)
                drawn.wraps += crossings
                if missing[row] < least:
                    for place in crossings:
                        middle = base + _at(place, places, positions, before, row) - low
                        x += [place, None, place]
                        saw += [COUNTER_WRAP - 1, None, 0]
                        count += [middle, middle, middle]
            elif turns < 0:
                x, saw, count = [*x, None], [*saw, None], [*count, None]
            x.append(places[row])
            saw.append(counters[row])
            count.append(base + positions[row] - low)
        drawn.lines.append((track, x, saw, count))
        made = max(positions[row] for row in rows) - low
        span = seconds[rows[-1]] - seconds[first]
        if span > 0:
            drawn.slopes.append((track, places[rows[-1]], base + made, made / span))
        produced[track] = base + made + 1
    drawn.wraps.sort()
    return drawn


def clipped(drawn: Strokes, left: Any, right: Any) -> Strokes:
    """What is drawn from `left` up to `right`; lines go on to the next point outside. None does not limit."""

    def inside(place: Any) -> bool:
        return (left is None or place >= left) and (right is None or place < right)

    cut = Strokes(
        wraps=[place for place in drawn.wraps if inside(place)],
        gaps=[gap for gap in drawn.gaps if (right is None or gap[0] < right) and (left is None or gap[1] >= left)],
        breaks=drawn.breaks,
        sight=(left, right),
        restarts=[place for place in drawn.restarts if inside(place)],
    )
    for track, x, saw, count in drawn.lines:
        known = [at for at, place in enumerate(x) if place is not None]
        first = max((at for at in known if left is not None and x[at] < left), default=0)
        last = min((at for at in known if right is not None and x[at] >= right), default=len(x) - 1)
        if (left is not None and x[known[-1]] < left) or (right is not None and x[known[0]] >= right):
            continue
        cut.lines.append((track, x[first : last + 1], saw[first : last + 1], count[first : last + 1]))
        own = [at for at in known if inside(x[at])]
        span = x[own[-1]] - x[own[0]] if own else 0
        seconds = span.total_seconds() if hasattr(span, "total_seconds") else float(span)
        if seconds > 0:
            cut.slopes.append((track, x[own[-1]], count[own[-1]], (count[own[-1]] - count[own[0]]) / seconds))
    return cut


def extremes(lines: Iterable[tuple[list[Any], list[Any]]], left: Any, right: Any) -> tuple[float, float] | None:
    """The least and greatest value of lines (x, y) from `left` to `right`, also where a line passes these."""
    values: list[float] = []
    for x, y in lines:
        values += [b for a, b in zip(x, y, strict=True) if a is not None and b is not None and left <= a <= right]
        for (a, low), (b, high) in itertools.pairwise(zip(x, y, strict=True)):
            if None in (a, b, low, high):
                continue
            values += [low + (high - low) * ((end - a) / (b - a)) for end in (left, right) if a < end < b]
    return (min(values), max(values)) if values else None


def pairs(points: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Points in the order of their counters, the point below each, and which have one below."""
    ordered = points.sort_values(["track", "chain", "position"], kind="stable")
    same = ordered.duplicated(["track", "chain"])
    return ordered, ordered.shift().where(same), same


def gaps_of(points: pd.DataFrame, shown: TimeRange) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Points in the order of their counters, the point below each, and which are right above a gap of a range.

    A gap belongs to a range if any instant from the ID below it to the ID above it is in the range.
    """
    ordered, below, same = pairs(points)
    return ordered, below, same & (ordered["missing_before"] > 0) & shown.overlaps(below["sent_at"], ordered["sent_at"])


def around(inside: pd.DataFrame, every: pd.DataFrame, shown: TimeRange) -> pd.DataFrame:
    """The points in a range, and of the gaps that it cuts those on the other side. `every`: the scan's points."""
    outside = every[~shown.contains(every["sent_at"])].assign(cut=True)
    ordered, _, gap = gaps_of(pd.concat([inside.assign(cut=False), outside], ignore_index=True), shown)
    sides = ordered[gap | gap.shift(-1, fill_value=False) | ~ordered["cut"].astype(bool)]
    return sides.drop(columns="cut")


def in_range(row: dict[str, Any], points: pd.DataFrame, sides: pd.DataFrame, whole: bool) -> dict[str, Any]:
    """The figures of a process, from those of its points that are in a range: generated from the first to the last.

    Where these are the `whole` of its IDs there, missing is exact; else it has the gaps that are points. Gaps that the
    range cuts are counted whole: `sides` are the points `around` it, `in_cut_gaps` what is missing there.
    """
    ordered = by_clock(points)
    chains = ordered.groupby(["track", "chain"])
    spans = chains["position"].agg(["min", "max"])
    produced = int((spans["max"] - spans["min"] + 1).sum())
    in_cut_gaps = _in_gaps(sides) - _in_gaps(points)
    missing = (produced - len(points) if whole else _in_gaps(points)) + in_cut_gaps
    seconds = ordered["clock"].max() - ordered["clock"].min() if len(points) else 0
    starts = (ordered["counter"] - ordered["position"]) % COUNTER_WRAP
    every = (starts + ordered["position"]).groupby([ordered["track"], ordered["chain"]])
    turns = every.agg(["min", "max"]) // COUNTER_WRAP
    return {
        **row,
        "produced": produced + in_cut_gaps,
        "missing": missing,
        "in_cut_gaps": in_cut_gaps,
        "distinct": produced + in_cut_gaps - missing,
        "wraps": int((turns["max"] - turns["min"]).sum()),
        "tracks": ordered["track"].nunique(),
        "chains": len(spans),
        "first_sent_at": ordered["sent_at"].min(),
        "last_sent_at": ordered["sent_at"].max(),
        "last_counter": int(ordered["counter"].iloc[-1]) if len(ordered) else None,
        "rate_per_second": (produced - len(spans)) / seconds if seconds else None,
    }


def _in_gaps(points: pd.DataFrame) -> int:
    """What is missing between points; what is below the first of a chain is not."""
    ordered = points.sort_values("position", kind="stable")
    return int(ordered.loc[ordered.duplicated(["track", "chain"]), "missing_before"].sum())


def least_gap(points: pd.DataFrame, missing_in_all: int | None = None) -> int:
    """From how many missing ids on a gap is drawn: 1, or what is unusual where the input is a sample anyway.

    `missing_in_all` counts the gaps that are not points, too.
    """
    widths = points.loc[points["missing_before"] > 0, "missing_before"].to_numpy()
    chains = points.groupby(["track", "chain"])["position"]
    produced = int((chains.max() - chains.min() + 1).sum()) if len(points) else 0
    missing = max(int(widths.sum()), missing_in_all or 0)
    if not judged.is_sample(missing, produced):
        return 1
    return int(min(COUNTER_WRAP, judged.least_hole(widths, max(produced - missing, 1), missing)))


def rates(
    points: pd.DataFrame, places: list[Any], seconds: list[float]
) -> Iterator[tuple[int, list[Any], list[float]]]:
    """IDs a second from step to step, for each track: track, where each step begins and the last ends, IDs a second.

    They are those that the counter shows, also where these are not in the input. Between two points it rises evenly.
    """
    span = max(seconds) - min(seconds) if seconds else 0.0
    if span <= 0:
        return
    step = max(span / RATES, 0.001)
    edges = min(seconds) + step * np.arange(int(np.ceil(span / step)) + 1)
    clock, positions = np.array(seconds), points["position"].to_numpy(np.float64)
    tracks, chains = points["track"].to_numpy(), points["chain"].to_numpy()
    first = int(np.argmin(clock))
    whole = places[int(np.argmax(clock))] - places[first]
    where = [places[first] + whole * float((edge - edges[0]) / span) for edge in edges]
    for track in sorted(set(tracks.tolist())):
        counts = np.zeros(len(edges) - 1)
        for chain in sorted(set(chains[tracks == track].tolist())):
            own = (tracks == track) & (chains == chain)
            order = np.lexsort((positions[own], clock[own]))
            counts += np.diff(np.interp(edges, clock[own][order], np.maximum.accumulate(positions[own][order])))
        yield track, where, (counts / step).tolist()


def apart(edges: list[Any], values: list[float], gaps: list[tuple[Any, Any]]) -> tuple[list[Any], list[float | None]]:
    """Steps as a line of their edges (x, y), which is broken where gaps as wide as a step are."""
    x, y = list[Any](), list[float | None]()
    wide = sorted(gap for gap in gaps if gap[1] - gap[0] >= edges[1] - edges[0])
    for value, (left, right) in zip(values, itertools.pairwise(edges), strict=True):
        for begin, end in wide:
            if left < right and begin < right and end > left:
                if left < begin:
                    x, y = [*x, left, begin], [*y, value, value]
                if x and y[-1] is not None:
                    x.append(x[-1])
                    y.append(None)
                left = min(end, right)
        if left < right:
            x += [left, right]
            y += [value, value]
    return x, y


def judgement(points: pd.DataFrame, distinct: int, missing: int) -> judged.Judgement:
    """Whether what a process misses is an even share, so that the input is a sample, and what is in holes."""
    ordered = points.sort_values(["track", "chain", "position"], kind="stable")
    chains, widths = ordered.groupby(["track", "chain"], sort=False), ordered["missing_before"]
    lacking = widths.groupby([ordered["track"], ordered["chain"]], sort=False)
    here = ordered["position"] - lacking.cumsum()  # the IDs up to here, from any start
    below = here - chains["position"].transform("min")
    above = (chains["position"].transform("max") - ordered["position"]) - (lacking.transform("sum") - lacking.cumsum())
    gap = (widths > 0).to_numpy()
    wide = judged.Gaps(widths.to_numpy()[gap], below.to_numpy()[gap], above.to_numpy()[gap] + 1)
    return judged.find_holes(wide, distinct, missing)


def _crossings(
    start: int, positions: list[int], seconds: list[float], before: int, row: int, places: list[Any], turns: int
) -> list[Any]:
    """Where the straight line between two points passes 65,535: at most MOST_CROSSINGS of them."""
    lift = positions[row] - positions[before]
    crossings = []
    first = (start + positions[before]) // COUNTER_WRAP + 1
    for turn in range(first, first + min(turns, MOST_CROSSINGS)):
        part = (turn * COUNTER_WRAP - start - positions[before] - 0.5) / lift if lift else 0.5
        crossings.append(places[before] + (places[row] - places[before]) * part)
    return crossings


def _at(place: Any, places: list[Any], positions: list[int], before: int, row: int) -> float:
    width = places[row] - places[before]
    part = (place - places[before]) / width if width else 0.0
    return float(positions[before] + (positions[row] - positions[before]) * part)


def gathered(gaps: list[tuple[Any, Any, int]], width: Any) -> list[tuple[Any, Any, int, int]]:
    """Gaps that are within `width` of each other as one: begin, end, ids missing, gaps. Numbers would overprint."""
    groups: list[tuple[Any, Any, int, int]] = []
    for begin, end, ids in sorted(gaps, key=lambda gap: gap[:2]):
        if groups and max(end, groups[-1][1]) - groups[-1][0] <= width:
            first, last, before, count = groups[-1]
            groups[-1] = (first, max(end, last), before + ids, count + 1)
        else:
            groups.append((begin, end, ids, 1))
    return groups


def pause(points: pd.DataFrame) -> tuple[float, float]:
    """The longest time in which the process generated no id of this input, and its whole span, in seconds."""
    clock = by_clock(points)["clock"]
    if len(clock) < 2:
        return 0.0, 0.0
    return float(clock.diff().max()), float(clock.iloc[-1] - clock.iloc[0])


def in_order(points: pd.DataFrame) -> pd.DataFrame | None:
    """The points in the order of a counter that does not pass 0 twice, each with its `place`; None where it may.

    The counter begins behind the widest stretch of its circle that has no id.
    """
    values = np.sort(points["counter"].to_numpy())
    widest = int(np.argmax(np.diff(values, append=values[0] + COUNTER_WRAP)))
    start = int(values[(widest + 1) % len(values)])
    place = (points["counter"].to_numpy() - start) % COUNTER_WRAP
    if points.duplicated("counter").any():
        return None
    return points.assign(place=place).sort_values("place", kind="stable")


def whole_width(drawn: Strokes) -> Any:
    """The width of all lines."""
    places = [x for _, line, _, _ in drawn.lines for x in line if x is not None]
    return max(places) - min(places) if places else 0


def bands(drawn: Strokes) -> list[tuple[Any, Any, int, int]]:
    """The gaps as they are drawn: those near each other as one, the widest first."""
    if not drawn.gaps:
        return []
    return sorted(gathered(drawn.gaps, whole_width(drawn) * NARROW), key=lambda gap: -gap[2])[:MOST_BANDS]


def wide(drawn: Strokes) -> list[tuple[Any, Any, int, int]]:
    """The widest of them, which are drawn as bands, or one for a while that has nearly all; others are marks below."""
    some = bands(drawn)
    own = of_a_while(drawn.gaps, whole_width(drawn)) if len(some) > WIDE_BANDS else []
    return [(own[0][0], own[-1][1], sum(gap[2] for gap in own), len(own))] if own else some[:WIDE_BANDS]


def of_a_while(gaps: Sequence[tuple[Any, Any, int]], whole: Any) -> list[tuple[Any, Any, int]]:
    """The gaps, close to each other and within half of the whole time, that have nearly all missing IDs; or none."""
    groups, missing = list[list[tuple[Any, Any, int]]](), sum(gap[2] for gap in gaps)
    for gap in sorted(gaps, key=lambda gap: gap[:2]):
        if groups and gap[0] - groups[-1][-1][1] <= whole * CLOSE:
            groups[-1].append(gap)
        else:
            groups.append([gap])
    for group in groups:
        if sum(gap[2] for gap in group) >= NEARLY_ALL * missing and 2 * (group[-1][1] - group[0][0]) <= whole:
            return group
    return []


def in_sight(drawn: Strokes, begin: Any, end: Any) -> tuple[Any, Any]:
    """The ends of a gap, or of the part of it that is in the picture."""
    left, right = drawn.sight
    return begin if left is None else max(begin, left), end if right is None else min(end, right)


def labelled(drawn: Strokes) -> list[tuple[Any, Any, int, int]]:
    """The bands whose numbers can be read next to each other, the widest first."""
    apart, labels, middles = whole_width(drawn) * LABEL, list[tuple[Any, Any, int, int]](), list[Any]()
    for gap in wide(drawn):
        begin, end = in_sight(drawn, *gap[:2])
        middle = begin + (end - begin) / 2
        if all(abs(middle - place) >= apart for place in middles):
            labels.append(gap)
            middles.append(middle)
    return labels


def room(low: float, high: float) -> list[float]:
    """The ends of an axis around values, with a little room."""
    more = max(1.0, 0.06 * (high - low))
    return [low - more, high + more]


def gap_text(ids: int, count: int, words: Words) -> str:
    """How many IDs are missing, in one gap or in several that share a label."""
    return words("counters.gap_label" if count == 1 else "counters.gaps_label", n=f"{ids:,}", gaps=f"{count:,}")


def falls(ordered: pd.DataFrame) -> Iterator[tuple[pd.Series, pd.Series, float]]:
    """Where the clock of points in the order of their counter fell most: both points, and by how many seconds."""
    fell = -by_clock(ordered)["clock"].reindex(ordered.index).diff()
    for row in fell[fell >= LEAST_STEP / 1000].nlargest(MOST_STEPS).index:
        at = ordered.index.get_loc(row)
        yield ordered.iloc[at - 1], ordered.iloc[at], fell[row]
