"""A scan that goes on, as pages show it: the banner of new errors, the wall display and the way to it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from idcore.answers.findings.model import Finding, rest, to_table
from idcore.base.catalogue import words
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import Index
from idcore.server import jobs
from idcore.spark import locate
from pages.parts import cache
from pages.parts.runs import follow, watch
from pages.parts.triage import lines, time_range, wall
from tests.pages.conftest import RUN, make_run, reader
from tests.pages.test_pages import press, shown
from tests.test_announcements import shared

Open = Callable[..., AppTest]
Found = Callable[..., None]
INDEX: Any = "an index"


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Found:
    """What a refresh of a scan that goes on has found; the scan is that of `RUN`, and there from the first call on."""
    path = make_run(tmp_path / "runs")
    facts = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(facts | {"state": "running", "plan": {"follow": {"kept": 9}}}))
    follow = {"as_of": "2026-11-21T01:55:00+00:00", "behind": 0, "left_out": {}, "is_cut": False}
    summary = json.loads((path / "summary.json").read_text()) | {"follow": follow}
    job = SimpleNamespace(ended=False, cancelling=False)
    monkeypatch.setattr(jobs, "of", lambda run: job)
    (path / "findings").mkdir()
    times = count(2_000_000_000)

    def refreshed(*findings: Finding) -> None:
        pq.write_table(to_table(findings), path / "findings" / "part-00000.parquet")
        (path / "summary.json").write_text(json.dumps(summary))
        os.utime(path / "summary.json", (next(times),) * 2)
        assert Run(path).state == "running"

    return refreshed


def banners(app: AppTest) -> list[str]:
    assert not app.exception
    return [error.value.replace("\\", "") for error in app.error]


@pytest.mark.parametrize(("lang", "name"), [("en", "Several processes share"), ("zh", "多个进程指纹相同")])
def test_a_banner_names_the_errors_that_came_while_the_scan_was_open(
    open_page: Open, found: Found, lang: str, name: str
) -> None:
    found(shared(1), rest("shared_fingerprint", 13, 13, "error"))
    app = open_page("findings", run=RUN, lang=lang)
    assert banners(app) == [], "what was there before is not new"
    found(shared(1), shared(2), rest("shared_fingerprint", 14, 14, "error"))
    (said,) = banners(app.run())
    assert name in said and "10.0.0.7 pid 2" in said and "pid 1" not in said and "14" not in said
    press(app, words(lang)("follow.seen"))
    assert banners(app) == []
    found(shared(1), rest("shared_fingerprint", 15, 15, "error"))
    found(shared(1), shared(2), shared(3))
    (said,) = banners(app.run())
    assert "pid 3" in said and "pid 2" not in said, "one that was gone for a while is not new"


def test_what_another_console_follows_has_not_ended_and_is_not_offered_to_follow_on(
    open_page: Open, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(shared(1))
    monkeypatch.setattr(jobs, "of", lambda run: None)
    app = open_page("findings", run=RUN)
    assert [one.value for one in app.info] == [words("en")("scan.elsewhere")] and not app.warning
    assert words("en")("follow.on") not in [one.label for one in app.button] and not app.exception


def test_the_wall_display_names_new_errors_for_ten_minutes(
    open_page: Open, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(wall, "time", SimpleNamespace(monotonic=lambda: clock.now))
    found(shared(1))
    app = open_page("findings", run=RUN, wall="1")
    assert 'class="mq-wall"' in shown(app) and "mq-wall-new" not in shown(app) and not app.exception
    found(shared(1), shared(2))
    text = shown(app.run())
    assert "mq-wall-new" in text and "10.0.0.7 pid 2" in text
    clock.now += wall.NEW - 1
    found(shared(1), shared(2), shared(3))
    text = shown(app.run())
    assert "10.0.0.7 pid 2" in text and "10.0.0.7 pid 3" in text
    clock.now += 1
    text = shown(app.run())
    assert "10.0.0.7 pid 2" not in text and "10.0.0.7 pid 3" in text, "also where no table has changed"


def test_what_is_new_on_the_wall_display_is_new_on_the_page_behind_it(open_page: Open, found: Found) -> None:
    """Who presses Wall display before a page is drawn to its end has first seen the scan there."""
    found(shared(1))
    app = open_page("findings", run=RUN, wall="1")
    found(shared(1), shared(2))
    app.run()
    del app.query_params["wall"]
    (said,) = banners(app.run())
    assert "pid 2" in said and "pid 1" not in said


def test_a_page_of_a_followed_scan_leads_to_its_wall_display(open_page: Open, found: Found) -> None:
    found(shared(1))
    app = open_page("producers", run=RUN)
    (link,) = [link for link in app.main.get("page_link") if link.proto.label == "Wall display"]
    assert link.proto.page == "findings" and f"run={RUN}" in link.proto.query_string
    assert "wall=1" in link.proto.query_string


def test_a_page_is_drawn_again_after_three_times_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page takes is known only when it has been drawn; else it would be drawn all the time."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(follow, "time", SimpleNamespace(monotonic=lambda: clock.now))
    drawn = follow._Drawn(clock.now, 1.0, follow.LIVE, False)
    clock.now += 0.5
    assert not drawn.is_old(2.0, follow.LIVE) and drawn.seconds == 0.5
    clock.now += 0.5 * (follow.REST_RATIO - 1)
    assert not drawn.is_old(2.0, follow.LIVE)
    clock.now += 0.1
    assert drawn.is_old(2.0, follow.LIVE) and drawn.is_old(1.0, follow.POLL_SECONDS)
    assert not drawn.is_old(1.0, follow.LIVE), "nothing is new"


def test_the_bar_does_not_take_its_own_first_look_for_the_end_of_its_page(open_page: Open, found: Found) -> None:
    found(shared(1))
    app = open_page("findings", run=RUN)
    assert app.session_state[follow._DRAWN].seconds is None


def test_a_pause_draws_once_what_the_bar_has_said() -> None:
    """The bar counts before its page is drawn again; a pause must not take it back to what is drawn."""
    live = follow._Drawn(100.0, 1.0, follow.LIVE, is_held=False)
    assert live.must_catch_up(2.0) and not live.must_catch_up(3.0)
    assert not follow._Drawn(100.0, 2.0, follow.LIVE, is_held=True).must_catch_up(3.0), "drawn while it was paused"
    same = follow._Drawn(100.0, 1.0, follow.LIVE, is_held=False)
    assert not same.must_catch_up(1.0) and not same.must_catch_up(2.0), "what is new after the pause waits"


@pytest.fixture
def indexed(found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Run]:
    """The scan that goes on, with an index of its lines that is so many seconds older than its tables."""
    found()
    run = Run(tmp_path / "runs" / RUN)
    (run.path / "occurrences").mkdir()
    index, known = run.path / "occurrences" / "index.json", (run.path / "summary.json").stat().st_mtime
    monkeypatch.setattr(Index, "open", lambda folder: INDEX)
    monkeypatch.setattr(jobs, "ready", lambda: True)

    def behind(seconds: float) -> Run:
        index.write_text("{}")
        os.utime(index, (known - seconds,) * 2)
        return run

    return behind


def test_an_index_that_is_long_behind_draws_no_chart(indexed: Callable[[float], Run]) -> None:
    for seconds, known in ((0, INDEX), (cache.BEHIND, INDEX), (cache.BEHIND + 1, None)):
        assert cache.lines(indexed(seconds)) == known and cache.known_lines(indexed(seconds)) == INDEX
    run = indexed(1)
    run.set_state("done")
    assert cache.lines(run) is None, "it lacks what came last"
    assert cache.lines(indexed(0)) == INDEX


def test_the_strip_of_a_scan_that_goes_on_gets_newer_lines(
    indexed: Callable[[float], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    monkeypatch.setattr(time_range.st, "session_state", {})
    monkeypatch.setattr(lines, "making", lambda run: asked.append(run.name))
    renewed = time_range.RENEWED
    for seconds, made in ((1, 0), (locate.FRESH + 1, 0), (renewed + 1, 1), (renewed + 2, 2)):
        assert time_range.index_of(indexed(seconds), reader(), make=True) == INDEX and len(asked) == made
    assert time_range.index_of(indexed(renewed + 3), reader(), make=False) == INDEX and len(asked) == 2


def test_a_strip_of_minutes_is_enough_of_much_that_goes_on(
    indexed: Callable[[float], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = indexed(0)
    assert time_range._minutes_are_coarse(run)
    monkeypatch.setattr(time_range, "MOST_LIVE", 10)
    assert not time_range._minutes_are_coarse(run)
    run.set_state("done")
    assert time_range._minutes_are_coarse(run)


class _DrawnAgain(Exception):
    """The whole page is drawn again."""


@pytest.mark.parametrize("look", [wall._drawn, follow._ticking, lambda run: watch.ticking(run, False, "scan", None)])
def test_what_looks_by_itself_at_a_scan_that_was_deleted_draws_the_page_again(
    look: Callable[[Run], None], found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look was an error of the console with its stack in the log: 86,400 a day of a display on a wall."""

    def again() -> None:
        raise _DrawnAgain

    monkeypatch.setattr(st, "rerun", again)
    run = Run(tmp_path / "runs" / RUN)
    shutil.rmtree(run.path)
    with pytest.raises(_DrawnAgain):
        look(run)
