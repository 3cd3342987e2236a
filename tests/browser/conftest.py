"""Fixtures of the browser tests: one browser, a warm console and one without Spark for all, a cold one if asked for."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.harness import SCAN, Console, Visit, chromium, console, launch, visit

LOG_LINES = 60  # of a console, in the report of a test that failed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a test that failed has the last lines of its console's log."""
    report = yield
    for name, value in getattr(item, "funcargs", {}).items() if report.failed else ():
        if isinstance(value, Console):
            report.sections.append((f"Log of {name}", "\n".join(value.said().splitlines()[-LOG_LINES:])))
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not chromium():
        reason = "no Chromium on PATH (or in $CHROMIUM)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        opened = launch(playwright)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def warm_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with console(tmp_path_factory.mktemp("console")) as running:
        yield running


@pytest.fixture(scope="session")
def example(browser: Browser, warm_console: Console) -> str:
    """The run of the built-in example, scanned once."""
    with visit(browser, warm_console.url) as tab:
        tab.go("/decode")
        tab.page.get_by_role("button", name="Load an example").click()
        charts = tab.page.locator('[data-testid="stPlotlyChart"] .js-plotly-plot')
        expect(charts.nth(2)).to_be_visible(timeout=SCAN)
        tab.settle()
        return str(tab.page.url).split("run=")[1].split("&")[0]


@pytest.fixture
def cold_console(tmp_path: Path) -> Iterator[Console]:
    with console(tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def console_without_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """One for all whose runs are put there: each has a name of its own."""
    with console(tmp_path_factory.mktemp("console"), IDCORE_NO_SPARK="1") as running:
        yield running


@pytest.fixture
def cold_console_without_spark(tmp_path: Path) -> Iterator[Console]:
    with console(tmp_path, IDCORE_NO_SPARK="1") as running:
        yield running


@pytest.fixture
def tab(browser: Browser, warm_console: Console) -> Iterator[Visit]:
    """A fresh visitor of the warm console; whatever went wrong by the end of the test fails it."""
    before = len(warm_console.said())
    with visit(browser, warm_console.url) as visitor:
        yield visitor
        visitor.check()
    assert "Traceback" not in warm_console.said()[before:]
