"""`python -m idcore scan`: hands paths to the Spark job, shows how far it is and what it found. Counts nothing."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from idcore.base import temporary
from idcore.base.catalogue import words
from idcore.base.errors import CoreError, coded
from idcore.cli.complaint import STANDARD_INPUT, complain, complain_of_missing
from idcore.cli.parser import Usage, subscriptions_of
from idcore.cli.worker_thread import aside, interruptible
from idcore.ids import Clock
from idcore.ids.clock import parse_instant, to_ms
from idcore.ids.identify import case_of
from idcore.policy import settings

if TYPE_CHECKING:
    from idcore.sources.line_range import LineRange
    from idcore.spark.job import ScanOptions
    from idcore.spark.watch import Progress

DONE, SOME_UNREADABLE, NOT_DONE = 0, 1, 3
_PATIENCE = 10.0  # seconds that a cancelled scan has to clean up


@interruptible()  # from here on: Java is started long before the work is
def run(options: argparse.Namespace) -> int:
    """Exit status 0 done, 1 some input could not be read, 3 could not be done, 130 cancelled."""
    if bool(options.paths) == (options.store is not None):
        raise Usage("give either PATHs or --store DIR, not both")
    _make_room(options.out, options.overwrite)
    if options.paths.count(STANDARD_INPUT) > 1:
        raise Usage("- (standard input) may be given only once")
    between = _range_of(options)
    if options.paths and complain_of_missing(options.paths, all):  # before Spark, and before a folder
        return SOME_UNREADABLE
    try:
        _refuse_unwritable(options.out)
    except CoreError as problem:
        complain(str(problem))
        return NOT_DONE
    if not (options.master or options.remote):
        _start_spark()
    from idcore.spark.job import SPLIT_SIZE, ScanOptions  # Java is on its way up meanwhile

    asked = ScanOptions(
        zone=options.zone,
        zone_source=options.zone_source,
        at=options.at,
        split_size=options.split_size or SPLIT_SIZE,
        case=case_of(options.case, options.lookalikes),
        master=options.master,
        remote=options.remote,
        store=options.store,
        subscriptions=subscriptions_of(options),
        between=between,
        began=options.began,
    )
    try:
        if options.store is not None:  # before Spark is started; and a piece of a log gets its name
            from idcore.rocketmq.store.folder import log_folder

            log_folder(Path(options.store))
        with _standard_input(STANDARD_INPUT in options.paths) as spooled:
            _make_room(options.out, options.overwrite)  # once more: reading a pipe takes as long as its writer likes
            names = dict.fromkeys(spooled, STANDARD_INPUT)
            paths = [spooled[0] if path == STANDARD_INPUT else path for path in options.paths]
            summary = _scanned(paths, options.out, asked, names)
    except CoreError as problem:
        complain(str(problem))
        return NOT_DONE
    from idcore.presentation.export import csv_of_rows, to_stream
    from idcore.presentation.terminal import scans

    if options.format in ("json", "jsonl"):
        print(json.dumps(summary | {"finding_list": scans.findings(options.out, options.lang)}))
    elif options.format == "csv":
        to_stream(csv_of_rows(scans.findings(options.out, options.lang), scans.FINDING), sys.stdout)
    else:
        lines = scans.summary(summary, options.out, options.lang, lambda: time.monotonic() - options.began)
        print("\n".join(lines))
    return SOME_UNREADABLE if _name_failures(options.out) else DONE


def _start_spark() -> None:
    """Before anything large is imported: Java takes longer than all of that."""
    configured = settings.current()
    if configured.spark_master or configured.spark_remote:
        return
    from idcore.spark.start import jvm

    jvm.begin()


@contextmanager
def _standard_input(wanted: bool) -> Iterator[list[str]]:
    """Standard input as a file that goes with the block, however that ends; no file where it is not wanted."""
    if not wanted:
        yield []
        return
    if sys.stdin is None:
        raise Usage("standard input is closed")
    with tempfile.NamedTemporaryFile(prefix="stdin-", dir=temporary.own()) as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        file.flush()
        yield [file.name]


def _make_room(out: Path, overwrite: bool) -> None:
    """An existing folder is kept unless it may be replaced; one that holds what no scan wrote never is."""
    if not out.exists():
        return
    if not overwrite:
        raise Usage(f"{out} exists; add --overwrite to replace what a scan wrote there")
    if not out.is_dir():
        raise Usage(f"{out} is not a folder")
    from idcore.scan.schemas import SCHEMAS

    for folder in (out / name for name in SCHEMAS):
        if folder.exists() and (
            folder.is_symlink()
            or not folder.is_dir()
            or any(not path.match("part-*.parquet") for path in folder.iterdir())
        ):
            raise Usage(f"{folder} contains files that no scan wrote; choose another folder")


def _range_of(options: argparse.Namespace) -> LineRange | None:
    """The times of --from, --to and --since; None where all lines are read."""
    if options.begin is options.end is options.since is None:
        return None
    if options.store is not None:
        raise Usage("--from, --to and --since go with PATHs; for a store folder: python -m idcore view")
    if options.since is not None and options.begin is not None:
        raise Usage("give either --from or --since, not both")
    ends = (None if text is None else to_ms(parse_instant(text, options.zone)) for text in (options.begin, options.end))
    begin, end = ends
    if options.since is not None:
        begin = to_ms(options.at - options.since)
    if begin is not None and end is not None and begin >= end:
        raise Usage("the time range is empty: it begins when it ends, or later")
    from idcore.sources.line_range import LineRange

    return LineRange(begin, end, Clock(options.at, options.zone, options.zone_source), options.case)


def _refuse_unwritable(out: Path) -> None:
    """Before Spark. Tried, because rights alone do not show it: a disk may be read-only or full."""
    there = next(folder for folder in (out.absolute(), *out.absolute().parents) if os.path.lexists(folder))
    try:
        with tempfile.TemporaryDirectory(prefix=".idcore-", dir=there):
            pass
    except OSError as error:
        raise CoreError("unwritable", {"path": str(out), "why": coded(error)}) from error


def _scanned(paths: list[str], out: Path, asked: ScanOptions, names: dict[str, str]) -> dict[str, Any]:
    """Ctrl-C stops the Spark job."""
    from idcore.spark.job import problem_of, scan
    from idcore.spark.watch import Cancelled

    def work(stop: threading.Event) -> dict[str, Any]:
        if not sys.stderr.isatty():
            return scan(paths, out, asked, None, stop, names)
        _say(words()("terminal.spark"))
        return scan(paths, out, asked, _show, stop, names)

    def interrupted(over: threading.Event) -> NoReturn:
        over.wait(_PATIENCE)
        raise KeyboardInterrupt

    try:
        return aside("scan", work, interrupted)
    except Cancelled:
        raise KeyboardInterrupt from None
    except CoreError:
        raise
    except Exception as error:
        raise CoreError("scan_failed", {"why": problem_of(error)}) from error


def _show(progress: Progress) -> None:
    from idcore.presentation.triage.run_texts import progress_text

    done, total, left = progress.bytes_done, progress.bytes_total, progress.seconds_left
    line = progress_text(done, total, progress.ids, progress.seconds, left, words())
    line += words()("scan.judging") if progress.phase == "judging" else ""
    _say(line)


def _say(line: str) -> None:
    """In the place of what was said before."""
    print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def _name_failures(out: Path) -> int:
    import pyarrow.parquet as pq

    files = pq.read_table(out / "files", columns=["file", "error", "error_values"])
    failed = [row for row in files.to_pylist() if row["error"]]
    for row in failed:
        why = CoreError(row["error"], json.loads(row["error_values"])).problem
        complain(f"{row['file']}: {why}")
    return len(failed)
