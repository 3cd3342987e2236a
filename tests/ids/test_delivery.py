"""What lines say of deliveries: each printer, one line or one field a line, receipts, tracks; nothing from nothing."""

from __future__ import annotations

import json
import random
import re
import time
from base64 import urlsafe_b64encode
from dataclasses import replace
from datetime import datetime
from types import ModuleType, SimpleNamespace

import pytest

from idcore.base.catalogue import words
from idcore.ids import delivery, delivery_words
from idcore.ids.delivery import UNSENT, Delivery, DeliveryReader, DeliveryText, deliveries
from idcore.ids.delivery_sentences import by_message, row_of, sentences, short_text
from idcore.ids.delivery_words import phrase_of, transaction_of, word_of
from idcore.ids.receipts import Recall, Receipt
from idcore.rocketmq.message.trace import SubAfter, SubBefore, read_trace
from idcore.scan.deliveries import DeliveryLook

ID, OFFSET = "0A141E28126418B4AAC26531F659001F", "0A09000200002A9F00000000000AAE60"
COPY = "0A09000200002A9F00000000000AB0C3"
CLIENT = "01B2F5ABE17438000106BA349200000000"
HANDLE = "194 1722325671049 600000 0 0 broker-b 1 194 5228468"
AT = "2025-05-20 15:36:13.157  WARN 17592 --- [essageThread_1] a.r.s.s.DefaultRocketMQListenerContainer : "


# What listeners of public projects print, and what only looks like it: constants of enums, repeats, time-outs.
APPLICATIONS = [
    ("acked", None, "INFO RMQNormalListener - consume message 5d - MessageId:ID, QueueId:6, action:SUCCESS, group:x"),
    ("failed", None, "INFO RMQNormalListener - consume message 5d - MessageId:ID, QueueId:6, action:FAILURE, group:x"),
    ("failed", None, "msgId:ID action=ReconsumeLater"),
    ("acked", None, "msgId:ID action=CommitMessage"),
    ("acked", None, "消费返回 Action.CommitMessage msgId=ID"),
    ("failed", None, "msgId:ID consumeResult=ConsumeResult.FAILURE"),
    ("acked", None, "msgId:ID return ConsumeResult.SUCCESS"),
    ("", None, "user login action=success msgId=ID"),
    ("received", None, "consume group=x action=failover msgId=ID"),
    ("failed", None, "consume later, msgId=ID"),
    ("failed", None, "the same message is considered consuming, try consume later dedupKey : x, ID, RedisPersit"),
    ("", None, "message ID will consume later"),
    ("failed", None, "消费 msgId=ID 稍后重试"),
    ("failed", None, "msgId=ID 稍后重新消费"),
    ("unsent", None, "发送失败，稍后重试 msgId=ID"),
    ("", None, "消费者组不存在，稍后再试 msgId=ID"),
    ("skipped", None, "message has been consumed before! dedupKey = x, msgId : ID , so just ack."),
    ("", None, "message ID has not been consumed before"),
    ("", None, "message ID hasn't been processed already"),
    ("skipped", None, "放弃消费 msgId=ID"),
    ("skipped", None, "msgId=ID 幂等校验不通过，消息已消费，直接返回"),
    ("skipped", None, "消息已处理，无需重复处理 msgId=ID"),
    ("skipped", None, "丢弃消息 ID"),
    ("", None, "不要丢弃消息 ID"),
    ("skipped", None, "ignore message ID"),
    ("skipped", None, "discard this message ID"),
    ("failed", None, "消费超时 msgId=ID"),
    ("failed", None, "处理消息[ID]时发生异常: 库存不足"),
    ("", None, "处理消息 ID 成功，之前发生异常"),
    ("failed", 5, "consume fail ID will retry later, retryTimes=5"),
    ("received", 2, "receive msgId=ID retryCount: 2"),
    ("", None, "send msgId=ID retryTimes=2"),
    ("failed", None, "consume fail ID maxRetryTimes=16"),
    ("skipped", None, "ID 幂等命中，忽略"),
    ("skipped", None, "命中幂等，直接返回 msgId=ID"),
    ("", None, "接口幂等设计 msgId=ID"),
    ("", None, "消费超时时间 15 分钟 msgId=ID"),
    ("", None, "消费超时阈值15 msgId=ID"),
    ("failed", None, "consume timeout msgId=ID"),
    ("", None, "消息ID消费不到"),
    ("", None, "消费不到消息ID"),
    ("", None, "消费不了 msgId=ID"),
    ("failed", None, "msgId=ID 消费结果: false"),
    ("acked", None, "msgId=ID 消费结果: true"),
    ("failed", None, "consume result: false, msgId=ID"),
    ("acked", None, "consume result: true, msgId=ID"),
    ("failed", None, "T1001,ID,order,cg,CONSUME_FAILED,3"),
    ("failed", None, "msgId=ID, status: CONSUME_FAILED"),
    ("acked", None, "msgId=ID, status: CONSUME_OK"),
    ("", None, "status=consume_failed_count, msgId=ID"),
    ("failed", None, "process message failed msgId=ID"),
    ("acked", None, "process message success msgId=ID"),
    ("failed", None, "处理消息发生错误 msgId=ID"),
    ("failed", None, "文档处理失败, msgId=ID, documentId=1"),
    ("failed", None, "业务处理异常，消息id：ID"),
    ("", None, "本地事务处理失败，msgId=ID"),
    ("unsent", None, "发送处理失败，msgId=ID"),
    ("acked", None, "ack success, msgId=ID"),
    ("acked", None, "消息ACK成功 msgId=ID"),
    ("unacked", None, "ack失败 msgId=ID"),
    ("unacked", None, "ack message failed, msgId=ID"),
    ("", None, "rollback success msgId=ID"),
    ("", None, "did not ack message ID"),
    ("received", None, "[onMessage] msgId=ID"),
    ("failed", None, "onMessage error, msgId=ID"),
    ("received", None, "监听到消息 msgId=ID"),
    ("received", None, "拉取到消息 msgId=ID"),
    ("received", None, "pulled message ID"),
    ("received", None, "Get 1 message: msgId=ID"),
    ("", None, "没有获取到消息 ID"),
    ("", None, "发送消息 获取到消息id ID"),
    ("", None, "got message id ID from send"),
    ("received", None, "开始处理消息 msgId=ID"),
    # counts of a batch are of no message; of one with a failure no success is that of each
    ("received", None, "consume done msgId=ID success=0 failed=1"),
    ("received", None, "consume done, msgId=ID, success: 0, failed: 1"),
    ("received", None, "consume success count 0, msgId=ID"),
    ("failed", None, "consumed 1 message(s), 0 ok, 1 failed, msgId=ID"),
    ("acked", None, "consumed 1 message(s), 1 ok, 0 failed, msgId=ID"),
    ("received", None, "消费完成 成功0条 失败1条 msgId=ID"),
    ("received", None, "消费完成，成功数=0，失败数=1 msgId=ID"),
    ("acked", None, "消费完成，成功数=1，失败数=0 msgId=ID"),
    ("received", None, "consume end msgId=ID consumed=N"),
    # a failure with an end, a failure of something else, a setting
    ("received", None, "consumed msgId=ID after 2 failed attempts"),
    ("acked", None, "msgId=ID 消费失败3次后成功"),
    ("acked", None, "msgId=ID 之前消费失败，现已重新消费成功"),
    ("failed", None, "msgId=ID 消费失败，消费日志入库成功"),
    ("acked", None, "msgId=ID previous consume failed, now consumed successfully"),
    ("acked", None, "msgId=ID consume success, but notify failed"),
    ("unacked", None, "msgId=ID consume ok, ack failed"),
    ("", None, "consumer cg_bill failed to start, last msgId=ID"),
    ("failed", None, "consumer failed to process message msgId=ID"),
    ("received", None, "msgId=ID consume timeout=15min"),
    ("failed", None, "return SUSPEND_CURRENT_QUEUE_A_MOMENT msgId=ID"),
    ("acked", None, "DEBUG o.a.r.s.s.DefaultRocketMQListenerContainer - consume ID cost: 12 ms"),
    # the words of a body
    ("", None, 'msgId=ID body={"msg":"consume failed","n":{"a":1}}'),
    ("acked", None, 'msgId=ID body={"type":"CONSUME_FAILED","n":{"a":1}} consume success'),
    ("received", None, '收到消息 msgId=ID 消息体：{"title":"消费失败告警"}'),
    ("failed", None, 'payload={"text":"消费失败 msgId=ID"}'),
]


def only(text: str) -> Delivery:
    (found,) = deliveries(text.split("\n"))
    return found


@pytest.mark.parametrize(
    ("text", "event", "tries", "topic"),
    [
        (f"{AT}consume message failed. messageId:{ID}, topic:order_paid, reconsumeTimes:2", "failed", 2, "order_paid"),
        (
            f"WARN x - consume message failed. messageExt:MessageExt [brokerName=a, msgId={OFFSET}, reconsumeTimes=1, "
            f"toString()=Message{{topic='pay', flag=0, properties={{UNIQ_KEY={ID}}}, body=[]}}]",
            "failed",
            1,
            "pay",
        ),
        (
            f"[2021-Dec-18 16:19:00](info):=====Receive Messages,Topic[t], MsgId[{ID}],Body[x],RetryTimes[3][C:179]",
            "received",
            3,
            "t",
        ),
        (f"MessageViewImpl{{messageId={CLIENT}, topic=T, deliveryAttempt=2, messageGroup=null}}", "received", 1, "T"),
        (
            f"Message listener raised an exception while consuming messages, clientId=c, mq=T.a.0, messageId={CLIENT}",
            "failed",
            None,
            None,
        ),
        (
            f"Failed to consume fifo message finally, run out of attempts, maxAttempts=3, attempt=3, id={CLIENT}",
            "failed",
            2,
            None,
        ),
        (
            f"Failed to ack message, would attempt to re-ack later, clientId=c, messageId={CLIENT}, attempt=1",
            "unacked",
            None,
            None,
        ),
        (
            f"WARN consumeMessage return null, Group: g Msgs: [MessageExt [msgId={OFFSET}, reconsumeTimes=0, "
            f"toString()=Message{{topic='t', properties={{UNIQ_KEY={ID}}}}}]] MQ: q",
            "failed",
            0,
            "t",
        ),
        (
            f"WARN BROADCASTING, the message consume failed, drop it, MessageExt [msgId={OFFSET}, reconsumeTimes=0, "
            f"toString()=Message{{topic='t', properties={{UNIQ_KEY={ID}}}}}]",
            "skipped",
            0,
            "t",
        ),
        (f"INFO consume {ID} RECONSUME_LATER", "failed", None, None),
        (f"INFO msgId={ID} status=CONSUME_SUCCESS", "acked", None, None),
        (f"INFO 消费失败 msgId={ID}", "failed", None, None),
        (f"INFO 收到消息 msgId={ID}", "received", None, None),
        (f"INFO duplicate, already processed: {ID}", "skipped", None, None),
        (f"INFO consumed msgId={ID} failed=0", "received", None, None),
        (f"INFO skipped=0 msgId={ID} consumed", "received", None, None),
        (f'{{"msg":"consume message failed","msgId":"{ID}","reconsumeTimes":4,"topic":"t"}}', "failed", 4, "t"),
        (
            f"[Message=[topic=t, body=x, properties=map[CONSUME_START_TIME:1668256662984 UNIQ_KEY:{ID}], "
            "ReconsumeTimes=2, ",
            "received",
            2,
            "t",
        ),
    ],
)
def test_each_printer_says_what_happened_and_at_which_try(text: str, event: str, tries: int | None, topic: str) -> None:
    found = only(text)
    assert (found.event, found.tries, found.topic) == (event, tries, topic)
    assert found.msg_id in (ID, CLIENT)


