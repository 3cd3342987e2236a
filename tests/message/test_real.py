"""Every record of a real broker's store: decoded it is what the real client reported, encoded it is the same bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, decode_record, decode_records
from idcore.rocketmq.message.javatext import hash_code
from idcore.rocketmq.message.model import MessageExt
from tests.message.refusing import outcome

pytestmark = pytest.mark.quick

VECTORS = Path(__file__).resolve().parent.parent / "vectors"


def rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def log() -> bytes:
    with tarfile.open(VECTORS / "store.tar.gz") as tar:
        files = sorted((m for m in tar.getmembers() if "/commitlog/" in m.name and m.isfile()), key=lambda m: m.name)
        return b"".join(tar.extractfile(member).read() for member in files)  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def reported() -> list[dict[str, Any]]:
    return [row["message"] for row in rows("records.jsonl.gz") if "message" in row]


def as_reported(message: MessageExt) -> dict[str, Any]:
    body = message.body or b""
    return {
        "topic": message.topic,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "commitLogOffset": message.commit_log_offset,
        "storeSize": message.store_size,
        "sysFlag": message.sys_flag,
        "bornTimestamp": message.born_timestamp,
        "bornHost": message.born_host.java_text,
        "storeTimestamp": message.store_timestamp,
        "storeHost": message.store_host.java_text,
        "bodyCRC": message.body_crc,
        "reconsumeTimes": message.reconsume_times,
        "preparedTransactionOffset": message.prepared_transaction_offset,
        "flag": message.flag,
        "transactionId": message.transaction_id,
        "keys": message.keys,
        "tags": message.tags,
        "delayTimeLevel": message.delay_level,
        "getMsgId": message.msg_id,
        "offsetMsgId": message.offset_msg_id,
        "properties": dict(message.properties),
        "body_len": len(body),
        "body_sha256": hashlib.sha256(body).hexdigest(),
        "brokerName": message.broker_name,
    }


def test_every_record_is_what_the_client_reported(log: bytes, reported: list[dict[str, Any]]) -> None:
    assert len(reported) == 4_545
    versions = []
    for row in reported:
        record = decode_record(log, row["commitLogOffset"])
        versions.append(record.magic)
        message = record.message()
        seen = as_reported(message)
        assert seen == {name: row[name] for name in seen}
        assert record.body_crc_ok
        assert bytes(record) == log[record.physical_offset : record.physical_offset + record.size]
        if "body_base64" in row:
            assert message.body == base64.b64decode(row["body_base64"])
        # the vectors cut the longest ones short
        printed = row["toString"]
        assert str(message) == printed or (printed.endswith("...") and str(message).startswith(printed[:-3]))
    assert versions.count(0xDAA320AB) == 76


def test_records_follow_one_another_up_to_the_blank_one(log: bytes, reported: list[dict[str, Any]]) -> None:
    places = []
    found: list[Record] = []
    at = 0
    stream = decode_records(log)
    while not isinstance(record := outcome(next, stream), CoreError):
        found.append(record)
        places.append(at)
        at += record.size
    assert (record.code, record.byte) == ("blank", 1_048_269 + 4)
    assert places == [row["commitLogOffset"] for row in reported if row["commitLogOffset"] < 1_048_269]
    assert [record.physical_offset for record in found] == places


def test_what_was_sent_stands_in_the_records(log: bytes) -> None:
    checked = 0
    for row in rows("traffic.jsonl.gz"):
        offsets = (row.get("offsetMsgId") or "").split(",")
        ids = (row.get("msgId") or "").split(",")
        if not offsets[0] or len(offsets) != len(row.get("messages", [])):
            continue
        for offset_id, uniq_id, sent in zip(offsets, ids, row["messages"], strict=True):
            record = decode_record(log, int(offset_id[16:], 16))
            assert str(record.offset_id) == offset_id
            body = record.plain_body()
            assert hashlib.sha256(body).hexdigest() == sent["body_sha256"]
            properties = record.properties
            if row["kind"] == "batch" and row["client_version"].startswith("V5"):
                assert record.in_batch
                assert properties["UNIQ_KEY"] != uniq_id  # the batch's own id, shared by its items
                assert uniq_id in [value for name, value in record.properties_raw if name == "UNIQ_KEY"]
            else:
                assert properties["UNIQ_KEY"] == (uniq_id or properties["UNIQ_KEY"])
            if row["kind"] == "delay":
                assert record.topic == "SCHEDULE_TOPIC_XXXX"
                assert properties["REAL_TOPIC"] == sent["topic"]
            else:
                assert record.topic == sent["topic"]
            checked += 1
    assert checked > 3_400


def test_tags_codes_are_those_of_the_real_consume_queues(log: bytes) -> None:
    checked = 0
    with tarfile.open(VECTORS / "store.tar.gz") as tar:
        for member in tar.getmembers():
            if "/consumequeue/" not in member.name or not member.isfile():
                continue
            raw = tar.extractfile(member).read()  # type: ignore[union-attr]
            for at in range(0, len(raw), 20):
                offset, size, code = (
                    int.from_bytes(raw[a:b], "big", signed=True)
                    for a, b in ((at, at + 8), (at + 8, at + 12), (at + 12, at + 20))
                )
                if not size:
                    break
                record = decode_record(log, offset)
                assert record.size == size
                if record.topic == "SCHEDULE_TOPIC_XXXX":
                    level = int(record.properties["DELAY"])
                    assert code == record.store_timestamp + 1000 * level  # levels of that broker: 1s 2s 3s ...
                else:
                    assert code == record.tags_code == hash_code(record.properties.get("TAGS", ""))
                checked += 1
    assert checked == 4_545
