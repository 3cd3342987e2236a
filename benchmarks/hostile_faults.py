"""Faults from outside, in a real console: after each it answers, other scans are whole, the damaged one says so.

python -m benchmarks.hostile_faults                     some ten minutes, as root (it mounts disks)
python -m benchmarks.hostile_faults --only killed_java  one fault; exit status 1 if one check fails

Each fault has a console and disks of its own. A scan is finished before it; its summary and findings must be the same
after it. Then no process of the console is left, nothing is in its temporary folder, and its log has no stack.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil

from tests.browser.harness import ROOT, Console, console
from tests.browser.samples import log
from tests.spark.mounts import mounted

from .api import post

LINE = b"msgId=0A42333A0DC818B4AAC246C290FD0000, offsetMsgId=0A42333A00002A9F000000000134F1F5\n"
LARGE = 400 << 20  # bytes of a log whose scan takes some seconds
LONG = 2_000_000_000  # bytes of one line
MANY = 10_000  # files
DISK = 24 << 20
AT_WORK = ("new", "queued", "running")
PATIENCE = 300.0  # seconds: a loaded machine is slow, not wrong


@dataclass
class Place:
    """The folders of one fault, and what was found wrong."""

    folder: Path
    wrong: list[str]

    def note(self, what: str) -> None:
        print(f"  FOUND: {what[:1_000]}", flush=True)
        self.wrong.append(what)

    @contextmanager
    def console(self, name: str, **more: str) -> Iterator[Console]:
        """A console whose inputs, scans and temporary files are here; at its end nothing of it is left."""
        temporary = self.folder / f"{name}-tmp"
        temporary.mkdir(exist_ok=True)
        settings = {
            "IDCORE_ALLOWED_PATHS": str(self.folder / "logs"),
            "IDCORE_RUNS": str(self.folder / "runs"),
            "IDCORE_FREE_DISK": "1",
            "TMPDIR": str(temporary),
        }
        with console(self.folder / name, **settings | more) as server:  # type: ignore[arg-type]
            until(lambda: answers(server), "the console answers")
            yield server
            said = server.said()
            if "Traceback" in said:
                self.note(f"a stack in the log: {said[said.index('Traceback') :]}")
        if left := [path.name for path in temporary.iterdir()]:
            self.note(f"left in the temporary folder of {name}: {left}")

    def finished(self, server: Console) -> tuple[str, Any]:
        """A scan that is done before the fault, and what it says."""
        scan = ended(server, post(server.url, "start_scan", text=log(200), zone="+08:00"))
        if scan["state"] != "done":
            raise SystemExit(f"no scan before the fault: {scan}")
        return str(scan["run"]), shown(server, str(scan["run"]))

    def whole(self, server: Console, before: tuple[str, Any]) -> None:
        """The console answers, decodes, and shows the scan of before as it was."""
        if not answers(server):
            self.note("the console does not answer")
        elif (now := shown(server, before[0])) != before[1]:
            self.note(f"the finished scan is another: {now} {before[1]}")

    def failed(self, server: Console, scan: dict[str, Any], *codes: str) -> None:
        """The scan has failed, and says why in a sentence."""
        found = ended(server, scan)
        said = str(found.get("problem") or found.get("error") or "")
        print(f"  {found['state']}: {said[:200] or found}", flush=True)
        if found["state"] != "failed" or (codes and not any(code in str(found) for code in codes)):
            self.note(f"the scan should have failed with {codes}: {found}")

    def works(self, server: Console) -> None:
        """Another scan is done."""
        found = ended(server, post(server.url, "start_scan", text=log(100), zone="+08:00"))
        if found["state"] != "done":
            self.note(f"the next scan is not done: {found}")

    def large(self) -> Path:
        """A log whose scan takes some seconds."""
        path = self.folder / "logs" / "large.log"
        with path.open("wb") as file:
            for _ in range(LARGE // (len(LINE) << 14)):
                file.write(LINE * (1 << 14))
        return path

    def begun(self, server: Console) -> dict[str, Any]:
        """A scan that reads its input."""
        scan = post(server.url, "start_scan", path=str(self.large()), zone="+08:00")
        until(lambda: post(server.url, "scan", run=scan["run"])["state"] == "running", "the scan begins")
        time.sleep(0.5)
        return scan


def answers(server: Console) -> bool:
    """Whether it decodes, and says how it is."""
    try:
        with urlopen(f"{server.url}/_idcore/health", timeout=30) as answer:
            return answer.status == 200 and bool(post(server.url, "decode", text=LINE[6:38].decode()))
    except OSError:
        return False


def until(true: Callable[[], bool], what: str) -> None:
    """Waits for it."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit(f"not within {PATIENCE:.0f} s: {what}")
        time.sleep(0.1)


def ended(server: Console, scan: dict[str, Any]) -> dict[str, Any]:
    """A scan when it is no longer at work."""
    deadline = time.monotonic() + PATIENCE
    while scan["state"] in AT_WORK and time.monotonic() < deadline:
        scan = post(server.url, "scan", run=scan["run"], wait=10)
    return scan


def shown(server: Console, run: str) -> Any:
    """What a scan says of itself, and its first finding."""
    try:
        said = post(server.url, "scan", run=run)
    except HTTPError as problem:
        return str(problem)
    try:
        return said, post(server.url, "findings", run=run)
    except IndexError:  # a comparison has none
        return said, None


