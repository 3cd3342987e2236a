"""Folders of what this process runs as code later, such as compiled kernels: nobody else writes there. Imports little.

Where the folder of scans is shared with a group, the mask of the process lets that group write. It does not reach here.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def make(folder: Path) -> None:
    """Makes a folder and those around it that are missing, for this user alone. OSError where that fails."""
    for missing in reversed([*takewhile(lambda one: not one.exists(), (folder, *folder.parents))]):
        with suppress(FileExistsError):  # another process was first
            missing.mkdir(0o700)


def close(folder: Path) -> None:
    """Takes the right to write from all others, where a folder is this user's: an older version left it open."""
    with suppress(OSError):
        status = folder.stat()
        if status.st_uid == os.geteuid() and status.st_mode & _OTHERS:
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)


def is_own(path: Path) -> bool:
    """Whether a file or a folder is of this user, or of the system's, and nobody else may write in it. No link is."""
    status = path.lstat()
    is_known = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
    return is_known and status.st_uid in (0, os.geteuid()) and not status.st_mode & _OTHERS
