"""Reports and tickets: files that open without a network, the console's pictures as SVG, numbered lines."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.answers.findings import all_rules
from idcore.base.catalogue import words
from idcore.presentation import export
from idcore.presentation.html import findings as findings_html
from idcore.presentation.reports import roles
from idcore.presentation.reports.svg import dates, numbers, svg
from idcore.presentation.triage import (
    finding_lines,
    finding_report,
    finding_rows,
    finding_texts,
    lines,
    run_notes,
    run_texts,
)
from idcore.presentation.triage.activity import binned
from idcore.presentation.triage.file_names import FileNames
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.charts import brokers, counters, producers
from pages.parts.charts import findings as charts
from pages.parts.triage import diagnosis, opened, report
from pages.parts.view import View
from tests.occurrences.test_index import index_of
from tests.pages import example_run
from tests.pages.conftest import RUN, make_run, reader
from tests.pages.test_evidence_view import points
from tests.pages.test_findings import PREFIX, Open, incident, judged, two_at_once, written

LIGHT = roles.palette("light")
ADDRESS = f"http://10.1.2.3:8501/findings?run={RUN}"


def view(lang: str = "en", zone: str = "UTC") -> View:
    return View(words("zh" if lang == "zh" else "en"), UTC, zone, "chosen", "dark")


def drawn(figure: go.Figure) -> ElementTree.Element:
    """The picture as a tree: it is well-formed."""
    return ElementTree.fromstring(svg(figure, "a < b", report.PEN))


def texts(tree: ElementTree.Element) -> list[str]:
    return ["".join(one.itertext()) for one in tree.iter("text")]


def test_bars_have_names_and_numbers_and_a_cut_bar_has_a_broken_edge() -> None:
    hosts = pd.DataFrame({"host": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "a<b"], "ids": [900, 450, 3, 2]})
    figure = producers.bars(hosts, "ids", reader(), limit=2, beyond=(5, 9_000), marks={"10.0.0.1": ["shared"]})
    tree = drawn(figure)
    assert tree.get("aria-label") == "a < b" and tree.get("role") == "img"
    assert {"10.0.0.1  shared", "10.0.0.2", "900", "450", "9,005"} <= set(texts(tree))
    bars = list(tree.iter("rect"))
    widths = [float(bar.get("width", 0)) for bar in bars]
    assert widths[0] == pytest.approx(2 * widths[1], rel=0.01) and widths[2] == widths[0]
    assert ["dasharray" in bar.get("style", "") for bar in bars] == [False, False, True]
    tops = [float(bar.get("y", 0)) for bar in bars]
    assert tops == sorted(tops), "the largest is on top"


def test_a_counter_has_its_axis_its_wraps_its_gap_and_its_restart() -> None:
    made = points([65_530, 65_535, 3, 20], [0, 5, 10, 30], {20: 16})
    made["position"] = [0, 5, 9, 26]
    again = points([0, 9], [40, 50]).assign(chain=1, position=[0, 9])
    both = pd.concat([made, again]).assign(layout="uniq_v4", host="10.0.0.7", pid=3416, loader="18B4AAC2")
    figure, _ = counters.sawtooth(both, reader())
    tree = drawn(figure)
    assert {"0", "65,535", "1", "16 missing", "restart", "counter", "UTC +00:00"} <= set(texts(tree)), texts(tree)
    assert any(text.startswith("2026-11-21") for text in texts(tree)) and any("09:00:" in text for text in texts(tree))
    assert list(tree.iter("polygon")) and any("2 3" in line.get("style", "") for line in tree.iter("line"))
    first = next(path.get("d", "") for path in tree.iter("path"))
    assert first.count("M") == 3, "cut at the wrap and at the gap"


def test_the_step_of_a_clock_is_drawn_and_named() -> None:
    made = points([1, 2, 3, 4, 5], [100, 101, 41, 42, 43])
    for lang, said in (("en", "1 min back"), ("zh", "回拨 1 分钟")):
        figure = charts.clock(made, reader(lang=lang))
        assert figure is not None and len(figure.layout.shapes) == 1
        tree = drawn(figure)
        assert said in texts(tree), texts(tree)
        step = next(line for line in tree.iter("line") if "2 3" in line.get("style", ""))
        height = abs(float(step.get("y1", 0)) - float(step.get("y2", 0)))
        path = next(tree.iter("path")).get("d", "").replace("L", " ").replace("M", "").split()
        ys = [float(value) for value in path[1::2]]
        assert height == pytest.approx(max(ys) - min(ys[:2]), abs=3), "as high as the fall"
    rising = charts.clock(points([1, 2, 3], [1, 2, 3]), reader())
    assert rising is not None and not rising.layout.shapes and not rising.layout.annotations


def test_the_times_of_findings_have_a_row_for_each_kind() -> None:
    at = pd.Timestamp("2026-11-20T10:00Z")
    rows = [
        {
            "code": "restart",
            "severity": "info",
            "count": 1,
            "first_sent_at": at,
            "last_sent_at": at + timedelta(hours=n),
        }
        for n in (0, 2)
    ]
    kinds = [finding_rows.Kind("info", "restart", "", list(enumerate(rows)))]
    kinds.append(finding_rows.Kind("error", "clock_back", "", [(2, rows[1])]))
    tree = drawn(charts.over_time(kinds, ["Restart", "Clock set back"], reader()))
    assert {"Restart", "Clock set back"} <= set(texts(tree))
    assert len(list(tree.iter("circle"))) == 6 and len(list(tree.iter("path"))) == 2


def test_brokers_are_drawn_and_a_heat_map_is_refused() -> None:
    made = example_run.tables()
    tree = drawn(brokers.totals(made["brokers"], reader()))
    assert set(made["brokers"]["address"]) <= set(texts(tree))
    heat = producers.heat(*binned(made["activity"], ["10.42.3.17"]), reader())
    with pytest.raises(TypeError, match="heatmap"):
        svg(heat, "x", report.PEN)


def test_ticks_are_round() -> None:
    assert [text for _, text in numbers(0, 103, 4)] == ["0", "50", "100"]
    assert [text for _, text in numbers(0.0, 0.35, 4)] == ["0.0", "0.1", "0.2", "0.3"]
    begin = datetime(2026, 11, 20, 23, 40, tzinfo=UTC).timestamp() * 1000
    assert [text for _, text in dates(begin, begin + 45 * 60_000, 4)] == [
        "23:45\n2026-11-20",
        "00:00\n2026-11-21",
        "00:15",
    ]


def test_every_colour_of_a_picture_follows_the_theme() -> None:
    light, dark = (report.PEN.variables(dark=dark) for dark in (False, True))
    assert re.findall("--k[0-9]+", light) == re.findall("--k[0-9]+", dark)
    assert LIGHT.roles["host"] in light and roles.palette("dark").roles["host"] in dark
    hosts = pd.DataFrame({"host": ["10.0.0.1"], "ids": [9]})
    shown = svg(producers.bars(hosts, "ids", reader()), "x", report.PEN)
    assert "fill:var(--k" in shown and not re.search("(fill|stroke):#", shown)


@pytest.mark.long(first=1)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("name", "variant"), [("clock_back", "two_seconds"), ("missing_ids", "an_outage")])
def test_a_report_opens_without_a_network_in_either_theme_and_on_paper(
    tmp_path: Path, lang: str, name: str, variant: str
) -> None:
    run = incident(tmp_path, name, variant)
    made = report.html(run, view(lang), ADDRESS)
    addresses = re.findall(r"""(?:https?:)?//[^\s"'<>)]+""", made)
    assert addresses and all(one.startswith(ADDRESS.replace("&", "&amp;")) for one in addresses), "the scan alone"
    assert not re.search("<(script|link|img|iframe|object|base)\\b|url\\(|@import|src=", made)
    assert (
        "prefers-color-scheme:dark" in made
        and "@media print" in made
        and f'lang="{"zh" if lang == "zh" else "en"}' in made
    )
    said = words("zh" if lang == "zh" else "en")
    for heading in ("pictures.producers", "report.counters", "pictures.brokers", "report.about"):
        assert f"<h2>{said(heading)}</h2>" in made
    assert made.count("<svg") == made.count("<figcaption>") >= 4 and made.count(
        'role="img" aria-label="'
    ) == made.count("<svg")
    assert re.search(r"<pre>app\.log:\d+ ", made) and f"{ADDRESS}&amp;finding=0" in made
    text = report.markdown(run, view(lang), ADDRESS)
    assert re.search(r"```text\napp\.log:\d+ ", text) and f"{ADDRESS}&finding=0" in text


