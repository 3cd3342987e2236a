"""What a running broker's timer wheel says of POP: against a plain account of the pops, cut short, and damaged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.fate import Observation
from idcore.answers.lookup import popped
from idcore.answers.lookup.topic_brokers import Pace
from idcore.rocketmq.message import Record
from idcore.rocketmq.message.model import tags_code
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.requests import QueueAt, QueueMax, QueuePart, QueueSlice, QueueUnit, Request, View
from idcore.rocketmq.store.pop_records import PopRecord, PopRecords
from tests.remoting.fake import UNIQ, record
from tests.remoting.fake_groups import HOME, NOW_MS, STORED, Cluster
from tests.remoting.servers import answer
from tests.store.test_pop_log import AT, Player, on_the_wheel, played

HOUR = 3_600_000


class Wheel:
    """The answers of a broker that has these records on its wheel; those of `lost` places it does not give.

    A file of its consume queue has so many units as `border` says, and an answer ends there.
    """

    def __init__(self, records: Sequence[Record], lost: Iterable[int] = (), border: int = 1 << 30) -> None:
        self.records, self.lost, self.border = records, set(lost), border
        self.views = 0

    def ask(self, requests: Sequence[Request[Any]]) -> list[Observation[Any]]:
        return [Observation(self._answer(each), 1) for each in requests]

    def _answer(self, request: Request[Any]) -> Any:
        if isinstance(request, QueueAt):
            later = (at for at, each in enumerate(self.records) if each.store_timestamp >= request.at_ms)
            return next(later, len(self.records))
        if isinstance(request, QueueMax):
            return len(self.records)
        if isinstance(request, QueueSlice):
            end = (request.index // self.border + 1) * self.border
            part = self.records[request.index : min(request.index + request.count, end)]
            return QueuePart(
                tuple(QueueUnit(each.physical_offset, tags_code(each.properties["TAGS"])) for each in part)
            )
        assert isinstance(request, View)
        self.views += 1
        known = {each.physical_offset: at for at, each in enumerate(self.records)}
        at = known[request.offset]
        return None if at in self.lost else bytes(self.records[at])


def flat(records: PopRecords) -> dict[tuple[str, str, int, int], PopRecord]:
    return {
        (*key, queue, offset): record
        for key, queues in records.items()
        for queue, of_queue in queues.items()
        for offset, record in of_queue.items()
    }


def truth(player: Player) -> dict[tuple[str, str, int, int], PopRecord]:
    return flat(player.known)


def of_wheel(player: Player, since_ms: int, now_ms: int, lost: Iterable[int] = ()) -> Any:
    player.writer.close()
    return flat(popped.read(Wheel(on_the_wheel(player.root), lost).ask, since_ms, now_ms).records)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_of_a_pop_is_so_and_an_hour_later_no_acknowledgement_in_time_is_missing(
    tmp_path: Path, seed: int
) -> None:
    player = played(tmp_path, seed)
    known = truth(player)
    for now_ms in (player.now, player.now + 61_000, player.now + HOUR):
        found = of_wheel(player, AT, now_ms)
        assert all(record == known[place] for place, record in found.items() if not record.left_out)
        assert not {place for place, record in found.items() if record.left_out} & known.keys()
    in_time = {place for place, each in known.items() if each.acked_ms is not None and each.acked_ms < each.visible_ms}
    assert in_time and in_time <= found.keys()
    assert not any(record.acked_ms is None and not record.left_out for record in found.values()), "it may be late"


@pytest.mark.parametrize("seed", range(8))
def test_of_a_part_of_the_wheel_only_acknowledgements_are_said(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = played(tmp_path, seed)
    known = truth(player)
    lost = of_wheel(player, AT, player.now, lost=[7])
    monkeypatch.setattr(popped, "MOST_UNITS", 40)
    for found in (lost, of_wheel(player, AT, player.now + HOUR)):
        assert all(record.acked_ms is not None for record in found.values())
    wheel = Wheel(on_the_wheel(player.root))
    popped.read(wheel.ask, AT, player.now)
    assert 0 < wheel.views <= 40
    assert found and all(
        record == known[place] or known[place].popped_ms > record.popped_ms for place, record in found.items()
    )


@pytest.mark.parametrize("border", [1, 7])
def test_an_answer_that_ends_with_a_file_of_the_queue_is_continued(tmp_path: Path, border: int) -> None:
    player = played(tmp_path, 3)
    found = of_wheel(player, AT, player.now + HOUR)
    cut = flat(popped.read(Wheel(on_the_wheel(player.root), border=border).ask, AT, player.now + HOUR).records)
    assert any(record.acked_ms is None for record in found.values()), "this is only said if nothing is missing"
    assert cut == found


def test_of_what_was_popped_before_the_message_was_stored_nothing_is_said(tmp_path: Path) -> None:
    player = played(tmp_path, 1)
    middle = AT + (player.now - AT) // 2
    assert all(record.popped_ms >= middle for record in of_wheel(player, middle, player.now + HOUR).values())


def test_what_was_stored_while_its_pop_began_is_said(tmp_path: Path) -> None:
    player = Player(tmp_path)
    player.pop(("T", "G", 0), [3], 9_000)
    player.now += 5
    player.ack(("T", "G", 0), player.known["T", "G"][0][3], [3], False, False)
    # the broker takes the time of a pop first, then reads the queue, and then stores the checkpoint
    player.writer.close()
    wheel = on_the_wheel(player.root)
    wheel[0] = replace(wheel[0], store_timestamp=AT + 2)
    assert flat(popped.read(Wheel(wheel).ask, AT + 1, AT + HOUR).records) == flat(player.known)


def at(offset: int, stored_ms: int, group: str = "G", topic: str = "T", queue: int = 0) -> tuple[Record, str]:
    return replace(record(topic, UNIQ, 0), queue_id=queue).placed(offset, 0, stored_ms), group


@pytest.mark.parametrize("seed", range(8))
def test_no_message_that_was_handed_out_lacks_a_checkpoint_and_each_other_does(tmp_path: Path, seed: int) -> None:
    player = played(tmp_path, seed)
    player.writer.close()
    wheel, now_ms = Wheel(on_the_wheel(player.root)), player.now + HOUR
    notes = popped.read(wheel.ask, AT, now_ms)
    for (topic, group), queues in player.known.items():
        for queue, held in queues.items():
            assert not any(notes.lacks(*at(offset, AT, group, topic, queue)) for offset in held)
            assert notes.lacks(*at(max(held) + 1, AT, group, topic, queue))
    assert notes.lacks(*at(0, AT, "another"))
    assert notes.lacks(*at(0, now_ms - 15_000, "another")) and not notes.lacks(*at(0, now_ms - 14_999, "another"))


def test_where_a_checkpoint_may_be_missing_none_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player(tmp_path)
    for offset in range(3):
        player.pop(("T", "H", 0), [offset], 60_000)
        player.now += 10_000
    player.writer.close()
    wheel, now_ms = on_the_wheel(player.root), player.now + HOUR
    asked = at(0, AT)
    assert popped.read(Wheel(wheel).ask, AT, now_ms).lacks(*asked)
    assert not popped.read(Wheel(wheel, lost=[1]).ask, AT, now_ms).lacks(*asked), "one cannot be read"
    assert not popped.read(Wheel([]).ask, AT, now_ms).lacks(*asked), "the broker may keep them elsewhere"
    monkeypatch.setattr(popped, "MOST_UNITS", 2)
    assert not popped.read(Wheel(wheel).ask, AT, now_ms).lacks(*asked), "up to ten seconds after the message"
    monkeypatch.setattr(popped, "MOST_UNITS", 3)
    assert not popped.read(Wheel(wheel).ask, AT, now_ms).lacks(*at(0, AT, topic="%LMQ%$T$name")), "a lite topic"
    notes = popped.read(Wheel(wheel).ask, AT, now_ms)
    assert not notes.lacks(*asked, pops=False), "it may have pulled"
    assert notes.lacks(*at(3, AT, "H"), pops=False), "it takes others by POP"
    late = replace(wheel[2], store_timestamp=wheel[2].store_timestamp + 10_000)
    kept = [*wheel[:2], late]
    assert not popped.read(Wheel(kept).ask, AT, now_ms).lacks(*asked), "one was in memory first: others may still be"


def test_a_message_for_later_with_a_tag_of_pop_is_none(tmp_path: Path) -> None:
    player = Player(tmp_path)
    player.write("ck", b"{}", AT + HOUR, "Orders")
    player.pop(("T", "G", 0), [3], 9_000)
    assert flat(player.known) == of_wheel(player, AT, AT + 5_000)


class Popping(Cluster):
    """A cluster whose group took the message by POP, as its wheel says."""

    def __init__(self, player: Player, orderly: bool = False) -> None:
        super().__init__(HOME)
        player.writer.close()
        self.settings = json.dumps({"consumeEnable": True, "consumeMessageOrderly": orderly}).encode()
        self.wheel = Wheel(on_the_wheel(player.root))
        self.popped = [("Orders", "works")]
        self.offsets["Orders@works"] = 11
        held, self.server._handle = self.server._handle, self.about_wheel
        self.usual = held

    def about_wheel(self, frame: Frame) -> Iterable[bytes]:
        if frame.code == 352:
            return [answer(frame, 0, self.settings)]
        if frame.field("topic") != "rmq_sys_wheel_timer" or frame.code not in (29, 30, 321, 33):
            return self.usual(frame)
        (found,) = self.wheel.ask([self._request(frame)])
        if frame.code == 321:
            rows = [
                {"physicOffset": each.physical_offset, "tagsCode": each.tags_code}
                for each in self.wheel._answer(self._request(frame)).units
            ]
            return [answer(frame, 0, json.dumps({"queueData": rows}).encode())]
        return [answer(frame, 0, found.value or b"") if frame.code == 33 else answer(frame, 0, offset=str(found.value))]

    def _request(self, frame: Frame) -> Request[Any]:
        def number(name: str) -> int:
            return int(frame.field(name) or "0")

        if frame.code == 29:
            return QueueAt("", 0, number("timestamp"))
        if frame.code == 321:
            return QueueSlice("", 0, number("index"), number("count"))
        return View(number("offset")) if frame.code == 33 else QueueMax("", 0)


@pytest.mark.parametrize(("acked", "expected"), [(True, ("consumed", "inferred")), (False, ("handed_out", "proved"))])
def test_a_pop_group_has_the_verdict_that_its_broker_wrote_down(
    tmp_path: Path, acked: bool, expected: tuple[str, str]
) -> None:
    player = Player(tmp_path)
    player.now = STORED + 1_000
    player.pop(("Orders", "works", 0), [10], 2 * NOW_MS - 2 * STORED)
    if acked:
        player.now += 500
        player.ack(("Orders", "works", 0), player.known["Orders", "works"][0][10], [10], False, False)
    made = Popping(player)
    with made.server:
        service = made.service(pace=Pace(lambda: NOW_MS, made.pauses.append))
        with service.cluster:
            (verdict,) = service.one(UNIQ, "Orders", fate=True, alone=True).fate or ()
            assert (verdict.code, verdict.certainty) == expected
            (verdict,) = service.one(UNIQ, "Orders", fate=True).fate or ()
            assert (verdict.code, verdict.certainty) == ("taken", "inferred"), "of a list nobody asks for it"


@pytest.mark.parametrize(("orderly", "expected"), [(False, "passed_maybe_skipped"), (True, "taken")])
def test_a_pop_group_that_was_set_forward_has_no_checkpoint(tmp_path: Path, orderly: bool, expected: str) -> None:
    player = Player(tmp_path)
    player.now = STORED + 1_000
    player.pop(("Orders", "another", 0), [10], 60_000)
    made = Popping(player, orderly)
    with made.server:
        service = made.service(pace=Pace(lambda: NOW_MS, made.pauses.append))
        with service.cluster:
            (verdict,) = service.one(UNIQ, "Orders", fate=True, alone=True).fate or ()
            assert verdict.code == expected
            assert ("no_checkpoint" in {each.code for each in verdict.why}) is not orderly


def test_a_pull_group_that_has_gone_has_no_checkpoints(tmp_path: Path) -> None:
    player = Player(tmp_path)
    player.now = STORED + 1_000
    player.pop(("Orders", "another", 0), [10], 60_000)
    made = Popping(player)
    made.popped = []
    made.connected.clear()
    wanted = {"topic": "Orders", "subString": "*", "tagsSet": [], "subVersion": NOW_MS - 90_000}
    made.proxied["works"] = json.dumps({"group": "works", "topic": "Orders", "subscriptionData": wanted}).encode()
    with made.server:
        service = made.service(pace=Pace(lambda: NOW_MS, made.pauses.append))
        with service.cluster:
            (verdict,) = service.one(UNIQ, "Orders", fate=True, alone=True).fate or ()
            assert verdict.code == "taken" and "no_checkpoint" not in {each.code for each in verdict.why}
