"""The compiled loops of the scan (numba): text to sorted runs of ids, runs to figures. They know no files."""

from __future__ import annotations

import hashlib
import os
import pkgutil
from pathlib import Path

import numba

_SOURCES = (
    "idcore.layout:layout.py",
    "idcore.ids.rules:rules.py",
    *(f"{__name__}:{name}.py" for name in ("vector", "find", "pairs", "encode", "chains", "unroll", "merge")),
)


def cache_folder() -> str:
    """Where compiled kernels are kept: a folder for each version of all their sources.

    Numba itself looks only at the file of the function it has cached, not at those of the functions compiled into it.
    """
    base = os.environ.get("NUMBA_CACHE_DIR") or str(Path.home() / ".cache" / "rocketmq-ids" / "kernels")
    state = hashlib.sha256(numba.__version__.encode())
    for source in _SOURCES:
        package, name = source.split(":")
        state.update(pkgutil.get_data(package, name) or b"")
    return os.path.join(base, state.hexdigest()[:16])


numba.config.CACHE_DIR = cache_folder()
