"""Client ids taken apart, and the process behind a message id among connected clients: no broker is needed."""

from __future__ import annotations

import pytest

from idcore.answers.lookup.clients import ClientName, LiveClient, Match, is_grpc, match, united, version_text
from idcore.ids import UniqId
from idcore.rocketmq.remoting.consumers import ConnectedClient

MADE = UniqId.from_hex("0A42333A0DC818B4AAC246C290FD0000")  # 10.66.51.58, pid 3528, a Java client
HOST = "10.66.51.58"


def live(client_id: str, *addresses: str, language: str = "JAVA", brokers: tuple[str, ...] = ("a",)) -> LiveClient:
    return LiveClient(client_id, addresses or (f"{HOST}:40000",), language, 479, (), brokers)


def found(*clients: LiveClient, complete: bool = True, born: str | None = None, maker: str = "java_jdk17") -> Match:
    return match(MADE, maker, clients, complete, born)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("10.0.0.3@18236", ClientName("10.0.0.3", 18_236)),
        ("10.0.0.3@18236#742398", ClientName("10.0.0.3", 18_236)),
        ("10.0.0.3@18236#742398@unit", ClientName("10.0.0.3", 18_236)),
        ("10.0.0.3@18236@STREAM", ClientName("10.0.0.3", 18_236)),
        ("10.0.0.3@DEFAULT", ClientName("10.0.0.3", None)),
        ("10.0.0.3@orders-7", ClientName("10.0.0.3", None)),
        ("fd00:0:0:0:0:0:0:2%eth0@7", ClientName("fd00::2", 7)),
        ("host.local@7", ClientName("host.local", 7)),
        ("@", ClientName("", None)),
        ("", ClientName("", None)),
        ("10.0.0.3@99999999999", ClientName("10.0.0.3", None)),
    ],
)
def test_a_client_id_is_taken_apart(text: str, name: ClientName) -> None:
    assert ClientName.read(text) == name


@pytest.mark.parametrize(
    ("text", "grpc"),
    [
        ("vm@30853@0@hrhv7758y", True),  # of rocketmq-client-java 5.0.7, at a broker with a proxy inside
        ("a.host-1@7@12@1", True),
        ("10.0.0.3@18236#742398@unit", False),
        ("10.0.0.3@18236#742398@unit@STREAM", False),
        ("10.0.0.3@18236@STREAM", False),
        ("@7@0@a", False),
        ("", False),
    ],
)
def test_a_client_id_of_a_grpc_client_has_an_index_and_a_time(text: str, grpc: bool) -> None:
    assert is_grpc(text) is grpc


def test_a_number_of_mqversion_is_a_release() -> None:
    # by MQVersion.Version.values() of 5.5.0
    known = {213: "4.0.0", 399: "4.9.3", 398: "4.9.3-SNAPSHOT", 407: "4.9.7", 413: "5.0.0", 479: "5.3.3", 611: "5.9.9"}
    assert {number: version_text(number) for number in known} == known
    assert [version_text(number) for number in (0, 141, 612, -1)] == ["0", "141", "612", "-1"]


def test_a_process_is_its_host_and_the_lower_half_of_its_pid() -> None:
    assert found(live(f"{HOST}@3528#1"), live(f"{HOST}@3528#2"), live("10.0.0.9@3528")).code == "connected"
    wide = found(live(f"{HOST}@{3_528 + (3 << 16)}#1"))
    assert wide.code == "connected" and len(wide.clients) == 1
    assert found(live(f"{HOST}@3528"), live(f"{HOST}@{3_528 + 65_536}")).code == "shared"


def test_one_fingerprint_at_two_addresses_of_one_broker_is_shared() -> None:
    one, two = live(f"{HOST}@3528#1", "10.0.0.1:5"), live(f"{HOST}@3528#2", "10.0.0.2:5")
    assert found(one, two).code == "shared"
    # one process reaches two brokers by two networks
    apart = live(f"{HOST}@3528#1", "10.1.0.2:5", brokers=("b",))
    assert found(one, apart).code == "connected"


@pytest.mark.parametrize(
    ("clients", "complete", "code"),
    [
        ([live(f"{HOST}@77")], True, "replaced"),
        ([live(f"{HOST}@77")], False, "unknown"),
        ([live(f"{HOST}@orders")], True, "unnamed"),
        ([live("10.0.0.9@3528")], True, "gone"),
        ([], True, "gone"),
        ([], False, "unknown"),
    ],
)
def test_without_the_process_its_host_is_looked_for(clients: list[LiveClient], complete: bool, code: str) -> None:
    assert found(*clients, complete=complete).code == code


def test_the_connection_of_a_record_proves_its_client_whatever_its_name() -> None:
    match_ = found(live("192.0.2.2@orders", "127.0.0.1:46040"), born="127.0.0.1:46040")
    assert (match_.code, match_.same_connection) == ("connected", "192.0.2.2@orders")
    assert found(live("192.0.2.2@orders", "127.0.0.1:46041"), born="127.0.0.1:46040").code == "gone"


@pytest.mark.parametrize(
    ("maker", "language", "said"),
    [
        ("java_jdk17", "JAVA", "agrees"),
        ("java_jdk17", "GO", "contradicts"),
        ("go", "GO", "agrees"),
        ("go", "JAVA", "contradicts"),
        ("cpp_seed", "PYTHON", "agrees"),  # a wrapper of the C++ client
        ("unknown", "JAVA", ""),
        ("java_jdk17", "", ""),
    ],
)
def test_the_language_supports_or_contradicts_who_generated_it(maker: str, language: str, said: str) -> None:
    assert found(live(f"{HOST}@3528", language=language), maker=maker).language == said


def test_rows_of_one_client_are_united_over_brokers_and_groups() -> None:
    rows = [
        ("a", "CLIENT_INNER_PRODUCER", ConnectedClient("x@1", "10.0.0.3:5", "JAVA", 479, 10)),
        ("a", "orders", ConnectedClient("x@1", "10.0.0.3:5", "JAVA", 479, 30)),
        ("b", "orders", ConnectedClient("x@1", "10.0.0.3:6", "JAVA", 479)),
        ("b", "orders", ConnectedClient("x@1", "10.0.0.4:6", "JAVA", 479)),
    ]
    one, other = united(rows)
    assert one == LiveClient("x@1", ("10.0.0.3:5", "10.0.0.3:6"), "JAVA", 479, ("orders",), ("a", "b"), 30)
    assert other.addresses == ("10.0.0.4:6",) and other.hosts == ("10.0.0.4",)


class Counted(str):
    """A text that counts how often it is compared with another one."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_client_of_many_connections_is_united_without_comparing_each_two() -> None:
    """Who reaches a broker opens 10,000 connections of one clientId, or is a producer of 10,000 groups."""
    rows = [
        ("a", Counted(f"g{number}"), ConnectedClient("x@1", Counted(f"10.0.0.3:{number}"), "JAVA", 479))
        for number in range(500)
    ]
    Counted.compared = 0
    (one,) = united(rows)
    assert (len(one.addresses), len(one.groups), one.brokers) == (500, 500, ("a",))
    assert Counted.compared < 5_000
