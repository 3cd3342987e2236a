"""Blocks of bzip2, unpacked several at once: always the text and the error of the reader that takes one at a time."""

from __future__ import annotations

import bz2
import gc
import io
import itertools
import random
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

from idcore.base.errors import coded
from idcore.sources import bzip2_blocks
from idcore.sources.bzip2_blocks import Blocks
from idcore.sources.unpack import READ_ERRORS, _Members, opened
from tests.scan.comparing import same
from tests.scan.packing import LOG, scanned, written

PIECE = 16 << 10  # at most, of the text before a damage, is lost
TEXT = b"".join(b"%x line %d\n" % (random.Random(n).getrandbits(64), n) for n in range(15_000))
FLAT = bytes(3 << 20)  # one block has all of it


def with_false_mark(mark: int, size: int) -> bytes:
    """Text whose blocks have a mark in their data: 16 bits for each 16 byte values, whether the block has them."""
    values = [
        16 * (3 + place) + bit
        for place, bits in enumerate(mark.to_bytes(6, "big")[at : at + 2] for at in (0, 2, 4))
        for bit in range(16)
        if int.from_bytes(bits, "big") >> 15 - bit & 1
    ]
    return bytes(random.Random(mark).choices(values, k=size))


FALSE_BLOCK, FALSE_END = (with_false_mark(mark, 250_000) for mark in (bzip2_blocks._BLOCK, bzip2_blocks._END))
TINY = b"".join(bz2.compress(text, 1) for text in (b"a", b"", FALSE_BLOCK[:60], b"ab", b"abc"))
STREAMS: dict[str, Callable[[], bytes]] = {
    "blocks": lambda: bz2.compress(TEXT, 1),
    "one block": lambda: bz2.compress(TEXT),
    "nothing": lambda: bz2.compress(b""),
    "streams": lambda: b"".join(bz2.compress(TEXT[at : at + 150_000], 1 + at % 9) for at in (0, 150_000, 300_000)),
    "empty streams": lambda: bz2.compress(b"") * 300 + bz2.compress(TEXT, 1) + bz2.compress(b"") * 300,
    "tiny streams": lambda: TINY * 20,
    "padding": lambda: bz2.compress(TEXT, 1) + bytes(70_000) + bz2.compress(TEXT, 2) + bytes(70_000),
    "junk": lambda: bz2.compress(TEXT, 1) + b"junk that is not a stream",
    "half a header": lambda: bz2.compress(TEXT, 1) + b"BZh1",
    "a header and a mark": lambda: bz2.compress(TEXT, 1) + b"BZh11AY&SY",
    "runs": lambda: bz2.compress(TEXT + FLAT + TEXT, 1),
    "what does not pack": lambda: bz2.compress(random.Random(7).randbytes(350_000), 1),
    "false marks of blocks": lambda: bz2.compress(TEXT + FALSE_BLOCK + TEXT, 1),
    "false marks of ends": lambda: bz2.compress(TEXT + FALSE_END + TEXT, 1),
}


def read(stream: BinaryIO, size: int = PIECE) -> tuple[bytes, str | None]:
    text = []
    try:
        while piece := stream.read(size):
            text.append(piece)
    except READ_ERRORS as error:
        return b"".join(text), str(coded(error))
    return b"".join(text), None


def one_at_a_time(source: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, _Members(source, bz2.BZ2Decompressor))


def agree(packed: bytes) -> None:
    want, problem = read(one_at_a_time(io.BytesIO(packed)))
    text, told = read(opened(io.BytesIO(packed), "bz2"))
    assert told == problem
    if problem is None:
        assert text == want
    else:
        assert text.startswith(want) or want.startswith(text)
        assert abs(len(text) - len(want)) <= PIECE


@pytest.mark.parametrize("name", STREAMS)
def test_the_text_is_that_of_one_block_at_a_time(name: str) -> None:
    agree(STREAMS[name]())


