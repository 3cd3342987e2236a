"""The records of a store a page at a time: by queue offset of a queue, or by physical offset in a file. No look-up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from idcore.rocketmq.store.commitlog import Blank, Miss, Skipped, Stored
from idcore.rocketmq.store.files import File
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.queue import ConsumeQueue


@dataclass(frozen=True, slots=True)
class Entry:
    """One place: a record, or why none is there. `queue_offset` is None in a file, `offset` where a place is empty."""

    queue_offset: int | None
    offset: int | None
    found: Stored | Miss | Blank | Skipped | None


@dataclass(frozen=True, slots=True)
class Page:
    """So many places of a queue or a file; `before` and `after` are where the pages next to it begin."""

    entries: list[Entry]
    end: int  # of the queue or the file
    before: int | None
    after: int | None

    @property
    def ends(self) -> dict[str, str]:
        """The first and the last place, and the end of all, as figures of a sentence."""
        first, last = (
            each.offset if each.queue_offset is None else each.queue_offset
            for each in (self.entries[0], self.entries[-1])
        )
        return {"first": f"{first:,}", "last": f"{last:,}", "end": f"{self.end:,}"}


def queue_page(store: StoreFolder, queue: ConsumeQueue, asked: int | None, most: int) -> Page:
    """The places of a queue from the one that is asked for on, else from its first; no farther than it reaches."""
    begin, end = queue.span or (0, 0)
    first = begin if asked is None else max(begin, min(asked, max(begin, end - 1)))
    entries = of_queue(store, queue, first, most)
    after = first + len(entries)
    return Page(entries, end, first - most if first > begin else None, after if after < end else None)


def file_page(store: StoreFolder, file: File, asked: int | None, most: int) -> Page:
    """The same of a commit log file, by physical offset."""
    at = file.start if asked is None else max(file.start, min(asked, file.end - 1))
    entries, after = of_file(store, file, at, most)
    return Page(entries, file.end, page_before(store, file, at, most) if at > file.start else None, after)


def find_queue(store: StoreFolder, topic: str, queue_id: int) -> ConsumeQueue | None:
    """A queue of a topic by its number."""
    return next((queue for queue in store.queues.of(topic) if queue.queue_id == queue_id), None)


def of_queue(store: StoreFolder, queue: ConsumeQueue, first: int, most: int) -> list[Entry]:
    """The places of a queue from one on; those outside of what the queue has are left out."""
    begin, end = queue.span or (0, 0)
    entries = []
    for place in range(max(first, begin), min(max(first, begin) + most, end)):
        unit = queue.unit(place)
        stored = None if unit is None else store.log.look(unit.physical_offset)
        entries.append(Entry(place, None if unit is None else unit.physical_offset, stored))
    return entries


def find_file(store: StoreFolder, name: str) -> File | None:
    """A commit log file by its name."""
    return next((file for file in store.log.files if file.name == name), None)


def of_file(store: StoreFolder, file: File, at: int, most: int) -> tuple[list[Entry], int | None]:
    """What is in a file from the first record at an offset or behind it, and where the next page begins."""
    start = at if at == file.start or store.log.record_at(file, at) else store.log.after(file, at)
    if start is None:
        return [], None
    steps = list(islice(store.log.walk(start, file.end), most + 1))
    entries = [Entry(None, step.offset, step) for step in steps[:most]]
    return entries, steps[most].offset if len(steps) > most else None


def page_before(store: StoreFolder, file: File, at: int, most: int) -> int:
    """Where the page before an offset begins: so many records earlier, or at the beginning of the file."""
    for stored in islice(_backwards(store, file, at), most):
        at = stored.offset
    return at if store.log.before(file, at) else file.start


def _backwards(store: StoreFolder, file: File, at: int) -> Iterator[Stored]:
    while (stored := store.log.before(file, at)) is not None:
        yield stored
        at = stored.offset
