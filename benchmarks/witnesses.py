"""Verdicts of a broker's messages against consumers that logged what they did with each: right, wrong, hedged.

python -m benchmarks.witnesses [--release server-5.3.3] [--keep FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from idcore.answers.fate import Verdict
from idcore.answers.lookup import LookupService, Moment
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.ids import Clock
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.profile import Profile, name_servers
from idcore.rocketmq.store.folder import StoreFolder
from tests.java import jars
from tests.remoting import boot

TAGS = {
    "tag-a": (("TagA",), ("TagA",)),
    "tag-ab": (("TagA", "TagB"),) * 2,
    "dies-later": (("TagA",),) * 2,
    "hangs-traced": (("TagB",),) * 2,
    "leaves-tag": (("TagB",),) * 2,
    "changes": (("TagA",), ("TagB",)),
    "changes-live": (("TagA",), ("TagB",)),
    "changes-hangs": (("TagA",), ("TagB",)),
    "pop-tag": (("TagA",),) * 2,
    "pull-leaves-tag": (("TagA",), ("TagB",)),
    "pull-old": (("TagB",),) * 2,
    "pull-tag": (("TagB",),) * 2,
}
SECOND_HALF = 24
# A verdict that claims the message was with the group, by what its log has last.
OF_STATE = {
    "ok": {"consumed", "consumed_on_retry", "taken", "handed_out", "broadcast", "passed_maybe_skipped"}
    | {"unacknowledged"},
    "failed": {"retry_waiting", "retry_queued", "dead"},
    "open": {"running", "handed_out", "taken", "offline", "never_read", "retry_queued", "unacknowledged"}
    | {"retry_waiting"},  # POP gives out again what hangs
    "unseen": {"behind", "stuck", "offline", "never_read", "not_subscribed", "disabled", "not_dispatched", "broadcast"}
    | {"unreadable_queue", "filtered_ahead", "passed_maybe_skipped", "unacknowledged"},
    "excluded": {"filtered", "filtered_ahead", "behind", "offline", "never_read", "stuck", "passed_maybe_skipped"}
    | {"unacknowledged"},
}
# Groups with a message that holds others back: those were pulled, and no listener was called.
BLOCKED = ("changes-hangs", "hangs", "killed", "orderly", "reset", "slow", "pop-hangs", "pop-reset")


@dataclass
class Told:
    """What a group's log says of one record."""

    events: list[str] = field(default_factory=list)
    tries: int = 0

    @property
    def state(self) -> str:
        """What the last attempt came to."""
        if not self.events:
            return "unseen"
        return {"OK": "ok", "FAIL": "failed", "GOT": "open"}[self.events[-1]]


class Log:
    """What all clients wrote, and which record each line is about."""

    def __init__(self, texts: list[str]) -> None:
        self.sent: dict[str, list[list[str]]] = defaultdict(list)  # by msgId
        self.events: list[list[str]] = []
        for line in (line.split() for text in texts for line in text.splitlines()):
            if line and line[0] == "SENT" and len(line) == 7:
                self.sent[line[3]].append(line[1:])
            elif line and line[0] in ("GOT", "OK", "FAIL") and len(line) == 7:
                self.events.append(line)

    def told(self, homes: Mapping[str, set[str]]) -> dict[tuple[str, str], Told]:
        """By group and record; by group and msgId where a line fits several records. `homes`: records by msgId.

        A retry names its first record. The items of a batch come to consumers under the msgId of the batch.
        """
        records = {record for some in homes.values() for record in some}
        found: dict[tuple[str, str], Told] = defaultdict(Told)
        for what, group, unique, place, origin, tries, _ in sorted(self.events, key=lambda line: int(line[6])):
            own = homes.get(unique, set())
            record = next((each for each in (place, origin) if each in records), None)
            told = found[group, record or (next(iter(own)) if len(own) == 1 else unique)]
            told.events.append(what)
            told.tries = max(told.tries, int(tries))
        return found


def excluded(group: str, tag: str, number: int) -> bool:
    """Whether the group's filter of that time drops the message."""
    if group == "sql":
        return not 10 < number < 40
    kept = TAGS.get(group)
    return kept is not None and tag not in kept[number >= SECOND_HALF]


def graded(verdict: Verdict, told: Told, drops: bool) -> str:
    """right, hedged, or wrong with its certainty."""
    state = "excluded" if drops and not told.events else told.state
    allowed = OF_STATE[state]
    if state == "unseen" and verdict.group.startswith(BLOCKED):
        allowed = allowed | {"handed_out"}
        if verdict.group.startswith("pop"):  # what no listener got to in its time comes back as well
            allowed = allowed | {"retry_queued", "retry_waiting"}
    if state == "failed" and verdict.group.startswith("pop"):  # it is put off, and stays in the hands of the group
        allowed = allowed | {"handed_out"}
    right = verdict.code in allowed
    if state == "ok" and verdict.code == "consumed_on_retry":
        right = "FAIL" in told.events or told.tries > 0 or told.events.count("GOT") > 1
    if verdict.code == "dead" and right:
        right = verdict.values.get("tries") == told.events.count("FAIL")
    if verdict.code == "broadcast" or right:
        return "right"
    return "hedged" if verdict.certainty in ("uncertain", "none") else f"wrong {verdict.certainty}"


