"""The real broker, 5.3.3, on a store that we wrote: boots, serves every message by both ids, and goes on appending."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from idcore.message import decode_record, decode_records
from idcore.store import Stored, StoreFolder
from tests.java import jars

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(300)]
_SEND, _QUERY, _MAX_OFFSET, _VIEW = 10, 12, 30, 33
_LONG_MOST = (1 << 63) - 1


class RealBroker:
    """One broker process without a name server, and one connection to it."""

    def __init__(self, work: Path, store: Path) -> None:
        self._work = work
        for part in ("conf", "home/conf", "user"):
            (work / part).mkdir(parents=True, exist_ok=True)
        (work / "conf" / "rmq.logback-test.xml").write_text('<configuration><root level="OFF"/></configuration>')
        port = next(port for port in iter(lambda: random.randrange(20_002, 30_000), 0) if _free(port))
        conf = (store / "broker.conf").read_text() + (
            "brokerClusterName=DefaultCluster\nbrokerName=b\nbrokerId=0\nbrokerIP1=127.0.0.1\nbrokerIP2=127.0.0.1\n"
            f"bindAddress=127.0.0.1\nlistenPort={port}\nstorePathRootDir={store}\n"
            f"storePathCommitLog={store}/commitlog\nautoCreateTopicEnable=true\nfileReservedTime=720000\n"
            "timerWheelEnable=false\ndiskMaxUsedSpaceRatio=99\ntransactionCheckInterval=3600000\n"
        )
        (work / "broker.conf").write_text(conf)
        left_out = ("NAMESRV_ADDR", "ROCKETMQ_HOME", "JAVA_TOOL_OPTIONS")
        with (work / "out").open("wb") as out:
            self._process = subprocess.Popen(
                ["java", "-Xms64m", "-Xmx384m", "-XX:MaxDirectMemorySize=256m", "-XX:+UseSerialGC",
                 "-XX:TieredStopAtLevel=1", f"-Duser.home={work / 'user'}", f"-Drocketmq.home.dir={work / 'home'}",
                 "-cp", f"{work / 'conf'}{os.pathsep}{jars.folder(jars.SERVER)}/*",
                 "org.apache.rocketmq.broker.BrokerStartup", "-c", str(work / "broker.conf")],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=work,
                env={key: value for key, value in os.environ.items() if key not in left_out},
            )  # fmt: skip
        until = time.monotonic() + 120
        while b"boot success" not in (work / "out").read_bytes():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise RuntimeError((work / "out").read_text(errors="replace")[-3_000:])
            time.sleep(0.1)
        self._socket = socket.create_connection(("127.0.0.1", port), 20)
        self._answers: BinaryIO = self._socket.makefile("rb")

    def ask(self, code: int, body: bytes = b"", **fields: Any) -> tuple[dict[str, Any], bytes]:
        """One request, one answer: header and body."""
        head = json.dumps(
            {"code": code, "language": "PYTHON", "version": 475, "opaque": 1, "flag": 0,
             "extFields": {name: str(value) for name, value in fields.items()}}
        ).encode()  # fmt: skip
        self._socket.sendall(
            (4 + len(head) + len(body)).to_bytes(4, "big") + len(head).to_bytes(4, "big") + head + body
        )
        raw = self._answers.read(int.from_bytes(self._answers.read(4), "big"))
        size = int.from_bytes(raw[:4], "big") & 0xFFFFFF
        return json.loads(raw[4 : 4 + size]), raw[4 + size :]

    def stop(self) -> None:
        """A clean stop of this one process."""
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free(port: int) -> bool:
    for host, number in ((host, number) for host in ("127.0.0.1", "0.0.0.0") for number in (port - 2, port, port + 1)):
        with socket.socket() as probe:
            try:
                probe.bind((host, number))
            except OSError:
                return False
    return True


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    problem = jars.missing_server()
    if problem and os.environ.get("CI") == "true":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
    folder = tmp_path_factory.mktemp("broker")
    command = [sys.executable, "-m", "idcore", "make", "store", "--messages", "500", "--out", str(folder / "store")]
    subprocess.run(command, check=True, cwd=ROOT, timeout=120)
    return folder, json.loads((folder / "truth.json").read_text())


@pytest.fixture(scope="module")
def broker(made: tuple[Path, dict[str, Any]]) -> Iterator[RealBroker]:
    running = RealBroker(made[0] / "work", made[0] / "store")
    try:
        yield running
    finally:
        running.stop()


def test_every_message_is_served_by_its_offset_id(broker: RealBroker, made: tuple[Path, dict[str, Any]]) -> None:
    served = 0
    for sent in made[1]["sent"]:
        for copy in sent["copies"]:
            head, raw = broker.ask(_VIEW, offset=copy["commit_log_offset"])
            assert head["code"] == 0, head
            assert str(decode_record(raw).offset_id) == copy["offset_msg_id"]
            served += 1
    assert served > 500


def test_every_message_is_served_by_its_msg_id_and_keys(broker: RealBroker, made: tuple[Path, dict[str, Any]]) -> None:
    for sent in made[1]["sent"]:
        uniq_id = sent["batch_id"] if sent["act"] == "batch" else sent["msg_id"]
        unique: dict[str, Any] = {"_UNIQUE_KEY_QUERY": "true"}
        for key, extra in ((uniq_id, unique), (sent["keys"].split(" ")[0], {})):
            for topic in sorted({copy["topic"] for copy in sent["copies"]}):
                head, raw = broker.ask(
                    _QUERY, topic=topic, key=key, maxNum=64, beginTimestamp=0, endTimestamp=_LONG_MOST, **extra
                )
                assert head["code"] == 0, (head, sent)
                found = {str(record.offset_id) for record in decode_records(raw)}
                assert {copy["offset_msg_id"] for copy in sent["copies"] if copy["topic"] == topic} <= found


def test_the_broker_goes_on_where_we_ended(broker: RealBroker, made: tuple[Path, dict[str, Any]]) -> None:
    root, truth = made[0] / "store", made[1]
    queue = next(row for row in truth["queues"] if row["topic"] == "OrderPaid" and row["queue_id"] == 1)
    head, _ = broker.ask(_MAX_OFFSET, topic="OrderPaid", queueId=1)
    assert head["extFields"]["offset"] == str(queue["messages"])
    head, _ = broker.ask(
        _SEND, b"one more", producerGroup="g", topic="OrderPaid", defaultTopic="TBW102", defaultTopicQueueNums=4,
        queueId=1, sysFlag=0, bornTimestamp=1_795_000_000_000, flag=0, reconsumeTimes=0, unitMode="false",
        properties="UNIQ_KEY\x010A000001000118B4AAC2000000000001\x02KEYS\x01hello\x02",
    )  # fmt: skip
    assert head["code"] == 0, head
    assert head["extFields"]["queueOffset"] == str(queue["messages"])
    offset = int(head["extFields"]["msgId"][16:], 16)
    assert offset == truth["end"]  # nothing was delivered or checked a second time
    with StoreFolder(root) as store:  # a broker is running on it: we only read
        found = store.log.look(offset)
        assert isinstance(found, Stored)
        assert (found.record.body, found.record.uniq_id) == (b"one more", "0A000001000118B4AAC2000000000001")
        assert store.aborted
