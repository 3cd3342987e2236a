"""How many files an addition touches, where that can be counted: what is one thing is written in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from idcore.ids.model import MODELS
from idcore.layout import LAYOUTS
from idcore.sources.archives import BETWEEN
from idcore.sources.kinds import CUT
from idcore.sources.packings import PACKED
from tests.scan.packing import ARCHIVES, PACKERS

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {"gzip": "gz", "zstd": "zst"}  # else the name is the suffix


def naming(folder: str, text: str) -> set[str]:
    """The modules below a folder that have this text as a value of its own, or as the name of a constant."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Constant) and node.value == text)
        or (isinstance(node, ast.Name) and node.id == text.upper())
    }


@pytest.mark.parametrize("name", ["uniq_v6", "offset_v6", "client_v1"])
def test_a_layout_is_read_by_four_files_and_its_model(name: str) -> None:
    """Its fields, the rule of one id, its code in the kernel, its row in the documentation. What makes ids to try the
    rest on may name it too; `uniq_v4_le` has rules of its own besides."""
    makers = naming("idcore/simulate", name)
    assert naming("idcore", name) - makers <= {
        "idcore/layout.py",
        "idcore/ids/model.py",
        "idcore/ids/identify.py",
        "idcore/scan/kernels/find.py",
        "idcore/cli/docs.py",
    }


def test_every_layout_has_the_model_of_its_kind() -> None:
    assert {name: model.kind for name, model in MODELS.items()} == {name: name.partition("_")[0] for name in LAYOUTS}


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_format_is_three_files(name: str) -> None:
    """Its row, its packer for the tests that every format passes, and its word in the documentation."""
    assert naming("idcore/sources", name) == {"idcore/sources/packings.py"}
    assert SUFFIXES.get(name, name) in PACKERS
    assert name.replace("bz2", "bzip2") in (ROOT / "docs" / "scan.md").read_text(encoding="utf-8")


def test_what_is_called_cut_can_be_cut_and_is_tested() -> None:
    assert set(BETWEEN) == CUT
    assert CUT - {"parquet"} <= set(ARCHIVES)
