"""The page of runs as a reader has it: named, pinned, searched, several deleted, small pastes, folders, not kept."""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.intake import allowed
from idcore.intake.intake import Dating, Source
from idcore.presentation.triage.run_texts import figures, runs_sentence
from idcore.runs.runs import COMPARE, Run, Runs
from idcore.server import jobs
from idcore.spark import background
from pages.parts import cache, scans
from pages.parts.runs import follow, watch
from tests.pages.conftest import RUN, make_run
from tests.pages.test_messages import labels
from tests.pages.test_pages import press, shown

Open = Callable[..., AppTest]


def change(folder: Path, options: dict[str, Any] | None = None, **facts: Any) -> str:
    path = folder / "run.json"
    held = json.loads(path.read_text())
    held["options"] |= options or {}
    path.write_text(json.dumps(held | facts))
    return folder.name


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """Seven runs: two of files, a store, a comparison, one that failed, and two small pastes."""
    names = [f"2026112{n}-015500-a1b2c{n}" for n in range(7)]
    folders = [make_run(tmp_path / "runs", name, title=f"orders{n}.log") for n, name in enumerate(names)]
    for n, folder in enumerate(folders):
        change(folder, created=datetime(2026, 11, 20 + n, tzinfo=UTC).isoformat())
    change(folders[2], plan={"store": "/data/store"})
    change(folders[3], {"sides": [["a.log"], ["b.log"]]}, kind=COMPARE)
    summary = {"text_bytes": 2_048, "only_first": 1_204, "only_second": 7}
    (folders[3] / "summary.json").write_text(json.dumps(summary))
    change(folders[4], state="failed", error="disk full")
    for folder in folders[5:]:
        change(folder, {"sources": ["pasted.txt"], "ids": 2, "lines": 1})
        held = json.loads((folder / "summary.json").read_text())
        (folder / "summary.json").write_text(json.dumps(held | {"ids": 2}))
    return names


def done_at_once(run: Run, *_: object, **__: object) -> None:
    """A scan that takes no time."""
    run.set_state("done")
    cache.forget_runs()


def listed(app: AppTest) -> list[str]:
    """The runs of the page, in its order, by the last digit of their names."""
    return [key[-1] for box in app.checkbox if (key := str(box.key)).startswith("pick-")]


