"""The seed of rand(): against values of glibc itself, and an id whose process start is known from its issue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from idcore.ids import Clock, describe, identify
from idcore.ids.seeds import SeedSearch, first_rand, first_rand_of, starts_of

pytestmark = pytest.mark.quick

# srand(seed); rand() of glibc 2.36, asked through ctypes.
GLIBC = {0: 1804289383, 1: 1804289383, 2: 1505335290, 1639743001: 462975412, 1795224487: 685811467}


def test_first_rand_is_glibcs() -> None:
    assert dict(zip(GLIBC, first_rand(np.array(list(GLIBC))).tolist(), strict=True)) == GLIBC
    assert first_rand_of(1639743001) == 0x1B9871B4


def test_the_start_of_a_process_is_found() -> None:
    # 0A64F892048A1B9871B45B0C6972005C of apache/rocketmq-client-cpp issue 392: started 2021-12-17 12:10:01 UTC.
    near = np.array([1639743001 - 40_000, 5]), np.array([1639743001 + 40_000, 9])
    assert starts_of(np.array([0x1B9871B4, 0x1B9871B4]), *near) == {0: 1639743001}
    assert starts_of(np.array([0x1B9871B5]), near[0][:1], near[1][:1]) == {}


def test_an_id_of_the_cpp_client_tells_when_its_process_started() -> None:
    # bornTimestamp of that line: 2021-12-18 16:19 in +08:00, 20 hours after the start.
    verdict = identify("0A64F892048A1B9871B45B0C6972005C", "msgId")
    assert verdict.best is not None
    clock = Clock(datetime(2021, 12, 19, tzinfo=UTC), timezone(timedelta(hours=8)), "given")
    row, plain = describe(verdict, None, clock, SeedSearch()), describe(verdict, None, clock)
    assert "a process that started at 2021-12-17T12:10:01+00:00: the C++ client" in row["why"][-1]
    assert row["why"][:-1] == plain["why"]  # only where a search was asked for
    assert row["maker_code"] == plain["maker_code"] == "cpp"  # as cards and tables have it


def test_a_search_is_bounded() -> None:
    search = SeedSearch(most=1, days=1)
    assert search.start(0x1B9871B4, 1639743001) == 1639743001
    assert search.start(first_rand_of(1639743002), 1639743002) is None
    assert search.start(0x1B9871B4, 1639743001) == 1639743001
