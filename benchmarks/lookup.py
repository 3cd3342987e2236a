"""A hundred ids against real clusters on this machine: with their topic, without, by offsetMsgId, with ten verdicts.

python -m benchmarks.lookup                     median of 7 rounds; needs the servers: python tests/java/jars.py
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from idcore.answers.lookup import LookupService, Moment
from idcore.rocketmq.remoting.address import Endpoint
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.profile import Profile, name_servers
from idcore.rocketmq.remoting.requests import ReadCode
from tests.java import jars
from tests.remoting.asking import desk_of, profile
from tests.remoting.boot import OneBroker, RealCluster
from tests.remoting.conftest import Filled, filled
from tests.remoting.relay import Relay

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


def verdicts(cluster: OneBroker, rounds: int) -> tuple[tuple[float, float], Counter[str], Counter[str]]:
    """Median seconds and the slowest round of the verdicts of ten groups on each; what was asked, and what was said."""
    ids = cluster.words("MANY")
    times = []
    for _ in range(rounds):
        service = LookupService(Cluster(Profile("many", name_servers(cluster.names))), moment)
        with service.cluster:
            begun = time.perf_counter()
            answers = list(service.look_up(ids, "Many", fate=True))
            times.append(time.perf_counter() - begun)
    with Relay(f"127.0.0.1:{cluster.port}") as relay:  # not while the clock runs
        mapped = {Endpoint.parse(f"127.0.0.1:{cluster.port}"): relay.endpoint}
        service = LookupService(Cluster(Profile("many", name_servers(cluster.names), address_map=mapped)), moment)
        with service.cluster:
            answers = list(service.look_up(ids, "Many", fate=True))
        asked = Counter(ReadCode(frame.code).name for frame in relay.seen)
    said = Counter(verdict.code for answer in answers for verdict in answer.fate or ())
    assert len(ids) == IDS and said.total() == 10 * IDS, said
    return (statistics.median(times), max(times)), asked, said


def moment() -> Moment:
    return Moment(datetime.now(UTC), UTC)


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
        alone = OneBroker(Path(folder) / "many", jars.SERVER)
        try:
            (median, slowest), asked, said = verdicts(alone.start(("Many",)), options.rounds)
        finally:
            alone.stop()
    for name, (median, slowest) in found.items():
        print(f"{name:34} {median:6.2f} s (slowest {slowest:.2f} s)")
    print(f"{f'{IDS} msgIds, verdicts of 10 groups':34} {median:6.2f} s (slowest {slowest:.2f} s)")
    print(f"  said:  {', '.join(f'{count:,} {code}' for code, count in said.most_common())}")
    print(f"  asked: {', '.join(f'{count:,} {name}' for name, count in asked.most_common())}")
    if median > 4 or any(middle > 2 for middle, _ in found.values()):
        sys.exit("over two seconds, or four for verdicts")


if __name__ == "__main__":
    main()
