"""What is said of a counter next to its picture: its sawtooth small, its widest gap as squares, its next wrap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from idcore.ids.rules import COUNTER_WRAP
from idcore.presentation.triage.processes import is_countable
from idcore.presentation.triage.strokes import by_clock, clipped, is_dated, of_a_while, strokes
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange

SQUARES = 96  # of a gap and its surroundings
LINE = 5.0  # percent of the height: the line of a small sawtooth
MOST_CORNERS = 240
LEAST_IDS = 100  # from which a rate says when the next wrap is
LONGEST = timedelta(days=60)
FEWEST_GAPS = 5  # of a time that has most of them
LEAST_PART = 0.2  # of the span of all processes, that one needs to be shown along all of it
LEAST_SEEN = 0.05  # of it, in a small picture


@dataclass(frozen=True, slots=True)
class Gap:
    """The widest gap of a process: its counters, the instants on both sides, and the counter around it as squares.

    `squares`: which part of each is missing, from 0 to 1; each is `each` counters.
    """

    missing: int
    first: int
    last: int
    begins: datetime | None
    ends: datetime | None
    squares: tuple[float, ...]
    each: float


def widest_gap(points: pd.DataFrame) -> Gap | None:
    """Where most IDs are missing in a row; None where none is."""
    if points.empty or not (points["missing_before"] > 0).any():
        return None
    ordered = points.sort_values(["track", "chain", "position"]).reset_index(drop=True)
    at = int(ordered["missing_before"].to_numpy().argmax())
    row, before = ordered.iloc[at], ordered.iloc[at - 1] if at else None
    missing, position = int(row["missing_before"]), int(row["position"])
    chain = ordered[(ordered["track"] == row["track"]) & (ordered["chain"] == row["chain"])]
    low, high = int(chain["position"].min()), int(chain["position"].max()) + 1
    begin, end = position - missing, position  # the gap: from begin up to end
    around = max(missing // 2, SQUARES // 4)
    left, right = max(low, begin - around), min(high, end + around)
    lost = chain[chain["missing_before"] > 0]
    holes = [(int(p) - int(m), int(p)) for p, m in zip(lost["position"], lost["missing_before"], strict=True)]
    number = min(SQUARES, right - left)
    each = (right - left) / number
    squares = []
    for place in range(number):
        a, b = left + place * each, left + (place + 1) * each
        squares.append(sum(max(0.0, min(b, y) - max(a, x)) for x, y in holes) / each)
    dated = before is not None and pd.notna(row["sent_at"]) and pd.notna(before["sent_at"])
    return Gap(
        missing,
        (int(row["counter"]) - missing) % COUNTER_WRAP,
        (int(row["counter"]) - 1) % COUNTER_WRAP,
        before["sent_at"].to_pydatetime() if dated and before is not None else None,
        row["sent_at"].to_pydatetime() if dated else None,
        tuple(min(1.0, round(part, 3)) for part in squares),
        each,
    )


@dataclass(frozen=True, slots=True)
class ManyGaps:
    """A time in which a process has most of its missing IDs: how many, of how many generated then, in how many gaps,
    how many in a row at the most."""

    missing: int
    produced: int
    gaps: int
    widest: int
    begins: datetime
    ends: datetime


def many_gaps(points: pd.DataFrame, missing: int) -> ManyGaps | None:
    """The while in which one counter has nearly all its missing IDs.

    None where there is none, where one gap has most of them, or where the points, of which a long life has some, do
    not have all that are `missing`.
    """
    if (points["missing_before"] > 0).sum() < FEWEST_GAPS or points["sent_at"].isna().any():
        return None
    if points[["track", "chain"]].nunique().max() > 1:
        return None
    ordered = points.sort_values("position")
    lost, sent, position = ordered["missing_before"].tolist(), ordered["sent_at"].tolist(), ordered["position"].tolist()
    places = {(sent[at - 1], sent[at], lost[at]): at for at in range(1, len(lost)) if lost[at] > 0}
    if len(places) < FEWEST_GAPS or sum(gap[2] for gap in places) != missing or 2 * max(lost) > missing:
        return None
    gaps = of_a_while([*places], sent[-1] - sent[0])
    if len(gaps) < FEWEST_GAPS:
        return None
    first, last = places[gaps[0]] - 1, places[gaps[-1]]
    of_gaps = [gap[2] for gap in gaps]
    produced, begins, ends = position[last] - position[first], sent[first].to_pydatetime(), sent[last].to_pydatetime()
    return ManyGaps(sum(of_gaps), produced, len(gaps), max(of_gaps), begins, ends)


def next_wrap(row: dict[str, Any]) -> tuple[timedelta, datetime | None] | None:
    """How often a counter wraps at its mean rate, and when it will next; None where few IDs or no rate show it.

    None too of a process that restarted: its mean is over a counter that began again.
    """
    rate = row["rate_per_second"]
    if not is_countable(row) or rate is None or rate != rate or rate <= 0 or row["produced"] < LEAST_IDS:
        return None
    restarted = row.get("chains") is not None and row["chains"] > row["tracks"]
    if row["tracks"] > 1 or restarted or COUNTER_WRAP / rate > LONGEST.total_seconds():
        return None
    every = timedelta(seconds=COUNTER_WRAP / rate)
    last = row["last_sent_at"]
    if pd.isna(last):
        return every, None
    return every, last + timedelta(seconds=(COUNTER_WRAP - int(row["last_counter"])) / rate)


def whole_span(row: Mapping[str, Any], processes: pd.DataFrame) -> tuple[datetime, datetime] | None:
    """From the first ID of all processes to the last, where one that began later, or ended, has a good part of it."""
    begin, end = processes["first_sent_at"].min(), processes["last_sent_at"].max()
    own = row["last_sent_at"] - row["first_sent_at"]
    return (begin, end) if own >= LEAST_PART * (end - begin) else None


def common_span(rows: Sequence[Mapping[Any, Any]]) -> TimeRange:
    """From the first ID of some processes to the last; all times where one has too small a part of it to be seen."""
    spans = [(row["first_sent_at"], row["last_sent_at"]) for row in rows]
    if not spans or any(pd.isna(end) for span in spans for end in span):
        return ALL_TIMES
    begin, end = min(first for first, _ in spans), max(last for _, last in spans)
    shortest = min(last - first for first, last in spans)
    return TimeRange(begin, end) if begin < end and shortest >= LEAST_SEEN * (end - begin) else ALL_TIMES


def outline(points: pd.DataFrame, shown: TimeRange = ALL_TIMES) -> str:
    """The sawtooth of a time range as a thin CSS polygon, in percent; empty where there is no line.

    A line goes on to the next point outside: what is beyond 0 and 100 is not in the box.
    """
    if len(points) < 2:
        return ""
    ordered = by_clock(points)
    seconds = ordered["clock"].tolist()
    drawn, begin, end = strokes(ordered, seconds, seconds), min(seconds), max(seconds)
    if shown and is_dated(points):
        ends = [moment and (moment - points["sent_at"].min()).total_seconds() for moment in (shown.begin, shown.end)]
        drawn = clipped(drawn, *ends)
        begin, end = (known if at is None else at for at, known in zip(ends, (begin, end), strict=True))
    span = end - begin
    if span <= 0:
        return ""
    there: list[tuple[float, float]] = []
    back: list[tuple[float, float]] = []
    for _, x, saw, _ in drawn.lines:
        for part in _parts(x, saw):
            thin = part[:: len(part) // MOST_CORNERS + 1] + part[-1:]
            line = [(100 * (a - begin) / span, (100 - LINE) * (1 - b / COUNTER_WRAP)) for a, b in thin]
            there += [*line, *((a, b + LINE) for a, b in reversed(line)), line[0]]
            back.insert(0, line[0])
    return ", ".join(f"{x:.1f}% {y:.1f}%" for x, y in (*there, *back))


def _parts(x: list[Any], y: list[Any]) -> list[list[tuple[float, float]]]:
    """A line with breaks as its parts."""
    parts: list[list[tuple[float, float]]] = [[]]
    for a, b in zip(x, y, strict=True):
        if a is None:
            parts.append([])
        else:
            parts[-1].append((float(a), float(b)))
    return [part for part in parts if part]
