"""What findings say of the clocks of processes, put into the table of processes, written before. Judges none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.answers.findings.processes import KEY
from idcore.scan.schemas import CLOCK_MARKS


def marked(processes: pa.Table, clocks: Sequence[pa.Table]) -> pa.Table:
    """The table with the marks of these processes."""
    marks = {tuple(row[name] for name in KEY): row for table in clocks for row in table.to_pylist()}
    hosts = pa.array(sorted({host for _, host, *_ in marks}), pa.string())
    near = np.flatnonzero(pc.is_in(processes["host"], value_set=hosts).to_numpy())
    rows = processes.select(KEY).take(pa.array(near)).to_pylist()
    found = [(place, mark) for place, row in zip(near, rows, strict=True) if (mark := marks.get(tuple(row.values())))]
    for name in CLOCK_MARKS:
        mask = np.zeros(len(processes), bool)
        mask[[place for place, mark in found if mark[name]]] = True
        processes = processes.set_column(processes.schema.get_field_index(name), name, pa.array(mask))
    return processes


def mark_files(paths: Sequence[Path], clocks: Sequence[pa.Table]) -> None:
    """The same of a table in files that are too large to be held; a file without such a process stays as it is."""
    hosts = pa.array(sorted({host for table in clocks for host in table["host"].to_pylist()}), pa.string())
    for path in paths if len(hosts) else ():
        with pq.ParquetFile(path) as file:
            if not any(
                pc.any(pc.is_in(batch["host"], value_set=hosts)).as_py()
                for batch in file.iter_batches(columns=["host"])
            ):
                continue
            aside = path.with_suffix(".marked")
            with pq.ParquetWriter(aside, file.schema_arrow, compression="zstd", store_schema=False) as writer:
                for group in range(file.num_row_groups):
                    writer.write_table(marked(file.read_row_group(group), clocks))
        aside.replace(path)
