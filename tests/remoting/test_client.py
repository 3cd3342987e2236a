"""The client against servers on loopback that answer well, late, wrongly or not at all."""

from __future__ import annotations

import ast
import ssl
import threading
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from idcore.rocketmq.remoting import client as client_module
from idcore.rocketmq.remoting import consumers, requests
from idcore.rocketmq.remoting.acl import Credentials, sign
from idcore.rocketmq.remoting.address import Address, Endpoint
from idcore.rocketmq.remoting.client import Client, Limits, Tls
from idcore.rocketmq.remoting.errors import (
    AnswerError,
    FrameError,
    NotInTopology,
    NotPermitted,
    ProfileError,
    RemotingError,
    Unreachable,
)
from idcore.rocketmq.remoting.frame import LONGEST_FRAME, Frame, encode
from idcore.rocketmq.remoting.requests import (
    ClientCode,
    Query,
    ReadCode,
    Request,
    RouteInfo,
    RuntimeInfo,
    TopicList,
    View,
    sendable,
)
from tests.remoting import certificates
from tests.remoting.servers import Server, answer
from tests.source_code import nodes

pytestmark = pytest.mark.quick

PACKAGE = Path(requests.__file__).resolve().parent
assert Path(consumers.__file__).resolve().parent == PACKAGE
QUICK = Limits(0.5, 0.5, 4_096)


def client(limits: Limits | None = None, **more: Any) -> Client:
    return Client(lambda address: True, limits=limits or Limits(), name="test", **more)


def echo(frame: Frame) -> Iterable[bytes]:
    yield answer(frame, 0, (frame.field("offset") or "").encode())


