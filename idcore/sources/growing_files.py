"""Files that grow: which bytes of which are new, whatever their names become. Reads no ids and knows no Spark.

A path is no identity: a rotation gives the file another name, or copies it and cuts it to nothing; an inode is used
again. A generation is what was written to one file from its first byte on. It is known by device and inode, by its
first bytes, and by the last bytes that were read of it. What `FileChanges` returns is plain JSON, and all that it needs
to go on after a restart.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, tzinfo
from hashlib import blake2b
from itertools import takewhile
from typing import Any, BinaryIO, NamedTuple

from idcore.base.errors import CoreError, coded, refuse
from idcore.base.open_folders import Roots, entries, file_status, opener
from idcore.ids.line_moments import born_marks, moment_of, prefix_time
from idcore.ids.records import REACH
from idcore.sources.archives import kind_of
from idcore.sources.inputs import list_files, shown
from idcore.sources.kinds import HEAD, PLAIN
from idcore.sources.uris import is_uri

MARK = 1024  # bytes at the begin of a file, and at the end of what was read, by which it is known
QUIET = 1.0  # seconds without a new byte after which a record has ended
UNENDED = 5.0  # seconds after which a last line without its end is read; and a file that has gone is given up
MOST_LEFT_OUT = 100  # paths that are named
_PIECE = 1 << 16
_NEWLINE = b"\n"
BEGINNING = "beginning"
TRUNCATED, GONE = "truncated", "gone"
_IN_THE_MAKING = -1
Offset = dict[str, Any]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Generation:
    """One file from its first byte on: where it is now, what it is known by, and the bytes `begun` to `read`."""

    path: str
    device: int
    inode: int
    begun: int = 0
    read: int = 0
    head_bytes: int = 0
    head: str = ""
    tail: str = ""

    @property
    def identity(self) -> tuple[int, int]:
        return self.device, self.inode

    def is_in(self, file: BinaryIO) -> bool:
        """Whether an open file begins with the bytes of this one, and has what was read of it."""
        if os.fstat(file.fileno()).st_size < self.read:
            return False
        return _mark(file, 0, self.head_bytes) == self.head and _tail(file, self.read) == self.tail


class Range(NamedTuple):
    """New bytes of one generation: up to `stop`, where `generation` was read to. None are new where it was renamed."""

    number: int
    start: int
    generation: Generation

    @property
    def stop(self) -> int:
        return self.generation.read


class EndedFile(NamedTuple):
    """A generation that nothing is read of any more: `truncated` or `gone`, and how many bytes were not read."""

    number: int
    why: str
    unread: int


@dataclass(slots=True)
class _Known:
    """What was seen of a generation in this process: its size, when that changed, since when it is missing, and
    whether another one has its file by now. From what was read up to `searched` no line ends."""

    size: int
    changed: float
    status: tuple[int, ...] = ()
    missing: float | None = None
    is_cut: bool = False
    searched: int = 0


class _Listed(NamedTuple):
    path: str
    status: os.stat_result

    @property
    def identity(self) -> tuple[int, int]:
        return self.status.st_dev, self.status.st_ino


@dataclass(slots=True)
class FileChanges:
    """What is new in files that grow. `paths`: files, folders, globs, as a scan takes them.

    `since` says where the files that are there at first are read from: "beginning", "end", or an instant, by the
    times of their lines; of these a naive one is of `zone`. Later files are read from their first byte.
    """

    paths: list[str]
    roots: Roots = None
    since: str | datetime = BEGINNING
    zone: tzinfo | None = None
    clock: Clock = time.monotonic
    available: dict[str, int] = field(default_factory=dict)  # bytes of each generation, as far as they were seen
    _known: dict[int, _Known] = field(default_factory=dict)
    _copies: dict[tuple[int, int], tuple[int, float]] = field(default_factory=dict)  # files in the making: size, since
    _refused: dict[str, tuple[tuple[int, ...], CoreError]] = field(default_factory=dict)

    def first(self) -> Offset:
        """Where reading begins: the files that are there now."""
        offset: Offset = {"next": 0, "files": {}, "ended": {}, "left_out": {}}
        files: dict[int, Generation] = {}
        for one in self._listed(offset):
            self._take(one, files, offset, self.since)
        offset["files"] = {str(number): asdict(one) for number, one in files.items()}
        return offset

    def after(self, offset: Offset, most: int) -> Offset:
        """Up to where there is something new; the same offset where there is nothing.

        It is `most` bytes in all, shared by the files that grow; but of each at least a line.
        """
        files = {int(number): Generation(**row) for number, row in offset["files"].items()}
        later: Offset = {"next": offset["next"], "files": {}, "ended": {}, "left_out": {}}
        missing, fresh = self._recognise(self._listed(later), files)
        for one in fresh:
            owner = self._copy_of(one, files, missing)
            if owner is None:
                self._take(one, files, later, BEGINNING)
            elif owner in missing:
                if (moved := self._adopted(files[owner], one)) is not None:
                    files[owner] = moved
                    self._see(owner, one)
                    missing.discard(owner)
            elif owner != _IN_THE_MAKING:
                _leave_out(later, one.path, refuse("follow_copy", path=shown(files[owner].path)))
        self._give_up(missing, files, later)
        growing = [number for number in sorted(files.keys() - missing) if self._known[number].size > files[number].read]
        for left, number in zip(range(len(growing), 0, -1), growing, strict=True):
            before = files[number].read
            files[number] = self._advanced(number, files[number], max(1, most // left))
            most -= files[number].read - before
        later["files"] = {str(number): asdict(one) for number, one in sorted(files.items())}
        self.available = {number: self._known[int(number)].size for number in later["files"]}
        is_new = later["ended"] or any(later[name] != offset[name] for name in ("files", "left_out"))
        return later if is_new else offset

    def _give_up(self, missing: set[int], files: dict[int, Generation], later: Offset) -> None:
        """Ends the generations that no file has any more."""
        now = self.clock()
        for number in sorted(missing):
            known = self._known[number]
            if known.missing is not None and now - known.missing > UNENDED:
                unread = max(0, known.size - files.pop(number).read)
                later["ended"][str(number)] = f"{TRUNCATED if known.is_cut else GONE} {unread}"
                del self._known[number]

    # ---- which file is which

    def _listed(self, offset: Offset) -> list[_Listed]:
        """The files that are there, each once."""
        listed: dict[tuple[int, int], _Listed] = {}
        for file in list_files(self.paths, self.roots):
            problem = refuse("follow_uri") if is_uri(file.path) else file.error
            if problem is not None:
                if problem.code != "ENOENT":
                    _leave_out(offset, file.path, problem)
                continue
            try:
                one = _Listed(os.path.abspath(file.path), file_status(file.path, self.roots))
            except FileNotFoundError:  # it has another name meanwhile, and the next look finds that
                continue
            except OSError as error:
                _leave_out(offset, file.path, coded(error))
                continue
            listed.setdefault(one.identity, one)
        for gone in self._copies.keys() - listed.keys():
            del self._copies[gone]
        return list(listed.values())

    def _recognise(self, listed: list[_Listed], files: dict[int, Generation]) -> tuple[set[int], list[_Listed]]:
        """Gives each generation its file, by its new name. The generations without one, and the files that are new."""
        owners = {generation.identity: number for number, generation in files.items()}
        fresh, there, cut = [], set(), set()
        for one in listed:
            number = owners.get(one.identity)
            if number is not None and self._is_same(number, files[number], one):
                there.add(number)
                files[number] = replace(files[number], path=one.path)
                self._see(number, one)
                continue
            fresh.append(one)
            if number is not None:
                cut.add(number)
        for number in files.keys() - there:
            known = self._known.setdefault(number, _Known(files[number].read, self.clock()))
            if known.missing is None:
                known.missing, known.is_cut = self.clock(), number in cut
        return files.keys() - there, fresh

    def _is_same(self, number: int, generation: Generation, one: _Listed) -> bool:
        known = self._known.get(number)
        if known is not None and known.missing is None and known.status == _status(one):
            return True
        try:
            with _open(one.path, self.roots) as file:
                return generation.is_in(file)
        except OSError:
            return False

    def _see(self, number: int, one: _Listed) -> None:
        size, now = one.status.st_size, self.clock()
        known = self._known.get(number)
        if known is None or known.missing is not None or known.size != size:
            searched = known.searched if known is not None and known.missing is None else 0
            self._known[number] = _Known(size, now, _status(one), searched=searched)
        else:
            known.status = _status(one)

    def _copy_of(self, one: _Listed, files: Mapping[int, Generation], missing: set[int]) -> int | None:
        """The generation that a new file is a copy of: whole, or still in the making."""
        size = one.status.st_size
        if not size or any(one.identity == each.identity for each in files.values()):
            return None  # nothing yet, or what is written where one was cut
        try:
            with _open(one.path, self.roots) as file:
                heads = {length: _mark(file, 0, length) for length in {each.head_bytes for each in files.values()}}
                for number in sorted(files, key=lambda number: number not in missing):
                    copied = files[number]
                    begins_alike = heads[copied.head_bytes] == copied.head
                    if not copied.head or not (begins_alike or size < copied.head_bytes):
                        continue
                    if number not in missing:
                        if self._is_part(file, size, copied.path):
                            return number
                    elif copied.is_in(file):
                        return number
                    elif size < copied.read and self._unchanged(one) <= UNENDED:
                        return _IN_THE_MAKING
                    elif size < copied.read and begins_alike and self._known[number].is_cut:
                        return number  # what came between copy and cut is in neither
        except OSError:
            return None
        return None

    def _is_part(self, file: BinaryIO, size: int, original: str) -> bool:
        """Whether another file begins with these bytes: two logs that begin alike go on differently."""
        with _open(original, self.roots) as whole:
            return size <= os.fstat(whole.fileno()).st_size and _tail(file, size) == _tail(whole, size)

    def _unchanged(self, one: _Listed) -> float:
        """For how many seconds a file that may be a copy in the making has not grown."""
        size, since = self._copies.get(one.identity, (-1, 0.0))
        if size != one.status.st_size:
            self._copies[one.identity] = one.status.st_size, self.clock()
            return 0.0
        return self.clock() - since

    def _adopted(self, generation: Generation, one: _Listed) -> Generation | None:
        """A generation whose bytes are in another file now; None where that one has gone too: the next look decides."""
        moved = replace(generation, path=one.path, device=one.identity[0], inode=one.identity[1])
        try:
            with _open(one.path, self.roots) as file:
                return moved if moved.is_in(file) else _marked(file, moved, one.status.st_size)
        except OSError:
            return None

    def _take(self, one: _Listed, files: dict[int, Generation], offset: Offset, since: str | datetime) -> None:
        """A new generation; not of an empty file, whose first bytes are not known yet, nor of one that is no text."""
        status, problem = self._refused.get(one.path, ((), None))
        if problem is not None and status == _status(one):
            _leave_out(offset, one.path, problem)
            return
        self._refused.pop(one.path, None)
        try:
            with _open(one.path, self.roots) as file:
                head = file.read(HEAD)
                if not head:
                    return
                if (kind := kind_of(head)) != PLAIN:
                    raise refuse("follow_packed", kind=kind)
                begun = self._start(file, one.status.st_size, since)
                taken = _marked(file, Generation(one.path, *one.identity, begun=begun), begun)
        except (CoreError, OSError) as error:
            self._refused[one.path] = _status(one), coded(error)
            _leave_out(offset, one.path, coded(error))
            return
        number = offset["next"]
        offset["next"] = number + 1
        files[number] = taken
        self._known[number] = _Known(one.status.st_size, self.clock(), _status(one))

    # ---- up to where it is read

    def _advanced(self, number: int, generation: Generation, most: int) -> Generation:
        known = self._known[number]
        if known.size <= generation.read:
            return generation
        try:
            with _open(generation.path, self.roots) as file:
                stop = self._stop(file, generation.read, known, most)
                return _marked(file, generation, stop) if stop > generation.read else generation
        except OSError:  # it has gone since it was listed: the next look says so
            return generation

    def _stop(self, file: BinaryIO, start: int, known: _Known, most: int) -> int:
        """A line's end, up to which a generation is read now."""
        size, quiet, begin = known.size, self.clock() - known.changed, max(start, known.searched)
        if size - start > most:
            end = _line_end(file, begin, start + most)
            longer = end if end > begin else _next_line(file, max(begin, start + most), size)
            if longer is not None:
                return longer
        end = _line_end(file, begin, size)
        if end == begin:
            known.searched, end = size, start
        if end < size and quiet >= UNENDED:
            return size
        return end if quiet >= QUIET or end <= start else _record_end(file, start, end)

    def _start(self, file: BinaryIO, size: int, since: str | datetime) -> int:
        if since == BEGINNING:
            return 0
        return _line_end(file, 0, size) if isinstance(since, str) else _at_time(file, size, since, self.zone)


