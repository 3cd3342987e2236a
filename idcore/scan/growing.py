"""A table that grows in pieces: its first rows stay in memory, further ones go to a Parquet file. Computes nothing."""

from __future__ import annotations

import json
import socket
import uuid
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from idcore.base.errors import CoreError
from idcore.ids.clock import is_time
from idcore.scan.schemas import GROUP_ROWS, SCHEMAS, TIME

LAST_TIME = next(1 << bits for bits in range(40, 60) if not is_time(1 << bits))
_RISING = ("queue_offset", "commit_log_offset", "store_timestamp")
_RECURRING = ("topic", "queue_id", "bytes", "groups", "verdicts", "group", "outcome", "led_to", "client")


def room_for_files(folder: Path) -> Path:
    """The folder for files of tasks, which is there from now on; its parent is what the driver has made."""
    if not folder.parent.is_dir():
        folders = {"host": socket.gethostname(), "folder": str(folder.parent.parent)}
        problem = CoreError("worker_folder", folders).coded()  # to another process: see problem_of
        raise RuntimeError(json.dumps(problem))
    folder.mkdir(exist_ok=True)
    return folder


class Growing:
    """The rows of one table in their order. Without a folder all are in memory; else `most`, and the others in `path`.

    An attempt that fails leaves a file that nobody asks for.
    """

    def __init__(self, name: str, most: int, folder: Path | None) -> None:
        self.name, self.path = name, None if folder is None else folder / f"{name}-{uuid.uuid4().hex}.parquet"
        self.rows = 0
        self._room = most
        self._kept: list[pa.Table] = []
        self._waiting: list[pa.Table] = []  # for a whole row group
        self._writer: pq.ParquetWriter | None = None

    def add(self, table: pa.Table) -> None:
        self.rows += len(table)
        here = len(table) if self.path is None else min(self._room, len(table))
        self._room -= here
        if here:
            self._kept.append(table if here == len(table) else _of_few(table.slice(0, here)))
        if here < len(table):
            self._waiting.append(table.slice(here))
            if sum(map(len, self._waiting)) >= GROUP_ROWS:
                self._flush()

    def _flush(self) -> None:
        table, self._waiting = pa.concat_tables(self._waiting).unify_dictionaries(), []
        if self._writer is None:
            assert self.path is not None
            room_for_files(self.path.parent)
            self._writer = pq.ParquetWriter(
                self.path,
                table.schema,
                compression="zstd",
                use_dictionary=[name for name in _RECURRING if name in table.column_names],
                column_encoding={name: "DELTA_BINARY_PACKED" for name in _RISING if name in table.column_names},
                store_schema=False,  # a text that is kept once here is read as a text
            )
        self._writer.write_table(table, GROUP_ROWS)

    def close(self) -> tuple[pa.Table, list[Path]]:
        """What is in memory, and the file of the others, if there are any."""
        if self._waiting:
            self._flush()
        if self._writer is not None:
            self._writer.close()
        return joined(self.name, self._kept), [self.path] if self._writer is not None and self.path is not None else []


def _of_few(table: pa.Table) -> pa.Table:
    """The same rows without the texts of others."""
    columns = [
        column.cast(column.type.value_type).dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, table.column_names)


def joined(name: str, parts: Sequence[pa.Table]) -> pa.Table:
    """Parts of a table as one. Dictionaries stay dictionaries: most of a long table is texts that recur."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return SCHEMAS[name].empty_table()
    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


def kept_once(texts: Sequence[str], which: np.ndarray) -> pa.DictionaryArray:
    """A column of texts, which keeps each once; `which` of them is in each row, a negative number for null."""
    numbers: dict[str, int] = {}
    places = np.array([numbers.setdefault(text, len(numbers)) for text in texts] or [0], np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(places[which], mask=which < 0), pa.array(list(numbers), pa.string()))


def times(milliseconds: np.ndarray) -> pa.Array:
    """Instants; what no clock shows is null."""
    known = (milliseconds >= 0) & (milliseconds < LAST_TIME)
    return pa.array(np.where(known, milliseconds, 0) * 1_000, mask=~known).cast(TIME)