def test_a_retry_copy_names_its_group_its_topic_and_the_business_topic() -> None:
    found = only(
        f"received [MessageExt [storeTimestamp=1741917610144, msgId={COPY}, "
        f"reconsumeTimes=1, Message{{topic='order_paid', properties={{"
        f"REAL_TOPIC=%RETRY%ship_group, ORIGIN_MESSAGE_ID={OFFSET}, "
        f"RETRY_TOPIC=order_paid, UNIQ_KEY={ID}, DELAY=3}}}}]]"
    )
    assert (found.event, found.tries, found.delay_level) == ("received", 1, 3)
    assert (found.topic, found.stored_topic, found.group) == ("order_paid", "%RETRY%ship_group", "ship_group")
    assert (found.offset_id, found.origin, found.stored_ms) == (COPY, OFFSET, 1741917610144)


def test_several_messages_of_one_line_each_have_their_own_try() -> None:
    one = "MessageExt [msgId={}, reconsumeTimes={}, toString()=Message{{topic='t', properties={{UNIQ_KEY={}}}}}]"
    other = "0A141E28126418B4AAC26531F6590020"
    text = (
        "consumeMessage exception: java.X Group: g Msgs: ["
        + one.format(OFFSET, 0, ID)
        + ", "
        + one.format(COPY, 5, other)
    )
    found = [(each.msg_id, each.event, each.tries, each.group) for each in deliveries([text])]
    assert found == [(ID, "failed", 0, "g"), (other, "failed", 5, "g")]


@pytest.mark.parametrize(
    ("line", "event", "field", "value"),
    [
        ("消费失败 主题：orders，消息：{}，{}", "failed", "topic", "orders"),
        ("消费者组：g1 消费成功 {} {}", "acked", "group", "g1"),
        ("ERROR consume failed Topic[orders] RetryTimes[3] {}, {}", "failed", "tries", 3),
        ('consume failed topic:{{ name: "orders" }} {}, {}', "failed", "topic", "orders"),
    ],
)
def test_a_field_without_the_usual_signs_is_of_all_messages_of_its_line(
    line: str, event: str, field: str, value: str | int
) -> None:
    """It was a KeyError: one such line, and neither its text was decoded nor the scan of its folder done."""
    other = "0A141E28126418B4AAC26531F6590020"
    found = [one for one in deliveries([line.format(ID, other)]) if one.event == event]
    assert [(one.msg_id, getattr(one, field)) for one in found] == [(ID, value), (other, value)]
    look = DeliveryLook(whole=True)
    look.take("app.log", 0, line.format(ID, other).encode())
    look.end()
    assert [one.delivery.msg_id for one in look.told] == [one.msg_id for one in deliveries([line.format(ID, other)])]


def test_an_acknowledgement_of_a_grpc_client_has_its_receipt_and_its_code() -> None:
    entry = f'entries:{{message_id:"{CLIENT}" receipt_handle:"{HANDLE}"'
    text = (
        f'ackMessage request: group:{{name:"cg"}} topic:{{name:"t"}} {entry}}}'
        f', response: status:{{code:%s message:"x"}} {entry} status:{{code:%s}}}}'
    )
    found = only(text % ("OK", "OK"))
    assert (found.event, found.group, found.topic) == ("acked", "cg", "t")
    assert (found.broker, found.queue_id, found.queue_offset, found.physical_offset) == ("broker-b", 1, 194, 5228468)
    assert found.receipt is not None and found.receipt.ends_ms == 1722326271049
    failed = only(text % ("MULTIPLE_RESULTS", "INVALID_RECEIPT_HANDLE"))
    assert (failed.event, failed.status) == ("unacked", "INVALID_RECEIPT_HANDLE")


def test_a_receipt_and_a_pop_ck_are_read_field_by_field_and_nothing_else_is() -> None:
    assert Receipt.read(HANDLE) == Receipt(194, 1722325671049, 600000, 0, 0, "broker-b", 1, 194, 5228468)
    pop = Receipt.read("0 1659321532190 60000 7 2 cn-share-01 5 0")
    assert pop == Receipt(0, 1659321532190, 60000, 7, 2, "cn-share-01", 5, 0)
    assert str(pop) == "0 1659321532190 60000 7 2 cn-share-01 5 0"
    for wrong in (
        "",
        HANDLE + " 1",
        "0 1659321532190 60000 7 3 b 5 0",
        "0 1 60000 7 0 b 5 0",
        "x 1659321532190 6 7 0 b 5 0",
        f"0 1659321532190 {'6' * 5_000} 7 0 b 5 0",
    ):
        assert Receipt.read(wrong) is None


def test_a_recall_handle_gives_topic_broker_due_time_and_id() -> None:
    handle = urlsafe_b64encode(f"v1 TimerTopic broker-a 1741917610144 {ID}".encode()).decode()
    expected = Recall("TimerTopic", "broker-a", 1741917610144, ID)
    assert Recall.read(handle) == Recall.read(handle.rstrip("=")) == expected
    assert Recall.read(ID) is Recall.read("v1") is Recall.read("%%%") is None
    assert Recall.read(urlsafe_b64encode(f"v1 T b {'1' * 5_000} {ID}".encode()).decode()) is None
    found = only(
        f"SendResult [sendStatus=SEND_OK, msgId={ID}, offsetMsgId={OFFSET}, queueOffset=3, recallHandle={handle}]"
    )
    assert (found.event, found.recall) == ("sent", expected)
    assert only(f"recallHandle={handle}").msg_id == only(f"  {handle}").msg_id == ID


@pytest.mark.parametrize(
    ("printed", "status"),
    [("SLAVE_NOT_AVAILABLE", "SLAVE_NOT_AVAILABLE"), ("3", "SLAVE_NOT_AVAILABLE"), ("1", "FLUSH_DISK_TIMEOUT")],
)
def test_the_status_of_a_send_is_read_as_a_name_or_a_number(printed: str, status: str) -> None:
    found = only(
        f"SendResult [sendStatus={printed}, msgId={ID}, offsetMsgId={OFFSET}, messageQueue=MessageQueue [topic=t]]"
    )
    assert (found.event, found.status, found.topic, found.offset_id) == ("sent", status, "t", OFFSET)


@pytest.mark.parametrize("digits", ["²", "٣²", "9" * 5_000])
def test_digits_that_are_no_number_are_read_as_text(digits: str) -> None:
    found = only(f"SendResult [sendStatus={digits}, msgId={ID}, offsetMsgId={OFFSET}, queueOffset={digits}]")
    assert (found.event, found.queue_offset) == ("sent", None)
    assert only(f"consume failed msgId={ID} reconsumeTimes={digits}").tries is None


MQADMIN = f"""OffsetID:            {OFFSET}
Topic:               order_paid
Queue ID:            3
Queue Offset:        91234
CommitLog Offset:    700000
Reconsume Times:     2
Born Timestamp:      2024-03-09 14:22:31,507
Store Timestamp:     2024-03-09 14:22:31,511
System Flag:         0
Properties:          {{UNIQ_KEY={ID}, WAIT=true}}
Message Body Path:   /tmp/rocketmq/msgbodys/{ID}

MessageTrack [consumerGroup=order_ship, trackType=NOT_CONSUME_YET, exceptionDesc=null]
MessageTrack [consumerGroup=order_mail, trackType=CONSUMED_BUT_FILTERED, exceptionDesc=null]
MessageTrack [consumerGroup=gone, trackType=UNKNOWN, exceptionDesc=CODE:206 DESC:the consumer group not online]"""


def test_an_answer_of_mqadmin_is_one_record_with_its_tracks() -> None:
    record, ship, mail, gone = deliveries(MQADMIN.split("\n"))
    assert (record.msg_id, record.offset_id, record.tries, record.queue_id) == (ID, OFFSET, 2, 3)
    assert (record.begin, record.end) == (1, 11)
    assert record.stored is not None and record.stored.microsecond == 511_000
    assert (ship.msg_id, ship.line, ship.group, ship.event, ship.status) == (
        ID,
        13,
        "order_ship",
        "track",
        "NOT_CONSUME_YET",
    )
    assert (mail.event, gone.reason) == ("filtered", "CODE:206 DESC:the consumer group not online")


def test_a_message_that_is_printed_one_field_a_line_is_one_record() -> None:
    fields = f"""receive ->[MessageExt [
    queueId=2,
    storeTimestamp=1736056297169,
    msgId={COPY},
    reconsumeTimes=1,
    toString()=Message [
        topic=TopicTest,
        properties={{
            CONSUME_START_TIME=1736056297197,
            UNIQ_KEY={ID}
        }},
        body=16
    ]
]]
2025-01-01 00:00:00 INFO done"""
    found = only(fields)
    assert (found.msg_id, found.offset_id, found.event, found.tries) == (ID, COPY, "received", 1)
    assert (found.line, found.begin, found.end) == (10, 1, 14)


def test_tracks_without_a_message_in_front_and_other_ids_say_nothing() -> None:
    assert not list(deliveries(["MessageTrack [consumerGroup=g, trackType=CONSUMED, exceptionDesc=null]"]))
    assert not list(deliveries([f"traceId={ID} consumed", "consumed nothing", "", f"INFO order saved msgId={ID}"]))


def test_tracks_belong_to_the_last_id_in_front_of_them_whatever_its_line_says() -> None:
    (track,) = deliveries([f"$ mqadmin queryMsgById -i {OFFSET}", "", MQADMIN.split("\n")[-1]])
    assert (track.msg_id, track.status) == (OFFSET, "UNKNOWN")


