"""What the whole test run needs before any of its folders. Knows no test."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from idcore.base import temporary

# Folders whose tests share a browser, a Spark session or brokers, the longest first; the others follow.
LONG = ("own sparks", "browser", "own consoles", "remoting", "spark", "store", "java")
# Files of tests/browser that need no warm console: apart from those that share one, they are the shorter half.
_OWN = ("deep_links", "fate", "frame", "groups", "message", "runs", "time_range")
# Files of tests/spark that start sessions of their own: apart from those that share one.
OWN_SPARKS = {f"tests/spark/test_{name}.py" for name in ("ends", "engines", "interrupts", "kafka")}
OWN_CONSOLES = {f"tests/browser/test_{name}.py" for name in _OWN}
# Long ones that share nothing: dealt file by file and last, so that all processes end at the same time.
DEALT = ("scan", "pages")
# A file of those that would still be at work when all others have ended: dealt test by test, and before them.
LONGEST = "tests/scan/test_scan.py"
TESTS = Path(__file__).resolve().parent
WHOLE = pytest.StashKey[bool]()  # whether no test or folder was named
# A shell that runs the tests in the background has them ignore Ctrl-C, and `nohup` the end of a terminal. Programs that
# they start would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# What tests, their browsers, brokers and consoles make there goes at the end, or when the next run begins.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # pytest itself keeps the last three runs
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["TMPDIR"] = tempfile.tempdir = (whole := temporary.new()).path
    atexit.register(shutil.rmtree, whole.path, ignore_errors=True)
# Where Python may keep no compiled module, each process that a test starts would compile idcore once more.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def folder(name: str) -> str:
    """The folder under tests/ of a test's name; what lies in none belongs together too."""
    if name.split("::")[0] in OWN_CONSOLES:
        return "own consoles"
    if name.split("::")[0] in OWN_SPARKS:
        return "own sparks"
    parts = name.split("::")[0].split("/")
    return parts[1] if len(parts) > 2 else "others"


def place(item: pytest.Item) -> int:
    """When a test has its turn."""
    own = folder(item.nodeid)
    return LONG.index(own) if own in LONG else len(LONG) + (own in DEALT)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="with the tests marked long, as `make test-all`")


def pytest_configure(config: pytest.Config) -> None:
    """Each process of a whole run begins to collect in another folder: what one has compiled the others only load."""
    given = getattr(config, "workerinput", None)
    config.stash[WHOLE] = [Path(arg).resolve() for arg in config.args] == [TESTS]
    if given and config.stash[WHOLE]:
        parts = sorted(part for part in TESTS.iterdir() if part.is_dir() != part.name.startswith(("_", "test_")))
        first = len(parts) * int(given["workerid"].removeprefix("gw")) // given["workercount"]
        config.args = [str(part) for part in parts[first:] + parts[:first]]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No search for garbage looks at modules and tests: they are many, and stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # a test leaves little, and each search looks through what all share
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.stash[WHOLE] and not config.getoption("all"):
        leave_long_out(config, items)
    items.sort(key=lambda item: (place(item), not item.nodeid.startswith(LONGEST), item.path.parts))


def leave_long_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out each test marked `long`, but for its `first` cases or, of `cases`, those that are not among them.

    Who names a folder or a test has all of it.
    """
    seen: Counter[str] = Counter()
    lists: tuple[list[pytest.Item], list[pytest.Item]] = ([], [])
    for item in items:
        name, _, case = item.nodeid.removesuffix("]").partition("[")
        seen[name] += 1
        long = [
            case in mark.kwargs["cases"] if "cases" in mark.kwargs else seen[name] > mark.kwargs.get("first", 0)
            for mark in item.iter_markers("long")
        ]
        lists[any(long)].append(item)
    items[:] = lists[False]
    config.hook.pytest_deselected(items=lists[True])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why a test was tried again: it has a fault of its own."""
    for report in terminalreporter.stats.get("rerun", ()):
        crash = getattr(report.longrepr, "reprcrash", None)
        terminalreporter.write_line(f"{report.nodeid} was tried again: {crash.message[:600] if crash else report.when}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With several processes (`make test` has three) a folder is one piece of work: its fixtures are set up once.

    Three on two cores, for each of them waits a quarter of its time: for browsers, brokers and Spark.
    Files of `DEALT` are one each. `make quick` deals all of its by file.
    """
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByFolder(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            own, file = folder(nodeid), nodeid.split("::")[0]
            if file == LONGEST:
                return nodeid.split("[")[0]
            return file if own in DEALT else own

    return ByFolder(config, log)
