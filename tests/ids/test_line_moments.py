"""Times of lines in the styles that people paste: each dates its ID, and equals a slow reading of the same line."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from numpy.typing import NDArray

from idcore.ids import line_moments
from idcore.ids.find import find
from idcore.ids.line_moments import (
    LONGEST,
    Moment,
    NamedDay,
    elapsed_of,
    line_time,
    moment_of,
    moments_of,
    named_day,
    prefix_time,
)
from idcore.ids.line_time import latest_year
from idcore.kernels.dates import may_be_due, may_be_held, may_be_of_body, may_have_time
from tests.scan.dates import opening_in
from tests.scan.other_dates import COMING, COMING_NAMES, day_of, other_of

pytestmark = pytest.mark.quick
# Sent 2025-02-11 20:57:47.471 at +08:00: elapsed is 10 d 20:57:47.471 from 1 February 00:00 there.
SENT = datetime(2025, 2, 11, 20, 57, 47, 471_000, timezone(timedelta(hours=8)))
ELAPSED = round((SENT - datetime(2025, 2, 1, tzinfo=SENT.tzinfo)).total_seconds() * 1_000)
ID = f"0A2C0311378C18B4AAC2{ELAPSED:08X}0384"
EPOCH_MS = round(SENT.timestamp() * 1_000)
# Lines as they were seen in public reports (names and numbers replaced), and what is known of the zone.
WALL, INSTANT = "wall", "instant"
STYLES = {
    "C++ client's own log": (f"[2025-Feb-11 20:57:47.480123](info):=====Receive Messages, MsgId[{ID}]", WALL),
    "Kibana CSV": (f'"Feb 11, 2025 @ 20:57:47.480",order-service,"sent msgId={ID}"', WALL),
    "Tomcat": (f"11-Feb-2025 20:57:47.480 INFO [main] com.acme.Order sent msgId={ID}", WALL),
    "java.util.logging": (f"Feb 11, 2025 8:57:47 PM com.acme.Order send INFO: msgId={ID}", WALL),
    "Log4j 2 instant": (f'{{"instant":{{"epochSecond":{EPOCH_MS // 1000},"nanoOfSecond":1}},"m":"{ID}"}}', INSTANT),
    "Log4j 2 timeMillis": (f'{{"thread":"main","timeMillis":{EPOCH_MS},"message":"sent {ID}"}}', INSTANT),
    "zap": (f'{{"level":"info","ts":{EPOCH_MS / 1000:.6f},"msg":"sent","msgId":"{ID}"}}', INSTANT),
    "Loki": (f'{{"values":[["{EPOCH_MS}000000","sent msgId={ID}"]]}}', INSTANT),
    "SLS": (f'{{"__time__":"{EPOCH_MS // 1000}","__source__":"10.44.3.17","content":"msgId={ID}"}}', INSTANT),
    "SLS raw": (f"__time__:{EPOCH_MS // 1000} content:sent msgId={ID}", INSTANT),
    "access log": (f'10.44.3.2 - - [11/Feb/2025:20:57:47 +0800] "GET /viewMessage?msgId={ID} HTTP/1.1" 200', INSTANT),
    "journald JSON": (f'{{"__REALTIME_TIMESTAMP":"{EPOCH_MS}000","MESSAGE":"sent {ID}"}}', INSTANT),
    "ISO basic": (f"20250211T205747 sent {ID}", WALL),
    "compact date": (f"20250211 20:57:47 sent {ID}", WALL),
    "compact with milliseconds": (f"20250211205747471 sent {ID}", WALL),
    "day first": (f"11/02/2025 20:57:47 sent {ID}", WALL),
    "month first": (f"2/11/2025 8:57:47 PM sent {ID}", WALL),
    "Excel": (f"2025/2/11 20:57,{ID}", WALL),
    "slashes without zeros": (f"2025/2/11 20:57:47 sent {ID}", WALL),
    "dots": (f"2025.02.11 20:57:47 sent {ID}", WALL),
    "Chinese": (f"2025年02月11日 20:57:47 发送成功 {ID}", WALL),
    "Chinese without zeros": (f"2025年2月11日20:57:47 {ID}", WALL),
    "PHP": (f"[11-Feb-2025 20:57:47 Asia/Shanghai] sent {ID}", INSTANT),
    "PHP in UTC": (f"[11-Feb-2025 12:57:47 UTC] sent {ID}", INSTANT),
    "epoch first": (f"{EPOCH_MS} sent {ID}", INSTANT),
    "mail": (f"Tue, 11 Feb 2025 20:57:47 +0800 sent {ID}", INSTANT),
    "asctime": (f"Tue Feb 11 20:57:47 2025 sent {ID}", WALL),
    "Date.toString": (f"Tue Feb 11 20:57:47 CST 2025 sent {ID}", WALL),
    "German, shortened": (f"11. Febr. 2025 20:57:47 gesendet {ID}", WALL),
    "French": (f"11 févr. 2025 à 20:57:47 envoyé {ID}", WALL),
    "Portuguese": (f"11 de fevereiro de 2025 20:57:47 enviado {ID}", WALL),
    "Dutch": (f"dinsdag 11 februari 2025 20:57:47 {ID}", WALL),
    "Polish": (f"11 lutego 2025 20:57:47 {ID}", WALL),
    "Russian": (f"11 февр. 2025 г., 20:57:47 отправлено {ID}", WALL),
    "Spark": (f"25/02/11 20:57:47 INFO Sender: {ID}", WALL),
    "JavaScript": (f"Tue Feb 11 2025 20:57:47 GMT+0800 (China Standard Time) sent {ID}", INSTANT),
    "Date.toString with an offset": (f"Tue Feb 11 20:57:47 GMT+08:00 2025 sent {ID}", INSTANT),
    "RFC 850": (f"Tuesday, 11-Feb-25 12:57:47 GMT sent {ID}", INSTANT),
    "glog": (f"I20250211 20:57:47.480123 12 main.cc:44] sent {ID}", WALL),
    "two digits of a year": (f"25-02-11 20:57:47.480 INFO {ID}", WALL),
    "Excel with a short year": (f"2/11/25 20:57,{ID}", WALL),
    "Oracle": (f"11-FEB-25 08.57.47.480000 PM  sent {ID}", WALL),
    "Oracle with a zone": (f'"11-FEB-25 12.57.47.480000 PM +00:00","{ID}"', INSTANT),
    "full-width colons": (f"2025年2月11日 20：57：47 消息ID：{ID}", WALL),
    "a time of something else in front": (
        f'{{"createTime":"2024-01-01 10:00:00","msgId":"{ID}","@timestamp":"2025-02-11T12:57:47.480Z"}}',
        INSTANT,
    ),
    "a time of the body in front": (f"body={{t=2024-11-11 11:11:11}} 2025-02-11 20:57:47.480 sent {ID}", WALL),
    "a time of something else behind": (f"2025-02-11 20:57:47,480 sent {ID} due 2025-03-11 20:57:47", WALL),
    "Chinese afternoon": (f"2025年2月11日 下午08:57:47 发送成功 {ID}", WALL),
    "Chinese afternoon with a weekday": (f"2025年2月11日 星期二 下午8:57:47 {ID}", WALL),
    "Chinese, every unit": (f"2025年2月11日 20时57分47秒 {ID}", WALL),
    "Japanese": (f"2025年2月11日(火) 20時57分47秒 {ID}", WALL),
    "Korean": (f"2025년 2월 11일 20:57:47 {ID}", WALL),
    "Korean afternoon": (f"2025. 2. 11. 오후 8:57:47 {ID}", WALL),
    "Chinese in GBK": (f"2025年02月11日 20:57:47 {ID}".encode("gbk").decode(errors="replace"), WALL),
    "HTML cells": (f"<tr><td>2025-02-11</td><td>20:57:47</td><td>{ID}</td></tr>", WALL),
    "CSV cells": (f'"2025-02-11","20:57:47","{ID}"', WALL),
    "tabs": (f"2025-02-11\t20:57:47\t{ID}", WALL),
    "behind 160 bytes": (f'{{"pad":"{"x" * 200}","id":"{ID}","@timestamp":"2025-02-11T12:57:47.471Z"}}', INSTANT),
    "in a link": (f"GET /query.do?begin=2025-02-11%2020%3A57%3A47&msgId={ID}", WALL),
    "in a link in a link": (f"/login?to=q%3Fbegin%3D2025%252F02%252F11%252020%253a57%253a47%26id%3D{ID}", WALL),
    "epoch in a link in a link": (f"/login?to=q%3Fts%3D{EPOCH_MS}%26id%3D{ID}", INSTANT),
    "epoch in a link in that": (f"/login?to=q%253Fts%253D{EPOCH_MS // 1000}%2526id%253D{ID}", INSTANT),
    "in a form": (f"begin=2025-02-11+20%3A57%3A47&msgId={ID}", WALL),
    "in a link with a zone": (f"/q?begin=2025-02-11T20%3A57%3A47%2B08%3A00&msgId={ID}", INSTANT),
    "JSON of PHP": (f'{{"time":"2025\\/02\\/11 20:57:47","msgId":"{ID}"}}', WALL),
    "full-width digits": (f"２０２５－０２－１１　２０：５７：４７ 消息 {ID}", WALL),
    "full-width in Chinese": (f"２０２５年２月１１日 下午８：５７ {ID}", WALL),
    "dots for colons": (f"2025-02-11T20.57.47 sent {ID}", WALL),
    "DB2": (f"2025-02-11-20.57.47.480000 {ID}", WALL),
    "name of a file": (f"orders_2025-02-11_20-57-47.log: {ID}", WALL),
    "short name of a file": (f"orders-20250211-205747.log: {ID}", WALL),
    "24-hour form and PM": (f"2025-02-11 08:57:47.480 PM INFO msgId={ID}", WALL),
    "24-hour form, PM and a zone": (f"2025-02-11 08:57:47 p.m. +0800 msgId={ID}", INSTANT),
    "Java's hh:mm:ss a in Chinese": (f"2025-02-11 08:57:47 下午 发送成功 {ID}", WALL),
    "PM behind all hours": (f"2025-02-11 20:57:47 PM msgId={ID}", WALL),
    "PM in front": (f"2025-02-11 PM 08:57:47 msgId={ID}", WALL),
    "a browser's narrow blank": (f"2/11/2025, 8:57:47\u202fPM {ID}", WALL),
    "Spanish": (f"11/02/2025, 8:57:47 p.\u00a0m. {ID}", WALL),
    "mail of a browser": (f"On Tue, Feb 11, 2025 at 8:57 PM Li Wei wrote: {ID}", WALL),
    "Slack": (f"Tuesday, February 11th, 2025 at 8:57:47 PM {ID}", WALL),
    "month, day and year in one": (f"Feb-11-2025 20:57:47 sent {ID}", WALL),
    "MySQL": (f"250211 20:57:47 sent {ID}", WALL),
    "bornTimestamp in seconds": (f"sent {ID} bornTimestamp={EPOCH_MS // 1000}", INSTANT),
    "fields of a date and a time": (f'{{"date":"2025-02-11","time":"20:57:47.471","id":"{ID}"}}', WALL),
    "fields of logfmt": (f"date=2025-02-11 time=20:57:47 devname=FW msgId={ID}", WALL),
    "German": (f"11. Februar 2025 20:57 Uhr, {ID}", WALL),
    "time first": (f"20:57:47 2025-02-11 sent {ID}", WALL),
    "time first, day first": (f"20:57:47.471 11/02/2025 sent {ID}", WALL),
    "time of a post": (f"8:57 PM · Feb 11, 2025 sent {ID}", WALL),
    "time on a day": (f"20:57 on 11 February 2025 sent {ID}", WALL),
    "Born Timestamp of a dashboard": (f"{'x' * 200} {ID} Born Timestamp: 2025-02-11 20:57:47,471", WALL),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_line_of_every_usual_style_has_its_time(style: str) -> None:
    line, kind = STYLES[style]
    (token,) = find(line)
    assert token.prefix_time is not None, "nothing dates it"
    assert (token.prefix_time.tzinfo is not None) == (kind == INSTANT)
    aware = token.prefix_time if kind == INSTANT else token.prefix_time.replace(tzinfo=SENT.tzinfo)
    assert timedelta(seconds=-60) < aware - SENT < timedelta(seconds=1)


def test_what_an_id_does_not_prove_dates_it_only_where_its_order_is_known() -> None:
    later = ID[:20] + f"{ELAPSED - 2_231_000:08X}0384"  # the line was written 37 minutes after its message
    known = {name for name, (line, _) in STYLES.items() if moment_of(line.replace(ID, later)) is not None}
    assert STYLES.keys() - known == {
        "day first",
        "month first",
        "Spark",
        "Loki",
        "RFC 850",
        "two digits of a year",
        "Excel with a short year",
        "Oracle",
        "Oracle with a zone",
        "a browser's narrow blank",
        "Spanish",
        "MySQL",
        "time first, day first",
        "bornTimestamp in seconds",
    }


@pytest.mark.parametrize("front", ["KEYS=", "orderNo:", "key: [", "单号", '"id":', "", "订单 "])
def test_a_number_that_begins_like_a_date_dates_nothing_that_its_id_does_not_prove(front: str) -> None:
    """It is that of an order: `20250211000017` as a time would put the ID a month back."""
    line = f"{front}20250211000017,{ID},sent"
    assert moment_of(line) is None and other_of(line) is None
    proved = moment_of(line.replace("20250211000017", "20250211205747"))
    assert proved is not None and proved.is_proved_by(ELAPSED)
    assert moment_of(f"time=20250211000017 {ID}") is not None and moment_of(f"[20250211000017] {ID}") is not None


@pytest.mark.parametrize(
    "line",
    [
        f"Feb 11 20:57:47 host app: sent {ID}",  # syslog has no year
        f'{{"deliverTime":"2025-02-11 20:57:47","id":"{ID}"}}',  # a time to come, even one that the ID proves
        f'{{"id":"{ID}","__STARTDELIVERTIME":"{EPOCH_MS}"}}',
        f"TIMER_DELIVER_MS={EPOCH_MS}, UNIQ_KEY={ID}",
        f"延迟到：2025年02月11日 20:57:47 消息ID：{ID}",
        f'{{"expire_time":{EPOCH_MS // 1000},"id":"{ID}"}}',
        f"order 1739999999 of account 6222021001116245702 for {ID}",  # numbers that are no time of this ID
        f"version 1.2.3 at 10.0.0.1:10911 {ID}",
        f"31/31/2025 20:57:47 {ID}",
        f"12 liste 2025 10:11:12 {ID}",  # words that begin as months of other languages do
        f"11 mail 2025 20:57:47 {ID}",
        f"outage 11, 2025 20:57:47 {ID}",
        f"2025-02-30T25:61:61 {ID}",
        f"{'x' * LONGEST} 2025年2月11日20:57:47 {ID}",
        "",
    ],
)
def test_what_is_no_time_dates_nothing(line: str) -> None:
    assert moment_of(line) is None


@pytest.mark.parametrize(
    "name",
    [
        "OrderDeliveryService: ",
        "schedule-pool-1: ",
        "com.acme.Delivery: ",
        "deliveredTime=",  # past
        "expiredAt=",
        "overdue_time=",
        "residueTime=",
        "延迟消息发送完成：",
        "预发环境: ",
        "定时任务：",
        "预定成功：",
        "消息已过期：",
        "deliverTime 3 at: ",
    ],
)
def test_a_name_that_only_has_such_a_word_takes_no_time_from_its_line(name: str) -> None:
    line = f"{name}2025-02-11 20:57:47.471 INFO msgId={ID}"
    assert line_time(line) == datetime(2025, 2, 11, 20, 57, 47, 471_000) and is_let_through(line)
    found = moment_of(f"{name}{EPOCH_MS} {ID}")
    assert found is not None and other_of(line) == tuple(next(moments_of(line)))[:4]


@pytest.mark.parametrize(
    "name",
    [
        "deliverTime=",
        '"nextVisibleTime": "',
        "__STARTDELIVERTIME=",
        "deliverytimestamp=",
        "expires_at: '",
        "Delivery Time: ",
        "delayUntil=",
        "due: ",
        '"expiration":"',
        "TIMER_DELIVER_MS=",
        "预计送达：",
        "预定发送时间：",
        "定时发送时间=",
        "消息延时至：",
    ],
)
def test_a_name_of_a_time_to_come_dates_nothing(name: str) -> None:
    for time in ("2025-02-11 20:57:47.471", str(EPOCH_MS)):
        line = f"{name}{time} msgId={ID}"
        assert is_kept_back(name) and prefix_time(line) is None and moment_of(line) is None and other_of(line) is None


OF_BODY = [
    'createTime":"',
    "createTime=",
    "orderTime: ",
    'birthday":"',
    '\\"gmtCreate\\":\\"',
    'created":"',
    "Start time: ",
    "Order date: ",
    "下单时间：",
    "出生日期: ",
    "order.pay_time=",
    'validFrom": "',
    "<createTime>",
    '"createTime":{"$date":"',
    "created at ",
    'times":["',
    "order-time=",
    "订单time=",
    "hireDate=",
    "createTime=Thu, ",
    'order":{"id":3,"time":"',
    "body=Order{id=3, time=",
    "body=Order(id=3, t=",
    "data=[3,paid,",
    'messageBody":"{\\"time\\":\\"',
]


@pytest.mark.parametrize("name", OF_BODY)
def test_a_time_of_what_a_message_is_about_dates_only_an_id_that_proves_it(name: str) -> None:
    end = name[-2:] if name.endswith('\\"') else '"' if name.endswith('"') else ""
    end += "".join({"{": "}", "[": "]", "(": ")"}.get(sign, "") for sign in reversed(name))
    for time in (
        "2021-03-04 05:06:07",
        "2021-03-04T05:06:07.123+08:00",
        "20210304050607",
        "2021/3/4 05:06",
        "1614805567",
    ):
        for line in (f"{{{name}{time}{end}, msgId={ID}", f"msgId={ID} {{ {name}{time}{end}}}"):
            if not time.isdigit() or "Thu" not in name:
                assert line_time(line) is None and line_time(line) == (other_of(line) and other_of(line)[0]), line  # type: ignore[index]
            assert opening_in(line.encode()) is None
    proved = f"{name}2025-02-11 20:57:47{end}, msgId={ID}"
    assert line_time(proved) == datetime(2025, 2, 11, 20, 57, 47) and other_of(proved) is not None
    own = f'{{{name}2021-03-04 05:06:07{end},"@timestamp":"2025-02-12 01:02:03"}} msgId={ID}'
    assert line_time(own) == datetime(2025, 2, 12, 1, 2, 3) and other_of(own) is not None
    assert is_taken_for_body(name)


def test_the_end_of_a_period_dates_no_more_than_its_begin() -> None:
    for sign in (" - ", "~", '","', " to ", "至"):
        line = f'{{"period":"2021-01-01 00:00:00{sign}2021-12-31 23:59:59"}} msgId={ID}'
        assert line_time(line) is None and other_of(line) is None, sign


@pytest.mark.parametrize(
    "name",
    [
        "time=",
        '"@timestamp":"',
        "ts=",
        "app.log:",
        "app.log:12:",
        "INFO ",
        "order-service: ",
        '{"log":"',
        '{"message": "',
        "告警时间：",
        "时间: ",
        "sent at ",
        "INFO [",
        "Date: ",
        "bornTime=",
        "log.time=",
        "Alarm time: ",
        "kafka | ",
        "预发环境: ",
        "level=info time=",
        '{"event_time":"',
        "",
    ],
)
def test_a_time_of_the_line_or_of_its_message_dates_it(name: str) -> None:
    line = f"{name}2025-02-13 20:57:47.471 INFO msgId={ID}"
    assert prefix_time(line) == datetime(2025, 2, 13, 20, 57, 47, 471_000) and opening_in(line.encode()) is not None


DAYS = {
    "syslog": f"<134>Feb 11 20:57:47 host app[12]: sent {ID}",
    "syslog with a weekday": f"Tue Feb 11 20:57:47 host app: sent {ID}",
    "klog": f"I0211 20:57:47.480123   12 main.go:44] sent {ID}",
    "day first": f"11/02 20:57 sent {ID}",
    "Android": f"02-11 20:57:47.480  1203  1203 D Mq: sent {ID}",
    "dots": f"11.02. 20:57:47 sent {ID}",
    "Chinese": f"2月11日 20:57:47 发送成功 {ID}",
    "Chinese afternoon": f"02/11 下午8:57:47 {ID}",
    "ls": f"11 Feb 20:57 {ID}.log",
    "AM and PM": f"Feb 11 08:57:47 PM sent {ID}",
    "Slack": f"Feb 11th at 8:57 PM {ID}",
    "Teams": f"[2/11 8:57 PM] Li Wei: {ID}",
    "DingTalk": f"李伟(2月11日 下午8:57) {ID}",
}


@pytest.mark.parametrize("other", ["at 2025-02-04 10:31:12", "ts=1738633872", "on 4 Feb 2025 10:31:12"])
def test_a_day_that_the_id_proves_comes_before_a_date_that_it_does_not(other: str) -> None:
    line = f"Feb 11 20:57:47 host app: {other} msgId={ID}"
    assert line_time(line) is None
    assert str(named_day(line)) == "2000-02-11 20:57:47"
    assert line_time(line.replace("Feb 11", "Feb 12")) is not None


@pytest.mark.parametrize("style", DAYS)
def test_a_time_without_a_year_is_one_that_the_id_proves(style: str) -> None:
    line = DAYS[style]
    (token,) = find(line)
    assert token.prefix_time is None and token.named_day is not None
    sent = NamedDay(2000, 2, 11, 20, 57, 47, 471_000)
    assert timedelta(seconds=-60) < token.named_day - sent < timedelta(seconds=1)
    assert is_let_through(line) and day_of(line, elapsed_of(line)) == token.named_day
    (later,) = find(line.replace(ID, ID[:20] + f"{ELAPSED + 86_400_000:08X}0384"))
    assert later.named_day is None, "of another day"


@pytest.mark.parametrize(
    ("now", "year"),
    [("2025-11-26", 2025), ("2025-02-11T06:58", 2025), ("2025-02-11T06:00", 2024), ("2010-01-01", None)],
)
def test_its_year_is_the_latest_in_which_it_was(now: str, year: int | None) -> None:
    at = round(datetime.fromisoformat(now).replace(tzinfo=UTC).timestamp() * 1_000)
    found = latest_year(NamedDay(2000, 2, 11, 20, 57, 47), at, UTC)  # 14 hours ahead of UTC is a zone
    assert (None if found is None else found.year) == year
    leap = latest_year(NamedDay(2000, 2, 29, 12), at, UTC)
    assert leap is None or (leap.year, leap.month, leap.day) == (2024, 2, 29)


def test_of_two_orders_the_id_chooses() -> None:
    january = datetime(2025, 11, 2, 20, 57, 47, tzinfo=UTC)
    elapsed = round((january - datetime(2025, 11, 1, tzinfo=UTC)).total_seconds() * 1_000)
    for one, month in ((ID, 2), (ID[:20] + f"{elapsed:08X}0384", 11)):
        found = moment_of(f"11/02/2025 20:57:47 sent {one}")
        assert found is not None and found.time.month == month
    assert moment_of("11/02/2025 20:57:47 sent nothing") is None


DATES = [
    "11. Febr. 2025",
    "11 de fevereiro de 2025",
    "11 февр. 2025 г.",
    "11 février 2025 à",
    "2025-02-11",
    "2025/2/11",
    "20250211",
    "11-Feb-2025",
    "Feb 11, 2025",
    "Feb 11",
    "11/02/2025",
    "2/11/2025",
    "25/02/11",
    "2025.02.11",
    "2025年2月11日",
    "2025-Feb-11",
    "31/12/2024",
    "25-02-11",
    "11.02.25",
    "02/11/25",
    "11-12-12",
    "2/11",
    "I0211",
    "11Feb",
    "11.2.",
    "2月11日",
    "deliverTime=2025-02-11",
    "OrderDelivery: 2025-02-11",
    "投递时间：",
    "11-Feb-25",
    "I20250211",
    "2025년 2월 11일",
    "2025. 2. 11.",
    "2025\ufffd\ufffd02\ufffd\ufffd11\ufffd\ufffd ",
    "2025年 2月 11日 星期二",
    "2025年2月11日(火)",
    "<td>2025-02-11</td>",
    '"2025-02-11",',
    "2025-02-11-",
    "2025-02-11_",
    "2025%2F02%2f11%20",
    "2025\\/02\\/11 ",
    "２０２５年２月１１日",
    "Feb 11th, 2025 at ",
    "2025-02-11+",
    "date=2025-02-11 time=",
    '"2025-02-11","time":"',
    "250211 ",
    "Feb-11-2025",
    "Feb/11/2025",
    "11. Februar 2025 ",
    "12 liste 2025",
    "11 set 2025 ",
    "11 settembre 2025",
    "2025 mai 11",
]
TIMES = [
    "20:57:47",
    "20:57:47.471",
    "8:57:47 PM",
    "下午8:57:47",
    "오전 8:57",
    "下午20:57:47",
    "午後8時57分",
    "20时57分47秒",
    "20시 57분",
    "<td>20:57:47</td>",
    "20:57:47 GMT+0800",
    "20:57:47 UTC-3 2025",
    "20:57",
    "20:57:47,480 ",
    "99:99:99",
    "T205747",
    "20250211205747",
    "2025-13-40 ",
    "20%3A57%3a47",
    "20%253A57",
    "２０：５７：４７",
    "20.57.47.480",
    "20-57-47",
    "205747",
    "08:57:47 p.m.",
    "08:57:47\u202fPM +0800",
    "08:57:47 下午",
    "PM 08:57:47",
    "中午11:57",
    "12:57:47 AM",
    "00:57:47 pm",
]
SIGNS = [
    "T",
    " ",
    " @ ",
    "[",
    "]",
    ":",
    ", ",
    "+08:00",
    " +0800",
    " UTC",
    "Z",
    " CST 2025",
    " 2025",
    "2025",
    "x",
    ".",
    "-",
    "/",
    "12",
    "0",
    "1.2.3.4:5",
    " 02.05.11",
    "%3D",
    "%253D",
    "%2B08%3A00",
    "&nbsp;",
    "10.42.20.17",
    " · ",
    " on ",
]
NUMBERS = f'{EPOCH_MS}|{EPOCH_MS // 1000}|{EPOCH_MS}000|ts=|"time":"|orderId=|{ID}|{ID.lower()}| msgId={ID}'.split("|")
PIECES = [*DATES, *TIMES, *SIGNS, *NUMBERS, *OF_BODY]


def placed(line: str) -> NDArray[np.uint8]:
    """A line in memory as the scan's kernels read it."""
    raw = line.encode()
    text = np.zeros(len(raw) + 64, np.uint8)
    text[: len(raw)] = np.frombuffer(raw, np.uint8)
    return text


