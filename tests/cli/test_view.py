"""`python -m idcore view --store` from the outside: keys, reasons, exit codes, one line of error and no traceback."""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from idcore.__main__ import main
from idcore.base.catalogue import words
from idcore.cli.view import _from_input
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import messages
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.message.row import record_row
from tests.store.unpacked import real_store

pytestmark = pytest.mark.quick

HOST = Host(bytes((10, 0, 0, 1)), 10911)
ROOT = Path(__file__).resolve().parent.parent.parent
KEYS = {"id", "found", "copies", "reason", "evidence", "asked", "said", "certainty", "disproof"}
RECORD = {
    "topic",
    "queue_id",
    "queue_offset",
    "commit_log_offset",
    "store_size",
    "sys_flag",
    "flag",
    "born_timestamp",
    "born_host",
    "store_timestamp",
    "store_host",
    "body_crc",
    "body_crc_ok",
    "reconsume_times",
    "prepared_transaction_offset",
    "properties",
    "properties_raw",
    "tags_code",
    "msg_id",
    "offset_msg_id",
    "body",
    "body_text",
    "batch",
}


@dataclass
class Done:
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


def view(*arguments: str, text: str | None = None) -> Done:
    """In this process: a new one takes seconds on a busy machine."""
    out, err, kept = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO((text or "").encode()))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = main(["view", *arguments])
    finally:
        sys.stdin = kept
    return Done(status, out.getvalue(), err.getvalue())


def rows(done: Done) -> list[dict[str, Any]]:
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("real"))


def test_a_record_has_every_field_of_the_contract(store: Path) -> None:
    done = view("--store", str(store), "CB0071156B7B4E0E2F2A691B8D0B0000", "7F000001000055970000000000000000")
    assert done.returncode == 0
    first, second = rows(done)
    for row in (first, second):
        assert set(row) == KEYS
        assert (row["found"], row["reason"], row["asked"]) == (True, None, [str(store)])
        (copy,) = row["copies"]
        assert set(copy) >= RECORD
    assert first["copies"] == second["copies"]
    copy = first["copies"][0]
    assert base64.b64decode(copy["body"]) == b"plain message 0 of prodA xxxxxxxx"
    assert copy["body_text"] == "plain message 0 of prodA xxxxxxxx"
    assert (copy["born_host"], copy["store_host"]) == ("127.0.0.1:47444", "127.0.0.1:21911")
    assert copy["properties"]["UNIQ_KEY"] == copy["msg_id"] == first["id"]
    assert ["UNIQ_KEY", first["id"]] in copy["properties_raw"]
    assert (copy["body_crc_ok"], copy["batch"], copy["tags_code"]) == (True, False, 0)
    assert first["evidence"]["topics_asked"] == 21


