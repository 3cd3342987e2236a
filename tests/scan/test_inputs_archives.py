"""Zip and tar archives: a row for each member, whatever is cut, damaged, encrypted or meant to do harm."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from idcore.base.safe_text import size
from idcore.ids import broken_lines
from idcore.intake import intake
from idcore.scan.local import scan_local
from idcore.scan.tables import Tables
from idcore.sources.inputs import list_files, split_files, walk
from tests.remoting.fake import record
from tests.scan import logs
from tests.scan.comparing import same
from tests.scan.packing import (
    ARCHIVES,
    HALF,
    LOG,
    MONTHS,
    PACKERS,
    PARTS,
    SPLITS,
    files,
    ids_in,
    plain,
    problems,
    scanned,
    tar_of,
    written,
    zip_of,
)

__all__ = ["plain"]


@pytest.mark.long(first=9)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_has_a_row_for_each_member(name: str, split: int, plain: Tables, tmp_path: Path) -> None:
    path = written(tmp_path, f"x.{name}", ARCHIVES[name]())
    tables = scanned(path, split)
    assert same(tables, plain, ["files", "refused", "lookalikes"]) == []
    assert tables["refused"].select(["reason", "ids"]) == plain["refused"].select(["reason", "ids"])
    found = files(tables)
    assert found[0] == (f"x.{name}", path.stat().st_size, 0, 0, None)
    a, b = ids_in(LOG[:HALF], tmp_path), ids_in(LOG[HALF:], tmp_path)
    assert [row[1:] for row in found[1:]] == [(0, HALF, a, None), (0, len(LOG) - HALF, b, None)]
    assert [row["file"] for row in tables["files"].to_pylist()[1:]] == [f"{path}!logs/a.log", f"{path}!logs/b.log"]
    assert tables["refused"]["file"][0].as_py().startswith(f"{path}!logs/")


WRAPPED = "".join(
    f"2026-11-20 10:00:0{n},000 sent msgId=0A6408A4001E18B4AAC2\n0E4136{n:02X}{n:04X} ok\n" for n in range(9)
)
PACKED = {
    "log.gz": gzip.compress,
    "zip": lambda data: zip_of({"a.log": data, "b.txt": b"nothing"}),
    "tar.xz": lambda data: tar_of({"a.log": data}, "w:xz"),
    "log.zst": PACKERS["zst"],
    "gz.zip": lambda data: zip_of({"a.gz": gzip.compress(data)}),
}


@pytest.mark.parametrize("kind", PACKED)
def test_ids_that_a_line_break_cuts_are_joined_in_a_small_packed_text(kind: str, tmp_path: Path) -> None:
    wrapped = WRAPPED.encode()
    tables = scanned(written(tmp_path, f"x.{kind}", PACKED[kind](wrapped)))
    of_text = scanned(written(tmp_path, "x.log", wrapped))
    assert sum(tables["processes"]["distinct"].to_pylist()) == 9
    assert same(tables, of_text, ["files", "refused", "lookalikes"]) == []


@pytest.mark.parametrize(("kind", "split"), [("log", 1 << 30), ("log", 1 << 20), ("log.gz", 1 << 30)])
def test_of_a_large_text_a_sample_shows_what_line_breaks_cut(kind: str, split: int, tmp_path: Path) -> None:
    line = "2026-11-20 10:00:00,000 sent msgId=0A6408A4001E18B4AAC20E413600{:04X} ok\r\n".format
    whole = "".join(line(n % 9) for n in range(70_000))
    long = whole.replace("18B4AAC20E", "18B4AAC2\r\n0E")
    data = PACKED["log.gz"](long.encode()) if kind == "log.gz" else long.encode()
    (row,) = scanned(written(tmp_path, f"x.{kind}", data), split)["refused"].to_pylist()
    place = long.index("\r\n0E", broken_lines.MOST - 1) - 20
    assert (row["reason"], row["byte"]) == ("broken_sample", place)
    assert row["ids"] == long.count("\n0E", broken_lines.MOST, broken_lines.MOST + broken_lines.SAMPLE + 2)
    assert scanned(written(tmp_path, "whole.log", whole.encode()), split)["refused"].num_rows == 0


def test_a_large_packed_text_comes_as_it_is_and_keeps_what_is_before_damage(tmp_path: Path) -> None:
    long = LOG * (-(-broken_lines.MOST // len(LOG)) + 1)
    packed = gzip.compress(long, 1)
    plain, whole = (scanned(written(tmp_path, name, data)) for name, data in (("a.log", long), ("a.gz", packed)))
    assert same(whole, plain, ["files", "refused", "lookalikes"]) == []
    cut = scanned(written(tmp_path, "cut.gz", gzip.compress(LOG)[:-400]))
    assert problems(cut) == [("packed_cut", {})] and 0 < cut["files"]["ids"][0].as_py() < ids_in(LOG, tmp_path)


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
    found = files(scanned(written(tmp_path, "x", data[: header + 1000]), split))
    assert any(row[4] for row in found) and "a.log" in found[1][0]
    assert found[1][3] == ids_in(LOG[:HALF], tmp_path)


def test_a_tar_that_ends_before_a_header_is_not_taken_for_whole(tmp_path: Path) -> None:
    data = tar_of({"a.log": LOG})
    end = 512 + -(-len(LOG) // 512) * 512
    assert problems(scanned(written(tmp_path, "x.tar", data[:end]))) == [("archive_no_end", {}), None]


def test_a_damaged_header_in_a_tar_is_named(tmp_path: Path) -> None:
    data = bytearray(tar_of(PARTS))
    at = data.index(b"logs/b.log")
    data[at : at + 4] = b"\xff\xff\xff\xff"
    tables = scanned(written(tmp_path, "x.tar", bytes(data)))
    where = {"place": at, "why": "bad checksum"}
    assert problems(tables) == [("archive_damaged_why", where), None]
    assert files(tables)[1][3] == ids_in(LOG[:HALF], tmp_path)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [-1, -512, -1 << 40])
def test_a_member_with_a_size_below_zero_leads_nowhere_back(size: int, packed: bool, tmp_path: Path) -> None:
    head = bytearray(tarfile.TarInfo("b.log").tobuf(tarfile.GNU_FORMAT))
    head[124:136] = (size % (1 << 96)).to_bytes(12, "big")  # base-256, which is signed
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    data = tar_of({"a.log": LOG})[: 512 + -(-len(LOG) // 512) * 512] + bytes(head) + LOG
    found = files(scanned(written(tmp_path, "x.tar", gzip.compress(data) if packed else data)))
    assert found[0][4] == "member_negative" and found[1][3] == ids_in(LOG, tmp_path)


@pytest.mark.parametrize("size", [1 << 62, 1 << 63, 1 << 70])
def test_a_member_that_is_longer_than_any_file_is_named(size: int, tmp_path: Path) -> None:
    head = tarfile.TarInfo("b.log")
    head.size = size
    data = tar_of({"a.log": LOG})[: 512 + -(-len(LOG) // 512) * 512] + head.tobuf(tarfile.GNU_FORMAT) + LOG
    path = written(tmp_path, "x.tar", data)
    with open(path, "rb") as file:
        heads = intake.heads_of(file, "x.tar")
    assert [text for _, text in heads.texts] == [LOG.decode(), LOG.decode()] or heads.failed or heads.partly
    assert files(scanned(path))[1][3] == ids_in(LOG, tmp_path)


def test_a_zip_whose_extra_field_is_shorter_than_it_says_is_named(tmp_path: Path) -> None:
    local = b"PK\3\4" + struct.pack("<5H3L2H", 45, 0, 0, 0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 5, 4) + b"a.log\1\0\x10\0"
    path = written(tmp_path, "x.zip", local + LOG)
    with open(path, "rb") as file:
        heads = intake.heads_of(file, "x.zip")
    assert heads.failed or heads.partly
    assert any(problems(scanned(path)))


def test_an_encrypted_or_damaged_member_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    data = bytearray(zip_of({**PARTS, "c.log": LOG}, zipfile.ZIP_STORED))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # APPNOTE 4.4.4: bit 0 of the flags
        data[data.index(mark) + flags] |= 1
    data[data.index(LOG[HALF:]) + 20] ^= 0x20  # the checksum of b.log is wrong now
    tables = scanned(written(tmp_path, "x.zip", bytes(data)))
    found = files(tables)
    assert problems(tables) == [None, ("member_encrypted", {}), ("member_crc", {}), None]
    assert found[2][2] == len(LOG) - HALF and found[3][3] == ids_in(LOG, tmp_path)


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for head, code, tool in [
        (b"7z\xbc\xaf\x27\x1c", "archive_kind", "7z"),
        (b"Rar!\x1a\x07\x00", "archive_kind", "RAR"),
        (b"LPKSHHRH", "journal", "journalctl --file NAME -o export"),
    ]:
        tables = scanned(written(tmp_path, "x", head + LOG))
        assert problems(tables) == [(code, {"tool": tool})] and files(tables)[0][3] == 0


def test_a_commit_log_is_not_text_alone_in_a_folder_or_in_an_archive(tmp_path: Path) -> None:
    """Its bodies would be lines, for who may not see them."""
    body = b"2026-11-20 the body " + logs.uniq(0x0A000001, 7, logs.JAVA, logs.NOON, 1).encode()
    raw = bytes(record("Orders", None, 0, body))
    folder = tmp_path / "somewhere" / "commitlog"
    folder.mkdir(parents=True)
    written(folder, f"{0:020d}", raw)
    written(folder, "large.bin", raw * 9_000)
    written(folder, "x.tar.gz", tar_of({"a/log": raw}, "w:gz"))
    written(folder, "x.zip", zip_of({"a/log": raw}))
    for split in (1 << 30, 1 << 20):
        tables = scanned(folder.parent, split)
        assert [problem[0] for problem in problems(tables) if problem] == ["commit_log"] * 4
        assert sum(tables["files"]["ids"].to_pylist()) == 0
    splits = split_files(list_files([str(folder.parent)]), 1 << 30)
    assert all(windows is None for where, windows, _ in walk(splits) if where.size or where.place)


def test_a_bomb_takes_time_but_no_memory(tmp_path: Path) -> None:
    """100 MB of nothing in 100 kB, three times packed, and a tar header that says it is 2 GB long."""
    bomb = written(tmp_path, "bomb.zip", zip_of({"a.gz": gzip.compress(bytes(100 << 20), 1)}))
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 2 << 30
    liar = written(tmp_path, "liar.tar", header.tobuf() + bytes(1 << 20))
    scanned(written(tmp_path, "warm.log", LOG))
    tracemalloc.start()
    rows = files(scan_local([str(bomb), str(liar)], MONTHS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows[1][2] == 100 << 20 and rows[1][4] is None
    assert rows[2][4] == "header_long"
    assert peak < 64 << 20


COUNTS = ("ids", "refused", "lookalikes", "trace_ids")


@pytest.mark.long(first=4)
@pytest.mark.parametrize("name", [*PACKERS, *ARCHIVES])
def test_no_damage_stops_a_scan(name: str, tmp_path: Path) -> None:
    """Bytes changed, lost and put in, at random: every file gets its row, and the file after it is counted.

    What only looks like an ID is told by both files: of the second only the sum is the same.
    """
    whole = written(tmp_path, "whole.log", LOG[:HALF])
    alone = scanned(whole)["files"].to_pylist()[0]
    data = PACKERS[name](LOG[:HALF]) if name in PACKERS else ARCHIVES[name]()
    r = random.Random(name)
    for _ in range(12):
        damaged = bytearray(data)
        for _ in range(r.choice([1, 2, 9])):
            near = r.choice([r.randrange(len(damaged)), r.randrange(600), len(damaged) - 1 - r.randrange(600)])
            damaged[near : near + r.choice([0, 1, 1, 100])] = r.randbytes(r.choice([0, 1, 1, 8]))
        path = written(tmp_path, "damaged", bytes(damaged))
        rows = scan_local([str(path), str(whole)], MONTHS, r.choice(SPLITS[1:]))["files"].to_pylist()
        assert rows[0]["file"] == str(path)
        assert sum(rows[-1][name] for name in COUNTS) == sum(alone[name] for name in COUNTS)


def test_a_dictionary_of_gigabytes_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 26}]
    packed = lzma.compress(LOG, filters=filters)
    assert files(scanned(written(tmp_path, "a", packed)))[0][4] is None
    monster = bytearray(lzma.compress(LOG, filters=filters))
    at = monster.index(bytes([lzma.FILTER_LZMA2 & 0xFF, 1]), 12) + 2
    monster[at] = 40  # xz file format 5.3.1: 4 GiB
    header = 12 + (monster[12] + 1) * 4
    monster[header - 4 : header] = zlib.crc32(bytes(monster[12 : header - 4])).to_bytes(4, "little")
    (problem,) = problems(scanned(written(tmp_path, "a", bytes(monster))))
    assert problem and problem[0] == "said" and "emory" in problem[1]["why"]


def test_a_header_of_very_many_records_is_not_read(tmp_path: Path) -> None:
    """13,000 records of five bytes were read at 2 MB a second."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 5 * 10_000
    padding = bytes(-header.size % 512)
    (tmp_path / "a.tar").write_bytes(header.tobuf() + b"5 a=\n" * 10_000 + padding + tarfile.TarInfo("a").tobuf())
    (file,) = scanned(tmp_path / "a.tar")["files"].to_pylist()
    assert file["error"] == "header_long"


