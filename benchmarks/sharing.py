"""How long a pasted list waits while a large scan has every core, and what looking at a scan's progress costs.

    python -m benchmarks.sharing                 4,000,000 lines at work, 5 pastes while they are
    python -m benchmarks.sharing --fifo          the same with Spark's own order, first come first served

A paste is 1,000 lines. `alone` is its median on an idle session.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import threading
import time
import timeit
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.make_log import cached_log
from idcore.scan.facts import scan_task
from idcore.scan.meter import Hand, new_meter
from idcore.sources.inputs import Split, walk
from idcore.spark import session as spark_session
from idcore.spark.job import SHARED_SPLIT_SIZE, ScanOptions, scan

OPTIONS = ScanOptions(zone=UTC, at=datetime(2026, 11, 20, 12, tzinfo=UTC))
CONSOLE = replace(OPTIONS, split_size=SHARED_SPLIT_SIZE)


def timed(log: Path, out: Path) -> float:
    began = time.monotonic()
    scan([str(log)], out, OPTIONS)
    return time.monotonic() - began


def fifo() -> None:
    settings = spark_session._settings

    def plain(local: bool, java: str, scratch: str) -> dict[str, str]:
        return settings(local, java, scratch) | {"spark.scheduler.mode": "FIFO"}

    spark_session._settings = plain


def pastes_meanwhile(log: Path, paste: Path, out: Path, count: int) -> tuple[list[float], float]:
    """Seconds of each paste that came back while the large scan was at work; seconds of the large scan."""
    begun, over = threading.Event(), threading.Event()
    took: list[float] = []

    def large() -> None:
        began = time.monotonic()
        scan([str(log)] * 4, out / "large", CONSOLE, lambda at: begun.set() if at.bytes_done else None)
        took.append(time.monotonic() - began)
        over.set()

    thread = threading.Thread(target=large)
    thread.start()
    begun.wait()
    waits: list[float] = []
    for number in range(count):
        seconds = timed(paste, out / f"paste-{number}")
        if over.is_set() and waits:
            break
        waits.append(seconds)
    thread.join()
    return waits, took[0]


def cost_of_progress(log: Path, rounds: int) -> tuple[float, float]:
    """Seconds of CPU that one MiB of text takes, and that telling of it takes: the least of some rounds."""
    split = Split(0, str(log), 0, log.stat().st_size)
    months = np.array([[0, 31 * 86_400_000 - 1]], np.int64)
    tasks = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in scan_task([split], months):
            pass
        tasks.append(time.process_time() - began)
    with new_meter(1) as meter:
        hand = Hand(meter, 0, [split])
        opened = walk([split])
        _, windows, error = next(opened)
        assert windows is not None, error
        tell = min(timeit.repeat(lambda: hand.move(windows.taken(), 1), number=10_000, repeat=rounds)) / 10_000
    return min(tasks) / (split.size / (1 << 20)), tell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fifo", action="store_true")
    given = parser.parse_args()
    if given.fifo:
        fifo()
    log = cached_log(given.lines)
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        paste = out / "paste.log"
        with log.open("rb") as file:
            paste.write_bytes(b"".join(file.readline() for _ in range(1000)))
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        timed(paste, out / "first")
        alone = statistics.median(timed(paste, out / f"alone-{number}") for number in range(given.rounds))
        waits, whole = pastes_meanwhile(log, paste, out, given.rounds)
        order = "first come first served" if given.fifo else "fair"
        print(f"{order}: paste alone {alone:.2f} s; large scan of {4 * log.stat().st_size / 1e9:.1f} GB {whole:.1f} s")
        print(f"  pastes meanwhile: {', '.join(f'{wait:.2f}' for wait in waits)} s")
        work, tell = cost_of_progress(log, given.rounds)
        print(f"progress: {tell * 1e6:.1f} µs for each MiB, of {work * 1e6:.0f} µs that it takes: {tell / work:.2%}")


if __name__ == "__main__":
    main()
