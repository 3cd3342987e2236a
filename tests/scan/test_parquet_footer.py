"""A damaged footer of a Parquet file ends no process: each damage that Arrow has no handler for is refused."""

from __future__ import annotations

import io
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.intake.intake import heads_of
from tests.source_code import ROOT

READ = """
import io, sys
from idcore.intake.intake import heads_of
print([problem.code for _, problem in heads_of(io.BytesIO(sys.stdin.buffer.read()), "a.parquet").failed])
"""


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


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 11, 12])
def test_what_is_too_short_for_a_footer_is_refused(cut: int) -> None:
    read = heads_of(io.BytesIO(b"PAR1" + written()[-8:][:cut]), "a.parquet")
    assert {problem.code for _, problem in read.failed} <= {"parquet_damaged"}


def test_what_is_whole_is_read() -> None:
    read = heads_of(io.BytesIO(written()), "a.parquet")
    assert not read.failed and "AC110001473C7D4991AD336AEA5703E0" in read.texts[0][1]
