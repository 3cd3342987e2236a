"""From a message that was not consumed to its group, in real Chromium against the real console."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Browser, expect

from idcore.rocketmq.remoting.frame import Frame
from tests.browser.harness import NARROW, Visit, console, visit
from tests.browser.test_accessibility import problems
from tests.remoting.fake import UNIQ
from tests.remoting.fake_progress import Progressing, client
from tests.remoting.servers import Server

pytestmark = pytest.mark.browser


def cancels_a_list(tab: Visit, server: Server) -> None:
    """A click while brokers are asked ends the list, and the page says how much of it is missing."""
    usual, asked, may_go_on = server._handle, Event(), Event()

    def waits(frame: Frame) -> Iterable[bytes]:
        if frame.code == 31:  # where a queue begins
            asked.set()
            may_go_on.wait(20)
        yield from usual(frame)

    server._handle = waits
    tab.go("/lookup?way=queue&topic=Orders&queue=a:0:0&limit=40")
    tab.page.get_by_role("button", name="List messages", exact=True).click()
    cancel = tab.page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_visible()
    assert asked.wait(20)
    cancel.click()
    expect(tab.page.get_by_text("Cancelling")).to_be_visible()
    may_go_on.set()
    expect(tab.page.get_by_text("The search was cancelled.")).to_be_visible(timeout=20_000)
    expect(tab.page.get_by_label("Topic", exact=True)).to_have_value("Orders")
    tab.fits()


@pytest.mark.long
def test_a_verdict_leads_to_the_progress_of_its_group_and_a_list_is_cancelled(browser: Browser, tmp_path: Path) -> None:
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
        expect(page.locator(".mq-strip")).to_contain_text("consumer offset 4", timeout=30_000)
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
        page.get_by_role("link", name="Message").first.focus()
        page.keyboard.press("Control+k")
        page.get_by_label("Go to").or_(page.locator(".stDialog input")).first.fill("consumer gr")
        expect(page.locator(".st-key-find-hits")).to_contain_text("Consumer groups")
        cancels_a_list(tab, cluster.server)
        assert not tab.wrong
