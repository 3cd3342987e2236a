"""Growth on the page Brokers: its speed over real instants, its picture, and the sentence where there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from idcore.presentation.reports import roles
from idcore.presentation.triage import broker_logs
from idcore.presentation.triage.time_range import TimeRange
from idcore.runs.runs import Runs
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from pages.parts.charts import brokers as charts
from tests.pages import example_run
from tests.pages.conftest import make_run, reader
from tests.pages.test_pages import shown
from tests.scan.logs import AT, JAVA, NOON, offset, send_result, uniq

Open = Callable[..., AppTest]
TEN = datetime(2026, 3, 10, 10, tzinfo=UTC)
WORDS, LIGHT = catalogue.words("en"), roles.palette("light")
BROKER = "10.0.0.1:10911"


def line(ms: int, place: int, broker: int = 1) -> str:
    """A send of the 10th, `ms` after 10:00, stored at `place`."""
    return send_result(uniq(0x0A000009, 7, JAVA, NOON + ms, place), offset(0x0A000000 + broker, 10911, place))


def minute_of_log(begin: int = 5_000) -> list[str]:
    """215 MB in 49 s."""
    return [line(begin + n * 490, n * 2_150_000) for n in range(101)]


@pytest.fixture
def scanned(tmp_path: Path) -> Callable[..., str]:
    """The name of a run with the tables of these lines."""

    def run(lines: list[str], **changed: Callable[[pd.DataFrame], pd.DataFrame]) -> str:
        path = tmp_path / "x.log"
        path.write_text("\n".join(lines))
        tables = scan_local([str(path)], month_rows(AT, UTC))
        folder = make_run(tmp_path / "runs")
        made = {name: table.to_pandas() for name, table in tables.items()}
        example_run.write(
            folder,
            example_run.tables()
            | {
                name: changed.get(name, lambda rows: rows)(made[name])
                for name in ("brokers", "segments", "distribution", "growth")
            },
        )
        return folder.name

    return run


def charts_of(app: AppTest) -> list[str]:
    """The pictures below the strip of all IDs."""
    names = [str(chart.key).removeprefix("chart-") for chart in app.get("plotly_chart")]
    return [name for name in names if not name.startswith("timeline")]


def frames(lines: list[str], tmp_path: Path) -> dict[str, pd.DataFrame]:
    path = tmp_path / "y.log"
    path.write_text("\n".join(lines))
    tables = scan_local([str(path)], month_rows(AT, UTC))
    return {name: tables[name].to_pandas() for name in ("brokers", "growth")}


@pytest.mark.parametrize("begin", [5_000, 40_000], ids=["within a minute", "across a minute's end"])
def test_215_megabytes_in_49_seconds_are_said_as_such(begin: int, scanned: Any, open_page: Open) -> None:
    app = open_page("brokers", run=scanned(minute_of_log(begin)))
    page = shown(app)
    assert not app.exception
    assert "205 MiB in 49 s: 4.2 MiB/s" in page and "1.1 MiB/s" not in page
    assert "<td" in page and ">4.2 MiB/s<" in page, "the table has it, too"
    assert "no growth rate can be shown" not in page and app.get("plotly_chart")


def test_a_broker_is_called_by_its_name_where_the_lines_have_one(scanned: Any, open_page: Open, tmp_path: Path) -> None:
    """In the answer, the list and the heading of its log; the link goes by its address."""
    run = scanned([*minute_of_log(), line(60_000, 9_000_000, 2)])
    facts = tmp_path / "runs" / run / "summary.json"
    summary = json.loads(facts.read_text()) | {"broker_names": {BROKER: "broker-a_1"}}
    facts.write_text(json.dumps(summary))
    page = shown(open_page("brokers", run=run))
    assert f"broker-a_1 ({BROKER}) grows" in page.replace("<b>", "").replace("</b>", "")
    assert f'broker-a_1</a><span class="mq-under">{BROKER}</span>' in page and "10.0.0.2:10911</a>" in page
    assert f"Offsets of broker-a\\_1 ({BROKER})" in page or f"broker-a_1 ({BROKER})" in page
    wall = shown(open_page("brokers", run=run, wall="1"))
    assert f'broker-a_1</a><span class="mq-under">{BROKER}</span>' in wall


def test_offsets_without_times_are_drawn_unasked(scanned: Any, open_page: Open) -> None:
    """Nothing is known of growth, and the page would have no picture."""
    run = scanned(
        [f"offsetMsgId={offset(0x0A000000 + broker, 10911, 900 * n)}" for n in range(9) for broker in range(5)]
    )
    assert charts_of(open_page("brokers", run=run)) == [f"log-10.0.0.{broker}:10911" for broker in range(3)]
    assert charts_of(open_page("brokers", run=run, broker="10.0.0.4:10911")) == ["log-10.0.0.4:10911"]


def test_the_chinese_page_says_it_in_chinese(scanned: Any, open_page: Open) -> None:
    assert "49 秒增长 205 MiB：4.2 MiB/秒" in shown(open_page("brokers", run=scanned(minute_of_log()), lang="zh"))


def test_less_than_a_minute_is_drawn_at_its_own_instants(tmp_path: Path) -> None:
    found = broker_logs.logs_of(frames(minute_of_log(), tmp_path)["growth"])
    figure, _ = charts.growth(found, {BROKER: "#123456"}, reader())
    speed, grown = figure.data
    begin, end = (TEN.replace(tzinfo=None) + timedelta(seconds=second) for second in (5, 54))
    assert [pd.Timestamp(at) for at in grown.x] == [begin, end] and grown.mode == "lines+markers"
    assert list(grown.y) == pytest.approx([0, 215_000_000 / (1 << 20)])
    assert [pd.Timestamp(at) for at in speed.x] == [begin, end]
    assert list(speed.y) == pytest.approx([215_000_000 / 49 / (1 << 20)] * 2)
    assert "%S.%L" in grown.hovertemplate


@pytest.mark.parametrize(
    ("speed", "units"),
    [
        (100, ("growth rate, B/s", "growth, KiB")),
        (50_000, ("growth rate, KiB/s", "growth, MiB")),
        (5 << 20, ("growth rate, MiB/s", "growth, GiB")),
    ],
)
def test_each_axis_has_the_unit_of_its_own_numbers(speed: int, units: tuple[str, str], tmp_path: Path) -> None:
    lines = [line(n * 60_000, n * 60 * speed) for n in range(61)]
    figure, _ = charts.growth(broker_logs.logs_of(frames(lines, tmp_path)["growth"]), {BROKER: "#123456"}, reader())
    assert (figure.layout.yaxis.title.text, figure.layout.yaxis2.title.text) == units


@pytest.mark.long(first=2)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([line(5_000, 100)], "offset"),
        ([line(5_000, 100), line(9_000, 100)], "offset"),
        ([line(5_000, 100), line(5_000, 9_000)], "instant"),
        ([line(9_000, 100), line(5_000, 9_000)], "order"),
    ],
)
def test_without_two_instants_a_sentence_takes_the_place_of_the_chart(
    lines: list[str], why: str, lang: str, scanned: Any, open_page: Open
) -> None:
    app = open_page("brokers", run=scanned(lines), lang=lang)
    assert not app.exception
    assert catalogue.words(lang)(f"growth.without_{why}") in shown(app)
    assert "iB/s<" not in shown(app) and " B/s<" not in shown(app) and "B/秒" not in shown(app)
    assert charts_of(app) == ["log-10.0.0.1:10911"], "the files and offsets of the broker, and no growth"


def test_the_sentence_names_the_brokers_that_the_chart_leaves_out(scanned: Any, open_page: Open) -> None:
    app = open_page("brokers", run=scanned([*minute_of_log(), line(7_000, 10, 2), line(7_000, 20, 2)]))
    page = shown(app)
    assert "10.0.0.2:10911: All lines with both IDs have the same time, so there is no growth rate to show." in page
    assert charts_of(app) == ["growth-"] and "205 MiB in 49 s" in page


def test_the_speed_on_the_page_is_that_of_the_table(tmp_path: Path) -> None:
    lines = [line(n * 7_003, n * n * 1_000, 1 + n % 3) for n in range(40)]
    made = frames([*lines, line(400_000, 0, 2), line(1, 39 * 39 * 1_000, 1)], tmp_path)
    speeds = broker_logs.speeds_of(made["brokers"], made["growth"], {})
    known = made["brokers"].dropna(subset=["bytes_per_second"])
    assert set(speeds) == set(known["address"]) and len(speeds) == 3, "what is dated the other way round does not count"
    for speed in speeds.values():
        assert speed.grown is not None and speed.seconds
        assert speed.rate == pytest.approx(speed.grown / speed.seconds)


def without(*columns: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda rows: rows.drop(columns=list(columns))


def test_a_run_without_instants_has_the_speed_of_its_minutes(scanned: Any, open_page: Open) -> None:
    lines = [line(n * 60_000, n * 6_000_000) for n in range(31)]
    old = {"brokers": without("bytes_per_second"), "growth": without("min_at", "max_at")}
    app = open_page("brokers", run=scanned(lines, **old))
    page = shown(app)
    assert not app.exception and "97.7 KiB/s" in page and " in 30 min" not in page
    assert charts_of(app) == ["log-10.0.0.1:10911", "growth-"]


def test_a_minute_of_a_run_without_instants_has_no_speed(scanned: Any, open_page: Open) -> None:
    old = {"brokers": without("bytes_per_second"), "growth": without("min_at", "max_at")}
    page = shown(open_page("brokers", run=scanned(minute_of_log(), **old)))
    assert WORDS("growth.without_minute") in page and "MiB/s" not in page


@pytest.mark.parametrize(
    ("rate", "text", "unit"),
    [
        (0.0, "0 B/s", "B/s"),
        (0.00005, "4.3 B/day", "B/day"),
        (0.003, "10.8 B/h", "B/h"),
        (0.05, "3 B/min", "B/min"),
        (300, "300 B/s", "B/s"),
        (7_400_000, "7.1 MiB/s", "MiB/s"),
    ],
)
def test_a_rate_has_a_unit_in_which_it_can_be_read(rate: float, text: str, unit: str) -> None:
    assert broker_logs.rate_text(rate, WORDS) == text
    name, scale = broker_logs.rate_unit(rate, WORDS)
    assert name == unit and (not rate or 1 <= rate / scale < 1024)


def many(brokers: int) -> list[str]:
    """Brokers of different speeds, of half an hour each."""
    return [line(n * 60_000, n * broker * 40_000, broker) for broker in range(1, brokers + 1) for n in range(31)]


def test_the_legend_hides_both_lines_of_a_broker_and_no_colour_is_alone(tmp_path: Path) -> None:
    found = broker_logs.logs_of(frames(many(3), tmp_path)["growth"])
    figure, _ = charts.growth(found, roles.colours_of(list(found), LIGHT), reader())
    assert figure.layout.showlegend and len(figure.data) == 6
    groups: dict[str, list[Any]] = {trace.legendgroup: [] for trace in figure.data}
    for trace in figure.data:
        groups[trace.legendgroup].append((trace.name, trace.showlegend is not False, trace.line.dash))
    for address, pair in groups.items():
        assert [name for name, _, _ in pair] == [address] * 2 and [shown for _, shown, _ in pair] == [True, False]
    assert len({pair[0][2] for pair in groups.values()}) == 3, "each has its own dashes"
    assert "0.0" not in " ".join(figure.data[0].text), "a slow broker has its own unit next to a fast one"


def test_many_brokers_have_a_row_each_with_its_name_and_its_highest_speed(tmp_path: Path) -> None:
    found = broker_logs.logs_of(frames(many(24), tmp_path)["growth"])
    colours = roles.colours_of(list(found), LIGHT)
    assert len(set(colours.values())) == 1, "no two brokers of many have a colour in common by chance"
    figure, _ = charts.growth(found, colours, reader())
    assert len(figure.data) == 24 and not figure.layout.showlegend
    bottoms = [trace.base for trace in figure.data]
    assert len(set(bottoms)) == 24 and all(max(trace.y) == pytest.approx(0.8) for trace in figure.data)
    assert [label.partition("<br>")[0] for label in figure.layout.yaxis.ticktext] == list(found)[::-1]
    (fastest,) = (label for label in figure.layout.yaxis.ticktext if label.startswith("10.0.0.24:"))
    assert "up to 15.6 KiB/s" in fastest


@pytest.mark.parametrize("brokers", [3, 24])
def test_growth_calls_brokers_as_the_list_does(brokers: int, tmp_path: Path) -> None:
    """By name where lines have one; where pointed at, by both. One without a name keeps its address."""
    found = broker_logs.logs_of(frames(many(brokers), tmp_path)["growth"])
    named, plain = list(found)[:2]
    figure, _ = charts.growth(found, roles.colours_of(list(found), LIGHT), reader(), names={named: "broker-a"})
    hovers = [trace.hovertext[0] if trace.hovertext else trace.hovertemplate for trace in figure.data]
    assert sum(hover.startswith(f"<b>broker-a ({named})</b><br>") for hover in hovers) == len(hovers) // brokers
    assert sum(hover.startswith(f"<b>{plain}</b><br>") for hover in hovers) == len(hovers) // brokers
    labels = [label.partition("<br>")[0] for label in figure.layout.yaxis.ticktext or ()]
    labels = labels or [trace.name for trace in figure.data]
    assert "broker-a" in labels and plain in labels and named not in labels


def test_the_growth_of_a_time_range_is_that_of_its_points(tmp_path: Path) -> None:
    found = broker_logs.logs_of(frames(many(1), tmp_path)["growth"])
    within = TimeRange(TEN + timedelta(minutes=10), TEN + timedelta(minutes=20))
    part = broker_logs.in_range(found[BROKER], within)
    assert part is not None and part.first == within.begin and len(part.minutes) == 10
    assert broker_logs.offsets_in(found[BROKER], within) == (400_000, 760_000)
    figure, _ = charts.growth({BROKER: part}, {BROKER: "#123456"}, reader(), within)
    assert max(figure.data[1].y) == pytest.approx(360_000 / 1024)
    assert pd.Timestamp(figure.layout.xaxis.range[0]) == pd.Timestamp("2026-03-10 10:10")
    assert broker_logs.in_range(found[BROKER], TimeRange(TEN + timedelta(days=1))) is None
    assert broker_logs.offsets_in(found[BROKER], TimeRange()) is None


def test_a_time_range_without_dated_lines_is_said(scanned: Any, open_page: Open) -> None:
    app = open_page("brokers", run=scanned(many(1)), **{"from": "2026-03-11T00:00:00.000Z"})
    assert WORDS("brokers.range_none") in shown(app) and charts_of(app) == ["log-10.0.0.1:10911"]


def test_a_piece_of_a_log_survives_an_address() -> None:
    one, two = f"{0:020d}", f"{1 << 30:020d}"
    for piece in (broker_logs.Piece("10.0.0.1:10911", one, one), broker_logs.Piece("[2001:db8::1]:10911", one, two)):
        assert broker_logs.Piece.of(piece.key) == piece
    for text in ("", "10.0.0.1:10911", "10.0.0.1:10911~soon", f"~{one}", f"10.0.0.1:10911~{one}-x"):
        assert broker_logs.Piece.of(text) is None, text


def test_a_clicked_piece_leads_to_the_lines_of_its_files(scanned: Any, open_page: Open) -> None:
    run = scanned([line(n * 60_000, n << 29, 1) for n in range(5)])
    first, last = f"{0:020d}", f"{1 << 30:020d}"
    page = shown(open_page("brokers", run=run, segment=f"10.0.0.1:10911~{first}-{last}"))
    assert "10.0.0.1:10911: 2 commit log files, 4 ID occurrences" in page
    for file in (first, last):
        assert f"lines?run={run}&amp;broker=10.0.0.1%3A10911&amp;segment={file}" in page
    assert f'lines?run={run}&amp;broker=10.0.0.1%3A10911"' in page, "the head and the table lead to all of its lines"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([line(5_000, 100)], "<b>1 record</b> on <b>1 broker</b>, in 1 commit log file.</p>"),
        (many(1), "<b>31 records</b> on <b>1 broker</b>, in 1 commit log file.</p>"),
    ],
)
def test_one_broker_is_said_as_one(lines: list[str], said: str, scanned: Any, open_page: Open) -> None:
    assert said in shown(open_page("brokers", run=scanned(lines)))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("is_dated", [True, False], ids=["dated", "undated"])
def test_only_strips_that_are_drawn_have_one_scale(open_page: Open, run: str, is_dated: bool, lang: str) -> None:
    made = example_run.tables()
    if not is_dated:
        made["growth"], made["brokers"]["bytes_per_second"] = made["growth"].head(0), float("nan")
    example_run.write(Runs().open(run).path, made)
    said = shown(open_page("brokers", run=run, lang=lang))
    assert catalogue.words(lang)("brokers.choose") in said
    assert (catalogue.words(lang)("brokers.one_scale") in said) is is_dated
