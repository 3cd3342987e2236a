"""How much the pages of a Parquet file unpack to, by their headers, before Arrow believes them. Unpacks nothing.

A page of a few bytes can say that it is 2 GiB, and Arrow makes that room at once. The footer may say less, so that it
proves nothing. https://parquet.apache.org/docs/file-format/data-pages, in Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from idcore.base.errors import refuse

_FIRST, _MOST = 1 << 9, 1 << 20  # bytes of a header: without statistics some 30
_DEEPEST = 3  # a header, that of its kind of page, its statistics
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 6, 7, 8, 12
_DATA, _DATA_2 = 5, 8  # fields of a header with what only data pages have; the first of each are its values


MOST_PAGES = 1 << 16  # of a column in a row group: of a gigabyte, Arrow and Spark write a thousand


class Page(NamedTuple):
    """Bytes unpacked, and values."""

    size: int
    values: int


def begin_of(column: Any) -> int | None:
    """Where the pages of a column in a row group begin; None of one without pages, as Arrow writes no rows."""
    places = [column.data_page_offset, column.dictionary_page_offset]
    return min((place for place in places if place is not None and place > 0), default=None)


def pages(file: BinaryIO, column: Any) -> Iterator[Page]:
    """The pages of a column in a row group, as Arrow finds them; CoreError where a header is none."""
    at, count = begin_of(column), 0
    if at is None:
        if column.num_values or column.total_compressed_size:
            raise refuse("parquet_damaged")
        return
    end = at + column.total_compressed_size
    while at < end:
        if (count := count + 1) > MOST_PAGES:
            raise refuse("parquet_damaged")
        fields, length = _header(file, at)
        size, packed = fields.get(2), fields.get(3)
        if not isinstance(size, int) or not isinstance(packed, int) or size < 0 or packed < 0:
            raise refuse("parquet_damaged")
        header = fields.get(_DATA) or fields.get(_DATA_2) or {}
        values = header.get(1) if isinstance(header, dict) else None
        yield Page(size, values if isinstance(values, int) else 0)
        at += length + packed


def _header(file: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """The fields of the header at a place, and its length."""
    wanted = _FIRST
    while wanted <= _MOST:
        file.seek(at)
        raw = b""
        while len(raw) < wanted and (more := file.read(wanted - len(raw))):
            raw += more
        try:
            return _struct(raw, 0, 1)
        except IndexError:  # it goes on
            if len(raw) < wanted:
                break
        wanted <<= 4
    raise refuse("parquet_damaged")


def _struct(raw: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    fields: dict[int, Any] = {}
    number = 0
    while head := raw[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _number(raw, at)
        fields[number], at = _value(raw, at, head & 15, depth)
    return fields, at + 1


def _value(raw: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return raw[at], at + 1
    if _BYTE < kind <= _I64:
        return _number(raw, at)
    if kind == _DOUBLE:
        return None, at + 8
    if kind == _BINARY:
        length, at = _varint(raw, at)
        return None, at + length
    if kind == _STRUCT and depth < _DEEPEST:
        return _struct(raw, at, depth + 1)
    raise refuse("parquet_damaged")


def _number(raw: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(raw, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 64:
        byte = raw[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise refuse("parquet_damaged")
