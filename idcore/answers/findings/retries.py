"""Failures of groups in a store: retry storms, dead letters, messages with many attempts. Reads only tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import limits, progress
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.model import Finding
from idcore.answers.findings.registry import WARNING, Rule, Scan, register
from idcore.scan.schemas import TIME

_MINUTE_US = 60_000_000


@dataclass(frozen=True, slots=True)
class Rise:
    """Minutes in which more happened than at other times: from one up to another, how much there and elsewhere."""

    begin: int
    end: int
    inside: int
    outside: int


def rise(counts: np.ndarray, weights: np.ndarray, least: int) -> Rise | None:
    """The minutes whose counts chance explains least, if they are so many times those of the others.

    `weights` say how much could happen in each minute. It is Kulldorff's scan statistic over windows of growing length.
    """
    most = int(limits.RISE_SHARE * len(counts))
    if counts.sum() < least or len(counts) < limits.RISE_MINUTES or not weights.sum():
        return None
    lengths = [1]
    while lengths[-1] * 5 // 4 < most:
        lengths.append(max(lengths[-1] + 1, lengths[-1] * 5 // 4))
    best = _best(counts, weights, least, lengths)
    if best is None:
        return None
    length = best.end - best.begin
    shortest, longest = max(1, length * 4 // 5), min(most, length * 5 // 4)
    step = max(1, (longest - shortest) // limits.RISE_LENGTHS)
    return _best(counts, weights, least, sorted({*range(shortest, longest + 1, step), length}))


def _best(counts: np.ndarray, weights: np.ndarray, least: int, lengths: Iterable[int]) -> Rise | None:
    """Of all windows of these lengths that which chance explains least."""
    total, weight = int(counts.sum()), float(weights.sum())
    sums, heavy = np.append(0, np.cumsum(counts)), np.append(0, np.cumsum(weights))
    best, span = -np.log(limits.RISE_CHANCE), None
    for length in lengths:
        inside, share = sums[length:] - sums[:-length], (heavy[length:] - heavy[:-length]) / weight
        outside = total - inside
        expected = np.maximum(share * total, 1e-9)
        others = np.maximum(total - expected, 1e-9)
        gain = inside * np.log(np.maximum(inside, 1) / expected) + outside * np.log(np.maximum(outside, 1) / others)
        wide = (inside >= least) & (inside * (1 - share) >= limits.RISE_TIMES * outside * share)
        gain = np.where(wide, gain, 0)
        at = int(gain.argmax())
        if gain[at] > best:
            best, span = float(gain[at]), Rise(at, at + length, int(inside[at]), int(outside[at]))
    return span


@dataclass(frozen=True, slots=True)
class Minutes:
    """The minutes of a log from the first to the last, of a long one a week, and what groups did in them."""

    first: int  # minutes since 1970
    size: int
    messages: dict[str, np.ndarray]  # of the topics that a group reads
    failed: dict[tuple[str, str], np.ndarray]  # by group, and what the failures led to

    def of_group(self, group: str, failed: np.ndarray) -> slice:
        """From the first to the last minute in which the group had messages or failures."""
        busy = np.flatnonzero((self.messages[group] > 0) | (failed > 0))
        return slice(int(busy[0]), int(busy[-1]) + 1) if len(busy) else slice(0, 0)

    def at(self, minute: int) -> datetime:
        """The instant at which a minute begins."""
        moment: datetime = pa.scalar((self.first + minute) * _MINUTE_US, TIME).as_py()
        return moment


def minutes(scan: Scan) -> Minutes:
    """The log by minute, as far as groups with failures need it."""
    rows = [piece for piece in scan.rows.pieces("retries") if len(piece)]
    columns = ("first_store_timestamp", "last_store_timestamp")
    stored = [topics[name].drop_null() for topics in scan.rows.pieces("topics") for name in columns]
    ends = [time for column in stored for time in _numbers(column).tolist()]
    if not rows or not ends:
        return Minutes(0, 0, {}, {})
    failed = pa.concat_tables(rows)
    of_failures = _numbers(failed["minute"])
    first, last = min([*ends, *of_failures.tolist()]), max([*ends, *of_failures.tolist()])
    if last - first >= limits.RISE_MOST_MINUTES:
        last = _fullest(of_failures, failed["tries"].to_numpy())
        first = last - limits.RISE_MOST_MINUTES + 1
        within = pa.array((of_failures >= first) & (of_failures <= last))
        failed, of_failures = failed.filter(within), of_failures[within.to_numpy(zero_copy_only=False)]
    size = last - first + 1
    pairs = failed.group_by(["group", "led_to"]).aggregate([]).to_pylist()
    groups = sorted({row["group"] for row in pairs})
    messages = np.zeros((len(groups), size))
    for piece in scan.rows.pieces("fates", ["group", "minute", "messages"]):
        near = piece.filter(pc.and_(pc.is_in(piece["group"], pa.array(groups)), pc.is_valid(piece["minute"])))
        minute = _numbers(near["minute"])
        near, minute = (
            near.filter(pa.array((minute >= first) & (minute <= last))),
            minute[(minute >= first) & (minute <= last)],
        )
        place = minute - first
        place += size * pc.index_in(near["group"], pa.array(groups)).to_numpy()
        messages += np.bincount(place, near["messages"].to_numpy(), messages.size).reshape(messages.shape)
    by_minute = Minutes(first, size, dict(zip(groups, messages, strict=True)), {})
    for row in pairs:
        own = pc.and_(pc.equal(failed["group"], row["group"]), pc.equal(failed["led_to"], row["led_to"])).to_numpy()
        tries = failed["tries"].to_numpy()[own]
        by_minute.failed[row["group"], row["led_to"]] = np.bincount(of_failures[own] - first, tries, size).astype(
            np.int64
        )
    return by_minute


def _fullest(minute: np.ndarray, tries: np.ndarray) -> int:
    """The last minute of the week that has the most failures."""
    order = np.argsort(minute, kind="stable")
    ends, sums = minute[order], np.append(0, np.cumsum(tries[order]))
    before = np.searchsorted(ends, ends - limits.RISE_MOST_MINUTES, side="right")
    return int(ends[(sums[1:] - sums[before]).argmax()])


def _numbers(times: pa.ChunkedArray) -> np.ndarray:
    whole: np.ndarray = times.cast(pa.int64()).to_numpy() // _MINUTE_US
    return whole


# ---- rules


def storms(scan: Scan) -> Iterator[Finding]:
    """retry_storm: far more attempts of a group failed than its messages explain."""
    known = scan.once(minutes)
    for (group, led_to), counts in sorted(known.failed.items(), key=lambda pair: pair[0]):
        if led_to == "retry":
            # as many as a minute has at least on average: retries also come when nothing is sent
            own = known.of_group(group, counts)
            messages = known.messages[group][own]
            rising = rise(counts[own], messages + messages.mean() / 4 + 1e-3, limits.STORM_TRIES)
            if rising is not None:
                yield _finding(scan, "retry_storm", (group, led_to), rising, own)


def dead_letters(scan: Scan) -> Iterator[Finding]:
    """dead_letters: more messages of a group became dead letters than at other times."""
    known = scan.once(minutes)
    for (group, led_to), counts in sorted(known.failed.items(), key=lambda pair: pair[0]):
        if led_to == "dead_letter":
            own = known.of_group(group, counts)
            rising = rise(counts[own], np.ones(own.stop - own.start), limits.DEAD_LETTERS)
            if rising is not None:
                yield _finding(scan, "dead_letters", (group, led_to), rising, own)


def _finding(scan: Scan, code: str, of: tuple[str, str], rise: Rise, own: slice) -> Finding:
    known, (group, led_to) = scan.once(minutes), of
    since, until = known.at(own.start + rise.begin), known.at(own.start + rise.end)
    messages = known.messages[group][own]
    evidence = {
        "group": group,
        "minutes": rise.end - rise.begin,
        "others": rise.outside,
        "other_minutes": len(messages) - (rise.end - rise.begin),
        "messages": int(messages[rise.begin : rise.end].sum()),
        "ids": _failed(scan, group, led_to, since, until),
        "first_at": since.isoformat(timespec="milliseconds"),
    }
    return Finding.of(code, group, rise.inside, evidence, since=since, until=until - timedelta(milliseconds=1))


def _failed(scan: Scan, group: str, led_to: str, since: datetime, until: datetime) -> list[str]:
    """Some of the messages of a group that failed then, as far as the table `attempts` lists them."""
    names = ["group", "msg_id", "led_to", "store_timestamp"]
    failed: dict[str, None] = {}
    for piece in scan.rows.pieces("attempts", names):
        mask = pc.and_(pc.equal(piece["group"], group), pc.equal(piece["led_to"], led_to))
        at = piece["store_timestamp"]
        mask = pc.and_(mask, pc.and_(pc.greater_equal(at, since), pc.less(at, until)))
        failed |= dict.fromkeys(pc.unique(piece.filter(mask)["msg_id"].drop_null())[: limits.MOST_IDS].to_pylist())
        if len(failed) >= limits.MOST_IDS:
            break
    return list(failed)[: limits.MOST_IDS]


def many_tries(scan: Scan) -> Iterator[Finding]:
    """poison_message: a few messages of a group failed again and again."""
    most: dict[str, dict[str, dict[str, Any]]] = {}  # by group and message
    names = ["group", "msg_id", "topic", "queue_id", "queue_offset", "retry_times"]
    read = scan.once(_read)
    for piece in scan.rows.pieces("attempts", names):
        for row in piece.filter(pc.greater_equal(piece["retry_times"], limits.POISON_RETRIES)).to_pylist():
            own, key = most.setdefault(row["group"], {}), row["msg_id"] or _place(row)
            if key in own and own[key]["retry_times"] < row["retry_times"]:
                own[key] = row
            elif len(own) <= _few(read.get(row["group"], 0)):  # of many more no row is needed
                own.setdefault(key, row)
    if not most:
        return
    stored = _first_stored(scan, {(group, key) for group, own in most.items() for key in own})
    for group in sorted(most):
        rows = sorted(most[group].values(), key=lambda row: -row["retry_times"])
        if len(rows) > _few(read.get(group, 0)):
            continue  # not the messages, but what the group needs for each of them
        times = [at for key in most[group] if (at := stored.get((group, key))) is not None]
        evidence = {
            "variant": "tries",
            "group": group,
            "retries": rows[0]["retry_times"],
            "topics": ", ".join(sorted({row["topic"] for row in rows})[: limits.MOST_IDS]),
            "ids": [row["msg_id"] for row in rows if row["msg_id"]][: limits.MOST_IDS],
        }
        since, until = min(times, default=None), max(times, default=None)
        yield Finding.of("poison_message", group, len(rows), evidence, since=since, until=until)


def _place(row: dict[str, Any]) -> str:
    """What names a message that has no msgId."""
    return f"{row['topic']} {row['queue_id']} {row['queue_offset']}"


def _few(messages: int) -> float:
    """How many messages of a group that fail again and again are not what the group does with every message."""
    return max(limits.POISON_MESSAGES, limits.POISON_SHARE * messages)


def _read(scan: Scan) -> dict[str, int]:
    """How many messages there are for each group."""
    read: dict[str, int] = {}
    for piece in scan.rows.pieces("fates", ["group", "messages"]):
        for row in piece.group_by("group").aggregate([("messages", "sum")]).to_pylist():
            read[row["group"]] = read.get(row["group"], 0) + row["messages_sum"]
    return read


def _first_stored(scan: Scan, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], datetime]:
    """When messages were stored themselves: the first attempt is of no copy."""
    names, ids = ["group", "msg_id", "retry_times", "store_timestamp"], pa.array({msg_id for _, msg_id in wanted})
    first_stored: dict[tuple[str, str], datetime] = {}
    for piece in scan.rows.pieces("attempts", names):
        near = piece.filter(pc.and_(pc.is_in(piece["msg_id"], ids), pc.equal(piece["retry_times"], 0)))
        first_stored |= {(row["group"], row["msg_id"]): row["store_timestamp"] for row in near.to_pylist()}
    return first_stored


def poison(scan: Scan) -> Iterator[Finding]:
    """poison_message: queues that stay at a message, and messages with many attempts."""
    yield from progress.blocked(scan)
    yield from many_tries(scan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoisonEvidence(FindingEvidence):
    """Of a queue that stays at a message, or of messages that fail again and again."""

    variant: str | None = None
    topic: str | None = None
    group: str | None = None
    retries: int | None = None
    first_at: str | None = None
    topics: str | None = None  # with commas between
    last_at: str | None = None
    minutes: int | None = None
    queue: int | None = None
    consumer_offset: int | None = None
    ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FailuresEvidence(FindingEvidence):
    """Of minutes in which more attempts of a group failed than in others."""

    group: str | None = None
    minutes: int | None = None
    others: int | None = None  # failures in all other minutes
    other_minutes: int | None = None
    messages: int | None = None
    ids: Sequence[str] = ()
    first_at: str | None = None


register(
    Rule(
        "poison_message",
        WARNING,
        13,
        "poison_message/blocks",
        evidence=PoisonEvidence,
        of_scan=poison,
        variants=("tries",),
        subject="group",
        of_store=True,
    ),
    Rule(
        "retry_storm",
        WARNING,
        15,
        "retry_storm/outage",
        evidence=FailuresEvidence,
        of_scan=storms,
        subject="group",
        of_store=True,
    ),
    Rule(
        "dead_letters",
        WARNING,
        16,
        "dead_letters/sudden",
        evidence=FailuresEvidence,
        of_scan=dead_letters,
        subject="group",
        of_store=True,
    ),
)
