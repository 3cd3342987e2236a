"""The figures: what must hold of the picture, read from the figure itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from idcore.presentation.reports import roles
from idcore.presentation.triage import activity, broker_logs, counter_rows, sentences, strokes
from idcore.presentation.triage.time_range import TimeRange
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from pages.parts import figures, frame, scans
from pages.parts.charts import brokers, counters, producers, registry
from pages.parts.triage import report
from pages.parts.view import View
from tests.pages import example_run
from tests.pages.conftest import reader
from tests.scan.logs import JAVA, uniq

TABLES = example_run.tables()
WORDS = catalogue.words("en")
LIGHT = roles.palette("light")
SHANGHAI = ZoneInfo("Asia/Shanghai")


def points(place: int) -> pd.DataFrame:
    process = TABLES["processes"].iloc[place]
    counters = TABLES["counters"]
    same = counters["layout"].eq(process["layout"])
    for name in ("host", "pid", "loader"):
        same &= counters[name].eq(process[name])
    return counters[same]


def sawtooth(place: int) -> tuple[Any, strokes.Strokes]:
    return counters.sawtooth(points(place), reader(SHANGHAI))


def test_of_a_counter_that_cannot_be_judged_no_gap_is_marked() -> None:
    every = [counters.sawtooth(points(0), reader(SHANGHAI), judged=judged) for judged in (True, False)]
    assert [bool(drawn.gaps) for _, drawn in every] == [True, False]
    assert not [note for note in every[1][0].layout.annotations if "missing" in note.text or "average" in note.text]


def test_without_a_wrap_the_small_counter_is_as_high_as_its_data() -> None:
    every = points(0)
    figure, drawn = counters.small(every[every["counter"] == every["counter"].iloc[0]].head(1), reader(SHANGHAI))
    assert not drawn.wraps and figure.layout.yaxis.range[1] - figure.layout.yaxis.range[0] < 1_000
    assert counters.small(every, reader(SHANGHAI))[0].layout.yaxis.ticktext == ("0", "65,535")


@pytest.mark.parametrize(("seconds", "labels"), [(1, 2), (3_600, 4)])
def test_labels_of_a_small_counter_do_not_run_together(seconds: int, labels: int) -> None:
    """Those with milliseconds are wide; a chart would turn them."""
    every = points(1).head(2).assign(sent_at=pd.to_datetime([0, seconds * 10**9], utc=True))
    below = counters.small(every, reader(SHANGHAI))[0].layout.xaxis
    assert (below.nticks, below.tickangle) == (labels, 0)


def test_the_line_stops_at_65535_and_starts_again_at_0_without_a_stroke_between() -> None:
    _, drawn = sawtooth(0)
    ((_, _, saw, _),) = drawn.lines
    breaks = [at for at, value in enumerate(saw) if value is None]
    wraps = [at for at in breaks if saw[at - 1] == 65_535 and saw[at + 1] == 0]
    assert len(wraps) == len(drawn.wraps) == TABLES["processes"]["wraps"].iloc[0] == 3
    steps = [b - a for a, b in itertools.pairwise(saw) if a is not None and b is not None]
    assert min(steps) > -200, "a stroke falls down the picture"


def test_the_rate_stands_in_the_corner_where_no_count_is() -> None:
    figure, drawn = sawtooth(0)
    (rate,) = [note for note in figure.layout.annotations if note.text.endswith("on average")]
    assert len(drawn.slopes) == 1 and (rate.xref, rate.x, rate.yref, rate.y) == ("x2 domain", 0, "y2 domain", 1)


def test_no_words_lie_on_the_lines_and_the_axis_ends_with_its_points() -> None:
    figure, _ = sawtooth(0)
    (words,) = [note for note in figure.layout.annotations if note.text == WORDS("counters.starts_again")]
    assert (words.xref, words.yref, words.y, words.yanchor) == ("x domain", "paper", 1, "bottom")
    assert words.yshift + 16 < figure.layout.margin.t, "in the margin, whatever the width"
    wide = [note.text for note in figure.layout.annotations if note.xref in ("x", "x2") and not note.textangle]
    assert not wide, "a text at a time makes the time axis longer on a phone"


def test_there_is_no_rate_in_a_gap() -> None:
    """Ten IDs a second, of which 200 are missing."""
    kept = [*range(300), *range(500, 900)]
    rows = pd.DataFrame({"track": 0, "chain": 0, "position": kept, "counter": kept})
    rows["missing_before"] = [0, *(b - a - 1 for a, b in itertools.pairwise(kept))]
    sent = pd.Timestamp("2026-11-20T01:55:00Z")
    rows["elapsed_ms"] = [100 * place for place in kept]
    rows["sent_at"] = [sent + pd.Timedelta(milliseconds=100 * place) for place in kept]
    rows = rows.assign(layout="uniq_v4", host="10.0.0.1", pid=1, loader="18B4AAC2")
    for shown in (TimeRange(), TimeRange(sent + timedelta(seconds=20), sent + timedelta(seconds=60))):
        figure, _ = counters.sawtooth(rows, reader(), shown=shown)
        speed = next(trace for trace in figure.data if trace.line.shape == "hv")
        drawn = [(x, y) for x, y in zip(speed.x, speed.y, strict=True) if y is not None]
        begin, end = (datetime(2026, 11, 20, 1, 55) + timedelta(seconds=at) for at in (29.9, 50))
        assert None in speed.y and not [x for x, _ in drawn if begin < x < end], "of a gap only the mean is known"
        assert {begin, end} <= {x for x, _ in drawn}, "the line goes on to both ends of the gap"
        assert figure.layout.yaxis2.tickvals[-1] >= max(y for _, y in drawn), "the axis goes up to the line"


def test_a_gap_of_one_counter_does_not_break_the_rate_of_another() -> None:
    figure, drawn = sawtooth(3)
    assert len([trace for trace in figure.data if trace.line.shape == "hv"]) == 2 and len(drawn.breaks) <= 2
    every = strokes.apart([0, 10, 20, 30], [1.0, 2.0, 3.0], [(4, 24), (26, 27)])
    assert every == ([0, 4, 4, 24, 30], [1.0, 1.0, None, 3.0, 3.0])
    assert strokes.apart([0, 10, 20], [1.0, 2.0], [])[0] == [0, 10, 10, 20]


@pytest.mark.parametrize(("value", "top"), [(0, 1), (90.4, 100), (15, 20), (12.2, 20), (0.034, 0.04), (1_000, 1_000)])
def test_an_axis_from_0_ends_above_its_highest_value(value: float, top: float) -> None:
    assert figures.ticks_up_to(value)["tickvals"] == [0, top / 2, top]


def test_wraps_are_numbered_on_the_top_edge() -> None:
    figure, drawn = sawtooth(0)
    marks = next(trace for trace in figure.data if trace.mode == "markers+text")
    assert list(marks.text) == ["1", "2", "3"] and set(marks.y) == {65_535}
    assert list(marks.x) == drawn.wraps


def test_a_gap_is_a_band_with_its_number_and_the_line_breaks_there() -> None:
    figure, drawn = sawtooth(0)
    assert sorted(ids for _, _, ids in drawn.gaps) == [14, 412]
    assert {"14 missing", "412 missing"} <= {note.text for note in figure.layout.annotations}
    bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert len(bands) == 2 and all(shape.x0 < shape.x1 for shape in bands)


def test_marks_of_gaps_and_times_of_the_axis_have_lanes_of_their_own() -> None:
    """The times are below the marks, with their dates in a second line, and above the rate's own words."""
    figure, _ = sawtooth(0)
    layout = figure.layout
    height = layout.height - layout.margin.t - (layout.margin.b or 0)
    bottom, top = layout.yaxis.domain[0], layout.yaxis2.domain[1]
    lane, room = ((bottom - place) * height for place in (layout.yaxis3.domain[0], top))
    assert lane - 5 <= layout.xaxis.ticklabelstandoff, "a label begins below the lane, but for its own margin"
    assert layout.xaxis.ticklabelstandoff + 2 * 16 + 18 <= room
    whole = counters.sawtooth(points(0), reader(SHANGHAI), judged=False)[0]
    assert not whole.layout.xaxis.ticklabelstandoff, "without gaps there is no lane"


