"""The real console in a process of its own, and a browser that watches what it does. Knows no page's content."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    Response,
    expect,
)

ROOT = Path(__file__).resolve().parent.parent.parent
LOOPBACK = {"127.0.0.1", "localhost"}
SCAN = 240_000  # milliseconds: the first scan of a console, and the first that goes on, wait for Spark
expect.set_options(timeout=30_000)  # a loaded machine is slow, not wrong
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-compositing",  # nor a graphics card that the processor plays
    "--disable-software-rasterizer",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--no-opt",  # a page lives for seconds: to optimize its code takes longer than it saves
    # Nothing but this machine has an address, names and numbers alike: a request to another one never leaves.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
WIDE, NARROW = (1280, 860), (390, 844)
Theme = Literal["light", "dark"]
GROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
# The page has the ground of a theme, and no colour fades any more.
FADED = """(dark) => {
  const sum = GROUND.match(/\\d+/g).slice(0, 3).reduce((all, part) => all + Number(part), 0);
  const ends = (one) => one.effect.getComputedTiming().endTime !== Infinity;
  const fades = document.getAnimations().some((one) => one.playState === 'running' && ends(one));
  return (dark ? sum < 200 : sum > 600) && !fades;
}""".replace("GROUND", GROUND)

# Opens an address as the browser's own Back does. True once its script has begun: it says so, or draws already.
TURN = """(address) => new Promise((done) => {
  const app = document.querySelector('[data-testid=stApp]');
  const watch = new MutationObserver((changes) => {
    const draws = changes.some((change) => change.type === 'childList');
    if (draws || app.dataset.testScriptState !== 'notRunning') { watch.disconnect(); done(true); }
  });
  watch.observe(app, {attributes: true});
  watch.observe(document.querySelector('[data-testid=stMain]'), {childList: true, subtree: true});
  setTimeout(() => done(false), 5000);
  history.pushState({}, '', address);
  dispatchEvent(new PopStateEvent('popstate'));
})"""


def chromium() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=chromium(), headless=True, args=list(FLAGS))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Ports of consoles that have ended: the next one has the address whose scripts the browser has compiled.
_ports: list[int] = []


def _port() -> int:
    """A port of those, if no other process has taken it."""
    while _ports:
        try:
            with socket.create_server(("127.0.0.1", port := _ports.pop())):
                return port
        except OSError:
            continue
    return free_port()


@dataclass
class Console:
    """A running console: its address, its log, the folder of its runs."""

    url: str
    log: Path
    runs: Path
    process: subprocess.Popen[bytes]
    started: float

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


# As `make run` sets it.
HEAP = dict(word.split("=") for word in re.findall(r"^HEAP := (.*)", (ROOT / "Makefile").read_text(), re.M)[0].split())


@contextmanager
def console(folder: Path, make: bool = False, serve: Path | None = None, **environment: str) -> Iterator[Console]:
    """Start the console as `make run` does, or by it; no request is made, so the first one is the test's own.

    `serve`: a folder with an installed package, whose command `serve` starts it.
    """
    port, runs, log = _port(), folder / "runs", folder / "console.log"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "127.0.0.1"]
    command += ["--server.port", str(port), "--server.headless", "true"]
    if make:
        command = ["make", "run", f"PORT={port}"]
    variables = {**os.environ, **HEAP, "IDCORE_RUNS": str(runs), **environment}
    folder.mkdir(parents=True, exist_ok=True)
    if serve is not None:
        command = [sys.executable, "-m", "idcore", "serve", "--port", str(port)]
        variables["PYTHONPATH"] = str(serve)
    with log.open("wb") as out:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder if serve else ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            while not _listens(port):
                if process.poll() is not None or time.perf_counter() - started > 60:
                    raise AssertionError(f"the console did not start:\n{log.read_text(errors='replace')}")
                time.sleep(0.02)
            yield Console(f"http://127.0.0.1:{port}", log, runs, process, started)
        finally:
            stop(process)
            _ports.append(port)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask politely as Ctrl+C does, then end what is left of the group that was started here (the JVM is in it)."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@dataclass
class Visit:
    """One tab that keeps book of everything that must not happen while a person uses the console."""

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self._listens(self.page.on)

    def leave(self) -> None:
        """Ends the visit, and forgets it. The tab stays at the same site: another one compiles each script anew."""
        self._listens(self.page.remove_listener)
        context = self.page.context
        self.page.goto(f"{self.url}/_idcore/health")
        self.page.evaluate("localStorage.clear(), sessionStorage.clear()")  # of its port; cookies are those of all
        for opened in context.pages:
            if opened is not self.page:
                opened.close()
        context.clear_cookies()
        context.clear_permissions()

    def _listens(self, change: Callable[[Any, Any], None]) -> None:
        change("console", self._on_console)
        change("pageerror", self._on_error)
        change("requestfailed", self._on_failed)
        change("response", self._on_response)
        change("request", self._on_request)

    def _on_error(self, error: Error) -> None:
        self.wrong.append(f"script error: {error}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.wrong.append(f"console error: {message.text} ({message.location.get('url')})")

    def _on_failed(self, request: Request) -> None:
        if "ERR_ABORTED" not in (request.failure or ""):  # what a click on the next page interrupts
            self.wrong.append(f"request failed: {request.url} ({request.failure})")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.wrong.append(f"answer {response.status}: {response.url}")

    def _on_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in LOOPBACK:
            self.wrong.append(f"request to a stranger: {request.url}")

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)
        self.settle()

    def turn_to(self, path: str) -> None:
        """Another page of the console that is open, without loading it again: as a click on one of its links."""
        if not self.page.evaluate(TURN, path):  # while a theme or a scan is being drawn, it may not listen
            self.page.goto(self.url + path)
        self.settle()

    def ground(self) -> str:
        """The colour that everything is drawn on."""
        return str(self.page.evaluate(GROUND))

    def theme(self, scheme: Theme) -> None:
        """The page in the colours of a theme: its script draws it again more than half a second after its ground."""
        self.page.emulate_media(color_scheme=scheme)
        self._faded(scheme)
        drawn = "(scheme) => document.body.dataset.drawnIn === scheme"
        self.page.wait_for_function(drawn, arg=scheme, polling=50)
        self.settle()
        self._faded(scheme)

    def _faded(self, scheme: Theme) -> None:
        """Asks every 50 ms: asked at every frame, as is usual, the browser has to draw them all."""
        self.page.wait_for_function(FADED, arg=scheme == "dark", polling=50)

    def settle(self, seconds: float = 90) -> None:
        """Wait until the page's script has run, then look for what must not be there."""
        idle = '[data-testid="stApp"][data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
        self.page.locator(idle).wait_for(state="attached", timeout=seconds * 1000)
        shown = self.page.locator('[data-testid="stMain"] [data-testid="stElementContainer"]').first
        shown.wait_for(state="attached", timeout=seconds * 1000)  # a page is idle, too, before its script begins
        self.page.wait_for_timeout(150)
        self.page.locator(idle).wait_for(state="attached", timeout=seconds * 1000)
        self.check()

    def check(self) -> None:
        boxes = self.page.locator('[data-testid="stException"]').all_inner_texts()
        assert not boxes, f"exception box: {boxes}"
        assert "Traceback" not in self.page.locator("body").inner_text()
        dialogs = self.page.locator("[role=dialog]:visible, dialog[open]")  # by its role, every element would be asked
        assert not dialogs.all_inner_texts(), "a dialog nobody asked for"
        assert not self.wrong, self.wrong

    def heading(self, text: str) -> None:
        expect(self.page.get_by_role("heading", name=text).first).to_be_visible(timeout=30_000)

    def unfold(self) -> None:
        """Opens the box of an input that was decoded: it is one line then."""
        fold = self.page.locator('[class*="st-key-input-fold"] details:not([open]) summary')
        if fold.count():
            fold.first.click()

    def fits(self) -> None:
        """Nothing wider than the window: a page that scrolls sideways on a phone is broken."""
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"the page is {wide} pixels wider than the window"


# What is open and nobody's, by browser: the next visitor has the last one, so that each script is compiled once.
_tabs: defaultdict[Browser, list[Page]] = defaultdict(list)


def _tab(browser: Browser) -> Page:
    if _tabs[browser]:
        return _tabs[browser].pop()
    return browser.new_context(locale="en-US", reduced_motion="reduce", accept_downloads=True).new_page()


@contextmanager
def visit(
    browser: Browser,
    url: str,
    size: tuple[int, int] = WIDE,
    scheme: str = "light",
    zone: str = "Asia/Shanghai",
    first: str = "",
) -> Iterator[Visit]:
    """A new visitor. Of those before only what the browser has loaded is there: no cookie, no choice, no permission.

    `first` is a script that every page runs before its own. It and the zone end with the session of the visit.
    """
    page = _tab(browser)
    try:
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setTimezoneOverride", {"timezoneId": zone})
        if first:
            session.send("Page.enable")
            session.send("Page.addScriptToEvaluateOnNewDocument", {"source": first})
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        tab = Visit(page, url)
        tab.watch()
        yield tab
        session.detach()
        tab.leave()
    except BaseException:
        page.context.close()
        raise
    _tabs[browser].append(page)
