"""Topics of Kafka as growing files: Spark's Kafka source reads records, the driver appends them, `follow` reads files.

So lines, places and evidence of a topic are those of a log. Offsets are in Spark's checkpoint. A batch that comes twice
is the same bytes once more: what of them is in the file already is not appended again.
"""

from __future__ import annotations

import configparser
import json
import logging
import re
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from idcore.base.errors import CoreError, coded, refuse
from idcore.policy import settings
from idcore.runs.runs import write_text
from idcore.sources.growing_files import BEGINNING
from idcore.sources.uris import topics
from idcore.spark.start.jvm import kafka_jars

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

LOG = logging.getLogger(__name__)
FILE_BYTES = 256 << 20  # from which on a partition goes on in its next file
KEPT_BYTES = 4 << 30  # of all files of a run; the oldest ones go
BATCH = 200_000  # records
TRIGGER = "300 milliseconds"
AGAIN = 5.0  # seconds until a query that failed is begun again
PATIENCE = 60.0  # seconds for which the first records, or the first answer, may be failed for
_CAUSE = re.compile(r"terminated with exception: (.*?)(?: SQLSTATE: \w+)?$")
_TIMES = {"kafka.request.timeout.ms": "8000", "kafka.default.api.timeout.ms": "10000"}


@dataclass(slots=True)
class _Written:
    """What is in the files of one partition: the offset of the next record, and up to which byte of which file."""

    offset: int = 0
    file: int = 1
    bytes: int = 0


class Records:
    """The records of topics, appended to files in a folder: for each partition its own, for each record a line.

    `home` keeps what is needed to go on after a restart.
    """

    def __init__(self, uri: str, folder: Path, home: Path, since: str | datetime) -> None:
        self.servers, self.names = topics(uri)
        if not kafka_jars():
            raise CoreError("kafka_jars")
        self.folder, self._notes, self._checkpoint = folder, home / "records", str((home / "kafka").absolute())
        self._options = {"kafka.bootstrap.servers": self.servers, "subscribe": ",".join(self.names)}
        self._options |= _TIMES | _starting(since) | _properties()
        self._options |= {"maxOffsetsPerTrigger": str(BATCH), "failOnDataLoss": "false"}
        self._query: StreamingQuery | None = None
        self._began, self._failed, self._answered = 0.0, 0.0, False
        self._partitions, self._mean = 1, 0.0  # of the last batch; bytes of a record

    def watch(self, sql: SparkSession) -> None:
        """Begins to read, and begins again where that has ended: a server that does not answer is asked again.

        CoreError kafka_failed where there was never an answer.
        """
        query, now = self._query, time.monotonic()
        if query is not None and query.isActive:
            if query.lastProgress is not None:
                self._answered, self._failed = True, 0.0
            return
        if query is not None:
            why = _cause(query)
            if not self._failed:
                self._failed = now
                LOG.warning("Kafka is asked again: %s", why)
            if not self._answered and now - self._failed > PATIENCE:
                raise CoreError("kafka_failed", {"servers": self.servers, "names": ", ".join(self.names), "why": why})
            if now - self._began < AGAIN:
                return
        self._began = now
        stream = sql.readStream.format("kafka").options(**self._options).load()
        written = stream.select("topic", "partition", "offset", "value").writeStream.foreachBatch(self._take)
        self._query = written.option("checkpointLocation", self._checkpoint).trigger(processingTime=TRIGGER).start()

    def end(self, is_there: bool) -> None:
        """No record is read any more; `is_there`: Java still is."""
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

    def _take(self, batch: DataFrame, number: int) -> None:
        rows = batch.toArrow().sort_by([("topic", "ascending"), ("partition", "ascending"), ("offset", "ascending")])
        if not rows.num_rows:
            return
        records = zip(*(rows[name].to_pylist() for name in ("topic", "partition", "offset", "value")), strict=True)
        parts = [(where, list(some)) for where, some in groupby(records, itemgetter(0, 1))]
        for place in (self.folder, self._notes):
            place.mkdir(parents=True, exist_ok=True)
        for (topic, partition), some in parts:
            self._append(f"{topic}-{partition}", [(offset, value) for _, _, offset, value in some])
        self._partitions, self._mean = len(parts), rows.nbytes / rows.num_rows
        self._forget()

    def _append(self, name: str, records: list[tuple[int, bytes | None]]) -> None:
        """Records of one partition, in their order; a record without a value is none."""
        place = self._notes / f"{name}.json"
        written = _Written(**json.loads(place.read_text(encoding="utf-8"))) if place.exists() else _Written()
        fresh = [(offset, value) for offset, value in records if offset >= written.offset]
        if not fresh:
            return
        data = b"".join(value.rstrip(b"\r\n") + b"\n" for _, value in fresh if value)
        with (self.folder / f"{name}.{written.file:05}.log").open("a+b") as file:
            file.seek(written.bytes)
            half = file.read()  # of this batch, from a driver that was killed
            if data.startswith(half):
                data = data[len(half) :]
            elif not half.endswith(b"\n"):
                data = b"\n" + data  # Kafka has let go of some of it meanwhile
            file.write(data)
            file.flush()
            written.bytes = file.tell()
        written.offset = fresh[-1][0] + 1
        if written.bytes >= FILE_BYTES:
            written.file, written.bytes = written.file + 1, 0
        write_text(place, json.dumps(asdict(written)))

    def _forget(self) -> None:
        """Removes the oldest files where all together are too large; never one that is being written."""
        files = [(path.stat().st_mtime_ns, path.stat().st_size, path) for path in self.folder.glob("*.log")]
        size = sum(size for _, size, _ in files)
        for _, own, path in sorted(files):
            if size <= KEPT_BYTES:
                return
            if own >= FILE_BYTES:
                path.unlink()
                size -= own


def _cause(query: StreamingQuery) -> str:
    """Why a query has ended, without what Spark says around it."""
    first = str(query.exception()).strip().partition("\n")[0]
    match = _CAUSE.search(first)
    return (match[1] if match else first)[:300]


def _starting(since: str | datetime) -> dict[str, str]:
    if isinstance(since, str):
        return {"startingOffsets": "earliest" if since == BEGINNING else "latest"}
    at = round(since.timestamp() * 1000)
    return {"startingTimestamp": str(at), "startingOffsetsByTimestampStrategy": "latest"}


def _properties() -> dict[str, str]:
    """What the administrator tells Kafka's clients: `security.protocol=SASL_SSL` and so on, a line each."""
    place = settings.current().kafka_properties
    if place is None:
        return {}
    read = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#", "!"), strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        read.read_string("[kafka]\n" + place.read_text(encoding="utf-8"))
    except (OSError, configparser.Error) as error:
        why = coded(error) if isinstance(error, OSError) else "not lines of NAME=VALUE"
        raise refuse("kafka_properties", path=str(place), why=why) from None
    return {f"kafka.{name}": value for name, value in read["kafka"].items()}
