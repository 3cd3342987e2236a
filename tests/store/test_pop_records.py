"""What a real broker of 5.5.0 kept of its POP consumers, against what these consumers logged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rocksdict import AccessType, Options, Rdict

from benchmarks.witnesses import Log, answers, excluded, graded
from idcore.answers.fate import Group, JudgedRecord, Observation, judge
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.answers.lookup.store_groups import progress_of, rows_of
from idcore.ids import Clock
from idcore.rocketmq.store import StoreFolder, pop_records, queue, rocksdb
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.names import MOST_GROUPS
from idcore.rocketmq.store.pop_records import PopRecord
from tests.store.unpacked import real_store

pytestmark = pytest.mark.quick
AT = 1_795_000_000_000
CLOCK = Clock(datetime(2026, 11, 26, tzinfo=UTC), UTC, "given")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("pop"), "pop.tar.xz")


def rows(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The rows as the library has them; it changes the folder."""
    options = {name: Options(raw_mode=True) for name in ("default", "popState")}
    whole = Rdict(str(folder), Options(raw_mode=True), options, AccessType.read_write())
    for key, value in whole.get_column_family("popState").items():
        yield key, json.loads(bytes(value))
    whole.close()


def put(folder: Path, *values: bytes) -> None:
    options = {name: Options(raw_mode=True) for name in ("default", "popState")}
    whole = Rdict(str(folder), Options(raw_mode=True), options, AccessType.read_write())
    family = whole.get_column_family("popState")
    for number, value in enumerate(values):
        family[b"%d" % number] = value
    whole.close()


@pytest.mark.parametrize(("name", "records"), [("running", 39), ("stopped", 19)])
def test_a_record_says_what_its_key_says(root: Path, tmp_path: Path, name: str, records: int) -> None:
    """A key is the end of the invisible time, the group, the topic, the queue, and the offset."""
    found = pop_records.read(root / name, Reading())
    assert found is not None
    by_key = {
        record.visible_ms.to_bytes(8, "big")
        + f"{group}@{topic}@".encode()
        + queue.to_bytes(4, "big")
        + b"@"
        + offset.to_bytes(8, "big"): record.popped_ms
        for (topic, group), queues in found.items()
        for queue, held in queues.items()
        for offset, record in held.items()
    }
    copy = Path(shutil.copytree(root / name / "kvStore", tmp_path / "copy"))
    assert by_key == {key: values["popTime"] for key, values in rows(copy)} and len(by_key) == records


@pytest.mark.parametrize("name", ["running", "stopped"])
def test_no_verdict_of_a_pop_group_is_wrong_and_sounds_certain(root: Path, name: str) -> None:
    log = Log([(root / name / "clients.txt").read_text()])
    held = 0
    with StoreFolder(root / name) as store:
        look_up = StoreLookup(store, CLOCK)
        for _, _, verdict, tag, number, known in answers(lambda text: look_up.one(text, fate=True), log):
            if not verdict.group.startswith("pop-"):
                continue
            grade = graded(verdict, known, excluded(verdict.group, tag, number))
            assert grade in ("right", "hedged"), (verdict, known)
            if verdict.code == "handed_out":
                held += 1
                assert grade == "right" and verdict.certainty == "inferred"
                assert [each.code for each in verdict.why] == ["pop_record", "visible_again", "snapshot"]
            elif known.state in ("failed", "open"):
                assert verdict.code == "retry_queued", (verdict, known)
        assert held == {"running": 38, "stopped": 18}[name]
        assert not [note for note in store.config.notes if note.values.get("name") == pop_records.FOLDER]


def test_a_message_whose_time_is_over_comes_back_now(root: Path) -> None:
    found = pop_records.read(root / "running", Reading())
    assert found is not None
    (topic, name), queues = next(iter(found.items()))
    number, held = next(iter(queues.items()))
    offset, record = next(iter(held.items()))
    home = JudgedRecord("", "", topic, number, offset, record.popped_ms, snapshot_ms=record.visible_ms)
    group = Group(name, Observation(offset + 1, record.visible_ms), held=record, copies_complete=True)
    for now_ms, code in ((record.visible_ms - 1, "visible_again"), (record.visible_ms, "visible_now")):
        verdict = judge(home, group, now_ms)
        assert verdict.code == "handed_out" and code in [each.code for each in verdict.why]