def test_a_restart_is_a_vertical_mark_and_the_count_goes_on() -> None:
    figure, drawn = sawtooth(2)
    assert len(drawn.restarts) == 1
    assert "restart" in {note.text for note in figure.layout.annotations}
    counts = [value for _, _, _, count in drawn.lines for value in count if value is not None]
    assert counts == sorted(counts)
    assert max(counts) + 1 == TABLES["processes"]["produced"].iloc[2]


def test_two_tracks_have_two_colours() -> None:
    figure, drawn = sawtooth(3)
    assert {track for track, *_ in drawn.lines} == {0, 1}
    assert len({trace.line.color for trace in figure.data if trace.mode == "lines"}) == 2
    assert drawn.restarts == []


def test_a_single_id_is_a_point() -> None:
    figure, _ = sawtooth(7)
    assert figure.data[0].mode == "markers"


def test_in_a_sample_only_gaps_that_stand_out_are_marked() -> None:
    rows = points(4).head(60).copy().assign(missing_before=9)
    rows["position"] = range(0, 600, 10)
    rows["counter"] = rows["position"]
    rows.iloc[30, rows.columns.get_loc("missing_before")] = 900
    rows.iloc[30:, rows.columns.get_loc("position")] += 900
    rows["counter"] = rows["position"]
    drawn = counters.sawtooth(rows, reader())[1]
    assert [ids for _, _, ids in drawn.gaps] == [900]


