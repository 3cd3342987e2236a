"""The facts of one merge task, so many whole parts at a time that they fit in memory. No figures, no Spark."""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from .crossing import Fact, What

HELD = 24 << 20  # bytes of facts merged at once: 5 to 15 million ids of few processes, or 500,000 of one id each
_HEAD = struct.Struct("<iq")  # what, bytes


def batches(facts: Iterable[Fact], held: int = HELD) -> Iterator[tuple[int, list[Fact]]]:
    """(lowest part, facts) of whole parts, about `held` bytes at once; a single part may be larger.

    Facts come in any order. While they come, what exceeds `held` waits in temporary files, one a part.
    """
    waiting: dict[int, list[Fact]] = {}
    size = 0
    with tempfile.TemporaryDirectory(prefix="idcore-merge-", dir=scratch(), ignore_cleanup_errors=True) as folder:
        sizes: dict[int, int] = {}
        for fact in facts:
            waiting.setdefault(fact.part, []).append(fact)
            size += len(fact.data)
            if size > held:
                for part, ready in waiting.items():
                    sizes[part] = sizes.get(part, 0) + _put(Path(folder) / str(part), ready)
                waiting, size = {}, 0
        batch: list[Fact] = []
        size, first = 0, -1
        for part in sorted({*sizes, *waiting}):
            ready = [*_get(Path(folder) / str(part), part), *waiting.get(part, ())] if part in sizes else waiting[part]
            more = sum(len(fact.data) for fact in ready)
            if batch and size + more > held:
                yield first, batch
                batch, size = [], 0
            if not batch:
                first = part
            batch += ready
            size += more
        if batch:
            yield first, batch


def scratch() -> str | None:
    """Where Spark's workers keep what does not fit in memory."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None


def _put(path: Path, facts: Iterable[Fact]) -> int:
    written = 0
    with path.open("ab") as file:
        for fact in facts:
            written += file.write(_HEAD.pack(fact.what, len(fact.data)))
            written += file.write(fact.data)
    return written


def _get(path: Path, part: int) -> Iterator[Fact]:
    with path.open("rb") as file:
        while head := file.read(_HEAD.size):
            what, size = _HEAD.unpack(head)
            yield Fact(part, What(what), file.read(size))
