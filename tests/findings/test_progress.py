"""Findings about consumer groups, on tables made by hand: what each needs, and what keeps it silent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from idcore.answers.findings import limits, progress
from idcore.answers.findings.all_rules import Finding, to_table
from idcore.answers.findings.large import Rows
from idcore.answers.findings.registry import Scan
from idcore.presentation.triage import finding_rows
from idcore.scan.schemas import SCHEMAS

pytestmark = pytest.mark.quick

BEGIN = datetime(2026, 11, 20, 2, tzinfo=UTC)
STILL = limits.STILL_MS // 60_000


def at(minute: float) -> datetime:
    return BEGIN + timedelta(minutes=minute)


def scan_of(**rows: Iterable[Mapping[str, Any]]) -> Scan:
    tables = {name: pa.Table.from_pylist(list(each), schema=SCHEMAS[name]) for name, each in rows.items()}
    return Scan(Rows(tables, {}, lambda: None), at(600), UTC)


def fate(verdict: str, first: float, last: float, queue: int = 0, messages: int = 50, **more: Any) -> dict[str, Any]:
    return {
        "topic": "orders",
        "group": "billing",
        "queue_id": queue,
        "verdict": verdict,
        "messages": messages,
        "first_store_timestamp": at(first),
        "last_store_timestamp": at(last),
        **more,
    }


def place(queue: int = 0, offset: int | None = 100, earlier: int | None = None, **more: Any) -> dict[str, Any]:
    return {
        "topic": "orders",
        "group": "billing",
        "queue_id": queue,
        "consumer_offset": offset,
        "earlier_offset": earlier,
        "queue_begin": 0,
        "queue_end": 150,
        **more,
    }


def said(found: Iterable[Finding]) -> list[tuple[str, int, str, str]]:
    return [(one.subject, one.count, one.evidence.get("variant", ""), one.severity) for one in found]


# ---- a group that no longer advances


@pytest.mark.parametrize(
    ("places", "fates", "expected"),
    [
        ([place()], [fate("consumed", 0, 9), fate("behind", 10, 10 + STILL)], [("", "warning")]),
        # a minute less, or nine messages, may be any deployment
        ([place()], [fate("consumed", 0, 9), fate("behind", 10, 9 + STILL)], []),
        ([place()], [fate("consumed", 0, 9), fate("behind", 10, 99, messages=9)], []),
        ([place()], [fate("behind", 0, STILL)], [("", "warning")]),
        ([place()], [fate("disabled", 0, 60)], [("disabled", "warning")]),
        # the broker's last two writes differ, or are equal
        ([place(earlier=99)], [fate("behind", 0, 60)], [("moving", "info")]),
        ([place(earlier=100)], [fate("behind", 0, 60)], [("", "warning")]),
        # another queue goes on; nothing came any more
        ([place(), place(1)], [fate("behind", 0, 60), fate("consumed", 0, 60, queue=1)], []),
        ([place()], [fate("consumed", 0, 60)], []),
        # a retry that failed was handed to somebody
        ([place()], [fate("behind", 0, 60), fate("retry_waiting", 59, 59, messages=1)], []),
    ],
)
def test_a_group_is_stalled_if_a_topic_goes_on_behind_all_that_it_passed(
    places: list[Any], fates: list[Any], expected: list[tuple[str, str]]
) -> None:
    found = said(progress.stalled(scan_of(progress=places, fates=fates)))
    assert [one[2:] for one in found] == expected
    assert all(one[0] == "orders@billing" for one in found)


def test_a_stalled_group_names_the_message_that_is_next() -> None:
    listed = {"topic": "orders", "queue_id": 0, "groups": 1, "verdicts": "{}"}
    undelivered = [listed | {"queue_offset": offset, "msg_id": f"ID{offset}"} for offset in (99, 100, 101)]
    (found,) = progress.stalled(scan_of(progress=[place()], fates=[fate("behind", 3, 63)], undelivered=undelivered))
    assert found.evidence["ids"] == ["ID100"] and found.evidence["minutes"] == 60 and found.certainty == "likely"
    assert (found.since, found.until) == (at(3), at(63))
    said = "50 messages stored within 60 min are waiting, and the first was stored at 2026-11-20T02:03"
    assert said in found.say("meaning")


# ---- a queue that stays at one message


@pytest.mark.parametrize(
    ("places", "fates", "expected"),
    [
        ([place(), place(1)], [fate("behind", 5, 60), fate("consumed", 0, 60, queue=1)], ["orders@billing queue 0"]),
        ([place(earlier=90), place(1)], [fate("behind", 5, 60), fate("consumed", 0, 60, queue=1)], []),
        ([place(), place(1)], [fate("behind", 50, 60), fate("consumed", 0, 60, queue=1)], []),
        # the others stopped soon after: then the group is stalled
        ([place(), place(1)], [fate("behind", 5, 60), fate("consumed", 0, 5 + STILL - 1, queue=1)], []),
        ([place()], [fate("consumed", 0, 5), fate("behind", 5, 60)], []),
    ],
)
def test_a_message_blocks_a_queue_if_the_others_go_on(places: list[Any], fates: list[Any], expected: list[str]) -> None:
    assert [one.subject for one in progress.blocked(scan_of(progress=places, fates=fates))] == expected


# ---- messages passed over


@pytest.mark.parametrize(
    ("places", "fates", "expected"),
    [
        ([place(offset=100_000)], [fate("consumed", 0, 60)], [(99_850, "")]),
        # what came within an hour of copying; a queue of which little is known
        ([place(offset=150 + 50)], [fate("consumed", 0, 60)], []),
        ([place(offset=150 + 2_000)], [fate("consumed", 0, 60, messages=3_000)], []),
        ([place(offset=150 + limits.COPY_SKEW_MESSAGES)], [], []),
        ([place(offset=40, queue_begin=70)], [fate("behind", 0, 3)], [(30, "deleted")]),
        ([place(offset=70, queue_begin=70)], [fate("behind", 0, 3)], []),
        ([place(), place(1, None)], [fate("never_read", 0, 60, queue=1)], [(50, "never_read")]),
        ([place(), place(1, None)], [fate("never_read", 50, 60, queue=1)], []),
        ([place(0, None)], [fate("never_read", 0, 60)], []),
        ([place()], [fate("unreadable_queue", 0, 3, messages=7)], [(7, "unreadable")]),
    ],
)
def test_a_group_passes_over_messages(places: list[Any], fates: list[Any], expected: list[tuple[int, str]]) -> None:
    found = said(progress.skipped(scan_of(progress=places, fates=fates)))
    assert [one[1:3] for one in found] == expected


# ---- topics that nobody reads


def topic(name: str, first: float = 0, last: float = 60, messages: int = 30) -> dict[str, Any]:
    times = {"first_store_timestamp": at(first), "last_store_timestamp": at(last)}
    return {"topic": name, "queue_id": 0, "messages": messages, "bytes": 9_000, **times}


def test_a_topic_without_a_group_is_unread_if_others_have_one() -> None:
    topics = [
        topic("orders"),
        topic("lost"),
        topic("few", messages=9),
        topic("new", 50),
        topic("%RETRY%billing"),
        topic("SCHEDULE_TOPIC_XXXX"),
        topic("broadcast"),
    ]
    fates = [fate("consumed", 0, 60), fate("broadcast", 0, 60, topic="broadcast", group="cache")]
    found = said(progress.unread(scan_of(progress=[place()], fates=fates, topics=topics)))
    assert found == [("lost", 30, "", "warning")]
    fates.append(fate("never_read", 0, 60, topic="lost", group="filters"))  # it has a filter, but no offset
    assert said(progress.unread(scan_of(progress=[place()], fates=fates, topics=topics))) == found


def test_without_any_offset_no_topic_is_called_unread() -> None:
    own = place(topic="RMQ_SYS_TRANS_HALF_TOPIC", group="CID_RMQ_SYS_TRANS")
    for places in ([], [own]):
        assert not list(progress.unread(scan_of(progress=places, fates=[], topics=[topic("lost")])))


def test_a_finding_of_a_group_leads_to_its_deliveries() -> None:
    found = to_table(progress.stalled(scan_of(progress=[place()], fates=[fate("behind", 3, 63)]))).to_pandas()
    assert finding_rows.fates_of(found.iloc[0].to_dict(), "run") == {
        "run": "run",
        "group": "billing",
        "topic": "orders",
        "from": "2026-11-20T02:03:00.000Z",
        "to": "2026-11-20T03:03:00.001Z",
    }
    (unread,) = progress.unread(scan_of(progress=[place()], fates=[], topics=[topic("lost")]))
    assert finding_rows.fates_of(to_table([unread]).to_pandas().iloc[0].to_dict(), "run") is None


def test_a_scan_of_logs_has_none_of_them() -> None:
    scan = scan_of()
    for rule in (progress.stalled, progress.blocked, progress.skipped, progress.unread):
        assert not list(rule(scan))
