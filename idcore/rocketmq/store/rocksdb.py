"""RocksDB folders of a broker: column families and ranges of keys. Reads a copy, in a process of its own.

The library is native code, and a folder may be anybody's: what a damaged one does to it ends that process alone. It
writes a file next to what it opens, even for reading, so it gets a copy. The write-ahead log is replayed in memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from idcore.base import plain_json, temporary
from idcore.base.open_folders import entries, is_regular, opener, status
from idcore.rocketmq.store.files import Reading

LARGEST = 1 << 30  # of all files of a folder together
LARGEST_SETTINGS = 64 << 20  # of all rows of a family that is read whole
MARK = "CURRENT"  # a file that each RocksDB folder has
_DATA = (".sst", ".log")
_SECONDS = 30.0
_LONGEST = 128 << 20  # a line of the process
_ROWS_AT_ONCE = 10_000
MOST_ROWS = plain_json.MOST_VALUES  # of one walk: a small file may have far more, and who asks may hold them
_MEMORY = 2 << 30  # of the process: a block that is packed may become far more than its file has
_OF_SYSTEM = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL")  # what a program may need to start
_CHILD = """
import base64, contextlib, json, resource, sys
with contextlib.suppress(OSError, ValueError):  # a lower one stays; not every system has one
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
from rocksdict import AccessType, Options, Rdict
def say(value):
    print(json.dumps(value), flush=True)
options = Options(raw_mode=True)
options.set_db_log_dir(sys.argv[2])
families = {name: Options(raw_mode=True) for name in Rdict.list_cf(sys.argv[1], options)}
made = Rdict(sys.argv[1], options=options, column_families=families, access_type=AccessType.read_only(False))
held = {name: made if name == "default" else made.get_column_family(name) for name in families}
say(list(held))
for line in sys.stdin:
    family, ranges, most, backwards = json.loads(line)
    rows, left, more = [], 8 << 20, False
    for first, end in ranges:
        first, end = base64.b64decode(first), end and base64.b64decode(end)
        at = held[family].iter()
        if not backwards:
            at.seek(first)
        elif end is None:
            at.seek_to_last()
        else:
            at.seek_for_prev(end)
            if at.valid() and at.key() == end:
                at.prev()
        while at.valid():
            key, value = at.key(), at.value()
            if key < first if backwards else end is not None and key >= end:
                break
            more = len(rows) == most or (bool(rows) and len(key) + len(value) > left)
            if more:
                break
            left -= len(key) + len(value)
            if left < -(64 << 20):  # one row
                sys.exit(1)
            rows.append([base64.b64encode(part).decode() for part in (key, value)])
            at.prev() if backwards else at.next()
        at.status()  # raises where the file is damaged, which ends this process: an iterator only stops there
        if more:
            break
    say([rows, more])
