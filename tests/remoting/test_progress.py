"""How far a group is, and who is behind an id: a cluster of one listener whose topic has queues, groups and clients."""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from idcore.answers.lookup import LookupService, client_states, groups, issue_text, row_of, who_texts
from idcore.answers.lookup.connected_clients import LiveClients
from idcore.answers.lookup.groups import GroupAnswer, groups_of, progress_of
from idcore.answers.lookup.progress import Progress, in_memory, pace, state_of
from idcore.answers.lookup.sentences import groups_text, progress_texts
from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.rocketmq.remoting.audit import AuditLog
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.fake import UNIQ
from tests.remoting.fake_progress import HOST, NOW_MS, PID, Progressing, client, queue_key, subscription
from tests.remoting.test_consumers import PIECES

ONE, TWO = "10.0.0.3@7#1", "10.0.0.4@9#2"


@pytest.fixture
def cluster() -> Iterator[Progressing]:
    made = Progressing()
    with made.server:
        yield made


def seen(service: LookupService, group: str = "billing", clients: bool = False) -> GroupAnswer:
    return service.ask("test", "", partial(progress_of, "Orders", group, ask_clients=clients))


def progress(cluster: Progressing, group: str = "billing", clients: bool = False) -> Progress:
    service = cluster.asking(reach_clients=clients)
    with service.cluster:
        found = seen(service, group, clients).progress
    assert found is not None
    return found


def issues(found: Progress, before: Progress | None = None) -> list[str]:
    reasons = found.contradictions(before)
    assert all("?" not in issue_text(reason, words=catalogue.words()) for reason in reasons)
    return [reason.code for reason in reasons]


def test_each_queue_has_its_place_and_its_lag(cluster: Progressing) -> None:
    found = progress(cluster)
    assert [(each.offset, each.lag, each.in_flight) for each in found.queues] == [
        (1_000, 0, 0),
        (900, 100, 0),
        (1_396, 1_104, 14),
        (None, None, None),
    ]
    assert found.lag == 1_204 and found.queues[2].passed_ms == NOW_MS - 60_000 and not found.silent
    assert found.unread == (), "an empty queue needs no offset"
    assert issues(found) == []


def test_a_queue_that_was_never_read_has_no_lag_but_is_said(cluster: Progressing) -> None:
    """208 writes 0 for it, as for one that is at its beginning."""
    cluster.ends[3] = 7
    cluster.offsets["billing"][1] = 0
    found = progress(cluster)
    assert [each.offset for each in found.queues] == [1_000, 0, 1_396, None]
    assert [each.queue for each in found.unread] == [3] and found.lag == 1_000 + 1_104
    assert [frame.field("queueId") for frame in cluster.server.seen if frame.code == 14] == ["1", "3"]


def test_a_route_may_say_any_number_of_queues(cluster: Progressing) -> None:
    cluster.read_queues = 1 << 62
    cluster.silent.add(202)
    with (service := cluster.asking()).cluster:
        told = seen(service)
    assert told.progress is not None and len(told.progress.queues) == 1_024
    assert "list_queues_left_out" in {item.code for item in told.evidence}


def test_an_answer_may_have_any_number_of_queues(cluster: Progressing) -> None:
    cluster.ends = [7] * 1_030
    cluster.sides = {"%RETRY%billing": (0, 9)}
    with (service := cluster.asking()).cluster:
        told, listed = seen(service), service.ask("test", "", partial(groups_of, "Orders"))
        assert told.progress is not None and len(told.progress.queues) == 1_024
        for answered in (told, listed):
            left = [item.values for item in answered.evidence if item.code == "list_queues_left_out"]
            assert [each["count"] for each in left] == [6]
        before = len(cluster.server.seen)
        retries = dict.fromkeys(range(1_030), (0, 9))
        cluster.raw_answers = {202: cluster._stats(retries, "%RETRY%billing")}
        seen(service)
    assert sum(frame.code == 14 for frame in cluster.server.seen[before:]) == 1_024


def test_each_queue_finds_its_place_at_once(cluster: Progressing) -> None:
    """Of 1,000 queues and as many places no queue looks at each place."""
    lines = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != groups.__file__:
            return None
        lines += event == "line"
        return count

    counted = []
    for size in (100, 400):
        cluster.ends, cluster.read_queues, lines = [7] * size, size, 0
        cluster.offsets["billing"] = dict.fromkeys(range(size), 5)
        before = sys.gettrace()
        sys.settrace(count)
        try:
            progress(cluster)
        finally:
            sys.settrace(before)
        counted.append(lines)
    assert counted[1] < 5 * counted[0]


