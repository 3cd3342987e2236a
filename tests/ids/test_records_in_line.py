"""Times of lines that have several messages, items of lists, fields and headlines: as a slow reading finds them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from idcore.ids import find
from idcore.ids.clock import DAY_MS
from idcore.ids.line_moments import Moment, NamedDay, ProvedMoments, is_headline, is_time_field, prefix_time
from idcore.ids.records import Hint, of_element, of_item
from idcore.ids.records_in_line import ID, hint_at, hints_in
from tests.scan.other_dates import is_headline as slow_headline
from tests.scan.other_dates import is_time_field as slow_field
from tests.scan.other_line_records import texts_in
from tests.scan.other_records import of_element as slow_element
from tests.scan.other_records import of_item as slow_item
from tests.scan.other_records import written

pytestmark = pytest.mark.quick
FIRST = "0A650701015518B4AAC211A2A7590001", "2026-03-04 10:11:12.345", 1_772_590_272_345
SECOND = "0A650702015518B4AAC21C273C900002", "2026-05-06 11:12:13.456", 1_778_037_133_456
PLACE = "0A3D000800002A9F0000001484913D15"
LATER = "2026-03-04 10:32:12", "2026-05-06 11:33:13"


def test_each_message_of_a_line_has_the_time_of_its_own_object() -> None:
    for form in (
        '[{"msgId":"%s","time":"%s"},{"msgId":"%s","time":"%s"}]',
        '2026-11-20 10:00:00 got [{"time":"X"},{"msgId":"%s","time":"%s"},{"msgId":"%s","time":"%s"}]',
        "[{'msg_id': '%s', 'time': '%s'}, {'msg_id': '%s', 'time': '%s'}]",
        "[MsgVO(id=%s, sendTime=%s), MsgVO(id=%s, sendTime=%s)]",
        '{"%s":{"time":"%s"},"%s":{"time":"%s"}}',
        '"[{\\"msgId\\":\\"%s\\",\\"time\\":\\"%s\\"},{\\"msgId\\":\\"%s\\",\\"time\\":\\"%s\\"}]"',
        '{"a":[{"id":"%s","time":"%s"}],"b":[{"id":"%s","time":"%s"}]}',
        "<a><m><id>%s</id><time>%s</time></m><m><id>%s</id><time>%s</time></m></a>",
        "<table><tr><td>%s</td><td>%s</td></tr><tr><td>%s</td><td>%s</td></tr></table>",
        'log: "msgId=%s at %s\\nmsgId=%s at %s\\n"',
        '[{:msg_id=>"%s", :sent_at=>"%s"}, {:msg_id=>"%s", :sent_at=>"%s"}]',
        '["{\\"msgId\\":\\"%s\\",\\"time\\":\\"%s\\"}", "{\\"msgId\\":\\"%s\\",\\"time\\":\\"%s\\"}"]',
    ):
        tokens = list(find(form % (FIRST[0], LATER[0], SECOND[0], LATER[1])))
        assert [(one.text, str(one.prefix_time)) for one in tokens] == [(FIRST[0], LATER[0]), (SECOND[0], LATER[1])]


def test_one_time_holds_for_all_where_a_line_has_one_message() -> None:
    assert hints_in(f"{LATER[0]} sent msgId={FIRST[0]}, offsetMsgId={PLACE} at {LATER[1]}") is None
    assert hints_in(f"bornTimestamp={FIRST[2]} msgId={FIRST[0]} and {SECOND[0]}") is None


def test_a_time_that_an_id_proves_is_its_own_wherever_it_is() -> None:
    line = f"msgId={FIRST[0]} time={FIRST[1]}; msgId={SECOND[0]} time={SECOND[1]}"
    assert [str(one.prefix_time)[:23] for one in find(line)] == [FIRST[1], SECOND[1]]
    line = f"bornTimestamp={SECOND[2]} msgId={FIRST[0]} bornTimestamp={FIRST[2]} {SECOND[0]}"
    assert [one.born_ms for one in find(line)] == [FIRST[2], SECOND[2]]


PARTS = [
    *"{}[]()\"' :=,",
    "},{",
    "], MessageExt [",
    "toString()=Message{",
    '\\"',
    "'",
    '"t":"',
    "time=",
    "properties={",
]
PARTS += [LATER[0], LATER[1], FIRST[1], SECOND[1], FIRST[0], SECOND[0], SECOND[0], PLACE, FIRST[0].lower()]
PARTS += [
    f"bornTimestamp={FIRST[2]}",
    f'"bornTimestamp":{SECOND[2]}',
    "2019-05-01 10:00:00",
    "VALUES ('",
    "</a>",
    "<a>",
    "<b>",
    "</b>",
    "\\n",
]


def as_written(hint: Hint | None) -> bytes | None:
    if hint is None or hint.time is None:
        return None if hint is None else f"bornTimestamp={hint.born_ms}".encode()
    ahead = hint.time.utcoffset()
    wall = hint.time.replace(tzinfo=None)
    return written(wall, None if ahead is None else ahead // timedelta(minutes=1))


@pytest.mark.parametrize("seed", range(8))
def test_a_fast_reading_of_a_line_equals_a_slow_one(seed: int) -> None:
    r = random.Random(seed)
    found = 0
    for _ in range(1_000):
        pieces = [r.choice(PARTS) for _ in range(r.randrange(4, 16))]
        pieces.insert(r.randrange(len(pieces)), FIRST[0])
        line = " ".join(pieces)
        hints, slow = hints_in(line), texts_in(line.encode())
        places = [one.start() for one in ID.finditer(line)]
        assert (hints is None) == (slow is None), line
        if hints is not None and slow is not None:
            assert [as_written(hint_at(hints, place)) for place in places] == [text for _, text in slow], line
            found += len({text for _, text in slow}) > 1
    assert found > 30


LINES = [
    "- id: %s",
    "  - id: %s",
    "    id: %s",
    "  id: %s",
    "id: %s",
    "- x: 1",
    "  - x: 1",
    "  y: 2",
    "",
    "z:",
    "    w: 3",
]


TAGS = [
    "<m>",
    "<m>",
    "</m>",
    "<t>2026</t>",
    "<id>%s</id>",
    "<a x='1'>",
    "</a>",
    "<b/>",
    "",
    "List<String>",
    "</m><m>",
    "x",
]


@pytest.mark.parametrize(
    ("fast", "slow", "around", "own", "least"),
    [
        (of_item, slow_item, LINES, LINES[:5], 1_000),
        (of_element, slow_element, TAGS, ["<id>%s</id>", "<id>%s</id>", "<m><id>%s</id>", "id %s"], 200),
    ],
    ids=["item", "element"],
)
def test_what_is_around_an_id_is_what_a_slow_reading_finds(
    fast: Callable[..., Any], slow: Callable[..., Any], around: list[str], own: list[str], least: int
) -> None:
    r = random.Random(37)
    found = 0
    for _ in range(6_000):
        front, back = ([r.choice(around) for _ in range(r.randrange(7))] for _ in range(2))
        line = r.choice(own)
        sides = fast(line, front, back)
        got = sides and tuple(tuple([one.encode() for one in some] for some in side) for side in sides)
        want = slow(line.encode(), [one.encode() for one in front], [one.encode() for one in back])
        assert got == want, (front, line, back)
        found += got is not None
    assert found > least


def test_the_first_time_that_an_id_proves_is_the_one_that_a_look_at_each_finds() -> None:
    r, found, ahead = random.Random(3), 0, (None, None, 0, 480, -210, 345)
    for _ in range(8_000):
        moments = [
            Moment(1_761_955_200_000 + r.randrange(60 * DAY_MS), r.choice(ahead), r.choice([1, 1_000, 60_000]), True)
            for _ in range(r.choice([1, 3, 20]))
        ]
        one = r.choice(moments)
        instant = one.wall_ms - 60_000 * ((one.ahead or 0) - r.choice([0, 480, -210, 0]))
        elapsed = (instant - 1_761_955_200_000 + r.randrange(-15_000, 75_000)) % (31 * DAY_MS)
        want = next((one for one in moments if one.is_proved_by(elapsed)), None)
        assert ProvedMoments(moments).first(elapsed) == want
        found += want is not None
    assert found > 1_000


@pytest.mark.parametrize(
    ("front", "behind"),
    [("", "[" * 60_000 + ")" * 60_000), ("", "<a>" * 20_000 + "</b>" * 20_000), ("[" * 20_000, "]" * 20_000)],
    ids=["never closed", "tags", "in each other"],
)
def test_brackets_without_number_are_read_once(front: str, behind: str) -> None:
    """Each that closes looked at all that are open: 10 KiB took a minute, and these would take hours."""
    assert hints_in(f"{front}{FIRST[0]} ]</x>{SECOND[0]} 2026-05-06 11:12:14 {behind}") is not None


FRONTS = [
    "=== ",
    "Report of ",
    "orders ",
    "Born ",
    "Time: ",
    "send_time",
    " | ",
    "=",
    ": ",
    "INFO ",
    "app ",
    "- ",
    "发送时间：",
    "x",
    "(",
]
BACKS = ["", '",', " ===", " level=info", "\r", "]"]


def test_headlines_and_fields_are_those_that_a_slow_reading_finds() -> None:
    r = random.Random(38)
    heads = fields = 0
    for _ in range(6_000):
        front, back = "".join(r.choices(FRONTS, k=r.randrange(5))), r.choice(BACKS)
        line = f"{front}2025-01-01 10:00:00{back}"
        match = re.search("2025", line)
        assert match is not None
        if prefix_time(line) is not None:
            assert is_headline(line) == slow_headline(line, match.start()), line
            heads += is_headline(line)
        assert is_time_field(line) == slow_field(front, back), line
        fields += is_time_field(line)
    assert min(heads, fields) > 100


@pytest.mark.parametrize(
    "line",
    [
        "INSERT INTO t (id, pay_time) VALUES ('%s', '2019-05-01 10:00:00')",
        "SELECT * FROM t WHERE a > '2019-05-01 00:00:00' AND id = '%s'",
        "==> Parameters: %s(String), 2019-05-01 10:00:00.0(Timestamp)",
        "%s stuck, deploy planned for 2019-05-01 10:00:00",
        "消息 %s 计划2019-05-01 10:00:00上线",
        "version 3.1 built 2019-05-01 10:00:00, id=%s",
    ],
)
def test_a_time_of_a_statement_or_sentence_needs_the_proof_of_its_id(line: str) -> None:
    (token,) = find(line % FIRST[0])
    assert token.prefix_time is None
    (token,) = find(re.sub(r"2019-05-01 \d\d:00:00", FIRST[1][:19], line) % FIRST[0])
    assert token.prefix_time == datetime.fromisoformat(FIRST[1][:19])


def test_a_store_time_alone_gives_a_month_that_stays_assumed() -> None:
    for line in (f"msgId={FIRST[0]} storeTime=2026-03-05 10:00:00", f"存储时间：2026-03-05 10:00:00 msgId={FIRST[0]}"):
        (token,) = find(line)
        assert token.prefix_time is None and isinstance(token.named_day, NamedDay)
        assert str(token.named_day) == "2026-03-05 10:00:00"
