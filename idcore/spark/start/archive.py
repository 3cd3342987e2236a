"""The place of the archive of the classes that Spark loads at its start, and the JVM's options for it. Makes none.

Loading some 9,000 classes from jars is most of a session's start. An archive belongs to one Java and one set of jars;
the JVM itself checks that, and starts without it where it does not fit.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from idcore.base import own_folder

MAKE = "IDCORE_CLASS_ARCHIVE"  # set in the process that makes the archive: where the JVM is to write it
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"


@cache
def spark_home() -> str:
    """Where PySpark is, without importing it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pyspark is not installed", name="pyspark")
    return os.path.dirname(spec.origin)


def archive_path(java: str) -> Path:
    """The place of the archive of this Java and this Spark, made or not."""
    home = os.path.realpath(java)
    stat = os.stat(home)
    jars = " ".join(sorted(os.listdir(os.path.join(spark_home(), "jars"))))  # their names have their versions
    own = f"{home} {stat.st_size} {stat.st_mtime_ns} {spark_home()} {jars}"
    name = f"spark-{hashlib.sha256(own.encode()).hexdigest()[:16]}.jsa"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocketmq-ids" / name


def java_options(java: str) -> str:
    """Options of the JVM that use the archive, or make it; no options where it cannot exist."""
    if making := os.environ.get(MAKE):
        return f"-XX:ArchiveClassesAtExit={making} {_QUIET}"
    path = archive_path(java)
    return f"-XX:SharedArchiveFile={path} -Xshare:auto {_QUIET}" if is_there(path) else "-Xshare:auto"


def is_there(path: Path) -> bool:
    """Whether there is an archive that nobody else could write: the JVM runs what it says."""
    own_folder.close(path.parent)
    return path.exists() and own_folder.is_own(path) and own_folder.is_own(path.parent)
