"""Ten visitors at once: each pastes 1,000 lines; how long each waits for its table, and what the server keeps of them.

python -m benchmarks.tabs                       ten tabs, three rounds: some ten minutes

Each tab is a web socket that says what a browser says, so that the browser's own work is not measured: the first look,
the click with the text of the box, and every look at the running scan. Memory is that of the server process.
Spark is not in it. It is compared with what the server has when one such visitor came and is forgotten: what is loaded
once is there by then.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

from idcore.base import catalogue
from tests.browser.harness import console
from tests.browser.samples import log

LINES, MIB = 1_000, 1 << 20
BOX = catalogue.words("en")("decode.box")
FORGOTTEN = 125  # seconds after which Streamlit forgets a visitor who left
TIDIED = 15  # seconds after which the console has given back what it freed
SCANNED = 600.0  # seconds that a scan may take, where others work on the same machine


@dataclass
class Tab:
    """One visitor: the web socket, the widgets by label, what they hold, and the fragments to be looked at again."""

    socket: ClientConnection
    page: str = "decode"
    widgets: dict[str, str] = field(default_factory=dict)
    table: bool = False
    charts: int = 0
    states: list[WidgetState] = field(default_factory=list)
    query: str = ""
    script: str = ""
    idle: bool = False
    looks: dict[str, tuple[float, float]] = field(default_factory=dict)  # by fragment: when next, every so many seconds

    def open(self) -> None:
        """The page, until its script has ended."""
        self.run()
        self.until(lambda: self.idle)

    def run(self, trigger: str = "", fragment: str = "") -> None:
        """Asks the server to run the page, or one fragment of it."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.page_script_hash = self.script
        message.rerun_script.query_string = self.query
        message.rerun_script.fragment_id = fragment
        message.rerun_script.context_info.locale = "en-US"
        message.rerun_script.context_info.timezone = "Asia/Shanghai"
        message.rerun_script.widget_states.widgets.extend(self.states)
        if trigger:
            message.rerun_script.widget_states.widgets.add(id=trigger, trigger_value=True)
        self.socket.send(message.SerializeToString())

    def paste(self, text: str) -> float:
        """The click; gives the seconds until the table is there."""
        return self.press("Decode", WidgetState(id=self.widgets[BOX], string_value=text))

    def press(self, button: str, *states: WidgetState) -> float:
        """A click with these widgets filled in; gives the seconds until a table is there."""
        self.states, self.table = list(states), False
        begun = time.perf_counter()
        self.run(self.widgets[button])
        self.until(lambda: self.table)
        return time.perf_counter() - begun

    def until(self, done: Callable[[], bool], seconds: float = SCANNED) -> None:
        """Takes in what the server sends, and looks at a running scan again as often as the page asks for."""
        end = time.perf_counter() + seconds
        while not done():
            now = time.perf_counter()
            assert now < end, "the server did not answer"
            for fragment, (due, interval) in list(self.looks.items()):
                if now >= due:
                    self.looks[fragment] = (now + interval, interval)
                    self.run(fragment=fragment)
            try:
                self.receive(self.socket.recv(timeout=0.05))  # type: ignore[arg-type]
            except TimeoutError:
                continue

    def receive(self, message: bytes) -> None:
        """One message as it came."""
        self.take(ForwardMsg.FromString(message))

    def take(self, message: ForwardMsg) -> None:
        """One message of the server."""
        kind = message.WhichOneof("type")
        if kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            interval = message.auto_rerun.interval
            self.looks[message.auto_rerun.fragment_id] = (time.perf_counter() + interval, interval)
        elif kind == "new_session" and not message.metadata.run.fragment_ids:
            self.looks, self.idle = {}, False
        elif kind == "navigation":
            self.script = message.navigation.page_script_hash
        elif kind == "script_finished":
            self.idle = True
        elif kind == "delta" and message.delta.HasField("new_element"):
            element = message.delta.new_element
            what = element.WhichOneof("type")
            if what in ("text_area", "text_input", "button", "file_uploader"):
                widget = getattr(element, what)
                if not widget.id.endswith("decode-typed"):  # out of sight, with the label of the button in sight
                    self.widgets[widget.label] = widget.id
            elif element.HasField("html"):
                self.table = self.table or 'class="mq-table"' in element.html.body
            elif element.HasField("plotly_chart"):
                self.charts += 1


Visitor = TypeVar("Visitor", bound=Tab)


def stream(url: str) -> AbstractContextManager[ClientConnection]:
    """The web socket that a page of the console has."""
    return connect(f"ws{url[4:]}/_stcore/stream", subprotocols=["streamlit"], max_size=None, ping_interval=None)  # type: ignore[list-item]


def together(tabs: Sequence[Visitor], work: Callable[[int, Visitor], None]) -> None:
    """All tabs do the same at the same moment."""
    ready, problems = threading.Barrier(len(tabs)), []

    def one(number: int, tab: Visitor) -> None:
        try:
            ready.wait()
            work(number, tab)
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            problems.append(error)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(tabs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def visit(url: str, count: int, first: int, watched: Callable[[], None]) -> tuple[list[float], float]:
    """So many visitors come, paste, wait for their charts and leave; seconds to each table, and to the last chart."""
    seconds = [0.0] * count

    def paste(number: int, tab: Tab) -> None:
        seconds[number] = tab.paste(log(LINES, first=first + number * 1_300))

    with ExitStack() as stack:
        tabs = [Tab(stack.enter_context(stream(url))) for _ in range(count)]
        together(tabs, lambda _, tab: tab.open())
        begun = time.perf_counter()
        together(tabs, paste)
        watched()
        together(tabs, lambda _, tab: tab.until(lambda: tab.charts >= 3))
        watched()
        return seconds, time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tabs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, console(Path(folder)) as server:
        process = psutil.Process(server.process.pid)
        peak = 0

        def watched() -> None:
            nonlocal peak
            peak = max(peak, process.memory_info().rss)

        fresh = process.memory_info().rss
        visit(server.url, 1, 90_000, watched)  # until Spark is up and the code of the pages is loaded
        time.sleep(FORGOTTEN + TIDIED)
        before = process.memory_info().rss
        for number in range(asked.rounds):
            peak = 0
            seconds, charts = visit(server.url, asked.tabs, number * 20_000, watched)
            time.sleep(FORGOTTEN + TIDIED)
            after = process.memory_info().rss
            rows.append((statistics.median(seconds), max(seconds), charts, before, peak, after))
    print(f"Server started: {fresh // MIB} MiB; after one visitor: {before // MIB} MiB.\n")
    print("| round | table, median s | table, slowest s | last chart, s | before, MiB | peak, MiB | after, MiB |")
    print("|---|---|---|---|---|---|---|")
    for number, (median, slowest, charts, start, most, end) in enumerate(rows, 1):
        print(
            f"| {number} | {median:.2f} | {slowest:.2f} | {charts:.1f} "
            f"| {start // MIB} | {most // MIB} | {end // MIB} ({end / start - 1:+.0%}) |"
        )


if __name__ == "__main__":
    main()
