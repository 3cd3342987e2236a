"""One Spark session for everything: where Java is, what it needs, and that workers run this interpreter and idcore."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from idcore.base import temporary
from idcore.base.errors import CoreError
from idcore.policy import settings
from idcore.policy.private import SAFE_PATH
from idcore.spark.start import jvm
from idcore.spark.start.archive import java_options
from idcore.spark.start.jvm import PACKAGE, QUICK_JAVA, java, no_java
from idcore.spark.start.pyspark_private import DAEMON, java_process, told_to_pyspark

from .health import SparkError, forget, is_connect, is_gone, java_ended, quieten
from .tasks import Engine, collected

if TYPE_CHECKING:
    from .tasks import Spark

LOG = logging.getLogger(__name__)
SECRET_OF_CLUSTER = "spark.authenticate is not set (docs/how-to/scan-on-a-cluster.md)"
STARTER = "spark-start"
BEHIND_PAGES = 5  # niceness of what a server starts for its scans
SOCKET_NAME, LONGEST_SOCKET = len("/.00000000-0000-0000-0000-000000000000.sock"), 103  # bytes; of macOS: Linux has 107
TRY_AGAIN = 10.0  # seconds after which a start that failed may be tried again


@dataclass(frozen=True, slots=True)
class Status:
    """How far the session is: no_java, idle, starting, ready or failed; the reason; seconds it took or has taken."""

    state: str
    error: CoreError | None = None
    seconds: float = 0.0


def _temporary_folder(prefix: str) -> str:
    """A folder that goes with this process."""
    return tempfile.mkdtemp(prefix=prefix, dir=temporary.own())


def package_zip() -> str:
    """idcore as an archive that travels with a job to machines that do not have it."""
    path = os.path.join(_temporary_folder("package-"), "idcore.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(PACKAGE.rglob("*.py")):
            archive.write(file, os.path.join("idcore", file.relative_to(PACKAGE)))
    return path


def worker_python() -> str:
    """The interpreter of a cluster's workers: where it is not at this one's path, the administrator says where."""
    return settings.current().worker_python or sys.executable


def _settings(local: bool, java: str, scratch: str) -> dict[str, str]:
    configured = settings.current()
    conf = {
        "spark.app.name": "rocketmq-ids",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.maxResultSize": "4g",
        "spark.shuffle.compress": "false",  # facts are packed as they are
        "spark.scheduler.mode": "FAIR",  # a paste comes back while a large scan is at work: watch.py names the pools
        "spark.pyspark.python": sys.executable if local else worker_python(),
        "spark.pyspark.driver.python": sys.executable,
        "spark.executorEnv.PYTHONDONTWRITEBYTECODE": "1",
    }
    if kafka := jvm.kafka_jars():
        conf["spark.jars"] = ",".join(kafka)
        conf["spark.driver.extraClassPath"] = os.pathsep.join(kafka)
    if configured.kernels:
        conf["spark.executorEnv.NUMBA_CACHE_DIR"] = configured.kernels
    if local:
        conf |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Its ports cannot be closed, and another user of this machine reaches them. In local mode Spark makes the
            # secret itself: it is in no file, no environment and on no command line.
            "spark.authenticate": "true",
            "spark.network.crypto.enabled": "true",
            # What is larger goes through these ports, to this JVM itself, and to encrypt it costs more than to make it.
            "spark.task.maxDirectResultSize": "128m",
            "spark.driver.memory": configured.spark_memory,
            # One record of Kafka may unpack to more than Java has: its task fails, and not the scans of everybody.
            "spark.executor.killOnFatalError.depth": "0",
            "spark.local.dir": scratch,
            **_sockets_in(temporary.own()),
            DAEMON: "idcore.spark.start.daemon",
            "spark.driver.extraJavaOptions": f"{QUICK_JAVA} {java_options(java)}",
        }
    return conf


def _sockets_in(folder: str) -> dict[str, str]:
    """Python and Java meet in a folder that is this user's alone, and at no port.

    Anybody who was at the port of the accumulators before Java made every scan wait, and each connection to the port of
    the workers forked one. Where the path leaves no room for the name of a socket, as on macOS, they have these ports.
    """
    if len(os.fsencode(folder)) + SOCKET_NAME > LONGEST_SOCKET:
        LOG.info("the path of the temporary folder is too long for sockets: Python and Java meet at ports")
        return {}
    return {"spark.python.unix.domain.socket.enabled": "true", "spark.python.unix.domain.socket.dir": folder}


def _start(master: str | None, remote: str | None) -> Spark:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ |= {"PYTHONPATH": jvm.python_path()} | SAFE_PATH  # of what Spark's own scripts start
    if remote:
        from pyspark.sql import SparkSession

        try:
            with jvm.own_scripts():  # of an address that is this machine's they start a server
                session = SparkSession.builder.remote(remote).getOrCreate()
        except ImportError as error:
            raise SparkError("spark_package", {"why": str(error)}) from error
        session.addArtifacts(package_zip(), pyfile=True)
        return session
    installed = java()
    if installed is None:
        raise no_java()
    master = master or "local[*]"
    local = master.startswith("local")
    starting = jvm.take() if local else None
    os.environ["JAVA_HOME"] = str(Path(installed.path).resolve().parents[1])
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK_JAVA)  # a small JVM that only composes the command
    scratch = starting.folder if starting else _temporary_folder("spark-")
    if not local:
        os.environ["PYSPARK_PYTHON"] = worker_python()
    engine = _engine(master, starting, _settings(local, installed.path, scratch))
    context = engine.sparkContext
    context.setLogLevel("ERROR")
    if not local:
        if context.getConf().get("spark.authenticate", "false") != "true":
            LOG.warning("the ports of this scan answer anybody who reaches them: %s", SECRET_OF_CLUSTER)
        context.addPyFile(package_zip())
    quieten(engine)
    return engine


def _engine(master: str, starting: jvm.Starting | None, settings: dict[str, str]) -> Engine:
    """A session in the Java that was begun ahead; where that did not come up, in one that Spark's scripts start."""
    from pyspark import SparkConf, SparkContext

    conf = SparkConf(loadDefaults=False).setMaster(master).setAll(list(settings.items()))
    local = master.startswith("local")
    try:
        place = starting.connection() if starting is not None else None
    except SparkError as error:
        if error.code == "spark_ended":  # by this process, which is about to end: another Java would outlive it
            raise
        LOG.warning("Spark's own scripts start Java: %s", error)
        place = None
    if starting is None or place is None:
        with _quiet_java(), jvm.own_scripts():
            context = SparkContext(conf=conf)
        return Engine(context, local, java_process(context))
    try:
        with told_to_pyspark(place):
            return Engine(SparkContext(conf=conf), local, starting.process)
    except Exception as error:
        raise SparkError("spark_start_said", {"why": str(error), "said": starting.said}) from error


