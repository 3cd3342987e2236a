"""The slow twin of the scan: text in, every table out, with dicts and lists. Refuses to know the code it judges."""

from __future__ import annotations

import gzip
import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from ipaddress import ip_address
from itertools import pairwise
from typing import Any, NamedTuple

from idcore.ids.look_alikes import order_of

from . import dates
from .chains import Chain, chains, tracks
from .other_line_records import texts_in
from .other_records import dated_text, record_text
from .reading import (
    BORN_2021,
    Calendar,
    Client,
    Offset,
    Refused,
    Uniq,
    classify,
    instant,
    is_known,
    is_usual,
    milliseconds,
    minute_of,
    number,
    private,
    settled,
    stream,
    tokens,
)

Row = dict[str, Any]
Key = tuple[str, str, int, int]  # of a process
Votes = dict[Key, list[dates.Vote]]
Growth = dict[tuple[str, datetime], list[tuple[int, datetime]]]
Line = tuple[bytes, list[tuple[Uniq | Offset | Client, bytes]]]  # its text, and its ids, each with a text that dates it

GIB = 1 << 30
MIB = 1 << 20


class Found(NamedTuple):
    """One accepted occurrence."""

    byte: int
    raw: bytes
    one: Uniq | Offset | Client
    file: int = 0
    shown: bool = True


@dataclass
class Process:
    """All there is to know of one fingerprint; the tests of the counters table read it.

    `ids` holds (time, counter), time being elapsed, or ms since the first month where several are known.
    """

    key: tuple[str, str, int, int]
    occurrences: list[tuple[int, int]]
    ids: list[tuple[int, int]]
    chains: list[Chain]
    dated: dates.Dating | None
    last_possible: int | None
    start: int | None

    @property
    def several(self) -> bool:
        return self.dated is not None and len(self.dated.spans) > 1

    def sent_at(self, elapsed: int) -> datetime | None:
        if self.dated is not None:
            span = span_of(elapsed, self.dated.spans)
            return instant(span.start + elapsed) if elapsed < span.length else None
        if self.start is None or self.last_possible is None or elapsed > self.last_possible:
            return None
        return instant(self.start + elapsed)

    @property
    def times(self) -> list[datetime]:
        return [t for e in {e for e, _ in self.occurrences} if (t := self.sent_at(e)) is not None]

    @property
    def in_order(self) -> list[tuple[int, int]]:
        """Different (elapsed, counter) in the order of time."""
        return sorted(set(self.occurrences), key=lambda one: (time_of(one[0], self.dated), one[1]))


def span_of(elapsed: int, spans: list[dates.Span]) -> dates.Span:
    return next(span for span in spans if elapsed <= span.until)


def time_of(elapsed: int, dated: dates.Dating | None) -> int:
    """Where an id stands in the order of its process: impossible ones behind all others."""
    if dated is None or len(dated.spans) == 1:
        return elapsed
    base = min(span.start for span in dated.spans)
    span = span_of(elapsed, dated.spans)
    return elapsed + (span.start if elapsed < span.length else max(s.start + s.length for s in dated.spans)) - base


def unpacked(data: bytes) -> bytes:
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


@dataclass
class Refusals:
    """Tokens that are no ids: by reason, of those that only look like ids by reason and name, and trace ids."""

    counts: Counter[str] = field(default_factory=Counter)
    alike: dict[tuple[str, str | None], list[str]] = field(default_factory=lambda: defaultdict(list))
    traces: int = 0

    def take(self, other: Refusals) -> dict[str, int]:
        """Those of one more text, and how many these are."""
        self.counts += other.counts
        for name, texts in other.alike.items():
            self.alike[name] += texts
        alike = sum(map(len, other.alike.values()))
        return {"refused": other.counts.total(), "lookalikes": alike, "trace_ids": other.traces}

    @property
    def look_alike_rows(self) -> list[Row]:
        return [
            {"reason": reason, "label": label, "ids": len(texts), "distinct": len(set(texts))}
            for (reason, label), texts in self.alike.items()
        ]


def judged(data: bytes, case: str, vouched: set[Key], file: int) -> tuple[list[Found], Refusals]:
    """The ids of a text, and why other tokens are none; processes that a label vouches for go to `vouched`."""
    here: list[Found] = []
    refused = Refusals()
    for token in tokens(data):
        one = classify(token.text, token.labelled, case, token.disowned)
        if not isinstance(one, Refused):
            here.append(Found(token.byte, bytes.fromhex(token.text), one, file, token.shown))
            if token.labelled and isinstance(one, Uniq):
                vouched.add(one.process)
        elif one.reason == "other_name":
            refused.alike["label", token.disowned].append(token.text.upper())
        elif one.reason == "trace_id":
            refused.traces += 1
        else:
            refused.counts[one.reason] += 1
    return here, refused


