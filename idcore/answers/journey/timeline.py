"""All events of a message in one order, the times among them that contradict each other, and the gaps. Asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta, tzinfo
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from idcore.answers.journey.events import (
    WAITING,
    OwnTime,
    claims_of,
    dated_tokens,
    linked_ids,
    of_copies,
    of_lines,
    of_trace,
    of_verdicts,
    own_time,
)
from idcore.answers.journey.model import Conflict, Event, Gap, Journey, Line, Sources
from idcore.answers.lookup import Answer
from idcore.ids.clock import EAST, WEST, Clock, from_ms, is_time, to_ms
from idcore.ids.dating import Dates, dates_of
from idcore.ids.delivery_sentences import DELAY_SECONDS, FIRST_RETRY_LEVEL
from idcore.ids.identify import judge
from idcore.ids.line_moments import BORN_APART_MS
from idcore.ids.line_time import is_of_other_clock
from idcore.ids.rules import CANDIDATE_DIGITS
from idcore.ids.tokens import Token

if TYPE_CHECKING:
    from idcore.scan.occurrences.index import Allowed, Index

MOST_CLOCKS = 16  # brokers whose copies of one birth are compared with it
MOST_TRACED = 5_000  # IDs in lines with one trace that are looked at
# Clocks of one cluster differ by so much without anybody's fault.
TOLERANCE_MS = 100
# A producer asks its clock for the born time after it generated the id: later by so much where a send is tried again.
BORN_EARLY_MS, BORN_LATE_MS = 1_000, 60_000
# From so long on nothing is known between two events.
SILENCE_MS = 60_000
# Zones differ by quarters of an hour, 26 hours at most; a line is logged so long after what it shows.
_QUARTER_MS, _WIDEST_MS, _LOG_LATE_MS = 900_000, 26 * 3_600_000, 10_000
_RANKS = (
    "generated",
    "born",
    "sent",
    "stored",
    "logged_send",
    "logged_resend",
    "decided",
    "due",
    "attempt",
)
_LAST = ("judged",)
_SOURCES = ("id", "record", "trace", "line", "verdict")
_DIGITS = frozenset("0123456789ABCDEF")
_CONSUMED = frozenset(
    {"logged_message", "logged_received", "logged_failed", "logged_expired", "logged_acked", "logged_skipped"}
)


def build(text: str, sources: Sources, clock: Clock, log_zone: tzinfo) -> Journey:
    """The journey of the message that `text` names. `log_zone` is that of log lines whose times name none."""
    copies = [copy for copy in sources.copies or () if copy.relation != "trace"]
    ids = ids_of(text, sources)
    events = [
        *of_copies(copies),
        *of_verdicts(sources.verdicts or (), live=True),
        *of_verdicts(sources.snapshots, live=False),
        *(of_trace(sources.trace) if sources.trace is not None else ()),
    ]
    known = {(event.code, event.at_ms) for event in events}
    printed = of_lines(sources.lines or (), ids, log_zone)
    events += [
        event for event in printed if event.code not in ("born", "stored") or (event.code, event.at_ms) not in known
    ]
    own = _own_time(text, sources, ids, clock)
    events = _as_born(own, events)
    ordered = _ordered(_moved([*events, *([own.event] if own is not None else [])], log_zone))
    conflicts = [*_of_own_time(own, ordered), *_of_sends(own, ordered), *_of_order(ordered), *_of_logs(ordered)]
    conflicts.sort(key=lambda each: (each.second, each.first, each.code))
    counts = {
        "lines": None if sources.lines is None else len(sources.lines),
        "records": None if sources.copies is None else len(copies),
        "groups": None if sources.verdicts is None else len({event.who for event in events if event.code == "judged"}),
        "trace": None if sources.trace is None else len(sources.trace.sends) + len(sources.trace.attempts),
    }
    claims = {
        (line.file, claim.line, claim.group, claim.msg_id): claim
        for line in sources.lines or ()
        for claim in claims_of(line, ids)
    }
    claims_by_place = tuple(
        (f"{file}:{claim.line}", claim) for (file, *_), claim in sorted(claims.items(), key=lambda item: item[0][:2])
    )
    return Journey(text, tuple(ordered), tuple(conflicts), tuple(_gaps(ordered)), counts, claims_by_place)


def ids_of(text: str, sources: Sources) -> list[str]:
    """The text, and the ids of the same message that records and lines have, in upper case."""
    texts = [text.upper()]
    for copy in sources.copies or ():
        if copy.relation != "trace":
            texts += [str(copy.record.uniq_id or "").upper(), str(copy.record.offset_id).upper()]
    for line in sources.lines or ():
        texts += linked_ids(line, texts)
    return [each for each in dict.fromkeys(texts) if each]


def lines_of(
    text: str, answers: Sequence[Answer], select: Callable[[tuple[str, ...]], tuple[Sequence[Line], int]]
) -> tuple[list[Line], int]:
    """The lines that name the message by any of its ids, and how many there are: a line may name an id that is new.

    `select` gives some lines that name any of the ids, and how many do.
    """
    lines: dict[tuple[str, int], Line] = {}
    total, asked = 0, set[str]()
    while new := set(ids_of(text, Sources.of(*answers, lines=list(lines.values())))) - asked:
        asked |= new
        if not any(map(_is_id, new)):
            break
        occurrences, total = select(tuple(sorted(filter(_is_id, asked))))  # of all: a line that has two of them is one
        for line in occurrences:
            lines.setdefault((line.file, line.number), line)
    return list(lines.values()), total


def messages_of_trace(trace: str, index: Index, allowed: Allowed) -> list[str]:
    """The msgIds of the lines that contain a trace id, in their order: of a line with both IDs the msgId."""
    from idcore.scan.occurrences.index import Filter  # Arrow, which a journey does without

    rows = index.select(Filter(text=trace), "line", allowed).rows[:MOST_TRACED]
    messages: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for one in index.page(rows, allowed):
        messages.setdefault((one.file, one.line), []).append((one.kind, one.id))
    own = [[text for kind, text in ids if kind != "offset"] or [text for _, text in ids] for ids in messages.values()]
    return list(dict.fromkeys(text for ids in own for text in ids))


def _is_id(text: str) -> bool:
    return len(text) in CANDIDATE_DIGITS and set(text) <= _DIGITS


def _own_time(text: str, sources: Sources, ids: Sequence[str], clock: Clock) -> OwnTime | None:
    """By the born time of a record, else by what a link, a scan or a line says of the id."""
    records = [copy.record for copy in sources.copies or () if copy.relation != "trace"]
    born = min((each.born_timestamp for each in records if is_time(each.born_timestamp)), default=None)
    for each in [text, *(record.uniq_id for record in records if record.uniq_id)]:
        token = Token(each, 1, 1, born_ms=born) if born is not None and born else sources.token
        by_lines = token is None
        token = token or _token_of(sources.lines or (), ids)
        instant = own_time(each, clock, token, _dates_of(sources.lines or (), ids, clock) if by_lines else None)
        if instant is not None:
            return instant
    return None


def _dates_of(lines: Sequence[Line], ids: Sequence[str], clock: Clock) -> Dates:
    """What all lines of the message prove together: those of several months may have one ID."""
    tokens = [token for line in lines for token in dated_tokens(line, ids)]
    return dates_of(((judge(token), token) for token in tokens), clock)


def _token_of(lines: Sequence[Line], ids: Sequence[str]) -> Token | None:
    """The id in the line that says most of its time."""
    tokens = [token for line in lines for token in dated_tokens(line, ids)]
    return min(tokens, key=lambda token: (token.born_ms is None, token.prefix_time is None), default=None)


# ---- order


def _ordered(events: Sequence[Event]) -> list[Event]:
    """By their instants; what is not dated last. An id that may be older than everything else is the first."""
    first = min(
        (event.at_ms for event in events if event.at_ms is not None and event.code != "generated"), default=None
    )

    def key(event: Event) -> tuple[bool, int, int, int, str, str]:
        at = event.at_ms
        if event.code == "generated" and event.earliest_ms is not None and first is not None:
            at = min(at or first, first) if event.earliest_ms <= first else at
        rank = _RANKS.index(event.code) if event.code in _RANKS else len(_RANKS) + (event.code in _LAST)
        return at is None, at or 0, rank, _SOURCES.index(event.source), event.who, event.evidence

    return sorted(events, key=key)


# ---- contradictions


def _of_own_time(own: OwnTime | None, events: Sequence[Event]) -> Iterator[Conflict]:
    """Where the id's own time, the born time and the zone that was thought of do not go together."""
    if own is None:
        return
    place = events.index(own.event)
    born = next((at for at, event in enumerate(events) if event.code == "born"), None)
    other = place if born is None else born
    if own.plain is not None and own.dated.zone_source in ("born", "prefix", "linked"):
        by = abs(to_ms(own.dated.at) - to_ms(own.plain.at))
        # A zone that nobody chose, such as that of the browser, claims nothing.
        if own.plain.zone_source == "given" and BORN_EARLY_MS < by <= _WIDEST_MS:
            yield Conflict("zone_given", place, other, by, {"zone": own.dated.zone, "read_in": own.plain.zone})
    elif born is not None:
        at = events[born].at_ms or 0
        known = [ms for ms in (own.event.at_ms, own.event.earliest_ms, own.event.latest_ms) if ms is not None]
        early, late = min(known) - BORN_EARLY_MS, max(known) + BORN_LATE_MS
        by = max(early - at, at - late, 0)
        if by:
            yield Conflict("born_elsewhere", place, born, by)


