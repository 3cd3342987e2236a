"""Runs of several tasks that become one: against numpy's stable sort, on runs that overlap a little, much and not."""

from __future__ import annotations

import numpy as np
import pytest

from idcore.kernels.encode import sort_runs


def runs(chance: np.random.Generator, count: int, longest: int, spread: int) -> np.ndarray:
    """Sorted runs one behind the other: the lower the spread, the more of their values are equal."""
    sizes = chance.integers(1, longest + 1, count)
    return np.concatenate([np.sort(chance.integers(0, spread, size, np.uint64)) for size in sizes])


@pytest.mark.parametrize("spread", [1, 3, 50, 1 << 62])
@pytest.mark.parametrize("longest", [1, 2, 40, 700])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 33])
def test_equal_values_stay_in_the_order_of_their_runs(count: int, longest: int, spread: int) -> None:
    chance = np.random.default_rng([count, longest, spread])
    for _ in range(20):
        values = runs(chance, count, longest, spread)
        wanted = np.argsort(values, kind="stable")
        room = np.empty_like(values), np.empty(len(values), np.int64)
        own, order = sort_runs(values.copy(), np.arange(len(values)), np.empty(len(values) + 2, np.int64), *room)
        assert order.tolist() == wanted.tolist()
        assert own.tolist() == values[wanted].tolist()


def test_no_values_are_sorted() -> None:
    none = np.empty(0, np.uint64), np.empty(0, np.int64)
    own, order = sort_runs(*none, np.empty(2, np.int64), *none)
    assert len(own) == len(order) == 0
