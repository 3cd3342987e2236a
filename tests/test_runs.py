"""Folders of runs: names of readers, pins, kinds, several writers at once, runs that are not kept; and their list."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.hostile_inputs import Inputs
from idcore.intake import allowed
from idcore.intake.intake import Dating
from idcore.operations import starting
from idcore.operations.model import Caller, Ground
from idcore.policy import audit
from idcore.policy.access import AccessError, Visitor
from idcore.presentation.triage import run_rows
from idcore.presentation.triage.run_rows import Filter
from idcore.runs import runs as module
from idcore.runs.runs import COMPARE, LONGEST_NAME, STORE, TEXT, Run, RunError, Runs, may_see
from idcore.server import jobs

NOBODY = "0" * 32  # a lease that no process has


def change(run: Run, **facts: Any) -> None:
    path = run.path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


def test_a_name_is_beside_the_made_title_and_an_empty_one_gives_it_back(tmp_path: Path) -> None:
    run = Runs(tmp_path).create("app.log", options={"zone": "UTC"})
    run.rename("  Ticket   4711\n")
    assert (run.title, run.options) == ("app.log", {"zone": "UTC", "named": "Ticket 4711"})
    run.rename("x" * 500)
    assert len(run.options["named"]) == LONGEST_NAME
    run.rename(" ")
    assert run.options["named"] is None and run.title == "app.log"


def test_a_name_and_a_pin_do_not_change_whose_run_it_is(tmp_path: Path) -> None:
    run = Runs(tmp_path).create("app.log")
    run.set_state("running")
    change(run, lease=NOBODY)
    run.rename("mine")
    run.pin(True)
    assert run.facts["lease"] == NOBODY and run.state == "failed" and run.pinned
    run.pin(False)
    assert not run.pinned


WRONG: dict[str, Any] = {
    "title": None,
    "created": "2026-11-21",  # without a zone it has no order
    "state": "gone",
    "options": {"sources": [1]},
    "error": {"values": {}},
    "pid": "1",
    "plan": {"paths": "app.log"},
    "shared": "all",
    "owner": ["ann"],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_run_with_a_wrong_fact_is_none_and_the_others_are_listed(name: str, tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    good, bad = runs.create("good"), runs.create("bad")
    change(bad, **{name: WRONG[name]})
    assert [run.title for run in runs.list()] == ["good"] and run_rows.rows_of([good, bad])[0]["title"] == "good"
    with pytest.raises(RunError) as caught:
        runs.open(bad.name)
    assert caught.value.code == "run_damaged" and runs.damaged() == (bad.name,)


def test_no_change_of_run_json_stops_the_list(tmp_path: Path) -> None:
    """Values of other kinds, cut, deep: with a seed, as `benchmarks/hostile.py` puts them before a browser."""
    runs, inputs = Runs(tmp_path), Inputs(4, "/nowhere/secret", 9)
    run = runs.create("a", options={"zone": "UTC", "sources": ["a.log"]}, plan={"paths": [], "names": {}}, kept=True)
    facts, listed = run.facts, 0
    for _ in range(300):
        (run.path / "run.json").write_bytes(inputs.run(facts).encode("utf-8", "surrogatepass"))
        found = runs.list()
        rows = run_rows.rows_of(found)
        assert len(rows) == len(found) and all(row["created"].tzinfo for row in rows)
        listed += len(found)
    assert 0 < listed < 300


def _rename(path: Path, number: int) -> None:
    Run(path).rename(f"name {number}")


def test_of_many_writers_at_once_none_undoes_another(tmp_path: Path) -> None:
    run = Runs(tmp_path).create("app.log")
    spawn = multiprocessing.get_context("spawn")
    others = [spawn.Process(target=_rename, args=(run.path, number)) for number in range(3)]
    for one in others:
        one.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: run.set_state("running", **{f"fact_{n}": n}), range(60)))
        list(pool.map(run.pin, [True] * 20))
    for one in others:
        one.join()
        assert one.exitcode == 0
    facts = run.facts
    assert [facts[f"fact_{n}"] for n in range(60)] == list(range(60))
    assert facts["pinned"] and facts["options"]["named"].startswith("name ")
    assert [path.name for path in run.path.iterdir()] == ["run.json"], "no spare file is left"


def test_a_run_that_was_deleted_is_not_made_again_by_a_writer(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    run = runs.create("app.log")
    runs.delete(run.name)
    for write in (lambda: run.rename("x"), lambda: run.pin(True), lambda: run.set_state("done")):
        with pytest.raises(RunError):
            write()
    assert not run.path.exists()


def test_the_kind_of_a_run_is_known_for_older_ones_too(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    text, store, pair = runs.create("a"), runs.create("b"), runs.create("c", kind=COMPARE)
    store.set_state("done", plan={"store": "/data/store"})
    assert [run.kind for run in (text, store, pair)] == [TEXT, STORE, COMPARE]
    assert text.kept and not text.pinned


def test_what_is_not_kept_is_swept_once_its_server_has_gone(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    kept, left, mine = runs.create("kept"), runs.create("left", kept=False), runs.create("mine", kept=False)
    for run in (kept, left):
        change(run, lease=NOBODY)
    assert runs.sweep() == 1
    assert {run.name for run in runs.list()} == {kept.name, mine.name} and not mine.kept


# ---- the list


def row(name: str, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": name,
        "options": {},
        "state": "done",
        "summary": None,
        "kind": TEXT,
        "pinned": False,
    }
    return made | more


def paste(ids: int, **options: Any) -> dict[str, Any]:
    return {"options": {"sources": ["pasted.txt"], "ids": ids, **options}}


def test_every_word_of_a_search_is_in_the_title_or_a_file() -> None:
    rows = [row("a"), row("b"), row("c", pinned=True)]
    titles = {"a": "Ticket 4711", "b": "Orders", "c": "other"}
    files = {"a": ["app.log"], "b": ["ticket-4711/app.log"], "c": ["x"]}

    def found(text: str, **more: Any) -> list[str]:
        chosen = run_rows.chosen(
            rows, Filter(text, **more), lambda row: titles[row["name"]], lambda row: files[row["name"]]
        )
        return [one["name"] for one in chosen]

    assert found("4711 TICKET") == ["a", "b"] and found("orders app") == ["b"] and found("4712") == []
    assert found("") == ["c", "a", "b"], "pinned first"
    assert found("", pinned=True) == ["c"]


def test_a_filter_knows_states_and_kinds_and_ignores_what_it_does_not_know() -> None:
    rows = [row("a", state="new"), row("b", state="running", kind=STORE), row("c", state="failed", kind=COMPARE)]
    assert [one["name"] for one in rows if Filter(state="running").fits(one)] == ["a", "b"]
    assert [one["name"] for one in rows if Filter(kind=COMPARE).fits(one)] == ["c"]
    assert all(Filter(state="<b>", kind="?").fits(one) for one in rows) and not Filter(state="<b>").any


def test_small_pastes_are_apart_unless_somebody_wants_them() -> None:
    rows = [
        row("one", **paste(1)),
        row("most", **paste(20)),
        row("more", **paste(21)),
        row("named", **paste(1, named="mine")),
        row("pinned", **paste(1), pinned=True),
        row("live", **paste(1), state="running"),
        row("none", **paste(0)),
        row("file", options={"sources": ["a.log"], "ids": 1}),
        row("folder"),
        row("cut", **paste(20), summary={"ids": 9_000}),
    ]
    listed, small = run_rows.apart(rows)
    assert [one["name"] for one in small] == ["one", "most"] and len(listed) == len(rows) - 2


def test_a_run_that_is_deleted_while_the_list_is_made_is_left_out(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    first, second = runs.create("first"), runs.create("second")
    listed = runs.list()
    runs.delete(first.name)
    assert [one["name"] for one in run_rows.rows_of(listed)] == [second.name]


# ---- what a folder of the server has in it


def test_the_contents_of_a_folder_are_the_same_until_a_file_changes(tmp_path: Path) -> None:
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    (tmp_path / "logs" / "a.log").write_bytes(b"x" * 10)
    (tmp_path / "logs" / "deep" / "b.log").write_bytes(b"y" * 5)
    found = allowed.contents(str(tmp_path / "logs"))
    assert (found.files, found.bytes, found.large) == (2, 15, False)
    assert allowed.contents(str(tmp_path / "logs")) == found
    os.utime(tmp_path / "logs" / "a.log", (1, 1))
    assert allowed.contents(str(tmp_path / "logs")).digest != found.digest
    assert allowed.contents(str(tmp_path / "nothing")).files == 0
    assert allowed.Contents(1, 5_000_000_000, "").large and allowed.Contents(1, 1_000_000_000, "").seconds == 2.0


def test_a_run_that_is_deleted_while_runs_are_listed_breaks_no_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path)
    for title in ("a", "b"):
        change(runs.create(title, kept=False), lease=NOBODY)

    def delete_after(*asked: Any, **more: Any) -> bool:
        for path in tmp_path.glob("2*"):
            with suppress(OSError):
                Run(path).remove()
        return may_see(*asked, **more)

    monkeypatch.setattr(module, "may_see", delete_after)
    assert len(runs.list()) == 1
    assert runs.sweep() == 0 and not runs.list()


@pytest.mark.parametrize("problem", [OSError("full"), PermissionError(), KeyboardInterrupt()])
def test_a_run_whose_work_cannot_begin_is_removed(tmp_path: Path, problem: BaseException) -> None:
    run = Runs(tmp_path).create("a.log")
    with pytest.raises(type(problem)), run.removed_unless_begun():
        raise problem
    assert not run.path.exists() and not Runs(tmp_path).list()


def test_a_scan_that_is_refused_leaves_no_run(tmp_path: Path) -> None:
    run = Runs(tmp_path).create("a.log")
    dating = Dating(UTC, "assumed", datetime(2026, 11, 26, tzinfo=UTC))
    caller = Caller(lambda: Visitor(None), lambda: Visitor(None), audit.CONSOLE, Ground(list, lambda: tmp_path))
    with pytest.raises(AccessError):
        starting.begin(run, starting.Input(["/etc/passwd"]), dating, caller)
    assert not run.path.exists()


def test_names_of_deleted_runs_no_longer_count_for_those_who_began_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "runs_root", lambda: tmp_path)
    kept, gone = (Runs(tmp_path).create(title) for title in "ab")
    for run in (kept, gone):
        jobs.mine("ann", run)
    gone.remove()
    assert jobs.begun_by("ann") == {kept.name} == jobs._begun.pop("ann")


def test_a_run_that_two_consoles_delete_at_once_is_gone_for_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who deleted it was told of an error of the system, and the audit log had no line of it."""
    runs, remove = Runs(tmp_path), shutil.rmtree
    first, second = runs.create("a"), runs.create("b")

    def swept_meanwhile(folder: Path, **_: Any) -> None:
        remove(folder)
        raise FileNotFoundError(folder)

    monkeypatch.setattr(shutil, "rmtree", swept_meanwhile)
    runs.delete(first.name)
    monkeypatch.setattr(runs, "own", lambda name: Run(tmp_path / "another console was first"))
    with pytest.raises(RunError) as problem:
        runs.delete(second.name)
    assert problem.value.code == "no_run"
    assert [run.name for run in runs.list()] == [second.name]


def test_a_run_that_is_deleted_while_it_is_written_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, write = Runs(tmp_path).create("a"), module.write_text

    def deleted_before(path: Path, text: str) -> None:
        shutil.rmtree(path.parent)
        write(path, text)

    monkeypatch.setattr(module, "write_text", deleted_before)
    with pytest.raises(RunError) as problem:
        run.rename("b")
    assert problem.value.code == "no_run" and not run.path.exists()


def test_a_table_is_what_its_columns_are_whatever_its_metadata_say(tmp_path: Path) -> None:
    run = Runs(tmp_path).create("a")
    table = pa.table({"x": ["1"]})
    for held in (b'{"index_columns": [', b'{"index_columns": ["x"], "columns": [], "column_indexes": []}'):
        module.write_tables(run.path, {"hosts": table.replace_schema_metadata({"pandas": held})})
        assert run.table("hosts").to_pandas().to_dict() == {"x": {0: "1"}}
        shutil.rmtree(run.path / "hosts")
