"""Where in its queue a verdict is decided: the offsets that it rests on, by what they are. Asks nobody."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from idcore.answers.fate.model import Verdict

_EDGE = 2.0  # percent, so that a sign at an end is whole
NEEDS_NO_PLACE = frozenset({"consumed", "consumed_on_retry", "dead", "filtered", "taken"})


def places_of(verdict: Verdict) -> dict[str, int]:
    """What a verdict rests on, as places in the queue."""
    names = {
        "queue_begin": "begin",
        "consumer_offset": "offset",
        "pull_offset": "pulled",
        "queue_end": "end",
        "queue_offset": "message",
    }
    held = {names[fact.name]: fact.value for fact in verdict.facts if fact.name in names}
    places = {name: value for name, value in held.items() if isinstance(value, int)}
    if places.get("pulled", 0) <= places.get("offset", 0):
        places.pop("pulled", None)  # nothing is in flight
    for reason in verdict.why:
        if reason.code == "blocker":
            places["blocker"] = int(reason.values["offset"])
    return places


def queue_of(verdict: Verdict) -> tuple[str, int, int] | None:
    """Topic, queue and queue offset by which it was judged: of a lite or light topic these are not the record's own."""
    facts = {fact.name: fact.value for fact in verdict.facts}
    if not isinstance(facts.get("queue"), str) or not isinstance(facts.get("queue_offset"), int):
        return None
    _, topic, queue = facts["queue"].rsplit(" ", 2)
    return topic, int(queue), facts["queue_offset"]


def positions(offsets: Sequence[int]) -> dict[int, float]:
    """Percent from the left by offset: a gap ten times as wide is one step wider."""
    ordered = sorted(set(offsets))
    steps = [math.log2(1 + later - before) for before, later in pairwise(ordered)]
    whole, reached = sum(steps) or 1.0, 0.0
    positions = {}
    for offset, step in zip(ordered, [*steps, 0.0], strict=True):
        positions[offset] = _EDGE + (100 - 2 * _EDGE) * reached / whole
        reached += step
    return positions
