"""The examples in docstrings say what the code does."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from tests.source_code import ROOT

pytestmark = pytest.mark.quick
MODULES = sorted(path for path in (ROOT / "idcore").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_of_docstrings_are_true(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    done = doctest.testmod(import_module(name))
    assert done.attempted and not done.failed
