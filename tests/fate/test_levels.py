"""One order of verdicts: each has its level, and what a group has not consumed is what the rule says."""

from __future__ import annotations

from idcore.answers.fate import levels
from idcore.base import catalogue


def test_every_verdict_has_one_level_and_a_name() -> None:
    codes = [code for own in levels.LEVELS.values() for code in own]
    assert sorted(codes) == sorted(catalogue.words("en").table("fate.name."))


def test_the_worst_is_first_and_a_verdict_of_a_later_version_is_unclear() -> None:
    codes = ["consumed", "later", "behind", "retry_waiting", "never_read", "dead", "broadcast"]
    ordered = ["dead", "never_read", "retry_waiting", "behind", "broadcast", "later", "consumed"]
    assert sorted(codes, key=levels.order_of) == ordered
    assert levels.NAMES[levels.level_of("later")] == "unclear"
