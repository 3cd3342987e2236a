"""What findings say of the clocks of processes, put into the table of processes, written before. Judges none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.base.open_folders import own_file
from idcore.ids.origins import PROCESS_KEY
from idcore.scan.schemas import CLOCK_MARKS

_PLACE = "place"  # of a row in the table of processes


def marked(processes: pa.Table, clocks: Sequence[pa.Table]) -> pa.Table:
    """The table with the marks of these processes."""
    return _marked(processes, pa.concat_tables(clocks)) if clocks else processes


def mark_files(paths: Sequence[Path], clocks: Sequence[pa.Table], check: Callable[[], None] = lambda: None) -> None:
    """The same of a table in files that are too large to be held; a file without such a process stays as it is.

    `check` raises where nobody wants it any more.
    """
    if not clocks:
        return
    marks = pa.concat_tables(clocks)
    hosts = pc.unique(marks["host"])
    for path in paths:
        with pq.ParquetFile(path) as file:
            if not any(
                pc.any(pc.is_in(batch["host"], value_set=hosts)).as_py()
                for batch in file.iter_batches(columns=["host"])
            ):
                continue
            aside = path.with_suffix(".marked")
            with (
                open(aside, "wb", opener=own_file) as marked,
                pq.ParquetWriter(marked, file.schema_arrow, compression="zstd", store_schema=False) as writer,
            ):
                for group in range(file.num_row_groups):
                    check()
                    writer.write_table(_marked(file.read_row_group(group), marks))
        aside.replace(path)


def _marked(processes: pa.Table, marks: pa.Table) -> pa.Table:
    own = marks.filter(pc.is_in(marks["host"], value_set=pc.unique(processes["host"])))
    rows = processes.select(PROCESS_KEY).append_column(_PLACE, pa.array(np.arange(len(processes))))
    marked = rows.join(own.select([*PROCESS_KEY, *CLOCK_MARKS]), PROCESS_KEY, join_type="inner")
    for name in CLOCK_MARKS:
        mask = np.zeros(len(processes), bool)
        mask[marked.filter(marked[name])[_PLACE].to_numpy()] = True
        processes = processes.set_column(processes.schema.get_field_index(name), name, pa.array(mask))
    return processes