def is_kept_back(name: str) -> bool:
    """Whether the kernel takes a time behind this name for one that may be to come."""
    text = placed(f"{name}2025-02-11 20:57:47")
    begin = np.uint64(text.ctypes.data)
    return bool(may_be_due(begin + np.uint64(len(name.encode())), begin))


@pytest.mark.parametrize("signs", ["=", '" : "', "：", ": '"])
def test_the_kernel_keeps_back_each_name_of_a_time_to_come_and_few_others(signs: str) -> None:
    for name in (*COMING, *COMING_NAMES):
        assert all(map(is_kept_back, (f"{name}{signs}", f"next_{name}{signs}", f"{name.upper()}{signs}"))), name
    for name in ("OrderDeliveryService", "schedule-pool-1", "OrderExpiryJob", "time", "d", ""):
        assert not is_kept_back(f"{name}{signs}"), name


def is_taken_for_body(name: str) -> bool:
    """Whether the kernel leaves a time behind this name to be judged, as one that may be of a body."""
    text = placed(f"{{ {name}2021-03-04 05:06:07")
    begin = np.uint64(text.ctypes.data)
    place = begin + np.uint64(len(name.encode()) + 2)
    return bool(may_be_of_body(place, begin, place + np.uint64(19)) or may_be_held(place, begin))


