"""When a C++ process started, from the loader field of its ids: the seed of glibc's rand(). Uses no table."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Protocol

import numpy as np

# glibc (stdlib/random_r.c): srandom fills r[0..30] with r[i] = 16807 r[i-1] mod (2^31 - 1) from the seed, then every
# word is the sum of those 3 and 31 before it, mod 2^32; 310 words are thrown away, and rand() gives the word >> 1.
PERIOD = 0x7FFFFFFF
_FACTOR, _WORDS, _THROWN_AWAY = 16807, 31, 310
_MODULUS, _BITS, _INT = np.uint64(PERIOD), np.uint64(31), np.uint64((1 << 32) - 1)
_BLOCK = 1 << 16
_DAY = 86_400
MOST_SEEDS = 16_000_000  # half a year; about a second


@cache
def _weights() -> tuple[np.ndarray, np.ndarray]:
    """The first rand() is a weighted sum of the 31 words: the weights, and 16807^i mod (2^31 - 1)."""
    words: list[list[int]] = [[int(i == j) for j in range(_WORDS)] for i in range(_WORDS)]
    words += [list(words[i]) for i in range(3)]  # r[31..33] = r[0..2]
    for i in range(_WORDS + 3, _WORDS + 3 + _THROWN_AWAY + 1):
        words.append([(a + b) & 0xFFFFFFFF for a, b in zip(words[i - 31], words[i - 3], strict=True)])
    powers = [pow(_FACTOR, i, PERIOD) for i in range(_WORDS)]
    return np.array(words[-1], np.uint64), np.array(powers, np.uint64)


def first_rand(seeds: np.ndarray) -> np.ndarray:
    """The first rand() after srand(seed), for many seeds below 2^31 - 1; seed 0 counts as 1, as in glibc."""
    weights, powers = _weights()
    start = np.maximum(np.asarray(seeds, np.int64), 1).astype(np.uint64)
    total = np.zeros(len(start), np.uint64)
    high = np.empty_like(start)
    for weight, power in zip(weights, powers, strict=True):
        word = start * power
        for _ in range(2):  # modulo 2^31 - 1 without a division: fold the high bits onto the low ones, twice
            np.right_shift(word, _BITS, out=high)
            word &= _MODULUS
            word += high
        word *= weight
        total += word
    return ((total & _INT) >> np.uint64(1)).astype(np.int64)


def starts_of(loaders: np.ndarray, earliest: np.ndarray, latest: np.ndarray, most: int = MOST_SEEDS) -> dict[int, int]:
    """Place of a loader -> the newest second in [earliest, latest] whose first rand() it is.

    Of the seconds of all loaders together at most so many are tried, the newest first.
    """
    loaders = np.asarray(loaders, np.int64)
    starts: dict[int, int] = {}
    order = np.argsort(loaders, kind="stable")
    known = loaders[order]
    for low, high in _spans(earliest, latest):
        for stop in range(high, low, -_BLOCK):
            seeds = np.arange(max(low, stop - _BLOCK), stop, dtype=np.int64)
            most -= len(seeds)
            if most < 0:
                return starts
            values = first_rand(seeds)
            left = np.searchsorted(known, values)
            for hit in np.flatnonzero(known[np.minimum(left, len(known) - 1)] == values).tolist():
                for place in range(int(left[hit]), int(np.searchsorted(known, values[hit], "right"))):
                    mine = int(order[place])
                    if earliest[mine] <= seeds[hit] <= latest[mine]:
                        starts[mine] = max(starts.get(mine, 0), int(seeds[hit]))
    return starts


def _spans(earliest: np.ndarray, latest: np.ndarray) -> list[tuple[int, int]]:
    """The seconds of all ranges, as ranges that do not overlap, the newest first."""
    spans: list[tuple[int, int]] = []
    for low, high in sorted(zip(earliest.tolist(), (latest + 1).tolist(), strict=True)):
        low, high = max(low, 0), min(high, PERIOD)
        if spans and low <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], high)
        elif low < high:
            spans.append((low, high))
    return spans[::-1]


def instant(second: int) -> str:
    """A second since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")


def first_rand_of(second: int) -> int:
    """The first rand() of a process that started in some second since 1970."""
    return int(first_rand(np.array([second]))[0])


class Search(Protocol):
    """What looks for the start of a process; `makers`: codes of those whose loader it may be asked for."""

    makers: frozenset[str]

    def start(self, loader: int, sent_second: int) -> int | None:
        """The second in which the process of an id started, if its loader shows it."""


@lru_cache(maxsize=64)
def _of_day(day: int) -> np.ndarray:
    """The first rand() of a process that started in each second of a day since 1970, in 350 KB."""
    return first_rand(np.arange(day * _DAY, (day + 1) * _DAY)).astype(np.int32)


class SeedSearch:
    """Starts of processes, looked for once a loader and day, and for so many loaders only.

    The first look at a month takes 0.3 s.
    """

    makers = frozenset({"cpp", "cpp_or_lua"})

    def __init__(self, most: int = 16, days: int = 31) -> None:
        self._most, self._days = most, days
        self._known: dict[tuple[int, int], int | None] = {}

    def start(self, loader: int, sent_second: int) -> int | None:
        """The second in which the process of an id started, if its loader is the first rand() of one before it."""
        key = loader, sent_second // _DAY
        if key not in self._known:
            if len(self._known) >= self._most or not 0 < loader <= PERIOD:
                return None
            days = range(min(key[1], PERIOD // _DAY - 1), max(-1, key[1] - self._days), -1)
            found = ((day, np.flatnonzero(_of_day(day) == loader)) for day in days)
            self._known[key] = next((day * _DAY + int(seconds[-1]) for day, seconds in found if len(seconds)), None)
        return self._known[key]
