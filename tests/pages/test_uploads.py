"""Stores that somebody uploads: files of a log, pieces, and packed folders: as they come, broken, or hostile."""

from __future__ import annotations

import io
import lzma
import struct
import subprocess
import tarfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from idcore.base.catalogue import words
from idcore.base.errors import CoreError, refuse
from idcore.intake import store_uploads
from idcore.presentation.lab import READY, packed
from idcore.rocketmq.store import Stored, StoreFolder
from pages.parts.messages import uploads
from tests.store.unpacked import ARCHIVE, real_store

SECOND = "CB0071156B7B4E0E2F2A691B8D7D0001"  # the second record of the store, at offset 246
LOG = f"{0:020d}"
Say = Callable[..., tuple[Path | None, list[str]]]


class Uploaded(io.BytesIO):
    """What the page gets of a file that somebody chose."""

    def __init__(self, name: str, raw: bytes) -> None:
        super().__init__(raw)
        self.name = self.file_id = name


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> Say:
    """The folder that uploads come to, and what is said of them."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(uploads.st, "session_state", state)

    def call(*given: Uploaded, lang: str = "en") -> tuple[Path | None, list[str]]:
        said: list[str] = []
        monkeypatch.setattr(uploads.st, "error", lambda text, icon: said.append(text))
        return uploads.folder(given, words(lang)), said

    return call


def zipped(files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", kind) as target:
        for name, data in files.items():
            target.writestr(name, data)
    return raw.getvalue()


def holds_the_store(folder: Path | None) -> bool:
    assert folder is not None
    with StoreFolder(folder) as opened:
        found = opened.log.look(246)
        return isinstance(found, Stored) and found.record.uniq_id == SECOND


def test_a_piece_of_a_log_is_placed_by_its_records_whatever_its_name(store: Path, laid_out: Say) -> None:
    raw = (store / "commitlog" / LOG).read_bytes()
    given = [
        Uploaded("piece (1).bin", raw[100:5_000]),
        Uploaded("notes.txt", b"no record"),
        Uploaded(f"{1 << 20:020d}", b""),
    ]
    folder, said = laid_out(*given)
    assert holds_the_store(folder) and len(said) == 1 and "contains no record" in said[0]
    assert folder is not None
    with StoreFolder(folder) as opened:
        assert [file.start for file in opened.log.files] == [100, 1 << 20]
    assert laid_out(Uploaded("notes.txt", b"no record"))[0] is None


def test_of_two_pieces_that_begin_at_one_offset_the_second_is_named_and_left_out(store: Path, laid_out: Say) -> None:
    raw = (store / "commitlog" / LOG).read_bytes()
    folder, said = laid_out(Uploaded("first.bin", raw), Uploaded("second.bin", raw))
    assert holds_the_store(folder)
    assert said == ["second.bin starts at the same offset as first.bin and was ignored."]
    assert laid_out(Uploaded("first.bin", raw), Uploaded("second.bin", raw)) == (folder, said), (
        "and again when it is drawn"
    )


@pytest.mark.parametrize("name", ["store.tar.gz", "STORE.TGZ"])
def test_a_packed_store_is_opened_with_all_that_belongs_to_it(name: str, store: Path, laid_out: Say) -> None:
    folder, said = laid_out(Uploaded(name, ARCHIVE.read_bytes()))
    assert holds_the_store(folder) and not said
    assert folder is not None
    with StoreFolder(folder) as opened, StoreFolder(store) as real:
        made, wanted = opened.overview(), real.overview()
    for told in (made, wanted):
        del told["folder"]
        for file in (*told["files"], *told["index"]):
            del file["on_disk"]  # zeros take no room here
        del told["on_disk"]
    assert made == wanted


def test_a_log_without_its_folders_is_a_store_too(store: Path, laid_out: Say) -> None:
    raw = (store / "commitlog" / LOG).read_bytes()
    for files in ({LOG: raw}, {f"ticket 7/{LOG}": raw, "ticket 7/notes.txt": b"x"}):
        folder, said = laid_out(Uploaded("a.zip", zipped(files)))
        assert holds_the_store(folder) and not said
        assert folder is not None and [path.name for path in folder.iterdir()] == [LOG]


def test_of_several_stores_one_is_chosen(store: Path, laid_out: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = (store / "commitlog" / LOG).read_bytes()
    given = Uploaded("both.zip", zipped({f"b/commitlog/{LOG}": raw, f"a/commitlog/{LOG}": raw[:-1]}))
    offered: list[list[str]] = []

    def choose(label: str, names: list[str], key: str) -> str:
        offered.append(names)
        return names[1]

    monkeypatch.setattr(uploads.st, "selectbox", choose)
    assert holds_the_store(laid_out(given)[0])
    assert offered == [["both.zip: a", "both.zip: b"]]


def test_thousands_of_stores_in_one_file_cost_no_more_than_its_files(
    laid_out: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads.st, "selectbox", lambda label, names, key: names[-1])
    folder, said = laid_out(Uploaded("many.zip", zipped({f"{n:05d}/commitlog/{LOG}": b"" for n in range(5_000)})))
    assert folder is not None and not said and (folder / "commitlog" / LOG).is_file()


def test_what_the_lab_gives_away_is_taken_back(laid_out: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads.st, "selectbox", lambda label, names, key: names[0])
    folder, said = laid_out(Uploaded("lab-store.zip", packed.archive(READY["roll"])))
    assert folder is not None and not said
    with StoreFolder(folder) as opened:
        assert len(opened.log.files) > 1 and opened.overview()["topics"]


def test_nothing_leaves_the_folder_and_no_link_is_followed(tmp_path: Path, laid_out: Say) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, kind, link in [
            (f"s/commitlog/{LOG}", tarfile.REGTYPE, ""),
            (f"s/commitlog/{64:020d}", tarfile.SYMTYPE, "/etc/passwd"),
            (f"s/commitlog/{128:020d}", tarfile.LNKTYPE, f"s/commitlog/{LOG}"),
            ("s/config/../../../../escaped", tarfile.REGTYPE, ""),
            ("s/index/pipe", tarfile.FIFOTYPE, ""),
            ("s/other", tarfile.REGTYPE, ""),
        ]:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            tar.addfile(info)
    folder, said = laid_out(Uploaded("s.tar", raw.getvalue()))
    assert folder is not None and not said
    assert [str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()] == [f"commitlog/{LOG}"]


def test_zeros_take_no_room_and_too_much_is_refused_before_the_work(
    laid_out: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = zipped({f"commitlog/{LOG}": b"x" + bytes(64 << 20)})
    folder, said = laid_out(Uploaded("sparse.zip", large))
    assert folder is not None and not said
    about = (folder / "commitlog" / LOG).stat()
    assert about.st_size == (64 << 20) + 1 and about.st_blocks * 512 < 4 << 20
    monkeypatch.setenv("IDCORE_UNPACKED", "1M")
    folder, said = laid_out(Uploaded("large.zip", large))
    assert folder is None and said == [
        "large.zip unpacks to more than 1.0 MiB: unpack it yourself, and name its folder."
    ]
    monkeypatch.setenv("IDCORE_UNPACKED_FILES", "2")
    folder, said = laid_out(Uploaded("many.zip", zipped(dict.fromkeys("abc", b""))))
    assert folder is None and "more than 2 files" in said[0]


def test_one_person_has_one_room_in_all_tabs_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed store of 8 MB becomes 8 GiB: some tabs, or some files at once, filled the disk of everybody."""
    monkeypatch.setenv("IDCORE_UNPACKED", "2M")
    large = zipped({f"commitlog/{LOG}": b"x" * (1_500 << 10)})

    def keep(owner: str | None, count: int = 1) -> store_uploads.UploadedStores:
        given = [Uploaded(f"{number}.zip", large) for number in range(count)]
        return store_uploads.keep([], given, owner, words())

    first, second, other = keep("ann"), keep("ann"), keep("bob")
    assert first.stores and other.stores and not second.stores
    assert [problem.code for problem in second.problems] == ["pack_large"]
    assert not list(Path(second.place.name).rglob("*.*"))
    several = keep(None, 3)
    assert len(several.stores) == 1 and len(several.problems) == 2
    assert keep(None).stores
    del first
    assert keep("ann").stores


