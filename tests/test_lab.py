"""The lab's core: what each step keeps and changes, held to the facts, and to the bytes that lie on disk afterwards."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.answers.lookup import StoreLookup, row_of
from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.base.layout import OFFSET_V4, UNIQ_V4
from idcore.ids import Clock
from idcore.ids.clock import from_ms
from idcore.ids.model import OffsetId, UniqId
from idcore.presentation.lab import READY, STEPS_MOST, PlayedStory, Row, Story, changed, differences, moves
from idcore.presentation.lab.story import STEPS
from idcore.presentation.lab.world import BROKERS, GROUP, SIZES, TOPIC, play
from idcore.rocketmq.message import Record, decode_record
from idcore.rocketmq.message.bodies import text_of
from idcore.rocketmq.store import CommitLog, Stored, StoreFolder

pytestmark = pytest.mark.quick

PREFIX = "0A14030B6E3518B4AAC2"  # 10.20.3.11, pid 28213, the loader of a JDK 8 class path launch
EVERY = Story.of(".".join(STEPS))


def told(tmp_path: Path, steps: str, **settings: str | int) -> PlayedStory:
    return play(Story.of(steps, **settings), tmp_path)


def codes(shown: PlayedStory) -> list[str]:
    return [row.code for row in shown.rows if row.step]


def row(shown: PlayedStory, code: str) -> Row:
    return next(row for row in shown.rows if row.code == code)


def record(shown: PlayedStory, code: str) -> Record:
    found = row(shown, code).record
    assert found is not None
    return found


def uniq(shown: PlayedStory, code: str) -> UniqId:
    return UniqId.from_hex(row(shown, code).msg_id or "")


@pytest.mark.parametrize("story", [*READY.values(), EVERY], ids=[*READY, "every step"])
def test_every_row_is_the_record_that_lies_at_its_offset_id(tmp_path: Path, story: Story) -> None:
    shown = play(story, tmp_path)
    for item in shown.rows:
        if item.record is None:
            assert item.offset_msg_id is None
            continue
        place = OffsetId.from_hex(item.offset_msg_id or "")
        assert place.host == BROKERS[item.broker or ""] and place.port == 10_911
        name = f"{place.physical_offset - place.physical_offset % SIZES.commit_log_file:020d}"
        raw = (tmp_path / (item.broker or "") / "commitlog" / name).read_bytes()
        found = decode_record(raw, place.physical_offset % SIZES.commit_log_file)
        assert found == item.record and found.body_crc_ok and found.physical_offset == place.physical_offset
        if item.code != "batch" and item.msg_id is not None:
            assert found.uniq_id == item.msg_id
    on_disk = [
        (name, found.offset)
        for name in BROKERS
        for found in CommitLog(tmp_path / name / "commitlog").walk()
        if isinstance(found, Stored)
    ]
    assert len(on_disk) == shown.records
    drawn = [(file.broker, piece.start) for file in shown.logs for piece in file.pieces if piece.kind == "record"]
    assert drawn == on_disk
    assert all(sum(piece.size for piece in file.pieces) == file.size for file in shown.logs)


@pytest.mark.parametrize("story", [*READY.values(), EVERY], ids=[*READY, "every step"])
def test_a_story_is_told_the_same_every_time(tmp_path: Path, story: Story) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert play(story, one) == play(Story.read(story.params), other)
    files = [path.relative_to(one) for path in sorted(one.rglob("*")) if path.is_file()]
    assert len(files) > 4
    for path in files:
        assert (one / path).read_bytes() == (other / path).read_bytes(), path


def test_an_id_is_what_the_clock_the_month_and_the_counter_say(tmp_path: Path) -> None:
    shown = told(tmp_path, "send.send")
    # 2026-11-20 09:50:14.620 at +08:00 is 1,677,014,620 ms (63F5365C) after 2026-11-01 00:00
    assert shown.rows[0].values["prefix"] == PREFIX
    assert [item.msg_id for item in shown.rows[1:]] == [PREFIX + "63F5365C0000", PREFIX + "63F53B3E0001"]
    assert [item.offset_msg_id for item in shown.rows[1:]] == [
        "0A14010500002A9F0000000000000000",
        f"0A14010500002A9F{record(shown, 'sent').size:016X}",
    ]


def test_a_lost_answer_leaves_one_msg_id_in_two_records(tmp_path: Path) -> None:
    shown = told(tmp_path, "lost")
    first, again = record(shown, "lost_stored"), record(shown, "lost_again")
    assert codes(shown) == ["lost_stored", "lost_again"] and (shown.messages, shown.records, shown.copies) == (1, 2, 2)
    assert first.uniq_id == again.uniq_id and first.body == again.body
    assert first.store_host != again.store_host
    assert again.born_timestamp > first.born_timestamp, "each request of the client has its own"
    assert "UNIQ_KEY" not in {item.name for item in differences(first, again) if not item.same}


def test_a_busy_broker_stores_nothing_and_the_msg_id_stays(tmp_path: Path) -> None:
    shown = told(tmp_path, "busy.send")
    refused, stored, after = shown.rows[1:]
    assert refused.record is None and refused.broker == "broker-a" and stored.broker == "broker-b"
    assert refused.msg_id == stored.msg_id
    assert [UniqId.from_hex(item.msg_id or "").counter for item in (stored, after)] == [0, 1]
    assert shown.records == 2


def test_an_application_that_sends_again_makes_a_new_msg_id(tmp_path: Path) -> None:
    shown = told(tmp_path, "send.again")
    first, again = record(shown, "sent"), record(shown, "again")
    assert first.uniq_id != again.uniq_id and first.properties["KEYS"] == again.properties["KEYS"]
    assert first.body == again.body and shown.messages == 2


def test_a_consumer_retry_keeps_the_msg_id_and_the_origin(tmp_path: Path) -> None:
    shown = told(tmp_path, "send.consume.consume")
    sent, first_wait, first, second_wait, second = (item.record for item in shown.rows[1:])
    assert sent and first_wait and first and second_wait and second
    assert [r.topic for r in (first_wait, first)] == ["SCHEDULE_TOPIC_XXXX", f"%RETRY%{GROUP}"]
    assert len({r.uniq_id for r in (sent, first_wait, first, second_wait, second)}) == 1
    assert len({str(r.offset_id) for r in (sent, first_wait, first, second_wait, second)}) == 5
    for copy in (first_wait, first, second_wait, second):
        assert copy.properties["ORIGIN_MESSAGE_ID"] == str(sent.offset_id)
        assert copy.properties["RETRY_TOPIC"] == TOPIC
    assert [r.reconsume_times for r in (sent, first, second)] == [0, 1, 2]
    # level 3 is 10 s, level 4 is 30 s; the queue of a level is one less
    assert (first_wait.queue_id, first.store_timestamp - first_wait.store_timestamp) == (2, 10_000)
    assert (second_wait.queue_id, second.store_timestamp - second_wait.store_timestamp) == (3, 30_000)
    assert first.store_host == sent.store_host, "a consumer sends back to the broker it read from"


def test_sixteen_tries_end_in_the_dead_letters(tmp_path: Path) -> None:
    shown = told(tmp_path, ".".join(["send", *["consume"] * 17]))
    assert [code for code in codes(shown) if code != "blank"] == [
        "sent",
        *["consume_waits", "consume_again"] * 16,
        "dead",
    ]
    dead = record(shown, "dead")
    assert dead.topic == f"%DLQ%{GROUP}" and dead.uniq_id == record(shown, "sent").uniq_id


def test_giving_up_goes_to_the_dead_letters_at_once(tmp_path: Path) -> None:
    shown = told(tmp_path, "dead")
    assert codes(shown) == ["sent", "dead"], "there was nothing to consume yet"
    assert record(shown, "dead").properties["ORIGIN_MESSAGE_ID"] == row(shown, "sent").offset_msg_id


def test_a_delayed_message_is_stored_twice_under_one_msg_id(tmp_path: Path) -> None:
    shown = told(tmp_path, "delay")
    waits, due = record(shown, "delay_waits"), record(shown, "delay_due")
    assert (waits.topic, waits.properties["REAL_TOPIC"], due.topic) == ("SCHEDULE_TOPIC_XXXX", TOPIC, TOPIC)
    assert waits.uniq_id == due.uniq_id and due.store_timestamp - waits.store_timestamp == 10_000
    assert waits.physical_offset < due.physical_offset


def test_a_commit_copies_the_half_message_and_a_rollback_does_not(tmp_path: Path) -> None:
    shown = told(tmp_path, "send.commit.rollback")
    half, commit, note = record(shown, "half"), record(shown, "commit"), record(shown, "op")
    assert half.topic == "RMQ_SYS_TRANS_HALF_TOPIC" and half.sys_flag == 0
    assert commit.topic == TOPIC and commit.sys_flag == 8
    assert commit.prepared_transaction_offset == half.physical_offset > 0
    assert half.uniq_id == commit.uniq_id == half.properties["__transactionId__"]
    assert note.topic == "RMQ_SYS_TRANS_OP_HALF_TOPIC" and note.uniq_id is None and note.body == b"0,"
    rolled_back = [item for item in shown.rows if item.step == 3]
    assert [item.code for item in rolled_back] == ["half", "rollback"]
    assert TOPIC not in {item.record.topic for item in rolled_back if item.record}
    assert (shown.messages, shown.copies) == (3, 2)


def lookup(store: StoreFolder) -> StoreLookup:
    return StoreLookup(store, Clock(datetime(2026, 12, 31, tzinfo=UTC), Story().zone, "given"))


def test_the_printed_ids_of_a_batch_are_not_found_the_batch_id_is(tmp_path: Path) -> None:
    shown = told(tmp_path, "batch.send")
    items = [item for item in shown.rows if item.code == "batch"]
    batch_id = items[0].values["batch_id"]
    assert [UniqId.from_hex(item.msg_id or "").counter for item in items] == [0, 1, 2]
    assert UniqId.from_hex(batch_id).counter == 3 and uniq(shown, "sent").counter == 4
    for item in items:
        assert item.record and item.record.in_batch and item.record.uniq_id == batch_id
        assert item.record.properties_text.count(item.msg_id or "") == 1
    with StoreFolder(tmp_path / "broker-a", SIZES.slots) as store:
        finder = lookup(store)
        assert len(finder.one(batch_id).copies) == 3
        for item in items:
            assert finder.one(item.msg_id or "").reason == "index_lost", "only a search of the log finds it"


def test_every_msg_id_leads_through_the_index_to_all_its_copies(tmp_path: Path) -> None:
    shown = told(tmp_path, "send.lost.consume.delay.commit")
    for name in BROKERS:
        with StoreFolder(tmp_path / name, SIZES.slots) as store:
            finder = lookup(store)
            here = [item for item in shown.rows if item.broker == name and item.msg_id]
            for msg_id in {item.msg_id or "" for item in here}:
                answer = finder.one(msg_id)
                assert answer.reason is None
                assert {copy["offset_msg_id"] for copy in row_of(answer)["copies"]} == {
                    item.offset_msg_id for item in here if item.msg_id == msg_id
                }


def test_a_record_that_does_not_fit_begins_the_next_file(tmp_path: Path) -> None:
    shown = told(tmp_path, "send.roll.send")
    blank, first = row(shown, "blank"), record(shown, "roll")
    size = SIZES.commit_log_file
    assert blank.values["offset"] + blank.values["size"] == size == first.physical_offset
    assert blank.values["size"] < first.size + 8, "it would have fitted"
    raw = (tmp_path / "broker-a" / "commitlog" / f"{0:020d}").read_bytes()
    start = blank.values["offset"]
    assert raw[start : start + 8] == blank.values["size"].to_bytes(4, "big") + bytes.fromhex("CBD43194")
    assert [file.name for file in shown.logs] == [f"{0:020d}", f"{size:020d}"]
    assert [piece.kind for piece in shown.logs[0].pieces] == ["record", "record", "blank"]
    assert row(shown, "roll").offset_msg_id == f"0A14010500002A9F{size:016X}"


@pytest.mark.parametrize("host", ["10.20.3.11", "fd00::1"])
def test_filling_always_rolls(tmp_path: Path, host: str) -> None:
    for before in range(12):
        shown = told(tmp_path / str(before), ".".join(["send"] * before + ["roll"]), host=host)
        assert codes(shown).count("blank") == codes(shown).count("roll") == 1


def test_past_the_month_elapsed_begins_again_and_the_counter_goes_on(tmp_path: Path) -> None:
    shown = play(READY["month"], tmp_path)
    assert [item.msg_id for item in shown.rows[2:]] == [PREFIX + "000000070001", PREFIX + "000004E90002"]
    assert from_ms(row(shown, "month").now, Story().zone).isoformat() == "2026-12-01T00:00:00.010000+08:00"


def test_the_month_is_the_producers_own(tmp_path: Path) -> None:
    shown = told(tmp_path, "month", clock="2026-03-07T12:00:00", made_in="America/New_York")
    assert uniq(shown, "month").elapsed == 7
    assert from_ms(row(shown, "month").now, Story(made_in="America/New_York").zone).isoformat().startswith("2026-04-01")


def test_a_clock_set_back_clamps_up_to_a_thousand_seconds(tmp_path: Path) -> None:
    shown = play(READY["back"], tmp_path)
    assert codes(shown) == ["sent", "month", "back_clamped", "back_below"]
    assert uniq(shown, "back_clamped").elapsed == 0
    assert uniq(shown, "back_below").signed_elapsed == -row(shown, "back_below").values["early"] < -1_000_000
    assert [UniqId.from_hex(item.msg_id or "").counter for item in shown.rows[1:]] == [0, 1, 2, 3]
    plain = told(tmp_path / "plain", "send.back")
    assert uniq(plain, "back").elapsed < uniq(plain, "sent").elapsed
    back, before = record(plain, "back"), record(plain, "sent")
    assert back.store_timestamp > before.store_timestamp, "only the producer's clock was set back"
    assert back.born_timestamp < before.born_timestamp


def test_the_counter_wraps_after_65535(tmp_path: Path) -> None:
    shown = play(READY["wrap"], tmp_path)
    assert [UniqId.from_hex(item.msg_id or "").counter for item in shown.rows[1:]] == [0, 65_535, 0, 1]
    assert row(shown, "wrap_last").values["count"] == 65_534


def test_containers_share_a_prefix_and_can_share_an_id(tmp_path: Path) -> None:
    shown = play(READY["containers"], tmp_path)
    assert {(item.msg_id or "")[:20] for item in shown.rows[1:]} == {"AC110002000118B4AAC2"}
    assert [UniqId.from_hex(item.msg_id or "").counter for item in shown.rows[1:]] == [0, 0, 1, 1, 0, 0]
    one, other = record(shown, "collide_first"), record(shown, "collide")
    assert one.uniq_id == other.uniq_id and one.body != other.body
    assert one.properties["KEYS"] != other.properties["KEYS"] and one.offset_id != other.offset_id
    assert shown.collisions == 2 and shown.messages == 6


def test_an_ipv6_host_makes_longer_ids_and_records(tmp_path: Path) -> None:
    shown = told(tmp_path, "lost", host="fd00::1")
    assert len(row(shown, "lost_again").msg_id or "") == 56
    assert record(shown, "lost_again").sys_flag == 16 and record(shown, "lost_again").born_host.is_v6


# links


def test_a_link_carries_what_is_not_usual() -> None:
    assert READY["retry"].params == {"story": "lost.consume"}
    story = Story.of("send", made_in="+05:30", pid=1, loader=0xAC)
    assert story.params == {"story": "send", "made_in": "+05:30", "pid": "1", "loader": "000000AC"}
    assert Story.read(story.params) == story
    assert Story.read({"story": "send", "made_in": " 05:30"}).made_in == "+05:30", "a plus sign in a link is a blank"
    assert Story.of("-") == Story() == Story.read(Story().params)
    assert Story().then("send").then("lost").undone().steps == ("send",)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"story": "send.nonsense"}, "lab_step"),
        ({"story": ".".join(["send"] * (STEPS_MOST + 1))}, "lab_steps"),
        ({"story": "send", "pid": "minus"}, "lab_number"),
        ({"story": "send", "pid": "4194305"}, "lab_number"),
        ({"story": "send", "loader": "XYZ"}, "lab_number"),
        ({"story": "send", "host": "example.com"}, "address"),
        ({"story": "send", "clock": "yesterday"}, "instant"),
        ({"story": "send", "clock": "1999-12-31T00:00:00"}, "lab_years"),
        ({"story": "send", "made_in": "Mars/Olympus"}, "zone"),
    ],
)
def test_what_cannot_be_played_is_refused_by_name(given: dict[str, str], code: str) -> None:
    with pytest.raises(CoreError) as caught:
        Story.read(given)
    assert caught.value.code == code
    assert "{" not in catalogue.words("zh").error(caught.value)


@pytest.mark.parametrize("step", STEPS)
def test_a_story_as_long_as_one_may_be_can_be_told(tmp_path: Path, step: str) -> None:
    shown = play(Story.of(".".join([step] * STEPS_MOST), clock="2098-12-31T23:59:59"), tmp_path)
    assert shown.rows[-1].step == STEPS_MOST


# what changed


def test_changed_bytes_and_moved_fields_are_told_apart() -> None:
    before, after = PREFIX + "63F5365C00FF", PREFIX + "63F53B3E0100"
    assert changed(after, before) == (*(False,) * 12, True, True, True, True)
    assert [(move.name, move.before, move.after) for move in moves(after, before, (UNIQ_V4,))] == [
        ("elapsed", 0x63F5365C, 0x63F53B3E),
        ("counter", 255, 256),
    ]
    assert changed(after, None) == (False,) * 16 and moves(after, None, (UNIQ_V4,)) == ()
    assert moves("0A14010500002A9F" + "0" * 16, "0A14010600002A9F" + "0" * 16, (OFFSET_V4,))[0].name == "ip"


def test_a_copy_says_what_it_kept(tmp_path: Path) -> None:
    shown = told(tmp_path, "send.consume")
    sent, again = record(shown, "sent"), record(shown, "consume_again")
    found = {item.name: item for item in differences(sent, again)}
    assert found["UNIQ_KEY"].same and found["KEYS"].same and found["body_crc"].same and found["born_timestamp"].same
    assert found["topic"].after == f"%RETRY%{GROUP}" and found["ORIGIN_MESSAGE_ID"].before is None
    assert text_of(again.body) == text_of(sent.body)


def test_every_row_has_its_words_and_every_word_its_row(tmp_path: Path) -> None:
    seen = {"start"}
    stories = [*READY.values(), EVERY, Story.of("busy.send.back")]
    for number, story in enumerate(stories):
        seen |= {item.code for item in play(story, tmp_path / str(number)).rows}
    for table in (catalogue.words(lang).table("") for lang in catalogue.languages()):
        assert {key.removeprefix("lab.row.") for key in table if key.startswith("lab.row.")} == seen
        assert {key.removeprefix("lab.why.") for key in table if key.startswith("lab.why.")} == seen
        assert {key.removeprefix("lab.step.") for key in table if key.startswith("lab.step.")} == set(STEPS)
        assert {key.removeprefix("lab.ready.") for key in table if key.startswith("lab.ready.")} == set(READY)
