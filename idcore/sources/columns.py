"""The rows of a Parquet file as lines of text: what its text columns say. Depends on no column's name."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_BATCH, _ROWS = 1 << 20, 2048  # bytes and rows of a row group that are turned into lines at once


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
    table = pq.ParquetFile(file, pre_buffer=False)
    columns = [field.name for field in table.schema_arrow if holds_text(field.type)]
    for group in range(table.metadata.num_row_groups if columns else 0):
        told = table.metadata.row_group(group)
        if start <= _begins(told) < stop and told.num_rows:
            rows = max(1, min(_ROWS, _BATCH * told.num_rows // max(1, told.total_byte_size)))
            batches = table.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False)
            yield group, cast(BinaryIO, _Lines(lines_of(batch) for batch in batches))


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
