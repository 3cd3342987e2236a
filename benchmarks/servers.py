"""Spark servers of this machine, on loopback: a standalone master with workers that can be killed, a Connect server."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent
PATIENCE = 90.0  # seconds that a server has to listen
# Spark's own jars in the order in which its class archive has them: an archive fits those who have them first.
JARS = os.pathsep.join(sorted(map(str, HOME.glob("jars/*.jar"))))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    folder: Path, name: str, port: int, *command: str, secret: dict[str, str], java: str = ""
) -> Iterator[subprocess.Popen[bytes]]:
    """A Java server of Spark's, from the moment it listens to its end, with all that it started.

    `secret` are variables of its environment, where it finds what a client has to know. `java` are options of the JVM.
    """
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},  # idcore has to travel
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / f"{name}-scratch"),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": java,
        "SPARK_DAEMON_CLASSPATH": JARS if java else "",
        **secret,
    }
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            assert server.poll() is None, log.read_text()[-2000:]
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.1)
        yield server
    finally:
        end(server, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            end(server, signal.SIGKILL)


def end(server: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """Sends a signal to a server and its executors."""
    if server.poll() is None:
        os.killpg(server.pid, how)


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker of the cluster; `folder` holds its applications, `scratch` what their executors wrote."""

    process: subprocess.Popen[bytes]
    port: int
    folder: Path
    scratch: Path

    def kill(self) -> None:
        """At once, with its executors, as when a machine is lost."""
        end(self.process, signal.SIGKILL)
        self.process.wait(20)


@dataclass(frozen=True, slots=True)
class Cluster:
    """`secret` are the variables of the environment that let a driver in."""

    url: str
    workers: tuple[Worker, ...]
    secret: dict[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Connect:
    """A Connect server. `secret` are the variables of the environment that let a client in."""

    url: str
    secret: dict[str, str] = field(repr=False)


def shared_secret(folder: Path, java: str) -> dict[str, str]:
    """A folder of settings with a new secret, which master, workers and drivers read; nobody else may."""
    settings = folder / "settings"
    settings.mkdir(mode=0o700)
    names = {"authenticate": "true", "authenticate.secret": secrets.token_hex(32), "network.crypto.enabled": "true"}
    if java:
        names |= {"driver.extraJavaOptions": java, "executor.extraJavaOptions": java}
        names |= {"driver.extraClassPath": JARS, "executor.extraClassPath": JARS}
    text = "".join(f"spark.{name} {value}\n" for name, value in names.items())
    (settings / "spark-defaults.conf").write_text(text)
    return {"SPARK_CONF_DIR": str(settings)}


@contextmanager
def standalone(folder: Path, workers: int = 2, java: str = "") -> Iterator[Cluster]:
    """A master and its workers of one core each. `java` are options of every JVM, drivers and executors included."""
    spark_class, port = str(HOME / "bin" / "spark-class"), free_port()
    url = f"spark://127.0.0.1:{port}"
    master = [spark_class, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    secret = shared_secret(folder, java)
    with ExitStack() as stack:
        stack.enter_context(running(folder, "master", port, *master, "--webui-port", "0", secret=secret, java=java))
        found = []
        for number in range(1, workers + 1):
            name, own = f"worker-{number}", free_port()
            place = ["--host", "127.0.0.1", "--port", str(own), "--webui-port", "0", "--work-dir", str(folder / name)]
            command = [spark_class, "org.apache.spark.deploy.worker.Worker", *place, "--cores", "1", "--memory", "1g"]
            process = stack.enter_context(running(folder, name, own, *command, url, secret=secret, java=java))
            found.append(Worker(process, own, folder / name, folder / f"{name}-scratch"))
        yield Cluster(url, tuple(found), secret)


@contextmanager
def connect(folder: Path, java: str = "") -> Iterator[Connect]:
    """A Connect server with two cores. A token without TLS is sent to `localhost` by that very name alone."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": "true",
        "spark.driver.extraJavaOptions": java,
        "spark.driver.extraClassPath": JARS if java else "",
    }
    secret = {"SPARK_CONNECT_AUTHENTICATE_TOKEN": secrets.token_hex(32)}
    flags = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    server = [str(HOME / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    with running(folder, "connect", port, *server, "--master", "local[2]", *flags, "spark-internal", secret=secret):
        yield Connect(f"sc://localhost:{port}", secret)
