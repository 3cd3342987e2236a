"""The limits of the console: their settings, their sentences, and that each is applied."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.policy import limits
from idcore.policy.limits import LIMITS, Limit
from idcore.rocketmq.remoting.audit import RateLimit
from idcore.rocketmq.remoting.errors import TooManyLookups
from idcore.runs import room
from idcore.runs.runs import Runs
from idcore.server import jobs
from idcore.server.front_door import Uploads
from idcore.server.memory import Visit
from pages.parts import live, scans, session
from pages.parts.runs import fate_lists

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("row", LIMITS.values(), ids=str)
def test_a_limit_has_a_setting_a_default_and_a_sentence_in_every_language(row: Limit) -> None:
    assert row.setting.startswith("IDCORE_") and row.meaning and (row.default is not None or row.may_be_off)
    assert sum(other.setting == row.setting for other in LIMITS.values()) == 1
    if row.error:
        for lang in catalogue.languages():
            words = catalogue.words(lang)
            assert any(words.has(key) for key in (row.error, f"error.{row.error}"))
    if row.error.startswith("limit_"):
        for lang in catalogue.languages():
            said = catalogue.words(lang).error(limits.limit_error(row.name, row.default or 5 << 30))
            assert said[0].isupper() or not said[0].isascii() or said[0].isdigit()
            assert (row.usual in said or row.default is None) and "{" not in said


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("scans", "5", 5),
        ("uploads", "1048576", 1 << 20),
        ("uploads", "512M", 512 << 20),
        ("uploads", "2 GiB", 2 << 30),
        ("uploads", "2gb", 2 << 30),
        ("uploads", "off", None),
        ("uploads", " ", LIMITS["uploads"].default),
    ],
)
def test_a_setting_is_a_number_a_size_or_off(
    name: str, text: str, value: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMITS[name].setting, text)
    assert limits.value(name) == value
    limits.check()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scans", "off"),
        ("scans", "0"),
        ("scans", "-1"),
        ("scans", "many"),
        ("scans", "2G"),
        ("uploads", "2X"),
        ("uploads", "1.5G"),
        ("uploads", "9" * 40),
        ("queue", "٣"),
    ],
)
def test_a_wrong_setting_is_named(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMITS[name].setting, text)
    with pytest.raises(CoreError, match=LIMITS[name].setting):
        limits.check()


@pytest.mark.long(first=1)
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("IDCORE_QUEUE", "plenty", "the setting IDCORE_QUEUE is 'plenty'"),
        ("IDCORE_ALLOWED_PATHS", "/srv:https://reader:hunter2@files.example/mq", "has https://files.example/mq with"),
        (
            "IDCORE_ALLOWED_PATHS",
            "https://files.example/mq?X-Amz-Signature=hunter2",
            "has https://files.example/mq with",
        ),
    ],
)
def test_the_console_does_not_start_with_a_wrong_setting(name: str, value: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", "0"],
        cwd=ROOT,
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2 and said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr and "hunter2" not in done.stderr + done.stdout


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The runs of one visitor."""
    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(jobs, "_begun", {})
    monkeypatch.setattr(session, "who", lambda: "ann")
    return Runs(tmp_path / "runs")


def refused(code: str, more: int = 0) -> dict[str, Any]:
    with pytest.raises(CoreError) as caught:
        scans.admit(more)
    assert caught.value.code == code
    return caught.value.values


