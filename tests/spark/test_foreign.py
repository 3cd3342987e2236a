"""Another user of this machine asks the ports of the local session, and gets nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from idcore.spark.session import session
from idcore.spark.tasks import Engine
from tests.spark import foreign

pytestmark = [
    pytest.mark.usefixtures("spark"),
    pytest.mark.skipif(sys.platform != "linux", reason="ports of a process are read from /proc"),
]

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
