"""Months that begin at noon, of Java clients up to 4.0.0-incubating: one zone and one instant in decode and scan."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from idcore.ids import Clock
from idcore.ids.clock import parse_zone
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.scan.logs import JAVA, uniq
from tests.scan.test_doors import AT, by_decode, by_scan, decoded

pytestmark = pytest.mark.quick

# tests/vectors/public-lines.jsonl, line 56: a 3.x client in UTC+8
PUBLIC = "bornTimestamp=1480145809942 UNIQ_KEY=C0A8FAAB05D073D16E93818580160039\n"


def line(born: datetime, start: datetime, host: int = 0x0A000001, loader: int = JAVA, counter: int = 1) -> str:
    """A line with a bornTimestamp, and an ID that counts from `start`."""
    ms = [round(instant.timestamp() * 1000) for instant in (born, start)]
    return f"bornTimestamp={ms[0]} UNIQ_KEY={uniq(host, 7, loader, ms[0] - ms[1], counter)}\n"


def both(text: str, zone: tzinfo, source: str, on_disk: Callable[..., str]) -> list[tuple[str, str, str, str]]:
    """Time, zone, its source and last reason of each ID in decode, which has to be what the scan has."""
    clock = Clock(AT, zone, source)  # type: ignore[arg-type]
    found = decoded(text, clock)
    assert by_decode(found) == by_scan(on_disk(text.encode()), clock)
    return [(row["sent_at"], row["zone"], row["zone_source"], row["why_codes"][-1]) for row in found]


@pytest.mark.parametrize("source", ["given", "assumed"])
def test_the_noon_bug_is_recognised_in_the_readers_zone(source: str, on_disk: Callable[..., str]) -> None:
    want = ("2016-11-26T15:36:49.942+08:00", "+08:00", "born", "noon")
    assert both(PUBLIC, parse_zone("+08:00"), source, on_disk) == [want]


def test_a_midnight_further_west_is_likelier_where_no_client_with_the_bug_can_be(on_disk: Callable[..., str]) -> None:
    """An ID of 2026, of New York; a JVM of 2021; an address that clients with the bug never wrote."""
    zone, start = parse_zone("+08:00"), datetime(2026, 10, 1, 4, tzinfo=UTC)
    for source in ("given", "assumed"):
        assert both(line(start + timedelta(days=3), start), zone, source, on_disk)[0][1::2] == ("-04:00", "zone_born")
    start = datetime(2017, 10, 1, 4, tzinfo=UTC)
    assert both(line(start + timedelta(days=3), start), zone, "given", on_disk)[0][1::2] == ("+08:00", "noon")
    jdk17 = line(start + timedelta(days=3), start, loader=0x251A69D7)
    assert both(jdk17, zone, "given", on_disk)[0][1::2] == ("-04:00", "zone_born")
    loopback = line(start + timedelta(days=3), start, host=0x7F000001)
    assert both(loopback, zone, "given", on_disk)[0][1::2] == ("-04:00", "zone_born")


@pytest.mark.parametrize(
    ("name", "noon", "zone"),
    [
        ("America/New_York", datetime(2016, 12, 1, 17, tzinfo=UTC), "-05:00"),
        ("America/New_York", datetime(2015, 11, 1, 17, tzinfo=UTC), "-05:00"),  # 13 hours after midnight
        ("America/Sao_Paulo", datetime(2016, 7, 1, 15, tzinfo=UTC), "-03:00"),
        ("Asia/Kolkata", datetime(2017, 3, 1, 6, 30, tzinfo=UTC), "+05:30"),
    ],
)
def test_noon_is_found_where_it_is_a_midnight_nowhere(
    name: str, noon: datetime, zone: str, on_disk: Callable[..., str]
) -> None:
    born = noon + timedelta(days=20, milliseconds=7)
    (found,) = both(line(born, noon), ZoneInfo(name), "assumed", on_disk)
    assert (datetime.fromisoformat(found[0]), found[1:]) == (born, (zone, "born", "noon"))


def test_other_processes_of_the_input_name_the_zone_of_a_noon(on_disk: Callable[..., str]) -> None:
    """Nine IDs of a newer client prove +08:00; the noon of the tenth is theirs, not a midnight in New York."""
    begun = datetime(2016, 10, 31, 16, tzinfo=UTC)
    text = "".join(line(begun + timedelta(days=2, seconds=n), begun, 0x0A000002, counter=n) for n in range(19))
    assert {row[1] for row in both(text + PUBLIC, UTC, "assumed", on_disk)} == {"+08:00"}


def test_a_process_at_noon_says_nothing_against_the_given_zone(on_disk: Callable[..., str]) -> None:
    """So that zone_mismatch is not found, and processes that no line dates keep the zone that was given."""
    undated = uniq(0x0A000003, 7, JAVA, 3_600_000, 1)
    rows = both(PUBLIC * 3 + undated, parse_zone("+08:00"), "given", on_disk)
    assert [row[1] for row in rows] == ["+08:00"] * 4
    tables = scan_local([on_disk((PUBLIC * 3 + undated).encode())], month_rows(AT, parse_zone("+08:00"), "given"))
    assert set(tables["processes"]["zone"].to_pylist()) == {"+08:00"}


def test_an_id_without_a_line_shares_the_noon_of_its_process(on_disk: Callable[..., str]) -> None:
    start = datetime(2016, 11, 1, 4, tzinfo=UTC)
    later = uniq(0x0A000001, 7, JAVA, 3 * 86_400_000, 2)
    rows = both(line(start + timedelta(days=2), start) + later + "\n", parse_zone("+08:00"), "given", on_disk)
    assert rows[1] == ("2016-11-04T12:00:00.000+08:00", "+08:00", "born", "zone_process")


def test_a_line_that_names_its_zone_shows_noon_as_a_born_timestamp_does(on_disk: Callable[..., str]) -> None:
    text = "2016-11-26 15:36:49.950+0800 sent C0A8FAAB05D073D16E93818580160039\n"
    want = ("2016-11-26T15:36:49.942+08:00", "+08:00", "prefix", "zone_prefix")
    assert both(text, parse_zone("+08:00"), "given", on_disk) == [want]
