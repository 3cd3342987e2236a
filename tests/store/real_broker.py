"""One real broker of any line on a store that we wrote: boots it, asks it by hand, ends it. Judges no answer."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, BinaryIO

from tests.java import jars
from tests.remoting.boot import QUIET, free_ports

SEND, QUERY, MAX_OFFSET, VIEW, SEND_BACK, END_TRANSACTION, SEND_BATCH = 10, 12, 30, 33, 36, 37, 320
LONG_MOST = (1 << 63) - 1
# What a release has to be told besides; 4.9 unmaps its files by reflection when it stops.
_OF_5 = "bindAddress=127.0.0.1\ntimerWheelEnable=false\ndiskMaxUsedSpaceRatio=99\ntransactionOpBatchInterval=100\n"
_MORE = {jars.NEW_SERVER: _OF_5, jars.SERVER: _OF_5, jars.OLD_SERVER: "diskMaxUsedSpaceRatio=95\n"}
_OPENED = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "sun.nio.ch", "jdk.internal.ref")]


class RealBroker:
    """One broker process without a name server, all its ports on loopback, and one connection to it."""

    def __init__(self, work: Path, store: Path, agent: Path, server: str = jars.SERVER) -> None:
        self._work = work
        for part in ("conf", "home/conf", "user"):
            (work / part).mkdir(parents=True, exist_ok=True)
        (work / "conf" / "rmq.logback-test.xml").write_text(QUIET)
        (work / "home" / "conf" / "logback_broker.xml").write_text(QUIET)
        self.port = free_ports(set())
        conf = (store / "broker.conf").read_text() + (
            "brokerClusterName=DefaultCluster\nbrokerName=b\nbrokerId=0\nbrokerIP1=127.0.0.1\nbrokerIP2=127.0.0.1\n"
            f"listenPort={self.port}\nstorePathRootDir={store}\nstorePathCommitLog={store}/commitlog\n"
            f"autoCreateTopicEnable=true\nfileReservedTime=720000\ntransactionCheckInterval=3600000\n{_MORE[server]}"
        )
        (work / "broker.conf").write_text(conf)
        left_out = ("NAMESRV_ADDR", "ROCKETMQ_HOME", "JAVA_TOOL_OPTIONS")
        with (work / "out").open("wb") as out:
            self._process = subprocess.Popen(
                [
                    "java",
                    f"-javaagent:{agent}",
                    *_OPENED,
                    "-Xms64m",
                    "-Xmx384m",
                    "-XX:MaxDirectMemorySize=256m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    f"-Duser.home={work / 'user'}",
                    f"-Djava.io.tmpdir={tempfile.gettempdir()}",
                    "-XX:-UsePerfData",
                    f"-Drocketmq.home.dir={work / 'home'}",
                    "-cp",
                    f"{work / 'conf'}{os.pathsep}{jars.folder(server)}/*",
                    "org.apache.rocketmq.broker.BrokerStartup",
                    "-c",
                    str(work / "broker.conf"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=work,
                env={key: value for key, value in os.environ.items() if key not in left_out},
            )
        until = time.monotonic() + 120
        while b"boot success" not in (work / "out").read_bytes():
            if self._process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise RuntimeError((work / "out").read_text(errors="replace")[-3_000:])
            time.sleep(0.1)
        self._socket = socket.create_connection(("127.0.0.1", self.port), 20)
        self._answers: BinaryIO = self._socket.makefile("rb")
        self.client_port = int(self._socket.getsockname()[1])

    def ask(self, code: int, body: bytes = b"", **fields: Any) -> tuple[dict[str, Any], bytes]:
        """One request, one answer: header and body."""
        head = json.dumps(
            {
                "code": code,
                "language": "PYTHON",
                "version": 401,
                "opaque": 1,
                "flag": 0,
                "extFields": {name: str(value) for name, value in fields.items()},
            }
        ).encode()
        self._socket.sendall(
            (4 + len(head) + len(body)).to_bytes(4, "big") + len(head).to_bytes(4, "big") + head + body
        )
        raw = self._answers.read(int.from_bytes(self._answers.read(4), "big"))
        size = int.from_bytes(raw[:4], "big") & 0xFFFFFF
        return json.loads(raw[4 : 4 + size]), raw[4 + size :]

    def stop(self) -> None:
        """A clean stop of this one process, which takes seconds: everything is flushed, and `abort` goes."""
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends this one process at once."""
        self._process.kill()
        self._process.wait()
