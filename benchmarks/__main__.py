"""Every benchmark, one after the other, into docs/performance.md: the figures of this machine, with their commands.

python -m benchmarks                            about an hour; nothing else should run
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version

from .make_log import ROOT

COMMANDS = {
    "The kernel, one core": ["kernel"],
    "Texts of every kind, one core": ["texts"],
    "A gigabyte next to DuckDB, Polars and Spark SQL": ["scan", "--spark"],
    "A session that stays": ["resident"],
    "Eight gigabytes": ["scan", "--lines", "28000000", "--rounds", "2"],
    "A gigabyte of commit log": ["store", "--groups", "20"],
    "Packed logs": ["packed"],
    "What every scan costs": ["fixed"],
    "Small inputs, Spark up": ["small"],
    "A hundred IDs in a live cluster": ["lookup"],
    "Memory": ["memory", "--dense", "50000000"],
    "What a person waits for": ["console"],
    "Ten visitors at once": ["tabs"],
    "A desk of 30 people": ["desk"],
}
FOR_WHOM = "For everybody who asks how fast it is: measured figures, each with the command that repeats it."
PACKAGES = ("pyspark", "pyarrow", "numpy", "numba", "duckdb", "polars")


def machine() -> str:
    """Processor, cores, memory and versions, in one line."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores ({names[0] if names else platform.machine()}), {gigabytes:.0f} GB, "
        f"Python {platform.python_version()}, {versions}"
    )


def in_short(said: str) -> str:
    """The result in short, from what the benchmarks printed: the first scan is the smallest, the last the largest."""
    small = re.findall(r"^\S+\.log: ([\d.]+) GB, medians", said, re.MULTILINE)[0]
    cold, *peers = (
        float(re.findall(rf"^\| {name} \| ([\d.]+) ", said, re.MULTILINE)[0]) for name in ("cold", "duckdb", "polars")
    )
    size = re.findall(r"^\S+\.log: ([\d.]+) GB, medians", said, re.MULTILINE)[-1]
    speed = re.findall(r"^\| warm \| [^|]+\| [^|]+\| ([\d.]+) \|", said, re.MULTILINE)[-1]
    times = re.findall(r"^warm is ([\d.]+) times as fast", said, re.MULTILINE)[-1]
    pasted = re.findall(r"^\| warm: 1,000 lines to their table \| ([\d.]+) \|", said, re.MULTILINE)[-1]
    return (
        f"**In short**: a scan of {size} GB of log reads {speed} GB/s once Spark runs, {times} times as fast as"
        f" the quicker of DuckDB and Polars. If Spark has to start, {small} GB take {cold:.2f} s, and the quicker of"
        f" the two takes {min(peers):.2f} s. The table of 1,000 pasted lines is there after {pasted} s."
    )


def main() -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    head = [
        "Written by `python -m benchmarks`; each table by the command above it. Files are in the page cache; figures"
        " are medians of interleaved rounds. Seconds differ from machine to machine, ratios less so.",
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit.strip()}: {machine()}.",
    ]
    parts, said = [], ""
    for title, command in COMMANDS.items():
        print(f"# {title}", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{command[0]}", *command[1:]],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        if done.returncode:
            sys.exit(f"benchmarks.{command[0]} failed")
        said += done.stdout
        parts += [f"## {title}", f"`python -m benchmarks.{' '.join(command)}`", done.stdout.strip()]
    (ROOT / "docs" / "performance.md").write_text(
        "\n\n".join(["# Performance", FOR_WHOM, in_short(said), *head, *parts]) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
