"""Passes over the splits of a log on Spark: what a work gives for each, with progress and cancel. Reads no record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from idcore.scan.meter import Hand
from idcore.sources.inputs import Split, pack_tasks, unpack_tasks

from .tasks import collected
from .watch import Reporter, Watch, check

if TYPE_CHECKING:
    from .tasks import Spark

Partitions = Sequence[Sequence[Sequence[Split]]]
Pieces = list[tuple[str, pa.Buffer]]
Work = Callable[[Sequence[Split]], Iterable[tuple[Split, str, bytes]]]
_SCHEMA = pa.schema([("file", pa.int32()), ("start", pa.int64()), ("kind", pa.string()), ("data", pa.binary())])


class Passes:
    """One log. Each pass is a job of Spark of its own, which `stop` ends."""

    def __init__(
        self,
        spark: Spark,
        partitions: Partitions,
        reporter: Reporter,
        stop: threading.Event,
        on_begin: Callable[[], object] = lambda: None,
    ) -> None:
        self.spark, self.partitions, self.reporter, self.stop = spark, partitions, reporter, stop
        self.on_begin = on_begin  # the driver is free for other work while a pass reads

    def check(self) -> None:
        """Ends the work that was asked to stop."""
        check(self.stop)

    def run(self, work: Work, partitions: Partitions | None = None) -> Pieces:
        """What the work gives for each split, in the order of the log; of some partitions, or of all."""
        chosen = self.partitions if partitions is None else partitions
        self.check()
        sizes = [sum(split.size for task in tasks for split in task) for tasks in chosen]
        packed = [pack_tasks(tasks) for tasks in chosen]
        with Watch(self.spark, sizes, self.reporter, self.stop, phase="judging") as watch:
            meter = watch.meter

            def walk(number: int) -> Iterator[pa.RecordBatch]:
                splits = [split for task in unpack_tasks(packed[number]) for split in task]
                hand = Hand(meter, number, splits) if meter is not None else None
                return _given(work(splits), splits, hand)

            self.on_begin()
            results = collected(self.spark, len(chosen), walk, _SCHEMA)
            self.reporter(watch.progress())
        self.check()
        order = pc.sort_indices(results, [(name, "ascending") for name in ("file", "start", "kind")]).to_pylist()
        kinds, data = results["kind"], results["data"]  # the largest that the driver has: not copied
        return [(kinds[at].as_py(), data[at].as_buffer()) for at in order]


def _given(
    pieces: Iterable[tuple[Split, str, bytes]], splits: Sequence[Split], hand: Hand | None
) -> Iterator[pa.RecordBatch]:
    """Pieces as they travel; the hand is where the split of a piece ends."""
    ends = dict(zip(splits, accumulate(split.size for split in splits), strict=True))
    for split, kind, data in pieces:
        row = (split.number, split.start, kind, data)
        yield pa.RecordBatch.from_arrays(
            [pa.array([value], each.type) for value, each in zip(row, _SCHEMA, strict=True)], schema=_SCHEMA
        )
        if hand is not None:
            hand.move(ends[split], 0)
