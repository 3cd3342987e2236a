"""Uploads laid out as store folders: commit log files, pieces of one, or whole stores packed into a zip or tar file.

What is unpacked stays below its folder, is bounded, and takes no room where it is zeros. Reads no record.
"""

from __future__ import annotations

import io
import re
import secrets
import shutil
import tarfile
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from os import SEEK_CUR, SEEK_END, SEEK_SET
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from idcore.base import temporary
from idcore.base.catalogue import Words
from idcore.base.errors import CoreError, coded, refuse
from idcore.base.layout import OFFSET_NAME
from idcore.policy import limits
from idcore.rocketmq.store.commitlog import LOOKED_FOR_RECORDS, place_of
from idcore.runs import room
from idcore.sources.archives import Headers, TarHeaders, zip_member
from idcore.sources.kinds import HEAD, PACKINGS, kind_of
from idcore.sources.unpack import READ_ERRORS, opened

DEEPEST = 64  # folders in one another; a store has a few
STEP = 1 << 20  # bytes that are copied at once
# Bytes of headers: of an archive, and more for each of its files. They have long names and maps of holes.
HEADERS, HEADER, ZIP_HEADER = 4 << 20, 4 << 10, 256
_PACKED = re.compile(r".+\.(zip|tar|tgz|tar\.[a-z0-9]+)", re.IGNORECASE)
_OF_A_STORE = {"commitlog", "consumequeue", "index", "config", "checkpoint", "abort"}
_BROKEN = (*READ_ERRORS, tarfile.TarError, RuntimeError)  # RuntimeError: a zip that is encrypted

Moved = Callable[[str, int, int], None]  # of a file: its name, bytes so far, bytes in all


class _Member(NamedTuple):
    path: PurePosixPath
    open: Callable[[], IO[bytes] | None]
    size: int


def _silent(name: str, done: int, total: int) -> None:
    """Nobody waits."""


@dataclass(weakref_slot=True, slots=True)
class UploadedStores:
    """What came of some uploads: their stores by a name each, and what is wrong with the others.

    An address names it by its token. Sessions hold it; with the last of them its folder is deleted.
    """

    key: list[str]
    place: tempfile.TemporaryDirectory[str]
    stores: dict[str, Path]
    problems: list[CoreError]
    names: list[str]
    owner: str | None
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    taken: _Taken | None = None  # counts as long as the folder is there


@dataclass(eq=False, weakref_slot=True, slots=True)
class _Taken:
    """What the packed files of some uploads are unpacked to, as their entries say."""

    owner: str | None
    bytes: int = 0
    files: int = 0

    def add(self, more: int, words: Words) -> None:
        """One more file; CoreError beyond what its person may have, in all their tabs together.

        Without a login nobody is known, and each upload is its own.
        """
        self.bytes += more
        self.files += 1
        size, files = self._all()
        most, most_files = limits.figure("unpacked"), limits.figure("unpacked_files")
        if size > most or files > most_files:
            said = words.bytes(most) if size > most else words.count("file", most_files)
            raise CoreError("pack_large", {"name": "", "most": said})

    def _all(self) -> tuple[int, int]:
        """Figures alone: an error would keep what its frames have, and so the room of uploads that have gone."""
        every = [self] if self.owner is None else [one for one in list(_every) if one.owner == self.owner]
        return sum(one.bytes for one in every), sum(one.files for one in every)


_kept: weakref.WeakValueDictionary[str, UploadedStores] = weakref.WeakValueDictionary()
_every: weakref.WeakSet[_Taken] = weakref.WeakSet()


def keep(
    key: list[str], uploaded: Sequence[Any], owner: str | None, words: Words, moved: Moved = _silent
) -> UploadedStores:
    """Lays uploads out in a folder that is there as long as somebody has what this gives."""
    taken = _Taken(owner)
    _every.add(taken)
    names = [file.name for file in uploaded]
    upload = hold(key, names, owner, lambda root: laid_out(uploaded, root, words, moved, taken))
    upload.taken = taken
    return upload


