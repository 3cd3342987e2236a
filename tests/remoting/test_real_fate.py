"""What became of messages, said about real brokers (5.3.3 and 4.9.7) while real consumers do each thing once."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from idcore.fate import Verdict, row_of
from idcore.lookup import Answer, LookupService, Moment
from idcore.remoting.cluster import Cluster
from idcore.remoting.profile import Profile, name_servers
from tests.java import agent, jars
from tests.remoting.asking import texts
from tests.remoting.boot import HERE, QUIET, free_ports

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]

TOPIC = "FateTopic"
BROKER = """\
brokerClusterName=FateCluster
brokerName=fate
brokerId=0
brokerIP1=127.0.0.1
brokerIP2=127.0.0.1
bindAddress=127.0.0.1
listenPort={port}
namesrvAddr=127.0.0.1:{names}
storePathRootDir={store}
storePathCommitLog={store}/commitlog
autoCreateTopicEnable=true
mappedFileSizeCommitLog=1048576
mappedFileSizeConsumeQueue=6000
maxMessageSize=524288
maxHashSlotNum=5000
maxIndexNum=4000
diskMaxUsedSpaceRatio=95
timerWheelEnable=true
messageDelayLevel=1s 2s 3s 4s 5s 6s 7s 8s 9s 300s
"""


class Consumed:
    """A broker, and the consumers of Consumers.java; `events` are what they did, as they print it."""

    def __init__(self, work: Path, release: str) -> None:
        self.release = release
        self.ready = 0.0
        self.port = free_ports(set())
        self.names = f"127.0.0.1:{self.port + 3}"
        self.events: list[list[str]] = []
        self._work = work
        self._processes: list[subprocess.Popen[Any]] = []
        self._path = f"{jars.folder(release)}/*"
        (work / "home" / "conf").mkdir(parents=True)
        for name in ("logback_broker.xml", "logback_namesrv.xml", "rmq.logback-test.xml"):
            (work / "home" / "conf" / name).write_text(QUIET)
        (work / "names.conf").write_text(f"listenPort={self.port + 3}\nbindAddress=127.0.0.1\n")
        (work / "broker.conf").write_text(BROKER.format(port=self.port, names=self.port + 3, store=work / "store"))

    def start(self) -> None:
        """Boots both servers, then the consumers."""
        source = str(HERE / "java" / "Consumers.java")
        compiling = ["javac", "-nowarn", "-d", str(self._work), "-cp", self._path, source]
        subprocess.run(compiling, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=90)
        guard = [f"-javaagent:{agent.loopback_agent(self._work)}"] if self.release == jars.OLD_SERVER else []
        self._boot("names", [*guard], "org.apache.rocketmq.namesrv.NamesrvStartup")
        self._boot("broker", [*guard], "org.apache.rocketmq.broker.BrokerStartup")
        quick = ["-Drocketmq.client.rebalance.waitInterval=500", "-Drocketmq.client.logUseSlf4j=true"]
        process = subprocess.Popen(
            [*self._java(), *quick, "-cp", f"{self._work}{os.pathsep}{self._class_path()}", "Consumers", self.names,
             f"127.0.0.1:{self.port}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self._work,
        )  # fmt: skip
        self._processes.append(process)
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        for line in process.stdout:
            self.events.append(line.split())

    def wait_for(self, *events: str, limit: float = 60) -> None:
        """Until the consumers have done all this."""
        until = time.monotonic() + limit
        while missing := [event for event in events if event.split() not in self.events]:
            assert time.monotonic() < until, f"{missing} of {self.events[-40:]}"
            time.sleep(0.1)

    def msg_id(self, name: str) -> str:
        """The msgId of a message that was sent."""
        return next(event[2] for event in self.events if event[:2] == ["SENT", name])

    def stop(self) -> None:
        """Ends them at once."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def _class_path(self) -> str:
        return f"{self._work / 'home' / 'conf'}{os.pathsep}{self._path}"

    def _java(self) -> list[str]:
        return [
            "java", "-Xms64m", "-Xmx256m", "-XX:MaxDirectMemorySize=256m", "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1", f"-Duser.home={self._work}", f"-Drocketmq.home.dir={self._work / 'home'}",
        ]  # fmt: skip

    def _boot(self, name: str, options: list[str], main: str) -> None:
        out = self._work / f"{name}.out"
        command = [*self._java(), *options, "-cp", self._class_path(), main, "-c", str(self._work / f"{name}.conf")]
        with out.open("wb") as file:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        self._processes.append(process)
        until = time.monotonic() + 90
        while b"boot success" not in out.read_bytes():
            assert process.poll() is None, out.read_text(errors="replace")[-2_000:]
            assert time.monotonic() < until, f"{name} did not boot"
            time.sleep(0.1)


