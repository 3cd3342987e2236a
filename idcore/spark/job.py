"""One scan from paths to a folder of tables: what runs where, how far it is, how it ends. Shows nothing itself."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as dataset
import pyarrow.parquet as pq

import idcore
from idcore.answers.findings import all_rules, clocks, limits, line_locations
from idcore.answers.findings.times import line_zone
from idcore.answers.lookup.model import Evidence
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.base.errors import CoreError, coded, from_coded
from idcore.base.open_folders import Roots
from idcore.ids.clock import from_ms, machine_zone, zone_text
from idcore.rocketmq.store.folder import StoreFolder
from idcore.scan import deliveries, lines
from idcore.scan.followed import KEPT
from idcore.scan.months import month_rows
from idcore.scan.tables import COPIES, Tables, combine
from idcore.sources.growing_files import BEGINNING
from idcore.sources.inputs import OPENING, InputFile, deal, list_files, list_store, shown, split_files
from idcore.sources.kinds import COMMITLOG
from idcore.sources.line_range import LineRange
from idcore.spark import fates, group_progress, health, record_evidence
from idcore.spark import session as spark_session

from .folder import TableFolder
from .passes import Passes
from .steps import RESULTS, SENT, files_of, from_results, merging, reading
from .tasks import merged
from .watch import POLL_SECONDS, Report, Reporter, Watch, check

if TYPE_CHECKING:
    from .tasks import Spark

SPLIT_SIZE = 1 << 30  # a Python task costs Spark what scanning 30 MB costs; memory does not grow with the split
SHARED_SPLIT_SIZE = 256 << 20  # where scans share the cores, one waits for a task of another: 4 % for a quarter of it
SMALLEST_TASK = 32 << 20
BYTES_PER_MERGE = 8 << 30  # text whose facts one merge task holds in memory: 1.3 % of it
MOST_SPLITS = 100_000
_OURS = re.compile(r'^RuntimeError: (?={"code": )|^(?:[a-z_]+\.)*CoreError: ')
_WORKER_ENDED = "Python worker exited unexpectedly"  # PythonWorkerFactory's own words
_CAUSED = "Caused by: "  # before what Java says last
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt)\b")


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan assumes and where it runs. `zone` and `at` date the ids; `case` as `identify.Case`."""

    zone: tzinfo | None = None
    zone_source: str = "assumed"
    at: datetime | None = None
    split_size: int = SPLIT_SIZE
    case: str = "strict"
    master: str | None = None
    remote: str | None = None
    store: str | None = None  # a store folder, scanned in the place of paths
    roots: Roots = None  # what is read is in one of them: open folders and URIs
    subscriptions: Mapping[tuple[str, str], str] = field(default_factory=dict)  # tags of a topic and a group in it
    between: LineRange | None = None  # only lines of these times are read
    began: float | None = None  # when its user began to wait, by time.monotonic; else the scan's own beginning
    dated: tuple[datetime, tzinfo] = field(init=False, repr=False, compare=False)  # `at` and `zone`, else now and here

    def __post_init__(self) -> None:
        object.__setattr__(self, "dated", (self.at or datetime.now(UTC), self.zone or machine_zone()))


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """A scan that goes on. `since`: from where on files that are there at first are read (growing_files.FileChanges).
    `kept`: the most ids that its tables are about."""

    scan: ScanOptions
    since: str | datetime = BEGINNING
    kept: int = KEPT


def problem_of(error: BaseException) -> CoreError:
    """What made a scan fail: an error of the core, also from a worker, or what Spark or the worker said in one line."""
    if isinstance(error, CoreError | OSError):
        return coded(error).without_stack()
    if _WORKER_ENDED in str(error):
        return CoreError("spark_worker")
    if os.strerror(errno.ENOSPC) in str(error):  # of a worker
        return CoreError("ENOSPC")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    raised = raised or [line.removeprefix(_CAUSED) for line in lines if line.startswith(_CAUSED)]  # of Java alone
    message = _OURS.sub("", (raised or lines or [type(error).__name__])[-1 if raised else 0])
    if message.startswith('{"code": '):
        return from_coded(json.loads(message)) or CoreError("said", {"why": message})
    return CoreError("said", {"why": message})


