"""Damaged, cut, sparse, misnamed and growing files: a clear answer each time, never a wrong record, never a crash."""

from __future__ import annotations

import os
import random
import shutil
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from idcore.answers.lookup import StoreLookup, row_of
from idcore.base.errors import CoreError
from idcore.ids import Clock
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.store import Blank, CommitLog, Miss, Skipped, Stored, StoreFolder, commitlog, queue
from idcore.rocketmq.store.commitlog import place_of
from idcore.rocketmq.store.files import File
from idcore.simulate.append import Settings
from idcore.simulate.writer import StoreWriter
from idcore.sources import record_lines

pytestmark = pytest.mark.quick

CLOCK = Clock(datetime(2026, 11, 21, 8, tzinfo=UTC), UTC)
HOST = Host(bytes((127, 0, 0, 1)), 10911)
FIRST, SECOND = "00000000000000000000", "00000000000001048576"


def record(number: int, body: bytes | None = None) -> Record:
    return Record.of(
        "T",
        f"body {number}".encode() if body is None else body,
        f"UNIQ_KEY\x01ID{number}\x02KEYS\x01k{number}\x02",
        queue_id=0,
        born_timestamp=1_000 + number,
        born_host=HOST,
        store_host=HOST,
    )


SMALL = Settings(4_096, 200, 50, 100, 2_000)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A hundred records in files of 4 KiB."""
    with StoreWriter(tmp_path / "small", SMALL) as writer:
        for number in range(100):
            assert writer.put(record(number), 1_795_000_000_000 + number).records
    return tmp_path / "small"


def records_of(root: Path) -> dict[int, Record]:
    return {step.offset: step.record for step in CommitLog(root / "commitlog").walk() if isinstance(step, Stored)}


def damage(path: Path, at: int, raw: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(raw)


def look(root: Path, offset: int) -> Stored | Miss:
    return CommitLog(root / "commitlog").look(offset)


def test_zeros_in_the_middle_are_a_hole_and_the_rest_is_read(copy: Path, real_records: list[Stored]) -> None:
    first, last = real_records[100], real_records[109]
    damage(copy / "commitlog" / FIRST, first.offset, bytes(last.end - first.offset))
    found = look(copy, real_records[105].offset)
    assert isinstance(found, Miss)
    assert (found.reason, found.evidence["first"], found.evidence["last"]) == ("hole", first.offset, last.end - 1)
    steps = list(CommitLog(copy / "commitlog").walk())
    (skipped,) = [step for step in steps if isinstance(step, Skipped)]
    assert (skipped.offset, skipped.end, skipped.zeros) == (first.offset, last.end, True)
    assert sum(isinstance(step, Stored) for step in steps) == 4_535


def test_rubbish_in_the_middle_is_skipped_and_named(copy: Path, real_records: list[Stored]) -> None:
    first, last = real_records[200], real_records[203]
    rng = random.Random(1)
    damage(copy / "commitlog" / FIRST, first.offset, rng.randbytes(last.end - first.offset))
    steps = list(CommitLog(copy / "commitlog").walk())
    (skipped,) = [step for step in steps if isinstance(step, Skipped)]
    assert (skipped.offset, skipped.end, skipped.zeros) == (first.offset, last.end, False)
    assert skipped.field == "magic"
    assert skipped.problem.__traceback__ is None, "it holds the bytes that were read"
    assert sum(isinstance(step, Stored) for step in steps) == 4_541
    for stored in (first, last):
        found = look(copy, stored.offset)
        assert isinstance(found, Miss)
        assert found.reason == "damaged"
        assert (found.evidence["first"], found.evidence["last"]) == (first.offset, last.end - 1)
        assert found.evidence["field"] == "magic"


def test_a_flipped_bit_of_a_body_is_said_and_one_of_a_length_is_damage(copy: Path, real_records: list[Stored]) -> None:
    stored = real_records[300]
    raw = (copy / "commitlog" / FIRST).read_bytes()
    body_at = raw.index(stored.record.body, stored.offset)
    damage(copy / "commitlog" / FIRST, body_at, bytes([raw[body_at] ^ 1]))
    with StoreFolder(copy) as store:
        answer = StoreLookup(store, CLOCK).one(str(stored.record.offset_id))
        assert answer.found
        assert row_of(answer)["copies"][0]["body_crc_ok"] is False
        assert "body_crc" in answer.figures
        by_key = StoreLookup(store, CLOCK).one(stored.record.uniq_id or "")
        assert row_of(by_key)["copies"][0]["body_crc_ok"] is False
        assert str(stored.offset) in by_key.figures["body_crc"]["values"]["places"]
    damage(copy / "commitlog" / FIRST, stored.offset + 3, b"\x01")
    found = look(copy, stored.offset)
    assert isinstance(found, Miss)
    assert (found.reason, found.evidence["field"]) == ("damaged", "properties_length")
    assert found.evidence["problem"]
    with StoreFolder(copy) as store:
        answer = StoreLookup(store, CLOCK).one(stored.record.uniq_id or "")
        assert (answer.found, answer.reason) == (False, "damaged")


def test_a_file_that_lies_at_the_wrong_place_is_not_believed(copy: Path, real_records: list[Stored]) -> None:
    shutil.copyfile(copy / "commitlog" / FIRST, copy / "commitlog" / SECOND)
    steps = list(CommitLog(copy / "commitlog").walk())
    assert all(step.offset < 1_048_576 for step in steps if isinstance(step, Stored))
    skipped = [step for step in steps if isinstance(step, Skipped)]
    assert skipped[0].offset == 1_048_576
    assert (skipped[0].problem.code, skipped[0].problem.values) == ("misplaced", {"offset": 0})
    found = look(copy, 1_048_576)
    assert isinstance(found, Miss)
    assert (found.reason, found.evidence["field"]) == ("damaged", "physical_offset")


def test_a_missing_file_is_a_hole_and_deleted_ones_are_below_the_minimum(small: Path) -> None:
    names = sorted(path.name for path in (small / "commitlog").iterdir())
    assert len(names) > 2
    whole = records_of(small)
    (small / "commitlog" / names[1]).unlink()
    found = look(small, 4_096)
    assert isinstance(found, Miss)
    assert (found.reason, found.evidence["first"], found.evidence["last"]) == ("hole", 4_096, 8_191)
    with StoreFolder(small) as store:
        assert store.overview()["holes"] == [{"first": 4_096, "last": 8_191}]
        gone = next(number for number, offset in enumerate(whole) if 4_096 <= offset < 8_192)
        answer = StoreLookup(store, CLOCK).one(f"ID{gone}")
        assert (answer.found, answer.reason) == (False, "hole")
    steps = list(CommitLog(small / "commitlog").walk())
    (skipped,) = [step for step in steps if isinstance(step, Skipped)]
    assert (skipped.offset, skipped.end, skipped.missing) == (4_096, 8_192, True)
    (small / "commitlog" / names[0]).unlink()
    found = look(small, 0)
    assert isinstance(found, Miss)
    assert (found.reason, found.evidence["minimum"]) == ("before_minimum", 8_192)
    with StoreFolder(small) as store:
        answer = StoreLookup(store, CLOCK).one("ID0")
        assert (answer.found, answer.reason) == (False, "before_minimum")
        assert answer.figures["minimum"] == 8_192


@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 90, 91, 100, 1_000, 4_095])
def test_a_last_file_that_is_cut_ends_where_its_last_whole_record_ends(small: Path, size: int) -> None:
    names = sorted(path.name for path in (small / "commitlog").iterdir())
    whole = records_of(small)
    os.truncate(small / "commitlog" / names[-1], size)
    kept = records_of(small)
    begin = int(names[-1])
    assert kept == {o: r for o, r in whole.items() if o < begin or o + r.size <= begin + size}
    end = max(o + r.size for o, r in kept.items())
    log = CommitLog(small / "commitlog")
    for offset in set(whole) - set(kept):
        found = log.look(offset)
        assert isinstance(found, Miss)
        assert found.reason in ("beyond_end", "damaged")
        if found.reason == "beyond_end":
            assert found.evidence["end"] in (end, begin)


def test_a_cut_inside_the_log_is_a_hole(small: Path) -> None:
    names = sorted(path.name for path in (small / "commitlog").iterdir())
    os.truncate(small / "commitlog" / names[1], 1_000)
    found = look(small, 4_096 + 2_000)
    assert isinstance(found, Miss)
    assert (found.reason, found.evidence["first"], found.evidence["last"]) == ("hole", 5_096, 8_191)
    with StoreFolder(small) as store:
        assert store.overview()["short_files"] == [names[1]]


def test_bytes_inside_a_body_that_look_like_a_record_are_not_one(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", Settings(1 << 16, 200, 50, 100)) as writer:
        first = writer.put(record(0), 5).records[0]
        outer = record(1, b"x" * 500)
        body_at = first.size + bytes(outer).index(b"x" * 500)
        inner = record(9).placed(0, body_at + 10, 5)
        body = (b"y" * 10 + bytes(inner)).ljust(500, b"z")
        put = writer.put(record(1, body), 6)
        assert put.records
        writer.put(record(2), 7)
    found = look(tmp_path / "s", body_at + 10)
    assert isinstance(found, Miss)
    assert (found.reason, found.evidence["record_offset"], found.evidence["field"]) == (
        "mid_record",
        first.size,
        "body",
    )
    assert list(records_of(tmp_path / "s")) == [0, first.size, first.size + put.records[0].size]


def test_a_log_that_is_being_written_shows_what_is_whole(tmp_path: Path) -> None:
    root = tmp_path / "s"
    writer = StoreWriter(root, SMALL)
    for number in range(5):
        writer.put(record(number), number + 1)
    assert (root / "abort").exists()
    before = CommitLog(root / "commitlog")
    end = before.end
    assert list(records_of(root)) and end == writer.end
    half = bytes(record(5).placed(5, writer.end, 9))
    for size in range(1, len(half)):
        damage(root / "commitlog" / FIRST, writer.end, half[:size])
        log = CommitLog(root / "commitlog")
        whole = [step for step in log.walk() if isinstance(step, Stored) and not step.record.half_written]
        assert len(whole) == 5
        found = log.look(writer.end)
        if isinstance(found, Stored):  # all but the end of its properties is there: a broker takes it, too
            assert found.record.half_written
            with StoreFolder(root) as store:
                answer = StoreLookup(store, CLOCK).one(str(found.record.offset_id))
            assert "half_written" in answer.figures
            continue
        assert isinstance(found, Miss)
        assert found.reason in ("damaged", "beyond_end")
    damage(root / "commitlog" / FIRST, writer.end, half)
    assert isinstance(CommitLog(root / "commitlog").look(writer.end), Stored)
    with StoreFolder(root) as store:
        assert store.aborted
    writer.close()
    with StoreFolder(root) as store:
        assert not store.aborted


def test_a_file_that_shrinks_while_it_is_read_gives_fewer_records(small: Path) -> None:
    log = CommitLog(small / "commitlog")
    steps = log.walk()
    assert isinstance(next(steps), Stored)
    for file in log.files:
        os.truncate(file.path, 300)
    for step in steps:
        assert isinstance(step, Stored | Skipped | Blank)
    for file in log.files:
        assert isinstance(log.look(file.start + 1_000), Miss)


def test_strangers_in_the_folder_are_named_and_left_alone(small: Path) -> None:
    (small / "commitlog" / "notes.txt").write_text("x")
    (small / "commitlog" / "00000000000000009999x").write_text("x")
    os.mkfifo(small / "commitlog" / ("9" * 20))
    (small / "commitlog" / ("8" * 20)).symlink_to("nowhere")
    (small / "index" / "backup").mkdir()
    with StoreFolder(small) as store:
        seen = store.overview()
    assert set(seen["strangers"]) == {"notes.txt", "00000000000000009999x", "9" * 20, "8" * 20, "backup"}


def test_a_topic_of_a_record_is_never_part_of_a_path(small: Path) -> None:
    with StoreFolder(small) as store:
        assert store.queues.unit("../../T", 0, 0) is None
        assert store.queues.unit("T", 0, 0) is not None
        assert StoreLookup(store, CLOCK).one("ID1", "../commitlog").reason == "topic_unknown"


@pytest.mark.parametrize("size", [0, 10, 39, 40, 41, 200, 240, 260, 1_000])
def test_an_index_file_that_is_cut_loses_what_it_lost_and_no_more(small: Path, size: int) -> None:
    os.truncate(min((small / "index").iterdir()), size)
    with StoreFolder(small) as store:
        for number in (0, 20, 99):
            answer = StoreLookup(store, CLOCK).one(f"ID{number}")
            assert answer.found
            assert answer.reason in (None, "index_lost")
            assert [copy["msg_id"] for copy in row_of(answer)["copies"]] == [f"ID{number}"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_damage_never_gives_a_record_that_was_not_there(small: Path, data: st.DataObject) -> None:
    whole = records_of(small)
    names = sorted(path.name for path in (small / "commitlog").iterdir())
    spoiled = small.parent / "spoiled"
    shutil.rmtree(spoiled, ignore_errors=True)
    shutil.copytree(small, spoiled)
    for _ in range(data.draw(st.integers(1, 4))):
        path = spoiled / data.draw(st.sampled_from([f"commitlog/{names[0]}", f"commitlog/{names[1]}", "index"]))
        if path.is_dir():
            path = min(path.iterdir())
        at = data.draw(st.integers(0, max(0, path.stat().st_size - 1)))
        damage(path, at, data.draw(st.binary(min_size=1, max_size=40)))
    log = CommitLog(spoiled / "commitlog")
    covered = 0
    for step in log.walk():
        covered += step.end - step.offset
        if isinstance(step, Stored) and whole.get(step.offset) != step.record:
            # every byte that changed without its record falling apart is in a value, and a body says so by its CRC
            assert step.offset in whole
            was = whole[step.offset]
            assert step.record.size == was.size
            assert step.record.body == was.body or not step.record.body_crc_ok
    assert covered <= sum(file.size for file in log.files)
    with StoreFolder(spoiled) as store:
        lookup = StoreLookup(store, CLOCK)
        for number in data.draw(st.lists(st.integers(0, 99), max_size=4)):
            answer = lookup.one(f"ID{number}")
            for copy in row_of(answer)["copies"]:
                assert copy["commit_log_offset"] in whole
                assert copy["properties"].get("UNIQ_KEY") == f"ID{number}" or f"ID{number}" in str(
                    copy["properties_raw"]
                )
            assert answer.found or answer.reason


def test_an_index_whose_times_are_rubbish_still_says_that_it_was_the_window(small: Path) -> None:
    (path, *_) = sorted((small / "index").iterdir())
    damage(path, 0, ((1 << 62).to_bytes(8, "big")))
    with StoreFolder(small, SMALL.slots) as store:
        answer = StoreLookup(store, CLOCK, end=1_795_000_000_050).one("ID3")
    assert answer.reason == "window" and answer.figures["stored"] == [f"{1 << 62} ms"]


def test_what_was_never_written_is_not_read(small: Path) -> None:
    """Files of a terabyte with nothing but holes behind what was written: a copy that was kept sparse."""
    log, queue = small / "commitlog", small / "consumequeue" / "T" / "0"
    (huge,) = sorted(log.iterdir())[-1:]
    os.truncate(huge, 1 << 40)
    os.truncate(sorted(queue.iterdir())[-1], 1 << 40)
    read = 0
    with StoreFolder(small) as store:
        plain = store.reading.read

        def counted(path: Path, at: int, size: int) -> bytes:
            nonlocal read
            raw = plain(path, at, size)
            read += len(raw)
            return raw

        store.reading.read = counted  # type: ignore[method-assign]
        seen = store.overview()
        assert seen["last_store_timestamp"] == 1_795_000_000_099
        assert sum(topic["messages"] for topic in seen["topics"]) == 100
        assert store.log.look(1 << 39) == Miss(
            "beyond_end", {"offset": 1 << 39, "end": store.log.end, "last_file": huge.name}
        )
        assert len([step for step in store.log.walk() if isinstance(step, Stored)]) == 100
        assert StoreLookup(store, CLOCK).one("nobody has this key").reason == "not_an_id"
    assert read < 64 << 20


def test_a_place_is_not_looked_for_behind_thousands_of_magics() -> None:
    made, magic = bytes(record(1).placed(0, 500, 5)), bytes.fromhex("DAA320A7")
    assert place_of(magic * 100 + made) == 100
    assert place_of(magic * 1_000_000 + made) is None


def test_a_record_behind_a_file_full_of_magics_is_found_without_a_look_at_each(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    magics = (bytes.fromhex("DAA320A7") * 7 + bytes.fromhex("CBD43194")) * (1 << 16)
    made = bytes(record(1).placed(0, len(magics), 5))
    (tmp_path / "commitlog" / ("0" * 20)).write_bytes(magics + made + magics[:-4])
    began = time.process_time()
    with StoreFolder(tmp_path) as store:
        first, last = store.first, store.last
        assert first is not None and last is not None
        assert first.offset == last.offset == len(magics)
        assert [type(step) for step in store.log.walk()] == [Skipped, Stored, Skipped]
    assert time.process_time() - began < 8  # to read and refuse each of them took 14


def test_what_is_no_store_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(CoreError) as caught:
        StoreFolder(tmp_path)
    assert caught.value.code == "no_log"
    with pytest.raises(CoreError) as caught:
        StoreFolder(tmp_path / "nowhere")
    assert caught.value.code == "no_folder"
    (tmp_path / "piece").mkdir()
    (tmp_path / "piece" / "a.txt").write_text("no record")
    (tmp_path / "piece" / "dump.bin").write_bytes(b"cut" + bytes(record(1).placed(0, 500, 5)))
    with pytest.raises(CoreError) as caught:
        StoreFolder(tmp_path / "piece")
    assert str(caught.value).endswith(
        f"but dump.bin contains records: rename it to {497:020d}, the offset of its first byte"
    )
    (tmp_path / "file").write_text("x")
    with pytest.raises(CoreError) as caught:
        StoreFolder(tmp_path / "file")
    assert caught.value.code == "no_folder"
    (tmp_path / "empty" / "commitlog").mkdir(parents=True)
    with StoreFolder(tmp_path / "empty") as store:
        assert store.overview()["files"] == []
        assert store.log.look(0) == Miss("beyond_end", {"offset": 0, "end": 0, "files": 0})
        assert StoreLookup(store, CLOCK).one("AC110001473C7D4991AD336AEA5703E0").reason == "unknown"


def test_of_a_queue_with_more_units_than_can_be_held_those_of_its_end_are(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "_UNITS_AT_ONCE", 7)
    with StoreFolder(small) as store:
        (one,) = store.queues.of("T")
        every = one.entries().tolist()
        monkeypatch.setattr(queue, "MOST_ENTRIES", 30)
        assert len(every) == 100 and one.entries().tolist() == every[-len(one.entries()) :]
        assert 30 <= len(one.entries()) < 50


def test_of_heads_without_a_record_few_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = [
        (256).to_bytes(4, "big") + b"\xda\xa3\x20\xa7" + bytes(20) + at.to_bytes(8, "big")
        for at in range(0, 360_000, 36)
    ]
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / FIRST).write_bytes(b"".join(fakes))
    monkeypatch.setattr(commitlog, "_TRIED_MOST", 50)
    tried, size_at = list[int](), CommitLog._size_at

    def noted(log: CommitLog, file: File, offset: int) -> int | None:
        tried.append(offset)
        return size_at(log, file, offset)

    monkeypatch.setattr(CommitLog, "_size_at", noted)
    found = look(tmp_path, 180_000)
    assert isinstance(found, Miss) and found.reason == "damaged" and len(tried) < 500


def test_a_record_that_is_larger_than_any_is_none_and_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreWriter(tmp_path / "s") as writer:
        writer.put(record(0, bytes(2_000)), 1_795_000_000_000)
        writer.put(record(1), 1_795_000_000_000)
    with StoreFolder(tmp_path / "s") as store:
        assert store.overview()["files"][0]["used"] and store.first and store.first.record.size > 2_000
    monkeypatch.setattr(commitlog, "LARGEST", 1_000)
    monkeypatch.setattr(commitlog, "_WINDOW", 1_000)
    with StoreFolder(tmp_path / "s") as store:
        large, small = list(store.log.walk())[:2]
        assert isinstance(large, Skipped) and isinstance(small, Stored) and store.first == store.last == small


def test_a_search_holds_no_more_than_has_room(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = CommitLog(small / "commitlog")
    assert len(log.search(b"k", 1 << 30)[0]) == 100
    monkeypatch.setattr(commitlog, "_HELD_MOST", 1_000)
    assert 1 < len(log.search(b"k", 1 << 30)[0]) < 20


@pytest.mark.parametrize(("most", "records"), [(1 << 20, 3), (550_000, 2)])
def test_a_scan_passes_over_a_record_that_is_larger_than_any(
    most: int, records: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreWriter(tmp_path / "s") as writer:
        for number, body in enumerate((b"a", bytes(600_000), b"c")):
            writer.put(record(number, body), 1_795_000_000_000)
    log = tmp_path / "s" / "commitlog" / FIRST
    monkeypatch.setattr(record_lines, "_LARGEST", most)
    text = bytearray(4 << 20)
    with log.open("rb", buffering=0) as file:
        lines, size = record_lines.RecordLines(file, str(log), 0, log.stat().st_size), 0
        assert lines.begin() == 0
        with suppress(CoreError):  # what was wrong comes behind the text
            while got := lines.readinto(memoryview(text)[size:]):
                size += got
    (last,) = (one for one in records_of(tmp_path / "s").values() if one.uniq_id == "ID2")
    assert bytes(text[:size]).count(b"msgId=ID") == records
    assert text.startswith(b"msgId=ID2", last.physical_offset), "each line is where its record is"
