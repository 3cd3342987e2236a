"""One scan from paths to a folder of tables: what runs where, how far it is, how it ends. Shows nothing itself."""

from __future__ import annotations

import json
import platform
import re
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import idcore
from idcore.errors import IdError
from idcore.ids.clock import machine_zone, months
from idcore.runs import Run, write_text
from idcore.scan.inputs import InputFile, deal, list_files, shown, split_files
from idcore.scan.schemas import TEXT
from idcore.scan.tables import Tables, combine

from . import session as spark_session
from .steps import by_part, facts, from_results, merged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPLIT_SIZE = 1 << 30  # a Python task costs Spark what scanning 30 MB costs; memory does not grow with the split
SMALLEST_TASK = 32 << 20
BYTES_PER_MERGE = 8 << 30  # text whose facts one merge task holds in memory: 1.3 % of it
MONTHS = 13
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt)\b")
State = Literal["waiting", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan assumes and where it runs. `zone` and `at` date the ids; `case` "any" takes lower-case ids too."""

    zone: tzinfo | None = None
    zone_source: str = "assumed"
    at: datetime | None = None
    split_size: int = SPLIT_SIZE
    case: str = "strict"
    master: str | None = None
    remote: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scan is. `seconds_left` is None until it can be told."""

    state: State
    bytes_done: int = 0
    bytes_total: int = 0
    ids: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    error: str = ""


class Cancelled(IdError):
    """The scan was stopped by its user."""


class _Watch:
    """Follows one Spark job by its group: finished tasks of its first stage, and a stop on request."""

    def __init__(
        self,
        spark: SparkSession,
        sizes: Sequence[int],
        report: Callable[[Progress], None] | None,
        stop: threading.Event,
    ) -> None:
        self.spark, self.sizes, self.report, self.stop = spark, sizes, report, stop
        self.group = f"scan-{uuid.uuid4().hex}"
        self.began = time.monotonic()
        self.classic = not spark_session.is_connect(spark)
        self.over = threading.Event()
        self.ids: Any = spark.sparkContext.accumulator(0) if self.classic else None
        self.thread = threading.Thread(target=self._follow, name=self.group, daemon=True)

    def __enter__(self) -> _Watch:
        self.spark.addTag(self.group)
        if self.classic:
            self.spark.sparkContext.setJobGroup(self.group, "scan", interruptOnCancel=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        self.spark.removeTag(self.group)

    def _follow(self) -> None:
        while not self.over.wait(0.1):
            if self.stop.is_set():
                self.spark.interruptTag(self.group)
                if self.classic:
                    self.spark.sparkContext.cancelJobGroup(self.group)
            if self.report:
                self.report(self.progress())

    def progress(self) -> Progress:
        total = sum(self.sizes)
        seconds = time.monotonic() - self.began
        done = int(total * self._share())
        left = seconds * (total - done) / done if done else None
        return Progress("running", done, total, self.ids.value if self.classic else 0, seconds, left)

    def _share(self) -> float:
        """Finished tasks of the scanning stage; Connect has no status tracker, so there the share stays 0."""
        if not self.classic:
            return 0.0
        tracker = self.spark.sparkContext.statusTracker()
        stages = {
            stage
            for job in tracker.getJobIdsForGroup(self.group)
            for stage in (tracker.getJobInfo(job) or _NO_JOB).stageIds
        }
        info = tracker.getStageInfo(min(stages)) if stages else None
        return info.numCompletedTasks / info.numTasks if info and info.numTasks else 0.0


def reason_of(error: BaseException) -> str:
    """One line for a person: what the worker said last, else what Spark said first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if _RAISED.match(line)]
    return (told or lines or [type(error).__name__])[-1 if told else 0]


class _NoJob:
    stageIds: Sequence[int] = ()


_NO_JOB = _NoJob()


def month_rows(at: datetime, zone: tzinfo) -> np.ndarray:
    """For the kernels: (start, last elapsed that fits) of each month, newest first."""
    now = int(at.timestamp() * 1000)
    rows = [(month.start_ms, min(now - month.start_ms, month.length_ms - 1)) for month in months(at, zone, MONTHS)]
    return np.array(rows, np.int64)


def compute(
    files: Sequence[InputFile],
    options: ScanOptions,
    on_progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> tuple[Tables, float, float]:
    """The tables of the files, seconds until Spark was up, seconds from then on."""
    began = time.monotonic()
    stop = stop or threading.Event()
    spark = spark_session.session(options.master, options.remote)
    started = time.monotonic()
    zone = options.zone or machine_zone()
    rows = month_rows(options.at or datetime.now(UTC), zone)
    split_size = even(sum(file.size for file in files), options.split_size, _cores(spark))
    partitions = _partitions(split_files(files, split_size), split_size, _cores(spark))
    sizes = [sum(split.size for task in partition for split in task) for partition in partitions]
    parts = []
    if partitions:
        with _Watch(spark, sizes, on_progress, stop) as watch:
            try:
                found = watch.ids.add if watch.classic else None
                frame = facts(spark, partitions, rows, options.case == "any", found)
                spread = min(32, max(_cores(spark), -(-sum(sizes) // BYTES_PER_MERGE))) if len(partitions) > 1 else 1
                parts = list(from_results(merged(by_part(frame, spread), rows).toArrow()))
            except Exception as error:
                if stop.is_set():
                    raise Cancelled("the scan was cancelled") from error
                raise
    tables = combine(parts, [(shown(file.path), file.size, file.error) for file in files])
    return tables, started - began, time.monotonic() - started


def even(total: int, split_size: int, cores: int) -> int:
    """The size at which every core gets as many splits as the others; a size that was asked to be small is kept."""
    if split_size < SMALLEST_TASK:
        return split_size
    rounds = max(1, -(-total // (cores * split_size)))
    return min(split_size, max(SMALLEST_TASK, -(-total // (cores * rounds))))


def _partitions(splits: Sequence[Any], split_size: int, cores: int) -> list[list[list[Any]]]:
    """Splits to tasks, tasks to partitions: tasks of `split_size`, smaller only so that every core has work."""
    total = sum(split.size for split in splits)
    if not splits:
        return []
    if split_size < SMALLEST_TASK:  # asked for: every split a task of its own, many tasks a partition
        tasks = [[split] for split in splits]
    else:
        tasks = deal(splits, split_size)
    count = min(len(tasks), max(4 * cores, -(-total // SPLIT_SIZE)))
    edges = np.linspace(0, len(tasks), count + 1).astype(int)
    return [tasks[a:b] for a, b in pairwise(edges)]


def _cores(spark: SparkSession) -> int:
    return 4 if spark_session.is_connect(spark) else spark.sparkContext.defaultParallelism


def scan(
    paths: Sequence[str],
    out: str | Path,
    options: ScanOptions,
    on_progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
    names: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Scans the paths and writes the tables and, last, summary.json into `out`. Returns the summary.

    `names` gives the name that stands in the tables for a path (an uploaded file, standard input).
    """
    files = list_files(paths)
    tables, start_seconds, seconds = compute(files, options, on_progress, stop)
    if names:
        files = [replace(file, path=names.get(file.path, file.path)) for file in files]
        tables = _renamed(tables, names)
    writing = time.monotonic()
    folder = Path(out)
    (folder / "summary.json").unlink(missing_ok=True)  # until the last table is written this is no finished run
    for name, table in tables.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name / "part-00000.parquet", compression="zstd")
    summary = summarise(tables, files)
    summary["start_seconds"] = round(start_seconds, 3)
    summary["seconds"] = round(seconds + time.monotonic() - writing, 3)
    summary["assumed"] = {
        "zone": str(options.zone or machine_zone()), "zone_source": options.zone_source,
        "at": (options.at or datetime.now(UTC)).isoformat(timespec="seconds"), "case": options.case,
    }  # fmt: skip
    summary["versions"] = versions()
    write_text(folder / "summary.json", json.dumps(summary, indent=1))
    return summary


def _renamed(tables: Tables, names: dict[str, str]) -> Tables:
    for name in ("files", "refused"):
        table = tables[name]
        index = table.schema.get_field_index("file")
        names = {shown(path): name for path, name in names.items()}
        column = pa.array([names.get(value, value) for value in table["file"].to_pylist()], TEXT)
        tables[name] = table.set_column(index, table.schema.field(index), column)
    return tables


def summarise(tables: Tables, files: Sequence[InputFile]) -> dict[str, Any]:
    """The counts of a scan, from its tables."""

    def total(table: str, column: str) -> int:
        return int(pc.sum(tables[table][column]).as_py() or 0)

    kinds = {"uniq": "processes", "offset": "brokers", "client": "clients"}
    return {
        "bytes": total("files", "bytes"),
        "text_bytes": total("files", "text_bytes"),
        "files": len(files),
        "ids": total("files", "ids"),
        "distinct": sum(total(table, "distinct") for table in kinds.values()),
        **{kind: total(table, "ids") for kind, table in kinds.items()},
        "refused": total("files", "refused"),
        **{name: tables[name].num_rows for name in ("processes", "hosts", "brokers", "segments")},
        "failed_files": tables["files"].num_rows - tables["files"]["error"].null_count,
    }


def versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"idcore": idcore.__version__, "python": platform.python_version()} | {
        name: version(name) for name in ("pyspark", "pyarrow", "numpy", "numba")
    }