def answers(one: object, log: Log) -> Iterator[tuple[str, str, Verdict, str, int, Told]]:
    """Each verdict with what the logs have of its record."""
    found = {}
    for unique in log.sent:
        found[unique] = one(unique)  # type: ignore[operator]
    judged = {unique: {verdict.record for verdict in answer.fate or ()} for unique, answer in found.items()}
    told = log.told(judged)
    for unique, answer in found.items():
        kinds = log.sent[unique]
        tag, number = kinds[0][4], int(kinds[0][5])
        for verdict in answer.fate or ():
            unclear = told.get((verdict.group, unique))
            known = told.get((verdict.group, verdict.record), Told())
            if unclear is not None:  # whose record a retry was of is not in the log
                known = Told(known.events + unclear.events, max(known.tries, unclear.tries))
            yield unique, "+".join(each[0] for each in kinds), verdict, tag, number, known


def measure(name: str, one: object, log: Log, out: list[dict[str, object]]) -> None:
    """Counts, and each verdict that is wrong."""
    counts: Counter[str] = Counter()
    sure: Counter[str] = Counter()
    for unique, kind, verdict, tag, number, known in answers(one, log):
        grade = graded(verdict, known, excluded(verdict.group, tag, number))
        counts[grade] += 1
        sure[verdict.certainty] += 1
        row = {
            "form": name,
            "grade": grade,
            "group": verdict.group,
            "id": unique,
            "n": number,
            "kind": kind,
            "tag": tag,
            "record": verdict.record,
            "verdict": verdict.code,
            "certainty": verdict.certainty,
            "why": [reason.code for reason in verdict.why],
            "log": known.events,
            "values": dict(verdict.values),
        }
        out.append(row)
        if grade != "right":
            print(json.dumps(row), flush=True)
    total = counts.total()
    print(f"{name}: {total:,} verdicts, {dict(counts)}, {100 * counts['right'] / total:.2f} % right; {dict(sure)}")


class Witnesses(boot.Processes):
    """A broker, its witnesses, and those that are killed."""

    def play(self) -> None:
        """Everything that the clients do."""
        self.port = boot.free_ports(set())
        self.names = f"127.0.0.1:{self.port + 3}"
        self.store = self.work / "broker" / "store"
        conf = boot._ALONE.format(port=self.port, names=self.port + 3, store=self.store)
        self.folder("names", f"listenPort={self.port + 3}\nbindAddress=127.0.0.1\n")
        self.folder("broker", conf + "transactionCheckMax=2\n")
        self.compile("Witnesses.java")
        self.boot("names", boot.NAMES, "-Xmx192m")
        self.wait("names")
        self.boot("broker", boot.BROKER, "-Xmx512m", "-XX:MaxDirectMemorySize=512m")
        self.wait("broker")
        for name in ("witnesses", "victims"):
            self.folder(name)
            arguments = ["Witnesses", self.names, f"127.0.0.1:{self.port}", name]
            options = ["-Xmx384m", "-Drocketmq.client.rebalance.waitInterval=500"]
            self.begin(name, [*self.java(name, *options), *arguments])
        self.wait("witnesses", b"READY", 240)
        time.sleep(2)
        self.kill("victims")

    def log(self) -> Log:
        """What was written so far."""
        return Log([self._out(name).read_text(errors="replace") for name in ("witnesses", "victims")])


def main() -> None:
    """Plays, asks nine times, and prints what is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default=jars.SERVER)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as work:
        made = Witnesses(Path(work), options.release)
        try:
            made.play()
            # clients report offsets every 5 s; a broker takes a dead client out after a while; ten minutes after its
            # start it first has sums of an hour
            for seconds, forms in ((25, 2), (70, 3), (460, 3)):
                time.sleep(seconds)
                for trace, reach in ((False, False), (True, False), (True, True))[:forms]:
                    limits = Limits(reach_clients=reach)
                    profile = Profile("witnesses", name_servers(made.names), limits=limits)
                    with (service := LookupService(Cluster(profile), _moment)).cluster:
                        name = f"live, {'with' if trace else 'without'} traces, after {seconds} s"
                        name += ", clients asked" if reach else ""
                        measure(name, partial(service.one, fate=True, trace=trace, alone=True), made.log(), rows)
            log = made.log()
            made.stop()
            with StoreFolder(made.store) as store:
                look_up = StoreLookup(store, Clock(datetime.now(UTC), UTC, "given"))
                measure("folder", lambda text: look_up.one(text, fate=True, trace=True), log, rows)
        finally:
            made.stop()
            if options.keep:
                options.keep.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _moment() -> Moment:
    return Moment(datetime.now(UTC), UTC)


if __name__ == "__main__":
    main()
