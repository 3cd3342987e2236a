"""The rows of a Parquet file as lines of text: what its text columns say. Depends on no column's name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.base.errors import CoreError, refuse
from idcore.base.parquet_footer import metadata_of
from idcore.base.parquet_pages import begin_of, pages
from idcore.base.safe_text import size as size_in_words
from idcore.sources.unpack import ByteStream

_BATCH, _ROWS = 1 << 20, 2048  # bytes and rows of a row group that are turned into lines at once
_LARGEST = 16 << 20  # bytes of these lines where rows repeat long values; a single row may have more
# Bytes that a page may unpack to, and one of each column together. Writers make 1 MiB, or of long values 1,024 each.
_PAGE, _PAGES = 128 << 20, 256 << 20
_VALUES = 32 << 20  # in the lists of a column in a row group: a single row can have all of them


class _Lines(ByteStream):
    """Lines as a stream, made when they are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.lines = lines
        self.left = memoryview(b"")

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


def rows_as_text(file: Any, start: int = 0, stop: int = 1 << 62) -> Iterator[tuple[int, BinaryIO]]:
    """Number and lines of each row group that begins from `start` up to `stop`; one line a row.

    CoreError of one that would take much memory: a few bytes of a file can be gigabytes of text.
    """
    with _damage():
        table = pq.ParquetFile(file, metadata=metadata_of(file), pre_buffer=False)
        columns = [field.name for field in table.schema_arrow if holds_text(field.type)]
    for number in range(table.metadata.num_row_groups if columns else 0):
        group = table.metadata.row_group(number)
        if group.num_rows and start <= (begin_of(group.column(0)) or 0) < stop:
            with _damage():
                leaves = list(_leaves(group, columns))
                _refuse_large(file, leaves)
            yield number, cast(BinaryIO, _Lines(_lines_of_group(file, table, number, columns, leaves)))


def _leaves(group: Any, columns: list[str]) -> Iterator[tuple[Any, bool]]:
    """The columns of values that make the text, and whether each is in a list or a structure."""
    flat, tops = set(columns), tuple(f"{name}." for name in columns)
    for place in range(group.num_columns):
        column = group.column(place)
        if (name := column.path_in_schema) in flat or name.startswith(tops):
            yield column, name not in flat


def _refuse_large(file: BinaryIO, leaves: list[tuple[Any, bool]]) -> None:
    """CoreError where pages of these columns unpack to more than is held at once: of lists, all of a row group."""
    together = 0
    for column, is_nested in leaves:
        largest = size = values = 0
        for page in pages(file, column):
            largest, size, values = max(largest, page.size), size + page.size, values + page.values
        together += largest
        # In a list, a value may repeat the one before it (DELTA_BYTE_ARRAY) as often as it likes.
        lists = is_nested and (size > _PAGES or values > _VALUES or "DELTA_BYTE_ARRAY" in column.encodings)
        if largest > _PAGE or together > _PAGES or lists:
            raise refuse("parquet_large", most=size_in_words(_PAGE))


def _lines_of_group(
    file: Any, table: pq.ParquetFile, number: int, columns: list[str], leaves: list[tuple[Any, bool]]
) -> Iterator[bytes]:
    metadata = table.metadata.row_group(number)
    rows = min(_ROWS, _BATCH * metadata.num_rows // max(1, metadata.total_byte_size))
    with _damage():
        nested = [column.path_in_schema for column, is_nested in leaves if is_nested]
        longest = _longest(file, table.metadata, number, [column for column, is_nested in leaves if not is_nested])
        rows = max(1, min(rows, _LARGEST // max(1, longest)))
        if nested:  # their values are places in a dictionary until it is known how much text they are
            table = pq.ParquetFile(file, metadata=table.metadata, pre_buffer=False, read_dictionary=nested)
        for batch in table.iter_batches(rows, row_groups=[number], columns=columns, use_threads=False):
            for part in _parts(batch) if nested else (batch,):
                yield lines_of(part)


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Rows that are little enough text to be made at once; CoreError of a row that never is."""
    size = sum(_size_of(column) for column in batch.columns)
    if size <= _LARGEST or (batch.num_rows == 1 and size <= _PAGE):
        yield batch
    elif batch.num_rows == 1:
        raise refuse("parquet_large", most=size_in_words(_PAGE))
    else:
        half = batch.num_rows // 2
        yield from _parts(batch.slice(0, half))
        yield from _parts(batch.slice(half))


def _size_of(column: pa.Array) -> int:
    """Bytes of the text of a column, which is not made for it."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        lengths = pc.take(pc.binary_length(column.dictionary.cast(pa.large_binary())), column.indices)
        return pc.sum(lengths).as_py() or 0
    if pa.types.is_struct(kind):
        return sum(_size_of(part) for part in column.flatten() if holds_text(part.type))
    if pa.types.is_nested(kind):
        return _size_of(pc.list_flatten(_as_list(column)))
    return pc.sum(pc.binary_length(column.cast(pa.large_binary()))).as_py() or 0


@contextmanager
def _damage() -> Iterator[None]:
    """What Arrow says of a file in its own words becomes a sentence; what the system says of it stays.

    Of a footer whose schema and columns have two names for one, it says KeyError.
    """
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, LookupError) as error:
        if isinstance(error, CoreError | MemoryError) or getattr(error, "errno", None) is not None:
            raise
        raise refuse("parquet_damaged") from error


def _longest(file: Any, metadata: Any, number: int, leaves: list[Any]) -> int:
    """Bytes of a row in which each column repeats its longest value: a few bytes of a file can be each of them.

    They do so as places in a dictionary, which is read alone, or as what is the same in the value before.
    """
    longest = 0
    packed = [column.path_in_schema for column in leaves if column.has_dictionary_page]
    for column in leaves:
        if "DELTA_BYTE_ARRAY" in column.encodings:
            longest += max((page.size for page in pages(file, column)), default=0)
    if packed:
        table = pq.ParquetFile(file, metadata=metadata, pre_buffer=False, read_dictionary=packed)
        first = next(table.iter_batches(1, row_groups=[number], columns=packed, use_threads=False), None)
        for values in first.columns if first is not None else ():
            if pa.types.is_dictionary(values.type):
                longest += pc.max(pc.binary_length(values.dictionary)).as_py() or 0
            elif pa.types.is_fixed_size_binary(values.type):
                longest += values.type.byte_width
    return longest


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
    if pa.types.is_nested(kind):
        column = _as_list(column)
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        offsets = pa.array([0, *lengths.cumsum().tolist()], pa.int64())
        values = text_of(pc.list_flatten(column))
        return pc.binary_join(pa.LargeListArray.from_arrays(offsets, values), pa.scalar(b" ", pa.large_binary()))
    return pc.fill_null(column.cast(pa.large_binary()), b"")


def _as_list(column: pa.Array) -> pa.Array:
    """A map as the list of its pairs; lists as they are."""
    if not pa.types.is_map(column.type):
        return column
    pair = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
    return column.cast(pa.list_(pair))
