"""Stories of sends that fail, and of applications that send the same thing again as a new message. Judges none."""

from __future__ import annotations

from collections.abc import Iterator

from idcore.simulate import printed
from idcore.simulate.incidents.copies import wait
from idcore.simulate.incidents.incident import Incident, variant
from idcore.simulate.incidents.simulated_cluster import TOPICS, Sent

_TOPIC = TOPICS[0]
_TIMEOUT = "RemotingTimeoutException"
_TRACE = "org.apache.rocketmq.remoting.exception."


def _warning(stage: Incident, text: str) -> str:
    return stage.prefix("send-3").replace("INFO ", "WARN ") + text


def _sent(stage: Incident, sent: Sent) -> str:
    result = printed.java_send_result(
        sent.id, sent.offset_id, sent.topic, sent.broker.name, sent.queue, sent.queue_offset
    )
    return stage.prefix("send-3") + f"c.e.orders.Sender - key={sent.key} {result}"


@variant("same_key", "after_a_timeout")
def _after_a_timeout(stage: Incident) -> Iterator[str]:
    producer = stage.healthy[0]
    for _ in range(5):
        yield from stage.background(20)
        first = stage.send(producer, topic=_TOPIC)
        channel = f"<{first.broker.host}:{first.broker.port}>"
        yield from wait(stage, 3_000)
        reason = f"{_TIMEOUT}: wait response on the channel {channel} timeout, 3000(ms)"
        yield _warning(stage, f"c.e.orders.Sender - send failed, key={first.key}, msgId={first.id}: {reason}")
        again = stage.send(producer, topic=_TOPIC, key=first.key)
        yield _sent(stage, again)
        yield stage.received_line(first)
        yield stage.received_line(again)
    stage.expect(_TOPIC)
    stage.expect(_TIMEOUT, "send_failed")


@variant("same_key", "two_processes")
def _two_processes(stage: Incident) -> Iterator[str]:
    for _ in range(4):
        yield from stage.background(20)
        first = stage.send(stage.healthy[0], topic=_TOPIC)
        again = stage.send(stage.healthy[1], topic=_TOPIC, key=first.key)
        for sent in (first, again):
            yield stage.received_line(sent)
    stage.expect(_TOPIC)


@variant("same_key", "own_log")
def _own_log(stage: Incident) -> Iterator[str]:
    # The producer's log alone: no line shows the bodies.
    producer = stage.healthy[0]
    for number in range(40):
        yield from stage.background(5)
        sent = stage.send(producer, topic=_TOPIC)
        yield _sent(stage, sent)
        if number % 20 == 7:
            yield from wait(stage, 1_500)
            yield _sent(stage, stage.send(producer, topic=_TOPIC, key=sent.key))
    stage.expect(_TOPIC, severity="info")


@variant("send_failed", "broker_busy")
def _broker_busy(stage: Incident) -> Iterator[str]:
    said = (
        "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 205ms, size of queue: 880"
    )
    for number in range(30):
        yield from stage.background(3)
        yield _warning(stage, f"c.e.orders.Sender - send message failed, topic={_TOPIC}, order={number}")
        yield f"org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: {said}"
        yield "For more information, please visit the url, https://rocketmq.apache.org/docs/bestPractice/06FAQ"
        yield "\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.processSendResponse(MQClientAPIImpl.java:720)"
    stage.expect("TIMEOUT_CLEAN_QUEUE", "send_failed")


@variant("send_failed", "after_retries")
def _after_retries(stage: Incident) -> Iterator[str]:
    broker = stage.brokers[0]
    for number in range(12):
        yield from stage.background(10)
        yield _warning(stage, f"c.e.orders.Sender - 发送消息失败, order={number}")
        names = ", ".join([broker.name] * 3)
        tried = f"Send [3] times, still failed, cost [9012]ms, Topic: {_TOPIC}, BrokersSent: [{names}]"
        yield f"org.apache.rocketmq.client.exception.MQClientException: {tried}"
        yield "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.send(DefaultMQProducerImpl.java:99)"
        where = f"wait response on the channel <{broker.host}:{broker.port}> timeout, 3000(ms)"
        yield f"Caused by: {_TRACE}{_TIMEOUT}: {where}"
    stage.expect(_TIMEOUT, "send_failed")
