"""docs/screenshots, made by a real browser: `make screenshots`. Each theme, language and width once for every page."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.browser.harness import NARROW, ROOT, WIDE, Console, visit
from tests.browser.samples import UNIQ

FOLDER = ROOT / "docs" / "screenshots"
TALLEST = 1800
COLOURS = 256
CHART = '[data-testid="stPlotlyChart"] .js-plotly-plot'
LOOKS: list[tuple[str, str, str]] = [
    ("en", "light", "wide"),
    ("zh", "dark", "wide"),
    ("en", "dark", "narrow"),
    ("zh", "light", "narrow"),
]
CHARTS = {"decode": 3, "producers": 2, "counters": 1, "brokers": 1}
EMPTY = ("decode", "producers", "runs")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not os.environ.get("IDCORE_SCREENSHOTS"), reason="only `make screenshots` writes pictures"),
]


def keep(picture: bytes, name: str) -> None:
    """A small PNG: few colours are enough for a page."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, TALLEST)))
    small = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    small.save(FOLDER / f"{name}.png", optimize=True)


def shoot(tab: Any, name: str) -> None:
    """The whole page: the window grows to its content, for the page scrolls inside it."""
    page = tab.page
    page.mouse.move(0, 0)
    width = page.viewport_size["width"]
    height = page.evaluate("document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(700, min(TALLEST, int(height) + 20))})
    tab.settle()
    page.wait_for_timeout(600)
    keep(page.screenshot(animations="disabled"), name)


@pytest.fixture(scope="module")
def example(browser: Browser, warm_console: Console) -> str:
    with visit(browser, warm_console.url) as tab:
        tab.go("/decode?lang=en")
        tab.page.get_by_role("button", name="Load an example").click()
        expect(tab.page.locator(CHART).nth(2)).to_be_visible(timeout=90_000)
        tab.settle()
        return str(tab.page.url).split("run=")[1].split("&")[0]


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
@pytest.mark.parametrize("page", ["decode", "anatomy", "lab", "findings", "producers", "counters", "brokers", "runs"])
def test_picture_of_the_example(
    browser: Browser, warm_console: Console, example: str, page: str, look: tuple[str, str, str]
) -> None:
    lang, theme, width = look
    query = f"id={UNIQ}" if page == "anatomy" else f"run={example}"
    with visit(browser, warm_console.url, size=WIDE if width == "wide" else NARROW, scheme=theme) as tab:
        tab.go(f"/{page}?{query}&lang={lang}&zone=Asia/Shanghai")
        if page in CHARTS:
            expect(tab.page.locator(CHART).nth(CHARTS[page] - 1)).to_be_visible(timeout=30_000)
        if page == "lab":
            expect(tab.page.locator(".mq-step")).to_have_count(3)
        shoot(tab, f"{page}-example-{lang}-{theme}-{width}")


@pytest.mark.parametrize("page", EMPTY)
def test_picture_of_the_empty_page(browser: Browser, cold_console_without_spark: Console, page: str) -> None:
    with visit(browser, cold_console_without_spark.url) as tab:
        tab.go(f"/{page}?lang=en&zone=Asia/Shanghai")
        shoot(tab, f"{page}-empty-en-light-wide")


def test_picture_of_one_id(browser: Browser, cold_console_without_spark: Console) -> None:
    with visit(browser, cold_console_without_spark.url) as tab:
        tab.go(f"/decode?ids={UNIQ}&lang=en&zone=Asia/Shanghai")
        shoot(tab, "decode-one-en-light-wide")


def test_all_pictures_together_stay_small() -> None:
    sizes = {picture.name: picture.stat().st_size for picture in Path(FOLDER).glob("*.png")}
    assert sum(sizes.values()) < 3_000_000, sizes
