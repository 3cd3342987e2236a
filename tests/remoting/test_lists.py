"""Lists of messages without an id: against a slow twin in memory, and against a server of queues on loopback."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.answers.fate.sentences import utc
from idcore.answers.lookup import Listing, Way, WrongWay, cut_text, list_reason, list_text, listing_row, ways
from idcore.answers.lookup.listing import ListedRecords, Place, collect, first_since, place_of
from idcore.base import catalogue
from idcore.base.catalogue import languages, words
from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, flags
from idcore.rocketmq.remoting.audit import AuditLog, RateLimit
from idcore.rocketmq.remoting.bodies import BodyPolicy
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.errors import TooManyLookups
from idcore.rocketmq.remoting.requests import ReadCode
from tests.remoting.fake import UNIQ, Fake, record
from tests.remoting.fake_queues import START, Nearest, Queues, exact, nearest
from tests.remoting.fake_releases import TagsInFiles, TagsInRocksDB
from tests.remoting.servers import answer

TOPIC = "Orders"
PATIENT = Limits(20, 20)  # seconds: a fake broker on a machine with much to do is slow, not silent


# ---- the order of several queues, against a twin that sorts everything


@dataclass
class Memory:
    """A queue in memory whose hints are of a test's choice."""

    number: int
    records: list[Record]
    first: int
    hint: random.Random
    broker: str = "a"
    read_places: int = 0
    lost: set[int] = field(default_factory=set)

    def ends(self) -> tuple[int, int]:
        return self.first, self.first + len(self.records)

    def near(self, at_ms: int) -> int:
        return self.hint.randint(-5, self.first + len(self.records) + 5)

    def read(self, first: int, most: int) -> list[Place]:
        at = first - self.first
        found = self.records[at : at + min(most, self.hint.randint(1, most))] if at >= 0 else []
        self.read_places += len(found)
        end = self.ends()[1]
        return [
            place_of(first + step, None if first + step in self.lost else each, TOPIC, self.number, end)
            for step, each in enumerate(found)
        ]


def memory(chance: random.Random, number: int, size: int) -> Memory:
    first, stored = chance.choice((0, 7, 1_000)), START
    records = []
    for place in range(size):
        stored += chance.choice((0, 0, 0, 1, 5, 1_000))
        made = replace(record(TOPIC, UNIQ, 0), queue_id=number)
        records.append(made.placed(first + place, number * 1_000_000 + place * 1_000, stored))
    return Memory(number, records, first, chance)


def twin(queues: list[Memory], way: Way) -> list[Record]:
    """Everything, filtered and sorted."""
    every = [each for queue in queues for each in queue.records if each.queue_offset not in queue.lost]
    low, high = way.begin_ms or 0, way.end_ms or 1 << 60
    inside = [each for each in every if low <= each.store_timestamp <= high]
    inside.sort(key=lambda each: each.store_timestamp, reverse=way.newest_first)
    return inside


@pytest.mark.parametrize("seed", range(8))
def test_several_queues_are_one_list_in_the_order_of_store_times(seed: int) -> None:
    for step in range(15):
        one_list(random.Random(100 * seed + step))


def one_list(chance: random.Random) -> None:
    queues = [memory(chance, number, chance.choice((0, 1, 2, 40, 130))) for number in range(chance.randint(1, 5))]
    ends = sorted(START + chance.randint(-100, 60_000) for _ in range(2))
    bounds = (ends[0] if chance.random() < 0.7 else None, ends[1] if chance.random() < 0.7 else None)
    kind: ways.Kind = chance.choice(("time", "dead_letters"))
    way = Way(kind, TOPIC, "", "", None, 0, 0, *bounds, chance.choice((1, 3, 50, 1_000)))
    listed = collect(queues, way, lambda done, total, name: None)
    wanted = twin(queues, way)
    found = [each for each, _ in listed.records]
    stored = [each.store_timestamp for each in found]
    assert stored == [each.store_timestamp for each in wanted[: way.limit]]
    assert len({(each.queue_id, each.queue_offset) for each in found}) == len(found), "none is listed twice"
    assert {each.store_timestamp for each in found} <= {each.store_timestamp for each in wanted}
    assert listed.cut == ("limit" if len(wanted) > way.limit else None)
    counts = [part.count() for part in listed.parts]
    assert sum(count.count for count in counts) == len(wanted)
    assert sum(count.left for count in counts) == len(wanted) - len(found)
    assert sum(count.listed for count in counts) == len(found)


