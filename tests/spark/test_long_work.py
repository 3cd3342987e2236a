"""Long scans: how far they are, and that a cancel ends them in every phase and leaves nothing behind."""

from __future__ import annotations

import errno
import json
import logging
import pickle
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.base.errors import CoreError
from idcore.policy.access import VIEWERS, Members, Policy
from idcore.runs import background_run
from idcore.runs.runs import FOLLOWED, Run, Runs
from idcore.scan.facts import scan_task
from idcore.scan.meter import Hand, new_meter
from idcore.server.logins import Entrance
from idcore.sources.inputs import Split
from idcore.spark import background, fates, folder, follow, job, steps
from idcore.spark import session as spark_session
from idcore.spark.job import FollowOptions, ScanOptions, scan
from idcore.spark.watch import Cancelled, Progress, Reporter
from pages.parts import scans, visitor
from tests.store.unpacked import real_store

ONE = b"msgId=0A42333A0DC818B4AAC246C290FD0000, offsetMsgId=0A42333A00002A9F000000000134F1F5\n"
AT = datetime(2026, 11, 21, tzinfo=UTC)
OPTIONS = ScanOptions(zone=UTC, at=AT)
MONTHS = np.array([[0, 31 * 86_400_000 - 1]], np.int64)


def made(folder: Path, lines: int, name: str = "a.log") -> str:
    path = folder / name
    path.write_bytes(ONE * lines)
    return str(path)


def in_the_way(monkeypatch: pytest.MonkeyPatch, place: object, name: str, what: Callable[[], None]) -> None:
    """Something happens when a step of the scan is about to be taken."""
    step = getattr(place, name)

    def taken(*given: object, **named: object) -> object:
        what()
        return step(*given, **named)

    monkeypatch.setattr(place, name, taken)


def left(run: Run) -> set[str]:
    return {path.name for path in run.path.iterdir()}


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("place", "name"),
    [
        (job, "list_files"),
        (job, "even"),  # Spark is up, nothing is planned
        (job, "from_results"),  # the facts are merged
        (job, "combine"),
        (job, "summarise"),  # every table is written
    ],
)
def test_a_cancel_in_any_phase_ends_as_cancelled_and_leaves_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: object, name: str
) -> None:
    run = Runs(tmp_path / "runs").create("to be stopped")
    begun = threading.Event()

    def cancel() -> None:
        assert begun.wait(10)
        background_run._begun[run.name].cancel()

    in_the_way(monkeypatch, place, name, cancel)
    work = background.start(run, [made(tmp_path, 10)], OPTIONS)
    begun.set()
    assert work.wait(60).state == "cancelled"
    assert (run.state, left(run)) == ("cancelled", {"run.json"})


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["hidden_copies", "_case_of", "merged"])  # between the passes, and behind them
def test_a_cancel_while_fates_are_judged_leaves_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    stop, seen = threading.Event(), list[Progress]()
    in_the_way(monkeypatch, fates, name, stop.set)
    options = ScanOptions(zone=UTC, at=AT, store=str(real_store(tmp_path)))
    with pytest.raises(Cancelled):
        scan([], tmp_path / "out", options, seen.append, stop)
    assert stop.is_set() and seen[-1].phase == "judging" and not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spark")
def test_a_cancel_while_tables_are_written_leaves_the_earlier_result_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, out, stop = made(tmp_path, 10), tmp_path / "out", threading.Event()
    first = scan([log], out, OPTIONS)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    in_the_way(monkeypatch, folder.pq, "write_table", stop.set)
    with pytest.raises(Cancelled):
        scan([made(tmp_path, 20, "b.log")], out, OPTIONS, None, stop)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert first["ids"] == 20


def test_a_cancel_does_not_wait_until_spark_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    up = threading.Event()
    monkeypatch.setattr(spark_session, "session", lambda *_: up.wait(60))
    run = Runs(tmp_path / "runs").create("early")
    work = background.start(run, [made(tmp_path, 10)], OPTIONS)
    began = time.monotonic()
    work.cancel()
    assert work.wait(30).state == "cancelled"
    assert time.monotonic() - began < 20  # and not the minute that it takes Spark here
    up.set()
    assert left(run) == {"run.json"}


