"""From a click to the log lines: from a finding, a bar and a gap, for a plain and a .gz log, in real Chromium.

python -m benchmarks.clicks                     4 million lines, 1.15 GB, and the same as .gz; 5 rounds
python -m benchmarks.clicks --lines 400000      a tenth of it

Each log is scanned and its index of lines is made before. Then a console starts, so that the first click of each kind
finds a server whose pages nobody has opened. Each click is of a new visitor, whose page is drawn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from benchmarks.make_log import LINE, write_log
from idcore.runs.runs import Run, Runs
from idcore.spark import background
from idcore.spark.job import ScanOptions
from tests.browser.harness import console, launch, visit

LOST = 20_000  # lines in the middle that were not logged: each process has a gap there
LINES = '[data-testid="stMain"] .mq-lines > li'
LINK = 'a[href*="lines?"]'
CLICKS = {
    "a finding": ("findings", f'[data-testid="stMain"] {LINK}'),
    "a bar": ("producers", "[data-testid=stPlotlyChart] >> nth=1 >> .barlayer .point path"),
    "a gap": ("counters", f".mq-table {LINK}"),
}


def planted(path: Path, lines: int) -> None:
    """A log in whose middle some lines have no ids."""
    write_log(path, lines)
    with path.open("r+b") as file:
        file.seek(lines // 2 * len(LINE))
        file.write((b"." * (len(LINE) - 1) + b"\n") * min(LOST, lines // 10))


def indexed(path: Path) -> Run:
    """Scanned, its index of lines made."""
    run = Runs().create(path.name)
    background.start(run, [str(path)], ScanOptions(UTC, "given", datetime.now(UTC))).wait()
    background.locating(run).wait()
    return run


def pressed(page: Page, target: Locator) -> float:
    """Seconds from a click until a line of the log is in sight. A bar is a shape, so the pointer goes there."""
    target.wait_for(state="attached", timeout=30_000)
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    page.wait_for_timeout(1_000)  # the page looks for new charts from time to time
    begun = time.perf_counter()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    seen = f"() => document.querySelector('{LINES}')"  # a function: pages permit no eval
    page.wait_for_function(seen, polling="raf", timeout=30_000)
    return time.perf_counter() - begun


def measured(browser: Browser, url: str, run: Run, rounds: int) -> dict[str, list[float]]:
    """The seconds of each click, a round after the other."""
    seconds: dict[str, list[float]] = {name: [] for name in CLICKS}
    for _ in range(rounds):
        for name, (address, where) in CLICKS.items():
            with visit(browser, url) as tab:
                tab.go(f"/{address}?run={run.name}&lang=en")
                seconds[name].append(pressed(tab.page, tab.page.locator(where).first))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print("| log | click | first, s | median, s | slowest, s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        os.environ["IDCORE_RUNS"] = str(home / "runs")
        plain = home / "large.log"
        planted(plain, asked.lines)
        subprocess.run(["gzip", "-1", "-k", str(plain)], check=True)
        runs = [indexed(path) for path in (plain, home / "large.log.gz")]
        browser = launch(playwright)
        for run in runs:
            with console(home, IDCORE_ALLOWED_PATHS=folder) as server:
                with visit(browser, server.url) as tab:  # until Spark is up
                    tab.go("/decode?ids=0A2A00010FA118B4AAC263F5C09A1388&lang=en")
                for name, seconds in measured(browser, server.url, run, asked.rounds).items():
                    first, median, slowest = seconds[0], statistics.median(seconds), max(seconds)
                    print(f"| {run.title} | {name} | {first:.2f} | {median:.2f} | {slowest:.2f} |", flush=True)


if __name__ == "__main__":
    main()
