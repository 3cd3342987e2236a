"""What the lines of a log say about a process's months and zone, from the votes of all tasks. Knows no tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from idcore.ids.dating import INPUT_SHARE
from idcore.scan.kernels import clients, find, paired_offsets
from idcore.scan.kernels.clients import AHEAD_BIAS, NO_AHEAD
from idcore.scan.kernels.dates import BORN, DAY, HOUR, MINUTE, MONTH, PREFIX
from idcore.scan.months import Months

SOURCES = {BORN: "born", PREFIX: "prefix"}


@dataclass(frozen=True, slots=True)
class Dated:
    """By key: `edges` cut `spans` (last elapsed, start, length of a month), in the order of elapsed, none where no line
    dates it. `before`: of a process with one month, the elapsed up to which that is it, and start and length of the
    month before, in which later ids are. `zone`: minutes ahead of UTC; `source`: the kind of vote that fixed it, MONTH
    where it is the scan's."""

    edges: np.ndarray
    spans: np.ndarray
    zone: np.ndarray
    source: np.ndarray
    before: np.ndarray


@dataclass(frozen=True, slots=True)
class Whole:
    """What all lines of the input prove: minutes ahead of UTC and by what kind, None where zones differ; the last
    instant in ms, None where no line is dated."""

    ahead: int | None = None
    source: int = MONTH
    latest: int | None = None


SUMMARY_COLUMNS = 3  # kind, minutes ahead of UTC, ids; or LATEST, 0, ms
_LATEST = -1


def summary(votes: np.ndarray, months: Months) -> np.ndarray:
    """What the votes of one task say of the whole input."""
    packed, ids, high = (votes[:, column].astype(np.int64) for column in (3, 4, 6))
    code = votes[:, 2] >> find.CODE_SHIFT
    client, little = code == find.CODE_CLIENT, code == find.CODE_LE
    kind, start = packed & 3, (packed >> 2) * MINUTE
    latest = int(np.where(client, high, start + high).max(initial=0))
    month = np.searchsorted(months.calendar[:, 4], start + 14 * HOUR, side="right") - 1
    ahead = (months.calendar[month, 4] - start) // MINUTE
    # relatives of the Go client count from the month in UTC, wherever their host is
    universal = (votes[:, 2] & find.WORD == 0) & (ahead == 0)
    zoned = ~client & ~little & (kind != MONTH) & ~universal
    (kinds, zones), sums, *_ = _sums(ids[zoned], kind[zoned], ahead[zoned])
    rows = np.column_stack([kinds, zones, sums])
    return np.vstack([rows, [[_LATEST, 0, latest]]]).astype(np.int64)


def whole(summaries: list[np.ndarray], zone_source: str) -> Whole:
    """The summaries of all tasks as one."""
    if not summaries:
        return Whole()
    rows = np.concatenate(summaries)
    latest = int(rows[rows[:, 0] == _LATEST, 2].max())
    rows = rows[rows[:, 0] != _LATEST]
    if not len(rows):
        return Whole(latest=latest)
    (zones,), sums, *_ = _sums(rows[:, 2], rows[:, 1])
    usual = int(zones[np.lexsort((zones, -sums))[0]])
    if sums.max() < INPUT_SHARE.get(zone_source, 1.0) * sums.sum():
        return Whole(latest=latest)
    return Whole(usual, int(rows[rows[:, 1] == usual, 0].min()), latest)


