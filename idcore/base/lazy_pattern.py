"""Regular expressions that are compiled at their first use: a command that reads one ID needs few of the core's."""

from __future__ import annotations

import re
from typing import Any, cast, overload


class _LazyPattern:
    """Has each attribute of `re.Pattern`: the first that is asked for compiles it, and all are its own from then on."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled: re.Pattern[Any] = re.compile(*self._given)
        self.__dict__.update({each: getattr(compiled, each) for each in dir(compiled) if not each.startswith("_")})
        return self.__dict__[name]


@overload
def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]: ...


@overload
def lazy_pattern(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]: ...


def lazy_pattern(pattern: str | bytes, flags: int = 0) -> re.Pattern[str] | re.Pattern[bytes]:
    """What `re.compile` returns, compiled at the first use of one of its attributes.

    Functions of `re` do not take it as an argument: `pattern.sub(…)` and not `re.sub(pattern, …)`. A pattern that is
    not well-formed raises `re.error` at that first use.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
