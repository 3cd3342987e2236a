"""`serve`: the console, by Streamlit, from the folder where its pages are."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec

from idcore.base.console_folder import CONSOLE

# As `make run` sets it: one heap for Python, Arrow and all threads gives back what visitors leave (ADR 54).
HEAP = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "262144",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def run(options: argparse.Namespace) -> int:
    """Becomes the console's process: a signal to this one is one to the console."""
    for module in ("streamlit", "plotly", "pyspark"):
        if find_spec(module) is None:
            raise ModuleNotFoundError(name=module)
    for name, value in HEAP.items():
        os.environ.setdefault(name, value)
    words = ["-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    words += ["--server.address", options.host, "--server.port", str(options.port)]
    os.chdir(CONSOLE)  # Streamlit reads its settings from there
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *words])
