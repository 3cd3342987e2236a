"""Messages of websockets that do not end, through a real server: its memory holds them before anybody hears of one."""

from __future__ import annotations

import base64
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import uvicorn

from idcore.server import gate, streamlit_private
from idcore.server.gate import MOST_OF_STRANGER, Gate
from idcore.server.logins import Entrance

TOO_LARGE = b"\x88\x02\x03\xf1"  # a frame that closes, with 1009 (RFC 6455, 5.5.1 and 7.4.1)


async def listens(_: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] != "websocket.disconnect":
        await send({"type": "websocket.send", "text": str(len(message["bytes"]))})


@pytest.fixture
def who() -> list[str]:
    """Who has logged in, if anybody."""
    return []


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, who: list[str]) -> Iterator[Callable[[], socket.socket]]:
    """Opens a websocket at a server with the gate of the console."""
    kind = streamlit_private.find("WebSocketsSansIOProtocol")
    monkeypatch.setattr(kind, "data_received", kind.data_received)  # as it was, afterwards
    streamlit_private.watch_websockets()
    claims = lambda _: {"is_logged_in": True, "iat": time.time(), "email": who[0]} if who else {}  # noqa: E731
    door = Gate(listens, lambda: Entrance("login"), claims, lambda: "/")
    config = uvicorn.Config(
        door, port=0, ws="websockets-sansio", lifespan="off", log_level="error", ws_max_size=25 << 20
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]

    def open_one() -> socket.socket:
        client = socket.create_connection(("127.0.0.1", port), 10)
        key = base64.b64encode(os.urandom(16)).decode()
        asked = (
            f"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        )
        client.sendall(f"{asked}Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        assert client.recv(1_000).startswith(b"HTTP/1.1 101 ")
        return client

    yield open_one
    server.should_exit = True
    thread.join()


def beginning(size: int, sent: int) -> bytes:
    """Of a message of so many bytes the first ones, masked with zeros."""
    return b"\x82\xff" + struct.pack(">Q", size) + bytes(4) + bytes(sent)


def answer(client: socket.socket, message: bytes) -> bytes:
    """What a server says to it within a second; nothing while it waits for more."""
    try:
        client.settimeout(10)
        client.sendall(message)
        client.settimeout(1)
        return client.recv(100)
    except TimeoutError:
        return b""
    except ConnectionError:
        return TOO_LARGE


def test_a_stranger_keeps_no_message_that_does_not_end(opened: Callable[[], socket.socket]) -> None:
    """25 MB for each of 2,500 websockets filled the memory of a server that nobody had logged in to."""
    for message in (
        beginning(25 << 20, MOST_OF_STRANGER + 1),
        b"\x02\xff" + struct.pack(">Q", MOST_OF_STRANGER + 1) + bytes(4 + MOST_OF_STRANGER + 1),  # a part
        b"\x02\x81" + bytes(5) + (b"\x00\x81" + bytes(5)) * 3_000,  # parts of one byte: each is an object
    ):
        with closing(opened()) as client:
            assert answer(client, message) == TOO_LARGE
    with closing(opened()) as client:
        assert answer(client, beginning(MOST_OF_STRANGER, MOST_OF_STRANGER)) == b"\x81\x06131072"
        assert answer(client, beginning(MOST_OF_STRANGER, MOST_OF_STRANGER - 1)) == b""
        assert answer(client, bytes(1)) == b"\x81\x06131072"


def test_messages_of_one_person_that_do_not_end_have_a_bound_together(
    opened: Callable[[], socket.socket], who: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "MOST_COMING", 300_000)
    who.append("ann@example.com")
    with closing(opened()) as first, closing(opened()) as second:
        assert answer(first, beginning(290_000, 200_000)) == b""
        assert answer(second, beginning(290_000, 200_000)) == TOO_LARGE
        who[:] = ["bob@example.com"]
        with closing(opened()) as other:
            assert answer(other, beginning(290_000, 200_000)) == b""
        assert answer(first, bytes(90_000)) == b"\x81\x06290000"
        assert answer(first, beginning(290_000, 290_000)) == b"\x81\x06290000", "what has ended counts no more"
