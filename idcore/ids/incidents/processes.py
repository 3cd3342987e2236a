"""Stories of processes and their counters: none wrong, one fingerprint of two, restarts, wraps, gaps. Judges none."""

from __future__ import annotations

from collections.abc import Iterator

from idcore.ids.incidents.clocks import before_midnight
from idcore.ids.incidents.incident import HEALTHY, Incident, variant
from idcore.ids.incidents.stage import LOADERS, Producer


@variant(HEALTHY, "steady")
def _steady(stage: Incident) -> Iterator[str]:
    yield from stage.background(900)


@variant(HEALTHY, "slow")
def _slow(stage: Incident) -> Iterator[str]:
    yield from stage.background(900, 20_000)


@variant(HEALTHY, "into_a_new_month", before_midnight)
def _new_month(stage: Incident) -> Iterator[str]:
    yield from stage.background(3_000)


@variant(HEALTHY, "late_threads")
def _late_threads(stage: Incident) -> Iterator[str]:
    # Threads read the clock, then take the counter: up to 40 ms out of order.
    producer = Producer(stage, stage.host(), stage.pid())
    for _ in range(700):
        stage.step(10)
        producer.skew_ms = -stage.random.randrange(40) if stage.random.random() < 0.3 else 0
        yield from stage.message(producer)


def _shared(stage: Incident, counters: list[int], weights: list[int]) -> Iterator[str]:
    host, pid = stage.host(), stage.random.choice([1, 1, 6, 7])
    processes = [Producer(stage, host, pid, LOADERS[2], counter) for counter in counters]
    stage.expect(processes[0].name)
    for _ in range(500):
        stage.step()
        yield from stage.message(stage.random.choices(processes, weights)[0])
        yield from stage.background(1)


@variant("shared_fingerprint", "two_containers")
def _two_containers(stage: Incident) -> Iterator[str]:
    yield from _shared(stage, [stage.random.randrange(20_000, 60_000), stage.random.randrange(3_000)], [1, 1])


@variant("shared_fingerprint", "three_containers")
def _three_containers(stage: Incident) -> Iterator[str]:
    yield from _shared(stage, [100, 9_000, 31_000], [1, 1, 1])


@variant("shared_fingerprint", "one_busy_one_idle")
def _one_busy(stage: Incident) -> Iterator[str]:
    yield from _shared(stage, [47_000, 12], [10, 1])


@variant("shared_fingerprint", "started_together")
def _together(stage: Incident) -> Iterator[str]:
    # Both begin at 0, as replicas of one deployment do; ids can be equal.
    yield from _shared(stage, [0, 0], [3, 1])


def _restarts(stage: Incident, counts: list[int], pause_ms: int) -> Iterator[str]:
    producer = Producer(stage, stage.host(), 1, LOADERS[1], stage.random.randrange(2_000, 20_000))
    stage.expect(producer.name)
    for count in counts:
        yield from stage.between([producer], count)
        stage.now += pause_ms
        producer.again()
    yield from stage.between([producer], 150)


@variant("restart", "once")
def _restart_once(stage: Incident) -> Iterator[str]:
    yield from _restarts(stage, [200], 15_000)


@variant("restart", "three_times")
def _restart_often(stage: Incident) -> Iterator[str]:
    yield from _restarts(stage, [200, 120, 180], 20_000)


@variant("restart", "fast")
def _restart_fast(stage: Incident) -> Iterator[str]:
    yield from _restarts(stage, [260], 900)


@variant("counter_wrap", "once")
def _wrap(stage: Incident) -> Iterator[str]:
    producer = Producer(stage, stage.host(), stage.pid(), counter=65_536 - stage.random.randrange(100, 300))
    stage.expect(producer.name)
    yield from stage.between([producer], 450)


@variant("counter_wrap", "two_processes")
def _wrap_two(stage: Incident) -> Iterator[str]:
    producers = [Producer(stage, stage.host(), stage.pid(), counter=65_460 + 20 * k) for k in range(2)]
    for producer in producers:
        stage.expect(producer.name)
    yield from stage.between(producers, 450)


@variant("counter_wrap", "sampled")
def _wrap_sampled(stage: Incident) -> Iterator[str]:
    producer = Producer(stage, stage.host(), stage.pid(), counter=60_000)
    stage.expect(producer.name)
    stage.expect(producer.name, "missing_ids", "info")
    for _ in range(400):
        stage.step(4)
        if producer.counter % 29:
            producer.next_id()
    for _ in range(9_000):
        stage.step(4)
        if producer.counter % 29:
            producer.next_id()
        else:
            yield from stage.message(producer)


def _losing(stage: Incident, rounds: int, every: int, most: int) -> Iterator[str]:
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    stage.expect(producer.name)
    for number in range(rounds):
        if number and number % every == 0:
            for _ in range(stage.random.randrange(1, most + 1)):
                producer.next_id()
            yield stage.prefix("send-1").replace("INFO ", "WARN ") + "sendDefaultImpl exception, RemotingTooMuchRequest"
        yield from stage.between([producer], 1)


@variant("missing_ids", "failed_sends")
def _failed_sends(stage: Incident) -> Iterator[str]:
    yield from _losing(stage, 500, 120, 3)


@variant("missing_ids", "one")
def _one_missing(stage: Incident) -> Iterator[str]:
    yield from _losing(stage, 400, 300, 1)


@variant("missing_ids", "an_outage")
def _outage(stage: Incident) -> Iterator[str]:
    yield from _losing(stage, 500, 350, 40)


@variant("missing_ids", "sample")
def _sample(stage: Incident) -> Iterator[str]:
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    stage.expect(producer.name, severity="info")
    for _ in range(900):
        stage.step(9)
        if stage.random.random() < 0.35:
            yield from stage.message(producer)
        else:
            producer.next_id()
