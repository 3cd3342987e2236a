"""Topics of Kafka as growing files: Spark's Kafka source reads records, the driver appends them, `follow` reads files.

So lines, places and evidence of a topic are those of a log. Offsets are in Spark's checkpoint. A batch that comes twice
is the same bytes once more: what of them is in the file already is not appended again.
"""

from __future__ import annotations

import configparser
import hashlib
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from idcore.base.errors import CoreError, coded, refuse
from idcore.base.open_folders import own_file
from idcore.policy import settings
from idcore.runs.background_run import Ask, permitted
from idcore.runs.runs import TOPICS_BYTES, write_text
from idcore.sources.growing_files import BEGINNING
from idcore.sources.uris import topics
from idcore.spark.start.jvm import kafka_jars

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

Unread = Callable[[], Mapping[Path, int]]
LOG = logging.getLogger(__name__)
FILE_BYTES = 256 << 20  # from which on a partition goes on in its next file, or less where there are many of them
KEPT_BYTES = TOPICS_BYTES  # of all files of a run; the oldest ones go when they were read
# Records of a batch, all of which Java holds at once: as many as have room by the mean of those before. Nobody knows
# the first ones, and a megabyte is what a broker takes. Java ended by 2,600 of these, and with it all scans.
BATCH, FIRST = 200_000, 250
BATCH_BYTES = 128 << 20
HELD_BYTES = 256 << 20  # of a batch: one that has more is planned again with fewer records, and of one record no more
SHORT = HELD_BYTES // BATCH  # bytes of each value that are read before it is known how long all are
_OF_RECORD = ("topic", "partition", "offset")
# A task unpacks so many records ahead, keys and headers too: a batch of a megabyte may unpack to one for each.
_POLLED = {"kafka.max.poll.records": "10"}
_NUMBERED = len(".00001.log")
LONGEST_NAME = 200  # bytes of a topic in the name of a file
TRIGGER = "300 milliseconds"  # between two batches, where the one before has ended
AGAIN = 5.0  # seconds until a query that failed is begun again
PATIENCE, LASTING = 60.0, 600.0  # seconds without an answer after which it ends: of the first one, of a later one
POLL_SECONDS = 0.2  # seconds between two looks at whether there is room
_CONTINUED = re.compile(r"\\\n[ \t]*")
_CAUSE = re.compile(r"terminated with exception: (.*?)(?: SQLSTATE: \w+)?$")
_TIMES = {"kafka.request.timeout.ms": "20000", "kafka.default.api.timeout.ms": "30000"}


@dataclass(slots=True)
class _Written:
    """What is in the files of one partition: the last batch, and up to which byte of which file it goes.

    Offsets say less: a topic that is made again begins at 0 once more. `next` is the offset behind the last record;
    `missed` are offsets of such a topic that Spark has passed over, because it was further on in the one before.
    """

    batch: int = -1
    file: int = 1
    bytes: int = 0
    next: int = 0
    missed: int = 0

    @classmethod
    def read(cls, note: Path) -> _Written:
        return cls(**json.loads(note.read_text(encoding="utf-8"))) if note.exists() else cls()


