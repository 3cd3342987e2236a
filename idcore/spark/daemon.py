"""The process that Spark forks its Python workers from: it loads the kernels once, so that no worker has to."""

from __future__ import annotations

import ctypes
import gc
import importlib.machinery
import os
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_LARGE = 32 << 20  # what is larger goes back at once; glibc takes no more than this
_KEPT = 512 << 20


def _prefer_installed() -> None:
    """Spark puts its own archive of pyspark first on the path; read from there, every import compiles it again.

    Where pyspark is also installed, as for this interpreter, that one is taken: half a second less.
    """
    archives = [path for path in sys.path if os.path.basename(path).startswith(("pyspark", "py4j")) and ".zip" in path]
    others = [path for path in sys.path if path not in archives]
    if importlib.machinery.PathFinder.find_spec("pyspark", others) is not None:
        sys.path[:] = others


def _keep_memory() -> None:
    """What a task gives back is the next one's: to ask the system for it again can take longer than the work with it.

    Spark ends a worker that has been idle for a minute. Other C libraries than glibc have no such setting.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
        mallopt(_M_TRIM_THRESHOLD, _KEPT)


if __name__ == "__main__":
    _prefer_installed()
    _keep_memory()
    import pyspark.worker  # noqa: F401  every worker needs it, and is forked from here
    from pyspark.daemon import manager

    from idcore.scan.warm import warm

    warm()
    gc.collect()
    gc.freeze()  # pyspark collects garbage between two tasks of a worker; of what is loaded here nothing is
    manager()