def _of_sends(own: OwnTime | None, events: Sequence[Event]) -> Iterator[Conflict]:
    """Sends that were logged longer after the ID was generated than one takes, and not by a zone: the last of them."""
    if own is None or own.event.at_ms is None:
        return
    latest = max(own.event.at_ms, own.event.latest_ms or 0)
    late = [
        (event.at_ms - latest, at) for at, event in enumerate(events) if event.code == "logged_send" and event.at_ms
    ]
    by, at = max(late, default=(0, 0))
    if by > BORN_APART_MS or is_of_other_clock(by, reports_send=True):
        yield Conflict("sent_later", events.index(own.event), at, by)


def _of_order(events: Sequence[Event]) -> Iterator[Conflict]:
    """Causes that are later than their effects: of each pair of clocks the widest contradiction."""
    widest: dict[tuple[str, str, str], Conflict] = {}
    for code, first, second in _causes(events):
        cause, effect = events[first], events[second]
        began = cause.earliest_ms if cause.is_open else cause.at_ms
        done = effect.until_ms if code in ("stored_after_answer", "ended_before_began") else effect.at_ms
        if began is None or done is None or began - done <= TOLERANCE_MS:
            continue
        key = code, _clock(cause), _clock(effect)
        if key not in widest or widest[key].by_ms < began - done:
            widest[key] = Conflict(code, first, second, began - done)
    yield from widest.values()


