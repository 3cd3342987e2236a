"""How somebody reads: in which language and zone, instants as text in that zone, addresses. No clock, no colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from idcore.base.catalogue import Words
from idcore.ids.clock import from_ms, is_time
from idcore.presentation import times


@dataclass(frozen=True, slots=True)
class Reader:
    """What every sentence and every time depends on."""

    words: Words
    zone: tzinfo

    def href(self, page: str, **asked: str | Sequence[str] | None) -> str:
        """The address of a page of the console; none for who reads elsewhere."""
        return ""

    def full(self, moment: datetime | None) -> str:
        """An instant to the millisecond."""
        return times.full(moment, self.zone)

    def minute(self, moment: datetime | None) -> str:
        """An instant to the minute."""
        return times.minute(moment, self.zone)

    def second(self, moment: datetime | None) -> str:
        """An instant to the second: behind it there is nothing any more."""
        return times.second(moment, self.zone)

    def stamp(self, milliseconds: int | None, otherwise: str = "") -> str:
        """A timestamp of a record or a broker; `otherwise` where its field holds no time."""
        if not milliseconds or not is_time(milliseconds):  # 0: it was never filled
            return otherwise
        return self.full(from_ms(milliseconds))

    def instant(self, milliseconds: int) -> str:
        """The same; what is not a time as the number that it is."""
        return self.stamp(milliseconds, f"{milliseconds:,} ms")
