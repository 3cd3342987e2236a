"""Which table of a run is damaged: asked where something failed, so that what is whole costs nothing. Draws nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from idcore.base.errors import CoreError
from idcore.runs.runs import Run, RunError
from idcore.runs.table_sizes import fits
from idcore.scan.schemas import OF_LISTS, SCHEMAS

if TYPE_CHECKING:
    import pyarrow as pa

YEARS = (1700, 2200)  # the first and the last of a time
TABLES = {**OF_LISTS, **SCHEMAS}
_ALWAYS = ("ids", "distinct", "pid")  # columns without a null


def blamed(error: BaseException, find: Callable[[], Run | None]) -> BaseException:
    """The error, or in its place the damaged table behind it: a library says ArrowInvalid, or names a column alone."""
    if isinstance(error, CoreError | MemoryError) or (isinstance(error, OSError) and error.errno is not None):
        return error
    try:
        run = find()
        return error if run is None else damage(run, str(error)) or error
    except (CoreError, OSError):  # the run is gone
        return error


def damage(run: Run, said: str = "") -> RunError | None:
    """The first table of a run that cannot be read to its end; None where all are whole.

    Tables of older versions lack some columns. To lack most is damage, or one that an error names in what it `said`.
    """
    for folder in sorted(run.path.iterdir()):
        if folder.is_dir() and folder.name in TABLES and not _is_whole(folder, set(re.findall(r"\w+", said))):
            return RunError("table_damaged", {"name": run.name, "table": folder.name}, "table", None, folder.name)
    return None


def _is_whole(folder: Path, named: set[str]) -> bool:
    """Whether all pages of a table can be read. A group of rows is in memory at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths, wanted = sorted(folder.glob("*.parquet")), {field.name: field.type for field in TABLES[folder.name]}
    if not fits(folder, whole=False):
        return False
    try:
        for path in paths:
            with pq.ParquetFile(path) as file:
                there = {field.name: field.type for field in file.schema_arrow}
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group)
                    rows.validate(full=True)
                    if not all(map(_has_usual_times, rows.columns)):
                        return False
                    if any(rows[name].null_count for name in _ALWAYS if name in there):
                        return False
            if any(_family(there[name]) != _family(wanted[name]) for name in wanted.keys() & there.keys()):
                return False
            missing = wanted.keys() - there.keys()
            if named & missing or 2 * len(missing) > len(wanted):
                return False
    except (pa.ArrowException, OSError, ValueError, LookupError):
        return False
    return bool(paths)


def _has_usual_times(column: pa.ChunkedArray) -> bool:
    """Whether its times can be counted from with: pandas has nanoseconds of 64 bits around 1970."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_timestamp(column.type):
        return True
    ends = pc.min_max(column)
    return all(one.as_py() is None or YEARS[0] <= one.as_py().year <= YEARS[1] for one in (ends["min"], ends["max"]))


def _family(kind: object) -> str:
    """Text, number, time or truth: within one, pages read every width, and a text that is kept once."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _family(kind.value_type)  # type: ignore[attr-defined]
    kinds = {"number": (pa.types.is_integer, pa.types.is_floating), "time": (pa.types.is_timestamp,)}
    kinds |= {"text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)}
    return next((name for name, tests in kinds.items() if any(test(kind) for test in tests)), str(kind))
