"""Streams of bzip2: all their text, and the error where they are cut, damaged or unreadable."""

from __future__ import annotations

import bz2
import io
import random
import tracemalloc
from collections.abc import Callable
from typing import BinaryIO, cast

import pytest

from idcore.base.errors import coded
from idcore.sources.unpack import READ_ERRORS, opened

PIECE = 16 << 10  # at most, of the text before a damage, is lost
TEXT = b"".join(b"%x line %d\n" % (random.Random(n).getrandbits(64), n) for n in range(15_000))
FLAT = bytes(3 << 20)  # one block has all of it
NOISE = random.Random(7).randbytes(350_000)
STREAMS: dict[str, tuple[Callable[[], bytes], bytes]] = {
    "blocks": (lambda: bz2.compress(TEXT, 1), TEXT),
    "one block": (lambda: bz2.compress(TEXT), TEXT),
    "nothing": (lambda: bz2.compress(b""), b""),
    "streams": (lambda: b"".join(bz2.compress(TEXT[at : at + 200_000]) for at in range(0, len(TEXT), 200_000)), TEXT),
    "empty streams": (lambda: bz2.compress(b"") * 300 + bz2.compress(TEXT, 1) + bz2.compress(b"") * 300, TEXT),
    "tiny streams": (lambda: b"".join(map(bz2.compress, (b"a", b"", b"ab", b"abc"))) * 20, b"aababc" * 20),
    "padding": (lambda: (bz2.compress(TEXT, 1) + bytes(70_000)) * 2, TEXT * 2),
    "runs": (lambda: bz2.compress(TEXT + FLAT + TEXT, 1), TEXT + FLAT + TEXT),
    "what does not pack": (lambda: bz2.compress(NOISE, 1), NOISE),
}


def read(stream: BinaryIO) -> tuple[bytes, str | None]:
    text = []
    try:
        while piece := stream.read(PIECE):
            text.append(piece)
    except READ_ERRORS as error:
        return b"".join(text), str(coded(error))
    return b"".join(text), None


@pytest.mark.parametrize("name", STREAMS)
def test_all_text_of_all_blocks_and_streams_is_read(name: str) -> None:
    packed, text = STREAMS[name]
    assert read(opened(io.BytesIO(packed()), "bz2")) == (text, None)


@pytest.mark.parametrize("junk", [b"junk that is not a stream", b"BZh1", b"BZh11AY&SY"])
def test_what_is_behind_a_stream_and_is_none_is_an_error_behind_its_text(junk: bytes) -> None:
    text, problem = read(opened(io.BytesIO(bz2.compress(TEXT, 1) + junk), "bz2"))
    assert text == TEXT and problem


def test_of_cuts_and_flipped_bits_the_text_before_them_is_kept() -> None:
    r, packed = random.Random(3), bz2.compress(TEXT, 1)
    for is_cut in (True, False) * 12:
        at = r.randrange(14, len(packed) - 14)
        damaged = bytearray(packed[:at] if is_cut else packed)
        if not is_cut:
            damaged[at] ^= 128 >> r.randrange(8)
        text, problem = read(opened(io.BytesIO(damaged), "bz2"))
        before = max(0, int(at / len(packed) * len(TEXT)) - 2 * 100_000 - PIECE)  # the blocks that are whole
        assert problem and text[:before] == TEXT[:before]


class Broken(io.RawIOBase):
    """Gives a few bytes at a time, and then cannot be read."""

    def __init__(self, packed: bytes) -> None:
        self.packed = io.BytesIO(packed)

    def read(self, size: int = -1) -> bytes:
        piece = self.packed.read(min(size, 777))
        if not piece:
            raise OSError("the disk is gone")
        return piece


@pytest.mark.parametrize("end", [0.4, 0.9, 1.0])
def test_an_error_of_the_source_comes_behind_the_text_before_it(end: float) -> None:
    packed = bz2.compress(TEXT, 1)
    text, problem = read(opened(cast(BinaryIO, Broken(packed[: int(len(packed) * end)])), "bz2"))
    assert problem == "the disk is gone" and TEXT.startswith(text) and len(text) >= end * len(TEXT) - 2 * 100_000


@pytest.mark.parametrize("name", ["many blocks", "empty streams", "runs"])
def test_memory_is_bounded(name: str) -> None:
    packed = {
        "many blocks": lambda: bz2.compress(TEXT * 8, 1),
        "empty streams": lambda: bz2.compress(b"") * 5_000,
        "runs": lambda: bz2.compress(bytes(20 << 20)),
    }[name]()
    stream = opened(io.BytesIO(packed), "bz2")
    tracemalloc.start()
    while stream.read(PIECE):
        continue
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20