def test_ids_without_a_date_are_drawn_over_elapsed() -> None:
    rows = points(4).assign(sent_at=pd.NaT)
    rows["sent_at"] = pd.to_datetime(rows["sent_at"], utc=True)
    figure, drawn = counters.sawtooth(rows, reader())
    assert isinstance(drawn.lines[0][1][0], float)
    assert figure.layout.xaxis2.title.text == "seconds since the month began"


def test_beyond_the_first_thirty_hosts_one_bar_holds_the_others() -> None:
    hosts = pd.DataFrame(
        {"host": [f"10.0.0.{n}" for n in range(50)], "ids": range(50, 0, -1), "distinct": range(50, 0, -1)}
    )
    bar = producers.bars(hosts, "ids", reader()).data[0]
    assert len(bar.x) == 31 and bar.text[-1] == "210" and bar.customdata[-1] == ""
    assert bar.x[-1] == max(bar.x) == 50 and bar.marker.pattern.shape[-1] == "/", "cut, or it would dwarf every host"
    thirty_one = producers.bars(hosts.head(31), "ids", reader()).data[0]
    assert len(thirty_one.x) == 31, "`1 others` would say less than the host itself"


def test_minutes_without_ids_stay_blank() -> None:
    busy = TABLES["activity"]
    busy = busy[~((busy["host"] == "10.42.3.17") & (busy["minute"] == busy["minute"].sort_values().iloc[20]))]
    grid, step = activity.binned(busy, ["10.42.3.17", "172.17.0.2"])
    assert step == activity.MINUTE
    assert grid.loc["10.42.3.17"].isna().sum() >= 1
    assert (grid.columns[1:] - grid.columns[:-1] == pd.Timedelta(minutes=1)).all(), "empty minutes have their place"


def test_a_long_span_is_drawn_in_coarser_steps() -> None:
    minutes = pd.date_range("2026-11-01", periods=5_000, freq="min", tz="UTC")
    busy = pd.DataFrame({"host": "10.0.0.1", "minute": minutes, "ids": 1})
    grid, step = activity.binned(busy, ["10.0.0.1"])
    assert step == 30 * activity.MINUTE and grid.shape[1] <= activity.CELLS and grid.sum().sum() == 5_000


def test_the_strip_has_a_cell_for_every_file_and_unseen_ones_are_blank() -> None:
    mine = TABLES["segments"][TABLES["segments"]["address"] == "10.42.9.1:10911"]
    strip, together = broker_logs.cells(mine)
    assert together == 1 and len(strip) == 8
    assert strip["ids"].isna().tolist() == [False, False, False, True, False, False, False, False]
    assert strip["ids"].sum() == mine["ids"].sum()


def test_very_many_files_share_cells_and_none_is_lost() -> None:
    rows = pd.DataFrame({"segment": [f"{n << 30:020d}" for n in range(5, 5_000, 3)], "ids": 2, "distinct": 2})
    strip, together = broker_logs.cells(rows)
    assert len(strip) <= broker_logs.MOST_CELLS + 1 and together == 17
    assert strip["ids"].sum() == rows["ids"].sum()


def one_broker(low: int, high: int) -> Any:
    """The picture of a broker whose offsets all lie between two in one file."""
    name = f"{low // (1 << 30) * (1 << 30):020d}"
    segments = pd.DataFrame({"segment": [name], "ids": [9], "distinct": [3], "min_offset": [low], "max_offset": [high]})
    bins = pd.DataFrame({"from_offset": [low], "to_offset": [high + 1], "ids": [9], "distinct": [3]})
    return brokers.log(segments, bins, reader(), LIGHT.series[0])


