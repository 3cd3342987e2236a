"""The seed of rand(): against values of glibc itself, and an id whose process start is known from its issue."""

from __future__ import annotations

import numpy as np

from idcore.ids.seeds import first_rand, first_rand_of, starts_of

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
