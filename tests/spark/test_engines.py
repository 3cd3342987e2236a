"""The same scans on a real standalone cluster and a real Spark Connect server, both on loopback: the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pyarrow.parquet as pq
import pytest

from benchmarks.servers import Cluster, connect, standalone
from idcore.__main__ import main
from idcore.ids.clock import parse_zone
from idcore.kernels import cache_folder
from idcore.spark.job import ScanOptions, scan
from idcore.spark.session import session
from idcore.spark.start.archive import java_options
from idcore.spark.start.jvm import QUICK_JAVA, java
from tests.spark import foreign

pytestmark = pytest.mark.usefixtures("spark")

LINES = 3000
ZONE, AT = parse_zone("+08:00"), datetime(2026, 11, 21, 12, tzinfo=UTC)
FIXED = ["--zone", "+08:00", "--at", "2026-11-21T12:00:00Z", "--format", "json"]
LOOPBACK = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LAUNCHER_OPTS": QUICK_JAVA}


def options() -> str:
    """What lets a JVM be quick to be up."""
    found = java()
    assert found is not None
    return f"{QUICK_JAVA} {java_options(found.path)}"


def make_log(path: Path, lines: int) -> Path:
    assert main(["make", "log", "--lines", str(lines), "--seed", "5", "--out", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_log(tmp_path_factory.mktemp("log") / "made.log", LINES)


def command(source: Path | str, out: Path, size: str, *where: str) -> list[str]:
    """A scan of a log, or of a store folder."""
    given = ["--store", str(source)] if Path(source).is_dir() else [str(source)]
    return ["scan", *given, "--out", str(out), "--split-size", size, *FIXED, *where]


def tables(out: Path) -> dict[str, str]:
    """Hash of each table."""
    found = {file.parent.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.glob("*/*.parquet")}
    assert found and (out / "summary.json").exists()
    return found


def scanned_here(source: Path, out: Path, size: int = 64 << 10) -> dict[str, str]:
    """The tables that the local session of the tests writes."""
    store, paths = (str(source), []) if source.is_dir() else (None, [str(source)])
    scan(paths, out, ScanOptions(ZONE, "given", AT, size, store=store))
    return tables(out)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("cluster"), java=options()) as found:
        yield found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store folder with consumer groups."""
    out = tmp_path_factory.mktemp("store") / "store"
    assert main(["make", "store", "--messages", "3000", "--groups", "3", "--seed", "5", "--out", str(out)]) == 0
    return out


@dataclass(frozen=True, slots=True)
class Local:
    """What the session of the tests made: the tables of the store, and kernels that it compiled."""

    store: dict[str, str]
    compiled: dict[str, float]


def compiled() -> dict[str, float]:
    return {path.name: path.stat().st_mtime for path in Path(cache_folder()).iterdir()}