def less_look_alikes(
    accepted: list[Found],
    vouched: set[Key],
    alike: dict[tuple[str, str | None], list[str]],
    files: list[Row],
    case: str,
) -> list[Found]:
    """The ids that are left, and the counts of what was rejected set right."""
    gone = look_alikes(accepted, vouched) if case == "strict" else []
    for found, reason in gone:
        alike[reason, None].append(found.raw.hex())
        files[found.file]["ids"] -= 1
        files[found.file]["lookalikes"] += 1
    return without(accepted, [found for found, _ in gone])


def without(accepted: list[Found], gone: list[Found]) -> list[Found]:
    out = set(map(id, gone))
    return [found for found in accepted if id(found) not in out]


def rank(one: Uniq) -> int:
    """Which processes of many are compared: any order does that has nothing to do with the input."""
    address = int(ip_address(one.host))
    return int(order_of(address >> 64, address % 2**64, one.pid << 32 | one.loader))


@dataclass(frozen=True)
class Suspect:
    """A process of an unknown client, by its least id."""

    raw: bytes
    one: Uniq
    several: bool
    decimal: bool
    shown: bool

    @classmethod
    def of(cls, own: list[Found]) -> Suspect:
        least = min(own, key=lambda found: (found.one.elapsed, found.one.counter))  # type: ignore[union-attr]
        raws = {found.raw for found in own}
        assert isinstance(least.one, Uniq)
        return cls(least.raw, least.one, len(raws) > 1, all_decimal(raws), any(found.shown for found in own))

    @property
    def early(self) -> bool:
        return self.one.layout == "uniq_v4_le"

    @property
    def network(self) -> bytes:
        return self.raw[:2]

    @property
    def tail(self) -> tuple[int, int]:
        return self.one.elapsed, self.one.counter

    @property
    def private(self) -> bool:
        return has_private_address(self.raw)


def look_alikes(accepted: list[Found], vouched: set[Key]) -> list[tuple[Found, str]]:
    """The ids of unknown clients that chance, a UUID, a clock or a number gave, and which of these."""
    by_process: dict[Key, list[Found]] = defaultdict(list)
    for found in accepted:
        if isinstance(found.one, Uniq) and not is_usual(found.one.loader):
            by_process[found.one.process].append(found)
    suspects = {key: Suspect.of(own) for key, own in by_process.items()}
    sample = sorted(suspects, key=lambda key: rank(suspects[key].one))[:1024]
    unnamed = look_alike_rule([suspects[key] for key in sample if key not in vouched])
    named = rule_of_named([suspects[key] for key in sample if key in vouched])
    reasons = {key: (named if key in vouched else unnamed)(one) for key, one in suspects.items()}
    return [(found, reasons[key]) for key, own in by_process.items() for found in own if reasons[key]]


def rule_of_named(suspects: list[Suspect]) -> Callable[[Suspect], str]:
    """Why a process is none whose ids have a label: the same, if an eighth count more than a month has."""
    longer = 0
    for one in suspects:
        lasts = timedelta(milliseconds=one.one.elapsed)
        is_possible = lasts <= timedelta(days=31, seconds=1) or lasts >= timedelta(milliseconds=2**32) - timedelta(
            days=1
        )
        longer += not (is_possible or one.several or one.early or is_known(one.one.loader))
    reason_of = look_alike_rule(suspects) if longer >= max(3, len(suspects) / 8) else lambda one: ""
    return lambda one: "" if reason_of(one) == "single" else reason_of(one)


def look_alike_rule(suspects: list[Suspect]) -> Callable[[Suspect], str]:
    """Why a process is none, by a sample of them all."""
    clocks = sum(begins_with_time(one.raw) for one in suspects if not one.early)
    digits = sum(begins_with_digits_of_time(one.raw) for one in suspects if not one.early)

    def marked(one: Suspect) -> bool:
        if one.decimal or one.early:
            return one.decimal
        clock = clocks >= max(8, len(suspects) / 8) and begins_with_time(one.raw)
        return clock or (digits >= max(3, len(suspects) / 8) and begins_with_digits_of_time(one.raw))

    some = [one for one in suspects if not (one.several or one.early or marked(one))]
    uuids = {v for v, n in Counter(uuid_version(one.raw) for one in some).items() if v and n >= max(8, len(some) / 8)}
    others = [one for one in some if uuid_version(one.raw) not in uuids] if len(some) >= 8 else some
    tails = tails_of(others) if len(some) >= 8 else set()
    rest = [one for one in others if one.tail not in tails]
    most = 3 if len(rest) < 256 else 4
    networks = {network for network, n in Counter(one.network for one in rest).items() if n >= most}
    spread = len(some) >= 8 and are_spread([one.raw for one in rest if not one.private and one.network not in networks])
    by_chance = len(some) / 240
    everywhere = len(some) >= 75 and sum(one.private for one in some) <= by_chance + 4 * by_chance**0.5

    def reason_of(one: Suspect) -> str:
        of_uuid = uuid_version(one.raw) in uuids
        real = one.private and (not everywhere or one.one.counter in (0, 1) or is_known(one.one.loader))
        real = real or one.network in networks
        if marked(one) or (
            not (one.several or one.early) and (one.tail in tails or ((spread or of_uuid) and not real))
        ):
            return "uuid" if of_uuid else "spread"
        shown = one.shown or one.several or one.private or is_known(one.one.loader) or one.one.loader < 65_536
        return "" if shown or one.early or len(one.raw) > 16 or one.network in networks else "single"

    return reason_of


