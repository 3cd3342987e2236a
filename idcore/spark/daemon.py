"""The process that Spark forks its Python workers from: it loads the kernels once, so that no worker has to."""

from __future__ import annotations

from idcore.scan.warm import warm

if __name__ == "__main__":
    import pyspark.worker  # noqa: F401  every worker needs it, and is forked from here
    from pyspark.daemon import manager

    warm()
    manager()
