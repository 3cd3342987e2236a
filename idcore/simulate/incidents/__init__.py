"""Incidents to try the findings with: each code in several variants, from a seed, with what has to be found."""

from __future__ import annotations

from idcore.simulate.incidents import clocks, copies, deliveries, places, processes, sends
from idcore.simulate.incidents.incident import HEALTHY, STORIES, Incident

__all__ = ["HEALTHY", "STORIES", "Incident", "clocks", "copies", "deliveries", "places", "processes", "sends"]
