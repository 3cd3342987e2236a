"""Stores of a real broker of 5.5.0 that are in RocksDB, against what that broker answered while it ran."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.lookup.store_folder import StoreLookup
from idcore.answers.lookup.ways import Way
from idcore.base import loose_json
from idcore.ids import Clock
from idcore.kernels import fates
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.store import Stored, StoreFolder, rocks_queues, rocks_settings, rocksdb
from idcore.rocketmq.store.config import BrokerConfig, read_config
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.rocks_messages import PendingState
from idcore.simulate.writer import StoreWriter
from tests.store.test_damage import record
from tests.store.unpacked import real_store

pytestmark = pytest.mark.quick
_ASKED = re.compile(r"ASK (\d+) {(.*?)} -> 0 \| [^|]* \| ({offset=\d+}|null) \| (.*)")
FAILS = {("Scenes", "fails"): {0: 5}, ("%RETRY%fails", "fails"): {0: 5}}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("rocks"), "rocksdb.tar.xz")


@pytest.fixture(scope="module")
def sent(root: Path) -> dict[str, str]:
    return dict(json.loads((root / "sent.json").read_text()))


@pytest.fixture(scope="module", params=["running", "stopped"])
def store(root: Path, request: pytest.FixtureRequest) -> Iterator[StoreFolder]:
    with StoreFolder(root / request.param) as opened:
        yield opened


@pytest.mark.parametrize("name", ["STREAMLIT_SERVER_COOKIE_SECRET", "AWS_SECRET_ACCESS_KEY", "IDCORE_ALLOWED_PATHS"])
def test_the_process_that_opens_a_folder_knows_no_key(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, given = subprocess.Popen, list[dict[str, str]]()

    def noted(*words: Any, **options: Any) -> Any:
        given.append(options["env"])
        return begin(*words, **options)

    monkeypatch.setenv(name, "canary")
    monkeypatch.setattr(rocksdb.subprocess, "Popen", noted)
    with StoreFolder(root / "stopped") as opened:
        assert list(answers(root, 30)) and opened.overview()["topics"]
    assert given and not any("canary" in value for one in given for value in one.values())


def answers(root: Path, code: int) -> Iterator[tuple[dict[str, str], str, Any]]:
    """What the broker answered to a request: its fields, the offset, and the body."""
    for line in (root / "answers.txt").read_text().splitlines():
        asked = _ASKED.match(line)
        if asked and int(asked[1]) == code:
            fields = dict(part.split("=") for part in asked[2].split(", ") if part)
            yield fields, asked[3], None if asked[4] == "null" else loose_json.loads(asked[4].encode())


def codes(config: BrokerConfig) -> list[str]:
    return [note.code for note in config.notes]


def one(store: StoreFolder, text: str) -> Any:
    return StoreLookup(store, Clock(datetime.now(UTC), UTC, "given")).one(text, fate=True)


def facts(answer: Any) -> set[str]:
    return {each.code for each in answer.evidence}


def test_queues_are_those_of_the_broker_whether_it_had_written_them_or_not(root: Path, store: StoreFolder) -> None:
    asked = list(answers(root, 321))
    assert len(asked) == 14
    for (fields, _, body), (_, end, _) in zip(asked, list(answers(root, 30))[1:], strict=True):
        topic, number = fields["topic"], int(fields["queueId"])
        (queue,) = (each for each in store.queues.of(topic) if each.queue_id == number)
        units = list(queue.units())
        assert queue.span == (body["minQueueIndex"], body["maxQueueIndex"]) and end == f"{{offset={queue.span[1]}}}"
        assert [each.queue_offset for each in units] == list(range(*queue.span)) and queue.last == units[-1]
        for unit, row in zip(units, body["queueData"], strict=False):
            assert unit == queue.unit(unit.queue_offset) == store.queues.unit(topic, number, unit.queue_offset)
            assert (unit.physical_offset, unit.size) == (row["physicOffset"], row["physicSize"])
            known = topic != SCHEDULE_TOPIC or store.root.name == "stopped"
            assert unit.tags_code == (row["tagsCode"] if known else None), "only the broker knows its delay levels"
            code = row["tagsCode"] if known else fates.UNKNOWN
            assert queue.entries()[unit.queue_offset].tolist() == [unit.queue_offset, unit.physical_offset, code]
            assert queue.entries(unit.queue_offset)[0].tolist() == [unit.queue_offset, unit.physical_offset, code]
        assert queue.unit(queue.span[1]) is None and queue.unit(-1) is None


def test_offsets_are_those_of_the_broker(root: Path, store: StoreFolder) -> None:
    ((_, _, body),) = answers(root, 43)
    said = {tuple(key.split("@")): {int(q): at for q, at in held.items()} for key, held in body["offsetTable"].items()}
    offsets = store.config.offsets or {}
    assert said and {key: offsets[key] for key in said} == said  # type: ignore[index]
    assert store.config.groups and store.config.groups["chats"].can_consume
    running = store.root.name == "running"
    assert codes(store.config) == (["config_rocksdb_tail", "config_rocksdb_unflushed"] if running else [])


def test_a_message_is_found_and_judged(store: StoreFolder, sent: dict[str, str]) -> None:
    answer = one(store, sent["plain"])
    said = {each.group: each.code for each in answer.fate}
    assert said == {"reads": "consumed", "choosy": "consumed", "fails": "dead", "gone": "behind"}
    listed = StoreLookup(store, Clock(datetime.now(UTC), UTC, "given")).list_messages(
        Way.of({"topic": "Tagged", "from": "2020-01-01T00:00:00Z"}, UTC)  # type: ignore[arg-type]
    )
    assert [copy.record.queue_offset for copy in listed.copies] == list(range(150))
    light = StoreLookup(store, Clock(datetime.now(UTC), UTC, "given")).list_messages(
        Way.of({"topic": "%LMQ%b", "from": "2020-01-01T00:00:00Z"}, UTC)  # type: ignore[arg-type]
    )
    assert [copy.record.body for copy in light.copies] == [b"light 0", b"light 2", b"light 4"]


def test_the_index_leads_to_keys_and_ids(root: Path, sent: dict[str, str]) -> None:
    with StoreFolder(root / "stopped") as store:
        assert not store.index.files and store.index.is_whole
        answer = one(store, "key-plain")
        assert answer.found and answer.reason is None, "the log was not searched"
        assert {copy.record.uniq_id for copy in answer.copies} == {sent["plain"]}
        plain = one(store, sent["plain"]).copies[0]
        assert [entry["file"] for entry in plain.more["index_entries"]] == ["rocksdbstore"] * 2
        assert one(store, sent["plain"][:-4] + "FFFF").reason == "unknown"
    with StoreFolder(root / "running") as store:
        answer = one(store, "key-plain")
        assert answer.found and answer.reason == "index_lost"


def test_transactions_and_timers_have_their_ends(root: Path, sent: dict[str, str]) -> None:
    with StoreFolder(root / "stopped") as store:
        assert "half_undecided" in facts(one(store, sent["open"]))
        asked = next(each for each in one(store, sent["open"]).evidence if each.code == "half_undecided")
        assert asked.values["checks"] > 1
        assert "half_rolled_back" in facts(one(store, sent["rolled_back"]))
        assert "later_due" in facts(one(store, sent["timer"]))
        timed = next(copy.record for copy in one(store, sent["timed"]).copies if copy.relation == "timer")
        kept = store.kept
        assert kept is not None
        due = int(timed.properties["TIMER_OUT_MS"])
        assert kept.timer(due, sent["timed"], timed.queue_offset) == PendingState(False), "it is past its time"
        assert kept.timer(due, "deleted", 1) == PendingState(False)
        assert kept.timer(due, "later", 2) is None, "the broker had not come to this place"
        half = one(store, sent["open"]).copies[0].record
        assert kept.transaction(half.physical_offset - 1) == PendingState(False)
        assert kept.transaction(half.physical_offset + 1) is None
    with StoreFolder(root / "running") as store:
        assert "half_open" in facts(one(store, sent["open"]))


@pytest.mark.parametrize("name", ["second", "single"])
def test_settings_of_the_other_layouts_are_read(root: Path, name: str) -> None:
    reading = Reading()
    found = read_config(root / name, reading)
    reading.close()
    assert found.offsets and {key: found.offsets[key] for key in FAILS} == FAILS and codes(found) == []
    assert found.read == ("rdb" if name == "second" else "metadata",) and found.offsets_written_ms
    if name == "single":
        assert found.topics and found.topics["Scenes"].read_queues == 1 and found.groups and "fails" in found.groups
    else:
        assert found.handed_out["Scenes", "reads"] == {0: 5}


def test_a_broker_with_light_topics_has_all_offsets_in_a_file_of_its_own(root: Path, tmp_path: Path) -> None:
    with StoreFolder(root / "light") as store:
        assert store.config.offsets == {("%LMQ%$Parent$s1", "chats"): {0: 2}} and codes(store.config) == []
    copy = Path(shutil.copytree(root / "light", tmp_path / "light"))
    file = copy / "config" / "lmqConsumerOffset.json"
    older = {"offsetTable": {"%LMQ%$Parent$s1@chats": {"0": 1}, "T@G": {"0": 7}}}
    (copy / "config" / "consumerOffset.json").write_text(json.dumps(older))
    text = json.loads(file.read_text().replace("0:2", '"0":2'))
    file.write_text(json.dumps(text | {"lmqOffsetTable": {"%LMQ%a@%LMQ%reader": 3}}))
    with StoreFolder(copy) as store:
        assert store.config.offsets == {
            ("%LMQ%$Parent$s1", "chats"): {0: 2},
            ("T", "G"): {0: 7},
            ("%LMQ%a", "%LMQ%reader"): {0: 3},
        }


def test_nothing_is_written_and_no_process_stays(root: Path, sent: dict[str, str]) -> None:
    before = {file: file.stat().st_mtime_ns for file in root.rglob("*")}
    with StoreFolder(root / "stopped") as store:
        one(store, sent["open"])
        process = store.kept.database._process if store.kept else None
        assert process is not None and process.poll() is None
    assert process.poll() is not None
    assert {file: file.stat().st_mtime_ns for file in root.rglob("*")} == before


def test_what_cannot_be_opened_is_named_and_made_of_the_log(
    root: Path, tmp_path: Path, sent: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(root / "stopped", tmp_path / "store"))
    for folder in ("consumequeue", "rocksdbstore"):
        for file in (copy / folder).glob("MANIFEST*"):
            file.write_bytes(b"x" * 500)
    with StoreFolder(copy) as store:
        assert codes(store.config) == ["config_rocksdb_queues", "config_rocksdb_tail", "config_rocksdb_index"]
        assert one(store, sent["plain"]).found and store.queues.of("Tagged")[0].span == (0, 150)
    with StoreFolder(copy) as store:
        monkeypatch.setattr(rocks_queues, "TAIL_MOST", 1_000)
        assert codes(store.config)[:2] == ["config_rocksdb_queues", "config_rocksdb_short"]
        assert {each.code for each in one(store, sent["plain"]).fate} >= {"dead"} and not store.queues.is_whole
        listed = StoreLookup(store, Clock(datetime.now(UTC), UTC, "given")).list_messages(
            Way.of({"topic": "Scenes", "from": "2020-01-01T00:00:00Z"}, UTC)  # type: ignore[arg-type]
        )
        assert len(listed.copies) == 5, "a list is made of the log"


def test_a_file_that_is_damaged_where_it_is_read_is_named(root: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(root / "stopped", tmp_path / "store"))
    for file in (copy / "consumequeue").glob("*.sst"):
        raw = bytearray(file.read_bytes())
        raw[20:60] = b"x" * 40
        file.write_bytes(raw)
    with StoreFolder(copy) as store:
        units = [unit for topic in store.queues.topics for queue in store.queues.of(topic) for unit in queue.units()]
        assert store.unreadable.keys() == {"consumequeue"} and len(units) == 202, "they are made of the log"
        assert codes(store.config) == ["config_rocksdb_queues", "config_rocksdb_tail"]


def test_a_file_that_went_away_or_leads_nowhere_ends_nothing(
    root: Path, tmp_path: Path, sent: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(root / "stopped", tmp_path / "store"))
    folders = [file.parent for file in copy.rglob(rocksdb.MARK)]
    for folder in folders:
        (folder / "000000.sst").symlink_to("nowhere")
    with StoreFolder(copy) as store, StoreFolder(root / "stopped") as whole:
        assert len(folders) > 3 and one(store, sent["plain"]).fate == one(whole, sent["plain"]).fate
        assert (store.config.offsets, store.unreadable) == (whole.config.offsets, {})
    with StoreFolder(copy) as store:

        def lost(*_: object) -> bool:
            shutil.rmtree(copy / "config", ignore_errors=True)
            return True

        monkeypatch.setattr(rocks_settings, "has_data", lost)
        assert store.config.offsets is None and one(store, sent["plain"]).found


def test_rows_that_no_broker_writes_end_no_look_up(tmp_path: Path) -> None:
    from rocksdict import Options, Rdict

    of_store = [replace(record(number), queue_id=number - 1) for number in range(3)]
    with StoreWriter(tmp_path / "s") as writer:
        for each in of_store:
            writer.put(replace(each, queue_id=0), 1_795_000_000_000)
    log = next((tmp_path / "s" / "commitlog").iterdir())
    with StoreFolder(tmp_path / "s") as store:
        records = [step.record for step in store.log.walk() if isinstance(step, Stored)]
    with log.open("r+b") as file:
        for each, odd in zip(records, ({"queue_id": -1}, {"queue_offset": -5}, {}), strict=True):
            file.seek(each.physical_offset)
            file.write(bytes(replace(each, **odd)))  # type: ignore[arg-type]
    shutil.rmtree(tmp_path / "s" / "consumequeue")
    shutil.rmtree(tmp_path / "s" / "index")
    entry = (0).to_bytes(8, "big") + b"@T@U@ID2@" + records[2].physical_offset.to_bytes(8, "big")
    for name in ("consumequeue", "rocksdbstore"):
        made = Rdict(str(tmp_path / "s" / name), options=Options(raw_mode=True))
        for key in (b"", b"\0", b"\0\0\0", b"\0" * 7, entry):
            made[key] = bytes(8)
        made.flush()
        made.close()
    with StoreFolder(tmp_path / "s") as store:
        assert store.index.begin == records[2].physical_offset
        assert [each.physical_offset for each in store.index.look_up("T", "ID2", count())] == [
            records[2].physical_offset
        ]
        assert [(queue.queue_id, queue.span) for queue in store.queues.of("T")] == [(0, (2, 3))]
        assert one(store, "ID0").found and one(store, "ID2").found


def test_a_folder_that_is_too_large_or_without_the_library_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = rocksdb.Database(root / "stopped" / "consumequeue", Reading(), 1_000)
    assert not small.families and list(small.rows("default")) == [] and small.whole("default") is None
    monkeypatch.setattr(rocksdb, "can_read", lambda: False)
    with StoreFolder(root / "stopped") as store:
        assert codes(store.config)[0] == "config_rocksdb_queues" and store.config.offsets is None


def test_rows_come_in_parts_forwards_and_backwards(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocksdb, "_ROWS_AT_ONCE", 7)
    database = rocksdb.Database(root / "stopped" / "consumequeue", Reading())
    rows = list(database.rows("default"))
    assert len(rows) == 202 and rows == sorted(rows) and rows == list(database.rows("default", backwards=True))[::-1]
    assert list(database.rows("default", rows[5][0], rows[30][0])) == rows[5:30]
    assert list(database.rows("default", rows[5][0], rows[30][0], 3, True)) == rows[27:30][::-1]
    prefixes = [rows[0][0][:10], rows[-1][0][:10]]
    wanted = [row for prefix in prefixes for row in rows if row[0].startswith(prefix)]
    assert list(database.prefixed("default", prefixes)) == wanted and len(wanted) > 7
    database.close()


def test_a_process_that_hangs_or_dies_is_ended_and_the_folder_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rocksdb, "_SECONDS", 0.2)
    folder = root / "stopped" / "consumequeue"
    half = "print('[\"default\"', end='', flush=True)"
    for child in ("import time; time.sleep(60)", "import os; os.abort()", half):
        monkeypatch.setattr(rocksdb, "_CHILD", child)
        database = rocksdb.Database(folder, Reading())
        assert not database.families and database._process is None and database._place is None
    monkeypatch.setattr(rocksdb, "_CHILD", "print('[\"default\"]', flush=True); input()")
    reading = Reading()
    database = rocksdb.Database(folder, reading)
    assert database.families == {"default"} and list(database.rows("default")) == []
    assert reading.problems.keys() == {folder} and not database.families


def test_a_file_that_claims_gigabytes_takes_neither_memory_nor_room(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocksdict import DBCompressionType, Options, Rdict

    options = Options(raw_mode=True)
    options.set_compression_type(DBCompressionType.zstd())
    made = Rdict(str(tmp_path / "packed"), options=options)
    made[b"zeros"] = bytes(60 << 20)
    made.flush()
    made.close()
    for log in (tmp_path / "packed").glob("*.log"):
        log.unlink()
    whole = rocksdb.Database(tmp_path / "packed", Reading())
    assert [len(value) for _, value in whole.rows("default")] == [60 << 20], "with room for it, it is read"
    whole.close()
    monkeypatch.setattr(rocksdb, "_MEMORY", 270 << 20)
    reading = Reading()
    packed = rocksdb.Database(tmp_path / "packed", reading)
    assert packed.families == {"default"} and list(packed.rows("default")) == []
    assert reading.problems.keys() == {tmp_path / "packed"} and packed._process is None
    copy = Path(shutil.copytree(root / "stopped" / "consumequeue", tmp_path / "sparse"))
    with (copy / "999999.sst").open("wb") as file:
        file.truncate(200 << 20)
    database = rocksdb.Database(copy, Reading())
    assert database.families and database._place is not None
    taken = sum(file.stat().st_blocks * 512 for file in Path(database._place.name, "copy").iterdir())
    assert taken < 20 << 20
    database.close()


def test_a_small_folder_with_millions_of_rows_is_given_up(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rocksdb, "_ROWS_AT_ONCE", 7)
    reading = Reading()
    database = rocksdb.Database(root / "stopped" / "consumequeue", reading)
    assert len(list(database.rows("default"))) == 202
    monkeypatch.setattr(rocksdb, "MOST_ROWS", 50)
    assert len(list(database.rows("default"))) < 60 and reading.problems.keys() == {database.folder}
    assert not database.families and len(list(database.rows("default"))) == 0
    monkeypatch.setattr(rocksdb, "MOST_ROWS", 3)
    with StoreFolder(root / "stopped") as store:
        assert len(store.queues.topics) < 8 and "config_rocksdb_queues" in codes(store.config)


def test_a_log_behind_the_queues_whose_records_are_in_thousands_of_light_topics_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocksdict import Options, Rdict

    light = ",".join(f"%LMQ%{number}" for number in range(20))
    text = f"INNER_MULTI_DISPATCH\x01{light}\x02INNER_MULTI_QUEUE_OFFSET\x01{','.join('1' * 20)}\x02"
    with StoreWriter(tmp_path / "s") as writer:
        for number in range(3):
            writer.put(replace(record(number), properties_bytes=text.encode()), 1_795_000_000_000)
    shutil.rmtree(tmp_path / "s" / "consumequeue")
    made = Rdict(str(tmp_path / "s" / "consumequeue"), options=Options(raw_mode=True))
    made[b""] = b""
    made.close()
    with StoreFolder(tmp_path / "s") as store:
        assert len(store.queues.topics) == 21 and store.queues.is_whole
    monkeypatch.setattr(rocks_queues, "UNITS_MOST", 30)
    with StoreFolder(tmp_path / "s") as store:
        assert not store.queues.topics and not store.queues.is_whole
        assert [code for code, _ in store.queues.notes()] == ["config_rocksdb_short"]
