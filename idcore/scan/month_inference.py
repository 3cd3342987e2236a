"""What the lines of a log say about a process's months and zone, from the votes of all tasks. Reads no tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta, timezone

import numpy as np

from idcore.base.layout import LAYOUTS
from idcore.ids.clock import NO_TIME
from idcore.ids.dating import INPUT_SHARE
from idcore.ids.line_time import begins_at_noon
from idcore.kernels import clients, codes, find, paired_offsets
from idcore.kernels.clients import AHEAD_BIAS, NO_AHEAD
from idcore.kernels.dates import (
    BORN,
    DAY,
    HOUR,
    KIND,
    KIND_BITS,
    LENGTH,
    LITTLE_START,
    MINUTE,
    MONTH,
    PREFIX,
    START,
    UTC_START,
    YEAR,
)
from idcore.scan.months import Months

SOURCES = {BORN: "born", PREFIX: "prefix"}


@dataclass(frozen=True, slots=True)
class Dated:
    """The months in which each key generated ids; a key is a process or a client.

    The key in row `k` has `spans[edges[k] : edges[k + 1]]`, none if no line dates it. A span is a month: the last
    elapsed that belongs to it, its start and its length. `before` is for a process with a single month: an elapsed
    beyond `before[k, 0]` belongs to the month before, whose start and length follow. `after[k]` has the month after
    it, for an elapsed of at most `after[k, 0]`, if `kernels.merge.goes_on` says so; behind its start and length are the
    least and the greatest elapsed that lines date. `zone` is in minutes ahead of UTC,
    `source` the kind of vote that fixed it: MONTH if it is the scan's zone. `assumed`: no line of the key names a year.
    `mixed`: its lines show several months whose elapsed overlap, so no ID tells to which month it belongs.
    """

    edges: np.ndarray
    spans: np.ndarray
    zone: np.ndarray
    source: np.ndarray
    before: np.ndarray
    after: np.ndarray
    assumed: np.ndarray
    mixed: np.ndarray


@dataclass(frozen=True, slots=True)
class InputEvidence:
    """What all lines of the input prove together.

    `ahead`: minutes ahead of UTC, None where zones differ, and `source`: the kind of vote that says so. `latest`: the
    last instant in ms, None where no line is dated. `texts`: for each log, in the order of numbers, its number and the
    first and last instant in it that lines with a year prove.
    """

    ahead: int | None = None
    source: int = MONTH
    latest: int | None = None
    texts: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.int64))

    def within(self, texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Between which instants lines with a year are in each text, with a day on either side."""
        place = np.searchsorted(self.texts[:, 0], texts)
        place = np.where(place < len(self.texts), place, 0)
        known = self.texts[place] if len(self.texts) else np.full((len(texts), 3), NO_FIRST)
        first = np.where((known[:, 0] == texts) & (known[:, 1] < NO_FIRST), known[:, 1] - DAY, NO_FIRST)
        return first, known[:, 2] + DAY

    @property
    def within_all(self) -> tuple[int, int]:
        """The same of all texts together."""
        first = int(self.texts[:, 1].min(initial=NO_FIRST))
        return (first if first == NO_FIRST else first - DAY), int(self.texts[:, 2].max(initial=0)) + DAY


# kind, minutes ahead of UTC, ids; or FIRST or LATEST, text, ms; or of lines without a year LATEST_OF_A_YEAR, 0, ms
SUMMARY_COLUMNS = 3
LATEST, LATEST_OF_A_YEAR, FIRST = -1, -2, -3
NO_FIRST = 1 << 62
NO_TEXT = 0  # of moments that no text asks for: of several together


def as_signed(text: int) -> int:
    """The number of a text as int64, the type that kernels have for it."""
    return text - (1 << 64) if text >> 63 else text


def moments_of(text: int, first: int, last: int) -> np.ndarray:
    """Rows of a summary: the first and the last moment that lines with a year prove in a text."""
    return np.array([[FIRST, text, first], [LATEST, text, last]], np.int64)


def folded_summaries(rows: np.ndarray) -> np.ndarray:
    """Merges summaries: sums the ids of equal zones, keeps the first and the last moment of each text."""
    (kind, of), _, order, edge = _sums(rows[:, 2], rows[:, 0], rows[:, 1])
    values = rows[order, 2]
    value = np.where(kind == FIRST, np.minimum.reduceat(values, edge), np.maximum.reduceat(values, edge))
    return np.column_stack([kind, of, np.where(kind < 0, value, np.add.reduceat(values, edge))])