class Records:
    """The records of topics, appended to files in a folder: for each partition its own, for each record a line.

    `home` keeps what is needed to go on after a restart. `unread` says how many bytes of which files nobody has read.
    `ask` is called before records are written down.
    """

    def __init__(
        self,
        uri: str,
        folder: Path,
        home: Path,
        since: str | datetime,
        unread: Unread = dict,
        ask: Ask = permitted,
    ) -> None:
        self.servers, self.names = topics(uri)
        if not kafka_jars():
            raise CoreError("kafka_jars")
        self.folder, self._notes = folder.absolute(), home / "records"
        self._checkpoint = str((home / "kafka").absolute())
        self._options = _TIMES | _properties() | _POLLED | _starting(since)
        self._options |= {"kafka.bootstrap.servers": self.servers, "subscribe": ",".join(self.names)}
        self._options |= {"failOnDataLoss": "false"}
        self._at_once = FIRST
        self._query: StreamingQuery | None = None
        self._unread, self._ask, self._has_ended = unread, ask, False
        self.away = ""  # why Kafka does not answer now
        self._problem: CoreError | None = None
        self._lock = threading.Lock()
        self._began, self._failed, self._answered = 0.0, 0.0, False
        self._partitions, self._mean = 1, 0.0  # of the last batch; bytes of a record
        self._most = BATCH  # records of a batch, fewer for a while after one that was too large
        self._too_large: int | None = None  # its number: it is to be planned again

    def watch(self, sql: SparkSession) -> None:
        """Begins to read, and begins again where that has ended: a server that does not answer is asked again.

        CoreError kafka_failed where there is no answer for long; what went wrong with the files is raised at once.
        """
        query, now = self._query, time.monotonic()
        if self._problem is not None:
            raise self._problem.without_stack()
        if query is not None and query.isActive:
            if query.lastProgress is not None:
                self._answered, self._failed, self.away = True, 0.0, ""
            if self._room() // 4 <= self._at_once <= self._room():
                return
            self._has_ended = True  # also who waits for room
            query.stop()  # a batch that is broken off comes again
        elif query is not None and self._too_large is not None:
            for name in (f"{self._too_large}", f".{self._too_large}.crc"):  # the offsets that Spark has planned for it
                Path(self._checkpoint, "offsets", name).unlink(missing_ok=True)
            self._too_large = None
        elif query is not None:
            self.away = why = _cause(query)
            if not self._failed:
                self._failed = now
                LOG.warning("Kafka is asked again: %s", why)
            if now - self._failed > (LASTING if self._answered else PATIENCE):
                raise CoreError("kafka_failed", {"servers": self.servers, "names": ", ".join(self.names), "why": why})
            if now - self._began < AGAIN:
                return
        self._began, self._has_ended, self._at_once = now, False, self._room()
        most = str(self._at_once)
        stream = sql.readStream.format("kafka").options(**self._options, maxOffsetsPerTrigger=most).load()
        written = stream.select("topic", "partition", "offset", "value").writeStream.foreachBatch(self._take)
        self._query = written.option("checkpointLocation", self._checkpoint).trigger(processingTime=TRIGGER).start()

    def _room(self) -> int:
        """How many records a batch may have."""
        return max(1, min(self._most, int(BATCH_BYTES / self._mean))) if self._mean else FIRST

    def end(self, is_there: bool) -> None:
        """No record is read any more; `is_there`: Java still is."""
        self._has_ended = True
        if self._query is not None and is_there:
            self._query.stop()
        self._query = None

    def behind(self) -> int:
        """Bytes of records that Kafka has and that are in no file: an estimate, by the mean of the last batch."""
        progress = self._query.lastProgress if self._query is not None else None
        if not progress:
            return 0
        metrics = progress["sources"][0].get("metrics") or {}
        records = float(metrics.get("avgOffsetsBehindLatest", 0)) * self._partitions
        return round(records * self._mean)

    def left_out(self) -> dict[str, str]:
        """Partitions of topics that were made again meanwhile, of which records are missing, with a coded error."""
        every = {note.stem: _Written.read(note).missed for note in self._notes.glob("*.json")}
        return {
            name: json.dumps(CoreError("kafka_made_again", {"missed": missed}).coded())
            for name, missed in every.items()
            if missed
        }

    def _take(self, batch: DataFrame, number: int) -> None:
        self._ask()
        rows = self._read(batch, number)
        if not rows.num_rows:
            return
        records = zip(*(rows[name].to_pylist() for name in (*_OF_RECORD, "value")), strict=True)
        parts = [
            (where, [(offset, value) for _, _, offset, value in some])
            for where, some in groupby(records, itemgetter(0, 1))
        ]
        try:
            with self._lock:  # a query that was stopped may still be here when the next one brings its batch again
                most = self._make_room()
                for (topic, partition), some in parts:
                    self._append(f"{_short(topic)}-{partition}", some, number, most)
        except (OSError, ValueError) as error:
            self._problem = coded(error)
            raise
        self._partitions, self._mean = len(parts), rows.nbytes / rows.num_rows

    def _read(self, batch: DataFrame, number: int) -> pa.Table:
        """The records of a batch, in their order. RuntimeError where they have no room: it is planned again."""
        rows = _records(batch, SHORT)
        size, longest = (what(rows["size"]).as_py() or 0 for what in (pc.sum, pc.max))
        if size > HELD_BYTES and self._at_once > 1:
            self._mean, self._too_large = size / rows.num_rows, number
            self._most = min(self._at_once // 2, self._room())
            raise RuntimeError(f"a batch of {size} bytes is planned again")
        if longest > SHORT:  # a partition gives one record at least
            rows = _records(batch, longest if size <= HELD_BYTES else HELD_BYTES // rows.num_rows)
        self._most = min(BATCH, 2 * self._most)
        return rows

    def _make_room(self) -> int:
        """Waits until most of what is here was read, and removes the oldest files where all together are too large.

        Never one that was not read, or that is being written. Returns the bytes from which on a file is not continued.
        """
        for place in (self.folder, self._notes):
            place.mkdir(parents=True, exist_ok=True)
        while sum(self._unread().values()) > KEPT_BYTES // 2 and not self._has_ended:
            time.sleep(POLL_SECONDS)
        files = sorted((path.stat().st_mtime_ns, path.stat().st_size, path) for path in self.folder.glob("*.log"))
        size, unread = sum(size for _, size, _ in files), self._unread()
        last = {path.name[:-_NUMBERED]: path for _, _, path in sorted(files, key=itemgetter(2))}
        for _, own, path in files:
            if size > KEPT_BYTES and not unread.get(path) and path not in last.values():
                path.unlink()
                size -= own
        return min(FILE_BYTES, KEPT_BYTES // (4 * max(1, len(last))))

    def _append(self, name: str, records: list[tuple[int, bytes | None]], number: int, most: int) -> None:
        """Records of one partition with their offsets, in their order; a record without a value is none."""
        place = self._notes / f"{name}.json"
        written = _Written.read(place)
        if number <= written.batch:
            return
        if records[0][0] < written.next:
            written.missed += records[0][0]
        written.next = records[-1][0] + 1
        data = b"".join(value.rstrip(b"\r\n") + b"\n" for _, value in records if value)
        with open(self.folder / f"{name}.{written.file:05}.log", "a+b", opener=own_file) as file:
            file.seek(written.bytes)
            half = file.read()  # of this batch, from a driver that was killed
            if data.startswith(half):
                data = data[len(half) :]
            elif not half.endswith(b"\n"):
                data = b"\n" + data  # Kafka has let go of some of it meanwhile
            file.write(data)
            file.flush()
            written.bytes = file.tell()
        written.batch = number
        if written.bytes >= most:
            written.file, written.bytes = written.file + 1, 0
        write_text(place, json.dumps(asdict(written)))


def _records(batch: DataFrame, most: int) -> pa.Table:
    """So many bytes of the value of each record, and how many it has (`size`)."""
    value = f"substring(value, 1, {most}) AS value"
    rows = batch.selectExpr(*_OF_RECORD, value, "octet_length(value) AS size").toArrow()
    return rows.sort_by([(name, "ascending") for name in _OF_RECORD])


def _short(topic: str) -> str:
    """A topic in the name of a file: a long one is cut, and told apart by a digest."""
    if len(topic) <= LONGEST_NAME:
        return topic
    return f"{topic[:LONGEST_NAME]}-{hashlib.blake2b(topic.encode(), digest_size=4).hexdigest()}"


def _cause(query: StreamingQuery) -> str:
    """Why a query has ended, without what Spark says around it; and what Kafka's client says last."""
    message = str(query.exception()).strip()
    first = message.partition("\n")[0]
    match = _CAUSE.search(first)
    causes = re.findall(r"^Caused by: (?:[\w.]+\.)?(\w.*)$", message, re.MULTILINE)
    return " ".join(dict.fromkeys([match[1] if match else first, *causes[-1:]]))[:300]


def _starting(since: str | datetime) -> dict[str, str]:
    if isinstance(since, str):
        return {"startingOffsets": "earliest" if since == BEGINNING else "latest"}
    at = round(since.timestamp() * 1000)
    return {"startingTimestamp": str(at), "startingOffsetsByTimestampStrategy": "latest"}


def _properties() -> dict[str, str]:
    """What the administrator tells Kafka's clients: `security.protocol=SASL_SSL` and so on.

    A line that ends with a backslash goes on in the next one.
    """
    place = settings.current().kafka_properties
    if place is None:
        return {}
    read = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#", "!"), strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        read.read_string("[kafka]\n" + _CONTINUED.sub("", place.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        why = coded(error) if isinstance(error, OSError) else "not lines of NAME=VALUE"
        raise refuse("kafka_properties", path=str(place), why=why) from None
    return {f"kafka.{name}": value for name, value in read["kafka"].items()}
