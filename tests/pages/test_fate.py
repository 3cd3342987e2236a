"""The page of what groups have not consumed: filters in the link, figures that agree, and why there are none."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.presentation.reports import roles
from idcore.presentation.triage import failures, fates, finding_rows
from idcore.presentation.triage.fates import FateFilter
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.presentation.triage.undelivered import Undelivered
from pages.parts.charts import fate as charts
from tests.fate.test_tables import MINUTE, START, Messages, write
from tests.pages.conftest import RUN, make_run, reader
from tests.pages.test_messages import labels
from tests.pages.test_pages import shown
from tests.pages.test_store_runs import of_store

Open = Callable[..., AppTest]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The finished scan of a store that may be opened."""
    path, folder = make_run(tmp_path / "runs"), tmp_path / "broker-a"
    (folder / "commitlog").mkdir(parents=True)
    (folder / "commitlog" / f"{0:020d}").write_bytes(bytes(64))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(folder))
    of_store(path, folder)
    return Messages(3).write(path)


def text(app: AppTest) -> str:
    """What a reader sees, without the elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", shown(app)))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_says_who_lacks_what_and_lists_it(run: Path, open_page: Open, lang: str) -> None:
    app = open_page("fate", run=RUN, lang=lang, zone="UTC")
    assert not app.exception and not app.error and len(app.get("plotly_chart")) == 1
    said, own = text(app), words(lang)
    answer = fates.lacking(fates.counted(run))
    assert f"{answer.total:,}" in said and own("fate.read_only") in said
    assert own("fate.list_said", n=own.count("row", answer.total)) in [one.value for one in app.caption]
    first = Undelivered.of_run(run).select(FateFilter()).page(0, 1)[0]
    assert first["msg_id"] in said and f"store={run.parent.parent / 'broker-a'}".replace("/", "%2F") in shown(app)
    assert all(own(f"fate.level.{name}") in said for name in fates.NAMES)


def test_filters_cell_and_range_of_a_link_are_those_of_every_figure(run: Path, open_page: Open) -> None:
    cell = TimeRange(START + MINUTE, START + 2 * MINUTE)
    link = {"group": "billing", "cell": "~".join(cell.params().values()), "from": "2026-11-20T01:50:30Z"}
    app = open_page("fate", run=RUN, zone="UTC", lang="en", **link)
    asked = FateFilter(group="billing", shown=TimeRange(START + timedelta(seconds=30)), cell=cell)
    total = fates.lacking(fates.choose(fates.counted(run), asked)).total
    assert f"billing has not consumed {total} messages of 2026-11-20 01:51:00" in text(app).replace("  ", " ")
    assert "The figures are of whole minutes" in text(app)
    app = app.selectbox(key="group").select("").run()
    assert "group" not in app.query_params and "of 3 consumer groups" in text(app)
    app = app.button(key="fate-cell").click().run()
    assert "cell" not in app.query_params and not app.exception
    app = app.selectbox(key="order").select("worst").run()
    assert app.query_params["order"] == "worst" and "dead letter" in text(app)


def test_what_a_link_asks_for_in_vain_is_said(run: Path, open_page: Open) -> None:
    app = open_page("fate", run=RUN, lang="en", group="nobody", cell="yesterday~", verdict="dead")
    assert not app.exception and "no messages for consumer group nobody" in app.info[0].value
    app = open_page("fate", run=RUN, lang="en", verdict="consumed")
    assert words("en")("fate.list_none") in [one.value for one in app.caption]


def test_a_list_that_the_scan_cut_says_so(run: Path, open_page: Open) -> None:
    rows = len(Undelivered.of_run(run))
    shutil.rmtree(run / "undelivered")
    made = Messages(3)
    made.rows = made.rows[:60]
    made.write(run.parent / "less")
    shutil.move(run.parent / "less" / "undelivered", run / "undelivered")
    app = open_page("fate", run=RUN, lang="en")
    few = len(Undelivered.of_run(run))
    assert few < rows and f"listed the first {few} messages by physical offset" in text(app)


def test_a_list_that_is_too_long_for_pages_says_what_they_show(
    run: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Undelivered.of_run(run).select(FateFilter())
    monkeypatch.setattr(Undelivered.select, "__defaults__", ("time", 60))
    own, first = words("en"), int(whole.ends[59])
    said = text(open_page("fate", run=RUN, lang="en"))
    assert own("fate.list_said", n=own.count("row", whole.total)) in said
    assert own("fate.list_first", first=first, taken=first, all=whole.total) in said
    assert "listed the first" not in said, "the scan has all of them"


def test_the_age_of_the_state_and_what_could_not_be_read_are_on_top(run: Path, open_page: Open) -> None:
    summary = json.loads((run / "summary.json").read_text())
    at = "2026-11-20T02:00:00.000+00:00"
    known = [
        {"code": "store_snapshot", "values": {"shown": at, "age_seconds": 600, "written": "–"}},
        {"code": "config_bak", "values": {"name": "<b>topics.json"}},
    ]
    (run / "summary.json").write_text(json.dumps(summary | {"evidence": known, "traces_left_out": 4_321}))
    app = open_page("fate", run=RUN, lang="en", zone="UTC")
    assert "The folder shows the state of 2026-11-20 02:00:00.000 +00:00, 10 min before it was read" in text(app)
    assert "config/&lt;b&gt;topics.json is damaged" in shown(app)
    assert "4,321 older trace records were not read." in text(app)
    (run / "summary.json").write_text(json.dumps(summary | {"snapshot": at, "snapshot_end": at}))
    assert "The cluster was asked between 2026-11-20 02:00:00" in text(
        open_page("fate", run=RUN, lang="en", zone="UTC")
    )


@pytest.mark.parametrize(("case", "key"), [("logs", "logs"), ("older", "older"), ("empty", "groups")])
def test_a_run_without_fates_says_why_and_what_to_do(run: Path, open_page: Open, case: str, key: str) -> None:
    for name in ("fates", "undelivered"):
        shutil.rmtree(run / name)
        if case == "empty":
            write(run / name, name, [])
    if case == "logs":
        shutil.rmtree(run)
        make_run(run.parent)
    for lang in ("en", "zh"):
        app = open_page("fate", run=RUN, lang=lang)
        assert not app.exception and words(lang)(f"fate.none_{key}") in [one.value for one in app.markdown]
        assert words(lang)("fate.to_store") in labels(app)
        assert all(str(chart.key).startswith("chart-timeline-") for chart in app.get("plotly_chart")), "the range alone"


def test_the_pages_of_the_store_and_of_scans_lead_here(run: Path, open_page: Open) -> None:
    folder = run.parent.parent / "broker-a"
    assert words("en")("store.scanned_fate") in labels(open_page("store", store=str(folder), lang="en"))
    assert labels(open_page("runs", lang="en")).count(words("en")("page.fate")) == 1, "of the scan"
    for name in ("fates", "undelivered"):
        shutil.rmtree(run / name)
    assert words("en")("store.scanned_fate") not in labels(open_page("store", store=str(folder), lang="en"))


# ---- the picture


def picture(found: fates.Heat, theme: roles.Theme, chosen: tuple[str, TimeRange] = ("", ALL_TIMES)) -> Any:
    return charts.heat(found, reader(theme=theme), chosen)


def test_a_cell_has_the_colour_of_its_worst_level_and_asks_for_its_messages(run: Path) -> None:
    found = fates.heat(fates.counted(run))
    cell = TimeRange(found.begins[2], found.begins[3])
    palette = roles.palette("light")
    figure = picture(found, "light", (found.groups[1], cell))
    heat, cells = figure.data
    levels = [[-1 if value is None else value for value in row] for row in heat.z]
    assert levels == found.worst().tolist()
    assert len(cells.x) == (found.worst() >= 0).sum()
    assert all("group=" in pick and "from=" in pick for pick in cells.customdata)
    assert all(str(label).startswith("<b>") for label in cells.hovertext)
    frame = figure.layout.shapes[0]
    assert (frame.y0, frame.y1, frame.x0) == (0.5, 1.5, heat.x[2])
    colours = [colour for _, colour in heat.colorscale]
    assert colours[::2] == colours[1::2] == [palette.levels[name] for name in fates.NAMES], "each from edge to edge"


def test_a_store_of_a_minute_shows_the_shares_of_its_results(run: Path) -> None:
    rows = fates.counted(run)
    found = fates.heat(rows.assign(minute=rows["minute"].min()))
    assert len(found.begins) == 1
    figure = picture(found, "light")
    heat = figure.data[0]
    assert len(heat.x) == charts.PARTS + 1
    for row, counts in enumerate(found.messages[:, 0]):
        levels = [level for level in heat.z[row] if level is not None]
        assert levels == sorted(levels) and set(levels) == set(counts.nonzero()[0]), "each level, the worst first"
        most = counts.argmax()
        assert levels.count(most) == pytest.approx(counts[most] / counts.sum() * charts.PARTS, abs=len(counts))
        wide = {level for level in levels if levels.count(level) >= charts.OF_SIGN} - {len(fates.NAMES) - 1}
        assert len([sign for sign in heat.text[row] if sign]) == len(wide)


def test_cells_are_at_their_wall_clock_behind_a_change_of_clocks(run: Path) -> None:
    minutes = pd.date_range("2026-03-08T05:00Z", periods=2, freq="18h")
    rows = fates.counted(run).iloc[:2].assign(minute=minutes.astype("datetime64[us, UTC]"))
    made, zone = fates.heat(rows), ZoneInfo("America/New_York")
    few = replace(made, begins=made.begins[:4], messages=made.messages[:, :4])
    for found in (
        made,
        replace(few, begins=pd.date_range(minutes[0], periods=4, freq="h"), step=pd.Timedelta(hours=1)),
    ):
        edges = charts.heat(found, reader(zone), ("", ALL_TIMES)).data[0].x
        clock = found.begins.tz_convert(zone).tz_localize(None)
        assert [pd.Timestamp(at) for at in edges[:: (len(edges) - 1) // len(clock)]] == [*clock, clock[-1] + found.step]


def test_names_of_groups_are_text_in_the_picture(run: Path) -> None:
    rows = fates.counted(run).assign(group="<i>settlement_consumer_of_the_second_data_centre</i>")
    figure = picture(fates.heat(rows), "dark")
    assert figure.layout.yaxis.ticktext == ("&lt;i&gt;settlement_…entre&lt;/i&gt;",)
    assert "<i>" not in "".join(figure.data[1].hovertext)


# What three kinds of colour-blind eyes see of linear light (Machado, Oliveira and Fernandes 2009, severity 1).
EYES = {
    "any": np.eye(3),
    "protan": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "deutan": np.array([[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
    "tritan": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)
APART = 15  # of CIE Lab: 2.3 is a difference that is just seen


def lab(colour: str, eye: np.ndarray) -> np.ndarray:
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(np.maximum(XYZ @ np.clip(eye @ linear, 0, 1) / WHITE, 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_no_two_levels_look_alike(theme: roles.Theme, eye: str) -> None:
    colours = {name: lab(colour, EYES[eye]) for name, colour in roles.palette(theme).levels.items()}
    near = {(a, b): float(np.linalg.norm(colours[a] - colours[b])) for a, b in combinations(colours, 2)}
    assert min(near.values()) >= APART, sorted(near.items(), key=lambda one: one[1])[:3]
    assert list(colours) == list(fates.NAMES)


# ---- failed attempts


def test_failed_tries_have_a_picture_that_shows_a_storm(run: Path, open_page: Open) -> None:
    tries = [("billing", 0, "retry", 2), ("billing", 4, "retry", 90), ("billing", 4, "dead_letter", 3)]
    rows = [*tries, ("stock", 1, "retry", 7)]
    names = ("group", "minute", "led_to", "tries")
    made = [dict(zip(names, (group, START + at * MINUTE, *rest), strict=True)) for group, at, *rest in rows]
    write(run / "retries", "retries", made)
    app = open_page("fate", run=RUN, lang="en", zone="UTC")
    assert "failed" not in " ".join(one.value for one in app.markdown), "results are the usual picture"
    storm = TimeRange(START + 4 * MINUTE, START + 5 * MINUTE)
    link = finding_rows.fates_of(
        {
            "code": "retry_storm",
            "evidence": '{"group": "billing"}',
            "first_sent_at": storm.begin,
            "last_sent_at": START + 5 * MINUTE - timedelta(milliseconds=1),
        },
        RUN,
    )
    assert link == {"run": RUN, "group": "billing", "picture": "failures", **storm.params()}
    app = open_page("fate", lang="en", zone="UTC", **link)
    said = next(one.value for one in app.markdown if "failed" in one.value)
    assert (
        said.startswith("**93 attempts** of **billing** failed in 2026-11-20 01:54:00") and "At other times 2" in said
    )
    found, step = failures.by_time(failures_of(run, "billing"))
    figure = charts.failures(found, step, reader(), storm)
    assert [list(trace.y) for trace in figure.data] == [[0, 0, 0, 0, 3], [2, 0, 0, 0, 90]]
    assert len(figure.layout.shapes) == 2, "what is outside the range is faint"
    app = open_page("fate", run=RUN, lang="en", zone="UTC", picture="failures")
    assert any(one.value == "**102 attempts** of **2 consumer groups** failed." for one in app.markdown)


def failures_of(run: Path, group: str) -> pd.DataFrame:
    found = pq.read_table(run / "retries").to_pandas()
    return found[found["group"] == group]


def test_the_tries_of_a_message_are_on_its_journey(run: Path, open_page: Open) -> None:
    first = Undelivered.of_run(run).select(FateFilter()).page(0, 1)[0]["msg_id"]
    one = {"msg_id": first, "group": "billing", "topic": "A", "store_timestamp": START}
    more = {"outcome": "retry_waiting", "retry_times": 1, "due_at": START + MINUTE}
    write(run / "attempts", "attempts", [one | {"outcome": "retried", "retry_times": 0}, one | more])
    app = open_page("message", id=first.lower(), run=RUN, lang="en", zone="UTC")
    said = text(app)
    assert "1 billing first attempt failed, then retried 2026-11-20 01:50:00.000 +00:00" in said
    assert "2 billing 1 waiting for a retry 2026-11-20 01:50:00.000 +00:00 2026-11-20 01:51:00" in said
    assert words("en")("message.none_lines") in said, "what the scan of a store has are not log lines"
