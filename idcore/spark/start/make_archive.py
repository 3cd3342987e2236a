"""Makes the archive of the classes that Spark loads at its start, once, at set-up: a small scan, and its JVM writes it.

python -m idcore.spark.start.make_archive               where this Java and this Spark lack one
python -m idcore.spark.start.make_archive --is-there    exit status 1 where they do
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from idcore.base import own_folder, temporary
from idcore.spark import session
from idcore.spark.start import jvm

from .archive import MAKE, archive_path, is_there


def _scan_a_little() -> None:
    """What every console and every scan does with Spark, so that its classes are loaded when the JVM ends."""
    from idcore.scan.warm import TEXT  # here: every `make run` asks this module whether there is an archive
    from idcore.spark.job import ScanOptions, scan

    with tempfile.TemporaryDirectory(dir=temporary.own()) as folder:
        log = Path(folder) / "ids.log"
        log.write_bytes(TEXT * 8)
        scan([str(log)], Path(folder) / "out", ScanOptions(at=datetime.now(UTC), split_size=100))
    spark = session.session()
    java = spark.process  # type: ignore[union-attr]
    spark.stop()
    java.stdin.close()  # type: ignore[union-attr]  # the JVM ends, and writes the archive
    java.wait()  # type: ignore[union-attr]


def make(java: str) -> None:
    """The archive, where there is none; OSError where the JVM does not make one."""
    path = archive_path(java)
    own_folder.make(path.parent)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        place = Path(folder) / path.name
        os.environ[MAKE] = str(place)
        _scan_a_little()
        if not place.exists():
            raise OSError("the JVM did not make its class archive")
        place.replace(path)


def main() -> int:
    """Exit status 0 where there is an archive, or where there is no Java to make one."""
    installed = jvm.java()
    if installed is None or is_there(archive_path(installed.path)):
        return 0
    if sys.argv[1:] == ["--is-there"]:
        return 1
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # of set-up: Java and the folder go as well
    make(installed.path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
