"""Every name of PySpark that its API reference lacks: what it is for, and what happens in a version without it.

No other module uses such a name. `tests/spark/test_pyspark_private.py` names what a new version lacks.
"""

from __future__ import annotations

import logging
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext

# Writes its port and a secret into the file that CONNECTION names; PySpark takes them from PORT and SECRET.
JAVA_MAIN = "org.apache.spark.api.python.PythonGatewayServer"
CONNECTION, PORT, SECRET = "_PYSPARK_DRIVER_CONN_INFO_PATH", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
DAEMON = "spark.python.daemon.module"

# name: what for; without it
NAMES: Mapping[str, tuple[str, str]] = {
    JAVA_MAIN: ("Java starts next to Python, and not after it", "Spark's own scripts start it, seconds later"),
    DAEMON: ("workers are forked from a process with the kernels loaded", "each worker loads them"),
    "pyspark.worker": ("what every worker needs is loaded once", "each worker loads it"),
    "pyspark.SparkContext._gateway": (
        "the process of a Java that Spark's scripts started, and another Java after one that has ended",
        "the console has to be started again",
    ),
    "pyspark.SparkContext._jvm": ("the same", "the same"),
    "pyspark.java_gateway.ensure_callback_server_started": (
        "Java shows a token when it calls Python: without one, whoever reaches the port plays Java",
        "nothing can be followed",
    ),
    "pyspark.SparkContext._accumulatorServer": (
        "no traceback when Java goes: the job that failed says it in words",
        "the traceback is in the log too",
    ),
}


@contextmanager
def told_to_pyspark(place: str) -> Iterator[None]:
    """PySpark connects to the Java that has written this file, and starts none. No process may be begun meanwhile."""
    with open(place, "rb") as file:
        port, size = (int.from_bytes(file.read(4), "big") for _ in range(2))
        variables = {PORT: str(port), SECRET: file.read(size).decode()}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


def java_process(context: SparkContext) -> subprocess.Popen[bytes] | None:
    """The Java that Spark's scripts started; None where it is not known."""
    return getattr(getattr(context, "_gateway", None), "proc", None)


def forget_java(context: SparkContext) -> None:
    """Ends a session. PySpark keeps its Java for good, also one that has ended; without it, it takes another."""
    from pyspark import SparkContext

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the end was not clean
        with suppress(OSError):
            context.stop()
        context.stop()  # what is left where Java did not answer
    for name in ("_gateway", "_jvm"):
        if hasattr(SparkContext, name):
            setattr(SparkContext, name, None)


def quieten(context: SparkContext) -> None:
    """When Java goes, the server of accumulators would print a traceback."""
    server: Any = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None


def ask_for_token(context: SparkContext) -> None:
    """Begins the server in which Java calls Python for each batch. PySpark begins it with a port that asks for nothing.

    Java has the token already, and drops it (py4j's `PythonClient.copyWith`) when it is told the port.
    """
    from py4j.java_gateway import JavaObject
    from pyspark.java_gateway import ensure_callback_server_started

    gateway: Any = context._gateway
    if not hasattr(gateway, "python_parameters"):  # PYSPARK_PIN_THREAD=false: both ways have it
        return
    logging.getLogger("py4j.clientserver").addFilter(_is_of_java)
    token = gateway.python_parameters.auth_token = gateway.java_parameters.auth_token
    ensure_callback_server_started(gateway)
    client = JavaObject("GATEWAY_SERVER", gateway._gateway_client).getCallbackClient()
    held = client.getClass().getSuperclass().getDeclaredField("authToken")
    held.setAccessible(True)
    held.set(client, token)


def _is_of_java(record: logging.LogRecord) -> bool:
    """Who has no token would fill the log with the stack of each try."""
    return not str(record.msg).startswith("Could not authenticate")


def load_worker() -> None:
    """Loads what every worker needs into the process that workers are forked from."""
    with suppress(ImportError):
        import pyspark.worker  # noqa: F401


def serve_workers() -> None:
    """Forks workers as Spark asks for them, until it ends: its own module, as Spark runs it."""
    sys.argv[1:] = ["pyspark.worker"]
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
