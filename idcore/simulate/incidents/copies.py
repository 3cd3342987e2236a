"""Stories of copies (sent twice, stored again, two messages of one id) and of names mixed up. Judges none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from idcore.simulate.incidents.incident import Incident, variant
from idcore.simulate.incidents.simulated_cluster import TOPICS, Producer, Sent
from idcore.simulate.scenario import Broker

_TOPIC = TOPICS[0]
_GROUP = "orders"


def tell(stage: Incident, count: int, after: Callable[[Sent], Iterator[str]], **send: Any) -> Iterator[str]:
    """Messages of one healthy producer, and what comes after each."""
    producer = stage.healthy[0]
    for _ in range(count):
        yield from stage.background(20)
        sent = stage.send(producer, **{"topic": _TOPIC, **send})
        yield stage.sent_line(sent)
        yield from after(sent)


def _copy(stage: Incident, sent: Sent, broker: Broker | None = None, topic: str = "", **other: Any) -> Sent:
    """Another record of the same id; born time and key are kept unless others are given."""
    options: dict[str, Any] = {"born_ms": sent.born_ms, "key": sent.key} | other
    return stage.send(
        options.pop("producer", sent.producer),
        broker=broker or sent.broker,
        topic=topic or sent.topic,
        made=sent.id,
        **options,
    )


def wait(stage: Incident, milliseconds: int) -> Iterator[str]:
    stage.now += milliseconds
    yield from stage.background(5)


# ---- sent again


@variant("duplicate_send", "another_broker")
def _another_broker(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        stage.expect(sent.id)
        others = [broker for broker in stage.brokers if broker is not sent.broker]
        yield stage.received_line(sent)
        yield from wait(stage, 3_000)
        yield stage.received_line(_copy(stage, sent, stage.random.choice(others)))

    yield from tell(stage, 6, after)


@variant("duplicate_send", "same_broker")
def _same_broker(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        stage.expect(sent.id)
        yield stage.received_line(sent)
        yield from wait(stage, 3_000)
        yield stage.received_line(_copy(stage, sent))

    yield from tell(stage, 6, after)


@variant("duplicate_send", "own_log")
def _own_log(stage: Incident) -> Iterator[str]:
    # The producer's log alone: an application that sends a Message object again after an error of its own.
    def after(sent: Sent) -> Iterator[str]:
        stage.expect(sent.id)
        yield from wait(stage, 1_500)
        yield stage.sent_line(_copy(stage, sent))

    yield from tell(stage, 6, after)


# ---- stored again


def _stored(stage: Incident) -> None:
    stage.expect(stage.healthy[0].name)


@variant("stored_copies", "consumer_retry")
def _consumer_retry(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        yield stage.received_line(sent)
        for times in (1, 2):
            yield from wait(stage, 10_000 * times)
            again = _copy(stage, sent, topic=f"%RETRY%{_GROUP}")
            yield stage.received_line(
                again, reconsumed=times, RECONSUME_TIME=times, RETRY_TOPIC=sent.topic, ORIGIN_MESSAGE_ID=sent.offset_id
            )

    _stored(stage)
    yield from tell(stage, 6, after)


@variant("stored_copies", "delay")
def _delay(stage: Incident) -> Iterator[str]:
    # SendResult shows the record in SCHEDULE_TOPIC_XXXX; the consumer gets the one in the message's own topic.
    def after(sent: Sent) -> Iterator[str]:
        yield from wait(stage, 5_000)
        yield stage.received_line(_copy(stage, sent), DELAY=2, REAL_TOPIC=sent.topic, REAL_QID=sent.queue)

    _stored(stage)
    yield from tell(stage, 8, after)


@variant("stored_copies", "transaction")
def _transaction(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        yield from wait(stage, 40)
        committed = _copy(stage, sent)
        yield stage.received_line(committed, prepared=sent.offset, TRAN_MSG="true", PGROUP="tx")

    _stored(stage)
    yield from tell(stage, 8, after)


# ---- two messages, one id


def _collide(stage: Incident, **other: Any) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        stage.expect(sent.id)
        yield stage.received_line(sent)
        options = dict(other)
        if options.pop("elsewhere", False):
            twin = Producer(stage, sent.producer.host, sent.producer.pid, sent.producer.loader)
            twin.born_host = stage.host()
            options["producer"] = twin
        if "born_ms" in options:
            options["born_ms"] += sent.born_ms
        yield stage.received_line(_copy(stage, sent, stage.random.choice(stage.brokers), **options))

    yield from tell(stage, 4, after)


@variant("collision", "born_elsewhere")
def _elsewhere(stage: Incident) -> Iterator[str]:
    yield from _collide(stage, elsewhere=True, key="order-000000001")


@variant("collision", "another_topic")
def _another_topic(stage: Incident) -> Iterator[str]:
    yield from _collide(stage, topic=TOPICS[2], key="order-000000002")


@variant("collision", "a_month_later")
def _later(stage: Incident) -> Iterator[str]:
    yield from _collide(stage, born_ms=2_678_400_000, key="order-000000003")


# ---- names mixed up


@variant("id_confusion", "application")
def _application(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        yield stage.prefix("order-3") + f"c.e.orders.OrderWriter - saved order {sent.key} msgId={sent.offset_id}"

    stage.expect("msgId (c.e.orders.OrderWriter)")
    yield from tell(stage, 12, after)


@variant("id_confusion", "uniq_key")
def _uniq_key(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        yield (
            stage.prefix("order-3")
            + f"c.e.orders.Forwarder - forwarded with properties {{KEYS={sent.key}, UNIQ_KEY={sent.offset_id}}}"
        )

    stage.expect("UNIQ_KEY (c.e.orders.Forwarder)")
    yield from tell(stage, 12, after)
