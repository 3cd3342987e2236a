"""Another user of this machine asks the ports of the local session, and gets nothing."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from idcore.spark.follow import Follower
from idcore.spark.job import FollowOptions, ScanOptions
from idcore.spark.session import _sockets_in, session
from idcore.spark.tasks import Engine, collected
from tests.spark import foreign

pytestmark = [
    pytest.mark.usefixtures("spark"),
    pytest.mark.skipif(sys.platform != "linux", reason="ports of a process are read from /proc"),
]

LINE = b"2026-11-21 10:00:00 msgId=0A14030B1FA118B4AAC263F50D7E0045\n"
REFUSED = b"Expected SaslMessage"  # Spark's answer to whoever does not begin with a proof of the secret


def open_rpc(jvm: Any) -> Any:
    """Spark's RPC without a secret, in the same Java: what the session's own was before."""
    conf = jvm.org.apache.spark.SparkConf(False)
    manager = jvm.org.apache.spark.SecurityManager(conf, jvm.scala.Option.empty(), None)
    return jvm.org.apache.spark.rpc.RpcEnv.create("open", "127.0.0.1", 0, conf, manager, False)


def test_another_user_is_refused_at_every_port() -> None:
    spark = session()
    jvm = spark.sparkContext._jvm
    gateway = spark.sparkContext._gateway
    assert isinstance(spark, Engine) and spark.process is not None and jvm is not None and gateway is not None
    without = open_rpc(jvm)
    try:
        port = without.address().port()
        control = foreign.ask((port, foreign.has_endpoint(jvm, port, "endpoint-verifier")))
        assert foreign.kind(control[0]) == foreign.RPC_ANSWER, "the question is one that an open port answers"
    finally:
        without.shutdown()
        without.awaitTermination()
    listening = foreign.ports_of(spark.process.pid)
    python = gateway.gateway_parameters.port
    assert python in listening and len(listening) >= 3, "the gateway of Python, the driver and its block manager"
    of_spark = [port for port in listening if port != python]
    for port in of_spark:
        for answer in foreign.ask(
            (port, foreign.has_endpoint(jvm, port, "BlockManagerMaster")), (port, foreign.blocks())
        ):
            assert foreign.kind(answer) == foreign.RPC_FAILURE and REFUSED in answer
    said = foreign.ask((python, b"c\nj\njava.lang.System\nnanoTime\ne\n"), (python, b"A\nwrong\n"))
    assert all(answer.startswith(b"!x") and b"uthentication" in answer for answer in said), said


def test_the_secret_of_the_session_is_on_no_command_line_and_in_no_setting() -> None:
    spark = session()
    jvm = spark.sparkContext._jvm
    assert isinstance(spark, Engine) and spark.process is not None and jvm is not None
    held = jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser().getCredentials()
    secret = bytes(held.getSecretKey(jvm.org.apache.hadoop.io.Text("sparkCookie"))).decode()
    assert len(secret) >= 64
    assert secret not in str(spark.sparkContext.getConf().getAll())
    for place in ("cmdline", "environ"):
        assert secret.encode() not in Path(f"/proc/{spark.process.pid}/{place}").read_bytes()


def test_python_has_no_port_of_its_own_for_java() -> None:
    """Who was first at the port of the accumulators made every scan wait; that of the workers forked one for each."""
    spark = session()
    assert isinstance(spark, Engine) and spark.process is not None
    assert collected(spark, 2, _nothing, pa.schema([])).num_rows == 0
    server: Any = getattr(spark.sparkContext, "_accumulatorServer")  # noqa: B009  of no reference
    assert server.socket.family == socket.AF_UNIX
    private = Path(server.server_address).parent
    assert private.stat().st_mode & 0o077 == 0 and private.stat().st_uid == os.getuid()
    begun = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if _has(path, str(private))]
    begun = [pid for pid in begun if not Path(f"/proc/{pid}/comm").read_text().startswith("java")]
    assert len(begun) >= 2, "what forks workers, and a worker"
    assert not [port for pid in begun for port in foreign.ports_of(pid)]


def _nothing(_: int) -> Iterator[pa.RecordBatch]:
    return iter(())


def _has(path: Path, text: str) -> bool:
    """Whether a process was given this text in its environment."""
    try:
        return text.encode() in path.read_bytes()
    except OSError:  # it has ended
        return False


def test_a_folder_without_room_for_the_name_of_a_socket_has_ports() -> None:
    assert not _sockets_in("/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/idcore-process-12345678")
    held = _sockets_in("/tmp/idcore-process-12345678")
    assert held["spark.python.unix.domain.socket.enabled"] == "true"


_CALLS = [
    b"c\np0\n__class__\ne\n",
    b"g\np0\ne\n",
    b"A\nwrong\ne\n",
    b"POST / HTTP/1.1\nHost: 127.0.0.1\nc\np0\ncall\nro1\ni7\ne\n",  # of a page of any site, in a browser here
]


@pytest.mark.long
def test_nobody_but_java_calls_python(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Java calls who follows at a port: whoever came there was taken for Java, and gave it what it should have read."""
    folder, out, stop = tmp_path / "logs", tmp_path / "out", threading.Event()
    folder.mkdir()
    (folder / "a.log").write_bytes(LINE)
    session()
    before = set(foreign.ports_of(os.getpid()))
    follower = Follower([str(folder)], out, FollowOptions(ScanOptions()))
    thread = threading.Thread(target=follower.run, args=(stop,))
    thread.start()
    try:
        _wait(lambda: follower.now.ids == 1)
        assert len(ports := set(foreign.ports_of(os.getpid())) - before) == 1
        for call in _CALLS:
            assert foreign.ask(*((port, call) for port in ports)) in ([b""], [b"!xn\n"])
        assert not [one for one in caplog.records if one.name.startswith("py4j")], "each try would be a stack"
        (folder / "b.log").write_bytes(LINE.replace(b"0045", b"0046"))
        _wait(lambda: follower.now.ids == 2)
    finally:
        stop.set()
        thread.join()


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not until():
        assert time.monotonic() < end
        time.sleep(0.05)
