"""Places that only root can make: real disks that are small, and real folders that are read-only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(place: Path, *how: str) -> Iterator[None]:
    """Something mounted at a folder, over what is there; without root skipped, and failed under CI."""
    place.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *how, str(place)], capture_output=True, text=True)
    if done.returncode:
        problem = f"only root may mount: {done.stderr.strip()}"
        if os.environ.get("CI"):
            pytest.fail(problem)
        pytest.skip(problem)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
