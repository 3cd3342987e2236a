"""Incidents to try the findings with: each code in several variants, from a seed, with what has to be found."""

from __future__ import annotations

from idcore.simulate.incidents import clocks, copies, deliveries, places, processes
from idcore.simulate.incidents.incident import HEALTHY, STORIES, Incident


def names() -> list[str]:
    """All incidents: the codes of findings, and `healthy`."""
    return sorted(STORIES)


def variants(name: str) -> list[str]:
    """The variants of an incident."""
    return list(STORIES[name])


__all__ = ["HEALTHY", "Incident", "clocks", "copies", "deliveries", "names", "places", "processes", "variants"]