def ranges(before: Offset, after: Offset) -> list[Range]:
    """What is new between two offsets: bytes, and new names."""
    new = []
    for number, row in after["files"].items():
        generation = Generation(**row)
        earlier = before["files"].get(number)
        if earlier is None or earlier["read"] < generation.read or earlier["path"] != generation.path:
            start = generation.begun if earlier is None else min(earlier["read"], generation.read)
            new.append(Range(int(number), start, generation))
    return new


def ended(after: Offset) -> list[EndedFile]:
    """The generations that ended with this offset."""
    rows = ((number, *row.split()) for number, row in after["ended"].items())
    return [EndedFile(int(number), why, int(unread)) for number, why, unread in rows]


def _leave_out(offset: Offset, path: str, problem: CoreError) -> None:
    if len(offset["left_out"]) < MOST_LEFT_OUT:
        offset["left_out"][shown(path)] = json.dumps(problem.coded())


@contextmanager
def opened(generation: Generation, roots: Roots) -> Iterator[BinaryIO]:
    """The file of a generation with what was read of it, by its name or by any other one in its folder.

    FileNotFoundError where no file is it: a rotation has deleted it.
    """
    for path in _names(generation.path, roots):
        try:
            file = _open(path, roots)
        except FileNotFoundError:
            continue
        with file:
            if generation.is_in(file):
                file.seek(0)
                yield file
                return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), generation.path)


