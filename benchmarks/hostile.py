"""10,000 hostile inputs through the console, in real Chromium: what runs, is read, dialled, or stays behind.

python -m benchmarks.hostile                    some fifteen minutes; exit status 1 if one check fails
python -m benchmarks.hostile --count 500        fewer of each kind

Every Python process of the console has an audit hook: what it opens, lists and connects to. A file outside the allowed
folder and a listener that addresses of inputs lead to are canaries. The page has others: a function that markup would
call, elements that it would make, dialogs, violations of the content policy, requests to strangers.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Dialog, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

from idcore.policy.access import OF_PAGE
from idcore.runs.runs import Runs
from idcore.simulate.append import CommitLogWriter, Settings
from tests.browser.harness import ROOT, Console, Visit, console, launch, visit
from tests.remoting.fake_many import Many

from .hostile_inputs import Inputs
from .tabs import FORGOTTEN, TIDIED

COUNT = 10_000
SHARES = {"lines": 46, "parameters": 35, "files": 8, "records": 8, "runs": 1, "names": 2}  # of a hundred inputs
NAMES = """id ids sent_at zone lang keep store which topic queue offset file at way from to limit key group cluster cell
verdict order process host broker segment delete_at finding kind a b first second case fates search q page line ids_page
level member text theme address tag subscription client pick"""  # of all pages; each page ignores those of others
PATIENCE = 180_000  # milliseconds: a loaded machine is slow, not wrong
# Streamlit's library for its messages tries WebAssembly in each page, and does without.
OF_STREAMLIT = re.compile(r"policy: script-src wasm-eval\s+http://127\.0\.0\.1:\d+/static/js/protobuf\.\w+\.js:\d+")
NEVER = ("/etc/shadow", "/etc/passwd", "/proc/self/environ")
OWN = ("idcore-spark-", "idcore-", "hsperfdata_", "pyspark-", "blockmgr", "spark-")  # of Spark, as long as it is up
AT_ONCE = 16  # parameters of one address
HOOK = '''"""Notes what this process opens, lists and connects to, once each: for benchmarks/hostile.py."""
import os, sys
_log = os.open(os.environ["HOSTILE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_seen = set()
def _hook(event, args):
    if event in ("open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir", "os.symlink", "os.chmod"):
        what = event + "\\t" + repr(args[0])
    elif event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
        what = event + "\\t" + repr(args[event in ("socket.connect", "socket.sendto")])
    else:
        return
    if what not in _seen:
        _seen.add(what)
        os.write(_log, (what + "\\n").encode("utf-8", "backslashreplace"))
sys.addaudithook(_hook)
'''
# In each page before its own scripts: what markup would call, and what the content policy refuses.
WATCH = """window.__hits = []; window.__hit = (what) => window.__hits.push(String(what));
document.addEventListener('securitypolicyviolation', (one) => window.__hits.push(`policy: ${one.violatedDirective} ` +
  `${one.blockedURI} ${one.sample} ${one.sourceFile}:${one.lineNumber}`));"""
LOOK = """() => { const found = window.__hits.splice(0);
  for (const one of document.querySelectorAll('[data-canary]')) found.push('element: ' + one.outerHTML.slice(0, 200));
  for (const one of document.querySelectorAll('[href],[src],[action]'))
    for (const name of ['href', 'src', 'action'])
      if (/^\\s*(javascript|vbscript|data:text)/i.test(one.getAttribute(name) || '')
          || /canary\\.invalid/.test(one.getAttribute(name) || '') && one.tagName !== 'A')
        found.push(`${name}: ` + one.outerHTML.slice(0, 200));
  return found; }"""


class Round:
    """One run of all kinds: the console, a visitor, what was found."""

    def __init__(self, server: Console, tab: Visit, inputs: Inputs, folder: Path) -> None:
        self.server, self.tab, self.inputs, self.folder = server, tab, inputs, folder
        self.sent, self.found, self.said = Counter[str](), Counter[str](), 0

    def look(self, what: str) -> None:
        """Whatever the page and the server's log have of it."""
        try:
            self.tab.settle(PATIENCE / 1000)
        except (AssertionError, TooLate) as problem:
            self.note(what, f"page: {str(problem)[:600]}")
            self.tab.wrong.clear()
        for hit in self.tab.page.evaluate(LOOK):
            if not OF_STREAMLIT.fullmatch(hit):
                self.note(what, hit)
        said = self.server.said()
        for part in re.findall(r"Traceback.*?\n(?=\w[\w.]*: ).*?\n|.*a page failed.*", said[self.said :], re.DOTALL):
            self.note(what, f"log: {part[-400:]}")
        self.said = len(said)

    def dialog(self, opened: Dialog) -> None:
        """A dialog of the browser: a script ran."""
        self.note("a script", f"a dialog: {opened.message}")
        opened.dismiss()

    def note(self, what: str, problem: str) -> None:
        if not self.found[problem]:
            print(f"FOUND by {what}: {problem}", flush=True)
        self.found[problem] += 1

    def open(self, path: str) -> None:
        """A page as by its link; what it says of the server is looked at."""
        try:
            self.tab.page.goto(self.server.url + path)
        except Exception as problem:  # noqa: BLE001  # every failure is a finding
            self.note(path, f"address: {str(problem)[:300]}")
            return
        self.look(path)

    # ---- kinds

    def lines(self, count: int) -> None:
        """Pasted: log lines, IDs, markup."""
        while self.sent["lines"] < count:
            self.tab.page.goto(f"{self.server.url}/decode")
            some = min(300, count - self.sent["lines"])
            text = self.inputs.lines(some) if self.inputs.chance.random() < 0.8 else self.inputs.id()
            some = some if "\n" in text else 1
            box = self.tab.page.get_by_role("textbox", name="IDs or log lines")
            box.fill(text)
            self.tab.page.get_by_role("button", name="Decode", exact=True).click()
            self.sent["lines"] += some
            self.look(f"lines {self.sent['lines']}: {text[:200]!r}")
            if self.sent["lines"] <= 600 and some > 1:
                self.triage()

    def triage(self) -> None:
        """The scan of what was decoded, on each page that shows it."""
        runs = Runs(self.server.runs)
        deadline = time.monotonic() + 120
        while (found := runs.list()) and found[0].state in ("new", "running") and time.monotonic() < deadline:
            time.sleep(0.2)
        if found:
            for page in ("findings", "lines", "producers", "counters", "brokers", "fate", "compare", "runs", "decode"):
                self.open(f"/{page}?run={found[0].name}")

    def parameters(self, count: int) -> None:
        """Each page with hostile values of its address."""
        pages = [page for page in OF_PAGE if page != "home"]
        runs = [run.name for run in Runs(self.server.runs).list()[:5]] or ["x"]
        while self.sent["parameters"] < count:
            page = pages[self.sent["parameters"] // AT_ONCE % len(pages)]
            given = {name: self.value(name) for name in self.inputs.chance.sample(NAMES.split(), AT_ONCE)}
            given["run"] = self.inputs.one_of(*runs, *runs, self.inputs.text())
            query = "&".join(f"{name}={quote(value.encode('utf-8', 'replace'))}" for name, value in given.items())
            self.open(f"/{page}?{query}")
            self.sent["parameters"] += len(given)

    def value(self, name: str) -> str:
        chance = self.inputs.chance.random()
        if name in ("id", "ids", "a", "b") and chance < 0.5:
            return self.inputs.id()
        if name == "store" and chance < 0.5:
            return str(self.inputs.one_of(*map(str, (self.folder / "allowed").glob("store-*"))))
        if name == "cluster" and chance < 0.5:
            return "default"
        return self.inputs.text()[:300]

    def files(self, count: int) -> None:
        """Uploaded: archives and names."""
        while self.sent["files"] < count:
            some = [
                {"name": self.inputs.name(), "mimeType": "", "buffer": self.inputs.file()}
                for _ in range(min(100, count - self.sent["files"]))
            ]
            page = self.inputs.one_of("decode", "decode", "decode", "store")
            self.tab.page.goto(f"{self.server.url}/{page}")
            self.tab.page.locator("input[type=file]").first.set_input_files(some)  # type: ignore[arg-type]
            self.look(f"files on {page}")
            if page == "decode":
                self.tab.page.get_by_role("button", name="Decode", exact=True).click()
            self.sent["files"] += len(some)
            self.look(f"{self.sent['files']} files on {page}")
            if page == "decode" and self.sent["files"] % 200:
                self.triage()

    def records(self, count: int) -> None:
        """Stores of the server: records, names of files, settings; opened, browsed and searched."""
        for store in sorted((self.folder / "allowed").glob("store-*")):
            self.sent["records"] += count // 4
            place = quote(str(store))
            self.open(f"/store?store={place}")
            for _ in range(3):
                self.open(f"/store?store={place}&file={0:020d}&at={self.inputs.one_of(0, 246, -1, 10**19)}")
                self.open(f"/store?store={place}&topic={quote(self.inputs.markup())}&queue=0")
            for at in range(0, 3_000, 500):
                self.open(f"/store?store={place}&id={at}")
                self.open(f"/message?store={place}&id={quote(self.inputs.id())}")
        self.open("/runs")
        self.tab.page.get_by_role("textbox", name="File or folder on the server").fill(str(self.folder / "allowed"))
        self.tab.page.locator(".st-key-scan-folder button").click()
        self.look("scan of stores")
        self.triage()

    def runs(self, count: int) -> None:
        """Folders of scans whose run.json somebody changed."""
        (whole, *_) = [run for run in Runs(self.server.runs).list() if run.state == "done"]
        for number in range(count):
            made = self.server.runs / f"20261121-{number:06d}-{self.inputs.chance.randbytes(16).hex()}"
            shutil.copytree(whole.path, made)
            text = self.inputs.run(whole.facts)
            (made / "run.json").write_bytes(text.encode("utf-8", "surrogatepass"))
            page = self.inputs.one_of("runs", "findings", "lines", "brokers", "fate", "compare", "decode")
            self.open(f"/{page}?run={made.name}")
            self.sent["runs"] += 1
            if number % 10 == 9:
                self.open("/runs")
        for made in self.server.runs.glob("20261121-000*"):
            shutil.rmtree(made)

    def names(self, count: int) -> None:
        """A cluster whose topics, groups and messages have hostile names."""
        for number in range(0, count, 20):
            for page, query in (
                ("lookup", f"id={quote(CLUSTER_ID)}"),
                ("message", f"id={quote(CLUSTER_ID)}"),
                ("groups", f"topic=Orders&group={quote(self.inputs.markup())}"),
                ("lookup", f"way=time&topic={quote(self.inputs.markup())}&limit=5"),
            ):
                self.open(f"/{page}?cluster=default&{query}")
                for label in ("Look up", "Ask default", "Show", "List"):
                    button = self.tab.page.get_by_role("button", name=label)
                    if button.count():
                        button.first.click()
                        self.look(f"{page} {label} {number}")
                        break
            self.sent["names"] += 20


CLUSTER_ID = "0A42333A0DC818B4AAC246C290FD0000"


def cluster(inputs: Inputs) -> Many:
    """A cluster on loopback whose names are hostile."""
    made = Many(4, [inputs.markup() for _ in range(20)])
    made.topics += [inputs.markup() for _ in range(20)]
    for number in range(60):
        one = inputs.record(100_000 + number)
        made.records.append(one)
        made.by_key[CLUSTER_ID].append(one)
    return made


def stores(folder: Path, inputs: Inputs, count: int) -> None:
    """Four stores in the allowed folder: hostile records, files and links that lead outside."""
    for number in range(4):
        root = folder / "allowed" / f"store-{number}"
        writer = CommitLogWriter(root / "commitlog", Settings())
        for at in range(count // 4):
            writer.append([inputs.record(writer.end)], at, 1_795_000_000_000 + at)
        writer.close()
        for name in ("config", "consumequeue"):
            (root / name).mkdir()
        for name in ("consumerOffset", "subscriptionGroup", "topics", "delayOffset"):
            (root / "config" / f"{name}.json").write_bytes(inputs.settings())
        for _ in range(20):
            place = root / inputs.one_of("commitlog", "consumequeue", "config", ".") / inputs.name().replace("/", "_")
            if not place.exists():
                place.write_bytes(inputs.file())
        if number == 3:
            (root / "commitlog" / f"{16 << 20:020d}").symlink_to(inputs.secret)
            (root / "index").symlink_to(Path(inputs.secret).parent)


@contextmanager
def listener() -> Iterator[tuple[int, list[object]]]:
    """A port that nobody may connect to, and who did."""
    came: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                came.append(peer)
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield server.getsockname()[1], came


def strange(log: Path, folder: Path) -> list[str]:
    """What the hook noted that is outside the folders of the console, its packages and the system."""
    packages = (ROOT, ROOT / ".venv", Path(sys.executable).parents[1], Path(sys.base_prefix))
    python = {str(path) for path in packages} | {str(path.resolve()) for path in packages}
    python |= {str(Path.home() / ".cache"), str(Path.home() / ".streamlit")}
    system = ("/usr/", "/lib", "/dev/", "/proc/", "/sys/", "/etc/", "/opt/", "/bin", "/sbin")
    mine = tuple(str(folder / name) for name in ("allowed", "console", "tmp", "hook"))
    found = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        event, _, text = line.partition("\t")
        what = text.lstrip("b").strip("'\"")
        if event in ("socket.connect", "socket.sendto"):
            fine = text.startswith(("('127.0.0.1'", "('::1'")) or what.startswith("/") or what == "workers"  # a socket
        elif event == "socket.getaddrinfo":
            fine = what in ("127.0.0.1", "localhost", socket.gethostname(), "None", "")
        elif not what.startswith("/"):  # a program, a number of an open file, a name below the working folder
            fine = True
        else:
            fine = what.startswith((*python, *system, *mine)) and not what.startswith(NEVER)
        if not fine:
            found.append(line)
    return found


def whole(folder: Path, asked: argparse.Namespace, port: int, came: list[object], browser: Browser) -> int:
    """Everything once; the number of different findings."""
    for name in ("allowed", "console", "tmp", "hook", "outside"):
        (folder / name).mkdir()
    secret, log = folder / "outside" / "secret.txt", folder / "hook" / "log"
    secret.write_text("msgId=0A42333A0DC818B4AAC246C290FD0000 IDENTITY_CANARY_OUTSIDE")
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    log.touch()
    inputs = Inputs(asked.seed, str(secret), port)
    wanted = {kind: asked.count * share // 100 for kind, share in SHARES.items() if asked.only in (None, kind)}
    stores(folder, inputs, wanted.get("records", 40))
    fake = cluster(inputs)
    environment = {
        "IDCORE_ALLOWED_PATHS": str(folder / "allowed"),
        "IDCORE_NAMESRV": str(fake.server.address),
        "IDCORE_UNPACKED_LOG": "8M",
        "HOSTILE_LOG": str(log),
        "PYTHONPATH": os.pathsep.join((str(folder / "hook"), str(ROOT))),
        "TMPDIR": str(folder / "tmp"),
    }
    began = time.monotonic()
    with fake.server, console(folder / "console", **environment) as server:  # type: ignore[arg-type]
        with visit(browser, server.url) as tab:
            tab.page.add_init_script(WATCH)
            tab.page.set_default_timeout(PATIENCE)
            round_ = Round(server, tab, inputs, folder)
            tab.page.on("dialog", round_.dialog)
            for kind, count in wanted.items():
                if kind == "runs" and not any(run.state == "done" for run in Runs(server.runs).list()):
                    round_.lines(100)
                getattr(round_, kind)(count)
                print(f"{round_.sent[kind]:,} {kind} after {time.monotonic() - began:,.0f} s", flush=True)
        time.sleep(FORGOTTEN + TIDIED)
        left = [path.name for path in (folder / "tmp").iterdir() if not path.name.startswith(OWN)]
        round_.found.update(f"left in the temporary folder: {name}" for name in left)
    left = [path.name for path in (folder / "tmp").iterdir() if not path.name.startswith("hsperfdata_")]
    round_.found.update(f"left after the end: {name}" for name in left)
    round_.found.update(f"opened or dialled: {line}" for line in strange(log, folder))
    round_.found.update(f"connected to the address out of an ID: {peer}" for peer in came)
    print(f"{sum(round_.sent.values()):,} inputs: {dict(round_.sent)}; {time.monotonic() - began:,.0f} s")
    print(f"{len(log.read_bytes().splitlines()):,} places and addresses noted by the processes of the console")
    for problem, times in round_.found.items():
        print(f"{times} times: {problem[:1_000]}")
    print(f"{len(round_.found)} different findings")
    return len(round_.found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT, help="inputs of all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(SHARES), help="one kind alone")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, listener() as (port, came), sync_playwright() as playwright:
        sys.exit(1 if whole(Path(name).resolve(), asked, port, came, launch(playwright)) else 0)


if __name__ == "__main__":
    main()
