"""The process that Spark forks its Python workers from: it loads the kernels once, so that no worker has to."""

from __future__ import annotations

import gc
import importlib.machinery
import os
import sys


def _prefer_installed() -> None:
    """Spark puts its own archive of pyspark first on the path; read from there, every import compiles it anew.

    Where pyspark is installed as well, as it is beside this interpreter, that one is taken: half a second less.
    """
    archives = [path for path in sys.path if os.path.basename(path).startswith(("pyspark", "py4j")) and ".zip" in path]
    others = [path for path in sys.path if path not in archives]
    if importlib.machinery.PathFinder.find_spec("pyspark", others) is not None:
        sys.path[:] = others


if __name__ == "__main__":
    _prefer_installed()
    import pyspark.worker  # noqa: F401  every worker needs it, and is forked from here
    from pyspark.daemon import manager

    from idcore.scan.warm import warm

    warm()
    gc.collect()
    gc.freeze()  # pyspark collects garbage between two tasks of a worker; of what is loaded here nothing is
    manager()
