"""Who else may write in a shared folder of scans puts links there: nothing is written through one (CWE-59)."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from idcore.base.errors import CoreError
from idcore.base.open_folders import own_file
from idcore.intake.intake import Source, keep
from idcore.presentation.triage import compared
from idcore.runs import runs
from idcore.runs.runs import Run
from idcore.scan import followed
from idcore.scan.crossing import to_batch
from idcore.scan.occurrences.parts import PartWriter
from idcore.spark import kafka
from idcore.spark.folder import LiveFolder, TableFolder
from tests.spark.test_kafka import batch_of, with_jars

__all__ = ["with_jars"]
ROWS = pa.table({"host": ["a"]})
NEWS = pa.Table.from_batches([to_batch([followed.note([], [], {})])])
Put = Callable[[Path], None]  # a link of this name to a file of somebody's own


def _lock(folder: Path, put: Put) -> None:
    put(folder / ".writing")
    with TableFolder(folder):
        pass


def _table(folder: Path, put: Put) -> None:
    with TableFolder(folder) as tables:
        (tables.aside / "hosts").mkdir()
        put(tables.aside / "hosts" / "part-00000.parquet")
        tables.write({"hosts": ROWS}, lambda: None)


def _summary(folder: Path, put: Put) -> None:
    with TableFolder(folder) as tables:
        put(tables.aside / "summary.json")
        tables.finish({"ids": 1})


def _live_table(folder: Path, put: Put) -> None:
    with LiveFolder(folder, folder / "aside") as tables:
        put(folder / "aside" / "hosts.parquet")
        tables.write({"hosts": ROWS}, last=False)


def _live_summary(folder: Path, put: Put) -> None:
    with LiveFolder(folder, folder / "aside") as tables:
        put(folder / "aside" / "summary.json")
        tables.finish({"ids": 1})


def _batch(folder: Path, put: Put) -> None:
    put(folder / ".batch-0000000000.arrow")
    followed.State(folder).take(0, NEWS)


def _state(folder: Path, put: Put) -> None:
    put(folder / f".{followed.STATE}")
    state = followed.State(folder, kept=0)
    state.take(0, NEWS)


def _topic(folder: Path, put: Put) -> None:
    put(folder / "orders-0.00001.log")
    records = kafka.Records("kafka://h:1/orders", folder, folder, "beginning")
    records._take(batch_of([("orders", 0, 0, b"a line of a stranger")]), 0)


def _input(folder: Path, put: Put) -> None:
    (folder / "input").mkdir()
    put(folder / "input" / "000-a.log")
    keep(Run(folder), [Source("a.log", b"pasted")])


def _compared(folder: Path, put: Put) -> None:
    put(folder / "000-a.log")
    compared._path(Source("a.log", b"pasted"), folder, {})


def _facts(folder: Path, put: Put) -> None:
    put(folder / "run.json")
    runs._write_in_place(folder / "run.json", "{}")


def _result(folder: Path, put: Put) -> None:
    made = os.mkdir

    def mkdir(path: Path, mode: int = 0o777) -> None:
        made(path, mode)
        put(Path(path) / "part-00000.parquet")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "mkdir", mkdir)
        runs.write_tables(folder, {"fates": ROWS})


def _lines(folder: Path, put: Put) -> None:
    put(folder / "1.keys.parquet")
    PartWriter(folder, "1", {})._put("1", "keys", ROWS)


OF_SCANS = (_lock, _table, _summary, _live_table, _live_summary, _input, _lines)
OF_OTHERS = (_batch, _state, _topic, _compared, _facts, _result)


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("write", [*OF_SCANS, *OF_OTHERS])
def test_nothing_is_written_through_a_link_or_into_a_pipe(
    write: Callable[[Path, Put], None], kind: str, with_jars: None, tmp_path: Path
) -> None:
    own, folder, put = tmp_path / "own", tmp_path / "run", list[Path]()
    own.write_text("of the console's user")
    folder.mkdir()

    def put_there(path: Path) -> None:
        path.symlink_to(own) if kind == "link" else os.mkfifo(path)
        put.append(path)

    with suppress(CoreError, OSError):
        write(folder, put_there)
    assert put and own.read_text() == "of the console's user"


def test_nothing_is_written_into_a_folder_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "input").symlink_to(tmp_path / "own")
    with pytest.raises(OSError):
        keep(Run(tmp_path / "run"), [Source("a.pth", b"import a_stranger")])
    assert not [*(tmp_path / "own").iterdir()]


def test_a_file_is_written_and_written_over(tmp_path: Path) -> None:
    for text in ("longer", "new"):
        with open(tmp_path / "a", "w", encoding="ascii", opener=own_file) as file:
            file.write(text)
    assert (tmp_path / "a").read_text() == "new"
