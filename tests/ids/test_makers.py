"""Makers: HotSpot's stream by values from public traces, constants, and the columns as the twin of the single id."""

from __future__ import annotations

import time

import numpy as np
import pytest

from idcore.base import catalogue
from idcore.ids import identify
from idcore.ids.makers import (
    MASK_64_BIT_JVM,
    _hashes,
    client_languages,
    client_maker,
    known_loaders,
    loader_place,
    loader_positions,
    process_makers,
    uniq_maker,
)

pytestmark = pytest.mark.quick

# Places seen in public traces and measured on real JVMs.
# fmt: off
PLACES = {
    0: 0x55054057, 6: 0x1DBD16A6, 8: 0x251A69D7, 14: 0x14DAD5DC, 15: 0x18B4AAC2, 16: 0x764C12B6, 17: 0x0C387F44,
    18: 0x4E0E2F2A, 19: 0x73D16E93, 21: 0x2A139A55, 22: 0x15DB9742, 26: 0x070DEA4E, 27: 0x5C647E05, 36: 0x7D4991AD,
    66: 0x63947C6B, 120: 0x1BE6F5C3, 157: 0x214C265E, 292: 0x277050DC, 296: 0x42110406, 307: 0x30946E09,
    320: 0x6659C656, 497: 0x512DDF17, 512: 0x2AAE9190, 521: 0x2437C6DC, 566: 0x7CEF4E59, 980: 0x7F9A81E8,
    8219: 0x7578E06A, 11784: 0x2D38EDFD, 14646: 0x7F3CA64A,
}
# fmt: on


def stream() -> np.ndarray:
    """The hashes of a 64-bit JVM."""
    return np.array(_hashes(), dtype=np.uint32) & np.uint32(MASK_64_BIT_JVM)


def test_the_stream_is_hotspots() -> None:
    values = stream()
    assert values.dtype == np.uint32
    assert len(values) == 20_000
    for place, loader in PLACES.items():
        assert values[place] == loader
        assert loader_place(loader) == (place, 31)


def test_a_32_bit_jvm_cuts_to_25_bits() -> None:
    assert loader_place(0x00B4AAC2) == (15, 25)
    assert loader_place(0x018FD1AC) == (224, 25)
    assert uniq_maker("uniq_v4", 0x00B4AAC2, whole_seconds=False).code == "java_32_bit"


@pytest.mark.parametrize("loader", [0x7C84929B, 0x5A5B30BE, 0xAC4C820C, 0])
def test_what_is_not_in_the_stream(loader: int) -> None:
    assert loader_place(loader) is None


def test_columns_say_what_the_single_id_says() -> None:
    rng = np.random.default_rng(5)
    loaders = np.concatenate(
        [
            stream()[:700],
            stream()[-50:],
            stream()[:40] & np.uint32(0x01FFFFFF),
            rng.integers(0, 2**32, 500, dtype=np.uint32),
            np.array(
                [0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xAC4C820C, 0xCEF51E0A, 0x7C84929B, 0x11524711],
                np.uint32,
            ),
        ]
    )
    places, bits = loader_positions(loaders)
    assert places.dtype == np.int32
    assert bits.dtype == np.int8
    for loader, place, bit in zip(loaders.tolist(), places.tolist(), bits.tolist(), strict=True):
        assert (loader_place(loader) or (-1, 0)) == (place, bit)
    for layout in ("uniq_v4", "uniq_v6", "uniq_v4_le"):
        for whole in (False, True):
            for loopback in (False, True):
                both = np.full(len(loaders), whole), np.full(len(loaders), loopback)
                one_by_one = [
                    uniq_maker(layout, loader, whole_seconds=whole, host_loopback=loopback).code
                    for loader in loaders.tolist()
                ]
                assert process_makers([layout] * len(loaders), loaders, *both).tolist() == one_by_one


def test_known_loaders_are_sorted_and_hold_stream_and_constants() -> None:
    known = known_loaders()
    assert known.dtype == np.uint32
    assert (np.diff(known.astype(np.int64)) > 0).all()
    assert set(stream().tolist()) <= set(known.tolist())
    assert {0xAC4C820C, 0xCEF51E0A, 0x7C84929B, 0x11524711} <= set(known.tolist())


def test_no_process_no_maker() -> None:
    assert len(process_makers([], np.array([], np.uint32), np.array([], bool))) == 0


def test_two_million_processes_are_named_in_seconds() -> None:
    rng = np.random.default_rng(1)
    loaders = rng.integers(0, 2**32, 2_000_000, dtype=np.uint32)
    layouts = np.full(len(loaders), "uniq_v4", dtype=object)
    began = time.process_time()
    names = process_makers(layouts, loaders, np.zeros(len(loaders), bool))
    assert len(names) == len(loaders)
    assert time.process_time() - began < 8  # about 0.6 s on an idle machine


@pytest.mark.parametrize(
    ("loader", "whole", "last", "code"),
    [
        (0, True, "3da94f100001", "go"),
        (0, True, "3DA94F100001", "elixir"),
        (0, True, "330940000001", "go_family"),
        (0xAC4C820C, False, "", "rust_mxsm"),
        (0xCEF51E0A, False, "", "php"),
        (0x00001234, True, "", "python_tt67wq"),
        (0x1B9871B4, False, "", "cpp"),
        (0x9B9871B4, False, "", "unknown"),
    ],
)
def test_other_clients(loader: int, whole: bool, last: str, code: str) -> None:
    assert uniq_maker("uniq_v4", loader, whole_seconds=whole, last_twelve=last).code == code


def test_lua_and_dotnet() -> None:
    assert uniq_maker("uniq_v4", 0x9B9871B4, whole_seconds=False, host_loopback=True).code == "lua"
    assert uniq_maker("uniq_v4", 0x1B9871B4, whole_seconds=False, elapsed_fits=False).code == "dotnet"
    assert uniq_maker("uniq_v4_le", 0, whole_seconds=True).code == "cpp_old"


def test_client_ids() -> None:
    assert client_maker(146_888_539).code == "grpc"
    assert client_maker(int.from_bytes((146_888_539).to_bytes(4, "big"), "little")).code == "grpc_cpp_old"
    assert client_maker(691_200_000, "29329fd000000001").code == "grpc_rust"


ALL = ("Java", "Go", "C#", "C++ 5.1.0 or later", "Node.js", "Python")


@pytest.mark.parametrize(
    ("mac", "pid", "sequence", "names"),
    [
        ("08719066ff9a", 7980, 5, ALL),
        ("08719066ff9a", 7980, 0, tuple(name for name in ALL if name != "C#")),
        ("000000000000", 7980, 5, ("C++ 5.1.0 or later", "Node.js")),
        ("09719066ff9a", 7980, 5, ("Java", "Go", "C#", "Python")),
        ("08719066ff9a", 0xFFFF, 5, tuple(name for name in ALL if name != "Node.js")),
    ],
)
def test_what_little_tells_the_languages_of_5x_clients_apart(
    mac: str, pid: int, sequence: int, names: tuple[str, ...]
) -> None:
    assert client_languages(bytes.fromhex(mac), pid, sequence) == names
    text = f"01{mac}{pid:04X}{146_888_539:08X}{sequence:08X}".upper()
    best = identify(text).best
    assert best is not None and best.maker == "5.x gRPC client"
    assert f"{', '.join(names)} write these fields identically" in " ".join(map(str, best.why))


def test_every_maker_is_worded() -> None:
    for code, words in catalogue.words().table("client.").items():
        assert code == code.lower()
        assert words == words.strip()
        assert not words.endswith(".")
