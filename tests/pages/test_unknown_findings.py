"""A finding that another version wrote, or a hand, is left out with a sentence; the others keep their numbers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from streamlit.runtime import fragment
from streamlit.runtime.scriptrunner import exec_code
from streamlit.testing.v1 import AppTest

from idcore.answers.findings import all_rules
from idcore.base.catalogue import words
from idcore.presentation.triage import find_anything, run_tables
from idcore.runs.runs import Run
from idcore.spark.folder import write_table
from pages.parts import serve
from tests.pages.test_findings import judged, two_at_once
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]
TYPES = {"ids": 5, "sent_at": [1], "process": "x", "broker": [1], "addresses": 7, "variant": ["x"], "places": [1]}
WRONG: dict[str, dict[str, Any]] = {
    "of a newer version": {"code": "of_the_future"},
    "without a code": {"code": None},
    "of no severity": {"severity": "fatal"},
    "of no certainty": {"certainty": "sworn"},
    "of nobody": {"subject": None},
    "no JSON": {"evidence": "x"},
    "a list": {"evidence": "[1]"},
    "no figures": {"evidence": "{}"},
    "without evidence": {"evidence": None},
    "other kinds": {"evidence": json.dumps(TYPES)},
    "many of them": {"evidence": '{"more": "many", "ids": [], "variant": "more"}'},
    "a number without an end": {"evidence": '{"more": ' + "9" * 5_000 + ', "variant": "more"}'},
    "deep": {"evidence": "[" * 100_000},
    "half a letter": {"evidence": '{"ids": ["\\ud800"], "variant": "\\ud800"}'},
    "values in a list": {"values": "[]"},
    "values of other kinds": {"values": '{"subject": [1], "count": "x", "assumed": 5}'},
}


@pytest.fixture(autouse=True)
def as_the_server_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (exec_code, fragment):
        monkeypatch.setattr(module, "handle_user_script_exception", lambda error, _: serve.on_script_error(error))


def with_first(run: Run, values: dict[str, Any]) -> Run:
    """The run, whose first finding is another one."""
    table = run.table("findings")
    rows = table.to_pylist()
    rows[0] |= values
    shutil.rmtree(run.path / "findings")
    (run.path / "findings").mkdir()
    write_table(pa.Table.from_pylist(rows, schema=table.schema), run.path / "findings" / "part-00000.parquet")
    return run


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two findings."""
    root = tmp_path_factory.mktemp("two")
    assert judged(root, two_at_once()).table("findings").num_rows == 2
    return root / "runs"


@pytest.fixture
def run(two: Path, tmp_path: Path) -> Run:
    shutil.copytree(two, tmp_path / "runs")
    (path,) = (tmp_path / "runs").iterdir()
    return Run(path)


@pytest.mark.parametrize("wrong", WRONG)
def test_each_of_its_pages_shows_the_others(wrong: str, run: Run, open_page: Open) -> None:
    """A run that held an unknown code had no page of findings at all: something went wrong there."""
    with_first(run, WRONG[wrong])
    assert run_tables.unknown_findings(run) == {0}
    asked: list[dict[str, str]] = [{}, {"finding": "0"}, {"finding": "1"}, {"wall": "1"}, {"host": "10.0.0.7"}]
    for query in asked if wrong == "of a newer version" else asked[:1]:
        app = open_page("findings", run=run.name, **query)
        assert not app.exception and not app.error, query
        assert "1 finding of this scan is not shown" in shown(app) or query


def test_programs_and_searches_have_the_others_by_their_numbers(run: Run) -> None:
    with_first(run, {"code": "of_the_future"})
    rows = run_tables.frame(run, "findings", cut=False)
    assert list(find_anything.finding_names(rows, words())) == [1] == list(rows.index)
    assert run_tables.finding(run, "0") is None and run_tables.finding(run, "2") is None
    found = run_tables.finding(run, "1")
    assert found is not None and found["code"] in all_rules.RULES
