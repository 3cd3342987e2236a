"""Attempts paired from contexts: durations, ends that are missing, batches, codes, the consuming process."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from idcore.ids.model import UniqId
from idcore.rocketmq.message.attempts import MessageTrace, paired
from idcore.rocketmq.message.trace import Context, EndTransaction, Pub, Recall, SubAfter, SubBefore, Unknown

pytestmark = pytest.mark.quick

MSG, OTHER = "0A42333A0DC818B4AAC246C290FD0000", "0A42333A0DC818B4AAC246C290FD0001"
REQUEST = str(UniqId.of("10.0.0.3", 70_000 & 0xFFFF, 0x18B4AAC2, 1_000_000, 9))
BEFORE = SubBefore(1_000, "r", "readers", REQUEST, MSG, 2, None)
AFTER = SubAfter(REQUEST, MSG, 20, True, None, 0, 1_060, "readers")
PUB = Pub(900, "r", "senders", "Orders", MSG, None, None, "10.0.0.9:10911", 12, 3, 0, "AB", True)
CLIENT = "10.0.0.3:50122"


def trace(*contexts: Context, ids: tuple[str, ...] = (MSG,)) -> MessageTrace:
    return paired([(context, CLIENT) for context in contexts], ids)


def test_an_attempt_has_its_real_duration_and_the_process_of_its_request() -> None:
    (attempt,) = trace(AFTER, BEFORE).attempts  # in any order
    assert (attempt.msg_id, attempt.group, attempt.request_id) == (MSG, "readers", REQUEST)
    assert (attempt.began_ms, attempt.ended_ms, attempt.duration_ms) == (1_000, 1_060, 60)  # not the cost, 20
    assert (attempt.success, attempt.code, attempt.outcome, attempt.retry_times) == (True, 0, "success", 2)
    assert (attempt.host, attempt.pid, attempt.loader, attempt.counter) == ("10.0.0.3", 4464, "18B4AAC2", 9)
    assert attempt.client == CLIENT


def test_an_attempt_without_an_end_or_without_a_beginning() -> None:
    (open_,) = trace(BEFORE).attempts
    assert (open_.success is not None, open_.ended_ms, open_.success, open_.outcome, open_.duration_ms) == (
        False,
        None,
        None,
        None,
        None,
    )
    (late,) = trace(AFTER).attempts
    assert (late.began_ms, late.ended_ms, late.group, late.retry_times) == (None, 1_060, "readers", None)
    assert late.success is not None and late.outcome == "success"
    (old,) = trace(BEFORE, replace(AFTER, code=None, time_ms=None, group=None)).attempts  # 4.4.0
    assert (old.success is not None, old.ended_ms, old.duration_ms, old.group, old.outcome) == (
        True,
        None,
        None,
        "readers",
        "success",
    )


@pytest.mark.parametrize(
    ("success", "code", "outcome"),
    [
        (True, 0, "success"),
        (True, 1, "time_out"),
        (False, 1, "time_out"),
        (False, 2, "exception"),
        (False, 3, "null"),
        (False, 4, "failed"),
        (True, None, "success"),
        (False, None, "failed"),
        (False, 0, "failed"),
        (True, 9, "success"),
        (False, -1, "failed"),
    ],
)
def test_what_a_code_means(success: bool, code: int | None, outcome: str) -> None:
    (attempt,) = trace(BEFORE, replace(AFTER, success=success, code=code)).attempts
    assert attempt.outcome == outcome


def test_messages_of_one_call_are_attempts_of_their_own() -> None:
    contexts: list[Context] = [
        BEFORE,
        replace(BEFORE, msg_id=OTHER, retry_times=0),
        AFTER,
        replace(AFTER, msg_id=OTHER),
    ]
    both = trace(*contexts, ids=(MSG, OTHER)).attempts
    assert sorted((attempt.msg_id, attempt.retry_times, attempt.duration_ms) for attempt in both) == [
        (MSG, 2, 60),
        (OTHER, 0, 60),
    ]
    (one,) = trace(*contexts).attempts
    assert one.msg_id == MSG


def test_groups_and_tries_in_the_order_of_time_and_what_was_stored_twice_once() -> None:
    later = str(UniqId.of("10.0.0.4", 7, 0x18B4AAC2, 1_020_000, 10))
    again = replace(BEFORE, time_ms=20_000, request_id=later, retry_times=3)
    elsewhere = replace(BEFORE, time_ms=500, request_id="not an id", group="others")
    found = trace(again, BEFORE, elsewhere, AFTER, BEFORE, again).attempts
    assert [(attempt.group, attempt.retry_times, attempt.host, attempt.success is not None) for attempt in found] == [
        ("others", 2, None, False),
        ("readers", 2, "10.0.0.3", True),
        ("readers", 3, "10.0.0.4", False),
    ]


def test_sends_have_the_address_that_the_trace_came_from() -> None:
    batch = replace(PUB, msg_id=f"{OTHER},{MSG}", time_ms=800, message_type=9, client_host="10.0.0.7", success=None)
    found = trace(PUB, replace(PUB, msg_id=OTHER), batch, PUB).sends
    assert [(send.began_ms, send.msg_id, send.kind, send.client, send.success) for send in found] == [
        (800, f"{OTHER},{MSG}", None, "10.0.0.7", None),
        (900, MSG, "normal", CLIENT, True),
    ]
    assert (found[1].topic, found[1].group, found[1].cost_ms) == ("Orders", "senders", 3)
    assert (found[1].broker, found[1].offset_msg_id) == ("10.0.0.9:10911", "AB")


def test_decisions_recalls_and_unknown_contexts() -> None:
    decision = EndTransaction(
        950, "r", "senders", "Orders", MSG, None, None, "10.0.0.9:10911", 2, MSG, "COMMIT_MESSAGE", False
    )
    recall = Recall(960, "r", "senders", "Orders", MSG, True)
    found = trace(decision, recall, recall, replace(recall, msg_id=OTHER), Unknown("Forward", ()), Unknown("", ()))
    assert (found.decisions, found.recalls, found.unknown) == ((decision,), (recall,), 2)
    assert trace() == MessageTrace()


def test_pairs_are_those_of_the_slow_way_in_any_order() -> None:
    rng = random.Random(5)
    for _ in range(300):
        requests = [f"R{number}" for number in range(rng.randrange(1, 5))]
        contexts: list[Context] = []
        for request in requests:
            for msg_id in (MSG, OTHER):
                if rng.random() < 0.8:
                    contexts.append(replace(BEFORE, request_id=request, msg_id=msg_id, time_ms=rng.randrange(9)))
                if rng.random() < 0.8:
                    contexts.append(replace(AFTER, request_id=request, msg_id=msg_id, time_ms=rng.randrange(9)))
        rng.shuffle(contexts)
        wanted = set()
        for request in requests:
            begun = [c for c in contexts if isinstance(c, SubBefore) and (c.request_id, c.msg_id) == (request, MSG)]
            ended = [c for c in contexts if isinstance(c, SubAfter) and (c.request_id, c.msg_id) == (request, MSG)]
            if begun or ended:
                wanted.add((request, begun[0].time_ms if begun else None, ended[0].time_ms if ended else None))
        found = trace(*contexts).attempts
        assert {(each.request_id, each.began_ms, each.ended_ms) for each in found} == wanted
        assert len(found) == len(wanted)
