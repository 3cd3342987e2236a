"""The process that Spark forks its Python workers from: it loads the kernels once, so that no worker has to."""

from __future__ import annotations

from idcore.scan.warm import warm

if __name__ == "__main__":
    from pyspark.daemon import manager

    warm()
    manager()
