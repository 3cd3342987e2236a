"""The commit logs of a scan's brokers: their growth, their speed, what is left of them by now. Has no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

import pandas as pd

from idcore.answers import growth
from idcore.base.catalogue import Words
from idcore.base.numbers import whole_between
from idcore.ids.clock import MINUTE_MS
from idcore.presentation.reader import Reader
from idcore.presentation.triage.time_range import TimeRange

GIB = 1 << 30
NAMED = 3  # brokers of a sentence
MOST_CELLS = 300
LONGEST = 8_760  # hours that files may be kept: a year
SPANS = (("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400))
UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1))
INSTANTS = ("min_at", "max_at")  # of `growth`; an old scan may be without them


@dataclass(frozen=True, slots=True)
class Retention:
    """How long the brokers keep a file, and at which hour they delete."""

    hours: int = growth.KEPT_HOURS
    hour: int = growth.DELETES_AT

    @classmethod
    def of(cls, hours: Any, hour: Any) -> Retention:
        """What boxes or an address have; the broker's default in the place of what is not such a number."""
        usual = cls()
        return cls(whole_between(hours, 1, LONGEST, usual.hours), whole_between(hour, 0, 23, usual.hour))

    def cut(self, now: datetime, zone: tzinfo) -> datetime:
        """What was written before this instant has probably been deleted."""
        return growth.expired_before(now, self.hours, self.hour, zone)


class Marks(NamedTuple):
    """What is marked in a log: where the part begins that is still kept, and the offsets of the time range in sight."""

    kept_from: int | None = None
    hours: int = 72
    within: tuple[int, int] | None = None


def largest(brokers: pd.DataFrame, limit: int, words: Words) -> tuple[list[str], list[int]]:
    """The brokers with most ids, and how many they have; the others are one, which has a name of its own."""
    ordered = brokers.sort_values(["ids", "address"], ascending=[False, True])
    shown, rest = ordered.iloc[:limit], ordered.iloc[limit:]
    labels, values = shown["address"].tolist(), shown["ids"].astype(int).tolist()
    if len(rest):
        labels.append(words("producers.others", n=f"{len(rest):,}"))
        values.append(int(rest["ids"].sum()))
    return labels, values


def logs_of(rows: pd.DataFrame) -> dict[str, growth.Log]:
    """The log of each broker that has dated lines."""
    logs = {address: growth.of_rows(own) for address, own in _rows_of(rows)}
    return {address: log for address, log in logs.items() if log is not None}


