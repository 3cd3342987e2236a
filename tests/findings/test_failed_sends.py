"""Failed sends in front of a gap, and sends that succeeded to a doubtful broker, as lines tell them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from idcore.answers.findings import failed_sends, limits, line_locations
from idcore.answers.findings.all_rules import Finding
from idcore.ids.failed_sends import last_failed_send
from idcore.sources.inputs import list_files
from tests.findings.test_rules import DAY_20, uniq

pytestmark = pytest.mark.quick

BEFORE, NEXT, LATER = (uniq(DAY_20 + 100 * n, n) for n in (7, 10, 20))
OF_ANOTHER = uniq(DAY_20, 3, pid=9)
FAILED = "2026-11-21 09:00:01 WARN [send-1] sendDefaultImpl exception, RemotingTooMuchRequestException"


def told(text: str, tmp_path: Path, ids: tuple[str, ...] = (NEXT,), variant: str = "") -> Finding:
    path = tmp_path / "app.log"
    path.write_text(text)
    figures = {
        "variant": variant or ("gaps" if len(ids) > 1 else "one_gap"),
        "produced": 50,
        "share": 0.04,
        "in_gaps": len(ids),
        "widest": 2,
        "distinct": 48,
    }
    finding = Finding.of("missing_ids", "p", 2, {"ids": list(ids), **figures})
    (found,) = line_locations.place([finding], list_files([str(path)]))
    return found


@pytest.mark.parametrize(
    "line",
    [
        FAILED,
        "ERROR send message failed: broker busy",
        "c.s.Orders - Sending of order-7 timed out",
        "ERROR Failed to send order-7",
        "org.apache.rocketmq.client.exception.MQClientException: Send [3] times, still failed, cost [9004]ms",
        "ERROR 发送消息失败, 订单 7",
        "ERROR 发送订单消息超时, 没有重试",
        "ERROR 发送失败次数=3",
        "ERROR failed to send 20 messages, no route",
    ],
)
def test_the_failed_send_in_front_of_a_gap_is_in_the_sentence(line: str, tmp_path: Path) -> None:
    finding = told(f"sent {BEFORE}\nsent {OF_ANOTHER}\n{line}\nsent {OF_ANOTHER}\nsent {NEXT}\n", tmp_path)
    where = f"{tmp_path / 'app.log'}:3"
    assert finding.say("meaning").endswith(f". In the gap the log shows a failed send: “{line}” ({where})")
    assert line in finding.say("meaning", "zh") and where in finding.say("meaning", "zh")
    assert "why these sends failed" in finding.say("advice")


@pytest.mark.parametrize(
    "text",
    [
        f"{FAILED}\nsent {BEFORE}\nsent {NEXT}\n",  # in front of another id of the process
        f"sent {BEFORE}\nsent {NEXT}\n{FAILED}\n",
        f"sent {BEFORE}\nINFO sendMessage ok, error=null\nINFO resend at once\nsent {NEXT}\n",
        f"sent {BEFORE}\nsend timeout: 3000\nsend done: 9 ok, 0 failed\nsend ok, error: none\nsent {NEXT}\n",
        f"sent {BEFORE}\nINFO 发送成功，无异常\nINFO 发送没有出现异常\nsent {NEXT}\n",
        f"sent {BEFORE}\nINFO 发送失败数：0\nINFO 发送失败 0 条\nINFO 发送超时时间=3000\nsent {NEXT}\n",
        f"sent {BEFORE}\nsend ok, no error\nsend ok without exception\nnever failed to send\nsent {NEXT}\n",
        f"sent {BEFORE}\nfailed to send: 0\nsend error count 0\nsent {NEXT}\n",
        f"{FAILED}\nsent {NEXT}\n",  # nothing tells what this process did before
        f"sent {BEFORE} RemotingTimeoutException=0\nsent {NEXT} sendDefaultImpl\n",
    ],
)
def test_a_failed_send_elsewhere_explains_no_gap(text: str, tmp_path: Path) -> None:
    assert "failed_line" not in told(text, tmp_path).evidence


def test_failed_sends_in_front_of_several_gaps_are_counted(tmp_path: Path) -> None:
    text = f"sent {BEFORE}\n{FAILED}\n{FAILED} again\nsent {NEXT}\nsent {LATER}\n"
    finding = told(text, tmp_path, (LATER, NEXT))
    assert "1 of the 2 widest gaps the log shows a failed send; the first: “" + FAILED in finding.say("meaning")
    assert finding.evidence["failed_at"].endswith(":3"), "the last one in front of the gap"


def test_the_log_of_the_producer_may_be_another_file(tmp_path: Path) -> None:
    (tmp_path / "a-consumer.log").write_text(f"got {BEFORE}\ngot {NEXT}\n")
    (tmp_path / "b-producer.log").write_text(f"sent {BEFORE}\n{FAILED}\nsent {NEXT}\n")
    finding = Finding.of("missing_ids", "p", 2, {"ids": [NEXT]})
    (found,) = line_locations.place([finding], list_files([str(tmp_path)]))
    assert found.evidence["failed_at"].endswith("b-producer.log:2")
    assert [place["file"].rpartition("/")[2] for place in found.evidence["places"]] == ["a-consumer.log"]


def test_a_sample_is_not_explained_by_a_failed_send(tmp_path: Path) -> None:
    text = f"sent {BEFORE}\n{FAILED}\nsent {NEXT}\n"
    assert "failed_line" not in told(text, tmp_path, variant="sample").evidence


def test_a_long_line_is_cut_and_obeys_no_terminal(tmp_path: Path) -> None:
    text = f"sent {BEFORE}\nWARN \x1b[31m send failed: {'x' * 400}\nsent {NEXT}\n"
    line = told(text, tmp_path).evidence["failed_line"]
    assert len(line) == limits.MOST_QUOTED and line.endswith("x…") and "\x1b" not in line


BROKER = "7F00000100002A9F"


@pytest.mark.parametrize(
    ("line", "reached"),
    [
        ("SendResult [sendStatus=SEND_OK, msgId={id}, offsetMsgId={broker}{n:016X}, messageQueue=[]]", True),
        ("SendResult [sendStatus=0, msgIds={id}, offsetMsgId={broker}{n:016X}, queueOffset=7]", True),
        ("SendResult [sendStatus=FLUSH_DISK_TIMEOUT, msgId={id}, offsetMsgId={broker}{n:016X}, q]", False),
        ("SendResult [sendStatus=SEND_OK, msgId={id}, offsetMsgId=0A, q] MessageExt [msgId={broker}{n:016X}]", False),
        ("MessageExt [msgId={broker}{n:016X}, commitLogOffset=1]", False),
    ],
)
def test_a_broker_that_took_messages_is_reached_from_there(line: str, reached: bool, tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text("".join(line.format(id=NEXT, broker=BROKER, n=n) + "\n" for n in range(3)))
    finding = Finding.of(
        "broker_address_internal", "127.0.0.1:10911", 3, {"variant": "loopback", "ids": [f"{BROKER}{0:016X}"]}
    )
    (found,) = line_locations.place([finding], list_files([str(path)]))
    assert ("SEND_OK" in found.say("meaning")) == reached
    assert found.say("advice").startswith("If clients" if reached else "Set brokerIP1")
    assert ("SEND_OK" in found.say("meaning", "zh")) == reached


def test_sends_that_succeeded_explain_no_move_of_the_same_broker(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"SendResult [sendStatus=SEND_OK, msgId={NEXT}, offsetMsgId={BROKER}{0:016X}, messageQueue=[]]\n")
    ids = [f"{BROKER}{0:016X}"]
    moved = {"also": ["silent"], "silent_minutes": 30, "usual_minutes": 1, "ids": ids}
    internal, moved_there = line_locations.place(
        [
            Finding.of("broker_address_internal", "127.0.0.1:10911", 1, {"variant": "loopback", "ids": ids}),
            Finding.of("broker_moved", "127.0.0.1:10911", 1, moved),
        ],
        list_files([str(path)]),
    )
    assert internal.evidence["also"] == ["send_ok"]
    assert moved_there.evidence["also"] == ["silent"]


@pytest.mark.timeout(30)  # a tenth of a second; a look at all that stands in front of each it would be minutes
def test_lines_without_an_answer_are_looked_at_once() -> None:
    text = "".join(f"MessageExt [msgId={BROKER}{n:016X}, commitLogOffset={n}]\n" for n in range(20_000)).encode()
    assert not failed_sends.succeeded(text, BROKER.encode())
    assert failed_sends.succeeded(
        b"SendResult [sendStatus=SEND_OK, offsetMsgId=" + BROKER.encode() + text, BROKER.encode()
    )


def test_an_answer_that_has_ended_is_seen_at_once() -> None:
    text = (b"SendResult [" + b"sendStatus=0," * 150 + b"]" + BROKER.encode() * 130 + b"\n") * 100
    began = time.process_time()
    assert not failed_sends.succeeded(text, BROKER.encode())
    assert time.process_time() - began < 5  # a quarter of a second; to look for the end behind each sendStatus took 16


@pytest.mark.parametrize(
    ("line", "reached"),
    [
        ('{{"msgId":"{id}","offsetMsgId":"{broker}{n:016X}","queueOffset":7,"sendStatus":"SEND_OK"}}', True),
        (r'{{"message":"sent {{\"sendStatus\":\"SEND_OK\",\"offsetMsgId\":\"{broker}{n:016X}\"}}"}}', True),
        ('{{"offsetMsgId":"{broker}{n:016X}","sendStatus":"FLUSH_DISK_TIMEOUT"}}', False),
        ('[{{"offsetMsgId":"{broker}{n:016X}"}},{{"sendStatus":"SEND_OK"}},{{"sendStatus":"SEND_OK"}}]', False),
    ],
)
def test_an_answer_as_json_shows_that_the_broker_was_reached(line: str, reached: bool) -> None:
    text = "".join(line.format(id=NEXT, broker=BROKER, n=n) + "\n" for n in range(3)).encode()
    assert failed_sends.succeeded(text, BROKER.encode()) == reached


def test_a_line_of_denied_failures_is_looked_through_once() -> None:
    """Each denial was looked for from the begin of its line on: hours for a line of 64 KiB."""
    began = time.process_time()
    assert last_failed_send("send done without send failed " * 2_000) is None
    assert time.process_time() - began < 5  # some hundredths of a second
