"""Lines that report failed sends, and message keys with several msgIds: what is read, and what is found in it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest

from idcore.answers.findings import limits
from idcore.answers.findings.all_rules import Finding, to_table
from idcore.base.catalogue import words
from idcore.ids.clock import to_ms
from idcore.ids.model import UniqId
from idcore.presentation.reader import Reader
from idcore.presentation.triage import finding_texts
from idcore.scan.line_search import lines_with
from idcore.scan.message_keys import KeyLook
from idcore.scan.send_failures import FailureLook, SendFailure
from tests.findings.every_rule import find_in

pytestmark = pytest.mark.quick

CHINA = timezone(timedelta(hours=8))
NOW = datetime(2026, 11, 25, 12, tzinfo=CHINA)
SENT = datetime(2026, 11, 24, 9, tzinfo=CHINA)
OFFSET = "0A09000200002A9F00000000000AAE60"


def uniq(number: int, pid: int = 777) -> str:
    elapsed = to_ms(SENT) - to_ms(SENT.replace(day=1, hour=0)) + number * 400
    return str(UniqId.of("10.5.5.5", pid, 0x18B4AAC2, elapsed, number & 0xFFFF))


def at(seconds: float) -> str:
    return f"{SENT + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}.010"


def of_log(text: str, folder: Path, code: str) -> list[Finding]:
    return [one for one in find_in(text, folder, NOW, CHINA)[0] if one.code == code]


def record(number: int, key: str, crc: int, topic: str = "Orders", **properties: str) -> str:
    named = {"KEYS": key, **properties, "UNIQ_KEY": uniq(number)}
    inside = ", ".join(f"{name}={value}" for name, value in named.items())
    return (
        f"{at(number)} INFO [ConsumeMessageThread_ship_1] got [MessageExt [queueId=1, storeSize=200, "
        f"queueOffset={number}, sysFlag=0, msgId={OFFSET}, commitLogOffset=700000, bodyCRC={crc}, reconsumeTimes=0, "
        f"toString()=Message{{topic='{topic}', flag=0, properties={{{inside}}}, body=[1], transactionId='null'}}]]"
    )


def sent(number: int, key: str, topic: str = "Orders") -> str:
    return f"{at(number)} INFO [send-1] sent key={key} topic={topic} msgId={uniq(number)}"


def keyed(text: str) -> dict[str, tuple[str, str | None, str | None, int | None, int | None]]:
    look = KeyLook()
    look.take("app.log", 0, text.encode(), 10_000)
    return {text: (one.key, one.topic, one.tag, one.body_crc, one.line) for text, one in look.messages.items()}


def failures(text: str) -> list[SendFailure]:
    look = FailureLook()
    look.take("app.log", 0, text.encode(), 10_000)
    return look.failures


def test_lines_with_a_word_are_those_of_a_text_split_in_lines() -> None:
    random = Random(5)
    sought = (b"ab", b"b\xe5", b"cc")
    for _ in range(2_000):
        text = bytes(random.choice(b"abc\xe5\n\n ") for _ in range(random.randrange(60)))
        plain = [
            (number, line) for number, line in enumerate(text.split(b"\n")) if any(word in line for word in sought)
        ]
        assert [(one.number, text[one.start : one.end]) for one in lines_with(text, sought)] == plain, text


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (f"sent key=O-1 msgId={uniq(1)}", "O-1"),
        (f'{{"msgId":"{uniq(1)}","keys":"O-1","topic":"T"}}', "O-1"),
        (f'{{\\"msgId\\":\\"{uniq(1)}\\",\\"keys\\":\\"O-1\\"}}', "O-1"),
        (f"sent {uniq(1)} messageKey: O-1 ok", "O-1"),
        (record(1, "O-1 P-2", 7), "O-1 P-2"),  # KEYS of a record may be several
        (f"sent KEYS=O-1 msgId={uniq(1)} offsetMsgId={OFFSET}", "O-1"),
        (f"sent keys=[O-1] msgId={uniq(1)}", "O-1"),
        (f"sent key=null msgId={uniq(1)}", None),
        (f"sent key={uniq(2)} msgId={uniq(1)}", None),
        (f"sent cacheKey=O-1 primary_key=4 msgId={uniq(1)}", None),
        (f"sent key=O-1 key=O-2 msgId={uniq(1)}", None),
        (f"sent key=O-1 {uniq(1)} {uniq(2)}", None),
        (f"sent key=O-1 msgId={uniq(1)} msgId={uniq(2)}", None),
        ("sent key=O-1", None),
    ],
)
def test_the_key_of_a_line_is_that_of_its_only_message(line: str, key: str | None) -> None:
    assert [one[0] for one in keyed(line).values()] == ([] if key is None else [key])


def test_of_a_message_all_lines_count_and_of_a_list_each_record() -> None:
    text = sent(1, "O-1").replace(" topic=Orders", "") + "\n" + record(1, "O-1", 99, TAGS="paid")
    assert keyed(text) == {uniq(1): ("O-1", "Orders", "paid", 99, 1)}
    both = record(1, "O-1", 5) + ", " + record(2, "O-2", 6, topic="%RETRY%ship")
    assert keyed(both) == {uniq(1): ("O-1", "Orders", None, 5, 1), uniq(2): ("O-2", None, None, 6, 1)}
    assert keyed(sent(1, "O-1") + "\n" + sent(1, "O-2")) == {}  # a message with two keys shows nothing


ANSWER = f"""[root@ops bin]# sh mqadmin queryMsgByKey -n 10.5.5.1:9876 -t Orders -k 'O-1'
RocketMQLog:WARN No appenders could be found for logger (RocketmqClient).
#Message ID                                        #QID                                  #Offset
{uniq(1):<50} {2:>4} {1034:>40}
{uniq(2):<50} {0:>4} {998:>40}
[root@ops bin]# """


