"""Compiles or loads every kernel by scanning a few generated ids, so that the first real scan does not wait for it.

python -m idcore.scan.warm           all of them
python -m idcore.scan.warm tables    those of stores and tables, for another process that begins with those of lines
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from typing import Any

import numpy as np
import pyarrow as pa

from idcore.ids.rules import LONGEST_MONTH_MS
from idcore.kernels import fates as kernel
from idcore.kernels import find, line_numbers, pairs
from idcore.scan import fates, large_keys, undelivered
from idcore.scan.local import scan_local
from idcore.sources.inputs import list_store, split_files

TEXT = (
    b"msgId=0A00000100FF18B4AAC20000000A0001, offsetMsgId=0A00000200002A9F0000000000000001\n"
    b"0A00000100FF18B4AAC20000000A0001 0A00000200002A9F0000000000000002\n"
    b"0A00000100FF18B4AAC20000000A0001 0A00000100FF18B4AAC2000007FF0000 0A00000100FF18B4AAC2FF0000FF0000\n"
    b"0108719066FF9A489C04DB99CA00000003 0108719066FF9A489C04DB99CA00000002 0101007F0000A61200003CF1C4030100\n"
    b"20010DB8000000000000000000000001000118B4AAC20000000A0001\n"
    b"20010DB800000000000000000000000100002A9F0000000000000001\n"
)


# One record of a commit log, at offset 0 (MessageExtEncoder).
RECORD = bytes.fromhex(
    "00000088daa320a758932aac0000000100000005000000000000000600000000000000000000000000000000000000020a000001"
    "0000000300000000000000080a000002000000040000000000000000000000000000000268690154002a554e49515f4b45590130"
    "4130303030303130304646313842344141433230303030303030413030303102"
)


class Unread:
    """In the place of what reads traces."""

    def add(self, record: bytes) -> None:
        """Takes a record."""

    def pack(self) -> bytes:
        return b""


def warm(there: str | None = None) -> None:
    """Scans a few lines in temporary files (the last is open, a record comes after damage), and numbers one line.

    `there` is the folder of these files; without it they are where those of the system are.
    """
    with tempfile.TemporaryDirectory(dir=there) as folder:
        _scan_text(folder)
        _write_store(folder)
        scan_local([folder], _months(), split_size=100, store=True)
        _judge_store(folder)
    find.grow(np.zeros((4, 8), np.uint64), np.zeros((16, 8), np.uint64))
    one, rows = np.zeros(1, np.int64), np.zeros((1, 3), np.int64)
    line_numbers.number_lines(np.zeros(65, np.uint8), 0, (0, 1), one, np.zeros(2, np.int64), rows)


def warm_tables() -> None:
    """What `warm` comes to last. For a process of its own: no line says anything in it any more.

    What finds IDs is compiled by the other process meanwhile: both need it.
    """
    pairs.pair_lines = lambda *_: None
    with tempfile.TemporaryDirectory() as folder:
        _write_store(folder)
        _judge_store(folder)
    with tempfile.TemporaryDirectory() as folder:
        _scan_text(folder)
        large_keys.AT_ONCE = 0  # as of a process with very many IDs
        _scan_text(folder)


def _months() -> np.ndarray[Any, Any]:
    return np.array([[0, LONGEST_MONTH_MS - 1]], np.int64)


def _write_store(folder: str) -> None:
    with open(os.path.join(folder, "0" * 20), "wb") as file:
        file.write(RECORD + b"\1" + RECORD + bytes(len(RECORD)))


def _judge_store(folder: str) -> None:
    nothing = fates.table_of(fates.hashes_of(pa.array([], pa.string()))[:, 0])
    queues = fates.Queues([(b"hi", 5)], [np.zeros(1, np.int64)], [np.ones((2, 2), np.bool_)], nothing)
    lacking = undelivered.UnconsumedIntervals(
        [("hi", 5)], [["g"]], [np.zeros((1, 2, 2), np.uint8)], ["behind"], ["behind"]
    )
    traces = fates.Tracing(fates.TraceTopics(["none"], 0, 0, Unread))
    for work in (traces, fates.Counting(queues, lacking, 1)):
        list(work(split_files(list_store(folder), 1 << 30)))
    undelivered.keys_of(undelivered.Rows(np.zeros(1, kernel.ONE), np.zeros(1, np.uint8)))


def _scan_text(folder: str) -> None:
    path = os.path.join(folder, "ids.log")
    with open(path, "wb") as file:
        file.write(TEXT.rstrip(b"\n"))
    scan_local([path], _months(), split_size=100)


if __name__ == "__main__":
    gc.set_threshold(100_000, 20, 20)  # numba makes millions of objects that stay: to look for garbage costs a fifth
    warm_tables() if sys.argv[1:] == ["tables"] else warm()
