"""A store scanned: every record once at any split, topics and CRCs exact, damage named where it begins."""

from __future__ import annotations

import json
import random
import shutil
import struct
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from idcore.answers.lookup import StoreLookup
from idcore.base.errors import CoreError
from idcore.ids import Clock
from idcore.kernels.records import crc_at
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.store import CommitLog, Skipped, Stored, StoreFolder
from idcore.scan.lines import Record as Line
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.schemas import SCHEMAS
from idcore.simulate.append import Settings
from idcore.simulate.broker import Broker
from idcore.simulate.traffic import Traffic
from idcore.simulate.writer import StoreWriter
from idcore.sources.inputs import list_store
from tests.scan.comparing import same
from tests.store.test_dledger import entry
from tests.store.unpacked import real_store

MONTHS = month_rows(datetime(2026, 11, 22, tzinfo=UTC), UTC)
VECTORS = Path(__file__).resolve().parent.parent / "vectors"
HOST = Host(bytes((127, 0, 0, 1)), 10911)


def wrong(row: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Why a file of a store was not read whole: the code and its values."""
    return (row["error"], json.loads(row["error_values"])) if row["error"] else None


def scanned(root: Path, split_size: int = 1 << 30) -> dict[str, pa.Table]:
    return scan_local([str(root)], MONTHS, split_size, store=True)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("real"))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Files of 16 KiB, IPv6 store host."""
    settings = Settings(1 << 14, 400, 97, 150, 1 << 13)
    with StoreWriter(tmp_path / "small", settings) as writer:
        traffic = Traffic(Broker(writer, Host(bytes(15) + b"\1", 10911)), 7, datetime(2026, 11, 20, tzinfo=UTC), UTC)
        traffic.play(150)
    return tmp_path / "small"


def topics_by_walk(root: Path) -> list[dict[str, Any]]:
    """The table, out of the slow walk."""
    rows: dict[tuple[str, int], list[Record]] = {}
    for step in CommitLog(root / "commitlog").walk():
        if isinstance(step, Stored):
            rows.setdefault((step.record.topic, step.record.queue_id), []).append(step.record)
    return [
        {
            "topic": topic,
            "queue_id": queue_id,
            "messages": len(found),
            "bytes": sum(r.size for r in found),
            "first_store_timestamp": min(r.store_timestamp for r in found),
            "last_store_timestamp": max(r.store_timestamp for r in found),
            "min_offset": min(r.physical_offset for r in found),
            "max_offset": max(r.physical_offset for r in found),
            "min_queue_offset": min(r.queue_offset for r in found),
            "max_queue_offset": max(r.queue_offset for r in found),
            "crc_failed": sum(not r.body_crc_ok for r in found),
        }
        for (topic, queue_id), found in sorted(rows.items())
    ]


def topics(tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
    rows = tables["topics"].to_pylist()
    for row in rows:
        for name in ("first_store_timestamp", "last_store_timestamp"):
            row[name] = round(row[name].timestamp() * 1000)
    return rows


def tags_by_walk(root: Path) -> list[dict[str, Any]]:
    """The table of tags, out of the slow walk."""
    rows: dict[tuple[str, str], list[int]] = {}
    for step in CommitLog(root / "commitlog").walk():
        if isinstance(step, Stored):
            row = rows.setdefault((step.record.topic, step.record.properties.get("TAGS", "")), [0, 0])
            row[0] += 1
            row[1] += step.record.size
    return [
        {"topic": topic, "tag": tag, "messages": messages, "bytes": size}
        for (topic, tag), (messages, size) in sorted(rows.items())
    ]


def test_the_crc_is_zlibs() -> None:
    rng = random.Random(1)
    for size in [*range(40), 1_000, 4_097]:
        raw = rng.randbytes(size + 3)
        found = crc_at(np.uint64(np.frombuffer(raw, np.uint8).ctypes.data + 3), size)
        assert int(found) == zlib.crc32(raw[3:])


@pytest.mark.long
def test_the_real_store(real: Path) -> None:
    tables = scanned(real)
    assert topics(tables) == topics_by_walk(real)
    tags = tags_by_walk(real)
    assert len({row["tag"] for row in tags}) > 3
    for split_size in (1 << 30, 100_000, 1_000):
        assert scanned(real, split_size)["tags"].to_pylist() == tags
    assert sum(row["messages"] for row in topics(tables)) == 4_545
    assert sum(row["crc_failed"] for row in topics(tables)) == 0
    broker = next(row for row in tables["brokers"].to_pylist() if row["address"] == "127.0.0.1:21911")
    assert (broker["ids"], broker["distinct"], broker["max_offset"]) == (4_545, 4_545, 1_437_773)
    assert tables["files"]["error"].to_pylist() == [None, None]
    assert sum(tables["files"]["text_bytes"].to_pylist()) == 1_438_175 - 307
    # the ids are dated by the born times of their records, in the zones of their producers
    dated = {row["pid"]: row for row in tables["processes"].to_pylist() if row["host"] == "203.0.113.21"}
    assert dated[27515]["first_sent_at"] == datetime(2026, 11, 21, 1, 50, 13, 259_000, UTC)
    late = scan_local([str(real)], month_rows(datetime(2027, 3, 1, tzinfo=UTC), UTC), store=True)
    again = {row["pid"]: row for row in late["processes"].to_pylist() if row["host"] == "203.0.113.21"}
    assert again[27515]["first_sent_at"] == dated[27515]["first_sent_at"]
    copies = {row["msg_id"]: row["offset_msg_ids"].split(",") for row in tables["copies"].to_pylist()}
    wanted: dict[str, list[str]] = {}
    for step in CommitLog(real / "commitlog").walk():
        if isinstance(step, Stored) and step.record.uniq_id:
            wanted.setdefault(step.record.uniq_id, []).append(str(step.record.offset_id))
    assert copies
    for msg_id, offsets in copies.items():
        assert sorted(offsets) == sorted(wanted[msg_id])
    several = {key for key, found in wanted.items() if len(found) > 1 and len(key) == 32 and key.upper() == key}
    assert several >= set(copies)


@pytest.mark.parametrize("split_size", [1, 1_000, 65_536, 100_003, 1 << 20])
def test_any_split_gives_the_same_tables(real: Path, small: Path, split_size: int) -> None:
    for root, least in ((real, 50_000), (small, 100)):
        if split_size >= least:
            assert same(scanned(root), scanned(root, split_size)) == []


@pytest.fixture
def dledger(small: Path, tmp_path: Path) -> Path:
    """The records of `small` as a broker with DLedger has them, in files of 16 KiB."""
    data = tmp_path / "raft" / "dledger-n0" / "data"
    data.mkdir(parents=True)
    size, start, raw = 1 << 14, 0, b""
    records = [step.record for step in CommitLog(small / "commitlog").walk() if isinstance(step, Stored)]
    for index, each in enumerate([*records, None]):
        if each is None or len(raw) + 48 + each.size + 8 > size:
            padding = struct.pack(">ii", -1, size - len(raw)) if each is not None else b""
            (data / f"{start:020d}").write_bytes((raw + padding).ljust(size, b"\0"))
            start, raw = start + size, b""
        if each is not None:
            placed = each.placed(each.queue_offset, start + len(raw) + 48, each.store_timestamp)
            raw += entry(index, start + len(raw), bytes(placed))
    return tmp_path / "raft"


def counted(tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
    """What topics have, whatever the places in the log."""
    return [{name: row[name] for name in row if name not in ("min_offset", "max_offset")} for row in topics(tables)]


def test_a_store_of_a_broker_with_dledger_counts_the_same(small: Path, dledger: Path) -> None:
    plain, whole = scanned(small), scanned(dledger)
    assert counted(whole) == counted(plain) and whole["tags"] == plain["tags"]
    assert [wrong(row) for row in whole["files"].to_pylist()] == [None] * len(list_store(str(dledger)))
    for name in ("lines", "ids", "records"):
        column = [row.get(name) for row in plain["files"].to_pylist()]
        assert sum(filter(None, column)) == sum(filter(None, (row.get(name) for row in whole["files"].to_pylist())))
    for split_size in (97, 500, 1_000, 4_096, 5_001, 16_383):
        assert same(whole, scanned(dledger, split_size)) == [], split_size


def test_damage_in_a_log_of_dledger_is_named_where_it_begins(dledger: Path) -> None:
    first, second = sorted((dledger / "dledger-n0" / "data").iterdir())[:2]
    raw = bytearray(first.read_bytes())
    raw[5_000:6_000] = bytes(1_000)
    first.write_bytes(raw)
    whole = scanned(dledger)
    problems = [wrong(row) for row in whole["files"].to_pylist()]
    assert problems[0] is not None and problems[0][0] == "log_damaged" and problems[1:] == [None] * (len(problems) - 1)
    assert second.name == f"{1 << 14:020d}"
    for split_size in (97, 1_000, 5_500):
        assert same(whole, scanned(dledger, split_size)) == [], split_size


def test_every_split_size_of_a_damaged_store(small: Path) -> None:
    rng = random.Random(3)
    files = sorted((small / "commitlog").iterdir())
    raw = bytearray(files[1].read_bytes())
    raw[3_000:5_000] = bytes(2_000)
    raw[8_000:8_300] = rng.randbytes(300)
    files[1].write_bytes(raw)
    raw = bytearray(files[2].read_bytes())
    raw[10_000:] = bytes(len(raw) - 10_000)
    raw[12_000:12_100] = b"x" * 100
    files[2].write_bytes(raw)
    whole = scanned(small)
    assert topics(whole) == topics_by_walk(small)
    skipped = [step for step in CommitLog(small / "commitlog").walk() if isinstance(step, Skipped)]
    errors = [wrong(row) for row in whole["files"].to_pylist()]
    first = min(step.offset for step in skipped if step.file == files[1].name)
    assert errors[1] == ("log_damaged", {"offset": f"{first:020d}"})
    assert errors[2] is not None
    assert [error for at, error in enumerate(errors) if at not in (1, 2)] == [None] * (len(errors) - 2)
    for split_size in (97, 500, 1_000, 2_999, 4_000, 5_001, 8_100, 16_383):
        assert same(whole, scanned(small, split_size)) == [], split_size


def test_a_body_that_was_damaged_is_counted_and_named(real: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(real, tmp_path / "copy"))
    path = copy / "commitlog" / ("0" * 20)
    raw = bytearray(path.read_bytes())
    raw[246 + 90] ^= 1
    path.write_bytes(raw)
    tables = scanned(copy)
    assert topics(tables) == topics_by_walk(copy)
    assert sum(row["crc_failed"] for row in topics(tables)) == 1
    assert wrong(tables["files"].to_pylist()[0]) == ("record_crc", {"offset": f"{246:020d}"})
    assert sum(row["messages"] for row in topics(tables)) == 4_545


@pytest.mark.long
def test_bytes_inside_a_body_that_look_like_a_record_are_not_counted(tmp_path: Path) -> None:
    def record(number: int, body: bytes) -> Record:
        key = f"0A00000100FF18B4AAC20000000A{number:04X}"
        return Record.of(
            "T", body, f"UNIQ_KEY\x01{key}\x02", queue_id=0, born_timestamp=1, born_host=HOST, store_host=HOST
        )

    with StoreWriter(tmp_path / "s", Settings(1 << 16, 400, 97, 150)) as writer:
        first = writer.put(record(0, b"x"), 5).records[0]
        body_at = first.size + bytes(record(1, b"q" * 600)).index(b"q" * 600)
        inner = bytes(record(9, b"z").placed(0, body_at + 10, 5))
        writer.put(record(1, (b"q" * 10 + inner).ljust(600, b"q")), 6)
        for number in range(2, 20):
            writer.put(record(number, b"y" * number), 7)
    for split_size in (1 << 20, 50, 77, first.size, body_at + 10, body_at + 30):
        tables = scanned(tmp_path / "s", split_size)
        assert topics(tables)[0]["messages"] == 20
        assert tables["files"]["error"].to_pylist() == [None]


def test_times_that_no_clock_shows_are_none_and_fail_nothing(tmp_path: Path) -> None:
    """Two copies of one id whose born times mean nothing, in records whose store times mean nothing either."""
    odd = (1 << 62, -5, (1 << 63) - 1, 10**15)
    with StoreWriter(tmp_path / "s") as writer:
        for at, born in enumerate(odd * 2):
            made = Record.of(
                f"T{at % 4}",
                b"x",
                f"UNIQ_KEY\x01AC110001473C7D4991AD336AEA5700{at % 4:02X}\x02",
                queue_id=0,
                born_timestamp=born,
                born_host=HOST,
                store_host=HOST,
            )
            assert writer.put(made, 1_795_000_000_000).records
    with StoreFolder(tmp_path / "s") as store:
        places = [step.offset for step in store.log.walk() if isinstance(step, Stored)]
    with (tmp_path / "s" / "commitlog" / f"{0:020d}").open("r+b") as file:
        for place, time in zip(places, odd, strict=False):
            file.seek(place + 56)
            file.write(time.to_bytes(8, "big", signed=True))
    tables = scanned(tmp_path / "s")
    assert tables["topics"]["messages"].to_pylist() == [2, 2, 2, 2]
    assert [row["last_store_timestamp"] is None for row in tables["topics"].to_pylist()] == [True, False, True, True]
    assert [row["first_store_timestamp"] is None for row in tables["topics"].to_pylist()] == [False, True, False, False]
    assert {Line(born=born).born for born in odd} == {None}  # what the findings read of them
    with StoreFolder(tmp_path / "s") as store:
        answer = StoreLookup(store, Clock(datetime(2026, 11, 21, tzinfo=UTC), UTC)).one(
            "AC110001473C7D4991AD336AEA5700FF"
        )
    assert answer.reason == "unknown" and "first_store_time" not in answer.figures


def test_large_records_and_many_topics(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", Settings(32 << 20, 400, 997, 5_000, 16 << 20)) as writer:
        for number in range(700):
            size = 6 << 20 if number == 300 else number
            made = Record.of(
                f"topic-{number}",
                bytes(size),
                "",
                queue_id=number % 5,
                born_timestamp=1,
                born_host=HOST,
                store_host=HOST,
            )
            assert writer.put(made, number + 1).records
    tables = scanned(tmp_path / "s")
    assert topics(tables) == topics_by_walk(tmp_path / "s")
    assert tables["topics"].num_rows == 700
    assert same(tables, scanned(tmp_path / "s", 3_000_000)) == []


@pytest.mark.parametrize(("tags", "listed"), [(999, True), (1_000, True), (1_001, False)])
def test_tags_without_end_are_counted_and_not_listed(tags: int, listed: bool, tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", Settings(1 << 20, 400, 997, 5_000, 16 << 10)) as writer:
        for number in range(2_100):
            tag = f"TAGS\x01{number % tags}\x02" if number < 2_050 else ""
            made = Record.of(
                f"topic-{number % tags % 2}",
                b"b",
                tag,
                queue_id=number % 5,
                born_timestamp=1,
                born_host=HOST,
                store_host=HOST,
            )
            assert writer.put(made, number + 1).records
    found = scanned(tmp_path / "s")["tags"].to_pylist()
    assert found == scanned(tmp_path / "s", 20_000)["tags"].to_pylist()  # in none of these splits are so many tags
    assert sum(row["messages"] for row in found) == 2_100
    if listed:
        assert found == tags_by_walk(tmp_path / "s")
    else:
        assert [(row["topic"], row["tag"]) for row in found] == [("topic-0", None), ("topic-1", None)]


def test_what_is_no_store_is_said(tmp_path: Path) -> None:
    with pytest.raises(CoreError) as empty:
        list_store(str(tmp_path))
    assert empty.value == CoreError("no_log", {"folder": str(tmp_path)})
    with pytest.raises(CoreError) as missing:
        list_store(str(tmp_path / "nowhere"))
    assert missing.value == CoreError("unreadable", {"path": str(tmp_path / "nowhere"), "why": CoreError("ENOENT")})


@pytest.mark.parametrize("split_size", [1 << 30, 5_000])
def test_a_file_whose_name_is_no_offset_is_named_and_the_rest_is_read(small: Path, split_size: int) -> None:
    whole = topics(scanned(small))
    first = min((small / "commitlog").iterdir())
    for name in ("9" * 20, f"{1 << 63:020d}"):
        shutil.copy(first, first.with_name(name))
    tables = scanned(small, split_size)
    assert topics(tables) == whole
    large = [row["file"][-20:] for row in tables["files"].to_pylist() if row["error"] == "name_too_large"]
    assert large == [f"{1 << 63:020d}", "9" * 20]


def test_a_store_has_its_tables_also_where_nothing_could_be_read(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / f"{0:020d}").touch()
    tables = scanned(tmp_path)
    assert tables["topics"].num_rows == tables["tags"].num_rows == 0
    assert tables["topics"].schema == SCHEMAS["topics"] and tables["tags"].schema == SCHEMAS["tags"]


def test_what_no_file_holds_has_a_row_of_its_own(small: Path, tmp_path: Path) -> None:
    first, second, third, *_ = sorted((small / "commitlog").iterdir())
    whole = scanned(small)
    assert whole["files"].num_rows == len(list((small / "commitlog").iterdir()))
    second.unlink()
    with third.open("r+b") as file:
        file.truncate(9_000)
    assert len(list((small / "commitlog").iterdir())) > 2, "one is behind the cut"
    rows = [(row["file"][-20:], wrong(row)) for row in scanned(small, 5_000)["files"].to_pylist()]
    assert rows[1] == (second.name, ("log_hole", {"first": second.name, "last": third.name}))
    cut = int(third.name) + 9_000
    assert rows[3] == (f"{cut:020d}", ("log_hole", {"first": f"{cut:020d}", "last": f"{3 << 14:020d}"}))
    for path in (first, third):  # dumps: nobody says that they have to follow one another
        shutil.copy(path, tmp_path / path.name)
    assert len(list_store(str(tmp_path))) == 2