"""


def can_read() -> bool:
    """Whether the library is installed; without it a folder is named, and not read."""
    return find_spec("rocksdict") is not None


def is_database(folder: Path, reading: Reading) -> bool:
    """Whether a folder is one of RocksDB."""
    with reading.noted(folder):
        return is_regular(folder / MARK, reading.roots)
    return False


def has_data(folder: Path, reading: Reading) -> bool:
    """Whether anything was ever written there: a broker of 5.5 makes `rocksdbstore` whether it is wanted or not."""
    return any(about.st_size for name, about in _files(folder, reading) if name.endswith(_DATA))


def written_ms(folder: Path, reading: Reading) -> int:
    """When anything was last written there; 0 where nothing says it."""
    return int(max((about.st_mtime for _, about in _files(folder, reading)), default=0.0) * 1_000)


def _files(folder: Path, reading: Reading) -> Iterator[tuple[str, os.stat_result]]:
    """The names of a folder, and what the system says of each. A running broker takes files away meanwhile."""
    with reading.noted(folder), entries(folder, reading.roots) as inside:
        for entry in inside:
            with suppress(FileNotFoundError, PermissionError):  # or a link to nowhere, or outside
                yield entry.name, status(str(folder / entry.name), entry, reading.roots)


class Database:
    """One folder, opened when it is first asked for; closed by `close` or by its `Reading`, and then opened again."""

    def __init__(self, folder: Path, reading: Reading, largest: int = LARGEST) -> None:
        self.folder = folder
        self._reading = reading
        self._largest = largest
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._place: tempfile.TemporaryDirectory[str] | None = None
        self._families: frozenset[str] | None = None
        reading.closes(self.close)

    @property
    def families(self) -> frozenset[str]:
        """The column families; none where the folder cannot be opened: no library, too large, or damaged."""
        with self._lock:
            return self._opened()

    def rows(
        self, family: str, first: bytes = b"", end: bytes | None = None, most: int = 0, backwards: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values from `first` up to `end`, which is not one of them; from the last one back if `backwards`.

        A folder with too many rows is as one that cannot be read behind them.
        """
        given = 0
        while True:
            if given > MOST_ROWS:
                with self._lock:
                    self._give_up()
                return
            wanted = min(_ROWS_AT_ONCE, most - given) if most else _ROWS_AT_ONCE
            with self._lock:
                rows, more = self._asked(family, [(first, end)], wanted, backwards)
            yield from rows
            given += len(rows)
            if not more or not rows or (most and given >= most):
                return
            if backwards:
                end = rows[-1][0]
            else:
                first = rows[-1][0] + b"\0"

    def prefixed(self, family: str, prefixes: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """The rows whose keys begin with one of some texts, asked for at once; a text does not end in 255."""
        ranges = [(prefix, prefix[:-1] + bytes([prefix[-1] + 1])) for prefix in prefixes]
        with self._lock:
            rows, more = self._asked(family, ranges, _ROWS_AT_ONCE, False)
        if not more:
            yield from rows
            return
        for first, end in ranges:
            yield from self.rows(family, first, end)

    def whole(self, family: str) -> dict[bytes, bytes] | None:
        """A family as one table; None where it is not there, or its rows are too large for that."""
        if family not in self.families:
            return None
        table: dict[bytes, bytes] = {}
        left = LARGEST_SETTINGS
        for key, value in self.rows(family):  # what is packed may be far more
            left -= len(key) + len(value)
            if left < 0:
                return None
            table[key] = value
        return table

    def close(self) -> None:
        """Ends the process and takes the copy away."""
        with self._lock:
            self._ended()
            self._families = None

    def _asked(
        self, family: str, ranges: Sequence[tuple[bytes, bytes | None]], most: int, backwards: bool
    ) -> tuple[list[tuple[bytes, bytes]], bool]:
        if family not in self._opened():
            return [], False
        named = [(_text(first), None if end is None else _text(end)) for first, end in ranges]
        answer = self._said(json.dumps([family, named, most, backwards]) + "\n")
        if answer is None:  # damaged where it was read
            self._give_up()
            return [], False
        rows, more = answer
        return [(b64decode(key), b64decode(value)) for key, value in rows], more

    def _opened(self) -> frozenset[str]:
        if self._families is None:
            families = self._begun() if can_read() else None
            self._families = frozenset(families or ())
            if families is None:
                self._ended()
        return self._families

    def _begun(self) -> list[str] | None:
        """Copies the folder and starts the process: the names that it says first."""
        with self._reading.noted(self.folder):
            self._place = tempfile.TemporaryDirectory(prefix="rocksdb-", dir=temporary.own())
            copy, log = Path(self._place.name, "copy"), Path(self._place.name, "log")
            copy.mkdir()
            log.mkdir()
            if not self._copied(copy):
                return None
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", _CHILD, str(copy), str(log), str(_MEMORY)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._place.name,
                env=_environment(),
                text=True,
            )
            names: list[str] | None = self._said("")
            return names
        return None

    def _said(self, question: str) -> Any:
        """The next line of the process; None where it ended, or took too long."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        watch = Timer(_SECONDS, process.kill)
        watch.start()
        try:
            process.stdin.write(question)
            process.stdin.flush()
            line = process.stdout.readline(_LONGEST)
        except OSError:  # it has ended
            return None
        finally:
            watch.cancel()
        return json.loads(line) if line.endswith("\n") else None

    def _give_up(self) -> None:
        """Names the folder, of which nothing more is read."""
        self._reading.damaged(self.folder)
        self._ended()
        self._families = frozenset()

    def _ended(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        if self._place is not None:
            self._place.cleanup()
        self._process = self._place = None

    def _copied(self, copy: Path) -> bool:
        """Whether all files were copied; links and folders are left out."""
        left, roots = self._largest, self._reading.roots
        with entries(self.folder, roots) as inside:
            names = [entry.name for entry in inside if entry.is_file(follow_symlinks=False)]
        for name in names:
            with open(self.folder / name, "rb", opener=opener(roots)) as file:
                if os.fstat(file.fileno()).st_size > left:
                    return False
                with (copy / name).open("wb") as written:
                    while part := file.read(1 << 20):
                        left -= len(part)
                        if left < 0:  # it grows
                            return False
                        if part.count(0) == len(part):  # zeros took no room before
                            written.seek(len(part), os.SEEK_CUR)
                        else:
                            written.write(part)
                    written.truncate()
        return True


def _environment() -> dict[str, str]:
    """Nothing of what this process knows: whoever gave the folder may run code of their own in that one."""
    needed = {name: os.environ[name] for name in _OF_SYSTEM if name in os.environ}
    return needed | {"MALLOC_ARENA_MAX": "1"}  # more would count as memory before they hold anything


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()
