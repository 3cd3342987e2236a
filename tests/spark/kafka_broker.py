"""A real Kafka broker on loopback, and a producer of lines. For tests."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.java import jars

CLASSES = f"{jars.folder(jars.KAFKA)}/*"
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
PRODUCER = Path(jars.__file__).with_name("Produce.java")
PATIENCE = 60.0
SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
num.partitions=3
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def need() -> None:
    """Without Kafka's jars the test that calls this is skipped; in CI it fails."""
    absent = [name for name in (jars.KAFKA, jars.SPARK_KAFKA) if not jars.is_there(name)]
    if absent and os.environ.get("CI") == "true":
        pytest.fail(f"jars are not there ({', '.join(absent)}): python tests/java/jars.py")
    if absent:
        pytest.skip(f"jars are not there ({', '.join(absent)}): python tests/java/jars.py")


@dataclass
class Broker:
    address: str
    producer: subprocess.Popen[str]

    def send(self, lines: Sequence[str]) -> None:
        """Sends lines, and waits until they are stored."""
        assert self.producer.stdin is not None and self.producer.stdout is not None
        self.producer.stdin.write("".join(f"{line}\n" for line in lines) + "\n")
        self.producer.stdin.flush()
        assert self.producer.stdout.readline() == "stored\n"


def java(*words: str, **how: object) -> subprocess.Popen[str]:
    command = ["java", *QUICK, "-cp", CLASSES, *words]
    return subprocess.Popen(command, text=True, **how)  # type: ignore[call-overload,no-any-return]


@contextmanager
def broker(folder: Path, topic: str) -> Iterator[Broker]:
    """A broker with one topic, which its first records make."""
    need()
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        port, controller = one.getsockname()[1], two.getsockname()[1]
    settings = folder / "server.properties"
    settings.write_text(SETTINGS.format(port=port, controller=controller, folder=folder))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    made = java("kafka.tools.StorageTool", "format", "-t", "rR2O9c2jQtGXKWfHKq9Yzw", "-c", str(settings), **quiet)
    assert made.wait(PATIENCE) == 0
    with (folder / "broker.log").open("w") as log:
        server = java("kafka.Kafka", str(settings), stdout=log, stderr=log)
    try:
        end = time.monotonic() + PATIENCE
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert server.poll() is None and time.monotonic() < end, (folder / "broker.log").read_text()
            time.sleep(0.1)
        address, pipe = f"127.0.0.1:{port}", subprocess.PIPE
        with java(str(PRODUCER), address, topic, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as producer:
            yield Broker(address, producer)
            producer.kill()
    finally:
        server.kill()
        server.wait()
