"""A message for a later time: one table of what the broker said, and the code it comes to."""

from __future__ import annotations

import pytest

from idcore.answers.fate import Observation
from idcore.answers.fate.delayed import DelayedMessage, decide, is_off_the_wheel

NOW = 1_795_000_000_000


@pytest.mark.parametrize(
    ("due", "recalled", "passed", "code"),
    [
        (NOW + 1, False, Observation(False, 1), "later_due"),
        (NOW + 1, False, Observation(), "later_due"),
        (NOW - 1, False, Observation(False, 1), "later_late"),
        (NOW - 1, False, Observation(True, 1), "later_passed"),
        (NOW - 1, True, Observation(True, 1), "later_recalled"),
        (NOW + 1, True, Observation(), "later_recalled"),
        # silence
        (NOW - 1, False, Observation(), None),
        (None, False, Observation(False, 1), None),
    ],
)
def test_what_becomes_of_it(due: int | None, recalled: bool, passed: Observation[bool], code: str | None) -> None:
    found = decide(DelayedMessage("Orders", due, recalled, passed), NOW)
    assert (found and found.code) == code


def test_what_is_due_at_the_instant_that_the_wheel_has_read_up_to_comes_next() -> None:
    # TIMER_OUT_MS of a broker is rounded to the slots of its wheel, so both are often equal
    assert [is_off_the_wheel(NOW, read) for read in (NOW - 1_000, NOW, NOW + 1, NOW + 1_000)] == [
        False,
        False,
        True,
        True,
    ]
    assert is_off_the_wheel(None, NOW) is is_off_the_wheel(NOW, None) is None
