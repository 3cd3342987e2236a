"""What is said no more surely than it is known: that nothing was found, and where a zone is from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.presentation.html import tables
from idcore.presentation.triage import finding_texts, sentences
from idcore.presentation.triage.processes import assumed
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from pages.parts import frame
from pages.parts import view as view_module
from pages.parts.triage import report
from pages.parts.view import View
from tests.pages.test_findings import AT, PREFIX, judged

Open = Callable[..., AppTest]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_finding_is_never_said_to_prove_that_all_is_well(lang: str, tmp_path: Path) -> None:
    run = judged(tmp_path, f"msgId={PREFIX}{1_000_000:08X}0001 msgId={PREFIX}{1_000_010:08X}0002")
    none = run.table("findings").to_pandas().iloc[:0]
    spoken = words(lang)
    caveat = "does not prove that every message arrived" if lang == "en" else "并不证明所有消息都已送达"
    summary = {"ids": 2, "processes": 1, "brokers": 0}
    assert caveat in finding_texts.findings_sentence(none, summary, spoken)
    assert caveat in spoken("verdict.none")
    assert caveat not in finding_texts.findings_sentence(none, {"ids": 0}, spoken), "nothing was checked"
    rows = run.table("findings").to_pandas()
    view = View(spoken, UTC, "UTC", "chosen", "light")
    assert set(rows["severity"]) <= {"info"}
    assert caveat in report.markdown(run, view) and caveat in report.html(run, view)
    assert not [text for text in spoken.table("").values() if "othing is wrong" in text or "来看没有" in text]


@pytest.mark.parametrize(("lang", "own"), [("en", "Asia/Shanghai (browser)"), ("zh", "Asia/Shanghai（浏览器）")])
def test_a_zone_in_the_link_is_not_said_to_be_the_browsers(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, lang: str, own: str
) -> None:
    for module in (view_module, frame):
        monkeypatch.setattr(module, "browser_zone", lambda: "Asia/Shanghai")
    (box,) = (box for box in open_page("decode", lang=lang).selectbox if box.key == "pick_zone")
    assert any(f" {own} · " in option for option in box.options)
    (box,) = (box for box in open_page("decode", lang=lang, zone="Asia/Shanghai").selectbox if box.key == "pick_zone")
    assert any(" Asia/Shanghai · " in option for option in box.options) and own not in "".join(box.options)


def test_a_process_whose_month_or_zone_no_line_shows_has_a_mark_at_its_times() -> None:
    row = {
        "first_sent_at": pd.Timestamp("2026-11-21T01:14:00.033Z"),
        "last_sent_at": pd.Timestamp("2026-11-21T01:14:00.033Z"),
        "zone_source": "assumed",
        "month": None,
    }
    for lang, mark in (("en", "(month assumed, zone assumed)"), ("zh", "（月份为假定、时区为假定）")):
        assert assumed(row, words(lang)).strip() == mark
    assert assumed(row | {"month": "2026-11", "zone_source": "born"}, words()) == ""
    assert assumed(row | {"month": "2026-11"}, words()).strip() == "(zone assumed)"
    assert assumed(row | {"first_sent_at": None}, words()) == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_table_and_the_sentence_of_a_process_mark_what_is_assumed(lang: str, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text(f"msgId={PREFIX}{1_000_000:08X}0001 msgId={PREFIX}{1_000_010:08X}0002")
    rows = scan_local([str(log)], month_rows(AT, UTC))["processes"].to_pandas()
    view = View(words(lang), UTC, "UTC", "chosen", "light")
    mark = "(month assumed, zone assumed)" if lang == "en" else "（月份为假定、时区为假定）"
    assert tables.processes(rows, view, "run").html().count(mark) == 2
    assert mark in sentences.process(rows.iloc[0].to_dict(), view)
