"""From a line written to its ID in the tables, and on an open page; the rate that is kept up with; a day; kills.

    python -m benchmarks.follow                     10,000 lines a second for a minute, then twice as many, and so on
    python -m benchmarks.follow --page              the same with a page of the console open in Chromium, at one rate
    python -m benchmarks.follow --before 7000000    either of them after so many lines: nearly all that are kept
    python -m benchmarks.follow --day               864 million lines, as fast as they are taken: refreshes, memory
    python -m benchmarks.follow --day --master URL  the same on a Spark cluster, whose workers read the same folders
    python -m benchmarks.follow --kills 20          driver, Java or a worker killed at random moments; equal to a scan?

A line waits for the batch that reads it, for the refresh that counts it, and on a page for the look that shows it. The
writer, Spark and the driver share the cores.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.make_log import LINE, ROOT, cached_log
from tests.browser.harness import console, launch, visit

AT = ["--zone", "UTC", "--at", "2026-11-20T12:00:00Z"]
STEP = 0.05  # seconds between two writes
PIECE = 1_000_000  # lines of one file
DAY = 20_000_000  # lines until the IDs of a day come again, which is more than KEPT
KEPT_UP = 5.0  # seconds that a line may wait at the most, where the rate is kept up with


class Writer(threading.Thread):
    """Writes lines of a log at a rate, and knows when each byte was written."""

    def __init__(self, source: Path, log: Path, rate: int, seconds: float, before: int = 0) -> None:
        super().__init__(daemon=True)
        self.source, self.log, self.rate, self.seconds, self.before = source, log, rate, seconds, before
        self.written: list[tuple[float, int]] = []

    def run(self) -> None:
        size, begun, total = len(LINE), time.monotonic(), self.log.stat().st_size if self.log.exists() else 0
        with self.source.open("rb") as source, self.log.open("ab", buffering=0) as log:
            sent = 0
            source.seek(self.before * size)
            while (now := time.monotonic()) < begun + self.seconds:
                due = int((now - begun) * self.rate) - sent
                piece = source.read(due * size)
                if len(piece) < due * size:
                    source.seek(0)
                    piece += source.read(due * size - len(piece))
                log.write(piece)
                sent, total = sent + due, total + len(piece)
                self.written.append((time.monotonic(), total))
                time.sleep(STEP)


@contextmanager
def following(folder: Path, out: Path, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """`follow` as a process of its own, its lines on standard output."""
    command = [sys.executable, "-m", "idcore", "follow", str(folder), "--out", str(out), *AT, *more]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def waits(written: list[tuple[float, int]], seen: list[tuple[float, int]]) -> list[float]:
    """For each write the seconds until as many bytes were counted."""
    found, place = [], 0
    for at, total in written:
        while place < len(seen) and seen[place][1] < total:
            place += 1
        if place == len(seen):
            break
        found.append(seen[place][0] - at)
    return found


def spread(name: str, seconds: list[float], more: str = "") -> str:
    ordered = sorted(seconds)
    late = ordered[int(0.99 * (len(ordered) - 1))]
    return f"| {name} | {statistics.median(ordered):.2f} | {late:.2f} | {ordered[-1]:.2f} | {more} |"


def logs_of(source: Path, folder: Path, before: int) -> int:
    """A folder with files of so many lines, as rotation leaves them, and one that grows. Returns their bytes."""
    folder.mkdir()
    total = 0
    with source.open("rb") as log:
        for number in range(before // PIECE):
            text = b"file %d\n" % number + log.read(PIECE * len(LINE))  # no file is a copy of another
            total += (folder / f"{number}.log").write_bytes(text)
        return total + (folder / "app.log").write_bytes(log.read(len(LINE) * 100))


def rates(source: Path, seconds: float, first: int, before: int) -> None:
    """Doubles the rate until lines wait longer and longer."""
    print("| lines a second | median, s | 99 %, s | longest, s | refresh, s |\n|---|---|---|---|---|")
    rate = first
    while True:
        with tempfile.TemporaryDirectory() as name:
            folder, out = Path(name) / "logs", Path(name) / "out"
            there = logs_of(source, folder, before)
            with following(folder, out) as process:
                assert process.stdout is not None
                seen, refreshes = [], []
                writer = Writer(source, folder / "app.log", rate, seconds, before + 100)
                for line in process.stdout:
                    row = json.loads(line)
                    seen.append((time.monotonic(), row["text_bytes"] - there + len(LINE) * 100))
                    if not writer.written and row["text_bytes"] == there:
                        writer.start()
                    elif writer.written:
                        refreshes.append(row["seconds"])
                    if writer.written and not writer.is_alive():
                        last = writer.written[-1]
                        if seen[-1][1] >= last[1] or time.monotonic() - last[0] > 60:
                            break
            found = waits(writer.written, seen)
            print(spread(f"{rate:,}", found, f"{statistics.median(refreshes):.2f}"), flush=True)
            if len(found) < len(writer.written) or max(found) > KEPT_UP:
                return
        rate *= 2


def page(source: Path, seconds: float, rate: int, before: int) -> None:
    """The same as a visitor sees it: the number of occurrences above a page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "logs"
        logs_of(source, folder, before)
        from playwright.sync_api import sync_playwright

        with (
            console(Path(name) / "console", IDCORE_ALLOWED_PATHS=str(folder)) as running,
            sync_playwright() as playwright,
            visit(launch(playwright), running.url) as tab,
        ):
            tab.page.goto(f"{running.url}/runs")
            tab.page.get_by_role("textbox", name="File or folder on the server").fill(str(folder))
            tab.page.get_by_role("button", name="Follow", exact=True).click()
            tab.page.get_by_role("link", name="Open", exact=True).first.click(timeout=120_000)
            facts = tab.page.locator(".mq-live")
            facts.wait_for(timeout=60_000)

            def lines_on_page() -> int:
                told = re.search(r"([\d,]+) ID occurrences", facts.inner_text())
                return int(told[1].replace(",", "")) // 2 if told is not None else 0

            while lines_on_page() < before + 100:
                time.sleep(0.5)
            writer = Writer(source, folder / "app.log", rate, seconds, before + 100)
            seen = list[tuple[float, int]]()
            writer.start()
            while writer.is_alive() or not seen or (seen[-1][1] < writer.written[-1][1] and len(seen) < 100_000):
                seen.append((time.monotonic(), (lines_on_page() - before) * len(LINE)))
                time.sleep(0.05)
            heap = tab.page.evaluate("() => performance.memory.usedJSHeapSize") >> 20
    print("| on an open page, lines a second | median, s | 99 %, s | longest, s | memory of the tab, MB |")
    print("|---|---|---|---|---|")
    print(spread(f"{rate:,}", waits(writer.written, seen), f"{heap}"))


