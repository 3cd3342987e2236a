"""The records of a store a page at a time: by queue offset of a queue, or by physical offset in a file. No look-up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from idcore.store.commitlog import Blank, Miss, Skipped, Stored
from idcore.store.files import File
from idcore.store.folder import StoreFolder
from idcore.store.queue import ConsumeQueue


@dataclass(frozen=True, slots=True)
class Entry:
    """One place: a record, or why none is there. `queue_offset` is None in a file, `offset` where a place is empty."""

    queue_offset: int | None
    offset: int | None
    found: Stored | Miss | Blank | Skipped | None


def find_queue(store: StoreFolder, topic: str, queue_id: int) -> ConsumeQueue | None:
    """A queue of a topic by its number."""
    return next((queue for queue in store.queues.of(topic) if queue.queue_id == queue_id), None)


def of_queue(store: StoreFolder, queue: ConsumeQueue, first: int, most: int) -> list[Entry]:
    """The places of a queue from one on; those outside of what the queue has are left out."""
    begin, end = queue.span or (0, 0)
    entries = []
    for place in range(max(first, begin), min(max(first, begin) + most, end)):
        unit = queue.unit(place)
        found = None if unit is None else store.log.look(unit.physical_offset)
        entries.append(Entry(place, None if unit is None else unit.physical_offset, found))
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
    while (found := store.log.before(file, at)) is not None:
        yield found
        at = found.offset
