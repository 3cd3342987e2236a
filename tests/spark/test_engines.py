"""The same scans on a real standalone cluster and a real Spark Connect server, both on loopback: the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

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
    return [sys.executable, "-m", "idcore", "scan", *given, "--out", str(out), "--split-size", size, *FIXED, *where]


def tables(out: Path) -> dict[str, str]:
    """Hash of each table."""
    found = {file.parent.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.glob("*/*.parquet")}
    assert found and (out / "summary.json").exists()
    return found


def scanned(source: Path, out: Path, secret: dict[str, str], *where: str, size: str = "64k") -> dict[str, str]:
    """The tables that a scan in a new process writes."""
    environment = LOOPBACK | secret
    done = subprocess.run(
        command(source, out, size, *where), env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return tables(out)


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
def one_executor(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The secret of the cluster for an application on one worker: what it shows, two would show at twice the cost."""
    settings = tmp_path_factory.mktemp("one-executor")
    text = (Path(cluster.secret["SPARK_CONF_DIR"]) / "spark-defaults.conf").read_text()
    (settings / "spark-defaults.conf").write_text(f"{text}spark.cores.max 1\n")
    return cluster.secret | {"SPARK_CONF_DIR": str(settings)}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store folder with consumer groups."""
    out = tmp_path_factory.mktemp("store") / "store"
    assert main(["make", "store", "--messages", "3000", "--groups", "3", "--seed", "5", "--out", str(out)]) == 0
    return out


def compiled() -> dict[str, float]:
    return {path.name: path.stat().st_mtime for path in Path(cache_folder()).iterdir()}


@pytest.mark.timeout(300)
def test_a_standalone_cluster_of_two_workers_writes_the_same_tables(
    store: Path, cluster: Cluster, tmp_path: Path
) -> None:
    local = scanned_here(store, tmp_path / "local")
    assert pq.read_table(tmp_path / "local" / "undelivered").num_rows
    before = compiled()
    assert scanned(store, tmp_path / "out", cluster.secret, "--master", cluster.url) == local
    assert compiled() == before  # by the local scan at the latest: an application compiles nothing anew
    for worker in cluster.workers:  # no worker has idcore but from the archive that came with the job
        assert [path.name for path in worker.folder.glob("app-*/*/idcore.zip")] == ["idcore.zip"]
    jvm = session().sparkContext._jvm
    ports = [int(cluster.url.rpartition(":")[2]), *(worker.port for worker in cluster.workers)]
    for answer in foreign.ask(*((port, foreign.has_endpoint(jvm, port, "Master")) for port in ports)):
        assert foreign.kind(answer) == foreign.RPC_FAILURE, "another user has no secret"
    secret = (Path(cluster.secret["SPARK_CONF_DIR"]) / "spark-defaults.conf").read_text().split()[3]
    for worker in cluster.workers:  # the log of an executor begins with its command line
        assert not [path for path in worker.folder.rglob("std*") if secret in path.read_text()]


@pytest.mark.timeout(300)
def test_files_are_followed_on_a_cluster(
    log: Path, cluster: Cluster, one_executor: dict[str, str], tmp_path: Path
) -> None:
    data, folder = log.read_bytes(), tmp_path / "logs"
    half = data.index(b"\n", len(data) // 2) + 1
    folder.mkdir()
    (folder / "app.log").write_bytes(data[:half])
    words = ["-m", "idcore", "follow", str(folder), "--out", str(tmp_path / "out"), "--master", cluster.url, *FIXED]
    with subprocess.Popen([sys.executable, *words], env=LOOPBACK | one_executor, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = (json.loads(line) for line in process.stdout)
        assert next(row for row in told if row["text_bytes"] == half)["ids"]
        with (folder / "app.log").open("ab") as file:
            file.write(data[half:])
        assert next(row for row in told if row["text_bytes"] == len(data))["behind"] == 0
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
    assert tables(tmp_path / "out") == scanned_here(folder / "app.log", tmp_path / "scan")


@pytest.mark.timeout(300)
def test_a_path_that_only_the_driver_sees_is_named_with_the_worker(
    log: Path, cluster: Cluster, one_executor: dict[str, str], tmp_path: Path
) -> None:
    mine = "/proc/self/cwd/made.log"  # the same text leads every process to another file
    theirs = tmp_path / "python-of-workers"
    theirs.write_text(f'#!/bin/sh\n: > "{tmp_path}/used"\nexec "{sys.executable}" "$@"\n')
    theirs.chmod(0o755)
    done = subprocess.run(
        command(mine, tmp_path / "out", "64k", "--master", cluster.url),
        env={**LOOPBACK, **one_executor, "PYTHONPATH": os.getcwd(), "IDCORE_WORKER_PYTHON": str(theirs)},
        cwd=log.parent,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "used").exists()
    told = done.stderr.strip().splitlines()
    assert len(told) == 1
    assert told[0].startswith("idcore: /proc/self/cwd/made.log: no such file or folder, according to worker ")
    assert told[0].endswith("; the path must lead every worker to the same file")


@pytest.mark.timeout(300)
def test_a_worker_that_is_killed_in_mid_scan_changes_no_table(cluster: Cluster, tmp_path: Path) -> None:
    large = make_log(tmp_path / "large.log", 5_000)
    expected = scanned_here(large, tmp_path / "expected")
    lost, kept = cluster.workers
    before = set(lost.scratch.rglob("shuffle_*.data"))
    with (tmp_path / "told").open("wb") as told:
        begin = command(large, tmp_path / "out", "2k", "--master", cluster.url)
        running = subprocess.Popen(begin, env=LOOPBACK | cluster.secret, stdout=told, stderr=told)
    try:
        deadline = time.monotonic() + 120
        while not set(lost.scratch.rglob("shuffle_*.data")) - before:  # facts that die with the worker
            assert running.poll() is None and time.monotonic() < deadline, (tmp_path / "told").read_text()
            time.sleep(0.01)
        lost.kill()
        assert running.poll() is None
        assert running.wait(180) == 0, (tmp_path / "told").read_text()
    finally:
        running.kill()
    assert kept.process.poll() is None
    assert tables(tmp_path / "out") == expected
    assert pq.read_table(tmp_path / "out" / "files").to_pylist()[0]["error"] is None


STOPPED = """
import json, sys, threading
from datetime import UTC, datetime
from pathlib import Path
from idcore.spark.job import ScanOptions, scan
from idcore.spark.watch import Cancelled

