"""What one look-up may come to: verdicts of all its IDs together, facts of one kind; of a cluster and of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from idcore.__main__ import main
from idcore.answers.lookup import Answer, StoreLookup
from idcore.answers.lookup import notes as notes_module
from idcore.answers.lookup.notes import Notes
from idcore.answers.lookup.sentences import evidence_text
from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.cli.make import run_store
from idcore.cli.parser import build_parser
from idcore.doors.calls import problem_of
from idcore.ids import Clock
from idcore.policy import limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.errors import Unreachable
from idcore.rocketmq.store import StoreFolder
from tests.remoting.fake_many import Many
from tests.remoting.test_fate_list import service_of

CLOCK = Clock(datetime(2026, 11, 22, 8, tzinfo=UTC), UTC)
FEW = 6


@pytest.fixture
def cluster() -> Iterator[Many]:
    made = Many(FEW, groups := ["works", "late"])
    made.offsets = {f"Orders@{group}": FEW for group in groups}
    made.end, made.pulled = FEW, FEW
    with made.server:
        yield made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    root = tmp_path_factory.mktemp("verdicts") / "store"
    asked = ["make", "store", "--messages", "40", "--groups", "5", "--seed", "3", "--out", str(root)]
    assert run_store(build_parser().parse_args(asked)) == 0
    truth = json.loads(root.with_name("truth.json").read_text())
    return root, [row["msg_id"] for row in truth["failed"]][:4]


def refused(answers: Iterator[Answer]) -> CoreError:
    with pytest.raises(CoreError) as caught:
        list(answers)
    return caught.value


def test_the_ids_of_a_cluster_have_so_many_verdicts_together(cluster: Many, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 5,000 groups and 50 IDs one call held 250,000 verdicts: 360 MB, and half a minute."""
    monkeypatch.setenv("IDCORE_VERDICTS", str(2 * FEW))
    with closing(service_of(cluster)) as service:
        answers = list(service.look_up(cluster.ids, "Orders", fate=True))
        assert sum(len(answer.fate or ()) for answer in answers) == 2 * FEW
        monkeypatch.setenv("IDCORE_VERDICTS", str(2 * FEW - 1))
        problem = refused(service.look_up(cluster.ids, "Orders", fate=True))
        assert len(list(service.look_up(cluster.ids, "Orders"))) == FEW
        assert len(list(service.judge(cluster.ids, "Orders", "", lambda: False))) == FEW, (
            "a list has a limit of its own"
        )
    assert problem.code == "limit_verdicts" and "IDCORE_VERDICTS" in str(problem) and f"{2 * FEW - 1}" in str(problem)


def test_the_ids_of_a_folder_have_so_many_verdicts_together(
    store: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, ids = store
    with StoreFolder(root) as folder:
        every = [len(each.fate or ()) for each in StoreLookup(folder, CLOCK).look_up(ids, fate=True)]
        assert min(every) > 1
        monkeypatch.setenv("IDCORE_VERDICTS", str(sum(every)))
        assert len(list(StoreLookup(folder, CLOCK).look_up(ids, fate=True))) == len(ids)
        monkeypatch.setenv("IDCORE_VERDICTS", str(sum(every) - 1))
        answers = StoreLookup(folder, CLOCK).look_up(ids, fate=True)
        assert [next(answers).id for _ in ids[1:]] == ids[:-1], "what is within the limit is answered"
        assert refused(answers).code == "limit_verdicts"
    assert main(["view", "--store", str(root), "--fate", "--format", "json", *ids]) == 1
    assert "IDCORE_VERDICTS" in capsys.readouterr().err


def test_a_large_cluster_is_within_the_limit() -> None:
    """A thousand groups and one ID, ten groups and a thousand IDs, a thousand groups and the 50 IDs of a call."""
    assert max(1_000, 10 * 1_000, 1_000 * 50) <= limits.figure("verdicts") < 5_000 * 50


def test_facts_beyond_the_most_of_a_kind_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were dropped, and nobody could see that there were more."""
    monkeypatch.setattr(notes_module, "_MOST_OF_A_KIND", 3)
    notes = Notes(cast(Cluster, SimpleNamespace()))
    for number in range(5):
        notes.add("groups_incomplete", broker=f"b{number}")
        notes.fail(Unreachable.at(f"b{number}", CoreError("not_in_cluster", {"broker": f"b{number}"})))
    kinds = [item.code for item in notes.evidence]
    assert kinds.count("groups_incomplete") == 3 and kinds.count("no_answer") == 3 == len(notes.failed)
    left = [item for item in notes.evidence if item.code == "facts_left_out"]
    assert [dict(item.values) for item in left] == [
        {"kind": kind, "count": 2, "limit": 3} for kind in ("groups_incomplete", "no_answer")
    ]
    assert "2 more" in evidence_text(left[0]) and "2" in evidence_text(left[0], catalogue.words("zh"))


def test_a_program_is_not_told_to_come_back() -> None:
    assert problem_of(limits.limit_error("verdicts", 5), catalogue.words()).status == 422
