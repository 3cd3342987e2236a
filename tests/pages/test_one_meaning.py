"""Generated, missing, in this input, records: a headline and the table below it count the same, in both languages."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.answers.findings import gaps
from idcore.answers.findings.limits import CUT_COUNTER
from idcore.presentation.html import tables
from idcore.presentation.terminal import scans
from idcore.presentation.triage import host_rows, largest, sentences, strokes
from idcore.presentation.triage.processes import sorted_processes
from idcore.scan.schemas import SCHEMAS
from tests.cli.test_scan import summed
from tests.pages import example_run
from tests.pages.test_parts import reader

PROCESSES = example_run.tables()["processes"]
# One of which most is missing, and one whose counter is cut to eight bits.
SAMPLE = PROCESSES.iloc[4].to_dict() | {"host": "10.9.9.1", "produced": 125_751, "missing": 125_031, "distinct": 720}
CUT = PROCESSES.iloc[4].to_dict() | {
    "host": "10.9.9.2",
    "layout": CUT_COUNTER,
    "produced": 5_000,
    "missing": 4_800,
    "distinct": 200,
    "wraps": 19,
}
MIXED = pd.DataFrame([*PROCESSES.to_dict("records"), SAMPLE, CUT])


class Cells(HTMLParser):
    """The rows of a table, as texts of their cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def drawn(draw: Any, *given: Any) -> list[dict[str, str]]:
    """The rows of a table as a reader sees them, by the names of their columns."""
    cells = Cells()
    cells.feed(str(draw(*given).html(numbered=True)))
    return [dict(zip(cells.rows[0], row, strict=True)) for row in cells.rows[1:]]


def column(rows: list[dict[str, str]], name: str) -> int:
    """The sum of a column, less the figures that are not known."""
    figures = (re.sub(r"[≥ ,]", "", row[name]) for row in rows)
    return sum(int(figure) for figure in figures if figure not in ("", tables.UNKNOWN, "sample", "抽样"))


def numbers(text: str) -> set[int]:
    return {int(figure.replace(",", "")) for figure in re.findall(r"\d[\d,]*", text)}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("rows", [PROCESSES, MIXED], ids=["example", "with a sample and a cut counter"])
def test_the_headline_of_producers_is_the_sum_of_their_table(rows: pd.DataFrame, lang: str) -> None:
    view = reader(lang)
    judged = host_rows.judged(rows, lambda _: pd.DataFrame())
    table = drawn(tables.processes, judged, view, "r")
    totals = largest.Totals()
    totals.add(example_run.typed(rows))
    said = sentences.producers(totals, rows["host"].nunique(), view, judged)
    for name, total in (
        ("produced", totals.produced),
        ("missing", int(judged["lost"].sum())),
        ("distinct", totals.distinct),
        ("wraps", totals.wraps),
    ):
        assert column(table, view.words(f"col.{name}")) == total, name
        assert total in numbers(said), name
    assert len(table) == totals.processes


