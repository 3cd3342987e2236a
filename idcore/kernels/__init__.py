"""The compiled loops of the scan (numba): text to sorted runs of ids, runs to figures. They open no files."""

from __future__ import annotations

import hashlib
import os
import pkgutil
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

from idcore.base import own_folder

# Numba reads `.numba_config.yaml` of the folder that a command is given in, where there is PyYAML: options, and names
# of classes, whose modules it imports. That folder may be an archive of logs, so its author would say what is run.
warnings.filterwarnings("ignore", "A Numba config file is found")  # it looks again with each kernel that it compiles
_yaml = sys.modules.pop("yaml", None)
sys.modules["yaml"] = None  # type: ignore[assignment]
try:
    import numba
finally:
    del sys.modules["yaml"]
    if _yaml is not None:
        sys.modules["yaml"] = _yaml

# Of these Python calls the first: only they need what takes Python's objects apart, and only they are kept.
kernel = numba.njit(cache=True, nogil=True, no_cfunc_wrapper=True)
inner = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = numba.njit(cache=True, nogil=True, inline="always", no_cfunc_wrapper=True)

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
    if not own.startswith("~"):  # a container's user may have no home
        base = Path(own).absolute()
        own_folder.close(base)
        if (folder := _folder_in(base.resolve())) is not None:
            return folder
    return _folder_in(Path(spare)) or tempfile.mkdtemp(prefix="rocketmq-ids-kernels-")


def _folder_in(base: Path) -> str | None:
    """The folder of these sources; None where it cannot be written, or somebody else could: numba runs what is there.

    One of this user's in which others could write is made anew: what they may have put there is never read.
    """
    folder = base / _digest()
    try:
        own_folder.make(base)
        if not own_folder.is_own(base):
            return None
        own_folder.make(folder)
        if not own_folder.is_own(folder) and folder.lstat().st_uid == os.geteuid():
            shutil.rmtree(folder)
            own_folder.make(folder)
        return str(folder) if own_folder.is_own(folder) and os.access(folder, os.W_OK) else None
    except OSError:
        return None


class ByContent:
    """Finds a compiled kernel by the contents of the sources: what `NUMBA_CACHE_LOCATOR_CLASSES` of numba names.

    Numba's own locators go by the path of the source. On a cluster that is an archive in the folder of one application,
    so each application would compile again.
    """

    def __init__(self, py_func, py_file):
        self._py_file = py_file  # numba names it in its warnings
        self._line = py_func.__code__.co_firstlineno

    def ensure_cache_path(self):
        own_folder.make(Path(self.get_cache_path()))

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
