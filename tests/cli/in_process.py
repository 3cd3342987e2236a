"""A command in the process of the tests: it prints and ends as one of its own does, at a tenth of the cost.

What is of the process itself (how it starts, signals, closed streams) is tested with one.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, chdir
from pathlib import Path

import pytest

from idcore.__main__ import run

ROOT = Path(__file__).resolve().parent.parent.parent


def command(
    *words: str, given: bytes = b"", env: Mapping[str, str], folder: Path = ROOT
) -> subprocess.CompletedProcess[bytes]:
    """Runs it in a folder, that of the project, with files for its streams and an environment of its own."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(given)
        files[0].seek(0)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in os.environ.keys() - env.keys():
            patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        stack.callback(time.tzset)
        stack.enter_context(chdir(folder))
        streams = [io.TextIOWrapper(file, encoding="utf-8", newline=None) for file in files]
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        time.tzset()
        try:
            status = run(words)
        except SystemExit as ended:
            status = int(ended.code or 0)
        said = []
        for stream, file in zip(streams[1:], files[1:], strict=True):
            stream.flush()
            file.seek(0)
            said.append(file.read())
        return subprocess.CompletedProcess(words, status, *said)
