"""Regular expressions: none of the code takes time that runs away with a stranger's text (ReDoS)."""

from __future__ import annotations

import re

import pytest

from benchmarks.hostile_patterns import LENGTH, MOST, Pattern, patterns, slow


@pytest.fixture(scope="module")
def every() -> list[tuple[str, Pattern, bool]]:
    return list(patterns())


def test_the_patterns_of_the_code_are_found(every: list[tuple[str, Pattern, bool]]) -> None:
    assert len(every) > 80 and all(isinstance(pattern, re.Pattern) for _, pattern, _ in every)


@pytest.mark.slow
def test_no_pattern_is_slow_on_a_hostile_text(every: list[tuple[str, Pattern, bool]]) -> None:
    bad = {where: found for where, pattern, searched in every if (found := slow(pattern, searched, LENGTH, MOST))}
    assert not bad


@pytest.mark.parametrize("bad", [r"(a+)+$", r"^(\d+)*x", r"(.*a){12}$", r"a*a*X"])
def test_a_pattern_that_runs_away_is_found(bad: str) -> None:
    assert slow(re.compile(bad), True, LENGTH, MOST / 10) is not None
