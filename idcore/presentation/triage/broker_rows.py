"""What one row says of each broker: how fast it grows, when its file is full, what is deleted, whether it stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

import pandas as pd

from idcore.answers import growth
from idcore.base.catalogue import Words
from idcore.presentation import times
from idcore.presentation.reader import Reader
from idcore.presentation.triage import broker_logs
from idcore.presentation.triage.activity import is_silent, step_minutes
from idcore.presentation.triage.broker_logs import Speed, rate_text
from idcore.presentation.triage.host_rows import fits, in_order
from idcore.presentation.triage.time_range import TimeRange

SORTS = ("growth", "full", "records", "address")
STEPS = 60  # of a strip
MOST_CELLS = 14  # files of a row, the newest
ALIKE = 0.95  # of the highest rate: who grows this fast is not slower by more than chance
LARGE_SHARE, LARGE_TIMES = 0.4, 2  # of all records, and times as many as of an equal share, or as fast as the next
FEW_TIMES = 1.2  # of an equal share: who has no more of the records grows by something else
LONGEST = 5 * 365 * 86_400  # seconds until a file is full, that are worth a date
FAR = timedelta(days=1)  # until a file is full: the rate of an hour tells the day, no minute
State = Literal["seen", "unseen", "deleted"]


class Step(NamedTuple):
    """A stretch of a strip: where it begins and ends, and how high it is, each from 0 to 1."""

    left: float
    right: float
    height: float


@dataclass(frozen=True, slots=True)
class BrokerRow:
    """One broker. `written` of `size` bytes of its newest file; `files` are the newest, oldest first.

    `name` is what lines call it, if any does. After `lower_since` its offsets are lower than before.
    """

    address: str
    name: str
    host: str
    port: int
    share: float
    speed: Speed | None
    strip: tuple[Step, ...]
    written: int
    size: int
    full_at: datetime | None
    silent_since: datetime | None
    lower_since: datetime | None
    files: tuple[State, ...]
    older: int
    older_deleted: int

    @property
    def title(self) -> str:
        """The name, where it has one, and the address."""
        return titled(self.address, self.name)


def titled(address: str, name: str) -> str:
    """`broker-a (10.0.0.5:10911)`, or the address alone."""
    return f"{name} ({address})" if name else address


def names_of(summary: Mapping[str, Any] | None) -> Mapping[str, str]:
    """What the lines of a scan call its brokers, by their addresses."""
    names: Mapping[str, str] = (summary or {}).get("broker_names", {})
    return names


def with_names(brokers: pd.DataFrame, summary: Mapping[str, Any] | None) -> pd.DataFrame:
    """The brokers of a scan, with what its lines call them in the column `name`; empty where they do not."""
    names = names_of(summary)
    return brokers.assign(name=[names.get(address, "") for address in brokers["address"]])


def rows_of(
    brokers: pd.DataFrame,
    segments: pd.DataFrame,
    logs: Mapping[str, growth.Log],
    speeds: Mapping[str, Speed],
    cut: datetime,
    size: int = growth.SEGMENT,
    within: TimeRange = TimeRange(),  # noqa: B008
) -> list[BrokerRow]:
    """A row for each broker `with_names`: silent ones, then the fastest.

    `logs`: of all that is counted; `cut`: what is older is deleted by now.
    All strips are of the time range, and have one scale of time and one of speed.
    """
    parts = {address: part for address, log in logs.items() if (part := broker_logs.in_range(log, within))}
    strips, seen = _strips(parts, within), dict(iter(segments.groupby("address")))
    total, last = int(brokers["ids"].sum()), max((log.last for log in logs.values()), default=None)
    described = []
    for broker in brokers.to_dict("records"):
        address = broker["address"]
        log, speed = logs.get(address), speeds.get(address)
        end = _End() if log is None or last is None else _ended(log, int(broker["ids"]), last)
        files, older, gone = _files(_of_last_log(seen[address], end), broker_logs.kept_from(log, cut), log, cut)
        written, full = int(broker["max_offset"] if end.newest is None else end.newest) % size, None
        if log is not None and speed is not None and speed.rate > 0 and not (end.silent or end.lower):
            full = _later(log.last, (size - written) / speed.rate)
        described.append(
            BrokerRow(
                address,
                broker.get("name", ""),
                broker["host"],
                int(broker["port"]),
                int(broker["ids"]) / total if total else 0.0,
                speed,
                strips.get(address, ()),
                written,
                size,
                full,
                end.silent,
                end.lower,
                files,
                older,
                gone,
            )
        )
    return sorted(described, key=_worst)


def _worst(row: BrokerRow) -> tuple[bool, bool, float]:
    return row.silent_since is None, row.lower_since is None, -(row.speed.rate if row.speed else -1)


class _End(NamedTuple):
    """How a log ends: since when there are no records; since when they are lower, and the newest offset then."""

    silent: datetime | None = None
    lower: datetime | None = None
    newest: int | None = None


def _ended(log: growth.Log, ids: int, end: datetime) -> _End:
    """Whether a broker has no records though others have some until `end`.

    A log that begins anew at the same address is not silent, though none of its offsets fits the one before.
    """
    until, newest = log.goes_on(end) or (log.last, int(log.highs[-1]))
    if is_silent(log.first, until, ids, end):
        return _End(until)
    if newest < log.lows[0] or is_silent(log.first, log.last, ids, end):
        return _End(None, log.last, newest)
    return _End() if log.ended_before is None else _End(None, log.ended_before, newest)


def sorts(rows: Sequence[BrokerRow]) -> list[str]:
    """What brokers can be ordered by: without times only by their records and addresses."""
    return [by for by in SORTS if by in ("records", "address") or any(row.speed is not None for row in rows)]


def ordered(rows: Sequence[BrokerRow], by: str) -> list[BrokerRow]:
    """The rows in the order a person asked for; `growth`: as `rows_of` has them."""
    keys: dict[str, Callable[[BrokerRow], Any]] = {
        "growth": lambda row: 0,
        "records": lambda row: -row.share,
        "full": lambda row: (row.full_at is None, row.full_at),
        "address": lambda row: (in_order(row.host), row.port),
    }
    return sorted(rows, key=keys[by])


def matching(rows: Sequence[BrokerRow], text: str) -> list[BrokerRow]:
    """The rows whose name or address has this text, or whose host lies in this network."""
    fit = fits(text)
    return [row for row in rows if fit(row.title) or fit(row.host)]


def _later(moment: datetime, seconds: float) -> datetime | None:
    """None for a time that is years away: nobody knows the rate until then."""
    return moment + timedelta(seconds=seconds) if seconds < LONGEST else None


def _ends(logs: Mapping[str, growth.Log], within: TimeRange) -> tuple[datetime, datetime]:
    begin = within.begin or min(log.first for log in logs.values())
    return begin, within.end or max(log.last for log in logs.values())


def _strips(logs: Mapping[str, growth.Log], within: TimeRange) -> dict[str, tuple[Step, ...]]:
    """The speed of each log over time, as parts of the widest span and of the highest speed."""
    if not logs:
        return {}
    begin, end = _ends(logs, within)
    span = (end - begin).total_seconds()
    if span <= 0:
        return {}
    minutes = step_minutes(int(span // 60) + 1, STEPS)
    speeds = {address: growth.speeds(log, minutes) for address, log in logs.items()}
    top = max((speed for own in speeds.values() for _, _, speed in own), default=0.0)
    if top <= 0 or max(map(len, speeds.values())) < 2:  # one step alone would be a bar that says nothing
        return {}

    def place(moment: datetime) -> float:
        return min(1.0, max(0.0, (moment - begin).total_seconds() / span))

    return {
        address: tuple(Step(place(first), place(until), speed / top) for first, until, speed in own)
        for address, own in speeds.items()
    }


def _of_last_log(segments: pd.DataFrame, end: _End) -> pd.DataFrame:
    """Without the files of the log before, where a log began anew."""
    if end.lower is None or end.newest is None:
        return segments
    own = segments[segments["segment"].astype("int64") <= end.newest]
    return own if len(own) else segments


def _files(
    segments: pd.DataFrame, kept_from: int | None, log: growth.Log | None, cut: datetime
) -> tuple[tuple[State, ...], int, int]:
    """The newest files, how many older ones there are, how many of those are deleted: all that is before the cut."""
    starts = {int(name) // growth.SEGMENT for name in segments["segment"]}
    first, last = min(starts), max(starts)
    border = kept_from // growth.SEGMENT if kept_from is not None else first
    if log is not None and log.last < cut:
        border = last + 1
    begin = max(first, last - MOST_CELLS + 1)
    states: list[State] = []
    for file in range(begin, last + 1):
        states.append("deleted" if file < border else "seen" if file in starts else "unseen")
    return tuple(states), begin - first, max(0, min(border, begin) - first)


def _past(key: str, moment: datetime, now: datetime) -> str:
    """The key of a sentence about a time to come, or that about the same time where it has gone by."""
    return f"{key}_past" if moment < now else key


def said(rows: Sequence[BrokerRow], reader: Reader, now: datetime, assumed: str = "") -> tuple[str, str]:
    """Who has no record for how long, whose offsets are lower than before, who has most, who grows fastest, and whose
    file is full first.

    Where there is trouble, the headline is of that alone, and the rest is an aside. Empty without growth. `assumed`:
    what of the times no line shows.
    """
    words, titles = reader.words, _Titles()
    text = _trouble_text(rows, reader, assumed, titles)
    is_silent, aside = bool(text), ""
    if (most := _with_most(rows)) is not None:
        n, share = words.count("broker", len(rows)), words.share(most.share, 1)
        text += words("brokers.said_most", address=titles.of(most), share=share, n=n)
    is_trouble = bool(text)
    steady = [row for row in rows if row.silent_since is None and row.lower_since is None]
    growing = [row for row in steady if row.speed is not None and row.speed.rate > 0]
    if growing:
        grows = _growth_text(growing, len(rows), words, titles) + words("stop")
        text, aside = (text, grows) if is_silent else (text + grows, "")
        first = first_full(rows)
        if first is not None and first.full_at is not None:
            key = "brokers.said_full" if len(rows) == 1 else "brokers.said_first"
            at = full_text(first, reader) + _basis(first, words) + assumed
            full = words(_past(key, first.full_at, now), address=titles.of(first), at=at) + words("stop")
            text, aside = (text, aside + full) if is_trouble else (text + full, aside)
    return text.strip(), aside.strip()


def spoken_of(rows: Sequence[BrokerRow]) -> BrokerRow | None:
    """Whom the headline is about: who is silent, has most or is full first; None of brokers that do not grow."""
    return next(iter((*_silent(rows), *_lower(rows))), None) or _with_most(rows) or first_full(rows)


def _with_most(rows: Sequence[BrokerRow]) -> BrokerRow | None:
    """The broker that has far more records than its share; None where none has."""
    most = max(rows, key=lambda row: row.share, default=None)
    is_large = most is not None and len(rows) > 1 and most.share >= max(LARGE_SHARE, LARGE_TIMES / len(rows))
    return most if is_large else None


class _Titles:
    """How brokers are called in a text: the first time with the address, then by the name alone."""

    def __init__(self) -> None:
        self._said = set[str]()

    def of(self, row: BrokerRow) -> str:
        known = row.address in self._said
        self._said.add(row.address)
        return row.name if known and row.name else row.title


def _growth_text(growing: Sequence[BrokerRow], of: int, words: Words, titles: _Titles) -> str:
    """Who grows fastest of so many brokers, or a group that does; none is where the next is about as fast."""
    rates = sorted((row.speed.rate for row in growing if row.speed is not None), reverse=True)
    alike = [rate for rate in rates if rate >= ALIKE * rates[0]]
    high, low = (rate_text(rate, words) for rate in (alike[0], alike[-1]))
    if len(alike) == 1:
        text = words("brokers.grows" if of == 1 else "brokers.fastest", address=titles.of(growing[0]), rate=high)
        if len(rates) > 1 and rates[0] >= LARGE_TIMES * rates[1]:
            text += words("brokers.said_times", n=f"{rates[0] / rates[1]:,.0f}")
            if growing[0].share * of <= FEW_TIMES:
                text += words("brokers.said_larger", share=words.share(growing[0].share, 1))
        return text
    is_apart = len(alike) < len(rates) and alike[-1] >= LARGE_TIMES * rates[len(alike)]
    if not is_apart:
        low = rate_text(rates[-1], words)
    rate = high if high == low else f"{low} – {high}"
    if is_apart:
        return words("brokers.alike_of", n=f"{len(alike):,}", of=words.count("broker", of), rate=rate)
    key = "brokers.none_apart" if len(alike) < len(rates) else "brokers.alike"
    return words(key if len(rates) == of else f"{key}_rest", n=words.count("broker", len(rates)), rate=rate)


def _silent(rows: Sequence[BrokerRow]) -> list[BrokerRow]:
    """Those that have no more records, the first to stop first."""
    return sorted((row for row in rows if row.silent_since), key=lambda row: str(row.silent_since))


def _lower(rows: Sequence[BrokerRow]) -> list[BrokerRow]:
    """Those whose offsets are lower than before, the first of them first."""
    return sorted((row for row in rows if row.lower_since), key=lambda row: str(row.lower_since))


def _trouble_text(rows: Sequence[BrokerRow], reader: Reader, assumed: str, titles: _Titles) -> str:
    """Who is silent, and whose offsets are lower than before, by the moment since when; of many the first."""
    words, text = reader.words, ""
    lower = [(row, row.lower_since) for row in _lower(rows)]
    for code, some in (("silent", [(row, row.silent_since) for row in _silent(rows)]), ("lower", lower)):
        together: dict[str, list[BrokerRow]] = {}
        for row, since in some:
            together.setdefault(reader.second(since) + assumed, []).append(row)
        more = len(some)
        for at, those in list(together.items())[: broker_logs.NAMED]:
            names = [titles.of(row) for row in those[: broker_logs.NAMED]]
            names += [row.title for row in those[broker_logs.NAMED :]]  # counted, not named
            n, key = words.count("broker", len(those)), f"brokers.said_{code}"
            if len(those) > 1:
                text += words(f"{key}_at_once", n=n, at=at, names=words.first(names, broker_logs.NAMED))
            else:
                text += words(key, address=names[0], at=at)
            more -= len(those)
        if more:
            text += words(f"brokers.said_{code}_more", n=words.count("broker", more))
    return text + words("brokers.lower_why") if lower else text


def first_full(rows: Sequence[BrokerRow]) -> BrokerRow | None:
    """The broker whose file is full first; None where none grows."""
    ends = [(row.full_at, row) for row in rows if row.full_at]
    return min(ends, key=lambda one: one[0])[1] if ends else None


def is_far(row: BrokerRow) -> bool:
    """Whether its file is full so late that no rate of today tells the hour."""
    rate = row.speed.rate if row.speed is not None else 0.0
    return rate > 0 and (row.size - row.written) / rate > FAR.total_seconds()


def full_text(row: BrokerRow, reader: Reader) -> str:
    """When its file is full: the minute, or the day alone where that is far away."""
    assert row.full_at is not None
    return f"{times.local(row.full_at, reader.zone):%Y-%m-%d}" if is_far(row) else reader.minute(row.full_at)


def _basis(row: BrokerRow, words: Words) -> str:
    """How much time the rate is of, where its file is full only longer after it."""
    if row.speed is None or row.speed.seconds is None or (row.size - row.written) / row.speed.rate <= row.speed.seconds:
        return ""
    return words("brokers.said_basis", span=words.duration(row.speed.seconds))


def gauge_text(row: BrokerRow, reader: Reader) -> str:
    """How much of its newest file is written, and when it is full."""
    text = reader.words("brokers.gauge", size=reader.words.bytes(row.written), whole=reader.words.bytes(row.size))
    if row.full_at is not None:
        at = f"{times.local(row.full_at, reader.zone):%m-%d}" if is_far(row) else clock(row.full_at, reader)
        text += reader.words("brokers.gauge_full", at=at)
    return text


def clock(moment: datetime, reader: Reader) -> str:
    """`11-21 09:50`: short enough for a cell. The year is in the span of the strips, the zone under the list."""
    return f"{times.local(moment, reader.zone):%m-%d %H:%M}"


def span_text(logs: Mapping[str, growth.Log], within: TimeRange, reader: Reader, assumed: str = "") -> str:
    """The time that all strips show."""
    if not logs:
        return reader.words("brokers.over_time")
    return " – ".join(times.between(*_ends(logs, within), reader.zone)) + assumed


def outline(steps: Sequence[Step]) -> str:
    """The area under the steps as a CSS polygon, in percent; a stretch without steps has none."""
    corners: list[tuple[float, float]] = []
    for place, step in enumerate(steps):
        before = steps[place - 1].right if place else None
        if before is None or step.left > before:
            corners += [(before, 0.0)] if before is not None else []
            corners.append((step.left, 0.0))
        height = max(step.height, 0.04) if step.height > 0 else 0.0
        corners += [(step.left, height), (step.right, height)]
    corners += [(steps[-1].right, 0.0)] if steps else []
    return ", ".join(f"{100 * x:.2f}% {100 - 100 * y:.1f}%" for x, y in corners)


def files_text(row: BrokerRow, words: Words) -> str:
    """How many files there are from the oldest seen to the newest, and how many of them are deleted by now."""
    deleted = row.older_deleted + sum(state == "deleted" for state in row.files)
    text = words.count("file", len(row.files) + row.older)
    return text + words("brokers.files_deleted", n=f"{deleted:,}") if deleted else text