WRONG = [
    b"",
    b"[]",
    b"{",
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":1,"popTime":1}',
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":1,"popTime":1,"invisibleTime":"1"}',
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":-1,"popTime":1,"invisibleTime":1}',
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":1e3,"popTime":1,"invisibleTime":1}',
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":99999999999999999999,"popTime":1,"invisibleTime":1}',
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":true,"popTime":1,"invisibleTime":1}',
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":9223372036854775807,"popTime":1,"invisibleTime":1}',
    b'{"topicId":"T","groupId":"G","queueId":0,"offset":1,"popTime":9223372036854775807,"invisibleTime":1}',
    b'{"topicId":{},"groupId":"G","queueId":0,"offset":1,"popTime":1,"invisibleTime":1}',
    b"\xff",
    b"[" * 10_000,
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_damaged_record_is_named_and_the_rest_of_the_folder_goes_on(root: Path, tmp_path: Path, wrong: bytes) -> None:
    store_root = Path(shutil.copytree(root / "stopped", tmp_path / "store"))
    put(store_root / "kvStore", wrong)
    with StoreFolder(store_root) as store:
        assert store.config.popped == {} and store.config.offsets
        notes = {note.code: note.values for note in store.config.notes}
        assert notes["config_lost"]["name"] == "kvStore" and notes["config_rocksdb"]["name"] == "kvStore"


@pytest.mark.parametrize("names", [["G" * 1_001], [f"g{at}" for at in range(MOST_GROUPS + 1)]])
def test_names_and_groups_without_a_bound_are_damage(tmp_path: Path, names: list[str]) -> None:
    """A folder of 1 MB, packed, had 50,000 groups of each message that was looked up."""
    options, made = {name: Options(raw_mode=True) for name in ("default", "popState")}, Options(raw_mode=True)
    made.create_if_missing(True)
    made.create_missing_column_families(True)
    Rdict(str(tmp_path / "kvStore"), made, options, AccessType.read_write()).close()
    values = {"topicId": "T", "queueId": 0, "offset": 1, "popTime": AT, "invisibleTime": 1}
    put(tmp_path / "kvStore", *(json.dumps(values | {"groupId": name}).encode() for name in names))
    with pytest.raises(ValueError, match="characters" if len(names) == 1 else "groups of one topic"):
        pop_records.read(tmp_path, Reading())


def test_what_consumers_were_handed_is_read_once_and_when_it_is_asked_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = rocksdb.Database.whole

    def counted(self: rocksdb.Database, family: str) -> dict[bytes, bytes] | None:
        read.append(family)
        return whole(self, family)

    monkeypatch.setattr(rocksdb.Database, "whole", counted)
    with StoreFolder(root / "running") as store:
        assert store.config.offsets and store.topics and store.overview() and StoreEvidence(store).snapshot_ms
        assert "popState" not in read
        assert StoreEvidence(store).config.groups_by_topic() and store.config.popped and not store.config.notes
        assert read.count("popState") == 1


def test_of_two_records_of_a_message_the_later_one_holds(root: Path, tmp_path: Path) -> None:
    store_root = Path(shutil.copytree(root / "stopped", tmp_path / "store"))
    text = '{"topicId":"T","groupId":"G","queueId":0,"offset":1,"popTime":%d,"invisibleTime":5000}'
    put(store_root / "kvStore", (text % AT).encode(), (text % (AT - 2)).encode())
    found = pop_records.read(store_root, Reading())
    assert found is not None and found["T", "G"] == {0: {1: PopRecord(AT, AT + 5_000)}}


def test_what_cannot_be_read_is_named(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LARGEST_SETTINGS", 100), ("can_read", lambda: False)):
        with monkeypatch.context() as patched:
            patched.setattr(rocksdb, name, value)
            with StoreFolder(root / "stopped") as store:
                assert store.config.popped == {}
                codes = [note.code for note in store.config.notes if note.values.get("name") == "kvStore"]
                assert codes == ["config_rocksdb"]


def test_the_table_of_groups_opens_each_queue_once_and_no_record(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, int]] = []
    begin = queue.ConsumeQueue.__init__

    def counted(self: Any, topic: str, number: int, *others: Any) -> None:
        made.append((topic, number))
        begin(self, topic, number, *others)

    with StoreFolder(root / "running") as store:
        evidence = StoreEvidence(store)
        assert evidence.snapshot_ms and store.last
        monkeypatch.setattr(queue.ConsumeQueue, "__init__", counted)
        monkeypatch.setattr(store.log, "look", lambda *_: 1 / 0)
        assert rows_of(evidence) and made and len(made) == len(set(made))


def test_retries_of_a_pop_group_are_those_of_the_group(root: Path) -> None:
    """They are in a topic of group and topic, whose name alone may be read in two ways."""
    with StoreFolder(root / "running") as store:
        evidence = StoreEvidence(store)
        rows = {each.row.group: each for each in rows_of(evidence)}
        assert not [group for group in rows if group.endswith("_Wares")]
        (retries,) = [queue for queue in store.queues.of("%RETRY%pop-fails_Wares") if queue.span]
        reached = (store.config.offsets or {})["%RETRY%pop-fails_Wares", "pop-fails"][0]
        assert retries.span is not None and rows["pop-fails"].waiting == retries.span[1] - reached == 0
        progress = progress_of(evidence, "Wares", "pop-fails").progress
        assert progress is not None
        assert [each.topic for each in progress.side_topics] == ["%RETRY%pop-fails_Wares"]
