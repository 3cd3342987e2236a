"""The findings page over tables that the core's own rules have judged: words, evidence, filters, reports."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.findings import all_rules, line_locations
from idcore.answers.findings.all_rules import Finding
from idcore.answers.findings.copies import CollisionEvidence, CopiesEvidence
from idcore.base.catalogue import upper, words
from idcore.ids.clock import months
from idcore.ids.model import UniqId
from idcore.presentation import times
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import esc
from idcore.presentation.triage import evidence_tables, evidence_texts, finding_rows, finding_texts, lines, run_tables
from idcore.presentation.triage.finding_rows import Kind, Row
from idcore.runs.runs import Run
from idcore.scan.lines import look
from idcore.scan.local import scan_local
from idcore.simulate import incidents
from idcore.sources.inputs import list_files
from idcore.spark.folder import write_table
from pages.parts.triage import report
from pages.parts.view import View
from tests.findings.every_rule import find_all
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
    rows = [
        (month.start_ms, min(int(AT.timestamp() * 1000) - month.start_ms, month.length_ms - 1))
        for month in months(AT, UTC, 13)
    ]
    tables = scan_local([str(log)], np.array(rows, np.int64))
    files = [replace(file, name="app.log") for file in list_files([str(log)])]
    told = look(files, tables["copies"]["msg_id"].to_pylist())
    tables["findings"] = all_rules.to_table(line_locations.place(find_all(tables, AT, UTC, line_evidence=told), files))
    for name, table in tables.items():
        (path / name).mkdir(exist_ok=True)
        for old in (path / name).iterdir():
            old.unlink()
        write_table(table, path / name / "part-00000.parquet")
    return Run(path)


@pytest.mark.parametrize(
    ("lang", "name"), [("en", "Several processes share one fingerprint"), ("zh", "多个进程指纹相同")]
)
def test_a_finding_says_who_what_to_do_and_what_was_checked(
    tmp_path: Path, open_page: Open, lang: str, name: str
) -> None:
    judged(tmp_path, two_at_once())
    app = open_page("findings", run=RUN, lang=lang)
    assert not app.exception and not app.error
    text = shown(app)
    assert name in text and "10.0.0.7 pid 3416 loader 18B4AAC2" in text
    assert words(lang)("findings.do") in text and "： " not in text, "a full-width colon has its space"
    assert all(words(lang)(f"finding.{code}") in text for code in all_rules.RULES)


def opened(path: str, number: int = 0) -> None:
    """A page of nothing but the evidence of a finding."""
    from pathlib import Path

    from idcore.runs.runs import Run
    from pages.parts import cache
    from pages.parts.triage import diagnosis
    from pages.parts.view import settle

    run = Run(Path(path))
    diagnosis.proof(cache.frame(run, "findings").to_dict("records")[number], run, settle(), str(number))


def test_the_evidence_is_read_when_it_is_opened_and_escaped(tmp_path: Path, open_page: Open) -> None:
    run = judged(tmp_path, two_at_once())
    folded = shown(open_page("findings", run=RUN))
    assert "anatomy?id=" not in folded
    # What would disprove it is read with the finding itself, not only by whoever opens its evidence.
    view = View(words("en"), UTC, "UTC", "chosen", "light")
    disproof = finding_texts.say("disproof", run.table("findings").to_pylist()[0], view)
    assert f"{words('en')('findings.disproof')}</b>{esc(disproof)}" in folded
    app = AppTest.from_function(opened, args=(str(run.path),)).run()
    assert not app.exception
    text = shown(app)
    assert f"anatomy?id={PREFIX}" in text
    assert "app.log:598  msgId=" in text, "with the number of its line" and "<b>sent</b>" in app.code[0].value
    assert words("en")("findings.disproof") not in text, "said twice"


def test_healthy_input_says_what_was_checked(tmp_path: Path, open_page: Open) -> None:
    judged(tmp_path, "\n".join(f"msgId={PREFIX}{1_000_000 + n * 10:08X}{100 + n:04X}" for n in range(500)))
    text = shown(open_page("findings", run=RUN))
    assert "No rule found an error or a warning" in text and words("en")("finding.clock_back") in text
    assert "This does not prove that every message arrived." in text


def test_a_run_from_before_the_findings_says_so(run: str, open_page: Open) -> None:
    app = open_page("findings", run=run)
    assert [info.value for info in app.info] == [words("en")("findings.older")]


CASES = [name for name in sorted(incidents.STORIES) if name != "healthy"]


@pytest.mark.long(first=6)
@pytest.mark.parametrize("name", CASES)
def test_the_evidence_of_every_incident_is_said_in_words(tmp_path: Path, name: str) -> None:
    run = judged(tmp_path, "\n".join(incidents.Incident(name, None, 3, AT - timedelta(days=1), UTC).lines()))
    for lang in ("en", "zh"):
        view = View(words("zh" if lang == "zh" else "en"), UTC, "UTC", "chosen", "light")
        known = set(words(view.words.lang).table("fact.").values())
        for row in run.table("findings").to_pylist():
            evidence = finding_rows.evidence_of(row)
            facts = dict(evidence_texts.facts(evidence, view, finding_texts.said_figures(row)))
            assert set(facts) <= known, (name, row["code"])
            assert not any("{" in value or "[" in value for value in facts.values()), "no raw structure is shown"
            table = evidence_tables.id_table(evidence, view)
            assert table is None or all(one in table for one in evidence["ids"])


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_reports_hold_subjects_ids_advice_and_versions(tmp_path: Path, lang: str) -> None:
    run = judged(tmp_path, two_at_once())
    view = View(words("zh" if lang == "zh" else "en"), UTC, "UTC", "chosen", "light")
    for text in (report.markdown(run, view), report.html(run, view)):
        assert "10.0.0.7 pid 3416 loader 18B4AAC2" in text and PREFIX in text
        assert view.words("findings.do") in text and view.words("report.versions", versions="")[:3] in text
    assert "<svg" in report.html(run, view) and "<script" not in report.html(run, view)


def test_a_host_that_sends_no_more_is_said_where_findings_are(tmp_path: Path, open_page: Open) -> None:
    """No rule finds it, and Producers says it: whoever reads the findings alone would take all for well."""
    hosts = (("0A000007", 600), ("0A000008", 240), ("0A000009", 600))
    each = (
        f"msgId={host}0D5818B4AAC2{1_000_000 + step * 1_000:08X}{step:04X} sent"
        for host, seconds in hosts
        for step in range(seconds)
    )
    run, view = judged(tmp_path, "\n".join(each) + "\n"), View(words("en"), UTC, "UTC", "chosen", "light")
    said = "10.0.0.8 has no ID after"
    page = re.sub(r"[*\\\\]|<[^>]*>", "", shown(open_page("findings", run=RUN)))
    assert said in page and "10.0.0.9 has no ID" not in page
    assert said in report.markdown(run, view).replace("*", "")
    assert said in re.sub("<[^>]*>", "", report.html(run, view))
    assert said not in re.sub("<[^>]*>", "", shown(open_page("findings", run=RUN, host="10.0.0.9"))), "filtered"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a\nb ", " c\nd", "b ID c"),
        ("", "", "ID"),
        ("键" * 200, "值" * 400, "… " + "键" * 133 + "ID" + "值" * 132 + " …"),
        ("x" * 400, "y" * 398, "x" * 400 + "ID" + "y" * 398),
        ("a\n" + "x" * 401, "y" * 399 + "\nz", "… " + "x" * 400 + "ID" + "y" * 398 + " …"),
    ],
)
def test_the_line_of_an_id_shows_where_it_was_cut(tmp_path: Path, before: str, after: str, said: str) -> None:
    run = Run(make_run(tmp_path / "runs"))
    (run.input_folder / "000-app.log").write_text(f"{before}ID{after}", encoding="utf-8", newline="")
    assert lines.around(run, ["ID"]) == [f"app.log: {said}"]


def test_a_title_cannot_write_into_the_report(tmp_path: Path) -> None:
    run = judged(tmp_path, two_at_once())
    told = json.loads((run.path / "run.json").read_text())
    told["title"] = "a*b*|<img src=x>`c`\n\n## Nothing is wrong\n.log"
    (run.path / "run.json").write_text(json.dumps(told))
    view = View(words("en"), UTC, "UTC", "chosen", "light")
    head, rest = report.markdown(run, view).split("\n", 1)
    assert head == "# a\\*b\\*\\|\\<img src=x\\>\\`c\\` \\#\\# Nothing is wrong .log"
    assert "Nothing is wrong" not in rest and "## Error: Several processes share one fingerprint" in rest


def test_the_lines_in_front_of_a_gap_are_shown(tmp_path: Path) -> None:
    run = Run(make_run(tmp_path / "runs"))
    (run.input_folder / "000-app.log").write_text("first\nsecond\nsend failed\nx ID\nbehind\n")
    assert lines.around(run, ["ID"], 2) == ["app.log: second", "app.log: send failed", "app.log: x ID"]
    assert lines.around(run, ["first"], 2) == ["app.log: first"]


def sent_twice(count: int) -> str:
    """Ids of one process that were stored twice in one topic, and one of another process."""
    record = (
        "Receive New Messages: [MessageExt [brokerName=a, queueId=0, storeSize=300, queueOffset=7, sysFlag=0, "
        "bornTimestamp={born}, bornHost=/10.0.0.7:51000, storeTimestamp={stored}, storeHost=/10.0.0.5:10911, "
        "msgId=0A00000500002A9F{offset:016X}, commitLogOffset=1, bodyCRC=77, reconsumeTimes=0, "
        "preparedTransactionOffset=0, toString()=Message{{topic='Paid', flag=0, properties={{KEYS=k, "
        "UNIQ_KEY={id}, WAIT=true}}, body=[72]}}]]"
    )
    born = int(datetime(2026, 11, 20, tzinfo=UTC).timestamp() * 1000)
    ids = [f"{PREFIX}{19 * 86_400_000 + n * 1000:08X}{n:04X}" for n in range(count)]
    ids.append(f"0A0000090D5818B4AAC2{19 * 86_400_000:08X}0000")
    lines = [
        record.format(born=born + n * 1000, stored=born + n * 1000 + again, offset=n * 4096 + again, id=one)
        for n, one in enumerate(ids)
        for again in (0, 3_000)
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_many_findings_of_one_kind_are_one_card_with_a_table(tmp_path: Path, open_page: Open, lang: str) -> None:
    run = judged(tmp_path, sent_twice(14))
    found = run.table("findings").to_pandas()
    assert (found["code"] == "duplicate_send").sum() == 15, "the table has a row for each"
    said = words("zh" if lang == "zh" else "en")
    text = shown(open_page("findings", run=RUN, lang=lang))
    assert text.count(said("finding.duplicate_send")) == 3, "one card: its head, twice its table"
    assert said.fill("who.id", {"n": "15", "count": 15}) in text
    for number in found.index[found["code"] == "duplicate_send"]:
        assert f"finding={number}" in text and found["subject"][number] in text, "each with a link to its evidence"
    view = View(said, UTC, "UTC", "chosen", "light")
    for made in (report.markdown(run, view), report.html(run, view)):
        assert f"{PREFIX}{19 * 86_400_000 + 2_000:08X}0002" in made
        assert made.count(said("finding.duplicate_send")) <= 3 and "10.0.0.9 pid 3416" in made


def written(run: Run, found: list[all_rules.Finding]) -> Run:
    """The same run with other findings."""
    pq.write_table(all_rules.to_table(found), run.path / "findings" / "part-00000.parquet")
    return run


OFFSETS = ["0A50010C00002A9F00000134800071FE", "0A50010D00002A9F0000014700007379"]


def test_copies_are_a_table_with_what_the_lines_tell(tmp_path: Path) -> None:
    view = View(words("en"), UTC, "UTC", "chosen", "light")
    records: list[dict[str, Any]] = [
        {"offset_msg_id": OFFSETS[1], "topic": "<b>", "born": 0, "born_host": "10.0.0.9", "key": None, "body_crc": 77},
        {"offset_msg_id": OFFSETS[0], "topic": "Orders", "born": None, "born_host": None, "key": None, "body_crc": 78},
    ]
    evidence = CollisionEvidence(ids=["X"], offset_msg_ids=OFFSETS, records=records, differs="topic")
    several = CopiesEvidence(ids=["X"], offset_msg_ids=[OFFSETS])
    table = str(evidence_tables.copies(evidence, view))
    assert "10.80.1.12:10911" in table and "Orders" in table and "&lt;b&gt;" in table and "1970-01-01" in table
    assert "KEYS" not in table and table.index("Orders") < table.index("&lt;b&gt;"), "in the order of the offset ids"
    assert dict(evidence_texts.facts(evidence, view)) == {words("en")("fact.differs"): "topic"}
    assert evidence_tables.copies(several, view) is None, "of many messages each row has its own"
    assert all(text in str(evidence_tables.id_table(several, view)) for text in OFFSETS)


def test_findings_alike_and_without_a_process_are_shown(tmp_path: Path, open_page: Open) -> None:
    run = judged(tmp_path, two_at_once())
    place = {"ids": [OFFSETS[0]], "label": "msgId"}
    written(
        run,
        [
            all_rules.Finding.of("id_confusion", "msgId", 2, place, "likely"),
            all_rules.Finding.of("id_confusion", "msgId", 1, place, "likely"),
            all_rules.Finding.of("stored_copies", "client", 3, {"process": {}, "ids": ["X"]}),
        ],
    )
    assert not open_page("findings", run=RUN).exception
    app = AppTest.from_function(opened, args=(str(run.path), -1)).run()
    assert not app.exception


def test_a_link_to_brokers_shows_those_alone(run: str, open_page: Open) -> None:
    from pages.parts import cache

    every = cache.frame(Run(Path(os.environ["IDCORE_RUNS"]) / run), "brokers")["address"].tolist()
    page = open_page("brokers", run=run)
    drawn, labels = (
        len(page.get("plotly_chart")),
        {words("en")("brokers.offsets_of", address=one): one for one in every},
    )
    (link,) = [one.proto for one in page.get("page_link") if one.proto.label in labels]
    assert f"broker={quote(labels[link.label])}" in link.query_string, "of the one whose file is full first"
    app = open_page("brokers", run=run, broker=every[0])
    assert not app.exception and len(app.get("plotly_chart")) == drawn + 1, "the histogram of its offsets"
    assert f"log-{every[0]}" in str(app.get("plotly_chart")) and f"log-{every[1]}" not in str(app.get("plotly_chart"))
    clear = next(button for button in app.button if every[0] in button.label)
    clear.click().run()
    assert len(app.get("plotly_chart")) == drawn
    unknown = open_page("brokers", run=run, broker="1.2.3.4:5")
    assert not unknown.exception and len(unknown.get("plotly_chart")) == drawn


def links_of(app: AppTest) -> list[str]:
    return [element.proto.label for element in app.get("page_link")]


def severities(app: AppTest) -> list[str]:
    """The options of the first switch of the page."""
    switch: Any = app.get("button_group")[0]
    return list(switch.options)


@pytest.mark.long(first=1)
@pytest.mark.parametrize(
    ("lang", "line", "more"),
    [
        ("en", "1 error: several processes share the fingerprint 10.0.0.7 pid 3416 loader 18B4AAC2", "Besides: 1 note"),
        ("zh", "1 项错误：10.0.0.7 pid 3416 loader 18B4AAC2 被多个进程共用", "另有 1 项提示"),
    ],
)
def test_the_decode_page_says_the_worst_findings_in_words(
    tmp_path: Path, open_page: Open, lang: str, line: str, more: str
) -> None:
    judged(tmp_path, two_at_once())
    app = open_page(run=RUN, lang=lang)
    assert not app.exception
    labels = links_of(app)
    assert labels[labels.index(line) + 1] == more


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings whose figures are left out are shown: no sentence here has one."""
    monkeypatch.setattr(run_tables, "unknown_findings", lambda run: frozenset())


