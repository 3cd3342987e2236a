"""What opens a file closes it as soon as it is done: the number of open files stays, without a collector."""

from __future__ import annotations

import errno
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import LocalFileSystem

from idcore.presentation.lab import READY
from idcore.presentation.lab.world import play
from idcore.runs import lease
from idcore.scan.occurrences.index import IndexPart
from idcore.simulate.append import _Files
from idcore.sources import storage

TIMES = 5
FOLDER = Path(f"/proc/{os.getpid()}/fd")


@contextmanager
def none_stays_open() -> Iterator[None]:
    """The files and sockets of this process are as many as before. Nothing that refers to itself is collected."""
    gc.collect()
    gc.disable()
    before = len(list(FOLDER.iterdir()))
    try:
        yield
        assert len(list(FOLDER.iterdir())) == before
    finally:
        gc.enable()


def lab(folder: Path) -> object:
    return [play(story, folder / name) for name, story in READY.items()]


def index(folder: Path) -> object:
    pq.write_table(pa.table({"sent_ms": [1, 2]}), folder / "0-0.places.parquet")
    part = IndexPart(folder, "0-0", 0, 2)
    assert part.take(np.array([1])).num_rows == 1
    return part


@pytest.mark.parametrize("use", [lab, index])
def test_what_was_opened_is_closed_while_its_result_is_held(tmp_path: Path, use: Callable[[Path], object]) -> None:
    with none_stays_open():
        held = []
        for number in range(TIMES):
            (tmp_path / str(number)).mkdir()
            held.append(use(tmp_path / str(number)))
        assert all(held)


def test_a_file_of_a_store_is_closed_with_what_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * 9)
    monkeypatch.setattr(storage, "_found", lambda _: (LocalFileSystem(), str(tmp_path / "a.log")))
    storage.opened("s3://bucket/a.log").close()  # loads what loads once
    with none_stays_open():
        held = []
        for _ in range(TIMES):
            with storage.opened("s3://bucket/a.log") as file:
                assert file.read(3) == b"xxx"
            held.append(file)


def refuse(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_lease_on_a_full_disk_leaves_no_file_and_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease.Lease, "beat", refuse)
    with none_stays_open():
        for _ in range(TIMES):
            with pytest.raises(OSError, match="No space"):
                lease.Lease(tmp_path)
    assert list((tmp_path / lease.FOLDER).iterdir()) == []


def test_a_store_that_a_full_disk_refuses_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "ftruncate", refuse)
    with none_stays_open():
        for number in range(TIMES):
            files = _Files(tmp_path / str(number), 1 << 20)
            with pytest.raises(OSError, match="No space"):
                files.write(0, b"x")
            files.close()
