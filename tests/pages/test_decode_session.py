"""The one object of the decode page: its states, and that it follows the address."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from idcore.intake.intake import PASTED, Source
from idcore.runs.runs import COMPARE
from pages.parts.ids.decode_session import DecodeSession
from tests.cli.test_decode import ID, MD5, OFFSET
from tests.pages.conftest import RUN, make_run
from tests.pages.test_pages import press, shown

Open = Callable[..., AppTest]


@pytest.mark.parametrize(
    ("of_run", "state"),
    [("running", "scanning"), ("done", "scanned"), ("failed", "failed"), ("cancelled", "failed")],
)
def test_the_state_of_a_session_is_that_of_its_run(tmp_path: Path, of_run: str, state: str) -> None:
    make_run(tmp_path / "runs", state=of_run)
    pasted = [Source(PASTED, ID.encode())]
    for sources in (pasted, []):
        here = DecodeSession(list(sources))
        assert here.state == ("read" if sources else "empty")
        here.run = RUN
        assert here.state == state


def test_a_text_is_read_and_nothing_empties_the_page_again(open_page: Open) -> None:
    app = open_page("decode")
    assert app.session_state["decode"].state == "empty" and not app.warning
    app.text_area[0].set_value(f"{OFFSET}, {MD5}, {ID}")
    press(app, "Decode")
    here = app.session_state["decode"]
    assert (here.state, here.single, here.files, here.holds_ids) == ("read", False, False, True)
    assert [item.token.text for item in here.intake.items] == [OFFSET, MD5, ID], "in the order of the text"
    assert app.query_params["ids"] == f"{OFFSET},{MD5},{ID}"
    app.text_area[0].set_value(" ")
    press(app, "Decode")
    assert app.session_state["decode"].state == "empty" and app.warning and "ids" not in app.query_params


def test_a_run_without_input_is_shown_as_long_as_the_address_names_it(open_page: Open, run: str) -> None:
    app = open_page("decode", run=run)
    here = app.session_state["decode"]
    assert (here.state, here.sources) == ("scanned", []) and not app.exception
    assert len(app.get("plotly_chart")) == 3 and "app.log, old.log.gz" in shown(app)
    del app.query_params["run"]
    assert not app.run().get("plotly_chart") and app.session_state["decode"].state == "empty"
    app.query_params["run"] = "20200101-000000-000000"
    assert app.run().error and app.session_state["decode"].state == "empty"


def test_a_comparison_is_not_opened_as_a_scan(open_page: Open, tmp_path: Path, run: str) -> None:
    folder = tmp_path / "runs" / run
    facts = json.loads((folder / "run.json").read_text())
    sides = {"sides": [["a.log"], ["b.log"]], "of": [None, None], "copied": [1, 1]}
    (folder / "run.json").write_text(json.dumps(facts | {"kind": COMPARE, "options": facts["options"] | sides}))
    app = open_page("decode", run=run)
    assert app.error and not app.exception and "run" not in app.session_state
    assert app.session_state["decode"].state == "empty"


def test_a_colleague_in_another_zone_sees_the_times_of_the_scan(open_page: Open, tmp_path: Path, run: str) -> None:
    """Its findings and charts are dated as it was scanned: the same ID must have no other time above them."""
    folder = tmp_path / "runs" / run
    (folder / "input").mkdir()
    (folder / "input" / "000-pasted.txt").write_text(f"msgId={ID} sent\nmsgId={ID[:-1]}1 sent\n")
    facts = json.loads((folder / "run.json").read_text())
    options = facts["options"] | {"zone": "Asia/Tokyo", "zone_source": "assumed", "at": "2026-11-21T01:55:00+00:00"}
    (folder / "run.json").write_text(json.dumps(facts | {"options": options}))

    def wall(**query: str) -> list[str]:
        page = shown(open_page("decode", run=run, **query))
        return re.findall(r"2026-11-\d\d \d\d:\d\d", page.split("Decoded IDs")[-1])[:1]

    in_tokyo = wall(zone="Asia/Tokyo")  # chosen: what its reader says counts
    assert wall() == [f"{datetime.fromisoformat(in_tokyo[0]) - timedelta(hours=9):%Y-%m-%d %H:%M}"]
    assert wall(zone="UTC") == in_tokyo
