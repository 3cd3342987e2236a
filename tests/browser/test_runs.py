"""Scans that go on without their browser, are named and kept or not, and are compared, in real Chromium with Spark."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from idcore.runs.runs import Run, Runs
from tests.browser.harness import NARROW, SCAN, WIDE, Console, Visit, console, stop, visit
from tests.browser.samples import log
from tests.pages.test_findings import two_at_once

pytestmark = pytest.mark.browser
CANCEL_ABOVE_TABLE = """() => {
  const cancel = [...document.querySelectorAll("button")].find(one => one.textContent.includes("Cancel"));
  const table = document.querySelector(".mq-table");
  return cancel && table && cancel.getBoundingClientRect().top < table.getBoundingClientRect().top;
}"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that visitors may scan."""
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def running(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A cold console: its first scan, that of the first test, waits for Spark."""
    with console(tmp_path_factory.mktemp("console"), IDCORE_ALLOWED_PATHS=str(logs)) as found:
        yield found


def wait_for(runs: Runs, states: set[str], seconds: float, after: int = 0) -> Run:
    """The newest run, once it is in one of the states and there are more than so many."""
    deadline = time.monotonic() + seconds
    while not (len(found := runs.list()) > after and found[0].state in states):
        assert time.monotonic() < deadline, [(run.state, run.error) for run in found]
        time.sleep(0.05)
    return found[0]


@pytest.mark.long
def test_a_scan_goes_on_when_its_browser_is_closed(browser: Browser, running: Console) -> None:
    runs = Runs(running.runs)
    with visit(browser, running.url) as tab:
        tab.page.goto(f"{running.url}/decode")
        tab.page.get_by_role("textbox", name="IDs or log lines").fill(log(40))
        tab.page.get_by_role("button", name="Decode", exact=True).click()
        run = wait_for(runs, {"running", "done"}, 60)
        state = run.state
        tab.page.wait_for_function(CANCEL_ABOVE_TABLE)
    assert state == "running"  # Spark was still starting when the browser went
    assert wait_for(runs, {"done", "failed", "cancelled"}, 120).state == "done"
    assert run.summary is not None and run.summary["ids"] > 0


def main(tab: Visit) -> Locator:
    return tab.page.locator('[data-testid="stMain"]')


def unkept(runs: Path) -> list[Path]:
    """Folders of runs that are not to be kept."""
    facts = ((path, json.loads(path.read_text(encoding="utf-8"))) for path in runs.glob("*/run.json"))
    return [path.parent for path, held in facts if not held.get("kept", True)]


def open_form(tab: Visit) -> Locator:
    """The box for a path, in the form that is folded where there are scans."""
    form = main(tab).get_by_test_id("stExpander").filter(has_text="New scan")
    path = form.get_by_role("textbox", name="File or folder on the server")
    expect(form.locator("summary")).to_be_visible()
    if form.locator("details").get_attribute("open") is None:
        form.locator("summary").click()
    expect(path).to_be_visible()
    return path


def scan_folder(tab: Visit, folder: Path) -> None:
    tab.go("/runs")
    path = open_form(tab)
    path.fill(str(folder))
    tab.page.locator(".st-key-scan-folder button").click()


def cancels(tab: Visit, folder: Path) -> None:
    """A large file: how long it may take is said first; Cancel says at once that it is heard, and the scan ends."""
    folder.mkdir()
    with (folder / "large.log").open("wb") as file:
        file.truncate(60_000_000_000)  # nothing of it is on the disk
    scan_folder(tab, folder)
    offer = tab.page.locator(".st-key-runs-offer")
    expect(offer).to_contain_text("1 file with 55.9 GiB")
    expect(offer).to_contain_text("Estimated time: about 2 min")
    offer.get_by_role("button", name="Start the scan").click()
    main(tab).get_by_role("button", name="Cancel", exact=True).first.click()
    expect(main(tab)).to_contain_text(re.compile("Cancelling…|The scan was cancelled"))
    expect(main(tab)).to_contain_text("The scan was cancelled.", timeout=SCAN)
    tab.settle()


def names_and_pins(tab: Visit, run: Run) -> None:
    """Its row gets a name and is pinned; a reload shows both."""
    row = tab.page.locator(f".st-key-run-{run.name}")
    row.get_by_role("button", name="Rename").click()
    tab.page.get_by_role("textbox", name="Name").fill("Ticket 4711")
    tab.page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Ticket 4711")
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    tab.settle()
    row.get_by_role("button", name="Pin").click()
    expect(row).to_contain_text("pinned")
    tab.page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    places = [row.get_by_role("button", name=name).bounding_box() for name in ("Unpin", "Rename", "Delete")]
    assert len({round(place["y"]) for place in places if place}) == 1, "on a phone they wrap together"
    tab.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    tab.page.reload()
    expect(row).to_contain_text("Ticket 4711")
    expect(row).to_contain_text("pinned")
    tab.settle()


def compares(tab: Visit) -> None:
    """Two pasted logs: what is missing and when, the link of the answer, and its lines once the input is scanned."""
    tab.turn_to("/compare")
    tab.page.get_by_role("textbox", name=re.compile("^First input")).fill(log(90))
    tab.page.get_by_role("textbox", name=re.compile("^Second input")).fill(log(60))
    tab.page.get_by_role("button", name="Compare", exact=True).click()
    expect(main(tab)).to_contain_text("10 msgIds of 10.42.0.1 pid 4001 only in the first: generated")
    expect(tab.page.locator('[data-testid="stPlotlyChart"] .js-plotly-plot').first).to_be_visible(timeout=30_000)
    expect(tab.page).to_have_url(re.compile("/compare.*run=2"))
    tab.settle()
    tab.page.reload()
    expect(main(tab)).to_contain_text("10 msgIds of 10.42.0.1 pid 4001 only in the first: generated")
    tab.page.get_by_role("button", name="Scan the first input").click()
    tab.page.get_by_role("link", name="See the lines").first.click()
    tab.heading("Lines")
    expect(main(tab)).to_contain_text("10 ID occurrences of the 180 in this scan", timeout=SCAN)
    tab.settle()


def names_new_errors(tab: Visit, log: Path) -> None:
    """On the wall display, to which the page leads, and on the page that one goes back to, until it was seen."""
    page, banner = tab.page, tab.page.locator(".st-key-follow-news")
    page.get_by_role("link", name="Wall display").click()
    expect(page.locator(".mq-wall-said")).to_be_visible(timeout=SCAN)
    expect(page.locator(".mq-wall-new")).to_have_count(0)
    log.write_text(two_at_once(), encoding="utf-8")
    expect(page.locator(".mq-wall-new")).to_contain_text("Several processes share one fingerprint", timeout=SCAN)
    tab.check()
    page.go_back()
    expect(banner).to_contain_text("Several processes share one fingerprint")
    expect(page).to_have_title(re.compile(r"^\(1 new\)"))
    banner.get_by_role("button", name="Seen").click()
    expect(banner).to_have_count(0)


@pytest.mark.long
def test_files_are_followed_and_every_page_draws_itself_again(browser: Browser, running: Console, logs: Path) -> None:
    runs = Runs(running.runs)
    others = len(runs.list())
    followed = logs / f"followed{others}"  # of this try alone
    followed.mkdir()
    (followed / "app.log").write_text(log(100), encoding="utf-8")
    with visit(browser, running.url) as tab:
        page = tab.page
        tab.go("/runs")
        open_form(tab).fill(str(followed))
        page.get_by_role("button", name="Follow", exact=True).click()
        row = page.locator(f".st-key-run-{wait_for(runs, {'running'}, 60).name}")
        row.get_by_role("link", name="Open", exact=True).click(timeout=SCAN)
        tab.heading("Findings")
        bar = page.locator(".mq-live")
        expect(bar).to_contain_text("As of")
        before = int(runs.list()[0].summary["ids"])  # type: ignore[index]
        expect(bar).to_contain_text(f"{before:,} ID occurrences", timeout=SCAN)
        names_new_errors(tab, followed / "shared.log")
        more = int(runs.list()[0].summary["ids"]) - before  # type: ignore[index]
        page.goto(f"{page.url.replace('findings', 'producers')}")
        tab.settle()
        (followed / "app.log").rename(followed / "app.log.1")
        (followed / "app.log").write_text(log(100, first=200), encoding="utf-8")
        expect(bar).to_contain_text(f"{2 * before + more:,} ID occurrences", timeout=SCAN)
        page.locator(".st-key-follow-paused label").click()
        expect(bar).to_contain_text("Paused; the scan goes on")
        with (followed / "app.log").open("a", encoding="utf-8") as file:
            file.write(log(100, first=400))
        deadline = time.monotonic() + 60
        while (runs.list()[0].summary or {})["ids"] < 3 * before + more:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        expect(bar).to_contain_text(f"{2 * before + more:,} ID occurrences")
        page.get_by_role("button", name="Stop", exact=True).click()
        assert wait_for(runs, {"done", "failed"}, 60).state == "done"
        page.goto(f"{page.url}&wall=1")
        expect(page.locator(".mq-wall-said")).to_be_visible(timeout=SCAN)
        assert page.locator(".mq-wall section h2").all_inner_texts()[0] == "Producers"
        assert not page.locator("[data-testid=stSidebar]").is_visible()
        tab.check()
    run = runs.list()[0]
    assert run.summary is not None and run.summary["ids"] == 3 * before + more and not (run.path / ".follow").exists()


def test_a_reader_scans_names_compares_and_leaves_nothing_behind(
    browser: Browser, running: Console, logs: Path
) -> None:
    before = len(Runs(running.runs).list())
    folder = logs / f"reader{before}"  # of this try alone
    folder.mkdir()
    (folder / "app.log").write_text(log(300), encoding="utf-8")
    with visit(browser, running.url) as tab:
        scan_folder(tab, folder)
        expect(main(tab)).to_contain_text("has been scanned.", timeout=SCAN)
        tab.settle()
        scan_folder(tab, folder)
        expect(main(tab)).to_contain_text("The same files were scanned on")
        (folder / "empty").mkdir()
        scan_folder(tab, folder / "empty")
        expect(main(tab)).to_contain_text("so there is nothing to scan")
        tab.settle()
        names_and_pins(tab, Runs(running.runs).list()[0])
        cancels(tab, folder / "large")
        compares(tab)
        tab.turn_to("/decode")
        expect(main(tab)).to_contain_text("everybody who opens this console can see it")
        main(tab).locator(".st-key-unkept label").click()
        expect(tab.page).to_have_url(re.compile("keep=no"))
        expect(main(tab)).to_contain_text("Not kept")
        tab.settle()
        tab.page.get_by_role("textbox", name="IDs or log lines").fill(log(60))
        tab.page.get_by_role("button", name="Decode", exact=True).click()
        expect(tab.page.locator('[data-testid="stPlotlyChart"] .js-plotly-plot').first).to_be_visible(timeout=SCAN)
        tab.settle()
        assert len(unkept(running.runs)) == 1
    assert "Traceback" not in running.said()
    stop(running.process)
    assert not unkept(running.runs), "with the server goes what was not to be kept"
    assert len([path for path in running.runs.iterdir() if (path / "run.json").exists()]) == before + 4
