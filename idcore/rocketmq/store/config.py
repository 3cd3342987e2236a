"""The broker's own files about groups: offsets, delays, settings; a damaged one is read from its .bak. Judges nothing.

Every file has a copy with the suffix .bak: what the broker wrote the time before (ConfigManager.persist).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from idcore.base import loose_json, plain_json
from idcore.base.errors import CoreError
from idcore.base.open_folders import Roots, entries, file_status, is_folder, is_regular, opener
from idcore.base.safe_text import encodable
from idcore.ids.clock import is_time
from idcore.rocketmq.message.model import parent_of
from idcore.rocketmq.store import pop_records
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.names import Groups, few, name_of
from idcore.rocketmq.store.pop_records import PopRecords, PopTable
from idcore.rocketmq.store.rocks_settings import OFFSET_PLACES, RocksSettings, TooManyValues, as_object
from idcore.rocketmq.store.rocksdb import has_data, is_database, written_ms

T = TypeVar("T")
LARGEST = 32 << 20
LONGEST_FILTER = 1 << 16
# What is missing of these is said by the store folder.
_ROCKSDB_OF_MESSAGES = ("rocksdbstore", "consumequeue_rocksdb", "consumequeue")
_READABLE = 4  # PermName.PERM_READ
_BROADCAST = "@broadcast"
_LIGHT_OFFSETS = "lmqConsumerOffset.json"
_BOUND = "lite.bind.topic"  # an attribute of a group (5.5.0 on)
_OF_EVERY_BROKER = ("consumerOffset.json", "delayOffset.json", "subscriptionGroup.json", "topics.json")
_ALL_QUEUES = 1 << 31
_SUBSCRIPTION = re.compile(r"([^:=]+):([^:=]+)=(.+)")


@dataclass(frozen=True, slots=True)
class Note:
    """What is odd about one file: a code with the values of its sentence."""

    code: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Which queues of a topic consumers may read."""

    is_readable: bool
    read_queues: int

    def can_be_read(self, queue: int) -> bool:
        """Whether a consumer is ever assigned this queue."""
        return self.is_readable and queue < self.read_queues


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """What a group is allowed, and the parent of the lite topics that it is bound to.

    Without `can_retry` the broker drops what a push client sends back.
    """

    can_consume: bool
    can_broadcast: bool
    lite_parent: str | None = None
    can_retry: bool = True


@dataclass(frozen=True, slots=True)
class Expression:
    """A filter that a broker keeps for a group: not of tags, which only clients and the broker's memory have."""

    kind: str
    text: str
    since_ms: int


GroupOffsets = Mapping[tuple[str, str], Mapping[int, int]]  # of (topic, group): queue to offset


def subscription_of(text: str) -> tuple[str, str, str]:
    """Topic, group and tags of `GROUP:TOPIC=TagA||TagB`; CoreError if it is not written so."""
    match = _SUBSCRIPTION.fullmatch(text)
    if match is None or not any(tag.strip() for tag in match[3].split("||")):
        raise CoreError("subscription", {"given": text})
    return match[2], match[1], match[3]


