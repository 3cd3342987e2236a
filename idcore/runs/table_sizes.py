"""Whether a table of a run can be held in memory: of a file of some kilobytes it may be gigabytes. Shows nothing.

Who can write one file of one run must not stop the pages of everybody. So the headers of its pages are added up, and of
texts that repeat, which are places in a dictionary, the dictionary alone is read first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from idcore.base.errors import CoreError, refuse
from idcore.base.parquet_footer import metadata_of
from idcore.base.parquet_pages import pages

MOST = 2 << 30  # bytes of a table that is read whole, or of a group of rows of one that is not
_FEW = 1 << 18  # bytes of a column that are not counted to the byte
CELL = 8  # bytes of a value that is no text, and of the place of one that is


def fits(folder: Path, columns: Sequence[str] | None = None, whole: bool = True) -> bool:
    """Whether so much memory is enough for a table, or some of its columns; not `whole`: for a group of its rows."""
    return files_fit(sorted(folder.glob("*.parquet")), columns, whole)


def files_fit(paths: Sequence[Path], columns: Sequence[str] | None = None, whole: bool = True) -> bool:
    """The same of the files of a table."""
    import pyarrow as pa

    size = 0
    for path in paths:
        wanted = None if columns is None else tuple(columns)
        try:
            if not is_file(path):
                return False
            status = path.stat()
            for group in _sizes(str(path), (status.st_mtime_ns, status.st_size), wanted, whole):
                size = size + group if whole else max(size, group)
        except FileNotFoundError:  # it was made anew meanwhile: nothing is read of it
            continue
        except (pa.ArrowException, CoreError, OSError, ValueError, LookupError):
            return False  # damaged, or so written that Arrow alone could read it
        if size > MOST:
            return False
    return True


def is_file(path: Path) -> bool:
    """Whether a file of a table is one: to open a pipe would wait for ever, and a link leads elsewhere."""
    return stat.S_ISREG(path.lstat().st_mode)


@lru_cache(1 << 14)
def _sizes(path: str, _: tuple[int, int], columns: tuple[str, ...] | None, exact: bool) -> tuple[int, ...]:
    return tuple(_groups(path, columns, exact))


def _groups(path: str, columns: tuple[str, ...] | None, exact: bool) -> Iterator[int]:
    """Bytes of each group of rows, until one is too large."""
    import pyarrow.parquet as pq

    with open(path, "rb") as file, pq.ParquetFile(path, metadata=metadata_of(file, is_table=True)) as table:
        left = os.fstat(file.fileno()).st_size  # several columns that name the same bytes would be read again and again
        for number in range(table.num_row_groups):
            group = table.metadata.row_group(number)
            leaves = [group.column(place) for place in range(group.num_columns)]
            left -= sum(leaf.total_compressed_size for leaf in leaves)
            if left < 0:
                raise refuse("parquet_damaged")
            own = [leaf for leaf in leaves if columns is None or leaf.path_in_schema in columns]
            unpacked = {leaf.path_in_schema: sum(page.size for page in pages(file, leaf)) for leaf in own}
            size = sum(unpacked.values()) + CELL * group.num_rows * len(own)
            repeating = [leaf for leaf in own if leaf.physical_type in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")]
            for leaf in repeating if size <= MOST else ():
                size += _text(path, number, group.num_rows, leaf, unpacked[leaf.path_in_schema], exact)
            yield size
            if size > MOST:
                return


def _text(path: str, number: int, rows: int, leaf: Any, unpacked: int, exact: bool) -> int:
    """Bytes of the values of a column in a group of rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    # A value may repeat the one before it, too (DELTA_BYTE_ARRAY), which no table of ours does.
    is_repeated = leaf.has_dictionary_page or "DELTA_BYTE_ARRAY" in leaf.encodings
    if not is_repeated or rows * unpacked <= _FEW:
        return unpacked
    if not leaf.has_dictionary_page:
        return rows * unpacked
    name = leaf.path_in_schema
    with pq.ParquetFile(path, read_dictionary=[name]) as table:
        first = next(table.iter_batches(1, row_groups=[number], columns=[name], use_threads=False))[0]
        if not pa.types.is_dictionary(first.type):
            return rows * unpacked
        longest = rows * (pc.max(pc.binary_length(first.dictionary)).as_py() or 0)
        if not exact or longest <= _FEW:
            return int(longest)
        held = table.read_row_group(number, columns=[name], use_threads=False)[name]
        lengths = (pc.sum(pc.take(pc.binary_length(one.dictionary), one.indices)).as_py() for one in held.chunks)
        return sum(filter(None, lengths))
