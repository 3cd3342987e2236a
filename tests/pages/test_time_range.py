"""One time range for all pages of a scan: in the address, in words, in every figure and table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from idcore import catalogue
from idcore.errors import CoreError
from idcore.triage import activity
from idcore.triage.time_range import TimeRange
from pages.parts import roles
from pages.parts.charts import timeline
from pages.parts.triage import time_range
from tests.pages import example_run
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]
SHANGHAI = ZoneInfo("Asia/Shanghai")
WORDS, LIGHT = catalogue.words("en"), roles.palette("light")
START = datetime(2026, 11, 20, 1, 55, tzinfo=UTC)
BEGIN, END = "2026-11-20T01:55:00.000Z", "2026-11-20T02:00:00.000Z"


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
    found = time_range.of_box({"selection": {"box": [{"x": [left, right], "y": [0, 1]}]}}, SHANGHAI)
    assert found is not None
    assert times_text(found) == made


def times_text(found: TimeRange) -> str:
    from idcore import times

    return times.clock_span(found.begin, found.end, SHANGHAI, dated=False)


def test_a_click_is_not_a_range() -> None:
    assert time_range.of_box({"selection": {"points": [{"x": 1}], "box": []}}, SHANGHAI) is None


@pytest.mark.parametrize(
    ("text", "utc"),
    [("09:55", START), ("2026-11-20 09:55:00.000", START), ("2026-11-20T01:55:00Z", START), ("", None)],
)
def test_an_end_is_read_as_people_write_it(text: str, utc: datetime | None) -> None:
    assert time_range.read(text, START, SHANGHAI) == utc


def test_the_strip_is_faint_outside_the_range() -> None:
    bins, step = activity.by_time(example_run.tables()["timeline"])
    here = TimeRange(START, START + timedelta(minutes=5))
    figure = timeline.strip(bins, step, here, WORDS, LIGHT, SHANGHAI)
    assert sum(figure.data[0].y) == example_run.tables()["timeline"]["ids"].sum()
    left, right = figure.layout.shapes
    assert (left.x1, right.x0) == (datetime(2026, 11, 20, 9, 55), datetime(2026, 11, 20, 10, 0))
    assert not timeline.strip(bins, step, TimeRange(), WORDS, LIGHT, SHANGHAI).layout.shapes


def test_the_range_is_said_and_a_reset_forgets_it(open_page: Open, run: str) -> None:
    app = open_page("producers", run=run, zone="Asia/Shanghai", **{"from": BEGIN, "to": END})
    assert not app.exception and "**09:55:00 – 10:00:00 +08:00** (5 min 0 s)" in shown(app)
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
    first, last = app.text_input[-2:]
    first.set_value("09:55")
    last.set_value("2026-11-20 10:00")
    app = next(button for button in app.button if button.label == "Show this range").click().run()
    assert dict(app.query_params) == {"run": run, "zone": "Asia/Shanghai", "from": BEGIN, "to": END}
    app.text_input[-1].set_value("10 o'clock")
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
