"""Real files of every kind with the same log in it: the same tables as from the plain file, for any split size."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import zstandard

from idcore.scan import unpack
from idcore.scan.kinds import kind_of
from idcore.scan.local import scan_local
from idcore.scan.tables import Tables
from tests.scan import logs
from tests.scan.comparing import same
from tests.scan.logs import AT

MONTHS = np.array([[int(AT.replace(day=1, hour=0, tzinfo=UTC).timestamp() * 1000), 31 * 86_400_000 - 1]], np.int64)
LOG = logs.mixed(41, 1500).data
HALF = LOG.index(b"\n", len(LOG) // 2) + 1
SPLITS = [997, 4096, 1 << 30]


def lz4(data: bytes) -> bytes:
    return pa.compress(data, "lz4", asbytes=True)


def frame(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


def zstd_unsized(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "zst": zstandard.ZstdCompressor().compress,
    "unsized.zst": zstd_unsized,
    "lz4": frame,
}
MANY = [name for name in PACKERS if name != "lzma"]  # the old format has no members


def scanned(path: Path, split: int = 1 << 30) -> Tables:
    return scan_local([str(path)], MONTHS, split)


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    tables = scanned(written(tmp_path_factory.mktemp("plain"), "a.log", LOG))
    assert tables["files"]["ids"].to_pylist()[0] > 1500 and tables["refused"].num_rows
    return tables


def files(tables: Tables) -> list[tuple]:
    """Name behind the last slash, bytes, text bytes, ids, error."""
    rows = tables["files"].to_pylist()
    return [(r["file"].rpartition("/")[2], r["bytes"], r["text_bytes"], r["ids"], r["error"]) for r in rows]


def ids_in(data: bytes, folder: Path) -> int:
    return int(scanned(written(folder, "part.log", data))["files"]["ids"][0].as_py())


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", PACKERS)
def test_a_packed_log_has_the_tables_of_the_plain_one(name: str, split: int, plain: Tables, tmp_path: Path) -> None:
    path = written(tmp_path, f"a.log.{name}", PACKERS[name](LOG))
    tables = scanned(path, split)
    assert same(tables, plain, ["files", "refused"]) == []
    ids = plain["files"]["ids"][0].as_py()
    assert files(tables) == [(f"a.log.{name}", path.stat().st_size, len(LOG), ids, None)]


@pytest.mark.parametrize("name", MANY)
def test_members_and_frames_are_read_one_after_the_other(name: str, plain: Tables, tmp_path: Path) -> None:
    pack = PACKERS[name]
    cut = len(LOG) // 2 + 7  # in the middle of a line, where logrotate would not cut
    tables = scanned(written(tmp_path, "a", pack(LOG[:cut]) + pack(b"") + pack(LOG[cut:])))
    assert same(tables, plain, ["files", "refused"]) == []
    assert files(tables)[0][2:] == (len(LOG), plain["files"]["ids"][0].as_py(), None)


@pytest.mark.parametrize("data", [LOG, b"", LOG[: 1 << 14], bytes(1 << 20)])
def test_gzip_is_read_without_isal_too(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = len(data) // 2
    packed = gzip.compress(data[:half]) + gzip.compress(data[half:])
    faster = scanned(written(tmp_path, "a", packed))
    monkeypatch.setattr(unpack, "isal", None)
    assert same(scanned(written(tmp_path, "a", packed)), faster) == []
    assert files(faster)[0][2:] == (len(data), ids_in(data, tmp_path), None)
    (_, _, text, _, error), *_ = files(scanned(written(tmp_path, "a", packed[:-4])))
    assert error and text > len(data) - (1 << 14)


@pytest.mark.parametrize("command", [["gzip", "-c"], ["bzip2", "-c"], ["xz", "-c"], ["zstd", "-qc"], ["lz4", "-c"]])
def test_what_the_usual_commands_pack_is_read(command: list[str], plain: Tables, tmp_path: Path) -> None:
    try:
        packed = subprocess.run(command, input=LOG, capture_output=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip(f"no {command[0]} here")
    assert same(scanned(written(tmp_path, "a", packed)), plain, ["files", "refused"]) == []


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


# ---- archives


def tar_of(members: dict[str, bytes], mode: str = "w", form: int = tarfile.GNU_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, stream: bool = False) -> bytes:
    out = io.BytesIO()

    class Unsought(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            return out.write(data)  # type: ignore[arg-type]

    with zipfile.ZipFile(Unsought() if stream else out, "w", method) as archive:  # type: ignore[arg-type]
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


PARTS = {"logs/a.log": LOG[:HALF], "logs/b.log": LOG[HALF:]}
ARCHIVES = {
    "zip": lambda: zip_of(PARTS),
    "stored.zip": lambda: zip_of(PARTS, zipfile.ZIP_STORED),
    "bz2.zip": lambda: zip_of(PARTS, zipfile.ZIP_BZIP2),
    "piped.zip": lambda: zip_of(PARTS, stream=True),
    "tar": lambda: tar_of(PARTS),
    "pax.tar": lambda: tar_of(PARTS, form=tarfile.PAX_FORMAT),
    "tar.gz": lambda: tar_of(PARTS, "w:gz"),
    "tar.bz2": lambda: tar_of(PARTS, "w:bz2"),
    "tar.xz": lambda: tar_of(PARTS, "w:xz"),
    "tar.zst": lambda: PACKERS["zst"](tar_of(PARTS)),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_has_a_row_for_each_member(name: str, split: int, plain: Tables, tmp_path: Path) -> None:
    path = written(tmp_path, f"x.{name}", ARCHIVES[name]())
    tables = scanned(path, split)
    assert same(tables, plain, ["files", "refused"]) == []
    assert tables["refused"].select(["reason", "ids"]) == plain["refused"].select(["reason", "ids"])
    found = files(tables)
    assert found[0] == (f"x.{name}", path.stat().st_size, 0, 0, None)
    a, b = ids_in(LOG[:HALF], tmp_path), ids_in(LOG[HALF:], tmp_path)
    assert [row[1:] for row in found[1:]] == [(0, HALF, a, None), (0, len(LOG) - HALF, b, None)]
    assert [row["file"] for row in tables["files"].to_pylist()[1:]] == [f"{path}!logs/a.log", f"{path}!logs/b.log"]
    assert tables["refused"]["file"][0].as_py().startswith(f"{path}!logs/")


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("split", SPLITS)
def test_long_names_folders_links_and_empty_members(form: int, split: int, tmp_path: Path) -> None:
    out = io.BytesIO()
    long = "d" * 90 + "/" + "日志" * (1 if form == tarfile.USTAR_FORMAT else 60) + ".log"
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, kind in [("logs", tarfile.DIRTYPE), ("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE)]:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "logs/z.log"
            archive.addfile(info)
        for name, data in [(long, LOG), ("empty", b""), ("logs/z.log", LOG)]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    path = written(tmp_path, "x.tar", out.getvalue())
    ids = ids_in(LOG, tmp_path)
    rows = [(r["file"], r["ids"], r["error"]) for r in scanned(path, split)["files"].to_pylist()]
    want = [("", 0), (f"!{long}", ids), ("!empty", 0), ("!logs/z.log", ids)]
    assert rows == [(f"{path}{name}", n, None) for name, n in want]


def test_members_of_members_are_read(tmp_path: Path) -> None:
    inner = {
        "in.tar.gz": tar_of({"deep.log": LOG}, "w:gz"),
        "in.zip": zip_of({"deep.log": LOG}),
        "a.log.gz": gzip.compress(LOG),
    }
    ids = ids_in(LOG, tmp_path)
    want = [("", 0), ("!in.tar.gz!deep.log", ids), ("!in.zip!deep.log", ids), ("!a.log.gz", ids)]
    for name, data in [("x.tar", tar_of(inner)), ("x.zip", zip_of(inner)), ("x.tar.gz", tar_of(inner, "w:gz"))]:
        path = written(tmp_path, name, data)
        rows = scanned(path)["files"].to_pylist()
        assert [(r["file"], r["ids"], r["error"]) for r in rows] == [(f"{path}{inside}", n, None) for inside, n in want]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", ["zip", "stored.zip", "piped.zip", "tar", "tar.gz"])
def test_of_a_cut_archive_what_is_there_is_counted(name: str, split: int, tmp_path: Path) -> None:
    data = ARCHIVES[name]()
    (header,) = [at for at in (data.find(b"logs/b.log"),) if at > 0] or [int(len(data) * 0.9)]
    found = files(scanned(written(tmp_path, "x", data[: header + 4000]), split))
    assert any(row[4] for row in found) and "a.log" in found[1][0]
    assert found[1][3] == ids_in(LOG[:HALF], tmp_path)


def test_a_tar_that_ends_before_a_header_is_not_taken_for_whole(tmp_path: Path) -> None:
    data = tar_of({"a.log": LOG})
    end = 512 + -(-len(LOG) // 512) * 512
    found = files(scanned(written(tmp_path, "x.tar", data[:end])))
    assert found[0][4] == "cut off: the archive has no end mark" and found[1][4] is None


def test_a_damaged_header_in_a_tar_is_named(tmp_path: Path) -> None:
    data = bytearray(tar_of(PARTS))
    at = data.index(b"logs/b.log")
    data[at : at + 4] = b"\xff\xff\xff\xff"
    found = files(scanned(written(tmp_path, "x.tar", bytes(data))))
    assert "damaged at byte" in found[0][4] and found[1][3] == ids_in(LOG[:HALF], tmp_path)


def test_an_encrypted_or_damaged_member_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    data = bytearray(zip_of({**PARTS, "c.log": LOG}, zipfile.ZIP_STORED))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # APPNOTE 4.4.4: bit 0 of the flags
        data[data.index(mark) + flags] |= 1
    data[data.index(LOG[HALF : HALF + 50]) + 20] ^= 0x20  # the checksum of b.log is wrong now
    found = files(scanned(written(tmp_path, "x.zip", bytes(data))))
    assert [row[4] for row in found] == [None, "encrypted", found[2][4], None] and "CRC" in found[2][4]
    assert found[2][2] == len(LOG) - HALF and found[3][3] == ids_in(LOG, tmp_path)


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for head, word in [(b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!\x1a\x07\x00", "RAR"), (b"LPKSHHRH", "journalctl")]:
        found = files(scanned(written(tmp_path, "x", head + LOG)))
        assert word in found[0][4] and found[0][3] == 0


def test_a_bomb_takes_time_but_no_memory(tmp_path: Path) -> None:
    """300 MB of nothing in 300 kB, three times packed, and a tar header that says it is 2 GB long."""
    import tracemalloc

    bomb = written(tmp_path, "bomb.zip", zip_of({"a.gz": gzip.compress(bytes(300 << 20), 1)}))
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 2 << 30
    liar = written(tmp_path, "liar.tar", header.tobuf() + bytes(1 << 20))
    scanned(written(tmp_path, "warm.log", LOG))
    tracemalloc.start()
    rows = files(scan_local([str(bomb), str(liar)], MONTHS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows[1][2] == 300 << 20 and rows[1][4] is None
    assert rows[2][4] == "a header of the archive is too long"
    assert peak < 64 << 20


@pytest.mark.parametrize("name", [*PACKERS, *ARCHIVES])
def test_no_damage_stops_a_scan(name: str, tmp_path: Path) -> None:
    """Bytes changed, lost and put in, at random: every file gets its row, and the file after it is counted."""
    whole = written(tmp_path, "whole.log", LOG[:HALF])
    ids = ids_in(LOG[:HALF], tmp_path)
    data = PACKERS[name](LOG[:HALF]) if name in PACKERS else ARCHIVES[name]()
    r = random.Random(name)
    for _ in range(25):
        damaged = bytearray(data)
        for _ in range(r.choice([1, 2, 9])):
            near = r.choice([r.randrange(len(damaged)), r.randrange(600), len(damaged) - 1 - r.randrange(600)])
            damaged[near : near + r.choice([0, 1, 1, 100])] = r.randbytes(r.choice([0, 1, 1, 8]))
        path = written(tmp_path, "damaged", bytes(damaged))
        rows = scan_local([str(path), str(whole)], MONTHS, r.choice(SPLITS[1:]))["files"].to_pylist()
        assert rows[0]["file"] == str(path) and rows[-1]["ids"] == ids


def test_packed_too_often_is_refused(tmp_path: Path) -> None:
    data = LOG
    for _ in range(12):
        data = gzip.compress(data, 0)
    assert "times over" in files(scanned(written(tmp_path, "x", data)))[0][4]


# ---- letters of more than one byte


@pytest.mark.parametrize("split", [*SPLITS, 1001, 64])
@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_letters_are_read_exactly(encoding: str, mark: bool, split: int, tmp_path: Path) -> None:
    if split == 64 and encoding.startswith("utf-32"):
        pytest.skip("slow, and nothing new")
    if not mark and encoding.startswith("utf-32"):
        return
    text = "2026-03-10 消息 订单已发送 " + LOG[:HALF].decode("latin-1")
    path = written(tmp_path, "a.log", (("\ufeff" if mark else "") + text).encode(encoding))
    tables = scanned(path, split)
    narrow = "?" * mark + "".join(c if ord(c) < 128 else "?" for c in text)
    want = scanned(written(tmp_path, "b.log", narrow.encode()))
    assert same(tables, want, ["files", "refused"]) == []
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
