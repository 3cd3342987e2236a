"""How much memory a scan takes, by process: the command line's own, the JVM, the largest Python worker.

    python -m benchmarks.memory                     a log of 1.15 GB, the same four times, and sparse input
    python -m benchmarks.memory --dense 50000000    and so many ids, each of a process of its own

Each scan is a new process, looked at ten times a second. Of a worker counts what is its own (USS): the workers share
the code of the process they were forked from.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from .logs import cached_text
from .make_log import ROOT, cached_log

MIB = 1 << 20


def role_of(process: psutil.Process, command: int) -> str:
    if process.pid == command:
        return "driver"
    return "jvm" if "java" in process.name() else "worker"


def watch(command: subprocess.Popen[bytes], peaks: dict[str, int]) -> None:
    """The most memory of each role until the command ends."""
    root = psutil.Process(command.pid)
    while command.poll() is None:
        try:
            family = [root, *root.children(recursive=True)]
        except psutil.Error:
            return
        for process in family:
            try:
                role = role_of(process, command.pid)
                used = process.memory_full_info().uss if role == "worker" else process.memory_info().rss
            except psutil.Error:
                continue
            peaks[role] = max(peaks.get(role, 0), used)
        time.sleep(0.1)


def measure(name: str, paths: Sequence[Path]) -> str:
    peaks: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "idcore", "scan", *map(str, paths), "--out", folder, "--overwrite"]
        begun = time.perf_counter()
        running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        looking = threading.Thread(target=watch, args=(running, peaks))
        looking.start()
        _, said = running.communicate()
        looking.join()
        seconds = time.perf_counter() - begun
    if running.returncode:
        sys.exit(f"{name}: {said.decode(errors='replace')[-2000:]}")
    size = sum(path.stat().st_size for path in paths)
    used = " | ".join(f"{peaks.get(role, 0) // MIB:,}" for role in ("driver", "jvm", "worker"))
    return f"| {name} | {size / 1e9:.2f} | {seconds:.1f} | {used} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--dense", type=int, default=5_000_000, help="ids that are each a process of their own")
    asked = parser.parse_args()
    log = cached_log(asked.lines)
    cases = {
        f"{asked.lines:,} lines": [log],
        "the same four times": [log] * 4,
        "every ID its own process, in log lines": [cached_text("sparse", 256 * MIB)],
        f"{asked.dense:,} IDs, each its own process": [cached_text("dense", asked.dense * 33)],
    }
    print("| input | GB | s, cold | driver, MiB | JVM, MiB | largest worker, MiB |\n|---|---|---|---|---|---|")
    for name, paths in cases.items():
        print(measure(name, paths), flush=True)


if __name__ == "__main__":
    main()
