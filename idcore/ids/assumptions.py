"""What of a time nothing shows, as codes that `Words.assumed` says: the one rule of every page, table and report."""

from __future__ import annotations


def assumed(month_is_known: bool, zone_source: object) -> tuple[str, ...]:
    """The month, the zone, or both."""
    known = {"month": month_is_known, "zone": zone_source != "assumed"}
    return tuple(code for code, is_known in known.items() if not is_known)


def assumed_of_many(dated: int, months: int, zones: int) -> tuple[str, ...]:
    """The same of so many processes, of which so many months and zones are assumed: `month_part` if not of all."""
    counts = {"month": months, "zone": zones}
    return tuple(code if n == dated else f"{code}_part" for code, n in counts.items() if n)