@pytest.mark.parametrize("seed", range(20))
def test_where_a_time_begins_is_found_whatever_the_broker_says(seed: int) -> None:
    chance = random.Random(seed)
    queue = memory(chance, 0, chance.choice((1, 2, 9, 400)))
    low, high = queue.ends()
    for _ in range(20):
        at = START + chance.randint(-10, 100_000)
        slow = next((each.queue_offset for each in queue.records if each.store_timestamp >= at), high)
        assert first_since(queue, at, low, high) == (slow, slow)
    assert first_since(queue, START, high, high) == (high, high)


def test_a_right_hint_costs_few_reads() -> None:
    queue = memory(random.Random(1), 0, 4_000)
    wanted = queue.records[2_345].store_timestamp
    first = next(each.queue_offset for each in queue.records if each.store_timestamp == wanted)

    class Right(Memory):
        def near(self, at_ms: int) -> int:
            return first

    right = Right(0, queue.records, queue.first, random.Random(2))
    assert first_since(right, wanted, *right.ends()) == (first, first) and right.read_places <= 2


def test_records_that_cannot_be_read_are_counted_and_count_as_read() -> None:
    queue = memory(random.Random(3), 0, 40)
    queue.lost = {queue.first + place for place in range(10)} | {queue.first + 25}
    way = Way("time", TOPIC, begin_ms=START - 9)
    listed = collect([queue], way, lambda done, total, name: None)
    (count,) = [part.count() for part in listed.parts]
    assert (count.listed, count.left, listed.cut) == (len(twin([queue], way)), 0, None)
    assert count.first + count.unreadable + count.listed == count.end


@pytest.mark.parametrize("seed", range(30))
def test_no_message_is_lost_because_of_others_that_cannot_be_read(seed: int) -> None:
    chance = random.Random(seed)
    queue = memory(chance, 0, chance.choice((60, 400, 3_000)))
    low, high = queue.ends()
    for _ in range(chance.choice((1, 3))):
        start = chance.randint(low, high)
        queue.lost |= set(range(start, min(high, start + chance.choice((9, 40, 300, 2_500)))))
    for _ in range(8):
        begin, end = sorted(START + chance.randint(-10, queue.records[-1].store_timestamp - START + 9) for _ in "12")
        way = Way("time", TOPIC, begin_ms=begin, end_ms=end, limit=100_000)
        listed = collect([queue], way, lambda done, total, name: None)
        assert [each for each, _ in listed.records] == twin([queue], way)
        (part,) = listed.parts
        hidden = [each for each in queue.records if each.queue_offset in queue.lost]
        assert part.unreadable >= sum(begin <= each.store_timestamp <= end for each in hidden), "it says so"


def test_the_newest_of_a_queue_are_not_last_because_some_cannot_be_read() -> None:
    queues = [memory(random.Random(5), number, 50) for number in range(2)]
    queues[0].lost = set(range(queues[0].ends()[1] - 3, queues[0].ends()[1]))
    way = Way("dead_letters", group="g", limit=30)
    listed = collect(queues, way, lambda done, total, name: None)
    assert [each.store_timestamp for each, _ in listed.records] == [
        each.store_timestamp for each in twin(queues, way)[: len(listed.records)]
    ]


def test_a_batch_has_several_offsets_and_a_compacted_queue_leaves_some_out() -> None:
    batch = replace(record(TOPIC, UNIQ, 0, properties={"INNER_NUM": "5"}), queue_offset=10, sys_flag=flags.INNER_BATCH)
    assert place_of(12, batch, TOPIC, 0, 99) == Place(10, 15, batch), "an offset inside a batch leads to the batch"
    later = replace(record(TOPIC, UNIQ, 0), queue_offset=14)
    assert place_of(12, later, TOPIC, 0, 99) == Place(14, 15, later)
    for strange in (
        replace(later, queue_offset=99),
        replace(later, queue_offset=11),
        replace(later, queue_id=1),
        record("Other", UNIQ, 0),
        replace(batch, queue_offset=1),
        None,
    ):
        assert place_of(12, strange, TOPIC, 0, 99) == Place(12, 13, None)
    for number, sys_flag in (*((text, 0x80) for text in ("", "-5", "x", "9" * 400, "٣", "32768")), ("5", 0)):
        odd = replace(record(TOPIC, UNIQ, 0, properties={"INNER_NUM": number}), queue_offset=12, sys_flag=sys_flag)
        assert place_of(12, odd, TOPIC, 0, 99) == Place(12, 13, odd)


