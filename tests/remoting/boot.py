"""A real name server and brokers on loopback: `a` wants signatures (ACL 2.0), `b` and its slave speak TLS only."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.java import jars

HERE = Path(__file__).resolve().parent
ACCESS, SECRET = "tester", "tester-secret-1"
READER = "reader", "reader-secret-1"
QUIET = '<configuration><root level="OFF"/></configuration>'
_BROKER = """\
brokerClusterName=TestCluster
brokerName={name}
brokerId={number}
brokerRole={role}
brokerIP1=127.0.0.1
brokerIP2=127.0.0.1
bindAddress=127.0.0.1
listenPort={port}
namesrvAddr=127.0.0.1:{names}
storePathRootDir={store}
storePathCommitLog={store}/commitlog
authConfigPath={store}/../auth
autoCreateTopicEnable=false
autoCreateSubscriptionGroup=true
mappedFileSizeCommitLog=1048576
mappedFileSizeConsumeQueue=6000
maxMessageSize=524288
maxHashSlotNum=5000
maxIndexNum=4000
fileReservedTime=72
deleteWhen=04
diskMaxUsedSpaceRatio=95
timerWheelEnable=false
messageDelayLevel=1s 2s 3s 4s 5s 6s 7s 8s 9s 10s
waitTimeMillsInSendQueue=5000
"""
_AUTH = """\
authenticationEnabled=true
authenticationProvider=org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider
authenticationMetadataProvider=org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider
initAuthenticationUser={user}
innerClientAuthenticationCredentials={inner}
authorizationEnabled=true
authorizationProvider=org.apache.rocketmq.auth.authorization.provider.DefaultAuthorizationProvider
authorizationMetadataProvider=org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider
"""


def _free(port: int) -> bool:
    for host in ("127.0.0.1", "0.0.0.0"):
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                return False
    return True


def free_ports(taken: set[int]) -> int:
    """A broker's port p, with p-2 (fast remoting) and p+1 (HA) free as well, and p+3 for a name server."""
    for _ in range(500):
        port = random.randrange(20_002, 30_000)
        wanted = {port - 2, port, port + 1, port + 3}
        if not wanted & taken and all(_free(each) for each in wanted):
            taken |= wanted
            return port
    raise RuntimeError("no free ports")


