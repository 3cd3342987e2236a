"""Set-up: makes .venv, finds or installs Java, warms the compiled kernels. Knows nothing of message ids.

    python3 scripts/setup.py          what the console and the command line need
    python3 scripts/setup.py --dev    and what tests, checks and benchmarks need

Only the standard library, and done in a blink when nothing changed: each step stamps the hash of its input.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
CACHE = ROOT / ".cache"
OLDEST_PYTHON = (3, 11)
OLDEST_JAVA = 17
JAVA_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless", "default-jre-headless")


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


def digest(paths: Iterable[Path], *more: str) -> str:
    state = hashlib.sha256("\0".join(more).encode())
    for path in paths:
        state.update(path.name.encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


def stamped(stamp: Path, value: str) -> bool:
    return stamp.is_file() and stamp.read_text() == value


def write_stamp(stamp: Path, value: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(value)


def apt(*packages: str) -> bool:
    """Install Debian packages; False where that is not ours to do, or did not work."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    for attempt in (command, ["apt-get", "update", "-qq"], command):
        done = subprocess.run(attempt, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if attempt is command and done.returncode == 0:
            say(f"installed {' '.join(packages)}")
            return True
    return False


def make_venv() -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if PYTHON.exists():
        done = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, text=True)
        if done.returncode == 0 and f"(python {version})" in done.stdout:
            return
    say(f"creating .venv with Python {sys.version.split()[0]}")
    try:
        venv.create(VENV, with_pip=True, clear=True)
    except (subprocess.CalledProcessError, SystemExit):  # Debian keeps ensurepip in a package of its own
        package = f"python{version}-venv"
        if not apt(package):
            sys.exit(f"setup: Python's venv module is missing: apt-get install {package}")
        venv.create(VENV, with_pip=True, clear=True)


def install_requirements(name: str) -> None:
    runtime, everything = ROOT / "requirements.txt", sorted(ROOT.glob("requirements*.txt"))
    stamps = {VENV / ".runtime.stamp": digest([runtime], sys.version)}
    if name != runtime.name:
        stamps[VENV / ".dev.stamp"] = digest(everything, sys.version)
    if PYTHON.exists() and all(stamped(stamp, value) for stamp, value in stamps.items()):
        return
    make_venv()
    say(f"installing the packages of {name} (about 1 GB on disk, a few minutes)")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(ROOT / name)]
    if name != runtime.name:
        pip.append("--no-compile")  # most modules of the test tools are never imported; Python compiles the others
    if subprocess.run(pip, stdin=subprocess.DEVNULL).returncode:
        sys.exit(f"setup: pip could not install {name}; see its message above")
    for stamp, value in stamps.items():
        write_stamp(stamp, value)


def java_version(command: str) -> int:
    """Major version of a java command, 0 when it does not run."""
    try:
        done = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if done.returncode == 0 and found else 0


def find_java() -> str | None:
    """The first java that is new enough: JAVA_HOME, PATH, the usual folders."""
    candidates = [os.path.join(os.environ["JAVA_HOME"], "bin", "java")] if os.environ.get("JAVA_HOME") else []
    candidates += ["java", *sorted(glob.glob("/usr/lib/jvm/*/bin/java"), reverse=True)]
    return next((command for command in candidates if java_version(command) >= OLDEST_JAVA), None)


def need_java() -> None:
    if find_java() or any(apt(package) for package in JAVA_PACKAGES):
        return
    say(f"Java {OLDEST_JAVA} or newer not found. Decoding works without it; charts, scans and findings need it.")
    say("Install it with:")
    if sys.platform == "darwin":
        say(f"    brew install openjdk@{OLDEST_JAVA}")
    else:
        say(f"    sudo apt-get install {JAVA_PACKAGES[0]}     (or set JAVA_HOME)")


def has_cjk_font() -> bool:
    if not shutil.which("fc-list"):
        return bool(glob.glob("/usr/share/fonts/**/NotoSansCJK*", recursive=True))
    done = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True)
    return bool(done.stdout.strip())


def need_test_programs() -> None:
    """Chromium, a Chinese font, Maven, a JDK and packers; without them the tests that use them are skipped."""
    wanted = {
        "chromium": bool(shutil.which("chromium") or os.environ.get("CHROMIUM")),
        "fonts-noto-cjk": has_cjk_font(),
        "maven": bool(shutil.which("mvn")),
        "openjdk-17-jdk-headless": bool(shutil.which("javac")),
        "bzip2": bool(shutil.which("bzip2")),
        "xz-utils": bool(shutil.which("xz")),
        "zstd": bool(shutil.which("zstd")),
        "lz4": bool(shutil.which("lz4")),
    }
    missing = [package for package, there in wanted.items() if not there]
    if missing and not apt(*missing):
        say(f"tests that need them are skipped: sudo apt-get install {' '.join(missing)}")


def need_jars() -> None:
    """RocketMQ's own classes, from Maven Central, once; the tests themselves fetch nothing."""
    if (
        shutil.which("mvn")
        and subprocess.run([sys.executable, "tests/java/jars.py"], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
    ):
        say("RocketMQ's classes could not be downloaded; tests that need them are skipped")


def warm_kernels() -> None:
    """Compile the kernels once, where the Spark workers look for them, so that the first scan does not wait for it."""
    sources = sorted((ROOT / "idcore").glob("kernels/**/*.py"))
    stamp = CACHE / "kernels.stamp"
    value = digest(sources, sys.version, (ROOT / "requirements.txt").read_text())
    if stamped(stamp, value):
        return
    say("compiling the kernels")
    if subprocess.run([PYTHON, "-m", "idcore.scan.warm"], cwd=ROOT, stdin=subprocess.DEVNULL).returncode == 0:
        write_stamp(stamp, value)
    else:
        say("the kernels could not be compiled now; the first scan will try again")


def make_class_archive() -> None:
    """Spark's classes in one file for the JVM to map: a session is up in half the time."""
    if (
        find_java()
        and subprocess.run(
            [PYTHON, "-m", "idcore.spark.start.make_archive"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True
        ).returncode
    ):
        say("Spark's class archive could not be created; sessions start a little slower")


def both(one: Callable[[], None], other: Callable[[], None]) -> None:
    """Two steps at the same time; what ends one of them ends the set-up."""
    with ThreadPoolExecutor(2) as pool:
        for step in [pool.submit(one), pool.submit(other)]:
            step.result()


def main() -> None:
    parser = argparse.ArgumentParser(description="Set up this folder: packages, Java, compiled kernels.")
    parser.add_argument("--dev", action="store_true", help="also install what tests, checks and benchmarks need")
    options = parser.parse_args()
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(
            f"setup: Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed, this is {sys.version.split()[0]}"
        )
    need_java()
    if options.dev:
        need_test_programs()
        both(lambda: install_requirements("requirements-dev.txt"), need_jars)  # each waits for the network
    else:
        install_requirements("requirements.txt")
    both(warm_kernels, make_class_archive)


if __name__ == "__main__":
    main()
