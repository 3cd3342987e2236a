"""The findings page over tables that the core's own rules have judged: words, evidence, filters, reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from idcore import findings
from idcore.ids.clock import months
from idcore.runs import Run
from idcore.scan.local import scan_local
from pages.parts import report
from pages.parts.text import words
from pages.parts.view import View
from tests.pages.conftest import RUN, make_run
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]
AT = datetime(2026, 11, 21, tzinfo=UTC)
PREFIX = "0A0000070D5818B4AAC2"


def two_at_once() -> str:
    """Two processes that share a fingerprint: counters far apart, taking turns for a minute."""
    lines = []
    for step in range(600):
        for base in (100, 40_000):
            lines.append(f"msgId={PREFIX}{1_000_000 + step * 100:08X}{base + step:04X} <b>sent</b>")
    return "\n".join(lines) + "\n"


def judged(folder: Path, text: str) -> Run:
    """The run of a text, with the tables of a real scan and the findings of the real rules."""
    path = make_run(folder / "runs")
    log = path / "input" / "000-app.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(text)
    rows = [(month.start_ms, min(int(AT.timestamp() * 1000) - month.start_ms, month.length_ms - 1))
            for month in months(AT, UTC, 13)]  # fmt: skip
    tables = scan_local([str(log)], np.array(rows, np.int64))
    tables["findings"] = findings.to_table(findings.find(tables, AT, UTC))
    for name, table in tables.items():
        (path / name).mkdir(exist_ok=True)
        for old in (path / name).iterdir():
            old.unlink()
        pq.write_table(table, path / name / "part-00000.parquet")
    return Run(path)


@pytest.mark.parametrize(("lang", "name"), [("en", "Shared fingerprint"), ("zh", "进程指纹重复")])
def test_a_finding_says_who_what_to_do_and_what_was_checked(
    tmp_path: Path, open_page: Open, lang: str, name: str
) -> None:
    judged(tmp_path, two_at_once())
    app = open_page("findings", run=RUN, lang=lang)
    assert not app.exception and not app.error
    text = shown(app)
    assert name in text and "10.0.0.7 pid 3416 loader 18B4AAC2" in text
    assert words(lang)("findings.do") in text
    assert all(words(lang)(f"finding.{code}") in text for code in findings.CODES)


def opened(path: str) -> None:
    """A page of nothing but the evidence of the first finding."""
    from pathlib import Path

    from idcore.runs import Run
    from pages.parts import cache, diagnosis
    from pages.parts.view import settle

    run = Run(Path(path))
    diagnosis.proof(cache.frame(run, "findings").to_dict("records")[0], run, settle(), "first")


def test_the_evidence_is_read_when_it_is_opened_and_escaped(tmp_path: Path, open_page: Open) -> None:
    run = judged(tmp_path, two_at_once())
    assert "anatomy?id=" not in shown(open_page("findings", run=RUN))
    app = AppTest.from_function(opened, args=(str(run.path),)).run()
    assert not app.exception
    text = shown(app)
    assert f"anatomy?id={PREFIX}" in text
    assert "app.log: msgId=" in text and "<b>sent</b>" in app.code[0].value
    assert words("en")("findings.disproof") in text


def test_healthy_input_says_what_was_checked(tmp_path: Path, open_page: Open) -> None:
    judged(tmp_path, "\n".join(f"msgId={PREFIX}{1_000_000 + n * 10:08X}{100 + n:04X}" for n in range(500)))
    text = shown(open_page("findings", run=RUN))
    assert "Nothing is wrong" in text and words("en")("finding.clock_back") in text


def test_a_run_from_before_the_findings_says_so(run: str, open_page: Open) -> None:
    app = open_page("findings", run=run)
    assert [info.value for info in app.info] == [words("en")("findings.older")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_reports_hold_subjects_ids_advice_and_versions(tmp_path: Path, lang: str) -> None:
    run = judged(tmp_path, two_at_once())
    view = View(words("zh" if lang == "zh" else "en"), UTC, "UTC", "chosen", "light")
    for text in (report.markdown(run, view), report.html(run, view)):
        assert "10.0.0.7 pid 3416 loader 18B4AAC2" in text and PREFIX in text
        assert view.words("findings.do") in text and view.words("report.versions", versions="")[:3] in text
    assert "<svg" in report.html(run, view) and "<script" not in report.html(run, view)
