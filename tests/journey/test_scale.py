"""The axis of a journey is to scale, and each try has its number and the wait behind it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import isclose, log10
from typing import Any

import pytest

from idcore.answers.journey import Event, Journey, short_text, timeline
from idcore.answers.journey.sentences import distances
from idcore.base import catalogue

pytestmark = pytest.mark.quick


def attempt(tries: int | None, outcome: str | None, at_ms: int | None = 0) -> Event:
    values = {"tries": tries, "outcome": outcome, "group": "billing"}
    return Event("attempt", "trace", "consumer", "10.0.0.1", at_ms, values=values)


def test_waits_are_to_the_scale_of_their_logarithm() -> None:
    times = (0, 0, 900, 10_900, 110_900, None, 3_710_900)
    found = distances(Journey("0A", tuple(attempt(0, None, at) for at in times), (), (), {}, ()), 30)
    waits = [later - sooner for sooner, later in pairwise(found)]
    assert found[0] == 0 and all(isclose(a, b) for a, b in zip(waits, [1, 1, 2, 3, 1, 1 + log10(3600)], strict=True))
    assert len(distances(Journey("0A", tuple(attempt(0, None, at) for at in times), (), (), {}, ()), 3)) == 3


@pytest.mark.parametrize(
    ("tries", "outcome", "said"),
    [
        (0, "exception", ", try 1 of 17, next in 10 s"),
        (2, "failed", ", try 3 of 17, next in 1 min"),
        (15, "retried", ", try 16 of 17, next in 2 h"),
        (16, "dead", ", try 17 of 17"),
        (3, "success", ", try 4 of 17"),
        (None, "failed", ""),
    ],
)
def test_tries_are_numbered_and_the_next_follows_a_failure(tries: int | None, outcome: str, said: str) -> None:
    text = short_text(attempt(tries, outcome))
    assert text.endswith(said) and ("try" in text) == bool(said) and ("next" in text) == ("next" in said)
    chinese = short_text(attempt(tries, outcome), catalogue.words("zh"))
    assert ("次投递" in chinese) == bool(said)


def test_the_end_of_each_event_is_asked_for_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gap looked at all events before it: the time grew with the square of the copies of a message."""
    asked, end_ms = [0], Event.end_ms.fget  # type: ignore[attr-defined]

    def counted(event: Event) -> int | None:
        asked[0] += 1
        return end_ms(event)  # type: ignore[no-any-return]

    monkeypatch.setattr(Event, "end_ms", property(counted))
    events = [attempt(at % 3, None, at * 60_000) for at in range(200)]
    assert len(list(timeline._gaps(events))) == 199 and asked[0] <= 3 * len(events)


def stored(at_ms: int, **values: Any) -> Event:
    known = {"relation": "retry", "group": "billing", "tries": 1, "born_ms": 5, **values}
    return Event("stored", "record", "broker", "10.0.0.9:10911", at_ms, evidence=f"0A{at_ms}", values=known, clock="b")


def test_causes_are_looked_up_and_not_searched_for() -> None:
    """Each attempt and each verdict looked at all copies, and each birth was compared with all of its own."""
    reads = [0]

    class Counted(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            reads[0] += 1
            return super().__getitem__(name)

    def counted(event: Event) -> Event:
        return replace(event, values=Counted(event.values))

    most = 300
    born = [Event("born", "record", "producer", f"10.0.1.{at}", 5, clock=f"10.0.1.{at}") for at in range(most)]
    copies = [stored(10 + at, tries=1 + at) for at in range(most)]
    attempts = [attempt(most + 1, None, 400) for _ in range(most)]
    verdicts = [
        Event("judged", "verdict", "consumer", "g", 500, evidence="0A", values={"live": True}) for _ in range(most)
    ]
    causes = list(timeline._causes([counted(event) for event in (*born, *copies, *attempts, *verdicts)]))
    assert len(causes) <= 4 * 2 * most and reads[0] <= 8 * 4 * most
    own = ("consumed_before_stored", 1, 2)
    assert own in timeline._causes([stored(1), stored(2, tries=2), attempt(2, None, 3), attempt(1, None, 4)])


def test_a_birth_is_compared_with_the_first_copy_of_each_clock() -> None:
    born = Event("born", "record", "producer", "10.0.1.1", 5, clock="10.0.1.1")
    others = [replace(stored(3 + at), clock=f"c{at % 100}") for at in range(200)]
    causes = [each for each in timeline._causes([*others, born]) if each[0] == "stored_before_born"]
    assert causes == [("stored_before_born", 200, at) for at in range(timeline.MOST_CLOCKS)]
