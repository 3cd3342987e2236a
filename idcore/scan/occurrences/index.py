"""The index of a run: its places filtered, ordered, a page at a time with their lines. Makes no index, shows nothing.

Memory goes by the rows that fit the filter: each is one number, its row in the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.base import plain_json
from idcore.base.encodings import text_of_line
from idcore.base.errors import CoreError
from idcore.base.layout import USUAL_OF_PROCESSES
from idcore.base.open_folders import Roots
from idcore.base.parquet_footer import metadata_of
from idcore.ids.clock import NO_TIME
from idcore.runs import table_sizes
from idcore.runs.runs import RunError
from idcore.runs.table_sizes import CELL, files_fit
from idcore.scan.occurrences.key_words import without_letters, words_of
from idcore.scan.occurrences.texts import Block, Source, read

NAME = "index.json"
VERSION = 1
_PART = re.compile(r"[0-9]+-[0-9]+")
MOST_ROWS = 1 << 40  # of one part: what is more was not counted
SEGMENT_SHIFT = 30
LONGEST_LINE = 4 << 10  # bytes of a line that a page shows
_SEARCHED = 32 << 20  # bytes of text that are looked through at once
_THREADS = 2
Allowed = Callable[[str], Roots]  # asked before a file is opened: in which folders it has to be
KINDS = ("uniq", "offset", "client")
_NONE = np.zeros(0, np.int64)
_NO_NAME = r"[^%|\w-]"  # what a name of a topic cannot have
_COUNTS = pa.schema([("name", pa.string()), ("from_ms", pa.int64()), ("ids", pa.int64())])


def _anyone(_: str) -> None:
    """Every file may be read: the caller has asked before."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What rows are wanted. Empty texts ask for nothing; times are milliseconds, from `start` to before `stop`."""

    kind: str = ""
    host: str = ""
    process: tuple[str, ...] = ()  # host, pid, loader, and the layout where it is not the usual one
    client: tuple[str, ...] = ()  # mac, pid
    broker: str = ""
    segment: str = ""
    file: str = ""
    ids: tuple[str, ...] = ()
    text: str = ""
    topic: str = ""
    start: int | None = None
    stop: int | None = None

    @property
    def timed(self) -> bool:
        return self.start is not None or self.stop is not None

    @property
    def sides(self) -> tuple[Filter, Filter] | None:
        """The same of its producer and of its broker, where both are asked for: no ID has both, but a line may."""
        if not (self.host or self.process or self.client) or not (self.broker or self.segment):
            return None
        rest = replace(self, kind="")
        return replace(rest, broker="", segment=""), replace(rest, host="", process=(), client=())


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of the index that fit a filter, in order; how many were left out because their time is not known."""

    rows: np.ndarray
    undated: int = 0

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place of an id. `line` counts from 1; `at` and `size` are the id's digits in `text`, in characters.

    `problem` says why there is no text.
    """

    row: int
    file: str
    line: int
    byte: int
    id: str  # as its line has it; empty where there is no text
    kind: str
    names: dict[str, str]
    sent_ms: int | None
    text: str = ""
    at: int = 0
    cut: bool = False
    problem: CoreError | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the line of an id is: the number of its text, and its bytes there."""

    text: str
    begin: int
    end: int


@dataclass(frozen=True)
class IndexPart:
    """One piece of the index."""

    folder: Path
    name: str
    first: int  # its first row in the whole index
    rows: int

    def column(self, name: str) -> np.ndarray:
        (column,) = self.columns([name])
        return column

    def columns(self, names: Sequence[str], groups: Sequence[int] | None = None) -> list[np.ndarray]:
        """All rows of some columns, or those of some row groups."""
        with pq.ParquetFile(self._path("places"), metadata=self._metadata) as file:
            every = range(self._metadata.num_row_groups) if groups is None else groups
            table = file.read_row_groups([*every], [*names], use_threads=False)
        return [table[name].to_numpy() for name in names]

    def timed(
        self, start: int | None, stop: int | None, names: Sequence[str] = (), *, undated: bool = False
    ) -> list[np.ndarray]:
        """`sent_ms` and some columns, of the row groups that may have a time from `start` to before `stop`.

        `undated`: also of those that may have a row without a time.
        """
        return self.columns(["sent_ms", *names], np.flatnonzero(self.may_have_time(start, stop, undated)).tolist())

    def may_have_time(self, start: int | None, stop: int | None, undated: bool = False) -> np.ndarray:
        """Of each row group whether it may have a row with a time in a range, by its statistics."""
        least, most = self.bounds("sent_ms")
        is_open = least == NO_TIME  # its least time is not known
        fits = np.ones(len(least), np.bool_)
        if start is not None:
            fits &= most >= start
        if stop is not None:
            fits &= is_open | (least < stop)
        return fits | is_open if undated else fits

    def bounds(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest value of a column in each row group; the widest ones where no statistics are."""
        if name not in self._bounds:
            place = self._metadata.schema.names.index(name)
            known = [group.column(place).statistics for group in self._row_groups]
            widest = np.iinfo(np.int64)
            self._bounds[name] = (
                np.array([one.min if one and one.has_min_max else widest.min for one in known], np.int64),
                np.array([one.max if one and one.has_min_max else widest.max for one in known], np.int64),
            )
        return self._bounds[name]

    @cached_property
    def _bounds(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        return {}

    @cached_property
    def _row_groups(self) -> list[pq.RowGroupMetaData]:
        return [self._metadata.row_group(number) for number in range(self._metadata.num_row_groups)]

    @cached_property
    def edges(self) -> np.ndarray:
        """The first row of each row group, and the end of the last."""
        return np.cumsum([0, *(group.num_rows for group in self._row_groups)])

    def _table(self, what: str) -> pa.Table:
        self._refuse_unless(files_fit([self._path(what)]))
        with pq.ParquetFile(self._path(what)) as file:
            return file.read(use_threads=False)

    def _path(self, what: str) -> Path:
        return self.folder / f"{self.name}.{what}.parquet"

    def _refuse_unless(self, fits: bool) -> None:
        """RunError of a file that somebody made to be much more in memory."""
        if not fits:
            raise self._damaged()

    def _damaged(self) -> RunError:
        run = self.folder.parent.name
        return RunError("table_damaged", {"name": run, "table": self.folder.name}, "table", None, self.folder.name)

    @cached_property
    def keys(self) -> np.ndarray:
        table = self._table("keys")
        return np.column_stack([table[name].to_numpy() for name in table.column_names])

    def slots(self, hosts: Collection[int]) -> dict[tuple[int, int, int], list[int]]:
        """The slots of each key of these hosts, named by its second word: one part can have millions of keys.

        A 5.x client has several slots, for the letter cases of its IDs.
        """
        slots: dict[tuple[int, int, int], list[int]] = {}
        places = np.flatnonzero(np.isin(self.keys[:, 1], np.array([*hosts], np.uint64)))
        for slot, (first, second, third) in zip(places.tolist(), self.keys[places].tolist(), strict=True):
            slots.setdefault((first, second, without_letters(third)), []).append(slot)
        return slots

    @cached_property
    def names(self) -> pa.Table:
        """What the tables of the run call each key: layout, kind, host, pid, loader, mac, address."""
        return self._table("names")

    def called(self, slot: int) -> dict[str, Any]:
        """The row of `names` for one key."""
        if slot not in self._named:
            self._named[slot] = self.names.slice(slot, 1).to_pylist()[0]
        return self._named[slot]

    @cached_property
    def _named(self) -> dict[int, dict[str, Any]]:
        return {}

    @cached_property
    def texts(self) -> list[dict[str, Any]]:
        return self._table("texts").to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def blocks(self) -> list[dict[str, Any]]:
        return self._table("blocks").to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def _metadata(self) -> pq.FileMetaData:
        self._refuse_unless(table_sizes.is_file(self._path("places")))
        try:
            with self._path("places").open("rb") as file:
                metadata = metadata_of(file, is_table=True)  # of numbers alone
        except CoreError as damage:
            raise self._damaged() from damage
        self._refuse_unless(metadata.num_rows * metadata.num_columns * CELL <= table_sizes.MOST)
        return metadata

    def take(self, rows: np.ndarray) -> pa.Table:
        """Some rows, of which only the groups they are in are read. The file is open meanwhile, not as long as this."""
        metadata, edges = self._metadata, self.edges
        groups = np.unique(np.searchsorted(edges, rows, side="right") - 1)
        with pq.ParquetFile(self._path("places"), metadata=metadata) as file:
            table = file.read_row_groups(groups.tolist())
        starts = np.cumsum([0] + [int(edges[k + 1] - edges[k]) for k in groups.tolist()])
        places = np.searchsorted(groups, np.searchsorted(edges, rows, side="right") - 1)
        return table.take(pa.array(starts[places] + rows - edges[groups[places]]))


def _are_parts(parts: Any) -> bool:
    """Names and rows, as the index was written: a name becomes one of a file."""
    return isinstance(parts, list) and all(
        isinstance(part, list)
        and list(map(type, part)) == [str, int]
        and _PART.fullmatch(part[0]) is not None
        and 0 <= part[1] < MOST_ROWS
        for part in parts
    )


@dataclass(frozen=True)
class Index:
    """All pieces of the index of one run."""

    folder: Path
    parts: tuple[IndexPart, ...]

    @classmethod
    def open(cls, folder: Path) -> Index | None:
        """The index in a folder; None where there is none, or one of another version."""
        index = plain_json.read(folder / NAME)
        if index is None or index.get("version") != VERSION or not _are_parts(index.get("parts")):
            return None
        firsts = np.cumsum([0] + [rows for _, rows in index["parts"]]).tolist()
        parts = (
            IndexPart(folder, name, first, rows) for (name, rows), first in zip(index["parts"], firsts, strict=False)
        )
        return cls(folder, tuple(parts))

    @property
    def rows(self) -> int:
        """How many ids the input has."""
        return sum(part.rows for part in self.parts)

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Where each text is, by its number."""
        sources: dict[str, Source] = {}
        blocks: dict[str, list[Block]] = {}
        for part in self.parts:
            for row in part.texts:
                names = ("file", "path", "changed_ns", "bytes")
                sources.setdefault(row["text"], Source(*(row[name] for name in names)))
            for row in part.blocks:
                where = (row[name] for name in ("at", "packed"))
                text = part.texts[row["text"]]["text"]
                blocks.setdefault(text, []).append(Block(row["start"], row["size"], f"{part.name}.text", *where))
        return {text: source._replace(blocks=tuple(sorted(blocks.get(text, ())))) for text, source in sources.items()}

    @cached_property
    def line_bases(self) -> dict[tuple[str, int], int]:
        """How many line feeds of its text are before each range that a task read."""
        lines: dict[str, dict[int, int]] = {}
        for part in self.parts:
            for row in part.texts:
                bases_of_text = lines.setdefault(row["text"], {})
                bases_of_text[row["start"]] = max(bases_of_text.get(row["start"], 0), row["lines"])
        bases = {}
        for text, ranges in lines.items():
            before = 0
            for start in sorted(ranges):
                bases[text, start] = before
                before += ranges[start]
        return bases

    def select(self, wanted: Filter, order: str = "line", allowed: Allowed = _anyone) -> Selection:
        """The rows that fit, by `line`, by `time` or by `-time`; rows without a time come last."""
        with ThreadPoolExecutor(_THREADS) as pool:
            selections = list(pool.map(lambda part: self._of_part(part, wanted, allowed), self.parts))
        pairs = [(part, hits) for part, (hits, _) in zip(self.parts, selections, strict=True) if len(hits)]
        rows = np.concatenate([_NONE, *(part.first + hits for part, hits in pairs)])
        undated = sum(left for _, left in selections)
        if order != "line":
            times = np.concatenate([_NONE, *(part.column("sent_ms")[hits] for part, hits in pairs)])
            keys = np.where(times == NO_TIME, np.iinfo(np.int64).max, times if order == "time" else -times)
            rows = rows[np.argsort(keys, kind="stable")]
        return Selection(rows.astype(np.uint32 if self.rows < 1 << 32 else np.int64), undated)

    def _of_part(self, part: IndexPart, wanted: Filter, allowed: Allowed) -> tuple[np.ndarray, int]:
        if wanted.sides is not None:
            rows, undated = self._of_both(part, *wanted.sides, allowed)
            kinds = self._keys(part, Filter(wanted.kind))
            return (rows if kinds is None else rows[kinds[part.column("slot")[rows]]]), undated
        if wanted.timed and not part.may_have_time(wanted.start, wanted.stop, undated=True).any():
            return np.zeros(0, np.int64), 0
        mask = np.ones(part.rows, np.bool_)
        keys = self._keys(part, wanted)
        if keys is not None:
            if not keys.any():
                return np.zeros(0, np.int64), 0
            mask &= keys[part.column("slot")]
        if wanted.ids:
            same = np.zeros(part.rows, np.bool_)
            for _, places in self._places_of(part, wanted.ids):
                same[places] = True
            mask &= same
        if wanted.segment:
            mask &= (part.column("value") >> SEGMENT_SHIFT) == int(wanted.segment) >> SEGMENT_SHIFT
        if wanted.file:
            mask &= np.array([row["file"] == wanted.file for row in part.texts])[part.column("text")]
        undated = 0
        if wanted.timed:
            sent = part.column("sent_ms")
            undated = int((mask & (sent == NO_TIME)).sum())
            mask &= sent != NO_TIME
            if wanted.start is not None:
                mask &= sent >= wanted.start
            if wanted.stop is not None:
                mask &= sent < wanted.stop
        rows = np.flatnonzero(mask)
        for text, whole in ((wanted.text, False), (wanted.topic, True)):
            if text and len(rows):
                rows = rows[self._with_text(part, rows, text, allowed, whole=whole)]
        return rows, undated

    def _of_both(self, part: IndexPart, one: Filter, other: Filter, allowed: Allowed) -> tuple[np.ndarray, int]:
        """The rows of either filter whose line has rows of both."""
        line = np.cumsum(_first_of_line(part.column("text"), part.column("begin")))
        pairs = [self._of_part(part, wanted, allowed) for wanted in (one, other)]
        shared = np.intersect1d(*(line[rows] for rows, _ in pairs))
        rows = np.union1d(*(rows for rows, _ in pairs))
        return rows[np.isin(line[rows], shared)], sum(undated for _, undated in pairs)

    def _keys(self, part: IndexPart, wanted: Filter) -> np.ndarray | None:
        """Which keys fit; None where the filter asks nothing of them."""
        names = part.names
        asked: list[tuple[str, str]] = [("kind", wanted.kind)] if wanted.kind else []
        asked += zip(("host", "pid", "loader"), wanted.process[:3], strict=False)
        asked += zip(("mac", "pid"), wanted.client, strict=False)
        asked += [("address", wanted.broker)] if wanted.broker else []
        hits = [_truth(pc.equal(names[name], value)) for name, value in asked]
        if wanted.process:
            layouts = pa.array(wanted.process[3:] or USUAL_OF_PROCESSES)
            hits.append(_truth(pc.is_in(names["layout"], value_set=layouts)))
        if wanted.host:
            hits.append(_truth(pc.or_kleene(pc.equal(names["host"], wanted.host), pc.equal(names["mac"], wanted.host))))
        return np.logical_and.reduce(hits) if hits else None

    def rows_of(self, ids: Collection[str]) -> dict[str, np.ndarray]:
        """The rows of each of these IDs, in the order of lines. All IDs take one pass over the index."""
        rows: dict[str, list[np.ndarray]] = {one: [_NONE] for one in ids}
        with ThreadPoolExecutor(_THREADS) as pool:
            hits = pool.map(lambda part: list(self._places_of(part, rows)), self.parts)
            for part, places in zip(self.parts, hits, strict=True):
                for one, found in places:
                    rows[one].append(part.first + found)
        return {one: np.unique(np.concatenate(found)) for one, found in rows.items()}

    def _places_of(self, part: IndexPart, ids: Iterable[str]) -> Iterator[tuple[str, np.ndarray]]:
        """Where in a part each of these IDs is, once for each of its interpretations that the part has."""
        words = [(key, value, one) for one in ids for *key, value in words_of(one)]
        slots_of = part.slots({host for (_, host, _), _, _ in words})
        wanted = [
            (slot, value, one) for key, value, one in words for slot in slots_of.get((key[0], key[1], key[2]), ())
        ]
        if not wanted:
            return
        asked = np.unique(np.array([value for _, value, _ in wanted], np.uint64).view(np.int64))
        least, most = part.bounds("value")
        groups = np.flatnonzero(np.searchsorted(asked, least) < np.searchsorted(asked, most, side="right")).tolist()
        if not groups:
            return
        slots, values = part.columns(["slot", "value"], groups)
        hits = np.flatnonzero(_truth(pc.is_in(pa.array(values), value_set=pa.array(asked))))
        rows = np.concatenate([np.arange(*part.edges[number : number + 2]) for number in groups])[hits]
        slots, values = slots[hits], values[hits].view(np.uint64)
        for slot, value, one in wanted:
            yield one, rows[(slots == slot) & (values == value)]

    def _with_text(
        self, part: IndexPart, rows: np.ndarray, text: str, allowed: Allowed, *, whole: bool = False
    ) -> np.ndarray:
        """Which of the rows have this text in their line, in either letter case. `whole`: as a name of its own."""
        begins, sizes, texts = (part.column(name)[rows] for name in ("begin", "size", "text"))
        new = _first_of_line(texts, begins)
        line, firsts = np.cumsum(new) - 1, np.flatnonzero(new)
        hit = np.zeros(len(firsts), np.bool_)
        for first, last in _pieces(texts[firsts], begins[firsts], sizes[firsts]):
            rows_of_part = firsts[first:last]
            source = self.sources[part.texts[int(texts[rows_of_part[0]])]["text"]]
            start = int(begins[rows_of_part[0]])
            data = read(source, self.folder, start, int(begins[rows_of_part[-1]] + sizes[rows_of_part[-1]]), allowed)
            edges = np.empty(2 * len(rows_of_part) + 1, np.int64)
            edges[:-1:2], edges[1::2] = begins[rows_of_part] - start, begins[rows_of_part] + sizes[rows_of_part] - start
            edges[-1] = len(data)
            edges = np.minimum(edges, len(data))
            lines = pa.LargeBinaryArray.from_buffers(
                pa.large_binary(), len(edges) - 1, [None, pa.py_buffer(edges), pa.py_buffer(data)]
            )
            if whole:
                matches = pc.match_substring_regex(lines, f"(^|{_NO_NAME}){re.escape(text)}($|{_NO_NAME})")
            else:
                matches = pc.match_substring(lines, text.encode(), ignore_case=True)
            hit[first:last] = _truth(matches)[::2]
        return hit[line]

    def may_be_in(self, start: int | None, stop: int | None) -> int:
        """How many rows the row groups have that may have a time in a range: at least as many as are in it."""
        return sum(int(np.diff(part.edges)[part.may_have_time(start, stop)].sum()) for part in self.parts)

    def has(self, column: str, value: str) -> bool:
        """Whether some id is of this host, mac or address."""
        return any(bool(pc.any(pc.equal(part.names[column], value)).as_py()) for part in self.parts)

    def points(self, wanted: Filter) -> tuple[np.ndarray, np.ndarray]:
        """Milliseconds and value of every dated id that fits, in the order of the input. A msgId's value is its elapsed
        milliseconds times 65,536 plus its counter; an offsetMsgId's is its physical offset."""
        sent, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for part in self.parts:
            rows_of_part, _ = self._of_part(part, wanted, _anyone)
            if len(rows_of_part):
                times = part.column("sent_ms")[rows_of_part]
                sent.append(times[times != NO_TIME])
                values.append(part.column("value")[rows_of_part][times != NO_TIME])
        return np.concatenate(sent), np.concatenate(values)

    def counts(self, column: str, start: int, stop: int, step: int) -> pa.Table:
        """IDs by name (`host`, `mac` or `address`) and time: columns name, from_ms and ids. The bins are `step` ms wide
        and begin at `start`; an id that is not dated is in none."""
        bins = -(-(stop - start) // step)
        tables = [_COUNTS.empty_table()]
        for part in self.parts:
            if not part.may_have_time(start, stop).any():
                continue  # its names may be millions
            names, codes = np.unique(np.array(part.names[column].fill_null("").to_pylist()), return_inverse=True)
            sent, slot = part.timed(start, stop, ["slot"])
            in_range = np.flatnonzero((sent >= start) & (sent < stop))
            # The bins of a name that has no ID in them are not made: there may be 100,000 names.
            at, ids = np.unique(codes[slot[in_range]] * bins + (sent[in_range] - start) // step, return_counts=True)
            columns = zip([names[at // bins].tolist(), start + at % bins * step, ids], _COUNTS.types, strict=True)
            tables.append(pa.Table.from_arrays([pa.array(*column) for column in columns], schema=_COUNTS))
        counted = pa.concat_tables(tables).filter(pc.field("name") != "")
        sums = counted.group_by(["name", "from_ms"]).aggregate([("ids", "sum")]).rename_columns(_COUNTS.names)
        return sums.sort_by([("name", "ascending"), ("from_ms", "ascending")])

    def page(self, rows: np.ndarray, allowed: Allowed = _anyone) -> list[Occurrence]:
        """Some rows of a selection with their lines."""
        rows = rows.astype(np.int64)
        occurrences: dict[int, Occurrence] = {}
        firsts = [part.first for part in self.parts]
        owners = np.searchsorted(firsts, rows, side="right") - 1
        for owner in np.unique(owners).tolist():
            part = self.parts[owner]
            rows_of_part = np.unique(rows[owners == owner])
            for row, place in zip(rows_of_part.tolist(), part.take(rows_of_part - part.first).to_pylist(), strict=True):
                occurrences[row] = self._occurrence(part, row, place, allowed)
        return [occurrences[row] for row in rows.tolist()]

    def first_of_lines(self, rows: np.ndarray) -> np.ndarray:
        """Of rows in the order of their lines the first of each line: a line that has several IDs is one."""
        firsts = [_NONE]
        for part in self.parts:
            rows_of_part = rows[(rows >= part.first) & (rows < part.first + part.rows)].astype(np.int64)
            places = [part.column(name)[rows_of_part - part.first] for name in ("text", "begin")]
            firsts.append(rows_of_part[_first_of_line(*places)])
        return np.concatenate(firsts)

    def _occurrence(self, part: IndexPart, row: int, place: dict[str, Any], allowed: Allowed) -> Occurrence:
        source_text = part.texts[place["text"]]
        key = part.called(place["slot"])
        names = {name: value for name, value in key.items() if value is not None and name not in ("kind", "digits")}
        line = self.line_bases[source_text["text"], source_text["start"]] + place["line"] + 1
        sent = None if place["sent_ms"] == NO_TIME else place["sent_ms"]
        begin, at, size = place["begin"], place["at"], place["size"]
        cut = size > LONGEST_LINE
        first = max(0, at - LONGEST_LINE // 2) if cut else 0
        where = Place(source_text["text"], begin, begin + size)
        occurrence = Occurrence(
            row, source_text["file"], line, begin + at, "", key["kind"], names, sent, cut=cut, place=where
        )
        source = self.sources[source_text["text"]]
        try:
            raw = read(source, self.folder, begin + first, begin + min(size, first + LONGEST_LINE), allowed)
        except CoreError as error:
            return replace(occurrence, problem=error.without_stack())
        inside = at - first
        text = text_of_line(raw)
        shown = raw[inside : inside + int(key["digits"])].decode("ascii", "replace")
        before = -1
        for _ in range(raw.count(shown.encode(), 0, inside) + 1):
            before = text.find(shown, before + 1)
        return replace(occurrence, id=shown, text=text.rstrip("\r"), at=before)

    def around(self, one: Occurrence, lines: int, allowed: Allowed = _anyone) -> tuple[list[str], list[str]]:
        """So many lines before and behind the line of an id, fewer at the ends of its text and where lines are long."""
        if one.place is None:
            return [], []
        source, begin, end = self.sources[one.place.text], one.place.begin, one.place.end
        room = lines * 1024
        head = read(source, self.folder, max(0, begin - room), begin, allowed).splitlines()
        tail = read(source, self.folder, end, end + room, allowed).splitlines()
        if begin > room:
            head = head[1:]  # of the first only its end is there
        tail = tail[1:]  # what is between the end of the line and its line feed
        return _shown(head[-lines:]), _shown(tail[:lines])

    def between(
        self, one: Occurrence, later: Occurrence, most: int, allowed: Allowed = _anyone
    ) -> tuple[list[str], list[str]]:
        """The lines between those of two ids of one text: all as the first list, or the first and the last `most`."""
        if one.place is None or later.place is None or one.place.text != later.place.text:
            return [], []
        start, stop = one.place.end, later.place.begin
        if stop <= start:
            return [], []
        if stop - start > 2 * most * 1024:
            return self.around(one, most, allowed)[1], self.around(later, most, allowed)[0]
        lines = read(self.sources[one.place.text], self.folder, start, stop, allowed).splitlines()[1:]
        return (_shown(lines), []) if len(lines) <= 2 * most else (_shown(lines[:most]), _shown(lines[-most:]))


def _truth(mask: Any) -> np.ndarray:
    return np.asarray(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), np.bool_)


def _shown(lines: Sequence[bytes]) -> list[str]:
    return [text_of_line(line[:LONGEST_LINE]) for line in lines]


def _pieces(texts: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Runs of lines of one text that are near enough to be read at once."""
    new = (texts[1:] != texts[:-1]) | (begins[1:] // _SEARCHED != begins[:-1] // _SEARCHED)
    edges = [0, *(np.flatnonzero(new) + 1).tolist(), len(texts)]
    yield from pairwise(edges)


def _first_of_line(texts: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Of rows in the order of the input, which are the first of their line."""
    new = np.ones(len(texts), np.bool_)
    new[1:] = (texts[1:] != texts[:-1]) | (begins[1:] != begins[:-1])
    return new