def summary(votes: np.ndarray, months: Months) -> np.ndarray:
    """The rows, of `SUMMARY_COLUMNS`, in which one task says what its votes prove of the whole input."""
    packed, ids, _, high = (votes[:, column].astype(np.int64) for column in range(3, 7))
    client, little = codes.are(votes, codes.CLIENTS), codes.are(votes, codes.EARLY)
    kind, start = packed & KIND, (packed >> KIND_BITS) * MINUTE
    latest = [[LATEST_OF_A_YEAR, 0, (start + high)[~client & (kind >= YEAR)].max(initial=0)]]
    month = np.searchsorted(months.calendar[:, 4], start + 14 * HOUR, side="right") - 1
    ahead = (months.calendar[month, 4] - start) // MINUTE
    noon = ~client & ~little & (kind < MONTH)
    ahead[noon] = _named_noon(votes[noon], start[noon], ahead[noon], months)
    # relatives of the Go client count from the month in UTC, wherever their host is
    universal = (votes[:, 2] & find.WORD == 0) & (ahead == 0)
    zoned = ~client & ~little & (kind < MONTH) & ~universal
    (kinds, zones), sums, *_ = _sums(ids[zoned], kind[zoned], ahead[zoned])
    rows = np.column_stack([kinds, zones, sums])
    return np.vstack([rows, latest]).astype(np.int64)


def input_evidence_of(summaries: np.ndarray, zone_source: str) -> InputEvidence:
    """The summaries of all tasks as one."""
    if not len(summaries):
        return InputEvidence()
    rows = folded_summaries(summaries)
    firsts, lasts, years = (rows[rows[:, 0] == kind] for kind in (FIRST, LATEST, LATEST_OF_A_YEAR))
    latest = int(lasts[:, 2].max(initial=0) or years[:, 2].max(initial=0))
    only = InputEvidence(latest=latest, texts=np.column_stack([firsts[:, 1:], lasts[:, 2]]))  # each text has both
    rows = rows[rows[:, 0] >= 0]
    if not len(rows):
        return only
    (zones,), sums, *_ = _sums(rows[:, 2], rows[:, 1])
    usual = int(zones[np.lexsort((zones, -sums))[0]])
    if sums.max() < INPUT_SHARE.get(zone_source, 1.0) * sums.sum():
        return only
    return replace(only, ahead=usual, source=int(rows[rows[:, 1] == usual, 0].min()))


def of_clients(words: np.ndarray, votes: np.ndarray, until: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By 5.x client: minutes that its seconds are ahead of UTC (NO_AHEAD where no line shows them), by which kind of
    vote, and until when it generated ids: an hour after the last line with one, or `until` where no line has one."""
    keys = len(words)
    ahead, source, last = np.full(keys, NO_AHEAD), np.full(keys, MONTH), np.full(keys, until)
    row = np.empty(len(votes), np.int64)
    client_keys = np.ascontiguousarray(votes[:, :3])
    client_keys[:, 2] &= ~clients.LETTERS
    paired_offsets.rows_of(words, client_keys, row)
    known = row >= 0
    row, packed, ids, high = row[known], *(votes[known, column].astype(np.int64) for column in (3, 4, 6))
    if not len(row):
        return ahead, source, last
    seen = np.full(keys, NO_TIME)
    np.maximum.at(seen, row, high)
    last = np.where(seen > NO_TIME, seen + HOUR, last)
    kind, minutes = packed & KIND, (packed >> KIND_BITS) - AHEAD_BIAS
    shown = minutes != NO_AHEAD
    row, kind, minutes, ids = row[shown], kind[shown], minutes[shown], ids[shown]
    np.minimum.at(source, row, kind)
    best = kind == source[row]
    (one, value), sums, *_ = _sums(ids[best], row[best], minutes[best])
    order = np.lexsort((value, np.abs(value), -sums, one))
    first = order[_firsts(one[order])] if len(order) else order
    ahead[one[first]] = value[first]
    return ahead, source, last


@dataclass(frozen=True, slots=True)
class _Votes:
    """Votes as columns, one row for each process, start and kind; `month` is that row of the calendar, `ahead` the
    minutes by which its start is ahead of UTC's."""

    row: np.ndarray
    kind: np.ndarray
    start: np.ndarray
    month: np.ndarray
    ahead: np.ndarray
    ids: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, slots=True)
