"""What a support engineer does in the first five minutes, in real Chromium against the real console and real Spark."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from idcore.base.catalogue.en import LENGTHS
from tests.browser.harness import SCAN, Visit
from tests.browser.samples import OFFSET, TRACE, UNIQ, log

pytestmark = pytest.mark.browser
CHART = '[data-testid="stPlotlyChart"] .js-plotly-plot'
CHARTS = ("producers", "counters", "brokers")


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="IDs or log lines")


def paste(tab: Visit, text: str) -> None:
    tab.unfold()
    box(tab.page).fill(text)
    tab.page.get_by_role("button", name="Decode", exact=True).click()


def charts(tab: Visit, least: int = 1) -> None:
    """At least so many charts, drawn, and nothing went wrong meanwhile."""
    expect(tab.page.locator(CHART).nth(least - 1)).to_be_visible(timeout=SCAN)
    tab.settle()


def run_of(tab: Visit) -> str:
    name = parse_qs(urlsplit(tab.page.url).query).get("run", [""])[0]
    assert name, f"no run in {tab.page.url}"
    return name


def test_one_id_is_a_card_with_its_fields_after_ctrl_enter(tab: Visit) -> None:
    tab.go("/decode")
    box(tab.page).fill(UNIQ)
    box(tab.page).press("Control+Enter")
    main = tab.page.locator('[data-testid="stMain"]')
    for said in ("172.17.0.1", "28,?213", "18B4AAC2"):
        expect(main).to_contain_text(re.compile(said))
    tab.settle()
    expect(main.locator("summary").filter(has_text="edit or decode another input")).to_be_focused()
    tab.page.locator('[data-testid="stMain"] a[href*="anatomy?"]').first.click()
    expect(tab.page).to_have_url(re.compile(f"/anatomy.*{UNIQ}"))
    tab.settle()


@pytest.mark.long
def test_many_ids_are_a_table_then_charts(tab: Visit) -> None:
    tab.go("/decode")
    paste(tab, log(40) + f"traceId={TRACE}\n")
    main = tab.page.locator('[data-testid="stMain"]')
    expect(main).to_contain_text("10.42.0.1")
    expect(main).to_contain_text("10.42.1.1:10911")
    charts(tab, 3)
    expect(main).to_contain_text("1 trace ID (W3C, B3) in this text")


@pytest.mark.long
def test_text_without_an_id_says_what_an_id_is(tab: Visit) -> None:
    tab.go("/decode")
    main = tab.page.locator('[data-testid="stMain"]')
    paste(tab, "order 4711 has not arrived, please help")
    expect(main).to_contain_text(LENGTHS)
    tab.settle()
    paste(tab, f"{UNIQ[:20]} {UNIQ[20:]}")
    expect(main).to_contain_text("signs between groups of its digits were taken out")
    tab.settle()
    paste(tab, UNIQ.lower())
    expect(main).to_contain_text("The letters are lower case")
    expect(main).to_contain_text("18B4AAC2")
    tab.settle()
    paste(tab, f"msgId={UNIQ} traceId=9f86d081884c7d659a2feaa0c55ad015")
    expect(main).to_contain_text("1 trace ID (W3C, B3) in this text")
    expect(main.get_by_role("button", name="lower-case")).to_have_count(0)  # a trace id is not offered as an ID
    tab.settle()


@pytest.mark.long
def test_several_files_are_one_run(tab: Visit, tmp_path: Path) -> None:
    files = [tmp_path / f"app-{number}.log" for number in range(3)]
    for number, file in enumerate(files):
        file.write_text(log(60, first=65_500 + number * 20), encoding="utf-8")
    empty = tmp_path / "readme.log"
    empty.write_text("no message here\n", encoding="utf-8")
    tab.go("/decode")
    tab.page.locator('[data-testid="stFileUploader"] input[type="file"]').set_input_files([*files, empty])
    charts(tab, 3)  # no button is pressed
    main = tab.page.locator('[data-testid="stMain"]')
    expect(main).to_contain_text("10.42.0.1")
    expect(main).to_contain_text("app-0.log")
    expect(main).to_contain_text("1 of 4 files has no ID: readme.log.")


@pytest.mark.long
def test_a_chart_page_shows_the_latest_run(tab: Visit, example: str) -> None:
    tab.go("/decode")
    tab.page.get_by_role("button", name="Load an example").click()
    charts(tab, 3)
    tab.page.get_by_role("link", name="Incident", exact=True).click()
    tab.heading("Findings")
    for page in CHARTS:
        tab.page.locator(f'.st-key-tabs a[href*="{page}"]').click()
        tab.heading(page.title())
        expect(tab.page).to_have_url(re.compile(page))
        charts(tab)
        assert run_of(tab) == example, "the same input again is the run it had"


@pytest.mark.long
def test_a_page_without_a_scan_or_a_cluster_offers_an_example(tab: Visit) -> None:
    main = tab.page.locator('[data-testid="stMain"]')
    tab.go("/counters")
    tab.page.get_by_role("button", name="Load an example").click()
    expect(tab.page.get_by_role("link", name="Decode").and_(tab.page.locator(".st-key-tab-open a"))).to_be_visible()
    expect(main).to_contain_text("3,832")
    tab.go("/lookup")
    tab.page.get_by_role("button", name="Load an example").click()
    expect(main).to_contain_text("it has been a dead letter since")
    assert urlsplit(tab.page.url).path == "/message"


def test_a_link_to_the_open_page_looks_as_any_other(tab: Visit, example: str) -> None:
    tab.go(f"/brokers?run={example}")
    tab.settle()
    link = tab.page.locator('[data-testid="stMain"]').get_by_role("link", name=re.compile("^.*Offsets of "))
    look = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e.querySelector('p')).fontWeight]"
    assert link.first.evaluate(look) == ["rgba(0, 0, 0, 0)", "400"]
    opened = tab.page.locator(".st-key-tab-open a").first
    assert opened.evaluate(look)[1] == "600", "the tab that is open is told apart"


@pytest.mark.long
def test_a_link_and_a_reload_show_the_same_run(tab: Visit, example: str) -> None:
    tab.go(f"/brokers?run={example}")  # the pages of the others are opened by their links in test_accessibility.py
    charts(tab)
    before = tab.page.locator('[data-testid="stMain"]').inner_text()
    tab.page.reload()
    charts(tab)
    assert tab.page.locator('[data-testid="stMain"]').inner_text() == before
    assert run_of(tab) == example


def test_runs_lists_the_run_and_opens_it(tab: Visit, example: str) -> None:
    tab.go("/runs")
    expect(tab.page.locator('[data-testid="stMain"]')).to_contain_text("example.log")
    tab.page.locator(f'[data-testid="stMain"] a[href*="{example}"]').first.click()
    tab.heading("Findings")
    expect(tab.page.locator(".mq-finding").first).to_be_visible()
    assert run_of(tab) == example


def test_a_chart_page_without_a_run_says_what_to_do_and_of_one_that_is_gone_that_it_is(tab: Visit) -> None:
    tab.go("/counters")
    expect(tab.page.locator('[data-testid="stMain"] a[href*="decode"]').first).to_be_visible()
    tab.turn_to("/producers?run=20200101-000000-abcdef")
    expect(tab.page.locator('[data-testid="stMain"]')).to_contain_text("20200101-000000-abcdef")


@pytest.mark.long
def test_language_and_zone_go_into_the_link(tab: Visit, example: str) -> None:
    tab.go(f"/producers?run={example}&lang=en&zone=UTC")
    charts(tab)
    expect(tab.page.locator('[data-testid="stMain"]')).to_contain_text("UTC")
    english = tab.page.locator('[data-testid="stMain"]').inner_text()
    assert "UTC" in english
    tab.page.get_by_role("radio", name="中文").or_(tab.page.get_by_role("button", name="中文")).first.click()
    expect(tab.page).to_have_url(re.compile("lang=zh"))
    charts(tab)
    chinese = tab.page.locator('[data-testid="stMain"]').inner_text()
    assert "生产者" in chinese
    assert run_of(tab) == example
    tab.turn_to(f"/producers?run={example}&zone=America/New_York")
    charts(tab)
    assert tab.page.locator('[data-testid="stMain"]').inner_text() != english


def test_ids_download_as_csv_and_json(tab: Visit) -> None:
    tab.go(f"/decode?ids={UNIQ},{OFFSET}")
    for name, mark in (("CSV", "text,"), ("JSON Lines", '"text"')):
        with tab.page.expect_download() as download:
            tab.page.get_by_role("button", name=name, exact=True).click()
        content = Path(download.value.path()).read_text(encoding="utf-8-sig")
        assert mark in content
        assert UNIQ in content
        assert OFFSET in content
    tab.settle()
