"""Index files, read only: which offsets are under topic#key. A hash is not proof: the caller reads the record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path

from idcore.base.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT, MOST_OFFSET
from idcore.base.open_folders import entries, file_status, is_file, is_folder
from idcore.rocketmq.message import hash_code
from idcore.rocketmq.store.files import Reading

SLOTS = 5_000_000  # maxHashSlotNum
_NAME = re.compile(r"[0-9]{17}")
_STEP = 1 << 22
# A tag of every message makes a chain as long as its file; what is far down one is not worth the wait. So many
# entries are looked at for all keys of a record, which may have thousands.
STEPS_MOST = 50_000
_KEPT_MOST, _WALKS_MOST = 200_000, 16  # entries of a walk that are kept, and walks
_TRIED_MOST = 100_000  # places that could be those of the last entry
GAP_MOST = 8 << 20  # so many bytes of the log have no entry where no file of the index is missing
_NOT_ZERO = re.compile(rb"[^\0]")


def key_of(topic: str, key: str) -> str:
    """The text that the index hashes."""
    return f"{topic}#{key}"


def tag_key_of(topic: str, tag: str) -> str:
    """What a 5.5 broker also hashes: once for each record with a tag."""
    return f"{topic}#T#{tag}"


def key_hash(text: str) -> int:
    """IndexFile.indexKeyHashMethod: the absolute value, and 0 for the one number that has no absolute value."""
    code = abs(hash_code(text))
    return 0 if code == 1 << 31 else code


def file_size(slots: int, entries: int) -> int:
    return INDEX_HEADER.size + slots * INDEX_SLOT.size + entries * INDEX_ENTRY.size


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, and its instant in whole seconds."""

    place: int
    key_hash: int
    physical_offset: int
    seconds: int
    previous: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """The file and the entry that lead to a record; no entry where it is too far down its chain to be looked for."""

    file: str
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Header:
    """The first forty bytes."""

    begin_timestamp: int
    end_timestamp: int
    begin_physical_offset: int
    end_physical_offset: int
    hash_slot_count: int
    index_count: int


