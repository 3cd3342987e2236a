"""What every page test shares: a folder of runs of its own, no Spark, and the app as AppTest runs it."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from idcore.answers.lookup import shared
from idcore.base import catalogue
from idcore.presentation.reports.roles import Theme
from pages.parts.view import View
from tests.pages import example_run

ROOT = Path(__file__).resolve().parents[2]
RUN = "20261121-015500-a1b2c3"
# Each app of AppTest looks for components in every installed package, which took most of these tests' time.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


def reader(zone: tzinfo = UTC, lang: str = "en", theme: Theme = "light") -> View:
    """A visitor who chose a zone, a language and a theme."""
    return View(catalogue.words(lang), zone, str(zone), "chosen", theme)


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test touches the runs of this user, starts Spark, or finds an allowed folder by chance."""
    import streamlit as st

    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("IDCORE_NO_SPARK", "1")
    monkeypatch.delenv("IDCORE_ALLOWED_PATHS", raising=False)
    monkeypatch.setattr(type(st.context), "cookies", {})  # those of AppTest are mocks
    yield
    st.cache_data.clear()
    st.cache_resource.clear()
    shared.forget()


def make_run(
    root: Path, name: str = RUN, state: str = "done", title: str = "app.log, old.log.gz", error: str = ""
) -> Path:
    """A run folder as the core writes it."""
    folder = root / name
    folder.mkdir(parents=True)
    facts = {
        "title": title,
        "source": "console",
        "created": datetime(2026, 11, 21, 1, 55, tzinfo=UTC).isoformat(),
        "options": {"zone": "Asia/Shanghai", "zone_source": "born"},
        "state": state,
        "error": error,
        "pid": 1,
    }
    (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    if state == "done":
        shutil.copytree(_written(), folder, dirs_exist_ok=True)
    return folder


@functools.cache
def _written() -> Path:
    """The tables of the example, written once."""
    folder = Path(tempfile.mkdtemp())
    example_run.write(folder)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> str:
    """The name of a finished run."""
    make_run(tmp_path / "runs")
    return RUN


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Opens an address of the console: `open_page("producers", run=NAME)`."""

    def opened(page: str = "", /, **query: Any) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        if page:
            app._page_hash = calc_hash(page)  # as a link does: `switch_page` needs the first page before it
        for key, value in query.items():
            app.query_params[key] = value
        return app.run()

    return opened
