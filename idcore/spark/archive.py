"""The classes Spark loads at its start, as one archive for the JVM to map, made once at set-up. Knows no scan.

    python -m idcore.spark.archive          makes it, where there is none for this Java and this Spark

Loading some 13,000 classes from jars is most of a session's start. An archive belongs to one Java and one set of jars;
the JVM itself checks that, and starts without it where it does not fit.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pyspark

MAKE = "IDCORE_CLASS_ARCHIVE"  # set in the process that makes the archive: where the JVM is to write it
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"


def archive_path(java: str) -> Path:
    """Where the archive of this Java and this Spark lies, made or not."""
    home = os.path.realpath(java)
    stat = os.stat(home)
    own = f"{home} {stat.st_size} {stat.st_mtime_ns} {pyspark.__version__} {os.path.dirname(pyspark.__file__)}"
    name = f"spark-{hashlib.sha256(own.encode()).hexdigest()[:16]}.jsa"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocketmq-ids" / name


def java_options(java: str) -> str:
    """Options of the JVM that use the archive, or make it; none where there is none."""
    if making := os.environ.get(MAKE):
        return f"-XX:ArchiveClassesAtExit={making} {_QUIET}"
    path = archive_path(java)
    return f"-XX:SharedArchiveFile={path} -Xshare:auto {_QUIET}" if path.exists() else "-Xshare:auto"


def _scan_a_little() -> None:
    """What every console and every scan does with Spark, so that its classes are loaded when the JVM ends."""
    from idcore.scan.warm import TEXT

    from . import session
    from .job import ScanOptions, scan

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ids.log"
        log.write_bytes(TEXT * 8)
        scan([str(log)], Path(folder) / "out", ScanOptions(at=datetime.now(UTC), split_size=100))
    spark = session.session()
    java = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    spark.stop()
    java.stdin.close()  # the JVM ends, and writes the archive
    java.wait()


def make(java: str) -> Path:
    """The archive, made if it is not there; OSError where the JVM does not make one."""
    path = archive_path(java)
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        done = subprocess.run(
            [sys.executable, "-m", "idcore.spark.archive"],
            env={**os.environ, MAKE: str(made)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode or not made.exists():
            raise OSError(f"the class archive was not made: {done.stderr.decode(errors='replace').strip()[-300:]}")
        made.replace(path)
    return path


if __name__ == "__main__":
    if os.environ.get(MAKE):
        _scan_a_little()
    else:
        from .session import java

        found = java()
        if found is not None:
            make(found.path)