def test_one_visitor_has_so_many_scans_at_once(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_SCANS_VISITOR", "2")
    begun = {scans.create(title, {}, 0).name: SimpleNamespace(ended=False) for title in ("a", "b")}
    monkeypatch.setattr(jobs, "of", lambda run: begun.get(run.name))
    assert refused("limit_scans_of_one") == {"held": "2", "most": "2"}
    monkeypatch.setattr(session, "who", lambda: "bob")
    scans.admit()
    monkeypatch.setattr(session, "who", lambda: "ann")
    next(iter(begun.values())).ended = True
    scans.admit()


def test_a_full_queue_takes_no_more(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    from idcore.spark import scan_queue

    monkeypatch.setenv("IDCORE_QUEUE", "3")
    monkeypatch.setattr(scan_queue, "waiting", lambda: 2)
    scans.admit()
    monkeypatch.setattr(scan_queue, "waiting", lambda: 3)
    assert refused("limit_queue") == {"held": "3", "most": "3"}


def test_one_visitor_keeps_so_many_scans(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some thousands of small ones fill no disk, and each list of anybody took seconds."""
    monkeypatch.setenv("IDCORE_RUNS_VISITOR", "2")
    first = scans.create("a", {}, 0)
    scans.create("b", {}, 0)
    with pytest.raises(CoreError) as caught:
        scans.create("c", {}, 0)
    assert caught.value.code == "limit_runs_of_one" and caught.value.values == {"held": "2", "most": "2"}
    scans.admit()  # one of them once more
    monkeypatch.setattr(session, "who", lambda: "bob")
    scans.create("c", {}, 0)
    monkeypatch.setattr(session, "who", lambda: "ann")
    runs.delete(first.name)
    scans.create("c", {}, 0)


def test_a_list_of_verdicts_is_one_of_a_visitors_scans(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_RUNS_VISITOR", "1")
    monkeypatch.setattr(live, "cluster", lambda _: object())
    monkeypatch.setattr(scans, "wants_kept", lambda: True)
    scans.create("a", {}, 0)
    with pytest.raises(CoreError) as caught:
        fate_lists.start(["0A010235116418B4AAC21B48709A01C4"], "orders", "test")
    assert caught.value.code == "limit_runs_of_one"


def test_what_is_kept_is_bounded_for_one_and_for_all(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = scans.create("a", {}, 0)
    (run.input_folder / "000-a").write_bytes(bytes(4000))
    run.set_state("done")
    held = room.sizes(runs.root)[run.name]
    assert held == 4000 + (run.path / "run.json").stat().st_size
    monkeypatch.setenv("IDCORE_KEPT_VISITOR", "8K")
    scans.admit(8 * 1024 - held)
    assert refused("limit_kept_of_one", 8 * 1024 - held + 1)["most"] == "8.0 KiB"
    monkeypatch.setattr(session, "who", lambda: "bob")  # who has none of his own
    scans.admit(8 * 1024)
    monkeypatch.setenv("IDCORE_KEPT", "8K")
    refused("limit_kept", 8 * 1024)
    runs.delete(run.name)
    assert room.sizes(runs.root) == {}
    scans.admit(8 * 1024)


def test_a_scan_at_work_has_the_room_that_it_will_take(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_KEPT", str(2 * jobs.TABLES + 3_000))
    first = scans.create("a", {}, 1_000, 1_000)
    assert refused("limit_kept", jobs.TABLES + 2_000)["most"] == "259 KiB"
    scans.admit(jobs.TABLES)
    first.set_state("done")
    scans.admit(jobs.TABLES + 2_000)
    with pytest.raises(CoreError, match="all scans"):
        scans.create("a large one", {}, 10 << 30)
    monkeypatch.delenv("IDCORE_KEPT")
    assert (limits.value("kept_of_one") or 0) > 4 * limits.MOST_INDEXED // jobs.SHARE
    scans.create("as large as any", {}, 1 << 50)


def test_a_full_disk_and_a_folder_that_cannot_be_written_take_no_new_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = runs.create("finished")
    finished.set_state("done")
    monkeypatch.setenv("IDCORE_FREE_DISK", "1000000T")
    with pytest.raises(CoreError) as caught:
        runs.create("one more")
    assert caught.value.code == "limit_disk" and "the disk of the server is full" in str(caught.value)
    assert [run.state for run in runs.list()] == ["done"] and len(list(runs.root.glob("2*"))) == 1
    monkeypatch.setattr(room.os, "access", lambda *_: False)
    with pytest.raises(CoreError, match="cannot write into its folder"):
        runs.create("one more")


def test_uploads_are_bounded_with_those_on_their_way_and_the_page_gets_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IDCORE_UPLOADS_VISITOR", "10")
    monkeypatch.setenv("IDCORE_UPLOADS", "15")
    there = {"ann": 4}
    uploads = Uploads(lambda session: (there.get(session, 0), sum(there.values())))
    assert uploads.begin("ann", 6) and not uploads.begin("ann", 1)
    why = uploads.refusal("ann")
    assert why is not None and why.code == "limit_uploads_of_one" and why.values["most"] == "10 B"
    assert uploads.refusal("ann") is None
    assert not uploads.begin("bob", 6) and uploads.refusal("bob") == limits.limit_error("uploads", 16)
    uploads.end("ann", 6)
    assert uploads.begin("bob", 6) and not uploads.begin("bob", 5)


def test_tabs_of_one_person_have_one_limit_of_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a viewer with four of them keeps everybody from uploading, and need not send a byte."""
    held = MemoryUploadedFileManager("/upload")
    monkeypatch.setattr(session.st.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=held))
    monkeypatch.setenv("IDCORE_UPLOADS_VISITOR", "10")
    monkeypatch.setenv("IDCORE_UPLOADS", "30")
    visits = {name: Visit() for name in ("eve-1", "eve-2", "ann", "nobody-1", "nobody-2")}
    for name, visit in visits.items():
        visit.user = "" if name.startswith("nobody") else name[:3]
        monkeypatch.setitem(session._visits, name, visit)
    held.add_file("eve-1", UploadedFileRec("a", "a", "text/plain", bytes(4)))
    held.add_file("eve-1", UploadedFileRec("i" * 60_000, "n" * 3_000, "text/plain", b""))
    assert not session.UPLOADS.begin("eve-1", 0) and session.uploaded("eve-1") == (62_704, 62_704)
    held.remove_file("eve-1", "i" * 60_000)
    uploads = session.UPLOADS
    monkeypatch.setattr(uploads, "_coming", {})
    assert uploads.begin("eve-1", 3) and not uploads.begin("eve-2", 4)
    why = uploads.refusal("eve-2")
    assert why is not None and why.code == "limit_uploads_of_one"
    assert uploads.begin("eve-2", 3) and uploads.begin("ann", 10)
    assert uploads.begin("nobody-1", 6) and not uploads.begin("nobody-2", 6)
    why = uploads.refusal("nobody-2")
    assert why is not None and why.code == "limit_uploads"  # without a log-in each session is a visitor


def test_a_million_empty_uploads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes half a kilobyte of the server, and none was counted."""
    held = MemoryUploadedFileManager("/upload")
    monkeypatch.setattr(session.st.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=held))
    for number in range(1_000):
        held.add_file("eve", UploadedFileRec(str(number), "a", "text/plain", b""))
    assert session.uploaded("eve") == (0, 0)
    for number in range(1_000, 1_100):
        held.add_file("eve", UploadedFileRec(str(number), "a", "text/plain", b"x"))
    assert session.uploaded("eve") == (100 + 100 * 512, 100 + 100 * 512)
    monkeypatch.setenv("IDCORE_UPLOADS_VISITOR", "50K")
    monkeypatch.setattr(session.UPLOADS, "_coming", {})
    assert not session.UPLOADS.begin("eve", 1)


def test_an_upload_that_was_copied_leaves_the_memory_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    held = MemoryUploadedFileManager("/upload")
    monkeypatch.setattr(session.st.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=held))
    monkeypatch.setattr(session, "_id", lambda: "ann")
    files = []
    for of, name, size in (("ann", "a", 10), ("ann", "b", 20), ("bob", "c", 40)):
        record = UploadedFileRec(name, name, "text/plain", bytes(size))
        held.add_file(of, record)
        files.append(UploadedFile(record, FileURLs()))
    assert session.uploaded("ann") == (30, 70) and session.uploaded("nobody") == (0, 70)
    session.give_back(files[1:2])
    assert session.uploaded("ann") == (10, 50)


def test_all_visitors_together_have_a_limit_of_lookups_and_nobody_pays_for_a_refusal() -> None:
    limit = RateLimit(10, RateLimit(15, code="too_many_of_all"))
    limit.take("ann", 10, 0.0)
    limit.take("bob", 5, 0.0)
    with pytest.raises(TooManyLookups) as caught:
        limit.take("cat", 3, 0.0)
    assert caught.value.code == "too_many_of_all" and caught.value.values["most"] == 15
    limit.take("cat", 10, 60.0)
    with pytest.raises(TooManyLookups, match="too many look-ups"):
        limit.take("cat", 1, 60.0)


def test_a_clock_that_was_set_back_takes_no_lookups_away() -> None:
    limit = RateLimit(10)
    limit.take("ann", 1, 10_000.0)
    limit.take("ann", 9, 0.0)
