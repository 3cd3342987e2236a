"""A whole desk at once: 30 people paste, two of them also upload 50 MB, one scans 1 GB; what each of them waits for.

python -m benchmarks.desk                       one round: some five minutes
python -m benchmarks.desk --minutes 60 --delete rounds for an hour: what memory and disk do
python -m benchmarks.desk --minutes 4 --kept 300M   what is kept has a limit: how many scans are refused

Everybody is a web socket that says what a browser says. Each has hosts of its own, so an answer with the hosts of
another is found at once: then the command fails. Somebody else opens a light page again and again meanwhile. Memory is
that of the server, of the JVM and of all processes; it is compared with what one visitor left behind. The disk is the
folder of the scans, and a temporary folder that nobody else uses. With --delete somebody selects and deletes all scans
on the page Scans after each round, so that an hour shows whether anything else stays.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState, FileURLs, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from idcore.base import catalogue
from tests.browser.harness import Console, console
from tests.browser.samples import log

from .make_log import cached_log
from .tabs import FORGOTTEN, LINES, MIB, SCANNED, TIDIED, Tab, stream, together

WORDS = catalogue.words("en")
PEOPLE, UPLOADING, SCANNING = 30, 2, 1
UPLOAD = 50_000_000  # bytes
LIGHT, SCANS = "anatomy", "runs"
REFUSED = WORDS("error.limit_kept").partition("{held}")[2].partition("{most}")[0]  # what every such sentence has
OWN = re.compile(rb"\b10\.(1\d\d)\.0\.\d")  # a host of a visitor's text, as a table shows it
PERSON = 100  # the second byte of the hosts of the first visitor


@dataclass
class Person(Tab):
    """A visitor with hosts of its own, who also uploads and scans, and who finds the hosts of others."""

    url: str = ""
    number: int = 0
    round: int = 0
    session: str = ""
    offered: FileURLs | None = None
    scanned: bool = False
    refused: bool = False
    strangers: set[int] = field(default_factory=set)
    boxes: list[str] = field(default_factory=list)

    def lines(self, count: int) -> str:
        """Log lines of this visitor's own hosts; those of another round are others, or their scan would be the same."""
        return log(count, first=self.round * count).replace("msgId=0A2A00", f"msgId=0A{PERSON + self.number:02X}00")

    def receive(self, message: bytes) -> None:
        """One message of the server; whatever it is, no host of another may be in it."""
        self.strangers |= {int(host) for host in OWN.findall(message)} - {PERSON + self.number}
        super().receive(message)

    def take(self, message: ForwardMsg) -> None:
        """What uploads and scans wait for, and what every visitor takes in."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
        elif kind == "file_urls_response":
            self.offered = message.file_urls_response.file_urls[0]
        elif kind == "delta" and message.delta.new_element.HasField("markdown"):
            self.scanned = self.scanned or "has been scanned" in message.delta.new_element.markdown.body
        elif kind == "delta" and message.delta.new_element.HasField("checkbox"):
            self.boxes.append(message.delta.new_element.checkbox.id)
        elif kind == "delta" and message.delta.new_element.HasField("alert"):
            alert = message.delta.new_element.alert
            self.refused = self.refused or REFUSED in alert.body
            assert REFUSED in alert.body or alert.format != alert.ERROR, f"a page says: {alert.body}"
        super().take(message)

    def upload(self, text: bytes) -> float:
        """Sends a file and decodes it; gives the seconds from the first byte until the table is there."""
        message = BackMsg()
        message.file_urls_request.request_id = uuid.uuid4().hex
        message.file_urls_request.file_names.append("desk.log")
        message.file_urls_request.session_id = self.session
        begun = time.perf_counter()
        self.socket.send(message.SerializeToString())
        self.until(lambda: self.offered is not None)
        assert self.offered is not None
        put(self.url, self.offered.upload_url, text)
        info = UploadedFileInfo(name="desk.log", size=len(text), file_id=self.offered.file_id, file_urls=self.offered)
        state = FileUploaderState(uploaded_file_info=[info])
        box = WidgetState(id=self.widgets[WORDS("decode.upload")], file_uploader_state_value=state)
        self.press(WORDS("decode.button"), box)
        return time.perf_counter() - begun

    def scan(self, path: Path) -> float:
        """Scans a file of the server; gives the seconds from the click until it says that it is scanned."""
        begun = time.perf_counter()
        self.click(self.folder_button, WidgetState(id=self.widgets[WORDS("runs.folder")], string_value=str(path)))
        for offer in ("runs.scan_now", "runs.scan_again"):  # a large file, and one that was scanned before
            if WORDS(offer) in self.widgets:
                self.run(self.widgets[WORDS(offer)])
        self.until(lambda: self.scanned or self.refused)
        return time.perf_counter() - begun

    def delete_all(self) -> None:
        """Selects all scans on the page Scans and deletes them."""
        self.open()
        first = next((box for box in self.boxes if "pick-" in box), None)
        if first is None:
            return
        self.click("", WidgetState(id=first, bool_value=True))
        whole = WORDS("runs.select_all").partition("{")[0]
        for more in [widget for label, widget in self.widgets.items() if label.startswith(whole)]:
            self.click(more)
        self.click(next(widget for widget in self.widgets.values() if widget.endswith("delete-picked")))

    def click(self, button: str, *states: WidgetState) -> None:
        """A click, until the page has followed."""
        self.states, self.idle = list(states), False
        self.run(button)
        self.until(lambda: self.idle)

    @property
    def folder_button(self) -> str:
        """Two buttons of the page are called Scan: the one of the folder is the later one."""
        return self.widgets[WORDS("runs.scan")]


def put(url: str, place: str, body: bytes) -> None:
    """A file as a browser sends it: one part of a form, with the server's own token."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    answer.read()
    connection.close()  # on a busy machine the server may have ended it before the file follows
    cookie = (answer.headers.get("Set-Cookie") or "").partition(";")[0]
    line = uuid.uuid4().hex
    head = f'--{line}\r\nContent-Disposition: form-data; name="desk.log"; filename="desk.log"\r\n\r\n'
    headers = {"Content-Type": f"multipart/form-data; boundary={line}", "Cookie": cookie}
    headers["X-Xsrftoken"] = cookie.partition("=")[2]
    connection.request("PUT", place, head.encode() + body + f"\r\n--{line}--\r\n".encode(), headers)
    answer = connection.getresponse()
    assert answer.status in (200, 204), f"the upload was answered with {answer.status}: {answer.read()[:200]!r}"
    connection.close()


