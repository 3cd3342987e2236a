"""The command line's JSON has the items that programs get: the same question asked of a command and of the API."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idcore.ids.describe import KEYS
from idcore.operations.table import TABLE
from idcore.presentation.triage import lines as files
from idcore.rocketmq.message.properties import UNIQ_KEY
from idcore.rocketmq.store.commitlog import CommitLog, Stored
from idcore.runs.runs import Runs
from pages.parts.triage.lines import assumed_of
from tests.cli.in_process import command
from tests.doors.conftest import ID, Door
from tests.pages.test_certainty import UNDATED
from tests.pages.test_lines import index_of, indexed
from tests.store.unpacked import real_store

ZONE = ("--zone", "+08:00", "--at", "2026-03-20T00:00:00+08:00")
CLOCK = {"zone": ZONE[1], "at": ZONE[3]}
LINES = f"2026-03-02 10:00:00,000 INFO sent msgId={ID}\nmsgId=ac110001473c7d4991ad336aea5703e0\nAC110001\n"


def told(*words: str, given: str = "") -> list[dict[str, Any]]:
    """What a command prints with --format json."""
    done = command(
        *words, "--format", "json", given=given.encode(), env={"TZ": "UTC", "IDCORE_SPARK_MASTER": "local[2]"}
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_every_command_that_the_table_names_is_tried() -> None:
    tried = {"decode", "compare", "scan", "view", "view --journey", "view --dead-letters"}
    assert {one.command for one in TABLE.values()} - {""} == tried


def test_decode(door: Door) -> None:
    answered = door.call("decode", text=LINES, **CLOCK)["items"]
    assert told("decode", "-", *ZONE, given=LINES) == answered
    assert {row["certainty"] for row in answered} >= {"certain"} and all(row["disproof"] for row in answered)


def test_compare(door: Door, tmp_path: Path) -> None:
    for name, text in (("before", LINES), ("after", LINES.replace("03E0", "03E1"))):
        (door.open / name).write_text(text)
    paths = [str(door.open / name) for name in ("before", "after")]
    answered = door.call("compare", first_path=paths[0], second_path=paths[1])["items"]
    assert told("compare", *paths) == answered and answered[0]["missing"] == 1
    assert answered[0].keys() == {key.name for key in TABLE["compare"].fields}


def test_compare_with_a_side_that_cannot_be_read_is_not_certain(tmp_path: Path) -> None:
    (tmp_path / "before").write_text(LINES)
    (tmp_path / "after.gz").write_bytes(b"\x1f\x8b\x08\x00broken")
    items = told("compare", str(tmp_path / "before"), str(tmp_path / "after.gz"))
    assert {item["certainty"] for item in items} == {"possible"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_scan(lang: str, door_of: Callable[..., Door], door: Door, tmp_path: Path) -> None:
    """The tables of the command, opened as a scan of the console."""
    log = tmp_path / "incident.log"
    command("make", "incident", "restart", "--seed", "7", "--out", str(log), env={"TZ": "UTC"})
    run = Runs(door.folder / "runs").create("incident")
    (row,) = told("scan", str(log), "--out", str(tmp_path / "out"), "--lang", lang, *ZONE)
    for each in (tmp_path / "out").iterdir():
        each.rename(run.path / each.name)
    run.set_state("done")
    answered = door.call("findings", run=run.name, lang=lang)["items"]
    assert row["finding_list"] == answered and len(answered) >= 1
    assert [item["finding"] for item in answered] == list(range(len(answered)))
    assert answered[0].keys() == {key.name for key in TABLE["findings"].fields}


@pytest.fixture
def store(door: Door) -> Path:
    return real_store(door.open)


def some_ids(store: Path) -> list[str]:
    walked = CommitLog(store / "commitlog").walk()
    found = [one.record for one in walked if isinstance(one, Stored)]
    return [found[3].properties[UNIQ_KEY], str(found[5].offset_id), "F" * 32]


def test_view_and_journey(door: Door, store: Path) -> None:
    ids = some_ids(store)
    answered = door.call("view", ids=ids, store=str(store), verdicts=True, **CLOCK)["items"]
    assert told("view", *ids, "--store", str(store), "--fate", *ZONE) == as_json(answered)
    assert [row["certainty"] for row in answered] == ["certain", "certain", "likely"]
    (of_command,) = told("view", ids[0], "--store", str(store), "--journey", *ZONE)
    (journey,) = door.call("journey", id=ids[0], store=str(store), **CLOCK)["items"]
    (answer,) = journey.pop("answers")
    assert of_command.pop("journey") == journey
    assert of_command == answer
    optional = {"fate", "trace"}
    assert answered[0].keys() | optional == {key.name for key in TABLE["view"].fields} == answer.keys() | optional
    assert {*journey, "answers"} == {key.name for key in TABLE["journey"].fields}


def test_dead_letters(door: Door, store: Path) -> None:
    groups = [path.name.removeprefix("%DLQ%") for path in (store / "consumequeue").iterdir() if "%DLQ%" in path.name]
    for group in [*groups, "nobody"]:
        answered = door.call("dead_letters", group=group, store=str(store), most=1000, **CLOCK)
        (row,) = told("view", "--store", str(store), "--dead-letters", group, *ZONE)
        assert row == {
            name: value for name, value in answered.items() if name not in ("items", "next", "remaining")
        } | {"copies": answered["items"]}
        assert answered.keys() - {"items", "next", "remaining"} == {key.name for key in TABLE["dead_letters"].head}
    assert groups, "the real store has dead letters"


def test_every_key_of_an_answer_says_what_it_is() -> None:
    unsaid = [(name, key.name) for name, one in TABLE.items() for key in (*one.fields, *one.head) if not key.meaning]
    assert not unsaid


def test_a_reading_has_the_keys_of_describe_in_their_order() -> None:
    assert [key.name for key in TABLE["decode"].fields] == [*KEYS, "disproof"]


def test_lines_mark_what_is_assumed_of_their_times_as_the_download_of_the_page_does(door: Door, tmp_path: Path) -> None:
    run = indexed(tmp_path, UNDATED)
    items = door.call("finding_lines", run=run.name)["items"]
    assert [item["assumed"] for item in items] == ["month"] * 9
    index = index_of(run)
    page = files.as_json(index, np.arange(index.rows), lambda _: None, partial(assumed_of, run)).decode().splitlines()
    sure = {"certainty", "disproof"}
    assert [{name: item[name] for name in item if name not in sure} for item in items] == list(map(json.loads, page))