def day(source: Path, lines: int, seconds: float, *more: str) -> None:
    """So many lines as fast as they are taken: files are made, read and deleted, as a rotation does.

    Their IDs come again only after all that are kept have gone. It ends early after so many seconds.
    """
    with tempfile.TemporaryDirectory(dir=ROOT / ".cache") as name, source.open("rb") as log:
        folder, out = Path(name) / "logs", Path(name) / "out"
        folder.mkdir()
        each, size = PIECE, PIECE * len(LINE)
        (folder / "0.log").write_bytes(b"file 0\n" + log.read(size))  # no file is a copy of another
        with following(folder, out, *more) as process:
            assert process.stdout is not None
            total, made, begun = 0, 1, time.monotonic()
            refreshes, memory = [], []
            for line in process.stdout:
                row = json.loads(line)
                refreshes.append(row["seconds"])
                memory.append(_resident(process.pid))
                if row["behind"] == 0 and row["text_bytes"]:
                    total = made * each
                    if total >= lines or time.monotonic() > begun + seconds:
                        break
                    (folder / f"{made - 2}.log").unlink(missing_ok=True)  # of the last one a batch may be on its way
                    log.seek(made * size % source.stat().st_size)
                    (folder / f"{made}.log").write_bytes(b"file %d\n" % made + log.read(size))
                    made += 1
            state = sum(path.stat().st_size for path in (out / ".follow").rglob("*") if path.is_file())
    print("| lines | GB | lines a second | refresh: median, s | longest, s | driver, MB: first | last | state, MB |")
    print("|---|---|---|---|---|---|---|---|")
    took = time.monotonic() - begun
    figures = (
        f"{made * size / 1e9:.0f} | {total / took:,.0f} | {statistics.median(refreshes):.2f} | {max(refreshes):.2f}"
    )
    middle = len(memory) // 4
    print(f"| {total:,} | {figures} | {max(memory[: middle + 1])} | {max(memory[-middle - 1 :])} | {state >> 20} |")


