"""Real files of every kind with the same log in it: the same tables as from the plain file, for any split size."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from idcore.scan.local import scan_local
from idcore.scan.tables import Tables
from idcore.sources import packings
from idcore.sources.archives import kind_of
from tests.scan import logs
from tests.scan.comparing import same
from tests.scan.packing import (
    HALF,
    LOG,
    MANY,
    MONTHS,
    PACKERS,
    SPLITS,
    files,
    ids_in,
    plain,
    scanned,
    tar_of,
    written,
)

__all__ = ["plain"]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", PACKERS)
def test_a_packed_log_has_the_tables_of_the_plain_one(name: str, split: int, plain: Tables, tmp_path: Path) -> None:
    path = written(tmp_path, f"a.log.{name}", PACKERS[name](LOG))
    tables = scanned(path, split)
    assert same(tables, plain, ["files", "refused", "lookalikes"]) == []
    ids = plain["files"]["ids"][0].as_py()
    assert files(tables) == [(f"a.log.{name}", path.stat().st_size, len(LOG), ids, None)]


@pytest.mark.parametrize("name", MANY)
def test_members_and_frames_are_read_one_after_the_other(name: str, plain: Tables, tmp_path: Path) -> None:
    pack = PACKERS[name]
    cut = len(LOG) // 2 + 7  # in the middle of a line, where logrotate would not cut
    tables = scanned(written(tmp_path, "a", pack(LOG[:cut]) + pack(b"") + pack(LOG[cut:])))
    assert same(tables, plain, ["files", "refused", "lookalikes"]) == []
    assert files(tables)[0][2:] == (len(LOG), plain["files"]["ids"][0].as_py(), None)


@pytest.mark.parametrize("data", [LOG, b"", LOG[: 1 << 14], bytes(1 << 20)])
def test_gzip_is_read_without_isal_too(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = len(data) // 2
    packed = gzip.compress(data[:half]) + gzip.compress(data[half:])
    faster = scanned(written(tmp_path, "a", packed))
    monkeypatch.setattr(packings, "isal", None)
    assert same(scanned(written(tmp_path, "a", packed)), faster) == []
    assert files(faster)[0][2:] == (len(data), ids_in(data, tmp_path), None)
    (_, _, text, _, error), *_ = files(scanned(written(tmp_path, "a", packed[:-4])))
    assert error and text > len(data) - (1 << 14)


@pytest.mark.parametrize("command", [["gzip", "-c"], ["bzip2", "-c"], ["xz", "-c"], ["zstd", "-qc"], ["lz4", "-c"]])
def test_what_the_usual_commands_pack_is_read(command: list[str], plain: Tables, tmp_path: Path) -> None:
    if not shutil.which(command[0]):
        problem = f"no {command[0]} here"
        if os.environ.get("CI"):
            pytest.fail(problem)
        pytest.skip(problem)
    packed = subprocess.run(command, input=LOG, capture_output=True, check=True).stdout
    assert same(scanned(written(tmp_path, "a", packed)), plain, ["files", "refused", "lookalikes"]) == []


@pytest.mark.long(first=5)
@pytest.mark.parametrize("name", PACKERS)
@pytest.mark.parametrize("cut", [0.5, 0.9])
def test_of_a_cut_file_all_that_unpacks_is_counted(name: str, cut: float, tmp_path: Path) -> None:
    big = LOG * 8
    packed = PACKERS[name](big)
    whole = written(tmp_path, "whole.log", LOG)
    tables = scan_local([str(written(tmp_path, "a", packed[: int(len(packed) * cut)])), str(whole)], MONTHS)
    (_, _, text, ids, error), after = files(tables)
    assert error and (ids > 0 or name in ("bz2", "xz", "lzma", "zst", "unsized.zst")) and text < len(big)
    assert after[3] == ids_in(LOG, tmp_path) and after[4] is None


@pytest.mark.parametrize("name", ["gz", "zst", "bz2"])
def test_of_a_damaged_file_what_lies_before_the_damage_is_counted(name: str, tmp_path: Path) -> None:
    first, second = PACKERS[name](LOG), bytearray(PACKERS[name](LOG))
    second[len(second) // 2 : len(second) // 2 + 64] = b"\xaa" * 64
    (_, _, text, ids, error), *_ = files(scanned(written(tmp_path, "a", first + bytes(second))))
    lost = 16 << 10  # at most: what was being unpacked when the damage was met
    assert error and text > len(LOG) - lost and ids >= ids_in(LOG[: len(LOG) - lost], tmp_path)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_junk_behind_a_packed_log_is_named_and_zeros_are_not(kind: str, tmp_path: Path) -> None:
    (_, _, text, _, error), *_ = files(scanned(written(tmp_path, "a", PACKERS[kind](LOG) + b"junk that is no member")))
    assert error and (text == len(LOG) or (kind == "zst" and text > len(LOG) - (1 << 14)))
    if kind != "zst":
        (_, _, text, _, error), *_ = files(scanned(written(tmp_path, "a", PACKERS[kind](LOG) + bytes(70_000))))
        assert (text, error) == (len(LOG), None)


def test_a_wrong_checksum_is_named(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LOG))
    packed[-6] ^= 1
    (_, _, text, _, error), *_ = files(scanned(written(tmp_path, "a", bytes(packed))))
    assert error and text > len(LOG) - (1 << 14)


# ---- letters of more than one byte


# Without a mark only UTF-16 is known; UTF-32 in splits of 64 bytes is slow, and nothing new.
WIDE = [
    (encoding, mark, split)
    for encoding in ("utf-16-le", "utf-16-be")
    for mark in (True, False)
    for split in (*SPLITS, 1001, 64)
]
WIDE += [(encoding, True, split) for encoding in ("utf-32-le", "utf-32-be") for split in (*SPLITS, 1001)]


@pytest.mark.long(first=4)
@pytest.mark.parametrize(("encoding", "mark", "split"), WIDE)
def test_wide_letters_are_read_exactly(encoding: str, mark: bool, split: int, tmp_path: Path) -> None:
    text = "2026-03-10 消息 订单已发送 " + LOG[: HALF if split > 64 else 9000].decode("latin-1")
    path = written(tmp_path, "a.log", (("\ufeff" if mark else "") + text).encode(encoding))
    tables = scanned(path, split)
    narrow = "?" * mark + "".join(c if ord(c) < 128 else "?" for c in text)
    want = scanned(written(tmp_path, "b.log", narrow.encode()))
    assert same(tables, want, ["files", "refused", "lookalikes"]) == []
    assert files(tables)[0][2:] == files(want)[0][2:]
    assert tables["refused"].drop_columns(["file"]) == want["refused"].drop_columns(["file"])


def test_half_a_letter_at_the_end_and_wide_letters_that_are_packed(tmp_path: Path) -> None:
    data = b"\xff\xfe" + LOG.decode("latin-1").encode("utf-16-le")
    ids = ids_in(LOG, tmp_path)
    for odd in (data + b"A", gzip.compress(data), gzip.compress(data + b"A"), tar_of({"a": data})):
        assert files(scanned(written(tmp_path, "x", odd)))[-1][3:] == (ids, None)


@pytest.mark.parametrize("text", [b"", b"a\0b", bytes(400), bytes(4096) + b"log", "消息".encode() * 99, b"\0\0a\0"])
def test_text_with_zeros_is_not_taken_for_wide_letters(text: bytes) -> None:
    assert kind_of(text[:512]) == "plain"


@pytest.mark.long(first=1)
@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("split", [61, 4096, 1 << 30])
def test_chinese_text_around_ids_hides_none(encoding: str, split: int, tmp_path: Path) -> None:
    ids = [logs.uniq(0x0A000001, 7, logs.JAVA, logs.NOON + n, n) for n in range(300)]
    text = "".join(f"消息{one}发送成功，訂單編號：{one}。\r\n" for one in ids)
    tables = scanned(written(tmp_path, "a.log", text.encode(encoding)), split)
    assert files(tables)[0][3] == 600 and tables["processes"]["distinct"].to_pylist() == [300]


def test_zero_bytes_end_ids_and_hide_none(tmp_path: Path) -> None:
    one = logs.uniq(0x0A000001, 7, logs.JAVA, logs.NOON, 1).encode()
    data = bytes(5000) + one + b"\0" + one + bytes(70_000) + b"\n" + one + b"\0"
    for split in (97, 1 << 30):
        assert files(scanned(written(tmp_path, "a.log", data), split))[0][2:4] == (len(data), 3)
