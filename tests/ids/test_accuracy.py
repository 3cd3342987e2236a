"""How often an id is given to the right family of makers: the figures that the project promises."""

from __future__ import annotations

import pytest

from benchmarks.accuracy import measure, share

pytestmark = pytest.mark.quick


def test_97_percent_are_right_and_none_is_wrong_with_confidence() -> None:
    counts, confident = measure()
    assert counts.total() > 2_000
    assert {source for source, _, _ in counts} == {"reference", "public", "made"}
    assert share(counts) >= 0.97
    assert confident == []


def test_what_the_official_classes_made_is_all_right() -> None:
    counts, _ = measure()
    assert not {key: n for key, n in counts.items() if key[0] in ("reference", "public") and key[2] == "wrong"}
