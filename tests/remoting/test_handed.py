"""Whether a group was handed what its offset moved over: a broker that counts as StatsItem does, its life made up."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from idcore.answers.fate import Observation
from idcore.answers.fate.model import FewerHanded
from idcore.answers.lookup.handed import Counters, Reader, windows
from idcore.rocketmq.remoting.consumers import ConsumeStats, QueueProgress, QueueStats, TopicStats
from idcore.rocketmq.remoting.counters import HandedTo, StoredIn, Sums
from idcore.rocketmq.remoting.requests import QueueAt, Request

pytestmark = pytest.mark.quick

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
BOOT = 1_795_000_000_000
EVERY = Reader("works", BOOT - HOUR)


def last_sums(counted: Sequence[int], now: int, begun: int) -> Sums:
    """The sums at an instant of a counter that counted one at each of these; lists of 7 and 25 samples, as in Java.

    The first samples are taken at `begun`.
    """

    def sum_of(interval: int, most: int) -> int:
        samples: list[int] = []
        for at in range(begun, now + 1, interval):
            value = bisect_left(counted, at)
            if value or samples:  # the counter is made with the first that it counts
                samples = [*(samples or [0]), value][-most:]
        return samples[-1] - samples[0] if samples else 0

    return Sums(sum_of(10 * SECOND, 7), sum_of(10 * MINUTE, 7), sum_of(HOUR, 25), bool(counted and counted[0] <= now))


@dataclass
class Life:
    """A broker's queues as the times of their messages, and when a group was handed each, None for never."""

    queues: list[list[tuple[int, int | None]]]
    committed: list[int] | None = None
    stored_here_ms: int = 0  # another broker stored what is older, and handed it out
    begun: int = BOOT  # of its samples; a broker says when it made its store, a moment later
    asked: list[Request[Any]] = field(default_factory=list)
    silent: tuple[type, ...] = ()

    def answer(self, request: Request[Any], now: int) -> Any:
        times = [[stored for stored, _ in queue if stored <= now] for queue in self.queues]
        if isinstance(request, TopicStats):
            ends = enumerate(times)
            return tuple(QueueStats("a", "T", at, 0, len(each), each[-1] if each else 0) for at, each in ends)
        if isinstance(request, QueueAt):
            return bisect_left(times[request.queue], request.at_ms)
        if isinstance(request, ConsumeStats):
            passed = self.committed or [len(each) for each in times]
            return tuple(QueueProgress("a", "T", at, offset, offset, 0) for at, offset in enumerate(passed))
        stored = sorted(at for each in times for at in each if at >= self.stored_here_ms)
        if isinstance(request, StoredIn):
            return last_sums(stored, now, self.begun)
        assert isinstance(request, HandedTo)
        handed = (at for queue in self.queues for stored, at in queue if at and stored >= self.stored_here_ms)
        return last_sums(sorted(at for at in handed if at <= now), now, self.begun)

    def fewer(
        self, now: int, reader: Reader = EVERY, stored_ms: int = BOOT, shortest: bool = True, ahead: int = 0
    ) -> Any:
        def ask(requests: Sequence[Request[Any]], since_ms: int) -> list[Observation[Any]]:
            self.asked += requests
            return [
                Observation() if type(each) in self.silent else Observation(self.answer(each, now), now)
                for each in requests
            ]

        counters = Counters(ask, "T", windows(BOOT, now + ahead, shortest), now, exact=True)
        return counters.fewer([reader], stored_ms).get(reader.group)


def steady(hours: float, each: int, queues: int = 2, lag: int = SECOND) -> Life:
    """A message every `each` ms in every queue, handed out `lag` ms later."""
    times = range(BOOT + SECOND, BOOT + int(hours * HOUR), each)
    return Life([[(at + queue, at + lag) for at in times] for queue in range(queues)])


def reset(life: Life, hung: int, at: int) -> Life:
    """What was stored from the one instant to the other is never handed out."""
    return Life([[(stored, None if hung <= stored < at else to) for stored, to in queue] for queue in life.queues])


@pytest.mark.parametrize("now", [BOOT + 70 * MINUTE + 7 * SECOND, BOOT + 25 * HOUR + 33 * MINUTE])
def test_a_group_that_got_all_is_not_doubted_and_one_that_was_set_past_a_backlog_is(now: int) -> None:
    hours = (now - BOOT) / HOUR
    assert steady(hours, 20 * SECOND).fewer(now) is None
    skipped = reset(steady(hours, 20 * SECOND), now - 50 * MINUTE, now - 2 * MINUTE).fewer(now)
    assert skipped is not None and skipped.handed < skipped.passed and skipped.since_ms < now - 40 * MINUTE
    hung = reset(steady(hours, 20 * SECOND), BOOT, now)
    assert hung.fewer(now) == FewerHanded(0, hung.fewer(now).passed, hung.fewer(now).since_ms)


