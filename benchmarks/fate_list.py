"""Five thousand IDs against a real cluster on this machine: the verdicts of ten groups on each, as tables.

python -m benchmarks.fate_list                  needs the servers: python tests/java/jars.py
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.lookup import moment
from idcore.answers.fate_list import MOST_IDS
from idcore.answers.fate_list.batched_lookups import FateListProgress, IdList, ask
from idcore.answers.fate_list.tally import Tally, write
from idcore.answers.lookup import LookupService
from idcore.rocketmq.remoting.address import Endpoint
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.profile import Profile, name_servers
from idcore.rocketmq.remoting.requests import ReadCode
from tests.java import jars
from tests.remoting.boot import OneBroker
from tests.remoting.relay import Relay

GROUPS = 10


def filled(cluster: OneBroker, limit: float = 600) -> list[str]:
    """The msgIds, once ten groups have consumed all messages."""
    until = time.monotonic() + limit
    while not (found := [event[1:] for event in cluster.events if event[0] == "MANY"]):
        assert time.monotonic() < until, "the groups did not consume the messages"
        time.sleep(0.5)
    return found[0]


def listed(profile: Profile, ids: list[str], folder: Path) -> tuple[float, Tally]:
    """Seconds to the written tables."""
    service = LookupService(Cluster(profile), moment)
    folder.mkdir()
    with service.cluster:
        begun = time.perf_counter()
        reports: list[FateListProgress] = []
        tally = ask(service, IdList.of(ids, "Many"), report=reports.append)
        write(folder, tally)
        seconds = time.perf_counter() - begun
    assert tally.outcomes["judged"] == len(reports) == len(ids), tally.outcomes
    return seconds, tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ids", type=int, default=MOST_IDS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if problem := jars.missing_server():
        sys.exit(problem)
    os.environ["MANY_MESSAGES"] = str(options.ids)
    with tempfile.TemporaryDirectory() as folder:
        cluster = OneBroker(Path(folder) / "many", jars.SERVER)
        try:
            ids = filled(cluster.start(("Many",)))
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            profile = Profile("many", name_servers(cluster.names))
            rounds = [listed(profile, ids, Path(folder) / f"out-{at}") for at in range(options.rounds)]
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            address = f"127.0.0.1:{cluster.port}"
            with Relay(address) as relay:  # not while the clock runs
                mapped = {Endpoint.parse(address): relay.endpoint}
                many = Profile("many", name_servers(cluster.names), address_map=mapped)
                _, tally = listed(many, ids, Path(folder) / "counted")
                asked = Counter(ReadCode(frame.code).name for frame in relay.seen)
        finally:
            cluster.stop()
    seconds = sorted(each for each, _ in rounds)
    said: Counter[str] = Counter()
    for row in tally.tables()["fates"].to_pylist():
        said[row["verdict"]] += row["messages"]
    assert said.total() == GROUPS * len(ids), said
    middle, slowest = seconds[len(seconds) // 2], seconds[-1]
    print(f"{len(ids):,} msgIds, verdicts of {GROUPS} groups {middle:6.1f} s (slowest {slowest:.1f} s)")
    print(f"  memory: {(after - before) / 1024:.0f} MiB more at the most")
    print(f"  said:  {', '.join(f'{count:,} {code}' for code, count in said.most_common())}")
    print(f"  asked: {', '.join(f'{count:,} {name}' for name, count in asked.most_common())}")


if __name__ == "__main__":
    main()
