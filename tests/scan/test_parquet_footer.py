"""A damaged footer of a Parquet file ends no process: each damage that Arrow has no handler for is refused."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.base import parquet_footer
from idcore.base.parquet_footer import _Looker
from idcore.intake.intake import heads_of
from idcore.runs import table_sizes
from tests.source_code import ROOT

READ = """
import io, resource, sys
import pyarrow.parquet
from idcore.intake.intake import heads_of
from idcore.runs import table_sizes
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print([problem.code for _, problem in heads_of(io.BytesIO(sys.stdin.buffer.read()), "a.parquet").failed])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown >> 10, file=sys.stderr)  # MiB
"""
SCHEMA, TEXT = b"\x48\x01s\x15%b\x00", b"\x15\x0c\x25\x02\x18\x01x\x00"  # elements of a schema: its root, and a column
MANY = b"\xa0\xf7\x36"  # 900,000 of them, in seven bits a byte


def written() -> bytes:
    raw = io.BytesIO()
    lines = ["msgId=AC110001473C7D4991AD336AEA5703E0"] * 50
    pq.write_table(pa.table({"line": lines, "list": pa.array([[1, 2], []] * 25)}), raw)
    return raw.getvalue()


def required(raw: bytes) -> bytes:
    """The schema says that a column has a value in each row; its histogram of levels has nulls as well."""
    return raw.replace(b"\x25\x02\x18\x04line", b"\x25\x00\x18\x04line")


def test_a_histogram_that_does_not_fit_is_refused_and_the_process_lives() -> None:
    """One upload of a visitor ended the console of everybody: SIGABRT, out of a look at a column."""
    damaged = required(written())
    assert damaged != written()
    read = subprocess.run([sys.executable, "-c", READ], input=damaged, capture_output=True, cwd=ROOT, timeout=100)
    assert (read.returncode, read.stdout.strip()) == (0, b"['parquet_damaged']"), read.stderr[-300:]


def with_footer(schema: bytes, groups: bytes) -> bytes:
    """A Parquet file without pages: version 1, elements of a schema, no rows, row groups."""
    footer = b"\x15\x02\x19" + schema + b"\x16\x00\x19" + groups + b"\x00"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def many_columns() -> bytes:
    """Row groups whose columns have three bytes each: Arrow makes 700 of each, twice what is measured here."""
    columns = b"\x19\xfc" + MANY + b"\x26\x08\x00" * 900_000
    return with_footer(b"\x2c" + SCHEMA % b"\x02" + TEXT, b"\x1c" + columns + b"\x16\x00\x16\x00\x00")


def wide_schema() -> bytes:
    """A schema of columns that no row group has: Arrow makes more than a kilobyte of each."""
    return with_footer(b"\xfc" + b"\xa1\xf7\x36" + SCHEMA % (b"\xc0\xee\x6d") + TEXT * 900_000, b"\x0c")


@pytest.mark.parametrize("made", [many_columns, wide_schema])
def test_a_footer_that_becomes_much_memory_is_refused_before_it_does(made: Callable[[], bytes]) -> None:
    """One of 8 MB took 1.8 GB of the console, as a zip file of 8 KB; a zip file of 64 KB would have taken all."""
    raw = made()
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        archive.writestr("a.parquet", raw)
    read = subprocess.run([sys.executable, "-c", READ], input=packed.getvalue(), capture_output=True, cwd=ROOT)
    assert (read.returncode, read.stdout.strip()) == (0, b"['parquet_damaged']"), read.stderr[-300:]
    assert int(read.stderr.split()[-1]) < 200, "MiB"


def test_a_footer_that_is_longer_than_any_is_refused_unread() -> None:
    raw = b"PAR1" + bytes(33 << 20) + (33 << 20).to_bytes(4, "little") + b"PAR1"
    (_, problem), *_ = heads_of(io.BytesIO(raw), "a.parquet").failed
    assert problem.code == "parquet_footer_long" and problem.values == {"most": "32.0 MiB"}


@pytest.mark.parametrize("new", [b"\x07elemend", b"\x07elemen\xff"])
def test_a_column_that_the_schema_does_not_have_is_damage_of_the_file(new: bytes) -> None:
    """It was a mistake of ours: the page had no sentence, and the scan of a folder ended with its one such file."""
    raw = io.BytesIO()
    pq.write_table(pa.table({"list": pa.array([["AC110001473C7D4991AD336AEA5703E0"]] * 9)}), raw)
    before, _, behind = raw.getvalue().rpartition(b"ARROW:schema")[0].rpartition(b"\x07element")
    damaged = raw.getvalue().replace(before + b"\x07element" + behind, before + new + behind)
    assert damaged != raw.getvalue()
    read = heads_of(io.BytesIO(damaged), "a.parquet")
    assert [problem.code for _, problem in (*read.failed, *read.partly)] == ["parquet_damaged"]


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 11, 12])
def test_what_is_too_short_for_a_footer_is_refused(cut: int) -> None:
    read = heads_of(io.BytesIO(b"PAR1" + written()[-8:][:cut]), "a.parquet")
    assert {problem.code for _, problem in read.failed} <= {"parquet_damaged"}


def test_what_is_whole_is_read() -> None:
    read = heads_of(io.BytesIO(written()), "a.parquet")
    assert not read.failed and "AC110001473C7D4991AD336AEA5703E0" in read.texts[0][1]


@pytest.mark.parametrize("damage", [True, False])
def test_a_damaged_table_of_a_scan_is_refused_and_the_process_lives(tmp_path: Path, damage: bool) -> None:
    (tmp_path / "a.parquet").write_bytes(required(written()) if damage else written())
    asked = f"from pathlib import Path; from idcore.runs.table_sizes import fits; print(fits(Path({str(tmp_path)!r})))"
    read = subprocess.run([sys.executable, "-c", asked], capture_output=True, cwd=ROOT, timeout=100)
    assert (read.returncode, read.stdout.strip()) == (0, str(not damage).encode()), read.stderr[-300:]


def test_one_process_looks_at_many_footers_and_another_takes_over_where_it_ends() -> None:
    looker, whole, damaged = _Looker(), written(), required(written())
    try:
        assert looker.survives(whole) and looker._process is not None
        first = looker._process.pid
        assert not looker.survives(damaged) and looker._process is None, "it ended"
        assert looker.survives(whole) and looker._process is None, "what is known is not asked again"
        other = io.BytesIO()
        pq.write_table(pa.table({"n": [1]}), other)
        assert looker.survives(other.getvalue()) and looker._process is not None and looker._process.pid != first
        second = looker._process
        second.kill()
        second.wait()
        assert not looker.survives(b"PAR1") and looker._process is not None
        third = looker._process.pid
        assert third != second.pid and not looker.survives(b"no Parquet at all") and looker._process.pid == third
    finally:
        looker._end()


def test_what_is_forked_asks_a_process_of_its_own() -> None:
    looker, whole = _Looker(), written()
    try:
        assert looker.survives(whole)
        child = os.fork()
        if not child:
            looker._known.clear()
            asked = looker.survives(whole)
            own = looker._process is not None and looker._owner == os.getpid()
            looker._end()
            os._exit(0 if asked and own else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        looker._known.clear()
        assert looker._process is not None and looker._process.poll() is None and looker.survives(whole)
    finally:
        looker._end()


def test_a_table_does_not_wait_for_an_input_that_takes_long(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(written())
    with parquet_footer._of_inputs._lock, ThreadPoolExecutor(1) as pool:  # as while an upload is looked at
        assert pool.submit(table_sizes.fits, tmp_path).result(timeout=60)
