"""A clock that is off: born and store times of all records of a broker, on lines made by hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.answers.findings.all_rules import Finding
from idcore.scan.record_clocks import Stamp, stamps
from tests.findings.every_rule import find_in
from tests.scan.logs import JAVA, uniq

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 24, 12, tzinfo=UTC)
BORN = round(datetime(2026, 11, 17, 22, tzinfo=UTC).timestamp() * 1000)
MONTH = round(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000
EIGHT_HOURS = 8 * HOUR - 46_709  # as in the public report behind wild case 11


def java(n: int, shift: int, host: str = "10.81.0.1", waited: int | None = 60, more: str = "") -> str:
    """A MessageExt as Java prints it."""
    born = BORN + 130 * n
    began = "" if waited is None else f"CONSUME_START_TIME={born + waited}, "
    return (
        f"MessageExt [queueId=0, storeSize=183, queueOffset={n}, sysFlag=0, bornTimestamp={born}, "
        f"bornHost=/{host}:61621, storeTimestamp={born + shift}, storeHost=/10.81.0.132:10911, "
        f"msgId=0A51008400002A9F{211_900 + 183 * n:016X}, commitLogOffset={211_900 + 183 * n}, bodyCRC=1, "
        f"reconsumeTimes=0, preparedTransactionOffset=0, toString()=Message [topic=T, flag=0, properties={{"
        f"MIN_OFFSET=0, {more}{began}UNIQ_KEY={uniq(0x0A510001, 9, JAVA, born - MONTH, n)}, WAIT=true}}, body=51]]"
    )


def go(n: int, shift: int) -> str:
    born = BORN + 130 * n
    return (
        f"[Message=[topic=T, properties=map[UNIQ_KEY:0A1F203E0001000000002bd06288{n:04x}]], "
        f"MsgId=0A1F203E0001000000002bd06288{n:04x}, QueueId=1, BornTimestamp={born}, BornHost=10.31.32.62:62418, "
        f"StoreTimestamp={born + shift}, StoreHost=10.81.0.132:10911, CommitLogOffset={211_900 + 183 * n}]"
    )


def fields(n: int, shift: int) -> str:
    """As mqadmin queryMsgById prints it, in local times."""

    def at(ms: int) -> str:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]

    born = BORN + 130 * n
    return (
        f"OffsetID:            0A51008400002A9F{211_900 + 183 * n:016X}\nTopic:               T\n"
        f"CommitLog Offset:    {211_900 + 183 * n}\nReconsume Times:     0\nBorn Timestamp:      {at(born)}\n"
        f"Store Timestamp:     {at(born + shift)}\nBorn Host:           10.81.0.1:50123\n"
        f"Store Host:          10.81.0.132:10911\n"
    )


def as_json(n: int, shift: int) -> str:
    born = BORN + 130 * n
    return (
        f'{{"bornHost":"10.81.0.1:50123","bornTimestamp":{born},"commitLogOffset":{211_900 + 183 * n},"storeHost":'
        f'"10.81.0.132:10911","storeTimestamp":{born + shift},"msgId":"0A51008400002A9F{211_900 + 183 * n:016X}"}}'
    )


def found_in(lines: Iterable[str], tmp_path: Path) -> list[Finding]:
    found, _ = find_in("".join(line + "\n" for line in lines), tmp_path, AT)
    return [one for one in found if one.code == "broker_clock"]


def test_a_constant_shift_is_one_finding_with_its_size(tmp_path: Path) -> None:
    """Wild case 11: a consumer's clock agrees with the producer's, so it is the broker's that is off."""
    (finding,) = found_in([java(n, EIGHT_HOURS) for n in range(4)], tmp_path)
    assert (finding.subject, finding.count, finding.severity) == ("10.81.0.132:10911", 4, "warning")
    assert (finding.evidence.variant, finding.evidence["shift_ms"]) == ("ahead", EIGHT_HOURS)
    said = finding.say("meaning")
    assert "4 of 4 records" in said
    assert "8.0 h, as of a clock that shows the local time of another zone" in said
    assert "widen" not in said and "wider by this difference" in finding.say("advice")


def test_of_several_producers_the_broker_is_the_one_that_is_off(tmp_path: Path) -> None:
    lines = [java(n, -92_000 + n % 7, f"10.81.0.{n % 3 + 1}", None) for n in range(12)]
    (finding,) = found_in(lines, tmp_path)
    assert (finding.evidence.variant, finding.certainty, finding.count) == ("behind", "certain", 12)


def test_one_producer_among_others_is_the_one_that_is_off(tmp_path: Path) -> None:
    lines = [java(n, 3 if n % 3 else 44 * 24 * HOUR, f"10.81.0.{n % 3 + 1}", None) for n in range(12)]
    (finding,) = found_in(lines, tmp_path)
    assert (finding.evidence.variant, finding.evidence["producers"], finding.count) == ("producer", "10.81.0.1", 4)


def test_of_one_producer_and_no_third_clock_both_are_named(tmp_path: Path) -> None:
    """Wild case 10: stored 2.2 s before born."""
    (finding,) = found_in([java(n, -2_162, waited=None) for n in range(4)], tmp_path)
    assert (finding.evidence.variant, finding.certainty) == ("open", "likely")
    said = finding.say("meaning")
    assert "10.81.0.132:10911 or of 10.81.0.1" in said


