"""Trace records of a store to the attempts of consumers: read in the splits, paired on the driver. Judges nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.lookup.hidden_copies import holds_copies
from idcore.base.errors import CoreError
from idcore.kernels.fates import UNKNOWN
from idcore.rocketmq.message.record import decode_record
from idcore.rocketmq.message.trace import SubAfter, SubBefore, read_trace
from idcore.rocketmq.message.validators import is_trace_topic
from idcore.scan.fates import TraceTopics, hashes_of

MOST_BYTES = 32 << 20  # trace records that are read, about: 250,000 contexts of 700 bytes in memory; packed ones more
_CHUNK = 1 << 14
_TEXT, _SMALL, _LONG = "\1([^\1]*)", "\1(0|[1-9][0-9]{0,8})", "\1(0|[1-9][0-9]{0,17})"
_LEFT_OUT = "\1[^\1]*"
_BEFORE = re.compile(f"SubBefore{_LONG}{_LEFT_OUT}{_TEXT}{_TEXT}{_TEXT}{_SMALL}{_LEFT_OUT}(?:{_TEXT})?")
_AFTER = re.compile(f"SubAfter{_TEXT}{_TEXT}\1(?:0|[1-9][0-9]{{0,8}})\1(true|false){_LEFT_OUT}{_SMALL}{_LONG}{_TEXT}")
_SCHEMA = pa.schema(
    [
        ("place", pa.int64()),
        ("begins", pa.bool_()),
        ("msg_id", pa.string()),
        ("request", pa.string()),
        ("group", pa.string()),
        ("time", pa.int64()),
        ("retry_times", pa.int32()),
        ("success", pa.bool_()),
        ("code", pa.int32()),
        ("client", pa.string()),
    ]
)


class Contexts:
    """The begins and ends of attempts in the trace records of one split."""

    def __init__(self) -> None:
        self._records = 0
        self._rows: list[tuple[Any, ...]] = []
        self._batches: list[pa.RecordBatch] = []

    def add(self, record: bytes) -> None:
        """The contexts of one record; what is wrong with one of them does not take the others with it."""
        self._records += 1
        try:
            read = decode_record(record)
            body = read.plain_body()
        except CoreError:
            return  # a body in the log that is not a trace; the scan itself reports damage
        place, born = read.physical_offset, str(read.born_host)
        rows = _plain(body, place, born)
        self._rows += _rows(body, place, born) if rows is None else rows
        if len(self._rows) >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, each.type) for column, each in zip(columns, _SCHEMA, strict=True)]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA))
        self._rows = []

    def pack(self) -> bytes:
        """All of them, and of how many records."""
        if self._rows:
            self._flush()
        sink, schema = pa.BufferOutputStream(), _SCHEMA.with_metadata({"records": str(self._records)})
        with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            for batch in self._batches:
                writer.write_batch(batch.replace_schema_metadata(schema.metadata))
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _rows(body: bytes, place: int, born: str) -> Iterator[tuple[Any, ...]]:
    """The begins and ends in one body; what is wrong with one of its contexts does not take the others with it."""
    for item in read_trace(body):
        if isinstance(item, SubBefore):
            yield (
                place,
                True,
                item.msg_id,
                item.request_id,
                item.group,
                item.time_ms,
                item.retry_times,
                None,
                None,
                item.client_host or born,
            )
        elif isinstance(item, SubAfter):
            yield (
                place,
                False,
                item.msg_id,
                item.request_id,
                item.group,
                item.time_ms,
                None,
                item.success,
                item.code,
                born,
            )


def _plain(body: bytes, place: int, born: str) -> list[tuple[Any, ...]] | None:
    """The same, several times as fast, of a body as clients of 4.8.0 and later write it; None of any other."""
    try:
        *contexts, rest = body.decode().split("\2")
    except UnicodeDecodeError:
        return None
    rows: list[tuple[Any, ...]] = []
    for context in contexts:
        if match := _BEFORE.fullmatch(context):
            at, group, request, msg_id, tries, client = match.groups()
            group, client = None if group == "null" else group, None if client == "null" else client
            rows.append((place, True, msg_id, request, group, int(at), int(tries), None, None, client or born))
        elif match := _AFTER.fullmatch(context):
            request, msg_id, success, code, at, group = match.groups()
            group = None if group == "null" else group
            rows.append((place, False, msg_id, request, group, int(at), None, success == "true", int(code), born))
        elif not context.startswith("Pub\1"):
            return None
    return None if rest else rows


def topics_of(topics: pa.Table) -> TraceTopics | None:
    """The trace topics among those of a scan, by their names; of very many records the newest part.

    A topic of an application may be named like one: then those whose names are certain have all the room.
    """
    every = [row for row in topics.to_pylist() if not holds_copies(row["topic"])]
    rows = [row for row in every if is_trace_topic(row["topic"]) or "TRACE" in row["topic"].upper()]
    if sum(row["bytes"] for row in rows) > MOST_BYTES:
        rows = [row for row in rows if is_trace_topic(row["topic"])] or rows
    if not rows:
        return None
    first, end = min(row["min_offset"] for row in rows), max(row["max_offset"] for row in rows) + 1
    # Traces come as evenly as messages do, so the part of the log that has so many is known before it is read.
    share = min(1.0, MOST_BYTES / max(1, sum(row["bytes"] for row in rows)))
    names, records = sorted({row["topic"] for row in rows}), sum(row["messages"] for row in rows)
    return TraceTopics(names, records, end - round(share * (end - first)), Contexts)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Calls of listeners, as the traces have them, in the order of the log; UNKNOWN for numbers that they do not have.

    `keys` has the hashes of the messages' keys, as copies have them. `success` is -1 without an end. `place` is the
    physical offset of the record with the end, or else the begin.
    """

    keys: np.ndarray
    group: pa.Array
    retry_times: np.ndarray
    began: np.ndarray
    ended: np.ndarray
    success: np.ndarray
    code: np.ndarray
    place: np.ndarray
    client: pa.Array
    records: int = 0


