"""Lines that are earlier than their ids, or later than a send takes: on logs made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from idcore.answers.findings.all_rules import Finding
from idcore.scan.line_clocks import line_times
from idcore.scan.lines import look
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all
from tests.scan.logs import JAVA, uniq

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 24, 12, tzinfo=UTC)
WRITTEN = datetime(2026, 11, 17, 22, 0, 0, 250_000)
MINUTE, HOUR = 60_000, 3_600_000
ONE, OTHER = 0x0A510001, 0x0A510002


def line(n: int, apart: int, says: str = "consumed msgId=", host: int = ONE, zone: str = "", waited: int = 0) -> str:
    """The n-th line of a log, so many ms behind its id by another clock, and `waited` ms by the same."""
    written = WRITTEN + timedelta(seconds=n)
    sent = written - timedelta(milliseconds=apart + waited)
    elapsed = (sent - sent.replace(day=1, hour=0, minute=0, second=0, microsecond=0)) // timedelta(milliseconds=1)
    return f"{written.isoformat(' ', 'milliseconds')}{zone} INFO {says}{uniq(host, 9, JAVA, elapsed, n)}"


SENT = "SendResult [sendStatus=SEND_OK, msgId="


def found_in(lines: Iterable[str], tmp_path: Path, name: str = "app.log") -> list[Finding]:
    path = tmp_path / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return found_in_files([path])


def found_in_files(paths: list[Path]) -> list[Finding]:
    names = [str(path) for path in paths]
    tables = scan_local(names, month_rows(AT, UTC))
    told = look(list_files(names), tables["copies"]["msg_id"].to_pylist())
    return [one for one in find_all(tables, AT, UTC, line_evidence=told) if one.code == "line_clock"]


def brief(found: Iterable[Finding]) -> list[tuple[str, str | None, int, int]]:
    return [(one.subject, one.evidence.variant, one.evidence["shift_ms"], one.count) for one in found]


@pytest.mark.parametrize("ahead", [5_000, 17_500, 5 * MINUTE, 83 * MINUTE, 8 * HOUR - 7 * MINUTE])
def test_ids_later_than_their_lines_have_another_clock(ahead: int, tmp_path: Path) -> None:
    found = found_in((line(n, -ahead) for n in range(20)), tmp_path)
    assert brief(found) == [("10.81.0.1", "early", -ahead, 20)]
    assert found[0].certainty == "likely"
    assert found[0].since == (WRITTEN + timedelta(milliseconds=ahead)).replace(tzinfo=UTC), "as the ids have it"
    assert found[0].assumed == ("zone",)


def test_the_times_of_a_finding_are_in_the_zone_that_its_lines_prove(tmp_path: Path) -> None:
    """A bornTimestamp shows where the month of the ids began."""
    born = int((WRITTEN - timedelta(hours=8)).replace(tzinfo=UTC).timestamp() * 1_000) + 5 * MINUTE
    found = found_in(
        (line(n, -5 * MINUTE, f"bornTimestamp={born + 1_000 * n}, UNIQ_KEY=") for n in range(20)), tmp_path
    )
    assert found[0].since == datetime(2026, 11, 17, 14, 5, 0, 250_000, tzinfo=UTC)
    assert found[0].assumed == ()


@pytest.mark.parametrize("quarters", [-32, -3, -1, 1, 32])
@pytest.mark.parametrize("says", ["consumed msgId=", SENT])
def test_quarters_of_an_hour_are_those_of_zones(quarters: int, says: str, tmp_path: Path) -> None:
    assert not found_in((line(n, quarters * 15 * MINUTE + 40 * n, says) for n in range(20)), tmp_path)


def test_a_line_with_a_zone_is_compared_by_its_own_clock(tmp_path: Path) -> None:
    assert not found_in((line(n, 40, zone="+08:00") for n in range(20)), tmp_path)
    found = found_in((line(n, -5 * MINUTE, zone="+08:00") for n in range(20)), tmp_path)
    assert brief(found) == [("10.81.0.1", "early", -5 * MINUTE, 20)]


def test_what_is_consumed_late_is_no_clock(tmp_path: Path) -> None:
    assert not found_in((line(n, 5 * MINUTE) for n in range(20)), tmp_path)


def test_a_send_that_is_reported_minutes_later_is_another_clock(tmp_path: Path) -> None:
    found = found_in((line(n, 83 * MINUTE, SENT) for n in range(20)), tmp_path)
    assert brief(found) == [("10.81.0.1", "late", 83 * MINUTE, 20)]
    assert not found_in((line(n, 59_000, SENT) for n in range(20)), tmp_path), "it was tried again"


def test_the_lines_of_a_send_and_those_of_a_consumer_are_judged_apart(tmp_path: Path) -> None:
    """The producer's own lines have its clock."""
    sends = [line(n, 2, SENT) for n in range(20)]
    found = found_in([*sends, *(line(n, -5 * MINUTE) for n in range(20, 30))], tmp_path)
    assert [(*one, found[0].evidence["of_lines"]) for one in brief(found)] == [
        ("10.81.0.1", "early", -5 * MINUTE, 10, 10)
    ]