@pytest.mark.parametrize("zone", [[], ["--zone", "+08:00"]], ids=["assumed", "given"])
def test_a_miss_gives_the_time_that_decode_gives(
    store: Path, zone: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    reading = ["AC110001473C7D4991AD336AEA5703E0", "--at", "2026-11-21T08:00:00Z", *zone]
    (missed,) = rows(view("--store", str(store), *reading))
    assert main(["decode", *reading]) == 0
    decoded = json.loads(capsys.readouterr().out)
    for name in ("sent_at", "sent_at_earliest", "sent_at_latest", "zone_source"):
        assert missed["evidence"].get(name) == decoded[name]


def test_the_times_of_a_miss_are_in_the_zone_of_the_ids(store: Path) -> None:
    reading = ["--at", "2026-11-21T08:00:00Z", "--zone", "+08:00"]
    (row,) = rows(view("--store", str(store), "AC110001473C7D4991AD336AEA5703E0", *reading))
    times = [row["evidence"][name] for name in ("sent_at", "first_store_time", "last_store_time")]
    assert all(text.endswith("+08:00") for text in times), times
    asked = ["order-10017", "--from", "2026-11-22T00:00:00Z", *reading]
    (row,) = rows(view("--store", str(store), *asked))
    assert (row["evidence"]["begin"], row["evidence"]["end"]) == ("2026-11-22T08:00:00.000+08:00", "…")
    assert all(text.startswith("2026-11-2") and text.endswith("+08:00") for text in row["evidence"]["stored"])
    said = view("--store", str(store), *asked, "--format", "table").stdout
    assert "none was stored between 2026-11-22T08:00:00.000+08:00 and" in said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["7F0000010000559700000000000000F7"], "mid_record"),
        (["7F0000010000559700000000000FFECD"], "blank"),
        (["7F00000100005597000000000015F1DF"], "beyond_end"),
        (["0A0000010000559700000000000000F7"], "mid_record"),
        (["CB0071156B7B4E0E2F2A691B8D0B0000", "--topic", "Orders"], "wrong_topic"),
        (["CB0071156B7B4E0E2F2A691B8D0B0000", "--topic", "Nowhere"], "topic_unknown"),
        (["CB0071156B7B4E0E2F2A691B8D0B0000", "--to", "2026-11-20T00:00:00Z"], "window"),
        (["order-10017", "--from", "2026-11-22T00:00:00Z"], "window"),
        (["not-a-key"], "not_an_id"),
        (["ORDER-10017"], "not_an_id"),
        (["AC110001473C7D4991AD336AEA5703E0", "--at", "2026-11-21T08:00:00Z", "--zone", "UTC"], "expired"),
        (["CB0071156B7B4E0E2F2A691B8D0BFFFF", "--at", "2026-11-21T08:00:00Z", "--zone", "+08:00"], "unknown"),
    ],
)
def test_every_miss_has_its_reason_and_its_evidence(store: Path, arguments: list[str], reason: str) -> None:
    done = view("--store", str(store), *arguments)
    assert done.returncode == 1
    (row,) = rows(done)
    assert set(row) == KEYS
    assert (row["found"], row["copies"], row["reason"]) == (False, [], reason)
    assert row["evidence"]
    if reason == "wrong_topic":
        assert row["evidence"]["found_under"] == ["VectorTopic"]
    if arguments[0].startswith("0A000001"):
        assert row["evidence"]["address"] == {"in_id": "10.0.0.1:21911", "in_store": "127.0.0.1:21911"}


def test_a_differing_address_is_said_not_judged(store: Path) -> None:
    done = view("--store", str(store), "0A000001000055970000000000000000")
    assert done.returncode == 0
    (row,) = rows(done)
    assert row["found"]
    assert row["evidence"]["address"] == {"in_id": "10.0.0.1:21911", "in_record": "127.0.0.1:21911"}


def test_an_index_that_is_lost_is_said_and_the_record_found(store: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(store, tmp_path / "copy"))
    shutil.rmtree(copy / "index")
    done = view("--store", str(copy), "CB0071156B7B4E0E2F2A691B8D0B0000", "order-10017")
    assert done.returncode == 0
    first, second = rows(done)
    assert (first["found"], first["reason"]) == (True, "index_lost")
    assert [copy["commit_log_offset"] for copy in first["copies"]] == [0]
    assert (second["reason"], len(second["copies"]) >= 3) == ("index_lost", True)
    shutil.rmtree(copy / "consumequeue")
    shutil.rmtree(copy / "config")
    (row,) = rows(view("--store", str(copy), "CB0071156B7B4E0E2F2A691B8D0B0000"))
    assert (row["found"], row["reason"]) == (True, "index_lost")


def test_all_copies_of_a_retried_message_are_shown(store: Path) -> None:
    (row,) = rows(view("--store", str(store), "CB0071156B7B4E0E2F2A691BA5A307BD"))
    topics = [copy["topic"] for copy in row["copies"]]
    assert topics.count("VectorTopic") == 2
    assert "SCHEDULE_TOPIC_XXXX" in topics
    assert any(topic.startswith("%RETRY%") for topic in topics)
    offsets = [copy["commit_log_offset"] for copy in row["copies"]]
    assert offsets == sorted(set(offsets))
    times = {copy["reconsume_times"] for copy in row["copies"]}
    assert {0, 1, 2} <= times
    relations = {(copy["relation"], copy["relation_text"]) for copy in row["copies"]}
    assert {relation for relation, _ in relations} >= {"message", "retry_waiting", "retry"}
    assert any(text.startswith("retry copy for consumer group ") for _, text in relations)