class Light:
    """Opens a light page again and again, each time as a new visitor, until it is told to stop."""

    def __init__(self, url: str) -> None:
        self.url, self.seconds, self.over = url, list[float](), threading.Event()
        self.problem: BaseException | None = None
        self.thread = threading.Thread(target=self.look)

    def look(self) -> None:
        while not self.over.wait(0.5):
            begun = time.perf_counter()
            try:
                with stream(self.url) as socket:
                    Tab(socket, page=LIGHT).open()
            except BaseException as error:  # noqa: BLE001  # reported by the main thread
                error.add_note(f"after {len(self.seconds)} visits: {self.seconds[-5:]}")
                self.problem = error
                return
            self.seconds.append(time.perf_counter() - begun)

    def __enter__(self) -> Light:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        if self.problem:
            raise self.problem


@dataclass
class Round:
    """What one round took, in seconds, and what it left."""

    tables: list[float]
    uploads: list[float]
    scans: list[float]
    light: list[float]
    refused: int = 0


def one_round(url: str, people: int, big: Path, watched: Callable[[], None], number: int = 0) -> Round:
    """Everybody comes, does their work at the same moment, and leaves."""
    took = Round([], [], [], [])

    def work(number: int, person: Person) -> None:
        if number < people:
            took.tables.append(person.paste(person.lines(LINES)))
            person.until(lambda: person.charts >= 3 or person.refused, 10 * SCANNED)
        elif number < people + UPLOADING:
            text = person.lines(LINES).encode()
            took.uploads.append(person.upload(text * (UPLOAD // len(text))))
        else:
            took.scans.append(person.scan(big))
        watched()

    with ExitStack() as stack:
        everybody = [
            Person(stack.enter_context(stream(url)), page="decode" if number < people + UPLOADING else SCANS)
            for number in range(people + UPLOADING + SCANNING)
        ]
        for place, person in enumerate(everybody):
            person.url, person.number, person.round = url, place, number
        together(everybody, lambda _, person: person.open())
        with Light(url) as light:
            together(everybody, work)
        took.light, took.refused = light.seconds, sum(person.refused for person in everybody)
    strangers = {person.number: person.strangers for person in everybody if person.strangers}
    assert not strangers, f"visitors saw hosts of others: {strangers}"
    return took


def sizes(server: Console) -> tuple[int, int]:
    """Bytes in memory: of the server, and of all processes that it started."""
    process = psutil.Process(server.process.pid)
    return process.memory_info().rss, sum(child.memory_info().rss for child in process.children(recursive=True))


def open_things(server: Console) -> tuple[int, int]:
    """How many files and sockets the server has open, and how many processes it has with all below them."""
    process = psutil.Process(server.process.pid)
    return process.num_fds(), 1 + len(process.children(recursive=True))


def on_disk(folder: Path) -> int:
    """Bytes of all files below a folder; one that goes meanwhile does not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(os.path.join(place, name)).st_size
    return total


def head(before: tuple[int, int], opened: tuple[int, int]) -> None:
    """The head of the table of docs/performance.md."""
    print(f"After one visitor: server {before[0] // MIB} MiB, its processes {before[1] // MIB} MiB;", end=" ")
    print(f"{opened[0]} open files, {opened[1]} processes.\n")
    columns = (
        "round",
        "table, median and slowest s",
        "upload, slowest s",
        "1 GB, s",
        "light page, median, 99 % and slowest s",
        "server, most and after, MiB",
        "processes after, MiB",
        "scans on disk, most and after, MiB",
        "temporary files after, MiB",
        "open files, processes after",
        "refused",
    )
    print(f"| {' | '.join(columns)} |")
    print("|" + "---|" * len(columns), flush=True)


@dataclass(frozen=True, slots=True)
class Left:
    """What is there after a round: bytes in memory, files and processes, bytes of scans and of temporary files."""

    memory: tuple[int, int]
    opened: tuple[int, int]
    scans: int
    temporary: int


def row(number: int, took: Round, most: int, kept: int, left: Left, before: int) -> None:
    """One round of it; sizes are bytes."""
    light = sorted(took.light)
    print(
        f"| {number} | {statistics.median(took.tables):.2f}, {max(took.tables):.2f} | {max(took.uploads):.1f} "
        f"| {max(took.scans):.1f} | {statistics.median(light):.2f}, {light[int(len(light) * 0.99)]:.2f}, "
        f"{light[-1]:.2f} ({len(light)}) | {most // MIB}, {left.memory[0] // MIB} ({left.memory[0] / before - 1:+.0%}) "
        f"| {left.memory[1] // MIB} | {kept // MIB}, {left.scans / MIB:.1f} | {left.temporary / MIB:.1f} "
        f"| {left.opened[0]}, {left.opened[1]} | {took.refused} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--minutes", type=float, default=0, help="rounds begin until so many minutes have passed")
    parser.add_argument("--kept", default="off", help="what all scans may take, as IDCORE_KEPT has it: 300M")
    parser.add_argument("--delete", action="store_true", help="after each round somebody deletes all scans")
    parser.add_argument("--lines", type=int, default=3_500_000, help="of the large log; 3,500,000 are 1 GB")
    asked = parser.parse_args()
    big = cached_log(asked.lines)
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as short_lived,
        console(
            Path(folder), IDCORE_ALLOWED_PATHS=str(big.parent), IDCORE_KEPT=asked.kept, TMPDIR=short_lived
        ) as server,
    ):
        most = 0

        def watched() -> None:
            nonlocal most
            most = max(most, sizes(server)[0])

        one_round(server.url, 1, big, watched)  # until Spark is up and the code of the pages is loaded
        time.sleep(FORGOTTEN + TIDIED)
        before = sizes(server)
        head(before, open_things(server))
        end, number = time.monotonic() + 60 * asked.minutes, 0
        while not number or time.monotonic() < end:
            most, number = 0, number + 1
            took = one_round(server.url, asked.people, big, watched, number)
            kept = on_disk(server.runs)
            if asked.delete:
                with stream(server.url) as socket:
                    Person(socket, page=SCANS).delete_all()
            time.sleep(FORGOTTEN + TIDIED)
            left = Left(sizes(server), open_things(server), on_disk(server.runs), on_disk(Path(short_lived)))
            row(number, took, most, kept, left, before[0])


if __name__ == "__main__":
    main()
