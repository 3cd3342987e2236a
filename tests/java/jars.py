"""RocketMQ's own jars for the referee, from Maven Central into .cache. Run at set-up; tests only read what is there.

python tests/java/jars.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "java"
# The last without IPv6 and the pid bug behind it; the last of 4.x with the clamp; the current.
RELEASES = ("4.5.2", "4.9.8", "5.3.3")


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


def fetch() -> None:
    """Copies what is missing; needs Maven and the network."""
    for release in RELEASES:
        if is_there(release):
            continue
        shutil.rmtree(folder(release), ignore_errors=True)
        command = [
            "mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), f"-Drocketmq.version={release}",
            f"-Dmaven.repo.local={CACHE / 'repository'}", "dependency:copy-dependencies", "-DincludeScope=runtime",
            f"-DoutputDirectory={folder(release)}",
        ]  # fmt: skip
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=900)
        (folder(release) / ".complete").touch()


if __name__ == "__main__":
    if not shutil.which("mvn"):
        sys.exit("Maven is not installed")
    fetch()
