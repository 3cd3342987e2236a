"""What a broker's log has of its POP consumers: played against a plain account of the pops, and damaged."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.witnesses import Log, answers, excluded, graded
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.answers.lookup.store_groups import rows_of
from idcore.ids import Clock
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.store import Stored, StoreFolder, pop_log
from idcore.rocketmq.store.commitlog import CommitLog
from idcore.rocketmq.store.pop_records import PopRecord, PopRecords
from idcore.rocketmq.store.queue import ConsumeQueues
from idcore.simulate.writer import StoreWriter
from tests.store.unpacked import real_store

pytestmark = pytest.mark.quick
AT = 1_795_000_000_000
CLOCK = Clock(datetime(2026, 11, 27, tzinfo=UTC), UTC, "given")
HERE = Host(b"\x7f\x00\x00\x01", 10911)
REVIVE = "rmq_sys_REVIVE_LOG_C"
LONG = {"ao": "ackOffset", "so": "startOffset", "c": "consumerGroup", "t": "topic", "q": "queueId", "pt": "popTime"}
LONG |= {"bn": "brokerName", "aol": "ackOffsetList"}


class Player:
    """A broker that writes down what its consumers do, and what of each message it would know by heart."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.writer = StoreWriter(root)
        self.now = AT
        self.known: dict[tuple[str, str], dict[int, dict[int, PopRecord]]] = {}
        self.due: list[tuple[int, Record]] = []
        self.pops: list[tuple[tuple[str, str, int], PopRecord, list[int]]] = []

    def write(self, tag: str, body: bytes, due: int, real: str = REVIVE) -> int:
        """On the wheel while it is not due, and then again in the revive queue; at once where it is late."""

        def record(topic: str, more: str = "") -> Record:
            properties = f"TAGS\x01{tag}\x02{more}"
            return Record.of(
                topic, body, properties, queue_id=0, born_timestamp=self.now, born_host=HERE, store_host=HERE
            )

        later = record(real)
        if due > self.now:
            self.due.append((due, later))
            put = record("rmq_sys_wheel_timer", f"REAL_TOPIC\x01{real}\x02REAL_QID\x010\x02")
        else:
            put = later
        return self.writer.put(put, self.now).records[0].physical_offset

    def pop(self, place: tuple[str, str, int], offsets: list[int], invisible: int, **more: Any) -> None:
        topic, group, queue = place
        start = min(offsets)
        body = {"t": topic, "c": group, "q": queue, "so": start, "pt": self.now, "it": invisible, "bm": 0}
        body |= {"n": len(offsets), "ro": 0, "bn": "b", "d": [offset - start for offset in offsets]} | more
        self.write("ck", json.dumps(body).encode(), self.now + invisible - 1_000)
        for offset in offsets:
            of_queue = self.known.setdefault((topic, group), {}).setdefault(queue, {})
            of_queue[offset] = PopRecord(self.now, self.now + invisible)
        self.pops.append((place, PopRecord(self.now, self.now + invisible, left_out=True), offsets))

    def ack(self, place: tuple[str, str, int], held: PopRecord, offsets: list[int], batch: bool, old: bool) -> None:
        topic, group, queue = place
        body: dict[str, Any] = {"t": topic, "c": group, "q": queue, "so": min(offsets), "pt": held.popped_ms, "bn": "b"}
        body |= {"ao": -1, "aol": offsets} if batch else {"ao": offsets[0]}
        named = {LONG[name] if old else name: value for name, value in body.items()}
        at = self.write("bAck" if batch else "ack", json.dumps(named).encode(), held.visible_ms)
        of_queue = self.known[topic, group][queue]
        for offset in offsets:
            if of_queue[offset].popped_ms == held.popped_ms and of_queue[offset].acked_ms is None:
                of_queue[offset] = PopRecord(held.popped_ms, held.visible_ms, self.now, at)

    def pass_time(self, until: int) -> None:
        for due, record in sorted(self.due, key=lambda each: each[0]):
            if due <= until:
                self.writer.put(record, max(due, self.now))
        self.due = [each for each in self.due if each[0] > until]
        self.now = until

    def read(self, **options: int) -> Any:
        self.writer.close()
        with StoreFolder(self.root) as store:
            return pop_log.read(store.log, store.queues, **options)