def hold(
    key: list[str],
    names: list[str],
    owner: str | None,
    lay_out: Callable[[Path], tuple[dict[str, Path], list[CoreError]]],
) -> UploadedStores:
    """The stores that are laid out in a folder of their own, there as long as somebody has what this gives."""
    place = tempfile.TemporaryDirectory(prefix="store-", dir=temporary.own(), ignore_cleanup_errors=True)
    stores, problems = lay_out(Path(place.name))
    kept = UploadedStores(key, place, stores, problems, names, owner)
    _kept[kept.token] = kept
    return kept


def held(token: str, owner: str | None) -> UploadedStores | None:
    """The uploads that an address names; None where they are gone, or another's."""
    upload = _kept.get(token)
    return upload if upload is not None and upload.owner == owner else None


def laid_out(
    uploaded: Iterable[Any], root: Path, words: Words, moved: Moved = _silent, taken: _Taken | None = None
) -> tuple[dict[str, Path], list[CoreError]]:
    """The stores by a name each, and what is wrong with uploads that are not stores."""
    taken = taken or _Taken(None)
    stores: dict[str, Path] = {}
    pieces: dict[str, Any] = {}
    problems: list[CoreError] = []
    for number, file in enumerate(uploaded):
        try:
            if _PACKED.fullmatch(file.name):
                stores |= _unpacked(file, root / f"packed-{number}", words, moved, taken)
            else:
                _add_piece(file, pieces, words)
        except CoreError as problem:
            problems.append(problem)
            shutil.rmtree(root / f"packed-{number}", ignore_errors=True)  # half of it is no store, and takes room
    if pieces:
        log = root / "pieces" / "commitlog"
        log.mkdir(parents=True)
        for name, file in pieces.items():
            total, done = file.seek(0, SEEK_END), 0
            file.seek(0)
            with (log / name).open("wb") as place:
                while piece := file.read(STEP):
                    place.write(piece)
                    done += len(piece)
                    moved(file.name, done, total)
        stores[words("store.pieces")] = log.parent
    return stores, problems


def _add_piece(file: Any, pieces: dict[str, Any], words: Words) -> None:
    """A commit log file by its name, or by where its first record belongs."""
    name = Path(file.name).name
    if not OFFSET_NAME.fullmatch(name):
        file.seek(0)
        start = place_of(file.read(LOOKED_FOR_RECORDS))
        if start is None:
            raise CoreError("odd_name", {"name": name})
        name = f"{start:020d}"
    if name in pieces:
        raise CoreError("upload_twice", {"name": file.name, "first": pieces[name].name})
    pieces[name] = file


def _unpacked(file: Any, root: Path, words: Words, moved: Moved, taken: _Taken) -> dict[str, Path]:
    """Every store of a packed file, by where it is in it."""
    before = taken.bytes, taken.files
    try:
        with _members(file, words, taken) as members:
            places = {place: root / str(number) for number, place in enumerate(_places(members))}
            total, done = sum(member.size for member in members), 0
            for member in members:
                place = next((parent for parent in member.path.parents if parent in places), None)
                if place is not None and (inside := _inside(member.path, place)) is not None:
                    for size in _copy(member, places[place] / inside):
                        moved(file.name, done + size, total)
                done += member.size
    except _BROKEN as problem:
        taken.bytes, taken.files = before
        if isinstance(problem, CoreError) and problem.code == "pack_large":
            raise CoreError("pack_large", problem.values | {"name": file.name}) from None
        if isinstance(problem, CoreError) and problem.code == "pack_broken":
            raise
        raise CoreError("pack_broken", {"name": file.name, "why": coded(problem)}) from None
    if not places:
        raise CoreError("pack_empty", {"name": file.name})
    return {f"{file.name}: {place}" if place.parts else file.name: path for place, path in places.items()}


class _Unpacking(io.RawIOBase):
    """A packed file from its beginning: it is unpacked forward, and once more for a way back."""

    def __init__(self, file: Any, packing: str) -> None:
        self.file, self.packing = file, packing
        self._begin()

    def _begin(self) -> None:
        self.file.seek(0)
        self.stream, self.at = opened(self.file, self.packing), 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def seek(self, place: int, whence: int = SEEK_SET) -> int:
        if place < self.at:
            self._begin()
        while self.at < place and self.read(min(STEP, place - self.at)):
            pass
        return self.at

    def read(self, size: int = -1) -> bytes:
        held = bytearray()
        while len(held) < size and (more := self.stream.read(size - len(held))):
            held += more
        self.at += len(held)
        return bytes(held)