class TestPairing:
    def test_answers_in_another_order_find_their_questions(self) -> None:
        held: list[Frame] = []

        def handle(frame: Frame) -> Iterable[bytes]:
            held.append(frame)
            if len(held) == 10:
                for each in reversed(held):
                    yield from echo(each)
                held.clear()

        with Server(handle) as server, client() as asking:
            found = asking.ask_all(server.address, [View(number) for number in range(10)])
        assert found == [str(number).encode() for number in range(10)]

    def test_more_questions_than_may_be_on_their_way_at_once(self) -> None:
        with Server(echo) as server, client() as asking:
            found = asking.ask_all(server.address, [View(number) for number in range(500)])
            assert found == [str(number).encode() for number in range(500)]
            assert server.callers == 1

    def test_what_the_server_asks_and_answers_to_nobodys_question_are_passed_over(self) -> None:
        def handle(frame: Frame) -> Iterable[bytes]:
            yield encode(Frame(40, frame.opaque, 0, "JAVA", 479))  # NOTIFY_CONSUMER_IDS_CHANGED, with our opaque
            yield encode(Frame(0, frame.opaque + 77, 1, "JAVA", 479, None, None, b"not yours"))
            yield from echo(frame)

        with Server(handle) as server, client() as asking:
            assert asking.ask(server.address, View(5)) == b"5"

    def test_an_answer_byte_by_byte_is_an_answer(self) -> None:
        def handle(frame: Frame) -> Iterable[bytes]:
            raw = answer(frame, 0, b"slow")
            return [raw[at : at + 1] for at in range(len(raw))]

        with Server(handle) as server, client() as asking:
            assert asking.ask(server.address, View(5)) == b"slow"

    def test_a_connection_is_used_again_and_by_one_at_a_time(self) -> None:
        with Server(echo) as server, client() as asking:
            for number in range(5):
                assert asking.ask(server.address, View(number)) == str(number).encode()
            assert server.callers == 1
            threads = [
                threading.Thread(target=lambda: asking.ask_all(server.address, [View(1)] * 50)) for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert 1 <= server.callers <= 5


class TestFailures:
    def test_an_idle_connection_that_was_closed_is_opened_again(self) -> None:
        with Server(echo) as server, client() as asking:
            assert asking.ask(server.address, View(1)) == b"1"
            server.hang_up()
            assert asking.ask(server.address, View(2)) == b"2"
            assert server.callers == 2

    def test_nobody_there(self) -> None:
        with Server(echo) as server:
            address = server.address
        with client() as asking, pytest.raises(Unreachable, match="connection refused"):
            asking.ask(address, View(1))

    def test_silence_ends_after_the_limit(self) -> None:
        began = time.monotonic()
        with (
            Server(lambda frame: []) as server,
            client(QUICK) as asking,
            pytest.raises(Unreachable, match=r"within 0\.5 s"),
        ):
            asking.ask(server.address, View(1))
        assert time.monotonic() - began < 30  # of a loaded machine

    def test_a_trickle_does_not_hold_it_for_ever(self) -> None:
        def handle(frame: Frame) -> Iterator[bytes]:
            yield b"\x00\x00\x0f\x00\x00\x00\x00\x40"
            while True:
                time.sleep(0.1)
                yield b"x"

        began = time.monotonic()
        with Server(handle) as server, client(QUICK) as asking, pytest.raises(Unreachable, match="within"):
            asking.ask(server.address, View(1))
        assert time.monotonic() - began < 30  # of a loaded machine

    def test_many_questions_wait_for_some_answers_and_not_for_each(self) -> None:
        began, questions = time.monotonic(), [View(number) for number in range(5_000)]
        with Server(lambda frame: []) as server, client(Limits(0.1, 0.1)) as asking, pytest.raises(Unreachable):
            asking.ask_all(server.address, questions)  # 16 s; with the usual limit 13 minutes
        assert time.monotonic() - began < 10

    @pytest.mark.parametrize(
        "raw",
        [
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            b"\x00\x00\x00\x03",
            b"\x7f\xff\xff\xff",
            b"\x00\x00\x00\x06\x00\x00\x00\x02{}",
        ],
    )
    def test_what_speaks_no_rocketmq_is_said_to(self, raw: bytes) -> None:
        refused = pytest.raises(Unreachable, match="not a RocketMQ frame")
        with Server(lambda frame: [raw]) as server, client(QUICK) as asking, refused:
            asking.ask(server.address, View(1))

    def test_a_server_that_hangs_up_is_unreachable(self) -> None:
        def handle(frame: Frame) -> Iterable[bytes]:
            raise OSError("the test hangs up")

        refused = pytest.raises(Unreachable, match="closed the connection")
        with Server(handle) as server, client() as asking, refused:
            asking.ask(server.address, View(1))

    def test_an_error_code_is_an_error_in_the_servers_words(self) -> None:
        def handle(frame: Frame) -> Iterable[bytes]:
            remarks = {"1": (1, "boom\nat line 2"), "2": (16, "no right"), "3": (1, "x.AclException: signature")}
            code, remark = remarks[frame.field("topic") or ""]
            yield answer(frame, code, b"", remark)

        with Server(handle) as server, client() as asking:
            first, second, third = asking.ask_all(server.address, [Query(str(n), "k", True) for n in (1, 2, 3)])
        assert isinstance(first, AnswerError) and not isinstance(first, NotPermitted)
        assert first.problem == f"{server.address} answered code 1: boom at line 2" and first.answer == 1
        assert isinstance(second, NotPermitted) and isinstance(third, NotPermitted)

    def test_half_a_character_in_a_remark_can_be_shown(self) -> None:
        refused = AnswerError.of("10.0.0.1:10911", 1, "no \ud800 route")
        assert refused.remark == "no \\ud800 route" and refused.problem.encode()

    def test_misses_are_results(self) -> None:
        def handle(frame: Frame) -> Iterable[bytes]:
            said = {33: (1, "can not find message by the offset, 7"), 12: (22, "can not find message"), 105: (17, "no")}
            yield answer(frame, said[frame.code][0], b"", said[frame.code][1])

        with Server(handle) as server, client() as asking:
            assert asking.ask(server.address, View(7)) is None
            assert asking.ask(server.address, Query("t", "k", True)) == b""
            assert asking.ask(server.address, RouteInfo("t")) is None

    @pytest.mark.parametrize(
        "body", [b"", b"[]", b"{", b'{"table":{}}', b'{"table":{"commitLogMinOffset":"x"}}', b"\xff"]
    )
    def test_an_answer_that_makes_no_sense_is_an_error_of_that_question(self, body: bytes) -> None:
        with Server(lambda frame: [answer(frame, 0, body)]) as server, client() as asking, pytest.raises(FrameError):
            asking.ask(server.address, RuntimeInfo())


class TestGuard:
    def test_a_refused_address_never_gets_a_connection(self) -> None:
        with Server(echo) as server, Client(lambda address: False, name="test") as asking:
            with pytest.raises(NotInTopology, match="not contacted"):
                asking.ask(server.address, View(1))
            time.sleep(0.05)
            assert server.callers == 0

    def test_every_question_has_a_code_that_only_reads(self) -> None:
        kinds: list[Any] = [Request]
        found: list[Any] = []
        while kinds:
            below = kinds.pop().__subclasses__()
            found += below
            kinds += below
        codes = {kind.code for kind in found if kind.__module__.startswith("idcore.")}
        assert codes == {*ReadCode, *ClientCode}
        look_ups = [12, 28, 29, 30, 31, 33, 105, 106, 206, 321]
        groups = [14, 43, 45, 60, 201, 202, 203, 204, 208, 300, 315, 328, 345, 352, 402, *range(200074, 200079)]
        assert sorted(ReadCode) == sorted(look_ups + groups)
        assert list(ClientCode) == [307]

    @pytest.mark.parametrize("reach", [False, True])
    def test_a_code_that_reaches_clients_is_sent_only_where_the_profile_permits_it(self, reach: bool) -> None:
        with Server(echo) as server, client(Limits(2, 2, reach_clients=reach)) as asking:
            if reach:
                with pytest.raises(FrameError):  # an echo is not JSON
                    asking.ask(server.address, consumers.RunningInfo("G", "10.0.0.3@1"))
                assert [frame.code for frame in server.seen] == [307]
                assert server.seen[0].field("jstackEnable") == "false"
            else:
                with pytest.raises(ValueError, match="307"):
                    asking.ask(server.address, consumers.RunningInfo("G", "10.0.0.3@1"))
                assert server.callers == 0
            for number in (223, 308, 309, 222):
                with pytest.raises(ValueError, match=str(number)):
                    sendable(number, reach)

    # 215 deletes a topic. The others sound like questions: 308 removes the offsets of groups, 11 makes a subscription
    # group, 222 resets offsets, 309 runs a listener, 323 checks half messages again, 36 sends back, 37 ends a
    # transaction, 15 sets an offset.
    @pytest.mark.parametrize("number", [215, 308, 11, 222, 309, 323, 36, 37, 15])
    def test_another_code_cannot_be_sent(self, number: int) -> None:
        @dataclass(frozen=True)
        class Other(Request[bytes]):
            code: ClassVar[Any] = number

            def read(self, answer: Frame) -> bytes:
                return answer.body

        with Server(echo) as server, client() as asking:
            with pytest.raises(ValueError, match=str(number)):
                asking.ask(server.address, Other())
            assert server.callers == 0

    def test_one_place_of_the_package_sends_and_one_connects(self) -> None:
        calls: dict[str, list[str]] = {}
        for path in PACKAGE.glob("*.py"):
            for node in nodes(path):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    calls.setdefault(node.func.attr, []).append(path.name)
        assert calls["sendall"] == ["client.py"] and calls["connect"] == ["client.py"]
        assert calls["getaddrinfo"] == ["address.py"]
        assert not {"send", "sendto", "sendmsg", "sendfile", "create_connection", "connect_ex"} & set(calls)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    certificates.write(folder / "cert.pem", folder / "key.pem")
    return folder / "cert.pem"


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.parent / "key.pem")
    with Server(echo, context) as server:
        yield server


