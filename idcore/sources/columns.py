"""The rows of a Parquet file as lines of text: what its text columns say. Depends on no column's name."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.base.errors import CoreError, refuse

_BATCH, _ROWS = 1 << 20, 2048  # bytes and rows of a row group that are turned into lines at once
_LARGEST = 16 << 20  # bytes of these lines where rows repeat long values; a single row may have more
_PAGE = 1 << 20  # bytes that writers put into a page, and so into a value


class _Lines(io.RawIOBase):
    """Lines as a stream, made when they are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.lines = lines
        self.left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self.left:
            more = next(self.lines, None)
            if more is None:
                return b""
            self.left = memoryview(more)
        size = len(self.left) if size < 0 else size
        data = bytes(self.left[:size])
        self.left = self.left[size:]
        return data

    def readinto(self, view: Any) -> int:
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)


def rows_as_text(file: Any, start: int = 0, stop: int = 1 << 62) -> Iterator[tuple[int, BinaryIO]]:
    """Number and lines of each row group that begins from `start` up to `stop`; one line a row."""
    with _damage():
        table = pq.ParquetFile(file, pre_buffer=False)
    columns = [field.name for field in table.schema_arrow if holds_text(field.type)]
    for group in range(table.metadata.num_row_groups if columns else 0):
        told = table.metadata.row_group(group)
        if start <= _begins(told) < stop and told.num_rows:
            yield group, cast(BinaryIO, _Lines(_lines_of_group(file, table, group, columns)))


def _lines_of_group(file: Any, table: pq.ParquetFile, number: int, columns: list[str]) -> Iterator[bytes]:
    told = table.metadata.row_group(number)
    rows = min(_ROWS, _BATCH * told.num_rows // max(1, told.total_byte_size))
    with _damage():
        rows = max(1, min(rows, _LARGEST // max(1, _longest(file, table.metadata, number, columns))))
        for batch in table.iter_batches(rows, row_groups=[number], columns=columns, use_threads=False):
            yield lines_of(batch)


@contextmanager
def _damage() -> Iterator[None]:
    """What Arrow says of a file in its own words becomes a sentence; what the system says of it stays."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, CoreError | MemoryError) or getattr(error, "errno", None) is not None:
            raise
        raise refuse("parquet_damaged") from error


def _longest(file: Any, metadata: Any, number: int, columns: list[str]) -> int:
    """Bytes of a row in which each column repeats its longest value: a few bytes of a file can be each of them.

    They do so as places in a dictionary, which is read alone, or as what is the same in the value before.
    """
    longest, group = 0, metadata.row_group(number)
    for place in range(group.num_columns):
        column = group.column(place)
        name = column.path_in_schema
        if name not in columns:  # of a list or a structure
            continue
        if "DELTA_BYTE_ARRAY" in column.encodings:
            longest += min(_PAGE, column.total_uncompressed_size)
        elif column.has_dictionary_page:
            table = pq.ParquetFile(file, metadata=metadata, pre_buffer=False, read_dictionary=[name])
            first = next(table.iter_batches(1, row_groups=[number], columns=[name], use_threads=False), None)
            if first is None:
                continue
            kind = first.schema.field(0).type
            if pa.types.is_dictionary(kind):
                longest += pc.max(pc.binary_length(first.column(0).dictionary)).as_py() or 0
            elif pa.types.is_fixed_size_binary(kind):
                longest += kind.byte_width
    return longest


def _begins(group: Any) -> int:
    """Where the first column of a row group is; its own place is not written by every writer."""
    column = group.column(0)
    places = [column.data_page_offset, column.dictionary_page_offset]
    return min(place for place in places if place is not None and place > 0)


def holds_text(kind: pa.DataType) -> bool:
    """Text, also in lists, maps and structures."""
    if pa.types.is_dictionary(kind):
        return holds_text(kind.value_type)
    if pa.types.is_nested(kind):
        return any(holds_text(kind.field(place).type) for place in range(kind.num_fields))
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def lines_of(batch: pa.RecordBatch) -> bytes:
    """A line for each row, its values with tabs between them."""
    joined = _joined([text_of(column) for column in batch.columns], b"\t")
    ended = pc.binary_join_element_wise(joined, pa.scalar(b"\n", pa.large_binary()), pa.scalar(b"", pa.large_binary()))
    offsets = np.frombuffer(ended.buffers()[1], np.int64)
    first, last = (int(offsets[ended.offset + at]) for at in (0, len(ended)))
    return ended.buffers()[2][first:last].to_pybytes()  # type: ignore[no-any-return]


def _joined(columns: list[pa.Array], mark: bytes) -> pa.Array:
    if len(columns) == 1:
        return columns[0]
    return pc.binary_join_element_wise(*columns, pa.scalar(mark, pa.large_binary()))


def text_of(column: pa.Array) -> pa.Array:
    """The text of each value, without nulls."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return text_of(column.dictionary_decode())
    if pa.types.is_struct(kind):
        parts = [part for part in column.flatten() if holds_text(part.type)]
        return _joined([text_of(part) for part in parts], b" ")
    if pa.types.is_map(kind):
        pair = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        column = column.cast(pa.list_(pair))
    if pa.types.is_nested(kind):
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        offsets = pa.array([0, *lengths.cumsum().tolist()], pa.int64())
        values = text_of(pc.list_flatten(column))
        return pc.binary_join(pa.LargeListArray.from_arrays(offsets, values), pa.scalar(b" ", pa.large_binary()))
    return pc.fill_null(column.cast(pa.large_binary()), b"")