def test_a_list_that_was_read_while_a_scan_began_is_not_shown_again(
    many: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = cache.run_rows.rows_of

    def meanwhile(runs: list[Run]) -> list[dict[str, Any]]:
        rows = read(runs)
        if len(runs) == len(many):
            make_run(tmp_path / "runs", "20261128-015500-a1b2c8")  # by another session
            cache.forget_runs()
        return rows

    monkeypatch.setattr(cache.run_rows, "rows_of", meanwhile)
    assert [len(cache.all_runs()) for _ in range(2)] == [len(many), len(many) + 1]


@pytest.mark.parametrize(("page", "lang"), [("findings", "en"), ("brokers", "zh")])
def test_an_incident_without_an_open_scan_offers_those_that_are_kept(
    open_page: Open, tmp_path: Path, page: str, lang: str
) -> None:
    said = words(lang)
    assert said(f"empty.{page}") in shown(open_page(page, lang=lang))
    cache.forget_all()
    names = [f"20261121-01550{number}-a1b2c{number}" for number in range(5)]
    for number, name in enumerate(names):
        folder = make_run(tmp_path / "runs", name, "done" if number else "running", f"app{number}.log")
        change(folder, created=f"2026-11-21T01:55:0{number}+00:00")
    app = open_page(page, lang=lang)
    assert not app.exception and said("empty.none_open") in shown(app)
    assert said(f"empty.{page}") not in shown(app)
    links = [(one.proto.label, parse_qs(one.proto.query_string).get("run")) for one in app.get("page_link")]
    offered = [(label, run[0]) for label, run in links if run]
    assert [run for _, run in offered] == [names[0], *names[:1:-1]], "the one that runs, then the three newest"
    assert "app0" in offered[0][0] and offered[0][0].endswith(said("empty.runs_now", scan=""))


def test_a_run_is_named_in_the_list_and_on_its_pages(open_page: Open, run: str, tmp_path: Path) -> None:
    app = open_page("runs")
    app.text_input(key=f"name-{run}").set_value("<b>Ticket</b> 4711")
    press(app, "Save")
    assert "&lt;b&gt;Ticket&lt;/b&gt; 4711" in shown(app) and not app.exception
    assert Run(tmp_path / "runs" / run).title == "app.log, old.log.gz"
    text = shown(open_page("producers", run=run))
    assert "&lt;b&gt;Ticket&lt;/b&gt; 4711" in text and "app.log, old.log.gz" in text, (
        "the name does not hide its files"
    )
    app = open_page("runs", lang="zh")
    app.text_input(key=f"name-{run}").set_value("")
    press(app, "保存")
    assert "app.log, old.log.gz" in shown(app)


def test_a_scan_of_the_list_says_what_was_found_and_what_was_rejected() -> None:
    summary: dict[str, Any] = {"files": 1, "text_bytes": 2_048, "ids": 9, "refused": 0, "seconds": 0.5}
    row = {"kind": "scan", "summary": summary}
    assert figures(row, words("en")) == ["1 file", "2.0 KiB", "9 ID occurrences", "took 500 ms"]
    summary |= {"findings": {"error": 1, "warning": 2, "info": 4}, "refused": 3}
    assert figures(row, words("en"))[:2] == ["1 error", "2 warnings"]
    assert "3 strings rejected" in figures(row, words("en"))


def test_pinned_runs_are_first_and_stay(open_page: Open, many: list[str], tmp_path: Path) -> None:
    app = open_page("runs")
    assert listed(app) == ["4", "3", "2", "1", "0"], "small pastes are folded"
    app.button(key=f"pin-{many[0]}").click().run()
    assert listed(app) == ["0", "4", "3", "2", "1"] and "pinned" in shown(app)
    for name in many[:3]:
        app.checkbox(key=f"pick-{name}").check().run()
    assert "Selected: **3 scans**" in shown(app)
    assert "2 scans with all tables" in shown(app) and "not deleted: 1 scan." in shown(app)
    press(app, "Delete 2 scans")
    assert not app.exception and listed(app) == ["0", "4", "3"]
    assert {run.name for run in Runs(tmp_path / "runs").list()} == {many[n] for n in (0, 3, 4, 5, 6)}


def test_a_run_that_will_be_deleted_for_its_age_says_when_and_how_to_keep_it(
    open_page: Open, many: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_KEPT_DAYS", "30")
    created = (datetime.now(UTC) - timedelta(days=28)).isoformat()
    change(tmp_path / "runs" / many[0], created=created)
    change(tmp_path / "runs" / many[1], created=created, pinned=True)
    app = open_page("runs")
    assert shown(app).count("Pin it to keep it.") == 1 and "for 30 days, and longer if they are pinned" in shown(app)
    app.button(key=f"pin-{many[0]}").click().run()
    assert "Pin it to keep it." not in shown(app) and not app.exception


def test_what_was_pinned_after_the_page_was_drawn_stays(open_page: Open, many: list[str], tmp_path: Path) -> None:
    app = open_page("runs")
    app.checkbox(key=f"pick-{many[1]}").check().run()
    Run(tmp_path / "runs" / many[1]).pin(True)
    press(app, "Delete 1 scan")
    assert (tmp_path / "runs" / many[1]).exists() and not app.exception


def test_runs_are_searched_and_filtered_by_the_address(open_page: Open, many: list[str], tmp_path: Path) -> None:
    Run(tmp_path / "runs" / many[1]).rename("Ticket 4711")
    for query, wanted in (
        ({"find": "ticket"}, ["1"]),
        ({"find": "OLD.log 2026-never"}, []),
        ({"find": "orders2"}, ["2"]),
        ({"kind": "store"}, ["2"]),
        ({"kind": "compare"}, ["3"]),
        ({"state": "failed"}, ["4"]),
        ({"state": "done", "kind": "text"}, ["1", "0"]),
        ({"pinned": "1"}, []),
        ({"find": "2 IDs"}, ["6", "5"]),
    ):
        app = open_page("runs", **query)
        assert listed(app) == wanted, query
        assert f"{len(wanted) + 2 * (query.get('state') == 'done')} of" in shown(app)
    app = open_page("runs", lang="zh")
    app.selectbox(key="runs_kind").select("store").run()
    assert listed(app) == ["2"] and app.query_params["kind"] in ("store", ["store"])
    app.text_input(key="runs_find").set_value("no such").run()
    assert listed(app) == [] and app.query_params["find"] in ("no such", ["no such"])


def test_small_pastes_are_counted_and_open(open_page: Open, many: list[str]) -> None:
    app = open_page("runs")
    assert "Small pastes (2)" in [fold.label for fold in app.expander]
    app.session_state["runs_small"] = True
    assert listed(app.run()) == ["4", "3", "2", "1", "0", "6", "5"] and "up to 20 IDs" in shown(app)


def test_a_comparison_is_listed_and_opens_on_its_page(open_page: Open, many: list[str]) -> None:
    app = open_page("runs", kind="compare")
    page = shown(app)
    assert "a.log compared with b.log" in page and "only in the first 1,204, only in the second 7" in page
    assert any(
        "compare" in link.proto.page and many[3] in link.proto.query_string for link in app.main.get("page_link")
    )
    app.text_input(key=f"name-{many[3]}").set_value("Ticket 4711")
    page = shown(press(app, "Save"))
    assert "Ticket 4711" in page and "a.log compared with b.log" in page
    app = open_page("findings", run=many[3])
    assert "is not a scan, but a comparison" in app.error[0].value and not app.exception


# ---- server folders


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(folder))
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(scans, "launch", done_at_once)
    return folder


def scan(app: AppTest, path: str) -> AppTest:
    app.text_input(key="run-path").set_value(path)
    return app.button(key="scan-folder").click().run()


def test_a_folder_scan_is_never_silent(open_page: Open, logs: Path) -> None:
    app = open_page("runs")
    assert "Enter a path" in scan(app, "").warning[0].value
    assert "There is no file in" in scan(app, str(logs)).warning[0].value and not Runs().list()
    assert "There is no" in scan(app, str(logs / "nothing")).error[0].value
    app.button(key="scan-uploads").click().run()
    assert "Choose at least one file" in app.warning[0].value


def test_the_same_files_again_are_offered_not_scanned(open_page: Open, logs: Path) -> None:
    (logs / "a.log").write_text("msgId=AC110001473C7D4991AD336AEA5703E0")
    app = scan(open_page("runs"), str(logs))
    (run,) = Runs().list()
    assert "has been scanned." in shown(app) and "Open" in labels(app), "right where the reader pressed"
    app = scan(open_page("runs"), str(logs))
    assert "The same files were scanned on" in shown(app) and len(Runs().list()) == 1
    assert any(
        link.proto.label == "Open that scan" and run.name in link.proto.query_string
        for link in app.main.get("page_link")
    )
    press(app, "Not now")
    assert "The same files" not in shown(app)
    press(scan(app, str(logs)), "Scan again")
    assert len(Runs().list()) == 2 and not app.exception
    os.utime(logs / "a.log", (1, 1))
    assert "The same files" not in shown(scan(open_page("runs"), str(logs))) and len(Runs().list()) == 3


def test_a_followed_page_looks_often_only_while_there_is_news(tmp_path: Path) -> None:
    run = Runs(tmp_path).create("logs")
    (run.path / "summary.json").write_text("{}")
    assert follow._pace(run) == follow.LIVE < follow.POLL_SECONDS
    os.utime(run.path / "summary.json", (1, 1))
    assert follow._pace(run) == follow.POLL_SECONDS


def test_topics_that_are_open_are_followed_and_no_others(
    open_page: Open, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = "kafka://127.0.0.1:1,127.0.0.1:2/orders"
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", f"{logs}:{topic}")
    monkeypatch.delenv("IDCORE_KAFKA_JARS", raising=False)
    assert "topic of Kafka is followed, not scanned" in scan(open_page("runs"), topic).error[0].value
    app = open_page("runs")
    app.text_input(key="run-path").set_value(f"{topic},payments")
    assert "is outside" in app.button(key="follow-folder").click().run().error[0].value and not Runs().list()
    app.text_input(key="run-path").set_value(topic)
    app.button(key="follow-folder").click().run()
    (run,) = Runs().list()
    job = jobs.of(run)
    assert job is None or job.wait(30)
    assert run.title == topic and run.error is not None and run.error.code == "kafka_jars"


@pytest.mark.parametrize(("lang", "said"), [("en", "about 10 s at 477 MiB/s"), ("zh", "预计需要 10 秒")])
def test_a_very_large_input_is_estimated_before_it_starts(
    open_page: Open, logs: Path, monkeypatch: pytest.MonkeyPatch, lang: str, said: str
) -> None:
    (logs / "a.log").write_text("x")
    monkeypatch.setattr("pages.parts.runs.begin.contents", lambda *_: allowed.Contents(1, 5_000_000_000, "d"))
    app = scan(open_page("runs", lang=lang), str(logs))
    assert said in shown(app) and "4.7 GiB" in shown(app) and not Runs().list()
    press(app, words(lang)("runs.scan_now"))
    assert len(Runs().list()) == 1 and not app.exception


@pytest.mark.parametrize(
    ("setting", "value", "lang", "said"),
    [
        ("IDCORE_FREE_DISK", "1000000T", "en", "The disk of the server is full"),
        ("IDCORE_FREE_DISK", "1000000T", "zh", "服务器磁盘空间不足"),
        ("IDCORE_KEPT", "1", "en", "All scans would take"),
    ],
)
def test_a_limit_is_a_sentence_where_the_reader_pressed_and_makes_no_run(
    open_page: Open, logs: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, lang: str, said: str
) -> None:
    (logs / "a.log").write_text("x")
    if setting == "IDCORE_KEPT":
        Runs().create("there").set_state("done")
    monkeypatch.setenv(setting, value)
    before = len(Runs().list())
    app = scan(open_page("runs", lang=lang), str(logs))
    assert said in app.error[0].value and len(Runs().list()) == before and not app.exception


class Slow:
    """A job that was asked to stop and has not yet."""

    def __init__(self) -> None:
        self.cancelling = False

    def cancel(self) -> None:
        self.cancelling = True

    def wait(self, seconds: float | None = None) -> None:
        assert not self.cancelling, "the answer to the click waits for nothing"

    def progress(self) -> Any:
        from idcore.spark.watch import Progress

        return Progress("running", 50, 100, 7, 1.0, 1.0)


def test_a_click_on_cancel_is_answered_at_once(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / "runs", state="running")
    job = Slow()
    monkeypatch.setattr(jobs, "of", lambda run: job)
    for page in ("runs", "findings"):
        job.cancelling = False
        app = open_page(page, run=RUN)
        press(app, "Cancel")
        assert [bar.proto.text for bar in app.get("progress")] == ["Cancelling…"], page
        assert next(button for button in app.button if button.label == "Cancelling…").disabled
    assert watch.WAIT < watch.POLL_SECONDS


# ---- what is not kept


def held(app: AppTest) -> dict[str, Any]:
    return app.session_state["visit"].kept.get("held", {})


def test_what_is_not_kept_goes_with_its_session(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(scans, "launch", done_at_once)
    app = open_page("decode")
    assert "everybody who opens this console can see it" in shown(app)
    app.checkbox(key="unkept").check().run()
    assert "Not kept" in shown(app) and app.query_params["keep"] in ("no", ["no"])
    app.text_area[0].set_value("".join(f"msgId=AC110001473C7D4991AD336AEA57{n:04X}\n" for n in range(30)))
    press(app, "Decode")
    (run,) = Runs().list()
    assert not run.kept and list(held(app)) == [run.name] and not app.exception
    assert not open_page("runs").checkbox, "not in the list of others"
    other = open_page("producers", run=run.name)
    assert list(held(other)) == [run.name], "another session with the link has it as well"
    app.session_state["visit"].kept["held"].clear()
    gc.collect()
    assert run.path.exists()
    other.session_state["visit"].kept["held"].clear()
    gc.collect()
    assert not run.path.exists()


def test_a_link_that_says_so_keeps_nothing_and_the_same_input_is_not_shared(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(scans, "launch", done_at_once)
    asked = "AC110001473C7D4991AD336AEA5703E0"
    first = open_page("decode", ids=asked, keep="no")
    second = open_page("decode", ids=asked)
    assert sorted(run.kept for run in Runs().list()) == [False, True]
    assert len(held(first)) == 1 and not held(second)


def test_a_job_that_is_not_wanted_any_more_deletes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for when in ("at work", "done"):
        run = Runs(tmp_path).create("a", kept=False)

        def work(
            paths: Any, out: Path, options: Any, report: Any, stop: Any, names: Any, when: str = when
        ) -> dict[str, int]:
            assert stop.wait(10) or when == "done"
            return {"bytes": 0, "ids": 0}

        monkeypatch.setattr(background, "scan", work if when == "at work" else lambda *_: {"bytes": 0, "ids": 0})
        job = background.start(run, [], background.ScanOptions(at=datetime(2026, 1, 1, tzinfo=UTC)))
        if when == "done":
            job.wait(10)
        jobs.discard(tmp_path, run.name, 10)
        assert not run.path.exists(), when


def test_the_same_input_is_scanned_once_if_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "launch", done_at_once)
    dated = Dating(UTC, "assumed", datetime(2026, 1, 1, tzinfo=UTC))
    source = [Source("a.log", b"x")]
    assert scans.begin(source, dated).name == scans.begin(source, dated).name


def test_an_index_of_lines_that_is_made_while_its_run_is_deleted_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Runs(tmp_path).create("a", kept=False)

    def locate(run: Run, _: object) -> None:
        jobs.discard(run.path.parent, run.name)
        (run.path / "lines").mkdir(parents=True)

    monkeypatch.setattr(background, "locate", locate)
    assert background.Locating(run).wait(10) and not run.path.exists()


def test_the_headline_says_that_the_input_of_a_running_scan_is_not_in_it() -> None:
    ended = {"kind": "scan", "state": "finished", "summary": {"text_bytes": 2_048}}
    going = {"kind": "scan", "state": "running", "summary": None}
    assert runs_sentence([ended], words("en")) == "**1 scan** over 2.0 KiB of input."
    said = "**2 scans** over 2.0 KiB of input. 1 running: what it reads counts at the end."
    assert runs_sentence([ended, going], words("en")) == said


def test_a_damaged_run_stops_no_page_and_can_be_deleted_on_the_page_of_scans(
    open_page: Open, many: list[str], tmp_path: Path
) -> None:
    bad = make_run(tmp_path / "runs", "20261130-015500-a1b2c9")
    change(bad, lease=5)
    for page in ("", "decode", "findings", "compare", "lines"):
        app = open_page(page)
        assert not app.exception and "a1b2c9" not in shown(app), page
    assert "is damaged" in shown(open_page("findings", run=bad.name))
    app = open_page("runs")
    assert any("Damaged scans (1)" in one.label for one in app.expander) and len(listed(app)) == 5
    app.button(key=f"delete-{bad.name}").click().run()
    assert not bad.exists() and not app.exception and not any("Damaged" in one.label for one in app.expander)


@pytest.mark.parametrize("how", ["deleted", "damaged", "never there"])
def test_a_link_to_a_closed_run_says_so_and_shows_no_earlier_ids(
    how: str, open_page: Open, run: str, tmp_path: Path
) -> None:
    app = open_page("decode", ids="0A42333A0DC818B4AAC246C290FD0000")
    assert "0A42333A0DC818B4AAC246C290FD0000" in shown(app)
    if how == "deleted":
        shutil.rmtree(tmp_path / "runs" / run)
    elif how == "damaged":
        change(tmp_path / "runs" / run, lease=5)
    name = "20261121-015500-ffffff" if how == "never there" else run
    del app.query_params["ids"]
    app.query_params["run"] = name
    for _ in range(2):  # it stays until something is decoded
        app.run()
        text = " ".join(one.value for one in app.error)
        assert name in text and "0A42333A0DC818B4AAC246C290FD0000" not in shown(app), shown(app)[:500]
