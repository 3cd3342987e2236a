"""What lines say about months and zones, for the twin: by regular expressions, dicts and lists. It knows no idcore."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tests.scan.other_dates import is_coming, is_day_of, is_of_body, other_of, proved_of
from tests.scan.reading import DAY, EPOCH, Uniq, instant, milliseconds

HOUR = 3_600_000
LINE = 1 << 16
BORN, PREFIX, MONTH, YEAR, ASSUMED = range(5)
DAY_MARK = b"\x00day "  # in front of a time without a year, which an ID proves: so says `other_records`
STORED_MARK = (
    b"\x00stored "  # in front of a store time: ms since 1970, by a clock of the scan's zone where "wall" is behind
)
MOMENT = re.compile(
    rb"(?<!\d)((?:19|20)\d\d)[-/](\d\d)[-/](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    rb"(?:(?: |\xc2\xa0|\xe2\x80\xaf)?((?:[AaPp]\.?(?: |\xc2\xa0)?[Mm](?![A-Za-z0-9_])\.?)|%s))?"
    rb"(\s?(?:Z\b|[+-]\d\d:?\d\d\b|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d\d)?\b|\b(?![+-])))"
    rb"|(?:\+(?:0\d|1[0-4])|-(?:0\d|1[0-2]))(?![\w:.,/+\x80-\xff-]))?"
    % "|".join(["上午", "下午", "午前", "午後", "오전", "오후"]).encode()
)
FORENOONS = [half.encode() for half in ("上午", "午前", "오전")]
BORN_MARK = re.compile(rb"born_?timestamp[^0-9A-Za-z]{1,12}(\d{12,14})(?!\d)", re.IGNORECASE)
ZONES = [*range(-720, 841, 60), -570, -210, -150, 210, 270, 330, 345, 390, 510, 525, 570, 630, 765, 825]
Month = tuple[int, int]


class Vote(NamedTuple):
    """In which month, and in which zone, one occurrence of an id was made."""

    kind: int
    start: int
    elapsed: int


class Span(NamedTuple):
    """A month of a process: the ids up to `until` were made in it."""

    until: int
    start: int
    length: int


@dataclass(frozen=True)
class Dating:
    """What the lines know of one process."""

    spans: list[Span]
    zone: int
    kind: int
    high: int | None = None  # the greatest elapsed that a line dates, where all are of one month
    low: int | None = None  # the least, where its month is not open
    is_own: bool = False
    year_assumed: bool = False
    is_mixed: bool = False


@lru_cache(maxsize=1 << 17)  # each line is asked for by its record, then by each of its IDs
def moment_of(line: bytes) -> tuple[datetime, int | None] | None:
    """The wall time a line opens with, or has elsewhere or in another style, and the minutes its zone is ahead."""
    found = opening_in(line)
    opening = None if found is None else opening_of(found)
    has_second = found is not None and len(line) <= LINE and MOMENT.search(line, found.end()) is not None
    if opening is not None and has_second and not BORN_MARK.search(line):
        wall = milliseconds(opening[0].replace(tzinfo=UTC))
        proved = proved_of(line.decode(errors="replace"), (wall, opening[1]))
        if proved is not None:
            return datetime(1970, 1, 1) + timedelta(milliseconds=proved[0]), proved[1]
    if BORN_MARK.search(line):
        return opening
    if opening is not None:
        text = line.decode(errors="replace") if found is not None and len(line) <= LINE else ""
        front = line[: found.start()].decode(errors="replace") if found is not None else ""
        wall = milliseconds(opening[0].replace(tzinfo=UTC))
        return None if is_day_of(text, front, (wall, opening[1], 1_000, True)) else opening
    text = line.decode(errors="replace")
    other = other_of(text)
    if other is None or is_day_of(text, text, other):
        return None
    return datetime(1970, 1, 1) + timedelta(milliseconds=other[0]), other[1]


def opening_in(line: bytes) -> re.Match[bytes] | None:
    found = MOMENT.search(line, 0, 160)
    if found is None:
        return None
    before, behind = (part.decode(errors="replace") for part in (line[: found.start()], line[found.end() :]))
    return None if is_coming(before) or is_of_body(before, behind) else found


def opening_of(found: re.Match[bytes]) -> tuple[datetime, int | None] | None:
    *numbers, fraction, half, zone = found.groups()
    try:
        year, number, day, hour, minute, second = (int(n) for n in numbers)
        if half and hour <= 12:
            is_fore = half[:1] in b"Aa" or half in FORENOONS
            hour = (0 if hour == 12 else hour) + (0 if is_fore else 12)
        thousandths = int((fraction or b"0").ljust(3, b"0")[:3])
        wall = datetime(year, number, day, hour, minute, second, thousandths * 1000)
    except ValueError:
        return None
    if zone is None:
        return wall, None
    zone = zone.strip()
    if zone[:1] not in b"+-":
        zone = zone[1:] if zone[:1] == b"Z" else zone[3:]
    digits = zone[1:].replace(b":", b"")
    ahead = int(digits[:-2]) * 60 + int(digits[-2:]) if len(digits) > 2 else int(digits or b"0") * 60
    return None if ahead >= 1440 else (wall, -ahead if zone[:1] == b"-" else ahead)


@lru_cache(maxsize=1 << 16)  # each line is around some thirty others
def born_of(line: bytes) -> int | None:
    values = {int(value) for value in BORN_MARK.findall(line)}
    return values.pop() if len(values) == 1 else None


def month_start(month: Month, zone: tzinfo, layout: str = "") -> int:
    """Local midnight; of little-endian ids that of the day before, an hour early without daylight saving."""
    first = datetime(*month, 1)
    if layout != "uniq_v4_le":
        return milliseconds(first.replace(tzinfo=zone))
    day = (first - timedelta(days=1)).replace(tzinfo=zone)
    return milliseconds(day) - (0 if day.dst() else HOUR)


def months_from(newest: Month, count: int) -> list[Month]:
    number = newest[0] * 12 + newest[1] - 1
    return [((number - k) // 12, (number - k) % 12 + 1) for k in range(count)]


def after(month: Month) -> Month:
    return months_from(month, 1)[0] if month[1] < 1 else (month[0] + month[1] // 12, month[1] % 12 + 1)


def length_of(month: Month, zone: tzinfo, layout: str) -> int:
    return month_start(after(month), zone) - month_start(month, zone, layout)


def label(start: int, layout: str) -> tuple[Month, int]:
    """The month that begins at `start` in some zone, and the minutes that zone is ahead."""
    little = layout == "uniq_v4_le"
    start += DAY if little else 0
    late = instant(start + (15 if little else 14) * HOUR)
    month = late.year, late.month
    return month, (month_start(month, UTC) - start) // 60_000


def instant_of(wall: datetime, zone: tzinfo) -> int:
    """A wall time that comes twice, or never, is the later of the two answers."""
    return max(milliseconds(wall.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))


def quarter(begun: int, early: int, late: int) -> int | None:
    """The quarter of an hour that begins so much after or before, at most."""
    found = (begun + early) // 900_000 * 900_000
    return found if begun - found <= late else None


def vote(line: bytes, one: Uniq, zone: tzinfo, now: datetime) -> Vote | None:
    """What one line says about one of its ids; a month after "now", or without a year, only if the id proves it."""
    last = milliseconds(now) + 14 * HOUR
    if line.startswith(STORED_MARK):
        ms, _, is_wall = line[len(STORED_MARK) :].decode().partition(" ")
        wall = datetime(1970, 1, 1) + timedelta(milliseconds=int(ms))
        wall = wall if is_wall else instant(int(ms)).astimezone(zone).replace(tzinfo=None)
        found = vote_of(f"{wall:%Y-%m-%d %H:%M:%S.%f}".encode(), one, zone)
        is_past = instant_of(wall, zone) <= last and one.layout != "uniq_v4_le"
        return found._replace(kind=ASSUMED) if found is not None and is_past else None
    if not line.startswith(DAY_MARK):
        found = vote_of(line, one, zone)
        if found is None or found.kind != MONTH:
            return found
        moment, born = moment_of(line), born_of(line)
        said = born if born is not None or moment is None else instant_of(moment[0], zone_of(moment[1], zone))
        if said is not None and said > last and not is_near(said, found):
            return None
        is_apart = born is not None and born - found.start - found.elapsed > 28 * HOUR
        later = month_start(after(label(found.start, one.layout)[0]), zone) + found.elapsed
        is_ahead = said is not None and later - said <= 72 * HOUR
        return found._replace(kind=ASSUMED) if (is_apart or is_ahead) and one.layout != "uniq_v4_le" else found
    day = datetime.fromisoformat(line[len(DAY_MARK) :].decode())
    for year in range(now.year + 1, 2009, -1):
        try:
            wall = day.replace(year=year)
        except ValueError:
            continue
        if instant_of(wall, zone) <= last:
            found = vote_of(f"{wall:%Y-%m-%d %H:%M:%S.%f}".encode(), one, zone)
            is_of_day = found is not None and one.layout != "uniq_v4_le" and is_near(instant_of(wall, zone), found)
            return found._replace(kind=YEAR) if found is not None and is_of_day else None
    return None


def zone_of(ahead: int | None, zone: tzinfo) -> tzinfo:
    return zone if ahead is None else timezone(timedelta(minutes=ahead))


def is_near(said: int, found: Vote) -> bool:
    return -62_000 <= said - found.elapsed - found.start <= 70_000


def vote_of(line: bytes, one: Uniq, zone: tzinfo) -> Vote | None:
    moment, born = moment_of(line), born_of(line)
    said = None
    if moment is not None:
        wall, ahead = moment
        month = wall.year, wall.month
        said = instant_of(wall, zone if ahead is None else timezone(timedelta(minutes=ahead)))
    if (born is None and said is None) or one.elapsed > 32 * DAY:
        return None
    limit = (born if born is not None else said or 0) + 14 * HOUR
    there = (EPOCH + timedelta(milliseconds=limit)).astimezone(zone)
    near_months = months_from(after((there.year, there.month)), 4)
    zoned = moment is not None and moment[1] is not None
    early, late = (1000, 1000) if born is not None else (2000, 10_000)
    begun = (born if born is not None else said or 0) - one.elapsed
    near = quarter(begun, early, late)
    if one.layout == "uniq_v4_le":
        if near is not None:
            month, ahead_ = label(near, one.layout)
            if -13 * 60 <= ahead_ <= 15 * 60 and month in near_months:
                return Vote(BORN if born is not None else PREFIX if zoned else MONTH, near, one.elapsed)
    elif born is None and moment is not None and moment[1] is not None:
        for its in (zone, timezone(timedelta(minutes=moment[1]))):
            for month in near_months:
                start = month_start(month, its, one.layout)
                if -2000 <= begun - start <= HOUR:
                    return Vote(PREFIX, start, one.elapsed)
    if near is not None and one.layout != "uniq_v4_le" and (born is not None or zoned):
        month, ahead_ = label(near, one.layout)
        if ahead_ in ZONES and month in near_months:
            return Vote(BORN if born is not None else PREFIX, near, one.elapsed)
    for month in near_months[1:]:
        start = month_start(month, zone, one.layout)
        if start + one.elapsed <= limit and one.elapsed < length_of(month, zone, one.layout):
            return Vote(MONTH, start, one.elapsed)
    return None


@dataclass(frozen=True)
class Whole:
    """What all lines of an input prove: minutes ahead, by what kind, and the last instant."""

    zone: int | None = None
    kind: int = MONTH
    latest: int | None = None
    within: tuple[int, int] | None = None  # between which instants lines with a year are, with a day on either side


def whole(votes: dict[tuple[str, str, int, int], list[Vote]], moments: list[int], share: float) -> Whole:
    """`moments`: of lines with ids of 5.x clients."""
    sure = [v.start + v.elapsed for own in votes.values() for v in own if v.kind < YEAR] + moments
    within = (min(sure) - DAY, max(sure) + DAY) if sure else None
    made = sure or [v.start + v.elapsed for own in votes.values() for v in own]
    heads: Counter[int] = Counter()
    kinds: dict[int, int] = {}
    for (layout, _, _, loader), own in votes.items():
        for v in own:
            ahead = label(v.start, layout)[1]
            if layout != "uniq_v4_le" and v.kind < MONTH and (loader, ahead) != (0, 0):
                heads[ahead] += 1
                kinds[ahead] = min(kinds.get(ahead, MONTH), v.kind)
    latest = max(made, default=None)
    if not heads:
        return Whole(latest=latest, within=within)
    ahead = min(heads, key=lambda one: (-heads[one], one))
    if heads[ahead] < share * heads.total():
        return Whole(latest=latest, within=within)
    return Whole(ahead, kinds[ahead], latest, within)


def dating(votes: list[Vote], zone: tzinfo, layout: str, known: Whole) -> Dating | None:
    """The months of one process, from all that its lines say."""
    if not votes:
        return None
    little = layout == "uniq_v4_le"
    votes = with_years(votes, zone, known)
    best = max(min(v.kind for v in votes), MONTH)
    year_assumed = best >= YEAR
    votes = [v._replace(kind=min(v.kind, MONTH)) for v in votes if max(v.kind, MONTH) == best]
    is_open = False
    if not year_assumed:
        votes, is_open = of_first_month(votes, layout)
    best = min(v.kind for v in votes)
    heads = Counter(label(v.start, layout)[1] for v in votes if v.kind == best)
    ahead = min(heads, key=lambda one: (-heads[one], one))
    shown = best
    from_all = best == MONTH and not little and known.zone is not None
    if from_all:
        assert known.zone is not None
        ahead, shown = known.zone, known.kind
    fixed: dict[Month, Counter[int]] = defaultdict(Counter)
    elapsed: dict[Month, list[int]] = defaultdict(list)
    is_own = False
    for v in votes:
        month, its = label(v.start, layout)
        elapsed[month].append(v.elapsed)
        if v.kind == best and not from_all:
            fixed[month][v.start] += 1
            is_own |= its == ahead and v.start == month_start(month, zone, layout)
    spans = []
    for month, seen in elapsed.items():
        if month in fixed:
            start = min(fixed[month], key=lambda one: (-fixed[month][one], one))
        else:
            start = month_start(month, zone if is_own or little else timezone(timedelta(minutes=ahead)), layout)
        length = length_of(month, zone, "")
        if little:
            length += month_start(month, zone) - start
        spans.append((min(seen), max(seen), start, length, len(seen)))
    spans.sort()
    is_mixed = any(b[0] <= a[1] for a, b in pairwise(spans))
    if is_mixed:
        spans = [min(spans, key=lambda one: (-one[4], one[2]))]
    starts = sorted(one[2] for one in spans)
    out = []
    for i, (_, high, start, length, _) in enumerate(spans):
        until = (high + spans[i + 1][0]) // 2 if i + 1 < len(spans) else 1 << 62
        behind = [other for other in starts if other > start and not little]
        out.append(Span(until, start, min([length, *(other - start for other in behind)])))
    last = spans[0][1] if len(spans) == 1 else None
    low = None if is_mixed or is_open or last is None else spans[0][0]
    return Dating(out, ahead, MONTH if little else shown, last, low, is_own, year_assumed, is_mixed or is_open)


def with_years(votes: list[Vote], zone: tzinfo, known: Whole) -> list[Vote]:
    """With those of lines without a year in the only one within all others, else in the one nearest to the last month
    that other lines of the process have, if there are such."""
    days = {v.start for v in votes if v.kind == YEAR}
    if not days or known.within is None:
        return votes
    (first, last), found = known.within, dict[int, int]()
    for start in days:
        low, high = (end(v.elapsed for v in votes if (v.kind, v.start) == (YEAR, start)) for end in (min, max))
        (year, number), _ = label(start, "")
        starts = {past: month_start((past, number), zone) for past in range(2010, year + 1)}
        lengths = {past: length_of((past, number), zone, "") for past in starts}
        fits = [at for past, at in starts.items() if first <= at + low and at + high <= last and high < lengths[past]]
        if len(fits) == 1:
            found[start] = fits[0]
    if len(found) < len(days):
        others = [label(v.start, "")[0] for v in votes if v.kind < YEAR]
        return nearest_years(votes, max(others), zone) if others else votes
    return [v._replace(kind=MONTH, start=found[v.start]) if v.kind == YEAR else v for v in votes]


def nearest_years(votes: list[Vote], last: Month, zone: tzinfo) -> list[Vote]:
    """With those of lines without a year in the one nearest to a month, where it has room for them."""
    found = []
    for v in votes:
        (year, number), _ = label(v.start, "")
        near = min(
            ((past, number) for past in range(2010, year + 1)), key=lambda one: (abs(gap(one, last)), gap(one, last))
        )
        high = max(one.elapsed for one in votes if (one.kind, one.start) == (v.kind, v.start))
        if v.kind == YEAR and high < length_of(near, zone, ""):
            v = v._replace(kind=MONTH, start=month_start(near, zone))
        found.append(v)
    return found


def gap(month: Month, last: Month) -> int:
    return (month[0] - last[0]) * 12 + month[1] - last[1]


def of_first_month(votes: list[Vote], layout: str) -> tuple[list[Vote], bool]:
    """Without those of later lines with the same ID, and whether that leaves the month open."""
    ranges: dict[tuple[int, int], list[int]] = defaultdict(list)
    for v in votes:
        ranges[v.kind, v.start].append(v.elapsed)
    short = {of: (min(seen), max(seen)) for of, seen in ranges.items() if max(seen) - min(seen) <= DAY}
    refuted: set[tuple[int, int]] = set()
    is_open = False
    for one, ends in short.items():
        for other, ends_there in short.items():
            same = ends[0] == ends_there[0], ends[1] == ends_there[1]
            if any(same) and label(one[1], layout)[0] < label(other[1], layout)[0]:
                refuted.add(other)
    for end in (0, 1):
        for elapsed in {ends[end] for ends in short.values()}:
            some = [of for of, ends in short.items() if ends[end] == elapsed]
            first = min(label(start, layout)[0] for _, start in some)
            later = [of for of in some if label(of[1], layout)[0] > first]
            if later and (any(of[0] < MONTH for of in later) or any(of[0] == MONTH for of in {*some} - {*later})):
                is_open = True
    return [v for v in votes if (v.kind, v.start) not in refuted], is_open


def with_month_before(dated: Dating, elapsed: list[int], zone: tzinfo, layout: str, until: int) -> Dating:
    """Of a process with one month: ids that would be later than `until` are of the month before."""
    if dated.high is None:
        return dated
    (span,) = dated.spans
    limit = max(dated.high, until - span.start)
    if max(elapsed) <= limit:
        return dated
    (year, number), _ = label(span.start, layout)
    month = (year - 1, 12) if number == 1 else (year, number - 1)
    little = layout == "uniq_v4_le"
    own = zone if dated.is_own or little else timezone(timedelta(minutes=dated.zone))
    start = month_start(month, own, layout)
    earlier = Span(1 << 62, start, length_of(month, zone, layout))
    return replace(dated, spans=[Span(limit, span.start, span.length), earlier])


def with_month_after(dated: Dating, ids: list[tuple[int, int]], zone: tzinfo, layout: str, until: int) -> Dating:
    """Of a process with one month: ids in front of all that lines date are of the month after, if they are nearer to
    the last one, and their counter goes on from it rather than to the first one."""
    if dated.high is None or dated.low is None or layout == "uniq_v4_le":
        return dated
    span = next(one for one in dated.spans if one.start == max(of.start for of in dated.spans))
    (year, number), _ = label(span.start, layout)
    month = after((year, number))
    start = month_start(month, zone if dated.is_own else timezone(timedelta(minutes=dated.zone)), layout)
    fits = [
        elapsed
        for elapsed, _ in ids
        if elapsed < dated.low
        and start + elapsed <= until
        and start + elapsed - (span.start + dated.high) < dated.low - elapsed
    ]
    if not fits or min(fits) != min(ids)[0]:
        return dated
    last = max(counter for elapsed, counter in ids if elapsed == dated.high)
    first = min(counter for elapsed, counter in ids if elapsed == dated.low)
    counter = min(ids)[1]
    if (counter - last) % 65536 >= (first - counter) % 65536:
        return dated
    return replace(dated, spans=[Span(max(fits), start, length_of(month, zone, layout)), *dated.spans])
