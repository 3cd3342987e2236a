"""The store folder of a real broker, unpacked for a test that reads it. Knows nothing of what is in it."""

from __future__ import annotations

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parent.parent / "vectors" / "store.tar.gz"


def real_store(folder: Path) -> Path:
    """The store, below this folder."""
    with tarfile.open(ARCHIVE) as tar:
        tar.extractall(folder, filter="data")
    return folder / "store"
