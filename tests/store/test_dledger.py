"""A store of a broker with DLedger: its log is in a folder of its own, each record behind the head of an entry."""

from __future__ import annotations

import struct
from datetime import UTC
from pathlib import Path

import pytest

from idcore.answers.lookup.sentences import reason_text
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.base.catalogue import languages, words
from idcore.ids import Clock, OffsetId
from idcore.rocketmq.message import Record
from idcore.rocketmq.store import Stored
from idcore.rocketmq.store.commitlog import Blank, Miss
from idcore.rocketmq.store.folder import StoreFolder
from tests.remoting.fake import NOW, UNIQ, record

pytestmark = pytest.mark.quick
SIZE = 4_096


def entry(index: int, position: int, body: bytes) -> bytes:
    """DLedgerEntryCoder.encode of dledger 0.3.2: magic, size, index, term, pos, channel, two CRCs, body."""
    return struct.pack(">iiqqqiiii", 1, 48 + len(body), index, 2, position, 0, 0, 0, len(body)) + body


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two files: three records and padding, and one record."""
    files = {0: b"", SIZE: b""}
    for index in range(4):
        start = 0 if index < 3 else SIZE
        position = start + len(files[start])
        made = record("Orders", UNIQ[:-1] + str(index), position + 48).placed(index, position + 48, 1_795_000_000_000)
        files[start] += entry(index, position, bytes(made))
    files[0] += struct.pack(">ii", -1, SIZE - len(files[0]))
    data = tmp_path / "dledger-n0" / "data"
    data.mkdir(parents=True)
    for start, raw in files.items():
        (data / f"{start:020d}").write_bytes(raw.ljust(SIZE, b"\0"))
    (tmp_path / "commitlog").mkdir()
    return tmp_path


def test_every_record_is_read_and_nothing_is_damage(root: Path) -> None:
    with StoreFolder(root) as store:
        steps = list(store.log.walk())
        assert [type(step) for step in steps] == [Stored, Stored, Stored, Blank, Stored]
        assert store.log.end == steps[-1].end


def test_a_record_is_found_by_its_ids(root: Path) -> None:
    with StoreFolder(root) as store:
        stored: list[Record] = [step.record for step in store.log.walk() if isinstance(step, Stored)]
        look_up = StoreLookup(store, Clock(NOW, UTC, "given"))
        for made in stored:
            for text in (made.uniq_id, str(OffsetId.of(b"\x7f\0\0\1", 10911, made.physical_offset))):
                assert [copy.record for copy in look_up.one(text or "").copies] == [made], text


@pytest.mark.parametrize("lang", languages())
def test_an_offset_in_the_head_of_an_entry_is_not_damage(root: Path, lang: str) -> None:
    with StoreFolder(root) as store:
        stored = [step.record for step in store.log.walk() if isinstance(step, Stored)]
        look_up = StoreLookup(store, Clock(NOW, UTC, "given"))
        for made in stored:
            for before in (48, 20, 1):
                missed = look_up.one(str(OffsetId.of(b"\x7f\0\0\1", 10911, made.physical_offset - before)))
                assert missed.reason == "mid_record" and missed.figures["record_offset"] == made.physical_offset
                said = reason_text(missed, words(lang))
                assert "DLedger" in said and str(made.physical_offset) in said and "{" not in said
        inside = look_up.one(str(OffsetId.of(b"\x7f\0\0\1", 10911, stored[1].physical_offset + 4)))
        assert inside.reason == "mid_record" and inside.figures["byte"] == 4


def test_a_damaged_record_behind_a_sound_head_is_damaged(root: Path) -> None:
    file = root / "dledger-n0" / "data" / f"{0:020d}"
    raw = bytearray(file.read_bytes())
    raw[48 + 4 : 48 + 8] = b"lost"
    file.write_bytes(raw)
    with StoreFolder(root) as store:
        for offset, first in ((10, 0), (48, 48), (60, 48)):
            missed = store.log.look(offset)
            assert isinstance(missed, Miss) and (missed.reason, missed.evidence["first"]) == ("damaged", first)


def test_the_log_from_before_dledger_comes_first(root: Path) -> None:
    first = next(iter(sorted((root / "dledger-n0" / "data").iterdir())))
    first.unlink()
    older = record("Orders", UNIQ, 0)
    (root / "commitlog" / f"{0:020d}").write_bytes(bytes(older).ljust(SIZE, b"\0"))
    with StoreFolder(root) as store:
        records = [step.record for step in store.log.walk() if isinstance(step, Stored)]
    assert [made.uniq_id for made in records] == [UNIQ, UNIQ[:-1] + "3"]
