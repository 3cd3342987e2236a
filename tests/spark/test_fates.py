"""The fates of all messages: equal to the rule asked of one record at a time, at any split; and what was planted."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.__main__ import main
from idcore.answers.fate import judge
from idcore.answers.fate.levels import UNDELIVERED
from idcore.answers.findings.all_rules import RULES
from idcore.answers.lookup import traces
from idcore.answers.lookup.copies import group_of, is_special
from idcore.answers.lookup.group_evidence import MOST_RECORDS, is_copy_of
from idcore.answers.lookup.hidden_copies import HiddenCopies, ReadableRecords, hidden_copies, holds_copies
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.ids import Clock
from idcore.kernels.fates import MOST_LIGHT
from idcore.presentation.terminal import scans
from idcore.rocketmq.message import Message, Record
from idcore.rocketmq.message.attempts import Attempt, paired
from idcore.rocketmq.message.properties import LITE_TOPIC, light_places
from idcore.rocketmq.message.trace import SubAfter, SubBefore
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.scan import fates as scan_fates
from idcore.scan import undelivered
from idcore.simulate.broker import Broker
from idcore.simulate.situations import Situation
from idcore.simulate.writer import StoreWriter
from idcore.spark import fates, job
from idcore.spark import traces as trace_records
from idcore.spark.job import ScanOptions
from idcore.spark.passes import Passes
from idcore.spark.watch import Progress
from tests.remoting.fake import UNIQ
from tests.remoting.test_traces import AT as SENT
from tests.remoting.test_traces import CONSUMER, USUAL, after, before
from tests.remoting.test_traces import traces as traced_record
from tests.spark.in_process import AT, Given, run_here, tables
from tests.spark.traced import with_traces
from tests.store import doubtful
from tests.store.unpacked import real_store

Fate = tuple[str, int, str, int, str]
Made = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    root = tmp_path_factory.mktemp("fates") / "store"
    assert main(["make", "store", "--messages", "600", "--groups", "8", "--seed", "4", "--out", str(root)]) == 0
    return root, json.loads(root.with_name("truth.json").read_text())


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def traced(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_traces(Path(shutil.copytree(made[0], tmp_path_factory.mktemp("traced") / "store")), 1)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """All passes in this process."""
    monkeypatch.setattr(Passes, "run", run_here)


SUBSCRIPTIONS = {
    ("OrderPaid", "reads_all-1"): "paid || 退款",
    ("OrderPaid", "lags-2"): "shipped",
    ("OrderPaid", "fails-0"): "created||none",
    ("OrderShipped", "fails-0"): "*",
    ("OrderShipped", "skips_a_queue-3"): "shipped",
    ("UserSignedUp", "disabled-4"): "created",
    ("UserSignedUp", "broadcasts-5"): "created",
    ("UserSignedUp", "fails-0"): "paid",
    ("UserSignedUp", "nobody"): "paid",
}


def _hidden(store: StoreFolder) -> Iterator[str]:
    """The groups of entries that lead to no record: by the name of the topic, as no group here has an odd one."""
    for topic in filter(holds_copies, store.queues.topics):
        for unit in (unit for queue in store.queues.of(topic) for unit in queue.units()):
            if isinstance(store.log.look(unit.physical_offset), Stored):
                continue
            if topic != SCHEDULE_TOPIC:
                yield topic.removeprefix("%RETRY%").removeprefix("%DLQ%")
            elif unit.queue_offset >= (store.config.delays or {}).get(1, 0):
                yield "every group"


def copies_of(record: Record, group: str, every: list[Record]) -> list[Record]:
    """Of all records of a message those that are copies of one record and of one group."""
    origins = {str(each.offset_id) for each in every if not is_special(each.topic)}
    return [each for each in every if group_of(each, [record.topic]) == group and is_copy_of(each, record, origins)]


class Twin:
    """The slow way: each record of the log by itself, each group by the rule."""

    def __init__(self, root: Path, given: Given | None = None) -> None:
        self.fates: dict[Fate, list[int]] = {}
        self.undelivered: dict[tuple[int, str], tuple[str, int, int, int, str | None, dict[str, str]]] = {}
        self.attempts: list[dict[str, Any]] = []
        with StoreFolder(root) as store:
            self.evidence = StoreEvidence(store, given)
            self.hidden = set(_hidden(store))
            records = [step.record for step in store.log.walk() if isinstance(step, Stored)]
            self.sizes = {record.physical_offset: record.size for record in records}  # not with a light topic's name
            by_key: dict[str, list[Record]] = {}
            for record in records:
                by_key.setdefault(record.uniq_id or "", []).append(record)
            self.places: dict[tuple[str, str], list[int]] = {}
            calls = self.calls(records)
            for record in records:
                for each in [] if is_special(record.topic) else places(record):
                    self.judge(each, by_key[record.uniq_id] if record.uniq_id else [], calls)

    def calls(self, records: list[Record]) -> dict[str, list[Attempt]]:
        """The attempts of each message, and where in the log each context is."""
        written = []
        for record in records:
            if "TRACE" in record.topic.upper() and not record.topic.startswith("%"):
                for context, client in traces.contexts(record, lambda *_, **__: None):
                    written.append((context, client))
                    if isinstance(context, SubBefore | SubAfter):
                        key = (context.request_id, context.msg_id)
                        place = self.places.setdefault(key, [-1, -1])
                        which = int(isinstance(context, SubAfter))
                        place[which] = record.physical_offset if place[which] < 0 else place[which]
        found: dict[str, list[Attempt]] = {}
        for call in paired(written, {context.msg_id for context, _ in written if hasattr(context, "msg_id")}).attempts:
            found.setdefault(call.msg_id, []).append(call)
        return found

    def judge(self, record: Record, every: list[Record], calls: dict[str, list[Attempt]]) -> None:
        judged, undelivered = self.evidence.judged(record), {}
        alone = len([each for each in every if not is_special(each.topic)]) == 1
        called = calls.get(record.uniq_id or "", []) if alone else []
        left = {group for each in every if (group := group_of(each, [record.topic]))}
        readers = {group for group in left if copies_of(record, group, every)} | self.evidence.config.groups_of(
            record.topic
        )
        for group in sorted(filter(None, readers)):
            copies = copies_of(record, group, every)
            named = [each for each in readers if each.rpartition("%")[2] == group.rpartition("%")[2]]
            own = [call for call in called if call.group == group.rpartition("%")[2] and len(named) == 1]
            whole = record.uniq_id is not None and not self.hidden & {group, "every group"}
            known = self.evidence.group(group, judged, copies, whole, own)
            code = judge(judged, known, self.evidence.snapshot_ms).code
            self.add(record, group, code)
            for row in self.tries(group, copies, own, code):
                stored = record.store_timestamp if row["retry_times"] == 0 else row["store_timestamp"]
                home_row = {
                    "topic": record.topic,
                    "queue_id": record.queue_id,
                    "queue_offset": record.queue_offset,
                    "commit_log_offset": record.physical_offset,
                    "msg_id": record.uniq_id,
                    "group": group,
                }
                self.attempts.append(home_row | row | {"store_timestamp": stored})
            if code in UNDELIVERED:
                undelivered[group] = code
        if undelivered:
            self.undelivered[record.physical_offset, record.topic] = (
                record.topic,
                record.queue_id,
                record.queue_offset,
                self.sizes[record.physical_offset],
                record.uniq_id,
                undelivered,
            )

    def tries(self, group: str, copies: list[Record], calls: list[Attempt], code: str) -> Iterator[dict[str, Any]]:
        """One row for each try of a message by a group."""
        kinds = {copy.physical_offset: self.evidence.copy(copy, group) for copy in copies}
        ends: dict[int, list[Record]] = {}
        owns: dict[int, list[Record]] = {}
        of_try: dict[int, list[Attempt]] = {}
        for copy in copies:
            is_dead = kinds[copy.physical_offset].kind == "dead"
            if is_dead or copy.reconsume_times > 0:
                ends.setdefault(max(0, copy.reconsume_times - 1), []).append(copy)
            if not is_dead:
                owns.setdefault(copy.reconsume_times, []).append(copy)
        for call in calls:
            of_try.setdefault(-1 if call.retry_times is None else max(-1, call.retry_times), []).append(call)
        numbers = sorted(ends.keys() | owns.keys() | of_try.keys())
        for number in numbers:
            left = [
                (kinds[each.physical_offset].kind == "dead", -each.physical_offset) for each in ends.get(number, [])
            ]
            own = sorted(
                owns.get(number, []),
                key=lambda each: (kinds[each.physical_offset].kind == "queued", each.physical_offset),
            )
            waiting = [each for each in own if kinds[each.physical_offset].kind == "waiting"]
            here = of_try.get(number, [])
            best = max(here, key=self.order, default=None)
            outcome = best.outcome if best is not None else None
            if outcome is None and left:
                outcome = "dead" if max(left)[0] else "retried"
            elif outcome is None and 0 <= number < numbers[-1]:
                outcome = "retried"
            elif outcome is None and (
                (code == "running" and any(call.success is None for call in here))
                or (code in ("retry_waiting", "retry_queued", "consumed_on_retry") and own)
            ):
                outcome = code
            shown = -max(left)[1] if left else own[-1].physical_offset if own else None
            yield {
                "retry_times": None if number < 0 else number,
                "outcome": outcome,
                "led_to": None if not left else "dead_letter" if max(left)[0] else "retry",
                "store_timestamp": own[-1].store_timestamp if own else None,
                "due_at": kinds[waiting[-1].physical_offset].due_ms if waiting else None,
                "began_at": min((call.began_ms for call in here if call.began_ms is not None), default=None),
                "ended_at": max((call.ended_ms for call in here if call.ended_ms is not None), default=None),
                "calls": len(here),
                "client": best.client if best is not None else None,
                "copy_offset": shown,
                "trace_offset": None if best is None else self.place(best),
            }

    def place(self, call: Attempt) -> int:
        begin, end = self.places[call.request_id, call.msg_id]
        return begin if end < 0 else end

    def order(self, call: Attempt) -> tuple[int, int, int, int]:
        success = -1 if call.success is None else int(call.success)
        times = (-(1 << 62) if at is None else at for at in (call.ended_ms, call.began_ms))
        return success, *times, self.place(call)  # type: ignore[return-value]

    def add(self, record: Record, group: str, code: str) -> None:
        at, place = record.store_timestamp, record.queue_offset
        key = (record.topic, record.queue_id, group, at // 60_000, code)
        row = self.fates.setdefault(key, [0, 0, place, place, at, at])
        row[0] += 1
        row[1] += self.sizes[record.physical_offset]
        row[2:] = min(row[2], place), max(row[3], place), min(row[4], at), max(row[5], at)


def test_as_many_light_topics_of_a_record_are_judged_as_by_a_look_up() -> None:
    assert MOST_LIGHT == MOST_RECORDS


def places(record: Record) -> list[Record]:
    """A record as each queue has it: a lite group never reads the queue of the parent."""
    light = [record.as_light(topic, at) for topic, at in light_places(record.properties).items()][:MOST_LIGHT]
    return light if light and LITE_TOPIC in record.properties else [record, *light]


def ms(at: datetime) -> int:
    return round(at.timestamp() * 1_000)


def plain(table: pa.Table) -> dict[Fate, list[int]]:
    found = {}
    for topic, queue, group, minute, verdict, messages, size, first, last, first_at, last_at in zip(
        *(column.to_pylist() for column in table.columns), strict=True
    ):
        key = (topic, queue, group, ms(minute) // 60_000, verdict)
        assert key not in found
        found[key] = [messages, size, first, last, ms(first_at), ms(last_at)]
    return found


def check(root: Path, found: tuple[dict[str, pa.Table], dict[str, int]], given: Given | None = None) -> None:
    twin = Twin(root, given)
    assert plain(found[0]["fates"]) == twin.fates
    rows = {(row["commit_log_offset"], row["topic"]): row for row in found[0]["undelivered"].to_pylist()}
    offsets = [offset for offset, _ in rows]
    assert offsets == sorted(offsets) and len(rows) == len(found[0]["undelivered"])
    counts = {"undelivered": len(twin.undelivered), "attempts": len(twin.attempts)}
    counts |= {"traces_left_out": 0, "groups_left_out": 0}
    assert found[1] == counts
    assert [
        {name: ms(value) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in found[0]["attempts"].to_pylist()
    ] == twin.attempts
    assert {
        at: (
            row["topic"],
            row["queue_id"],
            row["queue_offset"],
            row["bytes"],
            row["msg_id"],
            json.loads(row["verdicts"]),
        )
        for at, row in rows.items()
    } == twin.undelivered
    assert all(row["groups"] == len(json.loads(row["verdicts"])) for row in rows.values())


@pytest.mark.usefixtures("here")
def test_every_message_has_the_fate_that_the_rule_gives_it_alone(made: Made, real: Path, traced: Path) -> None:
    for root in (made[0], real, traced):
        check(root, tables(root))


@pytest.mark.usefixtures("here")
def test_msgids_of_several_records_have_the_fates_that_the_rule_gives_them_alone(tmp_path: Path) -> None:
    root = doubtful.written(tmp_path / "store")
    os.truncate(next((root / "commitlog").iterdir()), 1 << 16)  # all records are in its first pages
    whole = tables(root)
    check(root, whole)
    assert tables(root, 700) == whole
    found = {(row["topic"], row["group"], row["verdict"]) for row in whole[0]["fates"].to_pylist()}
    assert found == {
        *((topic, "both", verdict) for topic in ("Orders", "Paid") for verdict in ("retry_waiting",)),
        *(("Orders", group, "consumed") for group in ("both", "readers")),
        ("NS%Orders", "NS%readers", "consumed"),
    }


@pytest.mark.usefixtures("here")
def test_a_traced_success_counts_if_no_copy_followed_it(tmp_path: Path) -> None:
    keys = [f"{UNIQ[:-4]}{number:04X}" for number in range(5)]
    said = [before(0, keys[0]) + after(0, keys[0]), before(0, keys[1]) + after(0, keys[1])]
    said += [before(1, keys[2]) + after(1, keys[2]), after(3, keys[3]), before(4, keys[4])]
    with StoreWriter(tmp_path / "store") as writer:
        broker = Broker(writer, doubtful.STORE)
        puts = [
            broker.send(Message.of("Orders", b"card", "paid").with_uniq_id(key), 0, SENT, CONSUMER, SENT)
            for key in keys
        ]
        for put in puts[1:4]:
            broker.send_back(put.records[0], "readers", SENT + 1_000)
        for number, (key, text) in enumerate(zip(keys, said, strict=True)):
            writer.put(traced_record(number, text, USUAL, key), SENT + number)
        broker.write_offsets({"Orders@readers": {0: 9}, "%RETRY%readers@readers": {0: 0}})
    root = tmp_path / "store"
    os.truncate(next((root / "commitlog").iterdir()), 1 << 16)
    found = tables(root)
    check(root, found)
    counted = {row["verdict"]: row["messages"] for row in found[0]["fates"].to_pylist()}
    assert counted == {"consumed": 3, "retry_waiting": 2}, "one was acknowledged in part, one has no begin"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["pop/running", "pop/stopped", "poplog"])
def test_what_pop_consumers_hold_has_the_fate_that_the_rule_gives_it_alone(name: str, tmp_path: Path) -> None:
    archive, _, part = name.partition("/")
    root = real_store(tmp_path, f"{archive}.tar.xz") / part
    found = tables(root)
    check(root, found)
    seen = {(row["group"], row["verdict"]) for row in found[0]["fates"].to_pylist()}
    acknowledged = {("pop-fails", "consumed_on_retry"), ("pop-tag", "filtered"), ("pop-hangs", "consumed")}
    assert seen >= {("pop-hangs", "handed_out")} | (acknowledged if archive == "poplog" else set())


@pytest.mark.long
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("part", ["running", "stopped"])
def test_lite_and_light_topics_have_the_fates_of_a_single_look_up(part: str, tmp_path: Path) -> None:
    root = real_store(tmp_path, "rocksdb.tar.xz") / part
    found = tables(root)
    check(root, found)
    again = tables(root, 9_001)
    assert again[0]["fates"] == found[0]["fates"] and again[1] == found[1]
    seen = Counter[tuple[str, str, str]]()
    for row in found[0]["fates"].to_pylist():
        seen[row["topic"], row["group"], row["verdict"]] += row["messages"]
    single = Counter[tuple[str, str, str]]()
    with StoreFolder(root) as store:
        keys = {step.record.uniq_id for step in store.log.walk() if isinstance(step, Stored)}
        look_up = StoreLookup(store, Clock(AT, UTC, "given"))
        for key in filter(None, keys):
            for one in look_up.one(key, fate=True).fate or ():
                single[str(one.facts[0].value).split()[1], one.group, one.code] += 1
    assert {key: count for key, count in seen.items() if "%LMQ%" in key[0]} == {
        key: count for key, count in single.items() if "%LMQ%" in key[0]
    }
    s1, s2 = "%LMQ%$Parent$s1", "%LMQ%$Parent$s2"
    assert seen.keys() >= {(s1, "chats", "consumed"), (s1, "chats", "behind"), (s2, "chats", "never_read")}
    assert seen.keys() >= {("%LMQ%a", "readers", "behind"), ("%LMQ%b", "readers", "consumed")}
    assert not {key for key in seen if key[:2] == ("Parent", "chats")}, "it never reads the queue of the parent"


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_the_tables_are_the_same_at_any_split(made: Made, real: Path, traced: Path) -> None:
    for root, sizes in ((made[0], (40_001,)), (real, (300_007,)), (traced, (30_011,))):
        whole, total = tables(root)
        for size in sizes:
            assert tables(root, size) == (whole, total), size


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_messages_that_a_subscription_excludes_are_filtered(traced: Path, tmp_path: Path) -> None:
    """By the text of the tag: of odd tags, of messages without one, without a msgId, with copies, and with traces."""
    root = Path(shutil.copytree(traced, tmp_path / "store"))
    path, raw = next((root / "commitlog").iterdir()), bytearray((root / "commitlog" / ("0" * 20)).read_bytes())
    records = [record for record in records_of(root) if record.topic in ("OrderPaid", "OrderShipped", "UserSignedUp")]
    for number, record in enumerate(records[::7]):
        old = f"TAGS\1{record.properties['TAGS']}\2".encode()
        new = [b"TAGZ" + old[4:], old.replace(b"\1", b"\2", 1), old[:-2] + b"x\2"][number % 3]
        at = raw.index(old, record.physical_offset)
        raw[at : at + len(old)] = new
        if number % 2:
            at = raw.index(b"UNIQ_KEY", record.physical_offset)
            raw[at : at + 4] = b"WHAT"
    path.write_bytes(raw)
    whole = tables(root, given=SUBSCRIPTIONS)
    assert tables(root, 40_001, given=SUBSCRIPTIONS) == whole
    check(root, whole, SUBSCRIPTIONS)
    found = {(row["group"], row["verdict"]) for row in whole[0]["fates"].to_pylist()}
    assert found >= {("reads_all-1", "filtered"), ("reads_all-1", "consumed"), ("lags-2", "filtered_ahead")}
    assert found >= {("fails-0", "filtered"), ("fails-0", "dead"), ("nobody", "never_read")}


@pytest.mark.usefixtures("here")
def test_what_was_planted_is_counted(made: Made) -> None:
    root, truth = made
    found: Counter[tuple[str, str, str]] = Counter()
    for row in tables(root)[0]["fates"].to_pylist():
        found[row["group"], row["topic"], row["verdict"]] += row["messages"]
    groups = {row["group"] for row in truth["fates"]}
    wanted = {(row["group"], row["topic"], row["verdict"]): row["messages"] for row in truth["fates"]}
    assert {key: count for key, count in found.items() if key[0] in groups} == wanted


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "gone", [("delayOffset",), ("consumerOffset",), ("consumerOffset", "subscriptionGroup"), ("topics",)]
)
def test_what_the_folder_lacks_takes_its_verdicts_from_both(made: Made, tmp_path: Path, gone: tuple[str, ...]) -> None:
    root = Path(shutil.copytree(made[0], tmp_path / "store"))
    for name in gone:
        (root / "config" / f"{name}.json").unlink()
    check(root, tables(root))


@pytest.mark.usefixtures("here")
def test_odd_places_of_groups_are_judged_alike(made: Made, tmp_path: Path) -> None:
    """Offsets that nobody should have, queues that cannot be read or are not dispatched, POP, a static topic."""
    root = Path(shutil.copytree(made[0], tmp_path / "store"))
    config = root / "config"
    offsets = json.loads((config / "consumerOffset.json").read_text())
    offsets["offsetTable"] |= {
        "OrderPaid@odd": {"0": 0, "1": 1, "2": 10**12, "3": -1},
        "OrderPaid@popping": {"0": 5},
        "OrderPaid@spread@broadcast": {"0": 4, "1": 10**9},
        "Elsewhere@odd": {"0": 3},
    }
    (config / "consumerOffset.json").write_text(json.dumps(offsets))
    (config / "consumerOrderInfo.json").write_text('{"table":{"OrderPaid@popping":{0:{"o":[5,2]}}}}')
    (config / "topicQueueMapping.json").write_text('{"topicQueueMappingInfoMap":{"StockChanged":{}}}')
    topics = json.loads((config / "topics.json").read_text())
    topics["topicConfigTable"]["OrderShipped"]["readQueueNums"] = 2
    (config / "topics.json").write_text(json.dumps(topics))
    shutil.rmtree(root / "consumequeue" / "UserSignedUp" / "1")
    queue = next((root / "consumequeue" / "OrderPaid" / "2").iterdir())
    raw = bytearray(queue.read_bytes())
    raw[20 * 30 :] = bytes(len(raw) - 20 * 30)
    queue.write_bytes(raw)
    found = tables(root)
    check(root, found)
    seen = set(found[0]["fates"]["verdict"].to_pylist())
    assert seen >= {"handed_out", "not_dispatched", "unreadable_queue", "broadcast", "no_verdict"}


def with_groups(root: Path, offset: Callable[[int], int], groups: int) -> Path:
    path = root / "config" / "consumerOffset.json"
    offsets = json.loads(path.read_text())
    for number in range(groups):
        offsets["offsetTable"][f"OrderPaid@many{number:05}"] = {str(queue): offset(number) for queue in range(4)}
    path.write_text(json.dumps(offsets))
    return root


@pytest.mark.usefixtures("here")
def test_offsets_beyond_the_log_take_no_memory(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[Any] = []
    own = fates._case_of

    def case_of(*given: Any) -> Any:
        cases.append(own(*given))
        return cases[-1]

    monkeypatch.setattr(fates, "_case_of", case_of)
    root = Path(shutil.copytree(made[0], tmp_path / "store"))
    check(root, tables(with_groups(root, lambda number: 10**9 + number, 3)))
    few = sum(len(case.edges) for case in cases)
    cases.clear()
    tables(with_groups(root, lambda number: 10**9 + number, 1_000))
    assert sum(len(case.edges) for case in cases) == few  # and not 4,000 more, each of them for 1,000 groups


@pytest.mark.usefixtures("here")
def test_more_groups_than_memory_has_room_for_are_left_out_and_counted(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = with_groups(Path(shutil.copytree(made[0], tmp_path / "store")), lambda number: number % 50, 2_000)
    monkeypatch.setattr(fates, "MOST_CELLS", 50_000)
    monkeypatch.setattr(undelivered, "MOST_NAMED", 5)
    found, counted = tables(root)
    named = {(row["groups"] > 5, len(json.loads(row["verdicts"]))) for row in found["undelivered"].to_pylist()}
    assert max(named) == (True, 5)
    groups = {row["group"] for row in found["fates"].to_pylist() if row["topic"] == "OrderPaid"}
    assert 0 < len(groups) < 1_000 and counted["groups_left_out"] > 1_000


def records_of(root: Path) -> list[Record]:
    with StoreFolder(root) as store:
        return [step.record for step in store.log.walk() if isinstance(step, Stored)]


def waits(record: Record, goal: str) -> bool:
    return record.topic == SCHEDULE_TOPIC and record.properties["REAL_TOPIC"].startswith(goal)


def damage(root: Path, record: Record, part: bytes = b"") -> None:
    """One byte of a record: of the mark that it begins with, or of another part."""
    path = max(each for each in (root / "commitlog").iterdir() if int(each.name) <= record.physical_offset)
    raw = bytearray(path.read_bytes())
    at = record.physical_offset - int(path.name)
    raw[raw.index(part, at) if part else at + 4] ^= 0xFF
    path.write_bytes(raw)


@pytest.mark.long(cases=["a retry", "no copy"])
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("hurt", ["a retry", "the end", "no copy"])
def test_damage_takes_the_verdict_consumed_from_groups_whose_copies_it_hides(
    made: Made, tmp_path: Path, hurt: str
) -> None:
    """A message is no copy, a body with another CRC hides nothing, and what was delivered is in the retry queue."""
    root = Path(shutil.copytree(made[0], tmp_path / "store"))
    records = records_of(root)
    retries = [record for record in records if record.topic == "%RETRY%fails-0"]
    if hurt == "a retry":
        damage(root, retries[0])
    elif hurt == "no copy":
        delivered = next(record for record in records if waits(record, "%RETRY%fails-0"))
        message = next(record for record in records if record.topic == "OrderPaid")
        damage(root, delivered)
        damage(root, message)
        damage(root, retries[-1], retries[-1].body)
    else:
        last = max((root / "commitlog").iterdir())
        last.write_bytes(last.read_bytes()[: records[-1].physical_offset + 40 - int(last.name)])
    whole = tables(root)
    check(root, whole)
    assert tables(root, 40_001) == whole
    consumed = {row["group"] for row in whole[0]["fates"].to_pylist() if row["verdict"] == "consumed"}
    every = {"fails-0", "fails-6", "reads_all-1", "skips_a_queue-3"}
    lost = {"a retry": {"fails-0"}, "no copy": set(), "the end": every}[hurt]
    assert consumed >= every - lost and not consumed & lost


def test_a_group_lacks_copies_where_its_queues_do_not_show_that_there_were_none(made: Made, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made[0], tmp_path / "store"))
    records = records_of(root)

    def lacking(*hurt: Record) -> HiddenCopies:
        seen: dict[tuple[str, int], list[int]] = {}
        for record in records:
            if record not in hurt:
                seen.setdefault((record.topic, record.queue_id), []).append(record.queue_offset)
        figures = {place: ReadableRecords(len(each), min(each), max(each)) for place, each in seen.items()}
        with StoreFolder(root) as store:
            return hidden_copies(
                store, [(each.physical_offset, each.physical_offset + each.size) for each in hurt], figures
            )

    retry, second, dead = (
        next(record for record in records if record.topic == topic)
        for topic in ("%RETRY%fails-0", "%RETRY%fails-6", "%DLQ%fails-6")
    )
    delivered, waiting = (next(r for r in rows if waits(r, "%RETRY%fails")) for rows in (records, records[::-1]))
    home = next(record for record in records if record.topic == "OrderPaid")
    every, nobody = HiddenCopies(every_group=True), HiddenCopies()
    assert lacking() == lacking(home, delivered) == nobody
    assert lacking(retry) == HiddenCopies(frozenset({"fails-0"}))
    assert lacking(second, dead, home) == HiddenCopies(frozenset({"fails-6"}))
    assert lacking(retry, waiting) == every
    # the queue of one group ends before the damage, is gone, or has nothing in its middle
    folder = root / "consumequeue" / "%RETRY%fails-0"
    file = next((folder / "0").iterdir())
    entries = file.read_bytes()
    for written in (entries[:20], entries[:20] + bytes(20) + entries[40:], None):
        shutil.rmtree(folder) if written is None else file.write_bytes(written)
        assert lacking(home) == HiddenCopies(frozenset({"fails-0"})), written
    shutil.rmtree(root / "consumequeue")
    assert lacking(home) == every and lacking() == nobody


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_rows_that_are_too_many_for_memory_are_all_in_files(
    traced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are the same as a whole. What is in memory is bounded, and a file has its rows in order."""
    whole, total = tables(traced)
    monkeypatch.setattr(fates, "MOST_HELD", 60)
    monkeypatch.setattr(fates, "FEWEST_OF_SPLIT", 10)
    monkeypatch.setattr(scan_fates, "GROUP_ROWS", 32)
    monkeypatch.setattr(scan_fates, "_ROWS", 8)
    for size in (1 << 30, 60_011):
        folder = tmp_path / str(size) / ".large"
        folder.parent.mkdir()
        found, counted = tables(traced, size, folder=folder)
        check(traced, (found | {"undelivered": found["undelivered"].sort_by("commit_log_offset")}, counted))
        assert counted == total and found["fates"] == whole["fates"] and found["attempts"] == whole["attempts"]
        names = [path.name.partition("-")[0] for path in folder.iterdir()]
        assert names.count("attempts") == 1 < names.count("undelivered")
        for path in folder.glob("undelivered-*"):
            places = pq.read_table(path)["commit_log_offset"].to_pylist()
            assert places == sorted(places) and pq.read_schema(path) == whole["undelivered"].schema
        held = total["undelivered"] - sum(pq.read_metadata(path).num_rows for path in folder.glob("undelivered-*"))
        assert held <= 60 + 10 * -(-traced.joinpath("commitlog", "0" * 20).stat().st_size // size)


@pytest.mark.usefixtures("spark")
def test_a_scan_on_spark_finds_a_planted_situation(tmp_path: Path) -> None:
    situation = Situation("group_skipped", "deleted", 5, AT, UTC)
    situation.write(tmp_path / "store")
    job.scan([], tmp_path / "out", ScanOptions(zone=UTC, at=AT, store=str(tmp_path / "store")))
    rows = pq.read_table(tmp_path / "out" / "findings").to_pylist()
    found = {(row["code"], row["severity"], row["subject"]) for row in rows if row["severity"] != "info"}
    truth = situation.truth({code: rule.severity for code, rule in RULES.items()})
    assert found == {(row["code"], row["severity"], row["subject"]) for row in truth["expected"]}
    progress = pq.read_table(tmp_path / "out" / "progress").to_pylist()
    behind = [row for row in progress if row["queue_begin"] and (row["consumer_offset"] or 0) < row["queue_begin"]]
    assert {f"{row['topic']}@{row['group']}" for row in behind} == {subject for _, _, subject in found}


def test_registered_groups_without_any_offset_are_named(made: Made, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made[0], tmp_path / "store"))
    path = root / "config" / "subscriptionGroup.json"
    groups = json.loads(path.read_text())
    one = next(iter(groups["subscriptionGroupTable"].values()))
    new = {name: one | {"groupName": name} for name in ("z-new", "a-new", "TOOLS_CONSUMER", "CID_RMQ_SYS_TRANS")}
    groups["subscriptionGroupTable"] |= new
    path.write_text(json.dumps(groups))
    for given, names in ((None, ["a-new", "z-new"]), ({("OrderPaid", "z-new"): "*"}, ["a-new"])):
        with StoreFolder(root) as store:
            said = [each.values for each in StoreEvidence(store, given).silent_groups()]
        assert said == [{"n": len(names), "names": ", ".join(names)}]


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_scan_on_spark_writes_all_three_tables_and_says_of_what(traced: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(traced, tmp_path / "store"))
    config = root / "config"
    raw = (config / "consumerOffset.json").read_bytes()
    (config / "consumerOffset.json.bak").write_bytes(raw)
    (config / "consumerOffset.json").write_bytes(raw[: len(raw) // 2])
    (config / "delayOffset.json").write_bytes(b"")
    (config / "lmqConsumerOffset.json").write_text("{}")
    (root / "consumequeue_rocksdb").mkdir()
    (root / "consumequeue_rocksdb" / "CURRENT").touch()
    (root / "consumequeue_rocksdb" / "000009.sst").write_bytes(b"data")
    (config / "topics.json").unlink()
    seen: list[Progress] = []
    options = ScanOptions(zone=UTC, at=AT, store=str(root), split_size=100_000)
    summary = job.scan([], tmp_path / "out", options, seen.append)
    judging = [each for each in seen if each.phase == "judging"]
    assert all(each.ids == summary["ids"] and 0 < each.bytes_total <= summary["bytes"] for each in judging[1:])
    assert sum(each.bytes_done == each.bytes_total for each in judging) >= 2, "both passes were followed to their end"
    assert judging[-1].bytes_total == summary["bytes"]
    written = {name: pq.read_table(tmp_path / "out" / name) for name in fates.NAMES}
    check(root, (written, {name: summary[name] for name in fates.COUNTED}))
    said = {each["code"]: each["values"] for each in summary["evidence"]}
    assert list(said) == [
        "store_snapshot",
        "config_rocksdb_queues",
        "config_rocksdb_tail",
        "config_bak",
        "config_lost",
        "config_read",
        "config_missing",
    ]
    with StoreFolder(root) as store:
        at = StoreEvidence(store).snapshot_ms
    assert said["store_snapshot"]["age_seconds"] == round(AT.timestamp()) - at // 1_000
    assert (said["config_read"], said["config_missing"]) == (
        {"names": "consumerOffset.json, subscriptionGroup.json"},
        {"names": "topics.json"},
    )
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    printed = "\n".join(scans.summary(summary, tmp_path / "out"))
    assert "  The folder shows the state of 20" in printed
    assert "onfig/consumerOffset.json is damaged; its older copy consumerOffset.json.bak was read instead" in printed
    assert "onfig/delayOffset.json cannot be read: delayOffset.json is damaged: " in printed


@pytest.mark.usefixtures("here")
def test_attempts_have_every_outcome(traced: Path) -> None:
    whole, _ = tables(traced)
    outcomes = {"success", "time_out", "exception", "null", "failed", "running", None}
    outcomes |= {"retried", "dead", "retry_waiting", "retry_queued", "consumed_on_retry"}
    assert set(whole["attempts"]["outcome"].to_pylist()) == outcomes


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_of_very_many_traces_the_newest_part_is_read(traced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = tables(traced)
    monkeypatch.setattr(trace_records, "MOST_BYTES", 20_000)
    some, counted = tables(traced)
    assert tables(traced, 30_011) == (some, counted)
    places = set(some["attempts"]["trace_offset"].drop_null().to_pylist())
    every = set(whole["attempts"]["trace_offset"].drop_null().to_pylist())
    assert places and counted["traces_left_out"] > 0
    assert min(places) > min(every) and max(places) == max(every)


def test_a_plain_body_is_read_as_any_other() -> None:
    """Bodies as clients write them, and such as no client does."""
    before = "SubBefore\x017\1null\1g\1r\1m\x010\1k"
    after = "SubAfter\1r\1m\x013\1false\1\x012\x019\1g"
    plain = [f"{before}\2{after}\2", f"{before}\1host\2", f"{before}\1null\2Pub\1junk\2", ""]
    other = [before, f"{before}\1a\1b\2", f"{before}\2SubAfter\1r\1m\x013\1true\1k\x010\1\2", "\2", "Recall\1\2"]
    other += [f"SubBefore\x01{number}\1null\1g\1r\1m\x010\1k\2" for number in ("07", "-1", "", "9" * 19, "٣")]
    for text in plain + other:
        fast, slow = trace_records._plain(text.encode(), 5, "born:1"), trace_records._rows(text.encode(), 5, "born:1")
        assert fast == (list(slow) if text in plain else None), text
    assert trace_records._plain(b"Pub\1\xff\2", 5, "born:1") is None


def test_trace_topics_are_found_by_name_and_copies_are_none() -> None:
    def named(**size: int) -> list[str]:
        figures = {"messages": 1, "min_offset": 0, "max_offset": 99}
        rows = [{"topic": name, "bytes": many, **figures} for name, many in size.items()]
        found = trace_records.topics_of(pa.Table.from_pylist(rows))
        return [] if found is None else list(found.names)

    copied = {"%RETRY%TRACE-0": 9, "%DLQ%my-trace": 9, "SCHEDULE_TOPIC_XXXX": 9}
    assert named(**copied, Orders=9) == []
    assert named(**copied, RMQ_SYS_TRACE_TOPIC=9, OwnTrace=9) == ["OwnTrace", "RMQ_SYS_TRACE_TOPIC"]
    assert named(RMQ_SYS_TRACE_TOPIC=9, CONTRACE_EVENTS=1 << 30) == ["RMQ_SYS_TRACE_TOPIC"]