def test_one_of_several_hosts_is_off(tmp_path: Path) -> None:
    lines = [line(n, -5 * MINUTE if n % 2 else 3, host=ONE if n % 2 else OTHER) for n in range(20)]
    found = found_in(lines, tmp_path)
    assert brief(found) == [("10.81.0.1", "early", -5 * MINUTE, 10)]
    assert "agree with their lines" in found[0].say("meaning")


def test_all_hosts_of_a_file_are_off_by_the_clock_of_its_lines(tmp_path: Path) -> None:
    found = found_in((line(n, -5 * MINUTE, host=ONE + n % 7) for n in range(20)), tmp_path)
    assert brief(found) == [(str(tmp_path / "app.log"), "lines_early", -5 * MINUTE, 20)]
    late = found_in((line(n, 5 * MINUTE, SENT, host=ONE + n % 7) for n in range(20)), tmp_path)
    assert brief(late) == [(str(tmp_path / "app.log"), "lines_late", 5 * MINUTE, 20)]
    assert "all 7 hosts" in late[0].say("meaning")


def test_a_host_that_is_off_in_two_files_is_said_once(tmp_path: Path) -> None:
    paths = [tmp_path / "a.log", tmp_path / "b.log"]
    for path, several in zip(paths, (10, 20), strict=True):
        path.write_text("\n".join(line(n, -5 * MINUTE) for n in range(several)), encoding="utf-8")
    assert brief(found_in_files(paths)) == [("10.81.0.1", "early", -5 * MINUTE, 20)]


def test_times_that_are_not_those_of_lines_are_no_clock(tmp_path: Path) -> None:
    """An export has the time of the order in front, and the message was sent some time later."""
    assert not found_in((line(n, -7_000 * (1 + n * 7 % 11)) for n in range(40)), tmp_path)


def test_a_few_lines_and_other_ids_show_nothing(tmp_path: Path) -> None:
    assert not found_in((line(n, -5 * MINUTE) for n in range(2)), tmp_path)
    assert not found_in((f"{line(n, -5 * MINUTE)} {uniq(OTHER, 9, JAVA, 5, n)}" for n in range(9)), tmp_path), (
        "two messages: the time may be that of either"
    )
    assert not found_in((line(n, -5 * MINUTE).replace(f"{JAVA:08X}", "F00DBABE") for n in range(9)), tmp_path), (
        "chance makes such a one"
    )


def test_a_month_that_began_between_the_two_is_no_difference(tmp_path: Path) -> None:
    at_midnight = "2026-11-01 00:00:0{n}.000 consumed msgId={id}"
    elapsed = 31 * 24 * HOUR - 500
    assert not found_in(
        (at_midnight.format(n=n, id=uniq(ONE, 9, JAVA, elapsed + 1_000 * n, n)) for n in range(1)), tmp_path
    )
    (one,) = line_times(at_midnight.format(n=0, id=uniq(ONE, 9, JAVA, elapsed, 0)).encode())
    assert one.apart == 500


def test_of_many_lines_some_are_looked_at_that_are_spread_evenly() -> None:
    text = "\n".join(line(n, 3) for n in range(5_000)).encode()
    seen = [one.at_ms for one in line_times(text, 50)]
    assert 45 <= len(seen) <= 50
    assert max(b - a for a, b in pairwise(seen)) < 2 * (seen[-1] - seen[0]) / len(seen)
