"""Profiles, topology, the guard, fail-over, rate limit, audit and bodies, against small servers on loopback."""

from __future__ import annotations

import json
import re
import socket
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from idcore.base.errors import CoreError
from idcore.rocketmq.remoting.acl import Credentials
from idcore.rocketmq.remoting.address import Address, Endpoint
from idcore.rocketmq.remoting.audit import AuditLog, RateLimit
from idcore.rocketmq.remoting.bodies import MASK, BodyPolicy
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.consumers import ConsumerConnections
from idcore.rocketmq.remoting.errors import FrameError, NotInTopology, ProfileError, TooManyLookups, Unreachable
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.profile import Profile, configured, from_file, name_servers
from idcore.rocketmq.remoting.requests import View
from tests.remoting.fake import cluster_info
from tests.remoting.servers import Server, answer

pytestmark = pytest.mark.quick

PREFIX = "clusters.a.credentials_environment"
ENVIRONMENT = "credentials_environment = 'N'\n"
FILE = """
[clusters.prod]
name_servers = ["10.0.0.1:9876", "names.prod:9876"]
credentials_environment = "PROD"
lookups_per_minute = 30
most_topics = 40
search_whole_log = false
trace_topics = ["OrdersTrace"]
show_clients = true
reach_clients = true
trace_link = "https://tempo.prod/explore?left=%7B%22query%22:%22{trace_id}%22%7D"
connect_milliseconds = 1500
[clusters.prod.tls]
ca_file = "ca.pem"
server_name = "broker.prod"
[clusters.prod.address_map]
"203.0.113.5:10911" = "10.1.0.5:10911"
[clusters.prod.bodies]
show = true
mask = ["[0-9]{16}"]
most_bytes = 1000
[clusters.test]
name_servers = ["[::1]:9876"]
secrets_file = "secrets.toml"
tls = false
"""


