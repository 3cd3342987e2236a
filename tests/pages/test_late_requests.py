"""A request that is on its way while the page changes has the values of the page that went: it changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.uploaded_file_manager import DeletedFile
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.parts import session
from pages.parts.triage import compare
from tests.pages.conftest import ROOT

PAGES = [
    "",
    "anatomy",
    "brokers",
    "compare",
    "counters",
    "fate",
    "findings",
    "lab",
    "lines",
    "message",
    "runs",
    "store",
]


@pytest.mark.long(first=2)
@pytest.mark.parametrize("page", ["", *PAGES])
def test_its_values_stay_out_of_the_address(page: str, open_page: Callable[..., AppTest], run: str) -> None:
    app = open_page(page, run=run)
    late = app._tree.get_widget_states()
    for state in list(late.widgets):
        if state.WhichOneof("value") == "trigger_value" and not state.trigger_value:
            late.widgets.remove(state)  # a browser sends a button only when it is pressed
    assert any("pick_lang" in state.id for state in late.widgets)
    app._page_hash = calc_hash("findings")
    app.query_params["wall"] = "1"
    app.run()
    before = dict(app.query_params)
    app._run(late)
    assert dict(app.query_params) == before and before["wall"] == "1"


def test_every_callback_of_a_value_asks_whether_its_page_is_in_sight() -> None:
    """Those of the sidebar, which all pages have, ask whether the value is another one."""
    own = {"in_sight", '"rerun"', "choose_lang", "choose_zone", "change"}
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for given in re.findall(r"on_change=([\w\"]+)", path.read_text(encoding="utf-8")):
            assert given in own, f"{path}: {given}"


def test_a_file_that_the_browser_alone_has_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    there = SimpleNamespace(name="a.log")
    state: dict[str, Any] = {"files": [DeletedFile("1"), there], "compare-files-before": [DeletedFile("2")]}
    monkeypatch.setattr(session.st, "session_state", state)
    monkeypatch.setattr(compare, "into_address", lambda _: None)
    assert session.chosen("files") == [there] and session.chosen("none") == []
    compare.take()
    assert state["compare"].of_side("before") == ()