@pytest.mark.usefixtures("without_figures")
def test_at_most_three_kinds_are_said_and_the_rest_is_counted(tmp_path: Path, open_page: Open) -> None:
    run = judged(tmp_path, two_at_once())
    codes = ["collision", "clock_back", "duplicate_send", "pid_erased", "restart"]
    of_each = [all_rules.Finding.of(code, f"{code} {n}", 1, {"ids": []}) for code in codes for n in range(2)]
    more = all_rules.Finding.of("pid_erased", "7 more", 7, {"variant": "more", "more": 7, "ids": []})
    written(run, all_rules.worst_first([*of_each, more]))
    labels = links_of(open_page(run=RUN))
    said = [label for label in labels if ": 2 m" in label or "of 2 processes" in label]
    assert len(said) == 3 and "Besides: 9 warnings and 2 notes" in labels, "17 findings, 6 of them said"


@pytest.mark.usefixtures("without_figures")
@pytest.mark.long(first=1)
@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([], "No rule found a problem. This does not prove that every message arrived: see what was checked"),
        (
            [all_rules.Finding.of("restart", "x", 1, {"ids": []})],
            "No error or warning was found, but 1 note: see findings",
        ),
    ],
)
def test_nothing_wrong_is_said_with_a_link(
    tmp_path: Path, open_page: Open, found: list[all_rules.Finding], said: str
) -> None:
    written(judged(tmp_path, two_at_once()), found)
    assert said in links_of(open_page(run=RUN))