@pytest.fixture(scope="module")
def local(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Local:
    out = tmp_path_factory.mktemp("local")
    of_store = scanned_here(store, out)
    assert pq.read_table(out / "undelivered").num_rows
    return Local(of_store, compiled())


COMMANDS = """
import json, sys
from idcore.__main__ import main

for line in sys.stdin:
    print(json.dumps({"status": main(json.loads(line))}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Driver:
    """A process that runs one command after the other: they share its application."""

    process: subprocess.Popen[str]
    complaints: Path

    def begin(self, words: list[str]) -> Iterator[dict[str, Any]]:
        """What a command prints, and its status last."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.complaints.write_text("")
        print(json.dumps(words), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            yield (row := json.loads(line))
            if "status" in row:
                return
        raise AssertionError(self.complaints.read_text())

    def run(self, words: list[str]) -> tuple[int, str]:
        """The status of a command, and what it complains of."""
        *_, ended = self.begin(words)
        return ended["status"], self.complaints.read_text()


@pytest.fixture(scope="module")
def driver(cluster: Cluster, log: Path, local: Local, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """One in the folder of the log, whose workers have a Python of their own."""
    own = tmp_path_factory.mktemp("driver")
    theirs = own / "python-of-workers"
    theirs.write_text(f'#!/bin/sh\n: > "{own}/used"\nexec "{sys.executable}" "$@"\n')
    theirs.chmod(0o755)
    environment = {**LOOPBACK, **cluster.secret, "PYTHONPATH": os.getcwd(), "IDCORE_WORKER_PYTHON": str(theirs)}
    with (own / "complaints").open("a") as complaints:
        running = subprocess.Popen(
            [sys.executable, "-c", COMMANDS],
            env=environment,
            cwd=log.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        )
    with running:
        yield Driver(running, own / "complaints")
        running.kill()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_path_that_only_the_driver_sees_is_named_with_the_worker(
    cluster: Cluster, driver: Driver, tmp_path: Path
) -> None:
    mine = "/proc/self/cwd/made.log"  # the same text leads every process to another file
    status, complaints = driver.run(command(mine, tmp_path / "out", "64k", "--master", cluster.url))
    assert status == 1, complaints
    assert driver.complaints.with_name("used").exists()
    told = complaints.strip().splitlines()
    assert len(told) == 1
    assert told[0].startswith("idcore: /proc/self/cwd/made.log: no such file or folder, according to worker ")
    assert told[0].endswith("; the path must lead every worker to the same file")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_files_are_followed_on_a_cluster(log: Path, cluster: Cluster, driver: Driver, tmp_path: Path) -> None:
    data, folder = log.read_bytes(), tmp_path / "logs"
    half = data.index(b"\n", len(data) // 2) + 1
    folder.mkdir()
    (folder / "app.log").write_bytes(data[:half])
    told = driver.begin(["follow", str(folder), "--out", str(tmp_path / "out"), "--master", cluster.url, *FIXED])
    assert next(row for row in told if row["text_bytes"] == half)["ids"]
    with (folder / "app.log").open("ab") as file:
        file.write(data[half:])
    assert next(row for row in told if row["text_bytes"] == len(data))["behind"] == 0
    driver.process.send_signal(signal.SIGINT)
    *_, ended = told
    assert ended == {"status": 0}
    assert tables(tmp_path / "out") == scanned_here(folder / "app.log", tmp_path / "scan")


@pytest.mark.timeout(300)
def test_a_cluster_of_two_workers_writes_the_same_tables_also_where_one_is_killed_in_mid_scan(
    store: Path, local: Local, cluster: Cluster, driver: Driver, tmp_path: Path
) -> None:
    lost, kept = cluster.workers
    before = set(lost.scratch.rglob("shuffle_*.data"))
    told: list[dict[str, Any]] = []
    words = command(store, tmp_path / "out", "64k", "--master", cluster.url)
    scan_there = threading.Thread(target=lambda: told.extend(driver.begin(words)))
    scan_there.start()
    deadline = time.monotonic() + 120
    while not set(lost.scratch.rglob("shuffle_*.data")) - before:  # facts that die with the worker
        assert scan_there.is_alive() and time.monotonic() < deadline, driver.complaints.read_text()
        time.sleep(0.01)
    lost.kill()
    assert scan_there.is_alive() and not told
    scan_there.join(180)
    assert told and told[-1] == {"status": 0}, driver.complaints.read_text()
    assert kept.process.poll() is None
    assert tables(tmp_path / "out") == local.store
    assert not any(pq.read_table(tmp_path / "out" / "files")["error"].to_pylist())
    assert compiled() == local.compiled, "an application compiles nothing anew"
    for worker in cluster.workers:  # no worker has idcore but from the archive that came with the job
        assert [path.name for path in worker.folder.glob("app-*/*/idcore.zip")] == ["idcore.zip"]


@pytest.mark.timeout(300)
def test_a_cluster_tells_no_other_user_anything(cluster: Cluster, driver: Driver) -> None:
    jvm = session().sparkContext._jvm
    workers = [worker for worker in cluster.workers if worker.process.poll() is None]
    ports = [int(cluster.url.rpartition(":")[2]), *(worker.port for worker in workers)]
    for answer in foreign.ask(*((port, foreign.has_endpoint(jvm, port, "Master")) for port in ports)):
        assert foreign.kind(answer) == foreign.RPC_FAILURE, "another user has no secret"
    secret = (Path(cluster.secret["SPARK_CONF_DIR"]) / "spark-defaults.conf").read_text().split()[3]
    logs = [path for worker in cluster.workers for path in worker.folder.rglob("std*")]
    assert logs  # the log of an executor begins with its command line
    assert not [path for path in logs if secret in path.read_text()]


STOPPED = """
import json, sys, threading
from datetime import UTC, datetime
from pathlib import Path
from idcore.__main__ import main
from idcore.spark.job import ScanOptions, scan
from idcore.spark.watch import Cancelled

same, large, out, remote = sys.argv[1:]
assert main(json.loads(same)) == 0
options = ScanOptions(zone=UTC, at=datetime(2026, 11, 21, tzinfo=UTC), split_size=2048, remote=remote)
stop, shares = threading.Event(), []

def heard(progress):
    shares.append(progress.bytes_done / progress.bytes_total)
    if shares[-1] > 0:
        stop.set()

try:
    scan([large], out, options, heard, stop)
    print("it ended")
except Cancelled:
    print(json.dumps([0 < shares[-1] < 1, Path(out).exists()]))
"""


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_connect_server_writes_the_same_tables_tells_how_far_it_is_and_stops_when_told(
    log: Path, tmp_path: Path
) -> None:
    large = make_log(tmp_path / "large.log", 10_000)
    with connect(tmp_path, options()) as server:
        with (
            grpc.insecure_channel(server.url.removeprefix("sc://")) as another,
            pytest.raises(grpc.RpcError) as refused,
        ):
            another.unary_unary("/spark.connect.SparkConnectService/Config")(b"", timeout=30)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED, "another user has no token"
        same = command(log, tmp_path / "out", "64k", "--remote", server.url)
        given = [json.dumps(same), str(large), str(tmp_path / "none"), server.url]
        stopped = [sys.executable, "-c", STOPPED, *given]
        done = subprocess.run(stopped, env=LOOPBACK | server.secret, capture_output=True, text=True, timeout=240)
        assert done.stdout.strip().splitlines()[-1:] == ["[true, false]"], done.stderr
        assert tables(tmp_path / "out") == scanned_here(log, tmp_path / "here")
