"""Was it consumed? From a pasted ID to the answer in one click, in real Chromium against a fake cluster."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import NARROW, console, visit
from tests.remoting.fake import UNIQ
from tests.remoting.fake_groups import HOME, STORED, Cluster
from tests.remoting.test_traces import USUAL, after, before, pub, traces

pytestmark = pytest.mark.browser


def test_one_click_on_a_pasted_id_answers_whether_it_was_consumed(browser: Browser, tmp_path: Path) -> None:
    cluster = Cluster(HOME, traces(5_000, pub() + before(20) + after(20), at=STORED + 60))
    cluster.topics.append(USUAL)
    cluster.offsets, cluster.listed = {"Orders@works": 40}, ["works", "readers"]
    with (
        cluster.server,
        console(tmp_path, IDCORE_NO_SPARK="1", IDCORE_NAMESRV=str(cluster.server.address)) as running,
        visit(browser, running.url) as tab,
    ):
        page = tab.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.go(f"/message?id={UNIQ}&lang=en&zone=UTC&cluster=default")  # the first request of a cold server
        expect(page.get_by_role("button", name="Ask the cluster default")).to_be_visible()
        expect(page.get_by_text("Whether it was consumed is not known yet")).to_be_visible()
        assert not cluster.server.seen, "a link asks nobody"
        tab.go("/decode?lang=en&zone=UTC")
        page.get_by_role("textbox", name="IDs or log lines").fill(UNIQ)
        page.get_by_role("button", name="Decode", exact=True).click()
        page.get_by_role("button", name="Was it consumed?").click()
        expect(page.get_by_text("2 consumer groups consumed it").first).to_be_visible()
        expect(page).to_have_url(re.compile(rf"/message\?.*id={UNIQ}.*cluster=default"))
        expect(page.locator(".js-plotly-plot").get_by_text("readers: success")).to_be_visible()
        expect(page.get_by_role("table", name="Journey")).to_contain_text("10.0.0.3 · 4464")
        page.get_by_role("button", name="Copy for ticket").click()
        expect(page.locator(".mq-copying [role=status]:not(:empty)")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(f"## Message journey `{UNIQ}`\n\n2 consumer groups")
        assert copied.endswith(f"In the console: {running.url}/message?zone=UTC&id={UNIQ}&cluster=default\n")
        with page.expect_download() as saved:
            page.get_by_role("button", name="Report, HTML").click()
        report = Path(saved.value.path()).read_text(encoding="utf-8")
        assert "<svg" in report and "<script" not in report and "readers: success" in report
        page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
        tab.settle()
        tab.fits()
        asked = len(cluster.server.seen)
        page.reload()
        tab.settle()
        expect(page.get_by_role("button", name="Ask the cluster default")).to_be_visible()
        assert len(cluster.server.seen) == asked, "nor does the same page opened again"
    assert "Traceback" not in running.said()