@pytest.mark.parametrize("text", [FALSE_BLOCK, FALSE_END], ids=["block", "end"])
def test_data_that_looks_like_a_mark_is_data(text: bytes) -> None:
    packed = bz2.compress(text, 1)
    blocks = -(-len(text) // 100_000)
    assert len(list(bzip2_blocks._marks_in(bytearray(packed), 0))) == 2 * blocks + 1
    assert read(opened(io.BytesIO(packed), "bz2")) == (text, None)


def test_of_cuts_and_flipped_bits_at_every_kind_of_place_the_error_is_the_same() -> None:
    for end in range(14, len(TINY), 2):
        agree(TINY[:end])
    for bit in range(14 * 8, len(TINY) * 8, 5):
        damaged = bytearray(TINY)
        damaged[bit // 8] ^= 128 >> bit % 8
        agree(bytes(damaged))


@pytest.mark.parametrize("name", ["blocks", "streams", "runs", "false marks of blocks"])
def test_of_large_blocks_the_text_before_the_damage_is_kept(name: str) -> None:
    r, packed = random.Random(name), STREAMS[name]()
    for cut in (True, False, False) * 4:
        at = r.randrange(14, len(packed))
        damaged = bytearray(packed[:at] if cut else packed)
        if not cut:
            damaged[at : at + r.choice([0, 1, 1, 50])] = r.randbytes(r.choice([0, 1, 1, 50]))
        agree(bytes(damaged))


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
    packed = STREAMS["blocks"]()
    packed = packed[: int(len(packed) * end)]
    want = read(one_at_a_time(cast(BinaryIO, Broken(packed))))
    assert read(opened(cast(BinaryIO, Broken(packed)), "bz2")) == want and want[1] == "the disk is gone"


def test_a_stream_of_our_own_ends_at_every_bit_with_every_crc() -> None:
    r = random.Random(3)
    for at, level in itertools.product(range(8), (1, 9)):
        header = int.from_bytes(b"BZh%d" % level, "big")
        begun, size, _ = bzip2_blocks._begun(bzip2_blocks._Place(at, header, crc := r.getrandbits(32)))
        end = (begun << 80 | bzip2_blocks._END << 32 | crc) << -size % 8
        assert size % 8 == at and len(bz2.decompress(end.to_bytes(-(-size // 8) + 10, "big"))) == 8


def test_a_look_at_the_head_needs_no_thread_and_a_reader_that_goes_leaves_none() -> None:
    stream: Any = opened(io.BytesIO(STREAMS["blocks"]()), "bz2")
    known = set(threading.enumerate())
    assert stream.read(PIECE) and set(threading.enumerate()) <= known
    while not stream.ahead:
        assert stream.read(PIECE)
    threads = list(stream.pool._threads)
    assert threads and all(thread.is_alive() for thread in threads)
    del stream
    gc.collect()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_memory_is_bounded_for_many_blocks_empty_streams_and_runs() -> None:
    most = 2 * bzip2_blocks._AHEAD * bzip2_blocks._MOST_TEXT + bzip2_blocks._THREADS * (8 << 20)
    for packed in (bz2.compress(TEXT * 8, 1), bz2.compress(b"") * 5_000, bz2.compress(bytes(20 << 20))):
        stream = opened(io.BytesIO(packed), "bz2")
        tracemalloc.start()
        while stream.read(PIECE):
            continue
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert isinstance(stream, Blocks) and peak < most


def test_a_log_of_many_blocks_has_the_tables_of_its_text(tmp_path: Path) -> None:
    plain = scanned(written(tmp_path, "a.log", LOG * 6))
    packed = scanned(written(tmp_path, "a.bz2", bz2.compress(LOG * 6, 1)))
    assert same(packed, plain, ["files", "refused"]) == []
    assert packed["files"]["text_bytes"].to_pylist() == [6 * len(LOG)]