class TestProfile:
    def write(self, folder: Path, text: str) -> Path:
        path = folder / "clusters.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_without_a_configuration_there_is_no_cluster(self) -> None:
        assert configured({}) == {}

    def test_a_file_with_several_clusters(self, tmp_path: Path) -> None:
        (tmp_path / "secrets.toml").write_text('access_key = "a"\nsecret_key = "s"\n', encoding="utf-8")
        path = self.write(tmp_path, FILE)
        found = configured({"IDCORE_CLUSTERS": str(path), "PROD_ACCESS_KEY": "k", "PROD_SECRET_KEY": "x"})
        prod, test = found["prod"], found["test"]
        assert prod.name_servers == (Endpoint("10.0.0.1", 9876), Endpoint("names.prod", 9876))
        assert prod.credentials == Credentials("k", "x") and test.credentials == Credentials("a", "s")
        assert prod.tls is not None and prod.tls.ca_file == str(tmp_path / "ca.pem") and prod.tls.verify
        assert prod.mapped() == {Address.of("203.0.113.5", 10911): Endpoint("10.1.0.5", 10911)}
        assert prod.bodies == BodyPolicy(True, (re.compile("[0-9]{16}"),), 1_000)
        assert (prod.lookups_per_minute, prod.most_topics, prod.search_whole_log) == (30, 40, False)
        assert prod.trace_topics == ("OrdersTrace",) and test.trace_topics == () and test.trace_link is None
        assert prod.show_clients and prod.limits.reach_clients
        assert not test.show_clients and not test.limits.reach_clients, "off unless the administrator says otherwise"
        assert prod.trace_link == "https://tempo.prod/explore?left=%7B%22query%22:%22{trace_id}%22%7D"
        assert prod.limits == Limits(1.5, 5.0, reach_clients=True) and test.tls is None and test.search_whole_log

    def test_the_environment_alone_makes_one_cluster(self) -> None:
        found = configured(
            {"IDCORE_NAMESRV": "a:1;b:2", "ROCKETMQ_ACCESS_KEY": "k", "ROCKETMQ_SECRET_KEY": "s", "IDCORE_TLS": "true"}
        )["default"]
        assert [str(each) for each in found.name_servers] == ["a:1", "b:2"]
        assert found.credentials == Credentials("k", "s") and found.tls is not None

    @pytest.mark.parametrize(
        ("text", "field"),
        [
            ("[clusters.a]\n", "name_servers"),
            ("[clusters.a]\nname_servers = 'a:1'\n", "clusters.a.name_servers"),
            ("[clusters.a]\nname_servers = ['a']\n", "clusters.a.name_servers"),
            ("[clusters.a]\nname_servers = ['a:1']\nverfy = false\n", "clusters.a.verfy"),
            ("[clusters.a]\nname_servers = ['a:1']\n[clusters.a.tls]\nverify = 0\n", "clusters.a.tls.verify"),
            ("[clusters.a]\nname_servers = ['a:1']\n[clusters.a.tls]\nverfy = false\n", "clusters.a.tls.verfy"),
            ("[clusters.a]\nname_servers = ['a:1']\nmost_topics = 0\n", "clusters.a.most_topics"),
            ("[clusters.a]\nname_servers = ['a:1']\nmost_topics = true\n", "clusters.a.most_topics"),
            ("[clusters.a]\nname_servers = ['a:1']\n[clusters.a.bodies]\nmask = ['(']\n", "clusters.a.bodies.mask"),
            ("[clusters.a]\nname_servers = ['a:1']\ntrace_topics = 'T'\n", "clusters.a.trace_topics"),
            ("[clusters.a]\nname_servers = ['a:1']\nreach_clients = 'yes'\n", "clusters.a.reach_clients"),
            ("[clusters.a]\nname_servers = ['a:1']\nshow_clients = 1\n", "clusters.a.show_clients"),
            *(
                (f"[clusters.a]\nname_servers = ['a:1']\ntrace_link = '{link}'\n", "clusters.a.trace_link")
                for link in (
                    "",
                    "https://tempo/trace/",
                    "javascript:alert({trace_id})",
                    "ftp://tempo/{trace_id}",
                    "/{trace_id}",
                    "https://{trace_id}/",
                    "https://tempo.{trace_id}/",
                    "https://{trace_id}@tempo/",
                    "https:///{trace_id}",
                    "https://tempo/{trace_id}/{other}",
                    "https://tempo/<{trace_id}>",
                    "https://tempo/ {trace_id}",
                    "https://[tempo/{trace_id}",
                )
            ),
            ("[clusters.a]\nname_servers = ['a:1']\naddress_map = {'b:1' = 'c:1'}\n", "clusters.a.address_map.b:1"),
            ("[clusters.a]\nname_servers = ['a:1']\ncredentials_environment = 'N'\n", PREFIX),
            ("[clusters.a]\nname_servers = ['a:1']\nsecrets_file = ''\n" + ENVIRONMENT, "clusters.a.secrets_file"),
            ("[clusters.a]\nname_servers = ['a:1']\nsecrets_file = 'none.toml'\n", "clusters.a.secrets_file"),
            ("[clusters.'a b']\nname_servers = ['a:1']\n", "clusters"),
            ("[clsters.a]\nname_servers = ['a:1']\n", "clsters"),
            ("clusters = 1\n", "clusters"),
            ("[", "IDCORE_CLUSTERS"),
        ],
    )
    def test_a_mistake_names_its_setting(self, tmp_path: Path, text: str, field: str) -> None:
        with pytest.raises(ProfileError) as caught:
            from_file(self.write(tmp_path, text), {})
        assert caught.value.field == field

    def test_a_broken_secrets_file_does_not_show_its_secret(self, tmp_path: Path) -> None:
        (tmp_path / "secrets.toml").write_text('secret_key = "s3cret', encoding="utf-8")
        path = self.write(tmp_path, "[clusters.a]\nname_servers = ['a:1']\nsecrets_file = 'secrets.toml'\n")
        with pytest.raises(ProfileError) as caught:
            from_file(path, {})
        assert "s3cret" not in str(caught.value) and caught.value.__cause__ is None

    @pytest.mark.parametrize("only", ["ROCKETMQ_ACCESS_KEY", "ROCKETMQ_SECRET_KEY"])
    def test_half_a_pair_of_keys_is_no_key(self, only: str) -> None:
        with pytest.raises(ProfileError, match="is not set"):
            configured({"IDCORE_NAMESRV": "a:1", only: "x"})