def tails_of(some: list[Suspect]) -> set[tuple[int, int]]:
    """Elapsed and counter of many processes, most of them of public addresses."""
    by_tail: dict[tuple[int, int], list[Suspect]] = defaultdict(list)
    for one in some:
        by_tail[one.tail].append(one)
    tails = {
        tail
        for tail, own in by_tail.items()
        if len(own) >= max(4, len(some) / 16) and sum(one.private for one in own) < len(own) / 2
    }
    return tails if sum(len(by_tail[tail]) for tail in tails) >= 8 else set()


def are_spread(public: list[bytes]) -> bool:
    """Whether addresses are of all networks, also of those that no host has."""
    by_chance = 256 - 256 * (255 / 256) ** len(public)
    nowhere = sum(raw[0] >= 224 or raw[0] == 0 for raw in public)
    spread = len(public) >= 8 and len({raw[0] for raw in public}) >= 0.75 * by_chance
    return spread and nowhere >= (len(public) - 32) / 32


def all_decimal(own: set[bytes]) -> bool:
    return all(raw.hex().isdecimal() for raw in own)


def begins_with_time(raw: bytes) -> bool:
    return len(raw) == 16 and (raw[0] == 0 or 1_000_000_000_000 <= number(raw, 0, 6) < 2_100_000_000_000)


def begins_with_digits_of_time(raw: bytes) -> bool:
    """Seconds since 1970, or a date with hour and minute, in decimal digits."""
    if len(raw) != 16:
        return False
    seconds, date = raw.hex()[:10], raw.hex()[:12]
    if seconds.isdecimal() and 1_262_304_000 <= int(seconds) < 2_100_000_000:
        return True
    found = re.fullmatch(r"(20[1-3]\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d", date)
    return found is not None and int(found[1]) < 2037


def has_private_address(raw: bytes) -> bool:
    if len(raw) != 16:
        return raw[0] == 0xFD or raw.hex().startswith(("fe8", "00000000"))
    return raw[:2] == b"\x7f\0" or (raw[0] != 127 and private(raw[:4]))


def uuid_version(raw: bytes) -> int:
    digits = raw.hex()
    return int(digits[12], 16) if len(raw) == 16 and digits[16] in "89ab" else 0


