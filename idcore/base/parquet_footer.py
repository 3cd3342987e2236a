"""The footer of a Parquet file, looked at by a process of its own first: some damage ends whoever asks for a column.

Arrow throws where its Python has no handler (`ColumnChunk` of `_parquet.pxd`), which aborts the process: one file of a
visitor would end the console of everybody. What reads the values has handlers. Of three bytes of a footer Arrow may
make 700 in memory, so that process has a bound of memory and looks first.
"""

from __future__ import annotations

import hashlib
import io
import os
import select
import subprocess
import sys
from threading import Lock
from typing import TYPE_CHECKING, Any

from idcore.base.errors import refuse
from idcore.base.safe_text import size as size_in_words

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_MARK, _END = b"PAR1", 8  # the first bytes of a file; its last are the length of the footer and this mark again
_SECONDS, _IDLE = 60.0, 3_600.0  # for one footer, and until a process that is asked nothing ends itself
_MOST = 1 << 12
_LONGEST, _MEMORY = 32 << 20, 256 << 20  # bytes of a footer, and what Arrow may make of one: of an honest one six times
_CHILD = """
import contextlib, io, resource, select, sys
idle, memory = float(sys.argv[1]), int(sys.argv[2])
sys.path[:] = sys.argv[3:]
import pyarrow.parquet as pq
asked, answered = sys.stdin.buffer, sys.stdout.buffer
with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:  # not every system says it
    most = int(file.read().split()[0]) * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
while select.select([asked], [], [], idle)[0] and len(size := asked.read(8)) == 8:
    raw = asked.read(int.from_bytes(size, "little"))
    try:
        known = pq.read_metadata(io.BytesIO(raw))
        pq.ParquetFile(io.BytesIO(raw), metadata=known).schema_arrow
        for number in range(known.num_row_groups):
            group = known.row_group(number)
            for place in range(group.num_columns):
                column = group.column(place)
                column.path_in_schema, column.encodings, column.has_dictionary_page, column.physical_type
        answer = b"1"
    except Exception:
        answer = b"0"
    answered.write(answer)
    answered.flush()
"""


class _Looker:
    """A process that looks at footers, one after the other, and may die of one. It begins when it is needed."""

    def __init__(self) -> None:
        self._lock, self._owner = Lock(), 0
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[bytes, bool] = {}  # by the digest of a footer

    def survives(self, footer: bytes) -> bool:
        """Whether every column of a file can be asked for. A file is looked at again for each of its parts."""
        name = hashlib.sha256(footer).digest()
        with self._lock:
            if name not in self._known:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[name] = self._asked(footer)
            return self._known[name]

    def _asked(self, footer: bytes) -> bool:
        is_new = False
        while not is_new:  # one that was idle may have ended a moment ago
            is_new = self._begin()
            if answer := self._answer(footer):
                return answer == b"1"
            self._end()
        return False

    def _begin(self) -> bool:
        """Whether the process is a new one: a fork has none of its own."""
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is None:
            return False
        words = [sys.executable, "-I", "-B", "-c", _CHILD, str(_IDLE), str(_MEMORY), *filter(None, sys.path)]
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        kept |= {"MALLOC_ARENA_MAX": "1"}  # more would count as memory before they hold anything
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=kept)
        self._owner = os.getpid()
        return True

    def _answer(self, footer: bytes) -> bytes:
        """What it answers; nothing where it has ended, or takes too long."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(len(footer).to_bytes(8, "little") + footer)
            process.stdin.flush()
        except BrokenPipeError:
            return b""
        return os.read(process.stdout.fileno(), 1) if select.select([process.stdout], [], [], _SECONDS)[0] else b""

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


_of_inputs, _of_tables = _Looker(), _Looker()  # no page waits for what a visitor has uploaded


def metadata_of(file: Any, *, is_table: bool = False) -> pq.FileMetaData:
    """What the footer says, of which every column may be asked for; ArrowException or CoreError of one that is damaged.

    CoreError of one that is too long, or takes too much memory, too.

    A reader is to be given this, and not to read the footer again. `is_table`: of a scan, and no input.
    """
    import pyarrow.parquet as pq

    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END))
    end = file.read(_END)
    length = int.from_bytes(end[:4], "little")
    if len(end) < _END or end[4:] != _MARK or length > size - _END - len(_MARK):
        raise refuse("parquet_damaged")
    if length > _LONGEST:
        raise refuse("parquet_footer_long", most=size_in_words(_LONGEST))
    file.seek(size - _END - length)
    alone = _MARK + file.read(length) + end
    if not (_of_tables if is_table else _of_inputs).survives(alone):
        raise refuse("parquet_damaged")
    return pq.read_metadata(io.BytesIO(alone))
