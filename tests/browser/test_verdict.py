"""From an input to its worst finding and into a ticket, in real Chromium against the real console and real Spark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import NARROW, SCAN, Console, Visit, visit
from tests.browser.test_journey import charts, run_of

pytestmark = pytest.mark.browser
# The most elements of a kind that were there at one time: two of what the page has once are a ghost of the page before.
COUNT = """() => {
  const most = (window.most = { said: 0, tries: 0 });
  const look = () => {
    most.said = Math.max(most.said, document.querySelectorAll(".mq-said").length);
    most.tries = Math.max(most.tries, document.querySelectorAll(".mq-try").length);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""
TOP = "element => element.getBoundingClientRect().top"


def tabs_count_what_is_below_them(tab: Visit, run: str) -> None:
    """A card of many findings has a list of them; with the others these are as many as the tab says."""
    tab.turn_to(f"/findings?run={run}&lang=en&zone=UTC")
    for name, kinds in (("Errors", 0), ("Warnings", 2)):
        choice = tab.page.locator(".st-key-finding-filters").get_by_text(re.compile(rf"^{name} \d+$"))
        number = int(choice.inner_text().split()[1])
        choice.click()
        expect(tab.page).to_have_url(re.compile(f"severity={name.lower()[:-1]}"))
        tab.settle()
        lists, rows = tab.page.locator(".mq-table"), tab.page.locator(".mq-table tbody tr")
        expect(lists).to_have_count(kinds)
        assert tab.page.locator(".mq-finding").count() - lists.count() + rows.count() == number > 0


def report_opens_alone(tab: Visit) -> None:
    """The report as a file: no request leaves it, it follows the theme and paper, and fits on a phone."""
    tab.settle()  # what is made for a click is gone if the page is drawn meanwhile
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("button", name="Report, HTML").click()
    assert re.fullmatch(r"rocketmq-ids-example-log-\d{4}-\d\d-\d\d\.html", saved.value.suggested_filename)
    opened, asked = tab.page.context.new_page(), list[str]()
    opened.on("request", lambda request: asked.append(request.url))
    opened.route("**/*", lambda route: route.abort())
    opened.set_content(Path(saved.value.path()).read_text(encoding="utf-8"))
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        opened.emulate_media(media=media, color_scheme=scheme)  # type: ignore[arg-type]
        seen.append(opened.evaluate(ground))
    assert seen == ["rgb(255, 255, 255)", "rgb(15, 18, 24)", "rgb(255, 255, 255)"]
    figure = opened.locator("figure").first
    expect(figure.locator("svg")).to_be_visible()
    expect(figure.locator("figcaption")).to_be_visible()
    expect(opened.locator("pre").first).to_contain_text(re.compile(r"example\.log:\d+  "))
    way_back = opened.get_by_role("link", name="Open in the console").first.get_attribute("href")
    assert way_back is not None and way_back.startswith(tab.url)
    opened.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    opened.emulate_media(media="screen")
    assert opened.evaluate("document.documentElement.scrollWidth") == NARROW[0]
    assert asked == []
    opened.close()


@pytest.mark.long
def test_the_worst_finding_is_first_and_leads_into_a_ticket(tab: Visit, example: str) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.go(f"/decode?run={example}&lang=en&zone=UTC")
    tab.page.evaluate(COUNT)
    strip = tab.page.locator(".st-key-verdict")
    expect(strip).to_contain_text("1 error: several processes share the fingerprint 172.17.0.2", timeout=SCAN)
    charts(tab, 3)
    tab.unfold()
    tab.page.get_by_role("button", name="an incident log").click()
    expect(strip).to_contain_text("4 processes run in another time zone", timeout=SCAN)
    assert tab.page.evaluate("window.most") == {"said": 1, "tries": 1}, (
        "the page before was in sight next to the new one"
    )
    tab.unfold()
    tab.page.get_by_role("button", name="Load an example").click()
    expect(strip).to_contain_text("6 messages were sent more than once", timeout=SCAN)
    charts(tab, 3)
    table = tab.page.locator(".mq-table").first
    assert strip.evaluate(TOP) < table.evaluate(TOP), "above the table"
    strip.get_by_role("link").first.click()
    expect(tab.page).to_have_url(re.compile("/findings.*finding=0"))
    tab.heading("Findings")
    button = tab.page.get_by_role("button", name="Copy for ticket")
    button.click()
    expect(tab.page.locator(".mq-copying [role=status]:not(:empty)")).to_have_text("Copied")
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    clock = "The log's clock is +08:00; times outside the log lines are +00:00."
    title = f"## Error: Several processes share one fingerprint\n\n{clock}\n\n"
    assert copied.startswith(f"{title}`172.17.0.2 pid 1 loader")
    assert re.search(r"```text\nexample\.log:\d+  ", copied)
    assert re.search(rf"In the console: {tab.url}/findings\?zone=UTC&run=[\w-]+&finding=0\n$", copied)
    report_opens_alone(tab)
    tab.page.get_by_role("link", name="Lines").last.click()
    expect(tab.page).to_have_url(re.compile("/lines.*finding=0"))
    tab.heading("Lines")
    tabs_count_what_is_below_them(tab, run_of(tab))


def test_without_https_a_ticket_is_copied_the_old_way_or_by_hand(
    browser: Browser, warm_console: Console, example: str
) -> None:
    unsafe = "Object.defineProperty(window, 'isSecureContext', { value: false })"
    with visit(browser, warm_console.url, first=unsafe) as tab:
        tab.go(f"/findings?run={example}&finding=0&lang=zh")
        button = tab.page.get_by_role("button", name="复制到工单")
        button.click()
        expect(tab.page.locator(".mq-copying [role=status]:not(:empty)")).to_have_text("已复制")
        tab.page.evaluate("document.execCommand = () => false")
        button.click()
        expect(tab.page.locator(".mq-copying [role=status]:not(:empty)")).to_contain_text("Ctrl+C")
        area = tab.page.get_by_role("textbox", name="复制到工单")
        expect(area).to_be_focused()
        assert area.evaluate(
            "area => area.selectionEnd - area.selectionStart === area.value.length && area.value.length > 500"
        )
        tab.check()
