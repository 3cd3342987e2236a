"""What a scan costs as the input grows: CPU seconds of all processes it uses, so that other work here matters little.

    python -m benchmarks.growth                  0.29, 1.2, 4.6 and 18 GB of text (one log, named several times)

Counted are this process, Spark's Java and its Python workers, from a warm session on. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.make_log import cached_log
from idcore.spark.job import ScanOptions, scan

OPTIONS = ScanOptions(zone=UTC, at=datetime(2026, 11, 20, 12, tzinfo=UTC))
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> dict[int, float]:
    """Of this process and all below it."""
    parents, used = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            parents[int(folder.name)] = int(fields[1])
            used[int(folder.name)] = sum(int(field) for field in fields[11:15]) / TICK  # with its ended children
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: used[pid] for pid in found if pid in used}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16, 64])
    given = parser.parse_args()
    log = cached_log(given.lines)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{'text':>9}  {'ids':>12}  {'seconds':>8}  {'CPU':>7}  {'CPU s/GB':>8}  GB/s a core")
    with tempfile.TemporaryDirectory() as name:
        scan([str(log)], Path(name) / "first", OPTIONS)
        for times in given.times:
            before, began = cpu_seconds(), time.monotonic()
            told = scan([str(log)] * times, Path(name) / str(times), OPTIONS)
            seconds = time.monotonic() - began
            used = sum(value - before.get(pid, 0.0) for pid, value in cpu_seconds().items())
            size = told["text_bytes"] / 1e9
            print(
                f"{size:>6.2f} GB  {told['ids']:>12,}  {seconds:>6.1f} s  {used:>5.1f} s  {used / size:>8.2f}"
                f"  {size / used:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
