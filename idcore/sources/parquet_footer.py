"""The footer of a Parquet file, read by a process of its own first: some damage ends whoever asks for a column of it.

Arrow throws where its Python has no handler (`ColumnChunk` of `_parquet.pxd`), which aborts the process: one file of a
visitor would end the console of everybody. What reads the values has handlers.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from typing import Any

import pyarrow.parquet as pq

from idcore.base.errors import refuse
from idcore.policy.private import child_environment

_MARK, _END = b"PAR1", 8  # the first bytes of a file; its last are the length of the footer and this mark again
_SECONDS = 60.0
_MOST = 256
_looked_at: dict[bytes, bool] = {}  # by the digest of a footer
_CHILD = """
import io, sys
sys.path[:] = sys.argv[1:]
import pyarrow.parquet as pq
known = pq.read_metadata(io.BytesIO(sys.stdin.buffer.read()))
for number in range(known.num_row_groups):
    group = known.row_group(number)
    for place in range(group.num_columns):
        column = group.column(place)
        column.path_in_schema, column.encodings, column.has_dictionary_page, column.physical_type
"""


def metadata_of(file: Any) -> pq.FileMetaData:
    """What the footer says, of which every column may be asked for; ArrowException or CoreError of one that is damaged.

    A reader is to be given this, and not to read the footer again.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END))
    end = file.read(_END)
    length = int.from_bytes(end[:4], "little")
    if len(end) < _END or end[4:] != _MARK or length > size - _END - len(_MARK):
        raise refuse("parquet_damaged")
    file.seek(size - _END - length)
    alone = _MARK + file.read(length) + end
    known = pq.read_metadata(io.BytesIO(alone))
    if not _is_whole(alone):
        raise refuse("parquet_damaged")
    return known


def _is_whole(alone: bytes) -> bool:
    """Whether a process survives a look at every column. A file is looked at again for each of its parts."""
    name = hashlib.sha256(alone).digest()
    if name not in _looked_at:
        if len(_looked_at) >= _MOST:
            _looked_at.clear()
        _looked_at[name] = _survives(alone)
    return _looked_at[name]


def _survives(alone: bytes) -> bool:
    words = [sys.executable, "-I", "-c", _CHILD, *filter(None, sys.path)]
    try:
        done = subprocess.run(
            words, input=alone, capture_output=True, env=child_environment(), timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
