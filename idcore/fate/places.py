"""Where in its queue a verdict is decided: the offsets that it rests on, by what they are. Asks nobody."""

from __future__ import annotations

from idcore.fate.model import Verdict

DONE = frozenset({"consumed", "consumed_on_retry", "dead", "filtered", "taken"})


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
    found = {name: value for name, value in held.items() if isinstance(value, int)}
    if found.get("pulled", 0) <= found.get("offset", 0):
        found.pop("pulled", None)  # nothing is in flight
    for reason in verdict.why:
        if reason.code == "blocker":
            found["blocker"] = int(reason.values["offset"])
    return found
