"""How transactions and delays ended, said of a store folder as it is of a live cluster."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from idcore.answers.lookup import StoreLookup
from idcore.answers.lookup.copies import TIMER_TOPIC
from idcore.rocketmq.message import Host, Message, Record
from idcore.rocketmq.message.properties import encode
from idcore.rocketmq.message.validators import ROCKSDB_HALF_TOPIC, ROCKSDB_OP_HALF_TOPIC
from idcore.rocketmq.store import StoreFolder
from idcore.simulate.broker import Broker
from idcore.simulate.writer import StoreWriter
from tests.remoting.fake import UNIQ
from tests.remoting.test_traces import AT, CONSUMER
from tests.store.test_store_fates import CLOCK, look_up

STORE = Host(bytes([10, 20, 0, 5]), 10911)
MESSAGE = Message.of("Orders", b"card", "paid").with_uniq_id(UNIQ)


def said(root: Path, text: str = UNIQ) -> list[str]:
    """What the look-up says of the end, without verdicts being asked for."""
    with StoreFolder(root) as store:
        found = StoreLookup(store, CLOCK).one(text)
    codes = [item.code for item in found.evidence if item.code.startswith(("half_", "later_", "only_half"))]
    assert not codes or any(item.code == "store_snapshot" for item in found.evidence)
    return codes


def test_a_transaction_has_its_end(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "store") as writer:
        broker = Broker(writer, STORE)
        half = broker.send_half(MESSAGE, "payers", 0, AT, CONSUMER, AT).records[0]
        other = broker.send_half(MESSAGE.with_uniq_id("x"), "payers", 0, AT, CONSUMER, AT).records[0]
        broker.write_offsets()
    assert other.queue_offset == 1
    assert said(tmp_path / "store") == ["half_undecided"]
    with StoreWriter(tmp_path / "store") as writer:
        broker = Broker(writer, STORE)
        broker.end_transaction(half, False, AT + 1_000)
    assert said(tmp_path / "store") == ["half_rolled_back"]


def in_rocksdb(half: Record, note: bool = False) -> Record:
    """A half message, or the note of its decision, as a broker with transactions in RocksDB stores them (5.4.0)."""
    topic = ROCKSDB_OP_HALF_TOPIC if note else ROCKSDB_HALF_TOPIC
    more = {"TRANS_OFFSET": str(half.physical_offset), "UNIQ_KEY": "A" * 32} if note else {}
    properties = encode({**half.properties, **more}).encode()
    return replace(half, topic_bytes=topic.encode(), properties_bytes=properties)


def test_a_transaction_in_rocksdb_has_its_end(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "sent") as writer:
        usual = Broker(writer, STORE).send_half(MESSAGE, "payers", 0, AT, CONSUMER, AT).records[0]
    with StoreWriter(tmp_path / "store") as writer:
        half = writer.put(in_rocksdb(usual), AT).records[0]
    assert said(tmp_path / "store") == ["half_open"]
    with StoreWriter(tmp_path / "store") as writer:
        writer.put(in_rocksdb(half, note=True), AT + 1_000)
    assert said(tmp_path / "store") == ["half_rolled_back"]
    shutil.rmtree(tmp_path / "store" / "consumequeue")  # they may be in RocksDB too
    assert said(tmp_path / "store") == ["only_half"]


def test_a_transaction_that_was_committed_has_its_message(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "store") as writer:
        broker = Broker(writer, STORE)
        broker.send(Message.of("Paid", b"card"), 0, AT, CONSUMER, AT)
        half = broker.send_half(MESSAGE, "payers", 0, AT, CONSUMER, AT).records[0]
        broker.end_transaction(half, True, AT + 1_000)
        broker.write_offsets()
    assert said(tmp_path / "store") == []
    assert {copy.relation for copy in look_up(tmp_path / "store", UNIQ).copies} == {"half", "committed"}
    assert said(tmp_path / "store", str(half.offset_id)) == ["half_committed"]


def test_a_delay_is_due_or_late_or_passed(tmp_path: Path) -> None:
    root = tmp_path / "store"
    with StoreWriter(root) as writer:
        broker = Broker(writer, STORE)
        broker.send(MESSAGE.with_delay_level(3), 0, AT, CONSUMER, AT)
        broker.write_offsets()
    assert said(root) == ["later_due"]
    with StoreWriter(root) as writer:
        Broker(writer, STORE).send(Message.of("Paid", b"card"), 0, AT, CONSUMER, AT + 60_000)
    assert said(root) == ["later_late"]
    (root / "config" / "delayOffset.json").write_text('{"offsetTable":{3:1}}')
    assert said(root) == ["later_passed"]


def on_the_wheel(number: int, **properties: str) -> Record:
    named = {"UNIQ_KEY": UNIQ, "REAL_TOPIC": "Orders", "TIMER_OUT_MS": str(AT + 90_000), **properties}
    return Record.of(
        TIMER_TOPIC, b"card", encode(named), queue_id=0, born_timestamp=AT, born_host=CONSUMER, store_host=STORE
    ).placed(number, 0, AT)


def test_a_message_on_the_timer_wheel_is_due_or_recalled(tmp_path: Path) -> None:
    root = tmp_path / "store"
    with StoreWriter(root) as writer:
        writer.put(on_the_wheel(0), AT)
        Broker(writer, STORE).write_offsets()
    assert said(root) == ["later_due"]
    with StoreWriter(root) as writer:
        writer.put(on_the_wheel(1, TIMER_DEL_UNIQKEY=f"Orders+{UNIQ}"), AT)
    assert said(root) == ["later_recalled"]
