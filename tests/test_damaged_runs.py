"""No field of a run's files is trusted: whatever one of them holds, that run alone is damaged, and the lists work."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from idcore.base import catalogue
from idcore.base.plain_json import MOST_VALUES
from idcore.policy.access import Visitor
from idcore.presentation.html import runs as html
from idcore.presentation.reader import Reader
from idcore.presentation.triage import run_rows, run_texts
from idcore.runs import lease, retention, room
from idcore.runs.run_facts import is_summary
from idcore.runs.runs import COMPARE, FATES, TEXT, Run, RunError, Runs
from idcore.scan.occurrences.index import Index

WRONG: list[Any] = [None, 5, -1, float("inf"), float("nan"), 10**30, 10**4_000, "x", "", "\0", [], {}, True, [1]]
WRONG += ["\ud800 half", "x" * 200_000, {"x": 1}, [[]], [None, None], {"code": "x"}]
WRONG += ["0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59-12:00", "2026-13-40"]
DEEP = "[" * 900 + "]" * 900
NOW = datetime(2026, 11, 25, tzinfo=UTC)
OUTCOMES = dict.fromkeys(("judged", "no_verdict", "no_group", "no_record", "not_found", "not_asked"), 1)
SUMMARY = {
    "files": 1,
    "text_bytes": 9,
    "ids": 3,
    "refused": 0,
    "failed_files": 1,
    "seconds": 1.5,
    "processes": 1,
    "assumed": {"zone": "UTC", "zone_source": "given", "at": "2026-11-20T00:00:00+00:00", "case": "strict"},
    "zone_sources": {"born": 1},
    "versions": {"idcore": "0.1.0"},
    "evidence": [{"code": "store_snapshot", "values": {}}],
}
FIGURES = {"only_first": 1, "only_second": 2, "text_bytes": 9, "problems": [["a.log", {"code": "said", "values": {}}]]}
OF_LIST: dict[str, Any] = {
    "ids": 2,
    "seconds": 1.0,
    "doubles": 0,
    "repeated": 0,
    "cut": {},
    "problem": None,
    **OUTCOMES,
}
OF_LIST |= {"snapshot": NOW.isoformat(), "snapshot_end": NOW.isoformat(), "cluster": "default", "records": 1}
ERROR = {"code": "limit_free_disk", "values": {"most": 5, "there": {"code": "said", "values": {"why": "x"}}}}


def write(path: Path, held: Any) -> None:
    """Lone halves of letters, infinities and numbers of thousands of digits are written as a hand may write them."""
    path.write_text(json.dumps(held), encoding="utf-8")


def made(root: Path) -> list[Run]:
    """One run of each kind, with every field that the console writes, and one that failed."""
    runs = Runs(root)
    options: dict[str, Any] = {"zone": "UTC", "zone_source": "given", "at": NOW.isoformat(), "case": "strict"}
    options |= {"sources": ["pasted.txt"], "same": [["a", "b"]], "ids": 3, "lines": 1, "only": None, "named": None}
    plan: dict[str, Any] = {
        "paths": ["/a.log"],
        "names": {"/a.log": "a.log"},
        "zone": "UTC",
        "zone_source": "given",
        "store": None,
    }
    plan |= {"at": NOW.isoformat(), "split_size": 1, "case": "strict", "subscriptions": ""}
    facts: dict[str, Any] = {"plan": plan, "kept": True, "pinned": False, "kind": "text", "started": "x"}
    scan = runs.create("a.log", "console", options, **facts)
    of = {"sides": [["a.log"], ["b.log"]], "of": [None, None], "copied": [1, 1], "digest": "x"}
    pair = runs.create("a / b", "console", options | of, kind=COMPARE)
    asked = runs.create("2 IDs", "console", {"asked_ids": 2, "cluster": "default", "topic": None}, kind=FATES)
    for run, summary in ((scan, SUMMARY), (pair, FIGURES), (asked, OF_LIST)):
        write(run.path / "summary.json", summary)
        run.set_state("done")
    failed = runs.create("failed", "console", options, **facts)
    failed._write({"state": "failed", "error": copy.deepcopy(ERROR)})
    return [scan, pair, asked, failed]


def places(held: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field of an object, the nested ones too."""
    items = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    for name, value in items:
        yield (*path, name)
        yield from places(value, (*path, name))


