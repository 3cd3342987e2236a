"""A link is the first thing a cold server sees: the right page, no dialog, no error, the address kept."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import Console, visit
from tests.browser.samples import UNIQ

pytestmark = pytest.mark.browser

# address -> what must be in sight; tests of each page open theirs on a server that is warm
LINKS = {
    "/": "IDs or log lines",
    f"/decode?ids={UNIQ}&lang=zh&zone=UTC": "解码",
}


@pytest.fixture
def quiet_console(cold_console_without_spark: Console) -> Iterator[Console]:
    """Spark would only take the cores from the next server's start."""
    yield cold_console_without_spark
    assert "Traceback" not in cold_console_without_spark.said()


@pytest.mark.long(first=1)
@pytest.mark.parametrize("link", LINKS)
def test_a_link_opens_its_page_on_a_cold_server(browser: Browser, quiet_console: Console, link: str) -> None:
    with visit(browser, quiet_console.url) as tab:
        tab.go(link)
        expect(tab.page.locator('[data-testid="stSidebar"]')).to_be_visible()
        expect(tab.page.locator('[data-testid="stMain"]')).to_contain_text(LINKS[link], timeout=15_000)
        assert urlsplit(tab.page.url).path == urlsplit(link).path
        tab.settle()


@pytest.mark.long
def test_an_address_that_is_no_page_leads_to_the_first_page_and_says_so(
    browser: Browser, console_without_spark: Console
) -> None:
    with visit(browser, console_without_spark.url) as tab:
        tab.go("/no-such-page?lang=en")
        expect(tab.page.get_by_role("textbox", name="IDs or log lines")).to_be_visible(timeout=15_000)
        expect(tab.page.get_by_text("There is no page /no-such-page here")).to_be_visible()
        assert urlsplit(tab.page.url).path == "/"
        tab.settle()
