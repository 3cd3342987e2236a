"""When an id can have been generated, in any zone of its producer. Takes now as an argument; chooses no zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, timezone, tzinfo

from idcore.ids.client_time import client_sent
from idcore.ids.clock import OFFSETS_IN_USE, Clock, to_ms
from idcore.ids.line_time import uniq_sent
from idcore.ids.model import ClientId, UniqId
from idcore.ids.scoring import Reading

# A producer's clock may be ahead of ours by so much.
CLOCK_SLACK_MS = 3_600_000
# Java clients up to 5.0.2 count from 2021 in their own zone.
_LOCAL_2021_MS = 14 * 3_600_000
_ZONES: tuple[tzinfo, ...] = tuple(timezone(timedelta(minutes=minutes)) for minutes in OFFSETS_IN_USE)


@dataclass(frozen=True, slots=True)
class Span:
    """An id's own time in ms: of the newest months that fit, one for each zone, the earliest and the latest instant.

    `limit` is the latest with a clock that is ahead of ours: no id is younger than that.
    """

    earliest: int
    latest: int
    limit: int


def span(readings: Sequence[Reading], clock: Clock) -> Span | None:
    """The span of the first interpretation that has a time. An assumed zone is one of all; a known one is alone."""
    zones: tuple[tzinfo, ...] = (clock.zone,)
    if clock.zone_source == "assumed":
        zones, clock = (clock.zone, *_ZONES), replace(clock, zone_source="given")  # each in turn
    ahead = replace(clock, reference=clock.reference + timedelta(milliseconds=CLOCK_SLACK_MS))
    for reading in readings:
        now = [at for zone in zones for at in _times(reading, replace(clock, zone=zone))]
        later = [at for zone in zones for at in _times(reading, replace(ahead, zone=zone))]
        if now or later:
            limit = max(now + later)
            return Span(min(now or later), max(now or later), limit + _slack(reading))
    return None


def _times(reading: Reading, clock: Clock) -> Iterable[int]:
    """When an interpretation's id was generated, with one clock: nothing where it has no time."""
    times = None
    if isinstance(reading.id, UniqId):
        times, _ = uniq_sent(reading.id, clock)
    elif isinstance(reading.id, ClientId):
        times, _ = client_sent(reading.id, clock, reading.made_by.code)
    return () if times is None else (to_ms(times.at),)


def _slack(reading: Reading) -> int:
    return _LOCAL_2021_MS if isinstance(reading.id, ClientId) else 0
