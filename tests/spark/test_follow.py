"""`follow` as a process, and what it refuses. How it goes on after a kill: test_ends.py and test_kafka.py."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as ended
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from idcore.__main__ import main
from idcore.answers.findings import line_locations
from idcore.answers.findings.line_locations import LineFacts
from idcore.answers.findings.model import Finding
from idcore.base.errors import CoreError
from idcore.policy.access import WITHOUT_LOGIN
from idcore.runs.runs import Runs
from idcore.sources.inputs import list_files
from idcore.spark import background, follow
from idcore.spark.job import FollowOptions, ScanOptions
from tests.source_code import ROOT

AT = ["--zone", "UTC", "--at", "2026-03-10T12:00:00Z"]
PATIENCE = 180.0


@contextmanager
def following(folder: Path | str, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`follow` as a process of its own. Nobody reads what it prints, and a pipe would be full one day."""
    command = [sys.executable, "-m", "idcore", "follow", str(folder), "--out", str(out), *AT]
    errors = out.with_name("follow-errors.txt")
    with (
        errors.open("wb") as file,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=file) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def wait(until: Callable[[], bool], process: subprocess.Popen[bytes], out: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            raise AssertionError(f"nothing came: {out.with_name('follow-errors.txt').read_text()}")
        time.sleep(0.1)


def counted(out: Path) -> int:
    """Bytes of text that the tables are of."""
    path = out / "summary.json"
    return int(json.loads(path.read_text())["text_bytes"]) if path.exists() else -1


def test_a_folder_follows_what_it_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert main(["follow", str(tmp_path), "--out", str(out)]) == 2
    assert "nothing was followed into it" in capsys.readouterr().err
    (out / ".follow").mkdir()
    (out / ".follow" / "asked.json").write_text(json.dumps({"paths": ["/elsewhere"]}))
    assert main(["follow", str(tmp_path), "--out", str(out)]) == 3
    assert "follows something else" in capsys.readouterr().err
    assert main(["follow", str(tmp_path), "--out", str(out), "--since", "yesterday"]) == 2
    assert "'yesterday' is not a time" in capsys.readouterr().err


def test_a_folder_is_followed_on_with_another_number_of_ids(tmp_path: Path) -> None:
    """Also one that was begun by a version that noted how many are kept."""

    def check(kept: int) -> None:
        asked = FollowOptions(ScanOptions(zone=UTC), kept=kept)
        follow.Follower([str(tmp_path)], tmp_path, asked)._check_folder(tmp_path)

    check(1_000)
    noted = json.loads((tmp_path / follow.ASKED).read_text())
    (tmp_path / follow.ASKED).write_text(json.dumps(noted | {"kept": 32_000_000}))
    check(2_000)
    (tmp_path / follow.ASKED).write_text(json.dumps(noted | {"case": "upper", "since": "end"}))
    with pytest.raises(CoreError) as refused:
        check(2_000)
    assert refused.value.values["names"] == "case, since"


def test_no_more_are_followed_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked where the work begins: also where one that ended is followed on."""
    monkeypatch.setenv("IDCORE_FOLLOWS", "1")
    monkeypatch.setattr(background, "count_followed", lambda owner=None: 1)
    run = Runs(tmp_path).create("logs")
    with pytest.raises(CoreError) as refused:
        background.follow(run, [str(tmp_path)], FollowOptions(ScanOptions()))
    assert refused.value.code == "limit_follows" and run.state == "new"


def test_one_person_follows_half_of_what_may_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else who begins four keeps everybody from following anything; without a log-in all are one."""
    monkeypatch.setattr(background.Following, "_do", lambda self, *_: self._stop.wait() and {"bytes": 0, "ids": 0})
    begun = []

    def follows(name: str | None) -> bool:
        run = Runs(tmp_path, replace(WITHOUT_LOGIN, name=name)).create("logs")
        try:
            begun.append(background.follow(run, [str(tmp_path)], FollowOptions(ScanOptions())))
        except CoreError as refused:
            return refused.code != "limit_follows"
        return True

    try:
        names = ("ann", "ann", "ann", "bob", "bob", "eve")
        assert [follows(name) for name in names] == [True, True, False, True, True, False]
        for job in begun:
            job.cancel()
            job.wait(10)
        assert all(follows(None) for _ in range(4))
    finally:
        for job in begun:
            job.cancel()
            job.wait(10)


class _AlwaysNew:
    """Facts of which another batch has come at each look."""

    def __init__(self) -> None:
        self._batches = count()

    @property
    def batch(self) -> int:
        return next(self._batches)


@pytest.mark.parametrize("worked", [0.5, 2.0])
def test_a_refresh_is_followed_by_a_pause_as_long_as_it_worked(
    worked: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes two seconds. Where others have the cores it works for less."""
    clock, refreshed = SimpleNamespace(now=0.0, used=0.0), list[float]()

    def refresh(*_: object) -> None:
        refreshed.append(clock.now)
        clock.now, clock.used = clock.now + 2.0, clock.used + worked

    def wait(seconds: float) -> bool:
        clock.now += seconds
        return clock.now > 60

    times = SimpleNamespace(monotonic=lambda: clock.now, thread_time=lambda: clock.used)
    monkeypatch.setattr(follow, "time", times)
    follower = follow.Follower([str(tmp_path)], tmp_path / "out", FollowOptions(ScanOptions()))
    monkeypatch.setattr(follower, "_refresh", refresh)
    follower._state = _AlwaysNew()  # type: ignore[assignment]
    folder: Any = SimpleNamespace(check=bool)
    follower._follow(None, SimpleNamespace(isActive=True), folder, SimpleNamespace(wait=wait))  # type: ignore[arg-type]
    gaps = {round(after - before - 2.0, 1) for before, after in pairwise(refreshed)}
    assert gaps <= {worked, round(worked + follow.POLL_SECONDS, 1)} and len(refreshed) > 10


def test_lines_whose_search_takes_long_are_searched_beside_in_a_tenth_of_the_time_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings of the last search keep their places meanwhile; a refresh would wait for the whole input each time."""
    clock, searches = SimpleNamespace(now=0.0, search=0.0), list[float]()
    monkeypatch.setattr(follow, "time", SimpleNamespace(monotonic=lambda: clock.now))
    search, go_on = line_locations.search, threading.Event()
    go_on.set()

    def searched(*given: Any) -> LineFacts:
        searches.append(clock.now)
        clock.now += clock.search
        assert go_on.wait(60)
        return search(*given)

    monkeypatch.setattr(line_locations, "search", searched)
    ids = [f"0A000001000118B4AAC200000000{counter:04X}" for counter in range(2)]
    log = tmp_path / "app.log"
    log.write_text(f"first {ids[0]}\nthen {ids[1]}\n")
    files = list_files([str(log)])
    one, other = (Finding.of("expired", text, 1, {"ids": [text]}) for text in ids)
    follower = follow.Follower([str(log)], tmp_path / "out", FollowOptions(ScanOptions()))
    looks = follower._searched

    def places(finding: Finding, last: bool = False) -> list[int]:
        (placed,) = follower._placed([finding], files, last)
        return [place["line"] for place in placed.evidence.places]

    assert places(one) == [1] and places(other) == [2] and len(searches) == 2, "quick ones each time"
    clock.search = 2.0
    assert places(other) == [2] and places(one) == [] and len(searches) == 3
    assert places(one, last=True) == [1] and len(searches) == 4
    clock.now += follow.LOOK_RATIO * clock.search - 0.1
    assert places(other) == [] and looks._next is None
    clock.now, clock.search = clock.now + 0.1, follow.QUICK
    go_on.clear()
    assert places(other) == [] and looks._next is not None, "the next search begins, and nobody waits for it"
    assert places(other) == [] and not looks.has_news
    go_on.set()
    ended([looks._next], 60)
    assert looks.has_news and places(other) == [2] and len(searches) == 5 and not looks.has_news
    clock.now += follow.LOOKED - 0.1
    assert places(one) == [] and looks._next is None and len(searches) == 5


def test_a_search_beside_that_fails_fails_the_refresh_that_would_tell_of_it() -> None:
    def fails() -> str:
        raise OSError("gone")

    with ThreadPoolExecutor(1) as beside:
        looks = follow._Looks[str](beside)
        assert looks.said(lambda: "first", False) == "first"
        looks._last = follow._Look("first", -1e9, 1.0)
        assert looks.said(fails, False) == "first" and looks._next is not None
        ended([looks._next], 60)
        with pytest.raises(OSError, match="gone"):
            looks.said(lambda: "never", False)
        assert looks.said(lambda: "last", True) == "last"


@pytest.mark.parametrize(
    ("said", "tries"), [("the query has ended", follow.TRIES), (f"{follow.SLOW}.\n=== Query ===", follow.SLOW_TRIES)]
)
def test_a_slow_machine_is_given_more_time_than_a_fault(
    said: str, tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark waits ten seconds for each Python process that it starts: next to a scan on two cores that is too short."""
    (tmp_path / "logs").mkdir()
    asked: list[int] = []

    def fails(*_: object) -> None:
        asked.append(1)
        raise RuntimeError(said)

    monkeypatch.setattr(follow.Follower, "_run_query", fails)
    monkeypatch.setattr(follow, "PAUSE", 0.0)
    follower = follow.Follower([str(tmp_path / "logs")], tmp_path / "out", FollowOptions(ScanOptions()))
    with pytest.raises(RuntimeError, match=said.split(".")[0]):
        follower.run(threading.Event())
    assert len(asked) == tries + 1
