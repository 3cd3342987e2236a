"""What a process keeps for ever is small: no cache has a long text of a visitor, of whatever form that is."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from idcore.base.errors import CoreError
from idcore.ids.clock import parse_zone
from idcore.ids.line_moments import LONGEST
from idcore.intake import intake
from idcore.operations.model import Caller, Ground
from idcore.operations.texts import OPERATIONS
from idcore.policy.access import WITHOUT_LOGIN
from idcore.policy.audit import Actor

pytestmark = pytest.mark.quick
CALLER = Caller(lambda: WITHOUT_LOGIN, lambda: WITHOUT_LOGIN, Actor("local"), Ground(list, Path))
ID = "AC110001473C7D4991AD336AEA5703E0"
LONG = "abc 10:00:00, x: 1, " * (LONGEST // 10)  # twice as long as a line that is read for a time
TEXTS = {
    "one line": f"msgId={ID} {LONG}",
    "a label": f"{LONG.replace(' ', '_')}={ID}",
    "beside an ID": f"2026-11-21 10:00:00 {LONG}\n{ID}\n{LONG} 2026-11-21 10:00:00",
    "an object": f'{{"a": "{LONG}",\n"msgId": "{ID}",\n"b": ["{LONG}"]}}',
    "a field": f"msgId={ID}, reconsumeTimes=1, {LONG.replace(' ', '')}=1, keys={LONG.replace(' ', '')}",
    "a blank": f"{' ' * len(LONG)}\nmsgId={ID}\n{' ' * len(LONG)}2026-11-21 10:00:00",
    "an exception": f"2026-11-21 10:00:00 ERROR MQClientException: {LONG}\n at {LONG}\nmsgId={ID}",
}


def _caches() -> Iterator[Any]:
    """Every `lru_cache` of the code."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("idcore."):
            for one in vars(module).values():
                yield from getattr(one, "caches", ()) if isinstance(one, FunctionType) else ()
                if isinstance(one, functools._lru_cache_wrapper):
                    yield one


def _texts_in(held: Any, levels: int = 6) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif levels and not callable(held):
        # Of a dictionary whose keys are texts the collector names the values alone.
        for one in [*(held if isinstance(held, dict) else ()), *gc.get_referents(held)]:
            yield from _texts_in(one, levels - 1)


def _long_ones() -> list[str]:
    """The caches that keep a text which is longer than any line that is dated."""
    return [
        f"{cache.__module__}.{cache.__name__}"
        for cache in {id(one): one for one in _caches()}.values()
        if any(len(one) > LONGEST for held in gc.get_referents(cache) for one in _texts_in(held))
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_no_cache_keeps_a_long_text(name: str) -> None:
    for cache in _caches():
        cache.cache_clear()
    for operation in OPERATIONS[:2]:
        given = {"text": TEXTS[name][: operation.arguments[0].most]}
        list(operation.call(given, CALLER).items)
    assert intake.read([("", TEXTS[name])]).found
    assert _long_ones() == []


def _bytes_of(held: Any, seen: set[int]) -> int:
    if id(held) in seen or callable(held) or isinstance(held, ModuleType | tzinfo):
        return 0
    seen.add(id(held))
    return sys.getsizeof(held) + sum(_bytes_of(one, seen) for one in gc.get_referents(held))


@pytest.mark.parametrize("width", [250, 2_000, 16_000])
@pytest.mark.parametrize("sign", ["{", "10:00:00 ", "Nov 21 10:00:00 ", "key=value, "])
def test_what_a_cache_makes_of_lines_has_a_bound(sign: str, width: int) -> None:
    """Of nine texts of 1 MB 3.7 GB stayed: each line was short enough to be kept, its brackets took 110 times it."""
    for cache in _caches():
        cache.cache_clear()
    lines = [f"{f'{place} {sign * width}'[:width]} msgId={ID}" for place in range(12)]
    intake.read([("", "\n".join(lines))])
    for cache in {id(one): one for one in _caches()}.values():
        if (held := cache.cache_info()).currsize >= 8:  # it grows with the lines
            seen = set[int]()
            each = sum(_bytes_of(one, seen) for one in gc.get_referents(cache)) / held.currsize
            assert each * held.maxsize < 80 << 20, f"{cache.__name__}: {each:,.0f} bytes for each"


@pytest.mark.parametrize("zone", ["\t" * 100_000 + "UTC", "Asia/Shanghai" + "\n" * 300, " " * 61 + "+08:00"])
def test_no_cache_keeps_a_long_zone(zone: str) -> None:
    with pytest.raises(CoreError):
        parse_zone(zone)