@contextmanager
def names_of(brokers: Callable[[], dict[str, dict[int, str]]]) -> Iterator[Server]:
    def handle(frame: Frame) -> Iterable[bytes]:
        yield answer(frame, 0, cluster_info(brokers()))

    with Server(handle) as server:
        yield server


def profile(*servers: object, **more: Any) -> Profile:
    return Profile("test", name_servers(";".join(map(str, servers))), limits=Limits(0.5, 0.5), **more)


def view(frame: Frame) -> Iterable[bytes]:
    yield answer(frame, 0, b"seen")


def closed() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


class TestNameServers:
    def test_the_first_that_answers_is_asked_and_remembered(self) -> None:
        dead = closed()
        with names_of(lambda: {"a": {0: "10.0.0.1:10911"}}) as one, Cluster(profile(dead, one.address)) as cluster:
            assert [member.broker for member in cluster.topology().members] == ["a"]
            cluster.topology(-1)
            assert len(one.seen) == 2

    def test_it_fails_over_while_it_runs(self) -> None:
        with names_of(lambda: {"b": {0: "10.0.0.2:10911"}}) as second:
            with names_of(lambda: {"a": {0: "10.0.0.1:10911"}}) as first:
                cluster = Cluster(profile(first.address, second.address))
                assert cluster.topology().members[0].broker == "a"
            assert cluster.topology(-1).members[0].broker == "b"
            cluster.close()

    def test_routes_that_are_known_need_no_name_server(self) -> None:
        with Server(lambda frame: [answer(frame, 17, b"", "No topic route info")]) as names:
            cluster = Cluster(profile(names.address))
            assert cluster.routes(["T"]) == {"T": None}
        assert cluster.routes(["T"]) == {"T": None}
        with pytest.raises(Unreachable):
            cluster.routes(["T", "U"])
        cluster.close()

    def test_when_none_answers_each_is_named(self) -> None:
        one, two = closed(), closed()
        with Cluster(profile(one, two)) as cluster, pytest.raises(Unreachable) as caught:
            cluster.topology()
        assert one in str(caught.value) and two in str(caught.value)

    def test_without_a_topology_nobody_is_dialled(self) -> None:
        with Server(view) as broker, Cluster(profile(closed())) as cluster:
            with pytest.raises(Unreachable):
                cluster.permit(broker.address.ip, broker.address.port)
            assert broker.callers == 0


class TestKeptErrors:
    """The stack of an error has the answer in it: 300 of 1 MB held 1.4 GB."""

    def is_bare(self, error: object) -> bool:
        assert isinstance(error, CoreError)
        return (error.__traceback__, error.__context__, error.__cause__) == (None, None, None)

    @pytest.mark.parametrize("body", [b'{"groupList": [1]}', b'{"groupList": ', b"[]", b"\xff"])
    def test_those_in_the_place_of_answers(self, body: bytes) -> None:
        with (
            Server(lambda frame: [answer(frame, 0, body)]) as broker,
            names_of(lambda: {"a": {0: str(broker.address)}}) as names,
            Cluster(profile(names.address)) as cluster,
        ):
            answers = cluster.ask_all(cluster.topology().members[0], [ConsumerConnections("g")] * 3)
        assert [type(each) for each in answers] == [FrameError] * 3 and all(map(self.is_bare, answers))

    def test_those_of_who_does_not_answer(self) -> None:
        with (
            Server(lambda _: [b"\xff" * 100]) as broker,
            names_of(lambda: {"a": {0: str(broker.address)}}) as names,
            Cluster(profile(names.address)) as cluster,
        ):
            for _ in range(3):
                with pytest.raises(Unreachable):
                    cluster.ask(cluster.topology().members[0], View(0))
                assert all(self.is_bare(problem) for _, problem in cluster._down.values()) and cluster._down
        with Cluster(profile(closed())) as cluster:
            for _ in range(3):
                with pytest.raises(Unreachable):
                    cluster.topology()
                lost = cluster._lost[1]
                assert lost is not None and self.is_bare(lost) and all(map(self.is_bare, lost.values["why"]))

    def test_a_copy_says_the_same(self) -> None:
        error = FrameError.wrong("frame_not_list", "connectionSet", 4, name="connectionSet")
        assert error.without_stack() == error and str(error.without_stack()) == str(error)
        assert type(error.without_stack()) is FrameError


