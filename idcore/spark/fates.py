"""The fates of all messages of a store: a pass of Spark over its log, and the rule once for each case that occurs.

The scan for IDs gives the copies that groups made. The pass counts the messages between the offsets that matter in each
queue, and gives those by themselves that have copies. What a case is called, `idcore.answers.fate` says.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.answers.fate import Group, GroupCopy, JudgedRecord, Observation, judge
from idcore.answers.fate.levels import UNDELIVERED
from idcore.answers.lookup.copies import TIMER_TOPIC, group_in, is_retry_of, is_special, without_namespace
from idcore.answers.lookup.hidden_copies import HiddenCopies, ReadableRecords, hidden_copies, holds_copies
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.base.errors import CoreError
from idcore.ids.clock import MINUTE_MS
from idcore.kernels import fates as kernel
from idcore.rocketmq.message import properties
from idcore.rocketmq.message.model import DLQ_PREFIX, LIGHT_PREFIX, RETRY_PREFIX, parent_of
from idcore.rocketmq.message.record import decode_record
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.store.pop_records import PopRecord
from idcore.scan.fates import Counting, Queues, TraceTopics, Tracing, hashes_of, merged, table_of
from idcore.scan.growing import LAST_TIME, Growing, joined, times
from idcore.scan.ordering import begins_of, different, numbered, order_of, stacked
from idcore.scan.schemas import SCHEMAS
from idcore.scan.tables import Tables
from idcore.scan.undelivered import Rows, UnconsumedIntervals, keys_of, words_of
from idcore.sources.copies import CopyKind, JoinedCopies
from idcore.sources.copies import joined as joined_copies
from idcore.sources.inputs import Split
from idcore.spark import attempts as tries
from idcore.spark import retries, traces
from idcore.spark.passes import Passes

NAMES = ("fates", "undelivered", "attempts")
COUNTED = ("undelivered", "attempts", "traces_left_out", "groups_left_out")
MOST_CELLS = 1 << 25  # verdicts of all queues: groups by intervals, of which each group may begin one, by kinds
MOST_HELD = 50_000  # rows of `undelivered` and of `attempts` in memory; others are written as they come
FEWEST_OF_SPLIT = 100  # a split with fewer that are listed writes no file of them
_ROWS = 1 << 20
_AT_ONCE = 1 << 18  # rows of groups by counts
_PIECE = 1 << 17  # messages with copies that are judged together
_NO_TIME = -1
_ENDLESS = 1 << 62
# States of a copy: dead; queued and passed or not; waiting and delivered or not, and the third of each: nobody says;
# queued, and in the hands of a POP consumer or acknowledged by one.
_NOTHING, _DEAD, _QUEUED, _WAITING, _HELD, _ACKED = 0, 1, 2, 5, 8, 9
_NO, _YES, _UNKNOWN = range(3)
# What the traces have of a message and group: a success; else a begin without an end, before the newest copy or later.
_NOT_TRACED, _SUCCEEDED, _BEGUN_BEFORE, _BEGUN = range(4)
_NO_DUE, _IS_DUE, _DUE_LATER = range(3)
# How the figures of rows of one queue, group, minute and verdict are one.
_FIGURES = {"messages": "sum", "bytes": "sum", "first_place": "min", "last_place": "max"}
_FIGURES |= {"first_time": "min", "last_time": "max"}
_FATE = np.dtype([(name, np.int64) for name in ("queue", "group", "minute", "verdict", *_FIGURES)])


@dataclass(slots=True)
class _Case:
    """The groups of one queue, the edges between which nothing changes, and the verdict of each interval.

    `verdicts` has a number for each group, interval and kind of messages: without and with a key, and with each tag
    that a subscription names.
    """

    topic: str
    queue: int
    groups: list[str]
    edges: np.ndarray
    verdicts: np.ndarray
    tags: list[str]

    def tag_of(self, kind: int) -> str | None:
        """The tag of a kind of messages; None for those that no subscription names."""
        return self.tags[kind // 2 - 1] if kind >= 2 else None

    def place_of(self, interval: int) -> int:
        """An offset in an interval."""
        if not len(self.edges):
            return 0
        return int(self.edges[interval - 1]) if interval else int(self.edges[0]) - 1


@dataclass(frozen=True, slots=True)
class _Copies:
    """Copies with their messages and groups. `kind` is dead, queued or waiting; `state` also says how far they are."""

    home: np.ndarray
    copy: np.ndarray
    group: np.ndarray
    kind: np.ndarray
    state: np.ndarray
    due: np.ndarray


@dataclass(frozen=True, slots=True)
class _Try:
    """An attempt as the rule sees it: what it does not say, the verdict does not depend on."""

    success: bool | None
    began_ms: int
    ended_ms: int | None = None
    retry_times: int | None = None
    client: str | None = None


@dataclass(slots=True)
class _Judge:
    """The rule, asked once for each case that differs; verdicts have numbers."""

    evidence: StoreEvidence
    hidden: HiddenCopies
    names: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _known: dict[tuple[JudgedRecord, Group], int] = field(default_factory=dict)
    _seen: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _alone: dict[tuple[Any, ...], list[int]] = field(default_factory=dict)

    def number(self, case: _Case, group: str, place: int, kind: int, copies: tuple[int, int, int]) -> int:
        """The verdict of a message; `copies` is the state of its copies, due time, and what the traces have.

        Queues of a topic differ for a group in nothing but who may read them, and which offsets are past the place.
        """
        seen = (*self._beside(case, group, place), kind, copies)
        if seen not in self._seen:
            self._seen[seen] = self._judged(case, group, place, kind, copies)
        return self._seen[seen]

    def _beside(self, case: _Case, group: str, place: int) -> tuple[Any, ...]:
        """All that matters of a place for a group."""
        offsets = _offsets_of(self.evidence, case.topic, case.queue, group)
        held = _alike(self.evidence.config.popped.get((case.topic, group), {}).get(case.queue, {}).get(place))
        past = tuple(None if each is None else each > place for each in offsets)
        return case.topic, group, self.evidence.readable(case.topic, case.queue), held, past

    def _judged(self, case: _Case, group: str, place: int, kind: int, copies: tuple[int, int, int]) -> int:
        judged = replace(self.evidence.judged_at(case.topic, case.queue, place), tag=case.tag_of(kind))
        known = self.evidence.group(group, judged, (), bool(kind % 2) and not self.hidden.may_lack(group))
        if copies[0]:
            known = replace(known, copies=(self._copy(*copies[:2]),))
        if copies[2]:
            began = self.evidence.snapshot_ms - (copies[2] == _BEGUN_BEFORE)  # all copies were stored at that instant
            success = True if copies[2] == _SUCCEEDED else None  # of the retry that every copy here is of
            known = replace(known, attempts=(_Try(success, began, retry_times=1),))
        alike = _case(judged, known)
        if alike not in self._known:
            code = judge(*alike, self.evidence.snapshot_ms).code
            if code not in self._numbers:
                self._numbers[code] = len(self.names)
                self.names.append(code)
            self._known[alike] = self._numbers[code]
        return self._known[alike]

    def alone(self, case: _Case, group: str, place: int) -> list[int]:
        """The verdicts of messages at a place without copies and traces, of each kind."""
        beside = self._beside(case, group, place)
        if beside not in self._alone:
            nothing, kinds = (_NOTHING, _NO_DUE, _NOT_TRACED), range(2 + 2 * len(case.tags))
            self._alone[beside] = [self.number(case, group, place, kind, nothing) for kind in kinds]
        return self._alone[beside]

    def _copy(self, state: int, due: int) -> GroupCopy:
        at = self.evidence.snapshot_ms
        if state == _DEAD:
            return GroupCopy("dead", 1, at)
        if state in (_HELD, _ACKED):
            return GroupCopy("queued", 1, at, held=PopRecord(at, at, None if state == _HELD else at))
        kind, said = ("queued", state - _QUEUED) if state < _WAITING else ("waiting", state - _WAITING)
        heard: Observation[bool] = Observation() if said == _UNKNOWN else Observation(said == _YES, at)
        when = {_NO_DUE: None, _IS_DUE: at, _DUE_LATER: at + 1}[due]
        if kind == "queued":
            return GroupCopy("queued", 1, at, passed=heard)
        return GroupCopy("waiting", 1, at, when, delivered=heard)


def _case(judged: JudgedRecord, group: Group) -> tuple[JudgedRecord, Group]:
    """The same case for every message that is judged alike, and it is what is judged: so nothing can be forgotten.

    Of offsets only that matters whether they are past the message.
    """

    def beside(offset: Observation[int]) -> Observation[int]:
        return offset if offset.value is None else replace(offset, value=int(offset.value > judged.offset))

    alike = replace(
        group,
        name="",
        offset=beside(group.offset),
        pull_offset=beside(group.pull_offset),
        broadcast_offset=beside(group.broadcast_offset),
        held=_alike(group.held),
    )
    return replace(judged, topic="", queue=0, offset=0, end=beside(judged.end)), alike


def _alike(held: PopRecord | None) -> PopRecord | None:
    """The same of every message that a consumer was handed and acknowledged, or did not, or was not handed."""
    return held and PopRecord(0, 0, None if held.acked_ms is None else 0, left_out=held.left_out)


class FateTables(NamedTuple):
    """The tables `fates`, `undelivered`, `attempts` and `retries`; files with further rows; how many rows there are."""

    tables: dict[str, pa.Table]
    counted: dict[str, Any]
    written: dict[str, list[Path]]


def tables(
    passes: Passes,
    evidence: StoreEvidence,
    scanned: Tables,
    copied: Sequence[bytes],
    folder: Path | None = None,
) -> FateTables:
    """What became of all messages. Without a folder for long tables, everything is in memory.

    `scanned` are the tables of the scan: which queues there are, and in which files something is wrong. `copied` has
    the copies of its splits.
    """
    topics = scanned["topics"]
    queues = sorted(set(zip(topics["topic"].to_pylist(), topics["queue_id"].to_pylist(), strict=True)))
    homes = [(topic, queue) for topic, queue in queues if not is_special(topic)]
    own_topics = sorted({topic for topic, _ in homes})
    has_copies = any(holds_copies(topic) for topic, _ in queues)
    groups = {topic: sorted(each) for topic, each in evidence.config.groups_by_topic().items()}
    lights = _lights(passes, evidence, own_topics)
    groups |= {topic: sorted(evidence.config.groups_of(topic) - {""}) for topic in lights}
    homes += [(topic, 0) for topic in lights]
    traced = traces.topics_of(topics)
    if not has_copies and traced is None and not any(topic in groups for topic, _ in homes):
        return FateTables(
            {name: SCHEMAS[name].empty_table() for name in (*NAMES, "retries")}, dict.fromkeys(COUNTED, 0), {}
        )
    read = passes.run(Tracing(traced), _since(passes, traced.since)) if traced is not None else []
    attempts = traces.attempts_of(data for _, data in read)
    joined = joined_copies(copied)
    unread = [*_not_read(scanned["files"]), *joined.damage, *_not_walked(passes, joined)]
    copies = _of_groups(joined)
    seen = _seen(topics)
    deciding = _Judge(evidence, hidden_copies(evidence.store, unread, seen))
    seen |= {(topic, 0): ReadableRecords(0, 0, _ENDLESS) for topic in lights}
    passes.check()
    fitting = _fitting(evidence, homes, seen, groups)
    cases = [_case_of(deciding, home, seen[home], fitting[home[0]]) for home in homes]
    lacking = UnconsumedIntervals(
        homes, [case.groups for case in cases], [case.verdicts for case in cases], deciding.names, UNDELIVERED
    )
    wanted = [np.array([name in UNDELIVERED for name in deciding.names], bool)[case.verdicts] for case in cases]
    listed = [each.any(axis=0) if len(each) else np.zeros(each.shape[1:], bool) for each in wanted]
    plan = Queues(
        [(case.topic.encode(), case.queue) for case in cases],
        [case.edges for case in cases],
        listed,
        table_of(np.concatenate([copies.rows["key"], attempts.keys[:, 0]])),
        [[tag.encode() for tag in case.tags] for case in cases],
        bool(lights),
    )
    with ThreadPoolExecutor(1) as aside:
        failed = aside.submit(retries.table, copies.which, copies.rows, own_topics)
        counted = _counted(passes, plan, lacking, folder)
    outcome = _Assembly(deciding, cases, copies, attempts, lacking).tables(counted, folder)
    outcome.counted["traces_left_out"] = 0 if traced is None else traced.records - attempts.records
    outcome.counted["groups_left_out"] = sum(len(groups.get(topic, ())) - len(some) for topic, some in fitting.items())
    return outcome._replace(tables=outcome.tables | {"retries": failed.result()})


class _LightNames:
    """The light topics that the records of one split are in."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, record: bytes) -> None:
        """Those of one record."""
        with suppress(CoreError):  # the scan itself reports damage
            self._names |= properties.light_places(decode_record(record).properties).keys()

    def pack(self) -> bytes:
        return json.dumps(sorted(self._names)).encode()


