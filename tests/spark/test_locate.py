"""The index of lines as Spark makes it: of a run, after its scan, and when that is not possible."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from idcore.base.errors import CoreError
from idcore.operations import scans
from idcore.operations.model import Caller, Ground
from idcore.policy.access import WITHOUT_LOGIN
from idcore.policy.audit import Actor
from idcore.runs.runs import Run, Runs
from idcore.scan.occurrences.index import Filter, Index
from idcore.server import jobs
from idcore.spark import background, locate, scan_queue, session
from idcore.spark.health import SparkError
from idcore.spark.job import ScanOptions
from tests.scan import logs

AT = datetime(2026, 3, 10, 12, tzinfo=UTC)


def scanned(root: Path, paths: list[Path], store: str | None = None, case: str = "strict") -> Run:
    run = Runs(root).create("x")
    options = ScanOptions(UTC, "given", AT, case=case, store=store)
    background.start(run, [str(path) for path in paths], options, {str(path): path.name for path in paths}).wait()
    assert run.state == "done", run.error
    return run


def index_of(run: Run) -> Index:
    index = Index.open(run.path / locate.FOLDER)
    assert index is not None
    return index


@pytest.mark.usefixtures("spark")
def test_a_run_of_many_files_has_the_lines_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "TASK", 100_000)
    texts = {f"{name}.log": logs.mixed(seed, 900).data for seed, name in enumerate("abc", 3)}
    (tmp_path / "in").mkdir()
    paths = []
    for name, text in texts.items():
        paths.append(tmp_path / "in" / name)
        paths[-1].write_bytes(text)
    packed = tmp_path / "in" / "d.log.gz"
    packed.write_bytes(gzip.compress(texts["a.log"]))
    texts["d.log.gz"] = texts["a.log"]
    run = scanned(tmp_path / "runs", [*paths, packed])
    going = background.locating(run)
    assert going.wait(120) and going.problem is None
    index = index_of(run)
    folder = (run.path / locate.FOLDER).stat().st_ino
    assert background.locating(run).wait(120)  # as by a second visitor, who has looked just before it was there
    assert (run.path / locate.FOLDER).stat().st_ino == folder, "it is read meanwhile"
    assert len(index.parts) > 4
    assert index.rows == (run.summary or {})["ids"]
    for one in index.page(index.select(Filter()).rows):
        text = texts[one.file]
        assert text[one.byte :].startswith(one.id.encode())
        assert one.line == text.count(b"\n", 0, one.byte) + 1
    assert not [path for path in run.path.iterdir() if path.name.startswith(f".{locate.FOLDER}")]


@pytest.mark.usefixtures("spark")
def test_a_large_input_is_indexed_right_after_its_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_queue, "LARGE", 1)
    path = tmp_path / "a.log"
    path.write_bytes(logs.mixed(3).data)
    run = scanned(tmp_path / "runs", [path])
    assert background.locating(run).wait(120)
    assert index_of(run).rows == (run.summary or {})["ids"]


@pytest.mark.usefixtures("spark")
def test_a_store_has_a_line_for_each_record(tmp_path: Path) -> None:
    from idcore.__main__ import main

    assert main(["make", "store", "--messages", "200", "--out", str(tmp_path / "store")]) == 0
    run = scanned(tmp_path / "runs", [], store=str(tmp_path / "store"))
    locate.locate(run)
    index = index_of(run)
    assert index.rows == (run.summary or {})["ids"] > 0
    found = index.page(index.select(Filter()).rows)
    assert all(one.text[one.at :].startswith(one.id) for one in found)


@pytest.mark.usefixtures("spark")
def test_an_index_that_another_made_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(logs.mixed(3, 90).data)
    run = scanned(tmp_path / "runs", [path])
    assert background.locating(run).wait(60)
    made, kept = run.path / locate.FOLDER, tmp_path / "kept"
    made.rename(kept)
    number, whole = (kept / "index.json").stat().st_ino, locate._pieces

    def slow(*args: Any) -> Any:
        pieces = whole(*args)
        kept.rename(made)
        return pieces

    monkeypatch.setattr(locate, "_pieces", slow)
    locate.locate(run)
    assert (made / "index.json").stat().st_ino == number, "somebody may be reading it"
    assert [one.name for one in run.path.iterdir() if one.name.startswith(f".{locate.FOLDER}-")] == []


@pytest.mark.usefixtures("spark")
def test_the_index_of_a_scan_that_goes_on_is_as_old_as_what_it_was_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "ready", lambda: True)
    path = tmp_path / "a.log"
    path.write_bytes(logs.mixed(3, 90).data)
    run = scanned(tmp_path / "runs", [path])
    written = run.path / "summary.json"

    def goes_on(size: int, at: int) -> None:
        inputs = {"inputs": [[str(path), 0, size]]}
        written.write_text(json.dumps((run.summary or {}) | {"follow": inputs}))
        os.utime(written, (at, at))

    assert run.lines_behind == 0, "there is no index"
    run.set_state("running", plan=run.planned | {"follow": {"since": "beginning", "kept": 9}})
    goes_on(2_000, 2_000_000_000)
    locate.locate(run)
    few = index_of(run).rows
    assert run.lines_behind == 0 and not locate.is_old(run)
    goes_on(path.stat().st_size, 2_000_000_000 + int(locate.FRESH))
    assert not locate.is_old(run), "it is good enough"
    goes_on(path.stat().st_size, 2_000_000_000 + 100)
    seen = index_of(run)
    locate.locate(run)
    assert len(seen.page(seen.select(Filter()).rows)) == few, "who reads it now has the files of before"
    assert len({part.name for part in (*seen.parts, *index_of(run).parts)}) == 2
    goes_on(path.stat().st_size, 2_000_000_000 + 100 + int(locate.FRESH))
    run.set_state("done")
    assert locate.is_old(run) and run.lines_behind == locate.FRESH
    ground = Ground(lambda: [str(tmp_path)], lambda: tmp_path / "runs")
    caller = Caller(lambda: WITHOUT_LOGIN, lambda: WITHOUT_LOGIN, Actor("ann", "s"), ground)
    assert scans.lines_index(run, caller).rows > few, "programs get what came last"
    assert run.lines_behind == 0 and index_of(run).rows > few
    (part,) = index_of(run).parts
    assert {one.name.partition(".")[0] for one in (run.path / locate.FOLDER).iterdir()} == {"index", part.name}


@pytest.mark.usefixtures("spark")
def test_ids_in_lower_case_are_indexed_where_the_scan_took_them(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(logs.uniq(0x0A000001, 2, logs.JAVA, logs.NOON, 1).lower().encode() + b"\n")
    run = scanned(tmp_path / "runs", [path], case="any")
    locate.locate(run)
    assert [one.id.islower() for one in index_of(run).page(index_of(run).select(Filter()).rows)] == [True]


def test_what_is_too_large_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "MOST_INDEXED", 10)
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * 11)
    run = Runs(tmp_path / "runs").create("x")
    plan = dict.fromkeys(("names", "zone", "zone_source", "at", "split_size", "store"))
    run.set_state("done", plan={**plan, "paths": [str(path)], "case": "strict"})
    with pytest.raises(CoreError) as caught:
        locate.locate(run)
    assert caught.value.code == "lines_many"
    with pytest.raises(CoreError) as none:
        locate.locate(Runs(tmp_path / "runs").create("y"))
    assert none.value.code == "scan_no_plan"


def test_the_plan_of_a_scan_names_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.log").write_text(logs.uniq(0x0A000001, 2, logs.JAVA, logs.NOON, 1))
    run, asked = Runs(tmp_path / "runs").create("x"), list[tuple[str | None, str | None]]()

    def get(master: str | None, remote: str | None) -> None:
        asked.append((master, remote))
        raise SparkError("spark_ended")

    monkeypatch.setattr(session, "_holder", SimpleNamespace(get=get, wanted=True))
    plan = {"paths": [str(tmp_path / "a.log")], "case": "strict", "split_size": 1 << 20, "zone_source": "assumed"}
    plan |= dict.fromkeys(("names", "zone", "at", "store"))
    named = {"master": "spark://127.0.0.1:9", "remote": "sc://127.0.0.1:9"}  # by who may write in a shared folder
    run.set_state("failed", plan=plan | named)
    assert background.again(run).wait(60).state == "failed"
    monkeypatch.setattr(locate, "tables_for", lambda _: {})
    with pytest.raises(SparkError):
        locate.locate(run)
    assert asked == [("", ""), ("", "")]


def test_a_search_that_failed_is_not_begun_again_by_itself(tmp_path: Path) -> None:
    run = Runs(tmp_path / "runs").create("y")  # without a plan
    first = background.locating(run)
    assert first.wait(30) and first.problem is not None and first.problem.code == "scan_no_plan"
    assert background.locating(run) is first
    second = background.locating(run, again=True)
    assert second is not first and second.wait(30)


def test_the_index_of_a_scan_that_goes_on_is_made_again_after_three_times_as_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, clock = Runs(tmp_path).create("x"), SimpleNamespace(now=50.0)

    def slow(*_: object) -> None:
        clock.now += 7

    monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(background, "locate", slow)
    run.set_state("running")
    first = background.locating(run)
    assert first.wait(30)
    clock.now += background.REST_RATIO * 7 - 1
    assert background.locating(run) is first
    clock.now += 1
    second = background.locating(run)
    assert second is not first and second.wait(30)
    run.set_state("done")
    assert background.locating(run) is not second, "it has ended: nothing waits any more"
