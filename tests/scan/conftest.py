"""What the tests of the scan share: a log on disk, and whether there is a Java. Starts no Spark."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def on_disk(tmp_path: Path) -> Callable[[bytes, str], str]:
    """Writes bytes under a name; returns the path."""

    def write(data: bytes, name: str = "a.log") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return str(path)

    return write


@pytest.fixture(scope="session")
def java() -> None:
    """What Spark needs, for a test that starts it in a process; without Java skipped, and failed under CI."""
    from idcore.spark.start import jvm

    if jvm.java() is None:
        if os.environ.get("CI"):
            pytest.fail(f"no Java; {jvm.GET_JAVA}")
        pytest.skip("no Java")