def test_sends_that_succeeded_are_left_out_where_nobody_wants_them() -> None:
    reader = DeliveryReader(sends=False)
    sent = f"SendResult [sendStatus=%s, msgId={ID}, offsetMsgId={OFFSET}]"
    assert not list(reader.line(1, sent % "SEND_OK"))
    assert [each.status for each in reader.line(2, sent % "FLUSH_DISK_TIMEOUT")] == ["FLUSH_DISK_TIMEOUT"]


def test_a_hostile_line_costs_no_more_than_its_length() -> None:
    many = " ".join(f"0A141E28126418B4AAC26531F659{number:04X}" for number in range(1_900))
    began = time.process_time()
    assert len(list(deliveries([f"{many} consumed"]))) == 1_900
    for filler in (
        "consume ",
        "a:",
        "[",
        " ",
        "MessageExt [",
        "A_",
        "topic:{",
        "1 ",
        "k=v,",
        "djEg",
        "aThread",
        "fail ",
        "send ",
        "send failed ",
        "no send failed ",
        "发送",
        "Message{topic= failed send",
        "dead letter ",
    ):
        list(deliveries([filler * (60_000 // len(filler)) + f" {ID} consumed"]))
    list(deliveries(["MessageExt [", *["  a=b,"] * 50_000]))
    list(deliveries([f"racka{' ' * 122}x"] * 5_000))
    assert time.process_time() - began < 5  # half a second


@pytest.mark.parametrize(
    "lines",
    [
        ["MessageExt [topic="],
        ["MessageExt [", "consume fail"],
        ["ageExt [ consume Mess", "properties={Mess[ageE"],
    ],
)
def test_lines_that_look_cut_and_are_none_are_read_once_more_and_not_for_ever(lines: list[str]) -> None:
    assert [one.msg_id for one in deliveries([*lines * 400, "", f"msgId={ID} consumed"])] == [ID]


RECORD = (
    "2026-11-10 15:52:25.890 INFO [ConsumeMessageThread_ship_4] Receive New Messages: [MessageExt "
    "[brokerName=broker-a, queueId=3, queueOffset=771, bornTimestamp=1794297145877, bornHost=/10.3.1.9:52747, "
    "storeTimestamp=1794297145877, storeHost=/10.3.0.2:10911, msgId=0A03000200002A9F00000000000B4FDC, "
    "commitLogOffset=741340, bodyCRC=988340972, reconsumeTimes=2, preparedTransactionOffset=0, "
    "toString()=Message{topic='order_paid', flag=0, properties={MIN_OFFSET=0, CONSUME_START_TIME=1794297145886, "
    "UNIQ_KEY=0A0301090A2418B4AAC231C13615000B, WAIT=true}, body=[72], transactionId='null'}]]"
)


def _claims(text: str) -> list[Delivery]:
    read = DeliveryText()
    read.feed(text)
    read.close()
    return [replace(one, line=0, begin=0, end=0, form=0) for one in read.found]


@pytest.mark.parametrize("width", range(56, 140, 3))
def test_a_record_that_a_terminal_cut_says_what_it_says_on_one_line(width: int) -> None:
    behind = "\n2026-11-10 15:52:26.000 INFO [main] consume success msgId=0A0301090A2418B4AAC231C13616000C"
    wrapped = "\n".join(RECORD[at : at + width] for at in range(0, len(RECORD), width))
    assert _claims(wrapped + behind) == _claims(RECORD + behind)
    assert [one.tries for one in _claims(wrapped)] == [2]


def test_an_open_record_that_no_bracket_ends_takes_no_line_from_others() -> None:
    cut = RECORD[: RECORD.index("msgId=")]
    done = "consume success msgId=0A0301090A2418B4AAC231C13616000"
    text = f"{cut}\n{done}C\n\n{done}D"
    assert [(one.msg_id[-1], one.event) for one in _claims(text)] == [("C", "acked"), ("D", "acked")]


@pytest.mark.parametrize(
    "msg_id",
    [
        "0A5C0304030918B4AAC2644043540000",
        "0108719066FF9A489C04DB99CA00000003",
        "20010DB885A3000000008A2E03707334473C7D4991AD336AEA5703E0",
    ],
)
def test_a_line_cut_in_its_id_keeps_its_topic_and_try(msg_id: str) -> None:
    line = f"consume message failed. messageId:{msg_id}, topic:order_paid, reconsumeTimes:3"
    for place in (*range(43, 65), 34 + len(msg_id)):
        if {place - 34, 34 + len(msg_id) - place} & {32, 34} and place < 34 + len(msg_id):
            continue  # a part that may be an ID by itself
        (one,) = _claims(f"{line[:place]}\n{line[place:]}")
        assert (one.event, one.tries, one.topic) == ("failed", 3, "order_paid")


@pytest.mark.parametrize(
    ("event", "tries", "text"),
    [
        ("failed", 1, "ERROR consume error msgId=ID reconsumeTimes=1"),
        ("failed", None, "ERROR Failed consuming message ID, will retry"),
        ("acked", None, "INFO message ID processed successfully"),
        ("skipped", None, "WARN duplicate message ignored, id=ID"),
        ("acked", None, "INFO successfully consumed ID"),
        ("failed", None, "ERROR error while processing message ID: NPE"),
        ("", None, "INFO not consumed yet: ID"),
        ("", None, "INFO 未消费 ID"),
        ("", None, '{"msgId":"ID","consumed":false}'),
        ("", None, '{"msgId":"ID","received":null,"consumedAt":null}'),
        ("", None, '{"msgId":"ID","已消费":"否"}'),
        ("", None, '{"msgId":"ID","consumeTime":12}'),
        ("", None, "上次消费时间：2026-11-20 10:05:04 msgId=ID"),
        ("acked", None, '{"msgId":"ID","consumeFailed":"","consume success":true,"failed":false}'),
        ("", None, "INFO 消息未被消费：ID"),
        ("", None, "INFO 消费失败次数=0 msgId=ID"),
        ("acked", 2, "消费成功，msgId：ID，重试次数：2"),
        ("failed", 3, "消息消费失败, msgId: ID, 第3次重试, topic=order_paid"),
        ("skipped", None, "消息重复, 直接返回 msgId=ID"),
        ("skipped", None, "幂等校验未通过, 忽略消息 msgId=ID"),
        ("failed", None, "consume msgId=ID, topic=order_paid, keys=k1, failed: no stock"),
        ("failed", None, "消费消息【ID】失败，原因：库存不足"),
        ("failed", None, "消费 msgId=ID 异常"),
        ("failed", None, "处理消息异常 msgId=ID java.lang.NullPointerException"),
        ("acked", None, "消息处理成功 ID"),
        ("", None, "生产者发送消息成功 msgId=ID"),
        ("", None, "消费者启动成功, ID"),
        ("", None, "消费者组=g1 msgId=ID 发送成功"),
        ("", None, "尚未消费 msgId=ID"),
        ("", None, "没有收到消息 ID"),
        ("", None, "haven't received message ID"),
        ("received", None, "开始消费消息 msgId=ID"),
        ("received", None, "接收到消息：ID"),
        ("received", 1, "第2次消费 msgId=ID"),
        ("received", None, "consuming message ID"),
        ("received", None, "Received message: ID"),
        ("failed", None, "consumeStatus=FAILED msgId=ID"),
        ("acked", None, '{"consumeResult":"SUCCESS","msgId":"ID"}'),
        ("failed", None, '{"consumeStatus":"RECONSUME_LATER","msgId":"ID"}'),
        ("skipped", None, "该消息已被消费过，直接ack，msgId=ID"),
        ("received", None, "防止重复消费校验通过 收到 msgId=ID"),
        ("failed", None, "Unable to consume message ID"),
        ("failed", None, "exception when consume message, msgId:ID"),
        ("acked", None, "consume ok, msgId=ID"),
        ("acked", None, "consume completed msgId=ID"),
        ("received", None, "consume ID start"),
        ("failed", None, "消费者消费失败 ID"),
        ("acked", None, "消费完成 msgId:ID"),
        ("received", None, "consume message, success=false? msgId=ID"),
        ("", None, "订单处理完成，发送消息 msgId=ID"),
        ("", None, "order processed successfully, sent msgId=ID"),
        ("skipped", None, "Message ID has already been consumed, skip"),
        ("received", None, "消息ID: ID 已接收"),
        ("failed", 5, "WARN 消费失败，重试次数[5] msgId=ID"),
        ("", None, "INFO 消费位点 100, msgId=ID"),
        ("unsent", None, "Failed to send message ID"),
        ("failed", None, "handle msg ID failed"),
        ("failed", None, "处理消息失败：ID"),
        ("received", None, "MQ收到消息 ID, 消费延迟 3ms"),
        ("received", None, "message received, no error, msgId=ID"),
        ("failed", None, "消费异常,msgId=ID,e=null"),
        ("failed", None, '{"log":"\\u6d88\\u8d39\\u5931\\u8d25 msgId=ID"}'),
        ("received", None, "recv msgId=ID"),
        ("failed", None, "nack message ID"),
        ("received", None, "consume msgId=ID, error="),
        ("failed", None, "consume message ID failed:"),
        ("received", None, "消费 msgId=ID 异常信息: null"),
        ("failed", None, "消费失败，msgId=ID 异常信息："),
        ("received", None, "consume ID nack=0"),
        ("received", None, "consumed ID without error"),
        ("received", None, "no error while consuming ID"),
        ("received", None, "consume topic error-topic ID"),
        ("received", None, "consume from payment-error ID"),
        ("failed", None, "消费者返回 ReconsumeLater ID"),
        ("acked", None, "return ConsumeOrderlyStatus.SUCCESS ID"),
        ("failed", None, '{"event":"consume fail","msgId":"ID"}'),
        ("received", None, "[ConsumeMessageThread_g_1] INFO order msgId=ID"),
        ("", None, "[ConsumeMessageThread_g_1] INFO forwarded as msgId=ID"),
        ("", None, "[ConsumeMessageThread_g_1] INFO 发送消息成功 msgId=ID"),
        ("received", None, "[umeMessageThread_1] INFO order msgId=ID"),  # a log that cuts names in front
        ("", None, "2023-08-24 20:21:08 INFO SendMessageThread_2 - Transaction request: msgId='ID'"),  # of a broker
        ("", None, "2023-08-24 20:21:08 INFO PullMessageThread_7 - the msgId=ID"),
        ("", None, "2023-08-24 20:21:08 INFO ReplyMessageThread_1 - the msgId=ID"),
        ("", None, "received response for msgId=ID"),
        ("", None, "message ID will be consumed after 10 s"),
        *APPLICATIONS,
    ],
)
def test_the_words_of_applications_say_what_happened_and_never_the_opposite(
    event: str, tries: int | None, text: str
) -> None:
    found = list(deliveries([text.replace("ID", ID)]))
    assert [one.event for one in found if one.event] == ([event] if event else [])
    assert tries in (None, *(one.tries for one in found))


@pytest.mark.parametrize("form", [text for event, _, text in APPLICATIONS if event not in ("", UNSENT)])
def test_a_scan_reads_the_words_that_decode_reads(form: str) -> None:
    """It tells by some bytes that a text has none of them."""
    look = DeliveryLook(whole=True)
    look.take("app.log", 0, form.replace("ID", ID).encode())
    look.end()
    (decoded,) = [one for one in deliveries([form.replace("ID", ID)]) if one.event]
    assert [one.delivery for one in look.told] == [decoded]


MESSAGE = f'{{"messageView":{{"msgId":"{ID}","properties":{{"UNIQ_KEY":"{ID}"}}}},"messageTrackList":[%s]}}' % (
    '{"consumerGroup":"ship","trackType":"NOT_CONSUME_YET","exceptionDesc":null},'
    '{"consumerGroup":"mail","exceptionDesc":"CODE: 206 not online","trackType":"UNKNOWN"}'
)
SHIP = ("ship", "NOT_CONSUME_YET", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MESSAGE, [SHIP, ("mail", "UNKNOWN", "CODE: 206 not online")]),
        (json.dumps(json.loads(MESSAGE), indent=2), [SHIP, ("mail", "UNKNOWN", None)]),
        (
            f"Message ID: {ID}\nconsumerGroup\ttrackType\tOperation\nship\tNOT_CONSUME_YET\tResend\nmail\tCONSUMED",
            [SHIP, ("mail", "CONSUMED", None)],
        ),
        (
            f"消息ID：{ID}\n| 订阅组 | 消费状态 |\n|---|---|\n| ship | PULL |\n| mail | NOT_ONLINE |",
            [("ship", "PULL", None), ("mail", "NOT_ONLINE", None)],
        ),
        (
            f"MSGID: {ID}\nMessageTrack [consumerGroup=ship, trackType=UNKNOWN, exceptionDesc=CODE:206 DESC:[a] off]",
            [("ship", "UNKNOWN", "CODE:206 DESC:[a] off")],
        ),
    ],
)
def test_tracks_are_read_as_text_as_json_and_as_a_table(text: str, said: list[tuple[str, str, str | None]]) -> None:
    found = [one for one in deliveries(text.split("\n")) if one.event == "track"]
    assert [(one.group, one.status, one.reason) for one in found] == said
    assert {one.msg_id for one in found} == {ID}


def test_a_word_of_a_log_in_the_place_of_a_status_is_none() -> None:
    text = f"sent {ID}\nINFO  CONSUMED\ngroup, UNKNOWN\nstate  PULL"
    assert not [one for one in deliveries(text.split("\n")) if one.event]


def test_a_trace_of_mqadmin_tells_how_each_attempt_ended() -> None:
    text = f"""$ mqadmin queryMsgTraceById -n 10.0.0.1:9876 -i {ID}
#Type      #ConsumerGroup       #ClientHost          #ConsumerTime        #CostTimes #Status
Sub        ship                 10.20.30.41          2025-05-20 15:36:13  10ms       failed
Sub        ship                 10.20.30.41          2025-05-20 15:36:23  12ms       success"""
    found = [(one.msg_id, one.event, one.group, one.time and one.time.second) for one in deliveries(text.split("\n"))]
    assert found == [(ID, "failed", "ship", 13), (ID, "acked", "ship", 23)]


@pytest.mark.parametrize("number", ["9223372036854775808", "9999999999999999999"])
def test_a_number_that_no_table_holds_is_none(number: str) -> None:
    found = only(
        f"consume failed MessageExt [queueId={number}, queueOffset={number}, commitLogOffset={number}, msgId={ID}]"
    )
    assert (found.queue_id, found.queue_offset, found.physical_offset) == (None, None, None)


@pytest.mark.parametrize("margin", ["", "> ", "     * ", "// ", "# "])
def test_an_answer_as_json_in_a_comment_or_a_mail_says_its_status(margin: str) -> None:
    fields = {
        "msgId": ID,
        "offsetMsgId": OFFSET,
        "queueOffset": 25,
        "regionId": "r",
        "sendStatus": "FLUSH_DISK_TIMEOUT",
    }
    printed = json.dumps({"messageQueue": {"queueId": 2, "topic": "t"}, **fields, "traceOn": True}, indent=2)
    found = list(deliveries([margin + line for line in ("<pre>", *printed.split("\n"), "</pre>")]))
    assert [(one.msg_id, one.status, one.offset_id) for one in found] == [(ID, "FLUSH_DISK_TIMEOUT", OFFSET)]


def test_the_key_of_a_message_is_no_message_of_its_own() -> None:
    """Of an issue of 2016: a client 3.x, whose record has the broker's id alone, and a key that looks like one."""
    text = DeliveryText()
    text.feed(
        "2016-05-10 20:19:31,318 WARN RocketmqClient(257) - consumeMessage exception: java.lang.StackOverflowError "
        "Group: Gold Msgs: [MessageExt [queueId=0, queueOffset=14434, bornTimestamp=1462863658324, "
        "msgId=0A00012900002A9F000000000363F621, reconsumeTimes=0, toString()=Message [topic=Message, "
        "properties={TAGS=Save, KEYS=0f650cce7abf4e2caee9b956864ff55c, WAIT=true}, body=602]]]"
    )
    text.close()
    assert {one.msg_id for one in text.found} == {"0A00012900002A9F000000000363F621"}


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("如果消费失败会重试", ""),
        ("will retry 3 times if consume failed, msgId=1", ""),
        ("Was message 1 consumed?", ""),
        ("这条消息是否消费成功？", ""),
        ("消费是否成功", ""),
        ("message 1 was not consumed successfully", ""),
        ("消息未成功消费", ""),
        ("消费失败，为什么？", "failed"),
        ("GET /consume?msgId=1 consume failed", "failed"),
        ("消息已消费成功", "acked"),
        ("未发生消费失败，msgId=1 处理完成", ""),
        ("没有出现消费异常 msgId=1", ""),
        ("无消费异常 msgId=1", ""),
        ("避免消费失败 msgId=1", ""),
        ("消费没有异常 msgId=1", "received"),
        ("消费未失败 msgId=1", "received"),
        ("消费失败 0 条, msgId=1", ""),
        ("消费失败条数=0 msgId=1", ""),
        ("消费失败：否 msgId=1", ""),
        ("no consume failure, msgId=1", ""),
        ("without consume errors, msgId=1", ""),
        ("message 1 never failed to consume", "received"),
        ("did not fail to consume message 1", "received"),
        ("no messages failed to consume, msgId=1", "received"),
        ("failed to consume: 0, msgId=1", "received"),
        ("consume success, failed 0, msgId=1", "acked"),
        ("consumed 10 messages, 0 failed, msgId=1", "received"),
        ("消费处理成功，失败0条 msgId=1", "acked"),
        ("consume failed 3 times, msgId=1", "failed"),
        ("消费抛出未处理异常 msgId=1", "failed"),
        ("消费时发生未知错误 msgId=1", "failed"),
        ("消费失败，没有错误码 msgId=1", "failed"),
        ("消费不成功 msgId=1", "failed"),
        ("发送无异常，消费失败 msgId=1", "failed"),
        ("consume failed, no error message, msgId=1", "failed"),
        ("failed to consume 10 messages, msgId=1", "failed"),
        ("消费失败 msgId=1 是否重试: true", "failed"),
        ("消费成功 msgId=1 是否批量=否", "acked"),
        ("已排除消费失败 msgId=1", ""),
        ("不存在消费失败 msgId=1", ""),
        ("订单不存在，消费失败 msgId=1", "failed"),
        ("数据不存在消费失败 msgId=1", "failed"),
        ("没有库存，消费失败 msgId=1", "failed"),
        ("库存未同步消费失败 msgId=1", "failed"),
        ("无效消息消费失败 msgId=1", "failed"),
        ("未触发消费失败告警 msgId=1", ""),
        ("消费失败告警已关闭 msgId=1", ""),
        ("消费超时报警已解除 msgId=1", ""),
        ("关闭消费失败告警 msgId=1", ""),
        ("消费失败告警测试 msgId=1", ""),
        ("消费失败重试机制已启用 msgId=1", ""),
        ("消费失败告警 msgId=1", "failed"),
        ("消费失败，触发告警 msgId=1", "failed"),
        ("消费失败，重试已开启 msgId=1", "failed"),
        ("消费失败不再重试 msgId=1", "failed"),
        ("no send or consume failed, msgId=1", ""),
        ("none of the messages failed, msgId=1", ""),
        ("not a consume failure, msgId=1", ""),
        ("ruled out a consume failure, msgId=1", ""),
        ("consume failed alert closed, msgId=1", ""),
        ("consume failure alarm was resolved, msgId=1", ""),
        ("disabled consume failed alert, msgId=1", ""),
        ("consume failed alert test, msgId=1", ""),
        ("consume failed alert, msgId=1", "failed"),
        ("consume failed, alert sent, msgId=1", "failed"),
        ("no stock, consume failed, msgId=1", "failed"),
        ("not retryable: consume failed, msgId=1", "failed"),
    ],
)
def test_what_is_asked_or_would_be_or_is_denied_is_no_delivery(text: str, event: str) -> None:
    assert word_of(text) == event


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("09:00:05.123 INFO consume failed msgId=ID, bornTime=2026-10-01 10:00:00", None),
        ("10:00:00 消费失败 msgId=ID，发送时间：2026-10-01 09:00:00", None),
        ("consume failed msgId=ID send_time: 2026-10-01T10:00:00Z", None),
        ("sendTime=1795222800000 consume failed msgId=ID", None),
        ("checkLocalTransaction msgId=ID, sentAt=2026-10-01 10:00:00", None),
        ("2026-10-02 10:00:00 消费失败 msgId=ID，发送时间：2026-10-01 09:00:00", datetime(2026, 10, 2, 10)),
        (
            '{"sendTime":"2026-10-01 10:00:00","event":"consume failed","msgId":"ID","time":"2026-10-02 10:00:00"}',
            datetime(2026, 10, 2, 10),
        ),
        ("消费失败 msgId=ID，失败时间：2026-10-02 10:00:00", datetime(2026, 10, 2, 10)),
        ("send failed msgId=ID, sendTime=2026-10-01 10:00:00", datetime(2026, 10, 1, 10)),
    ],
)
def test_what_happened_to_a_message_did_not_happen_when_it_was_sent(line: str, time: datetime | None) -> None:
    (found,) = deliveries([line.replace("ID", ID)])
    assert found.event and found.time == time