@pytest.mark.parametrize(
    "name", ["time=", '"@timestamp":"', "ts=", "app.log:", "INFO ", "svc: ", '"log":"', "INFO [", "", "x"]
)
def test_the_kernel_judges_most_names_of_lines_by_itself(name: str) -> None:
    assert not is_taken_for_body(name)


@pytest.mark.parametrize(
    "name", ["since ", "built ", "计划", "VALUES (1, '", "time > '", "time < ", "lag before ", "as of "]
)
def test_the_kernel_leaves_times_of_sentences_and_statements_to_be_judged(name: str) -> None:
    assert is_taken_for_body(name)


def is_let_through(line: str) -> bool:
    """Whether the scan's kernel hands the line over to be read."""
    text = placed(line)
    begin = np.uint64(text.ctypes.data)
    return bool(may_have_time(begin, begin + np.uint64(len(line.encode())), np.array(elapsed_of(line), np.int64)))


@pytest.mark.parametrize(
    "line",
    [
        "20:57:47.471 [main] INFO a.B - sent",
        "20:57:47 INFO [http-nio-8080-exec-12] sent",
        "[thread-12] 20:57:47,471 sent",
        "pid 12345 20:57:47 sent took=12:30 by",
        '{"pid":123,"time":"20:57:47.471"}',
        "app-1  | 20:57:47.471 DEBUG sent",
    ],
)
def test_a_time_of_day_without_a_date_is_not_looked_at(line: str) -> None:
    assert not is_let_through(f"{line} {ID}")


