"""Paths to files, files to splits, splits to windows of text. Handles places in files, not ids."""

from __future__ import annotations

import errno
import glob
import os
import pickle
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from io import BufferedReader, BytesIO, FileIO
from itertools import islice, pairwise
from typing import BinaryIO

import numpy as np

from idcore.base.errors import CoreError, coded, refuse
from idcore.base.layout import MOST_OFFSET, OFFSET_NAME
from idcore.base.open_folders import Roots, entries, file_status, is_file, is_folder
from idcore.ids import broken_lines
from idcore.policy import limits
from idcore.sources import line_range
from idcore.sources import storage as stores
from idcore.sources.archives import BETWEEN, Text, kind_of, texts
from idcore.sources.kinds import COMMITLOG, GROWING, HEAD, PLAIN, WHOLE, WIDE
from idcore.sources.line_range import LineRange
from idcore.sources.record_lines import RecordLines
from idcore.sources.unpack import READ_ERRORS, Read, Unpacked, read_exactly, reader
from idcore.sources.uris import is_topic, is_uri, local_path, without_secrets
from idcore.sources.wide_letters import narrowed
from idcore.sources.windows import BEFORE, ENDLESS, Windows, new_buffer

OPENING = 1 << 17  # bytes that could be scanned in the time that opening a file takes
_SENT = ("number", "path", "start", "stop", "kind", "roots", "between")  # of a split that is not read yet
_LONGEST_NAME = 1000  # in the driver's table, as the members are: an archive of 1 MB can hold more than a million
# What a scan writes into a folder, which may be one of its inputs: no input of the next scan.
_OF_SCAN = re.compile(r"summary\.json|\.writing|\.unfinished-[0-9a-f]{32}|\.follow")
WRITING = ".writing"  # while a scan writes there
_TABLES = {"summary.json", "files", "processes"}
_TABLE = re.compile(r"part-.*\.parquet")
_DLEDGER = re.compile(r"dledger-.+", re.ASCII | re.DOTALL)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file: its size as stored, the name it goes by if that is not its path, and why it cannot be read, if so."""

    path: str
    size: int
    error: CoreError | None = None
    name: str = ""
    kind: str = ""  # where its bytes do not show it
    roots: Roots = None  # it is read only where it is in one of them
    start: int = 0  # the first byte that is read
    between: LineRange | None = None  # of which times lines are read

    @property
    def shown(self) -> str:
        """Its name as every table can hold it."""
        return shown(self.name or self.path)


@dataclass(frozen=True, slots=True)
class Split:
    """The bytes of one file from `start` up to `stop`, or a text in it: then `member` and `place` lead there."""

    number: int
    path: str
    start: int
    stop: int
    kind: str = PLAIN
    roots: Roots = None  # as of its file
    between: LineRange | None = None  # the same
    member: str = ""
    place: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return self.stop - self.start


Opened = tuple[Split, Windows | None, CoreError | None]  # a text, and its windows or why it cannot be read
OpenSplit = Callable[[Split], AbstractContextManager[BinaryIO]]


def list_files(paths: Sequence[str], roots: Roots = None, left_out: list[str] | None = None) -> list[InputFile]:
    """Files, folders to any depth, globs, URIs; each as often as it is named, what is not there with its error.

    Each is asked for its size once. With `roots` only what is in one of them is listed, and there are no globs.
    `left_out` is given the folders whose tables of a scan are not read. The folder of one table is, where it is named
    itself.
    """
    files = _listed(paths, roots, left_out)
    return files if roots is None else [replace(file, roots=roots) for file in files]


def _listed(paths: Sequence[str], roots: Roots, left_out: list[str] | None) -> list[InputFile]:
    files: list[InputFile] = []
    for path in paths:
        if is_topic(path):
            files.append(InputFile(path, 0, refuse("kafka_scan")))
            continue
        if is_uri(path):
            files += [InputFile(*facts) for facts in stores.listed(path, roots)]
            continue
        path = local_path(path)
        if "\0" in path:
            files.append(InputFile(path, 0, refuse("ENOENT")))
        elif os.path.isdir(path):
            files += _walk(path, roots, left_out)
        elif roots is None and not os.path.lexists(path) and glob.has_magic(path):
            files += _matches(path, left_out) or [_look_at(path)]
        else:
            files.append(_look_at(path, roots))
    return files


def list_store(root: str, roots: Roots = None) -> list[InputFile]:
    """The commit log files of a store folder, in order, and what is missing between them.

    A broker with DLedger has them in dledger-ID/data; those in commitlog are older. Files right in the folder may be
    dumps of some records, between which nothing has to be.
    """
    folder = os.path.join(root, "commitlog")
    try:
        whole = is_folder(folder, roots)
        with entries(root, roots) as inside:
            logs = sorted(os.path.join(root, each.name, "data") for each in inside if _DLEDGER.fullmatch(each.name))
        newest = next((log for log in logs if is_folder(log, roots) and _log_names(log, roots)), None)
        names = dict.fromkeys(_log_names(folder, roots), folder) if whole else {}
        if newest is not None:
            first = min(later := _log_names(newest, roots))
            names = {name: at for name, at in names.items() if name < first} | dict.fromkeys(later, newest)
        elif not whole:
            names = dict.fromkeys(_log_names(root, roots), root)
    except OSError as problem:
        raise refuse("unreadable", path=shown(root), why=coded(problem)) from None
    files = [_log_file(names[name], name, roots) for name in sorted(names)]
    if not files:
        raise refuse("no_log", folder=shown(root))
    return [*_with_holes(files)] if whole or newest is not None else files


def _log_names(folder: str, roots: Roots) -> list[str]:
    with entries(folder, roots) as inside:
        return [entry.name for entry in inside if OFFSET_NAME.fullmatch(entry.name)]


def _with_holes(files: Sequence[InputFile]) -> Iterator[InputFile]:
    """A row of its own, without bytes, for each stretch of a log that no file holds: one is gone, or was cut."""
    for before, after in pairwise([*files, None]):
        if before is None:
            continue
        yield before
        if after is None or before.error or after.error:
            continue
        end, start = (int(os.path.basename(file.path)) for file in (before, after))
        end += before.size
        if end < start:
            name = os.path.join(os.path.dirname(before.path), f"{end:020d}")
            why = refuse("log_hole", first=f"{end:020d}", last=f"{start:020d}")
            yield replace(before, size=0, error=why, name=name, kind="")


def _log_file(folder: str, name: str, roots: Roots) -> InputFile:
    path = os.path.join(folder, name)
    if int(name) > MOST_OFFSET:
        return InputFile(path, 0, refuse("name_too_large"), kind=COMMITLOG)
    return replace(_look_at(path, roots), kind=COMMITLOG, roots=roots)


def _walk(folder: str, roots: Roots, left_out: list[str] | None) -> list[InputFile]:
    """The files below a folder. Links are not followed: they lead out of it, or to what is read anyway.

    Nor is what a scan has written there: its tables have the IDs of its input once more.
    """
    files: list[InputFile] = []
    failed: list[InputFile] = []
    folders = [(folder, False)]
    while folders:
        at, of_scan = folders.pop()
        try:
            with entries(at, roots) as opened:
                inside = list(opened)
                if of_scan and all(_TABLE.fullmatch(entry.name) for entry in inside):
                    continue
                names = {entry.name for entry in inside}
                of_scan = names >= _TABLES or WRITING in names
                if names >= _TABLES and left_out is not None:
                    left_out.append(at)
                for entry in inside:
                    path = os.path.join(at, entry.name)
                    if of_scan and _OF_SCAN.fullmatch(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append((path, of_scan))
                    elif not entry.is_symlink():
                        files.append(_look_at_entry(path, entry))
        except OSError as error:
            failed.append(InputFile(at, 0, coded(error)))
    files.sort(key=lambda file: file.path)
    return files + sorted(failed, key=lambda file: file.path)


def _matches(pattern: str, left_out: list[str] | None) -> list[InputFile]:
    """What a pattern matches, folders read like any other; each file once, however many ways lead to it."""
    files: dict[tuple[int, int], InputFile] = {}
    for name in sorted(glob.glob(pattern, recursive=True)):
        for file in _walk(name, None, left_out) if os.path.isdir(name) else [_look_at(name)]:
            try:
                status = os.stat(file.path)
            except OSError as error:
                if error.errno != errno.ELOOP:  # links in a circle lead to nothing new
                    files[0, len(files)] = file
            else:
                files.setdefault((status.st_dev, status.st_ino), file)
    return list(files.values())


def shown(path: str) -> str:
    """A path as text that every table and terminal can hold: no bytes that are not UTF-8, no controls, no secrets."""
    text = os.fsencode(without_secrets(path)).decode(errors="backslashreplace")
    return _UNPRINTABLE.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _look_at(path: str, roots: Roots = None) -> InputFile:
    try:
        status = file_status(path, roots)
        return InputFile(path, status.st_size) if is_file(status) else InputFile(path, 0, refuse("not_regular"))
    except OSError as error:
        return InputFile(path, 0, refuse("ENOENT") if roots is None else coded(error))


def _look_at_entry(path: str, entry: os.DirEntry[str]) -> InputFile:
    try:
        if entry.is_file(follow_symlinks=False):
            return InputFile(path, entry.stat(follow_symlinks=False).st_size)
        return InputFile(path, 0, refuse("not_regular"))
    except OSError as error:
        return InputFile(path, 0, coded(error))


def split_files(files: Sequence[InputFile], split_size: int) -> list[Split]:
    """Splits in the order of the files; `number` is the place of the file in `files`.

    A file of one split is looked at by the worker that reads it; here only those are that would have to be cut.
    """
    splits = []
    here = os.getcwd()  # workers have other working folders
    for number, file in enumerate(files):
        path = file.path if is_uri(file.path) or file.path.startswith("/") else os.path.join(here, file.path)
        if file.error:
            continue
        kind = file.kind or (kind_to_cut(path, file.roots) if file.size > split_size else WHOLE)
        if file.between is not None and kind != PLAIN:
            kind = WHOLE
        edges = [(file.start, file.size)]
        if kind != WHOLE:
            edges = _edges(path, file, split_size)
        splits += [Split(number, path, start, stop, kind, file.roots, file.between) for start, stop in edges]
    return splits


def _edges(path: str, file: InputFile, split_size: int) -> list[tuple[int, int]]:
    """Where a file is cut: anywhere, but if only lines of some times are read, where a line begins that names one."""
    if file.between is None:
        return [(start, min(start + split_size, file.size)) for start in range(file.start, file.size, split_size)]
    with stores.opened(path, file.roots) as opened:
        return line_range.pieces(opened, file.size, split_size, file.between)


def kind_to_cut(path: str, roots: Roots) -> str:
    """The kind of a file whose splits can be read apart; WHOLE for every other, and for one that cannot be opened."""
    try:
        with stores.opened(path, roots) as file:
            if not file.seekable():
                return WHOLE
            kind = kind_of(read_exactly(file, HEAD))
    except READ_ERRORS:
        return WHOLE  # the task that reads it meets the same error, and reports it
    return kind if kind in BETWEEN or kind in WIDE or kind == PLAIN else WHOLE


def deal(splits: Sequence[Split], size: int) -> list[list[Split]]:
    """Splits to tasks: neighbours share one up to `size` bytes, so that tiny files cost no task each."""
    tasks: list[list[Split]] = []
    held = 0
    for split in splits:
        if not tasks or held + split.size > size:
            tasks.append([])
            held = 0
        tasks[-1].append(split)
        held += split.size + OPENING
    return tasks


def pack_tasks(tasks: Sequence[Sequence[Split]]) -> bytes:
    """Tasks as few bytes, for a million tiny files: paths packed together take a tenth."""
    splits = [split for task in tasks for split in task]
    columns = [[getattr(split, name) for split in splits] for name in _SENT]
    return zlib.compress(pickle.dumps(([len(task) for task in tasks], columns)), 1)


def unpack_tasks(packed: bytes) -> list[list[Split]]:
    """The inverse of `pack_tasks`."""
    lengths, columns = pickle.loads(zlib.decompress(packed))
    splits = map(Split, *columns)
    return [list(islice(splits, length)) for length in lengths]


def open_split(split: Split) -> AbstractContextManager[BinaryIO]:
    return stores.opened(split.path, split.roots)


def walk(splits: Sequence[Split], opened: OpenSplit = open_split) -> Iterator[Opened]:
    """Every text of the splits with its windows, or with the reason why it cannot be read. Take one before the next.

    Each split comes once without a `place`: as the text that it is, or behind all that it holds.
    """
    buf = new_buffer()
    for split in splits:
        is_reported = False
        try:
            with opened(split) as file:
                for where, windows, error in _texts_of(split, file, buf):
                    if windows is not None and split.between is not None:
                        windows.keep(split.between)
                    is_reported = is_reported or not where.place
                    yield where, windows, error
            problem = None
        except READ_ERRORS as error:
            problem = coded(error)
        if not is_reported:
            yield replace(split, stop=split.start), None, problem


def _texts_of(split: Split, file: BinaryIO, buf: np.ndarray) -> Iterator[Opened]:
    def taken() -> int:
        return min(max(0, file.tell() - split.start), split.size)

    kind = split.kind
    if kind == WHOLE and file.seekable():
        kind = kind_of(read_exactly(file, HEAD))
        file.seek(0)
    if kind == COMMITLOG:
        lines = RecordLines(file, split.path, split.start, split.stop)
        begin = lines.begin()
        windows = Windows(buf, lines.readinto, lines.taken, begin, ENDLESS)
        windows.aside, windows.copied, windows.counted = lines.aside, lines.copied, lines.text_bytes
        yield replace(split, start=begin, stop=0, kind=PLAIN), windows, None
        return
    if kind in (PLAIN, GROWING) or kind in WIDE:
        yield _in_place(split, file, kind, buf, taken)
        return
    most, unpacked = limits.figure("members"), Unpacked(_share(split, file, kind), split.size)
    for number, text in enumerate(_parts_of(split, file, kind, unpacked)):
        if number == most:
            raise refuse("members_many", most=most)
        if text.place:  # what was read before it was too much: the archive ends here
            unpacked.refuse_too_much()
        member = text.member[:_LONGEST_NAME]
        where = replace(split, start=0, stop=0, kind=text.kind, member=member, place=text.place)
        if text.stream is None:
            yield where, None, text.error
        else:
            read = reader(text.stream)
            if text.kind in WIDE:
                read = narrowed(read, text.kind)
            elif text.kind == PLAIN and not text.is_table:
                read = _Unbroken(read).readinto
            yield where, Windows(buf, read, taken, 0, ENDLESS), None


def _share(split: Split, file: BinaryIO, kind: str) -> int | None:
    """What the texts of a split may be unpacked to: of an archive that several tasks read, as much as it has of it."""
    most = limits.value("unpacked_log")
    if most is None or kind not in BETWEEN or not file.seekable():
        return most
    whole = file.seek(0, os.SEEK_END)
    file.seek(0)
    return -(-most * split.size // max(1, whole, split.size))


_last: tuple[object, bytes] = (None, b"")  # a small file may have many splits


def _unbroken(file: BinaryIO) -> BinaryIO:
    """A small text in which no line break cuts an ID (`idcore.ids.broken_lines`)."""
    global _last
    status = os.fstat(file.fileno())
    key = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    if _last[0] != key:
        file.seek(0)
        _last = key, broken_lines.unbroken(file.read())
    return BytesIO(_last[1])


class _Unbroken:
    """A text that is read forward, as `_unbroken` gives it if it is small; a large one as it is."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._head: memoryview | None = None
        self._at = 0
        self._error: Exception | None = None

    def readinto(self, view: memoryview) -> int:
        """Fills a view from it; 0 is the end. An error of the reader comes behind what was read before it."""
        if self._head is None:
            self._head = self._beginning()
        if self._at < len(self._head):
            size = min(len(view), len(self._head) - self._at)
            view[:size] = self._head[self._at : self._at + size]
            self._at += size
            return size
        self._head, self._at = memoryview(b""), 0  # 4 MiB, which nobody needs any more
        if self._error is not None:
            raise self._error
        return self._read(view)

    def _beginning(self) -> memoryview:
        text, piece = bytearray(), memoryview(bytearray(1 << 16))
        while len(text) <= broken_lines.MOST:
            try:
                got = self._read(piece)
            except READ_ERRORS as error:
                self._error = error
                break
            if not got:
                return memoryview(broken_lines.unbroken(bytes(text)))
            text += piece[:got]
        return memoryview(text)


