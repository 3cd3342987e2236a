"""A folder of tables: written aside, put in its place at once, summary.json last. Uses no Spark and counts nothing."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from idcore.base.errors import CoreError, coded
from idcore.base.open_folders import own_file
from idcore.policy.private import is_shared, share
from idcore.scan.schemas import GROUP_ROWS, OF_STORES
from idcore.scan.tables import Tables

from .lock import FolderLock

_ASIDE = ".unfinished-"


class TableFolder:
    """Within `with`, the folder is this one's alone; if the block ends before `finish`, nothing of it stays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished = False
        self._lock = FolderLock(path)

    def __enter__(self) -> TableFolder:
        """Makes the folder now, so that one that cannot be written is found before the work and not after it."""
        self.made = [folder for folder in (self.path, *self.path.absolute().parents) if not folder.exists()]
        try:
            self._lock.take()
            for left in self.path.glob(f"{_ASIDE}*"):  # of a scan that was killed
                shutil.rmtree(left, ignore_errors=True)
            self.aside = self.path / f"{_ASIDE}{uuid.uuid4().hex}"
            self.aside.mkdir()
            if is_shared(self.path.absolute().parent):  # on a cluster the workers may be another user of its group
                for folder in (*self.made, self.aside):
                    share(folder)
        except OSError as error:
            self._leave()
            raise CoreError("unwritable", {"path": str(self.path), "why": coded(error)}) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.aside, ignore_errors=True)
        self._leave()

    def _leave(self) -> None:
        """Gives the folder to the next; one that was made for nothing goes."""
        with suppress(OSError):  # the folder is gone, or holds something else by now
            self._lock.leave()
            if not self.finished:
                for folder in self.made:
                    folder.rmdir()

    @property
    def large(self) -> Path:
        """Where merge tasks write tables that are too large for the driver."""
        return self.aside.absolute() / ".large"

    def write(self, tables: Tables, between: Callable[[], None]) -> None:
        """One Parquet folder for each table. `between` is called before each and may raise."""
        for name, table in tables.items():
            between()
            (self.aside / name).mkdir(exist_ok=True)
            write_table(table, self.aside / name / "part-00000.parquet")

    def adopt(self, written: Mapping[str, Sequence[Path]]) -> None:
        """Files of `large` go to the tables that they belong to."""
        for name, paths in written.items():
            for number, path in enumerate(paths, 1):
                path.rename(self.aside / name / f"part-{number:05d}.parquet")
        shutil.rmtree(self.large, ignore_errors=True)

    def finish(self, summary: dict[str, Any]) -> None:
        """Puts the tables in the place of what an earlier scan wrote. A folder without summary.json is unfinished.

        The summary is written first, aside: on a full disk the earlier result stays.
        """
        aside = self.aside / "summary.json"
        with open(aside, "w", encoding="utf-8", opener=own_file) as file:
            json.dump(summary, file, indent=1)
        (self.path / "summary.json").unlink(missing_ok=True)
        moved = []
        for name in OF_STORES:  # an earlier scan may have been of a store
            if not (self.aside / name).exists() and (self.path / name).is_dir():
                shutil.rmtree(self.path / name)
        try:
            for table in sorted(path for path in self.aside.iterdir() if path.is_dir()):
                place = self.path / table.name
                shutil.rmtree(place, ignore_errors=True)
                moved.append(table.rename(place))
            aside.rename(self.path / "summary.json")
        except OSError:
            for place in moved:
                shutil.rmtree(place, ignore_errors=True)
            raise
        self.finished = True


class LiveFolder:
    """A folder of tables that are written again and again: readers see each as it was or as it is. One writer."""

    def __init__(self, path: Path, aside: Path) -> None:
        self.path, self.aside = path, aside
        self._lock = FolderLock(path)
        self._written: Tables = {}

    def __enter__(self) -> LiveFolder:
        try:
            self._lock.take()
            self.aside.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CoreError("unwritable", {"path": str(self.path), "why": coded(error)}) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.leave()

    def check(self) -> None:
        """CoreError where it was deleted: Spark would make it anew, and go on in a folder that no list has."""
        if self._lock.is_lost:
            raise CoreError("unwritable", {"path": str(self.path), "why": CoreError("ENOENT")})

    def write(self, tables: Tables, *, last: bool) -> None:
        """The tables that have changed, each in one rename; at last all of them, as a scan writes them."""
        for name, table in tables.items():
            if not last and name in self._written and self._written[name].equals(table):
                continue
            folder = self.path / name
            folder.mkdir(exist_ok=True)
            aside = self.aside / f"{name}.parquet"
            write_table(table, aside, quickly=not last)
            aside.replace(folder / "part-00000.parquet")
            self._written[name] = table

    def finish(self, summary: dict[str, Any]) -> None:
        """Says what the tables come to: readers look for this file to see that there is news."""
        aside = self.aside / "summary.json"
        with open(aside, "w", encoding="utf-8", opener=own_file) as file:
            json.dump(summary, file, indent=1)
        aside.replace(self.path / "summary.json")


def write_table(table: pa.Table, path: Path, *, quickly: bool = False) -> None:
    """A table as a file. Columns with a dictionary are read back as plain text."""
    how = _quickly(table.schema) if quickly else {"compression": "zstd"}
    with open(path, "wb", opener=own_file) as file:
        pq.write_table(table, file, row_group_size=GROUP_ROWS, store_schema=False, **how)


def _quickly(schema: pa.Schema) -> dict[str, Any]:
    """How a table is written that is soon written again: in half the time, and half as large, where it has numbers."""
    whole = [field.name for field in schema if pa.types.is_integer(field.type) or pa.types.is_timestamp(field.type)]
    others = [name for name in schema.names if name not in whole]
    return {
        "compression": "lz4",
        "use_dictionary": others,
        "column_encoding": dict.fromkeys(whole, "DELTA_BINARY_PACKED"),
    }
