"""One time range for all pages of a scan: in the address, in words, in every figure and table."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.findings import all_rules
from idcore.answers.findings.missing import MissingEvidence
from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.ids.model import UniqId
from idcore.ids.origins import BrokerAddress
from idcore.presentation.html import findings as findings_html
from idcore.presentation.reports import roles
from idcore.presentation.triage import (
    activity,
    broker_logs,
    compared,
    counter_rows,
    finding_rows,
    finding_texts,
    findings_in_range,
    in_range,
    line_filter,
    strokes,
)
from idcore.presentation.triage import time_range as core
from idcore.presentation.triage.findings_in_range import Known
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.runs.runs import Run
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.occurrences.index import NAME, VERSION, Index
from idcore.scan.occurrences.parts import PartWriter
from idcore.sources.inputs import list_files, split_files
from pages.parts.charts import counters, producers, timeline
from tests.findings.every_rule import find_all
from tests.pages import example_run
from tests.pages.conftest import RUN, make_run, reader
from tests.pages.test_compare import comparing, kept_run
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]
SHANGHAI = ZoneInfo("Asia/Shanghai")
WORDS, LIGHT = catalogue.words("en"), roles.palette("light")
START = datetime(2026, 11, 20, 1, 55, tzinfo=UTC)
BEGIN, END = "2026-11-20T01:55:00.000Z", "2026-11-20T02:00:00.000Z"
MONTH = datetime(2026, 11, 1, tzinfo=SHANGHAI)
MANY = [f"0A2A03{host:02X}0FA018B4AAC2" for host in range(1, 13)]  # processes


def log(seconds: int = 180, missing: range = range(0)) -> str:
    """Two processes: one ID each 20 ms with a counter that wraps after 100 s, one ID each second; both from START."""
    lines = []
    for name, every, first in (("0A2A03110FA018B4AAC2", 20, 65_536 - 5_000), ("0A2A03120FA118B4AAC2", 1_000, 7)):
        for number in range(seconds * 1_000 // every):
            elapsed = (START - MONTH) // timedelta(milliseconds=1) + number * every
            if name.startswith("0A2A0312") or number not in missing:
                lines.append(f"msgId={name}{elapsed:08X}{(first + number) % 65_536:04X}\n")
    return "".join(sorted(lines, key=lambda line: line[26:34]))


def indexed_run(root: Path, text: str = "", name: str = RUN, packed: str = "") -> Run:
    """A finished scan of that log, with 16 IDs missing after 90 s, and with the index of its lines.

    `packed`: the host whose lines are in a file of their own, a packed one.
    """
    shutil.rmtree(root / name, ignore_errors=True)  # of a first try of the same test
    folder = make_run(root, name)
    lines = (text or log(missing=range(4_500, 4_516))).splitlines(keepends=True)
    files = {"app.log": "".join(line for line in lines if not packed or packed not in line).encode()}
    if packed:
        files["old.log.gz"] = gzip.compress("".join(line for line in lines if packed in line).encode())
    paths = [str(folder / "input" / f"{number:03}-{file}") for number, file in enumerate(files)]
    Path(paths[0]).parent.mkdir()
    for path, content in zip(paths, files.values(), strict=True):
        Path(path).write_bytes(content)
    months = month_rows(START + timedelta(days=1), SHANGHAI)
    tables = dict(scan_local(paths, months))
    tables["findings"] = all_rules.to_table(find_all(tables, START + timedelta(days=1), SHANGHAI))
    for name, table in tables.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
        pq.write_table(table, folder / name / "part-00000.parquet")
    (folder / "occurrences").mkdir()
    splits = split_files(list_files(paths), 1 << 40)
    pieces = list(PartWriter(folder / "occurrences", "000", tables).write(splits, dict(enumerate(files))))
    (folder / "occurrences" / NAME).write_text(json.dumps({"version": VERSION, "parts": pieces}))
    return Run(folder)


@pytest.fixture
def indexed(tmp_path: Path) -> Run:
    return indexed_run(tmp_path / "runs")


def index_of(run: Run) -> Index:
    found = Index.open(run.path / "occurrences")
    assert found is not None
    return found


def after(seconds: float, length: float) -> TimeRange:
    """So many seconds of that log."""
    return TimeRange(START + timedelta(seconds=seconds), START + timedelta(seconds=seconds + length))


def busy(run: Run) -> tuple[dict[str, object], pd.DataFrame]:
    """The first process of that log, and the scan's own points of it."""
    row = next(row for row in run.table("processes").to_pylist() if row["host"] == "10.42.3.17")
    points = run.table("counters").to_pandas()
    return row, points[points["host"] == row["host"]]


@pytest.mark.parametrize("page", ["findings", "producers", "counters", "brokers"])
def test_a_range_that_cannot_be_read_is_named_once(open_page: Callable[..., AppTest], run: str, page: str) -> None:
    app = open_page(page, run=run, **{"from": "x", "to": "y"})
    assert not app.exception
    assert len([one for one in app.warning if "time range in the link was ignored" in one.value]) == 1


def test_an_address_and_a_range_are_the_same() -> None:
    here = TimeRange.of_address({"from": BEGIN, "to": END})
    assert (here.begin, here.end) == (START, START + timedelta(minutes=5)) and here
    assert here.params() == {"from": BEGIN, "to": END}
    assert TimeRange.of_address({"from": "2026-11-20T09:55:00 08:00"}).params() == {"from": BEGIN}
    assert not TimeRange.of_address({"run": "x"})