def test_a_consumer_that_agrees_with_the_broker_shows_the_producers_clock(tmp_path: Path) -> None:
    (finding,) = found_in([java(n, -HOUR, waited=-HOUR + 20) for n in range(5)], tmp_path)
    assert (finding.evidence.variant, finding.evidence["shift_ms"]) == ("producer", -HOUR)


def test_one_record_is_enough_where_it_was_consumed_before_it_was_stored(tmp_path: Path) -> None:
    (finding,) = found_in([java(0, 44 * 24 * HOUR)] * 7, tmp_path)
    assert (finding.evidence.variant, finding.count) == ("ahead", 1)  # on seven lines
    assert found_in([java(0, 3_050, waited=None)] * 7, tmp_path) == []


@pytest.mark.parametrize(("before", "after"), [(2, 8 * HOUR), (8 * HOUR, 2), (-5_000, 40), (3_000, -90_000)])
def test_a_step_is_told_from_a_shift(before: int, after: int, tmp_path: Path) -> None:
    (finding,) = found_in([java(n, before + n % 5 if n < 9 else after + n % 5) for n in range(20)], tmp_path)
    assert finding.evidence.variant == "step"
    assert abs(finding.evidence["step_seconds"] - abs(after - before) / 1000) < 0.01
    assert finding.evidence["first_at"] == datetime.fromtimestamp((BORN + 130 * 9) / 1000, UTC).isoformat(
        timespec="milliseconds"
    )
    assert finding.count == 11


@pytest.mark.parametrize("printer", [java, go, fields, as_json])
def test_every_printer_shows_the_clock(printer: Callable[[int, int], str], tmp_path: Path) -> None:
    (finding,) = found_in([printer(n, -HOUR) for n in range(4)], tmp_path)
    assert (finding.subject, finding.count, finding.evidence["shift_ms"]) == ("10.81.0.132:10911", 4, -HOUR)


@pytest.mark.parametrize(
    "lines",
    [
        [java(n, 2 + n % 9) for n in range(40)],
        [java(n, 3_050, waited=3_100) for n in range(2)],  # a send that was tried again
        [java(n, 3 if n % 4 else 3_004) for n in range(40)],
        [java(n, 10 ** (n % 6)) for n in range(40)],  # a disk that is busy now and then
        [java(n, HOUR, more="REAL_TOPIC=Orders, ") for n in range(9)],  # delayed
        [java(n, HOUR, more="DELAY=16, ") for n in range(9)],
        [java(n, HOUR).replace("reconsumeTimes=0", "reconsumeTimes=3") for n in range(9)],
        [java(n, HOUR).replace("[topic=T", "[topic=%RETRY%billing") for n in range(9)],
    ],
)
def test_what_waits_is_not_a_clock(lines: list[str], tmp_path: Path) -> None:
    assert found_in(lines, tmp_path) == []


def test_what_waits_and_is_stored_before_it_is_born_is_a_clock(tmp_path: Path) -> None:
    behind = [java(n, -HOUR, more="DELAY=2, ") for n in range(4)]
    (found,) = found_in(behind, tmp_path)
    assert (found.code, found.count, found.evidence["shift_ms"]) == ("broker_clock", 4, -HOUR)
    (of_sends,) = found_in([*behind, *(java(n, -HOUR - 10_000) for n in range(4, 8))], tmp_path)
    assert (of_sends.count, of_sends.evidence["shift_ms"]) == (4, -HOUR - 10_000)  # they show more


def test_hosts_of_json_are_read() -> None:
    line = (
        f'{{"BORN_HOST":{{"address":"10.81.0.1","port":6}},"BORN_TIMESTAMP":{BORN},"STORE_HOST":{{"address":'
        f'"10.81.0.132","port":10911}},"STORE_TIMESTAMP":{BORN + 5}}}'
    )
    ((broker, one),) = stamps(line.encode())
    assert (broker, one.born_host, one.stored - one.born) == ("10.81.0.132:10911", "10.81.0.1", 5)


def test_records_of_one_line_keep_their_own_times() -> None:
    line = f"[{java(0, 5)}, {java(1, 7, '10.81.0.2')}]".encode()
    (first, one), (second, two) = stamps(line)
    assert first == second == "10.81.0.132:10911"
    assert one == Stamp(BORN, BORN + 5, 211_900, "10.81.0.1", BORN + 60, "0A51008400002A9F0000000000033BBC")
    assert (two.born, two.stored, two.offset, two.born_host) == (BORN + 130, BORN + 137, 212_083, "10.81.0.2")


def test_of_very_many_records_some_are_looked_at_from_first_to_last() -> None:
    text = "\n".join(java(n, 5) for n in range(1_000)).encode()
    offsets = [stamp.offset for _, stamp in stamps(text, 10)]
    assert offsets == [211_900 + 183 * n for n in range(0, 1_000, 100)]


def test_a_text_without_store_times_costs_little() -> None:
    text = b"2026-11-20 09:50:13.373 INFO send msgId=0A000007126718B4AAC266FF30000000 stored at Timestamp\n" * 100_000
    began = time.process_time()
    assert list(stamps(text)) == []
    assert time.process_time() - began < 1  # about 0.02 s for 9 MB
