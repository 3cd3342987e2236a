"""The compiled loops of the scan (numba): text to sorted runs of ids, runs to figures. They open no files."""

from __future__ import annotations

import hashlib
import os
import pkgutil
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numba

_SOURCES = (
    "idcore.base.layout:layout.py",
    *(f"idcore.ids.{name}:{name}.py" for name in ("rules", "makers", "clock", "client_time")),
    *(f"idcore.ids.{name}:{name}.py" for name in ("line_moments", "line_time", "records")),
    *(f"{__name__}:{name}.py" for name in ("codes", "signs", "vector", "keys", "little_endian", "find", "clocks")),
    *(f"{__name__}:{name}.py" for name in ("zones", "dates", "stamps", "around")),
    *(f"{__name__}:{name}.py" for name in ("encode", "clients", "pairs", "paired_offsets", "chains", "unroll")),
    *(f"{__name__}:{name}.py" for name in ("merge", "stretches", "records", "fates", "folding", "line_numbers")),
)


@cache
def _digest() -> str:
    """Of all sources. Numba looks only at the file of the function it has cached, not at those compiled into it."""
    state = hashlib.sha256(numba.__version__.encode())
    for source in _SOURCES:
        package, name = source.split(":")
        state.update(pkgutil.get_data(package, name) or b"")
    return state.hexdigest()[:16]


@cache
def cache_folder() -> str:
    """Where compiled kernels are kept: a folder for each version of all their sources, where this user may write."""
    own = os.environ.get("NUMBA_CACHE_DIR") or os.path.expanduser("~/.cache/rocketmq-ids/kernels")
    spare = os.path.join(tempfile.gettempdir(), f"rocketmq-ids-{os.getuid()}")
    for base in (own, spare):
        folder = Path(base).absolute() / _digest()
        try:
            if base.startswith("~"):  # a container's user may have no home
                continue
            if base == spare:
                with suppress(FileExistsError):  # the next lines judge it
                    os.mkdir(base, 0o700)
                if not _is_private(base):
                    continue
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return str(folder)
        except OSError:
            continue
    return tempfile.mkdtemp(prefix="rocketmq-ids-kernels-")


def _is_private(path: str) -> bool:
    """Whether nobody else writes in a folder, and it is no link of theirs: what numba keeps there it runs."""
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


class ByContent:
    """Finds a compiled kernel by the contents of the sources: what `NUMBA_CACHE_LOCATOR_CLASSES` of numba names.

    Numba's own locators go by the path of the source. On a cluster that is an archive in the folder of one application,
    so each application would compile again.
    """

    def __init__(self, py_func, py_file):
        self._py_file = py_file  # numba names it in its warnings
        self._line = py_func.__code__.co_firstlineno

    def ensure_cache_path(self):
        os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_cache_path(self):
        return cache_folder()

    def get_source_stamp(self):
        return _digest()

    def get_disambiguator(self):
        return str(self._line)

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file) if py_func.__module__.startswith(f"{__name__}.") else None


_OTHERS = "UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator,ZipCacheLocator"
numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.ByContent,{numba.config.CACHE_LOCATOR_CLASSES or _OTHERS}"
