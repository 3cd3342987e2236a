"""`python -m idcore make` from the outside: the same seed gives the same bytes, and truth.json stands beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from idcore.__main__ import main
from idcore.ids import find, identify
from tests.cli.in_process import command

ROOT = Path(__file__).resolve().parent.parent.parent


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = command("make", *arguments, env=os.environ)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    names = {"a": "7", "b": "7", "c": "8"}
    for name, seed in names.items():
        (tmp_path / name).mkdir()
        done = make("log", "--lines", "400", "--out", str(tmp_path / name / "x.log"), "--seed", seed)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    logs = {name: (tmp_path / name / "x.log").read_bytes() for name in names}
    truths = {name: (tmp_path / name / "truth.json").read_bytes() for name in names}
    assert logs["a"] == logs["b"] != logs["c"]
    assert truths["a"] == truths["b"]
    truth = json.loads(truths["a"])
    assert truth["lines"] == logs["a"].count(b"\n") == 400
    assert truth["bytes"] == len(logs["a"])
    assert (truth["seed"], truth["zone"], truth["start"]) == (7, "+08:00", "2026-11-20T09:50:00+08:00")


def test_start_and_zone_are_the_producers(tmp_path: Path) -> None:
    out = tmp_path / "x.log"
    done = make("log", "--lines", "50", "--out", str(out), "--start", "2024-02-29T23:59:59", "--zone", "-03:30")
    assert done.returncode == 0
    assert out.read_text().startswith("2024-02-29 23:59:59")
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["processes"][0]["first_sent_at"].startswith(("2024-02-29T23:59:59", "2024-03-01T00:00:0"))
    assert truth["processes"][0]["first_sent_at"].endswith("-03:30")


def test_ids_go_to_standard_output_or_to_a_file(tmp_path: Path) -> None:
    printed = make("ids", "--count", "25", "--seed", "3")
    assert printed.returncode == 0
    ids = printed.stdout.splitlines()
    assert len(ids) == len(set(ids)) == 25
    for text in ids:
        reading = identify(text).best
        assert reading is not None
        assert reading.certainty == "certain"
    out = tmp_path / "ids.txt"
    assert make("ids", "--count", "25", "--seed", "3", "--out", str(out)).returncode == 0
    assert out.read_text() == printed.stdout
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert (truth["uniq"], truth["distinct"], truth["offset"]) == (25, 25, 0)
    assert sum(process["ids"] for process in truth["processes"]) == 25


def test_nothing_asked_for_is_nothing_made(tmp_path: Path) -> None:
    out = tmp_path / "x.log"
    assert make("log", "--lines", "0", "--out", str(out)).returncode == 0
    assert out.read_bytes() == b""
    assert list(find(out.read_text())) == []
    assert json.loads((tmp_path / "truth.json").read_text())["processes"] == []


def test_an_incident_is_told_with_what_has_to_be_found(tmp_path: Path) -> None:
    logs = {}
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        out = tmp_path / folder / "x.log"
        done = make("incident", "restart", "--out", str(out), "--seed", "4", "--zone", "-03:30")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        logs[folder] = out.read_bytes()
    assert logs["a"] == logs["b"]
    truth = json.loads((tmp_path / "a" / "truth.json").read_text())
    assert (truth["incident"], truth["zone"], truth["lines"]) == ("restart", "-03:30", logs["a"].count(b"\n"))
    expected = {(row["code"], row["severity"]) for row in truth["expected"]}
    assert expected == {("restart", "info"), ("id_confusion", "info")}  # its consumers print MessageExt
    variant = make("incident", "restart", "--out", str(out), "--variant", "fast")
    assert variant.returncode == 0
    assert json.loads((tmp_path / "b" / "truth.json").read_text())["variant"] == "fast"


def test_a_situation_of_a_store_is_the_same_again_and_told(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        out = tmp_path / name / "store"
        out.parent.mkdir()
        assert main(["make", "store", "--situation", "topic_unread", "--seed", "4", "--out", str(out)]) == 0
        files = {path.relative_to(out): path.read_bytes() for path in out.rglob("*.json*")}
        made.append((files, (out / "commitlog" / ("0" * 20)).read_bytes(), (out.parent / "truth.json").read_bytes()))
    assert made[0] == made[1]
    truth = json.loads(made[0][2])
    assert (truth["situation"], truth["variant"]) == ("topic_unread", "plain")
    assert truth["expected"] == [{"code": "topic_unread", "severity": "warning", "subject": "AuditTrail"}]


def test_before_the_5x_clients_a_log_has_none(tmp_path: Path) -> None:
    for start, clients in (("2019-05-01T12:00:00", 0), ("2021-01-01T00:00:00Z", 1)):
        done = make("log", "--lines", "200", "--out", str(tmp_path / "x.log"), "--start", start)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(json.loads((tmp_path / "truth.json").read_text())["clients"]) == clients


def test_a_store_is_made_in_the_folder_at_hand(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "idcore", "make", "store", "--messages", "3", "--out", "."],
        cwd=tmp_path / "here",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"here", "truth.json"}
    assert (tmp_path / "here" / "broker.conf").exists()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("incident", "earthquake", "--out", "x"), 2),
        (("incident", "restart", "--out", "x", "--variant", "never"), 2),
        (("incident", "restart"), 2),
        (("store", "--situation", "earthquake", "--out", "x"), 2),
        (("store", "--situation", "healthy", "--messages", "5", "--out", "x"), 2),
        (("store", "--out", "x"), 2),
        (("log", "--lines", "5"), 2),
        (("log", "--lines", "-5", "--out", "x"), 2),
        (("ids", "--count", "five"), 2),
        (("ids", "--count", "5", "--zone", "nowhere"), 2),
        (("ids", "--count", "5", "--start", "never"), 2),
        (("ids", "--count", "5", "--start", ""), 2),
        (("log", "--lines", "5", "--out", "no/such/folder/x.log"), 1),
        (("log", "--lines", "5", "--out", "truth.json"), 2),
        (("ids", "--count", "5", "--out", ""), 2),
        (("store", "--messages", "5", "--out", ""), 2),
    ],
)
def test_errors_are_one_line(arguments: tuple[str, ...], status: int) -> None:
    done = make(*arguments)
    assert done.returncode == status
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
