"""Findings from broker addresses: those that cannot be right, and one broker under two of them. Dials nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address, ip_network
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.findings import limits
from idcore.findings.evidence import numbers
from idcore.findings.model import Finding
from idcore.ids.model import OffsetId

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


def internal(brokers: pa.Table, growth: pa.Table, producers: set[str]) -> Iterator[Finding]:
    """broker_address_internal, of addresses with more than a stray id. `producers`: hosts that are known to be none."""
    if not brokers.num_rows:
        return
    low, high = limits.NODE_PORTS
    node_port = pc.and_(pc.greater_equal(brokers["port"], low), pc.less_equal(brokers["port"], high))
    doubtful = pc.or_(pc.match_substring_regex(brokers["host"], _DOUBTFUL), node_port)
    total = int(numbers(brokers, "distinct").sum())
    for row in brokers.filter(doubtful).to_pylist():
        kind = _kind(row["host"], row["port"])
        if kind is None or row["host"] in producers or row["distinct"] * limits.BROKER_SHARE < total:
            continue
        since, until = _seen(growth, row["address"])
        certainty = "likely" if kind in ("bridge", "node_port") else "certain"
        yield Finding(
            "broker_address_internal", row["address"], row["ids"], {"variant": kind, **_evidence(row)}, certainty,
            since, until,
        )  # fmt: skip


def _seen(growth: pa.Table, address: str) -> tuple[datetime | None, datetime | None]:
    if not growth.num_rows:
        return None, None
    found = pc.min_max(growth.filter(pc.equal(growth["address"], address))["minute"]).as_py()
    return found["min"], found["max"]


@dataclass(frozen=True, slots=True)
class _Growth:
    """When a broker had reached which offsets: one row a minute, in order."""

    minute: np.ndarray
    least: np.ndarray
    greatest: np.ndarray

    def rate(self) -> float:
        """Bytes a minute between the first and the last row."""
        span = int(self.minute[-1] - self.minute[0]) + 1
        return float(self.greatest[-1] - self.least[0]) / span


def _growth_of(growth: pa.Table, address: str) -> _Growth | None:
    mine = growth.filter(pc.equal(growth["address"], address)).sort_by("minute") if growth.num_rows else growth
    if not mine.num_rows:
        return None
    minutes = numbers(mine, "minute") // _MINUTE_US
    return _Growth(minutes, numbers(mine, "min_offset"), numbers(mine, "max_offset"))


def moved(brokers: pa.Table, growth: pa.Table) -> Iterator[Finding]:
    """broker_moved: of all addresses of one port, neighbours in the order of their offsets that go on from another."""
    many = brokers.filter(pc.greater_equal(brokers["distinct"], limits.MOVED_IDS))
    ports = many.group_by("port").aggregate([("address", "count")])
    for port in sorted(ports.filter(pc.greater(ports["address_count"], 1))["port"].to_pylist()):
        rows = many.filter(pc.equal(many["port"], port)).sort_by([("min_offset", "ascending")]).to_pylist()
        for before, after in pairwise(rows):
            old, new = _growth_of(growth, before["address"]), _growth_of(growth, after["address"])
            variant = _goes_on(before, after, old, new)
            if variant is not None:
                yield _moved(before, after, growth, variant)


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


def _moved(before: dict[str, Any], after: dict[str, Any], growth: pa.Table, variant: str) -> Finding:
    gap = max(0, after["min_offset"] - before["max_offset"])
    evidence: dict[str, Any] = {"variant": variant} if variant else {}
    evidence |= {
        "broker": {"address": after["address"]}, "from_address": before["address"], "gap": gap,
        "ids": [
            OffsetId.of(before["host"], before["port"], before["max_offset"]).text,
            OffsetId.of(after["host"], after["port"], after["min_offset"]).text,
        ],
    }  # fmt: skip
    since, until = _seen(growth, after["address"])
    certainty = "likely" if growth.num_rows else "possible"
    return Finding("broker_moved", after["address"], after["distinct"], evidence, certainty, since, until)