def _lights(passes: Passes, evidence: StoreEvidence, topics: Sequence[str]) -> list[str]:
    """The light topics with groups; a group that is bound to a parent reads each lite topic of its records."""
    config = evidence.config
    names = {topic for topic in config.groups_by_topic() if topic.startswith(LIGHT_PREFIX)}
    bound = {settings.lite_parent for settings in (config.groups or {}).values()} & set(topics)
    parents = sorted(parent for parent in bound if parent)
    if parents:
        tracing = Tracing(TraceTopics(parents, 0, 0, _LightNames))
        for _, data in passes.run(tracing):
            names |= {name for name in json.loads(bytes(data)) if parent_of(name) in parents}
    return sorted(names)


def _since(passes: Passes, offset: int) -> list[list[list[Split]]]:
    """Partitions of the splits that have records from an offset on."""
    splits = [split for partition in passes.partitions for task in partition for split in task]
    return [[[split]] for split in splits if int(Path(split.path).name) + split.stop > offset]


def _not_walked(passes: Passes, joined: JoinedCopies) -> Iterator[tuple[int, int]]:
    """Splits whose copies nobody gave: they could not be opened."""
    for split in (split for partition in passes.partitions for task in partition for split in task):
        if (split.number, split.start) not in joined.splits:
            begin = int(Path(split.path).name)
            yield begin + split.start, begin + split.stop


