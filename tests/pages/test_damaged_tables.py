"""A table of a scan that is cut, empty, of another kind or without a column: each page says which, in one sentence."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.runtime import fragment
from streamlit.runtime.scriptrunner import exec_code
from streamlit.testing.v1 import AppTest

from idcore.presentation.triage import run_rows
from idcore.runs.runs import Run
from idcore.scan import run_damage
from pages.parts import serve
from tests.pages.test_lines import indexed
from tests.pages.test_pages import OFFSET, UNIQ, shown


@pytest.fixture(autouse=True)
def as_the_server_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest shows an error of a script by itself."""
    for module in (exec_code, fragment):
        monkeypatch.setattr(module, "handle_user_script_exception", lambda error, _: serve.on_script_error(error))


Open = Callable[..., AppTest]
# The pages that show a scan, and of each a table that it cannot do without.
PAGES = [("producers", "processes"), ("counters", "processes"), ("counters", "counters"), ("brokers", "brokers")]
PAGES += [("brokers", "segments"), ("producers", "hosts")]


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def garbage(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(3_000))


def framed(path: Path) -> None:
    path.write_bytes(b"PAR1" + random.Random(2).randbytes(3_000) + b"PAR1")


def other_pages(path: Path) -> None:
    """The end says where the pages are, and the pages are something else."""
    held = bytearray(path.read_bytes())
    held[4 : len(held) // 3] = random.Random(3).randbytes(len(held) // 3 - 4)
    path.write_bytes(held)


def other_kinds(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(pa.table({name: pa.array([[True]] * len(table)) for name in table.column_names}), path)


def no_columns(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(pa.table({"x": pa.array([1] * len(table))}), path)


def gone(path: Path) -> None:
    path.unlink()


def swollen(path: Path) -> None:
    """Some kilobytes that are gigabytes: a long text is a place in a dictionary for each of its rows."""
    table, rows = pq.read_table(path).slice(0, 1), 5_000
    places = pa.array([0] * rows, pa.int32())
    columns = {
        field.name: pa.DictionaryArray.from_arrays(places, pa.array(["x" * 1_000_000]))
        if pa.types.is_string(field.type)
        else table[field.name].take(places)
        for field in table.schema
    }
    pq.write_table(pa.table(columns), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 1 << 20


DAMAGE = [cut, empty, garbage, framed, other_pages, other_kinds, no_columns, gone, swollen]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(("page", "table"), PAGES)
def test_a_page_names_the_damaged_table_and_its_scan(
    page: str, table: str, damage: Callable[[Path], None], open_page: Open, run: str, tmp_path: Path
) -> None:
    for path in (tmp_path / "runs" / run / table).glob("*.parquet"):
        damage(path)
    app = open_page(page, run=run)
    said = [error.value for error in app.error]
    assert not app.exception and not any(word in shown(app) for word in ("Arrow", "Parquet", "KeyError"))
    assert any(f"The table {table} of the scan {run} is damaged" in text for text in said), said


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_table_stops_neither_the_list_nor_its_search(
    damage: Callable[[Path], None], open_page: Open, run: str, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / run
    for table in folder.iterdir():
        for path in table.glob("*.parquet"):
            damage(path)
    assert run_rows.file_names(Run(folder)) is not None
    assert run_damage.damage(Run(folder)) is not None
    for page in ("", "runs", "decode"):
        app = open_page(page, find="orders")
        assert not app.exception and not app.error, page


def changed(folder: Path, **values: Any) -> None:
    """A table whose first row has other values."""
    table = pq.read_table(folder)
    rows = table.to_pylist()
    rows[0] |= values
    for path in folder.iterdir():
        path.unlink()
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / "part-00000.parquet")


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize(("page", "table"), [("findings", "timeline"), ("producers", "activity")])
def test_a_time_that_nothing_counts_from_is_damage(
    year: int, page: str, table: str, open_page: Open, run: str, tmp_path: Path
) -> None:
    changed(tmp_path / "runs" / run / table, minute=datetime(year, 12, 31, tzinfo=UTC))
    said = [error.value for error in open_page(page, run=run).error]
    assert any(f"The table {table} of the scan {run} is damaged" in text for text in said), said


def test_a_reason_of_a_newer_version_is_shown_as_it_is(open_page: Open, run: str, tmp_path: Path) -> None:
    changed(tmp_path / "runs" / run / "refused", reason="of_the_future")
    app = open_page("producers", run=run)
    assert not app.error and not app.exception and "of_the_future" in shown(app)


def test_a_whole_scan_has_no_damaged_table_and_an_error_stays_what_it_is(run: str, tmp_path: Path) -> None:
    found = Run(tmp_path / "runs" / run)
    problem = KeyError("x")
    assert run_damage.damage(found) is None
    assert run_damage.blamed(problem, lambda: found) is problem and run_damage.blamed(problem, lambda: None) is problem


@pytest.mark.parametrize("page", ["findings", "producers", "counters", "brokers", "lines"])
@pytest.mark.parametrize("text", [f"{OFFSET}\n", "no ID at all\n", f"msgId={UNIQ}\n"])
def test_a_table_without_rows_is_not_damaged(open_page: Open, page: str, text: str, tmp_path: Path) -> None:
    """Of a log with IDs of one kind, or with none: the tables are written as a scan writes them."""
    app = open_page(page, run=indexed(tmp_path, text).name)
    assert not app.exception and not app.error


def test_a_wall_display_looks_for_the_damaged_table_once(
    run: str, tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It draws itself each second. All tables were read to their ends each time, and the log got a stack."""
    looked, whole = list[str](), run_damage.damage

    def look(found: Run, said: str = "") -> Exception | None:
        looked.append(said)
        return whole(found, said)

    monkeypatch.setattr(run_damage, "damage", look)
    garbage(next((tmp_path / "runs" / run / "hosts").glob("*.parquet")))
    app = open_page("findings", run=run, wall="1")
    (said,) = [error.value for error in app.error]
    before = len(looked)
    for _ in range(3):
        (again,) = [error.value for error in app.run().error]
        assert "hosts" in said and again in said
    assert len(looked) == before