def test_a_given_subscription_says_what_a_store_folder_does_not_show(store: Path) -> None:
    """It holds for its group only. The message has the tag TagB, and three records; one is not passed yet."""
    asked = ("--store", str(store), "order-10017", "--fate", "--subscription")
    excluded, kept = {"filtered", "filtered_ahead"}, {"consumed", "behind"}
    for given, said in (("TagA||TagC", excluded), (" TagB ||x", kept), ("*", kept)):
        (row,) = rows(view(*asked, f"retry_group:VectorTopic={given}"))
        found = {(each["group"], each["verdict"], each["why"][0]["code"]) for each in row["fate"]}
        own = {verdict: why for group, verdict, why in found if group == "retry_group"}
        assert own.keys() == said and {why for verdict, why in own.items() if verdict != "behind"} == {
            "subscription_given"
        }
        assert {why for group, _, why in found if group != "retry_group"} == {"copied_connection_unknown"}


@pytest.mark.parametrize("given", [["g:t"], ["g:t= || "], ["g=t:a"], ["g:t=a", "g:t=b"]])
def test_a_subscription_names_one_group_one_topic_and_tags(store: Path, given: list[str]) -> None:
    for place in (["--store", str(store)], ["--namesrv", "127.0.0.1:1"]):
        done = view(*place, "x", *(word for each in given for word in ("--subscription", each)))
        assert done.returncode == 2 and "--subscription" in done.stderr
    assert "goes with --store" in view("--namesrv", "127.0.0.1:1", "x", "--subscription", "g:t=a").stderr


def test_a_store_folder_gives_the_journey_of_a_message(store: Path) -> None:
    retried = "CB0071156B7B4E0E2F2A691BA5A307BD"
    asked = ("--store", str(store), retried, "--at", "2026-11-22T08:00:00Z")  # the age of the state depends on it
    (row,) = rows(view(*asked, "--journey"))
    made = row.pop("journey")
    assert row == rows(view(*asked, "--fate", "--trace"))[0], "nothing else changes"
    assert [event["code"] for event in made["events"]][:2] == ["generated", "born"]
    stored = [event for event in made["events"] if event["code"] == "stored"]
    assert sorted(event["evidence"] for event in stored) == sorted(copy["offset_msg_id"] for copy in row["copies"])
    groups = {verdict["group"] for verdict in row["fate"]}
    assert made["found"] == {"lines": None, "records": len(row["copies"]), "groups": len(groups), "trace": 0}
    assert {event["who"] for event in made["events"] if event["code"] == "judged"} == groups
    assert [gap["code"] for gap in made["gaps"]] == ["silence"]
    table = view("--store", str(store), retried, "--journey", "--format", "table").stdout
    assert "  Journey. Sources: log lines not searched" in table
    assert f"\n  {len(made['events'])}  2026-" in table
    assert made["events"][-1]["text"] in table and made["gaps"][-1]["text"] in table


def test_ids_come_from_standard_input_too(store: Path) -> None:
    text = (
        "CB0071156B7B4E0E2F2A691B8D0B0000\nmy-own-unique-key\n\n"
        "SendResult [msgId=CB0071156B7B4E0E2F2A691B8D7D0001, offsetMsgId=7F0000010000559700000000000000F6]\n"
    )
    for arguments in (["-"], []):
        done = view("--store", str(store), *arguments, text=text)
        assert done.returncode == 0, done.stderr
        found = rows(done)
        assert [row["copies"][0]["commit_log_offset"] for row in found] == [0, 592_323, 246, 246]
    joined = "CB0071156B7B4E0E2F2A691B8D0B0000,CB0071156B7B4E0E2F2A691B8D7D0001"
    assert len(rows(view("--store", str(store), joined))) == 2
    assert [row["id"] for row in rows(view("--store", str(store), "a,b"))] == ["a,b"]