def test_the_sentence_has_the_verdict_first(cluster: Progressing) -> None:
    cluster.ends[3] = 7
    service = cluster.asking()
    with service.cluster:
        first = seen(service)
        cluster.now_ms += 10_000
        second = seen(service)
    assert progress_texts(first, None, words=catalogue.words()) == [
        "Group **billing** is at most **1,204 messages** behind on Orders; 1 client is connected.",
        "It has no offset in **1** of 4 queues.",
        "Ask again after 5 s or more for the rate and the time left.",
    ]
    assert progress_texts(second, first.progress, words=catalogue.words())[2:] == [
        "It consumes **0.0** messages a second, while 0.0 a second are stored.",
        "At this pace it does not catch up.",
    ]


def test_a_queue_that_was_never_read_is_not_passed_and_silence_is_said(cluster: Progressing) -> None:
    cluster.ends, cluster.offsets["billing"] = [1_000, 7, 0, 0], {0: 1_000}
    service = cluster.asking()
    with service.cluster:
        assert progress_texts(seen(service), None, words=catalogue.words())[:2] == [
            "Group **billing** is up to date in the queues of Orders in which it has an offset; 1 client is connected.",
            "It has no offset in **1** of 4 queues.",
        ]
        cluster.ends[0], cluster.silent = 1_009, {203}
        verdict, silent, *_ = progress_texts(seen(service), None, words=catalogue.words())
    assert "**9 messages** behind" in verdict, "208 was answered"
    assert silent == "a did not answer every question, so there may be more messages and more clients."


def test_two_questions_have_a_rate_and_the_time_left(cluster: Progressing) -> None:
    service = cluster.asking()
    with service.cluster:
        before = seen(service).progress
        cluster.offsets["billing"][2] += 200
        cluster.ends[2] += 100
        cluster.now_ms += 10_000
        now = seen(service)
    assert before is not None and now.progress is not None
    moved = pace(before, now.progress)
    assert moved is not None and (moved.consumed, moved.stored, moved.lag) == (20.0, 10.0, 1_104)
    assert moved.left == pytest.approx(110.4)
    assert "At this pace it catches up in **1 min 50 s**." in progress_texts(now, before, words=catalogue.words())
    assert issues(now.progress, before) == ["stuck"]
    only = pace(before, now.progress, now.progress.queues[1])
    assert only is not None and (only.consumed, only.left) == (0.0, None)
    assert pace(before, replace(now.progress, at_ms=before.at_ms + 4_000)) is None, "too soon to say"
    fresh = replace(before, queues=tuple(replace(each, offset=None) for each in before.queues))
    assert pace(fresh, now.progress) is None, "without an offset then there is nothing to compare"


def test_before_5_1_nothing_is_known_to_be_in_flight(cluster: Progressing) -> None:
    cluster.version = "V4_9_7"
    assert [each.in_flight for each in progress(cluster).queues] == [None] * 4


def test_a_broadcasting_group_has_no_offset_at_brokers(cluster: Progressing) -> None:
    cluster.connected["billing"]["messageModel"] = "BROADCASTING"
    cluster.offsets["billing@broadcast"] = {0: 1_000, 1: 990}
    found = progress(cluster)
    assert [each.offset for each in found.queues] == [None] * 4 and found.lag == 0
    assert [each.pulled for each in found.queues] == [1_000, 990, None, None] and issues(found) == []


def test_retries_and_dead_letters_are_counted(cluster: Progressing) -> None:
    cluster.sides = {"%RETRY%billing": (2, 14), "%DLQ%billing": (0, 3), "%RETRY%billing+Orders": (0, 5)}
    cluster.offsets["billing@%RETRY%billing"] = {0: 12}
    sides = {each.topic: (each.kind, each.held, each.waiting) for each in progress(cluster).side_topics}
    assert sides == {
        "%RETRY%billing": ("retry", 12, 2),
        "%RETRY%billing+Orders": ("retry", 5, 5),
        "%DLQ%billing": ("dead", 3, None),
    }


