"""RocketMQ's jars, for the referee and a real cluster, and Kafka's, from Maven Central into .cache. Run at set-up only.

python tests/java/jars.py
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "java"
# The last without IPv6 and the pid bug behind it; the last of 4.x with the clamp; the current.
RELEASES = ("4.5.2", "4.9.8", "5.3.3")
# Whole name servers and brokers, whose jars (134, 40, 137) have to be those that the tests were written against.
SERVER, OLD_SERVER, NEW_SERVER = "server-5.3.3", "server-4.9.7", "server-5.5.0"
SERVERS = (SERVER, OLD_SERVER, NEW_SERVER)
KAFKA, SPARK_KAFKA = "kafka-3.9.1", "spark-kafka-4.2.0"
ALL = (*RELEASES, *SERVERS, KAFKA, SPARK_KAFKA)
# A release of what a file here wants; and all of them, for Maven to copy at once.
_MODULE = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<parent><groupId>rocketmq.ids</groupId><artifactId>{what}</artifactId><version>1</version>
<relativePath>{pom}</relativePath></parent><artifactId>jars-{release}</artifactId><packaging>pom</packaging>
<properties><rocketmq.version>{version}</rocketmq.version><jars>{jars}</jars></properties></project>
"""
_ALL = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>rocketmq.ids</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
<modules>{modules}</modules></project>
"""


def folder(release: str) -> Path:
    """Where the jars of one release lie."""
    return CACHE / release


def is_there(release: str) -> bool:
    """Whether they have been fetched, all of them."""
    return (folder(release) / ".complete").is_file()


def missing() -> str | None:
    """Why the referee cannot be asked, or None."""
    for program in ("java", "javac"):
        if not shutil.which(program):
            return f"{program} is not installed"
    absent = [release for release in RELEASES if not is_there(release)]
    return f"RocketMQ's jars are not there ({', '.join(absent)}): python tests/java/jars.py" if absent else None


def missing_server() -> str | None:
    """Why no real cluster can be booted, or None."""
    for program in ("java", "javac", "openssl"):
        if not shutil.which(program):
            return f"{program} is not installed"
    absent = [server for server in SERVERS if not is_there(server)]
    return f"RocketMQ's servers are not there ({', '.join(absent)}): python tests/java/jars.py" if absent else None


def need_server() -> None:
    """Without a real server the test that calls this is skipped; in CI it fails."""
    import pytest  # set-up, which runs this file, needs none

    problem = missing_server()
    if problem and os.environ.get("CI") == "true":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


def javac(release: str, classes: Path, *sources: Path) -> None:
    """Compiles programs of the tests against a release; its own jars have no annotation processor.

    What was compiled of the same sources stays in .cache: a compiler takes seconds, and whole runs want it ten times.
    """
    compiler = Path(os.path.realpath(str(shutil.which("javac"))))
    digest = hashlib.sha256(f"{release} {compiler} {compiler.stat().st_mtime_ns}".encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    kept = CACHE / "classes" / digest.hexdigest()[:32]
    if not kept.is_dir():
        made = kept.with_name(f"{kept.name}.{uuid.uuid4().hex}")
        try:
            _compile(release, made, sources)
            with contextlib.suppress(OSError):  # another process was first; else the copy below fails
                made.rename(kept)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(kept, classes, dirs_exist_ok=True)


def _compile(release: str, classes: Path, sources: Sequence[Path]) -> None:
    quick = ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none"]  # short to run: it never gets warm
    command = ["javac", *quick, "-nowarn", "-encoding", "UTF-8", "-cp", f"{folder(release)}/*", "-d", str(classes)]
    files = map(str, sources)
    subprocess.run([*command, *files], check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def fetch() -> None:
    """Copies what is missing, one Maven for all of it; needs the network."""
    absent = [release for release in ALL if not is_there(release)]
    if not absent:
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    for release in absent:
        shutil.rmtree(folder(release), ignore_errors=True)
        what, _, version = release.rpartition("-")
        what = what or "referee"
        module = _MODULE.format(
            what=what,
            pom=os.path.relpath(HERE / ("pom.xml" if what == "referee" else f"{what}.xml"), CACHE),
            release=release,
            version=version,
            jars=folder(release),
        )
        (CACHE / f"{release}.xml").write_text(module, encoding="utf-8")
    modules = "".join(f"<module>{release}.xml</module>" for release in absent)
    (CACHE / "all.xml").write_text(_ALL.format(modules=modules), encoding="utf-8")
    command = ["mvn", "-q", "-B", "-f", str(CACHE / "all.xml"), f"-Dmaven.repo.local={CACHE / 'repository'}"]
    command += ["dependency:copy-dependencies", "-DincludeScope=runtime"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=1800)
    for release in absent:
        if release not in RELEASES:
            check(folder(release), HERE / f"{release}.sha256")
        (folder(release) / ".complete").touch()


def check(where: Path, sums: Path) -> None:
    """Ends the program when a jar is missing, is one too many, or is not the one whose sum was written down."""
    lines = [line.split() for line in sums.read_text(encoding="utf-8").splitlines()]
    wanted = {name: digest for digest, name in lines}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in where.glob("*.jar")}
    wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if wrong:
        sys.exit(f"{where}: not the jars of {sums.name}: {', '.join(wrong)}")


if __name__ == "__main__":
    if not shutil.which("mvn"):
        sys.exit("Maven is not installed")
    fetch()
