"""The rule row by row: one table of evidence and verdicts, and what silence comes to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from idcore.answers.fate import (
    Blocker,
    Group,
    GroupCopy,
    JudgedRecord,
    Observation,
    Verdict,
    judge,
    mark_doubles,
    row_of,
)
from idcore.answers.fate.model import Attempt, Consumers, FewerHanded, Filter, Holder
from idcore.answers.fate.sentences import fact_text, reason_text, verdict_text
from idcore.answers.lookup.group_evidence import group_copy
from idcore.base import catalogue
from idcore.rocketmq.message.attempts import Attempt as Traced
from idcore.rocketmq.store.pop_records import PopRecord
from tests.remoting.fake import record

STORED = 1_795_000_000_000
NOW = STORED + 600_000
HOME = JudgedRecord("7F000001", "a", "T", 0, 10, STORED, "TagA", readable=True, end=Observation(50, NOW))
ALL = Filter("TAG", "*", frozenset(), STORED - 60_000)
TAGS = Filter("TAG", "TagB || TagC", frozenset({"TagB", "TagC"}), STORED - 60_000)
PUSH = Consumers(2, "CONSUME_PASSIVELY", filter=ALL, from_last=True)
NOBODY = Consumers()


@dataclass(frozen=True)
class Try:
    """An attempt of a message trace."""

    began_ms: int
    ended_ms: int | None = None
    success: bool | None = None
    retry_times: int | None = 0
    client: str | None = "10.0.0.3:50122"


def heard(value: Any) -> Observation[Any]:
    return Observation(value, NOW - 1_000)


def group(offset: int | None = 11, consumers: Consumers | None = PUSH, **more: Any) -> Group:
    """A group of which everything is known; None for consumers: nobody said."""
    known = Observation() if consumers is None else heard(consumers)
    usual: dict[str, Any] = {"copies_complete": True, "can_consume": heard(True)}
    return Group("G", heard(offset), consumers=known, **(usual | more))


def still(offset: int) -> dict[str, Any]:
    return {"again": Observation(offset, NOW + 4_000)}


def queued(tries: int, passed: bool | None, at: int = STORED + 20_000) -> GroupCopy:
    return GroupCopy("queued", tries, at, passed=Observation() if passed is None else heard(passed))


def waiting(tries: int, delivered: bool | None, due: int | None, at: int = STORED + 20_000) -> GroupCopy:
    return GroupCopy("waiting", tries, at, due, delivered=Observation() if delivered is None else heard(delivered))


DEAD = GroupCopy("dead", 3, STORED + 90_000)
FAILED = Try(STORED + 1_000, STORED + 2_000, False)
LATER, BEFORE = STORED + 60_000, STORED - 9_000
POP, PULL = (replace(PUSH, consume_type=kind) for kind in ("CONSUME_POP", "CONSUME_ACTIVELY"))
PROXIED = Consumers(filter=ALL, proxied=True)
ASKED_LAST = replace(TAGS, since_ms=STORED + 60_000, of_last_request=True)
GONE = Consumers(filter=ALL, proxied_before=True)
LATER_ALL = replace(PUSH, filter=replace(ALL, since_ms=LATER))
HELD = PopRecord(NOW - 9_000, NOW + 51_000)
ACKED = replace(HELD, acked_ms=NOW - 8_000, acked_at=7)
SKIPPED, OPEN = "passed_maybe_skipped", (Try(NOW - 9_000),)
FEWER = FewerHanded(2, 30, STORED - 9_000)
SQL = Filter("SQL92", "price > 3", frozenset(), STORED - 60_000)

# home, group, verdict, certainty, codes of why
Row = tuple[JudgedRecord, Group, str, str, list[str]]
# fmt: off
TABLE: list[Row] = [
    (HOME, group(attempts=(FAILED, Try(STORED + 9, STORED + 19, True))), "consumed", "proved", ["trace_success"]),
    (HOME, group(5, copies=(DEAD,), attempts=(Try(1, 9, True),)), "dead", "proved", []),
    (HOME, group(copies=(waiting(1, False, NOW + 9_000),), attempts=(Try(1, 9, True),)), "retry_waiting", "proved", []),
    (HOME, group(copies=(queued(1, True),), attempts=(Try(1, 9, True),)), "consumed_on_retry", "inferred", []),
    (HOME, group(copies=(queued(1, True),), attempts=(Try(1, 9, True, 1),)), "consumed", "proved", ["trace_success"]),
    (HOME, group(copies=(queued(1, True),), attempts=(FAILED, Try(1, 9, True, 1), Try(1, 9, True))), "consumed",
     "proved", ["trace_success"]),
    (HOME, group(copies=(queued(1, False),), attempts=(Try(1, 9, True, None),)), "retry_queued", "inferred", []),
    (HOME, group(5, PULL, attempts=(Try(1, 9, True),)), "taken", "proved", ["trace_polled"]),
    (HOME, group(5, NOBODY, attempts=(Try(1, 9, True),)), "consumed", "uncertain", ["trace_success", "kind_unknown"]),
    (HOME, group(5, NOBODY, attempts=(Try(1, 9, True),), pushed=heard(True)), "consumed", "proved", ["trace_success"]),
    (HOME, group(5, replace(PUSH, broadcast=True), attempts=(Try(1, 9, True),)), "broadcast", "uncertain",
     ["broadcast_unknown", "trace_success"]),
    (HOME, group(5, replace(PUSH, broadcast=True), attempts=(Try(1, 9, True),), broadcast_offset=heard(11)),
     "broadcast", "inferred", ["broadcast_reached", "trace_success"]),
    (HOME, group(5, replace(PUSH, filter=replace(ALL, since_ms=NOW - 4_000)), attempts=OPEN), "running", "uncertain",
     ["end_not_traced", "subscribed_later"]),
    (HOME, group(5, attempts=OPEN, holders=heard((Holder("c@1", False, 0),))), "running", "inferred", []),
    (HOME, group(5, attempts=OPEN, holders=heard((Holder("c@1", True, 0, orderly=True),))), "running", "uncertain",
     ["end_not_traced"]),
    (HOME, group(copies=(queued(2, True), DEAD)), "dead", "proved", []),
    (HOME, group(None, None, copies=(DEAD,), copies_complete=False), "dead", "proved", []),
    (HOME, group(copies=(replace(DEAD, shared=True),)), "dead", "uncertain", ["shared_copy"]),
    (HOME, group(copies=(waiting(1, False, NOW + 9_000),)), "retry_waiting", "proved", []),
    (HOME, group(copies=(waiting(1, None, NOW + 9_000),)), "retry_waiting", "proved", []),
    (HOME, group(copies=(waiting(1, False, NOW - 9_000),)), "retry_waiting", "proved", ["late"]),
    (HOME, group(copies=(waiting(1, False, NOW - 100),)), "retry_waiting", "proved", []),
    (HOME, group(copies=(waiting(1, None, NOW - 9_000),)), "no_verdict", "none", ["delay_unknown"]),
    (HOME, group(copies=(waiting(2, True, NOW - 9), queued(1, True))), "no_verdict", "none", ["just_delivered"]),
    (HOME, group(copies=(queued(1, True), waiting(2, False, NOW + 9))), "retry_waiting", "proved", []),
    (HOME, group(copies=(waiting(1, True, NOW - 9), queued(1, False))), "retry_queued", "inferred", []),
    (HOME, group(consumers=NOBODY, copies=(queued(1, False),)), "retry_queued", "inferred", ["nobody_connected"]),
    (HOME, group(copies=(queued(1, None),)), "no_verdict", "none", ["retry_offset_unknown"]),
    (HOME, group(copies=(queued(1, True), queued(2, True))), "consumed_on_retry", "inferred", []),
    (HOME, group(copies=(queued(1, True),), copies_complete=False), "no_verdict", "none", ["copies_unknown"]),
    (HOME, group(consumers=POP, copies=(queued(1, True, NOW - 9_000),)),
     "taken", "uncertain", ["invisible"]),
    (HOME, group(copies=(replace(queued(1, True, NOW - 9_000), popped=True),)),
     "taken", "uncertain", ["invisible"]),
    (HOME, group(consumers=POP, copies=(queued(1, True),)), "taken", "uncertain", ["renewed"]),
    (HOME, group(consumers=POP, copies=(replace(queued(1, True), shared=True),)), "taken", "uncertain",
     ["renewed", "shared_copy"]),
    (HOME, group(consumers=POP, copies=(queued(1, True),), attempts=OPEN), "running", "uncertain", ["end_not_traced"]),
    (HOME, group(5, attempts=OPEN, **still(5)), "running", "uncertain", ["end_not_traced"]),
    (HOME, group(copies=(queued(1, False),), attempts=OPEN), "running", "uncertain", ["end_not_traced"]),
    (HOME, group(copies=(queued(1, False, NOW),), attempts=OPEN), "retry_queued", "inferred", []),
    (HOME, group(copies=(queued(1, True),), attempts=OPEN), "consumed_on_retry", "inferred", []),
    (HOME, group(11, attempts=OPEN), "consumed", "inferred", []),
    (HOME, group(11, POP, attempts=OPEN), "running", "uncertain", ["end_not_traced"]),
    (HOME, group(None, replace(PUSH, broadcast=True), broadcast_offset=heard(11)), "broadcast", "inferred",
     ["broadcast_reached"]),
    (HOME, group(None, replace(PUSH, broadcast=True), broadcast_offset=heard(10)), "broadcast", "inferred",
     ["broadcast_not_reached"]),
    (HOME, group(None, replace(PUSH, broadcast=True)), "broadcast", "uncertain", ["broadcast_unknown"]),
    (HOME, group(None, replace(PUSH, broadcast=True), can_broadcast=heard(False)), "disabled", "proved", []),
    (HOME, group(), "consumed", "inferred", []),
    (HOME, group(can_retry=heard(True)), "consumed", "inferred", []),
    (HOME, group(can_retry=heard(False)), "consumed", "uncertain", ["no_retry_queue"]),
    (HOME, group(can_retry=heard(False), copies=(queued(1, True),)), "consumed_on_retry", "uncertain",
     ["no_retry_queue"]),
    (HOME, group(can_retry=heard(False), consumers=replace(PUSH, filter=TAGS)), "filtered", "inferred", []),
    (HOME, group(consumers=NOBODY), "consumed", "uncertain", ["nobody_connected", "filter_unknown"]),
    (HOME, group(consumers=None), "consumed", "uncertain", ["connection_unknown"]),
    (HOME, group(copies_complete=False), "no_verdict", "none", ["copies_unknown"]),
    (HOME, group(consumers=replace(PUSH, filter=TAGS)), "filtered", "inferred", []),
    (replace(HOME, tag="TagB"), group(consumers=replace(PUSH, filter=TAGS)), "consumed", "inferred", []),
    (replace(HOME, tag=None), group(consumers=replace(PUSH, filter=TAGS)), "filtered", "inferred", []),
    (HOME, group(consumers=replace(PUSH, filter=replace(TAGS, since_ms=LATER))), "filtered", "uncertain",
     ["subscribed_later"]),
    (HOME, group(consumers=LATER_ALL), SKIPPED, "uncertain",
     ["subscribed_later"]),
    (HOME, group(40, own_offset=heard(11)), "consumed", "inferred", []),
    (HOME, group(40, own_offset=heard(10)), SKIPPED, "uncertain", ["client_behind"]),
    (HOME, group(40, fewer_handed=FEWER), SKIPPED, "uncertain", ["fewer_handed"]),
    (HOME, group(40, POP, fewer_handed=FEWER), SKIPPED, "uncertain", ["fewer_handed"]),
    (HOME, group(40, replace(PUSH, filter=TAGS), fewer_handed=FEWER), "filtered", "inferred", []),
    (HOME, group(40, POP, no_checkpoint=True), SKIPPED, "uncertain", ["no_checkpoint"]),
    (HOME, group(40, POP, no_checkpoint=True, attempts=(Try(1, 9, True),)), "consumed", "proved", ["trace_success"]),
    (HOME, group(40, replace(POP, filter=TAGS), no_checkpoint=True), "filtered", "inferred", []),
    (HOME, group(40, no_checkpoint=True), "consumed", "inferred", []),
    (HOME, group(40, fewer_handed=FEWER, attempts=(Try(1, 9, True),)), "consumed", "proved", ["trace_success"]),
    (HOME, group(40, fewer_handed=FEWER, own_offset=heard(10)), SKIPPED, "uncertain", ["client_behind"]),
    (HOME, group(40, own_offset=heard(10), holders=heard((Holder("c@1", True, 0),))), "running", "inferred",
     ["in_memory_first"]),
    (HOME, group(consumers=replace(LATER_ALL, from_last=False)), "consumed", "uncertain",
     ["subscribed_later"]),
    (replace(HOME, tag="TagB"), group(consumers=replace(PUSH, filter=replace(TAGS, since_ms=BEFORE))),
     "consumed", "uncertain", ["subscribed_just_before"]),
    (HOME, group(consumers=replace(PUSH, filter=replace(ALL, since_ms=BEFORE))), "consumed", "inferred", []),
    (HOME, group(consumers=replace(PUSH, filter=replace(TAGS, since_ms=BEFORE))), "filtered", "inferred", []),
    (replace(HOME, tag="TagB"), group(consumers=replace(PULL, filter=replace(TAGS, since_ms=BEFORE))),
     "taken", "uncertain", ["pulled", "subscribed_just_before"]),
    (HOME, group(consumers=replace(PUSH, filter=SQL)), "consumed", "uncertain", ["expression"]),
    (HOME, group(consumers=replace(PUSH, filter=None)), "consumed", "uncertain", ["not_subscribed"]),
    (HOME, group(consumers=replace(PUSH, other_filter="TagB")), "consumed", "uncertain", ["filters_differ"]),
    (HOME, group(consumers=POP), "taken", "inferred", ["popped"]),
    (replace(HOME, stored_ms=NOW - 9_000), group(consumers=POP), "taken",
     "uncertain", ["invisible"]),
    (HOME, group(consumers=PROXIED), "taken", "inferred", ["popped", "proxied"]),
    (replace(HOME, stored_ms=NOW - 9_000), group(consumers=PROXIED), "taken",
     "uncertain", ["invisible", "proxied"]),
    (HOME, group(consumers=replace(PUSH, grpc=True)), "taken", "inferred", ["popped"]),
    (HOME, group(consumers=replace(PULL, grpc=True, filter=TAGS)), "filtered", "inferred", []),
    (HOME, group(consumers=replace(POP, filter=TAGS)), "filtered", "inferred", []),
    (HOME, group(consumers=replace(PULL, filter=None)), "taken", "uncertain", ["pulled", "filter_unknown"]),
    (HOME, group(consumers=PULL), "taken", "uncertain", ["pulled"]),
    (HOME, group(consumers=replace(PULL, filter=ASKED_LAST)), "filtered", "uncertain", ["filter_of_last_request"]),
    (HOME, group(consumers=replace(PROXIED, filter=ASKED_LAST)), "filtered", "uncertain", ["filter_of_last_request"]),
    (replace(HOME, tag="TagB"), group(consumers=replace(PULL, filter=ASKED_LAST)), "taken", "uncertain",
     ["pulled", "filter_of_last_request"]),
    (HOME, group(consumers=replace(PULL, filter=replace(ALL, since_ms=0))), "taken", "uncertain",
     ["pulled", "filter_unknown"]),
    (replace(HOME, stored_ms=NOW - 70_000), group(consumers=POP), "taken", "uncertain", ["invisible"]),
    (HOME, group(consumers=replace(PULL, filter=TAGS)), "filtered", "inferred", []),
    (HOME, group(consumers=replace(POP, filter=replace(ALL, since_ms=LATER))), "taken", "uncertain",
     ["popped", "subscribed_later"]),
    (HOME, group(10, replace(PULL, filter=TAGS), pull_offset=heard(12)), "filtered_ahead", "inferred", []),
    (HOME, group(5, replace(PULL, filter=TAGS), **still(5)), "filtered_ahead", "inferred", []),
    (HOME, group(10, replace(PUSH, filter=SQL), pull_offset=heard(11)), "handed_out", "uncertain",
     ["expression"]),
    (HOME, group(5, NOBODY, attempts=OPEN), "offline", "inferred", ["proxy"]),
    (HOME, group(5, None, attempts=OPEN), "running", "uncertain",
     ["connection_unknown", "end_not_traced"]),
    (replace(HOME, from_slave=True), group(), "consumed", "uncertain", ["slave"]),
    (HOME, group(9, again=Observation(11, NOW)), "consumed", "inferred", []),
    (HOME, group(10, pull_offset=heard(11)), "handed_out", "inferred", []),
    (HOME, group(10, pull_offset=heard(11), blocker=Blocker(HOME.record, None, 10, STORED)), "handed_out",
     "inferred", ["unfinished_itself"]),
    (HOME, group(5, pull_offset=heard(11), blocker=Blocker("7F00", "0A42", 5, STORED)), "handed_out", "inferred",
     ["unfinished"]),
    (HOME, group(10, NOBODY, pull_offset=heard(11)), "unacknowledged", "inferred", ["pulled_before", "proxy"]),
    (HOME, group(10, NOBODY, pull_offset=heard(10)), "offline", "inferred", ["proxy"]),
    (HOME, group(10, pull_offset=heard(10), **still(10)), "stuck", "inferred", ["still"]),
    (HOME, group(10, holders=heard((Holder("c@1", True, NOW - 5_000),)), **still(10)), "running", "inferred",
     ["in_memory_first"]),
    (HOME, group(10, holders=heard((Holder("c@1", True, NOW - 5_000, waits=True),)), **still(10)), "running",
     "uncertain", ["in_memory_first", "no_thread"]),
    (HOME, group(10, holders=heard((Holder("c@1", True, NOW - 5_000, orderly=True),)), **still(10)), "running",
     "uncertain", ["in_memory_first", "in_order"]),
    (HOME, group(5, holders=heard((Holder("c@1", False, 0),)), **still(5)), "handed_out", "inferred",
     ["in_memory"]),
    (HOME, group(5, replace(PUSH, filter=TAGS), holders=heard((Holder("c@1", False, 0),)), **still(5)),
     "filtered_ahead", "inferred", []),
    (HOME, group(5, replace(PUSH, filter=replace(TAGS, since_ms=LATER)), holders=heard((Holder("c@1", True, 0),))),
     "running", "inferred", ["in_memory_first"]),
    (HOME, group(5, LATER_ALL, holders=heard((Holder("c@1", False, 0),)), **still(5)), "handed_out", "uncertain",
     ["in_memory", "subscribed_later"]),
    (HOME, group(5, holders=heard(()), **still(5)), "stuck", "inferred", ["still", "in_no_memory"]),
    (HOME, group(consumers=GONE), "taken", "inferred", ["popped", "nobody_connected"]),
    (HOME, group(5, GONE), "offline", "inferred", ["proxy"]),
    (replace(HOME, readable=False), group(5, **still(5)), "unreadable_queue", "proved", []),
    (replace(HOME, end=heard(10)), group(10), "not_dispatched", "proved", []),
    (HOME, group(5, can_consume=heard(False)), "disabled", "proved", []),
    (HOME, group(5, replace(PUSH, filter=None)), "not_subscribed", "inferred", []),
    (HOME, group(5, replace(PUSH, filter=TAGS)), "filtered_ahead", "inferred", []),
    (HOME, group(5, replace(PUSH, filter=replace(TAGS, since_ms=LATER))), "filtered_ahead", "uncertain",
     ["subscribed_later"]),
    (HOME, group(5, replace(PUSH, filter=replace(TAGS, since_ms=LATER)), pull_offset=heard(11)), "filtered_ahead",
     "uncertain", ["subscribed_later"]),
    (HOME, group(5, replace(PUSH, filter=replace(TAGS, since_ms=LATER)), pull_offset=heard(6)), "filtered_ahead",
     "inferred", []),
    (HOME, group(None, replace(PUSH, filter=replace(TAGS, since_ms=LATER))), "never_read", "uncertain",
     ["filtered_ahead", "subscribed_later"]),
    (HOME, group(5, **still(5)), "stuck", "inferred", ["still"]),
    (HOME, group(5, blocker=Blocker("7F00", "0A42", 5, STORED), **still(5)), "stuck", "inferred",
     ["still", "blocker"]),
    (HOME, group(10, blocker=Blocker(HOME.record, "0A42", 10, STORED), **still(10)), "stuck", "inferred",
     ["still", "blocker_itself"]),
    (HOME, group(5, **still(8)), "behind", "inferred", ["moving"]),
    (HOME, group(5), "behind", "uncertain", ["asked_once"]),
    (replace(HOME, stored_ms=NOW - 2_000), group(5, **still(5)), "stuck", "uncertain", ["still", "young"]),
    (HOME, group(5, NOBODY), "offline", "inferred", ["proxy"]),
    (HOME, group(10, NOBODY), "offline", "inferred", ["proxy"]),
    (HOME, group(5, NOBODY, copies_complete=False), "offline", "uncertain", ["copies_unknown", "proxy"]),
    (HOME, group(None, NOBODY), "never_read", "inferred", ["offline", "proxy"]),
    (HOME, group(10, replace(PUSH, shared="10.0.0.3@1"), **still(10)), "stuck", "inferred",
     ["still", "shared_client_id"]),
    (HOME, group(None), "never_read", "uncertain", ["no_offset_yet"]),
    (HOME, group(None, pull_offset=heard(5)), "never_read", "inferred", ["no_offset_yet"]),
    (HOME, group(None, pull_offset=heard(11)), "handed_out", "inferred", []),
    (HOME, group(None, LATER_ALL, pull_offset=heard(11)), "handed_out", "uncertain", ["subscribed_later"]),
    (HOME, group(None, replace(PULL, filter=None), pull_offset=heard(11)), "handed_out", "uncertain",
     ["filter_unknown"]),
    (HOME, group(None, NOBODY, pull_offset=heard(11)), "unacknowledged", "inferred",
     ["pulled_before", "proxy"]),
    (HOME, group(None, None), "never_read", "uncertain", ["connection_unknown"]),
    (replace(HOME, readable=False), group(None), "never_read", "inferred", ["unreadable_queue"]),
    (HOME, group(None, replace(PUSH, filter=TAGS)), "never_read", "inferred", ["filtered_ahead"]),
    (HOME, group(5, None), "no_verdict", "none", ["connection_unknown"]),
    (HOME, replace(group(), offset=Observation()), "no_verdict", "none", ["offset_unknown"]),
    (replace(HOME, static=True), group(), "no_verdict", "none", ["static_topic"]),
]
# fmt: on


def copied(offset: int | None = 11, **more: Any) -> Group:
    """A group in a copied store folder, which does not show who was connected."""
    return group(offset, None, **more)


SNAPSHOT = replace(HOME, snapshot_ms=NOW)
NOT_SHOWN = "copied_connection_unknown"
# fmt: off
COPIED: list[Row] = [
    (SNAPSHOT, copied(attempts=(Try(1, 9, True),), pushed=heard(True)), "consumed", "proved", ["trace_success"]),
    (SNAPSHOT, copied(attempts=(Try(1, 9, True),)), "consumed", "uncertain", ["trace_success", "kind_unknown"]),
    (SNAPSHOT, copied(copies=(DEAD,)), "dead", "proved", []),
    (SNAPSHOT, copied(copies=(waiting(1, False, NOW + 9),)), "retry_waiting", "inferred", ["snapshot"]),
    (SNAPSHOT, copied(copies=(waiting(1, False, NOW),)), "retry_waiting", "inferred", ["snapshot"]),
    (SNAPSHOT, copied(copies=(waiting(1, False, NOW - 9_000),)), "retry_waiting", "inferred",
     ["copied_late", "snapshot"]),
    (SNAPSHOT, copied(copies=(waiting(1, None, NOW - 9),)), "no_verdict", "none", ["copied_delay_unknown"]),
    (SNAPSHOT, copied(copies=(waiting(1, True, 9),)), "no_verdict", "none", ["copied_just_delivered"]),
    (SNAPSHOT, copied(copies=(queued(1, False),)), "retry_queued", "inferred", ["snapshot"]),
    (SNAPSHOT, copied(copies=(queued(1, None),)), "no_verdict", "none", ["copied_retry_offset_unknown"]),
    (SNAPSHOT, copied(copies=(queued(1, True),)), "consumed_on_retry", "inferred", []),
    (SNAPSHOT, copied(None, broadcast_offset=heard(11)), "broadcast", "inferred", ["broadcast_reached"]),
    (SNAPSHOT, copied(None, broadcast_offset=heard(None)), "broadcast", "uncertain", ["broadcast_unknown"]),
    (SNAPSHOT, copied(), "consumed", "uncertain", [NOT_SHOWN]),
    (SNAPSHOT, copied(kept_filter=SQL), "consumed", "uncertain", ["expression", NOT_SHOWN]),
    (SNAPSHOT, copied(kept_filter=TAGS), "filtered", "inferred", ["subscription_given"]),
    (replace(SNAPSHOT, tag="TagB"), copied(kept_filter=TAGS), "consumed", "inferred", ["subscription_given"]),
    (SNAPSHOT, copied(5, kept_filter=TAGS), "filtered_ahead", "inferred", ["subscription_given"]),
    (SNAPSHOT, copied(None, kept_filter=TAGS), "never_read", "inferred",
     ["filtered_ahead", "subscription_given", "snapshot"]),
    (SNAPSHOT, copied(copies_complete=False), "no_verdict", "none", ["copied_copies_unknown"]),
    (SNAPSHOT, copied(10, pull_offset=heard(11)), "handed_out", "inferred", ["snapshot"]),
    (SNAPSHOT, copied(10, pull_offset=heard(11), visible_ms=NOW + 9_000), "handed_out", "inferred",
     ["visible_again", "snapshot"]),
    (SNAPSHOT, copied(held=HELD), "handed_out", "inferred", ["pop_record", "visible_again", "snapshot"]),
    (SNAPSHOT, copied(held=PopRecord(NOW - 9, NOW)), "handed_out", "inferred",
     ["pop_record", "visible_now", "snapshot"]),
    (SNAPSHOT, copied(held=HELD, attempts=OPEN), "running", "uncertain",
     [NOT_SHOWN, "end_not_traced", "snapshot"]),
    (SNAPSHOT, copied(held=HELD, attempts=(Try(STORED, NOW, True),)), "consumed", "proved", ["trace_success"]),
    (SNAPSHOT, copied(held=HELD, copies=(queued(1, False),)), "retry_queued", "inferred", ["snapshot"]),
    (SNAPSHOT, copied(copies=(replace(queued(1, True), held=HELD),)), "handed_out", "inferred",
     ["pop_record", "visible_again", "snapshot"]),
    (SNAPSHOT, copied(copies=(replace(queued(1, True), held=HELD, shared=True),)), "handed_out", "uncertain",
     ["pop_record", "visible_again", "shared_copy", "snapshot"]),
    (SNAPSHOT, copied(held=ACKED), "consumed", "inferred", ["acknowledged"]),
    (SNAPSHOT, copied(10, held=ACKED, copies_complete=False), "consumed", "uncertain",
     ["acknowledged", "copied_copies_unknown"]),
    (SNAPSHOT, copied(held=replace(HELD, left_out=True)), "filtered", "inferred", ["left_out"]),
    (SNAPSHOT, copied(held=replace(HELD, left_out=True), kept_filter=TAGS), "filtered", "inferred", ["left_out"]),
    (replace(SNAPSHOT, tag="TagB"), copied(held=replace(HELD, left_out=True), kept_filter=TAGS), "filtered",
     "uncertain", ["left_out"]),
    (SNAPSHOT, copied(held=ACKED, attempts=OPEN), "consumed", "inferred", ["acknowledged"]),
    (SNAPSHOT, copied(held=ACKED, kept_filter=TAGS), "filtered", "inferred", ["subscription_given"]),
    (SNAPSHOT, copied(held=replace(ACKED, visible_ms=NOW - 8_000)), "consumed", "uncertain",
     ["acknowledged", "acknowledged_late"]),
    (SNAPSHOT, copied(held=ACKED, copies=(queued(1, True),)), "consumed_on_retry", "inferred", []),
    (SNAPSHOT, copied(copies=(replace(queued(1, True), held=ACKED),)), "consumed_on_retry", "uncertain",
     ["acknowledged", "acknowledged_retry"]),
    (SNAPSHOT, copied(10), "behind", "uncertain", [NOT_SHOWN, "snapshot"]),
    (replace(SNAPSHOT, stored_ms=NOW - 2_000), copied(10), "behind", "uncertain",
     [NOT_SHOWN, "copied_young", "snapshot"]),
    (replace(SNAPSHOT, readable=False), copied(5), "unreadable_queue", "inferred", ["snapshot"]),
    (SNAPSHOT, copied(5, can_consume=heard(False)), "disabled", "inferred", ["snapshot"]),
    (SNAPSHOT, copied(None), "never_read", "uncertain", [NOT_SHOWN, "snapshot"]),
    (SNAPSHOT, replace(copied(), offset=Observation()), "no_verdict", "none", ["copied_offset_unknown"]),
]
# fmt: on


@pytest.mark.parametrize(("home", "known", "code", "certainty", "why"), TABLE + COPIED)
def test_the_rule(home: JudgedRecord, known: Group, code: str, certainty: str, why: list[str]) -> None:
    verdict = judge(home, known, NOW)
    assert (verdict.code, verdict.certainty, [reason.code for reason in verdict.why]) == (code, certainty, why)
    for lang in catalogue.languages():
        words = catalogue.words(lang)
        said = [verdict_text(verdict, words), *(reason_text(reason, words) for reason in verdict.why)]
        assert all(text and "?" not in text and "{" not in text for text in said), said
        assert all(words.has(f"fate.fact.{fact.name}") and fact_text(fact, words) for fact in verdict.facts)


def test_every_verdict_and_every_reason_has_a_row_and_words_in_the_table() -> None:
    words = catalogue.words()
    verdicts = {judge(home, known, NOW).code for home, known, *_ in TABLE}
    assert verdicts == set(words.table("fate.name.")) == set(words.table("fate.disproof."))
    reasons = {code for *_, why in TABLE + COPIED for code in why}
    # these come of several records, or hinder a group that has an offset under a verdict of their own
    elsewhere = {"twice", "other_record", "not_dispatched", "disabled"}
    assert reasons | elsewhere == set(words.table("fate.why."))
    assert all(text.endswith(".") for text in words.table("fate.disproof.").values())


@pytest.mark.parametrize("home", [HOME, replace(HOME, end=Observation(), readable=None)])
def test_silence_is_never_called_not_consumed(home: JudgedRecord) -> None:
    verdict = judge(home, Group("G"), NOW)
    assert (verdict.code, verdict.certainty) == ("no_verdict", "none")
    assert row_of(verdict)["verdict_text"] == "could not be determined"


SAYS_NOT = {"offline", "stuck", "behind", "never_read", "not_subscribed", "filtered_ahead", "handed_out"}


@pytest.mark.parametrize("silent", ["offset", "consumers"])
def test_whoever_is_silent_takes_the_verdicts_away_that_only_they_could_give(silent: str) -> None:
    for home, known, code, _, _ in TABLE:
        if code in SAYS_NOT:
            quiet: dict[str, Any] = {silent: Observation(), "again": Observation()}
            after = judge(home, replace(known, **quiet), NOW)
            allowed = {"offset": {"no_verdict"}, "consumers": {"no_verdict", "never_read", "handed_out", "running"}}[
                silent
            ]
            assert after.code in allowed, (code, after.code)


def test_a_copied_folder_never_says_who_is_connected() -> None:
    told = [(home, known) for home, known, *_ in COPIED if not (known.held and known.held.left_out)]
    seen = {judge(home, known, NOW).code for home, known in told if known.kept_filter is not TAGS}
    assert not seen & {"offline", "stuck", "not_subscribed", "filtered", "filtered_ahead", "taken"}
    assert judge(SNAPSHOT, Group("G"), NOW).code == "no_verdict"


def test_the_verdict_says_since_when_it_is_known() -> None:
    row = row_of(judge(HOME, group(5, attempts=(), **still(5)), NOW))
    assert row["asked_at"] == "2026-11-18T11:16:39.000+00:00"
    evidence = {fact["name"]: fact["value"] for fact in row["evidence"]}
    assert evidence["consumer_offset"] == 5 and evidence["queue_offset"] == 10 and evidence["clients"] == 2
    assert row["why"][0]["text"] == "the group's offset did not advance within 5 s" and row["values"] == {"ahead": 5}
    assert row["disproof"].endswith(".") and row["group"] == "G" and row["record"] == HOME.record


def test_a_dead_letter_counts_attempts_and_a_retry_has_its_number() -> None:
    dead = record("%DLQ%works", "0A42", 0, reconsume_times=1, properties={"RETRY_TOPIC": "T"})
    copies = [group_copy(each, heard(0)) for each in (dead, replace(dead, reconsume_times=0))]
    assert [copy.tries for copy in copies] == [1, 1]
    assert "(failed attempts: 1)" in verdict_text(judge(HOME, group(copies=(copies[0],)), NOW))
    retry = verdict_text(judge(HOME, group(copies=(queued(1, False),)), NOW))
    assert retry == "retry 1 after a failure is ready, not consumed yet"


def test_a_group_whose_offset_was_set_forward_has_not_surely_consumed_what_it_jumped() -> None:
    """No broker notes a reset. A Java push client that is reset takes its queues anew and subscribes again (since 5.0:
    RebalancePushImpl.messageQueueChanged); of a group that was reset without clients nobody is connected.
    """
    anew = replace(PUSH, filter=replace(ALL, since_ms=LATER), from_last=False)
    for consumers in (anew, NOBODY):
        assert judge(HOME, group(40, consumers), NOW).certainty == "uncertain"
    assert "an offset that was reset" in catalogue.words()("fate.disproof.consumed")


def test_rate_and_arrival_come_of_two_questions() -> None:
    verdict = judge(HOME, group(5, **still(8)), NOW)
    assert verdict.values == {"ahead": 2}
    assert verdict.why[0].values == {"rate": 0.6, "seconds": 5}


def test_two_records_of_one_message() -> None:
    one, two = judge(HOME, group(), NOW), judge(replace(HOME, record="B"), group(5, NOBODY), NOW)
    marked = mark_doubles([one, two])
    assert [[reason.code for reason in each.why] for each in marked] == [[], ["proxy", "other_record"]]
    both: list[Verdict] = mark_doubles([one, replace(one, record="B")])
    assert [each.why[-1].code for each in both] == ["twice", "twice"] and both[0].why[-1].values == {"record": "B"}
    assert mark_doubles([two, two]) == [two, two]


def test_attempts_of_traces_fit_also_those_of_old_clients_that_lack_a_time() -> None:
    old = Traced("0A42", "G", "0A43", STORED, None, True, None, 0, None, None, None, None, None)
    attempt: Attempt = old
    verdict = judge(HOME, group(5, attempts=(attempt,)), NOW)
    assert (verdict.code, verdict.why[0].values) == ("consumed", {"at": STORED, "tries": 0})
    begun = replace(old, success=None)
    assert judge(HOME, group(5, attempts=(begun,), **still(5)), NOW).code == "running"
    lost = replace(old, success=None, began_ms=None)
    assert judge(HOME, group(5, attempts=(lost,), **still(5)), NOW).code == "stuck"


@pytest.mark.parametrize(
    ("chosen", "tag", "excludes"),
    [
        (ALL, "x", False),
        (ALL, None, False),
        (TAGS, "TagB", False),
        (TAGS, "TagA", True),
        (TAGS, None, True),
        (Filter("TAG", "", frozenset(), 0), None, False),
        (Filter("TAG", "*", frozenset({"*"}), 0), "x", False),
        (Filter("TAG", "TagA || *", frozenset({"TagA", "*"}), 0), "x", True),
        (Filter("TAG", "TagA || *", frozenset({"TagA", "*"}), 0), "TagA", False),
        (Filter("TAG", " * ", frozenset({"*"}), 0), "x", True),
        (Filter("TAG", " ", frozenset(), 0), "x", True),
        (Filter("TAG", "TagA", frozenset(), 0), "x", None),
        (SQL, "x", None),
        (Filter("TAG", "Some.class", frozenset(), 0, True), "x", None),
    ],
)
def test_a_filter_excludes_as_the_broker_does(chosen: Filter, tag: str | None, excludes: bool | None) -> None:
    assert chosen.excludes(tag) is excludes


def test_a_filter_that_lets_a_message_through_is_not_named_as_the_one_that_dropped_it() -> None:
    """The broker left it out when others were handed over; the filter of the group may be another by now."""
    dropped = replace(HELD, left_out=True)
    assert judge(SNAPSHOT, copied(held=dropped, kept_filter=TAGS), NOW).values["expression"] == TAGS.expression
    for home, kept in ((replace(SNAPSHOT, tag="TagB"), TAGS), (SNAPSHOT, SQL), (SNAPSHOT, None)):
        assert judge(home, copied(held=dropped, kept_filter=kept), NOW).values["expression"] == "–"
