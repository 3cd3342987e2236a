"""Offsets with their instants, and bytes a second of a broker: against the slow twin, and known by construction."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from idcore.scan.crossing import What
from idcore.scan.facts import scan_task as facts_of
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.tables import Merge
from idcore.sources.inputs import list_files, split_files
from tests.scan import twin
from tests.scan.comparing import differences, same
from tests.scan.logs import AT, JAVA, NOON, joined, offset, offset6, send_result, uniq
from tests.scan.logs import client as client_id

Write = Callable[..., str]
MONTHS = month_rows(AT, UTC)
TEN = datetime(2026, 3, 10, 10, 0, tzinfo=UTC)
GREATEST = 1 << 48


def line(ms: int, place: int, broker: int = 0x0A000001) -> str:
    """A send of the 10th, `ms` after 10:00, stored at `place`."""
    return send_result(uniq(0x0A000009, 7, JAVA, NOON + ms, place), offset(broker, 10911, place))


def scan(path: str, split: int = 1 << 30) -> Mapping[str, pa.Table]:
    return scan_local([path], MONTHS, split)


def speed_of(on_disk: Write, *lines: str) -> float | None:
    (row,) = scan(on_disk(joined(list(lines))))["brokers"].to_pylist()
    speed: float | None = row["bytes_per_second"]
    return speed


@pytest.mark.parametrize("hours", [-3, 3])
def test_one_wrong_clock_does_not_stretch_the_time_of_a_broker(hours: int, on_disk: Write) -> None:
    """Once 10.3 KiB/s were 1.0, and a broker was full in ten days and not in eleven hours."""
    honest = [line(60_000 * minute + 100, 600_000 * minute) for minute in range(21)]
    wrong = [line(60_000 * minute + 3_600_000 * hours, 600_000 * minute + 7) for minute in range(0, 21, 3)]
    assert speed_of(on_disk, *honest) == speed_of(on_disk, *honest, *wrong) == 10_000


def tied(seed: int, lines: int = 400) -> bytes:
    """Few offsets and few instants, so that both meet again and again; every kind of id, both ends of the numbers."""
    r = random.Random(seed)
    places = [0, 1, 100, 200, 300, 10**9, GREATEST - 1, GREATEST]
    made = []
    for n in range(lines):
        ms = r.choice((0, 1, 59_999, 60_000, 60_001, 119_999, 3_600_000)) + r.randrange(2)
        own = r.choice(
            (
                uniq(0x0A000009, 7, JAVA, NOON + ms, n),
                client_id(0x087190669A00, 5, 163_000_000 + ms // 1000, n),
                uniq(0x0A000009, 7, JAVA, 2**32 - 1, n),
            )
        )
        place = r.choice(places)
        where = r.choice((offset(0x0A000001 + r.randrange(2), 10911, place), offset6(0xFE80 << 112, 10911, place)))
        moment = "2026-03-10 10:00:05,000 +08:00 " if r.random() < 0.2 else ""
        more = f" {offset(0x0A000001, 10911, r.choice(places))}" if r.random() < 0.2 else ""
        made.append(f"{moment}{send_result(own, where)}{more}")
    return joined(made)


# ---- one speed for each broker


def test_215_megabytes_in_49_seconds_are_their_own_speed(on_disk: Write) -> None:
    assert speed_of(on_disk, line(3_000, 0), line(20_000, 10**8), line(52_000, 215_000_000)) == 215_000_000 / 49


def test_milliseconds_count_and_minutes_do_not(on_disk: Write) -> None:
    assert speed_of(on_disk, line(59_999, 1_000), line(60_001, 3_000)) == 2_000 / 0.002


@pytest.mark.parametrize(
    "lines",
    [
        [line(500, 100)],
        [line(500, 100), line(500, 900)],
        [line(500, 100), line(7_000, 100)],
        [line(9_000, 100), line(5_000, 900)],
        [line(5_000, 100), line(5_000, 900), line(70_000, 900)],
        ["nothing " + offset(0x0A000001, 10911, 5)],
    ],
    ids=["one line", "one instant", "one offset", "disorder", "earliest of the highest", "none"],
)
def test_without_two_instants_in_order_there_is_no_speed(lines: list[str], on_disk: Write) -> None:
    assert speed_of(on_disk, *lines) is None


def test_of_equal_offsets_the_earliest_instant_counts_wherever_it_is_said(on_disk: Write) -> None:
    lines = [line(2_000, 0), line(9_000, 0), line(12_000, 10_000), line(70_000, 10_000), line(700_000, 10_000)]
    for turn in range(6):
        random.Random(turn).shuffle(lines)
        assert speed_of(on_disk, *lines) == 10_000 / 10


def test_lines_with_one_of_the_ids_date_nothing(on_disk: Write) -> None:
    alone = [offset(0x0A000001, 10911, 0), offset(0x0A000001, 10911, 1 << 40), uniq(0x0A000009, 7, JAVA, NOON, 1)]
    assert speed_of(on_disk, *alone, line(0, 1_000), line(4_000, 5_000)) == 1_000


def test_each_broker_has_its_own_speed(on_disk: Write) -> None:
    lines = [line(ms, ms * speed, 0x0A000000 + speed) for ms in (0, 500, 8_000) for speed in (3, 5, 9)]
    rows = scan(on_disk(joined(lines)))["brokers"].to_pylist()
    assert {row["host"]: row["bytes_per_second"] for row in rows} == {
        "10.0.0.3": 3_000,
        "10.0.0.5": 5_000,
        "10.0.0.9": 9_000,
    }


# ---- the instants of each minute


def test_growth_has_the_instants_of_its_offsets(on_disk: Write) -> None:
    lines = [line(1_250, 50), line(30_000, 10), line(30_001, 10), line(59_999, 90), line(60_000, 120)]
    rows = scan(on_disk(joined(lines)))["growth"].to_pylist()
    assert [(row["minute"] - TEN, row["min_offset"], row["max_offset"]) for row in rows] == [
        (timedelta(0), 10, 90),
        (timedelta(minutes=1), 120, 120),
    ]
    assert [((row["min_at"] - TEN).total_seconds(), (row["max_at"] - TEN).total_seconds()) for row in rows] == [
        (30.0, 59.999),
        (60.0, 60.0),
    ]


def test_the_greatest_offset_there_is_has_its_instant_too(on_disk: Write) -> None:
    rows = scan(on_disk(joined([line(59_999, GREATEST), line(0, GREATEST - 1)])))["growth"].to_pylist()
    assert [(row["min_offset"], row["max_offset"]) for row in rows] == [(GREATEST - 1, GREATEST)]
    assert (rows[0]["min_at"], rows[0]["max_at"]) == (TEN, TEN + timedelta(milliseconds=59_999))


# ---- the same whatever the split, the order, the tasks


@pytest.mark.long(first=1)
@pytest.mark.parametrize("seed", range(3))
def test_ties_equal_the_twin_at_every_split_size(seed: int, on_disk: Write) -> None:
    data = tied(seed)
    path = on_disk(data)
    want = twin.tables({path: data}, UTC, AT)
    assert len(want["brokers"]) == 3
    whole = scan(path)
    assert differences(whole, want) == []
    assert whole["brokers"]["bytes_per_second"].to_pylist() == [  # to the last bit
        row["bytes_per_second"] for row in sorted(want["brokers"], key=lambda row: str(row["address"]))
    ]
    for split in (64, 333, 4096):
        found = scan(path, split)
        assert differences(found, want) == []
        assert same(found, whole) == []


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_lines_and_of_facts_does_not_matter(seed: int, on_disk: Write) -> None:
    r = random.Random(seed)
    lines = tied(seed).splitlines(keepends=True)
    want = scan(on_disk(b"".join(lines)))
    r.shuffle(lines)
    path = on_disk(b"".join(lines), "shuffled.log")
    assert same(scan(path), want, ["files", "refused", "copies"]) == []
    splits = split_files(list_files([str(Path(path))]), 1_500)
    facts = [fact for split in splits for fact in facts_of([split], MONTHS)]
    assert sum(fact.what == What.RANGES for fact in facts) > 10
    r.shuffle(facts)
    for name, table in Merge(MONTHS).tables(facts):
        if name in ("brokers", "growth"):
            by = [("address", "ascending"), *([("minute", "ascending")] if name == "growth" else [])]
            assert table.sort_by(by).to_pylist() == want[name].to_pylist()


@pytest.mark.long
def test_more_brokers_and_minutes_than_the_kernel_keeps_at_once(on_disk: Write) -> None:
    r = random.Random(1)
    lines = [
        line(r.randrange(10) * 60_000 + r.randrange(60_000), r.randrange(500), 1 + r.randrange(3_000))
        for _ in range(9_000)
    ]
    data = joined(lines)
    path = on_disk(data)
    want = twin.tables({path: data}, UTC, AT)
    found = scan(path, 200_000)
    assert differences(found, {name: want[name] for name in ("brokers", "growth")}) == []
    assert not np.isnan(found["brokers"]["bytes_per_second"].drop_null().to_numpy()).any()
