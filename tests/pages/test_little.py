"""Small inputs and links that miss: a sentence in the place of a chart, of a name that is not there, of a count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from idcore.intake import intake
from idcore.runs.runs import Run
from pages.parts import refusals
from tests.pages import example_run
from tests.pages.conftest import RUN, make_run
from tests.pages.test_pages import OFFSET, UNIQ, shown

Open = Callable[..., AppTest]
WORDS = catalogue.words("en")


@pytest.mark.parametrize(
    ("page", "query", "said"),
    [
        ("producers", {"host": "10.9.9.9"}, "This scan has no IDs of host 10.9.9.9."),
        ("counters", {"process": "10.9.9.9~7~18B4AAC2"}, "This scan has no process 10.9.9.9\\~7\\~18B4AAC2"),
        ("counters", {"process": "<b>x</b>"}, "This scan has no process \\<b\\>x\\</b\\>"),
        ("brokers", {"broker": "10.9.9.9:10911"}, "This scan has no IDs of broker 10.9.9.9:10911."),
    ],
)
def test_a_name_in_a_link_that_the_scan_does_not_have_is_said(
    open_page: Open, run: str, page: str, query: dict[str, str], said: str
) -> None:
    app = open_page(page, run=run, **query)
    assert [info.value for info in app.info if info.value.startswith(said)], [info.value for info in app.info]
    assert not app.exception and app.get("plotly_chart") and "<td" in shown(app), "all of the scan is shown"


def test_a_name_that_the_scan_has_is_not_called_unknown(open_page: Open, run: str) -> None:
    host = example_run.PROCESSES[0].host
    assert not [info.value for info in open_page("producers", run=run, host=host).info if "no IDs of" in info.value]
    assert not [info.value for info in open_page("counters", run=run).info if "no process" in info.value]


def test_one_process_is_neither_ranked_nor_sorted(tmp_path: Path, open_page: Open) -> None:
    made = example_run.tables()
    for table in ("hosts", "processes"):
        made[table] = made[table].head(1)
    folders = {count: make_run(tmp_path / "runs", f"{RUN[:-1]}{count}") for count in (1, 2)}
    example_run.write(folders[1], made)
    example_run.write(folders[2], example_run.tables())
    for count, folder in folders.items():
        counters, producers = (open_page(page, run=folder.name) for page in ("counters", "producers"))
        assert ("mq-rank" in shown(counters)) == (count > 1) and not counters.exception
        sorts = [box.label for box in producers.selectbox if box.label == WORDS("sort")]
        assert bool(sorts) == (count > 1) and not producers.exception


def two_ids_in(runs: Path, name: str = RUN) -> str:
    """A scan of two ids of one process, and of one broker."""
    folder = make_run(runs, name)
    made = example_run.tables()
    for table in ("hosts", "processes", "brokers"):
        made[table] = made[table].head(1).assign(ids=2, distinct=2)
    made["counters"] = made["counters"].head(2)
    made["activity"] = made["activity"].head(1).assign(ids=2)
    example_run.write(folder, made)
    return name


@pytest.fixture
def two_ids(tmp_path: Path) -> str:
    return two_ids_in(tmp_path / "runs")


def test_two_ids_are_a_sentence_and_not_a_chart_that_looks_empty(open_page: Open, two_ids: str) -> None:
    host = example_run.PROCESSES[0].host
    for page in ("producers", "counters"):
        app = open_page(page, run=two_ids)
        charts = [item for item in app.get("plotly_chart") if "timeline" not in str(item)]  # which sets the time range
        assert not app.exception and not charts
        assert host in shown(app)
        assert page == "producers" or f"2 IDs of {host}: too few for a chart." in shown(app)


def test_two_ids_have_the_ways_to_their_pages_and_no_pictures(open_page: Open, two_ids: str) -> None:
    app = open_page("decode", run=two_ids)
    assert not app.exception and not app.get("plotly_chart")
    links = [str(link.proto.page) for link in app.get("page_link")]
    assert all(any(page in link for link in links) for page in ("producers", "counters", "brokers")), links


def test_files_without_ids_are_named_on_the_pages_of_their_scan(open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    made = example_run.tables()
    row = {"bytes": 9, "text_bytes": 9, "ids": 0, "refused": 0, "error": None}
    empty = pd.DataFrame([{"file": f"{name}.log", **row} for name in "abcdefg"])
    example_run.write(folder, {**made, "files": pd.concat([made["files"], empty])})
    said = "7 of 9 files have no ID: a.log, b.log, c.log, d.log, e.log and 2 more."
    assert said in shown(open_page("producers", run=RUN))
    example_run.write(folder, {**made, "files": pd.concat([made["files"], empty.head(1)])})
    assert refusals.without_ids(Run(folder), WORDS) == "1 of 3 files has no ID: a.log."


def test_files_without_ids_are_named_below_the_sentence_of_what_was_read() -> None:
    made = intake.read([("a.log", "nothing"), ("b.log", f"x {UNIQ} {OFFSET}"), ("<i>.log", "")])
    assert refusals.without_ids(None, WORDS, made) == "2 of 3 files have no ID: a.log, <i>.log."
    assert refusals.without_ids(None, WORDS, intake.read([("", f"x {UNIQ}")])) == ""


def line(path: str, cut: bool) -> None:
    """What the decode page shows of rejected strings; a script of its own, as AppTest wants it."""
    from pathlib import Path

    from idcore.intake import intake
    from idcore.runs.runs import Run
    from pages.parts import refusals
    from pages.parts.view import view

    made = intake.read([("", "a 9f86d081884c7d659a2feaa0c55ad015 AC110001473C7D4991AD336AEA5703E0")])
    made.cut = cut
    refusals.line(made, view(), False, Run(Path(path)) if path else None)


@pytest.mark.parametrize(
    ("scanned", "cut", "said"),
    [
        (True, True, "215 strings rejected: all lower case (212)"),  # the scan's own figures, of the whole input
        (False, True, "1 string rejected so far: all lower case. The scan counts the rest."),
        (True, False, "1 string rejected: all lower case"),
    ],
)
def test_rejected_strings_are_counted_over_the_whole_input(tmp_path: Path, scanned: bool, cut: bool, said: str) -> None:
    path = str(make_run(tmp_path / "runs")) if scanned else ""
    app = AppTest.from_function(line, kwargs={"path": path, "cut": cut}, default_timeout=30).run()
    assert not app.exception and app.expander[0].label.startswith(said)
    if scanned and cut:
        assert "214 more are not shown." in app.caption[0].value