def changed(held: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(held)
    inner = made
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return made


def every_page_lists(runs: Runs) -> list[str]:
    """What each page does with all runs; the names of those that it shows."""
    reader, found = Reader(catalogue.words("zh"), UTC), runs.list()
    rows = run_rows.rows_of(found)
    retention.sweep(runs, NOW, timedelta(0))
    assert room.sizes(runs.root) and run_texts.labels(rows, reader).keys() == {row["name"] for row in rows}
    assert run_texts.runs_sentence(rows, reader.words)
    for row in run_rows.apart(run_rows.chosen(rows, run_rows.Filter("a"), lambda row: row["title"], lambda _: []))[0]:
        assert run_rows.before_deletion(row)
    for row in rows:
        problem = reader.words.said(row["error"] or "")
        shown = html.about(row, problem, retention.ends_soon(row, NOW, runs.root), reader)
        str(shown).encode()  # as it is sent to the browser
        assert row["shared"] in ("private", "link", "everybody")
    return [row["name"] for row in rows]


@pytest.mark.long(first=1)
@pytest.mark.parametrize("kind", range(4), ids=["text", "compare", "fates", "failed"])
def test_whatever_a_field_holds_that_run_alone_is_damaged(
    tmp_path: Path, kind: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_KEPT_DAYS", "30")
    runs, tried, damaged = Runs(tmp_path), 0, 0
    run = made(tmp_path / "aside")[kind].path.rename(tmp_path / "20261120-000000-a1b2c3")
    other = runs.create("a.log")
    assert every_page_lists(runs) == [run.name, other.name] or every_page_lists(runs) == [other.name, run.name]
    for file in filter(Path.exists, (run / "run.json", run / "summary.json")):
        whole = json.loads(file.read_text())
        for path in places(whole):
            for value in WRONG:
                write(file, changed(whole, path, value))
                shown, bad = every_page_lists(runs), runs.damaged()
                assert sorted([*shown, *bad]) == sorted([run.name, other.name]) and other.name in shown, (path, value)
                tried, damaged = tried + 1, damaged + len(bad)
        write(file, whole)
    assert tried > 500 and tried // 2 < damaged < tried


MANY = '{"x": [' + "[]," * (MOST_VALUES // 2) + "[]]}"  # 4 MB, for which Python would need 80


@pytest.mark.parametrize("file", ["run.json", "summary.json"])
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "5", "null", '{"x": ' + DEEP + "}", DEEP, "\0" * 9, "\ufeff{}", '"\\ud800"', MANY],
    ids=lambda text: text[:12],
)
def test_a_file_that_is_no_object_damages_its_run_alone(tmp_path: Path, file: str, text: str) -> None:
    run, *others = made(tmp_path)
    (run.path / file).write_text(text, encoding="utf-8")
    assert Runs(tmp_path).damaged() == (run.name,)
    assert set(every_page_lists(Runs(tmp_path))) == {other.name for other in others}
    with pytest.raises(RunError) as caught:
        Runs(tmp_path).open(run.name)
    assert caught.value.code == "run_damaged" and run.name in caught.value.problem


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [_pipe, _folder, _endless])
@pytest.mark.parametrize("file", ["run.json", "summary.json"])
def test_what_is_no_regular_file_is_not_read(tmp_path: Path, make: Callable[[Path], None], file: str) -> None:
    run, *others = made(tmp_path)
    (run.path / file).unlink()
    make(run.path / file)
    assert Runs(tmp_path).damaged() == (run.name,)
    assert set(every_page_lists(Runs(tmp_path))) == {other.name for other in others}


