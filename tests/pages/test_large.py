"""Runs too large to be held: pages read the rows they show, sums stay exact, and what is left out is said."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from idcore.presentation.triage import largest, run_tables, sentences
from idcore.presentation.triage.processes import find_process, process_key, sorted_processes
from idcore.presentation.triage.scope import Scope
from idcore.runs.runs import Run
from idcore.scan.schemas import SCHEMAS
from pages.parts.triage import opened, ranking, shared
from pages.parts.widgets import ROWS
from tests.pages import example_run
from tests.pages.test_lines import indexed
from tests.pages.test_pages import shown
from tests.pages.test_parts import reader

SORTS = ("ids", "missing", "wraps", "rate", "first", "host")


@pytest.fixture
def processes() -> pd.DataFrame:
    """A thousand processes with many ties, some without rate or time."""
    rng = np.random.default_rng(5)
    rows = 1000
    made = {name: rng.integers(0, 9, rows) for name in ("wraps", "missing", "distinct", "tracks", "chains")}
    made |= {"produced": made["missing"] + 5, "ids": made["distinct"] + 1}
    times = pd.to_datetime(rng.integers(0, 50, rows) * 10**9 + 1_795_000_000 * 10**9, utc=True).floor("us")
    frame = pd.DataFrame(made | {"pid": np.arange(rows), "layout": "uniq_v4", "loader": "18B4AAC2"})
    frame["host"] = [f"10.0.{place // 40}.{place % 40}" for place in range(rows)]
    frame["months_mixed"] = rng.random(rows) < 0.1
    frame["first_sent_at"] = frame["last_sent_at"] = times.where(rng.random(rows) > 0.1)
    frame["rate_per_second"] = np.where(rng.random(rows) > 0.2, rng.integers(0, 9, rows), np.nan)
    return frame.sort_values(["host", "pid"]).reset_index(drop=True)


@pytest.fixture
def folder(processes: pd.DataFrame, tmp_path: Path) -> Path:
    """They in three files of several groups, read a few at a time."""
    schema = pa.schema([field for field in SCHEMAS["processes"] if field.name in processes])
    table = pa.Table.from_pandas(processes, schema=schema, preserve_index=False)
    for number, (start, stop) in enumerate([(0, 300), (300, 320), (320, 1000)]):
        pq.write_table(table.slice(start, stop - start), tmp_path / f"part-{number:05d}.parquet", row_group_size=90)
    return tmp_path


@pytest.mark.parametrize("rows", [1, 60, 995])
@pytest.mark.parametrize("by", SORTS)
def test_the_first_rows_of_a_table_are_those_of_its_sorted_whole(
    by: str, rows: int, folder: Path, processes: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = largest.first(folder, by, rows).to_pandas()
    # Ties of a page go by host as text; here they go by the place in the table, which is sorted by host.
    assert found["host"].tolist() == sorted_processes(processes, by).head(rows)["host"].tolist()


def test_rows_of_some_hosts_and_sums_of_all(folder: Path, processes: pd.DataFrame) -> None:
    hosts = ["10.0.3.7", "10.0.24.39", "10.9.9.9"]
    assert largest.where(folder, {"host": hosts}, 10).to_pandas()["host"].tolist() == ["10.0.24.39", "10.0.3.7"]
    assert largest.count(folder) == 1000
    followed = processes[~processes["months_mixed"]]  # of the others no counter is judged
    whole, part = largest.totals(folder), followed["missing"] > 0.1 * followed["produced"]
    assert (whole.processes, whole.uncounted) == (1000, 1000 - len(followed))
    assert (whole.distinct, whole.wraps) == (processes["distinct"].sum(), followed["wraps"].sum())
    assert (whole.produced, whole.missing) == (followed["produced"].sum(), followed["missing"].sum())
    assert (whole.shared, whole.in_part) == ((followed["tracks"] > 1).sum(), part.sum())
    assert whole.missing_in_part == followed.loc[part, "missing"].sum()
    assert (whole.first, whole.last) == (processes["first_sent_at"].min(), processes["first_sent_at"].max())


@pytest.mark.long(first=1)
@pytest.mark.parametrize("seed", range(6))
def test_groups_that_are_not_read_change_nothing(seed: int, processes: pd.DataFrame, tmp_path: Path) -> None:
    """Columns with one value, with none, and with values that rise: what is skipped by statistics is all the same."""
    chance = np.random.default_rng(seed)
    for name in ("wraps", "missing", "distinct", "produced", "first_sent_at", "rate_per_second"):
        match chance.integers(4):
            case 0:
                processes[name] = processes[name].iloc[0]
            case 1 if name in ("first_sent_at", "rate_per_second"):
                processes.loc[chance.integers(500) :, name] = None
            case 2:
                processes[name] = processes[name].sort_values(ascending=bool(chance.integers(2))).to_numpy()
    processes["last_sent_at"] = processes["first_sent_at"]
    schema = pa.schema([field for field in SCHEMAS["processes"] if field.name in processes])
    table = pa.Table.from_pandas(processes, schema=schema, preserve_index=False)
    for statistics in (True, False):
        place = tmp_path / str(statistics)
        place.mkdir()
        pq.write_table(table, place / "part-0.parquet", row_group_size=70, write_statistics=statistics)
    with_them, without = tmp_path / "True", tmp_path / "False"
    assert vars(largest.totals(with_them)) == vars(largest.totals(without))
    hosts = [*processes["host"].sample(3, random_state=seed), "9", "10.0.99"]
    several: list[dict[str, list[Any]]] = [
        {"host": hosts},
        {"host": hosts, "pid": [3, 500]},
        {"wraps": [4]},
        {"host": []},
    ]
    for wanted in [*several, {}]:
        assert largest.where(with_them, wanted, 20).equals(largest.where(without, wanted, 20))
    for by in (*SORTS, "count"):
        for rows in (1, 40, 900):
            assert largest.first(with_them, by, rows).equals(largest.first(without, by, rows))


def test_of_many_groups_few_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, usual = [], pq.ParquetFile.read_row_group

    def reading(file: pq.ParquetFile, number: int, columns: list[str] | None = None) -> pa.Table:
        read.append(columns)
        return usual(file, number, columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", reading)
    largest.where(folder, {"host": ["10.0.24.39"]}, 10)
    assert len(read) <= 3, "the group that may have the host, and the rows that are taken"


@pytest.mark.parametrize(
    ("count", "english", "chinese"),
    [
        (1, "**1 process** on **1 host** generated **141,426 IDs**", "**1 台主机**上的 **1 个进程**"),
        (8, "**8 processes** on **7 hosts** generated **", "**7 台主机**上的 **8 个进程**"),
    ],
)
def test_the_sentence_counts_what_the_table_holds(count: int, english: str, chinese: str) -> None:
    processes = example_run.tables()["processes"].head(count)
    totals = largest.Totals()
    totals.add(example_run.typed(processes))
    hosts = processes["host"].nunique()
    assert sentences.producers(totals, hosts, reader()).startswith(english)
    assert sentences.producers(totals, hosts, reader("zh")).startswith(chinese)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example counts as large."""
    monkeypatch.setattr(run_tables, "MOST_ROWS", 3)
    monkeypatch.setattr(run_tables, "FIRST_ROWS", 2)


