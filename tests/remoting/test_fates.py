"""What is asked for a verdict, and what silence comes to: a cluster of one listener that has groups."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC

import pytest

from idcore.answers.fate import Verdict
from idcore.answers.fate.sentences import reason_text
from idcore.answers.lookup import LookupService, Moment, relation_text, row_of
from idcore.answers.lookup.copies import TIMER_TOPIC, explain, group_of, home_topic
from idcore.answers.lookup.topic_brokers import Pace
from idcore.ids import OffsetId
from idcore.rocketmq.message import Record
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster as Remote
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.profile import Profile, name_servers
from tests.remoting.fake import NOW, UNIQ, answers, cluster_info, record
from tests.remoting.fake_groups import HOME, NOW_MS, OTHER, SCHEDULE, STORED, Cluster, copy
from tests.remoting.servers import answer
from tests.remoting.test_traces import USUAL, after, before, traces


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(HOME, OTHER)
    with made.server:
        yield made


def said(verdict: Verdict) -> tuple[str, list[str]]:
    return verdict.code, [reason.code for reason in verdict.why]


def test_what_is_not_asked_is_not_there(cluster: Cluster) -> None:
    service = cluster.service()
    with service.cluster:
        found = service.one(UNIQ, "Orders")
    assert found.fate is None and "fate" not in row_of(found)
    assert not {frame.code for frame in cluster.server.seen} & {14, 43, 45, 201, 203, 208, 300, 352, 402}


def test_an_offset_past_the_record_is_consumed_and_nobody_waits(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"] = 11
    found = cluster.answer()
    (row,) = row_of(found)["fate"]
    assert (row["group"], row["verdict"], row["certainty"]) == ("works", "consumed", "inferred")
    assert row["record"] == str(HOME.offset_id) and row["asked_at"] == "2026-11-18T11:16:40.000+00:00"
    assert not cluster.pauses and str(cluster.server.address) in found.asked


def test_an_offset_that_does_not_move_names_its_blocker(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"] = 8
    verdict = cluster.verdicts()["works"]
    assert said(verdict) == ("stuck", ["still", "blocker"]) and verdict.values == {"ahead": 2}
    assert verdict.why[1].values["msg_id"] == "BLOCKER" and cluster.pauses == [5.0]


def test_an_offset_that_moves_has_a_rate(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"] = [5, 8]
    assert said(cluster.verdicts()["works"]) == ("behind", ["moving"])


def test_a_message_that_was_pulled_is_handed_out(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"] = 10
    cluster.pulled = 11
    assert said(cluster.verdicts()["works"]) == ("handed_out", ["unfinished_itself"])
    cluster.offsets["Orders@works"] = 8
    verdict = cluster.verdicts()["works"]
    assert said(verdict) == ("handed_out", ["unfinished"]) and not cluster.pauses
    assert (verdict.why[0].values["msg_id"], verdict.why[0].values["age"]) == ("BLOCKER", 600)


def test_a_group_that_has_not_committed_yet_was_handed_what_it_pulled(cluster: Cluster) -> None:
    """The first calls of its listener still run, or it is a lite pull consumer that assigned itself the queue."""
    cluster.pulled = 11
    assert said(cluster.verdicts()["works"]) == ("handed_out", [])
    cluster.pulled = 10
    assert said(cluster.verdicts()["works"]) == ("never_read", ["no_offset_yet"])


def test_the_queue_has_no_entry_yet(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"], cluster.end = 10, 10
    assert cluster.verdicts()["works"].code == "not_dispatched"


def test_a_queue_that_is_only_written_is_not_read(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"], cluster.permission = 5, 2
    assert cluster.verdicts()["works"].code == "unreadable_queue"


@pytest.mark.parametrize(
    ("offset", "connected", "code"),
    [(11, True, "no_verdict"), (5, False, "no_verdict"), (5, True, "stuck")],
)
def test_a_broker_of_the_route_that_is_gone_is_silent(
    cluster: Cluster, offset: int, connected: bool, code: str
) -> None:
    cluster.offsets["Orders@works"], cluster.absent = offset, ["gone"]
    if not connected:
        cluster.connected.clear()
    found = cluster.answer()
    assert found.fate is not None and [verdict.code for verdict in found.fate] == [code]
    assert {verdict.certainty for verdict in found.fate} <= {"none", "uncertain"}
    assert "groups_incomplete" in {item.code for item in found.evidence}


def test_a_retry_waits_until_its_level_delivers_it(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"] = 11
    waits = copy(SCHEDULE, 0, 1, 2_000, REAL_TOPIC="%RETRY%works")
    cluster.records.append(replace(waits, queue_id=2))  # of level 3
    verdict = cluster.verdicts()["works"]
    assert said(verdict) == ("retry_waiting", []) and verdict.values == {"tries": 1, "due": cluster.due}
    cluster.delays = {3: 1}
    assert said(cluster.verdicts()["works"]) == ("no_verdict", ["just_delivered"]) and cluster.pauses == [5.0]
    cluster.records.append(copy("%RETRY%works", 4, 1, 3_000))
    cluster.topics.append("%RETRY%works")
    cluster.offsets["%RETRY%works@works"] = 4
    assert said(cluster.verdicts()["works"]) == ("retry_queued", [])
    cluster.offsets["%RETRY%works@works"] = 5
    assert said(cluster.verdicts()["works"]) == ("consumed_on_retry", [])
    cluster.records.append(copy("%DLQ%works", 0, 2, 4_000))
    assert cluster.verdicts()["works"].values["tries"] == 2


def test_a_retry_on_the_timer_wheel_waits_until_the_wheel_has_read_past_its_time(
    cluster: Cluster,
) -> None:
    due, read = NOW_MS - 1_000, NOW_MS - 1_000
    cluster.offsets["Orders@works"] = 11
    cluster.records.append(copy(TIMER_TOPIC, 0, 1, 2_000, REAL_TOPIC="%RETRY%works", TIMER_OUT_MS=str(due)))
    served = cluster.server._handle

    def check_point(frame: Frame) -> Iterable[bytes]:
        return [answer(frame, 0, read.to_bytes(8, "big") + bytes(48))] if frame.code == 60 else served(frame)

    cluster.server._handle = check_point
    verdict = cluster.verdicts()["works"]
    assert said(verdict) == ("retry_waiting", ["late"]) and verdict.values == {"tries": 1, "due": due}
    read += 1_000
    assert said(cluster.verdicts()["works"]) == ("no_verdict", ["just_delivered"])


def test_copies_are_found_in_topics_that_nobody_registered(cluster: Cluster) -> None:
    """A retry topic is made by the first failure; its route may be younger than what we know of the name server."""
    cluster.offsets |= {"Orders@works": 11, "%RETRY%works_Orders@works": 0}
    cluster.records.append(copy("%RETRY%works_Orders", 0, 1, 2_000))
    assert cluster.verdicts()["works"].code == "retry_queued"


def test_clients_behind_a_proxy_take_messages_though_no_broker_lists_them(cluster: Cluster) -> None:
    """203 says 206 of them, 345 what they want. Bytes of a broker of 5.3.3 behind whose proxy gRPC clients consumed."""
    cluster.connected.clear()
    wanted = (
        b'{"group":"works","subscriptionData":{"classFilterMode":false,"codeSet":[2598920],"expressionType":"TAG",'
        b'"subString":"%b","subVersion":1795368516605,"tagsSet":[%b],"topic":"Orders"},"topic":"Orders"}'
    )
    cluster.offsets["Orders@works"] = 11
    assert said(cluster.verdicts()["works"]) == ("consumed", ["nobody_connected", "filter_unknown"])
    cluster.proxied["works"] = wanted % (b"*", b"")
    taken = cluster.verdicts()["works"]
    assert (taken.code, taken.certainty) == ("taken", "uncertain"), "what they asked for before is not known"
    assert said(taken) == ("taken", ["popped", "proxied", "filter_of_last_request"])
    assert "consume_type" not in {fact.name for fact in taken.facts}
    cluster.proxied["works"] = wanted % (b"TagZ", b'"TagZ"')
    filtered = cluster.verdicts()["works"]
    assert (filtered.code, filtered.certainty, filtered.values["expression"]) == ("filtered", "uncertain", "TagZ")
    cluster.offsets["Orders@works"] = 5
    assert cluster.verdicts()["works"].code == "filtered_ahead"
    cluster.proxied["works"] = wanted % (b"*", b"")
    assert cluster.verdicts()["works"].code == "stuck"
    cluster.proxied["works"] = (wanted % (b"*", b"")).replace(b"1795368516605", b"%d" % (NOW_MS - 60_000))
    assert cluster.verdicts()["works"].code == "offline"  # a broker keeps for ten minutes who has asked it
    cluster.ahead_ms = -10_000
    assert cluster.verdicts()["works"].code == "stuck", "the time is the broker's"
    cluster.ahead_ms, cluster.offsets["Orders@works"] = 0, 11  # a consumer that asks every 95 s, or one that has gone
    assert said(cluster.verdicts()["works"]) == ("taken", ["popped", "nobody_connected", "filter_of_last_request"])
    cluster.offsets["Orders@works"] = 5
    for damaged in (b"", b"[]", b'{"subscriptionData":7}', b'{"subscriptionData":{"subString":[]}}'):
        cluster.proxied["works"] = damaged
        assert cluster.verdicts()["works"].code == "offline"


def test_what_a_pull_consumer_asked_for_that_assigned_itself_the_queue(cluster: Cluster) -> None:
    """Its heartbeats name no topic (203); the broker has the filter of its last request (345)."""
    cluster.connected["works"] = Cluster.connection(consumeType="CONSUME_ACTIVELY", subscriptionTable={})
    cluster.offsets["Orders@works"] = 11
    assert said(cluster.verdicts()["works"]) == ("taken", ["pulled", "filter_unknown"])
    wanted = {"expressionType": "TAG", "subString": "TagZ", "subVersion": NOW_MS, "tagsSet": ["TagZ"]}
    cluster.proxied["works"] = json.dumps({"subscriptionData": wanted}).encode()
    filtered = cluster.verdicts()["works"]
    assert said(filtered) == ("filtered", ["filter_of_last_request"]) and filtered.certainty == "uncertain"
    assert filtered.values["expression"] == "TagZ"
    says = {"PROP_CONSUMER_START_TIMESTAMP": str(STORED - 1_000), "pullThreadNums": "20"}
    served = cluster.server._handle

    def state(frame: Frame) -> Iterable[bytes]:
        body = {"properties": says, "mqTable": {}, "subscriptionSet": []}
        return [answer(frame, 0, json.dumps(body).encode())] if frame.code == 307 else served(frame)

    cluster.server._handle = state
    only = reached(cluster)
    assert (said(only), only.certainty) == (("filtered", []), "inferred"), "it has one filter for its life"
    says["PROP_CONSUMER_START_TIMESTAMP"] = str(STORED + 1_000)
    assert said(reached(cluster)) == ("filtered", ["subscribed_later"])
    del says["pullThreadNums"]
    assert said(reached(cluster)) == ("filtered", ["filter_of_last_request"]), "the old one has one for each pull"


def reached(cluster: Cluster) -> Verdict:
    """The verdict with the clients asked too."""
    profile = Profile("fake", name_servers(str(cluster.server.address)), limits=Limits(2, 2, reach_clients=True))
    pace = Pace(lambda: NOW_MS, lambda seconds: None)
    with (service := LookupService(Remote(profile), lambda: Moment(NOW, UTC), pace=pace)).cluster:
        (verdict,) = service.one(UNIQ, "Orders", fate=True, alone=True).fate or ()
    return verdict


@pytest.mark.parametrize(
    ("expressions", "certainty"),
    [
        (("TagA || TagB", "TagB||TagA"), "inferred"),
        (("TagA || TagB", "TagB"), "uncertain"),
        (("TagB", "TagA || TagB"), "uncertain"),
        (("*", "TagA || TagB"), "uncertain"),
        (("TagB",), "inferred"),  # the only client just subscribed again
    ],
)
def test_clients_of_one_group_that_subscribe_different_tags(
    cluster: Cluster, expressions: tuple[str, ...], certainty: str
) -> None:
    """The broker has the newest subscription; each client drops by its own."""
    clients = {f"10.0.0.{at}@1": each for at, each in enumerate(expressions)}
    rows = [{"clientId": name, "clientAddr": "10.0.0.3:5", "language": "JAVA", "version": 1} for name in clients]
    cluster.connected["works"] = cluster.connection("TagA || TagB", connectionSet=rows)
    cluster.offsets["Orders@works"] = 11
    served = cluster.server._handle

    def state(frame: Frame) -> Iterable[bytes]:
        if frame.code != 307:
            return served(frame)
        text = clients[frame.field("clientId") or ""]
        tags = [] if text == "*" else [tag.strip() for tag in text.split("||")]
        wanted = {"topic": "Orders", "subString": text, "tagsSet": tags, "subVersion": 0, "expressionType": "TAG"}
        return [answer(frame, 0, json.dumps({"properties": {}, "mqTable": {}, "subscriptionSet": [wanted]}).encode())]

    cluster.server._handle = state
    verdict = reached(cluster)
    assert (verdict.code, verdict.certainty) == ("consumed", certainty)
    assert said(verdict)[1] == (["filters_differ"] if certainty == "uncertain" else [])


@pytest.mark.parametrize(
    ("committed", "oldest", "expected"),
    [
        (11, 11, ("consumed", [])),
        (11, 0, ("consumed", [])),  # nothing in memory
        (-1, 0, ("consumed", [])),
        (10, 10, ("running", ["in_memory_first", "no_thread"])),
        (10, 11, ("passed_maybe_skipped", ["client_behind"])),
        (2, 2, ("passed_maybe_skipped", ["client_behind"])),
        (40, 2, ("passed_maybe_skipped", ["client_behind"])),  # it has read the new offset, and holds what is older
        (-1, 2, ("passed_maybe_skipped", ["client_behind"])),
    ],
)
def test_a_client_that_is_behind_its_group_has_not_heard_of_a_reset(
    cluster: Cluster, committed: int, oldest: int, expected: tuple[str, list[str]]
) -> None:
    """A broker of 5.3.3 says the new offset at once, as long as the client asks for no more messages.

    So the client of `benchmarks.witnesses` that has as much in memory as it may have.
    """
    cluster.offsets["Orders@works"] = 40
    served = cluster.server._handle
    ends = f'"cachedMsgMinOffset":{oldest},"cachedMsgMaxOffset":{oldest + 1}'
    row = f'{{"cachedMsgCount":{2 if oldest else 0},{ends},"commitOffset":{committed}}}'
    table = f'{{{{"brokerName":"a","queueId":0,"topic":"Orders"}}:{row}}}'

    def state(frame: Frame) -> Iterable[bytes]:
        told = f'{{"properties":{{}},"mqTable":{table},"subscriptionSet":[]}}'
        return [answer(frame, 0, told.encode())] if frame.code == 307 else served(frame)

    cluster.server._handle = state
    assert said(reached(cluster)) == expected
    cluster.popped = [("Orders", "works")]
    assert said(reached(cluster)) == ("taken", ["popped"]), "what a POP client has in memory says nothing"


def test_clients_of_a_group_that_was_handed_fewer_messages_are_asked_before_those_of_others(cluster: Cluster) -> None:
    cluster.listed = [f"g{at:02}" for at in range(70)]
    cluster.connected = {group: cluster.connection() for group in cluster.listed}
    cluster.offsets |= {f"Orders@{group}": 11 for group in cluster.listed}
    cluster.up_minutes, cluster.counted = 122, {"Orders": 2} | {f"Orders@{group}": 2 for group in cluster.listed[:69]}
    served, asked = cluster.server._handle, []

    def state(frame: Frame) -> Iterable[bytes]:
        if frame.code != 307:
            return served(frame)
        asked.append(frame.field("consumerGroup"))
        return [answer(frame, 0, b'{"properties":{},"mqTable":{},"subscriptionSet":[]}')]

    cluster.server._handle = state
    profile = Profile("fake", name_servers(str(cluster.server.address)), limits=Limits(2, 2, reach_clients=True))
    with (
        service := LookupService(Remote(profile), lambda: Moment(NOW, UTC), pace=Pace(lambda: NOW_MS, print))
    ).cluster:
        found = {
            verdict.group: said(verdict) for verdict in service.one(UNIQ, "Orders", fate=True, alone=True).fate or ()
        }
    assert found == dict.fromkeys(cluster.listed[:69], ("consumed", [])) | {
        "g69": ("passed_maybe_skipped", ["fewer_handed"])
    }
    assert sorted(group or "" for group in asked) == sorted(["g69", *cluster.listed[:63]])


def test_an_sql_filter_is_judged_by_the_properties_of_the_message(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"] = 11
    said_of = {}
    for expression in ("TAGS = 'TagA'", "TAGS = 'TagB'", "TAGS > 'TagB'"):
        held = cluster.connection(expression)
        held["subscriptionTable"]["Orders"] |= {"expressionType": "SQL92", "tagsSet": []}
        cluster.connected["works"] = held
        verdict = cluster.verdicts()["works"]
        said_of[expression] = verdict.code, verdict.certainty
    assert list(said_of.values()) == [("consumed", "inferred"), ("filtered", "inferred"), ("consumed", "uncertain")]


def test_a_group_that_broadcasts_is_judged_by_what_was_pulled(cluster: Cluster) -> None:
    cluster.connected["works"] = cluster.connection(messageModel="BROADCASTING")
    cluster.offsets["Orders@works@broadcast"] = 11
    assert said(cluster.verdicts()["works"]) == ("broadcast", ["broadcast_reached"])
    cluster.version, cluster.offsets["Orders@works@broadcast"] = "V4_9_7", 0
    assert said(cluster.verdicts()["works"]) == ("broadcast", ["broadcast_unknown"])


@pytest.mark.parametrize(
    ("offset", "silent", "code", "why"),
    [
        (11, 14, "no_verdict", "offset_unknown"),
        (11, 12, "no_verdict", "copies_unknown"),
        (11, 203, "consumed", "connection_unknown"),
        (5, 203, "no_verdict", "connection_unknown"),
        (None, 203, "never_read", "connection_unknown"),
    ],
)
def test_silence_takes_away_what_only_the_silent_could_say(
    cluster: Cluster, offset: int | None, silent: int, code: str, why: str
) -> None:
    if offset is not None:
        cluster.offsets["Orders@works"] = offset
    cluster.silent = {silent}
    if silent == 12:  # there is something that cannot be read
        cluster.records.append(copy("%RETRY%works", 0, 1, 2_000))
    service = cluster.service(pace=Pace(lambda: NOW_MS, cluster.pauses.append))
    with service.cluster:
        address = cluster.server.address
        by_offset = str(OffsetId.of(address.ip, address.port, HOME.physical_offset))
        found = service.one(by_offset if silent == 12 else UNIQ, "Orders", fate=True)
    assert found.fate is not None and [said(verdict) for verdict in found.fate] == [(code, [why])]
    assert "error_answer" in {item.code for item in found.evidence}


def test_groups_that_could_not_be_listed_are_missed(cluster: Cluster) -> None:
    cluster.silent = {300}
    found = cluster.answer()
    assert found.found and found.fate == ()
    assert {"groups_incomplete", "no_groups"} <= {item.code for item in found.evidence}


def test_the_release_that_lists_groups_wrongly_is_asked_otherwise(cluster: Cluster) -> None:
    cluster.version = "V5_3_3"
    cluster.listed = ["Orders", "works"]
    cluster.topics += ["%RETRY%fresh", "%RETRY%elsewhere"]
    cluster.connected["fresh"] = cluster.connection()
    cluster.connected["elsewhere"] = cluster.connection(topic="Notices")
    cluster.offsets |= {"Orders@works": 11, "Orders@offline": 3, "Orders@spread@broadcast": 3, "Notices@other": 1}
    found = {group: verdict.code for group, verdict in cluster.verdicts().items()}
    assert found == {"works": "consumed", "fresh": "never_read", "offline": "offline"}


def test_very_many_groups_are_asked_by_one_question(cluster: Cluster) -> None:
    cluster.listed = [f"g{at:03}" for at in range(70)]
    cluster.offsets = {f"Orders@{group}": 11 for group in cluster.listed[:60]}
    found = cluster.verdicts()
    assert [found[group].code for group in cluster.listed].count("consumed") == 60
    codes = [frame.code for frame in cluster.server.seen]
    assert 43 in codes and 14 not in codes


def test_of_a_hundred_messages_each_group_is_asked_about_once(cluster: Cluster) -> None:
    ids = [f"{UNIQ[:-4]}{at:04X}" for at in range(100)]
    cluster.records = [record("Orders", each, at).placed(at, at, STORED) for at, each in enumerate(ids)]
    cluster.listed = [f"g{at}" for at in range(10)]
    cluster.connected = {group: cluster.connection() for group in cluster.listed}
    cluster.offsets |= {f"Orders@{group}": 100 for group in cluster.listed[1:]} | {"Orders@g0": 60}
    cluster.end, cluster.pulled = 100, 100
    service = cluster.service(pace=Pace(lambda: NOW_MS, cluster.pauses.append))
    with service.cluster:
        answers = list(service.look_up(ids, "Orders", fate=True))
    codes = [verdict.code for answer in answers for verdict in answer.fate or ()]
    assert (codes.count("consumed"), codes.count("handed_out")) == (960, 40)
    asked = Counter(frame.code for frame in cluster.server.seen if frame.code not in (12, 105, 106, 206))
    # for each group one of connection, settings, offset, and four topics of copies with the two of the broker's own
    assert asked == {28: 1, 300: 1, 30: 1, 31: 1, 203: 10, 352: 10, 402: 1, 14: 10, 208: 1, 202: 42, 321: 1, 33: 1}


@pytest.mark.parametrize(
    ("handed", "expected"),
    [
        (2, ("consumed", [])),
        (1, ("consumed", [])),
        (0, ("passed_maybe_skipped", ["fewer_handed"])),
        (None, ("passed_maybe_skipped", ["fewer_handed"])),
    ],
)
def test_a_group_that_was_handed_fewer_messages_than_it_passed_may_have_been_reset(
    cluster: Cluster, handed: int | None, expected: tuple[str, list[str]]
) -> None:
    """The queue has two messages, and the group has passed one of them."""
    cluster.offsets["Orders@works"], cluster.up_minutes, cluster.counted = 11, 122, {"Orders": 2}
    if handed is not None:
        cluster.counted["Orders@works"] = handed
    verdict = cluster.verdicts()["works"]
    assert said(verdict) == expected
    for reason in verdict.why:
        assert reason.values == {"handed": 0, "passed": 1, "since": NOW_MS - 52 * 60_000}
        assert "at most 0 messages since 2026-11-18T10:24:40" in reason_text(reason)
    asked = Counter(frame.code for frame in cluster.server.seen)
    assert (asked[315], asked[208]) == (2, int(handed != 2)) and asked[29] == (3 if handed == 2 else 4)


@pytest.mark.parametrize(
    "spoilt",
    [{"silent": {315}}, {"counted": {}}, {"up_minutes": 9}, {"version": "V4_9_7"}],
)
def test_without_whole_sums_of_a_broker_nothing_is_doubted(cluster: Cluster, spoilt: dict[str, object]) -> None:
    cluster.offsets["Orders@works"], cluster.up_minutes, cluster.counted = 11, 122, {"Orders": 2}
    for name, value in spoilt.items():
        setattr(cluster, name, value)
    found = cluster.answer()
    assert [said(verdict) for verdict in found.fate or ()] == [("consumed", [])]
    assert not {"error_answer", "denied", "no_answer"} & {item.code for item in found.evidence}


@pytest.mark.parametrize(
    ("counted", "code"), [({}, "passed_maybe_skipped"), ({"Orders@works": 0}, "consumed"), (None, "consumed")]
)
def test_what_slaves_handed_out_is_not_counted_by_their_master(
    cluster: Cluster, counted: dict[str, int] | None, code: str
) -> None:
    slave = Cluster()
    cluster.offsets["Orders@works"], cluster.up_minutes, cluster.counted = 11, 122, {"Orders": 2}
    slave.counted, slave.silent = counted or {}, {315} if counted is None else set()
    served = cluster.server._handle

    def both(frame: Frame) -> Iterable[bytes]:
        if frame.code != 106:
            return served(frame)
        return [answer(frame, 0, cluster_info({"a": {0: str(cluster.server.address), 1: str(slave.server.address)}}))]

    cluster.server._handle = both
    with slave.server:
        assert cluster.verdicts()["works"].code == code
    assert [frame.code for frame in slave.server.seen] == [315]


def test_of_a_hundred_messages_the_sums_of_each_group_are_asked_for_once(cluster: Cluster) -> None:
    ids = [f"{UNIQ[:-4]}{at:04X}" for at in range(100)]
    cluster.records = [record("Orders", each, at).placed(at, at, STORED) for at, each in enumerate(ids)]
    cluster.listed = [f"g{at}" for at in range(10)]
    cluster.connected = {group: cluster.connection() for group in cluster.listed}
    cluster.offsets |= {f"Orders@{group}": 100 for group in cluster.listed}
    cluster.up_minutes, cluster.counted = 122, {"Orders": 100} | {f"Orders@{group}": 100 for group in cluster.listed}
    service = cluster.service(pace=Pace(lambda: NOW_MS, cluster.pauses.append))
    with service.cluster:
        answers = list(service.look_up(ids, "Orders", fate=True))
    assert {verdict.code for answer in answers for verdict in answer.fate or ()} == {"consumed"}
    asked = Counter(frame.code for frame in cluster.server.seen)
    assert (asked[315], asked[208], asked[29]) == (11, 0, 3), "ten groups and the topic; where its one queue was"


def test_who_waited_for_one_message_need_not_wait_for_the_next(cluster: Cluster) -> None:
    second = UNIQ[:-4] + "FFFF"
    cluster.records.append(record("Orders", second, 1_000).placed(11, 1_000, STORED))
    cluster.offsets["Orders@works"] = 8
    service = cluster.service(pace=Pace(lambda: NOW_MS + 5_000 * len(cluster.pauses), cluster.pauses.append))
    with service.cluster:
        found = [service.one(each, "Orders", fate=True).fate for each in (UNIQ, second)]
    assert [[said(verdict) for verdict in each or ()] for each in found] == 2 * [[("stuck", ["still", "blocker"])]]
    assert cluster.pauses == [5.0]


def test_an_answer_of_a_moment_ago_is_not_taken_for_a_message_behind_it(cluster: Cluster) -> None:
    """A group that had not passed the first, and meanwhile has passed both: the second look-up asks again."""
    second, clock = UNIQ[:-4] + "FFFF", iter(range(NOW_MS, NOW_MS + 1_000))
    cluster.records.append(record("Orders", second, 1_000).placed(11, 1_000, STORED))
    cluster.offsets["Orders@works"], cluster.pulled = [10, 12], 11
    service = cluster.service(pace=Pace(lambda: next(clock), cluster.pauses.append))
    with service.cluster:
        found = [service.one(each, "Orders", fate=True).fate for each in (UNIQ, second)]
    assert [[verdict.code for verdict in each or ()] for each in found] == [["handed_out"], ["consumed"]]


def test_a_producers_retry_that_was_consumed_twice_says_so(cluster: Cluster) -> None:
    cluster.records.append(record("Orders", UNIQ, 5_000, properties={"TAGS": "TagA"}).placed(11, 5_000, STORED))
    cluster.offsets["Orders@works"] = 12
    found = cluster.answer()
    assert found.fate is not None
    assert [said(verdict) for verdict in found.fate] == [("consumed", ["twice"])] * 2
    cluster.offsets["Orders@works"] = 11
    found = cluster.answer()
    assert found.fate is not None
    assert [verdict.why[-1].code for verdict in found.fate if verdict.code != "consumed"] == ["other_record"]


def test_a_copy_belongs_to_the_record_that_it_names(cluster: Cluster) -> None:
    one, two = (record("Orders", UNIQ, at).placed(at // 1_000, at, STORED) for at in (6_000, 7_000))
    cluster.records = [one, two, copy("%DLQ%works", 0, 1, 9_000, ORIGIN_MESSAGE_ID=str(two.offset_id))]
    cluster.offsets["Orders@works"] = 8
    found = cluster.answer()
    assert found.fate is not None
    assert {verdict.record: verdict.code for verdict in found.fate} == {
        str(one.offset_id): "consumed",
        str(two.offset_id): "dead",
    }


BATCH, ITEMS = UNIQ[:-4] + "0002", (UNIQ[:-4] + "0000", UNIQ[:-4] + "0001")


def item(own: str, at: int) -> Record:
    """An item of a batch: its own msgId, and behind it that of the batch, which the broker appends."""
    made = record("Orders", BATCH, at)
    raw = f"UNIQ_KEY\x01{own}\x02".encode() + made.properties_bytes
    return replace(made, properties_bytes=raw).placed(at // 1_000, at, STORED)


def item_copy(topic: str, **properties: str) -> Record:
    """A retry or a dead letter of an item has the msgId of the batch."""
    more = {"RETRY_TOPIC": "Orders", **properties}
    return record(topic, BATCH, 9_000, reconsume_times=1, properties=more).placed(0, 9_000, STORED + 9_000)


def test_what_became_of_one_item_of_a_batch_is_not_said_of_another(cluster: Cluster) -> None:
    items = [item(own, at) for own, at in zip(ITEMS, (6_000, 7_000), strict=True)]
    cluster.records = [*items, item_copy("%DLQ%works", ORIGIN_MESSAGE_ID=str(items[1].offset_id))]
    cluster.offsets["Orders@works"] = 8
    service = cluster.service()
    with service.cluster:
        codes = [[verdict.code for verdict in service.one(own, "Orders", fate=True).fate or ()] for own in ITEMS]
    assert codes == [["consumed"], ["dead"]]


def test_a_copy_that_names_no_item_of_a_batch_may_be_of_any(cluster: Cluster) -> None:
    cluster.records = [
        *(item(own, at) for own, at in zip(ITEMS, (6_000, 7_000), strict=True)),
        item_copy("%RETRY%works"),
    ]
    cluster.topics.append("%RETRY%works")
    cluster.offsets |= {"Orders@works": 8, "%RETRY%works@works": 0}
    service = cluster.service()
    with service.cluster:
        verdicts = service.one(ITEMS[0], "Orders", fate=True).fate or ()
    assert [(each.code, each.certainty) for each in verdicts] == [("retry_queued", "uncertain")]


def test_push_clients_that_take_messages_by_pop_are_known_from_the_brokers_settings(cluster: Cluster) -> None:
    cluster.offsets["Orders@works"] = 11
    cluster.popped = [("Paid", "works"), ("Orders", "others")]
    assert [each.code for each in cluster.answer().fate or ()] == ["consumed"]
    cluster.popped.append(("Orders", "works"))
    assert [each.code for each in cluster.answer().fate or ()] == ["taken"]


def traced(cluster: Cluster) -> dict[tuple[str, str], tuple[str, str]]:
    """By record and group: verdict and certainty, in the topic Orders, with traces."""
    service = cluster.service(trace_topics=())
    with service.cluster:
        found = service.one(UNIQ, "Orders", fate=True)
    assert found.fate is not None
    return {(verdict.record, verdict.group): (verdict.code, verdict.certainty) for verdict in found.fate}


@pytest.fixture
def tracing(cluster: Cluster) -> Cluster:
    """A success of `readers` is traced, and `works` reads the topic too."""
    cluster.topics.append(USUAL)
    cluster.records.append(traces(8_000, before(0) + after(0)))
    cluster.listed = ["works", "readers"]
    cluster.connected["readers"] = cluster.connection()
    cluster.offsets |= {"Orders@works": 11, "Orders@readers": 11}
    return cluster


def test_a_trace_of_success_proves_what_offsets_only_suggest(tracing: Cluster) -> None:
    home = str(HOME.offset_id)
    assert traced(tracing) == {(home, "readers"): ("consumed", "proved"), (home, "works"): ("consumed", "inferred")}


def test_a_trace_of_success_tells_what_a_pull_consumer_or_a_group_that_has_gone_did(tracing: Cluster) -> None:
    """A pull consumer traces a success when it takes a message. Push clients have an offset in their retry topic."""
    of_readers = str(HOME.offset_id), "readers"
    tracing.connected["readers"] = tracing.connection(consumeType="CONSUME_ACTIVELY")
    assert traced(tracing)[of_readers] == ("taken", "proved")
    tracing.connected["readers"] = tracing.connection(messageModel="BROADCASTING")
    assert traced(tracing)[of_readers] == ("broadcast", "uncertain")
    del tracing.connected["readers"]
    assert traced(tracing)[of_readers] == ("consumed", "uncertain")
    tracing.offsets["%RETRY%readers@readers"] = 0
    assert traced(tracing)[of_readers] == ("consumed", "proved")
    tracing.version = "V4_9_7"  # which may answer 0 for a group that has none
    assert traced(tracing)[of_readers] == ("consumed", "uncertain")
    tracing.offsets["%RETRY%readers@readers"] = 1
    assert traced(tracing)[of_readers] == ("consumed", "proved")


def test_a_trace_alone_makes_no_group_a_reader_of_a_topic(tracing: Cluster) -> None:
    tracing.listed = ["works"]
    assert traced(tracing) == {(str(HOME.offset_id), "works"): ("consumed", "inferred")}


def test_a_trace_proves_nothing_of_a_message_that_is_in_another_topic_too(tracing: Cluster) -> None:
    """A Message object that is sent on keeps its UNIQ_KEY; the look-up is in one of the topics."""
    tracing.topics.append("Paid")
    tracing.records.append(record("Paid", UNIQ, 5_000).placed(0, 5_000, STORED))
    assert traced(tracing)[str(HOME.offset_id), "readers"] == ("consumed", "inferred")


def test_a_trace_names_groups_without_their_namespace(tracing: Cluster) -> None:
    tracing.listed = ["works", "NS%readers"]
    tracing.connected["NS%readers"] = tracing.connection()
    tracing.offsets["Orders@NS%readers"] = 11
    home = str(HOME.offset_id)
    assert traced(tracing) == {(home, "NS%readers"): ("consumed", "proved"), (home, "works"): ("consumed", "inferred")}
    tracing.listed.append("readers")
    assert {certainty for _, certainty in traced(tracing).values()} == {"inferred"}, "it may be either of the two"


def test_a_copy_in_another_topic_makes_no_group_a_reader_of_this_one(cluster: Cluster) -> None:
    cluster.topics += ["Paid", "%RETRY%billing"]
    cluster.offsets["Orders@works"] = 11
    paid = record("Paid", UNIQ, 5_000).placed(0, 5_000, STORED)
    cluster.records += [paid, copy("%RETRY%billing", 0, 1, 6_000, RETRY_TOPIC="Paid")]
    service = cluster.service()
    with service.cluster:
        found = service.one(UNIQ, fate=True)
    assert {(verdict.record, verdict.group) for verdict in found.fate or ()} == {
        (str(HOME.offset_id), "works"),
        (str(paid.offset_id), "works"),
        (str(paid.offset_id), "billing"),
    }


def test_a_copy_that_names_no_record_is_a_doubt_where_there_are_two(cluster: Cluster) -> None:
    cluster.records.append(record("Orders", UNIQ, 5_000).placed(11, 5_000, STORED))
    cluster.records.append(copy("%RETRY%works", 0, 1, 6_000))
    cluster.topics.append("%RETRY%works")
    cluster.offsets |= {"Orders@works": 12, "%RETRY%works@works": 0}
    found = cluster.answer().fate or ()
    assert [(each.code, each.certainty) for each in found] == [("retry_queued", "uncertain")] * 2


class Indexed(Cluster):
    """Gives 32 copies of a message at most: the newest in a window; with a RocksDB index the oldest in a week."""

    in_rocksdb = False
    days = 0  # that have passed since HOME was stored

    @answers(12)
    def _by_key(self, frame: Frame) -> bytes:
        begin, end = (int(frame.field(name) or "0") for name in ("beginTimestamp", "endTimestamp"))
        week, now = 7 * DAY_MS, NOW_MS + self.days * DAY_MS
        found = [each for each in self.records if each.topic == frame.field("topic")]
        if frame.field("topic") != "Orders":
            if self.in_rocksdb and (begin == 0 or end == (1 << 63) - 1):
                begin, end = now - week, now
            found = [each for each in found if begin <= each.store_timestamp <= end]
            found.sort(key=lambda each: each.store_timestamp, reverse=not self.in_rocksdb)
            found = [] if self.in_rocksdb and end - begin > week else found[:32]
        return answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")

    def verdicts(self, **more: object) -> dict[str, Verdict]:
        self.ahead_ms = self.days * DAY_MS
        service = self.service(pace=Pace(lambda: NOW_MS + self.days * DAY_MS, self.pauses.append), **more)
        with service.cluster:
            return {each.group: each for each in service.one(UNIQ, "Orders", fate=True).fate or ()}


DAY_MS = 86_400_000


@pytest.fixture(params=["V5_3_3", "V5_4_0", "RocksDB"])
def indexed(request: pytest.FixtureRequest) -> Iterator[Indexed]:
    made = Indexed(HOME)
    made.in_rocksdb = request.param == "RocksDB"
    made.version = "V5_5_1" if made.in_rocksdb else request.param
    made.listed = ["works", "fails"]
    made.offsets |= {"Orders@works": 11, "Orders@fails": 11}
    made.connected["fails"] = made.connection()
    with made.server:
        yield made


@pytest.mark.parametrize("count", [31, 32, 33, 100])
def test_many_copies_of_one_group_hide_none_of_another(indexed: Indexed, count: int) -> None:
    """Two groups that failed a message 16 times have more copies of it than a broker gives at once."""
    place = "%RETRY%fails"
    times = range(1_000, 1_000 * (count + 1), 1_000)
    indexed.records += [copy(SCHEDULE, at // 1_000, 1, at, REAL_TOPIC=place, REAL_QID="0") for at in times]
    assert indexed.verdicts()["works"].certainty == "inferred"
    for at in (950, 1_000 * (count + 1)):  # the oldest, and the newest
        own = copy(SCHEDULE, 900, 1, at, REAL_TOPIC="%RETRY%works", REAL_QID="0")
        indexed.records.append(own)
        found = indexed.verdicts()
        indexed.records.remove(own)
        assert found["works"].code == "retry_waiting" and "copies_unknown" not in said(found["fails"])[1]


def test_copies_of_one_moment_that_no_window_divides_may_hide_others(indexed: Indexed) -> None:
    for at in range(40):
        held = copy(SCHEDULE, at, 1, 1_000 + at, REAL_TOPIC="%RETRY%fails", REAL_QID="0")
        indexed.records.append(held.placed(at, 1_000 + at, STORED + 1_000))
    assert said(indexed.verdicts()["works"]) == ("no_verdict", ["copies_unknown"])


@pytest.mark.parametrize(("days", "code"), [(3, "dead"), (12, "dead"), (50, "dead"), (90, "unsearched")])
def test_an_old_dead_letter_is_found_in_an_index_of_seven_days(indexed: Indexed, days: int, code: str) -> None:
    indexed.days = days
    indexed.topics.append("%DLQ%works")
    indexed.records.append(copy("%DLQ%works", 0, 16, 9_000))
    found = indexed.verdicts()
    in_doubt = code == "unsearched" and indexed.in_rocksdb
    assert said(found["works"]) == ("no_verdict", ["copies_unknown"]) if in_doubt else found["works"].code == "dead"


def test_a_trace_proves_nothing_of_a_message_that_an_index_of_seven_days_no_longer_has(indexed: Indexed) -> None:
    """Whether it was sent on to another topic is not known."""
    indexed.topics.append(USUAL)
    indexed.records.append(traces(8_000, before(0) + after(0)))
    indexed.listed = ["readers"]
    indexed.connected["readers"] = indexed.connection()
    indexed.offsets["Orders@readers"] = 11
    for days, is_proved in ((1, True), (8, indexed.version == "V5_3_3")):
        indexed.days = days
        certainty = indexed.verdicts(trace_topics=())["readers"].certainty
        assert certainty == ("proved" if is_proved else "inferred")


def test_an_answer_without_a_message_has_no_verdicts(cluster: Cluster) -> None:
    service = cluster.service()
    with service.cluster:
        assert service.one("nothing", "Orders", fate=True).fate == ()
        cluster.silent = {206}
        lost = cluster.service().one("nothing", fate=True)
    assert (lost.reason, lost.fate) == ("unreachable", ())


class TestGroupsOfCopies:
    def test_a_pop_retry_topic_is_taken_apart(self) -> None:
        popped = {"1ST_POP_TIME": "1795000000000"}
        v2 = record("%RETRY%my_group+Orders_eu", UNIQ, 0, properties=popped)
        v1 = record("%RETRY%my_group_Orders", UNIQ, 100, properties=popped)
        plain = record("%RETRY%my_group_Orders", UNIQ, 0, properties={"RETRY_TOPIC": "Orders"})
        assert group_of(v2, []) == "my_group" and home_topic(v2) == "Orders_eu"
        assert group_of(v1, ["Orders"]) == "my_group" and group_of(plain, ["Orders"]) == "my_group_Orders"
        relations = explain([(HOME, "a"), (v1, "a")])
        assert [(each.relation, each.group) for each in relations] == [("message", None), ("retry", "my_group")]

    def test_a_waiting_retry_is_not_a_delay_and_a_recall_is_not_a_wait(self) -> None:
        waits = record(SCHEDULE, UNIQ, 0, reconsume_times=3, properties={"REAL_TOPIC": "%RETRY%g"})
        dead = record(SCHEDULE, UNIQ, 100, properties={"REAL_TOPIC": "%DLQ%g"})
        delayed = record(SCHEDULE, UNIQ, 200, properties={"REAL_TOPIC": "Orders"})
        recall = record("rmq_sys_wheel_timer", UNIQ, 300, properties={"TIMER_DEL_UNIQKEY": f"Orders+{UNIQ}"})
        copies = explain([(each, "a") for each in (waits, dead, delayed, recall)])
        assert [each.relation for each in copies] == ["retry_waiting", "dead_letter_waiting", "delayed", "recall"]
        assert relation_text(copies[0]) == "waiting copy of retry 3 for consumer group g"
