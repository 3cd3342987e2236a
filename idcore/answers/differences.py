"""How the IDs of one part of a scan differ from those of another: shares, totals and pauses. Reads no table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, sqrt
from typing import NamedTuple

LEAST_SHARE = 0.01  # a smaller difference of shares explains nothing
LEAST = 5  # IDs on the larger side
LEAST_CHANGE = 0.1  # of a total, which is never quite the same
CHANCE = 1e-4  # how probable a pause may be among IDs that come at random, and still be told
TOTAL, PAUSE = "total", "pause"
DEVIATIONS = 4  # standard deviations of chance that a difference has to exceed: many values are compared at once
Counts = Mapping[str, Mapping[str, int]]  # of what (host, broker, …) by its value


@dataclass(frozen=True, slots=True)
class Difference:
    """One value: how many of the part's `of_inside` IDs it has, and how many of the `of_outside` others.

    A `TOTAL` is a number of IDs and a `PAUSE` the longest time without one in ms, each of so many ms.
    """

    by: str
    value: str
    inside: int
    of_inside: int
    outside: int
    of_outside: int

    @property
    def share_inside(self) -> float:
        """From 0 to 1."""
        return self.inside / self.of_inside if self.of_inside else 0.0

    @property
    def share_outside(self) -> float:
        """From 0 to 1."""
        return self.outside / self.of_outside if self.of_outside else 0.0

    @property
    def effect(self) -> float:
        """By how much the share grew, from -1 to 1, or the total, as a part of the larger: below 0 it fell."""
        grown = self.share_inside - self.share_outside
        return grown / (max(self.share_inside, self.share_outside) or 1) if self.by == TOTAL else grown

    @property
    def is_telling(self) -> bool:
        """Whether it is large enough to explain anything, and too large for chance."""
        if not self.of_inside or not self.of_outside or max(self.inside, self.outside) < LEAST:
            return False
        if self.by == TOTAL:
            both, part = self.inside + self.outside, self.of_inside / (self.of_inside + self.of_outside)
            apart = abs(self.inside - both * part)
            return abs(self.effect) >= LEAST_CHANGE and apart >= DEVIATIONS * sqrt(both * part * (1 - part))
        pooled = (self.inside + self.outside) / (self.of_inside + self.of_outside)
        deviation = sqrt(max(pooled * (1 - pooled), 0) * (1 / self.of_inside + 1 / self.of_outside))
        return abs(self.effect) >= max(LEAST_SHARE, DEVIATIONS * deviation)


def ranked(
    inside: Counts, outside: Counts, of_inside: Mapping[str, int], of_outside: Mapping[str, int]
) -> list[Difference]:
    """The telling differences, the largest first; of two alike the one that grew.

    `of_inside` and `of_outside`: how many IDs the values of a kind are shares of. A process that differs as its host
    does is left out.
    """
    differences = []
    for by in inside:
        for value in dict.fromkeys([*inside[by], *outside.get(by, {})]):
            counts = inside[by].get(value, 0), outside.get(by, {}).get(value, 0)
            differences.append(Difference(by, value, counts[0], of_inside[by], counts[1], of_outside[by]))
    hosts = {one.value: (one.inside, one.outside) for one in differences if one.by == "host"}

    def alone(one: Difference) -> bool:
        return one.by == "process" and hosts.get(one.value.split("~")[0]) == (one.inside, one.outside)

    return largest_first(one for one in differences if one.is_telling and not alone(one))


def largest_first(differences: Iterable[Difference]) -> list[Difference]:
    """Of two alike first the one that grew."""
    return sorted(differences, key=lambda one: (-round(abs(one.effect), 6), -one.effect, one.by, one.value))


class Stretch(NamedTuple):
    """So many IDs in so many ms, and the longest time there without one."""

    ids: int
    lasted: int
    pause: int


def of_stretches(value: str, inside: Stretch, outside: Stretch) -> list[Difference]:
    """Whether a total differs, and whether one side has a pause that the other, and chance, would not have."""
    total = Difference(TOTAL, value, inside.ids, inside.lasted, outside.ids, outside.lasted)
    pause = Difference(PAUSE, value, inside.pause, inside.lasted, outside.pause, outside.lasted)
    long, other = (inside, outside) if inside.pause > outside.pause else (outside, inside)
    telling = [total] if total.is_telling else []
    if min(inside.ids, outside.ids) >= LEAST and long.pause >= 2 * other.pause and abs(pause.effect) >= LEAST_SHARE:
        rate = other.ids / other.lasted
        telling += [pause] if rate * long.lasted * exp(-rate * long.pause) < CHANCE else []
    return telling
