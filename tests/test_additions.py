"""How many files an addition touches, where that can be counted: what is one thing is written in one place."""

from __future__ import annotations

import ast
import io
import random
import re
from pathlib import Path

import numpy as np
import pytest

from idcore.answers.lookup import NO_VERDICT
from idcore.base import catalogue
from idcore.base.layout import CLIENT_V1, LAYOUTS, UNIQ_V4, Field, Layout
from idcore.ids import fields, find, identify, rules
from idcore.ids.identify import Case, judge
from idcore.ids.model import MODELS, ClientId, UniqId
from idcore.kernels import codes
from idcore.kernels import find as kernel
from idcore.scan import column_texts, look_alikes
from idcore.scan.occurrences.key_words import words_of
from idcore.scan.occurrences.locate import Locator, Places
from idcore.sources import archives, kinds
from idcore.sources.archives import ARCHIVES, BETWEEN
from idcore.sources.inputs import Split, walk
from idcore.sources.packings import PACKED
from idcore.sources.unpack import Unpacked
from tests.scan import packing
from tests.source_code import ROOT, modules, name, nodes, tree

pytestmark = pytest.mark.quick

SUFFIXES = {"gzip": "gz", "zstd": "zst"}  # else the name is the suffix


def naming(folder: str, text: str) -> set[str]:
    """The modules below a folder that have this text as a value of its own, or as the name of a constant."""
    return {
        name(path)
        for path in modules(folder)
        for node in nodes(path)
        if (isinstance(node, ast.Constant) and node.value == text)
        or (isinstance(node, ast.Name) and node.id == text.upper())
    }


@pytest.mark.parametrize("name", ["uniq_v6", "offset_v6", "client_v1"])
def test_a_layout_is_read_by_its_row_and_the_rule_where_lengths_are_shared(name: str) -> None:
    """What makes ids to try the rest on may name it too; `uniq_v4_le` has a rule of its own besides.

    A 5.x msgId is told by its length and version from a msgId that is longer, cut or masked; what a mask leaves of an
    ID of IPv6 has the places of its own layout.
    """
    rests = {"idcore/ids/masks.py"} | ({"idcore/ids/find.py"} if name == CLIENT_V1.name else set())
    makers = naming("idcore/simulate", name)
    assert naming("idcore", name) - makers - rests <= {
        "idcore/base/layout.py",
        "idcore/ids/model.py",
        "idcore/ids/identify.py",
        "idcore/kernels/find.py",
    }


LENGTHS = re.compile(
    r"\bsize (?:[<>]=?|[!=]=) (?:3[2-6]|5[4-9]|60)\b|\{\{20,33"
    r"|\b32, 34|\b34, 56|\{32,56\}|[{,]5[56]\}|\[-12:-4\]|VALUE_DIGITS = \d|LONGEST_ID = 5\d"
)


def test_no_module_has_the_lengths_of_ids_by_itself() -> None:
    """The kernel reads two of them as words; the console may show them, but not count with them."""
    found = [name(path) for path in modules("idcore", "pages") if LENGTHS.search(path.read_text(encoding="utf-8"))]
    assert not found


def _made(version: bytes, *, early: bool = False) -> Layout:
    """A msgId with its version in front, its fields in another order, the bytes of each the other way round."""
    fields = {field.name: field for field in UNIQ_V4.fields}
    own = Field("version", len(version), "version of the format", always=int.from_bytes(version, "little"))
    order = ("counter", "ip", "pid", "loader", "elapsed")
    return Layout("uniq_made", (own, *(fields[name] for name in order)), "little", early=early)


def _reader(layout: Layout, code: str, case: Case = "strict") -> Locator:
    """A locator for one more layout, under a code that is there: kernels have theirs compiled in."""
    locator = Locator(case)
    layouts = {**kernel.OWN_LENGTHS, codes.CODES[code]: layout}
    finder = locator.finder
    finder.rules = kernel.rules_for(case, finder.rules.loaders, finder.rules.usual, layouts)
    return locator


def _places(locator: Locator, log: Path, text: str) -> list[Places]:
    log.write_text(text)
    texts = walk([Split(0, str(log), 0, log.stat().st_size)])
    found = [places for _, windows, _ in texts if windows for places in locator.read(windows)]
    return [places for places in found if isinstance(places, Places)]


def _refused(locator: Locator) -> dict[str, int]:
    return dict(zip(kernel.REASONS, locator.finder.found.refused[:, 0].tolist(), strict=True))


