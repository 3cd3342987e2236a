"""The webhook: what a receiver gets, that it can prove who sent it, and what is never done."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from idcore.base.errors import CoreError
from idcore.policy import metrics
from idcore.server import webhook

pytestmark = pytest.mark.quick
KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"


class Receiver(ThreadingHTTPServer):
    """A real server on loopback that keeps what it gets, and answers with the next of its statuses."""

    def __init__(self, statuses: list[int]) -> None:
        self.statuses, self.got = statuses, list[tuple[dict[str, str], bytes]]()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/hook?of=desk"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.send_header("location", self.server.url)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Callable[[list[int]], Receiver]]:
    made: list[Receiver] = []

    def make(statuses: list[int]) -> Receiver:
        made.append(server := Receiver(statuses))
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    yield make
    for server in made:
        server.shutdown()
        server.server_close()


def announcer_of(server: Receiver, monkeypatch: pytest.MonkeyPatch, waited: list[float]) -> webhook.Announcer:
    monkeypatch.setenv("IDCORE_WEBHOOK", server.url)
    monkeypatch.setenv("IDCORE_WEBHOOK_SECRET", SECRET)
    found = webhook.target()
    assert found is not None
    return webhook.Announcer(found, waited.append)


def counted(outcome: str) -> float:
    text = metrics.exposition({}, {})[0].decode()
    line = f'idcore_webhook_total{{outcome="{outcome}"}} '
    return float(text.split(line)[1].split()[0]) if line in text else 0.0


def test_a_receiver_can_prove_who_sent_it(
    receiver: Callable[[list[int]], Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = receiver([])
    announcer = announcer_of(server, monkeypatch, [])
    announcer.put({"code": "missing_ids", "subject": "丢失"})
    announcer.wait()
    ((headers, body),) = server.got
    assert json.loads(body) == {"code": "missing_ids", "subject": "丢失"}
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 60
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{wanted}"


def test_what_may_pass_is_tried_again_under_the_same_name(
    receiver: Callable[[list[int]], Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, waited, before = receiver([503, 429]), list[float](), counted("sent")
    announcer = announcer_of(server, monkeypatch, waited)
    announcer.put({"n": 1})
    announcer.wait()
    assert len(server.got) == 3 and len({headers["webhook-id"] for headers, _ in server.got}) == 1
    assert waited == [0.0, *webhook.PAUSES[:2]] and counted("sent") == before + 1


@pytest.mark.parametrize("status", [302, 307, 400, 404])
def test_neither_a_redirect_nor_a_refusal_is_tried_again(
    status: int, receiver: Callable[[list[int]], Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, before = receiver([status]), counted("failed")
    announcer = announcer_of(server, monkeypatch, [])
    announcer.put({"n": 1})
    announcer.wait()
    assert len(server.got) == 1 and counted("failed") == before + 1


def test_a_receiver_that_has_gone_is_tried_five_times(
    receiver: Callable[[list[int]], Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, waited = receiver([]), list[float]()
    announcer = announcer_of(server, monkeypatch, waited)
    server.shutdown()
    server.server_close()
    announcer.put({"n": 1})
    announcer.wait()
    assert waited == [0.0, *webhook.PAUSES]


@pytest.mark.parametrize("piece", [b"HTTP/1.1 100 Continue\r\n\r\n", b"h", b"\0"])
def test_an_answer_without_an_end_is_ended(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = "https" if piece == b"\0" else "http"
    monkeypatch.setattr(webhook, "LONGEST_ANSWER", 0.3)
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            if piece == b"h":
                connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
            if scheme == "https":
                connection.sendall(bytes.fromhex("1603033fff02003ffb"))  # a ServerHello of 16 KiB
            for _ in range(300):
                connection.sendall(piece)
                time.sleep(0.01)

    Thread(target=answer, daemon=True).start()
    target = webhook.Target(urlsplit(f"{scheme}://127.0.0.1:{listening.getsockname()[1]}/"), b"k" * 24)
    began = time.monotonic()
    with listening, suppress(OSError, HTTPException):
        target.send("msg_1", 1, b"{}")
    assert time.monotonic() - began < 2.5  # it sends for 3 s here


def test_more_than_the_limit_of_a_minute_wait(
    receiver: Callable[[list[int]], Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_WEBHOOK_MINUTE", "2")
    server, waited = receiver([]), list[float]()
    announcer = announcer_of(server, monkeypatch, waited)
    for number in range(3):
        announcer.put({"n": number})
    announcer.wait()
    assert len(server.got) == 3 and len([pause for pause in waited if pause > 50]) == 1


def test_what_is_too_long_or_has_no_room_is_dropped_and_counted(
    receiver: Callable[[list[int]], Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, before = receiver([]), counted("too_long")
    announcer = announcer_of(server, monkeypatch, [])
    announcer.put({"text": "x" * webhook.LONGEST})
    announcer.wait()
    assert not server.got and counted("too_long") == before + 1


def test_it_is_off_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDCORE_WEBHOOK", raising=False)
    assert webhook.target() is None


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("ftp://tickets.example.org", SECRET),
        ("https://ann:canary@tickets.example.org", SECRET),
        ("https://tickets.example.org:99999", SECRET),
        ("tickets", SECRET),
        ("https://tickets.example.org", ""),
        ("https://tickets.example.org", "canary"),
        ("http://:canary@h/", SECRET),
        ("http://h:0/canary", SECRET),
        ("http://h/a canary", SECRET),  # each announcement failed, with the address in the log
        ("http://h/中/canary", SECRET),
        ("http://a host/canary", SECRET),
    ],
)
def test_a_wrong_setting_is_named_without_its_secret(url: str, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_WEBHOOK", url)
    monkeypatch.setenv("IDCORE_WEBHOOK_SECRET", secret)
    with pytest.raises(CoreError) as refused:
        webhook.target()
    assert "IDCORE_WEBHOOK" in str(refused.value) and "canary" not in str(refused.value)
