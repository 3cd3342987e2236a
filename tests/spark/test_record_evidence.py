"""What the records of a store tell about copies: why each was made, by the truth of what was sent."""

from __future__ import annotations

import json
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from idcore.__main__ import main
from idcore.answers.findings import all_rules
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_store
from idcore.spark import record_evidence
from idcore.spark.job import ScanOptions, judge

AT = datetime(2026, 11, 21, tzinfo=UTC)
Made = tuple[Path, dict[str, Any], dict[str, pa.Table]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("stored")
    assert main(["make", "store", "--messages", "600", "--out", str(folder / "s")]) == 0
    tables = scan_local([str(folder / "s")], month_rows(AT, UTC), store=True)
    return folder / "s", json.loads((folder / "truth.json").read_text()), tables


def test_every_copy_is_told_as_its_record_is(made: Made) -> None:
    root, truth, tables = made
    told = record_evidence.look(list_store(str(root)), tables["copies"])
    assert told.whole
    wanted = {sent["msg_id"]: len(sent["copies"]) for sent in truth["sent"] if len(sent["copies"]) > 1}
    batches = Counter(sent["batch_id"] for sent in truth["sent"] if sent["act"] == "batch")
    wanted |= {batch: count for batch, count in batches.items() if count > 1}
    assert {msg_id: len(found) for msg_id, found in told.records.items()} == wanted
    with StoreFolder(root) as store:
        for found in told.records.values():
            for text, line in found.items():
                step = store.log.look(int(text[16:], 16))
                assert isinstance(step, Stored)
                record = step.record
                assert (line.topic, line.born, line.stored) == (
                    record.topic,
                    record.born_timestamp,
                    record.store_timestamp,
                )
                assert (line.size, line.crc, line.key) == (record.size, record.body_crc, record.properties.get("KEYS"))
                assert f"{line.born_host}:{record.born_host.port}" == str(record.born_host)


def test_findings_name_the_reasons(made: Made) -> None:
    root, truth, tables = made
    options = ScanOptions(at=AT, zone=UTC, store=str(root))
    found = all_rules.of_groups(*judge(dict(tables), {}, options, list_store(str(root)), threading.Event()))
    kinds: Counter[str] = Counter()
    for finding in found:
        if finding.code == "stored_copies":
            variant = finding.evidence.get("variant")
            kinds.update({variant: finding.count} if variant else finding.evidence["kinds"])
    acts = Counter(sent["act"] for sent in truth["sent"] if len(sent["copies"]) > 1)
    batches = Counter(sent["batch_id"] for sent in truth["sent"] if sent["act"] == "batch")
    assert kinds == {
        "delay": acts["delay"],
        "retry": acts["consumer_retry"],
        "transaction": acts["transaction_commit"],
        "batch": sum(count > 1 for count in batches.values()),
    }
    again = [finding for finding in found if finding.code == "duplicate_send"]
    assert {finding.subject for finding in again} == {
        sent["msg_id"] for sent in truth["sent"] if sent["act"] == "producer_retry"
    }
    assert {finding.evidence["variant"] for finding in again} == {"same_broker"}
    assert not [finding for finding in found if finding.code == "collision"]


@pytest.mark.parametrize(("shift_ms", "variant"), [(0, None), (8 * 3_600_000, "ahead"), (-92_000, "behind")])
def test_the_clock_of_a_stores_broker_is_found(shift_ms: int, variant: str | None, made: Made, tmp_path: Path) -> None:
    root, _, tables = made
    folder = tmp_path / "commitlog"
    folder.mkdir()
    for path in sorted((root / "commitlog").iterdir()):
        raw, at = bytearray(path.read_bytes()), 0
        while (size := int.from_bytes(raw[at : at + 4], "big")) and raw[at + 4 : at + 8] != b"\xcb\xd4\x31\x94":
            stored = int.from_bytes(raw[at + 56 : at + 64], "big") + shift_ms  # storeTimestamp, behind an IPv4 bornHost
            raw[at + 56 : at + 64] = stored.to_bytes(8, "big")
            at += size
        (folder / path.name).write_bytes(raw)
    options = ScanOptions(at=AT, zone=UTC, store=str(tmp_path))
    _, found = judge(dict(tables), {}, options, list_store(str(tmp_path)), threading.Event())
    clocks = next((one for one in found if one.code == "broker_clock"), None)
    assert (clocks.evidence.variant if clocks else None) == variant
    assert clocks is None or abs(clocks.evidence["shift_ms"] - shift_ms) < 1_000


def test_of_many_ids_some_are_looked_at_from_first_to_last(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_evidence, "MOST_IDS", 7)
    copies = made[2]["copies"]
    told = record_evidence.look(list_store(str(made[0])), copies)
    rows = copies["msg_id"].to_pylist()
    assert not told.whole
    assert list(told.records) == [rows[number * len(rows) // 7] for number in range(7)]
    assert record_evidence.look(list_store(str(made[0])), copies.slice(0, 0)).records == {}


def test_records_that_are_gone_or_damaged_tell_nothing(made: Made, tmp_path: Path) -> None:
    root, _, tables = made
    name = "0" * 20
    raw = (root / "commitlog" / name).read_bytes()
    files = []
    damaged = raw[:5_000], bytes(len(raw)), raw[:1_000] + b"\x7f" * 40_000 + raw[41_000:]
    for number, change in enumerate(damaged):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_bytes(change)
        files.append(list_store(str(folder)))
    told = [record_evidence.look(each, tables["copies"]).records for each in files]
    whole = record_evidence.look(list_store(str(root)), tables["copies"]).records
    assert told[1] == {}
    for part in (told[0], told[2]):
        assert 0 < sum(map(len, part.values())) < sum(map(len, whole.values()))
        assert all(line == whole[msg_id][text] for msg_id, found in part.items() for text, line in found.items())
    (tmp_path / "0" / name).unlink()
    assert record_evidence.look(files[0], tables["copies"]).records == {}
