"""The document of the browser tests: each promise has a test, and each test that it names exists."""

from __future__ import annotations

import re

import pytest

from tests.browser.harness import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "browser-tests.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
][1:]
HEADS = [first for first, tests in ROWS if not tests]
NAMED = sorted({name for _, tests in ROWS for name in re.findall("`([^`]+)`", tests)})


def test_each_promise_has_a_test() -> None:
    assert len(HEADS) == 10 and all(re.fullmatch(r"\*\*.+\*\*", head) for head in HEADS)
    assert [first for first, tests in ROWS if first not in HEADS and not re.fullmatch("(`[^`]+`(, )?)+", tests)] == []


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_exists(named: str) -> None:
    file, _, name = named.partition("::")
    folder = ROOT / "tests" if "/" in file else ROOT / "tests" / "browser"
    assert f"\ndef {name}(" in (folder / file).read_text(encoding="utf-8")
