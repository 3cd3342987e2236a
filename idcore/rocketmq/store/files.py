"""Files of a store, opened for reading only, never mapped: one that shrinks meanwhile gives fewer bytes, no crash.

So does one that cannot be read, or only in part; what the system said of it is kept for the answer.

Handles names and sizes, not contents.
"""

from __future__ import annotations

import errno
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from idcore.base.errors import CoreError, coded
from idcore.base.layout import MOST_OFFSET, OFFSET_NAME
from idcore.base.open_folders import Roots, descriptor, entries, is_file, status

_MOST_OPEN = 32
# One file that is gone, locked or on a failing disk; anything else is not a matter of the file, and ends the look-up.
_OF_THE_FILE = {
    errno.ENOENT,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
    errno.ESTALE,
    errno.ELOOP,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENXIO,
    errno.ESPIPE,
    getattr(errno, "EUCLEAN", errno.EIO),
}
_STEP = 1 << 22


@dataclass(frozen=True, slots=True)
class File:
    """One file of a sequence: the offset of its first byte, which is its name, and its size when it was listed."""

    path: Path
    start: int
    size: int

    @property
    def name(self) -> str:
        """The file name of an offset: twenty digits."""
        return self.path.name

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.start + self.size


def list_files(folder: Path, roots: Roots) -> tuple[list[File], list[str]]:
    """The files of a sequence in order, and the names of everything else in the folder."""
    files: list[File] = []
    strangers: list[str] = []
    with entries(folder, roots) as inside:
        for entry in inside:
            path = os.path.join(folder, entry.name)
            try:
                about = status(path, entry, roots)
            except OSError:  # a link to nowhere or to what is not open, or a file that went away
                strangers.append(entry.name)
                continue
            if OFFSET_NAME.fullmatch(entry.name) and int(entry.name) <= MOST_OFFSET and is_file(about):
                files.append(File(Path(path), int(entry.name), about.st_size))
            else:
                strangers.append(entry.name)
    return sorted(files, key=lambda file: file.start), sorted(strangers)


class Reading:
    """Bytes of files by place. Keeps a few of them open; safe to share between threads.

    With `roots` each file is in one of them, or cannot be read.
    """

    def __init__(self, roots: Roots = None) -> None:
        self.roots = roots
        self.problems: dict[Path, CoreError] = {}  # what could not be read, and why
        self._open: OrderedDict[Path, int] = OrderedDict()
        self._lock = Lock()
        self._closing: list[Callable[[], None]] = []

    def read(self, path: Path, at: int, size: int) -> bytes:
        """Up to `size` bytes from `at` on; fewer where the file ends."""
        if at < 0 or size <= 0:
            return b""
        parts: list[bytes] = []
        with self._lock:
            try:
                descriptor = self._descriptor(path)
                while size > 0:
                    part = os.pread(descriptor, min(size, _STEP), at)
                    if not part:
                        break
                    parts.append(part)
                    at += len(part)
                    size -= len(part)
            except OSError as problem:
                self._note(path, problem)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def extents(self, path: Path, size: int, start: int = 0) -> Iterator[tuple[int, int]]:
        """The stretches that are on disk; what is between reads as zeros. All of it where the system cannot say."""
        extents: list[tuple[int, int]] = []
        with self._lock, self.noted(path):
            extents += _extents(self._descriptor(path), start, size)
        yield from extents

    @contextmanager
    def noted(self, path: Path) -> Iterator[None]:
        """A file or folder that cannot be read is one that is not there, and is named in `problems`."""
        try:
            yield
        except OSError as problem:
            self._note(path, problem)

    def _note(self, path: Path, problem: OSError) -> None:
        if problem.errno not in _OF_THE_FILE:
            raise problem
        self.problems[path] = coded(problem)

    def _descriptor(self, path: Path) -> int:
        found = self._open.pop(path, None)
        if found is None:
            found = descriptor(path, self.roots, os.O_NONBLOCK)
        self._open[path] = found
        while len(self._open) > _MOST_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return found

    def close(self) -> None:
        """Closes what is open; what is read later opens again."""
        with self._lock:
            while self._open:
                os.close(self._open.popitem()[1])
        for close in self._closing:
            close()

    def closes(self, close: Callable[[], None]) -> None:
        """Something else that ends with this."""
        self._closing.append(close)

    def damaged(self, path: Path) -> None:
        """Names what could be opened, and not be read."""
        self._note(path, OSError(errno.EIO, os.strerror(errno.EIO)))


def _extents(descriptor: int, begin: int, size: int) -> Iterator[tuple[int, int]]:
    at = begin
    while at < size:
        try:
            start = os.lseek(descriptor, at, os.SEEK_DATA)
            stop = min(os.lseek(descriptor, start, os.SEEK_HOLE), size)
        except OSError as problem:
            if at == begin and problem.errno != errno.ENXIO:  # ENXIO: only a hole; anything else: the system cannot say
                yield begin, size
            return
        if start >= size:
            return
        yield start, stop
        at = stop


def first_and_last_byte(reading: Reading, path: Path, start: int, stop: int) -> tuple[int, int] | None:
    """The places of the first and behind the last byte that is not zero, from `start` up to `stop`; None for none."""
    extents = [(max(a, start), min(b, stop)) for a, b in reading.extents(path, stop) if b > start]
    first = next((at for a, b in extents if (at := _first(reading, path, a, b)) is not None), None)
    if first is None:
        return None
    last = next(at for a, b in reversed(extents) if (at := _last(reading, path, a, b)) is not None)
    return first, last


def _first(reading: Reading, path: Path, start: int, stop: int) -> int | None:
    for at in range(start, stop, _STEP):
        part = reading.read(path, at, min(_STEP, stop - at))
        rest = part.lstrip(b"\0")
        if rest:
            return at + len(part) - len(rest)
    return None


def _last(reading: Reading, path: Path, start: int, stop: int) -> int | None:
    at = stop
    while at > start:
        begin = max(start, at - _STEP)
        rest = reading.read(path, begin, at - begin).rstrip(b"\0")
        if rest:
            return begin + len(rest)
        at = begin
    return None
