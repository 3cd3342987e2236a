"""A real cluster of the 4.9 line (4.9.7, ACL 1.0): its keys without quotes, its signatures, its error codes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.ids import OffsetId
from idcore.lookup import LookupService, Moment
from idcore.remoting.acl import Credentials
from idcore.remoting.cluster import Cluster
from idcore.remoting.profile import Profile, name_servers
from tests.java import agent, jars
from tests.remoting.asking import texts
from tests.remoting.boot import HERE, QUIET, free_ports

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]

WRITER, READER = Credentials("writer-key", "writer-secret"), Credentials("reader-key", "reader-secret")
ACL = f"""\
globalWhiteRemoteAddresses: []
accounts:
- accessKey: {READER.access_key}
  secretKey: {READER.secret_key}
  whiteRemoteAddress:
  admin: false
  defaultTopicPerm: SUB
  defaultGroupPerm: SUB
- accessKey: {WRITER.access_key}
  secretKey: {WRITER.secret_key}
  whiteRemoteAddress:
  admin: true
"""
BROKER = """\
brokerClusterName=OldCluster
brokerName=old
brokerId=0
brokerIP1=127.0.0.1
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
aclEnable=true
"""


class Old:
    """The processes of the old cluster and the ids that were sent to it."""

    def __init__(self, work: Path) -> None:
        self.port = free_ports(set())
        self.names = f"127.0.0.1:{self.port + 3}"
        self.ids: list[tuple[str, str]] = []
        self._work = work
        self._processes: list[subprocess.Popen[bytes]] = []
        (work / "home" / "conf").mkdir(parents=True)
        for name in ("logback_broker.xml", "logback_namesrv.xml"):
            (work / "home" / "conf" / name).write_text(QUIET)
        (work / "home" / "conf" / "plain_acl.yml").write_text(ACL)
        (work / "names.conf").write_text(f"listenPort={self.port + 3}\n")
        (work / "broker.conf").write_text(BROKER.format(port=self.port, names=self.port + 3, store=work / "store"))

    def start(self) -> None:
        """Boots both and sends."""
        self._agent = [f"-javaagent:{agent.loopback_agent(self._work)}"]
        self._boot("names", "org.apache.rocketmq.namesrv.NamesrvStartup")
        self._boot("broker", "org.apache.rocketmq.broker.BrokerStartup")
        path = f"{jars.folder(jars.OLD_SERVER)}/*"
        source = str(HERE / "java" / "Tiny.java")
        subprocess.run(
            ["javac", "-d", str(self._work), "-cp", path, source], check=True, capture_output=True, timeout=90
        )
        send = [
            *self._java(),
            "-cp",
            f"{self._work}{os.pathsep}{path}",
            "Tiny",
            self.names,
            WRITER.access_key,
            WRITER.secret_key,
        ]
        done = subprocess.run(send, check=True, capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL)
        lines = [line.split() for line in done.stdout.splitlines() if line[:1] in "0123456789ABCDEF"]
        self.ids = [(words[0], words[1]) for words in lines if len(words) == 2]

    def stop(self) -> None:
        """Ends them at once."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def _java(self) -> list[str]:
        return [
            "java",
            "-Xms64m",
            "-Xmx256m",
            "-XX:MaxDirectMemorySize=256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Duser.home={self._work}",
            f"-Drocketmq.home.dir={self._work / 'home'}",
        ]

    def _boot(self, name: str, main: str) -> None:
        out = self._work / f"{name}.out"
        command = [
            *self._java(),
            *self._agent,
            "-cp",
            f"{jars.folder(jars.OLD_SERVER)}/*",
            main,
            "-c",
            str(self._work / f"{name}.conf"),
        ]
        with out.open("wb") as file:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        self._processes.append(process)
        until = time.monotonic() + 90
        while b"boot success" not in out.read_bytes():
            assert process.poll() is None, out.read_text(errors="replace")[-2_000:]
            assert time.monotonic() < until, f"{name} did not boot"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    jars.need_server()
    cluster = Old(tmp_path_factory.mktemp("old"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def desk_of(old: Old, credentials: Credentials | None) -> LookupService:
    profile = Profile("old", name_servers(old.names), credentials)
    return LookupService(Cluster(profile), lambda: Moment(datetime.now(UTC), UTC))


@pytest.mark.parametrize("who", [READER, WRITER], ids=["reader", "admin"])
def test_every_message_is_found_by_either_id_and_by_its_key(old: Old, who: Credentials) -> None:
    assert len(old.ids) == 5
    service = desk_of(old, who)
    with service.cluster:
        for at, (msg_id, offset_msg_id) in enumerate(old.ids):
            for answer in service.look_up([msg_id, offset_msg_id, f"old-{at}"]):
                assert [copy.record.plain_body() for copy in answer.copies] == [f"old {at}".encode()], texts(answer)
                assert (answer.copies[0].record.uniq_id, str(answer.copies[0].record.offset_id)) == (
                    msg_id,
                    offset_msg_id,
                )


def test_misses_have_their_reasons(old: Old) -> None:
    made = OffsetId.from_hex(old.ids[0][1])
    service = desk_of(old, READER)
    with service.cluster:
        for text, topic, reason in (
            (str(OffsetId.of(made.ip, made.port, 1)), None, "mid_record"),
            (str(OffsetId.of(made.ip, made.port, 1 << 40)), None, "beyond_end"),
            (str(OffsetId.of(made.ip, made.port - 2, 0)), None, "not_in_topology"),
            (old.ids[0][0][:-4] + "FFF0", "OldTopic", "unknown"),
            (old.ids[0][0], "TBW102", "wrong_topic"),
            (old.ids[0][0][:-4] + "FFF0", "Nowhere", "topic_unknown"),
        ):
            answer = service.one(text, topic)
            assert (answer.found, answer.reason) == (False, reason), texts(answer)


@pytest.mark.parametrize("who", [None, Credentials("reader-key", "wrong"), Credentials("nobody", "x")])
def test_who_may_not_ask_is_told_so(old: Old, who: Credentials | None) -> None:
    service = desk_of(old, who)
    with service.cluster:
        for text in old.ids[0]:
            answer = service.one(text)
            assert (answer.found, answer.reason) == (False, "not_permitted") and "AclException" in texts(answer)