@pytest.mark.parametrize(
    ("line", "is_dead"),
    [
        ("消息进入死信队列 msgId=ID", True),
        ("超过最大重试次数，进入死信队列 msgId=ID", True),
        ("msgId=ID 已投递到死信队列", True),
        ("收到死信消息 msgId=ID", True),
        ("message moved to DLQ msgId=ID", True),
        ("message msgId=ID was moved to the dead-letter queue", True),
        ("reached max reconsume times, send to DLQ msgId=ID", True),
        ('{"msg":"Message sent to dead letter queue","msgId":"ID"}', True),
        ("DLQ message received msgId=ID", True),
        ("未进入死信队列 msgId=ID", False),
        ("将进入死信队列 msgId=ID", False),
        ("如果超过16次会进入死信队列 msgId=ID", False),
        ("是否进入死信队列 msgId=ID", False),
        ("will be sent to DLQ after 16 retries msgId=ID", False),
        ("not moved to DLQ msgId=ID", False),
        ("if it fails it is moved to the DLQ, msgId=ID", False),
        ("consume ok, dlq=false, msgId=ID", False),
    ],
)
def test_a_dead_letter_may_be_of_a_group_that_no_line_names(line: str, is_dead: bool) -> None:
    """In a list of a console the group is in a column; in the log of an application it is nowhere."""
    text = line.replace("ID", ID)
    found = list(deliveries([text]))
    assert [one.is_dead for one in found if one.is_dead] == [True] * is_dead
    if is_dead:
        look = DeliveryLook(whole=True)
        look.take("app.log", 0, text.encode())
        look.end()
        assert [claim.delivery.is_dead for claim in look.told] == [True]
        for lang in ("en", "zh"):
            place = words(lang)("delivery.line", line="1")
            texts = sentences(found, words(lang))
            assert words(lang)("delivery.said.dead_unnamed", places=place) in texts
        assert "stored_topic" not in row_of(found[0])