def test_a_list_that_is_cancelled_keeps_what_it_has() -> None:
    queues = [memory(random.Random(4), number, 200) for number in range(3)]
    asked = iter(range(1_000))
    way = Way("time", TOPIC, begin_ms=START)
    listed: ListedRecords[Memory] = collect(queues, way, lambda done, total, name: None, lambda: next(asked) > 100)
    assert listed.cut == "stopped" and 0 < len(listed.records) < 200
    none = collect(queues, way, lambda done, total, name: None, lambda: True)
    assert (none.cut, none.records) == ("stopped", ())


def test_a_list_holds_so_many_bytes_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = memory(random.Random(5), 0, 100)
    monkeypatch.setattr("idcore.answers.lookup.listing.MOST_BYTES", 10 * queue.records[0].size)
    listed = collect([queue], Way("time", TOPIC), lambda done, total, name: None)
    assert (listed.cut, len(listed.records), listed.parts[0].count().left) == ("bytes", 10, 90)


# ---- which way is meant


def test_a_way_is_read_from_options_and_from_an_address_and_written_back() -> None:
    for given, kind, limit in (
        ({"topic": "T", "from": "2026-11-21T07:00:00Z"}, "time", 1_000),
        ({"topic": "T", "to": "2026-11-21T15:00", "limit": "5"}, "time", 5),
        ({"topic": "T", "queue": "10.0.0.1:10911:3:17"}, "queue", 1),
        ({"topic": "T", "queue": "[::1]:10911:0:0", "limit": "1000"}, "queue", 1_000),
        ({"topic": "T", "queue": "0:17"}, "queue", 1),
        ({"dead_letters": "g"}, "dead_letters", 1_000),
        ({"key": "a b", "topic": "T", "from": "2026-11-21T07:00:00+08:00"}, "key", 1_000),
    ):
        way = Way.of(given, UTC)
        assert way is not None and (way.kind, way.limit) == (kind, limit), given
        assert Way.of(way.params(), UTC) == way and all(way.params().values())
    way = Way.of({"topic": "T", "queue": "10.0.0.1:10911:3:17"}, UTC)
    assert way is not None and (way.broker, way.queue, way.offset) == ("10.0.0.1:10911", 3, 17)
    assert str(way) == "--topic T --queue 10.0.0.1:10911:3:17"
    assert str(Way.of({"key": "$(id)", "topic": "T"}, UTC)) == "--topic T --key '$(id)'"
    for none in ({}, {"topic": "T"}, {"from": "2026-11-21"}, {"key": " ", "queue": None}):
        assert Way.of(none, UTC) is None


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"queue": "a:0:1"}, "way_topic"),
        ({"queue": "a:0:1", "key": "k"}, "way_several"),
        ({"topic": "T", "queue": "a:0"}, "way_place"),
        ({"topic": "T", "queue": "a:-1:0"}, "way_place"),
        ({"topic": "T", "queue": f"0:{'9' * 19}"}, "way_place"),
        ({"topic": "T", "queue": "0:1", "from": "2026-11-21"}, "way_queue_times"),
        ({"topic": "T", "from": "2026-11-22", "to": "2026-11-21"}, "way_times"),
        ({"topic": "T", "from": "yesterday"}, "instant"),
        ({"key": "k", "limit": "0"}, "way_limit"),
        ({"key": "k", "limit": "100001"}, "way_limit"),
        ({"key": "k", "limit": "²"}, "way_limit"),
        ({"key": "k", "limit": "9" * 5_000}, "way_limit"),
    ],
)
def test_what_is_not_a_way_is_refused(given: dict[str, str], code: str) -> None:
    with pytest.raises(CoreError) as refused:
        Way.of(given, UTC)
    assert refused.value.code == code
    assert isinstance(refused.value, WrongWay) or code == "instant"


# ---- a cluster of one listener


@pytest.fixture
def queues() -> Iterator[Queues]:
    made = Queues({TOPIC: 3, "%DLQ%g": 1, "Empty": 2})
    with made.server:
        yield made


def listing(fake: Fake, **given: str) -> Listing:
    way = Way.of(given, UTC)
    assert way is not None
    with (service := fake.service(limits=PATIENT)).cluster:
        return service.list_messages(way)