@contextmanager
def _quiet_java() -> Iterator[None]:
    """The JVM inherits standard error; while it starts, that is a file, whose end is shown only when it fails."""
    with tempfile.TemporaryFile() as log:
        ours = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            yield
        except Exception as error:
            log.seek(0)
            text = log.read()[-2000:].decode(errors="replace").strip()
            raise SparkError("spark_start_said", {"why": str(error), "said": text}) from error
        finally:
            os.dup2(ours, 2)
            os.close(ours)


class _Holder:
    """The one session of this process, started at most once at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.session: Spark | None = None
        self.status = Status("idle")
        self.began = 0.0
        self.wanted = False  # by a scan: what it does itself is not done ahead of it

    def get(self, master: str | None, remote: str | None) -> Spark:
        with self.lock:
            if self.session is not None:
                if not is_gone(self.session):
                    return self.session
                forget(self.session)
                self.session = None
            self.began = time.monotonic()
            self.status = Status("starting")
            try:
                self.session = _start(master, remote)
            except Exception as error:
                failed = (
                    error
                    if isinstance(error, SparkError)
                    else SparkError("spark_start", {"why": str(error).strip().split("\n")[0]})
                )
                self.status = Status("failed", failed, time.monotonic() - self.began)
                if failed is error:
                    raise
                raise failed from error
            self.status = Status("ready", None, time.monotonic() - self.began)
            return self.session


_holder = _Holder()


def session(master: str | None = None, remote: str | None = None) -> Spark:
    """The session; blocks until it is up. SparkError says why it cannot be."""
    if not (master or remote):  # what was asked for comes before what the environment says
        configured = settings.current()
        master, remote = configured.spark_master, configured.spark_remote
    _holder.wanted |= threading.current_thread().name != STARTER
    return _holder.get(master, remote)


def start_in_background() -> None:
    """Begins to start the session, once; `status` says how far it is."""
    if status().state != "idle":
        return
    _holder.status = Status("starting")
    _holder.began = time.monotonic()
    threading.Thread(target=_try, name=STARTER, daemon=True).start()


def _try() -> None:
    # On Linux the priority is this thread's own, and Java and the workers inherit it: pages come first, also later.
    if sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + BEHIND_PAGES)
    try:
        running = session()
        if not is_connect(running) and not _holder.wanted:  # the workers are forked once, with the kernels loaded
            collected(running, 2, _touch, pa.schema([]))
    except SparkError:
        return  # status() holds the reason, and the next session() call raises it


def _touch(_: int) -> Iterator[pa.RecordBatch]:
    return iter(())


def status() -> Status:
    """How far the session is, without waiting for it."""
    now = _holder.status
    if now.state == "starting":
        return Status("starting", None, time.monotonic() - _holder.began)
    may_begin = now.state == "idle" or (
        time.monotonic() - _holder.began - now.seconds > TRY_AGAIN
        if now.state == "failed"
        else _holder.session is not None and java_ended(_holder.session)
    )
    if not may_begin:
        return now
    if java() is None and not settings.current().spark_remote:
        return Status("no_java", no_java())
    return Status("idle")
