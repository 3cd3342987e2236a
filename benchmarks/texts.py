"""The kernel on texts of every kind, one core, all stages of a task, beside reading the same bytes and nothing else.

python -m benchmarks.texts                      256 MB of each kind, 5 rounds, medians
"""

from __future__ import annotations

import argparse
import statistics
import sys

from .kernel import all_stages, reading, seconds_of
from .logs import KINDS, cached_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256 << 20)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(f"{asked.size / 1e9:.2f} GB of each, one core, medians of {asked.rounds} rounds\n")
    print("| text | GB/s | time, if reading alone is 1 |\n|---|---|---|")
    for kind, (words, _) in KINDS.items():
        print(f"making and warming: {kind}", file=sys.stderr, flush=True)
        path = cached_text(kind, asked.size)
        size = path.stat().st_size
        all_stages(path)
        read = statistics.median(seconds_of(reading, path) for _ in range(asked.rounds))
        scanned = statistics.median(seconds_of(all_stages, path) for _ in range(asked.rounds))
        print(f"| {words} | {size / scanned / 1e9:.2f} | {scanned / read:.2f} |", flush=True)


if __name__ == "__main__":
    main()