def instant(stored: int) -> str:
    return utc(START + stored)


def ids(found: Listing) -> list[str | None]:
    return [copy.record.uniq_id for copy in found.copies]


def codes(found: Listing) -> set[str]:
    return {item.code for item in found.evidence}


def fill(queues: Queues, count: int = 90) -> list[Record]:
    """Times in runs of three messages of one millisecond, over three queues."""
    return [queues.put(TOPIC, number % 3, number // 9 * 10) for number in range(count)]


@pytest.mark.parametrize("search", [exact, nearest], ids=["5.x", "4.9"])
def test_a_time_range_is_exact_at_both_ends_on_either_release(queues: Queues, search: Nearest) -> None:
    sent, queues.search = fill(queues), search
    for begin, end in ((0, 90), (10, 30), (15, 15), (11, 19), (30, 30), (-5, 0), (90, 999), (200, 300)):
        found = listing(queues, topic=TOPIC, **{"from": instant(begin), "to": instant(end)})
        wanted = [each for each in sent if START + begin <= each.store_timestamp <= START + end]
        assert sorted(map(str, ids(found))) == sorted(str(each.uniq_id) for each in wanted), (begin, end)
        stored = [copy.record.store_timestamp for copy in found.copies]
        assert stored == sorted(stored) and found.cut is None and found.left == 0
        assert (found.reason is None) == bool(wanted)
    assert found.reason == "none_in_range" and found.asked == (str(queues.server.address),)


def test_what_the_limit_cuts_off_is_counted_by_queue(queues: Queues) -> None:
    sent = fill(queues)
    found = listing(queues, topic=TOPIC, limit="20", **{"from": instant(0)})
    assert (len(found.copies), found.cut, found.left) == (20, "limit", 70)
    assert [(one.count, one.seen + one.left) for one in found.queues] == [(30, 30)] * 3
    assert {each.store_timestamp for each in sent[:18]} >= {copy.record.store_timestamp for copy in found.copies[:18]}
    assert (
        cut_text(found, words=catalogue.words()) == "The limit of 20 messages was reached. Not read: 70 queue offsets."
    )
    assert list_text(found, words=catalogue.words()).startswith(
        "Listed **20 messages** out of **90** queue offsets: topic Orders, stored from"
    )
    row = listing_row(found)
    assert json.dumps(row) and (row["cut"], row["left"], len(row["copies"])) == ("limit", 70, 20)


def test_a_message_is_found_by_queue_and_offset_and_those_behind_it(queues: Queues) -> None:
    queues.first[TOPIC, 1] = 500
    sent = fill(queues)
    mine = [each for each in sent if each.queue_id == 1]
    for broker in ("a:", f"{queues.server.address}:", ""):
        found = listing(queues, topic=TOPIC, queue=f"{broker}1:507")
        assert ids(found) == [mine[7].uniq_id] and found.cut is None and found.copies[0].broker
        assert ways.row(found.copies[0])["broker_name"] == "a"
    found = listing(queues, topic=TOPIC, queue="a:1:525", limit="40")
    assert ids(found) == [each.uniq_id for each in mine[25:]]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("a:1:499", "before_first"),
        ("a:1:530", "behind_end"),
        (f"a:1:{'9' * 18}", "behind_end"),
        ("a:3:0", "no_queue"),
        ("b:0:0", "no_queue"),
        ("127.0.0.1:1:0:0", "no_queue"),
    ],
)
def test_an_offset_outside_the_queue_has_its_reason(queues: Queues, place: str, reason: str) -> None:
    queues.first[TOPIC, 1] = 500
    fill(queues)
    found = listing(queues, topic=TOPIC, queue=place)
    assert (found.copies, found.reason, found.nothing_asked) == ((), reason, False)
    assert "list_route" in codes(found)
    assert {frame.code for frame in queues.server.seen} <= set(ReadCode) - {11}


def test_an_empty_queue_and_a_topic_that_is_not_there(queues: Queues) -> None:
    assert listing(queues, topic="Empty", **{"from": instant(0)}).reason == "empty"
    assert listing(queues, topic="Empty", queue="0:0").reason == "empty"
    missing = listing(queues, topic="Nowhere", **{"from": instant(0)})
    assert (missing.reason, codes(missing), missing.nothing_asked) == ("topic_unknown", {"topic_route"}, False)
    assert listing(queues, dead_letters="nobody").reason == "no_dead_letters"


