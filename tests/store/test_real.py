"""A real broker's store: every offset answered, every key found, every file written again byte for byte."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from idcore.answers.lookup import StoreLookup, copy_row, row_of
from idcore.answers.lookup.store_folder import copy_of
from idcore.ids import Clock
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.store import Blank, Miss, Skipped, Stored, StoreFolder
from idcore.rocketmq.store.index import key_hash, key_of
from idcore.simulate.append import Settings
from idcore.simulate.writer import StoreWriter

pytestmark = pytest.mark.quick

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
CLOCK = Clock(datetime(2026, 11, 21, 8, tzinfo=UTC), UTC)
# As the broker.conf of the reference says.
SETTINGS = Settings(1_048_576, 6_000, 5_000, 4_000, 524_288, tuple(range(1, 11)))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_replayed_through_our_writer_every_file_is_the_brokers_own(
    real_root: Path, real_records: list[Stored], tmp_path: Path
) -> None:
    with StoreWriter(tmp_path / "ours", SETTINGS) as writer:
        rolled = []
        for stored in real_records:
            prepared = replace(stored.record, queue_offset=0, physical_offset=0, store_timestamp=0)
            put = writer.put(prepared, stored.record.store_timestamp)
            assert put.records == (stored.record,)
            assert put.offset_msg_id == str(stored.record.offset_id)
            if put.rolled_at is not None:
                rolled.append(put.rolled_at)
    assert rolled == [1_048_269]
    ours = tmp_path / "ours"
    assert contents(ours / "commitlog") == contents(real_root / "commitlog")
    assert contents(ours / "consumequeue") == contents(real_root / "consumequeue")
    index = [raw for _, raw in sorted(contents(real_root / "index").items())]
    assert [raw for _, raw in sorted(contents(ours / "index").items())] == index
    assert (ours / "checkpoint").read_bytes() == (real_root / "checkpoint").read_bytes()
    assert not (ours / "abort").exists()


def test_going_on_where_a_store_ended_gives_the_same_files(
    real_root: Path, real_records: list[Stored], tmp_path: Path
) -> None:
    for part in (real_records[:2_000], real_records[2_000:4_400], real_records[4_400:]):
        with StoreWriter(tmp_path / "ours", SETTINGS) as writer:
            for stored in part:
                prepared = replace(stored.record, queue_offset=0, physical_offset=0)
                assert writer.put(prepared, stored.record.store_timestamp).records == (stored.record,)
    assert contents(tmp_path / "ours" / "commitlog") == contents(real_root / "commitlog")
    assert contents(tmp_path / "ours" / "consumequeue") == contents(real_root / "consumequeue")
    index = [raw for _, raw in sorted(contents(real_root / "index").items())]
    assert [raw for _, raw in sorted(contents(tmp_path / "ours" / "index").items())] == index


def test_walking_meets_every_record_and_the_blank_one(real: StoreFolder) -> None:
    steps = list(real.log.walk())
    assert sum(isinstance(step, Stored) for step in steps) == 4_545
    assert [step for step in steps if isinstance(step, Blank)] == [Blank(1_048_269, 307, "00000000000000000000")]
    assert not [step for step in steps if isinstance(step, Skipped)]
    assert (real.log.minimum, real.log.end) == (0, 1_438_175)
    with gzip.open(VECTORS / "records.jsonl.gz", "rt", encoding="utf-8") as lines:
        reported = [row["message"]["commitLogOffset"] for row in map(json.loads, lines) if "message" in row]
    assert [step.offset for step in steps if isinstance(step, Stored)] == reported


def test_every_offset_of_a_stretch_is_a_record_or_names_the_one_it_is_in(
    real: StoreFolder, real_records: list[Stored]
) -> None:
    for stored in [*real_records[:6], *real_records[-6:], *real_records[3_300:3_303]]:
        for offset in range(stored.offset, stored.end):
            found = real.log.look(offset)
            if offset == stored.offset:
                assert found == stored
                continue
            assert isinstance(found, Miss)
            assert found.reason == "mid_record"
            assert found.evidence["record_offset"] == stored.offset
            assert found.evidence["byte"] == offset - stored.offset
    for offset in [record.offset for record in real_records[::37]]:
        assert isinstance(real.log.look(offset), Stored)


@pytest.mark.parametrize(
    ("offset", "reason"),
    [
        (-1, "before_minimum"),
        (1, "mid_record"),
        (1_048_268, "mid_record"),
        (1_048_269, "blank"),
        (1_048_270, "blank"),
        (1_048_575, "blank"),
        (1_048_577, "mid_record"),
        (1_438_174, "mid_record"),
        (1_438_175, "beyond_end"),
        (1_438_176, "beyond_end"),
        (2_097_151, "beyond_end"),
        (2_097_152, "beyond_end"),
        (1 << 40, "beyond_end"),
    ],
)
def test_reasons_at_the_borders(real: StoreFolder, offset: int, reason: str) -> None:
    found = real.log.look(offset)
    assert isinstance(found, Miss)
    assert found.reason == reason
    assert found.evidence["offset"] == offset
    if reason == "beyond_end":
        assert found.evidence["end"] == 1_438_175


def test_the_neighbours_of_a_record(real: StoreFolder, real_records: list[Stored]) -> None:
    border = next(at for at, stored in enumerate(real_records) if stored.offset == 1_048_576)
    for at in (0, 1, border - 1, border, len(real_records) - 1):
        earlier, later = real.log.next_to(real_records[at])
        assert earlier == (real_records[at - 1] if at else None)
        assert later == (real_records[at + 1] if at + 1 < len(real_records) else None)


def test_every_key_leads_through_the_index_to_its_record(real: StoreFolder, real_records: list[Stored]) -> None:
    assert [(file.slots, file.entries) for file in real.index.files] == [(5_000, 3_999), (5_000, 3_999), (5_000, 1_007)]
    reached = []
    for stored in real_records:
        properties = stored.record.properties
        keys = [properties[names.UNIQ_KEY]] if names.UNIQ_KEY in properties else []
        for key in keys + names.keys_of(properties):
            found = real.index.look_up(stored.record.topic, key, count())
            (entry,) = [entry for entry in found if entry.physical_offset == stored.offset]
            assert entry.key_hash == key_hash(key_of(stored.record.topic, key))
            assert 0 <= stored.record.store_timestamp - entry.timestamp < 1_000
            reached.append((entry.physical_offset, entry.key_hash))
    assert len(reached) == len(set(reached)) == 9_005  # as many as the files have entries


def test_every_unit_of_a_queue_points_at_its_record(real: StoreFolder, real_records: list[Stored]) -> None:
    counted = 0
    for topic in real.queues.topics:
        for queue in real.queues.of(topic):
            units = list(queue.units())
            assert queue.span == (0, len(units))
            assert [unit.queue_offset for unit in units] == list(range(len(units)))
            assert queue.unit(len(units)) is None
            counted += len(units)
    assert counted == 4_545
    for stored in real_records[::11]:
        unit = real.queues.unit(stored.record.topic, stored.record.queue_id, stored.record.queue_offset)
        assert unit is not None
        assert (unit.physical_offset, unit.size) == (stored.offset, stored.record.size)


def test_every_record_says_what_points_at_it(real: StoreFolder, real_records: list[Stored]) -> None:
    files = {file.path.name: file for file in real.index.files}
    for stored in real_records[::3]:
        row = copy_row(copy_of(stored, real))
        assert row["queue_unit"]["agrees"] and row["queue_unit_missing"] is None
        entries = row["index_entries"]
        assert [entry["key"] for entry in entries] == names.indexed(stored.record.properties)
        for entry in entries:
            assert entry["indexed_as"] == key_of(stored.record.topic, entry["key"])
            found = files[entry["file"]].look_up(entry["indexed_as"], count())
            assert (entry["place"], stored.offset) in [(other.place, other.physical_offset) for other in found]


def test_look_ups_answer_as_the_real_client_did(real: StoreFolder) -> None:
    hits = misses = 0
    with gzip.open(VECTORS / "lookups.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            answer = StoreLookup(real, CLOCK, searched_most=0).one(row["key"], row["topic"])
            offsets = [copy["commit_log_offset"] for copy in row_of(answer)["copies"]]
            if "message" in row:
                assert row["message"]["commitLogOffset"] in offsets
                copy = row_of(answer)["copies"][offsets.index(row["message"]["commitLogOffset"])]
                assert copy["msg_id"] == row["message"]["getMsgId"]
                assert copy["offset_msg_id"] == row["message"]["offsetMsgId"]
                hits += 1
            elif "found" in row:
                seen = [found["commitLogOffset"] for found in row["found"]]
                assert seen == offsets if len(seen) < 32 else set(seen) <= set(offsets)
                hits += 1
            else:
                # the broker answers the id a batch item had on the client with nothing, and so does its index
                assert not answer.found, row
                assert answer.reason
                misses += 1
    assert hits > 400
    assert misses > 20


def test_the_ids_of_a_5x_batch_are_found_by_search_and_explained(real: StoreFolder, real_records: list[Stored]) -> None:
    items = [stored for stored in real_records if stored.record.in_batch][:8:2]
    for stored in items:
        own = next(value for name, value in stored.record.properties_raw if name == names.UNIQ_KEY)
        answer = StoreLookup(real, CLOCK).one(own or "")
        # copies that were sent back carry both ids as well
        assert stored.offset in [copy["commit_log_offset"] for copy in row_of(answer)["copies"]]
        assert answer.reason == "index_lost"
        assert stored.record.uniq_id in answer.figures["batch"]["values"]["ids"]
        shared = StoreLookup(real, CLOCK).one(stored.record.uniq_id or "")
        assert shared.reason is None
        assert all(copy["batch"] for copy in row_of(shared)["copies"])
        same = [record.offset for record in real_records if record.record.uniq_id == stored.record.uniq_id]
        assert [copy["commit_log_offset"] for copy in row_of(shared)["copies"]] == same


def test_the_overview_of_the_folder(real: StoreFolder) -> None:
    seen = real.overview()
    assert [(file["file"], file["bytes"], file["used"]) for file in seen["files"]] == [
        ("00000000000000000000", 1_048_576, 1_048_576),
        ("00000000000001048576", 1_048_576, 389_599),
    ]
    assert seen["on_disk"] < seen["bytes"]
    assert (seen["minimum"], seen["end"], seen["holes"], seen["short_files"]) == (0, 1_438_175, [], [])
    assert seen["first_store_timestamp"] == 1_795_225_813_316
    assert seen["last_store_timestamp"] == 1_795_226_180_061
    assert seen["checkpoint"]["physical_timestamp"] == 1_795_226_180_061
    assert seen["checkpoint"]["index_timestamp"] == 1_795_226_060_966
    assert not seen["aborted"]
    topics = {row["topic"]: row for row in seen["topics"]}
    assert topics["VectorTopic"]["messages"] == 3_151
    assert topics["SCHEDULE_TOPIC_XXXX"]["system"]
    assert sum(row["messages"] for row in seen["topics"]) == 4_545
    assert [row["topic"] for row in seen["topics"]][-1] != "VectorTopic"  # the system's come last
