"""Findings from broker addresses: those that cannot be right, and one broker under two of them. Dials nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from ipaddress import ip_address, ip_network
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import limits
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.large import Rows
from idcore.answers.findings.model import Finding, unseen
from idcore.answers.findings.processes import Processes, counts_of_assumed, numbers
from idcore.answers.findings.registry import WARNING, Rule, Scan, register
from idcore.base.layout import OFFSET_DIGITS
from idcore.ids.assumptions import assumed_of_many
from idcore.ids.clock import MINUTE_MS
from idcore.ids.delivery import EVENTS
from idcore.ids.model import OffsetId
from idcore.scan.schemas import SCHEMAS

_BRIDGES = ip_network("172.16.0.0/12")
# Cheaper than reading every address: what may be wrong, and all of IPv6.
_DOUBTFUL = r"^(127\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.|2[2-5]\d\.|[^.]*:)"
_MINUTE_US = 60_000_000


def _kind(host: str, port: int) -> str | None:
    """Why an address cannot be right, as a variant of the words."""
    address = ip_address(host)
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link_local"
    if address.version == 4 and address in _BRIDGES:
        return "bridge"
    if address.is_unspecified or address.is_multicast or (address.version == 4 and int(address) >> 28 == 15):
        return "nowhere"
    return "node_port" if limits.NODE_PORTS[0] <= port <= limits.NODE_PORTS[1] else None


def _evidence(row: dict[str, Any]) -> dict[str, Any]:
    offsets = sorted({row["min_offset"], row["max_offset"]})
    ids = [OffsetId.of(row["host"], row["port"], offset).text for offset in offsets]
    return {"broker": {"address": row["address"]}, "ids": ids, "distinct": row["distinct"]}


@dataclass(frozen=True, slots=True)
class _Growth:
    """When a broker had reached which offsets: one row a minute, in order, with the instants (ms) of both."""

    minute: np.ndarray
    least: np.ndarray
    greatest: np.ndarray
    least_at: np.ndarray
    greatest_at: np.ndarray

    def rate(self) -> float:
        """Bytes a minute between the first and the last row. Of less than a minute the bytes: it may be one burst."""
        span = float(self.greatest_at[-1] - self.least_at[0]) / MINUTE_MS
        return float(self.greatest[-1] - self.least[0]) / max(1.0, span)

    def seen(self) -> tuple[datetime, datetime]:
        """The first and the last instant."""
        first = min(int(self.least_at[0]), int(self.greatest_at[0]))
        last = max(int(self.least_at[-1]), int(self.greatest_at[-1]))
        return datetime.fromtimestamp(first / 1000, UTC), datetime.fromtimestamp(last / 1000, UTC)


class Brokers:
    """The brokers of a scan that need looking at: those whose address is doubtful, and those with the most ids."""

    def __init__(self, rows: Rows) -> None:
        total = sum(int(numbers(table, "distinct").sum()) for table in rows.pieces("brokers", ["distinct"]))
        doubtful, many = [], SCHEMAS["brokers"].empty_table()
        self.left = 0
        self._dated, self._months, self._zones = 0, 0, 0  # processes with a time, and what of it is assumed
        for table in rows.pieces("brokers"):
            doubtful.append(table.filter(_doubtful(table, total)))  # no more than BROKER_SHARE in all
            largest = table.filter(pc.greater_equal(table["distinct"], limits.MOVED_IDS))
            largest = pa.concat_tables([many, largest])
            order = np.argsort(-numbers(largest, "distinct"), kind="stable")
            self.left += max(0, len(order) - limits.MOST_BROKERS)
            many = largest.take(pa.array(order[: limits.MOST_BROKERS])).combine_chunks()
        self.doubtful: list[dict[str, Any]] = pa.concat_tables(doubtful).to_pylist()
        self.producers: set[str] = set()
        self.many: list[dict[str, Any]] = many.to_pylist()
        addresses = [row["address"] for row in (*self.doubtful, *self.many)]
        self.growth, without_room = _growth_of(rows, list(dict.fromkeys(addresses)))
        self.many = [row for row in self.many if row["address"] not in without_room]
        self.left += len(without_room)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What of the times of brokers no line shows: msgIds beside their IDs have these times."""
        return assumed_of_many(self._dated, self._months, self._zones)

    def clear_producers(self, processes: pa.Table) -> None:
        """Takes in processes: their times, and hosts whose little-endian ids read as offsetMsgIds of their reverse."""
        dated, months, zones = counts_of_assumed(processes)
        self._dated, self._months, self._zones = self._dated + dated, self._months + months, self._zones + zones
        turned = pa.array({".".join(reversed(row["host"].split("."))) for row in self.doubtful}, pa.string())
        if len(turned):
            little = pc.equal(processes["layout"], "uniq_v4_le")
            hosts = processes.filter(pc.and_(little, pc.is_in(processes["host"], value_set=turned)))["host"]
            self.producers |= {".".join(reversed(host.split("."))) for host in pc.unique(hosts).to_pylist()}

    def internal(self, reached: Collection[str]) -> Iterator[Finding]:
        """broker_address_internal, of addresses that are not producers and have more than a stray id.

        `reached`: how the offsetMsgIds begin of messages that consumers received.
        """
        for row in self.doubtful:
            kind = _kind(row["host"], row["port"])
            if kind is None or row["host"] in self.producers:
                continue
            evidence = {"variant": kind, **_evidence(row)}
            if evidence["ids"][0][:-OFFSET_DIGITS] in reached:
                evidence["also"] = ["received_there"]
            since, until = self._seen(row["address"])
            certainty = "likely" if kind in ("bridge", "node_port") else "certain"
            yield Finding.of(
                "broker_address_internal",
                row["address"],
                row["ids"],
                evidence,
                certainty,
                since,
                until,
                assumed=self.assumed if since else (),
            )

    @cached_property
    def moved(self) -> list[Finding]:
        """broker_moved: of all addresses of one port, neighbours in the order of their offsets that go on."""
        moves: list[Finding] = []
        ports: dict[int, list[dict[str, Any]]] = {}
        for row in sorted(self.many, key=lambda row: (row["port"], row["min_offset"], row["address"])):
            ports.setdefault(row["port"], []).append(row)
        for rows in ports.values():
            for before, after in pairwise(rows):
                old, new = (self.growth.get(row["address"]) for row in (before, after))
                variant = _goes_on(before, after, old, new)
                if variant is not None:
                    silent = {} if variant or old is None or new is None else self._silence(old, new)
                    seen = self._seen(after["address"])
                    moved = _moved(before, after, variant, seen, bool(self.growth), silent)
                    moves.append(replace(moved, assumed=self.assumed))
        return [*moves, unseen("broker_moved", self.left, self.left)] if self.left else moves

    def _silence(self, old: _Growth, new: _Growth) -> dict[str, Any]:
        """A pause between the two, much longer than those within each, and whether other brokers were seen in it."""
        begin, end = int(old.minute[-1]), int(new.minute[0])
        silent = end - begin - 1  # whole minutes, at least
        steps = [int(step) for one in (old, new) for step in np.diff(one.minute)]
        usual = max(steps, default=0) + 1  # ids of two minutes are less than one more apart than those
        if not steps or silent < max(limits.SILENT_MINUTES, limits.SILENT_TIMES * usual):
            return {}
        others = any(((one.minute > begin) & (one.minute < end)).any() for one in self.growth.values())
        return {"also": ["silent_alone" if others else "silent"], "silent_minutes": silent, "usual_minutes": usual}

    def _seen(self, address: str) -> tuple[datetime | None, datetime | None]:
        growth = self.growth.get(address)
        return (None, None) if growth is None else growth.seen()


