"""A session that stays: whole processes next to the same work without one, where Spark is up already.

python -m benchmarks.resident                   1,000 lines, and 4,000,000 lines = 1.15 GB, 5 rounds, medians

`warm` is the scan within a process whose Spark is up; `command` is `python -m idcore scan` that the session runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .make_log import ROOT, cached_log, write_log
from .scan import options


def command(environment: dict[str, str], *words: str) -> float:
    begun = time.perf_counter()
    run = [sys.executable, "-m", "idcore", *words]
    subprocess.run(run, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def warm(log: Path, out: Path) -> float:
    from idcore.spark.job import scan

    shutil.rmtree(out, ignore_errors=True)
    begun = time.perf_counter()
    scan([str(log)], out, options(None))
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=4_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # A session of this benchmark's own. The Spark of this process changes its environment, which that of a shell
        # does not have.
        shell = {**os.environ, "XDG_RUNTIME_DIR": folder}
        started = command(shell, "session", "start")
        print(f"the session started in {started:.2f} s\n")
        print("| lines | command, s | warm, s | command, if warm is 1 |\n|---|---|---|---|")
        small = Path(folder) / "1000.log"
        write_log(small, 1_000)
        out = ROOT / ".cache" / "bench" / "resident"
        try:
            for lines, log in ((1_000, small), (asked.lines, cached_log(asked.lines).resolve())):
                warm(log, out)
                figures = [
                    (command(shell, "scan", str(log), "--out", str(out), "--overwrite"), warm(log, out))
                    for _ in range(asked.rounds)
                ]
                whole, within = (statistics.median(column) for column in zip(*figures, strict=True))
                print(f"| {lines:,} | {whole:.2f} | {within:.2f} | {whole / within:.2f} |")
        finally:
            command(shell, "session", "stop")


if __name__ == "__main__":
    main()
