"""Real name servers and brokers on loopback: processes by name, a guarded cluster, and one broker with its clients."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from idcore.rocketmq.remoting.acl import Credentials
from tests.java import agent, jars
from tests.remoting import certificates

HERE = Path(__file__).resolve().parent
NAMES, BROKER = "org.apache.rocketmq.namesrv.NamesrvStartup", "org.apache.rocketmq.broker.BrokerStartup"
ACCESS, SECRET = "tester", "tester-secret-1"
QUIET = '<configuration><root level="OFF"/></configuration>'
_MEMBER = """\
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

_ALONE = """\
brokerClusterName=Alone
brokerName=alone
brokerId=0
brokerIP1=127.0.0.1
brokerIP2=127.0.0.1
bindAddress=127.0.0.1
listenPort={port}
namesrvAddr=127.0.0.1:{names}
storePathRootDir={store}
storePathCommitLog={store}/commitlog
autoCreateTopicEnable=true
traceTopicEnable=true
mappedFileSizeCommitLog=1048576
mappedFileSizeConsumeQueue=6000
maxMessageSize=524288
maxHashSlotNum=5000
maxIndexNum=4000
diskMaxUsedSpaceRatio=95
timerWheelEnable=true
timerFlushIntervalMs=10000
messageDelayLevel=1s 1s 1s 1s 1s 1s 1s 1s 1s 1h
enablePropertyFilter=true
recallMessageEnable=true
transactionTimeOut=1000
transactionCheckInterval=2000
"""
# One gives an undecided transaction up at once, the other never.
_OF_NEW, _OF_OLD = "transactionCheckMax=2\n", "transactionCheckMax=10000\naclEnable=true\n"
WRITER, READER = Credentials("writer-key", "writer-secret"), Credentials("reader-key", "reader-secret")
_ACL = f"""\
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
CLIENTS = ("Consumers", "Reasons", "Traced", "Halted", "Tiny", "Tracks")


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


# Clusters of one run boot at the same time.
_TAKEN: set[int] = set()


class Processes:
    """Java processes of one release, by their names; `stop` ends those and no other, and none begins after it."""

    def __init__(self, work: Path, release: str) -> None:
        work.mkdir(exist_ok=True)
        self.work = work
        self.release = release
        self._jars = f"{jars.folder(release)}/*"
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._stopped = False
        self._started = time.monotonic()

    def folder(self, name: str, conf: str = "") -> Path:
        """The folder of one process, with its settings and silent logs."""
        folder = self.work / name
        for part in ("conf", "home/conf", "user"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        for path in (
            "conf/rmq.logback-test.xml",
            "conf/logback-test.xml",
            "home/conf/logback_broker.xml",
            "home/conf/logback_namesrv.xml",
        ):
            (folder / path).write_text(QUIET)
        (folder / "server.conf").write_text(conf)
        return folder

    def java(self, name: str, *options: str) -> list[str]:
        """The command of a process up to the name of its class."""
        folder = self.work / name
        path = os.pathsep.join((str(self.work / "classes"), str(folder / "conf"), self._jars))
        return [
            "java",
            "-Xms64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Duser.home={folder / 'user'}",
            f"-Djava.io.tmpdir={tempfile.gettempdir()}",
            "-XX:-UsePerfData",
            f"-Drocketmq.home.dir={folder / 'home'}",
            *options,
            "-cp",
            path,
        ]

    def compile(self, *sources: str) -> None:
        """Programs of the folder java, against the jars of this release."""
        jars.javac(self.release, self.work / "classes", *(HERE / "java" / source for source in sources))

    def boot(self, name: str, main: str, *options: str) -> None:
        """Begins a server; `wait` ends when it is there."""
        self.begin(name, [*self.java(name, *options), main, "-c", str(self.work / name / "server.conf")])

    def begin(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        """Begins a process, which writes to its file `out`."""
        left_out = ("NAMESRV_ADDR", "ROCKETMQ_HOME", "JAVA_TOOL_OPTIONS")
        environment = {key: value for key, value in os.environ.items() if key not in left_out}
        with self._lock, self._out(name).open("wb") as out:
            if self._stopped:
                raise RuntimeError("ended while it booted")
            made = self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=self.work / name,
            )
        return made

    def wait(self, name: str, text: bytes = b"boot success", limit: float = 150.0) -> None:
        """Until a process has written this."""
        until = time.monotonic() + limit
        while text not in self._out(name).read_bytes():
            said = self._out(name).read_text(errors="replace")[-3_000:]
            if name not in self._running or self._running[name].poll() is not None:
                raise RuntimeError(f"{name} ended:\n{said}")
            if time.monotonic() > until:
                raise TimeoutError(f"{name} did not write {text.decode()}:\n{said}")
            time.sleep(0.1)

    def kill(self, name: str) -> None:
        """Ends one of them at once."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """Ends what is left."""
        with self._lock:
            self._stopped = True
        for name in list(self._running):
            self.kill(name)

    def _out(self, name: str) -> Path:
        return self.work / name / "out"


class RealCluster(Processes):
    """Several brokers of 5.3.3: `a` wants signatures (ACL 2.0), `b` and its slave speak TLS only."""

    def __init__(self, work: Path) -> None:
        super().__init__(work, jars.SERVER)
        self.port_a, self.port_b, self.port_slave = (free_ports(_TAKEN) for _ in range(3))
        self.names = f"127.0.0.1:{self.port_a + 3}"
        self.ca = work / "cert.pem"

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

    def start(self) -> None:
        """Boots all of them, until both masters are there."""
        self._certificate()
        self.folder("names", f"listenPort={self.port_a + 3}\nbindAddress=127.0.0.1\n")
        user = json.dumps({"username": ACCESS, "password": SECRET})
        inner = json.dumps({"accessKey": ACCESS, "secretKey": SECRET})
        for name, broker, number, role, port, more in (
            ("broker-a", "broker-a", 0, "ASYNC_MASTER", self.port_a, _AUTH.format(user=user, inner=inner)),
            ("broker-b", "broker-b", 0, "ASYNC_MASTER", self.port_b, ""),
            ("slave-b", "broker-b", 1, "SLAVE", self.port_slave, ""),
        ):
            store, names = self.work / name / "store", self.port_a + 3
            conf = _MEMBER.format(name=broker, number=number, role=role, port=port, names=names, store=store)
            self.folder(name, conf + more)
        # The log of broker b begins at 2 MiB, as if two files had been deleted: the broker itself waits a minute
        # before it deletes anything.
        log = self.work / "broker-b" / "store" / "commitlog"
        log.mkdir(parents=True)
        (log / f"{2 << 20:020d}").write_bytes(bytes(1 << 20))
        self.boot("names", NAMES, *self._tls("permissive"), "-Xmx192m")
        self.wait("names")
        memory = ("-Xmx384m", "-XX:MaxDirectMemorySize=256m")
        for name, mode in (("broker-a", "permissive"), ("broker-b", "enforcing")):
            self.boot(name, BROKER, *self._tls(mode), *memory)
        self.compile("Sender.java")
        for name in ("broker-a", "broker-b"):
            self.wait(name)
        # A slave that registers before its master does not learn where to copy from; it boots while others work.
        self.boot("slave-b", BROKER, *self._tls("enforcing"), *memory, "-Dtls.enable=true")

    def send(self, file: Path, limit: float = 150.0) -> None:
        """Runs Sender.java. What mqadmin prints of two messages is in files next to this one, by command."""
        self.folder("sender")
        options = [*self._tls("permissive"), "-Xmx192m", "-Dtls.enable=true"]
        arguments = [self.names, ACCESS, SECRET, self.broker_a, self.broker_b, str(file)]
        if self.begin("sender", [*self.java("sender", *options), "Sender", *arguments]).wait(limit):
            raise RuntimeError((self.work / "sender" / "out").read_text(errors="replace")[-4_000:])

    def _tls(self, mode: str) -> tuple[str, ...]:
        return f"-Dtls.config.file={self.work / 'tls.properties'}", f"-Dtls.server.mode={mode}"

    def _certificate(self) -> None:
        key = self.work / "key.pem"
        certificates.write(self.ca, key, "127.0.0.1")
        (self.work / "tls.properties").write_text(
            f"tls.test.mode.enable=false\ntls.server.keyPath={key}\ntls.server.certPath={self.ca}\n"
            f"tls.client.authServer=false\ntls.client.trustCertPath={self.ca}\n"
        )


class OneBroker(Processes):
    """A name server and a broker of one release, and one process with all clients that the tests want.

    The clients write what they did into their file `out`, a line for each thing; `events` has the words of each.
    4.9.7 wants signatures (ACL 1.0): a cluster has them or has not.
    """

    def __init__(self, work: Path, release: str) -> None:
        super().__init__(work, release)
        self.old = release == jars.OLD_SERVER
        self.port = free_ports(_TAKEN)
        self.names = f"127.0.0.1:{self.port + 3}"
        self.pid = 0

    def start(self, programs: Sequence[str] = CLIENTS) -> OneBroker:
        """Boots both servers and begins the clients; itself."""
        self.folder("names", f"listenPort={self.port + 3}\nbindAddress=127.0.0.1\n")
        conf = _ALONE.format(port=self.port, names=self.port + 3, store=self.work / "broker" / "store")
        (self.folder("broker", conf + (_OF_OLD if self.old else _OF_NEW)) / "home/conf/plain_acl.yml").write_text(_ACL)
        self.folder("clients")
        # 4.9 cannot be told to listen on loopback only
        guard = [f"-javaagent:{agent.loopback_agent(self.work)}"] if self.old else []
        self.boot("names", NAMES, *guard, "-Xmx192m")
        self.compile("Haltable.java", "Clients.java", *(f"{name}.java" for name in (*CLIENTS, "Many")))
        self.wait("names")
        self.boot("broker", "Haltable", *guard, "-Xmx384m", "-XX:MaxDirectMemorySize=256m")
        self.wait("broker")
        options = ["-Xmx256m", "-Drocketmq.client.rebalance.waitInterval=2000", "-Drocketmq.client.logUseSlf4j=true"]
        keys = (WRITER.access_key, WRITER.secret_key) if self.old else ()
        arguments = [self.names, f"127.0.0.1:{self.port}", ",".join(programs), *keys]
        self.pid = self.begin("clients", [*self.java("clients", *options), "Clients", *arguments]).pid
        return self

    @property
    def events(self) -> list[list[str]]:
        """What the clients have done so far; they may not end."""
        code = self._running["clients"].poll()
        assert code is None, f"the clients ended with {code}"
        text = (self.work / "clients" / "out").read_text(encoding="utf-8", errors="replace")
        return [line.split() for line in text.rpartition("\n")[0].splitlines()]

    def wait_for(self, *events: str, limit: float = 90) -> None:
        """Until the clients have done all this."""
        until = time.monotonic() + limit
        while missing := [event for event in events if event.split() not in self.events]:
            self._go_on(until, missing)

    def words(self, *beginning: str) -> list[str]:
        """The rest of the first line that begins like this, once it is there."""
        until = time.monotonic() + 90
        while True:
            for event in self.events:
                if event[: len(beginning)] == list(beginning):
                    return event[len(beginning) :]
            self._go_on(until, beginning)

    def _go_on(self, until: float, missing: Sequence[str]) -> None:
        """Waits a moment for clients that can still do what is missing."""
        done = self.events
        broke = any(event[0] == "BROKE" for event in done)
        said = self._out("clients").read_text(errors="replace")[-6_000:]
        assert not broke and time.monotonic() < until, f"no {missing}:\n{said}"
        time.sleep(0.1)

    def credentials(self) -> Credentials | None:
        """Whose questions the broker answers."""
        return WRITER if self.old else None
