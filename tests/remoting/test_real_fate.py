"""What became of messages, said about real brokers (5.3.3 and 4.9.7) while real consumers do each thing once."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from idcore.answers.fate import Verdict, row_of
from idcore.answers.fate.levels import UNDELIVERED
from idcore.answers.fate.rule import YOUNG_MS
from idcore.answers.fate_list.batched_lookups import IdList
from idcore.answers.fate_list.batched_lookups import ask as ask_list
from idcore.answers.lookup import Answer, LookupService, Moment, Terms, open_source
from idcore.answers.lookup.clients import version_text
from idcore.answers.lookup.groups import groups_of, progress_of
from idcore.answers.lookup.progress import in_memory, state_of
from idcore.answers.lookup.topic_brokers import Pace
from idcore.rocketmq.remoting.address import Endpoint
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.counters import HandedTo, StoredIn, Sums
from idcore.rocketmq.remoting.profile import Profile, name_servers
from idcore.rocketmq.remoting.requests import Request, RuntimeInfo
from idcore.spark.passes import Passes
from tests.remoting.asking import texts
from tests.remoting.boot import OneBroker
from tests.remoting.relay import Relay
from tests.spark.in_process import run_here, tables

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]

TOPIC = "FateTopic"
# What may be sent, said once more: none of it changes a server.
OF_NAME_SERVERS = {105, 106, 206}
OF_BROKERS = {12, 14, 28, 29, 30, 31, 33, 43, 45, 60, 201, 202, 203, 204, 208, 300, 315, 321, 328, 345, 352, 402}
OF_BROKERS |= {*range(200074, 200079)}  # of lite topics
# The clients of the tests report their offsets ten times as often as others do.
PATIENT = Limits(10, 30)
PACE = Pace(lambda: time.time_ns() // 1_000_000, lambda seconds: time.sleep(seconds / 4))


def profile_of(alone: OneBroker) -> Profile:
    return Profile("alone", name_servers(alone.names), alone.credentials(), limits=PATIENT)


def ask(alone: OneBroker, name: str, topic: str = TOPIC) -> tuple[Answer, dict[str, Verdict]]:
    msg_id, _ = alone.words("SENT", name)
    with Cluster(profile_of(alone)) as cluster:
        service = LookupService(cluster, lambda: Moment(datetime.now(UTC), UTC), pace=PACE)
        answer = service.one(msg_id, topic, fate=True)
    assert answer.found and answer.fate is not None, texts(answer)
    return answer, {verdict.group: verdict for verdict in answer.fate}


def said(verdict: Verdict) -> tuple[str, str, list[str]]:
    return verdict.code, verdict.certainty, [reason.code for reason in verdict.why]


def test_each_verdict_is_what_the_consumer_did(alone: OneBroker) -> None:
    alone.wait_for(
        "DONE works first 0",
        "DONE gone first 0",
        "FAILED fails first 0",
        "FAILED later first 0",
        "DONE later first 1",
        "FAILED dies first 0",
        "FAILED dies first 1",
        "BEGAN hangs first 0",
        "DONE spread first 0",
        "DONE pulls first 0",
        "DONE newcomer third 0",
    )
    assert ["DONE", "tagged", "first", "0"] not in alone.events
    not_young_at = int(alone.words("SENT", "first")[1]) + YOUNG_MS
    time.sleep(max(0.0, not_young_at / 1_000 - time.time()))
    answer, verdicts = ask(alone, "first")
    new = not alone.old
    expected = {
        "works": ("consumed", "inferred", []),
        "gone": ("consumed", "uncertain", ["nobody_connected", "filter_unknown"]),
        "tagged": ("filtered", "inferred", []),
        "fails": ("retry_waiting", "proved", []),
        "later": ("consumed_on_retry", "inferred", []),
        "dies": ("dead", "proved", []),
        "hangs": ("handed_out", "inferred", ["unfinished"]) if new else ("stuck", "inferred", ["still", "blocker"]),
        "spread": (
            "broadcast",
            "inferred" if new else "uncertain",
            ["broadcast_reached" if new else "broadcast_unknown"],
        ),
        "pulls": ("taken", "uncertain", ["pulled"]),
        "newcomer": ("passed_maybe_skipped", "uncertain", ["subscribed_later"]),
    }
    if new:  # the connection of a push client that pops looks like that of any other, but the broker's settings name it
        alone.wait_for("POPPED pops first 0", "DONE pops first 0")
        popped = said(verdicts.pop("pops"))
        acknowledged = "consumed", "inferred", ["acknowledged"]  # a minute ago
        assert popped in (("taken", "uncertain", ["invisible"]), ("taken", "inferred", ["popped"]), acknowledged)
    assert {group: said(verdict) for group, verdict in verdicts.items()} == expected
    assert verdicts["fails"].values["tries"] == 1 and verdicts["later"].values == {"tries": 1}
    assert verdicts["dies"].values["tries"] == 2
    due = verdicts["fails"].values["due"] - datetime.now(UTC).timestamp() * 1_000
    assert 3_000_000 < due < 3_600_000
    relations = {copy.relation for copy in answer.copies}
    assert {"message", "retry", "retry_waiting", "dead_letter"} <= relations
    assert {copy.group for copy in answer.copies if copy.relation == "retry_waiting"} >= {"fails"}
    for verdict in verdicts.values():
        row = row_of(verdict)
        assert row["asked_at"] and row["evidence"] and row["disproof"] and "?" not in row["verdict_text"]


def test_a_broker_counts_what_it_stores_and_hands_to_each_group(alone: OneBroker) -> None:
    alone.wait_for("DONE works first 0")
    asked: list[Request[Sums | None]] = [
        StoredIn(TOPIC),
        HandedTo("works", TOPIC),
        HandedTo("nobody", TOPIC),
        StoredIn("Nothing"),
    ]
    with Cluster(profile_of(alone)) as cluster:
        (members,) = cluster.topology().brokers().values()
        heard = [sums for sums in cluster.ask_all(members[0], asked) if isinstance(sums, Sums)]
        boot_ms = cluster.ask(members[0], RuntimeInfo()).boot_ms
    assert [sums.any for sums in heard] == [True, True, False, False]
    assert all(0 <= sums.minute < 100 and (sums.hour, sums.day) == (0, 0) for sums in heard)
    assert boot_ms is not None and boot_ms < int(alone.words("SENT", "warm")[1])


def test_a_copy_of_the_store_says_of_each_group_what_its_consumers_did(
    alone: OneBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("warm", "first", "second", "third")
    alone.wait_for(*(f"FAILED dies {name} 1" for name in names), *(f"DONE later {name} 1" for name in names))
    alone.wait_for("DONE newcomer third 0", "DONE works third 0", "DONE pulls third 0", "TRACED")
    ids = {name: alone.words("SENT", name)[0] for name in names}
    # a folder does not show that a group pulls, nor that it skipped; the rest is as the brokers say it
    usual = (
        dict.fromkeys(("works", "gone", "pulls", "newcomer"), "consumed")
        | {
            "fails": "retry_waiting",
            "later": "consumed_on_retry",
            "dies": "dead",
            "hangs": "behind",
            "tagged": "filtered",
        }
        | ({} if alone.old else {"spread": "broadcast", "pops": "consumed"})
    )
    expected = {ids[name]: usual | ({"gone": "behind"} if name in ("second", "third") else {}) for name in names}
    for name in names:  # and as the consumers say it
        done = {words[1] for words in alone.events if words[0] == "DONE" and words[2] == name}
        took = {group for group, verdict in expected[ids[name]].items() if verdict.startswith("consumed")}
        assert took - {"newcomer"} == done - {"newcomer", "spread"}
    given = {(TOPIC, "tagged"): "TagB || TagC"}
    until, found, number = time.monotonic() + 40, dict[str, dict[str, str]](), 0
    while found != expected and time.monotonic() < until:  # the broker writes its files every 5 s
        number += 1
        copy = shutil.copytree(alone.work / "broker" / "store", tmp_path / str(number))
        terms = Terms(Moment(datetime.now(UTC), UTC), None, None, {}, {"subscription": given})
        source = open_source("store", copy, terms)
        answers = list(source.look_up(ids.values(), fate=True))
        source.close()
        found = {answer.id: {verdict.group: verdict.code for verdict in answer.fate or ()} for answer in answers}
        time.sleep(0.5)
    assert found == expected
    for answer in answers:
        assert {item.code for item in answer.evidence if not item.is_figure} == {"store_snapshot"}
    monkeypatch.setattr(Passes, "run", run_here)
    whole, _ = tables(copy, given=given)
    counted = Counter[tuple[str, str]]()
    for row in whole["fates"].to_pylist():
        if row["topic"] == TOPIC:
            counted[row["group"], row["verdict"]] += row["messages"]
    assert counted == Counter(pair for verdicts in expected.values() for pair in verdicts.items())
    listed = {row["msg_id"]: json.loads(row["verdicts"]) for row in whole["undelivered"].to_pylist()}
    assert {msg_id: listed.get(msg_id, {}) for msg_id in expected} == {
        msg_id: {group: verdict for group, verdict in verdicts.items() if verdict in UNDELIVERED}
        for msg_id, verdicts in expected.items()
    }
    tries = {(row["msg_id"], row["group"], row["retry_times"]): row["outcome"] for row in whole["attempts"].to_pylist()}
    failed = {(ids[words[2]], words[1], int(words[3])) for words in alone.events if words[0] == "FAILED"}
    again = {(msg_id, "later", 1): "consumed_on_retry" for msg_id in expected}
    again |= {(msg_id, "fails", 1): "retry_waiting" for msg_id in expected}
    called = {(words[1], words[2], int(words[5])): words[6] for words in alone.events if words[0] == "attempt"}
    assert {each: tries[each] for each, outcome in called.items() if outcome != "hang"} == {
        each: outcome for each, outcome in called.items() if outcome != "hang"
    }
    ends = {each: "dead" if each[1:] == ("dies", 1) else "retried" for each in failed}
    assert {each: outcome for each, outcome in tries.items() if each[0] in expected} == ends | again


def test_a_list_says_of_each_message_what_its_own_look_up_says(current: OneBroker) -> None:
    current.wait_for("FAILED dies first 1", "DONE later first 1", "DONE newcomer third 0", "GONE", "READY")
    ids = [current.words("SENT", name)[0] for name in ("first", "second", "third")]

    def verdicts(service: LookupService) -> set[tuple[str, str, str]]:
        answers = list(service.look_up(ids, TOPIC, fate=True))
        return {(answer.id, each.group, each.code) for answer in answers for each in answer.fate or ()}

    with Cluster(profile_of(current)) as cluster:
        service = LookupService(cluster, lambda: Moment(datetime.now(UTC), UTC), pace=PACE)
        before = verdicts(service)
        tally = ask_list(service, IdList.of([*ids, f"{ids[0][:-4]}FFFF"], TOPIC))
        after = verdicts(service)
    listed = Counter[tuple[str, str]]()
    for row in tally.tables()["fates"].to_pylist():
        assert row["topic"] == TOPIC and row["broker"] == cluster.topology().members[0].broker
        listed[row["group"], row["verdict"]] += row["messages"]
    # consumers go on meanwhile: what is the same before and after the list is the same in it
    moved = {group for _, group, _ in before ^ after}
    assert len(moved) < len({group for _, group, _ in before})
    still = Counter((group, code) for _, group, code in before if group not in moved)
    assert {cell: count for cell, count in listed.items() if cell[0] not in moved} == still
    assert tally.outcomes | {"not_found": 1} == tally.outcomes and tally.outcomes["judged"] == 3
    undelivered = {row["msg_id"]: json.loads(row["verdicts"]) for row in tally.tables()["undelivered"].to_pylist()}
    assert undelivered[ids[0]]["dies"] == "dead" and undelivered[ids[1]]["gone"] == "offline"


def test_a_group_without_clients_is_offline_not_behind(alone: OneBroker) -> None:
    alone.wait_for("GONE", "DONE works second 0", "READY")
    time.sleep(max(0.0, int(alone.words("SENT", "third")[1]) / 1_000 + 2 - time.time()))  # offsets are reported
    _, verdicts = ask(alone, "second")
    assert said(verdicts["gone"]) == ("offline", "inferred", ["proxy"]) and verdicts["gone"].values == {"ahead": 0}
    assert said(verdicts["works"])[0] == "consumed"
    assert ["DONE", "gone", "second", "0"] not in alone.events


def test_nothing_but_questions_leaves_the_process(alone: OneBroker) -> None:
    alone.wait_for("READY", "TRACED")
    broker_address = f"127.0.0.1:{alone.port}"
    ids = [alone.words("SENT", name)[0] for name in ("first", "second", "third")]
    ids += [words[1] for words in alone.events if words[0] == "send"] + [f"{ids[0][:-4]}FFFF", "no-such-key"]
    with Relay(alone.names) as names, Relay(broker_address) as broker:
        mapped = {Endpoint.parse(broker_address): broker.endpoint}
        profile = replace(profile_of(alone), name_servers=name_servers(names.address), address_map=mapped)
        service = LookupService(
            Cluster(profile), lambda: Moment(datetime.now(UTC), UTC), trace_topics=("OwnTrace",), pace=PACE
        )
        with service.cluster:
            answers = list(service.look_up(ids, fate=True))
    assert [answer.found for answer in answers] == [True] * (len(ids) - 2) + [False] * 2
    assert {frame.code for frame in names.seen} == OF_NAME_SERVERS
    sent = {frame.code for frame in broker.seen}
    assert sent <= OF_BROKERS
    assert sent >= {12, 14, 28, 30, 45, 202, 203, 208, 300, 321}
    assert not any(frame.body for frame in (*names.seen, *broker.seen))


def test_progress_and_who_it_is_now_are_what_the_clients_are(alone: OneBroker) -> None:
    alone.wait_for("BEGAN hangs first 0", "GONE", "DONE works third 0", "READY")
    release = "4.9.7" if alone.old else "5.3.3"
    with Cluster(replace(profile_of(alone), limits=replace(PATIENT, reach_clients=True))) as cluster:
        service = LookupService(cluster, lambda: Moment(datetime.now(UTC), UTC), who=True)
        who = service.one(alone.words("SENT", "first")[0], TOPIC).who
        until = time.monotonic() + 20
        while True:  # the client hands in its offset every half second, and fetches meanwhile
            hangs = service.ask("", "", partial(progress_of, TOPIC, "hangs", ask_clients=True)).progress
            assert hangs is not None and time.monotonic() < until
            (queue,) = hangs.queues
            if queue.offset is not None and queue.end and in_memory(hangs, queue.broker, 0, queue.end - 1):
                break
            time.sleep(0.3)
        rows = {row.group: row for row in service.ask("", "", partial(groups_of, TOPIC)).rows}
    assert who is not None and who.live.complete
    # its clientId has a name and no pid, but the record came from its connection
    assert who.match.code == "connected" and (who.match.same_connection or "").endswith("@fate-producer")
    (client,) = who.match.clients
    assert (client.language, version_text(client.version), client.groups) == ("JAVA", release, ("fate-producer",))
    assert not hangs.silent and not hangs.contradictions()
    assert queue.end and (queue.offset, queue.lag) == (0, queue.end)
    assert queue.in_flight == (None if alone.old else queue.end)
    (member,) = hangs.members
    assert queue.owners == (member.client.client_id,)
    assert member.state is not None and member.state.version == f"V{release.replace('.', '_')}"
    assert (rows["works"].lag, state_of(rows["works"])) == (0, "done")
    assert (rows["gone"].clients, state_of(rows["gone"])) == (0, "offline")