def _names(path: str, roots: Roots) -> Iterator[str]:
    """A path, and the other files in its folder."""
    yield path
    folder = os.path.dirname(path)
    with entries(folder, roots) as inside:
        names = sorted(entry.name for entry in inside if entry.is_file(follow_symlinks=False))
    yield from (os.path.join(folder, name) for name in names if os.path.join(folder, name) != path)


def _open(path: str, roots: Roots) -> BinaryIO:
    return open(path, "rb", opener=opener(roots))


def _status(one: _Listed) -> tuple[int, ...]:
    return one.status.st_size, one.status.st_mtime_ns


def _mark(file: BinaryIO, start: int, stop: int) -> str:
    return blake2b(os.pread(file.fileno(), stop - start, start), digest_size=8).hexdigest() if stop > start else ""


def _tail(file: BinaryIO, stop: int) -> str:
    return _mark(file, max(0, stop - MARK), stop)


def _marked(file: BinaryIO, generation: Generation, read: int) -> Generation:
    """A generation that was read up to here, with the marks of it."""
    head = min(MARK, max(os.fstat(file.fileno()).st_size, generation.head_bytes))
    if generation.head_bytes < MARK:
        generation = replace(generation, head_bytes=head, head=_mark(file, 0, head))
    return replace(generation, read=read, tail=_tail(file, read))