def test_a_report_names_files_without_the_folders_of_the_server(tmp_path: Path) -> None:
    """Uploads have none; of two folders what differs stays, and the whole path is under "About this report"."""
    for files, called in (
        (["app.log", "logs.zip/app.log"], ["app.log", "logs.zip/app.log"]),
        (["/srv/logs/app.log"], ["app.log"]),
        (["/srv/logs/a/app.log", "/srv/logs/b/app.log", "old.log"], ["a/app.log", "b/app.log", "old.log"]),
        (["/srv/a.log", "/var/a.log"], ["/srv/a.log", "/var/a.log"]),
        (["s3://bucket/day/app.log"], ["app.log"]),
    ):
        names = FileNames.of(files)
        assert [names(name) for name in files] == called
    run = incident(tmp_path, "missing_ids", "an_outage")
    table = pq.read_table(run.path / "files")
    paths = pa.array([f"/srv/logs/{name}" for name in table["file"].to_pylist()])
    for part in (run.path / "files").glob("*.parquet"):
        part.unlink()
    pq.write_table(table.set_column(0, "file", paths), run.path / "files" / "part-0.parquet")
    facts = json.loads((run.path / "run.json").read_text(encoding="utf-8"))
    facts |= {
        "title": "/srv/logs",
        "options": {name: one for name, one in facts["options"].items() if name != "sources"},
    }
    (run.path / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    run = Run(run.path)
    for made_text in (report.markdown(run, view(), ADDRESS), report.html(run, view(), ADDRESS)):
        assert made_text.count("/srv/logs") == 1 and "Folders of the input: /srv/logs" in made_text


def test_a_file_has_one_name_on_page_ticket_csv_and_report(tmp_path: Path) -> None:
    """The shortest that is of one file of the scan: not its last two parts, and not its last one."""
    run = incident(tmp_path, "missing_ids", "an_outage")
    there = "/srv/logs/sub/deep/app.log"
    for name in ("findings", "files"):
        table = pq.read_table(run.path / name).to_pandas()
        table = table.map(lambda value: value.replace("app.log", there) if isinstance(value, str) else value)
        if name == "files":
            table = pd.concat([table.assign(file=there), table.assign(file="/srv/logs/app.log")])
        for old in (run.path / name).glob("*.parquet"):
            old.unlink()
        table.to_parquet(run.path / name / "part-0.parquet")
    run = Run(run.path)
    findings = cache.frame(run, "findings")
    part = next(iter(finding_report.parts_of(finding_rows.kinds(findings))))
    texts = {
        "page": finding_texts.say("meaning", findings.iloc[0].to_dict(), view()),
        "ticket": finding_report.ticket(part, run, diagnosis.log_lines(run), view(), ADDRESS),
        "report": report.html(run, view(), ADDRESS),
        "csv": export.csv_frame(findings).decode("utf-8-sig"),
    }
    for door, text in texts.items():
        assert re.search(r"(?<![\w/])sub/deep/app\.log:\d+", text), (door, text[:2_000])
        assert there not in text, door


def test_a_report_names_its_scan_in_its_file(tmp_path: Path) -> None:
    for number, (title, slug) in enumerate(
        [
            ("App Log/2026 (1).log", "app-log-2026-1-log"),
            ("订单 日志.log", "订单-日志-log"),
            ("///", RUN),
            ("x" * 99, "x" * 60),
        ]
    ):
        run = Run(make_run(tmp_path / f"runs{number}", title=title))
        assert run_texts.report_name(run, view(), "html") == f"rocketmq-ids-{slug}-2026-11-21.html"


def test_a_ticket_has_the_sentence_the_lines_and_the_way_back(tmp_path: Path) -> None:
    run = judged(tmp_path, two_at_once().replace("<b>sent</b>", "```<b>"))
    part = next(iter(finding_report.parts_of(finding_rows.kinds(run.table("findings").to_pandas()))))
    assert not isinstance(part, finding_rows.Kind)
    made = finding_report.ticket(part, run, diagnosis.log_lines(run), view(), ADDRESS)
    assert made.startswith("## Error: Several processes share one fingerprint\n\n`10.0.0.7 pid 3416 loader 18B4AAC2`")
    assert "````text\napp.log:598  msgId=" in made and "\n````\n" in made, "its fence is longer than any in the lines"
    for label in ("findings.do", "findings.disproof"):
        assert words("en")(label) in made
    assert made.endswith(f"In the console: {ADDRESS}&finding={part[0]}\n")
    assert "In the console" not in finding_report.ticket(part, run, diagnosis.log_lines(run), view(), "")
    with zipfile.ZipFile(io.BytesIO(opened.everything(run, view(), ADDRESS))) as archive:
        assert made.strip() in archive.read("report.md").decode() and archive.read("report.html").startswith(b"<!doc")


def test_many_findings_of_a_kind_are_one_ticket(tmp_path: Path) -> None:
    made = [all_rules.Finding.of("pid_erased", f"10.0.0.{n} pid 0", n, {"ids": []}) for n in range(30)]
    made.append(all_rules.Finding.of("pid_erased", "9 more", 9, {"variant": "more", "more": 9, "ids": []}))
    run = written(judged(tmp_path, two_at_once()), all_rules.worst_first(made))
    (part,) = finding_report.parts_of(finding_rows.kinds(run.table("findings").to_pandas()))
    assert isinstance(part, finding_rows.Kind) and part.number == 39
    text = finding_report.ticket(part, run, diagnosis.log_lines(run), view(), ADDRESS)
    assert "39 processes have pid 0." in text and "`10.0.0.29 pid 0` · Count: 29" in text and "- 19 more" in text
    assert f"{ADDRESS}&kind=pid_erased&severity=warning" in text


def test_numbered_lines_are_those_of_the_places_or_none(tmp_path: Path) -> None:
    run = Run(make_run(tmp_path / "runs"))
    (run.input_folder / "000-app.log").write_bytes(b"first\nsend failed\nx ID\nbehind\n")
    place = {"id": "ID", "file": "app.log", "line": 3, "byte": 20}
    told = [(line.file, line.number, line.text) for line in lines.numbered(run, [place, place], 1)]
    assert told == [("app.log", 2, "send failed"), ("app.log", 3, "x ID")]
    for wrong in ({"byte": 21}, {"byte": 999}, {"file": "other.log"}):
        assert lines.numbered(run, [place | wrong]) == [], "never a line without the id"


def test_lines_that_are_left_out_between_two_are_marked() -> None:
    found = [lines.NumberedLine(file, number, f"{number}") for file, number in (("a", 3), ("a", 5), ("a", 6), ("b", 9))]
    assert lines.as_text(found).splitlines() == ["a:3  3", "…", "a:5  5", "a:6  6", "b:9  9"]


def test_lines_of_a_packed_input_come_from_its_index(tmp_path: Path) -> None:
    text = "\n".join(f"msgId={PREFIX}{1_000_000 + n * 1000:08X}{n:04X}" for n in range(90) if n != 40)
    run = judged(tmp_path, text.replace(f"{PREFIX}{1_041_000:08X}0029", f"x\nmsgId={PREFIX}{1_041_000:08X}0029"))
    plain = run.input_folder / "000-app.log"
    packed = run.input_folder / "000-app.log.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    rows = run.table("findings").to_pylist()
    row = next(row for row in rows if row["code"] == "missing_ids")
    assert diagnosis.log_lines(run).of_finding(row, view().words) == ("", ""), "nothing that is not the line itself"
    folder = run.path / "occurrences"
    folder.mkdir()
    name = index_of(str(packed), folder).page(np.array([0]))[0].file
    label, shown = diagnosis.log_lines(run).of_finding(row, view().words)
    ids = [f"msgId={PREFIX}{1_000_000 + n * 1000:08X}{n:04X}" for n in (37, 38, 39, 41)]
    texts = [*ids[:3], "msgId=x", ids[3]]
    assert label == "Log lines"
    assert shown.splitlines() == [f"{Path(name).name}:{line}  {text}" for line, text in enumerate(texts, 38)]


def test_the_range_of_a_gap_is_from_the_id_below_it_to_that_above(tmp_path: Path) -> None:
    text = "\n".join(f"msgId={PREFIX}{1_000_000 + n * 1000:08X}{n:04X}" for n in range(90) if n not in range(40, 44))
    run = judged(tmp_path, text)
    rows = run.table("findings").to_pylist()
    number, row = next((number, row) for number, row in enumerate(rows) if row["code"] == "missing_ids")
    start = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(milliseconds=1_000_000)
    assert finding_rows.gap_of(row) == (start + timedelta(seconds=39), start + timedelta(seconds=44))
    asked = finding_rows.lines_of(number, row, run.name)
    assert asked == {
        "run": RUN,
        "finding": str(number),
        "from": "2026-11-01T00:17:19.000Z",
        "to": "2026-11-01T00:17:24.001Z",
    }
    other = next(row for row in rows if row["code"] != "missing_ids")
    assert finding_rows.gap_of(other) is None and set(finding_rows.lines_of(0, other, run.name)) == {"run", "finding"}


@pytest.mark.parametrize(("lang", "counter"), [("en", "counter 40, 2 s"), ("zh", "计数器 40，2 秒")])
def test_a_ticket_has_both_lines_of_a_gap_once_and_its_times_as_the_headline(
    tmp_path: Path, lang: str, counter: str
) -> None:
    made = [f"msgId={PREFIX}{1_000_000 + n * 1000:08X}{n:04X}" for n in range(90) if n != 40]
    run = judged(tmp_path, "\n".join([*made[:40], "send failed", *made[40:]]))
    shown = reader(lang=lang)
    part = next(
        one
        for one in finding_report.parts_of(finding_rows.kinds(run.table("findings").to_pandas()))
        if not isinstance(one, finding_rows.Kind) and one[1]["code"] == "missing_ids"
    )
    found = diagnosis.log_lines(run)
    report = "".join(map(str, findings_html.finding_section(part, found, shown, ADDRESS, None)))
    for text in (finding_report.ticket(part, run, found, shown, ADDRESS), report):
        assert [text.count(f":{line}  msgId=") for line in (39, 40, 42, 43)] == [1, 1, 1, 0]
        assert text.count(":41  send failed") == 1 and counter in text
        assert shown.words("colon", name=shown.words("fact.distinct")) + "89" in text
        assert shown.words("when.missing_ids", when="2026-11-01 00:17:19") in text
        assert "00:17:19" in finding_texts.headline(run.table("findings").to_pandas(), shown)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_ticket_has_the_lines_around_a_gap_as_one_block_and_says_the_clock_of_the_log(
    tmp_path: Path, lang: str
) -> None:
    made = [f"msgId={PREFIX}{1_000_000 + n * 1000:08X}{n:04X}" for n in range(90) if n != 40]
    run, shown = judged(tmp_path, "\n".join([*made[:40], "send failed", *made[40:]])), reader(lang=lang)
    number, row = next(one for one in enumerate(run.table("findings").to_pylist()) if one[1]["code"] == "missing_ids")
    clock = run_notes.log_clock(["Asia/Shanghai"], datetime(2026, 11, 20, tzinfo=UTC), shown)
    assert "+08:00" in clock and "+00:00" in clock
    assert run_notes.log_clock(["Africa/Abidjan", "UTC"], datetime(2026, 11, 20, tzinfo=UTC), shown) == ""
    text = finding_report.ticket((number, row), run, diagnosis.log_lines(run), shown, ADDRESS, clock)
    assert text.split("\n\n")[1] == clock, "under the title"
    (block,) = text.split("```")[1::2]
    told = [line.partition("  ")[0].removeprefix("app.log:") for line in block.splitlines()[1:]]
    assert told == ["38", "39", "40", f"… {finding_texts.between_sides(row, shown)}", "41", "42"]


def test_sides_of_a_gap_without_an_order_come_before_the_other_lines() -> None:
    below, above, other = ([lines.NumberedLine(*one, "x")] for one in (("b", 5), ("a", 9), ("a", 3)))
    text = finding_lines.as_text(below, above, other, "gap")
    assert text.splitlines() == ["b:5  x", "gap", "a:9  x", "…", "a:3  x"]


def seven_gaps(apart: int = 0) -> str:
    """Seven processes; each misses IDs, the last one most, at once or so many seconds apart."""
    return "\n".join(
        f"msgId=0A0000{host:02X}0D5818B4AAC2{1_000_000 + n * 1000:08X}{n:04X}"
        for n in range(200)
        for host in range(1, 8)
        if n not in range(90 + apart * host, 92 + host + apart * host)
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_several_processes_the_headline_has_the_widest_gap(tmp_path: Path, lang: str) -> None:
    shown, found = reader(lang=lang), judged(tmp_path, seven_gaps(12)).table("findings").to_pandas()
    said, brief = finding_texts.headline(found, shown), shown.words.count("process", 7).replace("**", "")
    assert brief in said.replace("**", "") and "10.0.0.7 pid 3416" in said and "10.0.0.6" not in said
    assert shown.words.count("id", 9) in said and "00:19:33.000" in said and shown.words.duration(10) in said
    one = finding_texts.headline(found[found["subject"].str.startswith("10.0.0.2 ")], shown)
    assert shown.words.count("id", 4) in one and "10.0.0.7" not in one


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_many_gaps_the_headline_says_when_they_are(tmp_path: Path, lang: str) -> None:
    lost = "\n".join(
        f"msgId=0A0000010D5818B4AAC2{3_600_000 + n * 1000:08X}{n:04X}"
        for n in range(3_600)
        if not (1_500 <= n < 1_900 and n % 13)
    )
    shown, found = reader(lang=lang), judged(tmp_path, lost).table("findings").to_pandas()
    said, count = finding_texts.headline(found, shown), shown.words.count("id", 369)
    assert count in said and "01:24" in said and "01:31" in said and " 32 " in said and "12" in said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_ticket_of_several_processes_has_the_lines_of_the_widest_gap(tmp_path: Path, lang: str) -> None:
    run, shown = judged(tmp_path, seven_gaps()), reader(lang=lang)
    kinds = finding_rows.kinds(run.table("findings").to_pandas())
    kind = next(one for one in kinds if one.code == "missing_ids")
    assert kind.grouped
    found = diagnosis.log_lines(run, finding_lines.rows_of(kind))
    report = "".join(map(str, findings_html.kind_section(kind, found, shown, ADDRESS)))
    card = str(findings_html.sides(kind, found, shown))
    sides = [f"0A0000070D5818B4AAC2{1_000_000 + n * 1000:08X}{n:04X}" for n in (89, 99)]
    for text in (finding_report.ticket(kind, run, found, shown, ADDRESS), report, card):
        assert shown.words.count("id", 9) in text and "00:18:09.000" in text, "as in the headline"
        places = [re.search(rf":(\d+)  msgId={one}", text) for one in sides]
        assert all(places), text
    label, lines_shown = found.of_kind(kind, shown.words)
    assert label == shown.words("findings.numbered_widest", n=3, count=3)
    for host in (7, 6, 5):  # the ID that ends the gap, below what may show why it is there
        last = f"msgId=0A0000{host:02X}0D5818B4AAC2{1_000_000 + (92 + host) * 1000:08X}{92 + host:04X}"
        assert re.search(rf"msgId.*\n.*msgId.*\n.*{last}", lines_shown), lines_shown


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_headline_leads_to_the_gap_that_it_names(tmp_path: Path, open_page: Open, lang: str) -> None:
    run = judged(tmp_path, seven_gaps())
    found, said = run.table("findings").to_pandas(), words("zh" if lang == "zh" else "en")
    number = next(at for at, who in found["subject"].items() if str(who).startswith("10.0.0.7 "))
    links = {link.proto.label: link.proto for link in open_page("findings", run=RUN, lang=lang).get("page_link")}
    lines_of_gap = links[said("findings.to_gap")]
    assert lines_of_gap.page == "lines" and f"finding={number}" in lines_of_gap.query_string
    assert "from=1970" not in lines_of_gap.query_string and "from=" in lines_of_gap.query_string
    assert "10.0.0.7" in links[said("findings.to_counters")].query_string


def test_the_headline_of_producers_leads_to_the_counter_of_whom_it_names(tmp_path: Path, open_page: Open) -> None:
    judged(tmp_path, seven_gaps())
    label = words("en")("findings.to_counters")
    (link,) = [one.proto for one in open_page("producers", run=RUN).get("page_link") if one.proto.label == label]
    assert link.page == "counters" and "process=10.0.0.7" in link.query_string, "it misses most"


def test_every_rule_has_a_short_sentence_in_each_language() -> None:
    for lang in ("en", "zh"):
        said = words(lang)
        for rule in all_rules.RULES.values():
            for variant in ("", *rule.variants):
                row = {"subject": "§", "evidence": "{}", "severity": rule.severity, "code": rule.code, "count": 2}
                kind = finding_rows.Kind(rule.severity, rule.code, finding_rows.brief_variant(rule.code, variant))
                for number in (1, 4):
                    kind.rows = [(place, row) for place in range(number)]
                    text = finding_texts.brief(kind, said)
                    assert text and "{" not in text and ("§" in text) == (number == 1 and variant != "unseen"), text
