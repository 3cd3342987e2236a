"""Starts the Java of a local session itself, and next to it the process that forks workers. Speaks to neither.

`spark-submit` starts a first Java that composes the command of the second. Here Python composes it, so that it runs
before anything large is imported.
"""

from __future__ import annotations

import atexit
import glob
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from idcore.base import temporary
from idcore.policy import settings
from idcore.policy.private import child_environment
from idcore.spark.health import SparkError

from .archive import java_options, spark_home
from .daemon import AHEAD
from .pyspark_private import CONNECTION, JAVA_MAIN

PACKAGE = Path(__file__).resolve().parents[2]
OLDEST_JAVA = 17  # Spark 4 runs on Java 17 and later
GET_JAVA = "sudo apt-get install -y openjdk-17-jre-headless"
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # it plans, and starts Python: quick to be up counts
# Who sets one of these wants what the scripts of Spark make of it.
OF_SCRIPTS = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "SPARK_DIST_CLASSPATH")
_OPEN = (  # org.apache.spark.launcher.JavaModuleOptions, without the module of vectors, which only MLlib uses
    "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent"
    " java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"
)
# glibc keeps what a task gives back for the next one: to ask the system again can take longer than the work with it.
# Pieces from 32 MiB on go back at once: it takes no more than this. Spark ends a worker that was idle for a minute.
HEAP_OF_WORKERS = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(512 << 20),
    "ARROW_DEFAULT_MEMORY_POOL": "",  # a console has another for its pages
}
_SAID = 2000  # last bytes of what Java says while it starts
_LOOK = 0.005


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark can run on."""

    path: str
    version: int


def no_java() -> SparkError:
    """The error of a machine without Java."""
    return SparkError("spark_java", {"version": OLDEST_JAVA, "command": GET_JAVA})


def java() -> Java | None:
    """The first that is new enough: of JAVA_HOME, of the path, of the usual folders."""
    home = settings.current().java_home
    candidates = [os.path.join(home, "bin", "java")] if home else []
    for path in (*candidates, shutil.which("java"), *sorted(glob.glob("/usr/lib/jvm/*/bin/java"), reverse=True)):
        if path and os.path.exists(path):
            version = _version(path, os.path.getmtime(path))
            if version >= OLDEST_JAVA:
                return Java(path, version)
    return None


@cache
def _version(path: str, changed: float) -> int:
    """Major version of a java command; asked again when the file has changed, as after an installation."""
    try:  # the file that every JDK has: to ask the command is to start a JVM
        shown = (Path(path).resolve().parents[1] / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        shown = ""
    match = re.search(r'JAVA_VERSION="(\d+)', shown)
    if match is None:
        try:
            shown = subprocess.run([path, "-version"], env=child_environment(), capture_output=True, text=True).stderr
        except OSError:
            return 0
        match = re.search(r'version "(\d+)', shown)
    return int(match[1]) if match else 0


def needs_scripts() -> bool:
    """Whether this machine has settings of Spark that only its own scripts obey."""
    return any(name in os.environ for name in OF_SCRIPTS) or (Path(spark_home()) / "conf").is_dir()


def command(java_path: str, folder: str) -> list[str]:
    """Java with all of Spark's classes, as its launcher would start it; its own temporary files are in the folder."""
    jars = sorted(glob.glob(os.path.join(spark_home(), "jars", "*.jar")))
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN.split()]
    memory = settings.current().spark_memory
    options = [*QUICK_JAVA.split(), *java_options(java_path).split(), "-XX:-UsePerfData", f"-Xmx{memory}"]
    options.append(f"-Djava.io.tmpdir={folder}")
    netty = ["-Dio.netty.tryReflectionSetAccessible=true", "-Djdk.reflect.useDirectMethodHandle=false"]
    return [
        java_path,
        "-cp",
        os.pathsep.join([*jars, *kafka_jars()]),
        "-XX:+IgnoreUnrecognizedVMOptions",
        *options,
        *opened,
        *netty,
        JAVA_MAIN,
    ]