def attempts_of(packed: Iterable[bytes | pa.Buffer]) -> Attempts:
    """Begins and ends of the splits as attempts; a context that was stored twice counts once."""
    read = [pa.ipc.open_stream(data).read_all() for data in packed]
    records = sum(int(table.schema.metadata[b"records"]) for table in read)
    whole = pa.concat_tables([_SCHEMA.empty_table(), *(table.replace_schema_metadata() for table in read)])
    whole = whole.combine_chunks()
    pairs = pc.binary_join_element_wise(whole["request"], whole["msg_id"], "\1").combine_chunks().dictionary_encode()
    codes, count = pairs.indices.to_numpy(), len(pairs.dictionary)
    begins = whole["begins"].to_numpy()
    begin, end = (_first(codes, count, np.flatnonzero(each)) for each in (begins, ~begins))
    either = np.where(begin >= 0, begin, end)

    def text(name: str, *order: np.ndarray) -> pa.Array:
        column = whole[name].combine_chunks()
        return pc.coalesce(*(column.take(pa.array(each, mask=each < 0)) for each in order))

    def number(name: str, at: np.ndarray) -> np.ndarray:
        column = whole[name].cast(pa.int64()).fill_null(UNKNOWN).to_numpy()
        return np.where(at >= 0, np.append(column, UNKNOWN)[at], UNKNOWN)

    success = number("success", end)
    return Attempts(
        hashes_of(text("msg_id", either)),
        text("group", begin, end),
        number("retry_times", begin),
        number("time", begin),
        number("time", end),
        np.where(success == UNKNOWN, -1, success),
        number("code", end),
        number("place", np.where(end >= 0, end, begin)),
        text("client", either),
        records,
    )


def _first(codes: np.ndarray, count: int, rows: np.ndarray) -> np.ndarray:
    """The first of the rows with each code; -1 for none."""
    first = np.full(count, -1, np.int64)
    first[codes[rows[::-1]]] = rows[::-1]
    return first
