"""Lite topics: a fake broker that gives the answers which a real one of 5.5.0 gave (tests/vectors/rocksdb.tar.xz)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from idcore.answers.fate_list.tally import Tally
from idcore.answers.lookup import Answer, LookupService, Moment
from idcore.answers.lookup.groups import GroupAnswer, groups_of, progress_of
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.answers.lookup.topic_brokers import Pace
from idcore.base import catalogue
from idcore.ids import Clock
from idcore.presentation.headline import headline
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.consumers import AllConsumerOffsets, GroupOffsets
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.lite import (
    LightQueueCount,
    LiteClient,
    LiteClientOf,
    LiteGroupLag,
    LiteLag,
    LiteSubscribers,
    ParentGroups,
)
from idcore.rocketmq.remoting.profile import Profile, name_servers
from idcore.rocketmq.remoting.requests import Request
from idcore.rocketmq.store import CommitLog, Stored, StoreFolder
from tests.remoting.fake import Fake, answers
from tests.remoting.servers import answer
from tests.store.unpacked import real_store

pytestmark = pytest.mark.quick
_ASKED = re.compile(r"ASK (\d+) {(.*?)} -> (\d+) \| ([^|]*) \| ({offset=(\d+)}|null) \| (.*)")
S1 = "%LMQ%$Parent$s1"


class Recorded(Fake):
    """The broker that made the store, as far as it was asked; of everything else it has nothing."""

    def __init__(self, root: Path) -> None:
        log = CommitLog(root / "stopped" / "commitlog")
        records = [step.record for step in log.walk() if isinstance(step, Stored)]
        super().__init__(["Parent", "Lights"], records)
        self.clock = datetime.fromtimestamp(max(each.store_timestamp for each in records) / 1_000, UTC)
        self.asked: list[tuple[int, dict[str, str], int, str, str | None, str]] = []
        for line in (root / "answers.txt").read_text().splitlines():
            if found := _ASKED.match(line):
                fields = dict(part.split("=") for part in found[2].split(", ") if part)
                self.asked.append((int(found[1]), fields, int(found[3]), found[4], found[6], found[7]))

    def handle(self, frame: Frame) -> Iterable[bytes]:
        given = frame.fields or {}
        for code, fields, status, remark, offset, body in self.asked:
            if (
                code == frame.code
                and fields.items() <= {**given, "maxCount": "100"}.items()
                and ("liteTopic" in fields or code != 200078)
            ):
                more = {} if offset is None else {"offset": offset}
                return [answer(frame, status, b"" if body == "null" else body.encode(), remark, **more)]
        return super().handle(frame)

    @answers(14)
    def _none(self, frame: Frame) -> bytes:
        return answer(frame, 22, b"", "none")

    @answers(352)
    def _settings(self, frame: Frame) -> bytes:
        return answer(frame, 0, b'{"consumeEnable":true}')

    @answers(200076)
    def _nobody(self, frame: Frame) -> bytes:
        parent, lite = (frame.field(name) for name in ("parentTopic", "liteTopic"))
        return answer(frame, 0, json.dumps({"parentTopic": parent, "liteTopic": lite, "subscriber": []}).encode())

    @answers(200074)
    def _full(self, frame: Frame) -> bytes:
        return answer(frame, 0, b'{"currentLmqNum":4,"maxLmqNum":4}')

    @answers(402, 345, 208)
    def _nothing(self, frame: Frame) -> bytes:
        return answer(frame, 0, b'{"offsetTable":{}}')

    @answers(300)
    def _groups(self, frame: Frame) -> bytes:
        return answer(frame, 0, b'{"groupList":[]}')

    @answers(202, 203)
    def _absent(self, frame: Frame) -> bytes:
        return answer(frame, 206 if frame.code == 203 else 17, b"", "not there")

    @answers(200078)
    def _lag(self, frame: Frame) -> bytes:
        body = next(row[5] for row in self.asked if row[0] == 200078 and "liteTopic" not in row[1])
        return answer(frame, 0, body.encode())

    @answers(28)
    def _state(self, frame: Frame) -> bytes:
        table = {"brokerVersionDesc": "V5_5_0", "bootTimestamp": str(int(self.clock.timestamp() * 1_000))}
        more = {"commitLogMinOffset": "0", "commitLogMaxOffset": "100000", "earliestMessageTimeStamp": "1"}
        return answer(frame, 0, json.dumps({"table": table | more}).encode())


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("lite"), "rocksdb.tar.xz")


@pytest.fixture(scope="module")
def sent(root: Path) -> dict[str, str]:
    lines = (line.split() for line in (root / "answers.txt").read_text().splitlines())
    return {line[1]: line[2] for line in lines if line[0] == "SENT"}


@pytest.fixture
def broker(root: Path) -> Iterator[Recorded]:
    made = Recorded(root)
    with made.server:
        yield made


@pytest.fixture
def service(broker: Recorded) -> Iterator[LookupService]:
    now = broker.clock + timedelta(minutes=10)
    pace = Pace(lambda: round(now.timestamp() * 1_000), lambda seconds: None)
    profile = Profile("lite", name_servers(str(broker.server.address)))
    with (made := LookupService(Cluster(profile), lambda: Moment(now, UTC), pace=pace)).cluster:
        yield made


def asked(broker: Recorded, request: Request[object]) -> object:
    profile = Profile("lite", name_servers(str(broker.server.address)))
    with Cluster(profile) as cluster:
        ((member,),) = cluster.topology().brokers().values()
        return cluster.ask(member, request)


def said(answer: Answer) -> dict[tuple[str, str], str]:
    """By group and queue the verdict."""
    return {(each.group, str(each.facts[0].value).split()[1]): each.code for each in answer.fate or ()}


def test_the_answers_of_a_real_broker_are_read(broker: Recorded) -> None:
    assert asked(broker, ParentGroups("Parent")) == ("chats",)
    assert asked(broker, LiteSubscribers("Parent", "s1")) == (("chats", "client-1"),)
    assert asked(broker, LiteSubscribers("Parent", "nope")) == ()
    assert asked(broker, LiteSubscribers("Lights", "s1")) is None, "a topic of another kind"
    assert asked(broker, LightQueueCount()) == (4, 20_000)
    known = asked(broker, LiteClientOf("Parent", "chats", "client-1"))
    assert isinstance(known, LiteClient) and known.topics == 2 and known.asked_ms > 1_795_000_000_000
    assert asked(broker, LiteGroupLag("chats")) == LiteLag("Parent", 1, (("s1", 1),))
    rows = asked(broker, AllConsumerOffsets())
    assert isinstance(rows, tuple)
    assert {each.topic: each.offsets for each in rows if each.group == "chats"} == {S1: {0: 2}}


def test_light_groups_have_one_offset_for_a_topic(broker: Recorded) -> None:
    body = '{"lmqOffsetTable":{"%LMQ%a@%LMQ%reader":3},"offsetTable":{}}'
    broker.asked.insert(0, (43, {}, 0, "", None, body))
    assert asked(broker, AllConsumerOffsets()) == (GroupOffsets("%LMQ%a", "%LMQ%reader", {0: 3}),)


def test_a_lite_group_is_judged_by_the_queue_of_the_lite_topic(service: LookupService, sent: dict[str, str]) -> None:
    done, waits, other = (service.one(sent[name], "Parent", fate=True) for name in ("chat-0", "chat-2", "chat-4"))
    assert said(done) == {("chats", S1): "taken"}
    assert said(waits) == {("chats", S1): "stuck"}
    assert said(other) == {("chats", "%LMQ%$Parent$s2"): "never_read"}
    assert "no_groups" not in {each.code for answer in (done, waits, other) for each in answer.evidence}


def test_a_folder_says_the_same(root: Path, sent: dict[str, str]) -> None:
    with StoreFolder(root / "stopped") as store:
        look_up = StoreLookup(store, Clock(datetime.now(UTC), UTC, "given"))
        found = {name: look_up.one(sent[name], fate=True) for name in sent}
    said_of = {name: said(answer) for name, answer in found.items()}
    assert "readers (%LMQ%a)" in headline(found["light-4"], words=catalogue.words()), (
        "that it has the others does not hide this one"
    )
    assert said_of["chat-0"] == {("chats", S1): "consumed"} and said_of["chat-2"] == {("chats", S1): "behind"}
    assert said_of["chat-4"] == {("chats", "%LMQ%$Parent$s2"): "never_read"}, "its settings bind it to the parent"
    assert said_of["light-4"] == {
        ("readers", "Lights"): "consumed",
        ("readers", "%LMQ%a"): "behind",
        ("readers", "%LMQ%b"): "consumed",
    }


def test_a_list_of_ids_has_a_row_for_each_queue(root: Path, sent: dict[str, str]) -> None:
    """As the scan of a store: that a group has the message in another queue hides nothing of this one."""
    with StoreFolder(root / "stopped") as store:
        look_up = StoreLookup(store, Clock(datetime.now(UTC), UTC, "given"))
        tally = Tally([sent["light-4"], sent["chat-2"]], 0)
        for each in tally.ids:
            tally.take(look_up.one(each, fate=True), {})
    tables = {name: table.to_pylist() for name, table in tally.tables().items()}
    assert {(row["topic"], row["group"], row["verdict"]) for row in tables["fates"]} == {
        ("Lights", "readers", "consumed"),
        ("%LMQ%a", "readers", "behind"),
        ("%LMQ%b", "readers", "consumed"),
        (S1, "chats", "behind"),
    }
    missed = {(row["topic"], row["queue_id"], row["queue_offset"]) for row in tables["undelivered"]}
    assert missed == {("%LMQ%a", 0, 4), (S1, 0, 2)} and (tally.repeated, tally.summary()["records"]) == (0, 2)


def test_the_progress_of_a_lite_group(service: LookupService, broker: Recorded) -> None:
    broker.asked = [row for row in broker.asked if row[0] != 200074]

    def seen(topic: str) -> GroupAnswer:
        return service.ask("test", "", partial(progress_of, topic, "chats"))

    lite, parent = seen(S1), seen("Parent")
    assert lite.progress is not None and lite.routed
    assert [(each.offset, each.end, each.lag) for each in lite.progress.queues] == [(2, 3, 1)]
    assert lite.progress.contradictions() == [], "its clients are behind a proxy, and not away"
    noted = {each.code: each.values for each in lite.evidence}
    assert noted["lite_client"]["client"] == "client-1" and noted["lite_client"]["n"] == 2
    assert noted["lite_full"] == {"broker": "a", "most": 4}
    (told,) = (each.values for each in parent.evidence if each.code == "lite_lag")
    assert told == {"topic": "Parent", "lag": 1, "most": "s1 1"}
    (row,) = service.ask("test", "", partial(groups_of, S1)).rows
    assert (row.group, row.lag, row.clients) == ("chats", 1, 1)
