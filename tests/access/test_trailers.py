"""What comes behind the body of a request is no header: a proxy that sends the name of a visitor looks at headers."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from idcore.server import streamlit_private

pytestmark = pytest.mark.quick

WAY = b"Host: desk.example\r\nX-Forwarded-Email: ann@example.com\r\n"
CHUNKS = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
TRAILERS = b"X-Forwarded-Groups: admins\r\nHost: other.example\r\n\r\n"


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    while scope["type"] == "http" and (await receive()).get("more_body"):
        pass
    if scope["type"] == "http":
        await JSONResponse([name.decode() for name, _ in scope["headers"]])(scope, receive, send)


async def _asked(request: bytes) -> bytes:
    """What a server answers to these bytes, which come at once."""
    streamlit_private.watch_requests()
    taken = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(_app, http="httptools", log_level="error"))
    serving = asyncio.create_task(server.serve(sockets=[taken]))
    try:
        reader, writer = await asyncio.open_connection(*taken.getsockname())
        writer.write(request)
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        size = answer.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
        answer += await reader.readexactly(int(size or 0))
        writer.close()
    finally:
        server.should_exit = True
        await serving
    return answer


def test_a_trailer_is_no_header() -> None:
    with ThreadPoolExecutor(1) as pool:  # this thread may have a loop of a browser's
        answer = pool.submit(asyncio.run, _asked(b"POST / HTTP/1.1\r\n" + WAY + CHUNKS + TRAILERS)).result()
    assert b"x-forwarded-email" in answer
    assert b"x-forwarded-groups" not in answer
