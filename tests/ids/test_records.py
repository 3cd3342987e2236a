"""IDs of records that are written over several lines: dated by the record, at every place of the text."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from benchmarks.hostile_patterns import slow
from idcore.ids import Clock, describe, find, judge, line_moments, records
from idcore.ids.dating import dates_of
from idcore.ids.records import MOST_LINES, REACH, of_object, without_strings
from tests.scan.other_records import of_object as slow_object

pytestmark = pytest.mark.quick
EAST = timezone(timedelta(hours=8))
ID = "0A0F1009196818B4AAC21792CEC50063"  # sent 2025-01-05 13:51:37.157 at +08:00
BORN = 1_736_056_297_157
TRUE = "2025-01-05T13:51:37.157+08:00"


def rows(text: str, source: str = "given") -> list[dict[str, object]]:
    clock = Clock(datetime(2026, 11, 25, tzinfo=UTC), EAST, source)  # type: ignore[arg-type]
    tokens = list(find(text))
    verdicts = [judge(token) for token in tokens]
    clock = replace(clock, dates=dates_of(zip(verdicts, tokens, strict=True), clock))
    return [describe(verdict, token, clock) for verdict, token in zip(verdicts, tokens, strict=True)]


RECORDS = {
    "MessageExt": f"receive ->[MessageExt [\n    bornTimestamp={BORN},\n    storeTimestamp=1,\n    UNIQ_KEY={ID},\n]]",
    "JSON, time behind": f'{{\n  "msgId": "{ID}",\n  "bornTimestamp": {BORN}\n}}',
    "mqadmin": f"Born Timestamp:      2025-01-05 13:51:37,157\nStore Timestamp: 2019-01-01 00:00:00,000\nUNIQ_KEY={ID}",
    "an entry that goes on": f"2025-01-05 13:51:37,200 INFO sent\n  at com.acme.Order\n  result msgId={ID}",
    "the table of a dashboard": f"Message ID: {ID}\nStoretime: 2025-01-05 13:51:37\nStoreHost: 10.0.0.1:109",
    "another style": f"05/Jan/2025:13:51:37 +0800 sent\n  at com.acme.Order\n  result msgId={ID}",
    "the time of a consumer as well": f"bornTimestamp={BORN}\nCONSUME_START_TIME={BORN + 90_000_000}\nUNIQ_KEY={ID}",
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_id_has_the_time_of_its_record(name: str, end: str) -> None:
    record = RECORDS[name]
    for text in (record, f"{record}\n\n2026-11-20 10:00:00 later\n", f"2026-11-20 10:00:00 before\n\n{record}"):
        (row,) = rows(text.replace("\n", end))
        assert row["sent_at"] == TRUE and row["month_source"] == "record"


@pytest.mark.parametrize(
    "text",
    [
        f"2025-01-05 14:51:37,200 INFO sent\n\nmsgId={ID}",  # a blank line ends a record
        f"2025-01-05 13:51:37,200 these are missing:\n{ID}",  # a bare list has none
        f"Store Timestamp: 2025-01-05 13:52:37,157\nmsgId={ID}",  # a broker's clock, which is wrong
        f"storeTimestamp={BORN}\nmsgId={ID}",
        f"2025-01-05 13:51:37,200 x\n{'x' * REACH}\nmsgId={ID}",
        f"result msgId={ID}, done\n2024-10-07 17:00:26 WARN PullMessageThread_9 - another one",
    ],
)
def test_what_is_no_record_dates_nothing(text: str) -> None:
    assert [row["month_source"] for row in rows(text)] == ["assumed"]


@pytest.mark.parametrize("name", ["Born Timestamp", '"ProduceTime"', "send_time", "发送时间", "produced at"])
@pytest.mark.parametrize(
    ("time", "month", "source"),
    [
        ("2025-01-05 13:51:37", "2025-01", "record"),
        ("2025-01-06 11:00:00", "2025-01", "record"),  # of a clock in another zone, or one that is wrong
        ("2024-11-23 21:21:26", "2024-11", "assumed"),  # of another message, as manuals have it, or sent again
        ("2024-11-23T21:21:26+08:00", "2024-11", "assumed"),
    ],
)
def test_when_a_message_was_made_is_that_of_its_id_or_a_guess(name: str, time: str, month: str, source: str) -> None:
    for text in (f"{name}: {time}\nUNIQ_KEY={ID}", f'{{\n  "msgId": "{ID}",\n  {name}: "{time}"\n}}'):
        (row,) = rows(text)
        assert (row["month"], row["month_source"]) == (month, source)


def test_when_a_message_was_consumed_may_be_days_after_its_id() -> None:
    (row,) = rows(f"msgId: {ID}\nconsumeTime: 2025-01-09 21:21:26")
    assert (row["month"], row["month_source"]) == ("2025-01", "record")


@pytest.mark.parametrize("before", [True, False])
def test_a_born_in_the_line_of_another_message_dates_nothing(before: bool) -> None:
    """Of a public page: the answer of an API as one line, next to a table row with another ID."""
    other = '{"msgId":"C0A847BC000020E60000000000003FEE","bornTimestamp":1661852864101}'
    row = f"MsgId | String | {ID} | ok"
    found = rows(f"{other}\n{row}" if before else f"{row}\n{other}")
    assert [one["month_source"] for one in found if one["kind"] == "uniq"] == ["assumed"]


def test_a_record_has_an_end_in_lines() -> None:
    for lines, source in ((MOST_LINES - 1, "record"), (MOST_LINES, "assumed")):
        text = "2025-01-05 13:51:37,200 x\n" + "at 10:91 of\n" * lines + f"msgId={ID}"
        assert [row["month_source"] for row in rows(text)] == [source]


def test_of_two_records_each_id_takes_its_own() -> None:
    """The born that it proves, whichever is nearer."""
    later = "0A0F1009196818B4AAC21792D2AD0064"  # a second later
    first = f'  "msgId": "{ID}",\n  "born_timestamp": {BORN}'
    second = f'  "msgId": "{later}",\n  "born_timestamp": {BORN + 1_000}'
    found = rows(f"[{{\n{first}\n}}, {{\n{second}\n}}]")
    assert [row["sent_at"] for row in found] == [TRUE, "2025-01-05T13:51:38.157+08:00"]


@pytest.mark.parametrize(
    ("in_front", "behind"),
    [
        ("consumeTime: 2025-03-01 09:00:00", "consumeTime: 2025-01-05 17:20:00"),  # of the day, of no day
        ("consumeTime: 2025-01-03 23:00:00", "consumeTime: 2025-01-05 13:59:00"),  # the ID is later than that in front
        ("bornTimestamp=1735000000000", "consumeTime: 2025-01-06 12:00:00"),
        ("consumeTime: 2025-02-05 10:00:00", f"sendTime: {TRUE[:19]}"),  # an ID proves it
    ],
)
def test_a_time_behind_that_fits_is_not_that_of_the_record_in_front(in_front: str, behind: str) -> None:
    (row,) = rows(f"{in_front}\nmsgId: {ID}\n{behind}")
    assert row["sent_at"] == TRUE
    (row,) = rows(f"{behind}\nmsgId: {ID}\n{in_front}")
    assert row["sent_at"] == TRUE


def test_where_no_time_or_each_fits_that_in_front_counts() -> None:
    for in_front, behind in (("2025-01-05 14:00:00", "2025-02-05 14:00:00"), ("2025-04-20 10:00", "2025-05-20 10:00")):
        (row,) = rows(f"consumeTime: {in_front}\nmsgId: {ID}\nconsumeTime: {behind}")
        assert str(row["month"]) == in_front[:7]


def test_a_name_says_where_the_month_is_from() -> None:
    (row,) = rows(RECORDS["MessageExt"], "assumed")
    assert row["zone"] == "+08:00" and row["zone_source"] == "born"
    assert "zone_record" in row["why_codes"]  # type: ignore[operator]


def test_a_line_is_read_for_its_day_once_however_many_ids_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    class Counted:
        def finditer(self, line: str, *span: int) -> Iterator[re.Match[str]]:
            read.append(line)
            return days.finditer(line, *span)

    days = line_moments._OF_A_DAY
    monkeypatch.setattr(line_moments, "_OF_A_DAY", Counted())
    text = [f"Mar 09 10:00:{second:02d} host of-days: sent msgId={ID[:-4]}{second:04X}" for second in range(60)]
    assert len(rows("\n".join(text))) == len(text)
    assert sorted(read) == text


PARTS = ["{", "}", "[", "]", "},{", "}, {", '"p": {', '"t":"2026-07-02 10:11:14"', '"q": [', "],", "},", "x", ""]
PARTS += ['"a": {"b": 1},', '{"c": [1, 2]},', "MessageExt [", '  {"t": "x",', "[2026-03-01 10:11:12] INFO got ["]


def test_the_object_of_an_id_is_the_one_that_a_slow_reading_finds() -> None:
    r = random.Random(35)
    own = [
        '"msgId": "%s",',
        '{"msgId": "%s",',
        '"msgId":"%s"}',
        '{"msgId":"%s"},',
        '{"p": {"msgId":"%s"},',
        '},{"id":"%s", "q": [1',
    ]
    found = 0
    for _ in range(4_000):
        front, back = ([r.choice(PARTS) for _ in range(r.randrange(7))] for _ in range(2))
        line = r.choice(own) % "0A3D070855AE18B4AAC20755EF590008"
        sides = of_object(line, front, back)
        slow = slow_object(line.encode(), [one.encode() for one in front], [one.encode() for one in back])
        got = sides and tuple(tuple([one.encode() for one in some] for some in side) for side in sides)
        assert got == slow, (front, line, back)
        found += got is not None
    assert found > 1_000


def test_what_an_object_says_needs_no_look_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    r = random.Random(36)
    marks = [*PARTS, '"bornTimestamp": 1772338272000,', '"x":', "", '"at": "2026-03-01 12:11:12",']
    elapsed, said = [1772338272000 % (86_400_000 * 31)], Counter[bool]()
    for _ in range(4_000):
        front, back = ([r.choice(marks) for _ in range(r.randrange(9))] for _ in range(2))
        line = r.choice(['"id": "%s",', '{"id": "%s",', '"id":"%s"}']) % "0A3D070855AE18B4AAC20755EF590008"
        monkeypatch.setattr(records, "_FEW_LINES", r.randrange(5))
        few = records.hint_of_line(line, front, back, elapsed)
        monkeypatch.setattr(records, "_FEW_LINES", 1_000)
        assert few == records.hint_of_line(line, front, back, elapsed), (front, line, back)
        said[few is None] += 1
    assert min(said[True], said[False]) > 200


def test_of_json_lines_each_is_looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of a megabyte took half a minute: around each ID all lines of its reach were looked through four times."""
    looked: list[int] = []
    brackets = records._brackets

    def counted(lines: Sequence[str], end: str = "") -> list[tuple[int, bool, bool, bool]]:
        looked.append(len(lines))
        return brackets(lines, end)

    monkeypatch.setattr(records, "_brackets", counted)
    assert len(list(find(f'{{"msgId":"{ID}"}}\n' * 300))) == 300
    assert looked and max(looked) == 1


def test_strings_are_taken_out_as_a_plain_pattern_does() -> None:
    """That one takes the square of a line's length where a string has no end."""
    plain, drawn = re.compile(r'"(?:[^"\\\n]|\\.)*"'), random.Random(5)
    for _ in range(20_000):
        text = "".join(drawn.choice('""\\\\\na{') for _ in range(drawn.randrange(14)))
        wanted = plain.sub(lambda one: one[0] if "a" in one[0] else "_" * len(one[0]), text)
        assert without_strings(text, kept=re.compile("a").search) == wanted, text
        assert without_strings(text) == plain.sub(lambda one: "_" * len(one[0]), text), text


def test_a_line_of_quotes_without_an_end_is_read_in_one_step() -> None:
    text = '{"a":1}' + '\\"' * 5_000
    assert without_strings(text) == "{___:1}" + '\\"' * 5_000
    assert not slow(re.compile(records._STRINGS.pattern), True, 16_000, 0.3)
