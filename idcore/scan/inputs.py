"""Files to splits, splits to windows of text. Knows compression and places in files; knows nothing of ids."""

from __future__ import annotations

import bz2
import errno
import glob
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

BEFORE, AFTER = 64, 256  # bytes of text that stay visible on both sides of a window
WINDOW = 1 << 20
_PIECE = 1 << 14  # unpacked at once: a damaged file loses no more than this before the damage
READ_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)
_MAGIC = {
    b"\x1f\x8b": "gzip",
    **{b"BZh%d1AY&SY" % level: "bz2" for level in range(1, 10)},
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file: its size as stored, how it is packed ('' for plain text), and why it cannot be read, if so."""

    path: str
    size: int
    packing: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """The bytes of one file from `start` up to `stop`; a packed file is one split, measured as stored."""

    number: int
    path: str
    start: int
    stop: int
    packing: str = ""

    @property
    def size(self) -> int:
        return self.stop - self.start


def list_files(paths: Sequence[str]) -> list[InputFile]:
    """Files, folders to any depth, globs; each file as often as it is named, what is not there with its error."""
    found: list[InputFile] = []
    for path in paths:
        if os.path.isdir(path):
            found += _walk(path)
        elif not os.path.lexists(path) and glob.has_magic(path):
            found += _matches(path) or [_look_at(path)]
        else:
            found.append(_look_at(path))
    return found


def _walk(folder: str) -> list[InputFile]:
    """The files below a folder. Links are not followed: they lead out of it, or to what is read anyway."""
    failed: list[OSError] = []
    names = [os.path.join(at, name) for at, _, names in os.walk(folder, onerror=failed.append) for name in names]
    files = [_look_at(name) for name in sorted(names) if not os.path.islink(name)]
    return files + [InputFile(str(error.filename), 0, "", reason_of(error)) for error in failed]


def _matches(pattern: str) -> list[InputFile]:
    """What a pattern matches, folders read like any other; each file once, however many ways lead to it."""
    found: dict[tuple[int, int], InputFile] = {}
    for name in sorted(glob.glob(pattern, recursive=True)):
        for file in _walk(name) if os.path.isdir(name) else [_look_at(name)]:
            try:
                status = os.stat(file.path)
            except OSError as error:
                if error.errno != errno.ELOOP:  # links in a circle lead to nothing new
                    found[0, len(found)] = file
            else:
                found.setdefault((status.st_dev, status.st_ino), file)
    return list(found.values())


def shown(path: str) -> str:
    """A path as text that every table can hold, also when its bytes are no UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _look_at(path: str) -> InputFile:
    try:
        if not os.path.isfile(path):
            return InputFile(path, 0, "", "not a regular file" if os.path.exists(path) else "no such file")
        with open(path, "rb") as file:
            head = file.read(10)
        packing = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")
        return InputFile(path, os.path.getsize(path), packing)
    except OSError as error:
        return InputFile(path, 0, "", reason_of(error))


def split_files(files: Sequence[InputFile], split_size: int) -> list[Split]:
    """Splits in the order of the files; `number` is the place of the file in `files`."""
    splits = []
    for number, file in enumerate(files):
        path = os.path.abspath(file.path)  # workers stand in other folders
        if file.error:
            continue
        if file.packing:
            splits.append(Split(number, path, 0, file.size, file.packing))
            continue
        for start in range(0, file.size, split_size):
            splits.append(Split(number, path, start, min(start + split_size, file.size)))
    return splits


def deal(splits: Sequence[Split], size: int) -> list[list[Split]]:
    """Splits to tasks: neighbours share one up to `size` bytes, so that tiny files cost no task each."""
    tasks: list[list[Split]] = []
    held = 0
    for split in splits:
        if not tasks or held + split.size > size:
            tasks.append([])
            held = 0
        tasks[-1].append(split)
        held += split.size
    return tasks


def reason_of(error: Exception) -> str:
    """What went wrong with a file, without its name, which stands beside it."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _unpacked(file: BinaryIO, packing: str) -> BinaryIO:
    if packing == "gzip":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    if packing == "bz2":
        return bz2.BZ2File(file)  # type: ignore[return-value]
    if packing == "xz":
        return lzma.LZMAFile(file)  # type: ignore[return-value]
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.PythonFile(file), packing)  # type: ignore[return-value]


class Windows:
    """A buffer that slides over one split. `buf[at]` is byte `at + origin` of the text."""

    def __init__(self, split: Split, buf: np.ndarray) -> None:
        self.buf = buf
        self.view = memoryview(buf)  # type: ignore[arg-type]
        self.file = open(split.path, "rb", buffering=0)  # noqa: SIM115  closed by __exit__
        self.start, self.size = split.start, split.size
        self.stop = (1 << 62) if split.packing else split.stop
        begin = max(0, split.start - BEFORE)
        if split.packing:
            self.read: Callable[[memoryview], int] = _reader(_unpacked(self.file, split.packing))
        else:
            self.file.seek(begin)
            self.read = self.file.readinto  # type: ignore[assignment]
        self.buf[:BEFORE] = 0
        self.filled = BEFORE - (split.start - begin)
        self.at = BEFORE
        self.origin = split.start - BEFORE
        self.ended = False
        self.error = ""

    def __enter__(self) -> Windows:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def taken(self) -> int:
        """Bytes of the split, as stored, that were read so far."""
        return min(max(0, self.file.tell() - self.start), self.size)

    def slide(self) -> int:
        """Takes more text in behind `self.at`. Returns the limit: up to there tokens and lines may be judged."""
        keep = self.at - BEFORE
        if keep > 0:
            self.buf[: self.filled - keep] = self.buf[keep : self.filled].copy()
            self.filled -= keep
            self.at -= keep
            self.origin += keep
        room = BEFORE + WINDOW + AFTER
        while self.filled < room and not self.ended:
            try:
                got = self.read(self.view[self.filled : room])
            except READ_ERRORS as error:  # what was read before it still counts
                self.error = reason_of(error)
                got = 0
            if not got:
                self.ended = True
            self.filled += got or 0
        self.buf[self.filled : self.filled + AFTER] = 0
        return self.filled if self.ended else self.filled - AFTER

    def last_line(self, stop: int) -> int:
        """Where the last line that begins before `stop` begins, if it begins behind `at`; else `stop`."""
        feeds = np.flatnonzero(self.buf[self.at : stop] == 10)
        return self.at + int(feeds[-1]) + 1 if len(feeds) else stop


def _reader(stream: BinaryIO) -> Callable[[memoryview], int]:
    def read(view: memoryview) -> int:
        data = stream.read(min(len(view), _PIECE))
        view[: len(data)] = data
        return len(data)

    return read


def new_buffer() -> np.ndarray:
    return np.zeros(BEFORE + WINDOW + 2 * AFTER, np.uint8)


def walk(splits: Sequence[Split]) -> Iterator[tuple[Split, Windows | None, str]]:
    """Each split with its windows, or with the reason why its file cannot be opened."""
    buf = new_buffer()
    for split in splits:
        try:
            windows = Windows(split, buf)
        except READ_ERRORS as error:
            yield split, None, reason_of(error)
            continue
        with windows:
            yield split, windows, ""
