"""What a person waits for: from `make run` to the page, from paste to table, from paste to charts, in real Chromium.

python -m benchmarks.console                    medians of 5 rounds warm, 3 cold
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.harness import Console, console, launch, visit
from tests.browser.samples import log

BOX = "document.querySelector('textarea[aria-label=\"IDs or log lines\"]')"
MAIN = "document.querySelector('[data-testid=stMain]')"
DRAWN = (
    "[...document.querySelectorAll('[data-testid=stPlotlyChart]')]"
    ".filter(chart => chart.querySelector('.cartesianlayer path')).length"
)
LINES = 1_000


def until(page: Page, condition: str) -> None:
    """Looks at every frame, so that what is measured is what is seen."""
    page.wait_for_function(f"() => {condition}", polling="raf", timeout=120_000)  # a function: pages permit no eval


def cold(browser: Browser) -> dict[str, float]:
    """A new server, Spark not up: the first visitor's first minute."""
    with (
        tempfile.TemporaryDirectory() as folder,
        console(Path(folder), make=True) as server,
        visit(browser, server.url) as tab,
    ):
        tab.page.goto(server.url + "/decode")
        until(tab.page, BOX)
        page = time.perf_counter() - server.started
        tab.page.get_by_role("button", name="Load an example").click()
        until(tab.page, f"{DRAWN} >= 3")
        charts = time.perf_counter() - server.started
        tab.check()
    return {"cold: make run to the decode page": page, "cold: make run to the example's charts": charts}


def warm(browser: Browser, server: Console, number: int) -> dict[str, float]:
    """A server that has been up for a while, a new visitor who pastes a second after the page is there, new text."""
    text = log(LINES, first=number * 700)
    with visit(browser, server.url) as tab:
        tab.go("/decode")
        tab.page.wait_for_timeout(1_000)
        tab.page.get_by_role("textbox", name="IDs or log lines").fill(text)
        button = tab.page.get_by_role("button", name="Decode", exact=True)
        begun = time.perf_counter()
        button.click()
        until(tab.page, f"{MAIN}.innerText.includes('10.42.0.1')")
        table = time.perf_counter() - begun
        until(tab.page, f"{DRAWN} >= 3")
        charts = time.perf_counter() - begun
        tab.settle()
        seconds = {f"warm: {LINES:,} lines to their table": table, f"warm: {LINES:,} lines to their charts": charts}
        for page in ("producers", "counters", "brokers"):
            begun = time.perf_counter()
            tab.page.locator(f'[data-testid="stSidebar"] a[href*="{page}"]').click()
            until(tab.page, f"location.pathname == '/{page}' && {DRAWN} >= 1")
            seconds[f"warm: click to {page}"] = time.perf_counter() - begun
            tab.settle()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="warm rounds")
    parser.add_argument("--cold-rounds", type=int, default=3)
    asked = parser.parse_args()
    measured: dict[str, list[float]] = {}

    def keep(run: Callable[[], dict[str, float]]) -> None:
        for name, value in run().items():
            measured.setdefault(name, []).append(value)
            print(f"{name}: {value:.2f} s", file=sys.stderr, flush=True)

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        for _ in range(asked.cold_rounds):
            keep(lambda: cold(browser))
        with console(Path(folder)) as server:
            warm(browser, server, 99)  # until Spark is up
            for number in range(asked.rounds):
                keep(lambda number=number: warm(browser, server, number))  # type: ignore[misc]
        browser.close()
    print("\n| what a person waits for | median, s | fastest | slowest |\n|---|---|---|---|")
    for name, values in measured.items():
        print(f"| {name} | {statistics.median(values):.2f} | {min(values):.2f} | {max(values):.2f} |")


if __name__ == "__main__":
    main()
