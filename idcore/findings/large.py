"""Tables of runs that are too large for the driver, taken piece by piece. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.findings.evidence import KEY, Processes
from idcore.findings.limits import MOST_EXAMINED

_ROWS = 1 << 18


def tables_of(
    tables: Mapping[str, pa.Table], name: str, written: Mapping[str, Sequence[Path]] | None
) -> Iterator[pa.Table]:
    """One table in pieces: what is in memory, then the rows of each file."""
    if name in tables:
        yield tables[name]
    for path in (written or {}).get(name, ()):
        yield from (pa.Table.from_batches([batch]) for batch in pq.ParquetFile(path).iter_batches(_ROWS))


def units(tables: Mapping[str, pa.Table], written: Mapping[str, Sequence[Path]]) -> Iterator[Processes]:
    """All processes, in pieces, with their points; of a large run the points of those that most needs looking at."""
    if not written.get("processes") and not written.get("counters"):
        yield Processes(tables["processes"], tables["counters"])
        return
    for table in tables_of(tables, "processes", written):
        suspects = _suspects(table)
        pieces = [_points(piece, suspects) for piece in tables_of(tables, "counters", written)]
        counters = pa.concat_tables(pieces)
        order = [(name, "ascending") for name in (*KEY, "elapsed_ms", "counter")]
        yield Processes(table, counters.sort_by(order).combine_chunks())


def _suspects(table: pa.Table) -> pa.Table:
    """The keys of the processes in which something may be wrong with the counter, those with the most ids first."""
    doubt = pc.or_(pc.greater(table["chains"], 1), pc.greater(table["out_of_order"], 0))
    doubt = pc.or_(doubt, pc.or_(pc.greater(table["missing"], 0), pc.greater(table["wraps"], 0)))
    found = table.filter(doubt).sort_by([("chains", "descending"), ("ids", "descending")])
    return found.slice(0, MOST_EXAMINED).select(KEY)


def _points(counters: pa.Table, suspects: pa.Table) -> pa.Table:
    near = counters.filter(pc.is_in(counters["host"], value_set=suspects["host"].combine_chunks()))
    numbered = near.select(KEY).append_column("row", pa.array(np.arange(len(near))))
    kept = numbered.join(suspects, KEY, join_type="left semi")["row"]
    return near.take(kept)
