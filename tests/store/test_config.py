"""The broker's own files: both lines, the forms of fastjson, damage and what is read instead, RocksDB named."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from rocksdict import Options, Rdict

from idcore.base.errors import CoreError
from idcore.base.plain_json import MOST_VALUES
from idcore.rocketmq.store.config import (
    LARGEST,
    BrokerConfig,
    Expression,
    GroupSettings,
    TopicSettings,
    read_config,
    subscriptions_in,
    subscriptions_text,
)
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.names import MOST_GROUPS

# as fastjson 1 writes it: tabs, numbers as keys without quotes
OFFSETS = b'{\n\t"dataVersion":{"timestamp":1795226115045},\n\t"offsetTable":{\n\t\t"T@G":{0:12,1:9\n\t\t}\n\t}\n}'


def written(root: Path, **files: Any) -> Path:
    """A folder with these files below config: `a__b` is a.json.b."""
    (root / "config").mkdir(exist_ok=True)
    for name, value in files.items():
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        stem, _, more = name.partition("__")
        (root / "config" / (f"{stem}.json" + (f".{more}" if more else ""))).write_bytes(raw)
    return root


def config(root: Path) -> BrokerConfig:
    return read_config(root, Reading())


def codes(found: BrokerConfig) -> list[str]:
    return [note.code for note in found.notes]


def test_a_real_broker_is_read(real: StoreFolder) -> None:
    found = real.config
    assert found.offsets is not None and found.offsets["Orders", "normal_group"] == {0: 141, 1: 139, 2: 140, 3: 140}
    assert found.groups_of("Orders") == {"normal_group"}
    assert found.delays == {1: 264, 2: 17, 3: 16} and not found.notes
    assert found.groups is not None and found.groups["retry_group"] == GroupSettings(True, True)
    assert found.topics is not None and found.topics["VectorTopic"] == TopicSettings(True, 4)
    assert not found.topics["rmq_sys_SYNC_BROKER_MEMBER_broker-a"].is_readable
    assert found.latest_ms == 1795226115045 and found.offsets_written_ms is not None
    assert found.missing == () and {"consumerOffset.json", "delayOffset.json", "topics.json"} <= set(found.read)


def test_every_file_is_read_in_the_form_that_brokers_write(tmp_path: Path) -> None:
    offsets = {"T@G": {"0": 12}, "T@G@broadcast": {"0": 7}}
    order = {"T@P": {"0": {"popTime": 5, "i": 60000, "o": [7, 1, 3], "oc": {}, "cm": 0}, "1": {"o": []}}}
    rule = {"consumerGroup": "G", "topic": "T", "expressionType": "SQL92", "expression": "a > 5", "clientVersion": 99}
    written(
        tmp_path,
        consumerOffset={"offsetTable": offsets},
        delayOffset=b'{"offsetTable":{3:16}}',
        consumerOrderInfo={"table": order},
        consumerFilter={"filterDataByTopic": {"T": {"topic": "T", "groupFilterData": {"G": rule}}}},
        subscriptionGroup={"subscriptionGroupTable": {"G": {"consumeEnable": False, "retryQueueNums": 0}}},
        topics={"topicConfigTable": {"T": {"perm": 2, "readQueueNums": 4}}},
        topicQueueMapping={"topicQueueMappingInfoMap": {"S": {}}},
    )
    (tmp_path / "config" / "timercheck").write_bytes((1795226115000).to_bytes(8, "big") + bytes(48))
    found = config(tmp_path)
    assert (found.offsets, found.broadcast) == ({("T", "G"): {0: 12}}, {("T", "G"): {0: 7}})
    assert found.handed_out == {("T", "P"): {0: 11}} and found.delays == {3: 16}
    assert found.expressions == {("T", "G"): Expression("SQL92", "a > 5", 99)}
    assert found.groups == {"G": GroupSettings(False, True, can_retry=False)} and found.static_topics == {"S"}
    assert found.topics is not None and not found.topics["T"].can_be_read(0)
    assert TopicSettings(True, 4).can_be_read(3) and not TopicSettings(True, 4).can_be_read(4)
    assert len(found.read) == 8 and not found.missing
    assert found.groups_of("T") == {"G", "P"} and found.timer_read_ms == found.latest_ms == 1795226115000
    assert not found.notes


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        OFFSETS[:-9],
        b"\0" * 64,
        b"[]",
        b'{"offsetTable":[]}',
        b'{"offsetTable":{"T@G":{0:"x"}}}',
        b"{}",
        b'{"offsetTable":{"T@G":{0:99999999999999999999}}}',
        b'{"offsetTable":{"T@G":{"9223372036854775808":1}}}',
        b"\xff{}",
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_read_from_its_older_copy_and_this_is_said(tmp_path: Path, raw: bytes) -> None:
    found = config(written(tmp_path, consumerOffset=raw, consumerOffset__bak=OFFSETS))
    assert found.offsets == {("T", "G"): {0: 12, 1: 9}} and codes(found) == ["config_bak"]
    found = config(written(tmp_path, consumerOffset__bak=raw))
    assert found.offsets is None and codes(found) == ["config_lost", "config_no_offsets"]
    assert found.notes[0].values["problem"]["code"] == "config_damaged"


@pytest.mark.parametrize("row", ['"9223372036854775808":{"o":[1]}', '"0":{"o":[9223372036854775807,1]}'])
def test_numbers_that_no_broker_can_hold_are_damage_in_the_table_of_pop_too(tmp_path: Path, row: str) -> None:
    """The scan of the whole store failed: a column of a table has 64 bits."""
    raw = f'{{"table":{{"T@G":{{{row}}}}}}}'.encode()
    found = config(written(tmp_path, consumerOffset=OFFSETS, consumerOrderInfo=raw))
    assert found.offsets and not found.handed_out and codes(found) == ["config_lost"]


LONG, MANY = "G" * 1_001, range(MOST_GROUPS + 1)
FILTER = {"expressionType": "SQL92", "expression": "a=1"}


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("consumerOffset", {"offsetTable": {f"T@{LONG}": {"0": 1}}}),
        ("consumerOffset", {"offsetTable": {f"T@g{number}": {"0": 1} for number in MANY}}),
        ("consumerOffset", {"offsetTable": {f"T@g{number}@broadcast": {"0": 1} for number in MANY}}),
        ("consumerOrderInfo", {"table": {f"T@{LONG}": {"0": {"o": [1]}}}}),
        ("consumerOrderInfo", {"table": {f"T@g{number}": {"0": {"o": [1]}} for number in MANY}}),
        ("consumerFilter", {"filterDataByTopic": {"T": {"groupFilterData": {LONG: FILTER}}}}),
        ("consumerFilter", {"filterDataByTopic": {"T": {"groupFilterData": {f"g{at}": FILTER for at in MANY}}}}),
        (
            "consumerFilter",
            {"filterDataByTopic": {"T": {"groupFilterData": {"g": FILTER | {"expression": "a" * 70_000}}}}},
        ),
        ("subscriptionGroup", {"subscriptionGroupTable": {LONG: {}}}),
        (
            "subscriptionGroup",
            {"subscriptionGroupTable": {f"g{at}": {"attributes": {"lite.bind.topic": "P"}} for at in MANY}},
        ),
        ("topics", {"topicConfigTable": {LONG: {"perm": 6, "readQueueNums": 1}}}),
    ],
)
def test_names_and_groups_without_a_bound_are_damage(tmp_path: Path, name: str, held: Any) -> None:
    """Each message that is looked up repeats them: of a file of 3 MB a look-up of 50 made an answer of 3 GB."""
    found = config(written(tmp_path, **({"consumerOffset": OFFSETS} | {name: held})))
    assert codes(found)[0] == "config_lost" and found.notes[0].values["name"] == f"{name}.json"
    assert found.groups_of("T") <= {"G"}


def test_groups_of_a_topic_are_bounded_in_all_files_together(tmp_path: Path) -> None:
    """Each file had so many of its own: a folder of 160 KB, packed, had 20,000 groups of each message."""
    few = range(MOST_GROUPS // 2)
    rows: dict[str, dict[str, int]] = {f"T@a{at}": {"0": 1} for at in few} | {f"T@b{at}@broadcast": {} for at in few}
    filters = {f"c{at}": FILTER for at in few}
    ordered = {"table": {f"T@d{at}": {"0": {"o": [1]}} for at in few}}
    found = config(
        written(
            tmp_path,
            consumerOffset={"offsetTable": rows},
            consumerFilter={"filterDataByTopic": {"T": {"groupFilterData": filters}}},
            consumerOrderInfo=ordered,
            lmqConsumerOffset={"offsetTable": {f"T@e{at}": {"0": 1} for at in few} | {"T@G": {"0": 1}}},
        )
    )
    assert len(found.groups_of("T")) == MOST_GROUPS
    lost = {note.values["name"] for note in found.notes if note.code == "config_lost"}
    assert lost == {"lmqConsumerOffset.json", "consumerFilter.json", "consumerOrderInfo.json"}


def test_a_group_is_bound_to_a_name_alone(tmp_path: Path) -> None:
    held = {"g": {"attributes": {"lite.bind.topic": ["P"]}}, "h": {"attributes": {"lite.bind.topic": "P"}}}
    found = config(written(tmp_path, consumerOffset=OFFSETS, subscriptionGroup={"subscriptionGroupTable": held}))
    assert found.groups_of("%LMQ%$P$x") == {"h"}


def test_what_is_missing_or_too_large_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    found = config(tmp_path)
    every = ("consumerOffset.json", "delayOffset.json", "subscriptionGroup.json", "topics.json")
    assert codes(found) == ["config_no_offsets"] and found == BrokerConfig(noted=found.noted, missing=every)
    found = config(written(tmp_path, consumerOffset__bak=OFFSETS))
    assert codes(found) == ["config_only_bak"] and found.offsets
    with (tmp_path / "config" / "consumerOffset.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    found = config(tmp_path)
    assert codes(found)[:2] == ["config_large", "config_only_bak"] and found.offsets
    assert found.read == ("consumerOffset.json",) and "consumerOffset.json" not in found.missing


@pytest.mark.parametrize("row", ["[]", '"%x@g":{0:1}', "%d:1"])
def test_a_file_of_so_many_values_that_python_would_need_a_gigabyte_is_said_and_not_read(
    tmp_path: Path, row: str
) -> None:
    rows = ",".join(row % number if "%" in row else row for number in range(MOST_VALUES // 2 + 1))
    text = '{"offsetTable":[%s]}' if row == "[]" else '{"offsetTable":{%s}}'
    tracemalloc.start()
    try:
        found = config(written(tmp_path, consumerOffset=(text % rows).encode(), consumerOffset__bak=OFFSETS))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert codes(found) == ["config_values", "config_only_bak"] and found.offsets
    assert peak < 150 << 20, f"{peak >> 20} MiB"


def test_rocksdb_folders_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for name in ("config/consumerOffsets", "consumequeue_rocksdb", "config/plain"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / ("LOCK" if name.endswith("plain") else "CURRENT")).touch()
        (tmp_path / name / ("000004.log" if name.startswith("config/") else "000009.sst")).write_bytes(b"data")
    (tmp_path / "kvStore").mkdir()
    for name in ("CURRENT", "000004.log"):  # as 5.5.0 makes it, without anything in it: no POP consumer holds a message
        (tmp_path / "kvStore" / name).touch()
    found = config(written(tmp_path, delayOffset={"offsetTable": {"3": 16}}))
    assert codes(found) == ["config_rocksdb"] and found.delays == {3: 16} and found.offsets is None
    assert found.read == ("delayOffset.json",) and not found.missing, "they may be in RocksDB"
    assert [note.values["name"] for note in found.notes] == ["config/consumerOffsets"]


def in_rocksdb(root: Path, name: str, rows: dict[str, dict[str, Any]]) -> None:
    """Settings as a broker with configRocksDB keeps them: a row for each group or topic."""
    options = Options(raw_mode=True)
    made = Rdict(str(root / "config" / name), options)
    for key, value in rows.items():
        made[key.encode()] = json.dumps(value).encode()
    made.close()


def test_settings_in_rocksdb_are_read_as_those_of_files(tmp_path: Path) -> None:
    in_rocksdb(tmp_path, "consumerOffsets", {"Orders@works": {"offsetTable": {"0": 12, "1": 9}}})
    in_rocksdb(tmp_path, "subscriptionGroups", {"works": {"groupName": "works", "consumeEnable": False}})
    in_rocksdb(tmp_path, "topics", {"Orders": {"perm": 2, "readQueueNums": 4}})
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    found = config(tmp_path)
    assert found.offsets == {("Orders", "works"): {0: 12, 1: 9}} and found.groups and found.topics
    assert not found.groups["works"].can_consume and not found.topics["Orders"].is_readable
    assert codes(found) == [] and found.read == ("consumerOffsets", "subscriptionGroups", "topics")
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == before, "nothing is written next to it"


def test_rocksdb_of_another_layout_or_damaged_is_named(tmp_path: Path) -> None:
    in_rocksdb(tmp_path, "consumerOffsets", {"1": {"other": 1}})
    found = config(tmp_path)
    assert codes(found) == ["config_rocksdb", "config_lost"] and found.offsets is None
    for file in (tmp_path / "config" / "consumerOffsets").glob("*.sst"):
        file.write_bytes(b"x" * 500)
    for file in (tmp_path / "config" / "consumerOffsets").glob("MANIFEST*"):
        file.write_bytes(b"x" * 500)
    found = config(tmp_path)
    assert codes(found) == ["config_rocksdb"] and found.offsets is None


def test_rocksdb_whose_rows_are_far_larger_than_its_files_is_named(tmp_path: Path) -> None:
    row = {"offsetTable": {str(queue): 1 for queue in range(30_000)}}
    in_rocksdb(tmp_path, "consumerOffsets", {f"T@{group}": row for group in range(60)})
    found = config(tmp_path)
    assert codes(found)[:2] == ["config_rocksdb", "config_values"] and found.offsets is None


def test_subscriptions_are_read_by_line_and_written_as_read() -> None:
    found = subscriptions_in("b:T=A||B\n  \n g:T=*\n")
    assert found == {("T", "b"): "A||B", ("T", "g"): "*"} and subscriptions_in(subscriptions_text(found)) == found
    for text, line, code in (("b:T=A\nb:T=B", 2, "subscription_twice"), ("\nb:T=||", 2, "subscription")):
        with pytest.raises(CoreError) as raised:
            subscriptions_in(text)
        assert (raised.value.values["line"], raised.value.values["problem"].code) == (line, code)
