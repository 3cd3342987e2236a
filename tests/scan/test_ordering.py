"""Orders of rows against numpy's own sort of several columns."""

from __future__ import annotations

import numpy as np
import pytest

from idcore.scan.ordering import different, groups_of, numbered, order_of

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def rows_of(seed: int) -> np.ndarray:
    """Rows of some columns: a few bits each, whole words, or all the same; very often the same row."""
    random = np.random.default_rng(seed)
    ranges = [(0, 1), (0, 2), (-3, 4), (0, 1 << 20), (-(1 << 40), 1 << 40), (LEAST, GREATEST), (GREATEST - 2, GREATEST)]
    count = 1 + 500 * int(random.integers(0, 2))
    chosen = [ranges[each] for each in random.integers(0, len(ranges), random.integers(1, 8))]
    rows = np.stack([random.integers(least, most, count) for least, most in chosen], axis=1)
    return rows[random.integers(0, count, random.integers(0, 3 * count))]


@pytest.mark.parametrize("seed", range(120))
def test_it_is_the_order_of_numpy_and_equal_rows_are_one(seed: int) -> None:
    rows = rows_of(seed)
    order, begins = groups_of(rows.T)
    assert order.tolist() == order_of(list(rows.T)).tolist() == np.lexsort(rows.T[::-1]).tolist()
    known, which = np.unique(rows, axis=0, return_inverse=True)
    columns, own = numbered(rows.T)
    found = np.stack(columns, axis=1)
    assert found.tolist() == known.tolist() == rows[order[begins]].tolist()
    assert own.tolist() == which.reshape(-1).tolist()
    every = {row: places.tolist() for row, places in different(*rows.T)}
    assert list(every) == [tuple(row) for row in known.tolist()]
    assert every == {row: np.flatnonzero((rows == row).all(axis=1)).tolist() for row in every}


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.uint8, np.uint32, np.bool_])
def test_narrow_columns_have_the_same_order(kind: type) -> None:
    random = np.random.default_rng(1)
    ends = (0, 1) if kind is np.bool_ else (np.iinfo(kind).min, np.iinfo(kind).max)
    columns = [random.choice(np.array([*ends, 0, 1], kind), 40) for _ in range(3)]
    assert order_of(columns).tolist() == np.lexsort(columns[::-1]).tolist()
