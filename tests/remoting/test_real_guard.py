"""Who may ask whom, in a real cluster: keys, certificates, and addresses that nobody vouches for."""

from __future__ import annotations

import socket

import pytest

from idcore.answers.lookup import LookupService
from idcore.ids import OffsetId
from idcore.rocketmq.remoting.acl import Credentials
from idcore.rocketmq.remoting.address import Endpoint
from idcore.rocketmq.remoting.profile import TlsSettings, name_servers
from tests.remoting.asking import as_mqadmin, codes, desk_of, profile, texts
from tests.remoting.boot import ACCESS
from tests.remoting.conftest import Filled

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]


class TestPermissions:
    def test_without_a_key(self, real: Filled) -> None:
        line = real.of("plain", topic="Orders")[0]
        stranger = desk_of(profile(real, credentials=None))
        with stranger.cluster:
            for text in (line["offset_msg_id"], line["msg_id"]):
                answer = stranger.one(text)
                assert (answer.found, answer.reason) == (False, "not_permitted") and "denied" in codes(answer)

    def test_with_a_wrong_key(self, real: Filled) -> None:
        stranger = desk_of(profile(real, credentials=Credentials(ACCESS, "wrong")))
        with stranger.cluster:
            answer = stranger.one(real.of("plain", topic="Orders")[0]["msg_id"], "Orders")
        assert answer.reason == "not_permitted" and "signature" in texts(answer)

    def test_a_broker_that_asks_for_no_key_answers_all_the_same(self, real: Filled) -> None:
        stranger = desk_of(profile(real, credentials=None))
        with stranger.cluster:
            assert stranger.one(real.of("plain", topic="Notices")[0]["offset_msg_id"]).found


class TestTls:
    def test_without_tls_the_broker_is_unreachable_and_no_miss_is_claimed(self, real: Filled) -> None:
        plain = desk_of(profile(real, tls=None))
        with plain.cluster:
            for text in (
                real.of("plain", topic="Notices")[0]["offset_msg_id"],
                real.of("plain", topic="Notices")[0]["msg_id"],
            ):
                answer = plain.one(text)
                assert (answer.found, answer.reason) == (False, "unreachable")
                assert real.cluster.broker_b in texts(answer)
            assert plain.one(real.of("plain", topic="Orders")[0]["msg_id"]).found

    def test_a_certificate_nobody_knows_is_refused(self, real: Filled) -> None:
        wary = desk_of(profile(real, tls=TlsSettings()))
        with wary.cluster:
            answer = wary.one(real.of("plain")[0]["offset_msg_id"])
        assert answer.reason == "unreachable" and "certificate" in texts(answer) and answer.nothing_asked

    def test_another_server_name_is_refused(self, real: Filled) -> None:
        wary = desk_of(profile(real, tls=TlsSettings(str(real.cluster.ca), "other.test")))
        with wary.cluster:
            assert wary.one(real.of("plain")[0]["offset_msg_id"]).reason == "unreachable"


class TestGuard:
    def test_a_listener_outside_the_topology_never_gets_a_connection(
        self, real: Filled, service: LookupService
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.3)
            port = listener.getsockname()[1]
            for ip in (b"\x7f\0\0\1", bytes(10) + b"\xff\xff\x7f\0\0\1"):
                answer = service.one(str(OffsetId.of(ip, port, 0)))
                assert answer.reason == "not_in_topology" and "refused" in codes(answer)
                assert f":{port}" in texts(answer)
            with pytest.raises(TimeoutError):
                listener.accept()

    def test_another_port_of_a_broker_is_another_service(self, real: Filled, service: LookupService) -> None:
        for port in (real.cluster.port_a - 2, real.cluster.port_a + 1, int(real.cluster.names.rpartition(":")[2])):
            answer = service.one(str(OffsetId.of(b"\x7f\0\0\1", port, 0)))
            assert answer.reason == "not_in_topology"

    def test_an_address_of_the_map_is_dialled_where_the_map_says(self, real: Filled) -> None:
        outside = Endpoint.parse("203.0.113.9:30911")
        mapped = desk_of(profile(real, address_map={outside: Endpoint.parse(real.cluster.broker_a)}))
        line = real.of("plain", topic="Orders")[0]
        with mapped.cluster:
            answer = mapped.one(str(OffsetId.of("203.0.113.9", 30_911, line["by_offset"]["commit_log_offset"])))
            assert answer.found and "store_host" in codes(answer)
            assert as_mqadmin(answer.copies[0]) == line["by_offset"]

    def test_without_a_name_server_nobody_is_asked(self, real: Filled) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            address = f"127.0.0.1:{gone.getsockname()[1]}"
        lost = desk_of(profile(real, name_servers=name_servers(address)))
        with lost.cluster:
            answer = lost.one(real.of("plain")[0]["offset_msg_id"])
        assert answer.reason == "unreachable" and answer.nothing_asked and answer.asked == ()

    def test_a_dead_name_server_is_passed_over(self, real: Filled) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            address = f"127.0.0.1:{gone.getsockname()[1]}"
        both = desk_of(profile(real, name_servers=name_servers(f"{address};{real.cluster.names}")))
        with both.cluster:
            assert both.one(real.of("plain")[0]["offset_msg_id"]).found