def _causes(events: Sequence[Event]) -> Iterator[tuple[str, int, int]]:
    """What must not be later than what: a code, and the places of both."""
    numbered = list(enumerate(events))
    stored = [(at, event) for at, event in numbered if event.code == "stored" and event.at_ms is not None]
    sends = [at for at, event in numbered if event.code == "sent"]
    first = stored[0][0] if stored else None
    # The first copy is the earliest: of each birth that of each clock, of each retry and record the first.
    by_birth: dict[Any, dict[str, int]] = {}
    of_try: dict[tuple[Any, Any], int] = {}
    of_record: dict[str, int] = {}
    for at, event in stored:
        clocks, clock = by_birth.setdefault(event.values.get("born_ms"), {}), _clock(event)
        if clock in clocks or len(clocks) < MOST_CLOCKS:
            clocks.setdefault(clock, at)
        if event.values["relation"] == "retry" and event.values["tries"]:
            of_try.setdefault((event.values["group"], event.values["tries"]), at)
        of_record.setdefault(event.evidence, at)
    # consumers get neither what is kept back nor, as a first attempt, a retry copy
    home = next(
        (at for at, each in stored if each.values["relation"] not in WAITING and not each.values["tries"]), None
    )
    for at, event in numbered:
        if event.code == "generated":
            yield from (("stored_before_generated", at, other) for other, _ in stored)
            yield from (("logged_before_generated", at, other) for other, each in numbered if _is_logged(each))
        elif event.code == "born":
            yield from (("stored_before_born", at, other) for other in by_birth.get(event.at_ms, {}).values())
        elif event.code == "sent" and at == sends[0] and first is not None:
            yield "stored_before_sent", at, first
            if event.values["success"] and len(sends) == 1:
                yield "stored_after_answer", first, at
        elif event.code == "attempt":
            yield "ended_before_began", at, at
            wanted = of_try.get((event.values["group"], event.values["tries"]), home)
            if wanted is not None:
                yield "consumed_before_stored", wanted, at
        elif event.code in _CONSUMED and home is not None:
            yield "logged_before_stored", home, at
        elif event.code == "judged" and event.values["live"] and event.evidence in of_record:
            yield "asked_before_stored", of_record[event.evidence], at


def _is_logged(event: Event) -> bool:
    return event.code.startswith("logged") and event.at_ms is not None


def _clock(event: Event) -> str:
    """Whose clock a time is of: the host without its port, the file of a line."""
    return "" if event.code == "judged" else event.clock or event.who


# ---- zones of logs


def _moved(events: Sequence[Event], log_zone: tzinfo) -> list[Event]:
    """The lines of files that were written in another zone, at the times that they then have.

    `log_zone` is the one that their times were read in: no zone is more than 12 h behind UTC, or 14 h ahead of it.
    Where a line of the file is right as it is, several logs are in one file: then each line counts alone.
    """
    exact = [event.at_ms for event in events if event.code in ("born", "generated", "sent") and not event.is_open]
    base = min((at for at in exact if at is not None), default=None)
    if base is None:
        return list(events)
    own = [_shift_of(event, base, log_zone) for event in events]
    right_clocks = {
        _clock(event)
        for event in events
        if _is_logged(event) and event.at_ms is not None and 0 <= event.at_ms - base <= _LOG_LATE_MS
    }
    of_file: dict[str, int] = {}
    for event, shift in zip(events, own, strict=True):
        if shift and _clock(event) not in right_clocks:
            of_file.setdefault(_clock(event), shift)
    return [_by(event, shift or of_file.get(_clock(event), 0)) for event, shift in zip(events, own, strict=True)]


