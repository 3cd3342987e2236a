"""Which errors of a followed scan the webhook gets, and that it gets each once: also many, also across restarts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from idcore.answers.findings.model import Finding, rest, to_table
from idcore.base.safe_text import json_text
from idcore.runs.runs import FOLLOWED, Run, Runs
from idcore.server import announcements, webhook
from idcore.server.announcements import announce_new_errors
from tests.source_code import ROOT

pytestmark = pytest.mark.quick


class Collected:
    """What would be sent, as its receiver reads it."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.room = 1_000

    def put(self, payload: Mapping[str, Any]) -> bool:
        if len(self.got) >= self.room:
            return False
        self.got.append(json.loads(json_text(payload, default=str)))
        return True

    def taken(self) -> list[str]:
        """The subjects of what came since the last look."""
        subjects = [one["finding"]["subject"] for one in self.got]
        self.got.clear()
        return subjects


def example(event: str) -> dict[str, Any]:
    """What docs/alerts.md shows of an event."""
    lines = (ROOT / "docs" / "alerts.md").read_text(encoding="utf-8").splitlines()
    shown = [json.loads(line) for line in lines if line.startswith("{")]
    return next(one for one in shown if one["event"] == event)


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Collected:
    found = Collected()
    monkeypatch.setattr(webhook, "_announcer", lambda: found)
    return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Runs(tmp_path).create("orders")
    (made.path / FOLLOWED).mkdir()
    (made.path / "findings").mkdir()
    return made


def shared(number: int) -> Finding:
    key = {"layout": "uniq_v4", "host": "10.0.0.7", "pid": number, "loader": 1}
    return Finding.of("shared_fingerprint", f"10.0.0.7 pid {number}", 2, {"process": key, "tracks": 2})


def found(run: Run, *findings: Finding) -> None:
    """A refresh of the followed run has found these."""
    pq.write_table(to_table(findings), run.path / "findings" / "part-00000.parquet")


def test_each_error_is_sent_once_also_by_the_next_server(run: Run, collected: Collected) -> None:
    found(run, shared(1))
    announce_new_errors(run)
    (sent,) = collected.got
    like = example("finding")
    assert sent.keys() == like.keys() and sent["finding"].keys() == like["finding"].keys()
    assert (sent["event"], sent["run"], sent["title"]) == ("finding", run.name, "orders")
    assert sent["finding"]["code"] == "shared_fingerprint" and sent["finding"]["evidence"]["tracks"] == 2
    assert collected.taken() == ["10.0.0.7 pid 1"]
    found(run, shared(1), shared(2))
    announce_new_errors(Run(run.path))
    assert collected.taken() == ["10.0.0.7 pid 2"]
    found(run, shared(2))
    announce_new_errors(run)
    found(run, shared(1), shared(2))
    announce_new_errors(run)
    assert collected.taken() == [], "one that was gone for a while is not new"


def test_warnings_and_rows_that_count_what_is_not_listed_are_no_new_errors(run: Run, collected: Collected) -> None:
    warning = Finding.of("missing_ids", "10.0.0.7 pid 1", 2, {"variant": "gaps", "ids": []})
    for left in (13, 14, 15):
        found(run, warning, shared(1), rest("shared_fingerprint", left, left, "error"))
        announce_new_errors(run)
    assert collected.taken() == ["10.0.0.7 pid 1"]
    assert list(announcements.announceable(run.table("findings").to_pylist())) == ["shared_fingerprint 10.0.0.7 pid 1"]


def test_the_last_refresh_before_a_stop_leaves_no_error_out(run: Run, collected: Collected) -> None:
    found(run, *map(shared, range(200)))
    announce_new_errors(run)
    assert len(collected.taken()) == 200 < webhook.MOST_WAITING


def test_what_there_was_no_room_for_is_sent_with_a_later_refresh(run: Run, collected: Collected) -> None:
    found(run, *map(shared, range(5)))
    collected.room = 3
    announce_new_errors(run)
    assert len(collected.taken()) == 3
    announce_new_errors(run)
    assert len(collected.taken()) == 2


def test_without_a_webhook_nothing_is_read_or_noted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDCORE_WEBHOOK", raising=False)
    webhook._announcer.cache_clear()
    (run.path / "findings").rmdir()
    announce_new_errors(run)
    assert not (run.path / FOLLOWED / announcements.ANNOUNCED).exists()
