"""A cache of what is made of lines, by their length: a few long ones would else hold as much as all others together."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

SHORT, LONG = 256, 2_048  # characters
OF_LONG, OF_LONGER = 128, 8  # that are kept: near to one ID are no more, as its record has 8 KiB on each side

More = TypeVarTuple("More")
Made = TypeVar("Made")


def kept_by_length(
    most: int,
) -> Callable[[Callable[[str, *More], Made]], Callable[[str, *More], Made]]:
    """Keeps what a function makes of so many short lines, and of fewer long ones. `caches` has where it keeps them."""

    def of(make: Callable[[str, *More], Made]) -> Callable[[str, *More], Made]:
        short, long, longer = caches = [lru_cache(maxsize=number)(make) for number in (most, OF_LONG, OF_LONGER)]

        @wraps(make)
        def kept(line: str, *more: *More) -> Made:
            length = len(line)
            cache = short if length <= SHORT else long if length <= LONG else longer
            return cache(line, *more)

        kept.caches = caches  # type: ignore[attr-defined]
        return kept

    return of
