"""When and how what is found came about, on tables made by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from idcore.answers.findings import chains, limits
from idcore.answers.findings.all_rules import Finding
from idcore.answers.findings.model import worst_first
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.findings.every_rule import find_all
from tests.findings.test_rules import AT, DAY_20, told, uniq

pytestmark = pytest.mark.quick


def at_day_20(milliseconds: int) -> datetime:
    return datetime(2026, 11, 21, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def test_a_restart_is_dated_by_the_first_id_after_it(tmp_path: Path) -> None:
    first = [uniq(DAY_20 + 100 * n, 500 + n) for n in range(20)]
    again = [uniq(DAY_20 + 9_000 + 100 * n, n) for n in range(20)]
    (finding,) = told(first + again, tmp_path)
    assert (finding.code, finding.since, finding.until) == ("restart", at_day_20(9_000), at_day_20(9_000))
    assert finding.evidence["silent_seconds"] == 7.1


def test_missing_ids_are_dated_by_the_ids_behind_the_gaps(tmp_path: Path) -> None:
    (finding,) = told([uniq(DAY_20 + 100 * n, n) for n in range(100) if n not in (40, 70, 71)], tmp_path)
    assert (finding.since, finding.until) == (at_day_20(4_100), at_day_20(7_200))
    assert (finding.evidence["in_gaps"], finding.evidence["widest"]) == (2, 2)
    assert "2 gaps of up to 2" in finding.say("meaning")
    (one,) = told([uniq(DAY_20 + 100 * n, n) for n in range(100) if n not in (40, 41)], tmp_path)
    assert "2 consecutive IDs" in one.say("meaning")


def test_two_processes_are_dated_by_the_time_in_which_both_lived(tmp_path: Path) -> None:
    long = [uniq(DAY_20 + 100 * n, n) for n in range(200)]
    short = [uniq(DAY_20 + 5_050 + 100 * n, 30_000 + n) for n in range(60)]
    (finding,) = told(long + short, tmp_path)
    assert (finding.code, finding.since, finding.until) == ("shared_fingerprint", at_day_20(5_050), at_day_20(10_950))


def test_a_clock_that_stood_at_zero_was_set_back_by_more_than_can_be_seen(tmp_path: Path) -> None:
    before = [uniq(5_000 + 100 * n, n) for n in range(40)]
    finding, _ = told([*before, *(uniq(0, 40 + n) for n in range(20))], tmp_path)  # and expired
    assert finding.code == "clock_back" and "set back by at least 8.9 s" in finding.say("meaning")


def test_clients_without_a_date_in_their_ids_have_none(tmp_path: Path) -> None:
    (finding,) = told([uniq(3_600_000 + n, n, loader="CEF51E0A") for n in range(20)], tmp_path)
    assert (finding.code, finding.since, finding.until) == ("foreign_maker", None, None)
    assert "midnight" in finding.say("advice")


def test_a_time_above_a_month_that_is_the_clock_is_read_as_such(tmp_path: Path) -> None:
    made = at_day_20(0)
    low = [(int(made.timestamp() * 1000) + 50 * n) % (1 << 32) for n in range(20)]
    lines = [f"msgId={uniq(value, n, loader='02B89EAA')}" for n, value in enumerate(low)]
    (finding,) = told(lines, tmp_path)
    assert finding.code == "elapsed_impossible"
    assert finding.evidence["first_at"] == made.isoformat(timespec="milliseconds")
    (other,) = told([f"msgId={uniq(value, 99 - n, loader='02B89EAA')}" for n, value in enumerate(low)], tmp_path)
    assert "first_at" not in other.evidence  # the counter falls: no clock wrote these


def test_how_message_ext_prints_stands_below_all_that_happened() -> None:
    notes = [
        Finding.of("id_confusion", "msgId", 900, {"variant": "message_ext"}),
        Finding.of("expired", "p", 1, {}),
    ]
    assert [finding.code for finding in worst_first(notes)] == ["expired", "id_confusion"]


def starts(seconds: list[float]) -> list[str]:
    """A process that begins at each of these times, and lives for half a second."""
    return [uniq(DAY_20 + int(1000 * at) + 50 * n, n) for at in seconds for n in range(10)]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ([0, 20, 40, 79], "3 times within 59 s, which looks like a crash loop"),
        ([0, 20, 50, 81], None),
        ([0, 10, 20, 30, 130], "4 times, 3 of them within 20 s, which looks like a crash loop"),
        ([0, 10, 20], None),
    ],
)
def test_three_starts_within_a_minute_are_a_loop(seconds: list[float], said: str | None, tmp_path: Path) -> None:
    (finding,) = told(starts(seconds), tmp_path)
    assert (finding.code, finding.severity, finding.count) == ("restart", "info", len(seconds) - 1)
    meaning = finding.say("meaning")
    assert (said or "restarted") in meaning and ("crash loop" in meaning) == bool(said)
    began = [at_day_20(int(1000 * at)).isoformat(timespec="milliseconds") for at in seconds[1:]]
    assert finding.evidence["began_at"] == began and meaning.endswith(
        f"{', '.join(began)} (month assumed, zone assumed)"
    )
    assert ("exit code" in finding.say("advice")) == bool(said)


def test_of_many_starts_the_first_are_named(tmp_path: Path) -> None:
    (finding,) = told(starts([100 * n for n in range(9)]), tmp_path)
    assert len(finding.evidence["began_at"]) == limits.MOST_MOMENTS and finding.say("meaning").endswith("and later")


def set_back(first: int, last: int) -> list[str]:
    """One counter from `first` to `last`, every 40 ms, whose clock is set back by ten minutes half-way."""
    half = (first + last) // 2
    return [uniq(DAY_20 + 40 * n - (600_000 if n >= half else 0), n) for n in range(first, last)]


def test_a_clock_set_back_says_that_no_id_was_made_twice(tmp_path: Path) -> None:
    (finding,) = told(set_back(100, 600), tmp_path)
    assert "No ID was generated twice" in finding.say("meaning") and "(500 of 65,536" in finding.say("meaning")
    assert "twice" not in finding.say("advice")


@pytest.mark.parametrize(("last", "proved"), [(65_536, True), (65_537, False)])
def test_a_counter_that_came_round_proves_nothing(last: int, proved: bool, tmp_path: Path) -> None:
    (finding,) = [one for one in told(set_back(0, last), tmp_path) if one.code == "clock_back"]
    assert ("No ID was generated twice" in finding.say("meaning")) == proved
    assert ("may have been generated twice" in finding.say("meaning")) != proved


def test_ids_that_stand_for_several_messages_are_counted_at_the_clock() -> None:
    process = {"layout": "uniq_v4", "host": "10.0.0.7", "pid": 4711, "loader": "18B4AAC2"}
    name = "10.0.0.7 pid 4711 loader 18B4AAC2"
    clock = Finding.of(
        "clock_back", name, 1, {"also": ["twice_none"], "span": 9, "back_seconds": 5.0, "process": process}
    )
    of_it = [Finding.of("collision", f"ID{n}", 2, {"process": process}) for n in range(2)]
    other = Finding.of("collision", "ID9", 2, {"process": {**process, "pid": 1}})
    made = list(chains.made_twice([clock, *of_it, other]))
    assert "identify different messages: 2" in made[0].say("meaning") and made[1:] == [*of_it, other]
    assert list(chains.made_twice([clock, other])) == [clock, other]


def test_the_instants_of_sentences_are_in_the_zone_of_the_scan(tmp_path: Path) -> None:
    zone = timezone(timedelta(hours=8))
    path = tmp_path / "x.log"
    path.write_text("\n".join(starts([0, 20, 40])))
    tables = scan_local([str(path)], month_rows(AT, zone))
    (finding,) = find_all(tables, AT, zone)
    assert all(text.endswith("+08:00") for text in finding.evidence["began_at"])


# ---- brokers


def stored(host: str, minutes: list[int], offset: int) -> list[str]:
    """Ids with offset ids of a broker whose log grows by 70,000 bytes a minute."""
    return [
        f"msgId={uniq(DAY_20 + minute * 60_000, minute)} offsetMsgId={host}00002A9F{offset + 70_000 * minute:016X}"
        for minute in minutes
    ]


@pytest.mark.parametrize(
    ("pause", "busy", "said"),
    [
        (60, False, "at least 59 min, while their usual pause is at most 2 min; no other broker appeared either"),
        (60, True, "at least 59 min, while their usual pause is at most 2 min; other brokers appeared"),
        (6, False, None),
    ],
)
def test_a_long_silence_before_the_new_address_is_said(
    pause: int, busy: bool, said: str | None, tmp_path: Path
) -> None:
    lines = stored("0A000005", list(range(20)), 5_000_000)
    lines += stored("0A000006", list(range(19 + pause, 40 + pause)), 5_000_000)
    if busy:
        lines += stored("0A000009", list(range(100)), 1 << 40)
    (finding,) = [one for one in told(lines, tmp_path) if one.code == "broker_moved"]
    assert (said or "one broker that got a new address") in finding.say("meaning")
    assert ("In between" in finding.say("meaning")) == bool(said)


def test_a_new_address_is_seen_from_its_first_to_its_last_instant(tmp_path: Path) -> None:
    def line(host: str, ms: int, offset: int) -> str:
        return f"msgId={uniq(DAY_20 + ms, ms & 0xFFFF)} offsetMsgId={host}00002A9F{offset:016X}"

    lines = [line("0A000005", 700 * n, 5_000_000 + 800 * n) for n in range(20)]
    lines += [line("0A000006", 20_500 + 700 * n, 5_100_000 + 800 * n) for n in range(20)]
    (finding,) = [one for one in told(lines, tmp_path) if one.code == "broker_moved"]
    assert finding.since is not None and finding.until is not None
    assert (finding.since.second, finding.since.microsecond) == (20, 500_000)
    assert finding.until - finding.since == timedelta(milliseconds=700 * 19)


def test_a_silence_that_is_usual_is_not_said(tmp_path: Path) -> None:
    lines = stored("0A000005", list(range(0, 300, 30)), 5_000_000)
    lines += stored("0A000006", list(range(330, 630, 30)), 5_000_000)
    (finding,) = [one for one in told(lines, tmp_path) if one.code == "broker_moved"]
    assert "In between" not in finding.say("meaning")


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (0, "0 s", "0 秒"),
        (0.012, "0.012 s", "0.012 秒"),
        (59.9996, "1 min", "1 分钟"),
        (3599.932, "59 min 59.932 s", "59 分钟 59.932 秒"),
        (28_800, "8 h", "8 小时"),
        (90_061.5, "1 d 1 h 1 min 1.5 s", "1 天 1 小时 1 分钟 1.5 秒"),
    ],
)
def test_a_span_is_told_in_units_that_people_use_and_to_the_millisecond(
    seconds: float, english: str, chinese: str
) -> None:
    finding = Finding.of("clock_back", "p", 1, {"back_seconds": seconds})
    assert f"set back by {english}:" in finding.say("meaning")
    assert f"回拨了 {chinese}：" in finding.say("meaning", "zh")