def test_each_filter_is_in_the_address_and_counts_what_is_under_it(tmp_path: Path, open_page: Open) -> None:
    run = judged(tmp_path, two_at_once())
    made = [all_rules.Finding.of("pid_erased", f"host {n}", 1, {"ids": []}) for n in range(5)]
    made += [all_rules.Finding.of("restart", f"process {n}", 1, {"ids": []}) for n in range(2)]
    made.append(all_rules.Finding.of("link_local_host", "one", 1, {"ids": []}))
    made.append(all_rules.Finding.of("pid_erased", "20 more", 20, {"variant": "more", "more": 20, "ids": []}))
    written(run, all_rules.worst_first(made))
    app = open_page("findings", run=RUN)
    assert "**26 warnings**" in finding_texts.findings_sentence(
        run.table("findings").to_pandas(), {"ids": 9}, words("en")
    )
    assert severities(app) == ["All 28", "Warnings 26", "Notes 2"]
    app = open_page("findings", run=RUN, kind="pid_erased")
    assert severities(app) == ["All 25", "Warnings 25"]
    text = shown(app)
    assert text.count("finding=") == 5 * 2 and "20 more findings of this kind" in text
    assert "link-local" not in text.split("found nothing in this scan")[0]
    app = open_page("findings", run=RUN, kind="pid_erased", severity="info")
    assert app.selectbox("kind").value == "pid_erased", "nothing has both: the kind stays"
    assert "severity" not in app.query_params
    app = open_page("findings", run=RUN, severity="info")
    assert app.selectbox("kind").options == ["All kinds (2)", "Restart (2)"]
    app.selectbox("kind").select("restart").run()
    assert app.query_params["kind"] in ("restart", ["restart"]) and not app.exception


