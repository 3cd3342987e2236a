"""Whether a Spark session still lives, and how to forget one that does not, so that the next can begin."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from idcore.base.errors import CoreError
from idcore.spark.start import pyspark_private

if TYPE_CHECKING:
    from .tasks import Spark


class SparkError(CoreError):
    """Spark cannot be started or reached."""


def is_connect(spark: Spark) -> bool:
    """Whether the session talks to a Spark Connect server."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_local(spark: Spark) -> bool:
    """Whether its tasks run on this machine, next to this process."""
    return not is_connect(spark) and str(spark.sparkContext.master).split("[")[0] == "local"


def java_ended(spark: Spark) -> bool:
    """Whether the Java process that this one started for Spark has ended."""
    return not is_connect(spark) and _has_ended(spark, 0.0)


def _has_ended(spark: Spark, patience: float) -> bool:
    process = getattr(spark, "process", None)
    if process is None:
        return False
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        return False
    return True


def is_gone(spark: Spark) -> bool:
    """Whether no job can run in it any more: closed, its Java process ended, or its cluster lost."""
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    from py4j.protocol import Py4JError

    if java_ended(spark):
        return True
    try:
        return not spark.sparkContext.defaultParallelism  # any question that Java answers as long as it is not stopped
    except (AttributeError, Py4JError, OSError):
        return True


def forget(spark: Spark) -> None:
    """Ends a session with its Java, and makes PySpark take another."""
    if is_connect(spark):
        return
    pyspark_private.forget_java(spark.sparkContext)
    process = getattr(spark, "process", None)
    if process is not None and process.stdin is not None:
        process.stdin.close()  # Java ends with this pipe


def quieten(spark: Spark) -> None:
    """When Java goes, PySpark and py4j print tracebacks; the job that failed says it in words."""
    pyspark_private.quieten(spark.sparkContext)
    root = logging.getLogger()
    if _not_of_py4j not in root.filters:
        root.addFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def refuse_gone(spark: Spark, error: Exception) -> None:
    """Says in one sentence why a job failed whose session has gone under it."""
    if is_connect(spark):
        return
    gone = is_gone(spark)
    if gone and _has_ended(spark, 2.0):  # its connections break a moment before it is a dead process
        raise SparkError("spark_ended") from error
    if gone:
        raise SparkError("spark_closed") from error
