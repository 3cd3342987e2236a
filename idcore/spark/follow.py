"""A scan that goes on: Spark reads what files get, the driver folds it, and tables are written again when they change.

A folder that was followed is followed on: Spark's checkpoint and the facts so far are in it.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from idcore.answers.findings import all_rules, line_locations
from idcore.answers.findings.line_locations import LineFacts
from idcore.answers.findings.model import Finding
from idcore.base.errors import CoreError
from idcore.ids.clock import zone_text
from idcore.runs.background_run import Ask, permitted
from idcore.runs.runs import FOLLOWED, TOPICS, write_text
from idcore.scan import followed
from idcore.scan.lines import LineEvidence
from idcore.scan.months import month_rows
from idcore.scan.tables import Tables
from idcore.sources.growing_files import BEGINNING
from idcore.sources.inputs import InputFile, shown
from idcore.sources.uris import is_topic
from idcore.spark import health
from idcore.spark import session as spark_session
from idcore.spark.follow_source import NAME, FollowSourceOptions, GrowingFiles

from .folder import LiveFolder
from .job import FollowOptions, assumed, judge, judged_counts, judged_tables, look, problem_of, summarise, versions
from .kafka import TRIGGER, Records
from .start.pyspark_private import ask_for_token

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from .tasks import Spark

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.1  # seconds between two looks at whether there is news
ASKED = "asked.json"
TRIES = 5  # to begin again without a batch between them
SLOW_TRIES = 20  # the same where the machine has so much to do that Python does not answer Java in time (10 seconds)
SLOW = "Python worker failed to connect back"
PAUSE = 1.0  # seconds before each
BATCH_BYTES = 64 << 20  # read at once at most
Said = TypeVar("Said")
QUICK = 0.1  # seconds: what takes less is looked at each time
LOOKED = 5.0  # seconds for which another look at the lines is good enough,
LOOK_RATIO = 9  # and at least so many times as long as it took: lines of consumers take seconds
REST_RATIO = 1  # after a refresh there is a pause of so many times the processor time that its thread took
_CONF = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "2",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """How it stands. `as_of`: up to when the tables have what was there; `behind`: bytes that were there and are not
    in them; `seconds`: of the last refresh."""

    state: str  # starting, following
    as_of: datetime | None = None
    behind: int = 0
    batch: int = -1
    ids: int = 0
    seconds: float = 0.0
    summary: Mapping[str, Any] | None = None


Report = Callable[[FollowStatus], None]


class Follower:
    """Follows until it is stopped. `on_refresh` gets each refresh, and may take its time: the next waits for it.

    `ask` is called before anything new is taken. Where it refuses, it has set `stop`, and no table has that.
    """

    def __init__(
        self,
        paths: Sequence[str],
        out: Path,
        options: FollowOptions,
        on_refresh: Report | None = None,
        ask: Ask = permitted,
    ) -> None:
        self.out, self.options, self.on_refresh, self._ask = out, options, on_refresh, ask
        scan = options.scan
        if scan.remote:
            raise CoreError("follow_connect")
        at, zone = scan.dated
        self._kafka: Records | None = None
        if any(map(is_topic, paths)):
            if len(paths) > 1:
                raise CoreError("kafka_alone")
            self._kafka = Records(paths[0], out / TOPICS, out / FOLLOWED, options.since, self._unread, ask)
            scan = replace(scan, roots=None)  # what is read is in the folder of the tables
            self.options = replace(options, scan=scan)
        self.asked = FollowSourceOptions(
            tuple(path if is_topic(path) else str(Path(path).absolute()) for path in paths),
            scan.roots,
            options.since if isinstance(options.since, str) else options.since.isoformat(),
            getattr(zone, "key", None) or zone_text(at.astimezone(zone).utcoffset()),
            scan.zone_source,
            None if scan.at is None else scan.at.isoformat(),
            scan.case,
            BATCH_BYTES,
        )
        self.now = FollowStatus("starting")
        self._ended = threading.Event()  # nobody asks any more what is looked at beside
        self._beside = ThreadPoolExecutor(1, "looks at lines")
        self._looked, self._searched = _Looks[LineEvidence](self._beside), _Looks[LineFacts](self._beside)
        self._last_batch_at = datetime.now(UTC)

    def run(self, stop: threading.Event) -> dict[str, Any]:
        """Follows until `stop` is set, and returns the last summary: that of a scan over what was read."""
        began = time.monotonic()
        home = self.out / FOLLOWED
        with self._beside, LiveFolder(self.out, home) as folder:
            self._check_folder(home)
            self._state = followed.State(home / "state", self.options.kept, self.options.scan.roots)
            failures, batch = 0, self._state.batch
            while not stop.is_set():
                try:
                    self._run_query(folder, str((home / "checkpoint").absolute()), stop, began)
                except Exception as error:
                    failures = 1 if self._state.batch > batch else failures + 1
                    batch = self._state.batch
                    if failures > (SLOW_TRIES if SLOW in str(error) else TRIES) or isinstance(error, CoreError):
                        raise
                    LOG.warning("what is followed is begun again where it was: %s", problem_of(error))
                    stop.wait(PAUSE)
            self._ended.set()
            return self._refresh(folder, None)

    def _run_query(self, folder: LiveFolder, checkpoint: str, stop: threading.Event, began: float) -> None:
        """Runs the query until it is stopped, or a worker or Java ends: the next one continues at the checkpoint."""
        query = None
        spark = spark_session.session(self.options.scan.master, self.options.scan.remote)
        self._start_seconds = time.monotonic() - began
        try:
            sql = _sql(spark)
            query = self._query(sql, checkpoint)
            self._follow(sql, query, folder, stop)
        finally:
            is_there = not health.is_gone(spark)
            if self._kafka is not None:
                self._kafka.end(is_there)
            if query is not None and is_there:
                query.stop()

    def _check_folder(self, home: Path) -> None:
        """Notes in a new folder what is followed. CoreError if the folder was followed with other options."""
        asked = replace(self.asked, batch_bytes=0, roots=None)  # an administrator may open other places meanwhile
        asked_now = json.loads(json.dumps(asdict(asked)))
        try:
            held = json.loads((home / ASKED).read_text(encoding="utf-8"))
        except FileNotFoundError:
            write_text(home / ASKED, json.dumps(asked_now))
            return
        if names := sorted(name for name in asked_now if held.get(name) != asked_now[name]):
            raise CoreError("follow_other", {"folder": str(self.out), "names": ", ".join(names)})

    def _query(self, sql: SparkSession, checkpoint: str) -> StreamingQuery:
        ask_for_token(sql.sparkContext)
        sql.dataSource.register(GrowingFiles)
        read = self.asked
        if self._kafka is not None:
            read = replace(read, paths=(str((self.out / TOPICS).absolute()),), since=BEGINNING)
        stream = sql.readStream.format(NAME).options(**read.options()).load().writeStream
        sql.sparkContext.setLocalProperty("spark.scheduler.pool", "follow")
        try:
            batches = stream.foreachBatch(self._take).option("checkpointLocation", checkpoint)
            return batches.trigger(processingTime=TRIGGER).start()
        finally:
            sql.sparkContext.setLocalProperty("spark.scheduler.pool", None)  # type: ignore[arg-type]

    def _take(self, batch: DataFrame, number: int) -> None:
        self._ask()
        facts = batch.toArrow()
        self._state.take(number, facts)
        self._last_batch_at = datetime.now(UTC)

    def _follow(self, sql: SparkSession, query: StreamingQuery, folder: LiveFolder, stop: threading.Event) -> None:
        shown, pause_until = (-1, ""), 0.0
        while not stop.wait(POLL_SECONDS):
            folder.check()
            if self._kafka is not None:
                self._kafka.watch(sql)
            if not query.isActive:
                if stop.is_set():  # by who refused what is new
                    return
                raise query.exception() or RuntimeError("the query has ended")
            now = self._state.batch, self._away()
            is_new = now != shown or self._looked.has_news or self._searched.has_news
            if not is_new or time.monotonic() < pause_until:
                continue
            shown = now
            used = time.thread_time()
            self._refresh(folder, query)
            pause_until = time.monotonic() + REST_RATIO * (time.thread_time() - used)

    def _refresh(self, folder: LiveFolder, query: StreamingQuery | None) -> dict[str, Any]:
        """Writes the tables of what has come until now."""
        began = time.monotonic()
        as_of, known = self._last_batch_at, self._state.snapshot()  # in this order: no later than what is known
        inputs = known.inputs
        scan = replace(self.options.scan)  # so that now is now
        tables: Tables = followed.tables_of(known.facts, inputs, month_rows(*scan.dated, scan.zone_source))
        files = sorted(inputs.values(), key=lambda file: file.path)  # as a scan of the folder lists them
        never = threading.Event()
        evidence = self._look(tables, files) if query is not None else None
        seen, of_ids = judge(tables, {}, scan, files, never, evidence)
        placed = self._placed(all_rules.of_groups(seen, of_ids), files, query is None)
        folder.write(tables | judged_tables(seen, placed, tables["processes"]), last=query is None)
        summary = summarise(folder.path, files)
        summary |= judged_counts(seen, placed, summary["text_bytes"])
        behind = 0 if query is None else self._behind(query, inputs)
        summary |= {
            "start_seconds": round(self._start_seconds, 3),
            "seconds": round(time.monotonic() - began, 3),
            "assumed": assumed(scan),
            "versions": versions(),
            "left_out": [],
            "follow": {
                "as_of": as_of.isoformat(timespec="milliseconds"),
                "batch": known.batch,
                "behind": behind,
                "is_cut": known.is_cut,
                "inputs": [[file.path, file.start, file.size] for file in files],
                "left_out": known.left_out | (self._kafka.left_out() if self._kafka is not None else {}),
                "away": self._away(),
            },
        }
        folder.finish(summary)
        self.now = FollowStatus(
            "following", as_of, behind, known.batch, summary["ids"], time.monotonic() - began, summary
        )
        if self.on_refresh is not None:
            self.on_refresh(self.now)
        return summary

    def _look(self, tables: Tables, files: Sequence[InputFile]) -> LineEvidence:
        """What the lines say, of a large input a sample of them."""
        return self._looked.said(lambda: look(tables, self.options.scan, files, self._ended), False)

    def _placed(self, findings: Sequence[Finding], files: Sequence[InputFile], last: bool) -> list[Finding]:
        """The findings with the lines of their ids."""
        facts = self._searched.said(lambda: line_locations.search(findings, files), last)
        return line_locations.with_places(findings, facts)

    def _unread(self) -> dict[Path, int]:
        """Bytes of the records of topics that are in files and not in the tables; of binary ones nothing is read."""
        known = self._state.snapshot()
        read = {Path(file.path): file.size for file in known.inputs.values()}
        files = {path: path.stat().st_size for path in (self.out / TOPICS).absolute().glob("*.log")}
        return {
            path: size - read.get(path, 0) for path, size in files.items() if shown(str(path)) not in known.left_out
        }

    def _away(self) -> str:
        """Why the Kafka server does not answer now; empty if it does, or if files are followed."""
        return "" if self._kafka is None else self._kafka.away

    def _behind(self, query: StreamingQuery, inputs: Mapping[int, Any]) -> int:
        """Bytes that Spark has seen and that are not in the tables."""
        progress = query.lastProgress
        if not progress:
            return 0
        offset = progress["sources"][0]["latestOffset"]
        latest = json.loads(offset) if isinstance(offset, str) else offset
        available = (latest or {}).get("available", {})
        unread = sum(max(0, size - inputs[int(n)].size) for n, size in available.items() if int(n) in inputs)
        return unread if self._kafka is None else unread + self._kafka.behind()


class _Looks(Generic[Said]):
    """Looks at lines that are read again and again. A slow one goes on beside: what is said meanwhile is the last."""

    def __init__(self, beside: Executor) -> None:
        self._beside = beside
        self._last: _Look[Said] | None = None
        self._next: Future[_Look[Said]] | None = None

    @property
    def has_news(self) -> bool:
        """Whether a look has ended that nobody has been told of."""
        return self._next is not None and self._next.done()

    def said(self, look_at_lines: Callable[[], Said], at_once: bool) -> Said:
        """What the lines say: the first time, and `at_once`, as they are now."""
        if self._next is not None and self._next.done() and not at_once:
            ended, self._next = self._next, None
            self._last = ended.result()
        if self._last is None or at_once or self._last.took < QUICK:
            self._last = _Look.of(look_at_lines)
        elif self._next is None and self._last.is_old():
            self._next = self._beside.submit(_Look.of, look_at_lines)
        return self._last.said


@dataclass(frozen=True, slots=True)
class _Look(Generic[Said]):
    """What lines said, when that was known, and how long it took."""

    said: Said
    at: float
    took: float

    @classmethod
    def of(cls, look_at_lines: Callable[[], Said]) -> _Look[Said]:
        began = time.monotonic()
        said = look_at_lines()
        return cls(said, time.monotonic(), time.monotonic() - began)

    def is_old(self) -> bool:
        """Whether lines that took so long are looked at again: in a tenth of the time at most."""
        return time.monotonic() - self.at >= max(LOOKED, LOOK_RATIO * self.took)


def was_followed(out: Path) -> bool:
    """Whether files were followed into a folder, and can be followed on."""
    return (out / FOLLOWED / ASKED).is_file()


def _sql(spark: Spark) -> SparkSession:
    """SQL over the context that scans have; it is loaded with the first folder that is followed."""
    from pyspark.sql import SparkSession

    if health.is_connect(spark):
        raise CoreError("follow_connect")
    sql = SparkSession(spark.sparkContext)
    for name, value in _CONF.items():
        sql.conf.set(name, value)
    return sql
