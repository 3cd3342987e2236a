"""A time range with a real pointer: a box along a chart, its address, its reset; clicks that show lines, and these."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.browser.harness import Console, Visit, visit
from tests.pages.test_time_range import indexed_run, log

pytestmark = pytest.mark.browser
# Presses the mouse as soon as the page scrolls by itself. How far it was then, and after a second.
PRESSED = """() => { const page = document.querySelector('[data-testid=stMain]');
  window.pressed = new Promise((done) => page.addEventListener('scroll', () => {
    const top = page.scrollTop;
    page.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));
    setTimeout(() => done([top, page.scrollTop]), 1000);
  }, {once: true}));
}"""
BARS = "chart => chart._fullData.map((one) => one.x.map(String))"  # of a chart: when each is


def many_brokers() -> str:
    """The log with its gap; what the second process sends is stored by 24 brokers in turn."""
    lines = log(missing=range(4_500, 4_516)).splitlines()
    sent = [place for place, line in enumerate(lines) if "0A2A0312" in line]
    for number, place in enumerate(sent):
        lines[place] += f", offsetMsgId=0A2A09{1 + number % 24:02X}00002A9F{number * 5_000_000:016X}"
    return "".join(f"{line}\n" for line in lines)


def asked(tab: Visit) -> dict[str, str]:
    """`from` and `to` of the address."""
    query = parse_qs(urlsplit(tab.page.url).query)
    return {name: query[name][0] for name in ("from", "to") if name in query}


def drag(tab: Visit, plot: Locator, left: float, right: float) -> None:
    """Draws a box over a share of a plot's width."""
    box = plot.bounding_box()
    assert box is not None
    across = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + box["width"] * left, across)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * (left + right) / 2, across + 3, steps=3)
    tab.page.mouse.move(box["x"] + box["width"] * right, across, steps=3)
    tab.page.mouse.up()


def downloaded(tab: Visit, name: str) -> str:
    """What a button of the page gives."""
    with tab.page.expect_download() as taken:
        tab.page.get_by_role("button", name=name, exact=True).last.click()
    return Path(taken.value.path()).read_text(encoding="utf-8-sig")


def takes_the_range_to_brokers_and_findings(tab: Visit, first: dict[str, str]) -> None:
    """Both show what the range has. A box in a chart of brokers is a new one; 24 brokers look different."""
    plots, said = tab.page.locator(".js-plotly-plot .nsewdrag"), tab.page.get_by_role("main")
    for page, shows in (("Brokers", "24 brokers"), ("Findings", "in this time range")):
        tab.page.get_by_role("link", name=page).first.click()
        tab.heading(page)
        expect(said).to_contain_text(shows)
        tab.settle()
        assert asked(tab) == first, "the range goes along"
        if page == "Brokers":
            before = tab.page.url
            drag(tab, plots.first, 0.4, 0.5)
            expect(tab.page).not_to_have_url(before)
            tab.settle()
            assert asked(tab) != first
            resets(tab)
            tab.turn_to(before.removeprefix(tab.url))
            rows = tab.page.get_by_role("region", name="Brokers").locator("tbody tr")
            expect(rows).to_have_count(24)
            looks = rows.evaluate_all("rows => rows.map((row) => row.cells[0].innerHTML)")
            assert len(set(looks)) == 24, looks


def resets(tab: Visit) -> None:
    """All times again: in the address, in words, and without the button that did it."""
    reset, said = tab.page.get_by_role("button", name="Reset"), tab.page.locator(".mq-said").first
    ranged = said.inner_text()
    reset.click()
    expect(reset).to_be_hidden()
    expect(said).not_to_have_text(ranged)
    tab.settle()
    assert asked(tab) == {}


def takes_the_range_of_a_box_in_hosts_by_time(tab: Visit) -> None:
    """A host is one click from its own chart: a box over its cells is a range until it is reset."""
    tab.page.locator(".mq-list-hosts td a").first.click()
    expect(tab.page).to_have_url(re.compile("host=10.42.3.17"))
    tab.settle()
    heat, table = tab.page.locator('[class*="st-key-chart-activity"]'), tab.page.locator(".mq-table").last
    expect(table).to_contain_text("8,984")
    heat.scroll_into_view_if_needed()
    tab.page.wait_for_timeout(300)  # a chart that has just come into sight takes no box yet
    drag(tab, heat.locator(".nsewdrag"), 0.5, 0.75)
    expect(tab.page.locator(".mq-said")).to_contain_text("In this time range: 1 host, 1 process")
    tab.settle()
    assert asked(tab)["from"].startswith("2026-11-20T01:56:") and asked(tab)["to"].startswith("2026-11-20T01:57:")
    expect(table).not_to_contain_text("8,984")
    span = heat.locator(".js-plotly-plot").evaluate("chart => chart._fullLayout.xaxis.range.map(String)")
    assert [end[11:16] for end in span] == ["09:56", "09:57"], "its own axis too"
    resets(tab)


