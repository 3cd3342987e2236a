"""Situations of a store to try the findings with: each code in several variants, from a seed, with the truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from idcore.ids.clock import MINUTE_MS
from idcore.simulate.append import Settings
from idcore.simulate.store_day import Group, StoreDay
from idcore.simulate.writer import StoreWriter

HEALTHY = "healthy"
# Small ones: a situation deletes the first, as a broker does.
_SETTINGS = Settings(commit_log_file=256 << 10, slots=5_000, entries=20_000)
Story = Callable[["Situation", StoreDay], None]
STORIES: dict[str, dict[str, Story]] = {}


def variant(code: str, name: str) -> Callable[[Story], Story]:
    """Names a story: a variant of the situation of some finding."""

    def keep(story: Story) -> Story:
        STORIES.setdefault(code, {})[name] = story
        return story

    return keep


@dataclass(slots=True)
class Situation:
    """A store with one situation in it. Without a variant the seed chooses one."""

    code: str
    variant: str | None
    seed: int
    start: datetime
    zone: tzinfo
    expected: list[dict[str, Any]] = field(default_factory=list)
    after: list[Callable[[Path], None]] = field(default_factory=list)  # what happens to the files at last

    def write(self, root: Path) -> None:
        """The folder."""
        known = list(STORIES[self.code])
        self.variant = self.variant or known[self.seed % len(known)]
        with StoreWriter(root, _SETTINGS, self.zone) as writer:
            day = StoreDay(writer, self.seed, self.start, self.zone)
            STORIES[self.code][self.variant](self, day)
            day.play()
            day.write(root)
        (root / "broker.conf").write_text(_SETTINGS.broker_conf, encoding="utf-8")
        for change in self.after:
            change(root)

    def expect(self, subject: str, severity: str | None = None, code: str | None = None) -> None:
        """Notes a finding that is true of the store; a `severity` where it is not the usual one of its code."""
        self.expected.append({"code": code or self.code, "severity": severity, "subject": subject})

    def truth(self, severities: Mapping[str, str]) -> dict[str, Any]:
        """What has to be found. `severities`: the usual ones, by code."""
        expected = [{**row, "severity": row["severity"] or severities[row["code"]]} for row in self.expected]
        return {"situation": self.code, "variant": self.variant, "expected": expected}


def _one(day: StoreDay) -> Group:
    """The group that something happens to: it is quick, so that nothing else is to be seen of it."""
    group = day.random.choice(day.groups)
    group.lag_ms = day.random.randrange(200, 3_000)
    return group


def _between(day: StoreDay, low: float, high: float) -> int:
    return day.minute(day.random.uniform(low, high))


# ---- healthy


@variant(HEALTHY, "calm")
def _calm(_: Situation, __: StoreDay) -> None:
    """Lags up to minutes, some retries, some dead letters."""


@variant(HEALTHY, "busy")
def _busy(_: Situation, day: StoreDay) -> None:
    # Failures come with the messages: neither is a storm.
    begin = day.random.randrange(20, 60)
    day.busy = (begin, begin + day.random.randrange(8, 20), day.random.randrange(3, 6))


@variant(HEALTHY, "short_outage")
def _short_outage(_: Situation, day: StoreDay) -> None:
    group, begin = _one(day), _between(day, 0.3, 0.7)
    usual = group.fails
    group.fails = lambda at: 0.8 if begin <= at < begin + MINUTE_MS else usual(at)


@variant(HEALTHY, "new_topic")
def _new_topic(_: Situation, day: StoreDay) -> None:
    # Its group is deployed in a minute.
    day.weight["InvoiceDrafted"] = 0.5
    day.begins["InvoiceDrafted"] = day.end - 6 * MINUTE_MS


@variant(HEALTHY, "ended_topic")
def _ended_topic(_: Situation, day: StoreDay) -> None:
    group, topic = _one(day), "LegacyOrder"
    day.weight[topic] = 0.6
    group.topics.append(topic)
    stop = _between(day, 0.4, 0.6)
    sent = day.next_id

    def next_id() -> str:
        if day.now >= stop:
            day.weight[topic] = 0.0
        return sent()

    day.next_id = next_id


# ---- groups that no longer advance


@variant("group_stalled", "stopped")
def _stopped(situation: Situation, day: StoreDay) -> None:
    group = _one(day)
    group.stops = _between(day, 0.2, 0.75)
    for topic in group.topics:
        situation.expect(f"{topic}@{group.name}")


@variant("group_stalled", "disabled")
def _disabled(situation: Situation, day: StoreDay) -> None:
    _stopped(situation, day)
    for group in day.groups:
        group.may_consume = group.stops is None


@variant("group_stalled", "slow")
def _slow(situation: Situation, day: StoreDay) -> None:
    # It moves, far behind: the offsets of the write before are other ones.
    group = _one(day)
    group.lag_ms, group.speed = day.random.randrange(25, 60) * MINUTE_MS, 60
    for topic in group.topics:
        situation.expect(f"{topic}@{group.name}", "info")


# ---- one message in the way


@variant("poison_message", "blocks")
def _blocks(situation: Situation, day: StoreDay) -> None:
    group, queue = _one(day), day.random.randrange(4)
    topic = day.random.choice(group.topics)
    group.stuck[topic, queue] = _between(day, 0.2, 0.7)
    situation.expect(f"{topic}@{group.name} queue {queue}")


@variant("poison_message", "blocks_two")
def _blocks_two(situation: Situation, day: StoreDay) -> None:
    group = _one(day)
    topic = day.random.choice(group.topics)
    for queue in day.random.sample(range(4), 2):
        group.stuck[topic, queue] = _between(day, 0.2, 0.7)
        situation.expect(f"{topic}@{group.name} queue {queue}")


@variant("poison_message", "tries")
def _tries(situation: Situation, day: StoreDay) -> None:
    group = _one(day)
    group.poisons = sorted(_between(day, 0.05, 0.25) for _ in range(day.random.randrange(1, 4)))
    situation.expect(group.name)


# ---- failures


def _outage(group: Group, begin: int, end: int, chance: float) -> None:
    # What is given up at once would rise too.
    usual = group.fails
    group.fails = lambda at: chance if begin <= at < end else usual(at)
    group.gives_up = lambda _: 0.0


@variant("retry_storm", "outage")
def _storm(situation: Situation, day: StoreDay) -> None:
    # A database is away for some minutes.
    group, begin = _one(day), _between(day, 0.3, 0.7)
    group.topics = list(day.topics)
    _outage(group, begin, begin + day.random.randrange(6, 14) * MINUTE_MS, day.random.uniform(0.7, 1))
    situation.expect(group.name)


@variant("retry_storm", "release")
def _release(situation: Situation, day: StoreDay) -> None:
    # A new release of the consumer fails with a part of the messages from then on.
    group = _one(day)
    group.topics = list(day.topics)
    group.fails = lambda _: 0.005
    _outage(group, _between(day, 0.5, 0.75), day.end, day.random.uniform(0.2, 0.4))
    situation.expect(group.name)


@variant("dead_letters", "sudden")
def _sudden(situation: Situation, day: StoreDay) -> None:
    # It gives up at once (maxReconsumeTimes=0) what it cannot parse, and a producer sends some minutes of it.
    group, begin = _one(day), _between(day, 0.2, 0.8)
    group.topics = list(day.topics)
    _outage(group, begin, begin + day.random.randrange(3, 8) * MINUTE_MS, 0.6)
    group.gives_up = lambda at: 1.0 if begin <= at < begin + 20 * MINUTE_MS else 0.0
    situation.expect(group.name)


@variant("dead_letters", "rising")
def _rising(situation: Situation, day: StoreDay) -> None:
    # From then on a small part of the messages cannot be processed, and is given up after the first attempt.
    group, since = _one(day), _between(day, 0.5, 0.75)
    group.topics = list(day.topics)
    group.fails = lambda at: 0.06 if at >= since else 0.004
    group.gives_up = lambda _: 1.0
    situation.expect(group.name)


# ---- messages passed over


@variant("group_skipped", "beyond_end")
def _beyond_end(situation: Situation, day: StoreDay) -> None:
    # The topic was deleted and created again: its offsets stayed.
    group = _one(day)
    topic = day.random.choice(group.topics)
    for queue in range(4):
        group.offsets[topic, queue] = day.random.randrange(20_000, 900_000)
    situation.expect(f"{topic}@{group.name}")


@variant("group_skipped", "deleted")
def _deleted(situation: Situation, day: StoreDay) -> None:
    # It stopped long ago; the first file of the log is gone, and what it had not read with it.
    group = _one(day)
    group.stops = day.start + 2 * MINUTE_MS
    for topic in group.topics:
        situation.expect(f"{topic}@{group.name}")
        situation.expect(f"{topic}@{group.name}", code="group_stalled")
    situation.after.append(lambda root: min((root / "commitlog").iterdir()).unlink())


@variant("group_skipped", "never_read")
def _never_read(situation: Situation, day: StoreDay) -> None:
    group = _one(day)
    topic = day.random.choice(group.topics)
    group.without = {(topic, queue) for queue in day.random.sample(range(4), day.random.randrange(1, 3))}
    situation.expect(f"{topic}@{group.name}")


@variant("group_skipped", "unreadable")
def _unreadable(situation: Situation, day: StoreDay) -> None:
    # readQueueNums was lowered: nobody is given the last queue any more.
    topic = day.random.choice(day.topics)
    since = _between(day, 0.3, 0.6)
    for group in day.groups:
        if topic in group.topics:
            group.stuck[topic, 3] = since
            situation.expect(f"{topic}@{group.name}")

    def lower(root: Path) -> None:
        path = root / "config" / "topics.json"
        values = json.loads(path.read_text(encoding="utf-8"))
        values["topicConfigTable"][topic]["readQueueNums"] = 3
        path.write_text(json.dumps(values, indent=1), encoding="utf-8")

    situation.after.append(lower)


# ---- topics without a reader


@variant("topic_unread", "plain")
def _plain(situation: Situation, day: StoreDay) -> None:
    day.weight["AuditTrail"] = day.random.uniform(0.1, 1)
    situation.expect("AuditTrail")


@variant("topic_unread", "mistyped")
def _mistyped(situation: Situation, day: StoreDay) -> None:
    # A producer was deployed with another name than its consumers: autoCreateTopicEnable made the topic.
    name = day.random.choice(day.topics).lower() + "-v2"
    day.weight[name] = 0.7
    day.begins[name] = _between(day, 0.3, 0.7)
    situation.expect(name)
