"""Consume queues, read only: which record is at which place of a topic's queue. Opens no commit log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any

from idcore.base.layout import QUEUE_UNIT
from idcore.base.numbers import whole_number
from idcore.base.open_folders import entries, is_folder, status
from idcore.rocketmq.store.files import File, Reading, list_files

if TYPE_CHECKING:  # `view` of a store does without it as long as no damage has to be judged
    import numpy as np

_UNITS_AT_ONCE = 10_000
MOST_ENTRIES = 20_000_000  # that are held at once: files that are packed well unpack to far more
_FILLED = 0x7FFFFFFF  # the size of what fillPreBlank writes
_NUMBER_DIGITS = 10  # of a queue id, 32 bits


@dataclass(frozen=True, slots=True)
class Unit:
    """An entry of a consume queue."""

    queue_offset: int
    physical_offset: int
    size: int
    tags_code: int | None  # None where it is not known

    @property
    def is_filler(self) -> bool:
        """Nothing was written here: zeros, or what ConsumeQueue.fillPreBlank puts before a queue's first place."""
        return not self.size or (self.physical_offset == 0 and self.size == _FILLED)

    @property
    def has_hash(self) -> bool:
        """Whether the tags code can be the hash of a tag; with filters (ConsumeQueueExt) it is an address."""
        return self.tags_code is not None and -(1 << 31) <= self.tags_code < 1 << 31


class ConsumeQueue:
    """The files of one queue of one topic."""

    def __init__(self, topic: str, queue_id: int, folder: Path, reading: Reading) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self._reading = reading
        self.files: list[File] = []
        self.strangers: list[str] = []
        with reading.noted(folder):
            self.files, self.strangers = list_files(folder, reading.roots)

    def unit(self, queue_offset: int) -> Unit | None:
        """The unit at a place, if it was written."""
        at = queue_offset * QUEUE_UNIT.size
        file = next((file for file in self.files if file.start <= at and at + QUEUE_UNIT.size <= file.end), None)
        if file is None:
            return None
        raw = self._reading.read(file.path, at - file.start, QUEUE_UNIT.size)
        if len(raw) < QUEUE_UNIT.size:
            return None
        unit = Unit(queue_offset, *QUEUE_UNIT.struct.unpack(raw))
        return None if unit.is_filler else unit

    def units(self) -> Iterator[Unit]:
        """Every unit that was written, in order."""
        for file in self.files:
            yield from self._units_of(file)

    def entries(self, begin: int = 0) -> np.ndarray:
        """Queue offset, physical offset and tags code of the units from a place on that were written, in order.

        Of a queue that has more than can be held, those of its end.
        """
        import numpy as np

        parts, held = deque([np.zeros((0, 3), np.int64)]), 0
        for place, raw in (block for file in self.files for block in self._blocks_of(file, begin)):
            units = np.frombuffer(raw, QUEUE_UNIT.dtype)
            offsets, sizes = units["physical_offset"], units["size"]
            written = np.flatnonzero((sizes != 0) & ((offsets != 0) | (sizes != _FILLED)))
            columns = [place + written, offsets[written], units["tags_code"][written]]
            parts.append(np.stack(columns, axis=1).astype(np.int64))
            held += len(written)
            while held - len(parts[0]) >= MOST_ENTRIES:
                held -= len(parts.popleft())
        return np.concatenate(parts)

    def _units_of(self, file: File) -> Iterator[Unit]:
        for place, raw in self._blocks_of(file):
            for number, values in enumerate(QUEUE_UNIT.struct.iter_unpack(raw)):
                unit = Unit(place + number, *values)
                if not unit.is_filler:
                    yield unit

    def _blocks_of(self, file: File, first: int = 0) -> Iterator[tuple[int, bytes]]:
        """Whole units from a place on, as they are on the disk, with the place of each first; no blocks of zeros."""
        step = _UNITS_AT_ONCE * QUEUE_UNIT.size
        done = max(0, first * QUEUE_UNIT.size - file.start)
        for start, stop in self._reading.extents(file.path, file.size):
            # the units that are in a stretch of the disk, whole: one may begin before it or end behind it
            for begin in range(max(done, start - start % QUEUE_UNIT.size), stop, step):
                raw = self._reading.read(file.path, begin, min(step, file.size - begin))
                done = begin + step
                if raw.strip(b"\0"):
                    yield (file.start + begin) // QUEUE_UNIT.size, raw[: len(raw) - len(raw) % QUEUE_UNIT.size]

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """The first place and the place behind the last, None for an empty queue; found without reading all."""
        firsts = (next(self._units_of(file), None) for file in self.files)
        first = next((unit for unit in firsts if unit), None)
        last = self.last
        return None if first is None or last is None else (first.queue_offset, last.queue_offset + 1)

    @cached_property
    def last(self) -> Unit | None:
        """The last unit that was written."""
        return next((unit for file in reversed(self.files) if (unit := self._last_of(file))), None)

    def _last_of(self, file: File) -> Unit | None:
        # Written from the front: the border between units and zeros is found by halving.
        low, high = 0, file.size // QUEUE_UNIT.size
        base = file.start // QUEUE_UNIT.size
        if high and (unit := self._raw_unit(file, high - 1, base)) and not unit.is_filler:
            return unit
        while low < high:
            middle = (low + high) // 2
            unit = self._raw_unit(file, middle, base)
            if unit is not None and unit.size:
                low = middle + 1
            else:
                high = middle
        found = self._raw_unit(file, low - 1, base) if low else None
        return None if found is None or found.is_filler else found

    def _raw_unit(self, file: File, number: int, base: int) -> Unit | None:
        raw = self._reading.read(file.path, number * QUEUE_UNIT.size, QUEUE_UNIT.size)
        return Unit(base + number, *QUEUE_UNIT.struct.unpack(raw)) if len(raw) == QUEUE_UNIT.size else None


