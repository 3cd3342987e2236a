"""Ids by process and broker with Spark SQL's own functions: what one writes who has Spark and not this tool.

    python -m benchmarks.peer_spark LOG             prints one JSON line: seconds in a session that is up, and totals

It finds runs of 32 digits (`regexp_extract_all`), folds equal ids and counts them by their first 20 digits, exactly.
Counters, files, hosts and everything else the scan computes are left out.
"""

from __future__ import annotations

import json
import sys
import time

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from idcore.spark.session import session


def by_process(spark: SparkSession, log: str) -> DataFrame:
    ids = spark.read.text(log).select(
        F.explode(F.regexp_extract_all("value", F.lit("([0-9A-Fa-f]{32})"), F.lit(1))).alias("id")
    )
    folded = ids.groupBy("id").agg(F.count("*").alias("n"))
    return folded.groupBy(F.substring("id", 1, 20).alias("process")).agg(
        F.sum("n").alias("ids"), F.count("*").alias("distinct")
    )


def total(rows: pa.Table, column: str) -> int:
    return int(pc.sum(rows[column]).as_py())


def main() -> None:
    spark = SparkSession(session().sparkContext)  # its SQL as Spark comes
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.range(10).count()
    begun = time.perf_counter()
    rows = by_process(spark, sys.argv[1]).toArrow()
    seconds = time.perf_counter() - begun
    print(json.dumps({"seconds": seconds, "ids": total(rows, "ids"), "distinct": total(rows, "distinct")}))
    spark.stop()


if __name__ == "__main__":
    main()
