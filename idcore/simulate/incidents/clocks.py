"""Stories of clocks: set back, in another zone, long ago. Judges none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from idcore.ids import clock as clocks
from idcore.simulate.incidents.incident import Incident, variant
from idcore.simulate.incidents.simulated_cluster import Producer
from idcore.simulate.scenario import Broker


def _set_back(stage: Incident, back_ms: int, mean_ms: float = 25) -> Iterator[str]:
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    stage.expect(producer.name)
    yield from stage.between([producer], 250, mean_ms)
    producer.skew_ms -= back_ms
    yield from stage.between([producer], 400, mean_ms)


@variant("clock_back", "two_seconds")
def _seconds(stage: Incident) -> Iterator[str]:
    yield from _set_back(stage, 1_900)


@variant("clock_back", "five_seconds")
def _more_seconds(stage: Incident) -> Iterator[str]:
    yield from _set_back(stage, 5_000)


@variant("clock_back", "an_hour")
def _hour(stage: Incident) -> Iterator[str]:
    yield from _set_back(stage, 3_600_000)


@variant("clock_back", "three_minutes_slowly")
def _slowly(stage: Incident) -> Iterator[str]:
    yield from _set_back(stage, 180_000, mean_ms=2_500)


def before_midnight(start: datetime, zone: tzinfo) -> datetime:
    """Some seconds before the month of an instant began."""
    local = start.astimezone(zone)
    return clocks.from_ms(clocks.month_start(local.year, local.month, zone) - 60_000, zone)


def at_midnight(start: datetime, zone: tzinfo) -> datetime:
    """Some seconds after the month of an instant began."""
    return before_midnight(start, zone) + timedelta(seconds=61)


def _under_the_month(stage: Incident, clamp: bool) -> Iterator[str]:
    # The process starts in the new month; then its clock is set back to two seconds before it.
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000), clamp=clamp)
    stage.expect(producer.name)
    yield from stage.between([producer], 150)
    producer.skew_ms = -producer.elapsed - 2_000
    yield from stage.between([producer], 200)


@variant("clock_back", "before_the_month", at_midnight)
def _before_month(stage: Incident) -> Iterator[str]:
    yield from _under_the_month(stage, clamp=False)


@variant("clock_back", "held_at_zero", at_midnight)
def _held(stage: Incident) -> Iterator[str]:
    yield from _under_the_month(stage, clamp=True)


@variant("zone_mismatch", "one_in_utc")
def _in_utc(stage: Incident) -> Iterator[str]:
    yield from _in_zone(stage, "+00:00")


@variant("zone_mismatch", "one_in_the_west")
def _in_the_west(stage: Incident) -> Iterator[str]:
    yield from _in_zone(stage, "-05:00")


@variant("zone_mismatch", "half_an_hour")
def _half_an_hour(stage: Incident) -> Iterator[str]:
    yield from _in_zone(stage, "+05:30")


def _in_zone(stage: Incident, zone: str) -> Iterator[str]:
    producer = Producer(stage, stage.host(), stage.pid(), zone=clocks.parse_zone(zone))
    stage.expect(producer.name)
    for _ in range(250):
        stage.step()
        sent = stage.send(producer)
        yield stage.sent_line(sent)
        yield stage.received_line(sent)
        yield from stage.background(1)


@variant("several_months", "forty_days")
def _forty_days(stage: Incident) -> Iterator[str]:
    yield from _for_days(stage, 40)


@variant("several_months", "ninety_days")
def _ninety_days(stage: Incident) -> Iterator[str]:
    yield from _for_days(stage, 90)


def _for_days(stage: Incident, days: int) -> Iterator[str]:
    """A producer that sends every two hours, up to now."""
    now = stage.now
    stage.now -= days * clocks.DAY_MS
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    stage.expect(producer.name)
    for _ in range(12 * days):
        stage.step(7_000_000)
        yield from stage.message(producer)
    stage.now = now


@variant("expired", "five_days")
def _five_days(stage: Incident) -> Iterator[str]:
    yield from _from_the_past(stage, 5)


@variant("expired", "two_weeks")
def _two_weeks(stage: Incident) -> Iterator[str]:
    yield from _from_the_past(stage, 14)


def _from_the_past(stage: Incident, days: int) -> Iterator[str]:
    now = stage.now
    stage.now -= days * clocks.DAY_MS
    producer = Producer(stage, stage.host(), stage.pid())
    stage.expect(producer.name)
    for _ in range(80):
        stage.step()
        yield from stage.message(producer)
    stage.now = now


def _wrong(stage: Incident, *ahead_ms: int) -> Iterator[str]:
    broker = Broker("broker-x", f"{stage.net}.1.14", 10911, 1_400 * 1_073_741_824)
    stage.brokers.append(broker)
    stage.expect(f"{broker.host}:{broker.port}")
    for ahead in ahead_ms:
        stage.ahead_ms[broker.name] = ahead
        yield from stage.background(700)


@variant("broker_clock", "ahead")
def _ahead(stage: Incident) -> Iterator[str]:
    yield from _wrong(stage, 28_753_000)  # local time as UTC, set by hand


@variant("broker_clock", "behind")
def _behind(stage: Incident) -> Iterator[str]:
    yield from _wrong(stage, -92_000)


@variant("broker_clock", "step")
def _broker_step(stage: Incident) -> Iterator[str]:
    yield from _wrong(stage, 0, 3_600_000)


@variant("line_clock", "early")
def _producer_ahead(stage: Incident) -> Iterator[str]:
    yield from _read_elsewhere(stage, 312_000)


@variant("line_clock", "early_by_seconds")
def _producer_seconds_ahead(stage: Incident) -> Iterator[str]:
    yield from _read_elsewhere(stage, 17_500)


def _read_elsewhere(stage: Incident, ahead_ms: int) -> Iterator[str]:
    """A producer whose clock is ahead, and a consumer that prints its ids, among those of others."""
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    producer.skew_ms = ahead_ms
    stage.expect(producer.host)
    for _ in range(200):
        stage.step()
        sent = stage.send(stage.random.choice([producer, *stage.healthy]))
        yield stage.prefix(f"ConsumeMessageThread_orders_{stage.random.randrange(1, 21)}") + f"done, msgId={sent.id}"


@variant("line_clock", "late")
def _producer_behind(stage: Incident) -> Iterator[str]:
    """SendResults of a producer whose clock is behind, with the time of what collects the log."""
    producer = Producer(stage, stage.host(), stage.pid(), counter=stage.random.randrange(20_000))
    producer.skew_ms = -247_000
    stage.expect(producer.host)
    for _ in range(200):
        stage.step()
        sent = stage.send(producer)
        yield stage.sent_line(replace(sent, born_ms=stage.now))
        yield from stage.background(1)
