"""docs/screenshots, made by a real browser: `make screenshots`. Each theme, language and width once for every page."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from idcore.__main__ import main
from idcore.base.catalogue import lang_of, words
from idcore.ids.clock import parse_zone
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.runs.runs import Runs
from idcore.spark import background
from idcore.spark.job import ScanOptions
from tests.browser.harness import NARROW, ROOT, WIDE, Console, Visit, console, visit
from tests.browser.samples import UNIQ
from tests.browser.test_frame import box
from tests.browser.test_runs import scan_folder
from tests.browser.test_time_range import drag
from tests.journey.test_journey import BASE, MSG_ID
from tests.journey.test_journey import record as journey_record
from tests.remoting.fake import Fake
from tests.remoting.fake_groups import Cluster
from tests.remoting.fake_progress import Progressing, client
from tests.remoting.test_traces import request, traces

FOLDER = ROOT / "docs" / "screenshots"
TALLEST = 1800
COLOURS = 160
CHART = '[data-testid="stPlotlyChart"] .js-plotly-plot'
Look = tuple[str, str, str]
LOOKS: list[Look] = [
    ("en", "light", "wide"),
    ("zh", "dark", "wide"),
    ("en", "dark", "narrow"),
    ("zh", "light", "narrow"),
]
CHARTS = {"decode": 3, "producers": 1, "counters": 1, "brokers": 1}
EMPTY = ("decode", "producers", "runs")
STORE = Path(os.environ["PYTEST_DEBUG_TEMPROOT"]) / "rocketmq-broker-a"  # stands in the pictures: no name of chance
SENT_TWICE, RETRIED = "0A14030B1FA118B4AAC263F50D7E0045", "0A14030B1FA118B4AAC263F508A70033"
LOST = "0A14030B1FA118B4AAC263F508A70034"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not os.environ.get("IDCORE_SCREENSHOTS"), reason="only `make screenshots` writes pictures"),
]


def keep(picture: bytes, name: str) -> None:
    """A small PNG: few colours are enough for a page."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, TALLEST)))
    small = image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    small.save(FOLDER / f"{name}.png", optimize=True)