class Job:
    """A scan of the console: runs in a thread of the server, outlives the page that began it."""

    def __init__(
        self, run: Run, paths: Sequence[str], options: ScanOptions, names: dict[str, str] | None = None
    ) -> None:
        self.run = run
        self._stop = threading.Event()
        self._progress = Progress("waiting")
        self._thread = threading.Thread(
            target=self._work, args=(list(paths), options, names), name=f"job-{run.name}", daemon=True
        )
        self.run.set_state("running")
        self._thread.start()

    def _work(self, paths: list[str], options: ScanOptions, names: dict[str, str] | None) -> None:
        try:
            scan(paths, self.run.path, options, self._take, self._stop, names)
            last = self._progress
            self._progress = replace(last, state="done", bytes_done=last.bytes_total, seconds_left=0.0)
            self.run.set_state("done")
        except Cancelled:
            self._progress = replace(self._progress, state="cancelled")
            self.run.set_state("cancelled")
        except Exception as error:  # noqa: BLE001  whatever it is, the run says so
            text = reason_of(error)
            self._progress = replace(self._progress, state="failed", error=text)
            self.run.set_state("failed", text)

    def _take(self, progress: Progress) -> None:
        self._progress = progress

    def progress(self) -> Progress:
        return self._progress

    def cancel(self) -> None:
        self._stop.set()

    def wait(self, seconds: float | None = None) -> Progress:
        """Blocks until the scan has ended, or for so long."""
        self._thread.join(seconds)
        return self._progress


_jobs: dict[str, Job] = {}


def start(run: Run, paths: Sequence[str], options: ScanOptions, names: dict[str, str] | None = None) -> Job:
    """Begins a scan of `paths` into the run's folder."""
    job = _jobs[run.name] = Job(run, paths, options, names)
    return job


def find(run_name: str) -> Job | None:
    """The job of a run that this server began, finished or not."""
    return _jobs.get(run_name)


def spool(stream: IO[bytes]) -> str:
    """Standard input as a file, so that it can be split like one."""
    with tempfile.NamedTemporaryFile(prefix="idcore-stdin-", delete=False) as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    return file.name
