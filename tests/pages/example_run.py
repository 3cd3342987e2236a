"""A run folder in the documented schema without a scan: several hosts, wraps, gaps, a restart, a shared fingerprint."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

MONTH = datetime(2026, 11, 1, tzinfo=UTC) - timedelta(hours=8)  # the month begins at midnight in Shanghai
START = datetime(2026, 11, 20, 1, 50, 13, 373000, tzinfo=UTC)
GIB = 1 << 30


@dataclass(frozen=True)
class Chain:
    """One rising counter: `gaps` are (place in the chain, ids missing there)."""

    track: int
    chain: int
    begins: float
    counter: int
    ids: int
    rate: float
    gaps: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Process:
    """One fingerprint and its chains."""

    host: str
    pid: int
    loader: str
    maker: str
    position: int | None
    chains: tuple[Chain, ...]
    layout: str = "uniq_v4"
    certain: bool = True
    rate_known: bool = True


JDK8 = "Java client, JDK 8, class path launch"
PROCESSES = (
    Process(
        "10.42.3.17",
        27515,
        "18B4AAC2",
        JDK8,
        15,
        (Chain(0, 0, 0, 61_200, 141_000, 110, ((60_000, 14), (99_000, 412))),),
    ),
    Process(
        "10.42.3.17",
        4211,
        "14DAD5DC",
        "Java client, early JDK 8 (or JDK 25 with an agent)",
        14,
        (Chain(0, 0, 120, 40_020, 30_500, 30, ((12_000, 3),)),),
    ),
    Process(
        "10.42.3.18",
        9077,
        "18B4AAC2",
        JDK8,
        15,
        (Chain(0, 0, 30, 11_800, 21_000, 38), Chain(0, 1, 640, 0, 17_300, 33, ((9_000, 61),))),
    ),
    Process(
        "172.17.0.2",
        1,
        "251A69D7",
        "Java client, JDK 17",
        8,
        (Chain(0, 0, 10, 2_000, 8_000, 8), Chain(1, 1, 200, 0, 6_500, 8, ((3_000, 5),))),
    ),
    Process("10.42.7.9", 8, "00000000", "Go client 2.x", None, (Chain(0, 0, 90, 1, 2_400, 2),)),
    Process("127.0.0.1", 30412, "63947C6B", "Java client, JDK 17", 66, (Chain(0, 0, 400, 65_400, 700, 3),)),
    Process(
        "2001:db8:12::42", 611, "30946E09", "Java client, JDK 17", 307, (Chain(0, 0, 300, 9_000, 5_200, 6),), "uniq_v6"
    ),
    Process(
        "10.42.7.12",
        15,
        "0C387F44",
        "Java client, JDK 8, server, shell or java -jar",
        17,
        (Chain(0, 0, 700, 512, 1, 1),),
        rate_known=False,
    ),
)
BROKERS = (
    ("10.42.9.1:10911", 412 * GIB + 77_120_004, 7.4, 118_000, (0, 1, 2, 4, 5, 6, 7)),
    ("10.42.9.2:10911", 96 * GIB + 901_777, 3.2, 91_300, (0, 1, 2, 3)),
    ("172.18.0.4:30911", 0, 0.2, 1_204, (0,)),
)


@cache
def _points(process: Process) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Thinned points of one process, and the sums over its chains."""
    rows: list[dict[str, Any]] = []
    produced = missing = wraps = 0
    for chain in process.chains:
        gaps = dict(chain.gaps)
        position, keep = 0, max(1, chain.ids // 900)
        wrapped = chain.counter // 65536
        for place in range(chain.ids):
            before = gaps.get(place, 0)
            position += before + (1 if place else 0)
            turn = (chain.counter + position) // 65536
            at_wrap = turn != wrapped or (chain.counter + position + 1) // 65536 != turn
            wrapped = turn
            if place % keep == 0 or before or place + 1 in gaps or at_wrap or place == chain.ids - 1:
                seconds = chain.begins + (position / chain.rate)
                sent = START + timedelta(milliseconds=round(seconds * 1000))
                rows.append(
                    {
                        "layout": process.layout,
                        "host": process.host,
                        "pid": process.pid,
                        "loader": process.loader,
                        "elapsed_ms": round((sent - MONTH).total_seconds() * 1000),
                        "sent_at": sent,
                        "counter": (chain.counter + position) % 65536,
                        "position": position,
                        "track": chain.track,
                        "chain": chain.chain,
                        "missing_before": before,
                    }
                )
        produced += position + 1
        missing += sum(gaps.values())
        wraps += (chain.counter + position) // 65536 - chain.counter // 65536
    return rows, {"produced": produced, "missing": missing, "wraps": wraps, "ids": sum(c.ids for c in process.chains)}


REFUSED = [
    {
        "reason": "lower_case",
        "ids": 212,
        "sample": "9f86d081884c7d659a2feaa0c55ad015",
        "file": "app.log",
        "byte": 8812,
    },
    {"reason": "elapsed", "ids": 3, "sample": "0123456789ABCDEF0123456789ABCDEF", "file": "app.log", "byte": 99120},
]
FILES = [
    {
        "file": "app.log",
        "bytes": 31_200_118,
        "text_bytes": 31_200_118,
        "ids": 300_000,
        "refused": 215,
        "error": None,
    },
    {"file": "old.log.gz", "bytes": 1_044, "text_bytes": 0, "ids": 0, "refused": 0, "error": "not a gzip file"},
]
CLIENTS = {
    "mac": ["08:71:90:66:ff:9a"],
    "pid": [4711],
    "ids": [12],
    "distinct": [12],
    "first_sent_at": [START],
    "last_sent_at": [START + timedelta(minutes=2)],
    "min_sequence": [0],
    "max_sequence": [11],
}


def _process_row(process: Process, rows: list[dict[str, Any]], sums: dict[str, Any]) -> dict[str, Any]:
    first, last = min(rows, key=lambda r: r["sent_at"]), max(rows, key=lambda r: r["sent_at"])
    seconds = (last["sent_at"] - first["sent_at"]).total_seconds()
    chains = len(process.chains)
    return {
        "layout": process.layout,
        "host": process.host,
        "pid": process.pid,
        "loader": process.loader,
        "maker": process.maker,
        "ids": sums["ids"] + sums["ids"] // 7,
        "distinct": sums["ids"],
        "first_elapsed_ms": first["elapsed_ms"],
        "last_elapsed_ms": last["elapsed_ms"],
        "first_sent_at": first["sent_at"],
        "last_sent_at": last["sent_at"],
        "first_counter": first["counter"],
        "last_counter": last["counter"],
        "produced": sums["produced"],
        "missing": sums["missing"],
        "wraps": sums["wraps"],
        "wraps_certain": process.certain,
        "out_of_order": 3 if sums["ids"] > 50_000 else 0,
        "tracks": len({c.track for c in process.chains}),
        "rate_per_second": (sums["produced"] - chains) / seconds if seconds else None,
        "chains": chains,
        "loader_position": process.position,
        "loader_bits": 31 if process.position is not None else None,
        "last_possible_elapsed_ms": last["elapsed_ms"],
    }


def tables() -> dict[str, pd.DataFrame]:
    """Every table of a run."""
    counters: list[dict[str, Any]] = []
    processes: list[dict[str, Any]] = []
    activity: list[dict[str, Any]] = []
    for process in PROCESSES:
        rows, sums = _points(process)
        counters += rows
        processes.append(_process_row(process, rows, sums))
        for chain in process.chains:
            for minute in range(int(chain.ids / chain.rate // 60) + 1):
                at = (START + timedelta(seconds=chain.begins + 60 * minute)).replace(second=0, microsecond=0)
                left = chain.ids - minute * 60 * chain.rate
                activity.append({"host": process.host, "minute": at, "ids": int(min(left, 60 * chain.rate)) or 1})
    brokers, segments, bins, growth = _brokers()
    hosts = (
        pd.DataFrame(processes)
        .groupby("host", sort=False)
        .agg(
            processes=("pid", "size"),
            ids=("ids", "sum"),
            distinct=("distinct", "sum"),
            first_sent_at=("first_sent_at", "min"),
            last_sent_at=("last_sent_at", "max"),
        )
        .reset_index()
    )
    busy = pd.DataFrame(activity).groupby(["host", "minute"], as_index=False)["ids"].sum()
    return {
        "processes": pd.DataFrame(processes),
        "hosts": hosts,
        "counters": pd.DataFrame(counters),
        "activity": busy,
        "brokers": pd.DataFrame(brokers),
        "segments": pd.DataFrame(segments),
        "distribution": pd.DataFrame(bins),
        "growth": pd.DataFrame(growth),
        "refused": pd.DataFrame(REFUSED),
        "files": pd.DataFrame(FILES),
        "timeline": busy.groupby("minute", as_index=False)["ids"].sum().assign(kind="uniq"),
        "clients": pd.DataFrame(CLIENTS),
    }


def _brokers() -> tuple[list[dict[str, Any]], ...]:
    brokers, segments, bins, growth = [], [], [], []
    for address, low, gib, ids, files in BROKERS:
        high = low + int(gib * GIB)
        first = low // GIB
        for place in files:
            share = ids // len(files) + 900 * place
            segments.append(
                {
                    "address": address,
                    "segment": f"{(first + place) * GIB:020d}",
                    "ids": share,
                    "distinct": share,
                    "min_offset": max(low, (first + place) * GIB),
                    "max_offset": min(high, (first + place + 1) * GIB - 1),
                }
            )
        width = (high - low) // 128 + 1
        for place in range(128):
            start = low + place * width
            if start // GIB - first in files:
                bins.append(
                    {
                        "address": address,
                        "from_offset": start,
                        "to_offset": min(start + width, high + 1),
                        "ids": ids // 128 + place * 3,
                        "distinct": ids // 128 + place * 3,
                    }
                )
        host, port = address.rsplit(":", 1)
        brokers.append(
            {
                "address": address,
                "host": host,
                "port": int(port),
                "ids": ids,
                "distinct": ids - 40,
                "segments": len(files),
                "min_offset": low,
                "max_offset": high,
                "bytes_per_second": int(high - low) / (20 * 60 - 0.25),
            }
        )
        for minute in range(20):
            at = (START + timedelta(minutes=minute)).replace(second=0, microsecond=0)
            growth.append(
                {
                    "address": address,
                    "minute": at,
                    "min_offset": low + int((high - low) * minute / 20),
                    "max_offset": low + int((high - low) * (minute + 1) / 20),
                    "min_at": at,
                    "max_at": at + timedelta(seconds=59, milliseconds=750),
                }
            )
    return brokers, segments, bins, growth


def summary(made: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """summary.json of the run."""
    processes, brokers = made["processes"], made["brokers"]
    uniq, offset = int(processes["ids"].sum()), int(brokers["ids"].sum())
    return {
        "bytes": 31_201_162,
        "text_bytes": 31_200_118,
        "files": 2,
        "ids": uniq + offset + 12,
        "distinct": max(uniq + offset - 40_000, uniq),
        "uniq": uniq,
        "offset": offset,
        "client": 12,
        "refused": 215,
        "processes": len(processes),
        "hosts": len(made["hosts"]),
        "brokers": len(brokers),
        "segments": len(made["segments"]),
        "start_seconds": 5.1,
        "seconds": 1.24,
        "versions": {"idcore": "0.1.0"},
    }


def write(folder: Path, made: dict[str, pd.DataFrame] | None = None) -> Path:
    """The tables as Parquet folders, and summary.json last."""
    made = made or tables()
    for name, frame in made.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(typed(frame), folder / name / "part-00000.parquet")
    (folder / "summary.json").write_text(json.dumps(summary(made)), encoding="utf-8")
    return folder


def typed(frame: pd.DataFrame) -> pa.Table:
    """Columns in the types of the contract."""
    small = {"pid", "loader_position", "loader_bits"}
    fields = []
    for name, kind in frame.dtypes.items():
        if str(kind).startswith("datetime"):
            fields.append((name, pa.timestamp("us", tz="UTC")))
        elif name in small:
            fields.append((name, pa.int32()))
        elif name == "wraps_certain":
            fields.append((name, pa.bool_()))
        elif name.endswith("_per_second"):
            fields.append((name, pa.float64()))
        elif kind.kind == "O":
            fields.append((name, pa.string()))
        else:
            fields.append((name, pa.int64()))
    return pa.Table.from_pandas(frame, schema=pa.schema(fields), preserve_index=False)