def tables(
    files: Mapping[str, bytes] | Iterable[tuple[str, bytes]], zone: tzinfo, at: datetime, case: str = "strict"
) -> dict[str, list[Row]]:
    """Every table of the scan that the text alone gives; rows in any order."""
    named = list(files.items()) if isinstance(files, Mapping) else list(files)
    accepted: list[Found] = []
    refused, vouched, file_rows = Refusals(), set[Key](), list[Row]()
    growth: Growth = defaultdict(list)
    votes: Votes = defaultdict(list)
    stored_as: dict[str, set[str]] = defaultdict(set)
    lines_of: Counter[str] = Counter()
    moments: Moments = defaultdict(list)
    dated: list[tuple[Uniq | Client, Offset, dates.Vote | None, bytes]] = []
    for name, stored in named:
        data = unpacked(stored)
        here, refused_here = judged(data, case, vouched, len(file_rows))
        counts = {"ids": len(here), "error": None} | refused.take(refused_here)
        file_rows.append({"file": name, "bytes": len(stored), "text_bytes": len(data), **counts})
        accepted += here
        lines = by_line(data, here)
        count_votes(lines, zone, at, votes)
        count_moments(lines, zone, moments)
        for text, own in lines:
            line = pairs_of(text, own)
            short = len(text) <= MIB
            for (one, said), place in line:
                vote = dates.vote(said, one, zone, at) if short and isinstance(one, Uniq) else None
                dated.append((one, place, vote, said if short else b""))
                stored_as[written(one)].add(written(place))
            lines_of.update({written(one) for (one, _), _ in line})
    accepted = less_look_alikes(settle(accepted), vouched, refused.alike, file_rows, case)
    known = dates.whole(votes, [when for own in moments.values() for when, *_ in own], SHARE)
    calendar = calendar_of(known, Calendar(zone, at), zone, at)
    for one, place, vote, text in dated:
        sent = sent_of_line(one, vote, text, zone, at, known)
        if sent is not None:
            growth[place.address, minute_of(sent)].append((place.offset, sent))
    running = processes(accepted, calendar, votes, zone, known, at)
    brokers = {found.one.address for found in accepted if isinstance(found.one, Offset)}
    growth = {key: rows for key, rows in growth.items() if key[0] in brokers}
    clients = client_processes(accepted, moments, zone, at, known)
    kept = {written(found.one) for found in accepted}
    return {
        "processes": [process_row(p, zone, known) for p in running],
        "hosts": host_rows(running),
        "brokers": broker_rows(accepted, growth),
        "segments": segment_rows(accepted),
        "clients": [c.row for c in clients],
        "timeline": timeline_rows(clients, running),
        "activity": activity_rows(running),
        "growth": growth_rows(growth),
        "copies": [
            {"msg_id": one, "offset_msg_ids": ",".join(sorted(places)), "lines": lines_of[one]}
            for one, places in stored_as.items()
            if len(places) > 1 and one in kept
        ],
        "refused": [{"reason": reason, "ids": n} for reason, n in refused.counts.items()],
        "lookalikes": refused.look_alike_rows,
        "files": file_rows,
    }


def all_processes(
    files: Iterable[tuple[str, bytes]], zone: tzinfo, at: datetime, case: str = "strict"
) -> list[Process]:
    accepted: list[Found] = []
    votes: Votes = defaultdict(list)
    vouched: set[Key] = set()
    for _, stored in files:
        data = unpacked(stored)
        here, _ = judged(data, case, vouched, 0)
        accepted += here
        count_votes(by_line(data, here), zone, at, votes)
    known = dates.whole(votes, [], SHARE)
    accepted = settle(accepted)
    accepted = without(accepted, [one for one, _ in look_alikes(accepted, vouched)] if case == "strict" else [])
    return processes(accepted, calendar_of(known, Calendar(zone, at), zone, at), votes, zone, known, at)


SHARE = 0.9  # of the ids that lines date, where the zone of the scan is assumed
Moments = dict[tuple[str, int], list[tuple[int, int, int | None, bool]]]  # when, kind, minutes ahead


def settle(accepted: list[Found]) -> list[Found]:
    ones = settled([(found.raw, found.one) for found in accepted])
    return [found._replace(one=one) for found, one in zip(accepted, ones, strict=True)]


def calendar_of(known: dates.Whole, calendar: Calendar, zone: tzinfo, at: datetime) -> Calendar:
    """In which months ids are read that no line dates."""
    if known.latest is None:
        return calendar
    own = zone if known.zone is None else timezone(timedelta(minutes=known.zone))
    return Calendar(own, min(at, instant(known.latest) + timedelta(days=1)))


def line_instant(line: bytes, zone: tzinfo) -> tuple[int | None, int | None, bool]:
    """bornTimestamp, the time that the line opens with, and whether that names its zone."""
    moment = dates.moment_of(line)
    if moment is None:
        return dates.born_of(line), None, False
    wall, ahead = moment
    said = dates.instant_of(wall, zone if ahead is None else timezone(timedelta(minutes=ahead)))
    return dates.born_of(line), said, ahead is not None


def minutes_ahead(made: int, when: int, late: int) -> int | None:
    minutes = (made - when + 450_000) // 900_000 * 15
    return minutes if minutes in dates.ZONES and abs(made - when - minutes * 60_000) <= late else None


def ahead_by_line(one: Client, line: bytes, zone: tzinfo) -> tuple[int | None, int, int | None]:
    """When a line was written, and what it says of the zone of the seconds: kind, minutes ahead."""
    born, said, zoned = line_instant(line, zone)
    made = milliseconds(BORN_2021) + one.seconds * 1000
    if born is not None:
        ahead = minutes_ahead(made, born, 60_000)
        return born, dates.BORN if ahead is not None else dates.MONTH, ahead
    if said is None:
        return None, dates.MONTH, None
    local = milliseconds(BORN_2021) - milliseconds(datetime(2021, 1, 1, tzinfo=zone))
    ahead = 0 if -2000 <= said - made <= dates.HOUR else minutes_ahead(made, said, 10_000)
    if not zoned and ahead != 0 and ahead != local // 60_000:
        ahead = None
    return said, dates.PREFIX if zoned and ahead is not None else dates.MONTH, ahead


