"""Instants and zones as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from idcore.presentation import times

pytestmark = pytest.mark.quick

SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    ("name", "offset"), [("UTC", "+00:00"), ("+08:00", "+08:00"), ("-03:30", "-03:30"), ("Asia/Kolkata", "+05:30")]
)
def test_a_zone_is_a_name_or_an_offset(name: str, offset: str) -> None:
    zone = times.zone_of(name)
    assert zone is not None and times.full(datetime(2026, 11, 21, tzinfo=UTC), zone).endswith(offset)


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "+25:00", "+08:60", "../../etc/passwd", "8"])
def test_what_is_no_zone_is_none(name: str) -> None:
    assert times.zone_of(name) is None


def test_a_span_is_as_short_as_its_ends_can_be_told_apart() -> None:
    start = datetime(2026, 11, 21, 1, 50, 13, tzinfo=UTC)
    assert times.between(start, start + timedelta(minutes=22), SHANGHAI) == ("2026-11-21 09:50", "10:12 +08:00")
    assert times.between(start, start + timedelta(seconds=4), SHANGHAI) == ("2026-11-21 09:50:13", "09:50:17 +08:00")
    assert times.between(start, start + timedelta(seconds=60), SHANGHAI, True) == ("2026-11-21 09:50", "09:51 +08:00")
    assert times.between(start, start + timedelta(days=1), SHANGHAI)[1] == "2026-11-22 09:50 +08:00"
    short = times.between(start, start + timedelta(milliseconds=990), SHANGHAI, True)
    assert short == ("2026-11-21 09:50:13.000", "09:50:13.990 +08:00")
