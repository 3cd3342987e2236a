"""The report on paper, by a real browser: nothing is cut, and no picture is torn over two pages."""

from __future__ import annotations

import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser

from idcore.runs.runs import Run
from pages.parts.triage import report
from tests.pages.conftest import reader
from tests.pages.test_time_range import indexed_run, log

pytestmark = pytest.mark.browser
PAPER = (718, 1046)  # an A4 page without its margins, in CSS pixels
# Texts of pictures that reach out of them, and elements that are wider than the page.
CUT = """() => {
  const cut = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      const out = [frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom];
      if (Math.max(...out) > 1) cut.push(text.textContent);
    }
  }
  for (const one of document.querySelectorAll('body *')) {
    const wide = one.clientWidth && one.scrollWidth > one.clientWidth + 1;
    if (wide && one.closest('svg') === null) cut.push(one.outerHTML);
  }
  return cut;
}"""
TALL = "() => [...document.querySelectorAll('figure, tr')].map((one) => one.getBoundingClientRect().height)"
LARGE = 2_034_719  # times the figures of the log: the largest is above 10^10


def large_run(root: Path) -> Run:
    """A log whose counts are as large as those of a month."""
    run = indexed_run(root, log(missing=range(4_500, 4_516)))
    for table, columns in {"hosts": ("ids", "distinct"), "processes": ("ids", "distinct")}.items():
        (part,) = (run.path / table).glob("*.parquet")
        rows = pq.read_table(part)
        for name in columns:
            rows = rows.set_column(rows.column_names.index(name), name, pc.multiply(rows[name], LARGE))
        pq.write_table(rows, part)
    return run


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_number_is_cut_and_no_picture_is_torn_on_paper(browser: Browser, tmp_path: Path, lang: str) -> None:
    made = report.html(large_run(tmp_path), reader(ZoneInfo("Asia/Shanghai"), lang), "http://127.0.0.1/findings?run=x")
    assert f"{9_000 * LARGE - 16 * LARGE:,}" in made, "a number of eleven digits"
    page = browser.new_page(viewport={"width": PAPER[0], "height": PAPER[1]})
    try:
        page.set_content(made)
        page.emulate_media(media="print")
        assert page.evaluate(CUT) == []
        assert max(page.evaluate(TALL)) < PAPER[1], "each picture and row fits a page of its own"
        printed = page.pdf(format="A4", margin={"top": "1cm", "right": "1cm", "bottom": "1cm", "left": "1cm"})
        assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 9
    finally:
        page.close()