def _as_born(own: OwnTime | None, events: Sequence[Event]) -> list[Event]:
    """The printed times of records of which the ID shows that they are of another zone: mqadmin names none."""
    if own is None or own.event.at_ms is None:
        return list(events)
    shifts: dict[str, int] = {}
    for event in events:
        if event.code == "born" and event.values.get("local") and event.at_ms is not None:
            by = own.event.at_ms - event.at_ms
            shift = round(by / _QUARTER_MS) * _QUARTER_MS
            if shift and abs(shift) <= _WIDEST_MS and abs(by - shift) <= BORN_EARLY_MS:
                shifts[event.evidence] = shift
    moved = []
    for event in events:
        shift = shifts.get(event.evidence, 0) if event.values.get("local") else 0
        if shift and event.at_ms is not None:
            values = {**event.values, "moved_ms": shift}
            if "born_ms" in values:
                values["born_ms"] += shift
            event = replace(event, at_ms=event.at_ms + shift, values=values)
        moved.append(event)
    return moved


def _shift_of(event: Event, base: int, log_zone: tzinfo) -> int:
    """By how much the zone of a line differs: it is logged shortly after its event, so what is left is little.

    A consumer may log hours later in the right zone, so a late line proves nothing unless it is that of the send.
    """
    if not _is_logged(event) or event.values["zone_known"] or event.at_ms is None:
        return 0
    shift = -((event.at_ms - base) // _QUARTER_MS) * _QUARTER_MS
    late = event.at_ms + shift - base
    believed = shift > 0 or event.code == "logged_send"
    ahead = from_ms(event.at_ms, log_zone).utcoffset() or timedelta()
    is_zone = WEST <= ahead - timedelta(milliseconds=shift) <= EAST
    return shift if believed and is_zone and late <= _LOG_LATE_MS else 0


def _by(event: Event, shift: int) -> Event:
    if not shift or event.at_ms is None or not _is_logged(event) or event.values["zone_known"]:
        return event
    return replace(event, at_ms=event.at_ms + shift, values={**event.values, "moved_ms": shift})


def _of_logs(events: Sequence[Event]) -> Iterator[Conflict]:
    """Each file whose lines were moved, once for each zone."""
    places: set[tuple[str, int]] = set()
    for at, event in enumerate(events):
        shift = event.values.get("moved_ms")
        file = _clock(event) if _is_logged(event) else event.evidence.rpartition(":")[0]
        if shift and (file, shift) not in places:
            places.add((file, shift))
            yield Conflict("zone_of_log", at, at, abs(shift), {"file": file, "early": shift > 0})


# ---- gaps


def _is_retry_due(most: int, event: Event, ms: int) -> bool:
    """Whether a broker kept a retry back for such a time: lines that name its try are of the try before, and its.

    `most` is the last try that an event before it names, -1 where none names one.

    A delay level that the record names counts; without one, those of brokers as they come.
    """
    if event.values.get("pace") == "orderly":
        return False  # its consumer tries again by itself, after a moment
    tries = event.values.get("tries")
    if not tries or not 0 <= most < tries:
        return False
    level = event.values.get("level") or FIRST_RETRY_LEVEL - 1 + tries
    due = DELAY_SECONDS[level - 1] if 1 <= level <= len(DELAY_SECONDS) else DELAY_SECONDS[-1]
    return ms <= due * 1_000 + SILENCE_MS


def _gaps(events: Sequence[Event]) -> Iterator[Gap]:
    """Long times of which nothing is known; and where no source names a consumer, everything after the last event."""
    lived = [
        (at, event)
        for at, event in enumerate(events)
        if event.at_ms is not None and event.code not in ("judged", "due") and not event.is_open
    ]
    ends = accumulate((each.end_ms or 0 for _, each in lived), max)
    tries = [-1 if (held := each.values.get("tries")) is None else held for each in events]
    most = list(accumulate(tries, max))
    for ((after, one), (before, other)), ended in zip(pairwise(lived), ends, strict=False):
        ms = (other.at_ms or 0) - ended
        if ms >= SILENCE_MS:
            kept = one.code == "stored" and one.values.get("relation") in WAITING
            kept = kept or _is_retry_due(most[after], other, ms)
            yield Gap("waiting" if kept else "silence", after, before, ms)
    if lived and all(event.role != "consumer" for event in events):
        yield Gap("open", lived[-1][0])