def test_too_many_members_and_too_long_names_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_MEMBERS", "3")
    one = logs.uniq(0x0A000001, 7, logs.JAVA, logs.NOON, 1).encode()
    many = tar_of({f"{n}-" + "x" * 5000: one for n in range(5)})
    tables = scanned(written(tmp_path, "x.tar", many))
    rows = tables["files"].to_pylist()
    assert [row["ids"] for row in rows] == [0, 1, 1, 1]
    assert problems(tables) == [("members_many", {"most": 3}), None, None, None]
    assert max(len(row["file"]) for row in rows) < 1000 + len(str(tmp_path)) + 10


def test_a_zip_whose_directory_is_longer_than_memory_should_be_is_read_from_its_front(tmp_path: Path) -> None:
    path = written(tmp_path, "x.zip", _many_names(700_000, ONE))  # 35 MB, of which Python would make 400
    tracemalloc.start()
    try:
        tables = scanned(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert problems(tables) == [None, None] and tables["files"]["ids"].to_pylist() == [0, 1]
    assert peak < 250 << 20, f"{peak >> 20} MiB"


ONE = logs.uniq(0x0A000001, 7, logs.JAVA, logs.NOON, 1).encode() + b"\n"
ZEROS = ONE + bytes(32 << 20)
BOMBS: dict[str, Callable[[], tuple[bytes, int]]] = {  # zeros behind an id; the row that has the refusal
    "gz": lambda: (gzip.compress(ZEROS, 1), 0),
    "zst": lambda: (PACKERS["zst"](ZEROS), 0),
    "tar.xz": lambda: (lzma.compress(tar_of({"a.log": ZEROS, "b.log": ONE}), preset=0), 0),
    "zip": lambda: (zip_of({"a.log": ZEROS, "b.log": ONE}), 0),
    "bz2.zip": lambda: (zip_of({"a.log": ZEROS}, zipfile.ZIP_BZIP2), 1),
    "lzma.zip": lambda: (zip_of({"a.log": ZEROS}, zipfile.ZIP_LZMA), 1),
    "cut.zip": lambda: (zip_of({"a.log": ZEROS, "b.log": ONE})[:-40], 0),
    "a member that is no text": lambda: (gzip.compress(tar_of({"a.7z": b"7z\xbc\xaf\x27\x1c" + ZEROS, "b": ONE})), 0),
    "a folder with bytes": lambda: (gzip.compress(zip_of({"a/": ZEROS, "b": ONE})[:-40]), 0),
    "a gz in a tar": lambda: (tar_of({"a.gz": gzip.compress(ZEROS), "b.log": ONE}), 0),
    "one member many times": lambda: (_many_names(300), 0),
}
IDS_OF_BOMBS = {"one member many times": 16, "a member that is no text": 0, "a folder with bytes": 0}


def _many_names(count: int, content: bytes = ZEROS[: 1 << 18]) -> bytes:
    """A zip whose directory names one stored member many times. It says so up to 65,535, which no reader believes."""
    one = zip_of({"a.log": content}, zipfile.ZIP_STORED)
    start, end = one.index(b"PK\x01\x02"), one.index(b"PK\x05\x06")
    directory = one[start:end] * count
    sizes = struct.pack("<2H2L", *[min(count, 0xFFFE)] * 2, len(directory), start)
    return one[:start] + directory + one[end : end + 8] + sizes + one[end + 20 :]


@pytest.mark.long(first=3)
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_up_to_the_limit(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its refusal has both sizes, what was read counts, and nothing is held or written."""
    monkeypatch.setenv("IDCORE_UNPACKED_LOG", "4M")
    data, row = BOMBS[name]()
    small, path = written(tmp_path, "small", ONE), written(tmp_path, "bomb", data)
    _, usual = _peak(small)
    tables, peak = _peak(path)
    refusal = "unpacked_large", {"packed": size(len(data)), "most": "4.0 MiB"}
    rows = files(tables)
    assert problems(tables)[row] == refusal and sum(row[2] for row in rows) < 5 << 20
    assert sum(row[3] for row in rows) == {
        "one member many times": 16,
        "a member that is no text": 0,
        "a folder with bytes": 0,
    }.get(name, 1)
    assert peak < usual + (20 << 20) and sorted(tmp_path.iterdir()) == [path, small]


def test_the_limit_is_of_the_whole_archive_in_any_number_of_splits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_UNPACKED_LOG", "8M")
    data = zip_of({f"{number}.log": ZEROS[: 4 << 20] for number in range(16)})
    path = written(tmp_path, "x.zip", data)
    for splits in (1, 4):
        rows = files(scanned(path, -(-len(data) // splits)))
        assert 7 << 20 < sum(row[2] for row in rows) < 9 << 20
        assert any(row[4] == "unpacked_large" for row in rows)


def _peak(path: Path) -> tuple[Tables, int]:
    tracemalloc.start()
    tables = scanned(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return tables, peak


def test_what_is_passed_over_at_once_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "PASSED_OVER", 4 << 20)
    data, _ = BOMBS["a member that is no text"]()
    head = intake.heads_of(written(tmp_path, "x", data), "x")
    assert head.more and not head.texts and [name for name, _ in head.failed] == ["x!a.7z"]


def test_without_the_limit_a_bomb_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_UNPACKED_LOG", "off")
    assert files(scanned(written(tmp_path, "x.gz", gzip.compress(ZEROS, 1))))[0][2:] == (len(ZEROS), 1, None)


def test_packed_too_often_is_refused(tmp_path: Path) -> None:
    data = LOG
    for _ in range(12):
        data = gzip.compress(data, 0)
    assert problems(scanned(written(tmp_path, "x", data))) == [("packed_deep", {"most": 8})]