class TestTls:
    def test_the_right_certificate_under_the_right_name(self, tls_server: Server, certificate: Path) -> None:
        tls = Tls(ssl.create_default_context(cafile=str(certificate)), "broker.test")
        with client(tls=tls) as asking:
            assert asking.ask_all(tls_server.address, [View(3)] * 100) == [b"3"] * 100
            assert asking.ask(tls_server.address, View(4)) == b"4"
        assert tls_server.callers == 1

    def test_another_name_is_refused(self, tls_server: Server, certificate: Path) -> None:
        tls = Tls(ssl.create_default_context(cafile=str(certificate)))
        with client(tls=tls) as asking, pytest.raises(Unreachable, match="certificate is not accepted"):
            asking.ask(tls_server.address, View(3))
        assert tls_server.seen == []

    def test_an_unknown_certificate_is_refused(self, tls_server: Server) -> None:
        refused = pytest.raises(Unreachable, match="certificate is not accepted")
        with client(tls=Tls(ssl.create_default_context(), "broker.test")) as asking, refused:
            asking.ask(tls_server.address, View(3))
        assert tls_server.seen == []

    def test_plain_to_tls_and_tls_to_plain_say_so(self, tls_server: Server, certificate: Path) -> None:
        with client(QUICK) as asking, pytest.raises(Unreachable):
            asking.ask(tls_server.address, View(3))
        tls = Tls(ssl.create_default_context(cafile=str(certificate)), "broker.test")
        with Server(echo) as plain, client(QUICK, tls=tls) as asking, pytest.raises(Unreachable, match="TLS"):
            asking.ask(plain.address, View(3))


