"""The lab by hand and by keyboard: steps come into sight and into the address, the browser goes back by one."""

from __future__ import annotations

import re
import zipfile

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import NARROW, Console, Visit, visit

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_steps_by_keyboard_and_back_again(tab: Visit) -> None:
    page = tab.page
    tab.go("/lab?lang=en")
    steps = page.locator(".mq-step")
    expect(steps).to_have_count(3)
    page.get_by_role("heading", name="Lab").click()  # a key goes where the focus is
    tab.settle()
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"story=lost\.consume\.send$"))
    expect(steps).to_have_count(4)
    tab.settle()
    page.get_by_role("button", name="Fill the file").click()
    expect(page.locator(".mq-step-last")).to_contain_text("padding fills the rest")
    expect(page.locator(".mq-step-last strong").last).to_be_in_viewport()
    expect(page.locator(".mq-blank")).to_be_in_viewport()
    tab.settle()
    page.go_back()
    expect(page).to_have_url(re.compile(r"story=lost\.consume\.send$"))
    expect(steps).to_have_count(4)
    tab.settle()


def test_the_store_of_a_story_downloads(tab: Visit) -> None:
    tab.go("/lab?lang=en&story=send.roll")
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="Store", exact=True).click()
    with zipfile.ZipFile(download.value.path()) as packed:
        names = packed.namelist()
    assert f"broker-a/commitlog/{4096:020d}" in names and "broker.conf" in names
    tab.settle()


@pytest.mark.parametrize("host", ["10.20.3.11", "fd00::1"])
def test_a_phone_shows_every_step_without_scrolling_sideways(
    browser: Browser, warm_console: Console, host: str
) -> None:
    with visit(browser, warm_console.url, size=NARROW) as tab:
        tab.go(f"/lab?lang=en&story=lost.consume.batch.roll.commit.collide&host={host}")
        expect(tab.page.locator(".mq-step")).to_have_count(7)
        tab.fits()
        wide = "[...document.querySelectorAll('.mq-row, .mq-logs')].filter(e => e.scrollWidth > e.clientWidth).length"
        assert tab.page.evaluate(wide) == 0, "a row is cut off"
        tab.check()


@pytest.mark.long(first=1)
@pytest.mark.parametrize("size", [(1280, 860), NARROW])
def test_a_presenter_has_the_buttons_in_sight_and_esc_ends_it(
    browser: Browser, warm_console: Console, size: tuple[int, int]
) -> None:
    with visit(browser, warm_console.url, size=size) as tab:
        page = tab.page
        tab.go("/lab?lang=en&story=lost.consume&at=1")
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
        page.get_by_role("button", name="Next").click()
        expect(page).to_have_url(re.compile(r"at=2"))
        tab.settle()
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
        for name in ("Back", "Next", "End presentation"):
            button = page.get_by_role("button", name=name)
            expect(button).to_be_in_viewport(ratio=1)
            on_top = """button => { const at = button.getBoundingClientRect();
                return button.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2)) }"""
            assert button.evaluate(on_top), f"{name} is covered"
        page.keyboard.press("Escape")
        expect(page).not_to_have_url(re.compile(r"at="))
        expect(page.get_by_role("button", name="Present")).to_be_visible()
        tab.settle()
