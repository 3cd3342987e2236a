"""From a cell of the heat map to its messages and the list to take away, in real Chromium against the real console."""

from __future__ import annotations

import csv
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from idcore.presentation.triage import fates
from idcore.presentation.triage.fates import FateFilter
from idcore.presentation.triage.time_range import TimeRange
from idcore.presentation.triage.undelivered import Undelivered
from tests.browser.harness import Console, visit
from tests.browser.test_accessibility import problems_of_themes
from tests.fate.test_tables import Messages
from tests.pages.conftest import make_run

pytestmark = pytest.mark.browser
RUN = "20261121-015500-fa7efa"


@pytest.mark.long
def test_a_click_on_a_cell_leads_to_its_messages_and_their_list(
    browser: Browser, console_without_spark: Console
) -> None:
    console = console_without_spark
    run = Messages(3).write(make_run(console.runs, RUN))
    found = fates.heat(fates.counted(run))
    with visit(browser, console.url) as tab:
        page = tab.page
        tab.go(f"/fate?run={RUN}&lang=en&zone=UTC")
        plot = page.locator(".js-plotly-plot .nsewdrag").last
        expect(plot).to_be_visible()
        tab.settle()
        box = plot.bounding_box()
        assert box is not None
        row, column = 1, 4
        # not in the middle of the cell
        at = box["x"] + box["width"] * (column + 0.2) / len(found.begins)
        down = box["y"] + box["height"] * (row + 0.3) / len(found.groups)
        page.wait_for_timeout(1_000)  # the watch looks for new charts from time to time
        page.mouse.move(at, down)
        page.mouse.move(at, down)
        expect(page.locator(".hoverlayer .hovertext")).to_contain_text(found.groups[row])
        page.mouse.click(at, down)
        table = page.locator(".st-key-fate-list .mq-table")
        expect(page.locator(".mq-said")).to_contain_text(f"{found.groups[row]} has not consumed")
        tab.settle()
        query = parse_qs(urlsplit(page.url).query)
        begin, end = query["cell"][0].split("~")
        cell = TimeRange.of_address({"from": begin, "to": end})
        assert query["group"] == [found.groups[row]] and cell.begin == found.begins[column]
        listed = Undelivered.of_run(run).select(FateFilter(group=found.groups[row], cell=cell))
        expect(table.locator("tbody tr")).to_have_count(len(listed))
        expect(table).to_be_in_viewport()
        with page.expect_download() as taken:
            page.locator(".st-key-fate-list").get_by_role("button", name="CSV").click()
        rows = list(csv.DictReader(Path(taken.value.path()).read_text().splitlines()))
        assert [row["queue_offset"] for row in rows] == [str(row["queue_offset"]) for row in listed.rows()]
        assert problems_of_themes(tab, "light", set()) == {"light": [], "dark": []}
        tab.fits()