def test_an_answer_ends_where_a_file_of_the_queue_ends(queues: Queues) -> None:
    fill(queues)
    for number in range(80):
        queues.put("%DLQ%g", 0, number)
    queues.border = 7
    assert len(listing(queues, topic=TOPIC, **{"from": instant(0)}).copies) == 90
    letters = listing(queues, dead_letters="g", limit="50")
    assert [copy.record.queue_offset for copy in letters.copies] == list(range(79, 29, -1))
    assert (letters.left, letters.cut) == (30, "limit")


def test_slices_that_run_out_are_said(queues: Queues) -> None:
    fill(queues, 9)
    queues.ends[TOPIC] = 40  # the queue ends later than its entries
    found = listing(queues, topic=TOPIC, **{"from": "1980-01-01"})
    assert (len(found.copies), found.cut, found.left) == (9, "failed", 3 * 37)
    assert {"list_ran_out"} == codes(found)
    for number in range(5):
        queues.put("%DLQ%g", 0, number)
    queues.ends["%DLQ%g"] = 8
    found = listing(queues, dead_letters="g")
    assert (len(found.copies), found.cut, found.left) == (5, "failed", 3)
    queues.ends["%DLQ%g"] = 1 << 60
    found = listing(queues, dead_letters="g")
    assert found.cut == "failed" and codes(found) == {"list_ran_out"}


def test_dead_letters_say_where_they_come_from(queues: Queues) -> None:
    for number in range(4):
        queues.put(
            "%DLQ%g", 0, number, f"{number:032X}", RETRY_TOPIC=TOPIC, ORIGIN_MESSAGE_ID="0A" * 16, KEYS="k 1", TAGS="=t"
        )
    found = listing(queues, dead_letters="g", limit="3")
    assert ids(found) == [f"{number:032X}" for number in (3, 2, 1)] and (found.cut, found.left) == ("limit", 1)
    row = ways.row(found.copies[0])
    assert tuple(row) == ways.COLUMNS
    assert [row[name] for name in ("group", "home_topic", "origin_message_id", "keys", "tag")] == [
        "g",
        TOPIC,
        "0A" * 16,
        "k 1",
        "=t",
    ]
    assert found.copies[0].relation == "dead_letter"
    late = listing(queues, dead_letters="g", **{"from": instant(2)})
    assert ids(late) == [f"{number:032X}" for number in (3, 2)]


def test_records_that_are_gone_or_strange_are_counted(queues: Queues) -> None:
    sent = fill(queues, 30)
    queues.lost = {sent[4].physical_offset, sent[7].physical_offset}
    queues.raw[sent[10].physical_offset] = bytes(sent[22])  # a later one of the same queue
    queues.raw[sent[13].physical_offset] = bytes(sent[13])[:-3]
    queues.raw[sent[16].physical_offset] = b"\xff" * 300
    found = listing(queues, topic=TOPIC, **{"from": instant(-100)})
    assert len(found.copies) == 25 and found.left == 0 and found.cut is None
    (said,) = [item.values for item in found.evidence if item.code == "list_unreadable"]
    assert said == {"broker": "a", "queue": 1, "count": 5}
    alone = listing(queues, topic=TOPIC, queue=f"1:{sent[4].queue_offset}")
    assert (alone.copies, alone.reason) == ((), "unreadable")


@pytest.mark.parametrize("code", [29, 30, 31, 321])
def test_a_broker_that_answers_with_an_error_gives_no_claim(queues: Queues, code: int) -> None:
    fill(queues)
    queues.refused[code] = (1, "no time for this")
    found = listing(queues, topic=TOPIC, **{"from": instant(0)})
    assert (found.copies, found.reason) == ((), "unreachable") and "error_answer" in codes(found)
    queues.refused[code] = (16, "AclException: no")
    found = listing(queues, topic=TOPIC, **{"from": instant(0)})
    assert (found.copies, found.reason, found.nothing_asked) == ((), "not_permitted", True)


def test_a_record_that_may_not_be_seen_is_not_called_unreadable(queues: Queues) -> None:
    fill(queues)
    queues.refused[33] = (16, "AclException: no")
    found = listing(queues, topic=TOPIC, queue="a:0:3")
    assert (found.copies, found.reason) == ((), "not_permitted") and "denied" in codes(found)