def test_no_retry_follows_a_dead_letter() -> None:
    failed, dead = f"consume failed msgId={ID}, reconsumeTimes=2", f"message moved to DLQ msgId={ID}"
    for lines, follows in (((failed,), True), ((failed, dead), False)):
        texts = sentences(list(deliveries(lines)), words())
        assert any("retry 3 comes" in text for text in texts) == follows


def test_a_phrase_of_rocketmq_is_denied_too() -> None:
    assert phrase_of("no consume message failed, msgId=1") == ""
    assert phrase_of("consume message failed, no retry, msgId=1") == "failed"


def test_the_beginnings_of_messages_are_those_of_the_pattern() -> None:
    chance = random.Random(3)
    parts = ["[", "Message", "=[", "Ext", " ", "{", "ClientExt", "View", "Impl", "SendResult", "message_id:", "_", "a"]
    for _ in range(20_000):
        text = "".join(chance.choices(parts, k=chance.randrange(1, 9)))
        assert delivery._starts(text) == [match.start() for match in delivery._START.finditer(text)], text


ORIGIN = "0A09000200002A9F00000000000AA001"


def sentences_of(text: str) -> list[str]:
    (some,) = by_message(deliveries(text.split("\n")))
    return sentences(some, words())


def answer_of(topic: str, reconsumed: int, *properties: str) -> str:
    """As mqadmin prints a record."""
    kept = ", ".join((*properties, f"UNIQ_KEY={ID}", "WAIT=false", "REAL_QID=0"))
    lines = (
        f"OffsetID:            {COPY}",
        f"OffsetID:            {COPY}",
        f"Topic:               {topic}",
        "Queue ID:            0",
        f"Reconsume Times:     {reconsumed}",
        f"Properties:          {{{kept}}}",
    )
    return "\n".join(lines)


BACK = ("RETRY_TOPIC=order_paid", f"ORIGIN_MESSAGE_ID={ORIGIN}", "DELAY=6", "REAL_TOPIC=%RETRY%ship")


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_an_answer_with_a_blank_line_between_its_fields_says_the_same(between: str) -> None:
    """Two blogs and an issue have such answers: a dead letter of one was called a retry."""
    found = only(answer_of("%DLQ%ship", 3, *BACK).replace("\n", between))
    assert (found.msg_id, found.offset_id, found.tries) == (ID, COPY, 3)
    assert (found.topic, found.stored_topic, found.group) == ("order_paid", "%DLQ%ship", "ship")


def test_two_answers_with_blank_lines_between_their_fields_are_two() -> None:
    other = ID[:-1] + "A"
    text = answer_of("order_paid", 0) + "\n" + answer_of("invoices", 0).replace(ID, other).replace(COPY, OFFSET)
    found = list(deliveries(text.replace("\n", "\n\n").split("\n")))
    assert [(one.msg_id, one.topic, one.offset_id) for one in found] == [
        (ID, "order_paid", COPY),
        (other, "invoices", OFFSET),
    ]


def test_a_blank_line_ends_an_answer_that_has_none_between_its_fields() -> None:
    text = f"{answer_of('order_paid', 0)}\n\nTopic:    invoices\nReconsume Times:    4"
    assert [(one.topic, one.tries) for one in deliveries(text.split("\n"))] == [("order_paid", 0)]


def test_a_record_that_waits_until_it_is_due_is_no_retry_and_no_message_of_that_topic() -> None:
    found = only(answer_of("SCHEDULE_TOPIC_XXXX", 3, *BACK))
    assert (found.topic, found.stored_topic, found.group) == ("order_paid", "SCHEDULE_TOPIC_XXXX", "ship")
    found = only(answer_of("rmq_sys_wheel_timer", 0, "REAL_TOPIC=order_paid"))
    assert (found.topic, found.stored_topic, found.group) == ("order_paid", "rmq_sys_wheel_timer", None)
    said = sentences_of(answer_of("SCHEDULE_TOPIC_XXXX", 3, *BACK))
    assert any("SCHEDULE_TOPIC_XXXX holds retry 3 of group ship" in one for one in said)
    assert not any("retries are stored" in one for one in said)


@pytest.mark.parametrize(
    ("topic", "properties", "group", "home"),
    [
        ("%RETRY%ship+order_paid", "1ST_POP_TIME=1", "ship", "order_paid"),
        ("%RETRY%ship+order_paid", "TAGS=t", "ship", "order_paid"),
        ("%RETRY%ship_order_paid", "1ST_POP_TIME=1, ORIGIN_TOPIC=order_paid", "ship", "order_paid"),
        ("%RETRY%ship_order_paid", "1ST_POP_TIME=1", None, None),  # group "ship_order" and topic "paid", too
        ("%RETRY%ship_order_paid", "RETRY_TOPIC=order_paid", "ship_order_paid", "order_paid"),
        ("%DLQ%ship_order", "1ST_POP_TIME=1", "ship_order", None),
    ],
)
def test_a_pop_retry_topic_ends_with_the_topic_of_its_message(
    topic: str, properties: str, group: str | None, home: str | None
) -> None:
    kept = f"{properties}, UNIQ_KEY={ID}"
    found = only(f"Receive [MessageExt [reconsumeTimes=1, Message{{topic='{topic}', {{{kept}}}}}]]")
    assert (found.group, found.topic, found.stored_topic) == (group, home, topic)
    assert "?" not in " ".join(sentences_of(f"topic={topic} reconsumeTimes=1 {properties}, UNIQ_KEY={ID} consume"))


@pytest.mark.parametrize(
    "line",
    [
        f"WARN DefaultMessageListenerOrderly : consume message failed. messageId:{ID}, topic:t, reconsumeTimes:2",
        f"consumeMessage Orderly return not OK, Group: ship Msgs: [MessageExt [msgId={ID}, reconsumeTimes=2]]",
        f"return SUSPEND_CURRENT_QUEUE_A_MOMENT msgId={ID}, reconsumeTimes=2",
    ],
)
def test_an_orderly_consumer_waits_for_no_delay_level_and_has_no_dead_letters(line: str) -> None:
    said = " ".join(sentences_of(line))
    assert "an orderly consumer tries again in its place" in said
    assert "DELAY=" not in said and "dead letter" not in said


@pytest.mark.parametrize(
    "line",
    [
        f"MessageViewImpl{{messageId={CLIENT}, topic=T, deliveryAttempt=2, messageGroup=null}}",
        f"Receive [MessageExt [msgId={ID}, reconsumeTimes=1, {{POP_CK={HANDLE}}}]]",
    ],
)
def test_what_was_popped_comes_again_when_its_invisible_time_ends(line: str) -> None:
    said = " ".join(sentences_of(line))
    assert "when its invisible time ends" in said
    assert "DELAY=" not in said


@pytest.mark.parametrize("name", ["rocketmq_MESSAGE_ID", "ROCKET_MQ_MESSAGE_ID"])
def test_a_message_in_an_error_of_spring_failed(name: str) -> None:
    found = only(
        "ERROR 33704 --- [chDestination_1] o.s.i.handler.LoggingHandler : MessageHandlingException: error occurred in "
        f"message handler [x@69a]; nested exception is JSONException, failedMessage=GenericMessage [payload=byte[18], "
        f"headers={{{name}={ID}, ROCKET_MQ_TOPIC=t}}]"
    )
    assert (found.event, found.topic) == ("failed", "t")


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("msgId=1 consume failed; msgId=2 consume success", ["failed", "acked"]),
        ("consume 1 failed, consume 2 success", ["failed", "acked"]),
        ("msgId=1, topic=t, consume failed; msgId=2, topic=t, consume success", ["failed", "acked"]),
        ("消费成功：1，2；消费失败：3", ["acked", "acked", "failed"]),
        ("1 消费失败 2 消费成功", ["failed", "acked"]),
        ("failed to consume 1, 2; received 3, 4", ["failed", "failed", "received", "received"]),
        ("consume failed: 1, 2, 3", ["failed", "failed", "failed"]),
        ("1, 2 消费失败", ["failed", "failed"]),
        ("consume success [1,2], failed [3]", ["acked", "acked", ""]),  # it does not say what failed
        ("msgId: 1 消费失败\nmsgId: 2 消费成功", ["failed", "acked"]),
        ("topic: t, msgId: 1, consume failed\ntopic: t, msgId: 2, consume success", ["failed", "acked"]),
    ],
)
def test_each_of_several_messages_has_the_words_of_its_own_clause(text: str, events: list[str]) -> None:
    text = re.sub(r"\b[1-4]\b", lambda number: ID[:-1] + number[0], text)
    found = list(deliveries(text.split("\n")))
    assert [(one.msg_id[-1], one.event) for one in found] == [(str(n), event) for n, event in enumerate(events, 1)]


