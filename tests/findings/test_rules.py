"""The rules of findings at their edges, on tables made by hand, and on the log that real clients wrote."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from idcore.answers import finding_words as words
from idcore.answers.findings import limits
from idcore.answers.findings.all_rules import RULES, Finding
from idcore.answers.findings.model import to_table, worst_first
from idcore.base import catalogue
from idcore.presentation.html import findings as html
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import scans
from idcore.presentation.triage import find_anything, finding_rows
from idcore.scan.lines import look
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.schemas import SCHEMAS
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
REAL = Path(__file__).parents[1] / "vectors" / "real.log.gz"


def told(lines: Sequence[str], tmp_path: Path, at: datetime = AT) -> list[Finding]:
    path = tmp_path / "x.log"
    path.write_text("".join(line + "\n" for line in lines))
    return find_all(scan_local([str(path)], month_rows(at, UTC)), at, UTC)


def uniq(elapsed: int, counter: int, host: str = "0A000007", pid: int = 4711, loader: str = "18B4AAC2") -> str:
    return f"{host}{pid:04X}{loader}{elapsed % (1 << 32):08X}{counter % 65_536:04X}"


def codes(found: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(item.code, item.severity) for item in found]


DAY_20 = 20 * 86_400_000  # the 21st of November


def test_nothing_is_found_in_nothing(tmp_path: Path) -> None:
    assert told(["no id at all"], tmp_path) == []
    assert to_table([]).schema == SCHEMAS["findings"]


@pytest.mark.parametrize(("seen", "severity"), [(9, "warning"), (8, "info")])
def test_more_than_a_tenth_missing_is_a_sample(seen: int, severity: str, tmp_path: Path) -> None:
    # Counters 0 to 9: one of ten missing is a tenth; two are more.
    shown = [0, *range(11 - seen, 10)]
    (finding,) = told([uniq(DAY_20 + 40 * n, n) for n in shown], tmp_path)
    assert (finding.code, finding.severity, finding.count) == ("missing_ids", severity, 10 - seen)


def test_one_lone_id_before_the_month_proves_no_clock(tmp_path: Path) -> None:
    assert codes(told([uniq(-1, 1)], tmp_path)) == [("elapsed_impossible", "warning")]


def test_ids_before_the_month_with_counters_in_a_row_prove_it(tmp_path: Path) -> None:
    found = told([uniq(-900 + 40 * n, 7 + n) for n in range(9)], tmp_path)
    assert codes(found) == [("clock_back", "error")]
    assert found[0].count == 9


@pytest.mark.parametrize(("back", "found"), [(400, []), (900, [("clock_back", "error")])])
def test_a_step_of_the_clock_is_longer_than_a_late_thread(back: int, found: list, tmp_path: Path) -> None:
    lines = [uniq(DAY_20 + 50 * n, n) for n in range(60)]
    lines += [uniq(DAY_20 + 50 * n - back, n) for n in range(60, 120)]
    assert codes(told(lines, tmp_path)) == found


def test_one_late_thread_is_no_step_however_late(tmp_path: Path) -> None:
    lines = [uniq(DAY_20 + 50 * n - (3_000 if n == 60 else 0), n) for n in range(120)]
    assert codes(told(lines, tmp_path)) == []


def test_a_new_month_is_neither_restart_nor_step(tmp_path: Path) -> None:
    day_31 = 30 * 86_400_000
    lines = [uniq(day_31 + 86_000_000 + 50 * n, n) for n in range(100)]
    lines += [uniq(50 * n, 100 + n) for n in range(100)]
    assert {code for code, _ in codes(told(lines, tmp_path))} <= {"expired"}


def test_two_processes_that_do_not_fit_together_are_two(tmp_path: Path) -> None:
    lines = [uniq(DAY_20 + 50 * n, counter + n) for n in range(80) for counter in (100, 9_000)]
    (finding,) = told(lines, tmp_path)
    assert (finding.code, finding.severity, finding.count) == ("shared_fingerprint", "error", 2)
    assert {uniq(DAY_20 + 50 * n, counter + n) for n in range(80) for counter in (100, 9_000)} >= set(
        finding.evidence["ids"]
    )


@pytest.mark.parametrize(
    ("address", "port", "variant"),
    [
        ("7F000001", 10911, "loopback"),
        ("AC110005", 10911, "bridge"),
        ("AC1F0005", 10911, "bridge"),
        ("A9FE0101", 10911, "link_local"),
        ("0A000005", 30_000, "node_port"),
        ("0A000005", 32_767, "node_port"),
        ("E0000001", 10911, "nowhere"),
        ("AC200005", 10911, None),
        ("0A000005", 32_768, None),
        ("0A000005", 10911, None),
    ],
)
def test_addresses_of_brokers(address: str, port: int, variant: str | None, tmp_path: Path) -> None:
    found = told([f"{address}{port:08X}{offset:016X}" for offset in range(0, 4_000, 200)], tmp_path)
    assert [item.evidence["variant"] for item in found] == ([variant] if variant else [])


def test_a_stray_id_among_a_thousand_is_no_broker(tmp_path: Path) -> None:
    lines = [f"0A00000500002A9F{offset:016X}" for offset in range(0, 300_000, 200)]
    assert told([*lines, "7F00000100002A9F0000000000000000"], tmp_path) == []


@pytest.mark.parametrize(("gap", "moved"), [(1 << 20, True), (1 << 40, False)])
def test_a_broker_that_moved_goes_on_where_it_stopped(gap: int, moved: bool, tmp_path: Path) -> None:
    def line(host: str, minute: int, offset: int) -> str:
        return f"msgId={uniq(DAY_20 + minute * 60_000, minute)} offsetMsgId={host}00002A9F{offset:016X}"

    lines = [line("0A000005", minute, 5_000_000 + 70_000 * minute) for minute in range(20)]
    lines += [line("0A000006", minute, 5_000_000 + 70_000 * minute + gap) for minute in range(20, 40)]
    found = [item for item in told(lines, tmp_path) if item.code == "broker_moved"]
    assert [(item.subject, item.evidence["from_address"]) for item in found] == (
        [("10.0.0.6:10911", "10.0.0.5:10911")] if moved else []
    )


def test_two_brokers_that_work_at_once_have_not_moved(tmp_path: Path) -> None:
    lines = []
    for minute in range(30):
        for host, base in (("0A000005", 5_000_000), ("0A000006", 9_000_000)):
            offset = f"{host}00002A9F{base + 70_000 * minute:016X}"
            lines.append(f"msgId={uniq(DAY_20 + minute * 60_000, 2 * minute)} offsetMsgId={offset}")
    assert [item.code for item in told(lines, tmp_path) if item.code == "broker_moved"] == []


def test_an_address_that_is_the_start_of_the_process(tmp_path: Path) -> None:
    started = int(datetime(2026, 11, 21, tzinfo=UTC).timestamp() * 1000)
    fake = f"{started % (1 << 32):08X}"
    lines = [uniq(DAY_20 + 30 + 50 * n, n, host=fake) for n in range(10)]
    (finding,) = told(lines, tmp_path)
    assert (finding.code, finding.certainty) == ("fake_host", "likely")
    # The same address an hour and seven minutes before the first id is no class E address's fault in a known range.
    public = [uniq(DAY_20 + 50 * n, n, host="08080808") for n in range(10)]
    assert told(public, tmp_path) == []


def test_of_one_code_so_many_are_listed_and_the_rest_is_counted() -> None:
    many = [Finding.of("restart", f"p{n}", n + 1, {"ids": [str(n)]}) for n in range(limits.MOST_SUBJECTS + 30)]
    many.append(Finding.of("clock_back", "q", 1, {"ids": ["x"], "variant": "zero"}))
    kept = worst_first(many)
    assert [item.code for item in kept[:2]] == ["clock_back", "restart"]
    assert len(kept) == limits.MOST_SUBJECTS + 2
    last = kept[-1]
    assert (last.subject, last.count, last.evidence["more"]) == ("30 more", sum(range(1, 31)), 30)
    assert sum(item.count for item in kept[1:]) == sum(range(1, limits.MOST_SUBJECTS + 31))


def test_the_command_line_and_the_console_count_what_is_not_listed_too(tmp_path: Path) -> None:
    many = [Finding.of("restart", f"p{n}", n + 1, {"ids": [str(n)]}) for n in range(limits.MOST_SUBJECTS + 30)]
    table = to_table(worst_first(many))
    total = limits.MOST_SUBJECTS + 30
    assert sum(item.number for item in worst_first(many)) == total
    assert finding_rows.numbers(table.to_pandas(), "code") == {"restart": total}
    (line,) = scans.finding_lines(table.to_pandas(), Reader(catalogue.words(), UTC))
    assert f"{total:,} processes" in line


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_finding_has_one_name_on_cards_in_find_and_on_the_command_line(lang: str) -> None:
    said = catalogue.words(lang)
    one = Finding.of("id_confusion", "msgId (c.e.Listener)", 3, {"ids": [], "variant": "message_ext"})
    table, name = to_table([one]).to_pandas(), said("finding.id_confusion.message_ext")
    (line,) = scans.finding_lines(table, Reader(said, UTC))
    assert name in line and said("finding.id_confusion") not in line
    assert find_anything.finding_names(table, said) == {0: f"{name} · msgId (c.e.Listener)"}
    assert name in str(html.head(table.iloc[0], Reader(said, UTC)))


def test_a_fault_of_every_process_is_told_for_the_largest_and_counted_for_the_rest(tmp_path: Path) -> None:
    many = limits.MOST_SUBJECTS + 50
    lines = [
        uniq(DAY_20 + 40 * n, n, host="7F000001", pid=pid) for pid in range(1, many + 1) for n in range(1 + pid % 3)
    ]
    found = told(lines, tmp_path)
    assert {item.code for item in found} == {"loopback_host"}
    assert len(found) == limits.MOST_SUBJECTS + 1
    assert sum(item.count for item in found) == len(lines)
    assert (found[-1].subject, found[-1].evidence["more"]) == ("50 more", 50)
    assert min(item.count for item in found[:-1]) >= 1


@pytest.mark.parametrize(
    ("loader", "host", "variant"),
    [
        ("18B4AAC2", "7F000001", None),
        ("7C84929B", "7F000001", None),
        ("18B4AAC2", "7F000101", "own_name"),
        ("00000000", "7F000001", "not_java"),
        ("F0E1D2C3", "7F000001", "not_java"),
        ("6B8B4567", "7F000001", "not_java"),
        ("00000000", "7F000101", "own_name"),
    ],
)
def test_a_loopback_host_is_told_of_java_only_where_java_wrote_it(
    loader: str, host: str, variant: str | None, tmp_path: Path
) -> None:
    lines = [uniq(DAY_20 + 40 * n, n, host=host, loader=loader) for n in range(20)]
    (finding,) = (item for item in told(lines, tmp_path) if item.code == "loopback_host")
    assert finding.evidence.get("variant") == variant
    assert ("Java" in finding.say("advice")) == (variant is None)


def test_the_table_holds_what_the_finding_says() -> None:
    finding = Finding.of("restart", "p", 1, {"ids": ["AB"]}, since=AT)
    (row,) = to_table([finding]).to_pylist()
    assert json.loads(row["evidence"]) == {"ids": ["AB"]}
    assert json.loads(row["values"]) == {"subject": "p", "count": 1}
    said = words.say("meaning", row["code"], json.loads(row["values"]))
    assert said == "p restarted once: its counter dropped to almost 0, too early for a wrap" == finding.say("meaning")
    assert (row["severity"], row["count"], row["first_sent_at"], row["last_sent_at"]) == ("info", 1, AT, None)


# ---- what real clients wrote


def test_the_real_log_has_only_findings_that_are_true_of_it(tmp_path: Path) -> None:
    path = tmp_path / "real.log"
    path.write_bytes(gzip.decompress(REAL.read_bytes()))
    tables = scan_local([str(path)], month_rows(AT, UTC))
    told = look(list_files([str(path)]), tables["copies"]["msg_id"].to_pylist())
    found = find_all(tables, AT, UTC, line_evidence=told)
    loud = {(item.code, item.subject, item.count) for item in found if item.severity != "info"}
    twice = {item.subject for item in found if item.code == "duplicate_send"}
    keys = {record["key"] for item in found if item.code == "duplicate_send" for record in item.evidence["records"]}
    # What that application sent twice, and only that, has keys tw-0 to tw-19 ("sent more than once"). Of the third
    # producer the log has SendResults alone: three of its Message objects were sent two and three times.
    assert len(twice) == 26
    assert all(key.startswith("tw-") for key in keys - {None})
    assert {(item.subject, item.count) for item in found if item.evidence.get("variant") == "send_results"} == {
        ("CB00711577DB4E0E2F2A668CC6DC0118", 2),
        ("CB00711577DB4E0E2F2A668CC6DF0119", 3),
        ("CB00711577DB4E0E2F2A668CC6E3011A", 2),
    }
    # Failed sends and ids of trace messages; the broker of that run stood on 127.0.0.1; an application's own key,
    # C0A80101FFFF18B4AAC2FFFFFFFF0001, which two producers gave to two messages; keys shaped like offset ids, and a
    # consumer that logs the offset id as msgId. prodA ran at +08:00, prodB in UTC.
    # Keys of its own that it sent twice as UNIQ_KEY were received twice.
    assert {row for row in loud if row[0] != "duplicate_send"} == {
        ("collision", "C0A80101FFFF18B4AAC2FFFFFFFF0001", 7),
        # Both producers ran the same program, 214 s apart: what it sends was sent twice, with its keys.
        ("same_key", "Orders", 160),
        ("same_key", "VectorTopic", 27),
        ("missing_ids", "203.0.113.21 pid 27515 loader 4E0E2F2A", 53),
        ("missing_ids", "203.0.113.21 pid 29489 loader 4E0E2F2A", 8),
        ("missing_ids", "203.0.113.21 pid 30683 loader 4E0E2F2A", 3),
        ("id_confusion", f"msgId ({path})", 44),
        ("id_confusion", f"UNIQ_KEY ({path})", 12),
        ("received_twice", "retry_group", 3),
        ("broker_address_internal", "127.0.0.1:21911", 4_829),
        ("elapsed_impossible", "192.168.1.1 pid 65535 loader 18B4AAC2", 15),
        ("zone_mismatch", "203.0.113.21 pid 29489 loader 4E0E2F2A", 1459),
        ("zone_mismatch", "203.0.113.21 pid 26894 loader 4E0E2F2A", 12),
    }
    assert {item.code for item in found} <= set(RULES)


NEW_YORK = ZoneInfo("America/New_York")


def zones_told(times: dict[int, Sequence[datetime]], tmp_path: Path, zone: tzinfo, source: str) -> list[Finding]:
    """`times`: the local times of the IDs of each process, by pid; each line has a bornTimestamp."""
    lines = []
    for pid, moments in times.items():
        for place, moment in enumerate(moments):
            born = int(moment.timestamp() * 1_000)
            elapsed = born - int(moment.replace(day=1, hour=0, minute=0, second=0).timestamp() * 1_000)
            lines.append(f"bornTimestamp={born}, UNIQ_KEY={uniq(elapsed, place, pid=pid)}")
    path = tmp_path / "zones.log"
    path.write_text("\n".join(lines))
    months = month_rows(AT, zone, source)
    found = find_all(scan_local([str(path)], months), AT, zone, source)
    return [one for one in found if one.code == "zone_mismatch"]


def some(start: datetime, count: int = 12) -> list[datetime]:
    return [start + timedelta(minutes=place) for place in range(count)]


def test_daylight_saving_is_no_other_zone(tmp_path: Path) -> None:
    october, november = datetime(2026, 10, 20, 9, tzinfo=NEW_YORK), datetime(2026, 11, 18, 9, tzinfo=NEW_YORK)
    for zone, source in ((NEW_YORK, "given"), (UTC, "assumed")):
        assert zones_told({1: some(october), 2: some(november, 40)}, tmp_path, zone, source) == []
        assert zones_told({1: some(october, 40), 2: some(november)}, tmp_path, zone, source) == []


def test_two_offsets_at_one_time_are_two_zones(tmp_path: Path) -> None:
    summer, winter = timezone(timedelta(hours=-4)), timezone(timedelta(hours=-5))
    at = datetime(2026, 11, 18, 9, tzinfo=winter)
    (found,) = zones_told({1: some(at, 40), 2: some(at.astimezone(summer))}, tmp_path, UTC, "assumed")
    assert (found.evidence["zone"], found.evidence["usual_zone"]) == ("-04:00", "-05:00")
    berlin = some(datetime(2026, 11, 18, 9, tzinfo=timezone(timedelta(hours=2))))
    (found,) = zones_told({2: berlin}, tmp_path, ZoneInfo("Europe/Berlin"), "given")
    told = [found.evidence[name] for name in ("zone", "usual_zone", "variant")]
    assert told == ["+02:00", "+01:00", "given"], "its daylight saving ended in October"


HOURLY = [datetime(2026, 9, 20, 8, tzinfo=UTC) + timedelta(hours=hour) for hour in range(62 * 24)]
AT_MIDNIGHT = [datetime(2026, month, 1, tzinfo=UTC) for month in range(1, 12) for _ in range(3)]


@pytest.mark.parametrize("moments", [HOURLY, AT_MIDNIGHT])
def test_a_process_of_several_months_has_no_other_finding(tmp_path: Path, moments: list[datetime]) -> None:
    """One ID an hour for two months, or some at each midnight: nothing is missing, shared, set back or known to be
    old."""
    lines = []
    for hour, moment in enumerate(moments):
        elapsed = int((moment - moment.replace(day=1, hour=0)).total_seconds() * 1_000)
        lines.append(f"{moment:%F %T},000Z sent msgId={uniq(elapsed, hour)}")
    assert [(one.code, one.severity, one.count, one.assumed) for one in told(lines, tmp_path)] == [
        ("several_months", "info", len(moments), ("month",))
    ]


def test_times_of_lines_are_read_in_the_zone_that_the_lines_prove(tmp_path: Path) -> None:
    """The IDs were generated at +08:00, and consumers log in the same zone: nothing is eight hours late."""
    shanghai = timezone(timedelta(hours=8))
    lines = []
    for place in range(20):
        moment = datetime(2026, 11, 20, 9, 50, place, tzinfo=shanghai)
        elapsed = int((moment - moment.replace(day=1, hour=0, minute=0, second=0)).total_seconds() * 1_000)
        text = uniq(elapsed, place)
        lines.append(f"{moment:%F %T},000 sent bornTimestamp={int(moment.timestamp() * 1_000)}, msgId={text}")
        lines.append(f"{moment:%F %T},100 [ConsumeMessageThread_g_1] consume failed msgId={text}")
    path = tmp_path / "x.log"
    path.write_text("\n".join(lines))
    tables, evidence = scan_local([str(path)], month_rows(AT, UTC)), look(list_files([str(path)]), [])
    found = find_all(tables, AT, UTC, line_evidence=evidence)
    (failed,) = [one for one in found if one.code == "consume_failed"]
    assert failed.since == datetime(2026, 11, 20, 1, 50, 0, 100_000, tzinfo=UTC)
