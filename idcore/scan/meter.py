"""How far each task is: a file of numbers that all processes of one machine map into memory. Uses no ids, no Spark."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from idcore.base import temporary
from idcore.sources.inputs import Split


class Meter:
    """One row for each partition, (bytes read, ids found); only the task at work on a partition writes its row."""

    def __init__(self, path: str, rows: int) -> None:
        self.path = path
        self.rows = rows
        self.table = np.memmap(path, np.int64, "r+", shape=(rows, 2))

    def __reduce__(self) -> tuple[type[Meter], tuple[str, int]]:
        return Meter, (self.path, self.rows)

    @property
    def total(self) -> tuple[int, int]:
        """Bytes and ids of all rows, without waiting for anyone."""
        done, ids = self.table.sum(axis=0)
        return int(done), int(ids)


@contextmanager
def new_meter(rows: int) -> Iterator[Meter]:
    """A meter at zero that goes with the block."""
    with tempfile.NamedTemporaryFile(prefix="meter-", dir=temporary.own()) as file:
        os.truncate(file.name, 16 * rows)
        yield Meter(file.name, rows)


class Hand:
    """Moves one row of a meter while a task reads its splits, one after the other."""

    def __init__(self, meter: Meter, row: int, splits: Sequence[Split]) -> None:
        self.row = meter.table[row]
        self.row[:] = 0  # a task that is tried again begins from zero
        self.sizes = iter([split.size for split in splits])
        self.bytes = self.ids = 0

    def move(self, taken: int, ids: int) -> None:
        """Sets the bytes and ids that are done of the present split."""
        self.row[0] = self.bytes + taken
        self.row[1] = self.ids + ids

    def found(self, ids: int) -> None:
        """A part of the present split is done, and held so many."""
        self.ids += ids

    def next(self) -> None:
        """Goes on to the next split."""
        self.bytes += next(self.sizes)
        self.move(0, 0)
