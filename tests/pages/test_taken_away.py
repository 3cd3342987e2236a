"""A tab with a scan that was deleted, or that its owner no longer shares: nothing of it is handed out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from idcore.policy.access import Visitor
from idcore.runs.runs import EVERYBODY, PRIVATE, Run
from idcore.server.download_access import OF_SCANS, DownloadAccess
from pages.parts import scans, visitor
from tests.pages.conftest import RUN, make_run
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]
ID = "0A42333A0DC818B4AAC246C290FD0000"
ANN = Visitor("ann@example.com", frozenset({"triage"}))


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A scan of somebody else, with an ID in small letters, and Ann at the console."""
    run = Run(make_run(tmp_path / "runs"))
    (run.input_folder / "000-pasted.txt").write_text(f"msgId={ID} sent\nmsgId={ID[:-1]}1 sent\n{ID.lower()[:-1]}2\n")
    run._write({"owner": "bob@example.com"})
    run.share(EVERYBODY)
    monkeypatch.setattr(visitor, "current", lambda: ANN)
    return run


@pytest.mark.parametrize("page", ["", "decode"])
def test_a_download_of_the_decode_page_goes_with_the_scan(
    page: str, shared: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[DownloadAccess] = []
    now = scans.shown

    def watched() -> DownloadAccess:
        seen.append(now())
        return seen[-1]

    monkeypatch.setattr(scans, "shown", watched)
    assert ID in shown(open_page(page, run=RUN))
    assert seen and all(each.may(ANN) for each in seen)
    shared.share(PRIVATE)
    assert not any(each.may(ANN) for each in seen)


def test_the_decode_page_lets_go_of_what_it_read(shared: Run, open_page: Open) -> None:
    app = open_page("decode", run=RUN)
    assert ID in shown(app) and app.button(key="case")
    shared.share(PRIVATE)
    app.button(key="case").click().run()
    assert "no scan" in shown(app) and not app.exception
    assert ID not in shown(app) + str(app.session_state["text"]) and not app.session_state["decode"].sources
    app.run()
    assert ID not in shown(app), "nor at the next look"


@pytest.mark.parametrize("address", [{}, {"lang": "en"}, {"run": "20261130-000000-" + "0" * 32}])
def test_nor_does_it_keep_that_for_an_address_without_the_scan(
    address: dict[str, str], shared: Run, open_page: Open
) -> None:
    app = open_page("decode", run=RUN)
    assert ID in str(app.session_state["text"])
    shared.share(PRIVATE)
    app.query_params.clear()
    app.query_params.update(address)
    app.run()
    assert "no scan" in shown(app) and not app.exception
    labels = " ".join(fold.label for fold in app.expander)
    assert ID not in shown(app) + labels + str(app.session_state["text"])
    assert not app.session_state["decode"].sources


@pytest.mark.parametrize("name", ["\0", "../runs/" + RUN, "x" * 5_000])
def test_a_download_is_of_a_scan_by_its_name_alone(name: str, shared: Run) -> None:
    assert all(DownloadAccess.to(ANN, page, name).run is None for page in OF_SCANS)
    assert DownloadAccess.to(ANN, "decode", RUN).run == shared
