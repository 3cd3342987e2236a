"""One job of Spark: numbered tasks, and what each gives. Brings it here, and does not read it.

A session of this process is a SparkContext without SQL: to load SQL takes longer than all the rest of a start. There
Arrow crosses as bytes, in RDDs. A Connect server has data frames only, and there Arrow crosses as Arrow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from subprocess import Popen
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from idcore.scan.crossing import FACTS, Fact, What, from_batches, to_batch

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

Batches = Iterator[pa.RecordBatch]
Work = Callable[[int], Batches]
Read = Callable[[int], Iterator[Fact]]
Merge = Callable[[Iterable[Fact]], Batches]


@dataclass(frozen=True, slots=True)
class Engine:
    """Spark in this process, without its SQL."""

    sparkContext: SparkContext
    is_local: bool  # its tasks run on this machine
    process: Popen[bytes] | None = None  # the Java that this process has started for it

    def stop(self) -> None:
        self.sparkContext.stop()


if TYPE_CHECKING:
    Spark: TypeAlias = Engine | SparkSession  # the second: a Connect server's


def collected(spark: Spark, count: int, work: Work, schema: pa.Schema) -> pa.Table:
    """What the tasks 0 to `count` give."""
    if not isinstance(spark, Engine):

        def give(arriving: Batches) -> Batches:
            for number in _numbers(arriving):
                yield from work(number)

        return spark.range(0, count, 1, count).mapInArrow(give, _spark_schema(spark, schema)).toArrow()
    go = _going(spark)

    def made(own: Iterable[int]) -> Iterator[bytes]:
        go()
        return _pack(batch for number in own for batch in work(number))

    return _table(spark.sparkContext.parallelize(range(count), count).mapPartitions(made).collect(), schema)


def merged(spark: Spark, count: int, read: Read, merge: Merge, spread: int, schema: pa.Schema) -> pa.Table:
    """What the merge gives of the facts that the tasks 0 to `count` read; all facts of a part go to one of `spread`."""
    if not isinstance(spark, Engine):

        def give(arriving: Batches) -> Batches:
            return (to_batch([fact]) for number in _numbers(arriving) for fact in read(number))

        frame = spark.range(0, count, 1, count).mapInArrow(give, FACTS)
        parts = frame.repartition(spread, "part") if spread > 1 else frame
        return parts.mapInArrow(lambda batches: merge(from_batches(batches)), _spark_schema(spark, schema)).toArrow()
    numbers, go = spark.sparkContext.parallelize(range(count), count), _going(spark)

    def found(own: Iterable[int]) -> Iterator[Fact]:
        go()
        return (fact for number in own for fact in read(number))

    def made(pairs: Iterable[tuple[int, tuple[int, bytes]]]) -> Iterator[bytes]:
        go()
        return _pack(merge(Fact(part, What(what), data) for part, (what, data) in pairs))

    if count == spread == 1:  # nothing to bring together: one task reads and merges
        return _table(numbers.mapPartitions(lambda own: _pack(merge(found(own)))).collect(), schema)
    pairs = numbers.mapPartitions(lambda own: ((fact.part, (int(fact.what), fact.data)) for fact in found(own)))
    return _table(pairs.partitionBy(spread, lambda part: part).mapPartitions(made, True).collect(), schema)


def _spark_schema(spark: SparkSession, schema: pa.Schema) -> StructType:
    """Arrow's schema as Spark's: that of a table of it, which has a row, because Spark takes no empty one."""
    row = pa.Table.from_arrays([pa.nulls(1, field.type) for field in schema], schema=schema)
    return spark.createDataFrame(row).schema


def _going(spark: Engine) -> Callable[[], None]:
    """Where a relative path leads for the driver, it leads for its tasks: a session that stays has many folders."""
    here = os.getcwd() if spark.is_local else ""

    def go() -> None:
        if here:
            os.chdir(here)

    return go


def _numbers(arriving: Batches) -> Iterator[int]:
    for batch in arriving:
        yield from batch.column(0).to_pylist()


def _pack(batches: Batches | Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield sink.getvalue().to_pybytes()


def _table(packed: list[bytes], schema: pa.Schema) -> pa.Table:
    batches = [batch for data in packed for batch in pa.ipc.open_stream(data)]
    return pa.Table.from_batches(batches, schema)
