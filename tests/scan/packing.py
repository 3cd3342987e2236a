"""One log, packed and archived in every way, and what the tests look at in the tables. Scans without Spark."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import zstandard

from idcore.scan.local import scan_local
from idcore.scan.tables import Tables
from tests.scan import logs
from tests.scan.logs import AT

MONTHS = np.array([[int(AT.replace(day=1, hour=0, tzinfo=UTC).timestamp() * 1000), 31 * 86_400_000 - 1]], np.int64)
LOG = logs.mixed(41, 400).data
HALF = LOG.index(b"\n", len(LOG) // 2) + 1
SPLITS = [1997, 30_000, 1 << 30]


def lz4(data: bytes) -> bytes:
    return pa.compress(data, "lz4", asbytes=True)


def frame(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


def zstd_unsized(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "zst": zstandard.ZstdCompressor().compress,
    "unsized.zst": zstd_unsized,
    "lz4": frame,
}
MANY = [name for name in PACKERS if name != "lzma"]  # the old format has no members


def scanned(path: Path, split: int = 1 << 30) -> Tables:
    return scan_local([str(path)], MONTHS, split)


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def files(tables: Tables) -> list[tuple]:
    """Name behind the last slash, bytes, text bytes, ids, error."""
    rows = tables["files"].to_pylist()
    return [(r["file"].rpartition("/")[2], r["bytes"], r["text_bytes"], r["ids"], r["error"]) for r in rows]


def problems(tables: Tables) -> list[tuple[str, dict] | None]:
    """What is wrong with each file: the code and its values."""
    rows = tables["files"].to_pylist()
    return [(r["error"], json.loads(r["error_values"])) if r["error"] else None for r in rows]


def ids_in(data: bytes, folder: Path) -> int:
    return int(scanned(written(folder, "part.log", data))["files"]["ids"][0].as_py())


def tar_of(members: dict[str, bytes], mode: str = "w", form: int = tarfile.GNU_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, stream: bool = False) -> bytes:
    out = io.BytesIO()

    class Unsought(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            return out.write(data)  # type: ignore[arg-type]

    with zipfile.ZipFile(Unsought() if stream else out, "w", method) as archive:  # type: ignore[arg-type]
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


PARTS = {"logs/a.log": LOG[:HALF], "logs/b.log": LOG[HALF:]}
ARCHIVES = {
    "zip": lambda: zip_of(PARTS),
    "stored.zip": lambda: zip_of(PARTS, zipfile.ZIP_STORED),
    "bz2.zip": lambda: zip_of(PARTS, zipfile.ZIP_BZIP2),
    "lzma.zip": lambda: zip_of(PARTS, zipfile.ZIP_LZMA),
    "piped.zip": lambda: zip_of(PARTS, stream=True),
    "tar": lambda: tar_of(PARTS),
    "pax.tar": lambda: tar_of(PARTS, form=tarfile.PAX_FORMAT),
    "tar.gz": lambda: tar_of(PARTS, "w:gz"),
    "tar.bz2": lambda: tar_of(PARTS, "w:bz2"),
    "tar.xz": lambda: tar_of(PARTS, "w:xz"),
    "tar.zst": lambda: PACKERS["zst"](tar_of(PARTS)),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    tables = scanned(written(tmp_path_factory.mktemp("plain"), "a.log", LOG))
    assert tables["files"]["ids"].to_pylist()[0] > 400 and tables["refused"].num_rows
    return tables