def test_a_finding_that_names_no_id_leads_to_the_lines_of_its_time(tmp_path: Path, open_page: Open) -> None:
    said = "2026-11-20 10:00:00.500 WARN send failed, order 7: RemotingTimeoutException\n"
    run = judged(tmp_path, f"2026-11-20 10:00:00.000 msgId={PREFIX}{1_000_000:08X}0001\n" + said)
    row = next(row for _, row in run.table("findings").to_pandas().iterrows() if row["code"] == "send_failed")
    asked = finding_rows.lines_of(3, row, run.name)
    assert asked == {"run": run.name, "from": "2026-11-20T09:59:59.500Z", "to": "2026-11-20T10:00:01.500Z"}
    page = open_page("findings", run=run.name)
    assert not page.exception and "1 line reports a failed send (RemotingTimeoutException)" in shown(page)


def test_a_link_shows_one_finding_with_its_evidence(tmp_path: Path, open_page: Open) -> None:
    run = judged(tmp_path, two_at_once())
    app = open_page("findings", run=RUN, finding="0")
    assert not app.exception and "anatomy?id=" in shown(app), "its evidence is open"
    assert words("en")("findings.every") in links_of(app)
    assert "All 2" not in severities(app), "the only switch is that of the language"
    for wrong in ("99", "x", "-1"):
        app = open_page("findings", run=RUN, finding=wrong)
        assert [info.value for info in app.info] == [words("en")("findings.gone", n=wrong)]
    assert len(run.table("findings")) == 2


