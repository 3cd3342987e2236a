"""Zones that are named beside a time, in ways that no log writer has for all: names, places, brackets."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from idcore.ids.find import find
from idcore.ids.line_moments import OpenTime, line_time, prefix_time
from idcore.ids.zone_names import zone_beside
from idcore.kernels.dates import NO_ZONE, rest_of_moment
from idcore.kernels.zones import may_have_zone_in_front
from tests.scan.dates import moment_of as opening_of

pytestmark = pytest.mark.quick
TIME, SUMMER = "2026-03-04 10:31:12", "2026-07-04 10:31:12"
ID = "0A630915110118B4AAC22C508314012D"

# By the IANA data and ISO 8601, minutes ahead of UTC in March 2026.
BEHIND = {
    " JST": 540,
    " KST ": 540,
    " MSK INFO": 180,
    " CET": 60,
    " HKT sent": 480,
    " SGT sent": 480,
    " NZDT": 780,
    " +8:00": 480,
    " -3:30 x": -210,
    " (UTC+8)": 480,
    " [GMT+0530]": 330,
    " (+09:00)": 540,
    "(UTC)": 0,
    " [UTC] x": 0,
    "（北京时间）": 480,
    " 北京时间": 480,
    " 中国标准时间": 480,
    " 东京时间 x": 540,
    " 美国东部时间": -300,
    " 格林威治时间": 0,
    " 东八区": 480,
    " 西五区时间": -300,
    " Asia/Tokyo": 540,
    " [America/New_York] x": -300,
    " America/Argentina/Buenos_Aires": -180,
    " Beijing time": 480,
    " China Standard Time": 480,
    " New York time": -300,
    " Pacific Time (x)": -480,
}
IN_FRONT = {"北京时间：": 480, "Tokyo time: ": 540, "UTC ": 0, "(UTC) ": 0, "UTC时间 ": 0, "东九区 ": 540}
NOT_ONE = [
    *(
        " INFO x",
        " WARN ",
        " POST /a",
        " [main] INFO",
        " EST=5",
        " HST_1",
        " ABCT x",
        " 发送时间 x",
        " 消费时间：",
        " 当前时间",
    ),
    *(" US/x", " Order time", " Http/1.1", " Response time 3", " EST-5", " CET.x", " [JSTX]", " (12)", " JST/3"),
]


@pytest.mark.parametrize("name", BEHIND)
def test_a_zone_that_is_named_behind_a_time_is_that_of_the_time(name: str) -> None:
    found = prefix_time(f"{TIME}{name} sent msgId={ID}")
    assert found is not None and found.utcoffset() == timedelta(minutes=BEHIND[name])


@pytest.mark.parametrize("name", IN_FRONT)
def test_so_is_one_in_front_of_it(name: str) -> None:
    found = prefix_time(f"{name}{TIME} sent msgId={ID}")
    assert found is not None and found.utcoffset() == timedelta(minutes=IN_FRONT[name])


OF_SUMMER = {"JST": 9, "EDT": -4, "Europe/Paris": 2, "伦敦时间": 1}


@pytest.mark.parametrize(
    ("style", "name"),
    [
        *((style, name) for style in ("04 Jul 2026 10:31:12 {}", "2026年7月4日 10:31:12 {}") for name in OF_SUMMER),
        *(("Sat Jul  4 10:31:12 {} 2026", name) for name in OF_SUMMER if name.isupper()),  # no other has a year behind
    ],
)
def test_other_styles_have_it_too(style: str, name: str) -> None:
    found = line_time(f"{style.format(name)} sent msgId={ID}")
    assert found is not None and found.utcoffset() == timedelta(hours=OF_SUMMER[name])


@pytest.mark.parametrize("name", NOT_ONE)
def test_words_that_name_no_zone_are_none(name: str) -> None:
    found = prefix_time(f"{TIME}{name} sent msgId={ID}")
    assert found is not None and found.tzinfo is None and not isinstance(found, OpenTime)


@pytest.mark.parametrize(
    ("name", "choices"), [("CST", (-360, -300, 480)), ("IST", (60, 120, 330)), ("PST", (-480, 480))]
)
def test_a_name_that_several_places_have_leaves_the_zone_open(name: str, choices: tuple[int, ...]) -> None:
    (token,) = find(f"{SUMMER} {name} sent msgId={ID}")
    assert isinstance(token.prefix_time, OpenTime) and token.prefix_time.tzinfo is None
    assert (token.prefix_time.zone_name, token.prefix_time.choices) == (name, choices)


def test_a_zone_has_its_summer_time() -> None:
    found = [zone_beside(f"{TIME} Europe/Paris", 0, 19, datetime(2026, month, 4)) for month in (1, 7)]
    assert [one and one.ahead for one in found] == [60, 120]


def is_left_to_python(line: str) -> bool:
    """Whether the scan's kernel reads no time at the first date of a line."""
    text = np.frombuffer(line.encode() + bytes(64), np.uint8)
    begin = np.uint64(text.ctypes.data)
    place = begin + np.uint64(len(line[: line.index("2026")].encode()))
    rest, ahead = rest_of_moment(place, begin + np.uint64(len(line.encode())))
    return rest < 0 or (ahead == NO_ZONE and place != begin and may_have_zone_in_front(place, begin))


@pytest.mark.parametrize("fraction", ["", ".123", ",123456"])
@pytest.mark.parametrize("name", [*BEHIND, " CST x", " IST", " PST [12]"])
def test_the_kernel_leaves_each_named_zone_to_be_read(name: str, fraction: str) -> None:
    assert is_left_to_python(f"{TIME}{fraction}{name} sent msgId={ID}")


@pytest.mark.parametrize("name", IN_FRONT)
def test_the_kernel_leaves_each_zone_in_front_to_be_read(name: str) -> None:
    assert is_left_to_python(f"{name}{TIME},123 sent msgId={ID}")


@pytest.mark.parametrize(
    "name", [" INFO x", " WARN ", " ERROR ", " DEBUG ", " [main] INFO", " [Consume_1] x", " 1 ---"]
)
def test_the_kernel_reads_what_most_logs_have_itself(name: str) -> None:
    line = f"{TIME},123{name} sent msgId={ID}"
    assert not is_left_to_python(line)
    assert opening_of(line.encode()) == (datetime(2026, 3, 4, 10, 31, 12, 123_000), None)