# What is in front of a time of day, or behind it, and looks like a date, or is one in another dress.
BETWEEN = [
    *("main", "mai", "maio", "juin", "juil", "déc", "sett", "out", "thread-12]", "[http-nio-8080]", "INFO", "线程"),
    *("&nbsp;", "%20", "de", "at", "um", "12", "3", "2026", "am", "PM", "th", "|", "·", "_", "-", "+", "T", "\\/"),
    *("I0311", "260311", "115", "time=", "on", "<b>", "</b>", "民国115年3月11日", "令和8/3/11"),
]


@pytest.mark.long(first=4)
@pytest.mark.parametrize("seed", range(12))
def test_no_time_of_day_with_a_date_is_passed_over(seed: int) -> None:
    r = random.Random(seed)
    dated = 0
    for _ in range(400):
        pieces = [r.choice(BETWEEN if r.random() < 0.5 else PIECES) for _ in range(r.randrange(1, 9))]
        line = r.choice(["", "", " "]).join(pieces)
        if r.random() < 0.6:
            line += f"{r.choice(['', ' ', ','])}{r.choice(DATES)}{r.choice((*SIGNS[:7], *BETWEEN))}{r.choice(TIMES)}"
        line += r.choice([f" {ID}", ID])
        plain = line_moments._plain(line)
        patterns = (line_moments._DATED, line_moments._TIME_FIRST, line_moments._OF_A_DAY)
        if any(pattern.search(plain) for pattern in patterns):
            assert is_let_through(line), line
            dated += 1
    assert dated > 40