def test_the_line_of_a_confused_id_is_the_one_that_confuses_it(tmp_path: Path) -> None:
    run = judged(tmp_path, f"offsetMsgId={OFFSETS[0]} as it should be\nmsgId={OFFSETS[0]} taken for a msgId\n")
    place = {"ids": [OFFSETS[0]], "label": "msgId"}
    written(run, [all_rules.Finding.of("id_confusion", "msgId", 1, place, "likely")])
    app = AppTest.from_function(opened, args=(str(run.path), -1)).run()
    assert not app.exception
    assert "taken for a msgId" in app.code[0].value and "as it should be" not in app.code[0].value


def test_a_sentence_begins_in_upper_case_and_a_name_stays_as_it_is() -> None:
    texts = ["the clock was set back", "msgId stands there", "fe80::1 writes an address", "10.0.0.1 does", "msgId 后面"]
    texts += ["pay 有 3 个 Key", "pay，orders"]
    assert [upper(text) for text in texts] == ["The clock was set back", *texts[1:]]


def test_a_card_and_the_sentence_count_the_same_processes() -> None:
    rows: list[Row] = [
        {"code": "expired", "severity": "warning", "subject": "", "count": 3, "evidence": json.dumps({named: {}})}
        for named in ("process", "process", "client", "client")
    ]
    kind = Kind("warning", "expired", "", list(enumerate(rows)))
    summary = {"ids": 12, "processes": 2, "clients": 2, "brokers": 0}
    for lang, counted in (("en", "4 processes (2 with 5.x msgIds)"), ("zh", "4 个进程（其中 2 个使用 5.x msgId）")):
        assert finding_texts.who(kind, words(lang)) == counted
        assert counted in finding_texts.findings_sentence(pd.DataFrame(), summary, words(lang))
    more = json.dumps({"variant": "more", "more": 9})
    kind.rest.append((4, {"code": "expired", "subject": "9 more", "count": 9, "evidence": more}))
    assert finding_texts.who(kind, words("en")) == "13 processes", "of those that are not listed nobody can say it"


