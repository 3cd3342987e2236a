"""Standard input that can be read twice: for what its ids prove together, then to show them. Looks for no id."""

from __future__ import annotations

import os
import select
import tempfile
import time
from typing import IO

_CHUNK = 1 << 16
IN_MEMORY = 64 << 20  # bytes; what is longer goes to a temporary file
PAUSE = 2.0  # seconds of silence after which a pipe is shown as it comes
TRICKLE = 10.0, 1 << 20  # and seconds after which it is if it has not given so many bytes


class BufferedInput:
    """A stream read up to its end, or up to a pause of a pipe that stays open; `live` says that the rest comes later.

    It reads from the start after `again`, and goes on with the stream itself behind what is held.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.live = False
        self._begun = stream.tell() if stream.seekable() else 0
        self._copy: IO[bytes] = stream
        if stream.seekable():
            return
        self._end = 0
        self._copy = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  closed when it is dropped
        begun, size = time.monotonic(), 0
        while not self.live:
            if not _comes(stream, PAUSE) or (time.monotonic() - begun > TRICKLE[0] and size < TRICKLE[1]):
                self.live = True
                break
            piece = _read(stream)
            if not piece:
                break
            size += len(piece)
            self._copy.write(piece)
        self._end = size

    def again(self) -> None:
        """Back to the start of what is held."""
        self._copy.seek(self._begun)

    def held(self) -> BufferedInput:
        """The same without what comes later."""
        part = BufferedInput.__new__(BufferedInput)
        part._stream, part._copy, part._begun, part.live = self._stream, self._copy, self._begun, False
        return part

    @property
    def waits(self) -> bool:
        """Whether all that has come was read, and nothing more is there yet."""
        return self.live and self._copy.tell() >= self._end and not _comes(self._stream, 0)

    def read1(self, size: int = _CHUNK) -> bytes:
        """What is held, then what comes."""
        piece = self._copy.read(size)
        return piece if piece or not self.live else _read(self._stream)

    read = read1

    def close(self) -> None:
        """Drops the copy; the stream stays open."""
        if self._copy is not self._stream:
            self._copy.close()


def _fileno(stream: IO[bytes]) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


def _comes(stream: IO[bytes], pause: float) -> bool:
    """Whether a stream gives something, or its end, before the pause is over."""
    number = _fileno(stream)
    return number is None or bool(select.select([number], [], [], pause)[0])


def _read(stream: IO[bytes]) -> bytes:
    number = _fileno(stream)
    return stream.read(_CHUNK) if number is None else os.read(number, _CHUNK)
