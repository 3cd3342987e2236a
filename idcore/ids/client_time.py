"""When a 5.x msgId was generated: its seconds count from 2021 in UTC, except for three clients. Reads no text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from idcore.ids import rules
from idcore.ids.clock import (
    CLIENT_EPOCH_S,
    EAST,
    HOUR_MS,
    IN_USE,
    OFFSETS_IN_USE,
    QUARTER_MS,
    WEST,
    Clock,
    SentAt,
    ZoneSource,
    from_ms,
    months,
    to_ms,
    wall_ms,
    zone_text,
)
from idcore.ids.line_time import PREFIX_EARLY_MS, PREFIX_LATE_MS, PREFIX_OWN_ZONE_LATE_MS
from idcore.ids.model import ClientId
from idcore.ids.reasons import Reason, bare_reason

ZONE_SLACK_MS = 26 * HOUR_MS  # zones in use are so far apart
FUTURE_MS = 60_000  # clocks of two machines differ by so much


def local_2021_ms(zone: tzinfo) -> int:
    """By how much a zone was ahead of UTC on 2021-01-01, from which Java clients up to 5.0.2 count in local time."""
    return CLIENT_EPOCH_S * 1000 - wall_ms(datetime(2021, 1, 1), zone)


def hours_ahead(at_ms: int, instant_ms: int, late_ms: int = 60_000) -> int | None:
    """The UTC offset, in minutes, by which seconds that read as `at_ms` are ahead of the instant of their line."""
    minutes = (at_ms - instant_ms + QUARTER_MS // 2) // QUARTER_MS * 15
    return minutes if minutes in IN_USE and abs(at_ms - instant_ms - minutes * 60_000) <= late_ms else None


def made_until(born_ms: int | None, prefix: datetime | None, zone: tzinfo) -> int | None:
    """Up to when a line shows its id to have been generated: its time, or hours later where that names no zone."""
    if born_ms is not None:
        return born_ms
    if prefix is None:
        return None
    return to_ms(prefix) if prefix.tzinfo is not None else wall_ms(prefix, zone) + ZONE_SLACK_MS


def _rust_sent(seconds: int, clock: Clock, until_ms: int | None) -> SentAt | None:
    """message_id.rs writes the milliseconds since a month began in UTC, and takes every month to have 30 days."""
    limit = to_ms(clock.reference) if until_ms is None else until_ms + HOUR_MS
    for month in months(from_ms(limit), UTC):
        longest = max(month.length_ms, rules.RUST_MONTH_MS)
        if month.start_ms + seconds <= limit and seconds < longest:
            return SentAt(from_ms(month.start_ms + seconds), month.label, "+00:00", None)
    return None


def client_seconds(client_id: ClientId, made_by: str) -> int:
    """The seconds of a 5.x msgId as its client meant them: C++ before 5.1.0 writes the low byte first."""
    if made_by == "grpc_cpp_old":
        return int.from_bytes(client_id.seconds.to_bytes(4, "big"), "little")
    return client_id.seconds


def client_sent(
    client_id: ClientId,
    clock: Clock,
    made_by: str = "grpc",
    born_ms: int | None = None,
    prefix: datetime | None = None,
) -> tuple[SentAt | None, Reason | None]:
    """When a 5.x msgId was generated. Its seconds count from 2021 in UTC; three clients deviate."""
    if made_by == "grpc_rust":
        until = made_until(born_ms, prefix, clock.zone)
        if until is None and clock.dates is not None:
            until = clock.dates.latest_of(client_id)
        return _rust_sent(client_id.seconds, clock, until), bare_reason("seconds_rust")
    at_ms = (CLIENT_EPOCH_S + client_seconds(client_id, made_by)) * 1000
    if made_by == "grpc_cpp_old":
        return SentAt(from_ms(at_ms), None, "+00:00", None), bare_reason("seconds_le")
    ahead, source = None, None
    if clock.dates is not None:
        ahead, source = clock.dates.ahead_of(client_id)
    if ahead is None:
        ahead, source = client_ahead(at_ms, born_ms, prefix, clock.zone)
    if ahead is None:
        ahead, source = local_ahead(at_ms, clock), None
    if ahead and source is None:
        source = source_of(ahead, clock)
    if not ahead and source is None:
        return _undated_client(at_ms, clock)
    if not ahead:
        return SentAt(from_ms(at_ms), None, "+00:00", None), None
    if source not in ("born", "prefix"):
        is_later = local_ahead(at_ms, clock) > 0
        return _local_client(at_ms, ahead, source, clock), bare_reason(
            "seconds_future" if is_later else "seconds_local"
        )
    return _local(at_ms, ahead, source), bare_reason("seconds_local")


def client_ahead(
    at_ms: int, born_ms: int | None, prefix: datetime | None, zone: tzinfo
) -> tuple[int | None, ZoneSource | None]:
    """By how many minutes the seconds of a 5.x msgId are ahead of UTC, as its line shows: 0, or its client's zone."""
    if born_ms is not None:
        return hours_ahead(at_ms, born_ms), "born"
    if prefix is None:
        return None, None
    instant = to_ms(prefix) if prefix.tzinfo is not None else wall_ms(prefix, zone)
    if PREFIX_EARLY_MS <= instant - at_ms <= PREFIX_OWN_ZONE_LATE_MS:
        return 0, "prefix"
    ahead = hours_ahead(at_ms, instant, PREFIX_LATE_MS)
    if prefix.tzinfo is not None:
        return ahead, "prefix"
    # A line that names no zone shows only that it has the clock of its client: that of the zone it is read in.
    return (ahead, None) if ahead == local_2021_ms(zone) // 60_000 else (None, None)