@pytest.mark.usefixtures("spark")
def test_a_cancelled_scan_frees_its_cores(tmp_path: Path) -> None:
    log = made(tmp_path, 2_000_000)  # 176 MB in crumbs: half a minute
    seen = threading.Event()
    stop = threading.Event()
    ended: list[BaseException] = []

    def work() -> None:
        try:
            scan([log], tmp_path / "out", ScanOptions(zone=UTC, at=AT, split_size=4096), lambda _: seen.set(), stop)
        except Cancelled as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert seen.wait(60)
    stop.set()
    thread.join(15)
    assert ended and not thread.is_alive()
    tracker = spark_session.session().sparkContext.statusTracker()
    deadline = time.monotonic() + 10
    while tracker.getActiveJobsIds() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not tracker.getActiveJobsIds()
    began = time.monotonic()
    scan([made(tmp_path, 10, "b.log")], tmp_path / "next", OPTIONS)
    assert time.monotonic() - began < 30  # alone it takes two; behind the first scan it would be the rest of that


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_paste_comes_back_while_a_large_scan_is_at_work(tmp_path: Path) -> None:
    log, paste = made(tmp_path, 1_000_000), made(tmp_path, 10, "b.log")
    begun = threading.Event()
    last: list[Progress] = []

    def heard(progress: Progress) -> None:
        last.append(progress)
        if progress.bytes_done:
            begun.set()

    options = ScanOptions(zone=UTC, at=AT, split_size=32 << 20)  # 33 tasks
    large = threading.Thread(target=scan, args=([log] * 12, tmp_path / "large", options, heard))
    large.start()
    assert begun.wait(60)
    scan([paste], tmp_path / "out", OPTIONS)
    share = last[-1].bytes_done / last[-1].bytes_total
    large.join(120)
    assert share < 0.9  # first come first served, it would wait until the last task has begun


@pytest.mark.usefixtures("spark")
def test_progress_comes_from_within_a_task(tmp_path: Path) -> None:
    log = made(tmp_path, 3_000_000)
    seen: list[Progress] = []
    summary = scan([log], tmp_path / "out", ScanOptions(zone=UTC, at=AT, split_size=1 << 30), seen.append)  # one task
    reading = [progress for progress in seen if progress.phase == "reading" and progress.bytes_done]
    assert any(progress.bytes_done < progress.bytes_total for progress in reading)
    assert [progress.bytes_done for progress in seen] == sorted(progress.bytes_done for progress in seen)
    assert all(progress.bytes_total == summary["bytes"] for progress in seen)
    assert seen[-1].phase == "writing"
    last = reading[-1]
    assert 0 < last.ids <= summary["ids"]
    assert last.seconds_left is not None and last.seconds_left >= 0


@pytest.mark.usefixtures("spark")
def test_a_reporter_that_fails_is_not_told_again_and_the_scan_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Progress] = []

    def fails(progress: Progress) -> None:
        told.append(progress)
        raise OSError("the terminal has gone")

    with caplog.at_level(logging.WARNING):
        assert scan([made(tmp_path, 10)], tmp_path / "out", OPTIONS, fails)["ids"] == 20
    assert len(told) == 1
    assert [record.getMessage() for record in caplog.records if record.name.startswith("idcore")] == [
        "progress is not shown any more: the terminal has gone"
    ]


def test_a_reporter_remembers_what_it_was_told_last() -> None:
    reporter = Reporter(None)
    reporter(Progress("running", 1, 2))
    assert reporter.last.bytes_done == 1


def test_a_meter_adds_up_what_tasks_of_other_processes_read(tmp_path: Path) -> None:
    log = made(tmp_path, 30_000)
    size = len(ONE) * 30_000
    middle = size // 2
    splits = [Split(0, log, 0, middle), Split(0, log, middle, size)]
    seen = []
    with new_meter(2) as meter:
        hand = Hand(pickle.loads(pickle.dumps(meter)), 1, splits)

        def moved(taken: int, ids: int) -> None:
            hand.move(taken, ids)
            seen.append(meter.total)

        for fact in scan_task(splits, MONTHS, moved=moved):
            if fact.what == 2:
                hand.found(30_000)
                hand.next()
        assert meter.total == (size, 60_000)
        assert len(seen) >= 4 and seen == sorted(seen)
        Hand(meter, 1, splits)
        assert meter.total == (0, 0)  # a task that is tried again does not count twice
    assert not Path(meter.path).exists()