def played(root: Path, seed: int, steps: int = 120) -> Player:
    """Groups that pop, acknowledge in time or late, one or several, put off, and do nothing."""
    dice, player = random.Random(seed), Player(root)
    places = [("T", "G", 0), ("T", "G", 1), ("%RETRY%G_T", "G", 0), ("T", "H", 0)]
    nexts = dict.fromkeys(places, 0)
    for _ in range(steps):
        player.pass_time(player.now + dice.randrange(1, 2_000))
        place = dice.choice(places)
        held = player.known.get(place[:2], {}).get(place[2], {})
        open_ones = [offset for offset, record in held.items() if record.acked_ms is None]
        what = dice.random()
        if what < 0.4 or not open_ones:
            offsets = [nexts[place] + 2 * number for number in range(dice.randrange(1, 5))]
            nexts[place] = offsets[-1] + dice.randrange(1, 3)
            plain: dict[str, Any] = {} if len(offsets) > 1 or dice.random() < 0.5 else {"d": []}
            player.pop(place, offsets, dice.choice((1_500, 4_000, 30_000)), **plain)
        elif what < 0.55:  # it is put off: a new checkpoint, and an acknowledgement of the old one
            offset = dice.choice(open_ones)
            before = held[offset]
            player.pop(place, [offset], dice.choice((2_000, 20_000)))
            player.now += 1
            player.ack(place, before, [offset], False, False)
        else:
            offset = dice.choice(open_ones)
            same = [each for each in open_ones if held[each].popped_ms == held[offset].popped_ms]
            batch = dice.random() < 0.5
            player.ack(place, held[offset], same if batch else [offset], batch, dice.random() < 0.3)
        player.now += 1
    player.pop(("T", "end", 0), [0], 9_000)  # the wheel has a last record behind every acknowledgement
    return player


@pytest.mark.parametrize("seed", range(12))
def test_of_each_message_the_last_pop_and_its_acknowledgement_are_known(tmp_path: Path, seed: int) -> None:
    player = played(tmp_path, seed)
    assert player.read() == since(player)
    every = [record for queues in player.known.values() for held in queues.values() for record in held.values()]
    assert {record.acked_ms is None for record in every} == {True, False}


def since(player: Player, store_ms: int = 0) -> dict[tuple[str, str], dict[int, dict[int, PopRecord]]]:
    """What is known of messages whose last pop is not older, and of those that such a pop left out."""
    found: dict[tuple[str, str], dict[int, dict[int, PopRecord]]] = {}
    for (topic, group, queue), over, offsets in player.pops:
        if over.popped_ms >= store_ms:
            known, own = player.known[topic, group][queue], found.setdefault((topic, group), {}).setdefault(queue, {})
            for offset in range(min(offsets), max(offsets) + 1) if topic == "T" else offsets:
                own[offset] = known.get(offset, over)
    return found


def on_the_wheel(root: Path) -> list[Record]:
    with StoreFolder(root) as store:
        (queue,) = store.queues.of("rmq_sys_wheel_timer")
        stored = [store.log.look(unit.physical_offset) for unit in queue.units()]
        return [each.record for each in stored if hasattr(each, "record")]


WRONG = [
    b"",
    b"[]",
    b"{",
    b"[" * 10_000,
    b"\xff\xfe",
    b"0-7",  # cancelCkTimer
    b'{"t":"T","c":"G","q":0,"so":0,"pt":1795000000000,"it":1,"n":128,"d":[]}',
    b'{"t":"T","c":"G","q":0,"so":0,"pt":1795000000000,"it":1,"n":1000000000000}',
    b'{"t":"T","c":"G","q":0,"so":0,"pt":1795000000000,"it":1,"n":1,"d":["0"]}',
    b'{"t":"T","c":"G","q":0,"so":0,"pt":1795000000000,"it":1,"n":1,"d":[-1]}',
    b'{"t":"T","c":"G","q":0,"so":4611686018427387904,"pt":1795000000000,"it":1,"n":1}',
    b'{"t":"T","c":"G","q":0,"so":0,"pt":1795000000000,"it":9000000000000000000,"n":1}',
    b'{"t":"T","c":"G","q":0,"so":0,"pt":1795000000000,"it":1e3,"n":1}',
    b'{"t":"T","c":"G","q":0,"so":0,"pt":true,"it":1,"n":1}',
    b'{"t":{},"c":"G","q":0,"so":0,"pt":1795000000000,"it":1,"n":1}',
    b'{"t":"T","c":"G","q":-1,"ao":0,"pt":1795000000000}',
    b'{"t":"T","c":"G","q":0,"ao":0,"aol":[0,"1"],"pt":9223372036854775807}',
    b'{"t":"T","c":"G","q":0,"aol":' + json.dumps(list(range(5_000))).encode() + b',"pt":1795000000000}',
]


