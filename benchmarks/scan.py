"""A scan of a large log next to DuckDB and Polars: same tables, equal row for row, medians of interleaved rounds.

    python -m benchmarks.scan                       4,000,000 lines = 1.15 GB = 8,000,000 ids, 5 rounds
    python -m benchmarks.scan --lines 400000 --rounds 3 --skip cold

`warm` is a scan in a Spark session that is up, as the console has it; `cold` is `python -m idcore scan` in a new
process until it ends; the peers are new processes too, measured from the outside (`process`) and from within, imports
not counted (`inside`). The scan writes every table it has, the peers four. Everything runs on this machine's cores.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.make_log import ROOT, cached_log

if TYPE_CHECKING:
    from idcore.spark.job import ScanOptions

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
COMPARED = {
    "processes": "ip pid loader ids distinct first_elapsed_ms last_elapsed_ms first_counter last_counter "
    "produced missing wraps out_of_order",
    "hosts": "ip processes ids distinct",
    "brokers": "ip port ids distinct segments min_offset max_offset",
    "segments": "ip port segment ids distinct min_offset max_offset",
}


def as_numbers(table: pa.Table) -> pa.Table:
    """Addresses, loaders and file names as the numbers the peers have."""
    columns: dict[str, Any] = {name: table[name] for name in table.column_names}
    if "address" in columns:
        hosts, ports = zip(*(text.rsplit(":", 1) for text in table["address"].to_pylist()), strict=True)
        columns["ip"], columns["port"] = [int(ip_address(host)) for host in hosts], [int(port) for port in ports]
    elif "host" in columns:
        columns["ip"] = [int(ip_address(host)) for host in table["host"].to_pylist()]
    if "loader" in columns and pa.types.is_string(table["loader"].type):
        columns["loader"] = [int(text, 16) for text in table["loader"].to_pylist()]
    if "segment" in columns and pa.types.is_string(table["segment"].type):
        columns["segment"] = [int(text) for text in table["segment"].to_pylist()]
    return pa.table(columns)


def comparable(folder: Path, name: str) -> list[tuple[int, ...]]:
    parquet = folder / f"{name}.parquet"
    table = as_numbers(pq.read_table(parquet if parquet.exists() else folder / name))
    columns = [pc.cast(table[column], pa.int64()).to_pylist() for column in COMPARED[name].split()]
    return sorted(zip(*columns, strict=True))


def check_equal(ours: Path, theirs: Path) -> None:
    for name in COMPARED:
        mine, other = comparable(ours, name), comparable(theirs, name)
        if mine != other:
            odd = [pair for pair in zip(mine, other, strict=False) if pair[0] != pair[1]][:3]
            sys.exit(f"{name} differs from {theirs.name}: {len(mine)} and {len(other)} rows, first differences {odd}")


def options(split_size: int | None) -> ScanOptions:
    from idcore.spark.job import ScanOptions

    more: dict[str, Any] = {} if split_size is None else {"split_size": split_size}
    return ScanOptions(zone=None, zone_source="assumed", at=AT, case="strict", master=None, remote=None, **more)


def process(*command: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
    said = done.stdout.strip().splitlines()
    return json.loads(said[-1]) if said and said[-1].startswith("{") else {}


def timed(
    measured: dict[str, Callable[[], float | None]], rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds of each round, in turns: of the process, and without its start-up where it says that itself."""
    outside: dict[str, list[float]] = {name: [] for name in measured}
    inside: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(rounds):
        for name, run in measured.items():
            begun = time.perf_counter()
            within = run()
            seconds = time.perf_counter() - begun
            outside[name].append(seconds)
            inside[name].append(seconds if within is None else within)
            print(f"round {number + 1}: {name} {seconds:.2f} s", file=sys.stderr, flush=True)
    return outside, inside


def show(outside: dict[str, list[float]], inside: dict[str, list[float]], size: int, base: float | None) -> None:
    print("| what | process, s | without its start-up, s | GB/s | time, if warm is 1 |\n|---|---|---|---|---|")
    for name in outside:
        middle, own = statistics.median(outside[name]), statistics.median(inside[name])
        span = f"{min(outside[name]):.2f} to {max(outside[name]):.2f}"
        times = f"{middle / base:.1f}" if base else "-"
        print(f"| {name} | {middle:.2f} ({span}) | {own:.2f} | {size / middle / 1e9:.2f} | {times} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="an existing log instead of a made one")
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--split-size", type=int, help="bytes; default: as the scan chooses")
    parser.add_argument("--skip", nargs="*", default=[], choices=["warm", "cold", "duckdb", "polars"])
    parser.add_argument("--spark", action="store_true", help="also Spark SQL's own regexp_extract_all, once")
    asked = parser.parse_args()
    log = (asked.log or cached_log(asked.lines)).resolve()
    out = ROOT / ".cache" / "bench"
    with log.open("rb") as file:  # into the page cache: nobody pays for the disk
        while file.read(1 << 24):
            pass

    def warm() -> float | None:
        from idcore.spark.job import scan

        shutil.rmtree(out / "warm", ignore_errors=True)
        scan([str(log)], out / "warm", options(asked.split_size))
        return None

    def cold() -> float | None:
        split = [] if asked.split_size is None else ["--split-size", str(asked.split_size)]
        process("idcore", "scan", str(log), "--out", str(out / "cold"), "--overwrite", "--at", AT.isoformat(), *split)
        return None

    def duckdb() -> float | None:
        return float(process("benchmarks.peer_duckdb", str(log), str(out / "duckdb"))["seconds"])

    def polars() -> float | None:
        return float(process("benchmarks.peer_polars", str(log), str(out / "polars"))["seconds"])

    measured: dict[str, Callable[[], float | None]] = {"warm": warm, "cold": cold, "duckdb": duckdb, "polars": polars}
    measured = {name: run for name, run in measured.items() if name not in asked.skip}
    if "warm" in measured:
        warm()  # starts the session; what it costs shows in `cold`
        warm()
    outside, inside = timed(measured, asked.rounds)
    size = log.stat().st_size
    base = statistics.median(outside["warm"]) if "warm" in outside else None
    print(f"\n{log.name}: {size / 1e9:.2f} GB, medians of {asked.rounds} rounds (fastest to slowest)\n")
    show(outside, inside, size, base)
    if asked.spark:
        alone = float(process("benchmarks.peer_spark", str(log))["seconds"])
        times = f"{alone / base:.1f}" if base else "-"
        print(f"| Spark SQL, IDs by process, once | - | {alone:.2f} | {size / alone / 1e9:.2f} | {times} |")

    ours = [name for name in ("warm", "cold") if name in measured]
    theirs = [name for name in ("duckdb", "polars") if name in measured]
    for mine in ours:
        for other in theirs:
            check_equal(out / mine, out / other)
    if ours and theirs:
        print(f"\nequal: {', '.join(COMPARED)} of {', '.join(ours)} and {', '.join(theirs)}, row for row")
    peers = [statistics.median(inside[name]) for name in theirs]
    if base and peers:
        print(f"warm is {min(peers) / base:.1f} times as fast as the quicker peer, its start-up not counted")


if __name__ == "__main__":
    main()