def test_rows_of_an_answer_have_the_key_that_the_command_names() -> None:
    rows = {uniq(1): ("O-1", "Orders", None, None, 4), uniq(2): ("O-1", "Orders", None, None, 5)}
    assert keyed(f"{ANSWER}\nsent {uniq(3)}\n{uniq(3)} 1 2\n") == rows
    other_options = ANSWER.replace("-t Orders -k 'O-1'", "--msgKey=O-1 --topic Orders").replace("\n", "\r\n")
    assert keyed(other_options) == rows


@pytest.mark.parametrize(
    "command", ["queryMsgByKey -t Orders", "queryMsgById -i O-1 -t Orders", "queryMsgByKeys -k O-1"]
)
def test_other_commands_name_no_key_of_their_rows(command: str) -> None:
    assert keyed(ANSWER.replace("queryMsgByKey -n 10.5.5.1:9876 -t Orders -k 'O-1'", command)) == {}


def test_a_key_of_several_rows_is_found(tmp_path: Path) -> None:
    (finding,) = of_log(ANSWER, tmp_path, "same_key")
    assert (finding.subject, finding.count) == ("Orders", 1)
    assert finding.evidence["key_ids"] == f"{uniq(1)}, {uniq(2)}"


def test_keys_whose_messages_have_equal_bodies_are_a_warning(tmp_path: Path) -> None:
    text = [record(n, f"O-{n % 20}", n % 20) for n in range(23)]
    (finding,) = of_log("\n".join(text), tmp_path, "same_key")
    assert (finding.severity, finding.subject, finding.count, finding.certainty) == ("warning", "Orders", 3, "likely")
    assert finding.evidence["key_ids"] == f"{uniq(0)}, {uniq(20)}"
    assert finding.evidence["apart_seconds"] == 8
    assert finding.evidence["lines"] == f"{tmp_path}/app.log:1, {tmp_path}/app.log:21"
    assert finding.evidence["of_keys"] == 20


@pytest.mark.parametrize(
    "text",
    [
        [record(n, "O-1", n) for n in range(2)],  # other bodies
        [record(n, f"O-{n}", 7) for n in range(9)],  # other keys
        [record(n, "test", 7) for n in range(limits.SAME_KEY_IDS + 1)],  # a key that stands on everything
        [record(n, "O-1", 7) for n in (0, 250_000)],  # another day
        [record(n, f"device-{n // 2}", 7) for n in range(8)],  # a body that all have
        [record(n, "O-1", 7, TAGS=tag) for n, tag in enumerate(("made", "paid"))],  # other events of one order
        [record(n, "O-1", 7, topic=topic) for n, topic in enumerate(("Orders", "Bills"))],
        [record(1, "O-1", 7), record(1, "O-1", 7)],  # one message, printed twice
        [sent(n, "O-1") for n in range(limits.SAME_KEY_IDS + 1)],  # on everything
        [sent(n, f"O-{n // 2}") for n in range(2 * limits.SAME_KEYS + 2)],  # a key that is never one message's alone
        [sent(n, "O-1").replace(uniq(n), OFFSET[:-1] + str(n)) for n in range(2)],  # offsetMsgIds: stored copies
    ],
)
def test_messages_of_one_key_that_may_be_meant_so_are_no_finding(text: list[str], tmp_path: Path) -> None:
    assert of_log("\n".join(text), tmp_path, "same_key") == []