def test_rubbish_in_every_answer_kills_nothing(queues: Queues) -> None:
    fill(queues, 30)
    chance = random.Random(9)
    usual = queues.server._handle
    numbers = ("-1", "0", "5", str(1 << 62), "x", "", "1e5", str(-(1 << 63)))

    def handle(frame):  # type: ignore[no-untyped-def]
        if frame.code in (29, 30, 31) and chance.random() < 0.3:
            yield answer(frame, 0, offset=chance.choice(numbers))
        elif frame.code == 321 and chance.random() < 0.3:
            rows = [{"physicOffset": chance.choice((-1, 0, 9, 1 << 62, "x"))} for _ in range(chance.randint(0, 90))]
            body = chance.choice((json.dumps({"queueData": rows}).encode(), b"[]", b"{", b'{"queueData":7}', b""))
            yield answer(frame, 0, body)
        else:
            yield from usual(frame)

    queues.server._handle = handle
    with (service := queues.service()).cluster:
        for number in range(60):
            given = chance.choice(
                (
                    {"topic": TOPIC, "from": instant(3)},
                    {"topic": TOPIC, "queue": "0:3", "limit": "9"},
                    {"dead_letters": "g"},
                    {"topic": TOPIC, "to": instant(30)},
                )
            )
            way = Way.of({**given, "limit": given.get("limit", "40")}, UTC)
            assert way is not None
            found = service.list_messages(way)
            assert len(found.copies) <= 40 and (found.copies or found.reason), number
            assert json.dumps(listing_row(found)) and list_text(found, words=catalogue.words())


# ---- by key


