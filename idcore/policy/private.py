"""What others see of this process: its files are its user's alone, and no child inherits its keys. Imports little.

A folder that is meant to be shared says so itself: its group may write, and gets what is made in it (setgid).
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

OWN, OF_GROUP = 0o077, 0o007  # masks
_SECRET = ("SECRET", "PASSWORD", "PASSWD", "TOKEN", "ACCESS_KEY", "PRIVATE_KEY", "API_KEY", "CREDENTIAL")
# Java and workers read the input with these, or speak to each other: of stores, and of Spark itself.
_OF_INPUT = ("AWS_", "AZURE_", "GOOGLE_", "HADOOP_", "SPARK_", "PYSPARK_", "PYTHON_")
_OF_SERVER = "STREAMLIT_"  # it reads its settings again; a child needs none of them
_PATHS = "IDCORE_ALLOWED_PATHS"  # a URI may have a password
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
WITHOUT_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
_taken: dict[str, str] = {}


def begin(root: Path | None = None) -> None:
    """Once, at the start of a process. `root`: the folder of its scans, closed where an older version left it open."""
    is_of_group = root is not None and is_shared(root)
    os.umask(OF_GROUP if is_of_group else OWN)
    if is_of_group:  # the group could write in the folders of bytecode that are made from now on, which Python runs
        sys.dont_write_bytecode = True
        os.environ |= WITHOUT_BYTECODE
    for name in [name for name in os.environ if _is_secret(name) and not name.startswith(_OF_SERVER)]:
        _taken[name] = os.environ.pop(name)
    if root is not None and root.is_dir() and not is_shared(root):
        status = root.stat()
        if status.st_uid == os.geteuid() and status.st_mode & OWN:
            root.chmod(stat.S_IMODE(status.st_mode) & ~OWN)


def environment() -> Mapping[str, str]:
    """The environment with what `begin` took out of it: for who asks a cluster, and not for a child."""
    return {**_taken, **os.environ}


def variable(name: str) -> str | None:
    """One variable of it, without a copy of all."""
    return os.environ.get(name, _taken.get(name))


def child_environment() -> dict[str, str]:
    """What Java, workers and other children of this process inherit.

    With `python -m` they import nothing from the folder that a command is given in: whoever writes there, such as the
    author of a log archive, would run code in them.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not _is_secret(name) and not name.startswith(_OF_SERVER) and name != _PATHS
    }
    return kept | SAFE_PATH


def _is_secret(name: str) -> bool:
    return any(part in name.upper() for part in _SECRET) and not name.startswith(_OF_INPUT)


def is_shared(folder: Path) -> bool:
    """Whether a folder, or the one that it will be made in, is meant for the members of its group."""
    there = next((one for one in (folder, *folder.absolute().parents) if one.is_dir()), None)
    return there is not None and there.stat().st_mode & (stat.S_ISGID | stat.S_IWGRP) == stat.S_ISGID | stat.S_IWGRP


def read_own(path: Path, most: int) -> tuple[bytes, os.stat_result]:
    """A file below the folder of scans, so many bytes at most, and what the system says of it.

    OSError of one that another user made, or may read or write: the folder may be shared. A pipe is not waited for.
    """
    place = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(place, "rb") as file:
        status = os.fstat(place)
        if not stat.S_ISREG(status.st_mode) or status.st_mode & OWN or status.st_uid != _user_in(path.parents[1]):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))
        return file.read(most), status


@cache
def _user_in(folder: Path) -> int:
    """Whose the files of this process are in a folder: a network file system may call all users one."""
    import tempfile  # seldom needed

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return os.fstat(file.fileno()).st_uid
    except OSError:  # it cannot be written
        return os.geteuid()


def share(path: Path) -> None:
    """Gives the group what the owner may do, with a file or with a folder and all that it has."""
    for one in [path, *path.rglob("*")] if path.is_dir() else [path]:
        status = one.lstat()
        if status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode):
            one.chmod(stat.S_IMODE(status.st_mode) | (status.st_mode & stat.S_IRWXU) >> 3)