class TestGuard:
    def test_listed_with_its_port_or_not_at_all(self) -> None:
        with (
            Server(view) as broker,
            names_of(lambda: {"a": {0: str(broker.address)}}) as names,
            Cluster(profile(names.address)) as cluster,
        ):
            member = cluster.permit(broker.address.ip, broker.address.port)
            assert cluster.ask(member, View(0)) == b"seen"
            for ip, port in ((broker.address.ip, broker.address.port ^ 1), (b"\x0a\0\0\1", broker.address.port)):
                with pytest.raises(NotInTopology, match="was not contacted"):
                    cluster.permit(ip, port)

    def test_a_registered_host_name_is_resolved(self) -> None:
        with Server(view) as broker:
            named = f"localhost:{broker.address.port}"
            with names_of(lambda: {"a": {0: named}}) as names, Cluster(profile(names.address)) as cluster:
                member = cluster.permit(b"\x7f\0\0\1", broker.address.port)
                assert member.registered == named and cluster.ask(member, View(0)) == b"seen"

    def test_a_name_that_cannot_be_resolved_is_said_and_the_rest_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def nobody(*_: object, **__: object) -> None:
            raise OSError("no such name")

        monkeypatch.setattr("socket.getaddrinfo", nobody)
        brokers = {"a": {0: "nobody.invalid:10911"}, "b": {0: "10.0.0.2:10911"}, "c": {0: "rubbish"}}
        with names_of(lambda: brokers) as names, Cluster(profile(names.address)) as cluster:
            topology = cluster.topology()
        assert [member.broker for member in topology.members] == ["b"]
        assert len(topology.unresolved) == 2 and "nobody.invalid" in str(topology.unresolved[0])

    def test_names_that_lead_nowhere_take_no_longer_than_an_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []

        def slow(host: str, *_: object, **__: object) -> None:
            asked.append(host)
            time.sleep(0.05)
            raise OSError("no such name")

        monkeypatch.setattr("socket.getaddrinfo", slow)
        brokers = {f"a{number}": {0: f"b{number}.invalid:10911"} for number in range(300)} | {
            "b": {0: "10.0.0.2:10911"}
        }
        with names_of(lambda: brokers) as names, Cluster(profile(names.address)) as cluster:
            topology = cluster.topology()  # it took 15 s, and every look-up of the cluster waited for it
        assert [member.broker for member in topology.members] == ["b"] and len(asked) < 20
        assert len(topology.unresolved) == 300 and "no answer within 0.5 s" in str(topology.unresolved[-1])

    def test_brokers_that_nobody_has_do_not_hold_a_look_up_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("idcore.rocketmq.remoting.cluster._MOST_WAITED", 0.8)
        with Server(view) as broker, ExitStack() as silent:
            fakes = [silent.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname() for _ in range(12)]
            brokers = {"a": {0: str(broker.address)}} | {str(n): {0: f"{h}:{p}"} for n, (h, p) in enumerate(fakes)}
            with names_of(lambda: brokers) as names, Cluster(profile(names.address)) as cluster:
                members = cluster.topology().members
                assert cluster.ask(members[0], View(0)) == b"seen"
                begun, said = time.monotonic(), list[str]()
                for member in members[1:]:
                    with pytest.raises(Unreachable) as problem:
                        cluster.ask(member, View(0))
                    said.append(str(problem.value))
                assert time.monotonic() - begun < 3  # it took 0.5 s of each
                assert "no answer within" in said[0] and "not asked: 0.8 s went by" in said[-1]
                assert cluster.ask(members[0], View(0)) == b"seen"  # it has answered before

    def test_the_map_leads_from_the_address_in_ids_to_the_one_to_dial(self) -> None:
        with Server(view) as broker:
            shown = Endpoint.parse("203.0.113.5:10911")
            target = Endpoint.parse(str(broker.address))
            for registered in ("203.0.113.5:10911", "10.9.9.9:10911"):
                known = {"a": {0: registered}}
                with (
                    names_of(lambda known=known: known) as names,  # type: ignore[misc]
                    Cluster(profile(names.address, address_map={shown: target})) as cluster,
                ):
                    member = cluster.permit(b"\xcb\0\x71\5", 10911)
                    assert cluster.ask(member, View(0)) == b"seen"

    def test_a_broker_that_has_just_come_is_looked_for_again(self) -> None:
        now = [0.0]
        known: dict[str, dict[int, str]] = {}
        with names_of(lambda: known) as names, Cluster(profile(names.address), lambda: now[0]) as cluster:
            with pytest.raises(NotInTopology):
                cluster.permit(b"\x0a\0\0\1", 10911)
            known["a"] = {0: "10.0.0.1:10911"}
            with pytest.raises(NotInTopology):  # a stranger's ids do not make it ask at every turn
                cluster.permit(b"\x0a\0\0\1", 10911)
            now[0] = 3.0
            assert cluster.permit(b"\x0a\0\0\1", 10911).broker == "a"

    def test_a_broker_that_left_is_no_longer_dialled(self) -> None:
        with Server(view) as broker:
            known = {"a": {0: str(broker.address)}}
            with names_of(lambda: known) as names, Cluster(profile(names.address)) as cluster:
                member = cluster.permit(broker.address.ip, broker.address.port)
                known.clear()
                cluster.topology(-1)
                with pytest.raises(NotInTopology):
                    cluster.ask(member, View(0))
                assert broker.callers == 0

    def test_a_slave_stands_in_for_its_master(self) -> None:
        with Server(view) as slave:
            brokers = {"a": {0: closed(), 1: str(slave.address)}}
            with names_of(lambda: brokers) as names, Cluster(profile(names.address)) as cluster:
                members = cluster.topology().brokers()["a"]
                assert [member.role for member in members] == ["master", "slave"]
                member, answers = cluster.ask_any(members, [View(1)])
                assert member.role == "slave" and answers == [b"seen"]


