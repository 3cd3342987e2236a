"""Instants as text in the reader's zone, always with the offset next to them. Reads no id."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import available_timezones

from idcore.base.errors import CoreError
from idcore.ids.clock import parse_zone


@cache
def zone_names() -> tuple[str, ...]:
    """Every IANA zone a person would look for, in order."""
    skip = ("Etc/", "SystemV/", "posix/", "right/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/")
    names = {name for name in available_timezones() if "/" in name and not name.startswith(skip)}
    return ("UTC", *sorted(names))


def zone_of(name: str) -> tzinfo | None:
    """A zone as the command line reads it: an IANA name, +08:00; None for what is not a zone."""
    try:
        return parse_zone(name)
    except CoreError:
        return None


def offset_text(moment: datetime) -> str:
    """`+08:00`, with seconds where an old zone has them."""
    ahead = moment.utcoffset() or timedelta()
    sign = "-" if ahead < timedelta() else "+"
    total = int(abs(ahead).total_seconds())
    seconds = f":{total % 60:02d}" if total % 60 else ""
    return f"{sign}{total // 3600:02d}:{total // 60 % 60:02d}{seconds}"


def aware(moment: datetime) -> datetime:
    """Table columns are UTC; a datetime without zone is one of them."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def local(moment: datetime, zone: tzinfo) -> datetime:
    """An instant as the reader's wall clock."""
    return moment.astimezone(zone).replace(tzinfo=None)


def full(moment: datetime | None, zone: tzinfo) -> str:
    """`2026-11-21 09:50:13.373 +08:00`."""
    if moment is None or moment != moment:
        return ""
    local = aware(moment).astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03d} {offset_text(local)}"


def minute(moment: datetime | None, zone: tzinfo, form: str = "%Y-%m-%d %H:%M") -> str:
    """`2026-11-21 09:50 +08:00`."""
    if moment is None or moment != moment:
        return ""
    local = aware(moment).astimezone(zone)
    return f"{local:{form}} {offset_text(local)}"


def second(moment: datetime | None, zone: tzinfo) -> str:
    """`2026-11-21 09:50:43 +08:00`."""
    return minute(moment, zone, "%Y-%m-%d %H:%M:%S")


def several(moments: Sequence[str], zone: tzinfo) -> str:
    """Instants as ISO 8601 one behind the other, with one date where they share it, and the offset behind the last."""
    local = [aware(datetime.fromisoformat(text)).astimezone(zone) for text in moments]
    shared = len({moment.date() for moment in local}) == 1
    texts = [f"{moment:%H:%M:%S}" if shared and n else f"{moment:%Y-%m-%d %H:%M:%S}" for n, moment in enumerate(local)]
    return f"{', '.join(texts)} {offset_text(local[-1])}" if local else ""


def between(first: datetime, last: datetime, zone: tzinfo, by_minute: bool = False) -> tuple[str, str]:
    """The two ends of a span, as short as they still differ; the second carries the offset."""
    start, end = aware(first).astimezone(zone), aware(last).astimezone(zone)
    offset = offset_text(end)
    if start.date() != end.date():
        return f"{start:%Y-%m-%d %H:%M}", f"{end:%Y-%m-%d %H:%M} {offset}"
    long = (by_minute and (start.hour, start.minute) != (end.hour, end.minute)) or end - start >= timedelta(minutes=2)
    clock = "%H:%M" if long else "%H:%M:%S" if end - start >= timedelta(seconds=2) else "%H:%M:%S.%f"
    texts = [moment.strftime(clock)[:12] for moment in (start, end)]
    return f"{start:%Y-%m-%d} {texts[0]}", f"{texts[1]} {offset}"


def clock_span(first: datetime | None, last: datetime | None, zone: tzinfo, dated: bool) -> str:
    """`09:50:13 – 09:52:40 +08:00`: two instants as a person reads a range, with dates where asked or needed.

    Milliseconds are shown where an end has any. A dash alone is an end without a limit.
    """
    ends = [aware(moment).astimezone(zone) if moment is not None else None for moment in (first, last)]
    known = [moment for moment in ends if moment is not None]
    dated = dated or len({moment.date() for moment in known}) > 1
    clock = "%H:%M:%S" if all(moment.microsecond < 1000 for moment in known) else "%H:%M:%S.%f"
    texts = []
    for place, moment in enumerate(ends):
        day = dated and moment is not None and not (place and ends[0] is not None and ends[0].date() == moment.date())
        text = "" if moment is None else moment.strftime(clock)
        texts.append(f"{moment:%Y-%m-%d} {text[:12]}" if day else text[:12])
    return f"{texts[0]} – {texts[1]} {offset_text(known[-1])}".strip() if known else ""