def _folders(folder: Path, reading: Reading) -> list[Path]:
    """The folders in a folder; none where the folder is missing or cannot be read."""
    folders: list[Path] = []
    with reading.noted(folder):
        if is_folder(folder, reading.roots):
            with entries(folder, reading.roots) as inside:
                for entry in inside:
                    with suppress(OSError):  # a link that leads outside, or to nothing
                        if S_ISDIR(status(str(folder / entry.name), entry, reading.roots).st_mode):
                            folders.append(folder / entry.name)
    return folders


class ConsumeQueues:
    """All queues of a store, by topic and queue id, as their folders are named."""

    def __init__(self, folder: Path, reading: Reading) -> None:
        self._queues: dict[tuple[str, int], Path] = {}
        self._numbers: dict[str, list[int]] = {}
        self._reading = reading
        for topic in _folders(folder, reading):
            for queue in _folders(topic, reading):
                if (number := whole_number(queue.name, _NUMBER_DIGITS)) is not None:
                    self._queues[topic.name, number] = queue
        for name, number in sorted(self._queues):
            self._numbers.setdefault(name, []).append(number)

    @property
    def is_whole(self) -> bool:
        """Whether the queues reach as far as the broker had written them."""
        return True

    def notes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What of them is not as the broker has it, as codes with their values."""
        yield from ()

    @property
    def topics(self) -> list[str]:
        """The topics that have a queue here."""
        return sorted(self._numbers)

    def of(self, topic: str) -> list[ConsumeQueue]:
        """A topic's queues, by number."""
        numbers = self._numbers.get(topic, ())
        return [ConsumeQueue(topic, number, self._queues[topic, number], self._reading) for number in numbers]

    def has(self, topic: str, queue_id: int) -> bool:
        """Whether this queue has a folder here."""
        return (topic, queue_id) in self._queues

    def unit(self, topic: str, queue_id: int, queue_offset: int) -> Unit | None:
        """The unit of one place. A topic out of a record is only compared with folders, never joined to a path."""
        folder = self._queues.get((topic, queue_id))
        return None if folder is None else ConsumeQueue(topic, queue_id, folder, self._reading).unit(queue_offset)