class TestContradictions:
    def test_two_machines_with_one_client_id(self, cluster: Progressing) -> None:
        rows = client(ONE), client(ONE, "10.0.0.9:5")
        cluster.connected["billing"] = cluster.connection(*rows)
        found = progress(cluster)
        assert issues(found) == ["same_id"] and len(found.members) == 2
        cluster.connected["billing"] = cluster.connection(client(ONE), client(ONE, "10.0.0.3:6"))
        assert issues(progress(cluster)) == ["same_id_host"]

    def test_settings_and_subscriptions(self, cluster: Progressing) -> None:
        cluster.can_consume = False
        cluster.connected["billing"] = cluster.connection(client(ONE), topic="Notices")
        assert issues(progress(cluster)) == ["disabled", "not_subscribed"]
        cluster.connected.clear()
        cluster.can_consume = True
        assert issues(progress(cluster)) == ["offline"]

    def test_a_queue_that_nobody_can_read(self, cluster: Progressing) -> None:
        cluster.read_queues = 2
        cluster.connected["billing"] = cluster.connection(*(client(f"10.0.0.3@{pid}") for pid in (1, 2, 3)))
        found = progress(cluster)
        assert issues(found) == ["unreadable", "idle_clients"] and not found.queues[2].readable

    def test_clients_that_overwrite_each_others_subscription(self, cluster: Progressing) -> None:
        cluster.connected["billing"] = cluster.connection(client(ONE), client(TWO), expression="TagA")
        service = cluster.asking()
        with service.cluster:
            before = seen(service).progress
            cluster.connected["billing"]["subscriptionTable"] = {"Orders": subscription("TagB", version=NOW_MS)}
            now = seen(service).progress
        assert now is not None and "subscribes_again" in issues(now, before)
        assert "subscribes_again" not in issues(now, now)

    def test_a_broker_that_is_silent_leaves_it_open(self, cluster: Progressing) -> None:
        cluster.silent = {202, 203, 208, 14}
        found = progress(cluster)
        assert found.silent == ("a",) and not any(each.known for each in found.queues) and issues(found) == []


