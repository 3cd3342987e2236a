"""Times: months in a zone, hints of a line, offsets and names of zones; no hidden clock anywhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcore.base.errors import CoreError
from idcore.base.layout import UNIQ_V4_LE
from idcore.ids import ClientId, Clock, UniqId, sent_at
from idcore.ids.client_time import client_sent
from idcore.ids.clock import (
    CLIENT_EPOCH_S,
    all_months,
    from_ms,
    month_start,
    months,
    parse_instant,
    parse_zone,
    sent,
    to_ms,
    zone_text,
)
from idcore.ids.dating import dates_of
from idcore.ids.find import find
from idcore.ids.identify import identify
from idcore.ids.line_time import uniq_sent

pytestmark = pytest.mark.quick

SHANGHAI = ZoneInfo("Asia/Shanghai")
DAY = 86_400_000


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def read(elapsed: int, reference: str, zone: str = "UTC") -> str | None:
    found = sent_at(elapsed, Clock(at(reference), parse_zone(zone), "given"))
    return None if found is None else found.isoformat()


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("+08:00", 480),
        ("-03:30", -210),
        ("+5", 300),
        ("-1130", -690),
        ("UTC+8", 480),
        ("GMT-03:00", -180),
        ("+14", 840),
    ],
)
def test_offsets_as_people_write_them(text: str, offset: int) -> None:
    assert parse_zone(text).utcoffset(None) == timedelta(minutes=offset)


def test_names_of_zones() -> None:
    assert parse_zone("Asia/Shanghai") == SHANGHAI
    assert parse_zone("Z") is UTC
    assert parse_zone(" utc ") is UTC


@pytest.mark.parametrize(
    "text", ["", "nowhere", "America", "+25:00", "+14:30", "-12:30", "+08:60", "../etc/passwd", "/etc/localtime", "8"]
)
def test_what_is_no_zone_is_refused(text: str) -> None:
    with pytest.raises(CoreError) as caught:
        parse_zone(text)
    assert (caught.value.code, caught.value.field) == ("zone", "zone")


def test_instants() -> None:
    assert parse_instant("2026-11-21T09:50:13.373+08:00") == at("2026-11-21T01:50:13.373+00:00")
    assert parse_instant("2026-11-21", SHANGHAI) == at("2026-11-21T00:00:00+08:00")
    for text in ("yesterday", "", "0001-01-01", "9999-12-31", "2026-13-01"):
        with pytest.raises(CoreError) as caught:
            parse_instant(text)
        assert caught.value.code == "instant"


def test_zone_text() -> None:
    assert [zone_text(timedelta(minutes=m)) for m in (480, -210, 0, 345)] == ["+08:00", "-03:30", "+00:00", "+05:45"]


def test_the_newest_month_that_fits() -> None:
    nine = 8 * DAY + 9 * 3_600_000
    assert read(nine, "2026-11-21T00:00:00+00:00") == "2026-11-09T09:00:00+00:00"
    assert read(nine, "2026-11-09T09:00:00+00:00") == "2026-11-09T09:00:00+00:00"  # not after the reference: equal fits
    assert read(nine, "2026-11-09T08:59:59.999+00:00") == "2026-10-09T09:00:00+00:00"


def test_a_short_month_is_passed_over() -> None:
    # 31 January read on 1 March: Java's getNearlyTimeFromID answers 3 March
    thirty_first = 30 * DAY + 10 * 3_600_000
    assert read(thirty_first, "2026-03-01T00:30:00+00:00") == "2026-01-31T10:00:00+00:00"
    assert read(28 * DAY, "2026-03-05T00:00:00+00:00") == "2026-01-29T00:00:00+00:00"
    assert read(28 * DAY, "2024-03-05T00:00:00+00:00") == "2024-02-29T00:00:00+00:00"


def test_elapsed_is_unsigned() -> None:
    assert read(2**31, "2026-10-31T00:00:00+00:00") == "2026-10-25T20:31:23.648000+00:00"


def test_the_month_is_the_producers() -> None:
    # midnight of the 1st in Shanghai is 16:00 of the day before in UTC
    assert read(0, "2026-11-21T00:00:00+00:00", "+08:00") == "2026-11-01T00:00:00+08:00"
    assert read(0, "2026-10-31T16:00:00+00:00", "+08:00") == "2026-11-01T00:00:00+08:00"
    assert read(0, "2026-10-31T15:59:59+00:00", "+08:00") == "2026-10-01T00:00:00+08:00"


def test_daylight_saving_within_the_month() -> None:
    # New York, March 2026: the 8th has 23 hours, so 31 days minus one hour
    zone = "America/New_York"
    assert read(10 * DAY, "2026-03-20T00:00:00+00:00", zone) == "2026-03-11T01:00:00-04:00"
    march = months(at("2026-03-20T00:00:00+00:00"), ZoneInfo(zone), 1)[0]
    assert march.length_ms == 31 * DAY - 3_600_000
    assert read(31 * DAY - 3_600_000, "2026-04-20T00:00:00+00:00", zone) == "2026-01-31T23:00:00-05:00"


@pytest.mark.parametrize(
    ("zone", "year", "month", "instant"),
    [
        # java.util.Calendar, asked over all zones from 1990 to 2029: midnight twice means the later one ...
        ("America/Havana", 2020, 11, "2020-11-01T05:00:00+00:00"),
        ("America/Goose_Bay", 2009, 11, "2009-11-01T04:00:00+00:00"),
        # ... and a midnight that is skipped means the instant of the change
        ("America/Asuncion", 1995, 10, "1995-10-01T04:00:00+00:00"),
        ("Africa/Cairo", 2014, 8, "2014-07-31T22:00:00+00:00"),
    ],
)
def test_a_midnight_that_comes_twice_or_never(zone: str, year: int, month: int, instant: str) -> None:
    assert month_start(year, month, ZoneInfo(zone)) == to_ms(at(instant))


def test_months_are_newest_first_and_touch() -> None:
    found = months(at("2026-02-10T00:00:00+00:00"), SHANGHAI)
    assert [month.label for month in found[:3]] == ["2026-02", "2026-01", "2025-12"]
    assert len(found) == 13
    for newer, older in pairwise(found):
        assert older.start_ms + older.length_ms == newer.start_ms


def test_all_twelve_months_that_an_id_could_be_from() -> None:
    clock = Clock(at("2026-11-21T00:00:00+00:00"), UTC)
    listed = [one.at.isoformat()[:10] for one in all_months(8 * DAY, clock)]
    assert listed[0] == "2026-11-09"
    assert listed[-1] == "2025-12-09"
    assert len(listed) == 12
    assert "2026-02-30" not in [one.at.isoformat()[:10] for one in all_months(29 * DAY, clock)]
    assert len(all_months(30 * DAY, clock)) == 7


@given(
    st.integers(0, 31 * DAY - 1),
    st.datetimes(datetime(2016, 1, 1), datetime(2040, 1, 1)),
    st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "America/Havana", "Pacific/Apia", "Asia/Kolkata"]),
)
def test_a_reading_is_never_after_the_reference_nor_outside_its_month(
    elapsed: int, reference: datetime, name: str
) -> None:
    zone = ZoneInfo(name)
    clock = Clock(reference.replace(tzinfo=UTC), zone)
    found = sent(elapsed, clock)
    assert found is not None  # of any three months in a row one holds any elapsed
    assert found.at <= clock.reference
    assert found.at.isoformat()[:7] == found.month
    for month in months(clock.reference, zone, 4):
        if month.label > (found.month or ""):
            assert month.start_ms + elapsed > to_ms(clock.reference) or elapsed >= month.length_ms


def test_little_endian_months_begin_a_day_early() -> None:
    clock = Clock(at("2026-11-21T00:00:00+00:00"), UTC)
    assert sent_at(DAY, clock, UNIQ_V4_LE) == at("2026-10-31T23:00:00+00:00")  # and an hour early, or at midnight
    assert sent_at(31 * DAY - 1, clock, UNIQ_V4_LE) == at("2026-10-30T22:59:59.999+00:00")
    york = Clock(at("2026-07-21T00:00:00+00:00"), ZoneInfo("America/New_York"))
    assert sent_at(DAY, york, UNIQ_V4_LE) == at("2026-07-01T04:00:00+00:00")  # daylight saving: at midnight, or 01:00


def uniq(elapsed: int) -> UniqId:
    return UniqId.of("10.0.0.1", 1, 0x18B4AAC2, elapsed % 2**32, 0)


def test_a_clock_set_back_counts_from_a_month_that_had_not_begun() -> None:
    # reference-ids.jsonl, 4.2.0: made on 31 January 23:59:59.500 after the class had seen February
    clock = Clock(at("2026-01-31T23:59:59.500+00:00"), UTC)
    found, _ = uniq_sent(uniq(-500), clock)
    assert found is not None
    assert found.at == clock.reference
    assert found.month == "2026-02"
    later, _ = uniq_sent(uniq(-500), Clock(at("2026-02-20T00:00:00+00:00"), UTC))
    assert later is not None
    assert later.at == clock.reference


def test_an_elapsed_just_over_the_longest_month_is_dated() -> None:
    # the clock is read twice as the month changes (4.7.0 to 4.9.2)
    assert read(31 * DAY + 3, "2026-11-21T00:00:00+00:00") == "2026-11-01T00:00:00.003000+00:00"
    assert read(31 * DAY + 2_000, "2026-11-21T00:00:00+00:00") is None


# ---- hints of the line

BORN = to_ms(at("2021-10-20T20:55:58.909+08:00"))
ELAPSED = 1_716_958_909
CLOCK = Clock(at("2026-11-21T00:00:00+00:00"), UTC, "assumed")


@pytest.mark.parametrize("late", [0, 1, 999, 1000, -1000])
def test_born_within_a_second_fixes_month_and_zone(late: int) -> None:
    found, reason = uniq_sent(uniq(ELAPSED), CLOCK, BORN + late)
    assert found is not None
    assert found.at == at("2021-10-20T20:55:58.909+08:00")
    assert (found.month, found.zone, found.zone_source) == ("2021-10", "+08:00", "born")
    assert reason is not None
    assert reason.code == "zone_born"


def test_born_a_little_later_fixes_the_month_only() -> None:
    found, reason = uniq_sent(uniq(ELAPSED), CLOCK, BORN + 3_100)
    assert found is not None
    assert (found.month, found.zone, found.zone_source) == ("2021-10", "+00:00", "assumed")
    assert reason is not None
    assert reason.code == "month_born"


@pytest.mark.parametrize("minutes", [-720, -570, -210, 0, 330, 345, 525, 765, 840])
def test_born_yields_every_offset_in_use(minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    instant = datetime(2024, 2, 29, 23, 59, 59, tzinfo=zone)
    elapsed = to_ms(instant) - month_start(2024, 2, zone)
    found, _ = uniq_sent(uniq(elapsed), CLOCK, to_ms(instant))
    assert found is not None
    assert (found.at, found.zone, found.zone_source) == (instant, zone_text(timedelta(minutes=minutes)), "born")


def test_a_given_zone_that_born_confirms_is_kept_with_its_daylight_saving() -> None:
    zone = ZoneInfo("America/New_York")
    instant = at("2026-03-20T12:00:00-04:00")
    elapsed = to_ms(instant) - month_start(2026, 3, zone)
    found, _ = uniq_sent(uniq(elapsed), Clock(CLOCK.reference, zone, "given"), to_ms(instant))
    assert found is not None
    assert (found.at, found.zone, found.zone_source) == (instant, "-04:00", "born")


def test_the_noon_bug_shows_where_the_zone_is_given() -> None:
    # public-lines.jsonl, line 56, a 3.x client in UTC+8
    born, elapsed = 1_480_145_809_942, 0x81858016
    found, reason = uniq_sent(uniq(elapsed), Clock(CLOCK.reference, parse_zone("+08:00"), "given"), born)
    assert found is not None
    assert reason is not None
    assert (found.at, found.zone, reason.code) == (at("2016-11-26T15:36:49.942+08:00"), "+08:00", "noon")
    plain, _ = uniq_sent(uniq(elapsed), CLOCK, born)
    assert plain is not None
    assert (plain.at, plain.zone) == (found.at, "-04:00")


def prefix(text: str, zone: tzinfo = UTC, source: str = "assumed") -> tuple[str, str, str | None, str | None]:
    clock = Clock(CLOCK.reference, zone, source)  # type: ignore[arg-type]
    found, reason = uniq_sent(uniq(ELAPSED), clock, None, at(text))
    assert found is not None
    return found.at.isoformat(), found.zone, found.zone_source, reason.code if reason else None


def test_a_prefix_with_a_zone_fixes_month_and_zone() -> None:
    sent_text = "2021-10-20T20:55:58.909000+08:00"
    assert prefix("2021-10-20T20:55:58.950+08:00") == (sent_text, "+08:00", "prefix", "zone_prefix")
    # a log in UTC of a producer in Shanghai, as containers write it
    assert prefix("2021-10-20T12:55:58.950+00:00") == (sent_text, "+08:00", "prefix", "zone_prefix")


def test_a_prefix_without_a_zone_fixes_the_month_only() -> None:
    assert prefix("2021-10-20T20:55:59") == ("2021-10-20T20:55:58.909000+00:00", "+00:00", "assumed", "month_prefix")
    given_zone = prefix("2021-10-20T20:55:59", parse_zone("+08:00"), "given")
    assert given_zone == ("2021-10-20T20:55:58.909000+08:00", "+08:00", "given", "month_prefix")


def test_a_consumers_log_some_days_later_still_fixes_the_month() -> None:
    assert prefix("2021-10-28T03:00:00")[0] == "2021-10-20T20:55:58.909000+00:00"
    assert prefix("2021-11-02T03:00:00")[0] == "2021-10-20T20:55:58.909000+00:00"


# ---- client ids


def client(seconds: int) -> ClientId:
    return ClientId.from_hex(f"01EA2C235B8585B70D{seconds:08X}00000015")


def test_seconds_count_from_2021_in_utc() -> None:
    found, reason = client_sent(client(146_888_539), CLOCK)
    assert found is not None
    assert found.at == at("2025-08-28T02:22:19+00:00")
    assert (found.month, found.zone, found.zone_source, reason) == (None, "+00:00", None, None)


def test_born_shows_the_local_epoch_of_early_java_clients() -> None:
    # MessageIdCodec up to 5.0.2 counted from the local 2021-01-01: in UTC+8 such an id reads eight hours ahead
    born = at("2022-10-01T12:00:00+08:00")
    seconds = int(born.timestamp()) + 8 * 3600 - CLIENT_EPOCH_S
    found, reason = client_sent(client(seconds), CLOCK, "grpc", to_ms(born))
    assert found is not None
    assert reason is not None
    assert (found.at, found.zone, found.zone_source, reason.code) == (born, "+08:00", "born", "seconds_local")


def test_rust_and_old_cpp_seconds() -> None:
    turned = int.from_bytes((146_888_539).to_bytes(4, "big"), "little")
    cpp, why = client_sent(client(turned), CLOCK, "grpc_cpp_old")
    assert cpp is not None
    assert why is not None
    assert (cpp.at, why.code) == (at("2025-08-28T02:22:19+00:00"), "seconds_le")
    rust, why = client_sent(client(8 * DAY), CLOCK, "grpc_rust")
    assert rust is not None
    assert why is not None
    assert (rust.at, why.code) == (at("2026-11-09T00:00:00+00:00"), "seconds_rust")


def test_milliseconds_are_exact() -> None:
    for milliseconds in (0, 1, 1_795_225_813_373, 253_000_000_000_001):
        assert to_ms(from_ms(milliseconds)) == milliseconds


OLD = "0A6014090A1218B4AAC2" + f"{4 * 86_400_000:08X}0000"  # of 5 March, named again a month later


@pytest.mark.parametrize(("days", "settled"), [((), {"2020-03"}), ((5.5, 12, 19), set())])
def test_a_born_time_refutes_times_beside_its_id_but_no_log_of_weeks(
    days: tuple[float, ...], settled: set[str]
) -> None:
    """In such a log each line dates its own IDs: one of them names an old ID once more."""
    born = int(datetime(2020, 3, 5, tzinfo=timezone(timedelta(hours=8))).timestamp() * 1000)
    texts = [f"bornTimestamp={born}, UNIQ_KEY={OLD}", f"2020-04-06 08:00:00 sent msgId={OLD}"]
    for day in days:
        elapsed = int(day * 86_400_000)
        at = datetime(2020, 4, 1) + timedelta(milliseconds=elapsed)
        texts.append(f"{at:%Y-%m-%d %H:%M:%S} sent msgId=0A6014090A1218B4AAC2{elapsed:08X}0001")
    clock = Clock(datetime(2026, 11, 25, tzinfo=UTC), timezone(timedelta(hours=8)), "given")
    items = [(identify(token.text, token.label), token) for text in texts for token in find(text)]
    (process,) = dates_of(items, clock).processes.values()
    assert {month.label for _, month in process.spans} == settled