@pytest.fixture(scope="module", params=[jars.SERVER, jars.OLD_SERVER])
def consumed(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Consumed]:
    jars.need_server()
    made = Consumed(tmp_path_factory.mktemp("fate"), request.param)
    try:
        made.start()
        made.wait_for("READY", limit=120)
        made.ready = time.monotonic()
        yield made
    finally:
        made.stop()


def ask(consumed: Consumed, name: str) -> tuple[Answer, dict[str, Verdict]]:
    profile = Profile("fate", name_servers(consumed.names))
    with Cluster(profile) as cluster:
        service = LookupService(cluster, lambda: Moment(datetime.now(UTC), UTC))
        answer = service.one(consumed.msg_id(name), TOPIC, fate=True)
    assert answer.found and answer.fate is not None, texts(answer)
    return answer, {verdict.group: verdict for verdict in answer.fate}


def said(verdict: Verdict) -> tuple[str, str, list[str]]:
    return verdict.code, verdict.certainty, [reason.code for reason in verdict.why]


def test_each_verdict_is_what_the_consumer_did(consumed: Consumed) -> None:
    consumed.wait_for(
        "DONE works first 0", "DONE gone first 0", "FAILED fails first 0", "FAILED later first 0",
        "DONE later first 1", "FAILED dies first 0", "FAILED dies first 1", "BEGAN hangs first 0",
        "DONE spread first 0", "DONE pulls first 0", "DONE newcomer third 0",
    )  # fmt: skip
    assert ["DONE", "tagged", "first", "0"] not in consumed.events
    time.sleep(max(0.0, consumed.ready + 8 - time.monotonic()))  # offsets are reported; "first" is not young any more
    answer, verdicts = ask(consumed, "first")
    new = consumed.release == jars.SERVER
    expected = {
        "works": ("consumed", "inferred", []),
        "gone": ("consumed", "inferred", ["nobody_connected"]),
        "tagged": ("filtered", "inferred", []),
        "fails": ("retry_waiting", "proved", []),
        "later": ("consumed_on_retry", "inferred", []),
        "dies": ("dead", "proved", []),
        "hangs": ("handed_out", "inferred", []) if new else ("stuck", "inferred", ["still", "blocker"]),
        "spread": (
            "broadcast",
            "inferred" if new else "uncertain",
            ["broadcast_reached" if new else "broadcast_unknown"],
        ),
        "pulls": ("taken", "inferred", ["pulled"]),
        "newcomer": ("passed_maybe_skipped", "uncertain", ["subscribed_later"]),
    }
    if new:  # the connection of a push client that pops looks like that of any other
        consumed.wait_for("POPPED pops first 0", "DONE pops first 0")
        expected["pops"] = ("consumed", "inferred", [])
    assert {group: said(verdict) for group, verdict in verdicts.items()} == expected
    assert verdicts["fails"].values["tries"] == 1 and verdicts["later"].values == {"tries": 1}
    assert verdicts["dies"].values["tries"] == 2
    due = verdicts["fails"].values["due"] - datetime.now(UTC).timestamp() * 1_000
    assert 200_000 < due < 300_000
    relations = {copy.relation for copy in answer.copies}
    assert {"message", "retry", "retry_waiting", "dead_letter"} <= relations
    assert {copy.group for copy in answer.copies if copy.relation == "retry_waiting"} >= {"fails"}
    for verdict in verdicts.values():
        row = row_of(verdict)
        assert row["asked_at"] and row["evidence"] and row["disproof"] and "?" not in row["verdict_text"]


def test_a_group_without_clients_is_offline_not_behind(consumed: Consumed) -> None:
    consumed.wait_for("GONE", "DONE works second 0")
    time.sleep(2)
    _, verdicts = ask(consumed, "second")
    assert said(verdicts["gone"]) == ("offline", "inferred", ["proxy"]) and verdicts["gone"].values == {"ahead": 0}
    assert said(verdicts["works"])[0] == "consumed"
    assert ["DONE", "gone", "second", "0"] not in consumed.events