def _rows_of(rows: pd.DataFrame) -> Iterator[tuple[str, list[growth.Row]]]:
    """The minutes of each broker."""
    for address, mine in rows.groupby("address", sort=False):
        columns = [_ms(mine["minute"]) // MINUTE_MS, mine["min_offset"], mine["max_offset"]]
        columns += [_ms(mine[name]) for name in INSTANTS if name in mine]
        yield str(address), [growth.Row(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _ms(instants: pd.Series) -> pd.Series:
    return instants.astype("datetime64[us, UTC]").astype("int64") // 1000


class Speed(NamedTuple):
    """Bytes a second of a broker's log, and the bytes and seconds it was made of, where the scan has them."""

    rate: float
    grown: int | None = None
    seconds: float | None = None


def rate_text(rate: float, words: Words) -> str:
    """`7.4 MiB/s`, `180 B/h`: a slow log is measured over the span in which it grows by a byte or more."""
    code, seconds = _span(rate)
    return words(f"brokers.rate.{code}", size=words.bytes(rate * seconds))


def unit_of(most: float) -> tuple[str, int]:
    """The unit of an axis up to so many bytes: one that makes numbers which can be read."""
    return next((row for row in UNITS if most >= row[1]), UNITS[-1])


def rate_unit(most: float, words: Words) -> tuple[str, float]:
    """The same for speeds: `MiB/s`, and how many bytes a second it is."""
    code, seconds = _span(most)
    unit, size = unit_of(most * seconds)
    return words(f"brokers.rate.{code}", size=unit), size / seconds


def _span(rate: float) -> tuple[str, int]:
    return next((row for row in SPANS if rate * row[1] >= 1), SPANS[-1] if rate else SPANS[0])


def speeds_of(brokers: pd.DataFrame, rows: pd.DataFrame, logs: dict[str, growth.Log]) -> dict[str, Speed]:
    """The speed of each broker that has one. A scan without `bytes_per_second` has the speed of whole minutes."""
    if "bytes_per_second" not in brokers:
        rates = {address: growth.rate(log) for address, log in logs.items()}
        return {address: Speed(rate) for address, rate in rates.items() if rate is not None}
    known = brokers[brokers["bytes_per_second"].notna()].set_index("address")["bytes_per_second"]
    sizes = grown_of(rows[rows["address"].isin(known.index)])
    return {address: Speed(float(known[address]), size, ms / 1000) for address, (size, ms) in sizes.items()}


def grown_of(rows: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Of each broker the bytes that its log grew by, and the ms of that."""
    return {address: growth.grown(own) for address, own in _rows_of(rows)}


def kept_from(log: growth.Log | None, cut: datetime) -> int | None:
    """The offset a broker's log had reached at the cut; None where the dates do not reach across it."""
    if log is None or not log.first <= cut < log.last:
        return None
    old = log.low_at < cut.timestamp() * 1000
    return int(log.lows[old][-1])


def offsets_in(log: growth.Log | None, shown: TimeRange) -> tuple[int, int] | None:
    """The lowest and the highest offset known to be written in a time range; None where none is, or without a range."""
    part = in_range(log, shown) if log is not None and shown else None
    return None if part is None else (int(part.lows[0]), int(part.highs[-1]))


def in_range(log: growth.Log, shown: TimeRange) -> growth.Log | None:
    """The part of a log in a time range; None where it has no point there."""
    begin, end = (None if moment is None else moment.timestamp() * 1000 for moment in (shown.begin, shown.end))
    return growth.within(log, begin, end)


def rows_in_range(rows: pd.DataFrame, addresses: Iterable[str], shown: TimeRange) -> pd.DataFrame:
    """The points of some brokers' growth in a time range. An older scan has no instants but the minute."""
    moments = rows[INSTANTS[0]] if INSTANTS[0] in rows else rows["minute"]
    return rows[rows["address"].isin(list(addresses)) & shown.contains(moments)]


class Piece(NamedTuple):
    """A stretch of a broker's log, by the names of its first and its last file: what a cell or a bar shows."""

    address: str
    first: str
    last: str

    @classmethod
    def of(cls, key: str) -> Piece | None:
        """The piece that a key of an address names."""
        address, _, names = key.partition("~")
        first, _, last = names.partition("-")
        whole = address and all(len(name) == 20 and name.isdecimal() for name in (first, last or first))
        return cls(address, first, last or first) if whole else None

    @property
    def key(self) -> str:
        """The same for an address: address~file, or address~first-last."""
        return f"{self.address}~{self.names}"

    @property
    def names(self) -> str:
        """Its files as one name or two."""
        return self.first if self.first == self.last else f"{self.first}-{self.last}"

    def files(self, segments: pd.DataFrame) -> pd.DataFrame:
        """Those of its files that the scan has IDs of."""
        return segments[(segments["segment"] >= self.first) & (segments["segment"] <= self.last)]


def cells(segments: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The files of one broker from the oldest to the newest seen; beyond MOST_CELLS several files share a cell.

    A file's name is the offset of its first byte; unseen files between are rows without ids.
    """
    starts = segments["segment"].astype("int64")
    first, last = int(starts.min()) // GIB, int(starts.max()) // GIB
    together = (last - first) // MOST_CELLS + 1
    seen = segments.assign(cell=(starts // GIB - first) // together)
    grouped = seen.groupby("cell").agg(
        ids=("ids", "sum"),
        distinct=("distinct", "sum"),
        oldest=("segment", "min"),
        newest=("segment", "max"),
        files=("segment", "size"),
    )
    whole = grouped.reindex(range((last - first) // together + 1))
    whole["from_gib"] = first + whole.index * together
    return whole.reset_index(), together


def file_of(offset: int) -> str:
    """The name of the file that an offset is in, by the default size of files."""
    return f"{offset // growth.SEGMENT * growth.SEGMENT:020d}"


def cell_text(row: Any, words: Words) -> str:
    """What a cell says when it is pointed at: its file, or its first and last one, and its IDs."""
    files = int(row.files)
    name = row.oldest if files == 1 else f"{row.oldest}<br>… {row.newest}<br>{words.count('file', files)}"
    return f"<b>{name}</b><br>{words.count('occurrence', int(row.ids))}"


def speed_rate(speed: Speed | None, words: Words) -> str:
    """`7.4 MiB/s`, `800 B/s`."""
    return "" if speed is None else rate_text(speed.rate, words)


def speed_text(speed: Speed | None, words: Words) -> str:
    """`205 MiB in 49 s: 4.2 MiB/s`."""
    if speed is None or speed.grown is None or speed.seconds is None:
        return speed_rate(speed, words)
    span = {"grown": words.bytes(speed.grown), "span": words.duration(speed.seconds)}
    return words("brokers.speed", rate=speed_rate(speed, words), **span)


def without_speed(logs: Mapping[str, growth.Log], words: Words) -> Iterator[str]:
    """A sentence for the brokers whose logs have no speed, for each thing that they lack."""
    reasons: dict[str, list[str]] = {}
    for name, log in logs.items():
        if why := growth.without_speed(log):
            reasons.setdefault(why, []).append(name)
    for reason, names in reasons.items():
        sentence = words(f"growth.without_{reason}")
        if len(names) < len(logs):
            some = words.listed(names) if len(names) <= NAMED else words.count("broker", len(names))
            sentence = words("growth.without_of", brokers=some, sentence=sentence)
        yield sentence


def log_alt(row: Mapping[str, Any], segments: pd.DataFrame, words: Words) -> str:
    """The picture of one broker's log in words."""
    ids, files = words.count("occurrence", int(row["ids"])), words.count("segment", len(segments))
    low, high = (f"{row[name]:,}" for name in ("min_offset", "max_offset"))
    return words("brokers.alt_log", address=row["address"], files=files, ids=ids, low=low, high=high)


def offset_in(text: str) -> int | None:
    """The physical offset that somebody wrote; None where it is not one."""
    plain = text.replace(",", "").replace("_", "")
    return int(plain) if plain.isdecimal() and len(plain) <= 18 else None


def age(log: growth.Log, address: str, offset: int, kept: Retention, reader: Reader, now: datetime) -> list[str]:
    """When an offset was written and how long its record is kept, in a sentence; then what that rests on."""
    words, hours, hour = reader.words, kept.hours, kept.hour
    written, until = growth.written(log, offset), growth.kept(log, offset, hours, hour, reader.zone)
    at = reader.minute(written.at or written.earliest or written.latest)
    text = words(f"growth.{written.how}", offset=f"{offset:,}", address=address, at=at)
    text += words(f"growth.kept_{until.bound}", until=reader.minute(until.until))
    gone, file = until.until <= now and until.bound != "at_least", file_of(offset)
    notes = [words("growth.rule", hours=hours, hour=f"{hour:02d}:00")]
    if written.how in ("minute", "between"):
        first, last = reader.full(written.earliest), reader.full(written.latest)
        notes.insert(0, words("growth.known", first=first, last=last))
    return [text + words("growth.gone" if gone else "growth.file", file=file), *notes]


def ages(logs: Mapping[str, growth.Log], offset: int, kept: Retention, reader: Reader, now: datetime) -> Iterator[str]:
    """The same of all brokers whose known part has the offset; else how far it is from the nearest one."""
    inside = [name for name, log in logs.items() if int(log.lows[0]) <= offset <= int(log.highs[-1])]
    for name in inside[:NAMED]:
        yield age(logs[name], name, offset, kept, reader, now)[0]
    if inside or not logs:
        return
    apart = {name: max(int(log.lows[0]) - offset, offset - int(log.highs[-1])) for name, log in logs.items()}
    name = min(apart, key=lambda one: (apart[one], one))
    code = "growth.beyond" if offset > int(logs[name].highs[-1]) else "growth.ahead"
    yield reader.words(code, offset=f"{offset:,}", size=reader.words.bytes(apart[name]), address=name)


def notes(
    logs: Mapping[str, growth.Log], kept: Retention, of_store: bool, largest: int, reader: Reader, now: datetime
) -> list[str]:
    """What a cell is, what the growth rests on, what was left out of it, and whether all of it is old.

    By an ID alone a file is taken to be of the default size. Of a store the size of its largest file is known.
    """
    words = reader.words
    other = of_store and largest != growth.SEGMENT
    cell = words("brokers.files_note_store", size=words.bytes(largest)) if other else words("brokers.files_note")
    if not logs:
        return [cell, words("growth.none")]
    left_out = sum(log.left_out for log in logs.values())
    old = all(log.last < kept.cut(now, reader.zone) for log in logs.values())
    return [
        cell,
        words("brokers.growth_note_store" if of_store else "brokers.growth_note"),
        words("growth.left_out", n=words.count("minute", left_out)) if left_out else "",
        words("brokers.all_old", hours=kept.hours, hour=f"{kept.hour:02d}:00") if old else "",
    ]