def compares_within_a_box(tab: Visit, run: str, other: str) -> None:
    """A box on the strip of Compare, or in its own chart, is the range of both scans and stays in the link."""
    tab.turn_to(f"/compare?a={run}&b={other}&zone=Asia/Shanghai")
    charts, said = tab.page.locator(".js-plotly-plot"), tab.page.locator(".mq-said")
    expect(said).to_contain_text("are not")
    for chart in ("timeline", "compare-times"):
        plot = tab.page.locator(f'[class*="st-key-chart-{chart}"] .nsewdrag')
        every, bars, before = said.inner_text(), charts.nth(1).evaluate(BARS), asked(tab)
        plot.scroll_into_view_if_needed()
        tab.page.wait_for_timeout(300)  # a chart that has just come into sight takes no box yet
        drag(tab, plot, 0.1, 0.5)
        expect(said).not_to_have_text(every)
        tab.settle()
        assert asked(tab).keys() == {"from", "to"} and asked(tab) != before, chart
        assert charts.nth(1).evaluate(BARS) != bars, chart
    resets(tab)


def shows_the_lines_of_a_gap(tab: Visit) -> None:
    """Of the missing IDs: the two IDs around them, with what the log has between."""
    tab.page.get_by_role("region", name="Gaps in the counter").get_by_role("link").click()
    tab.heading("Lines")
    tab.settle()
    assert asked(tab)["from"].startswith("2026-11-20T01:56:29.980") and "process=10.42.3.17" in tab.page.url
    lines = tab.page.locator(".mq-lines .mq-line-head")
    expect(lines).to_have_count(2)
    expect(lines.last).to_contain_text("09:56:30.320 +08:00")


def cell_of_a_host(tab: Visit, part: float) -> tuple[float, float]:
    """A cell of the chart of a host that has come into sight."""
    heat = tab.page.locator('[class*="st-key-chart-activity"] .nsewdrag')
    heat.scroll_into_view_if_needed()
    tab.page.wait_for_timeout(1_000)  # the watch looks for new charts from time to time
    place = heat.bounding_box()
    assert place is not None
    return place["x"] + place["width"] * part, place["y"] + place["height"] / 2


def stops_its_scroll_for_a_press(tab: Visit) -> None:
    """Lines come into sight, but a link that is pressed meanwhile stays under the mouse, or no click would open it."""
    tab.page.emulate_media(reduced_motion="no-preference")
    tab.page.locator('[data-testid="stMain"]').evaluate("page => page.scrollTo(0, 0)")
    place = cell_of_a_host(tab, 0.3)
    tab.page.evaluate(PRESSED)
    tab.page.mouse.click(*place)
    pressed, later = tab.page.evaluate("window.pressed")
    assert abs(later - pressed) < 20
    tab.page.emulate_media(reduced_motion="reduce")


def finds_the_lines_of_a_cell(tab: Visit) -> None:
    """A click on a cell of a host shows its lines, a link all of them, a search those that have a text."""
    tab.page.get_by_role("link", name="Producers").first.click()
    tab.heading("Producers")
    tab.settle()
    takes_the_range_of_a_box_in_hosts_by_time(tab)
    tab.page.mouse.click(*cell_of_a_host(tab, 0.2))
    expect(tab.page.locator(".mq-lines li").first).to_be_in_viewport()
    tab.settle()
    stops_its_scroll_for_a_press(tab)
    tab.page.locator('[data-testid="stMain"] a[href*="lines?"][href*="host="]').first.click()
    expect(tab.page).to_have_url(re.compile("/lines.*host="))
    tab.settle()
    said = tab.page.locator(".mq-said")
    every = said.inner_text()
    tab.page.locator(".st-key-find input").fill("no line has this text")
    tab.page.keyboard.press("Enter")
    expect(said).not_to_have_text(every)
    assert "find=no+line+has+this+text" in tab.page.url, "what is searched is in the link"