def test_a_worker_that_does_not_see_the_output_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        steps._write(pa.table({"host": ["a"]}), "hosts", tmp_path / "elsewhere" / ".unfinished-1" / ".large", "00000")
    assert not (tmp_path / "elsewhere").exists()
    told = RuntimeError(f"PythonException: it failed\n RuntimeError: {caught.value}")
    problem = job.problem_of(told)
    assert problem.code == "worker_folder" and problem.values["folder"] == str(tmp_path / "elsewhere")
    assert "--out must be on storage" in str(problem)


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "below" / "out"
    with pytest.raises(CoreError) as caught, folder.TableFolder(out):
        raise AssertionError
    assert caught.value == CoreError("unwritable", {"path": str(out), "why": CoreError("ENOTDIR")})
    with folder.TableFolder(tmp_path / "new" / "out"):
        assert (tmp_path / "new" / "out").is_dir()
    assert not (tmp_path / "new").exists()  # nothing was finished, nothing stays


@pytest.mark.usefixtures("spark")
def test_crumbs_of_a_large_input_are_refused_with_the_size_that_would_do(tmp_path: Path) -> None:
    log = made(tmp_path, 10_000)
    with pytest.raises(CoreError, match=r"use 9 bytes or more") as caught:
        scan([log], tmp_path / "out", ScanOptions(zone=UTC, at=AT, split_size=1))
    assert caught.value.code == "splits_many" and caught.value.values["least"] == 9
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spark")
def test_a_run_that_failed_is_started_again_as_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = made(tmp_path, 10)
    run = Runs(tmp_path / "runs").create("twice")
    with monkeypatch.context() as broken:
        broken.setattr(job, "combine", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
        assert background.start(run, [log], OPTIONS, {log: "pasted text"}).wait(60).error == CoreError(
            "said", {"why": "no space left"}
        )
    with pytest.raises(CoreError, match="did not record its input"):
        background.again(Runs(tmp_path / "runs").create("never begun"))
    ended = background.again(run).wait(60)
    assert (ended.state, run.state, run.error) == ("done", "done", None)
    assert run.table("files", ["file"]).to_pylist() == [{"file": "pasted text"}]
    assert run.summary is not None and run.summary["assumed"]["at"] == "2026-11-21T00:00:00+00:00"
    with pytest.raises(CoreError, match="only a scan that failed"):
        background.again(run)


@pytest.mark.usefixtures("spark")
def test_the_scan_of_a_store_is_started_again_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Runs(tmp_path / "runs").create("store")
    with monkeypatch.context() as broken:
        broken.setattr(job, "combine", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
        tags = {("T", "g"): "A||B"}
        options = ScanOptions(zone=UTC, at=AT, store=str(real_store(tmp_path)), subscriptions=tags)
        assert background.start(run, [], options).wait(60).state == "failed"
    assert background.again(run).wait(60).state == "done"
    assert run.summary is not None and run.summary["assumed"]["subscriptions"] == {"g:T": "A||B"}
    assert run.table("topics", ["messages"]).num_rows > 0, "of records, not of text"


@pytest.mark.usefixtures("spark")
def test_what_lies_between_the_files_of_a_log_is_a_row_and_no_file(tmp_path: Path) -> None:
    root = real_store(tmp_path)
    first, _ = sorted((root / "commitlog").iterdir())
    with first.open("r+b") as file:
        file.truncate(1 << 19)
    told = scan([], tmp_path / "out", ScanOptions(zone=UTC, at=AT, store=str(root)))
    assert pq.read_table(tmp_path / "out" / "files").num_rows == 3
    assert (told["files"], told["failed_files"]) == (2, 2), "the cut one, and what is missing"


@pytest.mark.usefixtures("spark")
def test_the_summary_names_the_zone_as_every_table_does(tmp_path: Path) -> None:
    from zoneinfo import ZoneInfo

    log = made(tmp_path, 1)
    for zone, text, name in [
        (UTC, "+00:00", None),
        (ZoneInfo("Asia/Kathmandu"), "+05:45", "Asia/Kathmandu"),
    ]:
        told = scan([log], tmp_path / text, ScanOptions(zone=zone, at=AT))["assumed"]
        assert (told["zone"], told["zone_name"]) == (text, name)


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_the_next_server_follows_on_what_one_followed_if_its_owner_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    file = made(logs, 100)
    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(logs))
    run = Runs().create("an incident")
    job = background.follow(run, [str(logs)], FollowOptions(OPTIONS))
    until(lambda: (run.summary or {}).get("ids") == 200)
    background.leave_followed()
    job.cancel()
    job.wait(60)
    assert run.facts["state"] == "running" and (run.path / FOLLOWED).is_dir() and not run.is_left
    scans.go_on()
    assert background_run.find(run.name) is job, "its server is there"

    (run.path / "run.json").write_text(json.dumps(run.facts | {"lease": "0" * 32, "owner": "ann@example.com"}))
    assert run.is_left
    damaged = Runs().create("newer, so its turn comes first")
    plan = (run.plan or {}) | {"follow": {"kept": 1}}
    (damaged.path / "run.json").write_text(json.dumps(run.facts | {"created": damaged.facts["created"], "plan": plan}))
    people = {"triage": Members(people=frozenset({"ann@example.com"}))}
    for members, goes_on in ((VIEWERS.members, False), (people, True)):
        entrance = Entrance("login", Policy(members, {}), (), 3_600.0)
        monkeypatch.setattr(visitor, "entrance", lambda entrance=entrance: entrance)
        scans.go_on()
        assert (background_run.find(run.name) is not job) == goes_on
    assert "not followed on: ann@example.com" in caplog.text
    with Path(file).open("ab") as more:
        more.write(ONE * 50)
    until(lambda: (run.summary or {}).get("ids") == 300)
    again = background_run.find(run.name)
    assert again is not None
    again.cancel()
    assert again.wait(60).state == "done" and run.state == "done" and not (run.path / FOLLOWED).exists()


@pytest.mark.usefixtures("spark")
def test_who_has_lost_the_role_gets_nothing_of_what_came_since(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The roles were asked for after each refresh: what had come until then was in the tables."""
    logs = tmp_path / "logs"
    logs.mkdir()
    file, may = made(logs, 100), [True]

    def ask() -> None:
        if not may[0]:
            raise PermissionError(errno.EACCES, "not any more")

    run = Runs(tmp_path / "runs").create("an incident")
    job = background.follow(run, [str(logs)], FollowOptions(OPTIONS), ask=ask)
    until(lambda: (run.summary or {}).get("ids") == 200)
    may[0] = False
    with Path(file).open("ab") as more:
        more.write(ONE * 50)
    assert job.wait(60).state == "done" and (run.summary or {})["ids"] == 200
    assert "not followed any more" in caplog.text and "begun again" not in caplog.text


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("again", [False, True])
def test_what_another_console_deletes_is_not_followed_any_more_and_stays_deleted(
    tmp_path: Path, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark made its folder anew, and at the end all tables were written once more, into a folder of no list."""
    monkeypatch.setattr(follow, "POLL_SECONDS", 2.0)  # Spark is faster than the next look
    logs, runs = tmp_path / "logs", Runs(tmp_path / "runs")
    logs.mkdir()
    file, run = made(logs, 100), runs.create("an incident")
    job = background.follow(run, [str(logs)], FollowOptions(OPTIONS))
    until(lambda: (run.summary or {}).get("ids") == 200)
    runs.delete(run.name)
    if again:  # as Spark does with its next batch
        (run.path / FOLLOWED / "checkpoint" / "offsets").mkdir(parents=True)
    with Path(file).open("ab") as more:
        more.write(ONE * 50)
    assert job.wait(60).state == "failed" and job.ended
    assert not run.path.exists() and not runs.damaged()


def test_two_consoles_that_begin_the_same_scan_again_begin_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both asked whether it had ended. The later one failed at the folder's lock, and wrote that over the work at it:
    nobody could stop that any more."""
    run, begun = Runs(tmp_path / "runs").create("both"), threading.Event()
    monkeypatch.setattr(background, "scan", lambda *_: begun.wait(60) and {"bytes": 0, "ids": 0})
    plan = background.Job._plan(object.__new__(background.Job), [made(tmp_path, 1)], OPTIONS, None)
    run.set_state("failed", plan=plan)
    first = list[background.Job]()
    whole = background._options

    def later(given: dict[str, object]) -> ScanOptions:
        monkeypatch.setattr(background, "_options", whole)
        first.append(background.again(run))  # another console is faster
        return whole(given)

    monkeypatch.setattr(background, "_options", later)
    with pytest.raises(CoreError, match="only a scan that failed"):
        background.again(run)
    begun.set()
    assert first[0].wait(60).state == "done" and run.state == "done"


def until(holds: Callable[[], bool], seconds: float = 120) -> None:
    """Waits for what another thread does."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)