def noise(dice: random.Random) -> bytes:
    """A body that no broker writes: one of the list, or one of a broker that is cut, or any bytes."""
    what = dice.randrange(3)
    if what == 0:
        return dice.choice(WRONG)
    body = b'{"bm":0,"bn":"b","c":"G","d":[0,1],"it":9000,"n":2,"pt":1795000000000,"q":0,"ro":0,"so":5,"t":"T"}'
    return body[: dice.randrange(len(body))] if what == 1 else dice.randbytes(dice.randrange(2_000))


@pytest.mark.parametrize("seed", range(6))
def test_before_a_body_that_no_broker_writes_nothing_is_said(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    player = played(tmp_path, seed, 60)
    for _ in range(dice.randrange(1, 4)):
        player.write(dice.choice(("ck", "ack", "bAck")), noise(dice), player.now + 5_000)
        player.pass_time(player.now + 10)
    last = player.now
    player.pop(("T", "G", 0), [1_000, 1_001], 9_000)
    player.pass_time(player.now + 20)
    player.write("ck", noise(dice), player.now + 9_000, "Orders")  # somebody's own message for later
    assert player.read() == since(player, last) != {}


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_each_body_that_no_broker_writes_is_taken_for_one(tmp_path: Path, wrong: bytes) -> None:
    for tag in ("ck", "ack", "bAck"):
        player = Player(tmp_path / tag)
        player.pop(("T", "G", 0), [1], 9_000)
        player.now += 1
        player.write(tag, wrong, player.now + 9_000)
        assert player.read() == {}


@pytest.mark.parametrize("seed", range(6))
def test_before_a_damaged_record_nothing_is_said(tmp_path: Path, seed: int) -> None:
    player = played(tmp_path, seed, 60)
    assert player.read() == since(player)
    records = on_the_wheel(tmp_path)
    at = random.Random(seed).randrange(len(records) - 1)
    damage(tmp_path, lambda raw: raw.index(b'"pt": ', records[at].physical_offset) + 9)
    assert player.read() == since(player, records[at + 1].store_timestamp) != {}
    damage(tmp_path, lambda raw: records[-2].physical_offset + 7)  # the magic
    assert player.read() == since(player, records[-1].store_timestamp)


def damage(root: Path, at: Callable[[bytearray], int]) -> None:
    path = root / "commitlog" / ("0" * 20)
    raw = bytearray(path.read_bytes())
    raw[at(raw)] ^= 1  # another digit
    path.write_bytes(raw)


@pytest.mark.parametrize("seed", range(4))
def test_of_many_records_the_newest_are_read(tmp_path: Path, seed: int) -> None:
    player = played(tmp_path, seed, 60)
    player.writer.close()
    records = on_the_wheel(tmp_path)
    for most in (1, 7, len(records) - 1, len(records)):
        begin = records[-most].store_timestamp if most < len(records) else 0
        all_revived = most if begin else 10 * most  # late acknowledgements are there besides
        found, wanted = player.read(most=most, revived=all_revived), since(player, begin)
        assert {place: queues.keys() for place, queues in found.items()} == {p: q.keys() for p, q in wanted.items()}
        for place, queues in wanted.items():
            for queue, held in queues.items():
                for offset, record in held.items():
                    is_late = not record.left_out and (record.acked_ms or player.now) >= record.visible_ms
                    may_be_put_off = record.acked_ms is not None and most < len(records)
                    assert found[place][queue].get(offset) == record or is_late or may_be_put_off


def test_what_may_have_been_put_off_for_a_second_is_not_called_acknowledged() -> None:
    """Its new checkpoint is in no wheel, and the broker acknowledges the old one. Its copy comes within a minute."""
    place, at = ("T", "G", 0), 1_795_000_000_000
    pop = pop_log.Checkpoint(place, "b", at, at + 30_000, 0, (0,))
    ack = pop_log.Ack(place, "b", at, (0,), at + 500, 9_000)
    acked = {("T", "G"): {0: {0: PopRecord(at, at + 30_000, at + 500, 9_000)}}}
    assert pop_log.merged([pop, ack]) == acked  # all of the revive queues was read
    assert pop_log.merged([pop, ack], at + 9_000, at) == {("T", "G"): {0: {}}}
    assert pop_log.merged([pop, ack], at + 90_000, at + 30_000) == acked
    later = pop_log.Checkpoint(place, "b", at + 500, at + 1_500, 0, (0,))
    put_off = {("T", "G"): {0: {0: PopRecord(at + 500, at + 1_500)}}}
    assert pop_log.merged([pop, ack, later]) == put_off


def test_bodies_that_name_thousands_of_messages_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of so many the newest are read, and nothing is said of what was popped before."""
    monkeypatch.setattr(pop_log, "MOST_OFFSETS", 10_000)
    player, place = Player(tmp_path), ("T", "G", 0)
    player.pop(place, [0], 9_000)
    for _ in range(5):
        player.now += 10
        body = {"t": "T", "c": "G", "q": 0, "so": 0, "pt": player.now, "bn": "b", "ao": -1, "aol": list(range(4_000))}
        player.write("bAck", json.dumps(body).encode(), player.now + 9_000)
    player.now += 10
    player.pop(place, [1], 9_000)
    assert player.read() == {("T", "G"): {0: {1: player.known["T", "G"][0][1]}}}
    checkpoints = [pop_log.Checkpoint(place, "b", 1, 2, 0, (16_000,))] * 20_000
    assert len(pop_log.merged(checkpoints)["T", "G"][0]) == 16_001  # and it ends within a second


def test_a_large_message_of_an_application_hides_no_record(tmp_path: Path) -> None:
    player = Player(tmp_path)
    player.pop(("T", "G", 0), [0], 9_000)
    player.write("ack", bytes(70_000), player.now + 9_000, real="orders")
    player.pop(("T", "G", 0), [1], 9_000)
    assert player.read() == player.known


def test_a_folder_that_is_as_it_was_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page opens it anew at each turn. What the broker wrote since is read."""
    played(tmp_path, 1, 20).writer.close()
    reads: list[CommitLog] = []
    whole = pop_log.read

    def counted(log: CommitLog, queues: ConsumeQueues) -> PopRecords:
        reads.append(log)
        return whole(log, queues)

    monkeypatch.setattr(pop_log, "read", counted)
    for times in (1, 2):
        (tmp_path / "config").mkdir(exist_ok=True)
        (tmp_path / "config" / "consumerOffset.json").write_text("{}" * times)
        for _ in range(2):
            with StoreFolder(tmp_path) as store:
                assert ("T", "G") in store.config.popped and len(reads) == times


def test_what_was_popped_of_an_earlier_topic_of_the_name_counts_for_none(tmp_path: Path) -> None:
    """The first message of the queue was stored later than that."""
    player, place = Player(tmp_path), ("T", "G", 0)
    player.pop(place, [0], 9_000)
    player.now += 50_000
    first = Record.of("T", b"x", "", queue_id=0, born_timestamp=player.now, born_host=HERE, store_host=HERE)
    player.writer.put(first, player.now)
    player.now += 50
    player.pop(place, [1], 9_000)
    player.writer.close()
    with StoreFolder(tmp_path) as store:
        assert store.config.popped["T", "G"] == {0: {1: player.known["T", "G"][0][1]}}


def test_what_was_written_while_the_folder_was_copied_is_left_out(tmp_path: Path) -> None:
    """Of a queue that was copied later than the log, and of a revive queue that was copied later than the wheel."""
    player, place, many = Player(tmp_path), ("T", "G", 0), list(range(10**9, 10**9 + 100))
    player.pop(place, many, 1_500)
    before = player.known["T", "G"][0][many[0]]
    player.now += 2_000
    player.ack(place, before, many[1:], True, False)  # a record of more than 1 KiB
    at = player.writer.end
    player.pop(place, [0], 9_000)
    assert player.read() == since(player)
    path = tmp_path / "commitlog" / ("0" * 20)
    path.write_bytes(path.read_bytes()[:at])
    assert player.read() == {("T", "G"): {0: dict.fromkeys(many, before)}}


def test_a_damaged_revive_queue_may_hide_acknowledgements_that_came_late(tmp_path: Path) -> None:
    player, place = Player(tmp_path), ("T", "G", 0)
    player.pop(place, [1, 2], 1_500)
    player.now += 2_000
    player.ack(place, player.known["T", "G"][0][1], [1], False, False)
    player.write("ack", b"{", player.now)
    player.pop(place, [3], 9_000)
    open_one = PopRecord(player.now, player.now + 9_000)
    assert player.read() == {("T", "G"): {0: {3: open_one}}}


@pytest.mark.parametrize("unit", [b"\x7f" * 20, bytes(20), bytes(10) + b"\xff" * 10])
def test_a_unit_that_is_damaged_or_lost_hides_what_was_popped_before(tmp_path: Path, unit: bytes) -> None:
    player, place = Player(tmp_path), ("T", "G", 0)
    for offset in range(5):
        player.pop(place, [offset], 9_000)
        player.now += 10
    assert player.read() == player.known
    (path,) = (tmp_path / "consumequeue" / "rmq_sys_wheel_timer" / "0").iterdir()
    raw = path.read_bytes()
    path.write_bytes(raw[:20] + unit + raw[40:])
    found = player.read()
    assert found in [since(player, AT + 10 * begin) for begin in (2, 3)]


def test_of_several_brokers_nothing_is_said_and_a_settled_message_is_not_held(tmp_path: Path) -> None:
    player = Player(tmp_path / "one")
    player.pop(("T", "G", 0), [1, 2, 3], 9_000, bm=0b101)
    assert player.read() == {("T", "G"): {0: {2: PopRecord(AT, AT + 9_000)}}}
    player = Player(tmp_path / "two")
    player.pop(("T", "G", 0), [1], 9_000)
    player.pop(("T", "G", 0), [2], 9_000, bn="another")
    assert player.read() == {}


def test_no_verdict_of_a_pop_group_is_wrong_and_sounds_certain(tmp_path: Path) -> None:
    """What a real broker of 5.5.0 kept by default, against what its consumers logged."""
    root = real_store(tmp_path, "poplog.tar.xz")
    log = Log([(root / "clients.txt").read_text()])
    seen: Counter[tuple[str, ...]] = Counter()
    with StoreFolder(root) as store:
        look_up = StoreLookup(store, CLOCK)
        every = {answer.id: answer for answer in look_up.look_up(log.sent, fate=True)}
        alone = list(every)[-3:]
        assert [look_up.one(text, fate=True).fate for text in alone] == [every[text].fate for text in alone]
        for *_, verdict, tag, number, known in answers(every.__getitem__, log):
            if verdict.group.startswith("pop-"):
                grade = graded(verdict, known, excluded(verdict.group, tag, number))
                why = [each.code for each in verdict.why if each.code in OF_POP]
                seen[grade, known.state, verdict.code, verdict.certainty, *why] += 1
                for each in verdict.why:
                    if each.code == "acknowledged":  # as the record there says, at that time
                        stored = store.log.look(each.values["offset"])
                        assert isinstance(stored, Stored) and stored.record.properties["TAGS"] in ("ack", "bAck")
                        assert each.values["at"] == stored.record.born_timestamp
    assert seen == SEEN


def test_the_log_is_read_once_and_only_where_a_group_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real_read = pop_log.read

    def counted(*of: Any) -> Any:
        read.append(1)
        return real_read(*of)

    monkeypatch.setattr(pop_log, "read", counted)
    with StoreFolder(real_store(tmp_path, "poplog.tar.xz")) as store:
        groups = {each.row.group for each in rows_of(StoreEvidence(store))}
        assert {"pop-ok", "pop-hangs"} <= groups and not store.config.notes and not read
        assert {group for _, group in StoreEvidence(store).config.popped} <= groups
        look_up = StoreLookup(store, CLOCK)
        text = next(iter(Log([(store.root / "clients.txt").read_text()]).sent))
        assert look_up.one(text, fate=True).fate and look_up.one(text, fate=True).fate and len(read) == 1


OF_POP = {"acknowledged", "acknowledged_late", "acknowledged_retry", "pop_record", "left_out"}
SEEN: dict[tuple[str, ...], int] = {
    ("hedged", "failed", "consumed_on_retry", "uncertain", "acknowledged", "acknowledged_retry"): 16,
    ("hedged", "unseen", "consumed", "uncertain"): 25,
    ("right", "ok", "consumed", "inferred", "acknowledged"): 143,
    ("right", "open", "handed_out", "inferred", "pop_record"): 1,
    ("right", "open", "retry_queued", "inferred"): 3,
    ("right", "open", "retry_waiting", "inferred"): 2,
    ("right", "unseen", "filtered", "inferred", "left_out"): 11,
    ("right", "unseen", "handed_out", "inferred", "pop_record"): 8,
    ("right", "unseen", "retry_queued", "inferred"): 5,
    ("right", "unseen", "retry_queued", "uncertain"): 2,
}
