"""What is said no more surely than it is known: that nothing was found, and where a zone is from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.journey import Sources, build
from idcore.answers.journey.sentences import when_text
from idcore.base.catalogue import upper, words
from idcore.ids.assumptions import assumed_of_many
from idcore.ids.clock import Clock
from idcore.presentation import export
from idcore.presentation.html import findings as findings_html
from idcore.presentation.html import journeys, tables
from idcore.presentation.terminal import scans
from idcore.presentation.triage import finding_rows, finding_texts, sentences
from idcore.presentation.triage import lines as files
from idcore.presentation.triage.processes import assumed
from idcore.presentation.triage.time_range import ALL_TIMES
from idcore.runs.runs import Run
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.simulate.incidents.incident import Incident
from pages.parts import frame
from pages.parts import view as view_module
from pages.parts.charts import counters, timeline
from pages.parts.charts import findings as finding_charts
from pages.parts.triage import lines, report
from pages.parts.view import View
from tests.pages.conftest import RUN
from tests.pages.test_findings import AT, PREFIX, judged
from tests.pages.test_lines import index_of, indexed
from tests.pages.test_pages import press, shown

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


UNDATED = "\n".join(f"msgId={PREFIX}{(3600 + n) * 1000:08X}{n % 3:04X}" for n in range(9))  # it restarts twice
MARKS = {"en": "(month assumed)", "zh": "（月份为假定）"}  # the zone of these scans was given


@pytest.fixture
def undated(tmp_path: Path) -> Run:
    return indexed(tmp_path, UNDATED)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_findings_mark_what_is_assumed_in_sentence_card_report_csv_and_json(lang: str, undated: Run) -> None:
    view = View(words(lang), UTC, "UTC", "chosen", "light")
    rows = undated.table("findings").to_pandas()
    (row,) = (row for row in rows.to_dict("records") if row["code"] == "restart")
    assert row["assumed"] == "month"
    mark = MARKS[lang]
    assert mark in finding_texts.say("meaning", row, view), "when it restarted"
    assert mark in finding_texts.when_of(row, view) and mark in "".join(findings_html.head(row, view))
    assert mark in report.markdown(undated, view) and mark in report.html(undated, view)
    (told,) = (told for told in scans.findings(undated.path, lang) if told["code"] == "restart")
    assert told["assumed"] == ["month"] and mark in told["meaning"]
    assert b",month" in export.csv_frame(rows) and b'"assumed":"month"' in export.json_frame(rows)
    assert undated.table("hosts")["assumed"].to_pylist() == ["month"]


def test_pictures_mark_what_is_assumed_where_they_are_pointed_at(undated: Run) -> None:
    view, mark = View(words(), UTC, "UTC", "chosen", "light"), MARKS["en"]
    process = undated.table("processes").to_pandas().iloc[0].to_dict()
    points = undated.table("counters").to_pandas()
    figure, _ = counters.sawtooth(points, view, assumed=assumed(process, view.words))
    hovers = [trace.hovertemplate for trace in figure.data if trace.hovertemplate]
    assert len(hovers) > 2 and all(mark in hover for hover in hovers)
    times = pd.Series([3], index=pd.to_datetime(["2026-11-01T01:00Z"]))
    strip = timeline.strip(times, pd.Timedelta(minutes=1), ALL_TIMES, view, assumed=f" {mark}")
    assert mark in strip.data[0].hovertext[0]
    kinds = finding_rows.kinds(undated.table("findings").to_pandas())
    over_time = finding_charts.over_time(kinds, [kind.code for kind in kinds], view)
    assert mark in "".join(trace.hovertemplate for trace in over_time.data)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_lines_producers_and_journey_mark_what_is_assumed(lang: str, undated: Run, open_page: Open) -> None:
    for page in ("lines", "producers"):
        assert MARKS[lang] in shown(open_page(page, run=undated.name, lang=lang))
    index = index_of(undated)
    every = np.arange(index.rows)
    taken = files.as_csv(index, every, lambda _: None, partial(lines.assumed_of, undated)).decode()
    assert taken.count(",month,") == 9
    clock = Clock(AT, UTC, "given")
    made = build(UNDATED[6:38], Sources(), clock, UTC)
    at = made.events[0]
    assert at.values["assumed"] == ["month"] and MARKS[lang] in when_text(at, words(lang))
    assert MARKS[lang] in journeys.hover(at, words(lang), lambda ms: str(ms))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_comparison_marks_when_ids_of_one_side_were_generated(lang: str, open_page: Open) -> None:
    app = open_page("compare", lang=lang)
    app.text_area[0].set_value(UNDATED)
    app.text_area[1].set_value(f"msgId={PREFIX}{9_000_000:08X}0001")
    assert MARKS[lang].strip("()（）")[:5] in shown(press(app, words(lang)("compare.button")))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_table_of_decode_has_the_time_and_its_mark_behind_the_id(lang: str, open_page: Open) -> None:
    app = open_page("decode", lang=lang)
    app.text_area[0].set_value(UNDATED)
    page = shown(press(app, words(lang)("decode.button")))
    assert words(lang)("month.assumed") in page
    heads = [words(lang)(f"col.{name}") for name in ("id", "sent_at", "host_or_broker")]
    places = [page.index(f">{head}<") for head in heads]
    assert places == sorted(places)


def test_what_is_assumed_for_a_part_is_not_said_of_all() -> None:
    assert assumed_of_many(3, 3, 0) == ("month",) and assumed_of_many(3, 1, 3) == ("month_part", "zone")
    assert words().assumed(("month_part",)) == " (month of a part assumed)" and words().assumed(()) == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_note_that_is_an_event_has_no_check_mark_but_its_own_sentence(
    open_page: Open, tmp_path: Path, lang: str
) -> None:
    spoken = words(lang)
    begins = [1_000_000 + 15_000 * number for number in range(4)]
    loop = [f"{PREFIX}{begin + 20 * n:08X}{n + 1:04X}" for begin in begins for n in range(40)]
    findings = judged(tmp_path, "\n".join(f"msgId={one}" for one in loop)).table("findings").to_pandas()
    assert set(findings["severity"]) == {"info"} and findings["code"][0] == "restart"
    links = {link.proto.label: link.proto.icon for link in open_page("decode", run=RUN, lang=lang).get("page_link")}
    view = View(spoken, UTC, "UTC", "chosen", "light")
    own = finding_texts.say("meaning", findings.to_dict("records")[0], view)
    assert any(upper(own) in label.replace("\\", "") for label in links), links
    assert ":material/check_circle:" not in links.values()


def test_a_note_on_how_ids_are_printed_leaves_the_check_mark(open_page: Open, tmp_path: Path) -> None:
    printed = [
        f"MessageExt [queueId=4, storeSize=813, msgId=0A2A090100002A9F{n * 900:016X}, commitLogOffset={n * 900}, "
        f"properties={{UNIQ_KEY={PREFIX}{1_000_000 + n:08X}{n + 1:04X}}}]"
        for n in range(9)
    ]
    findings = judged(tmp_path, "\n".join(printed)).table("findings").to_pandas()
    assert not findings.empty and set(findings["severity"]) == {"info"}
    assert finding_rows.first_event(findings) is None
    icons = [link.proto.icon for link in open_page("decode", run=RUN).get("page_link")]
    assert ":material/check_circle:" in icons


@pytest.mark.parametrize(("lang", "whose"), [("en", "All are of process "), ("zh", "全部来自进程 ")])
def test_of_copies_it_is_said_whose_they_are_and_how_far_apart(tmp_path: Path, lang: str, whose: str) -> None:
    log = Incident("duplicate_send", "same_broker", 3, AT - timedelta(hours=1), UTC).lines()
    rows = judged(tmp_path, "\n".join(log)).table("findings").to_pandas()
    (kind,) = (one for one in finding_rows.kinds(rows) if one.code == "duplicate_send")
    view = View(words(lang), UTC, "UTC", "chosen", "light")
    said = finding_texts.kind_sentence(kind, view)
    figures = [finding_rows.evidence_of(row) for _, row in kind.rows]
    (process,) = {str(one.fingerprint) for one in figures}
    seconds = [dict(one)["apart_seconds"] for one in figures]
    assert f"{whose}{process}" in said
    assert all(words(lang).lasting(one) in said for one in (min(seconds), max(seconds)))
    assert said in "".join(findings_html.kind_card(kind, view))
    assert said in "".join(scans.finding_lines(rows, view))
    few = finding_rows.Kind(kind.severity, kind.code, kind.variant, kind.rows[:3])
    assert whose not in finding_texts.kind_sentence(few, view), "three are shown one by one"


@pytest.mark.parametrize(
    ("lang", "every", "said"),
    [
        ("en", 1, "Filtered by host A, this time range has **1 note**."),
        ("en", 2, "Filtered by host A, this time range has **1 note**. The filter hides 1 other."),
        ("en", 3, "Filtered by host A, this time range has **1 note**. The filter hides 2 others."),
        ("zh", 3, "按主机 A 筛选，此时间范围内有 **1 项提示**。筛选条件隐藏了另外 2 项。"),
    ],
)
def test_what_a_filter_leaves_is_said_plainly(tmp_path: Path, lang: str, every: int, said: str) -> None:
    rows = judged(tmp_path, f"msgId={PREFIX}{1_000_000:08X}0001 msgId={PREFIX}{1_000_010:08X}0002").table("findings")
    names = "host A" if lang == "en" else "主机 A"
    assert finding_texts.filtered(rows.to_pandas().head(1), every, names, words(lang), in_range=True) == said


def test_the_findings_that_are_not_said_have_their_severity(open_page: Open, tmp_path: Path) -> None:
    log = Incident("duplicate_send", "same_broker", 3, AT - timedelta(hours=1), UTC).lines()
    rows = judged(tmp_path, "\n".join(log)).table("findings").to_pandas()
    notes = int((rows["severity"] == "info").sum())
    labels = [link.proto.label for link in open_page("decode", run=RUN).get("page_link")]
    assert notes and f"Besides: {words('en').count('finding_info', notes)}" in labels, labels
