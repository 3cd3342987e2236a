"""The page without a server: from a folder and from one file, with no network, it says what the command line says."""

from __future__ import annotations

import csv
import functools
import gzip
import http.server
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from scripts import pyodide
from tests.browser.harness import ROOT
from tests.cli.in_process import command

LINES = [json.loads(line) for line in (ROOT / "tests" / "vectors" / "public-lines.jsonl").read_text().splitlines()]
SAMPLE = "AC110001473C7D4991AD336AEA5703E0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page; the single file is beside it."""
    out = tmp_path_factory.mktemp("page") / "rocketmq-ids"
    if not pyodide.is_there() and not os.environ.get("CI"):
        pytest.skip("Pyodide is not in .cache: make setup-dev")
    subprocess.run([sys.executable, "scripts/make_page.py", "--out", str(out)], cwd=ROOT, check=True)
    return out


@pytest.fixture(scope="module")
def served(made: Path) -> Iterator[str]:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(made))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
        server.shutdown()


NOW = "2026-11-25T00:00:00+00:00"


def told(text: str) -> list[list[str]]:
    """What the command line says of a text, in the zone of the browser."""
    words = ("decode", "-", "--format", "csv", "--at", NOW)
    done = command(*words, given=text.encode(), env={**os.environ, "TZ": "Asia/Shanghai"})
    return list(csv.reader(io.StringIO(done.stdout.decode())))


def opened(browser: Browser, address: str, **look: Any) -> Page:
    """The page in a tab that may ask for nothing but the files of the page."""
    look = {"timezone_id": "Asia/Shanghai", "locale": "en-US", "accept_downloads": True, **look}
    page = browser.new_context(**look).new_page()
    page.clock.set_fixed_time(NOW)
    page.goto(address)
    return page


def answer(page: Page, text: str) -> list[list[str]]:
    """What the page says of a text, as its CSV."""
    page.locator("#box").fill(text)
    expect(page.locator("body[data-answered]")).to_have_count(1, timeout=120_000)
    expect(page.locator("#state")).to_have_text("")
    if page.locator("#csv").is_hidden():
        return []
    with page.expect_download() as taken:
        page.locator("#csv").click()
    return list(csv.reader(io.StringIO(Path(taken.value.path()).read_text(encoding="utf-8-sig"))))


def rows(found: list[list[str]]) -> list[list[str]]:
    """Without an empty answer's heading."""
    return found if len(found) > 1 else []


def test_the_single_file_decodes_with_the_network_cut(browser: Browser, made: Path) -> None:
    single = made.with_name(f"{made.name}.html")
    assert single.stat().st_size <= 12_000_000
    page = opened(browser, "about:blank")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.goto(single.as_uri())
    expect(page.locator("#answer")).to_contain_text("172.17.0.1", timeout=3_000)  # before anything is loaded
    for line in LINES[:4]:
        assert rows(answer(page, line["text"])) == rows(told(line["text"])), line["text"]
    assert {url.split(":")[0] for url in asked} <= {"file", "blob", "data", "https"}
    assert not [url for url in asked if url.startswith("http") and "page.invalid" not in url]
    page.context.close()


EARLY = """new MutationObserver((_, watch) => {
  const box = document.getElementById("box");
  if (box) { watch.disconnect(); box.value = "0A141E28126418B4AAC26531F659001F"; }
}).observe(document, {childList: true, subtree: true})"""


def test_what_is_pasted_while_the_page_comes_is_decoded(browser: Browser, made: Path) -> None:
    """The single file has 10 MB behind its box."""
    page = browser.new_page()
    page.add_init_script(EARLY)
    page.goto(made.with_name(f"{made.name}.html").as_uri())
    page.wait_for_selector("body[data-answered]", timeout=60_000)
    assert "10.20.30.40" in page.locator("#answer").inner_text()
    page.close()


@pytest.mark.long
def test_it_says_what_the_command_says_in_two_languages_and_keeps_markup_as_text(browser: Browser, served: str) -> None:
    """A link to an ID, all public lines, and texts that a page may take for its own."""
    page = opened(browser, "about:blank", color_scheme="dark", viewport={"width": 390, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served}#lang=zh&id={SAMPLE}")
    expect(page.locator("body[data-answered]")).to_have_count(1, timeout=120_000)
    expect(page.locator("h1")).to_have_text("解码 RocketMQ 消息 ID")
    expect(page.locator("#answer")).to_contain_text("计数器")
    page.get_by_role("button", name="English").click()
    expect(page.locator("h1")).to_have_text("Decode RocketMQ message IDs")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    text = "\n".join(line["text"] for line in LINES)
    assert answer(page, text) == told(text) and len(told(text)) > len(LINES) / 2
    answer(page, f"<img src=x onerror=alert(1)> {SAMPLE} <script>alert(2)</script>")
    assert not page.locator("#answer img, #answer script").count()
    answer(page, "no ID in this text")
    expect(page.locator("#answer")).to_contain_text("No ID")
    page.goto(f"{served}#lang=constructor")  # of a link: no language, and no page without a word
    page.reload()
    expect(page.locator("h1")).to_have_text("Decode RocketMQ message IDs")
    own = served.rpartition("/")[0]
    assert all(url.startswith((own, "blob:")) for url in asked)
    page.context.close()


@pytest.mark.long
def test_an_id_of_the_address_never_stands_above_the_card_of_the_sample(browser: Browser, served: str) -> None:
    """While the decoder loads the card of the sample would be taken for that of the ID, and it says "certain"."""
    held: list[Route] = []
    page = browser.new_context(locale="en-US").new_page()
    page.route("**/worker.js", lambda route: held.append(route))
    page.goto(served)
    expect(page.locator("#answer")).to_contain_text("172.17.0.1")
    page.goto(f"{served}#id=0A2C0311378C18B4AAC237FF22CF0384")
    for _ in range(2):  # the address changes, then the page is opened by it
        expect(page.locator("#box")).to_have_value("0A2C0311378C18B4AAC237FF22CF0384")
        expect(page.locator("#answer")).to_be_empty()
        expect(page.locator("#state")).to_have_text("The decoder is loading…")
        page.reload()
    page.unroute("**/worker.js")
    page.reload()
    expect(page.locator("#answer")).to_contain_text("10.44.3.17", timeout=120_000)
    page.context.close()


def test_the_folder_is_small_as_it_is_served_and_asks_for_nothing_else(made: Path) -> None:
    served = sum(len(gzip.compress(path.read_bytes(), 6)) for path in made.iterdir())
    assert served <= 8_000_000
    page = (made / "index.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'") and "unsafe-eval'" not in policy.replace("wasm-unsafe-eval'", "")
    assert not re.findall(r'(?:src|href)="https?:', page)


@pytest.mark.long
def test_the_page_is_the_same_for_the_same_sources(made: Path, tmp_path: Path) -> None:
    again = tmp_path / "rocketmq-ids"
    subprocess.run([sys.executable, "scripts/make_page.py", "--out", str(again)], cwd=ROOT, check=True)
    for path in made.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name