def incident(folder: Path, name: str, variant: str) -> Run:
    """The run of a made incident."""
    made = incidents.Incident(name, variant, 3, AT - timedelta(days=1), UTC)
    return judged(folder, "\n".join(made.lines()))


def reports(run: Run, lang: str, zone: str) -> list[str]:
    found = times.zone_of(zone)
    assert found is not None
    view = View(words("zh" if lang == "zh" else "en"), found, zone, "chosen", "light")
    return [report.markdown(run, view), report.html(run, view)]


@pytest.mark.long(first=1)
@pytest.mark.parametrize(
    ("lang", "title", "said"),
    [("en", "Possible crash loop", "which looks like a crash loop"), ("zh", "疑似反复崩溃", "疑似反复崩溃")],
)
def test_restarts_one_after_another_are_told_with_their_times(
    tmp_path: Path, open_page: Open, lang: str, title: str, said: str
) -> None:
    run = incident(tmp_path, "restart", "three_times")
    (row,) = [row for row in run.table("findings").to_pylist() if row["code"] == "restart"]
    began = [datetime.fromisoformat(text) for text in finding_rows.evidence_of(row)["began_at"]]
    clocks = [f"{moment + timedelta(hours=8):%H:%M:%S}" for moment in began]
    listed = words("zh" if lang == "zh" else "en")("comma").join(clocks)
    text = shown(open_page("findings", run=RUN, lang=lang, zone="+08:00"))
    for made in (text, *reports(run, lang, "+08:00")):
        assert title in made and said in made and f"{listed} +08:00" in made


def test_copies_have_host_pid_and_broker_in_plain_text(tmp_path: Path, open_page: Open) -> None:
    run = incident(tmp_path, "duplicate_send", "another_broker")
    row = next(row for row in run.table("findings").to_pylist() if row["code"] == "duplicate_send")
    process = finding_rows.evidence_of(row)["process"]
    brokers = finding_rows.evidence_of(row)["addresses"].split(", ")
    for made in (shown(open_page("findings", run=RUN)), *reports(run, "en", "UTC")):
        assert f"{process['host']} pid {process['pid']}" in made
    for made in reports(run, "en", "UTC"):
        assert all(address in made for address in brokers)
    assert finding_rows.evidence_of(row).addresses_of_brokers == brokers


def test_a_failed_send_is_told_as_text(tmp_path: Path, open_page: Open) -> None:
    first = f"{PREFIX}{1_000_000 + 40 * 100:08X}{40:04X}"
    text = "\n".join(f"msgId={PREFIX}{1_000_000 + n * 100:08X}{n:04X}" for n in range(90) if n != 41)
    run = judged(tmp_path, text.replace(f"{first}\n", f"{first}\nsend failed: <b>busy</b>\n"))
    page, (markdown, html) = shown(open_page("findings", run=RUN)), reports(run, "en", "UTC")
    assert "send failed: &lt;b&gt;busy" in page and "send failed: &lt;b&gt;busy" in html
    assert "send failed: \\<b\\>busy" in markdown and "(app.log:42)" in markdown


