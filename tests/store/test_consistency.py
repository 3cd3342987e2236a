"""Damage outside a body: every value that something else in the store also says is doubted, and no sound record is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.lookup import StoreLookup, doubt_text, row_of
from idcore.base.catalogue import words
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import messages
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.message.record import parts
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.rocketmq.store.consistency import doubts
from tests.store.test_damage import CLOCK, damage

NUMBER = 1_500  # of the real store: a plain message with tag and keys, in the middle of its file
OTHER = Host(bytes((127, 0, 0, 2)), 21911)


def spoil(root: Path, stored: Stored, raw: bytes) -> list[dict[str, Any]]:
    """The doubts of a record after other bytes of the same length lie in its place."""
    assert len(raw) == stored.record.size
    path = root / "commitlog" / stored.file
    damage(path, stored.offset - int(stored.file), raw)
    try:
        with StoreFolder(root) as store:
            answer = StoreLookup(store, CLOCK).one(str(stored.record.offset_id))
            (row,) = [copy for copy in row_of(answer)["copies"] if copy["commit_log_offset"] == stored.offset]
    finally:
        damage(path, stored.offset - int(stored.file), bytes(stored.record))
    if row["doubts"]:
        assert str(stored.offset) in answer.figures["doubts"]["values"]["records"]
        shown = "\n".join(messages.answer(answer, None, Reader(words(), UTC)))
        texts = [
            doubt_text(doubt, words(), Reader(words(), UTC).instant)
            for copy in answer.copies
            for doubt in copy.doubts or ()
        ]
        assert texts and all(text in shown and "?" not in text for text in texts)
    else:
        assert "doubts" not in answer.figures
    return list(row["doubts"])


def test_no_record_of_the_real_store_is_doubted(real: StoreFolder, real_records: list[Stored]) -> None:
    assert [(found.offset, doubts(found, real)) for found in real_records if doubts(found, real)] == []


def test_no_record_of_our_own_stores_is_doubted(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    from idcore.simulate.append import Settings
    from idcore.simulate.broker import Broker
    from idcore.simulate.dialects import LINES
    from idcore.simulate.traffic import Traffic
    from idcore.simulate.writer import StoreWriter

    for name, line in LINES.items():
        with StoreWriter(tmp_path / name, Settings(1 << 15, 400, 97, 150, 1 << 13), line=line) as writer:
            Traffic(Broker(writer, Host(bytes(15) + b"\1", 10911)), 7, datetime(2026, 11, 20, tzinfo=UTC), UTC).play(
                300
            )
        with StoreFolder(tmp_path / name) as store:
            records = [step for step in store.log.walk() if isinstance(step, Stored)]
            assert len(records) > 300
            assert [doubt for stored in records for doubt in doubts(stored, store)] == []


def swapped(name: str, old: str, new: str) -> Callable[[Record], Record]:
    def change(record: Record) -> Record:
        raw = getattr(record, name)
        assert old.encode() in raw and len(old) == len(new)
        return replace(record, **{name: raw.replace(old.encode(), new.encode(), 1)})

    return change


CHANGES: list[tuple[str, Callable[[Record], Record]]] = [
    ("queue_place", lambda record: replace(record, queue_offset=record.queue_offset - 1)),
    ("queue_none", lambda record: replace(record, queue_id=9)),
    ("queue_none", lambda record: replace(record, queue_offset=1 << 40)),
    ("queue_transaction", lambda record: replace(record, sys_flag=4)),
    ("index_none", lambda record: replace(record, topic_bytes=b"x" + record.topic_bytes[1:])),
    ("index_none", swapped("properties_bytes", "UNIQ_KEY\x01CB", "UNIQ_KEY\x01CC")),
    ("index_time", lambda record: replace(record, store_timestamp=record.store_timestamp + 1_000)),
    ("store_time", lambda record: replace(record, store_timestamp=record.store_timestamp + 60_000)),
    ("store_host", lambda record: replace(record, store_host=OTHER)),
    ("no_text", lambda record: replace(record, properties_bytes=b"\xff" + record.properties_bytes[1:])),
    ("no_text", lambda record: replace(record, topic_bytes=record.topic_bytes[:-1] + b"\x80")),
    ("unlikely", lambda record: replace(record, sys_flag=1 << 20)),
    ("unlikely", lambda record: replace(record, queue_id=-1)),
    ("unlikely", lambda record: replace(record, reconsume_times=-1)),
    ("unlikely", lambda record: replace(record, prepared_transaction_offset=5)),
    ("unlikely", lambda record: replace(record, sys_flag=8)),
    ("unlikely", lambda record: replace(record, born_timestamp=record.born_timestamp ^ 1 << 40)),
    ("unlikely", lambda record: replace(record, store_timestamp=-5)),
]


@pytest.mark.parametrize(("code", "change"), CHANGES)
def test_what_the_store_contradicts_is_doubted(
    copy: Path, real_records: list[Stored], code: str, change: Callable[[Record], Record]
) -> None:
    stored = real_records[NUMBER]
    found = spoil(copy, stored, bytes(change(stored.record)))
    assert code in {doubt["code"] for doubt in found}, found


def test_a_tag_is_held_to_its_queue(copy: Path, real_records: list[Stored]) -> None:
    stored = next(found for found in real_records if found.record.properties.get("TAGS") and not found.record.sys_flag)
    tag = stored.record.properties["TAGS"]
    change = swapped("properties_bytes", f"TAGS\x01{tag}", f"TAGS\x01{chr(ord(tag[0]) ^ 1)}{tag[1:]}")
    assert [doubt["code"] for doubt in spoil(copy, stored, bytes(change(stored.record)))] == ["queue_tag"]


def test_every_doubt_can_come_up() -> None:
    assert {code for code, _ in CHANGES} | {"queue_tag"} == words().table("store.doubt.").keys()


def test_a_flipped_bit_of_these_fields_never_goes_unsaid(copy: Path, real_records: list[Stored]) -> None:
    stored = real_records[NUMBER]
    vouched = {"queue_id", "queue_offset", "topic", "store_ip", "store_port", "prepared_transaction_offset"}
    places = [place for part in parts(stored.record) if part.name in vouched for place in range(part.start, part.stop)]
    with StoreFolder(copy) as store:
        assert store.index.spans(stored.offset)
    for place in places:
        raw = bytearray(bytes(stored.record))
        raw[place] ^= 1
        path = copy / "commitlog" / stored.file
        damage(path, stored.offset - int(stored.file), bytes(raw))
        with StoreFolder(copy) as store:
            answer = StoreLookup(store, CLOCK).one(str(stored.record.offset_id))
            assert not answer.found or "doubts" in answer.figures, place
        damage(path, stored.offset - int(stored.file), bytes(stored.record))