def count_moments(lines: list[Line], zone: tzinfo, moments: Moments) -> None:
    for text, own in lines:
        if len(text) <= MIB:
            for one, said in own:
                if isinstance(one, Client):
                    when, kind, ahead = ahead_by_line(one, said, zone)
                    if when is not None:
                        born, _, zoned = line_instant(said, zone)
                        when += 0 if born is not None or zoned else 26 * dates.HOUR
                        moments[one.mac, one.pid].append((when, kind, ahead if one.way[0] == "big" else None, True))


def rust_months() -> list[tuple[int, int]]:
    starts = [milliseconds(datetime(n // 12, n % 12 + 1, 1, tzinfo=UTC)) for n in range(2010 * 12, 2029 * 12)]
    return [(a, max(b - a, 30 * dates.DAY + 1000)) for a, b in pairwise(starts)][::-1]


@dataclass
class ClientProcess:
    """The ids of one 5.x client, as all of them are meant."""

    key: tuple[str, int]
    own: list[Client]
    way: str
    ahead: int
    source: str | None
    until: int

    def sent_at(self, one: Client) -> datetime | None:
        if self.way == "rust":
            found = [a for a, long in rust_months() if a + one.seconds <= self.until and one.seconds < long]
            return instant(found[0] + one.seconds) if found else None
        return BORN_2021 + timedelta(seconds=self.number(one.seconds), minutes=-self.ahead)

    def number(self, value: int) -> int:
        return int.from_bytes(value.to_bytes(4, "big"), "little") if self.way == "little" else value

    @property
    def row(self) -> Row:
        times = [t for one in self.own if (t := self.sent_at(one)) is not None]
        sequences = [one.sequence for one in self.own]
        local = self.way == "big" and self.ahead != 0
        sign, ahead = "-" if self.ahead < 0 else "+", abs(self.ahead)
        return {
            "mac": self.key[0],
            "pid": self.key[1],
            "ids": len(self.own),
            "distinct": len(set(self.own)),
            "first_sent_at": min(times, default=None),
            "last_sent_at": max(times, default=None),
            "min_sequence": min(sequences),
            "max_sequence": max(sequences),
            "zone": f"{sign}{ahead // 60:02d}:{ahead % 60:02d}" if local else None,
            "zone_source": self.source if local else None,
        }


def client_processes(
    accepted: list[Found], moments: Moments, zone: tzinfo, at: datetime, known: dates.Whole
) -> list[ClientProcess]:
    by_key: dict[tuple[str, int], list[Client]] = defaultdict(list)
    for found in accepted:
        if isinstance(found.one, Client):
            by_key[found.one.mac, found.one.pid].append(found.one)
    out = []
    names = ("big", "little", "rust")
    for key, own in by_key.items():
        ways = Counter(one.way[0] for one in own if one.way[1]) or Counter(one.way[0] for one in own)
        way = max(names, key=lambda name: (ways[name], -names.index(name)))
        seen = moments.get(key, [])
        votes = [(kind, ahead) for _, kind, ahead, _ in seen if ahead is not None]
        until = max((when for when, *_ in seen), default=None)
        if until is None:
            until = known.latest
        source, ahead = "assumed", 0
        if votes:
            best = min(kind for kind, _ in votes)
            counted = Counter(ahead for kind, ahead in votes if kind == best)
            ahead = min(counted, key=lambda one: (-counted[one], abs(one), one))
            source = ("born", "prefix", "prefix")[best]
        elif way == "big":
            last = milliseconds(BORN_2021) + max(one.seconds for one in own) * 1000
            over = last - milliseconds(at) - 60_000
            local = milliseconds(BORN_2021) - milliseconds(datetime(2021, 1, 1, tzinfo=zone))
            if over > 0:
                hours = local // 60_000 if local >= over else -(-over // dates.HOUR) * 60
                ahead = hours if hours <= 840 else 0
        out.append(
            ClientProcess(
                key,
                own,
                way,
                ahead if way == "big" else 0,
                source,
                milliseconds(at) if until is None else until + dates.HOUR,
            )
        )
    return out


def sent_of_line(
    one: Uniq | Client, vote: dates.Vote | None, line: bytes, zone: tzinfo, at: datetime, known: dates.Whole
) -> datetime | None:
    """When an id was made, by its own line, and where that leaves the zone or the month open by the whole input."""
    if isinstance(one, Client):
        when, _, ahead = ahead_by_line(one, line, zone)
        if one.way[0] == "rust":
            return None if when is None else instant(when)
        seconds = int.from_bytes(one.seconds.to_bytes(4, "big"), "little") if one.way[0] == "little" else one.seconds
        return BORN_2021 + timedelta(seconds=seconds, minutes=-(ahead or 0) if one.way[0] == "big" else 0)
    if vote is not None and (vote.kind < dates.MONTH or one.layout == "uniq_v4_le"):
        return instant(vote.start + one.elapsed)
    start = vote.start if vote is not None else Calendar(zone, at).start(one.layout, one.elapsed)
    if start is None:
        return None
    sent = instant(start + one.elapsed)
    if one.layout == "uniq_v4_le":
        return sent
    if vote is None and known.latest is not None:
        sent = month_back(sent, zone, known.latest + dates.DAY)
    if known.zone is not None:
        local = sent.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        sent += local.replace(tzinfo=zone).utcoffset() or timedelta()
        sent -= timedelta(minutes=known.zone)
    return sent


def month_back(sent: datetime, zone: tzinfo, until: int) -> datetime:
    """The minute of an id in the newest month in which it is not too late; its seconds stay."""
    there = sent.astimezone(zone)
    own = there.year, there.month
    begun = minute_of(sent)
    elapsed = milliseconds(begun) - dates.month_start(own, zone)
    for month in dates.months_from(own, 14):
        start = dates.month_start(month, zone)
        if start + elapsed <= until and elapsed < dates.length_of(month, zone, ""):
            break
    return instant(start + elapsed) + (sent - begun)


def count_votes(lines: list[Line], zone: tzinfo, at: datetime, votes: Votes) -> None:
    for text, own in lines:
        if len(text) <= MIB:
            for one, said in own:
                vote = dates.vote(said, one, zone, at) if isinstance(one, Uniq) else None
                if isinstance(one, Uniq) and vote is not None:
                    votes[one.process].append(vote)


def processes(
    accepted: list[Found], calendar: Calendar, votes: Votes, zone: tzinfo, known: dates.Whole, at: datetime
) -> list[Process]:
    by_key: dict[tuple[str, str, int, int], list[tuple[int, int]]] = defaultdict(list)
    for found in accepted:
        if isinstance(found.one, Uniq):
            by_key[found.one.process].append((found.one.elapsed, found.one.counter))
    out = []
    for key, occurrences in by_key.items():
        dated = dates.dating(votes.get(key, []), zone, key[0], known)
        if dated is not None:
            until = calendar.reference
            dated = dates.with_month_before(dated, [e for e, _ in occurrences], zone, key[0], until)
            dated = dates.with_month_after(dated, occurrences, zone, key[0], milliseconds(at))
        ids = sorted({(time_of(e, dated), c) for e, c in occurrences})
        if dated is None:
            last = max((e for e, _ in occurrences if calendar.start(key[0], e) is not None), default=None)
            start = calendar.start(key[0], last)
        else:
            possible = {e: span_of(e, dated.spans) for e, _ in occurrences}
            instants = {span.start + e: e for e, span in possible.items() if e < span.length}
            last = instants[max(instants)] if instants else None
            start = None
        out.append(Process(key, occurrences, ids, chains(ids), dated, last, start))
    return out


def process_row(p: Process, zone: tzinfo, known: dates.Whole) -> Row:
    layout, address, pid, loader = p.key
    (first_elapsed, first_counter), (last_elapsed, last_counter) = p.ids[0], p.ids[-1]
    produced = sum(c.produced for c in p.chains)
    seconds = (last_elapsed - first_elapsed) / 1000
    rate = (produced - len(p.chains)) / seconds if seconds else None
    sure = rate is None or not any(
        (b[0] - a[0]) / 1000 * rate > 32768 for c in p.chains for a, b in zip(c.ids, c.ids[1:], strict=False)
    )
    place, bits = stream().get(loader, (None, None))
    return {
        "layout": layout,
        "host": address,
        "pid": pid,
        "loader": f"{loader:08X}",
        "ids": len(p.occurrences),
        "distinct": len(p.ids),
        "first_elapsed_ms": p.in_order[0][0],
        "last_elapsed_ms": p.in_order[-1][0],
        "first_sent_at": min(p.times, default=None),
        "last_sent_at": max(p.times, default=None),
        "first_counter": first_counter,
        "last_counter": last_counter,
        "produced": produced,
        "missing": sum(c.missing for c in p.chains),
        "wraps": sum(c.wraps for c in p.chains),
        "wraps_certain": sure,
        "out_of_order": sum(c.out_of_order for c in p.chains),
        "tracks": tracks(p.chains),
        "rate_per_second": rate,
        "chains": len(p.chains),
        "loader_position": place,
        "loader_bits": bits,
        "last_possible_elapsed_ms": p.last_possible,
        **zone_columns(p, zone, known),
    }


def zone_columns(p: Process, zone: tzinfo, known: dates.Whole) -> Row:
    if p.last_possible is None:
        return {
            "zone": None,
            "zone_source": None,
            "month": None,
            "months_mixed": p.dated is not None and p.dated.is_mixed,
        }
    sent = p.sent_at(p.last_possible)
    assert sent is not None
    start = milliseconds(sent) - p.last_possible
    month, ahead = dates.label(start, p.key[0])
    source = "assumed"
    own = (dates.month_start(month, UTC) - dates.month_start(month, zone)) // 60_000
    if p.key[0] == "uniq_v4_le":  # its hour is no zone: that of the scan
        ahead = (dates.month_start(month, UTC) - dates.month_start(month, zone)) // 60_000
    elif p.dated is not None and p.dated.kind != dates.MONTH:
        source, ahead = ("born", "prefix")[p.dated.kind], p.dated.zone
    elif p.dated is None and known.zone is not None:
        source, ahead = ("born", "prefix")[known.kind], known.zone
    if ahead == own:  # of the scan's zone: as it is at the time
        ahead = int((sent.astimezone(zone).utcoffset() or timedelta()).total_seconds()) // 60
    sign, ahead = "-" if ahead < 0 else "+", abs(ahead)
    is_mixed = p.dated is not None and p.dated.is_mixed
    shown = p.dated is not None and not p.dated.year_assumed and not is_mixed
    return {
        "zone": f"{sign}{ahead // 60:02d}:{ahead % 60:02d}",
        "zone_source": source,
        "month": f"{month[0]}-{month[1]:02d}" if shown else None,
        "months_mixed": is_mixed,
    }


def host_rows(running: list[Process]) -> list[Row]:
    rows = []
    by_host: dict[str, list[Process]] = defaultdict(list)
    for p in running:
        by_host[p.key[1]].append(p)
    for address, own in by_host.items():
        times = [t for p in own for t in p.times]
        rows.append(
            {
                "host": address,
                "processes": len(own),
                "ids": sum(len(p.occurrences) for p in own),
                "distinct": sum(len(p.ids) for p in own),
                "first_sent_at": min(times, default=None),
                "last_sent_at": max(times, default=None),
            }
        )
    return rows


def ends_of(dated: list[tuple[int, datetime]]) -> tuple[tuple[int, datetime], tuple[int, datetime]]:
    """The lowest and the highest offset, each with its earliest instant."""
    highest = max(offset for offset, _ in dated)
    return min(dated), min(one for one in dated if one[0] == highest)


def growth_rows(growth: Growth) -> list[Row]:
    rows = []
    for (address, minute), dated in growth.items():
        (least, begin), (greatest, end) = ends_of(dated)
        rows.append(
            {
                "address": address,
                "minute": minute,
                "min_offset": least,
                "max_offset": greatest,
                "min_at": begin,
                "max_at": end,
            }
        )
    return rows


def minutes_of_growth(minutes: dict[datetime, list[tuple[int, datetime]]]) -> list[datetime]:
    """The longest list of minutes whose lowest offsets never fall, slow; of several the one of lower offsets."""
    order = sorted(minutes)
    least = [min(offset for offset, _ in minutes[minute]) for minute in order]
    best: list[list[int]] = []
    for place, value in enumerate(least):
        before = [best[one] for one in range(place) if least[one] <= value]
        longest = max(map(len, before), default=0)
        chosen = min((one for one in before if len(one) == longest), key=lambda one: least[one[-1]], default=[])
        best.append([*chosen, place])
    longest = max(map(len, best), default=0)
    kept = min((one for one in best if len(one) == longest), key=lambda one: least[one[-1]], default=[])
    return [order[place] for place in kept]


def bytes_per_second(minutes: dict[datetime, list[tuple[int, datetime]]]) -> float | None:
    """From the lowest to the highest offset; None where the highest is not later than the lowest."""
    kept = minutes_of_growth(minutes)
    if not kept:
        return None
    least, greatest = min(one for one, _ in minutes[kept[0]]), max(one for one, _ in minutes[kept[-1]])
    ends = [ends_of(minutes[minute]) for minute in kept]
    begin = min(at for (offset, at), _ in ends if offset == least)
    end = min(at for _, (offset, at) in ends if offset == greatest)
    seconds = (milliseconds(end) - milliseconds(begin)) / 1000
    return (greatest - least) / seconds if seconds > 0 and greatest > least else None


def broker_rows(accepted: list[Found], growth: Growth) -> list[Row]:
    rows = []
    dated: dict[str, dict[datetime, list[tuple[int, datetime]]]] = defaultdict(dict)
    for (address, minute), known in growth.items():
        dated[address][minute] = known
    by_address: dict[str, list[Offset]] = defaultdict(list)
    for found in accepted:
        if isinstance(found.one, Offset):
            by_address[found.one.address].append(found.one)
    for address, own in by_address.items():
        values = [o.offset for o in own]
        rows.append(
            {
                "address": address,
                "host": own[0].host,
                "port": own[0].port,
                "ids": len(own),
                "distinct": len(set(values)),
                "segments": len({v // GIB for v in values}),
                "min_offset": min(values),
                "max_offset": max(values),
                "bytes_per_second": bytes_per_second(dated[address]),
            }
        )
    return rows


def segment_rows(accepted: list[Found]) -> list[Row]:
    by_segment: dict[tuple[str, int], list[int]] = defaultdict(list)
    for found in accepted:
        if isinstance(found.one, Offset):
            by_segment[found.one.address, found.one.offset // GIB].append(found.one.offset)
    return [
        {
            "address": address,
            "segment": f"{n * GIB:020d}",
            "ids": len(v),
            "distinct": len(set(v)),
            "min_offset": min(v),
            "max_offset": max(v),
        }
        for (address, n), v in by_segment.items()
    ]


def timeline_rows(clients: list[ClientProcess], running: list[Process]) -> list[Row]:
    counts: Counter[tuple[datetime, str]] = Counter()
    for p in running:
        for elapsed, _ in p.occurrences:
            sent = p.sent_at(elapsed)
            if sent is not None:
                counts[minute_of(sent), "uniq"] += 1
    for process in clients:
        for one in process.own:
            made = process.sent_at(one)
            if made is not None:
                counts[minute_of(made), "client"] += 1
    return [{"minute": minute, "kind": kind, "ids": n} for (minute, kind), n in counts.items()]


def activity_rows(running: list[Process]) -> list[Row]:
    counts: Counter[tuple[str, datetime]] = Counter()
    for p in running:
        for elapsed, _ in p.occurrences:
            sent = p.sent_at(elapsed)
            if sent is not None:
                counts[p.key[1], minute_of(sent)] += 1
    return [{"host": address, "minute": minute, "ids": n} for (address, minute), n in counts.items()]


def by_line(data: bytes, here: list[Found]) -> list[Line]:
    """Each line that holds an id, and its ids, with what it or its record says of their time."""
    ends = [*(found.start() for found in re.finditer(b"\n", data)), len(data)]
    lines: dict[tuple[int, int], list[Found]] = defaultdict(list)
    for found in here:
        line = bisect(ends, found.byte)
        lines[ends[line - 1] + 1 if line else 0, ends[line]].append(found)
    return [(data[start:end], dated_ids(data, start, end, own)) for (start, end), own in lines.items()]


def dated_ids(data: bytes, start: int, end: int, own: list[Found]) -> list[tuple[Uniq | Offset | Client, bytes]]:
    """The ids of a line, each with a text that dates it."""
    said = texts_in(data[start:end])
    if said is None:
        text = dated_text(data, start, end)
        return [(found.one, text) for found in own]
    around = record_text(data, start, end)
    texts = [(start + place, around if text is None else text) for place, text in said]
    return [
        (found.one, [text for place, text in texts if place <= found.byte or (place, text) == texts[0]][-1])
        for found in own
    ]


def pairs_of(
    text: bytes, own: list[tuple[Uniq | Offset | Client, bytes]]
) -> list[tuple[tuple[Uniq | Client, bytes], Offset]]:
    """The i-th offset id of a line behind the i-th uniq or client id, then behind the last."""
    times = [(one, said) for one, said in own if isinstance(one, Uniq | Client)]
    offsets = [one for one, _ in own if isinstance(one, Offset)]
    if len(text) > MIB or not times or not offsets:
        return []
    return [(times[min(i, len(times) - 1)], place) for i, place in enumerate(offsets)]


def written(one: Uniq | Offset | Client) -> str:
    """The digits of an id, from what they mean."""
    if isinstance(one, Client):
        return f"01{one.mac.replace(':', '')}{one.pid:04x}{one.seconds:08x}{one.sequence:08x}".upper()
    address = ip_address(one.host).packed
    if isinstance(one, Offset):
        return f"{address.hex()}{one.port:08x}{one.offset:016x}".upper()
    fields = ((one.pid, 2), (one.loader, 4), (one.elapsed, 4), (one.counter, 2))
    if one.layout == "uniq_v4_le":
        return (address[::-1] + b"".join(value.to_bytes(size, "little") for value, size in fields)).hex().upper()
    return (address + b"".join(value.to_bytes(size, "big") for value, size in fields)).hex().upper()
