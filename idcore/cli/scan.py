"""`python -m idcore scan`: hands paths to the Spark job, shows how far it is and what it found. Counts nothing."""

from __future__ import annotations

import argparse
import glob
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from idcore.base.errors import CoreError, refuse
from idcore.base.safe_text import printable, size
from idcore.cli.aside import aside, interruptible
from idcore.cli.parser import Usage, subscriptions_of
from idcore.ids.identify import LOOK_ALIKES
from idcore.policy import settings
from idcore.sources.uris import is_uri, local_path

if TYPE_CHECKING:
    from idcore.spark.job import ScanOptions
    from idcore.spark.watch import Progress

DONE, SOME_UNREADABLE, NOT_DONE = 0, 1, 3
STANDARD_INPUT = "-"
NO_FINDINGS = "no findings: no rule found a problem; this does not prove that every message arrived"
_SHOWN = 10
_SPEED = "bytes_per_second"
_COUNTED = ("produced", "missing", "wraps")  # what a counter that is cut to eight bits does not show
_FIGURES = (
    "distinct: different IDs in this input; produced: generated, according to the counter; missing: produced, but not"
    " in this input; -: an 8-bit counter does not show it"
)
_PATIENCE = 10.0  # seconds that a cancelled scan has to clean up


@interruptible()  # from here on: Java is started long before the work is
def run(options: argparse.Namespace) -> int:
    """Exit status 0 done, 1 some input could not be read, 3 could not be done, 130 cancelled."""
    if bool(options.paths) == (options.store is not None):
        raise Usage("give either PATHs or --store DIR, not both")
    _make_room(options.out, options.overwrite)
    if options.paths.count(STANDARD_INPUT) > 1:
        raise Usage("- (standard input) may be given only once")
    if options.paths and all(map(_is_missing, options.paths)):  # before Spark: and no tables that are in the way then
        for path in options.paths:
            print(printable(f"idcore: {path}: {refuse('ENOENT').problem}"), file=sys.stderr)
        return SOME_UNREADABLE
    if not (options.master or options.remote):
        _start_spark()
    from idcore.spark.job import SPLIT_SIZE, ScanOptions  # Java is on its way up meanwhile

    asked = ScanOptions(
        zone=options.zone,
        zone_source=options.zone_source,
        at=options.at,
        split_size=options.split_size or SPLIT_SIZE,
        case=options.case,
        master=options.master,
        remote=options.remote,
        store=options.store,
        subscriptions=subscriptions_of(options),
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
        print(f"idcore: {' '.join(str(problem).split())}", file=sys.stderr)
        return NOT_DONE
    if options.format == "json":
        print(json.dumps(summary | {"finding_list": sentences(options.out, options.lang)}))
    else:
        print(describe(summary, options.out, options.lang))
    return SOME_UNREADABLE if _name_failures(options.out) else DONE


def _is_missing(path: str) -> bool:
    """Whether nothing has this name: no file, no folder, nothing that a pattern matches."""
    here = local_path(path)
    return not (path == STANDARD_INPUT or is_uri(path) or os.path.lexists(here) or glob.glob(here, recursive=True))


def _start_spark() -> None:
    """Before anything large is imported: Java takes longer than all of that."""
    told = settings.current()
    if told.spark_master or told.spark_remote:
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
    with tempfile.NamedTemporaryFile(prefix="idcore-stdin-") as file:
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


def _scanned(paths: list[str], out: Path, asked: ScanOptions, names: dict[str, str]) -> dict[str, Any]:
    """Ctrl-C stops the Spark job."""
    from idcore.spark.job import problem_of, scan
    from idcore.spark.watch import Cancelled

    def work(stop: threading.Event) -> dict[str, Any]:
        return scan(paths, out, asked, _show if sys.stderr.isatty() else None, stop, names)

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
    rate = progress.bytes_done / progress.seconds if progress.seconds else 0.0
    left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
    line = (
        f"{size(progress.bytes_done)} of {size(progress.bytes_total)}, {size(int(rate))}/s, {progress.ids:,} IDs{left}"
        + (", judging what groups consumed" if progress.phase == "judging" else "")
        if progress.phase in ("reading", "judging")
        else f"{size(progress.bytes_total)} read, {progress.ids:,} IDs, {progress.phase}"
    )
    print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def describe(summary: dict[str, Any], out: Path, lang: str = "en") -> str:
    """The summary for a person: totals, the largest processes and brokers, what was rejected or could not be read."""
    from idcore.base import catalogue

    english = catalogue.words(catalogue.ENGLISH)
    n = {name: f"{value:,}" for name, value in summary.items() if isinstance(value, int)}
    assumed = summary["assumed"]
    nouns = {"file": "files", "host": "hosts", "process": "processes", "broker": "brokers", "segment": "segments"}
    files, hosts, processes, brokers, segments = (english.count(noun, summary[name]) for noun, name in nouns.items())
    lines = [
        f"{files}, {size(summary['text_bytes'])} of text: {n['ids']} IDs, {n['distinct']} distinct"
        f" ({n['uniq']} msgId, {n['offset']} offsetMsgId, {n['client']} 5.x msgId); {n['refused']} rejected",
        f"{hosts}, {processes}; {brokers}, {segments}",
        *(f"not read: the tables of a scan in {folder}" for folder in summary.get("left_out", ())),
        *([f"{n['undelivered']} messages that a consumer group has not consumed"] if "undelivered" in n else []),
        *(
            [f"{n['traces_left_out']} older trace records were not read: verdicts rest on the newer ones"]
            if summary.get("traces_left_out")
            else []
        ),
        *_evidence(summary, lang),
        f"{summary['start_seconds']:.1f} s until Spark was up, {summary['seconds']:.2f} s from then;"
        f" times in {assumed['zone_name'] or assumed['zone']} ({assumed['zone_source']})",
    ]
    columns = ["host", "pid", "loader", "ids", "distinct", "produced", "missing", "wraps", "tracks"]
    lines += _largest(out, "processes", columns)
    if summary["processes"]:
        lines += [_FIGURES, ""]
    lines += _largest(out, "brokers", ["address", "ids", "distinct", "segments", "min_offset", "max_offset", _SPEED])
    for row in _table(out, "refused", ["reason", "ids", "sample", "file", "byte"]):
        way_out = " (to decode them: --case any)" if row["reason"] in LOOK_ALIKES else ""
        first = f"{row['sample']} in {row['file']} at byte {row['byte']:,}"
        lines.append(f"rejected as {row['reason']}: {row['ids']:,}, first {first}{way_out}")
    return printable("\n".join([*lines, *_findings(summary, out, lang), f"tables in {out}"]))


def _evidence(summary: dict[str, Any], lang: str) -> Iterator[str]:
    """Of which time a store folder is, and which of its files could not be read."""
    from idcore.answers.lookup import Evidence, evidence_text
    from idcore.base import catalogue

    for each in summary.get("evidence", ()):
        yield f"  {evidence_text(Evidence(**each), catalogue.words(lang))}"


def sentences(out: Path, lang: str) -> list[dict[str, Any]]:
    """The findings of a finished scan, worst first, with what each means, what to do and what would disprove it."""
    from idcore.answers.findings import words
    from idcore.answers.findings.model import number_of, read_evidence

    found = []
    for row in _table(out, "findings", ["code", "severity", "subject", "count", "values", "certainty"]):
        values = json.loads(row.pop("values"))
        row["number"] = number_of(read_evidence(row["code"], values))
        found.append(row | {part: words.say(part, row["code"], values, lang) for part in words.SENTENCES})
    return found


def _findings(summary: dict[str, Any], out: Path, lang: str) -> list[str]:
    """How many of each severity, and what the worst ones mean."""
    counts = summary["findings"]
    if not any(counts.values()):
        return [NO_FINDINGS if summary["ids"] else "no findings: the input has no IDs, so there was nothing to check"]
    head = "findings: " + ", ".join(f"{count:,} {severity}" for severity, count in counts.items() if count)
    rows = sentences(out, lang)
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault((row["severity"], row["code"]), []).append(row)
    lines = []
    for (severity, code), same in kinds.items():
        others = sum(row["number"] for row in same) - 1
        more = f" ({others:,} more of this kind)" if others else ""
        lines.append(f"  {severity} {code}: {same[0]['meaning']}. {same[0]['advice']}{more}")
    return ["", head, *lines, ""]


def _table(out: Path, name: str, columns: list[str]) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    return pq.read_table(out / name, columns=columns).to_pylist()  # type: ignore[no-any-return]


def _largest(out: Path, name: str, columns: list[str]) -> list[str]:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import dataset

    from idcore.answers.findings.limits import CUT_COUNTER

    whole = dataset.dataset(out / name)
    read = [*columns, "layout"] if "layout" in whole.schema.names else columns
    largest = whole.schema.empty_table().select(read)
    by = [("ids", "descending"), (columns[0], "ascending"), (columns[1], "ascending")]
    for batch in whole.to_batches(columns=read):  # a table may be larger than memory
        both = pa.concat_tables([largest, pa.Table.from_batches([batch])])
        largest = both.take(pc.select_k_unstable(both, _SHOWN, by))
    rows = [
        [
            "-" if column in _COUNTED and row.get("layout") == CUT_COUNTER else _cell(column, row[column])
            for column in columns
        ]
        for row in largest.to_pylist()
    ]
    if not rows:
        return []
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    text = [
        "",
        *("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [columns, *rows]),
    ]
    more = whole.count_rows() - len(rows)
    if more:
        text.append(f"and {more:,} more {name}")
    return [*text, ""]


def _cell(column: str, value: Any) -> str:
    if column == _SPEED:
        return "-" if value is None else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and column != "pid" else str(value)


def _name_failures(out: Path) -> int:
    failed = [row for row in _table(out, "files", ["file", "error", "error_values"]) if row["error"]]
    for row in failed:
        why = CoreError(row["error"], json.loads(row["error_values"])).problem
        print(printable(f"idcore: {row['file']}: {why}"), file=sys.stderr)
    return len(failed)
