"""What the lines of one input prove together: the months and zone of each process, shared by all of its ids.

Each line votes (`idcore.ids.clock.refine`), and the votes of a process are joined, so that one id has one instant in
every line. The scan joins the same votes in arrays (`idcore.scan.month_inference`). Reads no text and no clock.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import chain, pairwise

from idcore.base.layout import Layout
from idcore.ids import clock as clocks
from idcore.ids import rules
from idcore.ids.client_time import client_ahead, local_ahead, made_until, source_of
from idcore.ids.clock import DAY_MS, HOUR_MS, Clock, Month, ZoneSource, from_ms, month_of, to_ms
from idcore.ids.identify import Verdict
from idcore.ids.line_moments import NamedDay
from idcore.ids.line_time import APART, FIRST_YEAR, begins_at_noon, hints, refine
from idcore.ids.model import ClientId, UniqId
from idcore.ids.reasons import Reason, bare_reason
from idcore.ids.tokens import Token

# What a vote rests on: the first two fix the zone, the third the month, the fourth all of it but its year; the last
# one is assumed.
BORN, PREFIX, MONTH, YEAR, ASSUMED = range(5)
_KINDS = {
    **dict.fromkeys(("zone_born", "noon", "hour_born"), BORN),
    **dict.fromkeys(("zone_prefix", "hour_prefix"), PREFIX),
    "year_latest": YEAR,
    "month_apart": ASSUMED,
    "month_clock": ASSUMED,
    "month_stored": ASSUMED,
}
_SOURCES: tuple[ZoneSource, ZoneSource] = ("born", "prefix")
_UNTIL = 1 << 62
_COUNTERS = 1 << 16
# A zone holds for processes that no line dates where so many of the ids that lines date are in it: against a zone that
# is assumed, and against one that was given.
INPUT_SHARE = {"assumed": 0.9, "given": 1.0}


@dataclass(slots=True)
class _Votes:
    """Of one start of a month, by one kind of proof: how many ids, the first and the last: elapsed, then counter."""

    clock: Clock
    ids: int = 0
    first: tuple[int, int] = (_UNTIL, 0)
    last: tuple[int, int] = (0, 0)

    @property
    def low(self) -> int:
        return self.first[0]

    @property
    def high(self) -> int:
        return self.last[0]


@dataclass(frozen=True, slots=True)
class _Process:
    """What is known of one process. `spans`: up to which elapsed which month holds, none where months overlap."""

    clock: Clock
    spans: tuple[tuple[int, Month], ...]
    kind: int
    first: tuple[int, int] = (0, 0)  # that a line dates: elapsed, then counter
    last: tuple[int, int] = (0, 0)
    after: tuple[int, Month] | None = None  # up to which elapsed ids are of the month after the only one, and which
    is_assumed: bool = False  # its lines name no year, nor does their log
    by_others: bool = False  # its lines name no year, but others leave only one: of its log, else of all
    apart: str = ""  # of a line of it bornTimestamp contradicts the ID, or it has a store time alone: which reason
    of_several: bool = False  # lines of several months have an ID of it: this is the first of them


_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Client:
    """What is known of one 5.x client: minutes ahead of UTC, by what, and the last moment at which a line names it."""

    ahead: int | None
    source: ZoneSource | None
    latest_ms: int | None


@dataclass(frozen=True, slots=True)
class Dates:
    """Months and zones by process, and for processes that no line dates those of the whole input."""

    processes: dict[Hashable, _Process] = field(default_factory=dict)
    clients: dict[Hashable, _Client] = field(default_factory=dict)
    zone: tuple[tzinfo, ZoneSource] | None = None
    latest: datetime | None = None
    last: dict[Hashable, int] = field(default_factory=dict)  # of each process the greatest elapsed that a month has

    def of_uniq(self, uniq_id: UniqId, clock: Clock) -> tuple[Clock, Reason | None]:
        """The clock of one id, and the reason of what it adds. A month that is not settled is left to the line."""
        key, elapsed = _key(uniq_id), uniq_id.signed_elapsed
        known = self.processes.get(key)
        if known is None:
            clock, reason = self._of_input(clock)
            return _with_last(clock, elapsed, self.last.get(key, elapsed), uniq_id.layout), reason
        month = next((month for until, month in known.spans if elapsed <= until), None)
        if month is not None and len(known.spans) == 1 and elapsed > known.last[0]:
            month = self._not_later(month, elapsed, known.clock, uniq_id.layout)
        elif known.after is not None and elapsed <= known.after[0]:
            month = known.after[1]
        if month is None or not elapsed < month.length_ms:
            return self._not_after_input(known.clock), None
        code = "month_process" if uniq_id.layout.early else "zone_process"
        if known.kind == MONTH:
            code = "zone_input" if known.clock.zone_source in _SOURCES else "month_process"
        if known.of_several:
            code = "month_of_several"
        elif known.is_assumed:
            code = known.apart or ("year_elsewhere" if known.by_others else "year_latest")
        elif known.by_others:
            code = "year_input"
        return replace(known.clock, month=month), bare_reason(code)

    def _not_later(self, month: Month, elapsed: int, clock: Clock, layout: Layout) -> Month:
        """The month of a process, or the one before it for an id that would be later than all that is dated."""
        until = to_ms(clock.reference)
        if self.latest is not None:
            until = min(until, to_ms(self.latest) + DAY_MS)
        if month.start_ms + elapsed <= until:
            return month
        year, number = _label(month.start_ms, layout)
        return _reckoned(*((year - 1, 12) if number == 1 else (year, number - 1)), clock, layout)

    def _of_input(self, clock: Clock) -> tuple[Clock, Reason | None]:
        if self.latest is None:
            return clock, None
        clock = self._not_after_input(clock)
        if self.zone is None:
            return clock, bare_reason("month_before")
        zone, source = self.zone
        return replace(clock, zone=zone, zone_source=source), bare_reason("zone_input_month_before")

    def _not_after_input(self, clock: Clock) -> Clock:
        """An id that no line dates may have been generated a little after the last one that is dated, and no later."""
        return clock if self.latest is None else replace(clock, reference=min(clock.reference, self.latest + _DAY))

    def ahead_of(self, client_id: ClientId) -> tuple[int | None, ZoneSource | None]:
        """By how many minutes the seconds of a 5.x client are ahead of UTC, and what shows it."""
        known = self.clients.get(_key(client_id))
        return (None, None) if known is None else (known.ahead, known.source)

    def latest_of(self, client_id: ClientId) -> int | None:
        """The last moment at which a line names an id of a 5.x client, else any id of the input."""
        known = self.clients.get(_key(client_id))
        if known is not None and known.latest_ms is not None:
            return known.latest_ms
        return None if self.latest is None else to_ms(self.latest)


class Voting:
    """Takes the ids of one input, with the hints of their lines, and gives what they prove together."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._votes: dict[Hashable, dict[tuple[int, int], _Votes]] = defaultdict(dict)
        self._years: dict[Hashable, dict[Hashable, dict[tuple[int, int], _Votes]]] = defaultdict(dict)  # by text
        # of each text the first and the last moment that lines with a year prove
        self._firsts: dict[Hashable, int] = {}
        self._lasts: dict[Hashable, int] = {}
        self._assumed: dict[Hashable, dict[tuple[int, int], _Votes]] = defaultdict(dict)
        self._apart: dict[Hashable, str] = {}
        self._clients: dict[Hashable, Counter[tuple[int, int]]] = defaultdict(Counter)
        self._moments: dict[Hashable, int] = {}
        self._latest: dict[Hashable, int] = {}
        self._last: dict[Hashable, int] = {}
        self._first: dict[Hashable, tuple[int, int]] = {}  # of each process the id with the least elapsed

    def see(self, verdict: Verdict, token: Token, text: Hashable = None) -> None:
        """Takes one id, with its line's time if any. One that others may settle votes as each interpretation.

        `text`: which of the logs of the input it is in.

        What a link or a scan says of an ID is not of its line, and may be assumed: it proves nothing of others.
        """
        best = verdict.best
        if best is None or token.linked:
            return
        born, prefix = hints(token, self._clock)
        if isinstance(best.id, ClientId):
            own = None if isinstance(prefix, NamedDay) else prefix  # its IDs have their years
            key = _key(best.id)
            until = made_until(born, own, self._clock.zone)
            if until is not None:
                self._moments[key] = max(self._moments.get(key, until), until)
                self._lasts[text] = max(self._lasts.get(text, until), until)
            if best.made_by.code == "grpc":
                at_ms = (clocks.CLIENT_EPOCH_S + best.id.seconds) * 1000
                self._latest[key] = max(self._latest.get(key, at_ms), at_ms)
                ahead, source = client_ahead(at_ms, born, own, self._clock.zone)
                if ahead is not None:
                    kind = BORN if source == "born" else PREFIX if own is not None and own.tzinfo else MONTH
                    self._clients[key][kind, ahead] += 1
            return
        for reading in verdict.readings:
            if isinstance(reading.id, UniqId) and (reading is best or reading.id.layout.early):
                self._see_uniq(reading.id, born, prefix, text, sure=reading is best)

    def _see_uniq(
        self, uniq_id: UniqId, born: int | None, prefix: datetime | None, text: Hashable, *, sure: bool
    ) -> None:
        little = uniq_id.layout.early
        longest = rules.LITTLE_ENDIAN_ELAPSED_MS if little else rules.LONGEST_MONTH_MS
        if uniq_id.elapsed > longest + DAY_MS:
            return
        key, own = _key(uniq_id), (uniq_id.elapsed, uniq_id.counter)
        if sure and uniq_id.elapsed < longest:
            self._last[key] = max(self._last.get(key, -1), uniq_id.elapsed)
            self._first[key] = min(self._first.get(key, own), own)
        if born is None and prefix is None:
            return
        fixed, reason = refine(uniq_id.elapsed, self._clock, uniq_id.layout, born, prefix)
        if fixed.month is None or reason is None:
            return
        kind = _KINDS.get(reason.code, MONTH)
        if reason.code == "hour_prefix" and prefix is not None and prefix.tzinfo is None:
            kind = MONTH
        if reason.code in APART:
            self._apart.setdefault(key, reason.code)
        if kind == YEAR:
            votes = self._years[key].setdefault(text, {})
        elif kind == ASSUMED:
            votes = self._assumed[key]
        else:
            votes, at = self._votes[key], fixed.month.start_ms + uniq_id.elapsed
            self._firsts[text] = min(self._firsts.get(text, at), at)
            self._lasts[text] = max(self._lasts.get(text, at), at)
        vote = votes.setdefault((kind, fixed.month.start_ms), _Votes(fixed))
        vote.ids += 1
        vote.first, vote.last = min(vote.first, own), max(vote.last, own)

    def dates(self) -> Dates:
        """What all votes prove."""
        if not (self._votes or self._years or self._assumed or self._moments or self._latest):  # no line says a time
            return Dates(last=self._last)
        proven: Counter[tuple[int, int]] = Counter()
        for key, votes in self._votes.items():
            for (kind, start), vote in votes.items():
                ahead = self._noon_ahead(key, start) if kind != MONTH else None
                ahead = _ahead(start) if ahead is None else ahead
                if kind != MONTH and not _layout(key).early and (_loader(key), ahead) != (0, 0):
                    proven[kind, ahead] += vote.ids
        latest = max(self._lasts.values(), default=None)
        if latest is None:
            years = (votes for texts in self._years.values() for votes in texts.values())
            some = chain(years, self._assumed.values())
            latest = max((start + vote.high for votes in some for (_, start), vote in votes.items()), default=None)
        zone = self._input_zone(proven)
        processes = {
            key: self._joined(key, zone) for key in self._votes.keys() | self._years.keys() | self._assumed.keys()
        }
        processes = {key: self._with_after(key, of) for key, of in processes.items()}
        clients = {key: self._client(key) for key in self._moments.keys() | self._latest.keys()}
        return Dates(processes, clients, zone, None if latest is None else from_ms(latest), self._last)

    def _joined(self, key: Hashable, zone: tuple[tzinfo, ZoneSource] | None) -> _Process:
        """The months of one process. A year that no line of it names is that of its own log, else it is assumed."""
        votes, years = dict(self._votes.get(key, {})), dict[tuple[int, int], _Votes]()
        for text, of_text in self._years.get(key, {}).items():
            settled = _of_one_year(of_text, self._clock, self._within([text]))
            _add(settled or {}, votes)
            _add({} if settled else of_text, years)
        by_others, apart = False, ""
        if votes:
            by_others = key not in self._votes
            _add(_of_own_year(years, votes, self._clock), votes)
        elif years:
            settled = _of_one_year(years, self._clock, self._within(self._lasts))
            by_others = settled is not None
            votes = {(YEAR, start): vote for (_, start), vote in (settled or years).items()}
        else:
            votes, apart = dict(self._assumed[key]), self._apart[key]
        votes, of_several = _of_first_month(_less_refuted(votes, _layout(key)), _layout(key))
        joined = _joined(_layout(key), votes, self._clock, zone)
        return replace(joined, by_others=by_others, apart=apart, of_several=of_several)

    def _with_after(self, key: Hashable, of: _Process) -> _Process:
        """A process of a single month, and which of its ids in front of all that lines date are of the month after.

        They are if they are then nearer in time to an id that a line dates, and if the counter rises less from the last
        such id to them than from them to the first one.
        """
        layout = _layout(key)
        if len(of.spans) != 1 or of.of_several or layout.early or key not in self._first:
            return of
        ((_, month),) = of.spans
        year, number = _label(month.start_ms, layout)
        after = _reckoned(*((year + 1, 1) if number == 12 else (year, number + 1)), of.clock, layout)
        gap, (low, low_counter), (high, high_counter) = after.start_ms - month.start_ms, of.first, of.last
        fits = min(to_ms(of.clock.reference) - after.start_ms, (low + high - gap - 1) // 2, low - 1)
        elapsed, counter = self._first[key]
        goes_on = (counter - high_counter) % _COUNTERS < (low_counter - counter) % _COUNTERS
        return replace(of, after=(fits, after)) if elapsed <= fits and goes_on else of

    def _within(self, texts: Iterable[Hashable]) -> tuple[int, int] | None:
        """Between which times lines with a year are in some texts, with a day on either side."""
        firsts, lasts = ([known[text] for text in texts if text in known] for known in (self._firsts, self._lasts))
        return (min(firsts) - DAY_MS, max(lasts) + DAY_MS) if firsts else None

    def _noon_ahead(self, key: Hashable, start_ms: int) -> int | None:
        """The minutes ahead of UTC of the clock's zone, where a month of a process begins at noon of it."""
        assert isinstance(key, tuple)
        if not begins_at_noon(key[0], key[1], _loader(key), start_ms, self._clock.zone):
            return None
        return (from_ms(start_ms, self._clock.zone).utcoffset() or timedelta()) // timedelta(minutes=1)

    def _input_zone(self, proven: Counter[tuple[int, int]]) -> tuple[tzinfo, ZoneSource] | None:
        by_zone: Counter[int] = Counter()
        for (_, ahead), ids in proven.items():
            by_zone[ahead] += ids
        if not by_zone:
            return None
        usual = min(by_zone, key=lambda ahead: (-by_zone[ahead], ahead))
        if by_zone[usual] < INPUT_SHARE.get(self._clock.zone_source, 1.0) * by_zone.total():
            return None
        return timezone(timedelta(minutes=usual)), _SOURCES[min(kind for kind, ahead in proven if ahead == usual)]

    def _client(self, key: Hashable) -> _Client:
        votes = self._clients.get(key)
        if not votes:
            last = self._latest.get(key)
            ahead = None if last is None else local_ahead(last, self._clock)
            return _Client(ahead or None, source_of(ahead, self._clock) if ahead else None, self._moments.get(key))
        best = min(kind for kind, _ in votes)
        own = {ahead: ids for (kind, ahead), ids in votes.items() if kind == best}
        ahead = min(own, key=lambda one: (-own[one], abs(one), one))
        source = _SOURCES[best] if best != MONTH else source_of(ahead, self._clock)
        return _Client(ahead, source, self._moments.get(key))


def dates_of(items: Iterable[tuple[Verdict, Token] | tuple[Verdict, Token, Hashable]], clock: Clock) -> Dates:
    """What the ids of one input and their lines prove together. The third of an item: the text that it is in."""
    voting = Voting(clock)
    for item in items:
        voting.see(*item)
    return voting.dates()


def _with_last(clock: Clock, elapsed: int, last: int, layout: Layout) -> Clock:
    """The clock of a process that no line dates: all of its ids are in the newest month that has room for the last."""
    if not 0 <= elapsed < last:
        return clock
    month = clocks.pick_month(last, clock, layout)
    return clock if month is None or elapsed >= month.length_ms else replace(clock, month=month)


def _key(message_id: UniqId | ClientId) -> Hashable:
    if isinstance(message_id, UniqId):
        return message_id.layout, message_id.ip, message_id.pid, message_id.loader
    return message_id.mac, message_id.pid


def _layout(key: Hashable) -> Layout:
    assert isinstance(key, tuple)
    return key[0]  # type: ignore[no-any-return]


def _loader(key: Hashable) -> int:
    assert isinstance(key, tuple)
    return key[3]  # type: ignore[no-any-return]


def _month_of(start_ms: int) -> tuple[int, int]:
    local = from_ms(start_ms + 14 * HOUR_MS)
    return local.year, local.month


def _ahead(start_ms: int) -> int:
    """The minutes ahead of UTC of the zone in which a month begins at an instant."""
    return (clocks.month_start(*_month_of(start_ms), UTC) - start_ms) // 60_000


def _label(start_ms: int, layout: Layout) -> tuple[int, int]:
    return _month_of(start_ms + (DAY_MS + HOUR_MS if layout.early else 0))


def _joined(
    layout: Layout, votes: dict[tuple[int, int], _Votes], base: Clock, input_zone: tuple[tzinfo, ZoneSource] | None
) -> _Process:
    """The months of one process: of each the start that most ids of the best kind have, else as its zone has it."""
    best = min(kind for kind, _ in votes)
    is_assumed = best >= YEAR
    if is_assumed:
        votes, best = {(MONTH, start): vote for (_, start), vote in votes.items()}, MONTH
    votes = {of: vote for of, vote in votes.items() if of[0] < YEAR}
    little = layout.early
    clock = base
    if not little and best != MONTH:
        clock = _zone_clock(votes, best, base)
    elif best == MONTH and input_zone is not None and not little:
        clock = replace(base, zone=input_zone[0], zone_source=input_zone[1])
    months: dict[tuple[int, int], list[tuple[int, int, _Votes]]] = defaultdict(list)
    for (kind, start), vote in votes.items():
        months[_label(start, layout)].append((kind, start, vote))
    spans = []
    for (year, number), own in months.items():
        fixed = [(-vote.ids, start, vote) for kind, start, vote in own if kind == best]
        if fixed and (best != MONTH or clock.zone is base.zone):
            month = min(fixed, key=lambda one: one[:2])[2].clock.month
        else:
            month = _reckoned(year, number, clock, layout)
        assert month is not None
        low, high = min(vote.low for *_, vote in own), max(vote.high for *_, vote in own)
        spans.append((low, high, month, sum(vote.ids for *_, vote in own)))
    spans.sort(key=lambda one: (one[0], one[1], one[2].start_ms))
    if any(after[0] <= before[1] for before, after in pairwise(spans)):
        # The log is longer than a month: each line dates its own ids.
        return _Process(clock, (), best, is_assumed=is_assumed)
    joined = []
    for number, (_, high, month, _) in enumerate(spans):
        until = (high + spans[number + 1][0]) // 2 if number + 1 < len(spans) else _UNTIL
        behind = [other.start_ms - month.start_ms for *_, other, _ in spans if other.start_ms > month.start_ms]
        cut = bool(behind) and not little  # little-endian months begin a day before the one before has ended
        joined.append((until, replace(month, length_ms=min(month.length_ms, *behind)) if cut else month))
    first, last = min(vote.first for vote in votes.values()), max(vote.last for vote in votes.values())
    return _Process(clock, tuple(joined), best, first, last, is_assumed=is_assumed)


def _less_refuted(votes: dict[tuple[int, int], _Votes], layout: Layout) -> dict[tuple[int, int], _Votes]:
    """Votes without those of a time beside an ID that its own bornTimestamp, elsewhere, puts in another month.

    An ID has one month, and no other of its process has its elapsed and counter. IDs of more than a day are of a log
    that goes on for months, where a line names an old one once more.
    """
    borns = [(_label(start, layout), vote) for (kind, start), vote in votes.items() if kind == BORN]
    return {
        (kind, start): vote
        for (kind, start), vote in votes.items()
        if kind == BORN
        or vote.high - vote.low > DAY_MS
        or not any(
            month != _label(start, layout) and (born.first == vote.first or born.last == vote.last)
            for month, born in borns
        )
    }


def _of_first_month(votes: dict[tuple[int, int], _Votes], layout: Layout) -> tuple[dict[tuple[int, int], _Votes], bool]:
    """Votes without those of later lines that have the same ID: no line has it before it was generated.

    And whether its month stays open: no time with a zone fixes the first, or one fixes a later one. Then the ID was
    used again, or a clock was wrong.
    """
    refuted: set[tuple[int, int]] = set()
    is_open = False
    for end in ("first", "last"):
        groups: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for of, vote in votes.items():
            if of[0] < YEAR and vote.high - vote.low <= DAY_MS:
                groups[getattr(vote, end)].append(of)
        for some in groups.values():
            first = min(_label(start, layout) for _, start in some)
            later = [of for of in some if _label(of[1], layout) > first]
            if later:
                refuted.update(later)
                is_open |= any(of[0] == MONTH for of in some if of not in later) or any(of[0] != MONTH for of in later)
    return {of: vote for of, vote in votes.items() if of not in refuted}, is_open


def _add(some: dict[tuple[int, int], _Votes], votes: dict[tuple[int, int], _Votes]) -> None:
    """Adds votes to others of their process."""
    for of, one in some.items():
        known = votes.get(of, _Votes(one.clock))
        first, last = min(known.first, one.first), max(known.last, one.last)
        votes[of] = _Votes(known.clock, known.ids + one.ids, first, last)


def _of_one_year(
    votes: dict[tuple[int, int], _Votes], clock: Clock, within: tuple[int, int] | None
) -> dict[tuple[int, int], _Votes] | None:
    """The votes of a process whose lines name no year, in the only one in which all of them are within the others."""
    if within is None:
        return None
    found: dict[tuple[int, int], _Votes] = {}
    for (_, start), vote in votes.items():
        year, number = _month_of(start)
        months = [month_of(past, number, clock.zone) for past in range(year, FIRST_YEAR - 1, -1)]
        fit = [one for one in months if _is_within(one, vote, within)]
        if len(fit) != 1:
            return None
        _add_month(fit[0], vote, found)
    return found


def _of_own_year(
    years: dict[tuple[int, int], _Votes], votes: dict[tuple[int, int], _Votes], clock: Clock
) -> dict[tuple[int, int], _Votes]:
    """Votes of lines without a year, in the one nearest to the last month that other lines of their process show."""
    last = max(_number_of(start) for _, start in votes)
    found: dict[tuple[int, int], _Votes] = {}
    for (_, start), vote in years.items():
        number = _number_of(start)
        year, past = divmod(min(number, last + (number - last + 6) % 12 - 6), 12)
        month = month_of(year, past + 1, clock.zone)
        if vote.high < month.length_ms:
            _add_month(month, vote, found)
    return found


def _add_month(month: Month, vote: _Votes, votes: dict[tuple[int, int], _Votes]) -> None:
    _add({(MONTH, month.start_ms): replace(vote, clock=replace(vote.clock, month=month))}, votes)


def _number_of(start_ms: int) -> int:
    year, number = _month_of(start_ms)
    return year * 12 + number - 1


def _is_within(month: Month, vote: _Votes, within: tuple[int, int]) -> bool:
    first, last = (month.start_ms + elapsed for elapsed in (vote.low, vote.high))
    return within[0] <= first and last <= within[1] and vote.high < month.length_ms


def _zone_clock(votes: dict[tuple[int, int], _Votes], best: int, base: Clock) -> Clock:
    """The clock in the zone that most ids of the best kind prove; it keeps the name of the one that was given."""
    heads: Counter[int] = Counter()
    for (kind, start), vote in votes.items():
        if kind == best:
            heads[_ahead(start)] += vote.ids
    ahead = min(heads, key=lambda one: (-heads[one], one))
    own = any(
        kind == best and _ahead(start) == ahead and clocks.month_start(*_month_of(start), base.zone) == start
        for kind, start in votes
    )
    zone = base.zone if own else timezone(timedelta(minutes=ahead))
    return replace(base, zone=zone, zone_source=_SOURCES[best])


def _reckoned(year: int, number: int, clock: Clock, layout: Layout) -> Month:
    if not layout.early:
        return month_of(year, number, clock.zone)
    return clocks.epochs(from_ms(month_of(year, number, clock.zone).start_ms, clock.zone), clock.zone, layout, 1)[0]
