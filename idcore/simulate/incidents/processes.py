"""Stories of processes and their counters: none wrong, one fingerprint of two, restarts, wraps, gaps. Judges none."""

from __future__ import annotations

from collections.abc import Iterator

from idcore.simulate.incidents.clocks import before_midnight
from idcore.simulate.incidents.incident import HEALTHY, Incident, variant
from idcore.simulate.incidents.simulated_cluster import LOADERS, TOPICS, Producer


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
    stage.expect("RemotingTooMuchRequest", "send_failed")
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


# ---- holes, even shares, batches

_PACES = (4, 25, 600)  # ms between messages: busy, usual, slow


def _with_holes(
    stage: Incident, share: float, holes: int = 1, kept: float = 1, seen: int = 600, late_ms: int = 0
) -> Iterator[str]:
    """A producer of which the log has nothing for a while, once or several times; of the rest it has `kept`."""
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(60_000))
    total = round(seen / kept / (1 - share))
    width, part = max(2, round(total * share / holes)), total // holes
    starts = [part * place + stage.random.randrange(part // 5, part * 4 // 5 - width + 1) for place in range(holes)]
    pace = stage.random.choice(_PACES)
    logged, first, last = 0, -1, -1
    for number in range(total):
        stage.step(pace)
        producer.skew_ms = -stage.random.randrange(late_ms) if late_ms and stage.random.random() < 0.3 else 0
        if any(start <= number < start + width for start in starts) or stage.random.random() >= kept:
            producer.next_id()
        else:
            yield from stage.message(producer)
            first, last, logged = number if first < 0 else first, number, logged + 1
    produced = last - first + 1
    warned = bool(share) or produced - logged <= produced / 10  # up to a tenth is a loss, more a sample
    stage.expect(producer.name, severity=None if warned else "info")
    if producer.counter > 65_536:
        stage.expect(producer.name, "counter_wrap")


def _hole_of(percent: int) -> None:
    @variant("missing_ids", f"hole_of_{percent}_percent")
    def _hole(stage: Incident) -> Iterator[str]:
        yield from _with_holes(stage, percent / 100)


def _share_of(percent: int) -> None:
    @variant("missing_ids", f"{percent}_percent_at_random")
    def _share(stage: Incident) -> Iterator[str]:
        yield from _with_holes(stage, 0, kept=1 - percent / 100, seen=300)

    @variant("missing_ids", f"{percent}_percent_at_random_and_a_hole")
    def _both(stage: Incident) -> Iterator[str]:
        yield from _with_holes(stage, 0.4, kept=1 - percent / 100, seen=300)


for _percent in (1, 5, 11, 30, 60):
    _hole_of(_percent)
for _percent in (10, 30, 60, 90):
    _share_of(_percent)


@variant("missing_ids", "several_holes")
def _several_holes(stage: Incident) -> Iterator[str]:
    yield from _with_holes(stage, 0.35, holes=stage.random.randrange(3, 7))


@variant("missing_ids", "hole_among_late_threads")
def _late_hole(stage: Incident) -> Iterator[str]:
    yield from _with_holes(stage, 0.2, late_ms=60)


@variant("missing_ids", "every_third")
def _every_third(stage: Incident) -> Iterator[str]:
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    stage.expect(producer.name, severity="info")
    for _ in range(400):
        stage.step()
        yield from stage.message(producer)
        for _ in range(2):
            stage.step()
            producer.next_id()


@variant("missing_ids", "topics_in_runs")
def _topics_in_runs(stage: Incident) -> Iterator[str]:
    # The log has one of two topics, and the producer sends some messages to one, then some to the other.
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    stage.expect(producer.name, severity="info")
    for turn in range(160):
        for _ in range(1 + int(stage.random.expovariate(1 / 6))):
            stage.step()
            if turn % 2:
                producer.next_id()
            else:
                yield from stage.message(producer)


def _batches(stage: Incident, lost: int) -> Iterator[str]:
    """A consumer's log of batches: the items of each take counters, and its records have the next one."""
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    stage.expect(producer.name, "stored_copies")
    stage.expect(producer.name, severity=None if lost else "info")
    for number in range(60):
        stage.step()
        yield stage.received_line(stage.send(producer))
        if number == 40:
            for _ in range(lost):
                producer.next_id()
        items, broker = stage.random.randrange(2, 12), stage.random.choice(stage.brokers)
        if number % 2:
            yield stage.received_line(stage.send(producer))
        for _ in range(items):
            producer.next_id()
        message_id, born = producer.next_id(), stage.now
        for _ in range(items):
            sent = stage.send(producer, broker=broker, topic=TOPICS[0], made=message_id, born_ms=born)
            yield stage.received_line(sent)


@variant("missing_ids", "batches")
def _only_batches(stage: Incident) -> Iterator[str]:
    yield from _batches(stage, 0)


@variant("missing_ids", "batches_and_a_loss")
def _batches_and_a_loss(stage: Incident) -> Iterator[str]:
    yield from _batches(stage, 17)
