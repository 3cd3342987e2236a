"""What a broker keeps of its settings in RocksDB: keys and values of a folder. Reads a copy, in a process of its own.

The library is native code, and a folder may be anybody's: what a damaged one does to it ends that process alone. A copy
keeps it from writing next to what is read, and has it replay the write-ahead log that a running broker leaves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from idcore.base import temporary
from idcore.base.open_folders import entries, opener
from idcore.rocketmq.store.files import Reading

LARGEST = 64 << 20  # of all files together: settings of brokers, not their queues
_SECONDS = 30.0
_CHILD = """
import base64, json, sys
from rocksdict import Options, Rdict
options = Options(raw_mode=True)
options.set_db_log_dir(sys.argv[2])
families = {name: Options(raw_mode=True) for name in Rdict.list_cf(sys.argv[1], options)}
made = Rdict(sys.argv[1], options=options, column_families=families)
left = int(sys.argv[3])  # what is packed may be far more
for key, value in made.items():
    left -= len(key) + len(value)
    if left < 0:
        sys.exit(1)
    print(json.dumps([base64.b64encode(part).decode() for part in (key, value)]))
"""


def can_read() -> bool:
    """Whether the library is installed; without it a folder is named, and not read."""
    return find_spec("rocksdict") is not None


def pairs(folder: Path, reading: Reading) -> dict[bytes, bytes] | None:
    """The keys and values of the default column family; None where the folder cannot be read, or is too large."""
    with tempfile.TemporaryDirectory(prefix="rocksdb-", dir=temporary.own()) as place, reading.noted(folder):
        copy, log = Path(place, "copy"), Path(place, "log")
        copy.mkdir()
        log.mkdir()
        if not can_read() or not _copied(folder, copy, reading):
            return None
        command = [sys.executable, "-I", "-c", _CHILD, str(copy), str(log), str(LARGEST)]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=True, cwd=place
            )
        except subprocess.SubprocessError:
            return None
        return dict(_parsed(done.stdout))
    return None


def _parsed(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in text.splitlines():
        key, value = json.loads(line)
        yield b64decode(key), b64decode(value)


def _copied(folder: Path, copy: Path, reading: Reading) -> bool:
    """Whether all files were copied; links and folders are left out."""
    left = LARGEST
    with entries(folder, reading.roots) as inside:
        names = [entry.name for entry in inside if entry.is_file(follow_symlinks=False)]
    for name in names:
        with open(folder / name, "rb", opener=opener(reading.roots)) as file:
            left -= os.fstat(file.fileno()).st_size
            if left < 0:
                return False
            (copy / name).write_bytes(file.read(LARGEST))
    return True
