"""Pages of a scan with millions of processes: how long each takes to open, with nothing of it in memory.

    python -m benchmarks.large_pages                     5,000,000 IDs, each of a process of its own, three rounds
    python -m benchmarks.large_pages --ids 50000000

A page is drawn without a browser. The code of the pages is loaded before, by those of a small scan.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .logs import cached_text
from .make_log import ROOT, cached_log

PAGES = ("findings", "counters", "producers")


def scanned(text: Path, root: Path) -> str:
    """The name of a finished scan of a text."""
    from idcore.runs.runs import Runs

    run = Runs(root).create(text.name, "console", {"zone": "+08:00", "zone_source": "given"})
    with tempfile.TemporaryDirectory(dir=root) as folder:
        scan = [sys.executable, "-m", "idcore", "scan", str(text), "--zone", "+08:00"]
        begun = time.perf_counter()
        subprocess.run([*scan, "--out", folder, "--overwrite"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        print(f"{text.name}: scanned in {time.perf_counter() - begun:.1f} s, the whole process", file=sys.stderr)
        for made in Path(folder).iterdir():
            shutil.move(made, run.path / made.name)
    run.set_state("done")
    return run.name


def opened(page: str, run: str) -> float:
    """Seconds until a page is drawn."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    st.cache_data.clear()
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600)
    app._page_hash = calc_hash(page)
    app.query_params.update({"run": run, "zone": "UTC"})
    begun = time.perf_counter()
    app.run()
    assert not app.exception and not app.error, app.exception or app.error
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ids", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"IDCORE_RUNS": folder, "IDCORE_NO_SPARK": "1"}
        import streamlit as st

        type(st.context).cookies = {}  # type: ignore[assignment, method-assign]  # those of AppTest are mocks
        small = scanned(cached_log(1000), Path(folder))
        large = scanned(cached_text("dense", asked.ids * 33), Path(folder))
        for page in PAGES:
            opened(page, small)
        print(f"| page of {asked.ids:,} processes | median, s | fastest | slowest |\n|---|---|---|---|")
        for page in PAGES:
            took = [opened(page, large) for _ in range(asked.rounds)]
            print(f"| {page} | {statistics.median(took):.2f} | {min(took):.2f} | {max(took):.2f} |", flush=True)


if __name__ == "__main__":
    main()
