"""Where in its queue a verdict is decided: what the strip of a page and of a report draws."""

from __future__ import annotations

from idcore.answers.fate import Reason, Verdict
from idcore.answers.fate.model import Fact
from idcore.answers.fate.places import places_of, positions


def verdict(pulled: int, *why: Reason) -> Verdict:
    held = {"queue_begin": 5, "consumer_offset": 10, "pull_offset": pulled, "queue_end": 30, "queue_offset": 12}
    facts = (*(Fact(name, value) for name, value in held.items()), Fact("queue", "broker-a 0"))
    return Verdict("billing", "record", "waiting", "proved", {}, why, facts)


def test_a_verdict_names_its_places_and_what_blocks() -> None:
    found = places_of(verdict(20, Reason("blocker", {"offset": "11"})))
    assert found == {"begin": 5, "offset": 10, "pulled": 20, "end": 30, "message": 12, "blocker": 11}


def test_nothing_is_pulled_where_nothing_is_in_flight() -> None:
    assert "pulled" not in places_of(verdict(10))


def test_places_keep_their_order_and_a_wide_gap_is_a_step_wider() -> None:
    at = positions([30, 10, 12, 10])
    assert list(at) == [10, 12, 30] and (round(at[10]), round(at[30])) == (2, 98)
    assert at[12] - at[10] < at[30] - at[12] < 9 * (at[12] - at[10]), "by its logarithm"
