"""What a broker keeps of groups and topics in RocksDB, as its JSON files have it: three layouts. Judges nothing.

`config/consumerOffsets` and the like have a row for each topic and group. `config/metadata` has all of these in one
database (useSingleRocksDBForAllConfigs). `config/rdb` has binary keys (configManagerVersion=v2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from idcore.base import loose_json, plain_json
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.rocksdb import LARGEST_SETTINGS, Database, has_data, is_database

SINGLE, SECOND = "metadata", "rdb"
OFFSET_PLACES = ("consumerOffsets", SINGLE, SECOND)  # folders that may have the offsets of groups
# By file: its table, and where it is by layout.
_TABLES = {
    "consumerOffset.json": ("offsetTable", "consumerOffsets", "consumerOffset", 1),
    "topics.json": ("topicConfigTable", "topics", "topic", 3),
    "subscriptionGroup.json": ("subscriptionGroupTable", "subscriptionGroups", "subscriptionGroup", 4),
}
_PULLED = 2  # the table of what each group was given
_HEAD, _RECORD = b"\x01", b"\x02"  # TablePrefix.TABLE, RecordPrefix.DATA
_JSON = b"\x01"  # SerializationType
_OFFSET = 8
Values = dict[str, Any]


class TooManyValues(ValueError):
    """Rows of more values than are held at once."""


class RocksSettings:
    """The settings below `config` of a store folder that are in RocksDB."""

    def __init__(self, folder: Path, reading: Reading) -> None:
        names = [SINGLE, SECOND, *(separate for _, separate, _, _ in _TABLES.values())]
        present = (name for name in names if is_database(folder / name, reading) and has_data(folder / name, reading))
        self._databases = {name: Database(folder / name, reading, LARGEST_SETTINGS) for name in present}

    def close(self) -> None:
        """Ends what was opened: settings are read once."""
        for database in self._databases.values():
            database.close()

    def table(self, name: str) -> tuple[str, Values] | None:
        """The folder that has the settings of a file, and these as the file would have them; ValueError if damaged."""
        table, separate, single, second = _TABLES.get(name, ("", "", "", 0))
        for place, family in ((SINGLE, single), (separate, "default")):
            rows = self._whole(place, family)
            if rows:
                values = {key.decode(): _json(value) for key, value in rows.items()}
                if table == "offsetTable":
                    values = {key: as_object(value.get(table)) for key, value in values.items()}
                return place, {table: values}
        rows = self._whole(SECOND, "default")
        if not second or not rows:
            return None
        if table == "offsetTable":
            return SECOND, {table: _offsets(rows, second)}
        settings = {_named(key)[0]: _json(value.removeprefix(_JSON)) for key, value in _of(rows, second)}
        return (SECOND, {table: settings}) if settings else None

    def pulled(self) -> Values | None:
        """How far each group was given messages: a broker keeps this in RocksDB alone, and of the second layout."""
        rows = self._whole(SECOND, "default")
        return {"offsetTable": _offsets(rows, _PULLED)} if rows else None

    def _whole(self, place: str, family: str) -> Mapping[bytes, bytes] | None:
        rows = self._databases[place].whole(family) if place in self._databases and family else None
        if rows and sum(map(plain_json.most_values, rows.values())) > plain_json.MOST_VALUES:
            raise TooManyValues(place)
        return rows


def _of(rows: Mapping[bytes, bytes], table: int) -> Iterator[tuple[bytes, bytes]]:
    head = _HEAD + table.to_bytes(2, "big") + _RECORD
    return ((key[len(head) :], value) for key, value in rows.items() if key.startswith(head))


def _offsets(rows: Mapping[bytes, bytes], table: int) -> dict[str, dict[str, int]]:
    """By `topic@group`: group, topic and queue are in the key, the value is the offset."""
    offsets: dict[str, dict[str, int]] = {}
    for key, value in _of(rows, table):
        group, rest = _named(key)
        topic, queue = _named(rest[1:])
        if len(queue) != 5 or len(value) != _OFFSET:
            raise ValueError("a row of another form")
        offset = int.from_bytes(value, "big", signed=True)
        offsets.setdefault(f"{topic}@{group}", {})[str(int.from_bytes(queue[1:], "big"))] = offset
    return offsets


def _named(raw: bytes) -> tuple[str, bytes]:
    """A name behind its length, and what follows it."""
    length = int.from_bytes(raw[:2], "big")
    return raw[2 : 2 + length].decode(), raw[2 + length :]


def _json(raw: bytes) -> Values:
    return as_object(loose_json.loads(raw))


def as_object(value: Any) -> Values:
    """A value that has to be a JSON object; else ValueError."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value
