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

# Title, command, and what its goal or its bound is: never a figure that this run could contradict.
SECTIONS: list[tuple[str, list[str], str]] = [
    ("The kernel, one core", ["kernel"], ""),
    ("Texts of every kind, one core", ["texts"], ""),
    (
        "A gigabyte next to DuckDB, Polars and Spark SQL",
        ["scan", "--spark"],
        "The bound of a warm scan: every core does nothing but find and pack, as in the first table.",
    ),
    (
        "What a start costs",
        ["fixed"],
        "The bound of a cold scan is Java and a session of Spark, which begin next to Python.",
    ),
    ("A session that stays", ["resident"], "`warm` is the same scan inside a process whose Spark is up."),
    ("Eight gigabytes", ["scan", "--lines", "28000000", "--rounds", "1"], ""),
    (
        "A gigabyte of commit log",
        ["store", "--groups", "20"],
        "Every CRC is checked. With fates the log is walked once more: that pass and the rows it writes are the bound.",
    ),
    ("Packed logs", ["packed"], "The bound of a packed file is to unpack it."),
    ("Small inputs, Spark up", ["small"], ""),
    (
        "A hundred IDs in a live cluster",
        ["lookup"],
        "What is the same for all IDs is asked once ([ADR 32](adr/0032-answers-of-a-moment-ago.md)). The last line is"
        " of a cluster of its own: one topic and ten groups, of which each sent back a tenth of the messages.",
    ),
    (
        "Five thousand IDs in a live cluster",
        ["fate_list", "--rounds", "1"],
        "The limit of a profile is not in it: the console asks about as many IDs a minute as that allows.",
    ),
    ("Memory", ["memory"], ""),
    (
        "Pages of millions of processes",
        ["large_pages"],
        "Nothing of the scan is in memory. Groups of rows whose least and greatest value cannot matter are not read."
        " Producers reads the hosts of all groups, for the marks of those that it shows.",
    ),
    ("What a person waits for", ["console"], ""),
    (
        "From a click to the log lines",
        ["clicks", "--rounds", "2"],
        "1.15 GB, and the same as .gz; each click is of a new visitor.",
    ),
    ("Ten visitors at once", ["tabs", "--rounds", "1"], ""),
    (
        "A desk of 30 people",
        ["desk"],
        "30 people paste 1,000 lines at the same moment, two upload 50 MB, one scans 1 GB. Their browsers share the"
        " cores with the server. `--minutes 60` repeats it for an hour.",
    ),
]
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
    """The result in short, from what the benchmarks printed: first the small scan, then the large one."""

    def every(pattern: str) -> list[str]:
        return re.findall(pattern, said, re.MULTILINE)

    small, large = every(r"^\S+\.log: ([\d.]+) GB, medians")
    faster, much_faster = every(r"^warm is ([\d.]+) times as fast")
    warm, speed = every(r"^\| warm \| ([\d.]+) ")[0], every(r"^\| warm \| [^|]+\| [^|]+\| ([\d.]+) \|")[-1]
    cold, *peers = (float(every(rf"^\| {name} \| ([\d.]+) ")[0]) for name in ("cold", "duckdb", "polars"))
    pasted = every(r"^\| warm: 1,000 lines to their table \| ([\d.]+) \|")[-1]
    return (
        f"**In short**: a scan of {small} GB of log takes {warm} s once Spark runs, {faster} times as fast as the"
        f" quicker of DuckDB and Polars. If Spark has to start it takes {cold:.2f} s, and the quicker of the two takes"
        f" {min(peers):.2f} s. {large} GB are read at {speed} GB/s, {much_faster} times as fast. The table of 1,000"
        f" pasted lines is there after {pasted} s."
    )


def measured(command: list[str]) -> str:
    """What a benchmark printed, as Markdown."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{command[0]}", *command[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        print(f"benchmarks.{command[0]} failed", file=sys.stderr)
        return f"It failed with status {done.returncode}."
    said = done.stdout.strip()
    return said if "|---|" in said else f"```text\n{said}\n```"


def main() -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    head = [
        "Written by `python -m benchmarks`, in one run; each table by the command above it. Files are in the page"
        " cache; figures are medians of interleaved rounds. Seconds differ from machine to machine, ratios less so.",
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit.strip()}: {machine()}.",
    ]
    parts, said = list[str](), ""
    for title, command, note in SECTIONS:
        print(f"# {title}", file=sys.stderr, flush=True)
        table = measured(command)
        said += table + "\n"
        parts += [f"## {title}", f"`python -m benchmarks.{' '.join(command)}`", table, *([note] if note else [])]
        if title == "What a person waits for":
            head.insert(0, in_short(said))
        # After each of them: what was measured stays when a later one is cut off.
        text = "\n\n".join(["# Performance", FOR_WHOM, *head, *parts]) + "\n"
        (ROOT / "docs" / "performance.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