@contextmanager
def own_scripts() -> Iterator[None]:
    """The scripts of Spark are those of PySpark, unless SPARK_HOME names others.

    PySpark looks above the folder that a command is given in first: whoever writes there, such as the author of an
    archive, would have a program run.
    """
    if "SPARK_HOME" in os.environ:
        yield
        return
    os.environ["SPARK_HOME"] = spark_home()
    try:
        yield
    finally:
        del os.environ["SPARK_HOME"]


def kafka_jars() -> list[str]:
    """The jars of Spark's Kafka source, which is no part of PySpark."""
    folder = settings.current().kafka_jars
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.jar"))) if folder else []


class Starting:
    """A Java on its way up and the process that forks workers: both end with this process.

    Each waits for the end of a pipe that is this process's. That is enough where it is killed (SIGKILL). Where it
    exits, it ends both itself, and then removes their folder.
    """

    def __init__(self, java_path: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="java-", dir=temporary.own())  # also for what Java keeps in files
        self._children: list[subprocess.Popen[bytes]] = []
        self._beginning = self._ended = False
        self._lock = threading.RLock()  # an interrupt may leave it with the thread that then ends all
        atexit.register(self.end)
        atexit.register(logging.disable)  # goes first: a thread that speaks to Java then would log a traceback
        _every.append(self)
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  Java has it as long as it lives
        self._place = os.path.join(self.folder, "place")
        ahead = os.path.join(self.folder, "workers")
        environment = {
            **child_environment(),
            "PYTHONPATH": python_path(),
            "JAVA_HOME": str(Path(java_path).resolve().parents[1]),
            "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
            "SPARK_CONNECT_MODE": "0",
            CONNECTION: self._place,
            AHEAD: ahead,
        }
        self.process = self._begin(command(java_path, self.folder), environment)
        self.workers = self._begin(
            [sys.executable, "-m", "idcore.spark.start.daemon", "--ahead", ahead],
            environment | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"} | HEAP_OF_WORKERS,
        )

    def _begin(self, words: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:  # a server that ends while a thread of its own starts Java
                raise SparkError("spark_ended")
            self._beginning = True
            child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                env=environment,
                process_group=0,  # Ctrl-C is for the command, which ends the scan and then these
                pass_fds=[temporary.lock()],  # nobody removes their folder before they have ended
            )
            self._children.append(child)
            self._beginning = False
        return child

    def end(self) -> None:
        """The processes first, then their folder: Java writes its port there.

        If the folder were gone before, Java's main thread would end before it reads the pipe. Py4J's gateway would then
        keep the JVM alive without a parent: its thread never ends by itself.
        """
        with self._lock:
            self._ended = True
        for child in self._children:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
        for child in self._children:
            child.wait()
        if self._beginning:  # an interrupt came between fork and here: who is not known ends with its pipe
            temporary.leave()
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def connection(self) -> str:
        """The file in which it says how to reach it; blocks until it is up."""
        while not os.path.exists(self._place):
            if self.process.poll() is not None:
                if self._ended:
                    raise SparkError("spark_ended")
                raise SparkError(
                    "spark_start_said", {"why": f"exit status {self.process.returncode}", "said": self.said}
                )
            time.sleep(_LOOK)
        return self._place

    @property
    def said(self) -> str:
        """The end of what it wrote to standard error."""
        self._log.seek(0)
        return self._log.read()[-_SAID:].decode(errors="replace").strip()


def python_path() -> str:
    """The path on which workers find idcore, and what this process has there."""
    inherited = [
        part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != str(PACKAGE.parent)
    ]
    return os.pathsep.join([str(PACKAGE.parent), *inherited])


_every: list[Starting] = []
_begun: Starting | None = None
_lock = threading.Lock()


def end() -> None:
    """Ends every Java of this process: for a server, which a signal ends without `atexit`."""
    for each in _every:
        each.end()


def begin() -> None:
    """Starts Java ahead of who will need it; nothing where there is none, or where Spark's scripts must start it."""
    global _begun
    installed = java()
    with _lock:
        if installed is not None and not needs_scripts() and _begun is None:
            _begun = Starting(installed.path)


def take() -> Starting | None:
    """What was begun, once; None where Spark's scripts must start it."""
    global _begun
    begin()
    with _lock:
        taken, _begun = _begun, None
    return taken