def view(msg_id: str, topic: str, tries: int, queue: int, **properties: str) -> dict[str, object]:
    """A message as a dashboard answers it."""
    kept = {"UNIQ_KEY": msg_id, "WAIT": "true", **properties}
    own = {"msgId": msg_id, "topic": topic, "reconsumeTimes": tries, "properties": kept, "messageBody": '{"a": "},{"}'}
    return {"queueId": queue, "bornTimestamp": 1_683_166_930_100, **own}


@pytest.mark.parametrize("escaped", [False, True])
def test_each_message_of_a_list_of_json_has_its_own_fields(escaped: bool) -> None:
    """A dashboard's answer on one line: of three messages one was told, and no dead letter."""
    ids = [ID[:-1] + number for number in "123"]
    answer = {
        "status": 0,
        "data": [
            view(ids[0], "%RETRY%ship", 1, 0, RETRY_TOPIC="order_paid"),
            view(ids[1], "invoices", 0, 3),
            view(ids[2], "%DLQ%ship", 16, 0, RETRY_TOPIC="order_paid"),
        ],
    }
    text = json.dumps(answer)
    found = list(deliveries([json.dumps({"log": text}) if escaped else text]))
    assert [(one.msg_id, one.topic, one.stored_topic, one.tries, one.queue_id) for one in found] == [
        (ids[0], "order_paid", "%RETRY%ship", 1, 0),
        (ids[1], "invoices", None, 0, 3),
        (ids[2], "order_paid", "%DLQ%ship", 16, 0),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("consume msgId=1, topic=x, reconsumeTimes=5; consume msgId=2, topic=y", [("x", 5), ("y", None)]),
        ("consume id=1, topic=x, reconsumeTimes=5; consume id=2, topic=y, reconsumeTimes=0", [("x", 5), ("y", 0)]),
        ("consume topic=x, reconsumeTimes=5 failed: 1, 2", [("x", 5), ("x", 5)]),
        ("consume failed [1, 2] topic=x, reconsumeTimes=5", [("x", 5), ("x", 5)]),
        ("consume topic=x, msgId=1, topic=y, msgId=2", [("x", None), (None, None)]),  # in front of its ID, or behind
        ("消费 1 重试次数：5，2 重试次数：0", [(None, 5), (None, 0)]),
        ('consume [{"msgId": "1", "topic": "x"}, {"topic": "y", "msgId": "2"}]', [("x", None), ("y", None)]),
    ],
)
def test_no_message_has_the_field_of_another(text: str, said: list[tuple[str | None, int | None]]) -> None:
    text = re.sub(r"\b[1-4]\b", lambda number: ID[:-1] + number[0], text)
    found = list(deliveries([text]))
    assert [(one.msg_id[-1], one.topic, one.tries) for one in found] == [
        (str(number), *own) for number, own in enumerate(said, 1)
    ]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        (
            f"INFO SendMessageThread_1 - send msg to DLQ %DLQ%ship, owner=10.1.2.3, originalTopic=order_paid, "
            f"consumerId=10.1.2.3@1, msgUniqKey={ID}, storeTimestamp=1",
            "order_paid",
        ),
        (f'%DLQ%ship,{ID},10.1.2.3,16,"{{""RETRY_TOPIC"":""order_paid"",""UNIQ_KEY"":""{ID}""}}",x', "order_paid"),
        (f"<tr><td>{ID}</td><td>%DLQ%ship</td><td>16</td></tr>", None),
        (f"| {ID} | %DLQ%ship | 16 |", None),
        (f"{ID}\t%DLQ%ship\t16", None),
    ],
)
def test_a_dead_letter_is_one_without_a_name_in_front_of_its_topic(text: str, topic: str | None) -> None:
    """A broker's log, a dashboard's export and the rows of its pages."""
    found = only(text)
    assert (found.msg_id, found.stored_topic, found.group, found.topic) == (ID, "%DLQ%ship", "ship", topic)
    assert short_text(found).startswith("dead letter")


@pytest.mark.parametrize(
    "text",
    [f"no route of the topic %RETRY%ship for {ID}", f'{{"id":"{ID}","subscribed":["order_paid","%RETRY%ship"]}}'],
)
def test_a_topic_that_is_only_named_says_nothing_of_a_message(text: str) -> None:
    assert [one.stored_topic for one in deliveries([text])] == [None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"MessageId: {CLIENT}\nDelivery Attempt: 3\nTopic: t", ("", 2, "t", None)),
        (f"msgId: {ID}\nreconsumeTimes: 3\ntopic: pay", ("", 3, "pay", None)),
        (
            f"【告警】消费失败\n应用：order\n时间：19:30:00\n主题：pay\n消费组：ship\n消息ID：{ID}\n重试次数：3\n异常：NPE",
            ("failed", 3, "pay", "ship"),
        ),
        (
            f"[ALERT] Consume failed\nApp: order\nTopic: pay\nConsumer Group: ship\nMessage ID: {ID}\nRetry times: 3",
            ("failed", 3, "pay", "ship"),
        ),
        (f"告警内容：消息重复，已跳过\n消息编号：{ID}\n主题：pay", ("skipped", None, "pay", None)),
    ],
)
def test_an_alarm_and_a_field_a_line_are_one_record(text: str, said: tuple[object, ...]) -> None:
    """The id ends its line, and no comma or bracket shows that the record goes on."""
    found = only(text)
    assert (found.event, found.tries, found.topic, found.group) == said


@pytest.mark.parametrize(
    "between", ["重启了消费者，现在正常", "at com.demo.Listener.onMessage(Listener.java:22)", f"sent {COPY}"]
)
def test_a_heading_says_nothing_of_what_is_below_other_text(between: str) -> None:
    found = [one for one in deliveries(f"消费失败\n{between}\n消息ID：{ID}\n主题：pay".split("\n")) if one.msg_id == ID]
    assert [(one.event, one.topic) for one in found] == [("", "pay")]


@pytest.mark.parametrize("sign", [" | ", "\t"])
def test_rows_of_the_trace_page_tell_how_an_attempt_ended(sign: str) -> None:
    """Of rocketmq-externals#639, with its spelling."""
    rows = (sign.join((ID, "null", "2020-10-15 15:03:57", "10.0.0.9", "0ms", *one)) for one in _TRACE_ROWS)
    assert [one.event for one in deliveries(rows) if one.event] == ["received", "acked", "failed"]


_TRACE_ROWS = (("Sucess", "Pub"), ("Sucess", "SubBefore"), ("Sucess", "SubAfter"), ("failed", "SubAfter"))


def test_a_record_as_json_that_a_consumer_printed_was_received() -> None:
    fields = {"msgId": ID, "storeTimestamp": 1569065308460, "properties": {"CONSUME_START_TIME": "1569065308466"}}
    assert only(f"msg={json.dumps(fields)}").event == "received"
    fields["properties"] = {}
    assert only(f"msg={json.dumps(fields)}, reconsumeTimes=0, skipped=0").event == ""


def test_the_id_that_a_retry_was_made_from_is_no_message_of_its_own() -> None:
    found = only(f"consume message failed, drop it for reconsumeTimes=17, msgId: {ID}, originMsgId: {ORIGIN}")
    assert (found.msg_id, found.origin, found.tries) == (ID, ORIGIN, 17)


def retry(tries: int, place: str, tail: str) -> str:
    """A retry as a consumer prints it."""
    return (
        f"Receive New Messages: [MessageExt [brokerName=b-1, queueId=0, msgId={place}, reconsumeTimes={tries}, "
        f"toString()=Message{{topic='order_paid', flag=0, properties={{REAL_TOPIC=%RETRY%ship{tail}"
    )


FIRST, SECOND, THIRD = (f"{ORIGIN[:16]}{0xAC000 + step:016X}" for step in (0x100, 0x200, 0x300))
MADE = f", ORIGIN_MESSAGE_ID={ORIGIN}"
WHOLE = f"{MADE}, UNIQ_KEY={ID}, DELAY=3}}, body=2}}]]"


def test_a_copy_that_is_cut_before_its_msg_id_is_of_the_message_whose_record_it_was_made_from() -> None:
    some = by_message(deliveries([retry(1, FIRST, WHOLE), retry(2, SECOND, f"{MADE}, RETRY_TOPIC=order_pa")]))
    assert [[one.tries for one in each] for each in some] == [[1, 2]]
    said = " ".join(sentences(some[0], words()))
    assert "Retry 2 exists because" in said and "retry 2 comes" not in said and "stored in %RETRY%ship;" in said


def test_copies_without_a_msg_id_are_one_message_by_the_record_they_were_made_from() -> None:
    cut = [retry(tries, place, MADE) for tries, place in ((1, FIRST), (2, SECOND), (3, THIRD))]
    assert [[one.tries for one in each] for each in by_message(deliveries(cut))] == [[1, 2, 3]]


def test_a_message_that_was_sent_on_is_another_one_though_it_has_the_origin_of_its_parent() -> None:
    lines = [f"consume failed, msgId={one}, originMsgId={ORIGIN}, reconsumeTimes=1" for one in (ID, f"{ID[:-1]}E")]
    assert len(by_message(deliveries(lines))) == 2


def test_a_topic_that_the_end_of_a_text_cuts_is_no_topic() -> None:
    found = only(retry(1, FIRST, ""))
    assert (found.stored_topic, found.group, found.topic) == (None, None, "order_paid")
    assert only(retry(1, FIRST, WHOLE)).stored_topic == "%RETRY%ship"


def test_a_record_that_is_only_shown_says_that_the_attempts_before_it_failed() -> None:
    line = f"MessageExt [queueId=0, msgId={FIRST}, reconsumeTimes=4, toString()=Message [topic=order_paid, flag=0]]"
    assert only(line).event == ""
    assert sentences_of(line) == ["Retry 4 exists because each attempt before it failed or took too long."]
    dead = line.replace("topic=order_paid", "topic=%DLQ%ship")
    assert not any("exists because" in one for one in sentences_of(dead))


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize(("status", "event"), [("Sucess", "acked"), ("success", "acked"), ("failed", "failed")])
def test_a_trace_of_a_dashboard_tells_how_an_attempt_ended(indent: int | None, status: str, event: str) -> None:
    def row(kind: str, group: str) -> dict[str, object]:
        return {"msgId": ID, "keys": "null", "msgType": kind, "timeStamp": 1, "groupName": group, "status": status}

    text = json.dumps({"status": 0, "data": [row("SubBefore", "ship"), row("SubAfter", "")]}, indent=indent)
    found = list(deliveries(text.split("\n")))
    assert event in {one.event for one in found} <= {"received", event}


def consumed(clock: str, tries: int, said: str, group: str = "") -> str:
    return f"2026-11-20 {clock} WARN x - consume {said} msgId={ID} reconsumeTimes={tries}{group}"