@pytest.mark.long(first=6)
@pytest.mark.parametrize("seed", range(20))
def test_a_fast_reading_equals_a_slow_one_on_random_lines(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_moments, "zone_beside", lambda *_: None)  # the slow one reads zones in figures alone
    r = random.Random(seed)
    dated = 0
    for _ in range(400):
        line = "".join(r.choice(PIECES) for _ in range(r.randrange(1, 12)))
        if r.random() < 0.5:  # most random pieces make no time
            line += f"{r.choice(['', *OF_BODY])}{r.choice(DATES)}{r.choice(SIGNS[:7])}{r.choice(TIMES)} {ID}"
        elif r.random() < 0.3:
            line += f" {r.choice(TIMES[:6])}{r.choice([' ', ', ', ' · ', ' on '])}{r.choice(DATES)} {ID}"
        found = moment_of(line)
        assert (None if found is None else tuple(found)[:4]) == other_of(line), line
        assert found is None or is_let_through(line), line
        day = named_day(line)
        assert day == day_of(line, elapsed_of(line)), line
        assert day is None or is_let_through(line), line
        dated += found is not None
    assert dated > 40


def test_a_line_of_many_ids_and_times_holds_not_each_against_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 64 KiB such a line took seconds, and a text of 4 MiB has 64 of them."""
    asked, is_proved_by = 0, Moment.is_proved_by

    def counted(moment: Moment, elapsed_ms: int) -> bool:
        nonlocal asked
        asked += 1
        return is_proved_by(moment, elapsed_ms)

    monkeypatch.setattr(Moment, "is_proved_by", counted)
    ids = " ".join(f"AC110001472218B4AAC2{number * 900_000 + 450_000:08X}0001" for number in range(600))
    times = " ".join(f"2019-03-{5 + number % 20:02} 1{number % 10}:00:00" for number in range(1_000))
    assert moment_of(f"x {times} {ids}") == moment_of(f"x {times}")
    assert line_time(f"2019-03-05 10:00:00 {times} {ids}") is not None
    assert named_day(" ".join(f"Mar {5 + number % 20} 10:00:00 a" for number in range(1_000)) + ids) is None
    assert asked < 300_000