def _unpacking(file: Any) -> Any:
    """A tar file, packed or not, as a file that can be sought."""
    packing = kind_of(file.read(HEAD))
    file.seek(0)
    return _Unpacking(file, packing) if packing in PACKINGS else file


@contextmanager
def _members(file: Any, words: Words, taken: _Taken) -> Iterator[list[_Member]]:
    """The files of a packed file, in its order; no folder, link, device, nothing outside. Too many are rejected first.

    A file gives no more bytes than its entry says, in both formats, and the entries take no more memory than their
    number allows.
    """
    members: list[_Member] = []
    largest, most_files = limits.figure("unpacked"), limits.figure("unpacked_files")

    def broken(why: CoreError) -> CoreError:
        return CoreError("pack_broken", {"name": file.name, "why": why})

    def add(name: str, more: int, is_file: bool, opened: Callable[[], IO[bytes] | None]) -> None:
        if name.count("/") > DEEPEST:
            raise broken(refuse("pack_deep", most=DEEPEST))
        if more < 0:  # the next entry would be one that has been read
            raise broken(refuse("member_negative"))
        taken.add(more, words)
        path = PurePosixPath(name)
        if is_file and ".." not in path.parts:
            members.append(_Member(path, opened, more))

    file.seek(0)
    if file.name.lower().endswith(".zip"):
        headers = Headers(file, HEADERS + most_files * ZIP_HEADER, broken(refuse("header_long")))
        with zipfile.ZipFile(headers) as zipped:  # type: ignore[arg-type]
            for entry in zipped.infolist():
                is_file = not entry.filename.endswith("/")  # `is_dir` of Python fails where there is no name
                add(entry.filename, entry.file_size, is_file, partial(zip_member, zipped, file, entry))
            yield members
    else:
        headers = TarHeaders(_unpacking(file), HEADERS, broken(refuse("header_long")))
        with tarfile.open(fileobj=headers, mode="r:", tarinfo=headers.kind) as tar:  # type: ignore[call-overload]
            for item in tar:
                headers.room += HEADER
                add(item.name, item.size, item.isreg(), partial(tar.extractfile, item))
            headers.room = largest  # for the files themselves
            yield members


def _places(members: Sequence[_Member]) -> list[PurePosixPath]:
    """Where stores are: folders with a folder commitlog that holds files of a log, else folders with such files.

    A broker with DLedger has its log in dledger-ID/data.
    """
    paths = (member.path for member in members if OFFSET_NAME.fullmatch(member.path.name))
    logs = {path.parent for path in paths if "consumequeue" not in path.parts}
    entries = {log.parent.parent for log in logs if log.name == "data" and _of_dledger(log.parent.name)}
    return sorted(entries | {log.parent for log in logs if log.name == "commitlog"} or logs)


def _of_dledger(name: str) -> bool:
    return name.startswith("dledger-")


def _inside(path: PurePosixPath, place: PurePosixPath) -> PurePosixPath | None:
    """The path of a file in its store; None for what does not belong there."""
    inside = path.relative_to(place)
    is_part = inside.parts[0] in _OF_A_STORE or _of_dledger(inside.parts[0])
    return inside if is_part or OFFSET_NAME.fullmatch(str(inside)) else None


def _copy(member: _Member, target: Path) -> Iterator[int]:
    """Copies a file, and gives the bytes so far; what is zeros takes no room."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = member.open()
    assert source is not None  # a regular file
    done = 0
    with source, target.open("wb") as place:
        while piece := source.read(STEP):
            room.refuse_without_disk(target.parent)
            if piece.count(0) == len(piece):
                place.seek(len(piece), SEEK_CUR)
            else:
                place.write(piece)
            done += len(piece)
            if done > member.size:
                raise refuse("member_long")
            yield done
        place.truncate()