def shoot(tab: Visit, name: str) -> None:
    """The whole page: the window grows to its content, for the page scrolls inside it."""
    page = tab.page
    page.mouse.move(0, 0)
    width = page.viewport_size["width"] if page.viewport_size else WIDE[0]
    height = page.evaluate("document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(700, min(TALLEST, int(height) + 20))})
    tab.settle()
    page.wait_for_timeout(600)
    keep(page.screenshot(animations="disabled"), name)


@contextmanager
def looked(browser: Browser, url: str, look: Look, path: str) -> Iterator[Visit]:
    """A page in one look: language, theme, width."""
    lang, theme, width = look
    with visit(browser, url, size=WIDE if width == "wide" else NARROW, scheme=theme) as tab:
        tab.go(f"{path}&lang={lang}&zone=Asia/Shanghai")
        yield tab


def named(page: str, look: Look) -> str:
    """The name of a page's picture with something in it."""
    return "-".join((page, "example", *look))


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
@pytest.mark.parametrize(
    "page", ["decode", "anatomy", "lab", "findings", "lines", "producers", "counters", "brokers", "runs"]
)
def test_picture_of_the_example(browser: Browser, warm_console: Console, example: str, page: str, look: Look) -> None:
    query = f"id={UNIQ}" if page == "anatomy" else f"run={example}"
    with looked(browser, warm_console.url, look, f"/{page}?{query}") as tab:
        if page in CHARTS:
            expect(tab.page.locator(CHART).nth(CHARTS[page] - 1)).to_be_visible(timeout=30_000)
        if page == "lines":
            expect(tab.page.locator(".mq-lines li").first).to_be_visible(timeout=30_000)
        if page == "lab":
            expect(tab.page.locator(".mq-step")).to_have_count(3)
        shoot(tab, named(page, look))


@pytest.fixture(scope="module")
def compared(browser: Browser, warm_console: Console, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two runs: a log, and the same without what one host logged for a while."""
    folder = tmp_path_factory.mktemp("compared")
    sent, received = folder / "producers.log", folder / "consumers.log"
    start = ["--start", "2026-11-20T09:50:00+08:00", "--seed", "1"]
    assert main(["make", "log", "--lines", "4000", *start, "--out", str(sent)]) == 0
    lines = sent.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for at, line in enumerate(lines) if not (1_000 <= at < 1_600 and "0A2ACF11" in line)]
    assert len(kept) < len(lines) - 100
    received.write_text("".join(kept), encoding="utf-8")
    runs = []
    for file in (sent, received):
        with visit(browser, warm_console.url) as tab:
            tab.go("/decode?lang=en")
            tab.page.locator('[data-testid="stFileUploader"] input[type="file"]').set_input_files(file)
            expect(tab.page.locator(CHART).nth(2)).to_be_visible(timeout=90_000)
            tab.settle()
            runs.append(str(tab.page.url).split("run=")[1].split("&")[0])
    return f"first={runs[0]}&second={runs[1]}"


@dataclass(frozen=True)
class Messages:
    """A console that may read a store folder and knows a cluster which holds one of its messages."""

    url: str
    store: Path
    behind: Progressing


def group_behind() -> Progressing:
    """A group whose clients disagree, with a queue that does not move."""
    cluster = Progressing()
    first, second, third = "10.20.3.11@7#1", "10.20.3.12@7#2", "10.20.3.13@9#3"
    cluster.connected["billing"] = cluster.connection(
        client(first, "10.20.3.11:50122"), client(second, "10.20.3.12:40222"), client(third, "10.20.3.13:40230")
    )
    cluster.states = {
        first: cluster.state({0: (1_000, 0, 0), 1: (900, 900, 930)}),
        second: cluster.state({2: (1_396, 1_396, 1_409)}, "TagA"),
        third: cluster.state({3: (0, 0, 0)}),
    }
    cluster.sides = {"%RETRY%billing": (0, 14), "%DLQ%billing": (0, 3)}
    cluster.offsets |= {"billing@%RETRY%billing": {0: 12}, "mails": {0: 1_000, 1: 1_000, 2: 2_500}, "audit": {2: 40}}
    cluster.connected["mails"] = cluster.connection(client("10.20.4.2@31#1", "10.20.4.2:50122"))
    return cluster


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Messages]:
    folder, store = tmp_path_factory.mktemp("messages"), STORE / "store"
    if STORE.exists():
        pytest.fail(f"{STORE} is in the way")
    try:
        STORE.mkdir()
        start = ["--start", "2026-11-20T09:50:00+08:00", "--seed", "3"]
        assert main(["make", "store", "--messages", "400", *start, "--out", str(store)]) == 0
        with StoreFolder(store) as opened:
            held = [each.record for each in opened.log.walk() if isinstance(each, Stored)]
        copies = [record for record in held if record.message().msg_id == RETRIED]
        cluster = Fake(sorted({record.topic for record in held}), copies)
        cluster.earliest = datetime(2026, 11, 18, 4, 0, 13, tzinfo=UTC)
        behind = group_behind()
        with cluster.server:
            clusters = folder / "clusters.toml"
            text = f'[clusters.production]\nname_servers = ["{cluster.server.address}"]\n'
            with behind.server:
                text += f'[clusters.orders]\nname_servers = ["{behind.server.address}"]\nreach_clients = true\n'
                clusters.write_text(text)
                with console(
                    folder, IDCORE_NO_SPARK="1", IDCORE_ALLOWED_PATHS=str(STORE), IDCORE_CLUSTERS=str(clusters)
                ) as running:
                    yield Messages(running.url, store, behind)
    finally:
        shutil.rmtree(STORE, ignore_errors=True)


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
def test_picture_of_two_runs_compared(browser: Browser, warm_console: Console, compared: str, look: Look) -> None:
    with looked(browser, warm_console.url, look, f"/compare?{compared}") as tab:
        expect(tab.page.locator(CHART).first).to_be_visible(timeout=30_000)
        shoot(tab, named("compare", look))


@pytest.fixture(scope="module")
def delivered(warm_console: Console, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The scan of a store with nine groups."""
    store = tmp_path_factory.mktemp("delivered") / "broker-a"
    start = ["--start", "2026-11-20T09:50:00+08:00", "--seed", "3"]
    assert main(["make", "store", "--messages", "4000", "--groups", "8", *start, "--out", str(store)]) == 0
    run = Runs(warm_console.runs).create(store.name)
    options = ScanOptions(parse_zone("+08:00"), "given", datetime(2026, 11, 20, 4, tzinfo=UTC), store=str(store))
    assert background.start(run, [], options).wait().state == "done"
    return run.name


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
def test_picture_of_deliveries(browser: Browser, warm_console: Console, delivered: str, look: Look) -> None:
    with looked(browser, warm_console.url, look, f"/fate?run={delivered}") as tab:
        expect(tab.page.locator(CHART).first).to_be_visible(timeout=30_000)
        shoot(tab, named("fate", look))


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
def test_picture_of_a_store(browser: Browser, messages: Messages, look: Look) -> None:
    with looked(browser, messages.url, look, f"/store?store={messages.store}&id={SENT_TWICE}") as tab:
        expect(tab.page.locator(".mq-card")).to_have_count(2, timeout=30_000)
        shoot(tab, named("store", look))


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
def test_picture_of_a_look_up(browser: Browser, messages: Messages, look: Look) -> None:
    with looked(browser, messages.url, look, f"/lookup?id={LOST},{RETRIED}") as tab:
        tab.page.get_by_role("button", name=words(lang_of(look[0]) or "en")("lookup.button"), exact=True).click()
        expect(tab.page.locator(".mq-card")).to_have_count(4, timeout=30_000)
        tab.settle()
        shoot(tab, named("lookup", look))


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
def test_picture_of_a_group(browser: Browser, messages: Messages, look: Look) -> None:
    query = "cluster=orders&topic=Orders&group=billing&at=a:2:1400"
    said = words(lang_of(look[0]) or "en")
    messages.behind.offsets["billing"][2] = 1_396
    with looked(browser, messages.url, look, f"/groups?{query}") as tab:
        for button in ("groups.button", "groups.again", "groups.clients_button"):
            tab.page.get_by_role("button", name=said(button), exact=True).click()
            expect(tab.page.locator(".mq-strip")).to_be_visible(timeout=30_000)
            tab.settle()
            tab.page.wait_for_timeout(3_000)  # a rate is of five seconds and more
            messages.behind.offsets["billing"][2] += 2
        shoot(tab, named("groups", look))


@pytest.fixture(scope="module")
def asked_about(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A console whose cluster has a message that one group consumed, and that failed twice in another one."""

    def context(*fields: object) -> str:
        return "\x01".join(map(str, fields)) + "\x02"

    def call(number: int, began: int, group: str, tries: int, ended: int | None = None, code: int = 2) -> str:
        made = context("SubBefore", BASE + began, "r", group, request(number), MSG_ID, tries, "null")
        if ended is None:
            return made
        success = "true" if code == 0 else "false"
        return made + context("SubAfter", request(number), MSG_ID, 7, success, "null", code, BASE + ended, group)

    send = ("Pub", BASE + 1, "r", "senders", "Orders", MSG_ID, "null", "null", "10.0.0.1:10911", 4, 12, 0, "AB", "true")
    calls = [call(1, 20, "shipping", 0, 50), call(2, 22, "billing", 0, 27, 0)]
    calls += [call(3, 10_000, "shipping", 1, 10_060, 4), call(4, 45_300, "shipping", 2)]
    text = "".join([context(*send), *calls])
    copies = [
        journey_record("%RETRY%shipping", at, at, tries, RETRY_TOPIC="Orders")
        for tries, at in ((1, 10_200), (2, 45_200))
    ]
    held = [traces(90_000, text, key=MSG_ID, at=BASE + 46_000), journey_record("Orders"), *copies]
    cluster = Cluster(*held)
    cluster.topics = sorted({record.topic for record in held})
    cluster.listed = ["audit", "billing", "shipping"]
    cluster.offsets = {"Orders@shipping": 40, "Orders@billing": 40, "%RETRY%shipping@shipping": 10}
    cluster.connected = {name: cluster.connection() for name in ("billing", "shipping")}
    with cluster.server:
        folder = tmp_path_factory.mktemp("asked")
        with console(folder, IDCORE_NO_SPARK="1", IDCORE_NAMESRV=str(cluster.server.address)) as running:
            yield running.url


@pytest.mark.parametrize("look", LOOKS, ids="-".join)
def test_picture_of_a_journey(browser: Browser, asked_about: str, look: Look) -> None:
    with looked(browser, asked_about, look, f"/message?id={MSG_ID}") as tab:
        said = words(lang_of(look[0]) or "en")
        tab.page.get_by_role("button", name=said("message.ask", cluster="default")).click()
        expect(tab.page.locator(CHART)).to_be_visible(timeout=30_000)
        tab.settle()
        shoot(tab, named("message", look))


ONE: Look = ("en", "light", "wide")


def test_picture_of_what_the_keyboard_finds(browser: Browser, warm_console: Console, example: str) -> None:
    with looked(browser, warm_console.url, ONE, f"/producers?run={example}") as tab:
        box(tab.page)
        tab.page.keyboard.type("10.")
        expect(tab.page.get_by_role("dialog").get_by_role("link").first).to_be_visible()
        tab.page.wait_for_timeout(1_000)  # its links come one after the other
        keep(tab.page.screenshot(animations="disabled"), "find-box-en-light-wide")


def test_picture_of_a_broker_that_the_legend_hides(browser: Browser, warm_console: Console, example: str) -> None:
    with looked(browser, warm_console.url, ONE, f"/brokers?run={example}") as tab:
        growth = tab.page.locator('[class*="st-key-chart-growth"]')
        growth.locator(".legendtoggle").first.click()
        expect(growth.locator(".legend .traces").first).to_have_css("opacity", "0.5")
        shoot(tab, "brokers-hidden-en-light-wide")


def test_picture_of_a_time_range_compared(browser: Browser, warm_console: Console, compared: str) -> None:
    with looked(browser, warm_console.url, ONE, f"/compare?{compared}") as tab:
        plot = tab.page.locator('[class*="st-key-chart-timeline"] .nsewdrag')
        expect(plot).to_be_visible(timeout=30_000)
        tab.settle()
        drag(tab, plot, 0.2, 0.6)
        expect(tab.page.get_by_role("button", name="Reset")).to_be_visible()
        shoot(tab, "compare-range-en-light-wide")


def test_pictures_of_a_large_file_and_of_its_cancelled_scan(browser: Browser) -> None:
    if STORE.exists():
        pytest.fail(f"{STORE} is in the way")
    logs = STORE / "logs"
    try:
        logs.mkdir(parents=True)
        with (logs / "broker.log").open("wb") as file:
            file.truncate(60_000_000_000)
        with (
            console(STORE, IDCORE_ALLOWED_PATHS=str(logs)) as running,
            looked(browser, running.url, ONE, "/runs?") as tab,
        ):
            scan_folder(tab, logs)
            tab.page.get_by_role("button", name="Start the scan").hover()
            keep(tab.page.screenshot(animations="disabled"), "runs-estimate-en-light-wide")
            tab.page.get_by_role("button", name="Start the scan").click()
            expect(tab.page.get_by_text("s left").first).to_be_visible(timeout=60_000)  # Spark has started
            tab.page.get_by_role("button", name="Cancel", exact=True).first.click()
            expect(tab.page.get_by_role("button", name="Cancelling…").first).to_be_disabled()
            keep(tab.page.screenshot(animations="disabled"), "runs-cancelling-en-light-wide")
            expect(tab.page.get_by_text("The scan was cancelled.").first).to_be_visible(timeout=60_000)
    finally:
        shutil.rmtree(STORE)


@pytest.mark.parametrize("page", EMPTY)
def test_picture_of_the_empty_page(browser: Browser, cold_console_without_spark: Console, page: str) -> None:
    with visit(browser, cold_console_without_spark.url) as tab:
        tab.go(f"/{page}?lang=en&zone=Asia/Shanghai")
        shoot(tab, f"{page}-empty-en-light-wide")


def test_picture_of_one_id(browser: Browser, cold_console_without_spark: Console) -> None:
    with visit(browser, cold_console_without_spark.url) as tab:
        tab.go(f"/decode?ids={UNIQ}&lang=en&zone=Asia/Shanghai")
        shoot(tab, "decode-one-en-light-wide")


def test_all_pictures_together_stay_small() -> None:
    sizes = {picture.name: picture.stat().st_size for picture in Path(FOLDER).glob("*.png")}
    assert sum(sizes.values()) < 4_500_000, sizes
