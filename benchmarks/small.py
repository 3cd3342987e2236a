"""Small inputs: one ID as a whole process, and in a session that is up a list of IDs to its tables, as of a paste.

python -m benchmarks.small                      one ID; then 1, 1,000 and 10,000 lines, 7 rounds, medians
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from idcore.spark.job import ScanOptions, scan

from .kernel import seconds_of
from .make_log import write_log

COMMAND = [sys.executable, "-m", "idcore", "decode", "0A141E28126418B4AAC26531F659001F"]


def _decode() -> None:
    subprocess.run(COMMAND, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    _decode()
    processes = [seconds_of(_decode) for _ in range(3 * asked.rounds)]
    print("| a process | median s | fastest | slowest |\n|---|---|---|---|")
    print(
        f"| `decode` of one ID | {statistics.median(processes):.3f} | {min(processes):.3f} | {max(processes):.3f} |\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        print("| lines | s to the last table | fastest | slowest |\n|---|---|---|---|")
        for lines in (1, 1_000, 10_000):
            log = Path(folder) / f"{lines}.log"
            write_log(log, lines)
            scan([str(log)], out, ScanOptions())
            seconds = [seconds_of(scan, [str(log)], out, ScanOptions()) for _ in range(asked.rounds)]
            print(f"| {lines:,} | {statistics.median(seconds):.2f} | {min(seconds):.2f} | {max(seconds):.2f} |")


if __name__ == "__main__":
    main()
