"""Commit log files as text, each record as one line of the same length. It belongs to the split in which it begins.

Also counts topics, takes the copies that groups made, and reports where the log is damaged. Judges no id: the lines go
the way of every other text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np

from idcore.base.errors import refuse
from idcore.base.layout import DLEDGER_MAGIC
from idcore.kernels import records as kernel
from idcore.kernels.keys import SLACK
from idcore.sources.copies import Copies

_CHUNK = 512 << 10
_WINDOW = 8 << 20  # read before a split to find where its first record begins: more than the largest record has
_LARGEST = 65 << 20  # of a record, as for look-ups: a file of zeros that takes no room may have one of gigabytes
_TOPICS = 64
MOST_TAGS = 1_000  # of all topics; more of them, or very long ones, are data rather than names, and are not listed
MOST_TAG_BYTES = 64 * MOST_TAGS
_SPACES = b" " * ((1 << 16) - 1) + b"\n"


class RecordLines:
    """The lines of the records that begin in one split of one file, made as they are read."""

    def __init__(self, file: BinaryIO, path: str, start: int, stop: int) -> None:
        self._file = file
        self._base = int(os.path.basename(path))
        self._size = os.fstat(file.fileno()).st_size
        self._start, self._stop = start, min(stop, self._size)
        self._raw = np.zeros(0, np.uint8)
        self._origin = self._filled = 0
        self._place = self._gap = -1  # not looked for yet; no damage
        self._out = np.empty((1 << 18) + SLACK, np.uint8)
        self._sent = 0
        self._filler = 0  # bytes of text in the place of damage
        self._rows = np.zeros((_TOPICS, kernel.COLUMNS), np.int64)
        self._names = np.zeros(_TOPICS * 64 + SLACK, np.uint8)
        self._recent = np.full(1 << 14, -1, np.int64)
        self._state = np.zeros(kernel.STATE_SIZE, np.int64)
        self._state[kernel.FIRST_BAD_CRC] = -1
        self._tags = np.zeros((MOST_TAGS, kernel.COLUMNS), np.int64)
        self._tag_names = np.zeros(MOST_TAG_BYTES + SLACK, np.uint8)
        self._recent_tags = np.full(1 << 14, -1, np.int64)
        self._told = np.zeros(kernel.STATE_SIZE, np.int64)
        self._copies = Copies()
        self._problems: list[tuple[str, str]] = []  # codes with offsets
        self._damage: list[tuple[int, int]] = []
        self._ended = False

    def readinto(self, view: Any) -> int:
        """More text; what was wrong with the log is raised behind the last of it."""
        while self._sent == self._state[kernel.FILLED]:
            if self._filler:
                size = min(len(view), self._filler, len(_SPACES))
                view[:size] = _SPACES[len(_SPACES) - size :]
                self._filler -= size
                return size
            if self._ended:
                bad = int(self._state[kernel.FIRST_BAD_CRC])
                if bad >= 0:
                    self._problems.append(("record_crc", f"{bad:020d}"))
                if self._problems:
                    (code, offset), self._problems, self._state[kernel.FIRST_BAD_CRC] = min(self._problems), [], -1
                    raise refuse(code, offset=offset)
                return 0
            self._sent = self._state[kernel.FILLED] = 0
            self._more()
        size = min(len(view), int(self._state[kernel.FILLED]) - self._sent)
        view[:size] = self._out[self._sent : self._sent + size].data
        self._sent += size
        return size

    def begin(self) -> int:
        """Finds the first record of the split; where it begins in the file, the text begins."""
        self._place = self._first()
        return self._place

    def text_bytes(self) -> int:
        """The bytes of the records so far."""
        return int(self._rows[: int(self._state[kernel.ROWS]), kernel.BYTES].sum())

    def taken(self) -> int:
        """How much of the split was read."""
        return min(max(0, self._place - self._start), self._stop - self._start)

    def aside(self) -> bytes:
        """The topics and tags of the split, for `topics_of` and `tags_of`."""
        topics = _named(self._rows[: int(self._state[kernel.ROWS])], self._names)
        tags = None
        if not self._told[kernel.TAGS_CUT]:
            rows = _named(self._tags[: int(self._told[kernel.ROWS])], self._tag_names)
            tags = [[topics[topic][0], tag, messages, size] for tag, topic, messages, size, *_ in rows]
        return json.dumps({"topics": topics, "tags": tags}).encode()

    def copied(self, number: int) -> bytes:
        """The copies of the split of a file with this number, and where no record could be read, for `joined`."""
        topics = [name for name, *_ in _named(self._rows[: int(self._state[kernel.ROWS])], self._names)]
        return self._copies.found(number, self._start, topics, self.damage()).pack()

    def damage(self) -> np.ndarray:
        """Where in the log no record could be read: begin and end of each stretch."""
        left = [(self._base + max(0, self._place), self._base + self._stop)] if self._place < self._stop else []
        return np.array(self._damage + left, np.int64).reshape(-1, 2)

    # the walk; places count from the file's first byte

    def _more(self) -> None:
        if self._place >= self._stop:
            self._ended = True
            return
        if self._gap >= 0:  # the split begins in the middle of damage
            self._pass_damage(self._stop)
        else:
            self._step(self._stop, emit=True)

    def _step(self, stop: int, emit: bool) -> None:
        """One call of the kernel, and what its answer asks for."""
        self._see(self._place, min(_CHUNK, self._size - self._place), reload=False)
        state = self._state
        state[kernel.AT] = self._place - self._origin
        end, base = self._size - self._origin, self._base + self._origin
        log = kernel.Log(self._raw, self._filled, stop - self._origin, base, end)
        what = self._walk(log) if emit else kernel.skip(log, state)
        self._place = self._origin + int(state[kernel.AT])
        if what == kernel.MORE:
            size = _size_of(self._raw[self._place - self._origin : self._filled])
            if size > _LARGEST:
                self._pass_damage(stop, 4)
            else:
                self._see(self._place, max(_CHUNK, size), reload=True)
        elif what == kernel.BLANK:
            self._place = self._size
        elif what == kernel.FULL:
            self._make_room()
        elif what == kernel.NO_RECORD:
            self._pass_damage(stop)

    def _walk(self, log: kernel.Log) -> int:
        """What is made of the records; what ended it."""
        topics = kernel.RecordCounts(self._rows, self._names, self._recent, self._state)
        tags = kernel.RecordCounts(self._tags, self._tag_names, self._recent_tags, self._told)
        ended = int(kernel.records(log, self._out, topics, tags, self._copies.places))
        self._copies.take(log, int(self._state[kernel.PLACES]))
        self._state[kernel.PLACES] = 0
        return ended

    def _make_room(self) -> None:
        """Called when the kernel has no room left. A walk that keeps other things makes room for those."""
        if not self._state[kernel.FILLED] and not self._longer():
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._names = np.concatenate([self._names, np.zeros(max(len(self._names), 1 << 16), np.uint8)])

    def _longer(self) -> bool:
        """Room for a line as long as the record at hand; False where it was not that which was missing."""
        at = int(self._state[kernel.AT])
        size = _size_of(self._raw[at:])
        if size <= len(self._out):
            return False
        self._out = np.empty(size + SLACK, np.uint8)
        return True

    def _see(self, place: int, size: int, reload: bool) -> None:
        """Has the bytes from `place` on in memory: at least one, and `size` of them after a reload."""
        if not reload and self._origin <= place < self._origin + self._filled:
            return
        size = min(size, self._size - place)
        if size + SLACK > len(self._raw):
            self._raw = np.zeros(size + SLACK, np.uint8)
        self._file.seek(place)
        filled = 0
        while filled < size and (got := self._file.readinto(self._raw[filled:size].data)):  # type: ignore[attr-defined]
            filled += got
        self._origin, self._filled = place, filled
        if filled < size:
            raise refuse("shorter")

    def _pass_damage(self, stop: int, passed: int = 0) -> None:
        """From bytes that are not a record to the next record. Zeros behind which nothing comes are not damage.

        In the first `passed` bytes none is looked for. Damage has one place, where it begins, in any split that sees
        it.
        """
        began = self._place if self._gap < 0 else self._gap
        place, zeros = self._next(self._place + passed, stop)
        if place is not None or not zeros:
            self._problems.append(("log_damaged", f"{self._base + began:020d}"))
            end = stop if place is None else place
            self._damage.append((self._base + self._place, self._base + end))
        if place is not None:
            self._filler += place - self._place
        self._place, self._gap = (stop, began) if place is None else (place, -1)

    def _next(self, place: int, stop: int) -> tuple[int | None, bool]:
        """The first record that begins from `place` up to `stop`; and whether all before it is zero."""
        zeros = True
        while place < stop:
            self._see(place, min(_CHUNK, self._size - place), reload=True)
            seen = self._raw[: self._filled]
            judged = self._filled if place + self._filled == self._size else self._filled - kernel.LONGEST_HEAD
            if seen[:judged].any():
                end, base = self._size - place, self._base + place
                at = int(kernel.next_record(self._raw, 0, self._filled, base, end))
                if at < judged and at + 8 <= self._filled:
                    limit = min(at, stop - place)
                    zeros = zeros and not seen[:limit].any()
                    return (place + at if place + at < stop else None), zeros
                zeros = zeros and not seen[: min(judged, stop - place)].any()
            place += max(1, judged)
        return None, zeros

    def _first(self) -> int:
        """Where the first record of the split begins: where a walk through the whole file would find it."""
        if self._start == 0:
            return 0
        window = _WINDOW
        while True:
            begin = max(0, self._start - window)
            self._place = begin
            if begin:
                first, _ = self._next(begin, self._start)
                if first is None:
                    window *= 4
                    continue
                self._place = first
            while self._place < self._start:
                self._step(self._start, emit=False)
            self._problems.clear()  # the split that contains them reports them
            self._damage.clear()
            self._filler = 0
            return self._place


def _size_of(seen: np.ndarray) -> int:
    """What the record or DLedger entry that begins there says of its size; 0 where too little is seen."""
    first, second = (int.from_bytes(seen[at : at + 4].tobytes(), "big") for at in (0, 4))
    return 0 if len(seen) < 8 else second if first == DLEDGER_MAGIC else first


def _named(rows: np.ndarray, names: np.ndarray) -> list[list[Any]]:
    """Rows of the kernel with their names in front."""
    return [
        [names[row[0] : row[0] + row[1]].tobytes().decode("utf-8", "replace"), *row[2 : kernel.TOPIC]]
        for row in rows.tolist()
    ]


# messages, bytes, store times, offsets, queue offsets, CRCs that do not agree
_FOLDS: tuple[Callable[[Iterable[int]], int], ...] = (sum, sum, min, max, min, max, min, max, sum)


def topics_of(values: Iterable[bytes]) -> list[list[Any]]:
    """One row for each topic and queue out of those of many splits."""
    rows: dict[tuple[str, int], list[int]] = {}
    for data in values:
        for name, queue, *figures in json.loads(data)["topics"]:
            row = rows.setdefault((name, queue), figures)
            if row is figures:
                continue
            for at, fold in enumerate(_FOLDS):
                row[at] = fold((row[at], figures[at]))
    return [[*key, *rows[key]] for key in sorted(rows)]


def tags_of(values: Iterable[bytes]) -> list[list[Any]]:
    """Topic, tag, messages and bytes; a tag is "" for messages without one, None where there are too many to be listed.

    The messages of a topic's rows are all its messages, at any split.
    """
    splits = [json.loads(data) for data in values]
    whole: dict[str, list[int]] = {}
    tagged: dict[tuple[str, str], list[int]] = {}
    for split in splits:
        for name, _, messages, size, *_ in split["topics"]:
            _add(whole, name, messages, size)
        for name, tag, messages, size in split["tags"] or ():
            _add(tagged, (name, tag), messages, size)
    long = sum(len(tag.encode()) for _, tag in tagged) > MOST_TAG_BYTES
    if long or len(tagged) > MOST_TAGS or any(split["tags"] is None for split in splits):
        return [[name, None, *whole[name]] for name in sorted(whole)]
    rest = {(name, ""): [*figures] for name, figures in whole.items()}
    for (name, _), (messages, size) in tagged.items():
        rest[name, ""][0] -= messages
        rest[name, ""][1] -= size
    rows = tagged | {key: figures for key, figures in rest.items() if figures[0]}
    return [[*key, *rows[key]] for key in sorted(rows)]


def _add(figures: dict[Any, list[int]], key: Any, messages: int, size: int) -> None:
    known = figures.setdefault(key, [0, 0])
    known[0] += messages
    known[1] += size
