"""The text of the input, at any byte: from its file, or from the blocks that were kept. Looks for no id."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from idcore.base.errors import coded, refuse
from idcore.base.open_folders import Roots, opener

_MOST_UNPACKED = 64  # blocks held: 16 MiB, which the next index of a followed scan does not use any more


class Block(NamedTuple):
    """Bytes of a text, packed in a file of the index."""

    start: int
    size: int
    file: str
    at: int
    packed: int


class Source(NamedTuple):
    """Where one text is: its file with the time of its last change and its size, or its blocks in order."""

    name: str
    path: str | None
    changed_ns: int | None
    bytes: int | None
    blocks: tuple[Block, ...] = ()


@lru_cache(maxsize=_MOST_UNPACKED)
def _unpacked(path: str, at: int, packed: int, size: int) -> bytes:
    with open(path, "rb", opener=opener((os.path.realpath(os.path.dirname(path)),))) as file:
        file.seek(at)
        return pa.Codec("zstd").decompress(file.read(packed), size, asbytes=True)  # type: ignore[no-any-return]


def read(source: Source, folder: Path, start: int, stop: int, allowed: Callable[[str], Roots]) -> bytes:
    """The bytes from `start` to before `stop`, fewer at the end of the text. CoreError says why they cannot be read.

    `allowed` is asked before a file of the input is opened; it raises where that is not permitted any more, and gives
    the folders in which the file has to be.
    """
    start = max(0, start)
    if source.path is None:
        pieces = []
        first = max(0, bisect_right([block.start for block in source.blocks], start) - 1)
        for block in source.blocks[first:]:
            if block.start >= stop:
                break
            text = _unpacked(str(folder / block.file), block.at, block.packed, block.size)
            pieces.append(text[max(0, start - block.start) : max(0, stop - block.start)])
        return b"".join(pieces)
    roots = allowed(source.path)
    try:
        with open(source.path, "rb", opener=opener(roots)) as file:
            status = os.fstat(file.fileno())
            if (status.st_mtime_ns, status.st_size) != (source.changed_ns, source.bytes):
                raise refuse("file_changed", file=source.name)
            return os.pread(file.fileno(), stop - start, start)
    except OSError as problem:
        raise refuse("unreadable", path=source.name, why=coded(problem)) from None