@pytest.mark.long(first=3)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["producers", "counters", "findings", "runs", "brokers"])
def test_pages_of_a_large_run_open(
    open_page: Callable[..., AppTest], run: str, small: None, page: str, lang: str
) -> None:
    app = open_page(page, run=run, lang=lang)
    assert not app.exception
    text = shown(app)
    if page == "producers":
        assert ("8 processes" if lang == "en" else "8 个进程") in text
        assert ("Showing the first 2 of" if lang == "en" else "前 2 个") in text


def test_a_process_of_a_large_run_is_found_by_its_link(
    run: str, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "FIRST", 1)
    made = example_run.tables()["processes"]
    opened = Run(tmp_path / "runs" / run)
    for row in made.to_dict("records"):
        listed = ranking.of_run(opened, Scope(process=process_key(row)))
        assert find_process(listed.reset_index(drop=True), process_key(row)) is not None
        assert len(listed) <= 4
    assert shared.find_row(opened, "10.9.9.9~1~00000000").empty


def test_what_is_taken_away_of_a_large_run_says_that_it_is_cut(run: str, small: None, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(opened.everything(Run(tmp_path / "runs" / run), reader(), ""))) as archive:
        names = archive.namelist()
        assert len(archive.read("processes-first-2.csv").splitlines()) == 3
    assert "processes.csv" not in names
    assert "findings.csv" in names or "files.csv" in names
    assert "report.html" not in names, "without findings"


def test_a_scan_of_many_brokers_has_some_rows_of_them_on_its_page(open_page: Any, tmp_path: Path) -> None:
    """All 100,000 of a log were one table of 60 MB, which no browser shows."""
    lines = [f"offsetMsgId={0x0A000000 + at:08X}00002A9F{at * 1_000:016X}\n" for at in range(130)]
    run = indexed(tmp_path, "".join(lines))
    app = open_page("brokers", run=run.name)
    assert not app.exception and not app.error
    seen = shown(app)
    assert 0 < seen.count("lines?") <= 2 * ROWS + 40, "of the cards and of the table a page each"
    assert "1 to 50 of 130" in seen
    assert seen.count("0.8%") >= ROWS, "a share is that of all"
