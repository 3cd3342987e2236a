"""The time range of a view: from <= t < to, as an address has it, and what of a table is in it. Draws nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from idcore.base.errors import CoreError, refuse
from idcore.ids.clock import parse_instant

if TYPE_CHECKING:  # an address is read before pandas is there
    import pandas as pd

FROM, TO = "from", "to"
MILLISECOND, MINUTE = timedelta(milliseconds=1), timedelta(minutes=1)
WRITTEN = "%Y-%m-%d %H:%M:%S.%f"
# What the ends of a box are rounded to: to the unit of which the box has at least so many.
ROUND, LEAST_UNITS = tuple(timedelta(milliseconds=ms) for ms in (60_000, 1000, 100, 1)), 60


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `begin` up to `end`, which is not in it. None is an end without a limit; without both it is all times."""

    begin: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise refuse("range_reversed", start=instant_text(self.begin), stop=instant_text(self.end))

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> TimeRange:
        """What `from` and `to` of an address say; CoreError names the value that is not an instant."""
        return cls(*(_instant(name, query.get(name, "")) for name in (FROM, TO)))

    @classmethod
    def of_span(cls, text: str) -> TimeRange:
        """Two instants of an address with `~` between them; what cannot be read is all times."""
        begin, _, end = text.partition("~")
        try:
            return cls.of_address({FROM: begin, TO: end})
        except CoreError:
            return cls()

    def __bool__(self) -> bool:
        return self.begin is not None or self.end is not None

    def is_shorter(self, than: timedelta) -> bool:
        """Whether it has both ends, and they are less than that apart."""
        return self.begin is not None and self.end is not None and self.end - self.begin < than

    def params(self) -> dict[str, str]:
        """The same for an address."""
        ends = {FROM: self.begin, TO: self.end}
        return {name: instant_text(moment) for name, moment in ends.items() if moment is not None}

    def clock(self, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
        """Both ends on the wall clock of a zone."""
        begin, end = (moment and moment.astimezone(zone).replace(tzinfo=None) for moment in (self.begin, self.end))
        return begin, end

    def on_clock(self, shown: tzinfo, meant: tzinfo) -> TimeRange:
        """The range whose ends a clock of the zone `meant` shows as a clock of `shown` shows these."""
        begin, end = (moment and moment.replace(tzinfo=meant) for moment in self.clock(shown))
        return TimeRange(begin, end)

    def contains(self, moments: pd.Series) -> pd.Series:
        """Which instants are in it; what has no time is in no range."""
        return self.overlaps(moments, moments)

    def overlaps(self, first: pd.Series, last: pd.Series) -> pd.Series:
        """Which spans have any instant in it, both ends of a span included."""
        inside = first.notna() if self else first.notna() | True
        if self.begin is not None:
            inside &= last >= self.begin
        if self.end is not None:
            inside &= first < self.end
        return inside

    def whole_minutes(self) -> TimeRange:
        """The minutes that it touches: tables by minute have no finer figures."""
        begin = self.begin and self.begin.replace(second=0, microsecond=0)
        end = self.end and self.end.replace(second=0, microsecond=0)
        return TimeRange(begin, end if end == self.end or end is None else end + MINUTE)


def at(moment: datetime) -> dict[str, str]:
    """The range of what has this instant, for an address."""
    return TimeRange(moment, moment + MILLISECOND).params()


def between(first: datetime, last: datetime, zone: tzinfo) -> dict[str, str]:
    """The range of two instants of a wall clock and what is between them, both included, for an address."""
    return TimeRange(first.replace(tzinfo=zone), last.replace(tzinfo=zone) + MILLISECOND).params()


ALL_TIMES = TimeRange()


def instant_text(moment: datetime) -> str:
    """`2026-11-21T01:50:13.373Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _instant(name: str, text: str) -> datetime | None:
    """An instant of an address, in UTC where it has no offset; the `+` of an offset may have become a space."""
    if not text.strip():
        return None
    try:
        return parse_instant(text.strip().replace(" ", "+") if "T" in text else text)
    except CoreError:
        raise refuse("instant", name, None, text, given=text) from None


def read(text: str, day: datetime, zone: tzinfo) -> datetime | None:
    """An instant as somebody writes it, with or without date; an empty box does not limit."""
    text = text.strip()
    if not text:
        return None
    clock_alone = ":" in text and "-" not in text.partition("+")[0]
    return parse_instant(f"{day.astimezone(zone):%Y-%m-%d} {text}" if clock_alone else text, zone)


def written(moment: datetime | None, zone: tzinfo) -> str:
    """An end of a range for its box; empty where it does not limit."""
    return "" if moment is None else moment.astimezone(zone).strftime(WRITTEN)[:-3]


def of_box(state: Mapping[str, Any], zone: tzinfo) -> TimeRange | None:
    """The range of a box that was drawn; None where none was. Its ends are moved out to round values."""
    import pandas as pd

    boxes = state.get("selection", {}).get("box") or ()
    if not boxes:
        return None
    left, right = sorted(pd.Timestamp(end) for end in boxes[0]["x"])
    unit = next((unit for unit in ROUND if right - left >= LEAST_UNITS * unit), ROUND[-1])
    begin = left.floor(pd.Timedelta(unit))
    end = max(right.ceil(pd.Timedelta(unit)), begin + unit)
    return TimeRange(*(moment.to_pydatetime().replace(tzinfo=zone) for moment in (begin, end)))
