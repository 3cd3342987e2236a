"""The API of a real console: calls of decode a second, and a scan by the API next to the same scan on a page.

python -m benchmarks.api                        16 connections, 10 s; then 5 scans each way
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import psutil
from playwright.sync_api import Page, sync_playwright

from tests.browser.harness import console, launch, visit
from tests.browser.samples import log

ID = "AC110001473C7D4991AD336AEA5703E0"
JSON = {"content-type": "application/json"}
LINES = 1_000


async def _caller(host: str, port: int, until: float, seconds: list[float]) -> None:
    """One connection that calls again as soon as it has its answer."""
    reader, writer = await asyncio.open_connection(host, port)
    body = json.dumps({"text": ID, "zone": "+08:00"}).encode()
    head = f"POST /api/v1/decode HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    while time.perf_counter() < until:
        begun = time.perf_counter()
        writer.write(request)
        answer = await reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(answer.decode())
        size = next(int(line[15:]) for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(size)
        seconds.append(time.perf_counter() - begun)
    writer.close()


async def calls(address: str, connections: int, lasting: float) -> list[float]:
    """How long each call took."""
    place = urlsplit(address)
    assert place.hostname is not None and place.port is not None, address
    seconds: list[float] = []
    until = time.perf_counter() + lasting
    await asyncio.gather(*(_caller(place.hostname, place.port, until, seconds) for _ in range(connections)))
    return seconds


def post(address: str, name: str, **given: object) -> dict[str, object]:
    """One call."""
    request = Request(f"{address}/api/v1/{name}", json.dumps(given).encode(), JSON)
    with urlopen(request, timeout=60) as answer:
        found: dict[str, object] = json.load(answer)["items"][0]
        return found


def by_api(address: str, text: str) -> float:
    """Seconds from the text to the summary of its scan."""
    begun = time.perf_counter()
    scan = post(address, "start_scan", text=text, zone="+08:00", wait=20)
    while scan["state"] in ("new", "running"):
        scan = post(address, "scan", run=scan["run"], wait=20)
    assert scan["state"] == "done", scan
    return time.perf_counter() - begun


def by_page(page: Page, text: str) -> float:
    """Seconds from the button to the first chart."""
    page.get_by_role("textbox", name="IDs or log lines").fill(text)
    begun = time.perf_counter()
    page.get_by_role("button", name="Decode", exact=True).click()
    page.wait_for_function(
        "() => document.querySelectorAll('[data-testid=stPlotlyChart] .cartesianlayer path').length",
        polling="raf",
        timeout=60_000,
    )
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, console(Path(folder), IDCORE_CALLS_VISITOR="off") as server:
        while True:
            try:
                post(server.url, "decode", text=ID)
                break
            except OSError:
                time.sleep(0.2)
        by_api(server.url, log(LINES))  # Spark is up
        process = psutil.Process(server.process.pid)
        before = process.cpu_times()
        took = asyncio.run(calls(server.url, options.connections, options.seconds))
        after = process.cpu_times()
        cpu = (after.user - before.user + after.system - before.system) / len(took) * 1_000
        took.sort()
        print("| connections | calls a second | server's CPU, ms a call | median, ms | 99 of 100 below, ms |")
        print("|---|---|---|---|---|")
        slow = took[len(took) * 99 // 100] * 1_000
        rate = len(took) / options.seconds
        figures = f"{rate:,.0f} | {cpu:.2f} | {statistics.median(took) * 1_000:.1f} | {slow:.1f}"
        print(f"| {options.connections} | {figures} |\n")
        texts = [log(LINES, first=number * 700) for number in range(1, 2 * options.rounds + 1)]
        api = [by_api(server.url, text) for text in texts[: options.rounds]]
        page = []
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for text in texts[options.rounds :]:
                with visit(browser, server.url) as tab:
                    tab.go("/decode")
                    page.append(by_page(tab.page, text))
            browser.close()
        print(f"| scan of {LINES:,} lines, Spark up | s |\n|---|---|")
        print(f"| API: the text to its summary | {statistics.median(api):.2f} |")
        print(f"| page: the button to the first chart | {statistics.median(page):.2f} |")


if __name__ == "__main__":
    main()
