"""A cursor over bytes that says which field a cut, a length or a value is wrong in. Depends on no format."""

from __future__ import annotations

from typing import Any

from idcore.base.errors import refuse
from idcore.base.layout import Layout

Bytes = bytes | bytearray | memoryview


class Reader:
    """Reads forward from `start`; `stop` is where the record says it ends, the bytes may end before."""

    __slots__ = ("at", "raw", "start", "stop")

    def __init__(self, raw: Bytes, start: int = 0) -> None:
        self.raw = raw
        self.start = self.at = start
        self.stop: int | None = None

    def fixed(self, layout: Layout) -> tuple[Any, ...]:
        """The fields of a layout; the first that is not whole is named."""
        end = self.at + layout.size
        if end > len(self.raw) or (self.stop is not None and end > self.stop):
            for span in layout.spans:
                self._room(span.name, span.stop - span.start, self.at + span.start)
        values = layout.struct.unpack_from(self.raw, self.at)
        self.at = end
        return values

    def counted(self, name: str, length_name: str, length: int, length_at: int) -> bytes:
        """As many bytes as the length at `length_at` says."""
        if length < 0:
            raise refuse("negative", length_name, length_at, name=length_name, value=length)
        if self.stop is not None and self.at + length > self.stop:
            left = self.stop - self.at
            raise refuse("beyond", length_name, length_at, name=length_name, value=length, remaining=left)
        self._room(name, length, self.at)
        part = bytes(self.raw[self.at : self.at + length])
        self.at += length
        return part

    def _room(self, name: str, needed: int, at: int) -> None:
        if self.stop is not None and at + needed > self.stop:
            raise refuse("beyond", "total_size", self.start, name=name, value=needed, remaining=self.stop - at)
        if at + needed > len(self.raw):
            remaining = max(0, len(self.raw) - at)
            raise refuse("cut", name, len(self.raw), name=name, needed=needed, remaining=remaining)