def pages_over_a_packed_log(tab: Visit, run: str) -> None:
    """The last page of one order, its link, and the same rows as files."""
    page, lines = tab.page, tab.page.locator(".mq-lines .mq-line-head")
    tab.turn_to(f"/lines?run={run}&zone=Asia/Shanghai")
    expect(page.locator(".mq-said")).to_contain_text("9,344 ID occurrences")
    page.get_by_role("button", name="Page 187").click()  # of 50 lines each: beyond any first 5,000
    expect(page).to_have_url(re.compile("page=187"))
    expect(lines.last).to_contain_text("old.log.gz:180")
    expect(lines).to_have_count((9_344 - 186 * 50) // 2)  # a line has two IDs
    tab.settle()
    box = page.locator(".st-key-find input")
    box.fill("10.42.3.18")
    box.press("Enter")
    expect(page.locator(".mq-said")).to_contain_text("180 ID occurrences")
    expect(page).not_to_have_url(re.compile("page="))  # what is searched begins at its first page
    tab.settle()
    order, newest = page.get_by_role("combobox", name="Sort by"), page.get_by_role("option", name="Newest ID first")
    for _ in range(5):  # a list that opens while the page is drawn closes again
        order.click()
        try:
            newest.click(timeout=3_000)
            break
        except TooLate:
            tab.settle()
    expect(lines.first).to_contain_text("old.log.gz:180")
    tab.settle()
    shown = [text.split()[0] for text in lines.all_inner_texts()]
    told = [f"{row['file']}:{row['line']}" for row in csv.DictReader(downloaded(tab, "CSV").splitlines())]
    rows = [json.loads(row) for row in downloaded(tab, "JSON Lines").splitlines()]
    assert told == [f"{row['file']}:{row['line']}" for row in rows] and len(told) == 180
    assert told[:50] == shown, "the table is the first page of what is downloaded"
    assert rows[0]["text"] == lines.first.locator("xpath=..").locator("summary").inner_text()
    page.reload()
    expect(lines.first).to_contain_text("old.log.gz:180")
    assert [text.split()[0] for text in lines.all_inner_texts()] == shown, "the link has the search and the order"
    lines.first.locator("xpath=..").locator("summary").click()
    expect(page.locator(".mq-lines li").first.locator("pre span")).to_have_count(4)  # three lines before it


@pytest.mark.long
def test_a_box_is_a_range_on_every_page_until_it_is_reset(browser: Browser, console_without_spark: Console) -> None:
    run = indexed_run(console_without_spark.runs, many_brokers(), "20261121-015500-71e71e", packed="0A2A0312").name
    lost = log(missing=range(500, 2_500))
    other = indexed_run(console_without_spark.runs, lost, "20261121-015600-71e71e").name
    with visit(browser, console_without_spark.url) as tab:
        tab.go(f"/producers?run={run}&zone=Asia/Shanghai")
        table = tab.page.locator(".mq-table").last
        plots = tab.page.locator(".js-plotly-plot .nsewdrag")
        expect(plots).to_have_count(1)
        expect(table).to_contain_text("8,984")
        drag(tab, plots.first, 0.25, 0.5)
        reset = tab.page.get_by_role("button", name="Reset")
        expect(reset).to_be_visible()
        tab.settle()
        first = asked(tab)
        assert first["from"].startswith("2026-11-20T01:55:4") and first["to"].startswith("2026-11-20T01:56:")
        expect(table).not_to_contain_text("8,984")
        expect(tab.page.locator(".mq-said")).to_contain_text("In this time range: 2 hosts")

        takes_the_range_to_brokers_and_findings(tab, first)
        tab.page.get_by_role("link", name="Counters").first.click()
        tab.heading("Counters")
        tab.settle()
        assert asked(tab) == first, "the range goes along"
        before = tab.page.url
        drag(tab, plots.nth(1), 0.4, 0.45)
        expect(tab.page).not_to_have_url(before)
        tab.settle()
        assert asked(tab)["from"] > first["from"] and asked(tab)["to"] < first["to"]

        mark = tab.page.locator(".scatterlayer .points path").nth(20).bounding_box()
        assert mark is not None
        tab.page.wait_for_timeout(1_000)  # the watch looks for new charts from time to time
        assert tab.page.locator(".scatterlayer .points path").count() > 100, "of seconds each ID is a mark"
        tab.page.mouse.click(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
        expect(tab.page.locator(".mq-lines")).to_contain_text("msgId=0A2A0311")
        expect(tab.page.locator(".mq-lines li").first).to_be_in_viewport()  # the page scrolled to them
        resets(tab)
        counters = tab.page.url
        shows_the_lines_of_a_gap(tab)
        tab.turn_to(counters.removeprefix(tab.url))
        finds_the_lines_of_a_cell(tab)
        pages_over_a_packed_log(tab, run)
        compares_within_a_box(tab, run, other)
