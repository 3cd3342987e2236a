"""How the IDs of one part of a scan differ from those of another: whose share grew or fell most. Reads no table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

LEAST_SHARE = 0.01  # a smaller difference of shares explains nothing
LEAST = 5  # IDs on the larger side
DEVIATIONS = 4  # standard deviations of chance that a difference has to exceed: many values are compared at once
Counts = Mapping[str, Mapping[str, int]]  # of what (host, broker, …) by its value


@dataclass(frozen=True, slots=True)
class Difference:
    """One value: how many of the part's `of_inside` IDs it has, and how many of the `of_outside` others."""

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
        """By how much the share grew, from -1 to 1: below 0 it fell."""
        return self.share_inside - self.share_outside

    @property
    def is_telling(self) -> bool:
        """Whether it is large enough to explain anything, and too large for chance."""
        if not self.of_inside or not self.of_outside or max(self.inside, self.outside) < LEAST:
            return False
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

    telling = [one for one in differences if one.is_telling and not alone(one)]
    return sorted(telling, key=lambda one: (-round(abs(one.effect), 6), -one.effect, one.by, one.value))
