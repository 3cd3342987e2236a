"""How many files an addition touches, where that can be counted: what is one thing is written in one place."""

from __future__ import annotations

import ast
import io
import re
from pathlib import Path

import pytest

from idcore import catalogue
from idcore.ids.model import MODELS
from idcore.layout import LAYOUTS
from idcore.lookup import NO_VERDICT
from idcore.sources import archives, kinds
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
    assert name.replace("bz2", "bzip2") in (ROOT / "docs" / "inputs.md").read_text(encoding="utf-8")


def test_a_kind_without_a_reader_is_a_mistake_and_never_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds._MARKS, b"NEWKIND", "newkind")
    with pytest.raises(AssertionError, match="newkind has no reader"):
        list(archives.texts(io.BytesIO(b"NEWKIND and an id 0A2A80220FD218B4AAC23B9ACA000000")))


def _reasons_of(page: str, head: str) -> set[str]:
    """The codes in the first cells of a table of a document."""
    table = (ROOT / "docs" / page).read_text(encoding="utf-8").split(f"{head}\n|---|---|\n")[1].split("\n\n")[0]
    return {code for row in table.splitlines() for code in re.findall(r"`(\w+)`", row.split(" | ")[0])}


def _decided(path: Path) -> tuple[set[str], set[str]]:
    """Texts of a module that can be a reason, without those of NO_VERDICT; and those that are one without doubt."""
    texts, reasons = set(), set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NO_VERDICT":
            continue
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                texts.add(each.value)
            target = each.targets[0] if isinstance(each, ast.Assign) else None
            named = isinstance(each, ast.keyword) and each.arg == "reason"
            named |= isinstance(target, ast.Attribute) and target.attr == "reason"
            value = getattr(each, "value", None)
            if named and isinstance(value, ast.Constant) and isinstance(value.value, str):
                reasons.add(value.value)
    return texts, reasons


def test_each_look_up_reason_is_decided_somewhere_and_is_in_the_tables_of_both_documents() -> None:
    words = catalogue.words()
    known, of_stores = set(words.table("lookup.reason.")), set(words.table("store.reason."))
    found = [_decided(path) for folder in ("lookup", "store") for path in (ROOT / "idcore" / folder).glob("*.py")]
    assert known <= set().union(*(texts for texts, _ in found)), "words for a reason that nothing decides"
    assert set().union(*(reasons for _, reasons in found)) <= known, "a reason without words"
    assert _reasons_of("lookup.md", "| reason | what proves it |") == known
    assert _reasons_of("store.md", "| reason | when |") == of_stores <= known
    assert known >= NO_VERDICT


def test_what_is_called_cut_can_be_cut_and_is_tested() -> None:
    assert set(BETWEEN) == CUT
    assert CUT - {"parquet"} <= set(ARCHIVES)
