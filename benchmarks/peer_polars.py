"""The tables processes, hosts, brokers and segments by Polars alone, as someone who knows it well would write them.

    python -m benchmarks.peer_polars LOG OUT        writes four Parquet files, prints one JSON line of totals

As generous as the DuckDB peer: runs of 32 digits only, nothing is scored, refused or attributed. One streaming pass
folds equal ids before anything is counted, so that distinct is exact.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import polars as pl

HIGH, LOW = pl.col("high"), pl.col("low")
IS_UNIQ = (HIGH // 2**16) % 2**16 > 0
PROCESS = ["ip", "pid", "loader"]


def folded_ids(log: Path) -> pl.DataFrame:
    """Each different id once, as two 64-bit numbers, with the number of its occurrences."""
    digits = pl.col("id").str
    return (
        pl.scan_lines(log, name="line")
        .select(pl.col("line").str.extract_all("[0-9A-Fa-f]{32}").explode().alias("id"))
        .select(
            digits.slice(0, 16).str.to_integer(base=16, dtype=pl.UInt64).alias("high"),
            digits.slice(16, 16).str.to_integer(base=16, dtype=pl.UInt64).alias("low"),
        )
        .group_by("high", "low")
        .agg(pl.len().cast(pl.Int64).alias("n"))
        .collect(engine="streaming")
    )


def processes_of(ids: pl.DataFrame) -> pl.DataFrame:
    in_order = (
        ids.lazy()
        .filter(IS_UNIQ)
        .select(
            (HIGH // 2**32).alias("ip"),
            ((HIGH // 2**16) % 2**16).alias("pid"),
            ((HIGH % 2**16) * 2**16 + LOW // 2**48).alias("loader"),
            ((LOW // 2**16) % 2**32).alias("elapsed"),
            (LOW % 2**16).cast(pl.Int64).alias("counter"),
            "n",
        )
        .sort(*PROCESS, "elapsed", "counter")
        .collect(engine="streaming")
    )
    step = ((pl.col("counter").diff() + 98_304) % 65_536 - 32_768).over(PROCESS).fill_null(0)
    turns = [(pl.col("first_counter") + pl.col(edge)).floordiv(65_536) for edge in ("highest", "lowest")]
    return (
        in_order.with_columns(step.alias("step"))
        .with_columns(pl.col("step").cum_sum().over(PROCESS).alias("position"))
        .group_by(PROCESS)
        .agg(
            pl.col("n").sum().alias("ids"),
            pl.len().alias("distinct"),
            pl.col("elapsed").first().alias("first_elapsed_ms"),
            pl.col("elapsed").last().alias("last_elapsed_ms"),
            pl.col("counter").first().alias("first_counter"),
            pl.col("counter").last().alias("last_counter"),
            pl.col("position").max().alias("highest"),
            pl.col("position").min().alias("lowest"),
            pl.col("position").n_unique().alias("filled"),
            (pl.col("step") < 0).sum().alias("out_of_order"),
        )
        .with_columns((pl.col("highest") - pl.col("lowest") + 1).alias("produced"))
        .with_columns((pl.col("produced") - pl.col("filled")).alias("missing"), (turns[0] - turns[1]).alias("wraps"))
        .drop("highest", "lowest", "filled")
    )


def hosts_of(processes: pl.DataFrame) -> pl.DataFrame:
    return processes.group_by("ip").agg(
        pl.len().alias("processes"),
        pl.col("ids").sum(),
        pl.col("distinct").sum(),
        pl.col("first_elapsed_ms").min(),
        pl.col("last_elapsed_ms").max(),
    )


def segments_of(ids: pl.DataFrame) -> pl.DataFrame:
    return (
        ids.lazy()
        .filter(~IS_UNIQ)
        .select((HIGH // 2**32).alias("ip"), (HIGH % 2**16).alias("port"), LOW.alias("offset"), "n")
        .group_by("ip", "port", (pl.col("offset") // 2**30 * 2**30).alias("segment"))
        .agg(
            pl.col("n").sum().alias("ids"),
            pl.len().alias("distinct"),
            pl.col("offset").min().alias("min_offset"),
            pl.col("offset").max().alias("max_offset"),
        )
        .collect(engine="streaming")
    )


def brokers_of(segments: pl.DataFrame) -> pl.DataFrame:
    return segments.group_by("ip", "port").agg(
        pl.col("ids").sum(),
        pl.col("distinct").sum(),
        pl.len().alias("segments"),
        pl.col("min_offset").min(),
        pl.col("max_offset").max(),
    )


def scan(log: Path, out: Path) -> dict[str, float]:
    begun = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    ids = folded_ids(log)
    processes, segments = processes_of(ids), segments_of(ids)
    tables = {
        "processes": processes,
        "hosts": hosts_of(processes),
        "brokers": brokers_of(segments),
        "segments": segments,
    }
    for name, table in tables.items():
        table.write_parquet(out / f"{name}.parquet")
    totals = {name: len(table) for name, table in tables.items()}
    seconds = round(time.perf_counter() - begun, 2)
    return {**totals, "ids": int(ids["n"].sum()), "distinct": len(ids), "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps(scan(Path(sys.argv[1]), Path(sys.argv[2]))))