@pytest.mark.parametrize("query", [{"from": "noon"}, {"to": "9"}, {"from": END, "to": BEGIN}, {"from": END, "to": END}])
def test_what_is_no_range_is_refused_with_its_value(query: dict[str, str]) -> None:
    with pytest.raises(CoreError) as refused:
        TimeRange.of_address(query)
    assert all(value in WORDS.error(refused.value) for value in query.values())


def test_the_end_is_not_in_the_range_and_a_span_is_when_any_of_it_is() -> None:
    moments = pd.Series(pd.to_datetime([BEGIN, "2026-11-20T01:59:59.999Z", END, None], utc=True))
    here = TimeRange.of_address({"from": BEGIN, "to": END})
    assert here.contains(moments).tolist() == [True, True, False, False]
    assert TimeRange().contains(moments).tolist() == [True] * 4
    before = moments - pd.Timedelta(minutes=10)
    assert here.overlaps(before, moments).tolist() == [True, True, True, False]


def test_minutes_are_those_that_the_range_touches() -> None:
    here = TimeRange(START + timedelta(seconds=3), START + timedelta(seconds=64)).whole_minutes()
    assert here == TimeRange(START, START + timedelta(minutes=2))
    assert here.whole_minutes() == here


@pytest.mark.parametrize(
    ("left", "right", "made"),
    [
        ("2026-11-20 09:55:00.4", "2026-11-20 10:00:00.1", "09:55:00 – 10:00:01 +08:00"),
        ("2026-11-20 10:00:00.12345", "2026-11-20 09:59:59.98765", "09:59:59.987 – 10:00:00.124 +08:00"),
        ("2026-11-20 08:30:20", "2026-11-20 10:10:10", "08:30:00 – 10:11:00 +08:00"),
        ("2026-11-20 08:30:20", "2026-11-20 08:30:20", "08:30:20.000 – 08:30:20.001 +08:00"),
    ],
)
def test_a_box_becomes_a_range_with_round_ends(left: str, right: str, made: str) -> None:
    found = core.of_box({"selection": {"box": [{"x": [left, right], "y": [0, 1]}]}}, SHANGHAI)
    assert found is not None
    assert times_text(found) == made


def times_text(found: TimeRange) -> str:
    from idcore.presentation import times

    return times.clock_span(found.begin, found.end, SHANGHAI, dated=False)


def test_a_click_is_not_a_range() -> None:
    assert core.of_box({"selection": {"points": [{"x": 1}], "box": []}}, SHANGHAI) is None


@pytest.mark.parametrize(
    ("text", "utc"),
    [("09:55", START), ("2026-11-20 09:55:00.000", START), ("2026-11-20T01:55:00Z", START), ("", None)],
)
def test_an_end_is_read_as_people_write_it(text: str, utc: datetime | None) -> None:
    assert core.read(text, START, SHANGHAI) == utc


def test_the_strip_is_faint_outside_the_range() -> None:
    bins, step = activity.by_time(example_run.tables()["timeline"])
    here = TimeRange(START, START + timedelta(minutes=5))
    figure = timeline.strip(bins, step, here, reader(SHANGHAI))
    assert sum(figure.data[0].y) == example_run.tables()["timeline"]["ids"].sum()
    left, right = figure.layout.shapes
    assert (left.x1, right.x0) == (datetime(2026, 11, 20, 9, 55), datetime(2026, 11, 20, 10, 0))
    plain = timeline.strip(bins, step, TimeRange(), reader(SHANGHAI))
    assert not plain.layout.shapes and plain.layout.title.text == "IDs by time, one bar for 1 minute"
    lacking = timeline.strip(bins, step, here, reader(SHANGHAI), "lacking")
    assert lacking.data[0].marker.color == reader().palette.roles["info"] != figure.data[0].marker.color