class _Spans:
    """Months of processes: where each begins, its length, least and greatest elapsed of its ids, and how many."""

    row: np.ndarray
    month: np.ndarray
    start: np.ndarray
    length: np.ndarray
    ids: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def take(self, chosen: np.ndarray) -> _Spans:
        return _Spans(*(getattr(self, name)[chosen] for name in self.__slots__))


def date(words: np.ndarray, votes: np.ndarray, months: Months, input_evidence: InputEvidence) -> Dated:
    """The months of each key. `votes`: words of a key, start and kind, ids, least and greatest elapsed."""
    keys = len(words)
    little = codes.are(words, codes.EARLY)
    votes_of_keys = _votes_of(words, votes, little, months.calendar, input_evidence)
    votes_of_keys, several = _of_first_month(_less_refuted(votes_of_keys), keys)
    votes_of_keys, assumed = _less_assumed(votes_of_keys, keys)
    zone, source, fixed = _zones(votes_of_keys, little, input_evidence)
    if not len(votes_of_keys.row):
        none = np.zeros(keys + 1, np.int64), np.zeros((0, 3), np.int64)
        return Dated(*none, zone, source, _none_before(keys), _none_after(keys), assumed, several)
    spans, is_own = _spans_of(votes_of_keys, fixed, zone, little, months.calendar)
    spans, mixed = _apart(spans, keys)
    mixed |= several
    until = np.full(len(spans.row), 1 << 62)
    follows = np.flatnonzero(spans.row[1:] == spans.row[:-1])
    until[follows] = (spans.high[follows] + spans.low[follows + 1]) // 2
    length = _cut_lengths(spans, little)
    edges = np.searchsorted(spans.row, np.arange(keys + 1))
    source[little] = MONTH  # its hour is left to chance, and says nothing of a zone
    single = np.flatnonzero(np.diff(edges) == 1)
    at = edges[single]
    earlier = np.maximum(spans.month[at] - 1, 0)
    column, calendar = np.where(little[single], LITTLE_START, START), months.calendar
    in_zone = calendar[earlier, UTC_START] - zone[single] * MINUTE
    last = months.now if input_evidence.latest is None else min(months.now, input_evidence.latest + DAY)
    before = _none_before(keys)
    before[single, 0] = np.maximum(spans.high[at], last - spans.start[at])
    before[single, 1] = np.where(is_own[single] | little[single], calendar[earlier, column], in_zone)
    before[single, 2] = calendar[earlier, column + 1]
    after = _none_after(keys)
    after[single] = _months_behind(spans.take(at), is_own[single], zone[single], months)
    after[single[little[single] | mixed[single]], 0] = -1
    proved = np.flatnonzero((source != MONTH) & (np.diff(edges) > 0))
    zone[proved] = _named_noon(words[proved], spans.start[edges[proved]], zone[proved], months, input_evidence)
    return Dated(edges, np.column_stack([until, spans.start, length]), zone, source, before, after, assumed, mixed)


