"""`python -m idcore view --namesrv` from the outside: keys, reasons, exit codes, one line of error and no traceback."""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from idcore.cli.view import _user
from idcore.ids import OffsetId
from tests.cli.in_process import command
from tests.cli.test_view import KEYS, RECORD
from tests.remoting.fake import UNIQ, Fake, record
from tests.remoting.fake_groups import HOME, Cluster
from tests.remoting.fake_progress import HOST, PID, Progressing

ROOT = Path(__file__).resolve().parent.parent.parent


def view(*arguments: str, text: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("IDCORE_", "ROCKETMQ_"))}
    done = command("view", *arguments, given=(text or "").encode(), env=plain | environment)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    made = Fake(
        ["Orders", "Notices"], [record("Orders", UNIQ, 0, b"card 1234567812345678", properties={"KEYS": "k1 k2"})]
    )
    with made.server:
        yield made


@pytest.fixture(scope="module")
def names(fake: Fake) -> str:
    return str(fake.server.address)


def test_found_by_either_id_and_by_key_with_every_field(fake: Fake, names: str) -> None:
    address = fake.server.address
    offset_id = str(OffsetId.of(address.ip, address.port, 0))
    words = [sys.executable, "-m", "idcore", "view", "--namesrv", names, UNIQ, offset_id, "k2"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == ""
    for row, text in zip(rows(done), (UNIQ, offset_id, "k2"), strict=True):
        assert set(row) == KEYS
        assert (row["id"], row["found"], row["reason"], row["asked"]) == (text, True, None, [names])
        (copy,) = row["copies"]
        assert set(copy) > RECORD
        assert base64.b64decode(copy["body"]) == b"card 1234567812345678"
        assert (copy["msg_id"], copy["relation"], copy["commit_log_offset"]) == (UNIQ, "message", 0)


def test_who_is_connected_is_said_where_the_profile_permits_it(tmp_path: Path) -> None:
    cluster = Progressing()
    row = {"clientId": f"{HOST}@{PID}#9", "remoteIP": "/192.168.7.7:4", "language": "JAVA", "version": 479}
    cluster.producers = {"orders": [row]}
    clusters = tmp_path / "clusters.toml"
    with cluster.server:
        text = f"name_servers = ['{cluster.server.address}']\n"
        clusters.write_text(f"[clusters.open]\n{text}show_clients = true\n[clusters.shut]\n{text}")
        asked = ["--topic", "Orders", "--who", UNIQ]
        known = view("--cluster", "open", *asked, IDCORE_CLUSTERS=str(clusters))
        lines = view("--namesrv", str(cluster.server.address), *asked, "--format", "table").stdout.splitlines()
        before = len(cluster.server.seen)
        shut = view("--cluster", "shut", *asked, IDCORE_CLUSTERS=str(clusters))
        assert len(cluster.server.seen) == before
    (found,) = rows(known)
    assert set(found) == KEYS | {"who"} and found["who"]["code"] == "connected"
    assert f"  In the cluster now: The producer process is connected: {HOST}@{PID}#9." in lines
    assert any(line.split()[:5] == [f"{HOST}@{PID}#9", "192.168.7.7:4", "JAVA", "5.3.3", "orders"] for line in lines)
    assert shut.returncode == 2 and "show_clients is not set" in shut.stderr
    folder = view("--store", str(tmp_path), "--who", UNIQ)
    assert folder.returncode == 2 and "--who goes with --namesrv and --cluster" in folder.stderr


def test_what_became_of_it_in_each_group_is_said_below_the_record_and_in_the_row() -> None:
    cluster = Cluster(HOME)
    cluster.offsets["Orders@works"], cluster.listed = 11, ["works", "gone"]
    with cluster.server:
        arguments = ["--namesrv", str(cluster.server.address), "--topic", "Orders", "--fate", UNIQ]
        done = view(*arguments)
        lines = view(*arguments, "--format", "table").stdout.splitlines()
    assert done.returncode == 0 and done.stderr == ""
    (row,) = rows(done)
    assert set(row) == KEYS | {"fate"}
    assert [(each["group"], each["verdict"], each["certainty"]) for each in row["fate"]] == [
        ("gone", "never_read", "inferred"),
        ("works", "consumed", "inferred"),
    ]
    keys = {
        "group",
        "record",
        "verdict",
        "verdict_text",
        "certainty",
        "values",
        "why",
        "evidence",
        "asked_at",
        "disproof",
    }
    assert all(set(each) == keys for each in row["fate"]) and row["fate"][0]["why"][0]["code"] == "offline"
    assert any("1 other group consumed it (inferred): works" in line for line in lines)
    assert any(line.split()[0] == "gone" and "No client of the group is connected." in line for line in lines if line)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([UNIQ, "--topic", "Notices"], "wrong_topic"),
        (["nothing", "--topic", "Nowhere"], "topic_unknown"),
        (["nothing"], "not_an_id"),
        (["7F000001000000500000000000000000"], "not_in_topology"),
    ],
)
def test_a_miss_has_its_reason_and_its_evidence(names: str, arguments: list[str], reason: str) -> None:
    done = view("--namesrv", names, *arguments)
    assert done.returncode == 1
    (row,) = rows(done)
    assert set(row) == KEYS
    assert (row["found"], row["copies"], row["reason"]) == (False, [], reason)
    assert all(fact["text"] for facts in row["evidence"].values() for fact in facts)
    if reason == "wrong_topic":
        assert row["evidence"]["found_in_topic"][0]["topic"] == "Orders"


