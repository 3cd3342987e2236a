"""The blocks of bzip2: several are unpacked at once, and given in order. Leaves damaged ones to another reader."""

from __future__ import annotations

import bz2
import io
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import Any, BinaryIO, NamedTuple, cast

_BLOCK, _END = 0x314159265359, 0x177245385090  # the marks that a block and the end of a stream begin with, at any bit
_MARK, _CRC, _HEADER = 48, 32, 32  # bits
_HEADERS = {int.from_bytes(b"BZh%d" % level, "big") for level in range(1, 10)}
_POLYNOMIAL, _ONES = 0x04C11DB7, 0xFFFFFFFF
_PATTERNS = [  # of a mark that begins so many bits before a byte, the whole bytes
    (mark, before, (mark >> 8 - before & (1 << 40) - 1).to_bytes(5, "big"))
    for mark in (_BLOCK, _END)
    for before in range(8)
]
_RAW = 1 << 16
_LONGEST = 3 << 23  # bits that a packed block has at most: 900,000 codes of 20, and their tables
_MOST_TEXT = 2 << 20  # of a block that is unpacked ahead; runs make up to 46 MB of one
_THREADS = min(4, os.cpu_count() or 1)  # of every task that reads bzip2; each takes 4 MB
_AHEAD, _HELD = 2 * _THREADS, 8 << 20  # blocks, and packed bytes


class _Place(NamedTuple):
    """A place before a block, in bits. Its stream has this header and, so far, this CRC. Between two, header is 0."""

    at: int = 0
    header: int = 0
    crc: int = 0