def _resident(pid: int) -> int:
    """MB of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def kills(source: Path, count: int) -> None:
    """Kills at random moments while a log is written and rotated; then the tables are compared with those of a scan."""
    chance, lines = random.Random(count), source.read_bytes().splitlines(keepends=True)[:100_000]
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name) / "logs", Path(name) / "out"
        folder.mkdir()
        log, at, done, rotations = folder / "app.log", 0, dict.fromkeys(("driver", "java", "worker"), 0), 0
        while sum(done.values()) < count:
            with following(folder, out) as process:
                assert process.stdout is not None
                next_kill = time.monotonic() + chance.uniform(2, 25)
                while process.poll() is None and sum(done.values()) < count:
                    with log.open("ab") as file:
                        file.writelines(lines[at : at + chance.randrange(1, 300)])
                    at = (at + 300) % len(lines)
                    if chance.random() < 0.01:
                        rotations += 1
                        _rotate(log, chance.random() < 0.5)
                    if time.monotonic() > next_kill:
                        done[_kill(process, chance)] += 1
                        next_kill = time.monotonic() + chance.uniform(2, 25)
                    time.sleep(0.1)
        with following(folder, out) as process:
            assert process.stdout is not None
            whole = sum(path.stat().st_size for path in folder.iterdir())
            for line in process.stdout:
                if json.loads(line)["text_bytes"] >= whole:
                    break
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)
        scan = [sys.executable, "-m", "idcore", "scan", str(folder), "--out", f"{name}/scan", *AT]
        subprocess.run(scan, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        names = [path.name for path in Path(name, "scan").iterdir() if path.is_dir()]
        differ = [one for one in names if not pq.read_table(out / one).equals(pq.read_table(Path(name, "scan", one)))]
    print(f"killed: {done}; rotations: {rotations}; {whole / 1e6:.0f} MB; tables unlike a scan's: {differ or 'none'}")


def _rotate(log: Path, by_renaming: bool) -> None:
    for age in range(99, 0, -1):
        older = log.with_name(f"{log.name}.{age}")
        if older.exists():
            older.rename(log.with_name(f"{log.name}.{age + 1}"))
    if by_renaming:
        log.rename(log.with_name(f"{log.name}.1"))
    else:
        shutil.copy(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)


def _kill(process: subprocess.Popen[bytes], chance: random.Random) -> str:
    """Kills the driver, its Java or one of its workers."""
    what = chance.choice(["driver", "java", "worker"])
    rows = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    below = {process.pid}
    parsed = [line.split(None, 2) for line in rows.splitlines()]
    for _ in range(5):
        below |= {int(own) for own, above, _ in parsed if int(above) in below}
    word = {"java": "java", "worker": "daemon"}.get(what)
    found = [int(own) for own, _, args in parsed if int(own) in below and word and word in args.split()[0] + args]
    found = [pid for pid in found if pid != process.pid]
    if word is None or not found:
        process.kill()
        process.wait()
        return "driver"
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return what
    return what


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60, help="of a day: the most that it takes")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--before", type=int, default=0, help="lines that are there at first, in files of a million")
    parser.add_argument("--day", action="store_true")
    parser.add_argument("--master", help="of a day: Spark master (default: this machine)")
    parser.add_argument("--lines", type=int, default=864_000_000)
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    source = cached_log(DAY if options.before else PIECE)
    before = options.before // PIECE * PIECE
    if options.kills:
        kills(source, options.kills)
    elif options.day:
        where = ("--master", options.master) if options.master else ()
        day(cached_log(DAY), options.lines, options.seconds, *where)
    elif options.page:
        page(source, options.seconds, options.rate, before)
    else:
        rates(source, options.seconds, options.rate, before)


if __name__ == "__main__":
    main()
