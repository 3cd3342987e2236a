"""The compare page over real lines, against the sets of their ids; empty, equal, disjoint, and from a link."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from idcore.__main__ import main
from idcore.base.catalogue import words
from idcore.base.errors import CoreError
from idcore.ids import find, identify
from idcore.intake.intake import Source
from idcore.operations import texts
from idcore.policy import audit
from idcore.presentation.triage import compared, compared_texts
from idcore.runs.runs import COMPARE, Runs
from pages.parts.triage import compare
from tests.pages.conftest import make_run
from tests.pages.test_pages import press, shown

Open = Callable[..., AppTest]
REAL = Path(__file__).resolve().parents[1] / "vectors" / "real.log.gz"
ONE, OTHER = "0A00000700FF18B4AAC2000000010001", "0A00000800FF18B4AAC2000000010002"


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Of the Java client: one message a line, with both its ids."""
    with gzip.open(REAL, "rt", encoding="utf-8") as file:
        found = [line for line in file if "SendResult [" in line and "offsetMsgId=" in line]
    return found[:300]


def ids_of(text: str, stored: bool) -> set[str]:
    best = ((token.text, identify(token.text, token.label).best) for token in find(text))
    return {text for text, reading in best if reading is not None and (reading.kind == "offset") == stored}


def comparing(open_page: Open, first: str, second: str, **query: str) -> AppTest:
    app = open_page("compare", **query)
    app.text_area[0].set_value(first)
    app.text_area[1].set_value(second)
    press(app, words("zh" if query.get("lang") == "zh" else "en")("compare.button"))
    assert not app.exception and not app.error
    return app


def test_real_lines_are_counted_as_their_sets_say(open_page: Open, lines: list[str]) -> None:
    first, second = "".join(lines[:280]), "".join(lines[13:])
    page = shown(app := comparing(open_page, first, second))
    a, b = ids_of(first, stored=False), ids_of(second, stored=False)
    assert a - b and b - a and a & b
    said = f"Of {len(a)} msgIds of the first, <b>{len(a & b)}</b> are in the second and <b>{len(a - b)}</b> are not;"
    assert f"{said} <b>{len(b - a)}</b> are only in the second. {words('en')('compare.alike')}" in page
    c, d = ids_of(first, stored=True), ids_of(second, stored=True)
    assert [*map(len, (a, b, a & b))] == [*map(len, (c, d, c & d))]
    assert app.get("plotly_chart")
    assert all(f"{way}?id={lines[0].split('msgId=')[1][:32]}" in page for way in ("anatomy", "message"))
    for title in ("By producer", "By broker", "Examples missing from the second", "Examples missing from the first"):
        assert title in page
    labels = [button.proto.label for button in app.get("download_button")]
    for side, n in (("first", 13), ("second", 20)):
        assert {f"Only in the {side}: {n} {kind}, as text" for kind in ("msgIds", "offsetMsgIds")} <= {*labels}
    assert "Counts as CSV" in labels