class IndexFile:
    """One index file. It does not contain its number of slots: this follows from where its entries are."""

    def __init__(self, path: Path, size: int, reading: Reading, slots: int | None = None) -> None:
        self.path = path
        self.size = size
        self._reading = reading
        self._slots = slots
        self._walks: dict[int, _Walk] = {}

    @cached_property
    def header(self) -> Header | None:
        """None where the file is shorter than a header."""
        raw = self._reading.read(self.path, 0, INDEX_HEADER.size)
        return Header(*INDEX_HEADER.struct.unpack(raw)) if len(raw) == INDEX_HEADER.size else None

    @property
    def entries(self) -> int:
        """How many entries were written: places count from 1, and the header holds the next one."""
        return max(0, self.header.index_count - 1) if self.header else 0

    @cached_property
    def slots(self) -> int | None:
        """How many slots the file has, None where nothing in it says so."""
        if self._slots is not None or not self.entries:
            return self._slots
        rest = self.size - INDEX_HEADER.size - SLOTS * INDEX_SLOT.size
        if rest >= 0 and rest % INDEX_ENTRY.size == 0 and self._fits(SLOTS):
            return SLOTS
        return next((slots for slots in islice(self._slot_candidates(), _TRIED_MOST) if self._fits(slots)), None)

    def _slot_candidates(self) -> Iterator[int]:
        """From every place where the offset of the last entry is, as the header has it."""
        header = self.header
        assert header
        wanted = INDEX_ENTRY.struct.pack(0, header.end_physical_offset, 0, 0)[4:12]
        fixed = INDEX_HEADER.size + INDEX_ENTRY.size * self.entries + 4
        of_hash_0 = self._newest(0, 1) == self.entries  # slot 0: whether the last entry can be of hash 0
        for start, stop in self._reading.extents(self.path, self.size):
            for begin in range(max(start, fixed), stop, _STEP):
                raw = self._reading.read(self.path, begin, min(_STEP + 7, stop - begin))
                at = raw.find(wanted)
                while at >= 0:
                    if not of_hash_0 and raw[max(0, at - 4) : at] == bytes(4):
                        # of a file that was lost but for its header, every place reads as offset 0
                        more = _NOT_ZERO.search(raw, at)
                        at = raw.find(wanted, max(at + 1, more.start() - 7)) if more else -1
                        continue
                    if (begin + at - fixed) % INDEX_SLOT.size == 0 and begin + at > fixed:
                        yield (begin + at - fixed) // INDEX_SLOT.size
                    at = raw.find(wanted, at + 1)

    def _fits(self, slots: int) -> bool:
        """Whether first and last entry are what the header says, and the last is the newest of its slot."""
        header = self.header
        first, last = self._entry(1, slots), self._entry(self.entries, slots)
        if header is None or slots < 1 or first is None or last is None:
            return False
        return (
            first.physical_offset == header.begin_physical_offset
            and first.previous == 0
            and last.physical_offset == header.end_physical_offset
            and last.key_hash >= 0
            and first.key_hash >= 0
            and self._newest(last.key_hash, slots) == last.place
            and self._newest(first.key_hash, slots) >= 1
        )

    def _newest(self, hashed: int, slots: int) -> int:
        raw = self._reading.read(self.path, INDEX_HEADER.size + hashed % slots * INDEX_SLOT.size, INDEX_SLOT.size)
        return INDEX_SLOT.struct.unpack(raw)[0] if len(raw) == INDEX_SLOT.size else 0  # type: ignore[no-any-return]

    def _entry(self, place: int, slots: int) -> Entry | None:
        at = INDEX_HEADER.size + slots * INDEX_SLOT.size + place * INDEX_ENTRY.size
        raw = self._reading.read(self.path, at, INDEX_ENTRY.size)
        if len(raw) < INDEX_ENTRY.size:
            return None
        hashed, offset, seconds, previous = INDEX_ENTRY.struct.unpack(raw)
        begin = self.header.begin_timestamp if self.header else 0
        return Entry(place, hashed, offset, seconds, previous, begin + 1000 * seconds)

    def look_up(self, key: str, steps: Iterator[int]) -> Iterator[Entry]:
        """The entries whose hash is the key's, newest first. A chain that does not lead back in time ends there."""
        hashed = key_hash(key)
        return (entry for entry, _ in zip(self._chain(hashed), steps, strict=False) if entry.key_hash == hashed)

    def _chain(self, hashed: int) -> Iterator[Entry]:
        """Every entry of a slot, newest first."""
        slots = self.slots
        if not slots:
            return
        place = self._newest(hashed, slots)
        limit = self.header.index_count if self.header else 0
        while 0 < place <= limit:
            entry = self._entry(place, slots)
            if entry is None:
                return
            yield entry
            if entry.previous >= place:  # it points at an earlier entry, always
                return
            place = entry.previous

    def spans(self, offset: int) -> bool:
        """Whether a record at this offset would have its entries here, by the header."""
        header = self.header
        return header is not None and header.begin_physical_offset <= offset <= header.end_physical_offset

    def pointing_at(self, offset: int, key: str, steps: Iterator[int]) -> Pointer | None:
        """How a key leads to an offset. Chains run back through the log, so the search ends in front of it."""
        hashed = key_hash(key)
        # The walk along the chain of a hash, as far as it came for the records before.
        slot = hashed % self.slots if self.slots else 0
        walk = self._walks.pop(slot, None)
        if walk is None or len(walk.found) > _KEPT_MOST:
            walk = _Walk(self._chain(hashed))
        self._walks[slot] = walk
        while len(self._walks) > _WALKS_MOST:
            del self._walks[next(iter(self._walks))]
        while (entry := walk.found.get((offset, hashed))) is None and walk.lowest >= offset:
            if next(steps, None) is None:
                return Pointer(self.path.name, None)
            if not walk.step():
                return None
        return None if entry is None else Pointer(self.path.name, entry)


