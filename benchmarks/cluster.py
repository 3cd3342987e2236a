"""What each application costs on a cluster, and whether it compiles again: a real standalone cluster on this machine.

    python -m benchmarks.cluster                 3 applications after one another, compiled kernels kept
    python -m benchmarks.cluster --empty         the same from an empty cache: the first one compiles

Each line is one `python -m idcore scan --master spark://...` in a new process: seconds until Spark was up, seconds of
the scan, seconds of the whole process. The workers have no idcore but what comes with the job.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.make_log import ROOT
from benchmarks.servers import standalone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--applications", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--empty", action="store_true", help="begin without compiled kernels")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "made.log"
        make = [sys.executable, "-m", "idcore", "make", "log", "--lines", str(given.lines), "--out", str(log)]
        subprocess.run(make, check=True, cwd=ROOT)
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        if given.empty:
            environment["NUMBA_CACHE_DIR"] = str(folder / "kernels")
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print(f"{given.workers} workers of one core, {log.stat().st_size / 1e6:.0f} MB of text")
        with standalone(folder, given.workers) as cluster:
            environment |= cluster.secret
            for number in range(1, given.applications + 1):
                began = time.monotonic()
                scan = [sys.executable, "-m", "idcore", "scan", str(log), "--out", str(folder / str(number))]
                where = ["--master", cluster.url, "--format", "json"]
                done = subprocess.run([*scan, *where], env=environment, cwd=ROOT, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(done.stderr)
                told = json.loads(done.stdout)
                whole = time.monotonic() - began
                print(
                    f"application {number}: Spark up {told['start_seconds']:.1f} s, scan {told['seconds']:.1f} s,"
                    f" process {whole:.1f} s, {told['ids']:,} ids",
                    flush=True,
                )


if __name__ == "__main__":
    main()