def test_who_did_not_answer_is_left_alone_for_a_while() -> None:
    now = [0.0]
    silent = Server(lambda frame: [])
    with (
        silent,
        names_of(lambda: {"a": {0: str(silent.address)}}) as names,
        Cluster(profile(names.address), lambda: now[0]) as cluster,
    ):
        (member,) = cluster.topology().members
        for _ in range(3):
            with pytest.raises(Unreachable, match="no answer within"):
                cluster.ask(member, View(0))
        assert silent.callers == 1
        now[0] = 6.0
        silent._handle = view
        assert cluster.ask(member, View(0)) == b"seen" and cluster.ask(member, View(0)) == b"seen"


def test_entries_of_one_broker_name_are_one_broker() -> None:
    """Each would be a replica of the others: a question goes from one to the next, past the most that a broker has."""
    rows = {f"b{number}": {"brokerName": "a", "brokerAddrs": {0: f"10.0.0.{number}:1"}} for number in range(50)}
    told = json.dumps({"brokerAddrTable": rows}).encode()
    with Server(lambda frame: [answer(frame, 0, told)]) as names, Cluster(profile(names.address)) as cluster:
        assert [member.registered for member in cluster.topology().brokers()["a"]] == ["10.0.0.49:1"]


def test_an_entry_without_a_broker_id_is_refused_by_its_field() -> None:
    bad = b'{"brokerAddrTable":{"a":{"brokerAddrs":{"x":"10.0.0.1:1"}}}}'
    refused = pytest.raises(FrameError, match="brokerId")
    with Server(lambda frame: [answer(frame, 0, bad)]) as names, Cluster(profile(names.address)) as cluster, refused:
        cluster.topology()