def with_index(queues: Queues, step_ms: int) -> None:
    """Answers by key are of an index: the newest of an interval, whose ends are steps of so many ms."""
    usual = queues.server._handle

    def handle(frame):  # type: ignore[no-untyped-def]
        if frame.code != 12:
            yield from usual(frame)
            return
        low, high = (int(frame.field(name) or "0") // step_ms for name in ("beginTimestamp", "endTimestamp"))
        held = [each for each in queues.records if low <= each.store_timestamp // step_ms <= high]
        held = sorted(held, key=lambda each: each.store_timestamp)
        held = [each for each in held if each.topic == frame.field("topic")][-int(frame.field("maxNum") or "0") :]
        yield answer(frame, 0, b"".join(map(bytes, held))) if held else answer(frame, 22, b"", "none")

    queues.server._handle = handle


def test_every_message_with_a_key_is_listed_the_newest_first_past_what_a_broker_shows_at_once(queues: Queues) -> None:
    sent = [queues.put(TOPIC, number % 3, 2_000 * number, KEYS="user-7 order") for number in range(150)]
    with_index(queues, 1)
    every = [each.uniq_id for each in reversed(sent)]
    found = listing(queues, key="user-7")
    assert ids(found) == every and (found.cut, found.left, found.reason) == (None, None, None)
    found = listing(queues, key="order", limit="70", topic=TOPIC)
    assert (
        ids(found) == every[:70]
        and found.cut == "limit"
        and cut_text(found, words=catalogue.words()).endswith("Not read: older messages.")
    )
    found = listing(queues, key="order", **{"from": instant(20_000), "to": instant(30_000)})
    assert ids(found) == [each.uniq_id for each in reversed(sent[10:16])]
    found = listing(queues, key="order", **{"from": instant(20_500), "to": instant(29_500)})
    assert ids(found) == [each.uniq_id for each in reversed(sent[11:15])], "exact, although the index counts in seconds"
    assert listing(queues, key="nobody").reason == "key_unknown"
    assert listing(queues, key="user-7", topic="Nowhere").reason == "topic_unknown"
    with (service := queues.service()).cluster:
        queues.server.seen.clear()
        found = service.list_messages(Way("key", key="nobody"), stop=lambda: True)
    assert (found.cut, found.reason) == ("stopped", "stopped"), "who cancels has not learnt that there is none"
    assert all(frame.code != 12 for frame in queues.server.seen)


def test_a_key_is_not_called_unknown_where_an_answer_is_damaged_or_a_broker_was_not_asked(queues: Queues) -> None:
    queues.put(TOPIC, 0, 0, KEYS="K")
    usual, damaged = queues.server._handle, bytes(queues.records[0])[:-3]

    def handle(frame):  # type: ignore[no-untyped-def]
        yield from [answer(frame, 0, damaged)] if frame.code == 12 else usual(frame)

    queues.server._handle = handle
    found = listing(queues, key="K", topic=TOPIC)
    assert (found.reason, found.cut) == ("index_damaged", "failed") and "bad_record" in codes(found)
    queues.server._handle = usual
    assert listing(queues, key="K", topic=TOPIC).cut is None
    route = queues.route

    def of_two(**more: int) -> bytes:
        table = json.loads(route(**more))
        table["brokerDatas"].append({"brokerAddrs": {"0": "10.0.0.9:1"}, "brokerName": "gone", "cluster": "c"})
        return json.dumps(table).encode()

    queues.route = of_two  # type: ignore[method-assign]
    found = listing(queues, key="K", topic=TOPIC)
    assert len(found.copies) == 1 and found.cut == "failed" and "no_answer" in codes(found)
    assert listing(queues, key="nobody", topic=TOPIC).reason == "unreachable"
    queues.records.clear()
    with (service := queues.service()).cluster:
        queues.earliest = datetime(2026, 11, 21, tzinfo=UTC)
        assert service.one("AC110001473C7D4991AD336AEA5703E0", TOPIC).reason == "unreachable", "it may have the message"


def test_a_second_with_more_of_a_key_than_a_broker_shows_is_said(queues: Queues) -> None:
    with_index(queues, 1_000)
    sent = [queues.put(TOPIC, number % 3, 5 * number, KEYS="K") for number in range(100)]
    sent += [queues.put(TOPIC, 0, -9_000 + number, KEYS="K") for number in range(9)]
    found = listing(queues, key="K")
    assert ids(found) == [each.uniq_id for each in [*reversed(sent[36:100]), *reversed(sent[100:])]]
    assert found.cut == "failed" and "more_copies" in codes(found)


@pytest.mark.parametrize("release", [TagsInFiles, TagsInRocksDB, Queues])
def test_every_message_with_a_tag_is_listed_the_newest_first_past_what_a_broker_shows_at_once(
    release: type[Queues],
) -> None:
    """By the index of tags from 5.4.0 on, of whatever kind; else by the queues."""
    made, day = release({TOPIC: 3}), 86_400_000
    sent = [
        made.put(
            TOPIC, number % 3, day * (number // 30) - 16 * day + 400 * number, TAGS="Rare" if number % 2 else "Usual"
        )
        for number in range(450)
    ]
    with made.server:
        for tag in ("Rare", "Usual"):
            every = [each.uniq_id for each in reversed(sent) if each.properties["TAGS"] == tag]
            found = listing(made, topic=TOPIC, tag=tag)
            assert ids(found) == every and (found.cut, found.reason) == (None, None)
            assert ids(listing(made, topic=TOPIC, tag=tag, limit="70")) == every[:70]
        low, high = (each.store_timestamp for each in (sent[301], sent[399]))
        some = listing(made, topic=TOPIC, tag="Rare", **{"from": instant(low - START), "to": instant(high - START)})
        assert ids(some) == [each.uniq_id for each in reversed(sent[301:400:2])]
        assert listing(made, topic=TOPIC, tag="None").reason == "tag_unknown"
        assert listing(made, topic="Nowhere", tag="Rare").reason == "topic_unknown"
        is_old = any(item.code == "tag_no_index" for item in listing(made, topic=TOPIC, tag="Rare").evidence)
        assert is_old == (release is Queues)


@pytest.mark.parametrize("release", [TagsInFiles, TagsInRocksDB])
def test_a_second_with_more_messages_than_a_broker_shows_is_listed_whole(release: type[Queues]) -> None:
    made = release({TOPIC: 2})
    sent = [made.put(TOPIC, at % 2, at - 400_000, TAGS="Rare") for at in range(200)]
    with made.server:
        found = listing(made, topic=TOPIC, tag="Rare")
    assert ids(found) == [each.uniq_id for each in reversed(sent)] and found.cut is None
    assert any(item.code == "tag_overfull" for item in found.evidence) == (release is TagsInFiles)


def test_a_tag_with_the_sign_between_the_parts_of_a_key_is_paged_by_time() -> None:
    made = TagsInFiles({TOPIC: 1})
    sent = [made.put(TOPIC, 0, 2_000 * number - 400_000, TAGS="a@b") for number in range(150)]
    with made.server:
        found = listing(made, topic=TOPIC, tag="a@b")
        assert ids(found) == [each.uniq_id for each in reversed(sent)]
        assert all(frame.field("lastKey") is None for frame in made.server.seen)


# ---- who may, who did, and who is there at all


def test_a_list_counts_by_its_limit_and_is_recorded(queues: Queues, tmp_path: Path) -> None:
    sent = fill(queues)
    service = queues.service(limit=RateLimit(4), audit=AuditLog(tmp_path / "audit"), bodies=BodyPolicy(show=False))
    way = Way.of({"topic": TOPIC, "from": instant(0), "limit": "300"}, UTC)
    assert way is not None
    with service.cluster:
        found = service.list_messages(way, "ann")
        asked = len(queues.server.seen)
        with pytest.raises(TooManyLookups):
            service.list_messages(way, "ann")
        assert len(queues.server.seen) == asked
        small = Way.of({"topic": TOPIC, "queue": "a:0:0"}, UTC)
        assert small is not None and service.list_messages(small, "ann").copies
    assert len(found.copies) == len(sent)
    assert {row["body"] for row in listing_row(found)["copies"]} == {None}
    (line, last) = [json.loads(text) for text in (tmp_path / "audit").read_text().splitlines()]
    assert (line["id"], line["result"], line["user"]) == (str(way), "listed 90", "ann") and "body" not in str(line)
    assert (last["id"], last["result"]) == ("--topic Orders --queue a:0:0", "listed 1")


def test_progress_leads_to_the_end(queues: Queues) -> None:
    fill(queues)
    seen: list[tuple[int, int, str]] = []
    way = Way.of({"topic": TOPIC, "from": instant(0)}, UTC)
    assert way is not None
    with (service := queues.service()).cluster:
        service.list_messages(way, "", lambda done, total, name: seen.append((done, total, name)))
    assert seen[0] == (0, 90, TOPIC) and seen[-1] == (90, 90, "")
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_only_requests_that_read_are_sent_and_no_pull(queues: Queues) -> None:
    fill(queues)
    for given in (
        {"topic": TOPIC, "from": instant(0)},
        {"topic": TOPIC, "queue": "0:1"},
        {"dead_letters": "g"},
        {"key": "k"},
    ):
        listing(queues, **given)
    sent = {frame.code for frame in queues.server.seen}
    assert sent == {12, 28, 29, 30, 31, 33, 105, 106, 206, 321}
    assert not any(frame.field("consumerGroup") for frame in queues.server.seen)


def test_where_no_broker_is_registered_the_reason_is_that_and_nothing_else(queues: Queues) -> None:
    """Neither an address, nor a topic, nor an id can be judged by a name server that lists nobody."""
    usual = queues.server._handle
    queues.topics = []
    queues.server._handle = lambda frame: (
        [answer(frame, 0, b'{"brokerAddrTable":{},"clusterAddrTable":{}}')]
        if frame.code == 106
        else [answer(frame, 17, b"", "No topic route info")]
        if frame.code == 105
        else usual(frame)
    )
    said = "no broker is registered with the name server of fake"
    with (service := queues.service()).cluster:
        for text in (UNIQ, "7F000001000000500000000000000000", "no-such-key"):
            for topic in (None, TOPIC):
                found = service.one(text, topic)
                assert (found.reason, found.nothing_asked) == ("unreachable", True), (text, topic)
                (item,) = found.evidence
                assert item.values["problem"]["code"] == "no_broker" and said in json.dumps(
                    [words().said(item.values["problem"])]
                )
    empty = listing(queues, topic=TOPIC, **{"from": instant(0)})
    assert (empty.reason, empty.nothing_asked) == ("unreachable", True)


# ---- words


@pytest.mark.parametrize("lang", languages())
def test_every_reason_and_every_cut_has_words(lang: str) -> None:
    said = words(lang)
    way = Way("time", TOPIC, begin_ms=START, end_ms=START)
    reasons = said.table("list.reason.")
    assert {"topic_unknown", "unreachable", "none_in_range", "before_first"} <= set(reasons)
    for code in reasons:
        assert list_reason(Listing(way, (), reason=code), said)
    for cut in ("limit", "bytes", "stopped", "failed"):
        assert "{" not in cut_text(Listing(way, (), cut=cut), said)
    for kind in ways.KINDS:
        assert "{" not in list_text(Listing(replace(way, kind=kind), ()), said)
