"""Time zones as people look for them: every way to write a place or an offset is in the label of its zone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from idcore.presentation import zones

WINTER, SUMMER = datetime(2026, 1, 15, 12, tzinfo=UTC), datetime(2026, 7, 15, 12, tzinfo=UTC)


def found(typed: str, at: datetime = WINTER) -> list[str]:
    """The zones that a box offers for what somebody typed: those whose label contains it, in the order of the box."""
    labels = {name: zones.label(name, at) for name in zones.ordered_names()}
    return [name for name, label in labels.items() if typed.casefold() in label.casefold()]


@pytest.mark.parametrize("typed", ["+08", "+08:00", "UTC+8", "GMT+8", "China", "Beijing", "中国", "北京", "shanghai"])
def test_the_zone_of_china_is_the_first_that_is_offered(typed: str) -> None:
    assert found(typed)[0] == "Asia/Shanghai"


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("UTC-3:30", "America/St_Johns"),
        ("+05:30", "Asia/Kolkata"),
        ("buenos aires", "America/Argentina/Buenos_Aires"),
        ("st johns", "America/St_Johns"),
        ("台北", "Asia/Taipei"),
        ("GMT", "UTC"),
    ],
)
def test_other_zones_are_found_by_place_and_offset(typed: str, name: str) -> None:
    assert found(typed)[0] == name


def test_a_label_has_the_present_offset() -> None:
    assert zones.label("America/New_York", WINTER).startswith("-05:00 America/New_York · ")
    assert zones.label("America/New_York", SUMMER).startswith("-04:00 America/New_York · ")
    assert "UTC-4 " in zones.label("America/New_York", SUMMER)
    assert zones.label("UTC", WINTER) == "+00:00 UTC · GMT"
    assert zones.label("+08:00", WINTER) == "UTC+08:00", "once, and not in three spellings"
    assert zones.label("Asia/Tokyo", WINTER, "Asia/Tokyo (browser)").startswith("+09:00 Asia/Tokyo (browser) · Japan")


def test_every_place_is_a_zone_and_no_zone_is_offered_twice() -> None:
    names = zones.ordered_names()
    assert len(names) == len(set(names)) > 400
    assert all(ZoneInfo(name) for name in zones.PLACES) and names[0] == "UTC"
