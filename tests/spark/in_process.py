"""The tables of fates without Spark: all passes in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.rocketmq.store import StoreFolder
from idcore.scan.crossing import What
from idcore.scan.facts import scan_task
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.schemas import SCHEMAS
from idcore.sources.inputs import list_store, split_files
from idcore.spark import fates
from idcore.spark.passes import Passes
from idcore.spark.watch import Reporter

AT = datetime(2026, 11, 22, tzinfo=UTC)
Given = dict[tuple[str, str], str]


def run_here(passes: Passes, work: Callable[..., Iterator[Any]], partitions: Any = None) -> list[tuple[str, pa.Buffer]]:
    """In the place of `Passes.run`."""
    splits = [split for partition in partitions or passes.partitions for task in partition for split in task]
    return [(kind, pa.py_buffer(data)) for split in splits for _, kind, data in work([split])]


def tables(
    root: Path, split: int = 1 << 30, given: Given | None = None, folder: Path | None = None
) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """The tables of a store with the rows of all their files, and their counts."""
    months = month_rows(AT, UTC)
    scanned = scan_local([str(root)], months, store=True)
    splits = list(split_files(list_store(str(root)), split))
    facts = (fact for each in splits for fact in scan_task([each], months, with_copies=True))
    copied = [fact.data for fact in facts if fact.what == What.COPIES]
    nothing: Any = None
    with StoreFolder(root) as store:
        passes = Passes(nothing, [[[each]] for each in splits], Reporter(None), Event())
        made = fates.tables(passes, StoreEvidence(store, given), scanned, copied, folder)
    for name, table in made.tables.items():
        kinds = [getattr(each.type, "value_type", each.type) for each in table.schema]
        assert kinds == SCHEMAS[name].types and table.column_names == SCHEMAS[name].names, name
    for name, paths in made.written.items():
        assert all(pq.read_schema(path).types == SCHEMAS[name].types for path in paths), name
        made.tables[name] = pa.concat_tables([made.tables[name].cast(SCHEMAS[name]), *map(pq.read_table, paths)])
    return {name: table.cast(SCHEMAS[name]) for name, table in made.tables.items()}, made.counted
