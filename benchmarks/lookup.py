"""A hundred ids against a real cluster on this machine: with their topic, without, by offsetMsgId.

python -m benchmarks.lookup                     median of 7 rounds; needs the servers: python tests/java/jars.py
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.java import jars
from tests.remoting.asking import desk_of, profile
from tests.remoting.boot import RealCluster
from tests.remoting.conftest import Filled, filled

IDS = 100


def measure(real: Filled, rounds: int) -> dict[str, tuple[float, float]]:
    """Median seconds and the slowest round, every answer being a find."""
    lines = real.of("plain", "keys", "unicode", "binary", "twice", "own_key")
    orders = [line["msg_id"] for line in real.of("plain", "keys", "unicode", "binary", topic="Orders")]
    ways: dict[str, tuple[list[str], str | None]] = {
        f"{IDS} msgIds without a topic": ([line["msg_id"] for line in lines][:IDS], None),
        f"{IDS} msgIds in their topic": ((orders * IDS)[:IDS], "Orders"),
        f"{IDS} offsetMsgIds, all copies": ([line["offset_msg_id"] for line in lines][:IDS], None),
    }
    found: dict[str, tuple[float, float]] = {}
    for name, (ids, topic) in ways.items():
        times = []
        for _ in range(rounds):
            desk = desk_of(profile(real))  # a new one: connections and routes are part of what one waits for
            with desk.cluster:
                begun = time.perf_counter()
                answers = list(desk.look_up(ids, topic))
                times.append(time.perf_counter() - begun)
            assert all(answer.found for answer in answers)
        found[name] = statistics.median(times), max(times)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    problem = jars.missing_server()
    if problem:
        sys.exit(problem)
    with tempfile.TemporaryDirectory() as folder:
        cluster = RealCluster(Path(folder))
        try:
            found = measure(filled(cluster), options.rounds)
        finally:
            cluster.stop()
    for name, (median, slowest) in found.items():
        print(f"{name:34} {median:6.2f} s (slowest {slowest:.2f} s)")
    if any(median > 2 for median, _ in found.values()):
        sys.exit("over two seconds")


if __name__ == "__main__":
    main()
