"""The ways to pack one stream of bytes: what each begins with, and what unpacks it. Reads nothing."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

DICTIONARY = 256 << 20  # memory that xz may take; its highest level needs a quarter of it
isal: Any
try:
    from isal import igzip_lib as isal
except ImportError:  # workers of a cluster may lack it: zlib does the same at half the speed
    isal = None
ISAL_ERROR: type[Exception] = isal.IsalError if isal else zlib.error


class Inflated:
    """zlib's way to unpack a member of gzip, with the words of Python's others."""

    def __init__(self) -> None:
        self.inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self.inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self.inflate.unused_data

    @property
    def needs_input(self) -> bool:
        return not self.inflate.unconsumed_tail

    def decompress(self, raw: bytes, most: int) -> bytes:
        return self.inflate.decompress(self.inflate.unconsumed_tail + raw, most)


class Packing(NamedTuple):
    """The bytes that packed streams begin with, and what unpacks a member, for each a new one: `decompress(raw, most)`.

    Without such a function, pyarrow unpacks the whole stream, and the name is its name for it.
    """

    marks: tuple[bytes, ...]
    member: Callable[[], Any] | None = None


# A further one takes a row here, a packer in tests/scan/packing.py and a word in docs/inputs.md.
PACKED = {
    "gzip": Packing((b"\x1f\x8b",), lambda: isal.IgzipDecompressor(flag=isal.DECOMP_GZIP) if isal else Inflated()),
    "bz2": Packing(
        (
            *(b"BZh%d1AY&SY" % level for level in range(1, 10)),
            *(b"BZh%d\x17rE8P\x90" % level for level in range(1, 10)),  # of nothing
        ),
        bz2.BZ2Decompressor,
    ),
    "xz": Packing((b"\xfd7zXZ\x00",), lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=DICTIONARY)),
    "lzma": Packing((b"\x5d\x00\x00",), lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=DICTIONARY)),
    "zstd": Packing(
        (
            b"\x28\xb5\x2f\xfd",
            *(bytes((0x50 + number,)) + b"\x2a\x4d\x18" for number in range(16)),  # begins with a skippable frame
        )
    ),
    "lz4": Packing((b"\x04\x22\x4d\x18",)),
}
NOT_UNPACKED = {
    b"\x1f\x9d": "compress",
    b"\x89LZO\x00\r\n\x1a\n": "lzop",
    b"\xff\x06\x00\x00sNaPpY": "snappy",
}
