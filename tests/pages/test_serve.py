"""What stands between the server and Streamlit: the first page is filled in, everything else passes."""

from __future__ import annotations

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path

from idcore.server import first_page
from idcore.server.front_door import Deaf
from pages.parts import serve


def test_two_runs_of_one_session_take_turns_at_what_it_has() -> None:
    """The run that a click ends writes while the next one reads: without one lock, reading fails within a second."""
    session, over = serve.SessionValues(), threading.Event()
    ends, begins = (serve.LockedValues(session, lambda: None) for _ in range(2))
    for place in range(200):
        ends[f"kept-{place}"] = place

    def write() -> None:
        while not over.is_set():
            ends["of a click"] = 1
            del ends["of a click"]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(1) as apart:
            writing = apart.submit(write)
            try:
                for _ in range(500):
                    assert len({**begins.filtered_state, "of a click": 1}) == 201
            finally:
                over.set()
            writing.result()
    finally:
        sys.setswitchinterval(before)


def test_a_run_of_a_page_leaves_alone_where_python_looks_for_modules() -> None:
    before = list(sys.path)
    with modified_sys_path(str(Path(serve.__file__).parents[1] / "entry.py")):
        assert sys.path == before


def test_the_first_page_names_its_server_and_its_language() -> None:
    page = b'<!DOCTYPE html><html lang="en"><head><title>Streamlit</title></head></html>'
    made = first_page.with_base(page, "", "zh").decode()
    assert 'lang="zh-CN"' in made and 'BACKEND_BASE_URL:location.origin+"/"' in made and "Streamlit" not in made
    assert "</script><b>" not in first_page.with_base(page, "</script><b>", "en").decode()


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "text/csv"])
def test_only_pages_are_held_back_and_downloads_pass_as_they_come(kind: str) -> None:
    pieces, sent = [b"<html><head>", b"</head></html>"], []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})
        for place, piece in enumerate(pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": place == 0})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/media/x.csv", "headers": [(b"accept", b"text/html,*/*")]}
    with ThreadPoolExecutor(1) as apart:  # a browser of the tests before may keep a loop running in this thread
        apart.submit(asyncio.run, first_page.FirstPage(app, serve.base, serve.addresses)(scope, receive, send)).result()
    bodies = [message["body"] for message in sent[1:]]
    assert sent[0]["type"] == "http.response.start"
    if kind == "text/csv":
        assert bodies == pieces
    else:
        assert len(bodies) == 1 and b"BACKEND_BASE_URL" in bodies[0] and bodies[0].endswith(pieces[1])
        assert (b"content-length", str(len(bodies[0])).encode()) in sent[0]["headers"]


@pytest.mark.parametrize(
    ("path", "lost"),
    [
        ("/", None),
        ("/decode", None),
        ("/decode/", None),
        ("/no-such-page", "no-such-page"),
        ("/no/such/page", "no/such/page"),
        ("/decode/_stcore/health", None),
        ("/static/js/index.js", None),
    ],
)
def test_an_address_that_is_no_page_is_known_before_the_browser_asks(path: str, lost: str | None) -> None:
    assert first_page.stray(path, serve.base(), serve.addresses()) == lost


def test_nobody_empties_the_caches_of_everybody() -> None:
    """Streamlit does so for each websocket that asks, also before a login; limits of look-ups would begin again."""
    asked = iter([BackMsg(clear_cache=True), BackMsg(stop_script=True), BackMsg(clear_cache=True)])
    coming = [{"type": "websocket.receive", "bytes": one.SerializeToString()} for one in asked]
    coming += [{"type": "websocket.receive", "bytes": b"\xff"}, {"type": "websocket.disconnect"}]
    came: list[Any] = []

    async def app(_: Any, receive: Any, __: Any) -> None:
        while not came or came[-1]["type"] != "websocket.disconnect":
            came.append(await receive())

    async def receive() -> Any:
        return coming.pop(0)

    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, Deaf(app, serve.clears)({"type": "websocket"}, receive, app)).result()  # type: ignore[arg-type]
    assert [one.get("bytes") for one in came] == [BackMsg(stop_script=True).SerializeToString(), b"\xff", None]