def test_instants_side_by_side_name_their_date_once() -> None:
    zone = times.zone_of("+08:00")
    assert zone is not None
    one, two, next_day = "2026-11-20T01:00:00.900+00:00", "2026-11-20T09:00:05+08:00", "2026-11-20T16:00:00+00:00"
    assert times.several([one, two], zone) == "2026-11-20 09:00:00, 09:00:05 +08:00"
    assert times.several([one, next_day], zone) == "2026-11-20 09:00:00, 2026-11-21 00:00:00 +08:00"
    assert times.several([], zone) == ""


@pytest.mark.parametrize(
    ("name", "variant", "said", "never"),
    [
        ("expired", "five_days", "generated before 2026-11-17 12:00 +08:00", ":00.000 +08:00)"),
        ("broker_moved", "restarted", "new address seen 2026-11-20 ", ":00 to "),
    ],
)
def test_times_are_as_exact_as_they_are_known(tmp_path: Path, name: str, variant: str, said: str, never: str) -> None:
    for made in reports(incident(tmp_path, name, variant), "en", "+08:00"):
        line = next(line for line in made.replace("<p", "\n<p").splitlines() if said.split(" 2026")[0] in line)
        assert said in line and not re.search(r"\d\d:\d\d" + re.escape(never), line), line


def gap_rows(*gaps: tuple[float, float], hosts: int = 1) -> pd.DataFrame:
    """Findings of one process each, that miss IDs from one second of a month to another; they take turns on `hosts`."""
    made = []
    for number, (begin, end) in enumerate(gaps):
        after, before = (
            UniqId.of(f"10.42.3.{17 + number % hosts}", 7 + number, 0x18B4AAC2, round(1_000 * at), counter).text
            for at, counter in ((begin, 5), (end, 99))
        )
        moment = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=end)
        figures: dict[str, Any] = {
            "ids": [before],
            "sent_at": [moment.isoformat()],
            "gap_after": after,
            "gap_before": before,
        }
        figures |= {"variant": "one_gap", "produced": 900, "share": 0.1, "in_gaps": 1, "widest": 93, "also": ["gap"]}
        made.append(Finding.of("missing_ids", f"p{number}", 93, figures, since=moment, until=moment))
    return all_rules.to_table(made).to_pandas()


@pytest.mark.parametrize(
    ("hosts", "named"),
    [
        (1, "10.42.3.17"),
        (3, "10.42.3.17, 10.42.3.18, 10.42.3.19"),
        (5, "10.42.3.17, 10.42.3.18, 10.42.3.19 and 2 more"),
    ],
)
def test_a_gap_of_several_hosts_names_up_to_three_of_them(hosts: int, named: str) -> None:
    every = gap_rows(*[(60, 150)] * 5, hosts=hosts)
    assert f"**5 processes on {named} miss IDs at the same time**" in finding_texts.at_once(
        every, Reader(words("en"), UTC)
    )
    chinese = finding_texts.at_once(every, Reader(words("zh"), UTC))
    assert "10.42.3.17" in chinese and "上的 5 个进程同时缺少 ID" in chinese


def test_processes_that_miss_ids_at_once_are_said_before_the_widest_gap() -> None:
    view = Reader(words("en"), timezone(timedelta(hours=8)))
    together = gap_rows((60, 150.5), (59.2, 150), (60.5, 151), (60, 150), (600, 601))
    said = finding_texts.headline(together, view)
    assert "**4 processes on 10.42.3.17 miss IDs at the same time**" in said
    assert "between **2026-11-01 08:01:00** and **08:02:30 +08:00**" in said
    assert "(1 min 29 s)" in said and "The widest gap" not in said
    assert finding_texts.at_once(together, view) in said
    three = gap_rows((60, 150.5), (59.2, 150), (60.5, 151))
    (kind,) = finding_rows.kinds(three)
    assert kind.grouped and "**3 processes on 10.42.3.17 miss IDs at the same time**" in finding_texts.headline(
        three, view
    )
    assert not any(kind.grouped for kind in finding_rows.kinds(gap_rows((60, 90), (100, 120), (130, 140))))
    for part, name in ((three, "IDs missing from this input"), (three.head(0), "")):
        assert list(finding_texts.kind_names(part, view.words).values()) == ([name] if name else [])
    for apart in (gap_rows((60, 90), (100, 120), (130, 140), (150, 160)), gap_rows((60, 90), (60, 90))):
        assert finding_texts.at_once(apart, view) == ""
        assert "The widest gap" in finding_texts.headline(apart, view) or len(apart) < 3