def test_of_a_reset_a_moment_ago_the_shortest_sum_tells_and_a_list_of_ids_does_not_ask_for_it() -> None:
    now = BOOT + 5 * MINUTE
    life = reset(steady(5 / 60, SECOND), BOOT, now)
    assert life.fewer(now) == FewerHanded(0, 70, now - 60 * SECOND)
    life.asked.clear()
    assert life.fewer(now, shortest=False) is None and not life.asked


def test_what_is_behind_or_not_known_is_no_doubt() -> None:
    now = BOOT + 65 * MINUTE
    life = reset(steady(65 / 60, 20 * SECOND), BOOT + 10 * MINUTE, now)
    assert life.fewer(now) is not None
    behind = Life(life.queues, committed=[30, 30])
    assert behind.fewer(now) is None, "it passed no more than it was handed"
    for kind in (TopicStats, QueueAt, ConsumeStats, StoredIn, HandedTo):
        assert Life(life.queues, silent=(kind,)).fewer(now) is None, kind
    reader = Reader("works", now - 5 * MINUTE)
    assert life.fewer(now, reader, shortest=False) is None, "an earlier filter may have dropped them"


@pytest.mark.parametrize("minutes", [1, 8, 40, 64])
def test_what_a_broker_handed_out_that_was_the_master_before_is_no_doubt(minutes: int) -> None:
    now = BOOT + 65 * MINUTE
    assert Life(steady(65 / 60, 20 * SECOND).queues, stored_here_ms=now - minutes * MINUTE).fewer(now) is None


def test_of_a_group_with_tags_only_the_message_itself_counts() -> None:
    now = BOOT + 65 * MINUTE
    life, tags = reset(steady(65 / 60, 20 * SECOND), BOOT, now), Reader("works", BOOT - HOUR, narrow=True)
    assert life.fewer(now, tags, now - 30 * MINUTE) == FewerHanded(0, 1, now - 55 * MINUTE)
    assert life.fewer(now, tags, now - 4 * MINUTE) is None, "it may be handed out after the last sample"
    assert reset(steady(65 / 60, 20 * SECOND), BOOT + 30 * MINUTE, now).fewer(now, tags, now - 20 * MINUTE) is None


def test_a_pop_group_that_was_never_counted_is_not_doubted() -> None:
    """With popConsumerKVServiceEnable a broker hands messages out by POP without counting them."""
    now = BOOT + 65 * MINUTE
    life, pops = reset(steady(65 / 60, 20 * SECOND), BOOT, now), Reader("works", BOOT - HOUR, pops=True)
    assert life.fewer(now, pops) is None
    assert reset(life, 0, 0).fewer(now, pops) is None
    assert reset(steady(65 / 60, 20 * SECOND), BOOT + MINUTE, now).fewer(now, pops) is not None


def test_of_very_many_queues_nothing_is_asked() -> None:
    now = BOOT + 65 * MINUTE
    life = reset(steady(65 / 60, 20 * SECOND, queues=257), BOOT, now)
    assert life.fewer(now) is None and [type(each) for each in life.asked] == [TopicStats]


def test_a_quiet_topic_costs_one_request_and_a_group_that_got_all_one_more() -> None:
    now = BOOT + 30 * HOUR
    quiet = steady(1, 20 * SECOND)
    assert quiet.fewer(now) is None and [type(each) for each in quiet.asked] == [TopicStats]
    busy = steady(30, 20 * SECOND)
    assert busy.fewer(now) is None
    assert [type(each) for each in busy.asked if not isinstance(each, QueueAt)] == [TopicStats, StoredIn, HandedTo]
    assert sum(isinstance(each, QueueAt) for each in busy.asked) <= 2 * 2 * 3, "begin and end of three sums"


@pytest.mark.parametrize("seed", range(40))
def test_whoever_gets_each_message_in_time_is_never_doubted(seed: int) -> None:
    """Bursts, pauses, consumers that are late by less than a sample allows, messages handed out twice, any instant."""
    chance = random.Random(seed)
    hours, at, times = chance.choice((0.4, 1.5, 27)), float(BOOT), []
    while at < BOOT + hours * HOUR:
        at += chance.expovariate(1 / chance.choice((30, 3_000, 400_000) if hours < 2 else (60_000, 900_000)))
        times.append(int(at))
        if len(times) > 4_000:
            break
    late = chance.choice((100, 5_000, 10_000))
    queues: list[list[tuple[int, int | None]]] = [[] for _ in range(chance.randint(1, 4))]
    for stored in times:
        chance.choice(queues).append((stored, stored + chance.randint(0, late)))
    life = Life(queues, begun=BOOT - chance.randint(0, 3_000))
    for _ in range(12):
        now = chance.randint(BOOT, BOOT + int(hours * HOUR))
        since = chance.choice((BOOT - HOUR, now - 9 * MINUTE, now - 2 * HOUR))
        reader = Reader("works", since, chance.random() < 0.2, chance.random() < 0.5, chance.random() < 0.2)
        stored = max((at for at in times if at <= now), default=BOOT)
        ahead = chance.randint(-1_000, 1_000)
        assert life.fewer(now, reader, stored, ahead=ahead) is None, (seed, now - BOOT)