def test_without_bodies_it_is_a_note_and_a_failed_send_is_named(tmp_path: Path) -> None:
    text = [sent(n, f"O-{n}") for n in range(30)]
    text += [sent(31, "O-30").replace("sent", "send failed by timeout,"), sent(32, "O-30")]
    (finding,) = of_log("\n".join(text), tmp_path, "same_key")
    assert (finding.severity, finding.count, finding.certainty) == ("info", 1, "possible")
    assert f"failed sends of these messages: 1, the first at {tmp_path}/app.log:31" in finding.say("meaning")
    assert finding.evidence["failed_at"] == f"{tmp_path}/app.log:31"
    row = to_table([finding]).to_pandas().iloc[0]
    assert finding_texts.when_of(row, Reader(words("en"), CHINA)).startswith("logged 2026-11-24 09:00:31")


TRACE = "\n".join(
    (
        "",
        "org.apache.rocketmq.client.exception.MQClientException: Send [3] times, still failed, cost [9024]ms, "
        "Topic: orders, BrokersSent: [broker-a, broker-b, broker-a]",
        "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.",
        "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.send(DefaultMQProducerImpl.java:7)",
        "Caused by: org.apache.rocketmq.remoting.exception.RemotingTimeoutException: "
        "wait response on the channel <10.0.0.2:10911> timeout, 3000(ms)",
        "\tat org.apache.rocketmq.remoting.netty.NettyRemotingAbstract.invokeSyncImpl(NettyRemotingAbstract.java:446)",
        "",
    )
)


def test_a_failure_has_the_last_exception_of_its_stack_trace_and_counts_once() -> None:
    (failure,) = failures(f"{at(1)} ERROR [send-1] c.e.Sender - send failed, order 7{TRACE}{at(2)} INFO next")
    assert (failure.reason, failure.topic, failure.line) == ("RemotingTimeoutException", "orders", 1)
    assert failure.brokers == ("broker-a", "broker-b", "10.0.0.2:10911")
    assert failure.time is not None and failure.time.second == 1


@pytest.mark.parametrize(
    ("line", "reason", "topic"),
    [
        ("发送消息失败, topic:pay, No route info of this topic: pay", "No route info", "pay"),
        ("send msg fail CODE: 2  DESC: [PC_SYNCHRONIZED]broker busy, start flow control", "PC_SYNCHRONIZED", ""),
        ("sendKernelImpl exception, resend at once, Broker: MessageQueue [topic=T1, brokerName=b]", "", "T1"),
        ("publish message failed: java.net.ConnectException: refused", "ConnectException", ""),
        ("send request failed, RemotingTimeoutException: invokeSync call timeout", "RemotingTimeoutException", ""),
    ],
)
def test_the_reason_is_the_brokers_word_or_the_exception(line: str, reason: str, topic: str) -> None:
    (failure,) = failures(f"{at(1)} WARN {line}")
    assert (failure.reason, failure.topic) == (reason, topic)


@pytest.mark.parametrize(
    "line",
    [
        "no send failed",
        "send failed: 0",
        "发送失败，重试成功",
        "send mail failed",
        "consume message failed, msgId=" + uniq(1),
        "java.lang.IllegalStateException: no bean",
        "Failed to send request to http://10.0.0.1:8080/pay",
        "send message to kafka failed, topic=orders",
        "failed to send metrics: connection refused",
        "发送钉钉消息失败",
        "WebSocket send failed",
        "\tat x.SendFailedException.send failed",
    ],
)
def test_a_line_that_reports_no_failed_send_counts_nowhere(line: str) -> None:
    assert failures(line) == []


def test_failed_sends_are_counted_by_reason_with_topics_brokers_and_times(tmp_path: Path) -> None:
    text = [f"{at(n)} ERROR [send-1] c.e.Sender - send failed, order {n}{TRACE}".rstrip("\n") for n in range(5)]
    text += [f"{at(9)} ERROR send failed, msgId={uniq(3)}, no such key"]
    named, unnamed = of_log("\n".join(text), tmp_path, "send_failed")
    if named.evidence.variant == "unnamed":
        named, unnamed = unnamed, named
    assert (named.subject, named.count, named.severity) == ("RemotingTimeoutException", 5, "warning")
    assert (named.since, named.until) == tuple(SENT + timedelta(seconds=s, milliseconds=10) for s in (0, 4))
    said = named.say("meaning")
    assert "Topics: orders" in said and "broker-a, broker-b, 10.0.0.2:10911" in said and "took 4 s" in said
    assert (unnamed.count, list(unnamed.evidence.ids)) == (1, [uniq(3)])


def test_what_was_not_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcore.scan.send_failures.MOST_LINES", 3)
    text = [f"{at(n)} ERROR [send-1] send failed, order {n}" for n in range(6)]
    (finding,) = of_log("\n".join([sent(1, "x"), *text, ""]), tmp_path, "send_failed")
    assert finding.count == 3
    assert "Not all lines of this input were read for it" in finding.say("meaning")
