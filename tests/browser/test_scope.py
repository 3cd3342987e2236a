"""Filters of an incident with a real pointer: a host is clicked, travels over the tabs as a chip, and is removed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import NARROW, WIDE, Console, visit
from tests.pages.test_scope import BROKERS, BUSY, stored_log
from tests.pages.test_time_range import indexed_run

pytestmark = pytest.mark.browser
MENU = ("Decode", "Incident", "Compare", "Message", "Consumer groups", "Store", "Scans", "Lab", "Help")


@pytest.mark.long
def test_a_host_travels_over_the_tabs_until_its_chip_is_closed(
    browser: Browser, console_without_spark: Console
) -> None:
    run = indexed_run(console_without_spark.runs, stored_log(), "20261121-015500-5c09e1").name
    with visit(browser, console_without_spark.url) as tab:
        page, main = tab.page, tab.page.locator('[data-testid="stMain"]')
        tab.go(f"/producers?run={run}&lang=en&zone=UTC")
        expect(page.locator('.st-key-nav [data-testid="stPageLink"] p')).to_have_text(MENU)
        main.locator(".mq-list-hosts td a").first.click()
        chip = page.get_by_role("button", name=f"Host {BUSY}")
        expect(chip).to_be_visible()
        tab.settle()
        tabs, entry = page.locator(".st-key-tabs"), page.locator('[data-testid="stSidebar"] [aria-current="page"]')
        for name in ("Counters", "Findings", "Brokers", "Lines"):
            tabs.get_by_role("link", name=name, exact=True).click()
            tab.heading(name)
            tab.settle()
            expect(chip).to_be_visible()
            assert f"host={BUSY}" in page.url
            expect(tabs.locator('[aria-current="page"]')).to_contain_text(name)
            expect(entry).to_contain_text("Incident")
            if name == "Brokers":
                expect(main).to_contain_text("Not applied here: Host. An offsetMsgId names neither")
                main.locator(f'a[href*="broker={BROKERS[0].replace(":", "%3A")}"]').first.click()
                expect(page.get_by_role("button", name=f"Broker {BROKERS[0]}")).to_be_visible()
                tab.settle()
        said = main.locator(".mq-said")
        expect(main.locator(".mq-lines li").first).to_contain_text("0A2A0311")
        expect(main.locator(".mq-lines li").first).to_contain_text("0A2A090100002A9F")
        both = said.inner_text()
        for width, height in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": height})
            tab.fits()
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        chip.click()
        expect(chip).to_be_hidden()
        expect(page).not_to_have_url(re.compile("host="))
        expect(said).not_to_have_text(both)
        tab.settle()
