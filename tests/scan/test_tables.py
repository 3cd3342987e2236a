"""What the contract promises of the tables beyond the twin's rows: columns, types, and the thinned or binned tables."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.scan import logs, twin
from tests.scan.logs import AT, Log
from tests.scan.logs_of_pairs import copied

Write = Callable[..., str]
Row = dict[str, Any]
I64, I32, TEXT, TIME = pa.int64(), pa.int32(), pa.string(), pa.timestamp("us", tz="UTC")

# counts, offsets and elapsed int64, pid int32, instants timestamp[us, UTC], everything else text
# fmt: off
CONTRACT: dict[str, dict[str, pa.DataType]] = {
    "processes": {
        "layout": TEXT, "host": TEXT, "pid": I32, "loader": TEXT, "maker": TEXT, "ids": I64, "distinct": I64,
        "first_elapsed_ms": I64, "last_elapsed_ms": I64, "first_sent_at": TIME, "last_sent_at": TIME,
        "first_counter": I64, "last_counter": I64, "produced": I64, "missing": I64, "wraps": I64,
        "wraps_certain": pa.bool_(), "out_of_order": I64, "tracks": I64, "rate_per_second": pa.float64(),
    },
    "hosts": {"host": TEXT, "processes": I64, "ids": I64, "distinct": I64, "first_sent_at": TIME, "last_sent_at": TIME},
    "brokers": {
        "address": TEXT, "host": TEXT, "port": I64, "ids": I64, "distinct": I64, "segments": I64, "min_offset": I64,
        "max_offset": I64, "bytes_per_second": pa.float64(),
    },
    "segments": {
        "address": TEXT, "segment": TEXT, "ids": I64, "distinct": I64, "min_offset": I64, "max_offset": I64,
    },
    "clients": {
        "mac": TEXT, "pid": I32, "ids": I64, "distinct": I64, "first_sent_at": TIME, "last_sent_at": TIME,
        "min_sequence": I64, "max_sequence": I64,
    },
    "counters": {
        "layout": TEXT, "host": TEXT, "pid": I32, "loader": TEXT, "elapsed_ms": I64, "counter": I64, "position": I64,
        "track": I64,
    },
    "timeline": {"minute": TIME, "kind": TEXT, "ids": I64},
    "growth": {
        "address": TEXT, "minute": TIME, "min_offset": I64, "max_offset": I64, "min_at": TIME, "max_at": TIME,
    },
    "refused": {"reason": TEXT, "ids": I64, "sample": TEXT, "file": TEXT, "byte": I64},
    "files": {"file": TEXT, "bytes": I64, "text_bytes": I64, "ids": I64, "refused": I64, "error": TEXT},
}
# fmt: on


def scan(path: str, split: int = 1 << 30) -> Mapping[str, pa.Table]:
    return scan_local([path], month_rows(AT, UTC), split)


def test_tables_have_the_columns_and_types_of_the_contract(on_disk: Write) -> None:
    for data in (logs.mixed(1, 200).data, b""):
        found = scan(on_disk(data))
        for name, columns in CONTRACT.items():
            types = {field.name: field.type for field in found[name].schema}
            assert list(types)[: len(columns)] == list(columns) or name == "counters"
            assert {column: types[column] for column in columns} == columns


# --- counters ---------------------------------------------------------------------------------------------------------


def by_process(rows: list[Row]) -> dict[tuple[Any, ...], list[Row]]:
    out: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        out[row["layout"], row["host"], row["pid"], int(row["loader"], 16)].append(row)
    return out


def long_life(seed: int) -> Log:
    """Processes of many more ids than a chart takes: wrapping, gappy, restarted, shared."""
    r = random.Random(seed)
    wrapping = [(logs.NOON + k * 16, k * 40 % 65536) for k in range(5_000)]
    gappy = [(logs.NOON + 6 * k, c % 65536) for k, c in enumerate(range(0, 90_000, 18)) if not 20_000 < c < 31_000]
    born = logs.live(r, 50, 2000, start=0)
    again = born + logs.live(r, 50, 2000, start=0, elapsed=logs.after(born, 30))
    two = logs.live(r, 50, 2000, start=100) + logs.live(r, 40, 1500, start=33_000)
    late = logs.live(r, 3000, 9000, late=20, lost=0.5)
    lives = {1: wrapping, 2: gappy, 3: again, 4: two, 5: late}
    return Log(
        "long", logs.joined([line for p, ids in lives.items() for line in logs.text_of(r, 9, p, logs.JAVA, ids)])
    )


@pytest.mark.long(cases=["long_life-1", "shared-3"])
@pytest.mark.parametrize(("made", "seed"), [(long_life, 1), (logs.mixed, 3), (logs.shared, 3), (logs.restarts, 3)])
def test_counters_are_true_ids_at_their_unrolled_positions(
    made: Callable[[int], Log], seed: int, on_disk: Write
) -> None:
    log = made(seed)
    path = on_disk(log.data)
    points = by_process(scan(path, 30_000)["counters"].to_pylist())
    processes = {p.key: p for p in twin.all_processes([(path, log.data)], UTC, AT)}
    assert set(points) == set(processes)
    for key, process in processes.items():
        shown = points[key]
        assert len(shown) <= 2500, key  # about 1,500, and what must be there
        for number, chain in enumerate(process.chains):
            place = {
                one: (i, position) for i, (one, position) in enumerate(zip(chain.ids, chain.positions, strict=True))
            }
            own = [row for row in shown if row["chain"] == number]
            known = [place[row["elapsed_ms"], row["counter"]] for row in own]  # KeyError: a point that is no id
            assert len(set(known)) == len(known)
            assert [row["position"] for row in own] == [position for _, position in known]
            assert {row["track"] for row in own} == {chain.track}
            assert {row["sent_at"] for row in own} == {process.sent_at(row["elapsed_ms"]) for row in own}
            kept = {i for i, _ in known}
            positions = chain.positions
            assert {0, len(positions) - 1} <= kept
            assert {min(positions), max(positions)} <= {row["position"] for row in own}
            assert len(own) == len(positions) or len(process.ids) > 1500
            # both sides of each wrap: of the step that carries the count over a multiple of 65,536 for good
            first = chain.ids[0][1]
            turn = first // 65536
            for i, position in enumerate(positions):
                if (first + position) // 65536 > turn:
                    turn = (first + position) // 65536
                    assert {i - 1, i} <= kept, (key, number, i)
        check_gaps(shown, [chain.positions for chain in process.chains], len(process.ids))


def check_gaps(shown: list[Row], chains: list[list[int]], ids: int) -> None:
    """missing_before counts the ids that are missing right below one in its chain: all gaps, or the 100 widest."""
    gaps = {}
    for number, positions in enumerate(chains):
        for before, here in pairwise(sorted(set(positions))):
            if here - before > 1:
                gaps[number, here] = here - before - 1
    told = [(row["chain"], row["position"], row["missing_before"]) for row in shown if row["missing_before"]]
    there = {(row["chain"], row["position"]) for row in shown}
    assert len({(chain, here) for chain, here, _ in told}) == len(told)
    for chain, here, missing in told:
        assert gaps[chain, here] == missing and (chain, here - missing - 1) in there
    widest = sorted(gaps.values())[-100:] if ids > 1500 else sorted(gaps.values())
    assert sorted(missing for _, _, missing in told) == widest


def test_the_widest_gap_of_a_long_life_can_be_drawn(on_disk: Write) -> None:
    log = long_life(2)
    points = scan(on_disk(log.data))["counters"].to_pylist()
    # process 2 logs every 18th counter, and none between 19,998 and 31,014
    widest = max(row["missing_before"] for row in points if row["pid"] == 2)
    assert widest == 31_014 - 19_998 - 1


# --- copies -----------------------------------------------------------------------------------------------------------


def test_an_id_with_two_offset_ids_is_a_copy_and_its_lines_are_counted(on_disk: Write) -> None:
    one, two, three = (logs.uniq(0x0A000001, 7, logs.JAVA, logs.NOON, counter) for counter in range(3))
    a, b, c = (logs.offset(0x0A000001, 10911, place) for place in (10, 20, 1 << 48))
    lines = [f"{one} {a}", f"{one} {one} {b} {b}", f"x {one}", f"{two} {a}", f"{two} {a}", f"{three} {c} {a}"]
    want = [
        {"msg_id": one, "offset_msg_ids": f"{a},{b}", "lines": 2},
        {"msg_id": three, "offset_msg_ids": f"{a},{c}", "lines": 1},
    ]
    for split in (20, 200, 1 << 30):
        assert scan(on_disk(logs.joined(lines)), split)["copies"].to_pylist() == want


def test_copies_of_many_ids_out_of_order_across_splits(on_disk: Write) -> None:
    lines = copied(5, 1500).data.splitlines()
    random.Random(5).shuffle(lines)
    data = b"\n".join(lines)
    path = on_disk(data)
    want = twin.tables({path: data}, UTC, AT)["copies"]
    assert len(want) > 250
    for split in (50_000, 1 << 30):
        found = scan(path, split)["copies"]
        assert found.to_pylist() == sorted(want, key=lambda row: str(row["msg_id"]))


# --- distribution, refused --------------------------------------------------------------------------------------------


def test_distribution_is_equal_bins_over_each_broker(on_disk: Write) -> None:
    data = logs.mixed(11, 3000).data + logs.clock_and_month(2).data
    path = on_disk(data)
    found = scan(path, 50_000)
    offsets: dict[str, list[int]] = defaultdict(list)
    found_in = [
        (bytes.fromhex(token.text), twin.classify(token.text, token.labelled, disowned=token.disowned))
        for token in twin.tokens(data)
    ]
    for one in twin.settled([(raw, one) for raw, one in found_in if not isinstance(one, twin.Refused)]):
        if isinstance(one, twin.Offset):
            offsets[one.address].append(one.offset)
    bins: dict[str, list[Row]] = defaultdict(list)
    for row in found["distribution"].to_pylist():
        bins[row["address"]].append(row)
    assert set(bins) == set(offsets)
    for address, own in bins.items():
        own.sort(key=lambda row: row["from_offset"])
        assert len(own) <= 128
        assert own[0]["from_offset"] == min(offsets[address])
        assert sum(row["ids"] for row in own) == len(offsets[address])
        assert sum(row["distinct"] for row in own) == len(set(offsets[address]))
        assert all(a["to_offset"] <= b["from_offset"] for a, b in pairwise(own))
        widths = {row["to_offset"] - row["from_offset"] for row in own}
        assert len(widths) <= 2 or max(widths) - min(widths) <= 1
        for row in own:
            inside = [o for o in offsets[address] if row["from_offset"] <= o < row["to_offset"]]
            assert (row["ids"], row["distinct"]) == (len(inside), len(set(inside)))


@pytest.mark.long
def test_a_refused_sample_stands_where_it_says_and_was_refused_for_that(on_disk: Write) -> None:
    named = "".join(f"sign=8D36152C1D36B1EB017664610EC{n:05X}\n" for n in range(20)).encode()
    data = logs.mixed(12).data + named + named
    path = on_disk(data)
    tables = [scan(path, split) for split in (100, 5000, 1 << 30)]
    samples = [[*one["refused"].to_pylist(), *one["lookalikes"].to_pylist()] for one in tables]
    assert samples[0] == samples[1] == samples[2]
    assert {row["reason"] for row in samples[0]} == {"lower_case", "version", "port", "elapsed", "spread", "label"}
    (signed,) = [row for row in samples[0] if row["reason"] == "label"]
    assert (signed["label"], signed["ids"], signed["distinct"]) == ("sign", 40, 20)
    vouched: set[twin.Key] = set()
    accepted, _ = twin.judged(data, "strict", vouched, 0)
    refused = {
        found.byte: (found.raw.hex().upper(), reason)
        for found, reason in twin.look_alikes(twin.settle(accepted), vouched)
    } | {
        token.byte: (token.text, "label" if one.reason == "other_name" else one.reason)
        for token in twin.tokens(data)
        if isinstance(one := twin.classify(token.text, token.labelled, disowned=token.disowned), twin.Refused)
    }
    for row in samples[0]:
        assert row["file"] == path
        assert refused[row["byte"]] == (row["sample"], row["reason"])