class TestSignatures:
    """Expected values: AclClientRPCHook of rocketmq-client 5.3.3 on Java 17.0.21."""

    def test_fields_are_sorted_and_joined(self) -> None:
        fields = sign(
            {"topic": "Orders", "key": "键 k", "maxNum": "64"}, b"", Credentials("reader", "reader-secret-1", "token")
        )
        assert fields == {
            "topic": "Orders",
            "key": "键 k",
            "maxNum": "64",
            "AccessKey": "reader",
            "SecurityToken": "token",
            "Signature": "DJWC/TiXzRrnx3kHKYSxivdulbQ=",
        }

    def test_without_a_token(self) -> None:
        fields = sign({"offset": "42"}, b"", Credentials("reader", "reader-secret-1"))
        assert fields == {"offset": "42", "AccessKey": "reader", "Signature": "FrTvwKfgJ9r6zBavbDg6T6JqHfg="}

    def test_the_mark_of_a_unique_key_is_not_signed(self) -> None:
        who = Credentials("a", "b")
        signed = [sign({"topic": "T"} | more, b"", who) for more in ({}, {"_UNIQUE_KEY_QUERY": "true"})]
        assert signed[0]["Signature"] == signed[1]["Signature"] and signed[1]["_UNIQUE_KEY_QUERY"] == "true"

    def test_a_name_that_is_no_text_is_signed_as_it_is_sent(self) -> None:
        assert sign({"topic": "\udcff"}, b"", Credentials("a", "b"))["topic"] == "\udcff"

    def test_every_question_is_signed(self) -> None:
        with Server(lambda frame: [answer(frame, 0, b'{"topicList":["b","a"]}')]) as server:
            with client(credentials=Credentials("me", "secret")) as asking:
                assert asking.ask(server.address, TopicList()) == ("a", "b")
            assert server.seen[0].fields == sign({}, b"", Credentials("me", "secret"))

    def test_a_secret_shows_nowhere(self) -> None:
        assert "s3cret" not in repr(Credentials("me", "s3cret", "s3cret"))


