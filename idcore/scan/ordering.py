"""Orders of rows of whole numbers, and which of them are different. Columns that fit a word are sorted as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

_WORD = 63  # bits of a number without its sign
Columns = Sequence[np.ndarray] | np.ndarray


def stacked(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of named numbers one behind the other. `numpy.concatenate` copies them field by field: five times slower."""
    return np.concatenate([part.view(np.int64) for part in parts]).view(parts[0].dtype)


def order_of(columns: Columns) -> np.ndarray:
    """The places of the rows in order: by the first column, then by the next. Equal rows stay in their order.

    That is `numpy.lexsort` of the columns from the last to the first. They are truths or numbers of up to 64 bits with
    a sign.
    """
    return _ordered(columns)[0]


def groups_of(columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """The places of the rows in order, and where in that order different rows begin."""
    order, words = _ordered(columns)
    return order, begins_of([word[order] for word in words])


def _ordered(columns: Columns) -> tuple[np.ndarray, list[np.ndarray]]:
    """The places of the rows in order, and the rows as words, as they were.

    Where all columns fit into a word together with the place of the row, the words themselves are sorted: that takes a
    fraction of the time, and of the memory.
    """
    count = len(columns[0])
    words, room = _words(columns)
    bits = max(0, count - 1).bit_length()
    if len(words) == 1 and bits <= room:
        return np.sort(words[0] << bits | np.arange(count)) & ((1 << bits) - 1), words
    return np.lexsort(words[::-1]), words


def _words(columns: Columns) -> tuple[list[np.ndarray], int]:
    """The columns as few words, at least one, which have the same order; and the bits that the last has left."""
    words, room = list[np.ndarray](), 0
    for column in columns if len(columns[0]) else ():
        least = int(column.min())
        bits = (int(column.max()) - least).bit_length()
        if bits > _WORD:
            words.append(column)
        elif bits > room:
            words.append(column.astype(np.int64) - least)
        elif bits:
            words[-1] = words[-1] << bits | (column.astype(np.int64) - least)
        room = max(0, (room if bits <= room else _WORD) - bits)
    return (words, room) if words else ([np.zeros(len(columns[0]), np.int64)], _WORD)


def begins_of(ordered: Columns) -> np.ndarray:
    """Of columns whose rows are in order, the places at which other rows begin."""
    changes = np.ones(len(ordered[0]), bool)
    changes[1:] = False
    for column in ordered:
        changes[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(changes)


def numbered(columns: Columns) -> tuple[list[np.ndarray], np.ndarray]:
    """The columns of every different row in order, and which of them each row is."""
    order, begins = groups_of(columns)
    which = np.empty(len(order), np.int64)
    which[order] = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(order)))
    return [column[order[begins]] for column in columns], which


def different(*columns: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Every different row, and where it is: `for (queue, group), here in different(queues, groups)`."""
    order, begins = groups_of(columns)
    for begin, end in pairwise([*begins.tolist(), len(order)]):
        yield tuple(int(column[order[begin]]) for column in columns), order[begin:end]
