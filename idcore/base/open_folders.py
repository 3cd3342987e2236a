"""Opens what really is in open folders, wherever a path was made to lead meanwhile. Depends on no visitor.

To check a path and to open it are two moments, and a link may be put between them (TOCTOU). So the descriptor is asked
what it is of, before anything is read from it.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from stat import S_ISDIR, S_ISREG

Roots = tuple[str, ...] | None  # real paths of open folders, and URIs; None: the command line opens what its user names
_PATH_OF = getattr(fcntl, "F_GETPATH", None)  # of macOS; Linux has /proc
_CAREFUL = os.O_NONBLOCK | os.O_NOCTTY  # to open a pipe or a terminal that is no file waits for nobody


def descriptor(path: str | os.PathLike[str], roots: Roots, flags: int = 0) -> int:
    """An open file or folder; PermissionError where it is in no open folder, also where nothing is."""
    if roots is None:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _CAREFUL | flags)
    except OSError:
        if not is_in(os.path.realpath(path), roots):  # what is outside is not told from what is not there
            raise refused from None
        raise
    try:
        if not is_in(_path_of(opened), roots):
            raise refused
    except BaseException:
        os.close(opened)
        raise
    return opened


def opener(roots: Roots) -> Callable[[str, int], int]:
    """For `open`: the same, of a file. A pipe that was put in its place would be read without an end."""

    def opened(path: str, flags: int) -> int:
        number = descriptor(path, roots, flags)
        if roots is None or S_ISREG(os.fstat(number).st_mode):
            return number
        os.close(number)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), path)  # what the system says of a socket

    return opened


def own_file(path: str, flags: int) -> int:
    """For `open`, to write: a file of a folder where others may write too, such as that of a shared scan.

    Through a link of theirs, also in the place of its folder, it would write over a file that they cannot reach.
    """
    folder, name = os.path.split(path)
    parent = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        number = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC | _CAREFUL, 0o666, dir_fd=parent)
    finally:
        os.close(parent)
    if S_ISREG(os.fstat(number).st_mode):
        return number
    os.close(number)
    raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), path)


@contextmanager
def entries(folder: str | os.PathLike[str], roots: Roots) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What is in a folder. Of the entries only the names count: the path of one begins at the folder."""
    if roots is None:
        with os.scandir(folder) as inside:
            yield inside
        return
    opened = descriptor(folder, roots, os.O_DIRECTORY)
    try:
        with os.scandir(opened) as inside:
            yield inside
    finally:
        os.close(opened)


def status(path: str, entry: os.DirEntry[str], roots: Roots) -> os.stat_result:
    """What an entry leads to; OSError where that is outside."""
    if roots is None:
        return entry.stat()
    return file_status(path, roots) if entry.is_symlink() else entry.stat(follow_symlinks=False)


def file_status(path: str | os.PathLike[str], roots: Roots) -> os.stat_result:
    """Size and kind of what a path leads to."""
    if roots is None:
        return os.stat(path)
    opened = descriptor(path, roots)
    try:
        return os.fstat(opened)
    finally:
        os.close(opened)


def is_folder(path: str | os.PathLike[str], roots: Roots) -> bool:
    """Whether a path leads to a folder: False where nothing is, PermissionError where it leads outside."""
    return S_ISDIR(_mode(path, roots))


def is_regular(path: str | os.PathLike[str], roots: Roots) -> bool:
    """The same of a file. `Path.is_file` would tell what is outside from what is not there."""
    return S_ISREG(_mode(path, roots))


def _mode(path: str | os.PathLike[str], roots: Roots) -> int:
    try:
        return file_status(path, roots).st_mode
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
            raise
        return 0


def is_file(status: os.stat_result) -> bool:
    """Whether it is a regular file."""
    return S_ISREG(status.st_mode)


def is_in(path: str, roots: Roots) -> bool:
    """Whether a real path is one of the open folders, or below one."""
    return roots is None or any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _path_of(number: int) -> str:
    """Where an open file is now, without links."""
    if _PATH_OF is not None:
        return os.fsdecode(fcntl.fcntl(number, _PATH_OF, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{number}")