def test_offsets_close_together_have_an_axis_of_their_own() -> None:
    wide = one_broker(412 << 30, (412 << 30) + (900 << 20))
    assert list(wide.layout.xaxis2.range) == list(wide.layout.xaxis.range)
    close = one_broker(1_000, 1_422_569)
    low, high = close.layout.xaxis2.range
    assert 0 < 1_000 - low < 100_000 and 0 < high - 1_422_569 < 100_000
    assert close.layout.xaxis2.title.text == "physical offset, bytes"


def test_a_single_offset_has_no_histogram() -> None:
    assert [trace.type for trace in one_broker(74_565, 74_565).data] == ["bar"]


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_the_name_of_what_is_too_old_lies_inside_the_picture(share: float) -> None:
    address = "10.42.9.1:10911"
    mine = TABLES["segments"][TABLES["segments"]["address"] == address]
    bins = TABLES["distribution"][TABLES["distribution"]["address"] == address]
    edge = int((412 + 8 * share) * (1 << 30))
    figure = brokers.log(mine, bins, reader(), LIGHT.series[0], broker_logs.Marks(edge, 48))
    (note,) = figure.layout.annotations
    assert "older than 48 h" in note.text
    assert note.xanchor == ("right" if share > 0.3 else "left"), "where there is room for it"


def test_a_broker_has_one_colour_wherever_it_is_drawn() -> None:
    names = TABLES["brokers"]["address"].tolist()
    colours = roles.colours_of(names, LIGHT)
    assert colours == roles.colours_of(names[::-1], LIGHT) and len(set(colours.values())) == len(names)
    drawn, _ = brokers.growth(broker_logs.logs_of(TABLES["growth"]), colours, reader())
    assert {trace.name: trace.line.color for trace in drawn.data} == colours
    bars = brokers.totals(TABLES["brokers"], reader()).data[0]
    assert dict(zip(bars.hovertext, bars.marker.color, strict=True)) == colours


def test_dense_gaps_share_a_band_and_a_number() -> None:
    rows = points(0).head(400).copy()
    rows["missing_before"] = [1 if 200 <= place < 260 else 0 for place in range(len(rows))]
    figure, drawn = counters.sawtooth(rows, reader())
    assert len(drawn.gaps) == 60, "the table holds each of them"
    labels = [note for note in figure.layout.annotations if "missing" in note.text]
    assert 1 <= len(labels) <= 4 and "gaps" in labels[0].text
    places = sorted(note.x for note in labels)
    whole = max(x for x in figure.data[0].x if x) - min(x for x in figure.data[0].x if x)
    assert all(b - a > whole * 0.05 for a, b in itertools.pairwise(places)), "numbers would overprint"
    assert len([shape for shape in figure.layout.shapes if shape.type == "rect"]) < 20


