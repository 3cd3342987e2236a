"""The trace of real clients in real clusters (5.3.3 and 4.9.7): attempts are those that the consumers logged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from idcore.answers.lookup import LookupService, Moment
from idcore.answers.lookup.model import TraceResult
from idcore.ids.model import UniqId
from idcore.rocketmq.message.validators import TRACE_TOPIC
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.profile import Profile, name_servers
from tests.remoting.boot import OneBroker

pytestmark = [pytest.mark.java, pytest.mark.timeout(300)]

# The clocks of one machine, read in and around the listener by a machine that does other work as well.
SLACK_MS = 3_000


@dataclass(frozen=True)
class Logged:
    """An attempt as the consumer logged it."""

    msg_id: str
    group: str
    began: int
    ended: int
    retry: int
    outcome: str
    together: int


class Ran:
    """What the clients of one release did, from what they printed."""

    def __init__(self, cluster: OneBroker) -> None:
        self.cluster = cluster
        self.sends = [words[1:] for words in cluster.events if words[0] == "send"]
        self.oneway = next(words[1] for words in cluster.events if words[0] == "oneway")
        self.attempts = [
            Logged(words[1], words[2], int(words[3]), int(words[4]), int(words[5]), words[6], int(words[7]))
            for words in cluster.events
            if words[0] == "attempt"
        ]

    def trace(self, *msg_ids: str) -> list[TraceResult]:
        """The trace of some messages, as the command line asks for it."""
        cluster = Cluster(Profile("traced", name_servers(self.cluster.names), self.cluster.credentials()))
        service = LookupService(cluster, lambda: Moment(datetime.now(UTC), UTC), trace_topics=("OwnTrace",))
        with cluster:
            answers = list(service.look_up(msg_ids))
        assert all(answer.found for answer in answers)
        copies = [copy for answer in answers for copy in answer.copies]
        # the index has a trace under the ids that it is about, so it is among the copies
        assert {copy.record.topic for copy in copies if copy.relation == "trace"} == {TRACE_TOPIC, "OwnTrace"}
        assert {copy.record.topic for copy in copies if copy.relation == "message"} == {"Traced"}
        return [answer.trace for answer in answers if answer.trace is not None]


@pytest.fixture(scope="module")
def ran(alone: OneBroker) -> Ran:
    alone.wait_for("TRACED")
    return Ran(alone)


def test_attempts_are_those_that_the_consumers_logged(ran: Ran) -> None:
    outcomes = {attempt.outcome for attempt in ran.attempts}
    assert outcomes == {"success", "exception", "null", "failed", "hang"}
    assert len({attempt.msg_id for attempt in ran.attempts}) == 8
    ids = [words[0] for words in ran.sends]
    for msg_id, traced in zip(ids, ran.trace(*ids), strict=True):
        logged = sorted((one for one in ran.attempts if one.msg_id == msg_id), key=lambda one: (one.group, one.retry))
        found = sorted(traced.message_trace.attempts, key=lambda one: (one.group or "", one.retry_times or 0))
        assert [(one.group, one.retry_times, one.outcome) for one in found] == [
            (one.group, one.retry, None if one.outcome == "hang" else one.outcome) for one in logged
        ]
        for one, own in zip(found, logged, strict=True):
            assert one.began_ms is not None and own.began - SLACK_MS <= one.began_ms <= own.began
            assert (one.success is not None) == (own.outcome != "hang")
            if one.success is not None:
                assert one.ended_ms is not None and own.ended <= one.ended_ms <= own.ended + SLACK_MS
                assert one.duration_ms is not None and one.duration_ms >= 40


def test_the_process_of_an_attempt_is_the_one_that_ran(ran: Ran) -> None:
    ids = [words[0] for words in ran.sends]
    producer = UniqId.from_hex(ids[0])  # in the same process
    attempts = [one for traced in ran.trace(*ids) for one in traced.message_trace.attempts]
    assert {(one.host, one.pid, one.loader) for one in attempts} == {
        (producer.host, ran.cluster.pid & 0xFFFF, producer.loader_text)
    }
    assert all((one.client or "").startswith("127.0.0.1:") for one in attempts)


def test_sends_have_what_the_producer_got(ran: Ran) -> None:
    ids = [words[0] for words in ran.sends]
    for (msg_id, began, ended, offset_id, status), traced in zip(ran.sends, ran.trace(*ids), strict=True):
        (send,) = traced.message_trace.sends
        assert (send.msg_id, send.topic, send.group, send.kind) == (msg_id, "Traced", "senders", "normal")
        assert (send.broker, send.offset_msg_id) == (f"127.0.0.1:{ran.cluster.port}", offset_id)
        assert send.success == (status == "SEND_OK")
        assert int(began) <= send.began_ms <= send.began_ms + send.cost_ms <= int(ended)


def test_one_call_with_several_messages_is_an_attempt_of_each(ran: Ran) -> None:
    together = [one for one in ran.attempts if one.group == "batchers"]
    assert len(together) == 8 and max(one.together for one in together) > 1
    found = [
        one
        for traced in ran.trace(*(each.msg_id for each in together))
        for one in traced.message_trace.attempts
        if one.group == "batchers"
    ]
    assert len(found) == 8 and all(one.success for one in found)
    sizes = sorted(sum(one.request_id == other.request_id for other in found) for one in found)
    assert sizes == sorted(one.together for one in together)


def test_a_one_way_send_leaves_no_send(ran: Ran) -> None:
    (traced,) = ran.trace(ran.oneway)
    assert not traced.message_trace.sends and len(traced.message_trace.attempts) == 2
    assert "trace_no_send" in {item.code for item in traced.evidence}


def test_the_trace_proves_a_verdict_and_shows_what_still_runs(ran: Ran) -> None:
    ids = {name: words[0] for name, words in zip(("ok 1", "hang"), (ran.sends[0], ran.sends[-1]), strict=True)}
    cluster = Cluster(Profile("traced", name_servers(ran.cluster.names), ran.cluster.credentials()))
    service = LookupService(cluster, lambda: Moment(datetime.now(UTC), UTC), trace_topics=("OwnTrace",))
    with cluster:
        answers = {name: service.one(msg_id, "Traced", fate=True) for name, msg_id in ids.items()}
    verdicts = {
        (name, verdict.group): (verdict.code, verdict.certainty)
        for name, answer in answers.items()
        for verdict in answer.fate or ()
    }
    assert verdicts["ok 1", "readers"] == verdicts["ok 1", "batchers"] == ("consumed", "proved")
    assert verdicts["hang", "readers"] == ("running", "uncertain")
    (runs,) = (each for each in answers["hang"].fate or () if each.group == "readers")
    assert [each.code for each in runs.why] == ["end_not_traced"], "a client may drop records of a trace"
    assert verdicts["hang", "batchers"] == ("consumed", "proved")
    assert {each.code for one in answers["ok 1"].fate or () for each in one.why} == {"trace_success"}