class Blocks(io.RawIOBase):
    """What is packed in a stream, read forward.

    A block ends where the next mark is, and is unpacked as a stream of its own. It counts only if it ends right there:
    then the mark was not data that looks like one. From any other place on `members` reads, the reader of all packed
    streams. So what is cut, damaged or unusual has one reader.
    """

    def __init__(
        self, stream: BinaryIO, members: Callable[[BinaryIO], BinaryIO], errors: tuple[type[Exception], ...]
    ) -> None:
        self.members = members
        self.bits = _Bits(stream, errors)
        self.place = _Place()  # behind all blocks that were found
        self.ahead: deque[tuple[_Place, Callable[[], bytes | None]]] = deque()
        self.pool: ThreadPoolExecutor | None = None
        self.text = memoryview(b"")
        self.rest: BinaryIO | None = None
        self.extra = 0  # bytes of text that the rest begins with and that are not of the stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self.text and self.rest is None:
            self._take()
        while self.extra:
            self.extra -= len(cast(BinaryIO, self.rest).read(self.extra))
        if not self.text and self.rest is not None:
            return self.rest.read(size)
        data = bytes(self.text[: size if size >= 0 else None])
        self.text = self.text[len(data) :]
        return data

    def readinto(self, view: Any) -> int:
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def _take(self) -> None:
        """The text of the next block, or the reader of all that is behind it."""
        most = _AHEAD if self.pool else 1  # who looks at a head needs no thread
        while len(self.ahead) < most and len(self.bits.raw) < _HELD and self._find():
            self._forget()
        place, unpack = self.ahead.popleft() if self.ahead else (self.place, None)
        text = unpack() if unpack else None
        if text is None:
            self._leave(place)
        else:
            self.text = memoryview(text)
            self.pool = self.pool or ThreadPoolExecutor(_THREADS, "bzip2")
            self._forget()

    def _forget(self) -> None:
        self.bits.forget(self.ahead[0][0].at if self.ahead else self.place.at)

    def _find(self) -> bool:
        """Goes behind the next header, end or block; False where there is none."""
        at, header, crc = self.place
        bits = self.bits
        if not header:
            self.place = _Place(at + _HEADER, bits.number(at, _HEADER))
            if self.place.header in _HEADERS:
                return True
            self.place = _Place(at)
            return False
        mark, own_crc = bits.number(at, _MARK), bits.number(at + _MARK, _CRC)
        end = bits.next_mark(at) if mark == _BLOCK else -1
        if mark == _END and own_crc == crc:
            self.place = _Place(-(-(at + _MARK + _CRC) // 8) * 8)
        elif end > 0:
            block = header, bits.number(at, end - at), end - at, own_crc
            unpack = self.pool.submit(_unpacked, *block).result if self.pool else partial(_unpacked, *block)
            self.ahead.append((self.place, unpack))
            self.place = _Place(end, header, (crc << 1 & _ONES | crc >> 31) ^ own_crc)
        else:
            return False
        return True

    def _leave(self, place: _Place) -> None:
        """Within a stream, a block of our own is put in front: it has the CRC of all blocks before the place."""
        self.ahead.clear()
        if self.pool:
            self.pool.shutdown(wait=False, cancel_futures=True)
        self.bits.forget(place.at)
        raw = bytes(self.bits.raw)
        if place.header:
            begun, size, self.extra = _begun(place)
            if part := size % 8:
                begun, raw = begun << 8 - part | raw[0] & 0xFF >> part, raw[1:]
            raw = begun.to_bytes(-(-size // 8), "big") + raw
        self.rest = self.members(cast(BinaryIO, _Behind(raw, self.bits)))


class _Bits:
    """The bits of a stream from the first that is still needed, and the marks in them."""

    def __init__(self, stream: BinaryIO, errors: tuple[type[Exception], ...]) -> None:
        self.stream, self.errors = stream, errors
        self.raw, self.begin = bytearray(), 0
        self.marks: deque[int] = deque()
        self.ended = False
        self.problem: Exception | None = None

    def _has(self, end: int) -> bool:
        """Whether the stream goes on up to a bit; reads as far as that needs."""
        while self.begin + 8 * len(self.raw) < end and not self.ended:
            known = len(self.raw)
            try:
                self.raw += self.stream.read(_RAW)
            except self.errors as problem:  # what came before it is read first
                self.problem = problem
            self.ended = len(self.raw) == known
            self.marks.extend(self.begin + at for at in sorted(_marks_in(self.raw, 8 * known)))
        return self.begin + 8 * len(self.raw) >= end

    def number(self, at: int, size: int) -> int:
        """So many bits from one on; -1 if the stream ends in them."""
        if not self._has(at + size):
            return -1
        first, last = (at - self.begin) // 8, -(-(at + size - self.begin) // 8)
        return int.from_bytes(self.raw[first:last], "big") >> -(at + size) % 8 & (1 << size) - 1

    def next_mark(self, at: int) -> int:
        """Where the mark behind a place is; -1 if there is none as near as it has to be."""
        while not self.marks or self.marks[0] <= at:
            if self.marks:
                self.marks.popleft()
                continue
            end = self.begin + 8 * len(self.raw) + 1
            if end > at + _LONGEST or not self._has(end):
                return -1
        return self.marks[0]

    def forget(self, at: int) -> None:
        """Drops the bytes before the one that a place is in."""
        gone = (at - self.begin) // 8
        del self.raw[:gone]
        self.begin += 8 * gone
        while self.marks and self.marks[0] < self.begin:
            self.marks.popleft()


class _Behind(io.RawIOBase):
    """Bytes, and what is behind them in a stream, or why that cannot be read."""

    def __init__(self, raw: bytes, bits: _Bits) -> None:
        self.raw, self.bits = raw, bits

    def read(self, size: int = _RAW) -> bytes:
        data, self.raw = self.raw[:size], self.raw[size:]
        if not data and self.bits.problem is not None:
            raise self.bits.problem
        return data or self.bits.stream.read(size)


def _marks_in(raw: bytearray, known: int) -> Iterator[int]:
    """The bits at which marks begin that do not end in those already known."""
    for mark, before, whole_bytes in _PATTERNS:
        at = raw.find(whole_bytes, max(0, known // 8 - 7))
        while at >= 0:
            begin, end = 8 * at - before, 8 * at - before + _MARK
            if begin >= 0 and known < end <= 8 * len(raw):
                whole = int.from_bytes(raw[begin // 8 : -(-end // 8)], "big")
                if whole >> -end % 8 & (1 << _MARK) - 1 == mark:
                    yield begin
            at = raw.find(whole_bytes, at + 1)


def _unpacked(header: int, block: int, size: int, crc: int) -> bytes | None:
    """The text of a block of so many bits; None if it is damaged, ends elsewhere, or has very much text.

    An end is set behind it. Two marks share at most 3 bits, so an end that is read too early leaves unused bytes.
    """
    unused = -(size + _MARK + _CRC) % 8
    alone = (((header << size | block) << _MARK | _END) << _CRC | crc) << unused
    unpacker = bz2.BZ2Decompressor()
    try:
        text = unpacker.decompress(alone.to_bytes((_HEADER + size + _MARK + _CRC + unused) // 8, "big"), _MOST_TEXT)
    except OSError:
        return None
    return text if unpacker.eof and not unpacker.unused_data else None


def _begun(place: _Place) -> tuple[int, int, int]:
    """A stream that has the CRC of a place and ends at the same bit of a byte; its bits, and the bytes of its text."""
    end = _END << _CRC | place.crc
    for number in count():
        last = _turned(_ONES ^ number) ^ _turned_back(_ONES ^ place.crc)
        text = number.to_bytes(4, "big") + last.to_bytes(4, "big")
        packed = bz2.compress(text, place.header & 15)
        whole, size = int.from_bytes(packed, "big"), 8 * len(packed) - _MARK - _CRC
        unused = next(bits for bits in range(8) if whole >> bits & (1 << _MARK + _CRC) - 1 == end)
        if (size - unused - place.at) % 8 == 0:
            return whole >> unused + _MARK + _CRC, size - unused, len(text)
    raise AssertionError("no text ends at this bit")


def _turned(register: int) -> int:
    """The register of the CRC, 32 bits on."""
    for _ in range(_CRC):
        register = (register << 1 & _ONES) ^ (_POLYNOMIAL if register >> 31 else 0)
    return register


def _turned_back(register: int) -> int:
    """The register of the CRC, 32 bits before."""
    for _ in range(_CRC):
        register = (register ^ _POLYNOMIAL) >> 1 | 1 << 31 if register & 1 else register >> 1
    return register