def test_a_line_without_an_end_is_read_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcore.cli.view._LONGEST_LINE", 100_000)
    ids = [f"CB0071156B7B4E0E2F2A691B8D{number:06X}" for number in range(5_000)]
    text = io.BytesIO(" ".join(f"msgId={each},{'x' * (number % 7)}" for number, each in enumerate(ids)).encode())
    found = _from_input(text)
    assert next(found) == ids[0] and text.tell() < 170_000 < len(text.getvalue())
    assert [ids[0], *found] == ids
    assert list(_from_input(io.BytesIO(b"x" * 300_000 + b"\nmy-key\n"))) == ["my-key"]


def test_the_table_is_for_people(store: Path) -> None:
    done = view("--store", str(store), "--format", "table", "CB0071156B7B4E0E2F2A691B8D0B0000", "nothing")
    assert done.returncode == 1
    assert "CB0071156B7B4E0E2F2A691B8D0B0000: Found\n" in done.stdout
    assert "2026-11-21 01:50:13.316 +00:00" in done.stdout
    assert "nothing: Not found (not_an_id)\n  'nothing' is not an ID" in done.stdout
    assert f"  Next: {words()('lookup.advice.not_an_id')}" in done.stdout
    assert "?" not in done.stdout


@pytest.mark.parametrize("text", ["", " ", "\x00", "é" * 500, "-1", "%s%n", "../../etc/passwd", "'", "F" * 32])
def test_odd_texts_are_looked_up_as_they_stand(store: Path, text: str) -> None:
    done = (
        view("--store", str(store), "--format", "json", "-", text=text + "\n")
        if "\x00" in text
        else view("--store", str(store), "--format", "json", "--", text)
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
    for row in rows(done):
        assert row["found"] is False
        assert row["reason"]


def test_nothing_to_ask_is_status_3_and_wrong_usage_2(store: Path, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        done = view("--store", str(folder), "x")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("idcore: ")
        assert done.stderr.count("\n") == 1
    lost = view("x")
    assert lost.returncode == 2 and "--cluster is needed" in lost.stderr and "decode" in lost.stderr
    assert view("--store", str(store), "--from", "yesterday", "x").returncode == 2
    assert view("--store", str(store), "--from", "", "x").returncode == 2
    assert view("--store", "", "x").returncode == 2
    assert view("--store", str(store), "--format", "xml", "x").returncode == 2


def test_as_a_process_of_its_own(store: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "idcore", "view", "--store", str(store), "CB0071156B7B4E0E2F2A691B8D0B0000", "x"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert [json.loads(line)["found"] for line in done.stdout.splitlines()] == [True, False]
    assert done.stderr == ""


def test_a_terminal_is_sent_nothing_that_it_would_obey(store: Path) -> None:
    done = view("--store", str(store), "--format", "table", "--topic", "\x1b[2J", "\x1b]0;x\x07")
    assert done.returncode == 1
    assert "\\x1b]0;x\\x07: Not found" in done.stdout and "topic \\x1b[2J" in done.stdout
    assert not {"\x1b", "\x07"} & set(done.stdout)


def test_an_offset_id_that_an_application_used_as_its_own_shows_both(store: Path) -> None:
    (row,) = rows(view("--store", str(store), "7F0000010000555D0000000000000000"))
    keyed = [copy["commit_log_offset"] for copy in row["copies"] if copy["msg_id"] == row["id"]]
    assert row["evidence"]["as_key_of"] == keyed
    assert 592_560 in keyed
    assert row["evidence"]["address"] == {"in_id": "127.0.0.1:21853", "in_record": "127.0.0.1:21911"}
    assert row["copies"][-1]["commit_log_offset"] == 0


def test_a_long_body_is_cut_and_says_how_it_is_written_and_how_long_it_is() -> None:
    made = Record.of("T", bytes(900), "", queue_id=0, born_timestamp=1, born_host=HOST, store_host=HOST)
    *_, last = messages.record(record_row(made), Reader(words(), UTC))
    assert last == "  Body as hex, 900 B          " + "00" * 150 + "…"