def test_its_owner_or_an_admin_deletes_a_damaged_run_and_nobody_else_hears_of_it(tmp_path: Path) -> None:
    ann, bob = (Visitor(name, frozenset({"viewer"})) for name in ("ann", "bob"))
    admin = Visitor("root", frozenset({"admin"}))
    own, nobodys = Runs(tmp_path, ann).create("a"), Runs(tmp_path, bob).create("b")
    write(own.path / "run.json", json.loads((own.path / "run.json").read_text()) | {"lease": 5})
    (nobodys.path / "run.json").write_text("{")
    assert Runs(tmp_path, ann).damaged() == (own.name,) and Runs(tmp_path, bob).damaged() == ()
    assert Runs(tmp_path, admin).damaged() == tuple(sorted([own.name, nobodys.name]))
    for runs, name in ((Runs(tmp_path, bob), own.name), (Runs(tmp_path, bob), nobodys.name)):
        with pytest.raises(RunError) as caught:
            runs.open(name)
        assert caught.value.code == "no_run_here"
        with pytest.raises(RunError):
            runs.delete_damaged(name)
    whole = Runs(tmp_path, ann).create("whole")
    for name in (whole.name, "..", f"../{tmp_path.name}"):
        with pytest.raises(RunError):
            Runs(tmp_path, ann).delete_damaged(name)
    Runs(tmp_path, ann).delete_damaged(own.name)
    Runs(tmp_path, admin).delete_damaged(nobodys.name)
    assert not own.path.exists() and not nobodys.path.exists() and whole.path.exists()


@pytest.mark.parametrize(
    "text", ["", "5", "[]", DEEP, '{"beats": [], "machine": {}}', '{"beats": null, "machine": 5}', "\0"]
)
def test_a_lease_that_says_nonsense_is_watched_like_any_other(tmp_path: Path, text: str) -> None:
    name = "ab" * 16
    (tmp_path / lease.FOLDER).mkdir()
    (tmp_path / lease.FOLDER / name).write_text(text)
    assert isinstance(lease.is_held(tmp_path, name), bool)
    (tmp_path / lease.FOLDER / ("cd" * 16)).mkdir()
    assert not lease.is_held(tmp_path, "cd" * 16)
    write((run := made(tmp_path)[0]).path / "run.json", run.facts | {"state": "running", "lease": name})
    assert len(every_page_lists(Runs(tmp_path))) == 4


@pytest.mark.parametrize("text", ["", "5", "[]", DEEP, '{"x": []}', '{"x": 1e400}', '{"x": 1e300}', '{"x": "y"}', "\0"])
def test_what_is_warned_of_and_cannot_be_read_is_warned_of_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / retention.SEEN).write_text(text)
    made(tmp_path)
    assert retention._warned(tmp_path) == {} and len(every_page_lists(Runs(tmp_path))) == 4


INDEX = {"version": 1, "parts": [["000000-0", 5]]}


@pytest.mark.parametrize("path", [(), *places(INDEX)])
def test_an_index_of_lines_that_says_nonsense_is_none(tmp_path: Path, path: tuple[Any, ...]) -> None:
    from idcore.scan.occurrences.index import NAME, VERSION

    whole = INDEX | {"version": VERSION}
    for value in [*WRONG, "../../x", -5, 1.5]:
        write(tmp_path / NAME, changed(whole, path, value) if path else value)
        found = Index.open(tmp_path)
        assert found is None or all(part.rows >= 0 and "/" not in part.name for part in found.parts)
    (tmp_path / NAME).write_text(DEEP)
    assert Index.open(tmp_path) is None
    shutil.rmtree(tmp_path)


def test_a_day_of_a_summary_that_is_none_damages_that_run(tmp_path: Path) -> None:
    """Pages say with it what another clock shows."""
    summary = made(tmp_path)[0].summary
    assert summary is not None and is_summary(summary, TEXT)
    assert not is_summary(summary | {"assumed": {**(summary.get("assumed") or {}), "at": "x"}}, TEXT)