def _not_read(files: pa.Table) -> Iterator[tuple[int, int]]:
    """Stretches of the log that no split has: between two files, and files that cannot be read."""
    rows = files.select(["file", "error", "error_values"]).to_pylist()
    starts = sorted({int(Path(row["file"]).name) for row in rows})
    for row in rows:
        if row["error"] == "log_hole":
            values = json.loads(row["error_values"])
            yield int(values["first"]), int(values["last"])
        elif row["error"] not in (None, "log_damaged", "record_crc"):  # these two are where the pass finds them
            begin = int(Path(row["file"]).name)
            yield begin, next((start for start in starts if start > begin), _ENDLESS)


def _seen(topics: pa.Table) -> dict[tuple[str, int], ReadableRecords]:
    columns = ("topic", "queue_id", "messages", "min_queue_offset", "max_queue_offset")
    rows = zip(*(topics[name].to_pylist() for name in columns), strict=True)
    return {(topic, queue): ReadableRecords(*figures) for topic, queue, *figures in rows}


# ---- on Spark


class _Counted(NamedTuple):
    """Counts, single messages that have copies, and those of them without that are listed: in memory, and in files."""

    counts: list[np.ndarray]
    ones: list[Rows]
    listed: list[pa.Table]
    written: list[Path]


def _counted(passes: Passes, plan: Queues, lacking: UnconsumedIntervals, folder: Path | None) -> _Counted:
    """What the pass over all splits gives, in the order of the log. A split with many that are listed writes them."""
    splits = sum(len(task) for partition in passes.partitions for task in partition)
    few = max(FEWEST_OF_SPLIT, MOST_HELD // max(1, splits))
    counted = _Counted([np.zeros(0, kernel.COUNT)], [], [], [])
    for kind, data in passes.run(Counting(plan, lacking, few, folder)):
        if kind == "counts":
            counted.counts.append(np.frombuffer(data, kernel.COUNT).copy())
        elif kind == "ones":
            counted.ones.append(Rows.unpack(data))
        elif kind == "listed":
            counted.listed.append(pa.ipc.open_stream(data).read_all())
        else:
            counted.written.append(Path(bytes(data).decode()))
    return counted


@dataclass(frozen=True, slots=True)
class _Left:
    """The copies that groups left: rows, and what they have in common."""

    which: list[CopyKind]
    rows: np.ndarray


def _of_groups(joined: JoinedCopies) -> _Left:
    """Those that belong to a group: messages with a delay wait in the same places."""
    own = [group_in(each.topic, each.real, False, ()) is not None for each in joined.which]
    if all(own):
        return _Left(joined.which, joined.rows)
    return _Left(joined.which, joined.rows.compress(np.array(own, bool)[joined.rows["which"]]))


# ---- verdicts of places


def _fitting(
    evidence: StoreEvidence,
    homes: Sequence[tuple[str, int]],
    seen: Mapping[tuple[str, int], ReadableRecords],
    groups: Mapping[str, list[str]],
) -> dict[str, list[str]]:
    """The groups of each topic that are judged: its first ones, where the verdicts of all would take the memory."""
    left, fitting = MOST_CELLS, dict[str, list[str]]()
    for topic in dict.fromkeys(topic for topic, _ in homes):
        own = [home for home in homes if home[0] == topic]
        some, kinds = groups.get(topic, []), 2 + 2 * len(evidence.tags_of(topic))
        while True:
            edges = (len({edge for one in some for edge in _edges_of(evidence, home, seen[home], one)}) for home in own)
            cells = len(some) * kinds * sum(each + 1 for each in edges)
            if cells <= left:
                break
            some = some[: len(some) // 2]
        left, fitting[topic] = left - cells, some
    return fitting


def _case_of(deciding: _Judge, of: tuple[str, int], seen: ReadableRecords, groups: list[str]) -> _Case:
    """One queue: the edges of all its groups, and the verdict of each between them."""
    topic, queue = of
    own = [_edges_of(deciding.evidence, of, seen, group) for group in groups]
    edges = np.array(sorted({edge for each in own for edge in each}), np.int64)
    tags = deciding.evidence.tags_of(topic)
    verdicts = np.zeros((len(groups), len(edges) + 1, 2 + 2 * len(tags)), np.uint8)
    case = _Case(topic, queue, groups, edges, verdicts, tags)
    places = np.array([case.place_of(interval) for interval in range(len(edges) + 1)], np.int64)
    for number, (group, mine) in enumerate(zip(groups, own, strict=True)):
        starts = np.searchsorted(places, mine).tolist()  # where something changes for this group
        for begin, end in pairwise([0, *starts, len(places)]):
            if begin < end:
                verdicts[number, begin:end] = deciding.alone(case, group, int(places[begin]))
    return case


def _edges_of(evidence: StoreEvidence, of: tuple[str, int], seen: ReadableRecords, group: str) -> list[int]:
    """The offsets of a queue at which a verdict for a group can change, moved to the ends where no record is."""
    topic, queue = of
    held = evidence.config.popped.get((topic, group), {}).get(queue, {})
    known = [each for each in _offsets_of(evidence, topic, queue, group) if each is not None]
    begins = (offset for offset in held if _alike(held.get(offset - 1)) != _alike(held[offset]))
    ends = (offset + 1 for offset in held if offset + 1 not in held)
    return sorted({min(max(each, seen.least), seen.greatest + 1) for each in (*known, *begins, *ends)})


def _offsets_of(evidence: StoreEvidence, topic: str, queue: int, group: str) -> tuple[int | None, ...]:
    """What a group has of a queue, and the end of the queue; None for what is not known."""
    config, key = evidence.config, (topic, group)
    return (
        (config.offsets or {}).get(key, {}).get(queue),
        config.handed_out.get(key, {}).get(queue),
        config.broadcast.get(key, {}).get(queue),
        evidence.end_of(topic, queue),
    )


# ---- tables


class _Assembly:
    """Counts and single messages to rows of the tables."""

    def __init__(
        self,
        deciding: _Judge,
        cases: Sequence[_Case],
        copies: _Left,
        attempts: traces.Attempts,
        lacking: UnconsumedIntervals,
    ) -> None:
        self.deciding, self.cases, self.copies, self.lacking = deciding, cases, copies, lacking
        self.attempts = attempts
        self.groups = sorted({group for case in cases for group in case.groups})
        self._numbers = {group: number for number, group in enumerate(self.groups)}
        self._topics, self._topic = _coded_names([case.topic for case in cases])
        shown = [[topic, without_namespace(topic)] for topic in self._topics]
        self._topic_hashes = hashes_of(pa.array([name for pair in shown for name in pair], pa.string()))[:, 0].reshape(
            -1, 2
        )
        self._of_key = _Sorted(copies.rows["key"])
        self._of_call = _Sorted(attempts.keys[:, 0])
        self._schedule: dict[int, np.ndarray] = {}
        self._rows: list[np.ndarray] = []  # FATE
        self._held, self._most_rows = 0, _ROWS  # more are folded

    def tables(self, counted: _Counted, folder: Path | None) -> FateTables:
        """The tables, and how many rows those have that may be long.

        Messages with copies come in pieces in the order of the log, so that memory does not grow with what is made of
        them.
        """
        self._add(merged(stacked(counted.counts)))
        lacked = Growing("undelivered", max(0, MOST_HELD - sum(map(len, counted.listed))), folder)
        tried = Growing("attempts", MOST_HELD, folder)
        self._find_ties(counted.ones)
        with ThreadPoolExecutor(1) as aside:  # the rows of a piece are made while the next one is judged
            going: list[Future[None]] = []
            for some in _pieces_of(counted.ones):
                copies = self._copied(some)
                called = self._traced(some, copies)
                judged = self._add_single(some, copies, called)
                for each in going:
                    each.result()
                going = [aside.submit(self._add_rows, some, copies, called, judged, lacked, tried)]
        for each in going:
            each.result()
        (first, others), (attempts, more) = lacked.close(), tried.close()
        undelivered = joined("undelivered", [*counted.listed, first]).sort_by("commit_log_offset").combine_chunks()
        written = {"undelivered": [*counted.written, *others], "attempts": more}
        rows = len(undelivered) + sum(pq.read_metadata(path).num_rows for path in written["undelivered"])
        tables = dict(zip(NAMES, (self._fates(), undelivered, attempts), strict=True))
        return FateTables(tables, {"undelivered": rows, "attempts": tried.rows}, written)

    def _add_rows(
        self,
        ones: Rows,
        copies: _Copies,
        called: tries.TracedAttempts,
        judged: tries.JudgedGroups,
        lacked: Growing,
        tried: Growing,
    ) -> None:
        """The rows of a piece, to those of `undelivered` and of `attempts`."""
        is_open = self._is_open(ones.rows, judged)
        if is_open.any():
            lacked.add(self._undelivered(ones, np.flatnonzero(is_open), judged))
        tried.add(tries.table(self._situation(ones, copies, called, judged)))

    def _find_ties(self, ones: Sequence[Rows]) -> None:
        """Which copies name one of several messages with a key, and which keys several messages have."""
        # a message of light topics has a row for each of its queues, one behind the other
        own = [part.rows.compress(np.diff(part.rows["offset"], prepend=-1) != 0) for part in ones]
        # keys of several messages, in order
        every = np.sort(np.concatenate([np.zeros(0, np.int64), *[rows["key"] for rows in own]]))
        keys = self._several = np.unique(every[1:][every[1:] == every[:-1]])
        self._names_one = np.zeros(len(self.copies.rows), bool)
        for rows in own if len(keys) else ():
            tied = rows.compress(np.isin(rows["key"], keys))
            home, copy = self._alike(tied)
            same = tied["own"][home] == self.copies.rows["origin"][copy]
            self._names_one[copy[same]] = True

    def _add(self, counts: np.ndarray, but: Collection[tuple[int, ...]] = ()) -> None:
        """Counted messages, each row once for every group of its topic; `but`: queues and groups that are left out."""
        for (queue,), here in different(counts["queue"]):
            case, own = self.cases[queue], counts.take(here)
            numbers = [self._numbers[name] for name in case.groups]
            kept = [row for row, number in enumerate(numbers) if (queue, number) not in but]
            step = max(1, _AT_ONCE // len(own))
            for some in (kept[begin : begin + step] for begin in range(0, len(kept), step)):
                verdicts = case.verdicts[some][:, own["interval"], own["kind"]]
                groups = np.repeat(np.array(numbers, np.int64)[some], len(own))
                self._put(np.tile(own, len(some)), groups, verdicts.ravel())

    def _put(self, counts: np.ndarray, group: np.ndarray, verdict: np.ndarray) -> None:
        minute = counts["minute"]
        known = (minute >= 0) & (minute * MINUTE_MS < LAST_TIME)
        rows = np.empty(len(counts), _FATE)
        rows["queue"], rows["group"], rows["verdict"] = counts["queue"], group, verdict
        rows["minute"] = np.where(known, minute, _NO_TIME)
        for name in _FIGURES:
            rows[name] = counts[name]
        self._rows.append(rows)
        self._held += len(rows)
        if self._held > self._most_rows:
            self._rows = [merged(stacked(self._rows))]
            self._held = len(self._rows[0])
            self._most_rows = max(_ROWS, 2 * self._held)

    def _add_single(self, ones: Rows, copies: _Copies, called: tries.TracedAttempts) -> tries.JudgedGroups:
        """Adds the messages that have copies or traces: with each group of their topic, and those of the copies."""
        counts = _as_counts(ones.rows)
        queue, interval, kind = counts["queue"], counts["interval"], counts["kind"]
        home, group, *states = self._states_of(copies, called)
        verdicts = np.zeros(len(home), np.int64)
        alike = different(queue[home], group, interval[home], kind[home], *states)
        for (of_queue, of_group, of_interval, of_kind, state, due, seen), here in alike:
            case, name = self.cases[of_queue], self.groups[of_group]
            verdicts[here] = self.deciding.number(case, name, case.place_of(of_interval), of_kind, (state, due, seen))
        self._put(counts.take(home), group, verdicts)
        pairs = {pair for pair, _ in different(queue[home], group)}
        self._add(merged(counts), but=pairs)
        for number, of_group in sorted(pairs):
            name, case = self.groups[of_group], self.cases[number]
            if name in case.groups:  # those of its messages that it did not fail with
                rest = queue == number
                rest[home[group == of_group]] = False
                own = merged(counts.compress(rest))
                usual = case.verdicts[case.groups.index(name), own["interval"], own["kind"]]
                self._put(own, np.full(len(own), of_group), usual)
        return tries.JudgedGroups(home, group, verdicts)

    # ---- copies

    def _copied(self, ones: Rows) -> _Copies:
        """The copies of messages that are judged."""
        home, copy = self._pairs(ones)
        topics, of_queue = self._topics, self._topic
        which = self.copies.rows["which"][copy]
        case = which * len(topics) + of_queue[ones.rows["queue"][home]]
        of_case = np.full((len(self.copies.which) * len(topics), 2), -1, np.int64)
        for number in np.flatnonzero(np.bincount(case)).tolist():
            each = self.copies.which[number // len(topics)]
            topic = topics[number % len(topics)]
            is_of = is_retry_of(each.topic, each.real, each.popped, topic)
            name = group_in(each.topic, each.real, each.popped, [topic]) if is_of else None
            of_case[number] = self._number(name) if name else -1, _kind(each)
        group, kind = of_case[case].T
        own = group >= 0
        home, copy, group, kind = home[own], copy[own], group[own], kind[own]
        state, due = self._states(copy, group, kind)
        return _Copies(home, copy, group, kind, state, due)

    def _traced(self, ones: Rows, copies: _Copies) -> tries.TracedAttempts:
        """The attempts of messages. A trace has no place: of several records of a msgId it names none.

        The groups are those that read the topic, or have a copy; a name that fits two of them is of neither.
        """
        rows = ones.rows
        alone = np.flatnonzero(~np.isin(rows["key"], self._several))
        home, attempt = self._of_call.matches(rows["key"][alone])
        home = alone[home]
        same = rows["key_2"][home] == self.attempts.keys[attempt, 1]
        home, attempt = home[same], attempt[same]
        names = pa.array([without_namespace(name) for name in self.groups], pa.string())
        traced = self.attempts.group.fill_null("").dictionary_encode()
        bare = pa.array([without_namespace(name) for name in traced.dictionary.to_pylist()], pa.string())
        # readers: a row for each topic and group, and for each message and group with a copy
        of_topic = [
            [self._topic[at], self._numbers[name]] for at, case in enumerate(self.cases) for name in case.groups
        ]
        reads = np.zeros((len(self._topics), len(self.groups)), bool)
        reads[tuple(np.array(of_topic, np.int64).reshape(-1, 2).T)] = True
        topic = self._topic[rows["queue"]]
        left = np.unique(np.stack([copies.home, copies.group], axis=1), axis=0)
        left = left[~reads[topic[left[:, 0]], left[:, 1]]]
        reader = np.full(len(home), -1, np.int64)
        fitting = np.zeros(len(home), np.int64)
        for number, name in enumerate(bare.to_pylist()):
            here = np.flatnonzero(traced.indices.to_numpy()[attempt] == number)
            for group in np.flatnonzero(pc.equal(names, name).to_numpy(zero_copy_only=False)).tolist():
                own = here[reads[topic[home[here]], group] | np.isin(home[here], left[left[:, 1] == group, 0])]
                reader[own], fitting[own] = group, fitting[own] + 1
        known = fitting == 1
        return tries.TracedAttempts(home[known], reader[known], attempt[known])

    def _states_of(self, copies: _Copies, called: tries.TracedAttempts) -> tuple[np.ndarray, ...]:
        """Message and group, state of the copies, due time, and what the traces have, of each that has any of these."""
        _, _, newest = _newest(self.copies.rows.take(copies.copy), copies)
        every = [np.concatenate([copies.home, called.home]), np.concatenate([copies.group, called.group])]
        (homes, groups), which = numbered(every)
        of_any, of_call = which[: len(copies.home)], which[len(copies.home) :]
        of_copy = of_any[newest]
        state, due, seen = np.zeros((3, len(homes)), np.int64)
        stored = np.full(len(homes), kernel.UNKNOWN)
        state[of_copy], due[of_copy] = copies.state[newest], copies.due[newest]
        stored[of_copy] = self.copies.rows["time"][copies.copy[newest]]
        success, began = self.attempts.success[called.attempt], self.attempts.began[called.attempt]
        last = np.full(len(homes), kernel.UNKNOWN)
        np.maximum.at(last, of_call, np.where(success < 0, began, kernel.UNKNOWN))
        seen[last != kernel.UNKNOWN] = _BEGUN
        seen[(seen == _BEGUN) & (last < stored)] = _BEGUN_BEFORE
        seen[of_call[(success == 1) & ~self._failed_later(copies, of_any, called, of_call)]] = _SUCCEEDED
        return homes, groups, state, due, seen

    def _failed_later(
        self, copies: _Copies, of_any: np.ndarray, called: tries.TracedAttempts, of_call: np.ndarray
    ) -> np.ndarray:
        """Of each call whether the message failed in it or later, as a copy shows; see the rule's `_is_after`."""
        rows, calls = self.copies.rows, self.attempts
        most, latest = np.full((2, max(of_any.max(initial=-1), of_call.max(initial=-1)) + 1), kernel.UNKNOWN)
        of_copies = rows["tries"][copies.copy]
        np.maximum.at(most, of_any, np.where(copies.kind == _DEAD, np.maximum(of_copies, 1), of_copies))
        np.maximum.at(latest, of_any, rows["time"][copies.copy])
        retry, ended = calls.retry_times[called.attempt], calls.ended[called.attempt]
        ended = np.where(ended == kernel.UNKNOWN, calls.began[called.attempt], ended)
        has_copy = latest[of_call] != kernel.UNKNOWN
        return has_copy & np.where(retry == kernel.UNKNOWN, latest[of_call] >= ended, most[of_call] > retry)

    def _number(self, group: str) -> int:
        if group not in self._numbers:
            self._numbers[group] = len(self.groups)
            self.groups.append(group)
        return self._numbers[group]

    def _pairs(self, ones: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Messages with the copies that may be of them; a copy that names one of several messages is that one's."""
        one, rows = ones.rows, self.copies.rows
        home, copy = self._alike(one)
        origin, named = rows["origin"][copy], rows["home"][copy]
        of_one = (one["own"][home] == origin) | (one["origin"][home] == origin)
        topic = self._topic[one["queue"][home]]
        of_topic = (self._topic_hashes[topic] == named[:, None]).any(axis=1) | (one["home"][home] == named)
        kept = (of_one | ~self._names_one[copy]) & (of_topic | (named == 0))
        kept &= rows["offset"][copy] >= one["offset"][home]
        return home[kept], copy[kept]

    def _alike(self, ones: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every pair of a message and a copy of the same key."""
        home, copy = self._of_key.matches(ones["key"])
        same = ones["key_2"][home] == self.copies.rows["key_2"][copy]
        return home[same], copy[same]

    def _states(self, copy: np.ndarray, group: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far each copy is, and whether a waiting one is due, where that matters."""
        config, rows = self.deciding.evidence.config, self.copies.rows
        state, due = kind.copy(), np.zeros(len(copy), np.int64)
        place, which, queues = rows["place"][copy], rows["which"][copy], rows["queue"][copy]
        alike = different(which, np.where(kind == _QUEUED, group, -1), queues, kind)
        for (of_which, of_group, queue, of_kind), here in alike:
            topic = self.copies.which[of_which].topic
            if of_kind == _QUEUED:
                known = config.offsets is not None
                reached = (config.offsets or {}).get((topic, self.groups[of_group]), {}).get(queue, -1)
                state[here] += np.where(reached > place[here], _YES, _NO) if known else _UNKNOWN
                held = config.popped.get((topic, self.groups[of_group]), {}).get(queue, {})
                acked = [offset for offset, record in held.items() if record.acked_ms is not None]
                state[here[np.isin(place[here], list(held))]] = _HELD
                state[here[np.isin(place[here], acked)]] = _ACKED
            elif of_kind == _WAITING and topic == TIMER_TOPIC:
                state[here], due[here] = self._on_timer(rows["due"][copy[here]])
            elif of_kind == _WAITING:
                following = None if config.delays is None else config.delays.get(queue + 1, 0)
                if following is None:
                    state[here], due[here] = _WAITING + _UNKNOWN, self._is_due(self._scheduled(queue, place[here]))
                else:
                    state[here] += np.where(following > place[here], _YES, _NO)
        return state, due

    def _on_timer(self, when: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        read = self.deciding.evidence.config.timer_read_ms
        state = np.full(len(when), _WAITING + _UNKNOWN)
        if read is not None:
            state = np.where(when == kernel.UNKNOWN, state, _WAITING + np.where(when < read, _YES, _NO))
        return state, self._is_due(when)

    def _is_due(self, when: np.ndarray) -> np.ndarray:
        is_due = np.where(when <= self.deciding.evidence.snapshot_ms, _IS_DUE, _DUE_LATER)
        return np.where(when == kernel.UNKNOWN, _NO_DUE, is_due)

    def _scheduled(self, queue: int, places: np.ndarray) -> np.ndarray:
        """When the units at some places of a schedule queue are due; UNKNOWN where there is none."""
        scheduled = self._schedule.get(queue)
        if scheduled is None:
            queues = self.deciding.evidence.store.queues.of(SCHEDULE_TOPIC)
            every = (each.entries()[:, [0, 2]] for each in queues if each.queue_id == queue)
            scheduled = self._schedule[queue] = next(every, np.zeros((0, 2), np.int64))
        at = np.searchsorted(scheduled[:, 0], places)
        known = np.append(scheduled[:, 0], -1)[at] == places
        return np.where(known, np.append(scheduled[:, 1], 0)[at], kernel.UNKNOWN)

    # ---- rows

    def _situation(
        self, ones: Rows, copies: _Copies, called: tries.TracedAttempts, judged: tries.JudgedGroups
    ) -> tries.Situation:
        """What the table of attempts is made of."""
        one, rows = ones.rows, self.copies.rows.take(copies.copy)
        return tries.Situation(
            tries.Messages(
                one["queue"],
                self.lacking.queues,
                one["place"],
                one["offset"],
                one["time"],
                words_of(keys_of(ones)),
            ),
            self.groups,
            tries.Copies(
                copies.home,
                copies.group,
                np.searchsorted([_DEAD, _QUEUED, _WAITING], copies.kind),
                rows["tries"],
                rows["offset"],
                rows["time"],
                lambda places: self._due_times(copies.copy[places]),
            ),
            self.attempts,
            called,
            judged,
            self.deciding.names,
        )

    def _due_times(self, copy: np.ndarray) -> np.ndarray:
        """When waiting copies are due, out of their properties or of their queue."""
        rows = self.copies.rows.take(copy)
        on_timer = np.array([each.topic == TIMER_TOPIC for each in self.copies.which], bool)[rows["which"]]
        due = rows["due"]
        queue = np.where(on_timer, -1, rows["queue"])
        for number in np.unique(queue[~on_timer]).tolist():
            here = queue == number
            due[here] = self._scheduled(number, rows["place"][here])
        return due

    def _fates(self) -> pa.Table:
        rows, folds = stacked([np.zeros(0, _FATE), *self._rows]), list(_FIGURES.items())
        table = pa.table({name: rows[name].copy() for name in _FATE.names or ()})
        summed = table.group_by(["queue", "group", "minute", "verdict"]).aggregate(folds)
        queue, group, verdict = (summed[name].to_numpy() for name in ("queue", "group", "verdict"))
        columns = [
            pa.array([case.topic for case in self.cases], pa.string()).take(pa.array(queue)),
            pa.array([case.queue for case in self.cases], pa.int64()).take(pa.array(queue)),
            pa.array(self.groups, pa.string()).take(pa.array(group)),
            times(summed["minute"].to_numpy() * MINUTE_MS),
            pa.array(self.deciding.names, pa.string()).take(pa.array(verdict)),
            *(summed["_".join(fold)] for fold in folds[:4]),
            *(times(summed["_".join(fold)].to_numpy()) for fold in folds[4:]),
        ]
        fates_table = pa.table(columns, schema=SCHEMAS["fates"])
        order = ["topic", "queue_id", "group", "minute", "verdict"]
        return fates_table.sort_by([(name, "ascending") for name in order]).combine_chunks()

    def _undelivered(self, ones: Rows, places: np.ndarray, judged: tries.JudgedGroups) -> pa.Table:
        """Messages that a group has not consumed: those at some places of these."""
        row_of = np.full(len(ones.rows), -1, np.int64)
        row_of[places] = np.arange(len(places))
        here = np.flatnonzero(row_of[judged.home] >= 0)
        chosen = (row_of[judged.home[here]], judged.group[here], judged.verdict[here])
        own, sets = _sets(len(places), *chosen)
        pairs = [tuple((self.groups[group], self.deciding.names[verdict]) for group, verdict in one) for one in sets]
        return self.lacking.table(Rows(ones.rows.take(places), ones.texts), own, pairs)

    def _is_open(self, rows: np.ndarray, judged: tries.JudgedGroups) -> np.ndarray:
        """Of each message with copies whether a group has not consumed it."""
        is_open = np.array([name in UNDELIVERED for name in self.deciding.names] or [False], bool)
        left = np.zeros(len(rows), np.int64)
        queue, interval, kind = rows["queue"], rows["interval"], rows["kind"]
        for number in np.unique(queue):
            here = queue == number
            left[here] = is_open[self.cases[number].verdicts].sum(axis=0)[interval[here], kind[here]]
        np.add.at(left, judged.home, is_open[judged.verdict])
        alike = different(queue[judged.home], judged.group, interval[judged.home], kind[judged.home])
        for (number, group, of_interval, of_kind), here in alike:
            case, name = self.cases[number], self.groups[group]
            if name in case.groups and is_open[case.verdicts[case.groups.index(name), of_interval, of_kind]]:
                np.add.at(left, judged.home[here], -1)  # the copies say something else
        return left > 0


def _sets(
    count: int, row: np.ndarray, group: np.ndarray, verdict: np.ndarray
) -> tuple[np.ndarray, list[tuple[tuple[int, int], ...]]]:
    """Which of the different sets of groups and verdicts each row has, and the sets; the first is empty."""
    order = order_of([row, group])
    row, ((groups, verdicts), which) = row[order], numbered([group[order], verdict[order]])
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    number = np.arange(len(row)) - np.repeat(begins, np.diff(begins, append=len(row)))  # of the pair in its row
    of_row, sets = np.zeros(count, np.int64), list[tuple[tuple[int, int], ...]]([()])
    for at in range(int(number.max(initial=-1)) + 1):
        here = number == at
        grown, new = np.unique(of_row[row[here]] * len(groups) + which[here], return_inverse=True)
        of_row[row[here]] = len(sets) + new
        more = [divmod(each, len(groups)) for each in grown.tolist()]
        sets += [(*sets[old], (int(groups[pair]), int(verdicts[pair]))) for old, pair in more]
    return of_row, sets


def _coded_names(names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Every different name, and which of them each is."""
    numbers: dict[str, int] = {}
    which = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    return list(numbers), which


def _kind(which: CopyKind) -> int:
    """What a copy is: a dead letter, one in a retry queue, or one that waits."""
    if which.topic.startswith(DLQ_PREFIX) or (which.topic == SCHEDULE_TOPIC and which.real.startswith(DLQ_PREFIX)):
        return _DEAD
    return _QUEUED if which.topic.startswith(RETRY_PREFIX) else _WAITING


def _as_counts(ones: np.ndarray) -> np.ndarray:
    """Single messages as counts of one each."""
    counts = np.empty(len(ones), kernel.COUNT)
    for name in ("queue", "interval", "kind"):
        counts[name] = ones[name]
    counts["minute"] = ones["time"] // MINUTE_MS
    counts["messages"], counts["bytes"] = 1, ones["size"]
    counts["first_place"] = counts["last_place"] = ones["place"]
    counts["first_time"] = counts["last_time"] = ones["time"]
    return counts


def _pieces_of(ones: Sequence[Rows]) -> Iterator[Rows]:
    """The messages that have copies, some at a time."""
    for part in ones:
        for begin in range(0, len(part.rows), _PIECE):
            yield Rows(part.rows[begin : begin + _PIECE], part.texts)


class _Sorted:
    """Numbers in order, for looking up where each is."""

    def __init__(self, numbers: np.ndarray) -> None:
        self._order = np.argsort(numbers)
        ordered = numbers[self._order]
        begins = begins_of([ordered])
        self._numbers, self._edges = ordered[begins], np.append(begins, len(ordered))

    def matches(self, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every pair of places at which the others and these numbers have the same."""
        if not len(self._numbers):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        at = np.minimum(np.searchsorted(self._numbers, others), len(self._numbers) - 1)
        many = np.where(self._numbers[at] == others, self._edges[at + 1] - self._edges[at], 0)
        starts = self._edges[at] - (np.cumsum(many) - many)
        places = self._order[np.arange(many.sum()) + np.repeat(starts, many)]
        return np.repeat(np.arange(len(others)), many), places


def _newest(rows: np.ndarray, copies: _Copies) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each message and group the copy that decides: a dead letter, else of the last attempt that got furthest."""
    home, group, kind = copies.home, copies.group, copies.kind
    order = order_of([home, group, kind == _DEAD, rows["tries"], kind == _QUEUED, rows["time"], rows["offset"]])
    home, group = home[order], group[order]
    last = np.ones(len(home), bool)
    last[:-1] = (home[1:] != home[:-1]) | (group[1:] != group[:-1])
    return home[last], group[last], order[last]
