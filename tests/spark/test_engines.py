"""The same scan on a real standalone cluster and a real Spark Connect server, both on loopback: the same bytes."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

HOME = Path(pyspark.__file__).parent
LINES = 3000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(folder: Path, name: str, port: int, *command: str) -> Iterator[None]:
    """A Java server of Spark's, from the moment it listens to its end."""
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        deadline = time.monotonic() + 90
        while True:
            assert server.poll() is None, log.read_text()[-2000:]
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.2)
        yield
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "made.log"
    command = [sys.executable, "-m", "idcore", "make", "log", "--lines", str(LINES), "--seed", "5", "--out", str(path)]
    subprocess.run(command, check=True)
    return path


def scanned(log: Path, out: Path, *where: str) -> dict[str, str]:
    """Hash of each table that a scan in a new process writes."""
    command = [sys.executable, "-m", "idcore", "scan", str(log), "--out", str(out), "--split-size", "64k"]
    fixed = ["--zone", "+08:00", "--at", "2026-11-21T12:00:00Z", "--format", "json"]
    loopback = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([*command, *fixed, *where], env=loopback, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    tables = {file.parent.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.glob("*/*.parquet")}
    assert tables and (out / "summary.json").exists()
    return tables


@pytest.fixture(scope="module")
def local(log: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return scanned(log, tmp_path_factory.mktemp("local") / "out")


@pytest.mark.timeout(300)
def test_a_standalone_cluster_of_two_workers_writes_the_same_tables(
    log: Path, local: dict[str, str], tmp_path: Path
) -> None:
    port = free_port()
    spark_class = str(HOME / "bin" / "spark-class")
    master = [
        spark_class,
        "org.apache.spark.deploy.master.Master",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--webui-port",
        "0",
    ]
    with ExitStack() as stack:
        stack.enter_context(running(tmp_path, "master", port, *master))
        for number in (1, 2):
            folder, worker_port = tmp_path / f"worker-{number}", free_port()
            folder.mkdir()
            place = ["--host", "127.0.0.1", "--port", str(worker_port), "--webui-port", "0", "--work-dir", str(folder)]
            size = ["--cores", "1", "--memory", "1g"]
            worker = [spark_class, "org.apache.spark.deploy.worker.Worker", *place, *size, f"spark://127.0.0.1:{port}"]
            stack.enter_context(running(tmp_path, f"worker-{number}", worker_port, *worker))
        assert scanned(log, tmp_path / "out", "--master", f"spark://127.0.0.1:{port}") == local


@pytest.mark.timeout(300)
def test_a_connect_server_writes_the_same_tables(log: Path, local: dict[str, str], tmp_path: Path) -> None:
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
    }  # fmt: skip
    flags = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    server = [str(HOME / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    with running(tmp_path, "connect", port, *server, "--master", "local[2]", *flags, "spark-internal"):
        assert scanned(log, tmp_path / "out", "--remote", f"sc://127.0.0.1:{port}") == local
