"""Parts of a store that cannot be read, or lie under a wrong name: named, and everything else is answered."""

from __future__ import annotations

import errno
import os
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.lookup import StoreLookup
from idcore.base.errors import CoreError
from idcore.rocketmq.store import Miss, Skipped, Stored, StoreFolder, commitlog, config
from idcore.simulate.writer import StoreWriter
from tests.store.test_damage import CLOCK, FIRST, SMALL, damage, record, records_of, small

__all__ = ["small"]  # the fixture


@pytest.mark.skipif(not os.environ.get("CI") and not os.path.exists("/proc/self/fd"), reason="no /proc")
def test_a_part_that_cannot_be_read_is_one_that_is_not_there_and_is_named(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker deletes its oldest file, a disk fails, a file is locked: the rest is answered all the same."""
    (first, second, *_) = sorted((small / "commitlog").iterdir())
    known = records_of(small)
    offsets = {
        path.name: [at for at in known if int(path.name) <= at < int(path.name) + 4_096] for path in (first, second)
    }
    with StoreFolder(small, SMALL.slots) as store:
        first.unlink()
        asked = [str(known[offsets[path.name][0]].offset_id) for path in (first, second)]
        gone, there = (StoreLookup(store, CLOCK).one(text) for text in asked)
        assert (gone.reason, gone.figures["problem"]["code"]) == ("hole", "ENOENT")
        ((name, why),) = gone.figures["unreadable"].items()
        assert (name, why["code"]) == (f"commitlog/{first.name}", "ENOENT")
        assert there.found and "unreadable" in there.figures
        assert store.overview()["unreadable"] == gone.figures["unreadable"]
    plain, failing = os.pread, 1_000

    def pread(descriptor: int, size: int, at: int) -> bytes:
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(f"commitlog/{second.name}") and at + size > failing:
            if at >= failing:
                raise OSError(errno.EIO, "Input/output error")
            size = failing - at
        return plain(descriptor, size, at)

    monkeypatch.setattr(os, "pread", pread)
    with StoreFolder(small, SMALL.slots) as store:
        whole = [at for at in offsets[second.name] if at + known[at].size <= int(second.name) + failing]
        assert len(whole) > 3
        assert all(isinstance(store.log.look(at), Stored) for at in whole)
        lost = StoreLookup(store, CLOCK).one(str(known[offsets[second.name][-1]].offset_id))
        assert (lost.reason, lost.figures["first"]) == ("hole", whole[-1] + known[whole[-1]].size)
        assert lost.figures["unreadable"] == {f"commitlog/{second.name}": {"code": "EIO", "values": {}}}
        behind = [at for at in known if at >= int(second.name) + 4_096]
        walked = [step.offset for step in store.log.walk() if isinstance(step, Stored)]
        assert walked == [*whole, *behind]

    def broken(*_: Any) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pread", broken)
    with StoreFolder(small) as store, pytest.raises(OSError, match="Too many"):
        store.log.look(int(second.name))


@pytest.mark.parametrize("part", ["index", "consumequeue", "config"])
def test_a_part_of_the_folder_that_cannot_be_listed_leaves_the_others(
    small: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.scandir

    def refused(path: Any) -> None:
        if f"{part}" in str(path).split("/"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

    def scandir(path: Any) -> Any:
        refused(path)
        return listed(path)

    def opened(path: str, flags: int) -> int:
        refused(path)
        return os.open(path, flags)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(config, "opener", lambda _: opened)
    with StoreFolder(small, SMALL.slots) as store:
        answer = StoreLookup(store, CLOCK).one("ID7")
        assert answer.found and answer.reason == ("index_lost" if part == "index" else None)
        assert {why["code"] for why in answer.figures["unreadable"].values()} == {"EACCES"}
        assert store.overview()["files"]


@pytest.mark.parametrize("name", ["9" * 20, "１" * 20, f"{1 << 63:020d}"])
def test_a_name_that_is_no_offset_is_a_stranger(small: Path, name: str) -> None:
    shutil.copy(small / "commitlog" / FIRST, small / "commitlog" / name)
    with StoreFolder(small) as store:
        assert store.overview()["strangers"] == [name]
        assert isinstance(store.log.look(0), Stored)
        assert store.log.look(1 << 62) == Miss(
            "beyond_end", {"offset": 1 << 62, "end": store.log.end, "last_file": store.log.files[-1].name}
        )


def test_pieces_in_a_folder_of_the_logs_name_are_told_theirs(small: Path) -> None:
    for path in (small / "commitlog").iterdir():
        path.rename(path.with_name(f"{path.name}.bak"))
    with pytest.raises(CoreError) as caught:
        StoreFolder(small)
    assert caught.value.code == "dump" and caught.value.values["name"] == FIRST
    assert f"rename it to {FIRST}" in str(caught.value)


@pytest.mark.long(first=1)
@pytest.mark.parametrize("window", [91, 128, 1_000])
def test_what_lies_across_the_border_of_a_window_is_found(
    small: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, second, *_) = sorted((small / "commitlog").iterdir())
    damage(first, 100, b"\xff" * 700)
    damage(second, 0, bytes(2_000))
    with StoreFolder(small) as store:
        offsets = range(int(second.name) + 4_096)
        wanted, walked = [store.log.look(offset) for offset in offsets], list(store.log.walk())
    assert {type(found) for found in wanted} == {Stored, Miss}
    monkeypatch.setattr(commitlog, "_WINDOW", window)
    monkeypatch.setattr(commitlog, "_FIRST_WINDOW", window)
    with StoreFolder(small) as store:
        assert list(store.log.walk()) == walked
        assert [store.log.look(offset) for offset in offsets] == wanted


def test_beginnings_are_those_that_a_slow_search_finds() -> None:
    rng = random.Random(5)
    seen = 0
    for base in (0, 4_096, (1 << 24) - 300, (1 << 32) - 7, (1 << 40) + 3, (1 << 63) - 9_000):
        raw, end = bytearray(rng.randbytes(600)), base + rng.choice([700, 5_000, 1 << 25, 1 << 31])
        for at in rng.sample(range(0, 560, 20), 14):
            place = base + at
            blank = (end - place).to_bytes(8, "big")[4:] + b"\xcb\xd4\x31\x94"
            head = rng.randbytes(4) + rng.choice([b"\xda\xa3\x20\xa7", b"\xda\xa3\x20\xab"]) + bytes(20)
            whole = rng.choice([blank, head + rng.choice([place, place + 1]).to_bytes(8, "big")])
            raw[at : at + len(whole)] = whole
        slow = [
            base + at
            for at in range(len(raw) - 7)
            if (
                (bytes(raw[at + 4 : at + 8]) in (b"\xda\xa3\x20\xa7", b"\xda\xa3\x20\xab"))
                and bytes(raw[at + 28 : at + 36]) == (base + at).to_bytes(8, "big")
            )
            or (
                bytes(raw[at + 4 : at + 8]) == b"\xcb\xd4\x31\x94"
                and int.from_bytes(raw[at : at + 4]) == end - base - at
            )
        ]
        found = commitlog._beginnings(bytes(raw), base, end)
        assert found == sorted(found) and set(slow) <= set(found)
        records = [place for place in slow if raw[place - base + 4] == 0xDA]
        assert commitlog._beginnings(bytes(raw), base) == records
        seen += len(records)
    assert seen > 10


def counted(store: StoreFolder) -> list[Path]:
    """The file of each read from now on."""
    plain, reads = store.reading.read, []

    def read(path: Path, at: int, size: int) -> bytes:
        reads.append(path)
        return plain(path, at, size)

    store.reading.read = read  # type: ignore[method-assign]
    return reads


@pytest.mark.parametrize("magic", ["DAA320A7", "DAA320AB", "CBD43194"])
def test_a_file_of_nothing_but_magics_is_read_in_a_few_steps(tmp_path: Path, magic: str) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / FIRST).write_bytes(bytes.fromhex(magic) * (1 << 20))
    with StoreFolder(tmp_path) as store:
        reads = counted(store)
        (skipped,) = store.log.walk()
        assert isinstance(skipped, Skipped) and (skipped.offset, skipped.end) == (0, 4 << 20)
        found = store.log.look(3 << 20)
        assert isinstance(found, Miss) and found.reason == "damaged"
        assert store.overview()["first_store_timestamp"] is None
    assert len(reads) < 100


@pytest.mark.parametrize("filler", [b"\0", b"\0\0\0\1"])
def test_an_index_file_of_which_only_the_header_is_left_is_soon_given_up(
    tmp_path: Path, filler: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("idcore.rocketmq.store.index._TRIED_MOST", 500)
    with StoreWriter(tmp_path / "s", SMALL) as writer:
        writer.put(record(1), 1_795_000_000_000)
    (path,) = (tmp_path / "s" / "index").iterdir()
    with StoreFolder(tmp_path / "s") as store:
        assert store.index.files[0].slots == SMALL.slots, "every place of zeros reads as its offset, which is 0"
        assert not StoreLookup(store, CLOCK).one("ID1").reason
    path.write_bytes(path.read_bytes()[:40] + filler * ((4 << 20) // len(filler)))
    with StoreFolder(tmp_path / "s") as store:
        reads = counted(store)
        assert store.index.files[0].slots is None
        assert len(reads) < 4_000
        assert StoreLookup(store, CLOCK).one("ID1").reason == "index_lost"


@pytest.mark.parametrize(
    "text", ["", "[", '{"topicConfigTable": [1]}', "[1]", '{"topicConfigTable": ' + "[" * 100_000, "\udcff"]
)
def test_topics_that_are_no_configuration_are_those_of_the_queues(small: Path, text: str) -> None:
    (small / "config" / "topics.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with StoreFolder(small) as store:
        assert store.topics == ["T"] and not store.unreadable


def test_a_size_is_not_believed_before_the_lengths_behind_it_agree(tmp_path: Path) -> None:
    """One flipped bit may make a record as large as its file; a record that is large indeed is read whole."""
    large = 6 << 20
    with StoreWriter(tmp_path / "s", replace(SMALL, commit_log_file=64 << 20, message_most=large)) as writer:
        for body in (b"x", b"y" * large, b"z"):
            assert writer.put(record(1, body), 1_795_000_000_000).records
    (path,) = (tmp_path / "s" / "commitlog").iterdir()
    sizes = []
    with StoreFolder(tmp_path / "s") as store:
        plain = store.reading.read

        def counted(path: Path, at: int, size: int) -> bytes:
            sizes.append(size)
            return plain(path, at, size)

        store.reading.read = counted  # type: ignore[method-assign]
        whole = [step.offset for step in store.log.walk() if isinstance(step, Stored)]
        assert len(whole) == 3 and max(sizes) > large
        damage(path, 0, (60 << 20).to_bytes(4, "big"))
        sizes.clear()
        skipped, *rest = store.log.walk()
        assert isinstance(skipped, Skipped) and (skipped.offset, skipped.end, skipped.field) == (
            0,
            whole[1],
            "total_size",
        )
        assert [step.offset for step in rest if isinstance(step, Stored)] == whole[1:]
        assert max(sizes) < large + 1_000
