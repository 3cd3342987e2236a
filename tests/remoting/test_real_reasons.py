"""Why a message was not consumed yet, and what became of transactions: each reason from real brokers of both lines."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from idcore.answers.fate.rule import YOUNG_MS
from idcore.answers.lookup import LookupService, Moment, progress
from idcore.answers.lookup.groups import progress_of
from idcore.rocketmq.remoting.cluster import Cluster
from tests.remoting.asking import codes, texts
from tests.remoting.boot import OneBroker
from tests.remoting.test_real_fate import PATIENT, ask, profile_of, said

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]


def test_each_reason_is_why_the_group_did_not_get_it(alone: OneBroker) -> None:
    alone.wait_for("REASONS")
    time.sleep(max(0.0, (int(alone.words("SENT", "judged")[1]) + YOUNG_MS) / 1_000 - time.time()))
    _, verdicts = ask(alone, "judged", "Reasons")
    blocked = ("stuck", "inferred", ["still", "blocker"])
    expected = {
        "choosy": ("filtered_ahead", "inferred", []),
        "disabled": ("disabled", "proved", []),
        "elsewhere": ("not_subscribed", "inferred", []),
        # 4.9 answers offset 0 for a group that has none
        "fresh": blocked if alone.old else ("never_read", "uncertain", ["no_offset_yet"]),
        "lingers": ("retry_queued", "inferred", []),
        "orderly": ("consumed", "inferred", []),
        "refuses": blocked if alone.old else ("handed_out", "inferred", ["unfinished"]),
        "sql": ("filtered", "inferred", []),
        "twins": ("stuck", "inferred", ["still", "shared_client_id", "blocker"]),
    }
    unacked = verdicts.pop("unacked", None)
    found = {}
    for group, verdict in verdicts.items():
        code, certainty, why = said(verdict)  # a client that reconnects has two connections for a moment
        found[group] = code, certainty, [each for each in why if group == "twins" or each != "shared_client_id"]
    assert found == expected
    assert (unacked is None) == alone.old
    if unacked is not None:  # POP gives its copy to a client again and again
        assert said(unacked)[:2] in {("retry_queued", "inferred"), ("taken", "uncertain")}
    assert verdicts["twins"].why[1].values["client"].endswith("@twins")


def test_a_queue_that_nobody_may_read_and_a_group_that_is_only_behind(alone: OneBroker) -> None:
    alone.wait_for("REASONS")
    _, verdicts = ask(alone, "closed", "Closed")
    assert said(verdicts["reads"])[:2] == ("unreadable_queue", "proved")
    _, verdicts = ask(alone, "backlog", "Backlog")
    slow = verdicts["slow"]
    assert (slow.code, slow.why[0].code) == ("behind", "moving")
    assert 0 < slow.values["ahead"] < 1_500 and 0 < slow.why[0].values["rate"] < 50


def test_what_contradicts_itself_is_said_of_each_group(alone: OneBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    alone.wait_for("REASONS")
    monkeypatch.setattr(progress, "LEAST_SECONDS", 1)  # these clients report their offsets ten times as often
    with Cluster(replace(profile_of(alone), limits=replace(PATIENT, reach_clients=True))) as cluster:
        service = LookupService(cluster, lambda: Moment(datetime.now(UTC), UTC))

        def asked(group: str, topic: str = "Reasons", clients: bool = False) -> progress.Progress:
            found = service.ask("", "", partial(progress_of, topic, group, ask_clients=clients)).progress
            assert found is not None and not found.silent
            return found

        until = time.monotonic() + 60
        while (slow := asked("slow", "Backlog")).queues[0].offset is None:  # a new client takes a while to report one
            assert time.monotonic() < until, slow
            time.sleep(0.3)
        known = {group: asked(group) for group in ("disabled", "elsewhere", "twins")}
        known["reads"] = asked("reads", "Closed")
        while not (split := asked("split", "Backlog", clients=True)).queues[0].owners:  # they share them out
            assert time.monotonic() < until, split
            time.sleep(0.3)
        while (moved := progress.pace(slow, later := asked("slow", "Backlog"))) is None or moved.consumed <= 0:
            assert time.monotonic() < until, (slow, later)
            time.sleep(0.3)
    assert {group: [reason.code for reason in found.contradictions()] for group, found in known.items()} == {
        "disabled": ["disabled", "offline"],
        "elsewhere": ["not_subscribed"],
        "twins": ["same_id_host"],
        "reads": ["offline", "unreadable"],
    }
    assert [reason.code for reason in split.contradictions()] == ["tags_disagree", "idle_clients"]
    assert moved.left and 0 < moved.consumed < 50 and later.lag > 0 and not later.contradictions(slow)


@pytest.mark.parametrize(
    ("name", "current", "old"),
    [
        ("committed", set(), set()),
        ("rolled_back", {"half_rolled_back"}, {"half_rolled_back"}),
        ("asked", {"half_given_up"}, {"half_undecided", "half_producers"}),
        ("left_open", {"half_given_up"}, {"half_undecided", "half_no_producer"}),
    ],
)
def test_a_transaction_has_the_end_that_its_producer_chose(
    alone: OneBroker, name: str, current: set[str], old: set[str]
) -> None:
    """The current broker gives up after two checks, the old one never: the clients answer that they do not know."""
    msg_id, _ = alone.words("SENT", name)
    wanted = old if alone.old else current
    service = LookupService(Cluster(profile_of(alone)), lambda: Moment(datetime.now(UTC), UTC))
    with service.cluster:
        for topic in (None, "ReasonsTx"):
            for _ in range(60):
                answer = service.one(msg_id, topic)
                found = {code for code in codes(answer) if code.startswith(("half_", "only_half"))}
                if found == wanted:
                    break
                time.sleep(0.5)  # decisions are noted, and checks counted, after seconds
            assert found == wanted, texts(answer)


def test_a_message_for_later_is_due_recalled_or_there(alone: OneBroker) -> None:
    alone.wait_for("REASONS")
    expected = {"level": {"later_due"}}
    if not alone.old:
        expected |= {"timer": {"later_due"}, "recalled": {"later_recalled"}, "delivered": set()}
    service = LookupService(Cluster(profile_of(alone)), lambda: Moment(datetime.now(UTC), UTC))
    with service.cluster:
        for name, wanted in expected.items():
            answer = service.one(alone.words("SENT", name)[0], "ReasonsLater")
            found = {code for code in codes(answer) if code.startswith("later_")}
            assert answer.found and found == wanted, (name, texts(answer))
