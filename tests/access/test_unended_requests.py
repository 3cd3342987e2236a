"""Requests whose head does not end, or that nobody waits for, through a real server: its memory would hold them."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from idcore.server import streamlit_private
from idcore.server.front_door import FrontDoor

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


class Waiting:
    """Answers with the size of a body, once it may."""

    def __init__(self) -> None:
        self.may, self.asked = threading.Event(), 0
        self.may.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        await asyncio.to_thread(self.may.wait, 10)
        text = str(size).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(text))]})
        await send({"type": "http.response.body", "body": text})


def is_whole(answer: bytes) -> bool:
    """Whether all of an answer is there: its head and its body may come one after the other."""
    head, end, body = answer.partition(b"\r\n\r\n")
    size = re.search(rb"content-length: (\d+)", head)
    return bool(end) and len(body) >= (int(size[1]) if size else 0)


@pytest.fixture
def app() -> Waiting:
    return Waiting()


@pytest.fixture
def sent(app: Waiting, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Callable[..., bytes]]:
    """What a server says to some bytes; `more` comes as long as nobody closes, and 8 MB at most."""
    for name in ("data_received", "on_message_begin", "on_headers_complete", "on_body", "on_message_complete"):
        monkeypatch.setattr(HttpToolsProtocol, name, getattr(HttpToolsProtocol, name))  # as it was, afterwards
    streamlit_private.watch_requests()
    door = FrontDoor(app, list, lambda: "/", lambda: None, lambda: tmp_path)
    server = uvicorn.Server(uvicorn.Config(door, port=0, http="httptools", lifespan="off", log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    address = "127.0.0.1", server.servers[0].sockets[0].getsockname()[1]

    def send(data: bytes, more: bytes = b"") -> bytes:
        with socket.create_connection(address, 10) as client:
            try:
                client.sendall(data)
                for _ in range((8 << 20) // len(more) if more else 0):
                    client.sendall(more)
            except OSError:  # it has closed
                assert more
            client.settimeout(10)
            answer = b""
            try:
                while not is_whole(answer) and (part := client.recv(10_000)):
                    answer += part
            except ConnectionResetError:
                return b"closed"
            return answer

    yield send
    app.may.set()
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        (b"GET /", b"a" * 1_000),
        (HEAD + b"x-a: ", b"a" * 1_000),
        (HEAD, b"x-a: b\r\n" * 200),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;a=", b"a" * 1_000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"x-a: b\r\n" * 200),
    ],
    ids=["address", "one header", "headers", "extension of a chunk", "trailers"],
)
def test_a_head_that_does_not_end_is_refused(begun: bytes, more: bytes, sent: Callable[..., bytes]) -> None:
    answer = sent(begun, more)
    assert answer == b"closed" or answer.startswith(b"HTTP/1.1 400 "), answer[:200]


def test_a_body_may_be_long(sent: Callable[..., bytes]) -> None:
    size = 3 << 20
    assert sent(HEAD + b"Content-Length: %d\r\n\r\n" % size + bytes(size)).endswith(b"%d" % size)
    chunks = b"1000\r\n" + bytes(0x1000) + b"\r\n"
    assert sent(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks * 500 + b"0\r\n\r\n").endswith(b"2048000")


def test_few_requests_of_one_connection_wait(app: Waiting, sent: Callable[..., bytes]) -> None:
    """The parser makes some kilobytes of each 18 bytes, whether anybody answers them or not."""
    app.may.clear()
    answer = sent(b"GET / HTTP/1.1\r\n\r\n" * 10_000)
    assert answer == b"closed" or answer.startswith(b"HTTP/1.1 400 "), answer[:200]
    assert app.asked <= 1


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        HEAD + b"Host: other\r\n\r\n",
        HEAD + b"x a: b\r\n\r\n",
        HEAD + b"x-a : b\r\n\r\n",
        HEAD + b"x-a: b\0\r\n\r\n",
        HEAD + b"Content-Length: +1\r\n\r\na",
        HEAD + b"Content-Length: 1_0\r\n\r\n0123456789",
        HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nx-a: b\r\n folded: c\rd\r\n\r\n",
    ],
)
def test_what_a_proxy_may_read_otherwise_is_refused(head: bytes, app: Waiting, sent: Callable[..., bytes]) -> None:
    assert sent(head).startswith(b"HTTP/1.1 400 ") and not app.asked
