"""Consumer groups of a store: each does one thing with the traffic, and the broker's files show it. Reads nothing.

The truth is counted from what is done here, not from what a reader of the store concludes.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from idcore.rocketmq.message import Record
from idcore.rocketmq.message.model import RETRY_PREFIX
from idcore.simulate.traffic import TOPICS, Traffic

# What the groups do, in turns. The first of them fails with some messages; each end of a failure has a turn of its own.
SITUATIONS = ("fails", "reads_all", "lags", "skips_a_queue", "disabled", "broadcasts")
_FAILURES = ("consumed_on_retry", "retry_queued", "dead", "retry_waiting")
_LATER_MS = 1_000
_FAILED_MOST = 40  # messages of one group


class Consumption:
    """So many groups, each on every topic of the traffic."""

    def __init__(self, traffic: Traffic, count: int) -> None:
        self._traffic = traffic
        self._broker = traffic.broker
        self._groups = [
            (f"{SITUATIONS[at % len(SITUATIONS)]}-{at}", SITUATIONS[at % len(SITUATIONS)]) for at in range(count)
        ]
        self._failed: list[tuple[str, Record, str]] = []
        self.offsets: dict[str, dict[int, int]] = {}

    def play(self) -> None:
        """What each group does, after all messages were sent. A schedule keeps its order, so what waits comes last."""
        failing = [group for group, situation in self._groups if situation == "fails"]
        for at, ending in enumerate(_FAILURES):
            for number, group in enumerate(failing):
                records = self._traffic.first[number % 7 :: 7][:_FAILED_MOST]
                self._fail(group, records[at :: len(_FAILURES)], ending)
        ends = self._broker.writer.queue_ends
        for group, situation in self._groups:
            for topic in TOPICS:
                queues = {queue: end for (name, queue), end in ends.items() if name == topic}
                if situation in ("lags", "disabled"):
                    reached = {queue: end - min(end, 3 + queue) for queue, end in queues.items()}
                elif situation == "skips_a_queue":
                    reached = {queue: end for queue, end in queues.items() if queue}
                else:
                    reached = queues
                self.offsets[f"{topic}@{group}" + ("@broadcast" if situation == "broadcasts" else "")] = reached

    def _fail(self, group: str, records: list[Record], ending: str) -> None:
        """One copy of each, as far on its way as this ending asks for."""
        now = self._traffic.now + _LATER_MS
        reached = self.offsets.setdefault(f"{RETRY_PREFIX}{group}@{group}", {0: 0})
        for record in records:
            (copy,) = self._broker.send_back(record, group, now, -1 if ending == "dead" else 1).records
            self._traffic.note(copy)
            if ending in ("consumed_on_retry", "retry_queued"):
                (queued,) = self._broker.deliver(copy, now + _LATER_MS).records
                self._traffic.note(queued)
                if ending == "consumed_on_retry":
                    reached[0] = queued.queue_offset + 1
            self._failed.append((group, record, ending))

    def write(self, root: Path) -> None:
        """The settings of the groups; a store without groups has no such file."""
        table = {
            group: {
                "groupName": group,
                "consumeEnable": situation != "disabled",
                "consumeBroadcastEnable": True,
                "retryQueueNums": 1,
                "retryMaxTimes": 16,
            }
            for group, situation in self._groups
        }
        if table:
            text = json.dumps({"subscriptionGroupTable": table}, indent=1)
            (root / "config" / "subscriptionGroup.json").write_text(text + "\n", encoding="utf-8")

    def truth(self) -> dict[str, Any]:
        """How many messages of each topic have which fate in each group, and the messages that failed."""
        if not self._groups:
            return {}
        ends = self._broker.writer.queue_ends
        counted = [
            {"group": group, "situation": situation, "topic": topic, "verdict": verdict, "messages": count}
            for group, situation in self._groups
            for topic in TOPICS
            for verdict, count in sorted(self._counts(group, situation, topic, ends).items())
            if count
        ]
        failed = [
            {"group": group, "msg_id": record.uniq_id, "offset_msg_id": str(record.offset_id), "verdict": ending}
            for group, record, ending in self._failed
        ]
        return {"fates": counted, "failed": failed}

    def _counts(self, group: str, situation: str, topic: str, ends: dict[tuple[str, int], int]) -> Counter[str]:
        counts: Counter[str] = Counter()
        reached = self.offsets.get(f"{topic}@{group}", {})
        open_verdict = {"disabled": "disabled", "lags": "behind"}.get(situation, "")
        for (name, queue), end in ends.items():
            if name != topic:
                continue
            if situation == "broadcasts":
                counts["broadcast"] += end
            elif queue not in reached:
                counts["never_read"] += end
            else:
                counts["consumed"] += reached[queue]
                counts[open_verdict] += end - reached[queue]
        for name, record, ending in self._failed:
            if (name, record.topic) == (group, topic):
                counts[ending] += 1
                counts["consumed"] -= 1
        return counts
