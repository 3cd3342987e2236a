"""How much memory a table of a run takes is known before it is read: also of one that somebody made to be large."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.base import parquet_pages
from idcore.presentation.triage import largest, run_rows
from idcore.runs import table_sizes
from idcore.runs.runs import RunError, Runs
from idcore.runs.table_sizes import fits
from idcore.scan.run_damage import TABLES, damage
from idcore.spark.folder import write_table

pytestmark = pytest.mark.quick
ROWS = 100_000


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_sizes, "MOST", 4 << 20)
    table_sizes._sizes.cache_clear()


def written(folder: Path, table: pa.Table, **options: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "part-00000.parquet", compression="zstd", **options)  # type: ignore[arg-type]
    return folder


@pytest.mark.parametrize("quickly", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_rows_is_whole(tmp_path: Path, name: str, quickly: bool) -> None:
    """As a scan writes it, and one that goes on: its columns may have no pages at all."""
    run = Runs(tmp_path).create("nothing")
    (run.path / name).mkdir()
    write_table(TABLES[name].empty_table(), run.path / name / "part-00000.parquet", quickly=quickly)
    assert fits(run.path / name) and fits(run.path / name, whole=False)
    assert damage(run) is None and run.table(name).num_rows == 0


def of_text(text: str, rows: int) -> pa.Table:
    return pa.table({"text": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))})


@pytest.mark.parametrize(
    ("name", "table", "options"),
    [
        ("rows", pa.table({"count": pa.array(np.zeros(600_000, np.int64))}), {}),
        ("a dictionary", of_text("x" * 1_000, ROWS), {"store_schema": False}),
        ("what the value before has", of_text("x" * 1_000, ROWS).cast(pa.schema({"text": pa.string()})), None),
        ("a page", pa.table({"text": pa.array(["x" * (5 << 20)])}), {"use_dictionary": False}),
    ],
)
def test_what_a_small_file_becomes_is_known_before_it_is_read(
    tmp_path: Path, name: str, table: pa.Table, options: dict[str, object] | None
) -> None:
    if options is None:
        options = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    folder = written(tmp_path / "findings", table, **options)
    assert (folder / "part-00000.parquet").stat().st_size < 1 << 20
    tracemalloc.start()
    assert not fits(folder) and not fits(folder, whole=False), name
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    for read in (largest.files_of, largest.dataset_of):
        with pytest.raises(ValueError, match="too large"):
            read(folder)
    run = Runs(tmp_path / "runs").create("logs")
    folder.rename(run.path / "findings")
    with pytest.raises(RunError) as damaged:
        run.table("findings")
    assert damaged.value.code == "table_damaged"
    (run.path / "findings").rename(run.path / "files")
    assert run_rows.file_names(run) == []  # a search of the list goes on


def test_a_long_text_counts_as_often_as_it_comes(tmp_path: Path) -> None:
    """A longest text says little of all: a table of findings has a long one and many short ones."""
    texts = pa.array(["x" * 100_000, *(f"a{number % 9}" for number in range(ROWS // 10))])
    assert fits(written(tmp_path / "findings", pa.table({"text": texts})))


def test_a_table_fits_by_its_groups_and_by_what_is_asked_of_it(tmp_path: Path) -> None:
    numbers = pa.array(np.arange(600_000))
    folder = written(tmp_path / "counters", pa.table({"a": numbers, "b": numbers}), row_group_size=100_000)
    assert not fits(folder) and fits(folder, whole=False) and not fits(folder, ["a"])
    folder = written(tmp_path / "less", pa.table({"a": numbers.slice(0, 200_000), "b": numbers.slice(0, 200_000)}))
    assert fits(folder, ["a"]) and not fits(folder)


def test_what_cannot_be_told_does_not_fit(tmp_path: Path) -> None:
    """A header that only Arrow understands would hide the size of its page."""
    folder = written(tmp_path / "findings", pa.table({"a": pa.array([1, 2])}))
    path = folder / "part-00000.parquet"
    assert fits(folder)
    raw = bytearray(path.read_bytes())
    raw[4] = 0x19  # the first field of the first header: a list, which no header has
    path.write_bytes(raw)
    assert not fits(folder)
    path.write_bytes(b"PAR1")
    assert not fits(folder)


def test_a_column_of_very_many_pages_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": range(5_000)}), path, data_page_size=64, use_dictionary=False)
    assert table_sizes.files_fit([path])
    table_sizes._sizes.cache_clear()
    monkeypatch.setattr(parquet_pages, "MOST_PAGES", 3)
    assert not table_sizes.files_fit([path])


def test_a_file_that_is_gone_is_not_damaged(tmp_path: Path) -> None:
    assert table_sizes.files_fit([tmp_path / "made-anew.parquet"])


@pytest.mark.parametrize("made", [lambda path, other: path.symlink_to(other), lambda path, _: os.mkfifo(path)])
def test_what_is_no_file_of_its_own_is_no_part_of_a_table(
    tmp_path: Path, made: Callable[[Path, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To open a pipe would keep a thread of the server for ever."""
    run = Runs(tmp_path / "runs").create("odd")
    other = written(tmp_path / "other", pa.table({"ids": [1]})) / "part-00000.parquet"
    part = written(run.path / "processes", pa.table({"ids": [1]})) / "part-00001.parquet"
    assert largest.count(run.path / "processes") == 1
    made(part, other)
    assert not fits(run.path / "processes") and not fits(run.path / "processes", whole=False)
    with pytest.raises(RunError):
        run.table("processes")
    monkeypatch.setattr(pq, "read_metadata", lambda path: pytest.fail(f"{path} is opened"))
    with pytest.raises(ValueError, match="no file"):
        largest.count(run.path / "processes")
