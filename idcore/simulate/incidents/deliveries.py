"""Stories that the lines of consumers and producers tell themselves: tries that failed, messages received twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from idcore.simulate.incidents.copies import tell, wait
from idcore.simulate.incidents.incident import Incident, variant
from idcore.simulate.incidents.simulated_cluster import TOPICS, Sent

_TOPIC, _GROUP = TOPICS[0], "shipping"
_SPRING = "a.r.s.s.DefaultRocketMQListenerContainer - consume message failed. "
# How long retries wait by the delay levels of a broker as it comes.
_WAITS_MS = (0, 10_000, 30_000, 60_000)


def _thread(number: int) -> str:
    return f"ConsumeMessageThread_{_GROUP}_{number}"


@variant("consume_failed", "spring")
def _spring(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        for tries, waits in enumerate(_WAITS_MS):
            yield from wait(stage, waits)
            said = f"messageId:{sent.id}, topic:{_TOPIC}, reconsumeTimes:{tries}"
            yield stage.prefix(_thread(tries)) + _SPRING + said

    stage.expect(_GROUP)
    yield from tell(stage, 3, after)


@variant("consume_failed", "java")
def _java(stage: Incident) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        yield stage.prefix(_thread(1)) + f"c.e.orders.Listener - consume {sent.id} RECONSUME_LATER"

    stage.expect(_GROUP)
    yield from tell(stage, 3, after)


def _twice(stage: Incident, line: Callable[[Sent, int], str]) -> Iterator[str]:
    def after(sent: Sent) -> Iterator[str]:
        yield stage.prefix(_thread(1)) + line(sent, 0)
        yield from wait(stage, 8_000)
        yield stage.prefix(_thread(2)) + line(sent, 1)

    yield from tell(stage, 3, after)


@variant("received_twice", "own_log")
def _own_log(stage: Incident) -> Iterator[str]:
    stage.expect(_GROUP, severity="info")
    yield from _twice(stage, lambda sent, _: f"c.e.orders.Listener - consumed msgId={sent.id}")


@variant("received_twice", "other_record")
def _other_record(stage: Incident) -> Iterator[str]:
    # Receipt handles of one message that name two physical offsets: it was stored twice.
    def line(sent: Sent, number: int) -> str:
        offset = sent.offset + number * 4_096
        receipt = f"{sent.queue} {stage.now - 5} 60000 0 0 {sent.broker.name} {sent.queue} {100 + number} {offset}"
        return f'c.e.orders.Listener - received message_id:"{sent.id}" receipt_handle:"{receipt}"'

    stage.expect(_GROUP)
    yield from _twice(stage, line)


def _answered(stage: Incident, status: str) -> Iterator[str]:
    producer = stage.healthy[0]
    for _ in range(6):
        yield from stage.background(20)
        sent = stage.send(producer, topic=_TOPIC)
        stage.expect(sent.broker.name)
        yield stage.sent_line(sent).replace("sendStatus=SEND_OK", f"sendStatus={status}")


@variant("send_not_ok", "slave")
def _slave(stage: Incident) -> Iterator[str]:
    yield from _answered(stage, "SLAVE_NOT_AVAILABLE")


@variant("send_not_ok", "flush")
def _flush(stage: Incident) -> Iterator[str]:
    yield from _answered(stage, "FLUSH_DISK_TIMEOUT")
