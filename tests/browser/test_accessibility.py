"""Every page for people who cannot see well or use no mouse: axe-core in both themes, the keyboard, the clipboard."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from pages.parts import frame
from tests.browser.harness import NARROW, WIDE, Console, Theme, Visit, visit
from tests.browser.samples import OFFSET, TRACE, UNIQ, log
from tests.pages.test_time_range import indexed_run

pytestmark = pytest.mark.browser
WRONG = {"serious", "critical"}
RULES = {"heading-order", "page-has-heading-one", "empty-heading"}  # axe calls a jump from h1 to h3 moderate
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]  # the rules among these that read colours
IPV6 = "20010DB885A3000000008A2E03707334473C7D4991AD336AEA5703E0"  # 56 digits, made by hand
CONTENT = {"decode": f"ids={UNIQ},{OFFSET},{TRACE}", "anatomy": f"id={UNIQ}", "lab": "story=send.lost"}
CONTENT["message"] = CONTENT["anatomy"]
WIDTHS = (1920, 768, 390)
PARTS = 4  # in which the pages are looked at
FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
# Counts how often the page looks for a new theme (pages/parts/js/watch.js).
WATCHES = """(() => {
  const watches = (window.watches = new Set()), begin = setInterval, end = clearInterval;
  window.setInterval = (look, every, ...more) => {
    const made = begin(look, every, ...more);
    if (every === 600) watches.add(made);
    return made;
  };
  window.clearInterval = (made) => { watches.delete(made); end(made); };
})()"""


@pytest.fixture(scope="module")
def run(warm_console: Console) -> str:
    """The name of a scan with several hosts, processes and brokers."""
    return indexed_run(warm_console.runs, log(600), "20261121-015500-acce55").name


# Of each element what a rule may read but its colours.
OUTLINE = """() => [...document.querySelectorAll('[data-testid=stApp] *')].filter((one) => !one.closest('svg')).map(
  (one) => [one.tagName, one.checkVisibility(), ...[...one.attributes].filter(({name}) =>
    /^(role|alt|title|lang|tabindex|href|for|type|hidden|aria-.*)$/.test(name)).map(({value}) => value)].join())"""

# The kinds of texts, by what gives them their colours: a class of the project, or a part of Streamlit.
KINDS = """() => [...new Set([...document.querySelectorAll('[data-testid=stApp] *')].filter((one) =>
  [...one.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim())).flatMap((one) => {
    const own = [...(one.closest('[class*=mq-]')?.classList ?? [])].filter((name) => name.startsWith('mq-'));
    return own.length ? own : [one.closest('[kind], [data-testid]').dataset.testid];
  }))]"""


def problems(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """What axe finds that keeps people out, and headings that are not an outline; by some rules alone, if given."""
    only = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": TAGS}
    if not page.evaluate("Boolean(window.axe)"):  # a page that is turned to is in the same document
        page.evaluate(Axe().axe_script)
    found = page.evaluate("options => axe.run(options)", {"runOnly": only, "resultTypes": ["violations"]})["violations"]
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:200]}"
        for one in found
        if one["impact"] in WRONG or one["id"] in RULES
        for node in one["nodes"]
    ]


def problems_of_themes(tab: Visit, first: Theme, seen: set[str]) -> dict[Theme, list[str]]:
    """By every rule in one theme. In the other by those of colours, if nothing but colours differs.

    The other is left out where each kind of text has been seen in both on a page before.
    """
    tab.theme(first)
    ground, outline = tab.ground(), tab.page.evaluate(OUTLINE)
    found = {first: problems(tab.page)}
    kinds = set(tab.page.evaluate(KINDS))
    if kinds <= seen:
        return found
    second: Theme = "dark" if first == "light" else "light"
    tab.theme(second)
    assert tab.ground() != ground, "the page has the colours of both themes"
    found[second] = problems(tab.page, COLOURS if tab.page.evaluate(OUTLINE) == outline else ())
    seen |= kinds
    return found


@pytest.mark.timeout(600)
@pytest.mark.long(first=1)
@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing_serious_on_any_page(browser: Browser, warm_console: Console, run: str, part: int) -> None:
    addresses = [address for rows in frame.MENU.values() for address, _, _ in rows]
    langs = ("en", "zh")  # in turns, as the widths: what is wrong on one of four is wrong in a theme or a text
    links = [f"{page}?{CONTENT.get(page, f'run={run}')}&lang={langs[n % 2]}" for n, page in enumerate(addresses)]
    found, seen = {}, set[str]()
    theme: Theme = "light"
    with visit(browser, warm_console.url) as tab:
        every = ["decode?lang=en", f"decode?run={run}&lang=en", "anatomy?lang=en", *links]
        pages = list(enumerate(every))[part * len(every) // PARTS : (part + 1) * len(every) // PARTS]
        for n, link in pages:
            width, height = (WIDE, NARROW)[n // 2 % 2]
            tab.page.set_viewport_size({"width": width, "height": height})
            (tab.go if n == pages[0][0] else tab.turn_to)(f"/{link}")
            found[link] = problems_of_themes(tab, theme, seen)
            tab.page.set_viewport_size({"width": WIDTHS[n % 3], "height": height})
            tab.page.wait_for_function(FITS, polling=100)
            theme = [*found[link]][-1]  # the next page opens in the colours that are there
            expect(tab.page.locator('[data-testid="stSidebar"] [aria-current="page"]')).to_have_count(1)
    noise = [line for line in warm_console.said().splitlines() if re.search("warn|deprecat|error", line, re.IGNORECASE)]
    assert noise == [], "the log of a server that works is silent"
    wrong = {(link, theme): some for link, both in found.items() for theme, some in both.items() if some}
    assert wrong == {}


def test_the_keyboard_is_seen_and_is_not_taken_for_the_open_page(browser: Browser, warm_console: Console) -> None:
    look = "(e) => { const s = getComputedStyle(e); return [s.outlineStyle, s.boxShadow, s.backgroundColor] }"
    with visit(browser, warm_console.url) as tab:
        tab.go("/lab?lang=en")
        links = tab.page.locator('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')
        opened, other = (links.filter(has_text=name) for name in ("Lab", "Scans"))
        expect(opened).to_have_attribute("aria-current", "page")
        usual = other.evaluate(look)
        tab.page.keyboard.press("Tab")
        while "Scans" not in tab.page.evaluate("document.activeElement.innerText"):
            tab.page.keyboard.press("Tab")
        outline, shadow, ground = other.evaluate(look)
        assert (outline, shadow, ground) == ("solid", usual[1], usual[2])
        outline, shadow, _ = opened.evaluate(look)
        assert outline == "none" and shadow != usual[1]


@pytest.mark.long(first=1)
@pytest.mark.parametrize("secure", [True, False], ids=["https", "http"])
def test_whatever_offers_to_copy_puts_its_text_on_the_clipboard(
    browser: Browser, warm_console: Console, run: str, secure: bool
) -> None:
    unsafe = (  # as on a page that another machine serves over HTTP
        "window.clipboard_ = navigator.clipboard;"
        "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})"
    )
    with visit(browser, warm_console.url, first=WATCHES if secure else f"{WATCHES};{unsafe}") as tab:
        page, clipboard = tab.page, "(window.clipboard_ || navigator.clipboard)"
        page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=warm_console.url)
        tab.go("/")
        offers = {
            f"decode?ids={UNIQ},{OFFSET}": f"{UNIQ}\n{OFFSET}",
            f"counters?run={run}": f"{warm_console.url}/counters?run={run}&zone=Asia%2FShanghai",
            "lab?story=send.lost": f"{warm_console.url}/lab?zone=Asia%2FShanghai&story=send.lost",
        }
        for link, text in [*offers.items()][: None if secure else 1]:  # each is the same button
            tab.turn_to(f"/{link}")
            button = page.locator(".mq-copying").first
            button.get_by_role("button").click()
            expect(button).to_contain_text("Copied")
            assert page.evaluate(f"{clipboard}.readText()") == text
        tab.turn_to("/lookup")
        page.get_by_text("Connect a live cluster").click()
        code = page.get_by_test_id("stCode")
        code.get_by_role("button").click()
        page.wait_for_timeout(200)
        assert page.evaluate(f"{clipboard}.readText()").strip() == code.inner_text().strip()
        for scheme in ("dark", "light") if secure else ():
            tab.theme(scheme)  # type: ignore[arg-type]
        assert page.evaluate("watches.size") == 1, "each more draws the page once more at a change of theme"


def test_an_id_of_56_digits_fits_on_a_phone(browser: Browser, warm_console: Console) -> None:
    with visit(browser, warm_console.url, size=NARROW) as tab:
        tab.go("/")
        for link in (f"decode?ids={IPV6}", f"decode?ids={IPV6},{OFFSET}", f"anatomy?id={IPV6}", f"lookup?id={IPV6}"):
            tab.turn_to(f"/{link}")
            tab.fits()
            outside = """() => [...document.querySelectorAll('.mq-card, .mq-key, .mq-span, .mq-hex, .mq-byte')].filter(
              (one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.textContent)"""
            assert tab.page.evaluate(outside) == [], link


def test_a_table_uses_the_width_of_a_wide_screen(browser: Browser, warm_console: Console, run: str) -> None:
    with visit(browser, warm_console.url, size=(1920, 1080)) as tab:
        tab.go(f"/producers?run={run}")
        table = tab.page.get_by_role("region", name="Processes")
        expect(table).to_be_visible()
        box = table.bounding_box()
        assert box and box["x"] + box["width"] > 1920 - 60 and box["width"] > 1_500
