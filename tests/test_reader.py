"""How somebody reads: timestamps as text, also those of a field that holds no time."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from idcore.base.catalogue import words
from idcore.presentation.reader import Reader

SENT = 1_795_226_400_123
READER = Reader(words("en"), ZoneInfo("Asia/Shanghai"))


def test_a_timestamp_is_in_the_zone_of_its_reader() -> None:
    assert READER.stamp(SENT) == READER.instant(SENT) == "2026-11-21 10:00:00.123 +08:00"


@pytest.mark.parametrize("value", [0, -1, 1 << 62])
def test_what_is_not_a_time_is_said_as_it_is(value: int) -> None:
    assert READER.stamp(value, "–") == "–" and READER.instant(value) == f"{value:,} ms"
    assert READER.stamp(None) == ""