def test_who_leaves_while_a_long_comparison_waits_waits_no_longer(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit ends the script of a visit that has ended when it next sends something."""
    asked = list[int]()

    def gone(_: object) -> None:
        asked.append(1)
        if len(asked) > 1:
            raise CoreError("call_gone")

    monkeypatch.setattr(texts, "LARGE_COMPARED", 1)
    monkeypatch.setattr(texts, "MOMENT", 0.001)
    monkeypatch.setattr(DeltaGenerator, "empty", gone)
    app = open_page("compare")
    app.text_area[0].set_value(ONE)
    app.text_area[1].set_value(OTHER)
    with texts._TURN:
        press(app, words("en")("compare.button"))
    assert len(asked) == 2 and "hung up" in app.error[0].value


def test_chinese_says_the_same(open_page: Open, lines: list[str]) -> None:
    page = shown(comparing(open_page, "".join(lines), "".join(lines[1:]), lang="zh"))
    assert "第一份的 300 个 msgId 中，<b>299</b> 个在第二份中，<b>1</b> 个不在；另有 <b>0</b> 个只在第二份中。" in page


def test_equal_inputs_are_called_the_same_and_offer_no_missing_ids(open_page: Open, lines: list[str]) -> None:
    page = shown(app := comparing(open_page, "".join(lines), "".join(reversed(lines)) * 2))
    assert "Both inputs contain the same <b>300 msgIds</b>." in page and "lacks" not in page
    assert "Two equal logs do not prove that every message arrived." in page
    assert not [button for button in app.get("download_button") if "Only in" in button.proto.label]


def test_disjoint_inputs_have_none_in_common(open_page: Open) -> None:
    page = shown(comparing(open_page, f"msgId={ONE}", f"msgId={OTHER}"))
    assert "<b>none</b> is in the second and <b>1</b> is not; <b>1</b> is only in the second." in page
    assert f"anatomy?id={ONE}" in page and f"anatomy?id={OTHER}" in page


def test_a_kind_that_one_side_never_names_is_not_called_missing(open_page: Open, lines: list[str]) -> None:
    uniq = "\n".join(sorted(ids_of("".join(lines), False)))
    page = shown(comparing(open_page, "".join(lines), uniq))
    assert "Both inputs contain the same <b>300 msgIds</b>." in page
    assert (
        "Only the first contains IDs (300 offsetMsgIds); the second contains none, so there is nothing to compare."
        in page
    )
    assert "Examples missing from the second" not in page
    assert "By producer" in page and "By broker" not in page, "a row of them would call all of its IDs missing"


def test_a_long_comparison_waits_for_those_of_programs(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    @contextmanager
    def waited(size: int, _: object) -> Iterator[None]:
        asked.append(size)
        yield

    monkeypatch.setattr(compare, "turn", waited)
    comparing(open_page, ONE, f"{ONE} {OTHER}")
    assert asked == [len(ONE) + len(f"{ONE} {OTHER}")]


def test_nothing_on_a_side_and_no_id_at_all_are_said(open_page: Open) -> None:
    assert "the second input is empty" in comparing(open_page, ONE, " ").warning[0].value
    assert "<b>no IDs</b>" in shown(comparing(open_page, "nothing here", "nor here"))


def test_lower_case_counts_where_it_is_asked_for(open_page: Open) -> None:
    app = comparing(open_page, ONE.lower(), ONE)
    assert "Only the second contains IDs (1 msgId)" in shown(app)
    app.checkbox[0].check()
    assert "Both inputs contain the same <b>1 msgId</b>." in shown(press(app, "Compare"))
    assert app.query_params["case"] == ["any"] or app.query_params["case"] == "any"


def kept_run(root: Path, name: str, text: str) -> str:
    folder = make_run(root / "runs", name)
    (folder / "input").mkdir()
    (folder / "input" / "000-app.log").write_text(text)
    facts = json.loads((folder / "run.json").read_text())
    facts["options"] |= {"sources": ["app.log"]}
    (folder / "run.json").write_text(json.dumps(facts))
    return name


def test_two_runs_are_compared_by_a_link_and_chosen_ones_make_it(
    open_page: Open, tmp_path: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kept_run(tmp_path, "20261121-015500-a1b2c3", "".join(lines))
    second = kept_run(tmp_path, "20261121-015600-a1b2c4", "".join(lines[7:]))
    said = "Of 300 msgIds of the first, <b>293</b> are in the second and <b>7</b> are not;"
    assert said in shown(open_page("compare", first=first, second=second))
    assert open_page("compare", first=first, second=second, case="any").checkbox[0].value
    app = open_page("compare")
    app.selectbox(key="compare-run-before").set_value(first)
    app.selectbox(key="compare-run-after").set_value(second)
    assert said in shown(press(app, "Compare"))
    linked = ([first, second], [[first], [second]])
    assert [app.query_params["a"], app.query_params["b"]] in linked
    for name in ("a", "b"):
        del app.query_params[name]
    assert said in shown(app.run()), "back from another page"
    assert [app.query_params["a"], app.query_params["b"]] in linked
    noted: list[str] = []
    monkeypatch.setattr(audit, "note", lambda what, *_, **__: noted.append(what))
    assert said in shown(open_page("compare", a=first, b=second))
    assert noted == ["run_opened"], "a comparison is opened as a scan is"
    assert sum(run.kind == COMPARE for run in Runs(tmp_path / "runs").list()) == 2, "of either case one"


def test_a_run_that_is_gone_or_kept_no_input_is_said(open_page: Open, run: str) -> None:
    assert open_page("compare", first="20200101-000000-000000", second="../../etc").error
    app = open_page("compare", first=run, second=run)
    assert "kept no copy of its text" in app.warning[0].value and not app.error
    assert "is not a comparison" in open_page("compare", run=run).error[0].value


def test_what_is_too_large_is_told_with_the_command(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> None:
    monkeypatch.setattr(compare, "LIMIT", 1_000)
    app = comparing(open_page, "".join(lines), ONE)
    assert "The size of the first input is" in app.info[0].value
    assert app.code[0].value.startswith("python -m idcore compare ") and app.code[0].value.endswith(" --out only")


def test_files_are_unpacked_and_what_cannot_be_read_goes_by_its_own_name(tmp_path: Path, lines: list[str]) -> None:
    text = "".join(lines).encode()
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(5_000))[:-20])
    whole, cut = Source("a b.log.gz", gzip.compress(text)), Source("sent to us.gz", tmp_path / "cut.gz")
    found = compared.compare(compared.ComparisonQuery((whole,), (Source("plain.log", text), cut)))
    assert found.sums(compared.MESSAGE) == (300, 300, 300)
    assert len(found.problems) == 1 and found.problems[0][0] == "sent to us.gz"
    told = [compared_texts.unread(found, words(lang)) for lang in ("en", "zh")]
    assert all("sent to us.gz: " in text for text in told), told
    assert told[0].isascii() and not told[1].rpartition("gz: ")[2].isascii(), "the reason is told in Chinese as well"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_record_of_a_message_that_the_other_names_by_its_msgid_alone_is_not_missing(
    open_page: Open, tmp_path: Path, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A consumer prints the msgId, and of a few messages the record too: each other record was called missing."""
    said = words(lang)
    ids = [(f"0A00000712{n:02X}18B4AAC267361E8000{n:02X}", f"0A00000500002A9F{4_096 * n:016X}") for n in range(1, 21)]
    sent = "".join(f"SendResult [sendStatus=SEND_OK, msgId={one}, offsetMsgId={record}]\n" for one, record in ids)
    received = "".join(
        f"consumed msgId={one}{f' offsetMsgId={record}' if n < 3 else ''}\n" for n, (one, record) in enumerate(ids[:19])
    )
    page = shown(comparing(open_page, sent, received, lang=lang))
    note = said("compare.named_alone", count=1, sides=said("compare.the_after"))
    assert note in page and said("compare.table_offset") not in page and said("compare.table_uniq") in page
    both = "".join(f"consumed msgId={one} offsetMsgId={record}\n" for one, record in ids[:19])
    page = shown(comparing(open_page, sent, both, lang=lang))
    assert note not in page and said("compare.table_offset") in page
    for name, text in (("sent", sent), ("received", received), ("both", both)):
        (tmp_path / name).write_text(text)
    for second, is_alone in (("received", True), ("both", False)):
        assert main(["compare", str(tmp_path / "sent"), str(tmp_path / second), "--format", "table"]) == 0
        out = capsys.readouterr().out
        assert ("by their msgId alone" in out) == is_alone and ("By broker" in out) != is_alone
