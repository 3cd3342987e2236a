"""The copies that groups made, and the damage, of one split of a commit log: as rows of numbers. Judges nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from idcore.kernels import fates as kernel
from idcore.kernels import records
from idcore.kernels.keys import SLACK

_ROWS, _PLACES, _WHICH, _HINTS = 1 << 10, 1 << 10, 64, 1 << 12
_CODEC = pa.Codec("lz4_raw")


class CopyKind(NamedTuple):
    """What copies have in common: their topic, where they go, and whether a POP consumer left them."""

    topic: str
    real: str
    popped: bool


@dataclass(frozen=True, slots=True)
class SplitCopies:
    """The copies of one split, by file number and first byte, and stretches of the log that could not be read."""

    number: int
    start: int
    which: Sequence[CopyKind]
    rows: np.ndarray
    damage: np.ndarray

    def pack(self) -> bytes:
        """A line of JSON; then rows and damage, compressed: on their way to the driver they are copied many times."""
        head = [self.number, self.start, self.which, len(self.rows), len(self.damage)]
        whole = np.ascontiguousarray(self.rows).tobytes() + self.damage.tobytes()
        return json.dumps(head).encode() + b"\n" + _CODEC.compress(whole, asbytes=True)

    @classmethod
    def unpack(cls, data: bytes) -> SplitCopies:
        """The inverse of `pack`."""
        line, _, packed = data.partition(b"\n")
        number, start, which, count, damaged = json.loads(line)
        size = count * kernel.COPY.itemsize
        whole = _CODEC.decompress(packed, size + 16 * damaged, asbytes=True)
        rows, damage = np.frombuffer(whole, kernel.COPY, count), np.frombuffer(whole, np.int64, offset=size)
        return cls(number, start, [CopyKind(*each) for each in which], rows, damage.reshape(-1, 2))


class Copies:
    """The copies of one split as its records are read."""

    def __init__(self) -> None:
        self.places = np.zeros((_PLACES, 3), np.int64)
        self._rows = np.zeros(_ROWS, kernel.COPY)
        self._state = np.zeros(kernel.STATE_SIZE, np.int64)
        self._which = records.RecordCounts(
            np.zeros((_WHICH, records.COLUMNS), np.int64),
            np.zeros(64 * _WHICH + SLACK, np.uint8),
            np.full(_HINTS, -1, np.int64),
            np.zeros(records.STATE_SIZE, np.int64),
        )

    def take(self, log: records.Log, count: int) -> None:
        """What the first `count` of `places` have."""
        self._state[kernel.AT], self._state[records.PLACES] = 0, count
        while kernel.copies(log, self.places, self._which, self._rows, self._state) == records.FULL:
            if self._state[kernel.ROWS] == len(self._rows):
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            else:
                rows, names, hints, state = self._which
                more = np.zeros(max(len(names), 1 << 16), np.uint8)
                rows, names = np.concatenate([rows, np.zeros_like(rows)]), np.concatenate([names, more])
                self._which = records.RecordCounts(rows, names, hints, state)

    def found(self, number: int, start: int, topics: Sequence[str], damage: np.ndarray) -> SplitCopies:
        """All of them. `topics`: the names of the walk's rows."""
        rows, names, _, state = self._which
        which = []
        for begin, size, owner in rows[: state[records.ROWS], : records.QUEUE_ID + 1].tolist():
            real = names[begin : begin + size].tobytes().decode("utf-8", "replace")
            which.append(CopyKind(topics[owner // 2], real, bool(owner % 2)))
        return SplitCopies(number, start, which, self._rows[: self._state[kernel.ROWS]], damage)


@dataclass(frozen=True, slots=True)
class JoinedCopies:
    """The copies of several splits as one; `splits` has file number and first byte of each of them."""

    which: list[CopyKind]
    rows: np.ndarray
    damage: list[tuple[int, int]]
    splits: set[tuple[int, int]]


def joined(packed: Sequence[bytes]) -> JoinedCopies:
    """One split is unpacked at a time: packed they have half of the size."""
    heads = [json.loads(data[: data.index(b"\n")]) for data in packed]
    rows, at = np.zeros(sum(head[3] for head in heads), kernel.COPY), 0
    numbers: dict[CopyKind, int] = {}
    damage: list[tuple[int, int]] = []
    for data in packed:
        part = SplitCopies.unpack(data)
        here = rows[at : at + len(part.rows)]
        here.view(np.int64)[:] = part.rows.view(np.int64)  # as rows they are copied field by field
        own = np.array([numbers.setdefault(each, len(numbers)) for each in part.which], np.int64)
        here["which"] = own[here["which"]]
        damage += [(begin, end) for begin, end in part.damage.tolist()]
        at += len(here)
    return JoinedCopies(list(numbers), rows, damage, {(head[0], head[1]) for head in heads})
