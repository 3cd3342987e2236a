"""The commit log, read only: a record by its offset, or the reason of a miss; every record in turn, past damage.

A broker answers any offset with any bytes there (selectOneMessageByOffset). Here a record counts only where its own
physicalOffset says so, and where the records around it lead to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from idcore.base.errors import CoreError, refuse
from idcore.base.layout import (
    BLANK,
    BLANK_MAGIC,
    DLEDGER_BLANK,
    DLEDGER_ENTRY,
    DLEDGER_MAGIC,
    PROPERTIES_LENGTH,
    RECORD_HEADS,
    TOPIC_LENGTHS,
)
from idcore.rocketmq.message import Record, decode_record, parts
from idcore.rocketmq.message.bodies import LARGEST_BODY
from idcore.rocketmq.message.record import SMALLEST, head_of
from idcore.rocketmq.store.files import File, Reading, first_and_last_byte, list_files

_RECORD_MAGIC = re.compile(rb"\xda\xa3\x20[\xa7\xab]")  # as TOPIC_LENGTHS has them, with a beginning to search for
_BLANK_MAGIC = BLANK_MAGIC.to_bytes(4, "big")
_LONGEST_HEAD = max(head.size for head in RECORD_HEADS.values())
_FIRST_WINDOW = 1 << 16
LOOKED_FOR_RECORDS = 8 << 20  # a record of the broker's largest size, and half of the one before it
_WINDOW = 1 << 22
_BEHIND = 40  # bytes that are read behind a window: size, magic and offset of a record that begins in it
# A search ends after so many places that could be a key or a record: a text of one letter is everywhere. So does that
# of a window for a record: of a real log the first place is one.
_TRIED_MOST = 2_000
LARGEST = LARGEST_BODY + (1 << 20)  # of a record: one of a gigabyte of zeros takes no room, and four in memory
_HELD_MOST = 256 << 20  # bytes of the records that a search holds


@dataclass(frozen=True, slots=True)
class Stored:
    offset: int
    record: Record
    file: str

    @property
    def end(self) -> int:
        return self.offset + self.record.size


@dataclass(frozen=True, slots=True)
class Blank:
    """The padding at the end of a file."""

    offset: int
    size: int
    file: str

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True, slots=True)
class Skipped:
    """Bytes that are not a record: what is wrong with the first of them, and whether they are all zero."""

    offset: int
    end: int
    file: str
    problem: CoreError
    field: str | None
    zeros: bool
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Miss:
    """Why no record begins at an offset, with the evidence."""

    reason: str
    evidence: dict[str, Any]


class CommitLog:
    """The files of one commit log as they were when it was opened.

    A broker with DLedger writes into a folder of its own, each record behind the head of an entry. `older` is then the
    log from before, whose files come first.
    """

    def __init__(self, folder: Path, reading: Reading | None = None, older: Path | None = None) -> None:
        self.folder = folder
        self.reading = reading or Reading()
        self.files, self.strangers = list_files(folder, self.reading.roots)
        self._in_entries = is_dledger(folder)
        if older is not None:
            first = self.files[0].start if self.files else None
            before, strangers = list_files(older, self.reading.roots)
            self.files = [file for file in before if first is None or file.start < first] + self.files
            self.strangers = sorted({*self.strangers, *strangers})

    @property
    def minimum(self) -> int | None:
        """Where the log begins: the first file's name. None without a file."""
        return self.files[0].start if self.files else None

    @cached_property
    def end(self) -> int | None:
        """The offset behind the last record, or behind the padding of the last file."""
        for file in reversed(self.files):
            used = first_and_last_byte(self.reading, file.path, 0, file.size)
            if used is None:
                continue
            last = self.before(file, file.end)
            at = last.end if last else file.start
            blank = self.blank_at(file, at)
            return blank.end if blank else at
        return self.minimum

    def file_of(self, offset: int) -> File | None:
        """The file that contains an offset."""
        return next((file for file in reversed(self.files) if file.start <= offset < file.end), None)

    # one record

    def record_at(self, file: File, offset: int) -> Stored | None:
        """The record that begins there and says so itself."""
        size = self._size_at(file, offset)
        if size is None:
            return None
        try:
            return Stored(offset, decode_record(self._read(file, offset, size)), file.name)
        except CoreError:  # the lengths agree, a value does not
            return None

    def _read(self, file: File, offset: int, size: int) -> bytes:
        return self.reading.read(file.path, offset - file.start, min(size, file.end - offset))

    def _size_at(self, file: File, offset: int) -> int | None:
        """total_size of a record whose lengths add up to it, and whose physicalOffset is its place; reads no body."""
        raw = self._read(file, offset, _LONGEST_HEAD + 2)
        if len(raw) < SMALLEST:
            return None
        size, magic = BLANK.struct.unpack_from(raw)
        if magic not in TOPIC_LENGTHS or not SMALLEST <= size <= LARGEST or offset + size > file.end:
            return None
        head = head_of(int.from_bytes(raw[36:40], "big", signed=True))
        if len(raw) < head.size or int.from_bytes(raw[28:36], "big", signed=True) != offset:
            return None
        body = int.from_bytes(raw[head.size - 4 : head.size], "big", signed=True)
        topic_length = TOPIC_LENGTHS[magic]
        at = offset + head.size + body
        if body < 0 or at >= offset + size:
            return None
        (topic,) = topic_length.struct.unpack(self._read(file, at, topic_length.size).ljust(topic_length.size, b"\xff"))
        at += topic_length.size + topic
        if topic < 0 or at + PROPERTIES_LENGTH.size > offset + size:
            return None
        (properties,) = PROPERTIES_LENGTH.struct.unpack(self._read(file, at, 2).ljust(2, b"\xff"))
        return size if properties >= 0 and at + 2 + properties == offset + size else None

    def blank_at(self, file: File, offset: int) -> Blank | None:
        """The padding that begins there; it has to reach the file's end."""
        raw = self._read(file, offset, BLANK.size)
        if len(raw) < BLANK.size:
            return None
        size, magic = BLANK.struct.unpack(raw)
        if self._in_entries and int.from_bytes(raw[:4], "big", signed=True) == DLEDGER_BLANK:
            size, magic = magic, BLANK_MAGIC  # the other way round
        return Blank(offset, size, file.name) if magic == BLANK_MAGIC and offset + size == file.end else None

    def _entry_at(self, file: File, offset: int) -> bool:
        """Whether the head of a DLedger entry is there, which says so itself."""
        raw = self._read(file, offset, DLEDGER_ENTRY.size) if self._in_entries else b""
        if len(raw) < DLEDGER_ENTRY.size:
            return False
        magic, size, _, _, position, _, _, _, body = DLEDGER_ENTRY.struct.unpack(raw)
        return bool(magic == DLEDGER_MAGIC and position == offset and size == DLEDGER_ENTRY.size + body)

    def before(self, file: File, offset: int) -> Stored | None:
        """The last record of a file that begins before an offset, found by its magic, backwards."""
        near = max(file.start, offset - _FIRST_WINDOW)
        stored = self._last_in(file, near, offset + _BEHIND, offset)
        if stored or near == file.start:
            return stored
        # Further back it may be a long way through what was never written; where that is a hole it is not work.
        for begin, end in reversed(list(self.reading.extents(file.path, near + _BEHIND - file.start))):
            stop = file.start + end
            while stop > file.start + begin:
                start = max(file.start + begin, stop - _WINDOW)
                if stored := self._last_in(file, start, stop + _BEHIND, offset):  # a head may be across the border
                    return stored
                stop = start
        return None

    def _last_in(self, file: File, start: int, stop: int, offset: int) -> Stored | None:
        """The last record before `offset` whose magic is in a stretch."""
        raw = self._read(file, start, stop - start)
        for place in islice(reversed(_beginnings(raw, start)), _TRIED_MOST):
            if file.start <= place < offset and (stored := self.record_at(file, place)):
                return stored
        return None

    def after(self, file: File, offset: int) -> int | None:
        """The place of the first record or padding from an offset on, or None."""
        for begin, end in self.reading.extents(file.path, file.size, offset - file.start):
            for start in range(file.start + begin, file.start + end, _WINDOW):
                places = _beginnings(self._read(file, start, _WINDOW + _BEHIND), start, file.end)
                for place in islice((one for one in places if one >= offset), _TRIED_MOST):
                    if place >= offset and (self._size_at(file, place) or self.blank_at(file, place)):
                        return place
        return None

    def next_to(self, stored: Stored) -> tuple[Stored | None, Stored | None]:
        """The record before and the record after one, past padding and damage."""
        place = next(at for at, file in enumerate(self.files) if file.name == stored.file)
        earlier = self.before(self.files[place], stored.offset)
        for file in reversed(self.files[:place]):
            if earlier:
                break
            earlier = self.before(file, file.end)
        later = next((item for item in self.walk(stored.end) if isinstance(item, Stored)), None)
        return earlier, later

    # an offset somebody asks for

    def look(self, offset: int) -> Stored | Miss:
        """The record that begins at an offset, or the reason of a miss."""
        if self.minimum is None:
            return Miss("beyond_end", {"offset": offset, "end": 0, "files": 0})
        if offset < self.minimum:
            return Miss("before_minimum", {"offset": offset, "minimum": self.minimum})
        file = self.file_of(offset)
        if file is None:
            return self._between(offset)
        item = self.record_at(file, offset)
        if item is None:
            return self._nothing_at(file, offset)
        earlier = self.before(file, offset)
        if earlier is None or earlier.end <= offset:
            return item
        # Bytes inside a body can look like a record at its place: what is reached from the file's start decides.
        for step in self.walk(file.start, file.end):
            if step.offset == offset:
                return item
            if isinstance(step, Stored) and step.offset < offset < step.end:
                return _mid_record(step, offset)
        return item

    def _between(self, offset: int) -> Miss:
        later = next((file for file in self.files if file.start > offset), None)
        earlier = next((file for file in reversed(self.files) if file.end <= offset), None)
        first = earlier.end if earlier else offset
        if later is None:
            sizes = {file.size for file in self.files[:-1]}
            evidence: dict[str, Any] = {"offset": offset, "end": self.end, "last_file": self.files[-1].name}
            if sizes and self.files[-1].size < max(sizes):
                evidence["last_file_short_by"] = max(sizes) - self.files[-1].size
            return Miss("beyond_end", evidence)
        return Miss("hole", {"offset": offset, "first": first, "last": later.start - 1, "next_file": later.name})

    def _nothing_at(self, file: File, offset: int) -> Miss:
        earlier = self.before(file, offset)
        if earlier and earlier.end > offset:
            return _mid_record(earlier, offset)
        start = earlier.end if earlier else file.start
        if self._entry_at(file, start):
            begin = start + DLEDGER_ENTRY.size
            following = self.record_at(file, begin)
            if offset < begin and following is not None:
                known: dict[str, Any] = {"offset": offset, "entry_offset": start, "record_offset": following.offset}
                return Miss("mid_record", known | {"offset_msg_id": str(following.record.offset_id)})
            start = begin if offset >= begin else start
        blank = self.blank_at(file, start)
        if blank:
            return Miss("blank", {"offset": offset, "blank_offset": start, "size": blank.size, "file": file.name})
        if why := self.reading.problems.get(file.path):
            known = {"offset": offset, "first": start, "last": file.end - 1, "file": file.name, "problem": why.coded()}
            return Miss("hole", known)
        used = first_and_last_byte(self.reading, file.path, start - file.start, file.size)
        if used is None or offset >= file.start + used[1]:
            later = [other for other in self.files if other.start > file.start]
            written = [o for o in later if first_and_last_byte(self.reading, o.path, 0, o.size) is not None]
            if written and used is None:
                return Miss("hole", {"offset": offset, "first": start, "last": file.end - 1, "file": file.name})
            if not written:
                return Miss("beyond_end", {"offset": offset, "end": self.end, "last_file": self.files[-1].name})
        place = self.after(file, start)
        stop = file.end if place is None else place
        zeros = first_and_last_byte(self.reading, file.path, start - file.start, stop - file.start) is None
        if zeros:
            return Miss("hole", {"offset": offset, "first": start, "last": stop - 1, "file": file.name})
        problem = self._problem(file, start)
        return Miss(
            "damaged",
            {
                "offset": offset,
                "first": start,
                "last": stop - 1,
                "file": file.name,
                "field": problem.field,
                "byte": problem.byte,
                "problem": problem.coded(),
            },
        )

    def _problem(self, file: File, offset: int) -> CoreError:
        """What keeps the bytes there from being a record."""
        raw = self._read(file, offset, 8)
        size = int.from_bytes(raw[:4], "big", signed=True)
        raw = self._read(file, offset, max(_LONGEST_HEAD, min(size, _WINDOW * 4)))
        try:
            record = decode_record(raw)
        except CoreError as problem:
            return problem.without_stack()
        stored_offset = record.physical_offset
        return CoreError("misplaced", {"offset": stored_offset}, "physical_offset", 28)

    # all of them

    def walk(self, start: int | None = None, stop: int | None = None) -> Iterator[Stored | Blank | Skipped]:
        """Everything in turn, from an offset that begins a record. Damage is skipped, and what was skipped is said."""
        expected = None
        for file in self.files:
            if (start is not None and file.end <= start) or (stop is not None and file.start >= stop):
                continue
            if expected is not None and expected < file.start:
                yield Skipped(expected, file.start, "", refuse("no_file"), None, False, True)
            begin = file.start if start is None else max(start, file.start)
            yield from self._walk_file(file, begin, file.end if stop is None else min(stop, file.end))
            expected = file.end

    def _walk_file(self, file: File, at: int, stop: int) -> Iterator[Stored | Blank | Skipped]:
        begin, raw = at, b""
        while at < stop:
            at += DLEDGER_ENTRY.size if self._entry_at(file, at) else 0
            if at - begin + 8 > len(raw) or at - begin + int.from_bytes(raw[at - begin : at - begin + 4], "big") > len(
                raw
            ):
                # a size is believed where the lengths behind it agree: a damaged one may be as large as the file
                size = self._size_at(file, at) or _WINDOW
                begin, raw = at, self._read(file, at, max(_WINDOW, size))
            problem = None
            try:
                record = decode_record(raw, at - begin)
                if record.physical_offset != at:
                    problem = self._problem(file, at)
            except CoreError as error:
                problem = error.without_stack()
            if problem is None:
                yield Stored(at, record, file.name)
                at += record.size
                continue
            blank = self.blank_at(file, at)
            if blank:
                yield blank
                return
            used = first_and_last_byte(self.reading, file.path, at - file.start, file.size)
            if used is None:  # nothing was written here yet, or never will be: the caller sees it from what follows
                if file is not self.files[-1] and self.end is not None and self.end > file.end:
                    yield Skipped(at, file.end, file.name, refuse("zeros"), None, True)
                return
            place = self.after(file, at + 1)
            end = file.end if place is None else place
            zeros = used[0] >= end - file.start
            why = refuse("zeros") if zeros else problem
            yield Skipped(at, end, file.name, why, None if zeros else problem.field, zeros)
            at = end

    def search(self, key: bytes, most: int, enough: Callable[[], bool] = bool) -> tuple[list[Stored], int]:
        """The records that have a key where keys are, and how many bytes were searched: newest file first.

        Once `enough` is true no more is searched.
        """
        by_offset: dict[int, Stored] = {}
        searched = tried = held = 0
        wanted = re.compile(b"[\x01 ]" + re.escape(key))
        for file in reversed(self.files):
            for start, stop in self.reading.extents(file.path, file.size):
                for at in range(start, stop, _WINDOW):
                    if searched >= most or tried >= _TRIED_MOST or held > _HELD_MOST or enough():
                        return sorted(by_offset.values(), key=lambda stored: stored.offset), searched
                    raw = self.reading.read(file.path, at, min(_WINDOW + len(key), stop - at))
                    searched += min(_WINDOW, len(raw))
                    for match in islice(wanted.finditer(raw), _TRIED_MOST - tried):
                        tried += 1
                        place = file.start + at + match.start()
                        stored = self.before(file, place + 1)
                        if stored and stored.end >= place + 1 + len(key):
                            held += 0 if stored.offset in by_offset else stored.record.size
                            by_offset[stored.offset] = stored
                        if held > _HELD_MOST:
                            break
        return sorted(by_offset.values(), key=lambda stored: stored.offset), searched