def test_what_is_left_out_of_a_sum_is_left_out_of_the_table_and_said() -> None:
    view = reader()
    table = drawn(tables.processes, MIXED, view, "r")
    (row,) = [row for row in table if "10.9.9.2" in str(row)]
    assert [row[view.words(f"col.{name}")] for name in ("produced", "missing", "wraps")] == [tables.UNKNOWN] * 3
    assert row[view.words("col.distinct")] == "200" and "8-bit counter" in str(row)
    totals = largest.Totals()
    totals.add(example_run.typed(MIXED))
    said = sentences.producers(totals, 9, view)
    assert (totals.uncounted, totals.in_part, totals.missing_in_part) == (1, 1, 125_031)
    assert "1 process has a counter that cannot be followed" in said
    assert "Of 1 process more than a tenth is not in this input, 125,031 IDs in total" in said
    alone = largest.Totals()
    alone.add(example_run.typed(MIXED[MIXED["host"] == "10.9.9.2"]))
    assert "generated the <b>200" in sentences.producers(alone, 1, view).replace("**", "<b>"), "and not: no IDs"
    assert sentences.process(CUT, view).count("200 distinct msgIds") == 1 and "4,800" not in sentences.process(
        CUT, view
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("place", range(len(PROCESSES)))
def test_the_counters_page_says_of_a_process_what_its_row_has(place: int, lang: str) -> None:
    view, some = reader(lang), MIXED.iloc[[place]]
    (row,) = drawn(tables.processes, some, view, "r")
    said = numbers(sentences.process(some.iloc[0].to_dict(), view))
    figures = {int(row[view.words(f"col.{name}")].replace(",", "")) for name in ("produced", "missing", "distinct")}
    assert figures - {0} <= said  # no IDs missing is said in words


def test_of_a_sample_it_says_what_is_here_and_calls_nothing_missing() -> None:
    (row,) = host_rows.judged(pd.DataFrame([SAMPLE]), lambda _: pd.DataFrame()).to_dict("records")
    said = sentences.process(row, reader())
    assert "generated **125,751 IDs**" in said and "720 distinct msgIds (0.6%) in this input, a sample" in said
    assert "missing" not in said


@pytest.mark.parametrize(("lang", "unit"), [("en", "records"), ("zh", "条记录")])
def test_the_headline_of_brokers_counts_the_records_of_their_table(lang: str, unit: str) -> None:
    view, rows = reader(lang), example_run.tables()["brokers"]
    colours = dict.fromkeys(rows["address"], "#000")
    files = pd.DataFrame({"oldest": [], "newest": []})
    table = drawn(tables.brokers, rows, files, colours, view, "any", {})
    total = column(table, view.words("col.distinct"))
    said = sentences.brokers(rows, view)
    assert f"{total:,} {unit}" in said and "message" not in said and "消息" not in said


def test_a_process_whose_counter_is_cut_comes_last_by_what_is_not_known() -> None:
    for by in ("missing", "wraps"):
        ordered = sorted_processes(MIXED, by)
        assert CUT_COUNTER not in ordered["layout"].head(2).tolist()
        assert ordered.iloc[0]["host"] == ("10.9.9.1" if by == "missing" else PROCESSES.iloc[0]["host"])


def test_the_summary_of_a_scan_has_the_same_figures_and_says_what_they_are(tmp_path: Path) -> None:
    for name in ("processes", "brokers", "refused", "findings", "files"):
        (tmp_path / name).mkdir()
        rows = example_run.typed(pd.DataFrame([SAMPLE, CUT])) if name == "processes" else SCHEMAS[name].empty_table()
        pq.write_table(pa.table(rows), tmp_path / name / "part-00000.parquet")
    lines = list(scans.summary(summed(ids=1, processes=2), tmp_path))
    (head,) = [re.split("  +", line.strip()) for line in lines if "Generated" in line and "Loader" in line]
    cells = [re.split("  +", line.strip()) for line in lines if "10.9.9." in line]
    row = {first.split()[0]: dict(zip(head, (first, *more), strict=True)) for first, *more in cells}
    assert (row["10.9.9.1"]["Generated"], row["10.9.9.1"]["Missing"]) == ("125,751", "sample")
    assert [row["10.9.9.2"][name] for name in ("Generated", "Missing", "Wraps")] == [tables.UNKNOWN] * 3


def test_one_number_decides_what_a_sample_is_for_findings_and_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    points = example_run.tables()["counters"].query("pid == 8")
    assert strokes.least_gap(points) == 1
    assert strokes.least_gap(points, missing_in_all=2_000) > 1  # of 2,400: gaps that are no points count, too
    monkeypatch.setattr(gaps.limits, "SAMPLE_SHARE", 0.99)
    assert strokes.least_gap(points, missing_in_all=2_000) == 1