def subscriptions_in(text: str) -> dict[tuple[str, str], str]:
    """The tags of each topic and group, one a line; CoreError names the first line that is wrong or repeats one."""
    subscriptions: dict[tuple[str, str], str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                topic, group, tags = subscription_of(line.strip())
                if (topic, group) in subscriptions:
                    raise CoreError("subscription_twice", {"topic": topic, "group": group})
            except CoreError as error:
                raise CoreError("subscription_line", {"line": number, "problem": error}) from error
            subscriptions[topic, group] = tags
    return subscriptions


def subscriptions_text(given: Mapping[tuple[str, str], str]) -> str:
    """The inverse of `subscriptions_in`: one line for each group and topic."""
    return "\n".join(f"{group}:{topic}={tags}" for (topic, group), tags in sorted(given.items()))


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """What the files say; None where neither a file nor its .bak could be read.

    `handed_out` is how far an ordered POP group was given messages, `visible_again` when these come back.
    `popped` is what other POP groups were handed, and did not acknowledge or did: read when it is first asked for.
    `noted` is what is odd about all other files. `latest_ms` is the newest time in any file.
    `read` are the files that could be read, or whose .bak could; `missing` those of every broker that are not there.
    `earlier` are the offsets that the broker wrote the time before; empty where `offsets` itself is of the .bak.
    """

    offsets: GroupOffsets | None = None
    earlier: GroupOffsets = field(default_factory=dict)
    broadcast: GroupOffsets = field(default_factory=dict)
    handed_out: GroupOffsets = field(default_factory=dict)
    visible_again: GroupOffsets = field(default_factory=dict)
    popped: PopRecords = field(default_factory=dict)
    expressions: Mapping[tuple[str, str], Expression] = field(default_factory=dict)
    delays: Mapping[int, int] | None = None
    groups: Mapping[str, GroupSettings] | None = None
    topics: Mapping[str, TopicSettings] | None = None
    static_topics: frozenset[str] = frozenset()
    timer_read_ms: int | None = None
    latest_ms: int | None = None
    offsets_written_ms: int | None = None
    noted: tuple[Note, ...] = ()
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is odd about the files; the folder of `popped` is read for it."""
        name = pop_records.FOLDER
        if not isinstance(self.popped, PopTable):
            return self.noted
        if self.popped.damage:
            problem = CoreError("config_damaged", {"name": name, "why": self.popped.damage})
            return *self.noted, Note("config_lost", {"name": name, "problem": problem.coded()})
        unread = Note("config_rocksdb", {"name": name})
        return tuple(note for note in self.noted if note != unread) if self.popped.is_read else self.noted

    def groups_of(self, topic: str) -> set[str]:
        """The groups that have read a topic, or have a filter for it, or are bound to the parent of a lite topic."""
        parent = parent_of(topic)
        groups = (self.groups or {}).items() if parent is not None else ()
        bound = {name for name, settings in groups if settings.lite_parent == parent}
        return self.groups_by_topic().get(topic, set()) | bound

    def groups_by_topic(self) -> dict[str, set[str]]:
        """The groups of every topic. Reads no log."""
        groups: dict[str, set[str]] = {}
        popped = self.popped.in_folder if isinstance(self.popped, PopTable) else self.popped
        for table in (self.offsets or {}, self.broadcast, self.handed_out, popped, self.expressions):
            for topic, group in table:
                groups.setdefault(topic, set()).add(group)
        return groups


def read_config(
    root: Path,
    reading: Reading,
    popped: Callable[[], PopRecords] | None = None,
    first_stored_ms: Callable[[str, int], int | None] | None = None,
) -> BrokerConfig:
    """The files below `config` of a store folder. What cannot be read is noted, and the rest goes on.

    `popped` reads what POP groups were handed out of the log, where no folder has it; `first_stored_ms` is when the
    first message of a queue was stored.
    """
    return replace(_Files(root, reading).config(), popped=PopTable(root, reading, popped, first_stored_ms))


class _Files:
    """The files of one folder, and what is odd about them."""

    def __init__(self, root: Path, reading: Reading) -> None:
        self._root = root
        self._folder = root / "config"
        self._reading = reading
        self._times: list[int] = []
        self._groups: Groups = {}  # of all files together
        self._written: dict[str, int] = {}
        self.notes: list[Note] = []
        self._read_rocksdb: set[str] = set()
        self._settings = RocksSettings(self._folder, reading)

    def config(self) -> BrokerConfig:
        rocks = self._rocksdb()
        try:
            return self._config(rocks)
        finally:
            self._settings.close()

    def _config(self, rocks: bool) -> BrokerConfig:
        offsets, written = self._offsets()
        delays = self._file("delayOffset.json", lambda values: _numbers(_table(values, "offsetTable")))
        if offsets is None and not rocks:
            self._note("config_no_offsets", name="consumerOffset.json")
        plain, broadcast = offsets if offsets is not None else (None, {})
        timer = self._timer()
        handed_out, visible_again = self._file("consumerOrderInfo.json", partial(_handed_out, self._groups)) or ({}, {})
        handed_out = {**self._pulled(), **handed_out}
        return BrokerConfig(
            offsets=plain,
            earlier=self._earlier() if plain is not None else {},
            broadcast=broadcast,
            handed_out=handed_out,
            visible_again=visible_again,
            expressions=self._file("consumerFilter.json", partial(_expressions, self._groups)) or {},
            delays=delays,
            groups=self._file("subscriptionGroup.json", _groups),
            topics=self._file("topics.json", _topics),
            static_topics=self._file(
                "topicQueueMapping.json",
                lambda values: frozenset(map(encodable, _table(values, "topicQueueMappingInfoMap"))),
            )
            or frozenset(),
            timer_read_ms=timer,
            latest_ms=max((at for at in self._times if is_time(at)), default=None),
            offsets_written_ms=written,
            noted=tuple(
                note
                for note in self.notes
                if note.code != "config_rocksdb" or note.values["name"] not in self._read_rocksdb
            ),
            read=tuple(sorted(self._written)),
            missing=() if rocks else tuple(name for name in _OF_EVERY_BROKER if not self._is_there(name)),
        )

    def _offsets(self) -> tuple[tuple[GroupOffsets, GroupOffsets] | None, int | None]:
        """The offsets of groups, and when they were written.

        A broker with light topics (enableLmq) has all of them in a file of its own. The other one is then of before.
        """
        merged: tuple[GroupOffsets, GroupOffsets] | None = None
        there = []
        for name, places in (("consumerOffset.json", OFFSET_PLACES), (_LIGHT_OFFSETS, ())):
            held = self._file(name, partial(_offsets, self._groups))
            written = next((self._written[each] for each in (name, *places) if each in self._written), 0)
            if held is not None:
                there.append((written, held))
        for _, held in sorted(there, key=lambda each: each[0]):  # the newer one last
            plain, broadcast = merged or ({}, {})
            merged = {**plain, **held[0]}, {**broadcast, **held[1]}
        return merged, max((written for written, _ in there), default=0) or None

    def _pulled(self) -> GroupOffsets:
        """How far each group was given messages, as far as a broker keeps it."""
        try:
            values = self._settings.pulled()
            return _offsets(self._groups, values)[0] if values is not None else {}
        except ValueError:  # the same folder has the offsets, and was named for them
            return {}

    def _is_there(self, name: str) -> bool:
        try:
            return any(is_regular(self._folder / each, self._reading.roots) for each in (name, f"{name}.bak"))
        except OSError:  # it cannot be read, or leads outside: it is not told from one that is there
            return True

    def _note(self, code: str, **values: Any) -> None:
        self.notes.append(Note(code, values))

    def _rocksdb(self) -> bool:
        """Names the parts that are kept in RocksDB. Whether the config is among them."""
        is_there = False
        for folder in (self._root, self._folder):
            with self._reading.noted(folder):
                for inside in _names(folder, self._reading.roots) if is_folder(folder, self._reading.roots) else ():
                    name = str(inside.relative_to(self._root))
                    if name in _ROCKSDB_OF_MESSAGES or not is_database(inside, self._reading):
                        continue
                    written = has_data(inside, self._reading)
                    if name == pop_records.FOLDER and not written:  # every broker of 5.4 and later makes it
                        continue
                    self._note("config_rocksdb" if written else "config_rocksdb_unflushed", name=name)
                    is_there = is_there or (written and folder == self._folder)
        return is_there

    def _file(self, name: str, read: Callable[[dict[str, Any]], T]) -> T | None:
        """What a file says, or else its .bak; None where neither can be read."""
        problem: CoreError | None = None
        for path in (self._folder / name, self._folder / f"{name}.bak"):
            raw = self._raw(path)
            if raw is None:
                continue
            try:
                values = loose_json.loads(raw)
                table = read(as_object(values))
            except ValueError as error:
                problem = problem or CoreError("config_damaged", {"name": path.name, "why": str(error)})
                continue
            if path.name != name:
                self._note("config_bak" if problem else "config_only_bak", name=name)
            version = values.get("dataVersion")
            if isinstance(version, dict) and type(at := version.get("timestamp")) is int:
                self._times.append(at)
            self._written[name] = self._written_ms(path)
            return table
        if problem is not None:
            self._note("config_lost", name=name, problem=problem.coded())
            return None
        return self._of_rocksdb(name, read)

    def _of_rocksdb(self, name: str, read: Callable[[dict[str, Any]], T]) -> T | None:
        """The same from a broker that keeps it in RocksDB."""
        try:
            found = self._settings.table(name)
            values = read(found[1]) if found is not None else None
        except TooManyValues as many:
            self._note("config_values", name=str(many), most=plain_json.MOST_VALUES)
            return None
        except ValueError as error:
            problem = CoreError("config_damaged", {"name": name, "why": str(error)})
            self._note("config_lost", name=name, problem=problem.coded())
            return None
        if found is not None:
            folder = self._folder / found[0]
            self._written[found[0]] = written_ms(folder, self._reading)
            self._read_rocksdb.add(f"{self._folder.name}/{found[0]}")
        return values

    def _earlier(self) -> GroupOffsets:
        """The offsets of the .bak next to a file that was read; a damaged one is not needed."""
        name = "consumerOffset.json"
        raw = self._raw(self._folder / f"{name}.bak")
        if raw is None or any(note.values.get("name") == name for note in self.notes):
            return {}
        try:
            return _offsets({}, as_object(loose_json.loads(raw)))[0]
        except ValueError:
            return {}

    def _raw(self, path: Path) -> bytes | None:
        """The bytes of a file; None where there is none, or it cannot be read."""
        with self._reading.noted(path):
            if is_regular(path, self._reading.roots):
                with open(path, "rb", opener=opener(self._reading.roots)) as file:
                    size = os.fstat(file.fileno()).st_size
                    if size > LARGEST:
                        self._note("config_large", name=path.name, size=size, most=LARGEST)
                        return None
                    raw = file.read(LARGEST)
                if plain_json.most_values(raw) <= plain_json.MOST_VALUES:
                    return raw
                self._note("config_values", name=path.name, most=plain_json.MOST_VALUES)
        return None

    def _written_ms(self, path: Path) -> int:
        """When a file that was read was written; 0 where it is gone by now."""
        with self._reading.noted(path):
            return int(file_status(path, self._reading.roots).st_mtime * 1_000)
        return 0

    def _timer(self) -> int | None:
        """Up to which due time the timer wheel has delivered: the first of the numbers in `timercheck`."""
        for path in (self._folder / "timercheck", self._folder / "timercheck.bak"):
            raw = self._raw(path)
            at = int.from_bytes(raw[:8], "big", signed=True) if raw is not None and len(raw) >= 8 else 0
            if at > 0:
                self._times.append(at)
                self._written[path.name.removesuffix(".bak")] = self._written_ms(path)
                return at
        return None


# ---- from JSON


def _names(folder: Path, roots: Roots) -> list[Path]:
    with entries(folder, roots) as inside:
        return sorted(folder / entry.name for entry in inside)


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = values.get(name)
    return {} if value is None else as_object(value)


def _number(value: Any) -> int:
    if type(value) is not int or abs(value) >= 1 << 63:
        raise ValueError(f"{str(value)[:40]!r} in the place of a number")
    return value


def _numbers(values: Mapping[str, Any]) -> dict[int, int]:
    return {_queue(key): _number(value) for key, value in values.items()}


def _queue(key: str) -> int:
    """A number that is a key: of a queue, or a level of delay."""
    return _number(int(key))


def _pair(key: str) -> tuple[str, str]:
    topic, _, group = key.partition("@")
    return name_of(topic), name_of(group)


def _offsets(known: Groups, values: dict[str, Any]) -> tuple[GroupOffsets, GroupOffsets]:
    """Offsets of groups; and apart from them what each client of a broadcasting group was handed (5.1.0 on)."""
    if "offsetTable" not in values:
        raise ValueError("no offsetTable")
    light = _table(values, "lmqOffsetTable").items()
    plain = {_pair(key): {0: _number(offset)} for key, offset in light}  # a light topic has one queue
    broadcast: dict[tuple[str, str], dict[int, int]] = {}
    for key, queues in _table(values, "offsetTable").items():
        topic, group = _pair(key)
        table = broadcast if group.endswith(_BROADCAST) else plain
        table[topic, group.removesuffix(_BROADCAST)] = _numbers(as_object(queues))
    few([*plain, *broadcast], known)
    return plain, broadcast


def _handed_out(known: Groups, values: dict[str, Any]) -> tuple[GroupOffsets, GroupOffsets]:
    """The end of what ordered POP groups hold: `o` is the first offset, then each one's distance from it.

    And when that comes back: `i` ms after it was taken.
    """
    handed_out, again = {}, {}
    for key, queues in _table(values, "table").items():
        ends, times = {}, {}
        for queue, row in as_object(queues).items():
            offsets, taken, held = (as_object(row).get(name) for name in ("o", "popTime", "i"))
            if isinstance(offsets, list) and offsets:
                first, *others = map(_number, offsets)
                ends[_queue(queue)] = _number(first + max(others, default=0) + 1)
            if type(taken) is int and type(held) is int and is_time(taken + held):
                times[_queue(queue)] = taken + held
        handed_out[_pair(key)], again[_pair(key)] = ends, times
    few(handed_out, known)
    return handed_out, again


def _expressions(known: Groups, values: dict[str, Any]) -> Mapping[tuple[str, str], Expression]:
    """The filters of groups that are or were connected; only expressions that a broker compiles are kept here."""
    expressions = {}
    for topic, held in _table(values, "filterDataByTopic").items():
        for group, row in _table(as_object(held), "groupFilterData").items():
            kind, text = as_object(row).get("expressionType"), row.get("expression")
            since = row.get("clientVersion")
            if isinstance(kind, str) and isinstance(text, str):
                if len(text) > LONGEST_FILTER:
                    raise ValueError(f"a filter of {len(text):,} characters")
                expressions[name_of(topic), name_of(group)] = Expression(kind, text, since if type(since) is int else 0)
    few(expressions, known)
    return expressions


def _groups(values: dict[str, Any]) -> Mapping[str, GroupSettings]:
    groups = {}
    for name, row in _table(values, "subscriptionGroupTable").items():
        queues, parent = as_object(row).get("retryQueueNums"), _table(row, "attributes").get(_BOUND)
        groups[name_of(name)] = GroupSettings(
            row.get("consumeEnable") is not False,
            row.get("consumeBroadcastEnable") is not False,
            parent if isinstance(parent, str) else None,
            type(queues) is not int or queues > 0,
        )
    few(((one.lite_parent, name) for name, one in groups.items() if one.lite_parent is not None), {})
    return groups


def _topics(values: dict[str, Any]) -> Mapping[str, TopicSettings]:
    topics = {}
    for name, row in _table(values, "topicConfigTable").items():
        perm, queues = as_object(row).get("perm"), row.get("readQueueNums")
        readable = type(perm) is not int or bool(perm & _READABLE)
        topics[name_of(name)] = TopicSettings(readable, queues if type(queues) is int else _ALL_QUEUES)
    return topics