log, out, remote = sys.argv[1:]
options = ScanOptions(zone=UTC, at=datetime(2026, 11, 21, tzinfo=UTC), split_size=2048, remote=remote)
stop, shares = threading.Event(), []

def heard(progress):
    shares.append(progress.bytes_done / progress.bytes_total)
    if shares[-1] > 0:
        stop.set()

try:
    scan([log], out, options, heard, stop)
    print("it ended")
except Cancelled:
    print(json.dumps([0 < shares[-1] < 1, Path(out).exists()]))
"""


@pytest.mark.timeout(300)
def test_a_connect_server_writes_the_same_tables_tells_how_far_it_is_and_stops_when_told(
    log: Path, tmp_path: Path
) -> None:
    local = scanned_here(log, tmp_path / "local")
    large = make_log(tmp_path / "large.log", 10_000)
    with connect(tmp_path, options()) as server:
        with (
            grpc.insecure_channel(server.url.removeprefix("sc://")) as another,
            pytest.raises(grpc.RpcError) as refused,
        ):
            another.unary_unary("/spark.connect.SparkConnectService/Config")(b"", timeout=30)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED, "another user has no token"
        assert scanned(log, tmp_path / "out", server.secret, "--remote", server.url) == local
        stopped = [sys.executable, "-c", STOPPED, str(large), str(tmp_path / "none"), server.url]
        done = subprocess.run(stopped, env=LOOPBACK | server.secret, capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() == "[true, false]", done.stderr