class TestAddresses:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("10.0.0.1:9876", "10.0.0.1:9876"),
            ("[::1]:9876", "[::1]:9876"),
            ("::1:9876", "[::1]:9876"),
            ("fd00::2:10911", "[fd00::2]:10911"),
            ("broker-a.prod:10911", "broker-a.prod:10911"),
            (" a:1 ", "a:1"),
        ],
    )
    def test_an_endpoint_reads_and_prints(self, text: str, shown: str) -> None:
        assert str(Endpoint.parse(text)) == shown

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "a",
            "a:",
            ":1",
            "a:0",
            "a:65536",
            "a:1:2x",
            "http://a:1",
            "a b:1",
            "10.0.0.256:1",
            "[a]:1",
            "a:１",
            "-a:1",
            "user@a:1",
            "a:1/x",
        ],
    )
    def test_what_is_no_endpoint_is_refused(self, text: str) -> None:
        with pytest.raises(ProfileError):
            Endpoint.parse(text)

    def test_mapped_and_plain_are_one_address(self) -> None:
        assert Address.of("::ffff:10.0.0.1", 5) == Address.of("10.0.0.1", 5)

    def test_an_address_is_never_asked_for_by_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: pytest.fail("a name service was asked"))
        assert Endpoint.parse("10.0.0.1:5").resolve() == (Address.of("10.0.0.1", 5),)

    def test_a_name_is_resolved_to_addresses(self) -> None:
        assert Address.of("127.0.0.1", 5) in Endpoint.parse("localhost:5").resolve()

    def test_a_name_that_nobody_knows_is_unreachable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def nobody(*_: object, **__: object) -> None:
            raise OSError("no such name")

        monkeypatch.setattr("socket.getaddrinfo", nobody)
        with pytest.raises(Unreachable, match="cannot be resolved"):
            Endpoint.parse("nobody.invalid:5").resolve()


def _large(request: Frame, header: str, body: str) -> bytes:
    head = f'{{"code":0,"flag":1,"opaque":{request.opaque}{header}}}'.encode()
    return (4 + len(head) + len(body)).to_bytes(4, "big") + b"\0" + len(head).to_bytes(3, "big") + head + body.encode()


LISTS = "[" + ",".join(["[]"] * 5_000_000) + "]"  # 15 MB, and 450 MB as Python has them


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        (f',"x":{LISTS}', "", "over the limit of 262144"),
        ("", f'{{"topicList":{LISTS}}}', "more than 2,500,000 values"),
        ("", '{"topicList":' + "[" * 7_000_000, "more than 2,500,000 values"),
        ("", '{"topicList":' + "[" * 100_000, "nested too deeply"),
        (',"extFields":' + "[" * 100_000, "", "nested too deeply"),
    ],
    ids=["header", "body", "brackets", "deep body", "deep header"],
)
def test_what_a_server_sends_does_not_grow_in_memory(header: str, body: str, said: str) -> None:
    with (
        Server(lambda frame: [_large(frame, header, body)]) as server,
        Client(lambda _: True, limits=Limits(5, 30)) as client,
    ):
        tracemalloc.start()
        try:
            with pytest.raises(RemotingError, match=said):
                client.ask(server.address, TopicList())
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 8 * LONGEST_FRAME, "a frame, its copies on both sides of this test, and nothing else"


def test_all_answers_to_what_is_asked_together_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a question for 64 topics a stranger's broker made a gigabyte, for each ID that was looked up at a time."""
    monkeypatch.setattr(client_module, "_MOST_TOGETHER", 500_000)
    with (
        Server(lambda frame: [answer(frame, 0, bytes(200_000))]) as server,
        Client(lambda _: True, limits=Limits(5, 30)) as client,
    ):
        answers = client.ask_all(server.address, [View(at) for at in range(100)])
        assert [len(each) for each in answers if isinstance(each, bytes)] == [200_000] * 2
        assert {str(each) for each in answers if not isinstance(each, bytes)} == {
            f"{server.address} did not answer: what was asked of it together has answers of more than 488 KiB;"
            " the others are not read"
        }
        assert client.ask_all(server.address, [View(0), View(1)]) == [bytes(200_000)] * 2
        assert server.callers == 2, "an answer that was not read is none of the next question"


def test_headers_of_answers_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MOST_TOGETHER", 500_000)
    with (
        Server(lambda frame: [answer(frame, 0, b"", "x" * 200_000)]) as server,
        Client(lambda _: True, limits=Limits(5, 30)) as client,
    ):
        answers = client.ask_all(server.address, [View(at) for at in range(100)])
    assert sum(not isinstance(each, RemotingError) for each in answers) == 2
