"""`make store`: the same seed gives the same bytes, truth.json stands beside them, and every message is found."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.lookup import StoreLookup, batches, row_of
from idcore.ids import Clock, identify
from idcore.rocketmq.message.properties import keys_of
from idcore.rocketmq.store import Blank, Miss, Stored, StoreFolder
from tests.cli.in_process import command

ROOT = Path(__file__).resolve().parent.parent.parent
CLOCK = Clock(datetime(2026, 11, 21, 8, tzinfo=UTC), UTC)


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = command("make", "store", *arguments, env=os.environ)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("made")
    done = make("--messages", "600", "--out", str(folder / "store"), "--seed", "5")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder / "store", json.loads((folder / "truth.json").read_text())


def test_the_same_seed_gives_the_same_bytes(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    for name, seed in (("again", "5"), ("other", "6")):
        (tmp_path / name).mkdir()
        assert make("--messages", "600", "--out", str(tmp_path / name / "store"), "--seed", seed).returncode == 0
    assert contents(tmp_path / "again" / "store") == contents(made[0])
    assert contents(tmp_path / "other" / "store") != contents(made[0])


def test_the_truth_is_what_the_records_say(made: tuple[Path, dict[str, Any]]) -> None:
    root, truth = made
    with StoreFolder(root) as store:
        records = [step.record for step in store.log.walk() if isinstance(step, Stored)]
        assert store.log.end == truth["end"]
        assert len(records) == truth["records"] > truth["messages"] == 600
        counted = Counter((record.topic, record.queue_id) for record in records)
        assert counted == {(row["topic"], row["queue_id"]): row["messages"] for row in truth["queues"]}
        assert dict.fromkeys((3668123815, 3668123819), 0).keys() == {record.magic for record in records}
        assert all(record.body_crc_ok for record in records)
        assert sum(row["messages"] for row in store.overview()["topics"]) == len(records)
        assert {"RMQ_SYS_TRANS_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX", "%RETRY%order_consumer"} <= set(store.topics)
        for record in records:
            unit = store.queues.unit(record.topic, record.queue_id, record.queue_offset)
            assert unit is not None
            assert unit.physical_offset == record.physical_offset
    assert set(truth["acts"]) >= {
        "plain",
        "packed",
        "delay",
        "transaction",
        "batch",
        "producer_retry",
        "consumer_retry",
    }


def test_every_message_is_found_with_all_its_copies(made: tuple[Path, dict[str, Any]]) -> None:
    root, truth = made
    seen = Counter[str]()
    with StoreFolder(root) as store:
        for sent in truth["sent"]:
            reading = identify(sent["msg_id"]).best
            assert reading is not None
            assert reading.certainty == "certain"
            answer = StoreLookup(store, CLOCK).one(sent["msg_id"])
            offsets = [copy["commit_log_offset"] for copy in row_of(answer)["copies"]]
            assert offsets == sorted(copy["commit_log_offset"] for copy in sent["copies"])
            assert (answer.reason == "index_lost") == (sent["act"] == "batch")  # indexed under the batch's own id
            others = {batches.shown_as(sent["msg_id"], copy.record) for copy in answer.copies}
            assert others == ({("of_batch", sent["batch_id"])} if sent["act"] == "batch" else {None})
            for copy in sent["copies"]:
                found = store.log.look(int(copy["offset_msg_id"][16:], 16))
                assert isinstance(found, Stored)
                assert str(found.record.offset_id) == copy["offset_msg_id"]
                assert found.record.topic == copy["topic"]
                assert keys_of(found.record.properties) == sent["keys"].split(" ")
            seen[sent["act"]] += 1
            if sent["act"] == "producer_retry":
                assert len(offsets) == 2
            if sent["act"] == "transaction_commit":
                half, commit = row_of(answer)["copies"]
                assert (half["topic"], half["sys_flag"]) == ("RMQ_SYS_TRANS_HALF_TOPIC", 0)
                assert (commit["sys_flag"], commit["prepared_transaction_offset"]) == (8, half["commit_log_offset"])
            if sent["act"] == "transaction_rollback":
                assert len(offsets) == 1
            if sent["act"] == "delay":
                delayed, delivered = row_of(answer)["copies"]
                assert delayed["topic"] == "SCHEDULE_TOPIC_XXXX"
                assert delivered["topic"] == delayed["properties"]["REAL_TOPIC"] == sent["topic"]
                assert delivered["store_timestamp"] == delayed["queue_unit"]["tags_code"]
    assert seen["transaction_rollback"] and seen["transaction_commit"] and seen["batch_4x"]


def test_files_roll_over_and_stay_exact(tmp_path: Path) -> None:
    from idcore.rocketmq.message import Host
    from idcore.simulate.append import Settings
    from idcore.simulate.broker import Broker
    from idcore.simulate.traffic import Traffic
    from idcore.simulate.writer import StoreWriter

    small = Settings(1 << 16, 400, 97, 150, 1 << 15)
    with StoreWriter(tmp_path / "s", small) as writer:
        traffic = Traffic(Broker(writer, Host(bytes(15) + b"\1", 10911)), 3, CLOCK.reference, UTC)
        traffic.play(1_500)
    with StoreFolder(tmp_path / "s") as store:
        steps = list(store.log.walk())
        assert sum(isinstance(step, Blank) for step in steps) == len(store.log.files) - 1 > 5
        assert sum(isinstance(step, Stored) for step in steps) == traffic.truth()["records"]
        assert len(store.index.files) > 5
        assert all(file.slots == 97 for file in store.index.files)
        assert store.index.entries == sum(
            (1 if s.record.uniq_id else 0) + len(keys_of(s.record.properties)) for s in steps if isinstance(s, Stored)
        )
        for sent in traffic.truth()["sent"][::17]:
            answer = StoreLookup(store, CLOCK).one(sent["msg_id"])
            assert [c["offset_msg_id"] for c in row_of(answer)["copies"]] == [
                c["offset_msg_id"] for c in sent["copies"]
            ]
            assert all(len(copy["offset_msg_id"]) == 56 for copy in row_of(answer)["copies"])
            by_offset = StoreLookup(store, CLOCK).one(sent["copies"][0]["offset_msg_id"])
            assert by_offset.found


def test_puts_that_a_broker_refuses_have_its_names(tmp_path: Path) -> None:
    from idcore.rocketmq.message import Host, Message, MessageBatch, Record
    from idcore.simulate.append import Settings
    from idcore.simulate.broker import Broker
    from idcore.simulate.writer import StoreWriter

    host = Host(bytes((10, 0, 0, 1)), 10911)

    def record(topic: str, body: bytes, properties: str = "") -> Record:
        return Record.of(topic, body, properties, queue_id=0, born_timestamp=1, born_host=host, store_host=host)

    with StoreWriter(tmp_path / "s", Settings(1 << 16, 400, 97, 150, 1_000)) as writer:
        for wrong, status in (
            (record("x" * 128, b"x"), "MESSAGE_ILLEGAL"),
            (record("%RETRY%" + "x" * 249, b"x"), "MESSAGE_ILLEGAL"),
            (record("../x", b"x"), "MESSAGE_ILLEGAL"),
            (record("T", bytes(1_001)), "MESSAGE_ILLEGAL"),
            (record("T", b"x", "p" * 32_768), "PROPERTIES_SIZE_EXCEEDED"),
            (record("T", b"x" * 40, "p" * 32_767), "PUT_OK"),
            (record("%RETRY%" + "x" * 248, b"x" * 1_000), "PUT_OK"),
        ):
            put = writer.put(wrong, 5)
            assert put.status.value == status
            assert bool(put.records) == (status == "PUT_OK")
        assert Broker(writer, host).send(Message("T", None), 0, 1, host, 5).status.value == "MESSAGE_ILLEGAL"
        batch = MessageBatch.of_messages([Message.of("T", bytes(400)) for _ in range(3)])
        broker = Broker(writer, host)
        assert broker.send_batch(batch, None, 0, 1, host, 5).status.value == "MESSAGE_ILLEGAL"  # together too long
        fits = MessageBatch.of_messages(batch.messages[:2])
        assert len(broker.send_batch(fits, None, 0, 1, host, 5).records) == 2
        too_long = [record("T", bytes(900), "p" * 9_000) for _ in range(7)]
        assert writer.put_all(too_long, 6).status.value == "MESSAGE_ILLEGAL"  # no file holds them together
        assert writer.end < 1 << 16
    end = writer.end
    assert writer.put(record("T", b"late"), 7).status.value == "SERVICE_NOT_AVAILABLE"
    writer.close()
    with StoreFolder(tmp_path / "s") as store:
        assert isinstance(store.log.look(store.log.end or 0), Miss)
        assert store.log.end == end


def test_a_store_of_the_older_line_holds_nothing_that_it_cannot_read(tmp_path: Path) -> None:
    made = ("--messages", "300", "--seed", "5", "--broker", "4.9", "--out", str(tmp_path / "s"))
    assert make(*made).returncode == 0
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert (truth["broker"], truth["messages"]) == ("4.9", 300)
    with StoreFolder(tmp_path / "s") as store:
        records = [step.record for step in store.log.walk() if isinstance(step, Stored)]
        assert len(records) == truth["records"] > 300
        assert {record.magic for record in records} == {3668123815}
        assert not any(record.properties_text.endswith("\x02") for record in records)
        assert {"%RETRY%order_consumer", "RMQ_SYS_TRANS_HALF_TOPIC"} <= set(store.topics)
    assert make("--messages", "3", "--broker", "4.8", "--out", str(tmp_path / "t")).returncode == 2


def test_the_newest_line_leaves_each_item_of_a_batch_its_own_id(tmp_path: Path) -> None:
    made = ("--messages", "200", "--seed", "5", "--broker", "5.5", "--out", str(tmp_path / "s"))
    assert make(*made).returncode == 0
    truth = json.loads((tmp_path / "truth.json").read_text())
    items = [sent for sent in truth["sent"] if sent["act"] == "batch"]
    assert len(items) > 5
    with StoreFolder(tmp_path / "s") as store:
        for sent in items:
            answer = StoreLookup(store, CLOCK).one(sent["msg_id"])
            (copy,) = row_of(answer)["copies"]
            assert (answer.reason, copy["batch"]) == (None, False)
            tag = copy["index_entries"][-1]  # this line has the tags in its index as well
            assert tag["indexed_as"] == f"{copy['topic']}#T#{sent['tags']}" and tag["place"] > 0


def test_a_long_retry_topic_is_refused_by_the_older_line(tmp_path: Path) -> None:
    from idcore.rocketmq.message import Host, Record
    from idcore.simulate.dialects import LINES
    from idcore.simulate.writer import StoreWriter

    host = Host(bytes((10, 0, 0, 1)), 10911)
    for name, longest in (("4.9", 127), ("5.3", 255)):
        with StoreWriter(tmp_path / name, line=LINES[name]) as writer:
            for size, status in ((longest, "PUT_OK"), (longest + 1, "MESSAGE_ILLEGAL")):
                topic = "%RETRY%".ljust(size, "x")
                record = Record.of(topic, b"x", "", queue_id=0, born_timestamp=1, born_host=host, store_host=host)
                assert writer.put(record, 5).status.value == status


def test_a_folder_that_holds_something_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "mine").write_text("x")
    done = make("--messages", "3", "--out", str(tmp_path / "s"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["mine"]
    (tmp_path / "s" / "mine").unlink()
    assert make("--messages", "0", "--out", str(tmp_path / "s")).returncode == 0
    assert make("--messages", "x", "--out", str(tmp_path / "t")).returncode == 2


def test_the_files_of_a_brokers_own_sizes_are_sparse(tmp_path: Path) -> None:
    assert make("--messages", "20", "--out", str(tmp_path / "s"), "--broker-sizes").returncode == 0
    (log,) = (tmp_path / "s" / "commitlog").iterdir()
    (index,) = (tmp_path / "s" / "index").iterdir()
    assert (log.stat().st_size, index.stat().st_size) == (1 << 30, 420_000_040)
    assert log.stat().st_blocks * 512 < 1 << 20
    with StoreFolder(tmp_path / "s") as store:
        truth = json.loads((tmp_path / "truth.json").read_text())
        assert store.log.end == truth["end"]
        for sent in truth["sent"]:
            assert StoreLookup(store, CLOCK).one(sent["msg_id"]).found
    conf = dict(line.split("=") for line in (tmp_path / "s" / "broker.conf").read_text().splitlines())
    assert conf["mappedFileSizeCommitLog"] == str(1 << 30)
    assert conf["maxIndexNum"] == "20000000"
