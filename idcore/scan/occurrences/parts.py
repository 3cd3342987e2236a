"""Places to files: a piece of the index is Parquet tables of its places, keys and texts. Finds and dates no id itself.

The places of one piece are in the order of its texts. A text that cannot be read at any byte is kept with them, in
packed blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from idcore.base.open_folders import own_file
from idcore.base.safe_text import encodable
from idcore.ids.clock import NO_TIME
from idcore.kernels import codes
from idcore.scan.occurrences import dating
from idcore.scan.occurrences.locate import Locator, Places
from idcore.scan.occurrences.settled import counted, settle
from idcore.sources.inputs import Split, shown, walk
from idcore.sources.kinds import PLAIN

MOST_ROWS = 1 << 21  # of one piece: what a task holds in memory
MOST_KEYS = 1 << 16
GROUP_ROWS = 1 << 15  # read for one page of lines
BLOCK = 1 << 18  # bytes of text that are packed together
PLACES = pa.schema(
    [
        ("text", pa.int32()),  # row of `texts`
        ("line", pa.int64()),  # line feeds before it, from the start of the text's own range
        ("begin", pa.int64()),  # of the line, in bytes of the text
        ("size", pa.int32()),  # of the line
        ("at", pa.int32()),  # of the id, in bytes from the begin of the line
        ("slot", pa.int32()),  # row of `keys`
        ("value", pa.int64()),
        ("sent_ms", pa.int64()),  # NO_TIME where it is not known
    ]
)
KEYS = pa.schema([("k0", pa.uint64()), ("k1", pa.uint64()), ("k2", pa.uint64())])
TEXTS = pa.schema(
    [
        ("text", pa.string()),  # one text of the input; it may have several rows
        ("file", pa.string()),
        ("path", pa.string()),  # where the text can be read at any byte; null where it is kept
        ("start", pa.int64()),  # of the range that a task read
        ("lines", pa.int64()),  # line feeds from there to the last place of this piece, or to the end of the range
        ("changed_ns", pa.int64()),  # of the file, and its size: what was indexed is what is read
        ("bytes", pa.int64()),
    ]
)
BLOCKS = pa.schema(  # of kept texts: row of `texts`, first byte, bytes; first byte and bytes of the file of this piece
    [("text", pa.int32()), *((name, pa.int64()) for name in ("start", "size", "at", "packed"))]
)
_LINES = TEXTS.get_field_index("lines")
_MOST_INT, _LATE = (1 << 31) - 1, 1 << 62


def codec() -> pa.Codec:
    """The codec of kept texts."""
    return pa.Codec("zstd", compression_level=1)


@dataclass(slots=True)
class _Kept:
    """Texts that are written in packed blocks, each text from a block of its own."""

    path: Path
    blocks: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    held: bytearray = field(default_factory=bytearray)
    start: int = 0
    at: int = 0
    text: int = 0

    def hear(self, text: bytes) -> None:
        self.held += text
        while len(self.held) >= BLOCK:
            self._write(BLOCK)

    def write(self) -> None:
        if self.held:
            self._write(len(self.held))

    def _write(self, size: int) -> None:
        packed = codec().compress(bytes(self.held[:size]), asbytes=True)
        with open(self.path, "ab", opener=own_file) as file:
            file.write(packed)
        self.blocks.append((self.text, self.start, size, self.at, len(packed)))
        self.at += len(packed)
        self.start += size
        del self.held[:size]

    def begin(self, text: int, start: int) -> None:
        self.write()
        self.text, self.start = text, start


class PartWriter:
    """One task: reads its splits, and writes pieces whose names begin with `prefix` into the folder.

    `tables` are those of the scan that date and settle ids: processes, clients, brokers.
    """

    def __init__(self, folder: Path, prefix: str, tables: dict[str, pa.Table], case: str = "strict") -> None:
        self.folder, self.prefix, self.tables, self.case = folder, prefix, tables, case
        self.locator = Locator(case)
        self.number = 0
        self._begin()

    def _begin(self) -> None:
        self.found: list[tuple[int, Places]] = []
        self.texts: list[list[object]] = []
        self.rows = 0
        self.kept = _Kept(self.folder / f"{self._name()}.text")

    def _name(self) -> str:
        return f"{self.prefix}-{self.number:05d}"

    def write(self, splits: Sequence[Split], names: dict[int, str]) -> Iterator[tuple[str, int]]:
        """Reads the splits; gives name and rows of each piece that it has written. `names`: of files, by number."""
        for where, windows, _ in walk(splits):
            if windows is None:
                continue  # the table `files` has the error
            in_place = where.kind == PLAIN and not where.place and "://" not in where.path and windows.counted is None
            # A table has no text for a path that is not UTF-8, so the lines of that file are kept.
            in_place = in_place and where.stop > 0 and encodable(where.path) == where.path
            self.texts.append(_text(where, names, windows.origin + windows.at, in_place))
            self.kept.begin(len(self.texts) - 1, windows.origin + windows.at)
            for some in self.locator.read(windows, None if in_place else self.kept.hear):
                if not isinstance(some, Places):
                    break  # here as well
                self.found.append((len(self.texts) - 1, some))
                self.rows += len(some.slots)
                if self.rows >= MOST_ROWS or len(self.locator.finder.keys) >= MOST_KEYS:
                    yield self._finish([*self.texts[-1]], windows.origin + windows.at)
            self.texts[-1][_LINES] = self.locator.lines
        if self.rows:
            yield self._finish()

    def _finish(self, again: list[object] | None = None, at: int = 0) -> tuple[str, int]:
        """Writes what there is; the text `again` goes on in the next piece, from the byte `at`."""
        self.texts[-1][_LINES] = self.locator.lines
        self.kept.write()
        name, keys = self._name(), self.locator.finder.keys.copy()
        self._put(name, "places", self._places(keys))
        self._put(name, "texts", _table(TEXTS, zip(*self.texts, strict=True)))
        self._put(name, "blocks", _table(BLOCKS, zip(*self.kept.blocks, strict=True)))
        rows = self.rows
        self.number += 1
        self._begin()
        self.locator.finder.forget()
        if again is not None:
            self.texts.append(again)
            self.kept.begin(0, at)
        return name, rows

    def _places(self, keys: np.ndarray) -> pa.Table:
        each = [np.concatenate(column) for column in zip(*(places for _, places in self.found), strict=True)]
        slots, values, at, lines, begins, ends = each
        texts = np.repeat([text for text, _ in self.found], [len(places.slots) for _, places in self.found])
        keys, slots, values = settle(keys, slots, values, self.tables)
        if self.case == "strict":
            is_counted = counted(keys, self.tables)
            mine = is_counted[slots]
            texts, slots, values, at, lines, begins, ends = (
                column[mine] for column in (texts, slots, values, at, lines, begins, ends)
            )
            keys, slots = keys[is_counted], (np.cumsum(is_counted) - 1)[slots]
            self.rows = len(slots)
        self._put(self._name(), "keys", pa.table(list(keys.T), schema=KEYS))
        self._put(self._name(), "names", dating.names_of(keys))
        sent = dating.times(keys, slots, values, self.tables)
        sent = _of_lines(sent, texts, begins, codes.are(keys, codes.OFFSETS)[slots])
        sizes, inside = np.minimum(ends - begins, _MOST_INT), np.minimum(at - begins, _MOST_INT)
        columns = [texts, lines, begins, sizes, inside, slots, values.view(np.int64), sent]
        return pa.table([pa.array(column, kind) for column, kind in zip(columns, PLACES.types, strict=True)], PLACES)

    def _put(self, name: str, what: str, table: pa.Table) -> None:
        path = self.folder / f"{name}.{what}.parquet"
        with open(path, "wb", opener=own_file) as file:
            pq.write_table(table, file, compression="zstd", compression_level=1, row_group_size=GROUP_ROWS)


def _text(where: Split, names: dict[int, str], start: int, in_place: bool) -> list[object]:
    status = os.stat(where.path) if in_place else None
    changed = (status.st_mtime_ns, status.st_size) if status else (None, None)
    member = shown(where.member) if where.place else ""
    text = ".".join(map(str, (where.number, *where.place)))
    return [text, names[where.number] + member, where.path if in_place else None, start, 0, *changed]


def _table(schema: pa.Schema, columns: Iterable[Sequence[object]]) -> pa.Table:
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=False)]
    return pa.Table.from_arrays(arrays, schema=schema) if arrays else schema.empty_table()


def _of_lines(sent: np.ndarray, texts: np.ndarray, begins: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """An offsetMsgId has the time of the msgIds of its line; where these have several, its own is not known."""
    if not offset.any():
        return sent
    new = np.ones(len(sent), np.bool_)
    new[1:] = (begins[1:] != begins[:-1]) | (texts[1:] != texts[:-1])
    edges = np.flatnonzero(new)
    least = np.minimum.reduceat(np.where(sent == NO_TIME, _LATE, sent), edges)
    most = np.maximum.reduceat(sent, edges)
    line = np.cumsum(new) - 1
    return np.where(offset & (least == most)[line], most[line], sent)
