"""What of a series only rises. Knows neither instants nor offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


def longest_rise(values: Iterable[int]) -> list[int]:
    """The places of a longest subsequence that never falls; of several the one with the lowest values from its end on.

    >>> longest_rise([1, 9, 2, 3])
    [0, 2, 3]
    """
    tails: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        at = bisect_right(tails, value)
        before.append(places[at - 1] if at else -1)
        if at == len(tails):
            tails.append(value)
            places.append(place)
        else:
            tails[at], places[at] = value, place
    rise = []
    place = places[-1] if places else -1
    while place >= 0:
        rise.append(place)
        place = before[place]
    return rise[::-1]