def again_of(*lines: str) -> list[str]:
    return [one for one in sentences_of("\n".join(lines)) if one.startswith("It came again")]


def test_why_a_message_came_again_is_said_with_both_lines_and_the_time_between() -> None:
    first, then = consumed("10:05:34.002", 0, "failed"), consumed("10:05:44.310", 1, "ok")
    said = "It came again because an attempt failed: first attempt (line 1), then retry 1 (line 2), 10.308 s later. "
    assert again_of(first, then) == [said + "The default delay is 10 s."]
    assert again_of(first, consumed("10:05:44.310", 1, "failed"), consumed("10:06:14.400", 2, "ok")) == again_of(
        first, then
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((("10:05:34.002", 0, "failed"), ("10:05:34.002", 0, "ok")), []),  # one attempt on two lines
        ((("10:05:34.002", 0, "failed"), ("10:09:44.310", 2, "ok")), []),  # what was between is not here
        ((("10:05:34.002", 0, "ok"), ("10:05:44.310", 1, "ok")), []),  # nobody says that it failed
        ((("10:05:34.002", 0, "failed", " group=a"), ("10:05:44.310", 1, "ok", " group=b")), []),
        (
            (("10:05:44.310", 1, "ok"), ("10:06:34.002", 0, "failed")),
            ["first attempt (line 2), then retry 1 (line 1)."],
        ),
        ((("10:05:34", 0, "failed"), ("10:05:44+08:00", 1, "ok")), ["first attempt (line 1), then retry 1 (line 2)."]),
        ((("10:05:34", 16, "failed"), ("10:05:44", 17, "ok")), ["retry 16 (line 1), then retry 17 (line 2)."]),
    ],
)
def test_no_other_line_is_taken_for_why_it_came_again(lines: tuple[tuple[str, int, str]], said: list[str]) -> None:
    assert again_of(*(consumed(*line) for line in lines)) == [
        f"It came again because an attempt failed: {one}" for one in said
    ]


AT = "2026-11-20T10:05:04"


@pytest.mark.parametrize(
    ("event", "time", "text"),
    [
        ("received", AT, "consumerGroup=g1 consumeTime=2026-11-20 10:05:04 msgId=ID"),
        ("received", AT, "2026-11-20 10:05:09 INFO consumerGroup=g1 consumed_at=2026-11-20 10:05:04 msgId=ID"),
        ("received", AT, '{"msgId":"ID","bornTime":"2026-11-20 10:05:00","consumeDate":"2026-11-20 10:05:04"}'),
        ("received", AT + "+00:00", '{"msgId":"ID","consumeTimestamp":1795169104000}'),
        ("received", AT, "msgId=ID 消费时间：2026-11-20 10:05:04"),
        ("received", AT, "msgId: ID\nconsumer group: g1\nconsumeTime: 2026-11-20 10:05:04\n"),
        ("acked", AT, '{"msgId":"ID","consumedAt":"2026-11-20 10:05:04","consumeStatus":"SUCCESS"}'),
        ("failed", "2026-11-20T10:05:09", "2026-11-20 10:05:09 consume failed ID consumeTime=2026-11-20 10:05:04"),
        (
            "sent",
            "2026-11-20T10:05:09",
            "2026-11-20 10:05:09 msgId=ID sendStatus=SEND_OK consumeTime=2026-11-20 10:05:04",
        ),
    ],
)
def test_a_field_with_the_time_of_consumption_says_that_a_consumer_had_it(event: str, time: str, text: str) -> None:
    (claim,) = _claims(text.replace("ID", "0A141E28126418B4AAC26531F659001F"))
    assert (claim.event, claim.time and claim.time.isoformat()) == (event, time)


TRACED = "0A141E28126418B4AAC26531F659001F"
CONTEXTS = (
    f"SubBefore\1{1795169104123}\1DefaultRegion\1g1\1AC12\1{TRACED}\0012\1k1\2",
    f"SubAfter\1AC12\1{TRACED}\00112\1true\1k1\0010\1{1795169104140}\1g1\2",
    f"SubAfter\1AC12\1{TRACED}\00112\1false\1k1\0014\1{1795169104140}\1g1\2",
    f"SubAfter\1AC12\1{TRACED}\00112\1true\1k1\2",
    f"Pub\1{1795169104123}\1R\1PG\1T\1{TRACED}\1TagA\1k1\0011.2.3.4:1\0019\0015\0010\1true\2",
)


@pytest.mark.parametrize("separator", ["\1", "^A", "\\u0001", "#001"])
@pytest.mark.parametrize("contexts", [*((one,) for one in CONTEXTS), CONTEXTS[:2], (CONTEXTS[0], CONTEXTS[2])])
def test_a_trace_says_what_its_contexts_say(separator: str, contexts: tuple[str, ...]) -> None:
    event, tries, group = "", None, None
    for one in read_trace("".join(contexts).encode()):
        if isinstance(one, SubBefore):
            event, tries, group = "received", one.retry_times, one.group
        elif isinstance(one, SubAfter):
            event, group = "acked" if one.success else "failed", one.group or group
    claims = _claims("".join(contexts).replace("\1", separator)) or [Delivery(TRACED, 0)]
    (claim,) = claims
    assert (claim.msg_id, claim.event, claim.tries, claim.group) == (TRACED, event, tries, group)