def _in_place(
    split: Split, file: BinaryIO, kind: str, buf: np.ndarray, taken: Callable[[], int]
) -> tuple[Split, Windows, None]:
    """A split of text as it is in the file; of wide letters, those whose first byte is in it."""
    width = np.dtype(WIDE.get(kind, "u1")).itemsize
    start, stop = (-(-place // width) for place in (split.start, split.stop))
    begin = max(0, start - BEFORE)
    if (
        kind == PLAIN
        and isinstance(file, BufferedReader | FileIO)
        and file.seekable()
        and (0 < file.seek(0, os.SEEK_END) <= broken_lines.MOST)
    ):
        file = _unbroken(file)
    file.seek(begin * width)
    read = file.readinto  # type: ignore[attr-defined]
    if kind in WIDE:
        read = narrowed(read, kind)
    known = GROWING if kind == GROWING else PLAIN
    return replace(split, start=start, stop=stop, kind=known), Windows(buf, read, taken, start, stop, begin), None


def _parts_of(split: Split, file: BinaryIO, kind: str, unpacked: Unpacked) -> Iterator[Text]:
    """The texts in the part of an archive, a Parquet file or anything packed that belongs to a split."""
    if kind in BETWEEN and file.seekable():
        yield from BETWEEN[kind](file, unpacked, split.start, split.stop)
    else:
        yield from texts(file, unpacked)