def _line_end(file: BinaryIO, start: int, stop: int) -> int:
    """Behind the last line feed between two places; `start` without one."""
    at = stop
    while at > start:
        begin = max(start, at - _PIECE)
        feed = os.pread(file.fileno(), at - begin, begin).rfind(_NEWLINE)
        if feed >= 0:
            return begin + feed + 1
        at = begin
    return start


def _next_line(file: BinaryIO, at: int, size: int) -> int | None:
    """Behind the first line feed from here on; None without one."""
    while at < size:
        piece = os.pread(file.fileno(), _PIECE, at)
        feed = piece.find(_NEWLINE)
        if feed >= 0 or not piece:
            return at + feed + 1 if feed >= 0 else None
        at += len(piece)
    return None


def _record_end(file: BinaryIO, start: int, end: int) -> int:
    """Where the last record ends for sure: lines without a time may be dated by those that are still to come."""
    begin = max(start, end - REACH)
    lines = os.pread(file.fileno(), end - begin, begin).split(_NEWLINE)[:-1]
    if begin > start:
        lines = lines[1:]  # it may be cut; and what is before it is out of the reach of what comes
    open_lines = list(takewhile(_is_open, reversed(lines)))
    return end - sum(len(line) + 1 for line in open_lines)


def _is_open(line: bytes) -> bool:
    """Whether a later line may date this one: it is not blank, and has no time of its own."""
    text = line.decode("utf-8", "replace")
    return not (not text.strip() or prefix_time(text) is not None or born_marks(text) or moment_of(text) is not None)


def _at_time(file: BinaryIO, size: int, since: datetime, zone: tzinfo | None) -> int:
    """The begin of the first line that is not before an instant, where lines come in the order of time."""
    low, high = 0, size
    while high - low > _PIECE:
        middle = _next_line(file, (low + high) // 2, size) or size
        moment, _ = _first_time(file, middle, min(high, middle + (_PIECE << 4)), zone)
        if moment is None or moment >= since:
            high = (low + high) // 2
        else:
            low = middle
    at = low
    while at < size:
        moment, begin = _first_time(file, at, size, zone)
        if moment is None:
            return _line_end(file, 0, size)
        if moment >= since:
            return begin
        at = _next_line(file, begin, size) or size
    return _line_end(file, 0, size)


def _first_time(file: BinaryIO, at: int, stop: int, zone: tzinfo | None) -> tuple[datetime | None, int]:
    """The time of the first line from `at` on that begins with one, and where that line begins."""
    while at < stop:
        piece = os.pread(file.fileno(), _PIECE, at)
        if not piece:
            break
        whole = piece.rfind(_NEWLINE) + 1 or len(piece)
        for line in piece[:whole].splitlines(keepends=True):
            moment = prefix_time(line[:512].decode("utf-8", "replace"))
            if moment is not None:
                return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone), at
            at += len(line)
    return None, at
