"""A window of 1024 pixels with the menu open, and a phone: nothing that stands side by side is cut off there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import Console, visit

pytestmark = pytest.mark.browser

CUT = """(names) => [...document.querySelectorAll(names)].filter(
  (one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"""
OUTSIDE = """() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')].flatMap((chart) => {
  const left = chart.getBoundingClientRect().left;
  return [...chart.querySelectorAll('.yaxislayer-above text')].filter(
    (text) => text.getBoundingClientRect().left < left - 1).map((text) => text.textContent);
})"""

IN_SIGHT = """(name) => {
  const box = document.querySelector(name)?.getBoundingClientRect();
  return box && box.left >= 0 && box.right <= document.documentElement.clientWidth;
}"""


def test_labels_and_switches_fit_beside_the_menu(browser: Browser, warm_console: Console, example: str) -> None:
    with visit(browser, warm_console.url, size=(1024, 800)) as tab:
        tab.go(f"/decode?run={example}&lang=en")
        expect(tab.page.locator('[data-testid="stPlotlyChart"] .js-plotly-plot').nth(2)).to_be_visible()
        tab.settle()
        assert tab.page.evaluate(CUT, '[data-testid="stPageLink"] p') == []
        assert tab.page.evaluate(OUTSIDE) == []
        tab.turn_to(f"/counters?run={example}&lang=en")
        rate = tab.page.get_by_text("Rate", exact=True).first
        expect(rate).to_be_visible()
        box, column = rate.bounding_box(), tab.page.locator(".st-key-counter-and-rank").bounding_box()
        assert box and column and box["x"] + box["width"] <= column["x"] + column["width"]
        assert tab.page.evaluate(CUT, '[data-testid="stButtonGroup"]') == []
        tab.fits()
        tab.page.set_viewport_size({"width": 390, "height": 800})
        tab.turn_to(f"/brokers?run={example}&lang=en")
        tab.page.wait_for_function(IN_SIGHT, arg=".st-key-tab-open")
