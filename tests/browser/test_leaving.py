"""A scan belongs to the server: it goes on when the browser that asked for it is closed."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Browser

from idcore.runs import Run, Runs
from tests.browser.harness import Console, visit
from tests.browser.samples import log

pytestmark = pytest.mark.browser


def wait_for(runs: Runs, states: set[str], seconds: float) -> Run:
    """The newest run, once it is in one of the states."""
    deadline = time.monotonic() + seconds
    while not ((found := runs.list()) and found[0].state in states):
        assert time.monotonic() < deadline, [(run.state, run.error) for run in found]
        time.sleep(0.05)
    return found[0]


def test_a_scan_goes_on_when_its_browser_is_closed(browser: Browser, cold_console: Console) -> None:
    runs = Runs(cold_console.runs)
    with visit(browser, cold_console.url) as tab:
        tab.page.goto(f"{cold_console.url}/decode")
        tab.page.get_by_role("textbox", name="IDs or log lines").fill(log(40))
        tab.page.get_by_role("button", name="Decode", exact=True).click()
        run = wait_for(runs, {"running", "done"}, 60)
        state = run.state
    assert state == "running"  # Spark was still starting when the browser went
    assert wait_for(runs, {"done", "failed", "cancelled"}, 120).state == "done"
    assert run.summary is not None and run.summary["ids"] > 0
