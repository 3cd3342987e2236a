"""Packed bytes to plain text, as streams read forward. Holds no more than a piece; opens no files."""

from __future__ import annotations

import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, cast
from zipfile import BadZipFile

from idcore.base.errors import refuse
from idcore.base.safe_text import size as size_in_words
from idcore.sources.kinds import HEAD
from idcore.sources.packings import ISAL_ERROR, PACKED

try:
    from pyarrow import ArrowException
except ImportError:  # the bare package unpacks what Python does
    ArrowException = OSError

_RAW = 1 << 16
_PIECE = 1 << 14  # unpacked at once: a damaged file loses no more than this before the damage
_LARGEST = 1 << 20  # asked of an unpacker at once: one makes room for all of it, also for a member of one byte
READ_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    zlib.error,
    ISAL_ERROR,
    lzma.LZMAError,
    BadZipFile,
    ArrowException,
)
Read = Callable[[memoryview], int]


class ByteStream(io.RawIOBase):
    """A stream that is read forward: a subclass has `read`, and `readinto` is made of it."""

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)


class Peeked(ByteStream):
    """A stream whose first bytes were looked at and are still to be read. Only forward."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.head = b""
        self.problem: Exception | None = None
        while len(self.head) < HEAD:
            try:
                more = stream.read(HEAD - len(self.head))
            except READ_ERRORS as error:  # what came before it is read first
                if not self.head:
                    raise
                self.problem = error
                break
            if not more:
                break
            self.head += more
        self.left = memoryview(self.head)

    def read(self, size: int = -1) -> bytes:
        if self.left:
            size = len(self.left) if size < 0 else size
            data = bytes(self.left[:size])
            self.left = self.left[size:]
            return data
        if self.problem is not None:
            raise self.problem
        return self.stream.read(size)


class _Members(ByteStream):
    """All members of a packed stream, one after the other. Python's own readers lose what is before junk."""

    def __init__(self, stream: BinaryIO, make: Callable[[], Any]) -> None:
        self.stream = stream
        self.make = make
        self.member: Any = None

    def read(self, size: int = -1) -> bytes:
        most = _PIECE if size < 0 else min(size, _LARGEST)
        while True:
            ended = False
            if self.member is None or self.member.eof:
                raw = self.member.unused_data if self.member is not None else self.stream.read(_RAW)
                while not (raw := raw.lstrip(b"\0")):  # members may be padded
                    raw = self.stream.read(_RAW)
                    if not raw:
                        return b""
                self.member = self.make()
            else:
                raw = self.stream.read(_RAW) if self.member.needs_input else b""
                ended = self.member.needs_input and not raw
            data = self.member.decompress(raw, most)
            if data:  # also of bzip2 that has all of its input: it says that it needs more, and still has text
                return data  # type: ignore[no-any-return]
            if ended:
                raise refuse("packed_cut")


class Unpacked:
    """How many bytes one packed file has given, at all its levels; beyond the most it gives no more.

    `packed` is its size as it is stored. Without a most it is only counted.
    """

    def __init__(self, most: int | None = None, packed: int = 0) -> None:
        self.most, self.packed, self.bytes = most, packed, 0

    @property
    def is_too_much(self) -> bool:
        return self.most is not None and self.bytes > self.most

    def refuse_too_much(self) -> None:
        """CoreError where it has given more than the most."""
        if self.is_too_much:
            raise refuse("unpacked_large", packed=size_in_words(self.packed), most=size_in_words(self.most or 0))

    def counted(self, stream: BinaryIO) -> BinaryIO:
        """The same stream, as long as there is room for what it gives."""
        return cast(BinaryIO, _Counted(stream, self))


class _Counted(ByteStream):
    def __init__(self, stream: BinaryIO, unpacked: Unpacked) -> None:
        self.stream, self.unpacked = stream, unpacked

    def read(self, size: int = -1) -> bytes:
        self.unpacked.refuse_too_much()
        data = self.stream.read(size)
        self.unpacked.bytes += len(data)
        return data


def opened(stream: BinaryIO, packing: str) -> BinaryIO:
    """What is packed in a stream, all members or frames of it one after the other."""
    make = PACKED[packing].member
    if make is not None:
        return cast(BinaryIO, _Members(stream, make))
    import pyarrow as pa  # the error of the bare package names the extra that has it

    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(stream, "r"), packing))


def read_exactly(stream: BinaryIO, size: int) -> bytes:
    """So many bytes, or fewer at the end of the stream."""
    data = bytearray()
    while len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return bytes(data)


def reader(stream: BinaryIO) -> Read:
    """Fills a view from a stream, at most a piece at a time; 0 is the end."""

    def read(view: memoryview) -> int:
        data = stream.read(min(len(view), _PIECE))
        view[: len(data)] = data
        return len(data)

    return read
