"""Set-up: makes .venv, finds or installs Java, warms the compiled kernels. Knows nothing of message ids.

    python3 scripts/setup.py              what the console and the command line need
    python3 scripts/setup.py --first      of that, what the console decodes with: the rest can follow behind it
    python3 scripts/setup.py --behind     the rest, as long as the program that began this one lives
    python3 scripts/setup.py --dev        and what tests, checks and benchmarks need
    python3 scripts/setup.py --venv DIR   with another folder in the place of .venv

Only the standard library, and done in a blink when nothing changed: each step stamps the hash of its input.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterable, Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
OLDEST_PYTHON = (3, 11)
OLDEST_JAVA = 17
JAVAS = ("openjdk-17-{}-headless", "openjdk-21-{}-headless", "default-{}-headless")  # with jre or jdk
LATER = ("py4j", "pyspark")  # packages that scans alone need: half of the time and of the bytes
COMPILED = ("kernels/**/*.py", "ids/*.py", "base/layout.py")  # of idcore: what may be compiled into a kernel
TOLD = CACHE / "setting-up.json"  # which step is at work behind the console, for idcore/server/setting_up.py
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


@dataclass
class Step:
    """One that takes long enough for a person to ask how long: what it is, whether it is needed, and the work."""

    title: str
    needed: bool
    work: Callable[[], object]
    name: str = ""


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


def parted(lock: str, packages: Sequence[str]) -> tuple[str, str]:
    """A lock without some packages, and one of these alone: the hashes of both are checked as those of the whole."""
    parts = ["", ""]
    for entry in re.split(r"^(?=\S)", lock, flags=re.MULTILINE):
        parts[entry.partition("==")[0] in packages] += entry
    return parts[0], parts[1]


def ended(*commands: Sequence[object], quiet: Sequence[int] = ()) -> list[int]:
    """Exit statuses of programs that run at the same time. `quiet`: the places of those whose output is not shown.

    Each has a process group of its own, which goes with this process: at Ctrl-C, SIGTERM or SIGHUP.
    """
    programs: list[subprocess.Popen[bytes]] = []
    try:
        for place, command in enumerate(commands):
            words, out = [str(word) for word in command], subprocess.DEVNULL if place in quiet else None
            programs.append(
                subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out, process_group=0)
            )
        return [program.wait() for program in programs]
    except BaseException:
        for program in programs:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGTERM)
        for program in programs:
            program.wait()
        raise


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt(packages: list[str]) -> bool:
    """Installs Debian packages; False where that did not work."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    for attempt in (command, ["apt-get", "update", "-qq"], command):
        done = subprocess.run(attempt, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if attempt is command and done.returncode == 0:
            return True
    return False


class Environment:
    """The folder of the packages: .venv, or another one for another Python."""

    def __init__(self, folder: Path, dev: bool, first: bool = False) -> None:
        self.folder, self.dev, self.first = folder, dev, first
        self.requirements = ROOT / ("requirements-dev.lock" if dev else "requirements.lock")
        self.python = folder / "bin" / "python"
        runtime, everything = ROOT / "requirements.lock", sorted(ROOT.glob("requirements*.lock"))
        whole = digest([runtime], sys.version)
        self.stamps = {folder / ".runtime.stamp": whole}
        if first and not stamped(folder / ".runtime.stamp", whole):
            self.stamps = {folder / ".first.stamp": digest([runtime], sys.version, *LATER)}
        if dev:
            self.stamps[folder / ".dev.stamp"] = digest(everything, sys.version)

    def is_whole(self) -> bool:
        there = self.python.exists() and all(stamped(stamp, value) for stamp, value in self.stamps.items())
        return there and (not self.dev or has_jars())

    def is_of_this_python(self) -> bool:
        if not self.python.exists():
            return False
        done = subprocess.run([self.python, "-m", "pip", "--version"], capture_output=True, text=True)
        return done.returncode == 0 and f"(python {VERSION})" in done.stdout

    def lacks_venv(self) -> bool:
        """Debian keeps ensurepip, which `venv` needs, in a package of its own."""
        return find_spec("ensurepip") is None and not self.is_of_this_python()

    def make(self) -> None:
        if self.is_of_this_python():
            return
        try:
            venv.create(self.folder, with_pip=True, clear=True)
        except (subprocess.CalledProcessError, SystemExit):
            sys.exit(f"setup: Python's venv module does not work: sudo apt-get install -y python{VERSION}-venv")

    def _pip(self, *more: object) -> list[object]:
        """What installs packages, each with its hash. Python compiles by itself what it imports, which is little."""
        quiet = ("--quiet", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--no-compile")
        return [self.python, "-m", "pip", "install", *quiet, "--require-hashes", *more]

    def _uv(self) -> list[object] | None:
        """The same by uv, in a fifth of the time; None where only pip knows where packages come from."""
        config = subprocess.run([self.python, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
        lock = CACHE / "uv.lock"
        write_stamp(lock, parted((ROOT / "requirements-dev.lock").read_text(encoding="utf-8"), ["uv"])[1])
        uv = self._pip("--target", CACHE / "uv", "--upgrade", "-r", lock)
        if re.search("index|proxy", config) or ended(uv) != [0]:
            return None
        into = ("--python", self.python, "--no-cache", "--require-hashes")
        return [CACHE / "uv" / "bin" / "uv", "pip", "install", "--quiet", *into, "-r", self.requirements]

    def install(self) -> None:
        """And RocketMQ's own classes, for the tests, which fetch nothing: both wait for the network."""
        self.make()
        if self.first:
            lock, self.requirements = self.requirements, CACHE / "first.lock"
            write_stamp(self.requirements, parted(lock.read_text(encoding="utf-8"), LATER)[0])
        jars = [[sys.executable, "tests/java/jars.py"]] if self.dev and shutil.which("mvn") else []
        pip = self._pip("-r", self.requirements)
        failed, *fetched = ended(self._uv() or pip, *jars)
        if failed and ended(pip) != [0]:
            sys.exit(f"setup: pip could not install {self.requirements.name}; see its message above")
        for stamp, value in self.stamps.items():
            write_stamp(stamp, value)
        if any(fetched):
            say("RocketMQ's classes could not be downloaded; tests that need them are skipped")


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


def has_cjk_font() -> bool:
    if not shutil.which("fc-list"):
        return bool(glob.glob("/usr/share/fonts/**/NotoSansCJK*", recursive=True))
    done = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True)
    return bool(done.stdout.strip())


def test_programs() -> dict[str, bool]:
    """What tests use, and whether it is there; without one of them the tests that use it are skipped."""
    return {
        "chromium": bool(shutil.which("chromium") or os.environ.get("CHROMIUM")),
        "libatomic1": find_library("atomic") is not None,  # of the program that drives Chromium
        "fonts-noto-cjk": has_cjk_font(),
        "maven": bool(shutil.which("mvn")),
        "openssl": bool(shutil.which("openssl")),
        "bzip2": bool(shutil.which("bzip2")),
        "xz-utils": bool(shutil.which("xz")),
        "zstd": bool(shutil.which("zstd")),
        "lz4": bool(shutil.which("lz4")),
        "curl": bool(shutil.which("curl")),
    }


class Programs:
    """What is missing of this machine, and one command that installs all of it."""

    def __init__(self, environment: Environment, dev: bool) -> None:
        self.java_follows = environment.first and may_install()
        self.no_java = find_java() is None
        self.no_venv = environment.lacks_venv()
        self.for_tests = [package for package, there in test_programs().items() if not there] if dev else []
        self.java = "jdk" if dev and not shutil.which("javac") else "jre" if self.no_java else ""

    def packages(self, java: str = JAVAS[0]) -> list[str]:
        venvs = [f"python{VERSION}-venv"] if self.no_venv else []
        javas = [java.format(self.java)] if self.java and not self.java_follows else []
        return [*venvs, *javas, *self.for_tests]

    def install(self) -> None:
        """As root on Debian: all of it, or `venv` alone if Java follows. A release has one or two versions of Java."""
        if any(apt(self.packages(java)) for java in (JAVAS if self.java else JAVAS[:1])):
            self.no_java = self.no_venv = False  # or Java follows
            return
        say("apt-get could not install them")
        self.name()

    def name(self) -> None:
        """What is missing, and the command; without `venv` nothing can be set up."""
        if self.no_venv:
            say("Python's venv module is missing.")
        if self.no_java:
            say(
                f"Java {OLDEST_JAVA} or newer not found. Decoding works without it; charts, scans and findings need it."
            )
        if self.for_tests or (self.java and not self.no_java):
            say("Programs of the tests are missing; tests that need them are skipped.")
        if sys.platform == "darwin":
            say(f"Install it with: brew install openjdk@{OLDEST_JAVA}")
        else:
            say(f"Install with: sudo apt-get install -y {' '.join(self.packages())}")
        if self.no_venv:
            sys.exit("setup: then start again")


def has_jars() -> bool:
    """Whether RocketMQ's classes are there; also where nothing can fetch them."""
    sys.path.append(str(ROOT))
    from tests.java.jars import ALL, is_there

    return not shutil.which("mvn") or all(map(is_there, ALL))


def has_pyodide() -> bool:
    """Whether Python for browsers is there, which the tests of the page without a server need."""
    sys.path.append(str(ROOT))
    from scripts.pyodide import is_there

    return is_there()


def fetch_pyodide() -> None:
    """It comes from the npm registry, and the tests fetch nothing."""
    if ended([sys.executable, "scripts/pyodide.py"]) != [0]:
        say("Pyodide could not be downloaded; tests of the page without a server are skipped")


class Compiled:
    """What the first scan does not wait for: the kernels, and Spark's classes in one file for the JVM to map."""

    def __init__(self, python: Path, has_java: bool) -> None:
        self.python, self.has_java = python, has_java
        self.stamp = CACHE / f"kernels-{VERSION}.stamp"
        sources = sorted(path for pattern in COMPILED for path in (ROOT / "idcore").glob(pattern))
        self.value = digest(sources, sys.version, (ROOT / "requirements.txt").read_text())

    def are_there(self, whole: bool) -> bool:
        """`whole`: the packages are there, of which this asks whether this Java and this Spark have an archive."""
        if not stamped(self.stamp, self.value):
            return False
        return not self.has_java or (whole and ended([*self._archive(), "--is-there"]) == [0])

    def make(self) -> None:
        """All at once: each has work for one core. Where there are two, the kernels are compiled from both ends."""
        warm = [self.python, "-m", "idcore.scan.warm"]
        halves = [warm, [*warm, "tables"]] if (os.cpu_count() or 1) > 1 else [warm]
        commands = [*halves, *([self._archive()] if self.has_java else [])]
        kernels, *others = ended(*commands, quiet=list(range(1, len(commands))))
        archive = others[len(halves) - 1 :]
        if kernels == 0:
            write_stamp(self.stamp, self.value)
        else:
            say("the kernels could not be compiled now; the first scan will try again")
        if any(archive):
            say("Spark's class archive could not be created; sessions start a little slower")

    def _archive(self) -> list[object]:
        return [self.python, "-m", "idcore.spark.start.make_archive"]


def take(steps: list[Step], told: Path | None = None) -> None:
    """Those that are needed, one after the other, with how many there are and how long each took.

    `told`: a file that says which is at work, as long as one is.
    """
    needed = [step for step in steps if step.needed]
    whole = {"pid": os.getpid(), "steps": len(needed), "began": time.time()}
    try:
        for number, step in enumerate(needed, 1):
            if told:
                told.parent.mkdir(exist_ok=True)
                told.with_suffix(".part").write_text(json.dumps({**whole, "step": step.name, "number": number}))
                told.with_suffix(".part").replace(told)
            say(f"{number} of {len(needed)}: {step.title}")
            began = time.monotonic()
            step.work()
            say(f"{number} of {len(needed)}: done, {time.monotonic() - began:.0f} s")
    finally:
        if told and needed:
            told.unlink(missing_ok=True)


def is_at_work(told: Path) -> bool:
    """Whether another set-up has begun what follows behind a console, and lives."""
    try:
        os.kill(json.loads(told.read_text())["pid"], 0)
    except (OSError, ValueError, KeyError):
        return False
    return True


def end_with_parent() -> None:
    """Ends this process, by SIGTERM, when the console beside it has ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def stop(number: int, _: object) -> NoReturn:
    """SIGTERM and SIGHUP end it as Ctrl-C does: with the programs that it has begun."""
    sys.exit(128 + number)


def steps(options: argparse.Namespace, environment: Environment) -> list[Step]:
    """What set-up may have to do, in order: all of it, what decoding needs, or what follows."""
    programs = Programs(environment, options.dev)
    missing, whole = programs.packages(), environment.is_whole()
    if missing and not may_install() and not options.behind:
        programs.name()
    compiled = Compiled(environment.python, not programs.no_java or may_install())
    size = "4.5 GB on disk with the browser and RocketMQ's jars" if options.dev else "1.6 GB on disk with Java"
    size = "0.8 GB on disk, half a minute" if options.first else f"{size}, one to three minutes"
    return [
        Step(
            f"apt-get install {' '.join(missing)} (half a minute)",
            bool(missing) and may_install(),
            programs.install,
            "java",
        ),
        Step(
            f"{environment.folder.name} with Python {sys.version.split()[0]} and {environment.requirements.name}"
            f"{' without Spark' if options.first else ''} ({size})",
            not whole,
            environment.install,
            "packages",
        ),
        Step(
            "Pyodide for the tests of the page without a server (6.5 MB from registry.npmjs.org, seconds)",
            options.dev and not has_pyodide(),
            fetch_pyodide,
        ),
        Step(
            "compiling the kernels, and Spark's class archive (about a minute)",
            not options.first and not compiled.are_there(whole),
            compiled.make,
            "kernels",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Set up this folder: packages, Java, compiled kernels.")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--dev", action="store_true", help="also install what tests, checks and benchmarks need")
    part.add_argument("--first", action="store_true", help="only what decoding needs")
    part.add_argument("--behind", action="store_true", help="the rest, as long as the program that began this lives")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="folder of the packages (default: .venv)")
    options = parser.parse_args()
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(
            f"setup: Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed, this is {sys.version.split()[0]}"
        )
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    if options.behind:
        end_with_parent()
        if is_at_work(TOLD):
            return
    environment = Environment(options.venv.absolute(), options.dev, options.first)
    take(steps(options, environment), TOLD if options.behind else None)
    if options.first and ".first.stamp" in str([*environment.stamps]):
        say("What decodes is there. Behind the console `make run` adds charts and scans in two to four minutes.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
