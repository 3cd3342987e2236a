"""The questions about groups: what is asked, and how answers as a broker writes them are read, whole and damaged."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from idcore.answers.lookup.by_time import version_of
from idcore.policy.metrics import exposition
from idcore.rocketmq.remoting.consumers import (
    AllConsumerOffsets,
    AllDelayOffsets,
    AllGroupConfigs,
    AllProducers,
    ConnectedClient,
    Connection,
    ConsumerConnections,
    ConsumerOffset,
    ConsumeStats,
    GroupConfig,
    GroupConfigOf,
    GroupOffsets,
    ProducerConnections,
    QueueProgress,
    QueueStats,
    Subscription,
    TimerRead,
    TopicGroups,
    TopicStats,
)
from idcore.rocketmq.remoting.counters import HandedTo, StoredIn, Sums
from idcore.rocketmq.remoting.errors import AnswerError, NotPermitted, RemotingError
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.requests import (
    ClusterInfo,
    QueueAccess,
    QueuePart,
    QueueSlice,
    QueueUnit,
    ReadCode,
    Request,
    RouteInfo,
    RuntimeInfo,
    TopicList,
)

MQ = '{"brokerName":"a","queueId":1,"topic":"T"}'
CLIENT = {"clientAddr": "10.0.0.3:50122", "clientId": "10.0.0.3@18236#7423", "language": "JAVA", "version": 453}
CONNECTION = {
    "connectionSet": [CLIENT],
    "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
    "consumeType": "CONSUME_PASSIVELY",
    "messageModel": "CLUSTERING",
    "subscriptionTable": {
        "T": {
            "classFilterMode": False,
            "codeSet": [2598919],
            "expressionType": "TAG",
            "subString": "A || B",
            "subVersion": 1763000000000,
            "tagsSet": ["A", "B"],
            "topic": "T",
        },
    },
}
CONFIG = {"consumeEnable": False, "consumeBroadcastEnable": True, "retryQueueNums": 2, "retryMaxTimes": 3}
KNOWN = ConnectedClient("10.0.0.3@18236#7423", "10.0.0.3:50122", "JAVA", 453)
ROUTE = (
    b'{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"a","cluster":"c"}],'
    b'"queueDatas":[{"brokerName":"a","perm":2,"readQueueNums":4,"writeQueueNums":8}],"topicQueueMappingByBroker":{}}'
)


def frame(body: bytes = b"", code: int = 0, remark: str | None = None, **fields: str) -> Frame:
    return Frame(code, 1, 1, "JAVA", 479, remark, fields or None, body)


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


WHOLE: list[tuple[Request[Any], bytes, Any]] = [
    (
        AllConsumerOffsets(),
        b'{"dataVersion":{},"groupTopicMap":{"G":["T"]},"offsetTable":{"T@G":{0:12,1:9},"T@G@broadcast":{0:7}}}',
        (GroupOffsets("T", "G", {0: 12, 1: 9}), GroupOffsets("T", "G@broadcast", {0: 7})),
    ),
    (AllDelayOffsets(), b'{"dataVersion":{},"offsetTable":{1:5,2:0}}', {1: 5, 2: 0}),
    (GroupConfigOf("G"), body(CONFIG), GroupConfig("G", False, True)),
    (GroupConfigOf("G"), body({"retryQueueNums": 0}), GroupConfig("G", True, True, can_retry=False)),
    (GroupConfigOf("G"), body({"consumeMessageOrderly": True}), GroupConfig("G", True, True, orderly=True)),
    (AllGroupConfigs(), body({"subscriptionGroupTable": {"G": CONFIG}}), {"G": GroupConfig("G", False, True)}),
    (
        TopicStats("T"),
        f'{{"offsetTable":{{{MQ}:{{"lastUpdateTimestamp":5,"maxOffset":9,"minOffset":1}}}},"topicPutTps":0.0}}'.encode(),
        (QueueStats("a", "T", 1, 1, 9, 5),),
    ),
    (TopicStats("T"), b'{"offsetTable":{}}', ()),
    (
        ConsumerConnections("G"),
        body(CONNECTION),
        Connection(
            (KNOWN,),
            "CONSUME_PASSIVELY",
            "CLUSTERING",
            "CONSUME_FROM_LAST_OFFSET",
            {"T": Subscription("T", "TAG", "A || B", frozenset("AB"), 1_763_000_000_000)},
        ),
    ),
    (ProducerConnections("P"), body({"connectionSet": [CLIENT]}), (KNOWN,)),
    (
        ConsumeStats("G", "T"),
        f'{{"consumeTps":0.0,"offsetTable":{{{MQ}:{{"brokerOffset":120,"consumerOffset":118,"lastTimestamp":17,'
        f'"pullOffset":119}}}}}}'.encode(),
        (QueueProgress("a", "T", 1, 118, 119, 17),),
    ),
    (TopicGroups("T"), b'{"groupList":["g2","g1"]}', ("g1", "g2")),
    (
        AllProducers(),
        b'{"data":{"P":[{"clientId":"10.0.0.3@18236#7423","language":"JAVA","lastUpdateTimestamp":9,'
        b'"remoteIP":"/10.0.0.3:50122","version":453}]}}',
        {"P": (ConnectedClient("10.0.0.3@18236#7423", "10.0.0.3:50122", "JAVA", 453, 9),)},
    ),
    (
        QueueSlice("T", 0, 5, 1),
        b'{"filterData":"","maxQueueIndex":9,"minQueueIndex":2,"queueData":[{"physicOffset":77,"physicSize":3,"tagsCode":-1}]}',
        QueuePart((QueueUnit(77, -1),), 2, 9),
    ),
    (
        HandedTo("G", "T"),
        b'{"statsDay":{"avgpt":0.0,"sum":300,"tps":0.003},"statsHour":{"avgpt":0.0,"sum":20,"tps":0.005},'
        b'"statsMinute":{"avgpt":1.5,"sum":3,"tps":0.05}}',
        Sums(3, 20, 300, any=True),
    ),
]


@pytest.mark.parametrize(("request_", "raw", "value"), WHOLE, ids=lambda value: type(value).__name__)
def test_an_answer_is_read_as_a_broker_writes_it(request_: Request[Any], raw: bytes, value: Any) -> None:
    assert request_.result(frame(raw), "10.0.0.1:10911") == value


def test_a_broker_that_sends_more_of_a_queue_than_was_asked_for_is_read_so_far() -> None:
    rows = [{"physicOffset": place} for place in range(1_000)]  # each would become a question of its own
    part = QueueSlice("T", 0, 5, 2).result(frame(body({"queueData": rows})), "")
    assert part is not None and part.units == (QueueUnit(0, 0), QueueUnit(1, 0))


def test_what_nobody_reads_may_be_missing_and_be_anything() -> None:
    raw = f'{{"offsetTable":{{{MQ}:{{"consumerOffset":118}}}}}}'.encode()
    assert ConsumeStats("G", "T").result(frame(raw), "") == (QueueProgress("a", "T", 1, 118, 0, 0),)
    raw = body({"consumeEnable": True, "retryQueueNums": "many", "retryMaxTimes": None})
    assert GroupConfigOf("G").result(frame(raw), "") == GroupConfig("G", True, True)


def test_what_a_route_and_a_broker_say_besides_is_kept() -> None:
    route = RouteInfo("T").result(frame(ROUTE), "")
    assert route is not None and not route.static
    assert route.access == {"a": QueueAccess(4, 8, 2)} and not route.access["a"].can_be_read(0)
    assert QueueAccess(4, 8, 6).can_be_read(3) and not QueueAccess(4, 8, 6).can_be_read(4)
    static = RouteInfo("T").result(frame(ROUTE.replace(b'Broker":{}', b'Broker":{"a":{"epoch":1}}')), "")
    assert static is not None and static.static
    table = {"commitLogMinOffset": "0", "commitLogMaxOffset": "9", "dispatchBehindBytes": "17"}
    assert RuntimeInfo().result(frame(body({"table": table})), "").dispatch_behind == 17
    for days, boot in (("9" * 5_000, 5), ("999999999", 5), ("1", 9 * 10**18)):
        odd = {"bootTimestamp": boot, "runtime": f"[ {days} days, 0 hours, 0 minutes, 0 seconds ]"}
        odd |= {"earliestMessageTimeStamp": 9 * 10**18, "brokerVersionDesc": "V" + "5" * 5_000}
        state = RuntimeInfo().result(frame(body({"table": table | odd})), "")
        assert (state.clock_ms, state.earliest_ms) == (None, None) and version_of(state.version)


def test_the_offset_of_a_group_or_none() -> None:
    asked = ConsumerOffset("G", "T", 3)
    fields = {"consumerGroup": "G", "topic": "T", "queueId": "3", "setZeroIfNotFound": "false"}
    assert asked.fields() == fields and asked.code == ReadCode.QUERY_CONSUMER_OFFSET
    assert asked.result(frame(offset="12"), "") == 12
    assert asked.result(frame(code=22, remark="Not found, maybe this group boots first"), "") is None
    with pytest.raises(RemotingError):
        asked.result(frame(), "")


def test_absence_is_told_apart_from_an_error() -> None:
    assert ConsumerConnections("G").result(frame(code=206, remark="the consumer group not online"), "") is None
    assert ProducerConnections("G").result(frame(code=1, remark="the producer group[G] not exist"), "") == ()
    assert AllProducers().result(frame(code=3, remark="request type 328 not supported"), "") is None
    assert GroupConfigOf("G").result(frame(code=26, remark="No group in this broker"), "") is None
    for request in (ConsumerConnections("G"), ProducerConnections("G"), AllProducers(), GroupConfigOf("G")):
        with pytest.raises(AnswerError):
            request.result(frame(code=1, remark="some exception"), "")  # type: ignore[attr-defined]
        with pytest.raises(NotPermitted):
            request.result(frame(code=16, remark="no"), "")  # type: ignore[attr-defined]


def test_a_broker_that_does_not_say_what_it_counted_is_told_apart_from_one_that_counted_nothing() -> None:
    for asked, key in ((HandedTo("G", "T"), "T@G"), (StoredIn("T"), "T")):
        name = asked.fields()["statsName"]
        assert asked.fields() == {"statsName": name, "statsKey": key} and asked.code == ReadCode.VIEW_BROKER_STATS_DATA
        assert asked.result(frame(code=1, remark=f"The stats <{name}> <{key}> not exist"), "") == Sums()
        for code, remark in ((1, "some exception"), (3, "request type 315 not supported"), (16, "no"), (1, None)):
            assert asked.result(frame(code=code, remark=remark), "") is None


def test_the_place_of_the_timer_is_the_first_of_seven_numbers() -> None:
    raw = (1_795_000_000_000).to_bytes(8, "big") + bytes(48)
    assert TimerRead().result(frame(raw), "") == 1_795_000_000_000
    assert TimerRead().result(frame(code=1, remark="The checkpoint is null"), "") is None
    assert TimerRead().result(frame(code=3, remark="request type 60 not supported"), "") is None
    with pytest.raises(RemotingError):
        TimerRead().result(frame(raw[:55]), "")


def test_half_a_character_in_a_name_can_be_sent_on() -> None:
    (name,) = TopicGroups("T").result(frame(b'{"groupList":["g\\ud800"]}'), "")
    assert name.encode() == b"g\\ud800"
    (name,) = AllGroupConfigs().result(frame(b'{"subscriptionGroupTable":{"g\\ud800":{}}}'), "")
    assert name.encode() == b"g\\ud800"


@pytest.mark.parametrize("named", ['"b\\ud800":{', '"":{"brokerName":"b\\ud800",'])
def test_a_broker_with_half_a_character_in_its_name_is_in_the_metrics(named: str) -> None:
    """Anybody may register at a name server, and one answer has the metrics of all groups."""
    body = f'{{"brokerAddrTable":{{{named}"cluster":"c\\ud800","brokerAddrs":{{"0":"h\\ud800:1"}}}}}}}}'
    (broker,) = ClusterInfo().result(frame(body.encode()), "")
    assert (broker.name, broker.cluster, broker.addresses) == ("b\\ud800", "c\\ud800", {0: "h\\ud800:1"})
    assert b"ud800" in exposition({}, {}, [("broker_clock_seconds", ("c", broker.name), 1.0)])[0]


PIECES = [b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"-1", b"1e999", b"NaN", b"true", b'"x"', b"{}", b"[]"]
PIECES += [b"{{", b"\\ud800", b"\xff", b"9" * 25, b"\\", b'{"a":1}:', b"\0"]


def test_ten_thousand_damaged_answers_are_errors_or_answers_and_nothing_else() -> None:
    pick = random.Random(20_261_122)
    read = refused = 0
    cases = [(request, raw) for request, raw, _ in WHOLE] + [
        (RouteInfo("T"), ROUTE),
        (TopicList(), b'{"topicList":["T"]}'),
    ]
    for number in range(10_000):
        request, raw = cases[number % len(cases)]
        for _ in range(pick.randrange(1, 4)):
            start = pick.randrange(len(raw) + 1)
            raw = raw[:start] + pick.choice(PIECES) + raw[start + pick.choice((0, 0, 1, 1, 2, 5, 20)) :]
        try:
            request.result(frame(raw), "10.0.0.1:10911")
            read += 1
        except RemotingError as problem:
            str(problem).encode()
            refused += 1
    assert read > 200 and refused > 5_000