LOG = [
    f"{AT}consume message failed. messageId:{ID}, topic:orders, reconsumeTimes:0",
    f'2025-05-20 15:36:14.001 ERROR stock - 消费成功 "no" waits, messageId:{ID[:-1]}E, topic:orders',
    f"{AT.replace('36:13', '36:23')}consume message failed. messageId:{ID}, topic:orders, reconsumeTimes:1",
]
WRAPPED = {
    "list": json.dumps(LOG),
    "letters": json.dumps(LOG, ensure_ascii=False),
    "loki": json.dumps({"streams": [{"values": [[str(number), text] for number, text in enumerate(LOG)]}]}),
    "objects": json.dumps({"hits": [{"group": f"g{number}", "log": text} for number, text in enumerate(LOG)]}),
    "string": json.dumps({"text": "\n".join(LOG)}),
    "string twice": json.dumps({"log": json.dumps({"text": "\n".join(LOG)})}),
    "python": str(LOG),
    "page": "<p>" + "<br>".join(text.replace('"', "&quot;") for text in LOG) + "</p>",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_each_line_of_a_log_in_one_line_speaks_for_itself(name: str) -> None:
    wanted = [(one.msg_id, one.event, one.tries) for one in deliveries(LOG)]
    assert [event for _, event, _ in wanted] == ["failed", "acked", "failed"]
    told = list(deliveries([WRAPPED[name]]))
    assert [(one.msg_id, one.event, one.tries) for one in told] == wanted
    assert {one.line for one in told} == {1}
    text = DeliveryText()
    text.feed(WRAPPED[name])
    text.close()
    places = [match.start() + 1 for match in re.finditer(ID, WRAPPED[name].replace("&quot;", '"'))]
    found = [text.of(1, ID, place) for place in places]
    assert [one.tries for one in found if one is not None] == [0, 1]


def test_a_text_with_its_id_is_no_log() -> None:
    text = json.dumps({"msgId": ID, "log": f"consume message failed. messageId:{ID}, reconsumeTimes:2", "topic": "t"})
    assert [(one.event, one.tries, one.topic) for one in deliveries([text])] == [("failed", 2, "t")]


@pytest.mark.parametrize(
    "text",
    [
        '[{{"msgId":"{0}","status":"CONSUME_SUCCESS"}},{{"msgId":"{1}","status":"RECONSUME_LATER"}}]',
        "{0} CONSUME_SUCCESS {1} RECONSUME_LATER",
        "CONSUME_SUCCESS: {0}; RECONSUME_LATER: {1}",
        "msgId={0}, result=Action.CommitMessage; msgId={1}, result=ConsumeResult.FAILURE",
    ],
)
def test_two_messages_of_a_line_may_end_in_two_ways(text: str) -> None:
    found = list(deliveries([text.format(ID, ID[:-1] + "E")]))
    assert [(one.msg_id[-1], one.event) for one in found] == [("F", "acked"), ("E", "failed")]


@pytest.mark.parametrize("quote", ['"', '\\"', '\\\\\\"', "&quot;"])
def test_signs_that_escape_quotes_take_no_words_away(quote: str) -> None:
    pairs = ", ".join(f"{quote}{name}{quote}:{quote}1{quote}" for name in "abcdefgh")
    text = f"message has been consumed before! element={{{pairs}}}, msgId : {ID} , so just ack."
    assert [one.event for one in deliveries([text])] == ["skipped"]


def test_a_tag_ends_a_value() -> None:
    (one,) = deliveries([f"<td>{LOG[2]}</td></tr>"])
    assert (one.event, one.tries, one.topic) == ("failed", 1, "orders")


def test_what_a_file_holds_was_not_received() -> None:
    assert [one.event for one in deliveries([f"消费体内容存储在/tmp/bodies/{ID}，小于1KB"])] == [""]


@pytest.mark.parametrize(
    "fields",
    [
        {"Group": "g1", "ConsumeStatus": "CONSUMED", "TrackType": "CONSUMED", "ExceptionDesc": ""},
        {"ConsumeStatus": "CONSUMED", "ConsumerGroup": "g1", "ExceptionDesc": None, "TrackType": "CONSUMED"},
    ],
)
@pytest.mark.parametrize("indent", [None, 4])
def test_tracks_of_a_console_of_a_cloud(fields: dict[str, str | None], indent: int | None) -> None:
    answer = {"Response": {"MsgId": ID, "ProduceTime": "2025-05-20 15:36:13", "MessageTracks": [fields]}}
    found = [one for one in deliveries(json.dumps(answer, indent=indent).splitlines()) if one.event == "track"]
    assert [(one.msg_id, one.group, one.status) for one in found] == [(ID, "g1", "CONSUMED")]


POPPED = [
    "RocketMQ consumer got one:",
    f"  messageId: {ID},",
    "  topic: orders,",
    "  deliveryAttempt: 3,",
]


@pytest.mark.parametrize(
    "front", ["[pod/orders-7d9f/app] ", "orders_1  | ", "orders-12 | ", "logs/app.log:12:", "a.log.1:7:"]
)
def test_what_tools_put_in_front_of_lines_hides_no_record(front: str) -> None:
    (one,) = deliveries([front + text for text in POPPED])
    assert (one.msg_id, one.tries, one.topic) == (ID, 2, "orders")


def _node(request: str, tries: int, status: str, at: int) -> str:
    return (
        f'{{"requestId":"{request}","storeHost":"","clientHost":"10.42.8.5","costTime":12,"beginTimestamp":{at - 12},'
        f'"endTimestamp":{at},"retryTimes":{tries},"status":"{status}"}}'
    )


def test_the_trace_of_a_dashboard_tells_each_attempt_of_each_group() -> None:
    requests, at = ["0A2A0805000918B4AAC23ACFF1180001", "0A2A0805000918B4AAC23AD018280002"], 1_795_831_506_212
    text = (
        f'{{"producerNode":{{"msgId":"{ID}","traceNode":{_node(ID, 0, "success", at)}}},"subscriptionNodeList":['
        f'{{"subscriptionGroup":"bill","consumeNodeList":[{_node(requests[0], 0, "failed", at)},'
        f"{_node(requests[1], 1, 'success', at + 10_000)}]}},"
        f'{{"subscriptionGroup":"mail","consumeNodeList":[{_node(requests[1], 0, "failed", at)}]}}]}}'
    )
    told = [(one.msg_id, one.group, one.event, one.tries) for one in deliveries([text]) if one.event]
    assert told == [(ID, "bill", "failed", 0), (ID, "bill", "acked", 1), (ID, "mail", "failed", 0)]
    assert "Group mail: No line says that it was consumed after that." in sentences_of(text)


@pytest.mark.parametrize(
    ("more", "event"),
    [
        ('"consume_status":0,"success":true', "acked"),
        ('"consume_status":2,"success":true', "failed"),
        ('"success":false', "failed"),
        ('"status":"success"', "acked"),
    ],
)
def test_a_trace_as_cloud_apis_answer_it_tells_how_an_attempt_ended(more: str, event: str) -> None:
    text = f'{{"trace_type":"SubAfter","group_name":"bill","msg_id":"{ID}","retry_times":1,{more}}}'
    (one,) = deliveries([text])
    assert (one.event, one.group, one.tries) == (event, "bill", 1)


def test_each_object_of_a_line_tells_of_its_own_id() -> None:
    rows = [("Pub", "success"), ("SubBefore", "success"), ("SubAfter", "failed")]
    text = ",".join(f'{{"msgId":"{ID}","msgType":"{kind}","status":"{status}"}}' for kind, status in rows)
    said = DeliveryText()
    said.feed(f"[{text}]")
    said.close()
    places = [match.start() + 2 for match in re.finditer(ID, text)]
    found = [one and one.event for one in (said.of(1, ID, place) for place in places)]
    assert found == ["", "received", "failed"]


OF_GROUPS = [
    f"2026-11-28 10:05:07.500 WARN [ConsumeMessageThread_bill_1] consume message failed. msgId:{ID}, reconsumeTimes:0",
    f"2026-11-28 10:05:07.510 INFO [ConsumeMessageThread_mail_1] consume success msgId={ID}",
]


def test_what_one_group_consumed_another_may_not_have() -> None:
    said = sentences_of("\n".join(OF_GROUPS))
    assert "Group bill: No line says that it was consumed after that." in said
    assert "Acknowledged by mail (line 2)." in said
    nameless = sentences_of("\n".join([OF_GROUPS[0], f"consume success msgId={ID}"]))
    assert [one for one in nameless if "No line says" in one or "Group" in one] == []


def test_each_group_has_its_own_attempts() -> None:
    said = sentences_of("\n".join([OF_GROUPS[0], OF_GROUPS[0].replace("bill", "mail")]))
    assert [one for one in said if "say that a consumer failed" in one] == []
    for group in ("bill", "mail"):
        assert f"Group {group}: 1 line says that a consumer failed: first attempt." in said


def test_a_dead_letter_has_no_next_attempt() -> None:
    lines = [OF_GROUPS[1], f"WARN [ConsumeMessageThread_bill_1] consume msgId={ID} sent to DLQ, reconsumeTimes=16"]
    said = " ".join(sentences_of("\n".join(lines)))
    assert "It is a dead letter (line 2)" in said
    assert "If that attempt failed" not in said and "no line says" not in said


def test_groups_that_each_receive_a_message_do_not_receive_it_twice() -> None:
    lines = [f"10:05:07 INFO [ConsumeMessageThread_{group}_1] receive msgId={ID}" for group in ("bill", "mail")]
    assert [one for one in sentences_of("\n".join(lines)) if "of one kind" in one] == []
    assert [one for one in sentences_of("\n".join([lines[0], *lines])) if "of one kind" in one] == [
        "2 lines of one kind say that it was received: line 1, line 2."
    ]


def test_a_trace_whose_separators_are_shown_is_read() -> None:
    parts = ["SubAfter", "0A08080500091234ABCD8D35B1180001", ID, "12", "false", "ORD1", "4", "1795831506212", "bill"]
    (one,) = [one for one in deliveries(["10.42.7.31^B" + "^A".join(parts) + "^B"]) if one.msg_id == ID]
    assert (one.event, one.group) == ("failed", "bill")


def test_a_group_whose_name_ends_in_a_number_is_no_service() -> None:
    table = [f"msgId={ID}", "consumerGroup | trackType", "order_1 | NOT_ONLINE", "order_2  | CONSUMED |"]
    found = [(one.group, one.status) for one in deliveries(table) if one.event == "track"]
    assert found == [("order_1", "NOT_ONLINE"), ("order_2", "CONSUMED")]


@pytest.mark.parametrize("quote", ['"', '""', '\\"', '\\\\\\"'])
def test_a_receipt_is_read_however_its_quotes_are_escaped(quote: str) -> None:
    text = (
        'ackMessage request: group:{name:"g1"} topic:{name:"orders"} '
        f'entries:{{message_id:"{CLIENT}" receipt_handle:"{HANDLE}"}}, response: status:{{code:OK}}'
    ).replace('"', quote)
    (one,) = deliveries([text])
    assert (one.event, one.group, one.topic, one.broker) == ("acked", "g1", "orders", "broker-b")


@pytest.mark.parametrize(
    ("text", "event"),
    [
        (f"{ID}\tTagA\torder-1\t2025-05-20 15:36:13\t详情消息轨迹下载消费验证", ""),
        (f"msgId={ID} 消费状态：未消费", ""),
        (f"msgId={ID} 消费状态：消费失败", "failed"),
        (f"msgId={ID} 消费状态 失败", "failed"),
        (f"msgId={ID} 消费结果：成功", "acked"),
        (f"msgId={ID} 消费次数：3", ""),
        (f"开始消费 msgId={ID}", "received"),
    ],
)
def test_what_a_console_has_for_buttons_and_columns_is_no_delivery(text: str, event: str) -> None:
    assert [one.event for one in deliveries([text])] == [event]


def test_a_card_of_a_console_is_one_record() -> None:
    lines = [
        f"消息ID：{ID}",
        "消费状态：消费失败",
        "投递次数：3",
        "投递时间：2025-05-20 15:37:13",
        "消费组 ID：GID_order",
    ]
    (one,) = deliveries(lines)
    assert (one.event, one.tries, one.group, one.stored_topic) == ("failed", 2, "GID_order", None)
    (one,) = deliveries([lines[0], "消费状态：已进入死信队列", "投递次数：17", lines[4]])
    assert (one.is_dead, one.tries, one.group, one.stored_topic) == (True, 16, "GID_order", "%DLQ%GID_order")
    (one,) = deliveries([lines[0], "消费状态：重试 16 次后进入死信队列", "最大投递次数：16", lines[4]])
    assert (one.is_dead, one.tries) == (False, None)


@pytest.mark.parametrize("front", ["", "['"])
@pytest.mark.parametrize("end", ["", "\\"])
def test_a_string_without_its_end_is_read_once(front: str, end: str) -> None:
    """Not once more from each of its escaped quotes: that took 16 s."""
    text = f'{front}consume failed: {ID} {ID[:-1]}E "' + '\\"' * 32_000 + end
    assert [one.event for one in deliveries([text[:65_000] + end])] == ["failed", "failed"]


# ---- what all messages of a line share is looked through once


@pytest.mark.parametrize("front", ["", "MessageExt [", "[{"])
@pytest.mark.parametrize(
    ("module", "name", "method", "mark"),
    [
        (delivery_words, "_GIVEN_UP", "search", "checkLocalTransaction "),
        (delivery_words, "_CARRIED", "search", "half message "),
        (delivery_words, "_CHECKED", "search", "transactionId="),
        (delivery, "_CONTEXT", "finditer", "SubBefore "),
        (delivery, "_CONTEXT", "finditer", "SubAfter "),
        (delivery, "_RECEIPT", "search", "receiptHandle="),
        (delivery, "_CODE", "search", "ackMessage response "),
    ],
)
def test_a_line_of_many_messages_is_not_looked_through_for_each(
    module: ModuleType, name: str, method: str, mark: str, front: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, find = list[int](), getattr(getattr(module, name), method)

    def counted(text: str, *span: int) -> object:
        begin, end = span if len(span) > 1 else (sum(span), len(text))
        looked.append(end - begin)
        return find(text, *span)

    monkeypatch.setattr(module, name, SimpleNamespace(**{method: counted}))
    line = front + "".join(f"{ID[:-4]}{number:04X} {mark}" for number in range(300))
    assert len(list(deliveries([line]))) >= 1
    assert 0 < sum(looked) < 12 * len(line)


@pytest.mark.parametrize("long", ["", "x" * 500])
@pytest.mark.parametrize("end", ["", "UNKNOW", "COMMIT", "COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "commitOrRollback=8"])
@pytest.mark.parametrize("begin", ["", "checkLocalTransaction ", "LocalTransactionState is ", "half message "])
@pytest.mark.parametrize("between", ["", " " * 150, " " * 250])
def test_what_is_said_across_the_head_of_a_line_is_heard(begin: str, between: str, end: str, long: str) -> None:
    line = long + " " + begin + between + end
    whole = transaction_of(line)
    assert {transaction_of(line[at:], line[:at]) for at in range(0, len(line) + 1, 37)} == {whole}


@pytest.mark.parametrize(
    ("said", "event"),
    [
        ("consumer g1 send msgId={} success=true", None),
        ("consumer g1 send success msgId={}", None),
        ("consumer g1 forwarded to audit ok msgId={}", None),
        ("consumer send reply success msgId={}", None),
        ("consumer g1 forward failed, msgId={}", None),
        ("consumer g1 publish to other topic error msgId={}", None),
        ("consumer g1 success msgId={}", "acked"),
        ("consumed ok then sent msgId={}", "acked"),
        ("consumer g1 failed msgId={}", "failed"),
        ("consumer g1 failed to consume what producer p sent msgId={}", "failed"),
    ],
)
def test_what_a_consumer_sends_is_no_consumption(said: str, event: str | None) -> None:
    found = deliveries([said.format(ID)])
    assert [one.event for one in found if one.event in ("acked", "failed")] == ([event] if event else [])
