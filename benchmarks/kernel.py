"""The kernel on one core: all stages of a task (read, find, judge, group, sort, pack), next to plain loops and ripgrep.

    python -m benchmarks.kernel                     1.15 GB, 5 rounds, interleaved, medians
    python -m benchmarks.kernel --log FILE --rounds 3

`ids and lines` also reads what the lines tell: dates, copies, growth. The plain-loop twin runs the same stages with its
own finder; its facts must be equal, byte for byte. ripgrep only prints the runs of 32 hex digits, to nowhere.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import plain_kernel
from benchmarks.make_log import cached_log
from idcore.scan import facts
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files, split_files, walk

MONTHS = month_rows(datetime(2026, 11, 20, 12, tzinfo=UTC), UTC)
SPLIT = 256 << 20


def all_stages(path: Path) -> list[facts.Fact]:
    """Facts of every split, packed; a task for each, as Spark would have it."""
    splits = split_files(list_files([str(path)]), SPLIT)
    return [fact for split in splits for fact in facts.scan_task([split], MONTHS)]


def fingerprint(made: list[facts.Fact]) -> str:
    packed = hashlib.blake2b()
    for part, what, data in sorted((fact.part, fact.what, bytes(fact.data)) for fact in made):
        packed.update(f"{part} {what} {len(data)} ".encode() + data)
    return packed.hexdigest()


@contextmanager
def finder(**changed: Any) -> Iterator[None]:
    """Another finder, or another reader of lines, in the scanner for a while."""
    places = {name: facts.pairs if name == "pair_lines" else facts.find for name in changed}
    before = {name: getattr(place, name) for name, place in places.items()}
    for name, value in changed.items():
        setattr(places[name], name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(places[name], name, value)


def no_lines(*arguments: Any) -> None:
    """Instead of pair_lines: every line is forgotten."""
    found = arguments[2]
    found.state[facts.find.STATE_LINES] = 0


def seconds_of(run: Callable[..., Any], *arguments: Any) -> float:
    begun = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - begun


def reading(path: Path) -> None:
    for _, windows, _ in walk(split_files(list_files([str(path)]), SPLIT)):
        assert windows is not None
        while not windows.ended and windows.at + windows.origin < windows.stop:
            windows.at = windows.slide()


def ripgrep(path: Path) -> None:
    command = ["rg", "--no-config", "--text", "--threads=1", "--only-matching", "[0-9A-Fa-f]{32}", str(path)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="an existing log instead of a made one")
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    path = asked.log or cached_log(asked.lines)
    found: dict[str, str] = {}

    def timed(run: Callable[[Path], Any], keep: str = "", **changed: Any) -> Callable[[], float]:
        def measure() -> float:
            with finder(**changed):
                begun = time.perf_counter()
                made = run(path)
                seconds = time.perf_counter() - begun
            if keep:
                found[keep] = fingerprint(made)
            return seconds

        return measure

    measured: dict[str, Callable[[], float]] = {
        "reading alone": timed(reading),
        "kernel, IDs, all stages": timed(all_stages, pair_lines=no_lines),
        "kernel, IDs and lines": timed(all_stages, keep="kernel"),
        "plain-loop twin, IDs and lines": timed(all_stages, keep="plain", find=plain_kernel.find),
    }
    if shutil.which("rg"):
        measured["ripgrep -o, one thread"] = timed(ripgrep)
    for name, run in measured.items():  # compiles, and brings the log into the page cache
        print(f"warming up: {name}", file=sys.stderr, flush=True)
        run()
    seconds: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(asked.rounds):
        for name, run in measured.items():
            seconds[name].append(run())

    size = path.stat().st_size
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    print(f"\n{path.name}: {size / 1e9:.2f} GB on one core, medians of {asked.rounds} rounds\n")
    ours = [name for name in middle if name.startswith("kernel")]
    heads = " | ".join(f'time, if "{name}" is 1' for name in ours)
    print(f"| what | s (fastest to slowest) | GB/s | {heads} |")
    print("|---|---|---|---|---|")
    for name, value in middle.items():
        span = f"{value:.2f} ({min(seconds[name]):.2f} to {max(seconds[name]):.2f})"
        times = " | ".join(f"{value / middle[own]:.2f}" for own in ours)
        print(f"| {name} | {span} | {size / value / 1e9:.2f} | {times} |")
    if found["kernel"] != found["plain"]:
        sys.exit("the twin found something else")
    print("\nequal: all facts of kernel and twin, byte for byte")


if __name__ == "__main__":
    main()
