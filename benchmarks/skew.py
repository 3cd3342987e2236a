"""One process with very many ids: what its facts weigh and what merging them takes; the growth says how far it goes.

    python -m benchmarks.skew                          2, 8 and 32 million ids of one process
    python -m benchmarks.skew --ids 2000000 --keys 1000  the same number of ids over 1,000 processes, to compare

The ids are spread over 30 days, one pair in eight out of order. Files of 1 million lines are scanned one
after the other, so that every fact is of another task. The merge runs in a process of its own; its memory is the growth
of that process above its imports.
"""

from __future__ import annotations

import argparse
import os
import pickle
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.make_log import ROOT

MONTHS = np.array([[0, 31 * 86_400_000 - 1]], np.int64)
CHUNK = 1_000_000
HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8)


def lines(first: int, count: int, total: int, keys: int) -> bytes:
    """Ids number `first` and on, in order of time: ip, pid, loader, elapsed, counter in hex, one a line."""
    number = np.arange(first, first + count, dtype=np.int64)
    key = number % keys
    turn = number // keys
    turn = np.where(turn >> 1 & 7, turn, turn ^ 1)  # these two took their counters the other way round
    raw = np.zeros((count, 16), np.uint8)
    raw[:, :4] = (10, 1, 2, 3)
    for place, values, size in [
        (4, key + 1, 2),
        (6, np.full(count, 0x18B4AAC2), 4),
        (10, number * (30 * 86_400_000) // total, 4),
        (14, turn, 2),
    ]:
        for byte in range(size):
            raw[:, place + byte] = (values >> (8 * (size - 1 - byte))) & 0xFF
    text = np.empty((count, 33), np.uint8)
    text[:, 0:32:2] = HEX[raw >> 4]
    text[:, 1:32:2] = HEX[raw & 15]
    text[:, 32] = 10
    return text.tobytes()


def make_facts(ids: int, keys: int, folder: Path) -> int:
    """One file of facts for each task; their bytes in all."""
    from idcore.scan.facts import scan_task
    from idcore.sources.inputs import Split

    size = 0
    for place, first in enumerate(range(0, ids, CHUNK)):
        path = folder / "ids.log"
        path.write_bytes(lines(first, min(CHUNK, ids - first), ids, keys))
        facts = list(scan_task([Split(0, str(path), 0, path.stat().st_size)], MONTHS))
        size += sum(len(fact.data) for fact in facts)
        (folder / f"{place:05d}.facts").write_bytes(pickle.dumps(facts))
    return size


def merge(folder: Path) -> None:
    """Prints seconds of CPU, bytes of growth, ids, and rows of counters."""
    from idcore.scan.tables import Merge
    from idcore.scan.warm import warm

    warm()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    files = sorted(folder.glob("*.facts"))
    ids = rows = 0
    for name, table in Merge(MONTHS).tables(fact for file in files for fact in pickle.loads(file.read_bytes())):
        if name == "processes":
            ids += sum(table["ids"].to_pylist())
        rows += table.num_rows if name == "counters" else 0
    seconds = time.process_time() - began
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(seconds, growth, ids, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ids", type=int, nargs="+", default=[2_000_000, 8_000_000, 32_000_000])
    parser.add_argument("--keys", type=int, default=1, help="processes that share the ids")
    parser.add_argument("--merge", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.merge:
        merge(given.merge)
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {given.keys:,} processes")
    print(f"{'ids':>12}  {'facts':>9}  {'B/id':>5}  {'CPU':>7}  {'memory':>9}  {'B/id':>6}  counters rows")
    for ids in given.ids:
        with tempfile.TemporaryDirectory() as name:
            size = make_facts(ids, given.keys, Path(name))
            command = [sys.executable, "-m", "benchmarks.skew", "--merge", name]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            seconds, growth, found, rows = (float(part) for part in done.stdout.split())
        assert int(found) == ids, f"{found:,.0f} ids of {ids:,} were merged"
        print(
            f"{ids:>12,}  {size / 1e6:>6.1f} MB  {size / ids:>5.2f}  {seconds:>5.1f} s  {growth / 1e6:>6.0f} MB"
            f"  {growth / ids:>6.1f}  {int(rows):,}",
            flush=True,
        )


if __name__ == "__main__":
    main()