class _Walk:
    """The entries of one chain, read once for all the copies of an id: each of them hangs on the same chain."""

    __slots__ = ("_chain", "found", "lowest")

    def __init__(self, chain: Iterator[Entry]) -> None:
        self._chain = chain
        self.found: dict[tuple[int, int], Entry] = {}  # by offset and hash
        self.lowest = MOST_OFFSET

    def step(self) -> bool:
        """One entry further; False at the end."""
        entry = next(self._chain, None)
        if entry is not None:
            self.found.setdefault((entry.physical_offset, entry.key_hash), entry)
            self.lowest = entry.physical_offset
        return entry is not None


class Index:
    """The index files of a store, oldest first."""

    def __init__(self, folder: Path, reading: Reading, slots: int | None = None) -> None:
        self.files: list[IndexFile] = []
        self.strangers: list[str] = []
        names: list[str] = []
        with reading.noted(folder):
            if is_folder(folder, reading.roots):
                with entries(folder, reading.roots) as inside:
                    names = sorted(entry.name for entry in inside)
        for name in names:
            try:
                about = file_status(str(folder / name), reading.roots)
            except OSError:
                self.strangers.append(name)
                continue
            if _NAME.fullmatch(name) and is_file(about):
                self.files.append(IndexFile(folder / name, about.st_size, reading, slots))
            else:
                self.strangers.append(name)

    @cached_property
    def _written(self) -> list[Header]:
        return [file.header for file in self.files if file.header is not None and file.entries]

    @property
    def begin(self) -> int | None:
        """The offset of the first record with an entry; None without entries."""
        return min((header.begin_physical_offset for header in self._written), default=None)

    @property
    def end(self) -> int | None:
        """The offset of the last record with an entry: what is behind it is not in the index yet."""
        return max((header.end_physical_offset for header in self._written), default=None)

    @cached_property
    def is_whole(self) -> bool:
        """Whether every file can be read, and none is missing between two others."""
        for file in self.files:
            if file.header is None or (file.entries and not file.slots) or not (file.entries or file is self.files[-1]):
                return False
        gaps = (b.begin_physical_offset - a.end_physical_offset for a, b in pairwise(self._written))
        return all(gap < GAP_MOST for gap in gaps)

    def look_up(self, topic: str, key: str, steps: Iterator[int]) -> Iterator[Entry]:
        """The entries of a topic and key in all files, newest first, each offset once; as far as there are `steps`."""
        seen: set[int] = set()
        for file in reversed(self.files):
            for entry in file.look_up(key_of(topic, key), steps):
                if entry.physical_offset not in seen:
                    seen.add(entry.physical_offset)
                    yield entry

    def pointing_at(self, offset: int, keys: Iterable[str]) -> Iterator[Pointer | None]:
        """The entry through which each of the keys of a record (key_of, tag_key_of) leads to its offset."""
        files, steps = [file for file in self.files if file.spans(offset)], iter(range(STEPS_MOST))
        for key in keys:
            looked = (file.pointing_at(offset, key, steps) for file in files)
            yield next((pointer for pointer in looked if pointer is not None), None)

    def spans(self, offset: int) -> bool:
        """Whether a file has entries of records on both sides of an offset, or just there."""
        return any(file.spans(offset) for file in self.files)

    @property
    def entries(self) -> int:
        """How many entries there are in all."""
        return sum(file.entries for file in self.files)


def is_within(entry: Entry, begin: int | None, end: int | None) -> bool:
    """Whether it was stored from `begin` to `end`, in ms; an entry has its instant to the second."""
    return (begin is None or entry.timestamp + 999 >= begin) and (end is None or entry.timestamp <= end)
