"""Makes the archive of the classes that Spark loads at its start, once, at set-up: a small scan, and its JVM writes it.

python -m idcore.spark.start.make_archive          where this Java and this Spark lack one
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from idcore.private import child_environment
from idcore.spark import session
from idcore.spark.start import jvm

from .archive import MAKE, archive_path


def _scan_a_little() -> None:
    """What every console and every scan does with Spark, so that its classes are loaded when the JVM ends."""
    from idcore.scan.warm import TEXT  # here: every `make run` asks this module whether there is an archive
    from idcore.spark.job import ScanOptions, scan

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
            [sys.executable, "-m", "idcore.spark.start.make_archive"],
            env={**child_environment(), MAKE: str(made)},
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
        found = jvm.java()
        if found is not None:
            make(found.path)