def test_gaps_far_apart_are_not_gathered() -> None:
    assert strokes.gathered([(0.0, 1.0, 5), (50.0, 51.0, 7), (51.5, 52.0, 1)], 4.0) == [
        (0.0, 1.0, 5, 1),
        (50.0, 52.0, 8, 2),
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_figure_is_drawn_in_either_theme(theme: roles.Theme) -> None:
    palette = roles.palette(theme)
    bins = TABLES["distribution"]
    address = "10.42.9.1:10911"
    mine = TABLES["segments"][TABLES["segments"]["address"] == address]
    made = [
        producers.bars(TABLES["hosts"], "ids", reader(theme=theme)),
        producers.heat(*activity.binned(TABLES["activity"], ["10.42.3.17"]), reader(theme=theme)),
        brokers.log(mine, bins[bins["address"] == address], reader(theme=theme), palette.series[0]),
        brokers.totals(TABLES["brokers"], reader(theme=theme)),
        brokers.growth(
            broker_logs.logs_of(TABLES["growth"]),
            roles.colours_of(TABLES["brokers"]["address"].tolist(), palette),
            reader(theme=theme),
        )[0],
        counters.small(points(0), reader(theme=theme))[0],
    ]
    for figure in made:
        assert "#00000" not in figure.to_json(), "a placeholder of Streamlit instead of a colour"


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_role_can_be_read_on_its_ground(theme: roles.Theme) -> None:
    palette = roles.palette(theme)
    colours = {**palette.roles, "text": palette.text, "muted": palette.muted}
    for ground in (palette.background, palette.panel):
        weak = {
            role: round(contrast(colour, ground), 2)
            for role, colour in colours.items()
            if contrast(colour, ground) < 4.5
        }
        assert not weak, f"below AA on {ground}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_one_role_has_one_colour(theme: roles.Theme) -> None:
    palette = roles.palette(theme)
    fields = [
        palette.roles[role]
        for role in ("host", "pid", "loader", "time", "counter", "broker", "offset", "uniq", "client")
    ]
    assert len(set(fields)) == len(fields)


def test_a_colour_keeps_its_place_in_the_series() -> None:
    assert roles.series_colour(LIGHT, 0) == roles.series_colour(LIGHT, len(LIGHT.series))


@pytest.mark.parametrize(("page", "lang"), [("producers", "en"), ("brokers", "zh")])
def test_a_chart_is_its_registration_and_its_words(
    page: str, lang: str, run: str, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One module of charts and a file for each language: the page and the report have it then."""

    def draw(tables: registry.Tables, view: View, shown: TimeRange) -> go.Figure:
        n = len(tables("hosts"))
        return figures.lying_bars(view, ["hosts"], [n], [n], ["#123456"], row=26)

    made = registry.Chart("made", page, "made.chart", draw, lambda tables: tables("hosts"))
    monkeypatch.setattr(registry, "CHARTS", {**registry.CHARTS, "made": made})
    for one in ("en", "zh"):
        messages = import_module(f"idcore.base.catalogue.{one}").MESSAGES
        monkeypatch.setitem(messages, "made.chart", f"made in {one}")
        monkeypatch.setitem(messages, "made.chart_alt", "a chart that a test made")
    app = open_page(page, run=run, lang=lang)
    assert not app.exception and f"made in {lang}" in [one.value for one in app.header]
    (drawn,) = [chart for chart in app.get("plotly_chart") if str(chart.key).startswith("chart-made")]
    assert drawn.proto.alt == "a chart that a test made"
    assert "a chart that a test made" in report.html(scans.visible_runs().open(run), reader())


def test_a_chart_has_one_name_and_its_words_are_in_every_catalogue() -> None:
    drawn = list(registry.drawn("none", TABLES.__getitem__, reader(), TimeRange()))
    assert not drawn and registry.CHARTS
    for chart in registry.CHARTS.values():
        assert chart.page in frame.TRIAGE
        for lang in catalogue.languages():
            assert all(catalogue.words(lang).has(key) for key in (chart.words, f"{chart.words}_alt"))
    with pytest.raises(ValueError, match="findings is registered already"):
        registry.register(registry.CHARTS["findings"])


def scanned(ids: Iterable[tuple[datetime, int]], tmp_path: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    """The process and the points of a log of one: of each ID when it was sent, and its counter."""
    lines = []
    for sent, counter in ids:
        month = sent.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        one = uniq(0x0A000001, 3, JAVA, (sent - month) // timedelta(milliseconds=1), counter)
        lines.append(f"{sent:%F %T}.{sent.microsecond // 1_000:03d}Z msgId={one}")
    path = tmp_path / "app.log"
    path.write_text("\n".join(lines))
    tables = scan_local([str(path)], month_rows(datetime(2026, 2, 4, tzinfo=UTC), UTC))
    return tables["processes"].to_pylist()[0], tables["counters"].to_pandas()


def over_month_end(tmp_path: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    """1,200 IDs, ten a second, in the minutes around the first of February."""
    begin = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)
    return scanned(((begin + timedelta(milliseconds=100 * place), place) for place in range(1_200)), tmp_path)


def test_a_process_that_runs_over_the_end_of_a_month_has_one_clock(tmp_path: Path) -> None:
    process, rows = over_month_end(tmp_path)
    assert (process["chains"], process["rate_per_second"]) == (1, pytest.approx(10))
    still, whole = strokes.pause(rows)
    assert whole == pytest.approx(119.9) and still < 2
    assert strokes.in_range(process, rows, rows, False)["rate_per_second"] == pytest.approx(10)
    assert list(strokes.falls(strokes.in_order(rows))) == []
    figure, drawn = counters.sawtooth(rows, reader())
    ((_, x, saw, _),) = drawn.lines
    assert x == sorted(x) and saw == sorted(saw) and saw[-1] == 1_199
    assert [rate for _, _, _, rate in drawn.slopes] == [pytest.approx(10)]
    speed = next(trace for trace in figure.data if trace.line.shape == "hv")
    assert min(speed.y) > 8 and max(speed.y) < 12
    corners = [float(corner.split("%")[0]) for corner in counter_rows.outline(rows).split(", ")]
    assert max(corners) == 100 and min(corners) == 0


def losing(parts: list[tuple[int, int, int]], tmp_path: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    """A process with an ID a second for an hour. In the seconds of a part every n-th ID is there, none where n is 0."""
    start = datetime(2026, 2, 3, tzinfo=UTC)
    kept = {second: next((n for begin, end, n in parts if begin <= second < end), 1) for second in range(3_600)}
    there = (second for second, n in kept.items() if n and second % n == 0)
    return scanned(((start + timedelta(seconds=second), second) for second in there), tmp_path)


def test_a_process_that_lost_a_part_for_a_while_is_said_by_that_while(tmp_path: Path) -> None:
    process, rows = losing([(1_500, 1_900, 5), (3_000, 3_003, 0)], tmp_path)
    many, begun = counter_rows.many_gaps(rows, process["missing"]), datetime(2026, 2, 3, 0, 25, tzinfo=UTC)
    assert many is not None and (many.missing, many.produced, many.gaps, many.widest) == (320, 400, 80, 4)
    assert (many.begins, many.ends) == (begun, begun + timedelta(seconds=400))
    english, chinese = (sentences.missing_of(process, rows, reader(lang=lang)) for lang in ("en", "zh"))
    assert english.startswith("**320 IDs** are not in this input, in 80 gaps between **2026-02-03 00:25** and **00:31")
    assert english.endswith(": 80% of those generated then, at most 4 in a row. ") and "80%" in chinese


@pytest.mark.parametrize(
    "parts",
    [
        [(1_500, 1_900, 0)],  # one gap
        [(0, 3_600, 40)],  # all the time
        [(10, 100, 2), (3_500, 3_590, 2)],  # twice, an hour apart
        [(1_500, 1_900, 0), *((at, at + 1, 0) for at in range(2_000, 2_010, 2))],  # nearly all of them in one
        [(at, at + 1, 0) for at in range(2_000, 2_008, 2)],  # few
        [(10, 700, 2)],  # more gaps than the table has
    ],
)
def test_where_missing_ids_are_not_of_a_while_the_widest_gap_is_said(
    parts: list[tuple[int, int, int]], tmp_path: Path
) -> None:
    process, rows = losing(parts, tmp_path)
    assert counter_rows.many_gaps(rows, process["missing"]) is None and counter_rows.widest_gap(rows) is not None
    assert " after **2026-02-03 00:" in sentences.missing_of(process, rows, reader())


def test_many_gaps_of_a_while_are_one_band(tmp_path: Path) -> None:
    _, rows = losing([(1_500, 1_900, 5), (3_000, 3_003, 0)], tmp_path)
    _, drawn = counters.sawtooth(rows, reader())
    ((begin, end, missing, gaps),) = strokes.wide(drawn)
    assert (missing, gaps, end - begin) == (320, 80, timedelta(seconds=400))
    _, rows = losing([(at, at + 20, 0) for at in range(0, 3_600, 300)], tmp_path)
    _, drawn = counters.sawtooth(rows, reader())
    assert len(strokes.wide(drawn)) == strokes.WIDE_BANDS


@pytest.mark.parametrize(
    "properties",
    [
        figures.axis(LIGHT, title="ids", fixedrange=True, tickformatstops=figures.DATES),
        {"range": [1, 2], "autorange": None},
        {"title": {"text": "more"}},
        {"tickfont": {"color": "#123456"}, "showgrid": None},
    ],
)
def test_parts_of_a_layout_are_set_as_plotly_itself_sets_them(properties: dict[str, Any]) -> None:
    own, twin = (figures.two_rows(figures.paper(LIGHT, 200), (2, 1), 0.1) for _ in range(2))
    for look in (figures.rows_axis(LIGHT, title="hosts"), properties):
        figures.x_axis(own, look)
        figures.y_axis(own, look, row=2)
        twin.update_xaxes(look)
        twin.update_yaxes(look, row=2, col=1)
    assert own.to_plotly_json() == twin.to_plotly_json()
