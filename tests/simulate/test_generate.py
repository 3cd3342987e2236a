"""The generator as the Java client has it: prefix, month, roll-over, clamp, one counter for all threads; and logs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcore.base.errors import CoreError
from idcore.ids import ClientId, Clock, OffsetId, UniqId, find, judge, sent_at
from idcore.ids.clock import month_start, to_ms
from idcore.simulate.generate import Generator, fake_address
from idcore.simulate.scenario import Scenario

pytestmark = pytest.mark.quick

SHANGHAI = ZoneInfo("Asia/Shanghai")


def ms(text: str) -> int:
    return to_ms(datetime.fromisoformat(text))


def ticking(*instants: str) -> Callable[[], int]:
    times: Iterator[int] = iter([ms(text) for text in instants])
    return lambda: next(times)


def test_the_prefix_is_address_pid_and_loader() -> None:
    made = Generator(lambda: ms("2026-11-21T09:50:13.373+08:00"), SHANGHAI, "203.0.113.21", 27515, 0x4E0E2F2A)
    assert made.prefix == "CB0071156B7B4E0E2F2A"
    assert made.create_uniq_id() == "CB0071156B7B4E0E2F2A" + "691B8D7D" + "0000"
    assert made.create_uniq_id().endswith("0001")


def test_sixteen_bytes_of_address_give_56_digits() -> None:
    made = Generator(lambda: ms("2026-11-21T00:00:00Z"), UTC, "2001:db8::17", 70_000, 0x1_18B4AAC2)
    text = made.create_uniq_id()
    assert len(text) == 56
    assert made.prefix == "20010DB8000000000000000000000017" + "1170" + "18B4AAC2"  # cut to 16 and 32 bits
    assert UniqId.from_hex(text).host == "2001:db8::17"


def test_the_month_rolls_over_when_the_clock_passes_the_next() -> None:
    clock = ticking(
        "2026-01-31T23:59:59.998+08:00",
        "2026-01-31T23:59:59.999+08:00",
        "2026-02-01T00:00:00.000+08:00",
        "2026-02-01T00:00:00.001+08:00",
    )
    made = Generator(clock, SHANGHAI, "10.0.0.1", 1, 1)
    assert [made.next_id().elapsed for _ in range(3)] == [31 * 86_400_000 - 1, 0, 1]


def test_a_clock_set_back_by_less_than_a_thousand_seconds_gives_zero() -> None:
    # reference-ids.jsonl, 4.9.3 and later: 999 s clamps, 1,001 s does not
    clock = ticking(
        "2026-02-01T00:00:01Z",
        "2026-01-31T23:43:21Z",
        "2026-01-31T23:43:20Z",
        "2026-01-31T23:43:19Z",
    )
    made = Generator(clock, UTC, "10.0.0.1", 1, 1)
    assert [made.next_id().signed_elapsed for _ in range(3)] == [0, -1_000_000, -1_001_000]


def test_before_the_clamp_elapsed_goes_below_zero_and_the_clock_is_read_twice() -> None:
    clock = ticking("2026-02-01T00:00:01Z", "2026-01-31T23:59:59.5Z", "2026-01-31T23:59:59.5Z")
    made = Generator(clock, UTC, "10.0.0.1", 1, 1, clamp=False)
    assert made.next_id().elapsed == 0xFFFFFE0C
    late = ticking("2026-01-31T23:59:59.999Z", "2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00.002Z")
    assert Generator(late, UTC, "10.0.0.1", 1, 1, clamp=False).next_id().elapsed == 31 * 86_400_000 + 2


def test_without_an_address_the_fake_one_is_the_low_32_bits_of_the_time() -> None:
    now = 1_795_225_813_373
    made = Generator(lambda: now, UTC, None, 1, 1)
    assert made.next_id().ip == fake_address(now) == (now & 0xFFFFFFFF).to_bytes(4, "big")


def test_the_counter_is_one_for_all_threads_and_wraps() -> None:
    made = Generator(lambda: ms("2026-11-21T00:00:00Z"), UTC, "10.0.0.1", 1, 1, counter=65_000)
    seen: list[list[int]] = [[] for _ in range(4)]

    def work(place: int) -> None:
        seen[place].extend(made.next_id().counter for _ in range(500))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = sorted(counter for part in seen for counter in part)
    assert every == sorted([*range(65_000, 65_536), *range(2_000 - 536)])


@given(
    st.datetimes(datetime(2016, 1, 2), datetime(2035, 1, 1)),
    st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "America/Havana", "Africa/Cairo", "Asia/Kolkata"]),
)
def test_what_is_made_is_read_back(now: datetime, name: str) -> None:
    instant = now.replace(tzinfo=UTC, microsecond=now.microsecond // 1000 * 1000)
    zone = ZoneInfo(name)
    made = UniqId.from_hex(Generator(lambda: to_ms(instant), zone, "10.0.0.1", 1, 0x18B4AAC2).create_uniq_id())
    start = month_start(instant.astimezone(zone).year, instant.astimezone(zone).month, zone)
    if to_ms(instant) >= start:  # not in the hour before a midnight that comes twice
        assert sent_at(made.elapsed, Clock(instant, zone)) == instant


def test_offset_ids_both_ways() -> None:
    assert str(OffsetId.of("127.0.0.1", 10911, 0)) == "7F00000100002A9F0000000000000000"
    made = OffsetId.from_hex("7F00000100002A9F00000000000735FA")
    assert (made.address, made.physical_offset) == ("127.0.0.1:10911", 472_570)
    six = str(OffsetId.of("::1", 10911, 1 << 40))
    assert six == "0000000000000000000000000000000100002A9F0000010000000000"
    assert OffsetId.from_hex(six).address == "[::1]:10911"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("00", "length"),
        ("7F0000010000555D00000000000000", "length"),
        ("ZZ" + "0" * 30, "digit"),
        ("CB00710771A930946E096900000A0000", "port"),
    ],
)
def test_an_offset_id_is_decoded_strictly(text: str, code: str) -> None:
    with pytest.raises(CoreError) as caught:
        OffsetId.from_hex(text)
    assert caught.value.code == code


# ---- logs

START = datetime(2026, 11, 20, 9, 50, tzinfo=timezone(timedelta(hours=8)))


def scenario(seed: int, lines: int) -> Scenario:
    return Scenario(seed, START, timezone(timedelta(hours=8)), lines)


def test_the_same_seed_gives_the_same_lines() -> None:
    first, second, other = scenario(3, 500), scenario(3, 500), scenario(4, 500)
    text = list(first.log(500))
    assert text == list(second.log(500))
    assert first.truth() == second.truth()
    assert text != list(other.log(500))


@pytest.mark.long(first=1)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_log_holds_what_its_truth_says(seed: int) -> None:
    lines = 10_000
    made = scenario(seed, lines)
    kinds = {"uniq": 0, "offset": 0, "client": 0}
    trace_ids = 0
    processes: dict[tuple[str, int, str], list[tuple[int, int]]] = {}
    brokers: dict[str, list[int]] = {}
    written = list(made.log(lines))
    assert len(written) == lines
    for token in find("\n".join(written)):
        verdict = judge(token)
        if verdict.best is None:
            assert verdict.reason == "trace_id"
            trace_ids += 1
            continue
        assert verdict.best.certainty == "certain"
        found = verdict.best.id
        kinds[found.kind] += 1
        if isinstance(found, UniqId):
            processes.setdefault((found.host, found.pid, found.loader_text), []).append((found.elapsed, found.counter))
        elif isinstance(found, OffsetId):
            brokers.setdefault(found.address, []).append(found.physical_offset)
        else:
            assert isinstance(found, ClientId)
    truth = made.truth()
    assert kinds == {key: truth[key] for key in kinds}
    assert trace_ids == truth["trace_ids"] > 0
    assert json.loads(json.dumps(truth)) == truth
    assert len(truth["processes"]) == len(processes) == 6
    for process in truth["processes"]:
        ids = processes[process["host"], process["pid"], process["loader"]]
        ordered = sorted(set(ids))
        assert (process["ids"], process["distinct"]) == (len(ids), len(ordered))
        assert (process["first_counter"], process["last_counter"]) == (ordered[0][1], ordered[-1][1])
        position, positions = 0, [0]
        for (_, before), (_, after) in pairwise(ordered):
            position += (after - before + 32768) % 65536 - 32768
            positions.append(position)
        produced = max(positions) - min(positions) + 1
        assert (process["produced"], process["missing"]) == (produced, produced - len(set(positions)))
        first = ordered[0][1]
        assert process["wraps"] == (first + max(positions)) // 65536 - (first + min(positions)) // 65536
    assert sum(process["wraps"] for process in truth["processes"]) >= 2
    assert any(process["missing"] for process in truth["processes"])
    for broker in truth["brokers"]:
        offsets = brokers[broker["address"]]
        assert (broker["ids"], broker["distinct"]) == (len(offsets), len(set(offsets)))
        assert (broker["min_offset"], broker["max_offset"]) == (min(offsets), max(offsets))


def test_a_log_looks_like_one() -> None:
    lines = list(scenario(1, 3_000).log(3_000))
    text = "\n".join(lines)
    for sign in (
        "SendResult [sendStatus=SEND_OK, msgId=",
        "MessageExt [brokerName=",
        "bornTimestamp=",
        "UNIQ_KEY=",
        "msgIds=",
        "messageId=01",
        "traceId=",
        "consumed msgId=",
    ):
        assert sign in text
    assert any(line.count(",0A") > 1 for line in lines), "no batch"
    times = [line[:23] for line in lines]
    assert times == sorted(times)
    assert times[0].startswith("2026-11-20 09:50:00")
