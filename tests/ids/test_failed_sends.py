"""An ID whose lines say that its send failed was made, and is not called sent unless a line shows that it was."""

from __future__ import annotations

import pytest

from idcore.base import catalogue
from idcore.ids import delivery_sentences
from idcore.ids.delivery import DeliveryReader, deliveries
from idcore.ids.failed_sends import MOST_BETWEEN, failed_send
from tests.findings.test_rules import DAY_20, uniq

pytestmark = pytest.mark.quick

ID, OTHER = uniq(DAY_20 + 3_600_000, 7), uniq(DAY_20 + 3_600_000, 8)
AT = "2026-11-21 09:00:03,002 "
FAILURE = (
    "sendKernelImpl exception, resend at once, InvokeID: -4321, RT: 3002ms, Broker: MessageQueue [topic=T, queueId=1]"
)
# As DefaultMQProducerImpl of 4.9 prints it with String.format and msg.toString(), each through its logger.
PRINTED = (
    f"Message{{topic='T', flag=0, properties={{KEYS=k, UNIQ_KEY={ID}, WAIT=true}}, body=[1], transactionId='null'}}"
)
STACK = (
    "org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response on the channel timeout, 3000(ms)",
    "\tat org.apache.rocketmq.remoting.netty.NettyRemotingAbstract.invokeSyncImpl(NettyRemotingAbstract.java:433)",
)


def said(*lines: str) -> list[tuple[str, int]]:
    return [(one.event, one.line) for one in deliveries(lines)]


@pytest.mark.parametrize(
    "head",
    [
        f"{AT}WARN RocketmqClient - ",
        "09:00:03.002 [http-nio-8080-exec-3] WARN  RocketmqClient - ",
        '{"@timestamp":"2026-11-21T09:00:03.002Z","level":"WARN","logger_name":"RocketmqClient","message":"',
        "",
    ],
)
def test_the_message_of_a_failed_send_is_on_a_later_line(head: str) -> None:
    assert said(head + FAILURE, *STACK, head + PRINTED) == [("unsent", 1)]
    assert said(head + FAILURE, *STACK, f"{AT}INFO c.s.Other - hello", head + PRINTED) == [("unsent", 1)]


def test_a_message_that_something_else_prints_has_not_failed() -> None:
    head = f"{AT}WARN RocketmqClient - "
    assert said(head + FAILURE, *STACK, f"{AT}INFO c.s.Orders - sent {PRINTED}") == [("", 4)]
    assert said(head + FAILURE, *["x"] * MOST_BETWEEN, head + PRINTED) == [("", MOST_BETWEEN + 2)]
    assert said(head + FAILURE, head + PRINTED, head + PRINTED.replace(ID, OTHER)) == [("unsent", 1), ("", 3)]


@pytest.mark.parametrize(
    "line",
    [
        f"ERROR send failed, msgId={ID}",
        f"ERROR 发送失败 msgId={ID}",
        f"send message error: timeout, msgId={ID}",
        f"Failed to send message(s) finally, run out of attempt times, maxAttempts=3, topic=t, messageId(s)=[{ID}]",
        f"Failed to send message(s), would attempt to resend right now, topic=consumer-t, messageId(s)={ID}",
        f"ERROR [consumer-group] send failed, msgId={ID}",
        f"msgId={ID} MQClientException: Send [3] times, still failed, cost [9000]ms, Topic: t",
        f"ERROR send error, msg={PRINTED}",
        f'{{"event":"SEND_FAILED","msgId":"{ID}"}}',
        f'{{"level":"ERROR","msg":"消息发送异常","msgId":"{ID}"}}',
        f"sendStatus=FAILED, msgId={ID}",
        f"消息投递失败 msgId={ID}",
        f"publish message failed, msgId={ID}",
        f"发送MQ消息超时, msgId={ID}",
    ],
)
def test_a_line_that_reports_a_failed_send_is_one(line: str) -> None:
    assert said(AT + line) == [("unsent", 1)]


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (f"发送失败，重试成功 msgId={ID}", ""),
        (f"send failed, resend succeeded, msgId={ID}", ""),
        (f"发送成功 msgId={ID}, 失败次数=0", ""),
        (f"send ok, msgId={ID}, error: null", ""),
        (f"no send or consume failed, msgId={ID}", ""),
        (f"若发送失败则重试, msgId={ID}", ""),
        (f"是否发送失败 msgId={ID}", ""),
        (f"if send fails, retry. msgId={ID}", ""),
        (f"发送失败告警已关闭 msgId={ID}", ""),
        (f"发送超时时间=3000 msgId={ID}", ""),
        (f"send timeout: 3000 msgId={ID}", ""),
        (f"发送短信失败 msgId={ID}", ""),
        (f"Failed to send the order email, msgId={ID}", ""),
        (f"send heart beat to broker failed msgId={ID}", ""),
        (f"[ConsumeMessageThread_3] send failed msgId={ID}", ""),
        (f"消费失败: 发送短信失败 msgId={ID}", "failed"),
        (f"consume failed, send failed msgId={ID}", "failed"),
        (f"SendResult [sendStatus=FLUSH_DISK_TIMEOUT, msgId={ID}]", "sent"),
    ],
)
def test_a_line_that_reports_none_is_none(line: str, event: str) -> None:
    assert said(AT + line) == [(event, 1)]


def test_an_alarm_of_fields_below_its_heading_is_of_the_send() -> None:
    assert said("【告警】MQ消息发送失败", "主题: orders", f"消息ID: {ID}") == [("unsent", 3)]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "shown",
    [
        f"SendResult [sendStatus=SEND_OK, msgId={ID}, offsetMsgId=0A00000100002A9F0000000000000001]",
        f"consume success msgId={ID}",
        f"收到消息 msgId={ID}",
        f"发送成功 msgId={ID}",
        f"message sent successfully, msgId={ID}",
    ],
)
def test_a_line_that_shows_it_stored_wins(shown: str, lang: str) -> None:
    words = catalogue.words(lang)
    failed = f"{AT}send failed, msgId={ID}"
    places = {"places": words("delivery.line", line="1"), "there": words("delivery.line", line="2")}
    texts = delivery_sentences.sentences(list(deliveries([failed, f"{AT}{shown}"])), words)
    assert words("delivery.said.unsent_once", **places) in texts
    texts = delivery_sentences.sentences(list(deliveries([failed])), words)
    assert texts == [words("delivery.said.unsent", places=places["places"])]


def test_a_scan_reads_no_line_for_a_failed_send_alone() -> None:
    """It has other rules for these, and so many lines for what consumers say."""
    assert not list(DeliveryReader(sends=False).line(1, f"{AT}send failed, msgId={ID}"))


def test_a_failure_is_told_from_its_denial_wherever_it_is_read() -> None:
    assert failed_send("ERROR send failed") and not failed_send("INFO no send failed")