class TestRateLimit:
    def test_so_many_a_minute_and_then_evenly(self) -> None:
        limit = RateLimit(60)
        limit.take("ann", 60, 0.0)
        with pytest.raises(TooManyLookups) as caught:
            limit.take("ann", 5, 1.0)
        assert caught.value.values["seconds"] == pytest.approx(4.0)
        limit.take("bob", 60, 1.0)
        limit.take("ann", 5, 5.0)
        with pytest.raises(TooManyLookups):
            limit.take("ann", 1, 5.5)

    def test_a_batch_over_the_limit_is_let_through_once_and_owed(self) -> None:
        limit = RateLimit(10)
        limit.take("ann", 30, 0.0)
        with pytest.raises(TooManyLookups):
            limit.take("ann", 1, 60.0)
        limit.take("ann", 1, 130.0)

    def test_a_clock_that_goes_back_gives_nothing(self) -> None:
        limit = RateLimit(10)
        limit.take("ann", 10, 100.0)
        with pytest.raises(TooManyLookups):
            limit.take("ann", 1, 50.0)


class TestAudit:
    def test_a_line_for_each_lookup_and_no_more_than_that(self, tmp_path: Path) -> None:
        path = tmp_path / "audit.jsonl"
        log = AuditLog(path)
        at = datetime(2026, 11, 21, 7, 0, 0, 123_000, tzinfo=UTC)
        log.write(at, "ann", "prod", "7F00\nforged", "found 2", ["10.0.0.1:10911"])
        log.write(at, "bob", "prod", "x" * 5_000, "unknown", [])
        first, second = (json.loads(line) for line in path.read_text().splitlines())
        assert first == {
            "what": "look_up",
            "at": "2026-11-21T07:00:00.123+00:00",
            "user": "ann",
            "cluster": "prod",
            "id": "7F00\nforged",
            "result": "found 2",
            "asked": ["10.0.0.1:10911"],
        }
        assert len(second["id"]) == 300
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


class TestBodies:
    def test_as_it_is(self) -> None:
        shown = BodyPolicy().apply(b"abc", "abc")
        assert (shown.raw, shown.text, shown.withheld, shown.size) == (b"abc", "abc", None, 3)

    def test_switched_off(self) -> None:
        shown = BodyPolicy(show=False).apply(b"abc", "abc")
        assert (shown.raw, shown.text, shown.withheld, shown.size) == (None, None, "switched_off", 3)

    def test_cut_at_a_whole_character(self) -> None:
        body = "ab键".encode()
        shown = BodyPolicy(most_bytes=4).apply(body, "ab键")
        assert (shown.raw, shown.text, shown.withheld, shown.size) == (body[:4], "ab", "cut", 5)

    def test_masked_in_both_forms(self) -> None:
        shown = BodyPolicy(masks=(re.compile("[0-9]{4,}"),)).apply(b"card 12345 ok", "card 12345 ok")
        assert shown.text == f"card {MASK} ok" and shown.raw == shown.text.encode() and shown.withheld == "masked"

    def test_what_is_no_text_cannot_be_masked_and_is_withheld(self) -> None:
        shown = BodyPolicy(masks=(re.compile("x"),)).apply(b"\xff\0", None)
        assert (shown.raw, shown.text, shown.withheld) == (None, None, "no_text")

    def test_a_mask_comes_before_the_cut(self) -> None:
        shown = BodyPolicy(masks=(re.compile("secret"),), most_bytes=3).apply(b"secret", "secret")
        assert shown.text is not None and "sec" not in shown.text