def _doubtful(brokers: pa.Table, total: int) -> pa.ChunkedArray:
    """Addresses that may be wrong, of more than a stray id."""
    low, high = limits.NODE_PORTS
    node_port = pc.and_(pc.greater_equal(brokers["port"], low), pc.less_equal(brokers["port"], high))
    odd = pc.or_(pc.match_substring_regex(brokers["host"], _DOUBTFUL), node_port)
    stray = -(-total // limits.BROKER_SHARE)
    return pc.and_(odd, pc.greater_equal(brokers["distinct"], stray))


def _growth_of(rows: Rows, addresses: list[str]) -> tuple[dict[str, _Growth], set[str]]:
    """The growth of some brokers, the first ones first, and those whose minutes did not fit."""
    names = pa.array(addresses, pa.string())
    minutes: Counter[str] = Counter()
    for table in rows.pieces("growth", ["address"]):
        mine = table["address"].filter(pc.is_in(table["address"], value_set=names))
        for one in pc.value_counts(mine).to_pylist():
            minutes[one["values"]] += one["counts"]
    kept, room = [], limits.MOST_MINUTES
    for address in filter(minutes.__contains__, addresses):
        if minutes[address] <= room:
            kept.append(address)
            room -= minutes[address]
    if not kept:
        return {}, set(minutes)
    names = pa.array(kept, pa.string())
    pieces = [table.filter(pc.is_in(table["address"], value_set=names)) for table in rows.pieces("growth")]
    table = pa.concat_tables(pieces).sort_by([("address", "ascending"), ("minute", "ascending")])
    minute = numbers(table, "minute") // _MINUTE_US
    least, greatest = numbers(table, "min_offset"), numbers(table, "max_offset")
    least_at, greatest_at = numbers(table, "min_at") // 1000, numbers(table, "max_at") // 1000
    growth_of, begin = {}, 0
    for address in sorted(kept):
        part = slice(begin, begin + minutes[address])
        growth_of[address] = _Growth(minute[part], least[part], greatest[part], least_at[part], greatest_at[part])
        begin = part.stop
    return growth_of, set(minutes) - set(kept)


def _goes_on(before: dict[str, Any], after: dict[str, Any], old: _Growth | None, new: _Growth | None) -> str | None:
    """Whether `after` is `before` under another address: "" when it took over, "both" when they take turns."""
    gap = after["min_offset"] - before["max_offset"]
    if old is not None and new is not None:
        if gap > 0:
            if new.minute[0] < old.minute[-1]:
                return None
            idle = int(new.minute[0] - old.minute[-1]) + 1
            slack = max(limits.MOVED_SLACK_BYTES, limits.MOVED_RATE * max(old.rate(), new.rate()) * idle)
            return "" if gap <= slack else None
        return "both" if _take_turns(old, new) else None
    if gap <= 0:
        return None
    spans = [row["max_offset"] - row["min_offset"] for row in (before, after)]
    mean = min(span / (row["distinct"] - 1) for span, row in zip(spans, (before, after), strict=True))
    return "" if gap <= limits.MOVED_NEIGHBOURS * mean else None


def _take_turns(old: _Growth, new: _Growth) -> bool:
    """Whether all rows of both, in order of time, make one rising offset, with several changes between them."""
    minute = np.concatenate([old.minute, new.minute])
    least, greatest = np.concatenate([old.least, new.least]), np.concatenate([old.greatest, new.greatest])
    which = np.repeat([0, 1], [len(old.minute), len(new.minute)])
    order = np.lexsort((least, minute))
    rising = least[order][1:] >= greatest[order][:-1]
    turns = int((which[order][1:] != which[order][:-1]).sum())
    return bool(rising.all()) and turns >= 3


def _moved(
    before: dict[str, Any],
    after: dict[str, Any],
    variant: str,
    seen: tuple[datetime | None, datetime | None],
    timed: bool,
    silent: dict[str, Any],
) -> Finding:
    gap = max(0, after["min_offset"] - before["max_offset"])
    evidence: dict[str, Any] = {"variant": variant} if variant else {}
    evidence |= {
        "broker": {"address": after["address"]},
        "from_address": before["address"],
        "gap": gap,
        "ids": [
            OffsetId.of(before["host"], before["port"], before["max_offset"]).text,
            OffsetId.of(after["host"], after["port"], after["min_offset"]).text,
        ],
        **silent,
    }
    return Finding.of(
        "broker_moved", after["address"], after["distinct"], evidence, "likely" if timed else "possible", *seen
    )


def stored(scan: Scan) -> Brokers:
    return Brokers(scan.rows)


def clear_producers(processes: Processes, scan: Scan) -> tuple[Finding, ...]:
    """Takes the producers out of the doubtful brokers; finds nothing yet."""
    scan.once(stored).clear_producers(processes.table)
    return ()


def internal(scan: Scan) -> Iterator[Finding]:
    """The rule broker_address_internal."""
    claims = () if scan.line_evidence is None else (one.delivery for one in scan.line_evidence.deliveries)
    received = (text for one in claims if one.event in EVENTS for text in (one.offset_id, one.msg_id) if text)
    return scan.once(stored).internal({text[:-OFFSET_DIGITS].upper() for text in received})


def moved(scan: Scan) -> list[Finding]:
    """The rule broker_moved."""
    return scan.once(stored).moved


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InternalEvidence(FindingEvidence):
    """Of a broker address that clients elsewhere cannot reach."""

    variant: str | None = None
    broker: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    distinct: int | None = None
    places: Sequence[Mapping[str, Any]] = ()
    broker_name: str | None = None
    also: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MovedEvidence(FindingEvidence):
    """Of one broker under two addresses."""

    variant: str | None = None
    broker: Mapping[str, Any] | None = None
    from_address: str = ""
    gap: int | None = None  # bytes between the last offset of one and the first of the other
    ids: Sequence[str] = ()
    also: Sequence[str] = ()
    silent_minutes: int | None = None
    usual_minutes: int | None = None
    places: Sequence[Mapping[str, Any]] = ()
    broker_name: str | None = None


register(
    Rule(
        "broker_address_internal",
        WARNING,
        40,
        "broker_address_internal/loopback",
        evidence=InternalEvidence,
        of_processes=clear_producers,
        of_scan=internal,
        variants=("loopback", "bridge", "link_local", "nowhere", "node_port"),
        also=("received_there", "send_ok"),
        subject="broker",
        lines=("broker_name", "send_ok"),
    ),
    Rule(
        "broker_moved",
        WARNING,
        50,
        "broker_moved/restarted",
        evidence=MovedEvidence,
        of_scan=moved,
        variants=("both", "unseen"),
        also=("silent", "silent_alone"),
        info_variants=("unseen",),
        subject="broker",
        lines=("broker_name",),
    ),
)
