"""What of a store points at a record, and what an inner batch holds: on rows, and as `view` prints them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.lookup import StoreLookup, copy_row, row_of
from idcore.answers.lookup.store_folder import copy_of
from idcore.base.catalogue import words
from idcore.ids import Clock
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import messages
from idcore.rocketmq.message import Host, Message, Record, compress, flags
from idcore.rocketmq.message.row import record_row
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.rocketmq.store.index import Entry, IndexFile
from idcore.simulate.writer import StoreWriter
from tests.message.wire_form import encode_message

pytestmark = pytest.mark.quick

CLOCK = Clock(datetime(2026, 11, 21, 8, tzinfo=UTC), UTC)
HOST = Host(bytes((10, 0, 0, 1)), 10911)
OUTER = "AC110001473C7D4991AD336AEA5703E0"
INNER = [f"AC110001473C7D4991AD336AEA57{number:04X}" for number in (0x3E1, 0x3E2)]
BATCH = b"".join(
    encode_message(Message.of("T", f"item {at}".encode(), "a", [f"k{at}"]).with_uniq_id(uniq_id))
    for at, uniq_id in enumerate(INNER)
)
BOTH = flags.INNER_BATCH | flags.NEED_UNWRAP


def card(row: dict[str, Any]) -> str:
    """The record as a terminal shows it, each line without its columns."""
    return "\n".join(" ".join(line.split()) for line in messages.record(row, Reader(words(), UTC)))


def record(body: bytes, properties: str, sys_flag: int = 0) -> Record:
    return Record.of(
        "T", body, properties, queue_id=0, born_timestamp=1, born_host=HOST, store_host=HOST, sys_flag=sys_flag
    )


def store_of(root: Path, *records: Record) -> StoreFolder:
    with StoreWriter(root) as writer:
        for number, made in enumerate(records):
            assert writer.put(made, 1_795_000_000_000 + number).records
    return StoreFolder(root)


@pytest.mark.parametrize(
    ("body", "sys_flag"), [(BATCH, BOTH), (compress("zstd", BATCH), BOTH | flags.compression_bits("zstd"))]
)
def test_the_messages_of_an_inner_batch_are_shown_and_found(tmp_path: Path, body: bytes, sys_flag: int) -> None:
    with store_of(tmp_path / "s", record(body, f"UNIQ_KEY\x01{OUTER}\x02INNER_NUM\x012\x02", sys_flag)) as store:
        (copy,) = row_of(StoreLookup(store, CLOCK).one(OUTER))["copies"]
        assert [(inner["msg_id"], inner["body_text"], inner["queue_offset"]) for inner in copy["inner"]] == [
            (INNER[0], "item 0", 0),
            (INNER[1], "item 1", 1),
        ]
        assert f"1 {INNER[1]} item 1" in card(copy)
        if sys_flag == BOTH:  # what is packed cannot be searched
            for key in (INNER[1], "k1"):
                answer = StoreLookup(store, CLOCK).one(key)
                assert (answer.reason, len(answer.copies)) == ("index_lost", 1)
                assert OUTER in answer.figures["inner_batch"]["values"]["ids"]


def test_a_body_that_is_no_inner_batch_is_said(tmp_path: Path) -> None:
    cut = record(BATCH[:-3], f"UNIQ_KEY\x01{OUTER}\x02", BOTH)
    broken = record(b"no zlib", f"UNIQ_KEY\x01{OUTER}\x02", BOTH | flags.compression_bits("zlib"))
    with store_of(tmp_path / "s", cut, broken, record(BATCH, "", flags.INNER_BATCH)) as store:
        first, second, third = (
            copy_row(copy_of(found, store)) for found in store.log.walk() if isinstance(found, Stored)
        )
    assert first["inner"] == [] and first["inner_problem"] == {
        "code": "cut",
        "values": {"name": "properties", "needed": 67, "remaining": 64},
    }
    assert second["inner"] == [] and second["inner_problem"]["code"] == "body_broken"
    assert second["inner_problem"]["values"]["kind"] == "zlib"
    assert "the bytes end inside properties" in card(first)
    assert "inner" not in third


def test_of_a_body_that_unpacks_to_very_many_messages_the_first_are_shown(tmp_path: Path) -> None:
    empty = encode_message(Message.of("T", b""))
    packed = compress("zstd", empty * 1_000_000)
    assert len(packed) < 4096
    made = record(packed, f"UNIQ_KEY\x01{OUTER}\x02", BOTH | flags.compression_bits("zstd"))
    with store_of(tmp_path / "s", made, record(empty * 2, "", BOTH)) as store:
        many, two = (copy_row(copy_of(found, store)) for found in store.log.walk() if isinstance(found, Stored))
    assert (len(many["inner"]), many["inner_cut"]) == (10_000, True)
    assert (len(two["inner"]), two["inner_cut"]) == (2, False)
    assert "> 10,000 messages in this inner batch" in card(many)
    assert "2 messages in this inner batch" in card(two)


def test_what_points_nowhere_is_said(tmp_path: Path) -> None:
    rolled_back = record(b"x", f"UNIQ_KEY\x01{OUTER}\x02KEYS\x01a b\x02", flags.ROLLBACK)
    plain = record(b"y", "KEYS\x01a b\x02TAGS\x01t\x02")
    with store_of(tmp_path / "s", rolled_back, plain, plain) as store:
        rows = [copy_row(copy_of(found, store)) for found in store.log.walk() if isinstance(found, Stored)]
    assert (rows[0]["queue_unit"], rows[0]["queue_unit_missing"]) == (None, "transaction")
    assert [(entry["key"], entry["file"]) for entry in rows[0]["index_entries"]] == [
        (OUTER, None),
        ("a", None),
        ("b", None),
    ]
    assert "T#a no entry points here" in card(rows[0])
    assert [entry["place"] for row in rows[1:] for entry in row["index_entries"]] == [1, 2, 3, 4]
    (tmp_path / "s" / "consumequeue" / "T" / "0").rename(tmp_path / "s" / "consumequeue" / "T" / "7")
    with StoreFolder(tmp_path / "s") as store:
        found = store.log.look(rows[1]["commit_log_offset"])
        assert isinstance(found, Stored)
        assert copy_row(copy_of(found, store))["queue_unit_missing"] == "no_queue"
        assert "this store folder does not contain the queue" in card(copy_row(copy_of(found, store)))
    (tmp_path / "s" / "consumequeue" / "T" / "7").rename(tmp_path / "s" / "consumequeue" / "T" / "0")
    (queue,) = (tmp_path / "s" / "consumequeue" / "T" / "0").iterdir()
    queue.write_bytes(bytes(40))
    with StoreFolder(tmp_path / "s") as store:
        assert copy_row(copy_of(found, store))["queue_unit_missing"] == "not_written"


def test_all_keys_of_a_record_share_the_steps_that_a_look_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, later = (record(body, "KEYS\x01a b c\x02") for body in (b"x", b"y"))
    with store_of(tmp_path / "s", first, *[later] * 6) as store:
        found = store.log.look(0)
        assert isinstance(found, Stored)
        assert [entry["place"] for entry in copy_row(copy_of(found, store))["index_entries"]] == [1, 2, 3]
    monkeypatch.setattr("idcore.rocketmq.store.index.STEPS_MOST", 10)
    with StoreFolder(tmp_path / "s") as store:
        entries = copy_row(copy_of(found, store))["index_entries"]
    assert [entry["place"] for entry in entries] == [1, None, None]
    assert all(entry["file"] for entry in entries)
    assert "too deep in its hash chain" in card(
        {**record_row(found.record), "index_entries": entries, "queue_unit": None, "queue_unit_missing": "no_queue"}
    )


@pytest.mark.parametrize("kept", [7, 200_000])
def test_the_copies_of_one_id_share_one_walk_along_their_chain(
    tmp_path: Path, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch of a 5.x client may hold thousands, all under one id: a walk for each would take their square."""
    monkeypatch.setattr("idcore.rocketmq.store.index._KEPT_MOST", kept)
    copies = 200
    made = [record(b"%d" % number, f"UNIQ_KEY\x01{OUTER}\x02") for number in range(copies)]
    entries = 0
    plain = IndexFile._entry

    def counted(self: IndexFile, place: int, slots: int) -> Entry | None:
        nonlocal entries
        entries += 1
        return plain(self, place, slots)

    monkeypatch.setattr(IndexFile, "_entry", counted)
    with store_of(tmp_path / "s", *made) as store:
        answer = StoreLookup(store, CLOCK).one(OUTER)
    assert [copy["index_entries"][0]["place"] for copy in row_of(answer)["copies"]] == list(range(1, copies + 1))
    if kept > copies:
        assert entries < 4 * copies
