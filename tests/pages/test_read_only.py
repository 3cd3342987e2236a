"""A folder of scans that becomes read-only while the console runs: what pages show, refuse, and do when it is back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.base.errors import CoreError
from idcore.runs.runs import Runs
from idcore.server import jobs
from pages.parts import frame, scans
from tests.pages.conftest import RUN
from tests.pages.test_messages import SECOND
from tests.pages.test_pages import press, shown
from tests.pages.test_runs import done_at_once
from tests.pages.test_time_range import indexed_run
from tests.spark.mounts import mounted

Open = Callable[..., AppTest]
LINES = "".join(f"msgId=AC110001473C7D4991AD336AEA57{n:04X}\n" for n in range(30))


@pytest.mark.long(first=1)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_finished_scans_are_shown_new_ones_are_refused_in_a_sentence_until_it_is_back(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    run, own = indexed_run(tmp_path / "runs"), words(lang)
    refused, disk = own.error(CoreError("runs_read_only")), own("error.EROFS")
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(scans, "launch", done_at_once)

    def decoded() -> AppTest:
        app = open_page("decode", lang=lang)
        app.text_area[0].set_value(LINES)
        return press(app, own("decode.button"))

    with mounted(tmp_path / "runs", "--bind", "-o", "ro", str(tmp_path / "runs")):
        for page in (address for rows in frame.MENU.values() for address, _, _ in rows):
            query = {"run": RUN} if page in frame.TRIAGE else {"id": SECOND}
            app = open_page(page, lang=lang, **query)
            assert not app.exception and not app.error, page
        app = decoded()
        assert refused in app.error[0].value and "172.17.0.1" in shown(app), "what is pasted is decoded"
        app = open_page("runs", lang=lang)
        for button in ("pin", "delete"):
            app.button(key=f"{button}-{RUN}").click().run()
            assert disk in app.error[0].value and not app.exception, button
        assert [each.name for each in Runs().list()] == [RUN] and run.table("processes").num_rows
    app = decoded()
    assert not app.error and len(Runs().list()) == 2
    app = open_page("runs", lang=lang)
    app.button(key=f"pin-{RUN}").click().run()
    assert not app.error and run.pinned