def below(server: Console, word: str) -> list[psutil.Process]:
    """Its processes whose command has a word."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    return [each for each in children if word in " ".join(each.cmdline())]


# ---- the faults


def full_disk(place: Place) -> None:
    """The disk of the scans becomes full in mid-scan, and empty again."""
    with mounted(place.folder / "runs", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs"), place.console("desk") as server:
        before = place.finished(server)
        scan = place.begun(server)
        filler = place.folder / "runs" / "filler"
        try:
            filler.write_bytes(bytes(DISK))
        except OSError as problem:
            print(f"  {problem}", flush=True)
        place.failed(server, scan, "disk", "space")
        place.whole(server, before)
        filler.unlink()
        place.works(server)
        place.whole(server, before)


def read_only(place: Place) -> None:
    """The folder of the scans becomes read-only in mid-scan, and comes back."""
    disk = place.folder / "runs"
    with mounted(disk, "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs"), place.console("desk") as server:
        before = place.finished(server)
        scan = place.begun(server)
        with mounted(disk, "--bind", "-o", "ro", str(disk)):
            place.failed(server, scan)
            place.whole(server, before)
        place.works(server)
        place.whole(server, before)


def killed_java(place: Place) -> None:
    """Java is killed in mid-scan."""
    _killed(place, "java")


def killed_workers(place: Place) -> None:
    """The workers, and what they are forked from, are killed in mid-scan."""
    _killed(place, "idcore.spark.start.daemon")


def _killed(place: Place, word: str) -> None:
    with place.console("desk") as server:
        before, scan = place.finished(server), place.begun(server)
        for process in below(server, word):
            process.kill()
        place.failed(server, scan)
        place.whole(server, before)
        place.works(server)


def killed_server(place: Place) -> None:
    """Of two consoles on one folder one is killed in mid-scan: the other says so; the next removes what was left."""
    with place.console("other") as other:
        before = place.finished(other)
        with place.console("desk") as server:
            place.whole(server, before)
            scan = place.begun(server)
            children = psutil.Process(server.process.pid).children(recursive=True)
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
            until(lambda: not any(each.is_running() for each in children), "what the killed console began has ended")
            left = list((place.folder / "desk-tmp").iterdir())
            print(f"  left by the kill: {[path.name for path in left]}", flush=True)
            place.failed(other, scan)
            place.whole(other, before)
            with place.console("next", TMPDIR=str(place.folder / "desk-tmp")) as following:
                place.works(following)
                place.whole(following, before)
                if any(path.exists() for path in left):
                    place.note("the next console has left what the killed one left")


def old_run(place: Place) -> None:
    """Scans of the first version are in the folder."""
    with tarfile.open(ROOT / "tests/vectors/old/scans-0.1.tar.gz") as packed:
        packed.extractall(place.folder, filter="data")
    with place.console("desk") as server:
        before = place.finished(server)
        names = [run.parent.name for run in (place.folder / "runs").glob("*/run.json")]
        for name in names:
            if isinstance(said := shown(server, name), str):
                place.note(f"the old scan {name} is not shown: {said}")
        print(f"  {len(names)} scans", flush=True)
        place.whole(server, before)


def many_files(place: Place) -> None:
    """Ten thousand files of one line."""
    inside = place.folder / "logs" / "many"
    inside.mkdir()
    for number in range(MANY):
        (inside / f"{number}.log").write_bytes(LINE)
    with place.console("desk") as server:
        before = place.finished(server)
        begun = time.monotonic()
        found = ended(server, post(server.url, "start_scan", path=str(inside), zone="+08:00"))
        print(f"  {found['state']} in {time.monotonic() - begun:.1f} s", flush=True)
        if found["state"] != "done" or f"{2 * MANY:,}" not in str(found).replace(f"{2 * MANY}", f"{2 * MANY:,}"):
            place.note(f"not all files were read: {found}")
        place.whole(server, before)


def long_line(place: Place) -> None:
    """One line of two gigabytes, with an ID at each end."""
    path = place.folder / "logs" / "line.log"
    with path.open("wb") as file:
        file.write(LINE.rstrip())
        for _ in range(LONG >> 24):
            file.write(b" deep in a line " * (1 << 20))
        file.write(LINE)
    with place.console("desk") as server:
        before = place.finished(server)
        begun = time.monotonic()
        scan = post(server.url, "start_scan", path=str(path), zone="+08:00")
        most = 0
        while scan["state"] in AT_WORK and time.monotonic() - begun < PATIENCE:
            scan = post(server.url, "scan", run=scan["run"], wait=1)
            held = [each.memory_info().rss for each in below(server, "daemon") if each.is_running()]
            most = max(most, *held, 0)
        print(f"  {scan['state']} in {time.monotonic() - begun:.1f} s; a worker held {most >> 20:,} MiB", flush=True)
        if scan["state"] != "done" or most > 1 << 30:
            place.note(f"the line was too long: {scan}, {most >> 20:,} MiB")
        place.whole(server, before)
    path.unlink()


FAULTS = {
    each.__name__: each
    for each in (full_disk, read_only, killed_java, killed_workers, killed_server, old_run, many_files, long_line)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=FAULTS, help="one fault alone")
    asked = parser.parse_args()
    wrong: list[str] = []
    for name, fault in FAULTS.items():
        if asked.only in (None, name):
            print(f"{name}: {fault.__doc__}", flush=True)
            with tempfile.TemporaryDirectory() as folder:
                place = Place(Path(folder).resolve(), wrong)
                for inside in ("logs", "runs"):
                    (place.folder / inside).mkdir()
                fault(place)
    print(f"{len(wrong)} findings")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