def test_nothing_is_unpacked_onto_a_full_disk(laid_out: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_FREE_DISK", "1048576G")
    large = zipped({f"commitlog/{LOG}": b"x" * (2 << 20)})
    folder, said = laid_out(Uploaded("large.zip", large))
    assert folder is None and "large.zip cannot be unpacked: the disk of the server is full" in said[0]


def header(kind: bytes, size: int, name: str = "a") -> bytes:
    """A header of a tar file; of a negative size as GNU tar writes large ones, to the base of 256."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, max(0, size)
    raw = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    if size < 0:
        raw[124:136] = b"\xff" + size.to_bytes(11, "big", signed=True)
    raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
    return bytes(raw)


def pax(kind: bytes, said: bytes) -> bytes:
    return header(kind, len(said)) + said + bytes(-len(said) % 512)


def records(count: int) -> bytes:
    return b"".join(b"12 %06x=b\n" % number for number in range(count))


def in_xz(head: bytes, megabytes: int, filling: bytes = b"\0") -> bytes:
    packer = lzma.LZMACompressor(preset=1)
    piece = filling * ((1 << 20) // len(filling))
    return b"".join([packer.compress(head), *(packer.compress(piece) for _ in range(megabytes)), packer.flush()])


@pytest.mark.long(first=1)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("long name.tar.xz", lambda: in_xz(header(b"L", 128 << 20), 128)),
        ("pax.tar.xz", lambda: in_xz(header(b"x", 128 << 20), 128)),
        ("pax of all.tar.xz", lambda: in_xz(header(b"g", 128 << 20), 128)),
        ("folders.tar.xz", lambda: in_xz(b"", 8, header(b"5", 0))),
        ("said of all.tar", lambda: pax(b"g", records(200_000)) + (pax(b"x", b"6 a=b\n") + header(b"0", 0)) * 40),
        ("backwards.tar", lambda: header(b"0", 512) + bytes(512) + header(b"Q", -512) + bytes(1024)),
        ("backwards.tar.xz", lambda: lzma.compress(header(b"L", -512) + bytes(64 << 20), preset=1)),
        ("entries.zip", lambda: zipped({"a": b""})[-22 - 47 : -22] * 1_000_000 + zip_end(1_000_000)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_headers_of_an_archive_take_no_memory_and_end(
    name: str, make: Callable[[], bytes], laid_out: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each took as much memory as it liked, or time for ever: tarfile and zipfile believe what a header says."""
    monkeypatch.setenv("IDCORE_UNPACKED_FILES", "5000")
    given = Uploaded(name, make())
    tracemalloc.start()
    folder, said = laid_out(given)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert folder is None and len(said) == 1 and name in said[0].lower()
    assert most < 32 << 20, f"{most >> 20} MiB"


@pytest.mark.parametrize("kind", [b"x", b"g", b"X"])
@pytest.mark.parametrize(
    "said",
    [
        b"1" * 60_000,
        b"60000 a=" + b"1" * 59_991 + b"\n",
        b"6 aaa\n" * 10_000 + b"=",
        # a length whose first 20 digits lead past the records that all of them lead to
        b"000000000000000000300 a=bcdef\n60271 a=" + b"\n" * 262 + b"6 aaa\n" * 10_000 + b"=",
        b"0" * 21 + b"7 a=b\n" + b"6 aaa\n" * 10_000 + b"=",
        b"+7 a=b\n",
    ],
    ids=lambda said: said[:8],
)
def test_a_pax_header_takes_no_time(said: bytes, kind: bytes, laid_out: Say) -> None:
    """Python's own reader searched 4 MB of digits for a day, and nobody else was answered (CVE-2024-6232)."""
    began = time.process_time()
    folder, words_said = laid_out(Uploaded("a.tar", pax(kind, said) + header(b"0", 0) + bytes(1024)))
    assert folder is None and "header of the archive" in words_said[0]
    assert time.process_time() - began < 1


def test_no_block_of_a_file_passes_for_a_header_that_hides_the_next(laid_out: Say) -> None:
    """The map of a sparse file was taken for the header of a pax header, and the real one was not read."""
    map_of_nothing = b"0\n" + bytes(154) + b"x" + bytes(355)
    nameless = header(b"x", 60_000, name="")
    raw = pax(b"x", b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n") + header(b"0", 512) + map_of_nothing
    began = time.process_time()
    folder, said = laid_out(Uploaded("a.tar", raw + nameless + b"1" * 60_000 + bytes(416) + header(b"0", 0)))
    assert folder is None and "header of the archive" in said[0]
    assert time.process_time() - began < 1


@pytest.mark.parametrize("kind", [b"x", b"g", b"L"])
def test_no_file_of_a_tar_is_read_as_a_pax_header(kind: bytes, laid_out: Say) -> None:
    body = kind * 512
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for number in range(3):
            info = tarfile.TarInfo(f"commitlog/{number:020d}")
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    folder, said = laid_out(Uploaded("a.tar", raw.getvalue()))
    assert folder is not None and not said
    assert [path.read_bytes() for path in (folder / "commitlog").iterdir()] == [body] * 3


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_what_tar_says_of_files_with_long_names_is_read(form: int, laid_out: Say) -> None:
    """A long name has letters where a header has its type, and a header of all is what git writes."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=form, pax_headers={"comment": "a" * 40}) as tar:
        for number in range(3):
            info = tarfile.TarInfo(f"{'x' * 90}/{'xg' * 45}/{'L' * 90}/commitlog/{number:020d}")
            info.size, info.mtime = 300, 1_795_000_000.25
            tar.addfile(info, io.BytesIO(b"x" * 300))
    folder, said = laid_out(Uploaded("a.tar", raw.getvalue()))
    assert folder is not None and not said
    assert [path.stat().st_size for path in (folder / "commitlog").iterdir()] == [300] * 3


def zip_end(entries: int) -> bytes:
    """The end of a zip file whose directory is at its beginning, of so many entries of 47 bytes."""
    return struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, entries & 0xFFFF, entries & 0xFFFF, entries * 47, 0, 0)


@pytest.mark.long(first=1)
@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
def test_a_member_of_a_zip_is_unpacked_piece_by_piece(kind: int, laid_out: Say) -> None:
    """Less than 1 KiB of bzip2 became gigabytes in the server: zipfile unpacks all that it has read."""
    given = Uploaded("a.zip", zipped({f"commitlog/{LOG}": bytes(64 << 20)}, kind))
    tracemalloc.start()
    folder, said = laid_out(given)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert folder is not None and not said and most < 16 << 20, f"{most >> 20} MiB"


def test_a_member_that_is_longer_than_its_entry_says_is_refused(laid_out: Say) -> None:
    raw = bytearray(zipped({f"commitlog/{LOG}": bytes(4 << 20)}))
    at = raw.index(b"PK\x01\x02") + 24  # its size, unpacked, in the directory
    raw[at : at + 4] = (1 << 20).to_bytes(4, "little")
    folder, said = laid_out(Uploaded("a.zip", bytes(raw)))
    assert folder is None and "longer than its entry says" in said[0]


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz"])
def test_holes_of_a_sparse_tar_are_holes_again(packing: str, tmp_path: Path, laid_out: Say) -> None:
    """As GNU tar -S packs a commit log, whose end is a hole: the map of what is there comes before the bytes."""
    log = tmp_path / "s" / "commitlog" / LOG
    log.parent.mkdir(parents=True)
    with log.open("wb") as file:
        file.write(b"x" * 4096)
        file.truncate(8 << 20)
        file.seek(4 << 20)
        file.write(b"y" * 4096)
    packed_file = tmp_path / f"s.tar.{packing}"
    subprocess.run(["tar", "-S", "-C", str(tmp_path), "-caf", str(packed_file), "s"], check=True)
    folder, said = laid_out(Uploaded(packed_file.name, packed_file.read_bytes()))
    assert folder is not None and not said
    assert (folder / "commitlog" / LOG).read_bytes() == log.read_bytes()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_cannot_be_unpacked_or_holds_no_store_says_so(lang: str, laid_out: Say) -> None:
    whole = ARCHIVE.read_bytes()
    empty = {"en": "contains no commit log file", "zh": "没有 CommitLog 文件"}[lang]
    broken = {"en": "cannot be unpacked", "zh": "无法解压"}[lang]
    encrypted = bytearray(zipped({f"commitlog/{LOG}": b"x"}, zipfile.ZIP_STORED))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        encrypted[encrypted.index(mark) + (6 if mark[2] == 3 else 8)] |= 1
    for name, raw, wanted in [
        ("no.zip", zipped({"a.txt": b"x"}), empty),
        ("queue.zip", zipped({f"consumequeue/T/0/{LOG}": b"x"}), empty),
        ("cut.tar.gz", whole[: len(whole) // 2], broken),
        ("text.zip", b"no zip", broken),
        ("text.tar", b"no tar", broken),
        ("encrypted.zip", bytes(encrypted), broken),
        ("deep.zip", zipped({f"{'a/' * 200}commitlog/{LOG}": b"x"}), broken),
        ("outside.zip", zipped({f"../commitlog/{LOG}": b"x"}), empty),
        ("nameless.zip", zipped({"?": b"x"}).replace(b"?", b"\0"), empty),
    ]:
        folder, said = laid_out(Uploaded(name, raw), lang=lang)
        assert folder is None and len(said) == 1 and wanted in said[0] and name in said[0], (name, said)


def test_names_and_reasons_of_strangers_are_text_and_no_markdown(
    laid_out: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = "![x](https://example.org/x.png)"

    def broken(file: Any, *_: object) -> NoReturn:
        raise CoreError("pack_broken", {"name": file.name, "why": refuse("said", why=picture)})

    monkeypatch.setattr(store_uploads, "_unpacked", broken)
    _, (problem,) = laid_out(Uploaded(f"{picture}.zip", b"PK"))
    assert problem.count(picture[:-1]) == 2 == problem.count(f"`{picture[:-1]}"), "as code"
