"""The store folder of a real broker, unpacked for a test that reads it. Knows nothing of what is in it."""

from __future__ import annotations

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parent.parent / "vectors" / "store.tar.gz"


def real_store(folder: Path, archive: str = ARCHIVE.name) -> Path:
    """What the archive has, below this folder."""
    with tarfile.open(ARCHIVE.parent / archive) as tar:
        # Python has filters since 3.11.4, and Debian 12 has 3.11.2: an archive of our own needs none.
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        tar.extractall(folder)
    return folder / archive.partition(".")[0]
