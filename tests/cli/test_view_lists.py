"""`python -m idcore view` without an id: lists of messages from a store folder and from a cluster, in every form."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.lookup import store_lists
from idcore.answers.lookup.listing import never
from idcore.answers.lookup.ways import COLUMNS, Listing, Stop, Way
from idcore.base.catalogue import words
from idcore.cli import lists
from idcore.ids.clock import from_ms
from idcore.presentation.reader import Reader
from idcore.rocketmq.message import Record
from idcore.rocketmq.store.commitlog import CommitLog, Stored
from idcore.rocketmq.store.folder import StoreFolder
from idcore.simulate.append import Settings
from idcore.simulate.writer import StoreWriter
from tests.cli.test_view import Done, view
from tests.remoting.fake_queues import Queues
from tests.store.test_damage import record as of_store
from tests.store.unpacked import real_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def records(store: Path) -> list[Record]:
    """Every record of the real store, by one walk of its log."""
    return [found.record for found in CommitLog(store / "commitlog").walk() if isinstance(found, Stored)]


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    made = Queues({"Orders": 2, "%DLQ%g": 1})
    for number in range(12):
        made.put("Orders", number % 2, number, KEYS="=1+1", TAGS="\x1b[2J")
        made.put("%DLQ%g", 0, number, f"{number:032X}", RETRY_TOPIC="Orders")
    with made.server:
        yield str(made.server.address)


def rows(done: Done) -> list[dict[str, Any]]:
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def at(milliseconds: int) -> str:
    return from_ms(milliseconds).isoformat(timespec="milliseconds")


def test_a_store_lists_what_a_walk_of_its_log_finds(store: Path, records: list[Record]) -> None:
    """Queues, halving and merging against every record, filtered and sorted."""
    topics = sorted({each.topic for each in records} - {"RMQ_SYS_TRANS_HALF_TOPIC"})
    assert len(topics) > 3
    for topic in topics:
        mine = sorted((each for each in records if each.topic == topic), key=lambda each: each.store_timestamp)
        ends = mine[len(mine) // 3].store_timestamp, mine[2 * len(mine) // 3].store_timestamp
        done = view(
            "--store", str(store), "--topic", topic, "--from", at(ends[0]), "--to", at(ends[1]), "--format", "jsonl"
        )
        wanted = [each for each in mine if ends[0] <= each.store_timestamp <= ends[1]][:1_000]
        listed = rows(done)
        assert done.returncode == 0 and [row["stored_at"] for row in listed] == [
            at(each.store_timestamp) for each in wanted
        ]
        if len(wanted) < 1_000:
            assert {row["commit_log_offset"] for row in listed} == {each.physical_offset for each in wanted}
        one = wanted[-1]
        (found,) = rows(view("--store", str(store), "--topic", topic, "--queue", f"{one.queue_id}:{one.queue_offset}"))
        assert [copy["offset_msg_id"] for copy in found["copies"]] == [str(one.offset_id)]


def test_a_key_of_a_store_has_all_its_messages_the_newest_first(store: Path, records: list[Record]) -> None:
    key = "order-10017"
    wanted = sorted(
        (each for each in records if key in each.properties.get("KEYS", "").split(" ")),
        key=lambda each: (each.store_timestamp, each.physical_offset),
        reverse=True,
    )
    (row,) = rows(view("--store", str(store), "--key", key))
    assert wanted and [copy["commit_log_offset"] for copy in row["copies"]] == [one.physical_offset for one in wanted]
    assert (row["found"], row["cut"], row["queues"], row["way"]) == (True, None, [], {"kind": "key", "key": key})
    (row,) = rows(view("--store", str(store), "--key", key, "--to", "2020-01-01"))
    assert (row["found"], row["reason"]) == (False, "none_in_range")


def test_every_form_has_the_same_messages(names: str) -> None:
    asked = ["--namesrv", names, "--topic", "Orders", "--from", "2026-01-01", "--limit", "5"]
    (whole,) = rows(view(*asked))
    lines = view(*asked, "--format", "jsonl")
    table = list(csv.DictReader(io.StringIO(view(*asked, "--format", "csv").stdout)))
    assert tuple(table[0]) == COLUMNS
    ids = [copy["offset_msg_id"] for copy in whole["copies"]]
    assert ids == [row["offset_msg_id"] for row in rows(lines)] == [row["offset_msg_id"] for row in table]
    assert len(ids) == 5 and (whole["cut"], whole["left"]) == ("limit", 7)
    assert sum(queue["left"] for queue in whole["queues"]) == 7 and whole["copies"][0]["body_text"] == "body"
    assert table[0]["keys"] == "'=1+1", "no spreadsheet runs it"
    said = "idcore: The limit of 5 messages was reached. Not read: 7 queue offsets."
    assert said in lines.stderr.splitlines() and lines.returncode == 0
    people = view(*asked, "--format", "table")
    assert people.stdout.startswith("Listed 5 messages out of 12 queue offsets: topic Orders, stored from 2026-01-01")
    assert all(text in people.stdout for text in (*ids, "a:0:0", "\\x1b[2J", said.removeprefix("idcore: ")))
    assert "\x1b" not in people.stdout and people.stderr == ""


def test_dead_letters_of_a_cluster_are_exported(names: str) -> None:
    done = view("--namesrv", names, "--dead-letters", "g", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["msg_id"] for row in table] == [f"{number:032X}" for number in range(11, -1, -1)]
    assert {(row["group"], row["home_topic"]) for row in table} == {("g", "Orders")} and done.stderr == ""
    none = view("--namesrv", names, "--dead-letters", "nobody", "--format", "table")
    assert none.returncode == 1 and "the group has no dead letter topic" in none.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--queue", "0:1"],
        ["--topic", "T", "--queue", "x"],
        ["--topic", "T", "--queue", "a:0:1"],
        ["--key", "k", "--dead-letters", "g"],
        ["--key", ""],
        ["--key", "k", "--limit", "0"],
        ["--key", "k", "--fate"],
        ["--key", "k", "--journey"],
        ["--topic", "T", "--from", "2026-11-22", "--to", "2026-11-21"],
        ["--topic", "T", "--from", "soon"],
        ["--key", "k", "AC110001473C7D4991AD336AEA5703E0"],
        ["--limit", "5", "AC110001473C7D4991AD336AEA5703E0"],
        ["--format", "csv", "AC110001473C7D4991AD336AEA5703E0"],
        ["--topic", "T", "--format", "jsonl"],
    ],
)
def test_wrong_usage_is_one_line_and_status_2(store: Path, arguments: list[str]) -> None:
    done = view("--store", str(store), *arguments)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("idcore: ")
    assert done.stderr.count("\n") == 1


def test_a_commit_log_alone_is_listed_record_by_record(store: Path, records: list[Record]) -> None:
    """The same lists as of the whole folder, but for the queues and what they count."""
    topic = max(records, key=lambda each: (each.queue_offset, each.topic)).topic
    mine = sorted((each for each in records if each.topic == topic), key=lambda each: each.store_timestamp)
    begin, end = (at(mine[len(mine) * part // 3].store_timestamp) for part in (1, 2))
    dead = next(each.topic for each in records if each.topic.startswith("%DLQ%"))
    msg_id = next(each.uniq_id for each in records if each.uniq_id is not None)
    for arguments in (
        ["--topic", topic, "--from", begin, "--to", end],
        ["--topic", topic, "--from", begin, "--limit", "7"],
        ["--topic", topic, "--queue", f"{mine[0].queue_id}:{mine[0].queue_offset}", "--limit", "3"],
        ["--dead-letters", dead.removeprefix("%DLQ%"), "--limit", "2"],
        ["--key", str(msg_id)],
    ):
        (whole,), (alone,) = (rows(view("--store", str(folder), *arguments)) for folder in (store, store / "commitlog"))
        names = [copy["offset_msg_id"] for copy in whole["copies"]]
        assert names and [copy["offset_msg_id"] for copy in alone["copies"]] == names, arguments
        assert alone["cut"] == whole["cut"]
        assert any(name.startswith("list_log_no_") for name in alone["evidence"])
    for arguments, reason in (
        (["--topic", "Nowhere", "--to", "2031-01-01"], "none_in_log"),
        (["--topic", topic, "--from", "2031-01-01"], "none_in_range"),
        (["--topic", topic, "--queue", f"{mine[0].queue_id}:99999"], "behind_end"),
        (["--key", "nobody"], "key_unknown"),
    ):
        (row,) = rows(view("--store", str(store / "commitlog"), *arguments))
        assert (row["found"], row["reason"]) == (False, reason), arguments


def listed(folder: Path, stop: Stop = never, **given: str) -> Listing:
    way = Way.of(given, UTC)
    assert way is not None
    with StoreFolder(folder) as opened:
        return store_lists.find(way, opened, lambda done, total, name: None, stop)


def test_a_list_by_key_is_cancelled_and_says_what_it_has_read(store: Path, records: list[Record]) -> None:
    key = next(str(each.uniq_id) for each in records if each.uniq_id is not None)
    told: list[tuple[int, int]] = []
    way = Way.of({"key": key}, UTC)
    assert way is not None
    with StoreFolder(store) as opened:
        store_lists.find(way, opened, lambda done, total, name: told.append((done, total)), never)
    assert len(told) > 3 and told[0][0] == 0
    stopped = listed(store, lambda: True, key=key)
    assert (stopped.copies, stopped.cut, stopped.reason) == ((), "stopped", "stopped")
    answers = iter((False,) * 5)
    half = listed(store / "commitlog", lambda: next(answers, True), topic="VectorTopic", to="2031-01-01")
    assert half.cut == "stopped" and len(half.copies) <= 5


def test_a_damaged_index_is_made_up_for_by_the_log_or_gives_no_claim(
    store: Path, records: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(store, tmp_path / "store"))
    key = next(str(each.uniq_id) for each in records if each.uniq_id is not None)
    whole = {copy.record.physical_offset for copy in listed(store, key=key).copies}
    first = min((folder / "index").iterdir())
    first.write_bytes(bytes(first.stat().st_size))
    found = listed(folder, key=key)
    assert {copy.record.physical_offset for copy in found.copies} == whole and found.cut is None
    assert [item.code for item in found.evidence] == ["list_log_no_index"]
    assert listed(folder, key="nobody").reason == "key_unknown"
    monkeypatch.setattr(store_lists, "WALKED_MOST", 1)
    bounded = listed(folder, key="nobody")
    assert (bounded.reason, bounded.cut) == ("index_damaged", "failed")
    assert [item.code for item in bounded.evidence] == ["list_index_incomplete", "list_index_searched"]
    assert 0 <= bounded.evidence[1].values["begin"] < bounded.evidence[1].values["end"]
    for each in (folder / "index").iterdir():
        each.unlink()
    assert [item.code for item in listed(folder, key="nobody").evidence] == ["list_index_incomplete", "list_index_none"]
    alone = listed(folder / "commitlog", topic="VectorTopic", to="2031-01-01")
    assert (alone.reason, alone.evidence[0].code) == ("store_no_queues", "list_log_too_large")


def test_an_entry_that_leads_to_damage_is_said(store: Path, records: list[Record], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(store, tmp_path / "store"))
    gone = next(each for each in records if each.uniq_id is not None)
    log = min((folder / "commitlog").iterdir())
    raw = bytearray(log.read_bytes())
    raw[gone.physical_offset + 4 : gone.physical_offset + 8] = b"lost"
    log.write_bytes(raw)
    found = listed(folder, key=str(gone.uniq_id))
    assert gone.physical_offset not in {copy.record.physical_offset for copy in found.copies}
    assert found.cut == "failed" and found.evidence[0].values == {"count": 1, "offset": gone.physical_offset}
    walked = listed(folder / "commitlog", topic=gone.topic, to="2031-01-01", limit="9999")
    assert walked.cut == "failed" and "list_log_damaged" in {item.code for item in walked.evidence}


def test_a_damaged_stretch_hides_no_message_that_can_be_read(tmp_path: Path) -> None:
    start = 1_795_000_000_000
    with StoreWriter(tmp_path / "s", Settings(commit_log_file=8_192)) as writer:
        puts = [writer.put(of_store(number), start + 10_000 * number).records[0] for number in range(100)]
    log = {file.name: bytearray(file.read_bytes()) for file in (tmp_path / "s" / "commitlog").iterdir()}
    for put in puts[45:62]:
        name = max(name for name in log if int(name) <= put.physical_offset)
        begin = put.physical_offset - int(name)
        log[name][begin : begin + put.size] = b"U" * put.size
        (tmp_path / "s" / "commitlog" / name).write_bytes(log[name])

    def found(begin: int, end: int) -> tuple[list[int], int]:
        start_text, end_text = at(start + 10_000 * begin), at(start + 10_000 * end)
        listing = listed(tmp_path / "s", never, **{"topic": "T", "from": start_text, "to": end_text})
        return [copy.record.queue_offset for copy in listing.copies], sum(queue.unreadable for queue in listing.queues)

    assert found(-9, 200) == ([*range(45), *range(62, 100)], 17)
    assert found(10, 30) == ([*range(10, 31)], 0) and found(70, 80) == ([*range(70, 81)], 0)
    assert found(40, 50) == ([*range(40, 45)], 17) and found(50, 65) == ([*range(62, 66)], 17)
    assert found(50, 55) == ([], 17), "and no claim that there is none"
    gone = min(log)
    (tmp_path / "s" / "commitlog" / gone).unlink()
    first = next(put.queue_offset for put in puts if put.physical_offset >= int(sorted(log)[1]))
    assert found(-9, 20) == ([*range(first, 21)], 0), "what was deleted with its file is not damaged"


def test_a_terminal_obeys_no_message_in_any_form(tmp_path: Path) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    text = "\x1b[2J\x9b\u202e\U000e0041=1"
    with StoreWriter(tmp_path / "s") as writer:
        writer.put(
            replace(of_store(1), properties_bytes=f"UNIQ_KEY\x01I\x02KEYS\x01{text}\x02".encode()), 1_795_000_000_000
        )
    listing = listed(tmp_path / "s", never, topic="T", to="2031-01-01")
    for form in ("csv", "json", "jsonl"):
        screen, file = Screen(), io.StringIO()
        for out in (screen, file):
            lists.show(listing, form, Reader(words(), UTC), out)
        assert all(char.isprintable() or char == "\n" for char in screen.getvalue())
        if form == "csv":
            assert text in file.getvalue() and "\\x1b[2J\\x9b\\u202e\\U000e0041=1" in screen.getvalue()
        else:
            assert json.loads(screen.getvalue()) == json.loads(file.getvalue())


def test_ids_from_standard_input_keep_their_time_range(store: Path) -> None:
    done = view(
        "--store",
        str(store),
        "--topic",
        "VectorTopic",
        "--from",
        "2026-01-01",
        "-",
        text="CB0071156B7B4E0E2F2A691B8D0B0000\n",
    )
    assert [row["id"] for row in rows(done)] == ["CB0071156B7B4E0E2F2A691B8D0B0000"]
