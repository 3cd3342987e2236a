"""What the whole test run needs before any of its folders. Knows no test."""

from __future__ import annotations

import signal

import pytest

# Folders whose tests share a browser, a Spark session or brokers, the longest first; the others follow.
LONG = ("browser", "spark", "remoting", "store", "scan", "java")
# A shell that runs the tests in the background has them ignore Ctrl-C, and so would every program they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several processes (`make test` has two) a folder is one piece of work: its fixtures are set up once."""

    def folder(item: pytest.Item) -> str:
        parts = item.path.relative_to(item.config.rootpath / "tests").parts
        return parts[0] if len(parts) > 1 else "others"

    items.sort(key=lambda item: LONG.index(folder(item)) if folder(item) in LONG else len(LONG))
    for item in items:
        item.add_marker(pytest.mark.xdist_group(folder(item)))