def test_the_range_is_said_and_a_reset_forgets_it(open_page: Open, run: str) -> None:
    app = open_page("producers", run=run, zone="Asia/Shanghai", **{"from": BEGIN, "to": END})
    assert not app.exception and "**09:55:00 – 10:00:00 +08:00** (5 min)" in shown(app)
    next(button for button in app.button if button.label == "Reset").click().run()
    assert "from" not in app.query_params and "to" not in app.query_params
    assert "09:55:00 – 10:00:00" not in shown(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_bad_range_is_said_in_a_sentence(open_page: Open, run: str, lang: str) -> None:
    app = open_page("producers", run=run, lang=lang, **{"from": "[noon](x)", "to": END})
    assert not app.exception and "\\[noon\\](x)" in app.warning[0].value
    assert app.get("plotly_chart")


def test_a_range_can_be_written_by_keyboard(open_page: Open, run: str) -> None:
    app = open_page("producers", run=run, zone="Asia/Shanghai")
    first, last = (box for box in app.text_input if str(box.key).startswith("range-"))
    first.set_value("09:55")
    last.set_value("2026-11-20 10:00")
    app = next(button for button in app.button if button.label == "Show this range").click().run()
    assert dict(app.query_params) == {"run": run, "zone": "Asia/Shanghai", "from": BEGIN, "to": END}
    next(box for box in app.text_input if str(box.key).startswith("range-to")).set_value("10 o'clock")
    app = next(button for button in app.button if button.label == "Show this range").click().run()
    assert "10 o'clock" in app.error[0].value and app.query_params["to"] == END


def test_links_to_the_same_scan_keep_the_range_and_links_to_another_do_not(
    open_page: Open, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import streamlit as st

    from pages.parts.view import link_params

    monkeypatch.setattr(st, "query_params", {"run": run, "from": BEGIN, "to": END})
    monkeypatch.setattr(st, "session_state", {"run": run})
    assert link_params(run=run) == {"run": run, "from": BEGIN, "to": END}
    assert link_params(run="20261121-015500-other") == {"run": "20261121-015500-other"}
    assert link_params(run=run, **{"from": END}) == {"run": run, "from": END}
    assert link_params() == {}


def test_the_index_counts_all_times_as_the_scan_does(indexed: Run) -> None:
    found = in_range.of_index(index_of(indexed), ALL_TIMES)
    whole = indexed.table("processes").to_pandas().set_index("host")
    mine = found.processes.set_index("host")
    for name in ("ids", "distinct", "first_sent_at", "last_sent_at"):
        assert mine[name].to_dict() == whole[name].to_dict(), name
    row, thinned = busy(indexed)
    every = in_range.points(index_of(indexed), row, thinned, ALL_TIMES)
    again = strokes.in_range(row, every, every, True)
    for name in ("produced", "missing", "distinct", "wraps", "tracks", "chains"):
        assert again[name] == row[name], name
    assert (row["missing"], row["wraps"], row["distinct"]) == (16, 1, 8_984) and len(thinned) < 8_984


def test_processes_of_a_range_have_the_figures_of_their_counter_there(indexed: Run) -> None:
    counters = indexed.table("counters").to_pandas()
    points_of = lambda row: counters[(counters["host"] == row["host"])]  # noqa: E731
    for here in (ALL_TIMES, after(89, 2), after(0.01, 0.005)):
        rows = in_range.of_index(index_of(indexed), here).processes
        found = in_range.with_figures(index_of(indexed), rows, points_of, here)
        for row in found.to_dict("records"):
            every = in_range.points(index_of(indexed), row, points_of(row), here)
            told = strokes.in_range(row, every, every, True)
            assert (row["missing"], row["wraps"]) == (told["missing"], told["wraps"]), (row["host"], here)
    assert in_range.with_figures(index_of(indexed), rows.iloc[:0], points_of, here).empty


def test_the_brokers_of_all_times_are_those_of_the_scan_and_a_range_has_its_own(
    tmp_path: Path, open_page: Open
) -> None:
    offsets = [f"0A2A0901{10_911:08X}{(n // 2) * (3 << 28):016X}" for n in range(40)]
    sent = log(10).splitlines()[:400:10]
    text = "".join(f"{one}, offsetMsgId={offset}\n" for one, offset in zip(sent, offsets, strict=True))
    run = indexed_run(tmp_path / "runs", text + f"offsetMsgId=0A2A0902{10_911:08X}{5:016X}\n")
    found = in_range.brokers_of_index(index_of(run), ALL_TIMES)
    whole = run.table("brokers").to_pandas().iloc[:1]
    assert found.undated == 1, "no msgId dates it"
    assert found.brokers[whole.columns].to_dict("records") == whole.to_dict("records")
    files = run.table("segments").to_pandas().iloc[:-1]
    assert found.segments[files.columns].to_dict("records") == files.to_dict("records")
    assert int(found.bins["ids"].sum()) == 40 and int(found.bins["distinct"].sum()) == 20
    part = in_range.brokers_of_index(index_of(run), after(0, 1)).brokers.iloc[0]
    assert 0 < part["ids"] < 40 and part["min_offset"] == 0
    assert in_range.brokers_of_index(index_of(run), after(500, 2)).brokers.empty
    page = open_page("brokers", run=RUN, **after(0, 1).params())
    assert f"In this time range: <b>{part['distinct']} records</b>" in shown(page) and not page.exception
    page = open_page("brokers", run=RUN, **after(500, 2).params())
    assert "No ID of this scan is in this time range." in shown(page) and not page.exception


def test_a_broker_of_a_range_grows_from_its_lowest_offset_there_to_its_highest(tmp_path: Path, open_page: Open) -> None:
    """Slow in the whole minute of the range and fast after it: the rate of that minute is not that of the range."""
    places = [n * 1_000 if n < 3_250 else 3_250_000 + (n - 3_250) * 9_000 for n in range(9_000)]
    sent = [line for line in log().splitlines() if "0A2A0311" in line]
    lines = [f"{one}, offsetMsgId=0A2A0901{10_911:08X}{at:016X}\n" for one, at in zip(sent, places, strict=True)]
    run, here, known_at = indexed_run(tmp_path / "runs", "".join(lines)), after(5, 65), {}
    for line, place in zip(lines, places, strict=True):
        at = MONTH + timedelta(milliseconds=UniqId.from_hex(line[line.index("=") + 1 :][:32]).elapsed)
        if 5 <= (at - START).total_seconds() < 70:
            known_at[place] = at
    low, high = min(known_at), max(known_at)
    grown, seconds = high - low, (known_at[high] - known_at[low]).total_seconds()
    (broker,) = in_range.brokers_of_index(index_of(run), here).brokers.to_dict("records")
    assert broker["bytes_per_second"] == pytest.approx(grown / seconds)
    page = shown(open_page("brokers", run=RUN, lang="en", zone="UTC", **here.params()))
    rate = broker_logs.rate_text(grown / seconds, WORDS)
    assert f"grows by <b>{rate}</b>" in page and f"{WORDS.bytes(grown)} in {WORDS.duration(seconds)}: {rate}" in page
    within = shown(open_page("brokers", run=RUN, lang="en", zone="UTC", **after(10, 20).params()))
    assert WORDS("brokers.range_short") not in within and "grows by" in within
    whole = in_range.brokers_of_index(index_of(run), ALL_TIMES).growth
    known = run.table("growth").to_pandas()
    assert whole.astype(str).to_dict("records") == known[whole.columns].astype(str).to_dict("records")


def test_a_range_has_its_ids_and_no_other(indexed: Run) -> None:
    found = in_range.of_index(index_of(indexed), after(10, 2))
    assert found.hosts.values.tolist() == [["10.42.3.17", 100, 100], ["10.42.3.18", 2, 2]] and found.exact
    assert in_range.of_index(index_of(indexed), after(500, 2)).hosts.empty


def test_a_zoomed_counter_has_every_id_as_a_mark_with_its_text(indexed: Run) -> None:
    row, thinned = busy(indexed)
    here = after(10, 8)
    every = in_range.points(index_of(indexed), row, thinned, here)
    figure, _ = counters.sawtooth(in_range.drawn(every, thinned, here), reader(SHANGHAI), shown=here)
    marks = next(trace for trace in figure.data if trace.name == "ids")
    assert len(marks.x) == 400 and marks.marker.opacity == 1
    assert marks.hovertext[0][-4:] == f"{65_536 - 5_000 + 500:04X}" and f"msgId={marks.hovertext[0]}\n" in log()
    low, high = figure.layout.yaxis.range
    assert 61_036 - 100 < low < 61_036 <= 61_435 < high < 61_435 + 100, "y shows what is in sight"
    assert figure.layout.xaxis.range == (datetime(2026, 11, 20, 9, 55, 10), datetime(2026, 11, 20, 9, 55, 18))


def test_a_wrap_in_a_range_stops_at_65535_and_begins_at_0(indexed: Run) -> None:
    row, thinned = busy(indexed)
    here = after(99, 2)
    every = in_range.points(index_of(indexed), row, thinned, here)
    figure, drawn = counters.sawtooth(in_range.drawn(every, thinned, here), reader(SHANGHAI), shown=here)
    saw = drawn.lines[-1][2]
    at = saw.index(None)
    assert (saw[at - 1], saw[at + 1]) == (65_535, 0) and len(drawn.wraps) == 1
    assert marked_wraps(figure) == ["1"]
    assert figure.layout.yaxis.range[1] > 65_535 and figure.layout.yaxis.range[0] == 0


def test_a_process_that_is_asked_for_is_counted_in_its_list(open_page: Open, tmp_path: Path) -> None:
    lines = [f"msgId={host}{0x5000_0000:08X}0000" for host in MANY[1:]] + [f"msgId={MANY[0]}{0x4000_0000:08X}0000"]
    indexed_run(tmp_path / "runs", "\n".join(lines) + "\n")
    late = {"from": "2026-11-14T10:00:00Z"}
    page = shown(open_page("counters", run=RUN, process="10.42.3.1~4000~18B4AAC2", **late))
    assert "The first 10 of 12 processes." in page
    assert "The first 10 of 11 processes." in shown(open_page("counters", run=RUN, **late))


def test_a_gap_that_a_range_cuts_is_marked_in_sight(indexed: Run) -> None:
    row, thinned = busy(indexed)
    for here in (after(89, 1.1), after(90.1, 1.1)):
        every = in_range.points(index_of(indexed), row, thinned, here)
        figure, _ = counters.sawtooth(in_range.drawn(every, thinned, here), reader(SHANGHAI), shown=here)
        mark = next(trace for trace in figure.data if trace.name == "gaps")
        left, right = figure.layout.xaxis.range
        (label,) = [note for note in figure.layout.annotations if note.text == "16 missing"]
        assert left < mark.x[0] < right and left <= label.x < right and label.xanchor == "left"


def marked_wraps(figure: Any) -> list[str]:
    return [text for trace in figure.data if trace.mode == "markers+text" for text in trace.text]


def test_wraps_of_a_range_are_numbered_as_they_are_counted_there(tmp_path: Path) -> None:
    """50 IDs/s that wrap at 100 s and at 1,410.72 s."""
    run = indexed_run(tmp_path / "runs", log(1_500))
    row, thinned = busy(run)
    here = after(1_400, 20)
    every = in_range.points(index_of(run), row, thinned, here)
    figure, _ = counters.sawtooth(in_range.drawn(every, thinned, here), reader(SHANGHAI), shown=here)
    assert marked_wraps(figure) == ["1"] and strokes.in_range(row, every, every, True)["wraps"] == 1
    shapes = [counter_rows.outline(thinned, within) for within in (after(1_400, 20), after(1_200, 100), ALL_TIMES)]
    falls = []
    for shape in shapes:
        corners = [[float(part[:-1]) for part in corner.split()] for corner in shape.split(", ")]
        falls.append(len({x for x, y in corners if y > 99.9 and 0 < x < 100}))
    assert falls == [1, 0, 2], "the small picture has the wraps of the range"


def test_of_one_host_no_more_processes_are_promised(open_page: Open, tmp_path: Path) -> None:
    lines = [f"msgId={host}{0x5000_0000 + number:08X}{number:04X}" for host in MANY for number in range(3)]
    indexed_run(tmp_path / "runs", "\n".join(lines) + "\n")
    whole = {"from": "2026-11-01T00:00:00Z"}
    for more, said in (
        ({}, True),
        (whole, True),
        ({"host": "10.42.3.1"}, False),
        (whole | {"host": "10.42.3.1"}, False),
    ):
        page = shown(app := open_page("counters", run=RUN, **more))
        assert not app.exception and ("The first 10 of 12 processes." in page) == said, more


def test_a_gap_in_a_range_is_drawn_and_leads_to_its_lines(indexed: Run) -> None:
    row, thinned = busy(indexed)
    here = after(89, 2)
    every = in_range.points(index_of(indexed), row, thinned, here)
    figure, drawn = counters.sawtooth(in_range.drawn(every, thinned, here), reader(SHANGHAI), shown=here)
    assert [ids for _, _, ids in drawn.gaps] == [16] and strokes.in_range(row, every, every, True)["missing"] == 16
    mark = next(trace for trace in figure.data if trace.name == "gaps").customdata[0]
    ends = {"from": "2026-11-20T01:56:29.980Z", "to": "2026-11-20T01:56:30.321Z"}
    clicked = {"selection": {"points": [{"customdata": mark}], "box": []}}
    assert line_filter.last_clicked(clicked) == {"process": "10.42.3.17~4000~18B4AAC2", **ends}
    assert line_filter.last_clicked({"selection": {"points": [{"customdata": mark}], "box": [{"x": [1, 2]}]}}) == {}


def test_very_many_ids_are_thinned_and_no_end_is_lost(indexed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_range, "MOST_POINTS", 500)
    monkeypatch.setattr(in_range, "_BUCKETS", 50)
    row, thinned = busy(indexed)
    every = in_range.points(index_of(indexed), row, thinned, ALL_TIMES)
    drawn = in_range.drawn(every, thinned, ALL_TIMES)
    assert len(drawn) < 500 and "id" not in drawn
    assert {every["position"].min(), every["position"].max()} <= set(drawn["position"])
    assert drawn["missing_before"].sum() == 16 and {65_535, 0} <= set(drawn["counter"])


def test_parallel_counters_keep_their_tracks_in_a_range(tmp_path: Path) -> None:
    """Two processes under one fingerprint, far apart in their counters."""
    rows = example_run.tables()["counters"]
    mine = rows[(rows["host"] == "172.17.0.2")]
    for track, own in mine.groupby("track"):
        sent = own["sent_at"].dt.as_unit("ms").astype("int64").to_numpy()
        values = (own["elapsed_ms"].to_numpy() << 16) + own["counter"].to_numpy()
        found = in_range._of_runs(np.column_stack([sent, values]), mine)
        assert set(found["track"]) == {track}
        assert sorted(found["position"]) == sorted(own["position"])


def test_cells_are_seconds_where_the_log_is_short_and_hold_what_the_range_has(indexed: Run) -> None:
    ends = pd.Timestamp(START), pd.Timestamp(START) + pd.Timedelta(minutes=3)
    found, step = in_range.fine_activity(index_of(indexed), *ends)
    assert step == pd.Timedelta(seconds=1) and found["ids"].sum() == 9_000 - 16 + 180
    assert found.groupby("host")["minute"].nunique().to_dict() == {"10.42.3.17": 180, "10.42.3.18": 180}
    part, step = in_range.fine_activity(index_of(indexed), ends[0] + pd.Timedelta(milliseconds=10_510), ends[1])
    here = TimeRange((ends[0] + pd.Timedelta(milliseconds=10_510)).to_pydatetime(), ends[1].to_pydatetime())
    assert part["ids"].sum() == in_range.of_index(index_of(indexed), here).hosts["ids"].sum()
    grid, step = activity.binned(found, ["10.42.3.17"], step)
    figure = producers.heat(grid, step, reader(SHANGHAI))
    cell = next(trace for trace in figure.data if trace.name == "cells")
    picked = line_filter.last_clicked({"selection": {"points": [{"customdata": cell.customdata[0]}], "box": []}})
    assert picked == {"host": "10.42.3.17", "from": BEGIN, "to": "2026-11-20T01:55:01.000Z"}
    steps = {
        "1 s": step,
        "5 minutes": pd.Timedelta(minutes=5),
        "4 h": pd.Timedelta(hours=4),
        "1 d": pd.Timedelta(days=1),
    }
    assert [activity.step_text(each, WORDS) for each in steps.values()] == [*steps]


def test_without_an_index_hosts_are_of_the_minutes_that_the_range_touches(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    here = after(30, 60)
    found = in_range.of_tables(folder, here, 100)
    activity = example_run.tables()["activity"]
    minutes = activity[(activity["minute"] >= START) & (activity["minute"] < START + timedelta(minutes=2))]
    assert found.hosts.set_index("host")["ids"].to_dict() == minutes.groupby("host")["ids"].sum().to_dict()
    assert not found.exact and "ids" not in found.processes and found.count == len(found.processes) < 8


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_sentence_bars_and_table_count_the_range(open_page: Open, indexed: Run, lang: str) -> None:
    ends = after(10, 2).params()
    page = shown(app := open_page("producers", run=RUN, lang=lang, zone="Asia/Shanghai", columns="all", **ends))
    assert not app.exception and "<b>102" in page
    table = page[page.rindex("<tbody>") :]
    assert [cell in table for cell in (">100<", ">2<", "09:55:10.000 +08:00", "09:55:11.980 +08:00")] == [True] * 4
    page = shown(app := open_page("counters", run=RUN, lang=lang, zone="Asia/Shanghai", **ends))
    assert not app.exception and "<b>100" in page and "10.42.3.17" in page
    nothing = {"from": "2020-01-01T00:00:00.000Z", "to": "2020-01-02T00:00:00.000Z"}
    for name in ("producers", "counters", "findings"):
        app = open_page(name, run=RUN, lang=lang, **nothing)
        assert not app.exception and "2020-01-01" in shown(app)


def test_each_row_links_to_its_lines(open_page: Open, indexed: Run) -> None:
    ends = after(89, 2).params()
    for name in ("producers", "counters"):
        page = shown(open_page(name, run=RUN, **ends))
        assert "process=10.42.3.17~4000~18B4AAC2" in page[page.index("lines?") :]
    assert "from=2026-11-20T01%3A56%3A29.980Z&amp;to=2026-11-20T01%3A56%3A30.321Z" in page, "of the gap"
    assert f"lines?run={RUN}&amp;host=10.42.3.17" in shown(open_page("producers", run=RUN))


def test_without_an_index_whole_minutes_are_said(open_page: Open, run: str) -> None:
    app = open_page("producers", run=run, zone="Asia/Shanghai", **after(30, 60).params())
    assert not app.exception and "whole minutes: 09:55:00 – 09:57:00 +08:00" in shown(app)


def test_processes_without_a_date_are_in_no_range_and_counted(open_page: Open, tmp_path: Path) -> None:
    tables = example_run.tables()
    none = tables["processes"]["host"] == "10.42.7.9"
    for name in ("first_sent_at", "last_sent_at"):
        tables["processes"].loc[none, name] = pd.NaT
    example_run.write(make_run(tmp_path / "runs"), tables)
    page = shown(app := open_page("producers", run=RUN, **after(0, 300).params()))
    assert not app.exception and "Without a date: 1 process. A time range never includes their IDs." in page
    app = open_page("counters", run=RUN, process="10.42.7.9~8~00000000", **after(0, 300).params())
    assert not app.exception


def test_findings_outside_the_range_are_left_out_and_counted(open_page: Open, run: str, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / run / "findings"
    folder.mkdir()
    row = {"code": "counter_wrap", "severity": "info", "subject": "10.42.3.17 pid 27515 loader 18B4AAC2", "count": 1}
    row |= {"evidence": '{"ids": []}', "values": "{}", "certainty": "certain"}
    spans = [(0, 60), (200, 400), (900, 960), (None, None)]
    rows = [
        row
        | {
            f"{end}_sent_at": at if at is None else START + timedelta(seconds=at)
            for end, at in zip(("first", "last"), span, strict=True)
        }
        for span in spans
    ]
    pq.write_table(example_run.typed(pd.DataFrame(rows)), folder / "part-00000.parquet")
    page = shown(app := open_page("findings", run=run, zone="Asia/Shanghai", **after(0, 300).params()))
    assert not app.exception and "<b>2 notes</b> in this time range." in page
    assert "1 at other times, 1 without a time" in page


def test_two_scans_are_compared_within_a_range(indexed: Run, open_page: Open, tmp_path: Path) -> None:
    first = kept_of(indexed, log(missing=range(4_500, 4_516)))
    second = kept_run(tmp_path, "20261121-015600-a1b2c4", log(missing=range(500, 510)))
    app = open_page("compare", first=first, second=second, zone="Asia/Shanghai", **after(9, 2).params())
    page = shown(app)
    assert not app.exception and "**09:55:09 – 09:55:11 +08:00**" in page.replace(".000", "")
    assert "Of 102 msgIds of the first, <b>92</b> are in the second and <b>10</b> are not;" in page
    keep = compared.within([{name: indexed.table(name) for name in ("processes", "clients")}], after(0, 1))
    values = np.array([0, 1 << 16], np.uint64)
    assert not keep("before", "offset", BrokerAddress("10.0.0.1", 10911), np.zeros(3, np.uint64), values).any()


def test_pasted_inputs_are_compared_within_a_range(open_page: Open) -> None:
    texts = []
    for missing in (range(0), range(500, 510)):
        lines = log(20, missing).splitlines()
        times = (MONTH + timedelta(milliseconds=int(line[26:34], 16)) for line in lines)
        texts.append("\n".join(f"{at.isoformat()} {line}" for at, line in zip(times, lines, strict=True)))
    (run,) = [comparing(open_page, *texts).query_params["run"]]
    run = run if isinstance(run, str) else run[0]
    page = shown(app := open_page("compare", run=run, zone="Asia/Shanghai", **after(9, 2).params()))
    assert not app.exception and "**09:55:09 – 09:55:11 +08:00**" in page.replace(".000", "")
    assert "Of 102 msgIds of the first, <b>92</b> are in the second and <b>10</b> are not;" in page


def kept_of(run: Run, text: str) -> str:
    """That scan as one that keeps its input."""
    facts = json.loads((run.path / "run.json").read_text())
    facts["options"] |= {"sources": ["app.log"]}
    (run.path / "run.json").write_text(json.dumps(facts))
    return run.name


def test_the_next_wrap_of_a_range_is_counted_from_its_last_id(open_page: Open, indexed: Run) -> None:
    """50 IDs/s that wrap at 100 s: after that wrap, from 105 to 108 s, the next is at 100 + 65,536 / 50 s."""
    for begin, wraps_at in ((10, 100.1), (105, 100.1 + 65_536 / 50)):
        page = shown(open_page("counters", run=RUN, **after(begin, 3).params()))
        assert f"at about {START + timedelta(seconds=wraps_at):%Y-%m-%d %H:%M} +00:00" in page, begin


# ---- gaps that a range cuts


@pytest.mark.long(first=1)
@pytest.mark.parametrize("length", [2, 2.1, 0.26])  # up to its middle, from its middle on, inside of it
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_pages_count_a_gap_that_the_range_cuts(open_page: Open, indexed: Run, lang: str, length: float) -> None:
    """The gap of 16 IDs is from 89.98 to 90.32 s."""
    ends = after({2: 88.1, 2.1: 90.1, 0.26: 89.99}[length], length).params() | {"lang": lang}
    of_process, words = ends | {"process": "10.42.3.17~4000~18B4AAC2", "host": "10.42.3.17"}, catalogue.words(lang)
    found = shown(open_page("findings", run=RUN, **ends))
    assert words.count("id", 16) in found
    assert length != 2 or "14.41%" in found, "16 of the 95 IDs in the range and these"
    page = shown(app := open_page("counters", run=RUN, **of_process))
    assert not app.exception and words.count("id", 16) in page and words.duration(0.34) in page
    gaps = page[page.index(f">{words('col.gap_from')}<") :]
    assert words("counters.cut_gap") in gaps[: gaps.index("</table>")]
    if length == 0.26:
        assert words("counters.none_in_range") in page
        return
    assert words.count("missing", 16) in page and words.count("missing", 0) not in page
    assert words("counters.in_cut_gaps", n="16") in page and words("counters.cut_gaps") in page
    for name in ("counters", "producers"):
        page = shown(open_page(name, run=RUN, **ends))
        assert ">16<" in page[page.rindex("<tbody>") :] and words("counters.cut_gaps") in page


# ---- findings of a range


def chains(chance: random.Random) -> tuple[dict[str, Any], pd.DataFrame]:
    """A process of two runs with gaps, an ID each second, and its points; the second begins an hour later."""
    process = {"layout": "uniq_v4", "host": "10.42.3.17", "pid": 7, "loader": "18B4AAC2"}
    made = []
    for chain in range(2):
        here = sorted(chance.sample(range(400), chance.randrange(300, 390)))
        begin, first = 3_600 * chain, here[0]
        for before, place in pairwise([first - 1, *here]):
            made.append(
                {
                    "track": 0,
                    "chain": chain,
                    "position": place - first,
                    "counter": (65_400 + place) % 65_536,
                    "missing_before": place - before - 1,
                    "elapsed_ms": 1000 * (begin + place),
                    "sent_at": START + timedelta(seconds=begin + place),
                }
            )
    return process, pd.DataFrame(made)


@pytest.mark.parametrize("seed", range(25))
def test_a_finding_in_a_range_counts_the_gaps_that_touch_it(seed: int) -> None:
    chance = random.Random(seed)
    process, points = chains(chance)
    evidence = {"process": process, "variant": "gaps", "ids": [], "gaps": [], "produced": 800, "share": 0.1}
    row = {"code": "missing_ids", "severity": "warning", "subject": "x", "count": 99, "evidence": json.dumps(evidence)}
    row |= {"values": "{}", "certainty": None}
    row |= {"first_sent_at": pd.Timestamp(START), "last_sent_at": pd.Timestamp(START + timedelta(hours=2))}
    other = row | {"code": "restart", "severity": "info", "evidence": json.dumps({"process": process})}
    found = pd.DataFrame([row, other])
    shown = after(chance.randrange(420), chance.choice([0.5, 7, 60, 5_000]))
    known = findings_in_range.narrowed(found, shown, lambda _: Known(process, points))
    rows = points.to_dict("records")
    gaps = [  # slow: every instant between two IDs that follow each other
        (one["sent_at"], two["sent_at"], two["missing_before"])
        for one, two in pairwise(rows)
        if one["chain"] == two["chain"] and two["missing_before"]
    ]
    assert shown.begin is not None and shown.end is not None
    wanted = [gap for gap in gaps if gap[1] >= shown.begin and gap[0] < shown.end]
    own = known[known["code"] == "missing_ids"]
    (beyond,) = known.loc[known["code"] == "restart", "beyond"]
    is_whole = shown.begin <= START and START + timedelta(hours=2) < shown.end
    assert len(own) == bool(wanted) and beyond != is_whole, "what has no gaps stays, and says whose figures these are"
    assert not own["beyond"].any()
    if not wanted:
        return
    said = finding_rows.evidence_of(own.iloc[0].to_dict())
    widths = [width for _, _, width in wanted]
    assert own["count"].iloc[0] == sum(widths) and dict(said)["widest"] == max(widths)
    assert dict(said)["in_gaps"] == len(wanted) and dict(said)["share"] <= 1
    assert own["first_sent_at"].iloc[0] == min(begin for begin, _, _ in wanted)
    assert own["last_sent_at"].iloc[0] == max(end for _, end, _ in wanted)
    gap = finding_rows.gap_of(own.iloc[0].to_dict())
    assert gap in [(begin, end) for begin, end, width in wanted if width == max(widths)]
    lower, upper = (UniqId.from_hex(str(text)) for text in (said.gap_after, said.gap_before))
    assert (upper.counter - lower.counter) % 65_536 == max(widths) + 1 and lower.host == process["host"]
    headline = finding_texts.headline(known, reader(SHANGHAI))
    is_of_many = len(widths) >= 5 and 2 * max(widths) <= sum(widths)
    assert re.search(rf"(?<!\d){sum(widths) if is_of_many else max(widths)} ID", headline.split("**")[1])
    assert headline.endswith(f" in {len(widths)} gaps of at most {max(widths)}.") == is_of_many


@pytest.mark.parametrize("seed", range(10))
def test_a_finding_in_a_range_counts_the_wraps_and_the_ids_there(seed: int) -> None:
    chance = random.Random(seed)
    process, points = chains(chance)
    evidence = {"process": process, "ids": [], "sent_at": []}
    row = {"code": "counter_wrap", "severity": "info", "subject": "x", "count": 9, "evidence": json.dumps(evidence)}
    row |= {"values": "{}", "certainty": None}
    row |= {"first_sent_at": pd.Timestamp(START), "last_sent_at": pd.Timestamp(START + timedelta(hours=2))}
    gaps = row | {"code": "missing_ids", "evidence": json.dumps(evidence | {"variant": "gaps", "gaps": []})}
    shown = after(chance.randrange(420), chance.choice([60, 5_000]))
    known = findings_in_range.narrowed(pd.DataFrame([row, gaps]), shown, lambda _: Known(process, points, 700))
    inside = points[shown.contains(points["sent_at"])].index
    wraps = [  # slow: each ID below the one in front of it
        (one, two)
        for one, two in pairwise(points.to_dict("records"))
        if one["chain"] == two["chain"] and two["counter"] < one["counter"]
        if shown.contains(pd.Series([two["sent_at"]])).all()
    ]
    own = known[known["code"] == "counter_wrap"]
    assert len(own) == bool(wraps) and (not wraps or own["count"].iloc[0] == len(wraps)), inside
    if wraps:
        said = dict(finding_rows.evidence_of(own.iloc[0].to_dict()))
        assert [UniqId.from_hex(text).counter for text in said["ids"]][:2] == [one["counter"] for one in wraps[0]]
    for gone in known[known["code"] == "missing_ids"].to_dict("records"):
        said = dict(finding_rows.evidence_of(gone))
        assert said["produced"] == 700 + gone["count"] and said["distinct"] == 700


@pytest.mark.parametrize(
    ("begin", "length", "generated", "seen"),
    [(500, 200, 455, 52), (700, 50, 355, 2), (0, 7_000, 1_199, 424)],  # around the hole, inside of it, all
)
def test_in_a_range_of_a_sample_only_its_holes_are_gaps(begin: float, length: float, generated: int, seen: int) -> None:
    kept = [*range(0, 600, 2), *range(952, 1_200, 2)]  # every other ID, and a hole of 353
    process: dict[str, Any] = {"layout": "uniq_v4", "host": "10.42.3.17", "pid": 7, "loader": "18B4AAC2"}
    rows: list[dict[str, Any]] = []
    for before, place in pairwise([-1, *kept]):
        sent = START + timedelta(seconds=place)
        rows.append({"track": 0, "chain": 0, "position": place, "counter": place, "missing_before": place - before - 1})
        rows[-1] |= {"elapsed_ms": 1_000 * place, "sent_at": sent}
    process |= {"missing": 1_199 - len(kept), "distinct": len(kept)}
    evidence = {"process": process, "variant": "hole", "ids": [], "gaps": [], "produced": 1_199, "share": 0.6}
    row = {"code": "missing_ids", "severity": "warning", "subject": "x", "count": 353, "evidence": json.dumps(evidence)}
    row |= {"values": "{}", "certainty": None}
    row |= {"first_sent_at": pd.Timestamp(START), "last_sent_at": pd.Timestamp(START + timedelta(hours=2))}

    def within(begin: float, length: float) -> pd.DataFrame:
        shown = after(begin, length)
        return findings_in_range.narrowed(pd.DataFrame([row]), shown, lambda _: Known(process, pd.DataFrame(rows)))

    assert within(0, 300).empty, "what is usual in this sample is no gap"
    found = within(begin, length)
    said = finding_rows.evidence_of(found.iloc[0].to_dict())
    assert isinstance(said, MissingEvidence)
    assert (said.variant, found["count"].iloc[0], said.in_gaps, said.widest) == ("hole", 353, 1, 353)
    assert (said.produced, said.distinct, said.others) == (generated, seen, generated - 353)
    assert said.seen_share == pytest.approx(seen / (generated - 353))


def test_without_a_range_findings_are_those_of_the_scan(indexed: Run) -> None:
    found = indexed.table("findings").to_pandas()
    assert findings_in_range.narrowed(found, ALL_TIMES, lambda _: Known(None, pd.DataFrame())).equals(found)
    whole = findings_in_range.narrowed(found, after(-9, 1e6), lambda _: Known(None, pd.DataFrame()))
    dated = found[found["first_sent_at"].notna()]
    assert sorted(whole.index) == sorted(dated.index), "what is not looked up keeps its figures"
    assert not whole["beyond"].any()
    row, said = dated.iloc[0].to_dict(), "figures of its whole time, not of this range"
    for beyond in (True, False):
        assert (said in str(findings_html.head(row | {"beyond": beyond}, reader(SHANGHAI)))) == beyond
