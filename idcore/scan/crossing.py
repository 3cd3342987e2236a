"""What crosses from the tasks that read to those that merge: facts, and how each is packed. Uses no kernel, no Spark.

A fact is (part, what, bytes). IDS: processes, clients and brokers of one part with all their ids as sorted runs, and
with them the offsetMsgIds that they are paired with. LOOSE_PAIRS: pairs of ids that do not fit there, unchanged.
RANGES: broker, minute, least and greatest offset with their instants. VOTES: in which months lines say that a process
generated its ids. REPORT: what happened to splits, as lines of JSON. SUMMARY: what the votes of one task say of the
whole input. SUSPECTS: msgIds that may only look like some, and SUSPECTED: a sample of those of one task, for
every part (idcore.scan.look_alikes). NAMED: msgIds that a name in front calls something else. TOPICS: of a commit log,
the topics and queues of one split, as JSON. COPIES: of one split the copies that groups made (idcore.sources.copies).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from idcore.base.errors import CoreError, from_coded

EVERY_PART = -1  # the part of what every part needs


class What(IntEnum):
    """What the bytes of a fact are."""

    IDS = 0
    RANGES = 1
    REPORT = 2
    LOOSE_PAIRS = 3
    VOTES = 4
    TOPICS = 5
    SUMMARY = 6
    IDS_OF_SECOND = 7  # where two inputs are compared
    COPIES = 8
    SUSPECTS = 9
    SUSPECTED = 10
    LETTERS = 11
    SUSPECTS_OF_SECOND = 12
    NAMED = 13


class Fact(NamedTuple):
    """What one task found of one part of all keys."""

    part: int
    what: What
    data: bytes


FACTS = "part int, what int, data binary"  # as Spark has it, and as Arrow has it
_FACTS = pa.schema([("part", pa.int32()), ("what", pa.int32()), ("data", pa.binary())])


def to_batch(facts: Iterable[Fact]) -> pa.RecordBatch:
    """Facts as an Arrow batch."""
    columns = zip(*((part, int(what), data) for part, what, data in facts), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _FACTS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_FACTS)


def from_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[Fact]:
    """Facts from Arrow batches: the inverse of `to_batch`."""
    for batch in batches:
        for part, what, data in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Fact(part, What(what), data)


def joined_rows(data: Iterable[bytes], columns: int, kind: type = np.uint64) -> np.ndarray:
    """The rows of several facts behind each other, as a matrix of its own."""
    rows: Iterator[np.ndarray] = (np.frombuffer(each, kind).reshape(-1, columns) for each in data)
    return np.concatenate([np.empty((0, columns), kind), *rows])


class Refused(NamedTuple):
    """Strings that one split has and that are not ids: why, how many, the first of them and where it is."""

    reason: str
    ids: int
    sample: str
    byte: int


@dataclass(frozen=True, slots=True)
class Report:
    """What happened to one split of a file, by the file's number; `member` and `place` lead to a text in it."""

    number: int
    text_bytes: int
    ids: int
    refused: tuple[Refused, ...] = ()
    error: CoreError | None = None
    member: str = ""
    place: tuple[int, ...] = ()

    @property
    def closes_split(self) -> bool:
        """Those of members and of row groups come before that of their split."""
        return not self.place

    def pack(self) -> bytes:
        values = {name: getattr(self, name) for name in self.__slots__}
        values["error"] = self.error and self.error.coded()
        return json.dumps(values).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Report:
        values = json.loads(data)
        values["refused"] = tuple(Refused(*row) for row in values["refused"])
        values["place"] = tuple(values["place"])
        values["error"] = from_coded(values["error"])
        return cls(**values)


def fact_of(reports: Iterable[Report]) -> Fact:
    """Reports as one fact: a row of Spark costs more than a tiny file."""
    return Fact(0, What.REPORT, b"\n".join(report.pack() for report in reports))


def text_number(number: int, place: tuple[int, ...]) -> int:
    """One number for a text of the input: of a file by its number, of a member by its place in it too."""
    return int.from_bytes(blake2b(repr((number, place)).encode(), digest_size=8).digest(), "big")


def reports_of(data: bytes) -> list[Report]:
    """The reports of one fact."""
    return [Report.unpack(line) for line in data.split(b"\n")]


class Block(NamedTuple):
    """One fact of ids: the keys, different ids and bytes of each run, all runs; the same of the paired offsets."""

    keys: np.ndarray
    distinct: np.ndarray
    lengths: np.ndarray
    runs: np.ndarray
    brokers: np.ndarray
    paired_lengths: np.ndarray
    paired: np.ndarray
    bits: int

    def pack(self) -> bytes:
        """Four numbers, then the arrays; a block without brokers has no paired offsets, nor their lengths."""
        head = np.array([len(self.keys), len(self.runs), len(self.brokers), self.bits], np.uint64)
        offsets = [self.brokers, self.paired_lengths] if len(self.brokers) else []
        pieces = [head, *offsets, self.keys, self.distinct, self.lengths, self.runs, self.paired]
        return b"".join(np.ascontiguousarray(piece).data for piece in pieces)

    @classmethod
    def unpack(cls, data: bytes) -> Block:
        keys, size, brokers, bits = (int(number) for number in np.frombuffer(data, np.uint64, 4))
        at = 32

        def take(kind: type, count: int) -> np.ndarray:
            nonlocal at
            values: np.ndarray = np.frombuffer(data, kind, count, at)
            at += values.nbytes
            return values

        own_brokers = take(np.uint64, 3 * brokers).reshape(brokers, 3)
        paired_lengths = take(np.uint32, keys) if brokers else np.zeros(keys, np.uint32)
        own_keys = take(np.uint64, 3 * keys).reshape(keys, 3)
        distinct, lengths = take(np.uint32, keys), take(np.uint32, keys)
        runs = take(np.uint8, size)
        return cls(own_keys, distinct, lengths, runs, own_brokers, paired_lengths, take(np.uint8, len(data) - at), bits)
