"""A text that is pasted a second time: its scan is there at once, and every link has it as after the first paste."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.runs.runs import Run
from idcore.server import jobs
from pages.parts import scans
from tests.pages.conftest import RUN, make_run
from tests.pages.test_pages import shown

IDS = "0A42333A0DC818B4AAC246C290FD0000 0A42333A0DC818B4AAC246C290FD0001"


def test_the_links_of_a_second_paste_have_the_scan_of_the_first(
    open_page: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / "runs")

    def found_again(*_: Any, **__: Any) -> Run:
        scans.remember(RUN)
        return scans.visible_runs().open(RUN)

    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(scans, "begin", found_again)
    app = open_page("decode", ids=IDS)
    assert not app.exception
    links = [part.split('"')[0] for part in shown(app).split('href="') if "message?" in part.split('"')[0]]
    assert links and all(f"run={RUN}" in link for link in links)