def _named_noon(
    words: np.ndarray,
    starts: np.ndarray,
    ahead: np.ndarray,
    months: Months,
    input_evidence: InputEvidence | None = None,
) -> np.ndarray:
    """The minutes ahead of UTC of each key in whose month the midnight is a noon in the scan's zone, or the input's."""
    named, calendar = ahead.copy(), months.calendar
    month = np.searchsorted(calendar[:, UTC_START], starts + 14 * HOUR, side="right") - 1
    noon = calendar[month, START] + DAY // 2 + np.where(calendar[month, 5] <= DAY // 2, calendar[month, 6], 0)
    zones = [(noon, months.zone)]
    if input_evidence is not None and input_evidence.ahead is not None:
        zone = timezone(timedelta(minutes=input_evidence.ahead))
        zones.append((calendar[month, UTC_START] + DAY // 2 - input_evidence.ahead * MINUTE, zone))
    for noons, zone in reversed(zones):
        for at in np.flatnonzero(starts == noons).tolist():
            layout = list(LAYOUTS.values())[int(codes.codes_of(words[at : at + 1])[0]) - 1]
            ip = words[at, :2].astype(">u8").tobytes()[0 if layout.has_ipv6 else 12 :]
            if begins_at_noon(layout, ip, int(words[at, 2] & find.WORD), int(starts[at]), zone):
                named[at] = ahead[at] + DAY // 2 // MINUTE
    return named


def _votes_of(
    words: np.ndarray, votes: np.ndarray, little: np.ndarray, calendar: np.ndarray, input_evidence: InputEvidence
) -> _Votes:
    """The votes for known keys, those of all tasks added up. Those without a year in the one that others leave."""
    row = np.empty(len(votes), np.int64)
    paired_offsets.rows_of(words, np.ascontiguousarray(votes[:, :3]), row)
    known = row >= 0
    row, text = row[known], votes[known, 7].astype(np.int64)
    packed, *figures = (votes[known, column].astype(np.int64) for column in range(3, 7))
    if not len(row):
        return _Votes(*[row] * 8)
    if (packed & KIND == YEAR).any():
        (row, packed, text), figures = _added(figures, row, packed, text)
        packed = _of_one_year(
            np.column_stack([row, text]), packed, figures, calendar, input_evidence.within(text), MONTH
        )
        (row, packed), figures = _added(figures, row, packed)
        packed = _of_own_year(row, packed, figures[2], calendar)
        of_all = (np.full(len(row), bound) for bound in input_evidence.within_all)
        packed = _of_one_year(row[:, None], packed, figures, calendar, of_all, YEAR)
    (row, packed), (ids, low, high) = _added(figures, row, packed)
    start = (packed >> KIND_BITS) * MINUTE
    early = np.where(little[row], DAY, 0)
    within = start + early + np.where(little[row], HOUR, 0) + 14 * HOUR
    month = np.searchsorted(calendar[:, UTC_START], within, side="right") - 1
    return _Votes(
        row, packed & KIND, start, month, (calendar[month, UTC_START] - start - early) // MINUTE, ids, low, high
    )


def _added(figures: Sequence[np.ndarray], *columns: np.ndarray) -> tuple[tuple[np.ndarray, ...], list[np.ndarray]]:
    """Different rows of the columns; of each how many ids, the least and the greatest elapsed."""
    ids, low, high = figures
    of, ids, order, edge = _sums(ids, *columns)
    return of, [ids, np.minimum.reduceat(low[order], edge), np.maximum.reduceat(high[order], edge)]


def _of_one_year(
    groups: np.ndarray,
    packed: np.ndarray,
    figures: Sequence[np.ndarray],
    calendar: np.ndarray,
    within: Iterable[np.ndarray],
    kind: int,
) -> np.ndarray:
    """Votes of lines without a year, in the only one in which all of their group are within others, as such a kind."""
    (_, low, high), (first, last) = figures, within
    votes = _months_of(packed, calendar)
    fit, start = np.zeros(len(packed), np.int64), packed >> KIND_BITS
    for earlier in range(0, int(votes.max(initial=0)) + 1, 12):
        past = np.maximum(votes - earlier, 0)
        begun = calendar[past, START]
        inside = (votes >= earlier) & (first <= begun + low) & (begun + high <= last) & (high < calendar[past, LENGTH])
        fit += inside
        start = np.where(inside, begun // MINUTE, start)
    _, group = np.unique(groups, axis=0, return_inverse=True)
    yearless = packed & KIND == YEAR
    settled = np.ones(int(group.max(initial=0)) + 1, np.bool_)
    settled[group[yearless & (fit != 1)]] = False
    return np.where(yearless & settled[group], start << KIND_BITS | kind, packed)


def _of_own_year(row: np.ndarray, packed: np.ndarray, high: np.ndarray, calendar: np.ndarray) -> np.ndarray:
    """Votes of lines without a year, in the one nearest to the last month that other lines of their process show."""
    month, kind = _months_of(packed, calendar), packed & KIND
    known = kind < YEAR
    of_rows = np.full(int(row.max()) + 1, -1)
    np.maximum.at(of_rows, row[known], month[known])
    last = of_rows[row]
    nearest = np.maximum(np.minimum(month, last + (month - last + 6) % 12 - 6), 0)
    fits = (kind == YEAR) & (last >= 0) & (high < calendar[nearest, LENGTH])
    return np.where(fits, calendar[nearest, START] // MINUTE << KIND_BITS | MONTH, packed)


def _months_of(packed: np.ndarray, calendar: np.ndarray) -> np.ndarray:
    """The rows of the calendar of votes."""
    return np.searchsorted(calendar[:, UTC_START], (packed >> KIND_BITS) * MINUTE + 14 * HOUR, side="right") - 1


def _less_refuted(votes: _Votes) -> _Votes:
    """The votes without those of a time beside an ID that its own bornTimestamp, elsewhere, puts in another month.

    An ID has one month, and no other of its process has its elapsed. IDs of more than a day are of a log that goes on
    for months, where a line names an old one once more.
    """
    row, month, born = votes.row, votes.month, votes.kind == BORN
    if not born.any() or born.all():
        return votes
    keys = int(row.max()) + 1
    has_born, first, last = np.zeros(keys, np.bool_), np.full(keys, 1 << 62), np.full(keys, -1)
    has_born[row[born]] = True
    np.minimum.at(first, row, month)
    np.maximum.at(last, row, month)
    some = np.flatnonzero(has_born[row] & (first[row] < last[row]))  # few processes have several months
    refuted = np.zeros(len(row), np.bool_)
    for elapsed in (votes.low, votes.high) if len(some) else ():
        _, same = np.unique(np.column_stack([row[some], elapsed[some]]), axis=0, return_inverse=True)
        proved = np.full(len(some), -1)
        proved[same[born[some]]] = month[some[born[some]]]
        refuted[some] |= ~born[some] & (proved[same] >= 0) & (proved[same] != month[some])
    refuted &= votes.high - votes.low <= DAY
    return _Votes(*(getattr(votes, name)[~refuted] for name in votes.__slots__))


def _of_first_month(votes: _Votes, keys: int) -> tuple[_Votes, np.ndarray]:
    """The votes without those of later lines that have the same ID, and of which keys the month stays open.

    As `idcore.ids.dating` has it.
    """
    row, month, kind = votes.row, votes.month, votes.kind
    refuted, is_open = np.zeros(len(row), np.bool_), np.zeros(keys, np.bool_)
    first, last = np.full(keys, 1 << 62), np.full(keys, -1)
    np.minimum.at(first, row, month)
    np.maximum.at(last, row, month)
    some = np.flatnonzero((first[row] < last[row]) & (kind < YEAR) & (votes.high - votes.low <= DAY))
    for elapsed in (votes.low, votes.high) if len(some) else ():
        _, same = np.unique(np.column_stack([row[some], elapsed[some]]), axis=0, return_inverse=True)
        least = np.full(len(some), 1 << 62)
        np.minimum.at(least, same, month[some])
        later = month[some] > least[same]
        has_later = np.zeros(len(some), np.bool_)
        has_later[same[later]] = True
        doubtful = has_later[same] & np.where(later, kind[some] != MONTH, kind[some] == MONTH)
        is_open[row[some[doubtful]]] = True
        refuted[some[later]] = True
    return _Votes(*(getattr(votes, name)[~refuted] for name in votes.__slots__)), is_open


def _less_assumed(votes: _Votes, keys: int) -> tuple[_Votes, np.ndarray]:
    """The votes without those of an assumed month or year where a key has better; and which keys have only such."""
    best = np.full(keys, -1)
    sure = np.maximum(votes.kind, MONTH)
    np.maximum.at(best, votes.row, KIND - sure)
    kept = KIND - sure == best[votes.row]
    some = _Votes(*(getattr(votes, name)[kept] for name in votes.__slots__))
    return replace(some, kind=np.minimum(some.kind, MONTH)), (best >= 0) & (best < KIND - MONTH)


def _zones(
    votes: _Votes, little: np.ndarray, input_evidence: InputEvidence
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The zone of each key, what most ids of the best kind say, then the least; by which kind; which votes fix it."""
    keys = len(little)
    usual, proof = (0, MONTH) if input_evidence.ahead is None else (input_evidence.ahead, input_evidence.source)
    zone = np.full(keys, usual)
    if not len(votes.row):
        return zone, np.where(little, MONTH, proof), np.zeros(0, np.bool_)
    best = np.full(keys, MONTH)
    np.minimum.at(best, votes.row, votes.kind)
    fixed = votes.kind == best[votes.row]
    one, weight, *_ = _sums(votes.ids[fixed], votes.row[fixed], votes.ahead[fixed])
    order = np.lexsort((one[1], -weight, one[0]))
    first = order[_firsts(one[0][order])]
    zone[one[0][first]] = one[1][first]
    open_ = (best == MONTH) & ~little & (proof != MONTH)
    zone[open_] = usual
    return zone, np.where(open_, proof, best), fixed & ~open_[votes.row]


def _spans_of(
    votes: _Votes, fixed: np.ndarray, zone: np.ndarray, little: np.ndarray, calendar: np.ndarray
) -> tuple[_Spans, np.ndarray]:
    """The start of each month: what most ids of the best kind say, else as the zone has it. And which keys have a month
    that begins as in the scan's zone."""
    row, month, start = votes.row, votes.month, votes.start
    own_start = calendar[month, np.where(little[row], LITTLE_START, START)]
    is_own = np.zeros(len(little), np.bool_)
    is_own[row[fixed & (votes.ahead == zone[row]) & (own_start == start)]] = True
    in_zone = calendar[month, UTC_START] - np.where(little[row], DAY, 0) - zone[row] * MINUTE
    reckoned = np.where(is_own[row] | little[row], own_start, in_zone)
    order = np.lexsort((start, -votes.ids, ~fixed, month, row))
    edge = np.flatnonzero(_firsts(row[order], month[order]))
    chosen = order[edge]
    starts = np.where(fixed[chosen], start[chosen], reckoned[chosen])
    row, month = row[chosen], month[chosen]
    to_end = calendar[month, START] + calendar[month, LENGTH] - starts
    return _Spans(
        row=row,
        month=month,
        start=starts,
        length=np.where(little[row], to_end, calendar[month, LENGTH]),
        ids=np.add.reduceat(votes.ids[order], edge),
        low=np.minimum.reduceat(votes.low[order], edge),
        high=np.maximum.reduceat(votes.high[order], edge),
    ), is_own


def _apart(spans: _Spans, keys: int) -> tuple[_Spans, np.ndarray]:
    """Months of one process must be apart in elapsed; where they are not, the one with most ids counts for all.

    Also of which keys they are not.
    """
    spans = spans.take(np.lexsort((spans.low, spans.row)))
    meets = np.zeros(keys, np.bool_)
    follows = spans.row[1:] == spans.row[:-1]
    meets[spans.row[1:][follows & (spans.low[1:] <= spans.high[:-1])]] = True
    order = np.lexsort((spans.start, -spans.ids, spans.row))
    kept = ~meets[spans.row]
    kept[order[_firsts(spans.row[order])]] = True
    return spans.take(kept), meets


def _cut_lengths(spans: _Spans, little: np.ndarray) -> np.ndarray:
    """The lengths of months, each cut where the next of the process begins."""
    row, start, length = spans.row, spans.start, spans.length.copy()
    order = np.lexsort((start, row))
    follows = np.flatnonzero((row[order[1:]] == row[order[:-1]]) & ~little[row[order[1:]]])
    here, behind = order[follows], order[follows + 1]
    length[here] = np.minimum(length[here], start[behind] - start[here])
    return length


def _none_before(keys: int) -> np.ndarray:
    return np.tile(np.array([1 << 62, 0, 0], np.int64), (keys, 1))


def _months_behind(spans: _Spans, is_own: np.ndarray, zone: np.ndarray, months: Months) -> np.ndarray:
    """Rows of `Dated.after` for the only months of processes: ids are nearer to what lines date if in the next one."""
    calendar = months.calendar
    later = np.minimum(spans.month + 1, len(calendar) - 1)
    start = np.where(is_own, calendar[later, START], calendar[later, UTC_START] - zone * MINUTE)
    nearer = (spans.low + spans.high - (start - spans.start) - 1) // 2
    until = np.minimum.reduce([months.now - start, nearer, spans.low - 1])
    until = np.where(later > spans.month, until, -1)
    return np.column_stack([until, start, calendar[later, LENGTH], spans.low, spans.high])


def _none_after(keys: int) -> np.ndarray:
    return np.tile(np.array([-1, 0, 0, 0, 0], np.int64), (keys, 1))


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
