"""The site of the documents: every page, from a disk, with the network off; its search; Markdown for programs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts import make_site
from tests.browser.harness import ROOT


@pytest.fixture(scope="module")
def site() -> Path:
    """Built as `make site` builds it; a link that leads nowhere would end it."""
    done = subprocess.run([sys.executable, "scripts/make_site.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return make_site.SITE


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A page without a network; what it asks of one fails the test."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    foreign: list[str] = []
    page.on("request", lambda asked: foreign.append(asked.url) if asked.url.startswith("http") else None)
    yield page
    context.close()
    assert not foreign


def test_every_document_is_a_page_and_markdown_and_is_listed(site: Path) -> None:
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    documents = [path for path in (ROOT / "docs").rglob("*.md") if not path.name[0].isdigit()]
    for path in documents:
        source = path.relative_to(ROOT).as_posix()
        target = make_site.MOVED.get(source, source.removeprefix("docs/"))
        assert (site / target).is_file() and f"]({target})" in listed, target
        page = site / target.replace("README.md", "index.md").replace(".md", ".html")
        assert "<article" in page.read_text(encoding="utf-8")
    assert all((site / place).is_file() for place in re.findall(r"\]\(([^)]+)\)", listed))


def test_no_page_loads_anything_of_another_site(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'(?:src|srcset)="?https?:|<link[^>]+stylesheet[^>]+https?:|unpkg', text), page


@pytest.mark.parametrize(
    ("page", "asked", "found"),
    [
        ("index.html", "parallel counters", "Counter segments and parallel counters"),
        ("tutorials/support.zh-CN.html", "计数器", "计数器"),
    ],
)
def test_the_search_finds_in_both_languages(page: str, asked: str, found: str, site: Path, tab: Page) -> None:
    tab.goto((site / page).as_uri())
    tab.get_by_role("button", name="Search").first.click()
    box = tab.locator("input:focus")
    box.wait_for()  # what is written before it has the focus is lost
    box.fill(asked)
    expect(tab.get_by_text(found).first).to_be_visible(timeout=20_000)
    expect(tab.get_by_text(re.compile(r"^\d+ results?$"))).to_be_visible(timeout=60_000)


def test_links_lead_from_page_to_page_and_to_the_other_language(site: Path, tab: Page) -> None:
    tab.goto((site / "index.html").as_uri())
    tab.get_by_role("link", name="First five minutes").first.click()
    expect(tab.get_by_role("heading", level=1)).to_contain_text("first five minutes")
    tab.goto((site / "index.html").as_uri())
    tab.locator("article").get_by_role("link", name="中文").click()
    expect(tab.locator("article")).to_contain_text("快速开始")


def test_a_link_to_what_the_site_lacks_is_its_text() -> None:
    place = make_site.pages()
    said = make_site.moved(
        "[a](../idcore/x.py) [b](limits.md#of) [c](https://e.org) `[d](x.md)`", "docs/store.md", place
    )
    assert said.startswith("a [b](limits.md#of) [c](https://e.org)")
