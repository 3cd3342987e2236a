"""What the records of a scanned store show about ids that it has more than once. Reads by offset; judges nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from idcore.answers.lookup.copies import is_special
from idcore.base.errors import CoreError
from idcore.base.layout import OFFSET_DIGITS
from idcore.rocketmq.message import Host, Record, decode_record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.store.files import Reading
from idcore.scan.lines import LineEvidence
from idcore.scan.lines import Record as Line
from idcore.scan.record_clocks import Stamp
from idcore.sources.inputs import InputFile

# So many ids are looked at, spread evenly over all: a scan of a gigabyte, which takes two seconds, can spare a tenth.
MOST_IDS = 2_000
_MOST_FILES, _OF_FILE = 16, 120  # files of the log, and records of each, whose times are looked at
_MOST_COPIES = 16  # of one id: a batch of 5.x may have thousands
_FIRST, _LARGEST = 4 << 10, 16 << 20  # bytes read of a record at first, and at most
# Marks of a record that a broker or a consumer made from another one, as `lines` has them; the clearest mark first.
_AGAIN = (
    ("transaction", (names.PREPARED,)),
    ("retry", (names.RECONSUME_TIME, names.ORIGIN_MESSAGE_ID, names.RETRY_TOPIC)),
    ("delay", (names.DELAY, names.REAL_TOPIC, "TIMER_DELAY_MS", "TIMER_DELAY_SEC", "TIMER_DELIVER_MS", "TIMER_OUT_MS")),
)


def look(files: Sequence[InputFile], copies: pa.Table, check: Callable[[], None] = lambda: None) -> LineEvidence:
    """The records behind the offsetMsgIds of some rows of `copies`, and the clocks of records spread over the log.

    `check` is called with each, and may raise.
    """
    evidence = LineEvidence(whole=copies.num_rows <= MOST_IDS)
    count = min(copies.num_rows, MOST_IDS)
    chosen = [number * copies.num_rows // count for number in range(count)] if count else []
    reading = Reading(files[0].roots if files else None)
    try:
        log = _Log(files, reading)
        for row in copies.take(pa.array(chosen, pa.int64())).to_pylist():
            check()
            lines = dict(_lines_of(log, row["msg_id"], row["offset_msg_ids"].split(",")[:_MOST_COPIES]))
            if lines:
                evidence.records[row["msg_id"]] = lines
        for broker, stamp in log.stamps(check):
            evidence.stamps.setdefault(broker, []).append(stamp)
    finally:
        reading.close()
    return evidence


class _Log:
    """The files of a commit log by the offset at which they begin."""

    def __init__(self, files: Sequence[InputFile], reading: Reading) -> None:
        self._paths = {int(Path(file.path).name): Path(file.path) for file in files if not file.error}
        self._starts = sorted(self._paths)
        self._reading = reading
        self._brokers: dict[Host, str] = {}

    def broker(self, record: Record) -> str:
        """What the offsetMsgId of a record begins with: its store host."""
        if record.store_host not in self._brokers:
            self._brokers[record.store_host] = str(record.offset_id)[:-OFFSET_DIGITS]
        return self._brokers[record.store_host]

    def record(self, offset: int) -> Record | None:
        """The record that says that it begins there; None where the record does not exist, or cannot be read now."""
        place = bisect_right(self._starts, offset) - 1
        if place < 0:
            return None
        start = self._starts[place]
        try:
            raw = self._reading.read(self._paths[start], offset - start, _FIRST)
            size = int.from_bytes(raw[:4], "big")
            if len(raw) < size <= _LARGEST:
                raw = self._reading.read(self._paths[start], offset - start, size)
            record = decode_record(raw)
        except (OSError, CoreError):
            return None
        return record if record.physical_offset == offset else None

    def stamps(self, check: Callable[[], None]) -> Iterator[tuple[str, Stamp]]:
        """Broker and times of the first records of some files, spread evenly over all; without copies."""
        starts = self._starts
        count = min(len(starts), _MOST_FILES)
        for number in range(count):
            offset = starts[number * len(starts) // count]
            for _ in range(_OF_FILE):
                check()
                record = self.record(offset)
                if record is None:
                    break
                offset += record.size
                if not _is_copy(record):
                    yield str(record.store_host), _stamp_of(record)


def _is_copy(record: Record) -> bool:
    marked = any(not record.properties.keys().isdisjoint(names) for _, names in _AGAIN)
    copied = record.reconsume_times > 0 or record.prepared_transaction_offset > 0
    return copied or marked or is_special(record.topic) or not (record.born_timestamp and record.store_timestamp)


def _stamp_of(record: Record) -> Stamp:
    return Stamp(
        record.born_timestamp,
        record.store_timestamp,
        record.physical_offset,
        record.born_host.java_host,
        None,
        record.properties.get(names.UNIQ_KEY, ""),
    )


def _lines_of(log: _Log, msg_id: str, offsets: Sequence[str]) -> Iterator[tuple[str, Line]]:
    for text in offsets:
        record = log.record(int(text[-OFFSET_DIGITS:], 16))
        if record is None or log.broker(record) != text[:-OFFSET_DIGITS]:
            continue
        properties = record.properties
        if properties.get(names.UNIQ_KEY, "").upper() == msg_id:
            yield text, _line_of(record, properties)


def _line_of(record: Record, properties: Mapping[str, str]) -> Line:
    marks = {"transaction": record.prepared_transaction_offset > 0, "retry": record.reconsume_times > 0}
    again = (why for why, marked in _AGAIN if marks.get(why) or not properties.keys().isdisjoint(marked))
    return Line(
        record.topic,
        record.born_timestamp,
        record.born_host.java_host,
        record.store_timestamp,
        record.size,
        record.body_crc,
        properties.get(names.KEYS),
        next(again, ""),
    )