def is_dledger(folder: Path) -> bool:
    """Whether a folder is where DLedger keeps its log: data in dledger-ID (DLedgerConfig.getDataStorePath)."""
    return folder.name == "data" and folder.parent.name.startswith("dledger-")


def _beginnings(raw: bytes, base: int, end: int | None = None) -> list[int]:
    """Where in bytes of a log from `base` on a record can begin, by its magic and its own offset.

    With the file's end also where the padding at the end can begin, by its size.

    The patterns contain the high bytes of both: a file of nothing but magics takes little longer than any other.
    """
    last = base + len(raw)
    highs = b"|".join(re.escape(at.to_bytes(8, "big")[:5]) for at in range(base >> 24 << 24, last, 1 << 24))
    places = [
        place
        for match in re.finditer(_RECORD_MAGIC.pattern + b"(?=.{20}(?:%b))" % highs, raw, re.DOTALL)
        if raw[match.end() + 20 : match.end() + 28]
        == (place := base + match.start() - 4).to_bytes(8, "big", signed=True)
    ]
    tops = b"" if end is None else bytes(range(max(0, end - last >> 24), min(0x7F, end - base >> 24) + 1))
    if tops:
        blanks = re.finditer(b"%b(?<=[%b].{7})" % (re.escape(_BLANK_MAGIC), re.escape(tops)), raw, re.DOTALL)
        places += [base + match.start() - 4 for match in blanks]
    return sorted(places)


def place_of(raw: bytes) -> int | None:
    """The offset of the first of some bytes out of a commit log, by the first record in them; None without a record."""
    for match in islice(_RECORD_MAGIC.finditer(raw), _TRIED_MOST):
        at = match.start() - 4
        try:
            start = decode_record(raw, at).physical_offset - at if at >= 0 else -1
        except CoreError:
            continue
        if start >= 0:
            return start
    return None


def _mid_record(stored: Stored, offset: int) -> Miss:
    byte = offset - stored.offset
    field = next(part.name for part in parts(stored.record) if part.start <= byte < part.stop)
    return Miss(
        "mid_record",
        {
            "offset": offset,
            "record_offset": stored.offset,
            "record_size": stored.record.size,
            "byte": byte,
            "field": field,
            "offset_msg_id": str(stored.record.offset_id),
        },
    )
