"""The index of a run's lines, made on Spark after its scan: texts to pieces, pieces to one folder. Reads no page.

Each task writes its pieces where the driver will look for them; what crosses is their names.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from idcore.base.errors import CoreError
from idcore.base.open_folders import Roots, opener
from idcore.policy.limits import MOST_INDEXED
from idcore.runs.runs import Run, write_text
from idcore.scan.occurrences import dating
from idcore.scan.occurrences.index import NAME, VERSION, Index
from idcore.scan.occurrences.parts import PartWriter
from idcore.sources.inputs import (
    InputFile,
    Split,
    deal,
    kind_to_cut,
    list_files,
    list_store,
    pack_tasks,
    split_files,
    unpack_tasks,
)
from idcore.sources.kinds import GROWING, PLAIN
from idcore.sources.uris import is_uri
from idcore.spark import session
from idcore.spark.tasks import collected

FOLDER = "occurrences"
FRESH = 15.0  # seconds for which the index of a scan that goes on is good enough
TASK = 64 << 20  # bytes of text that one task reads
MOST_PROCESSES = 2_000_000  # every task dates its ids by this table
_PIECE = 1 << 16
_SCHEMA = pa.schema([("name", pa.string()), ("rows", pa.int64())])


def locate(run: Run, roots: Roots = None) -> None:
    """Makes the index of a finished scan, unless it is there: others read it. CoreError says why there is none.

    `roots` are the open folders, of a scan of the server's files.
    """
    written = run.path / "summary.json"
    known_at = written.stat().st_mtime_ns if written.exists() else 0  # before it is read: no later than what it says
    summary = run.summary or {}

    def is_there() -> bool:
        return Index.open(run.path / FOLDER) is not None and not is_old(run)

    if is_there():
        return
    plan = run.planned
    files = _inputs(plan, summary, roots)
    total, processes = sum(file.size - file.start for file in files), summary.get("processes", 0)
    if total > MOST_INDEXED or processes > MOST_PROCESSES:
        raise CoreError("lines_many", {"bytes": total, "processes": processes, "most": MOST_INDEXED})
    names = plan["names"] or {}
    shown = {number: InputFile(file.path, 0, name=names.get(file.path, "")).shown for number, file in enumerate(files)}
    aside = run.path / f".{FOLDER}-{uuid.uuid4().hex}"
    aside.mkdir()
    try:
        pieces = _pieces(plan, deal(_splits(files), TASK), shown, run.path, (aside, known_at))
        write_text(aside / NAME, json.dumps({"version": VERSION, "parts": pieces}))
        if "follow" in summary:  # then it is as old as what it was made of
            os.utime(aside / NAME, ns=(known_at, known_at))
        if is_there():  # of another, who was faster: somebody may be reading it
            return
        try:
            _put(aside, run)
        except OSError:
            if not is_there():  # else another was faster, at the last moment
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put(aside: Path, run: Run) -> None:
    """An index in its place. Who reads the one before, of a scan that goes on, has its files until the next one."""
    place = run.path / FOLDER
    before, after = Index.open(place), Index.open(aside)
    if before is None:
        shutil.rmtree(place, ignore_errors=True)
        aside.rename(place)
        return
    held = [*(after.parts if after else ()), *(before.parts if run.state == "running" else ())]
    for path in [path for path in aside.iterdir() if path.name != NAME]:
        path.rename(place / path.name)
    (aside / NAME).replace(place / NAME)
    names = {part.name for part in held}
    for path in [path for path in place.iterdir() if path.name != NAME and path.name.partition(".")[0] not in names]:
        path.unlink(missing_ok=True)


def is_old(run: Run) -> bool:
    """Whether an index lacks lines of a scan that goes on, or went on: it is made again from time to time."""
    return run.lines_behind > (FRESH if run.state == "running" else 0)


def _inputs(plan: Mapping[str, Any], summary: Mapping[str, Any], roots: Roots) -> list[InputFile]:
    """The files of a scan; of one that goes on the bytes that its tables have."""
    if (follow := summary.get("follow")) is not None:
        rows = follow["inputs"]
        return [InputFile(path, stop, kind=GROWING, roots=roots, start=start) for path, start, stop in rows]
    return list_files(plan["paths"], roots) if plan.get("store") is None else list_store(plan["store"], roots)


def tables_for(run: Path) -> dict[str, pa.Table]:
    """What dates and settles ids, from the tables of a scan."""
    used = {name: pq.read_table(run / name, columns=columns) for name, columns in dating.COLUMNS.items()}
    hosts = dating.of_several_months(used["processes"])["host"].unique().to_pylist() or [""]
    used["counters"] = pq.read_table(run / "counters", columns=dating.POINTS, filters=[("host", "in", hosts)])
    return used


def _splits(files: Sequence[InputFile]) -> list[Split]:
    """Whole files, and of large ones that are text as they are, pieces that begin with a line."""
    splits = []
    for split in split_files(files, 1 << 62):
        file = files[split.number]
        large = file.size - file.start > TASK and file.kind in ("", GROWING) and not is_uri(file.path)
        if large and (file.kind or kind_to_cut(split.path, split.roots)) in (PLAIN, GROWING):
            edges = [split.start, *_line_starts(split, file.size), file.size]
            pieces = [(start, stop) for start, stop in pairwise(edges) if start < stop]
            splits += [replace(split, start=start, stop=stop, kind=file.kind or PLAIN) for start, stop in pieces]
        else:
            splits.append(split)
    return splits


def _line_starts(split: Split, size: int) -> Iterator[int]:
    """Where the first line begins behind each multiple of a task's size; a line that is longer is not cut."""
    with open(split.path, "rb", opener=opener(split.roots)) as file:
        at = split.start + TASK
        while at < size:
            file.seek(at)
            while (piece := file.read(_PIECE)) and b"\n" not in piece:
                at += len(piece)
            if not piece:
                return
            at += piece.index(b"\n") + 1
            yield at
            at = (at // TASK + 1) * TASK


def _pieces(
    plan: Mapping[str, object],
    tasks: Sequence[Sequence[Split]],
    shown: Mapping[int, str],
    tables: Path,
    out: tuple[Path, int],
) -> list[list[object]]:
    """Names and rows of all pieces, in the order of the input. `out`: their folder, and what their names begin with."""
    if not tasks:
        return []
    packed = [pack_tasks([task]) for task in tasks]
    names = [{split.number: shown[split.number] for split in task} for task in tasks]
    case, (folder, generation) = str(plan["case"]), out

    def write(number: int) -> Iterator[pa.RecordBatch]:
        writer = PartWriter(folder, f"{generation}{number:06d}", tables_for(tables), case)
        for name, rows in writer.write(unpack_tasks(packed[number])[0], names[number]):
            yield pa.RecordBatch.from_arrays([pa.array([name]), pa.array([rows], pa.int64())], schema=_SCHEMA)

    # Of the settings: who writes in the folder of a scan must not name the Spark of everybody.
    rows = collected(session.session(), len(tasks), write, _SCHEMA)
    return sorted([list(row.values()) for row in rows.to_pylist()])
