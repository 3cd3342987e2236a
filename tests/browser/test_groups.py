"""From a message that was not consumed to its group, in real Chromium against the real console."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import NARROW, console, visit
from tests.browser.test_accessibility import problems
from tests.remoting.fake import UNIQ
from tests.remoting.fake_progress import Progressing, client

pytestmark = pytest.mark.browser


def test_a_verdict_leads_to_the_progress_of_its_group(browser: Browser, tmp_path: Path) -> None:
    cluster = Progressing()
    cluster.offsets["billing"][0] = 4
    # its clients subscribe to another topic, so the verdict needs no second question
    cluster.connected["billing"] = cluster.connection(client("10.0.0.3@7#1"), topic="Notices")
    (tmp_path / "clusters.toml").write_text(f'[clusters.one]\nname_servers = ["{cluster.server.address}"]\n')
    clusters = str(tmp_path / "clusters.toml")
    with (
        cluster.server,
        console(tmp_path, IDCORE_NO_SPARK="1", IDCORE_CLUSTERS=clusters, IDCORE_NAMESRV="") as running,
        visit(browser, running.url, size=NARROW, scheme="dark") as tab,
    ):
        page = tab.page
        tab.go(f"/lookup?id={UNIQ}&topic=Orders&fate=1")
        page.get_by_role("button", name="Look up", exact=True).click()
        expect(page.locator(".mq-strip")).to_contain_text("group offset 4", timeout=30_000)
        tab.fits()
        page.get_by_role("link", name="billing").click()
        tab.heading("Consumer groups")
        expect(page.get_by_label("Consumer group", exact=True)).to_have_value("billing")
        assert not page.locator(".mq-said").count(), "a link asks nobody"
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator(".mq-said").first).to_contain_text("2,200 messages behind on Orders")
        expect(page.locator(".mq-strip")).to_contain_text("this message 10")
        left = page.locator(".mq-at").evaluate_all("signs => signs.map(each => each.getBoundingClientRect().left)")
        assert left == sorted(left), "begin, group offset, message, end"
        tab.fits()
        page.mouse.move(0, 0)  # colours under it are others
        assert problems(page) == []
        page.get_by_role("link", name="Find message").first.focus()
        page.keyboard.press("Control+k")
        page.get_by_label("Go to").or_(page.locator(".stDialog input")).first.fill("consumer gr")
        expect(page.locator(".st-key-find-hits")).to_contain_text("Consumer groups")
        assert not tab.wrong
