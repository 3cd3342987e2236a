"""The frame in a real browser: the box that finds anything, what the next visit begins with, a clicked file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from idcore.answers.findings import all_rules
from idcore.runs.runs import Run, write_tables
from tests.browser.harness import Console, Visit, visit
from tests.browser.samples import OFFSET
from tests.findings.every_rule import find_all
from tests.pages.conftest import RUN, make_run
from tests.pages.test_little import two_ids_in
from tests.store.unpacked import ARCHIVE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(console_without_spark: Console) -> Console:
    """The console with the run that all visitors here see, and its findings."""
    run = Run(make_run(console_without_spark.runs))
    tables = {path.name: run.table(path.name) for path in run.path.iterdir() if path.is_dir()}
    found = find_all(tables, datetime(2026, 11, 21, tzinfo=UTC), UTC)
    write_tables(run.path, {"findings": all_rules.to_table(found)})
    return console_without_spark


@pytest.fixture
def tab(browser: Browser, served: Console) -> Iterator[Visit]:
    with visit(browser, served.url, zone="Europe/Berlin") as visitor:
        yield visitor
        visitor.check()
    assert "Traceback" not in served.said()


def box(page: Page) -> Locator:
    """The box that finds anything, opened by the keyboard alone."""
    expect(page.get_by_role("button", name="Find")).to_be_visible()  # a page has its title before its keys
    page.keyboard.press("Control+k")
    found = page.get_by_role("dialog").get_by_role("searchbox")
    expect(found).to_be_focused()
    return found


@pytest.mark.long
def test_the_keyboard_alone_leads_anywhere(tab: Visit) -> None:
    page = tab.page
    tab.go(f"/findings?run={RUN}&lang=en")  # it has no text box: the one that opens is the first of this visit
    expect(page).to_have_title("Findings · app.log, old.log.gz · RocketMQ IDs")
    box(page)
    page.keyboard.type("10.42.3")
    expect(page.get_by_role("dialog").get_by_text("10.42.3.18 · 43,771 ID occurrences")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Counters · 10.42.3.18 9077 18B4AAC2 · app.log, old.log.gz · RocketMQ IDs")
    tab.settle()
    tab.turn_to(f"/brokers?run={RUN}&lang=en")
    box(page)
    page.keyboard.type("9.2:10911")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Brokers · 10.42.9.2:10911 · app.log, old.log.gz · RocketMQ IDs")
    expect(page).to_have_url(re.compile("broker=10.42.9.2%3A10911"))  # also of a link to the page in sight
    tab.settle()
    page.get_by_role("combobox", name="Time zone").focus()
    box(page)
    page.keyboard.type(OFFSET)
    expect(page.locator("[role=dialog]").get_by_role("link", name=f"Decode {OFFSET}")).to_be_visible()
    for key in ("ArrowDown", "ArrowDown", "Enter"):  # the second hit: its lines in the open scan are the first
        page.keyboard.press(key)
    expect(page).to_have_title(f"Decode · {OFFSET} · RocketMQ IDs")
    tab.settle()
    for typed, title in (
        ("share fingerprint", "Findings · app.log, old.log.gz · "),
        ("old.log", "Findings · app.log, old.log.gz · "),  # of which others here may have made a second scan
        ("anatomy", "Anatomy · "),
    ):
        box(page)
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page).to_have_title(re.compile(f"^{title}"))
        expect(page).to_have_url(re.compile("finding=0" if typed.startswith("share") else "run="))
        tab.settle()
    box(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.long
def test_the_keyboard_chooses_a_time_range_and_follows_a_bar_and_what_a_scan_lacks_is_said(tab: Visit) -> None:
    page, main = tab.page, tab.page.locator('[data-testid="stMain"]')
    tab.go(f"/counters?run={RUN}&lang=en&zone=UTC&process=10.9.9.9~7~18B4AAC2")
    expect(main).to_contain_text("This scan has no process 10.9.9.9~7~18B4AAC2")
    tab.settle()
    tab.turn_to(f"/producers?run={RUN}&lang=en&zone=UTC&host=10.9.9.9")
    expect(main).to_contain_text("This scan has no IDs of host 10.9.9.9.")
    tab.settle()
    page.get_by_role("button", name="Time range").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="From")).to_be_visible()
    tab_to(page, page.get_by_role("textbox", name="From"))
    page.keyboard.type("08:30")
    page.keyboard.press("Tab")
    page.keyboard.type("09:00")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("from=2026"))
    expect(main.locator(".st-key-time-range")).to_contain_text("08:30")
    tab.settle()
    tab_to(page, page.get_by_role("button", name="Reset"))
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile("from="))
    tab.settle()
    link = main.locator(".mq-list td a", has_text="Lines").first
    tab_to(page, link)
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^Lines · "))
    tab.settle()


@pytest.mark.long
def test_a_rate_has_a_unit_growth_takes_a_range_a_kind_counts_its_rows_and_two_ids_are_a_sentence(
    tab: Visit, served: Console
) -> None:
    page, main = tab.page, tab.page.locator('[data-testid="stMain"]')
    tab.go(f"/brokers?run={RUN}&lang=en&zone=Asia/Shanghai&from=2026-11-20T01:55:00Z&to=2026-11-20T02:00:00Z")
    rates = page.locator(".mq-list-brokers tbody td", has_text="/s").all_inner_texts()
    assert len(rates) == 3 and all(re.fullmatch(r"\d[\d.]* [KM]iB/s", rate) for rate in rates), rates
    growth = page.locator('[class*="st-key-chart-growth"] .js-plotly-plot')
    ends = growth.evaluate("chart => chart._fullLayout.xaxis.range.map(String)")
    assert [end[11:16] for end in ends] == ["09:55", "10:00"]
    page.get_by_role("button", name="Data of the charts as CSV").click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="growth.csv").click()
    rows = Path(taken.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert {row.split(",")[1][11:16] for row in rows[1:]} == {f"01:{minute}" for minute in range(55, 60)}
    assert "'" not in "".join(rows) and len(rows) == 1 + 5 * 3
    page.keyboard.press("Escape")
    tab.settle()
    tab.turn_to(f"/findings?run={RUN}&lang=en&zone=UTC")
    page.locator(".st-key-kind input").click()
    page.get_by_role("option", name="IDs missing from this input (4)").click()
    expect(page).to_have_url(re.compile("kind=missing_ids"))
    tab.settle()
    expect(page.locator(".st-key-finding-filters")).to_contain_text("All 4")
    expect(main.locator(".mq-table tbody tr")).to_have_count(4)
    small = two_ids_in(served.runs, "20261120-015500-a1b2c4")
    for address in ("producers", "counters"):
        tab.turn_to(f"/{address}?run={small}&lang=en")
        said = "2 IDs of 10.42.3.17: too few for a chart." if address == "counters" else "10.42.3.17"
        expect(main).to_contain_text(said)
        expect(page.locator('.js-plotly-plot:not([class*="timeline"] *)')).to_have_count(0)


def tab_to(page: Page, wanted: Locator, most: int = 60) -> None:
    """Goes on with the Tab key until the focus is there."""
    for _ in range(most):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    expect(wanted).to_be_focused(timeout=1)


@pytest.mark.long
def test_zone_theme_and_language_are_those_of_the_last_visit(tab: Visit) -> None:
    page = tab.page
    tab.go(f"/counters?run={RUN}")
    zone = page.get_by_role("combobox", name="Time zone")
    for typed in ("GMT+8", "北京"):
        zone.click()
        zone.fill(typed)
        expect(page.get_by_role("option").first).to_contain_text("+08:00 Asia/Shanghai")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("zone=Asia%2FShanghai"))
    tab.settle()
    page.locator(".st-key-pick_theme").get_by_text("Dark").click()
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    line = page.locator(".js-plotly-plot .gridlayer path").first
    expect(line).to_have_css("stroke", "rgb(42, 48, 60)")  # the dark line: charts are drawn again
    expect(page.get_by_role("menu")).to_have_count(0)
    tab.settle()
    page.locator(".st-key-pick_lang").get_by_text("中文").click()
    expect(page.get_by_role("heading", name="计数器").first).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    tab.settle()

    next_one = Visit(page.context.new_page(), tab.url)
    next_one.watch()
    next_one.go(f"/brokers?run={RUN}")
    expect(next_one.page).to_have_title("Broker · app.log, old.log.gz · RocketMQ 消息 ID")
    expect(next_one.page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(next_one.page.locator(".stApp")).to_have_css("color-scheme", "dark")
    expect(next_one.page.locator(".st-key-pick_zone input")).to_have_value(re.compile(r"^\+08:00 Asia/Shanghai · "))
    next_one.go(f"/brokers?run={RUN}&lang=en&zone=UTC")
    next_one.heading("Brokers")
    expect(next_one.page.locator("html")).to_have_attribute("lang", "en")
    expect(next_one.page.locator(".st-key-pick_zone input")).to_have_value("+00:00 UTC · GMT")
    next_one.page.locator(".st-key-pick_theme").get_by_text("System").click()
    expect(next_one.page.locator(".stApp")).to_have_css("color-scheme", "light")
    next_one.settle()


@pytest.mark.long
def test_a_click_on_a_file_leads_to_its_lines_and_a_drag_zooms(tab: Visit) -> None:
    page = tab.page
    tab.go(f"/brokers?run={RUN}&lang=en")
    page.locator(".mq-list td a").first.click()  # the histogram of a broker's offsets is one click further
    expect(page.locator('[class*="st-key-chart-log-"]')).to_have_count(1)
    tab.turn_to(f"/brokers?run={RUN}&lang=en&broker=10.42.9.1:10911&broker=10.42.9.2:10911")
    chart = page.locator('[class*="st-key-chart-log-"] .js-plotly-plot').first
    expect(chart.locator(".bars path").first).to_be_visible()
    cell = chart.locator(".subplot.xy .bars path").nth(1)
    cell.scroll_into_view_if_needed()
    spot = cell.bounding_box()
    assert spot is not None
    page.mouse.click(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    link = page.locator(".mq-piece a")
    expect(link).to_have_text(f"{413 << 30:020d}")
    assert f"segment={413 << 30:020d}" in str(link.get_attribute("href"))
    expect(page).to_have_url(re.compile("segment=10.42.9.1%3A10911~"))
    tab.settle()
    other = page.locator('[class*="st-key-chart-log-"] .js-plotly-plot').nth(1).locator(".subplot.xy .bars path").first
    other.scroll_into_view_if_needed()
    place = other.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(page.locator(".mq-piece")).to_have_count(2)
    expect(page.locator(".st-key-lines-preview")).to_have_count(1)  # of the last one
    tab.settle()
    cell.scroll_into_view_if_needed()
    spot = cell.bounding_box()
    assert spot is not None
    wide = chart.locator(".subplot.xy .bars path").nth(1).bounding_box()
    page.mouse.move(spot["x"] + 4, spot["y"] + 90)
    page.mouse.down()
    page.mouse.move(spot["x"] + spot["width"] - 4, spot["y"] + 92, steps=5)
    page.mouse.up()
    page.wait_for_timeout(600)
    zoomed = chart.locator(".subplot.xy .bars path").nth(1).bounding_box()
    assert wide and zoomed and zoomed["width"] > 3 * wide["width"]
    tab.settle()
    growth = page.locator('[class*="st-key-chart-growth"] .js-plotly-plot')
    growth.scroll_into_view_if_needed()
    shown = "chart => chart._fullData.filter((line) => line.visible === true).map((line) => line.legendgroup)"
    before = growth.evaluate(shown)
    growth.locator(".legendtoggle").first.click()
    expect(growth.locator(".legend .traces").first).to_have_css("opacity", "0.5")
    after = growth.evaluate(shown)
    assert len(before) - len(after) == 2 and len(set(before)) - len(set(after)) == 1, "both lines of one broker"


@contextmanager
def slowly(page: Page, bytes_a_second: int) -> Iterator[None]:
    """What is uploaded meanwhile takes its time, as from another town."""
    session = page.context.new_cdp_session(page)
    usual = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", usual | {"uploadThroughput": bytes_a_second})
    yield
    session.send("Network.emulateNetworkConditions", usual)
    session.detach()


@pytest.mark.long
def test_an_uploaded_store_leads_down_to_records_and_stays_open(tab: Visit) -> None:
    page, main = tab.page, tab.page.locator('[data-testid="stMain"]')
    tab.go("/store?lang=en&zone=UTC")
    with slowly(page, ARCHIVE.stat().st_size):
        page.locator('[data-testid="stFileUploader"] input[type="file"]').set_input_files(ARCHIVE)
        expect(page.locator("[data-sent]")).to_have_attribute("data-sent", re.compile(r"^[1-9]\d?%$"))
    main.get_by_role("link", name="VectorTopic", exact=True).first.click()
    expect(page).to_have_url(re.compile("topic=VectorTopic"))
    tab.settle()
    main.locator('a[href*="queue=0"]').first.click()
    expect(page).to_have_url(re.compile("queue=0"))
    tab.settle()
    main.locator('a[href*="id=246"]').first.click()
    expect(page.locator(".mq-card").first).to_contain_text("VectorTopic")
    tab.settle()
    page.locator(".st-key-store_id textarea").fill("246\n583")
    page.get_by_role("button", name="Look up", exact=True).click()
    expect(main).to_contain_text("2 of 2 IDs found.")
    tab.settle()
    for name in ("Lab", "Store"):
        page.locator('[data-testid="stSidebar"]').get_by_role("link", name=name, exact=True).click()
        tab.heading(name)
        tab.settle()
    expect(main).to_contain_text("VectorTopic")
    main.locator('a[href*="file="]').first.click()
    expect(page).to_have_url(re.compile("file="))
    tab.settle()


@pytest.mark.long
def test_a_list_of_scans_is_searched_filtered_and_cleared_of_several(tab: Visit, served: Console) -> None:
    page, main = tab.page, tab.page.locator('[data-testid="stMain"]')
    names = [f"2026112{n}-015500-7157e{n}" for n in range(6)]
    for n, name in enumerate(names):
        folder = make_run(served.runs, name, "failed" if n == 1 else "done", f"desk-{n}.log")
        if n > 3:
            Run(folder).set_options(sources=["pasted.txt"], ids=2, lines=1)
            held = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
            (folder / "summary.json").write_text(json.dumps(held | {"ids": 2}), encoding="utf-8")
    tab.go("/runs?lang=en")
    rows = main.locator('[class*="st-key-run-2"]')
    expect(main.get_by_text(re.compile(r"^Small pastes \(\d+\)$"))).to_be_visible()
    assert not [name for name in names[4:] if main.locator(f".st-key-run-{name}").count()], "they are folded"
    box = page.get_by_role("searchbox", name="Search")
    box.fill("desk-")
    box.press("Enter")
    expect(page).to_have_url(re.compile("find=desk-"))
    expect(rows).to_have_count(4)
    tab.settle()
    page.get_by_role("combobox", name="State").click()
    page.get_by_role("option", name="Failed").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("state=failed"))
    tab.settle()
    tab.turn_to("/runs?lang=en&find=desk-")
    expect(rows).to_have_count(4)
    for n in (0, 2):
        main.locator(f".st-key-run-{names[n]}").get_by_role("checkbox").check(force=True)
        expect(main).to_contain_text(f"Selected: {1 + n // 2} scan")
        tab.settle()
    page.get_by_role("button", name="Delete the selection").click()
    page.get_by_role("button", name="Delete 2 scans").click()
    expect(rows).to_have_count(2)
    assert [(served.runs / name).exists() for name in names[:4]] == [False, True, False, True]
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    tab.settle()
