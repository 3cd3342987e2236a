"""Failures of consumer groups, on tables made by hand and on the copies of a small store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import stores
from benchmarks.findings import START, ZONE
from idcore.answers.findings import limits, retries
from idcore.answers.lookup.copies import group_of
from idcore.rocketmq.message.model import DLQ_PREFIX
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.simulate.situations import Situation
from tests.findings.test_progress import at, fate, scan_of, topic

pytestmark = pytest.mark.quick

EVERY = 120  # minutes of the log


def failures(led_to: str, counts: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    return [
        {"group": "billing", "minute": at(minute), "led_to": led_to, "tries": count, "most_retry_times": 1}
        for minute, count in counts
    ]


def told(led_to: str, counts: Sequence[tuple[int, int]], busy: Sequence[int] = ()) -> list[tuple[int, int, int]]:
    """Count, minutes and the count elsewhere of each finding; ten messages come in a minute, sixty in busy ones."""
    fates = [
        fate("consumed", minute, minute, messages=60 if minute in busy else 10, minute=at(minute))
        for minute in range(EVERY)
    ]
    scan = scan_of(retries=failures(led_to, counts), topics=[topic("orders", 0, EVERY - 1)], fates=fates)
    rule = retries.storms if led_to == "retry" else retries.dead_letters
    return [(one.count, one.evidence["minutes"], one.evidence["others"]) for one in rule(scan)]


def test_a_storm_is_many_failed_tries_in_some_minutes() -> None:
    usual = [(minute, 1) for minute in range(EVERY)]
    assert told("retry", usual) == []
    assert told("retry", [(minute, 20 if 60 <= minute < 70 else 1) for minute in range(EVERY)]) == [(200, 10, 110)]
    assert told("retry", [(60, limits.STORM_TRIES)]) == [(limits.STORM_TRIES, 1, 0)]
    assert told("retry", [(60, limits.STORM_TRIES - 1)]) == []
    # as many as before, and as many for each message
    assert told("retry", [(minute, 3 if 60 <= minute < 90 else 1) for minute in range(EVERY)]) == []
    busy = range(60, 90)
    assert told("retry", [(minute, 6 if minute in busy else 1) for minute in range(EVERY)], busy) == []
    assert len(told("retry", [(minute, 6 if minute in busy else 1) for minute in range(EVERY)])) == 1


def test_dead_letters_rise_from_some_minute_on() -> None:
    assert told("dead_letter", [(minute, 1) for minute in range(0, EVERY, 10)]) == []
    assert told("dead_letter", [(20, 1), *((minute, 1) for minute in range(80, EVERY))]) == [(40, 40, 1)]
    assert told("dead_letter", [(60, limits.DEAD_LETTERS)]) == [(limits.DEAD_LETTERS, 1, 0)]
    assert told("dead_letter", [(60, limits.DEAD_LETTERS - 1)]) == []


def test_a_record_with_a_wrong_clock_changes_nothing() -> None:
    """One record of another topic makes a log of ten years: the week with the failures is judged."""
    counts = [(minute, 20 if 60 <= minute < 70 else 1) for minute in range(EVERY)]
    fates = [fate("consumed", minute, minute, messages=10, minute=at(minute)) for minute in range(EVERY)]
    scan = scan_of(
        retries=failures("retry", [*counts, (5_000_000, 1)]), topics=[topic("orders", 0, 5_000_000)], fates=fates
    )
    (found,) = retries.storms(scan)
    assert (found.count, found.evidence["minutes"], found.evidence["others"]) == (200, 10, 110)
    steady = [(minute, 1) for minute in range(0, 3 * 1_440, 60)]
    scan = scan_of(retries=failures("dead_letter", steady), topics=[topic("orders", -60_000, 3 * 1_440)], fates=fates)
    assert list(retries.dead_letters(scan)) == []


def test_a_rise_needs_other_minutes_to_compare_with() -> None:
    short = np.zeros(limits.RISE_MINUTES - 1, np.int64)
    short[3] = 1_000
    assert retries.rise(short, np.ones(len(short)), 100) is None
    for share, found in ((0.5, True), (0.9, False)):
        counts = np.where(np.arange(100) < 100 * share, 50, 1)
        assert (retries.rise(counts, np.ones(100), 100) is not None) is found


@pytest.mark.parametrize("seed", range(3))
def test_chance_alone_is_not_a_rise(seed: int) -> None:
    random = np.random.default_rng(seed)
    for mean in (0.02, 0.5, 10.0):
        assert retries.rise(random.poisson(mean, 4_000), np.ones(4_000), limits.DEAD_LETTERS) is None


def test_few_messages_with_many_retries_are_poison_and_many_are_an_outage() -> None:
    def tries(count: int, retry_times: int, group: str = "billing") -> list[dict[str, Any]]:
        return [
            {
                "msg_id": f"ID{number}",
                "retry_times": retry,
                "topic": "orders",
                "group": group,
                "store_timestamp": at(5 + retry),
            }
            for number in range(count)
            for retry in range(retry_times + 1)
        ]

    def found(attempts: list[dict[str, Any]]) -> list[tuple[int, int, list[str]]]:
        scan = scan_of(attempts=attempts, fates=[fate("consumed", 0, 60, messages=2_000)])
        poison = list(retries.many_tries(scan))
        assert all(one.since == one.until == at(5) for one in poison), "when the messages were stored, not their copies"
        return [(one.count, one.evidence["retries"], one.evidence["ids"]) for one in poison]

    least = limits.POISON_RETRIES
    assert found(tries(2, least)) == [(2, least, ["ID0", "ID1"])]
    assert found(tries(20, least - 1)) == []
    assert len(found(tries(20, 16))) == 1 and found(tries(21, 16)) == []


def test_messages_without_a_msgid_are_told_apart_by_their_places() -> None:
    of_one = {"msg_id": None, "topic": "orders", "group": "billing", "queue_id": 0, "store_timestamp": at(5)}
    rows = [of_one | {"queue_offset": offset, "retry_times": 12} for offset in range(7)]
    (found,) = retries.many_tries(scan_of(attempts=rows, fates=[fate("consumed", 0, 60, messages=2_000)]))
    assert (found.count, found.evidence["ids"]) == (7, [])


def test_a_healthy_store_has_no_finding_of_its_groups(tmp_path: Path) -> None:
    found, truth, _ = stores.tell(Situation("healthy", "busy", 4, START, ZONE), tmp_path)
    assert found == [] == truth["expected"]


def test_the_table_counts_each_failure_once(tmp_path: Path) -> None:
    root = tmp_path / "store"
    Situation("retry_storm", "outage", 4, START, ZONE).write(root)
    expected: dict[tuple[str, str, str, int], int] = {}
    with StoreFolder(root) as store:
        for record in (step.record for step in store.log.walk() if isinstance(step, Stored)):
            group = group_of(record, [])
            if group:
                is_dead = record.topic.startswith(DLQ_PREFIX)
                key = (group, "dead_letter" if is_dead else "retry", record.uniq_id or "", record.reconsume_times)
                expected[key] = min(expected.get(key, record.store_timestamp), record.store_timestamp)
    minutes = Counter((group, led_to, when // 60_000) for (group, led_to, _, _), when in expected.items())
    table = stores.tables(root)["retries"]
    assert minutes == {
        (
            row["group"],
            row["led_to"],
            round((row["minute"] - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) // 60,
        ): row["tries"]
        for row in table.to_pylist()
    }
    assert sum(minutes.values()) > 200 and max(table["most_retry_times"].to_pylist()) > 1