@pytest.mark.parametrize("version", [b"\x07", b"\x02\xc2"], ids=["34 digits", "36 digits"])
def test_a_row_is_enough_for_a_layout_with_a_version_of_any_length_and_byte_order(
    version: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    layout, code = _made(version), codes.CODES["uniq_v4"]
    text = f"{version.hex().upper()}0B0A0100007F34129956341278563412"
    late, other = text[:-2] + "F0", f"{version[0] ^ 1:02X}{text[2:]}"
    monkeypatch.setitem(LAYOUTS, layout.name, layout)
    monkeypatch.setitem(codes.CODES, layout.name, code)
    monkeypatch.setattr(rules, "CANDIDATE_DIGITS", {*rules.CANDIDATE_DIGITS, layout.digits})
    (token, *_) = find(f"msgId={text}, {text[2:]}00")
    best = identify(token.text, token.label).best
    own = UniqId(layout, bytes([127, 0, 0, 1]), 0x1234, 0x12345699, 0x12345678, 0x0A0B, text)
    assert best is not None and best.id == own == UniqId.from_hex(text)
    assert bytes(own).hex().upper() == text
    for words in map(catalogue.words, catalogue.languages()):
        assert [fields.value_of(best, name) for name in layout.names[:2]] == [f"{layout.fields[0].always}", "2,571"]
        assert all(fields.meaning_of(best, name, words) for name in layout.names)
        assert all(len(fields.lesson_of(best, name, words)) >= 2 for name in layout.names)
        assert text in fields.spoken_text(best, words)
    assert [identify(wrong).reason for wrong in (late, other)] == ["elapsed", "version"]

    locator = _reader(layout, "uniq_v4")
    lines = [text, late, f"msgId={late}", other, CLIENT_V1.example, f"fileMd5={text}", ""]
    (places,) = _places(locator, tmp_path / "a.log", "\n".join(lines))
    client = ClientId.from_hex(CLIENT_V1.example)
    third, value = code << 56 | 0x1234 << 32 | 0x12345699, 0x12345678 << 16 | 0x0A0B
    finder = locator.finder
    assert finder.keys[0].tolist() == [0, 0x7F000001, third]
    assert codes.codes_of(finder.keys).tolist() == [code, codes.CODES["client_v1"]]
    assert places.slots.tolist() == [0, 0, 1]
    assert places.values.tolist() == [value, 0xF0345678 << 16 | 0x0A0B, client.seconds << 32 | client.sequence]
    assert list(words_of(text)) == [(0, 0x7F000001, third, value)]
    refused = {"lower_case": 0, "version": 1, "port": 0, "elapsed": 1, "other_name": 1, "trace_id": 0}
    assert _refused(locator) == refused
    monkeypatch.setattr(column_texts, "_LAYOUTS", codes.rows_of(dict.fromkeys(range(1, 7), layout)))
    monkeypatch.setattr(codes, "DIGITS", np.full(7, layout.digits))
    keys = finder.keys[:1].repeat(2, 0)
    assert column_texts.digits(keys, places.values[:2]).to_pylist() == [text, late]
    named = np.array([[0, 0x7F000001, third, value, rules.OTHER_THINGS.index("md"), 8]], np.uint64)
    assert [one.sample for one in look_alikes.of_names(look_alikes.named_rows(named, 1))] == [text]


@pytest.mark.long(first=4)
@pytest.mark.parametrize("case", ["strict", "lookalikes", "any"])
@pytest.mark.parametrize("code", ["uniq_v4", "uniq_v4_le", "client_v1"])
def test_the_kernel_judges_an_added_layout_as_identify_does(
    code: str, case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A msgId, one of an early month and a 5.x msgId, each of 36 digits with a version of two bytes."""
    layout = _made(b"\x02\xc2", early=LAYOUTS[code].early)
    if code == "client_v1":
        own = Field("version", 2, "version of the format", always=0x02C2)
        layout = Layout("client_made", (own, *CLIENT_V1.fields[1:]))
    monkeypatch.setitem(LAYOUTS, layout.name, layout)
    monkeypatch.setattr(rules, "CANDIDATE_DIGITS", {*rules.CANDIDATE_DIGITS, layout.digits})
    locator = _reader(layout, code, case)
    pick, said = random.Random(code), set()
    for _ in range(300):
        loader = pick.choice((0x18B4AAC2, 0x56349912, 0)).to_bytes(4, "little").hex()
        elapsed = pick.choice((1, 0x7FFFFFFF, 0xFFFFFFFF, pick.getrandbits(32))).to_bytes(4, "little").hex()
        digits = pick.choice(("02C2", "02C3")) + f"{pick.getrandbits(64):016x}{loader}{elapsed}"
        front = pick.choice(("", "msgId=", "fileMd5=", "traceId=", '"sign": "', "<etag><![CDATA[", "sent "))
        line = front + pick.choice((digits.lower(), digits, digits.upper()))
        before = _refused(locator)
        ids = sum(len(places.slots) for places in _places(locator, tmp_path / "a.log", line))
        (token,) = find(line)
        reason = judge(token, case).reason
        assert [name for name, count in _refused(locator).items() if count > before[name]] == [reason][ids:], line
        said.add(reason)
    wanted = {None, "version"}
    wanted |= {"elapsed"} if layout.kind == "uniq" else set()
    wanted |= {"lower_case"} if case != "any" else set()
    wanted |= {"other_name"} if case == "strict" and code == "uniq_v4" else set()
    assert said == wanted


def test_every_layout_has_the_model_of_its_kind() -> None:
    assert {layout.kind for layout in LAYOUTS.values()} == set(MODELS)
    own = [layout for layout in kernel.OWN_LENGTHS.values() if layout.kind == "offset"]
    assert not own, "an offsetMsgId of a length of its own needs its rule in `_of_own_length` and `judge_own_length`"


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_format_is_three_files(name: str) -> None:
    """Its row, its packer for the tests that every format passes, and its word in the documentation."""
    assert naming("idcore/sources", name) == {"idcore/sources/packings.py"}
    assert SUFFIXES.get(name, name) in packing.PACKERS
    assert name.replace("bz2", "bzip2") in (ROOT / "docs" / "inputs.md").read_text(encoding="utf-8")


def test_a_registered_chart_is_a_module_and_the_files_of_its_words() -> None:
    """Pages and the report draw what is registered: none of them names it. Its words are one file for each language."""
    found = [path.read_text("utf-8") for path in (ROOT / "pages/parts/charts").glob("*.py")]
    keys = {key for text in found for key in re.findall(r'register\(Chart\("\w+", "\w+", "([\w.]+)"', text)}
    assert keys
    for key in keys:
        words = {f"idcore/base/catalogue/{lang}.py" for lang in catalogue.languages()}
        modules = naming("pages", key) | naming("idcore", key) | naming("pages", f"{key}_alt")
        assert words < modules and len(modules) == len(words) + 1 == 3


def test_a_kind_without_a_reader_is_a_mistake_and_never_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds._MARKS, b"NEWKIND", "newkind")
    with pytest.raises(AssertionError, match="newkind has no reader"):
        list(archives.texts(io.BytesIO(b"NEWKIND and an id 0A2A80220FD218B4AAC23B9ACA000000"), Unpacked()))


def _reasons_of(page: str, head: str) -> set[str]:
    """The codes in the first cells of a table of a document."""
    table = (ROOT / "docs" / page).read_text(encoding="utf-8").split(f"{head}\n|---|---|\n")[1].split("\n\n")[0]
    return {code for row in table.splitlines() for code in re.findall(r"`(\w+)`", row.split(" | ")[0])}


def _decided(path: Path) -> tuple[set[str], set[str]]:
    """Texts of a module that can be a reason, without those of NO_VERDICT; and those that are one without doubt."""
    texts, reasons = set(), set()
    for node in tree(path).body:
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
    found = [
        _decided(path)
        for folder in ("answers/lookup", "rocketmq/store")
        for path in (ROOT / "idcore" / folder).glob("*.py")
    ]
    of_lists = set(words.table("list.reason."))
    assert known | of_lists <= set().union(*(texts for texts, _ in found)), "words for a reason that nothing decides"
    assert set().union(*(reasons for _, reasons in found)) <= known | of_lists, "a reason without words"
    assert _reasons_of("lists.md", "| reason of an empty list | when |") == of_lists
    assert _reasons_of("lookup.md", "| reason | what proves it |") == known
    assert _reasons_of("store.md", "| reason | when |") == of_stores <= known
    assert known >= NO_VERDICT


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_three_files(name: str) -> None:
    """Its row with its mark and its reader, one of its kind for the tests, and its row in the documentation."""
    assert naming("idcore/sources", name) == {"idcore/sources/archives.py"}
    assert name in packing.ARCHIVES or name == "parquet"
    assert f"| {name} " in (ROOT / "docs" / "inputs.md").read_text(encoding="utf-8").lower()


def test_what_can_be_cut_is_an_archive_and_is_tested() -> None:
    assert set(BETWEEN) - {"parquet"} <= set(packing.ARCHIVES)
