"""The index of lines: the seconds that it takes to make, and those of a page of lines, plain and packed.

python -m benchmarks.lines                    4 million lines, 1.2 GB, and the same as .gz
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.make_log import write_log
from idcore.runs.runs import Run, Runs
from idcore.scan.occurrences.index import Filter, Index
from idcore.spark import background, locate
from idcore.spark.job import ScanOptions

PAGE = 50


def median(rounds: int, work: Callable[[], Any]) -> float:
    spent = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begun)
    return statistics.median(spent)


def scanned(path: Path) -> Run:
    run = Runs().create(path.name)
    options = ScanOptions(UTC, "given", datetime.now(UTC))
    begun = time.perf_counter()
    job = background.start(run, [str(path)], options)
    while job.progress().state not in ("done", "failed"):
        time.sleep(0.005)
    print(f"{path.name}: scan {time.perf_counter() - begun:.2f} s")
    background.locating(run).wait()
    return run


def again(run: Run) -> None:
    """Makes the index as for the first time."""
    shutil.rmtree(run.path / locate.FOLDER)
    locate.locate(run)


def questions(run: Run) -> dict[str, tuple[Filter, str]]:
    """What a reader clicks: the busiest process, its busiest minute, a broker, a gap's worth of ids, a text."""
    process = max(run.table("processes").to_pylist(), key=lambda row: row["ids"])
    start = round(process["first_sent_at"].timestamp() * 1000)
    key = process["host"], str(process["pid"]), process["loader"]
    return {
        "every line": (Filter(), "line"),
        "a host": (Filter(host=process["host"]), "line"),
        "a process, newest first": (Filter(process=key), "-time"),
        "a gap: a process and 50 ms": (Filter(process=key, start=start, stop=start + 50), "line"),
        "a minute": (Filter(start=start, stop=start + 60_000), "line"),
        "a broker": (Filter(broker=run.table("brokers")["address"][0].as_py()), "line"),
        "a text that is rare": (Filter(text="queueOffset=77777,"), "line"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IDCORE_RUNS"] = folder
        path = Path(folder) / "large.log"
        write_log(path, options.lines)
        subprocess.run(["gzip", "-1", "-k", str(path)], check=True)
        for one in (path, path.with_name(path.name + ".gz")):
            run = scanned(one)
            print(f"  index {median(3, lambda: again(run)):.2f} s", end="")  # noqa: B023  called at once
            print(f", {sum(file.stat().st_size for file in (run.path / locate.FOLDER).iterdir()) / 1e6:,.0f} MB")
            for name, (wanted, order) in questions(run).items():

                def ask(wanted: Filter = wanted, order: str = order, run: Run = run) -> int:
                    index = Index.open(run.path / locate.FOLDER)
                    assert index is not None
                    chosen = index.select(wanted, order)
                    index.page(chosen.rows[len(chosen) // 2 :][:PAGE])
                    return len(chosen)

                print(f"  {name}: {ask():,} ids, {median(options.rounds, ask):.3f} s")


if __name__ == "__main__":
    main()
