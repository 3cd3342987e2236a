"""Every answer of the console, its websocket and its health, asked as a browser, a program and another site would."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from idcore.policy import metrics
from idcore.runs import room
from idcore.server import front_door, setting_up
from idcore.server.front_door import HEADERS, HEALTH, UNKEPT, FrontDoor, UploadBound, Uploads, is_own, readiness

Status = namedtuple("Status", "state")
HOST = (b"host", b"127.0.0.1:8501")


def asked(
    scope: dict[str, Any], root: Path = Path(), uploads: Uploads | None = None, **more: Any
) -> list[dict[str, Any]]:
    """What a server sends for one request."""
    sent: list[dict[str, Any]] = []

    async def app(_: Any, __: Any, send: Any) -> None:
        old = [(b"X-Frame-Options", b"ALLOWALL"), (b"content-type", b"text/html")]
        await send({"type": "http.response.start", "status": 200, "headers": old})
        await send({"type": "http.response.body", "body": b"page"})

    async def receive() -> dict[str, Any]:
        if scope["type"] == "http":
            await asyncio.Event().wait()  # a browser that stays
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    door: dict[str, Any] = {
        "origins": list,
        "base": lambda: "/desk/",
        "engine": lambda: Status("ready"),
        "root": lambda: root,
    }
    inner = app if uploads is None else UploadBound(app, door["base"], uploads)
    coming = FrontDoor(inner, **door | more)(scope, receive, send)
    with ThreadPoolExecutor(1) as apart:  # a browser of the tests before may keep a loop running in this thread
        apart.submit(asyncio.run, coming).result()  # type: ignore[arg-type]
    return sent


def test_a_request_of_two_lengths_ends_its_connection() -> None:
    """Or what follows its chunks would be a request that a proxy did not see."""
    two = [HOST, (b"Content-Length", b"4"), (b"transfer-encoding", b"chunked")]
    answer = asked({"type": "http", "method": "POST", "path": "/desk/api/v1/decode", "headers": two})[0]
    assert answer["status"] == 400 and (b"connection", b"close") in answer["headers"]


def test_an_address_with_a_control_character_is_none() -> None:
    """A route that ends in `$` takes a line feed behind it: log out without its question, and closed figures."""
    for path in (
        "/desk/auth/logout\n",
        "/desk/_stcore/metrics\n",
        "/desk/_stcore/stream\r",
        "/desk/\x00",
        "/desk/a\x7fb",
    ):
        refused = asked({"type": "http", "method": "GET", "path": path, "headers": [HOST]})[0]
        assert refused["status"] == 400, path
        websocket = asked({"type": "websocket", "path": path, "headers": [HOST]})
        assert websocket == [{"type": "websocket.close", "code": 1008}], path
    assert asked({"type": "http", "method": "GET", "path": "/desk/\u4e2d", "headers": [HOST]})[0]["status"] == 200


def test_an_upload_in_chunks_is_not_taken_whatever_length_it_says() -> None:
    """The server reads the chunks, and the limit of uploads would count the length."""
    scope = {"type": "http", "method": "PUT", "path": "/desk/_stcore/upload_file/ann/file"}
    sized, chunks = (b"content-length", b"1"), (b"Transfer-Encoding", b"chunked")
    for headers, status in (([sized], 200), ([chunks], 411), ([sized, chunks], 400), ([], 411)):
        uploads = Uploads(lambda _: (0, 0))
        assert asked(scope | {"headers": [HOST, *headers]}, uploads=uploads)[0]["status"] == status, headers


def test_every_answer_carries_the_headers_once() -> None:
    start, body = asked({"type": "http", "path": "/desk/decode", "headers": [HOST]})
    assert start["headers"] == [(b"content-type", b"text/html"), *HEADERS, *UNKEPT] and body["body"] == b"page"
    named = dict(HEADERS)
    assert b"frame-ancestors 'none'" in named[b"content-security-policy"] and named[b"x-frame-options"] == b"DENY"


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        (None, True),  # a program; a browser always sends one
        ("http://127.0.0.1:8501", True),
        ("HTTP://127.0.0.1:8501", True),
        ("http://localhost:9000", False),  # another user's server on this machine
        ("http://127.0.0.1:9000", False),
        ("http://127.0.0.1", False),
        ("https://evil.example", False),
        ("http://127.0.0.1:8501.evil.example", False),
        ("http://evil.example/127.0.0.1:8501", False),
        ("null", False),
        ("", False),
        ("http://[", False),
        ("https://desk.example", True),  # named by the administrator
    ],
)
def test_a_websocket_is_opened_by_our_own_pages_alone(origin: str | None, own: bool) -> None:
    headers = [HOST, *([] if origin is None else [(b"Origin", origin.encode())])]
    assert is_own(headers, ["https://desk.example/"]) is own
    sent = asked({"type": "websocket", "headers": headers}, origins=lambda: ["https://desk.example"])
    assert (sent[0]["type"] != "websocket.close") is own


def test_health_says_what_is_missing_and_neither_path_nor_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IDCORE_NO_SPARK", raising=False)
    root = tmp_path / "not" / "made"
    start, body = asked({"type": "http", "path": f"/desk/{HEALTH}", "headers": [HOST]}, root)
    assert start["status"] == 200 and set(HEADERS) <= set(start["headers"])
    assert json.loads(body["body"]) == {"state": "ready", "reasons": [], "spark": "ready"}
    assert readiness(None, root) == {"state": "ready", "reasons": [], "spark": "off"}
    assert readiness("no_java", root)["reasons"] == ["spark_no_java"]
    monkeypatch.setenv("IDCORE_NO_SPARK", "1")
    assert readiness("no_java", root) == {"state": "ready", "reasons": [], "spark": "off"}
    monkeypatch.delenv("IDCORE_NO_SPARK")
    monkeypatch.setenv("IDCORE_FREE_DISK", "1K")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 10, 1023))
    assert readiness("failed", root)["reasons"] == ["spark_failed", "disk_full"]
    monkeypatch.setattr(room.os, "access", lambda *_: False)
    assert readiness("ready", root) == {"state": "degraded", "reasons": ["runs_read_only"], "spark": "ready"}
    monkeypatch.setattr(setting_up, "now", lambda: setting_up.SettingUp("packages", 2, 4, 1.0))
    assert readiness(None, root)["reasons"] == ["setting_up", "runs_read_only"]


def test_the_page_without_a_server_is_given_as_a_file_if_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "rocketmq-ids.html"
    monkeypatch.setattr(front_door, "OFFLINE_FILE", made)
    scope = {"type": "http", "method": "GET", "path": f"/desk/{front_door.OFFLINE}", "headers": [HOST]}
    assert asked(scope)[-1]["body"] == b"page", "the console answers, as for any other address"
    made.write_bytes(b"all of it")
    start, *bodies = asked(scope)
    assert b"".join(body["body"] for body in bodies) == b"all of it" and set(HEADERS) <= set(start["headers"])
    assert (b"content-disposition", b'attachment; filename="rocketmq-ids.html"') in start["headers"]


def test_an_upload_that_stops_in_the_middle_gives_back_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A half-finished request: its size counts while it comes, and not for ever."""
    monkeypatch.setattr(front_door, "SILENT", 0.05)
    uploads, came = Uploads(lambda _: (0, 0)), list[Any]()

    async def app(_: Any, receive: Any, __: Any) -> None:
        while (message := await receive())["type"] == "http.request":
            came.append((message, dict(uploads._coming)))
        came.append((message, dict(uploads._coming)))

    async def one() -> None:
        pieces = [{"type": "http.request", "body": b"x" * 10, "more_body": True}]

        async def receive() -> Any:
            if pieces:
                return pieces.pop()
            return await asyncio.Event().wait()

        scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/s/f"}
        scope["headers"] = [(b"content-length", b"1000")]  # type: ignore[assignment]
        await asyncio.wait_for(UploadBound(app, lambda: "/", uploads)(scope, receive, receive), 20)  # type: ignore[arg-type]

    with ThreadPoolExecutor(1) as apart:  # a browser's loop runs in this thread
        apart.submit(asyncio.run, one()).result()
    assert [message["type"] for message, _ in came] == ["http.request", "http.disconnect"]
    assert all(held == {"s": 1000} for _, held in came) and uploads._coming == {}


@pytest.mark.parametrize("path", [HEALTH, metrics.PATH])
def test_behind_a_server_with_a_prefix_the_console_answers_for_itself(path: str, tmp_path: Path) -> None:
    scope = {"type": "http", "path": f"/outer/desk/{path}", "root_path": "/outer", "headers": [HOST]}
    assert asked(scope | {"client": ("127.0.0.1", 1)}, tmp_path)[-1]["body"] != b"page"


@pytest.mark.parametrize(("said", "kept"), [(None, b"no-store"), (b"public, max-age=9", b"public, max-age=9")])
def test_an_answer_that_does_not_say_so_is_kept_by_no_cache(said: bytes | None, kept: bytes) -> None:
    """A download or an answer to an assistant is one person's; scripts of the page say that they stay."""

    async def app(_: Any, __: Any, send: Any) -> None:
        headers = [] if said is None else [(b"Cache-Control", said)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    door = FrontDoor(app, list, lambda: "/", lambda: Status("ready"), Path)
    scope = {"type": "http", "method": "GET", "path": "/media/x.csv", "headers": [HOST]}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, None, send)).result()  # type: ignore[arg-type]
    assert [value for name, value in sent[0]["headers"] if name.lower() == b"cache-control"] == [kept]