def _local(at_ms: int, ahead: int, source: ZoneSource | None) -> SentAt:
    zone = timezone(timedelta(minutes=ahead))
    return SentAt(from_ms(at_ms - ahead * 60_000, zone), None, zone_text(timedelta(minutes=ahead)), source)


def local_ahead(last_ms: int, clock: Clock) -> int:
    """The minutes by which seconds that are in the future are ahead of UTC: the clock's zone, or as few hours as are
    enough. It is 0 for seconds that are not, or that no zone explains."""
    over = last_ms - to_ms(clock.reference) - FUTURE_MS
    if over <= 0:
        return 0
    local_start = local_2021_ms(clock.zone)
    ahead = local_start // 60_000 if local_start >= over else -(-over // HOUR_MS) * 60
    return ahead if ahead <= max(OFFSETS_IN_USE) else 0


def source_of(ahead: int, clock: Clock) -> ZoneSource:
    """Where so many minutes are from that no line names: they are the clock's zone, or as many as are enough."""
    return clock.zone_source if ahead * 60_000 == local_2021_ms(clock.zone) else "assumed"


def _local_client(at_ms: int, ahead: int, source: ZoneSource | None, clock: Clock) -> SentAt:
    """Of a 5.x msgId whose seconds are in the future: it is of a Java client up to 5.0.2, whose zone is open."""
    local_time = _local(at_ms, ahead, source)
    earliest = from_ms(at_ms, local_time.at.tzinfo or UTC) - EAST
    is_open = source == "assumed"
    return replace(local_time, earliest=earliest, latest=max(local_time.at, clock.reference)) if is_open else local_time


def _undated_client(at_ms: int, clock: Clock) -> tuple[SentAt, Reason | None]:
    """Of a 5.x msgId that nothing dates: a Java client up to 5.0.2 may have generated it, in its local zone."""
    stored, now, local = SentAt(from_ms(at_ms), None, "+00:00", None), to_ms(clock.reference), local_2021_ms(clock.zone)
    if clock.zone_source == "assumed":
        latest = max(stored.at, min(stored.at - WEST, clock.reference))
        return replace(stored, earliest=stored.at - EAST, latest=latest), None
    if local and at_ms - local <= now:
        other = from_ms(at_ms - local)
        stored = replace(stored, earliest=min(stored.at, other), latest=max(stored.at, other))
        zone = zone_text(timedelta(milliseconds=local))
        return stored, Reason("seconds_maybe_local", {"other": other.isoformat(), "zone": zone})
    return stored, None
