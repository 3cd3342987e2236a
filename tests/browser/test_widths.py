"""A window of 1024 pixels with the menu open, and a phone: nothing that stands side by side is cut off there."""

from __future__ import annotations

from datetime import UTC
from itertools import pairwise

import pandas as pd
import pytest
from playwright.sync_api import Browser, expect
from plotly.offline import get_plotlyjs

from idcore.base.catalogue import words
from idcore.presentation.html import broker_logs as broker_html
from idcore.presentation.triage import broker_rows
from idcore.presentation.triage.time_range import ALL_TIMES
from pages.parts.charts.timeline import strip
from pages.parts.view import View
from tests.browser.harness import ROOT, Console, visit
from tests.pages.test_parts import reader
from tests.pages.test_rows_of_lists import GIB, START, anew, broker_tables

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


@pytest.mark.long
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


def test_the_files_of_a_broker_do_not_widen_its_row_on_a_phone(browser: Browser) -> None:
    """Its row has as many files as fit, and the sign that there are older ones."""
    page, view = browser.new_page(viewport={"width": 390, "height": 600}), reader("zh")
    logs = {"10.0.0.3:10911": anew(25, 60, GIB)}
    brokers, segments, speeds = broker_tables(logs)
    segments = pd.DataFrame([{"address": "10.0.0.3:10911", "segment": f"{n * GIB:020d}", "ids": 1} for n in range(40)])
    found = broker_rows.rows_of(brokers, segments, logs, speeds, START)
    rows = broker_html.rows(found, dict.fromkeys(logs, "#123456"), view, "run", ALL_TIMES, "2026-11-20 10:00 – 11:00")
    style = (ROOT / "pages" / "parts" / "style.css").read_text(encoding="utf-8")
    page.set_content(f'<style>{style}</style><div style="width:340px">{rows}</div>')
    assert page.locator(".mq-cells i").count() > broker_rows.MOST_CELLS
    assert page.evaluate(CUT, ".mq-table, .mq-list td") == []
    page.close()


@pytest.mark.long
def test_times_below_the_strip_do_not_run_together_on_a_phone(browser: Browser) -> None:
    view, page = (
        View(words("en"), UTC, "UTC", "default", "light"),
        browser.new_page(viewport={"width": 390, "height": 300}),
    )
    page.set_content('<div id="chart" style="width:340px"></div>')
    page.add_script_tag(content=get_plotlyjs())
    for seconds in (3, 6, 9, 12, 15, 20, 31, 45, 80, 300, 900, 5_000, 40_000, 90_000, 200_000, 900_000):
        step = pd.Timedelta(seconds=seconds / 150)
        moments = pd.date_range("2026-11-27 01:59:58", periods=150, freq=step, tz="UTC")
        figure = strip(pd.Series(9, index=moments), step, ALL_TIMES, view)
        page.evaluate("figure => Plotly.react('chart', JSON.parse(figure)).then(() => null)", figure.to_json())
        boxes = page.locator(".xtick text").evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        ends = sorted((box["left"], box["right"]) for box in boxes if box["width"])
        assert len(ends) > 1 and all(before[1] + 3 < after[0] for before, after in pairwise(ends)), (seconds, ends)
    page.close()