def of_clients(words: np.ndarray, votes: np.ndarray, until: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By 5.x client: minutes that its seconds are ahead of UTC (NO_AHEAD where no line shows them), by which kind of
    vote, and until when it made ids: an hour after the last line with one, or `until` where no line has one."""
    keys = len(words)
    ahead, source, last = np.full(keys, NO_AHEAD), np.full(keys, MONTH), np.full(keys, until)
    row = np.empty(len(votes), np.int64)
    own = np.ascontiguousarray(votes[:, :3])
    own[:, 2] &= ~clients.LETTERS
    paired_offsets.rows_of(words, own, row)
    known = row >= 0
    row, packed, ids, high = row[known], *(votes[known, column].astype(np.int64) for column in (3, 4, 6))
    if not len(row):
        return ahead, source, last
    seen = np.full(keys, _NEVER)
    np.maximum.at(seen, row, high)
    last = np.where(seen > _NEVER, seen + HOUR, last)
    kind, minutes = packed & 3, (packed >> 2) - AHEAD_BIAS
    shown = minutes != NO_AHEAD
    row, kind, minutes, ids = row[shown], kind[shown], minutes[shown], ids[shown]
    np.minimum.at(source, row, kind)
    best = kind == source[row]
    (one, value), sums, *_ = _sums(ids[best], row[best], minutes[best])
    order = np.lexsort((value, np.abs(value), -sums, one))
    first = order[_firsts(one[order])] if len(order) else order
    ahead[one[first]] = value[first]
    source[one[first]] = np.minimum(source[one[first]], PREFIX)
    return ahead, source, last


_NEVER = -(1 << 62)


def date(words: np.ndarray, votes: np.ndarray, months: Months, known_of_all: Whole) -> Dated:
    """The months of each key. `votes`: words of a key, start (minute << 2 | kind), ids, least and greatest elapsed."""
    keys = len(words)
    little = (words[:, 2] >> find.CODE_SHIFT) == find.CODE_LE
    usual, proof = (0, MONTH) if known_of_all.ahead is None else (known_of_all.ahead, known_of_all.source)
    zone, source = np.full(keys, usual), np.where(little, MONTH, proof)
    row = np.empty(len(votes), np.int64)
    paired_offsets.rows_of(words, np.ascontiguousarray(votes[:, :3]), row)
    known = row >= 0
    row, packed, ids, low, high = row[known], *(votes[known, column].astype(np.int64) for column in range(3, 7))
    if not len(row):
        return Dated(np.zeros(keys + 1, np.int64), np.zeros((0, 3), np.int64), zone, source, _none_before(keys))
    (row, packed), sums, order, edge = _sums(ids, row, packed)
    ids, low, high = sums, np.minimum.reduceat(low[order], edge), np.maximum.reduceat(high[order], edge)
    calendar = months.calendar
    kind, start = packed & 3, (packed >> 2) * MINUTE
    early = np.where(little[row], DAY + HOUR, 0)
    month = np.searchsorted(calendar[:, 4], start + early + 14 * HOUR, side="right") - 1
    early = np.where(little[row], DAY, 0)
    ahead = (calendar[month, 4] - start - early) // MINUTE

    # the zone: what most ids of the best kind say, then the least
    best = np.full(keys, MONTH)
    np.minimum.at(best, row, kind)
    fixed = kind == best[row]
    one, weight, *_ = _sums(ids[fixed], row[fixed], ahead[fixed])
    order = np.lexsort((one[1], -weight, one[0]))
    first = order[_firsts(one[0][order])]
    zone[one[0][first]] = one[1][first]
    open_ = (best == MONTH) & ~little & (proof != MONTH)
    zone[open_] = usual
    source = np.where(open_, proof, best)
    fixed &= ~open_[row]

    # the start of each month: what most ids of the best kind say, else as the zone has it
    column = np.where(little[row], 2, 0)
    own_start = calendar[month, column]
    is_own = np.zeros(keys, np.bool_)
    is_own[row[fixed & (ahead == zone[row]) & (own_start == start)]] = True
    reckoned = np.where(is_own[row] | little[row], own_start, calendar[month, 4] - early - zone[row] * MINUTE)
    order = np.lexsort((start, -ids, ~fixed, month, row))
    first = _firsts(row[order], month[order])
    edge = np.flatnonzero(first)
    chosen = order[edge]
    starts = np.where(fixed[chosen], start[chosen], reckoned[chosen])
    row_, month_ = row[chosen], month[chosen]
    weights = np.add.reduceat(ids[order], edge)
    lows, highs = np.minimum.reduceat(low[order], edge), np.maximum.reduceat(high[order], edge)
    lengths = np.where(little[row_], calendar[month_, 0] + calendar[month_, 1] - starts, calendar[month_, 1])

    # months of one process must lie apart in elapsed; where they do not, the one with most ids stands for all
    order = np.lexsort((lows, row_))
    row_, month_, starts, lengths, weights, lows, highs = (
        column[order] for column in (row_, month_, starts, lengths, weights, lows, highs)
    )
    meets = np.zeros(keys, np.bool_)
    follows = row_[1:] == row_[:-1]
    meets[row_[1:][follows & (lows[1:] <= highs[:-1])]] = True
    order = np.lexsort((starts, -weights, row_))
    kept = ~meets[row_]
    kept[order[_firsts(row_[order])]] = True
    row_, month_, starts, lengths, lows, highs = (
        column[kept] for column in (row_, month_, starts, lengths, lows, highs)
    )
    until = np.full(len(row_), 1 << 62)
    follows = np.flatnonzero(row_[1:] == row_[:-1])
    until[follows] = (highs[follows] + lows[follows + 1]) // 2
    order = np.lexsort((starts, row_))
    follows = np.flatnonzero((row_[order[1:]] == row_[order[:-1]]) & ~little[row_[order[1:]]])
    here, behind = order[follows], order[follows + 1]
    lengths[here] = np.minimum(lengths[here], starts[behind] - starts[here])
    edges = np.searchsorted(row_, np.arange(keys + 1))
    source[little] = MONTH  # its hour is left to chance, and says nothing of a zone
    single = np.flatnonzero(np.diff(edges) == 1)
    place = edges[single]
    earlier = np.maximum(month_[place] - 1, 0)
    begun = np.where(
        is_own[single] | little[single],
        calendar[earlier, np.where(little[single], 2, 0)],
        calendar[earlier, 4] - zone[single] * MINUTE,
    )
    last = months.now if known_of_all.latest is None else min(months.now, known_of_all.latest + DAY)
    before = _none_before(keys)
    before[single, 0] = np.maximum(highs[place], last - starts[place])
    before[single, 1], before[single, 2] = begun, calendar[earlier, np.where(little[single], 3, 1)]
    return Dated(edges, np.column_stack([until, starts, lengths]), zone, source, before)


def _none_before(keys: int) -> np.ndarray:
    return np.tile(np.array([1 << 62, 0, 0], np.int64), (keys, 1))


def _firsts(*columns: np.ndarray) -> np.ndarray:
    """True where sorted columns change."""
    first = np.ones(len(columns[0]), np.bool_)
    first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return first


def _sums(
    weights: np.ndarray, *columns: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Different rows of the columns, the sum of the weights of each, the order of all rows, and where each begins."""
    order = np.lexsort(columns[::-1])
    edge = np.flatnonzero(_firsts(*(column[order] for column in columns)))
    return tuple(column[order][edge] for column in columns), np.add.reduceat(weights[order], edge), order, edge