class TestClientsAsked:
    def test_a_client_that_names_a_queue_twice_owns_it_once(self, cluster: Progressing) -> None:
        twice = cluster.state(dict.fromkeys(range(4), (1_000, 0, 0)))
        row = twice[twice.index(queue_key(3)) : twice.index('},"properties"')]
        cluster.states = {ONE: twice.replace(row, f"{row},{row}")}
        found = progress(cluster, clients=True)
        assert [queue.owners for queue in found.queues] == [(ONE,)] * 4 and issues(found) == []

    def test_what_a_client_says_has_a_size(self, cluster: Progressing) -> None:
        cluster.states = {ONE: cluster.state(dict.fromkeys(range(20_000), (1_000, 0, 0)))}
        found = progress(cluster, clients=True)
        assert [member.failed for member in found.members] == [True]

    def test_owners_memory_and_tags_are_the_clients_own_words(self, cluster: Progressing) -> None:
        cluster.connected["billing"] = cluster.connection(client(ONE), client(TWO, "10.0.0.4:5"))
        cluster.states = {
            ONE: cluster.state({0: (1_000, 0, 0), 1: (900, 900, 930)}),
            TWO: cluster.state({1: (900, 900, 930), 2: (1_396, 1_396, 1_409)}, "TagB || TagA"),
        }
        found = progress(cluster, clients=True)
        assert [each.owners for each in found.queues] == [(ONE,), (ONE, TWO), (TWO,), ()]
        assert issues(found) == ["tags_disagree", "two_owners", "no_owner"]
        assert in_memory(found, "a", 2, 1_400) == [TWO] and in_memory(found, "a", 2, 1_410) == []
        assert in_memory(found, "b", 2, 1_400) == []
        asked = [frame for frame in cluster.server.seen if frame.code == 307]
        assert {frame.field("clientId") for frame in asked} == {ONE, TWO}
        assert {frame.field("jstackEnable") for frame in asked} == {"false"}

    def test_a_client_that_does_not_answer_proves_nothing(self, cluster: Progressing) -> None:
        cluster.connected["billing"] = cluster.connection(client(ONE), client(TWO))
        cluster.states = {ONE: cluster.state({0: (1_000, 0, 0)})}
        found = progress(cluster, clients=True)
        assert [member.failed for member in found.members] == [False, True]
        assert [each.owners for each in found.queues] == [(ONE,), None, None, None] and issues(found) == []

    def test_clients_that_keep_everybody_waiting_are_named_at_a_deadline(
        self, cluster: Progressing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(groups, "CLIENTS_SECONDS", 0.2)
        monkeypatch.setattr(client_states, "_AT_ONCE", 2)
        rows = [client(f"10.0.0.{host}@7#1", f"10.0.0.{host}:5") for host in range(40, 48)]
        cluster.connected["billing"] = cluster.connection(client(ONE), *rows)
        cluster.states = {ONE: cluster.state({0: (1_000, 0, 0)})}
        served, go_on = cluster.server._handle, threading.Event()

        def hangs(frame: Frame) -> Iterable[bytes]:
            if frame.code == 307 and frame.field("clientId") != ONE:
                go_on.wait(5)
            return served(frame)

        cluster.server._handle = hangs
        service = cluster.asking(reach_clients=True)
        try:
            with service.cluster:
                found = seen(service, clients=True)
        finally:
            go_on.set()
        assert found.progress is not None
        assert [member.failed for member in found.progress.members] == [False] + [True] * 8
        assert sum(frame.code == 307 for frame in cluster.server.seen) <= 3, "those behind them are not asked any more"
        (silent,) = [item.values for item in found.evidence if item.code == "clients_silent"]
        assert (silent["count"], silent["of"]) == (8, 9) and str(silent["clients"]).startswith("10.0.0.40@7#1, ")

    def test_without_the_profiles_word_no_client_is_reached(self, cluster: Progressing) -> None:
        service = cluster.asking(reach_clients=False)
        with service.cluster, pytest.raises(ValueError, match="307"):
            seen(service, clients=True)
        assert 307 not in {frame.code for frame in cluster.server.seen}
        progress(cluster)
        assert 307 not in {frame.code for frame in cluster.server.seen}, "nor without the click"


class TestList:
    def rows(self, cluster: Progressing) -> GroupAnswer:
        service = cluster.asking()
        with service.cluster:
            return service.ask("test", "", partial(groups_of, "Orders"))

    def test_every_group_of_the_topic_with_its_lag_and_state(self, cluster: Progressing) -> None:
        cluster.offsets |= {"old": {0: 1_000, 1: 1_000, 2: 2_499}, "done": {0: 1_000, 1: 1_000, 2: 2_500}}
        cluster.connected["done"] = cluster.connection(client(TWO))
        cluster.connected["fresh"] = cluster.connection(client(TWO))
        found = self.rows(cluster)
        rows = {row.group: (row.lag, row.unread, row.clients, state_of(row)) for row in found.rows}
        assert rows == {
            "billing": (1_204, 0, 1, "behind"),
            "done": (0, 0, 1, "done"),
            "fresh": (0, 3, 1, "behind"),
            "old": (1, 0, 0, "offline"),
        }
        said = "**4 consumer groups** of Orders: 2 behind, 1 without clients, 1 up to date."
        assert groups_text(found, "Orders", words=catalogue.words()) == said

    def test_a_group_behind_a_proxy_is_not_called_offline(self, cluster: Progressing) -> None:
        cluster.connected.clear()
        assert [state_of(row) for row in self.rows(cluster).rows] == ["offline"]
        assert issues(progress(cluster)) == ["offline"]
        cluster.proxied = {"billing"}
        assert [(row.clients, state_of(row)) for row in self.rows(cluster).rows] == [(None, "behind")]
        service = cluster.asking()
        with service.cluster:
            found = seen(service)
        assert found.progress is not None and issues(found.progress) == []
        assert "; no broker lists a client of this group" in progress_texts(found, None, words=catalogue.words())[0]
        clients = [client(f"vm@7@{index}@hrhv7758y") for index in range(5)]
        cluster.connected["billing"] = cluster.connection(*clients)  # of a proxy inside the broker: they share queues
        assert issues(progress(cluster)) == []

    def test_three_hundred_are_listed_and_the_rest_is_counted(self, cluster: Progressing) -> None:
        cluster.connected = {f"g{at:03}": cluster.connection(client(ONE)) for at in range(310)}
        cluster.offsets.clear()
        found = self.rows(cluster)
        assert len(found.rows) == 300
        assert [item.values for item in found.evidence] == [{"count": 10, "limit": 300}]

    def test_what_a_broker_does_not_say_is_not_known(self, cluster: Progressing) -> None:
        cluster.silent = {43, 203}
        (row,) = self.rows(cluster).rows
        assert (row.lag, row.clients, state_of(row)) == (None, None, "unknown")

    def test_a_question_that_fails_is_recorded_too(self, cluster: Progressing, tmp_path: Path) -> None:
        cluster.silent = {106}
        service = cluster.asking()
        service._audit = AuditLog(tmp_path / "audit")
        with service.cluster, pytest.raises(RemotingError):
            service.ask("topic:Orders", "ann", partial(groups_of, "Orders"))
        (line,) = [json.loads(text) for text in (tmp_path / "audit").read_text().splitlines()]
        assert (line["id"], line["user"], line["result"]) == ("topic:Orders", "ann", "unreachable")

    def test_a_topic_without_a_route(self, cluster: Progressing) -> None:
        service = cluster.asking()
        with service.cluster:
            nothing = service.ask("test", "", partial(groups_of, "Nowhere"))
            one = service.ask("test", "", partial(progress_of, "Nowhere", "billing"))
        assert not nothing.routed and not nothing.rows
        assert groups_text(nothing, "Nowhere", words=catalogue.words()) == "The cluster has no topic Nowhere."
        assert progress_texts(one, None, words=catalogue.words()) == ["The cluster has no topic Nowhere."]


class TestWho:
    def producer(self, pid: int, address: str, language: str = "JAVA") -> dict[str, object]:
        return {"clientId": f"{HOST}@{pid}#9", "remoteIP": f"/{address}", "language": language, "version": 479}

    def test_the_process_behind_an_id_is_found_among_the_live(self, cluster: Progressing) -> None:
        cluster.producers = {"orders": [self.producer(PID, "192.168.7.7:4")]}
        service = cluster.asking(who=True)
        with service.cluster:
            answer = service.one(UNIQ, "Orders")
            assert answer.who is not None and answer.who.match.code == "connected"
            row = row_of(answer)["who"]
            service.one(UNIQ, "Orders", fate=True)
            assert sum(frame.code == 328 for frame in cluster.server.seen) == 1, "the list is kept for some seconds"
            cluster.now_ms += 6_000
            service.one(UNIQ, "Orders")
        assert (row["pid"], row["language"], row["clients"][0]["version"]) == (PID, "agrees", "5.3.3")
        assert row["clients"][0]["addresses"] == ["192.168.7.7:4"] and row["silent"] == row["older"] == []
        assert [text for text in who_texts(answer.who, words=catalogue.words()) if "192.168" in text] == []
        assert sum(frame.code == 328 for frame in cluster.server.seen) == 2

    def test_a_list_of_before_a_clock_was_set_back_is_not_taken_for_one_of_now(self, cluster: Progressing) -> None:
        cluster.producers = {"orders": [self.producer(PID, "192.168.7.7:4")]}
        service = cluster.asking(who=True)
        with service.cluster:
            service.one(UNIQ, "Orders")
            cluster.now_ms -= 3_600_000
            service.one(UNIQ, "Orders")
        assert sum(frame.code == 328 for frame in cluster.server.seen) == 2

    def test_who_asks_while_another_asks_gets_the_same_answer(self, cluster: Progressing) -> None:
        cluster.producers = {"orders": [self.producer(PID, "192.168.7.7:4")]}
        served, asked, go_on = cluster.server._handle, threading.Event(), threading.Event()

        def waits(frame: Frame) -> Iterable[bytes]:
            if frame.code == 328:
                asked.set()
                go_on.wait(5)
            return served(frame)

        cluster.server._handle = waits
        service = cluster.asking(who=True)
        live = LiveClients(service.cluster, lambda: cluster.now_ms)
        with service.cluster, ThreadPoolExecutor(2) as pool:
            first = pool.submit(live.listed, ["orders"])
            assert asked.wait(5) and not live._lock.locked()
            second = pool.submit(live.listed, ["other"])
            go_on.set()
            assert first.result() is second.result() and len(first.result().clients) == 1
        cluster.silent = {106}
        cluster.now_ms += 6_000
        service = cluster.asking(who=True)
        with service.cluster:
            failing = LiveClients(service.cluster, lambda: cluster.now_ms)
            for _ in range(2):
                with pytest.raises(RemotingError):
                    failing.listed()
            cluster.silent = set()
            service.cluster._lost = 0.0, None
            assert failing.listed().clients, "a failure is not kept"

    def test_two_machines_with_one_fingerprint_are_seen_live(self, cluster: Progressing) -> None:
        other = self.producer(PID, "192.168.7.8:4") | {"clientId": f"{HOST}@{PID}#8"}
        cluster.producers = {"orders": [self.producer(PID, "192.168.7.7:4"), other]}
        service = cluster.asking(who=True)
        with service.cluster:
            who = service.one(UNIQ, "Orders").who
        assert (
            who is not None
            and who.match.code == "shared"
            and "192.168.7.8:4" in who_texts(who, words=catalogue.words())[0]
        )

    def test_an_older_broker_is_asked_for_its_java_clients(self, cluster: Progressing) -> None:
        cluster.version = "V4_5_2"
        cluster.producers = {"CLIENT_INNER_PRODUCER": [self.producer(PID, "192.168.7.7:4")]}
        service = cluster.asking(who=True)
        with service.cluster:
            who = service.one(UNIQ, "Orders", fate=True).who
            cluster.producers.clear()
            cluster.now_ms += 6_000
            gone = service.one(UNIQ, "Orders").who
        assert who is not None and (who.match.code, who.live.older) == ("connected", ("a",))
        assert gone is not None and gone.match.code == "unknown", "such a broker does not list them all"
        assert any("before 4.9.4" in text for text in who_texts(gone, words=catalogue.words()))
        assert {frame.field("consumerGroup") for frame in cluster.server.seen if frame.code == 203} >= {"billing"}

    def test_silence_is_not_absence_and_nobody_is_asked_unless_switched_on(self, cluster: Progressing) -> None:
        cluster.silent = {328}
        service = cluster.asking(who=True)
        with service.cluster:
            who = service.one(UNIQ, "Orders").who
        assert who is not None and who.match.code == "unknown" and [name for name, _ in who.live.silent] == ["a"]
        seen_before = len([frame for frame in cluster.server.seen if frame.code == 328])
        off = cluster.asking()
        with off.cluster:
            answer = off.one(UNIQ, "Orders")
        assert answer.who is None and "who" not in row_of(answer)
        assert len([frame for frame in cluster.server.seen if frame.code == 328]) == seen_before


def test_hostile_answers_are_errors_or_answers_and_nothing_else(cluster: Progressing) -> None:
    cluster.states = {ONE: cluster.state({0: (1, 1, 2)})}
    bodies = {
        202: cluster._stats({0: (0, 9)}, "Orders"),
        208: cluster._progress("billing", "Orders"),
        203: b'{"connectionSet":[{"clientId":"","clientAddr":"x"}],"subscriptionTable":{}}',
        307: cluster.states[ONE].encode(),
        43: b'{"offsetTable":{"Orders@billing":{0:1}}}',
        328: b'{"data":{"p":[{"clientId":"\\ud800@1#x@y","remoteIP":"/[::","language":"<b>","version":999999999}]}}',
        352: b"{}",
        28: b'{"table":{}}',
    }
    pick = random.Random(20_261_122)
    service = cluster.asking(reach_clients=True, who=True)
    with service.cluster:
        for number in range(60):
            code = pick.choice(list(bodies))
            raw = bodies[code]
            for _ in range(pick.randrange(0, 3)):
                start = pick.randrange(len(raw) + 1)
                raw = raw[:start] + pick.choice(PIECES) + raw[start + pick.choice((0, 1, 5)) :]
            cluster.raw_answers = {code: raw}
            try:
                found = seen(service, clients=bool(number % 2)).progress
                assert found is not None
                progress_texts(GroupAnswer(found, (), 0, True, (), ()), None, words=catalogue.words())
                assert all(
                    isinstance(issue_text(reason, words=catalogue.words()), str) for reason in found.contradictions()
                )
                if not number % 10:
                    service.ask("test", "", partial(groups_of, "Orders"))
                    who = service.one(UNIQ, "Orders").who
                    assert who is None or all(text.encode() for text in who_texts(who, words=catalogue.words()))
            except CoreError as problem:
                str(problem).encode()