def _session(options: ScanOptions, stop: threading.Event) -> Spark:
    """The session. A scan that is stopped while Spark starts does not wait for it; the next one will find it up."""
    came: list[Any] = []

    def start() -> None:
        try:
            came.append(spark_session.session(options.master, options.remote))
        except Exception as error:  # noqa: BLE001  raised again by the thread that waits
            came.append(error)

    thread = threading.Thread(target=start, name="spark-session", daemon=True)
    thread.start()
    while not came:
        check(stop)
        thread.join(POLL_SECONDS)
    if isinstance(came[0], Exception):
        raise came[0]
    return came[0]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Computed:
    """The tables of the files; in files, by table, what is too large for the driver; copies, if they were asked for."""

    tables: Tables
    written: dict[str, list[Path]]
    copies: list[bytes]
    start_seconds: float  # until Spark was up
    seconds: float  # from then on


def compute(
    files: Sequence[InputFile],
    options: ScanOptions,
    on_progress: Report | None = None,
    stop: threading.Event | None = None,
    folder: str | None = None,
    with_copies: bool = False,
) -> Computed:
    """The tables of the files. Without a folder for what is too large for the driver, everything is in memory."""
    began = time.monotonic() if options.began is None else options.began
    stop = stop or threading.Event()
    _refuse_crumbs(files, options.split_size)
    spark = _session(options, stop)
    check(stop)
    started = time.monotonic()
    rows = month_rows(*options.dated, options.zone_source)
    split_size = even(sum(file.size + OPENING for file in files), options.split_size, _cores(spark))
    partitions = _partitions(split_files(files, split_size), split_size, _cores(spark))
    sizes = [sum(split.size for task in partition for split in task) for partition in partitions]
    parts: list[tuple[str, pa.Table]] = []
    written: dict[str, list[Path]] = {}
    if partitions:
        with Watch(spark, sizes, Reporter(on_progress), stop) as watch:
            try:
                on_ids = watch.ids.add if watch.ids is not None else None
                read = reading(partitions, rows, options.case, watch.meter, on_ids, with_copies)
                spread = min(32, max(_cores(spark), -(-sum(sizes) // BYTES_PER_MERGE))) if len(partitions) > 1 else 1
                merge = merging(rows, folder, min(SENT, 8 * SENT // spread))
                results = merged(spark, len(partitions), read, merge, spread, RESULTS)
                parts, written = from_results(results), files_of(results)
            except Exception as error:
                check(stop)
                health.refuse_gone(spark, error)
                raise
    check(stop)
    copies = [row.as_buffer().to_pybytes() for name, table in parts if name == COPIES for row in table[COPIES]]
    parts = [each for each in parts if each[0] != COPIES]
    of_store = any(file.kind == COMMITLOG for file in files)
    tables = combine(parts, [(file.shown, file.size, file.error) for file in files], of_store)
    check(stop)
    return Computed(tables, written, copies, started - began, time.monotonic() - started)


def _refuse_crumbs(files: Sequence[InputFile], split_size: int) -> None:
    """CoreError where a small split size makes so many splits that the driver's memory or the workers' calls fail."""
    total = sum(file.size for file in files)
    if total // split_size > MOST_SPLITS:
        least = -(-total // MOST_SPLITS)
        sizes = {"size": split_size, "total": total, "most": MOST_SPLITS, "least": least}
        raise CoreError("splits_many", sizes)


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


def _cores(spark: Spark) -> int:
    return 4 if health.is_connect(spark) else spark.sparkContext.defaultParallelism


def scan(
    paths: Sequence[str],
    out: str | Path,
    options: ScanOptions,
    on_progress: Report | None = None,
    stop: threading.Event | None = None,
    names: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Scans the paths and writes the tables and, last, summary.json into `out`. Returns the summary.

    `names` gives the name that the tables have for a path (an uploaded file, standard input).
    """
    stop = stop or threading.Event()
    reporter, roots = Reporter(on_progress), options.roots
    with TableFolder(Path(out)) as folder:
        left_out: list[str] = []
        files = list_files(paths, roots, left_out) if options.store is None else list_store(options.store, roots)
        files = [replace(file, between=options.between) for file in files]
        if names:
            files = [replace(file, name=names.get(file.path, "")) for file in files]
        check(stop)
        # Writing and judging leave half of the machine idle, counting and the pass over files leave all of the driver.
        with ExitStack() as opened, ThreadPoolExecutor(1) as writer, ThreadPoolExecutor(1) as aside:
            groups = aside.submit(_groups, options, opened) if wants_fates(options) else None
            computed = compute(files, options, reporter, stop, str(folder.large), groups is not None)
            tables, written, counted = dict(computed.tables), computed.written, dict[str, Any]()
            writing = time.monotonic()
            others = {name: table for name, table in tables.items() if name not in ("findings", "deliveries")}
            on_disk = [writer.submit(folder.write, others, lambda: check(stop))]
            # Judging begins once the pass for groups runs in Java: before, both would wait for Python's lock.
            judging = cache(lambda: aside.submit(judge, tables, written, options, files, stop))
            if groups is not None:
                passes = _passes(files, options, reporter, stop, judging)
                more = _fates(computed, passes, folder.large, groups.result())
                on_disk.append(writer.submit(folder.write, more.tables, lambda: check(stop)))
                tables |= more.tables
                written |= more.written
                counted = more.counted
            reporter(replace(reporter.last, phase="writing", seconds_left=None))
            seen, of_ids = judging().result()  # of the dictionary, which has the tables of groups by now
            placed = line_locations.place(all_rules.of_groups(seen, of_ids), files)
            check(stop)
            for each in on_disk:
                each.result()
        clocks.mark_files(written.get("processes", ()), seen.clocks, lambda: check(stop))
        folder.write(judged_tables(seen, placed, tables["processes"]), lambda: check(stop))
        folder.adopt(written)
        summary = summarise(folder.aside, files, lambda: check(stop))
        summary |= judged_counts(seen, placed, summary["text_bytes"])
        summary["start_seconds"] = round(computed.start_seconds, 3)
        summary |= counted | {"assumed": assumed(options), "versions": versions()}
        summary["seconds"] = round(computed.seconds + time.monotonic() - writing, 3)
        summary["left_out"] = [shown(path) for path in sorted(left_out)]
        check(stop)
        folder.finish(summary)
    return summary


def wants_fates(options: ScanOptions) -> bool:
    """Whether the scan is of a store folder: there are consumer groups."""
    return options.store is not None


@dataclass(frozen=True, slots=True)
class _Groups:
    """What a store folder says of its consumer groups; `known`: what of it the summary keeps."""

    evidence: StoreEvidence
    known: list[Evidence]


def _groups(options: ScanOptions, opened: ExitStack) -> _Groups:
    """The evidence of a folder, which stays open as long as `opened`."""
    store = opened.enter_context(StoreFolder(Path(options.store or ""), roots=options.roots))
    evidence = StoreEvidence(store, options.subscriptions)
    known = [*evidence.state(*options.dated), *evidence.files()]
    return _Groups(evidence, [*known, *evidence.silent_groups()])


def _passes(
    files: Sequence[InputFile],
    options: ScanOptions,
    reporter: Reporter,
    stop: threading.Event,
    on_begin: Callable[[], object],
) -> Passes:
    """Passes over the log of a store; `on_begin` is called when each begins to read."""
    spark = _session(options, stop)
    split_size = even(sum(file.size for file in files), options.split_size, _cores(spark))
    partitions = _partitions(split_files(files, split_size), split_size, _cores(spark))
    return Passes(spark, partitions, reporter, stop, on_begin)


def _fates(scanned: Computed, passes: Passes, folder: Path, groups: _Groups) -> fates.FateTables:
    """What became of every message of a store in each group; for the summary also of which time the folder is."""
    passes.reporter(replace(passes.reporter.last, phase="judging", seconds_left=None))
    try:
        tables = fates.tables(passes, groups.evidence, scanned.tables, scanned.copies, folder)
        passes.check()
        tables.tables["progress"] = group_progress.table(groups.evidence, scanned.tables)
        return tables._replace(counted=tables.counted | {"evidence": [asdict(each) for each in groups.known]})
    except Exception as error:
        passes.check()
        health.refuse_gone(passes.spark, error)
        raise


def look(tables: Tables, options: ScanOptions, files: Sequence[InputFile], stop: threading.Event) -> lines.LineEvidence:
    """What the lines, or the records of a store, say of the IDs that have copies."""
    copies = tables["copies"]
    if options.store is None:
        if not any(tables["files"]["text_bytes"].to_pylist()):  # a million empty members are not read twice
            return lines.LineEvidence()
        return lines.look(files, copies["msg_id"].slice(0, lines.MOST_IDS).to_pylist(), lambda: check(stop))
    return record_evidence.look(files, copies.slice(0, limits.MOST_COPIES), lambda: check(stop))


def judge(
    tables: Tables,
    written: dict[str, list[Path]],
    options: ScanOptions,
    files: Sequence[InputFile],
    stop: threading.Event,
    line_evidence: lines.LineEvidence | None = None,
) -> tuple[all_rules.Scan, list[all_rules.Finding]]:
    """The scan as rules see it, and the findings of the tables and of what the lines say; without those of groups.

    `line_evidence`: what a look at the lines has given before.
    """
    line_evidence = line_evidence or look(tables, options, files, stop)
    rows = all_rules.Rows(tables, written, lambda: check(stop))
    seen = all_rules.Scan(rows, *options.dated, options.zone_source, line_evidence)
    return seen, all_rules.of_ids(seen)


def judged_tables(seen: all_rules.Scan, placed: Sequence[all_rules.Finding], processes: pa.Table) -> Tables:
    """The tables of what was judged; that of processes is one of them where clocks were set back."""
    deliveries_table = deliveries.table(
        seen.line_evidence.deliveries if seen.line_evidence else (), seen.once(line_zone)
    )
    again = {"processes": clocks.marked(processes, seen.clocks)} if seen.clocks else {}
    return {"findings": all_rules.to_table(placed), "deliveries": deliveries_table, **again}


def judged_counts(seen: all_rules.Scan, placed: Sequence[all_rules.Finding], text_bytes: int) -> dict[str, Any]:
    """What the summary says of that: how many findings of each severity, and what of the lines was not read."""
    counts = {name: sum(item.number for item in placed if item.severity == name) for name in all_rules.SEVERITIES}
    line_figures = {} if seen.line_evidence is None else seen.line_evidence.summary(text_bytes)
    return {"findings": counts, **line_figures}


def assumed(options: ScanOptions) -> dict[str, Any]:
    """What the months were read with: the zone as its offset at that instant, and its name where it has one."""
    at, zone = options.dated
    ends = {} if options.between is None else {"from": options.between.begin, "to": options.between.end}
    return {
        "zone": zone_text(at.astimezone(zone).utcoffset()),
        "zone_name": getattr(zone, "key", None),
        "zone_source": options.zone_source,
        "at": at.isoformat(timespec="seconds"),
        "case": options.case,
        **{name: from_ms(at).isoformat(timespec="milliseconds") for name, at in ends.items() if at is not None},
        "subscriptions": {f"{group}:{topic}": tags for (topic, group), tags in sorted(options.subscriptions.items())},
    }


def summarise(folder: Path, files: Sequence[InputFile], between: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The counts of a scan, from the tables it has written; of large ones a batch of rows is in memory at a time.

    `between` is called with each batch and may raise.
    """

    def batches(name: str, column: str) -> Iterator[pa.RecordBatch]:
        for batch in dataset.dataset(folder / name).to_batches(columns=[column]):
            between()
            yield batch

    def total(name: str, column: str) -> int:
        return sum(int(pc.sum(batch[column]).as_py() or 0) for batch in batches(name, column))

    def rows(name: str) -> int:
        return int(dataset.dataset(folder / name).count_rows())

    def counts(name: str, column: str) -> dict[str, int]:
        totals: Counter[str] = Counter()
        for batch in batches(name, column):
            for one in pc.value_counts(batch[column]).to_pylist():
                totals[one["values"] or "unknown"] += one["counts"]
        return dict(sorted(totals.items()))

    kinds = {"uniq": "processes", "offset": "brokers", "client": "clients"}
    errors = pq.read_table(folder / "files", columns=["error"])["error"]
    of_a_log = [file for file in files if file.kind == COMMITLOG]  # what is between them is a row, but not a file
    return {
        "bytes": total("files", "bytes"),
        "text_bytes": total("files", "text_bytes"),
        "files": len(of_a_log or files),
        "ids": total("files", "ids"),
        "distinct": sum(total(table, "distinct") for table in kinds.values()),
        **{kind: total(table, "ids") for kind, table in kinds.items()},
        **{name: total("files", name) for name in ("refused", "lookalikes", "trace_ids")},
        **{name: rows(name) for name in ("processes", "clients", "hosts", "brokers", "segments")},
        "zone_sources": counts("processes", "zone_source"),
        "failed_files": len(errors) - errors.null_count,
    }


def versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"idcore": idcore.__version__, "python": platform.python_version()} | {
        name: version(name) for name in ("pyspark", "pyarrow", "numpy", "numba")
    }