def test_nobody_to_ask_is_status_3_and_wrong_usage_2(names: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gone = f"127.0.0.1:{listener.getsockname()[1]}"
    done = view("--namesrv", gone, UNIQ)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("idcore: no name server") and done.stderr.count("\n") == 1
    for wrong in (
        ["--namesrv", "nonsense", UNIQ],
        ["--namesrv", "", UNIQ],
        ["--namesrv", names, "--store", str(tmp_path), UNIQ],
        ["--namesrv", names, "--from", "2026-01-01", UNIQ],
        ["--namesrv", names, "--access-key", "only", UNIQ],
        ["--namesrv", names, "--tls-ca", str(tmp_path / "none.pem"), UNIQ],
        ["--cluster", "none", UNIQ],
        ["--cluster", "", UNIQ],
        [UNIQ],
    ):
        done = view(*wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong
        assert done.stderr.startswith("idcore: ") and "Traceback" not in done.stderr
    profiles = tmp_path / "clusters.toml"
    for unusable in ("[clusters", f"[clusters.prod]\nname_servers = ['{names}']\ntls = {{ca_file = 'none.pem'}}\n"):
        profiles.write_text(unusable)
        done = view("--cluster", "prod", UNIQ, IDCORE_CLUSTERS=str(profiles))
        assert (done.returncode, done.stdout) == (3, "") and done.stderr.startswith("idcore: "), unusable
        assert done.stderr.count("\n") == 1


def test_a_profile_hides_bodies_masks_them_limits_and_records(names: str, tmp_path: Path) -> None:
    audit, profiles = tmp_path / "audit.jsonl", tmp_path / "clusters.toml"
    text = f"[clusters.prod]\nname_servers = ['{names}']\nlookups_per_minute = 2\n[clusters.prod.bodies]\n"
    environment = {"IDCORE_CLUSTERS": str(profiles), "IDCORE_AUDIT_LOG": str(audit)}
    profiles.write_text(text + "show = false\n")
    (row,) = rows(view("--cluster", "prod", UNIQ, **environment))
    assert (row["copies"][0]["body"], row["copies"][0]["body_text"]) == (None, None)
    assert row["copies"][0]["body_withheld"] == "switched_off"
    assert "1234" not in view("--cluster", "prod", "--format", "table", UNIQ, **environment).stdout
    profiles.write_text(text + "mask = ['[0-9]{16}']\n")
    done = view("--cluster", "prod", UNIQ, **environment)
    assert rows(done)[0]["copies"][0]["body_text"] == "card ••••" and "1234567812345678" not in done.stdout
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(line["id"], line["cluster"], line["result"]) for line in lines] == [(UNIQ, "prod", "found 1")] * 3
    assert "card" not in audit.read_text()
    (tmp_path / "full").mkdir()
    done = view("--cluster", "prod", UNIQ, **(environment | {"IDCORE_AUDIT_LOG": str(tmp_path / "full")}))
    assert (done.returncode, done.stdout) == (3, "") and "audit log" in done.stderr


def test_ids_come_from_standard_input_too(names: str) -> None:
    done = view("--namesrv", names, "-", text=f"{UNIQ}\nSendResult [msgId={UNIQ}, offsetMsgId=null]\nk1\n")
    assert done.returncode == 0
    assert [row["id"] for row in rows(done)] == [UNIQ, UNIQ, "k1"]


def test_a_message_cannot_talk_to_the_terminal(fake: Fake, names: str) -> None:
    group = "%RETRY%\x1b[2Jgroup"
    fake.topics.append(group)
    fake.records.append(record("Notices", "evil", 900, b"x", properties={"note": "\x1b]0;owned\x07"}))
    fake.records.append(record(group, "evil", 1_800, b"x"))
    done = view("--namesrv", names, "--format", "table", "evil", "no\x1b[2Jid")
    del fake.topics[-1:], fake.records[-2:]
    assert "\x1b" not in done.stdout
    assert "\\x1b]0;owned" in done.stdout and "consumer group \\x1b[2Jgroup" in done.stdout


def test_a_user_without_a_name_is_recorded_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")  # a container that runs as any user

    monkeypatch.setattr("getpass.getuser", nameless)
    assert _user() == str(os.getuid())


def test_the_table_is_for_people(names: str) -> None:
    done = view("--namesrv", names, "--format", "table", UNIQ, "nothing")
    assert done.returncode == 1
    for text in (
        f"{UNIQ}: Found\n",
        "(the message)",
        "Physical offset",
        "nothing: Not found (not_an_id)",
        "Next: ",
    ):
        assert text in done.stdout
