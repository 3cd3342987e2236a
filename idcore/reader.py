"""How somebody reads: in which language and zone, and instants as text in that zone. It has no clock and no colours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from idcore import times
from idcore.catalogue import Words


@dataclass(frozen=True, slots=True)
class Reader:
    """What every sentence and every time depends on."""

    words: Words
    zone: tzinfo

    def full(self, moment: datetime | None) -> str:
        """An instant to the millisecond."""
        return times.full(moment, self.zone)

    def minute(self, moment: datetime | None) -> str:
        """An instant to the minute."""
        return times.minute(moment, self.zone)
