"""What every scan costs before its first byte: a scan of one line next to a bare PySpark session, whole processes.

Next to them is the decode of one ID, which starts neither.

python -m benchmarks.fixed                      5 interleaved rounds, medians, the ratio, and the parts of our scan

The bare session is PySpark as it comes: `local[2]` and one job of `mapInArrow` that gives back what it gets. Seconds of
processor are of the process and of all that it began: a busy machine changes them less.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .make_log import ROOT, write_log

BARE = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").getOrCreate()
assert spark.range(2).mapInArrow(lambda batches: batches, "id long").toArrow().num_rows == 2
spark.stop()
"""
PARTS = """
import json, sys, time
begun = float(sys.argv[1])
marks = {}
def mark(name):
    marks[name] = time.monotonic() - begun
def after(owner, function, name):
    plain = getattr(owner, function)
    def wrapped(*given, **named):
        found = plain(*given, **named)
        mark(name)
        return found
    setattr(owner, function, wrapped)
from idcore import __main__ as door
from idcore.spark.start import jvm
after(jvm, "begin", "Java begun")
plain = jvm.Starting.connection
def connection(self):
    mark("all imported")
    return plain(self)
jvm.Starting.connection = connection
after(jvm.Starting, "connection", "Java up")
from idcore.spark import job, session
after(session, "session", "session")
after(job, "compute", "job and its tables")
after(job, "judge", "findings")
after(job, "scan", "tables and summary on disk")
status = door.main(sys.argv[2:])
mark("printed")
print(json.dumps(marks), file=sys.stderr)
sys.exit(status)
"""
_SUBREAPER = 36  # prctl.h: what a process leaves behind becomes a child of this one


def run(command: list[str]) -> tuple[float, float, str]:
    """Seconds until the process ended, processor seconds of all that it began, and its last line of errors."""
    with tempfile.TemporaryFile() as said:
        begun, cpu = time.perf_counter(), 0.0
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=said)
        seconds = 0.0
        while True:
            try:
                pid, status, used = os.wait3(0)
            except ChildProcessError:
                break
            cpu += used.ru_utime + used.ru_stime
            if pid == child.pid:
                seconds, child.returncode = time.perf_counter() - begun, os.waitstatus_to_exitcode(status)
        said.seek(0)
        errors = said.read().decode(errors="replace")
    if child.returncode:
        sys.exit(f"{' '.join(command)[:200]} failed:\n{errors[-2000:]}")
    return seconds, cpu, (errors.strip().splitlines() or [""])[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the bare session's workers have to find pyarrow
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "one.log", str(Path(folder) / "out")
        write_log(log, 1)
        scan = ["scan", str(log), "--out", out, "--overwrite"]
        commands = {
            "bare session": [sys.executable, "-c", BARE],
            "scan of one line": [sys.executable, "-m", "idcore", *scan],
            "decode of one ID": [sys.executable, "-m", "idcore", "decode", "AC110001473C7D4991AD336AEA5703E0"],
        }
        run(commands["scan of one line"])  # kernels that a change made stale are compiled here
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        parts: list[dict[str, float]] = []
        for _ in range(asked.rounds):
            for name, command in commands.items():
                figures[name].append(run(command)[:2])
            begun = str(time.monotonic())
            parts.append(json.loads(run([sys.executable, "-c", PARTS, begun, *scan])[2]))
    print("| what | process, s | processor, s | time, if bare is 1 | processor |\n|---|---|---|---|---|")
    base = [statistics.median(column) for column in zip(*figures["bare session"], strict=True)]
    for name, rows in figures.items():
        own = [statistics.median(column) for column in zip(*rows, strict=True)]
        span = f"{min(row[0] for row in rows):.2f} to {max(row[0] for row in rows):.2f}"
        ratios = " | ".join(f"{mine / bare:.2f}" for mine, bare in zip(own, base, strict=True))
        print(f"| {name} | {own[0]:.2f} ({span}) | {own[1]:.2f} | {ratios} |")
    print("\n| part of the scan | at, s |\n|---|---|")
    for name in parts[0]:
        print(f"| {name} | {statistics.median(each[name] for each in parts):.2f} |")


if __name__ == "__main__":
    main()