class RealCluster:
    """The processes, by their pids; `stop` ends those and no other."""

    def __init__(self, work: Path) -> None:
        self.work = work
        taken: set[int] = set()
        self.port_a, self.port_b, self.port_slave = (free_ports(taken) for _ in range(3))
        self.names = f"127.0.0.1:{self.port_a + 3}"
        self.ca = work / "cert.pem"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._started = time.monotonic()

    @property
    def broker_a(self) -> str:
        """Wants signatures, speaks plain and TLS."""
        return f"127.0.0.1:{self.port_a}"

    @property
    def broker_b(self) -> str:
        """Speaks TLS only."""
        return f"127.0.0.1:{self.port_b}"

    @property
    def slave_b(self) -> str:
        """Holds the log of b, and speaks TLS only."""
        return f"127.0.0.1:{self.port_slave}"

    def start(self, limit: float = 90.0) -> float:
        """Boots all of them; the seconds it took until both masters were there."""
        self._certificate()
        self._folder("names", f"listenPort={self.names.rpartition(':')[2]}\nbindAddress=127.0.0.1\n")
        user = json.dumps({"username": ACCESS, "password": SECRET})
        inner = json.dumps({"accessKey": ACCESS, "secretKey": SECRET})
        names = self.names.rpartition(":")[2]
        for name, broker, number, role, port, more in (
            ("broker-a", "broker-a", 0, "ASYNC_MASTER", self.port_a, _AUTH.format(user=user, inner=inner)),
            ("broker-b", "broker-b", 0, "ASYNC_MASTER", self.port_b, ""),
            ("slave-b", "broker-b", 1, "SLAVE", self.port_slave, ""),
        ):
            store = self.work / name / "store"
            conf = _BROKER.format(name=broker, number=number, role=role, port=port, names=names, store=store)
            self._folder(name, conf + more)
        # The log of broker b begins at 2 MiB, as if two files had been deleted: the broker itself waits a minute
        # before it deletes anything.
        log = self.work / "broker-b" / "store" / "commitlog"
        log.mkdir(parents=True)
        (log / f"{2 << 20:020d}").write_bytes(bytes(1 << 20))
        self._run("names", "org.apache.rocketmq.namesrv.NamesrvStartup", "permissive", "192m")
        self._wait("names", limit)
        memory, main = "-XX:MaxDirectMemorySize=256m", "org.apache.rocketmq.broker.BrokerStartup"
        for name, mode in (("broker-a", "permissive"), ("broker-b", "enforcing")):
            self._run(name, main, mode, "384m", memory)
        for name in ("broker-a", "broker-b"):
            self._wait(name, limit)
        # A slave that registers before its master does not learn where to copy from; it boots while others work.
        self._run("slave-b", main, "enforcing", "384m", memory, "-Dtls.enable=true")
        return time.monotonic() - self._started

    def send(self, file: Path, limit: float = 120.0) -> None:
        """Runs Sender.java."""
        classes = self.work / "classes"
        self._folder("sender", "")
        path = f"{self.work / 'sender' / 'conf'}{os.pathsep}{jars.folder(jars.SERVER)}/*"
        compile_ = ["javac", "-nowarn", "-d", str(classes), "-cp", path, str(HERE / "java" / "Sender.java")]
        subprocess.run(compile_, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit)
        command = [
            *self._java("sender", "permissive"), "-Xmx192m", "-Dtls.enable=true", "-cp", f"{classes}{os.pathsep}{path}",
            "Sender", self.names, ACCESS, SECRET, self.broker_a, self.broker_b, str(file),
        ]  # fmt: skip
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit)
        if done.returncode:
            raise RuntimeError(done.stdout[-2_000:] + done.stderr[-4_000:])

    def mqadmin(self, *arguments: str) -> str:
        """What mqadmin prints, over TLS; it has no keys, so broker `a` does not answer it."""
        path = f"{self.work / 'sender' / 'conf'}{os.pathsep}{jars.folder(jars.SERVER)}/*"
        command = [
            *self._java("sender", "permissive"),
            "-Dtls.enable=true",
            "-Dfile.encoding=UTF-8",
            "-cp",
            path,
            "org.apache.rocketmq.tools.command.MQAdminStartup",
            *arguments,
            "-n",
            self.names,
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=90)
        return done.stdout

    def kill(self, name: str) -> None:
        """Ends one of them at once."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """Ends what is left."""
        for name in list(self._processes):
            self.kill(name)

    def _certificate(self) -> None:
        key = self.work / "key.pem"
        command = [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=broker.test",
            "-addext", "subjectAltName=DNS:broker.test,IP:127.0.0.1", "-keyout", str(key), "-out", str(self.ca),
        ]  # fmt: skip
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        (self.work / "tls.properties").write_text(
            f"tls.test.mode.enable=false\ntls.server.keyPath={key}\ntls.server.certPath={self.ca}\n"
            f"tls.client.authServer=false\ntls.client.trustCertPath={self.ca}\n"
        )

    def _folder(self, name: str, conf: str) -> None:
        for part in ("conf", "home/conf", "user"):
            (self.work / name / part).mkdir(parents=True, exist_ok=True)
        (self.work / name / "conf" / "rmq.logback-test.xml").write_text(QUIET)
        (self.work / name / "server.conf").write_text(conf)

    def _java(self, name: str, mode: str) -> list[str]:
        folder = self.work / name
        return [
            "java",
            "-Xms64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Duser.home={folder / 'user'}",
            f"-Drocketmq.home.dir={folder / 'home'}",
            f"-Dtls.config.file={self.work / 'tls.properties'}",
            f"-Dtls.server.mode={mode}",
        ]

    def _run(self, name: str, main: str, mode: str, memory: str, *options: str) -> None:
        folder = self.work / name
        path = f"{folder / 'conf'}{os.pathsep}{jars.folder(jars.SERVER)}/*"
        command = [*self._java(name, mode), f"-Xmx{memory}", *options, "-cp", path, main, "-c", f"{folder}/server.conf"]
        left_out = ("NAMESRV_ADDR", "ROCKETMQ_HOME", "JAVA_TOOL_OPTIONS")
        environment = {key: value for key, value in os.environ.items() if key not in left_out}
        with (folder / "out").open("wb") as out:
            self._processes[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment, cwd=folder
            )

    def _wait(self, name: str, limit: float) -> None:
        out = self.work / name / "out"
        self._until(lambda: b"boot success" in out.read_bytes(), name, limit)

    def _until(self, done: Callable[[], bool], name: str, limit: float) -> None:
        while not done():
            text = (self.work / name / "out").read_text(errors="replace")[-3_000:]
            if self._processes[name].poll() is not None:
                raise RuntimeError(f"{name} ended:\n{text}")
            if time.monotonic() - self._started > limit:
                raise TimeoutError(f"{name} did not boot:\n{text}")
            time.sleep(0.1)
