"""What the core says without a code is said in Chinese: every sentence it can raise about inputs, runs and Spark."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from idcore.errors import CoreError
from idcore.lookup import StoreLookup
from idcore.store import Stored
from pages.parts.text import words
from tests.store.test_pointers import BATCH, BOTH, CLOCK, INNER, OUTER, record, store_of

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    *(ROOT / "idcore" / "scan").glob("*.py"),
    *(ROOT / "idcore" / "spark" / f"{name}.py" for name in ("background", "folder", "health", "session", "steps")),
    ROOT / "idcore" / "runs.py",
]
KINDS = {"ValueError", "EOFError", "OSError", "FinalError", "CoreError", "RunError", "SparkError"}


def sentences() -> list[str]:
    """The first argument of every such error; numbers and names in it are made up."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found += [text for text in map(said, told(node)) if text is not None and "Error" not in text]
    return sorted(set(found))


def told(node: ast.AST) -> list[ast.expr]:
    """What an error is raised with, a file that cannot be read is listed with, a damaged log is told with."""
    call = node.exc if isinstance(node, ast.Raise) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in KINDS:
        return call.args[:1]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "InputFile":
        why = node.args[2:3]
        return [part for item in why for part in ([item.body, item.orelse] if isinstance(item, ast.IfExp) else [item])]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        return node.args[:1] if "_problems" in ast.dump(node.func.value) else []
    return []


def said(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "17" for part in node.values)
    return None


@pytest.mark.parametrize("english", sentences())
def test_every_reason_is_said_in_chinese(english: str) -> None:
    chinese = words("zh").reason(english)
    assert chinese != english and any("\u4e00" <= letter <= "\u9fff" for letter in chinese)
    assert words("en").reason(english) == english


def test_there_are_reasons_to_say() -> None:
    assert len(sentences()) > 25


def test_values_are_kept_and_reasons_inside_reasons_are_said_too() -> None:
    zh = words("zh")
    assert zh.reason("damaged at byte 1,024 of the archive: a header of the archive is too long") == (
        "压缩包在第 1,024 字节损坏：压缩包的某个文件头过长"
    )
    assert zh.error(CoreError("this run does not say what it scanned; start a new one")).startswith("这次扫描没有记下")
    assert zh.reason("something nobody has heard of") == "something nobody has heard of"


def test_what_is_odd_about_a_record_of_a_store_has_a_name_and_chinese_words(tmp_path: Path) -> None:
    whole = record(BATCH, f"UNIQ_KEY\x01{OUTER}\x02__CRC32#\x010000000000\x02", BOTH)
    with store_of(tmp_path / "s", whole) as store:
        evidence = StoreLookup(store, CLOCK).one(INNER[0]).figures
        (found,) = (one for one in store.log.walk() if isinstance(one, Stored))
        odd = {name: text for name, text in evidence.items() if isinstance(text, str)}
    assert found.record.record_crc_ok is False
    assert odd.keys() >= {"inner_batch", "record_crc"}
    for name, english in odd.items():
        assert words("en").has(f"fact.{name}") and words("zh").has(f"fact.{name}"), name
        assert words("zh").reason(english) != english
